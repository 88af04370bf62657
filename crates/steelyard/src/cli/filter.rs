//! `show … | grep [-i] [-v] x` and `| more`.

use regex::{Regex, RegexBuilder};

use super::line::{Answer, Said, words_of};

/// Which lines of an answer are printed.
#[derive(Default)]
pub struct Filter {
    greps: Vec<Grep>,
}

struct Grep {
    pattern: Regex,
    /// Those in which it is not found.
    others: bool,
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
                [verb] if verb.eq_ignore_ascii_case("more") => {}
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

    /// An answer with the lines that are left.
    pub fn led(&self, answer: Answer) -> Answer {
        Answer { text: self.of(&answer.text), ..answer }
    }

    /// The lines that are left.
    pub fn of(&self, text: &str) -> String {
        let is_left = |line: &&str| self.greps.iter().all(|grep| grep.pattern.is_match(line) != grep.others);
        text.lines().filter(is_left).map(|line| format!("{line}\n")).collect()
    }
}

impl Grep {
    fn of(given: &[&str]) -> Result<Grep, Said> {
        let (mut any_case, mut others) = (false, false);
        let mut patterns = Vec::new();
        for word in given {
            match *word {
                "-i" => any_case = true,
                "-v" => others = true,
                "-iv" | "-vi" => (any_case, others) = (true, true),
                option if option.starts_with('-') => {
                    return Err(Said::error(format!("No such argument [{option}]")));
                }
                pattern => patterns.push(pattern),
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
        Ok(Grep { pattern, others })
    }
}

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
    fn lines_are_left_as_grep_leaves_them() {
        for (line, command, left) in [
            ("show x", "show x", "Alpha\nbeta\nalphabet\n"),
            ("show x | more", "show x", "Alpha\nbeta\nalphabet\n"),
            ("show x | grep alpha", "show x", "alphabet\n"),
            ("show x | grep -i alpha", "show x", "Alpha\nalphabet\n"),
            ("show x | grep -v -i ALPHA", "show x", "beta\n"),
            ("show x | grep -i alpha | grep -v bet | more", "show x", "Alpha\n"),
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
