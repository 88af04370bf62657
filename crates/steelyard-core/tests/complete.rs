//! Completion: what is offered is taken by what reads lines, and what it takes is offered.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;

use proptest::prelude::*;
use steelyard_core::command::{
    Completion, FILTERS, Object, Refusal, Typed, Verb, complete, is_inside_text, lex, once, parse, read,
    usage,
};
use steelyard_core::config::Config;

fn configured() -> Config {
    let text = "add server web1 10.0.0.1\nadd server web2 10.0.0.2\nadd server other 10.0.0.3\n\
                add service \"my service\" web1 HTTP 80\nadd service plain web2 HTTP 80\n\
                add serviceGroup sg HTTP\nadd lb vserver front HTTP 10.1.0.1 80\nadd lb vserver Fallback TCP 10.1.0.2 80\n\
                add lb monitor probe HTTP\nbind lb vserver front plain\nbind service plain -monitorName probe\n\
                bind serviceGroup sg web2 80\nadd cs vserver switch HTTP 10.1.0.3 80\nadd ns ip 10.1.0.9 255.255.255.0\n";
    let reading = read(text.as_bytes(), "ns.conf");
    assert_eq!(reading.refused.len(), 0, "every line is taken");
    reading.config
}

fn at_end(line: &str) -> Result<Completion, Refusal> {
    complete(line, line.len(), &configured(), &|_| true)
}

fn words(line: &str) -> Vec<String> {
    let found = at_end(line).unwrap();
    assert_eq!(found.more, 0);
    found.candidates.into_iter().map(|candidate| candidate.word.into_owned()).collect()
}

/// The words of what is expected, those that must be there with a star.
fn expected(line: &str) -> Vec<String> {
    let star = |required: bool| if required { "*" } else { "" };
    at_end(line).unwrap().expected.into_iter().map(|of| format!("{}{}", of.word, star(of.required))).collect()
}

fn is_whole(line: &str) -> bool {
    at_end(line).unwrap().is_whole
}

#[test]
fn words_are_offered_in_their_places() {
    for (line, expected) in [
        ("sh", &["show"][..]),
        ("sh lb vs", &["vserver"]),
        ("show ver", &["version"]),
        ("SHO RUN", &["runningConfig"]),
        ("add server", &["server"]),
        ("add lb vserver v HTTP 10.0.0.1 80 -lbm", &["-lbMethod"]),
        (
            "add lb vserver v HTTP 10.0.0.1 80 -lbmethod least",
            &["LEASTCONNECTION", "LEASTRESPONSETIME", "LEASTREQUEST", "LEASTBANDWIDTH", "LEASTPACKETS"],
        ),
        ("add lb monitor m HTTP -interval 5 M", &["MSEC", "MIN"]),
        ("set lb mon probe ", &["HTTP"]),
        ("enable feature LB", &["LB"]),
        ("enable feature LB L", &["LSN"]),
        ("enable feature Load", &["LoadBalancing"]),
        ("set lb vserver front -lbMethod LRTM -lbm", &[]),
        ("save ", &["ns"]),
        ("save c", &["config"]),
        ("clear ns config f", &["full"]),
        ("kill system session ", &["-all"]),
        ("batch -f", &["-fileName"]),
        ("add appfw prof", &["profile"]),
        ("show lb vserver | g", &["grep"]),
        ("show lb vserver | grep -i ", &["-v", "-A"]),
        ("show lb vserver | grep -i x ", &["|"]),
        ("show lb vserver | grep -A 3 -", &["-i", "-v"]),
        ("show lb vserver | grep -A 3 x ", &["|"]),
        ("help add lb vs", &["vserver"]),
        ("set cli ", &["mode", "prompt"]),
        ("set cli m", &["mode"]),
        ("sh cli mode -", &[]),
        ("set cli mode -p", &["-page"]),
        ("set cli mode -page ", &["ON", "OFF"]),
        ("set cli mode -page ON -disabledFeatureAction D", &["DENY"]),
        ("unset cli mode -page -t", &["-total", "-timeout"]),
        ("clear cli ", &["prompt"]),
        ("set cli", &["cli"]),
        ("stat ssl -d", &["-detail"]),
        ("show server --j", &["--json"]),
        ("sh server --json w", &["web1", "web2"]),
        ("show server --json --", &[]),
        ("add server --j", &[]),
        ("stat protocol tcp -d", &["-detail"]),
        ("show lb vserver # fro", &[]),
        ("add cs policy p -rule HTTP.REQ.URL.EQ(\"/", &[]),
        ("add cs policy p -rule HTTP.REQ.URL.EQ(", &[]),
    ] {
        assert_eq!(words(line), expected, "{line}");
    }
}

