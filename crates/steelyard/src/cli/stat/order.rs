//! What a `stat` asks for.

use std::time::Duration;

use steelyard_core::command::{Action, Command, Refusal, counted};
use steelyard_core::config::attribute::{Host, Row, Value};

use super::kinds::{KINDS, Kind};
use crate::cli::line::Said;

/// A `stat`, understood.
pub struct Order {
    /// What of.
    pub kind: &'static Kind,
    /// The one that is meant; all, where none is named.
    pub name: Option<String>,
    /// The member of a group that is meant.
    pub member: Option<Member>,
    /// Every counter.
    pub detail: bool,
    /// Nothing is shortened.
    pub full_values: bool,
    /// Sorted by hits, the most first, or the least.
    pub sorted: Option<Sorted>,
    /// Which counters begin anew: `basic` or `full`.
    pub cleared: Option<&'static str>,
    /// How often; without end where that is 0.
    pub times: u32,
}

/// A member of a service group.
#[derive(Default)]
pub struct Member {
    /// NITRO's name of what it is found by: its server, or that one's address.
    pub by: &'static str,
    /// And that.
    pub host: String,
    /// Its port.
    pub port: String,
}

/// Which comes first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sorted {
    /// The least.
    Ascending,
    /// The most.
    Descending,
}

impl Order {
    /// Of an object of the configuration.
    ///
    /// # Errors
    /// What is given cannot be done here.
    pub fn of_command(command: &Command) -> Result<Order, Said> {
        let arguments = command.arguments().map(|(row, value)| (row, value.clone()));
        Order::of(command.object().text(), arguments)
    }

    /// Of something that nothing configures.
    ///
    /// # Errors
    /// Nothing is counted of it here, or what is given means nothing.
    pub fn of_action(action: &Action) -> Result<Order, Said> {
        match counted(action) {
            Some(arguments) => Order::of(&action.object, arguments?.into_iter()),
            None => Err(not_counted(&action.object)),
        }
    }

    fn of(object: &str, arguments: impl Iterator<Item = (&'static Row, Value)>) -> Result<Order, Said> {
        let kind = KINDS.iter().find(|kind| kind.words.eq_ignore_ascii_case(object));
        let kind = kind.ok_or_else(|| not_counted(object))?;
        let mut order = Order {
            kind,
            name: None,
            member: None,
            detail: false,
            full_values: false,
            sorted: None,
            cleared: None,
            times: 1,
        };
        for (row, value) in arguments {
            order.take(row, &value)?;
        }
        Ok(order)
    }

    fn take(&mut self, row: &Row, value: &Value) -> Result<(), Said> {
        let member = Member::default;
        match (row.nitro, value) {
            ("detail", _) => self.detail = true,
            ("fullvalues", _) => self.full_values = true,
            ("ntimes", Value::Number(times)) => self.times = *times,
            ("sortby", _) => {
                self.sorted.get_or_insert(Sorted::Descending);
            }
            ("sortorder", Value::Word(word)) => {
                self.sorted = Some(if *word == "ascending" { Sorted::Ascending } else { Sorted::Descending });
            }
            ("clearstats", Value::Word(word)) => self.cleared = Some(*word),
            ("logfile", _) => return Err(Said::from(no_log())),
            ("port", Value::Number(port)) => {
                self.member.get_or_insert_with(member).port = port.to_string();
            }
            ("servername", value) => {
                let member = self.member.get_or_insert_with(member);
                (member.by, member.host) = host(value);
            }
            (_, Value::Text(name)) => self.name = Some(name.clone()),
            _ => {}
        }
        Ok(())
    }
}

fn host(value: &Value) -> (&'static str, String) {
    match value {
        Value::Host(Host::Ip(ip)) => ("ip", ip.to_string()),
        Value::Host(Host::Server(name)) => ("servername", name.clone()),
        _ => ("servername", String::new()),
    }
}

/// Of what is not counted here.
fn not_counted(object: &str) -> Said {
    Refusal::NotCarried { argument: None, what: format!("stat {object}"), carried: &[] }.into()
}

fn no_log() -> Refusal {
    Refusal::NotCarried { argument: Some("logFile"), what: "a log of counters".to_owned(), carried: &[] }
}

/// Between one page and the next, as on the appliance.
pub const STEP: Duration = Duration::from_secs(7);
