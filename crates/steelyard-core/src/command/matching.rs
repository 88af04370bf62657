//! Regular expressions in the place of names, `^web` (`spec/cli.md` 2): what they match, and the objects that one stands for in a
//! line of `rm` or `unset`.
//!
//! The hard question is where one is meant: at a prompt alone, in the place of what the object of the command is known by. A file
//! and NITRO name each object.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use fancy_regex::Regex;

use super::Object;
use super::apply::has_tls;
use super::refusal::Refusal;
use super::resolve::{meant, names_of};
use crate::config::attribute::Row;
use crate::config::{Config, bounded};

/// A regular expression that stands for the names in which it matches somewhere, in whatever case.
pub struct NamePattern {
    expression: Regex,
    argument: &'static str,
    typed: String,
}

impl NamePattern {
    /// Reads a word, `^` included. `argument` is whose place it takes.
    ///
    /// # Errors
    /// 1137: it is none, or too large.
    pub fn read(argument: &'static str, word: &str) -> Result<NamePattern, Refusal> {
        match bounded(word) {
            Ok(expression) => Ok(NamePattern { expression, argument, typed: word.to_owned() }),
            Err(why) => Err(Refusal::InvalidExpression { argument, why }),
        }
    }

    /// Does it match that name?
    ///
    /// # Errors
    /// 1137: that takes too many steps to tell.
    pub fn matches(&self, name: &str) -> Result<bool, Refusal> {
        let wrong = |_| Refusal::InvalidExpression { argument: self.argument, why: TOO_COSTLY.to_owned() };
        self.expression.is_match(name).map_err(wrong)
    }

    /// 1136, to be said where no name matches.
    pub fn no_match(&self) -> Refusal {
        Refusal::NoMatch { argument: self.argument, word: self.typed.clone() }
    }
}

/// Is that word a regular expression, if it stands where one may?
pub(super) fn is_expression(word: &str) -> bool {
    word.starts_with('^')
}

/// What the expressions of one line stand for. A line is read once for each of its commands; names are looked for once.
pub(super) struct Matching<'c> {
    config: &'c Config,
    found: RefCell<BTreeMap<String, Rc<[String]>>>,
}

impl<'c> Matching<'c> {
    /// Among the objects of a configuration.
    pub(super) fn new(config: &'c Config) -> Matching<'c> {
        Matching { config, found: RefCell::default() }
    }

    /// The names that an expression matches, in order of creation, but for those that another of the line has.
    ///
    /// # Errors
    /// 1136 and 1137.
    pub(super) fn names(&self, object: Object, row: &Row, word: &str) -> Result<Rc<[String]>, Refusal> {
        let mut found = self.found.borrow_mut();
        if let Some(names) = found.get(word) {
            return Ok(Rc::clone(names));
        }
        let pattern = NamePattern::read(row.cli, word)?;
        let mut names = Vec::new();
        let kinds = meant(row.cli, object);
        let all = kinds.iter().flat_map(|kind| names_of(self.config, *kind, None));
        for name in all.filter(|name| has_tls(self.config, object, name)) {
            if pattern.matches(name)? {
                names.push(name.to_owned());
            }
        }
        if names.is_empty() {
            return Err(pattern.no_match());
        }
        let known: BTreeSet<&String> = found.values().flat_map(|names| names.iter()).collect();
        names.retain(|name| !known.contains(name));
        let names: Rc<[String]> = names.into();
        found.insert(word.to_owned(), Rc::clone(&names));
        Ok(names)
    }

    /// Does any of them stand for something?
    pub(super) fn has_found(&self) -> bool {
        !self.found.borrow().is_empty()
    }
}

const TOO_COSTLY: &str = "it takes too many steps on a name that is there";
