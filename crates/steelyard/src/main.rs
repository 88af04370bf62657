//! The `steelyard` executable: reads the command line and hands over to one subcommand.

#[allow(dead_code)]
mod worker;

fn main() {}
