//! `/metrics`: the text format by a reader of its own, strict to the letter of version 0.0.4, and figures that agree with what
//! was done.

use std::collections::{BTreeMap, BTreeSet};

use libtest_mimic::Trial;

use crate::place::Place;
use crate::program::{Program, config};
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        the_page_is_what_the_format_asks_for,
        figures_agree_with_what_was_done,
        a_change_of_state_is_told_once_with_its_reason_and_counted,
    ]
}

/// A page that was read: for each family its type, for each series its value.
pub struct Page {
    types: BTreeMap<String, String>,
    series: BTreeMap<String, f64>,
}

impl Page {
    pub fn of(program: &Program) -> Page {
        let answer = program.manage("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        assert_eq!(answer.start, "HTTP/1.1 200 OK");
        assert_eq!(answer.field("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
        Page::read(&answer.text())
    }

    fn read(text: &str) -> Page {
        assert!(text.ends_with('\n'), "the last line has no end");
        let mut page = Page { types: BTreeMap::new(), series: BTreeMap::new() };
        let (mut family, mut helped) = (String::new(), BTreeSet::new());
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').unwrap_or_else(|| panic!("{line}"));
                assert!(helped.insert(name.to_owned()), "two HELPs: {line}");
                assert!(is_name(name) && !help.is_empty(), "{line}");
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap_or_else(|| panic!("{line}"));
                assert!(["counter", "gauge", "histogram", "summary"].contains(&kind), "{line}");
                assert!(page.types.insert(name.to_owned(), kind.to_owned()).is_none(), "two TYPEs: {line}");
                assert_eq!(kind == "counter", name.ends_with("_total"), "{line}");
                assert!(helped.contains(name), "no HELP before {line}");
                family = name.to_owned();
            } else {
                let (name, labels, value) = sample(line);
                let suffix =
                    name.strip_prefix(&family).unwrap_or_else(|| panic!("{line} stands under {family}"));
                let suffixes: &[&str] = match page.types[&family].as_str() {
                    "histogram" => &["_bucket", "_sum", "_count"],
                    "summary" => &["_sum", "_count"],
                    _ => &[""],
                };
                assert!(suffixes.contains(&suffix), "{line} stands under {family}");
                assert!(page.series.insert(format!("{name}{labels:?}"), value).is_none(), "twice: {line}");
            }
        }
        page
    }

    /// Is there such a series?
    pub fn has(&self, name: &str, labels: &[(&str, &str)]) -> bool {
        self.series.contains_key(&key(name, labels))
    }

    pub fn value(&self, name: &str, labels: &[(&str, &str)]) -> f64 {
        let key = key(name, labels);
        *self.series.get(&key).unwrap_or_else(|| panic!("no {key} in {:#?}", self.series))
    }

    /// The counts of a histogram's buckets, each with all smaller ones, by bound.
    fn buckets(&self, name: &str, vserver: &str) -> Vec<f64> {
        let bounds = [
            "0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1",
            "0.25", "0.5", "1", "2.5", "5", "10", "+Inf",
        ];
        let of = |bound| self.value(&format!("{name}_bucket"), &[("vserver", vserver), ("le", bound)]);
        bounds.into_iter().map(of).collect()
    }
}

fn key(name: &str, labels: &[(&str, &str)]) -> String {
    let labels: Vec<(String, String)> =
        labels.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    format!("{name}{labels:?}")
}

/// Name, labels and value of a line.
fn sample(line: &str) -> (String, Vec<(String, String)>, f64) {
    let end = line.find(['{', ' ']).unwrap_or_else(|| panic!("{line}"));
    let (name, mut rest) = line.split_at(end);
    assert!(is_name(name), "{line}");
    let mut labels = Vec::new();
    if let Some(mut inside) = rest.strip_prefix('{') {
        loop {
            let (label, after) = inside.split_once("=\"").unwrap_or_else(|| panic!("{line}"));
            assert!(is_name(label) && !label.contains(':'), "{line}");
            let (text, after) = quoted(after).unwrap_or_else(|| panic!("{line}"));
            labels.push((label.to_owned(), text));
            match after.strip_prefix(',') {
                Some(more) => inside = more,
                None => {
                    rest = after.strip_prefix('}').unwrap_or_else(|| panic!("{line}"));
                    break;
                }
            }
        }
    }
    let value = rest.strip_prefix(' ').and_then(|text| text.parse().ok());
    (name.to_owned(), labels, value.unwrap_or_else(|| panic!("{line}")))
}

/// A label's value up to its quote, and what follows.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    loop {
        match chars.next()? {
            (at, '"') => return Some((value, &text[at + 1..])),
            (_, '\\') => value.push(match chars.next()?.1 {
                'n' => '\n',
                c @ ('"' | '\\') => c,
                _ => return None,
            }),
            (_, c) => value.push(c),
        }
    }
}

fn is_name(text: &str) -> bool {
    let first = |c: char| c.is_ascii_alphabetic() || c == '_' || c == ':';
    text.starts_with(first) && text.chars().all(|c| first(c) || c.is_ascii_digit())
}

