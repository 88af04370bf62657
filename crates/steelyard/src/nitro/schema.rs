//! `GET /nitro/v1/schema[/OBJECT]`: what the attributes of each resource are, for forms and for descriptions of NITRO.
//!
//! Owns the shape of that answer. What it says comes from the core's rows, which commands go by, and from the reference.

use serde_json::{Map, Value as Plain, json};
use steelyard_core::command::{DEPENDENCIES, Described, Taken, Verb, described, taken};
use steelyard_core::config::attribute::{Effect, Kind, Row as Attribute, Value};

use super::change::WHOLE;
use super::config;
use super::documented::{Documented, Field, Json, Section};
use super::reply::Reply;
use super::resource::Resource;
use super::row::Row;

/// Every resource in a line each, or all about one.
pub fn answer(name: Option<&str>) -> Reply {
    match name {
        None => Reply::list(&["schema"], &config::RESOURCES.iter().map(line).collect::<Vec<_>>()),
        Some(name) => match config::RESOURCES.iter().find(|r| r.name.eq_ignore_ascii_case(name)) {
            Some(resource) => Reply::list(&["schema"], &[whole(resource)]),
            None => Reply::no_object(name),
        },
    }
}

fn line(resource: &Resource) -> Row {
    let mut row = Row::new(Section::Config, "schema");
    row.text("name", resource.name);
    if !resource.key.is_empty() {
        row.text("key", resource.key);
    }
    row.texts("methods", resource.allowed().split(", ").map(str::to_owned));
    let actions = operations(resource).into_iter().filter_map(|operation| operation.action);
    let of_all = if resource.name == "nsconfig" { WHOLE } else { &[] };
    row.texts("actions", actions.chain(of_all.iter().copied()).map(str::to_owned));
    row
}

fn whole(resource: &Resource) -> Row {
    let mut row = line(resource);
    let operations = operations(resource);
    if resource.change.is_some() {
        let told = operations.iter().map(Operation::told).collect();
        row.plain("operations", Plain::Array(told));
    }
    row.plain("attributes", Plain::Array(attributes(resource, &operations)));
    row
}

/// A request that changes something, and what it takes.
struct Operation {
    name: &'static str,
    method: &'static str,
    action: Option<&'static str>,
    taken: Taken,
}

fn operations(resource: &Resource) -> Vec<Operation> {
    let Some(change) = &resource.change else { return Vec::new() };
    let of = if change.binds { OF_BINDINGS } else { OF_OBJECTS };
    let operation = |(verb, method, action): &(Verb, &'static str, Option<&'static str>)| {
        let taken = taken(*verb, change.object)?;
        Some(Operation { name: verb.text(), method, action: *action, taken })
    };
    of.iter().filter_map(operation).collect()
}

impl Operation {
    fn told(&self) -> Plain {
        let (mut required, mut optional) = (Vec::new(), Vec::new());
        for row in self.taken.rows() {
            let list = if self.taken.is_required(row) { &mut required } else { &mut optional };
            list.push(row.nitro);
        }
        let mut told =
            json!({"name": self.name, "method": self.method, "required": required, "optional": optional});
        if let Some(action) = self.action {
            told["action"] = json!(action);
        }
        told
    }
}

/// Those of the reference in its order, then those that only commands know, or know by another name.
fn attributes(resource: &Resource, operations: &[Operation]) -> Vec<Plain> {
    let documented = Documented::find(Section::Config, resource.name);
    let own = resource.change.as_ref().map(|change| described(change.object)).unwrap_or_default();
    let about = |row: &Attribute| own.iter().find(|described| described.row == row);
    let mut all = Vec::new();
    let mut told: Vec<&str> = Vec::new();
    for field in documented.iter().flat_map(|documented| &documented.fields) {
        let row = row_of(resource, operations, field.name);
        told.push(field.name);
        all.push(attribute(resource, operations, field.name, (Some(field), row, row.and_then(about))));
    }
    for row in operations.iter().flat_map(|operation| operation.taken.rows()) {
        if !told.contains(&row.nitro) {
            told.push(row.nitro);
            all.push(attribute(resource, operations, row.nitro, (None, Some(row), about(row))));
        }
    }
    all
}

