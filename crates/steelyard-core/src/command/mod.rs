//! Text to configuration: read a line, check it, apply it; refusals carry NITRO error codes.
//!
//! The one door to [`Config`](crate::config::Config): whether a command came as text or as JSON, it is a [`Command`]
//! when it gets here, and [`apply()`] is the only code that changes a configuration.

pub mod abbreviation;
mod about;
mod already;
mod apply;
mod arguments;
mod asked;
mod beside;
mod catalogue;
mod code;
mod complete;
mod counted;
mod described;
mod form;
mod guard;
mod help;
pub mod host;
mod keep;
pub mod lex;
mod manual;
mod mask;
mod matching;
mod meant;
mod misfit;
mod mistake;
mod nearest;
mod once;
mod one_line;
mod parse;
mod password;
mod print;
mod range;
mod read;
mod refusal;
mod resolve;
mod said;
mod seal;
mod superuser;
mod switched;
mod taken;
pub mod text;
mod typed;
mod unmeasured;
mod used;
mod value;
pub mod verdict;
mod vocabulary;
mod wording;
mod words;

pub use already::is_there_already;
pub use apply::{Done, Level, Warning, apply, bind_over, clear};
pub use asked::{help, man};
pub use complete::{Candidate, Completion, complete, is_inside_text};
pub use counted::{OF_THE_APPLIANCE, counted};
pub use described::{DEPENDENCIES, Dependency, Described, described};
pub use guard::{Guarded, Policies, guards};
pub use help::usage;
pub use manual::{Entry, Page, pages};
pub use matching::NamePattern;
pub use misfit::Misfit;
pub use once::{FILTERS, GREP, JSON, Once, Part, What, once};
pub use one_line::run_line;
pub use parse::{Parsed, parse};
pub use password::{LONGEST_PASSWORD, learn_password};
pub use print::{Printed, print};
pub use read::{File, Files, Line, Outcome, Place, Reading, Refused, read, read_files};
pub use refusal::{Allowed, Hint, Refusal};
pub use seal::{CannotSeal, Forget, Seal};
pub use switched::Switched;
pub use taken::{Taken, taken};
pub use typed::{Action, Meaning, Typed, in_full, typed_word, without_secrets};
pub use unmeasured::unmeasured;
pub use used::features_not_enabled;
pub use wording::code_of;

use matching::is_expression;

use crate::config::attribute::{self, Change, Resource, Row, Value};
use crate::config::{HaPartner, SslService, SslServiceGroup};
use form::Form;

/// What to do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verb {
    /// Create an object.
    Add,
    /// Bind one object to another.
    Bind,
    /// Change an object or a binding.
    Set,
    /// Put an object into service.
    Enable,
    /// Take an object out of service.
    Disable,
    /// Put options back to their defaults.
    Unset,
    /// Remove an object.
    Rm,
    /// Undo a binding.
    Unbind,
    /// Give an object another name.
    Rename,
    /// Show objects; changes nothing.
    Show,
    /// Show counters; changes nothing.
    Stat,
    /// Say of whom a certificate is signed.
    Link,
    /// Take that back.
    Unlink,
    /// Put another file in the place of one.
    Update,
}

/// What to do it to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Object {
    /// `server`
    Server,
    /// `service`
    Service,
    /// `serviceGroup`
    ServiceGroup,
    /// `lb vserver`
    LbVserver,
    /// `lb monitor`
    LbMonitor,
    /// `lb parameter`
    LbParameter,
    /// `ns feature`
    NsFeature,
    /// `ns ip`
    NsIp,
    /// `netProfile`
    NetProfile,
    /// `ns mode`
    NsMode,
    /// `ns hostName`
    NsHostName,
    /// `ns config`
    NsConfig,
    /// `ns param`
    NsParam,
    /// `ns spParams`
    NsSpParams,
    /// `lb group`
    LbGroup,
    /// `serviceGroupMember`
    ServiceGroupMember,
    /// `system user`
    SystemUser,
    /// `system group`
    SystemGroup,
    /// `system cmdPolicy`
    SystemCmdPolicy,
    /// `system parameter`
    SystemParameter,
    /// `cs vserver`
    CsVserver,
    /// `cs policy`
    CsPolicy,
    /// `cs action`
    CsAction,
    /// `ssl certKey`
    SslCertKey,
    /// `ssl vserver`
    SslVserver,
    /// `ssl service`
    SslService,
    /// `ssl serviceGroup`
    SslServiceGroup,
    /// `lb profile`
    LbProfile,
    /// A partner, or the appliance itself among them.
    HaPartner,
}

/// A command whose every value is of its row's kind and in its row's range. What it refers to may not exist.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    verb: Verb,
    object: Object,
    arguments: Vec<Argument>,
}

