//! Time ranges in paths: `year=2026/month=11/day=05/hour=07`, `date=2026-11-05`, or `2026/11/05/07` in the style of
//! AWS and Firehose.

use std::ops::Range;

const SECONDS_OF_DAY: i64 = 86_400;

/// Returns the time range of an object according to its path, in seconds since 1970, UTC: a year, month, day or hour.
pub(super) fn period_of(path: &str) -> Option<Range<i64>> {
    let segments: Vec<&str> = path.split('/').collect();
    // The last one is the name of the object.
    let folders = segments.split_last()?.1;
    by_keys(folders).or_else(|| by_places(folders))
}

/// Parts of a date, from the largest; each requires those before it.
#[derive(Clone, Copy, Default)]
struct Parts {
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    hour: Option<i64>,
}

fn by_keys(folders: &[&str]) -> Option<Range<i64>> {
    let mut parts = Parts::default();
    for folder in folders {
        let Some((key, value)) = folder.split_once('=') else {
            continue;
        };
        match key.to_ascii_lowercase().as_str() {
            "year" => parts.year = number(value, 4),
            "month" => parts.month = number(value, 2),
            "hour" | "hr" => parts.hour = number(value, 2),
            "day" if value.len() <= 2 => parts.day = number(value, 2),
            "date" | "dt" | "day" => {
                if let Some(date) = whole_date(value) {
                    parts = Parts {
                        hour: date.hour.or(parts.hour),
                        ..date
                    };
                }
            }
            _ => {}
        }
    }
    parts.period()
}

/// Parses `2026-11-05`, `20261105`, each optionally with an hour after `-` or `T`.
fn whole_date(value: &str) -> Option<Parts> {
    let is_dashed = value.as_bytes().get(4) == Some(&b'-');
    let (date, rest) = value.split_at_checked(if is_dashed { 10 } else { 8 })?;
    let (year, rest_of_date) = date.split_at_checked(4)?;
    let (month, day) = match is_dashed {
        true => rest_of_date.strip_prefix('-')?.split_once('-')?,
        false => rest_of_date.split_at_checked(2)?,
    };
    let hour = rest
        .strip_prefix(['-', 'T'])
        .and_then(|rest| rest.get(..2))
        .and_then(|hour| number(hour, 2));
    Some(Parts {
        year: number(year, 4),
        month: Some(number(month, 2)?),
        day: Some(number(day, 2)?),
        hour,
    })
}

/// Parses a year, a month and a day, optionally an hour, in consecutive folders.
fn by_places(folders: &[&str]) -> Option<Range<i64>> {
    let starts = 0..folders.len();
    starts.rev().find_map(|start| {
        let exactly = |at: usize, len: usize| {
            let folder = folders.get(start + at)?;
            (folder.len() == len).then(|| number(folder, len)).flatten()
        };
        let parts = Parts {
            year: exactly(0, 4),
            month: Some(exactly(1, 2)?),
            day: Some(exactly(2, 2)?),
            hour: exactly(3, 2).filter(|hour| *hour < 24),
        };
        parts.period()
    })
}

/// Parses a number of at most `max_len` digits.
fn number(text: &str, max_len: usize) -> Option<i64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && text.len() <= max_len).then(|| text.parse().ok())?
}

impl Parts {
    /// Returns `None` for an implausible date: a tenant may have the number 1234.
    fn period(self) -> Option<Range<i64>> {
        let year = self.year.filter(|year| (1970..2262).contains(year))?;
        let Some(month) = self.month else {
            return Some(seconds_of(year, 1, 1)..seconds_of(year + 1, 1, 1));
        };
        if !(1..=12).contains(&month) {
            return None;
        }
        let next_month = match month {
            12 => seconds_of(year + 1, 1, 1),
            month => seconds_of(year, month + 1, 1),
        };
        let Some(day) = self.day else {
            return Some(seconds_of(year, month, 1)..next_month);
        };
        let start = seconds_of(year, month, day);
        if day < 1 || start >= next_month {
            return None;
        }
        match self.hour {
            None => Some(start..start + SECONDS_OF_DAY),
            Some(hour) if hour < 24 => Some(start + hour * 3_600..start + (hour + 1) * 3_600),
            Some(_) => None,
        }
    }
}

/// Returns the beginning of a day of the Gregorian calendar. Years begin in March here, so that leap days are last.
fn seconds_of(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = match month {
        1 | 2 => (year - 1, month + 9),
        month => (year, month - 3),
    };
    let of_year = (153 * month + 2) / 5 + day - 1;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + of_year;
    // The first of March of the year 0 is this number of days before 1970.
    (days - 719_468) * SECONDS_OF_DAY
}
