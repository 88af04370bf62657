//! TLS of secure monitors: what a handshake is made with, and how one fails.
//!
//! Owns which monitors go through TLS, and the words for failures. The handshake itself is the executable's: to a probe an
//! open channel is one whose handshake is done.

use std::fmt;
use std::net::IpAddr;

use crate::config::{CertKeyBinding, Config, LbMonitor, SslCertKey, TlsOfService};

/// What the handshakes of one monitor with one service are made with.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Terms {
    /// What the service is called, where a handshake has a use for it.
    pub name: Option<Box<str>>,
    /// The rest, which many services can have in common.
    pub credentials: Credentials,
}

/// Whom a handshake believes, and what it shows.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Credentials {
    /// Does the ClientHello ask for the name (RFC 6066)?
    pub sends_name: bool,
    /// How the certificate of the service is checked; `None` takes any.
    pub check: Option<Check>,
    /// What is shown to a service that asks for a certificate.
    pub shown: Option<Shown>,
}

/// How a certificate is checked.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Check {
    /// By whose word it counts; never empty.
    pub authorities: Vec<CertificateFile>,
    /// Whom it must be for.
    pub name: CheckedName,
}

/// Whom a certificate must be for.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CheckedName {
    /// Whoever.
    Any,
    /// The host or address that the handshake is about.
    AsCalled,
    /// What is no host has to stand there as it is: `*.example.com`.
    Literal(Box<str>),
}

/// A certificate that is configured.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CertificateFile {
    /// Name of the `ssl certKey`.
    pub name: Box<str>,
    /// Where it is.
    pub path: Box<str>,
    /// DER, else PEM.
    pub is_der: bool,
}

/// A certificate and its key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Shown {
    /// The certificate.
    pub certificate: CertificateFile,
    /// Where the key is.
    pub key: Box<str>,
}

/// Knows which credentials can be used: their files are there and hold what they should.
pub trait Usable {
    /// Why those cannot be, for people.
    fn cannot_use(&self, credentials: &Credentials) -> Option<Box<str>>;
}

impl Terms {
    /// Those of a secure monitor with a service. The monitor's own certificates come before the service's.
    ///
    /// # Errors
    /// Why there is no handshake as it is asked for, for people: what cannot be checked must not pass for checked.
    pub fn of(config: &Config, monitor: &LbMonitor, service: TlsOfService<'_>) -> Result<Terms, Box<str>> {
        let own = authorities(config, &monitor.cert_keys)?;
        let authorities = match (own.is_empty(), service.is_checked) {
            (false, _) => Some(own),
            (true, true) => Some(authorities(config, service.cert_keys)?),
            (true, false) => None,
        };
        if authorities.as_ref().is_some_and(Vec::is_empty) {
            return Err("serverAuth is ENABLED and no certificate is bound to the service with -CA".into());
        }
        let is_called = is_host(service.name);
        let check = authorities.map(|authorities| Check {
            authorities,
            name: match service.name {
                "" => CheckedName::Any,
                _ if is_called => CheckedName::AsCalled,
                other => CheckedName::Literal(other.into()),
            },
        });
        let sends_name = service.sends_name && is_called;
        let called = sends_name || check.as_ref().is_some_and(|check| check.name == CheckedName::AsCalled);
        let shown = shown(config, &monitor.cert_keys).or_else(|| shown(config, service.cert_keys));
        Ok(Terms {
            name: called.then(|| service.name.into()),
            credentials: Credentials { sends_name, check, shown: shown.transpose()? },
        })
    }
}

fn authorities(config: &Config, bound: &[CertKeyBinding]) -> Result<Vec<CertificateFile>, Box<str>> {
    let of = |binding: &CertKeyBinding| {
        for (option, asked) in [("crlCheck", binding.crl_check), ("ocspCheck", binding.ocsp_check)] {
            if asked == "Mandatory" {
                let name = &binding.cert_key;
                return Err(format!("-{option} Mandatory of certKey {name} is not carried").into());
            }
        }
        certificate(config, &binding.cert_key).map(|(file, _)| file)
    };
    bound.iter().filter(|binding| binding.is_ca).map(of).collect()
}

/// The first certificate that is bound to be shown.
fn shown(config: &Config, bound: &[CertKeyBinding]) -> Option<Result<Shown, Box<str>>> {
    let binding = bound.iter().find(|binding| !binding.is_ca && !binding.is_sni)?;
    Some(certificate(config, &binding.cert_key).and_then(|(certificate, pair)| {
        if pair.key.is_empty() {
            return Err(format!("certKey {} has no key in a file", pair.name).into());
        }
        Ok(Shown { certificate, key: pair.key.as_str().into() })
    }))
}

