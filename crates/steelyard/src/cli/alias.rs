//! `alias` and `unalias`: a word of one's own for the beginning of a command.

use std::collections::BTreeMap;

use steelyard_core::command::{Action, Refusal, without_secrets};

use super::layout::harmless;
use super::line::Said;

/// The words of a session.
#[derive(Default)]
pub struct Aliases(BTreeMap<String, String>);

impl Aliases {
    /// The line with a word of one's own replaced, if it begins with one. What that stands for is not replaced again.
    pub fn meant_by(&self, line: &str) -> Option<String> {
        let line = line.trim_start();
        let end = line.find(char::is_whitespace).unwrap_or(line.len());
        let (word, rest) = line.split_at(end);
        self.0.get(word).map(|command| format!("{command}{rest}"))
    }

    /// Carries out `alias [NAME [COMMAND]]`; `line` is all of it. What it prints.
    ///
    /// # Errors
    /// The name cannot be one, or there is none of that name.
    pub fn alias(&mut self, action: &Action, line: &str) -> Result<String, Said> {
        let shown = |(name, command): (&String, &String)| {
            let command = without_secrets(command).unwrap_or_else(|| command.clone());
            format!("{name}\t({})\n", harmless(&command))
        };
        match &*action.arguments {
            [] => Ok(self.0.iter().map(shown).collect()),
            [name] => self.0.get_key_value(&name.text).map(shown).ok_or_else(|| missing(&name.text)),
            [name, command, ..] => {
                if !is_name(&name.text) {
                    return Err(Said::error(format!(
                        "Invalid argument value [pattern, {}: a name has letters and digits, and is none of {}]",
                        name.text,
                        OWN.join(", ")
                    )));
                }
                if self.0.len() == MOST && !self.0.contains_key(&name.text) {
                    return Err(Said::error(format!(
                        "Operation not permitted [{MOST} aliases are the most]"
                    )));
                }
                let start = line.char_indices().nth(command.column - 1).map_or(line.len(), |(at, _)| at);
                let command = bare(line[start..].trim());
                if command.is_empty() {
                    return Err(Refusal::ArgumentMissing { argument: "command" }.into());
                }
                self.0.insert(name.text.clone(), command.to_owned());
                Ok(String::new())
            }
        }
    }

    /// Carries out `unalias NAME`.
    ///
    /// # Errors
    /// There is none of that name.
    pub fn unalias(&mut self, action: &Action) -> Result<String, Said> {
        match &*action.arguments {
            [] => Err(Refusal::ArgumentMissing { argument: "pattern" }.into()),
            [name] => self.0.remove(&name.text).map(|_| String::new()).ok_or_else(|| missing(&name.text)),
            [_, word, ..] => Err(Refusal::UnknownArgument { word: word.text.clone(), nearest: None }.into()),
        }
    }
}

/// A command without the parentheses, or the quotes, that stand around all of it.
pub fn bare(command: &str) -> &str {
    let inside = |open: char, close: char| command.strip_prefix(open)?.strip_suffix(close);
    let quoted = |quote: char| inside(quote, quote).filter(|inner| !inner.contains(quote));
    inside('(', ')').or_else(|| quoted('"')).or_else(|| quoted('\'')).unwrap_or(command).trim()
}

fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    name.len() <= 64
        && name.starts_with(char::is_alphabetic)
        && name.chars().all(is_letter)
        && !OWN.contains(&name)
}

fn missing(name: &str) -> Said {
    Said::error(format!("No such resource [pattern, {name}]"))
}

/// Without these nobody would get out of what was defined.
const OWN: [&str; 4] = ["alias", "unalias", "exit", "quit"];
/// Words.
const MOST: usize = 200;
