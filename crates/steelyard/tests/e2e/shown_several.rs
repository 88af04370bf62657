//! Many objects by one `show`: by ranges and regular expressions (`spec/cli.md` 2), thousands, and at a terminal.

use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::place::Place;
use crate::shown_at_the_prompt::{answers, launched, shown};
use crate::terminal::Terminal;

pub fn trials() -> Vec<Trial> {
    trials![
        whoever_waits_at_a_terminal_is_told_what_for,
        names_are_shortened_where_a_terminal_has_no_room_for_a_table,
        ranges_and_regular_expressions_show_several,
        thousands_are_shown_by_one_command,
    ]
}

fn whoever_waits_at_a_terminal_is_told_what_for() {
    let place = Place::new();
    let (program, data) = launched(&place, "add server s 192.0.2.1\n");
    program.signal(Signal::STOP);
    let Some(mut terminal) = Terminal::start(&["cli", "--data", &data, "show server"]) else { return };
    terminal.waits_for_text("\rserver: 2 s\rserver: 3 s");
    program.signal(Signal::CONT);
    assert_eq!(terminal.end(), Ok(0));
    terminal.waits_for_text("\r\u{1b}[K1)\tName:     s ");
    terminal.waits_for_text(" Done");
    let lines = terminal.screen().lines();
    assert!(lines[0].starts_with("1)"), "nothing is left of it: {lines:?}");
    let (printed, answer) = (terminal.transcript(), answers(&data, "show server"));
    assert!(printed.contains("Done") && !answer.contains("server: "), "to a pipe nothing is told: {answer}");
}

fn names_are_shortened_where_a_terminal_has_no_room_for_a_table() {
    let place = Place::new();
    let (service, vserver) =
        ("service_with_a_very_long_name_of_its_own_one", "vserver_with_a_very_long_name_of_its_own_one");
    let (_program, data) = launched(
        &place,
        &format!(
            "enable ns feature LB\nadd server s 192.0.2.1\nadd service {service} s HTTP 80 -healthMonitor NO\n\
             add lb vserver {vserver} HTTP\nbind lb vserver {vserver} {service}\n"
        ),
    );
    let whole = format!("1)  {service}  192.0.2.1  80    UP     {vserver}");
    assert_eq!(shown(&data, "show svcbindings")[1], whole, "a pipe has room for everything");
    let on_terminal = |columns: u16, line: &str| {
        let mut terminal = Terminal::start(&["cli", "--data", &data])?;
        terminal.resize(columns);
        terminal.waits_for_text("> ");
        terminal.types(&format!("{line}\r"));
        terminal.waits_for_text(" Done");
        let printed = terminal.transcript();
        terminal.types("exit\r");
        assert_eq!(terminal.end(), Ok(0));
        Some(printed.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>())
    };
    let Some(narrow) = on_terminal(80, "show svcbindings") else { return };
    for line in [
        "    Service       IPAddress  Port  State  Vserver",
        "1)  serv...n_one  192.0.2.1  80    UP     vser...n_one",
    ] {
        assert!(narrow.contains(&line.to_owned()), "{narrow:?}");
    }
    for (columns, line) in
        [(80, "show svcbindings -fullValues"), (80, "show svcbindings | grep 192"), (200, "show svcbindings")]
    {
        let wide = on_terminal(columns, line).unwrap();
        assert!(wide.contains(&whole), "{line}: {wide:?}");
    }
}

fn ranges_and_regular_expressions_show_several() {
    let place = Place::new();
    let (_program, data) = launched(
        &place,
        "enable ns feature LB\nadd server web1 192.0.2.1\nadd server web2 192.0.2.2\nadd server web3 192.0.2.3\n\
         add server db1 192.0.2.4\nadd service w1 web1 HTTP 80\nadd service w2 web2 HTTP 80\n",
    );
    let names = |line: &str| -> Vec<String> {
        let lines = shown(&data, line).into_iter();
        lines
            .filter_map(|line| Some(line.split_once("Name:     ")?.1.split(' ').next()?.to_owned()))
            .collect()
    };
    assert_eq!(names("show server web[2-3]"), ["web2", "web3"]);
    assert_eq!(names("show server ^web"), ["web1", "web2", "web3"]);
    assert_eq!(names("show server ^.*1$"), ["web1", "db1"]);
    assert_eq!(names("show server ^WEB[13]"), ["web1", "web3"]);
    let both = shown(&data, "show service w[1-2]");
    for service in ["\tw1 (192.0.2.1:80) - HTTP", "\tw2 (192.0.2.2:80) - HTTP"] {
        assert!(both.contains(&service.to_owned()), "{both:?}");
    }
    assert_eq!(both.iter().filter(|line| *line == "1)\tMonitor Name: tcp-default").count(), 2, "{both:?}");
    for (line, error) in [
        ("show server web[1-9]", "ERROR: No such resource [name, web4]\n"),
        ("show server ^x", "ERROR: Regular expression does not match [name, ^x]\n"),
        ("show server ^(", "ERROR: "),
        ("show server web.*", "ERROR: First character of regular expression must be ^ [name]\n"),
        ("show server web[3-1]", "ERROR: Range minimum exceeds range maximum"),
        ("show lb monitor tcp HTTP", "ERROR: No such resource [monitorname, tcp]\n"),
        ("show cs policy nobody", "ERROR: No such resource [policyname, nobody]\n"),
    ] {
        let printed = answers(&data, line);
        assert!(printed.starts_with(error) && !printed.contains("Done"), "{line}: {printed}");
    }
}

fn thousands_are_shown_by_one_command() {
    let place = Place::new();
    let mut text = String::from("enable ns feature LB\n");
    for n in 0..2_000 {
        text.push_str(&format!("add service s{n} 127.0.0.{} HTTP {}\n", n % 200 + 1, 20_000 + n));
        text.push_str(&format!("add lb vserver v{n} HTTP\nbind lb vserver v{n} s{n}\n"));
    }
    let (_program, data) = launched(&place, &text);
    let all = shown(&data, "show lb vserver");
    assert_eq!(all.iter().filter(|line| line.contains(" (0.0.0.0:0) - HTTP\tType: ADDRESS ")).count(), 2_000);
    let named = shown(&data, "show lb vserver v[0-1999]");
    assert_eq!(
        named.iter().filter(|line| line.starts_with("1) s") && line.contains("Weight: 1")).count(),
        2_000
    );
    let services = shown(&data, "show service -summary");
    assert!(services.len() == 2_001 && services[1_999].starts_with("2000)"), "{services:?}");
}
