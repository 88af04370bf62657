//! Certificates and keys by NITRO: kept and shown; no file of theirs is shown.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use libtest_mimic::Trial;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SerialNumber, date_time_ymd};
use serde_json::{Value, json};

use crate::place::Place;
use crate::program::Program;

pub fn trials() -> Vec<Trial> {
    trials![
        certificates_are_kept_and_shown,
        a_certificate_tells_what_its_file_says_and_no_file_elsewhere_is_read,
    ]
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

/// A certificate for www.example.com that ends in that year, in PEM.
fn certificate(year: i32) -> String {
    let mut params = CertificateParams::new(["www.example.com".to_owned()]).unwrap();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::OrganizationName, "Example");
    params.distinguished_name.push(DnType::CommonName, "www.example.com");
    params.serial_number = Some(SerialNumber::from_slice(&[0xca, 0xfe, 0x01]));
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 2), date_time_ymd(year, 3, 4));
    params.self_signed(&KeyPair::generate().unwrap()).unwrap().pem()
}

fn a_certificate_tells_what_its_file_says_and_no_file_elsewhere_is_read() {
    let place = Place::new();
    let program = Program::launch(&place, "");
    let post = |resource: &str, fields: Value| {
        let (status, answer) = program.owner("POST", resource, Some(&json!({resource: fields})));
        assert_eq!(status, "HTTP/1.1 201 Created", "{answer}");
    };
    for (name, year) in [("web", 2100), ("old", 2021)] {
        let content = STANDARD.encode(certificate(year));
        post("systemfile", json!({"filename": format!("{name}.crt"), "filecontent": content}));
        post("sslcertkey", json!({"certkey": name, "cert": format!("/nsconfig/ssl/{name}.crt")}));
    }
    let row =
        |name: &str| program.owner("GET", &format!("sslcertkey/{name}"), None).1["sslcertkey"][0].clone();
    let web = row("web");
    for (field, value) in [
        ("serial", json!("CAFE01")),
        ("subject", json!("O=Example,CN=www.example.com")),
        ("issuer", json!("O=Example,CN=www.example.com")),
        ("clientcertnotbefore", json!("Jan  2 00:00:00 2020 GMT")),
        ("clientcertnotafter", json!("Mar  4 00:00:00 2100 GMT")),
        ("status", json!("Valid")),
        ("signaturealg", json!("ecdsa-with-SHA256")),
        ("publickey", json!("id-ecPublicKey")),
        ("publickeysize", json!(256)),
        ("version", json!(3)),
        ("certificatetype", json!(["CLNT_CERT", "SRVR_CERT"])),
    ] {
        assert_eq!(web[field], value, "{field} of {web}");
    }
    assert!(web["daystoexpiration"].as_u64().unwrap() > 365 * 50, "{web}");
    let old = row("old");
    assert_eq!((&old["daystoexpiration"], &old["status"]), (&json!(0), &json!("Expired")));
    std::fs::write(program.data().join("outside.crt"), certificate(2100)).unwrap();
    for (nth, path) in
        ["../../outside.crt", "/nsconfig/ssl/../../outside.crt", "/nsconfig/outside.crt", "none.crt"]
            .iter()
            .enumerate()
    {
        let name = format!("n{nth}");
        post("sslcertkey", json!({"certkey": name, "cert": path}));
        let row = row(&name);
        assert_eq!(
            (&row["cert"], &row["serial"], &row["daystoexpiration"]),
            (&json!(path), &Value::Null, &Value::Null)
        );
    }
    let monitored = program.owner("GET", "sslcertkey?filter=status:Expired&attrs=certkey", None).1;
    assert_eq!(monitored["sslcertkey"], json!([{"certkey": "old"}]));
}
