//! A line that was typed at a prompt: what it means, before it is judged and carried out.
//!
//! Owns what becomes of a line outside a file: it is a command, it is kept, or it is an action that leaves nothing
//! configured. The hard question is which words policies judge: those of the command in full, whatever abbreviation was
//! typed, and never a secret.

use super::abbreviation::abbreviates;
use super::catalogue::{Entry, title};
use super::keep;
use super::lex::{self, Word};
use super::mask::{hide, mask_unread, secrets};
use super::matching::Matching;
use super::parse::{Instead, Parsed, Said, kept_instead, understand, understand_matching};
use super::print::rank;
use super::read::{LINE, of_the_appliance};
use super::refusal::Refusal;
use super::resolve::Search;
use super::value::write_text;
use super::{CannotSeal, Command, Seal, text};
use crate::config::Config;
use crate::config::attribute::Effect;
use crate::config::kept::{Class, Kept, Rank, Whole};
use crate::config::secret::Plain;

/// A line, understood.
pub struct Typed {
    /// What it says, in full and without its secrets.
    said: String,
    meaning: Meaning,
    keeping: Option<Keeping>,
    instead: Option<Instead>,
    /// An expression stands for its objects.
    by_expression: bool,
}

/// What a line stands for.
pub enum Meaning {
    /// A command of this program.
    Command(Parsed),
    /// One that is kept as it stands.
    Kept,
    /// A query, or an action that leaves nothing configured.
    Action(Action),
}

/// Such an action.
#[derive(Clone)]
pub struct Action {
    /// `save`
    pub verb: &'static str,
    /// `ns config`; empty where the verb says it all.
    pub object: String,
    /// What follows.
    pub arguments: Vec<Word>,
}

/// How a line is kept.
struct Keeping {
    text: String,
    secret: Option<Plain>,
    class: Class,
    rank: Rank,
    vserver: Option<String>,
}

impl Action {
    /// In full.
    fn text(&self) -> String {
        let mut out = format!("{} {}", self.verb, self.object);
        for word in &self.arguments {
            out.push(' ');
            match word.option {
                true => out.push_str(&word.text),
                false => write_text(&word.text, &mut out),
            }
        }
        out
    }
}

impl Typed {
    /// Reads a line; `None` when it is empty or a comment. A line about an object that nothing acts on is kept where it
    /// cannot be understood, as it would be in a file.
    ///
    /// # Errors
    /// [`Refusal`] and the column that it is about.
    pub fn read(line: &str, config: &Config) -> Result<Option<Typed>, (Refusal, usize)> {
        Typed::read_with(line, config, None)
    }

    /// The same; a regular expression in a `rm` or `unset` stands for each object of the configuration whose name it matches.
    ///
    /// # Errors
    /// [`Refusal`] and the column that it is about.
    pub fn read_matching(line: &str, config: &Config) -> Result<Option<Typed>, (Refusal, usize)> {
        Typed::read_with(line, config, Some(&Matching::new(config)))
    }

    fn read_with(
        line: &str,
        config: &Config,
        matching: Option<&Matching<'_>>,
    ) -> Result<Option<Typed>, (Refusal, usize)> {
        if line.len() > text::LONGEST_COMMAND {
            return Err((Refusal::LineTooLong { max: text::LONGEST_COMMAND }, 1));
        }
        // What is kept is a line of a file: it may not be two, nor go on in the next.
        if let Some(at) = line.find(['\n', '\r']) {
            return Err((Refusal::UnmatchedCharacter('\n'), line[..at].chars().count() + 1));
        }
        let words = lex::words(line)?;
        if words.is_empty() {
            return Ok(None);
        }
        let understood = understand_matching(&words, matching);
        let by_expression = matching.is_some_and(Matching::has_found);
        // What an expression stands for now it may not when a file is read.
        let instead = kept_instead(&understood, &words).filter(|_| !by_expression);
        let masked = secrets(line, &words, &understood);
        let mut said = in_full(masked.as_ref().map_or(line, |masked| &masked.command));
        let entry = match &understood {
            Ok(Said::Kept(entry)) if entry.class.is_live() => Some(*entry),
            Ok(Said::Command(parsed)) if of_the_appliance(parsed) => {
                let rank = rank(parsed.verb(), parsed.object());
                Some(Entry { class: Class::Stored, effect: Effect::Inert, rank })
            }
            _ => instead.map(|instead| instead.entry),
        };
        let keeping = entry.map(|Entry { class, rank, .. }| {
            let vserver = keep::added_vserver(&words).map(str::to_owned);
            let shown = Some((keep::command(line, &words), rank));
            let (_, kept, secret) = match masked {
                Some(masked) => hide(masked, line.to_owned(), shown),
                None => (String::new(), shown, None),
            };
            Keeping { text: kept.map_or_else(String::new, |(text, _)| text), secret, class, rank, vserver }
        });
        if keeping.is_some() && line.trim_end().ends_with('\\') {
            return Err((Refusal::UnmatchedCharacter('\\'), line.trim_end().chars().count()));
        }
        let meaning = match understood {
            Ok(Said::Command(parsed)) => match parsed.sealed_column() {
                Some(column) => {
                    return Err((
                        Refusal::UnknownArgument { word: "-sealed".to_owned(), nearest: None },
                        column,
                    ));
                }
                None if of_the_appliance(&parsed) => Meaning::Kept,
                None => Meaning::Command(parsed),
            },
            Ok(Said::Kept(_)) if keeping.is_some() => Meaning::Kept,
            Ok(Said::Kept(_)) => {
                let action = action(&words);
                if TAKES_OBJECT.contains(&action.verb) {
                    said = action.text();
                }
                Meaning::Action(action)
            }
            Err((refusal, column)) => match instead {
                Some(instead) if instead.of(&refusal, config) => Meaning::Kept,
                _ => return Err((refusal, column)),
            },
        };
        Ok(Some(Typed { said, meaning, keeping, instead, by_expression }))
    }

