//! `show ns version` and `show ns ip`.

use super::{or, text};
use crate::cli::show::Fields;

/// What the program says it is.
pub fn version(found: &[Fields]) -> String {
    found.iter().map(|of| format!("\t{}\n", text(of, "version"))).collect()
}

/// Addresses, numbered.
pub fn addresses(found: &[Fields]) -> String {
    let mut out = format!(
        "  \t{}\n  \t{}\n",
        row(COLUMNS),
        row(COLUMNS.map(|column| DASHES.get(..column.len()).unwrap_or(DASHES)))
    );
    for (at, of) in found.iter().enumerate() {
        let kind = text(of, "type");
        let switch = |name| if text(of, name) == "ENABLED" { "Enabled" } else { "Disabled" };
        let vserver = if kind == "VIP" { switch("vserver") } else { "NA" };
        let kind = if kind == "NSIP" { "NetScaler IP" } else { &kind };
        let (address, domain) = (text(of, "ipaddress"), or(of, "td", "0"));
        let cells =
            [&address, &domain, kind, "Active", switch("arp"), switch("icmp"), vserver, switch("state")];
        out.push_str(&format!("{})\t{}\n", at + 1, row(cells)));
    }
    out
}

fn row(cells: [&str; 8]) -> String {
    let cell = |(cell, width): (&str, usize)| format!("{cell:width$}");
    cells.into_iter().zip(WIDTHS).map(cell).collect::<String>().trim_end().to_owned()
}

const COLUMNS: [&str; 8] = ["Ipaddress", "Traffic Domain", "Type", "Mode", "Arp", "Icmp", "Vserver", "State"];
const WIDTHS: [usize; 8] = [17, 16, 17, 9, 9, 9, 9, 0];
const DASHES: &str = "--------------";
