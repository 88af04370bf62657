//! What the host adds to the verdicts: whether it has the addresses that connections to services are to leave from.
//!
//! Never asks the host itself: whoever can, tells.

use std::net::IpAddr;

use super::{Consequence, Finding, Judgement, OnHost, Verdict, site};
use crate::command::read::{Line, Outcome, Reading};
use crate::command::{Command, Object, Verb};
use crate::config::IpType;
use crate::config::attribute::{Host, Value};

impl Judgement {
    /// Says of each SNIP and each source address of a net profile whether the host has it; `has` is `None` where that
    /// cannot be known. `reading` is what was judged.
    pub fn look_at_host(&mut self, reading: &Reading, has: &dyn Fn(IpAddr) -> Option<bool>) {
        for (index, line) in reading.lines.iter().enumerate() {
            let Outcome::Applied { commands, columns, .. } = &line.outcome else { continue };
            let wanted: Vec<IpAddr> = commands.iter().filter_map(source).collect();
            let missing = wanted.iter().find(|ip| has(**ip) == Some(false));
            let is_snip = commands.first().is_some_and(|command| command.object() == Object::NsIp);
            match missing {
                Some(ip) if is_snip => self.retell(line, |finding| {
                    finding.reason = format!("{}; {}", absent(*ip), finding.reason);
                }),
                Some(ip) => {
                    let column =
                        columns.iter().find(|(name, _)| *name == "srcIP").map_or(1, |(_, column)| *column);
                    self.add(index, line, column, absent(*ip));
                }
                None if is_snip && !wanted.is_empty() && wanted.iter().all(|ip| has(*ip) == Some(true)) => {
                    self.retell(line, |finding| {
                        finding.consequence = Consequence::None;
                        "connections to services of its subnet leave from it: this host has it"
                            .clone_into(&mut finding.reason);
                        finding.on_host = OnHost::default();
                    });
                }
                None => {}
            }
        }
        self.findings.sort_by_key(|finding| (finding.line, finding.column));
    }

    fn retell(&mut self, line: &Line, tell: impl Fn(&mut Finding)) {
        self.findings.iter_mut().filter(|finding| finding.line == line.number).for_each(tell);
    }

    fn add(&mut self, index: usize, line: &Line, column: usize, reason: String) {
        if let Some((_, verdict)) = self.lines.get_mut(index) {
            *verdict = (*verdict).max(Verdict::Partial);
        }
        let (number, column) = line.place(column);
        self.findings.push(Finding {
            line: number,
            column,
            verdict: Verdict::Partial,
            consequence: Consequence::Traffic,
            command: site::head(line).text(),
            option: Some("srcIP".to_owned()),
            value: None,
            reason,
            beside: None,
            on_host: OnHost::default(),
        });
    }
}

/// The address that connections to services are to leave from by this command.
fn source(command: &Command) -> Option<IpAddr> {
    let snip = Value::Word(IpType::Snip.text());
    match (command.verb(), command.object(), command.value("srcip")) {
        (Verb::Add, Object::NsIp, _) => match (command.value("ipaddress"), command.value("type")) {
            (Some(Value::Ip(ip)), kind) if kind.is_none_or(|kind| *kind == snip) => Some(*ip),
            _ => None,
        },
        (Verb::Add | Verb::Set, Object::NetProfile, Some(Value::Host(Host::Ip(ip)))) => Some(*ip),
        _ => None,
    }
}

fn absent(ip: IpAddr) -> String {
    format!("this host does not have {ip}, and chooses where connections to services leave from")
}
