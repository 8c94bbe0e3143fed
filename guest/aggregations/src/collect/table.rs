//! Buckets of one aggregation in one split, with their document counts.

use super::budget::{Budget, Taken};
use super::grouping::{Grouping, NONE};
use super::mapping::Mapped;
use super::{Collect, Places};
use crate::Result;
use crate::key::Key;
use crate::partial::{Buckets, Dropped, Node};

/// Maximum number of buckets that one parent bucket keeps for a split. Counts are exact if every
/// split has fewer values.
const MAX_KEPT: usize = 65_000;

/// Memory of a bucket in bytes, including its share of the hash table.
const BUCKET_BYTES: usize = 56;

/// Buckets in order of appearance. Each code belongs to one of several columns.
#[derive(Debug)]
pub(super) struct Table {
    groupings: Vec<Grouping>,
    /// Parent bucket of each ordinal; the following lists are indexed alike.
    pub(super) parents: Vec<u32>,
    pub(super) columns: Vec<u8>,
    pub(super) codes: Vec<u64>,
    pub(super) counts: Vec<u64>,
    taken: Taken,
}

impl Table {
    /// Creates a table. `num_codes` is an exclusive upper bound of each column's codes, if known.
    pub(super) fn new(num_codes: impl Iterator<Item = Option<u64>>) -> Self {
        Self {
            groupings: num_codes.map(Grouping::new).collect(),
            parents: Vec::new(),
            columns: Vec::new(),
            codes: Vec::new(),
            counts: Vec::new(),
            taken: Taken::default(),
        }
    }

    /// Finds the ordinals of the buckets of documents, one for each.
    pub(super) fn ords(
        &mut self,
        column: usize,
        mapped: &Mapped<'_>,
        ords: &mut Vec<u32>,
        budget: &Budget,
    ) -> Result<()> {
        ords.clear();
        ords.reserve(mapped.codes.len());
        let mut last = (NONE, u64::MAX, NONE);
        for (place, code) in mapped.codes.iter().enumerate() {
            let parent = mapped.groups.at(place);
            if (last.0, last.1) != (parent, *code) || last.2 == NONE {
                last = (parent, *code, self.ord(column, parent, *code));
            }
            ords.push(last.2);
        }
        self.take(budget)
    }

    /// Reserves the memory by which the table has grown.
    pub(super) fn take(&mut self, budget: &Budget) -> Result<()> {
        let num_bytes = self.num_bytes();
        self.taken.grow_to(num_bytes, budget)
    }

    /// Returns the ordinal of one bucket.
    pub(super) fn ord(&mut self, column: usize, parent: u32, code: u64) -> u32 {
        let next = u32::try_from(self.counts.len()).unwrap_or(NONE);
        let Some(grouping) = self.groupings.get_mut(column) else {
            return NONE;
        };
        let ord = grouping.ord(parent, code, next);
        if ord == next {
            self.parents.push(parent);
            self.columns.push(u8::try_from(column).unwrap_or(u8::MAX));
            self.codes.push(code);
            self.counts.push(0);
        }
        ord
    }

    /// Adds one document to each of these buckets.
    pub(super) fn count(&mut self, ords: &[u32]) {
        for ord in ords {
            if let Some(count) = self.counts.get_mut(*ord as usize) {
                *count += 1;
            }
        }
    }

    /// Adds documents to one bucket.
    pub(super) fn count_many(&mut self, ord: u32, num_docs: u64) {
        if let Some(count) = self.counts.get_mut(ord as usize) {
            *count += num_docs;
        }
    }

    fn num_bytes(&self) -> usize {
        let tables: usize = self.groupings.iter().map(Grouping::num_bytes).sum();
        tables + self.counts.capacity() * BUCKET_BYTES
    }

    /// Returns the distinct codes of one column, ascending.
    pub(super) fn distinct_codes(&self, column: usize) -> Vec<u64> {
        let of_column = self.columns.iter().zip(&self.codes);
        let of_column = of_column.filter(|(of, _)| usize::from(**of) == column);
        let mut codes: Vec<u64> = of_column.map(|(_, code)| *code).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    }
}

/// Bucket before equal ones are merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Position of the parent bucket.
    pub(super) parent: u32,
    /// Position of its key.
    pub(super) key: u32,
    pub(super) ord: u32,
    pub(super) count: u64,
}

