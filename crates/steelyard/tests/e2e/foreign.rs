//! Other people's programs on both sides: ab and slowhttptest as clients, nginx and haproxy as services. What they do is not
//! written by whoever wrote what is tested.

use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use crate::client::{Client, request};
use crate::installed::program;
use crate::message::Message;
use crate::place::Place;
use crate::program::Program;
use crate::relaying::pattern;
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        h41_ab_keeps_its_connections,
        ab_opens_a_connection_for_each_request,
        slowhttptest_in_the_head_keeps_nobody_else_waiting,
        slowhttptest_in_the_body_keeps_nobody_else_waiting,
        slowhttptest_in_the_answer_keeps_nobody_else_waiting,
        nginx_is_a_service,
        h35_nginx_refuses_an_upload_early,
        h38_nginx_answers_without_a_body,
        haproxy_is_a_service,
    ]
}

/// A program that is ended, by its id, when the test is over.
pub struct Running(Child);

impl Running {
    /// Starts it and waits until it listens.
    pub fn listening(mut command: Command, at: SocketAddr) -> Running {
        let running = Running(command.stdin(Stdio::null()).spawn().unwrap());
        wait_for(&format!("{at} to listen"), || TcpStream::connect(at).is_ok());
        running
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What ab says of these requests: its lines by their names.
fn ab(arguments: &[&str], url: &str) -> Option<impl Fn(&str) -> Option<u64>> {
    let output = program("ab")?.args(arguments).arg(url).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    Some(move |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line[name.len()..].trim_start_matches(':').split_whitespace().next()?.parse().ok()
    })
}

/// ab speaks HTTP/1.0 with `Connection: Keep-Alive`, and hangs where the answer does not say the same.
fn h41_ab_keeps_its_connections() {
    let place = Place::new();
    let s1 = TestService::named(place.service(1), "a page");
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let url = format!("http://{}/", program.vserver());
    let Some(said) = ab(&["-q", "-k", "-n", "400", "-c", "8", "-s", "20"], &url) else { return };
    assert_eq!(said("Complete requests"), Some(400));
    assert_eq!(said("Keep-Alive requests"), Some(400));
    assert_eq!(said("Failed requests"), Some(0));
    assert_eq!(said("Non-2xx responses"), None);
    assert_eq!((s1.begun(), program.counter("totalrequests")), (400, 400));
    assert!(s1.used_connections().len() <= 16, "the service's connections are used again");
    program.wait_at_rest();
}

fn ab_opens_a_connection_for_each_request() {
    let place = Place::new();
    let s1 = TestService::named(place.service(1), "a page");
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let url = format!("http://{}/", program.vserver());
    let Some(said) = ab(&["-q", "-n", "200", "-c", "8", "-s", "20"], &url) else { return };
    assert_eq!((said("Complete requests"), said("Failed requests")), (Some(200), Some(0)));
    assert_eq!(s1.begun(), 200);
    program.wait_at_rest();
}

const ATTACK_S: u64 = 4;

/// Runs slowhttptest for some seconds, 60 connections of it; all the time another client gets its answers. What the
/// service has seen of the attack.
fn attacked(arguments: &[&str]) -> Option<Vec<Message>> {
    let mut attack = program("slowhttptest")?;
    let place = Place::new();
    let big = pattern(4 << 20);
    let s1 = TestService::start(place.service(1), move |x| {
        if x.request.target() == "/big" { x.answer(200, &big) } else { x.ok("served") }
    });
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let url = format!("http://{}/big", program.vserver());
    let seconds = ATTACK_S.to_string();
    attack.args(["-c", "60", "-r", "60", "-i", "1", "-l", &seconds, "-u", &url]).args(arguments);
    let attack = attack.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let mut attack = Running(attack);
    let (began, mut served) = (Instant::now(), 0);
    while attack.0.try_wait().unwrap().is_none() && began.elapsed() < 10 * Duration::from_secs(ATTACK_S) {
        let answer = program.client().get("/served");
        assert_eq!((answer.status(), answer.text()), (200, "served".to_owned()));
        served += 1;
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(served > 0 && program.counter("totalrequests") >= served, "others were served meanwhile");
    drop(attack);
    program.wait_at_rest();
    let of_attack = s1.log().into_iter().map(|entry| entry.request).filter(|r| r.target() != "/served");
    Some(of_attack.collect())
}

/// It looks itself whether the other side still serves, by a whole request.
fn is_probe(request: &Message) -> bool {
    request.method() == "GET" && request.fields.len() == 3 && request.body.is_empty()
}

fn slowhttptest_in_the_head_keeps_nobody_else_waiting() {
    let Some(seen) = attacked(&["-H", "-x", "10"]) else { return };
    assert!(seen.iter().all(is_probe), "no head of it was complete: {seen:?}");
}

fn slowhttptest_in_the_body_keeps_nobody_else_waiting() {
    let Some(seen) = attacked(&["-B", "-s", "8192", "-x", "10"]) else { return };
    assert!(seen.iter().all(is_probe), "no body of it was complete: {seen:?}");
}

fn slowhttptest_in_the_answer_keeps_nobody_else_waiting() {
    let Some(seen) = attacked(&["-X", "-w", "10", "-y", "20", "-n", "1", "-z", "32", "-k", "1"]) else {
        return;
    };
    assert!(!seen.is_empty(), "it asks for something large");
}

const PAGE: &str = "a page of nginx\n";

/// nginx as a service, with a page, a large file and a page in chunks, and the program in front of it.
fn nginx(place: &Place) -> Option<(Running, Program, Vec<u8>)> {
    let mut command = program("nginx")?;
    let at = place.service(1);
    let page = place.file("page.txt", PAGE);
    let root = Path::new(&page).parent().unwrap().to_str().unwrap().to_owned();
    place.file("chunked.shtml", "<!--# echo var=\"nothing\" default=\"in\" --> pieces\n");
    let large = pattern(5_000_000);
    std::fs::write(format!("{root}/large.bin"), &large).unwrap();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("  {kind}_temp_path {root}/temp-{kind};\n"))
        .concat();
    let text = format!(
        "daemon off; master_process off; error_log stderr crit; pid {root}/nginx.pid;\n\
         events {{ worker_connections 64; }}\n\
         http {{\n{temporary}  access_log off;\n  server {{\n    listen {at};\n    root {root};\n\
         \x20   client_max_body_size 1k;\n    sendfile on;\n\
         \x20   add_header X-Connection \"$connection $connection_requests\" always;\n\
         \x20   location /chunked.shtml {{ ssi on; ssi_types *; }}\n  }}\n}}\n"
    );
    let file = place.file("nginx.conf", &text);
    command.args(["-p", &root, "-e", "stderr", "-c", &file]);
    let running = Running::listening(command, at);
    Some((running, Program::start_at(place, "ROUNDROBIN", &[at]), large))
}

fn nginx_is_a_service() {
    let place = Place::new();
    let Some((_nginx, program, large)) = nginx(&place) else { return };
    let mut client = program.client();
    let mut connections = Vec::new();
    for nth in 1..=20 {
        let answer = client.get("/page.txt");
        assert_eq!((answer.status(), answer.text().as_str()), (200, PAGE));
        let (connection, requests) = answer.field("x-connection").unwrap().split_once(' ').unwrap();
        assert_eq!(requests, nth.to_string(), "its connection is used again");
        connections.push(connection.to_owned());
    }
    connections.dedup();
    assert_eq!(connections.len(), 1);
    let chunked = client.get("/chunked.shtml");
    assert_eq!(chunked.field("transfer-encoding"), Some("chunked"), "{chunked:?}");
    assert_eq!(chunked.text(), "in pieces\n");
    assert!(client.get("/large.bin").body == large, "five megabytes, byte for byte");
    let part = client.request("GET", "/large.bin", "Range: bytes=1000000-3999999\r\n", b"");
    assert!(part.status() == 206 && part.body == large[1_000_000..4_000_000]);
    assert_eq!(client.get("/missing").status(), 404);
    let mut old = program.client();
    old.send("GET /chunked.shtml HTTP/1.0\r\nHost: e2e.test\r\n\r\n");
    assert_eq!(old.answer().text(), "in pieces\n");
    old.expect_end();
    program.wait_at_rest();
}

fn h35_nginx_refuses_an_upload_early() {
    let place = Place::new();
    let Some((_nginx, program, _)) = nginx(&place) else { return };
    let mut client = program.client();
    // It may have answered and closed before all of it is sent.
    let _ = client.try_send(request("POST", "/upload", "", &pattern(10 << 20)));
    assert_eq!(client.answer_to("POST").status(), 413);
    client.expect_end();
    assert_eq!(program.client().get("/page.txt").status(), 200);
    program.wait_at_rest();
}

fn h38_nginx_answers_without_a_body() {
    let place = Place::new();
    let Some((_nginx, program, large)) = nginx(&place) else { return };
    let mut client = program.client();
    let head = client.request("HEAD", "/large.bin", "", b"");
    assert_eq!(head.field("content-length"), Some(large.len().to_string().as_str()));
    let tag = head.field("etag").unwrap().to_owned();
    let unchanged = client.request("GET", "/large.bin", &format!("If-None-Match: {tag}\r\n"), b"");
    assert_eq!(unchanged.status(), 304);
    assert_eq!(client.get("/page.txt").text(), PAGE, "nothing is taken for a body");
    program.wait_at_rest();
}

/// haproxy as the service, and behind it a service of the test.
fn haproxy_is_a_service() {
    let Some(mut command) = program("haproxy") else { return };
    let place = Place::new();
    let (at, behind) = (place.service(1), TestService::echo(place.service(2)));
    let text = format!(
        "defaults\n mode http\n timeout connect 5s\n timeout client 20s\n timeout server 20s\n\
         frontend f\n bind {at}\n default_backend b\n\
         backend b\n server s {}\n",
        behind.address()
    );
    command.args(["-f", &place.file("haproxy.cfg", &text), "-db", "-q"]);
    let _haproxy = Running::listening(command, at);
    let program = Program::start_at(&place, "ROUNDROBIN", &[at]);
    let mut client = program.client();
    for size in [1, 1_000, 100_000, 3_000_000] {
        let body = pattern(size);
        assert!(client.request("POST", "/echo", "", &body).body == body, "{size} bytes came back changed");
    }
    send_chunked(&mut client, &pattern(200_000));
    assert!(client.answer_to("POST").body == pattern(200_000));
    assert_eq!(client.get("/last").status(), 200);
    assert_eq!(behind.begun(), 6);
    program.wait_at_rest();
}

fn send_chunked(client: &mut Client, body: &[u8]) {
    client.send("POST /c HTTP/1.1\r\nHost: e2e.test\r\nTransfer-Encoding: chunked\r\n\r\n");
    for piece in body.chunks(7_777) {
        client.send(format!("{:x}\r\n", piece.len()));
        client.send([piece, b"\r\n"].concat());
    }
    client.send("0\r\n\r\n");
}
