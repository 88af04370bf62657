//! Properties of the command language: nothing from a file can break it, a refused line changes nothing, an accepted
//! one leaves every reference whole, and an abbreviation means what the whole word means.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::collection::vec;
use proptest::prelude::*;
use steelyard_core::command::{Command, lex, parse, print, read, run_line};
use steelyard_core::config::{Config, LbBinding, TCP_DEFAULT};

/// The lines of the golden file in which every line is accepted.
fn accepted_lines() -> Vec<&'static str> {
    let text = include_str!("command/everything.txt").split("=== refused").next().unwrap();
    text.lines().filter(|line| !line.starts_with('#')).collect()
}

fn command(line: &str) -> Result<Command, u16> {
    let words = lex::words(line).map_err(|(refusal, _)| refusal.code())?;
    parse(&words).map(|parsed| parsed.commands()[0].clone()).map_err(|(refusal, _)| refusal.code())
}

/// Every name in a binding is the name of something, and no weight is out of its range.
fn is_whole(config: &Config) {
    let weight = |weight: u32| assert!((1..=100).contains(&weight), "weight {weight}");
    for service in &config.services {
        assert!(config.servers.has(&service.server));
        assert_ne!(service.port, 0);
        assert!(service.monitors.iter().all(|binding| config.lb_monitors.has(&binding.monitor)));
        service.monitors.iter().for_each(|binding| weight(binding.weight));
    }
    for group in &config.service_groups {
        assert!(!config.services.has(&group.name));
        assert!(group.members.iter().all(|member| config.servers.has(&member.server) && member.port > 0));
        group.members.iter().for_each(|member| weight(member.weight));
    }
    for vserver in &config.lb_vservers {
        for binding in &vserver.bindings {
            match binding {
                LbBinding::Service { name, weight: w, .. } => {
                    assert!(config.services.has(name));
                    weight(*w);
                }
                LbBinding::ServiceGroup { name, .. } => assert!(config.service_groups.has(name)),
            }
        }
    }
    for service in &config.services {
        assert_eq!(config.services.find(&service.name), Some(service), "the index finds it");
    }
    let vserver = |name: &str| {
        name.is_empty()
            || config.lb_vservers.has(name)
            || config.cs_vservers.has(name)
            || config.kept.adds_vserver(name)
    };
    for cs in &config.cs_vservers {
        assert!(!config.lb_vservers.has(&cs.name));
        assert!(vserver(&cs.backup_vserver) && vserver(&cs.default_target.lb_vserver));
        assert!(cs.policies.iter().all(|bound| vserver(&bound.target)));
    }
    for action in &config.cs_actions {
        assert!(vserver(&action.target_lb_vserver) && vserver(&action.target_vserver));
    }
    assert!(config.cs_policies.iter().all(|p| p.action.is_empty() || config.cs_actions.has(&p.action)));
    let pair = |name: &str| config.ssl_cert_keys.has(name);
    assert!(config.ssl_cert_keys.iter().all(|other| other.issuer.is_empty() || pair(&other.issuer)));
    for tls in &config.ssl_vservers {
        assert!(config.all_ssl_vservers().any(|other| other == *tls));
        assert!(tls.bound.cert_keys.iter().all(|bound| pair(&bound.cert_key)));
    }
    for tls in &config.ssl_services {
        assert!(config.services.find(&tls.name).is_some_and(|service| service.service_type.has_tls()));
        assert!(tls.bound.cert_keys.iter().all(|bound| pair(&bound.cert_key)));
    }
    for tls in &config.ssl_service_groups {
        assert!(config.service_groups.find(&tls.name).is_some_and(|group| group.service_type.has_tls()));
        assert!(tls.bound.cert_keys.iter().all(|bound| pair(&bound.cert_key)));
    }
    let mut grouped: Vec<String> = Vec::new();
    for group in &config.lb_groups {
        assert!(group.vservers.iter().all(|vserver| config.lb_vservers.has(vserver)));
        grouped.extend(group.vservers.iter().map(|vserver| vserver.to_ascii_lowercase()));
    }
    let all = grouped.len();
    grouped.sort();
    grouped.dedup();
    assert_eq!(grouped.len(), all, "a virtual server is in one group");
    for monitor in &config.lb_monitors {
        assert!(
            monitor.resptimeout.ms() < monitor.interval.ms() && monitor.failure_retries < monitor.retries
        );
    }
    assert_eq!(config.lb_monitors.find(TCP_DEFAULT), Config::default().lb_monitors.find(TCP_DEFAULT));
}

