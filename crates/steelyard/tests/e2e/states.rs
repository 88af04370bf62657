//! What becomes of clients by the state of services and virtual servers: who is served, refused, sent elsewhere or cut.

use libtest_mimic::Trial;

use crate::client::{Client, End, page, request};
use crate::place::Place;
use crate::program::Program;
use crate::service::{Gate, TestService, Then, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        o09_no_service_that_is_down_gets_work_and_none_left_is_an_rst,
        a_redirect_url_is_an_answer_of_302_while_nobody_serves,
        a_backup_takes_over_connected_clients_and_new_ones_and_gives_them_back,
        tcp_connections_go_to_the_backup_or_are_reset,
        new_connections_spill_to_the_backup_and_those_that_are_there_stay,
        l14_down_state_flush_cuts_or_spares_what_is_under_way,
        a_disabled_virtual_server_or_service_is_flushed_too,
        a_service_leaves_gracefully_or_after_its_delay,
        the_last_service_that_leaves_gracefully_ends_what_it_has,
        a_primary_that_waits_to_be_enabled_is_by_a_line_that_does,
        o11_what_was_disabled_and_enabled_gets_its_share,
        the_weights_of_the_monitors_that_are_up_must_reach_mon_threshold,
    ]
}

/// As `spec/methods.md` ruling 8 has it: without backup and redirect a new client is reset; one that is connected is
/// answered 503.
fn o09_no_service_that_is_down_gets_work_and_none_left_is_an_rst() {
    let place = Place::new();
    let mut services: Vec<TestService> = (1..=3).map(|n| TestService::plain(place.service(n))).collect();
    let program = Program::start_with(&place, &probed(&place, 3, ""));
    let third = services.remove(2);
    let mut client = program.client();
    services.drain(..).for_each(TestService::stop);
    ["s1", "s2"].iter().for_each(|s| program.wait_for_state("service", s, "DOWN"));
    for _ in 0..20 {
        assert_eq!(client.get("/").text(), "8103");
        assert_eq!(page(program.vserver()), "8103");
    }
    third.stop();
    program.wait_for_state("lbvserver", "v", "DOWN");
    assert_eq!(client.get("/").status(), 503);
    assert_eq!(refused(program.vserver()), End::Reset);
    let _second = TestService::plain(place.service(2));
    program.wait_for_state("lbvserver", "v", "UP");
    assert_eq!((client.get("/").text(), page(program.vserver())), ("8102".to_owned(), "8102".to_owned()));
    program.wait_at_rest();
}

fn a_redirect_url_is_an_answer_of_302_while_nobody_serves() {
    let place = Place::new();
    let s1 = TestService::plain(place.service(1));
    let path = "-redirectURL http://sorry.example/down.html";
    let program = Program::start_with(&place, &probed(&place, 1, path));
    let mut client = program.client();
    assert_eq!(client.get("/").status(), 200);
    s1.stop();
    program.wait_for_state("lbvserver", "v", "DOWN");
    let sent_to = |client: &mut Client, target: &str| {
        let answer = client.get(target);
        assert_eq!(answer.status(), 302, "{answer:?}");
        assert_eq!(answer.all("cache-control"), ["no-store"]);
        answer.all("location").concat()
    };
    assert_eq!(sent_to(&mut client, "/a?b"), "http://sorry.example/down.html");
    let mut new = program.client();
    assert_eq!(sent_to(&mut new, "/"), "http://sorry.example/down.html");
    assert_eq!(new.request("HEAD", "/", "", b"").status(), 302);
    assert_eq!(new.request("POST", "/", "", b"some body").status(), 302, "and the connection goes on");
    let bare = probed(&place, 1, "-redirectURL https://sorry.example");
    program.reload(&format!("{bare}disable lb vserver v\n"));
    program.wait_for_state("lbvserver", "v", "OUT OF SERVICE");
    let reason = program.field("lbvserver", "v", "reason");
    assert_eq!(reason, "disabled; clients are redirected to https://sorry.example");
    assert_eq!(sent_to(&mut program.client(), "/a/b?c=d"), "https://sorry.example/a/b?c=d");
    let (own, other) = (program.vserver(), place.vserver(1));
    for (url, is_own) in [
        (format!("http://{own}"), true),
        (format!("HTTP://{own}/sorry.html?a"), true),
        (format!("http://{other}"), false),
        (format!("https://{own}"), false),
        (format!("http://{}/", own.ip()), false),
        ("/sorry.html".to_owned(), false),
    ] {
        program
            .reload(&format!("{}disable lb vserver v\n", probed(&place, 1, &format!("-redirectURL {url}"))));
        let itself = if is_own { ", which is this virtual server itself" } else { "" };
        let reason = program.field("lbvserver", "v", "reason");
        assert_eq!(reason, format!("disabled; clients are redirected to {url}{itself}"));
    }
    program.reload(&probed(&place, 1, ""));
    assert_eq!(refused(program.vserver()), End::Reset, "there is no redirect any more");
}

