//! Logins, sessions and who makes a request (`spec/nitro.md` 2): every place in which clients bring a session's id, and
//! user and password.
//!
//! Owns names of header fields and cookies, and the statuses and codes of those who are not let in. Who may come in is
//! `auth`'s to say.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::StatusCode;
use hyper::http::request::Parts;
use serde_json::{Map, Value, json};
use steelyard_core::config::Permission;
use zeroize::Zeroizing;

use super::change::Sent;
use super::change::refused::refused;
use super::query::percent_decode;
use super::reply::{Failure, Reply};
use crate::auth::{DONE, Denied, Given, Identity, Source, Way, Wishes};
use crate::state::State;

/// Who makes a request that came from there. Its body may have sent the id of a session, too.
///
/// # Errors
/// The answer to somebody who is not let in.
pub async fn identity(
    head: &Parts,
    sent: Option<&str>,
    state: &State,
    source: Source,
) -> Result<Identity, Reply> {
    let auth = state.auth();
    match source {
        // The prompt of somebody who has logged in comes by the owner's socket and is nobody but that.
        Source::Owner { uid } if ids(head, sent).is_empty() => return Ok(Identity::owner(uid)),
        Source::Owner { .. } => {}
        Source::Address(_) => {
            if let Some(given) = credentials(head, state)? {
                return verified(given, state, source).await;
            }
        }
    }
    let mut first = None;
    for id in ids(head, sent) {
        match auth.session(&state.config(), &id, source) {
            Ok(identity) => return Ok(identity),
            Err(why) => drop(first.get_or_insert(why)),
        }
    }
    Err(denied(first.unwrap_or(Denied::Unknown)))
}

async fn verified(
    (user, password): (String, Zeroizing<String>),
    state: &State,
    source: Source,
) -> Result<Identity, Reply> {
    let given = Given { user: &user, password: &password, source, way: Way::Api };
    state.auth().verify(state, &given).await.map_err(denied)
}

/// Does a request bring the id of a session, or what should be one?
pub fn brings_session(head: &Parts) -> bool {
    !ids(head, None).is_empty()
}

/// May somebody give the command that a request stands for?
///
/// # Errors
/// 403.
pub fn permitted(state: &State, who: &Identity, command: &str) -> Result<(), Failure> {
    let (code, text) = match state.auth().may(&state.config(), who, command) {
        Permission::Given => return Ok(()),
        Permission::Denied => (257, NOT_PERMITTED),
        Permission::NoPolicy => (371, "No command policy defined, permission denied"),
    };
    Err(Failure { status: StatusCode::FORBIDDEN, code, text: text.to_owned() })
}

/// The same of what only superusers may do, whatever their policies allow.
///
/// # Errors
/// 403.
pub fn for_superusers(state: &State, who: &Identity) -> Result<(), Failure> {
    match state.auth().is_superuser(&state.config(), who) {
        true => Ok(()),
        false => Err(Failure { status: StatusCode::FORBIDDEN, code: 257, text: NOT_PERMITTED.to_owned() }),
    }
}

/// `POST /nitro/v1/config/login`.
pub async fn log_in(sent: &Sent, state: &State, source: Source) -> Reply {
    let login = match sent.object("login").and_then(login) {
        Ok(login) => login,
        Err(reply) => return reply,
    };
    let given = Given { user: &login.user, password: &login.password, source, way: Way::Api };
    let new_password = login.new_password.as_ref().map(|new| new.as_str());
    let wishes = Wishes { timeout_s: login.timeout_s, new_password };
    match state.auth().log_in(state, &given, wishes).await {
        Ok(id) => {
            let encoded = id.replace('#', "%23");
            let cookie = format!("{TOKEN}={encoded}; path=/nitro/v1; HttpOnly; SameSite=Strict");
            let reply = Reply::with_resource("sessionid", &id);
            Reply { status: StatusCode::CREATED, ..reply }.with("set-cookie", cookie)
        }
        Err(why) => denied(why),
    }
}

/// `POST /nitro/v1/config/logout`.
pub async fn log_out(head: &Parts, sent: &Sent, state: &State, source: Source) -> Reply {
    match identity(head, sent.session(), state, source).await {
        Ok(_) => {
            ids(head, sent.session()).iter().for_each(|id| state.auth().log_out(id));
            Reply::created()
        }
        Err(reply) => reply,
    }
}

