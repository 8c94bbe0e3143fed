//! Where passages begin and end.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation as _;

use super::words::Match;
use crate::request::{Boundary, Fragmenter, Marks};

/// Returns the passages of a text with matches, in order. Lengths are in characters.
pub(super) fn passages(
    text: &str,
    matches: &[Match],
    ends: &[usize],
    marks: &Marks,
) -> Vec<Range<usize>> {
    if marks.num_passages == 0 || matches.is_empty() {
        return std::iter::once(0..text.len()).collect();
    }
    match (&marks.fragmenter, &marks.boundary) {
        (Fragmenter::Plain, _) => by_words(text, matches, ends, marks.max_chars),
        (_, Boundary::Characters { .. }) => around(text, matches, marks),
        (_, Boundary::Word) => {
            let bounds = text.split_word_bound_indices().map(|(at, _)| at);
            scanned(matches, &bounds_of(text, bounds), None, text)
        }
        (_, Boundary::Sentence) => {
            let bounds = text.split_sentence_bound_indices().map(|(at, _)| at);
            let most = Some(marks.max_chars).filter(|most| *most > 0);
            scanned(matches, &bounds_of(text, bounds), most, text)
        }
    }
}

/// Returns boundaries together with the end of the text, in ascending order.
fn bounds_of(text: &str, bounds: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut bounds: Vec<usize> = bounds.collect();
    bounds.push(text.len());
    bounds.dedup();
    bounds
}

fn num_chars(text: &str, range: Range<usize>) -> usize {
    text.get(range).map_or(0, |part| part.chars().count())
}

/// Returns the largest boundary up to `at`.
fn before(bounds: &[usize], at: usize) -> usize {
    let place = bounds.partition_point(|bound| *bound <= at);
    let found = place.checked_sub(1).and_then(|place| bounds.get(place));
    found.copied().unwrap_or(0)
}

/// Returns the smallest boundary above `at`.
fn behind(bounds: &[usize], at: usize) -> Option<usize> {
    bounds
        .get(bounds.partition_point(|bound| *bound <= at))
        .copied()
}

/// Returns the place in a text that is a number of characters before `at`.
fn back(text: &str, at: usize, num_chars: usize) -> usize {
    let chars = text.get(..at).unwrap_or_default().char_indices().rev();
    let chars = chars.map(|(at, _)| at).take(num_chars);
    chars.last().unwrap_or(at)
}

/// Returns the place in a text that is a number of characters behind `at`.
fn forward(text: &str, at: usize, num_chars: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let place = rest.char_indices().nth(num_chars);
    place.map_or(text.len(), |(place, _)| at + place)
}

/// Cuts at boundaries: a passage begins at the one before a match, and takes in what follows as long as it is no longer
/// than `most`. What is longer between two boundaries is cut at words around the match.
fn scanned(
    matches: &[Match],
    bounds: &[usize],
    most: Option<usize>,
    text: &str,
) -> Vec<Range<usize>> {
    let mut words: Option<Vec<usize>> = None;
    let mut passages: Vec<Range<usize>> = Vec::new();
    for found in matches {
        let at = found.range.start;
        if let Some(last) = passages.last_mut()
            && at < last.end
        {
            last.end = last.end.max(found.range.end);
            continue;
        }
        let mut start = before(bounds, at);
        let mut end = behind(bounds, at).unwrap_or(text.len());
        if let Some(most) = most {
            while num_chars(text, start..end) < most {
                match behind(bounds, end) {
                    Some(next) if num_chars(text, start..next) <= most => end = next,
                    _ => break,
                }
            }
            if num_chars(text, start..end) > most {
                let words = words.get_or_insert_with(|| {
                    bounds_of(text, text.split_word_bound_indices().map(|(at, _)| at))
                });
                let whole_end = end;
                if num_chars(text, start..at) >= most {
                    start = start.max(before(words, back(text, at, most)));
                }
                let rest = most.saturating_sub(num_chars(text, start..at));
                let wanted = forward(text, at, rest);
                if wanted < whole_end {
                    let at_word = match words.binary_search(&wanted) {
                        Ok(_) => Some(wanted),
                        Err(_) => behind(words, wanted),
                    };
                    end = at_word.unwrap_or(whole_end).min(whole_end);
                }
            }
        }
        // A passage never begins inside the one before.
        start = start.max(passages.last().map_or(0, |last| last.end));
        passages.push(start..end.max(found.range.end));
    }
    passages
}

/// Cuts before the word with which a multiple of `most` characters is reached. Returns the passages with matches.
fn by_words(text: &str, matches: &[Match], ends: &[usize], most: usize) -> Vec<Range<usize>> {
    let mut passages = Vec::new();
    let (mut start, mut limit, mut done, mut num_done) = (0, most, 0, 0);
    for end in ends {
        num_done += num_chars(text, done..(*end).max(done));
        if num_done >= limit && most > 0 {
            passages.push(start..done);
            start = done;
            limit = limit.saturating_add(most);
        }
        done = (*end).max(done);
    }
    passages.push(start..text.len());
    passages.retain(|passage| {
        matches
            .iter()
            .any(|found| passage.contains(&found.range.start))
    });
    passages
}

/// Cuts around matches, at certain characters if there are some near.
fn around(text: &str, matches: &[Match], marks: &Marks) -> Vec<Range<usize>> {
    let (bounds, most_scanned) = match &marks.boundary {
        Boundary::Characters { characters, most } => (characters.as_str(), *most),
        Boundary::Word | Boundary::Sentence => ("", 0),
    };
    let is_bound = |c: char| bounds.contains(c);
    let most = marks.max_chars;
    let mut passages: Vec<Range<usize>> = Vec::new();
    for found in matches {
        if let Some(last) = passages.last_mut()
            && found.range.start < last.end
        {
            last.end = last.end.max(found.range.end);
            continue;
        }
        let len = num_chars(text, found.range.clone());
        let margin = most.saturating_sub(len) / 2;
        let least = passages.last().map_or(0, |last| last.end);
        let start = back(text, found.range.start, margin).max(least);
        let scanned = back(text, start, most_scanned).max(least);
        let part = text.get(scanned..start).unwrap_or_default();
        let start = match part.char_indices().rev().find(|(_, c)| is_bound(*c)) {
            Some((at, c)) => scanned + at + c.len_utf8(),
            None if scanned == 0 => 0,
            None => start,
        };
        let end = forward(text, start, most).max(found.range.end);
        let scanned = forward(text, end, most_scanned);
        let part = text.get(end..scanned).unwrap_or_default();
        let end = match part.find(is_bound) {
            Some(at) => end + at,
            None if scanned == text.len() => text.len(),
            None => end,
        };
        passages.push(start..end);
    }
    passages
}
