//! A search as it was read: what plan, leaf and root borrow.

use canter_aggregations::check_name;
use serde::{Deserialize, Serialize};

use super::aggregations::AskedAggregations;
use super::counting::Counting;
use super::elastic::ElasticHits;
use super::scroll::Scroll;
use super::sort::{SortKeySpec, SortTarget, SortValue};
use super::{DEFAULT_MAX_HITS, MAX_FIELDS, PinnedManifest};
use crate::limits::{Limits, TimeFilter};
use crate::query::QueryNode;
use crate::{ErrorKind, SearchError};

/// How an answer is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AnswerForm {
    /// As an HTTP response; otherwise as the bare JSON object.
    pub(crate) is_http: bool,
    /// With the guest's account of its own work.
    pub(crate) has_profile: bool,
    /// With line breaks and indentation.
    pub(crate) is_pretty: bool,
}

impl AnswerForm {
    /// For a host that takes the answer apart.
    pub(crate) const BARE: Self = Self {
        is_http: false,
        has_profile: true,
        is_pretty: false,
    };
}

/// A search as it was read and checked: what it asks for, what it may use, and how its answer is written. Whatever way
/// it came in, no text in it is parsed again; between sessions it travels in postcard.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    /// The query, as the caller asks it.
    pub(crate) query: QueryNode,
    /// Queries that every hit must match besides: what the caller may see. At least one.
    pub(crate) forced_filter: Option<Vec<QueryNode>>,
    /// Fields for words that name none; the index config's default search fields if there are none.
    pub(crate) search_field: Vec<String>,
    /// The times between which hits lie.
    pub(crate) time: TimeFilter,
    pub(crate) aggregations: Option<AskedAggregations>,
    /// How many hits to return.
    pub(crate) max_hits: u64,
    /// How many hits to skip before those.
    pub(crate) start_offset: u64,
    /// The order of hits; none stands for the order that the index has by itself.
    pub(crate) sort: Vec<SortKeySpec>,
    /// The sort values behind which hits are wanted, one for each key.
    pub(crate) search_after: Vec<SortValue>,
    /// All hits page by page, as they lie in splits.
    pub(crate) scroll: Option<Scroll>,
    /// Of hits with the same value in this field only the first is wanted.
    pub(crate) collapse: Option<String>,
    /// Hits with a lower score are none.
    pub(crate) min_score: Option<f64>,
    /// How many hits are counted.
    pub(crate) track_total_hits: Counting,
    /// Fields of which hits show the passages that match, besides the documents themselves.
    pub(crate) snippet_fields: Vec<String>,
    /// Clauses of which hits say whether they match: one for each name in `elastic`.
    pub(crate) named: Vec<QueryNode>,
    /// What an answer in Elasticsearch's form shows of hits.
    pub(crate) elastic: Option<ElasticHits>,
    /// The manifests that are searched instead of the newest.
    pub(crate) pinned: Vec<PinnedManifest>,
    /// Only says what the search would look at, and why.
    pub(crate) explain: bool,
    /// Lists the ids of all documents that match, split by split: what a deletion goes by.
    pub(crate) list_documents: bool,
    /// By which name the index goes, where its host knows it by none.
    pub(crate) index_name: Option<String>,
    pub(crate) limits: Limits,
    pub(crate) form: AnswerForm,
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
        }
    }

    /// Checks what can be checked without looking at an index.
    ///
    /// # Errors
    /// If it asks for more than the limits allow, or contradicts itself.
    pub(crate) fn check(&self) -> Result<(), SearchError> {
        let window = self.start_offset.saturating_add(self.max_hits);
        if window > self.limits.max_hits {
            let what = match &self.elastic {
                Some(_) => "from + size",
                None => "start_offset + max_hits",
            };
            return Err(SearchError::new(
                ErrorKind::Limit,
                format!(
                    "{what} is {window}, more than the limit of {}: ask for less, \
                     narrow the query by time, or raise the limit max_hits",
                    self.limits.max_hits
                ),
            ));
        }
        check_names("search_field", &self.search_field)?;
        check_names("snippet_fields", &self.snippet_fields)?;
        for key in &self.sort {
            if let SortTarget::Field(name) = &key.target {
                check_name("sort_by", name)?;
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

    /// Returns whether the caller may see some documents only.
    pub(crate) fn is_filtered(&self) -> bool {
        self.forced_filter.is_some()
    }

    /// Returns the scroll of which this asks for a page.
    pub(crate) fn scroll(&self) -> Option<&Scroll> {
        let shown = self.elastic.as_ref();
        let other = shown.and_then(|shown| shown.scroll.as_ref());
        self.scroll.as_ref().or(other)
    }

    /// Returns the number of hits that is enough, if the search may stop there: where it wants the first hits and nothing
    /// else.
    pub(crate) fn enough_hits(&self) -> Option<u64> {
        match self.track_total_hits {
            Counting::UpTo(most) if self.window() > 0 && self.aggregations.is_none() => Some(most),
            _ => None,
        }
    }

    /// Returns how many hits each split must give: those returned and those skipped.
    pub(crate) fn window(&self) -> usize {
        usize::try_from(self.start_offset.saturating_add(self.max_hits)).unwrap_or(usize::MAX)
    }
}

/// Checks a list of names of fields.
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
