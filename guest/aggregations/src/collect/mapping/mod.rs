//! Which buckets a document is in: from values to codes, and from codes to keys.

mod by_query;
mod by_range;
mod by_value;

pub(super) use by_query::{ByFilter, ByMissing};
pub(super) use by_range::ByRange;
pub(super) use by_value::{ByValue, ToCode, check_places, is_histogram_value, place_of};

use super::block::{Block, Docs, Groups};
use super::field::RowRoom;
use crate::Result;
use crate::key::Key;

/// Documents with the codes of their buckets, as many as there are codes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mapped<'a> {
    pub(super) docs: Docs<'a>,
    pub(super) groups: Groups<'a>,
    pub(super) codes: &'a [u64],
}

/// Takes what was mapped of one column: its place, and the documents.
pub(super) type Each<'f> = &'f mut dyn FnMut(usize, Mapped<'_>) -> Result<()>;

/// Says which buckets documents are in. Codes are those of one of several columns.
pub(super) trait Mapping {
    /// For each column, the number below which all its codes are, if that is known.
    fn num_codes(&self) -> Vec<Option<u64>>;

    /// For each column of texts whose terms are its codes, how many it has; 0 for others.
    fn num_terms(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Passes on the documents of a block; a document that is in several buckets comes several times, but never
    /// twice with one code.
    fn map(&mut self, block: Block<'_>, each: Each<'_>) -> Result<()>;

    /// The keys of ascending codes of one column, one for each; nothing is the key of a missing value.
    fn keys(&self, column: usize, codes: &[u64]) -> Result<Vec<Option<Key>>>;
}

/// Room for what is made of a block.
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
