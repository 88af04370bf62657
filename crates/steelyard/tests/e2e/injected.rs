//! Faults that no test can bring about by itself, put between the program and the kernel by strace: memory that is short
//! when clients are to be let in or services to be connected to, a worker that hangs in a system call.

use std::fs;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::client::{Client, page, request};
use crate::installed::{program, skip};
use crate::place::Place;
use crate::program::Program;
use crate::service::{TestService, Then, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        a_stuck_worker_is_told_and_the_other_serves,
        a17_while_a_worker_hangs_figures_are_those_of_the_moment_and_changes_are_made,
        no_memory_for_a_client_leaves_it_waiting,
        no_buffers_for_a_client_leave_it_waiting,
        no_memory_for_a_connect_takes_no_service_down,
        no_buffers_for_a_connect_take_no_service_down,
    ]
}

/// A strace that works on some threads until it is dropped.
struct Tracer(Child);

impl Tracer {
    /// Attached with this `--inject`. `None` where that is not permitted.
    fn attach(threads: &[u32], inject: &str) -> Option<Tracer> {
        let mut command = program("strace")?;
        command.args(["--output", "/dev/null", "--inject", inject]);
        for id in threads {
            command.args(["--attach", &id.to_string()]);
        }
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let is_attached = |child: &Child| {
            let status = |id: &u32| fs::read_to_string(format!("/proc/{id}/status")).unwrap();
            let ours = format!("TracerPid:\t{}", child.id());
            threads.iter().all(|id| status(id).lines().any(|line| line == ours))
        };
        wait_for("strace", || is_attached(&child) || child.try_wait().unwrap().is_some());
        if !is_attached(&child) {
            skip("a test with strace", "attaching is not permitted here: run it as root");
            return None;
        }
        Some(Tracer(child))
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        // Asked to end it lets go of whom it traces.
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let _ = self.0.wait();
    }
}

/// The thread of a worker.
fn thread(program: &Program, name: &str) -> u32 {
    let tasks = fs::read_dir(format!("/proc/{}/task", program.id())).unwrap();
    let mut ids = tasks.map(|task| task.unwrap().path());
    let found = ids.find(|task| fs::read_to_string(task.join("comm")).unwrap().trim() == name).unwrap();
    found.file_name().unwrap().to_str().unwrap().parse().unwrap()
}

/// One of two workers hangs in the call that lets its first client in, until strace lets go of it. That is told, the
/// other serves, and when it moves again nothing was lost.
fn a_stuck_worker_is_told_and_the_other_serves() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let hang = "accept4:delay_enter=600000000:when=1";
    let Some(tracer) = Tracer::attach(&[thread(&program, "worker-0")], hang) else { return };
    let mut clients: Vec<Client> = (0..32).map(|_| program.client()).collect();
    clients.iter_mut().for_each(|client| client.send(request("GET", "/", "", b"")));
    let line = program.wait_for_error("worker-0 has not moved for 1");
    assert!(line.ends_with(" s while accepting clients; its clients wait"), "{line}");
    // The kernel gives each of 32 clients to one of two listeners: some wait with the stuck one, others were served.
    let served = s1.begun();
    assert!((1..32).contains(&served), "{served} served");
    drop(tracer);
    program.wait_for_error("worker-0 moves again after");
    clients.into_iter().for_each(|mut client| assert_eq!(client.answer().status(), 200));
    assert!(!program.errors().contains("worker-1"), "{}", program.errors());
    let page = metrics(&program);
    assert!(page.contains("steelyard_worker_stalls_total{worker=\"0\"} 1\n"), "{page}");
}

/// The thread that answers NITRO moves while one that carries traffic does not: it tells which one that is, shows what
/// the other counts, and has the other act on a change.
fn a17_while_a_worker_hangs_figures_are_those_of_the_moment_and_changes_are_made() {
    let place = Place::new();
    let (s1, s2) = (TestService::plain(place.service(1)), TestService::named(place.service(2), "s2"));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1, &s2]);
    let unbind = program.owner("DELETE", "lbvserver_service_binding/v?args=servicename:s2", None);
    assert_eq!(unbind.0, "HTTP/1.1 200 OK");
    let hang = "accept4:delay_enter=600000000:when=1";
    let Some(tracer) = Tracer::attach(&[thread(&program, "worker-0")], hang) else { return };
    let mut clients: Vec<Client> = (0..32).map(|_| program.client()).collect();
    clients.iter_mut().for_each(|client| client.send(request("GET", "/", "", b"")));
    program.wait_for_error("worker-0 has not moved for 1");
    let before = metrics(&program);
    let of = |page: &str, name: &str, worker: u8| {
        let sample = format!("steelyard_worker_{name}_total{{worker=\"{worker}\"}} ");
        page.lines().find_map(|line| line.strip_prefix(&sample)?.parse::<u64>().ok()).unwrap()
    };
    assert_eq!([0, 1].map(|worker| of(&before, "stalls", worker)), [1, 0]);
    let (mut served, mut waiting) = (Vec::new(), Vec::new());
    for mut client in clients {
        let side = if client.has_answer() { &mut served } else { &mut waiting };
        side.push(client);
    }
    assert!(!served.is_empty() && !waiting.is_empty(), "{} served", served.len());
    let hits = program.counter("tothits");
    assert_eq!(hits, served.len() as u64);
    let client = &mut served[0];
    assert_eq!(client.answer().status(), 200);
    for asked in hits + 1..=hits + 10 {
        assert_eq!(client.get("/").status(), 200);
        wait_for("the request to be counted", || program.counter("tothits") == asked);
        assert_eq!(program.service("s1", "totalrequests"), asked);
    }
    let after = metrics(&program);
    assert_eq!(of(&after, "turns", 0), of(&before, "turns", 0));
    assert!(of(&after, "turns", 1) >= of(&before, "turns", 1) + 10);
    let binding = |name: &str| json!({"lbvserver_service_binding": {"name": "v", "servicename": name}});
    program.done("PUT", "lbvserver_service_binding", binding("s2"));
    let unbind = program.owner("DELETE", "lbvserver_service_binding/v?args=servicename:s1", None);
    assert_eq!(unbind.0, "HTTP/1.1 200 OK");
    assert!(program.running().contains("bind lb vserver v s2\n"), "{}", program.running());
    wait_for("the other worker to act on it", || client.get("/").text() == "s2");
    drop(tracer);
    waiting.into_iter().for_each(|mut client| assert_eq!(client.answer().text(), "s2"));
    program.wait_at_rest();
}

