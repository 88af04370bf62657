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
}
