//! Certificates and keys by NITRO: kept and shown; no file of theirs is shown.

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::Program;

pub fn trials() -> Vec<Trial> {
    trials![certificates_are_kept_and_shown]
}

fn certificates_are_kept_and_shown() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let change = |method: &str, path: &str, fields: Value| {
        let body = (!fields.is_null()).then(|| json!({"sslcertkey": fields}));
        program.owner(method, path, body.as_ref()).0
    };
    let pair = json!({"certkey": "web", "cert": "/nsconfig/ssl/web.crt", "key": "/nsconfig/ssl/web.key", "passplain": "Se-cret"});
    assert_eq!(change("POST", "sslcertkey", pair.clone()), "HTTP/1.1 201 Created");
    assert_eq!(change("POST", "sslcertkey", pair), "HTTP/1.1 409 Conflict");
    assert_eq!(
        change("POST", "sslcertkey", json!({"certkey": "ca", "cert": "ca.crt"})),
        "HTTP/1.1 201 Created"
    );
    let (status, answer) = program.owner("GET", "sslcertkey/web", None);
    assert_eq!(status, "HTTP/1.1 200 OK");
    let web = &answer["sslcertkey"][0];
    for (name, value) in [
        ("certkey", "web"),
        ("cert", "/nsconfig/ssl/web.crt"),
        ("key", "/nsconfig/ssl/web.key"),
        ("inform", "PEM"),
        ("bundle", "NO"),
    ] {
        assert_eq!(web[name], value, "{web}");
    }
    assert!(!answer.to_string().contains("Se-cret"), "{answer}");
    let all = program.owner("GET", "sslcertkey?count=yes", None).1;
    assert_eq!(all["sslcertkey"], json!([{"__count": 2}]));
    let act = |action: &str, fields: Value| change("POST", &format!("sslcertkey?action={action}"), fields);
    let field = |name: &str| program.owner("GET", "sslcertkey/web", None).1["sslcertkey"][0][name].clone();
    assert_eq!(act("link", json!({"certkey": "web", "linkcertkeyname": "ca"})), "HTTP/1.1 200 OK");
    assert_eq!(field("linkcertkeyname"), "ca");
    assert_eq!(change("DELETE", "sslcertkey/ca", Value::Null), "HTTP/1.1 599 Netscaler specific error");
    assert_eq!(act("unlink", json!({"certkey": "web"})), "HTTP/1.1 200 OK");
    assert_eq!(field("linkcertkeyname"), Value::Null);
    let new = json!({"certkey": "web", "cert": "new.crt", "key": "new.key", "nodomaincheck": true});
    assert_eq!(act("update", new), "HTTP/1.1 200 OK");
    assert_eq!((field("cert"), field("key")), (json!("new.crt"), json!("new.key")));
    assert_eq!(act("jump", json!({"certkey": "web"})), "HTTP/1.1 400 Bad Request");
    assert_eq!(change("DELETE", "sslcertkey/web", Value::Null), "HTTP/1.1 200 OK");
    assert_eq!(program.owner("GET", "sslcertkey/web", None).0, "HTTP/1.1 404 Not Found");
}
