//! FTP monitors: vsftpd, and scripted servers for what no real one does.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use libtest_mimic::Trial;
use serde_json::Value;
use socket2::SockRef;

use crate::installed::program;
use crate::place::Place;
use crate::program::Program;
use crate::service::wait_for;
use crate::tcp::{Listening, listen};

pub fn trials() -> Vec<Trial> {
    trials![
        vsftpd_lets_in_who_knows_the_password,
        a_log_in_takes_as_long_as_the_server_takes,
        m20_m22_replies_of_several_lines_end_at_their_own_code,
        a_connection_that_is_reset_or_closed_in_any_phase_is_a_failure,
        a_line_break_in_an_option_is_refused,
    ]
}

/// vsftpd that lets anonymous users in who give the word `right`, with a greeting of several lines. Ended when dropped.
struct Vsftpd(Child);

impl Vsftpd {
    /// It takes `delay_s` seconds to let somebody in.
    fn start(place: &Place, at: SocketAddr, delay_s: u32) -> Option<Vsftpd> {
        let mut command = program("vsftpd")?;
        let name = |kind: &str| format!("{kind}{}", at.port());
        let (root, empty) = (place.folder(&name("root")), place.folder(&name("empty")));
        std::fs::write(format!("{root}/there.bin"), "twelve bytes").unwrap();
        let banner = place.file(&name("banner"), "Welcome\nSecond line\n234 not the end\n220-nor this\n");
        let words = place.file(&name("words"), "right\n");
        let config = format!(
            "listen=YES\nlisten_address={}\nlisten_port={}\nbackground=NO\nrun_as_launching_user=YES\n\
             anonymous_enable=YES\nlocal_enable=NO\nanon_root={root}\nsecure_chroot_dir={empty}\n\
             secure_email_list_enable=YES\nemail_password_file={words}\nbanner_file={banner}\n\
             delay_failed_login=0\ndelay_successful_login={delay_s}\nallow_writeable_chroot=YES\n\
             seccomp_sandbox=NO\nxferlog_enable=NO\n",
            at.ip(),
            at.port()
        );
        let config = place.file(&name("vsftpd"), &config);
        let child = command.arg(config).stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
        let server = Vsftpd(child);
        wait_for("vsftpd to listen", || TcpStream::connect(at).is_ok());
        Some(server)
    }
}

