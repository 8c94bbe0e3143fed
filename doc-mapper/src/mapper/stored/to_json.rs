//! Conversion of a stored document to the JSON of a hit.

use std::borrow::Cow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::IgnoredAny;
use serde_json::{Map, Number, Value};
use tantivy::TantivyDocument;
use tantivy::schema::document::{CompactDocValue, ReferenceValue, ReferenceValueLeaf};
use tantivy::schema::{Field, Value as _};

use super::verbatim::entries;
use crate::config::{BytesFormat, FieldKind, NumericKind};
use crate::datetime;
use crate::mapper::schema::doc_mapper::DocMapper;
use crate::mapper::tree::{Child, Leaf, ObjectNode};

/// Values of a document by field number.
type Values<'d> = Vec<Vec<CompactDocValue<'d>>>;

impl DocMapper {
    /// Rebuilds the document for a hit as JSON text: nested objects, with keys in the order of the
    /// mapping, followed by the unmapped ones and `_source`. It contains only stored fields.
    /// Unmapped values, values of `json` fields and `_source` are the document's original text.
    pub fn doc_to_json_text(&self, doc: &TantivyDocument) -> String {
        let mut values: Values<'_> = vec![Vec::new(); self.schema.num_fields()];
        for (field, value) in doc.field_values() {
            if let Some(slot) = values.get_mut(field.field_id() as usize) {
                slot.push(value);
            }
        }
        let text_of = |field: Option<Field>| -> Option<&str> {
            let values = values.get(field?.field_id() as usize)?;
            values.first()?.as_str()
        };
        let verbatim = match text_of(self.verbatim).filter(|text| is_json(text)) {
            Some(text) => Some(Cow::Borrowed(text)),
            // Splits from before `_verbatim` store `_dynamic` itself.
            None => self
                .dynamic
                .as_ref()
                .filter(|dynamic| dynamic.stored)
                .and_then(|dynamic| leaf_to_json(dynamic, &values))
                .map(|extra| Cow::Owned(extra.to_string())),
        };
        let source = text_of(self.source);
        let mut hit = Hit {
            json: String::from("{"),
            has_source: source.is_some(),
        };
        hit.push_object(&self.root, &values, verbatim.as_deref());
        if let Some(source) = source {
            let key = Value::from(crate::mapper::SOURCE_FIELD).to_string();
            match is_json(source) {
                true => hit.push(&key, source),
                false => hit.push(&key, &Value::from(source).to_string()),
            }
        }
        hit.json.push('}');
        hit.json
    }

    /// Returns [`DocMapper::doc_to_json_text`] as values, with 64-bit numbers.
    pub fn doc_to_json(&self, doc: &TantivyDocument) -> Map<String, Value> {
        serde_json::from_str(&self.doc_to_json_text(doc)).unwrap_or_default()
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Writer of a hit.
struct Hit {
    json: String,
    /// True if the whole document follows under `_source`, which no other key may use then.
    has_source: bool,
}

impl Hit {
    fn push_key(&mut self, key: &str) {
        if !self.json.ends_with('{') {
            self.json.push(',');
        }
        self.json.push_str(key);
        self.json.push(':');
    }

    /// Appends an entry to the open object. Both texts are JSON.
    fn push(&mut self, key: &str, value: &str) {
        self.push_key(key);
        self.json.push_str(value);
    }

    /// Appends the entries of a mapped object, including verbatim ones. Unmapped ones come last.
    fn push_object(&mut self, object: &ObjectNode, values: &Values<'_>, verbatim: Option<&str>) {
        let mut verbatim = verbatim.map(entries).unwrap_or_default();
        for (name, child) in &object.children {
            let found = verbatim.iter().position(|entry| entry.name == *name);
            let own = found.map(|position| verbatim.remove(position).value);
            let key = Value::from(name.as_str()).to_string();
            match child {
                Child::Leaf(leaf) => {
                    let value = match own {
                        // For a document from before the field was mapped, a hit shows the same as
                        // then.
                        Some(own) => Some(Cow::Borrowed(own)),
                        None if leaf.stored => {
                            leaf_to_json(leaf, values).map(|value| Cow::Owned(value.to_string()))
                        }
                        None => None,
                    };
                    if let Some(value) = value {
                        self.push(&key, &value);
                    }
                }
                // A document from before the object was mapped may have another value there.
                Child::Object(_) if own.is_some_and(|own| !own.starts_with('{')) => {
                    self.push(&key, own.unwrap_or_default());
                }
                Child::Object(object) => {
                    let before = self.json.len();
                    self.push_key(&key);
                    self.json.push('{');
                    let empty = self.json.len();
                    self.push_object(object, values, own);
                    match self.json.len() > empty {
                        true => self.json.push('}'),
                        false => self.json.truncate(before),
                    }
                }
            }
        }
        for entry in verbatim {
            let is_hidden = self.has_source && object.path.is_empty();
            if !is_hidden || entry.name != crate::mapper::SOURCE_FIELD {
                self.push(entry.key, entry.value);
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
