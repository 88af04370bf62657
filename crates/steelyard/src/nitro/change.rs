//! What changes a configuration: NITRO's verbs and bodies to commands (`spec/nitro.md` 3, 5, 7), and the save.
//!
//! Owns how NITRO's resources and names map to commands. Never decides what a command does: that is the core's.

use std::collections::BTreeSet;

use hyper::{Method, StatusCode};
use serde_json::{Map, Value};
use steelyard_core::command::{Command, Level, Object, Refusal, Verb};

use super::documented::Section;
use super::query::Query;
use super::reply::Reply;
use super::resource::{Change, Resource};
use super::row::Row;
use crate::report::Report;
use crate::state::State;

/// A request as the path, the query and the body have it.
pub struct Asked<'r> {
    /// Its verb.
    pub method: &'r Method,
    /// The resource that its path names.
    pub resource: &'static Resource,
    /// What of it the path names.
    pub id: Option<&'r str>,
    /// Its query.
    pub query: Query<'r>,
    /// Its body.
    pub body: &'r [u8],
}

/// Carries a request out that changes something.
pub async fn answer(asked: &Asked<'_>, state: &State, report: &Report) -> Reply {
    let action = asked.query.get("action").unwrap_or_default();
    let Some(change) = &asked.resource.change else { return Reply::wrong_verb() };
    if change.object == Object::NsConfig && *asked.method == Method::POST {
        match &*action {
            "save" => return save(state).await,
            "clear" => return clear(asked, state, report),
            "diff" => return diff(asked, state).await,
            _ => {}
        }
    }
    match verb(change, asked.method, &action).and_then(|verb| commands(asked, change, verb)) {
        Ok(commands) => carry_out(commands, asked, state, report),
        Err(reply) => reply,
    }
}

fn carry_out(commands: Vec<Command>, asked: &Asked<'_>, state: &State, report: &Report) -> Reply {
    match state.carry_out(commands) {
        Err((_, refusal)) => refused(&refusal),
        Ok(changed) => {
            changed.lines.into_iter().for_each(|line| report.err(format!("steelyard: {line}")));
            match changed.warnings.first().filter(|_| asked.query.says_yes("warning")) {
                Some(warning) => Reply::warning(warning.code(), &warning.to_string()),
                None if *asked.method == Method::POST && asked.query.get("action").is_none() => {
                    Reply::created()
                }
                None => Reply::done(),
            }
        }
    }
}

async fn save(state: &State) -> Reply {
    match state.save().await {
        Ok(Some(_)) => Reply::done(),
        Ok(None) => {
            Reply::error(StatusCode::FORBIDDEN, 257, "Operation not permitted [nothing is saved here]")
        }
        Err(not_saved) => {
            let text = format!("Configuration not saved, the one saved before is as it was [{not_saved}]");
            Reply::netscaler_error(1239, &text)
        }
    }
}

fn clear(asked: &Asked<'_>, state: &State, report: &Report) -> Reply {
    let object = match whole_configuration(asked) {
        Ok(object) => object,
        Err(reply) => return reply,
    };
    let Some(word) = object.get("level").and_then(Value::as_str) else {
        return Reply::error(StatusCode::BAD_REQUEST, 1095, "Required argument missing [level]");
    };
    let Some(level) = Level::of(word) else {
        return Reply::error(StatusCode::BAD_REQUEST, 1097, "Invalid argument value [level]");
    };
    state.clear(level).into_iter().for_each(|line| report.err(format!("steelyard: {line}")));
    Reply::done()
}

