//! What happens in place of each option that is kept and not acted on, in one sentence an operator understands.
//!
//! Also knows which option means nothing without which other one: whoever leaves out the other loses nothing by it.

use super::super::Object;
use crate::config::attribute::Row;

/// What happens here in place of the option.
pub(super) fn instead(object: Object, row: &Row) -> String {
    match sentence(object, row.nitro) {
        Some(sentence) => sentence.to_owned(),
        None => format!("it is kept and not acted on. It says: {}", row.help),
    }
}

/// The sentence for an option of an object.
pub(super) fn sentence(object: Object, nitro: &str) -> Option<&'static str> {
    let of = |table: &[(&'static str, &[&str])]| {
        table.iter().find(|(_, names)| names.contains(&nitro)).map(|(sentence, _)| *sentence)
    };
    match object {
        Object::LbVserver => of(VSERVER),
        Object::Service | Object::ServiceGroup => of(SERVICE),
        Object::LbMonitor => of(MONITOR).or(Some("it belongs to monitors of types that are not run")),
        Object::LbParameter => of(PARAMETER),
        Object::LbGroup => Some("clients do not share a service over several virtual servers"),
        Object::NetProfile => of(NET_PROFILE),
        Object::SslService | Object::SslServiceGroup => {
            Some("TLS with services is not carried: probes alone go through it")
        }
        Object::NsParam => of(NS_PARAM),
        Object::Server => of(SERVER),
        Object::SystemUser | Object::SystemGroup | Object::SystemParameter => {
            of(USERS).or(Some("it is about the appliance itself"))
        }
        _ => None,
    }
    .or_else(|| of(ANYWHERE))
}

/// The option without which another one means nothing.
pub(super) fn goes_with(object: Object, nitro: &str) -> Option<&'static str> {
    let table = match object {
        Object::LbVserver => WITH_OF_VSERVER,
        Object::Service | Object::ServiceGroup => WITH_OF_SERVICE,
        Object::LbMonitor => WITH_OF_MONITOR,
        Object::LbGroup => WITH_OF_GROUP,
        Object::NetProfile => WITH_OF_NET_PROFILE,
        Object::NsParam => WITH_OF_PARAM,
        _ => &[],
    };
    table.iter().find(|(_, names)| names.contains(&nitro)).map(|(other, _)| *other)
}

type Sentences = &'static [(&'static str, &'static [&'static str])];

