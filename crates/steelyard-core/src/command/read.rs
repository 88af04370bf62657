//! A whole `ns.conf`: line after line, each applied, kept or refused with its place; one bad line never costs another.
//!
//! The hard question is the order. A saved file adds before it binds; pieces of one often do not. A command that names
//! what nothing has yet waits for that name, and is tried again at once when a line adds it, before the next line: as if
//! it stood right below. Commands that wait for one name keep their order. So the bindings of a virtual server are in
//! the order in which their lines could be carried out, a file always comes to the same configuration, and no line is
//! tried more often than it has names. `rm`, `unbind` and `rename` never wait: they are about what stood before them.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use super::apply::apply_all;
use super::beside::{Beside, supply};
use super::catalogue::Entry;
use super::keep::{self, Item};
use super::mask::{hide, mask_unread, secrets};
use super::parse::{Instead, Parsed, Said, kept_instead, understand};
use super::print::{place, rank};
use super::refusal::Refusal;
use super::resolve::{Search, added};
use super::text::{self, Content, LogicalLine};
use super::{CannotSeal, Command, Done, Forget, Object, Seal, Verb, Warning, lex};
use crate::config::Config;
use crate::config::attribute::{Effect, Place as RowPlace, Value};
use crate::config::kept::{Class, Rank, Whole};
use crate::config::secret::Plain;

/// What a file came to.
#[derive(Debug, Default)]
pub struct Reading {
    /// The configuration that the accepted lines make.
    pub config: Config,
    /// The lines that were refused, in order.
    pub refused: Vec<Refused>,
    /// Every command of the file, in order.
    pub lines: Vec<Line>,
}

/// One command of a file.
#[derive(Debug)]
pub struct Line {
    /// Its first line, from 1.
    pub number: usize,
    /// As it stands: a prompt before it and line ends inside it included, the line end behind it not.
    pub text: String,
    /// What came of it.
    pub outcome: Outcome,
    /// Where its lines end in the file; of a line with a secret `text` no longer tells.
    ends: text::Ends,
}

/// What came of a command. Columns are counted in characters from 1 and go on over line ends inside the command:
/// [`Line::place`] makes a line and a column of them.
#[derive(Debug)]
pub enum Outcome {
    /// It was applied: one command, or those that its ranges stand for.
    Applied {
        /// What it says.
        commands: Vec<Command>,
        /// Command line's name of each argument, and the column where it stands.
        columns: Vec<(&'static str, usize)>,
        /// What the operator should know.
        warnings: Vec<Warning>,
    },
    /// It was kept as it stands.
    Kept {
        /// Why.
        class: Class,
        /// What not acting on it does: nothing, another traffic, or more than was meant gets in.
        effect: Effect,
    },
    /// It was refused.
    Refused {
        /// Where.
        column: usize,
        /// Why.
        refusal: Refusal,
    },
}

/// A refused line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    /// Where.
    pub place: Place,
    /// Why.
    pub refusal: Refusal,
}

/// A place in a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// Name of the file, as the operator gave it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// A file, and what it is called in messages.
#[derive(Clone, Copy)]
pub struct File<'f> {
    /// Its bytes.
    pub text: &'f [u8],
    /// Its name, as the operator gave it.
    pub name: &'f str,
}

/// What makes a configuration.
#[derive(Clone, Copy)]
pub struct Files<'f> {
    /// NetScaler's own.
    pub ns_conf: File<'f>,
    /// What this program has saved beside it.
    pub steelyard_conf: Option<File<'f>>,
    /// Secrets that the operator supplies.
    pub secrets: Option<File<'f>>,
}

/// Reads an `ns.conf` alone into a configuration that begins as NetScaler's does. Its secrets are forgotten.
pub fn read(file: &[u8], name: &str) -> Reading {
    let ns_conf = File { text: file, name };
    read_files(Files { ns_conf, steelyard_conf: None, secrets: None }, &Forget)
}

/// Reads a whole configuration; plain secrets are sealed.
pub fn read_files(files: Files<'_>, seal: &dyn Seal) -> Reading {
    let beside = files.steelyard_conf.map(|file| Beside::read(file.text)).unwrap_or_default();
    let mut reader = Reader::new(seal, beside);
    match text::lines(files.ns_conf.text) {
        Ok(lines) => lines.for_each(|line| reader.line(line)),
        Err(refusal) => {
            let outcome = Outcome::Refused { column: 1, refusal };
            reader.lines.push(Line { number: 1, text: String::new(), outcome, ends: text::Ends::default() });
        }
    }
    let (mut reading, beside) = reader.finish(files.ns_conf.name);
    if let Some(file) = files.steelyard_conf {
        reading.refused.extend(beside.finish(&mut reading.config, seal, file.name));
    }
    if let Some(file) = files.secrets {
        reading.refused.extend(supply(&mut reading.config, file, seal));
    }
    reading
}

