//! `show lb monitor`.

use std::fmt::Write as _;

use steelyard_core::command::Object;

use super::{general, or, text};
use crate::cli::show::{Fields, Item};

/// A monitor with all that its type has.
pub fn text_of(item: &Item) -> String {
    let Item { nth, of, .. } = item;
    let field = |name: &str| text(of, name);
    let span =
        |value: &str, unit: &str| format!("{} {}", or(of, value, "0"), or(of, unit, "SEC").to_lowercase());
    let bound = |name: &str| match field(name).as_str() {
        "" | "0" | "0.0.0.0" => "Bound service".to_owned(),
        other => other.to_owned(),
    };
    let state = or(of, "state", "ENABLED");
    let mut out = format!(
        "{nth})   Name.......:{}  Type......:  {} State....:   {state}\n",
        field("monitorname"),
        field("type")
    );
    out.push_str("Standard parameters:\n");
    // Formatting into a String cannot fail.
    let _ = writeln!(
        out,
        "  Interval.........:{:>17}\tRetries...........:{:>17}",
        span("interval", "units3"),
        or(of, "retries", "3")
    );
    let _ = writeln!(
        out,
        "  Response timeout.:{:>17} \tDown time.........:{:>17}",
        span("resptimeout", "units4"),
        span("downtime", "units2")
    );
    let _ = writeln!(
        out,
        "  Reverse..........:{:>17}\tTransparent.......:{:>17}",
        or(of, "reverse", "NO"),
        or(of, "transparent", "NO")
    );
    let _ = writeln!(
        out,
        "  Secure...........:{:>17}\tLRTM..............:{:>17}",
        or(of, "secure", "NO"),
        or(of, "lrtmconfstr", "DISABLED")
    );
    let _ = writeln!(
        out,
        "  Action...........:{:>17}\tDeviation.........:{:>17}",
        or(of, "action", "Not applicable"),
        span("deviation", "units1")
    );
    let _ = writeln!(out, "  Destination IP...:{:>17}", bound("destip"));
    let _ = writeln!(out, "  Destination port.:{:>17}", bound("destport"));
    let _ = writeln!(out, "  Iptunnel.........:{:>17}", or(of, "iptunnel", "NO"));
    let _ = writeln!(out, "  TOS..............:{:>17}", or(of, "tos", "NO"));
    let _ = writeln!(
        out,
        "  SNMP Alert Retries:{:>16}\t  Success Retries..:{:>17}",
        or(of, "alertretries", "0"),
        or(of, "successretries", "1")
    );
    let _ = writeln!(out, "  Failure Retries..:{:>17}", or(of, "failureretries", "0"));
    out.push_str(&special(of));
    out
}

/// What its type alone has; nothing where that is nothing.
fn special(of: &Fields) -> String {
    let mut out = String::new();
    for (label, name, form) in own(&text(of, "type")) {
        let value = text(of, name);
        let _ = match form {
            Form::Below => writeln!(out, "  {label}:\n       \"{value}\""),
            Form::Quoted => writeln!(out, "  {label}:\"{value}\""),
            Form::Plain => writeln!(out, "  {label}:{value}"),
        };
    }
    let named = own(&text(of, "type")).iter().map(|(_, field, _)| *field);
    let shown: Vec<&str> = STANDARD.iter().copied().chain(named).collect();
    for (label, value) in general::other_pairs(Object::LbMonitor, of, &shown) {
        let _ = writeln!(out, "  {label:.<17}:{value}");
    }
    if out.is_empty() { out } else { format!("Special parameters:\n{out}") }
}

/// What every monitor has a line for.
const STANDARD: &[&str] = &[
    "type",
    "state",
    "interval",
    "retries",
    "resptimeout",
    "downtime",
    "reverse",
    "transparent",
    "secure",
    "lrtm",
    "action",
    "deviation",
    "destip",
    "destport",
    "iptunnel",
    "tos",
    "alertretries",
    "successretries",
    "failureretries",
];

/// Where a value stands.
enum Form {
    /// In quotes on a line of its own.
    Below,
    /// In quotes.
    Quoted,
    Plain,
}

/// Label, field and form.
fn own(kind: &str) -> &'static [(&'static str, &'static str, Form)] {
    use Form::{Below, Plain, Quoted};
    match kind {
        "HTTP" => &[
            ("HTTP request.....", "httprequest", Below),
            ("Custom headers...", "customheaders", Quoted),
            ("Response codes...", "respcode", Plain),
        ],
        "HTTP-ECV" => &[
            ("Send string......", "send", Below),
            ("Custom headers...", "customheaders", Quoted),
            ("Receive string...", "recv", Below),
        ],
        "TCP-ECV" | "UDP-ECV" => {
            &[("Send string......", "send", Below), ("Receive string...", "recv", Below)]
        }
        "DNS" | "DNS-TCP" => &[
            ("Query............", "query", Quoted),
            ("Query type.......", "querytype", Plain),
            ("IP address.......", "ipaddress", Plain),
        ],
        "FTP" => &[("User name........", "username", Quoted)],
        "FTP-EXTENDED" => {
            &[("User name........", "username", Quoted), ("File name........", "filename", Quoted)]
        }
        "USER" => &[
            ("Script name......", "scriptname", Quoted),
            ("Script arguments.", "scriptargs", Quoted),
            ("Dispatcher IP....", "dispatcherip", Plain),
            ("Dispatcher port..", "dispatcherport", Plain),
        ],
        _ => &[],
    }
}
