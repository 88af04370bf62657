//! `serviceGroup`: services that share their settings and monitors, each a server and a port.

use super::attribute::Kind;
use super::binding_list::{Bindable, BindingList};
use super::make::resource;
use super::service::{MAX_BANDWIDTH, MonitorBinding, NO_SERVER_ID, SERVER_ID};
use super::service_type::ServiceType;
use super::table::Keyed;
use super::{ANY_PORT, COMMENT, IDLE_TIMEOUT, PROFILE, SERVICE_PORT, TEXT, TRAFFIC_DOMAIN, WEIGHT, one_of};

resource! {
    /// A group of members with the same settings.
    pub struct ServiceGroup "serviceGroup" {
        /// Name of the group.
        name: String = String::new(), Key("serviceGroupName", "servicegroupname", Kind::Name).at_add().ranged();
        /// Protocol its members speak.
        service_type: ServiceType = ServiceType::Http,
            Required("serviceType", "servicetype", Kind::Word(ServiceType::WORDS)).at_add();
        /// What kind of caches they are.
        cache_type: &'static str = "",
            Option("cacheType", "cachetype", one_of(&["TRANSPARENT", "REVERSE", "FORWARD", "SERVER"])).at_add().traffic();
        /// Traffic domain that it belongs to.
        traffic_domain: u32 = 0, Option("td", "td", TRAFFIC_DOMAIN).at_add().traffic();
        /// Most open connections to a member; 0 for no limit.
        max_client: u32 = 0,
            Option("maxClient", "maxclient", Kind::Number { min: 0, max: u32::MAX - 1 }).always();
        /// Most requests on one connection to a member; 0 for no limit.
        max_req: u32 = 0, Option("maxReq", "maxreq", Kind::Number { min: 0, max: 65_535 }).always();
        /// YES: their answers may be kept by a cache.
        cacheable: bool = false, Option("cacheable", "cacheable", Kind::YesNo).traffic();
        /// ENABLED: the client's address is told to them in a header.
        client_ip: bool = false, Option("cip", "cip", Kind::Switch).always();
        /// Name of that header.
        client_ip_header: String = String::new(), SecondWord("cipHeader", "cipheader", Kind::FieldName);
        /// YES: connections to them have the client's address as their source.
        use_source_ip: bool = false, Option("usip", "usip", Kind::YesNo).always().traffic();
        /// YES: what lies on the way to them is watched, too.
        path_monitor: bool = false, Option("pathMonitor", "pathmonitor", Kind::YesNo).traffic();
        /// YES: each appliance of a cluster watches its own way.
        path_monitor_individual: bool = false, Option("pathMonitorIndv", "pathmonitorindv", Kind::YesNo).traffic();
        /// NO: with usip, connections to them have the client's port as their source, too.
        use_proxy_port: bool = true, Option("useproxyport", "useproxyport", Kind::YesNo).always().traffic();
        /// NO: its members are not probed and count as UP.
        health_monitor: bool = true, Option("healthMonitor", "healthmonitor", Kind::YesNo);
        /// ON: requests beyond their capacity are delayed, an old way.
        sure_connect: bool = false, Option("sc", "sc", Kind::OnOff).traffic();
        /// ON: bursts of requests are queued.
        surge_protection: bool = false, Option("sp", "sp", Kind::OnOff);
        /// ON: session ids of RTSP are made unique.
        rtsp_session_remap: bool = false, Option("rtspSessionidRemap", "rtspsessionidremap", Kind::OnOff).traffic();
        /// Seconds after which an idle client connection is closed; that of the virtual server wins over it.
        clt_timeout_s: u32 = 180, Option("cltTimeout", "clttimeout", IDLE_TIMEOUT).always().inert();
        /// Seconds after which an idle connection to a member is closed.
        svr_timeout_s: u32 = 360, Option("svrTimeout", "svrtimeout", IDLE_TIMEOUT).always();
        /// YES: client connections are kept open where members would close them.
        client_keep_alive: bool = false, Option("CKA", "cka", Kind::YesNo).always();
        /// YES: their answers are held back until clients can take them.
        tcp_buffering: bool = false, Option("TCPB", "tcpb", Kind::YesNo).always().traffic();
        /// YES: their answers may be compressed.
        compression: bool = false, Option("CMP", "cmp", Kind::YesNo).always().traffic();
        /// Most traffic with a member, in kbit/s; 0 for no limit.
        max_bandwidth: u32 = 0, Option("maxBandwidth", "maxbandwidth", MAX_BANDWIDTH);
        /// Least sum of the weights of monitors that are UP; 0 asks for all of them.
        monitor_threshold: u32 = 0,
            Option("monThreshold", "monthreshold", Kind::Number { min: 0, max: 65_535 });
        /// DISABLED takes every member out of service.
        enabled: bool = true, Option("state", "state", Kind::Switch).at_add();
        /// DISABLED: transactions under way may end when a member goes DOWN.
        down_state_flush: bool = true, Option("downStateFlush", "downstateflush", Kind::Switch);
        /// TCP profile of connections to them.
        tcp_profile: String = String::new(), Option("tcpProfileName", "tcpprofilename", PROFILE).traffic();
        /// HTTP profile of requests to them.
        http_profile: String = String::new(), Option("httpProfileName", "httpprofilename", PROFILE).traffic();
        /// Words for people.
        comment: String = String::new(), Option("comment", "comment", COMMENT).inert();
        /// DISABLED: flow records leave them out.
        appflow_log: bool = true, Option("appflowLog", "appflowlog", Kind::Switch).inert();
        /// Profile that says where connections to them come from.
        net_profile: String = String::new(), Option("netProfile", "netprofile", PROFILE);
        /// Where its members come from, besides being bound.
        auto_scale: &'static str = "DISABLED",
            Option("autoScale", "autoscale", one_of(&["DISABLED", "DNS", "POLICY"])).at_add().traffic();
        /// Port of the members that come so.
        member_port: Option<u16> = None, Option("memberPort", "memberport", Kind::PortOrAny { min: 1 }).at_add().traffic();
        /// YES: members that go so may end what is under way.
        auto_disable_graceful: bool = false,
            Option("autoDisablegraceful", "autodisablegraceful", Kind::YesNo).traffic();
        /// Seconds that they have for it.
        auto_disable_delay_s: Option<u32> = None,
            Option("autoDisabledelay", "autodisabledelay", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// YES: members that the domain name system no longer names go slowly.
        auto_delayed_trofs: bool = false, Option("autoDelayedTrofs", "autodelayedtrofs", Kind::YesNo).traffic();
        /// How probes end their connections; NONE: as the global setting says.
        monitor_close: &'static str = "NONE",
            Option("monConnectionClose", "monconnectionclose", one_of(&["NONE", "RESET", "FIN"]));
        /// QUIC profile of connections to them.
        quic_profile: String = String::new(), Option("quicProfileName", "quicprofilename", PROFILE).traffic();
        /// YES: nothing is bound to them by itself.
        no_default_bindings: bool = false, Option("noDefaultBindings", "nodefaultbindings", Kind::YesNo).traffic();
        /// YES: the brokers of a Kafka cluster are found from here.
        bootstrap: bool = false, Option("bootstrap", "bootstrap", Kind::YesNo).traffic();
        /// Topic of a Kafka cluster.
        topic: String = String::new(), Option("topicName", "topicname", TEXT).traffic();
    }
    plain {
        /// Its members, in binding order.
        members: BindingList<Member> = BindingList::default();
        /// The monitors bound to it, in binding order; empty means the default one of its type.
        monitors: Vec<MonitorBinding> = Vec::new();
    }
    by service_type {
        "clttimeout" clt_timeout_s = client_timeout_s;
        "svrtimeout" svr_timeout_s = server_timeout_s;
    }
}

impl Keyed for ServiceGroup {
    /// A group occupies none.
    type Address = ();

    fn name(&self) -> &str {
        &self.name
    }

    fn address_key(&self) -> Option<()> {
        None
    }
}

resource! {
    /// One member of a group.
    pub struct Member "serviceGroup" {
        /// Address of the server it runs on, or that server's name.
        server: String = String::new(), Required("serverName", "servername", Kind::Host).at_add().ranged();
        /// Port it listens on; * for the one that the client asked for.
        port: u16 = 0, Required("port", "port", SERVICE_PORT).at_add();
        /// Its weight at every virtual server that the group is bound to.
        weight: u32 = 1, Option("weight", "weight", WEIGHT);
        /// Name by which requests can ask for it (persistence CUSTOMSERVERID).
        custom_server_id: String = NO_SERVER_ID.to_owned(),
            Option("CustomServerID", "customserverid", SERVER_ID).traffic();
        /// DISABLED takes this member out of service.
        enabled: bool = true, Option("state", "state", Kind::Switch).at_add();
        /// Number by which hash methods know it.
        hash_id: Option<u32> = None, Option("hashId", "hashid", Kind::Number { min: 1, max: u32::MAX }).traffic();
        /// Who resolves its domain name.
        name_server: String = String::new(), Option("nameServer", "nameserver", TEXT).traffic();
        /// Seconds for which an answer about its domain name holds; 0 for what the answer says.
        dbs_ttl_s: u32 = 0, Option("dbsTTL", "dbsttl", Kind::Number { min: 0, max: u32::MAX }).traffic();
        /// Its rank: the lowest that is UP is used alone.
        order: Option<u32> = None, Option("order", "order", Kind::Number { min: 0, max: u32::MAX }).traffic();
    }
}

impl Member {
    /// Has it a port of its own?
    pub fn is_carried(&self) -> bool {
        self.port != ANY_PORT
    }
}

/// By server, without case, and port.
impl Bindable for Member {
    type Key = (String, u16);

    fn key(&self) -> (String, u16) {
        (self.server.to_ascii_lowercase(), self.port)
    }
}
