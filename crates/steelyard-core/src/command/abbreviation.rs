//! Abbreviation: a word stands for the one candidate that it begins, in whatever case; a whole word for itself.

/// What a word stands for.
#[derive(PartialEq, Eq, Debug)]
pub enum Match {
    /// This.
    One(&'static str),
    /// Any of these.
    Several(Vec<&'static str>),
    /// Nothing.
    None,
}

/// Looks `word` up among the candidates: the one that it is, or else those that it abbreviates, each once.
pub fn find(word: &str, candidates: impl Iterator<Item = &'static str>) -> Match {
    let mut begun: Vec<&'static str> = Vec::new();
    for candidate in candidates {
        if candidate.eq_ignore_ascii_case(word) {
            return Match::One(candidate);
        }
        if abbreviates(word, candidate) && !begun.contains(&candidate) {
            begun.push(candidate);
        }
    }
    match begun[..] {
        [] => Match::None,
        [one] => Match::One(one),
        _ => Match::Several(begun),
    }
}

/// Does `word` abbreviate `full`: is it its beginning, or all of it, in whatever case? What else it may abbreviate is no matter.
/// No letter at all, or the hyphen of an option alone, abbreviates nothing.
pub fn abbreviates(word: &str, full: &str) -> bool {
    !matches!(word, "" | "-") && begins(full, word)
}

/// Does `full` begin so, in whatever case? Each word begins with the empty one: what may be typed next is asked so.
pub(super) fn begins(full: &str, start: &str) -> bool {
    full.get(..start.len()).is_some_and(|first| first.eq_ignore_ascii_case(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_word_is_never_ambiguous() {
        let objects = ["server", "service", "serviceGroup"];
        assert_eq!(find("SERVICE", objects.into_iter()), Match::One("service"));
        assert_eq!(find("serviceg", objects.into_iter()), Match::One("serviceGroup"));
        assert_eq!(find("serve", objects.into_iter()), Match::One("server"));
        assert_eq!(find("servi", objects.into_iter()), Match::Several(vec!["service", "serviceGroup"]));
        assert_eq!(find("", objects.into_iter()), Match::None);
        assert_eq!(find("sé", objects.into_iter()), Match::None);
    }

    #[test]
    fn nothing_abbreviates_nothing() {
        assert!(abbreviates("-FO", "-force") && abbreviates("-force", "-force"));
        assert!(!abbreviates("", "-force") && !abbreviates("-", "-force"));
        assert!(!abbreviates("-forces", "-force") && !abbreviates("force", "-force"));
        assert!(begins("-force", "") && begins("-force", "-"));
        assert_eq!(find("-", ["-page", "-total"].into_iter()), Match::None);
    }
}
