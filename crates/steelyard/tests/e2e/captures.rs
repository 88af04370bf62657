//! What real NITRO clients sent, recorded and replayed in order against the executable. Each answer must be one that the
//! client goes on with: its status, its envelope, the types and fields it reads, and what was set before.
//!
//! Sessions and passwords of the recording are replaced by this program's, and 10.0.0.0/8 by 127.0.0.0/8. How can a line
//! be wrong? The appliance that the clients were recorded against did less than the documents say: [`OTHERWISE`].

use std::collections::BTreeMap;

use libtest_mimic::Trial;
use serde_json::{Map, Value, json};

use crate::answered::{Shown, elements, sound};
use crate::message::Message;
use crate::place::Place;
use crate::program::{PASSWORD, Program};

pub fn trials() -> Vec<Trial> {
    let trial = |capture: &'static Capture| {
        Trial::test(format!("captures::{}", capture.client.replace('-', "_")), || {
            replay(capture);
            Ok(())
        })
    };
    let mut trials: Vec<Trial> = CAPTURES.iter().map(trial).collect();
    trials.extend(trials![an_unsound_answer_is_found]);
    trials
}

/// One recording.
struct Capture {
    client: &'static str,
    lines: &'static str,
    /// What the appliance had when it began.
    config: &'static str,
    /// Recordings that go before it.
    after: &'static [&'static str],
}

#[derive(serde::Deserialize)]
struct Line {
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
    body: String,
    accepted_status: u16,
}

/// A line whose client goes on with another status by the documents than it did by the recording.
struct Otherwise {
    client: &'static str,
    lines: &'static [usize],
    status: u16,
    /// What the documents say.
    why: &'static str,
}

/// One client's conversation with the program.
struct Replay<'p> {
    program: &'p Program,
    session: Option<String>,
    given: Given,
}

/// What was set and not touched since: it must be shown under the same names (ansible's second run changes nothing).
#[derive(Default)]
struct Given(BTreeMap<(String, String), Vec<Map<String, Value>>>);

