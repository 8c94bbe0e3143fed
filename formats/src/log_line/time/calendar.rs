//! Days: which there are, and how far apart. No clock.

use crate::time::days_in;

/// A day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MonthDay {
    /// The year.
    pub year: u16,
    /// From 1.
    pub month: u8,
    /// From 1.
    pub day: u8,
}

/// Days since 1970-01-01, in the Gregorian calendar.
pub(crate) fn days_since_1970(date: MonthDay) -> i64 {
    let (month, day) = (i64::from(date.month), i64::from(date.day));
    // Counted from March, so that the leap day is the last of its year.
    let year = i64::from(date.year) - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// The day that is so many days after 1970-01-01.
pub(crate) fn day_of(days: i64) -> Option<MonthDay> {
    let days = days.checked_add(719_468)?;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = match from_march < 10 {
        true => from_march + 3,
        false => from_march - 9,
    };
    Some(MonthDay {
        year: u16::try_from(year_of_era + era * 400 + i64::from(month <= 2)).ok()?,
        month: u8::try_from(month).ok()?,
        day: u8::try_from(day).ok()?,
    })
}

/// The latest year in which a day is not more than a day after `end`: clocks and time zones differ by so much.
/// The 29th of February is in leap years only.
pub(crate) fn latest_year(month: u8, day: u8, end: MonthDay) -> Option<u16> {
    let last = days_since_1970(end).checked_add(1)?;
    let mut years = (0..=9).filter_map(|back| end.year.checked_add(1)?.checked_sub(back));
    years.find(|year| {
        let date = MonthDay {
            year: *year,
            month,
            day,
        };
        day <= days_in(*year, month) && days_since_1970(date) <= last
    })
}
