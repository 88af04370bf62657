//! Which certificates probes take and show, and which name they ask for: of the service, of its group, of the monitor.

use std::collections::BTreeSet;
use std::sync::Arc;

use libtest_mimic::Trial;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::server::WebPkiClientVerifier;

use crate::place::Place;
use crate::program::Program;
use crate::secure_probes::last;
use crate::service::wait_for;
use crate::tls_service::{Authority, Manner, Pair, TlsService, provider, self_signed};

pub fn trials() -> Vec<Trial> {
    trials![
        m15_each_client_hello_has_the_name_of_its_own_service,
        m16_the_name_of_the_service_is_asked_for,
        members_of_a_group_are_probed_by_its_tls,
        certificates_are_checked_where_that_is_asked_for,
        a_monitor_has_authorities_of_its_own,
        a_client_certificate_is_shown,
        what_cannot_be_checked_is_unknown_and_says_why,
    ]
}

/// Puts a file where certificates are.
fn put(place: &Place, name: &str, text: &str) {
    let folder = place.folder("data/nsconfig/ssl");
    std::fs::write(format!("{folder}/{name}"), text).unwrap();
}

fn m15_each_client_hello_has_the_name_of_its_own_service() {
    let place = Place::new();
    let ip = place.ip();
    let server = self_signed("app.example").server();
    let names = [Some("a.example"), Some("b.example"), None];
    let services: Vec<TlsService> = (1..)
        .zip(names)
        .map(|(nth, _)| TlsService::start(place.service(nth), server.clone(), Manner::default()))
        .collect();
    let mut text = String::new();
    for nth in 1..=3 {
        text += &format!("add service s{nth} {ip} SSL 810{nth}\n");
    }
    for probe in 0..200 {
        let kind = if probe % 2 == 0 { "TCP" } else { "HTTP" };
        text += &format!("add lb monitor m{probe} {kind} -secure YES -interval 10 -resptimeout 9\n");
        for nth in 1..=3 {
            text += &format!("bind service s{nth} -monitorName m{probe}\n");
        }
    }
    text += &format!(
        "set ssl service s1 -SNIEnable ENABLED -commonName a.example\n\
         set ssl service s2 -SNIEnable ENABLED -commonName b.example\n\
         set ssl service s3 -SNIEnable ENABLED -commonName {ip}\n"
    );
    let program = Program::launch(&place, &text);
    wait_for("600 probes", || services.iter().all(|service| service.names().len() >= 200));
    for (service, name) in services.iter().zip(names) {
        let asked: BTreeSet<Option<String>> = service.names().into_iter().collect();
        assert_eq!(asked, BTreeSet::from([name.map(str::to_owned)]), "no address stands for a name");
    }
    for service in ["s1", "s2", "s3"] {
        program.wait_for_state("service", service, "UP");
    }
}

fn m16_the_name_of_the_service_is_asked_for() {
    let place = Place::new();
    let ip = place.ip();
    let manner = Manner { only: Some("app.example"), ..Manner::default() };
    let _server = TlsService::start(place.service(1), self_signed("app.example").server(), manner);
    let text = format!(
        "add service t {ip} SSL 8101\n\
         add service h {ip} SSL_TCP 8101\n\
         add lb monitor m1 TCP -secure YES {QUICK}\n\
         add lb monitor m2 HTTP -secure YES {QUICK}\n\
         bind service t -monitorName m1\n\
         bind service h -monitorName m2\n"
    );
    let unnamed = format!("{text}set ssl service t -commonName app.example\n");
    let program = Program::launch(&place, &unnamed);
    assert_eq!(last(&program, "t"), "Failure - TLS handshake: alert unrecognized_name.");
    let named = "-SNIEnable ENABLED -commonName app.example";
    program.reload(&format!("{text}set ssl service t {named}\nset ssl service h {named}\n"));
    for service in ["t", "h"] {
        program.wait_for_state("service", service, "UP");
    }
}

