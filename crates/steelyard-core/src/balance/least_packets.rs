//! LEASTPACKETS: N = packets to and from the service during the last 14 s (`spec/methods.md` 1.7).

use super::{Measures, Method};

pub(super) const METHOD: Method = Method {
    name: "LEASTPACKETS",
    measures: Measures::Packets,
    slow_start: true,
    metric: |m| m.carried,
    shows: "packets of the last 14 s",
    unit: 1,
};