fn a_backup_takes_over_connected_clients_and_new_ones_and_gives_them_back() {
    let place = Place::new();
    let s1 = TestService::named(place.service(1), "primary");
    let _s9 = TestService::named(place.service(9), "backup");
    let text = format!(
        "{}add service spare {} HTTP 8109\nadd lb vserver w HTTP\nbind lb vserver w spare\n",
        probed(&place, 1, "-backupVServer w"),
        place.ip()
    );
    let program = Program::start_with(&place, &text);
    let mut client = program.client();
    assert_eq!(client.get("/").text(), "primary");
    s1.stop();
    program.wait_for_state("lbvserver", "v", "DOWN");
    for _ in 0..10 {
        assert_eq!((client.get("/").text(), page(program.vserver())), ("backup".into(), "backup".into()));
    }
    assert_eq!(program.field("lbvserver", "v", "totvserverdownbackuphits"), "20");
    assert_eq!(program.field("lbvserver", "w", "tothits"), "20");
    assert_eq!(program.field("lbvserver", "v", "reason"), "no bound service is UP; its backup w serves");
    let _again = TestService::named(place.service(1), "primary");
    program.wait_for_state("lbvserver", "v", "UP");
    assert_eq!((client.get("/").text(), page(program.vserver())), ("primary".into(), "primary".into()));
    program.wait_at_rest();
}

/// By connection: who is at the backup stays there when the primary is UP again. Of HTTP no backup is one of TCP.
fn tcp_connections_go_to_the_backup_or_are_reset() {
    let place = Place::new();
    let ip = place.ip();
    let s1 = TestService::named(place.service(1), "primary");
    let _s9 = TestService::named(place.service(9), "backup");
    let text = format!(
        "{}add service spare {ip} TCP 8109\nadd lb vserver w TCP\nbind lb vserver w spare\n\
         add lb vserver x HTTP {ip} 8001 -backupVServer w\n",
        probed(&place, 1, "-backupVServer w")
            .replace("add lb vserver v HTTP", "add lb vserver v TCP")
            .replace(&format!("{ip} HTTP 8101"), &format!("{ip} TCP 8101")),
    );
    let program = Program::start_with(&place, &text);
    assert_eq!(page(program.vserver()), "primary");
    assert_eq!(refused(place.vserver(1)), End::Reset);
    s1.stop();
    program.wait_for_state("lbvserver", "v", "DOWN");
    let mut client = program.client();
    assert_eq!(client.get("/").text(), "backup");
    let _again = TestService::named(place.service(1), "primary");
    program.wait_for_state("lbvserver", "v", "UP");
    assert_eq!((client.get("/").text(), page(program.vserver())), ("backup".into(), "primary".into()));
    assert_eq!(program.field("lbvserver", "v", "totvserverdownbackuphits"), "1");
    drop(client);
    program.wait_at_rest();
}

