//! Rounding of times to the buckets of a date histogram.
//!
//! The starts of buckets partition all times: every time is in the bucket with the last start that
//! is not after it. The starts follow Elasticsearch:
//!
//! - A fixed interval rounds local times. A start skipped by a clock change moves to the end of the
//!   gap. A start that occurs twice starts two buckets.
//! - Seconds, minutes and hours do likewise, but a skipped start is dropped: the bucket before
//!   continues. Two hours with the same name are two buckets.
//! - Days and longer units begin at the first time at which the clocks show their first day.
//! - An offset moves all starts: the start for `t` is that for `t - offset`, plus the offset.
//!
//! One case differs. If clocks go back over midnight, as in St. John's until 2011 from 00:01 to
//! 23:01, the repeated time of the old day counts to the new day, which has already begun:
//! otherwise the buckets would not partition all times. Since 1990 this has happened in three zones
//! of eastern Canada and once in Antarctica/Casey.

use super::civil::{Civil, DAY_NS, SECOND_NS, weekday};
use super::interval::CalendarUnit;
use super::zone::Zone;

mod cursor;
mod span;

pub(crate) use cursor::{Boundaries, RoundingCursor};
use span::Length;
pub(crate) use span::Span;

/// Mapping from times to buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rounding {
    grid: Grid,
    zone: Zone,
    /// Offset of all starts; zero if the grid includes it in its shift.
    offset_ns: i64,
}

/// Positions of the starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grid {
    /// Every `step_ns`, where `time + shift_ns` is a multiple of `step_ns`.
    Line { step_ns: i64, shift_ns: i64 },
    /// Every `step_ns` of local time.
    Clock { step_ns: i64, gaps: Gaps },
    /// At the first day of a unit of at least one day.
    Days(CalendarUnit),
}

/// Treatment of a start skipped by a clock change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gaps {
    /// It moves to the end of the gap.
    Start,
    /// It is dropped.
    Nothing,
}

impl Rounding {
    /// Creates buckets of `interval_ns` nanoseconds of local time in a zone, counted from
    /// 1970-01-01 there, and moved by an offset. An interval below 1 counts as 1.
    pub(crate) fn fixed(interval_ns: i64, offset_ns: i64, zone: Zone) -> Rounding {
        Rounding::on_clock(interval_ns.max(1), 0, Gaps::Start, offset_ns, zone)
    }

    /// Creates buckets of a calendar unit in a zone, moved by an offset. Weeks begin on Monday.
    pub(crate) fn calendar(unit: CalendarUnit, offset_ns: i64, zone: Zone) -> Rounding {
        let fixed = zone.only_offset_ns().is_some();
        match unit {
            CalendarUnit::Second => {
                Rounding::on_clock(SECOND_NS, 0, Gaps::Nothing, offset_ns, zone)
            }
            CalendarUnit::Minute => {
                Rounding::on_clock(60 * SECOND_NS, 0, Gaps::Nothing, offset_ns, zone)
            }
            CalendarUnit::Hour => {
                Rounding::on_clock(3_600 * SECOND_NS, 0, Gaps::Nothing, offset_ns, zone)
            }
            CalendarUnit::Day if fixed => {
                Rounding::on_clock(DAY_NS, 0, Gaps::Start, offset_ns, zone)
            }
            // 1970-01-01 was three days after a Monday.
            CalendarUnit::Week if fixed => {
                Rounding::on_clock(7 * DAY_NS, 3 * DAY_NS, Gaps::Start, offset_ns, zone)
            }
            _ => Rounding {
                grid: Grid::Days(unit),
                zone,
                offset_ns,
            },
        }
    }

