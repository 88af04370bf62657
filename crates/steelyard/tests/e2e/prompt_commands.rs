//! Commands at the prompt, one or many: what they change, what is printed in what order, who may give them.

use std::fs;
use std::process::Output;

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{PASSWORD, Program, run_to_end, run_with_input, run_within};
use crate::users::by_password;

pub fn trials() -> Vec<Trial> {
    trials![
        a_batch_reads_as_a_transcript_and_goes_on_after_an_error,
        one_command_says_by_its_exit_code_whether_it_was_carried_out,
        files_of_commands_are_read_and_their_answers_written,
        whoever_may_not_give_a_command_by_nitro_may_not_type_it_either,
        a_password_that_is_typed_is_nowhere_to_be_read,
        lines_without_an_end_and_characters_that_a_terminal_obeys_do_no_harm,
        a_line_of_any_length_is_one_error_and_not_held,
        two_sessions_at_once_lose_no_change,
        ranges_are_carried_out_as_a_whole_or_not_at_all,
    ]
}

fn program(place: &Place) -> (Program, String) {
    let program = Program::launch(place, "enable ns feature LB\nadd server s 127.0.0.9\n");
    let data = program.data().to_str().unwrap().to_owned();
    (program, data)
}

fn batch(data: &str, lines: &str) -> (String, Option<i32>) {
    let Output { status, stdout, stderr } = run_with_input(&["cli", "--data", data], lines.as_bytes());
    assert_eq!(String::from_utf8(stderr).unwrap(), "", "errors are among the answers");
    (String::from_utf8(stdout).unwrap(), status.code())
}

