//! Differences from the scan that are known and documented.
//!
//! To see whether one is mended, take its line out of [`KNOWN`]; when the list is empty, this file goes, with its
//! uses in `bench.rs` and `dates.rs`.

use super::request::Request;
use super::schema::Setup;
use super::table::Table;

/// tantivy divides towards zero: before 1970 a date is cut towards 1970, not to the unit before it.
pub(super) const DATES_ARE_CUT_TOWARDS_1970: bool = true;

/// What of a request and of the problem makes it this one.
type IsIt = fn(&Setup, &Request, &str) -> bool;

const KNOWN: &[(&str, IsIt)] = &[(
    "a group that repeats one value is taken out of its brackets by the grammar",
    |setup, request, _| {
        let paths: Vec<&str> = setup.fields.iter().map(|field| field.path).collect();
        has_repetition(&request.node.text(&paths))
    },
)];

/// What a difference is, if it is known. With `CANTER_RANDOM_SHOW_KNOWN` none is.
pub(super) fn known(table: &Table, request: &Request, problem: &str) -> Option<&'static str> {
    if std::env::var_os("CANTER_RANDOM_SHOW_KNOWN").is_some() {
        return None;
    }
    let found = KNOWN
        .iter()
        .find(|(_, is_it)| is_it(&table.setup, request, problem));
    found.map(|(name, _)| *name)
}

/// Returns whether brackets hold nothing but one value, several times.
fn has_repetition(query: &str) -> bool {
    query.split('(').skip(1).any(|group| {
        let group = group.split(')').next().unwrap_or_default();
        let mut values = group.split(" OR ");
        let first = values.next();
        let mut others = values.peekable();
        others.peek().is_some() && others.all(|other| Some(other) == first)
    })
}
