//! USER monitors over the real dispatcher and real scripts, and over a dispatcher of somebody else's.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use libtest_mimic::Trial;
use rustix::process::geteuid;
use serde_json::{Value, json};

use crate::place::Place;
use crate::processes::{Found, processes};
use crate::program::{Program, number, run_to_end, text};
use crate::service::wait_for;
use crate::tls_service::{Manner, TlsService, self_signed};

pub fn trials() -> Vec<Trial> {
    trials![
        m13_only_exit_status_0_is_success_and_every_other_end_keeps_its_reason,
        a_status_and_text_are_taken_as_netscalers_scripts_print_them,
        m08_a_script_ends_at_its_time_with_all_that_it_started,
        scripts_run_as_a_user_without_rights_and_with_nothing_of_the_programs,
        m12_a_missing_script_is_named_and_one_that_comes_is_run,
        an_external_dispatcher_gets_the_documented_request_and_its_answers_count,
        a_secure_monitor_asks_its_dispatcher_through_tls,
        the_response_time_has_the_scripts_own_time_in_it,
        only_superusers_have_scripts_run,
        a_service_can_be_probed_by_a_script_before_anything_is_served,
    ]
}

/// A test's scripts, where the program looks for them. The data directory is its owner's alone.
pub fn scripts(place: &Place, scripts: &[(&str, &str)]) -> String {
    let data = place.folder("data");
    let folder = place.folder("data/nsconfig/monitors");
    for (name, text) in scripts {
        let path = format!("{folder}/{name}");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(&data, Permissions::from_mode(0o700)).unwrap();
    folder
}

/// Starts with these lines; the dispatcher is at the test's own address.
pub fn launch(place: &Place, lines: &str) -> Program {
    let dispatcher = format!("{}:3013", place.ip());
    Program::launch_with(place, lines, &["--dispatcher", &dispatcher])
}

/// Services with a monitor of their own each, by its script and further options.
fn judged(place: &Place, monitors: &[(&str, &str)]) -> String {
    let ip = place.ip();
    let mut lines = "enable ns feature LB\n".to_owned();
    for (nth, (script, options)) in monitors.iter().enumerate() {
        lines += &format!(
            "add service s{nth} {ip} HTTP {}\n\
             add lb monitor m{nth} USER -scriptName {script} -dispatcherIP {ip} {options}\n\
             bind service s{nth} -monitorName m{nth}\n",
            8_101 + nth
        );
    }
    lines
}

/// What the only monitor of a service says.
fn bound(program: &Program, service: &str) -> Value {
    let (status, answer) = program.owner("GET", &format!("service_lbmonitor_binding/{service}"), None);
    assert_eq!(status, "HTTP/1.1 200 OK", "{answer}");
    answer["service_lbmonitor_binding"][0].clone()
}

fn said(program: &Program, service: &str) -> String {
    text(&bound(program, service), "lastresponse")
}

fn wait_to_say(program: &Program, service: &str, expected: &str) {
    let mut last = String::new();
    wait_for(&format!("{service} to say {expected:?}"), || {
        last = said(program, service);
        last == expected
    });
}

/// One result decides, and there is time enough for it.
const QUICK: &str = "-interval 9 -resptimeout 8 -retries 1 -downTime 100 MSEC";

fn m13_only_exit_status_0_is_success_and_every_other_end_keeps_its_reason() {
    let matrix = [
        ("exit 0", "Success - script succeeded."),
        ("exit 1", "Failure - script failed: exit status 1."),
        ("exit 255", "Failure - script failed: exit status 255."),
        ("kill -9 $$", "Failure - script failed: killed by signal 9."),
        ("yes | head -c 100000; exit 0", "Success - script succeeded: y y "),
        ("cat >/dev/null; exit 0", "Success - script succeeded."),
        ("exec >&-; exit 0", "Success - script succeeded."),
        ("echo it is broken >&2; exit 3", "Failure - script failed: exit status 3: it is broken."),
        ("sleep 600 & exit 0", "Success - script succeeded."),
        ("yes; exit 0", "Failure - script failed: it printed more than 1048576 bytes."),
    ];
    let place = Place::new();
    let names: Vec<String> = (0..matrix.len()).map(|nth| format!("x{nth}.sh")).collect();
    let texts: Vec<String> = matrix.iter().map(|(script, _)| format!("#!/bin/sh\n{script}\n")).collect();
    let written: Vec<(&str, &str)> =
        names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
    let folder = scripts(&place, &written);
    let monitors: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), QUICK)).collect();
    let program = launch(&place, &judged(&place, &monitors));
    for (nth, (script, expected)) in matrix.iter().enumerate() {
        let service = format!("s{nth}");
        wait_for(script, || said(&program, &service).starts_with(expected));
        let state = if expected.starts_with("Success") { "UP" } else { "DOWN" };
        program.wait_for_state("service", &service, state);
    }
    // The sixth reads its standard input to the end, which is at once there; the ninth leaves a child behind.
    wait_for("no process is left of those that ended", || {
        processes()
            .iter()
            .all(|found| !(found.is_in(&folder) && found.words.first().is_some_and(|w| w == "sleep")))
    });
}

