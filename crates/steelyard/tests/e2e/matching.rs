//! Regular expressions in the place of names in `rm` and `unset` (`spec/cli.md` 2): what they match, that all of it is carried out
//! or nothing, and who may do so.

use std::fs;

use libtest_mimic::Trial;

use crate::place::Place;
use crate::program::PASSWORD;
use crate::prompt_commands::posted;
use crate::shown_at_the_prompt::{answers, launched};
use crate::users::by_password;

pub fn trials() -> Vec<Trial> {
    trials![
        a_command_is_about_each_object_that_matches,
        each_kind_of_object_is_found_by_what_it_is_known_by,
        all_that_match_change_or_none,
        what_matches_nothing_is_one_error_and_never_kept,
        they_mean_nothing_where_they_are_switched_off_and_outside_the_prompt,
        each_object_is_judged_and_noted_by_itself,
        thousands_are_removed_by_one_command,
    ]
}

const DONE: &str = " Done\n";

fn config(data: &str) -> String {
    answers(data, "show runningConfig\n")
}

fn a_command_is_about_each_object_that_matches() {
    let place = Place::new();
    let (_program, data) = launched(
        &place,
        "enable ns feature LB\nadd server web1 192.0.2.1\nadd server WEB2 192.0.2.2\nadd server web10 192.0.2.3\n\
         add server db1 192.0.2.4\nadd server db2 192.0.2.5\nadd server dbx 192.0.2.6\n\
         add service w1 web1 HTTP 80 -comment one -maxClient 5\nadd service w2 WEB2 HTTP 80 -comment two -maxClient 6\n\
         add service x web10 HTTP 80 -comment three\nadd lb vserver v1 HTTP -backupVServer v2\nadd lb vserver v2 HTTP\n\
         add lb vserver y HTTP\nbind lb vserver y w1\n",
    );
    assert_eq!(answers(&data, "unset service ^w -comment -maxClient\n"), DONE);
    let after = config(&data);
    assert!(after.contains("-comment three"), "it does not begin so: {after}");
    for gone in ["-comment one", "-comment two", "-maxClient 5", "-maxClient 6"] {
        assert!(!after.contains(gone), "{gone}: {after}");
    }
    // Whatever the case; all of a name, where the expression says so; beside a name, and two of them at once.
    assert_eq!(answers(&data, "rm service ^.*[12]$\nrm server db2 ^DB1$ ^web[12]$ ^web2\n"), DONE.repeat(2));
    let after = config(&data);
    for gone in ["add server web1 ", "add server WEB2 ", "add server db", " w1 ", " w2 ", "bind lb vserver"] {
        assert_eq!(after.contains(gone), gone == "add server db", "{gone}: {after}");
    }
    for there in ["add server web10 ", "add server dbx ", "add service x "] {
        assert!(after.contains(there), "{there}: {after}");
    }
    // A backup goes with whoever falls back to it.
    assert_eq!(answers(&data, "rm lb vserver ^v\n"), DONE);
    let after = config(&data);
    assert!(after.contains("add lb vserver y ") && !after.contains("add lb vserver v"), "{after}");
}

fn each_kind_of_object_is_found_by_what_it_is_known_by() {
    let place = Place::new();
    let (_program, data) = launched(
        &place,
        "enable ns feature LB SSL CS\nadd ns ip 192.0.2.1 255.255.255.0 -type SNIP\n\
         add ns ip 192.0.2.2 255.255.255.0 -type SNIP\nadd ns ip 198.51.100.1 255.255.255.0 -type SNIP\n\
         add serviceGroup ga HTTP -comment a\nadd serviceGroup gb HTTP -comment b\nadd netProfile na\nadd netProfile nb\n\
         add lb monitor ma HTTP -LRTM ENABLED\nadd lb monitor mb HTTP -LRTM ENABLED\nadd lb monitor other TCP\n\
         add cs vserver ca HTTP 192.0.2.9 80 -comment c\nadd lb vserver sa SSL 192.0.2.9 443\nadd lb vserver sb HTTP\n\
         set ssl vserver sa -sessTimeout 300\nadd cs action aa -targetLBVserver sb\nadd cs action ab -targetLBVserver sb\n\
         add system cmdPolicy pa ALLOW show\nadd system cmdPolicy pb ALLOW show\nadd system group sysa\nadd system group sysb\n",
    );
    let before = config(&data);
    for (line, gone, there) in [
        ("rm ns ip ^192\\.0\\.2\\.", "add ns ip 192.0.2.", "add ns ip 198.51.100.1"),
        ("unset serviceGroup ^g -comment", "-comment a", "add serviceGroup ga HTTP"),
        ("rm serviceGroup ^g", "add serviceGroup g", "add netProfile na"),
        ("rm netProfile ^n[ab]$", "add netProfile", "add cs action aa"),
        ("rm lb monitor ^m HTTP", "add lb monitor m", "add lb monitor other"),
        ("unset cs vserver ^c -comment", "-comment c", "add cs vserver ca"),
        // A virtual server of HTTP has no TLS that could be unset.
        ("unset ssl vserver ^s -sessTimeout", "-sessTimeout 300", "add lb vserver sb"),
        ("rm cs action ^a", "add cs action", "add system cmdPolicy pa"),
        ("rm system cmdPolicy ^p[ab]", "add system cmdPolicy", "add system group sysa"),
        ("rm system group ^SYS", "add system group", "add lb vserver sa"),
    ] {
        assert!(before.contains(gone), "{gone}: {before}");
        assert_eq!(answers(&data, &format!("{line}\n")), DONE, "{line}");
        let after = config(&data);
        assert!(!after.contains(gone) && after.contains(there), "{line}: {after}");
    }
}

