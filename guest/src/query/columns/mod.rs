//! Ranges and single values of typed fields: what they mean, and the documents whose columns, or whose
//! terms, lie within them.
//!
//! tantivy's own range query is not used for columns: it takes the bounds as terms, so a bound that the
//! field's type cannot hold has no place in it.

mod column_query;
mod number;
mod scan_full;
mod term_ranges;
mod value_range;

pub(super) use column_query::{ColumnQuery, FullRange};
pub(super) use term_ranges::term_ranges;
pub(super) use value_range::{ValueRange, equal_values, second_of, value_ranges};
