//! Parts of a query that name no field: they are looked for in `search_field`, or else in the index's
//! default search fields.

use tantivy::query::{EmptyQuery, Query};

use super::{Builder, any_of};
use crate::SearchError;

/// Makes the query for one field, by its name.
type BuildField<'f, 'a> =
    dyn FnMut(&mut Builder<'a>, &str) -> Result<Box<dyn Query>, SearchError> + 'f;

/// Matches if any of the fields does for which `build` can make a query. `shown` is what names no field, and
/// `hint` how it would name one.
///
/// # Errors
/// If there is no such field, or the first error if `build` can make a query for none.
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
            // A word that is no number says nothing about a numeric default field.
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    if builder.mapper.is_of_segment() && queries.iter().any(|query| !query.is::<EmptyQuery>()) {
        // Of a split that lacks some of the fields, what the others have is all.
        queries.retain(|query| !query.is::<EmptyQuery>());
    }
    match first_error {
        Some(error) if queries.is_empty() => Err(error),
        _ => Ok(any_of(queries)),
    }
}
