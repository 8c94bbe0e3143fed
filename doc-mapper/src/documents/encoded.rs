//! Encoded document, on its way into a split: values as consecutive bytes, which are indexed and
//! stored.
//!
//! ```text
//!   value    as it is stored (stored.rs), but for objects of a JSON field: kind 7, varint length, node
//!
//!   node     a byte, then
//!
//!   0 text   u32 length, UTF-8              6 null
//!   1 u64    8 bytes                        7 array    u32 length, nodes
//!   2 i64    8 bytes                        8 object   u32 length, entries of text without its kind, and a node
//!   3 f64    8 bytes
//!   4 bool   a byte                         fixed lengths are little-endian
//!   5 date   8 bytes, nanoseconds
//! ```
//!
//! In this form, documents that wait for their split take little memory, many of them share an
//! allocation, and their stored values need only be copied. The bytes never leave the process: the
//! form may change with any version.

use std::net::Ipv6Addr;
use std::ops::Range;
use std::sync::Arc;

use tantivy::DateTime;
use tantivy::schema::document::{Document, ReferenceValue, ReferenceValueLeaf};
use tantivy::schema::{Field, Schema, Value};

use crate::documents::stored::{
    BOOL, BYTES, DATE, FLOAT, IP, KIND_BITS, Reader, SIGNED, TEXT, UNSIGNED, bytes, date, varint,
    zigzag,
};
use crate::mapper::JsonValue;

/// Kinds of nodes.
const NODE_TEXT: u8 = 0;
const NODE_UNSIGNED: u8 = 1;
const NODE_SIGNED: u8 = 2;
const NODE_FLOAT: u8 = 3;
const NODE_BOOL: u8 = 4;
const NODE_DATE: u8 = 5;
const NODE_NULL: u8 = 6;
const NODE_ARRAY: u8 = 7;
const NODE_OBJECT: u8 = 8;

/// Encoder of a document's values.
#[derive(Debug, Default)]
pub(crate) struct DocEncoder {
    pub(crate) bytes: Vec<u8>,
}

impl DocEncoder {
    fn begin(&mut self, field: Field, kind: u64) {
        varint(
            u64::from(field.field_id()) << KIND_BITS | kind,
            &mut self.bytes,
        );
    }

    pub(crate) fn add_text(&mut self, field: Field, text: impl AsRef<str>) {
        self.begin(field, TEXT);
        bytes(text.as_ref().as_bytes(), &mut self.bytes);
    }

    pub(crate) fn add_u64(&mut self, field: Field, number: u64) {
        self.begin(field, UNSIGNED);
        varint(number, &mut self.bytes);
    }

    pub(crate) fn add_i64(&mut self, field: Field, number: i64) {
        self.begin(field, SIGNED);
        varint(zigzag(number), &mut self.bytes);
    }

    pub(crate) fn add_f64(&mut self, field: Field, number: f64) {
        self.begin(field, FLOAT);
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn add_bool(&mut self, field: Field, is: bool) {
        self.begin(field, BOOL);
        self.bytes.push(u8::from(is));
    }

    pub(crate) fn add_date(&mut self, field: Field, time: DateTime) {
        self.begin(field, DATE);
        date(time, &mut self.bytes);
    }

    pub(crate) fn add_ip_addr(&mut self, field: Field, ip: Ipv6Addr) {
        self.begin(field, IP);
        self.bytes.extend_from_slice(&ip.octets());
    }

    pub(crate) fn add_bytes(&mut self, field: Field, value: &[u8]) {
        self.begin(field, BYTES);
        bytes(value, &mut self.bytes);
    }

    /// Adds a value of a JSON field.
    pub(crate) fn add_json(&mut self, field: Field, value: &JsonValue<'_>) {
        let mut node = Vec::new();
        add_node(value, &mut node);
        self.add_bytes(field, &node);
    }
}

fn add_node(value: &JsonValue<'_>, out: &mut Vec<u8>) {
    match value {
        JsonValue::Null => out.push(NODE_NULL),
        JsonValue::Bool(is) => out.extend_from_slice(&[NODE_BOOL, u8::from(*is)]),
        JsonValue::I64(number) => {
            out.push(NODE_SIGNED);
            out.extend_from_slice(&number.to_le_bytes());
        }
        JsonValue::U64(number) => {
            out.push(NODE_UNSIGNED);
            out.extend_from_slice(&number.to_le_bytes());
        }
        JsonValue::F64(number) => {
            out.push(NODE_FLOAT);
            out.extend_from_slice(&number.to_le_bytes());
        }
        JsonValue::Date(time) => {
            out.push(NODE_DATE);
            out.extend_from_slice(&time.into_timestamp_nanos().to_le_bytes());
        }
        JsonValue::Str(text) => {
            out.push(NODE_TEXT);
            add_text(text, out);
        }
        JsonValue::Array(items) => {
            out.push(NODE_ARRAY);
            with_len(out, |out| {
                items.iter().for_each(|item| add_node(item, out));
            });
        }
        JsonValue::Object(entries) => {
            out.push(NODE_OBJECT);
            with_len(out, |out| {
                for (key, value) in entries {
                    add_text(key, out);
                    add_node(value, out);
                }
            });
        }
    }
}

fn add_text(text: &str, out: &mut Vec<u8>) {
    with_len(out, |out| out.extend_from_slice(text.as_bytes()));
}

/// Writes data after its length, which always fits 32 bits.
fn with_len(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    write(out);
    let len = u32::try_from(out.len() - at - 4).unwrap_or(u32::MAX);
    if let Some(place) = out.get_mut(at..at + 4) {
        place.copy_from_slice(&len.to_le_bytes());
    }
}

/// Properties of the schema that decoding needs.
#[derive(Clone, Debug)]
pub struct DocShape(Arc<[FieldShape]>);

#[derive(Clone, Copy, Debug)]
struct FieldShape {
    is_json: bool,
    is_stored: bool,
}

impl DocShape {
    /// Returns the shape of documents with this schema.
    pub fn of(schema: &Schema) -> Self {
        let shape = schema.fields().map(|(_, entry)| FieldShape {
            is_json: entry.field_type().is_json(),
            is_stored: entry.is_stored(),
        });
        Self(shape.collect())
    }

