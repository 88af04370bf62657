//! One element of an answer: fields in order, each number as the clients of its resource expect it.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr};

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value as Plain, json};
use steelyard_core::config::CodeRange;
use steelyard_core::config::attribute::{Host, Kind, Resource, Span, Value};

use super::documented::{Documented, Json, Section, undocumented};
use super::zero::always_zero;

/// One element of an answer.
pub struct Row {
    section: Section,
    resource: &'static str,
    documented: Option<&'static Documented>,
    fields: Vec<(Cow<'static, str>, Plain)>,
}

impl Row {
    /// Nothing of that resource yet. Each field is given once.
    pub fn new(section: Section, resource: &'static str) -> Row {
        Row { section, resource, documented: Documented::find(section, resource), fields: Vec::new() }
    }

    /// A number; whether it is one in JSON the resource's types say.
    pub fn number(&mut self, name: &'static str, number: u64) -> &mut Row {
        let number = self.json(name, number);
        self.plain(name, number)
    }

    /// Text.
    pub fn text(&mut self, name: &'static str, text: impl Into<String>) -> &mut Row {
        self.plain(name, Plain::String(text.into()))
    }

    /// `true` or `false`.
    pub fn flag(&mut self, name: &'static str, flag: bool) -> &mut Row {
        self.plain(name, json!(flag))
    }

    /// Several texts.
    pub fn texts(&mut self, name: &'static str, texts: impl IntoIterator<Item = String>) -> &mut Row {
        self.plain(name, Plain::Array(texts.into_iter().map(Plain::String).collect()))
    }

    /// Elements of another resource; nothing where there are none (`spec/nitro.md` 4).
    pub fn rows(&mut self, name: &'static str, rows: Vec<Row>) -> &mut Row {
        let of = |row: Row| Plain::Object(row.fields.into_iter().map(|(k, v)| (k.into_owned(), v)).collect());
        match rows.is_empty() {
            true => self,
            false => self.plain(name, Plain::Array(rows.into_iter().map(of).collect())),
        }
    }

    /// Of an attribute that is shown elsewhere too: whatever else its resource has.
    pub fn retain_documented(&mut self) -> &mut Row {
        if let Some(documented) = self.documented {
            self.fields.retain(|(name, _)| documented.has(name));
        }
        self
    }

    /// JSON as it is.
    pub fn plain(&mut self, name: impl Into<Cow<'static, str>>, value: Plain) -> &mut Row {
        self.fields.push((name.into(), value));
        self
    }

    /// 0 for each field of the resource that is always 0.
    pub fn always_zero(&mut self) -> &mut Row {
        let names = always_zero(self.section, self.resource);
        names.iter().fold(self, |row, name| row.number(name, 0))
    }

