//! `POST /steelyard/v1/command`: a line of text as it is typed at the prompt, carried out as the same change by NITRO is.
//!
//! `POST /steelyard/v1/permission`: may whoever asks have files of this machine read and written by that line, which the
//! prompt carries out by itself?
//!
//! Owns the form of the answer: code, message and severity as NITRO's, every warning, what to do about a refusal, and what
//! the command prints. What a line means is the core's to say; actions on the configuration as a whole are NITRO's own.

use hyper::{Method, StatusCode};
use serde_json::{Map, Value, json};
use steelyard_core::command::abbreviation::abbreviates;
use steelyard_core::command::{
    Action, Command, Meaning, Object, Parsed, Refusal, Typed, Verb, Warning, in_full, without_secrets,
};

use super::change::refused::of_line;
use super::change::{Asked, Sent};
use super::query::Query;
use super::reply::{Failure, Reply};
use super::session::{NOT_PERMITTED, for_superusers, permitted};
use super::{Door, config, route};
use crate::auth::{DONE, Identity, prompt};
use crate::state::draft::Draft;

/// Carries out the line that was sent.
pub async fn answer(sent: &Sent, who: &Identity, door: &Door) -> Reply {
    let says = |mode: &str, word: &str| sent.text(mode).is_ok_and(|given| given == word);
    let mode = Mode { denies: says("disabledFeatureAction", "DENY"), matches: !says("regex", "OFF") };
    match sent.text("line") {
        Ok(line) => said(carry_out(line, mode, who, door).await),
        Err(reply) => reply,
    }
}

/// Says whether the line that was sent may be carried out by the prompt, and notes it down.
pub fn permission(sent: &Sent, who: &Identity, door: &Door) -> Reply {
    let state = &door.state;
    match sent.text("line") {
        Ok(line) => {
            let allowed = permitted(state, who, line).and_then(|()| for_superusers(state, who));
            state.auth().note(who, line, allowed.as_ref().map_or_else(|failure| &*failure.text, |()| DONE));
            said(allowed.map(|()| Outcome::default()).map_err(Wrong::from))
        }
        Err(reply) => reply,
    }
}

fn said(outcome: Result<Outcome, Wrong>) -> Reply {
    match outcome {
        Ok(Outcome { warnings, text, prompt }) => {
            let mut said = json!({
                "errorcode": 0, "message": "Done", "severity": "NONE", "warnings": warnings, "text": text,
            });
            if let Some(prompt) = prompt {
                said["prompt"] = prompt.into();
            }
            Reply::ok(&said)
        }
        Err(Wrong { failure: Failure { status, code, text }, advice }) => {
            let said = json!({
                "errorcode": code, "message": text, "severity": "ERROR", "warnings": [], "advice": advice,
            });
            Reply { status, ..Reply::ok(&said) }
        }
    }
}

/// What a line that was carried out leaves to say.
#[derive(Default)]
struct Outcome {
    warnings: Vec<String>,
    text: String,
    /// What whoever asks who they are has for a prompt, if that is said anywhere.
    prompt: Option<String>,
}

/// Why it was not.
struct Wrong {
    failure: Failure,
    /// What is wrong in this very case, and what to do.
    advice: String,
}

impl From<Failure> for Wrong {
    fn from(failure: Failure) -> Wrong {
        Wrong { failure, advice: String::new() }
    }
}

impl From<Refusal> for Wrong {
    fn from(refusal: Refusal) -> Wrong {
        Wrong { failure: of_line(&refusal), advice: refusal.advice() }
    }
}

/// What `set cli mode` says in the client's session.
#[derive(Clone, Copy)]
struct Mode {
    /// A command whose feature is off is refused, instead of being carried out with a warning.
    denies: bool,
    /// A name that begins with `^` is a regular expression.
    matches: bool,
}

async fn carry_out(line: &str, mode: Mode, who: &Identity, door: &Door) -> Result<Outcome, Wrong> {
    let read = match mode.matches {
        true => Typed::read_matching(line, &door.state.config()),
        false => Typed::read(line, &door.state.config()),
    };
    let Some(typed) = read.map_err(|(refusal, _)| unread(line, refusal, who, door))? else {
        return Ok(Outcome::default());
    };
    match typed.meaning() {
        Meaning::Action(action) => act(action, who, door).await,
        Meaning::Kept => keep(&typed, who, door),
        Meaning::Command(parsed) if matches!(parsed.verb(), Verb::Show | Verb::Stat) => {
            Err(not_done(format!("{} {}", parsed.verb().text(), parsed.object().text())))
        }
        Meaning::Command(parsed) => change(&typed, parsed, mode, who, door).await,
    }
}