/// Two workers, whichever of them accepts.
fn new_connections_spill_to_the_backup_and_those_that_are_there_stay() {
    let place = Place::new();
    let _s1 = TestService::named(place.service(1), "primary");
    let _s9 = TestService::named(place.service(9), "backup");
    let text = format!(
        "{}add service spare {} HTTP 8109\nadd lb vserver w HTTP\nbind lb vserver w spare\n",
        probed(&place, 1, "-backupVServer w -soMethod CONNECTION -soThreshold 5"),
        place.ip()
    );
    let program = Program::start_with(&place, &text);
    let mut clients: Vec<Client> = Vec::new();
    let who = |clients: &mut [Client]| -> Vec<String> {
        clients.iter_mut().map(|client| client.get("/").text()).collect()
    };
    let expected = |clients: usize| -> Vec<&str> {
        (0..clients).map(|n| if n < 5 { "primary" } else { "backup" }).collect()
    };
    // Each is answered before the next one connects, so that their order is known.
    for n in 1..=12 {
        clients.push(program.client());
        assert_eq!(who(&mut clients), expected(n));
    }
    assert_eq!(program.field("lbvserver", "v", "sothreshold"), "5");
    clients.remove(0);
    wait_for("one less", || program.field("lbvserver", "v", "curclntconnections") == "11");
    assert_eq!(who(&mut clients)[3..5], ["primary", "backup"], "who was sent there stays there");
    clients.push(program.client());
    assert_eq!(who(&mut clients)[11], "primary");
    program.wait_at_rest();
}

/// `spec/methods.md` 4.5, weights 1, 3 and 1: at 3 the second monitor suffices, the first and the third do not.
fn the_weights_of_the_monitors_that_are_up_must_reach_mon_threshold() {
    let place = Place::new();
    let ip = place.ip();
    let mut text = format!(
        "enable ns feature LB\n\
         add service s {ip} HTTP 8101 -monThreshold 3\n\
         add serviceGroup g HTTP -monThreshold 3\n\
         add serviceGroup all HTTP\n\
         bind serviceGroup g {ip} 8101\n\
         bind serviceGroup all {ip} 8101\n\
         add lb vserver v HTTP {ip} 8000\n\
         add lb vserver w HTTP {ip} 8001\n\
         add lb vserver x HTTP {ip} 8002\n\
         bind lb vserver v s\nbind lb vserver w g\nbind lb vserver x all\n"
    );
    for (port, weight) in [(8101, 1), (8102, 3), (8103, 1)] {
        text += &format!("add lb monitor m{port} TCP -destPort {port} {QUICK}\n");
        for bound in ["service s", "serviceGroup g", "serviceGroup all"] {
            text += &format!("bind {bound} -monitorName m{port} -weight {weight}\n");
        }
    }
    let second = TestService::plain(place.service(2));
    let program = Program::launch(&place, &text);
    ["v", "w"].iter().for_each(|v| program.wait_for_state("lbvserver", v, "UP"));
    assert_eq!(program.field("lbvserver", "x", "state"), "DOWN", "without a threshold all must be UP");
    second.stop();
    let _others = [place.service(1), place.service(3)].map(TestService::plain);
    ["v", "w"].iter().for_each(|v| program.wait_for_state("lbvserver", v, "DOWN"));
    let _again = TestService::plain(place.service(2));
    ["v", "w", "x"].iter().for_each(|v| program.wait_for_state("lbvserver", v, "UP"));
}

