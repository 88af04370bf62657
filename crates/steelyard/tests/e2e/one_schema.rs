//! One schema: every attribute that `GET /nitro/v1/schema` tells of goes from ns.conf to NITRO, back as a new object, and
//! through a saved file, and is the same everywhere.

use std::collections::BTreeMap;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::Program;
use crate::shown::elements;

pub fn trials() -> Vec<Trial> {
    trials![
        every_attribute_walks_through_text_and_nitro_and_back,
        attributes_of_the_second_name_of_ns_param_walk,
        every_resource_that_changes_is_walked_or_said_why_not,
    ]
}

fn every_attribute_walks_through_text_and_nitro_and_back() {
    walk(|template| template.resource != "nsconfig", STAY);
}

/// `set ns config` and `set ns param` are one setting, so that one configuration cannot have both at values of their own.
fn attributes_of_the_second_name_of_ns_param_walk() {
    walk(|template| template.resource == "nsconfig", STAY_OF_NS_CONFIG);
}

/// Walks all; those that do not are `stay`, no more and no fewer.
fn walk(is_wanted: impl Fn(&Template) -> bool, stay: &[(&str, &str, &str)]) {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let walks = walks(&program, is_wanted);
    drop(program);
    let program = Program::launch(&place, &file(&walks));
    let mut faults: BTreeMap<String, String> = BTreeMap::new();
    let mut note = |walk: &Walk, step: &str, result: Result<(), String>| {
        if let Err(why) = result {
            faults.entry(walk.title()).or_insert(format!("{step}: {why}"));
        }
    };
    let shown = Shown::of(&program, &walks);
    walks.iter().for_each(|walk| note(walk, "shown", walk.is_shown(&shown, Side::Given)));
    let before = program.running();
    for walk in &walks {
        note(walk, "given back", walk.give_back(&program, &shown));
    }
    let running = program.running();
    assert!(!running.contains(SECRET), "{running}");
    let again = Shown::of(&program, &walks);
    for walk in &walks {
        note(walk, "the copy shown", walk.is_shown(&again, Side::Copy));
        note(walk, "its line", walk.has_the_same_lines(&before, &running));
    }
    program.done("POST", "nsconfig?action=save", json!({"nsconfig": {}}));
    let saved = std::fs::read_to_string(program.config_path()).unwrap();
    drop(program);
    let program = Program::launch(&place, &saved);
    assert_eq!(program.running(), running, "after a restart");
    let restarted = Shown::of(&program, &walks);
    for walk in &walks {
        for side in [Side::Given, Side::Copy] {
            note(walk, "after a restart", walk.is_shown(&restarted, side));
        }
    }
    let expected: Vec<String> = stay
        .iter()
        .flat_map(|(of, names, _)| names.split(' ').map(move |name| format!("{of} {name}")))
        .collect();
    let unexpected: Vec<_> = faults.iter().filter(|(title, _)| !expected.contains(title)).collect();
    let stale: Vec<_> = expected.iter().filter(|title| !faults.contains_key(*title)).collect();
    assert!(unexpected.is_empty() && stale.is_empty(), "do not walk: {unexpected:#?}\nand do: {stale:?}");
}

/// What an object was made of: the file's line, or the request that gave back what NITRO showed.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Given,
    Copy,
}

/// How an object of a resource is made. `<name>`, `<address>` and `<type>` stand for its own.
struct Template {
    resource: &'static str,
    /// Lines before its own.
    before: &'static str,
    line: &'static str,
    /// The same in NITRO; empty where there is one of them.
    body: &'static str,
}

impl Template {
    fn fields(&self) -> Value {
        serde_json::from_str(self.body).unwrap()
    }
}

/// An attribute on its way.
struct Walk {
    template: &'static Template,
    attribute: Value,
    /// Name of the field that objects are known by; empty where there is one of them.
    key: String,
    nth: usize,
    /// The words after those of the template.
    tail: String,
    value: String,
    /// Fields that it cannot be given without.
    with: Vec<String>,
}

