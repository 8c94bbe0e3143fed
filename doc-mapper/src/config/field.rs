//! Field mapping: the type of a field, its options with all defaults filled in, and its form in JSON.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use tantivy::schema::{DateTimePrecision, IndexRecordOption};

use crate::datetime::{DateInput, DateOutput};
use crate::documents::number::NumericKind;
use crate::documents::text::TextKind;
use crate::documents::vector::VectorKind;
use crate::tokenizers::Normalizer;

/// Entry of `field_mappings`, with Quickwit's defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldMapping {
    /// Key in the document.
    pub name: String,
    /// Description for people, otherwise unused.
    pub description: Option<String>,
    /// True if a document may have several values: `array<…>`.
    pub multi_valued: bool,
    /// True if the value is in the doc store, so that hits show it.
    pub stored: bool,
    /// True if the value is in the inverted index, so that queries find it.
    pub indexed: bool,
    /// True if queries search the field by scanning stored documents, without an index.
    pub scanned: bool,
    /// True if queries look for words in its whole values, which are its terms: a `concatenate` has those of its fields.
    pub by_values: bool,
    /// Normalizer of text in the fast field; `None` without one.
    pub fast: Option<Normalizer>,
    /// Maximum length of a whole value, in UTF-16 code units, of text and JSON: a longer one is neither in
    /// the fast field nor a term of a tokenizer that keeps values whole. As Elasticsearch's `ignore_above`.
    pub ignore_above: Option<u32>,
    /// Value in place of `null`, which is otherwise the same as no value. As Elasticsearch's `null_value`.
    pub null_value: Option<NullValue>,
    /// Text that every document has: others are refused. As the `value` of Elasticsearch's `constant_keyword`.
    pub constant: Option<String>,
    /// True if a value that the field does not accept is left out rather than refusing the document. A `geo_point` has an
    /// option of its own.
    pub ignore_malformed: bool,
    /// True if splits keep a filter over its values, each of which few splits contain.
    pub needle: bool,
    /// Fields of any scalar type that get each value of this one, under their names after a dot.
    pub sub_fields: Vec<FieldMapping>,
    /// Further names after a dot under which queries find the field itself.
    pub aliases: Vec<String>,
    /// Tokenizer whose number of words in a document's text is the value of a number. As Elasticsearch's `token_count`.
    pub counted_by: Option<String>,
    /// Type, and the options of this type.
    pub kind: FieldKind,
}

/// Value in place of `null`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum NullValue {
    /// Boolean.
    Bool(bool),
    /// Number, date or address as text, or a text.
    Text(String),
}

impl NullValue {
    /// Returns the value of a `geo_point`.
    ///
    /// # Errors
    /// It is no point.
    pub(crate) fn as_point(&self) -> Result<canter_geo::Point, String> {
        match self {
            NullValue::Text(text) => canter_geo::read_point(&text.as_str().into()),
            NullValue::Bool(value) => Err(format!("geo_point expected, and not {value}")),
        }
    }
}

/// Type of a field, and the options of this type.
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
    /// `ip`: IPv4 addresses are stored as IPv6.
    Ip,
    /// `bytes`.
    Bytes(BytesKind),
    /// `geo_point`: a place on Earth. The column and the terms have the codes of [`canter_geo::Point`].
    GeoPoint(GeoPointKind),
    /// `integer_range` and its like: values from one end to another. The terms are [`crate::Span`]s.
    Range(RangeKind),
    /// `dense_vector`: numbers that queries look for the nearest of. Neither terms nor a column has them.
    Vector(VectorKind),
    /// `json`: an object of any shape.
    Json(JsonKind),
    /// `object`: an object with mapped fields; if it is multi-valued, `nested`: objects in a list, each of which
    /// a query can look at by itself.
    Object(Vec<FieldMapping>),
    /// `concatenate`: text from the values of other fields, which is never stored.
    Concatenate(ConcatenateKind),
}

/// Options of `concatenate`.
#[derive(Clone, Debug, PartialEq)]
pub struct ConcatenateKind {
    /// Paths of the fields; an object stands for all fields in it.
    pub fields: Vec<String>,
    /// True if unmapped values are included.
    pub include_dynamic: bool,
    /// Indexing of the text.
    pub text: TextKind,
}