/// A line of the right shape, with so few names that most of them exist and many collide.
fn plausible_line() -> impl Strategy<Value = String> {
    let shape = prop::sample::select(vec![
        "add server N A",
        "add server N A -state DISABLED",
        "add service N A HTTP P",
        "add service N N HTTP P",
        "add serviceGroup N HTTP",
        "add lb vserver N HTTP",
        "add lb vserver N HTTP A P -cltTimeout W",
        "add lb vserver N HTTP A P -newServiceRequest W PERCENT",
        "add lb monitor M HTTP -retries W",
        "add lb monitor M TCP -interval W MSEC -resptimeout W MSEC",
        "bind lb vserver N N",
        "bind lb vserver N N",
        "bind lb vserver N N -weight W",
        "bind lb vserver N N -weight W",
        "bind lb vserver N -policyName N -priority W -type REQUEST",
        "bind lb vserver N -policyName N -gotoPriorityExpression END -invoke policylabel N",
        "unbind lb vserver N -policyName N",
        "bind service N -policyName N",
        "add system user N -timeout W",
        "set system user nsroot 1a -encrypted -timeout W",
        "rm system user N",
        "add system group N",
        "rm system group N",
        "add system cmdPolicy N DENY ^rm.*",
        "set system cmdPolicy N ALLOW ^show.*",
        "rm system cmdPolicy N",
        "bind system user N superuser W",
        "bind system user N N W",
        "bind system group N -userName N -policyName N W",
        "unbind system group N -userName N",
        "unbind system user N N",
        "add lb vserver N SSL",
        "add ssl certKey N -cert N",
        "link ssl certKey N N",
        "unlink ssl certKey N",
        "update ssl certKey N -key N",
        "rm ssl certKey N",
        "set ssl vserver N -clientAuth ENABLED",
        "unset ssl vserver N -clientAuth",
        "bind ssl vserver N -certkeyName N",
        "unbind ssl vserver N -certkeyName N",
        "bind ssl vserver N -cipherName N",
        "unbind ssl vserver N -cipherName DEFAULT",
        "add cs vserver N HTTP A P",
        "add cs vserver N HTTP A P -backupVServer N",
        "add cs policy N -rule true -action N",
        "add cs policy N -url /",
        "add cs action N -targetLBVserver N",
        "add cs action N -targetVserver N",
        "bind cs vserver N -policyName N -targetLBVserver N -priority W",
        "bind cs vserver N -policyName N -priority W",
        "bind cs vserver N -lbvserver N",
        "unbind cs vserver N -lbvserver N",
        "unbind cs vserver N -policyName N",
        "rename cs vserver N N",
        "rename cs policy N N",
        "rename cs action N N",
        "rm cs vserver N",
        "rm cs policy N",
        "rm cs action N",
        "add lb group N",
        "bind lb group N N N",
        "unbind lb group N N",
        "rm lb group N",
        "rename lb group N N",
        "set lb group N -masterVserver N",
        "set lb vserver N -backupVServer N -netProfile N",
        "unset lb vserver N -backupVServer",
        "add netProfile N",
        "rm netProfile N",
        "set service N -IPAddress A",
        "set serviceGroup N N P -hashId W",
        "bind lb vserver N N -order W",
        "bind lb monitor M -certkeyName N",
        "unbind lb monitor M -certkeyName N",
        "bind service N -monitorName M",
        "bind service N -monitorName M -weight W",
        "bind serviceGroup N A P -weight W",
        "bind serviceGroup N N P",
        "bind serviceGroup N -monitorName M",
        "set server N -IPAddress A -comment \"x y\"",
        "set service N -weight W M",
        "set service N -healthMonitor NO -maxClient W",
        "set serviceGroup N A P -weight W",
        "set serviceGroup N -monitorName M -weight W",
        "set lb vserver N -weight W N",
        "set lb vserver N -IPAddress A",
        "set lb vserver N -lbMethod LRTM",
        "set lb monitor M HTTP -failureRetries W",
        "set lb monitor M TCP -interval W",
        "set lb parameter -startupRRFactor W",
        "enable server N",
        "disable service N",
        "disable serviceGroup N A P",
        "disable serviceGroup N",
        "enable lb vserver N",
        "enable ns feature LB",
        "disable ns feature LB CS",
        "rm server N N",
        "rm service N",
        "rm serviceGroup N",
        "rm lb vserver N",
        "rm lb monitor M HTTP",
        "rm lb monitor M TCP",
        "unbind lb vserver N N",
        "unbind service N -monitorName M",
        "unbind serviceGroup N N P",
        "unbind serviceGroup N A P",
        "unbind serviceGroup N -monitorName M",
        "unbind lb monitor M N",
        "bind lb monitor M N",
        "rename server N N",
        "rename service N N",
        "rename serviceGroup N N",
        "rename lb vserver N N",
        "unset server N -comment",
        "unset service N -healthMonitor",
        "unset serviceGroup N A P -weight",
        "unset lb vserver N -cltTimeout -newServiceRequest",
        "unset lb monitor M TCP -interval",
        "unset lb monitor M HTTP -retries -failureRetries",
        "disable service N W -graceFul YES",
        "disable lb monitor N M",
        "enable lb monitor N",
        "show lb vserver N",
    ]);
    let words = [
        ("N", vec!["a", "B", "b", "c", "10.0.0.1", "2001:db8:0::1"]),
        ("M", vec!["http", "HTTP", "tcp", "m", "tcp-default"]),
        ("A", vec!["10.0.0.1", "10.0.0.2", "10.0.0.3", "2001:DB8::1", "0.0.0.0", "10.0.0.999"]),
        ("P", vec!["80", "81", "0"]),
        ("W", vec!["1", "2", "3", "100", "101", "0", "-1", "x"]),
    ];
    (shape, vec(any::<prop::sample::Index>(), 6)).prop_map(move |(shape, picks)| {
        let word = |(at, word): (usize, &str)| match words.iter().find(|(letter, _)| *letter == word) {
            Some((_, choices)) => choices[picks[at % picks.len()].index(choices.len())].to_owned(),
            None => word.to_owned(),
        };
        shape.split(' ').enumerate().map(word).collect::<Vec<_>>().join(" ")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_break_the_reader(bytes in vec(any::<u8>(), 0..600)) {
        let reading = read(&bytes, "x");
        is_whole(&reading.config);
        for refused in &reading.refused {
            let text = refused.to_string();
            prop_assert!(!text.chars().any(char::is_control), "{text:?}");
            prop_assert!(text.len() < 2_000, "{text:?}");
        }
    }

    #[test]
    fn no_mangled_line_breaks_the_reader(
        line in prop::sample::select(accepted_lines()),
        edits in vec((any::<prop::sample::Index>(), prop::sample::select(vec!["\"", "'", "(", ")", "-", "#", "q{", " ", "", "\u{e9}", "\\", "9", "\0"])), 0..4),
    ) {
        let mut characters: Vec<char> = line.chars().collect();
        for (index, insert) in edits {
            let at = index.index(characters.len() + 1);
            characters.splice(at..at, insert.chars());
        }
        let line: String = characters.into_iter().collect();
        let reading = read(line.as_bytes(), "x");
        is_whole(&reading.config);
        prop_assert!(reading.refused.len() <= 1);
        for refused in reading.refused {
            prop_assert!((1..=line.chars().count() + 2).contains(&refused.place.column), "{refused} of {line:?}");
        }
    }

    #[test]
    fn a_refused_line_changes_nothing(lines in vec(plausible_line(), 1..150)) {
        let mut config = Config::default();
        for line in &lines {
            let before = config.clone();
            if run_line(&mut config, line).is_err() {
                prop_assert_eq!(&config, &before, "{}", line);
            }
            is_whole(&config);
        }
        let printed = print(&config).ns_conf;
        let again = read(printed.as_bytes(), "printed");
        prop_assert_eq!(&again.refused, &[], "{}", printed);
        prop_assert_eq!(&again.config, &config, "{}", printed);
    }

    #[test]
    fn an_abbreviation_means_what_the_whole_word_means(
        line in prop::sample::select(accepted_lines()),
        which in any::<prop::sample::Index>(),
        length in any::<prop::sample::Index>(),
    ) {
        let words: Vec<&str> = line.split(' ').collect();
        let head = if ["lb", "ns"].contains(&words[1]) { 3 } else { 2 };
        let keywords: Vec<usize> = (0..words.len())
            .filter(|index| *index < head || words[*index].starts_with('-'))
            .collect();
        let chosen = keywords[which.index(keywords.len())];
        let word = words[chosen];
        let shortest = 1 + usize::from(word.starts_with('-'));
        let short = &word[..shortest + length.index(word.len() - shortest + 1)];
        // The beginnings of a longer word that are words themselves.
        prop_assume!(!["service", "-newServiceRequest"].contains(&short) || short == word);
        let mut shortened = words.clone();
        shortened[chosen] = short;
        match command(&shortened.join(" ")) {
            Ok(command_read) => prop_assert_eq!(Ok(command_read), command(line), "{} for {}", short, word),
            Err(code) => prop_assert!([1089, 1099].contains(&code), "{code}: {short} for {word}"),
        }
    }

    #[test]
    fn case_is_no_matter(line in prop::sample::select(accepted_lines()), upper in any::<bool>()) {
        let words: Vec<&str> = line.split(' ').collect();
        let head = if ["lb", "ns"].contains(&words[1]) { 3 } else { 2 };
        let changed: Vec<String> = words
            .iter()
            .enumerate()
            .map(|(index, word)| match index < head || word.starts_with('-') || ["HTTP", "LRTM", "ENABLED"].contains(word) {
                true if upper => word.to_ascii_uppercase(),
                true => word.to_ascii_lowercase(),
                false => (*word).to_owned(),
            })
            .collect();
        prop_assert_eq!(command(&changed.join(" ")), command(line));
    }
}

#[test]
fn usual_abbreviations_work() {
    let same = |short, whole| assert_eq!(command(short), command(whole), "{short}");
    same("en ns feat lb", "enable ns feature LB");
    same("en feature lb", "enable ns feature LB");
    same("bind serviceg g h 80 -w 5", "bind serviceGroup g h 80 -weight 5");
    same(
        "add lb vs v http 10.0.0.1 80 -lbm roundr",
        "add lb vserver v HTTP 10.0.0.1 80 -lbMethod ROUNDROBIN",
    );
    same("add vserver v HTTP", "add lb vserver v HTTP");
    same("add monitor m HTTP -int 9 SEC", "add lb monitor m HTTP -interval 9");
    same("add server -IPAddress 10.0.0.1 -name s", "add server s 10.0.0.1");
    same("set lb parameter -startup 4", "set lb parameter -startupRRFactor 4");
}
