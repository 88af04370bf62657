//! `cs vserver`: a virtual server that passes requests on to others by policies. Kept, shown and saved, and not opened.

use std::net::{IpAddr, SocketAddr};

use super::attribute::Kind;
use super::binding_list::BindingList;
use super::lb_vserver::{
    MSSQL_VERSIONS, ORACLE_VERSIONS, PASSIVE_OR_ACTIVE, PERSISTENCE_BACKUPS, SPARES, SPILLOVER_METHODS,
    VIP_INSERTIONS,
};
use super::make::resource;
use super::policy_binding::PolicyBinding;
use super::service_type::{ServiceType, Transport};
use super::table::Keyed;
use super::{
    COMMENT, EXPRESSION, IDLE_TIMEOUT, MASK_LENGTH, NO_MASK, NO_RULE, PROFILE, SHORT_TEXT, TEXT,
    TRAFFIC_DOMAIN, one_of,
};

resource! {
    /// A virtual server that passes requests on to others.
    pub struct CsVserver "cs vserver" {
        /// Name of the virtual server.
        name: String = String::new(), Key("name", "name", Kind::Name).at_add().ranged().traffic();
        /// Protocol that its clients speak.
        service_type: ServiceType = ServiceType::Http,
            Required("serviceType", "servicetype", Kind::Word(ServiceType::WORDS)).at_add().traffic();
        /// Address that clients connect to.
        ip: Option<IpAddr> = None, Optional("IPAddress", "ipv46", Kind::IpOrAny).ranged().traffic();
        /// Port that clients connect to; * for any.
        port: Option<u16> = None, Optional("port", "port", Kind::PortOrAny { min: 0 }).at_add().traffic();
        /// Traffic domain that it belongs to: clients of others do not reach it.
        traffic_domain: u32 = 0, Option("td", "td", TRAFFIC_DOMAIN).at_add().exposure();
        /// How many addresses, one after the other, are its own.
        range: u32 = 1, Option("range", "range", Kind::Number { min: 1, max: 254 }).at_add().traffic();
        /// GSLB: it answers for names, and has no address.
        target_type: &'static str = "", Option("targetType", "targettype", one_of(&["GSLB"])).at_add().traffic();
        /// Kind of record that it answers for names with.
        dns_record_type: &'static str = "A",
            Option("dnsRecordType", "dnsrecordtype", one_of(&["A", "AAAA", "CNAME", "NAPTR"])).traffic();
        /// Number by which persistence knows it at every site.
        persistence_id: u32 = 0, Option("persistenceId", "persistenceid", Kind::Number { min: 0, max: 65_535 }).traffic();
        /// Pattern of the addresses that are its own.
        ip_pattern: Option<IpAddr> = None, Option("IPPattern", "ippattern", Kind::Ip).traffic();
        /// Bits in which an address must agree with that pattern.
        ip_mask: Option<IpAddr> = None, Option("IPMask", "ipmask", Kind::Ip).traffic();
        /// Set of addresses that are its own as well.
        ip_set: String = String::new(), Option("ipset", "ipset", PROFILE).traffic();
        /// DISABLED takes it out of service.
        enabled: bool = true, Option("state", "state", Kind::Switch).at_add().traffic();
        /// ENABLED: it is UP only while one of its targets is.
        state_update: bool = false, Option("stateupdate", "stateupdate", Kind::Switch).traffic();
        /// YES: its answers may be kept by a cache.
        cacheable: bool = false, Option("cacheable", "cacheable", Kind::YesNo).traffic();
        /// Where clients are sent while it is DOWN.
        redirect_url: String = String::new(), Option("redirectURL", "redirecturl", TEXT).traffic();
        /// Seconds after which an idle client connection is closed.
        clt_timeout_s: u32 = 180, Option("cltTimeout", "clttimeout", IDLE_TIMEOUT).always().traffic();
        /// Which of its classic policies come first.
        precedence: &'static str = "RULE", Option("precedence", "precedence", one_of(&["RULE", "URL"])).traffic();
        /// OFF: its policies take upper and lower case of a URL for the same.
        case_sensitive: bool = true, Option("caseSensitive", "casesensitive", Kind::OnOff).traffic();
        /// What decides that its backup takes over load.
        spillover_method: &'static str = "NONE",
            Option("soMethod", "somethod", one_of(SPILLOVER_METHODS)).traffic();
        /// ENABLED: a client stays where it was sent.
        spillover_persistence: bool = false, Option("soPersistence", "sopersistence", Kind::Switch).traffic();
        /// Minutes for which that holds.
        spillover_persistence_timeout_min: u32 = 2,
            Option("soPersistenceTimeOut", "sopersistencetimeout", Kind::Number { min: 2, max: 1440 }).traffic();
        /// How much is too much, as soMethod counts.
        spillover_threshold: Option<u32> = None,
            Option("soThreshold", "sothreshold", Kind::Number { min: 1, max: 4_294_967_287 }).traffic();
        /// What happens when no backup is UP.
        spillover_backup_action: &'static str = "",
            Option("soBackupAction", "sobackupaction", one_of(SPARES)).traffic();
        /// ENABLED: the port in redirections of services is made its own.
        redirect_port_rewrite: bool = false, Option("redirectPortRewrite", "redirectportrewrite", Kind::Switch).traffic();
        /// DISABLED: transactions under way may end when it goes DOWN.
        down_state_flush: bool = true, Option("downStateFlush", "downstateflush", Kind::Switch).traffic();
        /// Virtual server that takes its place while it is DOWN.
        backup_vserver: String = String::new(), Option("backupVServer", "backupvserver", PROFILE).traffic();
        /// ENABLED: once its backup has taken its place, it waits to be enabled by hand.
        disable_primary_on_down: bool = false,
            Option("disablePrimaryOnDown", "disableprimaryondown", Kind::Switch).traffic();
        /// Whether its address and port are told to services in a header.
        insert_vip: &'static str = "OFF",
            Option("insertVserverIPPort", "insertvserveripport", one_of(VIP_INSERTIONS)).traffic();
        /// Name of that header.
        vip_header: String = String::new(), SecondWord("vipHeader", "vipheader", TEXT).traffic();
        /// ON: addresses in RTSP are translated.
        rtsp_nat: bool = false, Option("rtspNat", "rtspnat", Kind::OnOff).traffic();
        /// Where clients are sent to log in.
        authentication_host: String = String::new(),
            Option("AuthenticationHost", "authenticationhost", Kind::Text { max: 252 }).exposure();
        /// ON: clients must log in at a form.
        authentication: bool = false, Option("Authentication", "authentication", Kind::OnOff).exposure();
        /// Which connections are its own.
        listen_policy: String = NO_RULE.to_owned(), Option("Listenpolicy", "listenpolicy", EXPRESSION).exposure();
        /// Its rank among virtual servers with the same address: the lowest that matches takes the connection.
        listen_priority: u32 = 101,
            Option("Listenpriority", "listenpriority", Kind::Number { min: 0, max: 101 }).traffic();
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
        /// Version that it tells to clients of an Oracle database.
        oracle_server_version: &'static str = "10G",
            Option("oracleServerVersion", "oracleserverversion", one_of(ORACLE_VERSIONS)).traffic();
        /// Words for people.
        comment: String = String::new(), Option("comment", "comment", COMMENT).inert();
        /// Version that it tells to clients of a Microsoft database.
        mssql_server_version: &'static str = "2008R2",
            Option("mssqlServerVersion", "mssqlserverversion", one_of(MSSQL_VERSIONS)).traffic();
        /// ON: connections differ by hardware address and VLAN as well.
        layer_2_connection: bool = false, Option("l2Conn", "l2conn", Kind::OnOff).traffic();
        /// Protocol version that it tells to clients of a MySQL database.
        mysql_protocol_version: u32 = 10,
            Option("mysqlProtocolVersion", "mysqlprotocolversion", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// Version that it tells them.
        mysql_server_version: String = String::new(),
            Option("mysqlServerVersion", "mysqlserverversion", Kind::Text { max: 31 }).traffic();
        /// Character set that it tells them.
        mysql_character_set: u32 = 8,
            Option("mysqlCharacterSet", "mysqlcharacterset", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// What it tells them that it can do.
        mysql_server_capabilities: u32 = 41_613,
            Option("mysqlServerCapabilities", "mysqlservercapabilities", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// DISABLED: flow records leave it out.
        appflow_log: bool = true, Option("appflowLog", "appflowlog", Kind::Switch).inert();
        /// Profile that says where its server-side connections come from.
        net_profile: String = String::new(), Option("netProfile", "netprofile", PROFILE).traffic();
        /// ACTIVE: its address answers pings only while it is UP.
        icmp_response: &'static str = "PASSIVE",
            Option("icmpVsrResponse", "icmpvsrresponse", one_of(PASSIVE_OR_ACTIVE)).traffic();
        /// ACTIVE: a route to its address is advertised only while it is UP.
        route_health: &'static str = "PASSIVE",
            Option("RHIstate", "rhistate", one_of(PASSIVE_OR_ACTIVE)).traffic();
        /// Profile that says how clients must log in.
        authentication_profile: String = String::new(), Option("authnProfile", "authnprofile", PROFILE).exposure();
        /// DNS profile of its queries.
        dns_profile: String = String::new(), Option("dnsProfileName", "dnsprofilename", PROFILE).traffic();
        /// ON: it takes datagrams with TLS.
        dtls: bool = false, Option("dtls", "dtls", Kind::OnOff).traffic();
        /// What makes a client come back to the target it had.
        persistence: &'static str = "NONE",
            Option(
                "persistenceType",
                "persistencetype",
                one_of(&["SOURCEIP", "COOKIEINSERT", "SSLSESSION", "NONE"])
            ).traffic();
        /// Part of a client's IPv4 address that persistence looks at.
        persist_mask: IpAddr = NO_MASK, Option("persistMask", "persistmask", Kind::Ip).traffic();
        /// Bits of a client's IPv6 address that persistence looks at.
        v6_persist_mask_length: u32 = 128, Option("v6persistmasklen", "v6persistmasklen", MASK_LENGTH).traffic();
        /// Minutes for which persistence holds; 0, with a cookie, for as long as the client keeps it.
        timeout_min: u32 = 2, Option("timeout", "timeout", Kind::Number { min: 0, max: 1440 }).traffic();
        /// Name of the cookie of persistence.
        cookie_name: String = String::new(), Option("cookieName", "cookiename", SHORT_TEXT).traffic();
        /// What makes a client come back where that fails.
        persistence_backup: &'static str = "NONE",
            Option("persistenceBackup", "persistencebackup", one_of(PERSISTENCE_BACKUPS)).traffic();
        /// Minutes for which that holds.
        backup_persistence_timeout_min: u32 = 2,
            Option("backupPersistenceTimeout", "backuppersistencetimeout", Kind::Number { min: 2, max: 1440 }).traffic();
        /// Port on which others ask whether it is UP.
        tcp_probe_port: Option<u16> = None,
            Option("tcpProbePort", "tcpprobeport", Kind::PortOrAny { min: 1 }).traffic();
        /// What others ask with whether it is UP.
        probe_protocol: String = String::new(), Option("probeProtocol", "probeprotocol", SHORT_TEXT).traffic();
        /// Status code that tells them so.
        probe_success_code: String = String::new(),
            Option("probeSuccessResponseCode", "probesuccessresponsecode", SHORT_TEXT).traffic();
        /// Port on which they ask.
        probe_port: Option<u16> = None, Option("probePort", "probeport", Kind::PortOrAny { min: 0 }).traffic();
        /// QUIC profile of client connections.
        quic_profile: String = String::new(), Option("quicProfileName", "quicprofilename", PROFILE).traffic();
        /// Port from which clients are sent to this virtual server.
        redirect_from_port: Option<u16> = None,
            Option("redirectFromPort", "redirectfromport", Kind::PortOrAny { min: 1 }).traffic();
        /// ENABLED: DNS queries in HTTPS are taken.
        dns_over_https: bool = false, Option("dnsOverHttps", "dnsoverhttps", Kind::Switch).traffic();
        /// Where they are sent.
        https_redirect_url: String = String::new(), Option("httpsRedirectUrl", "httpsredirecturl", TEXT).traffic();
        /// Profile that says which requests an API takes.
        api_profile: String = String::new(), Option("apiProfile", "apiprofile", PROFILE).exposure();
        /// YES: nothing is bound to it by itself.
        no_default_bindings: bool = false, Option("noDefaultBindings", "nodefaultbindings", Kind::YesNo).traffic();
    }
    plain {
        /// The policies that are bound, in binding order.
        policies: BindingList<PolicyBinding> = BindingList::default();
        /// Where the requests go that no policy passes on.
        default_target: CsTarget = CsTarget::default();
        /// The names that it answers for, in binding order.
        domains: Vec<CsDomain> = Vec::new();
        /// The analytics profiles that are bound, in binding order.
        analytics_profiles: Vec<String> = Vec::new();
    }
    by service_type {
        "clttimeout" clt_timeout_s = client_timeout_s;
    }
}

impl Keyed for CsVserver {
    /// As of an lb vserver, with which it shares the addresses.
    type Address = (Transport, u32, SocketAddr);

    fn name(&self) -> &str {
        &self.name
    }

    fn address_key(&self) -> Option<(Transport, u32, SocketAddr)> {
        let port = self.port.filter(|port| *port != 0 && self.listen_policy == NO_RULE)?;
        let address = SocketAddr::new(self.ip?, port);
        Some((self.service_type.transport(), self.traffic_domain, address))
    }
}

resource! {
    /// A name that a virtual server for names answers for.
    pub struct CsDomain "cs vserver" {
        /// Name that it answers for.
        domain: String = String::new(), Option("domainName", "domainname", SHORT_TEXT).traffic();
        /// Seconds for which an answer holds.
        ttl_s: Option<u32> = None, Option("TTL", "ttl", Kind::Number { min: 1, max: u32::MAX }).traffic();
        /// Address to answer with where nothing else is left.
        backup_ip: Option<IpAddr> = None, Option("backupIP", "backupip", Kind::Ip).traffic();
        /// Domain of the cookie of persistence.
        cookie_domain: String = String::new(), Option("cookieDomain", "cookiedomain", SHORT_TEXT).traffic();
        /// Minutes for which that cookie holds.
        cookie_timeout_min: Option<u32> = None,
            Option("cookieTimeout", "cookietimeout", Kind::Number { min: 0, max: 1440 }).traffic();
        /// Seconds for which an answer about a site holds.
        site_ttl_s: Option<u32> = None,
            Option("sitedomainTTL", "sitedomainttl", Kind::Number { min: 1, max: u32::MAX }).traffic();
    }
}

resource! {
    /// Where a virtual server passes on what no policy does.
    pub struct CsTarget "cs vserver" {
        /// Load-balancing virtual server for requests that no policy passes on.
        lb_vserver: String = String::new(), Option("lbvserver", "lbvserver", PROFILE).traffic();
        /// Virtual server of another kind for what no policy passes on.
        vserver: String = String::new(), Option("vServer", "targetvserver", PROFILE).traffic();
    }
}
