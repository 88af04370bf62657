//! What changes a configuration: NITRO's verbs and bodies to commands (`spec/nitro.md` 3, 5, 7), and the save.
//!
//! Owns how NITRO's resources and names map to commands, and what becomes of many objects in one body. Never decides what
//! a command does: that is the core's.

mod given;
mod many;
pub mod refused;
mod sent;
mod whole;

use hyper::{Method, StatusCode};
use serde_json::{Map, Value};
use steelyard_core::command::{Command, Object, Refusal, Taken, Verb, Warning, taken};

use super::config::systemfile;
use super::query::Query;
use super::reply::{Failure, Reply};
use super::resource::{Change, Resource, Shown};
use super::session::{for_superusers, permitted};
use crate::auth::{DONE, Identity};
use crate::report::Report;
use crate::state::State;
use crate::state::draft::Draft;
use given::Given;
use many::{OnError, many};
use refused::refused;
pub use sent::{Objects, Sent};

/// A request as the path, the query and the body have it.
pub struct Asked<'r> {
    /// Its verb.
    pub method: &'r Method,
    /// The resource that its path names.
    pub resource: &'static Resource,
    /// What of it the path names.
    pub id: Option<&'r str>,
    /// Who asks.
    pub who: &'r Identity,
    /// Its query.
    pub query: Query<'r>,
    /// `X-NITRO-ONERROR`.
    pub on_error: Option<&'r str>,
    /// Its body.
    pub sent: Sent,
}

/// Carries a request out that changes something.
pub async fn answer(asked: &Asked<'_>, state: &State, report: &Report) -> Reply {
    if matches!(asked.resource.shown, Shown::Files) {
        return systemfile::change(asked, state).await;
    }
    let action = asked.parameter("action").unwrap_or_default();
    if asked.resource.name == SESSIONS && *asked.method == Method::POST && action == "clear" {
        return whole::clear_sessions(asked, state);
    }
    let Some(change) = &asked.resource.change else { return Reply::wrong_verb(&asked.resource.allowed()) };
    if change.object == Object::NsConfig && *asked.method == Method::POST {
        match &*action {
            "save" => return whole::save(asked, state).await,
            "clear" => return whole::clear(asked, state, report),
            "diff" => return whole::diff(asked, state).await,
            _ => {}
        }
    }
    carry_out(asked, change, &action, state, report).await.unwrap_or_else(|reply| reply)
}

async fn carry_out(
    asked: &Asked<'_>,
    change: &Change,
    action: &str,
    state: &State,
    report: &Report,
) -> Result<Reply, Reply> {
    let (verb, taken) = verb(asked, change, action)?;
    let on_error = OnError::of(asked)?;
    let work = Work { asked, change, verb, taken };
    let objects = match asked.sent.objects(asked.resource)? {
        Objects::Several(objects) => objects,
        Objects::One(object) => vec![object],
    };
    // Nothing is waited for from here on: whoever changes something meanwhile would be undone.
    let mut steps = work.steps(&objects, state).await;
    let mut draft = state.draft();
    let (reply, keep) = match &mut steps[..] {
        [step] => work.one(step, &mut draft),
        steps => many(&work, steps, on_error, &mut draft),
    };
    if keep {
        draft.publish().into_iter().for_each(|line| report.err(format!("steelyard: {line}")));
        state.auth().changed(&state.config(), asked.who);
    }
    state.auth().note_all(asked.who, &steps.into_iter().filter_map(Step::note).collect::<Vec<_>>());
    Ok(reply)
}

/// What is done to each object of a body.
struct Work<'r> {
    asked: &'r Asked<'r>,
    change: &'r Change,
    verb: Verb,
    taken: Taken,
}

/// The work on one object.
struct Step {
    /// As the command line says it.
    said: String,
    /// What is to be carried out, if it can be and may.
    command: Option<Result<Command, Failure>>,
    /// What became of it.
    result: Option<String>,
}

impl Step {
    /// Carries it out.
    fn apply(&mut self, work: &Work<'_>, draft: &mut Draft<'_>) -> Result<Vec<Warning>, Failure> {
        let Some(command) = self.command.take() else { return Ok(Vec::new()) };
        let applied = command.and_then(|command| {
            if work.asked.query.says_yes("idempotent") && draft.has_already(&command) {
                return Ok(Vec::new());
            }
            // PUT of a binding says how it shall be, whether it is there or not.
            let over = *work.asked.method == Method::PUT && work.verb == Verb::Bind;
            let result = if over { draft.bind_over(command) } else { draft.apply(command) };
            result.map_err(|refusal| refused(&refusal))
        });
        self.result = Some(applied.as_ref().map_or_else(|failure| failure.text.clone(), |_| DONE.to_owned()));
        applied
    }

    /// What the audit log says of it.
    fn note(self) -> Option<(String, String)> {
        Some((self.said, self.result?)).filter(|(said, _)| !said.is_empty())
    }
}

