//! `show ssl vserver`, as appliances of 12.1 to 13.0 print it, and `show ssl certKey`, whose lines no document shows: its labels
//! are those of the appliance as far as they are known.

use std::fmt::Write as _;

use super::{lines_of, or, text};
use crate::cli::show::{Fields, Item};

/// A certificate and its key: where they are, and what the certificate says.
pub fn cert_key(item: &Item) -> String {
    let of = &item.of;
    let field = |name| text(of, name);
    let mut out = format!("{}\tName: {}\n", item.place(), field("certkey"));
    out.push_str(&lines_of(of, &[("Cert Path", "cert"), ("Key Path", "key"), ("Format", "inform")]));
    // Formatting into a String cannot fail.
    if !field("status").is_empty() {
        let days = field("daystoexpiration");
        let _ = writeln!(out, "\tStatus: {},   Days to expiration:{days}", field("status"));
    }
    out.push_str(&lines_of(of, &[("Certificate Expiry Monitor", "expirymonitor")]));
    if !field("notificationperiod").is_empty() {
        let _ = writeln!(out, "\tExpiry Notification period: {} days", field("notificationperiod"));
    }
    let kinds: String =
        field("certificatetype").split_whitespace().map(|kind| format!("\t\"{kind}\"")).collect();
    if !kinds.is_empty() {
        let _ = writeln!(out, "\tCertificate Type:{kinds}");
    }
    out.push_str(&lines_of(
        of,
        &[
            ("Version", "version"),
            ("Serial Number", "serial"),
            ("Signature Algorithm", "signaturealg"),
            ("Issuer", "issuer"),
        ],
    ));
    if !field("clientcertnotbefore").is_empty() {
        let (before, after) = (field("clientcertnotbefore"), field("clientcertnotafter"));
        let _ = writeln!(out, "\tValidity\n\t\tNot Before: {before}\n\t\tNot After : {after}");
    }
    out + &lines_of(
        of,
        &[
            ("Subject", "subject"),
            ("Public Key Algorithm", "publickey"),
            ("Public Key size", "publickeysize"),
            ("Linked with", "linkcertkeyname"),
        ],
    )
}

/// TLS of a virtual server, with its certificates where it was asked for by name.
pub fn vserver(item: &Item) -> String {
    let of = &item.of;
    let field = |name| text(of, name);
    let name = field("vservername");
    let mut out = match item.listed {
        true => format!("{} Vserver Name: {name}\n", item.place()),
        false => format!("\n\tAdvanced SSL configuration for VServer {name}:\n"),
    };
    out.push_str(&lines_of(of, &[("DH", "dh")]));
    // Formatting into a String cannot fail.
    let _ = writeln!(
        out,
        "\tDH Private-Key Exponent Size Limit: {}\tEphemeral RSA: {}\t\tRefresh Count: {}",
        field("dhkeyexpsizelimit"),
        field("ersa"),
        or(of, "ersacount", "0")
    );
    let _ =
        writeln!(out, "\tSession Reuse: {}\t\tTimeout: {} seconds", field("sessreuse"), field("sesstimeout"));
    out.push_str(&lines_of(of, BEFORE));
    out.push_str(&protocols(of));
    out.push_str(&lines_of(of, BEHIND));
    for (at, bound) in item.bound("sslvserver_sslcertkey_binding").iter().enumerate() {
        let (is, name) = (|flag| text(bound, flag) == "true", text(bound, "certkeyname"));
        let kind = match (is("ca"), is("snicert")) {
            (true, _) => "CA Certificate",
            (_, true) => "Server Certificate for SNI",
            _ => "Server Certificate",
        };
        let _ = writeln!(out, "\n{})\tCertKey Name: {name}\t{kind}", at + 1);
    }
    out
}

fn protocols(of: &Fields) -> String {
    let state = |(label, name): &(&str, &str)| format!("{label}: {}", text(of, name));
    let told = PROTOCOLS.iter().filter(|(_, name)| of.contains_key(*name));
    format!("\t{}\n", told.map(state).collect::<Vec<_>>().join("  "))
}

const BEFORE: &[(&str, &str)] = &[
    ("Cipher Redirect", "cipherredirect"),
    ("Cipher URL", "cipherurl"),
    ("SSLv2 Redirect", "sslv2redirect"),
    ("ClearText Port", "cleartextport"),
    ("Client Auth", "clientauth"),
    ("Client Cert", "clientcert"),
    ("SSL Redirect", "sslredirect"),
    ("Non FIPS Ciphers", "nonfipsciphers"),
    ("SNI", "snienable"),
    ("OCSP Stapling", "ocspstapling"),
    ("HSTS", "hsts"),
    ("HSTS IncludeSubDomains", "includesubdomains"),
    ("HSTS Max-Age", "maxage"),
    ("HSTS Preload", "preload"),
];
const PROTOCOLS: &[(&str, &str)] = &[
    ("SSLv2", "ssl2"),
    ("SSLv3", "ssl3"),
    ("TLSv1.0", "tls1"),
    ("TLSv1.1", "tls11"),
    ("TLSv1.2", "tls12"),
    ("TLSv1.3", "tls13"),
];
const BEHIND: &[(&str, &str)] = &[
    ("Push Encryption Trigger", "pushenctrigger"),
    ("Send Close-Notify", "sendclosenotify"),
    ("SSL profile", "sslprofile"),
    ("Strict Sig-Digest Check", "strictsigdigestcheck"),
    ("Zero RTT Early Data", "zerorttearlydata"),
    ("DHE Key Exchange With PSK", "dhekeyexchangewithpsk"),
    ("Tickets Per Authentication Context", "tls13sessionticketsperauthcontext"),
];
