//! NetScaler's words in a shell's line: what may stand behind `cli`, and which virtual servers behind `explain`.
//!
//! The running program says it where its owner asks; by a management port it would want a password, which nobody sends by
//! pressing Tab. Where no program answers, it is said without one: everything but names. The hard question is how a word comes
//! back: the shell takes quotes off, `cli` puts them on again, and what is put in must mean what was offered.

use std::path::PathBuf;
use std::sync::mpsc;
use std::time::Duration;

use clap::FromArgMatches;
use steelyard_core::command::{complete, lex, typed_word};
use steelyard_core::config::Config;

use super::quoting::{Shell, Word, quoted, words};
use crate::NAME;
use crate::cli::completing::{Told, told};
use crate::cli::layout::harmless;
use crate::cli::{CliArgs, argument};
use crate::door::{DATA, Door};
use crate::explain::ExplainArgs;
use crate::reach::Reach;

/// What a shell is to offer.
pub enum Offer {
    /// These words and nothing else.
    Words(Vec<Offered>),
    /// Names of its files.
    Files,
    /// What it knows by itself: this program's own options.
    Own,
}

/// A word that may stand there.
pub struct Offered {
    /// As the shell wants it.
    pub word: String,
    /// One line for people; empty where there is no more to say than the word says.
    pub help: String,
}

/// What may stand at the end of a line. Bash will put it in the place of `tail`, with which the line ends; the others in
/// the place of the last word.
pub fn offer(shell: Shell, line: &str, tail: &str, command: clap::Command) -> Offer {
    let typed = words(line, shell).unwrap_or_default();
    let Some((last, before)) = typed.split_last() else { return Offer::Own };
    let Some(place) = Place::of(before, last, command) else { return Offer::Own };
    let told = place.told();
    if told.candidates.is_empty() && told.expected.iter().any(|of| FILES.contains(&&*of.word)) {
        return Offer::Files;
    }
    let mut found = place.found(&told, last);
    keep(&mut found, &last.text);
    if shell == Shell::Bash {
        let stays = line.strip_suffix(tail).and_then(|head| words(head, shell));
        let stays = stays.filter(|stays| stays.len() == typed.len()).and_then(|mut stays| stays.pop());
        let Some(stays) = stays else { return Offer::Own };
        found = found.into_iter().filter_map(|offered| put_behind(&stays, offered)).collect();
    }
    Offer::Words(found)
}

/// Where among NetScaler's words the cursor is.
struct Place {
    /// The line as the prompt would have it, up to the word at the cursor; empty, if all of it is in that word.
    head: String,
    /// What is there of that word.
    begun: String,
    /// Does the name of a virtual server stand there, and nothing else?
    is_name: bool,
    /// Data directory of the program that can be asked.
    data: Option<PathBuf>,
}

impl Place {
    /// Behind these words, if one of NetScaler's stands there: they are read as they will be when the line is given.
    fn of(before: &[Word], last: &Word, command: clap::Command) -> Option<Place> {
        let arguments = before.get(1..)?.iter().map(|word| word.text.as_str());
        let matches = command.try_get_matches_from([NAME].into_iter().chain(arguments).chain([HERE])).ok()?;
        let (reach, given, is_name) = match matches.subcommand()? {
            ("cli", of) => {
                let mut args = CliArgs::from_arg_matches(of).ok()?;
                args.command.pop().filter(|word| word == HERE)?;
                (args.reach, args.command, false)
            }
            ("explain", of) => {
                let args = ExplainArgs::from_arg_matches(of).ok().filter(|args| args.vserver == HERE)?;
                (args.reach, Vec::new(), true)
            }
            _ => return None,
        };
        // An option of this program's own, or what the shell alone can complete.
        if given.is_empty() && last.text.starts_with('-') || !last.is_sure {
            return None;
        }
        let (head, begun) = match &given[..] {
            [] if is_name => ("explain ".to_owned(), begun(&last.text)),
            // One argument is a line.
            [] => (String::new(), last.text.clone()),
            given => (given.iter().map(|one| argument(one) + " ").collect(), begun(&last.text)),
        };
        let of_reach = &before[..before.len() - given.len()];
        let data = match reach {
            Reach { nitro: None, data, .. } if of_reach.iter().all(|word| word.is_sure) => {
                Some(data.unwrap_or_else(|| DATA.into()))
            }
            _ => None,
        };
        Some(Place { head, begun, is_name, data })
    }

    /// What the program says may stand there, or what can be said without it.
    fn told(&self) -> Told {
        let line = format!("{}{}", self.head, self.begun);
        let of_program = self.data.clone().and_then(|data| {
            let (answer, answered) = mpsc::channel();
            let line = line.clone();
            // Whatever keeps it waiting, nobody waits for it.
            std::thread::spawn(move || drop(answer.send(told(&Door::socket(&data), &line, line.len()))));
            answered.recv_timeout(PATIENCE).ok().flatten()
        });
        of_program.unwrap_or_else(|| {
            let found = complete(&line, line.len(), &Config::default(), &|_| true);
            found.map(Told::from).unwrap_or_default()
        })
    }