/// Options of `datetime`.
#[derive(Clone, Debug, PartialEq)]
pub struct DateKind {
    /// Accepted formats, tried in this order.
    pub input_formats: Vec<DateInput>,
    /// Format in hits.
    pub output_format: DateOutput,
    /// Precision to which the fast field is truncated.
    pub precision: DateTimePrecision,
}

/// Encoding of bytes in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BytesFormat {
    /// Standard alphabet, padded.
    Base64,
    /// Two digits for each byte.
    Hex,
}

/// Options of `bytes`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BytesKind {
    /// Encoding in documents.
    pub input_format: BytesFormat,
    /// Encoding in hits.
    pub output_format: BytesFormat,
}

/// Options of `geo_point`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeoPointKind {
    /// True if a document whose value is no point is accepted without one.
    pub ignore_malformed: bool,
}

/// Options of ranges.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeKind {
    /// Type of the ends.
    pub of: RangeOf,
    /// Accepted formats of dates, tried in this order; empty for other types.
    pub input_formats: Vec<DateInput>,
}

/// Types of the ends of ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeOf {
    /// Integers of 32 bits.
    Integer,
    /// Integers of 64 bits.
    Long,
    /// Floating point numbers of 32 bits.
    Float,
    /// Floating point numbers of 64 bits.
    Double,
    /// Dates, in milliseconds.
    Date,
    /// Addresses.
    Ip,
}

impl RangeOf {
    /// All types.
    pub const ALL: [RangeOf; 6] = {
        use RangeOf::{Date, Double, Float, Integer, Ip, Long};
        [Integer, Long, Float, Double, Date, Ip]
    };

    /// Returns the name of the type of ranges in a config.
    #[must_use]
    pub fn type_name(self) -> &'static str {
        match self {
            RangeOf::Integer => "integer_range",
            RangeOf::Long => "long_range",
            RangeOf::Float => "float_range",
            RangeOf::Double => "double_range",
            RangeOf::Date => "date_range",
            RangeOf::Ip => "ip_range",
        }
    }
}

/// Options of `json` and of `dynamic_mapping`.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonKind {
    /// Name of a tokenizer in [`crate::tokenizers`], for the strings in the object.
    pub tokenizer: String,
    /// Contents of the postings of strings.
    pub record: IndexRecordOption,
    /// True if `{"a.b": 1}` is found as `a.b` without an escape.
    pub expand_dots: bool,
}

impl FieldKind {
    /// Returns the name of the type in a config, such as `text` or `datetime`.
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
            FieldKind::GeoPoint(_) => "geo_point",
            FieldKind::Range(range) => range.of.type_name(),
            FieldKind::Vector(_) => "dense_vector",
            FieldKind::Json(_) => "json",
            FieldKind::Object(_) => "object",
            FieldKind::Concatenate(_) => "concatenate",
        }
    }

    /// Returns whether hits show its values as documents have them, from `_verbatim`.
    pub(crate) fn is_shown_as_written(&self) -> bool {
        matches!(
            self,
            FieldKind::Json(_)
                | FieldKind::GeoPoint(_)
                | FieldKind::Range(_)
                | FieldKind::Vector(_)
        )
    }
}

impl FieldMapping {
    /// Returns the default `dynamic_mapping`: `json` that is indexed, stored and fast.
    pub fn default_dynamic() -> FieldMapping {
        FieldMapping {
            name: crate::mapper::DYNAMIC_FIELD.to_string(),
            description: None,
            multi_valued: false,
            stored: true,
            indexed: true,
            scanned: false,
            by_values: false,
            fast: Some(Normalizer::Raw),
            ignore_above: None,
            null_value: None,
            constant: None,
            ignore_malformed: false,
            needle: false,
            sub_fields: Vec::new(),
            aliases: Vec::new(),
            counted_by: None,
            kind: FieldKind::Json(JsonKind {
                tokenizer: "raw".to_string(),
                record: IndexRecordOption::Basic,
                expand_dots: true,
            }),
        }
    }

    /// Returns whether queries can search the field, by its index or by scanning documents.
    pub(crate) fn is_searched(&self) -> bool {
        self.indexed || self.scanned
    }