/// Both settings for both protocols, before the first byte of an answer and behind it. The service itself stays as it is:
/// its monitor asks elsewhere.
fn l14_down_state_flush_cuts_or_spares_what_is_under_way() {
    const ON: &str = "ENABLED";
    const OFF: &str = "DISABLED";
    for (protocol, service, vserver, before, within) in [
        ("HTTP", ON, OFF, Outcome::Status(502), Outcome::Cut(End::Fin)),
        ("HTTP", OFF, ON, Outcome::Status(502), Outcome::Cut(End::Fin)),
        ("HTTP", OFF, OFF, Outcome::Status(200), Outcome::Status(200)),
        ("TCP", ON, OFF, Outcome::Cut(End::Reset), Outcome::Cut(End::Reset)),
        ("TCP", OFF, ON, Outcome::Cut(End::Reset), Outcome::Cut(End::Reset)),
        ("TCP", OFF, OFF, Outcome::Status(200), Outcome::Status(200)),
    ] {
        let place = Place::new();
        let watched = TestService::plain(place.service(9));
        let gate = Gate::new();
        let s1 = in_parts(&place, &gate);
        let options = format!("-downStateFlush {vserver}");
        let text = probed_elsewhere(&place, protocol, &options)
            .replace("8101\n", &format!("8101 -downStateFlush {service}\n"));
        let program = Program::start_with(&place, &text);
        let mut clients = [waiting(&program, "/"), waiting(&program, "/part")];
        s1.wait_begun(2);
        until_part(&mut clients[1]);
        watched.stop();
        program.wait_for_state("lbvserver", "v", "DOWN");
        if before == Outcome::Status(200) {
            clients.iter_mut().for_each(Client::half_close);
            gate.open();
        }
        let [first, second] = &mut clients;
        assert_eq!(
            (outcome(first, ""), outcome(second, PART)),
            (before, within),
            "{protocol}, service {service}, virtual server {vserver}"
        );
        program.wait_at_rest();
        gate.open();
    }
}

fn a_disabled_virtual_server_or_service_is_flushed_too() {
    for line in ["disable lb vserver v\n", "disable service s1\n", "disable server {ip}\n"] {
        let place = Place::new();
        let _watched = TestService::plain(place.service(9));
        let gate = Gate::new();
        let s1 = in_parts(&place, &gate);
        let text = probed_elsewhere(&place, "HTTP", "");
        let program = Program::start_with(&place, &text);
        let mut client = waiting(&program, "/");
        s1.wait_begun(1);
        program.reload(&format!("{text}{}", line.replace("{ip}", &place.ip().to_string())));
        assert_eq!(outcome(&mut client, ""), Outcome::Status(502), "{line}");
        program.wait_for_line("is OUT OF SERVICE: disabled");
        program.wait_at_rest();
        gate.open();
    }
}

fn a_service_leaves_gracefully_or_after_its_delay() {
    let place = Place::new();
    let gate = Gate::new();
    let s1 = TestService::held(place.service(1), "held", &gate);
    let s2 = TestService::plain(place.service(2));
    let text = probed(&place, 2, "-lbMethod ROUNDROBIN");
    let program = Program::start_with(&place, &text);
    let busy = || {
        let begun = s1.begun();
        loop {
            let mut client = waiting(&program, "/");
            wait_for("it to be held or answered", || s1.begun() > begun || client.has_answer());
            if s1.begun() > begun {
                return client;
            }
        }
    };
    let mut client = busy();
    program.reload(&format!("{text}disable service s1 -graceFul YES\n"));
    assert_eq!(program.field("service", "s1", "state"), "TROFS");
    program.wait_for_line("s1 (");
    assert!(
        program
            .wait_for_line("is GOING OUT OF SERVICE")
            .ends_with(": Graceful (number of active clients: 1)")
    );
    let before = s2.begun();
    (0..10).for_each(|_| assert_eq!(page(program.vserver()), "8102"));
    assert_eq!((s2.begun(), program.field("service", "s1", "state")), (before + 10, "TROFS".into()));
    gate.release(1);
    assert_eq!(client.answer().text(), "held");
    program.wait_for_state("service", "s1", "OUT OF SERVICE");
    program.wait_for_line("is OUT OF SERVICE: its last transaction has ended");
    program.reload(&text);
    program.wait_for_state("service", "s1", "UP");

    let mut client = busy();
    program.reload(&format!("{text}disable server {} 1 -graceFul NO\n", place.ip()));
    program.wait_for_line("is GOING OUT OF SERVICE: Out Of Service in 1 seconds");
    program.wait_for_line("s1 (");
    program.wait_for_state("service", "s1", "OUT OF SERVICE");
    program.wait_for_state("service", "s2", "OUT OF SERVICE");
    assert_eq!(
        outcome(&mut client, ""),
        Outcome::Status(502),
        "the delay is over, and downStateFlush is ENABLED"
    );
    program.wait_for_line("is OUT OF SERVICE: its delay is over");
    program.wait_at_rest();
    gate.open();
}

