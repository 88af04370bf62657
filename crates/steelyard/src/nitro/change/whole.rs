//! Actions on the configuration as a whole: save, clear, diff (`spec/nitro.md` 9, `nsconfig`).

use std::collections::BTreeSet;

use hyper::StatusCode;
use serde_json::{Map, Value};
use steelyard_core::command::Level;

use super::Asked;
use super::sent::Objects;
use crate::auth::DONE;
use crate::fault::Fault;
use crate::nitro::documented::Section;
use crate::nitro::reply::Reply;
use crate::nitro::row::Row;
use crate::nitro::session::permitted;
use crate::report::Report;
use crate::save::{Saved, Version};
use crate::state::State;

pub async fn save(asked: &Asked<'_>, state: &State) -> Reply {
    const COMMAND: &str = "save ns config";
    if let Err(failure) = permitted(state, asked.who, COMMAND) {
        return failure.into();
    }
    let saved = state.save().await;
    let result = match &saved {
        Ok(Saved::Written | Saved::Already) => DONE.to_owned(),
        Ok(Saved::Nowhere) => "nothing is saved here".to_owned(),
        Err(not_saved) => not_saved.to_string(),
    };
    state.auth().note(asked.who, COMMAND, result);
    match saved {
        Ok(Saved::Written | Saved::Already) => Reply::done(),
        Ok(Saved::Nowhere) => {
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

/// Lines that only the first configuration has, then those that only the second one has: of the saved and the running
/// one, where the body names no other.
pub async fn diff(asked: &Asked<'_>, state: &State) -> Reply {
    if let Err(failure) = permitted(state, asked.who, "diff ns config") {
        return failure.into();
    }
    match compared(asked, state).await {
        Ok([first, second]) => {
            let only = |one: &str, other: &str, sign| -> String {
                let other: BTreeSet<&str> = other.lines().collect();
                one.lines().filter(|l| !other.contains(l)).map(|l| format!("{sign} {l}\n")).collect()
            };
            let mut row = Row::new(Section::Config, "nsconfig");
            row.text("response", only(&first, &second, '-') + &only(&second, &first, '+'));
            Reply::with_resource("nsconfig", &row)
        }
        Err(reply) => reply,
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

async fn compared(asked: &Asked<'_>, state: &State) -> Result<[String; 2], Reply> {
    let object = whole_configuration(asked)?;
    let other = |name: &&String| !matches!(name.as_str(), "config1" | "config2");
    if let Some(name) = object.keys().find(other) {
        return Err(Reply::netscaler_error(301, &format!("Operation not supported [{name}]")));
    }
    let first = match object.get("config1") {
        None => state.printed_of_files(Version::Last).await.map_err(|fault| Reply::failed(&fault))?,
        Some(name) => named("config1", name, state).await?,
    };
    let second = match object.get("config2") {
        None => state.printed().ns_conf,
        Some(name) => named("config2", name, state).await?,
    };
    Ok([first, second])
}

/// The saved configuration or one of its older copies, by the appliance's name of it; no other file can be named.
async fn named(argument: &str, name: &Value, state: &State) -> Result<String, Reply> {
    let missing = || Reply::error(StatusCode::NOT_FOUND, 1155, &format!("No such file [{argument}]"));
    let file = name.as_str().map(|name| name.strip_prefix("/nsconfig/").unwrap_or(name));
    let version = match file.and_then(|file| file.strip_prefix("ns.conf")) {
        Some("") => Version::Last,
        Some(age) => age.strip_prefix('.').and_then(Version::of_age).ok_or_else(missing)?,
        None => return Err(missing()),
    };
    state.printed_of_files(version).await.map_err(|fault| match fault {
        Fault::Unreadable { .. } => missing(),
        fault => Reply::failed(&fault),
    })
}

/// The body of an action on the whole configuration; clients send none where it needs nothing.
fn whole_configuration(asked: &Asked<'_>) -> Result<Map<String, Value>, Reply> {
    match asked.sent.objects(asked.resource)? {
        Objects::One(object) => Ok(object),
        Objects::Several(objects) => Ok(objects.into_iter().next().unwrap_or_default()),
    }
}
