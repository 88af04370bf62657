//! From where to where each kind of monitor measures: the table of the LRTM page, row by row, with scripted servers in
//! virtual time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use steelyard_core::command::read;
use steelyard_core::config::MonitorBinding;
use steelyard_core::config::secret::{Plain, Unseal};
use steelyard_core::monitor::bound::Run;
use steelyard_core::monitor::configured::Specs;
use steelyard_core::monitor::tls::{Terms, is_secure};
use steelyard_core::monitor::{Probe, ProbeResult, Step, Verdict};
use steelyard_core::time::Time;

const TABLE: &str = include_str!("fixtures/monitors/response_times.tsv");

struct Row {
    kind: &'static str,
    monitor: &'static str,
    starts: &'static str,
    stops: &'static str,
}

fn table() -> Vec<Row> {
    let row = |line: &'static str| {
        let [kind, monitor, starts, stops] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        Row { kind, monitor, starts, stops }
    };
    TABLE.lines().filter(|line| !line.starts_with('#')).map(row).collect()
}

/// What happens to a probe.
enum Event {
    /// It begins.
    Begins,
    /// Its channel is open.
    Opened,
    /// The last byte of what it sends is handed over.
    Sent,
    /// These bytes come; made of what was sent last.
    Comes(fn(&[u8]) -> Vec<u8>),
}

use Event::{Begins, Comes, Opened, Sent};

/// What happens when: microseconds, the name of it, and what it is. No two steps are equally long.
type Script = &'static [(u64, &'static str, Event)];

fn script(kind: &str) -> Script {
    match kind {
        "PING" => PING,
        "TCP" => TCP,
        "HTTP" | "HTTP-ECV" => HTTP,
        "TCP-ECV" => TCP_ECV,
        "UDP-ECV" => UDP_ECV,
        "DNS" => DNS,
        "TCPS" => TCPS,
        "FTP" => FTP,
        "HTTPS" | "HTTPS-ECV" => HTTPS,
        "USER" => USER,
        _ => panic!("no script of {kind}"),
    }
}

const TCP: Script = &[(0, "SYN sent", Begins), (1_003, "SYN+ACK received", Opened)];

const TCPS: Script = &[(0, "SYN sent", Begins), (5_019, "TLS handshake finished", Opened)];

const PING: Script = &[
    (0, "socket opened", Begins),
    (7, "ready", Opened),
    (20, "ICMP echo request sent", Sent),
    (3_061, "echo reply received", Comes(echo_reply)),
];

