//! `stat` at the prompt: the appliance's pages (`spec/cli.md` 5), with figures that are those of the traffic and of NITRO.

use std::io::{BufRead, BufReader};
use std::process::Output;

use libtest_mimic::Trial;
use serde_json::Value;

use crate::client::page;
use crate::owner::Between;
use crate::place::Place;
use crate::program::{Program, number, run_to_end, start};
use crate::service::TestService;
use crate::terminal::Terminal;

pub fn trials() -> Vec<Trial> {
    trials![
        a_virtual_server_has_the_page_of_the_appliance,
        all_virtual_servers_are_a_table_with_shortened_names,
        full_values_shorten_nothing,
        services_groups_and_members_have_their_pages,
        there_is_a_page_of_everything_that_is_counted,
        hits_decide_what_comes_first,
        another_page_comes_after_seven_seconds_with_figures_of_its_own,
        tables_are_as_wide_as_the_terminal_is_at_the_moment,
        states_are_coloured_where_somebody_wants_it_on_a_terminal,
        counters_begin_anew_where_that_is_asked_for,
        what_cannot_be_counted_is_an_error_in_the_appliances_words,
        two_thousand_virtual_servers_are_one_table_and_one_request,
    ]
}

fn ask(data: &str, line: &str) -> (Option<i32>, String, String) {
    let arguments: Vec<&str> = ["cli", "--data", data].into_iter().chain(line.split(' ')).collect();
    let Output { status, stdout, stderr } = run_to_end(&arguments);
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// What the prompt answers, where that is no error.
fn shown(data: &str, line: &str) -> Vec<String> {
    let (code, out, errors) = ask(data, line);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{line}");
    assert_eq!(out.lines().last(), Some(" Done"), "{line}");
    out.lines().map(str::to_owned).collect()
}

/// Two services, of which one is DOWN, a group with a member, and virtual servers of all states.
fn launched(place: &Place) -> (Program, String, [TestService; 2]) {
    let services = [1, 2].map(|n| TestService::named(place.service(n), "s"));
    let ip = place.ip();
    let text = format!(
        "enable ns feature LB CS\n\
         add service s1 {ip} HTTP 8101\nadd service down 127.0.0.9 HTTP 8199 -healthMonitor NO\n\
         disable service down\n\
         add serviceGroup g HTTP\nbind serviceGroup g {ip} 8102\n\
         add lb vserver v HTTP {ip} 8000 -lbMethod ROUNDROBIN\n\
         bind lb vserver v s1\nbind lb vserver v g\nbind lb vserver v down\n\
         add lb vserver frontend-ingress-vpx_443_svc HTTP {ip} 8001\n\
         bind lb vserver frontend-ingress-vpx_443_svc s1\n\
         add lb vserver twelve_chars TCP {ip} 8002\n\
         add lb vserver off HTTP {ip} 8003 -state DISABLED\n\
         add service six 2001:db8:1:2:3:4:5:678 HTTP 80 -healthMonitor NO\n\
         add cs vserver c HTTP {ip} 8080\n"
    );
    let program = Program::launch(place, &text);
    for (resource, name) in [("service", "s1"), ("lbvserver", "v")] {
        program.wait_for_state(resource, name, "UP");
    }
    let data = program.data().to_str().unwrap().to_owned();
    (program, data, services)
}

/// NITRO's figures of one object.
fn told(program: &Program, path: &str, resource: &str) -> Value {
    let (_, answer) = program.nitro(&format!("/nitro/v1/stat/{path}"));
    answer[resource].as_array().map_or_else(|| answer[resource].clone(), |rows| rows[0].clone())
}

/// A line of counters in the appliance's columns.
fn counter(label: &str, rate: &str, total: impl ToString) -> String {
    format!("{label:<32}{rate:>20} {:>20}", total.to_string())
}

/// The line with its rate replaced where it is a number: that is of the moment.
fn steady(line: &str) -> String {
    let rate = line.get(32..52).map(str::trim_start).unwrap_or_default();
    match rate.parse::<u64>() {
        Ok(_) if line.len() == 73 => format!("{}{:>20}{}", &line[..32], "*", &line[52..]),
        _ => line.to_owned(),
    }
}

fn a_virtual_server_has_the_page_of_the_appliance() {
    let place = Place::new();
    let (program, data, services) = launched(&place);
    (0..10).for_each(|_| drop(page(place.vserver(0))));
    program.wait_at_rest();
    let hits = services.each_ref().map(|service| service.begun());
    assert_eq!(hits[0] + hits[1], 10);
    let told = told(&program, "lbvserver/v", "lbvserver");
    let of = |field: &str| number(&told, field);
    assert_eq!((of("totalrequests"), of("totalresponses")), (10, 10));
    let (ip, level) = (place.ip().to_string(), |label: &str, total: u64| counter(label, "--", total));
    let expected = [
        String::new(),
        "Virtual Server Summary".to_owned(),
        "                      vsvrIP  port     Protocol        State   Health  actSvcs ".to_owned(),
        format!("v           {ip:>16}  8000         HTTP           UP {:>8}        2", of("vslbhealth")),
        String::new(),
        "           inactSvcs ".to_owned(),
        "v                  1".to_owned(),
        String::new(),
        "Virtual Server Statistics".to_owned(),
        "                                          Rate (/s)                Total".to_owned(),
        counter("Vserver hits", "*", 10),
        counter("Requests", "*", 10),
        counter("Responses", "*", 10),
        counter("Request bytes", "*", of("totalrequestbytes")),
        counter("Response bytes", "*", of("totalresponsebytes")),
        counter("Total Packets rcvd", "*", 0),
        counter("Total Packets sent", "*", 0),
        level("Current client connections", 0),
        level("Current Client Est connections", 0),
        level("Current server connections", of("cursrvrconnections")),
        level("Current Persistence Sessions", 0),
        level("Current Backup Persistence Sessi", 0),
        level("Requests in surge queue", 0),
        level("Requests in vserver's surgeQ", 0),
        level("Requests in service's surgeQs", 0),
        level("Spill Over Threshold", 0),
        level("Spill Over Hits", 0),
        level("Labeled Connection", 0),
        level("Push Labeled Connection", 0),
        counter("Deferred Request", "*", 0),
        level("Invalid Request/Response", 0),
        level("Invalid Request/Response Dropped", 0),
        level("Vserver Down Backup Hits", 0),
        level("Current Multipath TCP sessions", 0),
        level("Current Multipath TCP subflows", 0),
        counter("Apdex for client response times.", "--", "0.00"),
        level("Average client TTLB", of("avgcltttlb")),
        level("No of TCPConn ReasmQ 75% reached", 0),
        level("No of TCPConn ReasmQ Flushed", 0),
        counter("No of Server Busy Error", "*", 0),
        String::new(),
    ];
    let lines = shown(&data, "stat lb vs v");
    let counters: Vec<String> = lines.iter().take(expected.len()).map(|line| steady(line)).collect();
    assert_eq!(counters, expected);
    let bound = |name: &str, ip: &str, port: u16, state: &str, hits: usize| {
        format!("{name:<12}{ip:>16} {port:>5}         HTTP {state:>12} {hits:>8} ")
    };
    let member = format!("g?{ip}?8102");
    let member = if member.len() > 12 {
        format!("{}...{}", &member[..4], &member[member.len() - 5..])
    } else {
        member
    };
    let rows = [
        bound("s1", &ip, 8101, "UP", hits[0]),
        bound("down", "127.0.0.9", 8199, "OFS", 0),
        bound(&member, &ip, 8102, "UP", hits[1]),
    ];
    let rest = &lines[expected.len()..];
    assert_eq!(rest.len(), 7, "each row with an empty line, and Done: {rest:?}");
    for (row, line) in rows.iter().zip(rest.iter().step_by(2)) {
        let rate = line.strip_prefix(row).unwrap_or_else(|| panic!("{row} in {line}"));
        assert!(
            rate.len() == 8 && rate.trim_start().strip_suffix("/s").unwrap().parse::<u64>().is_ok(),
            "{line}"
        );
    }
}

fn all_virtual_servers_are_a_table_with_shortened_names() {
    let place = Place::new();
    let (program, data, _services) = launched(&place);
    program.wait_for_state("lbvserver", "frontend-ingress-vpx_443_svc", "UP");
    let ip = place.ip().to_string();
    let row = |name: &str, ip: &str, port: u16, kind: &str, state: &str| {
        [format!("{name:<12}{ip:>16} {port:>5} {kind:>12} {state:>12}      0/s        0"), String::new()]
    };
    let head = [
        String::new(),
        "Virtual Server(s) Summary".to_owned(),
        "                      vsvrIP  port     Protocol        State    Req/s   CPU-PM ".to_owned(),
    ];
    let rows = [
        row("v", &ip, 8000, "HTTP", "UP"),
        row("fron...3_svc", &ip, 8001, "HTTP", "UP"),
        row("twelve_chars", &ip, 8002, "TCP", "DOWN"),
        row("off", &ip, 8003, "HTTP", "OFS"),
    ];
    let expected: Vec<String> =
        head.into_iter().chain(rows.into_iter().flatten()).chain([" Done".to_owned()]).collect();
    assert_eq!(shown(&data, "stat lb vserver"), expected);
    let grepped = shown(&data, "stat lb vserver | grep -i down");
    assert_eq!(grepped.len(), 2, "{grepped:?}");
}

fn full_values_shorten_nothing() {
    let place = Place::new();
    let (_program, data, _services) = launched(&place);
    for (line, whole, cut) in [
        ("stat lb vserver", "frontend-ingress-vpx_443_svc", "fron...3_svc"),
        ("stat service", "2001:db8:1:2:3:4:5:678", "2001...5:678"),
    ] {
        let has = |lines: &[String], text: &str| lines.iter().any(|line| line.contains(text));
        let (short, full) = (shown(&data, line), shown(&data, &format!("{line} -fullValues")));
        assert!(has(&short, cut) && !has(&short, whole), "{short:?}");
        assert!(has(&full, whole) && !has(&full, "..."), "{full:?}");
        let longest = full.iter().map(|line| line.trim_end().len()).max();
        assert!(longest <= Some(80), "what does not fit goes on below: {full:?}");
    }
}

fn services_groups_and_members_have_their_pages() {
    let place = Place::new();
    let (program, data, _services) = launched(&place);
    let ip = place.ip().to_string();
    (0..4).for_each(|_| drop(page(place.vserver(0))));
    program.wait_at_rest();
    let lines = shown(&data, "stat service s1");
    assert_eq!(lines[1], "Service Summary");
    assert_eq!(lines[2], "                          IP  port         Type        State  MaxConn  SvrTTFB ");
    assert!(lines[3].starts_with(&format!("s1          {ip:>16}  8101         HTTP           UP        0 ")));
    assert_eq!(
        lines[5..7],
        ["Service Statistics", "                                          Rate (/s)                Total"]
    );
    for (line, field) in [
        ("Service hits", "vsvrservicehits"),
        ("Requests", "totalrequests"),
        ("Request bytes", "totalrequestbytes"),
    ] {
        let expected = counter(line, "*", number(&told(&program, "service/s1", "service"), field));
        assert!(lines.iter().any(|line| steady(line) == expected), "{expected} in {lines:?}");
    }
    let all = shown(&data, "stat service");
    assert_eq!(all[1], "Service(s) Summary");
    assert!(all.iter().any(|line| {
        line.starts_with(&format!("down        {:>16}  8199         HTTP          OFS", "127.0.0.9"))
    }));
    let group = shown(&data, "stat serviceGroup g");
    assert_eq!(
        group[1..4],
        [
            "Service Group Summary",
            "                       State         Type ",
            "g                    ENABLED         HTTP",
        ]
    );
    assert!(group[5].contains(&format!("{ip:>16}  8102         HTTP           UP ")), "{group:?}");
    let member = shown(&data, &format!("stat serviceGroupMember g {ip} 8102"));
    assert_eq!(member[1], "Service Group Member Summary");
    let requests = number(
        &told(&program, "servicegroupmember?args=servicegroupname:g", "servicegroupmember"),
        "totalrequests",
    );
    assert!(member.iter().any(|line| steady(line) == counter("Requests", "*", requests)), "{member:?}");
}

fn there_is_a_page_of_everything_that_is_counted() {
    let place = Place::new();
    let (_program, data, _services) = launched(&place);
    for (line, title) in [
        ("stat lb monitor", "Monitor(s) Summary"),
        ("stat cs vserver", "Vserver(s) Summary"),
        ("stat cs vserver c", "Vserver Summary"),
        ("stat ns", "System Information:"),
        ("stat ns -detail", "Integrated Cache Statistics:"),
        ("stat system", "System Disks:"),
        ("stat system -detail", "System Health Statistics:"),
        ("stat system cpu", "CPU statistics"),
        ("stat system memory", "Memory Statistics:"),
        ("stat HA node", "HA Statistics:"),
        ("stat interface", "Interface(s) Summary"),
        ("stat interface lo", "Interface Statistics"),
        ("stat protocol http", "HTTP Statistics"),
        ("stat protocol ip", "IP Statistics"),
        ("stat protocol tcp", "TCP Statistics"),
        ("stat protocol udp", "UDP Statistics"),
        ("stat ssl", "SSL Summary"),
        ("stat aaa", "AAA Statistics"),
    ] {
        let lines = shown(&data, line);
        let titled = lines.iter().any(|line| line == title);
        // The only monitors are those that come with the appliance.
        assert!(titled || lines == [" Done"] && line == "stat lb monitor", "{line}: {lines:?}");
    }
}

fn hits_decide_what_comes_first() {
    let place = Place::new();
    let (program, data, _services) = launched(&place);
    program.wait_for_state("lbvserver", "frontend-ingress-vpx_443_svc", "UP");
    (0..3).for_each(|_| drop(page(place.vserver(1))));
    drop(page(place.vserver(0)));
    program.wait_at_rest();
    let names = |line: &str| {
        let lines = shown(&data, line);
        let rows = lines[3..].iter().filter(|line| !line.is_empty() && *line != " Done");
        rows.map(|line| line[..12].trim_end().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("stat lb vserver -sortBy Hits")[..2], ["fron...3_svc", "v"]);
    assert_eq!(names("stat lb vserver -sortBy Hits descending")[..2], ["fron...3_svc", "v"]);
    assert_eq!(names("stat lb vserver -sortBy hits ascending")[2..], ["v", "fron...3_svc"]);
    assert_eq!(names("stat lb vserver")[..2], ["v", "fron...3_svc"], "as they are configured");
}

fn another_page_comes_after_seven_seconds_with_figures_of_its_own() {
    let place = Place::new();
    let (program, data, _services) = launched(&place);
    let mut child = start(&["cli", "--data", &data, "stat", "lb", "vserver", "v", "-ntimes", "2"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut requests = || loop {
        let line = lines.next().unwrap().unwrap();
        if line.starts_with("Requests  ") {
            return line.split_whitespace().last().unwrap().parse::<u64>().unwrap();
        }
    };
    assert_eq!(requests(), 0);
    // It is printed, and the next one is yet to be asked for.
    (0..6).for_each(|_| drop(page(place.vserver(0))));
    program.wait_at_rest();
    assert_eq!(requests(), 6);
    assert_eq!(lines.map(Result::unwrap).filter(|line| line == " Done").count(), 1);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

fn tables_are_as_wide_as_the_terminal_is_at_the_moment() {
    let place = Place::new();
    let (_program, data, _services) = launched(&place);
    let Some(mut terminal) = Terminal::start(&["cli", "--data", &data]) else { return };
    terminal.waits_for(&["> "]);
    let head = "                      vsvrIP  port     Protocol        State   Health  actSvcs";
    let heads = "stat lb vserver v | grep Svcs";
    terminal.types(&format!("{heads}\r"));
    terminal.waits_for(&[&format!("> {heads}"), head, "           inactSvcs", " Done", "> "]);
    terminal.resize(120);
    terminal.types(&format!("{heads}\r"));
    terminal.waits_for(&[&format!("> {heads}"), &format!("{head} inactSvcs"), " Done", "> "]);
    terminal.resize(50);
    terminal.types(&format!("{heads}\r"));
    // Address, port and protocol stand in the line above, which ends at column 47.
    terminal.waits_for(&[
        "                   State   Health  actSvcs",
        "           inactSvcs",
        " Done",
        "> ",
    ]);
}

fn states_are_coloured_where_somebody_wants_it_on_a_terminal() {
    let place = Place::new();
    let (_program, data, _services) = launched(&place);
    let off = "twelve_chars";
    let typed = "set cli mode -color ON\rstat lb vserver | grep twelve\rshow lb vserver off | grep State:\r";
    let ends = |terminal: &Terminal| terminal.waits_for_text("OUT OF SERVICE");
    let Some(terminal) = Terminal::start(&["cli", "--data", &data]) else { return };
    terminal.types(typed);
    ends(&terminal);
    let seen = terminal.transcript();
    assert!(seen.contains(off) && seen.contains("         \x1b[31mDOWN\x1b[0m "), "{seen:?}");
    assert!(seen.contains("\tState: \x1b[33mOUT OF SERVICE"), "{seen:?}");
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let Some(terminal) = Terminal::start_with(&["cli", "--data", &data], &[variable]) else { return };
        terminal.types(typed);
        ends(&terminal);
        let seen = terminal.transcript();
        assert!(seen.contains("     DOWN ") && !seen.contains("\x1b[3"), "{variable:?}: {seen:?}");
    }
}

fn counters_begin_anew_where_that_is_asked_for() {
    let place = Place::new();
    let (program, data, _services) = launched(&place);
    (0..4).for_each(|_| drop(page(place.vserver(0))));
    program.wait_at_rest();
    let requests = |line: &str| {
        let lines = shown(&data, line);
        let line = lines.iter().find(|line| line.starts_with("Requests  ")).unwrap();
        line.split_whitespace().last().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!((requests("stat lb vserver v"), requests("stat service s1")), (4, 2));
    assert_eq!(requests("stat lb vserver v -clearstats basic"), 0);
    assert_eq!((requests("stat lb vserver v"), requests("stat service s1")), (0, 2));
    assert_eq!(requests("stat lb vserver v -clearstats full"), 0);
    assert_eq!(requests("stat service s1"), 0, "with what is bound to it");
    let (code, _, errors) = ask(&data, "stat lb vserver v -clearstats some");
    assert_eq!((code, errors.lines().next()), (Some(1), Some("ERROR: Invalid argument value [clearstats]")));
}

fn what_cannot_be_counted_is_an_error_in_the_appliances_words() {
    let place = Place::new();
    let (_program, data, _services) = launched(&place);
    for (line, message) in [
        ("stat lb vserver nosuch", "No such resource [name, nosuch]"),
        ("stat interface eth99", "No such resource [id, eth99]"),
        ("stat serviceGroupMember g 192.0.2.1 80", "No such resource [serviceGroupMember, 192.0.2.1:80]"),
        ("stat lb vserver -bogus", "No such argument [-bogus]"),
        ("stat ns -bogus", "No such argument [-bogus]"),
        ("stat ns one", "No such command"),
        ("stat interface lo one", "No such argument [one]"),
        ("stat lb vserver -ntimes x", "Invalid argument value [ntimes]"),
        ("stat ns -logFile newnslog", "Feature not supported in this release [logFile, a log of counters]"),
        ("stat cache", "Feature not supported in this release [stat cache]"),
        ("stat nosuch", "No such command"),
    ] {
        let (code, out, errors) = ask(&data, line);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{line}");
        assert_eq!(errors.lines().next(), Some(format!("ERROR: {message}").as_str()), "{line}");
    }
}

/// However many objects a page has, it is one request to NITRO's statistics.
fn two_thousand_virtual_servers_are_one_table_and_one_request() {
    let place = Place::new();
    let ip = place.ip();
    let vserver =
        |n: u32| format!("add lb vserver v{n} HTTP {ip} {}\nbind lb vserver v{n} s{}\n", 10_000 + n, n % 20);
    let service = |n: u32| format!("add service s{n} {ip} HTTP {} -healthMonitor NO\n", 8_101 + n);
    let services: String = (0..20).map(service).collect();
    let text = format!("enable ns feature LB\n{services}{}", (0..2_000).map(vserver).collect::<String>());
    let program = Program::launch(&place, &text);
    let between = Between::before(&program, &place);
    let lines = shown(between.data(), "stat lb vserver");
    assert_eq!(between.asked(), ["GET /nitro/v1/stat/lbvserver"]);
    assert_eq!(lines.len(), 3 + 2 * 2_000 + 1);
    assert_eq!(lines.iter().filter(|line| line.contains("Summary")).count(), 1);
    assert!(lines[3 + 2 * 1_999].starts_with(&format!("v1999       {:>16} 11999", ip.to_string())));
    for (line, request) in [
        ("stat lb vserver -sortBy Hits", "lbvserver"),
        ("stat lb vserver -detail", "lbvserver?statbindings=yes"),
        ("stat lb vserver v7", "lbvserver/v7?statbindings=yes"),
        ("stat service", "service"),
        ("stat service -detail", "service?statbindings=yes"),
    ] {
        shown(between.data(), line);
        assert_eq!(between.asked(), [format!("GET /nitro/v1/stat/{request}")], "{line}");
    }
    let Some(terminal) = Terminal::start(&["cli", "--data", between.data()]) else { return };
    terminal.waits_for(&["> "]);
    between.asked();
    terminal.types("stat lb vserver | grep -i summary\r");
    terminal.waits_for(&["Virtual Server(s) Summary", " Done", "> "]);
    assert_eq!(between.asked(), ["GET /nitro/v1/stat/lbvserver"]);
}
