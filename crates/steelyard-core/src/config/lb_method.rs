//! How a virtual server chooses, and what its slow start counts.

use super::make::words;
use super::service_type::ServiceType;

words! {
    /// How a service is chosen (`spec/methods.md` 1).
    pub enum LbMethod {
        /// In turn, by weight.
        RoundRobin = "ROUNDROBIN",
        /// Fewest active transactions or connections.
        LeastConnection = "LEASTCONNECTION",
        /// Fewest active transactions times time to first byte.
        LeastResponseTime = "LEASTRESPONSETIME",
        /// Fewest active transactions times the monitors' response time.
        Lrtm = "LRTM",
        /// Fewest active requests.
        LeastRequest = "LEASTREQUEST",
        /// Least traffic in bytes.
        LeastBandwidth = "LEASTBANDWIDTH",
        /// Least traffic in packets.
        LeastPackets = "LEASTPACKETS",
    }
    not carried [
        "URLHASH", "DOMAINHASH", "DESTINATIONIPHASH", "SOURCEIPHASH", "SRCIPDESTIPHASH", "TOKEN",
        "SRCIPSRCPORTHASH", "CALLIDHASH", "CUSTOMLOAD", "AUDITLOGHASH", "STATICPROXIMITY", "USER_TOKEN",
    ]
}

words! {
    /// How a service is chosen where the method cannot be used (`spec/methods.md` 3.1).
    pub enum BackupLbMethod {
        /// In turn, by weight.
        RoundRobin = "ROUNDROBIN",
        /// Fewest active transactions or connections.
        LeastConnection = "LEASTCONNECTION",
        /// Fewest active transactions times time to first byte.
        LeastResponseTime = "LEASTRESPONSETIME",
        /// Least traffic in bytes.
        LeastBandwidth = "LEASTBANDWIDTH",
        /// Least traffic in packets.
        LeastPackets = "LEASTPACKETS",
    }
    not carried ["SOURCEIPHASH", "CUSTOMLOAD"]
}

words! {
    /// What the number of `newServiceRequest` counts.
    pub enum RequestUnit {
        /// Requests per second.
        PerSecond = "PER_SECOND",
        /// Percent of the load on the services that are not new.
        Percent = "PERCENT",
    }
    not carried []
}

impl LbMethod {
    /// Can the method be used for that protocol? Two of them look at requests (`spec/methods.md` 1.4, 1.5).
    pub fn suits(self, service_type: ServiceType) -> bool {
        match self {
            LbMethod::LeastRequest => service_type.has_requests(),
            LbMethod::LeastResponseTime => service_type.is_http(),
            _ => true,
        }
    }
}

impl BackupLbMethod {
    /// The same of a backup method.
    pub fn suits(self, service_type: ServiceType) -> bool {
        self != BackupLbMethod::LeastResponseTime || service_type.is_http()
    }
}