/// Why a line is not understood. That no name matches is said to nobody who may not give the line: a name that does match is told
/// to nobody who may not give the command about it.
fn unread(line: &str, refusal: Refusal, who: &Identity, door: &Door) -> Wrong {
    let line = || without_secrets(line).unwrap_or_else(|| line.to_owned());
    match refusal {
        Refusal::NoMatch { .. } => match permitted(&door.state, who, &in_full(&line())) {
            Ok(()) => refusal.into(),
            Err(failure) => failure.into(),
        },
        refusal => refusal.into(),
    }
}

/// A command, or all of those that its ranges and expressions stand for: if one of them is refused, none is carried out.
async fn change(
    typed: &Typed,
    parsed: &Parsed,
    mode: Mode,
    who: &Identity,
    door: &Door,
) -> Result<Outcome, Wrong> {
    let state = &door.state;
    let texts = typed.texts();
    texts.iter().try_for_each(|text| permitted(state, who, text))?;
    for command in parsed.commands() {
        if command.is_for_superusers(&state.config()) {
            for_superusers(state, who)?;
        }
        // A line of a file may lack it: the hash of it is then beside.
        if (command.verb(), command.object()) == (Verb::Add, Object::SystemUser)
            && command.value("password").is_none()
        {
            return Err(Refusal::ArgumentMissing { argument: "password" }.into());
        }
    }
    let commands: Vec<Command> = match parsed.object() {
        // Hashing takes a while, and is done aside.
        Object::SystemUser => {
            state.sealed(parsed.commands().to_vec()).await.into_iter().collect::<Result<_, _>>()?
        }
        _ => parsed.commands().to_vec(),
    };
    // Nothing is waited for from here on: whoever changes something meanwhile would be undone.
    let mut draft = state.draft();
    let applied = apply(&mut draft, commands);
    let disabled = applied.iter().flatten().find(|warning| matches!(warning, Warning::FeatureDisabled(_)));
    let result = match applied {
        Ok(_)
            if let Some(disabled) = disabled
                && mode.denies =>
        {
            let (code, text) = (disabled.code().into(), disabled.to_string());
            Err(Failure { status: StatusCode::BAD_REQUEST, code, text }.into())
        }
        Ok(mut warnings) => {
            warnings.extend(draft.unmeasured());
            draft.publish().into_iter().for_each(|line| door.report.err(format!("steelyard: {line}")));
            state.auth().changed(&state.config(), who);
            Ok(Outcome { warnings: warnings.iter().map(Warning::to_string).collect(), ..Outcome::default() })
        }
        Err((_, refusal)) if typed.is_kept_after(&refusal, &state.config()) => {
            drop(draft);
            return keep(typed, who, door);
        }
        Err((at, mut refusal)) => {
            typed.explain(draft.config(), &mut refusal);
            let mut wrong = Wrong::from(refusal);
            if let [_, _, ..] = parsed.commands() {
                wrong.advice = format!("{}: {}", parsed.commands()[at].text(), wrong.advice);
            }
            Err(wrong)
        }
    };
    let said = result.as_ref().map_or_else(|wrong| wrong.failure.text.clone(), |_| DONE.to_owned());
    let notes: Vec<(String, String)> = texts.into_iter().map(|text| (text, said.clone())).collect();
    state.auth().note_all(who, &notes);
    result
}

