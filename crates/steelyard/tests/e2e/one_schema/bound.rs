//! What is bound: each attribute of each resource of bindings goes from a line to NITRO, back in a request, and through a
//! saved file; and what was bound by a request is unbound by one.

use std::collections::{BTreeMap, BTreeSet};

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::{Side, gives, list, schema, text};
use crate::place::Place;
use crate::program::Program;
use crate::shown::elements;

pub fn trials() -> Vec<Trial> {
    trials![every_attribute_of_every_binding_walks_and_can_be_unbound]
}

/// Are the bindings of that resource walked here?
pub fn is_walked(resource: &str) -> bool {
    CASES.iter().any(|case| case.taken_by.split(' ').any(|taker| taker == resource))
}

fn every_attribute_of_every_binding_walks_and_can_be_unbound() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let takers = CASES.iter().flat_map(|case| case.taken_by.split(' ').map(move |taker| (case, taker)));
    let walks: Vec<Walk> =
        takers.enumerate().map(|(nth, (case, taker))| Walk::new(&program, case, taker, nth)).collect();
    nothing_is_left_out(&program, &walks);
    drop(program);
    let program = Program::launch(&place, &file(&walks));
    let before = program.running();
    for walk in &walks {
        let element =
            walk.check(&program, Side::Given).unwrap_or_else(|why| panic!("{}: {why}", walk.title()));
        walk.give_back(&program, element);
    }
    let running = program.running();
    check_all(&program, &walks);
    for walk in &walks {
        let (one, other) = (walk.lines(&running, Side::Given), walk.lines(&running, Side::Copy));
        assert_eq!(one, other, "{}", walk.title());
        walk.says_all(&one);
    }
    program.done("POST", "nsconfig?action=save", json!({"nsconfig": {}}));
    let saved = std::fs::read_to_string(program.config_path()).unwrap();
    drop(program);
    let program = Program::launch(&place, &saved);
    assert_eq!(program.running(), running, "after a restart");
    check_all(&program, &walks);
    walks.iter().for_each(|walk| walk.unbind(&program));
    let after = program.running();
    let changed: Vec<_> =
        sorted(&after).symmetric_difference(&sorted(&before)).copied().map(str::to_owned).collect();
    assert!(changed.is_empty(), "what was bound is gone, and nothing else: {changed:#?}");
}

fn check_all(program: &Program, walks: &[Walk]) {
    for walk in walks {
        for side in [Side::Given, Side::Copy] {
            walk.check(program, side).unwrap_or_else(|why| panic!("{}: {why}", walk.title()));
        }
    }
}

/// All that a command binds by each resource is in one of its cases, and what of that the reference says can be written is
/// shown in one.
fn nothing_is_left_out(program: &Program, walks: &[Walk]) {
    let takers: BTreeSet<&str> = walks.iter().map(|walk| walk.taker).collect();
    for taker in takers {
        let attributes = schema(program, taker)["attributes"].clone();
        let bound = || list(&attributes).iter().filter(|attribute| gives(attribute, "bind"));
        let of = |is_wanted: &dyn Fn(&Walk) -> bool| -> BTreeSet<String> {
            let walks = walks.iter().filter(|walk| walk.taker == taker && is_wanted(walk));
            walks
                .flat_map(|walk| walk.fields(Side::Given).as_object().unwrap().clone())
                .map(|(name, _)| name)
                .collect()
        };
        let all: BTreeSet<String> = bound().map(|attribute| text(&attribute["name"])).collect();
        assert_eq!(of(&|_| true), all, "{taker}");
        let others = OF_MEMBERS.iter().find(|(of, _)| *of == taker).map_or("", |(_, names)| names);
        let written: BTreeSet<String> = (bound().filter(|attribute| attribute["access"] == "rw"))
            .map(|attribute| text(&attribute["name"]))
            .filter(|name| !others.split(' ').any(|other| other == name))
            .collect();
        let shown = of(&|walk| walk.is_shown);
        assert!(written.is_subset(&shown), "{taker}: {:?}", written.difference(&shown));
    }
}

fn file(walks: &[Walk]) -> String {
    let mut lines = vec![FIRST.to_owned()];
    for walk in walks {
        lines.extend([Side::Given, Side::Copy].map(|side| walk.filled(walk.case.before, side)));
        lines.push(walk.filled(walk.case.line, Side::Given));
    }
    lines.join("\n") + "\n"
}

fn sorted(text: &str) -> BTreeSet<&str> {
    text.lines().collect()
}

/// A command that binds, and the same in NITRO. `<name>` and `<address>` stand for its own.
struct Case {
    /// Lines before its own, which make what is bound to.
    before: &'static str,
    line: &'static str,
    body: &'static str,
    /// Resources that take it.
    taken_by: &'static str,
    /// The one of them that shows it; empty where the reference has none for it here.
    shown_by: &'static str,
}

/// A case by one of the resources that take it.
struct Walk {
    case: &'static Case,
    taker: &'static str,
    attributes: BTreeMap<String, Value>,
    /// Name of the field that says what is bound to.
    key: String,
    nth: usize,
    is_shown: bool,
}

impl Walk {
    fn new(program: &Program, case: &'static Case, taker: &'static str, nth: usize) -> Walk {
        let schema = schema(program, taker);
        let attributes =
            list(&schema["attributes"]).iter().map(|attribute| (text(&attribute["name"]), attribute.clone()));
        Walk {
            case,
            taker,
            attributes: attributes.collect(),
            key: text(&schema["key"]),
            nth,
            is_shown: case.shown_by == taker,
        }
    }

    fn title(&self) -> String {
        format!("{} by {}", self.case.line, self.taker)
    }

