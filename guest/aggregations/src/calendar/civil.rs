//! The proleptic Gregorian calendar in whole days since 1970-01-01, without time zones.

/// Length of a day without a clock change, in nanoseconds.
pub(super) const DAY_NS: i64 = 86_400_000_000_000;
/// Nanoseconds in a second.
pub(super) const SECOND_NS: i64 = 1_000_000_000;

/// Days in 400 years, after which the calendar repeats.
const CYCLE_DAYS: i64 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH_FROM_MARCH_0: i64 = 719_468;

/// Date. Months range from 1 to 12, and days start at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Civil {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
}

impl Civil {
    /// Returns the date `days` after 1970-01-01.
    ///
    /// The computation counts years from March: the leap day is then the last day of a year, and
    /// the lengths of the months before it follow the line (153 m + 2) / 5.
    pub(super) fn from_days(days: i64) -> Civil {
        let since = days.saturating_add(EPOCH_FROM_MARCH_0);
        let in_cycle = since.rem_euclid(CYCLE_DAYS);
        let year_in_cycle =
            (in_cycle - in_cycle / 1_460 + in_cycle / 36_524 - in_cycle / 146_096) / 365;
        let in_year = in_cycle - (365 * year_in_cycle + year_in_cycle / 4 - year_in_cycle / 100);
        let march_month = (5 * in_year + 2) / 153;
        let month = if march_month < 10 {
            march_month + 3
        } else {
            march_month - 9
        };
        Civil {
            year: since.div_euclid(CYCLE_DAYS) * 400 + year_in_cycle + i64::from(month <= 2),
            month,
            day: in_year - (153 * march_month + 2) / 5 + 1,
        }
    }

    /// Returns the days since 1970-01-01. The date must exist; years are limited to ±100 000.
    pub(super) fn to_days(self) -> i64 {
        let march_year = self.year.clamp(-100_000, 100_000) - i64::from(self.month <= 2);
        let march_month = (self.month + 9) % 12;
        let in_year = (153 * march_month + 2) / 5 + self.day - 1;
        let leap_days =
            march_year.div_euclid(4) - march_year.div_euclid(100) + march_year.div_euclid(400);
        365 * march_year + leap_days + in_year - EPOCH_FROM_MARCH_0
    }

    /// Returns the date if it exists.
    pub(super) fn checked(year: i64, month: i64, day: i64) -> Option<Civil> {
        let exists = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
        exists.then_some(Civil { year, month, day })
    }

    /// Returns the same day of the month `months` later, or the last day of that month.
    pub(super) fn plus_months(self, months: i64) -> Civil {
        let total = self
            .year
            .saturating_mul(12)
            .saturating_add(self.month - 1)
            .saturating_add(months);
        let (year, month) = (total.div_euclid(12), total.rem_euclid(12) + 1);
        Civil {
            year,
            month,
            day: self.day.min(days_in_month(year, month)),
        }
    }
}

/// Returns the number of days in a month from 1 to 12.
pub(super) fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Returns the first day of a year, in days since 1970-01-01.
pub(super) fn year_start(year: i64) -> i64 {
    Civil {
        year,
        month: 1,
        day: 1,
    }
    .to_days()
}

/// Returns the day of the week, from 1 (Monday) to 7 (Sunday).
pub(super) fn weekday(days: i64) -> i64 {
    // 1970-01-01 was a Thursday.
    days.saturating_add(3).rem_euclid(7) + 1
}

/// Returns the ISO 8601 week of a day: its year, and its number from 1. A week belongs to the year
/// of its Thursday.
pub(super) fn iso_week(days: i64) -> (i64, i64) {
    let thursday = days.saturating_add(4 - weekday(days));
    let year = Civil::from_days(thursday).year;
    (year, (thursday - year_start(year)) / 7 + 1)
}

/// Returns the Monday of an ISO 8601 week, or `None` if the year has no such week.
pub(super) fn iso_week_start(year: i64, week: i64) -> Option<i64> {
    let fourth = Civil {
        year,
        month: 1,
        day: 4,
    }
    .to_days();
    let monday = fourth - (weekday(fourth) - 1) + (week.clamp(0, 99) - 1) * 7;
    (iso_week(monday) == (year, week)).then_some(monday)
}

#[cfg(test)]
mod tests;
