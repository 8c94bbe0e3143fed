//! Iteration over buckets: all starts in a range, and starts for mostly ordered times.

use super::Rounding;

/// Finds the starts for times, most of which are in the previous bucket or the next one: such a
/// time costs two comparisons or one step. Any order is allowed.
#[derive(Clone, Debug)]
pub(crate) struct RoundingCursor<'a> {
    rounding: &'a Rounding,
    start_ns: i64,
    /// Start of the next bucket.
    end_ns: i64,
}

impl<'a> RoundingCursor<'a> {
    pub(super) fn new(rounding: &'a Rounding) -> RoundingCursor<'a> {
        // An empty bucket, which contains no time.
        RoundingCursor {
            rounding,
            start_ns: 0,
            end_ns: 0,
        }
    }

    /// Returns the same as [`Rounding::start_of`].
    #[inline]
    pub(crate) fn start_of(&mut self, time_ns: i64) -> i64 {
        if time_ns < self.start_ns || time_ns >= self.end_ns {
            self.start_ns = self.rounding.start_of(time_ns);
            self.end_ns = self.rounding.next(time_ns);
        }
        self.start_ns
    }
}

/// Iterator over the starts of buckets in a range; see [`Rounding::boundaries`].
#[derive(Clone, Debug)]
pub(crate) struct Boundaries<'a> {
    rounding: &'a Rounding,
    /// Next start; `None` after the last.
    next_ns: Option<i64>,
    last_ns: i64,
}

impl<'a> Boundaries<'a> {
    pub(super) fn new(rounding: &'a Rounding, first_ns: i64, last_ns: i64) -> Boundaries<'a> {
        let next_ns = (first_ns <= last_ns).then(|| rounding.start_of(first_ns));
        Boundaries {
            rounding,
            next_ns,
            last_ns,
        }
    }
}

impl Iterator for Boundaries<'_> {
    type Item = i64;

    fn next(&mut self) -> Option<i64> {
        let start = self.next_ns?;
        let next = self.rounding.next(start);
        // For `next`, the last representable time means "none", even if it is a start.
        self.next_ns = (next > start && next <= self.last_ns && next < i64::MAX).then_some(next);
        Some(start)
    }
}
