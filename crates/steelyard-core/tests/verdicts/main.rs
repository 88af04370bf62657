//! What becomes of each line of real configurations: golden totals and findings, and a record of their commands that was
//! made without this program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod acts;
mod corpus;
mod golden;
mod record;
mod rules;