/// Carries out commands one after the other: what whoever gave them should know, each once; or which of them is refused, and why.
fn apply(draft: &mut Draft<'_>, commands: Vec<Command>) -> Result<Vec<Warning>, (usize, Refusal)> {
    let mut warnings = Vec::new();
    for (at, command) in commands.into_iter().enumerate() {
        for warning in draft.apply(command).map_err(|refusal| (at, refusal))? {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
    }
    Ok(warnings)
}

/// Keeps a line that nothing here acts on, and says so.
fn keep(typed: &Typed, who: &Identity, door: &Door) -> Result<Outcome, Wrong> {
    let state = &door.state;
    let texts = typed.texts();
    texts.iter().try_for_each(|text| permitted(state, who, text))?;
    let mut draft = state.draft();
    draft.keep(typed)?;
    draft.publish().into_iter().for_each(|line| door.report.err(format!("steelyard: {line}")));
    texts.iter().for_each(|text| state.auth().note(who, text, DONE));
    Ok(Outcome { warnings: vec![KEPT.to_owned()], ..Outcome::default() })
}

/// An action, as the request of NITRO that does the same.
async fn act(action: &Action, who: &Identity, door: &Door) -> Result<Outcome, Wrong> {
    let words: Vec<&str> = action.arguments.iter().map(|word| word.text.as_str()).collect();
    let (resource, parameter, object) = match (action.verb, action.object.as_str(), &*words) {
        ("whoami", "", []) => {
            let text = format!("\tUserName: {}\n", who.name());
            let config = door.state.config();
            let (prompt, _) = prompt(&config, who.user());
            let prompt = Some(prompt.to_owned()).filter(|prompt| !prompt.is_empty());
            return Ok(Outcome { text, prompt, ..Outcome::default() });
        }
        ("save", "ns config", []) => ("nsconfig", "action=save", json!({})),
        ("clear", "ns config", words) => ("nsconfig", "action=clear", json!({ "level": level(words)? })),
        ("diff", "ns config", []) => ("nsconfig", "action=diff", json!({})),
        ("diff", "ns config", [one]) => ("nsconfig", "action=diff", json!({ "config1": one })),
        ("diff", "ns config", [one, other]) => {
            ("nsconfig", "action=diff", json!({ "config1": one, "config2": other }))
        }
        ("clear", "lb persistentSessions", []) => ("lbpersistentsessions", "action=clear", json!({})),
        ("clear", "lb persistentSessions", [vserver]) => {
            ("lbpersistentsessions", "action=clear", json!({ "vserver": vserver }))
        }
        ("kill", "system session", [all]) if abbreviates(all, "-all") => {
            ("systemsession", "action=kill", json!({ "all": true }))
        }
        ("kill", "system session", [sid]) => ("systemsession", "action=kill", json!({ "sid": sid })),
        ("shell", ..) => {
            let failure =
                Failure { status: StatusCode::FORBIDDEN, code: 257, text: NOT_PERMITTED.to_owned() };
            return Err(Wrong { failure, advice: NO_SHELL.to_owned() });
        }
        ("save" | "whoami" | "diff" | "kill", _, [first, ..]) => {
            let nearest = None;
            return Err(Refusal::UnknownArgument { word: (*first).to_owned(), nearest }.into());
        }
        _ => return Err(not_done(format!("{} {}", action.verb, action.object).trim().to_owned())),
    };
    let Some(found) = config::RESOURCES.iter().find(|row| row.name == resource) else {
        return Err(not_done(resource.to_owned()));
    };
    let sent = Sent::of(resource, object);
    let (method, query) = (&Method::POST, Query::new(Some(parameter)));
    let asked = Asked { method, resource: found, id: None, who, query, on_error: None, sent };
    let reply = route::changed(asked, door).await.unwrap_or_else(|refused| refused);
    outcome_of(&reply, resource)
}

/// What NITRO's answer says.
fn outcome_of(reply: &Reply, resource: &str) -> Result<Outcome, Wrong> {
    let body: Map<String, Value> = serde_json::from_str(&reply.body).unwrap_or_default();
    let message = body.get("message").and_then(Value::as_str).unwrap_or_default();
    let code = body.get("errorcode").and_then(Value::as_u64).and_then(|code| u32::try_from(code).ok());
    if reply.status.is_success() && code == Some(0) {
        let text = body.get(resource).and_then(|row| row.get("response")).and_then(Value::as_str);
        return Ok(Outcome { text: text.unwrap_or_default().to_owned(), ..Outcome::default() });
    }
    Err(Failure { status: reply.status, code: code.unwrap_or_default(), text: message.to_owned() }.into())
}

/// The level of `clear ns config`. Nobody is asked whether it is meant: that has to be said.
fn level<'w>(words: &[&'w str]) -> Result<&'w str, Wrong> {
    let (flags, levels): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| word.starts_with('-'));
    if let Some(unknown) = flags.iter().find(|flag| !abbreviates(flag, "-force")) {
        return Err(Refusal::UnknownArgument { word: (*unknown).to_owned(), nearest: None }.into());
    }
    let [level] = levels[..] else {
        return Err(match levels.get(1) {
            Some(word) => Refusal::UnknownArgument { word: (*word).to_owned(), nearest: None },
            None => Refusal::ArgumentMissing { argument: "level" },
        }
        .into());
    };
    if flags.is_empty() {
        let failure = Failure { status: StatusCode::BAD_REQUEST, code: 1036, text: SURE.to_owned() };
        return Err(Wrong { failure, advice: "nobody is asked here; give -force if it is meant".to_owned() });
    }
    let known = ["basic", "extended", "full"].into_iter().find(|known| abbreviates(level, known));
    Ok(known.unwrap_or(level))
}

fn not_done(what: String) -> Wrong {
    Refusal::NotCarried { argument: None, what, carried: &[] }.into()
}

const NO_SHELL: &str = "there is no shell here; log in to the host itself";
/// Nothing acts on a line.
const KEPT: &str = "The line is kept and saved, and nothing here acts on it";
const SURE: &str = "Are you sure you want to clear the configuration(Y/N)? [N]:";