/// `spec/methods.md` 4.8: decimal status, newline, text. This is what the module of NetScaler's Perl scripts prints.
fn a_status_and_text_are_taken_as_netscalers_scripts_print_them() {
    if crate::installed::program("perl").is_none() {
        return;
    }
    let place = Place::new();
    let kas = "#!/usr/bin/perl -w\n\
               use strict;\n\
               sub probe { my ($fn) = @_; my ($status, $text) = $fn->(@ARGV); print \"$status\\n$text\"; exit 0 }\n\
               probe(sub { my ($ip, $port, $args, $timeout) = @_;\n\
               my %a = map { split /=/, $_, 2 } split /;/, $args;\n\
               return ($a{status}, \"$ip $port $timeout $a{text}\") });\n";
    scripts(&place, &[("kas.pl", kas), ("bare.sh", "#!/bin/sh\nprintf 0\n")]);
    let arguments = |arguments: &str| format!("-scriptArgs \"{arguments}\" {QUICK}");
    let (good, bad) =
        (arguments("status=0;text=fine"), arguments("status=1;text=bad%20password%0d%0aX:%20y"));
    let lines = judged(&place, &[("kas.pl", &good), ("kas.pl", &bad), ("bare.sh", QUICK)]);
    let program = launch(&place, &lines);
    let ip = place.ip();
    wait_to_say(&program, "s0", &format!("Success - script succeeded: {ip} 8101 8 fine."));
    wait_to_say(
        &program,
        "s1",
        &format!("Failure - script failed: status 1: {ip} 8102 8 bad password X: y."),
    );
    wait_to_say(&program, "s2", "Failure - answer of the script not understood: no newline after status.");
    for (service, state) in [("s0", "UP"), ("s1", "DOWN"), ("s2", "DOWN")] {
        program.wait_for_state("service", service, state);
    }
}

/// The script and a child of it ignore every signal that can be, and sleep far longer than they may.
fn m08_a_script_ends_at_its_time_with_all_that_it_started() {
    let place = Place::new();
    let slow = "#!/bin/sh\ntrap '' TERM INT HUP QUIT PIPE\n(sleep 300; sleep 300) &\nsleep 300\nsleep 300\n";
    let folder = scripts(&place, &[("slow.sh", slow)]);
    let ip = place.ip();
    let times = "-interval 1 -resptimeout 900 MSEC -retries 1 -downTime 500 MSEC";
    let lines = judged(&place, &[("slow.sh", times); 10]);
    let program = launch(&place, &lines);
    let mut groups = std::collections::BTreeSet::new();
    let all_failed = |program: &Program| {
        (0..10).all(|nth| number(&bound(program, &format!("s{nth}")), "failedprobes") >= 3)
    };
    wait_for("three probes of each", || {
        let running: Vec<Found> = processes().into_iter().filter(|found| found.is_in(&folder)).collect();
        let mut leaders: BTreeMap<String, u32> = BTreeMap::new();
        for found in &running {
            groups.insert(found.group);
            if found.id == found.group {
                // The shell, the script, the address, the port.
                *leaders.entry(found.words.get(3).cloned().unwrap_or_default()).or_default() += 1;
            }
        }
        assert!(leaders.values().all(|count| *count <= 1), "{leaders:?}");
        all_failed(&program)
    });
    assert!(groups.len() >= 10, "{groups:?}");
    for nth in 0..10 {
        assert_eq!(said(&program, &format!("s{nth}")), "Failure - time out while waiting for the response.");
    }
    program.reload(&format!("enable ns feature LB\nadd service s0 {ip} HTTP 8101 -healthMonitor NO\n"));
    let id = program.id();
    wait_for("nothing of the scripts is left", || {
        let all = processes();
        let alive =
            all.iter().any(|found| found.is_in(&folder) || (groups.contains(&found.group) && !found.is_dead));
        let zombies = all.iter().any(|found| found.parent == id);
        !alive && !zombies
    });
    assert!(!program.listening().contains(&format!("{ip}:3013").parse().unwrap()), "no monitor asks it");
}

