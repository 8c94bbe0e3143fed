//! Parts of a line: where each begins and ends.

use std::ops::Range;

use super::class::{is_id, is_source};
use super::compound::logcat;
use super::cuts::{
    before_bracket, before_date, before_semicolon, behind_bracket, level_and_name,
    level_before_comma, opens_before_date, opens_before_time, processor,
};
use crate::log_line::level;

/// One part, and where the next one begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::log_line) struct Element {
    /// `[`, `(` or `<` of a group.
    pub(in crate::log_line) open: Option<u8>,
    /// Without brackets and what closes it.
    pub(in crate::log_line) inside: Range<usize>,
    /// Whether a `:`, `,`, `]` or the like closes it.
    pub(in crate::log_line) tail: Option<u8>,
    /// Whether it ends as columns do: at two spaces, a tab, a `|` or the line's end.
    pub(in crate::log_line) is_column: bool,
    /// Behind it and the space that follows.
    pub(in crate::log_line) next: usize,
}

fn at(text: &[u8], place: usize) -> Option<u8> {
    text.get(place).copied()
}

pub(in crate::log_line) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Passes white space.
pub(in crate::log_line) fn after_space(text: &[u8], place: usize) -> usize {
    let rest = text.get(place..).unwrap_or_default();
    place + rest.iter().take_while(|byte| is_space(**byte)).count()
}

fn closing(open: u8) -> u8 {
    match open {
        b'[' => b']',
        b'(' => b')',
        b'{' => b'}',
        _ => b'>',
    }
}

/// A group is given up behind so many bytes.
const LONGEST_GROUP: usize = 200;

/// The element that begins at a place, where no white space is. Nothing at the end, or before a quote or a
/// brace: those begin what people are told.
pub(in crate::log_line) fn element(text: &[u8], place: usize) -> Option<Element> {
    let first = at(text, place)?;
    if matches!(first, b'"' | b'\'' | b'`') {
        return None;
    }
    if first == b'{' {
        return braced(text, place);
    }
    if first == b'['
        && let Some(end) = opens_before_date(text, place)
    {
        return Some(ended(text, None, place + 1..end, end));
    }
    if let Some(inside) = logcat(text, place) {
        let end = inside.end + 1;
        return Some(ended(text, None, inside.start..end, end));
    }
    if first == b'[' && opens_before_time(text, place) {
        return Some(ended(text, None, place..place + 1, place + 1));
    }
    if matches!(first, b'[' | b'(' | b'<')
        && let Some(end) = group_end(text, place, first)
    {
        let inside = trimmed(text, place + 1, end);
        return Some(ended(text, Some(first), inside, end + 1));
    }
    if first == b'|' {
        return Some(ended(text, None, place..place + 1, place + 1));
    }
    let rest = text.get(place..)?;
    let is_end = |byte: &u8| is_space(*byte) || *byte == b'|';
    let len = rest.iter().position(is_end).unwrap_or(rest.len());
    let cut = before_date(rest, len)
        .or_else(|| level_and_name(rest, len))
        .or_else(|| before_bracket(rest, len))
        .or_else(|| behind_bracket(rest, len))
        .or_else(|| processor(rest, len))
        .or_else(|| before_semicolon(rest, len))
        .or_else(|| level_before_comma(rest, len));
    let len = cut.unwrap_or(len);
    Some(ended(text, None, place..place + len, place + len))
}

/// `{main.py:12}`, `{a1b2-…}`: a source or an id. Other braces begin objects.
fn braced(text: &[u8], place: usize) -> Option<Element> {
    let end = group_end(text, place, b'{')?;
    let inside = text.get(place + 1..end)?;
    // `{}` is an id that is missing.
    let is_number = inside
        .iter()
        .all(|byte| byte.is_ascii_digit() || *byte == b'-');
    // `{40 vars in 700 bytes}`, as uWSGI writes it.
    let is_count = inside.first().is_some_and(u8::is_ascii_digit)
        && inside
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b' ');
    // `{my-query-7} <Information>`, as ClickHouse writes what its clients call a query.
    let is_query = text.get(end + 1..end + 3) == Some(b" <")
        && inside
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(byte));
    let is_it = is_source(inside) || is_id(inside) || is_number || is_count || is_query;
    is_it.then(|| ended(text, Some(b'{'), place + 1..end, end + 1))
}

