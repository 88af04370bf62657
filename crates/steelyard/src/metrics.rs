//! `/metrics`: every figure in Prometheus' text format 0.0.4.
//!
//! Owns the names, which follow Prometheus' conventions (base units, `_total` for what only grows). Labels are names of the
//! configuration, numbers of workers and words of a fixed list, never anything that a client sent. The hard question: how is a
//! large configuration told without holding anybody up? Figures of monitors
//! are copied, all others are read from atomics, on a thread of its own.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use steelyard_core::service::Service;
use steelyard_core::snapshot::Snapshot;
use steelyard_core::time::SECOND_US;
use steelyard_core::vserver::VirtualServer;
use steelyard_core::vserver::histogram::{BOUNDS_US, Histogram};

use crate::access_log::Standing;
use crate::probe::Fare;
use crate::worker::{Counters, Pulse};

/// What there is to tell, gathered on the control thread.
pub struct Figures {
    /// The view that traffic is decided on.
    pub snapshot: Arc<Snapshot>,
    /// Every monitor that runs, on every service.
    pub monitors: Vec<Fare>,
    /// Virtual servers whose address could not be opened.
    pub closed: BTreeSet<String>,
    /// What the workers count together.
    pub counters: Option<Arc<Counters>>,
    /// Each worker's pulse and its stalls.
    pub workers: Vec<(Arc<Pulse>, Arc<AtomicU64>)>,
    /// How the access log fares.
    pub access_log: Option<Standing>,
}

/// The media type of the format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

impl Figures {
    /// All of it as text.
    pub fn render(&self) -> String {
        let mut page = Page { text: String::new(), family: "" };
        page.family("steelyard_build_info", Kind::Gauge, "The version that runs.");
        page.sample("", &[("version", env!("CARGO_PKG_VERSION"))], 1);
        self.process(&mut page);
        self.workers(&mut page);
        self.vservers(&mut page);
        self.services(&mut page);
        self.monitors(&mut page);
        page.text
    }

    fn process(&self, page: &mut Page) {
        if let Some(counters) = &self.counters {
            let help = "How often clients were left waiting for 100 ms, as descriptors, memory or places were short.";
            page.family("steelyard_accept_pauses_total", Kind::Counter, help);
            page.sample("", &[], counters.rests.load(Relaxed));
        }
        if let Some(Standing { written, dropped, .. }) = &self.access_log {
            page.family(
                "steelyard_access_log_lines_total",
                Kind::Counter,
                "Lines of the access log, by what became of them.",
            );
            page.sample("", &[("outcome", "written")], written);
            page.sample("", &[("outcome", "dropped")], dropped);
        }
    }

    fn workers(&self, page: &mut Page) {
        page.family(
            "steelyard_worker_cpu_seconds_total",
            Kind::Counter,
            "CPU time of each thread that carries traffic.",
        );
        for (number, (pulse, _)) in self.workers.iter().enumerate() {
            if let Some(ns) = pulse.cpu_ns() {
                page.sample("", &[("worker", &number.to_string())], Seconds(ns / 1_000));
            }
        }
        page.family("steelyard_worker_turns_total", Kind::Counter, "Turns of each worker's event loop.");
        for (number, (pulse, _)) in self.workers.iter().enumerate() {
            page.sample("", &[("worker", &number.to_string())], pulse.turns());
        }
        page.family(
            "steelyard_worker_stalls_total",
            Kind::Counter,
            "How often a worker was found not to move for 10 s.",
        );
        for (number, (_, stalls)) in self.workers.iter().enumerate() {
            page.sample("", &[("worker", &number.to_string())], stalls.load(Relaxed));
        }
    }

    fn vservers(&self, page: &mut Page) {
        let vservers: Vec<&Arc<VirtualServer>> = self.snapshot.vservers().collect();
        let is_up = |v: &VirtualServer| v.is_up() && !self.closed.contains(&*v.name);
        page.family("steelyard_vserver_up", Kind::Gauge, "1 while the virtual server takes clients in.");
        vservers.iter().for_each(|v| page.sample("", &[("vserver", &v.name)], u8::from(is_up(v))));
        for (name, kind, help, value) in OF_VSERVER {
            page.family(name, *kind, help);
            vservers.iter().for_each(|v| page.sample("", &[("vserver", &v.name)], value(v)));
        }
        page.family(
            "steelyard_vserver_answers_total",
            Kind::Counter,
            "Answers to clients, by class of status.",
        );
        for v in &vservers {
            for (class, count) in ["1xx", "2xx", "3xx", "4xx", "5xx"].iter().zip(&v.live.answers) {
                page.sample("", &[("vserver", &v.name), ("code", class)], count.load(Relaxed));
            }
        }
        for (name, help, histogram) in HISTOGRAMS {
            page.family(name, Kind::Histogram, help);
            vservers.iter().for_each(|v| page.histogram(("vserver", &v.name), histogram(v)));
        }
    }