const VSERVER: Sentences = &[
    ("clients are not tied to a service: each request is balanced anew", &["persistencetype"]),
    (
        "it belongs to persistence, which is not carried",
        &[
            "timeout",
            "persistencebackup",
            "backuppersistencetimeout",
            "cookiename",
            "rule",
            "resrule",
            "persistmask",
            "v6persistmasklen",
            "persistavpno",
            "skippersistency",
            "trofspersistence",
        ],
    ),
    (
        "it belongs to methods that are not carried",
        &["hashlength", "netmask", "v6netmasklen", "datalength", "dataoffset"],
    ),
    (
        "which clients it is for is not looked at: the virtual server stays closed unless --expose names it",
        &["listenpolicy"],
    ),
    ("it belongs to -Listenpolicy", &["listenpriority"]),
    (
        "nobody is asked to log in here: the virtual server stays closed unless --expose names it",
        &[
            "authenticationhost",
            "authentication",
            "authn401",
            "authnvsname",
            "authnprofile",
            "adfsproxyprofile",
        ],
    ),
    (
        "no profile says which requests get in: the virtual server stays closed unless --expose names it",
        &["apiprofile"],
    ),
    ("there is one traffic domain, 0: the virtual server stays closed unless --expose names it", &["td"]),
    ("redirects of services pass unchanged", &["redirectportrewrite"]),
    ("services are not told its address by a header", &["insertvserveripport", "vipheader"]),
    ("clients of that port are not redirected: it is not opened", &["redirectfromport", "httpsredirecturl"]),
    (
        "the address is announced whether or not the virtual server is UP, by whoever routes to this host",
        &["rhistate"],
    ),
    ("pings are answered by the host", &["icmpvsrresponse"]),
    (
        "requests go to services by address and port, as with IP",
        &["m", "tosid", "macmoderetainvlan", "l2conn"],
    ),
    ("nothing is pushed to clients", &["push", "pushvserver", "pushlabel", "pushmulticlients"]),
    ("connections end with this program; no other one takes them over", &["connfailover"]),
    ("one address is opened, the one that the line has", &["range", "ippattern", "ipmask", "ipset"]),
    ("all services are of one rank", &["toggleorder", "orderthreshold", "order"]),
    ("the number of services does not follow the load", &["minautoscalemembers", "maxautoscalemembers"]),
    (
        "nobody answers on that port",
        &["tcpprobeport", "probeprotocol", "probesuccessresponsecode", "probeport"],
    ),
    ("requests are not queued", &["sc", "pq"]),
    (
        "it belongs to a type of virtual server that is not served",
        &[
            "rtspnat",
            "sessionless",
            "dbprofilename",
            "oracleserverversion",
            "mssqlserverversion",
            "mysqlprotocolversion",
            "mysqlserverversion",
            "mysqlcharacterset",
            "mysqlservercapabilities",
            "dbslb",
            "dns64",
            "bypassaaaa",
            "recursionavailable",
            "dnsprofilename",
            "quicprofilename",
            "quicbridgeprofilename",
            "dnsoverhttps",
        ],
    ),
    ("no setting comes from such a profile", &["lbprofilename"]),
    ("answers are not cached", &["cacheable", "cachevserver"]),
    ("nothing is bound by itself in any case", &["nodefaultbindings"]),
    (
        "no policy is carried out here",
        &[
            "policyname",
            "priority",
            "gotopriorityexpression",
            "bindpoint",
            "invoke",
            "labelname",
            "labeltype",
        ],
    ),
];

const SERVICE: Sentences = &[
    ("the service sees this host's address and port, not the client's", &["usip", "useproxyport"]),
    ("answers pass as fast as clients take them, without being stored first", &["tcpb"]),
    ("answers are not compressed", &["cmp"]),
    ("answers are not cached", &["cacheable", "cachetype"]),
    ("requests beyond the capacity of the service are not delayed", &["sc"]),
    ("no persistence asks for the service by that name", &["customserverid"]),
    ("methods that use it are not carried", &["hashid"]),
    ("what lies on the way to the service is not watched", &["pathmonitor", "pathmonitorindv"]),
    ("a service that is DOWN gets no requests", &["accessdown"]),
    ("nothing is inspected: the service is not used", &["contentinspectionprofilename"]),
    ("GSLB is not carried", &["gslb"]),
    ("decrypted traffic goes nowhere: TLS is not carried", &["cleartextport"]),
    (
        "it belongs to a type of service that is not carried",
        &["rtspsessionidremap", "dnsprofilename", "quicprofilename", "bootstrap", "topicname"],
    ),
    (
        "members are those that are bound, and no others",
        &["autoscale", "memberport", "autodisablegraceful", "autodisabledelay", "autodelayedtrofs"],
    ),
    ("names are not resolved", &["nameserver", "dbsttl"]),
    ("all members are of one rank", &["order"]),
    ("nothing is bound by itself in any case", &["nodefaultbindings"]),
    ("monitors of type LOAD, which alone may be passive, are not run", &["passive"]),
    (
        "no policy is carried out here",
        &["policyname", "priority", "gotopriorityexpression", "bindpoint", "labeltype", "labelname"],
    ),
    ("there is one traffic domain, 0", &["td"]),
];

const MONITOR: Sentences = &[
    ("a failed probe takes the service DOWN, as with DOWN", &["action"]),
    ("probes go to the service itself", &["iptunnel"]),
    ("what a profile says of TLS is not looked at", &["sslprofile"]),
    ("no expression is evaluated", &["evalrule"]),
];

