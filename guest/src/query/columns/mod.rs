//! Ranges and single values of typed fields: their meaning, and the documents whose columns or terms
//! lie within them.
//!
//! tantivy's own range query is not used for columns: it takes the bounds as terms, which cannot
//! represent a bound outside the range of the field's type.

mod column_query;
mod column_terms;
mod number;
mod passing;
mod places;
mod scan_full;
mod spans;
mod term_ranges;
mod value_range;

pub(super) use column_query::{ColumnQuery, FullRange, WholeValue};
pub(super) use column_terms::ColumnTerms;
pub(super) use passing::{explained, with_terms};
pub(super) use places::{PlaceTest, within};
pub(super) use spans::{SpanQuery, SpanTest};
pub(super) use term_ranges::term_ranges;
pub(super) use value_range::{ValueRange, equal_values, in_width, second_of, value_ranges};