    /// Returns whether the field has a variant or whole values of this name.
    pub(crate) fn has_variant(&self, name: Option<&String>) -> bool {
        match (&self.kind, name) {
            (_, Some(name)) if self.sub_fields.iter().any(|own| own.name == *name) => true,
            (FieldKind::Text(text), Some(name)) => {
                text.whole_values.contains(name)
                    || self.aliases.contains(name)
                    || text.variants.iter().any(|variant| variant.name == *name)
            }
            _ => false,
        }
    }

    /// Returns whether it is objects in a list.
    pub(crate) fn is_nested(&self) -> bool {
        self.multi_valued && matches!(self.kind, FieldKind::Object(_))
    }

    /// Returns the type in a config, such as `text` or `array<text>`.
    pub fn type_id(&self) -> String {
        let name = self.kind.type_name();
        match self.multi_valued {
            _ if self.is_nested() => "nested".to_string(),
            true => format!("array<{name}>"),
            false => name.to_string(),
        }
    }

    /// Serializes the options that Quickwit and earlier versions do not know.
    fn serialize_additions<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if let Some(ignore_above) = self.ignore_above {
            map.serialize_entry("ignore_above", &ignore_above)?;
        }
        if let Some(null_value) = &self.null_value {
            map.serialize_entry("null_value", null_value)?;
        }
        for (key, text) in [
            ("constant", &self.constant),
            ("counted_by", &self.counted_by),
        ] {
            if let Some(text) = text {
                map.serialize_entry(key, text)?;
            }
        }
        let flags = [
            ("ignore_malformed", self.ignore_malformed),
            ("needle", self.needle),
        ];
        for (key, _) in flags.into_iter().filter(|(_, is_set)| *is_set) {
            map.serialize_entry(key, &true)?;
        }
        if !self.sub_fields.is_empty() {
            map.serialize_entry("sub_fields", &self.sub_fields)?;
        }
        if !self.aliases.is_empty() {
            map.serialize_entry("aliases", &self.aliases)?;
        }
        Ok(())
    }

    /// Serializes everything but `name` and `type`.
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
            if self.by_values {
                map.serialize_entry("strategy", "values")?;
            }
            return concatenate.text.serialize_options(map);
        }
        map.serialize_entry("stored", &self.stored)?;
        match (self.scanned, self.by_values) {
            (true, _) => map.serialize_entry("strategy", "none")?,
            (_, true) => map.serialize_entry("strategy", "values")?,
            _ => map.serialize_entry("indexed", &self.indexed)?,
        }
        match (&self.kind, self.fast) {
            (FieldKind::Text(_) | FieldKind::Json(_), Some(normalizer)) => {
                let fast = serde_json::json!({ "normalizer": normalizer.name() });
                map.serialize_entry("fast", &fast)?;
            }
            (_, fast) => map.serialize_entry("fast", &fast.is_some())?,
        }
        self.serialize_additions(map)?;
        match &self.kind {
            // Quickwit refuses indexing options of a field that is not indexed.
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
            FieldKind::I64(n) | FieldKind::U64(n) | FieldKind::F64(n) => n.serialize_options(map),
            FieldKind::Date(date) => {
                let inputs: Vec<&str> = date.input_formats.iter().map(DateInput::as_str).collect();
                map.serialize_entry("input_formats", &inputs)?;
                map.serialize_entry("output_format", date.output_format.as_str())?;
                map.serialize_entry("fast_precision", &date.precision)
            }
            FieldKind::Range(range) if range.of == RangeOf::Date => {
                let formats = range.input_formats.iter().map(DateInput::as_str);
                map.serialize_entry("input_formats", &formats.collect::<Vec<&str>>())
            }
            FieldKind::Vector(vector) => vector.serialize_options(map),
            FieldKind::GeoPoint(point) if point.ignore_malformed => {
                map.serialize_entry("ignore_malformed", &true)
            }
            FieldKind::Bytes(bytes) => {
                map.serialize_entry("input_format", bytes.input_format.as_str())?;
                map.serialize_entry("output_format", bytes.output_format.as_str())
            }
            _ => Ok(()),
        }
    }
}

impl BytesFormat {
    /// Returns the name in a config.
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

/// Serializes the options alone, as in `dynamic_mapping`.
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
