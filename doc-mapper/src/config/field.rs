//! One field mapping: the field's type, its options with every default filled in, and how it is
//! written as JSON again.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use tantivy::schema::{DateTimePrecision, IndexRecordOption};

use crate::datetime::{DateInput, DateOutput};

/// One entry of `field_mappings`, with Quickwit's defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldMapping {
    /// The key in the document.
    pub name: String,
    /// For people; kept, never used.
    pub description: Option<String>,
    /// `array<…>`: a document may have several values.
    pub multi_valued: bool,
    /// Kept in the doc store, so that a hit shows it.
    pub stored: bool,
    /// In the inverted index, so that a query finds it.
    pub indexed: bool,
    /// Not indexed, and searched all the same: by looking through stored documents.
    pub scanned: bool,
    /// In a fast field, so that it can be sorted and aggregated; text goes through the normalizer.
    pub fast: Option<Normalizer>,
    /// Single values of it are looked for that few splits hold: splits keep a filter over it.
    pub needle: bool,
    /// The type and what only this type has.
    pub kind: FieldKind,
}

/// What becomes of text on its way into a fast field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Normalizer {
    /// Kept as it is.
    Raw,
    /// Lowercased.
    Lowercase,
}

impl Normalizer {
    /// Its name in an index config. In a split it has another: see `tokenizers::of_column`.
    pub fn name(self) -> &'static str {
        match self {
            Normalizer::Raw => "raw",
            Normalizer::Lowercase => "lowercase",
        }
    }
}

/// The type of a field and what only this type has.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    /// `text`.
    Text(TextKind),
    /// `i64`.
    I64(NumericKind),
    /// `u64`.
    U64(NumericKind),
    /// `f64`.
    F64(NumericKind),
    /// `bool`.
    Bool,
    /// `datetime`.
    Date(DateKind),
    /// `ip`: IPv4 is kept as IPv6.
    Ip,
    /// `bytes`.
    Bytes(BytesKind),
    /// `json`: an object of any shape.
    Json(JsonKind),
    /// `object`: a nested object whose fields are mapped.
    Object(Vec<FieldMapping>),
    /// `concatenate`: text made of the values of other fields, and not stored.
    Concatenate(ConcatenateKind),
}

/// Options of `text`.
#[derive(Clone, Debug, PartialEq)]
pub struct TextKind {
    /// A name of [`crate::tokenizers`].
    pub tokenizer: String,
    /// What the postings hold.
    pub record: IndexRecordOption,
    /// Kept for BM25.
    pub fieldnorms: bool,
    /// The same text indexed in other ways, sorted by their names.
    pub variants: Vec<TextVariant>,
}

/// Another way to index a text: `message.raw` beside `message`.
#[derive(Clone, Debug, PartialEq)]
pub struct TextVariant {
    /// What stands behind the dot.
    pub name: String,
    /// A name of [`crate::tokenizers`], or of the config's own.
    pub tokenizer: String,
    /// What the postings hold.
    pub record: IndexRecordOption,
    /// Kept for BM25.
    pub fieldnorms: bool,
}

/// Options of `concatenate`.
#[derive(Clone, Debug, PartialEq)]
pub struct ConcatenateKind {
    /// The paths of the fields; an object stands for all that is in it.
    pub fields: Vec<String>,
    /// What is not mapped, too.
    pub include_dynamic: bool,
    /// How the text is indexed.
    pub text: TextKind,
}

/// Options of `i64`, `u64` and `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumericKind {
    /// Numbers in strings are accepted too.
    pub coerce: bool,
    /// Whether a hit shows the number as a string.
    pub output_as_string: bool,
}

/// Options of `datetime`.
#[derive(Clone, Debug, PartialEq)]
pub struct DateKind {
    /// Tried in this order.
    pub input_formats: Vec<DateInput>,
    /// How a hit shows it.
    pub output_format: DateOutput,
    /// To which the fast field is truncated.
    pub precision: DateTimePrecision,
}

/// How bytes are written in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BytesFormat {
    /// Standard alphabet, padded.
    Base64,
    /// Two digits per byte.
    Hex,
}

/// Options of `bytes`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BytesKind {
    /// What documents use.
    pub input_format: BytesFormat,
    /// What hits use.
    pub output_format: BytesFormat,
}

/// Options of `json` and of `dynamic_mapping`.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonKind {
    /// A name of [`crate::tokenizers`]; for the strings in the object.
    pub tokenizer: String,
    /// What the postings of the strings hold.
    pub record: IndexRecordOption,
    /// `{"a.b": 1}` is found as `a.b`, with no escape.
    pub expand_dots: bool,
}

impl FieldKind {
    /// The name of the type in a config: `text`, `datetime`, …
    pub fn type_name(&self) -> &'static str {
        match self {
            FieldKind::Text(_) => "text",
            FieldKind::I64(_) => "i64",
            FieldKind::U64(_) => "u64",
            FieldKind::F64(_) => "f64",
            FieldKind::Bool => "bool",
            FieldKind::Date(_) => "datetime",
            FieldKind::Ip => "ip",
            FieldKind::Bytes(_) => "bytes",
            FieldKind::Json(_) => "json",
            FieldKind::Object(_) => "object",
            FieldKind::Concatenate(_) => "concatenate",
        }
    }
}

