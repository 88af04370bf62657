//! LRTM: N = active transactions x mean response time found by the monitors (`spec/methods.md` 1.6).

use super::{Measures, Method};

pub(super) const METHOD: Method = Method {
    name: "LRTM",
    measures: Measures::ResponseTime,
    slow_start: true,
    metric: |m| m.active.saturating_mul(m.time_us),
    shows: "active transactions * monitors' response time in seconds",
    unit: 1_000_000,
};
