//! The known word that a mistyped one is most like.

/// The candidate with the fewest edits (insert, remove, change, swap neighbours; case is no edit), if those are few
/// for the word's length.
pub(super) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().take(LONGEST + 1).map(|c| c.to_ascii_lowercase()).collect();
    if word.len() > LONGEST {
        return None;
    }
    let most = (word.len() / 3).clamp(1, 3);
    candidates
        .into_iter()
        .map(|candidate| (edits(&word, candidate), candidate))
        .filter(|(edits, candidate)| *edits <= most && *edits < candidate.len())
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// Edits between two words, by the usual table, of which three rows are enough.
fn edits(word: &[char], candidate: &str) -> usize {
    let other: Vec<char> = candidate.chars().map(|c| c.to_ascii_lowercase()).collect();
    if other.len().abs_diff(word.len()) > 3 {
        return usize::MAX;
    }
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for i in 1..=word.len() {
        let mut row = vec![i; other.len() + 1];
        for j in 1..=other.len() {
            let change = usize::from(word[i - 1] != other[j - 1]);
            row[j] = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + change);
            if i > 1 && j > 1 && word[i - 1] == other[j - 2] && word[i - 2] == other[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

/// Longer words are nobody's slip of the finger.
const LONGEST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_edits_are_forgiven_and_many_are_not() {
        let methods = ["ROUNDROBIN", "LEASTCONNECTION", "LRTM"];
        assert_eq!(nearest("LEASTCONECTION", methods), Some("LEASTCONNECTION"));
        assert_eq!(nearest("leastconnetcion", methods), Some("LEASTCONNECTION"));
        assert_eq!(nearest("LTRM", methods), Some("LRTM"));
        assert_eq!(nearest("FASTEST", methods), None);
        assert_eq!(nearest("", methods), None);
    }
}
