//! Ranges of values as ranges of terms, for fields that are indexed and have no column.

use std::ops::Bound;

use canter_doc_mapper::{FieldKind, ResolvedField};
use tantivy::columnar::{ColumnType, MonotonicallyMappableToU64};
use tantivy::{DateTime, Term};

use super::ValueRange;
use crate::query::build::{json_base_term, prefix_end};

type TermBounds = (Bound<Term>, Bound<Term>);

/// Returns the ranges of terms for the values within `range`.
pub(in crate::query) fn term_ranges(
    field: &ResolvedField<'_>,
    range: &ValueRange,
) -> Vec<TermBounds> {
    let terms = Terms::of(field);
    match range {
        ValueRange::Numbers(numbers) => {
            // In a JSON field each number is indexed with the narrowest type that holds it.
            let types: &[ColumnType] = match field.kind {
                FieldKind::I64(_) => &[ColumnType::I64],
                FieldKind::U64(_) => &[ColumnType::U64],
                FieldKind::F64(_) => &[ColumnType::F64],
                _ => &[ColumnType::I64, ColumnType::U64, ColumnType::F64],
            };
            let mapped = types.iter().filter_map(|column_type| {
                let range = numbers.for_type(*column_type)?;
                Some(terms.mapped(*column_type, *range.start(), *range.end()))
            });
            mapped.collect()
        }
        ValueRange::Mapped(column_type, range) => {
            vec![terms.mapped(*column_type, *range.start(), *range.end())]
        }
        ValueRange::Addresses(range) => {
            let term = |address| Bound::Included(Term::from_field_ip_addr(field.field, address));
            vec![(term(*range.start()), term(*range.end()))]
        }
        ValueRange::Text(lower, upper) => vec![terms.text(lower, upper)],
        ValueRange::Bytes(lower, upper) => {
            let term = |bound: &Bound<Vec<u8>>| {
                bound
                    .as_ref()
                    .map(|bytes| Term::from_field_bytes(field.field, bytes))
            };
            vec![(term(lower), term(upper))]
        }
    }
}

/// Builder of a field's terms.
struct Terms {
    field: tantivy::schema::Field,
    /// Prefix of every term below a path of a JSON field.
    json_base: Option<Term>,
}

impl Terms {
    fn of(field: &ResolvedField<'_>) -> Self {
        let json_base = match field.kind {
            FieldKind::Json(json) => Some(json_base_term(field, json)),
            _ => None,
        };
        Self {
            field: field.field,
            json_base,
        }
    }

    fn mapped(&self, column_type: ColumnType, first: u64, last: u64) -> TermBounds {
        (
            Bound::Included(self.mapped_term(column_type, first)),
            Bound::Included(self.mapped_term(column_type, last)),
        )
    }

    fn mapped_term(&self, column_type: ColumnType, mapped: u64) -> Term {
        let field = self.field;
        let Some(base) = &self.json_base else {
            return match column_type {
                ColumnType::I64 => Term::from_field_i64(field, i64::from_u64(mapped)),
                ColumnType::F64 => Term::from_field_f64(field, f64::from_u64(mapped)),
                ColumnType::Bool => Term::from_field_bool(field, bool::from_u64(mapped)),
                ColumnType::DateTime => Term::from_field_date(field, DateTime::from_u64(mapped)),
                _ => Term::from_field_u64(field, mapped),
            };
        };
        let mut term = base.clone();
        match column_type {
            ColumnType::I64 => term.append_type_and_fast_value(i64::from_u64(mapped)),
            ColumnType::F64 => term.append_type_and_fast_value(f64::from_u64(mapped)),
            ColumnType::Bool => term.append_type_and_fast_value(bool::from_u64(mapped)),
            ColumnType::DateTime => term.append_type_and_fast_value(DateTime::from_u64(mapped)),
            _ => term.append_type_and_fast_value(mapped),
        }
        term
    }

    /// In a JSON field, a range without an end still ends with the texts of its path.
    fn text(&self, lower: &Bound<String>, upper: &Bound<String>) -> TermBounds {
        let Some(base) = &self.json_base else {
            let term = |bound: &Bound<String>| {
                bound
                    .as_ref()
                    .map(|text| Term::from_field_text(self.field, text))
            };
            return (term(lower), term(upper));
        };
        let term = |text: &str| {
            let mut term = base.clone();
            term.append_type_and_str(text);
            term
        };
        let lower = match lower.as_ref().map(|text| term(text)) {
            Bound::Unbounded => Bound::Included(term("")),
            bound => bound,
        };
        let upper = match upper.as_ref().map(|text| term(text)) {
            Bound::Unbounded => prefix_end(&term("")).map_or(Bound::Unbounded, Bound::Excluded),
            bound => bound,
        };
        (lower, upper)
    }
}
