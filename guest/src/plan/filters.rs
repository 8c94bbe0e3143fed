//! Filters of the pages' splits: they rule out splits that lack the terms that a query requires.
//!
//! A filter that is missing, damaged or of another field rules nothing out.

use std::collections::{BTreeMap, BTreeSet};

use canter_doc_mapper::DocMapper;
use canter_protocol::ByteClass;
use canter_split_format::{BlockPlace, FilterBlock, Needle, PageFilters, PageRef, PagedSplit};
use futures_util::future::join_all;
use tantivy::Term;
use tantivy::directory::OwnedBytes;

use super::prune::covered_share;
use crate::SearchError;
use crate::exchange::Exchange;
use crate::limits::TimeFilter;
use crate::query::{RequiredTerms, build_query, required_terms};
use crate::request::{Question, Resolved};

/// Up to this number of splits no filter is read: searching them costs no more.
const FEW_SPLITS: u64 = 4;
/// Maximum number of terms to look up: each may be a request for each page.
const MAX_TERMS: usize = 6;

/// A required term.
struct Wanted {
    term: Term,
    field: String,
    needle: Needle,
}

/// The terms that a query requires, in the form that filters look up.
pub(super) struct Needles {
    required: RequiredTerms,
    wanted: Vec<Wanted>,
    time: TimeFilter,
}

/// Blocks of the filters of one page.
#[derive(Default)]
pub(super) struct FilterBlocks {
    blocks: Vec<(BlockPlace, OwnedBytes)>,
}

/// The splits of a page that may have the required terms.
pub(super) struct Holders<'a> {
    needles: &'a Needles,
    /// The blocks that were read and are sound.
    blocks: BTreeMap<BlockPlace, FilterBlock>,
    page: &'a PageRef,
}

impl Needles {
    /// Returns `None` if the query requires no term.
    ///
    /// # Errors
    /// If the query is invalid for this index.
    pub(super) fn of_question(
        question: &Question,
        resolved: &Resolved,
        mapper: &DocMapper,
    ) -> Result<Option<Self>, SearchError> {
        // Built as each split builds it, so that the terms are those that the split will look up.
        let (fields, limits) = (&question.search_field, &question.limits);
        let built = build_query(&resolved.query, mapper, fields, false, limits)?;
        let required = required_terms(built.query.as_ref(), MAX_TERMS);
        if mapper.has_former_dynamic() && required.has_impossible_part() {
            // A value that the field cannot have may exist in splits from before the field was mapped.
            return Ok(None);
        }
        let wanted: Vec<Wanted> = required
            .terms()
            .into_iter()
            .map(|term| {
                let field = mapper.schema().get_field_name(term.field());
                Wanted {
                    term: term.clone(),
                    field: field.to_owned(),
                    needle: Needle::of(field, term.serialized_value_bytes()),
                }
            })
            .collect();
        if wanted.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            required,
            wanted,
            time: resolved.time,
        }))
    }

    /// Reads the filter blocks of a page that cover the terms.
    pub(super) async fn read_blocks(&self, page: &PageRef, exchange: &Exchange) -> FilterBlocks {
        let Some(filters) = page.filters.as_ref().filter(|_| self.is_worth_it(page)) else {
            return FilterBlocks::default();
        };
        let mut places = BTreeSet::new();
        for (group_ord, group) in (0..).zip(&filters.groups) {
            let covered = self
                .wanted
                .iter()
                .filter(|wanted| group.may_cover(&wanted.field));
            places.extend(covered.filter_map(|wanted| filters.block_of(group_ord, wanted.needle)));
        }
        let object = filters.object();
        let reads = places.into_iter().map(async |place| {
            let read = exchange.read(&object, place.start, Some(place.len), ByteClass::Head);
            read.await.ok().map(|bytes| (place, bytes))
        });
        let blocks = join_all(reads).await.into_iter().flatten().collect();
        FilterBlocks { blocks }
    }

    /// Returns whether the time filter leaves more than a few splits, if they are evenly distributed.
    fn is_worth_it(&self, page: &PageRef) -> bool {
        let (numerator, denominator) = covered_share(self.time, page.time_range);
        let left = u128::from(page.num_splits).saturating_mul(numerator);
        left > u128::from(FEW_SPLITS).saturating_mul(denominator)
    }

    /// Applies the filter blocks to the splits of their page.
    pub(super) fn holders<'a>(
        &'a self,
        page: &'a PageRef,
        splits: &[PagedSplit],
        read: FilterBlocks,
    ) -> Holders<'a> {
        let filters = page.filters.as_ref();
        let filters = filters.and_then(|filters| PageFilters::of(filters, splits));
        let mut blocks = BTreeMap::new();
        for (place, bytes) in read.blocks {
            let opened = filters.and_then(|filters| filters.open_block(&place, &bytes).ok());
            blocks.extend(opened.map(|block| (place, block)));
        }
        Holders {
            needles: self,
            blocks,
            page,
        }
    }
}

impl Holders<'_> {
    /// Returns whether a split of the page may have the required terms.
    pub(super) fn may_match(&self, split: &PagedSplit) -> bool {
        let required = &self.needles.required;
        required.may_be_had(&|term| self.may_have(split, term).unwrap_or(true))
    }

    /// Returns `None` if no filter covers the term.
    fn may_have(&self, split: &PagedSplit, term: &Term) -> Option<bool> {
        let place = split.filter.as_ref()?;
        let mut wanted = self.needles.wanted.iter();
        let wanted = wanted.find(|wanted| wanted.term == *term)?;
        if !place.scope.fields.contains(&wanted.field) {
            return None;
        }
        let filters = self.page.filters.as_ref()?;
        let block = filters.block_of(place.group_ord, wanted.needle)?;
        let block = self.blocks.get(&block)?;
        Some(block.may_hold(place.column, wanted.needle))
    }
}