    /// The words that may take the place of the one at the cursor.
    fn found(&self, told: &Told, last: &Word) -> Vec<Offered> {
        let value = |word: &str| match told.start.checked_sub(self.head.len())? {
            0 => Some(as_argument(word)),
            // All of the line is in one word.
            start if self.head.is_empty() => {
                Some(format!("{}{}", self.begun.get(..start)?, within(word, last.quote)))
            }
            _ => None,
        };
        let is_meant = |word: &str| !(self.is_name && word.starts_with('-'));
        let candidates = told.candidates.iter().filter(|candidate| is_meant(&candidate.word));
        let offered = candidates.filter_map(|candidate| {
            let word = value(&candidate.word).filter(|word| harmless(word) == *word)?;
            Some(Offered { word, help: harmless(&candidate.help) })
        });
        let mut found: Vec<Offered> = offered.collect();
        if told.more > 0 {
            // Else a shell would go on with what the listed ones alone have in common.
            let common = value(told.common.trim_start_matches('"')).unwrap_or_default();
            let word = if common.len() < last.text.len() { &last.text } else { &common };
            found.push(Offered { word: format!("{word}..."), help: format!("and {} more", told.more) });
        }
        found
    }
}

/// What is there of a word, as it would be typed at the prompt: in a quote that is not closed yet, if it needs one.
fn begun(text: &str) -> String {
    match lex::words(text) {
        Ok(words) if text.is_empty() || words.len() == 1 && !words[0].glued => text.to_owned(),
        Ok(_) => {
            let typed = typed_word(text);
            typed.strip_suffix('"').unwrap_or(&typed).to_owned()
        }
        // Brackets and quotes that are open.
        Err(_) => text.to_owned(),
    }
}

/// The argument that `cli` reads as this word of the prompt.
fn as_argument(word: &str) -> String {
    let one = |text: &str| lex::words(text).ok().and_then(|words| <[_; 1]>::try_from(words).ok());
    let Some([meant]) = one(word) else { return word.to_owned() };
    let is_same = one(&argument(&meant.text))
        .is_some_and(|[read]| (&read.text, read.option) == (&meant.text, meant.option));
    if is_same { meant.text } else { word.to_owned() }
}

/// A word of the prompt, its quotes other ones than those of the shell around it.
fn within(word: &str, quote: Option<char>) -> String {
    match word.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(text) if quote == Some('"') && !text.contains(['\'', '\\']) => format!("'{text}'"),
        _ => word.to_owned(),
    }
}

/// Words that have less in common than is typed begin as it is typed, which means the same: a shell would take the rest back.
fn keep(found: &mut [Offered], typed: &str) {
    let same = |word: &str| word.get(..typed.len()).is_some_and(|begun| begun.eq_ignore_ascii_case(typed));
    let begun = found.first().and_then(|first| first.word.get(..typed.len())).map(str::to_owned);
    let is_common = begun.is_some_and(|begun| found.iter().all(|offered| offered.word.starts_with(&begun)));
    if !is_common && found.iter().all(|offered| same(&offered.word)) {
        found.iter_mut().for_each(|offered| offered.word.replace_range(..typed.len(), typed));
    }
}

/// What bash puts behind the part of the word that stays.
fn put_behind(stays: &Word, offered: Offered) -> Option<Offered> {
    let (begun, rest) = offered.word.split_at_checked(stays.text.len())?;
    let word = quoted(rest, stays.quote).filter(|_| begun.eq_ignore_ascii_case(&stays.text))?;
    Some(Offered { word, ..offered })
}

/// Commands of this program behind which words of NetScaler's stand.
pub const COMMANDS: [&str; 2] = ["cli", "explain"];
/// Stands for the word at the cursor: nobody types it.
const HERE: &str = "\u{1}";
/// What the prompt calls the name of a file that it reads or writes itself.
const FILES: [&str; 3] = ["<file>", "<fileName>", "<outfile>"];
/// How long the program is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_offered_is_read_as_what_was_meant() {
        for (word, expected) in [
            ("show", "show"),
            ("-lbMethod", "-lbMethod"),
            ("\"my service\"", "my service"),
            ("\"#1\"", "#1"),
            // Without its quotes it would be an option, another word, or several.
            ("\"-x\"", "\"-x\""),
            ("\"q{x}\"", "\"q{x}\""),
            ("\"say \\\"no\\\"\"", "say \"no\""),
        ] {
            let argument_of = as_argument(word);
            assert_eq!(argument_of, expected);
            let (meant, read) = (lex::words(word).unwrap(), lex::words(&argument(&argument_of)).unwrap());
            assert_eq!((&read[0].text, read[0].option), (&meant[0].text, meant[0].option), "{word}");
            assert_eq!(read.len(), 1, "{word}");
        }
    }

    #[test]
    fn nothing_that_is_typed_is_taken_back() {
        let kept = |words: &[&str], typed: &str| {
            let offered = |word: &&str| Offered { word: (*word).to_owned(), help: String::new() };
            let mut found: Vec<Offered> = words.iter().map(offered).collect();
            keep(&mut found, typed);
            found.into_iter().map(|offered| offered.word).collect::<Vec<_>>()
        };
        assert_eq!(kept(&["web1", "wEB2"], "web"), ["web1", "web2"]);
        assert_eq!(kept(&["server", "service"], "SE"), ["server", "service"], "as the words have it");
        assert_eq!(kept(&["web1", "wEB2"], ""), ["web1", "wEB2"]);
        assert_eq!(kept(&["x"], "\"x"), ["x"]);
        assert_eq!(kept(&[], "x"), [""; 0]);
    }
}
