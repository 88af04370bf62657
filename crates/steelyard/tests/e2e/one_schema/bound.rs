//! What is bound: each attribute of each resource of bindings goes from a line to NITRO, back in a request, and through a
//! saved file; and what was bound by a request is unbound by one.

use std::collections::{BTreeMap, BTreeSet};

use libtest_mimic::Trial;
use serde_json::{Value, json};

use super::cases::{CASES, Case, FIRST, OF_GROUPS};
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
        let others = OF_GROUPS.iter().find(|(of, _)| *of == taker).map_or("", |(_, names)| names);
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

    /// The one element that shows it, which has each of its fields that the reference has; nothing where nothing shows it.
    fn check(&self, program: &Program, side: Side) -> Result<Option<Value>, String> {
        match &elements(program, &self.path(side))[..] {
            [] if !self.is_shown => Ok(None),
            [element] if self.is_shown => {
                let fields = self.fields(side);
                let is_wrong = |(name, given): &(&String, &Value)| {
                    self.attributes[*name].get("type").is_some() && text(&element[*name]) != text(given)
                };
                match fields.as_object().unwrap().iter().find(is_wrong) {
                    None => Ok(Some(element.clone())),
                    Some((name, given)) => Err(format!("{name} is no {given}: {element}")),
                }
            }
            others => Err(format!("{side:?}: {others:#?}")),
        }
    }

    /// Binds the same to the copy, all but names as it was shown.
    fn give_back(&self, program: &Program, element: Option<Value>) {
        let mut fields = self.fields(Side::Copy);
        for (name, value) in self.fields(Side::Given).as_object().unwrap() {
            if fields[name] == *value
                && let Some(shown) = element.as_ref().and_then(|element| element.get(name))
            {
                fields[name] = shown.clone();
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
