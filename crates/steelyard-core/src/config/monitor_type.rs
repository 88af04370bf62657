//! What monitors do, and the monitors that exist without being added.

use super::attribute::CodeRange;
use super::lb_monitor::LbMonitor;
use super::make::words;

words! {
    /// What a probe does.
    pub enum MonitorType {
        /// Asks the host for an echo.
        Ping = "PING",
        /// Opens a connection.
        Tcp = "TCP",
        /// Sends a request and looks at the status of the answer.
        Http = "HTTP",
        /// Logs in.
        Ftp = "FTP",
        /// Logs in and asks for a file.
        FtpExtended = "FTP-EXTENDED",
        /// Has a script judge.
        User = "USER",
        /// Asks a name server by UDP.
        Dns = "DNS",
        /// Asks it by TCP.
        DnsTcp = "DNS-TCP",
        /// Sends a request and looks for text in the body of the answer.
        HttpEcv = "HTTP-ECV",
        /// Sends text over a connection and looks for text in what comes back.
        TcpEcv = "TCP-ECV",
        /// Sends a datagram and looks for text in those that come back.
        UdpEcv = "UDP-ECV",
    }
    not carried [
        "LDNS-PING", "LDNS-TCP", "LDNS-DNS", "RADIUS",
        "HTTP-INLINE", "SIP-UDP", "SIP-TCP", "LOAD", "SMTP", "SNMP", "NNTP", "MYSQL",
        "MYSQL-ECV", "MSSQL-ECV", "ORACLE-ECV", "LDAP", "POP3", "CITRIX-XML-SERVICE", "CITRIX-WEB-INTERFACE",
        "RTSP", "ARP", "CITRIX-AG", "CITRIX-AAC-LOGINPAGE", "CITRIX-AAC-LAS", "CITRIX-XD-DDC", "ND6",
        "CITRIX-WI-EXTENDED", "DIAMETER", "RADIUS_ACCOUNTING", "STOREFRONT", "APPC", "SMPP", "CITRIX-XNC-ECV",
        "CITRIX-XDM", "CITRIX-STA-SERVICE", "CITRIX-STA-SERVICE-NHOP", "MQTT", "HTTP2", "DTLS", "QUIC",
        "KAFKA-AUTODISCOVER",
    ]
}

/// Would this text, sent as an argument, end its command?
pub fn breaks_line(argument: &str) -> bool {
    argument.contains(['\r', '\n', '\0'])
}

impl MonitorType {
    /// Codes that keep a service UP, unless it is said otherwise (`spec/methods.md` 4.2): a status of HTTP and what is
    /// like it, Access-Accept of RADIUS.
    pub fn good_codes(self) -> Vec<CodeRange> {
        match self {
            MonitorType::Http => vec![CodeRange::one(200)],
            MonitorType::NotCarried("HTTP-INLINE" | "RTSP" | "SIP-UDP" | "SIP-TCP") => {
                vec![CodeRange::one(200)]
            }
            MonitorType::NotCarried("RADIUS") => vec![CodeRange::one(2)],
            _ => Vec::new(),
        }
    }

    /// Does a monitor of that type have a form that goes through TLS here?
    pub fn can_be_secure(self) -> bool {
        ["TCP", "HTTP", "TCP-ECV", "HTTP-ECV", "USER"].contains(&self.text())
    }

    /// Can probes of that type go through TLS anywhere? Those by UDP, ICMP and below cannot (NITRO's error 2154).
    pub fn may_be_secure(self) -> bool {
        !NEVER_SECURE.contains(&self.text())
    }

    /// Has a probe of that type a response time that LRTM could learn (`spec/methods.md` 4.3, NITRO's error 2156)?
    pub fn may_be_measured(self) -> bool {
        !["HTTP-INLINE", "LOAD"].contains(&self.text())
    }

    /// Are the codes of its answers of three digits?
    pub fn has_status_codes(self) -> bool {
        self.good_codes().first().is_none_or(|range| range.low >= 100)
    }
}

const NEVER_SECURE: &[&str] = &[
    "PING",
    "UDP-ECV",
    "DNS",
    "ARP",
    "ND6",
    "LDNS-PING",
    "LDNS-DNS",
    "RADIUS",
    "RADIUS_ACCOUNTING",
    "SIP-UDP",
    "SNMP",
    "LOAD",
];

/// Which kind of connection a built-in monitor makes.
enum Way {
    Clear,
    Secure,
}

impl LbMonitor {
    /// Is that the name of a monitor that is bound by itself? Such can be neither changed nor removed.
    pub fn is_default(name: &str) -> bool {
        [TCP_DEFAULT, PING_DEFAULT].iter().any(|default| default.eq_ignore_ascii_case(name))
    }

    /// The monitors that exist without being added (`spec/methods.md` 4.2).
    pub fn built_in() -> Vec<LbMonitor> {
        BUILT_IN
            .iter()
            .filter_map(|(name, kind, way)| {
                let kind = MonitorType::of(kind)?;
                let secure = matches!(way, Way::Secure);
                Some(LbMonitor {
                    name: (*name).to_owned(),
                    kind,
                    secure,
                    resp_codes: kind.good_codes(),
                    ..LbMonitor::default()
                })
            })
            .collect()
    }
}

/// What probes a service that has no monitor bound. It can be neither changed nor removed.
pub const TCP_DEFAULT: &str = "tcp-default";
/// The same of a service that is not reached by TCP.
pub const PING_DEFAULT: &str = "ping-default";

const BUILT_IN: &[(&str, &str, Way)] = &[
    (TCP_DEFAULT, "TCP", Way::Clear),
    (PING_DEFAULT, "PING", Way::Clear),
    ("arp", "ARP", Way::Clear),
    ("nd6", "ND6", Way::Clear),
    ("ping", "PING", Way::Clear),
    ("tcp", "TCP", Way::Clear),
    ("http", "HTTP", Way::Clear),
    ("tcp-ecv", "TCP-ECV", Way::Clear),
    ("http-ecv", "HTTP-ECV", Way::Clear),
    ("udp-ecv", "UDP-ECV", Way::Clear),
    ("dns", "DNS", Way::Clear),
    ("dns-tcp", "DNS-TCP", Way::Clear),
    ("ftp", "FTP", Way::Clear),
    ("tcps", "TCP", Way::Secure),
    ("https", "HTTP", Way::Secure),
    ("tcps-ecv", "TCP-ECV", Way::Secure),
    ("https-ecv", "HTTP-ECV", Way::Secure),
    ("http2direct", "HTTP2", Way::Clear),
    ("http2ssl", "HTTP2", Way::Secure),
    ("xdm", "CITRIX-XDM", Way::Clear),
    ("xnc", "CITRIX-XNC-ECV", Way::Clear),
    ("sta", "CITRIX-STA-SERVICE", Way::Clear),
    ("stasecure", "CITRIX-STA-SERVICE", Way::Secure),
    ("ldns-ping", "LDNS-PING", Way::Clear),
    ("ldns-tcp", "LDNS-TCP", Way::Clear),
    ("ldns-dns", "LDNS-DNS", Way::Clear),
];