    /// An address; one that is not set is 0.0.0.0.
    pub fn address(&mut self, name: &'static str, ip: Option<IpAddr>) -> &mut Row {
        self.text(name, ip.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)).to_string())
    }

    /// Each attribute of a resource of the configuration that has a value, by NITRO's name. What is empty has no key
    /// (`spec/nitro.md` 4).
    pub fn attributes<T: Resource>(&mut self, resource: &T) -> &mut Row {
        self.attributes_if(resource, |_| true)
    }

    /// The same, without those that whoever shows the resource says otherwise.
    pub fn attributes_but<T: Resource>(&mut self, resource: &T, others: &[&str]) -> &mut Row {
        self.attributes_if(resource, |name| !others.contains(&name))
    }

    fn attributes_if<T: Resource>(&mut self, resource: &T, shown: impl Fn(&str) -> bool) -> &mut Row {
        for attribute in T::ATTRIBUTES.iter().filter(|attribute| shown(attribute.row.nitro)) {
            if let Some(value) = (attribute.value)(resource) {
                self.attribute(attribute.row.nitro, &attribute.row.kind, &value);
            }
        }
        self
    }

    /// What an attribute holds. What is empty has no key.
    pub fn attribute(&mut self, name: &'static str, kind: &Kind, value: &Value) -> &mut Row {
        match value {
            Value::Text(text) if text.is_empty() => self,
            Value::Codes(codes) if codes.is_empty() => self,
            Value::Text(text) | Value::Host(Host::Server(text)) => self.text(name, text.as_str()),
            Value::Names(names) => self.texts(name, names.iter().cloned()),
            Value::Number(number) => self.number(name, (*number).into()),
            Value::Word(word) => self.text(name, *word),
            Value::WordList(words) => self.texts(name, words.iter().map(|word| (*word).to_owned())),
            Value::Flag(flag) => match flag_words(kind) {
                Some((yes, no)) => self.text(name, if *flag { yes } else { no }),
                None => self.flag(name, *flag),
            },
            Value::Ip(ip) | Value::Host(Host::Ip(ip)) => self.text(name, ip.to_string()),
            Value::Ips(ips) => self.texts(name, ips.iter().map(IpAddr::to_string)),
            Value::Codes(codes) => self.texts(name, codes.iter().map(codes_text)),
            Value::Numbers(numbers) => {
                let numbers = numbers.iter().map(|number| self.json(name, (*number).into())).collect();
                self.plain(name, Plain::Array(numbers))
            }
            Value::Span(span) => self.span(name, kind, *span),
            // A secret is never shown.
            Value::Secret(_) | Value::Unset => self,
        }
    }

    /// A time and its unit, as they were given: clients compare both.
    fn span(&mut self, name: &'static str, kind: &Kind, span: Span) -> &mut Row {
        self.number(name, span.number.into());
        match kind {
            Kind::Span { unit, .. } => self.text(unit, span.unit.text()),
            _ => self,
        }
    }

    /// A number as the resource's types have that field.
    fn json(&self, name: &str, number: u64) -> Plain {
        let documented = self.documented.and_then(|documented| documented.number(name));
        match documented.unwrap_or_else(|| undocumented(self.section, name)) {
            Json::Number => json!(number),
            Json::Text => json!(number.to_string()),
        }
    }

    /// What a field holds, as text.
    pub fn as_text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.find(name).map(as_text)
    }

    /// Is there such a field, and is what it holds so? Of a list, one of its items.
    pub fn holds(&self, name: &str, is_so: impl Fn(&str) -> bool) -> bool {
        match self.find(name) {
            Some(Plain::Array(items)) => items.iter().any(|item| is_so(&as_text(item))),
            value => value.is_some_and(|value| is_so(&as_text(value))),
        }
    }

    /// The resource that it is an element of.
    pub fn resource(&self) -> &'static str {
        self.resource
    }

    /// Its fields that are whole numbers.
    pub fn numbers(&self) -> impl Iterator<Item = (&str, u64)> {
        self.fields.iter().filter_map(|(name, value)| Some((&**name, as_text(value).parse().ok()?)))
    }

    /// Takes a number off a field's, which stays what it is in JSON.
    pub fn subtract(&mut self, name: &str, number: u64) {
        let field = self.fields.iter_mut().find(|(known, _)| known == name);
        let Some((_, value)) = field else { return };
        let Ok(left) = as_text(value).parse::<u64>().map(|known| known.saturating_sub(number)) else {
            return;
        };
        *value = match value {
            Plain::String(_) => json!(left.to_string()),
            _ => json!(left),
        };
    }

    fn find(&self, name: &str) -> Option<&Plain> {
        self.fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Its fields, in their order.
    pub fn into_fields(self) -> Vec<(Cow<'static, str>, Plain)> {
        self.fields
    }

    /// Leaves only the fields of these names.
    pub fn retain(&mut self, wanted: impl Fn(&str) -> bool) {
        self.fields.retain(|(name, _)| wanted(name));
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.fields.len()))?;
        for (name, value) in &self.fields {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

fn as_text(value: &Plain) -> Cow<'_, str> {
    match value {
        Plain::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// How a switch says yes and no; `None` where it is a JSON boolean.
fn flag_words(kind: &Kind) -> Option<(&'static str, &'static str)> {
    match kind {
        Kind::Switch => Some(("ENABLED", "DISABLED")),
        Kind::YesNo => Some(("YES", "NO")),
        Kind::OnOff => Some(("ON", "OFF")),
        _ => None,
    }
}

fn codes_text(codes: &CodeRange) -> String {
    if codes.low == codes.high { codes.low.to_string() } else { format!("{}-{}", codes.low, codes.high) }
}