impl Line {
    /// Line and column of a column that [`Outcome`] gives.
    pub fn place(&self, column: usize) -> (usize, usize) {
        self.ends.place(self.number, column)
    }
}

struct Reader<'s> {
    seal: &'s dyn Seal,
    beside: Beside,
    config: Config,
    lines: Vec<Line>,
    /// Everything in the file, in order.
    seen: Vec<Seen>,
    /// How many commands more than lines there were.
    by_ranges: usize,
    /// Lines that name what nothing has, by that name in lower case.
    waiting: BTreeMap<String, Vec<Waiting>>,
    /// Refused lines that name what nothing has and do not wait for it.
    unexplained: Vec<(usize, Object)>,
}

/// What stands in the file.
enum Seen {
    Comment(String),
    /// One of the lines.
    Line {
        index: usize,
        /// If it is kept: the command alone, and its place.
        kept: Option<(String, Rank)>,
        /// All of what is kept, if a secret is in it.
        whole: Option<Plain>,
        /// How it is kept if it cannot be carried out, instead of being refused.
        stored: Option<Instead>,
    },
    /// What a comment stands for.
    Item(Item),
}

/// A command that waits for a name.
struct Waiting {
    /// Which of the lines it is.
    line: usize,
    parsed: Parsed,
    /// How often it may still be tried, if names come and go.
    tries: usize,
}

