//! Dates as people and programs write them, beside the standards: which pattern reads all values of a field.

use std::borrow::Cow;
use std::sync::LazyLock;

use canter_doc_mapper::DateInput;

use super::derived::{self, Derived};

/// A pattern, and the `input_formats` of a field of such dates.
struct Pattern {
    input: DateInput,
    formats: &'static str,
}

macro_rules! patterns {
    ($($pattern:literal),+ $(,)?) => {
        [$(($pattern, concat!("[\"", $pattern, "\", rfc3339]"))),+]
    };
}

/// Patterns, likelier ones first.
const PATTERNS: [(&str, &str); 51] = patterns![
    // Postgres, Go's `time.Time`.
    "%Y-%m-%d %H:%M:%S%.f UTC",
    "%Y-%m-%d %H:%M:%S%.f %z UTC",
    // Snowflake's, Ruby's.
    "%Y-%m-%d %H:%M:%S%.f %z",
    "%Y/%m/%d %H:%M:%S%.f",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d",
    // Access logs, `ctime`, `date`.
    "%d/%b/%Y:%H:%M:%S %z",
    "%a %b %e %H:%M:%S %Y",
    "%a %b %e %H:%M:%S UTC %Y",
    // X, Ruby, and `date` with the name of a zone.
    "%a %b %d %H:%M:%S %z %Y",
    // Jira.
    "%d/%b/%y %I:%M %p",
    "%d/%b/%Y %H:%M:%S",
    // Oracle.
    "%d-%b-%y %I.%M.%S%.f %p",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%d/%b/%Y",
    "%d %b %Y",
    "%a %b %d %Y %H:%M:%S GMT%z",
    "%d-%b-%Y %H:%M:%S",
    // Spreadsheets: the United States.
    "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%Y %I:%M %p",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y",
    "%m/%d/%y %H:%M:%S",
    "%m/%d/%y %H:%M",
    // JavaScript's `toLocaleString`.
    "%m/%d/%Y, %I:%M:%S %p",
    "%m/%d/%Y, %H:%M:%S",
    "%b %e, %Y %I:%M:%S %p",
    // JavaScript's, Strava's.
    "%b %e, %Y, %I:%M:%S %p",
    "%b %e, %Y, %I:%M %p",
    "%b %e, %Y %I:%M %p",
    "%B %e, %Y",
    // Kibana's.
    "%b %e, %Y @ %H:%M:%S%.f",
    // Great Britain and France.
    "%d/%m/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%d/%m/%Y",
    "%d/%m/%Y, %H:%M:%S",
    "%d/%m/%Y, %H:%M",
    "%d/%m/%y %H:%M:%S",
    "%d/%m/%y %H:%M",
    // Germany.
    "%d.%m.%Y %H:%M:%S%.f",
    "%d.%m.%Y, %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y, %H:%M",
    "%d.%m.%Y",
    "%d.%m.%y %H:%M:%S",
    "%d.%m.%y, %H:%M",
    "%d.%m.%y %H:%M",
    "%d.%m.%y",
    "%d %b %Y %H:%M:%S",
];

static READERS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let pattern = |(pattern, formats): (&str, &'static str)| {
        let input = DateInput::parse(pattern).ok()?;
        Some(Pattern { input, formats })
    };
    PATTERNS.into_iter().filter_map(pattern).collect()
});

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

/// Lengths of dates as texts.
const LENGTHS: std::ops::RangeInclusive<usize> = 8..=40;

/// Statistics of a field's values as dates of patterns.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    /// Numbers of values that each pattern reads.
    nums: Vec<u64>,
    /// Patterns that the first value has, and the numbers of values that each reads: what is not in the list.
    derived: Vec<(Derived, DateInput, u64)>,
    /// Number of values that look like dates.
    num_alike: u64,
    first: Option<String>,
}

impl Patterns {
    pub(super) fn add(&mut self, text: &str) {
        let derived = || {
            let len = LENGTHS.contains(&text.len()).then_some(text);
            len.map(derived::of).unwrap_or_default()
        };
        if !is_like_date(text) && !derived().iter().any(|derived| derived.is_sure) {
            return;
        }
        self.num_alike += 1;
        if self.first.is_none() {
            self.first = Some(text.to_owned());
            let derived = derived().into_iter().filter_map(|derived| {
                let input = DateInput::parse(&derived.pattern).ok()?;
                Some((derived, input, 0))
            });
            self.derived = derived.collect();
        }
        for (_, input, num) in &mut self.derived {
            *num += u64::from(input.reads(text));
        }
        self.nums.resize(READERS.len(), 0);
        for (num, pattern) in self.nums.iter_mut().zip(READERS.iter()) {
            *num += u64::from(pattern.input.reads(text));
        }
    }

