//! What the parts of NetScaler that this program keeps and does not act on come to here, in one sentence each.
//!
//! `catalogue` knows their commands; this table has the words for people, and which feature switches a part on.

/// Some objects of a group, and what happens in place of what their lines ask for.
pub(super) struct Part {
    group: &'static str,
    /// Empty: all that no other row has.
    objects: &'static [&'static str],
    /// The feature without which the appliance does not act on them either.
    pub(super) feature: Option<&'static str>,
    /// What happens here.
    pub(super) sentence: &'static str,
}

const fn part(group: &'static str, feature: &'static str, sentence: &'static str) -> Part {
    let feature = if feature.is_empty() { None } else { Some(feature) };
    Part { group, objects: &[], feature, sentence }
}

const fn some(group: &'static str, objects: &'static [&'static str], sentence: &'static str) -> Part {
    Part { group, objects, feature: None, sentence }
}

/// What is known of an object of a group.
pub(super) fn of(group: &str, object: &str) -> Option<&'static Part> {
    let in_group = || PARTS.iter().filter(|part| part.group.eq_ignore_ascii_case(group));
    let named = |part: &&Part| part.objects.iter().any(|known| known.eq_ignore_ascii_case(object));
    in_group().find(named).or_else(|| in_group().find(|part| part.objects.is_empty()))
}

const NO_LOGIN: &str = "nobody is asked to log in here";
const NOT_LOGGED: &str = "nothing is recorded or sent for it";
const NOT_SERVED: &str = "it is not served";

