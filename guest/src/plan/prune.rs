//! Pruning: skips splits, and pages of splits, that cannot hold a hit according to the manifest.

use canter_split_format::{Tags, TimeRange};

use crate::limits::TimeFilter;
use crate::query::RequiredTag;

/// The reason why a split cannot hold a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PruneReason {
    /// The split lies outside the time filter.
    Time,
    /// The split lacks a tag value that the query requires.
    Tags,
    /// The split's filter shows that it lacks a term that the query requires.
    Filter,
}

/// Requirements of a hit.
#[derive(Clone, Debug)]
pub(super) struct Required {
    pub(super) time: TimeFilter,
    /// For each tag field of the query: the values of which a hit has one.
    pub(super) tags: Vec<RequiredTag>,
}

impl Required {
    /// Returns the reason why nothing with this time range and these tags can be a hit, if there is one.
    pub(super) fn prunes(&self, time_range: Option<TimeRange>, tags: &Tags) -> Option<PruneReason> {
        if !self.time.may_match(time_range) {
            return Some(PruneReason::Time);
        }
        let may_match = self.tags.iter().all(|(field, values)| {
            let present = tags.get(field);
            present.is_none_or(|present| values.iter().any(|value| present.contains(value)))
        });
        (!may_match).then_some(PruneReason::Tags)
    }

    /// Returns whether the time filter passes everything within this range.
    pub(super) fn covers(&self, time_range: Option<TimeRange>) -> bool {
        let TimeFilter { start_ns, end_ns } = self.time;
        match time_range {
            None => self.time.is_open(),
            Some(range) => {
                start_ns.is_none_or(|start| start <= range.start_ns)
                    && end_ns.is_none_or(|end| range.end_ns < end)
            }
        }
    }
}

/// Returns the fraction of a time range that a filter passes, as numerator and denominator: 1 for an unknown range.
pub(super) fn covered_share(filter: TimeFilter, time_range: Option<TimeRange>) -> (u128, u128) {
    let Some(range) = time_range else {
        return (1, 1);
    };
    let len = |start: i64, end: i64| u128::from(end.abs_diff(start)).saturating_add(1);
    let start = filter
        .start_ns
        .map_or(range.start_ns, |start| start.max(range.start_ns));
    let end = filter
        .end_ns
        .map_or(range.end_ns, |end| end.saturating_sub(1).min(range.end_ns));
    match start <= end {
        true => (len(start, end), len(range.start_ns, range.end_ns)),
        false => (0, 1),
    }
}
