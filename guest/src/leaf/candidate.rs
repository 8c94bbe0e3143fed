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

/// So many terms that every match needs are looked up before anything else is read.
const MAX_REQUIRED_TERMS: usize = 64;

/// Columns of less than this are read at once: so many bytes may lie between two reads that become one request.
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
    /// Clauses of which hits say whether they match.
    pub(super) named: Vec<BuiltQuery>,
    /// When to stop.
    pub(super) interrupt: Interrupt,
    /// What the head says of the aggregations.
    pub(super) from_head: FromHead,
    /// Their result, if that is all.
    pub(super) whole: Option<Partial>,
}

impl Candidate {
    pub(super) fn covers_all_docs(&self) -> bool {
        self.within.least() == (0..self.split.segment().max_doc())
    }

    /// Whether clauses are to be answered from elsewhere than postings and columns.
    pub(super) fn needs_scan(&self) -> bool {
        self.queries().any(|query| !query.scan.is_empty())
    }

    /// Whether stored documents must be looked at to know which match.
    pub(super) fn looks_at_documents(&self) -> bool {
        self.queries().any(|query| query.scan.looks_at_documents())
    }

    /// All that is asked of its documents.
    fn queries(&self) -> impl Iterator<Item = &BuiltQuery> {
        std::iter::once(&self.built).chain(self.other_queries())
    }

    /// What is asked of documents that match.
    pub(super) fn other_queries(&self) -> impl Iterator<Item = &BuiltQuery> {
        self.filters.iter().flatten().chain(&self.named)
    }

    /// Why no document of it can match, if that is known before documents are looked at: terms that every match needs
    /// never meet, or its dictionaries lack one of them. Nothing else is read of it then.
    ///
    /// No wave is lost by asking the dictionaries first: the lists of these terms are found in them, and can be read no
    /// earlier. Where other parts of dictionaries are wanted too, nothing waits for these, and so they say nothing; and
    /// columns of a few bytes come sooner and in fewer reads beside the dictionary than beside postings.
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
        if !needs.term_ranges.is_empty() || !needs.automata.is_empty() {
            return Ok(None);
        }
        let columns = needs.fast_fields.iter();
        let columns = columns.filter_map(|field| column_len(split.segment(), field));
        let num_bytes = columns.fold(0, u64::saturating_add);
        // Nobody waits for what was missed here.
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

    /// How many documents match, for shapes that are countable. Which documents a term is in is read only where
    /// some are deleted.
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

    /// How many documents with this term are not deleted.
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

    /// See [`search_rank`].
    pub(super) fn search_rank(&self, direction: SortOrder) -> (i64, u32) {
        search_rank(self.split.metadata.time_range, self.split_ord, direction)
    }

    /// See [`may_beat`].
    pub(super) fn may_beat(&self, worst_ns: Option<i64>, direction: SortOrder) -> bool {
        may_beat(self.split.metadata.time_range, worst_ns, direction)
    }
}

/// Sorts splits so that the one with the best possible hit is first.
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

/// Whether a document of a split with such times may come before a hit of that time.
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