fn scripts_run_as_a_user_without_rights_and_with_nothing_of_the_programs() {
    let place = Place::new();
    let ask = |what: &str| format!("#!/bin/sh\n{what}\n");
    let asked = [
        ("id.sh", ask("echo \"$(id -u) $(id -g) $(id -G)\"")),
        ("env.sh", ask("tr '\\0' ' ' </proc/$$/environ")),
        ("open.sh", ask("ls -l /proc/$$/fd | grep -cE 'socket|anon_inode|deleted'; exit 0")),
        ("words.sh", ask("echo \"$# [$1] [$2] [$3] [$4]\"")),
        ("up.sh", ask("ls ../.. >/dev/null 2>&1 && echo can look around || echo shut in")),
        ("group.sh", ask("[ \"$(cut -d' ' -f5 /proc/$$/stat)\" = $$ ] && echo leads")),
    ];
    let written: Vec<(&str, &str)> = asked.iter().map(|(name, text)| (*name, text.as_str())).collect();
    scripts(&place, &written);
    let injected = format!("-scriptArgs \"$(id);`id`|x>y*\" {QUICK}");
    let monitors: Vec<(&str, &str)> = asked
        .iter()
        .map(|(name, _)| (*name, if *name == "words.sh" { injected.as_str() } else { QUICK }))
        .collect();
    let program = launch(&place, &judged(&place, &monitors));
    let ip = place.ip();
    let path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    let is_root = geteuid().is_root();
    wait_for("who runs it", || said(&program, "s0").starts_with("Success"));
    let ids = said(&program, "s0");
    let own = format!("script succeeded: {} ", geteuid().as_raw());
    assert_eq!(ids.contains(&own), !is_root, "{ids}");
    if is_root {
        let nobody = fs::read_to_string("/etc/passwd").unwrap();
        let nobody = nobody.lines().find_map(|line| line.strip_prefix("nobody:")).unwrap();
        let fields: Vec<&str> = nobody.split(':').collect();
        assert_eq!(ids, format!("Success - script succeeded: {} {} {}.", fields[1], fields[2], fields[2]));
        wait_to_say(&program, "s4", "Success - script succeeded: shut in.");
    }
    wait_to_say(&program, "s1", &format!("Success - script succeeded: {path}."));
    wait_to_say(&program, "s2", "Success - script succeeded.");
    wait_to_say(
        &program,
        "s3",
        &format!("Success - script succeeded: 4 [{ip}] [8104] [$(id);`id`|x>y*] [8]."),
    );
    wait_to_say(&program, "s5", "Success - script succeeded: leads.");
}

fn m12_a_missing_script_is_named_and_one_that_comes_is_run() {
    let place = Place::new();
    let folder = scripts(&place, &[]);
    let often = "-interval 2 -resptimeout 1900 MSEC -retries 1 -downTime 100 MSEC";
    let program = launch(&place, &judged(&place, &[("nsftp.pl", often)]));
    let missing = format!("script nsftp.pl not found in {folder}");
    program.wait_for_error(&format!("steelyard: monitor m0: {missing}"));
    wait_to_say(&program, "s0", &format!("Failure - script not found or not executable: {missing}."));
    program.wait_for_state("service", "s0", "DOWN");
    let script = json!({
        "filename": "nsftp.pl",
        "filelocation": "/nsconfig/monitors",
        "filecontent": STANDARD.encode("#!/bin/sh\nexit 0\n"),
        "fileencoding": "BASE64",
    });
    program.done("POST", "systemfile", json!({"systemfile": script}));
    program.wait_for_state("service", "s0", "UP");
    fs::set_permissions(format!("{folder}/nsftp.pl"), Permissions::from_mode(0o644)).unwrap();
    let why = "script nsftp.pl is not executable for ";
    wait_for(why, || said(&program, "s0").contains(why));
    program.wait_for_state("service", "s0", "DOWN");
}

