//! How long a value is in the text of a query, as tantivy's grammar cuts it; and the ends of ranges in quotes, as in
//! `time:["2016-04-13 08:00" TO *]`, which that grammar does not know.
//!
//! An end in quotes is handed to the grammar without them, with a mark in front, and with other characters in the place of
//! those that would end it; in what was parsed these are put back.

use std::ops::Range;

use tantivy_query_grammar::UserInputBound;

/// Stands before a bound that was in quotes: with it, `*` is a text, and what stands for other characters does so. No text
/// begins with it: Unicode sets it aside for programs.
pub(super) const QUOTED: char = '\u{FDDF}';

/// Characters that end a bound or cannot begin one, and what stands for each. No text has these: Unicode sets them aside
/// for programs.
const STAND_INS: [(char, char); 14] = [
    (' ', '\u{FDD1}'),
    ('{', '\u{FDD2}'),
    ('}', '\u{FDD3}'),
    ('[', '\u{FDD4}'),
    (']', '\u{FDD5}'),
    ('(', '\u{FDD6}'),
    (')', '\u{FDD7}'),
    ('"', '\u{FDD8}'),
    ('`', '\u{FDD9}'),
    ('\t', '\u{FDDA}'),
    ('\n', '\u{FDDB}'),
    ('\r', '\u{FDDC}'),
    ('\u{A0}', '\u{FDDD}'),
    ('\u{3000}', '\u{FDDE}'),
];

/// What stands for a character in a bound that was in quotes.
pub(super) fn stand_in(c: char) -> char {
    let found = STAND_INS.iter().find(|(meant, _)| *meant == c);
    found.map_or(c, |(_, stand_in)| *stand_in)
}

/// Makes a bound what it was in the query: puts back what others stand for if it was in quotes. Without them, `*` is no
/// bound.
pub(super) fn put_back(bound: &mut UserInputBound) {
    let (UserInputBound::Inclusive(text) | UserInputBound::Exclusive(text)) = bound else {
        return;
    };
    if text.starts_with(QUOTED) {
        text.remove(0);
        for (meant, stand_in) in STAND_INS {
            if text.contains(stand_in) {
                *text = text.replace(stand_in, meant.encode_utf8(&mut [0; 4]));
            }
        }
    } else if *text == "*" {
        *bound = UserInputBound::Unbounded;
    }
}

/// Where something stands in quotes in a range.
pub(super) fn quoted_in(range: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = range[at..].find('"') {
        let start = at + next;
        let Some(len) = len_of_quoted(&range[start..], '"') else {
            break;
        };
        at = start + len;
        found.push(start..at);
    }
    found
}

/// What ends a word.
fn ends_word(c: char) -> bool {
    c.is_whitespace() || "^`:{}\"'[]()\\".contains(c)
}

/// What can be no part of a bound of a range.
fn ends_bound(c: char) -> bool {
    c.is_whitespace() || "{}\"[]()".contains(c)
}

/// `[a TO "b c"}`.
pub(super) fn len_of_range(text: &str) -> Option<usize> {
    let mut at = 1;
    loop {
        at += text[at..].find(['[', '{', ']', '}', '(', ')', '"'])?;
        match text[at..].chars().next()? {
            '"' => at += len_of_quoted(&text[at..], '"')?,
            ']' | '}' => return Some(at + 1),
            _ => return None,
        }
    }
}

/// `>= a`.
pub(super) fn len_of_half_range(text: &str) -> Option<usize> {
    let sign = if text[1..].starts_with('=') { 2 } else { 1 };
    let bound = text[sign..].trim_start();
    let start = text.len() - bound.len();
    let end = match bound.starts_with('"') {
        true => len_of_quoted(bound, '"')?,
        false => bound.find(ends_bound).unwrap_or(bound.len()),
    };
    (end > 0).then_some(start + end)
}

/// From a quote to the same quote; a backslash takes the next character with it.
pub(super) fn len_of_quoted(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()?),
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// From a slash to the next that has no backslash before it, if an end of a leaf follows.
pub(super) fn len_of_regex(text: &str) -> Option<usize> {
    let mut before = '/';
    for (at, c) in text.char_indices().skip(1) {
        if c == '/' && before != '\\' {
            let after = text[at + 1..].chars().next();
            let is_over = after.is_none_or(|c| c.is_whitespace() || c == ')' || c == '^');
            return (is_over && at > 1).then_some(at + 1);
        }
        before = c;
    }
    None
}

/// `IN [a "b c" d]`.
pub(super) fn len_of_set(text: &str) -> Option<usize> {
    let after = text.strip_prefix("IN")?;
    let mut rest = after.trim_start().strip_prefix('[')?.trim_start();
    while !rest.starts_with(']') {
        let first = rest.chars().next()?;
        let len = match first {
            '"' | '\'' => len_of_quoted(rest, first)?,
            _ => len_of_word(rest)?,
        };
        rest = rest[len..].trim_start();
    }
    Some(text.len() - rest.len() + 1)
}

pub(super) fn len_of_word(text: &str) -> Option<usize> {
    let mut end = 0;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        end = match c {
            '\\' => {
                let (at, escaped) = chars.next()?;
                at + escaped.len_utf8()
            }
            c if ends_word(c) => break,
            c => at + c.len_utf8(),
        };
    }
    (end > 0).then_some(end)
}

#[cfg(test)]
mod tests {
    use tantivy_query_grammar::UserInputLeaf;

    use super::*;
    use crate::limits::Limits;
    use crate::query::grammar::parse_query;
    use crate::query::tree::{Leaf, QueryNode};

    #[test]
    fn a_bound_is_what_it_says() {
        let included = |text: &str| UserInputBound::Inclusive(text.to_owned());
        let excluded = |text: &str| UserInputBound::Exclusive(text.to_owned());
        let open = || UserInputBound::Unbounded;
        for (query, lower, upper) in [
            ("x:[* TO b]", open(), included("b")),
            ("x:>=*", open(), open()),
            // In quotes, a star is one.
            ("x:[\"*\" TO \"b c\"}", included("*"), excluded("b c")),
            ("x:{* TO \"*\"}", open(), excluded("*")),
            ("x:>=\"*\"", included("*"), open()),
            ("x:[\"\" TO b]", included(""), included("b")),
            (
                "x:[\"-1 a\" TO \"(\\\"]\"]",
                included("-1 a"),
                included("(\"]"),
            ),
            // What stands for others in quotes is itself without them.
            (
                "x:[a\u{FDD1}b TO \u{FDD6}]",
                included("a\u{FDD1}b"),
                included("\u{FDD6}"),
            ),
        ] {
            let QueryNode::Leaf(Leaf::Text(UserInputLeaf::Range {
                lower: found_lower,
                upper: found_upper,
                ..
            })) = parse_query(query, &Limits::default()).unwrap()
            else {
                panic!("{query}");
            };
            assert_eq!((found_lower, found_upper), (lower, upper), "{query}");
        }
    }
}
