//! The fields of `config` that never change: the list that people read is the one that answers are made of.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::nitro::row::Row;

/// Adds those of the row's resource.
pub fn fill<'r>(row: &'r mut Row, resource: &str) -> &'r mut Row {
    let listed = LISTED.get(resource).into_iter().flatten();
    listed.fold(row, |row, (name, value)| match (value.parse(), value.parse()) {
        (Ok(number), _) => row.number(name, number),
        (_, Ok(flag)) => row.plain(*name, Value::Bool(flag)),
        _ => row.text(name, *value),
    })
}

/// A resource's fields with their values.
type Fields = Vec<(&'static str, &'static str)>;

static LISTED: LazyLock<BTreeMap<&'static str, Fields>> = LazyLock::new(|| {
    let mut listed: BTreeMap<&str, Fields> = BTreeMap::new();
    let mut resource = None;
    for line in LIST.lines() {
        match line.strip_prefix("## ") {
            Some(name) => resource = Some(name),
            None => {
                if let Some(resource) = resource {
                    let fields =
                        line.split(", ").filter_map(|field| field.trim_end_matches(',').split_once(' '));
                    listed.entry(resource).or_default().extend(fields);
                }
            }
        }
    }
    listed
});

const LIST: &str = include_str!("always.md");
