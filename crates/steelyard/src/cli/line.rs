//! One line: what of it is this client's to do, and what the program's.

use serde_json::{Map, Value};
use steelyard_core::command::abbreviation::abbreviates;
use steelyard_core::command::lex::{Word, words};
use steelyard_core::command::{Action, Meaning, Refusal, Typed, Verb, code_of};
use steelyard_core::config::Config;

use super::filter::Filter;
use super::json::{self, Print};
use super::mode::{DisabledFeature, Mode};
use super::screen::Screen;
use super::show;
use super::stat::Pages;
use super::told;
use crate::door::Door;
use crate::fault::Fault;

/// What a command printed.
#[derive(Default)]
pub struct Answer {
    /// Ends with the end of a line, unless it is empty.
    pub text: String,
    /// What whoever gave it should know.
    pub warnings: Vec<String>,
    /// It is JSON: nothing stands before or behind it.
    pub is_json: bool,
    /// It says that the command was refused.
    pub failed: bool,
    /// It was asked for page by page.
    pub pages: bool,
}

/// Why it was not carried out.
pub enum Said {
    /// In the appliance's words.
    Error {
        /// NITRO's.
        code: u64,
        /// The text of the code, and what it is about.
        message: String,
        /// What is wrong in this very case, and what to do; empty where there is no more to say.
        advice: String,
    },
    /// Whoever gave it is asked whether it is meant.
    Question(Question),
    /// The program was not reached.
    Fault(Fault),
}

/// What is asked before a command that undoes much.
pub struct Question {
    /// In the appliance's words.
    pub text: String,
    /// What to do where nobody can be asked.
    pub advice: String,
    /// The command that says that it is meant.
    pub confirmed: String,
}

impl Said {
    /// An error that says all in its message.
    pub fn error(message: impl Into<String>) -> Said {
        let message = message.into();
        let code = code_of(&message).map_or(NOT_SUPPORTED, u64::from);
        Said::Error { code, message, advice: String::new() }
    }
}

impl From<Fault> for Said {
    fn from(fault: Fault) -> Said {
        match fault {
            Fault::Answer { code, message, .. } => Said::Error { code, message, advice: String::new() },
            fault => Said::Fault(fault),
        }
    }
}

