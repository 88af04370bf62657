//! What a session remembers and how it behaves: history, aliases, modes, the prompt's text, pages, what is asked before a
//! command that undoes much (`spec/cli.md` 1 and 4).

use std::os::unix::fs::PermissionsExt;

use libtest_mimic::Trial;
use serde_json::json;

use crate::place::Place;
use crate::program::{Program, run_with_input};
use crate::terminal::Terminal;
use crate::terminal_keys::at_the_prompt;

pub fn trials() -> Vec<Trial> {
    trials![
        lines_before_are_listed_and_given_again,
        a_word_of_ones_own_stands_for_a_command,
        modes_are_set_shown_and_acted_on,
        the_prompt_says_what_it_is_told_to,
        the_first_prompt_is_that_of_the_user_a_group_or_the_system,
        clearing_the_configuration_is_asked_about_on_a_terminal_alone,
        a_long_answer_stops_at_each_page,
        an_answer_ends_by_ctrl_c_and_the_prompt_does_not,
        counters_that_come_again_and_again_end_by_ctrl_c,
        nobody_at_the_prompt_ends_it,
        names_move_no_cursor,
        two_terminals_lose_no_change,
        the_screen_is_cleared,
        lines_are_remembered_for_the_next_session_and_secrets_are_not,
    ]
}

/// What a batch of these lines prints.
fn batch(program: &Program, lines: &str) -> String {
    let output = run_with_input(&["cli", "--data", program.data().to_str().unwrap()], lines.as_bytes());
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    String::from_utf8(output.stdout).unwrap()
}

fn launched(place: &Place) -> Program {
    Program::launch(place, "enable ns feature LB\nadd server s 127.0.0.9\n")
}

fn lines_before_are_listed_and_given_again() {
    let place = Place::new();
    let Some((program, terminal)) = at_the_prompt(&place) else { return };
    terminal.types("add server a 127.0.0.1\rhistory\r!1\r");
    terminal.waits_for(&[
        "> add server a 127.0.0.1",
        " Done",
        "> history",
        " 1 add server a 127.0.0.1",
        " 2 history",
        " Done",
        "> !1",
        "add server a 127.0.0.1",
        "ERROR: Resource already exists [name, a]",
        "        it is there already; leave this out, or change it with set",
        "> ",
    ]);
    terminal.types("!9\r");
    terminal.waits_for(&["ERROR: No such command [!9]", "> "]);
    // The arrow key finds the command that `!1` stood for.
    terminal.types("\x1b[A");
    terminal.waits_for(&["> add server a 127.0.0.1"]);
    terminal.types("\x03");
    let printed = batch(
        &program,
        "whoami\n\n!!\nset system user nsroot -password verySecret1\nhistory | grep -v history\n",
    );
    let expected = "\tUserName: owner\n Done\nwhoami\n\tUserName: owner\n Done\n";
    assert!(printed.starts_with(expected), "{printed}");
    assert!(
        printed.ends_with(" 1 whoami\n 2 whoami\n 3 set system user nsroot -password ********\n Done\n"),
        "{printed}"
    );
}

fn a_word_of_ones_own_stands_for_a_command() {
    let place = Place::new();
    let program = launched(&place);
    let lines = "\
alias ss (show server | grep Name)
ss
alias ss
alias
alias one \"show server\"
one s
unalias ss
ss
alias exit whoami
unalias nobody
alias it
";
    let server = "1)\tName:     s      State:ENABLED\n";
    let expected = format!(
        " Done\n{server} Done\nss\t(show server | grep Name)\n Done\nss\t(show server | grep Name)\n Done\n Done\n\
         {server}\tIPAddress:   127.0.0.9\n Done\n Done\nERROR: No such command\n"
    );
    let printed = batch(&program, lines);
    assert!(printed.starts_with(&expected), "{printed}");
    assert!(printed.contains("ERROR: Invalid argument value [pattern, exit"), "{printed}");
    assert!(printed.contains("ERROR: No such resource [pattern, nobody]\n"), "{printed}");
    assert!(printed.ends_with("ERROR: No such resource [pattern, it]\n"), "{printed}");
}

