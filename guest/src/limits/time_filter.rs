//! Ranges of time.

use canter_split_format::TimeRange;
use serde::{Deserialize, Serialize};

/// Nanoseconds of a second.
pub(crate) const SECOND_NS: i64 = 1_000_000_000;

/// A range of time, each end optional: start included, end excluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TimeFilter {
    pub(crate) start_ns: Option<i64>,
    pub(crate) end_ns: Option<i64>,
}

impl TimeFilter {
    /// Returns the range from the first second until the last.
    pub(crate) fn of_seconds(start: Option<i64>, end: Option<i64>) -> Self {
        let ns = |seconds: i64| seconds.saturating_mul(SECOND_NS);
        Self {
            start_ns: start.map(ns),
            end_ns: end.map(ns),
        }
    }

    /// Returns the times that pass both filters.
    pub(crate) fn and(self, other: Self) -> Self {
        let latest = [self.start_ns, other.start_ns].into_iter().flatten().max();
        let earliest = [self.end_ns, other.end_ns].into_iter().flatten().min();
        Self {
            start_ns: latest,
            end_ns: earliest,
        }
    }

    /// Returns whether something within this range may pass. An unknown range may.
    pub(crate) fn may_match(&self, range: Option<TimeRange>) -> bool {
        range.is_none_or(|range| {
            self.start_ns.is_none_or(|start| range.end_ns >= start)
                && self.end_ns.is_none_or(|end| range.start_ns < end)
        })
    }

    /// Returns whether everything passes.
    pub(crate) fn is_open(&self) -> bool {
        *self == Self::default()
    }
}