    /// Returns the formats that read all of `num_texts`; nothing if days and months could be taken for each other.
    pub(super) fn form_of(&self, num_texts: u64) -> Option<Cow<'static, str>> {
        let all = self.nums.iter().zip(READERS.iter());
        let mut all = all.filter(|(num, _)| num_texts > 0 && **num == num_texts);
        let Some((_, first)) = all.next() else {
            return self.derived_form_of(num_texts).map(Cow::Owned);
        };
        let is_of_days = |pattern: &Pattern| pattern.formats.contains("%d/%m");
        let is_ambiguous = all.any(|(_, other)| is_of_days(other)) && !is_of_days(first);
        (!is_ambiguous).then_some(Cow::Borrowed(first.formats))
    }

    fn derived_form_of(&self, num_texts: u64) -> Option<String> {
        let all = self.derived.iter();
        let mut all = all.filter(|(_, _, num)| num_texts > 0 && *num == num_texts);
        let (first, ..) = all.next()?;
        let is_ambiguous = first.is_of_either_order && all.next().is_some();
        (!is_ambiguous).then(|| format!("[\"{}\", rfc3339]", first.pattern))
    }

    /// Returns the first text if nearly all of `num_texts` look like dates, and no pattern reads them, or two do.
    pub(super) fn unread(&self, num_texts: u64) -> Option<&str> {
        let is_it = num_texts > 0
            && self.num_alike * 10 >= num_texts * 9
            && self.form_of(num_texts).is_none();
        self.first.as_deref().filter(|_| is_it)
    }
}

/// Returns whether a text is a day with its month's name and nothing else: `01-May-2024`, `1 May 2024`, `01-MAY-24`.
fn is_day_of_month(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['-', '/', ' ']).collect();
    let [day, month, year] = parts.as_slice() else {
        return false;
    };
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    MONTHS.contains(&month.to_ascii_lowercase().as_str())
        && are_digits(day)
        && are_digits(year)
        && match year.len() {
            4 => matches!(day.len(), 1 | 2),
            len => len == 2 && day.len() == 2,
        }
}

/// Returns a text with dashes in a day that has colons: `2024:05:01 10:00:00`, as cameras and firewalls write it.
fn with_dashes(text: &str) -> Cow<'_, str> {
    let is_it = text.len() > 10
        && text
            .bytes()
            .take(10)
            .enumerate()
            .all(|(place, byte)| match place {
                4 | 7 => byte == b':',
                _ => byte.is_ascii_digit(),
            });
    match is_it {
        true => Cow::Owned(text.replacen(':', "-", 2)),
        false => Cow::Borrowed(text),
    }
}

