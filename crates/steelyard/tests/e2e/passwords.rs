//! Passwords: hashes of appliances, nsroot's first one, where none of them is to be read, and the audit log.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use aws_lc_rs::{digest, pbkdf2};
use libtest_mimic::Trial;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::{EXECUTABLE, PASSWORD, PASSWORD_VARIABLE, Program, run_to_end};
use crate::service::wait_for;
use crate::users::by_password;

pub fn trials() -> Vec<Trial> {
    trials![
        hashes_of_appliances_let_their_users_in,
        nsroot_has_a_password_from_the_first_start_on_and_none_that_is_known,
        a_password_is_in_no_file_no_answer_and_no_line,
        the_lab_lets_in_by_the_password_that_it_prints,
        each_change_is_noted_down_with_who_and_from_where,
    ]
}

fn beside(program: &Program) -> PathBuf {
    Path::new(program.config_path()).with_file_name("steelyard.conf")
}

/// What an appliance would have made of these passwords, by the published descriptions of its forms.
fn hashes_of_appliances_let_their_users_in() {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let salted = |algorithm, salt: &str, password: &str| {
        hex(digest::digest(algorithm, format!("{salt}{password}\0").as_bytes()).as_ref())
    };
    let salt: Vec<u8> = (0..32).collect();
    let mut derived = [0; 32];
    let rounds = std::num::NonZeroU32::new(2_500).unwrap();
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, rounds, &salt, b"pbkdf2.Password", &mut derived);
    let sha1 = format!(
        "1{}",
        "4dfca1e6".to_owned() + &salted(&digest::SHA1_FOR_LEGACY_USE_ONLY, "4dfca1e6", "sha1.Password")
    );
    let sha512 =
        format!("2{}", "f9282ade".to_owned() + &salted(&digest::SHA512, "f9282ade", "sha512.Password"));
    let pbkdf2 = format!("5{}{}", hex(&salt), hex(&derived));
    let place = Place::new();
    let text = format!(
        "add system user a {sha1} -encrypted\nadd system user b {sha512} -encrypted -hashmethod SHA512\n\
         add system user c {pbkdf2} -encrypted\nadd system user d ff00 -encrypted\n\
         set system user nsroot {sha512} -encrypted -hashmethod SHA512\n"
    );
    let program = Program::launch(&place, &text);
    let errors = program.errors();
    assert!(
        errors.contains("user d cannot log in: the appliance's form of the password is unknown"),
        "{errors}"
    );
    for (user, password) in [
        ("a", "sha1.Password"),
        ("b", "sha512.Password"),
        ("c", "pbkdf2.Password"),
        ("nsroot", "sha512.Password"),
    ] {
        assert!(program.log_in(user, "wrong").is_err());
        assert!(program.log_in(user, password).is_ok(), "{user}");
        assert!(program.log_in(user, password).is_ok(), "{user}, by the better hash");
    }
    assert_eq!(program.log_in("d", "ff00"), Err((401, 354)));
    assert_eq!(program.log_in("nsroot", PASSWORD), Err((401, 354)), "the file has one");
    let (_, answer) = program.owner("GET", "nsconfig", None);
    assert_eq!(answer["nsconfig"]["configchanged"], false, "a login is no change");
    program.owner("PUT", "lbparameter", Some(&json!({"lbparameter": {"startuprrfactor": 3}})));
    assert_eq!(program.owner("POST", "nsconfig?action=save", None).0, "HTTP/1.1 200 OK");
    let saved = fs::read_to_string(program.config_path()).unwrap();
    for hash in [&sha1, &sha512, &pbkdf2] {
        assert!(saved.contains(hash), "an appliance can have it back: {saved}");
    }
    assert!(!saved.contains("argon2"), "{saved}");
    let beside = beside(&program);
    let own = fs::read_to_string(&beside).unwrap();
    assert_eq!(own.matches("$argon2id$").count(), 4, "{own}");
    assert_eq!(fs::metadata(&beside).unwrap().mode() & 0o777, 0o600);
    drop(program);
    let program = Program::launch(&place, &saved);
    assert!(program.log_in("c", "pbkdf2.Password").is_ok());
}

fn nsroot_has_a_password_from_the_first_start_on_and_none_that_is_known() {
    let place = Place::new();
    let data = place.folder("first");
    let start = |variable: Option<&str>, arguments: &[&str]| {
        let mut command = Command::new(EXECUTABLE);
        match variable {
            Some(password) => command.env(PASSWORD_VARIABLE, password),
            None => command.env_remove(PASSWORD_VARIABLE),
        };
        let config = place.file("ns.conf", "");
        Program::launch_as(command, &place, &config, &data, arguments)
    };
    let program = start(None, &[]);
    let line = program.wait_for_error("nsroot's password is ");
    let made = line.split("nsroot's password is ").nth(1).unwrap().split(',').next().unwrap().to_owned();
    assert!(made.len() >= 20 && program.log_in("nsroot", &made).is_ok(), "{line}");
    for wrong in ["", "nsroot", "admin"] {
        assert!(program.log_in("nsroot", wrong).is_err());
    }
    let kept = format!("{data}/nsroot.password");
    let hash = fs::read_to_string(&kept).unwrap();
    assert!(hash.starts_with("$argon2id$") && !hash.contains(&made), "{hash}");
    assert_eq!(fs::metadata(&kept).unwrap().mode() & 0o777, 0o600);
    drop(program);
    let program = start(Some("another"), &[]);
    assert!(!program.errors().contains("password"), "it is shown once: {}", program.errors());
    assert!(program.log_in("nsroot", &made).is_ok() && program.log_in("nsroot", "another").is_err());
    drop(program);
    fs::remove_file(&kept).unwrap();
    let program = start(Some("by.Environment"), &[]);
    assert!(program.log_in("nsroot", "by.Environment").is_ok());
    drop(program);
    fs::remove_file(&kept).unwrap();
    let file = place.file("password", "by.File\n");
    fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
    let program = start(Some("by.Environment"), &["--nsroot-password-file", &file]);
    assert!(program.log_in("nsroot", "by.File").is_ok());
    drop(program);
    fs::remove_file(&kept).unwrap();
    fs::set_permissions(&file, PermissionsExt::from_mode(0o644)).unwrap();
    let config = place.file("ns.conf", "");
    let arguments = ["run", "--config", &config, "--data", &data, "--nsroot-password-file", &file];
    let output = run_to_end(&arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("others may read it (mode 644)") && error.lines().count() == 1, "{error}");
}

