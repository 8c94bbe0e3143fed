//! A parsed search, borrowed by plan, leaf and root.

use canter_aggregations::check_name;
use canter_doc_mapper::DocMapper;
use serde::{Deserialize, Serialize};

use super::aggregations::AskedAggregations;
use super::counting::Counting;
use super::elastic::ElasticHits;
use super::scroll::{Scroll, ScrollPage};
use super::sort::{SortKeySpec, SortOrder, SortTarget, SortValue};
use super::{DEFAULT_MAX_HITS, MAX_FIELDS, PinnedManifest};
use crate::limits::{Limits, TimeFilter};
use crate::query::QueryNode;
use crate::{ErrorKind, SearchError};

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AnswerForm {
    /// For the host itself: an error ends the session instead of being answered.
    pub(crate) is_of_host: bool,
    /// Includes the guest's account of its own work.
    pub(crate) has_profile: bool,
    /// Includes line breaks and indentation.
    pub(crate) is_pretty: bool,
}

/// What was read to find the nearest vectors, before the search was planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct VectorReads {
    /// Number of clusters whose codes were compared.
    pub(crate) clusters: u64,
    /// Number of exact vectors that were compared.
    pub(crate) compared: u64,
    /// Whether all vectors that count were compared, so that none nearer was missed.
    pub(crate) exact: bool,
}

impl VectorReads {
    /// Adds what was read for another condition.
    pub(crate) fn add(&mut self, other: Self) {
        self.clusters += other.clusters;
        self.compared += other.compared;
        self.exact &= other.exact;
    }
}

/// A parsed and validated search: its query, its limits, and the form of its answer. No text in it is parsed again; it
/// travels between sessions in postcard.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    /// The query of the caller.
    pub(crate) query: QueryNode,
    /// Additional queries that every hit must match, which limit what the caller may see. At least one.
    pub(crate) forced_filter: Option<Vec<QueryNode>>,
    /// Fields for words that name none; the index config's default search fields if empty.
    pub(crate) search_field: Vec<String>,
    /// The time range of hits.
    pub(crate) time: TimeFilter,
    pub(crate) aggregations: Option<AskedAggregations>,
    /// Number of hits to return.
    pub(crate) max_hits: u64,
    /// Number of hits to skip before those.
    pub(crate) start_offset: u64,
    /// The order of hits; empty for the index's default order.
    pub(crate) sort: Vec<SortKeySpec>,
    /// The sort values after which hits are wanted, one for each key.
    pub(crate) search_after: Vec<SortValue>,
    /// A scroll through all hits, page by page, in stored order.
    pub(crate) scroll: Option<Scroll>,
    /// Field by which hits are collapsed: only the first hit of each value is returned.
    pub(crate) collapse: Option<String>,
    /// Minimum score of a hit.
    pub(crate) min_score: Option<f64>,
    /// Limit on counting hits.
    pub(crate) track_total_hits: Counting,
    /// Fields whose matching passages hits show, besides the documents themselves.
    pub(crate) snippet_fields: Vec<String>,
    /// The named clauses, one for each name in `elastic`.
    pub(crate) named: Vec<QueryNode>,
    /// Contents of hits in Elasticsearch's form.
    pub(crate) elastic: Option<ElasticHits>,
    /// Manifests to search instead of the newest.
    pub(crate) pinned: Vec<PinnedManifest>,
    /// Explains what the search would read, and why, instead of searching.
    pub(crate) explain: bool,
    /// Lists the ids of all matching documents, split by split, for a deletion.
    pub(crate) list_documents: bool,
    /// The name of the index, where its host does not name it.
    pub(crate) index_name: Option<String>,
    pub(crate) limits: Limits,
    pub(crate) form: AnswerForm,
    /// What was read for conditions on vectors, whose documents the query now names.
    pub(crate) vector_reads: Option<VectorReads>,
}

impl Question {
    /// Returns a question for the first of all documents that the caller may see.
    pub(crate) fn of_all(
        forced_filter: Option<Vec<QueryNode>>,
        limits: Limits,
        form: AnswerForm,
    ) -> Self {
        Self {
            query: QueryNode::All,
            forced_filter,
            search_field: Vec::new(),
            time: TimeFilter::default(),
            aggregations: None,
            max_hits: DEFAULT_MAX_HITS,
            start_offset: 0,
            sort: Vec::new(),
            search_after: Vec::new(),
            scroll: None,
            collapse: None,
            min_score: None,
            track_total_hits: Counting::All,
            snippet_fields: Vec::new(),
            named: Vec::new(),
            elastic: None,
            pinned: Vec::new(),
            explain: false,
            list_documents: false,
            index_name: None,
            limits,
            form,
            vector_reads: None,
        }
    }

