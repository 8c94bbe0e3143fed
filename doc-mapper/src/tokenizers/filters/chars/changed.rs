//! A text under change, and the places of its parts in the original.

use std::ops::Range;

/// A text that is being changed.
pub(in crate::tokenizers::filters) struct Changed<'t> {
    source: &'t str,
    text: String,
    shifts: Vec<Shift>,
}

/// Place from which on the text is another part of its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shift {
    /// Place in the text.
    at: usize,
    /// Its place in the source.
    source: usize,
    /// True if all up to the next place is at the same place of the source.
    is_inserted: bool,
}

impl<'t> Changed<'t> {
    pub(in crate::tokenizers::filters) fn of(source: &'t str) -> Self {
        Self {
            source,
            text: String::with_capacity(source.len()),
            shifts: Vec::new(),
        }
    }

    pub(in crate::tokenizers::filters) fn source(&self) -> &'t str {
        self.source
    }

    /// Returns what it has become, and where its parts come from.
    pub(super) fn into_parts(self) -> (String, Vec<Shift>) {
        (self.text, self.shifts)
    }

    /// Returns what it has become.
    pub(in crate::tokenizers::filters) fn into_text(self) -> String {
        self.text
    }

    /// Copies the next part of the source.
    pub(in crate::tokenizers::filters) fn keep(&mut self, range: Range<usize>) {
        self.text
            .push_str(self.source.get(range).unwrap_or_default());
    }

    /// Writes something else for the next part of the source.
    pub(in crate::tokenizers::filters) fn replace(&mut self, range: Range<usize>, by: &str) {
        let begin = self.text.len();
        self.text.push_str(by);
        if by.len() > range.len() {
            let part = self.source.get(range.clone()).unwrap_or_default();
            let last = part.char_indices().next_back();
            self.shifts.push(Shift {
                at: begin + range.len(),
                source: range.start + last.map_or(0, |(at, _)| at),
                is_inserted: true,
            });
        }
        if by.len() != range.len() {
            self.shifts.push(Shift {
                at: self.text.len(),
                source: range.end,
                is_inserted: false,
            });
        }
    }
}

/// Returns the place in the source of a place in a changed text.
pub(super) fn place_in_source(shifts: &[Shift], at: usize) -> usize {
    let behind = shifts.partition_point(|shift| shift.at <= at);
    match behind.checked_sub(1).and_then(|last| shifts.get(last)) {
        None => at,
        Some(shift) if shift.is_inserted => shift.source,
        Some(shift) => shift.source + (at - shift.at),
    }
}
