//! LEASTREQUEST: N = active requests, however many connections carry them (`spec/methods.md` 1.4). Only where a
//! request is the unit of balancing.

use super::{Measures, Method};

pub(super) const METHOD: Method = Method {
    name: "LEASTREQUEST",
    measures: Measures::Active,
    // The documentation's list of methods with slow start does not name it.
    slow_start: false,
    metric: |m| m.active,
    shows: "active requests",
    unit: 1,
};
