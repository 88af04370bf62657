//! `steelyard-commands(7)`: every command of NetScaler's command line that this program carries out.

use std::io;

use clap_mangen::roff::{Inline, Roff, bold, roman};
use steelyard_core::command::{self, Entry};

use super::{MANUAL, NO_DATE, SOURCE};

/// The page.
pub fn page() -> io::Result<String> {
    let mut roff = Roff::default();
    roff.control("TH", ["steelyard-commands", "7", NO_DATE, SOURCE, MANUAL]);
    roff.control("SH", ["NAME"]);
    roff.text([roman("steelyard-commands - NetScaler's commands, as Steelyard carries them out")]);
    roff.control("SH", ["DESCRIPTION"]);
    roff.text([roman(ABOUT)]);
    let mut group = String::new();
    for page in command::pages() {
        let of = page.name.split_once(' ').map_or("", |(_, object)| object).to_owned();
        if of != group || of.is_empty() && group.is_empty() {
            let heading = if of.is_empty() { page.name.to_uppercase() } else { of.to_uppercase() };
            roff.control("SH", [heading.as_str()]);
            group = of;
        }
        section(&page, &mut roff);
    }
    roff.control("SH", ["SEE ALSO"]);
    roff.text([bold("steelyard"), roman("(1), "), bold("steelyard-cli"), roman("(1)")]);
    Ok(roff.to_roff())
}

fn section(page: &command::Page, roff: &mut Roff) {
    roff.control("SS", [page.name.as_str()]);
    roff.text([roman(page.purpose.as_str())]);
    for paragraph in &page.description {
        roff.control("PP", []);
        roff.text([roman(paragraph.as_str())]);
    }
    roff.control("PP", []);
    roff.text(synopsis(page));
    for Entry { name, text } in &page.arguments {
        roff.control("TP", []);
        roff.text([bold(name.as_str())]);
        roff.text([roman(text.as_str())]);
    }
}

fn synopsis(page: &command::Page) -> Vec<Inline> {
    let rest = page.synopsis.strip_prefix(&page.name).unwrap_or(&page.synopsis);
    vec![bold(page.name.as_str()), roman(rest)]
}

const ABOUT: &str = "Commands of NetScaler's command line: at the prompt of steelyard-cli(1), in an ns.conf, and by POST \
/steelyard/v1/command. In a synopsis a bare word stands for itself, what is in brackets may be left out, @ says that a range may \
stand for several (web[1-3]), and dots that more of the same may follow. Verbs, groups, objects, options and words of a choice \
may be shortened as long as only one begins so, and are taken in any case. What is not said to be kept is acted on.";