fn one(data: &str, command: &[&str]) -> (Option<i32>, String, String) {
    let arguments: Vec<&str> = ["cli", "--data", data].into_iter().chain(command.iter().copied()).collect();
    let Output { status, stdout, stderr } = run_to_end(&arguments);
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// `spec/cli.md` 1 to 4.
fn a_batch_reads_as_a_transcript_and_goes_on_after_an_error() {
    let place = Place::new();
    let (program, data) = program(&place);
    let lines = "\
# a comment line

add service web s HTTP 8101 -comment \"two words\"
add servce x s HTTP 80
add service web s HTTP 8102
dis service web
set lb vserver nobody -lbMethod ROUNDROBIN
rename service web shop
sh service shop | grep -i -v ENABLED | grep 'name:'
show service shop | grep -i \"comment\" | more
add cs vserver c HTTP 0.0.0.0 0
add responder policy p true NOOP
s server
whoami
rm service shop # and a remark
exit
rm server s
";
    let expected = [
        " Done",
        "ERROR: No such command",
        "\t\"servce\" is not known; did you mean service?",
        "ERROR: Resource already exists [name, web]",
        "\t*",
        " Done",
        "ERROR: No such resource [name, nobody]",
        "\t*",
        " Done",
        " Done",
        "\tComment: \"two words\"",
        " Done",
        "Warning: Feature(s) not enabled [CS]",
        " Done",
        "Warning: The line is kept and saved, and nothing here acts on it",
        " Done",
        "ERROR: Ambiguous command name",
        "\t\"s\" could be set, show, stat, save, scp, shell, shutdown, source, start, stop, switch, sync; write more of it",
        "\tUserName: owner",
        " Done",
        " Done",
    ];
    let (printed, code) = batch(&data, lines);
    assert_eq!((printed.lines().count(), code), (expected.len(), Some(1)), "{printed}");
    for (line, expected) in printed.lines().zip(expected) {
        assert!(line == expected || expected == "\t*" && line.starts_with('\t'), "{line}: {printed}");
    }
    let (_, servers) = program.nitro("/nitro/v1/config/server");
    assert_eq!(servers["server"][0]["name"], "s", "what follows 'exit' is not carried out");
    let (_, services) = program.nitro("/nitro/v1/config/service");
    assert_eq!(services.get("service"), None);
    assert_eq!(
        batch(&data, "show server\n\n#\n"),
        ("1)\tName:     s      State:ENABLED\n\tIPAddress:   127.0.0.9\n Done\n".to_owned(), Some(0))
    );
}

fn one_command_says_by_its_exit_code_whether_it_was_carried_out() {
    let place = Place::new();
    let (program, data) = program(&place);
    let done = (Some(0), " Done\n".to_owned(), String::new());
    let comment = ["set", "server", "s", "-comment", "two words"];
    assert_eq!(one(&data, &comment), done, "the shell took the quotes away");
    let (_, server) = program.nitro("/nitro/v1/config/server/s");
    assert_eq!(server["server"][0]["comment"], "two words");
    assert_eq!(one(&data, &["save c"]), done);
    let saved = fs::read_to_string(program.config_path()).unwrap();
    assert!(saved.contains("add server s 127.0.0.9 -comment \"two words\""), "{saved}");
    let shown = |text: &str| (Some(0), format!("{text} Done\n"), String::new());
    assert_eq!(one(&data, &["sh", "save"]), shown(&saved), "the saved configuration");
    assert_eq!(one(&data, &["add server t 127.0.0.8"]), done);
    assert_eq!(one(&data, &["sh run | grep ' t '"]), shown("add server t 127.0.0.8\n"));
    assert_eq!(one(&data, &["diff ns config"]), shown("+ add server t 127.0.0.8\n"));
    let asks = "ERROR: Are you sure you want to clear the configuration(Y/N)? [N]:\n";
    let (code, out, error) = one(&data, &["clear", "ns", "config", "full"]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(error.starts_with(asks) && error.contains("-force"), "{error}");
    assert_eq!(one(&data, &["cle c -f full"]), done);
    assert_eq!(one(&data, &["show server"]), done, "nothing is left");
    let (code, _, error) = one(&data, &["shutdown"]);
    assert!(code == Some(1) && error.starts_with("ERROR: "), "what is not done is no success: {error}");
    let (code, out, _) = one(&data, &["help", "add", "server"]);
    assert!(
        code == Some(0) && out.starts_with("Usage: add server <name>@") && out.ends_with(" Done\n"),
        "{out}"
    );
    let (code, out, error) = one("/nowhere", &["whoami"]);
    assert!(code == Some(1) && out.is_empty() && error.starts_with("steelyard: "), "{error}");
}

fn files_of_commands_are_read_and_their_answers_written() {
    let place = Place::new();
    let (program, data) = program(&place);
    let file = program.data().join("commands");
    let outfile = program.data().join("answers");
    fs::write(&file, "# two\nadd server a 127.0.0.1\r\nshow server a\nexit\nadd server never 127.0.0.2\n")
        .unwrap();
    let (file, out) = (file.to_str().unwrap(), outfile.to_str().unwrap());
    let shown = "1)\tName:     a      State:ENABLED\n\tIPAddress:   127.0.0.1\n Done\n";
    assert_eq!(batch(&data, &format!("source {file}\n")), (format!(" Done\n{shown} Done\n"), Some(0)));
    let (printed, code) = batch(&data, &format!("batch -f {file} -o {out} -n 2\nshow server never\n"));
    assert!(printed.starts_with(" Done\nERROR: No such resource [name, never]\n"), "{printed}");
    assert_eq!(code, Some(1));
    let once = |text: &str| text.matches("ERROR: Resource already exists [name, a]\n").count();
    let answers = fs::read_to_string(out).unwrap();
    assert_eq!((once(&answers), answers.matches(shown).count()), (2, 2), "{answers}");
    for (line, error) in [
        ("source /nowhere/at/all", "ERROR: No such file [/nowhere/at/all]\n"),
        ("source", "ERROR: Required argument missing [fileName]\n"),
        ("batch -fileName", "ERROR: Required argument value missing [-fileName]\n"),
        ("batch -fileName x -ntimes 0", "ERROR: Invalid argument value [ntimes]\n"),
    ] {
        let (printed, code) = batch(&data, line);
        assert!(printed.starts_with(error) && code == Some(1), "{line}: {printed}");
    }
    let own = program.data().join("itself");
    fs::write(&own, format!("source {}\n", own.display())).unwrap();
    let (printed, _) = batch(&data, &format!("source {}\n", own.display()));
    assert_eq!(printed.matches("ERROR: ").count(), 1, "files that read themselves end: {printed}");
}

/// A line by `POST`: status, and the answer.
pub fn posted(program: &Program, fields: &str, line: &str) -> (u16, Value) {
    let body = json!({ "line": line }).to_string();
    let (nitro, length) = (program.nitro_address(), body.len());
    let answer = program.manage(format!(
        "POST /steelyard/v1/command HTTP/1.1\r\nHost: {nitro}\r\n{fields}Content-Length: {length}\r\n\r\n{body}"
    ));
    (answer.status(), serde_json::from_slice(&answer.body).unwrap())
}

fn whoever_may_not_give_a_command_by_nitro_may_not_type_it_either() {
    let place = Place::new();
    let (program, data) = program(&place);
    let lines = "add system user reader pass-word-1\nbind system user reader read-only 1\n\
                 add system cmdPolicy mine ALLOW \"^(set server|add lb monitor|add responder) .*\"\n\
                 add system user some pass-word-2\nbind system user some mine 1\n";
    assert_eq!(batch(&data, lines), (" Done\n".repeat(5), Some(0)));
    let (reader, some) = (by_password("reader", "pass-word-1"), by_password("some", "pass-word-2"));
    let outcome = |fields: &str, line: &str| {
        let (status, answer) = posted(&program, fields, line);
        (status, answer["errorcode"].as_u64().unwrap())
    };
    assert_eq!(outcome("", "set server s -comment x").0, 401);
    assert_eq!(outcome(&by_password("some", "wrong"), "set server s -comment x"), (401, 354));
    for line in [
        "set server s -comment x",
        "save c",
        "clear ns config -force full",
        "add resp policy p true NOOP",
        "kill system session -all",
    ] {
        assert_eq!(outcome(&reader, line), (403, 257), "{line}");
    }
    assert_eq!(outcome(&some, "se server s -com x"), (200, 0), "an abbreviation is judged in full");
    assert_eq!(outcome(&some, "add resp policy p true NOOP"), (200, 0));
    assert_eq!(outcome(&some, "add lb monitor m HTTP"), (200, 0));
    assert_eq!(outcome(&some, "add lb monitor u USER -scriptName x.pl"), (403, 257), "for superusers alone");
    assert_eq!(outcome(&some, "rm server s"), (403, 257));
    let (status, answer) = posted(&program, &by_password("nsroot", PASSWORD), "enab ns fea CS");
    assert_eq!(
        (status, answer["message"].as_str(), answer["warnings"].as_array().map(Vec::len)),
        (200, Some("Done"), Some(0))
    );
    let audit = fs::read_to_string(program.data().join("audit.log")).unwrap();
    assert!(audit.contains("set server s -comment x"), "{audit}");
    assert!(audit.contains("add responder policy p true NOOP"), "{audit}");
}

fn a_password_that_is_typed_is_nowhere_to_be_read() {
    let place = Place::new();
    let (program, data) = program(&place);
    let lines = "add system user u hunter2-hunter2\nadd aaa user w -password hunter2-hunter2\n\
                 add lb monitor m RADIUS -radKey hunter2-hunter2 -userName u -password hunter2-hunter2\n\
                 add system user v -password hunter2-hunter2 hunter2-hunter2 -foo\nsave ns config\nshow runningConfig\n";
    let (printed, _) = batch(&data, lines);
    assert!(!printed.contains("hunter2"), "{printed}");
    let folder = program.data();
    let config = fs::read_to_string(program.config_path()).unwrap();
    assert!(config.contains("add system user u"), "{config}");
    for file in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file())
    {
        let bytes = fs::read(&file).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("hunter2"), "{}", file.display());
    }
    assert!(!config.contains("hunter2") && !program.errors().contains("hunter2"));
    assert_eq!(posted(&program, &by_password("u", "hunter2-hunter2"), "whoami").0, 200, "it is the password");
}

