//! What the prompt tells beside what an appliance shows: `help` and `man`, from the core's rows, and two commands that no
//! appliance has, `explain` and `check`, which say the same as the program's own.
//!
//! Owns what follows these verbs, and how a page of the manual looks.

use std::path::Path;

use steelyard_core::command::abbreviation::abbreviates;
use steelyard_core::command::lex::Word;
use steelyard_core::command::{Action, Allowed, Page, Refusal, help, man};

use super::layout::lines;
use super::line::Said;
use crate::door::Door;
use crate::fault::Fault;
use crate::{check, explain};

/// The text of one of these commands.
///
/// # Errors
/// It is wrong, or what it asks for is not there.
pub fn text(action: &Action, door: &Door) -> Result<String, Said> {
    match action.verb {
        "explain" => decisions(&action.arguments, door),
        "check" => report(&action.arguments),
        "man" => match man(&action.arguments) {
            Some(page) => Ok(page_text(&page)),
            None => Ok(help(&action.arguments)?),
        },
        _ => Ok(help(&action.arguments)?),
    }
}

/// `explain VSERVER [-last N]`
fn decisions(words: &[Word], door: &Door) -> Result<String, Said> {
    let (mut vserver, mut last) = (None, explain::DEFAULT_LAST);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if !word.option {
            if vserver.replace(word.text.as_str()).is_some() {
                return Err(unknown(word));
            }
            continue;
        }
        if !abbreviates(&word.text, "-last") {
            return Err(unknown(word));
        }
        let value = words.next().ok_or(Refusal::ValueMissing { argument: "last" })?;
        let number = value.text.parse().ok().filter(|last| (1..=explain::MAX_LAST).contains(last));
        last = number.ok_or_else(|| Refusal::InvalidValue {
            argument: "last",
            word: value.text.clone(),
            allowed: Allowed::Such("a whole number from 1 to 1000"),
            nearest: None,
        })?;
    }
    let vserver = vserver.ok_or(Refusal::ArgumentMissing { argument: "vserver" })?;
    let (answer, _) = explain::ask(door, vserver, last)?;
    Ok(lines(&explain::text(&answer)))
}

/// `check FILE`
fn report(words: &[Word]) -> Result<String, Said> {
    let path = match words {
        [] => return Err(Refusal::ArgumentMissing { argument: "file" }.into()),
        [path] if !path.option => Path::new(&path.text),
        [.., word] => return Err(unknown(word)),
    };
    match check::report(path) {
        Ok(text) => Ok(lines(&text)),
        Err(Fault::Unreadable { path, why }) => {
            Err(Said::error(format!("I/O error [{}: {why}]", path.display())))
        }
        Err(fault) => Err(fault.into()),
    }
}

fn unknown(word: &Word) -> Said {
    Refusal::UnknownArgument { word: word.text.clone(), nearest: None }.into()
}

/// A page as a terminal shows it.
fn page_text(page: &Page) -> String {
    let mut out = String::new();
    let mut section = |head: &str, paragraphs: &[(usize, &str)]| {
        if paragraphs.is_empty() {
            return;
        }
        out.push_str(if out.is_empty() { "" } else { "\n" });
        out.push_str(head);
        out.push('\n');
        paragraphs.iter().for_each(|(margin, text)| fill(text, *margin, &mut out));
    };
    let name = format!("{} - {}", page.name, page.purpose);
    section("NAME", &[(MARGIN, &name)]);
    section("SYNOPSIS", &[(MARGIN, &page.synopsis)]);
    let description: Vec<(usize, &str)> =
        page.description.iter().map(|paragraph| (MARGIN, paragraph.as_str())).collect();
    section("DESCRIPTION", &description);
    let arguments = page.arguments.iter();
    let arguments: Vec<(usize, &str)> = arguments
        .flat_map(|entry| [(MARGIN, entry.name.as_str()), (2 * MARGIN, entry.text.as_str())])
        .collect();
    section("ARGUMENTS", &arguments);
    let others = page.see_also.join(", ");
    let others: Vec<(usize, &str)> =
        Some(&*others).filter(|text| !text.is_empty()).map(|text| (MARGIN, text)).into_iter().collect();
    section("SEE ALSO", &others);
    out
}

/// A paragraph in lines of a terminal's width.
fn fill(text: &str, margin: usize, out: &mut String) {
    let margin = " ".repeat(margin);
    let mut line = margin.clone();
    for word in text.split(' ') {
        if line.len() > margin.len() && line.chars().count() + word.chars().count() >= WIDTH {
            out.push_str(line.trim_end());
            out.push('\n');
            line.clone_from(&margin);
        }
        line.push_str(word);
        line.push(' ');
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

const MARGIN: usize = 8;
const WIDTH: usize = 78;

#[cfg(test)]
mod tests {
    use super::*;
    use steelyard_core::command::pages;

    #[test]
    fn every_page_fits_a_terminal_and_has_its_sections() {
        for page in pages() {
            let text = page_text(&page);
            let long = text.lines().find(|line| line.chars().count() > WIDTH && line.trim().contains(' '));
            // A choice that stands in the synopsis is one word after another; none is wider than a line.
            assert_eq!(long, None, "{}", page.name);
            assert!(text.starts_with("NAME\n        ") && text.contains("\n\nSYNOPSIS\n        "), "{text}");
            assert_eq!(text.contains("\n\nARGUMENTS\n"), !page.arguments.is_empty(), "{text}");
            assert_eq!(text.contains("\n\nSEE ALSO\n"), !page.see_also.is_empty(), "{text}");
        }
    }
}
