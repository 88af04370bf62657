//! Users: logins by every header field that clients use, sessions and their ends, lockout, command policies.

use std::fs;
use std::net::{IpAddr, SocketAddr};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::client::Client;
use crate::message::Message;
use crate::place::Place;
use crate::program::{PASSWORD, Program};
use crate::service::wait_for;

pub fn trials() -> Vec<Trial> {
    trials![
        a12_five_thousand_logins_lock_nobody_out,
        a_session_is_known_by_whatever_field_brings_it,
        older_clients_log_in_by_a_form_and_send_the_session_with_the_object,
        whoever_is_not_let_in_is_told_so_in_the_words_that_clients_know,
        a_session_without_requests_ends_and_so_does_one_that_is_killed,
        another_password_ends_the_sessions_of_its_user_but_the_one_that_gave_it,
        wrong_passwords_lock_out_a_user_at_a_source_and_nobody_else,
        a_storm_of_wrong_passwords_keeps_nobody_else_out,
        built_in_and_own_policies_say_who_may_do_what,
    ]
}

const CONFIG: &str = "/nitro/v1/config/";

/// A login from another address of this host: its status.
fn log_in_from(source: IpAddr, program: SocketAddr, user: &str, password: &str) -> u16 {
    posted_login(&mut Client::connect_from(source, program), &login(user, password)).status()
}