impl FieldMapping {
    /// `json` as `dynamic_mapping` has it by default: everything is indexed, stored and fast.
    pub fn default_dynamic() -> FieldMapping {
        FieldMapping {
            name: crate::mapper::DYNAMIC_FIELD.to_string(),
            description: None,
            multi_valued: false,
            stored: true,
            indexed: true,
            scanned: false,
            fast: Some(Normalizer::Raw),
            needle: false,
            kind: FieldKind::Json(JsonKind {
                tokenizer: "raw".to_string(),
                record: IndexRecordOption::Basic,
                expand_dots: true,
            }),
        }
    }

    /// Whether queries find it, by the index or by looking through documents.
    pub(crate) fn is_searched(&self) -> bool {
        self.indexed || self.scanned
    }

    /// Whether it is indexed in another way of this name.
    pub(crate) fn has_variant(&self, name: Option<&String>) -> bool {
        match (&self.kind, name) {
            (FieldKind::Text(text), Some(name)) => {
                text.variants.iter().any(|variant| variant.name == *name)
            }
            _ => false,
        }
    }

    /// The type as a config names it: `text`, `array<text>`.
    pub fn type_id(&self) -> String {
        let name = self.kind.type_name();
        if self.multi_valued {
            format!("array<{name}>")
        } else {
            name.to_string()
        }
    }

    /// Writes everything but `name` and `type`.
    pub(crate) fn serialize_options<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if let Some(description) = &self.description {
            map.serialize_entry("description", description)?;
        }
        if let FieldKind::Object(fields) = &self.kind {
            return map.serialize_entry("field_mappings", fields);
        }
        if let FieldKind::Concatenate(concatenate) = &self.kind {
            map.serialize_entry("concatenate_fields", &concatenate.fields)?;
            map.serialize_entry("include_dynamic_fields", &concatenate.include_dynamic)?;
            return concatenate.text.serialize_options(map);
        }
        map.serialize_entry("stored", &self.stored)?;
        match self.scanned {
            true => map.serialize_entry("strategy", "none")?,
            false => map.serialize_entry("indexed", &self.indexed)?,
        }
        match (&self.kind, self.fast) {
            (FieldKind::Text(_) | FieldKind::Json(_), Some(normalizer)) => {
                let fast = serde_json::json!({ "normalizer": normalizer.name() });
                map.serialize_entry("fast", &fast)?;
            }
            (_, fast) => map.serialize_entry("fast", &fast.is_some())?,
        }
        // Quickwit does not know it, and neither did earlier versions.
        if self.needle {
            map.serialize_entry("needle", &true)?;
        }
        match &self.kind {
            // Quickwit refuses indexing options on a field that is not indexed.
            FieldKind::Text(text) if self.indexed => text.serialize_options(map),
            FieldKind::Text(text) if self.scanned => {
                map.serialize_entry("tokenizer", &text.tokenizer)?;
                map.serialize_entry("record", &text.record)
            }
            FieldKind::Json(json) => {
                if self.is_searched() {
                    map.serialize_entry("tokenizer", &json.tokenizer)?;
                    map.serialize_entry("record", &json.record)?;
                }
                map.serialize_entry("expand_dots", &json.expand_dots)
            }
            FieldKind::I64(n) | FieldKind::U64(n) | FieldKind::F64(n) => {
                map.serialize_entry("coerce", &n.coerce)?;
                let format = if n.output_as_string {
                    "string"
                } else {
                    "number"
                };
                map.serialize_entry("output_format", format)
            }
            FieldKind::Date(date) => {
                let inputs: Vec<&str> = date.input_formats.iter().map(DateInput::as_str).collect();
                map.serialize_entry("input_formats", &inputs)?;
                map.serialize_entry("output_format", date.output_format.as_str())?;
                map.serialize_entry("fast_precision", &date.precision)
            }
            FieldKind::Bytes(bytes) => {
                map.serialize_entry("input_format", bytes.input_format.as_str())?;
                map.serialize_entry("output_format", bytes.output_format.as_str())
            }
            FieldKind::Text(_)
            | FieldKind::Bool
            | FieldKind::Ip
            | FieldKind::Object(_)
            | FieldKind::Concatenate(_) => Ok(()),
        }
    }
}

impl TextKind {
    fn serialize_options<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("tokenizer", &self.tokenizer)?;
        map.serialize_entry("record", &self.record)?;
        map.serialize_entry("fieldnorms", &self.fieldnorms)?;
        if self.variants.is_empty() {
            return Ok(());
        }
        let variants = self.variants.iter().map(|variant| {
            let options = serde_json::json!({
                "tokenizer": variant.tokenizer,
                "record": variant.record,
                "fieldnorms": variant.fieldnorms,
            });
            (variant.name.clone(), options)
        });
        let variants: serde_json::Map<String, serde_json::Value> = variants.collect();
        map.serialize_entry("fields", &variants)
    }
}

impl BytesFormat {
    /// The name in a config.
    pub fn as_str(self) -> &'static str {
        match self {
            BytesFormat::Base64 => "base64",
            BytesFormat::Hex => "hex",
        }
    }
}

impl Serialize for FieldMapping {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("type", &self.type_id())?;
        self.serialize_options(&mut map)?;
        map.end()
    }
}

/// The options alone, as `dynamic_mapping` has them.
pub(crate) fn serialize_dynamic<S: Serializer>(
    mapping: &Option<FieldMapping>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    if let Some(mapping) = mapping {
        mapping.serialize_options(&mut map)?;
    }
    map.end()
}
