//! HTTPS of the management interface: by a client that trusts nothing but the certificate in the data directory.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::Trial;
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, date_time_ymd};
use rustix::process::Signal;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, ProtocolVersion, RootCertStore, StreamOwned, version};
use serde_json::{Value, json};

use crate::client::{Client, page};
use crate::network::Network;
use crate::place::Place;
use crate::program::{EXECUTABLE, PASSWORD, Program, config, run_to_end};
use crate::service::{TestService, wait_for};

pub fn trials() -> Vec<Trial> {
    trials![
        a_certificate_is_made_at_the_first_start_and_stays_with_its_names,
        http_1_1_is_spoken_by_tls_1_2_and_1_3_and_nothing_else,
        plain_http_at_the_port_of_https_is_told_so,
        a_silent_client_and_noise_hold_nobody_up_and_print_nothing,
        the_operators_pair_is_taken_at_sighup_and_open_connections_go_on,
        a_pair_that_does_not_fit_is_refused_and_the_one_before_stays,
        what_was_made_here_and_has_ended_is_made_anew_and_the_operators_is_not,
        beyond_loopback_all_is_by_https_and_for_users_unless_http_is_asked_for,
        a_missing_certificate_is_made_for_the_key_that_is_there,
        explain_needs_no_port_where_its_user_may_use_the_socket,
    ]
}

type Stream = StreamOwned<ClientConnection, TcpStream>;

fn launch(place: &Place, more: &[&str]) -> Program {
    let url = format!("https://{}", at(place));
    Program::launch_with(place, CONFIG, &[&["--nitro", &url], more].concat())
}

fn at(place: &Place) -> SocketAddr {
    SocketAddr::new(place.ip(), 9443)
}

/// Trusts that certificate alone.
fn trusting(certificate: &Path) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate).unwrap()).unwrap();
    client(roots, &version::TLS13)
}

fn client(roots: RootCertStore, version: &'static rustls::SupportedProtocolVersion) -> ClientConfig {
    ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth()
}

/// A handshake with `name` as the host that is meant.
fn connect(to: SocketAddr, name: &str, config: &ClientConfig) -> Result<Stream, String> {
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let connection = ClientConnection::new(Arc::new(config.clone()), name).unwrap();
    let socket = TcpStream::connect(to).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut stream = StreamOwned::new(connection, socket);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).map_err(|error| error.to_string())?;
    }
    Ok(stream)
}

/// The status line of an answer; the connection stays open unless `last`.
fn ask(stream: &mut Stream, last: bool) -> String {
    let close = if last { "Connection: close\r\n" } else { "" };
    let user = format!("X-NITRO-USER: nsroot\r\nX-NITRO-PASS: {PASSWORD}\r\n");
    write!(stream, "GET /nitro/v1/stat/service HTTP/1.1\r\nHost: localhost\r\n{user}{close}\r\n").unwrap();
    let mut answer = Vec::new();
    let mut byte = [0];
    while !answer.ends_with(b"}") {
        assert_eq!(stream.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&answer));
        answer.push(byte[0]);
    }
    String::from_utf8(answer).unwrap().lines().next().unwrap().to_owned()
}

fn certificate_of(stream: &Stream) -> CertificateDer<'static> {
    stream.conn.peer_certificates().unwrap()[0].clone().into_owned()
}

fn a_certificate_is_made_at_the_first_start_and_stays_with_its_names() {
    let place = Place::new();
    let program = launch(&place, &[]);
    let (certificate, key) = (program.data().join("nitro.crt"), program.data().join("nitro.key"));
    assert_eq!(fs::metadata(&key).unwrap().mode() & 0o777, 0o600);
    let made = fs::read(&certificate).unwrap();
    let ip = place.ip().to_string();
    let trusting = trusting(&certificate);
    for name in ["localhost", "127.0.0.1", "::1", &ip] {
        let mut stream = connect(at(&place), name, &trusting).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(ask(&mut stream, true), OK, "{name}");
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).expect("an orderly end");
    }
    assert!(connect(at(&place), "evil.example", &trusting).unwrap_err().contains("not valid for name"));
    assert_eq!(program.nitro("/nitro/v1/stat/service").0, OK, "HTTP on loopback goes on beside it");
    drop(program);
    let program = launch(&place, &[]);
    assert_eq!(fs::read(&certificate).unwrap(), made);
    assert_eq!(ask(&mut connect(at(&place), &ip, &trusting).unwrap(), true), OK);
    let lines = program.lines();
    let url = format!("management: https://{}/nitro/v1/stat/lbvserver", at(&place));
    assert!(lines.contains(&url), "{lines:?}");
}

