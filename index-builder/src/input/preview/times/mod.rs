//! Detection of times by all of a field's values; the field's name counts only where they leave it open.

mod derived;
mod patterns;

use std::borrow::Cow;

use canter_doc_mapper::DateInput;
use serde_json::Number;

use patterns::Patterns;

/// Statistics of a field's values as times.
#[derive(Debug, Default)]
pub(super) struct Times {
    /// Numbers of texts that each format of [`FORMS`] parses.
    num_texts: [u64; FORMS.len()],
    /// Texts as dates of patterns.
    patterns: Patterns,
    /// Number of texts that mean a missing time: `""`, `0001-01-01T00:00:00Z`, `9999-12-31`, `0000-00-00 00:00:00`.
    num_never: u64,
    /// Numbers of values that are days and times of digits alone, as each of [`COMPACT`] reads them.
    num_compact: [u64; COMPACT.len()],
    /// Number of numbers, or texts of digits, that are plausible seconds or fractions of them.
    num_unix: u64,
    /// Number of those that would be seconds of the years before 2001: most numbers of nine digits are something else.
    num_early: u64,
    /// Number of these with a fraction of a second.
    num_fractions: u64,
    /// Numbers of neighbours that are in order, and of those that differ by one, as running numbers do.
    num_in_order: u64,
    num_running: u64,
    num_pairs: u64,
    /// Seconds since 1970.
    last_s: Option<f64>,
    min_s: Option<f64>,
    max_s: Option<f64>,
}

/// The formats in which a text may be a time, likelier ones first.
const FORMS: [DateInput; 3] = [DateInput::Rfc3339, DateInput::Iso8601, DateInput::Rfc2822];
/// Days and times of digits alone: their lengths, and what reads them. Their names have to say that they are times.
const COMPACT: [(usize, &str); 2] = [
    (8, "[\"%Y%m%d\", rfc3339]"),
    (14, "[\"%Y%m%d%H%M%S\", rfc3339]"),
];
/// Minimum length of a date as text.
const MIN_TEXT_LEN: usize = 10;
/// 2001 to 2038: numbers outside are not times of records, unless their field's name says so.
const SECONDS: std::ops::Range<f64> = 978_307_200.0..2_147_483_648.0;
/// From 1990: logs of that time are published as samples.
const EARLY_SECONDS: std::ops::Range<f64> = 631_152_000.0..978_307_200.0;
const YEAR_S: f64 = 366.0 * 86_400.0;

impl Times {
    pub(super) fn add_text(&mut self, text: &str) {
        if is_never(text) {
            self.num_never += 1;
            return;
        }
        if text.len() <= 20
            && text
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
        {
            match text.parse::<f64>() {
                // With a zero in front it is the address of a card, or an id.
                Ok(_) if text.starts_with('0') => {}
                Ok(number) => {
                    self.add_compact(text);
                    self.add(number);
                }
                // `13.05.2024`.
                Err(_) => self.patterns.add(text),
            }
            return;
        }
        if text.len() < MIN_TEXT_LEN {
            // `1/5/2024`.
            return self.patterns.add(text);
        }
        let mut is_read = false;
        for (num, form) in self.num_texts.iter_mut().zip(&FORMS) {
            let reads = form.reads(text);
            is_read |= reads;
            *num += u64::from(reads);
        }
        if !is_read {
            self.patterns.add(text);
        }
    }

    pub(super) fn add_number(&mut self, number: &Number) {
        if number.is_u64() {
            self.add_compact(&number.to_string());
        }
        if let Some(number) = number.as_f64() {
            self.add(number);
        }
    }

    fn add_compact(&mut self, digits: &str) {
        for (num, (len, _)) in self.num_compact.iter_mut().zip(COMPACT) {
            *num += u64::from(digits.len() == len && is_compact(digits));
        }
    }

