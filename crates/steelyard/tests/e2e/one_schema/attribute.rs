//! An attribute of an object on its way: given in a line, shown, given back in a request.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::templates::{CIPHER_TEXT, SPECIAL, TEMPLATES, Template};
use super::{SECRET, Side, gives, list, schema, text};
use crate::program::Program;
use crate::shown::elements;

/// An attribute on its way.
pub struct Walk {
    pub template: &'static Template,
    attribute: Value,
    /// Name of the field that objects are known by; empty where there is one of them.
    key: String,
    nth: usize,
    /// The words after those of the template.
    pub tail: String,
    value: String,
    /// Fields that it cannot be given without.
    with: Vec<String>,
}

/// Every attribute of the templates that are wanted.
pub fn walks(program: &Program, is_wanted: impl Fn(&Template) -> bool) -> Vec<Walk> {
    let mut walks: Vec<Walk> = Vec::new();
    for template in TEMPLATES.iter().filter(|template| is_wanted(template)) {
        let (schema, fields) = (schema(program, template.resource), template.fields());
        let verb = template.verb();
        let of_resource = || TEMPLATES.iter().filter(|other| other.resource == template.resource);
        let mut of_verb = of_resource().filter(|other| other.verb() == verb);
        let is_first = of_verb.next().is_some_and(|first| std::ptr::eq(first, template));
        for attribute in list(&schema["attributes"]).iter().filter(|attribute| gives(attribute, verb)) {
            let name = attribute["name"].as_str().unwrap();
            let is_own = fields.get(name).is_some();
            let is_told = walks.iter().any(|walk| walk.is(template.resource, name));
            let is_others = !is_own && of_resource().any(|other| other.fields().get(name).is_some());
            if !is_told && !is_others && (is_own || is_first) {
                let key =
                    schema["key"].as_str().filter(|_| !template.is_of_one()).unwrap_or_default().to_owned();
                walks.push(Walk::new(template, attribute, key, walks.len()));
            }
        }
    }
    walks
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

    pub fn title(&self) -> String {
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

    /// Of hosts there are few.
    fn own_number(&self, side: Side) -> String {
        let half = if side == Side::Given { 1 } else { 33 };
        (half + self.nth % 32).to_string()
    }

    pub fn filled(&self, template: &str, side: Side) -> String {
        let kind = self.attribute["types"][0].as_str().unwrap_or("HTTP");
        template
            .replace("<name>", &self.own_name(side))
            .replace("<address>", &self.own_address(side))
            .replace("<number>", &self.own_number(side))
            .replace("<type>", kind)
    }

    fn fields(&self, side: Side) -> Value {
        serde_json::from_str(&self.filled(self.template.body, side)).unwrap()
    }

    fn is_hidden(&self) -> bool {
        self.attribute["kind"] == "secret" || self.is_cipher_text()
    }

    fn is_cipher_text(&self) -> bool {
        CIPHER_TEXT.contains(&(self.template.resource, self.name()))
    }

    pub fn is_shown(&self, shown: &Shown, side: Side) -> Result<(), String> {
        let element = shown.element(self, side)?;
        let given = self.fields(side).get(self.name()).map_or(self.value.clone(), text);
        match (element.get(self.name()), self.is_hidden()) {
            (None, true) => Ok(()),
            (Some(value), false) if text(value) == given => Ok(()),
            (value, _) => Err(format!("{value:?}, and {given} was given")),
        }
    }

    /// Makes a new object of what is shown; what there is one of is first put back to its default.
    pub fn give_back(&self, program: &Program, shown: &Shown) -> Result<(), String> {
        let element = shown.element(self, Side::Given)?;
        let mut fields = self.fields(Side::Copy);
        let is_own = fields.get(self.name()).is_some();
        let more =
            Some(self.name()).filter(|_| !is_own).into_iter().chain(self.with.iter().map(String::as_str));
        for name in more.filter(|name| fields.get(name).is_none()).collect::<Vec<_>>() {
            fields[name] = if self.is_hidden() { json!(self.value) } else { element[name].clone() };
        }
        let resource = self.template.resource;
        let ask = |method: &str, path: &str, fields: Value| {
            let (status, answer) = program.owner(method, path, Some(&json!({resource: fields})));
            if status.contains(" 20") { Ok(()) } else { Err(answer.to_string()) }
        };
        if self.key.is_empty() && !is_own {
            ask("POST", &format!("{resource}?action=unset"), json!({self.name(): true}))?;
        }
        match self.template.verb() {
            "add" => ask("POST", resource, fields),
            "set" => ask("PUT", resource, fields),
            action => ask("POST", &format!("{resource}?action={action}"), fields),
        }
    }

    /// The copy's lines are the given object's but for name and address. What there is one of has the lines of before.
    pub fn has_the_same_lines(&self, before: &str, running: &str) -> Result<(), String> {
        let sorted = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
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
        let (name, address, number) = (self.own_name(side), self.own_address(side), self.own_number(side));
        let is_numbered = self.template.line.contains("<number>");
        let plain = |word: &str| match word {
            _ if word == address => "<address>".to_owned(),
            _ if is_numbered && word == number => "<number>".to_owned(),
            _ => word.replace(&name, "<name>"),
        };
        let plain = |line: &str| line.split(' ').map(plain).collect::<Vec<_>>().join(" ");
        let is_own = |line: &&str| line.contains(&name) || line.split(' ').any(|word| word == address);
        running.lines().filter(is_own).map(plain).collect()
    }
}

/// What a GET of each resource showed.
pub struct Shown(BTreeMap<&'static str, Vec<Value>>);

impl Shown {
    pub fn of(program: &Program, walks: &[Walk]) -> Shown {
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
