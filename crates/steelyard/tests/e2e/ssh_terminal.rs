//! The prompt over SSH on a terminal, and how sessions end: by their user, by somebody else, with the connection, with the
//! program.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use libtest_mimic::Trial;
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::tcgetwinsize;
use serde_json::json;

use crate::place::Place;
use crate::processes::{Found, processes};
use crate::program::{Program, number};
use crate::service::wait_for;
use crate::ssh_client::{By, Ssh, left};
use crate::terminal::Terminal;

pub fn trials() -> Vec<Trial> {
    trials![
        a_terminal_has_the_prompt_its_keys_and_its_width,
        a_connection_that_is_cut_leaves_nothing_behind,
        a_session_that_is_killed_ends_at_once,
        a_session_that_nobody_uses_ends,
        the_stop_of_the_program_ends_sessions,
        two_at_the_prompt_change_at_once,
        one_connection_has_several_channels,
    ]
}

/// A program, nsroot's key, and a client.
struct Scene {
    program: Program,
    ssh: Ssh,
    key: PathBuf,
}

impl Scene {
    fn new(place: &Place) -> Option<Scene> {
        let ssh = Ssh::to(place)?;
        let program = Program::launch_ssh(place, "enable ns feature LB\n");
        let (key, line) = ssh.key("ed25519", "");
        program.authorize("nsroot", &line);
        Some(Scene { program, ssh, key })
    }

    fn command(&self, options: &[&str]) -> Command {
        self.ssh.command("nsroot", By::Key(&self.key), options)
    }

    fn terminal(&self) -> Option<Terminal> {
        let terminal = Terminal::of(&self.command(&["-tt"]))?;
        terminal.waits_for(&["> "]);
        Some(terminal)
    }

    /// The prompts that the program has started.
    fn children(&self) -> Vec<Found> {
        processes().into_iter().filter(|found| found.parent == self.program.id()).collect()
    }

    /// Nothing of any session is left.
    fn waits_for_quiet(&self) {
        wait_for("sessions to end", || self.program.sessions().is_empty());
        wait_for("children to be reaped", || self.children().is_empty());
    }
}