fn modes_are_set_shown_and_acted_on() {
    let place = Place::new();
    let program = launched(&place);
    let modes = |feature: &str, timeout: u32| {
        format!(
            "\tpage: OFF\n\ttotal: OFF\n\tcolor: OFF\n\tdisabledFeatureAction: {feature}\n\ttimeout: {timeout}\n\tregex: ON\n Done\n"
        )
    };
    assert_eq!(batch(&program, "show cli mode\n"), modes("ALLOW", 900));
    let printed = batch(
        &program,
        "set cli mode -timeout 10 -disabledFeatureAction DENY\nadd cs vserver c HTTP 0.0.0.0 0\nsh cli mo\n",
    );
    assert_eq!(printed, format!(" Done\nERROR: Feature(s) not enabled [CS]\n{}", modes("DENY", 10)));
    let (_, answer) = program.nitro("/nitro/v1/config/csvserver");
    assert_eq!(answer.get("csvserver"), None, "what is refused is not there");
    let printed = batch(
        &program,
        "set cli mode -disabled NONE\nadd cs vserver c HTTP 0.0.0.0 0\nunset cli mode -disabledFeatureAction\nshow cli mode\n",
    );
    assert_eq!(printed, format!(" Done\n Done\n Done\n{}", modes("ALLOW", 900)));
    // All of a command or nothing.
    for (line, error) in [
        ("set cli mode -timeout 20 -color BLUE", "Invalid argument value [color]"),
        ("set cli mode -timeout 9", "Invalid argument value [timeout]"),
        ("set cli mode -timeout", "Required argument value missing ["),
        ("set cli mode -t 20", "Ambiguous argument name [-t]"),
        ("set cli mode -colour ON", "No such argument [-colour]"),
        ("set cli mode", "Too few arguments"),
        ("set cli mode -total 2", "Invalid argument value [total]"),
        ("set cli mode -regex BLUE", "Invalid argument value [regex]"),
        ("config", "Operation not supported"),
        ("history 5", "No such argument [5]"),
    ] {
        let printed = batch(&program, &format!("{line}\nshow cli mode\n"));
        assert!(printed.starts_with(&format!("ERROR: {error}")), "{line}: {printed}");
        assert!(printed.ends_with(&modes("ALLOW", 900)), "{line}: {printed}");
    }
    let printed = batch(
        &program,
        "add server web1 192.0.2.1\nadd server web2 192.0.2.2\nset cli mode -total ON\nshow server | grep Total\n\
         show server web2 | grep Total\nunset cli mode -total\nshow server | grep Total\nrm server web2\nshow server ^web | grep Name\nshow server ^x\nset cli mode -regex OFF\n\
         show server ^web\nunset cli mode -regex\nshow server ^web | grep Name\nrm server web1\n",
    );
    // Two, and that of the file.
    let server = "1)\tName:     web1      State:ENABLED\n Done\n";
    assert_eq!(
        printed,
        format!(
            " Done\n Done\n Done\nTotal: 3\n Done\n Done\n Done\n Done\n Done\n{server}ERROR: Regular expression does not match [name, ^x]\n Done\n\
             ERROR: No such resource [name, ^web]\n Done\n{server} Done\n"
        )
    );
    let Some(terminal) = Terminal::start(&["cli", "--data", program.data().to_str().unwrap()]) else {
        return;
    };
    terminal.types("set cli mode -color ON\rrm server nobody\r");
    terminal.waits_for_text("\x1b[31mERROR:\x1b[0m No such resource");
    assert!(
        batch(&program, "set cli mode -color ON\nrm server nobody\n").contains("\nERROR: "),
        "no terminal"
    );
}

fn the_prompt_says_what_it_is_told_to() {
    let place = Place::new();
    let Some((program, terminal)) = at_the_prompt(&place) else { return };
    program.done("PUT", "nshostname", json!({"nshostname": {"hostname": "lb1"}}));
    terminal.types("set cli prompt \"%! %u@%h-%s%%%x> \"\r");
    terminal.waits_for(&[" Done", "2 owner@lb1-Standalone%%x> "]);
    terminal.types("show cli prompt\r");
    terminal.waits_for(&["        Prompt: \"%! %u@%h-%s%%%x> \"", " Done", "3 owner@lb1-Standalone%%x> "]);
    terminal.types("clear cli prompt\r");
    terminal.waits_for(&[" Done", "> "]);
    terminal.types("set cli prompt \"[%d|%T|%t]\"\r");
    terminal.waits_for_text("]");
    let is_clock = |text: &str| {
        let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '9' } else { c }).collect();
        ["[9999-99-99|99:99:99|99:99:99 AM]", "[9999-99-99|99:99:99|99:99:99 PM]"].contains(&shape.as_str())
    };
    crate::service::wait_for("a clock", || {
        terminal.screen().lines().last().is_some_and(|line| is_clock(line))
    });
    let printed = batch(&program, &format!("set cli prompt {}\nshow cli attribute\n", "x".repeat(256)));
    assert!(printed.starts_with("ERROR: Argument too long [promptString"), "{printed}");
    assert!(printed.ends_with("/ { < | ~ $ ^ + = & % @ ` ?\n Done\n"), "{printed}");
}

