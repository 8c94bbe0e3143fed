//! Days as logs write them.

use super::digits::{at, four, one_or_two, run, two};
use crate::time::days_in;

/// How a day is written. A byte is what stands between its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DateForm {
    /// `2024-05-01`, `2024/05/01`, `2024.05.01`.
    YearMonthDay(u8),
    /// `20240501`.
    Compact,
    /// `01-May-2024`, `01/May/2024`, `Wed, 1 May 2024`.
    DayNameYear,
    /// `May 01, 2024`, `May 1 2024`.
    NameDayYear,
    /// `17/06/09`: as Hadoop and Spark write it.
    ShortYearMonthDay(u8),
    /// `081109`.
    ShortCompact,
    /// `05/01/2024`: the first of May.
    MonthDayYear(u8),
    /// `01.05.2024`: the same day.
    DayMonthYear(u8),
    /// `05/01/24`.
    MonthDayShortYear(u8),
    /// `01.05.24`.
    DayMonthShortYear(u8),
    /// `May  1`, `Sun Dec 04`: the year stands behind the time of day, or nowhere.
    NameDay,
    /// `05-01`, `10.30`: a month and a day.
    MonthDay(u8),
}

impl DateForm {
    /// What is tried, in this order; where a text fits several, the earlier one is likelier.
    pub(crate) const ALL: [DateForm; 21] = [
        DateForm::YearMonthDay(b'-'),
        DateForm::YearMonthDay(b'/'),
        DateForm::YearMonthDay(b'.'),
        DateForm::Compact,
        DateForm::DayNameYear,
        DateForm::NameDayYear,
        DateForm::ShortYearMonthDay(b'/'),
        DateForm::ShortYearMonthDay(b'-'),
        DateForm::ShortCompact,
        DateForm::MonthDayYear(b'/'),
        DateForm::DayMonthYear(b'/'),
        DateForm::DayMonthYear(b'.'),
        DateForm::DayMonthYear(b'-'),
        DateForm::MonthDayYear(b'-'),
        DateForm::MonthDayShortYear(b'/'),
        DateForm::DayMonthShortYear(b'/'),
        DateForm::DayMonthShortYear(b'.'),
        DateForm::NameDay,
        DateForm::MonthDay(b'-'),
        DateForm::MonthDay(b'/'),
        DateForm::MonthDay(b'.'),
    ];

    /// Whether the time of day may be written without colons: only behind a day that is written so.
    pub(super) fn is_compact(self) -> bool {
        matches!(self, DateForm::Compact | DateForm::ShortCompact)
    }
}

/// A day; its year may be said elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Date {
    pub(crate) year: Option<u16>,
    pub(crate) month: u8,
    pub(crate) day: u8,
}

impl Date {
    pub(super) fn new(year: Option<u16>, month: u8, day: u8) -> Option<Date> {
        let is_year = year.is_none_or(|year| (1900..2200).contains(&year));
        let is_month = (1..=12).contains(&month);
        // Without a year it may be a leap year.
        (is_year && is_month && day >= 1 && day <= days_in(year.unwrap_or(2000), month))
            .then_some(Date { year, month, day })
    }
}