fn a_terminal_has_the_prompt_its_keys_and_its_width() {
    let place = Place::new();
    let Some(scene) = Scene::new(&place) else { return };
    let Some(mut terminal) = scene.terminal() else { return };
    terminal.types("whoami\r");
    terminal.waits_for(&["> whoami", "        UserName: nsroot", " Done", "> "]);
    // The first one again, and one that is dropped.
    terminal.types("\x1b[A");
    terminal.waits_for(&["> whoami"]);
    terminal.types("\x03");
    terminal.waits_for(&["> whoami", "> "]);
    let sessions = scene.program.sessions();
    assert_eq!(
        (sessions.len(), &sessions[0]["clienttype"], &sessions[0]["username"]),
        (1, &json!("CLI"), &json!("nsroot"))
    );
    let children = scene.children();
    assert_eq!(children.len(), 1, "{children:?}");
    let child = children[0].id;
    let environment = fs::read(format!("/proc/{child}/environ")).unwrap();
    let names: Vec<String> = environment
        .split(|byte| *byte == 0)
        .filter_map(|variable| Some(String::from_utf8_lossy(variable).split_once('=')?.0.to_owned()))
        .collect();
    assert!(
        names.len() == 2
            && ["STEELYARD_SESSION", "TERM"].iter().all(|name| names.contains(&(*name).to_owned())),
        "{names:?}"
    );
    let stat = fs::read_to_string(format!("/proc/{child}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    assert_eq!(
        (fields[2], fields[3]),
        (&*child.to_string(), &*child.to_string()),
        "a group and a session of its own"
    );
    assert_ne!(fields[4], "0", "a controlling terminal");
    terminal.resize(20);
    wait_for("the width to arrive", || columns_of(child) == 20);
    terminal.types("0123456789012345678901234");
    terminal.waits_for(&["> 012345678901234567", "8901234"]);
    terminal.types("\x03");
    terminal.waits_for(&["8901234", "> "]);
    terminal.types("\x04");
    assert_eq!(terminal.end(), Ok(0));
    scene.waits_for_quiet();
    // One command on a terminal, with the exit code.
    let mut command = scene.command(&["-tt"]);
    command.arg("add nonsense");
    let mut terminal = Terminal::of(&command).unwrap();
    assert_eq!(terminal.end(), Ok(1));
    terminal.waits_for_text("ERROR: No such command");
}

/// The width of the terminal that a process has.
fn columns_of(process: u32) -> u16 {
    let mut open = fs::File::options();
    open.read(true).custom_flags(OFlags::NOCTTY.bits().cast_signed());
    tcgetwinsize(open.open(format!("/proc/{process}/fd/0")).unwrap()).unwrap().ws_col
}

fn a_connection_that_is_cut_leaves_nothing_behind() {
    let place = Place::new();
    let Some(scene) = Scene::new(&place) else { return };
    for signal in [Signal::KILL, Signal::TERM] {
        let Some(terminal) = scene.terminal() else { return };
        terminal.types("show ns runn");
        let mut batch = scene.command(&[]);
        batch.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut batch = batch.spawn().unwrap();
        wait_for("both children", || scene.children().len() == 2);
        for id in [terminal.id(), batch.id()] {
            kill_process(Pid::from_raw(id.cast_signed()).unwrap(), signal).unwrap();
        }
        scene.waits_for_quiet();
        batch.wait().unwrap();
    }
}

fn a_session_that_is_killed_ends_at_once() {
    let place = Place::new();
    let Some(scene) = Scene::new(&place) else { return };
    let (Some(mut killed), Some(other)) = (scene.terminal(), scene.terminal()) else { return };
    let own = |terminal: &Terminal| {
        terminal.types("whoami\r");
        terminal.waits_for_text("UserName");
    };
    own(&killed);
    let number = scene.program.sessions().iter().map(|session| number(session, "sid")).min().unwrap();
    other.types(&format!("kill system session {number}\r"));
    other.waits_for(&[&format!("> kill system session {number}"), " Done", "> "]);
    // It ends without a further key, with words for it.
    assert_eq!(killed.end(), Ok(1));
    killed.waits_for_text("ERROR: Session expired or killed. Please login again");
    own(&other);
    let input = "kill system session -all\nwhoami\n";
    let (_, out, _) = scene.ssh.batch("nsroot", By::Key(&scene.key), input);
    assert_eq!(out, " Done\n\tUserName: nsroot\n Done\n", "the own session goes on");
    wait_for("the other one to end", || scene.program.sessions().is_empty());
}

fn a_session_that_nobody_uses_ends() {
    let place = Place::new();
    let Some(scene) = Scene::new(&place) else { return };
    assert_eq!(scene.program.owner_says("set system parameter -timeout 10"), " Done\n");
    let Some(mut terminal) = scene.terminal() else { return };
    assert_eq!(terminal.end(), Ok(1));
    terminal.waits_for_text("ERROR: Session expired or killed. Please login again");
    scene.waits_for_quiet();
}

fn the_stop_of_the_program_ends_sessions() {
    let place = Place::new();
    let Some(mut scene) = Scene::new(&place) else { return };
    let Some(mut terminal) = scene.terminal() else { return };
    scene.program.signal(Signal::TERM);
    assert_eq!(terminal.end(), Ok(1));
    terminal.waits_for_text("The program stops; the session has ended");
    assert_eq!(scene.program.exit_code(), Some(0));
    assert!(scene.children().is_empty());
}

fn two_at_the_prompt_change_at_once() {
    let place = Place::new();
    let Some(scene) = Scene::new(&place) else { return };
    let lines = |who: char, net: u8| -> String {
        let pair = |n| format!("add server {who}{n} 198.51.{net}.{n}\nset server {who}{n} -comment {who}\n");
        (0..200).map(pair).collect()
    };
    std::thread::scope(|scope| {
        for (who, net) in [('a', 100), ('b', 101)] {
            let (scene, input) = (&scene, lines(who, net));
            scope.spawn(move || {
                let (code, out, _) = scene.ssh.batch("nsroot", By::Key(&scene.key), &input);
                assert_eq!((code, out.matches(" Done\n").count()), (Some(0), 400));
            });
        }
    });
    let running = scene.program.running();
    for who in ['a', 'b'] {
        assert_eq!(running.matches(&format!("-comment {who}\n")).count(), 200, "{running}");
    }
}

fn one_connection_has_several_channels() {
    let place = Place::new();
    let Some(scene) = Scene::new(&place) else { return };
    let control = place.folder("c") + "/s";
    let mut command = scene.command(&["-M", "-N", "-S", &control]);
    let Ok(mut master) = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn() else {
        return;
    };
    wait_for("the master", || fs::exists(&control).unwrap());
    std::thread::scope(|scope| {
        for n in 0..6 {
            // What it has no channel for goes over no other one.
            let over = ["-n", "-S", &control, "-o", "ProxyCommand=false"];
            let scene = &scene;
            scope.spawn(move || {
                // One that has ended makes room for another.
                for m in 0..3 {
                    let line = format!("add server s{n}{m} 198.51.{n}.{m}");
                    let output = scene.command(&over).arg(line).output().unwrap();
                    assert_eq!(left(output), (Some(0), " Done\n".to_owned(), String::new()));
                }
            });
        }
    });
    assert_eq!(scene.program.sessions().len(), 1, "one login");
    master.kill().unwrap();
    master.wait().unwrap();
    scene.waits_for_quiet();
}
