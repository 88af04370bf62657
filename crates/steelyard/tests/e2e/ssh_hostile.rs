//! The SSH door against those who mean it harm or misfortune: connections that say nothing, bytes that mean nothing, more
//! than anybody takes; and the key of the host.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::client::Client;
use crate::place::Place;
use crate::processes::processes;
use crate::program::{PASSWORD, Program, run_to_end};
use crate::service::wait_for;
use crate::ssh_client::{By, Ssh, address, left};

pub fn trials() -> Vec<Trial> {
    let mut trials = trials![
        connections_that_say_nothing_keep_nobody_out,
        bytes_that_mean_nothing_end_their_connection_and_nothing_else,
        the_key_of_the_host_is_made_once_and_never_replaced,
        a_client_that_takes_nothing_pauses_its_child,
        input_that_nobody_takes_pauses_its_client,
        much_goes_both_ways_at_once,
        without_the_socket_that_prompts_ask_by_there_is_no_start,
    ];
    trials.push(
        Trial::test("ssh_hostile::soak_a_login_that_takes_too_long_is_cut", || {
            a_login_that_takes_too_long_is_cut();
            Ok(())
        })
        .with_ignored_flag(true),
    );
    trials
}

pub const CONFIG: &str = "enable ns feature LB\n";

/// A program with SSH, a client, and nsroot's key; `None` where OpenSSH is not installed.
pub fn with_key(place: &Place, config: &str) -> Option<(Program, Ssh, PathBuf)> {
    let ssh = Ssh::to(place)?;
    let program = Program::launch_ssh(place, config);
    let (key, line) = ssh.key("ed25519", "");
    program.authorize("nsroot", &line);
    Some((program, ssh, key))
}

/// The connections that the program has at its SSH address.
fn connections(program: &Program, place: &Place) -> usize {
    program.connections_at(address(place))
}

fn connections_that_say_nothing_keep_nobody_out() {
    let place = Place::new();
    let Some((program, ssh, key)) = with_key(&place, CONFIG) else { return };
    let is_let_in = |options: &[&str]| {
        let mut client = ssh.command("nsroot", By::Key(&key), &[options, &["-n"]].concat());
        left(client.arg("whoami").output().unwrap()).0 == Some(0)
    };
    let mut held = Vec::new();
    for n in 0..100 {
        let mut client = Client::connect_from(place.ip(), address(&place));
        // Some do not even say what they speak, some stop in the middle of it, some then say nothing more.
        client.send([&b""[..], b"SSH-2.0-slow", b"SSH-2.0-silent\r\n"][n % 3]);
        held.push(client);
    }
    wait_for("most of one source to be gone", || connections(&program, &place) <= 8);
    let source = place.ip().to_string();
    assert!(is_let_in(&["-b", &source]), "from the same source");
    // From as many sources as there may be strangers, twice.
    let others: Vec<Client> = (0..64)
        .map(|n| Client::connect_from(IpAddr::V4(Ipv4Addr::new(127, 64, n, 1)), address(&place)))
        .collect();
    wait_for("most of them to be gone", || connections(&program, &place) <= 32);
    assert!(is_let_in(&[]), "from another source");
    drop((held, others));
    wait_for("all of them to be gone", || connections(&program, &place) == 0);
}

/// README: a minute.
fn a_login_that_takes_too_long_is_cut() {
    let place = Place::new();
    let Some((program, ssh, key)) = with_key(&place, CONFIG) else { return };
    let began = Instant::now();
    let mut silent = Client::connect(address(&place));
    silent.send(b"SSH-2.0-silent\r\n");
    let _other = Client::connect(address(&place));
    wait_for("both", || connections(&program, &place) == 2);
    // Whoever is in stays.
    let mut known = ssh.command("nsroot", By::Key(&key), &["-N"]).stderr(Stdio::null()).spawn().unwrap();
    wait_for("a session", || program.sessions().len() == 1);
    while connections(&program, &place) > 1 {
        std::thread::sleep(Duration::from_millis(200));
        assert!(began.elapsed() < Duration::from_secs(180), "nothing is cut");
    }
    assert!(began.elapsed() > Duration::from_secs(55), "{:?}", began.elapsed());
    assert!(known.try_wait().unwrap().is_none());
    known.kill().unwrap();
    known.wait().unwrap();
}

