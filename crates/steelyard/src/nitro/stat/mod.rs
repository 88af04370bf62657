//! The resources under `/nitro/v1/stat`: the table, and the figures of each (`spec/nitro.md` 10).

pub mod traffic;

use super::resource::{Resource, Shown, looked_at};

/// Every one.
pub const RESOURCES: &[Resource] = &[
    looked_at("lbvserver", "name", Shown::List(traffic::lbvserver)),
    looked_at("service", "name", Shown::List(traffic::service)),
];
