//! The prompt over SSH, by OpenSSH's own client: who comes in, what is carried out, what is refused.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use crate::installed;
use crate::place::Place;
use crate::program::{EXECUTABLE, PASSWORD, Program};
use crate::service::wait_for;
use crate::ssh_client::{By, Ssh, left};

pub fn trials() -> Vec<Trial> {
    trials![
        a_command_is_carried_out_and_its_exit_code_comes_back,
        standard_input_is_a_batch,
        passwords_let_in_by_both_methods_and_wrong_ones_do_not,
        keys_let_in_and_those_that_are_weak_or_not_to_be_believed_do_not,
        no_shell_no_files_no_forwarding,
        a_user_at_the_prompt_is_that_user_and_not_the_owner,
        a_session_that_has_ended_never_becomes_the_owner,
    ]
}

const CONFIG: &str = "enable ns feature LB\n";

/// Users beside nsroot, each with its policy and a password that [`password_of`] tells.
fn with_users(program: &Program, users: &[(&str, &str)]) {
    for (user, policy) in users {
        let lines = [
            format!("add system user {user} {}", password_of(user)),
            format!("bind system user {user} {policy} 100"),
        ];
        for line in lines {
            assert_eq!(program.owner_says(&line), " Done\n", "{line}");
        }
    }
}

fn password_of(user: &str) -> String {
    format!("Password-of-{user}-1")
}

fn a_command_is_carried_out_and_its_exit_code_comes_back() {
    let place = Place::new();
    let Some(ssh) = Ssh::to(&place) else { return };
    let _program = Program::launch_ssh(&place, CONFIG);
    let by = By::password(PASSWORD);
    let done = (Some(0), " Done\n".to_owned(), String::new());
    assert_eq!(ssh.run("nsroot", by, "add server s1 192.0.2.1"), done);
    assert_eq!(ssh.run("nsroot", by, "set server s1 -comment \"two words\""), done);
    let (code, out, err) = ssh.run("nsroot", by, "sh ru | grep -i S1");
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(
        out.lines().skip(1).collect::<Vec<_>>(),
        ["add server s1 192.0.2.1 -comment \"two words\"", " Done"]
    );
    let (code, out, err) = ssh.run("nsroot", by, "add nonsense");
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(err.starts_with("ERROR: No such command\n"), "{err}");
}

fn standard_input_is_a_batch() {
    let place = Place::new();
    let Some(ssh) = Ssh::to(&place) else { return };
    let program = Program::launch_ssh(&place, CONFIG);
    let by = By::password(PASSWORD);
    let (code, out, err) =
        ssh.batch("nsroot", by, "# a remark\nadd server a 192.0.2.1\n\nadd server b 192.0.2.2");
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), " Done\n Done\n", ""));
    let (code, out, _) = ssh.batch("nsroot", by, "rm server nobody\nrm server a\nexit\nrm server b\n");
    assert_eq!(
        (code, out.as_str()),
        (Some(1), "ERROR: No such resource [name, nobody]\n\tadd it in an earlier line\n Done\n")
    );
    let many: String =
        (0..2_000).map(|n| format!("add server many{n} 198.51.{}.{}\n", n / 250, n % 250)).collect();
    let (code, out, _) = ssh.batch("nsroot", by, &many);
    assert_eq!((code, out.matches(" Done\n").count()), (Some(0), 2_000));
    assert_eq!(program.running().matches("add server many").count(), 2_000);
}

fn passwords_let_in_by_both_methods_and_wrong_ones_do_not() {
    let place = Place::new();
    let Some(ssh) = Ssh::to(&place) else { return };
    let program = Program::launch_ssh(&place, CONFIG);
    with_users(&program, &[("reader", "read-only"), ("only-api", "read-only"), ("other", "read-only")]);
    program.done(
        "PUT",
        "systemuser",
        serde_json::json!({"systemuser": {"username": "only-api", "allowedmanagementinterface": ["API"]}}),
    );
    for method in ["password", "keyboard-interactive"] {
        let whoami = |user: &str, password: &str| ssh.run(user, By::Password(method, password), "whoami");
        assert_eq!(whoami("nsroot", PASSWORD).1, "\tUserName: nsroot\n Done\n", "{method}");
        assert_eq!(whoami("reader", &password_of("reader")).1, "\tUserName: reader\n Done\n", "{method}");
        for (user, password) in
            [("nsroot", "wrong"), ("nobody", PASSWORD), ("only-api", &password_of("only-api"))]
        {
            let (code, out, err) = whoami(user, password);
            assert_eq!((code, out.as_str()), (Some(255), ""), "{method} {user}");
            assert!(err.contains("Permission denied"), "{method} {user}: {err}");
        }
    }
    // From the fifth on a user waits, longer each time: with the right password, too. Whoever took longer than the wait
    // had none, and begins anew.
    let longest_wait = |since: usize| {
        let seconds = |[who, _, _, result]: [String; 4]| {
            let rest = result.strip_prefix("wrong password; the next attempt waits ")?.strip_suffix(" s")?;
            rest.parse().ok().filter(|_| who == "nsroot")
        };
        Duration::from_secs(program.audited().into_iter().skip(since).filter_map(seconds).max().unwrap_or(0))
    };
    let mut since = 0;
    loop {
        let began = Instant::now();
        assert_eq!(ssh.run("nsroot", By::password("wrong"), "whoami").0, Some(255));
        let wait = longest_wait(since);
        if wait < Duration::from_secs(4) {
            continue;
        }
        let is_in = ssh.run("nsroot", By::password(PASSWORD), "whoami").0 == Some(0);
        if began.elapsed() < wait {
            assert!(!is_in, "{wait:?}");
            break;
        }
        since = program.audited().len();
    }
    assert_eq!(
        ssh.run("other", By::password(&password_of("other")), "whoami").0,
        Some(0),
        "another user at the same source"
    );
    let source = place.ip().to_string();
    wait_for("the audit log", || {
        let all = program.audited();
        let has = |what: &str, result: &str| {
            all.iter().any(|[who, from, w, r]| {
                who == "nsroot" && *from != source && w == what && r.starts_with(result)
            })
        };
        has("login by SSH (password)", "Done")
            && has("logout", "Done")
            && has("login", "wrong password")
            && has("login", "wrong password; the next attempt waits")
    });
    wait_for("sessions to end with their connections", || program.sessions().is_empty());
}

