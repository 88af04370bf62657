//! `show ns feature`, `show ns mode` and `show ns license`: what an appliance can do, and what of it is switched on.
//!
//! Owns the names under which the appliance lists them.

use std::fmt::Write as _;

use super::text;
use crate::cli::show::{Fields, Found};

/// Features, numbered, with the acronyms that `enable` takes.
pub fn features(found: &Found) -> String {
    found.items.iter().map(|item| table("Feature", 31, FEATURES, &item.of)).collect()
}

/// The same of modes.
pub fn modes(found: &Found) -> String {
    found.items.iter().map(|item| table("Mode", 40, MODES, &item.of)).collect()
}

/// Which features are licensed.
pub fn license(found: &Found) -> String {
    found.items.iter().map(|item| licensed(&item.of)).collect()
}

/// Which features are enabled, a line each.
pub fn status(of: &Fields) -> String {
    pairs(FEATURES, of, ("ON", "OFF"))
}

fn licensed(of: &Fields) -> String {
    let mut out = String::from("\tLicense status:\n");
    out.push_str(&pairs(FEATURES, of, ("YES", "NO")));
    // Formatting into a String cannot fail.
    let _ = writeln!(out, "\t{:>WIDTH$}: {}", "Licensing mode", text(of, "licensingmode"));
    out
}

fn table(head: &str, width: usize, known: &[(&str, &str)], of: &Fields) -> String {
    let dashes = |text: &str| "-".repeat(text.len());
    let line = |name: &str, acronym: &str, status: &str| format!("\t{name:width$}{acronym:21}{status}\n");
    let mut out = String::from("\n");
    out.push_str(&line(head, "Acronym", "Status"));
    out.push_str(&line(&dashes(head), &dashes("Acronym"), &dashes("Status")));
    for (at, (acronym, name)) in known.iter().enumerate() {
        let status = if is_on(of, acronym) { "ON" } else { "OFF" };
        out.push_str(&format!(" {}){}", at + 1, line(name, acronym, status)));
    }
    out
}

/// Of those that are told, a line each, with the names to the right.
fn pairs(known: &[(&str, &str)], of: &Fields, (yes, no): (&str, &str)) -> String {
    let told = known.iter().filter(|(acronym, _)| of.contains_key(&acronym.to_ascii_lowercase()));
    let line = |(acronym, name): &(&str, &str)| {
        format!("\t{name:>WIDTH$}: {}\n", if is_on(of, acronym) { yes } else { no })
    };
    told.map(line).collect()
}

fn is_on(of: &Fields, acronym: &str) -> bool {
    text(of, &acronym.to_ascii_lowercase()) == "true"
}

/// Of the column of names.
const WIDTH: usize = 30;

/// Acronyms and names.
const FEATURES: &[(&str, &str)] = &[
    ("WL", "Web Logging"),
    ("SP", "Surge Protection"),
    ("LB", "Load Balancing"),
    ("CS", "Content Switching"),
    ("CR", "Cache Redirection"),
    ("SC", "Sure Connect"),
    ("CMP", "Compression Control"),
    ("PQ", "Priority Queuing"),
    ("SSL", "SSL Offloading"),
    ("GSLB", "Global Server Load Balancing"),
    ("HDOSP", "Http DoS Protection"),
    ("CF", "Content Filtering"),
    ("IC", "Integrated Caching"),
    ("SSLVPN", "SSL VPN"),
    ("AAA", "AAA"),
    ("OSPF", "OSPF Routing"),
    ("RIP", "RIP Routing"),
    ("BGP", "BGP Routing"),
    ("REWRITE", "Rewrite"),
    ("IPv6PT", "IPv6 protocol translation"),
    ("AppFw", "Application Firewall"),
    ("RESPONDER", "Responder"),
    ("HTMLInjection", "HTML Injection"),
    ("push", "NetScaler Push"),
    ("AppFlow", "AppFlow"),
    ("CloudBridge", "CloudBridge"),
    ("ISIS", "ISIS Routing"),
    ("CH", "CallHome"),
    ("AppQoE", "AppQoE"),
    ("ContentAccelerator", "Content Accelerator"),
    ("RISE", "RISE"),
    ("feo", "Front End Optimization"),
    ("LSN", "Large Scale NAT"),
    ("RDPProxy", "RDP Proxy"),
    ("Rep", "Reputation"),
    ("URLFiltering", "URL Filtering"),
    ("VideoOptimization", "Video Optimization"),
    ("ForwardProxy", "Forward Proxy"),
    ("SSLInterception", "SSL Interception"),
    ("AdaptiveTCP", "Adaptive TCP"),
    ("CQA", "Connection Quality Analytics"),
    ("CI", "ContentInspection"),
    ("Bot", "Bot Management"),
    ("APIGateway", "API Gateway"),
];
const MODES: &[(&str, &str)] = &[
    ("FR", "Fast Ramp"),
    ("L2", "Layer 2 mode"),
    ("USIP", "Use Source IP"),
    ("CKA", "Client Keep-alive"),
    ("TCPB", "TCP Buffering"),
    ("MBF", "MAC-based forwarding"),
    ("Edge", "Edge configuration"),
    ("USNIP", "Use Subnet IP"),
    ("L3", "Layer 3 mode (ip forwarding)"),
    ("PMTUD", "Path MTU Discovery"),
    ("MediaClassification", "Media Classification"),
    ("SRADV", "Static Route Advertisement"),
    ("DRADV", "Direct Route Advertisement"),
    ("IRADV", "Intranet Route Advertisement"),
    ("SRADV6", "Ipv6 Static Route Advertisement"),
    ("DRADV6", "Ipv6 Direct Route Advertisement"),
    ("BridgeBPDUs", "Bridge BPDUs"),
    ("RISE_APBR", "Rise APBR"),
    ("RISE_RHI", "Rise RHI"),
    ("ULFD", "Unified Logging Format"),
    ("SINGLE_IP", "Single IP"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use steelyard_core::config::{Features, Modes};

    use super::*;

    #[test]
    fn every_feature_and_every_mode_has_a_name_and_there_are_no_others() {
        let named = |known: &[(&'static str, &str)]| known.iter().map(|(a, _)| *a).collect::<BTreeSet<_>>();
        assert_eq!(named(FEATURES), Features::known().collect());
        assert_eq!(named(MODES), Modes::known().collect());
    }
}
