//! The body of a request that changes something: NITRO's JSON, bare or in a form (`spec/nitro.md` 1, 3).

use hyper::StatusCode;
use serde_json::{Map, Value};

use crate::nitro::query::form_decode;
use crate::nitro::reply::Reply;
use crate::nitro::resource::Resource;

/// The keys of a body.
#[derive(Default)]
pub struct Sent {
    all: Map<String, Value>,
    /// Was there any body?
    given: bool,
}

/// What of a resource a body is about.
pub enum Objects {
    /// One object, or none, which has no field.
    One(Map<String, Value>),
    /// A list.
    Several(Vec<Map<String, Value>>),
}

impl Sent {
    /// Reads a body. The old style sends a form whose field `object` is the JSON; what type a client says the body is
    /// of does not matter.
    ///
    /// # Errors
    /// It is not JSON, or no object.
    pub fn read(body: &[u8]) -> Result<Sent, Reply> {
        let decoded;
        let mut body = body.trim_ascii();
        let fields = body.split(|byte| *byte == b'&');
        if let Some(object) = fields.filter_map(|field| field.strip_prefix(b"object=")).next() {
            decoded = form_decode(object);
            body = decoded.trim_ascii();
        }
        if body.is_empty() {
            return Ok(Sent::default());
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(all)) => Ok(Sent { all, given: true }),
            Ok(_) => Err(bad(1233, "Invalid JSON input")),
            Err(error) => Err(bad(1233, &format!("Invalid JSON input [{error}]"))),
        }
    }

    /// What the old style says beside the resource: `action`, `warning`, `onerror`.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.all.get("params")?.get(name)?.as_str()
    }

    /// The resource that it is about, where the path names none.
    pub fn resource(&self) -> Option<&str> {
        self.all.keys().map(String::as_str).find(|key| !BESIDE.contains(key))
    }

    /// The id of a session, which the old style has beside the resource.
    pub fn session(&self) -> Option<&str> {
        self.all.get("sessionid")?.as_str()
    }

    /// The one object under a key that is no resource's.
    ///
    /// # Errors
    /// There is none, or something else.
    pub fn object(&self, key: &str) -> Result<&Map<String, Value>, Reply> {
        match self.all.get(key) {
            Some(Value::Object(object)) => Ok(object),
            Some(_) => Err(bad(1234, &format!("Invalid JSON data type [{key}]"))),
            None => Err(bad(1095, &format!("Required argument missing [{key}]"))),
        }
    }

    /// The text under a key.
    ///
    /// # Errors
    /// There is none, or something else.
    pub fn text(&self, key: &str) -> Result<&str, Reply> {
        match self.all.get(key) {
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(bad(1234, &format!("Invalid JSON data type [{key}]"))),
            None => Err(bad(1095, &format!("Required argument missing [{key}]"))),
        }
    }

    /// The same of a whole number, which may be left out.
    ///
    /// # Errors
    /// It is something else.
    pub fn number(&self, key: &str) -> Result<Option<u64>, Reply> {
        let wrong = || bad(1234, &format!("Invalid JSON data type [{key}]"));
        self.all.get(key).map(|value| value.as_u64().ok_or_else(wrong)).transpose()
    }

    /// A body with one object.
    pub fn of(resource: &str, object: Value) -> Sent {
        Sent { all: Map::from_iter([(resource.to_owned(), object)]), given: true }
    }

    /// The objects under the resource's key. Other keys that clients send beside it say nothing about them.
    ///
    /// # Errors
    /// There is none, or something else.
    pub fn objects(&self, resource: &Resource) -> Result<Objects, Reply> {
        if !self.given {
            return Ok(Objects::One(Map::new()));
        }
        let found = self.all.iter().find(|(key, _)| key.eq_ignore_ascii_case(resource.name));
        let wrong = || bad(1234, &format!("Invalid JSON data type [{}]", resource.name));
        match found {
            None => Err(bad(1095, &format!("Required argument missing [{}]", resource.name))),
            Some((_, Value::Object(object))) => Ok(Objects::One(object.clone())),
            Some((_, Value::Array(rows))) if !rows.is_empty() && rows.len() <= MOST_AT_ONCE => {
                let rows = rows.iter().map(|row| row.as_object().cloned().ok_or_else(wrong));
                rows.collect::<Result<_, _>>().map(Objects::Several)
            }
            Some(_) => Err(wrong()),
        }
    }
}

fn bad(code: u32, text: &str) -> Reply {
    Reply::error(StatusCode::BAD_REQUEST, code, text)
}

/// Keys that stand beside the resource's in the old style.
const BESIDE: &[&str] = &["params", "sessionid"];
/// Objects in one body.
const MOST_AT_ONCE: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_style_is_a_form_around_the_same_json() {
        let form = b"object=%7B%22params%22%3A%7B%22action%22%3A%22save%22%7D%2C%22nsconfig%22%3A%7B%7D%2C+%22a%22%3A1%7D";
        let sent = Sent::read(form).ok().unwrap();
        assert_eq!((sent.parameter("action"), sent.resource()), (Some("save"), Some("a")));
        let bare =
            Sent::read(b" {\"sessionid\": \"##1\", \"service\": {\"name\": \"object=\"}} ").ok().unwrap();
        assert_eq!((bare.parameter("action"), bare.resource()), (None, Some("service")));
    }

    #[test]
    fn what_is_no_json_object_is_refused() {
        for body in [&b"["[..], b"[]", b"1", b"object=", b"object=%ff", b"name=x", b"{\"a\":\"\xff\"}"] {
            let refused = Sent::read(body).err().map(|reply| reply.status);
            let expected = Some(StatusCode::BAD_REQUEST).filter(|_| body != b"object=");
            assert_eq!(refused, expected, "{}", String::from_utf8_lossy(body));
        }
    }
}
