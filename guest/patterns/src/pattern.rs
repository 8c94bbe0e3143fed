//! The pattern of a text: which of its words are values.

use std::iter::Peekable;

/// Stands for a value in a pattern.
pub const SLOT: &str = "<*>";

/// Maximum number of words that are looked at.
const MAX_WORDS: usize = 256;

/// Length in bytes from which on a pattern takes no more words.
const MAX_BYTES: usize = 4_096;

/// Units, which are a part of the number before them.
const UNITS: [&str; 41] = [
    "%",
    "b",
    "byte",
    "bytes",
    "d",
    "day",
    "days",
    "gb",
    "gib",
    "h",
    "hour",
    "hours",
    "hr",
    "hrs",
    "hz",
    "kb",
    "kib",
    "m",
    "mb",
    "mhz",
    "mib",
    "micros",
    "millis",
    "milliseconds",
    "min",
    "mins",
    "minute",
    "minutes",
    "ms",
    "msec",
    "msecs",
    "nanos",
    "ns",
    "s",
    "sec",
    "second",
    "seconds",
    "secs",
    "tb",
    "us",
    "usec",
];

/// Names of days and months, which are a part of the date that they are in.
const DATES: [&str; 36] = [
    "apr",
    "april",
    "aug",
    "august",
    "dec",
    "december",
    "feb",
    "february",
    "fri",
    "friday",
    "jan",
    "january",
    "jul",
    "july",
    "jun",
    "june",
    "mar",
    "march",
    "may",
    "mon",
    "monday",
    "nov",
    "november",
    "oct",
    "october",
    "sat",
    "saturday",
    "sep",
    "sept",
    "september",
    "sun",
    "sunday",
    "thu",
    "thursday",
    "tue",
    "wed",
];

/// Words behind `user` that are no name.
const NO_NAMES: [&str; 8] = ["at", "for", "from", "has", "in", "is", "on", "with"];

/// Returns the pattern of a text: the words of its first line, with [`SLOT`] for each value. At most 256 words and about
/// 4 KB count.
pub fn pattern_of(text: &str) -> String {
    let mut pattern = Pattern::default();
    let line = text.lines().find(|line| !line.trim().is_empty());
    let words = line.unwrap_or_default().split_whitespace();
    let mut words = words.take(MAX_WORDS).peekable();
    while let Some(word) = words.next() {
        if pattern.text.len() > MAX_BYTES {
            break;
        }
        let is_date = is_of_date(word, &mut words);
        pattern.push(word, is_date);
    }
    pattern.text
}

/// Returns the words of a pattern that are no values, without the punctuation around them. They stand in that order in
/// all its texts.
pub fn words_of(pattern: &str) -> impl Iterator<Item = &str> {
    let words = pattern.split(' ').flat_map(|word| word.split(SLOT));
    words
        .map(|word| word.trim_matches(|char: char| !char.is_alphanumeric()))
        .filter(|word| !word.is_empty())
}

/// A pattern of the words so far.
#[derive(Default)]
struct Pattern {
    text: String,
    /// True if the last word is a value, or a list of them.
    ends_in_value: bool,
    /// True if the next word is the name of a user.
    names_user: bool,
}

