//! The values of tantivy's columns at memory speed: ranges and lists of rows decoded, and codes counted as
//! they lie packed.
//!
//! This reads what tantivy wrote and writes nothing. The index of a column (which rows a document has) stays
//! tantivy's. Nothing here allocates by a length that only the bytes claim, and damaged bytes are an error.
//!
//! Read in this order: [`values`] (what a caller sees), [`FullColumn`] (what queries and sorting see of it), `layout`
//! (where things lie in the bytes of a column), `kernels` (the loops).

mod full_column;
mod kernels;
mod layout;
mod values;

pub use full_column::FullColumn;
pub(crate) use layout::open_dictionary;
pub(crate) use values::Values;
