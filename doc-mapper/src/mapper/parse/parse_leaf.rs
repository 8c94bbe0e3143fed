//! Parser of the value of a mapped field: a scalar, an array of scalars, or the object of a `json`
//! field.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::walk::Walk;
use crate::config::FieldKind;
use crate::datetime::DateInput;
use crate::documents::doc_error::DocErrorReason;
use crate::mapper::parse::convert::in_place_of_null;
use crate::mapper::parse::leaf::{Scalar, refuse};
use crate::mapper::parse::parse_json::{JsonSeed, PathLink, skip_map, skip_seq};
use crate::mapper::tree::Leaf;

/// Seed for the value of a mapped field.
pub(in crate::mapper) struct LeafSeed<'w, 'm> {
    pub(in crate::mapper) walk: &'w mut Walk<'m>,
    pub(in crate::mapper) leaf: &'m Leaf,
    /// Depth of the containing object.
    pub(in crate::mapper) depth: u32,
}

impl<'de> DeserializeSeed<'de> for LeafSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match &self.leaf.kind {
            FieldKind::GeoPoint(kind) => self.add_places(*kind, deserializer),
            FieldKind::Text(text) if text.completion.is_some() => {
                self.keep_completion(deserializer)
            }
            FieldKind::Range(kind) => self.add_spans(kind, deserializer),
            FieldKind::Vector(kind) => self.add_vector(*kind, deserializer),
            FieldKind::Date(_) if reads_numbers(self.leaf) => self.add_date(deserializer),
            _ => deserializer.deserialize_any(self),
        }
    }
}

impl LeafSeed<'_, '_> {
    #[inline]
    fn add<E: Error>(self, scalar: Scalar<'_>) -> Result<(), E> {
        let LeafSeed { walk, leaf, .. } = self;
        add_to(walk, leaf, scalar)?;
        let mut subs = leaf.subs.iter();
        subs.try_for_each(|(_, own)| add_to(walk, own, scalar))
    }

    /// Adds a date, whose number is read with all of its digits.
    fn add_date<'de, D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        let json = <&RawValue>::deserialize(deserializer)?.get();
        let is_decimal = is_number(json) && json.contains(['.', 'e', 'E']);
        match json.parse() {
            Ok(number) if is_decimal => self.add_decimal(json, number),
            _ => serde_json::Deserializer::from_str(json)
                .deserialize_any(self)
                .map_err(D::Error::custom),
        }
    }

    fn add_decimal<E: Error>(self, json: &str, number: f64) -> Result<(), E> {
        let LeafSeed { walk, leaf, .. } = self;
        add_to(walk, leaf, Scalar::Decimal(json, number))?;
        leaf.subs.iter().try_for_each(|(_, own)| {
            let scalar = match own.kind {
                FieldKind::Date(_) => Scalar::Decimal(json, number),
                _ => Scalar::F64(number),
            };
            add_to(walk, own, scalar)
        })
    }

    /// Adds the values in place of `null`: each field has its own, or none.
    fn add_null<E: Error>(self) -> Result<(), E> {
        let LeafSeed { walk, leaf, .. } = self;
        let subs = leaf.subs.iter().map(|(_, own)| own);
        for leaf in std::iter::once(leaf).chain(subs) {
            let Some(value) = &leaf.null_value else {
                continue;
            };
            let value = in_place_of_null(leaf, value);
            match walk.add_substitute(leaf, value) {
                Ok(()) => {}
                Err(_) if leaf.ignores_malformed => walk.ignore_scalar(leaf, value),
                Err(error) => return Err(walk.fail(error)),
            }
        }
        Ok(())
    }

    /// Notes that a value is ignored that was skipped, or refuses it.
    fn no_scalar<E: Error>(self, got: &str) -> Result<(), E> {
        if self.leaf.ignores_malformed {
            self.walk.ignored.push(&self.leaf.path);
            return Ok(());
        }
        let reason = match &self.leaf.kind {
            FieldKind::Date(_) if self.leaf.is_timestamp => DocErrorReason::BadTimestamp,
            _ => DocErrorReason::WrongType,
        };
        Err(self.walk.fail(refuse(self.leaf, reason, got)))
    }
}

/// Returns whether a field has dates that may be numbers.
fn reads_numbers(leaf: &Leaf) -> bool {
    match &leaf.kind {
        FieldKind::Date(date) => date.input_formats.iter().any(DateInput::reads_numbers),
        _ => false,
    }
}

fn is_number(json: &str) -> bool {
    json.starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

/// Adds a value to a field, which may ignore a malformed one.
#[inline]
fn add_to<'m, E: Error>(walk: &mut Walk<'m>, leaf: &'m Leaf, scalar: Scalar<'_>) -> Result<(), E> {
    match walk.add_scalar(leaf, scalar) {
        Ok(()) => Ok(()),
        Err(_) if leaf.ignores_malformed => {
            walk.ignore_scalar(leaf, scalar);
            Ok(())
        }
        Err(error) => Err(walk.fail(error)),
    }
}

impl<'de> Visitor<'de> for LeafSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.add_null()
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.add(Scalar::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.add(Scalar::I64(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.add(i64::try_from(value).map_or(Scalar::U64(value), Scalar::I64))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.add(Scalar::F64(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.add(Scalar::Str(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let LeafSeed { walk, leaf, depth } = self;
        if !leaf.multi_valued {
            let got = "an array (arrays need the type array<…>)";
            if leaf.ignores_malformed {
                skip_seq(walk, &leaf.path, depth, seq)?;
            }
            return LeafSeed { walk, leaf, depth }.no_scalar(got);
        }
        // A nested array would be flattened, so it is refused.
        while let Some(()) = seq.next_element_seed(ElementSeed(LeafSeed {
            walk,
            leaf,
            depth: depth + 1,
        }))? {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        let LeafSeed { walk, leaf, depth } = self;
        if !matches!(leaf.kind, FieldKind::Json(_)) {
            if leaf.ignores_malformed {
                skip_map(walk, &leaf.path, depth, map)?;
            }
            return LeafSeed { walk, leaf, depth }.no_scalar("an object");
        }
        let link = PathLink {
            parent: None,
            root: &leaf.path,
            key: "",
        };
        let value = JsonSeed {
            walk,
            path: &link,
            depth,
        }
        .visit_map(map)?;
        walk.add_json(leaf, &value);
        Ok(())
    }
}

/// Seed for an element of an `array<…>`.
struct ElementSeed<'w, 'm>(LeafSeed<'w, 'm>);

impl<'de> DeserializeSeed<'de> for ElementSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if !reads_numbers(self.0.leaf) {
            return deserializer.deserialize_any(self);
        }
        let json = <&RawValue>::deserialize(deserializer)?.get();
        let mut value = serde_json::Deserializer::from_str(json);
        let added = match is_number(json) {
            true => self.0.add_date(&mut value),
            false => value.deserialize_any(self),
        };
        added.map_err(D::Error::custom)
    }
}

impl<'de> Visitor<'de> for ElementSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an element")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.0.add_null()
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.0.visit_bool(value)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.0.visit_i64(value)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.0.visit_u64(value)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.0.visit_f64(value)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.0.visit_str(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<(), A::Error> {
        let LeafSeed { walk, leaf, depth } = self.0;
        if walk.mapper.coerces {
            // As Elasticsearch has it, a list in a list is its values.
            return LeafSeed { walk, leaf, depth }.visit_seq(seq);
        }
        if leaf.ignores_malformed {
            skip_seq(walk, &leaf.path, depth, seq)?;
        }
        LeafSeed { walk, leaf, depth }.no_scalar("an array in an array")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.visit_map(map)
    }
}