fn members_of_a_group_are_probed_by_its_tls() {
    let place = Place::new();
    let ip = place.ip();
    let authority = Authority::new("an authority");
    let manner = Manner { only: Some("app.example"), ..Manner::default() };
    let right = authority.signs("app.example", 2120);
    let _right = TlsService::start(place.service(1), right.server(), manner.clone());
    let _wrong = TlsService::start(place.service(2), authority.signs("other.example", 2120).server(), manner);
    put(&place, "ca.pem", &authority.pem());
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature SSL\n\
             add ssl certKey ca -cert ca.pem\n\
             add serviceGroup g SSL\n\
             bind serviceGroup g {ip} 8101\n\
             bind serviceGroup g {ip} 8102\n\
             bind serviceGroup g -monitorName tcps\n\
             set ssl serviceGroup g -SNIEnable ENABLED -serverAuth ENABLED -commonName app.example\n\
             bind ssl serviceGroup g -certkeyName ca -CA\n\
             add lb vserver v HTTP {ip} 8000\n"
        ),
    );
    let states = || program.owner("GET", "servicegroup_servicegroupmember_binding/g", None).1;
    wait_for("one member UP", || states().to_string().matches("\"UP\"").count() == 1);
    let members = states();
    let members = members["servicegroup_servicegroupmember_binding"].as_array().unwrap();
    assert_eq!(
        (members[0]["svrstate"].as_str(), members[1]["svrstate"].as_str()),
        (Some("UP"), Some("DOWN"))
    );
}

/// The same servers with and without `-serverAuth`.
fn certificates_are_checked_where_that_is_asked_for() {
    let place = Place::new();
    let ip = place.ip();
    let (authority, stranger) = (Authority::new("an authority"), Authority::new("a stranger"));
    let pairs = [
        (authority.signs("app.example", 2120), "Success - SSL handshake completed."),
        (authority.signs("app.example", 2021), "Failure - TLS handshake: certificate has expired."),
        (authority.signs("other.example", 2120), "Failure - TLS handshake: certificate is for another name."),
        (
            self_signed("app.example"),
            "Failure - TLS handshake: certificate is self-signed, and nobody vouches for it.",
        ),
        (
            stranger.signs("app.example", 2120),
            "Failure - TLS handshake: certificate was signed by nobody who is trusted.",
        ),
    ];
    put(&place, "ca.pem", &authority.pem());
    let mut text = "enable ns feature SSL\nadd ssl certKey ca -cert /nsconfig/ssl/ca.pem\n".to_owned();
    let mut servers = Vec::new();
    for (nth, (pair, _)) in (1..).zip(&pairs) {
        servers.push(TlsService::start(place.service(nth), pair.server(), Manner::default()));
        text += &format!(
            "add service c{nth} {ip} SSL 810{nth}\nbind service c{nth} -monitorName tcps\n\
             add service u{nth} {ip} SSL_TCP 810{nth}\nbind service u{nth} -monitorName tcps\n\
             set ssl service c{nth} -serverAuth ENABLED -commonName app.example\n\
             bind ssl service c{nth} -certkeyName ca -CA\n\
             set ssl service u{nth} -commonName app.example\n"
        );
    }
    let program = Program::launch(&place, &text);
    for (nth, (_, found)) in (1..).zip(&pairs) {
        assert_eq!(&last(&program, &format!("c{nth}")), found, "c{nth}");
        assert_eq!(last(&program, &format!("u{nth}")), pairs[0].1, "u{nth} takes any certificate");
    }
}

/// One that a server made for itself counts where it is itself bound; and files count as they are at a reload.
fn a_monitor_has_authorities_of_its_own() {
    let place = Place::new();
    let ip = place.ip();
    let (one, other) = (self_signed("app.example"), self_signed("app.example"));
    let _server = TlsService::start(place.service(1), one.server(), Manner::default());
    put(&place, "known.pem", &one.certificate);
    let text = format!(
        "enable ns feature SSL\n\
         add ssl certKey known -cert known.pem\n\
         add service s {ip} SSL 8101\n\
         add lb monitor m HTTP -secure YES {QUICK}\n\
         bind lb monitor m -certkeyName known -CA\n\
         bind service s -monitorName m\n"
    );
    let program = Program::launch(&place, &text);
    assert_eq!(last(&program, "s"), "Success - HTTP response code 200 received.");
    put(&place, "known.pem", &other.certificate);
    program.reload(&text);
    let refused = "Failure - TLS handshake: certificate is self-signed, and nobody vouches for it.";
    wait_for("the other certificate", || last(&program, "s") == refused);
}

