//! NetScaler's words in a shell's line: real shells on a terminal, and what their scripts ask of the program.

use std::io::Read;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use libtest_mimic::Trial;

use crate::installed;
use crate::place::Place;
use crate::program::{EXECUTABLE, PASSWORD, Program, run_to_end, run_with_input, start};
use crate::service::wait_for;
use crate::terminal::Terminal;

pub fn trials() -> Vec<Trial> {
    trials![
        tab_in_bash_completes_words_of_netscaler,
        tab_in_zsh_completes_words_of_netscaler,
        tab_in_fish_completes_words_of_netscaler,
        bash_lists_what_may_stand_there_and_nothing_else,
        fish_lists_what_may_stand_there_and_nothing_else,
        names_come_from_the_program_that_the_line_names,
        names_are_offered_to_those_alone_who_may_show_them,
        words_are_offered_where_no_program_answers,
        nobody_is_asked_for_a_password_and_none_is_sent,
        a_list_that_is_cut_short_says_so,
        no_script_offers_what_help_does_not_show,
    ]
}

const CONFIG: &str = "enable ns feature LB\nadd server web1 127.0.0.9\nadd server web2 127.0.0.10\n\
                      add server 2001:db8::10 2001:db8::10\nadd server 2001:db8::20 2001:db8::20\n\
                      add server a#b=c@d 127.0.0.11\n\
                      add server zebra 127.0.0.12\nadd server zEbu 127.0.0.13\nadd service \"my service\" web1 HTTP 8102\n\
                      add lb vserver v1 HTTP\n";

/// What is typed before Tab, behind the name of the program, and the arguments that the shell then gives it. DATA is the data
/// directory of a program that runs.
const TYPED: &[(&str, &[&str])] = &[
    ("cli --data DATA sh", &["cli", "--data", "DATA", "show"]),
    ("cli --data DATA add lb vs", &["cli", "--data", "DATA", "add", "lb", "vserver"]),
    // A word that begins with a hyphen, and in another case.
    ("cli set lb vserver v1 -lbme", &["cli", "set", "lb", "vserver", "v1", "-lbMethod"]),
    (
        "cli set lb vserver v1 -lbMethod leastc",
        &["cli", "set", "lb", "vserver", "v1", "-lbMethod", "LEASTCONNECTION"],
    ),
    // A name with a blank, in each kind of quotes.
    ("cli --data DATA show service m", &["cli", "--data", "DATA", "show", "service", "my service"]),
    ("cli --data DATA show service my\\ s", &["cli", "--data", "DATA", "show", "service", "my service"]),
    ("cli --data DATA show service \"my s", &["cli", "--data", "DATA", "show", "service", "my service"]),
    ("cli --data DATA show service 'm", &["cli", "--data", "DATA", "show", "service", "my service"]),
    // Signs at which bash begins another word.
    ("cli --data DATA rm server 2001:db8::1", &["cli", "--data", "DATA", "rm", "server", "2001:db8::10"]),
    ("cli --data DATA rm server '2001:db8::1", &["cli", "--data", "DATA", "rm", "server", "2001:db8::10"]),
    ("cli --data DATA rm server a", &["cli", "--data", "DATA", "rm", "server", "a#b=c@d"]),
    ("cli --data DATA rm server a\\#b=", &["cli", "--data", "DATA", "rm", "server", "a#b=c@d"]),
    // All of the line in one word: the prompt's quotes are inside the shell's.
    ("cli --data DATA \"show service m", &["cli", "--data", "DATA", "show service 'my service'"]),
    ("cli 'add lb mon", &["cli", "add lb monitor"]),
    // Two begin so: what they have in common.
    ("cli --data DATA rm server w", &["cli", "--data", "DATA", "rm", "server", "web"]),
    // They are not written alike: nothing of what is typed is taken back.
    ("cli --data DATA rm server zeb", &["cli", "--data", "DATA", "rm", "server", "zeb"]),
    ("explain --data DATA v", &["explain", "--data", "DATA", "v1"]),
    // Options of the program itself stand before its command alone.
    ("cli --js", &["cli", "--json"]),
    ("cli show server --js", &["cli", "show", "server", "--json"]),
    ("cli source DATA/lin", &["cli", "source", "DATA/lines.conf"]),
    ("cli nonsense lin", &["cli", "nonsense", "lin"]),
];

