//! Commands one a line: from standard input, `source FILE` and `batch -fileName FILE`.
//!
//! Owns what is told in what order: every answer and every error, in the order of the commands, so that the whole reads as a
//! transcript. A refused command does not stop the rest. The hard question is input without bounds: a line is held as far as
//! a command may be long, and files that read each other end at a depth.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};

use steelyard_core::command::lex::Word;
use steelyard_core::command::{Action, Refusal};

use super::line::{self, Answer, Asked, Said};
use super::screen::Screen;
use super::stat::STEP;
use super::{LONGEST, error};
use crate::door::Door;
use crate::fault::reason;

/// What goes on from one line to the next.
pub struct Session<'d> {
    door: &'d Door,
    /// So many files are being read.
    depth: usize,
    failed: bool,
    left: bool,
    /// What is printed goes into a file.
    into_file: bool,
}

/// Where lines come from.
pub struct Input<R>(R);

impl<R: BufRead> Input<R> {
    /// All that this has.
    pub fn new(from: R) -> Input<R> {
        Input(from)
    }

    /// The next line without its end; `None` behind the last. Of one that is too long so much is held as shows that, in
    /// whole characters.
    fn next(&mut self) -> std::io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        let mut any = false;
        loop {
            let piece = self.0.fill_buf()?;
            if piece.is_empty() {
                return Ok(any.then(|| held(line)));
            }
            any = true;
            let end = piece.iter().position(|byte| *byte == b'\n');
            let own = &piece[..end.unwrap_or(piece.len())];
            line.extend_from_slice(&own[..own.len().min(LONGEST.saturating_sub(line.len()))]);
            let used = end.map_or(piece.len(), |end| end + 1);
            self.0.consume(used);
            if end.is_some() {
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(Some(held(line)));
            }
        }
    }
}

/// A line without the character that it was cut in.
fn held(mut line: Vec<u8>) -> Vec<u8> {
    match std::str::from_utf8(&line) {
        Err(wrong) if line.len() == LONGEST && wrong.error_len().is_none() => {
            line.truncate(wrong.valid_up_to())
        }
        _ => {}
    }
    line
}