fn http_1_1_is_spoken_by_tls_1_2_and_1_3_and_nothing_else() {
    let place = Place::new();
    let program = launch(&place, &[]);
    for (version, spoken) in
        [(&version::TLS12, ProtocolVersion::TLSv1_2), (&version::TLS13, ProtocolVersion::TLSv1_3)]
    {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(program.data().join("nitro.crt")).unwrap()).unwrap();
        let mut config = client(roots, version);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let mut stream = connect(at(&place), "localhost", &config).unwrap();
        assert_eq!(stream.conn.protocol_version(), Some(spoken));
        assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
        assert_eq!(ask(&mut stream, true), OK);
        config.alpn_protocols = vec![b"h2".to_vec()];
        let why = connect(at(&place), "localhost", &config).unwrap_err();
        assert!(why.contains("NoApplicationProtocol"), "{why}");
    }
}

fn plain_http_at_the_port_of_https_is_told_so() {
    let place = Place::new();
    let program = launch(&place, &[]);
    let mut client = Client::connect(at(&place));
    let answer = client.request("POST", "/nitro/v1/config/login", "", &[b'x'; 65_536]);
    assert_eq!(answer.start, "HTTP/1.1 400 Bad Request");
    assert!(answer.text().contains("https://"), "{}", answer.text());
    assert_eq!(program.errors(), "");
}

fn a_silent_client_and_noise_hold_nobody_up_and_print_nothing() {
    let place = Place::new();
    let program = launch(&place, &[]);
    let silent: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(at(&place)).unwrap()).collect();
    for noise in [&[0x16, 3, 1, 0xff, 0xff, 1][..], &[0x80; 400], &[0; 4_000], b"\x16\x03\x01\x00\x05hello"] {
        let mut socket = TcpStream::connect(at(&place)).unwrap();
        socket.write_all(noise).unwrap();
    }
    let trusting = trusting(&program.data().join("nitro.crt"));
    assert_eq!(ask(&mut connect(at(&place), "localhost", &trusting).unwrap(), true), OK);
    for mut socket in silent {
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        assert_eq!(socket.read(&mut [0]).expect("the handshake's time is over"), 0);
    }
    assert_eq!(program.errors(), "");
}

/// A pair of the operator's for localhost, in the files of that name; its certificate.
fn write_pair(certificate: &Path, key: &Path) -> CertificateDer<'static> {
    let made = KeyPair::generate().unwrap();
    let signed = CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&made).unwrap();
    fs::write(certificate, signed.pem()).unwrap();
    fs::write(key, made.serialize_pem()).unwrap();
    fs::set_permissions(key, PermissionsExt::from_mode(0o600)).unwrap();
    signed.der().clone()
}

fn the_operators_pair_is_taken_at_sighup_and_open_connections_go_on() {
    let place = Place::new();
    let (certificate, key) = (place.file("own.crt", ""), place.file("own.key", ""));
    let (certificate, key) = (Path::new(&certificate), Path::new(&key));
    let first = write_pair(certificate, key);
    let named = ["--nitro-cert", certificate.to_str().unwrap(), "--nitro-key", key.to_str().unwrap()];
    let program = launch(&place, &named);
    assert!(!program.data().join("nitro.key").exists(), "none is made beside the operator's");
    let mut open = connect(at(&place), "localhost", &trusting(certificate)).unwrap();
    assert_eq!((ask(&mut open, false), certificate_of(&open)), (OK.to_owned(), first));
    let second = write_pair(certificate, key);
    program.signal(Signal::HUP);
    program.wait_for_line("new management connections get the certificate in ");
    let mut new = connect(at(&place), "localhost", &trusting(certificate)).unwrap();
    assert_eq!((ask(&mut new, true), certificate_of(&new)), (OK.to_owned(), second));
    assert_eq!(ask(&mut open, true), OK);
}

