//! One line: what of it is this client's to do, and what the program's.

use serde_json::{Map, Value, json};
use steelyard_core::command::lex::{Word, words};
use steelyard_core::command::{Action, Meaning, Refusal, Typed, Verb, help};
use steelyard_core::config::Config;

use super::filter::Filter;
use super::show;
use super::stat::Pages;
use crate::door::Door;
use crate::fault::Fault;

/// What a command printed.
#[derive(Default)]
pub struct Answer {
    /// Ends with the end of a line, unless it is empty.
    pub text: String,
    /// What whoever gave it should know.
    pub warnings: Vec<String>,
}

/// Why it was not carried out.
pub enum Said {
    /// In the appliance's words.
    Error {
        /// The text of the code, and what it is about.
        message: String,
        /// What is wrong in this very case, and what to do; empty where there is no more to say.
        advice: String,
    },
    /// The program was not reached.
    Fault(Fault),
}

impl Said {
    /// An error that says all in its message.
    pub fn error(message: impl Into<String>) -> Said {
        Said::Error { message: message.into(), advice: String::new() }
    }
}

impl From<Fault> for Said {
    fn from(fault: Fault) -> Said {
        match fault {
            Fault::Answer { message, .. } => Said::error(message),
            fault => Said::Fault(fault),
        }
    }
}

impl From<Refusal> for Said {
    fn from(refusal: Refusal) -> Said {
        Said::Error { message: refusal.message(), advice: refusal.advice() }
    }
}

/// What a line asks for.
pub enum Asked {
    /// Nothing: it is empty, or a comment.
    Nothing,
    /// The next ones are not to be read.
    Leave,
    /// To read commands from a file of this machine.
    Read(Action),
    /// To show counters, once or several times, as far as the filter leaves them.
    Count(Pages, Filter),
    /// Something to be answered.
    Answer(Answer),
}

/// Carries out a line, as far as it is no business of the session.
pub fn carry_out(line: &str, door: &Door) -> Result<Asked, Said> {
    let (command, filter) = Filter::split(line)?;
    // What is configured only the program knows; it says what is wrong with a line that means nothing without.
    let answer = match Typed::read(command, &Config::default()) {
        Ok(None) => return Ok(Asked::Nothing),
        Ok(Some(typed)) => match typed.meaning() {
            Meaning::Command(parsed) if parsed.verb() == Verb::Show => {
                show::find(parsed.commands(), door)?.laid_out().into()
            }
            Meaning::Command(parsed) if parsed.verb() == Verb::Stat => {
                return match parsed.commands() {
                    [command] => Ok(Asked::Count(Pages::of_command(command)?, filter)),
                    _ => Err(Said::error("Operation not supported here [stat of several at once]")),
                };
            }
            Meaning::Action(action @ Action { verb: "stat", .. }) => {
                return Ok(Asked::Count(Pages::of_action(action)?, filter));
            }
            Meaning::Action(Action { verb: "quit" | "exit", .. }) => return Ok(Asked::Leave),
            Meaning::Action(action @ Action { verb: "source" | "batch", .. }) => {
                // The files are this process's to read, and not everybody's who may have it read them.
                if door.session().is_some() {
                    post(PERMISSION, command, door)?;
                }
                return Ok(Asked::Read(action.clone()));
            }
            Meaning::Action(Action { verb: "help" | "man", arguments, .. }) => help(arguments)?.into(),
            Meaning::Action(action @ Action { verb: "show", .. }) => {
                show::find_beside(action, door)?.laid_out().into()
            }
            _ => ask(command, door)?,
        },
        Err((refusal @ (Refusal::LineTooLong { .. } | Refusal::UnmatchedQuote), _)) => {
            return Err(refusal.into());
        }
        Err(_) => ask(command, door)?,
    };
    Ok(Asked::Answer(Answer { text: filter.of(&answer.text), ..answer }))
}

impl From<String> for Answer {
    fn from(text: String) -> Answer {
        Answer { text, warnings: Vec::new() }
    }
}

/// Has the program carry it out.
fn ask(line: &str, door: &Door) -> Result<Answer, Said> {
    post(COMMAND, line, door)
}

fn post(path: &str, line: &str, door: &Door) -> Result<Answer, Said> {
    let body = door.post(path, json!({ "line": line }).to_string())?;
    let unread = |_| Said::error("Internal error [the answer cannot be read]");
    let answer: Map<String, Value> = serde_json::from_str(&body).map_err(unread)?;
    let text = |field: &str| answer.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    if answer.get("errorcode").and_then(Value::as_u64) != Some(0) {
        return Err(Said::Error { message: text("message"), advice: text("advice") });
    }
    let warnings = answer.get("warnings").and_then(Value::as_array).into_iter().flatten();
    let warnings = warnings.filter_map(Value::as_str).map(str::to_owned).collect();
    Ok(Answer { text: super::layout::lines(&text("text")), warnings })
}

const COMMAND: &str = "/steelyard/v1/command";
const PERMISSION: &str = "/steelyard/v1/permission";

/// The words of a line that are its own, without those of a remark.
pub fn words_of(line: &str) -> Result<Vec<Word>, Said> {
    words(line).map_err(|(refusal, _)| refusal.into())
}