#[test]
fn names_are_those_of_the_kind_that_is_meant() {
    for (line, expected) in [
        ("show lb vserver f", &["Fallback", "front"][..]),
        ("rm server W", &["web1", "web2"]),
        ("add service x w", &["web1", "web2"]),
        ("bind lb vserver front p", &["plain"]),
        ("bind lb vserver front \"", &["\"my service\"", "\"plain\"", "\"sg\""]),
        ("bind service plain -monitorName pr", &["probe"]),
        ("set lb vserver front -backupVServer ", &["Fallback", "front", "switch"]),
        ("show ns ip 10", &["10.1.0.9"]),
        ("rm service m", &["\"my service\""]),
        ("rm service \"my s", &["\"my service\""]),
        ("rm service 'my s", &["\"my service\""]),
        ("rm server web1 ", &["other", "web2"]),
        ("clear lb persistentSessions f", &["Fallback", "front"]),
        // What is bound can be unbound.
        ("unbind lb vserver front \"", &["\"plain\""]),
        ("unbind service plain -monitorName ", &["probe"]),
        ("unbind service \"my service\" -monitorName ", &[]),
        ("unbind serviceGroup sg w", &["web2"]),
        // What is to be new has no name that is there.
        ("add lb vserver f", &[]),
        ("rename lb vserver front f", &[]),
    ] {
        assert_eq!(words(line), expected, "{line}");
    }
}

#[test]
fn what_anybody_says_in_own_words_is_told_with_its_kind() {
    for (line, told) in [
        ("add lb vserver ", &["<name>*"][..]),
        ("add service x web1 HTTP ", &["<port>*"]),
        ("show lb vserver ", &["<name>"]),
        ("add lb vserver v HTTP 10.0.0.1 80 -cltTimeout ", &["<positive_integer>*"]),
        ("set lb vserver front ", &[]),
        ("show server | grep ", &["<pattern>*"]),
        ("show server | grep -A ", &["<lines>*"]),
        ("show server | grep -A 3 ", &["<pattern>*"]),
        ("add appfw profile ", &["<arguments>"]),
        ("source ", &["<fileName>*"]),
    ] {
        assert_eq!(expected(line), told, "{line}");
    }
}

/// `<cr>` stands only where the line would be taken.
#[test]
fn a_whole_command_is_told() {
    for (line, whole) in [
        ("", false),
        ("show ", false),
        ("show server ", true),
        ("show server", false),
        ("show lb ", true),
        ("add lb ", false),
        ("add service x web1 HTTP ", false),
        ("add service x web1 HTTP 80 ", true),
        ("add server s 10.0.0.1 ", true),
        ("add server s 10.0.0.1 -comment ", false),
        ("save ", false),
        ("save ns config ", true),
        ("clear ns config ", false),
        ("clear ns config full ", true),
        ("batch ", false),
        ("batch -fileName x ", true),
        ("batch -fileName x -outfile ", false),
        ("help ", true),
        ("show server | grep ", false),
        ("show server | grep x ", true),
    ] {
        assert_eq!(is_whole(line), whole, "{line}");
    }
}

/// A candidate takes the place of the word from its first byte, its quote included, up to the cursor.
#[test]
fn the_word_under_the_cursor_is_where_it_begins() {
    for (line, start) in [
        ("", 0),
        ("sh", 0),
        ("show ", 5),
        ("show lb vs", 8),
        ("rm service \"my s", 11),
        ("set server web1 -comment \"ä ö\" -s", "set server web1 -comment \"ä ö\" ".len()),
    ] {
        assert_eq!(at_end(line).unwrap().start, start, "{line}");
    }
    let line = "show lb vserver fr and more";
    let found = complete(line, 18, &configured(), &|_| true).unwrap();
    assert_eq!((found.start, &*found.candidates[0].word, found.candidates.len()), (16, "front", 1));
    for at in 0..=line.len() + 3 {
        complete("rm service \"ä\" ö", at, &configured(), &|_| true).ok();
    }
}

