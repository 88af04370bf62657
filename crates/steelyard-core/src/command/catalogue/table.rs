//! The commands of NetScaler beyond this program's resources, said once: for each object what kind of line it makes,
//! what not acting on it changes, and where a saved file has it.
//!
//! A row is about the objects of one group, `ssl` and `certKey`; objects without a group have "" there. Objects of this
//! program stand here only if nothing acts on them: behind them stands what of their lines cannot be carried out. Who gets in is decided where a policy is bound; the policy by itself is about traffic.

use crate::config::attribute::Effect;
use crate::config::kept::{Class, Rank};

/// What is known of some objects of a group.
pub(super) struct Row {
    /// First word of their commands; "" where the object is the first.
    pub(super) group: &'static str,
    /// What a line about them is kept as.
    pub(super) class: Class,
    /// What not acting on it changes.
    pub(super) effect: Effect,
    /// Place of what makes or changes one.
    pub(super) rank: Rank,
    /// Place of what binds to one.
    pub(super) bound: Rank,
    objects: &'static str,
}

impl Row {
    /// Kept and saved.
    const fn stored(group: &'static str, effect: Effect, rank: Rank, objects: &'static str) -> Row {
        Row { group, class: Class::Stored, effect, rank, bound: rank, objects }
    }

    /// About the host: what it does there, the operator does.
    const fn host(group: &'static str, effect: Effect, rank: Rank, objects: &'static str) -> Row {
        Row { class: Class::Host, ..Row::stored(group, effect, rank, objects) }
    }

    /// There is nothing to configure, only to look at.
    const fn shown(group: &'static str, objects: &'static str) -> Row {
        Row { class: Class::Inert, ..Row::stored(group, NONE, Rank::System, objects) }
    }

    /// The objects, as the appliance writes them.
    pub(super) fn objects(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.objects.split_ascii_whitespace()
    }

    /// Another place for what binds.
    const fn bound(self, bound: Rank) -> Row {
        Row { bound, ..self }
    }
}

const NONE: Effect = Effect::Inert;
const TRAFFIC: Effect = Effect::Traffic;
const EXPOSURE: Effect = Effect::Exposure;

