//! A record made without this program: what kind of verdict a line of each kind can get, by its first words, from NetScaler's
//! list of commands and the frequencies of real files; which lines of the real files are wrong, read by eye; and the
//! number of commands of each file, counted in another way.

use steelyard_core::command::read;
use steelyard_core::command::verdict::{Verdict, judge};

use crate::corpus::{Sample, corpus};

#[test]
fn verdicts_agree_with_the_record() {
    let Some(samples) = corpus() else { return };
    let mut wrong = Vec::new();
    for sample in &samples {
        let lines = sample.lines();
        for (number, verdict) in judge(&read(&sample.bytes, "ns.conf")).lines {
            let text = without_prompt(&lines[number - 1]);
            let is_refused = verdict == Verdict::Refused;
            let known_wrong = WRONG.iter().any(|(name, runs)| {
                *name == sample.name && runs.iter().any(|(first, last)| (*first..=*last).contains(&number))
            });
            if is_refused != known_wrong || (!is_refused && !allowed(text).contains(&verdict)) {
                let allowed = if known_wrong { &[Verdict::Refused][..] } else { allowed(text) };
                let shown: String = text.chars().take(60).collect();
                wrong.push(format!("{}:{number}: {verdict}, not one of {allowed:?}: {shown}", sample.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} lines\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_number_of_commands_is_what_another_count_gives() {
    let Some(samples) = corpus() else { return };
    for sample in &samples {
        let joined = JOINED.iter().find(|(name, _)| *name == sample.name).map_or(0, |(_, count)| *count);
        let counted = counted(sample) - joined;
        assert_eq!(judge(&read(&sample.bytes, "ns.conf")).lines.len(), counted, "{}", sample.name);
    }
}

/// Lines that are neither blank nor a comment.
fn counted(sample: &Sample) -> usize {
    sample
        .lines()
        .iter()
        .map(|line| line.trim())
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .count()
}

/// Files with commands that go on in further lines, and how many such lines: inside quotes, or behind a backslash.
const JOINED: &[(&str, usize)] = &[("013", 4), ("075", 16)];

/// Lines that the appliance refuses, too, from the first to the last of each run: placeholders of templates, damaged lines,
/// names that nothing has, what is there already.
const WRONG: &[(&str, &[(usize, usize)])] = &[
    ("009", &[(5, 5), (9, 10), (18, 18), (21, 21), (23, 25), (28, 28), (31, 32), (39, 42), (49, 49)]),
    ("010", &[(3, 5), (20, 22), (30, 32), (42, 45)]),
    ("013", &[(58, 58), (283, 284), (286, 286), (288, 288), (291, 291), (294, 294)]),
    ("015", &[(4, 8), (10, 12), (24, 24), (35, 37), (74, 74), (88, 88), (90, 91), (93, 93)]),
    ("034", &[(135, 136), (141, 144), (147, 150), (214, 214)]),
    ("037", &[(45, 47), (79, 79), (89, 89), (107, 107), (135, 135)]),
    ("038", &[(55, 56)]),
    ("039", &[(7, 8), (30, 30), (36, 37)]),
    ("046", &[(4, 5), (17, 18)]),
    ("047", &[(6, 7)]),
    ("049", &[(12, 13)]),
    ("051", &[(6, 6), (10, 10)]),
    ("053", &[(15, 17), (19, 21), (23, 25)]),
    ("055", &[(7, 8), (17, 17), (39, 40), (72, 73), (92, 93), (99, 101), (103, 104)]),
    ("059", &[(12, 12), (18, 18)]),
    ("060", &[(688, 688), (703, 703), (706, 706), (714, 714)]),
    ("063", &[(16, 20)]),
    ("064", &[(35, 42), (44, 46)]),
    ("065", &[(79, 84), (157, 159)]),
    (
        "066",
        &[
            (5, 6),
            (9, 9),
            (52, 83),
            (88, 90),
            (93, 93),
            (102, 113),
            (116, 116),
            (125, 147),
            (149, 149),
            (155, 162),
            (167, 170),
            (176, 188),
        ],
    ),
    ("069", &[(25, 25)]),
    ("070", &[(11, 11), (19, 19), (21, 26)]),
    ("072", &[(3, 3), (5, 5), (7, 9), (11, 11), (13, 26), (30, 41), (44, 59), (62, 79)]),
    ("074", &[(1, 2), (4, 5), (9, 10)]),
    ("075", &[(50, 50)]),
];

fn without_prompt(line: &str) -> &str {
    let line = line.trim();
    match line.split_once("> ") {
        Some((before, rest)) if !before.contains(' ') => rest.trim_start(),
        _ => line.strip_prefix('>').unwrap_or(line).trim_start(),
    }
}

/// What the words allow: an object of load balancing by its type, all else by its group.
fn allowed(line: &str) -> &'static [Verdict] {
    let words = words(line);
    let word = |index: usize| words.get(index).map_or("", String::as_str);
    let verb = match word(0) {
        "en" => "enable",
        verb => verb,
    };
    if ["show", "sho", "save", "stat", "shell", "create", "exec:", "done", "get", "clear"].contains(&verb) {
        return INERT;
    }
    let (object, after) = match (word(1), word(2)) {
        ("lb" | "ns", "vserver" | "vs") => ("lb vserver", 3),
        ("lb", "monitor") => ("lb monitor", 3),
        ("lb", "parameter") => ("lb parameter", 3),
        ("lb", "group") => ("lb group", 3),
        ("ns", "feature") => ("feature", 3),
        ("ns", "mode") => ("mode", 3),
        ("ns", "ip" | "ip6" | "config" | "hostname") => return HOST,
        ("ns", "param") => ("param", 3),
        ("system", "user" | "group" | "cmdpolicy" | "parameter") => ("users", 3),
        ("vserver", _) => ("lb vserver", 2),
        (object, _) => (object, 2),
    };
    let carried = |kind: &str| ["http", "tcp"].contains(&kind);
    match (verb, object) {
        ("add", "lb vserver") if !carried(word(after + 1)) => STORED,
        ("add", "service") if !carried(word(after + 2)) => STORED,
        ("add", "servicegroup") if !carried(word(after + 1)) => STORED,
        ("add", "lb monitor" | "monitor") if !MONITORS.contains(&word(after + 1)) => STORED,
        ("bind", "lb vserver") if words.iter().any(|word| word == "-policyname") => STORED,
        (
            "add" | "set" | "bind",
            "lb vserver" | "service" | "servicegroup" | "lb monitor" | "monitor" | "lb group",
        ) => OWN,
        ("add" | "set", "server" | "netprofile" | "lb parameter" | "param") => OWN,
        ("set" | "bind", "ssl") if ["service", "servicegroup"].contains(&word(2)) => OWN,
        ("add" | "set" | "bind", "users") => OWN,
        ("enable" | "disable", "feature" | "mode") => OWN,
        (
            "rm" | "unset" | "unbind" | "enable" | "disable" | "rename",
            "server" | "service" | "servicegroup" | "lb vserver" | "lb monitor" | "monitor" | "lb group",
        ) => HONOURED,
        (_, object) if ON_HOST.contains(&object) => HOST,
        _ => STORED,
    }
}

/// Words in lower case; what stands in double quotes is one.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for character in line.to_ascii_lowercase().chars() {
        match character {
            '"' => quoted = !quoted,
            ' ' | '\t' if !quoted => words.push(std::mem::take(&mut word)),
            _ => word.push(character),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// Types of monitors that are run.
const MONITORS: &[&str] = &[
    "dns",          //
    "dns-tcp",      //
    "http",         //
    "http-ecv",     //
    "ping",         //
    "tcp",          //
    "tcp-ecv",      //
    "udp-ecv",      //
    "user",         //
    "ftp",          //
    "ftp-extended", //
];

const HONOURED: &[Verdict] = &[Verdict::Honoured];
const OWN: &[Verdict] = &[Verdict::Honoured, Verdict::Partial, Verdict::Stored];
const STORED: &[Verdict] = &[Verdict::Stored];
const HOST: &[Verdict] = &[Verdict::Host];
const INERT: &[Verdict] = &[Verdict::Inert];

/// First words of what is about the host.
const ON_HOST: &[&str] = &[
    "route",
    "route6",
    "vlan",
    "interface",
    "channel",
    "lacp",
    "arp",
    "nd6",
    "nd6ravariables",
    "ip6tunnelparam",
    "inatparam",
    "l2param",
    "l3param",
    "ipv6",
    "rnat",
    "inat",
    "ptp",
    "iptunnel",
    "vxlan",
    "bridgegroup",
];
