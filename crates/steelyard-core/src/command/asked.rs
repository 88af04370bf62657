//! What `help` and `man` are asked about: a command, a verb, an object, a group, or nothing.
//!
//! Owns which of them some words name, and the page that says what there is. What a command takes `help` says, everything
//! about it `manual`.

use std::fmt::Write as _;

use super::abbreviation::{Match, abbreviates, begins, find};
use super::about::{self, About};
use super::catalogue::{Head, head, next, title};
use super::counted::counted_of;
use super::help::{BEYOND, synopsis_of_once, usage_of_counted, usage_of_once};
use super::lex::Word;
use super::manual::{Page, page_of, page_of_counted, page_of_once};
use super::once::{CLI, Once, once};
use super::refusal::Refusal;
use super::{OF_THE_APPLIANCE, Object, Verb, usage};

/// Help about the command that these words begin; in brief about each of a verb, an object or a group; of what there is, where
/// nothing is named.
///
/// # Errors
/// They name none.
pub fn help(words: &[Word]) -> Result<String, Refusal> {
    let named = named(words);
    match words {
        [] => return Ok(overview()),
        [all] if all.text.eq_ignore_ascii_case("-all") => return Ok(brief(|_, _| true, |_| true)),
        _ => {}
    }
    let of_group = brief(
        |_, text| {
            let group = text.split_once(' ').map_or(text, |(group, _)| group);
            text.eq_ignore_ascii_case(&named) || group.eq_ignore_ascii_case(&named)
        },
        |_| false,
    );
    if !of_group.is_empty() {
        return Ok(of_group);
    }
    let once = once_of(words);
    if !once.is_empty() {
        return Ok(once.into_iter().map(usage_of_once).collect::<Vec<_>>().join("\n"));
    }
    if let Match::One(verb) = find(&named, Verb::ALL.iter().map(|verb| verb.text())) {
        return Ok(brief(|of, _| of.text() == verb, |once| once.verb == verb));
    }
    match head(words, 1) {
        Ok(Head::Command { verb, object, .. }) => usage(verb, object).ok_or_else(|| unknown(named)),
        Ok(Head::Kept(_)) => {
            counted(words).and_then(usage_of_counted).or_else(|| kept(words)).ok_or_else(|| unknown(named))
        }
        Err((refusal, _)) => of_verb_and_group(words).or_else(|| kept_group(&named)).ok_or(refusal),
    }
}

/// The page of the manual about a command; `None` where these words name no single one, and [`help`] says more.
pub fn man(words: &[Word]) -> Option<Page> {
    if let [once] = once_of(words)[..] {
        return Some(page_of_once(once));
    }
    match head(words, 1) {
        Ok(Head::Command { verb, object, .. }) => page_of(verb, object),
        Ok(Head::Kept(_)) => page_of_counted(counted(words)?),
        Err(_) => None,
    }
}

/// The object of a `stat` of what nothing configures.
fn counted(words: &[Word]) -> Option<&'static str> {
    counted_of(words).map(|(object, _)| object)
}

fn named(words: &[Word]) -> String {
    words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
}

fn unknown(word: String) -> Refusal {
    Refusal::UnknownCommand { word, nearest: None }
}

/// The commands that configure nothing of the verb that these words begin with.
fn once_of(words: &[Word]) -> Vec<&'static Once> {
    if let [verb, group, rest @ ..] = words
        && group.text.eq_ignore_ascii_case(CLI)
    {
        let object = named(rest);
        let is_meant = |once: &&Once| {
            abbreviates(&verb.text, once.verb) && once.of_cli().is_some_and(|known| begins(known, &object))
        };
        return once().filter(is_meant).collect();
    }
    let Some(title) = title(words).filter(|title| title.group.is_empty() && title.object.is_empty()) else {
        return Vec::new();
    };
    let rest = named(words.get(title.used..).unwrap_or_default());
    let is_meant = |once: &&Once| once.verb == title.verb && begins(once.object, &rest);
    once().filter(is_meant).collect()
}

/// A line for each command.
fn brief(is_meant: impl Fn(Verb, &str) -> bool, is_meant_once: impl Fn(&Once) -> bool) -> String {
    let mut out = String::new();
    let own = Object::ALL.into_iter().flat_map(|object| Verb::ALL.map(|verb| (verb, object)));
    let own = own.filter(|(verb, object)| is_meant(*verb, object.text()));
    let counted = OF_THE_APPLIANCE.iter().filter(|object| is_meant(Verb::Stat, object));
    let counted = counted.filter_map(|object| usage_of_counted(object));
    for usage in own.filter_map(|(verb, object)| usage(verb, object)).chain(counted) {
        let synopsis = usage.lines().next().unwrap_or_default();
        let _ = writeln!(out, "{}", synopsis.strip_prefix("Usage: ").unwrap_or(synopsis));
    }
    for once in once().filter(|once| is_meant_once(once)) {
        let _ = writeln!(out, "{}{}", synopsis_of_once(once), if once.beyond { BEYOND } else { "" });
    }
    out
}