    fn field(&self, field: Field) -> FieldShape {
        let place = usize::try_from(field.field_id()).unwrap_or(usize::MAX);
        self.0.get(place).copied().unwrap_or(FieldShape {
            is_json: false,
            is_stored: false,
        })
    }
}

/// Encoded documents in one allocation.
#[derive(Debug)]
pub struct EncodedDocs {
    bytes: Vec<u8>,
    shape: DocShape,
}

impl EncodedDocs {
    /// Wraps bytes that contain documents written by
    /// [`DocMapper::encode_doc`](crate::DocMapper::encode_doc), possibly with other data in
    /// between.
    pub fn new(bytes: Vec<u8>, shape: DocShape) -> Arc<Self> {
        Arc::new(Self { bytes, shape })
    }

    /// Returns all bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the document in this range.
    pub fn doc(self: &Arc<Self>, range: Range<usize>) -> EncodedDoc {
        EncodedDoc {
            docs: Arc::clone(self),
            range,
        }
    }
}

/// Encoded document.
#[derive(Clone, Debug)]
pub struct EncodedDoc {
    docs: Arc<EncodedDocs>,
    range: Range<usize>,
}

impl EncodedDoc {
    fn values(&self) -> Values<'_> {
        let bytes = self.docs.bytes.get(self.range.clone());
        values_of(bytes.unwrap_or_default(), &self.docs.shape)
    }

    /// Returns the length of the encoded document.
    pub fn num_bytes(&self) -> usize {
        self.range.len()
    }

    /// Appends the document in stored form, as [`write_stored`](crate::write_stored) does.
    pub fn write_stored(&self, out: &mut Vec<u8>) {
        let mut values = self.values();
        // Adjacent stored values are copied together.
        let mut rest = values.reader.0;
        let mut num_stored_bytes = 0;
        let mut copy = |bytes: &[u8], len: usize| {
            out.extend_from_slice(bytes.get(..len).unwrap_or_default());
        };
        loop {
            let before = values.reader.0.len();
            let Some((field, _)) = values.next_value() else {
                break;
            };
            let len = before - values.reader.0.len();
            let shape = self.docs.shape.field(field);
            if shape.is_stored && !shape.is_json {
                num_stored_bytes += len;
            } else {
                copy(rest, num_stored_bytes);
                rest = values.reader.0;
                num_stored_bytes = 0;
            }
        }
        copy(rest, num_stored_bytes);
    }
}

impl Document for EncodedDoc {
    type Value<'a> = EncodedValue<'a>;
    type FieldsValuesIter<'a> = Values<'a>;

    fn iter_fields_and_values(&self) -> Values<'_> {
        self.values()
    }
}

/// Iterates over the values of an encoded document.
pub(crate) fn values_of<'a>(bytes: &'a [u8], shape: &'a DocShape) -> Values<'a> {
    Values {
        reader: Reader(bytes),
        shape,
    }
}

/// Iterator over the values of a document. It ends at invalid bytes.
#[derive(Clone, Debug)]
pub struct Values<'a> {
    reader: Reader<'a>,
    shape: &'a DocShape,
}

