//! Commands that bind, with the same in NITRO: all that each resource of bindings takes.

/// A command that binds, and the same in NITRO. `<name>` and `<address>` stand for its own.
pub struct Case {
    /// Lines before its own, which make what is bound to.
    pub before: &'static str,
    pub line: &'static str,
    pub body: &'static str,
    /// Resources that take it.
    pub taken_by: &'static str,
    /// The one of them that shows it; empty where the reference has none for it here.
    pub shown_by: &'static str,
}

/// What is bound to, and what is bound, where it need not be the walk's own.
pub const FIRST: &str = "enable ns feature LB CS SSL\nadd lb vserver spare HTTP\nadd cs vserver other HTTP\n\
    add service svc 192.0.2.1 HTTP 80\nadd serviceGroup grp HTTP\nadd server srv 192.0.2.2\n\
    add server dom name.example.com\nadd lb monitor mon HTTP\nadd lb monitor load LOAD\nadd cs policy pol -rule true\nadd ssl certKey pair -cert x.crt";
/// Of the reference's fields those that say something of a group or of its members, which another resource shows.
pub const OF_GROUPS: &[(&str, &str)] = &[
    ("lbvserver_service_binding", "servicegroupname"),
    ("lbmonitor_service_binding", "servicegroupname"),
    ("servicegroup_lbmonitor_binding", "port state hashid customserverid"),
    // Of a group itself it is 1 (`spec/cli.md`: no `-weight` goes with one).
    ("lbvserver_servicegroup_binding", "weight"),
];