/// `spec/cli.md` 2 and 3: a question mark asks, unless it belongs to a value.
#[test]
fn a_question_mark_inside_quotes_is_a_character() {
    for (line, inside) in [
        ("", false),
        ("show ", false),
        ("show lb vs", false),
        ("add cs policy p -rule \"a", true),
        ("add cs policy p -rule \"a\" ", false),
        ("add cs policy p -rule 'a", true),
        ("add cs policy p -rule q/a", true),
        ("add cs policy p -rule HTTP.REQ.URL.EQ(", true),
        ("add cs policy p -rule HTTP.REQ.URL.EQ(\"", true),
        ("add system cmdPolicy p ALLOW (\\", true),
        ("# really", true),
        ("show q", false),
    ] {
        assert_eq!(is_inside_text(line), inside, "{line}");
    }
}

#[test]
fn words_that_cannot_be_right_are_refused_as_they_would_be() {
    for (line, code) in [
        ("foo ", 1088),
        ("rm lb parameter ", 1088),
        ("set lb vserver front -foo ", 1090),
        ("set lb vserver front -lbMethod FOO ", 1097),
        ("s lb ", 1089),
    ] {
        assert_eq!(at_end(line).unwrap_err().code(), code, "{line}");
    }
}

#[test]
fn what_excludes_what_is_given_is_not_offered() {
    let has = |line: &str, option: &str| words(line).iter().any(|word| word == option);
    for (line, option, offered) in [
        ("add lb monitor m TCP ", "-httpRequest", false),
        ("add lb monitor m HTTP ", "-httpRequest", true),
        ("set lb monitor probe HTTP ", "-query", false),
        ("bind service plain -monitorName probe ", "-policyName", false),
        ("bind service plain ", "-policyName", true),
        ("bind serviceGroup sg web1 80 ", "-monitorName", false),
        ("add lb vserver v TCP 10.0.0.1 80 -lbMethod ", "LEASTREQUEST", false),
        ("add lb vserver v HTTP 10.0.0.1 80 -lbMethod ", "LEASTREQUEST", true),
        ("set lb vserver Fallback -lbMethod ", "LEASTREQUEST", false),
        ("set lb vserver front -lbMethod ", "LEASTREQUEST", true),
        // Words cannot follow an option.
        ("show lb vserver -summary ", "front", false),
    ] {
        assert_eq!(has(line, option), offered, "{line}{option}");
    }
}

#[test]
fn names_are_shown_to_those_who_may_see_them() {
    let config = configured();
    let names = |line: &str, may: &dyn Fn(&str) -> bool| {
        let found = complete(line, line.len(), &config, may).unwrap();
        found.candidates.into_iter().map(|candidate| candidate.word.into_owned()).collect::<Vec<_>>()
    };
    let asked = std::cell::RefCell::new(Vec::new());
    let may = |command: &str| {
        asked.borrow_mut().push(command.to_owned());
        command == "show server web2"
    };
    assert_eq!(names("rm server w", &may), ["web2"]);
    assert_eq!(*asked.borrow(), ["show server web1", "show server web2"]);
    assert_eq!(names("set lb vserver f", &|_| false), [""; 0]);
    assert_eq!(names("set lb vs", &|_| false), ["vserver"], "words are no secret");
}