fn bytes_that_mean_nothing_end_their_connection_and_nothing_else() {
    let place = Place::new();
    let Some((program, ssh, key)) = with_key(&place, CONFIG) else { return };
    let hello = b"SSH-2.0-x\r\n";
    let long = vec![b'a'; 1 << 20];
    let before: [&[u8]; 6] = [
        b"GET / HTTP/1.1\r\n\r\n",
        b"SSH-1.5-old\r\n",
        b"\r\n\r\n\r\n",
        b"\0\0\0\0\n",
        b"\xff\xfe\r\n",
        &long,
    ];
    let after: [&[u8]; 6] = [
        b"\xff\xff\xff\xff\0\0\0\0",
        b"\0\0\0\x01\0",
        b"\0\0\0\x0c\xff\x14aaaaaaaaaaaaaaaa",
        b"\0\0\0\x0c\x04\x14\0\0\0\0\0\0\0\0\0\0",
        b"\0\0\0\x0c\x04\x32\0\0\0\0\0\0\0\0\0\0",
        &long,
    ];
    for (first, bytes) in
        before.map(|bytes| (&b""[..], bytes)).into_iter().chain(after.map(|bytes| (&hello[..], bytes)))
    {
        let mut client = Client::connect(address(&place));
        // It may be cut before all of it is sent.
        let _ = client.try_send([first, bytes].concat());
        client.half_close();
        let (said, _) = client.read_to_end();
        assert!(said.starts_with(b"SSH-2.0-Steelyard_"), "{}", String::from_utf8_lossy(&said));
    }
    wait_for("all of them to be gone", || connections(&program, &place) == 0);
    assert_eq!(ssh.run("nsroot", By::Key(&key), "whoami").0, Some(0));
    assert_eq!(program.errors(), "", "nothing of it is worth a line");
}

fn the_key_of_the_host_is_made_once_and_never_replaced() {
    let place = Place::new();
    let Some(ssh) = Ssh::to(&place) else { return };
    let fingerprint = |program: &Program| {
        let line = program.wait_for_line("ssh: ");
        line.rsplit_once(' ').unwrap().1.to_owned()
    };
    let first = {
        let program = Program::launch_ssh(&place, CONFIG);
        assert_eq!(ssh.run("nsroot", By::password(PASSWORD), "whoami").0, Some(0));
        fingerprint(&program)
    };
    let program = Program::launch_ssh(&place, CONFIG);
    let path = program.data().join("ssh/host_ed25519");
    assert_eq!((fingerprint(&program), ssh.fingerprint(&path)), (first.clone(), first));
    // The client remembers the key and would refuse another one.
    assert_eq!(ssh.run("nsroot", By::password(PASSWORD), "whoami").0, Some(0));
    let data = program.data().to_str().unwrap().to_owned();
    drop(program);
    let address = address(&place).to_string();
    let refused = |why: &str| {
        let output =
            run_to_end(&["run", "--data", &data, "--nitro", &place.nitro().to_string(), "--ssh", &address]);
        let (code, out, err) = left(output);
        assert!(
            code == Some(2) && out.is_empty() && err.contains(path.to_str().unwrap()) && err.contains(why),
            "{why}: {code:?} {err}"
        );
    };
    let whole = fs::read(&path).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    refused("others may read it (mode 640)");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&path, &whole[..100]).unwrap();
    refused("no private key as OpenSSH writes it; put it back, or take it away");
    assert_eq!(fs::read(&path).unwrap(), &whole[..100]);
    let (other, _) = ssh.key("ecdsa", "256");
    fs::copy(other, &path).unwrap();
    refused("not an Ed25519 key");
    fs::write(&path, &whole).unwrap();
    let nitro = place.nitro().to_string();
    let (code, _, err) =
        left(run_to_end(&["run", "--data", &data, "--nitro", &nitro, "--ssh", "192.0.2.1:22"]));
    assert!(code == Some(2) && err.starts_with("steelyard: --ssh 192.0.2.1:22: "), "{code:?} {err}");
}

/// The prompts that the program has started.
pub fn children_of(program: &Program) -> Vec<u32> {
    processes().into_iter().filter(|found| found.parent == program.id()).map(|found| found.id).collect()
}

/// The one that it has.
fn child_of(program: &Program) -> u32 {
    wait_for("the child", || children_of(program).len() == 1);
    children_of(program)[0]
}

/// How much a process has written and read so far.
fn moved(id: u32) -> (u64, u64) {
    let io = fs::read_to_string(format!("/proc/{id}/io")).unwrap();
    let of = |name: &str| io.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap();
    (of("wchar:"), of("rchar:"))
}

/// Waits until a process has written and read nothing for a while.
fn waits_until_stuck(id: u32) {
    let (mut before, mut same) = (moved(id), 0);
    wait_for("the child to be held up", || {
        std::thread::sleep(Duration::from_millis(20));
        let now = moved(id);
        same = if now == before { same + 1 } else { 0 };
        before = now;
        same == 50
    });
}

/// A configuration of some 100 KB.
pub fn many_servers() -> String {
    let servers = (0..3_000).map(|n| format!("add server s{n} 198.51.{}.{}\n", n / 250, n % 250));
    CONFIG.to_owned() + &servers.collect::<String>()
}