/// The row that a field of the reference stands for: one of that name, or else one that has several names in NITRO.
fn row_of(resource: &Resource, operations: &[Operation], field: &str) -> Option<&'static Attribute> {
    let name = resource.change.as_ref()?.row(field);
    let mut rows = operations.iter().flat_map(|operation| operation.taken.rows());
    let other = || operations.iter().find_map(|operation| operation.taken.row_of_nitro(&name));
    rows.find(|row| row.nitro == name).or_else(other)
}

/// Of the reference, of commands, and what the object itself has of it.
type Sources<'a> = (Option<&'a Field>, Option<&'static Attribute>, Option<&'a Described>);

fn attribute(resource: &Resource, operations: &[Operation], name: &str, sources: Sources<'_>) -> Plain {
    let (field, row, own) = sources;
    let mut told = Map::new();
    told.insert("name".to_owned(), json!(name));
    if let Some(field) = field {
        for (key, value) in [
            ("type", field.kind),
            ("access", field.access),
            ("documented_values", field.values),
            ("documented_default", field.default),
        ] {
            if !value.is_empty() {
                told.insert(key.to_owned(), json!(value));
            }
        }
    }
    if let Some(row) = row {
        of_row(resource, name, row, &mut told);
        let by = operations.iter().filter(|operation| operation.taken.rows().any(|known| known == row));
        told.insert("given_by".to_owned(), json!(by.map(|operation| operation.name).collect::<Vec<_>>()));
        depends(resource, row, own, &mut told);
    }
    if let Some(of) = unit_of(operations, name) {
        told.insert("unit_of".to_owned(), json!(of));
        told.insert("words".to_owned(), json!(UNITS));
    }
    if let (Some(row), Some(own)) = (row, own) {
        defaults(resource, row, own, &mut told);
    }
    Plain::Object(told)
}

fn of_row(resource: &Resource, name: &str, row: &Attribute, told: &mut Map<String, Plain>) {
    let (kind, more) = kind(&row.kind);
    let number = || Documented::find(Section::Config, resource.name).and_then(|d| d.number(name));
    let json = match row.kind {
        Kind::Bare => "boolean",
        _ if is_list(&row.kind) => "array",
        Kind::Number { .. } | Kind::Port { .. } | Kind::PortOrAny { .. } | Kind::Span { .. }
            if number() == Some(Json::Number) =>
        {
            "number"
        }
        _ => "string",
    };
    let effect = match row.effect {
        Effect::Acts => "acts",
        Effect::Inert => "inert",
        Effect::Traffic => "traffic",
        Effect::Exposure => "exposure",
    };
    for (key, value) in
        [("option", row.cli), ("kind", kind), ("json", json), ("effect", effect), ("help", row.help)]
    {
        told.insert(key.to_owned(), json!(value));
    }
    told.extend(more.into_iter().map(|(key, value)| (key.to_owned(), value)));
}

/// What a row may hold: the kind's name, and its bounds.
fn kind(kind: &Kind) -> (&'static str, Vec<(&'static str, Plain)>) {
    let range = |min: u32, max: u32| vec![("min", json!(min)), ("max", json!(max))];
    match kind {
        Kind::Name => ("name", Vec::new()),
        Kind::Names => ("names", Vec::new()),
        Kind::Host => ("host", Vec::new()),
        Kind::IpOrDomain => ("ip_or_domain", Vec::new()),
        Kind::Text { max } => ("text", vec![("max_length", json!(max))]),
        Kind::Texts { max } => ("texts", vec![("max_length", json!(max))]),
        Kind::FieldName => ("field_name", Vec::new()),
        Kind::Number { min, max } => ("number", range(*min, *max)),
        Kind::Numbers { min, max } => ("numbers", range(*min, *max)),
        Kind::Span { max, floor_ms, unit } => {
            ("time", vec![("max", json!(max)), ("min_ms", json!(floor_ms)), ("unit", json!(unit))])
        }
        Kind::Word(words) | Kind::WordList(words) => {
            let name = if matches!(kind, Kind::Word(_)) { "word" } else { "words" };
            let mut more = vec![("words", json!(words.carried))];
            if !words.not_carried.is_empty() {
                more.push(("words_not_carried", json!(words.not_carried)));
            }
            (name, more)
        }
        Kind::Switch => ("word", vec![("words", json!(["ENABLED", "DISABLED"]))]),
        Kind::YesNo => ("word", vec![("words", json!(["YES", "NO"]))]),
        Kind::OnOff => ("word", vec![("words", json!(["ON", "OFF"]))]),
        Kind::Bare => ("flag", Vec::new()),
        Kind::Ip => ("ip", Vec::new()),
        Kind::IpOrAny => ("ip_or_any", Vec::new()),
        Kind::Ips => ("ips", Vec::new()),
        Kind::Port { min } => ("port", range((*min).into(), u16::MAX.into())),
        Kind::PortOrAny { min } => ("port_or_any", range((*min).into(), u16::MAX.into())),
        Kind::Codes => ("status_codes", Vec::new()),
        Kind::Expression { .. } => ("expression", Vec::new()),
        Kind::Secret => ("secret", Vec::new()),
    }
}

