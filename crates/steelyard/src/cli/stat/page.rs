//! A page of `stat`: tables of several objects, and counters one below the other.
//!
//! Owns where every character stands. A table that is wider than the screen goes on below, each part with the names before
//! it. Without `-fullValues` what is too long for its column is shortened, as the appliance does it: of a text the beginning
//! and the end are left, of a number its thousands.

use crate::cli::layout::{harmless, text};
use crate::cli::show::Fields;
use crate::columns;

/// How much of each value is shown, and in how many columns.
#[derive(Clone, Copy)]
pub struct Manner {
    /// Nothing is shortened.
    pub full_values: bool,
    /// Columns of a line.
    pub columns: usize,
}

/// A column of a table, with as many characters as the appliance gives it.
pub struct Column {
    /// What stands above it.
    pub head: &'static str,
    /// Characters of the widest value.
    pub width: usize,
    /// What stands in it.
    pub cell: Cell,
}

/// What a column has of an object.
pub enum Cell {
    /// A field as it is; 0 where it is not told.
    Field(&'static str),
    /// So many a second.
    Rate(&'static str),
    /// A state, as short as `stat` has it.
    State(&'static str),
    /// A port; `*` is any.
    Port(&'static str),
}

/// A counter or a level.
pub struct Line {
    /// What it is called.
    pub label: &'static str,
    /// How it is told.
    pub value: Value,
}

/// Where a line's figures come from.
pub enum Value {
    /// A counter: its rate, and its total.
    Counted(&'static str, &'static str),
    /// A level, which has no rate.
    Level(&'static str),
    /// A level with two decimals.
    Ratio(&'static str),
}

impl Cell {
    fn of(&self, of: &Fields) -> String {
        match self {
            Cell::Field(name) => figure(of, name),
            Cell::Rate(name) => format!("{}/s", figure(of, name)),
            Cell::State(name) => match text(of, name).as_str() {
                "OUT OF SERVICE" => "OFS".to_owned(),
                state => state.to_owned(),
            },
            Cell::Port(name) => match figure(of, name).as_str() {
                "65535" => "*".to_owned(),
                port => port.to_owned(),
            },
        }
    }
}

/// A table with its title and what its columns are called.
pub fn table(title: &str, columns: &[Column], rows: &[(String, &Fields)], manner: Manner) -> String {
    let mut out = format!("\n{title}\n");
    write_parts(columns, rows, manner, Heads::Shown, &mut out);
    out
}

/// A table without either, below something else.
pub fn rows(columns: &[Column], rows: &[(String, &Fields)], manner: Manner) -> String {
    let mut out = String::new();
    write_parts(columns, rows, manner, Heads::Left, &mut out);
    out
}

/// Counters, with their rates and totals.
pub fn statistics(title: &str, lines: &[&Line], of: &Fields, manner: Manner) -> String {
    let mut out = format!("{title}\n{:LABEL$}{:>19}{:>21}\n", "", "Rate (/s)", "Total");
    for line in lines {
        let (rate, total) = match line.value {
            Value::Counted(rate, total) => (figure(of, rate), figure(of, total)),
            Value::Level(name) => (NO_RATE.to_owned(), figure(of, name)),
            Value::Ratio(name) => (NO_RATE.to_owned(), with_decimals(&figure(of, name))),
        };
        let label: String = line.label.chars().take(LABEL).collect();
        let (rate, total) = (fitting(&rate, RATE, manner), fitting(&total, TOTAL, manner));
        out.push_str(&format!("{label:LABEL$}{rate:>RATE$} {total:>TOTAL$}\n"));
    }
    out
}

/// Levels and texts, each behind its label.
pub fn values(title: &str, lines: &[&Line], of: &Fields) -> String {
    let mut out = format!("{title}\n");
    for line in lines {
        let (Value::Level(name) | Value::Ratio(name) | Value::Counted(_, name)) = line.value;
        let label: String = line.label.chars().take(LABEL).collect();
        out.push_str(&format!("{label:LABEL$}{:>RATE$}\n", figure(of, name)));
    }
    out
}

/// Are the heads of columns shown?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heads {
    Shown,
    Left,
}

fn write_parts(
    columns: &[Column],
    rows: &[(String, &Fields)],
    manner: Manner,
    heads: Heads,
    out: &mut String,
) {
    let names: Vec<String> = rows.iter().map(|(name, _)| shortened(&harmless(name), NAME, manner)).collect();
    let margin = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(NAME);
    let cells: Vec<Vec<String>> =
        rows.iter().map(|(_, of)| columns.iter().map(|column| column.cell.of(of)).collect()).collect();
    let width = |at: usize, column: &Column| {
        let widest = || cells.iter().map(|row| row[at].chars().count() + 1).max().unwrap_or(0);
        if manner.full_values { column.width.max(widest()) } else { column.width }
    };
    let widths: Vec<usize> = columns.iter().enumerate().map(|(at, column)| width(at, column)).collect();
    let mut from = 0;
    while from < columns.len() {
        let ends = ends(margin, &columns[from..], &widths[from..], manner.columns);
        if heads == Heads::Shown {
            let cells = columns[from..].iter().map(|column| column.head.to_owned());
            out.push_str(&line("", cells.zip(&ends)));
            out.push_str(" \n");
        }
        for (name, row) in names.iter().zip(&cells) {
            let fit = |(at, cell): (usize, &String)| {
                // The first cell leaves a blank behind the longest name.
                let room = if at == 0 { widths[from] - 1 } else { widths[from + at] };
                fitting(cell, room, manner)
            };
            let cells = row[from..].iter().enumerate().map(fit);
            out.push_str(&line(name, cells.zip(&ends)));
            out.push_str("\n\n");
        }
        from += ends.len();
    }
}

/// Where the columns end that stand in one line: at least one of them. A head that is longer than its column has room where no
/// other stands before it.
fn ends(margin: usize, columns: &[Column], widths: &[usize], width_of_line: usize) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut end = margin;
    for (column, width) in columns.iter().zip(widths) {
        end += match ends.is_empty() {
            true => *width,
            false => 1 + column.head.chars().count().max(*width),
        };
        if end > width_of_line && !ends.is_empty() {
            break;
        }
        ends.push(end);
    }
    ends
}

/// Cells that end where their columns do. A head may be longer than its column: it begins earlier.
fn line<'e>(name: &str, cells: impl Iterator<Item = (String, &'e usize)>) -> String {
    let mut out = name.to_owned();
    let mut length = name.chars().count();
    for (cell, end) in cells {
        let own = cell.chars().count();
        let blanks = end.saturating_sub(length + own);
        out.extend(std::iter::repeat_n(' ', blanks));
        out.push_str(&cell);
        length += blanks + own;
    }
    out
}

/// A field; 0 where it is not told.
fn figure(of: &Fields, name: &str) -> String {
    match text(of, name) {
        empty if empty.is_empty() => "0".to_owned(),
        told => told,
    }
}

fn with_decimals(figure: &str) -> String {
    if figure.contains('.') { figure.to_owned() } else { format!("{figure}.00") }
}

/// A value that is no longer than its column.
fn fitting(value: &str, room: usize, manner: Manner) -> String {
    let digits = value.strip_suffix("/s").unwrap_or(value);
    match digits.parse::<u64>() {
        Ok(number) if !manner.full_values && value.len() > room => {
            let unit = value.strip_prefix(digits).unwrap_or_default();
            abbreviated(number, room.saturating_sub(unit.len())) + unit
        }
        Ok(_) => value.to_owned(),
        Err(_) => shortened(value, room, manner),
    }
}

/// A number in the smallest unit in which it has that much room.
fn abbreviated(number: u64, room: usize) -> String {
    let mut left = number;
    for unit in UNITS {
        left /= 1_000;
        let text = format!("{left}{unit}");
        if text.len() <= room || left < 1_000 {
            return text;
        }
    }
    number.to_string()
}

/// A name that is too long is shortened, unless it is to be shown as it is.
fn shortened(text: &str, room: usize, manner: Manner) -> String {
    if manner.full_values { text.to_owned() } else { columns::shortened(text, room) }
}

/// Characters of a name.
const NAME: usize = columns::SHORT_NAME;
/// Characters of a counter's label; longer ones are cut.
const LABEL: usize = 32;
const RATE: usize = 20;
const TOTAL: usize = 20;
/// Of a level.
const NO_RATE: &str = "--";
const UNITS: [char; 6] = ['K', 'M', 'G', 'T', 'P', 'E'];

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Manner = Manner { full_values: false, columns: 80 };
    const FULL: Manner = Manner { full_values: true, columns: 80 };

    #[test]
    fn what_is_too_long_for_its_column_is_shortened_unless_told_otherwise() {
        for (value, room, shortened) in [
            ("12345678", 8, "12345678"),
            ("123456789", 8, "123456K"),
            ("18446744073709551615", 8, "18446P"),
            ("12345678/s", 8, "12345K/s"),
            ("--", 8, "--"),
            ("twelve_chars", 12, "twelve_chars"),
            ("thirteen_char", 12, "thir..._char"),
            ("äöüäöüäöüäöüä", 12, "äöüä...üäöüä"),
        ] {
            assert_eq!(fitting(value, room, SHORT), shortened);
            assert_eq!(fitting(value, room, FULL), value);
        }
    }
}