fn the_page_is_what_the_format_asks_for() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let text = config(&place, "ROUNDROBIN", &[s1.address()]).replace("vserver v", "vserver \"v: 1 #@=-.x\"");
    let program = Program::launch_with(&place, &text, &["--access-log", "/dev/null"]);
    program.client().get("/");
    // The answer is with the client before it is counted.
    let counted = [("vserver", "v: 1 #@=-.x")];
    wait_for("the request to be counted", || {
        Page::of(&program).value("steelyard_vserver_duration_seconds_count", &counted) == 1.0
    });
    let page = Page::of(&program);
    for name in ["steelyard_vserver_duration_seconds", "steelyard_vserver_ttfb_seconds"] {
        let buckets = page.buckets(name, "v: 1 #@=-.x");
        assert!(buckets.is_sorted(), "{buckets:?}");
        let labels = [("vserver", "v: 1 #@=-.x")];
        assert_eq!(page.value(&format!("{name}_count"), &labels), *buckets.last().unwrap());
        assert!(page.value(&format!("{name}_sum"), &labels) > 0.0);
    }
    assert_eq!(page.value("steelyard_build_info", &[("version", env!("CARGO_PKG_VERSION"))]), 1.0);
    for worker in ["0", "1"] {
        assert_eq!(page.value("steelyard_worker_stalls_total", &[("worker", worker)]), 0.0);
        assert!(page.value("steelyard_worker_turns_total", &[("worker", worker)]) >= 1.0);
        assert!(page.value("steelyard_worker_cpu_seconds_total", &[("worker", worker)]) > 0.0);
    }
    wait_for("the line of the access log", || {
        Page::of(&program).value("steelyard_access_log_lines_total", &[("outcome", "written")]) == 1.0
    });
    let answer = program.manage("POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
    assert_eq!(answer.start, "HTTP/1.1 405 Method Not Allowed");
}

fn figures_agree_with_what_was_done() {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| {
        std::thread::sleep(std::time::Duration::from_millis(30));
        x.ok("0123456789")
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut client = program.client();
    for _ in 0..7 {
        client.get("/");
    }
    client.send("nonsense\r\n\r\n");
    assert_eq!(client.answer().status(), 400);
    wait_for("the end of the refused connection", || program.counter("curclntconnections") == 0);
    let (page, v, s) = (Page::of(&program), [("vserver", "v")], [("service", "s1")]);
    for (name, expected) in [
        ("up", 1.0),
        ("services", 1.0),
        ("services_up", 1.0),
        ("connections", 0.0),
        ("hits_total", 7.0),
        ("requests_total", 7.0),
        ("responses_total", 7.0),
        ("invalid_total", 1.0),
        ("duration_seconds_count", 8.0),
        ("ttfb_seconds_count", 7.0),
        ("received_bytes_total", program.counter("totalrequestbytes") as f64),
        ("sent_bytes_total", program.counter("totalresponsebytes") as f64),
    ] {
        assert_eq!(page.value(&format!("steelyard_vserver_{name}"), &v), expected, "{name}");
    }
    for (code, count) in [("1xx", 0.0), ("2xx", 7.0), ("3xx", 0.0), ("4xx", 1.0), ("5xx", 0.0)] {
        assert_eq!(page.value("steelyard_vserver_answers_total", &[("vserver", "v"), ("code", code)]), count);
    }
    // All seven took 30 ms at least: none lies in the buckets up to 25 ms.
    let buckets = page.buckets("steelyard_vserver_ttfb_seconds", "v");
    assert_eq!((buckets[7], buckets[16]), (0.0, 7.0), "{buckets:?}");
    assert!(page.value("steelyard_vserver_ttfb_seconds_sum", &v) >= 0.21);
    for (name, expected) in [
        ("up", 1.0),
        ("state", 7.0),
        ("active_transactions", 0.0),
        ("requests_total", 7.0),
        ("responses_total", 7.0),
        ("ttfb_seconds_count", 7.0),
    ] {
        assert_eq!(page.value(&format!("steelyard_service_{name}"), &s), expected, "{name}");
    }
}

fn a_change_of_state_is_told_once_with_its_reason_and_counted() {
    let place = Place::new();
    let ip = place.ip();
    let s1 = TestService::plain(place.service(1));
    let text = format!(
        "enable ns feature LB\nadd service s1 {ip} HTTP 8101\nadd lb vserver v HTTP {ip} 8000\n\
         bind lb vserver v s1\nadd lb monitor m TCP -interval 1 -resptimeout 900 MSEC -retries 1 -downTime 1\n\
         bind service s1 -monitorName m\n"
    );
    let program = Program::launch(&place, &text);
    let down = format!("v ({ip}:8000) is DOWN: no bound service is UP");
    let up = format!("v ({ip}:8000) is UP");
    let changes = |page: &Page| {
        (
            page.value("steelyard_vserver_state_changes_total", &[("vserver", "v")]),
            page.value("steelyard_service_state_changes_total", &[("service", "s1")]),
        )
    };
    let (of_v, of_s1) = changes(&Page::of(&program));
    assert!(!program.lines().contains(&up), "the state at the start is told by the list");
    s1.stop();
    program.wait_for_line(&down);
    let why = "m: Failure - TCP syn sent, reset received.";
    program.wait_for_line(&format!("s1 ({ip}:8101) is DOWN: {why}"));
    let page = Page::of(&program);
    assert_eq!(changes(&page), (of_v + 1.0, of_s1 + 1.0));
    assert_eq!(page.value("steelyard_vserver_up", &[("vserver", "v")]), 0.0);
    let _again = TestService::plain(place.service(1));
    program.wait_for_line(&up);
    assert_eq!(changes(&Page::of(&program)), (of_v + 2.0, of_s1 + 2.0));
    let told = |text: &str| program.lines().iter().filter(|line| *line == text).count();
    assert_eq!((told(&down), told(&up)), (1, 1));
}
