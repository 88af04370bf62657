//! `filter=` of a query: which rows of an answer a client wants (`spec/nitro.md` 3).
//!
//! The hard question is what a value is: text that has to be the same, in whatever case, or between slashes an
//! expression that has to match somewhere.

use regex::{Regex, RegexBuilder};

use super::documented::Documented;
use super::query::{Query, decode_id};
use super::reply::Reply;
use super::row::Row;

/// What rows must be like.
pub struct Filter(Vec<(String, Pattern)>);

enum Pattern {
    Exactly(String),
    Matching(Regex),
}

impl Filter {
    /// The filter of a query; every row passes where it has none.
    ///
    /// # Errors
    /// An expression that is none, or too large.
    pub fn of(query: Query<'_>) -> Result<Filter, Reply> {
        let wanted = query.encoded_pairs("filter").into_iter();
        let wanted = wanted.map(|(field, value)| Ok((decode_id(&field), Pattern::of(&value)?)));
        wanted.collect::<Result<_, Reply>>().map(Filter)
    }

    /// What a request's arguments say of rows: that these fields are so. Arguments that are no fields say how to look.
    pub fn of_arguments(arguments: &[(String, String)], rows: &[Row]) -> Filter {
        let is_field = |name: &str| rows.iter().any(|row| row.as_text(name).is_some());
        let fields = arguments.iter().filter(|(name, _)| is_field(name));
        Filter(fields.map(|(name, value)| (name.clone(), Pattern::Exactly(value.clone()))).collect())
    }

    /// Leaves the rows that are so.
    ///
    /// # Errors
    /// The filter names a field that neither a row nor the reference has: nothing would ever be like that.
    pub fn apply(&self, rows: &mut Vec<Row>, documented: Option<&Documented>) -> Result<(), Reply> {
        let is_known = |name: &str| {
            rows.is_empty()
                || documented.is_some_and(|documented| documented.has(name))
                || rows.iter().any(|row| row.as_text(name).is_some())
        };
        if let Some((name, _)) = self.0.iter().find(|(name, _)| !is_known(name)) {
            return Err(Reply::netscaler_error(278, &format!("Invalid argument [{name}]")));
        }
        rows.retain(|row| self.0.iter().all(|(name, pattern)| pattern.passes(row, name)));
        Ok(())
    }
}

impl Pattern {
    /// Of a value that is not decoded yet. An expression is decoded once: it may have `+` and `%`, which no name has.
    fn of(value: &str) -> Result<Pattern, Reply> {
        let once = super::query::decode(value);
        let expression = once.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        let Some(expression) = expression else { return Ok(Pattern::Exactly(decode_id(value))) };
        let built = RegexBuilder::new(expression).size_limit(SIZE_LIMIT).dfa_size_limit(SIZE_LIMIT).build();
        built.map(Pattern::Matching).map_err(|_| Reply::invalid_value("filter"))
    }

    fn passes(&self, row: &Row, name: &str) -> bool {
        row.holds(name, |text| match self {
            Pattern::Exactly(value) => text.eq_ignore_ascii_case(value),
            Pattern::Matching(expression) => expression.is_match(text),
        })
    }
}

/// Bytes that an expression may take up.
const SIZE_LIMIT: usize = 1 << 18;