const PARAMETER: Sentences = &[
    (
        "it belongs to persistence, which is not carried",
        &[
            "httponlycookieflag",
            "usesecuredpersistencecookie",
            "useencryptedpersistencecookie",
            "cookiepassphrase",
            "sessionsthreshold",
            "literaladccookieattribute",
            "computedadccookieattribute",
            "overridepersistencyfororder",
        ],
    ),
    ("connections are counted over all threads", &["consolidatedlconn"]),
    (
        "it belongs to methods that are not carried",
        &["useportforhashlb", "lbhashalgorithm", "lbhashfingers", "lbhashalgowinsize", "proximityfromself"],
    ),
    ("the host's routes are used", &["preferdirectroute"]),
    ("addresses are the host's, with its hardware addresses", &["vserverspecificmac"]),
    ("a disabled server takes its services out of service", &["retainservicestate"]),
    ("names are not resolved", &["dbsttl"]),
    ("requests are answered one after the other", &["maxpipelinenat"]),
    ("it belongs to types that are not carried", &["storemqttclientidandusername", "dropmqttjumbomessage"]),
    ("no policy is carried out here", &["undefaction"]),
];

const NET_PROFILE: Sentences = &[
    ("there is one source address for all clients", &["srcippersistency"]),
    ("addresses are not translated here", &["overridelsn"]),
    ("answers go by the host's routes", &["mbf"]),
    (
        "services get no PROXY header",
        &["proxyprotocol", "proxyprotocoltxversion", "proxyprotocolaftertlshandshake"],
    ),
    ("there is one traffic domain, 0", &["td"]),
];

const NS_PARAM: Sentences = &[
    ("what comes to a port is what its virtual server says", &["httpport", "icaports", "secureicaports"]),
    (
        "connections to services are not limited in number",
        &["maxconn", "grantquotamaxclient", "exclusivequotamaxclient"],
    ),
    ("persistence is not carried", &["cookieversion", "securecookie"]),
    ("the host finds out the path MTU", &["pmtumin", "pmtutimeout", "ipttl"]),
    (
        "it belongs to types that are not carried",
        &["ftpportrange", "crportrange", "aftpallowrandomsourceport"],
    ),
    (
        "a spillover threshold counts connections over all threads",
        &["grantquotaspillover", "exclusivequotaspillover"],
    ),
    ("services see this host's port", &["useproxyport"]),
    ("there are no chains of services", &["servicepathingressvlan"]),
    ("PROXY headers are neither sent nor read", &["proxyprotocol"]),
];

const SERVER: Sentences = &[
    ("names are not resolved", &["domainresolveretry", "ipv6address", "querytype"]),
    ("it belongs to names, which are not resolved", &["translationip", "translationmask"]),
    ("there is one traffic domain, 0", &["td"]),
];

const ANYWHERE: Sentences = &[
    ("content switching is not carried", &["targetlbvserver"]),
    ("connections have the host's TCP settings", &["tcpprofilename"]),
    ("requests have this program's own HTTP settings", &["httpprofilename"]),
];

const WITH_OF_VSERVER: Sentences = &[
    (
        "persistencetype",
        &[
            "timeout",
            "persistencebackup",
            "cookiename",
            "resrule",
            "persistmask",
            "v6persistmasklen",
            "persistavpno",
            "skippersistency",
            "trofspersistence",
        ],
    ),
    ("persistencebackup", &["backuppersistencetimeout"]),
    ("lbmethod", &["hashlength", "netmask", "v6netmasklen", "datalength", "dataoffset"]),
    ("listenpolicy", &["listenpriority"]),
    ("push", &["pushvserver", "pushlabel", "pushmulticlients"]),
    ("insertvserveripport", &["vipheader"]),
    ("redirectfromport", &["httpsredirecturl"]),
    ("m", &["tosid", "macmoderetainvlan"]),
    ("policyname", &["priority", "gotopriorityexpression", "bindpoint", "labeltype", "labelname"]),
];