/// `POST /nitro/v1/config/systemsession?action=kill`.
pub fn kill(sent: &Sent, action: &str, state: &State, who: &Identity) -> Result<Reply, Reply> {
    if !action.eq_ignore_ascii_case("kill") {
        return Err(bad(1240, "Invalid nitro action or operation"));
    }
    let object = sent.object("systemsession")?;
    let number = |value: &Value| match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    let all = object.get("all").is_some_and(|all| *all == json!(true));
    let sid = object.get("sid").and_then(number);
    let command = match (sid, all) {
        (Some(sid), false) => format!("kill system session {sid}"),
        (None, true) => "kill system session -all".to_owned(),
        (Some(_), true) => return Err(bad(1092, "Arguments cannot both be specified [sid, all]")),
        (None, false) => return Err(bad(1095, "Required argument missing [sid]")),
    };
    permitted(state, who, &command)?;
    let killed = match sid {
        Some(sid) => u32::try_from(sid).is_ok_and(|sid| state.auth().sessions().kill(sid)),
        None => {
            state.auth().sessions().kill_others(who.session());
            true
        }
    };
    const MISSING: &str = "Session does not exist";
    state.auth().note(who, &command, if killed { DONE } else { MISSING });
    Ok(if killed { Reply::done() } else { Reply::netscaler_error(452, MISSING) })
}

struct LoginBody {
    user: String,
    password: Zeroizing<String>,
    timeout_s: Option<u32>,
    new_password: Option<Zeroizing<String>>,
}

fn login(object: &Map<String, Value>) -> Result<LoginBody, Reply> {
    let wrong = |field: &str| bad(1234, &format!("Invalid JSON data type [{field}]"));
    let text = |field: &str| match object.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong(field)),
    };
    let missing = |field: &str| bad(1095, &format!("Required argument missing [{field}]"));
    let user = text("username")?.ok_or_else(|| missing("username"))?;
    let password = Zeroizing::new(text("password")?.ok_or_else(|| missing("password"))?);
    let new_password = text("new_password")?.map(Zeroizing::new);
    let timeout_s = match object.get("timeout") {
        None | Some(Value::Null) => None,
        Some(Value::Number(number)) => Some(number.as_u64().and_then(|n| u32::try_from(n).ok())),
        Some(Value::String(text)) => Some(text.parse().ok()),
        Some(_) => return Err(wrong("timeout")),
    };
    let timeout_s = match timeout_s {
        Some(None) => return Err(bad(1097, "Invalid argument value [timeout]")),
        Some(Some(seconds)) => Some(seconds),
        None => None,
    };
    Ok(LoginBody { user, password, timeout_s, new_password })
}

fn bad(code: u32, text: &str) -> Reply {
    Reply::error(StatusCode::BAD_REQUEST, code, text)
}

/// User and password, if the request brings them itself.
fn credentials(head: &Parts, state: &State) -> Result<Option<(String, Zeroizing<String>)>, Reply> {
    let text = |name: &str| {
        head.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    if let Some(user) = text("x-nitro-user") {
        return Ok(Some((user, Zeroizing::new(text("x-nitro-pass").unwrap_or_default()))));
    }
    let Some(given) = text("authorization") else { return Ok(None) };
    let basic = given.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("basic"));
    let Some((_, encoded)) = basic else { return Ok(None) };
    if !state.config().system_parameter.basic_auth {
        let text = "Authentication Failed: Use of Basic Authentication is Disabled.";
        return Err(Reply::error(StatusCode::UNAUTHORIZED, 1244, text));
    }
    let decoded = STANDARD.decode(encoded.trim()).ok().map(Zeroizing::new);
    let decoded = decoded.and_then(|bytes| String::from_utf8(bytes.to_vec()).ok()).map(Zeroizing::new);
    let pair = decoded.as_ref().and_then(|text| text.split_once(':'));
    match pair {
        Some((user, password)) => Ok(Some((user.to_owned(), Zeroizing::new(password.to_owned())))),
        None => Err(denied(Denied::Wrong)),
    }
}

/// The ids of sessions that the request brings, whatever the client calls them and wherever it puts them.
fn ids(head: &Parts, sent: Option<&str>) -> Vec<String> {
    let mut ids = Vec::new();
    let mut found = |raw: &str| {
        let id =
            String::from_utf8_lossy(&percent_decode(raw.trim().trim_matches('"').as_bytes())).into_owned();
        if !id.is_empty() && !ids.contains(&id) && ids.len() < MOST_IDS {
            ids.push(id);
        }
    };
    for name in ["cookie", "set-cookie"] {
        for value in head.headers.get_all(name) {
            let Ok(text) = value.to_str() else { continue };
            for (key, id) in text.split(';').filter_map(|pair| pair.split_once('=')) {
                if [TOKEN, "sessionid"].iter().any(|known| key.trim().eq_ignore_ascii_case(known)) {
                    found(id);
                }
            }
        }
    }
    let fields = head.headers.get_all("nitro-auth-token").iter().filter_map(|value| value.to_str().ok());
    fields.chain(sent).for_each(found);
    ids
}

