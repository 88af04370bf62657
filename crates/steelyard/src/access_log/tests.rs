//! From a record to the line in the file, and what happens when nobody takes it.

use std::sync::atomic::Ordering::Relaxed;

use serde_json::{Value, json};
use steelyard_core::config::guard::Guards;
use steelyard_core::proxy::record::Cause;
use steelyard_core::snapshot::Snapshot;
use steelyard_core::time::Time;
use steelyard_core::vserver::select::Reason;

use super::*;

fn snapshot() -> Snapshot {
    let text =
        "enable ns feature LB\nadd service s 127.0.0.1 HTTP 80\nadd lb vserver \"v 1\" HTTP 127.0.0.1 81\n";
    let reading = steelyard_core::command::read(text.as_bytes(), "test");
    Snapshot::default().next(&reading.config, &Guards::default(), Time::ZERO)
}

fn record<'a>(snapshot: &'a Snapshot, line: &'a [u8]) -> Record<'a> {
    Record {
        vserver: snapshot.vserver("v 1").unwrap(),
        backup: None,
        service: snapshot.service("s").map(|service| &**service),
        reason: Some(Reason::StartupRoundRobin),
        client: "[2001:db8::1]:5000".parse().unwrap(),
        line,
        status: Some(200),
        begun: Time::from_us(1_000),
        ended: Time::from_us(4_500),
        ttfb_us: Some(1_200),
        received_bytes: 80,
        sent_bytes: 5_000_000_000,
        retries: 1,
        cause: Cause::KeepAlive,
    }
}

/// The lines of these records, each as JSON without its time.
fn lines(records: &[Record<'_>]) -> Vec<Value> {
    let mut bytes = Vec::new();
    records.iter().for_each(|record| entry::write(record, &mut bytes));
    let (mut rest, mut out) = (&bytes[..], Vec::new());
    let mut wall = WallClock::new(SystemTime::UNIX_EPOCH, Time::ZERO);
    while let Some(entry) = entry::read(&mut rest) {
        line::write(&entry, &mut wall, &mut out);
    }
    assert!(rest.is_empty());
    let text = String::from_utf8(out).unwrap();
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_record_becomes_one_line_of_json() {
    let snapshot = snapshot();
    let whole = record(&snapshot, b"GET /a?\"b\"\\ HTTP/1.1");
    let none = Record {
        backup: snapshot.vserver("v 1").map(|vserver| &**vserver),
        service: None,
        reason: None,
        client: "192.0.2.1:9".parse().unwrap(),
        status: None,
        ttfb_us: None,
        retries: 0,
        cause: Cause::ClientReset,
        ..record(&snapshot, b"")
    };
    let broken = record(&snapshot, b"\x00\xff bytes\x7f\"");
    let lines = lines(&[whole, none, broken]);
    assert_eq!(
        lines[0],
        json!({
            "time": "1970-01-01T00:00:00.004500Z", "vserver": "v 1", "backup": null, "service": "s",
            "reason": "startup round robin", "client": "[2001:db8::1]:5000", "method": "GET",
            "target": "/a?\"b\"\\", "version": "HTTP/1.1", "status": 200, "ttfb_us": 1200,
            "duration_us": 3500, "received_bytes": 80, "sent_bytes": 5_000_000_000_u64, "retries": 1,
            "close": "keep-alive"
        })
    );
    let keys = |line: &Value| line.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&lines[1]), keys(&lines[0]), "always the same keys");
    assert_eq!((&lines[1]["client"], &lines[1]["backup"]), (&json!("192.0.2.1:9"), &json!("v 1")));
    for key in ["service", "reason", "method", "target", "version", "status", "ttfb_us"] {
        assert_eq!(lines[1][key], Value::Null, "{key}");
    }
    assert_eq!(lines[2]["method"], "\0\u{fffd}");
    assert_eq!(lines[2]["target"], "bytes\u{7f}\"");
}

#[test]
fn o03_a_full_ring_drops_lines_whole_and_counts_them() {
    let snapshot = snapshot();
    let (ring, mut taker) = RingBuffer::new(1_000);
    let shared = Arc::new(Shared::default());
    let mut sink = Sink {
        ring,
        scratch: Vec::new(),
        fresh: false,
        shared: Arc::clone(&shared),
        writer: std::thread::current(),
    };
    let record = record(&snapshot, b"GET / HTTP/1.1");
    let mut one = Vec::new();
    entry::write(&record, &mut one);
    let fit = 1_000 / one.len();
    (0..fit + 3).for_each(|_| sink.put(&record));
    assert_eq!(shared.dropped.load(Relaxed), 3);
    assert_eq!(taken(&mut taker), vec![b"GET / HTTP/1.1".to_vec(); fit]);
    // Every place where the ring's end can cut an entry in two, its length included.
    for n in 0..3_000 {
        let line = format!("GET /{:>width$} HTTP/1.1", n, width = n % 7);
        sink.put(&Record { line: line.as_bytes(), ..record });
        assert_eq!(taken(&mut taker), [line.into_bytes()]);
    }
    assert_eq!(shared.dropped.load(Relaxed), 3, "there was room all the time");
}

fn taken(ring: &mut Consumer<u8>) -> Vec<Vec<u8>> {
    let chunk = ring.read_chunk(ring.slots()).unwrap();
    let mut lines = Vec::new();
    entry::each(chunk.as_slices(), |entry| lines.push(entry.line.to_vec()));
    chunk.commit_all();
    lines
}

/// Two workers and a writer that sleeps between: nothing is lost and nothing waits for the next.
#[test]
fn everything_that_is_put_in_is_written() {
    let snapshot = snapshot();
    let path = std::env::temp_dir().join(format!("steelyard-access-{}.log", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let output = Output::open(Target::File(path.clone())).unwrap();
    let (log, sinks) = AccessLog::start(output, 2, Clock::start()).unwrap();
    std::thread::scope(|scope| {
        for mut sink in sinks {
            let snapshot = &snapshot;
            scope.spawn(move || {
                for n in 0..3_000 {
                    sink.put(&record(snapshot, b"GET / HTTP/1.1"));
                    sink.wake();
                    if n % 1_000 == 0 {
                        std::thread::sleep(PAUSE * 2);
                    }
                }
            });
        }
    });
    log.stop();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(text.lines().count(), 6_000);
    assert!(text.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
}

/// The words of `close`, and the keys, as the README lists them.
#[test]
fn the_readme_has_every_key_and_word() {
    let readme = include_str!("../../../../README.md");
    let table = readme.split("### The access log").nth(1).and_then(|rest| rest.split("###").next()).unwrap();
    let snapshot = snapshot();
    let line = &lines(&[record(&snapshot, b"")])[0];
    let words = line.as_object().unwrap().keys().map(String::as_str).chain(Cause::ALL.map(Cause::text));
    for word in words {
        assert!(table.contains(&format!("`{word}`")), "{word}");
    }
}