fn keys_let_in_and_those_that_are_weak_or_not_to_be_believed_do_not() {
    let place = Place::new();
    let Some(ssh) = Ssh::to(&place) else { return };
    let program = Program::launch_ssh(&place, CONFIG);
    with_users(&program, &[("reader", "read-only")]);
    let kinds = [("ed25519", ""), ("ecdsa", "256"), ("rsa", "3072"), ("rsa", "1024")];
    let keys = kinds.map(|(kind, bits)| ssh.key(kind, bits));
    let lets_in = |user: &str, key: usize| ssh.run(user, By::Key(&keys[key].0), "whoami").0 == Some(0);
    assert!(!lets_in("nsroot", 0), "no file");
    let all: String = keys.iter().map(|(_, line)| line.as_str()).collect();
    let file = program.authorize("nsroot", &format!("# keys\n\n{all}"));
    assert_eq!([0, 1, 2, 3].map(|key| lets_in("nsroot", key)), [true, true, true, false], "not by 1024 bits");
    assert!(!lets_in("reader", 0) && !lets_in("../nsroot", 0) && !lets_in("nobody", 0));
    program.authorize("nobody", &all);
    assert!(!lets_in("nobody", 0), "no such user");
    let (code, out, _) = left(
        ssh.command("nsroot", By::Key(&keys[2].0), &["-n", "-o", "PubkeyAcceptedAlgorithms=ssh-rsa"])
            .arg("whoami")
            .output()
            .unwrap(),
    );
    assert!(code != Some(0) && out.is_empty(), "SHA-1");
    for (mode, is_believed) in [(0o666, false), (0o620, false), (0o644, true), (0o600, true)] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(lets_in("nsroot", 0), is_believed, "{mode:o}");
    }
    assert!(program.wait_for_error("authorized_keys.d/nsroot").contains("others may write it (mode 666)"));
    fs::write(&file, format!("{}from=\"192.0.2.1\" {}", keys[1].1, keys[0].1)).unwrap();
    assert!(!lets_in("nsroot", 0) && !lets_in("nsroot", 1), "options are not acted on");
    program.wait_for_error("line 2: no public key, or one with options");
    fs::write(&file, &keys[1].1).unwrap();
    assert!(!lets_in("nsroot", 0) && lets_in("nsroot", 1), "a key that is taken out is out");
    let fingerprint = ssh.fingerprint(&keys[1].0);
    wait_for("the audit log", || {
        let what = format!("login by SSH (public key {fingerprint})");
        program.audited().iter().any(|[who, _, w, result]| who == "nsroot" && *w == what && result == "Done")
    });
}

