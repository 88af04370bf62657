//! Decisions rebuilt from the log: for each pick the whole table as it stood, the tied services and the choice.
//!
//! Starts from the present values and undoes the log's events backwards; never touches the picker beyond one short copy
//! under its lock.

use crate::balance::log::{Event, Pick, Reason, Rule};
use crate::balance::ring::{Ring, why_not};
use crate::balance::setup::Bound;
use crate::balance::tree::NO;
use crate::balance::{Method, key, round};

/// One decision of a virtual server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    /// Number of the request among all that this virtual server has distributed, from 1.
    pub request: u64,
    /// When, in microseconds of the program's monotonic time.
    pub at_us: u64,
    /// Why.
    pub reason: Reason,
    /// The method by whose values the keys were made: the configured one, ROUNDROBIN or LEASTCONNECTION.
    pub rule: &'static str,
    /// Index in `services` of the last selected service, after which ties are resolved.
    pub last_selected: Option<usize>,
    /// Every bound service in ring order.
    pub services: Vec<Row>,
    /// Indices of those with the smallest key.
    pub tied: Vec<usize>,
    /// Index of the service that was taken.
    pub selected: usize,
}

/// A service as a decision saw it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The service's name.
    pub name: String,
    /// Could it be chosen?
    pub eligible: bool,
    /// If not, why.
    pub why_not: Option<&'static str>,
    /// N: active transactions, times microseconds for the response-time methods; bytes; packets; for round robin the
    /// turns taken.
    pub metric: u64,
    /// Weight, 1 to 100.
    pub weight: u32,
    /// `floor(metric * 10000 / weight)`; for round robin the round, `floor(metric / weight)`.
    pub key: u64,
}

/// A copy of what the ring holds now, from which the past is rebuilt.
pub(super) struct Present {
    values: Vec<Value>,
    events: Vec<Event>,
    picks: u64,
}

#[derive(Clone, Copy)]
struct Value {
    metric: u64,
    turns: u64,
    held: u8,
}

impl Present {
    pub(super) fn of(ring: &Ring) -> Present {
        let values =
            ring.leaves.iter().map(|leaf| Value { metric: leaf.metric, turns: leaf.turns, held: leaf.held });
        Present { values: values.collect(), events: ring.log.newest_first(), picks: ring.rate.total() }
    }

    pub(super) fn decisions(mut self, last: usize, method: &Method, services: &[Bound]) -> Vec<Decision> {
        let mut decisions = Vec::new();
        for event in std::mem::take(&mut self.events) {
            let values = &mut self.values;
            match event {
                Event::Metric(position, before) => undo(values, position, |v| v.metric = before),
                Event::Turns(position, before) => undo(values, position, |v| v.turns = before),
                Event::Held(position, before) => undo(values, position, |v| v.held = before),
                Event::Pick(_) if decisions.len() == last || self.values.is_empty() => break,
                Event::Pick(pick) => {
                    let request = self.picks - decisions.len() as u64;
                    decisions.push(self.decision(pick, request, method.name, services));
                }
            }
        }
        decisions.reverse();
        decisions
    }

    fn decision(&self, pick: Pick, request: u64, method: &'static str, services: &[Bound]) -> Decision {
        let rows: Vec<Row> =
            self.values.iter().zip(services).map(|(value, bound)| value.row(bound, pick.rule)).collect();
        let keys = rows.iter().filter(|row| row.eligible).map(|row| row.key);
        let least = keys.min().unwrap_or(NO);
        let tied = |row: &Row| row.eligible && row.key == least;
        Decision {
            request,
            at_us: pick.at_us,
            reason: pick.reason,
            rule: match pick.rule {
                Rule::Method => method,
                Rule::RoundRobin => "ROUNDROBIN",
                Rule::LeastConnection => "LEASTCONNECTION",
            },
            last_selected: pick.last,
            tied: (0..rows.len()).filter(|at| tied(&rows[*at])).collect(),
            services: rows,
            selected: pick.selected,
        }
    }
}

fn undo(values: &mut [Value], position: usize, change: impl FnOnce(&mut Value)) {
    if let Some(value) = values.get_mut(position) {
        change(value);
    }
}

impl Value {
    fn row(self, Bound { service, weight, .. }: &Bound, rule: Rule) -> Row {
        let (metric, key) = match rule {
            Rule::RoundRobin => (self.turns, round(self.turns, *weight)),
            Rule::Method | Rule::LeastConnection => (self.metric, key(self.metric, *weight)),
        };
        Row {
            name: service.name().to_owned(),
            eligible: self.held == 0,
            why_not: why_not(self.held),
            metric,
            weight: *weight,
            key,
        }
    }
}
