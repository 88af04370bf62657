//! `service`: one port of a server, and the monitors bound to it.

use super::attribute::{Kind, Place, Row};
use super::binding_list::BindingList;
use super::make::resource;
use super::policy_binding::PolicyBinding;
use super::service_type::ServiceType;
use super::table::Keyed;
use super::{ANY_PORT, COMMENT, IDLE_TIMEOUT, PROFILE, SERVICE_PORT, TRAFFIC_DOMAIN, WEIGHT, one_of};

resource! {
    /// A service: what a virtual server can send a request to.
    pub struct Service "service" {
        /// Name of the service.
        name: String = String::new(), Key("name", "name", Kind::Name).at_add().ranged();
        /// Address of the server it runs on, or that server's name.
        server: String = String::new(), Required("serverName", "servername", Kind::Host).at_add().ranged();
        /// Protocol it speaks.
        service_type: ServiceType = ServiceType::Http,
            Required("serviceType", "servicetype", Kind::Word(ServiceType::WORDS)).at_add();
        /// Port it listens on; * for the one that the client asked for.
        port: u16 = 0, Required("port", "port", SERVICE_PORT).at_add();
        /// Port to which decrypted traffic is sent.
        clear_text_port: Option<u16> = None,
            Option("clearTextPort", "cleartextport", Kind::PortOrAny { min: 1 }).at_add().traffic();
        /// What kind of cache it is.
        cache_type: &'static str = "",
            Option("cacheType", "cachetype", one_of(&["TRANSPARENT", "REVERSE", "FORWARD", "SERVER"])).at_add().traffic();
        /// What it is to global server load balancing.
        gslb: &'static str = "NONE", Option("gslb", "gslb", one_of(&["NONE", "LOCAL", "REMOTE"])).at_add().always().traffic();
        /// Most open connections to it; 0 for no limit.
        max_client: u32 = 0,
            Option("maxClient", "maxclient", Kind::Number { min: 0, max: u32::MAX - 1 }).always();
        /// NO: it is not probed and counts as UP.
        health_monitor: bool = true, Option("healthMonitor", "healthmonitor", Kind::YesNo);
        /// Most requests on one connection to it; 0 for no limit.
        max_req: u32 = 0, Option("maxReq", "maxreq", Kind::Number { min: 0, max: 65_535 }).always();
        /// YES: its answers may be kept by a cache.
        cacheable: bool = false, Option("cacheable", "cacheable", Kind::YesNo).traffic();
        /// ENABLED: the client's address is told to it in a header.
        client_ip: bool = false, Option("cip", "cip", Kind::Switch).always();
        /// Name of that header.
        client_ip_header: String = String::new(), SecondWord("cipHeader", "cipheader", Kind::FieldName);
        /// YES: connections to it have the client's address as their source.
        use_source_ip: bool = false, Option("usip", "usip", Kind::YesNo).always().traffic();
        /// YES: what lies on the way to it is watched, too.
        path_monitor: bool = false, Option("pathMonitor", "pathmonitor", Kind::YesNo).traffic();
        /// YES: each appliance of a cluster watches its own way.
        path_monitor_individual: bool = false, Option("pathMonitorIndv", "pathmonitorindv", Kind::YesNo).traffic();
        /// NO: with usip, connections to it have the client's port as their source, too.
        use_proxy_port: bool = true, Option("useproxyport", "useproxyport", Kind::YesNo).always().traffic();
        /// ON: requests beyond its capacity are delayed, an old way.
        sure_connect: bool = false, Option("sc", "sc", Kind::OnOff).traffic();
        /// ON: bursts of requests are queued.
        surge_protection: bool = false, Option("sp", "sp", Kind::OnOff).always();
        /// ON: session ids of RTSP are made unique.
        rtsp_session_remap: bool = false, Option("rtspSessionidRemap", "rtspsessionidremap", Kind::OnOff).traffic();
        /// Seconds after which an idle client connection is closed; that of the virtual server wins over it.
        clt_timeout_s: u32 = 180, Option("cltTimeout", "clttimeout", IDLE_TIMEOUT).always().inert();
        /// Seconds after which an idle connection to it is closed.
        svr_timeout_s: u32 = 360, Option("svrTimeout", "svrtimeout", IDLE_TIMEOUT).always();
        /// Name by which requests can ask for it (persistence CUSTOMSERVERID).
        custom_server_id: String = NO_SERVER_ID.to_owned(),
            Option("CustomServerID", "customserverid", SERVER_ID).traffic();
        /// YES: client connections are kept open where it would close them.
        client_keep_alive: bool = false, Option("CKA", "cka", Kind::YesNo).always();
        /// YES: its answers are held back until clients can take them.
        tcp_buffering: bool = false, Option("TCPB", "tcpb", Kind::YesNo).always().traffic();
        /// YES: its answers may be compressed.
        compression: bool = false, Option("CMP", "cmp", Kind::YesNo).always().traffic();
        /// Most traffic with it, in kbit/s; 0 for no limit.
        max_bandwidth: u32 = 0, Option("maxBandwidth", "maxbandwidth", MAX_BANDWIDTH);
        /// YES: it is reached while it is DOWN, in layer 2 mode.
        access_down: bool = false, Option("accessDown", "accessdown", Kind::YesNo).traffic();
        /// Least sum of the weights of monitors that are UP; 0 asks for all of them.
        monitor_threshold: u32 = 0,
            Option("monThreshold", "monthreshold", Kind::Number { min: 0, max: 65_535 });
        /// DISABLED takes it out of service.
        enabled: bool = true, Option("state", "state", Kind::Switch).at_add();
        /// DISABLED: transactions under way may end when it goes DOWN.
        down_state_flush: bool = true, Option("downStateFlush", "downstateflush", Kind::Switch);
        /// TCP profile of connections to it.
        tcp_profile: String = String::new(), Option("tcpProfileName", "tcpprofilename", PROFILE).traffic();
        /// HTTP profile of requests to it.
        http_profile: String = String::new(), Option("httpProfileName", "httpprofilename", PROFILE).traffic();
        /// Number by which hash methods know it.
        hash_id: Option<u32> = None, Option("hashId", "hashid", Kind::Number { min: 1, max: u32::MAX }).traffic();
        /// Words for people.
        comment: String = String::new(), Option("comment", "comment", COMMENT).inert();
        /// DISABLED: flow records leave it out.
        appflow_log: bool = true, Option("appflowLog", "appflowlog", Kind::Switch).inert();
        /// Profile that says where connections to it come from.
        net_profile: String = String::new(), Option("netProfile", "netprofile", PROFILE);
        /// Traffic domain that it belongs to.
        traffic_domain: u32 = 0, Option("td", "td", TRAFFIC_DOMAIN).at_add().traffic();
        /// ENABLED: one appliance of a cluster handles a connection alone.
        process_local: bool = false, Option("processLocal", "processlocal", Kind::Switch).inert();
        /// DNS profile of queries to it.
        dns_profile: String = String::new(), Option("dnsProfileName", "dnsprofilename", PROFILE).traffic();
        /// How probes end their connections; NONE: as the global setting says.
        monitor_close: &'static str = "NONE",
            Option("monConnectionClose", "monconnectionclose", one_of(&["NONE", "RESET", "FIN"]));
        /// Profile by which another device inspects what is sent to it.
        content_inspection_profile: String = String::new(),
            Option("contentInspectionProfileName", "contentinspectionprofilename", PROFILE).traffic();
        /// QUIC profile of connections to it.
        quic_profile: String = String::new(), Option("quicProfileName", "quicprofilename", PROFILE).traffic();
        /// YES: nothing is bound to it by itself.
        no_default_bindings: bool = false, Option("noDefaultBindings", "nodefaultbindings", Kind::YesNo).traffic();
    }
    plain {
        /// The monitors bound to it, in binding order; empty means the default one of its type.
        monitors: Vec<MonitorBinding> = Vec::new();
        /// The policies that are bound to it, in binding order.
        policies: BindingList<PolicyBinding> = BindingList::default();
    }
    by service_type {
        "clttimeout" clt_timeout_s = client_timeout_s;
        "svrtimeout" svr_timeout_s = server_timeout_s;
    }
}