/// A dispatcher of this test's own: what it was sent, and what it answers from now on.
fn an_external_dispatcher_gets_the_documented_request_and_its_answers_count() {
    let place = Place::new();
    let listener = TcpListener::bind((place.ip(), 4_013)).unwrap();
    let answer = Arc::new(Mutex::new("HTTP/1.1 200 OK\r\nMore-Info: logged in\r\n".to_owned()));
    let requests = Arc::new(Mutex::new(Vec::new()));
    let (answers, received) = (Arc::clone(&answer), Arc::clone(&requests));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = vec![0; 4_096];
            let mut length = 0;
            // The body ends where the secret does.
            while !request[..length].ends_with(b"password=hunter2") {
                match stream.read(&mut request[length..]) {
                    Ok(n @ 1..) => length += n,
                    _ => break,
                }
            }
            received.lock().unwrap().push(String::from_utf8_lossy(&request[..length]).into_owned());
            let head = answers.lock().unwrap().clone();
            let _ = write!(stream, "{head}Server: nsumond\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n");
        }
    });
    let ip = place.ip();
    let program = Program::launch_with(
        &place,
        &format!(
            "enable ns feature LB\nadd service s {ip} HTTP 8101\n\
             add lb monitor m USER -scriptName ntlm_mon.pl -scriptArgs \"url=/x%20y;user=u;\" \
             -secureArgs \"password=hunter2\" -dispatcherIP {ip} -dispatcherPort 4013 -destIP 192.0.2.9 -destPort 443 \
             -interval 300 MSEC -resptimeout 250 MSEC -retries 1 -downTime 100 MSEC\n\
             bind service s -monitorName m\n"
        ),
        &["--dispatcher", "off"],
    );
    program.wait_for_state("service", "s", "UP");
    wait_to_say(&program, "s", "Success - script succeeded: logged in.");
    let request = requests.lock().unwrap()[0].clone();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert_eq!(body, "nsumon_ip=192.0.2.9&nsumon_port=443&nsumon_args=url=/x%20y;user=u;password=hunter2");
    assert_eq!(
        head,
        format!(
            "POST /ntlm_mon.pl HTTP/1.1\r\nNsmonitor-responsetimeout: 1\r\nContent-Length: {}\r\nHost: {ip}\r\n\
             Connection: Close",
            body.len()
        )
    );
    let answers = |head: &str| *answer.lock().unwrap() = format!("HTTP/1.1 {head}\r\n");
    answers("500 Internal Server Error");
    wait_to_say(&program, "s", "Unknown - dispatcher out of resources.");
    let before = requests.lock().unwrap().len();
    wait_for("more of them", || requests.lock().unwrap().len() > before + 3);
    assert_eq!(program.field("service", "s", "state"), "UP", "500 changes nothing");
    answers("503 Service Unavailable\r\nFailure-Reason: no such user");
    program.wait_for_state("service", "s", "DOWN");
    assert_eq!(said(&program, "s"), "Failure - script failed: no such user.");
    let shown = format!("{:?}{}{}", program.lines(), program.errors(), bound(&program, "s"));
    assert!(!shown.contains("hunter2"), "{shown}");
}

fn a_secure_monitor_asks_its_dispatcher_through_tls() {
    let place = Place::new();
    let ip = place.ip();
    // It answers whatever it is asked, through TLS alone.
    let _server = TlsService::start(place.service(9), self_signed("app.example").server(), Manner::default());
    let monitor = |nth: u16, options: &str| {
        format!(
            "add service s{nth} {ip} HTTP 810{nth}\n\
             add lb monitor m{nth} USER -scriptName x.pl -dispatcherIP {ip} -dispatcherPort 8109 {options} {QUICK}\n\
             bind service s{nth} -monitorName m{nth}\n"
        )
    };
    let lines = format!("enable ns feature LB\n{}{}", monitor(1, "-secure YES"), monitor(2, ""));
    let program = launch(&place, &lines);
    wait_to_say(&program, "s1", "Success - script succeeded.");
    wait_for("an answer in clear", || said(&program, "s2").starts_with("Failure"));
}

/// The scripts of the services sleep 400, 200 and 300 ms.
fn the_response_time_has_the_scripts_own_time_in_it() {
    let place = Place::new();
    let script = "#!/bin/sh\nsleep $3\n";
    scripts(&place, &[("nap.sh", script)]);
    let options: Vec<String> =
        ["0.4", "0.2", "0.3"].iter().map(|nap| format!("-scriptArgs {nap} -LRTM ENABLED {QUICK}")).collect();
    let monitors: Vec<(&str, &str)> = options.iter().map(|options| ("nap.sh", options.as_str())).collect();
    let program = launch(&place, &judged(&place, &monitors));
    for (service, least) in [("s0", 400), ("s1", 200), ("s2", 300)] {
        program.wait_for_state("service", service, "UP");
        let measured = number(&bound(&program, service), "responsetime");
        assert!(measured >= least, "{service}: {measured} ms");
    }
}

