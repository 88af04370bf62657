//! What decides in Steelyard: configuration, commands, choosing, protocol engines.
//!
//! Nothing here has a clock, a socket, a thread, a file or randomness: time and seeds are arguments, and the
//! world is reached through [`proxy::io::Io`]. The executable's crate touches the world.
#![forbid(unsafe_code)]

pub mod balance;
pub mod command;
pub mod config;
pub mod monitor;
pub mod proxy;
pub mod service;
pub mod snapshot;
pub mod sorted;
pub mod sync;
pub mod time;
pub mod timer;
pub mod vserver;
