//! What `steelyard explain` recorded, read as a user would, and a second reading of the documented rule against it.

use serde_json::Value;

use crate::program::{Program, run_to_end};

/// One decision, as `explain --format json` prints it.
#[derive(Debug)]
pub struct Decision {
    pub request: u64,
    pub at_us: u64,
    pub reason: String,
    pub rule: String,
    pub last_selected: Option<String>,
    pub services: Vec<Row>,
    pub tied: Vec<String>,
    pub selected: String,
}

/// A service as the decision saw it.
#[derive(Debug)]
pub struct Row {
    pub name: String,
    pub eligible: bool,
    pub metric: u64,
    pub weight: u64,
    pub key: u64,
}

impl Decision {
    /// N of the service called `name`.
    pub fn metric(&self, name: &str) -> u64 {
        self.row(name).metric
    }

    /// The service called `name`.
    pub fn row(&self, name: &str) -> &Row {
        self.services.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no {name} in {self:?}"))
    }

    /// Reads the rule of `spec/methods.md` 1.1 once more, from the values that the decision saw, in exact fractions and
    /// with a plain walk round the ring.
    pub fn assert_follows_the_rule(&self) {
        let scale = if self.rule == "ROUNDROBIN" { 1 } else { 10_000 };
        for row in &self.services {
            assert!((1..=100).contains(&row.weight), "{row:?}");
            assert_eq!(row.key, row.metric * scale / row.weight, "{row:?}");
        }
        let better = |a: &Row, b: &Row| match self.rule.as_str() {
            // A turn more or less within the same round makes no difference.
            "ROUNDROBIN" => a.metric / a.weight < b.metric / b.weight,
            _ => u128::from(a.metric) * u128::from(b.weight) < u128::from(b.metric) * u128::from(a.weight),
        };
        let eligible: Vec<&Row> = self.services.iter().filter(|row| row.eligible).collect();
        let is_least = |row: &&&Row| !eligible.iter().any(|other| better(other, row));
        let least: Vec<&str> = eligible.iter().filter(is_least).map(|row| row.name.as_str()).collect();
        assert_eq!(self.tied, least, "{self:?}");
        let position = |name: &str| self.services.iter().position(|row| row.name == name).unwrap();
        let start = self.last_selected.as_deref().map_or(0, |last| position(last) + 1);
        let walk = (0..self.services.len()).map(|n| &self.services[(start + n) % self.services.len()]);
        let first = walk.map(|row| row.name.as_str()).find(|name| least.contains(name));
        assert_eq!(Some(self.selected.as_str()), first, "{self:?}");
    }
}

/// The last decisions of the virtual server `v`, oldest first; each follows the rule, and each goes on from the one
/// before.
pub fn explain(program: &Program, last: usize) -> Vec<Decision> {
    let (last, url) = (last.to_string(), program.nitro_url());
    let output = run_to_end(&["explain", "v", "--format", "json", "--last", &last, "--nitro", &url]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let decisions: Vec<Decision> = value["decisions"].as_array().unwrap().iter().map(decision).collect();
    decisions.iter().for_each(Decision::assert_follows_the_rule);
    for pair in decisions.windows(2) {
        assert_eq!(pair[1].request, pair[0].request + 1);
        assert!(pair[1].at_us >= pair[0].at_us);
        assert_eq!(pair[1].last_selected.as_ref(), Some(&pair[0].selected), "{pair:?}");
    }
    decisions
}

fn decision(value: &Value) -> Decision {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    Decision {
        request: value["request"].as_u64().unwrap(),
        at_us: value["at_us"].as_u64().unwrap(),
        reason: text(&value["reason"]),
        rule: text(&value["rule"]),
        last_selected: value["last_selected"].as_str().map(str::to_owned),
        services: value["services"].as_array().unwrap().iter().map(row).collect(),
        tied: value["tied"].as_array().unwrap().iter().map(text).collect(),
        selected: text(&value["selected"]),
    }
}

fn row(value: &Value) -> Row {
    let number = |field: &str| value[field].as_u64().unwrap_or_else(|| panic!("{field} in {value}"));
    Row {
        name: value["name"].as_str().unwrap().to_owned(),
        eligible: value["eligible"].as_bool().unwrap(),
        metric: number("metric"),
        weight: number("weight"),
        key: number("key"),
    }
}
