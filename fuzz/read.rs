//! Fuzz target of the reader: any bytes as an `ns.conf`. The properties are those of `crates/steelyard-core/tests`.
#![no_main]

#[path = "../crates/steelyard-core/tests/properties/text.rs"]
mod text;

use libfuzzer_sys::fuzz_target;
use steelyard_core::command::run_line;
use steelyard_core::config::Config;

fuzz_target!(|file: &[u8]| {
    text::every_byte_is_in_one_line(file);
    text::words_stand_where_their_columns_say(file);
    text::every_command_is_in_the_reading(file);
    if let Ok(line) = std::str::from_utf8(file) {
        let _ = run_line(&mut Config::default(), line);
    }
});
