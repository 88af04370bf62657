//! LEASTCONNECTION, the default: N = requests forwarded and not yet answered on HTTP and SSL, open connections on
//! connection-based types; what waits in a surge queue included (`spec/methods.md` 1.3).

use super::{Measures, Method};

pub(super) const METHOD: Method = Method {
    name: "LEASTCONNECTION",
    measures: Measures::Active,
    slow_start: true,
    metric: |m| m.active,
    shows: "active transactions",
    unit: 1,
};