/// Types each line in a shell on a terminal, with Tab behind it, and sees by the shell's own `printf` what it means.
fn by_tab(mut shell: Command, set_up: &str, script: &str) {
    let place = Place::new();
    let program = Program::launch(&place, CONFIG);
    let data = program.data().to_str().unwrap();
    std::fs::write(program.data().join("lines.conf"), "show server web1\n").unwrap();
    let folder = Path::new(EXECUTABLE).parent().unwrap().to_str().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let home = place.folder("home");
    shell.env("PATH", format!("{folder}:{path}")).env("HOME", &home).env("INPUTRC", "/dev/null");
    shell.current_dir(program.data());
    for variable in ["STEELYARD_SESSION", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "HISTFILE"] {
        shell.env_remove(variable);
    }
    let file = place.file("script", &printed(&["completions", script]));
    let Some(terminal) = Terminal::of(&shell) else { return };
    // What is typed is seen, too, and must not be taken for what is printed.
    terminal.types(&format!("{set_up}source {file}; printf '%s\\n' rea''dy\r"));
    terminal.waits_for_text("ready\r\n");
    let running = program.running();
    for (number, (typed, arguments)) in TYPED.iter().enumerate() {
        let typed = typed.replace("DATA", data);
        terminal.types(&format!("steelyard {typed}\t; echo\x01printf '<%s>' {number} \r"));
        let all: String = arguments.iter().map(|word| format!("<{}>", word.replace("DATA", data))).collect();
        terminal.waits_for_text(&format!("<{number}><steelyard>{all}\r\n"));
    }
    terminal.types(&format!("steelyard cli --data {data} show service m\t\r"));
    terminal.waits_for_text("my service (127.0.0.9:8102) - HTTP\r\n");
    assert_eq!(program.running(), running);
}

fn tab_in_bash_completes_words_of_netscaler() {
    let Some(mut bash) = installed::program("bash") else { return };
    bash.args(["--norc", "--noprofile", "-i"]);
    by_tab(bash, "", "bash");
}

fn tab_in_zsh_completes_words_of_netscaler() {
    let Some(mut zsh) = installed::program("zsh") else { return };
    zsh.args(["-f", "-i"]);
    by_tab(zsh, "autoload -U compinit; compinit -D -u; ", "zsh");
}

fn tab_in_fish_completes_words_of_netscaler() {
    let Some(mut fish) = installed::program("fish") else { return };
    fish.args(["--no-config", "-i"]);
    by_tab(fish, "", "fish");
}