#[test]
fn many_names_are_counted_and_some_listed() {
    let mut text = String::from("add server s 10.0.0.1\n");
    (1..=20_000).for_each(|port| text.push_str(&format!("add service svc{port} s HTTP {port}\n")));
    let config = read(text.as_bytes(), "ns.conf").config;
    let line = "bind lb vserver v ";
    let found = complete(line, line.len(), &config, &|_| true).unwrap();
    let names = found.candidates.iter().filter(|candidate| candidate.word.starts_with("svc")).count();
    assert_eq!(found.candidates.len(), 500);
    assert_eq!(names, 500);
    let options =
        "-weight -order -policyName -priority -gotoPriorityExpression -type -invoke -analyticsProfile";
    assert_eq!(found.more, 19_500 + options.split(' ').count());
    assert_eq!(found.common, "");
    // Policies are asked about some of them; the rest is counted for whoever was told all of those.
    let asked = std::cell::Cell::new(0);
    let judge = |denied: &'static str| {
        let asked = &asked;
        move |command: &str| {
            asked.set(asked.get() + 1);
            !command.ends_with(denied)
        }
    };
    let line = "rm service ";
    for (denied, more) in [(" svc0", 19_500), (" svc100", 4_499)] {
        asked.set(0);
        let found = complete(line, line.len(), &config, &judge(denied)).unwrap();
        assert_eq!((found.candidates.len(), found.more, asked.get()), (500, more, 5_000), "{denied}");
    }
    let line = "rm service s";
    assert_eq!(complete(line, line.len(), &config, &|_| true).unwrap().common, "svc");
    let line = "bind lb vserver v svc1999";
    let found = complete(line, line.len(), &config, &|_| true).unwrap();
    let found: Vec<&str> = found.candidates.iter().map(|candidate| &*candidate.word).collect();
    assert_eq!(found[0], "svc1999");
    assert_eq!(found.len(), 11);
}

/// Every word of a line that is taken is offered, or its place is one for anybody's own words.
#[test]
fn whatever_is_taken_is_offered() {
    let text = include_str!("command/everything.txt").split("=== refused").next().unwrap();
    let config = Config::default();
    let mut looked_at = 0;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words = lex::words(line).unwrap();
        for (at, word) in words.iter().enumerate() {
            if words[..at].iter().any(|word| word.text.eq_ignore_ascii_case("-encrypted")) || word.glued {
                continue;
            }
            let column = |column: usize| line.char_indices().nth(column - 1).map_or(line.len(), |(at, _)| at);
            let end = column(word.end);
            let found = complete(line, end, &config, &|_| true).unwrap_or_else(|refusal| {
                panic!("{line}\n{}: {}", &line[..end], refusal.message());
            });
            let is_offered = found.candidates.iter().any(|candidate| {
                candidate.word.to_ascii_lowercase().starts_with(&word.text.to_ascii_lowercase())
            });
            assert!(is_offered || !found.expected.is_empty(), "{line}\n{}: {found:?}", &line[..end]);
            looked_at += 1;
        }
    }
    assert!(looked_at > 300, "{looked_at}");
}

/// What stands for `<...>` in the lines that tests build.
const SAMPLES: [&str; 7] = ["x1", "10.9.9.9", "80", "1", "200", "UTC", "01:00"];

/// Is a line wrong only because it is not at its end? The prompt takes one word off it before it is read.
fn may_go_on(line: &str, config: &Config) -> bool {
    let line = &line.replace(" --json", "");
    // Commands about the session itself only the prompt reads.
    if line.split(' ').nth(1) == Some("cli") {
        return true;
    }
    Typed::read(line, config).map_or_else(|wrong| is_at_the_end(line, &wrong), |_| true)
}

/// The same of a command of this program, whatever is kept where it cannot be read.
fn reads_on(line: &str) -> bool {
    parse(&lex::words(line).unwrap()).map_or_else(|wrong| is_at_the_end(line, &wrong), |_| true)
}

/// Is that what is missing behind the line?
fn is_at_the_end(line: &str, (refusal, column): &(Refusal, usize)) -> bool {
    let is_missing = matches!(
        refusal,
        Refusal::Incomplete { .. }
            | Refusal::ArgumentMissing { .. }
            | Refusal::ValueMissing { .. }
            | Refusal::OptionValueMissing { .. }
    );
    // An option without its value is told where the option stands.
    let last = line.trim_end().rsplit(' ').next().unwrap();
    is_missing && (*column > line.trim_end().chars().count() || last.starts_with('-'))
}

