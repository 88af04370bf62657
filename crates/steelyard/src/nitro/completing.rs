//! `POST /steelyard/v1/complete`: what may stand at a place of a line, for Tab and `?` at a prompt.
//!
//! Owns the form of the answer. What may stand there the core says; names are told to those alone whose command policies
//! let them show the object.

use serde_json::{Map, Value, json};
use steelyard_core::command::{Candidate, Completion, complete};
use steelyard_core::config::Permission;

use super::Door;
use super::change::Sent;
use super::change::refused::of_line;
use super::reply::{Failure, Reply};
use crate::auth::Identity;

/// The answer to a line and the byte of it where the cursor stands; its end, where that is not said.
pub fn answer(sent: &Sent, who: &Identity, door: &Door) -> Reply {
    let asked = sent.text("line").and_then(|line| Ok((line, sent.number("at")?)));
    let (line, at) = match asked {
        Ok((line, at)) => (line, at.map_or(line.len(), |at| usize::try_from(at).unwrap_or(line.len()))),
        Err(reply) => return reply,
    };
    let config = door.state.config();
    let may = |command: &str| door.state.auth().may(&config, who, command) == Permission::Given;
    match complete(line, at, &config, &may) {
        Ok(found) => Reply::ok(&told(found)),
        Err(refusal) => {
            let Failure { status, code, text } = of_line(&refusal);
            let said = json!({
                "errorcode": code, "message": text, "severity": "ERROR", "advice": refusal.advice(),
            });
            Reply { status, ..Reply::ok(&said) }
        }
    }
}

fn told(found: Completion) -> Value {
    let all = |of: Vec<Candidate>| of.into_iter().map(one).collect::<Vec<Value>>();
    json!({
        "errorcode": 0, "message": "Done", "severity": "NONE",
        "start": found.start, "common": found.common, "candidates": all(found.candidates), "more": found.more,
        "expected": all(found.expected), "whole": found.is_whole,
    })
}

fn one(candidate: Candidate) -> Value {
    let Candidate { word, help, required } = candidate;
    let mut fields = Map::from_iter([("word".to_owned(), json!(word)), ("help".to_owned(), json!(help))]);
    if required {
        fields.insert("required".to_owned(), json!(true));
    }
    Value::Object(fields)
}
