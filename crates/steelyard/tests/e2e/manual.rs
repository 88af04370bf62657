//! Pages of the manual, read by a real reader, and scripts of shells, asked by a real shell.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use libtest_mimic::Trial;

use crate::installed;
use crate::place::Place;
use crate::program::{EXECUTABLE, run_to_end};

pub fn trials() -> Vec<Trial> {
    trials![
        every_page_of_the_manual_is_read_by_man,
        the_page_of_commands_has_what_the_rows_say,
        bash_completes_the_command_line,
        scripts_of_other_shells_name_every_command,
        what_cannot_be_printed_or_written_is_one_line,
    ]
}

fn printed(arguments: &[&str]) -> String {
    let output = run_to_end(arguments);
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A directory of this test's own.
fn folder(place: &Place) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("manual-{}", place.ip()));
    let _ = fs::remove_dir_all(&folder);
    folder
}

/// What `man` would show of a page.
fn shown(page: &PathBuf) -> Option<String> {
    let output =
        installed::program("mandoc")?.args(["-T", "ascii", "-O", "width=70"]).arg(page).output().unwrap();
    assert!(output.status.success(), "{}: {}", page.display(), String::from_utf8_lossy(&output.stderr));
    // Bold and italic are overstruck.
    let text = String::from_utf8(output.stdout).unwrap();
    let mut plain = String::new();
    for character in text.chars() {
        match character {
            '\x08' => drop(plain.pop()),
            character => plain.push(character),
        }
    }
    Some(plain.split_ascii_whitespace().collect::<Vec<_>>().join(" "))
}

fn every_page_of_the_manual_is_read_by_man() {
    let place = Place::new();
    let folder = folder(&place);
    assert_eq!(printed(&["man", "--out", folder.to_str().unwrap()]), "");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        "steelyard-check.1",
        "steelyard-cli.1",
        "steelyard-commands.7",
        "steelyard-completions.1",
        "steelyard-demo.1",
        "steelyard-explain.1",
        "steelyard-lab.1",
        "steelyard-man.1",
        "steelyard-run.1",
        "steelyard.1",
    ];
    assert_eq!(names, expected);
    for name in &names {
        let path = folder.join(name);
        let page = name.rsplit_once('.').unwrap().0;
        assert_eq!(fs::read_to_string(&path).unwrap(), printed(&["man", page]), "{page}");
        let Some(mut lint) = installed::program("mandoc") else { return };
        let output = lint.args(["-T", "lint", "-W", "error"]).arg(&path).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{name}: {said}");
        let Some(text) = shown(&path) else { return };
        let title = name.replace('.', "(") + ")";
        assert!(text.starts_with(&format!("{title} Steelyard {title} NAME {page} - ")), "{text}");
        assert!(text.contains(concat!("steelyard ", env!("CARGO_PKG_VERSION"))), "{text}");
    }
    // Every option of a command's help is in its page, with what is said of it.
    let Some(text) = shown(&folder.join("steelyard-run.1")) else { return };
    let help = printed(&["run", "--help"]);
    let options: Vec<&str> = help
        .split_ascii_whitespace()
        .filter(|word| word.starts_with("--"))
        .map(|word| word.trim_end_matches([',', '.', ')', ';']))
        .collect();
    assert!(options.len() > 15, "{options:?}");
    for option in options {
        assert!(text.contains(option), "{option} in {text}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

fn the_page_of_commands_has_what_the_rows_say() {
    let place = Place::new();
    let folder = folder(&place);
    printed(&["man", "--out", folder.to_str().unwrap()]);
    let Some(text) = shown(&folder.join("steelyard-commands.7")) else { return };
    for part in [
        "add lb vserver <name>@ <serviceType>",
        "-interval <integer [SEC|MSEC|MIN]> Time between two probes;",
        "-retries <positive_integer> Probes that decide whether a service is DOWN. 1 to 127. Default: 3.",
        "clear ns config",
        "explain <vserver>",
        "no appliance has it",
        "with the escapes \\r \\n \\t \\\" \\\\ \\xHH.",
    ] {
        assert!(text.contains(part), "{part}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

fn bash_completes_the_command_line() {
    let place = Place::new();
    let folder = folder(&place);
    fs::create_dir_all(&folder).unwrap();
    let script = folder.join("steelyard.bash");
    fs::write(&script, printed(&["completions", "bash"])).unwrap();
    // What bash does on Tab: it calls the function that is registered for the command.
    let ask = "source \"$1\"; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); \
               function=$(complete -p steelyard | sed 's/.* -F \\([^ ]*\\) .*/\\1/'); \
               $function steelyard \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"; printf '%s\\n' \"${COMPREPLY[@]}\"";
    for (words, expected) in [
        (&["steelyard", "ex"][..], &["explain"][..]),
        (&["steelyard", "c"], &["check", "cli", "completions"]),
        (&["steelyard", "explain", "--l"], &["--last"]),
        (&["steelyard", "check", "--format", ""], &["text", "json"]),
        (&["steelyard", "completions", ""], &["bash", "zsh", "fish"]),
        (&["steelyard", "run", "--assume"], &["--assume-features"]),
    ] {
        let Some(mut bash) = installed::program("bash") else { return };
        bash.args(["--norc", "--noprofile", "-c", ask, "bash"]).arg(&script).args(words);
        let output = bash.stdin(Stdio::null()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{words:?}");
        let offered = String::from_utf8(output.stdout).unwrap();
        let offered: Vec<&str> = offered.lines().filter(|word| !matches!(*word, "-h" | "--help")).collect();
        assert_eq!(offered, expected, "{words:?}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

fn scripts_of_other_shells_name_every_command() {
    for shell in ["zsh", "fish"] {
        let script = printed(&["completions", shell]);
        for command in ["run", "check", "demo", "lab", "cli", "explain", "completions", "man"] {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    assert!(printed(&["completions", "zsh"]).starts_with("#compdef steelyard\n"));
    assert!(printed(&["completions", "fish"]).contains("complete -c steelyard "));
}

fn what_cannot_be_printed_or_written_is_one_line() {
    for (arguments, code, part) in [
        (&["man", "nothing"][..], 2, "the manual has no page 'nothing'; it has steelyard, "),
        (&["man", "--out", EXECUTABLE], 1, "give a directory that can be written"),
        (&["man", "steelyard", "--out", "x"], 2, "cannot be used with"),
        (&["completions", "csh"], 2, "csh"),
        (&["completions"], 2, "SHELL"),
    ] {
        let output = run_to_end(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(code), 0), "{arguments:?}: {error}");
        assert!(error.contains(part) && error.lines().count() == 1, "{arguments:?}: {error}");
    }
}
