//! Field presence: one hash for each path of a document, so that `exists` is a term query.
//!
//! Only indexed fields that are not fast have one; for a fast field, `exists` uses its column.
//!
//! The hash is FNV-1a over the field's name and the segments inside it, each followed by the byte
//! 0xff, which UTF-8 never contains. Splits contain it: never change it.

use std::borrow::Cow;

use super::json_value::JsonValue;

#[derive(Clone, Copy)]
pub(crate) struct PathHasher(u64);

impl PathHasher {
    pub(crate) fn new(field_name: &str) -> PathHasher {
        PathHasher(0xcbf2_9ce4_8422_2325).segment(field_name)
    }

    pub(crate) fn segment(self, segment: &str) -> PathHasher {
        let bytes = segment.bytes().chain(std::iter::once(0xff));
        PathHasher(bytes.fold(self.0, |hash, b| {
            (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
        }))
    }

    /// Adds a key of a JSON field: one segment, or several if its dots are expanded.
    pub(crate) fn key(self, key: &str, expand_dots: bool) -> PathHasher {
        match expand_dots {
            true => key.split('.').fold(self, PathHasher::segment),
            false => self.segment(key),
        }
    }

    pub(crate) fn finish(self) -> u64 {
        self.0
    }
}

/// Adds the hash of every path inside an object that leads to a value, and of every object on the
/// way. An object without values counts as absent, as in a fast field. Only values that `counts` accepts
/// are values.
pub(crate) fn object_hashes(
    hasher: PathHasher,
    entries: &[(Cow<'_, str>, JsonValue<'_>)],
    expand_dots: bool,
    counts: &dyn Fn(&JsonValue<'_>) -> bool,
    hashes: &mut Vec<u64>,
) {
    let before = hashes.len();
    for (key, value) in entries {
        let before = hashes.len();
        let hasher_of_key = hasher.key(key, expand_dots);
        value_hashes(hasher_of_key, value, expand_dots, counts, hashes);
        if expand_dots && hashes.len() > before {
            for (dot, _) in key.match_indices('.') {
                let part = key.get(..dot).unwrap_or_default();
                hashes.push(hasher.key(part, true).finish());
            }
        }
    }
    if hashes.len() > before {
        hashes.push(hasher.finish());
    }
}

fn value_hashes(
    hasher: PathHasher,
    value: &JsonValue<'_>,
    expand_dots: bool,
    counts: &dyn Fn(&JsonValue<'_>) -> bool,
    hashes: &mut Vec<u64>,
) {
    match value {
        JsonValue::Null => {}
        JsonValue::Object(entries) => object_hashes(hasher, entries, expand_dots, counts, hashes),
        JsonValue::Array(items) => {
            for item in items {
                value_hashes(hasher, item, expand_dots, counts, hashes);
            }
        }
        value if counts(value) => hashes.push(hasher.finish()),
        _ => {}
    }
}
