//! Lucene's regular expressions as ours: `@` is any text, `<1-99>` a number, and quotes make a text literal. What has no
//! counterpart is refused: the complement `~`, the intersection `&` and the empty language `#`.
//!
//! See <https://www.elastic.co/docs/reference/query-languages/query-dsl/regexp-syntax>.

use super::params::{Params, wrong};
use crate::SearchError;

/// Operators that a request can switch off, after which their characters are literal.
#[derive(Clone, Copy, Debug)]
pub(in crate::query::dsl) struct Flags {
    any_text: bool,
    complement: bool,
    empty: bool,
    intersection: bool,
    interval: bool,
}

impl Default for Flags {
    fn default() -> Self {
        Self::of(true)
    }
}

impl Flags {
    fn of(is_on: bool) -> Self {
        Self {
            any_text: is_on,
            complement: is_on,
            empty: is_on,
            intersection: is_on,
            interval: is_on,
        }
    }

    /// Takes `flags`: names of operators, separated by `|`.
    ///
    /// # Errors
    /// If one is unknown.
    pub(in crate::query::dsl) fn take(params: &mut Params<'_>) -> Result<Self, SearchError> {
        let text = params.text("flags")?;
        params.count("max_determinized_states")?;
        let Some(text) = text else {
            return Ok(Self::default());
        };
        let mut flags = Self::of(false);
        let text = text.to_ascii_uppercase();
        for name in text.split('|').filter(|name| !name.is_empty()) {
            match name {
                "ALL" => flags = Self::default(),
                "ANYSTRING" => flags.any_text = true,
                "COMPLEMENT" => flags.complement = true,
                "EMPTY" => flags.empty = true,
                "INTERSECTION" => flags.intersection = true,
                "INTERVAL" => flags.interval = true,
                "NONE" => {}
                other => {
                    return Err(wrong(
                        &params.path,
                        format!(
                            "flags: {other:?} is not known; there are ALL, ANYSTRING, COMPLEMENT, EMPTY, INTERSECTION, \
                             INTERVAL, NONE"
                        ),
                    ));
                }
            }
        }
        Ok(flags)
    }
}

/// Maximum length of an expression in characters, as in Elasticsearch.
const MAX_LEN: usize = 1_000;

/// Refuses an expression that is too long.
pub(in crate::query::dsl) fn check_len(path: &str, text: &str) -> Result<(), SearchError> {
    match text.chars().count() {
        0..=MAX_LEN => Ok(()),
        len => Err(wrong(
            path,
            format!(
                "The length of regex [{len}] used in the Regexp Query request has exceeded the allowed maximum of \
                 [{MAX_LEN}]. This maximum can be set by changing the [index.max_regex_length] index level setting."
            ),
        )),
    }
}

/// Returns an expression of Lucene's, in which all operators are on, as one of ours.
///
/// # Errors
/// If it has an operator without a counterpart, or is incomplete.
pub(crate) fn lucene_expression(path: &str, text: &str) -> Result<String, SearchError> {
    expression(path, text, Flags::default())
}

