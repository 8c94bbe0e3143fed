//! Intervals of one list that have a relation with one of another.

use super::combine::Interval;
use crate::query::tree::Relation;

/// Returns the intervals that have a relation with one of `others`, or for the negative relations with none. Both lists
/// ascend by start.
pub(super) fn related(
    list: Vec<Interval>,
    relation: Relation,
    others: &[Interval],
) -> Vec<Interval> {
    let others = Others::new(others);
    let mut list = list;
    list.retain(|interval| match relation {
        Relation::Containing => others.has_inside(interval),
        Relation::NotContaining => !others.has_inside(interval),
        Relation::ContainedBy => others.has_around(interval),
        Relation::NotContainedBy => !others.has_around(interval),
        Relation::Overlapping => others.has_overlapping(interval),
        Relation::NotOverlapping => !others.has_overlapping(interval),
        Relation::Before => others.last_start.is_some_and(|start| interval.end < start),
        Relation::After => others.first_end.is_some_and(|end| end < interval.start),
    });
    list
}

/// A list that ascends by start, with the extremes of its beginnings and rests.
struct Others<'l> {
    list: &'l [Interval],
    /// The greatest end of the intervals up to each one.
    max_ends: Vec<u32>,
    /// The least end of the intervals from each one on.
    min_ends: Vec<u32>,
    last_start: Option<u32>,
    first_end: Option<u32>,
}

impl<'l> Others<'l> {
    fn new(list: &'l [Interval]) -> Self {
        let mut max_end = 0;
        let max_ends = list.iter().map(|other| {
            max_end = max_end.max(other.end);
            max_end
        });
        let max_ends = max_ends.collect();
        let mut min_end = u32::MAX;
        let min_ends = list.iter().rev().map(|other| {
            min_end = min_end.min(other.end);
            min_end
        });
        let mut min_ends: Vec<u32> = min_ends.collect();
        min_ends.reverse();
        Self {
            list,
            first_end: min_ends.first().copied(),
            max_ends,
            min_ends,
            last_start: list.last().map(|other| other.start),
        }
    }

    /// Returns whether one lies inside of an interval.
    fn has_inside(&self, interval: &Interval) -> bool {
        let from = self.num_with(|other| other.start < interval.start);
        let min_end = self.min_ends.get(from);
        min_end.is_some_and(|end| *end <= interval.end)
    }

    /// Returns whether an interval lies inside of one.
    fn has_around(&self, interval: &Interval) -> bool {
        let until = self.num_with(|other| other.start <= interval.start);
        self.reaches(until, interval.end)
    }

    /// Returns whether one has a position of an interval.
    fn has_overlapping(&self, interval: &Interval) -> bool {
        let until = self.num_with(|other| other.start <= interval.end);
        self.reaches(until, interval.start)
    }

    /// Returns the number of intervals before the first for which `is_before` is false.
    fn num_with(&self, is_before: impl Fn(&Interval) -> bool) -> usize {
        self.list.partition_point(is_before)
    }

    /// Returns whether one of the first `until` intervals ends at a position or behind it.
    fn reaches(&self, until: usize, position: u32) -> bool {
        let last = until.checked_sub(1).and_then(|at| self.max_ends.get(at));
        last.is_some_and(|end| *end >= position)
    }
}