const WITH_OF_SERVICE: Sentences = &[
    ("cip", &["cipheader"]),
    ("usip", &["useproxyport"]),
    ("autoscale", &["memberport", "autodisablegraceful", "autodisabledelay", "autodelayedtrofs"]),
    ("policyname", &["priority", "gotopriorityexpression", "bindpoint", "labeltype", "labelname"]),
];

const WITH_OF_MONITOR: Sentences = &[("secure", &["sslprofile"])];

const WITH_OF_GROUP: Sentences = &[
    (
        "persistencetype",
        &[
            "timeout",
            "persistencebackup",
            "cookiename",
            "persistmask",
            "v6persistmasklen",
            "cookiedomain",
            "rule",
        ],
    ),
    ("persistencebackup", &["backuppersistencetimeout"]),
];

const WITH_OF_NET_PROFILE: Sentences = &[
    ("proxyprotocol", &["proxyprotocoltxversion", "proxyprotocolaftertlshandshake"]),
    ("srcip", &["srcippersistency", "overridelsn"]),
];

const WITH_OF_PARAM: Sentences = &[("cip", &["cipheader"])];

const USERS: Sentences = &[
    (
        "users are those of this configuration: no directory elsewhere is asked",
        &["externalauth", "localauth", "totalauthtimeout", "reauthonauthparamchange"],
    ),
    ("whoever changes something is noted down in the audit log", &["logging", "cliloglevel"]),
    ("there is one partition, the default one", &["partitionname"]),
    (
        "passwords do not grow old, and one that was used before may be used again",
        &["daystoexpire", "warnpriorndays", "passwordhistorycontrol", "pwdhistorycount"],
    ),
    ("nsroot never has a password that others know", &["forcepasswordchange"]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::attribute::{Effect, Resource};
    use crate::config::{
        LbGroup, LbMonitor, LbParameter, LbVserver, Member, MonitorBinding, NetProfile, NsParam,
        PolicyBinding, Server, Service, ServiceGroup,
    };

    fn without_sentence<T: Resource>(object: Object) -> Vec<String> {
        let silent = |row: &&Row| {
            matches!(row.effect, Effect::Traffic | Effect::Exposure) && sentence(object, row.nitro).is_none()
        };
        T::rows().filter(silent).map(|row| format!("{} -{}", object.text(), row.cli)).collect()
    }

    #[test]
    fn every_option_that_is_not_acted_on_has_a_sentence() {
        let silent = [
            without_sentence::<Server>(Object::Server),
            without_sentence::<Service>(Object::Service),
            without_sentence::<MonitorBinding>(Object::Service),
            without_sentence::<PolicyBinding>(Object::Service),
            without_sentence::<ServiceGroup>(Object::ServiceGroup),
            without_sentence::<Member>(Object::ServiceGroup),
            without_sentence::<LbVserver>(Object::LbVserver),
            without_sentence::<PolicyBinding>(Object::LbVserver),
            without_sentence::<LbMonitor>(Object::LbMonitor),
            without_sentence::<LbParameter>(Object::LbParameter),
            without_sentence::<LbGroup>(Object::LbGroup),
            without_sentence::<NetProfile>(Object::NetProfile),
            without_sentence::<NsParam>(Object::NsParam),
        ];
        assert_eq!(silent.concat(), Vec::<String>::new());
    }

    /// Whoever names an option that another one goes with names one that exists.
    #[test]
    fn what_others_go_with_exists() {
        fn known<T: Resource>(table: Sentences) {
            let has = |nitro: &str| T::rows().any(|row| row.nitro == nitro);
            for (other, names) in table.iter().filter(|(other, _)| *other != "policyname") {
                assert!(has(other), "{other}");
                names.iter().for_each(|name| assert!(has(name), "{name}"));
            }
        }
        known::<LbVserver>(WITH_OF_VSERVER);
        known::<ServiceGroup>(WITH_OF_SERVICE);
        known::<LbMonitor>(WITH_OF_MONITOR);
        known::<LbGroup>(WITH_OF_GROUP);
        known::<NetProfile>(WITH_OF_NET_PROFILE);
        known::<NsParam>(WITH_OF_PARAM);
    }
}
