//! How much the SSH door lets one client, and all of them, have: prompts, channels, input that waits.

use std::fs;
use std::io::{Write, pipe};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use libtest_mimic::Trial;

use crate::place::Place;
use crate::service::wait_for;
use crate::ssh_client::{By, Ssh, left};
use crate::ssh_hostile::{CONFIG, children_of, many_servers, with_key};
use crate::terminal::Terminal;
use crate::written::Written;

pub fn trials() -> Vec<Trial> {
    trials![
        there_are_so_many_prompts_and_each_that_ends_makes_room,
        a_connection_has_so_many_channels_in_its_life,
        more_input_than_may_wait_ends_its_connection_and_nothing_else,
    ]
}

/// A connection for clients that are [`over`] it.
fn connect(ssh: &Ssh, key: &Path, control: &str) -> Child {
    let mut master = ssh.command("nsroot", By::Key(key), &["-M", "-N", "-S", control]);
    let master = master.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the connection", || fs::exists(control).unwrap());
    master
}

/// Over that connection, and over no other one where it has no channel.
fn over(control: &str) -> [&str; 4] {
    ["-S", control, "-o", "ProxyCommand=false"]
}

/// Tears a client away.
fn end(mut client: Child) {
    client.kill().unwrap();
    client.wait().unwrap();
}

/// Waits until it has ended: its exit code.
fn code_of(mut client: Child) -> Option<i32> {
    wait_for("the client to end", || client.try_wait().unwrap().is_some());
    client.wait().unwrap().code()
}

/// A batch whose lines are given one after the other.
struct Talker {
    client: Child,
    answers: Written,
    asked: usize,
}

impl Talker {
    fn of(ssh: &Ssh, key: &Path, options: &[&str]) -> Talker {
        let mut client = ssh.command("nsroot", By::Key(key), options);
        client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut client = client.spawn().unwrap();
        Talker { answers: Written::of(client.stdout.take()), client, asked: 0 }
    }

    /// It is answered.
    fn goes_on(&mut self) {
        self.client.stdin.as_mut().unwrap().write_all(b"whoami\n").unwrap();
        self.asked += 1;
        let expected = "\tUserName: nsroot\n Done\n".repeat(self.asked);
        wait_for("an answer", || self.answers.text() == expected);
    }

    fn ends(mut self) {
        drop(self.client.stdin.take());
        assert_eq!(code_of(self.client), Some(0));
    }
}

/// README: 96 prompts, 8 of one connection.
fn there_are_so_many_prompts_and_each_that_ends_makes_room() {
    let place = Place::new();
    let Some((program, ssh, key)) = with_key(&place, CONFIG) else { return };
    let by = By::Key(&key);
    let folder = place.folder("c");
    let controls: Vec<String> = (0..96 / 8).map(|n| format!("{folder}/{n}")).collect();
    let mut masters: Vec<Child> = controls.iter().map(|control| connect(&ssh, &key, control)).collect();
    let (nothing, held) = pipe().unwrap();
    let hold = |n: usize| {
        let mut client = ssh.command("nsroot", by, &over(&controls[n / 8]));
        client.stdin(nothing.try_clone().unwrap()).stdout(Stdio::null()).stderr(Stdio::null());
        client.spawn().unwrap()
    };
    let are = |count: usize| wait_for("prompts", || children_of(&program).len() == count);
    let mut holders = Vec::new();
    for n in 0..95 {
        holders.push(hold(n));
        if n % 8 == 7 {
            are(n + 1);
        }
    }
    are(95);
    let ninth = left(ssh.command("nsroot", by, &over(&controls[0])).stdin(Stdio::null()).output().unwrap());
    assert_eq!((ninth.0, ninth.1.as_str()), (Some(255), ""), "a ninth of one connection");
    assert_eq!(ssh.run("nsroot", by, "whoami").0, Some(0), "the 96th");
    are(95);
    let mut talker = Talker::of(&ssh, &key, &over(&controls[11]));
    talker.goes_on();
    let (first, second) =
        ("ERROR: Resource temporarily unavailable", "\ttoo many prompts are open; try again later");
    let is_refused = || {
        are(96);
        let refused = (Some(1), String::new(), format!("{first}\n{second}\n"));
        assert_eq!(ssh.run("nsroot", by, "whoami"), refused);
        assert_eq!(ssh.batch("nsroot", by, "whoami\n"), refused);
        are(96);
    };
    is_refused();
    if let Some(mut terminal) = Terminal::of(&ssh.command("nsroot", by, &["-tt"])) {
        assert_eq!(terminal.end(), Ok(1));
        terminal.waits_for(&[first, &second.replace('\t', "        "), ""]);
    }
    talker.goes_on();
    // One ends in its own time, one with its connection, and eight with theirs.
    talker.ends();
    are(95);
    let mut talker = Talker::of(&ssh, &key, &[]);
    talker.goes_on();
    is_refused();
    end(talker.client);
    are(95);
    let mut talker = Talker::of(&ssh, &key, &over(&controls[11]));
    talker.goes_on();
    is_refused();
    end(masters.remove(0));
    are(88);
    assert_eq!(ssh.run("nsroot", by, "whoami").0, Some(0));
    talker.goes_on();
    talker.ends();
    drop(held);
    let of_others = holders.split_off(8);
    assert!(of_others.into_iter().all(|holder| code_of(holder) == Some(0)), "they went on to their end");
    holders.into_iter().for_each(end);
    are(0);
    masters.into_iter().for_each(end);
    assert_eq!(program.errors(), "");
}

