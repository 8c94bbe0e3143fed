//! Mapping of documents to buckets: from values to codes, and from codes to keys.

mod by_distance;
mod by_objects;
mod by_prefix;
mod by_query;
mod by_range;
mod by_value;

pub(super) use by_distance::ByDistance;
pub(super) use by_objects::{ByObjects, ToParents};
pub(super) use by_prefix::ByPrefix;
pub(super) use by_query::{ByFilter, ByMissing, ByPairs};
pub(super) use by_range::ByRange;
pub(super) use by_value::{ByValue, ToCode, check_places, is_histogram_value, place_of};

use super::block::{Block, Docs, Groups};
use super::field::RowRoom;
use crate::Result;
use crate::key::Key;

/// Documents, each with the code of its bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mapped<'a> {
    pub(super) docs: Docs<'a>,
    pub(super) groups: Groups<'a>,
    pub(super) codes: &'a [u64],
}

/// Callback for the documents of one column, given by its index.
pub(super) type Each<'f> = &'f mut dyn FnMut(usize, Mapped<'_>) -> Result<()>;

/// Mapping of documents to buckets. Each code belongs to one of several columns.
pub(super) trait Mapping {
    /// Returns for each column an exclusive upper bound of its codes, if it is known.
    fn num_codes(&self) -> Vec<Option<u64>>;

    /// Returns the number of terms of each text column whose codes are terms, and 0 for others.
    fn num_terms(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Passes on the documents of a block. A document in several buckets is repeated, but never
    /// with the same code.
    fn map(&mut self, block: Block<'_>, each: Each<'_>) -> Result<()>;

    /// Returns the key of each of the ascending codes of a column; `None` is the key of missing
    /// values.
    fn keys(&self, column: usize, codes: &[u64]) -> Result<Vec<Option<Key>>>;
}

/// Scratch space for the results of a block.
#[derive(Default)]
struct Room {
    rows: RowRoom,
    docs: Vec<u32>,
    groups: Vec<u32>,
    codes: Vec<u64>,
}

/// Passes on documents that are all in the bucket of one column.
fn pass_on(
    place: usize,
    docs: &[u32],
    groups: &[u32],
    codes: &mut Vec<u64>,
    each: Each<'_>,
) -> Result<()> {
    if docs.is_empty() {
        return Ok(());
    }
    codes.clear();
    codes.resize(docs.len(), 0);
    let mapped = Mapped {
        docs: Docs::List(docs),
        groups: Groups::Each(groups),
        codes,
    };
    each(place, mapped)
}

fn place_keys(column: usize, codes: &[u64]) -> Vec<Option<Key>> {
    let key = Key::Place(u32::try_from(column).unwrap_or(u32::MAX));
    vec![Some(key); codes.len()]
}