/// Sorts buckets, merges equal ones, and finishes their sub-aggregations. `num_ords` is the number
/// of ordinals that the sub-aggregations know.
///
/// `keys` are distinct and ascending. With `is_limited`, a parent bucket keeps at most
/// [`MAX_KEPT`] buckets, those with the most documents.
pub(super) fn to_node(
    mut found: Vec<Found>,
    keys: Vec<Key>,
    num_ords: usize,
    inside: Vec<Box<dyn Collect>>,
    places: Places<'_>,
    budget: &Budget,
    is_limited: bool,
) -> Result<Node> {
    budget.take(found.len() * size_of::<Found>())?;
    found.sort_unstable_by_key(|bucket| (bucket.parent, bucket.key, bucket.ord));
    let mut of = vec![NONE; num_ords];
    let mut offsets = Vec::with_capacity(places.len + 1);
    let mut ids = Vec::with_capacity(found.len());
    let mut counts = Vec::with_capacity(found.len());
    let mut dropped: Vec<Dropped> = Vec::new();
    offsets.push(0);
    let mut rows = found
        .chunk_by(|left, right| left.parent == right.parent)
        .peekable();
    for parent in 0..places.len {
        let parent = u32::try_from(parent).unwrap_or(NONE);
        let is_this = |row: &&[Found]| row.first().is_some_and(|first| first.parent == parent);
        if let Some(row) = rows.next_if(is_this) {
            let kept = if is_limited { Kept::of(row) } else { Kept::ALL };
            if kept.dropped != Dropped::default() {
                dropped.resize(parent as usize, Dropped::default());
                dropped.push(kept.dropped);
            }
            for equal in row.chunk_by(|left, right| left.key == right.key) {
                let count = equal.iter().map(|bucket| bucket.count).sum();
                if !kept.keeps(count, equal) {
                    continue;
                }
                let place = u32::try_from(ids.len()).unwrap_or(NONE);
                for bucket in equal {
                    if let Some(of) = of.get_mut(bucket.ord as usize) {
                        *of = place;
                    }
                }
                ids.extend(equal.first().map(|bucket| bucket.key));
                counts.push(count);
            }
        }
        offsets.push(u32::try_from(ids.len()).unwrap_or(NONE));
    }
    if !dropped.is_empty() {
        dropped.resize(places.len, Dropped::default());
    }
    drop(found);
    let inside_places = Places {
        of: &of,
        len: ids.len(),
    };
    let inside = inside.into_iter();
    let inside = inside.map(|inside| inside.finish(inside_places, budget));
    let inside = inside.collect::<Result<_>>()?;
    Ok(Node::Buckets(Buckets {
        keys,
        offsets,
        ids,
        counts,
        dropped,
        inside,
    }))
}

/// Selection of the buckets to keep in one parent bucket.
struct Kept {
    /// Buckets with more documents than this are kept.
    above: u64,
    /// Of the buckets with exactly as many, those up to this key are kept.
    up_to_key: u32,
    dropped: Dropped,
}

impl Kept {
    const ALL: Self = Self {
        above: 0,
        up_to_key: NONE,
        dropped: Dropped {
            max_doc_count: 0,
            doc_count: 0,
        },
    };

    /// Selects the buckets with the most documents and, among equal counts, those with the smallest
    /// keys.
    fn of(row: &[Found]) -> Self {
        let mut ranks: Vec<(u64, u32)> = row
            .chunk_by(|left, right| left.key == right.key)
            .map(|equal| {
                let count = equal.iter().map(|bucket| bucket.count).sum::<u64>();
                (count, equal.first().map_or(NONE, |bucket| bucket.key))
            })
            .collect();
        if ranks.len() <= MAX_KEPT {
            return Self::ALL;
        }
        ranks.sort_unstable_by_key(|(count, key)| (std::cmp::Reverse(*count), *key));
        let (above, up_to_key) = ranks.get(MAX_KEPT - 1).copied().unwrap_or_default();
        let left_out = ranks.get(MAX_KEPT..).unwrap_or_default();
        Self {
            above,
            up_to_key,
            dropped: Dropped {
                max_doc_count: left_out.first().map_or(0, |(count, _)| *count),
                doc_count: left_out.iter().map(|(count, _)| *count).sum(),
            },
        }
    }

    fn keeps(&self, count: u64, equal: &[Found]) -> bool {
        let key = equal.first().map_or(NONE, |bucket| bucket.key);
        count > self.above || count == self.above && key <= self.up_to_key || self.up_to_key == NONE
    }
}