fn is_list(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Names | Kind::Texts { .. } | Kind::Numbers { .. } | Kind::WordList(_) | Kind::Ips | Kind::Codes
    )
}

/// The attribute whose unit a field is.
fn unit_of(operations: &[Operation], field: &str) -> Option<&'static str> {
    let mut rows = operations.iter().flat_map(|operation| operation.taken.rows());
    rows.find(|row| matches!(row.kind, Kind::Span { unit, .. } if unit == field)).map(|row| row.nitro)
}

fn depends(resource: &Resource, row: &Attribute, own: Option<&Described>, told: &mut Map<String, Plain>) {
    let Some(change) = &resource.change else { return };
    let of = DEPENDENCIES.iter().filter(|d| d.object == change.object && d.attribute == row.nitro);
    for dependency in of {
        for (key, names) in [("needs", dependency.needs), ("excludes", dependency.excludes)] {
            if !names.is_empty() {
                told.insert(key.to_owned(), json!(names));
            }
        }
    }
    if let Some(own) = own.filter(|own| !own.types.is_empty()) {
        told.insert("types".to_owned(), json!(own.types));
    }
    if let Some(own) = own.filter(|own| !own.types_by_word.is_empty()) {
        let by_word = own.types_by_word.iter().map(|(word, types)| ((*word).to_owned(), json!(types)));
        told.insert("types_by_word".to_owned(), Plain::Object(by_word.collect()));
    }
}

/// As a GET shows them.
fn defaults(resource: &Resource, row: &'static Attribute, own: &Described, told: &mut Map<String, Plain>) {
    let shown = |value: &Value| {
        let mut shown = Row::new(Section::Config, resource.name);
        shown.attribute(row.nitro, &row.kind, value);
        shown.into_fields()
    };
    if let Some(value) = &own.default {
        let mut fields = shown(value).into_iter();
        told.extend(fields.next().map(|(_, value)| ("default".to_owned(), value)));
        told.extend(fields.next().map(|(_, unit)| ("default_unit".to_owned(), unit)));
    }
    if !own.by_type.is_empty() {
        let of = own
            .by_type
            .iter()
            .filter_map(|(of, value)| Some(((*of).to_owned(), shown(value).into_iter().next()?.1)));
        told.insert("default_by_type".to_owned(), Plain::Object(of.collect()));
    }
}

/// Each by the command that it stands for.
const OF_OBJECTS: &[(Verb, &str, Option<&str>)] = &[
    (Verb::Add, "POST", None),
    (Verb::Set, "PUT", None),
    (Verb::Rm, "DELETE", None),
    (Verb::Unset, "POST", Some("unset")),
    (Verb::Enable, "POST", Some("enable")),
    (Verb::Disable, "POST", Some("disable")),
    (Verb::Rename, "POST", Some("rename")),
    (Verb::Link, "POST", Some("link")),
    (Verb::Unlink, "POST", Some("unlink")),
    (Verb::Update, "POST", Some("update")),
];
/// Of every time, SEC where nothing is said.
const UNITS: [&str; 3] = ["SEC", "MSEC", "MIN"];
const OF_BINDINGS: &[(Verb, &str, Option<&str>)] =
    &[(Verb::Bind, "PUT", None), (Verb::Unbind, "DELETE", None)];
