//! LEASTBANDWIDTH: N = bytes to and from the service during the last 14 s (`spec/methods.md` 1.7). A measurement, not
//! a reservation: requests in flight count only as their bytes move.

use super::{Measures, Method};

pub(super) const METHOD: Method = Method {
    name: "LEASTBANDWIDTH",
    measures: Measures::Bytes,
    slow_start: true,
    metric: |m| m.carried,
    shows: "Mbps of the last 14 s",
    // The bytes that 1 Mbps carries in the window.
    unit: 14 * 1_000_000 / 8,
};