    fn own_name(&self, side: Side) -> String {
        format!("{}{:04}", if side == Side::Given { "w" } else { "c" }, self.nth)
    }

    fn own_address(&self, side: Side) -> String {
        format!("10.{}.0.{}", if side == Side::Given { 1 } else { 2 }, self.nth + 1)
    }

    fn filled(&self, template: &str, side: Side) -> String {
        template.replace("<name>", &self.own_name(side)).replace("<address>", &self.own_address(side))
    }

    fn fields(&self, side: Side) -> Value {
        serde_json::from_str(&self.filled(self.case.body, side)).unwrap()
    }

    fn path(&self, side: Side) -> String {
        format!("{}/{}", self.taker, text(&self.fields(side)[&self.key]))
    }

    /// The one element that shows it, which has each of its fields; nothing where nothing shows it.
    fn check(&self, program: &Program, side: Side) -> Result<Option<Value>, String> {
        match &elements(program, &self.path(side))[..] {
            [] if !self.is_shown => Ok(None),
            [element] if self.is_shown => {
                let fields = self.fields(side);
                let mut wrong = fields
                    .as_object()
                    .unwrap()
                    .iter()
                    .filter(|(name, given)| text(&element[*name]) != text(given));
                wrong.next().map_or(Ok(Some(element.clone())), |(name, given)| {
                    Err(format!("{name} is no {given}: {element}"))
                })
            }
            others => Err(format!("{side:?}: {others:#?}")),
        }
    }

    /// Binds the same to the copy, all but names as it was shown.
    fn give_back(&self, program: &Program, element: Option<Value>) {
        let mut fields = self.fields(Side::Copy);
        for (name, value) in self.fields(Side::Given).as_object().unwrap() {
            if fields[name] == *value
                && let Some(element) = &element
            {
                fields[name] = element[name].clone();
            }
        }
        self.done(program, "PUT", self.taker, Some(json!({self.taker: fields})));
    }

    fn unbind(&self, program: &Program) {
        let fields = self.fields(Side::Copy);
        let known = fields.as_object().unwrap().iter().filter(|(name, _)| {
            **name != self.key
                && self.attributes.get(*name).is_some_and(|attribute| gives(attribute, "unbind"))
        });
        let arguments: Vec<String> = known.map(|(name, value)| format!("{name}:{}", text(value))).collect();
        let path = format!("{}?args={}", self.path(Side::Copy), arguments.join(","));
        self.done(program, "DELETE", &path, None);
    }

    fn done(&self, program: &Program, method: &str, path: &str, body: Option<Value>) {
        let (status, answer) = program.owner(method, path, body.as_ref());
        assert!(status.contains(" 20"), "{}: {method} {path} {body:?}: {answer}", self.title());
    }

    /// The lines about a side's own objects, name and address left out.
    fn lines(&self, running: &str, side: Side) -> Vec<String> {
        let (name, address) = (self.own_name(side), self.own_address(side));
        let is_own = |line: &&str| line.contains(&name) || line.split(' ').any(|word| word == address);
        let plain = |line: &str| line.replace(&name, "<name>").replace(&address, "<address>");
        running.lines().filter(is_own).map(plain).collect()
    }

    /// Each value of the case stands in its lines.
    fn says_all(&self, lines: &[String]) {
        let words: BTreeSet<&str> = lines.iter().flat_map(|line| line.split(' ')).collect();
        let fields: Value = serde_json::from_str(self.case.body).unwrap();
        for (name, value) in fields.as_object().unwrap() {
            let word = match value {
                Value::Bool(_) => format!("-{}", text(&self.attributes[name]["option"])),
                value => text(value),
            };
            assert!(words.contains(&*word), "{}: {word} in {lines:#?}", self.title());
        }
    }
}

/// What is bound to, and what is bound, where it need not be the walk's own.
const FIRST: &str = "enable ns feature LB CS SSL\nadd lb vserver spare HTTP\nadd cs vserver other HTTP\n\
    add service svc 192.0.2.1 HTTP 80\nadd serviceGroup grp HTTP\nadd server srv 192.0.2.2\n\
    add server dom name.example.com\nadd lb monitor mon HTTP\nadd cs policy pol -rule true\nadd ssl certKey pair -cert x.crt";
/// Of the reference's fields those that say something of a member of a group, which another resource shows.
const OF_MEMBERS: &[(&str, &str)] = &[
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
const CASES: &[Case] = &[
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
        taken_by: "lbvserver_servicegroup_binding",
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
        line: "bind service <name> -monitorName mon -monState DISABLED -weight 4 -passive",
        body: r#"{"name": "<name>", "monitor_name": "mon", "monstate": "DISABLED", "weight": 4, "passive": true}"#,
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
        line: "bind serviceGroup <name> -monitorName mon -monState DISABLED -weight 4 -passive",
        body: r#"{"servicegroupname": "<name>", "monitor_name": "mon", "monstate": "DISABLED", "weight": 4, "passive": true}"#,
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
        line: "bind lb monitor <name> g<name>",
        body: r#"{"monitorname": "<name>", "servicename": "g<name>"}"#,
        taken_by: "lbmonitor_servicegroup_binding",
        shown_by: "lbmonitor_servicegroup_binding",
    },
    // By a resource that shows figures alone.
    Case {
        before: "add lb monitor <name> HTTP\nadd service s<name> <address> HTTP 80",
        line: "bind lb monitor <name> s<name> -state DISABLED -weight 4",
        body: r#"{"monitorname": "<name>", "servicename": "s<name>", "monstate": "DISABLED", "weight": 4}"#,
        taken_by: "lbmonitor_metric_binding",
        shown_by: "",
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