const HTTP: Script = &[
    (0, "SYN sent", Begins),
    (1_003, "SYN+ACK received", Opened),
    (1_110, "HTTP request sent", Sent),
    (9_127, "HTTP response received", Comes(|_| b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n".to_vec())),
    (20_003, "body received", Comes(|_| b"answered".to_vec())),
];

const HTTPS: Script = &[
    (0, "SYN sent", Begins),
    (5_019, "TLS handshake finished", Opened),
    (5_110, "HTTP request sent", Sent),
    (13_127, "HTTP response received", Comes(|_| b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n".to_vec())),
    (24_003, "body received", Comes(|_| b"answered".to_vec())),
];

const TCP_ECV: Script = &[
    (0, "SYN sent", Begins),
    (1_003, "SYN+ACK received", Opened),
    (1_110, "send string sent", Sent),
    (4_127, "part of it received", Comes(|_| b"this is ans".to_vec())),
    (8_231, "recv string received", Comes(|_| b"wered by me".to_vec())),
];

const UDP_ECV: Script = &[
    (0, "socket opened", Begins),
    (7, "ready", Opened),
    (20, "send string sent", Sent),
    (4_127, "something else received", Comes(|_| b"nothing of use".to_vec())),
    (8_231, "recv string received", Comes(|_| b"this is answered".to_vec())),
];

const DNS: Script = &[
    (0, "socket opened", Begins),
    (7, "ready", Opened),
    (20, "query sent", Sent),
    (2_041, "response received", Comes(dns_response)),
];

const FTP: Script = &[
    (0, "SYN sent", Begins),
    (1_003, "SYN+ACK received", Opened),
    (3_009, "greeting received", Comes(|_| b"220 ready\r\n".to_vec())),
    (3_110, "user name sent", Sent),
    (5_127, "password asked for", Comes(|_| b"331 password\r\n".to_vec())),
    (5_240, "password sent", Sent),
    (9_357, "user authentication completed", Comes(|_| b"230 in\r\n".to_vec())),
];

const USER: Script = &[
    (0, "SYN sent", Begins),
    (1_003, "SYN+ACK received", Opened),
    (1_110, "request sent to the dispatcher", Sent),
    (6_127, "dispatcher's response received", Comes(|_| DISPATCHED.to_vec())),
];

const DISPATCHED: &[u8] =
    b"HTTP/1.1 200 OK\r\nServer: d\r\nContent-Length: 0\r\nConnection: Close\r\nMore-Info: fine\r\n\r\n";

/// ICMP's echo reply (type 0) to a request (type 8): the same behind the type and the checksum (RFC 792). Adding 8 to the
/// checksum's first byte is what taking 8 from the type asks for.
fn echo_reply(request: &[u8]) -> Vec<u8> {
    let mut reply = request.to_vec();
    assert_eq!(reply[..2], [8, 0], "an echo request");
    reply[0] = 0;
    let (sum, carry) = reply[2].overflowing_add(8);
    reply[2] = sum;
    reply[3] = reply[3].wrapping_add(carry.into());
    reply
}

/// The query again with the bits of an answer and one address behind it (RFC 1035 4.1).
fn dns_response(query: &[u8]) -> Vec<u8> {
    let mut response = query.to_vec();
    response[2] |= 0x80;
    response[3] |= 0x80;
    response[6..8].copy_from_slice(&[0, 1]);
    response.truncate(12 + query[12..].iter().position(|byte| *byte == 0).unwrap() + 5);
    response[8..12].fill(0);
    response.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1]);
    response
}

/// Has a probe live through its script.
fn run(monitor: &str, script: Script) -> ProbeResult {
    let reading = read(format!("add lb monitor m {monitor}\n").as_bytes(), "t");
    assert!(reading.refused.is_empty(), "{:?}", reading.refused);
    let found = reading.config.lb_monitors.find("m").unwrap();
    let tls = is_secure(found).then(Terms::default);
    let run = Run { monitor: found, binding: MonitorBinding::default(), tls };
    let spec = Specs::new(&reading.config, &Key).of(run);
    let at = |us: u64| Time::from_us(1_000_000 + us);
    let mut probe: Option<Box<dyn Probe>> = None;
    let mut sent = Vec::new();
    for (us, what, event) in script {
        let step = match event {
            Begins => {
                probe = Some(spec.probe("10.0.0.1:80".parse().unwrap(), at(*us), 7));
                continue;
            }
            Opened => probe.as_mut().unwrap().opened(at(*us)),
            Sent => {
                assert!(!sent.is_empty(), "{monitor}: nothing to send at '{what}'");
                probe.as_mut().unwrap().sent(at(*us));
                continue;
            }
            Comes(bytes) => probe.as_mut().unwrap().received(&bytes(&sent), at(*us)),
        };
        match step {
            Step::Done(result) | Step::Farewell(_, result) => return result,
            Step::Send(bytes) => sent = bytes,
            Step::Wait => {}
            Step::Reopen(channel) => panic!("{monitor}: wants {channel:?}"),
        }
    }
    panic!("{monitor}: no result");
}

/// One secret, whatever is asked for.
struct Key;

impl Unseal for Key {
    fn open(&self, _: &str, _: &str) -> Option<Plain> {
        Some(Plain::new("p".to_owned()))
    }
}

#[test]
fn each_kind_measures_from_where_to_where_the_table_says() {
    for row in table() {
        let script = script(row.kind);
        let when = |name: &str| {
            let at = script.iter().find(|(_, what, _)| *what == name);
            at.unwrap_or_else(|| panic!("{}: nothing is called '{name}'", row.kind)).0
        };
        let result = run(row.monitor, script);
        assert_eq!(result.verdict, Verdict::Success, "{}: {result}", row.kind);
        assert_eq!(result.response_us, Some(when(row.stops) - when(row.starts)), "{}", row.kind);
    }
}

/// The kinds that the LRTM page lists (`spec/methods.md` 4.3).
#[test]
fn the_table_has_the_twelve_kinds() {
    let kinds: Vec<&str> = table().iter().map(|row| row.kind).collect();
    let documented = [
        "PING",
        "TCP",
        "HTTP",
        "TCP-ECV",
        "HTTP-ECV",
        "UDP-ECV",
        "DNS",
        "TCPS",
        "FTP",
        "HTTPS",
        "HTTPS-ECV",
        "USER",
    ];
    assert_eq!(kinds, documented);
}