/// Lines that only the saved configuration has, then those that only the running one has. Files of the client's choice
/// are not compared.
async fn diff(asked: &Asked<'_>, state: &State) -> Reply {
    match whole_configuration(asked) {
        Ok(object) if object.contains_key("config1") || object.contains_key("config2") => {
            return Reply::netscaler_error(301, "Operation not supported [config1, config2]");
        }
        Ok(_) => {}
        Err(reply) => return reply,
    }
    match state.printed_of_files().await {
        Ok(saved) => {
            let (saved, running) = (saved.unwrap_or_default(), state.printed().ns_conf);
            let only = |one: &str, other: &str, sign| -> String {
                let other: BTreeSet<&str> = other.lines().collect();
                one.lines().filter(|l| !other.contains(l)).map(|l| format!("{sign} {l}\n")).collect()
            };
            let text = only(&saved, &running, '-') + &only(&running, &saved, '+');
            {
                let mut row = Row::new(Section::Config, "nsconfig");
                row.text("response", text);
                Reply::with_resource("nsconfig", &row)
            }
        }
        Err(fault) => Reply::failed(&fault),
    }
}

/// The body of an action on the whole configuration; clients send none where it needs nothing.
fn whole_configuration(asked: &Asked<'_>) -> Result<Map<String, Value>, Reply> {
    Ok(objects(asked)?.pop().unwrap_or_default())
}

fn verb(change: &Change, method: &Method, action: &str) -> Result<Verb, Reply> {
    let found = match (method.as_str(), action) {
        ("POST" | "PUT", "") if change.binds => Verb::Bind,
        ("DELETE", "") if change.binds => Verb::Unbind,
        ("POST", "") => Verb::Add,
        ("PUT", "") => Verb::Set,
        ("DELETE", "") => Verb::Rm,
        ("POST", "enable") => Verb::Enable,
        ("POST", "disable") => Verb::Disable,
        ("POST", "unset") => Verb::Unset,
        ("POST", "rename") => Verb::Rename,
        ("POST", _) => {
            return Err(Reply::error(StatusCode::BAD_REQUEST, 1240, "Invalid nitro action or operation"));
        }
        _ => return Err(Reply::wrong_verb()),
    };
    Ok(found)
}

/// A command for each object of the body, in its order.
fn commands(asked: &Asked<'_>, change: &Change, verb: Verb) -> Result<Vec<Command>, Reply> {
    let objects = objects(asked)?;
    let ids = asked.query.pairs("args");
    let command = |object: &Map<String, Value>| {
        let mut fields = fields(change, object)?;
        let known = |fields: &[(String, Vec<String>)], name: &str| fields.iter().any(|(n, _)| n == name);
        for (name, value) in &ids {
            let name = change.row(name);
            if !known(&fields, &name) {
                fields.push((name, vec![value.clone()]));
            }
        }
        if let Some(id) = asked.id.filter(|_| !known(&fields, asked.resource.key)) {
            fields.push((asked.resource.key.to_owned(), vec![id.to_owned()]));
        }
        let words: Vec<Vec<&str>> =
            fields.iter().map(|(_, words)| words.iter().map(String::as_str).collect()).collect();
        let given: Vec<(&str, &[&str])> =
            fields.iter().zip(&words).map(|((name, _), words)| (name.as_str(), &words[..])).collect();
        Command::new(verb, change.object, &given).map_err(|refusal| refused(&refusal))
    };
    objects.iter().map(command).collect()
}

/// The objects under the resource's key; one without any field where there is no body. Others of the keys that clients
/// send beside it say nothing about them.
fn objects(asked: &Asked<'_>) -> Result<Vec<Map<String, Value>>, Reply> {
    let resource = asked.resource;
    let bad = |code, text: &str| Reply::error(StatusCode::BAD_REQUEST, code, text);
    let body = asked.body.trim_ascii();
    if body.is_empty() {
        return Ok(vec![Map::new()]);
    }
    let value: Value =
        serde_json::from_slice(body).map_err(|error| bad(1233, &format!("Invalid JSON input [{error}]")))?;
    let Value::Object(mut all) = value else { return Err(bad(1233, "Invalid JSON input")) };
    let missing = || bad(1095, &format!("Required argument missing [{}]", resource.name));
    let found = all.keys().find(|key| key.eq_ignore_ascii_case(resource.name)).cloned();
    let wrong = || bad(1234, &format!("Invalid JSON data type [{}]", resource.name));
    match all.remove(&found.ok_or_else(missing)?) {
        Some(Value::Object(object)) => Ok(vec![object]),
        Some(Value::Array(rows)) if !rows.is_empty() && rows.len() <= MOST_AT_ONCE => rows
            .into_iter()
            .map(|row| if let Value::Object(object) = row { Ok(object) } else { Err(wrong()) })
            .collect(),
        _ => Err(wrong()),
    }
}