    /// Returns the formats that read all `num_values` values as days or times of digits alone, if the name says that
    /// they are.
    pub(super) fn compact_forms(&self, num_values: u64, name: &str) -> Option<&'static str> {
        let mut forms = self.num_compact.iter().zip(COMPACT);
        let (_, (_, form)) = forms.find(|(num, _)| num_values > 0 && **num == num_values)?;
        (what_name_says(name) == Some(true)).then_some(form)
    }

    fn add(&mut self, number: f64) {
        // Nanoseconds, microseconds, milliseconds, seconds.
        let units = [1e9, 1e6, 1e3, 1.0];
        let mut seconds = units.iter().map(|unit| number / unit);
        let Some(seconds) = seconds.find(|seconds| SECONDS.contains(seconds)) else {
            let is_early = units
                .iter()
                .any(|unit| EARLY_SECONDS.contains(&(number / unit)));
            self.num_early += u64::from(is_early);
            return;
        };
        self.num_unix += 1;
        let is_whole = number.fract() == 0.0;
        self.num_fractions += u64::from(!is_whole || number > 1e12);
        if let Some(last) = self.last_s {
            self.num_pairs += 1;
            self.num_in_order += u64::from(seconds >= last);
            self.num_running += u64::from((seconds - last).abs() == 1.0);
        }
        self.last_s = Some(seconds);
        self.min_s = Some(self.min_s.map_or(seconds, |min| min.min(seconds)));
        self.max_s = Some(self.max_s.map_or(seconds, |max| max.max(seconds)));
    }

    /// Returns the formats that together parse all of `num_texts` that have a time: the first alone, if it suffices.
    pub(super) fn forms_of(&self, num_texts: u64) -> Option<Cow<'static, str>> {
        let num_texts = num_texts.saturating_sub(self.num_never);
        let all = |form: usize| num_texts > 0 && self.num_texts.get(form) == Some(&num_texts);
        match () {
            () if all(0) => Some("[rfc3339]".into()),
            () if all(1) => Some("[rfc3339, iso8601]".into()),
            () if all(2) => Some("[rfc2822]".into()),
            () => self.patterns.form_of(num_texts),
        }
    }

    /// Returns a text of `num_texts` that look like times, of which it is not known how they are read.
    pub(super) fn unread(&self, num_texts: u64) -> Option<&str> {
        self.patterns
            .unread(num_texts.saturating_sub(self.num_never))
    }

    /// Returns the number of texts that mean a missing time.
    pub(super) fn num_never(&self) -> u64 {
        self.num_never
    }

    /// Returns whether all `num_values` values are Unix times.
    pub(super) fn are_unix(&self, num_values: u64, name: &str) -> bool {
        if num_values == 0 || self.num_unix + self.num_early != num_values {
            return false;
        }
        if self.num_early > 0 {
            return what_name_says(name) == Some(true);
        }
        let (Some(min), Some(max)) = (self.min_s, self.max_s) else {
            return false;
        };
        match what_name_says(name) {
            Some(is_time) => is_time,
            // Within a few years, with fractions of a second, or ordered without being running numbers.
            None => {
                let are_in_order = self.num_pairs >= 3
                    && self.num_in_order * 10 >= self.num_pairs * 9
                    && self.num_running * 2 < self.num_pairs;
                let are_precise = self.num_fractions * 10 >= num_values * 9;
                max - min < 2.0 * YEAR_S && (are_precise || are_in_order) && num_values >= 3
            }
        }
    }
}

/// Returns whether digits begin with a year, a month and a day, and go on with a time of day if they go on.
fn is_compact(digits: &str) -> bool {
    let part = |place: usize, len: usize| -> u16 {
        let part = digits.get(place..place + len);
        part.and_then(|part| part.parse().ok()).unwrap_or(0)
    };
    let is_day = (1970..2100).contains(&part(0, 4))
        && (1..=12).contains(&part(4, 2))
        && (1..=31).contains(&part(6, 2));
    is_day && part(8, 2) < 24 && part(10, 2) < 60 && part(12, 2) < 60
}

/// Returns whether a name suggests versions or addresses, whose numbers may look like those of days.
pub(super) fn is_version(name: &str) -> bool {
    const NAMES: [&str; 8] = [
        "version", "versions", "ver", "release", "build", "revision", "firmware", "ip",
    ];
    words(name)
        .iter()
        .any(|word| NAMES.contains(&word.as_str()))
}