/// `promptinheritedfrom` of `spec/nitro.md`: User, Group, Global.
fn the_first_prompt_is_that_of_the_user_a_group_or_the_system() {
    let place = Place::new();
    let program = launched(&place);
    let lines = "add system user own pass-word-1 -promptString \"%u of u> \"\nadd system user member pass-word-1\n\
                 add system user other pass-word-1\nadd system group none\nadd system group g -promptString \"%u of g> \"\n\
                 bind system group none -userName member\nbind system group g -userName member\n\
                 bind system group g -userName own\n";
    assert_eq!(batch(&program, lines), " Done\n".repeat(8));
    let url = program.nitro_url();
    let prompt_of = |user: &str, prompt: &str| {
        let arguments = ["cli", "--nitro", &url, "--user", user];
        let mut terminal = Terminal::start_with(&arguments, &[("STEELYARD_PASSWORD", "pass-word-1")])?;
        terminal.waits_for(&[prompt]);
        terminal.types("set cli prompt \"mine> \"\r");
        terminal.waits_for_text("mine> ");
        terminal.types("clear cli prompt\r");
        terminal.waits_for(&[
            &format!("{prompt}set cli prompt \"mine> \""),
            " Done",
            "mine> clear cli prompt",
            " Done",
            prompt,
        ]);
        terminal.types("exit\r");
        assert_eq!(terminal.end(), Ok(0));
        Some(())
    };
    if prompt_of("other", "> ").is_none() {
        return;
    }
    assert_eq!(batch(&program, "set system parameter -promptString \"%u of all> \"\n"), " Done\n");
    for (user, prompt, from) in [
        ("own", "own of u> ", "User"),
        ("member", "member of g> ", "Group"),
        ("other", "other of all> ", "Global"),
    ] {
        assert_eq!(prompt_of(user, prompt), Some(()));
        let (_, told) = program.nitro(&format!("/nitro/v1/config/systemuser/{user}"));
        assert_eq!(told["systemuser"][0]["promptinheritedfrom"], from, "{user}");
    }
    assert_eq!(
        batch(&program, "show cli prompt\n"),
        "\tPrompt: \"> \"\n Done\n",
        "the owner has not logged in"
    );
    assert_eq!(batch(&program, "unset system parameter -promptString\n"), " Done\n");
    assert_eq!(prompt_of("other", "> "), Some(()));
}

const SURE: &str = "Are you sure you want to clear the configuration(Y/N)? [N]: ";

fn clearing_the_configuration_is_asked_about_on_a_terminal_alone() {
    let place = Place::new();
    let Some((program, terminal)) = at_the_prompt(&place) else { return };
    for no in ["\r", "n\r", "\x03", "what\r"] {
        terminal.types("clear ns config full\r");
        terminal.waits_for(&["> clear ns config full", SURE]);
        terminal.types(no);
        terminal.waits_for(&["> "]);
        assert!(program.running().contains("add server s "), "{no:?} is no yes");
    }
    terminal.types("clear ns config full\r");
    terminal.waits_for(&["> clear ns config full", SURE]);
    terminal.types("y\r");
    terminal.waits_for(&[&format!("{SURE}y"), " Done", "> "]);
    assert!(!program.running().contains("add server"));
    terminal.types("add server t 127.0.0.8\rcle c -f full\r");
    terminal.waits_for(&["> cle c -f full", " Done", "> "]);
    let printed = batch(&program, "clear ns config full\nY\n");
    assert!(
        printed.starts_with(&format!("ERROR: {}\n\t", SURE.trim_end())),
        "nobody is asked in a batch: {printed}"
    );
}

