//! What stands before the cursor: `set cli prompt`, with what its `%` stand for (`spec/cli.md` 1).

use serde_json::{Map, Value};

use super::layout::harmless;
use super::line::Said;
use crate::door::Door;
use crate::wall::{Date, Hours};

/// The text that was given, or the appliance's own.
pub struct PromptText {
    text: String,
    /// Who asks, once that is known.
    user: Option<String>,
}

impl Default for PromptText {
    fn default() -> PromptText {
        PromptText { text: OWN.to_owned(), user: None }
    }
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
        text.clone_into(&mut self.text);
        Ok(())
    }

    /// Goes back to the appliance's own.
    pub fn clear(&mut self) {
        OWN.clone_into(&mut self.text);
    }

    /// As it was given.
    pub fn given(&self) -> &str {
        &self.text
    }

    /// As it is shown before the line of that number. What the program is asked for and does not tell is left out.
    pub fn shown(&mut self, number: usize, door: &Door) -> String {
        let mut out = String::new();
        let text = self.text.clone();
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
        if let Some(user) = &self.user {
            return user.clone();
        }
        let asked = super::line::ask("whoami", door, &Default::default());
        let user =
            asked.ok().and_then(|answer| Some(answer.text.trim().strip_prefix("UserName: ")?.to_owned()));
        self.user.clone_from(&user);
        user.unwrap_or_default()
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