fn all_that_match_change_or_none() {
    let place = Place::new();
    let (program, data) = launched(
        &place,
        "enable ns feature LB CS\nadd cs vserver c HTTP\nadd server a1 192.0.2.1\nadd server a2 192.0.2.2\nadd service s1 a2 HTTP 80\n\
         add service s2 a2 HTTP 81\nadd lb vserver v HTTP\nbind lb vserver v s2\nset lb parameter -AllowBoundSvcRemoval DISABLED\n\
         add lb monitor http-1 HTTP\nadd lb monitor http-2 TCP\nadd lb monitor tcp-1 TCP\n",
    );
    let before = config(&data);
    for (line, error) in [
        ("rm server ^a", "ERROR: Resource in use [name, a2]\n\t"),
        ("rm service ^s", "\trm service s2: "),
        // Those that were there from the start match, too.
        (
            "rm lb monitor ^tcp-(1|default)$ TCP",
            "ERROR: No operations allowed with the default monitor [monitorName]\n\trm lb monitor tcp-default TCP: ",
        ),
        (
            "rm lb monitor ^http-[12] HTTP",
            "ERROR: Existing monitor is of different type than given [type]\n\trm lb monitor http-2 ",
        ),
        ("rm system user ^ns", "ERROR: "),
        ("unset service ^s", "ERROR: Too few arguments"),
        // A line of content switching that is not understood would be kept; this one means something else each time.
        ("unset cs vserver ^c", "ERROR: Too few arguments"),
        ("unset service ^s -port", "ERROR: "),
    ] {
        let printed = answers(&data, &format!("{line}\n"));
        assert!(printed.contains(error) && !printed.contains("Done"), "{line}: {printed}");
        assert_eq!(config(&data), before, "{line}");
    }
    let audit = fs::read_to_string(program.data().join("audit.log")).unwrap();
    for note in ["rm server a1", "rm server a2", "rm service s1", "rm service s2"] {
        assert!(audit.contains(note), "{note}: {audit}");
    }
}

/// 1135 to 1137 of `nitro-errors.tsv`.
fn what_matches_nothing_is_one_error_and_never_kept() {
    let place = Place::new();
    let (program, data) =
        launched(&place, "enable ns feature LB CS\nadd server web1 192.0.2.1\nadd cs vserver c HTTP\n");
    let before = config(&data);
    for (line, code, error) in [
        ("rm server ^x", 1136, "Regular expression does not match [name, ^x]"),
        ("rm server web1 ^x", 1136, "Regular expression does not match [name, ^x]"),
        ("unset service ^x -comment", 1136, "Regular expression does not match [name, ^x]"),
        ("unset cs vserver ^x -comment", 1136, "Regular expression does not match [name, ^x]"),
        ("rm cs policy ^x", 1136, "Regular expression does not match [policyName, ^x]"),
        ("rm server \"^(\"", 1137, "Invalid regular expression [name]"),
        ("unset server ^[ -comment", 1137, "Invalid regular expression [name]"),
        ("rm server web.*", 1135, "First character of regular expression must be ^ [name]"),
        ("unset service web$ -comment", 1135, "First character of regular expression must be ^ [name]"),
        ("set server ^web -comment x", 1075, "Invalid name"),
        ("disable server ^web", 1075, "Invalid name"),
    ] {
        let printed = answers(&data, &format!("{line}\n"));
        assert!(
            printed.starts_with(&format!("ERROR: {error}")) && !printed.contains("Done"),
            "{line}: {printed}"
        );
        let (_, answer) = posted(&program, &by_password("nsroot", PASSWORD), line);
        assert_eq!(answer["errorcode"], code, "{line}: {answer}");
        assert_eq!(config(&data), before, "{line}");
    }
}

