//! The engine in virtual time: a scripted world in place of sockets, strict services in place of real ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cases;
mod conformance;
mod cost;
mod failures;
mod keep_alive;
mod message;
mod pace;
mod permits;
mod pipes;
mod properties;
mod record;
mod slow;
mod splice;
mod states;
mod surge;
mod tcp;
mod tcp_properties;
mod terms;
mod verdict;
mod world;
