//! LRTM over real sockets: decisions from the times that probes took, and the same figures of monitors by every door.

use std::collections::BTreeMap;
use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::asked::number;
use crate::bindings::rows;
use crate::explain::{Decision, explain};
use crate::metrics::Page;
use crate::place::Place;
use crate::program::Program;
use crate::selection::hold;
use crate::service::{Gate, TestService, wait_for};
use crate::tls_service::{Manner, TlsService, self_signed};

pub fn trials() -> Vec<Trial> {
    trials![
        http_decisions_are_the_rule_replayed_from_the_times_of_probes,
        tcp_decisions_are_the_rule_replayed_from_the_times_of_probes,
        metrics_and_nitro_have_the_same_figures_of_monitors,
        m38_a_warning_at_bind_is_told_to_those_who_ask,
    ]
}

fn http_decisions_are_the_rule_replayed_from_the_times_of_probes() {
    decisions_are_the_rule_replayed("HTTP");
}

fn tcp_decisions_are_the_rule_replayed_from_the_times_of_probes() {
    decisions_are_the_rule_replayed("TCP");
}

/// A service: its weight, its monitors, and for how many milliseconds it lets those wait that ask for a page. TCP is
/// answered by the kernel.
struct Site {
    name: &'static str,
    weight: u64,
    monitors: &'static [(&'static str, u64)],
}

/// The means are 225, 400 and 650 ms at least, of two to four monitors of six types: TCPS among them, which the server's
/// handshake keeps waiting, and HTTPS. That of s3 is not longer by its monitor without LRTM.
const SITES: [Site; 3] = [
    Site { name: "s1", weight: 1, monitors: &[("opens", 0), ("slow", 400), ("text", 200), ("shakes", 300)] },
    Site { name: "s2", weight: 1, monitors: &[("slow", 700), ("fast", 100), ("body", 400)] },
    Site { name: "s3", weight: 2, monitors: &[("fast", 600), ("sealed", 700), ("unheard", 900)] },
];

const MONITORS: &str = "add lb monitor opens TCP -LRTM ENABLED -interval 20940 -resptimeout 20\n\
    add lb monitor slow HTTP -LRTM ENABLED -httpRequest \"GET /slow\" -interval 20940 -resptimeout 20\n\
    add lb monitor fast HTTP -LRTM ENABLED -httpRequest \"GET /fast\" -interval 20940 -resptimeout 20\n\
    add lb monitor text TCP-ECV -LRTM ENABLED -send \"GET /text HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n\" -recv answer \
    -interval 20940 -resptimeout 20\n\
    add lb monitor body HTTP-ECV -LRTM ENABLED -send \"GET /body\" -recv answer -interval 20940 -resptimeout 20\n\
    add lb monitor shakes TCP -secure YES -destPort 8111 -LRTM ENABLED -interval 20940 -resptimeout 20\n\
    add lb monitor sealed HTTP -secure YES -destPort 8112 -LRTM ENABLED -interval 20940 -resptimeout 20\n\
    add lb monitor unheard HTTP -httpRequest \"GET /unheard\" -interval 20940 -resptimeout 20\n";

/// Requests are held, so that what is active is known, and with it every value and every choice.
fn decisions_are_the_rule_replayed(protocol: &str) {
    let place = Place::new();
    let (ip, gate) = (place.ip(), Gate::new());
    let mut text = format!(
        "enable ns feature LB\nset lb parameter -startupRRFactor 1\n{MONITORS}\
         add lb vserver v {protocol} {ip} 8000 -lbMethod LRTM\n"
    );
    let server = self_signed("app.example").server();
    let ms = Duration::from_millis;
    let shakes = Manner { before_handshake: ms(300), ..Manner::default() };
    let sealed = Manner { before_answer: ms(700), ..Manner::default() };
    let _shakes = TlsService::start(place.service(11), server.clone(), shakes);
    let _sealed = TlsService::start(place.service(12), server, sealed);
    let mut services = Vec::new();
    for (nth, site) in (1..).zip(&SITES) {
        services.push(site.service(&place, nth, &gate));
        let (name, weight) = (site.name, site.weight);
        text += &format!(
            "add service {name} {ip} {protocol} 810{nth}\nbind lb vserver v {name} -weight {weight}\n"
        );
        for (monitor, _) in site.monitors {
            text += &format!("bind service {name} -monitorName {monitor}\n");
        }
    }
    let program = Program::launch(&place, &text);
    wait_for("every monitor's first answer", || SITES.iter().all(|site| site.is_known(&program)));
    wait_for("the end of start-up", || {
        assert_eq!(program.client().get("/").status(), 200);
        explain(&program, 1).pop().is_some_and(|decision| decision.reason == "method")
    });
    program.wait_at_rest();
    let means: Vec<u64> = SITES.iter().map(|site| site.mean_us(&program)).collect();
    assert!(means.is_sorted(), "as the delays are: {means:?}");
    let held: Vec<_> = (0..HELD).map(|_| hold(&program, &services)).collect();
    let decisions = explain(&program, HELD);
    // They last for hours: what was measured is what was decided by.
    assert_eq!(SITES.iter().map(|site| site.mean_us(&program)).collect::<Vec<_>>(), means);
    replay(&decisions, &means);
    gate.open();
    drop(held);
    program.wait_at_rest();
}

