//! The built-in dispatcher as others see it: its wire format, when it is open, its bounds, and what it leaves behind.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::client::{Client, End};
use crate::place::Place;
use crate::processes::processes;
use crate::program::{Program, run_to_end};
use crate::service::wait_for;
use crate::user_monitors::{launch, scripts};

pub fn trials() -> Vec<Trial> {
    trials![
        answers_are_those_of_netscalers_dispatcher,
        a_script_ends_at_the_time_of_its_request,
        a_client_that_hangs_up_ends_its_script,
        names_that_lead_elsewhere_run_nothing,
        it_is_open_while_a_monitor_asks_it_and_at_no_other_time,
        a_dispatcher_that_is_there_already_is_asked_and_that_is_said_once,
        scripts_beyond_the_bound_are_answered_500,
        a_stop_ends_every_script,
        it_is_opened_on_loopback_and_scripts_run_as_no_root,
    ]
}

fn at(place: &Place) -> SocketAddr {
    SocketAddr::new(place.ip(), 3_013)
}

/// With a monitor that asks the built-in dispatcher now and then.
fn lines(place: &Place) -> String {
    let ip = place.ip();
    format!(
        "enable ns feature LB\nadd service s {ip} HTTP 8101\n\
         add lb monitor m USER -scriptName good.sh -dispatcherIP {ip} -interval 60\nbind service s -monitorName m\n"
    )
}

fn open(place: &Place, more: &[(&str, &str)]) -> (Program, String) {
    let folder = scripts(place, &[&[("good.sh", "#!/bin/sh\necho all is well\n")][..], more].concat());
    (launch(place, &lines(place)), folder)
}

fn request(script: &str, seconds: &str) -> String {
    let body = "nsumon_ip=192.0.2.1&nsumon_port=80";
    format!(
        "POST /{script} HTTP/1.1\r\nNsmonitor-responsetimeout: {seconds}\r\nContent-Length: {}\r\nHost: 127.0.0.1\r\n\
         Connection: Close\r\n\r\n{body}",
        body.len()
    )
}

/// The whole answer to bytes.
fn answer(place: &Place, bytes: &str) -> String {
    let mut client = Client::connect(at(place));
    client.send(bytes);
    let (answer, end) = client.read_to_end();
    assert_eq!(end, End::Fin);
    String::from_utf8(answer).unwrap()
}

fn answers_are_those_of_netscalers_dispatcher() {
    let place = Place::new();
    let (_program, folder) =
        open(&place, &[("bad.sh", "#!/bin/sh\nexit 7\n"), ("none.sh", "#!/no/such/program\n")]);
    fs::write(format!("{folder}/plain.sh"), "#!/bin/sh\n").unwrap();
    let line_and_reason = |bytes: &str| {
        let answer = answer(&place, bytes);
        let (start, fields) = answer.split_once("\r\n").unwrap();
        let mut fields: Vec<&str> = fields.trim_end().split("\r\n").collect();
        fields.sort_unstable();
        let said =
            |name: &str| fields.iter().find_map(|field| field.strip_prefix(name)).unwrap_or("").to_owned();
        assert!(fields.contains(&"Content-Length: 0") && fields.contains(&"Server: steelyard"), "{answer}");
        assert!(fields.iter().any(|field| field.eq_ignore_ascii_case("Connection: close")), "{answer}");
        (start.to_owned(), said("More-Info: "), said("Failure-Reason: "))
    };
    let (start, info, reason) = line_and_reason(&request("good.sh", "5"));
    assert_eq!((&*start, &*info, &*reason), ("HTTP/1.1 200 OK", "all is well", ""));
    for (bytes, status, why) in [
        (request("bad.sh", "5"), 503, "exit status 7"),
        (request("gone.sh", "5"), 404, "script gone.sh not found in "),
        (request("none.sh", "5"), 404, "the program behind its #! is not there"),
        (request("", "5"), 404, "script without a name"),
        (request("good.sh", "x"), 400, "Nsmonitor-responsetimeout"),
        (request("good.sh", "5").replace("nsumon_port", "nsumon_pork"), 400, "nsumon_port"),
        (request("good.sh", "5").replace("POST", "PUT"), 400, "only POST"),
    ] {
        let (start, info, reason) = line_and_reason(&bytes);
        assert!(start.starts_with(&format!("HTTP/1.1 {status} ")), "{start}");
        assert!(info.is_empty() && reason.contains(why), "{why}: {reason}");
    }
    let (start, _, reason) = line_and_reason(&request("plain.sh", "5"));
    assert!(start.starts_with("HTTP/1.1 404 ") && reason.contains("is not executable"), "{reason}");
}

fn a_script_ends_at_the_time_of_its_request() {
    let place = Place::new();
    let (program, folder) = open(&place, &[("slow.sh", "#!/bin/sh\ntrap '' TERM\nsleep 300 &\nsleep 300\n")]);
    let answer = answer(&place, &request("slow.sh", "1"));
    assert!(
        answer.starts_with("HTTP/1.1 503 ") && answer.contains("Failure-Reason: timed out after 1 s\r\n"),
        "{answer}"
    );
    let id = program.id();
    let left = || processes().iter().any(|found| found.is_in(&folder) || found.parent == id);
    wait_for("the whole group is gone", || !left());
}

fn a_client_that_hangs_up_ends_its_script() {
    let place = Place::new();
    let (program, folder) = open(&place, &[("slow.sh", "#!/bin/sh\nsleep 300\n")]);
    let running = || processes().iter().any(|found| found.is_in(&folder));
    for reset in [false, true] {
        let mut client = Client::connect(at(&place));
        client.send(request("slow.sh", "600"));
        wait_for("the script runs", running);
        if reset {
            client.reset()
        } else {
            drop(client)
        }
        let id = program.id();
        wait_for("it is gone", || !running() && processes().iter().all(|found| found.parent != id));
    }
}