impl<'d> Session<'d> {
    /// Nothing carried out yet.
    pub fn new(door: &'d Door) -> Session<'d> {
        Session { door, depth: 0, failed: false, left: false, into_file: false }
    }

    /// Was any command refused?
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Was it told to end?
    pub fn has_left(&self) -> bool {
        self.left
    }

    /// Carries out every line and prints what comes of each.
    ///
    /// # Errors
    /// The program is not reached, or the input cannot be read.
    pub fn batch(&mut self, input: &mut Input<impl BufRead>, out: &mut dyn Write) -> Result<(), Said> {
        loop {
            let line = match input.next() {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(()),
                Err(wrong) => return self.tell(Said::error(format!("I/O error [{}]", reason(&wrong))), out),
            };
            match String::from_utf8(line) {
                Ok(line) => self.told(&line, out)?,
                Err(wrong) => {
                    let at = wrong.utf8_error().valid_up_to();
                    let byte = wrong.as_bytes().get(at).copied().unwrap_or_default();
                    self.tell(Refusal::NotText { byte }.into(), out)?;
                }
            }
            if self.left {
                return Ok(());
            }
        }
    }

    /// Carries one line out and prints what comes of it.
    ///
    /// # Errors
    /// The program is not reached.
    pub fn told(&mut self, line: &str, out: &mut dyn Write) -> Result<(), Said> {
        match self.line(line, out) {
            // A reader that has enough closes the pipe: nobody reads the rest, which is carried out all the same.
            Ok(answer) => drop(out.write_all(answer.map_or(String::new(), |a| a.printed()).as_bytes())),
            Err(said) => self.tell(said, out)?,
        }
        Ok(())
    }

    /// Carries one line out; files that it has read print what comes of their lines at once. No answer where there is no
    /// command.
    ///
    /// # Errors
    /// It is refused, or the program is not reached.
    pub fn line(&mut self, line: &str, out: &mut dyn Write) -> Result<Option<Answer>, Said> {
        match line::carry_out(line, self.door, self.screen())? {
            Asked::Nothing => Ok(None),
            Asked::Leave => {
                self.left = true;
                Ok(None)
            }
            Asked::Answer(answer) => {
                self.failed |= answer.failed;
                Ok(Some(answer))
            }
            Asked::Count(mut pages, filter) => loop {
                let page = filter.led(pages.next(self.door, self.screen())?);
                self.failed |= page.failed;
                if page.failed || !pages.has_more() {
                    return Ok(Some(page));
                }
                // A reader that has enough closes the pipe: nobody is left to count for.
                if out.write_all(page.text.as_bytes()).and_then(|()| out.flush()).is_err() {
                    return Ok(None);
                }
                std::thread::sleep(STEP);
            },
            Asked::Read(action) => {
                let order = Order::of(&action)?;
                let mut to = match &order.to {
                    Some(path) => {
                        let made = File::create(path);
                        Some(made.map_err(|wrong| unusable(path, &wrong))?)
                    }
                    None => None,
                };
                for _ in 0..order.times {
                    match &mut to {
                        Some(file) => {
                            let before = std::mem::replace(&mut self.into_file, true);
                            let result = self.read(&order.from, file);
                            self.into_file = before;
                            result?;
                        }
                        None => self.read(&order.from, out)?,
                    }
                }
                Ok(Some(Answer::default()))
            }
        }
    }

    /// How wide what is printed may be.
    fn screen(&self) -> Screen {
        if self.into_file { Screen::UNKNOWN } else { Screen::of_output() }
    }

    fn read(&mut self, path: &str, out: &mut dyn Write) -> Result<(), Said> {
        if self.depth == DEEPEST {
            return Err(Said::error(format!(
                "Operation not permitted [{path}: {DEEPEST} files read each other]"
            )));
        }
        let file = File::open(path).map_err(|wrong| unusable(path, &wrong))?;
        self.depth += 1;
        let result = self.batch(&mut Input::new(BufReader::new(file)), out);
        self.depth -= 1;
        // `exit` ends the file that has it.
        self.left = false;
        result
    }

    /// Prints an error in its place among the answers.
    fn tell(&mut self, said: Said, out: &mut dyn Write) -> Result<(), Said> {
        match said {
            Said::Error { message, advice, .. } => {
                self.failed = true;
                drop(out.write_all(error(&message, &advice).as_bytes()));
                Ok(())
            }
            fault => Err(fault),
        }
    }
}

/// What `source` or `batch` was given.
struct Order {
    from: String,
    to: Option<String>,
    times: u32,
}

impl Order {
    fn of(action: &Action) -> Result<Order, Said> {
        let missing = || Refusal::ArgumentMissing { argument: "fileName" };
        let (mut from, mut to, mut times) = (None, None, 1);
        let mut words = action.arguments.iter();
        while let Some(word) = words.next() {
            if !word.option {
                if from.replace(word.text.clone()).is_some() {
                    return Err(unknown(word));
                }
                continue;
            }
            if action.verb != "batch" {
                return Err(unknown(word));
            }
            let option =
                BATCH.into_iter().find(|option| begins(option, &word.text)).ok_or_else(|| unknown(word))?;
            let value = words.next().ok_or(Refusal::OptionValueMissing { argument: &option[1..] })?;
            match option {
                "-fileName" => from = Some(value.text.clone()),
                "-outfile" => to = Some(value.text.clone()),
                _ => {
                    let number = value.text.parse().ok().filter(|number| *number > 0);
                    times = number.ok_or_else(|| Said::error("Invalid argument value [ntimes]"))?;
                }
            }
        }
        Ok(Order { from: from.ok_or_else(missing)?, to, times })
    }
}

pub fn begins(option: &str, word: &str) -> bool {
    word.len() > 1 && option.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
}

fn unknown(word: &Word) -> Said {
    Refusal::UnknownArgument { word: word.text.clone(), nearest: None }.into()
}

fn unusable(path: &str, wrong: &std::io::Error) -> Said {
    match wrong.kind() {
        std::io::ErrorKind::NotFound => Said::error(format!("No such file [{path}]")),
        _ => Said::error(format!("I/O error [{path}: {}]", reason(wrong))),
    }
}

const BATCH: [&str; 3] = ["-fileName", "-outfile", "-ntimes"];
/// Files that read each other.
const DEEPEST: usize = 8;