    /// What it stands for.
    pub fn meaning(&self) -> &Meaning {
        &self.meaning
    }

    /// What policies judge and the audit log notes: one line for each command that its ranges stand for, and for each object that
    /// a regular expression does.
    pub fn texts(&self) -> Vec<String> {
        match &self.meaning {
            Meaning::Command(parsed) if self.by_expression => {
                parsed.commands().iter().flat_map(Command::for_each_name).map(|one| one.text()).collect()
            }
            Meaning::Command(parsed) => parsed.commands().iter().map(Command::text).collect(),
            Meaning::Kept | Meaning::Action(_) => vec![self.said.clone()],
        }
    }

    /// Is it kept, although it was refused so?
    pub fn is_kept_after(&self, refusal: &Refusal, config: &Config) -> bool {
        self.instead.is_some_and(|instead| instead.of(refusal, config))
    }

    /// Says in a refusal what could have been meant.
    pub fn explain(&self, config: &Config, refusal: &mut Refusal) {
        if let Meaning::Command(parsed) = &self.meaning {
            Search::default().explain(config, parsed.object(), refusal);
        }
    }

    /// Keeps the line where a file would keep it; its secrets are sealed.
    ///
    /// # Errors
    /// [`Refusal::CannotSeal`]. The configuration is unchanged then.
    pub fn keep(&self, config: &mut Config, seal: &dyn Seal) -> Result<(), Refusal> {
        let Some(Keeping { text, secret, class, rank, vserver }) = &self.keeping else { return Ok(()) };
        let whole = match secret.as_ref().map(|secret| seal.seal(secret.text(), LINE)) {
            None => Whole::Shown,
            Some(Ok(sealed)) => Whole::Sealed(sealed),
            Some(Err(CannotSeal(why))) => return Err(Refusal::CannotSeal { argument: None, why }),
        };
        vserver.iter().for_each(|name| config.kept.note_vserver(name));
        config.kept.push(Kept { text: text.clone(), whole, class: *class, rank: *rank });
        Ok(())
    }
}

/// A line with a mask in the place of each of its secrets; `None` where it has none.
pub fn without_secrets(line: &str) -> Option<String> {
    match lex::words(line) {
        Ok(words) => secrets(line, &words, &understand(&words)).map(|masked| masked.text),
        Err(_) => mask_unread(line).map(|masked| masked.text),
    }
}

/// A word as it would be typed, in quotes where they are needed.
pub fn typed_word(word: &str) -> String {
    let mut out = String::new();
    write_text(word, &mut out);
    out
}

/// The line with its first words as the appliance writes them.
pub fn in_full(line: &str) -> String {
    let words = lex::words(line).unwrap_or_default();
    let Some(title) = title(&words) else { return line.trim().to_owned() };
    let mut out = String::new();
    for word in [title.verb, title.group, title.object].into_iter().filter(|word| !word.is_empty()) {
        out.push_str(if out.is_empty() { "" } else { " " });
        out.push_str(word);
    }
    for word in words.iter().skip(title.used) {
        out.push(' ');
        match word.option {
            true => out.push_str(&word.text),
            false => write_text(&word.text, &mut out),
        }
    }
    out
}

fn action(words: &[Word]) -> Action {
    match title(words) {
        Some(title) => {
            let mut used = title.used;
            let mut object = format!("{} {}", title.group, title.object).trim().to_owned();
            // `save ns config`, `clear lb persistentSessions`: verbs that take their object as they find it.
            if object.is_empty() && TAKES_OBJECT.contains(&title.verb) {
                (object, used) = object_of(words, used);
            }
            Action { verb: title.verb, object, arguments: words.iter().skip(used).cloned().collect() }
        }
        None => Action { verb: "", object: String::new(), arguments: words.to_vec() },
    }
}

/// The object of an action by any abbreviation of its words, the group `ns` left out or not.
pub(super) fn object_of(words: &[Word], used: usize) -> (String, usize) {
    let word = |at: usize| words.get(at).map_or("", |word| word.text.as_str());
    for object in ACTED_ON {
        let (group, name) = object.split_once(' ').unwrap_or(("", object));
        if abbreviates(word(used), group) && abbreviates(word(used + 1), name) {
            return ((*object).to_owned(), used + 2);
        }
        if group == "ns" && abbreviates(word(used), name) {
            return ((*object).to_owned(), used + 1);
        }
    }
    (String::new(), used)
}

/// Verbs of actions that are followed by what they act on.
const TAKES_OBJECT: &[&str] = &["save", "clear", "diff", "kill"];
/// And that.
const ACTED_ON: &[&str] = &["ns config", "lb persistentSessions", "system session"];