/// A row and the value given for it.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Argument {
    row: &'static Row,
    value: Value,
}

impl Command {
    /// A command from NITRO's names of its arguments and the words of each value: a list has several words, a number
    /// with a unit two.
    ///
    /// # Errors
    /// [`Refusal`] when the verb does not go with the object, or of the first argument that is unknown, given twice,
    /// malformed, out of its range or missing.
    pub fn new(verb: Verb, object: Object, fields: &[(&str, &[&str])]) -> Result<Command, Refusal> {
        let form = form::form(verb, object).ok_or_else(|| Refusal::UnknownCommand {
            word: format!("{} {}", verb.text(), object.text()),
            nearest: None,
        })?;
        let mut builder = Builder::new(verb, object, &form);
        for (name, words) in fields {
            let row = form.row_of_nitro(name).ok_or_else(|| Refusal::UnknownArgument {
                word: (*name).to_owned(),
                nearest: nearest::nearest(name, form.rows().map(|row| row.nitro)),
            })?;
            if let [word, ..] = builder.give(row, words)? {
                return Err(Refusal::TooManyValues { argument: row.cli, word: (*word).to_owned() });
            }
        }
        builder.finish()
    }

    /// What to do.
    pub fn verb(&self) -> Verb {
        self.verb
    }

    /// What to do it to.
    pub fn object(&self) -> Object {
        self.object
    }

    /// Every argument given, in the order of the command's synopsis.
    pub fn arguments(&self) -> impl Iterator<Item = (&'static Row, &Value)> {
        self.arguments.iter().map(|argument| (argument.row, &argument.value))
    }

    /// Has a `set` nothing but what names the object?
    fn changes_nothing(&self) -> bool {
        self.object != Object::NsHostName && self.arguments().all(|(row, _)| row.change == Change::AtAdd)
    }

    /// 1088 for a verb that does not go with its object.
    fn unknown(&self) -> Refusal {
        let word = format!("{} {}", self.verb.text(), self.object.text());
        Refusal::UnknownCommand { word, nearest: None }
    }

    /// The value of the argument that NITRO calls `nitro`.
    pub fn value(&self, nitro: &str) -> Option<&Value> {
        self.arguments().find(|(row, _)| row.nitro == nitro).map(|(_, value)| value)
    }
}

impl Verb {
    /// As the command line calls it.
    pub const fn text(self) -> &'static str {
        match self {
            Verb::Add => "add",
            Verb::Bind => "bind",
            Verb::Set => "set",
            Verb::Enable => "enable",
            Verb::Disable => "disable",
            Verb::Unset => "unset",
            Verb::Rm => "rm",
            Verb::Unbind => "unbind",
            Verb::Rename => "rename",
            Verb::Show => "show",
            Verb::Stat => "stat",
            Verb::Link => "link",
            Verb::Unlink => "unlink",
            Verb::Update => "update",
        }
    }

    /// Every verb.
    pub const ALL: [Verb; 14] = [
        Verb::Add,
        Verb::Bind,
        Verb::Set,
        Verb::Enable,
        Verb::Disable,
        Verb::Unset,
        Verb::Rm,
        Verb::Unbind,
        Verb::Rename,
        Verb::Show,
        Verb::Stat,
        Verb::Link,
        Verb::Unlink,
        Verb::Update,
    ];
}