impl Service {
    /// Can this version send requests to it?
    pub fn is_carried(&self) -> bool {
        self.service_type.is_carried() && self.port != ANY_PORT
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
        monitor: String = String::new(), Option("monitorName", "monitor_name", Kind::Name).ranged();
        /// DISABLED leaves it bound and takes it out of the service's state.
        enabled: bool = true, Option("monState", "monstate", Kind::Switch);
        /// Its weight, which counts towards the service's monitor threshold.
        weight: u32 = 1, Option("weight", "weight", WEIGHT);
        /// Its result is looked at, but does not take the service DOWN.
        passive: bool = false, Option("passive", "passive", Kind::Bare).traffic();
    }
}

/// The option of `set service` that changes the address of its server.
pub(crate) static SERVICE_IP: Row =
    Row::new(Place::Option, "IPAddress", "ipaddress", Kind::Ip, "New address of the server that it runs on.")
        .ranged();

/// What `-CustomServerID` says when there is none.
pub(super) const NO_SERVER_ID: &str = "None";
/// `-CustomServerID`.
pub(super) const SERVER_ID: Kind = Kind::Expression { none: NO_SERVER_ID };
/// `-maxBandwidth`.
pub(super) const MAX_BANDWIDTH: Kind = Kind::Number { min: 0, max: 4_294_967_287 };
