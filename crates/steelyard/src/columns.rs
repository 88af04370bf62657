//! Tables for people: columns as wide as their widest cell.

use std::fmt::Write as _;

/// Appends the rows, each cell padded to its column, two spaces between, no space at the ends of lines.
pub fn align(rows: &[Vec<String>], out: &mut String) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|cell| cell.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            // Formatting into a String cannot fail.
            let _ = write!(line, "{cell:<width$}  ");
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// The same within so many columns, as far as that is possible by names: those in the columns that say so are shortened.
pub fn align_within(room: Option<usize>, mut rows: Vec<Vec<String>>, is_name: &[bool], out: &mut String) {
    let widest = |c: usize| rows.iter().filter_map(|r| r.get(c)).map(|cell| cell.chars().count()).max();
    let width: usize = (0..is_name.len()).map(|c| widest(c).unwrap_or(0) + 2).sum();
    if room.is_some_and(|room| width.saturating_sub(2) > room) {
        for row in &mut rows {
            for (cell, _) in row.iter_mut().zip(is_name).filter(|(_, is_name)| **is_name) {
                *cell = shortened(cell, SHORT_NAME);
            }
        }
    }
    align(&rows, out);
}

/// The first four characters and the last five of a text that is longer than the room for it.
pub fn shortened(text: &str, room: usize) -> String {
    let length = text.chars().count();
    if length <= room {
        return text.to_owned();
    }
    let first: String = text.chars().take(4).collect();
    let last: String = text.chars().skip(length - 5).collect();
    format!("{first}...{last}")
}

/// Characters of a shortened name.
pub const SHORT_NAME: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows =
            [vec!["a", "bbb", ""], vec!["äöü", "c"]].map(|row| row.into_iter().map(str::to_owned).collect());
        let mut out = String::new();
        align(&rows, &mut out);
        assert_eq!(out, "a    bbb\näöü  c\n");
    }

    #[test]
    fn names_are_shortened_where_there_is_no_room() {
        let of = |room| {
            let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
            let rows = vec![row(["1)", "front_end_3_svc", "10.0.0.1"]), row(["2)", "web", "10.0.0.2"])];
            let mut out = String::new();
            align_within(room, rows, &[false, true, false], &mut out);
            out
        };
        let whole = "1)  front_end_3_svc  10.0.0.1\n2)  web              10.0.0.2\n";
        assert_eq!((of(None).as_str(), of(Some(29)).as_str()), (whole, whole));
        assert_eq!(of(Some(28)), "1)  fron...3_svc  10.0.0.1\n2)  web           10.0.0.2\n");
    }
}
