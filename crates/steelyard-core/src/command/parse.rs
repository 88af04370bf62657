//! Words of a line to a [`Command`]: which command it is; which word belongs to which row is the work of `arguments`.
//!
//! Every word may be shortened to the beginning of exactly one known word. Columns stay outside the command: they are
//! kept beside it, for the message of a refusal that only `apply` can give.

use super::arguments::{Arguments, Read};
use super::catalogue::{Entry, Head, head, stored};
use super::form::form;
use super::lex::Word;
use super::matching::Matching;
use super::refusal::Refusal;
use super::resolve::is_stored;
use super::{Command, Object, Seal, Verb};
use crate::config::Config;
use crate::config::attribute::{Row, Value};
use crate::config::secret::Secret;

/// A command, or those that its ranges stand for, and where the arguments stood.
#[derive(Debug)]
pub struct Parsed {
    verb: Verb,
    object: Object,
    commands: Vec<Command>,
    columns: Vec<(&'static str, usize)>,
    end: usize,
}

impl Parsed {
    /// What the line says, in order; never empty.
    pub fn commands(&self) -> &[Command] {
        &self.commands
    }

    /// What to do.
    pub fn verb(&self) -> Verb {
        self.verb
    }

    /// What to do it to.
    pub fn object(&self) -> Object {
        self.object
    }

    /// May it stand before the line that adds what it names?
    pub(super) fn waits(&self) -> bool {
        match self.verb {
            Verb::Rm | Verb::Rename | Verb::Unlink | Verb::Show | Verb::Stat => false,
            Verb::Unbind => {
                matches!(self.object, Object::SslVserver | Object::SslService | Object::SslServiceGroup)
            }
            Verb::Add | Verb::Bind | Verb::Set | Verb::Unset | Verb::Enable | Verb::Disable => true,
            Verb::Link | Verb::Update => true,
        }
    }

    /// The same, to be changed.
    pub(super) fn commands_mut(&mut self) -> &mut [Command] {
        &mut self.commands
    }

    /// Where plain secrets stand.
    pub(super) fn plain_columns(&self) -> Vec<usize> {
        let plain = |row: &Row, value: &Value| match value {
            Value::Secret(Secret::Plain(_)) => self.columns.iter().find(|(name, _)| *name == row.cli),
            _ => None,
        };
        let commands = self.commands.iter().take(1).flat_map(Command::arguments);
        commands.filter_map(|(row, value)| plain(row, value)).map(|(_, column)| *column).collect()
    }

    /// Where a secret stands that is sealed already, if one is.
    pub(super) fn sealed_column(&self) -> Option<usize> {
        let sealed = |value: &Value| matches!(value, Value::Secret(Secret::Sealed(_)));
        let (row, _) = self.commands.iter().flat_map(Command::arguments).find(|(_, value)| sealed(value))?;
        self.columns.iter().find(|(name, _)| *name == row.cli).map(|(_, column)| *column)
    }

    /// Seals every plain secret.
    ///
    /// # Errors
    /// [`Refusal::CannotSeal`] and its column.
    pub fn seal(&mut self, seal: &dyn Seal) -> Result<(), (Refusal, usize)> {
        let sealed = self.commands.iter_mut().try_for_each(|command| command.seal(seal));
        sealed.map_err(|refusal| {
            let column = self.column_of(&refusal);
            (refusal, column)
        })
    }

    /// The commands, and where each of their arguments stood.
    pub(super) fn into_parts(self) -> (Vec<Command>, Vec<(&'static str, usize)>) {
        (self.commands, self.columns)
    }

    /// Column that a refusal of `apply` is about: where its argument stands, or would have to.
    pub fn column_of(&self, refusal: &Refusal) -> usize {
        let stands = |argument| self.columns.iter().find(|(name, _)| *name == argument);
        match refusal.argument().and_then(stands) {
            Some((_, column)) => *column,
            None => self.end,
        }
    }
}

/// What a line says.
#[derive(Debug)]
pub(super) enum Said {
    /// A command of this program.
    Command(Parsed),
    /// One that is kept as it stands.
    Kept(Entry),
}

/// Makes a command of the words of a line.
///
/// # Errors
/// [`Refusal`] and the column of the word at fault. A command that is only kept is refused, too.
pub fn parse(words: &[Word]) -> Result<Parsed, (Refusal, usize)> {
    match understand(words)? {
        Said::Command(parsed) => Ok(parsed),
        Said::Kept(_) => {
            let what: Vec<&str> = words.iter().take(3).map(|word| word.text.as_str()).collect();
            Err((Refusal::NotCarried { argument: None, what: what.join(" "), carried: &[] }, 1))
        }
    }
}

/// How a line about an object that nothing acts on is kept if it cannot be carried out, instead of being refused.
#[derive(Clone, Copy)]
pub(super) struct Instead {
    /// As what, and where.
    pub(super) entry: Entry,
    /// Its verb and object, if it was understood.
    about: Option<(Verb, Object)>,
}

impl Instead {
    /// Is the line kept although it was refused so? One that takes something away is not: when the file is read again, it
    /// could take away what came after it. TLS of a virtual server or a service that is not here as such is kept as its lines say; what
    /// adds an object once more stands behind the line that added it.
    pub(super) fn of(&self, refusal: &Refusal, config: &Config) -> bool {
        match (refusal, self.about) {
            (Refusal::NoSuch { argument: "vServerName" | "serviceName" | "serviceGroupName", .. }, _) => true,
            (Refusal::Exists { name, .. }, Some((Verb::Add, object))) => is_stored(config, object, name),
            (_, Some((Verb::Rm | Verb::Rename | Verb::Unbind | Verb::Unlink, _))) => false,
            _ => !refusal.is_conflict(),
        }
    }
}

/// How a line is kept if it cannot be carried out.
pub(super) fn kept_instead(said: &Result<Said, (Refusal, usize)>, words: &[Word]) -> Option<Instead> {
    let about = match said {
        Ok(Said::Kept(_)) => return None,
        Ok(Said::Command(command)) if !command.object().is_stored() => return None,
        Ok(Said::Command(command)) => Some((command.verb(), command.object())),
        Err(_) => None,
    };
    stored(words).map(|entry| Instead { entry, about })
}

/// Makes a command of the words of a line, or tells how it is kept.
///
/// # Errors
/// [`Refusal`] and the column of the word at fault.
pub(super) fn understand(words: &[Word]) -> Result<Said, (Refusal, usize)> {
    understand_matching(words, None)
}

/// The same; regular expressions stand for objects, where that is said.
///
/// # Errors
/// [`Refusal`] and the column of the word at fault.
pub(super) fn understand_matching(
    words: &[Word],
    matching: Option<&Matching<'_>>,
) -> Result<Said, (Refusal, usize)> {
    let end = words.last().map_or(1, |last| last.end + 1);
    let (verb, object, column, used) = match head(words, end)? {
        Head::Kept(entry) => return Ok(Said::Kept(entry)),
        Head::Command { verb, object, column, used } => (verb, object, column, used),
    };
    let form = form(verb, object).ok_or_else(|| {
        let command = format!("{} {}", verb.text(), object.text());
        (Refusal::UnknownCommand { word: command, nearest: None }, column)
    })?;
    let read = |pick| Arguments::new(verb, object, &form, pick).matching(matching).read(&words[used..], end);
    let Read { command, columns, size } = read(0)?;
    let mut commands = vec![command];
    for pick in 1..size {
        commands.push(read(pick)?.command);
    }
    Ok(Said::Command(Parsed { verb, object, commands, columns, end }))
}
