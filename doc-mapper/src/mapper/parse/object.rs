//! Keys of an object under a parser, and the unmapped values of several objects as one.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, Visitor};

use super::json_value::{Entries, JsonValue};
use crate::mapper::tree::ObjectNode;

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

/// Seed for a key of a mapped object: found without a copy, or stored if it is unmapped.
pub(super) struct KeySeed<'m> {
    pub(super) node: &'m ObjectNode,
    pub(super) guess: usize,
}

pub(super) enum Key<'de> {
    Mapped(usize),
    Other(Cow<'de, str>),
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Key<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Key<'de>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeySeed<'_> {
    type Value = Key<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<Key<'de>, E> {
        Ok(self
            .node
            .find_key(key, self.guess)
            .map_or(Key::Other(Cow::Borrowed(key)), Key::Mapped))
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Key<'de>, E> {
        let found = self.node.find_key(key, self.guess);
        Ok(found.map_or_else(|| Key::Other(Cow::Owned(key.to_string())), Key::Mapped))
    }
}
