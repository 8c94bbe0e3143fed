//! What is true: a scan of a table of the documents' values, and the comparison of an answer with it.

pub(crate) mod judge;
pub(crate) mod scan;
pub(crate) mod table;
pub(crate) mod tokens;
