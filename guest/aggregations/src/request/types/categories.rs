//! Categories of texts: the statements that wrote them.

/// `search-aggregations-bucket-categorize-text-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct Categories {
    pub(crate) field: String,
    /// Column of the texts' patterns, which an index may have.
    pub(crate) column: String,
    pub(crate) size: usize,
    pub(crate) min_doc_count: u64,
    /// Number of the list of patterns that are read from documents, where no column has them.
    pub(crate) list: usize,
}

/// Returns the name of the column with the patterns of a field.
pub(crate) fn column_of_patterns(field: &str) -> String {
    format!("{field}.pattern")
}