/// Each field by its row's name, and its words.
fn fields(change: &Change, object: &Map<String, Value>) -> Result<Vec<(String, Vec<String>)>, Reply> {
    let mut out = Vec::new();
    for (name, value) in object.iter().filter(|(name, _)| !is_unit_of_one(name, object)) {
        let row = change.row(name);
        let Some(mut words) = words(change.object, value).map_err(|()| wrong_type(name))? else { continue };
        if let Some(unit) = UNITS.iter().find(|(of, _)| *of == row).and_then(|(_, unit)| object.get(*unit)) {
            words.extend(unit.as_str().map(str::to_owned));
        }
        out.push((row, words));
    }
    Ok(out)
}

/// The words of a value; `None` of one that is not given: null, or a flag that is false. Features and modes come as a list
/// or as one text.
fn words(object: Object, value: &Value) -> Result<Option<Vec<String>>, ()> {
    let one = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(()),
    };
    Ok(match value {
        Value::Null | Value::Bool(false) => None,
        Value::Bool(true) => Some(Vec::new()),
        Value::Array(items) => Some(items.iter().map(one).collect::<Result<_, _>>()?),
        Value::Object(_) => return Err(()),
        Value::String(text) if matches!(object, Object::NsFeature | Object::NsMode) => {
            Some(text.split_ascii_whitespace().map(str::to_owned).collect())
        }
        value => Some(vec![one(value)?]),
    })
}

fn wrong_type(field: &str) -> Reply {
    Reply::error(StatusCode::BAD_REQUEST, 1234, &format!("Invalid JSON data type [{field}]"))
}

/// Units are fields of their own here and words behind the value in a command.
fn is_unit_of_one(name: &str, object: &Map<String, Value>) -> bool {
    UNITS.iter().any(|(of, unit)| *unit == name && object.contains_key(*of))
}

impl Change {
    /// The row's name of what a client calls `field`.
    fn row(&self, field: &str) -> String {
        let field = field.to_ascii_lowercase();
        let renamed = self.renamed.iter().find(|(from, _)| *from == field);
        renamed.map_or(field, |(_, to)| (*to).to_owned())
    }
}

/// `spec/nitro.md` 6. An unknown field of a body has another code than an unknown option of a command line.
fn refused(refusal: &Refusal) -> Reply {
    if let Refusal::UnknownArgument { word, .. } = refusal {
        return Reply::netscaler_error(278, &format!("Invalid argument [{word}]"));
    }
    let (code, text) = (refusal.code(), refusal.message());
    match code {
        273 | 1335 => Reply::error(StatusCode::CONFLICT, code.into(), &text),
        258 | 344 | 461 | 462 | 463 => Reply::error(StatusCode::NOT_FOUND, code.into(), &text),
        257 => Reply::error(StatusCode::FORBIDDEN, code.into(), &text),
        1075 | 1088..=1119 => Reply::error(StatusCode::BAD_REQUEST, code.into(), &text),
        _ => Reply::netscaler_error(code, &text),
    }
}

/// NITRO's names of a time and of its unit.
const UNITS: &[(&str, &str)] =
    &[("deviation", "units1"), ("downtime", "units2"), ("interval", "units3"), ("resptimeout", "units4")];
/// Objects in one body.
const MOST_AT_ONCE: usize = 10_000;