fn lines_without_an_end_and_characters_that_a_terminal_obeys_do_no_harm() {
    let place = Place::new();
    let (program, data) = program(&place);
    let long = "x".repeat(1 << 20);
    let lines = format!(
        "add server {long} 127.0.0.1\nset server s -comment \"a\u{1b}[2Jb\"\nadd server \u{1b}]0;x\u{7} 1\nshow run\n"
    );
    let (printed, code) = batch(&data, &lines);
    assert_eq!(code, Some(1));
    assert!(printed.starts_with("ERROR: ") && printed.len() < 10_000, "one error, not the line again");
    assert!(!printed.contains(['\u{1b}', '\u{7}']), "{printed:?}");
    assert!(printed.contains("?[2Jb"), "{printed:?}");
    let (status, answer) =
        posted(&program, &by_password("nsroot", PASSWORD), &format!("add server {long} 127.0.0.1"));
    assert_eq!((status, answer["errorcode"].as_u64()), (599, Some(296)));
    let (_, answer) = posted(
        &program,
        &by_password("nsroot", PASSWORD),
        "add responder policy p true NOOP\nadd server x 127.0.0.1",
    );
    assert_eq!(answer["severity"], "ERROR", "one line is one command");
    let output = run_with_input(&["cli", "--data", &data], b"add server \xff 127.0.0.1\nwhoami\n");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.starts_with("ERROR: ") && printed.ends_with("\tUserName: owner\n Done\n"), "{printed}");
}