    fn services(&self, page: &mut Page) {
        let services: Vec<&Arc<Service>> = self.snapshot.services().collect();
        for (name, kind, help, value) in OF_SERVICE {
            page.family(name, *kind, help);
            services.iter().for_each(|s| page.sample("", &[("service", s.name())], value(s)));
        }
        page.family(
            "steelyard_service_ttfb_seconds",
            Kind::Summary,
            "Time to first byte of the answers with status 200, by which services are chosen.",
        );
        for s in &services {
            let label = [("service", s.name())];
            page.sample("_sum", &label, Seconds(s.traffic.ttfb_sum_us.load(Relaxed)));
            page.sample("_count", &label, s.traffic.ttfb_count.load(Relaxed));
        }
    }

    fn monitors(&self, page: &mut Page) {
        for (name, kind, help, value) in OF_MONITOR {
            page.family(name, *kind, help);
            self.monitors.iter().for_each(|m| page.sample("", &of_monitor(m), value(m)));
        }
        page.family(
            "steelyard_monitor_response_seconds",
            Kind::Gauge,
            "Response time of its last success there, by which LRTM chooses.",
        );
        for (m, us) in self.monitors.iter().filter_map(|m| Some((m, m.response_us?))) {
            page.sample("", &of_monitor(m), Seconds(us));
        }
    }
}

fn of_monitor(fare: &Fare) -> [(&str, &str); 2] {
    [("service", fare.service.name()), ("monitor", &*fare.spec.name)]
}

/// The page as far as it is written.
struct Page {
    text: String,
    /// What the next samples belong to.
    family: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Counter,
    Gauge,
    Histogram,
    Summary,
}

impl Kind {
    fn text(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
            Kind::Summary => "summary",
        }
    }
}

/// Writing to a String does not fail, so what it answers is not looked at.
impl Page {
    fn family(&mut self, name: &'static str, kind: Kind, help: &str) {
        self.family = name;
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {}\n", kind.text());
    }

    fn sample(&mut self, suffix: &str, labels: &[(&str, &str)], value: impl Display) {
        let _ = write!(self.text, "{}{suffix}", self.family);
        for (nth, (name, text)) in labels.iter().enumerate() {
            let _ = write!(self.text, "{}{name}=\"", if nth == 0 { '{' } else { ',' });
            self.escaped(text);
            self.text.push('"');
        }
        let _ = writeln!(self.text, "{} {value}", if labels.is_empty() { "" } else { "}" });
    }

    fn escaped(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '\\' => self.text.push_str("\\\\"),
                '"' => self.text.push_str("\\\""),
                '\n' => self.text.push_str("\\n"),
                c => self.text.push(c),
            }
        }
    }

    fn histogram(&mut self, label: (&str, &str), histogram: &Histogram) {
        let read = histogram.read();
        let mut so_far = 0;
        for (nth, count) in read.counts.iter().enumerate() {
            so_far += count;
            let bound = BOUNDS_US.get(nth).map_or("+Inf".to_owned(), |us| Seconds(*us).to_string());
            self.sample("_bucket", &[label, ("le", &bound)], so_far);
        }
        self.sample("_sum", &[label], Seconds(read.sum_us));
        self.sample("_count", &[label], so_far);
    }
}

/// Microseconds as a decimal number of seconds: exact, and without zeros behind.
struct Seconds(u64);

impl Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, us) = (self.0 / SECOND_US, self.0 % SECOND_US);
        let fraction = format!("{us:06}");
        match fraction.trim_end_matches('0') {
            "" => write!(f, "{seconds}"),
            digits => write!(f, "{seconds}.{digits}"),
        }
    }
}

type Row<T> = (&'static str, Kind, &'static str, fn(&T) -> u64);

const OF_VSERVER: &[Row<VirtualServer>] = &[
    ("steelyard_vserver_services", Kind::Gauge, "Services bound to it.", |v| v.services().count() as u64),
    ("steelyard_vserver_services_up", Kind::Gauge, "Of those, the ones that take requests.", |v| {
        v.picker.candidates() as u64
    }),
    ("steelyard_vserver_connections", Kind::Gauge, "Open client connections.", |v| {
        v.live.connections.load(Relaxed)
    }),
    ("steelyard_vserver_surge_queue", Kind::Gauge, "Requests that wait for a service with room.", |v| {
        v.waiting() as u64
    }),
    ("steelyard_vserver_spilled_total", Kind::Counter, "Connections sent on by spillover.", |v| {
        v.live.spilled.load(Relaxed)
    }),
    (
        "steelyard_vserver_backup_hits_total",
        Kind::Counter,
        "Requests and connections that a backup was given.",
        |v| v.live.backup_hits.load(Relaxed),
    ),
    ("steelyard_vserver_hits_total", Kind::Counter, "Decisions taken.", |v| v.live.hits.load(Relaxed)),
    ("steelyard_vserver_requests_total", Kind::Counter, "Requests received.", |v| {
        v.live.requests.load(Relaxed)
    }),
    ("steelyard_vserver_responses_total", Kind::Counter, "Answers of services sent completely.", |v| {
        v.live.responses.load(Relaxed)
    }),
    ("steelyard_vserver_received_bytes_total", Kind::Counter, "Bytes received from clients.", |v| {
        v.live.request_bytes.load(Relaxed)
    }),
    ("steelyard_vserver_sent_bytes_total", Kind::Counter, "Bytes sent to clients.", |v| {
        v.live.response_bytes.load(Relaxed)
    }),
    (
        "steelyard_vserver_invalid_total",
        Kind::Counter,
        "Requests and answers that broke the protocol.",
        |v| v.live.invalid.load(Relaxed),
    ),
    ("steelyard_vserver_state_changes_total", Kind::Counter, "Changes of its state.", |v| {
        v.live.state_changes.load(Relaxed)
    }),
];

