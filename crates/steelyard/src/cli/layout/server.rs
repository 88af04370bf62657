//! `show server`.

use super::text;
use crate::cli::show::Item;

/// One server; numbered, as the appliance numbers all that it lists.
pub fn text_of(item: &Item) -> String {
    let Item { nth, of, .. } = item;
    let field = |name| text(of, name);
    let (label, value) = match field("domain") {
        domain if domain.is_empty() => ("IPAddress", field("ipaddress")),
        domain => ("Domain", domain),
    };
    format!("{nth})\tName:     {}      State:{}\n\t{label}:   {value}\n", field("name"), field("state"))
}
