//! Buckets by query, and the bucket of documents without a value.

use super::super::block::{Block, Docs, Groups};
use super::super::build::BitSet;
use super::super::field::{Field, without_value};
use super::{Each, Mapped, Mapping, pass_on, place_keys};
use crate::Result;
use crate::key::Key;

/// Buckets of the documents that match queries.
pub(in crate::collect) struct ByFilter {
    pub(in crate::collect) filters: Vec<BitSet>,
    /// True if documents that match no query have a bucket.
    pub(in crate::collect) has_other: bool,
    /// Number of documents in each bucket around this that are passed on, the first of them.
    pub(in crate::collect) most: Option<u32>,
    /// Number of documents that were passed on so far, by bucket around this.
    pub(in crate::collect) taken: Vec<u32>,
}

impl ByFilter {
    /// Counts a document, and returns whether it is one of those that are passed on.
    fn takes(&mut self, group: u32) -> bool {
        let Some(most) = self.most else {
            return true;
        };
        let group = group as usize;
        if self.taken.len() <= group {
            self.taken.resize(group.saturating_add(1), 0);
        }
        let taken = self.taken.get_mut(group).filter(|taken| **taken < most);
        taken.is_some_and(|taken| {
            *taken += 1;
            true
        })
    }
}

impl Mapping for ByFilter {
    fn num_codes(&self) -> Vec<Option<u64>> {
        vec![Some(1); self.filters.len() + usize::from(self.has_other)]
    }

    fn map(&mut self, block: Block<'_>, each: Each<'_>) -> Result<()> {
        let (mut docs, mut groups, mut codes) = (Vec::new(), Vec::new(), Vec::new());
        for place in 0..self.filters.len() {
            docs.clear();
            groups.clear();
            for (doc, group) in block.pairs() {
                let filter = self.filters.get(place);
                if filter.is_some_and(|filter| filter.contains(doc)) && self.takes(group) {
                    docs.push(doc);
                    groups.push(group);
                }
            }
            pass_on(place, &docs, &groups, &mut codes, each)?;
        }
        if self.has_other {
            docs.clear();
            groups.clear();
            let is_other = |doc: u32| !self.filters.iter().any(|filter| filter.contains(doc));
            for (doc, group) in block.pairs().filter(|(doc, _)| is_other(*doc)) {
                docs.push(doc);
                groups.push(group);
            }
            pass_on(self.filters.len(), &docs, &groups, &mut codes, each)?;
        }
        Ok(())
    }

    fn keys(&self, column: usize, codes: &[u64]) -> Result<Vec<Option<Key>>> {
        Ok(place_keys(column, codes))
    }
}

/// Buckets of the documents that match a query, or two queries.
pub(in crate::collect) struct ByPairs {
    pub(in crate::collect) filters: Vec<BitSet>,
    /// Filters of each bucket; `None` for one that is not shown.
    pub(in crate::collect) cells: Vec<Option<(usize, Option<usize>)>>,
}

impl Mapping for ByPairs {
    fn num_codes(&self) -> Vec<Option<u64>> {
        vec![Some(self.cells.len() as u64)]
    }

    fn map(&mut self, block: Block<'_>, each: Each<'_>) -> Result<()> {
        let is_in = |filter: usize, doc: u32| {
            let filter = self.filters.get(filter);
            filter.is_some_and(|filter| filter.contains(doc))
        };
        let (mut docs, mut groups, mut codes) = (Vec::new(), Vec::new(), Vec::new());
        for (doc, group) in block.pairs() {
            for (code, cell) in (0u64..).zip(&self.cells) {
                let Some((first, second)) = cell else {
                    continue;
                };
                if is_in(*first, doc) && second.is_none_or(|second| is_in(second, doc)) {
                    docs.push(doc);
                    groups.push(group);
                    codes.push(code);
                }
            }
        }
        if docs.is_empty() {
            return Ok(());
        }
        let mapped = Mapped {
            docs: Docs::List(&docs),
            groups: Groups::Each(&groups),
            codes: &codes,
        };
        each(0, mapped)
    }

    fn keys(&self, _: usize, codes: &[u64]) -> Result<Vec<Option<Key>>> {
        let key = |code: &u64| Some(Key::Place(u32::try_from(*code).unwrap_or(u32::MAX)));
        Ok(codes.iter().map(key).collect())
    }
}

/// Bucket of the documents without a value.
pub(in crate::collect) struct ByMissing {
    pub(in crate::collect) field: Field,
    /// False if no document counts as one without a value.
    pub(in crate::collect) is_any: bool,
}

impl Mapping for ByMissing {
    fn num_codes(&self) -> Vec<Option<u64>> {
        vec![Some(1)]
    }

    fn map(&mut self, block: Block<'_>, each: Each<'_>) -> Result<()> {
        if !self.is_any {
            return Ok(());
        }
        let (mut docs, mut groups) = (Vec::new(), Vec::new());
        without_value(&self.field.columns, block, &mut docs, &mut groups);
        pass_on(0, &docs, &groups, &mut Vec::new(), each)
    }

    fn keys(&self, column: usize, codes: &[u64]) -> Result<Vec<Option<Key>>> {
        Ok(place_keys(column, codes))
    }
}