/// `spec/nitro.md` 2, 6.
fn denied(why: Denied) -> Reply {
    let unauthorized = |code, text: &str| Reply::error(StatusCode::UNAUTHORIZED, code, text);
    match why {
        Denied::Wrong => unauthorized(354, WRONG),
        Denied::Waiting(wait) => {
            let seconds = wait.as_secs() + 1;
            unauthorized(354, &format!("{WRONG} [too many failures; wait {seconds} s]"))
                .with("retry-after", seconds.to_string())
        }
        Denied::Ended => unauthorized(444, "Session expired or killed. Please login again"),
        Denied::Unknown => unauthorized(1027, "Not logged in or connection timed out"),
        Denied::Full => Reply::error(StatusCode::SERVICE_UNAVAILABLE, 445, "Session limit exceeded"),
        Denied::Busy => {
            Reply::error(StatusCode::SERVICE_UNAVAILABLE, 291, "Resource temporarily unavailable")
                .with("retry-after", "1".to_owned())
        }
        Denied::Refused(refusal) => refused(&refusal).into(),
    }
}

/// The words of the command line for a resource of NITRO's: `lb vserver` of `lbvserver` and of its bindings.
pub fn object_words(resource: &str) -> String {
    let name = resource.split('_').next().unwrap_or(resource).to_ascii_lowercase();
    let own = steelyard_core::command::Object::ALL.into_iter().map(|object| object.text());
    let own = own.into_iter().find(|text| text.replace(' ', "").eq_ignore_ascii_case(&name));
    let grouped = || GROUPS.iter().find_map(|group| Some((group, name.strip_prefix(group)?)));
    match (own, grouped()) {
        (Some(text), _) => text.to_owned(),
        (None, Some((group, rest))) if !rest.is_empty() => format!("{group} {rest}"),
        _ => name,
    }
}

/// 257: of a command that somebody may not give, or nobody.
pub const NOT_PERMITTED: &str = "Operation not permitted";
const TOKEN: &str = "NITRO_AUTH_TOKEN";
const WRONG: &str = "Invalid username or password";
/// A client brings one, some the same one twice.
const MOST_IDS: usize = 4;
/// Groups of commands, as far as NITRO's resources begin so; `service` is none.
const GROUPS: &[&str] = &["aaa", "audit", "cs", "gslb", "ha", "lb", "ns", "ntp", "protocol", "ssl", "system"];

#[cfg(test)]
mod tests {
    use super::*;

    fn ids_of(fields: &[(&str, &str)]) -> Vec<String> {
        let mut request = hyper::Request::builder();
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        ids(&request.body(()).unwrap().into_parts().0, None)
    }

    /// `spec/nitro.md` 2: the five places, decoded or not.
    #[test]
    fn ids_are_found_wherever_clients_put_them() {
        for (name, value) in [
            ("cookie", "NITRO_AUTH_TOKEN=##1a2b"),
            ("cookie", "x=y; NITRO_AUTH_TOKEN=%23%231a2b"),
            ("cookie", "NITRO_AUTH_TOKEN=\"##1a2b\""),
            ("set-cookie", "NITRO_AUTH_TOKEN=##1a2b"),
            ("set-cookie", "NITRO_AUTH_TOKEN=%23%231a2b; path=/nitro/v1"),
            ("set-cookie", "sessionid=##1a2b"),
            ("cookie", "sessionid=%23%231a2b"),
            ("nitro-auth-token", "##1a2b"),
            ("nitro-auth-token", "%23%231a2b"),
        ] {
            assert_eq!(ids_of(&[(name, value)]), ["##1a2b"], "{name}: {value}");
        }
        let both = [
            ("cookie", "NITRO_AUTH_TOKEN=%23%231a"),
            ("nitro-auth-token", "##1a"),
            ("set-cookie", "sessionid=b"),
        ];
        assert_eq!(ids_of(&both), ["##1a", "b"]);
        assert_eq!(ids_of(&[("cookie", "token=1"), ("set-cookie", "sessionid=")]), [""; 0]);
    }

    #[test]
    fn resources_have_the_words_of_the_command_line() {
        for (resource, words) in [
            ("lbvserver", "lb vserver"),
            ("lbvserver_service_binding", "lb vserver"),
            ("service", "service"),
            ("servicegroup", "serviceGroup"),
            ("server", "server"),
            ("systemuser", "system user"),
            ("systemsession", "system session"),
            ("systemfile", "system file"),
            ("nsrunningconfig", "ns runningconfig"),
            ("nsversion", "ns version"),
            ("sslcertkey", "ssl certKey"),
            ("protocolhttp", "protocol http"),
            ("interface", "interface"),
            ("ns", "ns"),
        ] {
            assert_eq!(object_words(resource), words, "{resource}");
        }
    }
}
