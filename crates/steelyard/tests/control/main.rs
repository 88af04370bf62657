//! The executable from outside: what it prints, probes, answers on the management port and says of bad input.
//!
//! Every test starts the real program and real services on a loopback address of its own, and stops what it started.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bad_input;
mod lifecycle;
mod management;
mod monitors;
mod program;
mod services;
