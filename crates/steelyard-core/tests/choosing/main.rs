//! Choosing, held against the documents: the printed tables, the rules around them, properties of random histories.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cases;
mod golden;
mod limits;
mod model;
mod probed;
mod properties;
mod rules;
mod simulation;
#[path = "../../../steelyard/src/targets.rs"]
mod targets;
mod world;
