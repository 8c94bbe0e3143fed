//! Detection of times by all of a field's values; the field's name counts only where they leave it open.

use super::patterns::Patterns;
use canter_doc_mapper::DateInput;
use serde_json::Number;

/// Statistics of a field's values as times.
#[derive(Debug, Default)]
pub(super) struct Times {
    /// Numbers of texts that each format of [`FORMS`] parses.
    num_texts: [u64; FORMS.len()],
    /// Texts as dates of patterns.
    patterns: Patterns,
    /// Number of texts that mean a missing time: `""`, `0001-01-01T00:00:00Z`, `9999-12-31`, `0000-00-00 00:00:00`.
    num_never: u64,
    /// Number of numbers, or texts of digits, that are plausible seconds or fractions of them.
    num_unix: u64,
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
/// Minimum length of a date as text.
const MIN_TEXT_LEN: usize = 10;
/// 2001 to 2038: numbers outside are not times of records.
const SECONDS: std::ops::Range<f64> = 978_307_200.0..2_147_483_648.0;
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
            // With a zero in front it is the address of a card, or an id.
            if let Ok(number) = text.parse::<f64>()
                && !text.starts_with('0')
            {
                self.add(number);
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
        if let Some(number) = number.as_f64() {
            self.add(number);
        }
    }

    fn add(&mut self, number: f64) {
        // Nanoseconds, microseconds, milliseconds, seconds.
        let units = [1e9, 1e6, 1e3, 1.0];
        let mut seconds = units.iter().map(|unit| number / unit);
        let Some(seconds) = seconds.find(|seconds| SECONDS.contains(seconds)) else {
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
    pub(super) fn forms_of(&self, num_texts: u64) -> Option<&'static str> {
        let num_texts = num_texts.saturating_sub(self.num_never);
        let all = |form: usize| num_texts > 0 && self.num_texts.get(form) == Some(&num_texts);
        match () {
            () if all(0) => Some("[rfc3339]"),
            () if all(1) => Some("[rfc3339, iso8601]"),
            () if all(2) => Some("[rfc2822]"),
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
        if num_values == 0 || self.num_unix != num_values {
            return false;
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
    const TIMES: [&str; 26] = [
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