impl<'a> Values<'a> {
    #[inline]
    fn next_value(&mut self) -> Option<(Field, EncodedValue<'a>)> {
        if self.reader.0.is_empty() {
            return None;
        }
        let begin = self.reader.varint().ok()?;
        let field = Field::from_field_id(u32::try_from(begin >> KIND_BITS).ok()?);
        let kind = begin & ((1 << KIND_BITS) - 1);
        let bytes = self.reader.passed(kind).ok()?;
        let value = match kind == BYTES && self.shape.field(field).is_json {
            true => EncodedValue::Node(bytes),
            false => EncodedValue::Stored(kind, bytes),
        };
        Some((field, value))
    }
}

impl<'a> Iterator for Values<'a> {
    type Item = (Field, EncodedValue<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_value()
    }
}

/// Value of a document. tantivy iterates over a document several times and reads few values each
/// time, so values are decoded lazily.
#[derive(Clone, Copy, Debug)]
pub enum EncodedValue<'a> {
    /// Value in stored form, by kind; for text and bytes, without the length.
    Stored(u64, &'a [u8]),
    /// Node of a JSON field.
    Node(&'a [u8]),
}

impl<'a> Value<'a> for EncodedValue<'a> {
    type ArrayIter = Items<'a>;
    type ObjectIter = Entries<'a>;

    #[inline]
    fn as_value(&self) -> ReferenceValue<'a, Self> {
        let value = match *self {
            Self::Stored(TEXT, bytes) => text(bytes),
            Self::Stored(BYTES, bytes) => Some(ReferenceValueLeaf::Bytes(bytes)),
            Self::Stored(kind, bytes) => Reader(bytes).leaf(kind).ok(),
            Self::Node(node) => return Reader(node).node(),
        };
        ReferenceValue::Leaf(value.unwrap_or(ReferenceValueLeaf::Null))
    }
}

fn text(bytes: &[u8]) -> Option<ReferenceValueLeaf<'_>> {
    std::str::from_utf8(bytes).ok().map(ReferenceValueLeaf::Str)
}

/// Iterator over the items of an array.
#[derive(Clone, Debug)]
pub struct Items<'a>(Reader<'a>);

impl<'a> Iterator for Items<'a> {
    type Item = EncodedValue<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.passed_node().map(EncodedValue::Node)
    }
}

/// Iterator over the entries of an object.
#[derive(Clone, Debug)]
pub struct Entries<'a>(Reader<'a>);

impl<'a> Iterator for Entries<'a> {
    type Item = (&'a str, EncodedValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = std::str::from_utf8(self.0.with_len()?).ok()?;
        Some((key, EncodedValue::Node(self.0.passed_node()?)))
    }
}

impl<'a> Reader<'a> {
    /// Skips data with a length prefix, and returns it.
    fn with_len(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(u32::from_le_bytes(self.array().ok()?)).ok()?;
        let (first, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(first)
    }

    /// Skips a node, and returns its bytes.
    fn passed_node(&mut self) -> Option<&'a [u8]> {
        let all = self.0;
        let [kind] = self.array().ok()?;
        match kind {
            NODE_NULL => {}
            NODE_BOOL => {
                self.array::<1>().ok()?;
            }
            NODE_UNSIGNED | NODE_SIGNED | NODE_FLOAT | NODE_DATE => {
                self.array::<8>().ok()?;
            }
            _ => {
                self.with_len()?;
            }
        }
        all.get(..all.len() - self.0.len())
    }

    /// Decodes a node.
    fn node(&mut self) -> ReferenceValue<'a, EncodedValue<'a>> {
        let kind = self.array().map_or(NODE_NULL, |[kind]| kind);
        let leaf = match kind {
            NODE_ARRAY => {
                return ReferenceValue::Array(Items(Reader(self.with_len().unwrap_or_default())));
            }
            NODE_OBJECT => {
                return ReferenceValue::Object(Entries(Reader(
                    self.with_len().unwrap_or_default(),
                )));
            }
            NODE_TEXT => self.with_len().and_then(text),
            NODE_BOOL => (self.array().ok()).map(|[is]| ReferenceValueLeaf::Bool(is != 0)),
            NODE_UNSIGNED => number(self, u64::from_le_bytes).map(ReferenceValueLeaf::U64),
            NODE_SIGNED => number(self, i64::from_le_bytes).map(ReferenceValueLeaf::I64),
            NODE_FLOAT => number(self, f64::from_le_bytes).map(ReferenceValueLeaf::F64),
            NODE_DATE => number(self, i64::from_le_bytes)
                .map(|ns| ReferenceValueLeaf::Date(DateTime::from_timestamp_nanos(ns))),
            _ => None,
        };
        ReferenceValue::Leaf(leaf.unwrap_or(ReferenceValueLeaf::Null))
    }
}

fn number<T>(reader: &mut Reader<'_>, of: impl FnOnce([u8; 8]) -> T) -> Option<T> {
    reader.array().ok().map(of)
}

#[cfg(test)]
mod tests;
