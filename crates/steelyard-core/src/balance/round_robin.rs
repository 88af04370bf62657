//! ROUNDROBIN: in ring order, each service `weight` times a round (`spec/methods.md` 1.2).
//!
//! Weights 2, 3, 4 give 1 2 3 1 2 3 2 3 3: a service stays in the round while it has turns left. The picker counts the
//! turns (start-up round robin needs them under every method), so there is nothing to measure.

use super::{Measures, Method};

pub(super) const METHOD: Method = Method {
    name: "ROUNDROBIN",
    measures: Measures::Turns,
    slow_start: true,
    metric: |_| 0,
    shows: "turns taken",
    unit: 1,
};