fn a_client_that_takes_nothing_pauses_its_child() {
    let place = Place::new();
    let Some((program, ssh, key)) = with_key(&place, &many_servers()) else { return };
    let mut client = ssh.command("nsroot", By::Key(&key), &[]);
    let mut client =
        client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let before = program.resident_kib();
    let mut input = client.stdin.take().unwrap();
    // Some 100 KB each.
    input.write_all(&b"show ns runningConfig\n".repeat(200)).unwrap();
    drop(input);
    let child = child_of(&program);
    waits_until_stuck(child);
    let held = program.resident_kib().saturating_sub(before);
    assert!(held < 16 << 10, "{held} KiB more while the client takes nothing");
    assert!(moved(child).0 < 10 << 20, "it would be some 20 MB");
    let mut out = String::new();
    client.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!((out.matches(" Done\n").count(), out.matches("add server s2999 ").count()), (200, 200));
    assert_eq!(client.wait().unwrap().code(), Some(0));
}

fn input_that_nobody_takes_pauses_its_client() {
    let place = Place::new();
    let Some((program, ssh, key)) = with_key(&place, CONFIG) else { return };
    let pipe = place.folder("pipe") + "/p";
    mknodat(CWD, Path::new(&pipe), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let mut client = ssh.command("nsroot", By::Key(&key), &[]);
    let mut client =
        client.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = client.stdin.take().unwrap();
    let before = program.resident_kib();
    // A file that nobody writes holds the child up.
    input.write_all(format!("source {pipe}\n").as_bytes()).unwrap();
    let remark = [b"#".repeat(60_000), b"\n".to_vec()].concat();
    let writing = std::thread::spawn(move || {
        (0..1_000).for_each(|_| input.write_all(&remark).unwrap());
        input.write_all(b"whoami\n").unwrap();
    });
    waits_until_stuck(child_of(&program));
    waits_until_stuck(client.id());
    let held = program.resident_kib().saturating_sub(before);
    assert!(held < 16 << 10, "{held} KiB more of 60 MB");
    assert!(!writing.is_finished());
    File::options().write(true).open(&pipe).unwrap().write_all(b"add server by-pipe 192.0.2.1\n").unwrap();
    let mut out = String::new();
    client.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(out, " Done\n Done\n\tUserName: nsroot\n Done\n");
    writing.join().unwrap();
    assert_eq!(client.wait().unwrap().code(), Some(0));
}

fn much_goes_both_ways_at_once() {
    let place = Place::new();
    let Some((_program, ssh, key)) = with_key(&place, &many_servers()) else { return };
    let lines = format!("#{}\nshow ns runningConfig\n", "x".repeat(60_000)).repeat(100);
    let (code, out, err) = ssh.batch("nsroot", By::Key(&key), &lines);
    assert_eq!((code, out.matches(" Done\n").count(), err.as_str()), (Some(0), 100, ""));
}

/// `--ssh` where the owner's socket is not to be had: one line, and exit code 2 as for all that is asked for wrongly.
fn without_the_socket_that_prompts_ask_by_there_is_no_start() {
    let (place, own) = (Place::new(), Place::new());
    let vserver = format!("{CONFIG}add lb vserver v HTTP {} {}\n", own.ip(), own.vserver(0).port());
    let refused = |data: &str, why: &str| {
        let address = address(&own).to_string();
        let mut program = Program::spawn(&own, &vserver, &["--data", data, "--ssh", &address]);
        assert_eq!(program.exit_code(), Some(2));
        let expected =
            format!("steelyard: --ssh: prompts ask by the owner's socket; {data}/nitro.sock: {why}\n");
        assert_eq!((program.errors(), program.lines()), (expected, Vec::new()));
    };
    // Another program has it, and keeps it.
    let other = Program::launch(&place, CONFIG);
    refused(other.data().to_str().unwrap(), "another program serves there; give each its own --data");
    assert_eq!(other.owner_says("whoami"), "\tUserName: owner\n Done\n");
    // Something else is in its place, and stays there.
    let taken = own.folder("taken");
    fs::create_dir(format!("{taken}/nitro.sock")).unwrap();
    refused(&taken, "it is there and is no socket; take it away, or give another --data");
    assert!(fs::exists(format!("{taken}/nitro.sock")).unwrap());
    // A name of no socket.
    let long = own.folder(&"l".repeat(100));
    refused(&long, "too long for a socket, which has 107 bytes; give a shorter --data");
    // Whoever asks for no prompt by SSH is served.
    let program = Program::launch_with(&own, &vserver, &["--data", &taken]);
    let line = program.wait_for_error("/nitro.sock: it is there and is no socket; ");
    assert!(line.ends_with("; without it changes take a login at --nitro"), "{line}");
    assert_eq!(program.nitro("/nitro/v1/config/lbvserver").0, "HTTP/1.1 200 OK");
}
