//! `lb monitor`: what is asked of a service, how often, and what answer keeps it UP.

use std::net::IpAddr;

use super::attribute::{CodeRange, Kind};
use super::make::{resource, words};
use super::table::Keyed;

words! {
    /// What a probe does.
    pub enum MonitorType {
        /// Opens a connection.
        Tcp = "TCP",
        /// Sends a request and looks at the status of the answer.
        Http = "HTTP",
    }
    not carried [
        "PING", "TCP-ECV", "HTTP-ECV", "UDP-ECV", "DNS", "FTP", "LDNS-PING", "LDNS-TCP", "LDNS-DNS", "RADIUS",
        "USER", "HTTP-INLINE", "SIP-UDP", "SIP-TCP", "LOAD", "FTP-EXTENDED", "SMTP", "SNMP", "NNTP", "MYSQL",
        "MYSQL-ECV", "MSSQL-ECV", "ORACLE-ECV", "LDAP", "POP3", "CITRIX-XML-SERVICE", "CITRIX-WEB-INTERFACE",
        "DNS-TCP", "RTSP", "ARP", "CITRIX-AG", "CITRIX-AAC-LOGINPAGE", "CITRIX-AAC-LAS", "CITRIX-XD-DDC", "ND6",
        "CITRIX-WI-EXTENDED", "DIAMETER", "RADIUS_ACCOUNTING", "STOREFRONT", "APPC", "SMPP", "CITRIX-XNC-ECV",
        "CITRIX-XDM", "CITRIX-STA-SERVICE", "CITRIX-STA-SERVICE-NHOP", "MQTT", "HTTP2", "DTLS", "QUIC",
        "KAFKA-AUTODISCOVER",
    ]
}

resource! {
    /// A monitor (`spec/methods.md` 4.1).
    pub struct LbMonitor "lb monitor" {
        /// Name of the monitor.
        name: String = String::new(),
            Key("monitorName", "monitorname", Kind::Name).at_add();
        /// What a probe does.
        kind: MonitorType = MonitorType::Tcp, Required("type", "type", Kind::Word(MonitorType::WORDS)).at_add();
        /// Time between two probes; longer than the response timeout.
        interval_ms: u32 = 5_000,
            Option("interval", "interval", Kind::Span { max: 20_940, floor_ms: 20, unit: "units3" });
        /// Time after which a probe without an answer has failed.
        resptimeout_ms: u32 = 2_000,
            Option("resptimeout", "resptimeout", Kind::Span { max: 20_939, floor_ms: 10, unit: "units4" });
        /// Probes that decide whether a service is DOWN.
        retries: u32 = 3, Option("retries", "retries", Kind::Number { min: 1, max: 127 });
        /// How many of those must fail; 0 means all, one after the other.
        failure_retries: u32 = 0, Option("failureRetries", "failureretries", Kind::Number { min: 0, max: 32 });
        /// Successes one after the other that make a service UP again.
        success_retries: u32 = 1, Option("successRetries", "successretries", Kind::Number { min: 1, max: 32 });
        /// Time before a service that is DOWN is probed again.
        down_time_ms: u32 = 30_000,
            Option("downTime", "downtime", Kind::Span { max: 20_939, floor_ms: 20, unit: "units2" });
        /// ENABLED: its response times count for the method LRTM.
        lrtm: Option<bool> = None, Option("LRTM", "lrtm", Kind::Switch);
        /// Status codes that keep the service UP.
        resp_codes: Vec<CodeRange> = vec![CodeRange::one(200)], Option("respCode", "respcode", Kind::Codes);
        /// Request of the probe: method and path.
        http_request: String = "HEAD /".to_owned(), Option("httpRequest", "httprequest", Kind::Text { max: 4096 });
        /// Header lines to send with the request, as they stand.
        custom_headers: String = String::new(), Option("customHeaders", "customheaders", Kind::Text { max: 4096 });
        /// Address to probe in place of the service's own.
        dest_ip: Option<IpAddr> = None, Option("destIP", "destip", Kind::Ip);
        /// Port to probe in place of the service's own.
        dest_port: Option<u16> = None, Option("destPort", "destport", Kind::Port { min: 1 });
        /// YES turns success and failure around.
        reverse: bool = false, Option("reverse", "reverse", Kind::YesNo);
        /// DISABLED takes it out of the state of every service it is bound to.
        enabled: bool = true, Option("state", "state", Kind::Switch);
    }
}

impl LbMonitor {
    /// The monitors that exist without being added (`spec/methods.md` 4.2).
    pub fn built_in() -> [LbMonitor; 3] {
        [(TCP_DEFAULT, MonitorType::Tcp), ("tcp", MonitorType::Tcp), ("http", MonitorType::Http)]
            .map(|(name, kind)| LbMonitor { name: name.to_owned(), kind, ..LbMonitor::default() })
    }
}

impl Keyed for LbMonitor {
    /// A monitor occupies none.
    type Address = ();

    fn name(&self) -> &str {
        &self.name
    }

    fn address_key(&self) -> Option<()> {
        None
    }
}

/// What probes a service that has no monitor bound. It can be neither changed nor removed.
pub const TCP_DEFAULT: &str = "tcp-default";
