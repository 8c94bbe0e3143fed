//! Whole values of a text that is indexed by words, such as `level.keyword`.
//!
//! The column's dictionary stands for the terms of whole values, so that a value, a pattern and a range mean what they
//! mean in a field of whole values. The words of a value are in the field's own dictionary, which tells sooner than the
//! column that a split lacks it.

use std::ops::Bound;

use canter_doc_mapper::{FieldKind, ResolvedField};
use tantivy::Term;
use tantivy::query::{ConstScoreQuery, Query};

use super::automaton::TermAutomaton;
use super::builder::Builder;
use super::value::{json_base_term, tokenize};
use crate::query::columns::{ColumnQuery, ColumnTerms, ValueRange};

/// Returns the documents with this value, which is as the column has it.
pub(super) fn whole_value(
    builder: &mut Builder<'_>,
    field: &ResolvedField<'_>,
    value: &str,
) -> Box<dyn Query> {
    let implied = implied_words(builder, field, value);
    let column = noted(builder, field);
    Box::new(ColumnQuery::of_text(column, value, implied))
}

/// Returns the documents with a value that an automaton takes.
pub(super) fn whole_values_like(
    builder: &mut Builder<'_>,
    field: &ResolvedField<'_>,
    automaton: TermAutomaton,
) -> Box<dyn Query> {
    let column = noted(builder, field);
    Box::new(ColumnTerms::new(column, automaton))
}

/// Returns the documents with any value.
pub(super) fn any_whole_value(
    builder: &mut Builder<'_>,
    field: &ResolvedField<'_>,
) -> Box<dyn Query> {
    let column = noted(builder, field);
    let range = ValueRange::Text(Bound::Unbounded, Bound::Unbounded);
    let query = Box::new(ColumnQuery::new(column, range));
    // It may come out as everything, of which tantivy loses the score.
    match builder.scoring {
        true => Box::new(ConstScoreQuery::new(query, 1.0)),
        false => query,
    }
}

/// Returns the name of the column, with the need of it noted.
fn noted(builder: &mut Builder<'_>, field: &ResolvedField<'_>) -> String {
    let column = field.fast_field_name();
    builder.needs.fast_fields.insert(column.clone());
    column
}

/// Returns the words that a document with a value has.
fn implied_words(builder: &Builder<'_>, field: &ResolvedField<'_>, value: &str) -> Vec<Term> {
    let Some(view) = field.view.as_ref().filter(|view| view.has_words) else {
        return Vec::new();
    };
    let terms = match view.of {
        FieldKind::Text(text) => tokenize(builder.mapper, &text.tokenizer, value, &|word| {
            Term::from_field_text(field.field, word)
        }),
        FieldKind::Json(json) => tokenize(builder.mapper, &json.tokenizer, value, &|word| {
            let mut term = json_base_term(field, json);
            term.append_type_and_str(word);
            term
        }),
        _ => return Vec::new(),
    };
    let terms = terms.unwrap_or_default().into_iter();
    terms.map(|(_, term)| term).collect()
}