fn printed(arguments: &[&str]) -> String {
    let output = run_to_end(arguments);
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn lines(output: Output) -> Vec<String> {
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// What the script asks on Tab at the end of a line: the exit code, and the words that are told, without what they are.
fn asked(line: &str, variables: &[(&str, &str)]) -> (Option<i32>, Vec<String>) {
    let mut command = Command::new(EXECUTABLE);
    command.args(["completions", "zsh", "--line", line]).stdin(Stdio::null());
    command.env_remove("STEELYARD_SESSION").env_remove("STEELYARD_PASSWORD").envs(variables.iter().copied());
    let output = command.output().unwrap();
    let word = |line: &String| line.split('\t').next().unwrap().to_owned();
    (output.status.code(), lines(output).iter().map(word).collect())
}

/// The words that may stand there.
fn offered(line: &str) -> Vec<String> {
    let (code, words) = asked(line, &[]);
    assert_eq!(code, Some(0), "{line}: {words:?}");
    words
}

fn bash_lists_what_may_stand_there_and_nothing_else() {
    let place = Place::new();
    let script = place.file("script", &printed(&["completions", "bash"]));
    // What bash does on Tab at the end of a line that has no quotes: it calls the function that is registered for the command.
    let ask = "source \"$1\"; COMP_LINE=$2; COMP_POINT=${#2}; COMP_WORDS=($2); [[ $2 != *' ' ]] || COMP_WORDS+=(''); \
               COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); \
               _steelyard \"$3\" \"${COMP_WORDS[COMP_CWORD]}\" \"${COMP_WORDS[COMP_CWORD-1]}\"; printf '%s\\n' \"${COMPREPLY[@]}\"";
    for (line, expected) in [
        ("cli add lb vs", &["vserver"][..]),
        ("cli set lb vserver v -lb", &["-lbMethod", "-lbprofilename"]),
        ("cli set lb vserver v -lbMethod LEASTR", &["LEASTRESPONSETIME", "LEASTREQUEST"]),
        ("cli show serv", &["server", "service", "serviceGroup", "serviceGroupBindings"]),
        ("cli --insec", &["--insecure"]),
        ("explain v --form", &["--format"]),
        ("explain v --format ", &["text", "json"]),
        ("cli nonsense ", &[""]),
    ] {
        let Some(mut bash) = installed::program("bash") else { return };
        bash.args([
            "--norc",
            "--noprofile",
            "-c",
            ask,
            "bash",
            &script,
            &format!("{EXECUTABLE} {line}"),
            EXECUTABLE,
        ]);
        let mut found = lines(bash.current_dir(place.folder("empty")).stdin(Stdio::null()).output().unwrap());
        let mut expected = expected.to_vec();
        found.sort();
        expected.sort_unstable();
        assert_eq!(found, expected, "{line}");
    }
}

fn fish_lists_what_may_stand_there_and_nothing_else() {
    let place = Place::new();
    let script = place.file("script", &printed(&["completions", "fish"]));
    let folder = Path::new(EXECUTABLE).parent().unwrap().to_str().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    for (line, expected) in [
        (
            "cli set lb vserver v -lb",
            &["-lbMethod\tHow a service is chosen.", "-lbprofilename\tLoad balancing profile."][..],
        ),
        ("cli add lb mon", &["monitor\tHow services are probed."]),
        ("cli --insec", &["--insecure\tBelieve any certificate: whoever is between reads the password"]),
        ("cli show server --insec", &[]),
        ("explain v --form", &["--format\tA table for people, or JSON for programs"]),
        ("cli nonsense ", &[]),
    ] {
        let Some(mut fish) = installed::program("fish") else { return };
        fish.args([
            "--no-config",
            "-c",
            "source $argv[1]; complete -C $argv[2]",
            &script,
            &format!("steelyard {line}"),
        ]);
        fish.env("PATH", format!("{folder}:{path}")).env("HOME", place.folder("home"));
        let found = lines(fish.current_dir(place.folder("empty")).stdin(Stdio::null()).output().unwrap());
        assert_eq!(found, expected, "{line}");
    }
}

fn names_come_from_the_program_that_the_line_names() {
    let place = Place::new();
    let program = Program::launch(&place, CONFIG);
    let data = program.data().to_str().unwrap();
    let (nowhere, beside) = (place.folder("nowhere"), place.folder("beside"));
    std::os::unix::fs::symlink(data, format!("{beside}/$x")).unwrap();
    for (line, expected) in [
        (format!("cli --data {data} show service m"), &["my service"][..]),
        (format!("cli --data={data} --json show service m"), &["my service"]),
        (format!("cli --data '{data}' rm server web"), &["web1", "web2"]),
        (format!("cli --data {data} rm server web1 w"), &["web2"]),
        (format!("explain --last 3 --data {data} "), &["v1"]),
        (format!("explain --data {data} v1 "), &[]),
        (format!("cli --data '{beside}/$x' rm server web"), &["web1", "web2"]),
        // What the word says only the shell knows.
        (format!("cli --data {beside}/$x rm server web"), &[]),
        (format!("cli --data {nowhere} show service m"), &[]),
        (format!("cli --data {nowhere} rm server web"), &[]),
    ] {
        let (code, words) = asked(&format!("steelyard {line}"), &[]);
        assert_eq!(words, expected, "{line}");
        assert_eq!(
            code,
            Some(if line.starts_with("explain") && expected.is_empty() { 4 } else { 0 }),
            "{line}"
        );
    }
    let home = program.data().parent().unwrap().to_str().unwrap();
    let (_, words) = asked("steelyard cli --data ~/data rm server web", &[("HOME", home)]);
    assert_eq!(words, ["web1", "web2"]);
}

fn names_are_offered_to_those_alone_who_may_show_them() {
    let place = Place::new();
    let program = Program::launch(&place, CONFIG);
    let data = program.data().to_str().unwrap();
    let input = "add system user some pass-word-2\nadd system cmdPolicy one ALLOW \"^show server web2$\"\n\
                 bind system user some one 1\n";
    let output = run_with_input(&["cli", "--data", data], input.as_bytes());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), " Done\n".repeat(3));
    let session = program.log_in("some", "pass-word-2").unwrap();
    let line = format!("steelyard cli --data {data} rm server w");
    assert_eq!(asked(&line, &[("STEELYARD_SESSION", &session)]), (Some(0), vec!["web2".to_owned()]));
    assert_eq!(offered(&line), ["web1", "web2"]);
    // Of a session that is none nothing is told.
    assert_eq!(asked(&line, &[("STEELYARD_SESSION", "none")]), (Some(0), vec![]));
}

