//! Keys that identify buckets.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::numbers::Number;

/// Key of a bucket. Keys of different kinds are ordered by variant.
///
/// An integer and an equal floating-point number are one key: a dynamic field may have only
/// integers in one split and fractions in the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Key {
    /// Index of a range or filter of the request.
    Place(u32),
    /// Number of a histogram's interval, where interval 0 begins at the offset.
    Interval(i64),
    Number(Number),
    Bool(bool),
    /// Nanoseconds since 1970.
    Date(i64),
    Text(String),
    /// IPv6 address, or the IPv6 form of an IPv4 address.
    Address(u128),
    /// Keys of several fields; `None` for a missing value.
    Tuple(Vec<Option<Key>>),
}

impl Key {
    fn class(&self) -> u8 {
        match self {
            Self::Place(_) => 0,
            Self::Interval(_) => 1,
            Self::Number(_) => 2,
            Self::Bool(_) => 3,
            Self::Date(_) => 4,
            Self::Text(_) => 5,
            Self::Address(_) => 6,
            Self::Tuple(_) => 7,
        }
    }

    /// Returns the heap memory of the key in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.capacity(),
            Self::Tuple(keys) => keys
                .iter()
                .map(|key| size_of::<Option<Self>>() + key.as_ref().map_or(0, Self::heap_bytes))
                .sum(),
            _ => 0,
        }
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Place(left), Self::Place(right)) => left.cmp(right),
            (Self::Interval(left), Self::Interval(right)) => left.cmp(right),
            (Self::Number(left), Self::Number(right)) => left.cmp(right),
            (Self::Bool(left), Self::Bool(right)) => left.cmp(right),
            (Self::Date(left), Self::Date(right)) => left.cmp(right),
            (Self::Text(left), Self::Text(right)) => left.cmp(right),
            (Self::Address(left), Self::Address(right)) => left.cmp(right),
            (Self::Tuple(left), Self::Tuple(right)) => left.cmp(right),
            (left, right) => left.class().cmp(&right.class()),
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