/// Every row; of a group there may be several.
pub(super) const TABLE: &[Row] = &[
    // The appliance itself, its users and what watches it.
    Row::stored("HA", NONE, Rank::System, "files"),
    Row::stored("HA", NONE, Rank::Network, "node"),
    Row::stored("adm", NONE, Rank::System, "parameter serviceEndpoint"),
    Row::stored(
        "cloud",
        NONE,
        Rank::Bindings,
        "allowedngsticketprofile autoscaleGroup awsParam credential ngsParameter parameter paramInternal profile \
        service vserverip",
    ),
    Row::stored("cloudtunnel", NONE, Rank::Bindings, "parameter vserver"),
    Row::stored(
        "cluster",
        NONE,
        Rank::System,
        "files instance node nodegroup propstatus",
    )
    .bound(Rank::VserverBindings),
    Row::stored("lldp", NONE, Rank::System, "param"),
    Row::stored("ntp", NONE, Rank::System, "param server sync"),
    Row::stored(
        "ns",
        NONE,
        Rank::System,
        "aptlicense capacity consoleloginprompt cqaparam dhcpIp dhcpParams encryptionKey encryptionParams event \
        hmacKey licenseParameters licenseproxyserver licenseserver licenseserverpool mgmtparam partition \
        rollbackcmd rpcNode timezone vpxparam weblogparam",
    ),
    Row::stored(
        "snmp",
        NONE,
        Rank::Network,
        "alarm community engineId group manager mib oid option trap user view",
    ),
    Row::stored(
        "system",
        NONE,
        Rank::System,
        "autorestorefeature backup bw collectionparam dataSource extramgmtcpu file hwerror kek pattern proxy sshkey",
    )
    .bound(Rank::Bindings),
    Row::stored("system", NONE, Rank::Bindings, "global"),
    Row::stored("", NONE, Rank::System, "callhome license rsskeytype"),
    Row::shown(
        "system",
        "core counters countergroup cpu cpuparam entity entitydata entitytype eventhistory globaldata memory \
        session stats",
    ),
    // The network of the host.
    Row::host(
        "",
        TRAFFIC,
        Rank::System,
        "bridgegroup channel interfacePair linkset netbridge vlan vrID vrID6 vxlan vxlanVlanMap",
    )
    .bound(Rank::Network),
    Row::host("", NONE, Rank::System, "interface lacp vridParam").bound(Rank::Network),
    Row::host(
        "",
        TRAFFIC,
        Rank::Network,
        "arp bridgetable forwardingSession ip6Tunnel ipTunnel ipset nd6 onLinkIPv6Prefix vPathParam",
    ),
    Row::host(
        "",
        NONE,
        Rank::Network,
        "L2Param L3Param L4Param arpparam ip6TunnelParam ipTunnelParam ipv6 nd6RAvariables ptp",
    ),
    Row::host(
        "",
        TRAFFIC,
        Rank::Bindings,
        "bfd inat mapbmr mapdmr mapdomain nat64 rnat rnat6 rnatglobal rnatip route route6",
    ),
    Row::host("", NONE, Rank::Bindings, "inatparam nat64param rnatparam"),
    Row::host("router", TRAFFIC, Rank::Bindings, "bgp dynamicRouting isis ospf rip"),
    Row::host("ns", TRAFFIC, Rank::System, "ip6 trafficDomain").bound(Rank::Network),
    Row::host("ns", EXPOSURE, Rank::Network, "acl acl6 simpleacl simpleacl6"),
    Row::host("ns", NONE, Rank::Network, "acls acls6 pbrs"),
    Row::host("ns", TRAFFIC, Rank::Network, "pbr pbr6"),
    Row::host("lb", TRAFFIC, Rank::Bindings, "route route6"),
    Row::shown("lldp", "neighbors"),
    // How connections are treated.
    Row::stored(
        "ns",
        TRAFFIC,
        Rank::Network,
        "assignment extension httpParam httpProfile icapProfile kafkaAuth limitIdentifier limitSelector \
        rateControl servicefunction servicepath surgeQ tcpParam tcpProfile tcpbufParam timeout timer \
        variable xmlnamespace",
    ),
    Row::stored(
        "ns",
        NONE,
        Rank::Bindings,
        "appflowCollector appflowParam diameter hardware stats timerPolicy",
    ),
    Row::stored("", TRAFFIC, Rank::Network, "appalgParam ipsecalg quicparam"),
    Row::stored("db", TRAFFIC, Rank::Network, "dbProfile user"),
    Row::stored("ipsec", TRAFFIC, Rank::Network, "parameter profile"),
    Row::stored(
        "lsn",
        TRAFFIC,
        Rank::OtherVservers,
        "appsattributes appsprofile client group httphdrlogprofile ip6profile logprofile parameter pool \
        rtspalgprofile sipalgprofile static transportprofile",
    ),
    Row::stored("pcp", TRAFFIC, Rank::Network, "profile server"),
    Row::stored("qos", TRAFFIC, Rank::Network, "parameters"),
    Row::stored("quic", TRAFFIC, Rank::Network, "param profile"),
    Row::stored("quicbridge", TRAFFIC, Rank::Network, "profile"),
    Row::stored("rdp", TRAFFIC, Rank::Network, "clientprofile serverprofile"),
    Row::stored("smpp", TRAFFIC, Rank::Network, "param user"),
    Row::stored("stream", NONE, Rank::Network, "identifier selector"),
    Row::stored("subscriber", NONE, Rank::Bindings, "gxInterface param profile radiusInterface"),
    Row::stored("tunnel", NONE, Rank::Bindings, "global trafficPolicy"),
    Row::stored("ulfd", NONE, Rank::Bindings, "server"),
    Row::stored("user", TRAFFIC, Rank::Network, "protocol"),
    Row::stored("user", TRAFFIC, Rank::OtherVservers, "vserver"),
    Row::shown("lsn", "deterministicNat session sipalgcall rtspalgsession"),
    // Load balancing beside its resources.
    Row::stored("lb", TRAFFIC, Rank::Network, "sipParameters"),
    Row::stored("lb", TRAFFIC, Rank::Servers, "profile"),
    Row::stored(
        "lb",
        TRAFFIC,
        Rank::OtherVservers,
        "action policy policylabel wlm",
    )
    .bound(Rank::VserverBindings),
    Row::stored("lb", TRAFFIC, Rank::Bindings, "global"),
    Row::stored("lb", TRAFFIC, Rank::VserverBindings, "metricTable"),
    Row::shown("lb", "monbindings persistentSessions"),
    Row::shown("", "serviceGroupBindings serviceGroupMember svcbindings"),
    // Words that policies use.
    Row::stored(
        "policy",
        TRAFFIC,
        Rank::Network,
        "dataset expression map param patset patsetfile stringmap tracing urlset",
    ),
    Row::stored("policy", TRAFFIC, Rank::OtherVservers, "httpCallout"),
    Row::stored("", TRAFFIC, Rank::Network, "location locationFile locationFile6 locationParameter"),
    Row::shown("policy", "evaluation"),
    // Certificates and TLS.
    Row::stored(
        "ssl",
        TRAFFIC,
        Rank::Network,
        "dtlsProfile parameter profile logProfile",
    )
    .bound(Rank::Bindings),
    Row::stored("ssl", TRAFFIC, Rank::Certificates, "certFile fips fipsKey hsmKey keyFile wrapkey"),
    Row::stored(
        "ssl",
        TRAFFIC,
        Rank::Parameters,
        "caCertGroup certBundle certKey certKeyBundle crl crlFile dhFile hpkekey ocspResponder",
    )
    .bound(Rank::Bindings),
    Row::stored("ssl", TRAFFIC, Rank::OtherVservers, "action policy policylabel"),
    Row::stored("ssl", TRAFFIC, Rank::Bindings, "cipher global service serviceGroup vserver"),
    Row::shown("ssl", "certChain certLink cipherSuite stats"),
    // Who gets in.
    Row::stored(
        "aaa",
        NONE,
        Rank::Parameters,
        "certParams global group kcdAccount ldapParams otpparameter parameter preauthenticationaction \
        preauthenticationparameter preauthenticationpolicy radiusParams ssoProfile tacacsParams user",
    )
    .bound(Rank::Bindings),
    Row::shown("aaa", "session stats"),
    Row::stored(
        "authentication",
        EXPOSURE,
        Rank::Parameters,
        "OAuthAction OAuthIDPPolicy OAuthIDPProfile Policy adfsProxyProfile authnProfile azureKeyVault \
        captchaAction certAction certPolicy citrixAuthAction dfaAction dfaPolicy emailAction epaAction \
        ldapAction ldapPolicy localPolicy loginSchema loginSchemaPolicy negotiateAction negotiatePolicy \
        noAuthAction policylabel protectedUserAction pushService radiusAction radiusPolicy samlAction \
        samlIdPPolicy samlIdPProfile samlPolicy smartAccessPolicy smartAccessProfile storefrontAuthAction \
        tacacsAction tacacsPolicy vserver webAuthAction webAuthPolicy",
    )
    .bound(Rank::VserverBindings),
    Row::stored("authorization", EXPOSURE, Rank::Parameters, "action policy policylabel"),
    Row::stored(
        "appfw",
        NONE,
        Rank::OtherVservers,
        "JSONContentType XMLContentType XMLSchema archive confidField customSettings fieldType gRPCContentType \
        gRpcWebJSONContentType gRpcWebTextContentType grpcWebJSONContentType htmlErrorPage jsonErrorPage \
        learningSettings multipartFormContentType protofile settings signatures urlEncodedFormContentType wsdl \
        xmlErrorPage",
    ),
    Row::stored("appfw", TRAFFIC, Rank::OtherVservers, "policy policylabel profile"),
    Row::stored("appfw", EXPOSURE, Rank::Bindings, "global"),
    Row::shown("appfw", "learningdata stats transactionRecords"),
    Row::stored("bot", TRAFFIC, Rank::OtherVservers, "policy policylabel profile signature"),
    Row::stored("bot", NONE, Rank::OtherVservers, "settings"),
    Row::stored("bot", EXPOSURE, Rank::Bindings, "global"),
    Row::stored("reputation", NONE, Rank::Bindings, "settings"),
    Row::stored(
        "tm",
        TRAFFIC,
        Rank::OtherVservers,
        "formSSOAction samlSSOProfile sessionAction sessionParameter sessionPolicy trafficAction trafficPolicy",
    ),
    Row::stored("tm", NONE, Rank::Bindings, "global"),
    // Policies and what they do.
    Row::stored("appqoe", TRAFFIC, Rank::OtherVservers, "CustomResp action parameter policy"),
    Row::stored("cmp", TRAFFIC, Rank::OtherVservers, "action global parameter policy policylabel"),
    Row::stored(
        "contentInspection",
        TRAFFIC,
        Rank::OtherVservers,
        "action callout parameter policy policylabel profile",
    ),
    Row::stored("contentInspection", EXPOSURE, Rank::Bindings, "global"),
    Row::stored("feo", TRAFFIC, Rank::OtherVservers, "action global parameter policy"),
    Row::stored(
        "filter",
        TRAFFIC,
        Rank::OtherVservers,
        "action htmlinjectionparameter htmlinjectionvariable policy postbodyInjection prebodyInjection",
    ),
    Row::stored("filter", EXPOSURE, Rank::Bindings, "global"),
    Row::stored("pq", TRAFFIC, Rank::OtherVservers, "binding policy"),
    Row::stored("protocol", TRAFFIC, Rank::OtherVservers, "httpBand"),
    Row::shown("protocol", "http ip tcp udp"),
    Row::stored("responder", TRAFFIC, Rank::OtherVservers, "action htmlpage param policy policylabel"),
    Row::stored("responder", EXPOSURE, Rank::Bindings, "global"),
    Row::stored("rewrite", TRAFFIC, Rank::OtherVservers, "action param policy policylabel"),
    Row::stored("rewrite", EXPOSURE, Rank::Bindings, "global"),
    Row::stored("rise", TRAFFIC, Rank::OtherVservers, "apbrsvc param profile service"),
    Row::stored("sc", TRAFFIC, Rank::OtherVservers, "parameter policy"),
    Row::stored("dos", TRAFFIC, Rank::OtherVservers, "policy"),
    Row::stored("spillover", TRAFFIC, Rank::OtherVservers, "action policy"),
    Row::stored("transform", TRAFFIC, Rank::OtherVservers, "action global policy policylabel profile"),
    Row::stored("urlfiltering", NONE, Rank::Bindings, "categories categorization categoryGroups parameter"),
    Row::stored(
        "videooptimization",
        NONE,
        Rank::Bindings,
        "detectionaction detectionpolicy detectionpolicylabel globaldetection globalpacing pacingaction \
        pacingpolicy pacingpolicylabel parameter",
    ),
    // What is logged and counted.
    Row::stored("analytics", NONE, Rank::OtherVservers, "global profile").bound(Rank::Bindings),
    Row::stored("", NONE, Rank::OtherVservers, "analyticsprofile metricsprofile"),
    Row::stored("appflow", NONE, Rank::OtherVservers, "action collector global param policy policylabel"),
    Row::stored(
        "audit",
        NONE,
        Rank::OtherVservers,
        "messageaction nslogAction nslogParams nslogPolicy syslogAction syslogParams syslogPolicy",
    ),
    Row::stored("audit", NONE, Rank::Bindings, "nslogGlobal syslogGlobal"),
    Row::shown("audit", "messages stats"),
    // Other virtual servers and what belongs to them.
    Row::stored("autoscale", NONE, Rank::OtherVservers, "action policy profile"),
    Row::stored("azure", NONE, Rank::OtherVservers, "application keyVault"),
    Row::stored(
        "cache",
        TRAFFIC,
        Rank::OtherVservers,
        "contentGroup forwardProxy global object parameter policy policylabel selector",
    ),
    Row::stored("cr", TRAFFIC, Rank::OtherVservers, "action policy vserver").bound(Rank::VserverBindings),
    Row::stored(
        "cs",
        TRAFFIC,
        Rank::ContentSwitching,
        "action parameter policy policylabel vserver",
    )
    .bound(Rank::VserverBindings),
    Row::stored(
        "dns",
        TRAFFIC,
        Rank::VserverBindings,
        "aaaaRec action action64 addRec caaRec cnameRec global key keyset mxRec nameServer naptrRec nsRec \
        parameter policy policy64 policylabel ptrRec soaRec srvRec suffix txtRec view zone",
    ),
    Row::stored("dns", TRAFFIC, Rank::Network, "profile"),
    Row::shown("dns", "nsecRec proxyRecords records stats subnetCache"),
    Row::stored("gslb", TRAFFIC, Rank::OtherVservers, "config domain parameter site vserver").bound(Rank::VserverBindings),
    Row::stored("gslb", TRAFFIC, Rank::OtherVservers, "service serviceGroup").bound(Rank::ServiceBindings),
    Row::shown("gslb", "ldnsentries ldnsentry runningConfig syncStatus"),
    Row::stored(
        "ica",
        TRAFFIC,
        Rank::OtherVservers,
        "accessprofile action global latencyprofile parameter policy",
    ),
    Row::stored(
        "vpn",
        TRAFFIC,
        Rank::OtherVservers,
        "alwaysONProfile clientlessAccessPolicy clientlessAccessProfile epaProfile eula formSSOAction \
        intranetApplication nextHopServer pcoipProfile pcoipVserverProfile portaltheme samlSSOProfile \
        sessionAction sessionPolicy trafficAction trafficPolicy url urlAction urlPolicy vserver",
    )
    .bound(Rank::VserverBindings),
    Row::stored("vpn", NONE, Rank::Bindings, "global parameter"),
    Row::shown("vpn", "icaConnection icaDtlsConnection pcoipConnection stats storeInfo"),
    Row::stored("wi", TRAFFIC, Rank::OtherVservers, "package site"),
    // What can only be looked at.
    Row::shown(
        "ns",
        "cluster connectiontable info limitSessions license ns.conf persistencesession runningConfig savedConfig \
        version",
    ),
    Row::shown("endpoint", "info"),
    Row::shown("cli", "attribute mode prompt"),
];

/// Verbs of commands that do something once and configure nothing, or that belong to the session; `explain` is this program's own. What follows is theirs alone.
pub(super) const ACTIONS: &str = "alias batch check clear cls config convert create diff exit expire explain export flush force grep help history \
    import init install join kill man ping ping6 quit reboot release reset restart restore save scp shell \
    shutdown source start stop switch sync traceroute traceroute6 unalias whoami";

/// Verbs that change something that is kept, beside this program's own.
pub(super) const OTHER_VERBS: &str = "apply renumber";
