//! LEASTRESPONSETIME: N = active transactions x mean time to first byte of status-200 answers (`spec/methods.md` 1.5).

use super::{Measures, Method};

pub(super) const METHOD: Method = Method {
    name: "LEASTRESPONSETIME",
    measures: Measures::Ttfb,
    only_on: &["HTTP", "SSL"],
    slow_start: true,
    metric: |m| m.active.saturating_mul(m.time_us),
};