impl Object {
    /// As the command line calls it.
    pub const fn text(self) -> &'static str {
        match self {
            Object::Server => "server",
            Object::Service => "service",
            Object::ServiceGroup => "serviceGroup",
            Object::LbVserver => "lb vserver",
            Object::LbMonitor => "lb monitor",
            Object::LbParameter => "lb parameter",
            Object::NsFeature => "ns feature",
            Object::NsIp => "ns ip",
            Object::NetProfile => "netProfile",
            Object::NsMode => "ns mode",
            Object::NsHostName => "ns hostName",
            Object::NsConfig => "ns config",
            Object::NsParam => "ns param",
            Object::NsSpParams => "ns spParams",
            Object::LbGroup => "lb group",
            Object::ServiceGroupMember => "serviceGroupMember",
            Object::SystemUser => "system user",
            Object::SystemGroup => "system group",
            Object::SystemCmdPolicy => "system cmdPolicy",
            Object::SystemParameter => "system parameter",
            Object::CsVserver => "cs vserver",
            Object::CsPolicy => "cs policy",
            Object::CsAction => "cs action",
            Object::SslCertKey => "ssl certKey",
            Object::SslVserver => "ssl vserver",
            Object::SslService => SslService::OBJECT,
            Object::SslServiceGroup => SslServiceGroup::OBJECT,
            Object::LbProfile => "lb profile",
            Object::HaPartner => HaPartner::OBJECT,
        }
    }

    /// Can nothing be done to it? Its name then stands in nobody's way: `bind serviceg` is about groups.
    fn is_only_looked_at(self) -> bool {
        self == Object::ServiceGroupMember
    }

    /// Is it about who may do what here?
    fn is_about_users(self) -> bool {
        matches!(
            self,
            Object::SystemUser | Object::SystemGroup | Object::SystemCmdPolicy | Object::SystemParameter
        )
    }

    /// Is it kept, shown and saved, and does nothing, or next to nothing, act on it? What can't be understood about such an object in a file
    /// is kept as it stands.
    pub(super) fn is_stored(self) -> bool {
        matches!(
            self,
            Object::CsVserver
                | Object::CsPolicy
                | Object::CsAction
                | Object::SslCertKey
                | Object::SslVserver
                | Object::SslService
                | Object::SslServiceGroup
                | Object::LbProfile
                | Object::HaPartner
        )
    }

    /// Every object.
    pub const ALL: [Object; 29] = [
        Object::Server,
        Object::Service,
        Object::ServiceGroup,
        Object::LbVserver,
        Object::LbMonitor,
        Object::LbParameter,
        Object::NsFeature,
        Object::NsIp,
        Object::NetProfile,
        Object::NsMode,
        Object::NsHostName,
        Object::NsConfig,
        Object::NsParam,
        Object::NsSpParams,
        Object::LbGroup,
        Object::ServiceGroupMember,
        Object::SystemUser,
        Object::SystemGroup,
        Object::SystemCmdPolicy,
        Object::SystemParameter,
        Object::CsVserver,
        Object::CsPolicy,
        Object::CsAction,
        Object::SslCertKey,
        Object::SslVserver,
        Object::SslService,
        Object::SslServiceGroup,
        Object::LbProfile,
        Object::HaPartner,
    ];
}

/// A command in the making: each argument is read by its row and given at most once.
struct Builder<'f> {
    form: &'f Form,
    command: Command,
    /// Regular expressions may stand in the place of names.
    matches: bool,
}

impl<'f> Builder<'f> {
    fn new(verb: Verb, object: Object, form: &'f Form) -> Builder<'f> {
        let matches = verb == Verb::Show;
        Builder { form, command: Command { verb, object, arguments: Vec::new() }, matches }
    }

    /// Reads a value for `row` and returns the words left over.
    fn give<'a, 'w>(&mut self, row: &'static Row, words: &'a [&'w str]) -> Result<&'a [&'w str], Refusal> {
        if self.has(row) {
            return Err(Refusal::GivenTwice { argument: row.cli });
        }
        let (value, rest) = match words {
            _ if self.is_named_alone(row) => (Value::Unset, words),
            [word, rest @ ..] if self.is_pattern(row, word) => (Value::Text((*word).to_owned()), rest),
            _ => value::read(row, words).map_err(|refusal| self.without_anchor(row, refusal))?,
        };
        self.command.arguments.push(Argument { row, value });
        Ok(rest)
    }

    /// `show` takes a regular expression in the place of a name (`spec/cli.md` 2). Whoever shows reads it.
    fn is_pattern(&self, row: &Row, word: &str) -> bool {
        self.command.verb == Verb::Show && row.place == attribute::Place::Key && is_expression(word)
    }

    /// What is no name may be meant as one.
    fn without_anchor(&self, row: &Row, refusal: Refusal) -> Refusal {
        match refusal {
            Refusal::InvalidName { argument, word }
                if self.matches && row.place == attribute::Place::Key && word.contains(EXPRESSION) =>
            {
                Refusal::NoAnchor { argument, word }
            }
            other => other,
        }
    }

    /// `unset` gives its options no values.
    fn is_named_alone(&self, row: &Row) -> bool {
        self.command.verb == Verb::Unset && self.form.slots.iter().all(|slot| slot.row != row)
    }

    /// What is given so far.
    fn rows(&self) -> impl Iterator<Item = (&'static Row, &Value)> {
        self.command.arguments()
    }

    fn has(&self, row: &Row) -> bool {
        self.command.arguments.iter().any(|argument| argument.row == row)
    }

    /// The command, if nothing that it needs is missing.
    fn finish(mut self) -> Result<Command, Refusal> {
        if let Some(slot) = self.form.slots.iter().find(|slot| slot.required && !self.has(slot.row)) {
            return Err(Refusal::ArgumentMissing { argument: slot.row.cli });
        }
        let form = self.form;
        self.command.arguments.sort_by_cached_key(|argument| form.rows().position(|row| row == argument.row));
        Ok(self.command)
    }
}

/// Characters of regular expressions that no name has.
const EXPRESSION: [char; 9] = ['*', '+', '?', '|', '(', ')', '$', '\\', '^'];