/// Returns whether a text replaces a time to mean that there is none: it is blank, or has a year that means "not yet"
/// or "forever".
fn is_never(text: &str) -> bool {
    let text = text.trim_ascii();
    if matches!(text, "" | "-") {
        return true;
    }
    let (Some(year), Some(rest)) = (text.get(..4), text.get(4..)) else {
        return false;
    };
    let [b'-', month @ .., b'-', _, _] = rest.as_bytes().get(..6).unwrap_or_default() else {
        return false;
    };
    // Fields can hold times from 1677 to 2262.
    month.iter().all(u8::is_ascii_digit) && matches!(year.parse::<u16>(), Ok(..=1677 | 2262..))
}

/// Returns whether a name suggests identifiers: values that are looked up individually, and never added up.
pub(super) fn is_id(name: &str) -> bool {
    const IDS: [&str; 9] = [
        "id", "ids", "uid", "uuid", "guid", "key", "serial", "account", "phone",
    ];
    words(name)
        .last()
        .is_some_and(|word| IDS.contains(&word.as_str()))
}

/// Returns whether a name suggests times, or something else; `None` if neither. A name is divided into words:
/// `accounts_id` does not contain `ts`.
fn what_name_says(name: &str) -> Option<bool> {
    const OTHERS: [&str; 22] = [
        "id", "ids", "uid", "pid", "key", "hash", "code", "count", "num", "number", "no", "total",
        "size", "len", "length", "bytes", "packets", "port", "phone", "account", "serial",
        "offset",
    ];
    const TIMES: [&str; 28] = [
        "time",
        "timestamp",
        "times",
        "ts",
        "date",
        "datetime",
        "at",
        "epoch",
        "when",
        "start",
        "started",
        "begin",
        "end",
        "ended",
        "stop",
        "created",
        "updated",
        "modified",
        "expires",
        "expiry",
        "exp",
        "iat",
        "nbf",
        "seen",
        "instant",
        "day",
        "datum",
        "fecha",
    ];
    let words = words(name);
    // The last word is the kind of value: `time_id` is an id.
    let last = words.last().map(String::as_str).unwrap_or_default();
    if OTHERS.contains(&last) {
        return Some(false);
    }
    let is_time = |word: &String| {
        TIMES.contains(&word.as_str()) || word.ends_with("time") || word.ends_with("timestamp")
    };
    if words.iter().any(is_time) {
        return Some(true);
    }
    words
        .iter()
        .any(|word| OTHERS.contains(&word.as_str()))
        .then_some(false)
}