impl Drop for Vsftpd {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn vsftpd_lets_in_who_knows_the_password() {
    let place = Place::new();
    let Some(_vsftpd) = Vsftpd::start(&place, place.service(1), 0) else { return };
    let program = Program::launch(
        &place,
        &config(
            &place,
            &[
                ("in", 1, "FTP -userName anonymous -password right"),
                ("out", 1, "FTP -userName anonymous -password wrong"),
                ("nobody", 1, "FTP"),
                ("unknown", 1, "FTP -userName somebody -password right"),
                ("there", 1, "FTP-EXTENDED -userName ftp -password right -fileName there.bin"),
                ("missing", 1, "FTP-EXTENDED -userName ftp -password right -fileName missing.bin"),
            ],
        ),
    );
    let size = "reply to SIZE";
    for (service, state, said) in [
        ("in", "UP", "Success - reply to PASS: 230 Login successful."),
        ("out", "DOWN", "Failure - reply to PASS: 530 Login incorrect."),
        ("nobody", "DOWN", "Failure - reply to PASS: 530 Login incorrect."),
        ("unknown", "DOWN", "Failure - reply to USER: 530 This FTP server is anonymous only."),
        ("there", "UP", &format!("Success - {size}: 213 12.")),
        (
            "missing",
            "DOWN",
            &format!("Failure - the file is not there, {size}: 550 Could not get file size."),
        ),
    ] {
        program.wait_for_state("service", service, state);
        assert_eq!(binding(&program, service)["lastresponse"], said, "{service}");
    }
    assert_eq!(program.errors(), "");
}

/// USER to the end of the log-in; the file of FTP-EXTENDED is not in it.
fn a_log_in_takes_as_long_as_the_server_takes() {
    let place = Place::new();
    let Some(_fast) = Vsftpd::start(&place, place.service(1), 0) else { return };
    let Some(_slow) = Vsftpd::start(&place, place.service(2), 1) else { return };
    let monitor = "FTP -userName anonymous -password right";
    let text = config(&place, &[("fast", 1, monitor), ("slow", 2, monitor)]).replace(QUICK, PATIENT);
    let program = Program::launch(&place, &text);
    let time_ms = |service: &str| {
        program.wait_for_state("service", service, "UP");
        let binding = binding(&program, service);
        binding["responsetime"].as_str().unwrap().parse::<f64>().unwrap()
    };
    let (fast, slow) = (time_ms("fast"), time_ms("slow"));
    assert!(slow >= 1_000.0, "{slow}");
    assert!(fast < slow, "{fast}, {slow}");
}

fn m20_m22_replies_of_several_lines_end_at_their_own_code() {
    let place = Place::new();
    let greeting = "220-Welcome\r\n Second line\r\n234 not the end of this reply\r\n220 ready\r\n";
    let right = scripted(place.service(1), Duration::from_millis(1), vec![greeting, MORE, IN, "221 bye\r\n"]);
    let never = "553-\r\n553- excluded\r\n150 opening\r\n";
    let open = scripted(place.service(2), Duration::ZERO, vec!["220 x\r\n", MORE, never]);
    let silent = scripted(place.service(3), Duration::ZERO, vec!["220-first\r\n220-\r\n"]);
    let endless: &'static str = Box::leak("220-more\r\n".repeat(10_000).into_boxed_str());
    let flood = scripted(place.service(4), Duration::ZERO, vec![endless]);
    let monitor = "FTP -userName u -password \"p w\"";
    let services =
        [("right", 1, monitor), ("open", 2, monitor), ("silent", 3, monitor), ("flood", 4, monitor)];
    let program = Program::launch(&place, &config(&place, &services));
    for (service, state, said) in [
        ("right", "UP", "Success - reply to PASS: 230 welcome."),
        ("open", "DOWN", "Failure - time out while waiting for the reply to PASS."),
        ("silent", "DOWN", "Failure - time out while waiting for the FTP greeting."),
        ("flood", "DOWN", "Failure - invalid FTP: a reply longer than 65536 bytes."),
    ] {
        program.wait_for_state("service", service, state);
        assert_eq!(binding(&program, service)["lastresponse"], said, "{service}");
    }
    // What each server got until the program closed the connection: it leaves none open.
    assert_eq!(right.next(), "USER u\r\nPASS p w\r\nQUIT\r\n");
    for _ in 0..2 {
        assert_eq!(open.next(), "USER u\r\nPASS p w\r\n");
        assert_eq!(silent.next(), "");
    }
    drop(flood);
}

fn a_connection_that_is_reset_or_closed_in_any_phase_is_a_failure() {
    let place = Place::new();
    let said = ["220 x\r\n", MORE, "230-almost\r\n"];
    let mut services = Vec::new();
    let mut listening = Vec::new();
    for (nth, by_reset) in (1..).zip([true, true, true, true, false, false, false, false]) {
        let replies = &said[..(usize::from(nth) - 1) % 4];
        listening.push(ending(place.service(nth), replies.to_vec(), by_reset));
        services.push((format!("s{nth}"), nth, "FTP -userName u -password p"));
    }
    let services: Vec<(&str, u16, &str)> =
        services.iter().map(|(name, n, m)| (name.as_str(), *n, *m)).collect();
    let program = Program::launch(&place, &config(&place, &services));
    for (service, ..) in &services {
        program.wait_for_state("service", service, "DOWN");
        let said = binding(&program, service)["lastresponse"].clone();
        let closed = said == "Failure - connection closed before a complete response.";
        // A reset before the greeting can overtake the program, which then never saw the connection open.
        let never_open = *service == "s1" && said == "Failure - TCP syn sent, reset received.";
        assert!(closed || never_open, "{service}: {said}");
    }
}

fn a_line_break_in_an_option_is_refused() {
    let place = Place::new();
    let program = Program::launch(&place, "enable ns feature LB\n");
    for (option, argument) in [("username", "userName"), ("filename", "fileName")] {
        let body = serde_json::json!({"lbmonitor": {
            "monitorname": "m", "type": "FTP-EXTENDED", option: "x\r\nDELE y",
        }});
        let (status, answer) = program.owner("POST", "lbmonitor", Some(&body));
        assert!(status.starts_with("HTTP/1.1 4"), "{status} {answer}");
        assert!(answer["message"].as_str().unwrap().contains(argument), "{answer}");
    }
}

/// Services by these names at [`Place::service`], each with a monitor of its own.
fn config(place: &Place, services: &[(&str, u16, &str)]) -> String {
    let mut text = "enable ns feature LB\n".to_owned();
    for (port, (name, service, monitor)) in (8101u16..).zip(services) {
        let at = place.service(*service);
        text += &format!("add lb monitor m-{name} {monitor} -destPort {} {QUICK}\n", at.port());
        text += &format!("add service {name} {} TCP {port}\n", at.ip());
        text += &format!("bind service {name} -monitorName m-{name}\n");
    }
    text
}

/// Says each of these after a command, the first at once, byte by byte with that pause; then only listens. What it got.
fn scripted(at: SocketAddr, pause: Duration, replies: Vec<&'static str>) -> Listening<String> {
    listen(at, move |mut stream| {
        let mut got = Vec::new();
        for (nth, reply) in replies.iter().enumerate() {
            if nth > 0 && !command(&mut stream, &mut got) {
                break;
            }
            say(&mut stream, reply, pause);
        }
        while command(&mut stream, &mut got) {}
        String::from_utf8(got).unwrap()
    })
}

/// Says each of these after a command, the first at once, then resets or closes the connection: at the next command, or
/// within a reply that has not ended.
fn ending(at: SocketAddr, replies: Vec<&'static str>, by_reset: bool) -> Listening<()> {
    listen(at, move |mut stream| {
        for (nth, reply) in replies.iter().enumerate() {
            if nth > 0 && !command(&mut stream, &mut Vec::new()) {
                return;
            }
            say(&mut stream, reply, Duration::ZERO);
        }
        if replies.last().is_some_and(|reply| reply.as_bytes()[3] == b' ') {
            command(&mut stream, &mut Vec::new());
        }
        if by_reset {
            SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
        }
    })
}

fn say(stream: &mut TcpStream, reply: &str, pause: Duration) {
    if pause.is_zero() {
        let _ = stream.write_all(reply.as_bytes());
        return;
    }
    stream.set_nodelay(true).unwrap();
    for byte in reply.bytes() {
        std::thread::sleep(pause);
        let _ = stream.write_all(&[byte]);
    }
}

/// Reads up to the end of a line; false at the end of the connection.
fn command(stream: &mut TcpStream, got: &mut Vec<u8>) -> bool {
    let mut byte = [0];
    while let Ok(1) = stream.read(&mut byte) {
        got.push(byte[0]);
        if byte[0] == b'\n' {
            return true;
        }
    }
    false
}

fn binding(program: &Program, service: &str) -> Value {
    let path = format!("/nitro/v1/config/service_lbmonitor_binding/{service}");
    program.nitro(&path).1["service_lbmonitor_binding"][0].clone()
}

const MORE: &str = "331 password\r\n";
const IN: &str = "230 welcome\r\n";
const QUICK: &str = "-interval 1 -resptimeout 900 MSEC -retries 1 -downTime 100 MSEC";
const PATIENT: &str = "-interval 10 -resptimeout 8 -retries 1 -downTime 100 MSEC";