/// What is said of a command that is only kept.
fn kept(words: &[Word]) -> Option<String> {
    let title = title(words)?;
    let name = [title.verb, title.group, title.object].join(" ");
    let name = name.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    let is_carried = !title.group.is_empty() || !title.object.is_empty();
    is_carried.then(|| match Verb::ALL.into_iter().find(|verb| verb.text() == title.verb) {
        Some(Verb::Show | Verb::Stat) => format!("Usage: {name}\n"),
        _ => format!("Usage: {name} ...\n{}\n", about::KEPT),
    })
}

/// What a verb can do in a group: `add lb`.
fn of_verb_and_group(words: &[Word]) -> Option<String> {
    let [verb, group] = words else { return None };
    let following = next::next(words, "").ok()??;
    let Match::One(verb) = find(&verb.text, Verb::ALL.iter().map(|verb| verb.text())) else { return None };
    let Match::One(group) = find(&group.text, next::groups().map(|about| about.word)) else { return None };
    let of_group = |object: &str| object.split_once(' ').is_some_and(|(own, _)| own == group);
    let brief = brief(|of, object| of.text() == verb && of_group(object), |_| false);
    let kept: Vec<&str> = following.words.iter().filter(|of| of.is_kept()).map(|of| of.word).collect();
    Some(format!("{brief}{}", kept_words(&format!("{verb} {group}"), &kept)))
}

/// The objects of a group of which all is only kept.
fn kept_group(named: &str) -> Option<String> {
    let group = next::groups().find(|about| about.word.eq_ignore_ascii_case(named))?;
    let objects: Vec<&str> = next::objects_of(group.word).iter().map(|about| about.word).collect();
    Some(kept_words(group.word, &objects))
}

/// Words that nothing here acts on.
fn kept_words(before: &str, words: &[&str]) -> String {
    match words {
        [] => String::new(),
        _ => format!("{before}: {}\n{}", about::KEPT, filled(words)),
    }
}

/// What there is, and how to ask for more.
fn overview() -> String {
    let verbs = next::first();
    let mut verbs: Vec<About> = verbs.filter(|about| !about.is_kept()).collect();
    verbs.sort_by_key(|about| about.word);
    verbs.dedup_by_key(|about| about.word);
    let mut groups: Vec<About> = next::groups().filter(|about| !about.is_kept()).collect();
    groups.sort_by_cached_key(|about| about.word.to_ascii_lowercase());
    let others: Vec<&str> = next::groups().filter(About::is_kept).map(|about| about.word).collect();
    let mut out = String::from(HOW);
    let _ = write!(out, "\nCommands:\n{}", table(verbs.into_iter().map(marked)));
    let _ = write!(out, "\nGroups and objects:\n{}", table(groups));
    let _ = write!(
        out,
        "\nOthers of NetScaler's, which are kept and saved, and not acted on:\n{}",
        filled(&others)
    );
    out
}

/// What no appliance has says so.
fn marked(about: About) -> About {
    match once().find(|once| once.verb == about.word && once.beyond) {
        Some(_) => About { mark: BEYOND, ..about },
        None => about,
    }
}

/// A line for each word.
fn table(words: impl IntoIterator<Item = About>) -> String {
    let words: Vec<About> = words.into_iter().collect();
    let width = words.iter().map(|about| about.word.len()).max().unwrap_or(0);
    let line = |about: &About| format!("  {:<width$}  {}{}\n", about.word, about.help, about.mark);
    words.iter().map(line).collect()
}

/// Words in lines of a terminal's width.
fn filled(words: &[&str]) -> String {
    let mut out = String::new();
    let mut width = 0;
    for word in words {
        if width == 0 || width + word.len() >= WIDTH {
            out.push_str(if width == 0 { "  " } else { "\n  " });
            width = 1;
        } else {
            out.push(' ');
        }
        out.push_str(word);
        width += word.len() + 1;
    }
    out.push('\n');
    out
}

const WIDTH: usize = 78;
const HOW: &str = "\
Try:
  help COMMAND   what a command takes: help add lb vserver
  help GROUP     the commands of a verb, an object or a group in brief: help lb
  help -all      every command in brief
  man COMMAND    everything about a command: man set lb monitor
  show ... --json   and stat ...: as JSON, for programs (Steelyard)
  ?              at any place of a line: what may stand there; Tab completes it
";
