//! The protocols of services, groups and virtual servers, and what follows from a protocol.

use super::monitor_type::{PING_DEFAULT, TCP_DEFAULT};

super::make::words! {
    /// The protocol of a service, a group or a virtual server.
    pub enum ServiceType {
        /// HTTP/1 in clear.
        Http = "HTTP",
        /// Connections, whatever they carry.
        Tcp = "TCP",
    }
    not carried [
        "FTP", "UDP", "SSL", "SSL_BRIDGE", "SSL_TCP", "DTLS", "NNTP", "RPCSVR", "DNS", "ADNS", "SNMP",
        "RTSP", "DHCPRA", "ANY", "SIP_UDP", "SIP_TCP", "SIP_SSL", "DNS_TCP", "ADNS_TCP", "PUSH", "SSL_PUSH",
        "MYSQL", "MSSQL", "ORACLE", "RADIUS", "RADIUSListener", "RDP", "DIAMETER", "SSL_DIAMETER", "TFTP", "SMPP",
        "PPTP", "GRE", "SYSLOGTCP", "SYSLOGUDP", "FIX", "SSL_FIX", "USER_TCP", "USER_SSL_TCP", "PROXY", "QUIC",
        "QUIC_BRIDGE", "HTTP_QUIC", "DOT", "IPFIX", "LOGSTREAM", "MONGO", "MONGO_TLS", "MQTT", "MQTT_TLS",
        "SSL_PROXY", "KAFKA_PRODUCER",
    ]
}

/// What carries a protocol. One address and port can be in use once for each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Transport {
    /// Connections.
    Tcp,
    /// Datagrams.
    Udp,
    /// Whatever comes.
    Any,
}

impl ServiceType {
    /// Is a service chosen for each request, not for each connection?
    pub fn has_requests(self) -> bool {
        self.is_http() || self.is_one_of(WITH_REQUESTS)
    }

    /// Is it HTTP, in clear or in TLS?
    pub fn is_http(self) -> bool {
        self == ServiceType::Http || self.is_one_of(&["SSL"])
    }

    /// Do its clients, or its servers, speak TLS with whoever has this protocol?
    pub fn has_tls(self) -> bool {
        let named = |part| self.text().contains(part);
        self.text() != "SSL_BRIDGE" && (named("SSL") || named("TLS") || named("QUIC") || self.text() == "DOT")
    }

    /// What carries it.
    pub fn transport(self) -> Transport {
        match self {
            _ if self.is_one_of(DATAGRAMS) => Transport::Udp,
            _ if self.is_one_of(&["ANY"]) => Transport::Any,
            _ => Transport::Tcp,
        }
    }

    /// The monitor that probes a service without one of its own (`spec/methods.md` 4.2).
    pub fn default_monitor(self) -> &'static str {
        match self.transport() {
            Transport::Tcp => TCP_DEFAULT,
            Transport::Udp | Transport::Any => PING_DEFAULT,
        }
    }

    /// Seconds after which an idle client connection is closed, unless it is said otherwise (`spec/methods.md` 5.2, and
    /// what saved files have).
    pub fn client_timeout_s(self) -> u32 {
        self.timeouts_s().0
    }

    /// The same of a server-side connection.
    pub fn server_timeout_s(self) -> u32 {
        self.timeouts_s().1
    }

    fn timeouts_s(self) -> (u32, u32) {
        match self.transport() {
            Transport::Udp | Transport::Any => (120, 120),
            Transport::Tcp if self.is_http() || self.is_one_of(TIMED_AS_HTTP) => (180, 360),
            Transport::Tcp => (9_000, 9_000),
        }
    }

    fn is_one_of(self, words: &[&str]) -> bool {
        words.contains(&self.text())
    }
}

/// Protocols besides HTTP that have requests (`spec/methods.md` 1.12).
const WITH_REQUESTS: &[&str] = &[
    "DNS",
    "DNS_TCP",
    "RADIUS",
    "SIP_UDP",
    "SIP_TCP",
    "SIP_SSL",
    "RTSP",
    "DIAMETER",
    "SSL_DIAMETER",
    "MYSQL",
    "MSSQL",
];
const DATAGRAMS: &[&str] = &[
    "UDP",
    "DTLS",
    "DNS",
    "ADNS",
    "SNMP",
    "DHCPRA",
    "SIP_UDP",
    "RADIUS",
    "RADIUSListener",
    "TFTP",
    "SYSLOGUDP",
    "QUIC",
    "QUIC_BRIDGE",
    "HTTP_QUIC",
    "IPFIX",
];
/// Protocols of requests and answers over TCP with HTTP's time-outs.
const TIMED_AS_HTTP: &[&str] =
    &["DNS_TCP", "ADNS_TCP", "DOT", "PUSH", "SSL_PUSH", "LOGSTREAM", "PROXY", "SSL_PROXY"];
