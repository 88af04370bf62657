//! What commands take that configure nothing.

use super::{Need, Search};
use crate::command::abbreviation::abbreviates;
use crate::command::catalogue::{next, title};
use crate::command::lex::Word;
use crate::command::once::{CLI, Once, Part, What, once};
use crate::command::typed::object_of;
use crate::command::{Object, about};

impl Search<'_> {
    /// Offers what follows in such a command; false if it is none that is carried out here.
    pub(super) fn once(&mut self, words: &[Word]) -> bool {
        let Some(title) = title(words).filter(|title| title.object.is_empty() && title.group.is_empty())
        else {
            return false;
        };
        let of_verb: Vec<&Once> = once().filter(|once| once.verb == title.verb).collect();
        let Some(first) = of_verb.first() else { return false };
        let (what, used) = match first.object {
            "" => (Some(*first), title.used),
            _ => {
                let (object, used) = object_of(words, title.used);
                (of_verb.iter().find(|once| once.object == object).copied(), used)
            }
        };
        match what {
            Some(once) => self.parts(once, &words[used..]),
            None => self.object_of(&of_verb, &words[title.used..]),
        }
        true
    }

    /// Offers what follows in a command about the session itself; false if it is none.
    pub(super) fn of_the_session(&mut self, words: &[Word]) -> bool {
        let [verb, group, rest @ ..] = words else { return false };
        if !group.text.eq_ignore_ascii_case(CLI) {
            return false;
        }
        let of_verb = of_cli(verb);
        self.found.is_whole = false;
        match rest {
            [] => of_verb.iter().for_each(|(object, once)| self.word(object, once.help, Need::Must)),
            [object, arguments @ ..] => {
                if let Some((_, once)) = of_verb.iter().find(|(known, _)| abbreviates(&object.text, known)) {
                    self.parts(once, arguments);
                }
            }
        }
        !of_verb.is_empty()
    }

    /// Offers the group of those commands behind their verbs.
    pub(super) fn session_after(&mut self, verb: &Word) {
        if !of_cli(verb).is_empty() {
            self.word(CLI, about::group(CLI).help, Need::Not);
        }
    }

    /// The words of what such a verb acts on.
    fn object_of(&mut self, of_verb: &[&'static Once], words: &[Word]) {
        self.found.is_whole = false;
        let begun = self.begun.clone();
        let known = |once: &&'static Once| {
            let (group, name) = once.object.split_once(' ')?;
            match words {
                [] if group == "ns" && abbreviates(&begun, name) => Some((name, once.help)),
                [] => Some((group, about::group(group).help)),
                [first] if abbreviates(&first.text, group) => Some((name, once.help)),
                _ => None,
            }
        };
        of_verb.iter().filter_map(known).for_each(|(word, help)| self.word(word, help, Need::Must));
    }

    fn parts(&mut self, once: &'static Once, words: &[Word]) {
        let named = |name: &str| once.parts.iter().find(|part| part.name.eq_ignore_ascii_case(name));
        let mut given: Vec<&str> = Vec::new();
        let mut rest = words;
        let free = |given: &[&str]| {
            let is_free = |part: &&&'static Part| !part.name.starts_with('-') && !given.contains(&part.name);
            once.parts.iter().find(|part| is_free(&part))
        };
        while let [word, after @ ..] = rest {
            rest = after;
            let part = if word.option { named(&word.text) } else { free(&given) };
            let Some(part) = part else { return };
            given.push(part.name);
            match (part.what, word.option, after) {
                (What::Command, ..) => return self.command(words),
                (What::Nothing, ..) | (_, false, _) => {}
                (_, true, []) => {
                    self.part(part, Need::Must);
                    self.found.is_whole = false;
                    return;
                }
                (_, true, [_, after @ ..]) => rest = after,
            }
        }
        let is_missing = |part: &&Part| part.required && !given.contains(&part.name);
        self.found.is_whole = self.is_open && !once.parts.iter().any(|part| is_missing(&part));
        if let Some(part) = free(&given) {
            self.part(part, if part.required { Need::Must } else { Need::Not });
        }
        let options =
            once.parts.iter().filter(|part| part.name.starts_with('-') && !given.contains(&part.name));
        options.for_each(|part| {
            self.word(part.name, part.help, if part.required { Need::Must } else { Need::Not });
        });
    }

    fn part(&mut self, part: &Part, need: Need) {
        match part.what {
            What::Nothing => {}
            What::Text => self.own_words(part.name.trim_start_matches('-'), part.help, need),
            What::Words(words) => words.iter().for_each(|word| self.word(word, "", need)),
            What::Vserver => {
                self.names(Object::LbVserver, &[], need);
                self.own_words(part.name, part.help, need);
            }
            What::Command => self.command(&[]),
        }
    }

    /// The beginning of a command as help takes it.
    fn command(&mut self, words: &[Word]) {
        self.found.is_whole = self.is_open;
        // Behind a group or an object that is named alone nothing follows.
        let following = next::next(words, &self.begun).ok().flatten().map(|next| next.words);
        following.unwrap_or_default().iter().for_each(|about| self.word(about.word, about.help, Need::Not));
        if words.is_empty() {
            next::groups().for_each(|about| self.word(about.word, about.help, Need::Not));
            self.word("-all", "Every command.", Need::Not);
        }
        self.found.candidates.sort_by_cached_key(|candidate| candidate.word.to_ascii_lowercase());
    }
}

/// The commands about the session itself that a verb begins, with their objects.
fn of_cli(verb: &Word) -> Vec<(&'static str, &'static Once)> {
    let is_meant = |once: &&Once| abbreviates(&verb.text, once.verb);
    once().filter(is_meant).filter_map(|once| Some((once.of_cli()?, once))).collect()
}