    fn on_clock(step_ns: i64, shift_ns: i64, gaps: Gaps, offset_ns: i64, zone: Zone) -> Rounding {
        let Some(zone_ns) = zone.only_offset_ns() else {
            return Rounding {
                grid: Grid::Clock { step_ns, gaps },
                zone,
                offset_ns,
            };
        };
        let shift = i128::from(shift_ns) + i128::from(zone_ns) - i128::from(offset_ns);
        let shift = i64::try_from(shift.rem_euclid(i128::from(step_ns)));
        // The remainder is smaller than the step, so it fits an i64.
        let grid = Grid::Line {
            step_ns,
            shift_ns: shift.unwrap_or(0),
        };
        Rounding {
            grid,
            zone,
            offset_ns: 0,
        }
    }

    /// Returns the length of the bucket that begins at a time.
    pub(crate) fn span(&self, start_ns: i64) -> Span {
        let length = match self.grid {
            Grid::Line { step_ns, .. } | Grid::Clock { step_ns, .. } => Length::Time(step_ns),
            Grid::Days(unit) => unit.length(),
        };
        match length {
            Length::Time(_) => Span::new(length, 0),
            Length::Months(_) => Span::new(length, self.next(start_ns).saturating_sub(start_ns)),
        }
    }

    /// Returns the start of the bucket of a time, or the first representable time if the bucket
    /// begins before it.
    pub(crate) fn start_of(&self, time_ns: i64) -> i64 {
        if let Grid::Line { step_ns, shift_ns } = self.grid {
            return time_ns.saturating_sub(since_start(time_ns, shift_ns, step_ns));
        }
        match time_ns.checked_sub(self.offset_ns) {
            Some(time_ns) => self.start_unmoved(time_ns).saturating_add(self.offset_ns),
            // Moved before the first representable time, it is in a bucket whose start is unknown.
            None if self.offset_ns > 0 => i64::MIN,
            None => self.start_unmoved(i64::MAX).saturating_add(self.offset_ns),
        }
    }

    /// Returns the first start after a time, which need not be a start itself; the last
    /// representable time if there is none.
    pub(crate) fn next(&self, time_ns: i64) -> i64 {
        if let Grid::Line { step_ns, shift_ns } = self.grid {
            return time_ns.saturating_add(step_ns - since_start(time_ns, shift_ns, step_ns));
        }
        match time_ns.checked_sub(self.offset_ns) {
            Some(time_ns) => match self.next_unmoved(time_ns) {
                i64::MAX => i64::MAX,
                next => next.saturating_add(self.offset_ns),
            },
            None if self.offset_ns > 0 => i64::MIN.saturating_add(self.offset_ns),
            None => i64::MAX,
        }
    }

