//! What stands before the cursor: `set cli prompt`, with what its `%` stand for (`spec/cli.md` 1). A user, a group and
//! `system parameter` may have one.

use serde_json::{Map, Value};

use super::layout::harmless;
use super::line::{Said, whoami};
use crate::door::Door;
use crate::wall::{Date, Hours};

/// The text that was given, or by the configuration at the log-in the user's own, or the appliance's.
#[derive(Default)]
pub struct PromptText {
    given: Option<String>,
    /// The user's own; asked for once.
    own: Option<Option<String>>,
    /// Who asks, once that is known.
    user: Option<String>,
}

impl PromptText {
    /// Takes another one.
    ///
    /// # Errors
    /// It is too long.
    pub fn set(&mut self, text: &str) -> Result<(), Said> {
        if text.chars().count() > LONGEST {
            return Err(Said::error(format!("Argument too long [promptString, maximum {LONGEST}]")));
        }
        self.given = Some(text.to_owned());
        Ok(())
    }

    /// Goes back to what it was at first.
    pub fn clear(&mut self) {
        self.given = None;
    }

    /// The text, with its `%`.
    pub fn text(&mut self, door: &Door) -> String {
        if let Some(given) = &self.given {
            return given.clone();
        }
        // The owner has logged in nowhere, and may have come because the program answers nobody.
        if self.own.is_none() && !door.is_owners() {
            self.user(door);
        }
        self.own.get_or_insert_default().clone().unwrap_or_else(|| OWN.to_owned())
    }

    /// As it is shown before the line of that number. What the program is asked for and does not tell is left out.
    pub fn shown(&mut self, number: usize, door: &Door) -> String {
        let mut out = String::new();
        let text = self.text(door);
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            if c != '%' {
                out.push(c);
                continue;
            }
            match rest.next() {
                Some('!') => out.push_str(&number.to_string()),
                Some('u') => out.push_str(&self.user(door)),
                Some('h') => out.push_str(&field(door, "nshostname", "hostname")),
                Some('s') => out.push_str(&place_in_pair(door)),
                Some('t') => out.push_str(&Date::now().clock(Hours::Twelve)),
                Some('T') => out.push_str(&Date::now().clock(Hours::TwentyFour)),
                Some('d') => out.push_str(&Date::now().day()),
                Some('%') => out.push('%'),
                Some(other) => out.extend(['%', other]),
                None => out.push('%'),
            }
        }
        harmless(&out)
    }

    fn user(&mut self, door: &Door) -> String {
        if self.user.is_none()
            && let Some((user, own)) = whoami(door)
        {
            self.user = Some(user);
            self.own.get_or_insert(own);
        }
        self.user.clone().unwrap_or_default()
    }
}

/// Primary or Secondary in a pair, and else Standalone.
fn place_in_pair(door: &Door) -> String {
    let Some(Value::Array(pair)) = answer(door, "hanode").remove("hanode") else { return String::new() };
    let state = pair.first().and_then(|own| own.get("state")).and_then(Value::as_str);
    match state {
        Some(state) if pair.len() > 1 => state.to_owned(),
        Some(_) => "Standalone".to_owned(),
        None => String::new(),
    }
}

fn field(door: &Door, resource: &str, field: &str) -> String {
    let found = answer(door, resource).remove(resource);
    let object = match &found {
        Some(Value::Array(all)) => all.first(),
        other => other.as_ref(),
    };
    object.and_then(|object| object.get(field)).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn answer(door: &Door, resource: &str) -> Map<String, Value> {
    let body = door.get(&format!("/nitro/v1/config/{resource}")).unwrap_or_default();
    serde_json::from_str(&body).unwrap_or_default()
}

const OWN: &str = "> ";
/// Characters.
const LONGEST: usize = 255;
