//! Ranges, sets and existence: `field:[a TO b}`, `field:>=a`, `field: IN [a b]`, `field:*`.

use std::ops::Bound;

use canter_doc_mapper::{FieldKind, ResolvedField};
use tantivy::Term;
use tantivy::query::{AllQuery, ExistsQuery, Query, RangeQuery};
use tantivy_query_grammar::UserInputBound;

use super::build::{Builder, any_of};
use super::literal::{no_such_field, not_indexed, resolve, term_query};
use super::needs::TermRange;
use super::value::{bound_term, json_base_term, json_value_term, scalar_term};
use crate::SearchError;

pub(super) fn build_range(
    builder: &mut Builder<'_>,
    name: &str,
    lower: &UserInputBound,
    upper: &UserInputBound,
) -> Result<Box<dyn Query>, SearchError> {
    let field = resolve(builder.mapper, name)?;
    let lower = bound(name, &field, lower)?;
    let upper = bound(name, &field, upper)?;
    if matches!((&lower, &upper), (Bound::Unbounded, Bound::Unbounded)) {
        return build_exists(builder, name);
    }
    if field.is_fast() {
        builder.needs.fast_fields.insert(field.fast_field_name());
    } else if field.indexed {
        builder.needs.term_ranges.push(TermRange {
            field: field.field,
            lower: lower.clone(),
            upper: upper.clone(),
            limit: None,
            positions: false,
        });
    } else {
        return Err(SearchError::invalid(format!(
            "the field {name:?} is neither fast nor indexed, so it cannot be searched by a range: set \
             fast: true in its mapping"
        )));
    }
    Ok(Box::new(RangeQuery::new(lower, upper)))
}

fn bound(
    name: &str,
    field: &ResolvedField<'_>,
    bound: &UserInputBound,
) -> Result<Bound<Term>, SearchError> {
    let term = |text: &str| {
        bound_term(field, text)
            .map_err(|problem| SearchError::invalid(format!("field {name:?}: {problem}")))
    };
    Ok(match bound {
        UserInputBound::Unbounded => Bound::Unbounded,
        UserInputBound::Inclusive(text) | UserInputBound::Exclusive(text) if text == "*" => {
            Bound::Unbounded
        }
        UserInputBound::Inclusive(text) => Bound::Included(term(text)?),
        UserInputBound::Exclusive(text) => Bound::Excluded(term(text)?),
    })
}

pub(super) fn build_set(
    builder: &mut Builder<'_>,
    name: &str,
    elements: &[String],
) -> Result<Box<dyn Query>, SearchError> {
    let field = resolve(builder.mapper, name)?;
    if !field.indexed {
        return Err(not_indexed(name));
    }
    let mut queries: Vec<Box<dyn Query>> = Vec::new();
    for element in elements {
        builder.spend_clause()?;
        if let FieldKind::Json(json) = field.kind {
            // A JSON value that looks like a number may have been a number or a string.
            if let Some(term) = json_value_term(&field, json, element) {
                queries.push(term_query(builder, term));
            }
            let mut term = json_base_term(&field, json);
            term.append_type_and_str(element);
            queries.push(term_query(builder, term));
            continue;
        }
        let term = scalar_term(&field, element)
            .map_err(|problem| SearchError::invalid(format!("field {name:?}: {problem}")))?;
        queries.push(term_query(builder, term));
    }
    Ok(any_of(queries))
}

pub(super) fn build_exists(
    builder: &mut Builder<'_>,
    name: &str,
) -> Result<Box<dyn Query>, SearchError> {
    let fields = builder.mapper.resolve_all(name);
    if fields.is_empty() {
        return Err(no_such_field(name));
    }
    let mut queries: Vec<Box<dyn Query>> = Vec::new();
    for field in fields {
        let path = field.fast_field_name();
        if builder
            .mapper
            .timestamp_field()
            .is_some_and(|(id, _)| id == field.field)
        {
            // Every document has a timestamp: one without is rejected at ingestion.
            queries.push(Box::new(AllQuery));
        } else if field.is_fast() {
            builder.needs.fast_fields.insert(path.clone());
            queries.push(Box::new(ExistsQuery::new(path, true)));
        } else if let Some(term) = presence_term(builder, &field) {
            queries.push(term_query(builder, term));
        } else {
            let of_whole = match path == name {
                true => String::new(),
                false => format!(" (it is part of {name:?})"),
            };
            let remedy = match field.indexed {
                true => {
                    "set fast: true in its mapping, or index_field_presence: true in doc_mapping"
                }
                false => "set fast: true in its mapping",
            };
            return Err(SearchError::invalid(format!(
                "whether {path:?}{of_whole} exists cannot be told: {remedy}"
            )));
        }
    }
    Ok(any_of(queries))
}

fn presence_term(builder: &Builder<'_>, field: &ResolvedField<'_>) -> Option<Term> {
    let presence = builder.mapper.field_presence_field()?;
    Some(Term::from_field_u64(presence, field.presence_hash()?))
}
