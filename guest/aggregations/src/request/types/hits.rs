//! Documents that a bucket shows.

/// `search-aggregations-metrics-top-hits-aggregation`.
#[derive(Clone, Debug)]
pub(crate) struct TopHits {
    pub(crate) size: usize,
    pub(crate) from: usize,
    pub(crate) sort: Vec<TopKey>,
    pub(crate) fields: Vec<String>,
    /// Number of the form in which documents are shown; `None` if hits show `fields` only.
    pub(crate) form: Option<usize>,
}

/// Key of the order of documents.
#[derive(Clone, Debug)]
pub(crate) struct TopKey {
    pub(crate) by: TopBy,
    pub(crate) is_descending: bool,
    pub(crate) missing_first: bool,
    pub(crate) mode: TopMode,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TopBy {
    Field(String),
    /// Score of the request's query.
    Score,
}

/// Value of a document with several values that an order compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum TopMode {
    /// The smallest one in ascending order, else the greatest.
    #[default]
    Nearest,
    Min,
    Max,
    Sum,
    Avg,
    Median,
}
