//! `set`, `unset` and `show cli mode`: how the session behaves (`spec/cli.md` 1).

use steelyard_core::command::abbreviation::{Match, find};
use steelyard_core::command::lex::Word;
use steelyard_core::command::{Allowed, Refusal};

use super::line::Said;

/// What a session was told to be like.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mode {
    /// Long answers stop at each page of a terminal.
    pub page: bool,
    /// A list begins with the number of its objects.
    pub total: bool,
    /// On a terminal, errors, warnings and states have colours.
    pub color: bool,
    /// What becomes of a command whose feature is off.
    pub feature: DisabledFeature,
    /// A prompt at which nobody types ends after so many seconds; 0 never.
    pub timeout_s: u32,
    /// A name that begins with `^` in a `show`, `rm` or `unset` is a regular expression.
    pub regex: bool,
}

/// What becomes of a command whose feature is off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DisabledFeature {
    /// It is carried out, and nothing said.
    None,
    /// It is carried out with a warning.
    Allow,
    /// It is refused.
    Deny,
}

impl Default for Mode {
    fn default() -> Mode {
        Mode {
            page: false,
            total: false,
            color: false,
            feature: DisabledFeature::Allow,
            timeout_s: 900,
            regex: true,
        }
    }
}

impl Mode {
    /// Carries out `set cli mode`: all that it says, or nothing.
    ///
    /// # Errors
    /// [`Refusal`] of the first argument that is wrong.
    pub fn set(&mut self, arguments: &[Word]) -> Result<(), Said> {
        let mut new = self.clone();
        let mut words = arguments.iter();
        if words.len() == 0 {
            return Err(Said::error("Too few arguments"));
        }
        while let Some(word) = words.next() {
            let option = option(word)?;
            let value = words.next().filter(|value| !value.option);
            let value = value.ok_or(Refusal::OptionValueMissing { argument: &option[1..] })?;
            new.take(option, &value.text)?;
        }
        *self = new;
        Ok(())
    }

    /// Carries out `unset cli mode`.
    ///
    /// # Errors
    /// [`Refusal`] of the first argument that is wrong.
    pub fn unset(&mut self, arguments: &[Word]) -> Result<(), Said> {
        let mut new = self.clone();
        if arguments.is_empty() {
            return Err(Said::error("Too few arguments"));
        }
        for word in arguments {
            let Mode { page, total, color, feature, timeout_s, regex } = Mode::default();
            match option(word)? {
                "-page" => new.page = page,
                "-total" => new.total = total,
                "-color" => new.color = color,
                "-disabledFeatureAction" => new.feature = feature,
                "-timeout" => new.timeout_s = timeout_s,
                _ => new.regex = regex,
            }
        }
        *self = new;
        Ok(())
    }

    /// Every option and its value.
    pub fn text(&self) -> String {
        let on = |on| if on { "ON" } else { "OFF" };
        let feature = match self.feature {
            DisabledFeature::None => "NONE",
            DisabledFeature::Allow => "ALLOW",
            DisabledFeature::Deny => "DENY",
        };
        format!(
            "\tpage: {}\n\ttotal: {}\n\tcolor: {}\n\tdisabledFeatureAction: {feature}\n\ttimeout: {}\n\tregex: {}\n",
            on(self.page),
            on(self.total),
            on(self.color),
            self.timeout_s,
            on(self.regex),
        )
    }

    fn take(&mut self, option: &'static str, value: &str) -> Result<(), Said> {
        let argument = &option[1..];
        match option {
            "-page" => self.page = one_of(argument, &ON_OFF, value)? == "ON",
            "-total" => self.total = one_of(argument, &ON_OFF, value)? == "ON",
            "-color" => self.color = one_of(argument, &ON_OFF, value)? == "ON",
            "-disabledFeatureAction" => {
                self.feature = match one_of(argument, &["NONE", "ALLOW", "DENY"], value)? {
                    "NONE" => DisabledFeature::None,
                    "DENY" => DisabledFeature::Deny,
                    _ => DisabledFeature::Allow,
                }
            }
            "-timeout" => {
                let seconds = value.parse().ok().filter(|s| *s == 0 || (LEAST_S..=MOST_S).contains(s));
                self.timeout_s = seconds.ok_or_else(|| Refusal::InvalidValue {
                    argument,
                    word: value.to_owned(),
                    allowed: Allowed::Such("0 for no end, or 10 to 100000000 seconds"),
                    nearest: None,
                })?;
            }
            _ => self.regex = one_of(argument, &ON_OFF, value)? == "ON",
        }
        Ok(())
    }
}

/// The option that a word begins; only it.
fn option(word: &Word) -> Result<&'static str, Said> {
    let unknown = || Refusal::UnknownArgument { word: word.text.clone(), nearest: None };
    match find(&word.text, OPTIONS.into_iter()) {
        Match::One(option) if word.option => Ok(option),
        Match::Several(candidates) if word.option => {
            Err(Refusal::AmbiguousArgument { word: word.text.clone(), candidates }.into())
        }
        _ => Err(unknown().into()),
    }
}

fn one_of(
    argument: &'static str,
    words: &'static [&'static str],
    given: &str,
) -> Result<&'static str, Refusal> {
    let word = given.to_owned();
    match find(given, words.iter().copied()) {
        Match::One(word) => Ok(word),
        Match::Several(candidates) => Err(Refusal::AmbiguousValue { argument, word, candidates }),
        Match::None => {
            Err(Refusal::InvalidValue { argument, word, allowed: Allowed::Words(words), nearest: None })
        }
    }
}

const OPTIONS: [&str; 6] = ["-page", "-total", "-color", "-disabledFeatureAction", "-timeout", "-regex"];
const ON_OFF: [&str; 2] = ["ON", "OFF"];
/// Seconds without a key.
const LEAST_S: u32 = 10;
const MOST_S: u32 = 100_000_000;
