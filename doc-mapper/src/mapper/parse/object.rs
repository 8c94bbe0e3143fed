//! Keys of an object under a parser, and the unmapped values of several objects as one.

use super::json_value::{Entries, JsonValue};

/// Set of an object's keys seen so far: one bit for each child.
#[derive(Default)]
pub(super) struct Seen {
    first: u64,
    others: Vec<usize>,
}

impl Seen {
    /// Adds a key; returns `false` for a duplicate.
    pub(super) fn insert(&mut self, position: usize) -> bool {
        if position < 64 {
            let bit = 1 << position;
            let new = self.first & bit == 0;
            self.first |= bit;
            return new;
        }
        let new = !self.others.contains(&position);
        if new {
            self.others.push(position);
        }
        new
    }
}

/// Adds the unmapped values of another object in a list. A key of several objects has the values of all.
pub(super) fn add_entries<'de>(all: &mut Entries<'de>, extra: Entries<'de>) {
    for (key, value) in extra {
        match all.iter_mut().find(|(known, _)| *known == key) {
            None => all.push((key, JsonValue::Array(vec![value]))),
            Some((_, JsonValue::Array(values))) => values.push(value),
            Some((_, other)) => {
                let first = std::mem::replace(other, JsonValue::Null);
                *other = JsonValue::Array(vec![first, value]);
            }
        }
    }
}
