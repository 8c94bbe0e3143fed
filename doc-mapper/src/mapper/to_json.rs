//! A stored document → the JSON a hit shows.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Number, Value};
use tantivy::TantivyDocument;
use tantivy::schema::Value as _;
use tantivy::schema::document::{CompactDocValue, ReferenceValue, ReferenceValueLeaf};

use super::schema::DocMapper;
use super::tree::{Child, Leaf, ObjectNode};
use crate::config::{BytesFormat, FieldKind, NumericKind};
use crate::datetime;

/// The values of a document by field number.
type Values<'d> = Vec<Vec<CompactDocValue<'d>>>;

impl DocMapper {
    /// Rebuilds the document for a hit: objects nested again, keys in the order of the mapping, then
    /// the unmapped ones, then `_source`. Only stored fields are in it.
    pub fn doc_to_json(&self, doc: &TantivyDocument) -> Map<String, Value> {
        let mut values: Values<'_> = vec![Vec::new(); self.schema.num_fields()];
        for (field, value) in doc.field_values() {
            if let Some(slot) = values.get_mut(field.field_id() as usize) {
                slot.push(value);
            }
        }
        let mut json = object_to_json(&self.root, &values);
        if let Some(dynamic) = self.dynamic.as_ref().filter(|dynamic| dynamic.stored)
            && let Some(Value::Object(extra)) = leaf_to_json(dynamic, &values)
        {
            merge(&mut json, extra);
        }
        if let Some(source) = self
            .source
            .and_then(|f| values.get(f.field_id() as usize)?.first())
            && let Some(text) = source.as_str()
        {
            let value =
                serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_string()));
            json.insert(super::SOURCE_FIELD.to_string(), value);
        }
        json
    }
}

fn object_to_json(object: &ObjectNode, values: &Values<'_>) -> Map<String, Value> {
    let mut json = Map::new();
    for (name, child) in &object.children {
        let value = match child {
            Child::Leaf(leaf) if leaf.stored => leaf_to_json(leaf, values),
            Child::Leaf(_) => None,
            Child::Object(object) => {
                let inner = object_to_json(object, values);
                (!inner.is_empty()).then_some(Value::Object(inner))
            }
        };
        if let Some(value) = value {
            json.insert(name.clone(), value);
        }
    }
    json
}

/// Mapped values stay where they are; the unmapped ones of the same object join them.
fn merge(json: &mut Map<String, Value>, extra: Map<String, Value>) {
    for (key, value) in extra {
        match (json.get_mut(&key), value) {
            (Some(Value::Object(mapped)), Value::Object(unmapped)) => merge(mapped, unmapped),
            (Some(_), _) => {}
            (None, value) => {
                json.insert(key, value);
            }
        }
    }
}

fn leaf_to_json(leaf: &Leaf, values: &Values<'_>) -> Option<Value> {
    let values = values.get(leaf.field.field_id() as usize)?;
    if leaf.multi_valued {
        let items: Vec<Value> = values
            .iter()
            .map(|value| value_to_json(*value, &leaf.kind))
            .collect();
        return (!items.is_empty()).then_some(Value::Array(items));
    }
    values
        .first()
        .map(|value| value_to_json(*value, &leaf.kind))
}

fn value_to_json(value: CompactDocValue<'_>, kind: &FieldKind) -> Value {
    match (value.as_value(), kind) {
        (ReferenceValue::Array(items), _) => items.map(|item| value_to_json(item, kind)).collect(),
        (ReferenceValue::Object(entries), _) => entries
            .map(|(key, value)| (key.to_string(), value_to_json(value, kind)))
            .collect(),
        (ReferenceValue::Leaf(leaf), _) => leaf_value_to_json(leaf, kind),
    }
}

fn leaf_value_to_json(leaf: ReferenceValueLeaf<'_>, kind: &FieldKind) -> Value {
    let as_string = matches!(
        kind,
        FieldKind::I64(NumericKind {
            output_as_string: true,
            ..
        }) | FieldKind::U64(NumericKind {
            output_as_string: true,
            ..
        }) | FieldKind::F64(NumericKind {
            output_as_string: true,
            ..
        })
    );
    match leaf {
        ReferenceValueLeaf::Null | ReferenceValueLeaf::Custom(_) => Value::Null,
        ReferenceValueLeaf::Str(text) | ReferenceValueLeaf::Facet(text) => text.into(),
        ReferenceValueLeaf::PreTokStr(text) => text.text.into(),
        ReferenceValueLeaf::U64(n) if as_string => n.to_string().into(),
        ReferenceValueLeaf::I64(n) if as_string => n.to_string().into(),
        ReferenceValueLeaf::F64(n) if as_string => n.to_string().into(),
        ReferenceValueLeaf::U64(n) => n.into(),
        ReferenceValueLeaf::I64(n) => n.into(),
        ReferenceValueLeaf::F64(n) => Number::from_f64(n).map_or(Value::Null, Value::Number),
        ReferenceValueLeaf::Bool(b) => b.into(),
        ReferenceValueLeaf::Date(date) => match kind {
            FieldKind::Date(options) => options.output_format.to_json(date),
            _ => datetime::rfc3339_string(date).into(),
        },
        ReferenceValueLeaf::IpAddr(ip) => match ip.to_ipv4_mapped() {
            Some(v4) => v4.to_string().into(),
            None => ip.to_string().into(),
        },
        ReferenceValueLeaf::Bytes(bytes) => match kind {
            FieldKind::Bytes(options) if options.output_format == BytesFormat::Hex => {
                hex(bytes).into()
            }
            _ => BASE64_STANDARD.encode(bytes).into(),
        },
    }
}

fn hex(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|b| [b >> 4, b & 15]);
    digits
        .filter_map(|digit| char::from_digit(u32::from(digit), 16))
        .collect()
}