const LB: &str = "lbvserver_service_binding lbvserver_servicegroup_binding";
const GROUP: &str = "servicegroup_lbmonitor_binding servicegroup_servicegroupmember_binding";
const MONITOR: &str = "lbmonitor_service_binding lbmonitor_servicegroup_binding lbmonitor_metric_binding";
const CS: &str = "csvserver_cspolicy_binding csvserver_lbvserver_binding";
const TLS: &str = "sslvserver_sslcertkey_binding";
const NEW_LB: &str = "add lb vserver <name> HTTP";
const NEW_CS: &str = "add cs vserver <name> HTTP";
const NEW_TLS: &str = "add lb vserver <name> SSL";
const NEW_GROUP: &str = "add serviceGroup <name> HTTP";
pub const CASES: &[Case] = &[
    Case {
        before: NEW_LB,
        line: "bind lb vserver <name> svc -weight 3 -order 2",
        body: r#"{"name": "<name>", "servicename": "svc", "weight": 3, "order": 2}"#,
        taken_by: LB,
        shown_by: "lbvserver_service_binding",
    },
    Case {
        before: NEW_LB,
        line: "bind lb vserver <name> grp -order 2",
        body: r#"{"name": "<name>", "servicegroupname": "grp", "order": 2}"#,
        taken_by: LB,
        shown_by: "lbvserver_servicegroup_binding",
    },
    // The other name of the same.
    Case {
        before: NEW_LB,
        line: "bind lb vserver <name> grp -order 2",
        body: r#"{"name": "<name>", "servicename": "grp", "order": 2}"#,
        taken_by: "lbvserver_servicegroup_binding",
        shown_by: "lbvserver_servicegroup_binding",
    },
    Case {
        before: NEW_LB,
        line: "bind lb vserver <name> -policyName p1 -priority 5 -gotoPriorityExpression END -type RESPONSE -invoke policylabel lab",
        body: r#"{"name": "<name>", "policyname": "p1", "priority": 5, "gotopriorityexpression": "END",
            "bindpoint": "RESPONSE", "labeltype": "policylabel", "labelname": "lab"}"#,
        taken_by: LB,
        shown_by: "",
    },
    Case {
        before: NEW_LB,
        line: "bind lb vserver <name> -analyticsProfile prof",
        body: r#"{"name": "<name>", "analyticsprofile": "prof"}"#,
        taken_by: LB,
        shown_by: "",
    },
    Case {
        before: "add service <name> <address> HTTP 80",
        line: "bind service <name> -monitorName load -monState DISABLED -weight 4 -passive",
        body: r#"{"name": "<name>", "monitor_name": "load", "monstate": "DISABLED", "weight": 4, "passive": true}"#,
        taken_by: "service_lbmonitor_binding",
        shown_by: "service_lbmonitor_binding",
    },
    Case {
        before: "add service <name> <address> HTTP 80 -healthMonitor NO",
        line: "bind service <name> -policyName p1",
        body: r#"{"name": "<name>", "policyname": "p1"}"#,
        taken_by: "service_lbmonitor_binding",
        shown_by: "",
    },
    Case {
        before: NEW_GROUP,
        line: "bind serviceGroup <name> -monitorName load -monState DISABLED -weight 4 -passive",
        body: r#"{"servicegroupname": "<name>", "monitor_name": "load", "monstate": "DISABLED", "weight": 4, "passive": true}"#,
        taken_by: GROUP,
        shown_by: "servicegroup_lbmonitor_binding",
    },
    Case {
        before: NEW_GROUP,
        line: "bind serviceGroup <name> srv 8080 -weight 3 -CustomServerID 5 -hashId 7 -state DISABLED -order 2",
        body: r#"{"servicegroupname": "<name>", "servername": "srv", "port": 8080, "weight": 3, "customserverid": "5",
            "hashid": 7, "state": "DISABLED", "order": 2}"#,
        taken_by: GROUP,
        shown_by: "servicegroup_servicegroupmember_binding",
    },
    Case {
        before: NEW_GROUP,
        line: "bind serviceGroup <name> <address> 8080",
        body: r#"{"servicegroupname": "<name>", "ip": "<address>", "port": 8080}"#,
        taken_by: "servicegroup_servicegroupmember_binding",
        shown_by: "servicegroup_servicegroupmember_binding",
    },
    Case {
        before: "add serviceGroup <name> HTTP -autoScale DNS",
        line: "bind serviceGroup <name> dom 8080 -nameServer ns1 -dbsTTL 9",
        body: r#"{"servicegroupname": "<name>", "servername": "dom", "port": 8080, "nameserver": "ns1", "dbsttl": 9}"#,
        taken_by: GROUP,
        shown_by: "servicegroup_servicegroupmember_binding",
    },
    Case {
        before: "add lb monitor <name> HTTP\nadd service s<name> <address> HTTP 80",
        line: "bind lb monitor <name> s<name> -state DISABLED -weight 4",
        body: r#"{"monitorname": "<name>", "servicename": "s<name>", "state": "DISABLED", "weight": 4}"#,
        taken_by: "lbmonitor_service_binding",
        shown_by: "lbmonitor_service_binding",
    },
    Case {
        before: "add lb monitor <name> HTTP\nadd serviceGroup g<name> HTTP",
        line: "bind lb monitor <name> g<name> -state DISABLED -weight 4",
        body: r#"{"monitorname": "<name>", "servicegroupname": "g<name>", "state": "DISABLED", "weight": 4}"#,
        taken_by: "lbmonitor_servicegroup_binding",
        shown_by: "lbmonitor_servicegroup_binding",
    },
    Case {
        before: "add lb monitor <name> HTTP\nadd serviceGroup g<name> HTTP",
        line: "bind lb monitor <name> g<name> -state DISABLED",
        body: r#"{"monitorname": "<name>", "servicename": "g<name>", "monstate": "DISABLED"}"#,
        taken_by: "lbmonitor_servicegroup_binding",
        shown_by: "lbmonitor_servicegroup_binding",
    },
    // The other names of the same.
    Case {
        before: "add lb monitor <name> HTTP\nadd service s<name> <address> HTTP 80",
        line: "bind lb monitor <name> s<name> -state DISABLED -weight 4",
        body: r#"{"monitorname": "<name>", "servicename": "s<name>", "dup_state": "DISABLED", "dup_weight": 4}"#,
        taken_by: "lbmonitor_service_binding",
        shown_by: "lbmonitor_service_binding",
    },
    Case {
        before: "add lb monitor <name> HTTP\nadd serviceGroup g<name> HTTP",
        line: "bind lb monitor <name> g<name> -state DISABLED -weight 4",
        body: r#"{"monitorname": "<name>", "servicegroupname": "g<name>", "dup_state": "DISABLED", "dup_weight": 4}"#,
        taken_by: "lbmonitor_service_binding lbmonitor_servicegroup_binding",
        shown_by: "lbmonitor_servicegroup_binding",
    },
    // By the commands' own name of it, and by a resource that shows figures alone.
    Case {
        before: "add lb monitor <name> HTTP\nadd service s<name> <address> HTTP 80",
        line: "bind lb monitor <name> s<name> -state DISABLED -weight 4",
        body: r#"{"monitorname": "<name>", "servicename": "s<name>", "monstate": "DISABLED", "weight": 4}"#,
        taken_by: "lbmonitor_service_binding lbmonitor_metric_binding",
        shown_by: "lbmonitor_service_binding",
    },
    Case {
        before: "add lb monitor <name> LOAD",
        line: "bind lb monitor <name> -metric cpu -metricThreshold 80 -metricWeight 4",
        body: r#"{"monitorname": "<name>", "metric": "cpu", "metricthreshold": 80, "metricweight": 4}"#,
        taken_by: MONITOR,
        shown_by: "lbmonitor_metric_binding",
    },
    Case {
        before: "add lb monitor <name> HTTP",
        line: "bind lb monitor <name> -certkeyName pair -CA -crlCheck Mandatory",
        body: r#"{"monitorname": "<name>", "certkeyname": "pair", "ca": true, "crlcheck": "Mandatory"}"#,
        taken_by: MONITOR,
        shown_by: "",
    },
    Case {
        before: "add lb monitor <name> HTTP",
        line: "bind lb monitor <name> -certkeyName pair -CA -ocspCheck Optional",
        body: r#"{"monitorname": "<name>", "certkeyname": "pair", "ca": true, "ocspcheck": "Optional"}"#,
        taken_by: MONITOR,
        shown_by: "",
    },
    Case {
        before: "add lb group <name>\nadd lb vserver v<name> HTTP",
        line: "bind lb group <name> v<name>",
        body: r#"{"name": "<name>", "vservername": "v<name>"}"#,
        taken_by: "lbgroup_lbvserver_binding",
        shown_by: "lbgroup_lbvserver_binding",
    },
    Case {
        before: NEW_CS,
        line: "bind cs vserver <name> -policyName pol -targetLBVserver spare -priority 5",
        body: r#"{"name": "<name>", "policyname": "pol", "targetlbvserver": "spare", "priority": 5}"#,
        taken_by: CS,
        shown_by: "csvserver_cspolicy_binding",
    },
    Case {
        before: NEW_CS,
        line: "bind cs vserver <name> -policyName pol -priority 5 -gotoPriorityExpression END -type RESPONSE -invoke policylabel lab",
        body: r#"{"name": "<name>", "policyname": "pol", "priority": 5, "gotopriorityexpression": "END",
            "bindpoint": "RESPONSE", "labeltype": "policylabel", "labelname": "lab"}"#,
        taken_by: CS,
        shown_by: "csvserver_cspolicy_binding",
    },
    Case {
        before: NEW_CS,
        line: "bind cs vserver <name> -lbvserver spare",
        body: r#"{"name": "<name>", "lbvserver": "spare"}"#,
        taken_by: CS,
        shown_by: "csvserver_lbvserver_binding",
    },
    Case {
        before: NEW_CS,
        line: "bind cs vserver <name> -vServer spare",
        body: r#"{"name": "<name>", "targetvserver": "spare"}"#,
        taken_by: CS,
        shown_by: "csvserver_lbvserver_binding",
    },
    Case {
        before: NEW_CS,
        line: "bind cs vserver <name> -domainName <name>.example.com -TTL 7 -backupIP 192.0.2.9 -cookieDomain example.com \
            -cookieTimeout 11 -sitedomainTTL 13",
        body: r#"{"name": "<name>", "domainname": "<name>.example.com", "ttl": 7, "backupip": "192.0.2.9",
            "cookiedomain": "example.com", "cookietimeout": 11, "sitedomainttl": 13}"#,
        taken_by: CS,
        shown_by: "",
    },
    Case {
        before: NEW_CS,
        line: "bind cs vserver <name> -analyticsProfile prof",
        body: r#"{"name": "<name>", "analyticsprofile": "prof"}"#,
        taken_by: CS,
        shown_by: "",
    },
    Case {
        before: NEW_TLS,
        line: "bind ssl vserver <name> -certkeyName pair -CA -crlCheck Mandatory -skipCAName",
        body: r#"{"vservername": "<name>", "certkeyname": "pair", "ca": true, "crlcheck": "Mandatory", "skipcaname": true}"#,
        taken_by: TLS,
        shown_by: TLS,
    },
    Case {
        before: NEW_TLS,
        line: "bind ssl vserver <name> -certkeyName pair -CA -ocspCheck Optional",
        body: r#"{"vservername": "<name>", "certkeyname": "pair", "ca": true, "ocspcheck": "Optional"}"#,
        taken_by: TLS,
        shown_by: TLS,
    },
    Case {
        before: NEW_TLS,
        line: "bind ssl vserver <name> -certkeyName pair -SNICert",
        body: r#"{"vservername": "<name>", "certkeyname": "pair", "snicert": true}"#,
        taken_by: TLS,
        shown_by: TLS,
    },
    Case {
        before: NEW_TLS,
        line: "bind ssl vserver <name> -cipherName HIGH",
        body: r#"{"vservername": "<name>", "ciphername": "HIGH"}"#,
        taken_by: TLS,
        shown_by: "",
    },
    Case {
        before: NEW_TLS,
        line: "bind ssl vserver <name> -eccCurveName P_256",
        body: r#"{"vservername": "<name>", "ecccurvename": "P_256"}"#,
        taken_by: TLS,
        shown_by: "",
    },
    Case {
        before: NEW_TLS,
        line: "bind ssl vserver <name> -policyName p1 -priority 5 -gotoPriorityExpression END -invoke policylabel lab",
        body: r#"{"vservername": "<name>", "policyname": "p1", "priority": 5, "gotopriorityexpression": "END",
            "labeltype": "policylabel", "labelname": "lab"}"#,
        taken_by: TLS,
        shown_by: "",
    },
];
