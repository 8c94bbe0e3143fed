//! Parts of a query without a field: they are looked up in `search_field`, or else in the index's
//! default search fields.

use tantivy::query::{EmptyQuery, Query};

use super::{Builder, any_of};
use crate::SearchError;

/// Builds the query for one field, given its name.
type BuildField<'f, 'a> =
    dyn FnMut(&mut Builder<'a>, &str) -> Result<Box<dyn Query>, SearchError> + 'f;

/// Returns the union of the queries that `build` can make for the fields. `shown` is the part without a
/// field, and `hint` shows how to name one.
///
/// # Errors
/// If there is no such field, or the first error if `build` fails for all fields.
pub(super) fn in_default_fields<'a>(
    builder: &mut Builder<'a>,
    shown: &str,
    hint: &str,
    build: &mut BuildField<'_, 'a>,
) -> Result<Box<dyn Query>, SearchError> {
    let names: Vec<String> = if builder.search_fields.is_empty() {
        builder.mapper.default_search_fields().to_vec()
    } else {
        builder.search_fields.to_vec()
    };
    if names.is_empty() {
        return Err(SearchError::invalid(format!(
            "{shown} names no field and the index has no default_search_fields: {hint}, give \
             search_field, or set search_settings.default_search_fields"
        )));
    }
    let mut queries = Vec::new();
    let mut first_error = None;
    for name in &names {
        match build(builder, name) {
            Ok(query) => queries.push(query),
            // A word that is not a number does not concern a numeric default field.
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    if builder.mapper.is_of_segment() && queries.iter().any(|query| !query.is::<EmptyQuery>()) {
        // In a split that lacks some of the fields, the others suffice.
        queries.retain(|query| !query.is::<EmptyQuery>());
    }
    match first_error {
        Some(error) if queries.is_empty() => Err(error),
        _ => Ok(any_of(queries)),
    }
}