fn posted_login(client: &mut Client, body: &str) -> Message {
    let head = "POST /nitro/v1/config/login HTTP/1.1\r\nHost: localhost";
    client.send(format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
    client.answer()
}

impl Program {
    /// A request on the management port with these fields: the answer.
    pub fn ask(&self, method: &str, path: &str, fields: &str, body: &str) -> Message {
        let (nitro, length) = (self.nitro_address(), body.len());
        self.manage(format!(
            "{method} {CONFIG}{path} HTTP/1.1\r\nHost: {nitro}\r\n{fields}Content-Length: {length}\r\n\r\n{body}"
        ))
    }

    /// The same: its status and errorcode.
    pub fn outcome(&self, method: &str, path: &str, fields: &str, body: &str) -> (u16, u64) {
        let answer = self.ask(method, path, fields, body);
        let value: Value = serde_json::from_slice(&answer.body).unwrap();
        (answer.status(), value["errorcode"].as_u64().unwrap())
    }

    pub fn log_in(&self, user: &str, password: &str) -> Result<String, (u16, u64)> {
        let answer = self.ask("POST", "login", "", &login(user, password));
        let value: Value = serde_json::from_slice(&answer.body).unwrap();
        match value["sessionid"].as_str() {
            Some(id) => {
                assert_eq!(answer.start, "HTTP/1.1 201 Created");
                Ok(id.to_owned())
            }
            None => Err((answer.status(), value["errorcode"].as_u64().unwrap())),
        }
    }

    pub fn sessions(&self) -> Vec<Value> {
        let (_, answer) = self.owner("GET", "systemsession", None);
        answer["systemsession"].as_array().cloned().unwrap_or_default()
    }
}

pub fn login(user: &str, password: &str) -> String {
    json!({"login": {"username": user, "password": password}}).to_string()
}

pub fn by_password(user: &str, password: &str) -> String {
    format!("X-NITRO-USER: {user}\r\nX-NITRO-PASS: {password}\r\n")
}

pub fn by_session(id: &str) -> String {
    format!("Cookie: NITRO_AUTH_TOKEN={id}\r\n")
}

/// `spec/nitro.md` 2.
fn a_session_is_known_by_whatever_field_brings_it() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let answer = program.ask("POST", "login", "", &login("nsroot", PASSWORD));
    assert_eq!(answer.start, "HTTP/1.1 201 Created");
    let value: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(
        (&value["errorcode"], &value["message"], &value["severity"]),
        (&json!(0), &json!("Done"), &json!("NONE"))
    );
    let id = value["sessionid"].as_str().unwrap();
    let digits = id.strip_prefix("##").unwrap();
    assert!(digits.len() == 58 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
    let cookie = answer.field("set-cookie").unwrap();
    assert!(cookie.starts_with(&format!("NITRO_AUTH_TOKEN=%23%23{digits}; path=/nitro/v1")), "{cookie}");
    let encoded = format!("%23%23{digits}");
    for id in [id, &encoded] {
        for field in [
            format!("Cookie: NITRO_AUTH_TOKEN={id}"),
            format!("Set-Cookie: NITRO_AUTH_TOKEN={id}"),
            format!("Set-Cookie: sessionid={id}"),
            format!("Cookie: sessionid={id}"),
            format!("NITRO-AUTH-TOKEN: {id}"),
            format!("Cookie: a=b; NITRO_AUTH_TOKEN={id}\r\nNITRO-AUTH-TOKEN: {id}"),
        ] {
            assert_eq!(program.outcome("GET", "nsconfig", &format!("{field}\r\n"), ""), (200, 0), "{field}");
        }
    }
    assert_eq!(program.sessions().len(), 1);
    let foreign = format!("{}Origin: http://evil.example\r\n", by_session(id));
    assert_eq!(program.outcome("GET", "nsconfig", &foreign, ""), (403, 257));
    assert_eq!(program.outcome("POST", "logout", &by_session(id), r#"{"logout":{}}"#), (201, 0));
    assert_eq!(program.outcome("GET", "nsconfig", &by_session(id), ""), (401, 1027));
    assert!(program.sessions().is_empty());
    for (user, password) in [("nsroot", PASSWORD), ("NSROOT", PASSWORD)] {
        assert_eq!(program.outcome("GET", "nsconfig", &by_password(user, password), ""), (200, 0), "{user}");
    }
    let basic = format!("Authorization: Basic {}\r\n", STANDARD.encode(format!("nsroot:{PASSWORD}")));
    assert_eq!(program.outcome("GET", "nsconfig", &basic, ""), (200, 0));
    let program_without = {
        drop(program);
        Program::launch(&place, "set system parameter -basicAuth DISABLED\n")
    };
    assert_eq!(program_without.outcome("GET", "nsconfig", &basic, ""), (401, 1244));
}

/// `spec/nitro.md` 1: the style of nsnitro and netscaler-tool.
fn older_clients_log_in_by_a_form_and_send_the_session_with_the_object() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let form = format!("object={}", encode(&login("nsroot", PASSWORD)));
    let answer = program.ask("POST", "", "Content-Type: application/x-www-form-urlencoded\r\n", &form);
    assert_eq!(answer.start, "HTTP/1.1 201 Created");
    let value: Value = serde_json::from_slice(&answer.body).unwrap();
    let id = value["sessionid"].as_str().unwrap();
    let server = json!({"server": {"name": "s", "ipaddress": "10.0.0.1"}});
    let form = format!("object={}", encode(&server.to_string()));
    assert_eq!(program.outcome("POST", "", "", &form), (401, 1027));
    assert_eq!(program.outcome("POST", "", &format!("Cookie: sessionid={id}\r\n"), &form), (201, 0));
    let changed = json!({"sessionid": id, "server": {"name": "s", "comment": "x"}}).to_string();
    assert_eq!(program.outcome("PUT", "", "", &changed), (200, 0));
    let logout = format!("object={}", encode(&json!({"sessionid": id, "logout": {}}).to_string()));
    assert_eq!(program.outcome("POST", "", "", &logout), (201, 0));
    assert_eq!(program.outcome("PUT", "", "", &changed), (401, 1027));
    let large = format!("object={}", "x".repeat(100_000));
    assert_eq!(program.outcome("POST", "", "", &large), (400, 1233), "somebody unknown sends little");
}

/// `spec/nitro.md` 6.
fn whoever_is_not_let_in_is_told_so_in_the_words_that_clients_know() {
    let place = Place::new();
    let program = Program::launch(&place, "add system user nobody\n");
    assert!(
        program.errors().contains("user nobody cannot log in: there is no password"),
        "{}",
        program.errors()
    );
    let answer = program.ask("GET", "nsconfig", "", "");
    assert_eq!(answer.start, "HTTP/1.1 401 Unauthorized");
    let value: Value = serde_json::from_slice(&answer.body).unwrap();
    let expected =
        json!({"errorcode": 1027, "message": "Not logged in or connection timed out", "severity": "ERROR"});
    assert_eq!(value, expected);
    for (user, password) in [
        ("nsroot", "wrong"),
        ("nsroot", ""),
        ("unknown", PASSWORD),
        ("nobody", ""),
        ("nobody", "x"),
        ("", ""),
    ] {
        assert_eq!(program.log_in(user, password), Err((401, 354)), "{user}");
        let fields = by_password(user, password);
        assert_eq!(program.outcome("GET", "nsconfig", &fields, ""), (401, 354), "{user}");
    }
    assert_eq!(program.outcome("GET", "nsconfig", "Authorization: Basic !!!\r\n", ""), (401, 354));
    assert_eq!(program.outcome("GET", "nsconfig", &by_session("##00"), ""), (401, 1027));
    for (body, outcome) in [
        ("", (400, 1095)),
        ("{", (400, 1233)),
        ("[]", (400, 1233)),
        ("{}", (400, 1095)),
        (r#"{"login":[]}"#, (400, 1234)),
        (r#"{"login":{"username":"nsroot"}}"#, (400, 1095)),
        (r#"{"login":{"password":"x"}}"#, (400, 1095)),
        (r#"{"login":{"username":1,"password":"x"}}"#, (400, 1234)),
        (r#"{"login":{"username":"u","password":"x","timeout":-1}}"#, (400, 1097)),
    ] {
        assert_eq!(program.outcome("POST", "login", "", body), outcome, "{body}");
    }
    assert_eq!(program.outcome("GET", "login", "", ""), (405, 1237));
    assert_eq!(program.outcome("POST", "logout", "", r#"{"logout":{}}"#), (401, 1027));
    let (status, answer) =
        program.owner("POST", "login", Some(&serde_json::from_str(&login("nsroot", PASSWORD)).unwrap()));
    assert_eq!(
        (status.as_str(), &answer["errorcode"]),
        ("HTTP/1.1 401 Unauthorized", &json!(354)),
        "no password there"
    );
}

/// Case A12: 2,000 logins, and 5,000, and nobody logs out.
fn a12_five_thousand_logins_lock_nobody_out() {
    let place = Place::new();
    let program = Program::launch(
        &place,
        "add system user other \"other.Password-1\"\nbind system user other read-only 1\n",
    );
    let other = program.log_in("other", "other.Password-1").unwrap();
    let mut client = Client::connect(place.nitro());
    let mut ids = Vec::new();
    let body = json!({"login": {"username": "nsroot", "password": PASSWORD, "timeout": 900}}).to_string();
    for nth in 0..5_000 {
        let answer = posted_login(&mut client, &body);
        assert_eq!(answer.status(), 201, "{nth}");
        let value: Value = serde_json::from_slice(&answer.body).unwrap();
        ids.push(value["sessionid"].as_str().unwrap().to_owned());
        if nth % 500 == 0 {
            assert_eq!(program.outcome("GET", "lbvserver", &by_session(&other), ""), (200, 0), "others stay");
        }
    }
    let count = program.sessions().len();
    assert!((100..=1_025).contains(&count), "{count} sessions");
    assert_eq!(program.outcome("GET", "nsconfig", &by_session(&ids[4_999]), ""), (200, 0));
    assert_eq!(program.outcome("GET", "nsconfig", &by_session(&ids[3_000]), ""), (401, 444));
    assert!(program.log_in("nsroot", PASSWORD).is_ok());
}

fn a_session_without_requests_ends_and_so_does_one_that_is_killed() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let short = json!({"login": {"username": "nsroot", "password": PASSWORD, "timeout": "1"}}).to_string();
    let answer = program.ask("POST", "login", "", &short);
    let value: Value = serde_json::from_slice(&answer.body).unwrap();
    let short = value["sessionid"].as_str().unwrap().to_owned();
    let (own, other) =
        (program.log_in("nsroot", PASSWORD).unwrap(), program.log_in("nsroot", PASSWORD).unwrap());
    assert_eq!(program.sessions().len(), 3);
    let first = program.sessions()[1].clone();
    for (field, value) in [
        ("sid", json!("2")),
        ("username", json!("nsroot")),
        ("clienttype", json!("API")),
        ("currentconn", json!(false)),
    ] {
        assert_eq!(first[field], value, "{field} of {first}");
    }
    assert!((1..=1_800).contains(&first["expirytime"].as_u64().unwrap()), "{first}");
    wait_for("the short session to end", || program.sessions().len() == 2);
    assert_eq!(program.outcome("GET", "nsconfig", &by_session(&short), ""), (401, 444));
    let kill = |body: Value| {
        program.outcome("POST", "systemsession?action=kill", &by_session(&own), &body.to_string())
    };
    assert_eq!(kill(json!({"systemsession": {"sid": 99}})), (599, 452));
    assert_eq!(kill(json!({"systemsession": {}})), (400, 1095));
    assert_eq!(kill(json!({"systemsession": {"sid": "3"}})), (200, 0));
    assert_eq!(program.outcome("GET", "nsconfig", &by_session(&other), ""), (401, 444));
    let third = program.log_in("nsroot", PASSWORD).unwrap();
    assert_eq!(kill(json!({"systemsession": {"all": true}})), (200, 0));
    assert_eq!(program.outcome("GET", "nsconfig", &by_session(&third), ""), (401, 444));
    assert_eq!(program.outcome("GET", "nsconfig", &by_session(&own), ""), (200, 0), "but not its own");
}

fn another_password_ends_the_sessions_of_its_user_but_the_one_that_gave_it() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let nsroot = program.log_in("nsroot", PASSWORD).unwrap();
    let root = by_session(&nsroot);
    let user = |fields: Value| json!({"systemuser": fields}).to_string();
    let added =
        program.outcome("POST", "systemuser", &root, &user(json!({"username": "u", "password": "first"})));
    assert_eq!(added, (201, 0));
    let session = program.log_in("u", "first").unwrap();
    assert_eq!(
        program.outcome("GET", "nsconfig", &by_session(&session), ""),
        (403, 371),
        "there is no policy"
    );
    let changed =
        program.outcome("PUT", "systemuser", &root, &user(json!({"username": "u", "password": "second"})));
    assert_eq!(changed, (200, 0));
    assert_eq!(program.outcome("GET", "nsconfig", &by_session(&session), ""), (401, 444));
    assert_eq!(
        (program.log_in("u", "first"), program.log_in("u", "second").is_ok()),
        (Err((401, 354)), true)
    );
    let other = program.log_in("nsroot", PASSWORD).unwrap();
    let own = program.outcome(
        "PUT",
        "systemuser/nsroot",
        &root,
        &user(json!({"username": "nsroot", "password": "third"})),
    );
    assert_eq!(own, (200, 0));
    assert_eq!(program.outcome("GET", "nsconfig", &root, ""), (200, 0));
    assert_eq!(program.outcome("GET", "nsconfig", &by_session(&other), ""), (401, 444));
    assert_eq!(program.outcome("GET", "nsconfig", &by_password("nsroot", PASSWORD), ""), (401, 354));
    let new = json!({"login": {"username": "u", "password": "second", "new_password": "fourth"}}).to_string();
    assert_eq!(program.outcome("POST", "login", "", &new), (201, 0));
    let last = program.log_in("u", "fourth").unwrap();
    assert_eq!(program.log_in("u", "second"), Err((401, 354)));
    assert_eq!(program.outcome("DELETE", "systemuser/u", &root, ""), (200, 0));
    assert_eq!(program.outcome("GET", "nsconfig", &by_session(&last), ""), (401, 444));
    assert_eq!(program.outcome("DELETE", "systemuser/nsroot", &root, ""), (403, 257));
}

fn wrong_passwords_lock_out_a_user_at_a_source_and_nobody_else() {
    let place = Place::new();
    let program =
        Program::launch(&place, "add system user u \"u.Password-1\"\nbind system user u superuser 1\n");
    let elsewhere = IpAddr::from([127, 9, 9, 9]);
    for _ in 0..7 {
        let _ = program.log_in("nsroot", "wrong");
    }
    let answer = program.ask("POST", "login", "", &login("nsroot", PASSWORD));
    let value: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!((answer.status(), &value["errorcode"]), (401, &json!(354)), "the right one has to wait");
    assert!(
        value["message"].as_str().unwrap().starts_with("Invalid username or password [too many failures"),
        "{value}"
    );
    assert!(answer.field("retry-after").is_some());
    assert!(program.log_in("u", "u.Password-1").is_ok(), "another user");
    assert_eq!(log_in_from(elsewhere, place.nitro(), "nsroot", PASSWORD), 201, "another source");
    assert_eq!(program.owner("GET", "nsconfig", None).0, "HTTP/1.1 200 OK", "the owner");
    wait_for("the wait to be over", || program.log_in("nsroot", PASSWORD).is_ok());
    let audit = fs::read_to_string(program.data().join("audit.log")).unwrap();
    assert!(
        audit.contains(r#""what":"login""#) && audit.contains("wrong password; the next attempt waits"),
        "{audit}"
    );
}

/// Most of a storm costs nothing, and what is checked is checked two at a time.
fn a_storm_of_wrong_passwords_keeps_nobody_else_out() {
    let place = Place::new();
    let program =
        Program::launch(&place, "add system user u \"u.Password-1\"\nbind system user u superuser 1\n");
    let (nitro, stormy) = (place.nitro(), IpAddr::from([127, 8, 8, 8]));
    let storms: Vec<_> = (0..8u8)
        .map(|thread| {
            std::thread::spawn(move || {
                let mut statuses = Vec::new();
                for nth in 0..40 {
                    let user = if nth % 2 == 0 { "nsroot".to_owned() } else { format!("user{thread}-{nth}") };
                    statuses.push(log_in_from(stormy, nitro, &user, &format!("wrong {thread} {nth}")));
                }
                statuses
            })
        })
        .collect();
    for _ in 0..20 {
        assert!(program.log_in("nsroot", PASSWORD).is_ok(), "the same user elsewhere");
        assert!(program.log_in("u", "u.Password-1").is_ok());
    }
    for storm in storms {
        let statuses = storm.join().unwrap();
        assert!(statuses.iter().all(|status| [401, 503].contains(status)), "{statuses:?}");
    }
    assert_eq!(log_in_from(stormy, nitro, "nsroot", PASSWORD), 401, "whoever stormed waits");
}

fn built_in_and_own_policies_say_who_may_do_what() {
    let place = Place::new();
    let mut text = "enable ns feature LB\nadd service s 127.0.0.1 HTTP 80 -healthMonitor NO\nadd lb vserver v HTTP\n\
                    add system cmdPolicy own ALLOW \"^(show|stat) lb vserver|^set lb vserver v -comment\"\n\
                    add system cmdPolicy no_rm DENY \"^rm\"\nadd system group g\nbind system group g -policyName superuser 50\n"
        .to_owned();
    for policy in ["read-only", "operator", "network", "sysadmin", "superuser", "own"] {
        text += &format!("add system user {policy} pw\nbind system user {policy} {policy} 10\n");
    }
    text += "add system user grouped pw\nbind system user grouped no_rm 10\nbind system group g -userName grouped\nadd system user none pw\n";
    let program = Program::launch(&place, &text);
    let comment = r#"{"lbvserver":{"name":"v","comment":"x"}}"#;
    let disable = r#"{"service":{"name":"s"}}"#;
    let asked: [(&str, &str, &str); 9] = [
        ("GET", "../stat/lbvserver", ""),
        ("GET", "nsconfig", ""),
        ("GET", "nsrunningconfig", ""),
        ("GET", "systemuser", ""),
        ("PUT", "lbvserver", comment),
        ("POST", "service?action=disable", disable),
        ("POST", "systemuser", r#"{"systemuser":{"username":"new","password":"pw"}}"#),
        ("DELETE", "server/nosuch", ""),
        ("POST", "nsconfig?action=diff", ""),
    ];
    for (user, expected) in [
        ("read-only", "yy-------"),
        ("operator", "yy---y---"),
        ("network", "yy--yy-yy"),
        ("sysadmin", "yyy-yy-y-"),
        ("superuser", "yyyyyyyyy"),
        ("own", "y---y----"),
        ("grouped", "yyyyyyy-y"),
        ("none", "---------"),
        ("nsroot", "yyyyyyyyy"),
    ] {
        let password = if user == "nsroot" { PASSWORD } else { "pw" };
        let mut got = String::new();
        for (method, path, body) in asked {
            let target = match path.strip_prefix("../") {
                Some(path) => format!("/nitro/v1/{path}"),
                None => format!("{CONFIG}{path}"),
            };
            let request = format!(
                "{method} {target} HTTP/1.1\r\nHost: {}\r\n{}Content-Length: {}\r\n\r\n{body}",
                place.nitro(),
                by_password(user, password),
                body.len()
            );
            let answer = program.manage(request);
            let value: Value = serde_json::from_slice(&answer.body).unwrap();
            let denied = (403, json!(if user == "none" { 371 } else { 257 }));
            let is_denied = (answer.status(), value["errorcode"].clone()) == denied;
            assert!(is_denied || ![401, 403].contains(&answer.status()), "{user} {path}: {value}");
            got.push(if is_denied { '-' } else { 'y' });
            if path == "systemuser" && method == "POST" && !is_denied {
                assert_eq!(program.owner("DELETE", "systemuser/new", None).0, "HTTP/1.1 200 OK");
            }
        }
        assert_eq!(got, expected, "{user}");
    }
}
