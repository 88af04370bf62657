//! The prompt on a terminal: keys, lines typed before, how it is left.

use std::io::Read;
use std::os::unix::net::UnixListener;
use std::path::Path;

use libtest_mimic::Trial;
use rustix::process::{Pid, Signal, kill_process};

use crate::place::Place;
use crate::processes::processes;
use crate::program::Program;
use crate::terminal::Terminal;

pub fn trials() -> Vec<Trial> {
    trials![
        lines_are_typed_edited_and_carried_out,
        lines_before_are_found_again,
        the_prompt_is_left_in_each_of_its_ways,
        what_is_pasted_is_carried_out_in_order,
        an_error_ends_nothing,
        a_line_without_an_end_is_one_error,
        a_terminal_that_is_hung_up_ends_the_prompt,
        whoever_waits_in_vain_gives_up_by_ctrl_c,
        a_signal_leaves_the_terminal_as_it_was,
        a_line_wraps_at_the_width_that_the_terminal_has_by_now,
    ]
}

/// A program with one server, and the prompt for it on a terminal.
pub fn at_the_prompt(place: &Place) -> Option<(Program, Terminal)> {
    let program = Program::launch(place, "enable ns feature LB\nadd server s 127.0.0.9\n");
    let terminal = Terminal::start(&["cli", "--data", program.data().to_str().unwrap()])?;
    terminal.waits_for(&["> "]);
    Some((program, terminal))
}

const UP: &str = "\x1b[A";
const DOWN: &str = "\x1b[B";
const LEFT: &str = "\x1b[D";
const WHOAMI: [&str; 3] = ["> whoami", "\tUserName: owner", " Done"];

/// What `whoami` leaves on the screen, tabs as a terminal has them, and the next prompt.
fn after_whoami(prompt: &str) -> [String; 4] {
    let [line, name, done] = WHOAMI.map(|line| line.replace('\t', "        "));
    [line, name, done, prompt.to_owned()]
}

fn lines_are_typed_edited_and_carried_out() {
    let place = Place::new();
    let Some((_program, terminal)) = at_the_prompt(&place) else { return };
    terminal.types("whoami\r");
    let expected = after_whoami("> ");
    terminal.waits_for(&expected.each_ref().map(String::as_str));
    // Left, backspace, start, delete, end, the last word cut and put back.
    terminal.types(&format!("xshow servxr{LEFT}\x7fe\x01\x1b[3~\x05 s\x17"));
    terminal.waits_for(&["> show server"]);
    terminal.types("\x19\r");
    terminal.waits_for(&[
        "> show server s",
        "1)      Name:     s      State:ENABLED",
        "        IPAddress:   127.0.0.9",
        " Done",
        "> ",
    ]);
    terminal.types("this is dropped\x03");
    terminal.waits_for(&["> this is dropped", "> "]);
    terminal.types("\r");
    terminal.waits_for(&["> this is dropped", ">", "> "]);
}

fn lines_before_are_found_again() {
    let place = Place::new();
    let Some((_program, terminal)) = at_the_prompt(&place) else { return };
    terminal.types("whoami\r");
    terminal.waits_for(&[" Done", "> "]);
    terminal.types("# a remark\r");
    terminal.waits_for(&["> # a remark", "> "]);
    terminal.types(UP);
    terminal.waits_for(&["> # a remark", "> # a remark"]);
    terminal.types(UP);
    terminal.waits_for(&["> # a remark", "> whoami"]);
    terminal.types(&format!("{DOWN}{DOWN}"));
    terminal.waits_for(&["> # a remark", "> "]);
    terminal.types("\x12who");
    terminal.waits_for(&["(reverse-i-search)`who': whoami"]);
    terminal.types("\r");
    let expected = after_whoami("> ");
    terminal.waits_for(&expected.each_ref().map(String::as_str));
}

fn the_prompt_is_left_in_each_of_its_ways() {
    let place = Place::new();
    let Some((program, mut terminal)) = at_the_prompt(&place) else { return };
    terminal.types("\x04");
    assert_eq!(terminal.end(), Ok(0), "Ctrl-D");
    for line in ["quit", "exit", "qui"] {
        let mut terminal = Terminal::start(&["cli", "--data", program.data().to_str().unwrap()]).unwrap();
        terminal.waits_for(&["> "]);
        terminal.types(&format!("show nothing\r{line}\r"));
        assert_eq!(terminal.end(), Ok(0), "{line}: an error on the way there is no failure");
    }
    let mut terminal = Terminal::start(&["cli", "--no-such-option"]).unwrap();
    assert_eq!(terminal.end(), Ok(2), "asked for wrongly");
    terminal.waits_for_text("--no-such-option");
}

