//! Choosing, held against the documents: the printed tables, the rules around them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod golden;
mod rules;
mod world;
