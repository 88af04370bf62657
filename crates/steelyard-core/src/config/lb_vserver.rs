//! `lb vserver`: where clients connect, how a service is chosen for them, and what is bound.

use std::net::{IpAddr, SocketAddr};

use super::attribute::Kind;
use super::binding_list::BindingList;
use super::lb_binding::LbBinding;
use super::lb_method::{BackupLbMethod, LbMethod, RequestUnit};
use super::make::resource;
use super::policy_binding::PolicyBinding;
use super::service_type::{ServiceType, Transport};
use super::table::Keyed;
use super::{
    ANY_PORT, COMMENT, EXPRESSION, IDLE_TIMEOUT, MASK_LENGTH, NO_MASK, NO_RULE, PROFILE, SHORT_TEXT, TEXT,
    TRAFFIC_DOMAIN, one_of,
};

/// So many backups stand one behind the other at most (`spec/methods.md` 3.7).
pub const MOST_BACKUPS: usize = 10;

resource! {
    /// A virtual server that balances load.
    pub struct LbVserver "lb vserver" {
        /// Name of the virtual server.
        name: String = String::new(), Key("name", "name", Kind::Name).at_add().ranged();
        /// Protocol that its clients speak.
        service_type: ServiceType = ServiceType::Http,
            Required("serviceType", "servicetype", Kind::Word(ServiceType::WORDS)).at_add();
        /// Address that clients connect to; 0.0.0.0 with port 0 for one that only other objects use.
        ip: Option<IpAddr> = None, Optional("IPAddress", "ipv46", Kind::IpOrAny).ranged();
        /// Port that clients connect to; * for any.
        port: u16 = 0, Optional("port", "port", Kind::PortOrAny { min: 0 }).at_add();
        /// How many addresses, one after the other, are its own.
        range: u32 = 1, Option("range", "range", Kind::Number { min: 1, max: 254 }).at_add().traffic();
        /// Pattern of the addresses that are its own.
        ip_pattern: Option<IpAddr> = None, Option("IPPattern", "ippattern", Kind::Ip).traffic();
        /// Bits in which an address must agree with that pattern.
        ip_mask: Option<IpAddr> = None, Option("IPMask", "ipmask", Kind::Ip).traffic();
        /// Set of addresses that are its own as well.
        ip_set: String = String::new(), Option("ipset", "ipset", PROFILE).traffic();
        /// What makes a client come back to the service it had.
        persistence: &'static str = "NONE",
            Option("persistenceType", "persistencetype", one_of(PERSISTENCE)).always().traffic();
        /// Minutes for which that holds; 0, with a cookie, for as long as the client keeps it.
        persistence_timeout_min: u32 = 2,
            Option("timeout", "timeout", Kind::Number { min: 0, max: 1440 }).traffic();
        /// What makes a client come back where that fails.
        persistence_backup: &'static str = "NONE",
            Option("persistenceBackup", "persistencebackup", one_of(PERSISTENCE_BACKUPS)).traffic();
        /// Minutes for which that holds.
        backup_persistence_timeout_min: u32 = 2,
            Option("backupPersistenceTimeout", "backuppersistencetimeout", Kind::Number { min: 2, max: 1440 }).traffic();
        /// How a service is chosen.
        lb_method: LbMethod = LbMethod::LeastConnection, Option("lbMethod", "lbmethod", Kind::Word(LbMethod::WORDS));
        /// Bytes that a hash method looks at.
        hash_length: u32 = 80, Option("hashLength", "hashlength", Kind::Number { min: 1, max: 4096 }).traffic();
        /// Part of an IPv4 address that a hash method looks at.
        netmask: IpAddr = NO_MASK, Option("netmask", "netmask", Kind::Ip).traffic();
        /// Bits of an IPv6 address that a hash method looks at.
        v6_netmask_length: u32 = 128, Option("v6netmasklen", "v6netmasklen", MASK_LENGTH).traffic();
        /// Bytes of a token.
        data_length: Option<u32> = None,
            Option("dataLength", "datalength", Kind::Number { min: 1, max: 100 }).traffic();
        /// Bytes before a token.
        data_offset: Option<u32> = None,
            Option("dataOffset", "dataoffset", Kind::Number { min: 0, max: 25_400 }).traffic();
        /// How a service is chosen where this version does not carry the method.
        backup_lb_method: BackupLbMethod = BackupLbMethod::RoundRobin,
            Option("backupLBMethod", "backuplbmethod", Kind::Word(BackupLbMethod::WORDS));
        /// Name of the cookie of persistence.
        cookie_name: String = String::new(), Option("cookieName", "cookiename", SHORT_TEXT).traffic();
        /// What of a request persistence or a token is made of.
        rule: String = NO_RULE.to_owned(), Option("rule", "rule", EXPRESSION).traffic();
        /// Which connections are its own.
        listen_policy: String = NO_RULE.to_owned(), Option("Listenpolicy", "listenpolicy", EXPRESSION).exposure();
        /// Its rank among virtual servers with the same address: the lowest that matches takes the connection.
        listen_priority: u32 = 101,
            Option("Listenpriority", "listenpriority", Kind::Number { min: 0, max: 101 }).traffic();
        /// What of an answer persistence is made of.
        response_rule: String = NO_RULE.to_owned(), Option("resRule", "resrule", EXPRESSION).traffic();
        /// Part of a client's IPv4 address that persistence looks at.
        persist_mask: IpAddr = NO_MASK, Option("persistMask", "persistmask", Kind::Ip).traffic();
        /// Bits of a client's IPv6 address that persistence looks at.
        v6_persist_mask_length: u32 = 128, Option("v6persistmasklen", "v6persistmasklen", MASK_LENGTH).traffic();
        /// ON: requests are ranked, an old way.
        priority_queuing: bool = false, Option("pq", "pq", Kind::OnOff).traffic();
        /// ON: requests beyond capacity are delayed, an old way.
        sure_connect: bool = false, Option("sc", "sc", Kind::OnOff).traffic();
        /// ON: addresses in RTSP are translated.
        rtsp_nat: bool = false, Option("rtspNat", "rtspnat", Kind::OnOff).traffic();
        /// How requests are passed on to services.
        redirection_mode: &'static str = "IP", Option("m", "m", one_of(&["IP", "MAC", "IPTUNNEL", "TOS"])).traffic();
        /// Type of service of packets, with -m TOS.
        tos_id: Option<u32> = None, Option("tosId", "tosid", Kind::Number { min: 1, max: 63 }).traffic();
        /// ENABLED: a service is chosen for each packet.
        sessionless: bool = false, Option("sessionless", "sessionless", Kind::Switch).traffic();
        /// DISABLED: a service that is going out of service gets no more of its clients.
        trofs_persistence: bool = true, Option("trofsPersistence", "trofspersistence", Kind::Switch).traffic();
        /// DISABLED takes it out of service.
        enabled: bool = true, Option("state", "state", Kind::Switch).at_add();
        /// Whether connections outlive the appliance.
        connection_failover: &'static str = "DISABLED",
            Option("connfailover", "connfailover", one_of(&["DISABLED", "STATEFUL", "STATELESS"])).traffic();
        /// Where clients are sent while it is DOWN.
        redirect_url: String = String::new(), Option("redirectURL", "redirurl", TEXT);
        /// YES: its answers may be kept by a cache.
        cacheable: bool = false, Option("cacheable", "cacheable", Kind::YesNo).traffic();
        /// Seconds after which an idle client connection is closed.
        clt_timeout_s: u32 = 180, Option("cltTimeout", "clttimeout", IDLE_TIMEOUT).always();
        /// What decides that its backup takes over load.
        spillover_method: &'static str = "NONE",
            Option("soMethod", "somethod", one_of(SPILLOVER_METHODS));
        /// ENABLED: a client stays where it was sent.
        spillover_persistence: bool = false, Option("soPersistence", "sopersistence", Kind::Switch);
        /// Minutes for which that holds.
        spillover_persistence_timeout_min: u32 = 2,
            Option("soPersistenceTimeOut", "sopersistencetimeout", Kind::Number { min: 2, max: 1440 });
        /// Percent of its services below which it is DOWN.
        health_threshold: u32 = 0,
            Option("healthThreshold", "healththreshold", Kind::Number { min: 0, max: 100 });
        /// How much is too much, as soMethod counts.
        spillover_threshold: Option<u32> = None,
            Option("soThreshold", "sothreshold", Kind::Number { min: 1, max: 4_294_967_287 });
        /// What happens when no backup is UP.
        spillover_backup_action: &'static str = "",
            Option("soBackupAction", "sobackupaction", one_of(SPARES));
        /// ENABLED: the port in redirections of services is made its own.
        redirect_port_rewrite: bool = false, Option("redirectPortRewrite", "redirectportrewrite", Kind::Switch).traffic();
        /// DISABLED: transactions under way may end when it goes DOWN.
        down_state_flush: bool = true, Option("downStateFlush", "downstateflush", Kind::Switch);
        /// Virtual server that takes its place while it is DOWN.
        backup_vserver: String = String::new(), Option("backupVServer", "backupvserver", PROFILE);
        /// ENABLED: once its backup has taken its place, it waits to be enabled by hand.
        disable_primary_on_down: bool = false,
            Option("disablePrimaryOnDown", "disableprimaryondown", Kind::Switch);
        /// Whether its address and port are told to services in a header.
        insert_vip: &'static str = "OFF",
            Option("insertVserverIPPort", "insertvserveripport", one_of(VIP_INSERTIONS)).traffic();
        /// Name of that header.
        vip_header: String = String::new(), SecondWord("vipHeader", "vipheader", TEXT).traffic();
        /// Where clients are sent to log in.
        authentication_host: String = String::new(),
            Option("AuthenticationHost", "authenticationhost", Kind::Text { max: 252 }).exposure();
        /// ON: clients must log in at a form.
        authentication: bool = false, Option("Authentication", "authentication", Kind::OnOff).exposure();
        /// ON: clients must log in by HTTP.
        authentication_401: bool = false, Option("authn401", "authn401", Kind::OnOff).exposure();
        /// Virtual server that looks at what they log in with.
        authentication_vserver: String = String::new(),
            Option("authnVsName", "authnvsname", Kind::Text { max: 252 }).exposure();
        /// ENABLED: answers come when the server has something to say.
        push: bool = false, Option("push", "push", Kind::Switch).traffic();
        /// Virtual server at which servers say it.
        push_vserver: String = String::new(), Option("pushVserver", "pushvserver", PROFILE).traffic();
        /// What names a client there.
        push_label: String = NO_RULE.to_owned(), Option("pushLabel", "pushlabel", EXPRESSION).traffic();
        /// YES: several connections of one client may wait.
        push_multi_clients: bool = false, Option("pushMultiClients", "pushmulticlients", Kind::YesNo).traffic();
        /// TCP profile of client connections.
        tcp_profile: String = String::new(), Option("tcpProfileName", "tcpprofilename", PROFILE).traffic();
        /// HTTP profile of its requests.
        http_profile: String = String::new(), Option("httpProfileName", "httpprofilename", PROFILE).traffic();
        /// Database profile.
        db_profile: String = String::new(), Option("dbProfileName", "dbprofilename", PROFILE).traffic();
        /// Words for people.
        comment: String = String::new(), Option("comment", "comment", COMMENT).inert();
        /// ON: connections differ by hardware address and VLAN as well.
        layer_2_connection: bool = false, Option("l2Conn", "l2conn", Kind::OnOff).traffic();
        /// Version that it tells to clients of an Oracle database.
        oracle_server_version: &'static str = "10G",
            Option("oracleServerVersion", "oracleserverversion", one_of(ORACLE_VERSIONS)).traffic();
        /// Version that it tells to clients of a Microsoft database.
        mssql_server_version: &'static str = "2008R2",
            Option("mssqlServerVersion", "mssqlserverversion", one_of(MSSQL_VERSIONS)).traffic();
        /// Protocol version that it tells to clients of a MySQL database.
        mysql_protocol_version: Option<u32> = None,
            Option("mysqlProtocolVersion", "mysqlprotocolversion", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// Version that it tells them.
        mysql_server_version: String = String::new(),
            Option("mysqlServerVersion", "mysqlserverversion", Kind::Text { max: 31 }).traffic();
        /// Character set that it tells them.
        mysql_character_set: Option<u32> = None,
            Option("mysqlCharacterSet", "mysqlcharacterset", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// What it tells them that it can do.
        mysql_server_capabilities: Option<u32> = None,
            Option("mysqlServerCapabilities", "mysqlservercapabilities", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// DISABLED: flow records leave it out.
        appflow_log: bool = true, Option("appflowLog", "appflowlog", Kind::Switch).inert();
        /// Profile that says where its server-side connections come from.
        net_profile: String = String::new(), Option("netProfile", "netprofile", PROFILE);
        /// ACTIVE: its address answers pings only while it is UP.
        icmp_response: &'static str = "PASSIVE",
            Option("icmpVsrResponse", "icmpvsrresponse", one_of(PASSIVE_OR_ACTIVE)).traffic();
        /// ACTIVE: a route to its address is advertised only while it is UP.
        route_health: &'static str = "PASSIVE",
            Option("RHIstate", "rhistate", one_of(PASSIVE_OR_ACTIVE)).traffic();
        /// Slow start: load given to a new service per interval; 0 leaves it to startup round robin.
        new_service_request: u32 = 0,
            Option("newServiceRequest", "newservicerequest", Kind::Number { min: 0, max: u32::MAX });
        /// What `newServiceRequest` counts.
        new_service_request_unit: RequestUnit = RequestUnit::PerSecond,
            SecondWord("newServiceRequestUnit", "newservicerequestunit", Kind::Word(RequestUnit::WORDS));
        /// Slow start: seconds between two steps; 0 leaves the load where it is.
        new_service_request_increment_interval_s: u32 = 0,
            Option(
                "newServiceRequestIncrementInterval",
                "newservicerequestincrementinterval",
                Kind::Number { min: 0, max: 3600 }
            );
        /// Fewest members that scaling keeps.
        min_autoscale_members: u32 = 0,
            Option("minAutoscaleMembers", "minautoscalemembers", Kind::Number { min: 0, max: 5000 }).traffic();
        /// Most members that scaling makes.
        max_autoscale_members: u32 = 0,
            Option("maxAutoscaleMembers", "maxautoscalemembers", Kind::Number { min: 0, max: 5000 }).traffic();
        /// Diameter attributes that persistence looks at.
        persist_avp: Vec<u32> = Vec::new(),
            Option("persistAVPno", "persistavpno", Kind::Numbers { min: 1, max: u32::MAX }).traffic();
        /// What happens to a client whose service has too much.
        skip_persistency: &'static str = "None",
            Option("skippersistency", "skippersistency", one_of(&["Bypass", "ReLb", "None"])).traffic();
        /// Traffic domain that it belongs to: clients of others do not reach it.
        traffic_domain: u32 = 0, Option("td", "td", TRAFFIC_DOMAIN).at_add().exposure();
        /// Profile that says how clients must log in.
        authentication_profile: String = String::new(), Option("authnProfile", "authnprofile", PROFILE).exposure();
        /// ENABLED: packets keep their VLAN, with -m MAC.
        mac_mode_retain_vlan: bool = false, Option("macmodeRetainvlan", "macmoderetainvlan", Kind::Switch).traffic();
        /// ENABLED: queries go to the database that has the data.
        database_specific: bool = false, Option("dbsLb", "dbslb", Kind::Switch).traffic();
        /// ENABLED: IPv6 addresses are made of IPv4 ones in answers.
        dns64: bool = false, Option("dns64", "dns64", Kind::Switch).traffic();
        /// YES: IPv6 addresses are not asked for while that is done.
        bypass_aaaa: bool = false, Option("bypassAAAA", "bypassaaaa", Kind::YesNo).traffic();
        /// YES: answers say that recursion is available.
        recursion_available: bool = false, Option("RecursionAvailable", "recursionavailable", Kind::YesNo).traffic();
        /// ENABLED: one appliance of a cluster handles a connection alone.
        process_local: bool = false, Option("processLocal", "processlocal", Kind::Switch).inert();
        /// DNS profile of its queries.
        dns_profile: String = String::new(), Option("dnsProfileName", "dnsprofilename", PROFILE).traffic();
        /// Load balancing profile.
        lb_profile: String = String::new(), Option("lbprofilename", "lbprofilename", PROFILE).traffic();
        /// Port from which clients are sent to this virtual server.
        redirect_from_port: Option<u16> = None,
            Option("redirectFromPort", "redirectfromport", Kind::PortOrAny { min: 1 }).traffic();
        /// Where they are sent.
        https_redirect_url: String = String::new(), Option("httpsRedirectUrl", "httpsredirecturl", TEXT).traffic();
        /// YES: connections outlive a change of a cluster.
        retain_connections_on_cluster: bool = false,
            Option("retainConnectionsOnCluster", "retainconnectionsoncluster", Kind::YesNo).inert();
        /// Profile that says how clients of ADFS must log in.
        adfs_proxy_profile: String = String::new(), Option("adfsProxyProfile", "adfsproxyprofile", PROFILE).exposure();
        /// Port on which others ask whether it is UP.
        tcp_probe_port: Option<u16> = None,
            Option("tcpProbePort", "tcpprobeport", Kind::PortOrAny { min: 1 }).traffic();
        /// QUIC profile of client connections.
        quic_profile: String = String::new(), Option("quicProfileName", "quicprofilename", PROFILE).traffic();
        /// QUIC profile of what is passed on unread.
        quic_bridge_profile: String = String::new(),
            Option("quicBridgeProfilename", "quicbridgeprofilename", PROFILE).traffic();
        /// What others ask with whether it is UP.
        probe_protocol: String = String::new(), Option("probeProtocol", "probeprotocol", SHORT_TEXT).traffic();
        /// Status code that tells them so.
        probe_success_code: String = String::new(),
            Option("probeSuccessResponseCode", "probesuccessresponsecode", SHORT_TEXT).traffic();
        /// Port on which they ask.
        probe_port: Option<u16> = None, Option("probePort", "probeport", Kind::PortOrAny { min: 0 }).traffic();
        /// Which ranks of services come first.
        toggle_order: &'static str = "ASCENDING",
            Option("toggleorder", "toggleorder", one_of(&["ASCENDING", "DESCENDING"])).traffic();
        /// When the next rank of services is used.
        order_threshold: u32 = 0,
            Option("orderThreshold", "orderthreshold", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// Profile that says which requests an API takes.
        api_profile: String = String::new(), Option("apiProfile", "apiprofile", PROFILE).exposure();
        /// ENABLED: DNS queries in HTTPS are taken.
        dns_over_https: bool = false, Option("dnsOverHttps", "dnsoverhttps", Kind::Switch).traffic();
        /// YES: nothing is bound to it by itself.
        no_default_bindings: bool = false, Option("noDefaultBindings", "nodefaultbindings", Kind::YesNo).traffic();
    }
    plain {
        /// What is bound, in binding order, which is the order of the ring.
        bindings: BindingList<LbBinding> = BindingList::default();
        /// The policies that are bound, in binding order.
        policies: BindingList<PolicyBinding> = BindingList::default();
        /// The analytics profiles that are bound, in binding order.
        analytics_profiles: Vec<String> = Vec::new();
    }
    by service_type {
        "clttimeout" clt_timeout_s = client_timeout_s;
    }
}

impl LbVserver {
    /// Where it listens; `None` when it is not addressable or listens on every port.
    pub fn address(&self) -> Option<SocketAddr> {
        let ip = self.ip?;
        (self.port != 0 && self.port != ANY_PORT).then(|| SocketAddr::new(ip, self.port))
    }
}

impl Keyed for LbVserver {
    /// One virtual server for an address that clients connect to, unless a listen policy divides its connections.
    type Address = (Transport, u32, SocketAddr);

    fn name(&self) -> &str {
        &self.name
    }

    fn address_key(&self) -> Option<(Transport, u32, SocketAddr)> {
        let ip = self.ip.filter(|_| self.port != 0 && self.listen_policy == NO_RULE)?;
        let address = SocketAddr::new(ip, self.port);
        Some((self.service_type.transport(), self.traffic_domain, address))
    }
}

const PERSISTENCE: &[&str] = &[
    "SOURCEIP",
    "COOKIEINSERT",
    "SSLSESSION",
    "RULE",
    "URLPASSIVE",
    "CUSTOMSERVERID",
    "DESTIP",
    "SRCIPDESTIP",
    "CALLID",
    "RTSPSID",
    "DIAMETER",
    "FIXSESSION",
    "USERSESSION",
    "NONE",
];
/// What can decide that a backup takes over load.
pub(super) const SPILLOVER_METHODS: &[&str] =
    &["CONNECTION", "DYNAMICCONNECTION", "BANDWIDTH", "HEALTH", "NONE"];
/// What can happen when no backup is UP.
pub(super) const SPARES: &[&str] = &["DROP", "ACCEPT", "REDIRECT"];
/// How a virtual server's address and port can be told to services.
pub(super) const VIP_INSERTIONS: &[&str] = &["OFF", "VIPADDR", "V6TOV4MAPPING"];
/// When pings are answered and routes advertised: always, or only while it is UP.
pub(super) const PASSIVE_OR_ACTIVE: &[&str] = &["PASSIVE", "ACTIVE"];
/// What can take the place of persistence that a client does not keep.
pub(super) const PERSISTENCE_BACKUPS: &[&str] = &["SOURCEIP", "NONE"];
/// Versions of Oracle's database.
pub(super) const ORACLE_VERSIONS: &[&str] = &["10G", "11G"];
/// Versions of Microsoft's database protocol.
pub(super) const MSSQL_VERSIONS: &[&str] =
    &["70", "2000", "2000SP1", "2005", "2008", "2008R2", "2012", "2014"];
