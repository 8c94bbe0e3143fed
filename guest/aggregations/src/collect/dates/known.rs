//! Date histograms from the time index alone: the document ranges of their buckets.
//!
//! The time index is in the head of a split. If it determines all ranges, the column of times is
//! never read: an hour, or a day of any zone, usually begins where a bucket of the index does.

use canter_split_format::TimeIndex;

use crate::calendar::Rounding;
use crate::request::DateHistogram;

/// Range of documents in one bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collect) struct Run {
    pub(in crate::collect) first: u32,
    pub(in crate::collect) end: u32,
    /// Start of the bucket.
    pub(in crate::collect) start_ns: i64,
    /// True if the range is within the bounds.
    pub(in crate::collect) is_in: bool,
}

/// Returns the runs of all documents, if the time index determines their ends.
pub(in crate::collect) fn known_runs(
    histogram: &DateHistogram,
    index: &TimeIndex,
) -> Option<Vec<Run>> {
    runs_of(&histogram.rounding, histogram.row.hard_bounds, index)
}

/// Returns whether the histogram needs no column of times.
pub(crate) fn is_known(histogram: &DateHistogram, index: &TimeIndex) -> bool {
    known_runs(histogram, index).is_some()
}

/// Returns the runs for `bounds`, the first and the last time that are counted.
fn runs_of(rounding: &Rounding, bounds: Option<(i64, i64)>, index: &TimeIndex) -> Option<Vec<Run>> {
    let num_docs = index.num_docs();
    let mut runs = Vec::new();
    let mut doc = 0;
    let mut time_ns = index.bucket_of(0).start;
    while doc < num_docs {
        // Documents before this one are before `time_ns`, and all others at or after it.
        let start_ns = rounding.start_of(time_ns);
        let mut next_ns = rounding.next(start_ns);
        let mut is_in = true;
        if let Some((first_ns, last_ns)) = bounds {
            is_in = (first_ns..=last_ns).contains(&time_ns);
            let cuts = [Some(first_ns), last_ns.checked_add(1)];
            let cuts = cuts.into_iter().flatten().filter(|cut| *cut > time_ns);
            next_ns = cuts.fold(next_ns, i64::min);
        }
        if next_ns <= time_ns {
            return None;
        }
        let found = index.first_doc_at_or_after(next_ns);
        if found.len() != 1 {
            return None;
        }
        if found.start > doc {
            runs.push(Run {
                first: doc,
                end: found.start,
                start_ns,
                is_in,
            });
        }
        (doc, time_ns) = (found.start, next_ns);
    }
    Some(runs)
}

#[cfg(test)]
mod tests {
    use super::{Run, runs_of};
    use crate::calendar::{CalendarUnit, Rounding, Zone};
    use canter_split_format::TimeIndex;
    use proptest::prelude::*;

    const HOUR_NS: i64 = 3_600_000_000_000;

    /// Finds the runs by scanning all documents.
    fn scan(rounding: &Rounding, bounds: Option<(i64, i64)>, times: &[i64]) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for (doc, time_ns) in (0u32..).zip(times) {
            let start_ns = rounding.start_of(*time_ns);
            let is_in = bounds.is_none_or(|(first, last)| (first..=last).contains(time_ns));
            match runs.last_mut() {
                Some(run) if (run.start_ns, run.is_in) == (start_ns, is_in) => run.end = doc + 1,
                _ => runs.push(Run {
                    first: doc,
                    end: doc + 1,
                    start_ns,
                    is_in,
                }),
            }
        }
        runs
    }

    #[test]
    fn hours_are_known_and_seven_minutes_are_not() {
        let times: Vec<i64> = (0..5_000).map(|at| at * HOUR_NS / 60).collect();
        let index = TimeIndex::of_sorted(&times).unwrap();
        let hours = Rounding::fixed(HOUR_NS, 0, Zone::utc());
        assert_eq!(
            runs_of(&hours, None, &index),
            Some(scan(&hours, None, &times))
        );
        let sevens = Rounding::fixed(7 * HOUR_NS / 60, 0, Zone::utc());
        assert_eq!(runs_of(&sevens, None, &index), None);
        // A bound inside a bucket of the index.
        assert_eq!(runs_of(&hours, Some((1, HOUR_NS)), &index), None);
    }

    #[test]
    fn the_ends_of_all_times_are_runs_too() {
        for times in [
            vec![i64::MIN, i64::MIN + 1],
            vec![i64::MAX],
            vec![i64::MIN, i64::MAX],
        ] {
            let index = TimeIndex::of_sorted(&times).unwrap();
            let years = Rounding::calendar(CalendarUnit::Year, 0, Zone::utc());
            for rounding in [years, Rounding::fixed(HOUR_NS, 0, Zone::utc())] {
                if let Some(runs) = runs_of(&rounding, None, &index) {
                    assert_eq!(runs, scan(&rounding, None, &times));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_known_is_what_a_scan_finds(
            mut times in prop::collection::vec(-400_000i64..400_000, 1..300),
            unit_ns in prop::sample::select(vec![1_000_000_i64, 1_000_000_000, 60_000_000_000]),
            interval in prop::sample::select(vec![1i64, 7, 10, 60, 600, 3_600, 86_400, 864_000]),
            offset in -3i64..3,
            zone in prop::sample::select(vec!["UTC", "Europe/Berlin", "Asia/Kathmandu", "-03:30"]),
            bounds in prop::option::of((-400i64..400, 1i64..400)),
            unit in prop::option::of(prop::sample::select(vec![
                CalendarUnit::Minute, CalendarUnit::Hour, CalendarUnit::Day, CalendarUnit::Week, CalendarUnit::Month,
            ])),
        ) {
            canter_sorting::sort(&mut times);
            times.iter_mut().for_each(|time| *time *= unit_ns);
            let zone = Zone::parse(zone).unwrap();
            let second_ns = 1_000_000_000;
            let rounding = match unit {
                Some(unit) => Rounding::calendar(unit, offset * HOUR_NS, zone),
                None => Rounding::fixed(interval * second_ns, offset * HOUR_NS, zone),
            };
            let bounds = bounds.map(|(first, len)| (first * HOUR_NS, (first + len) * HOUR_NS - 1));
            let index = TimeIndex::of_sorted(&times).unwrap();
            if let Some(runs) = runs_of(&rounding, bounds, &index) {
                prop_assert_eq!(joined(runs), scan(&rounding, bounds, &times));
            }
        }
    }

    /// Merges adjacent runs that differ only by a bound with no documents in between.
    fn joined(runs: Vec<Run>) -> Vec<Run> {
        let mut joined: Vec<Run> = Vec::new();
        for run in runs {
            match joined.last_mut() {
                Some(last) if (last.start_ns, last.is_in) == (run.start_ns, run.is_in) => {
                    last.end = run.end
                }
                _ => joined.push(run),
            }
        }
        joined
    }

    #[test]
    fn documents_on_both_sides_of_the_bounds_are_outside() {
        let times = [-5_341, -1].map(|minutes| minutes * HOUR_NS / 60);
        let index = TimeIndex::of_sorted(&times).unwrap();
        let months = Rounding::calendar(CalendarUnit::Month, 0, Zone::utc());
        let bounds = Some((-15 * HOUR_NS, -HOUR_NS));
        if let Some(runs) = runs_of(&months, bounds, &index) {
            assert!(runs.iter().all(|run| !run.is_in), "{runs:?}");
            assert_eq!(joined(runs), scan(&months, bounds, &times));
        }
    }
}