fn walks(program: &Program, is_wanted: impl Fn(&Template) -> bool) -> Vec<Walk> {
    let mut walks: Vec<Walk> = Vec::new();
    for template in TEMPLATES.iter().filter(|template| is_wanted(template)) {
        let (schema, fields) = (schema(program, template.resource), template.fields());
        let verb = template.line.split(' ').next().unwrap();
        let of_resource = || TEMPLATES.iter().filter(|other| other.resource == template.resource);
        let is_first = of_resource().next().is_some_and(|first| std::ptr::eq(first, template));
        for attribute in list(&schema["attributes"]).iter().filter(|attribute| gives(attribute, verb)) {
            let name = attribute["name"].as_str().unwrap();
            let is_own = fields.get(name).is_some();
            let is_told = walks.iter().any(|walk| walk.is(template.resource, name));
            let is_others = !is_own && of_resource().any(|other| other.fields().get(name).is_some());
            if !is_told && !is_others && (is_own || is_first) {
                let key = schema["key"].as_str().unwrap_or_default().to_owned();
                walks.push(Walk::new(template, attribute, key, walks.len()));
            }
        }
    }
    walks
}

fn schema(program: &Program, resource: &str) -> Value {
    program.owner_raw("GET", &format!("/schema/{resource}"), "", b"").1["schema"][0].clone()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn gives(attribute: &Value, verb: &str) -> bool {
    list(&attribute["given_by"]).iter().any(|by| by == verb)
}

fn file(walks: &[Walk]) -> String {
    let mut lines = vec![FIRST.to_owned()];
    for walk in walks {
        lines.extend([Side::Given, Side::Copy].map(|side| walk.filled(walk.template.before, side)));
        lines.push(walk.filled(&format!("{} {}", walk.template.line, walk.tail), Side::Given));
    }
    lines.join("\n") + "\n"
}

impl Walk {
    fn new(template: &'static Template, attribute: &Value, key: String, nth: usize) -> Walk {
        let name = attribute["name"].as_str().unwrap();
        let mut walk = Walk {
            template,
            attribute: attribute.clone(),
            key,
            nth,
            tail: String::new(),
            value: String::new(),
            with: list(&attribute["needs"]).iter().map(text).collect(),
        };
        walk.with.extend(attribute["unit"].as_str().map(str::to_owned));
        let special =
            SPECIAL.iter().find(|(of, names, ..)| of.contains(&template.resource) && *names == name);
        if let Some(own) = template.fields().get(name) {
            walk.value = walk.filled(&text(own), Side::Given);
        } else if let Some((_, _, tail, with)) = special {
            walk.tail = (*tail).to_owned();
            walk.value = tail.rsplit(' ').next().unwrap().to_owned();
            walk.with.extend(with.split_ascii_whitespace().map(str::to_owned));
        } else {
            walk.value = sample(attribute);
            let given = if attribute["kind"] == "flag" { "" } else { &walk.value };
            walk.tail = format!("-{} {given}", text(&attribute["option"])).trim_end().to_owned();
        }
        walk
    }

    fn name(&self) -> &str {
        self.attribute["name"].as_str().unwrap()
    }

    fn title(&self) -> String {
        format!("{} {}", self.template.resource, self.name())
    }

    fn is(&self, resource: &str, name: &str) -> bool {
        self.template.resource == resource && self.name() == name
    }

    fn own_name(&self, side: Side) -> String {
        format!("{}{:04}", if side == Side::Given { "w" } else { "c" }, self.nth)
    }

    fn own_address(&self, side: Side) -> String {
        let net = if side == Side::Given { 1 } else { 2 };
        format!("10.{net}.{}.{}", self.nth / 200, self.nth % 200 + 1)
    }

    fn filled(&self, template: &str, side: Side) -> String {
        let kind = self.attribute["types"][0].as_str().unwrap_or("HTTP");
        template
            .replace("<name>", &self.own_name(side))
            .replace("<address>", &self.own_address(side))
            .replace("<type>", kind)
    }

    fn fields(&self, side: Side) -> Value {
        serde_json::from_str(&self.filled(self.template.body, side)).unwrap()
    }

    fn is_shown(&self, shown: &Shown, side: Side) -> Result<(), String> {
        let element = shown.element(self, side)?;
        let given = self.fields(side).get(self.name()).map_or(self.value.clone(), text);
        match (element.get(self.name()), self.attribute["kind"] == "secret") {
            (None, true) => Ok(()),
            (Some(value), false) if text(value) == given => Ok(()),
            (value, _) => Err(format!("{value:?}, and {given} was given")),
        }
    }

    /// Makes a new object of what is shown; what there is one of is first put back to its default.
    fn give_back(&self, program: &Program, shown: &Shown) -> Result<(), String> {
        let element = shown.element(self, Side::Given)?;
        let mut fields = self.fields(Side::Copy);
        let is_own = fields.get(self.name()).is_some();
        let more =
            Some(self.name()).filter(|_| !is_own).into_iter().chain(self.with.iter().map(String::as_str));
        for name in more.filter(|name| fields.get(name).is_none()).collect::<Vec<_>>() {
            let is_secret = self.attribute["kind"] == "secret";
            fields[name] = if is_secret { json!(SECRET) } else { element[name].clone() };
        }
        let resource = self.template.resource;
        let ask = |method: &str, path: &str, fields: Value| {
            let (status, answer) = program.owner(method, path, Some(&json!({resource: fields})));
            if status.contains(" 20") { Ok(()) } else { Err(answer.to_string()) }
        };
        if self.key.is_empty() && !is_own {
            ask("POST", &format!("{resource}?action=unset"), json!({self.name(): true}))?;
        }
        let is_new = self.template.line.starts_with("add ");
        ask(if is_new { "POST" } else { "PUT" }, resource, fields)
    }

    /// The copy's lines are the given object's but for name and address. What there is one of has the lines of before.
    fn has_the_same_lines(&self, before: &str, running: &str) -> Result<(), String> {
        let sorted = |text: &str| text.lines().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
        let (one, other) = if self.key.is_empty() {
            let command = self.template.line;
            let of = |text: &str| sorted(text).into_iter().filter(|line| line.starts_with(command)).collect();
            (of(before), of(running))
        } else if self.attribute["kind"] == "secret" {
            return Ok(());
        } else {
            (self.lines(running, Side::Given), self.lines(running, Side::Copy))
        };
        let is_same = one == other && !one.is_empty();
        if is_same { Ok(()) } else { Err(format!("{one:#?} and {other:#?}")) }
    }

    fn lines(&self, running: &str, side: Side) -> Vec<String> {
        let (name, address) = (self.own_name(side), self.own_address(side));
        let plain =
            |word: &str| if word == address { "<address>".to_owned() } else { word.replace(&name, "<name>") };
        let plain = |line: &str| line.split(' ').map(plain).collect::<Vec<_>>().join(" ");
        let all = running.lines().map(|line| (line, plain(line)));
        all.filter(|(line, plain)| line != plain).map(|(_, plain)| plain).collect()
    }
}

/// What a GET of each resource showed.
struct Shown(BTreeMap<&'static str, Vec<Value>>);

impl Shown {
    fn of(program: &Program, walks: &[Walk]) -> Shown {
        let mut all = BTreeMap::new();
        for walk in walks {
            all.entry(walk.template.resource).or_insert_with(|| elements(program, walk.template.resource));
        }
        Shown(all)
    }

    fn element(&self, walk: &Walk, side: Side) -> Result<&Value, String> {
        let key = text(&walk.fields(side)[&walk.key]);
        let is_it = |element: &&Value| walk.key.is_empty() || text(&element[&walk.key]) == key;
        self.0[walk.template.resource].iter().find(is_it).ok_or(format!("no {key}"))
    }
}

/// A field as a command has it: of a list its items.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// What the attribute may hold, and it is no default.
fn sample(attribute: &Value) -> String {
    let documented = attribute["documented_default"].as_str().unwrap_or_default().trim_matches('"');
    let mut defaults = vec![text(&attribute["default"]), documented.to_owned()];
    defaults
        .extend(attribute["default_by_type"].as_object().into_iter().flatten().map(|(_, value)| text(value)));
    let is_free = |value: &String| !defaults.contains(value) && value != "0";
    let low = attribute["min"].as_u64().unwrap_or(1);
    match attribute["kind"].as_str().unwrap() {
        "word" | "words" => list(&attribute["words"]).iter().map(text).find(is_free).unwrap(),
        "flag" => "true".to_owned(),
        "number" | "numbers" | "port" | "port_or_any" => {
            (low..low + 9).map(|number| number.to_string()).find(is_free).unwrap()
        }
        "time" => (attribute["default"].as_str().and_then(|text| text.parse().ok()))
            .or(attribute["default"].as_u64())
            .map_or(1, |default: u64| default + 1)
            .to_string(),
        "ip" | "ips" | "ip_or_any" | "host" => "192.0.2.77".to_owned(),
        "status_codes" => "204".to_owned(),
        "expression" => "true".to_owned(),
        "secret" => SECRET.to_owned(),
        "field_name" | "text" | "texts" | "name" | "names" => "x1".to_owned(),
        other => panic!("{other} is a kind without a sample"),
    }
}

/// What cannot be walked as an object has its test elsewhere, and what no command gives a new object is an argument of an
/// action or of a binding.
fn every_resource_that_changes_is_walked_or_said_why_not() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let (_, all) = program.owner_raw("GET", "/schema", "", b"");
    for name in list(&all["schema"]).iter().map(|line| line["name"].as_str().unwrap()) {
        let schema = schema(&program, name);
        if list(&schema["operations"]).is_empty() {
            continue;
        }
        let template = TEMPLATES.iter().find(|template| template.resource == name);
        let is_elsewhere = name.ends_with("_binding") || ELSEWHERE.iter().any(|(of, _)| *of == name);
        assert_ne!(template.is_some(), is_elsewhere, "{name} is walked, or it is said why not");
        let Some(verb) = template.and_then(|template| template.line.split(' ').next()) else { continue };
        let given = list(&schema["attributes"]).iter().filter(|a| a.get("given_by").is_some());
        let arguments: Vec<String> = given.filter(|a| !gives(a, verb)).map(|a| text(&a["name"])).collect();
        let expected = ARGUMENTS.iter().find(|(of, _)| *of == name).map_or("", |(_, names)| names);
        assert_eq!(arguments.join(" "), expected, "{name}");
    }
}

/// What attributes of others name.
const FIRST: &str = "enable ns feature LB CS\nadd lb vserver spare HTTP\nadd cs vserver other HTTP\n\
    add cs action act -targetLBVserver spare";
/// No part of any other word.
const SECRET: &str = "hidden1";

const fn template(resource: &'static str, line: &'static str, body: &'static str) -> Template {
    Template { resource, before: "", line, body }
}

/// Of several of a resource the first walks what no other has among its words.
const TEMPLATES: &[Template] = &[
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
    template("lbparameter", "set lb parameter", "{}"),
    template("nsparam", "set ns param", "{}"),
    template("nsconfig", "set ns config", "{}"),
    template("nsspparams", "set ns spParams", "{}"),
    template("nshostname", "set ns hostName box -ownerNode 1", r#"{"hostname": "box", "ownernode": 1}"#),
];
const VSERVERS: &[&str] = &["lbvserver", "csvserver"];
const WITH_CIP: &[&str] = &["service", "servicegroup", "nsparam", "nsconfig"];
/// Attributes whose value names another object, or is the second word of an option: the words, and the other fields.
const SPECIAL: &[(&[&str], &str, &str, &str)] = &[
    (WITH_CIP, "cipheader", "-cip ENABLED x1", "cip"),
    (VSERVERS, "vipheader", "-insertVserverIPPort VIPADDR x1", "insertvserveripport"),
    (&["lbvserver"], "newservicerequestunit", "-newServiceRequest 20 PERCENT", "newservicerequest"),
    (&["lbvserver"], "backupvserver", "-backupVServer spare", ""),
    (&["csvserver"], "backupvserver", "-backupVServer other", ""),
    (&["cspolicy"], "action", "-rule true -action act", "rule"),
    (&["csaction"], "targetlbvserver", "-targetLBVserver spare", ""),
    (&["csaction"], "targetvserver", "-targetVserver spare", ""),
];
/// Attributes that do not walk, and why.
const STAY: &[(&str, &str, &str)] =
    &[("sslvserver", "vservername", "nothing is set by it alone; every other attribute goes by it")];
const STAY_OF_NS_CONFIG: &[(&str, &str, &str)] = &[(
    "nsconfig",
    "useproxyport internaluserlogin aftpallowrandomsourceport icaports tcpcip servicepathingressvlan secureicaports \
    mgmthttpport mgmthttpsport proxyprotocol advancedanalyticsstats ipttl",
    "the reference's nsconfig has no such field: nsparam shows it",
)];
/// Resources that are not objects with attributes of their own, or need files; beside all bindings.
const ELSEWHERE: &[(&str, &str)] = &[
    ("nsfeature", "words that are switched on and off"),
    ("nsmode", "words that are switched on and off"),
    ("hanode", "there is one partner, and the other is this host"),
    ("sslcertkey", "its files must be there"),
];
/// What only actions take, or what sets a member or a binding.
const ARGUMENTS: &[(&str, &str)] = &[
    ("server", "domainresolvenow delay graceful newname"),
    ("service", "ipaddress weight riseapbrstatsmsgcode delay graceful newname monitor_name"),
    (
        "servicegroup",
        "servername port weight customserverid hashid riseapbrstatsmsgcode delay graceful newname ip \
        nameserver dbsttl order monitor_name",
    ),
    ("lbvserver", "weight servicename newname"),
    ("lbmonitor", "metric metricthreshold metricweight servicename"),
    ("lbgroup", "newname"),
    ("csvserver", "domainname ttl backupip cookiedomain cookietimeout sitedomainttl newname"),
    ("cspolicy", "newname"),
    ("csaction", "newname"),
];