fn replay(capture: &Capture) {
    let place = Place::new();
    let program = Program::launch(&place, capture.config);
    let mut replay = Replay { program: &program, session: None, given: Given::default() };
    for earlier in capture.after {
        let earlier = CAPTURES.iter().find(|c| c.client == *earlier).unwrap();
        // It has a trial of its own.
        replay.all(earlier);
    }
    let faults = replay.all(capture);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

impl Replay<'_> {
    /// Replays it whole; what is wrong in which line.
    fn all(&mut self, capture: &Capture) -> Vec<String> {
        let mut faults = Vec::new();
        for (index, text) in capture.lines.lines().enumerate() {
            let mut line: Line = serde_json::from_str(text).unwrap();
            let number = index + 1;
            let otherwise =
                OTHERWISE.iter().find(|o| o.client == capture.client && o.lines.contains(&number));
            if let Some(otherwise) = otherwise {
                let Otherwise { status, why, .. } = otherwise;
                assert_ne!(line.accepted_status, *status, "{} {number}: {why}", capture.client);
                line.accepted_status = otherwise.status;
            }
            if let Err(fault) = self.one(&line) {
                faults.push(format!("{number} {} {} {}: {fault}", line.method, line.path, line.body.trim()));
            }
        }
        faults
    }

    fn one(&mut self, line: &Line) -> Result<(), String> {
        let path = here(&line.path);
        let target = Target::of(&path);
        let body = here(&line.body);
        let answer = self.ask(line, &path, &body);
        if answer.status() != line.accepted_status {
            return Err(format!("not {} but {}", line.accepted_status, answer.text()));
        }
        let shown = if line.method == "GET" { target.shown() } else { Shown::default() };
        let json = sound(&answer, shown)?;
        let body = serde_json::from_str(&body).unwrap_or(Value::Null);
        match target.resource.as_str() {
            "login" => self.begin(&answer, &json)?,
            "logout" => self.session = None,
            _ if answer.status() > 201 => {}
            _ if line.method == "GET" => self.given.shown(&target, &json)?,
            _ => self.given.changed(line, &target, &body),
        }
        Ok(())
    }

    /// Both places where clients look for the session.
    fn begin(&mut self, answer: &Message, json: &Value) -> Result<(), String> {
        let session = json["sessionid"].as_str().unwrap_or_default();
        let cookie = answer.field("set-cookie").unwrap_or_default();
        let expected = format!("NITRO_AUTH_TOKEN={}", session.replace('#', "%23"));
        let fits = session.starts_with("##") && session.len() > 40 && cookie.starts_with(&expected);
        if !fits || !cookie.to_ascii_lowercase().contains("path=/nitro/v1") {
            return Err(format!("session {session:?}, cookie {cookie:?}"));
        }
        self.session = Some(session.to_owned());
        Ok(())
    }

    fn ask(&mut self, line: &Line, path: &str, body: &str) -> Message {
        let mut request = format!("{} {path} HTTP/1.1\r\nHost: {}\r\n", line.method, self.host());
        for (name, value) in &line.headers {
            let value = match name.as_str() {
                "X-Nitro-Pass" => PASSWORD.to_owned(),
                name if CREDENTIALS.contains(&name) && name != "X-Nitro-User" => self.with_session(value),
                _ => value.clone(),
            };
            request += &format!("{name}: {value}\r\n");
        }
        let logs_in = path.ends_with("/config/login");
        if !logs_in && !CREDENTIALS.iter().any(|name| line.headers.contains_key(*name)) {
            // Made by hand, with curl: the appliance of the recording asked nobody for a password.
            request += &format!("X-NITRO-USER: nsroot\r\nX-NITRO-PASS: {PASSWORD}\r\n");
        }
        let body = if logs_in { self.login(body) } else { body.to_owned() };
        request += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.program.manage(request)
    }

    fn host(&self) -> String {
        self.program.nitro_url().replace("http://", "")
    }

    /// The recorded credentials with this program's password in them.
    fn login(&self, body: &str) -> String {
        let mut body: Value = serde_json::from_str(body).unwrap();
        body["login"]["password"] = PASSWORD.into();
        body.to_string()
    }

    /// The recorded field with this conversation's session in it, encoded or not as it was.
    fn with_session(&mut self, value: &str) -> String {
        let at = value.find("%23%23").or_else(|| value.find("##")).unwrap_or_else(|| panic!("{value}"));
        let session = match &self.session {
            Some(session) => session.clone(),
            None => {
                let login = json!({"login": {"username": "nsroot", "password": PASSWORD}});
                let login = login.to_string();
                let length = login.len();
                let answer = self.program.manage(format!(
                    "POST /nitro/v1/config/login HTTP/1.1\r\nHost: {}\r\nContent-Length: {length}\r\n\r\n{login}",
                    self.host()
                ));
                let json = sound(&answer, Shown::default()).unwrap();
                self.begin(&answer, &json).unwrap();
                self.session.clone().unwrap()
            }
        };
        let session = if value[at..].starts_with('%') { session.replace('#', "%23") } else { session };
        format!("{}{session}", &value[..at])
    }
}

/// What a path names.
struct Target {
    section: String,
    resource: String,
    id: String,
    query: String,
}

impl Target {
    fn of(path: &str) -> Target {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let mut segments = path.split('/').filter(|s| !s.is_empty()).skip(2);
        let mut next = || segments.next().unwrap_or_default().to_owned();
        let (section, resource) = (next(), next());
        // Decoded once, and again as forms are.
        let id = next().replace("%25", "%").replace("%2B", "+").replace("%20", " ").replace('+', " ");
        Target { section, resource, id, query: query.to_owned() }
    }

    fn shown(&self) -> Shown<'_> {
        let attributes =
            self.query.split('&').find_map(|pair| pair.strip_prefix("attrs=")).unwrap_or_default();
        Shown { section: &self.section, resource: &self.resource, attributes }
    }
}

