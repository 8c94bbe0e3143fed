//! Parser of values of any shape: `json` fields, unmapped keys, and ignored values.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::datetime;
use crate::documents::doc_error::{DocError, DocErrorReason};
use crate::field_path::escape_segment;
use crate::mapper::parse::convert::positive_zero;
use crate::mapper::parse::json_value::{Entries, JsonValue};
use crate::mapper::parse::walk::{MAX_DEPTH, Walk};

/// Location of a value, used only for errors.
pub(in crate::mapper) struct PathLink<'p> {
    pub(in crate::mapper) parent: Option<&'p PathLink<'p>>,
    /// Escaped path from which the links start.
    pub(in crate::mapper) root: &'p str,
    /// Key; empty for the root itself.
    pub(in crate::mapper) key: &'p str,
}

impl PathLink<'_> {
    fn path(&self) -> String {
        let parent = self
            .parent
            .map_or_else(|| self.root.to_string(), PathLink::path);
        match (parent.as_str(), self.key) {
            (_, "") => parent,
            ("", key) => escape_segment(key),
            (_, key) => format!("{parent}.{}", escape_segment(key)),
        }
    }
}

/// Returns a duplicate key. Few entries are compared in place, many through a set.
pub(in crate::mapper) fn duplicate<'e>(entries: &'e Entries<'_>) -> Option<&'e str> {
    const FEW: usize = 16;
    if entries.len() <= FEW {
        let twice = entries
            .iter()
            .enumerate()
            .find(|(i, (key, _))| entries.iter().take(*i).any(|(earlier, _)| earlier == key));
        return twice.map(|(_, (key, _))| key.as_ref());
    }
    let mut seen = HashSet::with_capacity(entries.len());
    entries
        .iter()
        .map(|(key, _)| key.as_ref())
        .find(|key| !seen.insert(*key))
}

fn too_deep(path: String) -> DocError {
    let message = format!("objects and arrays nest deeper than {MAX_DEPTH} levels");
    DocError::new(DocErrorReason::TooDeep, path, message)
}

/// Seed for a value of any shape that is stored. `depth` is that of the containing object.
pub(in crate::mapper) struct JsonSeed<'w, 'm, 'p> {
    pub(in crate::mapper) walk: &'w mut Walk<'m>,
    pub(in crate::mapper) path: &'p PathLink<'p>,
    pub(in crate::mapper) depth: u32,
}

impl<'de> DeserializeSeed<'de> for JsonSeed<'_, '_, '_> {
    type Value = JsonValue<'de>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<JsonValue<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonSeed<'_, '_, '_> {
    type Value = JsonValue<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<JsonValue<'de>, E> {
        Ok(JsonValue::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<JsonValue<'de>, E> {
        Ok(JsonValue::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<JsonValue<'de>, E> {
        Ok(JsonValue::I64(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<JsonValue<'de>, E> {
        Ok(i64::try_from(value).map_or(JsonValue::U64(value), JsonValue::I64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<JsonValue<'de>, E> {
        Ok(JsonValue::F64(positive_zero(value)))
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<JsonValue<'de>, E> {
        let inferred = self.walk.infer(value);
        Ok(inferred.unwrap_or(JsonValue::Str(Cow::Borrowed(value))))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<JsonValue<'de>, E> {
        let inferred = self.walk.infer(value);
        Ok(inferred.unwrap_or_else(|| JsonValue::Str(Cow::Owned(value.to_string()))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<JsonValue<'de>, A::Error> {
        let JsonSeed { walk, path, depth } = self;
        if depth >= MAX_DEPTH {
            return Err(walk.fail(too_deep(path.path())));
        }
        walk.deepest = walk.deepest.max(depth + 1);
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(JsonSeed {
            walk,
            path,
            depth: depth + 1,
        })? {
            items.push(item);
        }
        Ok(JsonValue::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonValue<'de>, A::Error> {
        let JsonSeed { walk, path, depth } = self;
        if depth >= MAX_DEPTH {
            return Err(walk.fail(too_deep(path.path())));
        }
        walk.deepest = walk.deepest.max(depth + 1);
        let mut entries: Entries<'de> = Vec::new();
        while let Some(key) = map.next_key_seed(CowSeed)? {
            let link = PathLink {
                parent: Some(path),
                root: "",
                key: &key,
            };
            let value = map.next_value_seed(JsonSeed {
                walk,
                path: &link,
                depth: depth + 1,
            })?;
            entries.push((key, value));
        }
        if let Some(key) = duplicate(&entries) {
            let link = PathLink {
                parent: Some(path),
                root: "",
                key,
            };
            let message = "the key appears twice in one object";
            return Err(walk.fail(DocError::new(
                DocErrorReason::DuplicateKey,
                link.path(),
                message,
            )));
        }
        Ok(JsonValue::Object(entries))
    }
}

impl Walk<'_> {
    /// Parses a date or, where the mapping says so, a number among values of any shape.
    fn infer<'de>(&self, text: &str) -> Option<JsonValue<'de>> {
        let (detects_dates, detects_numbers) = self.mapper.detects;
        let whole = || Some(JsonValue::I64(text.parse().ok()?));
        let number = || {
            let number: f64 = text.parse().ok()?;
            number
                .is_finite()
                .then(|| JsonValue::F64(positive_zero(number)))
        };
        if detects_numbers && let Some(number) = whole().or_else(number) {
            return Some(number);
        }
        let day = || self.mapper.coerces.then(|| datetime::infer_day(text))?;
        let date = || datetime::infer_date(text).or_else(day);
        let date = detects_dates.then(date)?;
        date.map(JsonValue::Date)
    }
}

/// Seed for a key, borrowed from the line unless it has escapes.
struct CowSeed;

impl<'de> DeserializeSeed<'de> for CowSeed {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for CowSeed {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(key))
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(key.to_string()))
    }
}

/// Seed for an ignored value, whose syntax and depth are still checked.
pub(in crate::mapper) struct SkipSeed<'w, 'm, 'k> {
    pub(in crate::mapper) walk: &'w mut Walk<'m>,
    pub(in crate::mapper) key: &'k str,
    pub(in crate::mapper) depth: u32,
}

impl<'de> DeserializeSeed<'de> for SkipSeed<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for SkipSeed<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        skip_seq(self.walk, self.key, self.depth, seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        skip_map(self.walk, self.key, self.depth, map)
    }
}

/// Goes past an array whose bracket has been read, at `depth`.
pub(in crate::mapper) fn skip_seq<'de, A: SeqAccess<'de>>(
    walk: &mut Walk<'_>,
    key: &str,
    depth: u32,
    mut seq: A,
) -> Result<(), A::Error> {
    if depth >= MAX_DEPTH {
        return Err(walk.fail(too_deep(escape_segment(key))));
    }
    while let Some(()) = seq.next_element_seed(SkipSeed {
        walk,
        key,
        depth: depth + 1,
    })? {}
    Ok(())
}

/// Returns the same for an object.
pub(in crate::mapper) fn skip_map<'de, A: MapAccess<'de>>(
    walk: &mut Walk<'_>,
    key: &str,
    depth: u32,
    mut map: A,
) -> Result<(), A::Error> {
    if depth >= MAX_DEPTH {
        return Err(walk.fail(too_deep(escape_segment(key))));
    }
    while let Some(IgnoredAny) = map.next_key()? {
        map.next_value_seed(SkipSeed {
            walk,
            key,
            depth: depth + 1,
        })?;
    }
    Ok(())
}