/// Returns whether a text may be a date: a year and other numbers, with what stands between them, and a word or two at
/// most.
fn is_like_date(text: &str) -> bool {
    // Names of zones, as JavaScript writes them.
    let text = match text.split_once(" (") {
        Some((date, zone)) if zone.ends_with(')') => date,
        _ => text,
    };
    if !LENGTHS.contains(&text.len()) || !text.is_ascii() {
        return false;
    }
    // `/Date(1714557600000)/`, as .NET wrote JSON.
    if text.starts_with("/Date(") && text.ends_with(")/") {
        return true;
    }
    let text = &*with_dashes(text);
    let numbers = text.split(|c: char| !c.is_ascii_digit());
    let numbers: Vec<&str> = numbers.filter(|number| !number.is_empty()).collect();
    let is_year =
        |number: &&str| number.len() == 4 && (number.starts_with("19") || number.starts_with("20"));
    let num_letters = text.bytes().filter(u8::is_ascii_alphabetic).count();
    let num_of = |byte: u8| text.bytes().filter(|other| *other == byte).count();
    let is_minute = |part: &str| {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        digits == 2
    };
    let has_clock = (1..=3).contains(&num_of(b':'))
        && numbers.len() >= 4
        // The last may be a fraction.
        && text.split(':').skip(1).take(2).all(is_minute);
    let has_separators = [b'/', b'.', b'-'].into_iter().any(|byte| num_of(byte) == 2);
    let is_day = numbers.len() == 3 && (has_separators && num_letters == 0);
    let is_named_day = numbers.len() == 2 && (3..=9).contains(&num_letters) && text.contains(", ");
    let has_marks = text
        .replace(" @ ", " ")
        .bytes()
        .any(|byte| b"_=@#&?!%".contains(&byte));
    let is_it = has_clock || is_day || is_named_day || is_day_of_month(text);
    // `01/May/24 10:00 AM`, `01-MAY-24 10.00.00.123 AM`.
    let lower = text.to_ascii_lowercase();
    let has_month = MONTHS.iter().any(|month| lower.contains(month));
    let has_short_year = has_month && has_separators && numbers.len() >= 4 && text.contains(' ');
    // `01.05.24`, `01.05.24, 10:00`; numbers of versions have single digits, too.
    let day = text.split([' ', ',']).next().unwrap_or_default();
    let is_pair = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_german = day.split('.').count() == 3 && day.split('.').all(is_pair) && num_letters == 0;
    // Alone, `22.04.01` may be a version: years are those of the last ones only.
    let is_recent = || day.rsplit('.').next().is_some_and(|year| year >= "13");
    let is_german = is_german && ((numbers.len() == 3 && is_recent()) || has_clock);
    // `05/13/24 10:00`.
    let is_short = day.split('/').count() == 3 && day.split('/').all(is_pair) && has_clock;
    let has_year = (is_it && numbers.iter().any(is_year))
        || is_short
        || has_short_year
        || is_german
        || is_day_of_month(text);
    has_year && num_letters <= 12 && !has_marks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(texts: &[&str]) -> Option<Cow<'static, str>> {
        let mut patterns = Patterns::default();
        for text in texts {
            patterns.add(text);
        }
        patterns.form_of(texts.len() as u64)
    }

    #[test]
    fn every_pattern_works() {
        for (pattern, _) in PATTERNS {
            assert!(DateInput::parse(pattern).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn one_pattern_reads_all_values() {
        for (texts, pattern) in [
            (
                &["2024-05-01 09:00:02.123 UTC", "2024-05-01 09:00:02 UTC"][..],
                "%Y-%m-%d %H:%M:%S%.f UTC",
            ),
            (
                &["2024-05-01 09:00:02.123456789 +0000 UTC"],
                "%Y-%m-%d %H:%M:%S%.f %z UTC",
            ),
            (&["2024/05/01 09:00:02"], "%Y/%m/%d %H:%M:%S%.f"),
            (&["01/May/2024:11:00:02 +0200"], "%d/%b/%Y:%H:%M:%S %z"),
            (
                &["Wed May  1 09:00:02 2024", "Fri May 10 09:00:02 2024"],
                "%a %b %e %H:%M:%S %Y",
            ),
            (
                &["7/11/2024 9:00:02 AM", "7/13/2024 9:00:02 PM"],
                "%m/%d/%Y %I:%M:%S %p",
            ),
            (&["1/13/2024", "1/2/2024"], "%m/%d/%Y"),
            (
                &["Wed May 01 09:00:02 +0000 2024"],
                "%a %b %d %H:%M:%S %z %Y",
            ),
            (
                &["01/May/24 09:00 AM", "13/May/24 1:00 PM"],
                "%d/%b/%y %I:%M %p",
            ),
            (
                &["2024-05-01 09:00:02.123 +0200"],
                "%Y-%m-%d %H:%M:%S%.f %z",
            ),
            (&["01-MAY-24 09.00.02.123456 AM"], "%d-%b-%y %I.%M.%S%.f %p"),
            (&["5/13/2024, 9:00:02 AM"], "%m/%d/%Y, %I:%M:%S %p"),
            (&["13/05/2024, 09:00:02"], "%d/%m/%Y, %H:%M:%S"),
            (&["25/12/2024 13:45", "01/02/2024 08:00"], "%d/%m/%Y %H:%M"),
            (&["21.09.2024 10:20"], "%d.%m.%Y %H:%M"),
            (
                &["May 22, 2024 10:21 AM", "May 1, 2024 10:21 PM"],
                "%b %e, %Y %I:%M %p",
            ),
            (
                &["May 22, 2024, 10:21 AM", "May 1, 2024, 10:21 PM"],
                "%b %e, %Y, %I:%M %p",
            ),
            (&["May 1, 2024, 1:00:07 PM"], "%b %e, %Y, %I:%M:%S %p"),
            (
                &["May 1, 2024 @ 13:00:07.123", "May 13, 2024 @ 01:00:07.000"],
                "%b %e, %Y @ %H:%M:%S%.f",
            ),
            (
                &["2024-05-01 10:00:07 CEST", "2024-01-01 10:00:07.5 CET"],
                "%Y-%m-%d %H:%M:%S%.f %z",
            ),
            (
                &["Wed May 01 2024 10:00:07 GMT+0200 (Central European Summer Time)"],
                "%a %b %d %Y %H:%M:%S GMT%z",
            ),
            (
                &[
                    "Wed May  1 10:00:07 CEST 2024",
                    "Fri May 10 09:00:02 UTC 2024",
                ],
                "%a %b %d %H:%M:%S %z %Y",
            ),
            (&["13.05.24", "01.06.24"], "%d.%m.%y"),
            (&["13.05.2024", "01.06.2024"], "%d.%m.%Y"),
            (&["13-May-2024", "1-Jun-2024"], "%d-%b-%Y"),
            (&["13-MAY-24"], "%d-%b-%y"),
            (&["13 May 2024"], "%d %b %Y"),
            (&["13.05.24, 10:00"], "%d.%m.%y, %H:%M"),
            (&["13.05.2024, 10:00"], "%d.%m.%Y, %H:%M"),
            (&["05/13/24 10:00:07"], "%m/%d/%y %H:%M:%S"),
            (&["13/05/24 10:00"], "%d/%m/%y %H:%M"),
            // Not in the list.
            (
                &["03.10.2026 - 07:12:18", "04.10.2026 - 07:12:18"],
                "%d.%m.%Y - %H:%M:%S%.f",
            ),
            (
                &["03-10-2026 07:12:18", "23-10-2026 07:12:18.5"],
                "%d-%m-%Y %H:%M:%S%.f",
            ),
            (&["2026:10:03-07:12:18"], "%Y:%m:%d-%H:%M:%S%.f"),
            (&["2026-10-03_07:12:18"], "%Y-%m-%d_%H:%M:%S%.f"),
            (
                &["Saturday, October 3, 2026 7:12:18 AM"],
                "%A, %B %e, %Y %I:%M:%S%.f %p",
            ),
            (
                &["10/03/2026 07:12:18.123", "10/23/2026 07:12:18"],
                "%m/%d/%Y %H:%M:%S%.f",
            ),
        ] {
            let formats = format!("[\"{pattern}\", rfc3339]");
            assert_eq!(form(texts).as_deref(), Some(&*formats), "{texts:?}");
        }
    }

    #[test]
    fn nothing_is_guessed() {
        // Nothing says which is the day.
        assert_eq!(form(&["01/02/2024", "03/04/2024"]), None);
        assert_eq!(form(&["05/01/24 10:00:07"]), None);
        assert_eq!(form(&["13/02/2024", "02/13/2024"]), None);
        assert_eq!(form(&["03-10-2026 07:12:18"]), None);
        for text in [
            "1.2.3",
            "10.0.0.1",
            "v1.2.2024-rc1@abc",
            "2024",
            "0049-30-1234",
            "1.22.10",
            "10.11.12.13",
            "10.31.12",
            "22.04.01",
            "1-may-x",
            "a/b/2024",
        ] {
            assert_eq!(form(&[text]), None, "{text}");
        }
    }

    #[test]
    fn what_looks_like_a_date_is_named() {
        let unread = |text: &str| {
            let mut patterns = Patterns::default();
            patterns.add(text);
            patterns.unread(1).is_some()
        };
        for text in [
            "2024-05-01 11:00:02 IST",
            "/Date(1714557600000)/",
            "01/02/2024",
        ] {
            assert!(unread(text), "{text}");
        }
        for text in [
            "10.0.0.1",
            "1.2.3",
            "some text of 2024: 10:00",
            "2024-05-01 a=b 1:2:3",
        ] {
            assert!(!unread(text), "{text}");
        }
    }
}