type Times = (&'static str, &'static str, fn(&VirtualServer) -> &Histogram);

const HISTOGRAMS: [Times; 2] = [
    (
        "steelyard_vserver_duration_seconds",
        "From the first byte of a request, or the start of a TCP connection, to its end.",
        |v| &v.live.duration,
    ),
    (
        "steelyard_vserver_ttfb_seconds",
        "From a request's head, handed to the service, to the first byte of its answer.",
        |v| &v.live.ttfb,
    ),
];

const OF_SERVICE: &[Row<Service>] = &[
    ("steelyard_service_up", Kind::Gauge, "1 while the service takes new requests.", |s| {
        u64::from(s.state().admits())
    }),
    (
        "steelyard_service_state",
        Kind::Gauge,
        "Its state by NITRO's number: 1 DOWN, 2 UNKNOWN, 4 OUT OF SERVICE, 5 GOING OUT OF SERVICE, 7 UP, \
         8 DOWN WHEN GOING OUT OF SERVICE.",
        |s| s.state() as u64,
    ),
    ("steelyard_service_state_changes_total", Kind::Counter, "Changes of its state.", |s| {
        s.traffic.state_changes.load(Relaxed)
    }),
    ("steelyard_service_active_transactions", Kind::Gauge, "Requests it has in progress.", Service::active),
    ("steelyard_service_connections", Kind::Gauge, "Open connections to it, idle ones included.", |s| {
        s.traffic.connections.load(Relaxed)
    }),
    ("steelyard_service_idle_connections", Kind::Gauge, "Of those, the ones kept for reuse.", |s| {
        s.traffic.idle_connections.load(Relaxed)
    }),
    (
        "steelyard_service_no_local_port_total",
        Kind::Counter,
        "Connects to it that were not begun for want of a local port.",
        |s| s.traffic.no_local_port.load(Relaxed),
    ),
    ("steelyard_service_requests_total", Kind::Counter, "Requests begun.", Service::requests),
    ("steelyard_service_responses_total", Kind::Counter, "Answers received completely.", |s| {
        s.traffic.responses.load(Relaxed)
    }),
    ("steelyard_service_sent_bytes_total", Kind::Counter, "Bytes sent to it.", |s| {
        s.traffic.request_bytes.load(Relaxed)
    }),
    ("steelyard_service_received_bytes_total", Kind::Counter, "Bytes received from it.", |s| {
        s.traffic.response_bytes.load(Relaxed)
    }),
];

const OF_MONITOR: &[Row<Fare>] = &[
    ("steelyard_monitor_up", Kind::Gauge, "1 while the monitor says UP of the service.", |m| u64::from(m.up)),
    (
        "steelyard_monitor_probes_total",
        Kind::Counter,
        "Its probes of the service that could be judged.",
        |m| m.probes,
    ),
    ("steelyard_monitor_failures_total", Kind::Counter, "Of those, the ones that failed.", |m| m.failed),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_buckets_add_up() {
        let mut page = Page { text: String::new(), family: "" };
        page.family("f", Kind::Histogram, "Help.");
        let histogram = Histogram::default();
        [50, 200, 200, 20_000_000].into_iter().for_each(|us| histogram.add(us));
        page.histogram(("vserver", "a\"b\\c\nd"), &histogram);
        let lines: Vec<&str> = page.text.lines().collect();
        assert_eq!(lines[0..2], ["# HELP f Help.", "# TYPE f histogram"]);
        assert_eq!(lines[2], r#"f_bucket{vserver="a\"b\\c\nd",le="0.0001"} 1"#);
        assert_eq!(lines[3], r#"f_bucket{vserver="a\"b\\c\nd",le="0.00025"} 3"#);
        assert_eq!(lines[17], r#"f_bucket{vserver="a\"b\\c\nd",le="10"} 3"#);
        assert_eq!(lines[18], r#"f_bucket{vserver="a\"b\\c\nd",le="+Inf"} 4"#);
        assert_eq!(lines[19], r#"f_sum{vserver="a\"b\\c\nd"} 20.00045"#);
        assert_eq!(lines[20..], [r#"f_count{vserver="a\"b\\c\nd"} 4"#]);
    }

    #[test]
    fn seconds_are_exact() {
        for (us, text) in [(0, "0"), (1, "0.000001"), (1_500_000, "1.5"), (60_000_000, "60")] {
            assert_eq!(Seconds(us).to_string(), text);
        }
    }
}