fn they_mean_nothing_where_they_are_switched_off_and_outside_the_prompt() {
    let place = Place::new();
    let (program, data) =
        launched(&place, "add server web1 192.0.2.1\nadd server web2 192.0.2.2\nrm server ^web\n");
    let servers = |count: usize| {
        let after = config(&data);
        assert_eq!(after.matches("add server web").count(), count, "{after}");
    };
    servers(2);
    let (status, _) =
        program.outcome("DELETE", "/nitro/v1/config/server/%5Eweb", &by_password("nsroot", PASSWORD), "");
    assert_ne!(status, 200);
    servers(2);
    let printed = answers(
        &data,
        "set cli mode -regex OFF\nrm server ^web\nunset server ^web -comment\nrm server web.*\n",
    );
    assert!(printed.starts_with(" Done\nERROR: Invalid name"), "{printed}");
    assert_eq!(
        (printed.matches("ERROR: Invalid name").count(), printed.matches("Done").count()),
        (3, 1),
        "{printed}"
    );
    servers(2);
    assert_eq!(
        answers(&data, "set cli mode -regex OFF\nunset cli mode -regex\nrm server ^web\n"),
        DONE.repeat(3)
    );
    servers(0);
}

fn each_object_is_judged_and_noted_by_itself() {
    let place = Place::new();
    let (program, data) = launched(
        &place,
        "add server web1 192.0.2.1\nadd server web2 192.0.2.2\nadd server db1 192.0.2.3\nadd server db2 192.0.2.4\n\
         add system cmdPolicy own ALLOW \"^(rm|unset) server web.*\"\nadd system cmdPolicy notdb DENY \"^rm server db2\"\n\
         add system cmdPolicy every ALLOW \"^rm .*\"\n",
    );
    let users = "add system user some pass-word-1\nbind system user some own 1\n\
                 add system user most pass-word-2\nbind system user most notdb 1\nbind system user most every 2\n";
    assert_eq!(answers(&data, users), DONE.repeat(5));
    let (some, most) = (by_password("some", "pass-word-1"), by_password("most", "pass-word-2"));
    let outcome = |who: &str, line: &str| {
        let (status, answer) = posted(&program, who, line);
        assert!(!answer.to_string().contains("db"), "{line}: no name is told: {answer}");
        (status, answer["errorcode"].as_u64().unwrap())
    };
    let denied = (403, 257);
    for line in ["rm server ^.*1$", "rm server ^d", "unset server ^ -comment"] {
        assert_eq!(outcome(&some, line), denied, "{line}");
    }
    // Whoever may not give the command does not hear whether there is such an object.
    assert_eq!(outcome(&some, "rm server ^nothing"), denied);
    assert_eq!(outcome(&some, "rm server ^d.*x"), denied);
    // One that is denied in the midst of a list is found.
    assert_eq!(outcome(&most, "rm server ^.*"), denied);
    assert_eq!(outcome(&most, "rm server ^nothing"), (599, 1136));
    assert_eq!(config(&data).matches("add server").count(), 4, "nothing went");
    assert_eq!(outcome(&some, "rm server ^web"), (200, 0));
    assert_eq!(outcome(&most, "rm server ^.*1"), (200, 0));
    let audit = fs::read_to_string(program.data().join("audit.log")).unwrap();
    for note in ["rm server web1", "rm server web2", "rm server db1"] {
        assert_eq!(audit.matches(note).count(), 1, "{note}: {audit}");
    }
    assert!(config(&data).contains("add server db2 192.0.2.4"));
}

fn thousands_are_removed_by_one_command() {
    let place = Place::new();
    let mut text = String::from("enable ns feature LB\nadd lb vserver v HTTP\n");
    for n in 0..5_000 {
        text.push_str(&format!(
            "add service s{n} 127.0.0.{} HTTP {}\nbind lb vserver v s{n}\n",
            n % 200 + 1,
            20_000 + n
        ));
    }
    let (_program, data) = launched(&place, &text);
    assert_eq!(
        answers(&data, "unset service ^s -comment\nrm service ^s\nadd service s1 127.0.0.1 HTTP 80\n"),
        DONE.repeat(3)
    );
    let after = config(&data);
    assert_eq!(
        (after.matches("add service").count(), after.matches("bind lb vserver").count()),
        (1, 0),
        "{after}"
    );
}