fn a_pair_that_does_not_fit_is_refused_and_the_one_before_stays() {
    let place = Place::new();
    let program = launch(&place, &[]);
    let (certificate, key) = (program.data().join("nitro.crt"), program.data().join("nitro.key"));
    let before = trusting(&certificate);
    let (good, good_key) = (fs::read(&certificate).unwrap(), fs::read(&key).unwrap());
    let mut told = 0;
    let mut refused = |what: &str| {
        program.signal(Signal::HUP);
        wait_for("a line about the certificate", || program.errors().lines().count() > told);
        told += 1;
        let line = program.errors().lines().last().unwrap().to_owned();
        assert!(line.starts_with("steelyard: the certificate in use stays: "), "{line}");
        assert!(line.contains(what) && !line.contains("BEGIN"), "{what}: {line}");
        assert_eq!(ask(&mut connect(at(&place), "localhost", &before).unwrap(), true), OK);
    };
    fs::write(&key, KeyPair::generate().unwrap().serialize_pem()).unwrap();
    refused("is not the key of the certificate in ");
    fs::write(&key, "no key").unwrap();
    refused("no private key in PEM");
    fs::write(&key, &good_key).unwrap();
    fs::set_permissions(&key, PermissionsExt::from_mode(0o644)).unwrap();
    refused("others may read it (mode 644)");
    fs::set_permissions(&key, PermissionsExt::from_mode(0o600)).unwrap();
    fs::write(&certificate, "no certificate").unwrap();
    refused("no certificate in PEM");
    fs::write(&certificate, &good).unwrap();
    fs::remove_file(&key).unwrap();
    refused("nitro.key: no such file");
    drop(program);
    let config = place.file("ns.conf", CONFIG);
    let url = format!("https://{}", at(&place));
    let output = run_to_end(&["run", "--config", &config, "--nitro", &url]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("nitro.key: no such file") && error.lines().count() == 1, "{error}");
}

/// A certificate of that organisation which has ended, and its key, in that directory.
fn write_ended(data: &Path, organisation: &str) -> Vec<u8> {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::OrganizationName, organisation);
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
    let text = params.self_signed(&key).unwrap().pem().into_bytes();
    fs::create_dir_all(data).unwrap();
    fs::write(data.join("nitro.crt"), &text).unwrap();
    fs::write(data.join("nitro.key"), key.serialize_pem()).unwrap();
    fs::set_permissions(data.join("nitro.key"), PermissionsExt::from_mode(0o600)).unwrap();
    text
}

fn what_was_made_here_and_has_ended_is_made_anew_and_the_operators_is_not() {
    for (organisation, anew) in [("made by Steelyard", true), ("the operator", false)] {
        let place = Place::new();
        let data = Path::new(&place.file("x", "")).with_file_name("data");
        let ended = write_ended(&data, organisation);
        let key = fs::read(data.join("nitro.key")).unwrap();
        let program = launch(&place, &[]);
        let certificate = program.data().join("nitro.crt");
        assert_eq!(fs::read(&certificate).unwrap() != ended, anew, "{organisation}");
        assert_eq!(fs::read(data.join("nitro.key")).unwrap(), key, "{organisation}");
        // Whoever trusts one that has ended is told so by the handshake.
        assert_eq!(connect(at(&place), "localhost", &trusting(&certificate)).is_ok(), anew, "{organisation}");
    }
}

