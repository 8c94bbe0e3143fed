//! Days as logs write them.

use super::digits::{at, four, number, one_or_two, run, two};
use crate::time::days_in;

/// How a day is written. A byte is what stands between its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DateForm {
    /// `2024-05-01`, `2024/05/01`, `2024.05.01`, `2024:05:01`, `2024\5\1`.
    YearMonthDay(u8),
    /// `20240501`.
    Compact,
    /// `2024年5月1日`.
    YearMonthDaySigns,
    /// `2024-W18-3`: the third day of a week, as ISO 8601 counts them.
    YearWeekDay,
    /// `2024-122`: a day of a year.
    YearDay,
    /// `01-May-2024`, `01/May/2024`, `01May2024`, `Wed, 1 May 2024`, `1. Mai 2024`.
    DayNameYear,
    /// `May 01, 2024`, `May 1 2024`, `may/01/2024`.
    NameDayYear,
    /// `2024 May  1`.
    YearNameDay,
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
    /// `May  1`, `Sun Dec 04`, `1 May`, `01-May`, `may/01`: the year stands behind the time of day, or nowhere.
    NameDay,
    /// `05-01`, `10.30`: a month and a day.
    MonthDay(u8),
}

impl DateForm {
    /// What is tried, in this order; where a text fits several, the earlier one is likelier.
    pub(crate) const ALL: [DateForm; 27] = [
        DateForm::YearMonthDay(b'-'),
        DateForm::YearMonthDay(b'/'),
        DateForm::YearMonthDay(b'.'),
        DateForm::YearMonthDay(b':'),
        DateForm::YearMonthDay(b'\\'),
        DateForm::YearMonthDaySigns,
        DateForm::YearWeekDay,
        DateForm::YearDay,
        DateForm::Compact,
        DateForm::DayNameYear,
        DateForm::NameDayYear,
        DateForm::YearNameDay,
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
        DateForm::YearMonthDaySigns | DateForm::YearWeekDay | DateForm::YearDay => {
            of_calendar(form, text, place)
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
        DateForm::DayNameYear
        | DateForm::NameDayYear
        | DateForm::YearNameDay
        | DateForm::NameDay => with_name(form, text, place),
        DateForm::MonthDay(sep) => {
            // `5/13`, as games write it; a point may be that of a fraction.
            if sep == b'/' {
                let (month, day, end) = pair(text, place, sep)?;
                return Some((Date::new(None, month, day)?, end));
            }
            let month = two(text, place)?;
            let day = two(text, separated(text, place + 2, sep)?)?;
            Some((Date::new(None, month, day)?, place + 5))
        }
    }
}

/// Reads a day of other calendars, and one whose parts have signs.
fn of_calendar(form: DateForm, text: &[u8], place: usize) -> Option<(Date, usize)> {
    let full =
        |year: u16, month: u8, day: u8, end: usize| Some((Date::new(Some(year), month, day)?, end));
    match form {
        DateForm::YearMonthDaySigns => {
            let year = four(text, place)?;
            let (month, place) = one_or_two(text, after(text, place + 4, "年")?)?;
            let (day, place) = one_or_two(text, after(text, place, "月")?)?;
            full(year, month, day, after(text, place, "日")?)
        }
        DateForm::YearWeekDay => {
            let year = four(text, place)?;
            let week = two(text, after(text, place + 4, "-W")?)?;
            let day = number(text, after(text, place + 8, "-")?, 1)?;
            let is_it = (1..=53).contains(&week) && (1..=7).contains(&day);
            let day = u16::from(week) * 7 + u16::try_from(day).ok()?;
            let (year, month, day) = of_week(year, day).filter(|_| is_it)?;
            full(year, month, day, place + 10)
        }
        DateForm::YearDay => {
            let year = four(text, place)?;
            let place = after(text, place + 4, "-")?;
            let day = number(text, place, 3).filter(|day| (1..=366).contains(day))?;
            (run(text, place) == 3).then_some(())?;
            let (month, day) = of_year(year, u16::try_from(day).ok()?)?;
            full(year, month, day, place + 3)
        }
        _ => None,
    }
}

/// Reads a day with the name of its month.
fn with_name(form: DateForm, text: &[u8], place: usize) -> Option<(Date, usize)> {
    let full =
        |year: u16, month: u8, day: u8, end: usize| Some((Date::new(Some(year), month, day)?, end));
    match form {
        DateForm::DayNameYear => {
            let (day, place) = one_or_two(text, after_weekday(text, place))?;
            // `1. Mai 2024`.
            let place = after(text, place, ".").unwrap_or(place);
            // `01May2024`.
            if let Some((month, place)) = month_name(text, place) {
                return full(four(text, place)?, month, day, place + 4);
            }
            let sep = at(text, place).filter(|byte| matches!(byte, b'-' | b'/' | b' '))?;
            let (month, place) = month_name(text, place + 1)?;
            let year = four(text, separated(text, place, sep)?)?;
            full(year, month, day, place + 5)
        }
        DateForm::NameDayYear => {
            let (month, place) = month_name(text, after_weekday(text, place))?;
            let sep = at(text, place).filter(|byte| matches!(byte, b' ' | b'/' | b'-'))?;
            let (day, place) = one_or_two(text, place + 1)?;
            let place = place + usize::from(sep == b' ' && at(text, place) == Some(b','));
            let year = four(text, separated(text, place, sep)?)?;
            // `May  1 20:00:00` has no year.
            (at(text, place + 5) != Some(b':') && run(text, place + 1) == 4).then_some(())?;
            full(year, month, day, place + 5)
        }
        DateForm::YearNameDay => {
            let year = four(text, place)?;
            let (month, place) = month_name(text, separated(text, place + 4, b' ')?)?;
            let (day, end) = one_or_two(text, separated(text, place, b' ')?)?;
            full(year, month, day, end)
        }
        DateForm::NameDay => {
            let start = after_weekday(text, place);
            // `1 May`.
            if let Some((day, place)) = one_or_two(text, start) {
                let sep = at(text, place).filter(|byte| matches!(byte, b' ' | b'-'))?;
                let (month, end) = month_name(text, separated(text, place, sep)?)?;
                return Some((Date::new(None, month, day)?, end));
            }
            let (month, place) = month_name(text, start)?;
            // `may/01`, as RouterOS writes a day of this year.
            let sep = at(text, place).filter(|byte| matches!(byte, b' ' | b'/'))?;
            let (day, end) = one_or_two(text, separated(text, place, sep)?)?;
            Some((Date::new(None, month, day)?, end))
        }
        _ => None,
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

/// What stands behind a text.
fn after(text: &[u8], place: usize, sign: &str) -> Option<usize> {
    let rest = text.get(place..)?;
    rest.starts_with(sign.as_bytes())
        .then(|| place + sign.len())
}

/// The month and day of a day of a year, counted from 1.
fn of_year(year: u16, day: u16) -> Option<(u8, u8)> {
    let mut left = day;
    for month in 1..=12 {
        let len = u16::from(days_in(year, month));
        if left <= len {
            return Some((month, u8::try_from(left).ok()?));
        }
        left -= len;
    }
    None
}

/// The day of a week's year, counted from the eighth before its first week, which is the one with January the fourth.
fn of_week(year: u16, day: u16) -> Option<(u16, u8, u8)> {
    let before = year.checked_sub(1)?;
    // Gauss' formula: 0 is a Sunday.
    let first = (1 + 5 * (before % 4) + 4 * (before % 100) + 6 * (before % 400)) % 7;
    let fourth = (first + 2) % 7 + 1;
    let len = |year: u16| 337 + u16::from(days_in(year, 2));
    let (year, day) = match day.checked_sub(fourth + 3).filter(|day| *day > 0) {
        Some(day) if day > len(year) => (year + 1, day - len(year)),
        Some(day) => (year, day),
        None => (before, day + len(before) - (fourth + 3)),
    };
    let (month, day) = of_year(year, day)?;
    Some((year, month, day))
}

/// Names of the months in English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish, and Polish and Russian as
/// they stand behind days. A name is also known by its first three letters, and by those that are added here.
const MONTHS: [&[&str]; 12] = [
    &[
        "january",
        "januar",
        "jänner",
        "janvier",
        "janv",
        "enero",
        "gennaio",
        "janeiro",
        "januari",
        "stycznia",
        "января",
    ],
    &[
        "february",
        "februar",
        "février",
        "févr",
        "fevereiro",
        "febrero",
        "febbraio",
        "februari",
        "lutego",
        "февраля",
    ],
    &[
        "march",
        "märz",
        "mrz",
        "mars",
        "marzo",
        "março",
        "maart",
        "mrt",
        "marca",
        "марта",
    ],
    &[
        "april",
        "avril",
        "avr",
        "abril",
        "aprile",
        "kwietnia",
        "апреля",
    ],
    &[
        "may", "mai", "mayo", "maggio", "maio", "mei", "maj", "maja", "мая",
    ],
    &[
        "june", "juni", "juin", "junio", "giugno", "junho", "czerwca", "июня",
    ],
    &[
        "july", "juli", "juillet", "juil", "julio", "luglio", "julho", "lipca", "июля",
    ],
    &[
        "august",
        "août",
        "agosto",
        "augustus",
        "augusti",
        "sierpnia",
        "августа",
    ],
    &[
        "september",
        "sept",
        "septembre",
        "septiembre",
        "settembre",
        "setembro",
        "września",
        "сентября",
    ],
    &[
        "october",
        "oktober",
        "octobre",
        "octubre",
        "ottobre",
        "outubro",
        "października",
        "октября",
    ],
    &[
        "november",
        "novembre",
        "noviembre",
        "novembro",
        "listopada",
        "ноября",
    ],
    &[
        "december",
        "dezember",
        "décembre",
        "diciembre",
        "dicembre",
        "dezembro",
        "grudnia",
        "декабря",
    ],
];

/// The number of a month by its name, whole or its first three letters, with a full stop behind or not.
fn month_name(text: &[u8], place: usize) -> Option<(u8, usize)> {
    let word = text.get(place..)?;
    let is_letter = |byte: &&u8| byte.is_ascii_alphabetic() || **byte >= 0x80;
    let len = word.iter().take_while(is_letter).count();
    let word = word.get(..len).filter(|_| (3..=16).contains(&len))?;
    let is_it = |name: &&str| {
        let short = name
            .char_indices()
            .nth(3)
            .map_or(name.len(), |(end, _)| end);
        let short = name.as_bytes().get(..short);
        name.as_bytes().eq_ignore_ascii_case(word)
            || short.is_some_and(|short| short.eq_ignore_ascii_case(word))
    };
    // English names first: the beginnings of others may be those of another month.
    let month = MONTHS
        .iter()
        .position(|names| names.first().is_some_and(&is_it));
    let month = month.or_else(|| MONTHS.iter().position(|names| names.iter().any(&is_it)))?;
    let end = place + len;
    // `avr.`
    let end = after(text, end, ". ").map_or(end, |_| end + 1);
    Some((u8::try_from(month + 1).ok()?, end))
}