fn a_password_is_in_no_file_no_answer_and_no_line() {
    let place = Place::new();
    let program = Program::launch(&place, "add system user inFile \"in.File.hunter2\"\n");
    let root = by_password("nsroot", PASSWORD);
    let new =
        json!({"systemuser": {"username": "u", "password": "by.Nitro.hunter2", "timeout": 600}}).to_string();
    assert_eq!(program.outcome("POST", "systemuser", &root, &new), (201, 0));
    let without = r#"{"systemuser":{"username":"w"}}"#;
    assert_eq!(program.outcome("POST", "systemuser", &root, without), (400, 1095));
    let bad =
        json!({"systemuser": {"username": "u", "password": "by.Nitro.hunter2", "nosuch": "x"}}).to_string();
    assert_eq!(program.outcome("PUT", "systemuser", &root, &bad), (599, 278));
    assert!(
        program.log_in("u", "by.Nitro.hunter2").is_ok()
            && program.log_in("inFile", "in.File.hunter2").is_ok()
    );
    let (_, answer) = program.owner("GET", "systemuser/u", None);
    let row = &answer["systemuser"][0];
    assert_eq!(
        (&row["username"], &row["timeout"], &row["externalauth"]),
        (&json!("u"), &json!("600"), &json!("ENABLED"))
    );
    assert!(row.get("password").is_none(), "{row}");
    let mut said = vec![answer.to_string(), program.owner("GET", "nsrunningconfig", None).1.to_string()];
    assert_eq!(program.owner("POST", "nsconfig?action=save", None).0, "HTTP/1.1 200 OK");
    program.signal(Signal::HUP);
    program.wait_for_line("reloaded ");
    said.extend([program.errors(), program.lines().join("\n")]);
    said.push(fs::read_to_string(program.config_path()).unwrap());
    let audit = program.data().join("audit.log");
    wait_for("the reload in the audit log", || fs::read_to_string(&audit).unwrap().contains("SIGHUP"));
    said.push(fs::read_to_string(&audit).unwrap());
    for text in &said {
        assert!(!text.contains("hunter2") && !text.contains(PASSWORD) && !text.contains("$argon2"), "{text}");
    }
    let beside = fs::read_to_string(beside(&program)).unwrap();
    assert!(
        beside.contains("set system user u -password $argon2id$") && !beside.contains("hunter2"),
        "{beside}"
    );
    assert!(program.log_in("u", "by.Nitro.hunter2").is_ok(), "as it was saved");
}

fn each_change_is_noted_down_with_who_and_from_where() {
    let place = Place::new();
    let program = Program::launch(&place, "add system user u pw\nbind system user u read-only 1\n");
    let root = by_password("nsroot", PASSWORD);
    let server = json!({"server": {"name": "s", "ipaddress": "10.0.0.1"}}).to_string();
    assert_eq!(program.outcome("POST", "server", &root, &server), (201, 0));
    assert_eq!(program.outcome("POST", "server", &root, &server), (409, 273));
    assert_eq!(program.outcome("DELETE", "server/s", &by_password("u", "pw"), ""), (403, 257));
    assert_eq!(program.outcome("GET", "nsconfig", &root, ""), (200, 0));
    program.owner("DELETE", "server/s", None);
    program.owner("POST", "nsconfig?action=save", None);
    let path = program.data().join("audit.log");
    let lines = || -> Vec<Value> {
        let text = fs::read_to_string(&path).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    wait_for("five lines", || lines().len() == 5);
    let uid = format!("uid {}", rustix::process::getuid().as_raw());
    let added = "add server s 10.0.0.1";
    for (line, (who, from, what, result)) in lines().iter().zip([
        ("nsroot", "127", added, "Done"),
        ("nsroot", "127", added, "Resource already exists [name, s]"),
        ("u", "127", "rm server s", "Operation not permitted"),
        ("owner", &uid, "rm server s", "Done"),
        ("owner", &uid, "save ns config", "Done"),
    ]) {
        assert_eq!(
            (&line["who"], &line["what"], &line["result"]),
            (&json!(who), &json!(what), &json!(result))
        );
        assert!(line["from"].as_str().unwrap().starts_with(from), "{line}");
        assert!(line["time"].as_str().unwrap().ends_with('Z'), "{line}");
    }
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
}

/// Whatever the file says of nsroot.
fn the_lab_lets_in_by_the_password_that_it_prints() {
    let place = Place::new();
    let hash = "14dfca1e6c0f5f3d96526c3ce70849992b7fad3e324cf6b0f";
    let program = Program::lab(
        &place,
        &format!("set system user nsroot {hash} -encrypted\nadd lb vserver v HTTP 10.1.1.1 80\n"),
    );
    assert_eq!(program.nitro("/nitro/v1/stat/lbvserver").0, "HTTP/1.1 200 OK");
    assert_eq!(program.log_in("nsroot", "nsroot"), Err((401, 354)));
}
