//! Ranges: a word that stands for several, `web[1-3]` and `10.0.0.[1-3]` (`spec/cli.md` 2).
//!
//! Owns how a range is written and what it stands for; which arguments may have one, their rows say. In an IPv6 address
//! the numbers are hexadecimal as all others there, and a number is written without leading zeros, whatever the range
//! has.

use std::net::IpAddr;

use super::refusal::Refusal;

/// A word with a range in it.
#[derive(Debug)]
pub(super) struct Range<'w> {
    before: &'w str,
    after: &'w str,
    low: u32,
    high: u32,
    hexadecimal: bool,
}

impl Range<'_> {
    /// How many words it stands for.
    pub(super) fn size(&self) -> usize {
        (self.high - self.low) as usize + 1
    }

    /// One of them, counted from 0.
    pub(super) fn word(&self, pick: usize) -> String {
        let number = self.low.saturating_add(u32::try_from(pick).unwrap_or(u32::MAX));
        let Range { before, after, .. } = self;
        match self.hexadecimal {
            true => format!("{before}{number:x}{after}"),
            false => format!("{before}{number}{after}"),
        }
    }
}

/// The range in a word, if there is one. An IPv6 address in brackets is none.
///
/// # Errors
/// [`Refusal`]: not two numbers, the first one larger, a second range, more words than one line may stand for.
pub(super) fn of<'w>(argument: &'static str, word: &'w str) -> Result<Option<Range<'w>>, Refusal> {
    let Some((before, rest)) = word.split_once('[') else { return Ok(None) };
    let Some((inside, after)) = rest.split_once(']') else { return Ok(None) };
    if inside.parse::<IpAddr>().is_ok() {
        return Ok(None);
    }
    let given = || word.to_owned();
    if after.split_once('[').is_some_and(|(_, rest)| rest.contains(']')) {
        return Err(Refusal::SecondRange { argument, word: given() });
    }
    let hexadecimal = is_ipv6(before, after);
    let radix = if hexadecimal { 16 } else { 10 };
    let number = |digits: &str| {
        let all = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
        u32::from_str_radix(digits, radix).ok().filter(|_| all)
    };
    let (low, high) = match inside.split_once('-').map(|(low, high)| (number(low), number(high))) {
        Some((Some(low), Some(high))) => (low, high),
        _ => return Err(Refusal::InvalidRange { argument, word: given() }),
    };
    if low > high {
        return Err(Refusal::RangeReversed { argument, word: given() });
    }
    if (high - low) as usize >= MOST {
        return Err(Refusal::RangeTooLarge { argument, word: given(), max: MOST });
    }
    Ok(Some(Range { before, after, low, high, hexadecimal }))
}

fn is_ipv6(before: &str, after: &str) -> bool {
    let usual = |c: char| c.is_ascii_hexdigit() || c == ':' || c == '.';
    (before.contains(':') || after.starts_with(':')) && before.chars().chain(after.chars()).all(usual)
}

/// How many objects one line may stand for: more than any appliance has in such a row, and few enough to refuse or
/// apply them at once.
const MOST: usize = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn words(word: &str) -> Vec<String> {
        match of("name", word) {
            Ok(Some(range)) => (0..range.size()).map(|pick| range.word(pick)).collect(),
            Ok(None) => vec!["no range".to_owned()],
            Err(refusal) => vec![refusal.code().to_string()],
        }
    }

    #[test]
    fn a_range_stands_for_its_words() {
        assert_eq!(words("v[1-3]"), ["v1", "v2", "v3"]);
        assert_eq!(words("10.[9-10].0.1"), ["10.9.0.1", "10.10.0.1"]);
        assert_eq!(words("10.0.0.[7-7]"), ["10.0.0.7"]);
        assert_eq!(words("2001:db8::[9-a]"), ["2001:db8::9", "2001:db8::a"]);
        assert_eq!(words("2001:[0-1]::5"), ["2001:0::5", "2001:1::5"]);
        assert_eq!(words("k8s-10.0.0.1:80-[9-10]"), ["k8s-10.0.0.1:80-9", "k8s-10.0.0.1:80-10"]);
        assert_eq!(words("web[08-10]x"), ["web8x", "web9x", "web10x"]);
        assert_eq!(words("v[1-10000]").len(), 10_000);
    }

    #[test]
    fn what_is_no_range() {
        for word in ["v", "[IP", "v]1-3[", "[::1]", "[2001:db8::1]:80", "[10.0.0.1]"] {
            assert_eq!(words(word), ["no range"], "{word}");
        }
    }

    #[test]
    fn wrong_ranges() {
        for word in
            ["v[1]", "v[]", "v[-]", "v[1-]", "v[a-c]", "v[1-2-3]", "v[+1-2]", "v[1-99999999999]", "1::[g-h]"]
        {
            assert_eq!(words(word), ["1116"], "{word}");
        }
        assert_eq!(words("v[3-1]"), ["1113"]);
        assert_eq!(words("v[1-2]w[1-2]"), ["1118"]);
        assert_eq!(words("v[0-10000]"), ["1172"]);
    }
}
