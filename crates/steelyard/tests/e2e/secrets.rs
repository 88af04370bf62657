//! Secrets from outside: where the key is, what is said of a secret that is not here, and that none is ever printed.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU16;

use libtest_mimic::Trial;

use crate::client::page;
use crate::place::Place;
use crate::program::{Program, run_to_end};
use crate::service::TestService;

pub fn trials() -> Vec<Trial> {
    trials![
        the_first_secret_makes_the_key_and_none_is_printed,
        without_a_secret_nothing_is_written,
        a_key_that_others_can_read_seals_nothing,
        a_monitor_with_a_foreign_secret_is_unknown_until_it_is_supplied,
        a_sealed_secret_that_does_not_open_is_said_at_start,
        a_file_of_secrets_that_others_can_read_is_refused,
    ]
}

/// A path in the test's folder as an argument.
fn data(place: &Place) -> String {
    let ns_conf = place.file("none", "");
    Path::new(&ns_conf).with_file_name("data").to_str().unwrap().to_owned()
}

fn mode(path: &str) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn one_service(place: &Place, more: &str) -> String {
    let ip = place.ip();
    format!(
        "enable ns feature LB\nadd service s {ip} HTTP 8101\nadd lb vserver v HTTP {ip} 8000\n\
         bind lb vserver v s\n{more}"
    )
}

fn the_first_secret_makes_the_key_and_none_is_printed() {
    let place = Place::new();
    let _s = TestService::named(place.service(1), "s");
    let data = data(&place);
    let config = one_service(
        &place,
        "add lb monitor m HTTP -password hunter2\nset system user nsroot hunter2\nset lb monitor x LDAP -password hunter2\n\
         add lb monitor n HTTP -password hunter2 hunter2\n",
    );
    let program = Program::launch_with(&place, &config, &["--data", &data]);
    assert_eq!(page(place.vserver(0)), "s");
    assert_eq!((mode(&data), mode(&format!("{data}/seal.key"))), (0o700, 0o600));
    assert_eq!(fs::metadata(format!("{data}/seal.key")).unwrap().len(), 32);
    assert!(program.reload(&config).ends_with(": nothing changed"), "a secret that is the same is no change");
    let said = format!("{:?}{}", program.lines(), program.errors());
    assert!(!said.contains("hunter2"), "{said}");
    assert_eq!(program.errors().matches("********").count(), 2, "once at each reading: {}", program.errors());
}

fn without_a_secret_nothing_is_written() {
    let place = Place::new();
    let _s = TestService::named(place.service(1), "s");
    let data = data(&place);
    let foreign = "add lb monitor m LDAP -password 9db6 -encrypted -encryptmethod ENCMTHD_3\n";
    let program = Program::launch_with(&place, &one_service(&place, foreign), &["--data", &data]);
    let mut there: Vec<_> = fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    there.sort();
    assert_eq!(there, ["nitro.sock", "nsroot.password"], "the owner's door, and a hash");
    drop(program);
    fs::remove_dir_all(&data).unwrap();
    let plain = place.file("plain.conf", "add lb monitor m LDAP -password hunter2\n");
    let output = run_to_end(&["run", "--config", &plain, "--data", &data, "--no-listen"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(!Path::new(&data).exists(), "what only probes keeps nothing");
}

fn a_key_that_others_can_read_seals_nothing() {
    let place = Place::new();
    let _s = TestService::named(place.service(1), "s");
    let data = data(&place);
    fs::create_dir(&data).unwrap();
    let key = format!("{data}/seal.key");
    fs::write(&key, [7; 32]).unwrap();
    fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
    let config = one_service(&place, "add lb monitor m LDAP -password hunter2\n");
    let program = Program::launch_with(&place, &config, &["--data", &data]);
    let errors = program.errors();
    assert!(
        errors.contains("ns.conf:5:33: Operation not permitted [password]") && errors.contains("(mode 644)"),
        "{errors}"
    );
    assert_eq!((errors.lines().count(), page(place.vserver(0))), (1, "s".to_owned()));
}

fn a_monitor_with_a_foreign_secret_is_unknown_until_it_is_supplied() {
    let place = Place::new();
    let _s = TestService::with_status(place.service(1), "s", &Arc::new(AtomicU16::new(503)));
    let data = data(&place);
    let config = one_service(
        &place,
        "add lb monitor m HTTP -password 9db6 -encrypted -interval 100 MSEC -resptimeout 90 MSEC -retries 1\n\
         bind service s -monitorName m\n",
    );
    let path = place.file("ns.conf", &config);
    let arguments = ["run", "--config", &path, "--data", &data, "--no-listen"];
    let output = run_to_end(&arguments);
    let lines = String::from_utf8(output.stdout).unwrap();
    let of = |monitor: &str| {
        let line = lines.lines().find(|line| line.split_whitespace().any(|word| word == monitor));
        line.unwrap_or_else(|| panic!("{lines}")).to_owned()
    };
    let stands_in = of("tcp-default");
    assert!(stands_in.contains("  UP  "), "{lines}");
    assert!(stands_in.ends_with("  Success - TCP syn+ack received."), "{lines}");
    let said = "  Unknown - -password is encrypted by the appliance; supply it with --secrets.";
    assert!(of("m").ends_with(said), "{lines}");
    let secrets = place.file("secrets", "set lb monitor m HTTP -password hunter2\n");
    fs::set_permissions(&secrets, Permissions::from_mode(0o600)).unwrap();
    let output = run_to_end(&[&arguments[..], &["--secrets", &secrets]].concat());
    let lines = String::from_utf8(output.stdout).unwrap();
    let down = |line: &str| {
        line.contains("  DOWN  ") && line.ends_with("  Failure - HTTP response code 503 received.")
    };
    assert!(lines.lines().any(down), "{lines}");
}

fn a_sealed_secret_that_does_not_open_is_said_at_start() {
    let place = Place::new();
    let _s = TestService::named(place.service(1), "s");
    let data = data(&place);
    place.file("steelyard.conf", "set lb monitor m HTTP -password AQIDBA== -sealed\n");
    let config = one_service(&place, "add lb monitor m HTTP\nbind service s -monitorName m\n");
    let program = Program::launch_with(&place, &config, &["--data", &data]);
    let errors = program.errors();
    let expected = format!(
        "steelyard: monitor m is UNKNOWN: its -password cannot be opened: there is no {data}/seal.key; \
         supply it again with --secrets\n"
    );
    assert_eq!(errors, expected);
    let line = program.wait_for_line("  s ");
    assert!(line.contains("  UP  m: Unknown - -password was sealed with another key"), "{line}");
}

fn a_file_of_secrets_that_others_can_read_is_refused() {
    let place = Place::new();
    let path = place.file("ns.conf", "");
    let secrets = place.file("secrets", "set lb monitor m LDAP -password hunter2\n");
    fs::set_permissions(&secrets, Permissions::from_mode(0o640)).unwrap();
    let run = || run_to_end(&["run", "--config", &path, "--secrets", &secrets, "--no-listen"]);
    let output = run();
    let expected =
        format!("steelyard: --secrets {secrets}: others may read or write it (mode 640); chmod 600 it\n");
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(2), expected));
    fs::set_permissions(&secrets, Permissions::from_mode(0o600)).unwrap();
    let errors = String::from_utf8(run().stderr).unwrap();
    assert!(errors.starts_with(&format!("{secrets}:1:")) && errors.contains("No such resource"), "{errors}");
    assert!(!errors.contains("hunter2"), "{errors}");
}