fn what_is_pasted_is_carried_out_in_order() {
    let place = Place::new();
    let Some((program, terminal)) = at_the_prompt(&place) else { return };
    let lines: String =
        (0..300).map(|n| format!("add server p{n} 127.1.{}.{}\r", n / 200, n % 200 + 1)).collect();
    terminal.types(&format!("\x1b[200~{lines}\x1b[201~whoami\r"));
    let expected = after_whoami("> ");
    terminal.waits_for(&expected.each_ref().map(String::as_str));
    let running = program.running();
    let added: Vec<&str> = running.lines().filter(|line| line.starts_with("add server p")).collect();
    let expected: Vec<&str> = lines.split_terminator('\r').collect();
    assert_eq!(added, expected);
}

fn an_error_ends_nothing() {
    let place = Place::new();
    let Some((program, terminal)) = at_the_prompt(&place) else { return };
    terminal.types("rm server nobody\r");
    terminal.waits_for_text("ERROR: No such resource [name, nobody]\r\n");
    terminal.sends(b"show \xff\xfe\r");
    terminal.waits_for_text("ERROR: Invalid characters");
    drop(program);
    terminal.types("whoami\r");
    terminal.waits_for_text("is 'steelyard run' running there?");
    let program = Program::launch(&place, "enable ns feature LB\n");
    terminal.types("whoami\r");
    let expected = after_whoami("> ");
    terminal.waits_for(&expected.each_ref().map(String::as_str));
    drop(program);
}

/// A megabyte in one line, typed and searched for.
fn a_line_without_an_end_is_one_error() {
    let place = Place::new();
    let Some((_program, terminal)) = at_the_prompt(&place) else { return };
    let flood = "x".repeat(1 << 20);
    terminal.types(&format!("{flood}\rwhoami\r"));
    let expected = after_whoami("> ");
    terminal.waits_for(&expected.each_ref().map(String::as_str));
    assert_eq!(terminal.transcript().matches("ERROR: ").count(), 1);
    terminal.types(&format!("\x12{flood}\x07\x03"));
    terminal.waits_for(&["> "]);
}

fn a_terminal_that_is_hung_up_ends_the_prompt() {
    let place = Place::new();
    let Some((program, mut terminal)) = at_the_prompt(&place) else { return };
    terminal.hang_up();
    assert_eq!(terminal.end(), Err(Signal::HUP.as_raw()));
    // Where that signal is ignored, the end of the terminal is seen all the same.
    let data = program.data().to_str().unwrap();
    let Some(mut terminal) = Terminal::start_ignoring_hup(&["cli", "--data", data]) else { return };
    terminal.waits_for(&["> "]);
    terminal.hang_up();
    assert_eq!(terminal.end(), Ok(0));
    assert!(processes().iter().all(|found| found.id != terminal.id()), "nothing is left of it");
}

fn a_line_wraps_at_the_width_that_the_terminal_has_by_now() {
    let place = Place::new();
    let Some((_program, mut terminal)) = at_the_prompt(&place) else { return };
    terminal.resize(40);
    let words = "show server a-name-of-some-length-that-does-not-fit";
    terminal.types(words);
    terminal.waits_for(&[&format!("> {}", &words[..38]), &words[38..]]);
    terminal.types("\x01\x1b[3~S\x05");
    terminal.waits_for(&[&format!("> S{}", &words[1..38]), &words[38..]]);
}

fn whoever_waits_in_vain_gives_up_by_ctrl_c() {
    let place = Place::new();
    let folder = place.file("silent", "");
    let folder = Path::new(&folder).with_file_name("data");
    std::fs::create_dir_all(&folder).unwrap();
    let silent = UnixListener::bind(folder.join("nitro.sock")).unwrap();
    let Some(terminal) = Terminal::start(&["cli", "--data", folder.to_str().unwrap()]) else { return };
    terminal.waits_for(&["> "]);
    terminal.types("whoami\r");
    let (mut asked, _) = silent.accept().unwrap();
    asked.read_exact(&mut [0]).unwrap();
    terminal.types("\x03");
    terminal.waits_for_text("interrupted: it may be carried out all the same");
    terminal.waits_for(&["> "]);
}

fn a_signal_leaves_the_terminal_as_it_was() {
    let place = Place::new();
    let Some((_program, mut terminal)) = at_the_prompt(&place) else { return };
    terminal.types("half a line");
    terminal.waits_for(&["> half a line"]);
    assert!(!terminal.is_for_lines());
    let id = Pid::from_raw(terminal.id().cast_signed()).unwrap();
    kill_process(id, Signal::TERM).unwrap();
    assert_eq!(terminal.end(), Ok(143));
    assert!(terminal.is_for_lines());
}
