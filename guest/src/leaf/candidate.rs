//! One split on its way through the phases of a leaf search.

use std::sync::Arc;

use canter_aggregations::{FromHead, Partial};
use canter_split_format::TimeRange;

use futures_util::future::try_join_all;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, TERMINATED, TantivyError, Term};

use super::hits::HitOrder;
use super::reads::{column_len, rerun_on_gaps, warm_up};
use super::split::times::Within;
use crate::SearchError;
use crate::exchange::Interrupt;
use crate::query::{BuiltQuery, QueryShape, required_terms};
use crate::request::SortOrder;
use crate::split::OpenSplit;

/// Maximum number of required terms that are looked up before anything else is read.
const MAX_REQUIRED_TERMS: usize = 64;

/// Columns smaller than this are read at once: two reads with a gap of this size become one request.
const MIN_COLUMN_BYTES: u64 = 128 << 10;

/// One split on its way through the phases.
pub(super) struct Candidate {
    pub(super) split_ord: u32,
    pub(super) split: Arc<OpenSplit>,
    pub(super) built: BuiltQuery,
    pub(super) order: HitOrder,
    /// Documents within the time filter.
    pub(super) within: Within,
    /// The filters of the aggregations, by slot, if its documents are aggregated.
    pub(super) filters: Option<Vec<BuiltQuery>>,
    /// Named clauses: hits list the ones that they match.
    pub(super) named: Vec<BuiltQuery>,
    /// True if aggregations look at objects in stored documents.
    pub(super) reads_objects: bool,
    /// Flag that stops the search.
    pub(super) interrupt: Interrupt,
    /// Aggregations as far as the head answers them.
    pub(super) from_head: FromHead,
    /// The result of the aggregations, if the head answers them completely.
    pub(super) whole: Option<Partial>,
}

impl Candidate {
    pub(super) fn covers_all_docs(&self) -> bool {
        self.within.least() == (0..self.split.segment().max_doc())
    }

    /// Returns whether clauses are answered from sources other than postings and columns.
    pub(super) fn needs_scan(&self) -> bool {
        self.queries().any(|query| !query.scan.is_empty())
    }

    /// Returns whether stored documents must be read to find the matches.
    pub(super) fn looks_at_documents(&self) -> bool {
        self.reads_objects || self.queries().any(|query| query.scan.looks_at_documents())
    }

    /// Returns all queries of this split: the main query, filters and named clauses.
    fn queries(&self) -> impl Iterator<Item = &BuiltQuery> {
        std::iter::once(&self.built).chain(self.other_queries())
    }

    /// Returns the queries that are evaluated on matching documents.
    pub(super) fn other_queries(&self) -> impl Iterator<Item = &BuiltQuery> {
        self.filters.iter().flatten().chain(&self.named)
    }

    /// Returns the reason why no document can match, if that is known before documents are read: terms that every match
    /// needs never occur together, or the dictionaries lack one of them. The search then reads nothing else of the
    /// split.
    ///
    /// Asking the dictionaries first costs no wave: the posting lists of these terms are found through them, and cannot
    /// be read earlier. Where other parts of dictionaries are needed too, nothing waits for the required terms, so this
    /// check is skipped; small columns are read sooner, and in fewer reads, together with the dictionary than with the
    /// postings.
    pub(super) async fn excluded(&self) -> Result<Option<&'static str>, SearchError> {
        let needs = &self.built.needs;
        let required = required_terms(self.built.query.as_ref(), MAX_REQUIRED_TERMS);
        if !required.requires_something() {
            return Ok(None);
        }
        let split = self.split.as_ref();
        if !split.may_have_together(&required) {
            return Ok(Some(
                "its head says that terms which every hit has never meet, so nothing else is read",
            ));
        }
        if needs.has_patterns() {
            return Ok(None);
        }
        let columns = needs.fast_fields.iter();
        let columns = columns.filter_map(|field| column_len(split.segment(), field));
        let num_bytes = columns.fold(0, u64::saturating_add);
        // Misses here need no read.
        split.body.take_wanted();
        if !needs.fast_fields.is_empty() && num_bytes < MIN_COLUMN_BYTES {
            return Ok(None);
        }
        let terms = canter_sorting::set_of(required.terms());
        let lookups = terms.into_iter().map(async |term| {
            let found = split.terms.load(split.segment(), term).await?;
            Ok::<_, TantivyError>(found.is_none().then_some(term))
        });
        let absent = try_join_all(lookups).await;
        let absent = absent.map_err(|error| split.error(error))?;
        let absent = canter_sorting::set_of(absent.into_iter().flatten());
        let may_match = required.may_be_had(&|term| !absent.contains(term));
        Ok((!may_match)
            .then_some("its dictionary lacks a term that every hit has, so nothing else is read"))
    }

    /// Counts the documents that match, for countable shapes. Reads the posting list of a term only where
    /// documents are deleted.
    pub(super) async fn count(&self) -> Result<u64, SearchError> {
        match &self.built.shape {
            QueryShape::All => {
                let docs = self.within.docs(&self.split).await?;
                Ok(self.split.num_live(docs))
            }
            QueryShape::Nothing | QueryShape::Other => Ok(0),
            QueryShape::Term(term) => {
                if self.split.deleted.is_some() {
                    return self.count_live(term).await;
                }
                let found = self.split.terms.load(self.split.segment(), term).await;
                let found = found.map_err(|error| self.split.error(error))?;
                Ok(found.map_or(0, |info| u64::from(info.doc_freq)))
            }
        }
    }

    /// Counts the documents with this term that are not deleted.
    async fn count_live(&self, term: &Term) -> Result<u64, SearchError> {
        let split = self.split.as_ref();
        let error = |error: tantivy::TantivyError| split.error(error);
        let needs = warm_up(split, &self.built.needs).await;
        needs.map_err(error)?;
        rerun_on_gaps(split, &self.interrupt, || {
            let inverted_index = split.segment().inverted_index(term.field())?;
            let Some(mut postings) =
                inverted_index.read_postings(term, IndexRecordOption::Basic)?
            else {
                return Ok(0);
            };
            let mut num_docs = 0;
            while postings.doc() != TERMINATED {
                num_docs += u64::from(split.is_live(postings.doc()));
                postings.advance();
            }
            Ok(num_docs)
        })
        .await
    }

    /// Returns [`search_rank`] of this split.
    pub(super) fn search_rank(&self, direction: SortOrder) -> (i64, u32) {
        search_rank(self.split.metadata.time_range, self.split_ord, direction)
    }

    /// Calls [`may_beat`] for this split.
    pub(super) fn may_beat(&self, worst_ns: Option<i64>, direction: SortOrder) -> bool {
        may_beat(self.split.metadata.time_range, worst_ns, direction)
    }
}

/// Returns a sort key that puts the split with the best possible hit first.
pub(super) fn search_rank(
    range: Option<TimeRange>,
    split_ord: u32,
    direction: SortOrder,
) -> (i64, u32) {
    match direction {
        SortOrder::Descending => (!range.map_or(i64::MAX, |range| range.end_ns), !split_ord),
        SortOrder::Ascending => (range.map_or(i64::MIN, |range| range.start_ns), split_ord),
    }
}

/// Returns whether a document of a split with this time range may come before a hit with this time.
pub(super) fn may_beat(
    range: Option<TimeRange>,
    worst_ns: Option<i64>,
    direction: SortOrder,
) -> bool {
    match (worst_ns, range) {
        (Some(worst), Some(range)) => match direction {
            SortOrder::Descending => range.end_ns >= worst,
            SortOrder::Ascending => range.start_ns <= worst,
        },
        _ => true,
    }
}
