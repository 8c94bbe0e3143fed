//! Field presence: a hash per path a document has, so that `exists` is a term query.
//!
//! Only indexed fields that are not fast have one; a fast field answers `exists` from its column.
//!
//! The hash is FNV-1a over the field's name and the segments inside it, each followed by the byte 0xff,
//! which UTF-8 never has. It is written in splits: never change it.

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

    pub(crate) fn finish(self) -> u64 {
        self.0
    }
}

/// Adds the hash of every path inside an object that leads to a value, and of every object on the way.
pub(crate) fn object_hashes(
    hasher: PathHasher,
    entries: &[(std::borrow::Cow<'_, str>, JsonValue<'_>)],
    expand_dots: bool,
    hashes: &mut Vec<u64>,
) {
    hashes.push(hasher.finish());
    for (key, value) in entries {
        if value.is_null() {
            continue;
        }
        let mut inner = hasher;
        if expand_dots {
            for segment in key.split('.') {
                inner = inner.segment(segment);
                hashes.push(inner.finish());
            }
        } else {
            inner = inner.segment(key);
        }
        value_hashes(inner, value, expand_dots, hashes);
    }
}

fn value_hashes(
    hasher: PathHasher,
    value: &JsonValue<'_>,
    expand_dots: bool,
    hashes: &mut Vec<u64>,
) {
    match value {
        JsonValue::Null => {}
        JsonValue::Object(entries) => object_hashes(hasher, entries, expand_dots, hashes),
        JsonValue::Array(items) => {
            for item in items {
                value_hashes(hasher, item, expand_dots, hashes);
            }
        }
        _ => hashes.push(hasher.finish()),
    }
}
