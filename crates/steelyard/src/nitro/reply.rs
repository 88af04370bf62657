//! One answer: the envelope, statuses and reason phrases (`spec/nitro.md` 4, 6).

use hyper::StatusCode;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::row::Row;
use crate::fault::Fault;

/// One answer.
pub struct Reply {
    /// Its status.
    pub status: StatusCode,
    /// What its body is.
    pub content_type: &'static str,
    /// Its body.
    pub body: String,
    /// Header fields that no other answer has.
    pub headers: Vec<(&'static str, String)>,
}

impl Reply {
    /// With that body.
    pub fn new(status: StatusCode, body: String) -> Reply {
        Reply { status, content_type: JSON, body, headers: Vec::new() }
    }

    /// That, and nothing around it.
    pub fn ok(body: &impl Serialize) -> Reply {
        match serde_json::to_string(body) {
            Ok(body) => Reply::new(StatusCode::OK, body),
            Err(_) => Reply::error(StatusCode::SERVICE_UNAVAILABLE, 1239, "NITRO command Execution failed"),
        }
    }

    /// Carried out.
    pub fn done() -> Reply {
        Reply::ok(&Envelope::bare(0, "Done", "NONE"))
    }

    /// Carried out, and there is something new.
    pub fn created() -> Reply {
        Reply { status: StatusCode::CREATED, ..Reply::done() }
    }

    /// Carried out, and there is something to know.
    pub fn warning(code: u16, text: &str) -> Reply {
        let status = StatusCode::from_u16(209).unwrap_or(StatusCode::OK);
        let body = Envelope::bare(code.into(), text, "WARNING");
        Reply { status, ..Reply::ok(&body) }.with("x-nitro-warning", format!("{code} - {text}"))
    }

    /// What an appliance has no status of HTTP's own for.
    pub fn netscaler_error(code: u16, message: &str) -> Reply {
        Failure::netscaler(code, message.to_owned()).into()
    }

    /// Something under the resource's name.
    pub fn with_resource(name: &str, value: &impl Serialize) -> Reply {
        Reply::with_keys(&[name], value)
    }

    /// The same under each of these names.
    pub fn with_keys(names: &[&str], value: &impl Serialize) -> Reply {
        Reply::ok(&Envelope { code: 0, message: "Done", severity: "NONE", more: Some((names, value)) })
    }

    /// An empty list has no key at all (`spec/nitro.md` 4).
    pub fn list(names: &[&str], rows: &[Row]) -> Reply {
        if rows.is_empty() { Reply::done() } else { Reply::with_keys(names, &rows) }
    }

    /// The work failed.
    pub fn failed(fault: &Fault) -> Reply {
        let text = format!("NITRO command Execution failed [{fault}]");
        Reply::error(StatusCode::SERVICE_UNAVAILABLE, 1239, &text)
    }

    /// There is no such resource of NITRO's.
    pub fn no_object(name: &str) -> Reply {
        Reply::error(StatusCode::NOT_FOUND, 1232, &format!("Invalid object name [{name}]"))
    }

    /// A refusal.
    pub fn error(status: StatusCode, code: u32, message: &str) -> Reply {
        let body = Envelope::bare(code, message, "ERROR");
        Reply::new(status, serde_json::to_string(&body).unwrap_or_default())
    }

    /// What is given has a value that it cannot have.
    pub fn invalid_value(name: &str) -> Reply {
        Reply::error(StatusCode::BAD_REQUEST, 1097, &format!("Invalid argument value [{name}]"))
    }

    /// There is nothing of that name.
    pub fn unknown(key: &str, name: &str) -> Reply {
        Reply::error(StatusCode::NOT_FOUND, 258, &format!("No such resource [{key}, {name}]"))
    }

    /// The resource knows these verbs alone.
    pub fn wrong_verb(allowed: &str) -> Reply {
        let text = "Invalid method name. It should be either post, put, get, stat or delete";
        Reply::error(StatusCode::METHOD_NOT_ALLOWED, 1237, text).with("allow", allowed.to_owned())
    }

    /// Of many objects not all were carried out: what became of each.
    pub fn partly(results: &[Result<(), Failure>]) -> Reply {
        let each: Vec<Envelope<'_, ()>> = results
            .iter()
            .map(|result| match result {
                Ok(()) => Envelope::bare(0, "Done", "NONE"),
                Err(failure) => Envelope::bare(failure.code, &failure.text, "ERROR"),
            })
            .collect();
        let body = Envelope {
            code: 1243,
            message: "Bulk operation failed",
            severity: "ERROR",
            more: Some((&["response"], &each)),
        };
        Reply { status: StatusCode::MULTI_STATUS, ..Reply::ok(&body) }
    }

    /// With one more header field.
    pub fn with(mut self, name: &'static str, value: String) -> Reply {
        self.headers.push((name, value));
        self
    }
}

/// Why something is not carried out.
pub struct Failure {
    /// Its status.
    pub status: StatusCode,
    /// NITRO's code of it.
    pub code: u32,
    /// NITRO's text of it.
    pub text: String,
}

impl Failure {
    /// One that an appliance has no status of HTTP's own for.
    pub fn netscaler(code: u16, text: String) -> Failure {
        let status = StatusCode::from_u16(599).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Failure { status, code: code.into(), text }
    }

    /// A field that holds something of another type than its own.
    pub fn wrong_type(field: &str) -> Failure {
        let text = format!("Invalid JSON data type [{field}]");
        Failure { status: StatusCode::BAD_REQUEST, code: 1234, text }
    }
}

impl From<Failure> for Reply {
    fn from(failure: Failure) -> Reply {
        Reply::error(failure.status, failure.code, &failure.text)
    }
}

/// What clients compare letter for letter (`spec/nitro.md` 1).
pub fn phrase(status: StatusCode) -> Option<&'static [u8]> {
    match status.as_u16() {
        207 => Some(b"Multi Status"),
        209 => Some(b"Netscaler specific warning"),
        599 => Some(b"Netscaler specific error"),
        _ => None,
    }
}

struct Envelope<'e, T> {
    code: u32,
    message: &'e str,
    severity: &'e str,
    /// The names of the resource and what is under each.
    more: Option<(&'e [&'e str], &'e T)>,
}

impl<'e> Envelope<'e, ()> {
    fn bare(code: u32, message: &'e str, severity: &'e str) -> Envelope<'e, ()> {
        Envelope { code, message, severity, more: None }
    }
}

impl<T: Serialize> Serialize for Envelope<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("errorcode", &self.code)?;
        map.serialize_entry("message", self.message)?;
        map.serialize_entry("severity", self.severity)?;
        if let Some((names, value)) = &self.more {
            names.iter().try_for_each(|name| map.serialize_entry(name, value))?;
        }
        map.end()
    }
}

const JSON: &str = "application/json; charset=utf-8";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_is_the_bare_envelope() {
        let reply = Reply::list(&["service"], &[]);
        assert_eq!(reply.body, r#"{"errorcode":0,"message":"Done","severity":"NONE"}"#);
    }
}