fn names_that_lead_elsewhere_run_nothing() {
    let place = Place::new();
    let (_program, folder) = open(&place, &[]);
    let outside = place.file("outside.sh", "#!/bin/sh\nexit 0\n");
    fs::set_permissions(&outside, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink(&outside, format!("{folder}/link.sh")).unwrap();
    fs::create_dir(format!("{folder}/sub")).unwrap();
    fs::copy(&outside, format!("{folder}/sub/x.sh")).unwrap();
    fs::copy(&outside, format!("{folder}/.hidden")).unwrap();
    for name in [
        "link.sh",
        "sub",
        "sub/x.sh",
        "sub%2Fx.sh",
        "../../../outside.sh",
        "..%2f..%2f..%2foutside.sh",
        "/bin/true",
        "%2Fbin%2Ftrue",
        ".hidden",
        "..",
        "good.sh%00",
        "good.sh%0a",
        &"n".repeat(64),
    ] {
        let answer = answer(&place, &request(name, "5"));
        assert!(answer.starts_with("HTTP/1.1 404 "), "{name}: {answer}");
    }
}

fn it_is_open_while_a_monitor_asks_it_and_at_no_other_time() {
    let place = Place::new();
    scripts(&place, &[("good.sh", "#!/bin/sh\n")]);
    let ip = place.ip();
    let without = format!("enable ns feature LB\nadd service s {ip} HTTP 8101 -healthMonitor NO\n");
    let program = launch(&place, &without);
    let is_open = || program.listening().contains(&at(&place));
    assert!(!is_open(), "no monitor asks it");
    program.reload(&lines(&place));
    program.wait_for_state("service", "s", "UP");
    assert!(is_open());
    for other in [
        lines(&place).replace("-interval 60", "-interval 60 -dispatcherPort 3014"),
        lines(&place).replace("-interval 60", "-interval 60 -state DISABLED"),
        lines(&place).replace("bind service s", "bind service gone"),
        lines(&place).replace("HTTP 8101", "HTTP 8101 -healthMonitor NO"),
    ] {
        program.reload(&other);
        wait_for("it is closed", || !is_open());
        program.reload(&lines(&place));
        wait_for("it is open", is_open);
    }
}

fn a_dispatcher_that_is_there_already_is_asked_and_that_is_said_once() {
    let place = Place::new();
    scripts(&place, &[("good.sh", "#!/bin/sh\n")]);
    let listener = TcpListener::bind(at(&place)).unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut request, mut buffer) = (Vec::new(), [0; 512]);
            while !request.ends_with(b"&nsumon_port=8101") {
                match stream.read(&mut buffer) {
                    Ok(n @ 1..) => request.extend_from_slice(&buffer[..n]),
                    _ => break,
                }
            }
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let program = launch(&place, &lines(&place));
    program.wait_for_state("service", "s", "UP");
    let said =
        format!("steelyard: {} is taken: USER monitors ask the dispatcher that listens there", at(&place));
    program.wait_for_error(&said);
    program.reload(&format!("{}add service t {} HTTP 8102 -healthMonitor NO\n", lines(&place), place.ip()));
    assert_eq!(program.errors().matches(&said).count(), 1, "{}", program.errors());
}

fn scripts_beyond_the_bound_are_answered_500() {
    let place = Place::new();
    let (program, folder) = open(&place, &[("slow.sh", "#!/bin/sh\nexec sleep 300\n")]);
    let running = || processes().iter().filter(|found| found.is_in(&folder)).count();
    let mut clients: Vec<Client> = (0..64).map(|_| Client::connect(at(&place))).collect();
    clients.iter_mut().for_each(|client| client.send(request("slow.sh", "600")));
    wait_for("64 scripts run", || running() == 64);
    let answer = answer(&place, &request("good.sh", "1"));
    assert!(answer.starts_with("HTTP/1.1 500 ") && answer.contains("64 scripts run already"), "{answer}");
    assert_eq!(running(), 64);
    let mut waiting = Client::connect(at(&place));
    waiting.send(request("good.sh", "600"));
    drop(clients);
    assert!(waiting.read_to_end().0.starts_with(b"HTTP/1.1 200 "), "one that waited has its turn");
    wait_for("all are gone", || running() == 0);
    let id = program.id();
    wait_for("and reaped", || processes().iter().all(|found| found.parent != id));
}

fn a_stop_ends_every_script() {
    let place = Place::new();
    let (mut program, folder) =
        open(&place, &[("slow.sh", "#!/bin/sh\ntrap '' TERM INT\nsleep 300 &\nsleep 300\n")]);
    let mut client = Client::connect(at(&place));
    client.send(request("slow.sh", "600"));
    let running = || processes().iter().filter(|found| found.is_in(&folder)).count();
    wait_for("the script and its children run", || running() >= 3);
    program.signal(Signal::TERM);
    assert_eq!(program.exit_code(), Some(0));
    wait_for("nothing is left", || running() == 0);
}

fn it_is_opened_on_loopback_and_scripts_run_as_no_root() {
    let place = Place::new();
    let config = place.file("ns.conf", "enable ns feature LB\n");
    for (option, value, why) in [
        ("--dispatcher", "0.0.0.0:3013", "loopback"),
        ("--dispatcher", "127.0.0.1:0", "port"),
        ("--dispatcher", "on", "ADDRESS:PORT"),
        ("--script-user", "root", "root"),
        ("--script-user", "no-such-user", "no user no-such-user"),
    ] {
        let output = run_to_end(&["run", "--config", &config, option, value]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.lines().count() == 1 && said.contains(option) && said.contains(why), "{said}");
    }
}
