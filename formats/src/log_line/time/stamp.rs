//! A time that was read, and how it is written anew: RFC 3339, with a year and a zone.

use super::calendar::MonthDay;
use super::calendar::latest_year;
use super::clock::Clock;
use super::date::Date;
use super::zone::{UTC, Zone};

/// What a time does not say itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reference<'h> {
    /// The year of times without one, if somebody says it.
    pub(crate) year: Option<u16>,
    /// The last day of the source: the year follows from it else.
    pub(crate) ended: Option<MonthDay>,
    /// Of times without a zone.
    pub(crate) zone: &'h Zone,
}

impl Default for Reference<'_> {
    fn default() -> Self {
        Reference {
            year: None,
            ended: None,
            zone: &UTC,
        }
    }
}

/// A time as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Nothing if only a time of day is written.
    pub(crate) date: Option<Date>,
    pub(crate) clock: Clock,
    pub(crate) zone: Option<i16>,
}

/// What is said by nobody: the year of times that have none. No one takes it for a real one.
const NO_YEAR: u16 = 1970;

impl Stamp {
    /// Appends `2024-05-01T10:00:00.123Z`, or nothing of a time without a day.
    pub(crate) fn write(&self, reference: &Reference<'_>, out: &mut Vec<u8>) -> Option<()> {
        let date = self.date?;
        let year = match (date.year, reference.year, reference.ended) {
            (Some(year), _, _) => year,
            (None, Some(year), _) => in_leap_year(date, year),
            (None, None, Some(end)) => latest_year(date.month, date.day, end)?,
            (None, None, None) => in_leap_year(date, NO_YEAR),
        };
        push(out, u32::from(year), 4);
        out.push(b'-');
        push(out, u32::from(date.month), 2);
        out.push(b'-');
        push(out, u32::from(date.day), 2);
        out.push(b'T');
        self.write_clock(out);
        let of_zone = || {
            let day = (date.month, date.day);
            reference.zone.minutes_at(year, day, &self.clock)
        };
        let minutes = self.zone.unwrap_or_else(of_zone);
        if minutes == 0 {
            out.push(b'Z');
            return Some(());
        }
        out.push(if minutes < 0 { b'-' } else { b'+' });
        let minutes = u32::from(minutes.unsigned_abs());
        push(out, minutes / 60, 2);
        out.push(b':');
        push(out, minutes % 60, 2);
        Some(())
    }

    /// Appends `10:00:00.123`.
    pub(crate) fn write_clock(&self, out: &mut Vec<u8>) {
        let clock = &self.clock;
        push(out, u32::from(clock.hour), 2);
        out.push(b':');
        push(out, u32::from(clock.minute), 2);
        out.push(b':');
        push(out, u32::from(clock.second), 2);
        if clock.num_digits > 0 {
            out.push(b'.');
            let cut = 10_u32.pow(u32::from(9 - clock.num_digits.min(9)));
            push(out, clock.nanos / cut, usize::from(clock.num_digits));
        }
    }
}

/// The 29th of February only is in leap years: the last one up to the year.
fn in_leap_year(date: Date, year: u16) -> u16 {
    let end = MonthDay {
        year,
        month: 12,
        day: 30,
    };
    match (date.month, date.day) {
        (2, 29) => latest_year(2, 29, end).unwrap_or(year),
        _ => year,
    }
}

/// Appends a number with zeros before it.
pub(crate) fn push(out: &mut Vec<u8>, number: u32, len: usize) {
    let start = out.len();
    out.resize(start + len, b'0');
    let mut rest = number;
    for place in out.iter_mut().skip(start).rev() {
        *place = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
    }
}