/// Returns an expression of Lucene's as one of ours.
///
/// # Errors
/// If it has an operator without a counterpart, or is incomplete.
pub(in crate::query::dsl) fn expression(
    path: &str,
    text: &str,
    flags: Flags,
) -> Result<String, SearchError> {
    check_len(path, text)?;
    let unsupported = |c: char| {
        let what =
            format!("{c} is an operator that is not supported: write \\{c} for the character");
        Err(wrong(path, what))
    };
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_in_class = false;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            '\\' => match rest.chars().next() {
                Some(escaped) => {
                    // With a backslash, some of these would be operators here.
                    if !"<>@#&~\"".contains(escaped) {
                        written.push(c);
                    }
                    written.push(escaped);
                    rest = rest.get(escaped.len_utf8()..).unwrap_or_default();
                }
                None => written.push(c),
            },
            ']' => {
                is_in_class = false;
                written.push(c);
            }
            _ if is_in_class => written.push(c),
            '[' => {
                is_in_class = true;
                written.push(c);
            }
            '~' if flags.complement => return unsupported(c),
            '&' if flags.intersection => return unsupported(c),
            '#' if flags.empty => return unsupported(c),
            '^' | '$' => return Err(wrong(path, whole_terms(c))),
            '@' if flags.any_text => written.push_str("(.*)"),
            '"' => {
                let Some((literal, behind)) = rest.split_once('"') else {
                    return Err(wrong(
                        path,
                        "a quote is not closed: write \\\" for the character",
                    ));
                };
                push_literal(&mut written, literal);
                rest = behind;
            }
            '<' if flags.interval => {
                let interval = rest
                    .split_once('>')
                    .and_then(|(interval, behind)| Some((numbers_between(interval)?, behind)));
                let Some((numbers, behind)) = interval else {
                    let what = "behind < stands an interval of numbers, such as <1-99>: write \\< for the character";
                    return Err(wrong(path, what));
                };
                written.push_str(&numbers);
                rest = behind;
            }
            c => written.push(c),
        }
    }
    Ok(written)
}

fn whole_terms(c: char) -> String {
    format!("an expression takes whole terms: leave out {c}, or write \\{c} for the character")
}

fn push_literal(written: &mut String, literal: &str) {
    for c in literal.chars() {
        if c.is_ascii_punctuation() && !matches!(c, '<' | '>') {
            written.push('\\');
        }
        written.push(c);
    }
}

/// Returns the expression for the numbers of an interval such as `1-99`: with as many digits as the ends if both have the
/// same number of digits, otherwise with any number of zeros in front.
fn numbers_between(interval: &str) -> Option<String> {
    const MAX_DIGITS: usize = 18;
    let (first, last) = interval.split_once('-')?;
    let read = |text: &str| {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let is_short = !text.is_empty() && text.len() <= MAX_DIGITS;
        text.parse::<u64>().ok().filter(|_| is_number && is_short)
    };
    let (one, other) = (read(first)?, read(last)?);
    let (min, max) = (one.min(other), one.max(other));
    let width = (first.len() == last.len()).then_some(first.len());
    let mut parts: Vec<String> = Vec::new();
    let mut start = min;
    while start <= max {
        // The largest block of numbers with the same first digits that begins here.
        let (mut num_free, mut len) = (0, 1_u64);
        while start > 0 && start.is_multiple_of(len * 10) && start + len * 10 - 1 <= max {
            num_free += 1;
            len *= 10;
        }
        let digits = start / len;
        let digits = match width {
            Some(width) => format!("{digits:0>0$}", width - num_free),
            None => digits.to_string(),
        };
        parts.push(digits + &"[0-9]".repeat(num_free));
        start += len;
    }
    let zeros = if width.is_none() { "0*" } else { "" };
    Some(format!("({zeros}({}))", parts.join("|")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_have_their_counterparts() {
        for (lucene, expected) in [
            ("a@", Some("a(.*)")),
            ("a\\@", Some("a@")),
            ("[@<]", Some("[@<]")),
            ("\"a.b<\"c", Some("a\\.b<c")),
            ("a<8-12>", Some("a(0*(8|9|10|11|12))")),
            ("<08-12>", Some("((08|09|10|11|12))")),
            ("<10-39>", Some("((1[0-9]|2[0-9]|3[0-9]))")),
            ("<7-7>", Some("((7))")),
            ("a<b", None),
            ("a~b", None),
            ("a&b", None),
            ("#", None),
            ("^a", None),
            ("\"a", None),
        ] {
            let written = expression("query", lucene, Flags::default());
            assert_eq!(written.as_deref().ok(), expected, "{lucene}");
        }
        let written = expression("query", "a@<~&#", Flags::of(false)).unwrap();
        assert_eq!(written, "a@<~&#");
    }
}
