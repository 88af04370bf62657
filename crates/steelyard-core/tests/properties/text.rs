//! What holds for the reading of any bytes.

use steelyard_core::command::text::{Content, lines};
use steelyard_core::command::{lex, read};
use steelyard_core::config::secret::MASK;

/// The bytes of a file that are no blanks and no line ends, in their order, are those of its logical lines.
pub fn every_byte_is_in_one_line(file: &[u8]) {
    let Ok(lines) = lines(file) else { return };
    let kept = |bytes: &[u8]| -> Vec<u8> {
        bytes.iter().copied().filter(|byte| !b" \t\r\n".contains(byte)).collect()
    };
    let mut number = 0;
    let mut all = Vec::new();
    for line in lines {
        assert!(line.number > number, "{line:?} after line {number}");
        assert!(!line.verbatim.ends_with(b"\n"));
        let inside = line.verbatim.iter().filter(|byte| **byte == b'\n').count();
        number = line.number + inside;
        all.extend(kept(line.verbatim));
    }
    assert!(number <= file.split(|byte| *byte == b'\n').count());
    assert_eq!(all, kept(file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file)));
}

/// A word without quotes stands in the text from its column to its end; a command by itself has the same words.
pub fn words_stand_where_their_columns_say(file: &[u8]) {
    let Ok(lines) = lines(file) else { return };
    for line in lines {
        let Content::Command { start, words } = &line.content else { continue };
        let text: Vec<char> = line.text().chars().collect();
        assert!(!words.is_empty(), "{line:?}");
        for pair in words.windows(2) {
            assert!(pair[0].end <= pair[1].column);
        }
        for word in words {
            assert!(word.column < word.end && word.end <= text.len() + 1, "{word:?} of {line:?}");
            let stands: String = text[word.column - 1..word.end - 1].iter().collect();
            assert!(stands == word.text || stands.starts_with(['"', '\'', 'q']), "{word:?}: {stands}");
        }
        let alone = lex::words(std::str::from_utf8(&line.verbatim[*start..]).unwrap()).unwrap();
        let texts = |words: &[lex::Word]| words.iter().map(|word| word.text.clone()).collect::<Vec<_>>();
        assert_eq!(texts(&alone), texts(words), "{line:?}");
    }
}

/// Each command of a file has one outcome, at its own line and with its own text, but for secrets; refusals point into
/// it.
pub fn every_command_is_in_the_reading(file: &[u8]) {
    let reading = read(file, "x");
    let Ok(lines) = lines(file) else { return assert_eq!(reading.refused.len(), 1) };
    let commands: Vec<(usize, String)> = lines
        .filter(|line| line.content != Content::Comment)
        .map(|line| (line.number, line.text().into_owned()))
        .collect();
    let outcomes: Vec<(usize, String)> =
        reading.lines.iter().map(|line| (line.number, line.text.clone())).collect();
    assert_eq!(outcomes.len(), commands.len());
    for ((number, shown), (expected, text)) in outcomes.iter().zip(&commands) {
        assert!(number == expected && is_shown(shown, text), "{number}: {shown:?}\n{expected}: {text:?}");
    }
    for refused in &reading.refused {
        let line = file.split(|byte| *byte == b'\n').nth(refused.place.line - 1).unwrap();
        assert!((1..=line.len() + 2).contains(&refused.place.column), "{refused}");
    }
}

/// The same text; or the same with something hidden, on one line.
fn is_shown(shown: &str, text: &str) -> bool {
    if !shown.contains(MASK) {
        return shown == text;
    }
    let without_blanks = |text: &str| -> String { text.split_ascii_whitespace().collect() };
    let (shown, text) = (without_blanks(shown), without_blanks(text));
    let mut rest = Some(text.as_str());
    for piece in shown.split(MASK) {
        rest = rest.and_then(|rest| rest.split_once(piece)).map(|(_, after)| after);
    }
    rest.is_some()
}