impl Work<'_> {
    /// The commands, those that may be given, secrets sealed.
    async fn steps(&self, objects: &[Map<String, Value>], state: &State) -> Vec<Step> {
        let step = |object| {
            let command = self.command(object);
            let said = command.as_ref().map_or_else(|_| String::new(), Command::text);
            let command = command.and_then(|command| {
                permitted(state, self.asked.who, &said)?;
                if command.is_for_superusers(&state.config()) {
                    for_superusers(state, self.asked.who)?;
                }
                Ok(command)
            });
            Step { said, command: Some(command), result: None }
        };
        let mut steps: Vec<Step> = objects.iter().map(step).collect();
        if self.change.object == Object::SystemUser {
            let ready = |step: &mut Step| match step.command.take() {
                Some(Ok(command)) => Some(command),
                other => {
                    step.command = other;
                    None
                }
            };
            let plain: Vec<Option<Command>> = steps.iter_mut().map(ready).collect();
            let places: Vec<usize> =
                plain.iter().enumerate().filter_map(|(at, c)| c.as_ref().map(|_| at)).collect();
            let sealed = state.sealed(plain.into_iter().flatten().collect()).await;
            for (at, command) in places.into_iter().zip(sealed) {
                steps[at].command = Some(command.map_err(|refusal| refused(&refusal)));
            }
        }
        steps
    }

    /// A body of one object: the answer, and whether there is a change.
    fn one(&self, step: &mut Step, draft: &mut Draft<'_>) -> (Reply, bool) {
        match step.apply(self, draft) {
            Ok(warnings) => (self.done(warnings, draft), true),
            Err(failure) => (failure.into(), false),
        }
    }

    fn command(&self, object: &Map<String, Value>) -> Result<Command, Failure> {
        let mut given = Given::new(self.change, self.verb, &self.taken);
        given.body(object)?;
        given.arguments(&self.asked.query.pairs("args"))?;
        if let Some(id) = self.asked.id {
            given.path(self.asked.resource.key, id)?;
        }
        let command = given.command()?;
        // A line of a file may lack it: the hash of it is then beside.
        if (self.verb, self.change.object) == (Verb::Add, Object::SystemUser)
            && command.value("password").is_none()
        {
            return Err(refused(&Refusal::ArgumentMissing { argument: "password" }));
        }
        Ok(command)
    }

    /// All of it was carried out.
    fn done(&self, mut warnings: Vec<Warning>, draft: &Draft<'_>) -> Reply {
        let asks = self.asked.says_yes("warning");
        if asks && warnings.is_empty() {
            warnings = draft.unmeasured();
        }
        match warnings.first().filter(|_| asks) {
            Some(warning) => Reply::warning(warning.code(), &warning.to_string()),
            None if self.asked.adds() => Reply::created(),
            None => Reply::done(),
        }
    }
}

impl Asked<'_> {
    /// What the query says, or in the old style the body.
    pub fn parameter(&self, name: &str) -> Option<String> {
        self.query.get(name).or_else(|| self.sent.parameter(name).map(str::to_owned))
    }

    fn says_yes(&self, name: &str) -> bool {
        self.parameter(name).is_some_and(|value| value.eq_ignore_ascii_case("yes"))
    }

    fn adds(&self) -> bool {
        *self.method == Method::POST && self.parameter("action").is_none_or(|action| action.is_empty())
    }
}

/// The verb of the command that a request stands for, and what it takes.
fn verb(asked: &Asked<'_>, change: &Change, action: &str) -> Result<(Verb, Taken), Reply> {
    let found = match (asked.method.as_str(), action) {
        ("POST" | "PUT", "") if change.binds => Some(Verb::Bind),
        ("DELETE", "") if change.binds => Some(Verb::Unbind),
        ("POST", "") => Some(Verb::Add),
        ("PUT", "") => Some(Verb::Set),
        ("DELETE", "") => Some(Verb::Rm),
        ("POST", action) => of_action(action, change.binds),
        _ => return Err(Reply::wrong_verb(&asked.resource.allowed())),
    };
    let found = found.and_then(|verb| Some((verb, taken(verb, change.object)?)));
    found.ok_or_else(|| match action {
        "" => Reply::wrong_verb(&asked.resource.allowed()),
        _ => Reply::error(StatusCode::BAD_REQUEST, 1240, "Invalid nitro action or operation"),
    })
}

/// Actions on the configuration as a whole, which `nsconfig` stands for.
pub const WHOLE: &[&str] = &["save", "clear", "diff"];

/// `?action=`, in any case.
fn of_action(action: &str, binds: bool) -> Option<Verb> {
    let verb = match &*action.to_ascii_lowercase() {
        "rm" if binds => Verb::Unbind,
        "rm" => Verb::Rm,
        "bind" => Verb::Bind,
        "unbind" => Verb::Unbind,
        "enable" if !binds => Verb::Enable,
        "disable" if !binds => Verb::Disable,
        "unset" if !binds => Verb::Unset,
        "rename" if !binds => Verb::Rename,
        "link" if !binds => Verb::Link,
        "unlink" if !binds => Verb::Unlink,
        "update" if !binds => Verb::Update,
        _ => return None,
    };
    Some(verb)
}

/// Nothing changes them but `clear`.
const SESSIONS: &str = "lbpersistentsessions";
