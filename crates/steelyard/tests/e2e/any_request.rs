//! Requests to NITRO that nobody meant: made from its own schema by a seed, then bent.

use std::net::IpAddr;

use serde_json::{Map, Value, json};

/// A source of numbers that a seed decides (SplitMix64).
pub struct Dice {
    state: u64,
    /// Nothing is bent while this holds.
    calm: bool,
}

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice { state: seed, calm: false }
    }

    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub fn word(&mut self, all: &[&'static str]) -> &'static str {
        all[self.below(all.len())]
    }

    /// One time in `n`, and never in calm.
    fn bends(&mut self, n: usize) -> bool {
        !self.calm && self.once_in(n)
    }

    /// One time in `n`.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// What requests are made from.
pub struct Requests {
    /// `schema` of each resource.
    pub resources: Vec<Value>,
    /// The address at which virtual servers may listen; no other one is given.
    pub ip: IpAddr,
}

impl Requests {
    /// The bytes of a request. It is well formed as HTTP goes but for the host, and closes its connection.
    pub fn any(&self, dice: &mut Dice) -> Vec<u8> {
        let resource = dice.of(&self.resources).clone();
        let name = text(&resource, "name");
        if let Some(operations) = resource["operations"].as_array().filter(|_| !dice.once_in(3)) {
            dice.calm = !dice.once_in(4);
            let request = self.operation(dice, &name, &resource, operations);
            dice.calm = false;
            return request;
        }
        let method = dice.word(&[
            "GET", "GET", "POST", "POST", "POST", "PUT", "PUT", "DELETE", "PATCH", "OPTIONS", "NITRO",
            "HEAD", "TRACE", "get",
        ]);
        let path = self.path(dice, &name);
        let query = self.query(dice, &resource);
        let body = self.body(dice, &resource);
        let mut head = format!("{method} {path}{query} HTTP/1.1\r\nConnection: close\r\n");
        for _ in 0..dice.below(3) {
            head.push_str(dice.word(HEADERS));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        [head.into_bytes(), body].concat()
    }

    /// What the schema says that can be done.
    fn operation(&self, dice: &mut Dice, name: &str, resource: &Value, operations: &[Value]) -> Vec<u8> {
        let operation = dice.of(operations);
        let object = self.object(dice, resource, operation);
        let (mut path, mut body) = (format!("/nitro/v1/config/{name}"), json!({name: object}).to_string());
        if operation["method"] == "DELETE" {
            let id = object[text(resource, "key")].as_str().unwrap_or("a0").to_owned();
            let given =
                object.as_object().unwrap().iter().filter_map(|(key, value)| Some((key, value.as_str()?)));
            let mut args = Vec::new();
            for (key, value) in given {
                args.push(format!("{}:{}", escaped(dice, key), escaped(dice, value)));
            }
            path = format!("{path}/{}?args={}", escaped(dice, &id), args.join(","));
            body.clear();
        } else if let Some(action) = operation["action"].as_str() {
            path.push_str(&format!("?action={action}"));
        }
        let method = text(operation, "method");
        let length = body.len();
        format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}")
            .into_bytes()
    }

    fn path(&self, dice: &mut Dice, resource: &str) -> String {
        let half = dice.word(&["config", "config", "config", "config", "stat", "schema", "nosuch"]);
        let resource =
            if dice.once_in(15) { (dice.word(BENT_PATHS)).to_owned() } else { resource.to_owned() };
        let mut path = format!("/nitro/v1/{half}/{resource}");
        if dice.once_in(3) {
            path.push('/');
            path.push_str(&escaped_name(dice));
        }
        if dice.once_in(10) {
            path.push_str(dice.word(BENT_PATHS));
        }
        if dice.once_in(15) {
            path = (dice.word(OTHER_PATHS)).to_owned();
        }
        path
    }

    fn query(&self, dice: &mut Dice, resource: &Value) -> String {
        let mut query = String::new();
        for _ in 0..dice.below(4) {
            query.push(if query.is_empty() { '?' } else { '&' });
            let attribute = attribute(dice, resource);
            let (field, value) = (escaped(dice, &text(&attribute, "name")), escaped_name(dice));
            let expression = dice.word(EXPRESSIONS);
            query.push_str(&match dice.below(13) {
                0 | 1 => format!("action={}", dice.of(ACTIONS)),
                2 => format!("args={field}:{value}"),
                3 => format!("args={field}:,{value}"),
                4 => format!("filter={field}:{value}"),
                5 => format!("filter={field}:%2f{value}%2f"),
                6 => format!("attrs={field},{value}"),
                7 => format!("pagesize={}&pageno={}", dice.of(NUMBERS), dice.of(NUMBERS)),
                8 => (dice.word(&[
                    "idempotent=yes",
                    "warning=yes",
                    "count=yes",
                    "bulkbindings=yes",
                    "statbindings=yes",
                ]))
                .to_owned(),
                9 => format!("onerror={}", dice.of(&["exit", "CONTINUE", "rollback", "x", ""])),
                10 => format!("view={}", dice.of(&["detail", "summary", "x"])),
                11 => format!("filter={field}:%2f{}%2f", escaped(dice, expression)),
                _ => format!("{value}={value}"),
            });
        }
        query
    }

    fn body(&self, dice: &mut Dice, resource: &Value) -> Vec<u8> {
        let key = text(resource, "name");
        let operations = resource["operations"].as_array().cloned().unwrap_or(vec![json!({})]);
        let some = |dice: &mut Dice| {
            let operation = dice.of(&operations).clone();
            self.object(dice, resource, &operation)
        };
        let object = some(dice);
        let body = match dice.below(12) {
            0 => return Vec::new(),
            1 => json!({key: (0..dice.below(5))  .map(|_| some(dice)).collect::<Vec<_>>()}),
            2 => {
                json!({"params": {"action": dice.of(ACTIONS), "warning": "YES", "onerror": "continue"}, key: object})
            }
            3 => json!({"params": dice.word(&["", "x"]), "sessionid": "##1", key: object}),
            4 => json!({key: self.value(dice, &json!({}))}),
            _ => json!({key: object}),
        };
        let mut bytes = body.to_string().into_bytes();
        match dice.below(20) {
            0 => bytes = format!("object={}", form(&bytes)).into_bytes(),
            1 => bytes.truncate(dice.below(bytes.len())),
            2 => {
                let at = dice.below(bytes.len());
                bytes[at] = dice.next() as u8;
            }
            3 => bytes = [vec![b'['; dice.below(300)], bytes].concat(),
            4 => bytes = br#"{"service":"#.repeat(*dice.of(&[127, 128, 9_000])),
            5 => bytes = br#"{"lbvserver":{"name":"a","name":"b"},"lbvserver":{}}"#.to_vec(),
            _ => {}
        }
        bytes
    }

    /// What an operation cannot do without, and some of what it can.
    fn object(&self, dice: &mut Dice, resource: &Value, operation: &Value) -> Value {
        let mut object = Map::new();
        let names = |key: &str| operation[key].as_array().cloned().unwrap_or_default();
        let mut wanted: Vec<Value> = names("required");
        let optional = names("optional");
        for _ in 0..dice.below(4).min(optional.len()) {
            wanted.push(dice.of(&optional).clone());
        }
        wanted.retain(|_| !dice.bends(12));
        for name in wanted.iter().filter_map(Value::as_str) {
            let attributes = resource["attributes"].as_array().unwrap();
            let known = attributes.iter().find(|attribute| attribute["name"] == name);
            object.insert(name.to_owned(), self.value(dice, known.unwrap_or(&json!({}))));
        }
        while dice.bends(2) {
            let attribute = attribute(dice, resource);
            let value = self.value(dice, &attribute);
            object.insert(text(&attribute, "name"), value);
        }
        Value::Object(object)
    }

    /// A value of an attribute, most often one that it may hold.
    fn value(&self, dice: &mut Dice, attribute: &Value) -> Value {
        if dice.bends(8) {
            return [
                json!(null),
                json!(true),
                json!({"a": [1]}),
                json!([]),
                json!(-1),
                json!(1e300),
                json!(""),
                json!("x".repeat(5_000)),
                json!("\"; \r\n`$(x)` -flag \" add server z 127.0.0.1"),
                json!([[["a"]], 1, null]),
            ][dice.below(10)]
            .clone();
        }
        let number = |dice: &mut Dice| {
            let (min, max): (u64, u64) =
                (attribute["min"].as_u64().unwrap_or(0), attribute["max"].as_u64().unwrap_or(9));
            let within = min + dice.next() % (max - min).max(1);
            if dice.calm { within } else { [min, max, max.saturating_add(1), within][dice.below(4)] }
        };
        match attribute["kind"].as_str().unwrap_or_default() {
            "word" | "words" => match attribute["words"].as_array() {
                Some(words) if !words.is_empty() && !dice.bends(10) => dice.of(words).clone(),
                _ => json!(name(dice)),
            },
            "number" | "numbers" | "time" if dice.once_in(2) => json!(number(dice)),
            "number" | "numbers" | "time" => json!(number(dice).to_string()),
            "port" | "port_or_any" if dice.calm => json!(8000 + dice.below(40)),
            "ip" | "ip_or_any" | "ips" | "host" | "ip_or_domain" if dice.calm => {
                json!(dice.of(&[self.ip.to_string().as_str(), "127.1.0.1", "127.192.0.2", "127.192.0.3"]))
            }
            "status_codes" if dice.calm => json!(["200", "300-399"]),
            "port" | "port_or_any" => {
                [json!(8000 + dice.below(40)), json!("80"), json!(65536), json!(0)][dice.below(4)].clone()
            }
            "ip" | "ip_or_any" | "ips" | "host" | "ip_or_domain" => {
                let own = self.ip.to_string();
                json!(dice.of(&[
                    own.as_str(),
                    "127.1.0.1",
                    "127.1.0.2",
                    "2001:db8::1",
                    "192.0.2.256",
                    "h1",
                    ""
                ]))
            }
            "secret" => json!(SECRET),
            "flag" => json!(dice.once_in(2)),
            "status_codes" => json!(["200", dice.of(&["200-299", "x", "9", "299-200"])]),
            _ => json!(name(dice)),
        }
    }
}

fn attribute(dice: &mut Dice, resource: &Value) -> Value {
    match resource["attributes"].as_array() {
        Some(attributes) if !attributes.is_empty() && !dice.once_in(25) => dice.of(attributes).clone(),
        _ => json!({"name": name(dice)}),
    }
}

/// What something may be called; few, so that requests meet.
fn name(dice: &mut Dice) -> String {
    match if dice.calm { 9 } else { dice.below(12) } {
        0 => (dice.word(BENT_NAMES)).to_owned(),
        1 => {
            char::from_u32(dice.next() as u32 % 0x3000).unwrap_or('x').to_string().repeat(1 + dice.below(300))
        }
        _ => format!("{}{}", dice.of(&["a", "b", "v", "s", "g"]), dice.below(3)),
    }
}

/// A name in a path or a query: escaped once, twice, or here and there.
fn escaped_name(dice: &mut Dice) -> String {
    let raw = name(dice);
    escaped(dice, &raw)
}

fn escaped(dice: &mut Dice, raw: &str) -> String {
    let times = dice.below(3);
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~!$'()*:@".contains(&b);
    let once = |text: &[u8], plain: &dyn Fn(u8) -> bool| -> String {
        text.iter().map(|&b| if plain(b) { (b as char).to_string() } else { format!("%{b:02x}") }).collect()
    };
    let mut text = once(raw.as_bytes(), &plain);
    if times == 2 {
        text = once(text.as_bytes(), &|b| b != b'%');
    }
    if dice.bends(20) {
        text.push_str(dice.word(&["%", "%zz", "%00", "+", "%2B", "%2520", "%ff"]));
    }
    text
}

fn form(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("%{b:02X}")).collect()
}

fn text(of: &Value, key: &str) -> String {
    of[key].as_str().unwrap_or_default().to_owned()
}

/// What every secret that is given has in it, and nothing else has.
pub const SECRET: &str = "qzxSecret";
const ACTIONS: &[&str] = &[
    "enable", "disable", "unset", "rename", "rm", "bind", "unbind", "link", "unlink", "update", "sync",
    "kill", "apply", "clear", "diff", "save", "nosuch", "",
];
const NUMBERS: &[&str] = &["0", "1", "3", "-1", "18446744073709551615", "x", ""];
const BENT_PATHS: &[&str] =
    &["..", "/../..", "//", "/%2e%2e/", "/%00", "%2520", "/a/b/c", "+", "nosuch", "/%ff"];
const OTHER_PATHS: &[&str] = &[
    "/nitro/v1/config/",
    "/nitro/v1/config/login",
    "/nitro/v1/config/logout",
    "/nitro/v1/config/../../../etc/passwd",
    "/nitro/v1/",
    "/nitro/v2/config/lbvserver",
    "//nitro///v1/config//lbvserver//",
    "/steelyard/v1/explain/v0",
    "/metrics",
    "/",
];
const EXPRESSIONS: &[&str] =
    &["^a", ".*", "(", "[a", "a{1,9999}", "(a*)*$", "", "(?i)A|b", "((((a{100}){100}){100}){100})"];
const BENT_NAMES: &[&str] = &[
    "",
    " ",
    "..",
    "../../etc/passwd",
    "a b",
    "a#b",
    "a?b",
    "a/b",
    "a\"b",
    "a\\",
    "q/x/",
    "-x",
    "[1-9]",
    "a[1-3]",
    "\u{0}",
    "\n",
    "NONE",
    "null",
    "\u{e9}\u{1f600}",
    "%s%n",
    "$(id)",
    "true",
    "0x10",
    "1e9",
];
const HEADERS: &[&str] = &[
    "Content-Type: application/json\r\n",
    "Content-Type: application/x-www-form-urlencoded\r\n",
    "Content-Type: application/vnd.com.citrix.netscaler.lbvserver_list+json\r\n",
    "X-NITRO-ONERROR: continue\r\n",
    "X-NITRO-ONERROR: rollback\r\n",
    "X-NITRO-USER: nobody\r\nX-NITRO-PASS: wrong\r\n",
    "Cookie: NITRO_AUTH_TOKEN=%23%23deadbeef\r\n",
    "Set-Cookie: sessionid=##deadbeef\r\n",
    "Authorization: Basic Og==\r\n",
    "Accept-Language: %%\r\n",
    "Expect: 100-continue\r\n",
    "Origin: http://elsewhere.test\r\n",
];