const PARTS: &[Part] = &[
    part("ssl", "SSL", "TLS is not carried: what has a type with TLS is not served"),
    part("cs", "CS", "content switching is not carried: its virtual servers are not opened"),
    part("cr", "CR", "cache redirection is not carried: its virtual servers are not opened"),
    part("gslb", "GSLB", "no name is answered by GSLB here"),
    part("dns", "", "this program answers no DNS queries"),
    part("responder", "RESPONDER", "no request is answered, redirected or dropped by a responder policy"),
    part("rewrite", "REWRITE", "requests and answers pass without being rewritten"),
    part("transform", "REWRITE", "URLs are not transformed"),
    part("filter", "CF", "contents are not filtered"),
    part("authentication", "AAA", NO_LOGIN),
    part("authorization", "AAA", NO_LOGIN),
    part("aaa", "AAA", NO_LOGIN),
    part("tm", "AAA", "no session is kept and nobody is logged in to a service"),
    part("vpn", "SSLVPN", "gateways and their sessions are not served"),
    part("ica", "SSLVPN", "gateways and their sessions are not served"),
    part("rdp", "RDPProxy", "gateways and their sessions are not served"),
    part("wi", "SSLVPN", NOT_SERVED),
    part("appfw", "AppFw", "no application firewall looks at requests"),
    part("bot", "Bot", "bots are not told from people"),
    part("reputation", "Rep", "the reputation of addresses is not asked for"),
    part("contentInspection", "CI", "contents are sent nowhere for inspection"),
    part("urlfiltering", "URLFiltering", "URLs are not filtered"),
    part("cache", "IC", "answers are not cached"),
    part("cmp", "CMP", "answers are not compressed"),
    part("feo", "feo", "pages are not optimised"),
    part("appqoe", "AppQoE", "requests have no priorities"),
    part("pq", "PQ", "requests have no priorities"),
    part("sc", "SC", "nobody waits on an alternative page"),
    part("dos", "HDOSP", "clients are not challenged"),
    part("videooptimization", "VideoOptimization", "video is not optimised"),
    part("lsn", "LSN", "addresses are not translated on a large scale"),
    part("rise", "RISE", "no router is told where to send traffic"),
    part("spillover", "", "no virtual server spills over to another"),
    part("policy", "", "expressions and sets are used by policies alone, and no policy is carried out"),
    some(
        "",
        &["location", "locationFile", "locationFile6", "locationParameter"],
        "no choice depends on where a client is",
    ),
    some("", &["appalgParam", "ipsecalg", "quicparam"], NOT_SERVED),
    some("", &["analyticsprofile", "metricsprofile"], NOT_LOGGED),
    some("", &["service"], "it is about a service of the appliance's own management, which is not here"),
    some("", &["license", "ptp", "rsskeytype"], "it is about the appliance itself"),
    part("lb", "", "load balancing here has services, groups and virtual servers alone"),
    some("lb", &["action", "policy", "policylabel", "global"], "no policy chooses the service"),
    some("lb", &["profile"], "no virtual server takes its settings from a profile"),
    some("lb", &["metricTable"], "no load is asked for by SNMP"),
    some("lb", &["wlm"], "nobody else is asked about the load"),
    part("ns", "", "it is about the appliance itself"),
    some("ns", &["httpProfile", "httpParam"], "every connection has this program's own HTTP settings"),
    some("ns", &["tcpProfile", "tcpParam", "tcpbufParam"], "every connection has the host's TCP settings"),
    some("ns", &["timeout"], "idle connections end by the times of virtual servers and services alone"),
    some("ns", &["limitIdentifier", "limitSelector", "rateControl", "surgeQ"], "no rate is limited"),
    some("ns", &["rpcNode"], "there is no second appliance to talk to"),
    some("ns", &["encryptionParams", "encryptionKey", "hmacKey"], "secrets here have a key of their own"),
    some(
        "ns",
        &["assignment", "variable", "extension", "xmlnamespace"],
        "it is used by policies alone, and no policy is carried out",
    ),
    some(
        "ns",
        &["servicefunction", "servicepath", "icapProfile"],
        "contents are sent nowhere for inspection",
    ),
    some("ns", &["diameter"], "DIAMETER is not carried"),
    some("ns", &["appflowCollector", "appflowParam", "weblogparam", "stats"], NOT_LOGGED),
    some("ns", &["timer", "timerPolicy"], "no policy is carried out"),
    some("ns", &["partition"], "there is one partition, the default one"),
    some("ns", &["kafkaAuth"], NOT_LOGGED),
    part("db", "", "database protocols are not carried"),
    part("ipsec", "", "tunnels are the host's business: strongSwan does the same"),
    part("pcp", "", NOT_SERVED),
    part("qos", "", "bandwidth is not divided"),
    part("quic", "", NOT_SERVED),
    part("quicbridge", "", NOT_SERVED),
    part("smpp", "", NOT_SERVED),
    part("user", "", "protocols by extension are not carried"),
    part("protocol", "", NOT_LOGGED),
    part("stream", "", NOT_LOGGED),
    part("subscriber", "", "subscribers are not known here"),
    part("tunnel", "SSLVPN", "gateways and their sessions are not served"),
    part("ulfd", "", NOT_LOGGED),
    part("analytics", "", NOT_LOGGED),
    part("appflow", "", NOT_LOGGED),
    part("audit", "", NOT_LOGGED),
    part("snmp", "", "SNMP is not answered; the management address has the same counters"),
    part("HA", "", "one instance serves by itself; there is no partner"),
    part("cluster", "", "one instance serves by itself; there is no partner"),
    some("system", &["global"], "users are those of this configuration: no directory elsewhere is asked"),
    part("system", "", "it is about the appliance itself"),
    part("adm", "", NOT_LOGGED),
    part("callhome", "", NOT_LOGGED),
    part("cloud", "", "it is about the appliance itself"),
    part("cloudtunnel", "", "it is about the appliance itself"),
    part("lldp", "", "neighbours are told nothing"),
    part("ntp", "", "the host's clock is used"),
    part("uiinternal", "", "it is about the appliance's own console"),
    part("autoscale", "", "services are not added or removed by load"),
    part("azure", "", "it is about the appliance itself"),
];
