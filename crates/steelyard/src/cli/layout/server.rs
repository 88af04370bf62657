//! `show server`.

use steelyard_core::command::Object;

use super::{general, text};
use crate::cli::show::Item;

/// One server; numbered, as the appliance numbers all that it lists.
pub fn text_of(item: &Item) -> String {
    let Item { nth, of, .. } = item;
    let field = |name| text(of, name);
    let (label, value) = match field("domain") {
        domain if domain.is_empty() => ("IPAddress", field("ipaddress")),
        domain => ("Domain", domain),
    };
    let comment = match field("comment") {
        comment if comment.is_empty() => comment,
        comment => format!("\tComment: \"{comment}\"\n"),
    };
    format!(
        "{nth})\tName:     {}      State:{}\n\t{label}:   {value}\n{comment}{}",
        field("name"),
        field("state"),
        general::others(Object::Server, of, &["ipaddress", "domain", "state", "comment"])
    )
}