impl<'s> Reader<'s> {
    fn new(seal: &'s dyn Seal, beside: Beside) -> Reader<'s> {
        Reader {
            seal,
            beside,
            config: Config::default(),
            lines: Vec::new(),
            seen: Vec::new(),
            by_ranges: 0,
            waiting: BTreeMap::new(),
            unexplained: Vec::new(),
        }
    }

    fn line(&mut self, line: LogicalLine<'_>) {
        let text = line.text().into_owned();
        let ends = text::Ends::of(&text);
        let (mut parsed, mut kept, mut masked) = (None, None, None);
        let (mut added, mut vserver, mut stored) = (None, None, None);
        let outcome = match line.content {
            Content::Comment => return self.comment(line.number, text),
            Content::Noise => INERT,
            Content::Wrong { column, refusal } => {
                masked = mask_unread(&text);
                Outcome::Refused { column, refusal }
            }
            Content::Command { words, .. } => {
                let said = understand(&words);
                masked = secrets(&text, &words, &said);
                stored = kept_instead(&said, &words);
                kept = stored.map(|Instead { entry, .. }| (keep::command(&text, &words), entry.rank));
                vserver = keep::added_vserver(&words).map(str::to_owned);
                match said.and_then(|said| self.sealed(said)) {
                    Err((refusal, column)) => {
                        let hidden = masked.iter().flat_map(|masked| &masked.secrets);
                        let is_secret =
                            |quoted: &str| hidden.clone().any(|secret| quoted.contains(secret.as_str()));
                        Outcome::Refused { column, refusal: refusal.without(is_secret) }
                    }
                    Ok(Said::Kept(Entry { class, effect, rank })) => {
                        added = vserver.take();
                        kept = Some((keep::command(&text, &words), rank));
                        Outcome::Kept { class, effect }
                    }
                    Ok(Said::Command(command)) if matches!(command.verb(), Verb::Show | Verb::Stat) => INERT,
                    Ok(Said::Command(command)) if !self.affords(&command) => Outcome::Refused {
                        column: 1,
                        refusal: Refusal::TooManyByRanges { max: MOST_BY_RANGES },
                    },
                    Ok(Said::Command(command)) if of_the_appliance(&command) => {
                        kept = Some((keep::command(&text, &words), rank(command.verb(), command.object())));
                        Outcome::Kept { class: Class::Stored, effect: Effect::Inert }
                    }
                    Ok(Said::Command(command)) => {
                        parsed = Some((command, TRIES + words.len()));
                        Outcome::Refused { column: 1, refusal: Refusal::NothingToSet }
                    }
                }
            }
        };
        let index = self.lines.len();
        let (text, kept, whole) = match masked {
            Some(masked) => hide(masked, text, kept),
            None => (text, kept, None),
        };
        self.lines.push(Line { number: line.number, text, outcome, ends });
        self.seen.push(Seen::Line { index, kept, whole, stored });
        match parsed {
            Some((parsed, tries)) => self.run(VecDeque::from([Waiting { line: index, parsed, tries }])),
            None if stored.is_some() => added = added.or(vserver),
            None => {}
        }
        added.into_iter().for_each(|name| self.is_there(&name));
    }

    /// Only a line is kept that adds a virtual server of that name: others may fall back to it.
    fn is_there(&mut self, name: &str) {
        self.config.kept.note_vserver(name);
        let waited = self.waiting.remove(&name.to_ascii_lowercase()).unwrap_or_default();
        self.run(waited.into());
    }

    /// Virtual servers whose own lines have waited in vain are there all the same: those lines are kept.
    fn give_up_on_vservers(&mut self) {
        let adds = |waiting: &Waiting| {
            let command = waiting.parsed.commands().first()?;
            let is = (command.verb(), command.object()) == (Verb::Add, Object::CsVserver);
            added(command).into_iter().next().filter(|_| is)
        };
        let names = |reader: &Reader| -> Vec<String> {
            let named = reader.waiting.values().flatten().filter_map(adds);
            named.filter(|name| !reader.config.kept.adds_vserver(name)).collect()
        };
        while let Some(name) = names(self).first() {
            self.is_there(name);
        }
    }

    /// A comment, or what one stands for: a line with a secret, which was saved beside this file.
    fn comment(&mut self, number: usize, text: String) {
        let Some(name) = keep::sealed(&text) else { return self.seen.push(Seen::Comment(text)) };
        let whole = self.beside.take(name).map_or(Whole::Missing, Whole::Sealed);
        let (class, shown) = keep::named(name);
        let kept = || {
            let words = lex::words(shown).ok()?;
            match understand(&words) {
                Ok(Said::Kept(entry)) => Some(entry),
                said => kept_instead(&said, &words).map(|instead| instead.entry),
            }
        };
        let entry = class.is_none().then(kept).flatten();
        let outcome = match &entry {
            _ if whole == Whole::Missing => {
                Some(Outcome::Refused { column: 1, refusal: Refusal::SealedLineMissing })
            }
            Some(entry) => Some(Outcome::Kept { class: entry.class, effect: entry.effect }),
            None => None,
        };
        let ends = text::Ends::of(&text);
        self.lines.extend(outcome.map(|outcome| Line { number, text: text.clone(), outcome, ends }));
        let text = shown.to_owned();
        self.seen.push(Seen::Item(match (entry, class) {
            (Some(Entry { class, rank, .. }), _) if class.is_live() => {
                Item::Command { text, whole, class, rank }
            }
            (_, class) => Item::Aside { text, whole, class: class.unwrap_or(Class::Refused(UNKNOWN)) },
        }));
    }

    /// Seals the secrets of a command.
    fn sealed(&self, mut said: Said) -> Result<Said, (Refusal, usize)> {
        if let Said::Command(parsed) = &mut said {
            if let Some(column) = parsed.sealed_column() {
                return Err((Refusal::UnknownArgument { word: "-sealed".to_owned(), nearest: None }, column));
            }
            parsed.seal(self.seal)?;
        }
        Ok(said)
    }

    /// May the file stand for so many commands more than it has lines?
    fn affords(&mut self, command: &Parsed) -> bool {
        self.by_ranges += command.commands().len() - 1;
        self.by_ranges <= MOST_BY_RANGES
    }

    /// Tries commands, and then whoever waited for what they add.
    fn run(&mut self, mut due: VecDeque<Waiting>) {
        while let Some(command) = due.pop_front() {
            for name in self.attempt(command) {
                due.extend(self.waiting.remove(&name).unwrap_or_default());
            }
        }
    }

    /// Tries a command; it waits if it names what nothing has. Tells the names that it has added.
    fn attempt(&mut self, mut command: Waiting) -> Vec<String> {
        let index = command.line;
        match apply_all(&mut self.config, command.parsed.commands()) {
            Ok(Done { warnings }) => {
                let added = match self.waiting.is_empty() {
                    true => Vec::new(),
                    false => command.parsed.commands().iter().flat_map(added).collect(),
                };
                let (commands, columns) = command.parsed.into_parts();
                self.lines[index].outcome = Outcome::Applied { commands, columns, warnings };
                added
            }
            Err(refusal) => {
                let column = command.parsed.column_of(&refusal);
                if let Refusal::NoSuch { name, .. } = &refusal {
                    if command.parsed.waits() && command.tries > 0 {
                        command.tries -= 1;
                        self.waiting.entry(name.to_ascii_lowercase()).or_default().push(command);
                    } else {
                        self.unexplained.push((index, command.parsed.object()));
                    }
                }
                self.lines[index].outcome = Outcome::Refused { column, refusal };
                Vec::new()
            }
        }
    }

    /// What has waited in vain is refused; whoever meant another name is told which.
    fn finish(mut self, file: &str) -> (Reading, Beside) {
        self.give_up_on_vservers();
        let mut search = Search::default();
        let waiting =
            self.waiting.into_values().flatten().map(|waiting| (waiting.line, waiting.parsed.object()));
        let mut unexplained: Vec<(usize, Object)> = waiting.chain(self.unexplained).collect();
        unexplained.sort_unstable_by_key(|(line, _)| *line);
        if !unexplained.is_empty() {
            for line in self.lines.iter().filter(|line| matches!(line.outcome, Outcome::Refused { .. })) {
                search.refused(line.number, &lex::words(&line.text).unwrap_or_default());
            }
        }
        for (line, object) in unexplained {
            if let Outcome::Refused { refusal, .. } = &mut self.lines[line].outcome {
                search.explain(&self.config, object, refusal);
            }
        }
        let noted = std::mem::take(&mut self.config.kept);
        let items = self.seen.into_iter().map(|seen| item(seen, &mut self.lines, &self.config, self.seal));
        self.config.kept = keep::kept(items).with_vservers_of(noted);
        let refused = |line: &Line| match &line.outcome {
            Outcome::Refused { column, refusal } => {
                let (line, column) = line.place(*column);
                let place = Place { file: file.to_owned(), line, column };
                Some(Refused { place, refusal: refusal.clone() })
            }
            _ => None,
        };
        let refused = self.lines.iter().filter_map(refused).collect();
        (Reading { config: self.config, refused, lines: self.lines }, self.beside)
    }
}

/// What is to be kept of a line, now that it is known what came of it. A line with a secret is sealed, or refused.
fn item(seen: Seen, lines: &mut [Line], config: &Config, seal: &dyn Seal) -> Item {
    let (index, kept, secret, stored) = match seen {
        Seen::Comment(text) => return Item::Comment(text),
        Seen::Item(item) => return item,
        Seen::Line { index, kept, whole, stored } => (index, kept, whole, stored),
    };
    let Line { text, outcome, .. } = &mut lines[index];
    if let (Some(instead), Outcome::Refused { refusal, .. }) = (stored, &*outcome)
        && instead.of(refusal, config)
    {
        let Entry { class, effect, .. } = instead.entry;
        *outcome = Outcome::Kept { class, effect };
    }
    let class = match outcome {
        Outcome::Applied { commands, .. } => {
            return Item::Applied(commands.first().map_or(Rank::Last, |command| place(config, command)));
        }
        Outcome::Kept { class, .. } => *class,
        Outcome::Refused { refusal, .. } => Class::Refused(refusal.code()),
    };
    let whole = match secret.map(|secret| seal.seal(secret.text(), LINE)) {
        None => Whole::Shown,
        Some(Ok(sealed)) => Whole::Sealed(sealed),
        Some(Err(CannotSeal(_))) if matches!(class, Class::Refused(_)) => Whole::Missing,
        Some(Err(CannotSeal(why))) => {
            *outcome = Outcome::Refused { column: 1, refusal: Refusal::CannotSeal { argument: None, why } };
            Whole::Missing
        }
    };
    match kept {
        Some((text, rank)) if class.is_live() => Item::Command { text, whole, class, rank },
        _ => Item::Aside { text: text.clone(), whole, class },
    }
}

/// Is it about one of the services that the appliance makes for its own management, `nshttps-127.0.0.1-443`? Saved files
/// set and bind them, and never add them.
pub(super) fn of_the_appliance(command: &Parsed) -> bool {
    let key =
        command.commands().first().and_then(|c| c.arguments().find(|(row, _)| row.place == RowPlace::Key));
    let Some((_, Value::Text(name))) = key else { return false };
    let name = name.to_ascii_lowercase();
    let own = name.starts_with("ns") && (name.contains("-127.0.0.1-") || name.contains("-::1l-"));
    own && command.object() == Object::Service && command.waits() && command.verb() != Verb::Add
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.refusal)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// What a line that is kept is sealed for.
pub(super) const LINE: &str = "line";
/// The code of a command that is none.
const UNKNOWN: u16 = 1088;
/// What came of what configures nothing.
const INERT: Outcome = Outcome::Kept { class: Class::Inert, effect: Effect::Inert };
/// A short file may not stand for a configuration without bounds.
const MOST_BY_RANGES: usize = 250_000;
/// How often a waiting command is tried besides once for each of its words: names that several kinds of objects have
/// may wake it in vain.
const TRIES: usize = 8;
