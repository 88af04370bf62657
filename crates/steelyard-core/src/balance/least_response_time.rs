//! LEASTRESPONSETIME: N = active transactions x mean time to first byte of status-200 answers (`spec/methods.md` 1.5).
//! On HTTP and SSL virtual servers only.

use super::{Measures, Method};

pub(super) const METHOD: Method = Method {
    name: "LEASTRESPONSETIME",
    measures: Measures::Ttfb,
    slow_start: true,
    metric: |m| m.active.saturating_mul(m.time_us),
    shows: "active transactions * TTFB in seconds",
    unit: 1_000_000,
};