/// Reads a day at a place.
pub(super) fn read(form: DateForm, text: &[u8], place: usize) -> Option<(Date, usize)> {
    let full =
        |year: u16, month: u8, day: u8, end: usize| Some((Date::new(Some(year), month, day)?, end));
    match form {
        DateForm::YearMonthDay(sep) => {
            let year = four(text, place)?;
            let ((month, day), end) = numbers(text, place + 4, sep)?;
            full(year, month, day, end)
        }
        DateForm::Compact => {
            let year = four(text, place)?;
            let (month, day) = (two(text, place + 4)?, two(text, place + 6)?);
            full(year, month, day, place + 8)
        }
        DateForm::ShortCompact => {
            let year = short_year(two(text, place)?);
            let (month, day) = (two(text, place + 2)?, two(text, place + 4)?);
            full(year, month, day, place + 6)
        }
        DateForm::ShortYearMonthDay(sep) => {
            let year = short_year(two(text, place)?);
            let ((month, day), end) = numbers(text, place + 2, sep)?;
            full(year, month, day, end)
        }
        DateForm::MonthDayYear(sep) | DateForm::DayMonthYear(sep) => {
            let (first, second, place) = pair(text, place, sep)?;
            let (month, day) = in_order(form, first, second);
            let year = four(text, separated(text, place, sep)?)?;
            full(year, month, day, place + 5)
        }
        DateForm::MonthDayShortYear(sep) | DateForm::DayMonthShortYear(sep) => {
            let (first, second, place) = pair(text, place, sep)?;
            let (month, day) = in_order(form, first, second);
            let year = two(text, separated(text, place, sep)?)?;
            (run(text, place + 1) == 2).then_some(())?;
            full(short_year(year), month, day, place + 3)
        }
        DateForm::DayNameYear => {
            let (day, place) = one_or_two(text, after_weekday(text, place))?;
            let sep = at(text, place).filter(|byte| matches!(byte, b'-' | b'/' | b' '))?;
            let (month, place) = month_name(text, place + 1)?;
            let year = four(text, separated(text, place, sep)?)?;
            full(year, month, day, place + 5)
        }
        DateForm::NameDayYear => {
            let (month, place) = month_name(text, after_weekday(text, place))?;
            let (day, place) = one_or_two(text, separated(text, place, b' ')?)?;
            let place = place + usize::from(at(text, place) == Some(b','));
            let year = four(text, separated(text, place, b' ')?)?;
            // `May  1 20:00:00` has no year.
            (at(text, place + 5) != Some(b':') && run(text, place + 1) == 4).then_some(())?;
            full(year, month, day, place + 5)
        }
        DateForm::NameDay => {
            let (month, place) = month_name(text, after_weekday(text, place))?;
            let (day, end) = one_or_two(text, separated(text, place, b' ')?)?;
            Some((Date::new(None, month, day)?, end))
        }
        DateForm::MonthDay(sep) => {
            let month = two(text, place)?;
            let day = two(text, separated(text, place + 2, sep)?)?;
            Some((Date::new(None, month, day)?, place + 5))
        }
    }
}

fn in_order(form: DateForm, first: u8, second: u8) -> (u8, u8) {
    match form {
        DateForm::MonthDayYear(_) | DateForm::MonthDayShortYear(_) => (first, second),
        _ => (second, first),
    }
}

/// What stands behind a separator.
fn separated(text: &[u8], place: usize, sep: u8) -> Option<usize> {
    (at(text, place)? == sep).then_some(place + 1)
}

/// `12/31`.
fn pair(text: &[u8], place: usize, sep: u8) -> Option<(u8, u8, usize)> {
    at(text, place)?.is_ascii_digit().then_some(())?;
    let (first, place) = one_or_two(text, place)?;
    let place = separated(text, place, sep)?;
    at(text, place)?.is_ascii_digit().then_some(())?;
    let (second, place) = one_or_two(text, place)?;
    Some((first, second, place))
}

/// `-12-31`.
fn numbers(text: &[u8], place: usize, sep: u8) -> Option<((u8, u8), usize)> {
    let (first, second, end) = pair(text, separated(text, place, sep)?, sep)?;
    Some(((first, second), end))
}

/// As POSIX's `%y`.
fn short_year(year: u8) -> u16 {
    match year {
        0..=68 => 2000 + u16::from(year),
        _ => 1900 + u16::from(year),
    }
}

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// Passes `Sun `, `Wed, ` and `Sunday, `.
fn after_weekday(text: &[u8], place: usize) -> usize {
    let word = text.get(place..).unwrap_or_default();
    let len = word.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let is_weekday = word.get(..3).is_some_and(|short| {
        WEEKDAYS.iter().any(|day| day.as_bytes() == short)
            && (len == 3 || (word.get(..len).is_some_and(|word| word.ends_with(b"day"))))
    });
    if !is_weekday {
        return place;
    }
    let place = place + len;
    let place = place + usize::from(at(text, place) == Some(b','));
    match at(text, place) {
        Some(b' ') => place + 1,
        _ => place,
    }
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The number of a month by its English name, whole or its first three letters.
fn month_name(text: &[u8], place: usize) -> Option<(u8, usize)> {
    let word = text.get(place..)?;
    let len = word.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    let word = word.get(..len).filter(|_| (3..=9).contains(&len))?;
    let is_it = |month: &str| {
        let whole = month.as_bytes();
        whole.eq_ignore_ascii_case(word)
            || (len == 3 && whole.get(..3).is_some_and(|m| m.eq_ignore_ascii_case(word)))
    };
    let month = MONTHS.iter().position(|month| is_it(month))?;
    Some((u8::try_from(month + 1).ok()?, place + len))
}
