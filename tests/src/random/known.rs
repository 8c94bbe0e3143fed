//! Differences from the scan that are known and documented.
//!
//! To check whether one of them is fixed, remove its line from [`KNOWN`]. When the list is empty,
//! delete this file and its uses in `bench.rs` and `dates.rs`.

use super::request::Request;
use super::schema::Setup;
use super::table::Table;

/// tantivy divides with truncation towards zero, so dates before 1970 are rounded up towards 1970
/// instead of down.
pub(super) const DATES_ARE_CUT_TOWARDS_1970: bool = true;

/// Predicate over setup, request and problem that recognizes a known difference.
type IsIt = fn(&Setup, &Request, &str) -> bool;

const KNOWN: &[(&str, IsIt)] = &[(
    "a group that repeats one value is taken out of its brackets by the grammar",
    |setup, request, _| {
        let paths: Vec<&str> = setup.fields.iter().map(|field| field.path).collect();
        has_repetition(&request.node.text(&paths))
    },
)];

/// Returns the description of a known difference. With `CANTER_RANDOM_SHOW_KNOWN` no difference is
/// known.
pub(super) fn known(table: &Table, request: &Request, problem: &str) -> Option<&'static str> {
    if std::env::var_os("CANTER_RANDOM_SHOW_KNOWN").is_some() {
        return None;
    }
    let found = KNOWN
        .iter()
        .find(|(_, is_it)| is_it(&table.setup, request, problem));
    found.map(|(name, _)| *name)
}

/// Returns whether a pair of brackets holds only one value, repeated.
fn has_repetition(query: &str) -> bool {
    query.split('(').skip(1).any(|group| {
        let group = group.split(')').next().unwrap_or_default();
        let mut values = group.split(" OR ");
        let first = values.next();
        let mut others = values.peekable();
        others.peek().is_some() && others.all(|other| Some(other) == first)
    })
}
