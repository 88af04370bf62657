//! `show interface`: the host's.

use std::fmt::Write as _;

use super::{or, text};
use crate::cli::show::Item;

/// An interface with its counters.
pub fn text_of(item: &Item) -> String {
    let of = &item.of;
    let field = |name| text(of, name);
    let link = |name: &str| if text(of, name) == "1" { "UP" } else { "DOWN" };
    let mut out = format!("{}\tInterface {} ({})\n", item.place(), field("id"), field("description"));
    // Formatting into a String cannot fail.
    let _ = writeln!(out, "\tflags <{}, {}, {}>", field("state"), link("linkstate"), link("intfstate"));
    let _ = writeln!(out, "\tMTU={}, native vlan={}, MAC={}", field("mtu"), field("vlan"), field("mac"));
    let _ = writeln!(out, "\tRequested: speed {}, duplex {}", field("reqspeed"), field("reqduplex"));
    let _ = writeln!(
        out,
        "\tActual: speed {}, duplex {}, fctl {}\n",
        field("actspeed"),
        field("actduplex"),
        field("actflowctl")
    );
    for way in ["rx", "tx"] {
        let count = |what: &str| or(of, &format!("{way}{what}"), "0");
        let _ = writeln!(
            out,
            "\t{}: Pkts({}) Bytes({}) Errs({}) Drops({})",
            way.to_uppercase(),
            count("packets"),
            count("bytes"),
            count("errors"),
            count("drops")
        );
    }
    out
}
