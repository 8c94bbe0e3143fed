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