fn a_long_answer_stops_at_each_page() {
    let place = Place::new();
    let Some((program, terminal)) = at_the_prompt(&place) else { return };
    let lines: String = (0..60).map(|n| format!("add server p{n:02} 127.1.0.{}\n", n + 1)).collect();
    batch(&program, &lines);
    let last = |n: usize| format!("add server p{n:02} 127.1.0.{}", n + 1);
    // Of 24 lines one asks.
    terminal.types("sh run | grep 'server p' | more\r");
    terminal.waits_for(&[&last(22), "--More--"]);
    terminal.types("\r");
    terminal.waits_for(&[&last(22), &last(23), "--More--"]);
    terminal.types(" ");
    terminal.waits_for(&[&last(45), &last(46), "--More--"]);
    terminal.types("xq");
    terminal.waits_for(&[&last(46), " Done", "> "]);
    terminal.types("set cli mode -page ON\rsh run | grep 'server p'\r");
    terminal.waits_for(&[&last(22), "--More--"]);
    terminal.types("  ");
    terminal.waits_for(&[&last(59), " Done", "> "]);
    let printed = batch(&program, "set cli mode -page ON\nsh run | grep 'server p' | more\n");
    assert_eq!(printed.lines().count(), 1 + 60 + 1, "pages are for terminals");
}

/// Whoever stops what is printed is back at the prompt.
fn an_answer_ends_by_ctrl_c_and_the_prompt_does_not() {
    let place = Place::new();
    let lines: String =
        (0..20_000).map(|n| format!("add server p{n} 127.{}.{}.1\n", n / 250 + 1, n % 250)).collect();
    let program = Program::launch(&place, &lines);
    let Some(terminal) = Terminal::start(&["cli", "--data", program.data().to_str().unwrap()]) else {
        return;
    };
    terminal.waits_for(&["> "]);
    terminal.stalls_at("add server p0 ");
    terminal.types("show ns runningConfig\r");
    terminal.types_when_stalled("\x03");
    // What the terminal had not shown yet is gone, whatever line it stood in.
    terminal.waits_for(&[" Done", "> "]);
    let transcript = terminal.transcript();
    assert!(transcript.contains("^C") && !transcript.contains("add server p19999 "));
    terminal.types("whoami\r");
    terminal.waits_for(&["> whoami", "        UserName: owner", " Done", "> "]);
}

/// README: `-ntimes N`, 0 without end; Ctrl-C ends what is printed, and is no end of the prompt.
fn counters_that_come_again_and_again_end_by_ctrl_c() {
    let place = Place::new();
    let lines: String = (0..2_000).map(|n| format!("add lb vserver p{n} HTTP\n")).collect();
    let program = Program::launch(&place, &format!("enable ns feature LB\n{lines}"));
    let start = || {
        let terminal = Terminal::start(&["cli", "--data", program.data().to_str().unwrap()])?;
        terminal.waits_for(&["> "]);
        Some(terminal)
    };
    let whoami = ["> whoami", "        UserName: owner", " Done", "> "];
    let pages = |of: &Terminal| of.transcript().matches("Virtual Server(s) Summary").count();
    // Between two pages.
    let Some(terminal) = start() else { return };
    let last =
        format!("p1999       {:>16} {:>5} {:>12} {:>12}      0/s        0", "0.0.0.0", 0, "HTTP", "DOWN");
    for (nth, times) in [(1, "0"), (2, "3")] {
        terminal.types(&format!("stat lb vserver -ntimes {times}\r"));
        terminal.waits_for(&[&last, "", ""]);
        terminal.types("\x03");
        terminal.waits_for(&[&last, "", "^C", " Done", "> "]);
        terminal.types("whoami\r");
        terminal.waits_for(&whoami);
        assert_eq!(pages(&terminal), nth, "no other one came");
    }
    // Within one, and where it stops because the terminal is full.
    let terminal = start().unwrap();
    terminal.stalls_at("p3 ");
    terminal.types("stat lb vserver -ntimes 0\r");
    terminal.types_when_stalled("\x03");
    terminal.waits_for(&[" Done", "> "]);
    terminal.types("stat lb vserver -ntimes 0 | more\r");
    terminal.waits_for(&["--More--"]);
    terminal.types("q");
    terminal.waits_for(&[" Done", "> "]);
    terminal.types("whoami\r");
    terminal.waits_for(&whoami);
    assert!(pages(&terminal) == 2 && !terminal.transcript().contains("p1999 "), "nothing else is printed");
}

fn nobody_at_the_prompt_ends_it() {
    let place = Place::new();
    let Some((_program, mut terminal)) = at_the_prompt(&place) else { return };
    terminal.types("set cli mode -timeout 10\r");
    terminal.waits_for(&[" Done", "> "]);
    terminal.types("half a line");
    assert_eq!(terminal.end(), Ok(0));
    terminal.waits_for(&["> half a line", "ERROR: Session expired [nothing was typed for 10 s]", ""]);
}

