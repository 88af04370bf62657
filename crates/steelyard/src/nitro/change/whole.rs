//! Actions on the configuration as a whole: save, clear, diff (`spec/nitro.md` 9, `nsconfig`).

use std::collections::BTreeSet;

use hyper::StatusCode;
use serde_json::{Map, Value};
use steelyard_core::command::Level;

use super::Asked;
use super::sent::Objects;
use crate::auth::DONE;
use crate::nitro::documented::Section;
use crate::nitro::reply::Reply;
use crate::nitro::row::Row;
use crate::nitro::session::permitted;
use crate::report::Report;
use crate::state::State;

pub async fn save(asked: &Asked<'_>, state: &State) -> Reply {
    const COMMAND: &str = "save ns config";
    if let Err(failure) = permitted(state, asked.who, COMMAND) {
        return failure.into();
    }
    let saved = state.save().await;
    let result = match &saved {
        Ok(Some(())) => DONE.to_owned(),
        Ok(None) => "nothing is saved here".to_owned(),
        Err(not_saved) => not_saved.to_string(),
    };
    state.auth().note(asked.who, COMMAND, result);
    match saved {
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

pub fn clear(asked: &Asked<'_>, state: &State, report: &Report) -> Reply {
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
    let command = format!("clear ns config -force {}", word.to_ascii_lowercase());
    if let Err(failure) = permitted(state, asked.who, &command) {
        return failure.into();
    }
    state.auth().note(asked.who, &command, DONE);
    state.clear(level).into_iter().for_each(|line| report.err(format!("steelyard: {line}")));
    Reply::done()
}

/// Lines that only the saved configuration has, then those that only the running one has. Files of the client's choice
/// are not compared.
pub async fn diff(asked: &Asked<'_>, state: &State) -> Reply {
    if let Err(failure) = permitted(state, asked.who, "diff ns config") {
        return failure.into();
    }
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
            let mut row = Row::new(Section::Config, "nsconfig");
            row.text("response", text);
            Reply::with_resource("nsconfig", &row)
        }
        Err(fault) => Reply::failed(&fault),
    }
}

/// `clear lb persistentSessions`: this version keeps none, so that there are none of any virtual server afterwards.
pub fn clear_sessions(asked: &Asked<'_>, state: &State) -> Reply {
    const COMMAND: &str = "clear lb persistentSessions";
    if let Err(failure) = permitted(state, asked.who, COMMAND) {
        return failure.into();
    }
    let object = match whole_configuration(asked) {
        Ok(object) => object,
        Err(reply) => return reply,
    };
    if let Some(field) =
        object.keys().find(|field| !["vserver", "persistenceparameter"].contains(&field.as_str()))
    {
        return Reply::netscaler_error(278, &format!("Invalid argument [{field}]"));
    }
    let vserver = object.get("vserver").and_then(Value::as_str);
    if let Some(unknown) = vserver.filter(|name| !state.config().lb_vservers.has(name)) {
        return Reply::unknown("vServer", unknown);
    }
    state.auth().note(asked.who, COMMAND, DONE);
    Reply::done()
}

/// The body of an action on the whole configuration; clients send none where it needs nothing.
fn whole_configuration(asked: &Asked<'_>) -> Result<Map<String, Value>, Reply> {
    match asked.sent.objects(asked.resource)? {
        Objects::One(object) => Ok(object),
        Objects::Several(objects) => Ok(objects.into_iter().next().unwrap_or_default()),
    }
}
