//! What goes on from one line to the next: lines given before, words of one's own, how answers are told.
//!
//! Owns what is told in what order: every answer and every error, in the order of the commands, so that the whole reads as a
//! transcript. Nothing of it outlives the session.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};

use steelyard_core::command::lex::Word;
use steelyard_core::command::{Action, Refusal};

use super::alias::Aliases;
use super::batch::{Input, Order, unusable};
use super::colour::{self, coloured};
use super::error;
use super::filter::Filter;
use super::history::{History, Line};
use super::line::{self, Answer, Asked, Question, Said};
use super::mode::Mode;
use super::pager::{Pager, Pages};
use super::prompt_text::PromptText;
use super::screen::Screen;
use super::stat::{self, STEP};
use crate::door::Door;
use crate::fault::reason;

/// A session: of one command, of a batch, or of a prompt.
pub struct Session<'d> {
    door: &'d Door,
    history: History,
    aliases: Aliases,
    mode: Mode,
    prompt: PromptText,
    /// The terminal that somebody sits at.
    terminal: Option<Pager>,
    /// So many files are being read.
    depth: usize,
    failed: bool,
    left: bool,
    /// What is printed goes into a file.
    into_file: bool,
}

impl<'d> Session<'d> {
    /// Nothing carried out yet.
    pub fn new(door: &'d Door) -> Session<'d> {
        Session {
            door,
            history: History::default(),
            aliases: Aliases::default(),
            mode: Mode::default(),
            prompt: PromptText::default(),
            terminal: None,
            depth: 0,
            failed: false,
            left: false,
            into_file: false,
        }
    }

    /// The same for somebody who sits at a terminal.
    pub fn on_terminal(door: &'d Door, terminal: Pager) -> Session<'d> {
        Session { terminal: Some(terminal), ..Session::new(door) }
    }

    /// Was any command refused?
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Was it told to end?
    pub fn has_left(&self) -> bool {
        self.left
    }

    /// What stands before the next line.
    pub fn prompt(&mut self) -> String {
        self.prompt.shown(self.history.next(), self.door)
    }

    /// How it behaves.
    pub fn mode(&self) -> &Mode {
        &self.mode
    }

    /// The lines that were given so far.
    pub fn history(&self) -> &History {
        &self.history
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
    /// The program is not reached; or somebody who can be asked should be.
    pub fn told(&mut self, line: &str, out: &mut dyn Write) -> Result<(), Said> {
        let result = self.line(line, out);
        self.print(result, out)
    }

    /// The same of a command that somebody was asked about.
    ///
    /// # Errors
    /// The program is not reached.
    pub fn confirmed(&mut self, question: &Question, out: &mut dyn Write) -> Result<(), Said> {
        let result = line::ask(&question.confirmed, self.door, &self.mode).map(Some);
        self.print(result, out)
    }

    fn print(&mut self, result: Result<Option<Answer>, Said>, out: &mut dyn Write) -> Result<(), Said> {
        let answer = match result {
            Ok(Some(answer)) => answer,
            Ok(None) => return Ok(()),
            Err(said) => return self.tell(said, out),
        };
        let text = answer.printed();
        let text = if answer.is_json { text } else { self.in_colours(text) };
        let pages = self.pages(&answer);
        match &mut self.terminal {
            Some(terminal) if self.depth == 0 => terminal.print(&text, pages, out),
            // A reader that has enough closes the pipe: nobody reads the rest, which is carried out all the same.
            _ => drop(out.write_all(text.as_bytes())),
        }
        Ok(())
    }

    /// Carries one line out; files that it has read print what comes of their lines at once. No answer where there is no
    /// command.
    ///
    /// # Errors
    /// It is refused, or the program is not reached.
    pub fn line(&mut self, line: &str, out: &mut dyn Write) -> Result<Option<Answer>, Said> {
        let again = self.history.meant_by(line)?.map(|before| {
            drop(writeln!(out, "{}", before.shown()));
            before.text.clone()
        });
        let line = again.as_deref().unwrap_or(line);
        let meant = self.aliases.meant_by(line);
        if self.depth == 0 {
            self.history.add(Line::of(line, meant.as_deref()));
        }
        let line = meant.as_deref().unwrap_or(line);
        match line::carry_out(line, self.door, &self.mode, self.screen())? {
            Asked::Nothing => Ok(None),
            Asked::Leave => {
                self.left = true;
                Ok(None)
            }
            Asked::Answer(answer) => {
                self.failed |= answer.failed;
                Ok(Some(answer))
            }
            Asked::Count(pages, filter) => self.count(pages, &filter, out),
            Asked::Own(action, filter) => {
                let text = self.own(&action, line)?;
                Ok(Some(filter.led(Answer::from(text))))
            }
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

    /// Prints counters as often as that is asked for; Ctrl-C ends it.
    fn count(
        &mut self,
        mut pages: stat::Pages,
        filter: &Filter,
        out: &mut dyn Write,
    ) -> Result<Option<Answer>, Said> {
        // One that came before is not meant for this.
        self.terminal.as_mut().map(Pager::was_interrupted);
        loop {
            let answer = filter.led(pages.next(self.door, self.screen())?);
            self.failed |= answer.failed;
            if answer.failed || !pages.has_more() {
                return Ok(Some(answer));
            }
            let page_by_page = self.pages(&answer);
            let text = if answer.is_json { answer.text } else { self.in_colours(answer.text) };
            if let Some(terminal) = &mut self.terminal
                && self.depth == 0
            {
                if terminal.is_stopped_in(&text, page_by_page, out) {
                    return Ok(Some(Answer::default()));
                }
            } else if out.write_all(text.as_bytes()).is_err() {
                // A reader that has enough closes the pipe: nobody is left to count for.
                return Ok(None);
            }
            if out.flush().is_err() {
                return Ok(None);
            }
            let is_over = match &mut self.terminal {
                Some(terminal) => terminal.is_interrupted_within(STEP),
                None => {
                    std::thread::sleep(STEP);
                    false
                }
            };
            if is_over {
                drop(writeln!(out));
                return Ok(Some(Answer::default()));
            }
        }
    }

    /// How it is printed on a terminal.
    fn pages(&self, answer: &Answer) -> Pages {
        if self.mode.page || answer.pages { Pages::Each } else { Pages::Whole }
    }

    /// With its colours, where somebody sits at a terminal and wants them.
    fn in_colours(&self, text: String) -> String {
        let is_looked_at = self.terminal.is_some() && self.depth == 0;
        if is_looked_at && self.mode.color && colour::is_allowed() { coloured(&text) } else { text }
    }

    /// How wide what is printed may be.
    fn screen(&self) -> Screen {
        if self.into_file { Screen::UNKNOWN } else { Screen::of_output() }
    }

    /// Carries out a command about the session itself; what it prints.
    fn own(&mut self, action: &Action, line: &str) -> Result<String, Said> {
        let none = |result: Result<(), Said>| result.map(|()| String::new());
        match (action.verb, action.object.as_str(), &*action.arguments) {
            ("alias", ..) => self.aliases.alias(action, line),
            ("unalias", ..) => self.aliases.unalias(action),
            ("history", _, []) => Ok(self.history.text()),
            ("cls", _, []) => Ok(if self.terminal.is_some() { CLEARED } else { "" }.to_owned()),
            ("set", "cli mode", words) => none(self.mode.set(words)),
            ("unset", "cli mode", words) => none(self.mode.unset(words)),
            ("show", "cli mode", []) => Ok(self.mode.text()),
            ("set", "cli prompt", [text]) => none(self.prompt.set(&text.text)),
            ("set", "cli prompt", []) => Err(Refusal::ArgumentMissing { argument: "promptString" }.into()),
            ("clear", "cli prompt", []) => {
                self.prompt.clear();
                Ok(String::new())
            }
            ("show", "cli prompt", []) => {
                Ok(format!("\tPrompt: \"{}\"\n", super::layout::harmless(&self.prompt.text(self.door))))
            }
            ("show", "cli attribute", []) => Ok(ATTRIBUTES.to_owned()),
            (_, _, words) => match words.iter().find(|_| action.verb != "config") {
                Some(word) => Err(surplus(word)),
                None => Err(Said::error(
                    "Operation not supported here [config: give each command in full, for instance set lb vserver NAME -comment x]",
                )),
            },
        }
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
        let is_asked = self.terminal.is_some() && self.depth == 0;
        let text = match said {
            Said::Question(question) if !is_asked => error(&question.text, &question.advice),
            Said::Error { message, advice, .. } => error(&message, &advice),
            other => return Err(other),
        };
        self.failed = true;
        let text = self.in_colours(text);
        drop(out.write_all(text.as_bytes()));
        Ok(())
    }
}

/// A word that nothing takes.
fn surplus(word: &Word) -> Said {
    Refusal::UnknownArgument { word: word.text.clone(), nearest: None }.into()
}

/// Files that read each other.
const DEEPEST: usize = 8;
/// What clears a terminal.
const CLEARED: &str = "\x1b[H\x1b[2J";
/// `spec/cli.md` 2: what may stand behind the q of a q-quote.
const ATTRIBUTES: &str = "\tQuoting delimiters: / { < | ~ $ ^ + = & % @ ` ?\n";