impl From<Refusal> for Said {
    fn from(refusal: Refusal) -> Said {
        Said::Error { code: refusal.code().into(), message: refusal.message(), advice: refusal.advice() }
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
    /// Something about the session itself; its answer is led through that.
    Own(Action, Filter),
    /// Something to be answered.
    Answer(Answer),
}

/// Carries out a line, as far as it is no business of the session.
pub fn carry_out(line: &str, door: &Door, mode: &Mode, screen: Screen) -> Result<Asked, Said> {
    // A filter in what a word stands for is part of it.
    if let Some(action) = of_session(line).filter(|action| action.verb == "alias") {
        return Ok(Asked::Own(action, Filter::default()));
    }
    let (command, filter) = Filter::split(line)?;
    if let Some(action) = of_session(command) {
        return Ok(Asked::Own(action, filter));
    }
    if let Some(plain) = json::asked(command).filter(|plain| is_looking(plain)) {
        let print = if screen.is_terminal || !filter.is_empty() { Print::Lines } else { Print::Line };
        let asked = match read(&plain) {
            Ok(Some(typed)) => look(&typed, door, mode, Look::As(print)),
            _ => Ok(None),
        };
        let asked = match asked {
            Ok(None) => ask(&plain, door, mode).map(Looked::Answer),
            Ok(Some(looked)) => Ok(looked),
            Err(said) => Err(said),
        };
        return Ok(match asked {
            Ok(Looked::Pages(pages)) => Asked::Count(pages, filter),
            Ok(Looked::Answer(answer)) => Asked::Answer(filter.led(answer)),
            Err(said) => Asked::Answer(filter.led(json::refused(said, print)?)),
        });
    }
    // What is configured only the program knows; it says what is wrong with a line that means nothing without.
    let read = read(command);
    if let Ok(Some(typed)) = &read {
        // What is searched is whole.
        let room = Some(screen.columns).filter(|_| screen.is_terminal && filter.is_empty());
        match look(typed, door, mode, Look::LaidOut { room })? {
            Some(Looked::Pages(pages)) => return Ok(Asked::Count(pages, filter)),
            Some(Looked::Answer(answer)) => return Ok(Asked::Answer(filter.led(answer))),
            None => {}
        }
    }
    let answer = match read {
        Ok(None) => return Ok(Asked::Nothing),
        Ok(Some(typed)) => match typed.meaning() {
            Meaning::Action(Action { verb: "quit" | "exit", .. }) => return Ok(Asked::Leave),
            Meaning::Action(action @ Action { verb: "source" | "batch", .. }) => {
                // The files are this process's to read, and not everybody's who may have it read them.
                if door.session().is_some() {
                    post(PERMISSION, command, door, mode)?;
                }
                return Ok(Asked::Read(action.clone()));
            }
            Meaning::Action(action @ Action { verb: "help" | "man" | "explain" | "check", .. }) => {
                if action.verb == "check" && door.session().is_some() {
                    post(PERMISSION, command, door, mode)?;
                }
                Answer { pages: action.verb == "man", ..told::text(action, door)?.into() }
            }
            _ => ask(command, door, mode)?,
        },
        Err((refusal @ (Refusal::LineTooLong { .. } | Refusal::UnmatchedQuote), _)) => {
            return Err(refusal.into());
        }
        Err(_) => ask(command, door, mode)?,
    };
    Ok(Asked::Answer(filter.led(answer)))
}

/// What a line means, without what only the program knows.
fn read(command: &str) -> Result<Option<Typed>, (Refusal, usize)> {
    Typed::read(command, &Config::default())
}

/// What `show` and `stat` come to.
enum Looked {
    Answer(Answer),
    Pages(Pages),
}

/// How it is to be told.
#[derive(Clone, Copy)]
enum Look {
    /// As JSON.
    As(Print),
    /// As the appliance lays it out, within so many columns.
    LaidOut { room: Option<usize> },
}

/// Looks, if that is what it asks for: as the appliance lays it out, or as JSON.
fn look(typed: &Typed, door: &Door, mode: &Mode, how: Look) -> Result<Option<Looked>, Said> {
    let pages = match typed.meaning() {
        Meaning::Command(parsed) if parsed.verb() == Verb::Stat => match parsed.commands() {
            [command] => Pages::of_command(command),
            _ => Err(Said::error("Operation not supported here [stat of several at once]")),
        },
        Meaning::Action(action @ Action { verb: "stat", .. }) => Pages::of_action(action),
        _ => {
            let found = match typed.meaning() {
                Meaning::Command(parsed) if parsed.verb() == Verb::Show => {
                    show::find(parsed.commands(), door, mode)?
                }
                Meaning::Action(action @ Action { verb: "show", .. }) => {
                    show::find_beside(action, door, mode)?
                }
                _ => return Ok(None),
            };
            return Ok(Some(Looked::Answer(match how {
                Look::As(print) => json::answer(found.rows(), print),
                Look::LaidOut { room } => {
                    let found = found.within(room);
                    let total = found.total().filter(|_| mode.total);
                    // How the appliance words it no document says.
                    let total = total.map_or(String::new(), |total| format!("Total: {total}\n"));
                    (total + &found.laid_out()).into()
                }
            })));
        }
    };
    let print = if let Look::As(print) = how { Some(print) } else { None };
    Ok(Some(Looked::Pages(pages?.printed(print))))
}

/// Is its verb `show` or `stat`?
fn is_looking(command: &str) -> bool {
    let words = words(command).unwrap_or_default();
    let verb = words.first().map_or("", |word| word.text.as_str());
    verb.eq_ignore_ascii_case("stat") || verb.len() > 1 && abbreviates(verb, "show")
}

impl From<String> for Answer {
    fn from(text: String) -> Answer {
        Answer { text, ..Answer::default() }
    }
}

/// The command, if it is one about the session itself.
fn of_session(line: &str) -> Option<Action> {
    let words = words_of(line).ok()?;
    if let [verb, group, object, ..] = &*words
        && group.text.eq_ignore_ascii_case("cli")
        && let Some((verb, object)) = OF_CLI.into_iter().find(|(known, full)| {
            abbreviates(&verb.text, known)
                && abbreviates(&object.text, full.strip_prefix("cli ").unwrap_or(full))
        })
    {
        return Some(Action { verb, object: object.to_owned(), arguments: words[3..].to_vec() });
    }
    match Typed::read(line, &Config::default()).ok()??.meaning() {
        Meaning::Action(action) if SESSION.contains(&action.verb) => Some(action.clone()),
        _ => None,
    }
}

/// Has the program carry it out.
///
/// # Errors
/// It is refused, or the program is not reached.
pub fn ask(line: &str, door: &Door, mode: &Mode) -> Result<Answer, Said> {
    post(COMMAND, line, door, mode)
}

/// Who asks, and what the user's prompt shows by the configuration, if that is said.
pub fn whoami(door: &Door) -> Option<(String, Option<String>)> {
    let body = door.post(COMMAND, serde_json::json!({ "line": "whoami" }).to_string()).ok()?;
    let answer: Map<String, Value> = serde_json::from_str(&body).ok()?;
    let user = answer.get("text")?.as_str()?.trim().strip_prefix("UserName: ")?.to_owned();
    Some((user, answer.get("prompt").and_then(Value::as_str).map(str::to_owned)))
}

fn post(path: &str, line: &str, door: &Door, mode: &Mode) -> Result<Answer, Said> {
    let mut asked = serde_json::json!({ "line": line });
    if mode.feature == DisabledFeature::Deny {
        asked["disabledFeatureAction"] = "DENY".into();
    }
    if !mode.regex {
        asked["regex"] = "OFF".into();
    }
    let body = door.post(path, asked.to_string())?;
    let unread = |_| Said::error("Internal error [the answer cannot be read]");
    let answer: Map<String, Value> = serde_json::from_str(&body).map_err(unread)?;
    let text = |field: &str| answer.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let code = answer.get("errorcode").and_then(Value::as_u64);
    if code.is_some_and(|code| QUESTIONS.contains(&code)) {
        let confirmed = format!("{} -force", line.trim_end());
        return Err(Said::Question(Question { text: text("message"), advice: text("advice"), confirmed }));
    }
    if code != Some(0) {
        let code = code.unwrap_or_default();
        return Err(Said::Error { code, message: text("message"), advice: text("advice") });
    }
    let warnings = answer.get("warnings").and_then(Value::as_array).into_iter().flatten();
    let is_told = |warning: &&str| mode.feature != DisabledFeature::None || !warning.starts_with(FEATURE_OFF);
    let warnings = warnings.filter_map(Value::as_str).filter(is_told).map(str::to_owned).collect();
    Ok(Answer { text: super::layout::lines(&text("text")), warnings, ..Answer::default() })
}

/// `Operation not supported`, the code of what only this prompt says.
pub const NOT_SUPPORTED: u64 = 301;
const COMMAND: &str = "/steelyard/v1/command";
const PERMISSION: &str = "/steelyard/v1/permission";

/// The words of a line that are its own, without those of a remark.
pub fn words_of(line: &str) -> Result<Vec<Word>, Said> {
    words(line).map_err(|(refusal, _)| refusal.into())
}

/// 1036 to 1039: `Are you sure ...?`
const QUESTIONS: std::ops::RangeInclusive<u64> = 1036..=1039;
/// Commands that are the session's by their verb.
const SESSION: [&str; 5] = ["alias", "unalias", "history", "cls", "config"];
/// And those by their object; `sh` begins no other verb of them.
const OF_CLI: [(&str, &str); 7] = [
    ("set", "cli mode"),
    ("set", "cli prompt"),
    ("unset", "cli mode"),
    ("show", "cli mode"),
    ("show", "cli prompt"),
    ("show", "cli attribute"),
    ("clear", "cli prompt"),
];
/// How the warning about a feature that is off begins.
const FEATURE_OFF: &str = "Feature(s) not enabled";