/// The rule of `spec/methods.md` 1.1 and 1.6 from nothing but the means, the weights and who was chosen last: which
/// values each decision saw, and whom it chose.
fn replay(decisions: &[Decision], means: &[u64]) {
    assert_eq!(decisions.len(), HELD);
    let named = |name: &str| SITES.iter().position(|site| site.name == name).unwrap();
    let mut active = [0; 3];
    let mut last = named(decisions[0].last_selected.as_deref().unwrap());
    for decision in decisions {
        assert_eq!((decision.reason.as_str(), decision.rule.as_str()), ("method", "LRTM"));
        let n = |at: usize| active[at] * means[at];
        for (at, site) in SITES.iter().enumerate() {
            assert_eq!(decision.metric(site.name), n(at), "{} of {decision:?}", site.name);
        }
        let less = |a: usize, b: usize| n(a) * SITES[b].weight < n(b) * SITES[a].weight;
        let least = |at: &usize| !(0..3).any(|other| less(other, *at));
        last = (1..=3).map(|step| (last + step) % 3).find(least).unwrap();
        assert_eq!(decision.selected, SITES[last].name, "{decision:?}");
        active[last] += 1;
    }
    assert!(active.iter().all(|n| *n > 0), "each was chosen: {active:?}");
}

impl Site {
    fn service(&self, place: &Place, nth: u16, gate: &Gate) -> TestService {
        let gate = gate.clone();
        let delays: BTreeMap<String, u64> =
            self.monitors.iter().map(|(monitor, ms)| (format!("/{monitor}"), *ms)).collect();
        TestService::start(place.service(nth), move |x| {
            let target = x.request.target().to_owned();
            match delays.get(&target) {
                Some(ms) => std::thread::sleep(Duration::from_millis(*ms)),
                None if target == "/hold" => gate.pass(),
                None => {}
            }
            x.ok("answer")
        })
    }

    fn is_known(&self, program: &Program) -> bool {
        let page = Page::of(program);
        self.monitors.iter().all(|(monitor, _)| figure(&page, "up", self.name, monitor) == 1)
    }

    /// Mean of what `/metrics` says of the monitors under LRTM; each took as long as the service let it wait.
    fn mean_us(&self, program: &Program) -> u64 {
        let page = Page::of(program);
        let us = |(monitor, ms): &(&str, u64)| {
            let us = figure(&page, "response_seconds", self.name, monitor);
            assert!(us >= ms * 1000 && us > 0, "{monitor} of {}: {us} us", self.name);
            assert_eq!(figure(&page, "probes_total", self.name, monitor), 1);
            us
        };
        let all: Vec<u64> = self.monitors.iter().map(us).collect();
        let heard: Vec<u64> =
            all.iter().zip(self.monitors).filter(|(_, m)| m.0 != "unheard").map(|(us, _)| *us).collect();
        heard.iter().sum::<u64>() / heard.len() as u64
    }
}

/// A figure of `/metrics`; one in seconds comes in microseconds.
fn figure(page: &Page, name: &str, service: &str, monitor: &str) -> u64 {
    let value =
        page.value(&format!("steelyard_monitor_{name}"), &[("service", service), ("monitor", monitor)]);
    let scale = if name.ends_with("_seconds") { 1e6 } else { 1.0 };
    (value * scale).round() as u64
}