fn beyond_loopback_all_is_by_https_and_for_users_unless_http_is_asked_for() {
    let Some(mut network) = Network::new() else { return };
    let [client, balancer] = [(); 2].map(|()| network.host());
    let place = Place::new();
    let at = |port| SocketAddr::new(balancer.ip(), port);
    let (https, http) = (at(443).to_string(), format!("http://{}", at(80)));
    let program =
        balancer.make(|| Program::launch_with(&place, CONFIG, &["--nitro", &https, "--nitro", &http]));
    let line = program.errors();
    assert!(line.contains(&format!("{http}: passwords can be read on the way")), "{line}");
    assert!(!line.contains(&https) && line.lines().count() == 1, "{line}");
    let trusting = trusting(&program.data().join("nitro.crt"));
    let name = balancer.ip().to_string();
    client.enter(|| {
        assert_eq!(ask(&mut connect(at(443), &name, &trusting).unwrap(), true), OK);
        let plain = |port, fields: &str, target: &str| {
            Client::connect(at(port)).request("GET", target, fields, b"").status()
        };
        let user = format!("X-NITRO-USER: nsroot\r\nX-NITRO-PASS: {PASSWORD}\r\n");
        assert_eq!(plain(443, &user, "/nitro/v1/stat/service"), 400, "HTTP at the port of HTTPS");
        assert_eq!(plain(80, &user, "/nitro/v1/stat/service"), 200, "no name of this host is known");
        for target in
            ["/nitro/v1/stat/service", "/nitro/v1/config/nsversion", "/metrics", "/steelyard/v1/explain/v"]
        {
            assert_eq!(plain(80, "", target), 401, "{target}");
        }
        for foreign in ["Origin: https://evil.example\r\n", "Sec-Fetch-Site: cross-site\r\n"] {
            assert_eq!(plain(80, &format!("{user}{foreign}"), "/nitro/v1/stat/service"), 403, "{foreign}");
        }
        let own = "Origin: http://e2e.test\r\nSec-Fetch-Site: same-origin\r\n";
        assert_eq!(plain(80, &format!("{user}{own}"), "/nitro/v1/stat/service"), 200);
        let mut crowd: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(at(80)).unwrap()).collect();
        let shut_out = |socket: &mut TcpStream| {
            socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            socket.read(&mut [0]).is_ok_and(|bytes| bytes == 0)
        };
        assert!(shut_out(crowd.last_mut().unwrap()), "one address has no more than its share");
    });
    let status = balancer.enter(|| program.nitro("/nitro/v1/stat/service").0);
    assert_eq!(status, OK, "and keeps nobody else out");
}

fn a_missing_certificate_is_made_for_the_key_that_is_there() {
    let place = Place::new();
    let program = launch(&place, &[]);
    let (certificate, key) = (program.data().join("nitro.crt"), program.data().join("nitro.key"));
    let before = (fs::read(&certificate).unwrap(), fs::read(&key).unwrap());
    fs::remove_file(&certificate).unwrap();
    program.signal(Signal::HUP);
    program.wait_for_line("new management connections get the certificate in ");
    assert_ne!(fs::read(&certificate).unwrap(), before.0);
    assert_eq!(fs::read(&key).unwrap(), before.1);
    let mut stream = connect(at(&place), "localhost", &trusting(&certificate)).unwrap();
    assert_eq!(ask(&mut stream, true), OK);
}

/// No program is managed at the port that `explain` asks by itself: each has its own address here.
fn explain_needs_no_port_where_its_user_may_use_the_socket() {
    let place = Place::new();
    let _s1 = TestService::plain(place.service(1));
    let text = config(&place, "ROUNDROBIN", &[place.service(1)]);
    let data = Path::new(&place.file("beside", "")).with_file_name("steelyard-data");
    let (folder, data) = (data.parent().unwrap(), data.to_str().unwrap());
    let url = format!("https://{}", at(&place));
    let program = Program::launch_with(&place, &text, &["--data", data, "--nitro", &url]);
    page(program.vserver());
    let explain = ["explain", "v", "--format", "json"];
    let named = run_to_end(&[&explain[..], &["--data", data]].concat());
    let found = Command::new(EXECUTABLE).args(explain).current_dir(folder).output().unwrap();
    for output in [named, found] {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&answer["vserver"], answer["decisions"].as_array().unwrap().len()), (&json!("v"), 1));
        assert_eq!(answer["decisions"][0]["selected"], "s1");
    }
    let socket = format!("{data}/nitro.sock");
    drop(program);
    // A socket that a killed program has left, and none.
    for (why, step) in [("connection refused", true), ("no such file or directory", false)] {
        let output = run_to_end(&["explain", "v", "--data", data]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(error.contains(&format!("{socket}: {why}; is 'steelyard run' running there?")), "{error}");
        if step {
            fs::remove_file(&socket).unwrap();
        }
    }
}

const CONFIG: &str = "enable ns feature LB\n";
const OK: &str = "HTTP/1.1 200 OK";
/// More than a handshake may take.
const PATIENCE: Duration = Duration::from_secs(60);
