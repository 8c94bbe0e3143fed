//! Whole values of a text that is indexed by words, such as `level.keyword`.
//!
//! The column's dictionary stands for the terms of whole values, so that a value, a pattern and a range mean what they
//! mean in a field of whole values. The words of a value are in the field's own dictionary, which tells sooner than the
//! column that a split lacks it.

use std::ops::Bound;

use canter_doc_mapper::{FieldKind, ResolvedField};
use tantivy::Term;
use tantivy::query::{ConstScoreQuery, Query};

use super::builder::Builder;
use super::sets::TermAutomaton;
use super::value::json_base_term;
use super::words::{edges_of, terms_of};
use crate::query::columns::{ColumnQuery, ColumnTerms, ValueRange, WholeValue};

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
        FieldKind::Text(text) => edges_of(builder.mapper, &text.tokenizer, value, &|word| {
            Term::from_field_text(field.field, word)
        }),
        FieldKind::Json(json) => edges_of(builder.mapper, &json.tokenizer, value, &|word| {
            let mut term = json_base_term(field, json);
            term.append_type_and_str(word);
            term
        }),
        _ => return Vec::new(),
    };
    let terms = terms_of(terms.unwrap_or_default()).into_iter();
    terms.map(|(_, term)| term).collect()
}

/// Returns the text of a term of a query, if it is one of this field.
pub(crate) fn text_in<'t>(term: &'t Term, field: &ResolvedField<'_>) -> Option<&'t str> {
    let bytes = term.serialized_value_bytes();
    let text = match (&field.view, field.kind) {
        (Some(_), _) => {
            let start = WholeValue::start(&field.fast_field_name());
            (term.field() == WholeValue::FIELD).then(|| bytes.strip_prefix(&*start))??
        }
        _ if term.field() != field.field => return None,
        (None, FieldKind::Json(json)) => {
            let mut base = json_base_term(field, json);
            base.append_type_and_str("");
            bytes.strip_prefix(base.serialized_value_bytes())?
        }
        (None, _) => bytes,
    };
    std::str::from_utf8(text).ok()
}

/// Returns the bytes before each text of a field in its dictionary.
pub(crate) fn start_of_texts(field: &ResolvedField<'_>) -> Vec<u8> {
    match (&field.view, field.kind) {
        (None, FieldKind::Json(json)) => {
            let mut base = json_base_term(field, json);
            base.append_type_and_str("");
            base.serialized_value_bytes().to_vec()
        }
        _ => Vec::new(),
    }
}

/// Returns the text of a term of a query, whichever field it is in.
pub(crate) fn any_text(term: &Term) -> Option<&str> {
    let bytes = std::str::from_utf8(term.serialized_value_bytes()).ok()?;
    if term.field() == WholeValue::FIELD {
        return bytes.split_once('\0').map(|(_, text)| text);
    }
    match term.value().as_str().is_some() {
        true => Some(bytes),
        // Of a JSON field: the path and the type of a text stand before it.
        false => bytes.split_once("\0s").map(|(_, text)| text),
    }
}
