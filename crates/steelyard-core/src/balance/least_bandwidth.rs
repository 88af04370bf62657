//! LEASTBANDWIDTH: N = bytes to and from the service during the last 14 s (`spec/methods.md` 1.7). A measurement, not
//! a reservation: requests in flight count only as their bytes move.

use super::{Measures, Method};

pub(super) const METHOD: Method = Method {
    name: "LEASTBANDWIDTH",
    measures: Measures::Bytes,
    only_on: &[],
    slow_start: true,
    metric: |m| m.carried,
};