impl Pattern {
    fn push(&mut self, word: &str, is_date: bool) {
        let (before, core, after) = parts_of(word);
        let is_name =
            std::mem::take(&mut self.names_user) && !core.is_empty() && !is_one_of(&NO_NAMES, core);
        self.names_user = core.eq_ignore_ascii_case("user") && !after.starts_with([',', '.', ';']);
        if self.ends_in_value {
            let is_unit = before.is_empty() && is_one_of(&UNITS, core);
            let is_empty = core.is_empty() && before == "(";
            if is_unit || is_empty {
                return;
            }
        }
        let masked = match is_date || is_name || is_value(core) {
            true => SLOT.to_owned(),
            false => masked(core),
        };
        let is_value = masked == SLOT;
        // A list is one value, and what stands in parentheses says the value before them in other words.
        if is_value && self.ends_in_value && matches!(before, "" | "(") {
            if before.is_empty() {
                self.end(after);
            }
            return;
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        // `<1 sec`, `#4`.
        let is_part = is_value && matches!(before, "<" | "#");
        self.text.push_str(if is_part { "" } else { before });
        self.text.push_str(&masked);
        match is_value {
            true => self.end(after),
            false => {
                self.text.push_str(after);
                self.ends_in_value = false;
            }
        }
    }

    /// Adds the punctuation behind a value. A list of values may go on behind a comma.
    fn end(&mut self, after: &str) {
        self.ends_in_value = matches!(after, "" | ",");
        if !self.ends_in_value {
            self.text.push_str(after);
        }
    }
}

/// Divides a word into its punctuation in front, itself, and the punctuation behind it.
fn parts_of(word: &str) -> (&str, &str, &str) {
    let opening = ['(', '[', '{', '<', '"', '\'', '`', '#'];
    let closing = [
        ')', ']', '}', '>', '"', '\'', '`', ',', ';', ':', '.', '!', '?',
    ];
    let rest = word.trim_start_matches(opening);
    let core = rest.trim_end_matches(closing);
    let before = word.get(..word.len() - rest.len()).unwrap_or_default();
    let after = rest.get(core.len()..).unwrap_or_default();
    (before, core, after)
}

/// Returns whether a word is one of these, which are sorted and lowercase.
fn is_one_of(words: &[&str], word: &str) -> bool {
    if word.is_ascii() {
        // Without a copy: each word of each message is looked up.
        let lower = |word: &str, other: &str| {
            let bytes = word.bytes().map(|byte| byte.to_ascii_lowercase());
            other.bytes().cmp(bytes)
        };
        return words.binary_search_by(|other| lower(word, other)).is_ok();
    }
    words.binary_search(&word.to_lowercase().as_str()).is_ok()
}

/// Returns whether a word is the day or the month of a date that goes on.
fn is_of_date<'w>(word: &str, next: &mut Peekable<impl Iterator<Item = &'w str>>) -> bool {
    is_one_of(&DATES, parts_of(word).1)
        && next
            .peek()
            .is_some_and(|next| has_digit(next) || is_one_of(&DATES, parts_of(next).1))
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

/// Returns whether a word without a digit is a value: a path, or the name of a host.
fn is_value(core: &str) -> bool {
    let is_slash = |byte: &u8| matches!(byte, b'/' | b'\\');
    let num_slashes = core.bytes().filter(|byte| is_slash(byte)).count();
    num_slashes >= 2 || (core.len() > 1 && core.starts_with('/')) || is_host(core)
}

/// Returns whether this is the name of a host, such as `node.example.com`.
fn is_host(core: &str) -> bool {
    let is_of_label = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(is_of_label);
    core.split('.').count() >= 3 && core.split('.').all(is_label)
}

/// Returns a word with its values replaced: what stands right of `=`, and what has a digit.
fn masked(core: &str) -> String {
    if core.split_once('=').is_some_and(|(key, _)| is_key(key)) {
        let parts = core.split_inclusive(SEPARATORS);
        return parts.map(masked_pair).collect();
    }
    if !has_digit(core) {
        return core.to_owned();
    }
    match core.split_once(':') {
        Some((key, value)) if !value.is_empty() && is_key(key) && !key.contains('.') => {
            format!("{key}:{SLOT}")
        }
        _ => SLOT.to_owned(),
    }
}

/// What stands between pairs of a key and a value.
const SEPARATORS: [char; 3] = [',', ';', '&'];

/// Returns `key=value`, or what stands between such pairs, without its values.
fn masked_pair(part: &str) -> String {
    let (text, end) = match part.strip_suffix(SEPARATORS) {
        Some(text) => part.split_at(text.len()),
        None => (part, ""),
    };
    match text.split_once('=') {
        Some((key, value)) if is_key(key) => match parts_of(value).1.is_empty() {
            true => part.to_owned(),
            false => format!("{key}={SLOT}{end}"),
        },
        _ if has_digit(text) => format!("{SLOT}{end}"),
        _ => part.to_owned(),
    }
}

fn is_key(key: &str) -> bool {
    let is_of_key = |char: char| char.is_alphabetic() || matches!(char, '_' | '-' | '.');
    !key.is_empty() && key.chars().all(is_of_key)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_left_out() {
        let check = |text: &str, expect: &str| assert_eq!(pattern_of(text), expect, "{text}");
        check(
            "Received block blk_-16 of size 9106 from /10.250.11.53",
            "Received block <*> of size <*> from <*>",
        );
        check("took 12 ms (0.01 s), done", "took <*> done");
        check(
            "open through proxy node.example.com:443 HTTPS",
            "open through proxy <*> HTTPS",
        );
        check(
            "user=eve uid=0 tty= a=1,b=x",
            "user=<*> uid=<*> tty= a=<*>,b=<*>",
        );
        check(
            "Invalid user admin from 10.0.0.1",
            "Invalid user <*> from <*>",
        );
        check("Invalid user from 10.0.0.1", "Invalid user from <*>");
        check(
            "connection from 10.0.0.1 () at Sat Jun 4 01:02:03 2005",
            "connection from <*> at <*>",
        );
        check("moved /var/log/app to s3://b/k/x", "moved <*> to <*>");
        check(
            "in java.io.IOException: no space",
            "in java.io.IOException: no space",
        );
        check("ids [1, 2, 3] and (4)", "ids [<*>] and (<*>)");
        check("", "");
        check("\n  first 1\nsecond 2", "first <*>");
    }

    #[test]
    fn lists_are_sorted() {
        assert!(UNITS.is_sorted() && DATES.is_sorted() && NO_NAMES.is_sorted());
    }

    #[test]
    fn a_pattern_is_bounded() {
        let long = format!("{} ", "x".repeat(1_000)).repeat(300);
        assert!(pattern_of(&long).len() <= MAX_BYTES + 1_001);
        assert_eq!(
            pattern_of(&"a ".repeat(1_000)).split(' ').count(),
            MAX_WORDS
        );
    }

    proptest! {
        #[test]
        fn words_are_looked_up_in_any_case(word in "[A-Za-z%]{0,4}|\\PC{0,4}|(?i)(seconds|kib|user|from|may)") {
            for words in [&UNITS[..], &DATES, &NO_NAMES] {
                let lower = word.to_lowercase();
                prop_assert_eq!(is_one_of(words, &word), words.contains(&lower.as_str()));
            }
        }

        #[test]
        fn the_words_of_a_pattern_are_in_its_text_in_that_order(text in "[a-c1 =,:(user)]{0,40}") {
            let pattern = pattern_of(&text);
            let mut rest = text.as_str();
            for word in words_of(&pattern) {
                let at = rest.find(word);
                prop_assert!(at.is_some(), "{word} of {pattern}");
                rest = &rest[at.unwrap() + word.len()..];
            }
        }

        #[test]
        fn numbers_do_not_count(numbers in prop::collection::vec(any::<u64>(), 3)) {
            let text = |numbers: &[u64]| format!(
                "job {} done: took={} of node-{}", numbers[0], numbers[1], numbers[2]
            );
            prop_assert_eq!(pattern_of(&text(&numbers)), pattern_of(&text(&[1, 2, 3])));
        }

        #[test]
        fn any_text_has_a_pattern(text in "\\PC{0,80}") {
            let pattern = pattern_of(&text);
            prop_assert_eq!(pattern.trim(), &pattern);
        }
    }
}