/// Splits `createdAt`, `created_at`, `CREATED-AT` into `created`, `at`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        let begins = !c.is_alphanumeric() || (c.is_uppercase() && was_lower);
        if begins && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase() || c.is_ascii_digit();
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_their_words_say() {
        for (name, expect) in [
            ("timestamp", Some(true)),
            ("@timestamp", Some(true)),
            ("createdAt", Some(true)),
            ("eventTime", Some(true)),
            ("__REALTIME_TIMESTAMP", Some(true)),
            ("epochSecond", Some(true)),
            ("updated_at", Some(true)),
            ("accounts_id", Some(false)),
            ("packets", Some(false)),
            ("timeId", Some(false)),
            ("bytes_out", Some(false)),
            ("statistics", None),
            ("value", None),
            ("", None),
        ] {
            assert_eq!(what_name_says(name), expect, "{name}");
        }
    }

    #[test]
    fn digits_alone_are_days_if_their_name_says_so() {
        let forms = |texts: &[&str], name: &str| {
            let mut times = Times::default();
            texts.iter().for_each(|text| times.add_text(text));
            times.compact_forms(texts.len() as u64, name)
        };
        let days = ["20240501", "20231231"];
        assert_eq!(forms(&days, "booking_date"), Some("[\"%Y%m%d\", rfc3339]"));
        assert_eq!(forms(&days, "Datum"), Some("[\"%Y%m%d\", rfc3339]"));
        assert_eq!(forms(&days, "order_id"), None);
        assert_eq!(forms(&days, "value"), None);
        assert_eq!(forms(&["20240501", "20241301"], "date"), None);
        assert_eq!(forms(&["20240501", "1"], "date"), None);
        let times = ["20240501100007"];
        assert_eq!(
            forms(&times, "created_at"),
            Some("[\"%Y%m%d%H%M%S\", rfc3339]")
        );
        assert_eq!(forms(&["20240501250007"], "created_at"), None);
    }

    #[test]
    fn days_with_points_are_no_numbers() {
        let forms = |texts: &[&str]| {
            let mut times = Times::default();
            texts.iter().for_each(|text| times.add_text(text));
            times.forms_of(texts.len() as u64)
        };
        assert_eq!(
            forms(&["13.05.2024", "01.06.2024"]).as_deref(),
            Some("[\"%d.%m.%Y\", rfc3339]")
        );
        assert_eq!(
            forms(&["13.05.24", "01.06.24"]).as_deref(),
            Some("[\"%d.%m.%y\", rfc3339]")
        );
        for texts in [
            &["13.05.2024", "1.2.3"][..],
            &["1.10.24"],
            &["22.04.01", "20.04.06"],
            &["10.0.0.1"],
        ] {
            assert_eq!(forms(texts), None, "{texts:?}");
        }
        assert!(is_version("os_version") && is_version("buildVersion"));
        assert!(!is_version("date") && !is_version("Verwendungszweck"));
    }

    #[test]
    fn digits_with_a_zero_in_front_are_no_time() {
        let are_unix = |prefix: &str| {
            let mut times = Times::default();
            (0..5).for_each(|n| times.add_text(&format!("{prefix}11223344{n}5")));
            times.are_unix(5, "MAC Address")
        };
        assert!(are_unix("") && !are_unix("00"));
    }

    #[test]
    fn a_text_may_say_that_there_is_no_time() {
        for (text, expect) in [
            ("", true),
            ("-", true),
            ("0001-01-01T00:00:00Z", true),
            ("0000-00-00 00:00:00", true),
            ("0000-00-00", true),
            ("9999-12-31T23:59:59.999Z", true),
            ("2262-12-31", true),
            ("2024-05-01T10:00:00Z", false),
            ("0001", false),
            ("9999-order", false),
            ("0001-0002-0003", false),
            ("日本語の文字列", false),
        ] {
            assert_eq!(is_never(text), expect, "{text:?}");
        }
    }

    #[test]
    fn numbers_are_times_by_what_all_of_them_look_like() {
        let check = |numbers: &[&str], name: &str, expect: bool| {
            let mut times = Times::default();
            for number in numbers {
                times.add_text(number);
            }
            let num = numbers.len() as u64;
            assert_eq!(times.are_unix(num, name), expect, "{name} {numbers:?}");
        };
        let seconds = ["1714557600", "1714557607", "1714557707", "1714558000"];
        check(&seconds, "value", true);
        check(&seconds, "value_id", false);
        check(&["1714557600"], "ts", true);
        check(&["893964617", "893964653", "978307200"], "@timestamp", true);
        check(&["893964617000"], "time", true);
        check(&["893964617", "893964653", "893964660"], "value", false);
        check(&["193964617"], "@timestamp", false);
        check(&["1714557600"], "value", false);
        check(
            &["1714557600.52", "1714557600.1", "1714557601.0"],
            "value",
            false,
        );
        check(
            &["1714557600.52", "1714557600.1", "1714557601.7"],
            "value",
            true,
        );
        check(
            &["1234567890", "1234567891", "1234567892", "1234567893"],
            "value",
            false,
        );
        check(
            &["1934567890", "1034567891", "2034567892", "1134567893"],
            "value",
            false,
        );
        check(
            &["1714557600123456", "1714557600123000", "1714557600999999"],
            "x",
            true,
        );
        check(&["1714557600", "12"], "ts", false);
        check(&["9914557600", "9914557601"], "ts", false);
    }
}
