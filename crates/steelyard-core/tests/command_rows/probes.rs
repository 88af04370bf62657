//! What a value of each kind may be at its edges, and what it may not.

use steelyard_core::config::attribute::Kind;

use super::NO_WORD;

/// What a kind accepts at its edges, and what it refuses with which code.
pub fn probes(kind: &Kind) -> (Vec<String>, Vec<(String, u16)>) {
    let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let coded = |list: &[(&str, u16)]| list.iter().map(|(word, code)| ((*word).to_owned(), *code)).collect();
    match *kind {
        Kind::Number { min, max } | Kind::Numbers { min, max } => numbers(i64::from(min), i64::from(max)),
        Kind::OnOff => (own(&["ON", "off", "OF"]), coded(&[("YES", 1097), ("O", 1105)])),
        Kind::Bare => (own(&[NO_WORD]), coded(&[])),
        Kind::IpOrAny => (own(&["*", "0.0.0.0", "::1"]), coded(&[("10.0.0.256", 1110), ("", 1110)])),
        Kind::PortOrAny { min } => {
            let (mut good, bad) = numbers(i64::from(min), 65_535);
            good.push("*".to_owned());
            (good, bad)
        }
        Kind::IpOrDomain => (
            own(&[
                "10.0.0.1",
                "::1",
                "www.example.com",
                "www.example.com.",
                "host_1",
                "xn--bcher-kva.example",
            ]),
            coded(&[
                ("10.0.0.256", 1110),
                ("a..b", 1110),
                ("a b", 1110),
                ("", 1110),
                (&"d.".repeat(128), 1106),
            ]),
        ),
        Kind::Expression { none } => (
            vec![
                none.to_owned(),
                none.to_ascii_uppercase(),
                "HTTP.REQ.URL.CONTAINS('x')".to_owned(),
                "x".repeat(60_000),
            ],
            vec![("one|two".to_owned(), 1112)],
        ),
        Kind::Texts { max } => (own(&["0/1", "0/1|1/1"]), vec![(format!("a|{}", "t".repeat(max + 1)), 1106)]),
        Kind::Ips => (own(&["10.0.0.1", "10.0.0.1|::1"]), coded(&[("10.0.0.256", 1110)])),
        Kind::Secret => {
            (own(&["x", "a b", "0f1e|-encrypted|-encryptmethod|ENCMTHD_3"]), coded(&[("one|two", 1112)]))
        }
        Kind::Port { min } => numbers(i64::from(min), 65_535),
        Kind::Span { max, floor_ms: 0, .. } => (
            own(&["0", "1", "0|MSEC", &format!("{max}")]),
            coded(&[("-1", 1109), (&format!("{}", max + 1), 1108), ("soon", 1097), ("1|2", 1097)]),
        ),
        Kind::Span { max, floor_ms, .. } => (
            vec![
                format!("{floor_ms}|MSEC"),
                "1".to_owned(),
                format!("{max}"),
                format!("{max}|sec"),
                format!("{}|MIN", max / 60),
            ],
            vec![
                (format!("{}|MSEC", floor_ms - 1), 1109),
                ("0".to_owned(), 1109),
                ("-1".to_owned(), 1109),
                (format!("{}", max + 1), 1108),
                (format!("{}|MIN", max / 60 + 1), 1108),
                ("soon".to_owned(), 1097),
                ("10|HOURS".to_owned(), 1097),
                ("10|M".to_owned(), 1105),
                ("10|SEC|20".to_owned(), 1112),
            ],
        ),
        Kind::Word(list) => (
            // What this version does not carry is kept all the same.
            list.carried
                .iter()
                .chain(list.not_carried)
                .flat_map(|word| [(*word).to_owned(), word.to_ascii_lowercase()])
                .collect(),
            coded(&[("NO_SUCH_WORD", 1097), ("", 1097)]),
        ),
        Kind::WordList(list) => (vec![list.carried.join("|")], coded(&[("NO_SUCH_WORD", 1097)])),
        Kind::Switch => (own(&["ENABLED", "disabled", "E"]), coded(&[("YES", 1097), ("1", 1097)])),
        Kind::YesNo => (own(&["YES", "no", "N"]), coded(&[("ENABLED", 1097), ("0", 1097)])),
        Kind::Ip => (
            own(&["0.0.0.0", "255.255.255.255", "2001:db8::1"]),
            coded(&[
                ("10.0.0.256", 1110),
                ("1.2.3", 1110),
                ("1:2", 1110),
                ("", 1110),
                ("host.test", 460),
                ("*", 460),
            ]),
        ),
        Kind::Host => (
            own(&["10.0.0.1", "::1", "web-1", &"h".repeat(127)]),
            coded(&[("10.0.0.256", 1110), ("a/b", 1075), (&"h".repeat(128), 1106), ("w[1-2]", 1116)]),
        ),
        Kind::Names => (own(&["a", "a|b c"]), coded(&[("a/b", 1075)])),
        Kind::Name => (
            own(&["a", "_", "1", "a b#.:@=-_9", &"n".repeat(127), "::1"]),
            coded(&[
                ("", 1075),
                ("-a", 1075),
                ("$a", 1075),
                ("a/b", 1075),
                (&"n".repeat(128), 1106),
                ("n[1-2]", 1116),
            ]),
        ),
        Kind::Text { max } => (
            vec![String::new(), "a b".to_owned(), "t".repeat(max)],
            vec![("t".repeat(max + 1), 1106), ("one|two".to_owned(), 1112)],
        ),
        Kind::FieldName => (
            own(&["", "X-Forwarded-For", "client_ip", "!#$%&'*+.^`~9", &"n".repeat(127)]),
            coded(&[
                ("X Client", 1097),
                ("X-Client:", 1097),
                ("Host", 1097),
                ("content-length", 1097),
                ("Transfer-Encoding", 1097),
                ("Connection", 1097),
                (&"n".repeat(128), 1106),
            ]),
        ),
        Kind::Codes => (
            own(&["1", "999", "200|201-204|304", &vec!["200"; 16].join("|")]),
            coded(&[
                ("0", 1109),
                ("1000", 1108),
                ("204-201", 1113),
                ("200-", 1097),
                ("-200", 1109),
                ("OK", 1097),
                (&vec!["200"; 17].join("|"), 2130),
            ]),
        ),
    }
}

fn numbers(min: i64, max: i64) -> (Vec<String>, Vec<(String, u16)>) {
    let good = vec![min.to_string(), max.to_string(), format!("00{max}")];
    let mut bad: Vec<(String, u16)> = [(min - 1, 1109), (max + 1, 1108), (-1, 1109)]
        .iter()
        .map(|(number, code)| (number.to_string(), *code))
        .collect();
    for word in ["", "x", "1.5", "1e3", "0x10", "+1", "1 ", "\u{661}"] {
        bad.push((word.to_owned(), 1097));
    }
    bad.push(("9".repeat(40), 1108));
    (good, bad)
}