/// Text in quotes: it may stand before a time, and begins what people are told behind one.
pub(in crate::log_line) fn quoted(text: &[u8], place: usize) -> Option<Element> {
    let rest = text.get(place..)?.strip_prefix(b"\"")?;
    let is_end = |byte: &u8| matches!(byte, b'"' | b'\n');
    let len = rest.iter().take(LONGEST_GROUP).position(is_end)?;
    let is_whole = rest.get(len) == Some(&b'"');
    is_whole.then(|| {
        ended(
            text,
            Some(b'"'),
            place + 1..place + 1 + len,
            place + len + 2,
        )
    })
}

fn trimmed(text: &[u8], start: usize, end: usize) -> Range<usize> {
    let inside = text.get(start..end).unwrap_or_default();
    let from = inside.len() - inside.trim_ascii_start().len();
    start + from..start + from + inside.trim_ascii().len()
}

/// Where a group's bracket closes, those within it counted.
fn group_end(text: &[u8], place: usize, open: u8) -> Option<usize> {
    let close = closing(open);
    let mut depth = 0_usize;
    let rest = text.get(place..)?.iter().take(LONGEST_GROUP).enumerate();
    for (len, byte) in rest {
        match *byte {
            byte if byte == open => depth += 1,
            byte if byte == close => {
                depth -= 1;
                if depth == 0 {
                    return Some(place + len);
                }
            }
            b'\n' => return None,
            _ => {}
        }
    }
    None
}

/// Looks at what closes an element, and what follows.
fn ended(text: &[u8], open: Option<u8>, inside: Range<usize>, end: usize) -> Element {
    let mut element = Element {
        open,
        inside,
        tail: None,
        is_column: false,
        next: end,
    };
    match open {
        None => cut_tail(text, &mut element),
        Some(_) => {
            if let Some(tail @ (b':' | b',')) = at(text, end) {
                element.tail = Some(tail);
                element.next = end + 1;
            }
        }
    }
    let mut next = after_space(text, element.next);
    // `libc    : text`, as logcat fills up its tags.
    let is_padded = open.is_none()
        && element.tail.is_none()
        && next > element.next
        && at(text, element.inside.start).is_some_and(|byte| byte.is_ascii_alphabetic())
        && text.get(next..next + 2) == Some(b": ");
    if is_padded {
        element.tail = Some(b':');
        element.next = next + 1;
        next = after_space(text, element.next);
    }
    let gap = text.get(element.next..next).unwrap_or_default();
    element.is_column = gap.len() >= 2 || gap.iter().any(|b| matches!(b, b'\t' | b'\n'));
    element.next = next;
    let is_bar = open.is_none() && at(text, element.inside.start) == Some(b'|');
    if !is_bar && at(text, next) == Some(b'|') {
        element.is_column = true;
        element.next = after_space(text, next + 1);
    }
    element
}

/// `name:` → `name`, `1234]` → `1234`: a bracket that was not opened in the word closes it.
fn cut_tail(text: &[u8], element: &mut Element) {
    let word = text.get(element.inside.clone()).unwrap_or_default();
    let Some((last, before)) = word.split_last().filter(|(_, before)| !before.is_empty()) else {
        return;
    };
    if !before.iter().any(u8::is_ascii_alphanumeric) {
        return;
    }
    let is_level =
        |word: &[u8]| word.iter().all(u8::is_ascii_uppercase) && level::sureness(word).is_some();
    // `*INFO*`, as Sling writes it.
    if let [b'*', level @ .., b'*'] = word
        && is_level(level)
    {
        element.tail = Some(*last);
        element.inside.start += 1;
        element.inside.end -= 1;
        return;
    }
    let is_tail = match *last {
        b':' | b',' | b';' => true,
        b']' => !before.contains(&b'['),
        b')' => !before.contains(&b'('),
        // `INFO>`, as Log4perl's users write it.
        b'>' => is_level(before),
        _ => false,
    };
    if is_tail {
        element.tail = Some(*last);
        element.inside.end -= 1;
        // `main.go:12]:`.
        let is_bracket = *last == b':' && before.last() == Some(&b']') && !before.contains(&b'[');
        element.inside.end -= usize::from(is_bracket);
    }
    // `=INFO REPORT====`.
    let signs = before.iter().take_while(|byte| **byte == b'=').count();
    element.inside.start += signs;
}
