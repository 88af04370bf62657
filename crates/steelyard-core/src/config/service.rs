//! `service`: one port of a server, and the monitors bound to it.

use super::attribute::Kind;
use super::binding_list::BindingList;
use super::make::resource;
use super::policy_binding::PolicyBinding;
use super::table::Keyed;
use super::{COMMENT, SERVICE_PORT, WEIGHT};

super::make::words! {
    /// The protocol of a service, a group or a virtual server.
    pub enum ServiceType {
        /// HTTP/1 in clear.
        Http = "HTTP",
    }
    not carried [
        "FTP", "TCP", "UDP", "SSL", "SSL_BRIDGE", "SSL_TCP", "DTLS", "NNTP", "RPCSVR", "DNS", "ADNS", "SNMP",
        "RTSP", "DHCPRA", "ANY", "SIP_UDP", "SIP_TCP", "SIP_SSL", "DNS_TCP", "ADNS_TCP", "PUSH", "SSL_PUSH",
        "MYSQL", "MSSQL", "ORACLE", "RADIUS", "RADIUSListener", "RDP", "DIAMETER", "SSL_DIAMETER", "TFTP", "SMPP",
        "PPTP", "GRE", "SYSLOGTCP", "SYSLOGUDP", "FIX", "SSL_FIX", "USER_TCP", "USER_SSL_TCP", "PROXY", "QUIC",
        "QUIC_BRIDGE", "HTTP_QUIC", "DOT", "IPFIX", "LOGSTREAM", "MONGO", "MONGO_TLS", "MQTT", "MQTT_TLS",
        "SSL_PROXY", "KAFKA_PRODUCER",
    ]
}

impl ServiceType {
    /// Is a service chosen for each request, not for each connection?
    pub fn has_requests(self) -> bool {
        match self {
            ServiceType::Http => true,
            ServiceType::NotCarried(text) => WITH_REQUESTS.contains(&text),
        }
    }

    /// Is it HTTP, in clear or in TLS?
    pub fn is_http(self) -> bool {
        matches!(self, ServiceType::Http | ServiceType::NotCarried("SSL"))
    }
}

/// Protocols besides HTTP that have requests (`spec/methods.md` 1.12).
const WITH_REQUESTS: &[&str] = &[
    "SSL",
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

resource! {
    /// A service: what a virtual server can send a request to.
    pub struct Service "service" {
        /// Name of the service.
        name: String = String::new(), Key("name", "name", Kind::Name).at_add();
        /// Address of the server it runs on, or that server's name.
        server: String = String::new(), Required("serverName", "servername", Kind::Host).at_add();
        /// Protocol it speaks.
        service_type: ServiceType = ServiceType::Http,
            Required("serviceType", "servicetype", Kind::Word(ServiceType::WORDS)).at_add();
        /// Port it listens on.
        port: u16 = 0, Required("port", "port", SERVICE_PORT).at_add();
        /// NO: it is not probed and counts as UP.
        health_monitor: bool = true, Option("healthMonitor", "healthmonitor", Kind::YesNo);
        /// DISABLED takes it out of service.
        enabled: bool = true, Option("state", "state", Kind::Switch).at_add();
        /// Words for people.
        comment: String = String::new(), Option("comment", "comment", COMMENT).inert();
    }
    plain {
        /// The monitors bound to it, in binding order; empty means `tcp-default`.
        monitors: Vec<MonitorBinding> = Vec::new();
        /// The policies that are bound to it, in binding order.
        policies: BindingList<PolicyBinding> = BindingList::default();
    }
}

impl Keyed for Service {
    /// One service for a server, port and protocol.
    type Address = (String, u16, ServiceType);

    fn name(&self) -> &str {
        &self.name
    }

    fn address_key(&self) -> Option<(String, u16, ServiceType)> {
        Some((self.server.to_ascii_lowercase(), self.port, self.service_type))
    }
}

resource! {
    /// A monitor bound to a service or a group.
    pub struct MonitorBinding "service" {
        /// Name of the monitor to bind.
        monitor: String = String::new(), Option("monitorName", "monitor_name", Kind::Name);
        /// DISABLED leaves it bound and takes it out of the service's state.
        enabled: bool = true, Option("monState", "monstate", Kind::Switch);
        /// Its weight, which counts towards the service's monitor threshold.
        weight: u32 = 1, Option("weight", "weight", WEIGHT);
    }
}
