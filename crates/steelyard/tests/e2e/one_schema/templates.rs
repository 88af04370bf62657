//! How an object of each resource is made, and what of it does not walk.

use serde_json::Value;

/// How an object of a resource is made. `<name>`, `<address>`, `<number>` and `<type>` stand for its own.
pub struct Template {
    pub resource: &'static str,
    /// Lines before its own.
    pub before: &'static str,
    pub line: &'static str,
    /// The same in NITRO; empty where there is one of them.
    pub body: &'static str,
}

impl Template {
    pub fn fields(&self) -> Value {
        serde_json::from_str(self.body).unwrap()
    }

    pub fn verb(&self) -> &'static str {
        self.line.split(' ').next().unwrap()
    }

    /// Is there one of it, whatever it is called?
    pub fn is_of_one(&self) -> bool {
        !self.body.contains('<')
    }
}

const fn template(resource: &'static str, line: &'static str, body: &'static str) -> Template {
    Template { resource, before: "", line, body }
}

/// Of several of a resource the first walks what no other has among its words.
pub const TEMPLATES: &[Template] = &[
    template("server", "add server <name> <address>", r#"{"name": "<name>", "ipaddress": "<address>"}"#),
    template(
        "server",
        "add server <name> <name>.example.com",
        r#"{"name": "<name>", "domain": "<name>.example.com"}"#,
    ),
    template(
        "service",
        "add service <name> <address> HTTP 80",
        r#"{"name": "<name>", "ip": "<address>", "servicetype": "HTTP", "port": 80}"#,
    ),
    Template {
        resource: "service",
        before: "add server s<name> <address>",
        line: "add service <name> s<name> HTTP 80",
        body: r#"{"name": "<name>", "servername": "s<name>", "servicetype": "HTTP", "port": 80}"#,
    },
    template(
        "servicegroup",
        "add serviceGroup <name> HTTP",
        r#"{"servicegroupname": "<name>", "servicetype": "HTTP"}"#,
    ),
    template("lbvserver", "add lb vserver <name> HTTP", r#"{"name": "<name>", "servicetype": "HTTP"}"#),
    template(
        "lbvserver",
        "add lb vserver <name> HTTP <address> 80",
        r#"{"name": "<name>", "servicetype": "HTTP", "ipv46": "<address>", "port": 80}"#,
    ),
    template("lbmonitor", "add lb monitor <name> <type>", r#"{"monitorname": "<name>", "type": "<type>"}"#),
    template("lbgroup", "add lb group <name>", r#"{"name": "<name>"}"#),
    template("lbprofile", "add lb profile <name>", r#"{"lbprofilename": "<name>"}"#),
    template(
        "nsip",
        "add ns ip <address> 255.255.255.0",
        r#"{"ipaddress": "<address>", "netmask": "255.255.255.0"}"#,
    ),
    template("netprofile", "add netProfile <name>", r#"{"name": "<name>"}"#),
    template("csvserver", "add cs vserver <name> HTTP", r#"{"name": "<name>", "servicetype": "HTTP"}"#),
    template(
        "csvserver",
        "add cs vserver <name> HTTP <address> 80",
        r#"{"name": "<name>", "servicetype": "HTTP", "ipv46": "<address>", "port": 80}"#,
    ),
    template("cspolicy", "add cs policy <name>", r#"{"policyname": "<name>"}"#),
    template("csaction", "add cs action <name>", r#"{"name": "<name>"}"#),
    Template {
        resource: "sslvserver",
        before: "add lb vserver <name> SSL",
        line: "set ssl vserver <name>",
        body: r#"{"vservername": "<name>"}"#,
    },
    template(
        "systemuser",
        "add system user <name> hidden1",
        r#"{"username": "<name>", "password": "hidden1"}"#,
    ),
    template("sslcertkey", "add ssl certKey <name> -cert x1", r#"{"certkey": "<name>", "cert": "x1"}"#),
    Template {
        resource: "sslcertkey",
        before: "add ssl certKey <name> -cert x1\nadd ssl certKey i<name> -cert x2",
        line: "link ssl certKey <name> i<name>",
        body: r#"{"certkey": "<name>", "linkcertkeyname": "i<name>"}"#,
    },
    template("hanode", "add HA node <number> <address>", r#"{"id": "<number>", "ipaddress": "<address>"}"#),
    template("hanode", "set HA node", "{}"),
    template("lbparameter", "set lb parameter", "{}"),
    template("nsparam", "set ns param", "{}"),
    template("nsconfig", "set ns config", "{}"),
    template("nsspparams", "set ns spParams", "{}"),
    template("nshostname", "set ns hostName box -ownerNode 1", r#"{"hostname": "box", "ownernode": 1}"#),
];
const VSERVERS: &[&str] = &["lbvserver", "csvserver"];
const WITH_CIP: &[&str] = &["service", "servicegroup", "nsparam", "nsconfig"];
/// Attributes whose value names another object, or is the second word of an option: the words, and the other fields.
pub const SPECIAL: &[(&[&str], &str, &str, &str)] = &[
    (WITH_CIP, "cipheader", "-cip ENABLED x1", "cip"),
    (VSERVERS, "vipheader", "-insertVserverIPPort VIPADDR x1", "insertvserveripport"),
    (&["lbvserver"], "newservicerequestunit", "-newServiceRequest 20 PERCENT", "newservicerequest"),
    (&["lbvserver"], "backupvserver", "-backupVServer spare", ""),
    (&["csvserver"], "backupvserver", "-backupVServer other", ""),
    (&["lbmonitor"], "tos", "-tosId 3 -tos YES", "tosid"),
    (&["lbmonitor"], "transparent", "-destIP 192.0.2.1 -transparent YES", "destip"),
    (&["cspolicy"], "action", "-rule true -action act", "rule"),
    (&["csaction"], "targetlbvserver", "-targetLBVserver spare", ""),
    (&["csaction"], "targetvserver", "-targetVserver spare", ""),
];
/// What is no secret itself and yet is shown to nobody.
pub const CIPHER_TEXT: &[(&str, &str)] = &[("sslcertkey", "passcrypt")];
/// Attributes that do not walk, and why.
pub const STAY: &[(&str, &str, &str)] =
    &[("sslvserver", "vservername", "nothing is set by it alone; every other attribute goes by it")];
pub const STAY_OF_NS_CONFIG: &[(&str, &str, &str)] = &[(
    "nsconfig",
    "useproxyport internaluserlogin aftpallowrandomsourceport icaports tcpcip servicepathingressvlan secureicaports \
    mgmthttpport mgmthttpsport proxyprotocol advancedanalyticsstats ipttl",
    "the reference's nsconfig has no such field: nsparam shows it",
)];
/// What only actions take, and no object keeps. Beside that an object is given what is bound to it, and that is walked as a
/// binding.
pub const OF_ACTIONS: &[(&str, &str)] = &[
    ("server", "domainresolvenow delay graceful newname"),
    // In `set` second names of `ip`, `monitor_name` and `weight`; and what no appliance has had for long.
    ("service", "ipaddress monitor_name_svc riseapbrstatsmsgcode delay graceful newname"),
    ("servicegroup", "monitor_name_svc dup_weight riseapbrstatsmsgcode delay graceful newname"),
    ("lbvserver", "newname"),
    ("lbgroup", "newname"),
    ("csvserver", "newname"),
    ("cspolicy", "newname"),
    ("csaction", "newname"),
    ("sslcertkey", "nodomaincheck deletefromdevice"),
];