fn only_superusers_have_scripts_run() {
    let place = Place::new();
    scripts(&place, &[("x.sh", "#!/bin/sh\n")]);
    let ip = place.ip();
    let mut lines = format!(
        "enable ns feature LB\nadd service s {ip} HTTP 8101 -healthMonitor NO\nadd serviceGroup g HTTP\n\
         add lb monitor m USER -scriptName x.sh -dispatcherIP {ip}\nadd lb monitor h HTTP\n\
         add system cmdPolicy all ALLOW \".*\"\n"
    );
    for policy in ["network", "operator", "sysadmin", "all", "superuser"] {
        lines += &format!("add system user {policy} pw\nbind system user {policy} {policy} 10\n");
    }
    let program = launch(&place, &lines);
    let script = json!({"filename": "new.sh", "filelocation": "/nsconfig/monitors", "filecontent": ""});
    let asked = [
        (
            "POST",
            "lbmonitor",
            json!({"lbmonitor": {"monitorname": "n", "type": "USER", "scriptname": "x.sh"}}),
        ),
        ("PUT", "lbmonitor", json!({"lbmonitor": {"monitorname": "m", "type": "USER", "scriptargs": "a"}})),
        (
            "POST",
            "service_lbmonitor_binding",
            json!({"service_lbmonitor_binding": {"name": "s", "monitor_name": "m"}}),
        ),
        (
            "POST",
            "servicegroup_lbmonitor_binding",
            json!({"servicegroup_lbmonitor_binding": {"servicegroupname": "g", "monitor_name": "m"}}),
        ),
        ("POST", "systemfile", json!({"systemfile": script})),
    ];
    let give = |user: &str, (method, path, body): &(&str, &str, Value)| {
        let body = body.to_string();
        let answer = program.manage(format!(
            "{method} /nitro/v1/config/{path} HTTP/1.1\r\nHost: {}\r\nX-NITRO-USER: {user}\r\nX-NITRO-PASS: pw\r\n\
             Content-Length: {}\r\n\r\n{body}",
            place.nitro(),
            body.len()
        ));
        let value: Value = serde_json::from_slice(&answer.body).unwrap();
        (answer.status(), value["errorcode"].as_u64().unwrap())
    };
    for user in ["network", "operator", "sysadmin", "all"] {
        for request in &asked {
            assert_eq!(give(user, request), (403, 257), "{user} {request:?}");
        }
    }
    let other = ("POST", "lbmonitor", json!({"lbmonitor": {"monitorname": "o", "type": "HTTP"}}));
    assert_eq!(give("network", &other), (201, 0), "other monitors are everybody's");
    let bind = json!({"service_lbmonitor_binding": {"name": "s", "monitor_name": "h"}});
    assert_eq!(give("all", &("POST", "service_lbmonitor_binding", bind)), (201, 0));
    for request in &asked {
        let answer = give("superuser", request);
        assert!([(201, 0), (200, 0)].contains(&answer), "{request:?}: {answer:?}");
    }
}

/// `--no-listen` runs scripts as well.
fn a_service_can_be_probed_by_a_script_before_anything_is_served() {
    let place = Place::new();
    scripts(&place, &[("good.sh", "#!/bin/sh\nexit 0\n"), ("bad.sh", "#!/bin/sh\necho broken\nexit 1\n")]);
    let ip = place.ip();
    let lines = judged(&place, &[("good.sh", QUICK), ("bad.sh", QUICK)])
        + &format!("add lb vserver v HTTP {ip} 8000\nbind lb vserver v s0\nbind lb vserver v s1\n");
    let config = place.file("ns.conf", &lines);
    let dispatcher = format!("{ip}:3013");
    let output = run_to_end(&["run", "--config", &config, "--no-listen", "--dispatcher", &dispatcher]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("script failed: exit status 1: broken"), "{text}");
    assert!(text.contains("script succeeded"), "{text}");
    assert_eq!(output.status.code(), Some(1), "one is DOWN");
}