fn metrics(program: &Program) -> String {
    program.manage("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").text()
}

fn no_memory_for_a_client_leaves_it_waiting() {
    shortage("ENOMEM");
}

fn no_buffers_for_a_client_leave_it_waiting() {
    shortage("ENOBUFS");
}

/// While the kernel answers so, nobody new is let in, who is in is served, and nothing spins; then all are served.
fn shortage(error: &str) {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let program = Program::start(&place, "ROUNDROBIN", &[&s1]);
    let mut early = program.client();
    assert_eq!(early.get("/").status(), 200);
    let workers = ["worker-0", "worker-1"].map(|name| thread(&program, name));
    let Some(tracer) = Tracer::attach(&workers, &format!("accept4:error={error}")) else { return };
    let mut late: Vec<Client> = (0..20).map(|_| program.client()).collect();
    late.iter_mut().for_each(|client| client.send(request("GET", "/", "", b"")));
    program.wait_for_error("clients had to wait to be let in: descriptors or memory are short");
    let (turns, since) = (program.turns(), Instant::now());
    for _ in 0..10 {
        assert_eq!(early.get("/").status(), 200, "who was there before has what it needs");
        std::thread::sleep(Duration::from_millis(100));
    }
    // As in the shortage of descriptors: a loop that spins turns far more often, traced or not.
    let turned = program.turns() - turns;
    assert!((turned as f64) < 1_000.0 * since.elapsed().as_secs_f64(), "{turned} turns");
    assert_eq!(s1.begun(), 1 + 10, "nobody was let in");
    drop(tracer);
    late.into_iter().for_each(|mut client| assert_eq!(client.answer().status(), 200));
    assert_eq!(page(place.vserver(0)), page(place.vserver(0)));
    program.wait_at_rest();
}

fn no_memory_for_a_connect_takes_no_service_down() {
    connects("socket", "ENOMEM");
}

fn no_buffers_for_a_connect_take_no_service_down() {
    connects("connect", "ENOBUFS");
}

/// While the kernel answers `call` so to workers and probes, requests are refused and the service stays UP, although two
/// failed probes would take it down; then all is well.
fn connects(call: &str, error: &str) {
    let place = Place::new();
    let s1 = TestService::start(place.service(1), |x| x.ok("s1").map(|_| Then::Close));
    let (ip, port, vserver) = (place.ip(), place.service(1).port(), place.vserver(0).port());
    let text = format!(
        "enable ns feature LB\nadd lb vserver v HTTP {ip} {vserver}\n\
         add lb monitor m HTTP -httpRequest \"GET /probe\" -interval 1 -resptimeout 900 MSEC -retries 2\n\
         add service s1 {ip} HTTP {port}\nbind service s1 -monitorName m\nbind lb vserver v s1\n"
    );
    let program = Program::start_with(&place, &text);
    assert_eq!(program.client().get("/").status(), 200);
    let threads = [program.id(), thread(&program, "worker-0"), thread(&program, "worker-1")];
    let Some(tracer) = Tracer::attach(&threads, &format!("{call}:error={error}")) else { return };
    let before = s1.begun();
    let since = Instant::now();
    // Time for four probes and more.
    while since.elapsed() < Duration::from_secs(5) {
        assert!(matches!(program.client().get("/").status(), 502 | 503));
        assert_eq!(program.field("service", "s1", "state"), "UP", "what we lack is not its fault");
        std::thread::sleep(Duration::from_millis(50));
    }
    // One probe may have been connected before.
    assert!(s1.begun() <= before + 1, "no connect succeeded meanwhile");
    drop(tracer);
    let probes = s1.heads_with("/probe").len();
    assert_eq!(program.client().get("/").status(), 200, "it is over");
    wait_for("probes that succeed again", || s1.heads_with("/probe").len() > probes + 1);
    assert_eq!(program.field("service", "s1", "state"), "UP");
    program.wait_at_rest();
}