    /// Iterates over the starts of all buckets from that of the first time to that of the last,
    /// ascending.
    pub(crate) fn boundaries(&self, first_ns: i64, last_ns: i64) -> Boundaries<'_> {
        Boundaries::new(self, first_ns, last_ns)
    }

    /// Returns a cursor that remembers its last bucket.
    pub(crate) fn cursor(&self) -> RoundingCursor<'_> {
        RoundingCursor::new(self)
    }

    fn start_unmoved(&self, time_ns: i64) -> i64 {
        match self.grid {
            Grid::Line { step_ns, .. } => self.clock_start(time_ns, step_ns, Gaps::Start),
            Grid::Clock { step_ns, gaps } => self.clock_start(time_ns, step_ns, gaps),
            Grid::Days(unit) => self.bucket_by_days(unit, time_ns).0,
        }
    }

    fn next_unmoved(&self, time_ns: i64) -> i64 {
        match self.grid {
            Grid::Line { step_ns, .. } => self.clock_next(time_ns, step_ns, Gaps::Start),
            Grid::Clock { step_ns, gaps } => self.clock_next(time_ns, step_ns, gaps),
            Grid::Days(unit) => self.bucket_by_days(unit, time_ns).1,
        }
    }

    /// Returns the last start that is not after the time, in its span or in earlier ones.
    fn clock_start(&self, time_ns: i64, step_ns: i64, gaps: Gaps) -> i64 {
        let (mut index, mut span) = self.zone.span_at(time_ns);
        let mut at = time_ns;
        loop {
            let start = at.checked_sub(since_start(at, span.offset_ns, step_ns));
            if let Some(start) = start.filter(|start| *start >= span.from_ns) {
                return start;
            }
            let before = index
                .checked_sub(1)
                .and_then(|before| self.zone.span(before));
            let Some(before) = before else {
                return i64::MIN;
            };
            let gap_ns = span.offset_ns - before.offset_ns;
            if gaps == Gaps::Start && since_start(span.from_ns, span.offset_ns, step_ns) <= gap_ns {
                return span.from_ns;
            }
            at = span.from_ns.saturating_sub(1);
            index = index.saturating_sub(1);
            span = before;
        }
    }

    /// Returns the first start after the time, in its span or in later ones.
    fn clock_next(&self, time_ns: i64, step_ns: i64, gaps: Gaps) -> i64 {
        let (mut index, mut span) = self.zone.span_at(time_ns);
        let to_next = step_ns - since_start(time_ns, span.offset_ns, step_ns);
        let mut next = time_ns.checked_add(to_next);
        loop {
            if let Some(next) = next.filter(|next| *next < span.until_ns) {
                return next;
            }
            index = index.saturating_add(1);
            let Some(after) = self.zone.span(index) else {
                return i64::MAX;
            };
            let gap_ns = after.offset_ns - span.offset_ns;
            span = after;
            let since = since_start(span.from_ns, span.offset_ns, step_ns);
            if since == 0 || gaps == Gaps::Start && since <= gap_ns {
                return span.from_ns;
            }
            next = span.from_ns.checked_add(step_ns - since);
        }
    }

    /// Returns the start of a bucket of days, and that of the next one.
    fn bucket_by_days(&self, unit: CalendarUnit, time_ns: i64) -> (i64, i64) {
        let mut day = first_day_of(unit, self.zone.local(time_ns).day);
        let mut start = self.zone.first_of_day(day).unwrap_or(i64::MAX);
        loop {
            day = first_day_after(unit, day);
            match self.zone.first_of_day(day) {
                None => return (start, i64::MAX),
                Some(next) if next > time_ns => return (start, next),
                // A skipped day, or one that had begun before the clocks went back.
                Some(next) => start = next,
            }
        }
    }
}

/// Returns the nanoseconds since `time + shift` was last a multiple of the step; less than the
/// step.
fn since_start(time_ns: i64, shift_ns: i64, step_ns: i64) -> i64 {
    match time_ns.checked_add(shift_ns) {
        Some(local_ns) => local_ns.checked_rem_euclid(step_ns).unwrap_or(0),
        None => {
            let local_ns = i128::from(time_ns) + i128::from(shift_ns);
            i64::try_from(local_ns.rem_euclid(i128::from(step_ns.max(1)))).unwrap_or(0)
        }
    }
}

/// Returns the first day of the unit that contains a day.
fn first_day_of(unit: CalendarUnit, day: i64) -> i64 {
    let date = Civil::from_days(day);
    let month = match unit {
        CalendarUnit::Week => return day - (weekday(day) - 1),
        CalendarUnit::Month => date.month,
        CalendarUnit::Quarter => (date.month - 1) / 3 * 3 + 1,
        CalendarUnit::Year => 1,
        _ => return day,
    };
    Civil {
        month,
        day: 1,
        ..date
    }
    .to_days()
}

/// Returns the first day of the unit after the one that begins with a day.
fn first_day_after(unit: CalendarUnit, day: i64) -> i64 {
    let months = match unit {
        CalendarUnit::Week => return day.saturating_add(7),
        CalendarUnit::Month => 1,
        CalendarUnit::Quarter => 3,
        CalendarUnit::Year => 12,
        _ => return day.saturating_add(1),
    };
    Civil::from_days(day).plus_months(months).to_days()
}

#[cfg(test)]
mod tests;
