//! One schema: every attribute that `GET /nitro/v1/schema` tells of goes from ns.conf to NITRO, back as a new object, and
//! through a saved file, and is the same everywhere. So does what is bound, and what is switched on and off.

mod attribute;
mod bound;
mod cases;
mod switched;
mod templates;

use std::collections::BTreeMap;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::Program;
use attribute::{Shown, Walk, walks};
use templates::{OF_ACTIONS, STAY, STAY_OF_NS_CONFIG, TEMPLATES, Template};

pub fn trials() -> Vec<Trial> {
    let own = trials![
        every_attribute_walks_through_text_and_nitro_and_back,
        attributes_of_the_second_name_of_ns_param_walk,
        every_resource_that_changes_is_walked,
    ];
    own.into_iter().chain(bound::trials()).chain(switched::trials()).collect()
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
#[derive(Clone, Copy, Debug, PartialEq)]
enum Side {
    Given,
    Copy,
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

/// A field as a command has it: of a list its items.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// What no command gives a new object is an argument of an action, or is bound to it.
fn every_resource_that_changes_is_walked() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let (_, all) = program.owner_raw("GET", "/schema", "", b"");
    let names: Vec<String> = list(&all["schema"]).iter().map(|line| text(&line["name"])).collect();
    let names_of = |resource: &str, is_wanted: &dyn Fn(&Value) -> bool| -> Vec<String> {
        let schema = schema(&program, resource);
        let given = list(&schema["attributes"]).iter().filter(|a| a.get("given_by").is_some());
        given.filter(|attribute| is_wanted(attribute)).map(|a| text(&a["name"])).collect()
    };
    for name in &names {
        let operations = schema(&program, name)["operations"].clone();
        let verbs: Vec<&str> =
            TEMPLATES.iter().filter(|template| template.resource == *name).map(Template::verb).collect();
        let is_other = bound::is_walked(name) || switched::is_walked(name);
        assert_eq!(
            list(&operations).is_empty(),
            verbs.is_empty() && !is_other,
            "{name} changes exactly if it is walked"
        );
        if verbs.is_empty() {
            continue;
        }
        let bound: Vec<String> = (names.iter().filter(|other| other.starts_with(&format!("{name}_"))))
            .flat_map(|binding| names_of(binding, &|attribute| gives(attribute, "bind")))
            .collect();
        let mut rest = names_of(name, &|attribute| !verbs.iter().any(|verb| gives(attribute, verb)));
        rest.retain(|attribute| !bound.contains(attribute));
        let expected = OF_ACTIONS.iter().find(|(of, _)| of == name).map_or("", |(_, names)| names);
        assert_eq!(rest.join(" "), expected, "{name}");
    }
}

/// Lines that make what is given, and before them what attributes name.
fn file(walks: &[Walk]) -> String {
    let mut lines = vec![FIRST.to_owned()];
    for walk in walks {
        lines.extend([Side::Given, Side::Copy].map(|side| walk.filled(walk.template.before, side)));
        lines.push(walk.filled(&format!("{} {}", walk.template.line, walk.tail), Side::Given));
    }
    lines.join("\n") + "\n"
}

/// What attributes of others name.
const FIRST: &str = "enable ns feature LB CS\nadd lb vserver spare HTTP\nadd cs vserver other HTTP\n\
    add cs action act -targetLBVserver spare";
/// No part of any other word.
const SECRET: &str = "hidden1";