/// One answers, one refuses from the start, and one is a member of a group; the last two fail now and then.
fn metrics_and_nitro_have_the_same_figures_of_monitors() {
    let place = Place::new();
    let ip = place.ip();
    let _good = TestService::slow(place.service(1), "good", 30);
    let text = format!(
        "enable ns feature LB\nadd service good {ip} HTTP 8101\nadd service dead {ip} HTTP 8102\n\
         add serviceGroup g HTTP\nbind serviceGroup g {ip} 8101\n\
         add lb monitor h HTTP -interval 1 -resptimeout 900 MSEC\n\
         add lb monitor t TCP -interval 1 -resptimeout 900 MSEC -downTime 1\n\
         add lb monitor bad HTTP -respCode 404 -interval 1 -resptimeout 900 MSEC -downTime 1\n\
         bind service good -monitorName h\nbind service good -monitorName t\nbind service dead -monitorName t\n\
         bind serviceGroup g -monitorName bad\nadd lb vserver v HTTP {ip} 8000\nbind lb vserver v good\n"
    );
    let program = Program::launch(&place, &text);
    let member = format!("g?{ip}?8101");
    let bound = [("good", "h"), ("good", "t"), ("dead", "t"), (member.as_str(), "bad")];
    let measured = |service: &str| service == "good";
    let by_metrics = || {
        let page = Page::of(&program);
        bound.map(|(service, monitor)| {
            let [up, probes, failed] =
                ["up", "probes_total", "failures_total"].map(|name| figure(&page, name, service, monitor));
            let us = measured(service).then(|| figure(&page, "response_seconds", service, monitor));
            (up, probes, failed, us.unwrap_or_default())
        })
    };
    let by_nitro = || {
        let of_services =
            ["good", "dead"].map(|name| rows(&program, &format!("service_lbmonitor_binding/{name}")));
        let group = rows(&program, "servicegroup_servicegroupentitymonbindings_binding/g");
        let all: Vec<Value> = of_services.into_iter().flatten().chain(group).collect();
        <[_; 4]>::try_from(all).unwrap().map(|row| {
            let up = u64::from(row["monitor_state"] == "UP");
            let [probes, failed, ms] = ["monitortotalprobes", "monitortotalfailedprobes", "responsetime"]
                .map(|field| number(&row, field));
            (up, probes, failed, ms)
        })
    };
    wait_for("three probes by each", || by_metrics().iter().all(|(_, probes, ..)| *probes >= 3));
    wait_for("a moment in which no probe ends", || {
        let (before, told, after) = (by_metrics(), by_nitro(), by_metrics());
        if before != after {
            return false;
        }
        // NITRO tells whole milliseconds.
        assert_eq!(told, before.map(|(up, probes, failed, us)| (up, probes, failed, (us + 500) / 1000)));
        assert_eq!(before.map(|(up, ..)| up), [1, 1, 0, 0]);
        assert_eq!(before.map(|(_, probes, failed, _)| failed == probes), [false, false, true, true]);
        assert!(before[0].3 >= 30_000, "{before:?}");
        true
    });
    let page = Page::of(&program);
    assert!(!page.has("steelyard_monitor_response_seconds", &[("service", "dead"), ("monitor", "t")]));
}

fn m38_a_warning_at_bind_is_told_to_those_who_ask() {
    let place = Place::new();
    let ip = place.ip();
    let text = format!(
        "enable ns feature LB\nadd service s1 {ip} HTTP 8101\nadd service s2 {ip} HTTP 8102\n\
         add lb monitor on HTTP -LRTM ENABLED\nadd lb monitor off TCP -LRTM DISABLED\n\
         add lb vserver v HTTP {ip} 8000 -lbMethod LRTM\n"
    );
    let program = Program::launch(&place, &text);
    let lacks = |services: &str| {
        let why = format!("lbMethod LRTM of v: no monitor with -LRTM ENABLED measures {services}");
        let message = format!("Argument pre-requisite missing [{why}]");
        json!({"errorcode": 1093, "message": message, "severity": "WARNING"})
    };
    let done = json!({"errorcode": 0, "message": "Done", "severity": "NONE"});
    let put = |resource: &str, bodies: Value| {
        program.owner("PUT", &format!("{resource}?warning=yes"), Some(&json!({ resource: bodies }))).1
    };
    let vserver = |service: &str| json!({"name": "v", "servicename": service});
    let monitor = |monitor: &str| json!({"name": "s1", "monitor_name": monitor});
    let both = json!([vserver("s1"), vserver("s2")]);
    assert_eq!(put("lbvserver_service_binding", both), lacks("s1, s2"));
    assert_eq!(put("service_lbmonitor_binding", monitor("off")), lacks("s1"));
    assert_eq!(put("service_lbmonitor_binding", monitor("on")), done);
    assert_eq!(
        put("lbmonitor", json!({"monitorname": "on", "type": "HTTP", "lrtm": "DISABLED"})),
        lacks("s1")
    );
    assert_eq!(put("lbvserver", json!({"name": "v", "lbmethod": "LRTM"})), lacks("s1, s2"));
    assert_eq!(put("lbvserver", json!({"name": "v", "comment": "x"})), done);
    program.done("PUT", "lbvserver_service_binding", json!({"lbvserver_service_binding": vserver("s1")}));
}

const HELD: usize = 24;