/// 296 of `nitro-errors.tsv`, wherever the line comes from; what comes behind it is carried out.
fn a_line_of_any_length_is_one_error_and_not_held() {
    let place = Place::new();
    let (program, data) = program(&place);
    let error = "ERROR: Message too long\n\ta line may have 65536 bytes; split it\n";
    let who = "\tUserName: owner\n Done\n";
    let most = 32 << 20;
    for (what, bytes) in
        [("x", 1 << 20), ("x", 4 * most), ("é", 1 << 20), (" é", 1 << 20), ("\0", 1 << 20), ("\"", 1 << 20)]
    {
        let line = format!("add server s -comment {}", what.repeat(bytes / what.len()));
        let lines = format!("{line}\nwhoami\n");
        let Some(output) = run_within(most as u64, &["cli", "--data", &data], lines.as_bytes()) else {
            return;
        };
        let printed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            (printed, output.status.code()),
            (format!("{error}{who}"), Some(1)),
            "{bytes} bytes of {what}"
        );
    }
    // One argument of a program has 128 KiB at most.
    let argument = "x".repeat(100_000);
    let many: Vec<&str> =
        ["set", "server", "s", "-comment"].into_iter().chain([argument.as_str(); 10]).collect();
    let refused = (Some(1), String::new(), error.to_owned());
    assert_eq!(one(&data, &many), refused);
    assert_eq!(one(&data, &[&format!("set server s -comment {argument}")]), refused);
    for bytes in [70_000, 1 << 20, 17 << 20] {
        let line = format!("set server s -comment {}", "x".repeat(bytes));
        let (status, answer) = posted(&program, &by_password("nsroot", PASSWORD), &line);
        let expected = match bytes {
            ..16_777_216 => (599, 296, "Message too long"),
            _ => (400, 1233, "Invalid JSON input [at most 16384 KiB]"),
        };
        let told = (status, answer["errorcode"].as_u64().unwrap(), answer["message"].as_str().unwrap());
        assert_eq!(told, expected, "{bytes} bytes");
    }
    assert_eq!(one(&data, &["show", "server"]).1.matches("Comment").count(), 0, "nothing was changed");
}

fn two_sessions_at_once_lose_no_change() {
    let place = Place::new();
    let (program, data) = program(&place);
    let commands =
        |name: &str| -> String { (0..50).map(|n| format!("add server {name}{n} 127.0.1.{n}\n")).collect() };
    let other = |name: &str| commands(name).replace("127.0.1.", "127.0.2.");
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| batch(&data, &commands("a")));
        let second = scope.spawn(|| batch(&data, &other("b")));
        (first.join().unwrap(), second.join().unwrap())
    });
    let done = (" Done\n".repeat(50), Some(0));
    assert_eq!((&first, &second), (&done, &done));
    let (_, servers) = program.nitro("/nitro/v1/config/server");
    assert_eq!(servers["server"].as_array().unwrap().len(), 101);
}

fn ranges_are_carried_out_as_a_whole_or_not_at_all() {
    let place = Place::new();
    let (program, data) = program(&place);
    assert_eq!(batch(&data, "add server r[1-3] 127.0.3.[1-3]\n"), (" Done\n".to_owned(), Some(0)));
    let (printed, _) = batch(&data, "add server r[3-5] 127.0.3.[3-5]\n");
    assert!(printed.starts_with("ERROR: Resource already exists [name, r3]\n"), "{printed}");
    let (_, servers) = program.nitro("/nitro/v1/config/server");
    assert_eq!(servers["server"].as_array().unwrap().len(), 4);
}
