//! `show … | grep [-i] [-v] [-A N] x` and `| more`.

use regex::{Regex, RegexBuilder};

use super::line::{Answer, Said, words_of};

/// Which lines of an answer are printed.
#[derive(Default)]
pub struct Filter {
    greps: Vec<Grep>,
    /// `| more`
    pub pages: bool,
}

struct Grep {
    pattern: Regex,
    /// Those in which it is not found.
    others: bool,
    /// And so many lines behind each.
    after: usize,
}

impl Filter {
    /// Takes the filters off a line. Only a `|` that stands alone before `grep` or `more` begins one: it means something in
    /// expressions, too.
    ///
    /// # Errors
    /// What `grep` is given is no pattern.
    pub fn split(line: &str) -> Result<(&str, Filter), Said> {
        let Ok(words) = words_of(line) else { return Ok((line, Filter::default())) };
        let is =
            |at: usize, text: &str| words.get(at).is_some_and(|word| word.text.eq_ignore_ascii_case(text));
        let begins = |at: usize| is(at, "|") && (is(at + 1, "grep") || is(at + 1, "more"));
        let Some(first) = (0..words.len()).find(|at| begins(*at)) else {
            return Ok((line, Filter::default()));
        };
        let mut filter = Filter::default();
        let rest: Vec<&str> = words[first + 1..].iter().map(|word| word.text.as_str()).collect();
        for part in rest.split(|word| *word == "|") {
            match part {
                [verb] if verb.eq_ignore_ascii_case("more") => filter.pages = true,
                [verb, given @ ..] if verb.eq_ignore_ascii_case("grep") => {
                    filter.greps.push(Grep::of(given)?)
                }
                [] => return Err(Said::error("Too few arguments [|]")),
                [verb, ..] => return Err(Said::error(format!("No such command [{verb}]"))),
            }
        }
        let end = line.char_indices().nth(words[first].column - 1).map_or(line.len(), |(at, _)| at);
        Ok((&line[..end], filter))
    }

    /// Does it leave every line?
    pub fn is_empty(&self) -> bool {
        self.greps.is_empty()
    }

    /// An answer led through it.
    pub fn led(&self, answer: Answer) -> Answer {
        Answer { text: self.of(&answer.text), pages: self.pages || answer.pages, ..answer }
    }

    /// The lines that are left.
    fn of(&self, text: &str) -> String {
        if self.greps.is_empty() {
            return text.to_owned();
        }
        let lines = text.lines().collect();
        let left = self.greps.iter().fold(lines, |lines, grep| grep.of_lines(lines));
        left.into_iter().map(|line| format!("{line}\n")).collect()
    }
}

impl Grep {
    /// Those that it leaves; groups of lines are parted as `grep` parts them.
    fn of_lines<'t>(&self, lines: Vec<&'t str>) -> Vec<&'t str> {
        let mut left = Vec::new();
        // So many lines are taken for the one before them; the number of the last one that was.
        let (mut more, mut last) = (0, None);
        for (at, line) in lines.into_iter().enumerate() {
            if self.pattern.is_match(line) != self.others {
                more = self.after + 1;
            }
            if more == 0 {
                continue;
            }
            if self.after > 0 && last.is_some_and(|last| last + 1 < at) {
                left.push("--");
            }
            left.push(line);
            (more, last) = (more - 1, Some(at));
        }
        left
    }

    fn of(given: &[&str]) -> Result<Grep, Said> {
        let (mut any_case, mut others, mut after) = (false, false, 0);
        let mut patterns = Vec::new();
        let mut words = given.iter();
        while let Some(word) = words.next() {
            let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
                patterns.push(*word);
                continue;
            };
            for (at, letter) in letters.char_indices() {
                match letter {
                    'i' => any_case = true,
                    'v' => others = true,
                    'A' => {
                        let number = match &letters[at + 1..] {
                            "" => words.next().copied(),
                            number => Some(number),
                        };
                        let number =
                            number.ok_or_else(|| Said::error("Required argument value missing [-A]"))?;
                        after = number
                            .parse()
                            .map_err(|_| Said::error(format!("Invalid argument value [-A {number}]")))?;
                        break;
                    }
                    _ => return Err(Said::error(format!("No such argument [{word}]"))),
                }
            }
        }
        let [pattern] = patterns[..] else {
            return Err(match patterns.get(1) {
                Some(word) => Said::error(format!("No such argument [{word}]")),
                None => Said::error("Required argument missing [pattern]"),
            });
        };
        let built = RegexBuilder::new(pattern).case_insensitive(any_case).size_limit(LARGEST).build();
        let pattern = built.map_err(|_| Said::error(format!("Invalid regular expression [{pattern}]")))?;
        Ok(Grep { pattern, others, after: after.min(MOST) })
    }
}

/// Lines behind one; nothing is longer.
const MOST: usize = u32::MAX as usize;
/// A pattern in memory, in bytes.
const LARGEST: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(line: &str) -> (String, String) {
        let Ok((command, filter)) = Filter::split(line) else { return (String::new(), "refused".to_owned()) };
        (command.trim_end().to_owned(), filter.of("Alpha\nbeta\nalphabet\n"))
    }

    #[test]
    fn groups_of_lines_are_parted() {
        let Ok((_, filter)) = Filter::split("show x | grep -A 1 a") else { panic!() };
        assert_eq!(filter.of("a1\nb\nc\nd\na2\n"), "a1\nb\n--\na2\n");
        assert_eq!(filter.of("a1\na2\nb\nc\n"), "a1\na2\nb\n");
    }

    #[test]
    fn lines_are_left_as_grep_leaves_them() {
        for (line, command, left) in [
            ("show x", "show x", "Alpha\nbeta\nalphabet\n"),
            ("show x | more", "show x", "Alpha\nbeta\nalphabet\n"),
            ("show x | grep alpha", "show x", "alphabet\n"),
            ("show x | grep -i alpha", "show x", "Alpha\nalphabet\n"),
            ("show x | grep -v -i ALPHA", "show x", "beta\n"),
            ("show x | grep -i alpha | grep -v bet | more", "show x", "Alpha\n"),
            ("show x | grep -A 1 Alpha", "show x", "Alpha\nbeta\n"),
            ("show x | grep -iA1 alpha", "show x", "Alpha\nbeta\nalphabet\n"),
            ("show x | grep -i -A0 alpha", "show x", "Alpha\nalphabet\n"),
            ("show x | grep -A", "", "refused"),
            ("show x | grep -A x y", "", "refused"),
            ("show x | grep ^b", "show x", "beta\n"),
            ("add x -rule \"a | grep b\"", "add x -rule \"a | grep b\"", "Alpha\nbeta\nalphabet\n"),
            ("show x | grep", "", "refused"),
            ("show x | grep (", "show x | grep (", "Alpha\nbeta\nalphabet\n"),
            ("show x | grep \"(\"", "", "refused"),
            ("show x | grep -z y", "", "refused"),
            ("show x | more | less", "", "refused"),
        ] {
            assert_eq!(filtered(line), (command.to_owned(), left.to_owned()), "{line}");
        }
    }
}
