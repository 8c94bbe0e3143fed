//! Values of tantivy's columns at memory speed: decodes ranges and lists of rows, and counts codes
//! in packed form.
//!
//! This module reads tantivy's format and writes nothing. tantivy still reads the index of a column
//! (the rows of each document). No allocation trusts a length from the bytes, and damaged bytes are
//! an error.
//!
//! Read in this order: [`values`] (the interface), [`FullColumn`] (the part for queries and
//! sorting), `layout` (the bytes of a column), `kernels` (the loops).

mod full_column;
mod kernels;
mod layout;
mod values;

pub use full_column::FullColumn;
pub(crate) use layout::open_dictionary;
pub(crate) use values::Values;
