//! README's transcript of the documentation's two examples, typed at the prompt over SSH: the words that come are README's;
//! figures, dates and addresses are those of the run.

use std::fs;
use std::process::Command;

use libtest_mimic::Trial;
use rustix::process::Signal;

use crate::client::Client;
use crate::place::Place;
use crate::program::{EXECUTABLE, Program};
use crate::service::{TestService, wait_for};
use crate::ssh_client::{self, By, Ssh};
use crate::terminal::Terminal;

pub fn trials() -> Vec<Trial> {
    trials![the_documentations_examples_go_as_readme_has_them]
}

/// What is typed, and what comes of it, line by line.
type Exchange = (String, Vec<String>);

/// The sessions of README's transcript.
fn transcript() -> Vec<Vec<Exchange>> {
    let readme = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let (_, rest) = readme.split_once("### The documentation's two examples\n").unwrap();
    let block = rest.split("```\n").nth(1).unwrap();
    let mut sessions: Vec<Vec<Exchange>> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("> "), line.strip_prefix("$ ssh "), sessions.last_mut()) {
            (_, Some(_), _) => sessions.push(Vec::new()),
            (Some(typed), _, Some(session)) => session.push((typed.to_owned(), Vec::new())),
            _ if line.starts_with("$ #") => {}
            (None, None, Some(session)) => session.last_mut().unwrap().1.push(line.to_owned()),
            _ => panic!("{line}: outside a session"),
        }
    }
    sessions
}

/// A line without what differs from run to run: figures, dates, how far columns are apart.
fn words(line: &str) -> String {
    let line = match line.find("Last state change was at ") {
        Some(at) => &line[..at + 24],
        None => line,
    };
    let mut words = String::new();
    for word in line.split_whitespace() {
        let mut digits = false;
        for c in word.chars() {
            if !c.is_ascii_digit() {
                words.push(c);
            } else if !digits {
                words.push('#');
            }
            digits = c.is_ascii_digit();
        }
        words.push(' ');
    }
    words.trim_end().to_owned()
}

/// README's addresses as those of this place.
fn here(typed: &str, place: &Place) -> String {
    let mut typed = typed.to_owned();
    for n in 1..=3 {
        let service = place.service(n);
        typed = typed
            .replace(&format!("10.0.0.{n} HTTP 80"), &format!("{} HTTP {}", service.ip(), service.port()));
    }
    for n in 0..=1 {
        let vserver = place.vserver(n);
        typed = typed.replace(&format!("192.0.2.1{n} 80"), &format!("{} {}", vserver.ip(), vserver.port()));
    }
    typed
}

/// Types a line and returns what is on the screen between it and the next prompt.
fn answer(terminal: &Terminal, typed: &str) -> Vec<String> {
    let prompts = |lines: &[String]| lines.iter().filter(|line| line.starts_with('>')).count();
    let before = prompts(&terminal.screen().lines());
    terminal.types(&format!("{typed}\r"));
    let mut lines = Vec::new();
    wait_for(&format!("what comes of {typed}"), || {
        lines = terminal.screen().lines();
        prompts(&lines) > before && lines.last().is_some_and(|line| line == ">")
    });
    lines.pop();
    let at = lines.iter().rposition(|line| line.starts_with('>')).unwrap();
    lines.split_off(at + 1)
}

/// Requests to both virtual servers that are there, five at a time.
fn requests(place: &Place, vserver: u16) {
    std::thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| {
                let mut client = Client::connect(place.vserver(vserver));
                (0..60).for_each(|_| assert_eq!(client.get("/").status(), 200));
            });
        }
    });
}

fn the_documentations_examples_go_as_readme_has_them() {
    let place = Place::new();
    let Some(ssh) = Ssh::to(&place) else { return };
    let services = [(1, 20), (2, 60), (3, 120)].map(|(n, ms)| TestService::slow(place.service(n), "s", ms));
    let (config, data) = (place.file("ns.conf", ""), place.folder("data"));
    let address = ssh_client::address(&place).to_string();
    let launch = || {
        let program = Command::new(EXECUTABLE);
        Program::launch_as(program, &place, &config, &data, &["--ssh", &address])
    };
    let mut program = launch();
    let (key, line) = ssh.key("ed25519", "");
    program.authorize("nsroot", &line);
    let mut came = String::new();
    let mut differs = Vec::new();
    let mut vserver = 0;
    for session in transcript() {
        let Some(mut terminal) = Terminal::of(&ssh.command("nsroot", By::Key(&key), &["-tt"])) else {
            return;
        };
        terminal.resize(120);
        terminal.waits_for(&["> "]);
        for (typed, expected) in session {
            came += &format!("> {typed}\n");
            match typed.as_str() {
                "exit" => {
                    terminal.types("exit\r");
                    assert_eq!(terminal.end(), Ok(0));
                    break;
                }
                "# three hundred requests" => {
                    requests(&place, vserver);
                    vserver += 1;
                }
                _ => {}
            }
            let lines = answer(&terminal, &here(&typed, &place));
            came += &lines.iter().map(|line| line.clone() + "\n").collect::<String>();
            let of = |lines: &[String]| lines.iter().map(|line| words(line)).collect::<Vec<_>>();
            if of(&lines) != of(&expected) {
                differs.push(typed);
            }
        }
        program.signal(Signal::TERM);
        program.exit_code();
        program = launch();
    }
    let begun = services.each_ref().map(TestService::begun);
    assert!(differs.is_empty(), "{differs:?}; this came:\n{came}");
    // What the methods are for: the fast one has most of the work.
    assert!(begun[0] > begun[1] && begun[1] > begun[2], "{begun:?}");
}
