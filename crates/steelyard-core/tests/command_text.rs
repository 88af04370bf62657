//! Properties of the reading of bytes: the bodies are shared with the fuzz target.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod properties {
    pub mod text;
}

use proptest::collection::vec;
use proptest::prelude::*;

use properties::text;

/// Pieces of which quotes, line ends and prompts come about.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(vec![
        &b"\n"[..],
        b"\r\n",
        b" ",
        b"\t",
        b"\"",
        b"'",
        b"\\",
        b"\\\n",
        b" \\\n",
        b"(",
        b")",
        b"#",
        b"q{",
        b"}",
        b"> ",
        b"ns> ",
        b" Done\n",
        b"ERROR: ",
        b"add server ",
        b"a",
        b"-x",
        b"\xc3\xa9",
        b"\xff",
        b"\0",
        b"---\n",
        b"10.0.0.1",
    ]);
    vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_is_in_one_line(file in pieces()) {
        text::every_byte_is_in_one_line(&file);
    }

    #[test]
    fn every_byte_of_anything_is_in_one_line(file in vec(any::<u8>(), 0..200)) {
        text::every_byte_is_in_one_line(&file);
    }

    #[test]
    fn words_stand_where_their_columns_say(file in pieces()) {
        text::words_stand_where_their_columns_say(&file);
    }

    #[test]
    fn every_command_is_in_the_reading(file in pieces()) {
        text::every_command_is_in_the_reading(&file);
    }
}

/// A short file may not stand for a configuration without bounds.
#[test]
fn ranges_of_a_file_have_a_bound() {
    let lines: String = (0..30).map(|index| format!("add serviceGroup g{index}_[1-10000] HTTP\n")).collect();
    let reading = steelyard_core::command::read(lines.as_bytes(), "x");
    let codes: Vec<(usize, u16)> =
        reading.refused.iter().map(|refused| (refused.place.line, refused.refusal.code())).collect();
    assert_eq!(reading.config.service_groups.len(), 250_000);
    assert_eq!(codes, (26..=30).map(|line| (line, 1072)).collect::<Vec<_>>());
}