/// README: 1,000, and then another connection has to be made.
fn a_connection_has_so_many_channels_in_its_life() {
    let place = Place::new();
    let Some((program, ssh, key)) = with_key(&place, CONFIG) else { return };
    let control = place.folder("c") + "/s";
    let mut master = connect(&ssh, &key, &control);
    let run = |line: &str| {
        let mut client = ssh.command("nsroot", By::Key(&key), &over(&control));
        left(client.stdin(Stdio::null()).arg(line).output().unwrap())
    };
    // It is refused at once, which costs no prompt.
    let refused = (Some(1), String::new(), run("scp -t x").2);
    assert!(refused.2.starts_with("ERROR: Operation not permitted\n"), "{refused:?}");
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| (0..333).for_each(|_| assert_eq!(run("scp -t x"), refused)));
        }
    });
    let (code, out, _) = run("whoami");
    assert_eq!((code, out.as_str()), (Some(255), ""));
    assert_eq!(ssh.run("nsroot", By::Key(&key), "whoami").0, Some(0), "by another connection");
    wait_for("the other one to end", || program.sessions().len() <= 1);
    assert_eq!((program.sessions().len(), master.try_wait().unwrap()), (1, None), "it goes on");
    end(master);
    wait_for("its session to end", || program.sessions().is_empty());
}

/// README: 8 MiB.
fn more_input_than_may_wait_ends_its_connection_and_nothing_else() {
    let place = Place::new();
    let Some((program, ssh, key)) = with_key(&place, &many_servers()) else { return };
    let mut other = Talker::of(&ssh, &key, &[]);
    other.goes_on();
    let said = "steelyard: ssh: nsroot: more input than is taken; the connection is ended\n";
    let mut most = program.most_resident_kib();
    for round in 1..=4 {
        let mut client = ssh.command("nsroot", By::Key(&key), &[]);
        client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut client = client.spawn().unwrap();
        let mut input = client.stdin.take().unwrap();
        // Some 100 KB each, of which nobody takes anything: the prompt is held up, and takes no input either.
        input.write_all(&b"show ns runningConfig\n".repeat(200)).unwrap();
        let sent = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&sent);
        let sending = std::thread::spawn(move || {
            let remark = [b"#".repeat((1 << 16) - 1), b"\n".to_vec()].concat();
            while counted.load(Ordering::SeqCst) < 128 << 20 && input.write_all(&remark).is_ok() {
                counted.fetch_add(remark.len(), Ordering::SeqCst);
            }
        });
        wait_for("the connection to be ended", || {
            other.goes_on();
            sending.is_finished()
        });
        sending.join().unwrap();
        // What waits, what the prompt had read before, and what is on the way: a window of 256 KiB, pipes, sockets.
        let sent = sent.load(Ordering::SeqCst);
        assert!((7 << 20..10 << 20).contains(&sent), "{sent} bytes");
        assert_eq!(code_of(client), Some(255));
        wait_for("word of it", || program.errors() == said.repeat(round));
        wait_for("its prompt and its session to be gone", || {
            children_of(&program).len() == 1 && program.sessions().len() == 1
        });
        let more = program.most_resident_kib() - most;
        // What waits once, what the client has yet to take, and as much again for what the allocator keeps.
        assert!(more < if round == 1 { 24 << 10 } else { 4 << 10 }, "{more} KiB more in round {round}");
        most += more;
    }
    other.goes_on();
    other.ends();
}