fn certificate<'c>(config: &'c Config, name: &str) -> Result<(CertificateFile, &'c SslCertKey), Box<str>> {
    let pair = config.ssl_cert_keys.find(name).ok_or_else(|| format!("there is no certKey {name}"))?;
    if !["PEM", "DER"].contains(&pair.inform) {
        return Err(format!("certKey {name}: form {} is not read", pair.inform).into());
    }
    let file = CertificateFile {
        name: pair.name.as_str().into(),
        path: pair.cert.as_str().into(),
        is_der: pair.inform == "DER",
    };
    Ok((file, pair))
}

/// Can a certificate be for it, and a ClientHello ask for it? An address is no host, and certificates are for them.
fn is_host(name: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    name.parse::<IpAddr>().is_ok() || (name.len() <= 253 && name.split('.').all(is_label))
}

/// Do probes of that monitor go through TLS? `-secure` is for what is asked over TCP (`spec/methods.md` 4.1).
pub fn is_secure(monitor: &LbMonitor) -> bool {
    monitor.secure && monitor.kind.can_be_secure()
}

/// Why a handshake failed. Its text is part of the monitor's "Last response".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandshakeFault {
    /// The server refused by an alert of that number (RFC 8446 6).
    Alert(u8),
    /// The server closed the connection.
    Closed,
    /// The server reset the connection.
    Reset,
    /// The server speaks neither TLS 1.2 nor 1.3.
    Version,
    /// What came is no TLS.
    NotTls,
    /// The two have something not in common; says what.
    NothingInCommon(&'static str),
    /// The server broke the protocol.
    Misbehaved,
    /// The certificate is not taken; says why.
    Certificate(&'static str),
}

impl fmt::Display for HandshakeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TLS handshake: ")?;
        match self {
            HandshakeFault::Alert(number) => match ALERTS.iter().find(|(known, _)| known == number) {
                Some((_, name)) => write!(f, "alert {name}"),
                None => write!(f, "alert {number}"),
            },
            HandshakeFault::Closed => f.write_str("connection closed during the handshake"),
            HandshakeFault::Reset => f.write_str("connection reset during the handshake"),
            HandshakeFault::Version => f.write_str("the server speaks neither TLS 1.2 nor TLS 1.3"),
            HandshakeFault::NotTls => f.write_str("the server answered something that is not TLS"),
            HandshakeFault::NothingInCommon(what) => write!(f, "no {what} in common"),
            HandshakeFault::Misbehaved => f.write_str("the server broke the protocol"),
            HandshakeFault::Certificate(why) => write!(f, "certificate {why}"),
        }
    }
}

/// Alerts by number (RFC 5246 7.2, RFC 8446 6, RFC 6066 9, RFC 7301 3.2).
const ALERTS: &[(u8, &str)] = &[
    (0, "close_notify"),
    (10, "unexpected_message"),
    (20, "bad_record_mac"),
    (21, "decryption_failed"),
    (22, "record_overflow"),
    (30, "decompression_failure"),
    (40, "handshake_failure"),
    (41, "no_certificate"),
    (42, "bad_certificate"),
    (43, "unsupported_certificate"),
    (44, "certificate_revoked"),
    (45, "certificate_expired"),
    (46, "certificate_unknown"),
    (47, "illegal_parameter"),
    (48, "unknown_ca"),
    (49, "access_denied"),
    (50, "decode_error"),
    (51, "decrypt_error"),
    (60, "export_restriction"),
    (70, "protocol_version"),
    (71, "insufficient_security"),
    (80, "internal_error"),
    (86, "inappropriate_fallback"),
    (90, "user_canceled"),
    (100, "no_renegotiation"),
    (109, "missing_extension"),
    (110, "unsupported_extension"),
    (111, "certificate_unobtainable"),
    (112, "unrecognized_name"),
    (113, "bad_certificate_status_response"),
    (114, "bad_certificate_hash_value"),
    (115, "unknown_psk_identity"),
    (116, "certificate_required"),
    (120, "no_application_protocol"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::MonitorType;

    #[test]
    fn m16_an_alert_is_called_by_its_name() {
        let text = |number| HandshakeFault::Alert(number).to_string();
        assert_eq!(text(112), "TLS handshake: alert unrecognized_name");
        assert_eq!(text(70), "TLS handshake: alert protocol_version");
        assert_eq!(text(116), "TLS handshake: alert certificate_required");
        assert_eq!(text(255), "TLS handshake: alert 255", "one that no document names");
        assert!(ALERTS.is_sorted_by(|a, b| a.0 < b.0));
    }

    #[test]
    fn tls_is_for_what_is_asked_over_tcp() {
        let secure = |kind| is_secure(&LbMonitor { kind, secure: true, ..LbMonitor::default() });
        for word in ["TCP", "HTTP", "TCP-ECV", "HTTP-ECV", "USER"] {
            assert!(secure(MonitorType::of(word).unwrap()), "{word}");
        }
        for word in ["PING", "UDP-ECV", "DNS", "FTP"] {
            assert!(!secure(MonitorType::of(word).unwrap()), "{word}");
        }
        assert!(!is_secure(&LbMonitor { kind: MonitorType::Tcp, ..LbMonitor::default() }));
    }
}