impl Given {
    fn changed(&mut self, line: &Line, target: &Target, body: &Value) {
        let removes = line.method == "DELETE" || target.query.contains("action=");
        if removes {
            // Names and bindings elsewhere may go with it.
            self.0.retain(|(resource, id), _| {
                resource != &target.resource && !resource.contains("_binding") && id != &target.id
            });
            return;
        }
        let Some(object) = body[&target.resource].as_object() else { return };
        let id = object.values().next().and(KEYS.iter().find_map(|key| object.get(*key)?.as_str()));
        let key = (target.resource.clone(), id.unwrap_or_default().to_owned());
        let given = self.0.entry(key).or_default();
        let attributes: Map<String, Value> = object
            .iter()
            .filter(|(_, v)| !v.is_null())
            .map(|(k, v)| (shown_as(&target.resource, k).to_owned(), v.clone()))
            .collect();
        match given.first_mut() {
            Some(before) if !target.resource.contains("_binding") => before.extend(attributes),
            _ => given.push(attributes),
        }
    }

    fn shown(&self, target: &Target, json: &Value) -> Result<(), String> {
        let all =
            target.section == "config" && !["filter=", "count="].iter().any(|q| target.query.contains(q));
        let key = (target.resource.clone(), target.id.clone());
        for given in self.0.get(&key).filter(|_| all).into_iter().flatten() {
            let shown = elements(json, &target.resource);
            let differ = |element: &Map<String, Value>| -> Vec<String> {
                let differ = given.iter().filter(|(name, value)| !equal(element.get(*name), value));
                differ.map(|(name, _)| format!("{name} {:?}", element.get(name))).collect()
            };
            let differences: Vec<Vec<String>> = shown.into_iter().map(differ).collect();
            if differences.iter().all(|differ| !differ.is_empty()) {
                return Err(format!("given {given:?}, shown {differences:?}"));
            }
        }
        Ok(())
    }
}

/// Header fields by which clients say who they are.
const CREDENTIALS: [&str; 5] = ["Cookie", "Set-Cookie", "NITRO-AUTH-TOKEN", "X-Nitro-User", "X-Nitro-Pass"];
/// By these the objects of the recordings are known; the first that occurs counts.
const KEYS: [&str; 4] = ["name", "servicegroupname", "monitorname", "lbparameter"];

/// The name under which an attribute is shown.
fn shown_as<'a>(resource: &str, attribute: &'a str) -> &'a str {
    if resource == "service" && attribute == "ip" { "ipaddress" } else { attribute }
}

/// As ansible compares: texts in any case, figures by their value.
fn equal(shown: Option<&Value>, given: &Value) -> bool {
    let text = |value: &Value| match value {
        Value::String(text) => text.to_ascii_lowercase(),
        other => other.to_string(),
    };
    shown.is_some_and(|shown| shown == given || text(shown) == text(given))
}

/// The recorded text with its addresses moved to loopback, where nobody is troubled by probes.
fn here(text: &str) -> String {
    let mut moved = String::new();
    for (at, piece) in text.split("10.").enumerate() {
        if at > 0 {
            let inside = moved.ends_with(|c: char| c.is_ascii_digit() || c == '.');
            moved += if inside { "10." } else { "127." };
        }
        moved += piece;
    }
    moved
}

macro_rules! capture {
    ($client:literal, $config:expr, $after:expr) => {
        Capture {
            client: $client,
            lines: include_str!(concat!("../fixtures/captures/", $client, ".jsonl")),
            config: $config,
            after: $after,
        }
    };
}

const CAPTURES: &[Capture] = &[
    capture!("adc-nitro-go", GO, &[]),
    capture!("ansible-community-network", EXPORTED, &[]),
    capture!("ansible-netscaler-adc-1", "", &[]),
    capture!("ansible-netscaler-adc-2", "", &["ansible-netscaler-adc-1"]),
    capture!("ansible-netscaler-adc-3", "", &["ansible-netscaler-adc-1"]),
    capture!("ansible-netscaler-adc-4", "", &["ansible-netscaler-adc-1", "ansible-netscaler-adc-3"]),
    capture!(
        "ansible-netscaler-adc-5",
        "",
        &["ansible-netscaler-adc-1", "ansible-netscaler-adc-3", "ansible-netscaler-adc-4"]
    ),
    capture!("check-netscaler", "", &[]),
    capture!("metrics-exporter", EXPORTED, &[]),
    capture!("netscaler-exporter", EXPORTED, &[]),
    capture!("python-sdk", "", &[]),
    capture!("rokett-exporter", "", &[]),
    capture!("terraform-apply", "", &[]),
    capture!("terraform-plan", "", &["terraform-apply"]),
    capture!("terraform-destroy", "", &["terraform-apply"]),
];