    /// Returns a question of the same callers, splits and times for the best hits of another query by its score, and for
    /// nothing else.
    pub(crate) fn by_score(&self, query: QueryNode, max_hits: u64) -> Self {
        Self {
            query,
            aggregations: None,
            max_hits,
            start_offset: 0,
            sort: vec![SortKeySpec::new(SortTarget::Score, SortOrder::Descending)],
            search_after: Vec::new(),
            scroll: None,
            collapse: None,
            min_score: None,
            snippet_fields: Vec::new(),
            named: Vec::new(),
            elastic: None,
            explain: false,
            list_documents: false,
            ..self.clone()
        }
    }

    /// Checks everything that can be checked without an index.
    ///
    /// # Errors
    /// If it asks for more than the limits allow, or contradicts itself.
    pub(crate) fn check(&self) -> Result<(), SearchError> {
        let window = self.start_offset.saturating_add(self.max_hits);
        if window > self.limits.max_hits {
            let most = self.limits.max_hits;
            let what = match (&self.elastic, self.scroll()) {
                (None, _) => {
                    format!("start_offset + max_hits is {window}, more than the limit of {most}")
                }
                (Some(_), None) => format!(
                    "Result window is too large, from + size must be less than or equal to: [{most}] but was \
                     [{window}]. See the scroll api for a more efficient way to request large data sets. This is the limit \
                     max_hits"
                ),
                (Some(_), Some(_)) => format!(
                    "Batch size is too large, size must be less than or equal to: [{most}] but was [{window}]. Scroll \
                     batch sizes cost as much memory as result windows so they are controlled by the \
                     [index.max_result_window] index level setting. This is the limit max_hits"
                ),
            };
            return Err(SearchError::new(
                ErrorKind::Limit,
                format!(
                    "{what}: ask for less, narrow the query by time, or raise the limit max_hits"
                ),
            ));
        }
        check_names("search_field", &self.search_field)?;
        check_names("snippet_fields", &self.snippet_fields)?;
        for key in &self.sort {
            if let SortTarget::Field(name) = &key.target {
                check_name("sort_by", name)?;
            }
            if let SortTarget::Distance(distance) = &key.target {
                check_name("sort", &distance.field)?;
            }
        }
        if self.explain && self.is_filtered() {
            return Err(SearchError::invalid(
                "explain is not allowed with a forced_filter: it would tell of documents that may not be \
                 searched",
            ));
        }
        Ok(())
    }

    /// Returns whether the caller has a forced filter, and may see only some documents.
    pub(crate) fn is_filtered(&self) -> bool {
        self.forced_filter.is_some()
    }

    /// Returns whether a query of it applies to fields that it does not name, in an index with this doc mapping.
    pub(crate) fn asks_open_fields(&self, query: &QueryNode, mapper: &DocMapper) -> bool {
        let has_default =
            !self.search_field.is_empty() || !mapper.default_search_fields().is_empty();
        let filters = self
            .aggregations
            .iter()
            .flat_map(AskedAggregations::queries);
        let filters = filters.map(|(_, query)| query);
        let mut queries = std::iter::once(query).chain(&self.named).chain(filters);
        queries.any(|query| query.asks_open_fields(has_default))
    }

    /// Returns the scroll if the question asks for one of its pages.
    pub(crate) fn scroll(&self) -> Option<&Scroll> {
        let shown = self.elastic.as_ref();
        let other = shown.and_then(|shown| shown.scroll.as_ref());
        self.scroll.as_ref().or(other)
    }

    /// Continues its scroll after a page.
    pub(crate) fn continue_scroll(&mut self, page: ScrollPage) {
        let shown = self.elastic.as_mut();
        match shown.and_then(|shown| shown.scroll.as_mut()) {
            Some(scroll) => {
                scroll.continue_after(page);
                self.search_after.clone_from(&scroll.keys);
            }
            None => {
                if let Some(scroll) = &mut self.scroll {
                    scroll.continue_after(page);
                }
            }
        }
    }

    /// Returns the number of hits after which the search may stop: where it wants only the first hits.
    pub(crate) fn enough_hits(&self) -> Option<u64> {
        match self.track_total_hits {
            Counting::UpTo(most) if self.window() > 0 && self.aggregations.is_none() => Some(most),
            _ => None,
        }
    }

    /// Returns the number of hits that each split must return: those returned and those skipped.
    pub(crate) fn window(&self) -> usize {
        usize::try_from(self.start_offset.saturating_add(self.max_hits)).unwrap_or(usize::MAX)
    }
}

/// Checks a list of field names.
fn check_names(what: &str, names: &[String]) -> Result<(), SearchError> {
    if names.len() > MAX_FIELDS {
        return Err(SearchError::new(
            ErrorKind::Limit,
            format!("{what}: at most {MAX_FIELDS} fields are allowed"),
        ));
    }
    names
        .iter()
        .try_for_each(|name| Ok(check_name(what, name)?))
}
