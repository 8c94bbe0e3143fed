//! Date math: `now-1d/d`, `2024-01-01||+1M/d`, or a date alone.

use super::civil::{Civil, SECOND_NS};
use super::format::DateFormat;
use super::interval::CalendarUnit;
use super::rounding::Rounding;
use super::zone::{Zone, clamped};

/// Settings for resolving expressions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DateMath<'a> {
    /// Format of dates in expressions.
    pub(crate) format: &'a DateFormat,
    /// Zone of dates without one, and of the calendar units that are added and rounded to.
    pub(crate) zone: &'a Zone,
    /// Time of `now`: nanoseconds since 1970.
    pub(crate) now_ns: i64,
}

/// Operation on a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Add(i64, CalendarUnit),
    Round(CalendarUnit),
}

/// Description of a valid expression for error messages.
const FORM: &str =
    "write now or a date and ||, and then +1d, -1d or /d, with one of y, M, w, d, h, m and s";

/// Maximum count of days, weeks, months or years: enough to leave the range of times.
const MOST: i64 = 1_000_000;

impl DateMath<'_> {
    /// Resolves an expression to nanoseconds since 1970. With `round_up`, `/d` gives the last
    /// nanosecond of the day instead of the first, as does a date without a time of day. Times
    /// beyond the range become its ends.
    ///
    /// # Errors
    /// The expression is invalid. The message describes a valid one.
    pub(crate) fn resolve(&self, text: &str, round_up: bool) -> Result<i64, String> {
        let (anchor_ns, steps) = if let Some(steps) = text.strip_prefix("now") {
            (self.now_ns, steps)
        } else if let Some((date, steps)) = text.split_once("||") {
            (self.format.read(date, self.zone, false)?, steps)
        } else {
            return self.format.read(text, self.zone, round_up);
        };
        let mut rest = steps;
        let mut time_ns = anchor_ns;
        while !rest.is_empty() {
            let (step, after) = read_step(rest).ok_or_else(|| {
                format!("{text:?} is no date arithmetic from {rest:?} on: {FORM}")
            })?;
            time_ns = self.apply(time_ns, step, round_up);
            rest = after;
        }
        Ok(time_ns)
    }

    fn apply(&self, time_ns: i64, step: Step, round_up: bool) -> i64 {
        match step {
            Step::Add(count, unit) => self.add(time_ns, count, unit),
            Step::Round(unit) => {
                let rounding = Rounding::calendar(unit, 0, self.zone.clone());
                match (round_up, rounding.next(time_ns)) {
                    (false, _) => rounding.start_of(time_ns),
                    // No bucket follows, so the last time of this one is the last time of all.
                    (true, i64::MAX) => i64::MAX,
                    (true, next) => next.saturating_sub(1),
                }
            }
        }
    }

    /// Adds a number of units. Days and larger units keep the local time of day; hours and smaller
    /// units are elapsed time.
    fn add(&self, time_ns: i64, count: i64, unit: CalendarUnit) -> i64 {
        let real =
            |unit_ns: i64| clamped(i128::from(time_ns) + i128::from(count) * i128::from(unit_ns));
        let some = count.clamp(-MOST, MOST);
        let local = self.zone.local(time_ns);
        let months = |months| Civil::from_days(local.day).plus_months(months).to_days();
        let day = match unit {
            CalendarUnit::Second => return real(SECOND_NS),
            CalendarUnit::Minute => return real(60 * SECOND_NS),
            CalendarUnit::Hour => return real(3_600 * SECOND_NS),
            CalendarUnit::Day => local.day + some,
            CalendarUnit::Week => local.day + 7 * some,
            CalendarUnit::Month => months(some),
            CalendarUnit::Quarter => months(3 * some),
            CalendarUnit::Year => months(12 * some),
        };
        self.zone.time_of(day, local.ns, Some(local.offset_s))
    }
}

/// Parses one step from the start of a text, and returns the rest.
fn read_step(text: &str) -> Option<(Step, &str)> {
    let mut chars = text.chars();
    let sign = chars.next()?;
    let rest = chars.as_str();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = rest.split_at_checked(digits)?;
    let count: i64 = if number.is_empty() {
        1
    } else {
        number.parse().ok()?
    };
    let mut chars = rest.chars();
    let unit = match chars.next()? {
        'y' => CalendarUnit::Year,
        'M' => CalendarUnit::Month,
        'w' => CalendarUnit::Week,
        'd' => CalendarUnit::Day,
        'h' | 'H' => CalendarUnit::Hour,
        'm' => CalendarUnit::Minute,
        's' => CalendarUnit::Second,
        _ => return None,
    };
    let step = match sign {
        '+' => Step::Add(count, unit),
        '-' => Step::Add(count.saturating_neg(), unit),
        '/' if count == 1 => Step::Round(unit),
        _ => return None,
    };
    Some((step, chars.as_str()))
}

#[cfg(test)]
mod tests;
