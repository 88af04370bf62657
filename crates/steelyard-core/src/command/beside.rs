//! Secrets that are not in `ns.conf`: the file that is saved beside it, and one in which an operator supplies what the
//! appliance had encrypted.
//!
//! Owns which of two secrets counts. Never reads a secret that is sealed; it can be opened or not, which shows later. What
//! `ns.conf` gives in plain counts before what was sealed of an earlier one; what it has encrypted stays for the
//! appliance, and what is supplied is used here.

use std::collections::{BTreeMap, VecDeque};

use super::apply::apply_all;
use super::form::form;
use super::lex::{self, Word};
use super::parse::{Said, understand};
use super::read::{File, Place, Refused};
use super::refusal::Refusal;
use super::resolve::Search;
use super::text::{self, Content};
use super::value::write;
use super::{Command, Object, Seal, Verb, keep, seal};
use crate::config::attribute::{Place as RowPlace, Resource, Row, Value};
use crate::config::kept::Whole;
use crate::config::secret::Secret;
use crate::config::{Config, LbMonitor, LbProfile, SslCertKey, SystemUser};

/// What `steelyard.conf` has: sealed lines by what can be shown of them, and commands with sealed secrets.
#[derive(Default)]
pub(super) struct Beside {
    sealed: BTreeMap<String, VecDeque<(usize, String)>>,
    commands: Vec<(usize, String)>,
    wrong: Vec<(usize, Refusal)>,
}

impl Beside {
    /// Sorts the lines of the file.
    pub(super) fn read(file: &[u8]) -> Beside {
        let mut beside = Beside::default();
        let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
        for (index, line) in file.split(|byte| *byte == b'\n').enumerate() {
            beside.line(index + 1, line.trim_ascii());
        }
        beside
    }

    fn line(&mut self, number: usize, line: &[u8]) {
        let Ok(line) = std::str::from_utf8(line) else {
            let byte = line.iter().copied().find(|byte| !byte.is_ascii()).unwrap_or_default();
            return self.wrong.push((number, Refusal::NotText { byte }));
        };
        match line.rsplit_once(SEALED) {
            _ if line.is_empty() || line.starts_with('#') => {}
            Some((name, sealed)) if !sealed.is_empty() && !sealed.contains(' ') => {
                let sealed = (number, sealed.to_owned());
                self.sealed.entry(name.to_owned()).or_default().push_back(sealed);
            }
            _ => self.commands.push((number, line.to_owned())),
        }
    }

    /// What was sealed of a line of which this can be shown; each is taken once, in the order of the file.
    pub(super) fn take(&mut self, name: &str) -> Option<String> {
        self.sealed.get_mut(name)?.pop_front().map(|(_, sealed)| sealed)
    }

    /// Runs the commands. Refuses those that cannot be run, and lines that nothing in `ns.conf` stands for any more.
    pub(super) fn finish(self, config: &mut Config, seal: &dyn Seal, file: &str) -> Vec<Refused> {
        let mut refused = self.wrong;
        for (number, command) in self.commands {
            let words = match command.len() {
                0..=text::LONGEST_COMMAND => lex::words(&command),
                _ => Err((Refusal::LineTooLong { max: text::LONGEST_COMMAND }, 1)),
            };
            if let Err((refusal, _)) = words.and_then(|words| run(config, &words, seal, Origin::Saved)) {
                refused.push((number, refusal));
            }
        }
        let left = self.sealed.into_values().flatten();
        refused.extend(
            left.map(|(number, _)| (number, Refusal::NoSecret { what: "a line that ns.conf has not" })),
        );
        refused.sort_by_key(|(number, _)| *number);
        let place = |line| Place { file: file.to_owned(), line, column: 1 };
        refused.into_iter().map(|(line, refusal)| Refused { place: place(line), refusal }).collect()
    }
}

/// Sets secrets of what exists, each by a line of NetScaler's grammar. No refusal quotes a value.
pub(super) fn supply(config: &mut Config, file: File<'_>, seal: &dyn Seal) -> Vec<Refused> {
    let place = |line, column| Place { file: file.name.to_owned(), line, column };
    let lines = match text::lines(file.text) {
        Ok(lines) => lines,
        Err(refusal) => return vec![Refused { place: place(1, 1), refusal }],
    };
    let mut refused = Vec::new();
    for line in lines {
        let text = line.text().into_owned();
        let outcome = match line.content {
            Content::Comment | Content::Noise => continue,
            Content::Wrong { column, refusal } => Err((refusal, column)),
            Content::Command { words, .. } => run(config, &words, seal, Origin::Supplied),
        };
        if let Err((refusal, column)) = outcome {
            let (number, column) = text::place(&text, line.number, column);
            let names = matches!(refusal, Refusal::NoSuch { .. });
            let refusal = refusal.without(|_| !names);
            refused.push(Refused { place: place(number, column), refusal });
        }
    }
    refused
}

/// Where a secret comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// From the file that was saved beside `ns.conf`.
    Saved,
    /// From the operator.
    Supplied,
}

fn run(config: &mut Config, words: &[Word], seal: &dyn Seal, origin: Origin) -> Result<(), (Refusal, usize)> {
    let mut parsed = match understand(words)? {
        Said::Command(parsed) if parsed.verb() == verb(parsed.object()) => parsed,
        _ => return Err((Refusal::NoSecret { what: "this command" }, 1)),
    };
    for command in parsed.commands() {
        secrets_alone(command, origin).map_err(|refusal| (refusal.clone(), parsed.column_of(&refusal)))?;
    }
    parsed.seal(seal)?;
    for command in parsed.commands_mut() {
        command.put_beside(config, origin).map_err(|refusal| (refusal, 1))?;
    }
    let object = parsed.object();
    apply_all(config, parsed.commands()).map(drop).map_err(|mut refusal| {
        Search::default().explain(config, object, &mut refusal);
        let column = parsed.column_of(&refusal);
        (refusal, column)
    })
}

