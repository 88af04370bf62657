//! Properties of the reading of bytes: the bodies are shared with the fuzz target.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod properties {
    pub mod text;
}

use proptest::collection::vec;
use proptest::prelude::*;

use properties::text;
use steelyard_core::command::run_line;
use steelyard_core::config::Config;

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

/// Lines with ranges over so few names that many of them fail half-way.
fn ranged_line() -> impl Strategy<Value = String> {
    let shape = prop::sample::select(vec![
        "add server sR 10.0.0.R",
        "add service wR sR HTTP 80",
        "add service wR 10.0.0.R HTTP 81",
        "add serviceGroup gR HTTP",
        "add lb vserver vR HTTP 10.1.0.R 80",
        "bind lb vserver vR wR",
        "bind lb vserver v1 wR",
        "bind serviceGroup g1 sR 80",
        "unbind lb vserver vR wR",
        "set server sR -IPAddress 10.0.0.R",
        "set service wR -maxClient 3",
        "disable service wR",
        "rm service wR",
        "rm server sR",
        "rm serviceGroup gR",
        "rm lb vserver vR",
        "rename service wR uR",
    ]);
    let range = prop::sample::select(vec!["[1-2]", "[1-3]", "[2-4]", "1", "3"]);
    (shape, range.clone(), range).prop_map(|(shape, first, second)| {
        shape.replacen('R', first, 1).replacen('R', second, 1).replace('R', first)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// A line with ranges that fails half-way leaves no trace: what follows goes as if it had never been there.
    #[test]
    fn all_that_a_range_stands_for_or_nothing(lines in vec(ranged_line(), 1..60)) {
        let mut config = Config::default();
        let mut accepted = Vec::new();
        for line in lines {
            let before = config.clone();
            match run_line(&mut config, &line) {
                Ok(_) => accepted.push(line),
                Err(_) => prop_assert_eq!(&config, &before, "{}", line),
            }
        }
        let mut again = Config::default();
        for line in &accepted {
            prop_assert!(run_line(&mut again, line).is_ok(), "{line} of {accepted:#?}");
        }
        prop_assert_eq!(&again, &config);
    }
}