/// The line with one more word of those that may stand there: the one with that number, or an own word.
fn longer(line: &str, pick: usize, config: &Config) -> Option<String> {
    let found = complete(line, line.len(), config, &|_| true).unwrap_or_else(|refusal| {
        panic!("{line}: {}", refusal.message());
    });
    let candidates: Vec<String> =
        found.candidates.iter().map(|candidate| format!("{line}{} ", candidate.word)).collect();
    for candidate in &candidates {
        assert!(may_go_on(candidate, config), "{candidate} {:?}", Typed::read(candidate, config).err());
    }
    let own = || {
        let sample = |sample: &&str| format!("{line}{sample} ");
        // Values of what only the prompt reads, as of `stat`, completion alone looks at.
        let is_value = |line: &String| complete(line, line.len(), config, &|_| true).is_ok();
        SAMPLES.iter().map(sample).find(|line| may_go_on(line, config) && is_value(line))
    };
    match candidates.len() + found.expected.len() {
        0 => None,
        all => candidates.get(pick % all).cloned().or_else(own),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Whoever takes what is offered never builds a line that is refused for what it has.
    #[test]
    fn nothing_is_offered_that_is_refused(picks in proptest::collection::vec(any::<usize>(), 1..16)) {
        let config = configured();
        let mut line = String::new();
        for pick in picks {
            match longer(&line, pick, &config) {
                Some(next) => line = next,
                None => break,
            }
        }
    }

    /// Whatever stands in a line, wherever the cursor is: a word's place is inside the line.
    #[test]
    fn no_line_breaks_it(line in "[ -~äö\t\n]{0,40}", head in "(show|add|rm|save|help|batch)? ?(lb |server |ns )?", at in 0_usize..60) {
        let line = head + &line;
        if let Ok(found) = complete(&line, at, &configured(), &|_| true) {
            prop_assert!(found.start <= at.min(line.len()) && line.is_char_boundary(found.start));
        }
    }
}

/// The options of a synopsis.
fn options(usage: &str) -> BTreeSet<String> {
    let synopsis = usage.lines().next().unwrap();
    let parts = synopsis.split(" [-").skip(1);
    parts.map(|part| format!("-{}", part.split([' ', ']']).next().unwrap())).collect()
}

/// All that is offered behind the words that a command must have; with every type that a monitor may have.
fn offered(start: &str, config: &Config) -> BTreeSet<String> {
    let found = complete(start, start.len(), config, &|_| true).unwrap();
    let must: Vec<_> = found.candidates.iter().filter(|candidate| candidate.required).collect();
    let own = found.expected.iter().any(|expected| expected.required);
    if must.is_empty() && !own {
        return found.candidates.into_iter().map(|candidate| candidate.word.into_owned()).collect();
    }
    let of_types = must.iter().flat_map(|candidate| offered(&format!("{start}{} ", candidate.word), config));
    let samples = SAMPLES.iter().map(|sample| format!("{start}{sample} "));
    let of_own = samples.filter(|_| own).find(|line| reads_on(line)).map(|line| offered(&line, config));
    of_types.chain(of_own.into_iter().flatten()).collect()
}

#[test]
fn every_option_of_every_command_is_offered() {
    let config = Config::default();
    for object in Object::ALL {
        for verb in Verb::ALL {
            let Some(usage) = usage(verb, object) else { continue };
            let start = format!("{} {} ", verb.text(), object.text());
            let offered = offered(&start, &config);
            let missing: Vec<String> = options(&usage).into_iter().filter(|o| !offered.contains(o)).collect();
            assert_eq!(missing, [""; 0], "{start}");
        }
    }
}

#[test]
fn every_command_is_offered() {
    let config = Config::default();
    let has = |line: &str, word: &str| {
        let found = complete(line, line.len(), &config, &|_| true).unwrap();
        found.candidates.iter().any(|candidate| candidate.word == word && !candidate.help.is_empty())
    };
    for verb in Verb::ALL {
        assert!(has("", verb.text()), "{verb:?}");
        for object in Object::ALL {
            let (group, name) = object.text().split_once(' ').unwrap_or(("", object.text()));
            let is_there = match group {
                "" => has(&format!("{} ", verb.text()), name),
                // A group in which the verb goes with nothing is no word there.
                _ => {
                    has(&format!("{} ", verb.text()), group)
                        && has(&format!("{} {group} ", verb.text()), name)
                }
            };
            assert_eq!(is_there, usage(verb, object).is_some(), "{verb:?} {object:?}");
        }
    }
    for once in once() {
        assert!(has("", once.verb), "{}", once.verb);
        for (line, word) in FILTERS.map(|(word, _)| (format!("{} {} | ", once.verb, once.object), word)) {
            assert!(has(&line, word), "{line}{word}");
        }
        if let Some((group, name)) = once.object.split_once(' ') {
            assert!(has(&format!("{} ", once.verb), group) && has(&format!("{} {group} ", once.verb), name));
        }
    }
}
