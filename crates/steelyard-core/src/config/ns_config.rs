//! `ns config`, `ns hostName` and `ns param`: the appliance itself.

use std::net::IpAddr;

use super::attribute::Kind;
use super::make::resource;
use super::{SHORT_TEXT, TEXT, one_of};

resource! {
    /// Where the appliance is managed.
    pub struct NsConfig "ns config" {
        /// Address at which it is managed.
        ip: Option<IpAddr> = None, Option("IPAddress", "ipaddress", Kind::Ip).inert();
        /// Mask of its subnet.
        netmask: Option<IpAddr> = None, Option("netmask", "netmask", Kind::Ip).inert();
        /// VLAN in which that address is.
        vlan: Option<u32> = None, Option("nsvlan", "nsvlan", Kind::Number { min: 2, max: 4094 }).inert();
        /// Interfaces of that VLAN.
        interfaces: Vec<String> = Vec::new(), Option("ifnum", "ifnum", Kind::Texts { max: 127 }).inert();
        /// NO: packets there do not say which VLAN they belong to.
        tagged: bool = true, Option("tagged", "tagged", Kind::YesNo).inert();
        /// ENABLED: management stays in a traffic domain of its own.
        secure_management: bool = false,
            Option("secureManagementTraffic", "securemanagementtraffic", Kind::Switch).inert();
        /// Which traffic domain that is.
        secure_management_domain: Option<u32> = None,
            Option("secureManagementTD", "securemanagementtd", super::TRAFFIC_DOMAIN).inert();
    }
}

resource! {
    /// What the appliance calls itself.
    pub struct NsHostName "ns hostName" {
        /// Name of the appliance.
        name: String = String::new(), Key("hostName", "hostname", Kind::Text { max: 255 }).inert();
        /// Which appliance of a cluster has it.
        owner: Option<u32> = None, Option("ownerNode", "ownernode", Kind::Number { min: 0, max: 31 }).inert();
    }
}

resource! {
    /// Settings of the appliance as a whole.
    pub struct NsParam "ns param" {
        /// Ports on which what comes is taken for HTTP.
        http_ports: Vec<u32> = Vec::new(), Option("httpPort", "httpport", PORTS).traffic();
        /// Most connections to a service; 0 for no limit.
        max_connections: u32 = 0,
            Option("maxConn", "maxconn", Kind::Number { min: 0, max: u32::MAX - 1 }).traffic();
        /// Most requests on one connection to a service; 0 for no limit.
        max_req: u32 = 0, Option("maxReq", "maxreq", Kind::Number { min: 0, max: 65_535 });
        /// ENABLED: services are told the client's address in a header.
        client_ip: bool = false, Option("cip", "cip", Kind::Switch);
        /// Name of that header.
        client_ip_header: String = String::new(), SecondWord("cipHeader", "cipheader", Kind::FieldName);
        /// Version of the cookies of persistence.
        cookie_version: &'static str = "0", Option("cookieversion", "cookieversion", one_of(&["0", "1"])).traffic();
        /// DISABLED: such a cookie may go over connections without TLS.
        secure_cookie: bool = true, Option("securecookie", "securecookie", Kind::Switch).traffic();
        /// Smallest path MTU that is believed.
        pmtu_min: u32 = 576, Option("pmtuMin", "pmtumin", Kind::Number { min: 168, max: 1500 }).traffic();
        /// Minutes for which it is believed.
        pmtu_timeout_min: u32 = 10,
            Option("pmtuTimeout", "pmtutimeout", Kind::Number { min: 1, max: 1440 }).traffic();
        /// Ports for data connections of FTP.
        ftp_port_range: String = String::new(), Option("ftpPortRange", "ftpportrange", SHORT_TEXT).traffic();
        /// Ports for cache redirection.
        cr_port_range: String = String::new(), Option("crPortRange", "crportrange", SHORT_TEXT).traffic();
        /// Time zone in which times are shown.
        timezone: String = String::new(), Option("timezone", "timezone", TEXT).inert();
        /// Percent of connections that packet engines share when a limit is near.
        grant_quota_max_client: u32 = 10, Option("grantQuotaMaxClient", "grantquotamaxclient", PERCENT).traffic();
        /// Percent of connections that each packet engine has for itself.
        exclusive_quota_max_client: u32 = 80,
            Option("exclusiveQuotaMaxClient", "exclusivequotamaxclient", PERCENT).traffic();
        /// The same of spillover: shared.
        grant_quota_spillover: u32 = 10, Option("grantQuotaSpillOver", "grantquotaspillover", PERCENT).traffic();
        /// The same of spillover: for itself.
        exclusive_quota_spillover: u32 = 80,
            Option("exclusiveQuotaSpillOver", "exclusivequotaspillover", PERCENT).traffic();
        /// NO: connections to services have the client's port as their source, where they have its address.
        use_proxy_port: bool = true, Option("useproxyport", "useproxyport", Kind::YesNo).traffic();
        /// DISABLED: appliances do not log in to each other.
        internal_user_login: bool = true, Option("internaluserlogin", "internaluserlogin", Kind::Switch).inert();
        /// ENABLED: active FTP may come from any port.
        active_ftp_random_port: bool = false,
            Option("aftpAllowRandomSourcePort", "aftpallowrandomsourceport", Kind::Switch).traffic();
        /// Ports on which what comes is taken for ICA.
        ica_ports: Vec<u32> = Vec::new(), Option("icaPorts", "icaports", PORTS).traffic();
        /// ENABLED: TCP services are told the client's address.
        tcp_client_ip: bool = false, Option("tcpCIP", "tcpcip", Kind::Switch);
        /// VLAN of what comes back from a chain of services.
        service_path_vlan: Option<u32> = None,
            Option(
                "servicePathIngressVLAN",
                "servicepathingressvlan",
                Kind::Number { min: 1, max: 4094 }
            ).traffic();
        /// Ports on which what comes is taken for ICA in TLS.
        secure_ica_ports: Vec<u32> = Vec::new(), Option("secureICAPorts", "secureicaports", PORTS).traffic();
        /// Port for management by HTTP.
        management_http_port: u16 = 80, Option("mgmtHttpPort", "mgmthttpport", Kind::Port { min: 1 }).inert();
        /// Port for management by HTTPS.
        management_https_port: u16 = 443, Option("mgmtHttpsPort", "mgmthttpsport", Kind::Port { min: 1 }).inert();
        /// ENABLED: PROXY headers are sent and read where a profile says so.
        proxy_protocol: bool = false, Option("proxyProtocol", "proxyprotocol", Kind::Switch).traffic();
        /// ENABLED: more figures are kept.
        advanced_analytics: bool = false,
            Option("advancedAnalyticsStats", "advancedanalyticsstats", Kind::Switch).inert();
        /// Time to live of packets.
        ip_ttl: u32 = 255, Option("ipttl", "ipttl", Kind::Number { min: 1, max: 255 }).traffic();
    }
}

const PORTS: Kind = Kind::Numbers { min: 1, max: 65_535 };
const PERCENT: Kind = Kind::Number { min: 0, max: 100 };