fn no_shell_no_files_no_forwarding() {
    let place = Place::new();
    let Some(ssh) = Ssh::to(&place) else { return };
    let program = Program::launch_ssh(&place, CONFIG);
    let (key, line) = ssh.key("ed25519", "");
    program.authorize("nsroot", &line);
    let by = By::Key(&key);
    let (code, out, err) = ssh.run("nsroot", by, "shell");
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert_eq!(err, "ERROR: Operation not permitted\n\tthere is no shell here; log in to the host itself\n");
    for line in
        ["/bin/sh -c id", "id; id", "show ns version; id", "show ns version\nid", "`id`", "scp -t /tmp"]
    {
        let (code, out, err) = ssh.run("nsroot", by, line);
        assert!(
            code == Some(1) && !out.contains("uid=") && err.starts_with("ERROR: "),
            "{line}: {code:?} {out} {err}"
        );
    }
    let target = format!("nsroot@{}", place.ip());
    let ends = |mut command: std::process::Command| {
        left(command.stdin(std::process::Stdio::null()).output().unwrap())
    };
    let (code, ..) = ends(ssh.client(installed::program("sftp").unwrap(), by, &[], &target));
    assert_eq!(code, Some(255), "sftp");
    for old in [&[][..], &["-O"]] {
        let mut copy =
            ssh.client(installed::program("scp").unwrap(), by, old, &format!("{target}:/etc/passwd"));
        copy.arg(place.folder("copied"));
        assert_ne!(ends(copy).0, Some(0), "scp {old:?}");
    }
    assert_eq!(fs::read_dir(place.folder("copied")).unwrap().count(), 0);
    // To the management port, by the program: the client's end is there, and nothing comes through it.
    let (_, out, err) = ends(ssh.command("nsroot", by, &["-W", &program.nitro_address().to_string()]));
    assert!(out.is_empty() && err.contains("forwarding failed"), "{err}");
    let remote = format!("{}:2299:{}", place.ip(), program.nitro_address());
    let (code, _, err) =
        ends(ssh.command("nsroot", by, &["-N", "-o", "ExitOnForwardFailure=yes", "-R", &remote]));
    assert!(code == Some(255) && err.contains("remote port forwarding failed"), "{code:?} {err}");
    let mut with_environment = ssh.command(
        "nsroot",
        by,
        &["-n", "-A", "-o", "SendEnv=STEELYARD_SESSION", "-o", "SetEnv=STEELYARD_SESSION=x"],
    );
    assert_eq!(left(with_environment.arg("whoami").output().unwrap()).1, "\tUserName: nsroot\n Done\n");
}

fn a_user_at_the_prompt_is_that_user_and_not_the_owner() {
    let place = Place::new();
    let Some(ssh) = Ssh::to(&place) else { return };
    let program = Program::launch_ssh(&place, CONFIG);
    with_users(&program, &[("reader", "read-only"), ("writer", "operator"), ("root2", "superuser")]);
    let file = place.file("commands", "add server from-file 192.0.2.9\n");
    let run = |user: &str, line: &str| ssh.run(user, By::password(&password_of(user)), line);
    let not_permitted = "ERROR: Operation not permitted\n";
    assert_eq!(run("reader", "show ns runningConfig | grep -c").0, Some(1));
    assert_eq!(run("reader", "show server").0, Some(0));
    for user in ["reader", "writer"] {
        for line in ["source", "batch -f", "check"] {
            assert_eq!(run(user, &format!("{line} {file}")).2, not_permitted, "{user} {line}");
        }
        let out = place.folder("written") + "/out";
        assert_eq!(run(user, &format!("batch -f {file} -outfile {out}")).2, not_permitted, "{user}");
        assert!(!fs::exists(out).unwrap());
    }
    assert_eq!(run("reader", "add server x 192.0.2.1").2, not_permitted);
    assert!(!program.running().contains("add server"));
    assert_eq!(run("root2", &format!("source {file}")).1, " Done\n Done\n");
    assert!(program.running().contains("add server from-file"));
    wait_for("the audit log", || {
        let all = program.audited();
        let has = |w: &str, what: &str, r: &str| {
            all.iter().any(|[who, _, line, result]| who == w && line == what && result == r)
        };
        has("root2", "add server from-file 192.0.2.9", "Done")
            && has("reader", &format!("source {file}"), "Operation not permitted")
    });
}

fn a_session_that_has_ended_never_becomes_the_owner() {
    let place = Place::new();
    let program = Program::launch_ssh(&place, CONFIG);
    let ended = program.log_in("nsroot", PASSWORD).unwrap();
    program.owner_says("kill system session -all");
    let asked = "{\"line\": \"add server x 192.0.2.1\"}".as_bytes();
    for id in [ended.as_str(), "##00", "-"] {
        for (method, path, body) in [
            ("POST", "/steelyard/v1/command", asked),
            ("POST", "/steelyard/v1/permission", asked),
            ("POST", "/steelyard/v1/complete", asked),
            ("GET", "/steelyard/v1/explain/v", b""),
            ("GET", "/metrics", b""),
            ("GET", "/nitro/v1/config/server", b""),
            ("GET", "/nitro/v1/stat/service", b""),
        ] {
            let mut stream = UnixStream::connect(program.data().join("nitro.sock")).unwrap();
            let cookie = format!("Cookie: NITRO_AUTH_TOKEN={id}\r\nContent-Length: {}", body.len());
            let head =
                format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{cookie}\r\n\r\n");
            stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.starts_with("HTTP/1.1 401 "), "{method} {path} {id}: {answer}");
        }
    }
    let data = program.data().to_str().unwrap();
    for id in [ended.as_str(), "", "\n", "x; NITRO_AUTH_TOKEN=y"] {
        for line in ["add server x 192.0.2.1", "show server", "source /dev/null", "whoami"] {
            let mut prompt = Command::new(EXECUTABLE);
            let output = prompt.args(["cli", "--data", data, line]).env("STEELYARD_SESSION", id).output();
            let (code, out, err) = left(output.unwrap());
            assert_eq!((code, out.as_str()), (Some(1), ""), "{id:?} {line}: {err}");
        }
    }
    assert!(!program.running().contains("add server"));
}
