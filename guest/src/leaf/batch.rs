//! Early termination: which of the counted splits to search next.

use super::candidate::Candidate;
use crate::request::SortOrder;

/// Splits with their number of hits, best first.
pub(super) type Counted<'c> = Vec<(&'c Candidate, u64)>;

/// Cuts `waiting` into the splits to search next and the rest. While fewer than `window` hits are
/// `found`, as many splits as promise the missing ones; then those that may still have a hit before
/// `worst`, the time of the last hit found; none when the hits are sure.
pub(super) fn next_batch<'c>(
    waiting: Counted<'c>,
    window: usize,
    found: usize,
    worst: Option<i64>,
    direction: SortOrder,
) -> (Counted<'c>, Counted<'c>) {
    let mut missing = window.saturating_sub(found) as u64;
    waiting.into_iter().partition(|(candidate, count)| {
        if *count == 0 || window == 0 {
            false
        } else if missing > 0 {
            missing = missing.saturating_sub(*count);
            true
        } else {
            found >= window && candidate.may_beat(worst, direction)
        }
    })
}

/// Columns that are held at once, in bytes: what a search reads of them beyond this, it reads when it has let go of
/// the first. With what the guest needs besides, it stays within the 128 MB that edge platforms give.
const MAX_COLUMN_BYTES: u64 = 64 << 20;

/// Cuts splits into batches whose columns fit into memory together; a split whose own do not is one by itself.
pub(super) fn batches_by_size<'b, 'c>(
    candidates: &'b [&'c Candidate],
) -> impl Iterator<Item = &'b [&'c Candidate]> {
    let mut rest = candidates;
    std::iter::from_fn(move || {
        let mut num_bytes = 0u64;
        let fits = rest.iter().take_while(|candidate| {
            num_bytes = num_bytes.saturating_add(column_bytes(candidate));
            num_bytes <= MAX_COLUMN_BYTES
        });
        let num_splits = fits.count().max(1).min(rest.len());
        let (batch, others) = rest.split_at_checked(num_splits)?;
        rest = others;
        (!batch.is_empty()).then_some(batch)
    })
}

/// The bytes of the columns that the aggregations of a split read, as its head has their lengths.
fn column_bytes(candidate: &Candidate) -> u64 {
    if candidate.filters.is_none() {
        return 0;
    }
    let columns = candidate.split.segment().fast_fields();
    let of_field = |field: &String| {
        // Where the columns are listed in bytes that are not there yet, nobody waits for them: the warmup reads them.
        let handles = columns.dynamic_column_handles(field).unwrap_or_default();
        candidate.split.body.take_gaps();
        let num_bytes = handles.iter().map(|handle| handle.num_bytes().get_bytes());
        num_bytes.sum::<u64>()
    };
    candidate.built.needs.fast_fields.iter().map(of_field).sum()
}