fn a_client_certificate_is_shown() {
    let place = Place::new();
    let ip = place.ip();
    let authority = Authority::new("an authority");
    let pair = authority.signs("probe.example", 2120);
    let _server = TlsService::start(place.service(1), asking(&authority), Manner::default());
    put(&place, "probe.crt", &pair.certificate);
    put(&place, "probe.key", &pair.key);
    let program = Program::launch(
        &place,
        &format!(
            "enable ns feature SSL\n\
             add ssl certKey probe -cert probe.crt -key probe.key\n\
             add service shown {ip} SSL 8101\n\
             add service bare {ip} SSL_TCP 8101\n\
             add lb monitor m HTTP -secure YES\n\
             bind lb monitor m -certkeyName probe\n\
             bind service shown -monitorName m\n\
             bind service bare -monitorName https\n"
        ),
    );
    assert_eq!(last(&program, "shown"), "Success - HTTP response code 200 received.");
    assert_eq!(last(&program, "bare"), "Failure - TLS handshake: alert certificate_required.");
}

/// A server that wants a certificate of that authority.
fn asking(authority: &Authority) -> Arc<rustls::ServerConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap()).unwrap();
    let clients = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider()).build().unwrap();
    authority.signs("app.example", 2120).server_for(clients)
}

/// Nothing that cannot be had is a fault of the service: tcp-default probes it in the monitor's place.
fn what_cannot_be_checked_is_unknown_and_says_why() {
    let place = Place::new();
    let ip = place.ip();
    let authority = Authority::new("an authority");
    let Pair { certificate, .. } = authority.signs("app.example", 2120);
    let _server = TlsService::start(place.service(1), self_signed("app.example").server(), Manner::default());
    put(&place, "ca.pem", &authority.pem());
    put(&place, "garbled.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    put(&place, "other.key", &self_signed("x").key);
    put(&place, "own.crt", &certificate);
    let cases = [
        ("-cert gone.pem", "-CA", "certKey k: gone.pem: there is no such file"),
        ("-cert ../ns.conf", "-CA", "certKey k: ../ns.conf: it is not in /nsconfig/ssl"),
        ("-cert garbled.pem", "-CA", "certKey k: garbled.pem: it holds no certificate"),
        ("-cert other.key", "-CA", "certKey k: other.key: it holds no certificate"),
        ("-cert ca.pem", "-CA -crlCheck Mandatory", "-crlCheck Mandatory of certKey k is not carried"),
        ("-cert ca.pem", "-CA -ocspCheck Mandatory", "-ocspCheck Mandatory of certKey k is not carried"),
        ("-cert ca.pem -inform PFX", "-CA", "certKey k: form PFX is not read"),
        ("-cert own.crt", "", "certKey k has no key in a file"),
        ("-cert own.crt -key other.key", "", "certKey k: other.key: it is not the key of the certificate"),
        (
            "-cert own.crt -key own.crt",
            "",
            "certKey k: own.crt: it holds no private key that is not encrypted",
        ),
    ];
    let mut text = "enable ns feature SSL LB\n".to_owned();
    for (nth, (pair, bound, _)) in (0..).zip(&cases) {
        text += &format!(
            "add ssl certKey k{nth} {pair}\nadd lb monitor m{nth} TCP -secure YES\n\
             bind lb monitor m{nth} -certkeyName k{nth} {bound}\n\
             add serviceGroup g{nth} SSL\nbind serviceGroup g{nth} {ip} 8101\n\
             bind serviceGroup g{nth} -monitorName m{nth}\n"
        );
    }
    text += &format!(
        "add service s {ip} SSL 8101\nset ssl service s -serverAuth ENABLED\nbind service s -monitorName tcps\n\
         add service h {ip} HTTP 8101\nadd lb vserver v HTTP {ip} 8000\nbind lb vserver v h\n"
    );
    for nth in 0..cases.len() {
        text += &format!("bind service h -monitorName m{nth}\n");
    }
    let program = Program::launch(&place, &text);
    let line = program.wait_for_line("  h ");
    for (nth, (_, _, why)) in (0..).zip(&cases) {
        let why = why.replace("certKey k", &format!("certKey k{nth}"));
        assert!(line.contains(&format!("m{nth}: Unknown - {why}.")), "{why}: {line}");
    }
    program.wait_for_state("service", "h", "UP");
    program.wait_for_state("service", "s", "UP");
    let found = program.owner("GET", "service_lbmonitor_binding/s", None).1.to_string();
    let why = "Unknown - serverAuth is ENABLED and no certificate is bound to the service with -CA.";
    assert!(found.contains(why), "{found}");
}

const QUICK: &str = "-interval 1 -resptimeout 900 MSEC -retries 1 -downTime 100 MSEC";