/// A command that names an object and sets secrets of it.
fn secrets_alone(command: &Command, origin: Origin) -> Result<(), Refusal> {
    let mut secrets = 0;
    for (row, value) in command.arguments() {
        match (value, origin) {
            (Value::Secret(Secret::Sealed(_)), Origin::Saved) | (Value::Secret(Secret::Plain(_)), _) => {
                secrets += 1
            }
            (Value::Secret(_), _) => {
                return Err(Refusal::NoSecret { what: "an encrypted value" });
            }
            _ if matches!(row.place, RowPlace::Key | RowPlace::Required | RowPlace::Optional) => {}
            _ => return Err(Refusal::NoSecret { what: row.cli }),
        }
    }
    match secrets {
        0 => Err(Refusal::NothingToSet),
        _ => Ok(()),
    }
}

impl Command {
    /// Puts each sealed secret beside what the appliance has encrypted.
    fn put_beside(&mut self, config: &Config, origin: Origin) -> Result<(), Refusal> {
        for index in 0..self.arguments.len() {
            let argument = &self.arguments[index];
            let Value::Secret(Secret::Sealed(sealed)) = &argument.value else { continue };
            let secret = match self.secret_now(config, argument.row) {
                Some(Secret::Sealed(_)) if origin == Origin::Saved => {
                    return Err(Refusal::SecretGiven { argument: argument.row.cli });
                }
                Some(Secret::Foreign(foreign) | Secret::Supplied { foreign, .. }) => {
                    Secret::Supplied { foreign, sealed: sealed.clone() }
                }
                _ => continue,
            };
            self.arguments[index].value = Value::Secret(secret);
        }
        Ok(())
    }

    /// The secret that the object of this command has now.
    fn secret_now(&self, config: &Config, row: &Row) -> Option<Secret> {
        fn of<T: Resource>(resource: &T, row: &Row) -> Option<Secret> {
            let attribute = T::ATTRIBUTES.iter().find(|attribute| attribute.row.nitro == row.nitro)?;
            match (attribute.value)(resource)? {
                Value::Secret(secret) => Some(secret),
                _ => None,
            }
        }
        let name = || {
            self.arguments().find_map(|(row, value)| match value {
                Value::Text(name) if row.place == RowPlace::Key => Some(name),
                _ => None,
            })
        };
        match self.object() {
            Object::LbMonitor => of::<LbMonitor>(config.lb_monitors.find(name()?)?, row),
            Object::LbParameter => of(&config.lb_parameter, row),
            Object::SystemUser => of::<SystemUser>(config.system_users.find(name()?)?, row),
            Object::SslCertKey => of::<SslCertKey>(config.ssl_cert_keys.find(name()?)?, row),
            Object::LbProfile => of::<LbProfile>(config.lb_profiles.find(name()?)?, row),
            _ => None,
        }
    }
}

/// The file that is saved beside `ns.conf`: what it says of each sealed line and of each resource with a sealed secret.
pub(super) fn print(config: &Config) -> String {
    let mut out = String::new();
    for kept in config.kept.iter() {
        if let Whole::Sealed(sealed) = &kept.whole {
            out.push_str(&format!("{}{SEALED}{sealed}\n", keep::name(kept)));
        }
    }
    set(&config.lb_parameter, Object::LbParameter, &mut out);
    config.lb_monitors.iter().for_each(|monitor| set(monitor, Object::LbMonitor, &mut out));
    config.system_users.iter().for_each(|user| set(user, Object::SystemUser, &mut out));
    config.ssl_cert_keys.iter().for_each(|pair| set(pair, Object::SslCertKey, &mut out));
    config.lb_profiles.iter().for_each(|profile| set(profile, Object::LbProfile, &mut out));
    out
}

/// The command that sets the sealed secrets of a resource, if it has any.
fn set<T: Resource>(resource: &T, object: Object, out: &mut String) {
    let mut options = String::new();
    for attribute in T::ATTRIBUTES {
        if let Some(Value::Secret(secret)) = (attribute.value)(resource)
            && let Some(sealed) = secret.sealed()
        {
            options.push_str(&format!(" -{} {sealed} -{}", attribute.row.cli, seal::SEALED));
        }
    }
    let verb = verb(object);
    let Some(form) = form(verb, object).filter(|_| !options.is_empty()) else { return };
    out.push_str(&format!("{} {}", verb.text(), T::OBJECT));
    for slot in form.slots.iter().filter(|slot| slot.required) {
        let attribute = T::ATTRIBUTES.iter().find(|attribute| attribute.row == *slot.row);
        if let Some(value) = attribute.and_then(|attribute| (attribute.value)(resource)) {
            out.push(' ');
            write(&slot.row.kind, &value, out);
        }
    }
    out.push_str(&options);
    out.push('\n');
}

/// What changes a secret of such an object.
fn verb(object: Object) -> Verb {
    if object == Object::SslCertKey { Verb::Update } else { Verb::Set }
}

/// Between what can be shown of a line and the sealed text.
pub(super) const SEALED: &str = " -sealed ";
