//! The `steelyard` executable: reads the command line and hands over to one subcommand.

mod worker;

fn main() {}
