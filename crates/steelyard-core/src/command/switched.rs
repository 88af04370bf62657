//! What the lines of a file say of switching things on and off beyond the switches that the configuration keeps: slow ways
//! out of service, virtual servers that are enabled by hand, and names that changed.

use std::collections::BTreeSet;

use super::read::{Line, Outcome};
use super::{Command, Object, Verb};
use crate::config::attribute::{Host, Place, Value};
use crate::config::departure::{Departure, Departures, Disabled};
use crate::config::renamed::Renamed;

/// See above.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Switched {
    /// How what is disabled leaves.
    pub departures: Departures,
    /// Virtual servers that a line enables, in lower case.
    pub enabled_vservers: BTreeSet<String>,
    /// What has another name.
    pub renamed: Renamed,
}

impl Switched {
    /// What those lines say; of several about one object the last counts.
    pub fn by(lines: &[Line]) -> Switched {
        let mut switched = Switched::default();
        let applied = lines.iter().filter_map(|line| match &line.outcome {
            Outcome::Applied { commands, .. } => Some(commands),
            _ => None,
        });
        applied.flatten().for_each(|command| switched.note(command));
        switched
    }

    /// The same of commands.
    pub fn by_commands(commands: &[Command]) -> Switched {
        let mut switched = Switched::default();
        commands.iter().for_each(|command| switched.note(command));
        switched
    }

    fn note(&mut self, command: &Command) {
        match (command.verb(), command.object()) {
            (Verb::Enable, Object::LbVserver) => {
                self.enabled_vservers.insert(key(command).to_ascii_lowercase());
            }
            (Verb::Disable, Object::LbVserver) => {
                self.enabled_vservers.remove(&key(command).to_ascii_lowercase());
            }
            (Verb::Rename, Object::LbVserver) => self.renamed.vservers.extend(renamed(command)),
            (Verb::Rename, Object::Service) => self.renamed.services.extend(renamed(command)),
            (Verb::Disable, Object::Server) => self.leaves(Disabled::Server(key(command)), command),
            (Verb::Disable, Object::Service) => self.leaves(Disabled::Service(key(command)), command),
            (Verb::Disable, Object::ServiceGroup) => self.leaves(member_or_group(command), command),
            _ => {}
        }
    }

    fn leaves(&mut self, what: Disabled, command: &Command) {
        let delay_s = match command.value("delay") {
            Some(Value::Number(seconds)) => *seconds,
            _ => 0,
        };
        let graceful = command.value("graceful") == Some(&Value::Flag(true));
        self.departures.note(what, Departure::asked(delay_s, graceful));
    }
}

fn member_or_group(command: &Command) -> Disabled {
    match (command.value("servername"), command.value("port")) {
        (Some(Value::Host(host)), Some(Value::Number(port))) => {
            let server = match host {
                Host::Ip(ip) => ip.to_string(),
                Host::Server(name) => name.clone(),
            };
            Disabled::Member(key(command), server, u16::try_from(*port).unwrap_or(u16::MAX))
        }
        _ => Disabled::Group(key(command)),
    }
}

/// The old name and the new one.
fn renamed(command: &Command) -> Option<(String, String)> {
    match command.value("newname") {
        Some(Value::Text(new)) => Some((key(command), new.clone())),
        _ => None,
    }
}

/// What the command's object is called.
fn key(command: &Command) -> String {
    match command.arguments().find(|(row, _)| row.place == Place::Key) {
        Some((_, Value::Text(name))) => name.clone(),
        _ => String::new(),
    }
}
