//! Parser of values that are objects or lists to JSON and one value to a field: points in any notation, ranges, and
//! vectors.

use canter_geo::{Point, read_points};
use serde::Deserialize as _;
use serde::de::Deserializer;
use serde_json::Value;

use super::leaf::expected;
use super::parse_leaf::LeafSeed;
use super::walk::MAX_DEPTH;
use crate::config::{GeoPointKind, RangeKind, VectorKind};
use crate::documents::doc_error::{DocError, DocErrorReason, shorten};
use crate::mapper::tree::Leaf;

impl LeafSeed<'_, '_> {
    /// Adds the codes of all points of a value, or of none if one is malformed.
    pub(super) fn add_places<'de, D: Deserializer<'de>>(
        self,
        kind: GeoPointKind,
        deserializer: D,
    ) -> Result<(), D::Error> {
        let LeafSeed { walk, leaf, depth } = self;
        let value = Value::deserialize(deserializer)?;
        let mut points: Vec<Point> = Vec::new();
        let read = match (&value, &leaf.null_value) {
            (Value::Null, None) => return Ok(()),
            (Value::Null, Some(substitute)) => {
                substitute.as_point().map(|point| points.push(point))
            }
            _ => read_points(&value, &mut |point| points.push(point)),
        };
        let read = read.and_then(|()| match points.as_slice() {
            [_, _, ..] if !leaf.multi_valued => {
                Err("an array of points needs the type array<geo_point>".to_owned())
            }
            _ => Ok(()),
        });
        match read {
            Ok(()) => {
                for point in &points {
                    walk.document.add_u64(leaf.field, point.code());
                }
                if !points.is_empty() {
                    walk.presence.extend(leaf.presence);
                }
                Ok(())
            }
            Err(_)
                if (kind.ignore_malformed || leaf.ignores_malformed)
                    && is_shallow(&value, MAX_DEPTH.saturating_sub(depth)) =>
            {
                walk.ignored.push(&leaf.path);
                Ok(())
            }
            Err(problem) => Err(walk.fail(no_value(leaf, &value, &problem))),
        }
    }

    /// Adds the terms of all ranges of a value, or of none if one is malformed.
    pub(super) fn add_spans<'de, D: Deserializer<'de>>(
        self,
        kind: &RangeKind,
        deserializer: D,
    ) -> Result<(), D::Error> {
        let LeafSeed { walk, leaf, depth } = self;
        let value = Value::deserialize(deserializer)?;
        let given = match &value {
            Value::Array(items) if leaf.multi_valued => items.as_slice(),
            value => std::slice::from_ref(value),
        };
        let given = given.iter().filter(|value| !value.is_null());
        let terms: Result<Vec<Vec<u8>>, String> = given.map(|value| kind.read(value)).collect();
        match terms {
            Ok(terms) => {
                for term in &terms {
                    walk.document.add_bytes(leaf.field, term);
                }
                if !terms.is_empty() {
                    walk.presence.extend(leaf.presence);
                }
                Ok(())
            }
            Err(_)
                if leaf.ignores_malformed
                    && is_shallow(&value, MAX_DEPTH.saturating_sub(depth)) =>
            {
                walk.ignored.push(&leaf.path);
                Ok(())
            }
            Err(problem) => Err(walk.fail(no_value(leaf, &value, &problem))),
        }
    }

    /// Adds a vector. One that does not suit the field refuses the document, whatever else is ignored as malformed: a
    /// search for the nearest would lack it in silence.
    pub(super) fn add_vector<'de, D: Deserializer<'de>>(
        self,
        kind: VectorKind,
        deserializer: D,
    ) -> Result<(), D::Error> {
        let LeafSeed { walk, leaf, .. } = self;
        let stored = match kind.read(deserializer)? {
            Ok(None) => return Ok(()),
            Ok(Some(_)) if walk.vectors.contains(&leaf.field) => {
                Err("the document has another vector for this field".to_owned())
            }
            Ok(Some(numbers)) => kind.store(&numbers),
            Err(problem) => Err(problem),
        };
        match stored {
            Ok(stored) => {
                walk.vectors.push(leaf.field);
                if leaf.indexed && !leaf.is_absent {
                    walk.document.add_bytes(leaf.field, &stored);
                }
                walk.presence.extend(leaf.presence);
                Ok(())
            }
            Err(problem) => {
                let message = format!("expected {}: {problem}", expected(leaf));
                let error = DocError::new(DocErrorReason::WrongType, leaf.path.as_str(), message);
                Err(walk.fail(error))
            }
        }
    }
}

fn no_value(leaf: &Leaf, value: &Value, problem: &str) -> DocError {
    let message = format!(
        "expected {}, got {}: {problem}",
        expected(leaf),
        shorten(&value.to_string())
    );
    DocError::new(DocErrorReason::WrongType, leaf.path.as_str(), message)
}

/// Returns whether a value nests at most `depth` levels of objects and arrays.
fn is_shallow(value: &Value, depth: u32) -> bool {
    let inside = |inner: &Value| depth > 0 && is_shallow(inner, depth - 1);
    match value {
        Value::Array(items) => items.iter().all(inside),
        Value::Object(entries) => entries.values().all(inside),
        _ => true,
    }
}