/// It takes the virtual server DOWN, and that cuts nothing of it.
fn the_last_service_that_leaves_gracefully_ends_what_it_has() {
    for protocol in ["HTTP", "TCP"] {
        let place = Place::new();
        let gate = Gate::new();
        let s1 = TestService::held(place.service(1), "held", &gate);
        let text = probed(&place, 1, "").replace(" HTTP ", &format!(" {protocol} "));
        let program = Program::start_with(&place, &text);
        let mut client = waiting(&program, "/");
        s1.wait_begun(1);
        program.reload(&format!("{text}disable service s1 -graceFul YES\n"));
        program.wait_for_state("lbvserver", "v", "DOWN");
        assert_eq!(refused(program.vserver()), End::Reset);
        assert_eq!(program.field("service", "s1", "state"), "TROFS");
        client.half_close();
        gate.open();
        assert_eq!(client.answer().text(), "held", "{protocol}");
        program.wait_for_state("service", "s1", "OUT OF SERVICE");
        program.wait_at_rest();
    }
}

fn a_primary_that_waits_to_be_enabled_is_by_a_line_that_does() {
    let place = Place::new();
    let s1 = TestService::named(place.service(1), "primary");
    let _s9 = TestService::named(place.service(9), "backup");
    let text = format!(
        "{}add service spare {} HTTP 8109\nadd lb vserver w HTTP\nbind lb vserver w spare\n",
        probed(&place, 1, "-backupVServer w -disablePrimaryOnDown ENABLED"),
        place.ip()
    );
    let program = Program::start_with(&place, &text);
    assert_eq!(page(program.vserver()), "primary");
    s1.stop();
    program.wait_for_state("lbvserver", "v", "OUT OF SERVICE");
    let _again = TestService::named(place.service(1), "primary");
    program.wait_for_state("service", "s1", "UP");
    program.reload(&text);
    assert_eq!(page(program.vserver()), "backup");
    let reason = program.field("lbvserver", "v", "reason");
    assert_eq!(reason, "a backup has taken its place: it waits to be enabled by hand; its backup w serves");
    program.reload(&format!("{text}enable lb vserver v\n"));
    assert_eq!(page(program.vserver()), "primary");
}

/// Case O11, by every method: `s2` is disabled and enabled while `s1` restarts.
fn o11_what_was_disabled_and_enabled_gets_its_share() {
    for method in [
        "ROUNDROBIN",
        "LEASTCONNECTION",
        "LEASTREQUEST",
        "LEASTRESPONSETIME",
        "LRTM",
        "LEASTBANDWIDTH",
        "LEASTPACKETS",
    ] {
        let place = Place::new();
        let s1 = TestService::plain(place.service(1));
        let s2 = TestService::plain(place.service(2));
        let text = probed(&place, 2, &format!("-lbMethod {method}"))
            .replace("TCP -interval", "HTTP -LRTM ENABLED -interval");
        let program = Program::start_with(&place, &text);
        (0..10).for_each(|_| drop(page(program.vserver())));
        program.reload(&format!("{text}disable service s2\n"));
        program.wait_for_state("service", "s2", "OUT OF SERVICE");
        s1.stop();
        program.wait_for_state("service", "s1", "DOWN");
        let _s1 = TestService::plain(place.service(1));
        program.reload(&text);
        ["s1", "s2"].iter().for_each(|service| program.wait_for_state("service", service, "UP"));
        let before = s2.heads_with("GET ").len();
        (0..40).for_each(|_| drop(page(program.vserver())));
        let share = s2.heads_with("GET ").len() - before;
        assert!((10..=30).contains(&share), "{method}: {share} of 40");
    }
}

