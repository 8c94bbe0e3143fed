//! Pruning: splits, and pages of them, that cannot hold a hit are left out by what the manifest says of them.

use canter_split_format::{Tags, TimeRange};

use crate::limits::TimeFilter;
use crate::query::RequiredTag;

/// Why a split cannot hold a hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PruneReason {
    /// It lies outside the time filter.
    Time,
    /// It lacks a tag value that the query requires.
    Tags,
    /// Its filter says that it lacks a term that the query requires.
    Filter,
}

/// What a hit must have.
#[derive(Clone, Debug)]
pub(super) struct Required {
    pub(super) time: TimeFilter,
    /// For tag fields: one of these values.
    pub(super) tags: Vec<RequiredTag>,
}

impl Required {
    /// Why nothing with this time range and these tags can be a hit, if nothing can.
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

    /// Whether the time filter lets everything within this range through.
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

/// How much of a time range a filter lets through, as a fraction: all of one that is not known.
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