fn names_move_no_cursor() {
    let place = Place::new();
    let Some((program, terminal)) = at_the_prompt(&place) else { return };
    let comment = "a\u{1b}[2J\u{7}\u{9b}2Jb";
    program.done("PUT", "server", json!({"server": {"name": "s", "comment": comment}}));
    terminal.types("sh run | grep comment\r");
    terminal.waits_for_text(" Done\r\n");
    let transcript = terminal.transcript();
    for raw in ["\x1b[2J", "\x07", "\u{9b}"] {
        assert!(!transcript.contains(raw), "{raw:?}: {transcript:?}");
    }
    // What is typed is shown and obeyed no more than what is configured.
    terminal.types("add server \x16\x1b[2J 127.0.0.1\r");
    terminal.waits_for_text("ERROR: ");
    assert!(!terminal.transcript().contains("\x1b[2J"));
}

fn two_terminals_lose_no_change() {
    let place = Place::new();
    let Some((program, one)) = at_the_prompt(&place) else { return };
    let Some(other) = Terminal::start(&["cli", "--data", program.data().to_str().unwrap()]) else { return };
    other.waits_for(&["> "]);
    for n in 1..=20 {
        one.types(&format!("add server a{n} 127.2.0.{n}\r"));
        other.types(&format!("add server b{n} 127.3.0.{n}\r"));
    }
    one.types("# end\r");
    other.types("# end\r");
    one.waits_for(&["> # end", "> "]);
    other.waits_for(&["> # end", "> "]);
    let running = program.running();
    for n in 1..=20 {
        assert!(running.contains(&format!("add server a{n} 127.2.0.{n}\n")), "{running}");
        assert!(running.contains(&format!("add server b{n} 127.3.0.{n}\n")), "{running}");
    }
}

fn the_screen_is_cleared() {
    let place = Place::new();
    let Some((program, terminal)) = at_the_prompt(&place) else { return };
    terminal.types("whoami\r");
    terminal.waits_for(&[" Done", "> "]);
    terminal.types("cls\r");
    crate::service::wait_for("a clear screen", || terminal.screen().lines() == [" Done", ">"]);
    assert_eq!(batch(&program, "cls\n"), " Done\n");
}

fn lines_are_remembered_for_the_next_session_and_secrets_are_not() {
    let place = Place::new();
    let program = launched(&place);
    let data = program.data().to_str().unwrap();
    let state = program.data().join("state");
    let variables = [("XDG_STATE_HOME", state.to_str().unwrap())];
    let start = || Terminal::start_with(&["cli", "--data", data], &variables);
    let file = state.join("steelyard/history");
    let Some(mut terminal) = start() else { return };
    terminal.waits_for(&["> "]);
    terminal.types("whoami\rset system user nsroot -password verySecret1\r");
    terminal.types("alias p (set system user nsroot -password verySecret1)\rp\rshow server s\rexit\r");
    assert_eq!(terminal.end(), Ok(0));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "whoami\nshow server s\nexit\n");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let terminal = start().unwrap();
    terminal.waits_for(&["> "]);
    terminal.types("\x1b[A\x1b[A");
    terminal.waits_for(&["> show server s"]);
    drop(terminal);
    // Of more lines than are kept the last ones are.
    let many: String = (1..=2_000).map(|n| format!("show server s{n}\n")).collect();
    std::fs::write(&file, many).unwrap();
    let mut terminal = start().unwrap();
    terminal.waits_for(&["> "]);
    terminal.types(&"whoami\r".repeat(1_001));
    terminal.types("exit\r");
    assert_eq!(terminal.end(), Ok(0));
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept.lines().count() <= 2_001 && kept.ends_with("whoami\nexit\n"), "{}", kept.lines().count());
    // One that others could have written is not believed, and says so.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    let terminal = start().unwrap();
    terminal.waits_for_text("lines are not remembered");
    terminal.types("\x1b[Awhoami\r");
    terminal.waits_for(&["> whoami", "        UserName: owner", " Done", "> "]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), kept, "nothing is added to it");
    // With the session of somebody who has logged in nothing is read or written.
    std::fs::remove_file(&file).unwrap();
    let variables = [("XDG_STATE_HOME", state.to_str().unwrap()), ("STEELYARD_SESSION", "x")];
    let terminal = Terminal::start_with(&["cli", "--data", data], &variables).unwrap();
    terminal.types("# a remark\r");
    terminal.waits_for_text("# a remark");
    terminal.types("whoami\r");
    terminal.waits_for_text("ERROR: ");
    assert!(!file.exists());
}