/// What the Go client adds without a port, which is not added without one.
const GO: &str = "enable ns feature LB\nadd lb vserver \"go v1\" HTTP 127.71.136.50 80 -lbMethod LRTM\n\
    add service gosvc 127.1.2.3 HTTP 80\n";

/// What the exporters found.
const EXPORTED: &str = "enable ns feature LB\nadd server sx 127.7.7.7\nadd serviceGroup sgx HTTP\nbind serviceGroup sgx sx 80\n\
    add serviceGroup tfsg1 HTTP\nadd serviceGroup tfsg2 HTTP\nadd service svcx 127.2.2.8 HTTP 80\nadd lb vserver w1 HTTP 127.2.2.9 80\n";

const OTHERWISE: &[Otherwise] = &[
    Otherwise {
        client: "adc-nitro-go",
        lines: &[2],
        status: 409,
        why: "an address has a port (cli.md); what is there with one is not the same (nitro.md 3)",
    },
    Otherwise { client: "adc-nitro-go", lines: &[4], status: 400, why: "a service has a port (nitro.md 9)" },
    Otherwise {
        client: "adc-nitro-go",
        lines: &[5, 6, 8, 10, 12, 13],
        status: 200,
        why: "+ is a space in a path, so that the object is found (nitro.md 3)",
    },
    Otherwise {
        client: "ansible-netscaler-adc-5",
        lines: &[72],
        status: 404,
        why: "the server was renamed in line 54, and its member with it (nitro.md 5)",
    },
    Otherwise {
        client: "ansible-netscaler-adc-5",
        lines: &[80],
        status: 599,
        why: "the monitor is still bound to svc1: 2131 (nitro.md 5)",
    },
    Otherwise {
        client: "python-sdk",
        lines: &[16],
        status: 200,
        why: "action=rm with an array removes all of it (nitro.md 7)",
    },
    Otherwise {
        client: "python-sdk",
        lines: &[20],
        status: 404,
        why: "line 19 cleared the configuration (nitro.md 6)",
    },
];

/// What clients end on is found wrong, each by its word; and nothing is found where nothing is wrong.
fn an_unsound_answer_is_found() {
    let version = r#""nsversion":{"version":"x","mode":"0"}"#;
    let done = r#""errorcode":0,"message":"Done","severity":"NONE""#;
    for (start, body, fault) in [
        ("200 OK", format!("{{{done},{version}}}"), ""),
        ("200 Fine", format!("{{{done},{version}}}"), "status line"),
        ("200 OK", format!("{{{done}"), "EOF"),
        ("200 OK", format!("{{{version}}}"), "no envelope"),
        ("404 Not Found", format!("{{{done}}}"), "no envelope"),
        ("200 OK", format!("{{{done},\"Nsversion\":{{}}}}"), "keys"),
        ("200 OK", format!("{{{done},\"nsversion\":[]}}"), "is one object"),
        ("200 OK", format!("{{{done},\"nsversion\":{{\"version\":1,\"mode\":\"0\"}}}}"), "version is 1"),
        ("200 OK", format!("{{{done},\"nsversion\":{{\"version\":\"x\"}}}}"), "lacks [\"mode\"]"),
    ] {
        let content_type = ("content-type".to_owned(), "application/json; charset=utf-8".to_owned());
        let answer = Message {
            start: format!("HTTP/1.1 {start}"),
            fields: vec![content_type],
            body: body.clone().into_bytes(),
            ..Message::default()
        };
        let shown = Shown { section: "config", resource: "nsversion", attributes: "" };
        let found = sound(&answer, shown).err().unwrap_or_default();
        assert!(found.contains(fault) && found.is_empty() == fault.is_empty(), "{start} {body}: {found}");
    }
}