fn words_are_offered_where_no_program_answers() {
    let place = Place::new();
    let expected = ["server", "service", "serviceGroup", "serviceGroupBindings"];
    let data = place.folder("data");
    let line = format!("steelyard cli --data {data} show serv");
    assert_eq!(offered(&line), expected, "there is no socket");
    let socket = Path::new(&data).join("nitro.sock");
    let silent = UnixListener::bind(&socket).unwrap();
    // A command waits for an answer; who only presses Tab goes on before that.
    let mut command = start(&["cli", "--data", &data, "show", "server"]);
    let waiting = silent.accept().unwrap();
    assert_eq!(offered(&line), expected, "there is one that says nothing");
    assert_eq!(command.try_wait().unwrap(), None, "the command waits no more");
    let mut asked = Vec::new();
    silent.accept().unwrap().0.read_to_end(&mut asked).unwrap();
    assert!(asked.starts_with(b"POST /steelyard/v1/complete "), "it was asked");
    command.kill().unwrap();
    command.wait().unwrap();
    drop(waiting);
    drop(silent);
    assert_eq!(offered(&line), expected, "a program that was killed has left it");
    assert_eq!(offered("steelyard cli add lb mon"), ["monitor"]);
    assert_eq!(offered("steelyard cli add lb monitor m tcp"), ["TCP", "TCP-ECV"]);
}

fn nobody_is_asked_for_a_password_and_none_is_sent() {
    let place = Place::new();
    let listener = TcpListener::bind(place.nitro()).unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}", place.nitro());
    let password = place.file("password", PASSWORD);
    let line = format!("steelyard cli --nitro {url} --user u show serv");
    let by_file = format!("steelyard cli --nitro {url} --password-file {password} show serv");
    for line in [&line, &by_file] {
        let (code, words) = asked(line, &[("STEELYARD_PASSWORD", PASSWORD)]);
        assert_eq!((code, words.len()), (Some(0), 4), "{words:?}");
    }
    let Some(mut terminal) = Terminal::start(&["completions", "zsh", "--line", &line]) else { return };
    assert_eq!(terminal.end(), Ok(0));
    wait_for("what was printed", || terminal.transcript().contains("serviceGroupBindings\t"));
    assert!(!terminal.transcript().contains("assword"));
    let connected = listener.accept().map(|(_, from)| from);
    assert_eq!(connected.unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

/// Of 600 names 500 are told: a shell must not go on with what those alone have in common.
fn a_list_that_is_cut_short_says_so() {
    let place = Place::new();
    let server = |n: u32, kind: char| format!("add server web-{kind}{n} 10.1.{}.{}\n", n / 100, n % 100 + 1);
    let config: String = (0..600).map(|n| if n < 500 { server(n, 'a') } else { server(n, 'b') }).collect();
    let program = Program::launch(&place, &config);
    let data = program.data().to_str().unwrap();
    for (typed, last) in [("", "web-..."), ("web-", "web-..."), ("WEB", "web-...")] {
        let words = offered(&format!("steelyard cli --data {data} rm server {typed}"));
        assert_eq!((words.len(), words.last().map(String::as_str)), (501, Some(last)), "{typed}");
    }
    let output =
        run_to_end(&["completions", "fish", "--line", &format!("steelyard cli --data {data} rm server w")]);
    assert!(String::from_utf8(output.stdout).unwrap().ends_with("\nweb-...\tand 100 more\n"));
}

fn no_script_offers_what_help_does_not_show() {
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&["completions", shell]);
        // Every long option that it offers is one of a command's help.
        let commands = ["run", "check", "demo", "lab", "cli", "explain", "completions", "man"];
        let help: String = commands.iter().map(|command| printed(&[command, "--help"])).collect();
        for hidden in ["own-terminal", "word"] {
            assert!(!help.contains(&format!("--{hidden}")), "{hidden}");
            assert!(!script.contains(&format!("'--{hidden}")), "{shell}: {hidden}");
            assert!(!script.contains(&format!("-l {hidden}")), "{shell}: {hidden}");
            assert!(!script.contains(&format!(" --{hidden} -")), "{shell}: {hidden}");
        }
    }
}
