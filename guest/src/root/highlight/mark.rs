//! Tags around matches.

use std::borrow::Cow;
use std::ops::Range;

use super::words::Match;
use crate::request::{Fragmenter, Marks};

/// Returns a passage of a text with the request's tags around matches.
pub(super) fn marked(
    text: &str,
    passage: Range<usize>,
    matches: &[Match],
    marks: &Marks,
) -> String {
    let (before, behind) = &marks.tags;
    let mut marked = String::new();
    let mut done = passage.start;
    for found in matches {
        let range = found.range.start.max(done)..found.range.end.min(passage.end);
        if range.start >= range.end || found.range.start < passage.start {
            continue;
        }
        let parts = (text.get(done..range.start), text.get(range.clone()));
        if let (Some(plain), Some(found)) = parts {
            let (plain, found) = (escaped(plain, marks), escaped(found, marks));
            marked.extend([&*plain, before, &*found, behind]);
            done = range.end;
        }
    }
    marked.push_str(&escaped(
        text.get(done..passage.end).unwrap_or_default(),
        marks,
    ));
    match marks.fragmenter {
        Fragmenter::Unified => marked.trim().to_owned(),
        Fragmenter::Plain | Fragmenter::Vectors => marked,
    }
}

/// Returns at most this number of characters, up to the end of a word if there is one.
pub(super) fn beginning_of(text: &str, max_chars: usize) -> &str {
    let Some((end, next)) = text.char_indices().nth(max_chars) else {
        return text;
    };
    let cut = text.get(..end).unwrap_or(text);
    let word = match next.is_whitespace() {
        true => None,
        false => cut.rsplit_once(char::is_whitespace),
    };
    word.map_or(cut, |(before, _)| before).trim_end()
}

/// Returns a part of a passage, escaped if the request says so: as Lucene's `SimpleHTMLEncoder` does.
pub(super) fn escaped<'t>(text: &'t str, marks: &Marks) -> Cow<'t, str> {
    let is_special = |c: char| "\"&<>'/".contains(c);
    if !marks.escapes || !text.contains(is_special) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("&quot;"),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\'' => escaped.push_str("&#x27;"),
            '/' => escaped.push_str("&#x2F;"),
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}
