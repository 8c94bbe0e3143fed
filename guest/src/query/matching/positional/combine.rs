//! Combinations of lists of intervals.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// An interval of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Interval {
    pub(super) start: u32,
    /// Its last position.
    pub(super) end: u32,
    /// Number of its positions that belong to none of its parts; negative where parts overlap.
    pub(super) gaps: i64,
    /// Number of positions that count as its own where it is a part.
    pub(super) width: i64,
}

impl Interval {
    /// Creates the interval of one position.
    pub(super) fn at(position: u32) -> Self {
        Self::without_gaps(position, position)
    }

    pub(super) fn without_gaps(start: u32, end: u32) -> Self {
        Self {
            start,
            end,
            gaps: 0,
            width: len(start, end),
        }
    }

    /// Creates an interval around parts with this sum of widths.
    fn around(start: u32, end: u32, widths: i64) -> Self {
        Self {
            start,
            end,
            gaps: len(start, end) - widths,
            width: len(start, end),
        }
    }

    pub(super) fn contains(&self, other: &Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }
}

/// Returns the number of positions from `start` to `end`.
pub(super) fn len(start: u32, end: u32) -> i64 {
    i64::from(end) - i64::from(start) + 1
}

/// Returns the union of lists. With `is_minimal`, without intervals that contain another one.
pub(super) fn any_of(lists: Vec<Vec<Interval>>, is_minimal: bool) -> Vec<Interval> {
    let mut all: Vec<Interval> = lists.into_iter().flatten().collect();
    canter_sorting::sort_by(&mut all, |left, right| {
        let key = |interval: &Interval| (interval.start, interval.end, interval.gaps);
        key(left).cmp(&key(right))
    });
    all.dedup_by_key(|interval| (interval.start, interval.end));
    match is_minimal {
        true => minimal(all),
        false => all,
    }
}

/// Leaves out the intervals that contain another one of the list, which is sorted by start and end.
fn minimal(list: Vec<Interval>) -> Vec<Interval> {
    let mut kept: Vec<Interval> = Vec::with_capacity(list.len());
    for interval in list {
        if kept.last().is_some_and(|last| interval.contains(last)) {
            // It starts where the last one starts.
            continue;
        }
        while kept.last().is_some_and(|last| last.contains(&interval)) {
            kept.pop();
        }
        kept.push(interval);
    }
    kept
}

/// Returns the intervals that begin with one of the first list, each continued by the next list's first interval behind it.
/// With `is_minimal`, of those with one end only the last.
pub(super) fn ordered(lists: &[Vec<Interval>], is_minimal: bool) -> Vec<Interval> {
    let Some((first, others)) = lists.split_first() else {
        return Vec::new();
    };
    let mut cursors: Vec<&[Interval]> = others.iter().map(Vec::as_slice).collect();
    let mut found: Vec<Interval> = Vec::new();
    'starts: for begun in first {
        let (mut end, mut widths) = (begun.end, begun.width);
        for cursor in &mut cursors {
            while let [next, behind @ ..] = *cursor
                && next.start <= end
            {
                *cursor = behind;
            }
            let Some(next) = cursor.first() else {
                break 'starts;
            };
            (end, widths) = (next.end, widths + next.width);
        }
        while is_minimal && found.last().is_some_and(|last| last.end >= end) {
            found.pop();
        }
        found.push(Interval::around(begun.start, end, widths));
    }
    found
}

/// Returns the intervals made of one interval of each list, each beginning right behind the one before it.
pub(super) fn phrase(lists: &[Vec<Interval>]) -> Vec<Interval> {
    let Some((first, others)) = lists.split_first() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for begun in first {
        let end = others.iter().try_fold(begun.end, |end, list| {
            let next = end.checked_add(1)?;
            let at = list.binary_search_by_key(&next, |interval| interval.start);
            list.get(at.ok()?).map(|interval| interval.end)
        });
        found.extend(end.map(|end| Interval::without_gaps(begun.start, end)));
    }
    found
}

/// Returns the intervals that have one interval of each list, in any order; the parts may overlap. With `is_minimal`, only
/// those without a smaller one inside.
pub(super) fn unordered(lists: &[Vec<Interval>], is_minimal: bool) -> Vec<Interval> {
    let mut cursors: Vec<&[Interval]> = lists.iter().map(Vec::as_slice).collect();
    // The earliest start is on top, and of several the one with the greatest end.
    let mut starts = BinaryHeap::with_capacity(cursors.len());
    let (mut end, mut widths) = (0, 0);
    for (ord, list) in cursors.iter().enumerate() {
        let Some(first) = list.first() else {
            return Vec::new();
        };
        starts.push((Reverse(first.start), first.end, ord));
        end = end.max(first.end);
        widths += first.width;
    }
    let mut found: Vec<Interval> = Vec::new();
    while let Some((Reverse(start), _, ord)) = starts.pop() {
        while is_minimal && found.last().is_some_and(|last| last.end >= end) {
            found.pop();
        }
        // Where two parts begin at one position, the first interval from there is the smallest.
        if !is_minimal || found.last().is_none_or(|last| last.start < start) {
            found.push(Interval::around(start, end, widths));
        }
        let Some([current, behind @ ..]) = cursors.get(ord).copied() else {
            break;
        };
        let Some(next) = behind.first() else {
            break;
        };
        if let Some(cursor) = cursors.get_mut(ord) {
            *cursor = behind;
        }
        widths += next.width - current.width;
        end = end.max(next.end);
        starts.push((Reverse(next.start), next.end, ord));
    }
    found
}

/// Returns the intervals from each interval to the one `num - 1` behind it.
pub(super) fn repeated(list: &[Interval], num: usize) -> Vec<Interval> {
    let windows = list.windows(num.max(1));
    let around = windows.filter_map(|window| {
        let (first, last) = (window.first()?, window.last()?);
        let widths = window.iter().map(|part| part.width).sum();
        let whole = Interval::around(first.start, last.end, widths);
        Some(Interval {
            width: widths,
            ..whole
        })
    });
    around.collect()
}
