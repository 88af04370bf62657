//! Which objects a `show` means: all, one by its name, several by a range or by a regular expression.

use steelyard_core::command::abbreviation::abbreviates;
use steelyard_core::command::{Action, Command, NamePattern, Refusal};
use steelyard_core::config::attribute::{Place, Row};

use super::Fields;
use super::table::{NOT_CARRIED, Shown};
use crate::cli::layout;
use crate::cli::line::Said;
use crate::cli::mode::Mode;

/// What a command asks to see.
pub struct Wanted {
    /// Of which objects.
    pub which: Which,
    /// What they have in common: NITRO's field, and what it holds.
    pub fits: Vec<(&'static str, String)>,
    /// With what is bound to each, although all are listed.
    pub members: bool,
    /// A line for each is enough.
    pub in_brief: bool,
    /// Names stand as they are, whatever room there is.
    pub in_full: bool,
}

/// Objects.
pub enum Which {
    /// Every one.
    All,
    /// The one of this name.
    Named(String),
    /// Those of these names, which a range stands for.
    Several(Vec<String>),
    /// Those whose names a regular expression matches.
    Matching(NamePattern),
    /// Those that the appliance has made for itself: there are none here.
    Nothing,
}

impl Which {
    /// Is it a list of all?
    pub fn is_all(&self) -> bool {
        matches!(self, Which::All | Which::Nothing)
    }
}

impl Wanted {
    /// What a command means, or all those that its ranges stand for.
    pub fn of(commands: &[Command], shown: &Shown, mode: &Mode) -> Result<Wanted, Said> {
        let names: Vec<String> = commands.iter().filter_map(name).collect();
        let mut wanted = Wanted {
            which: which(names, shown, mode)?,
            fits: Vec::new(),
            members: false,
            in_brief: false,
            in_full: false,
        };
        for (row, value) in commands.iter().take(1).flat_map(Command::arguments) {
            match (row.place, row.nitro) {
                (Place::Key, _) => {}
                (_, nitro @ ("internal" | "all" | "includemembers")) => {
                    if !wanted.which.is_all() {
                        return Err(both(row, shown));
                    }
                    match nitro {
                        "internal" => wanted.which = Which::Nothing,
                        _ => wanted.members = nitro == "includemembers",
                    }
                }
                (_, "summary") => wanted.in_brief = true,
                (_, "fullvalues") => wanted.in_full = true,
                (_, nitro) => wanted.fits.push((nitro, layout::told(&row.kind, value))),
            }
        }
        Ok(wanted)
    }

    /// What the words behind another object mean: a name, where it has one.
    pub fn of_action(action: &Action, shown: &Shown, mode: &Mode) -> Result<Wanted, Said> {
        let mut wanted =
            Wanted { which: Which::All, fits: Vec::new(), members: false, in_brief: false, in_full: false };
        let mut words = action.arguments.iter();
        while let Some(word) = words.next() {
            let unknown = || Refusal::UnknownArgument { word: word.text.clone(), nearest: None };
            if !word.option {
                if shown.key().is_empty() || !wanted.which.is_all() {
                    return Err(unknown().into());
                }
                wanted.which = which(vec![word.text.clone()], shown, mode)?;
                continue;
            }
            let given = word.text.trim_start_matches('-');
            let option = shown.options.iter().find(|(cli, _)| abbreviates(given, cli));
            if option.is_none() && abbreviates(given, "fullValues") {
                wanted.in_full = true;
                continue;
            }
            let (cli, query) = option.ok_or_else(unknown)?;
            if *query == NOT_CARRIED {
                return Err(Said::error(format!("Operation not supported here [-{cli}]")));
            }
            let value = words.next().ok_or(Refusal::ValueMissing { argument: cli })?;
            wanted.fits.push((query, value.text.clone()));
        }
        Ok(wanted)
    }

    /// Of these rows, those that are meant.
    pub fn narrow(&self, shown: &Shown, rows: Vec<Fields>) -> Result<Vec<Fields>, Said> {
        let key = shown.key();
        let same = |row: &Fields, (field, value): &(&str, String)| {
            layout::text(row, field).eq_ignore_ascii_case(value)
        };
        let fits = |row: &Fields| !shown.options.is_empty() || self.fits.iter().all(|f| same(row, f));
        let rows = rows.into_iter().filter(fits);
        match &self.which {
            Which::All | Which::Nothing => Ok(rows.collect()),
            Which::Named(name) => {
                let rows: Vec<Fields> = rows.collect();
                if rows.is_empty() { Err(unknown(key, name)) } else { Ok(rows) }
            }
            Which::Several(names) => several(key, names, rows.collect()),
            Which::Matching(pattern) => {
                let mut matched = Vec::new();
                for row in rows {
                    if pattern.matches(&layout::text(&row, key))? {
                        matched.push(row);
                    }
                }
                if matched.is_empty() { Err(pattern.no_match().into()) } else { Ok(matched) }
            }
        }
    }
}

/// In the order of the names, each of which must be there.
fn several(key: &str, names: &[String], rows: Vec<Fields>) -> Result<Vec<Fields>, Said> {
    let mut by_name: std::collections::HashMap<String, Fields> =
        rows.into_iter().map(|row| (layout::text(&row, key).to_ascii_lowercase(), row)).collect();
    let take = |name: &String| by_name.remove(&name.to_ascii_lowercase()).ok_or_else(|| unknown(key, name));
    names.iter().map(take).collect()
}

/// A word that begins with `^` is a regular expression (`spec/cli.md` 2), unless the session has it otherwise.
fn which(names: Vec<String>, shown: &Shown, mode: &Mode) -> Result<Which, Said> {
    Ok(match &names[..] {
        [] => Which::All,
        [name] if mode.regex && name.starts_with('^') => {
            Which::Matching(NamePattern::read(shown.key(), name)?)
        }
        [name] => Which::Named(name.clone()),
        _ => Which::Several(names),
    })
}

/// What the object of a command is known by.
fn name(command: &Command) -> Option<String> {
    let (row, value) = command.arguments().find(|(row, _)| row.place == Place::Key)?;
    Some(layout::told(&row.kind, value))
}

fn unknown(key: &str, name: &str) -> Said {
    Said::error(format!("No such resource [{key}, {name}]"))
}

fn both(row: &Row, shown: &Shown) -> Said {
    Said::error(format!("Arguments cannot both be specified [{}, {}]", shown.key(), row.cli))
}