/// What a client sees of a transaction that was under way.
#[derive(PartialEq, Eq, Debug)]
enum Outcome {
    /// A whole answer.
    Status(u16),
    /// None, or not all of it.
    Cut(End),
}

/// A service that answers once the gate lets it, `/part` with the first half before that.
fn in_parts(place: &Place, gate: &Gate) -> TestService {
    let gate = gate.clone();
    TestService::start(place.service(1), move |x| {
        let part = x.request.target() == "/part";
        if part {
            x.raw(PART)?;
        }
        gate.pass();
        x.raw(if part { "whole" } else { "HTTP/1.1 200 Test\r\nContent-Length: 9\r\n\r\npartwhole" })?;
        Ok(Then::Keep)
    })
}

fn waiting(program: &Program, target: &str) -> Client {
    let mut client = program.client();
    client.send(request("GET", target, "Connection: close\r\n", b""));
    client
}

/// Reads the first half of an answer.
fn until_part(client: &mut Client) {
    let mut read = Vec::new();
    while !read.ends_with(b"\r\n\r\npart") {
        read.extend(client.read_raw(1));
    }
}

/// What comes of an answer of which `read` was read.
fn outcome(client: &mut Client, read: &str) -> Outcome {
    let (rest, end) = client.read_to_end();
    let all = format!("{read}{}", String::from_utf8(rest).unwrap());
    match all.strip_prefix("HTTP/1.1 ") {
        Some(_) if all.starts_with(PART) && !all.ends_with("whole") => Outcome::Cut(end),
        Some(after) => Outcome::Status(after[..3].parse().unwrap()),
        None => Outcome::Cut(end),
    }
}

const PART: &str = "HTTP/1.1 200 Test\r\nContent-Length: 9\r\n\r\npart";

/// Virtual server `v` of that protocol over service `s1`, which is UP while something listens on port 8109.
fn probed_elsewhere(place: &Place, protocol: &str, options: &str) -> String {
    let ip = place.ip();
    format!(
        "enable ns feature LB\n\
         add lb vserver v {protocol} {ip} 8000 {options}\n\
         add service s1 {ip} {protocol} 8101\n\
         bind lb vserver v s1\n\
         add lb monitor m TCP -destPort 8109 {QUICK}\n\
         bind service s1 -monitorName m\n"
    )
}

/// The end of a connection that is refused: at once, or after the handshake that the kernel completes by itself.
fn refused(by: std::net::SocketAddr) -> End {
    let Ok(mut client) = Client::try_connect(by) else { return End::Reset };
    let _ = client.try_send(request("GET", "/", "", b""));
    client.expect_end()
}

/// HTTP virtual server `v` with these options over so many services, each probed at short intervals.
fn probed(place: &Place, services: u16, options: &str) -> String {
    let ip = place.ip();
    let mut text = format!(
        "enable ns feature LB\nadd lb monitor quick TCP {QUICK}\nadd lb vserver v HTTP {ip} 8000 {options}\n"
    );
    for n in 1..=services {
        text += &format!(
            "add service s{n} {ip} HTTP 810{n}\nbind service s{n} -monitorName quick\nbind lb vserver v s{n}\n"
        );
    }
    text
}

/// One success suffices, and two failures: a busy machine may answer one probe late.
const QUICK: &str = "-interval 500 MSEC -resptimeout 450 MSEC -retries 2 -downTime 100 MSEC";
