//! Terms of a stored document, as an index would have them, with positions. Queries on a field that
//! is not indexed use them by scanning documents, and find the same results as with an index.
//!
//! Values are processed as in tantivy's indexing; `json` fields are read from `_verbatim`.

use std::borrow::Cow;

use tantivy::schema::document::{CompactDocValue, ReferenceValue, ReferenceValueLeaf};
use tantivy::schema::{Field, FieldType, Value as _};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{TantivyDocument, Term};

use serde::de::DeserializeSeed as _;

use crate::config::FieldKind;
use crate::field_path::split_path;
use crate::mapper::parse::json_value::{Entries, JsonValue};
use crate::mapper::parse::parse_json::{JsonSeed, PathLink};
use crate::mapper::parse::walk::Walk;
use crate::mapper::resolve::ResolvedField;
use crate::mapper::schema::doc_mapper::DocMapper;
use crate::mapper::tree::{Child, ObjectNode, Values};

/// Gap between the values of an array, so that phrases do not match across them.
const POSITION_GAP: u32 = 1;

/// Separator of keys in the path of a JSON term.
const BETWEEN_KEYS: char = '\u{1}';

/// Field that is searched by scanning stored documents.
#[derive(Clone, Debug, PartialEq)]
pub struct ScannedField {
    field: Field,
    /// Name of the field in the schema.
    name: String,
    is_dynamic: bool,
    /// What is looked through instead of documents.
    values_of: Option<Vec<Values>>,
    tokenizer: Option<String>,
    json: Option<JsonPlace>,
}

/// Path inside a JSON field.
#[derive(Clone, Debug, PartialEq)]
struct JsonPlace {
    /// Path in the form of terms.
    path: String,
    expand_dots: bool,
}

/// Stored document to scan.
pub struct StoredDoc<'d> {
    pub(super) document: &'d TantivyDocument,
    pub(super) json: Entries<'d>,
}

impl ScannedField {
    /// Creates a field for documents of the split whose mapper resolved it.
    pub fn of(field: &ResolvedField<'_>) -> ScannedField {
        let (tokenizer, json) = match field.kind {
            FieldKind::Text(text) => (Some(&text.tokenizer), None),
            FieldKind::Json(json) => {
                let base =
                    Term::from_field_json_path(field.field, &field.json_path, json.expand_dots);
                let path = String::from_utf8_lossy(base.serialized_value_bytes()).into_owned();
                let place = JsonPlace {
                    path: path.strip_suffix('\0').unwrap_or(&path).to_owned(),
                    expand_dots: json.expand_dots,
                };
                (Some(&json.tokenizer), Some(place))
            }
            _ => (None, None),
        };
        ScannedField {
            field: field.field,
            name: field.name.to_owned(),
            is_dynamic: field.is_dynamic,
            values_of: field.values_of.map(<[Values]>::to_vec),
            tokenizer: tokenizer.cloned(),
            json,
        }
    }

    /// Returns the dictionaries of whole values that are looked through instead of documents.
    pub fn values_of(&self) -> Option<&[Values]> {
        self.values_of.as_deref()
    }

    /// Returns whether it is in a JSON field.
    pub fn is_json(&self) -> bool {
        self.json.is_some()
    }
}

impl DocMapper {
    /// Prepares a document of the doc store for scanning; `with_json` is needed for JSON fields.
    pub fn stored_doc<'d>(&self, document: &'d TantivyDocument, with_json: bool) -> StoredDoc<'d> {
        let verbatim = self.verbatim.filter(|_| with_json);
        let verbatim = verbatim.and_then(|field| document.get_first(field)?.as_str());
        let json = match verbatim.and_then(|text| self.any_value(text)) {
            Some(JsonValue::Object(entries)) => entries,
            _ => Entries::new(),
        };
        StoredDoc { document, json }
    }

    /// Returns a text field of the schema whose terms have positions and whose texts documents store.
    pub fn stored_text(&self, field: Field) -> Option<ScannedField> {
        let mut fields = self.schema.fields();
        let (_, entry) = fields.find(|(number, _)| *number == field)?;
        let FieldType::Str(options) = entry.field_type() else {
            return None;
        };
        let indexing = options.get_indexing_options()?;
        if !indexing.index_option().has_positions() || !options.is_stored() {
            return None;
        }
        Some(ScannedField {
            field,
            name: entry.name().to_owned(),
            is_dynamic: false,
            values_of: None,
            tokenizer: Some(indexing.tokenizer().to_owned()),
            json: None,
        })
    }

    /// Returns the tokenizer of a field.
    pub fn analyzer_of(&self, field: &ScannedField) -> Option<TextAnalyzer> {
        self.analyzers.0.get(field.tokenizer.as_ref()?)
    }

    /// Passes the terms that a document would have in a field to `add`, as in a dictionary, with
    /// positions.
    pub fn for_each_term(
        &self,
        field: &ScannedField,
        doc: &StoredDoc<'_>,
        analyzer: Option<&mut TextAnalyzer>,
        add: &mut dyn FnMut(&[u8], u32),
    ) {
        let mut words = Words {
            field: field.field,
            analyzer,
            prefix: Vec::new(),
            next: 0,
            add,
        };
        let Some(place) = &field.json else {
            let values = doc.document.get_all(field.field);
            values.for_each(|value| words.add_stored(value));
            return;
        };
        self.for_each_json(field, doc, place, &mut |path, value| {
            if path == place.path {
                words.prefix.clear();
                words.prefix.extend_from_slice(path.as_bytes());
                words.prefix.push(0);
                words.add_json(value);
            }
        });
    }

    /// Returns whether a document has a value in a field, or below its path.
    pub fn has_value(&self, field: &ScannedField, doc: &StoredDoc<'_>) -> bool {
        let Some(place) = &field.json else {
            return doc.document.get_first(field.field).is_some();
        };
        let mut found = false;
        self.for_each_json(field, doc, place, &mut |path, _| {
            let below = path.strip_prefix(place.path.as_str());
            found |= place.path.is_empty()
                || below.is_some_and(|below| below.is_empty() || below.starts_with(BETWEEN_KEYS));
        });
        found
    }

    /// Passes every value in a JSON field to `visit`, with its path.
    fn for_each_json(
        &self,
        field: &ScannedField,
        doc: &StoredDoc<'_>,
        place: &JsonPlace,
        visit: &mut dyn FnMut(&str, &JsonValue<'_>),
    ) {
        let mut path = String::new();
        if field.is_dynamic {
            visit_unmapped(Some(&self.root), &doc.json, &mut path, place, visit);
            return;
        }
        let segments = split_path(&field.name);
        let Some((last, parents)) = segments.split_last() else {
            return;
        };
        let mut entries = &doc.json;
        for parent in parents {
            match entries.iter().find(|(key, _)| key == parent) {
                Some((_, JsonValue::Object(inner))) => entries = inner,
                _ => return,
            }
        }
        let own = entries.iter().find(|(key, _)| key == last);
        match own {
            // An element of an `array<json>` is a value of the field.
            Some((_, JsonValue::Array(items))) => {
                for item in items {
                    visit_value(item, &mut path, place, visit);
                }
            }
            Some((_, value)) => visit_value(value, &mut path, place, visit),
            None => {}
        }
    }
}

impl DocMapper {
    /// Parses a value of any shape, like an unmapped one.
    pub(super) fn any_value<'t>(&self, text: &'t str) -> Option<JsonValue<'t>> {
        let mut walk = Walk::new(self, Vec::new());
        let link = PathLink {
            parent: None,
            root: "",
            key: "",
        };
        let seed = JsonSeed {
            walk: &mut walk,
            path: &link,
            depth: 0,
        };
        let mut json = serde_json::Deserializer::from_str(text);
        seed.deserialize(&mut json).ok()
    }
}

/// Visits the unmapped values of an object.
fn visit_unmapped(
    node: Option<&ObjectNode>,
    entries: &Entries<'_>,
    path: &mut String,
    place: &JsonPlace,
    visit: &mut dyn FnMut(&str, &JsonValue<'_>),
) {
    for (key, value) in entries {
        let found = node.and_then(|node| node.child(node.find_key(key, usize::MAX)?));
        let inner = match (found, value) {
            (Some(Child::Leaf(leaf)), _) if !leaf.is_absent => continue,
            (Some(Child::Object(object)), JsonValue::Object(inner)) => Some((object, inner)),
            _ => None,
        };
        let len = push_key(path, key, place.expand_dots);
        match inner {
            Some((object, inner)) => visit_unmapped(Some(object), inner, path, place, visit),
            None => visit_value(value, path, place, visit),
        }
        path.truncate(len);
    }
}

fn visit_value(
    value: &JsonValue<'_>,
    path: &mut String,
    place: &JsonPlace,
    visit: &mut dyn FnMut(&str, &JsonValue<'_>),
) {
    match value {
        JsonValue::Null => {}
        JsonValue::Array(items) => {
            for item in items {
                visit_value(item, path, place, visit);
            }
        }
        JsonValue::Object(entries) => {
            for (key, value) in entries {
                let len = push_key(path, key, place.expand_dots);
                visit_value(value, path, place, visit);
                path.truncate(len);
            }
        }
        value => visit(path, value),
    }
}

/// Appends a key to a path, and returns its previous length.
fn push_key(path: &mut String, key: &str, expand_dots: bool) -> usize {
    let len = path.len();
    if len > 0 {
        path.push(BETWEEN_KEYS);
    }
    let key = match expand_dots && key.contains('.') {
        true => Cow::Owned(key.replace('.', "\u{1}")),
        false => Cow::Borrowed(key),
    };
    path.push_str(&key);
    len
}

/// Words of one field of one document.
struct Words<'w> {
    field: Field,
    analyzer: Option<&'w mut TextAnalyzer>,
    /// Prefix of values in terms.
    prefix: Vec<u8>,
    /// Position of the next value's first word.
    next: u32,
    add: &'w mut dyn FnMut(&[u8], u32),
}

impl Words<'_> {
    fn add_stored(&mut self, value: CompactDocValue<'_>) {
        let ReferenceValue::Leaf(leaf) = value.as_value() else {
            return;
        };
        let field = self.field;
        let term = match leaf {
            ReferenceValueLeaf::Str(text) => return self.add_text(text),
            ReferenceValueLeaf::U64(n) => Term::from_field_u64(field, n),
            ReferenceValueLeaf::I64(n) => Term::from_field_i64(field, n),
            ReferenceValueLeaf::F64(n) => Term::from_field_f64(field, n),
            ReferenceValueLeaf::Bool(b) => Term::from_field_bool(field, b),
            ReferenceValueLeaf::Date(date) => Term::from_field_date_for_search(field, date),
            ReferenceValueLeaf::IpAddr(ip) => Term::from_field_ip_addr(field, ip),
            ReferenceValueLeaf::Bytes(bytes) => Term::from_field_bytes(field, bytes),
            _ => return,
        };
        (self.add)(term.serialized_value_bytes(), 0);
    }

    fn add_text(&mut self, text: &str) {
        let Some(analyzer) = self.analyzer.as_deref_mut() else {
            return;
        };
        let (start, prefix_len) = (self.next, self.prefix.len());
        let mut end = start;
        let mut tokens = analyzer.token_stream(text);
        while tokens.advance() {
            let token = tokens.token();
            let place = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
            let position = start.saturating_add(place(token.position));
            end = end.max(position.saturating_add(place(token.position_length)));
            self.prefix.truncate(prefix_len);
            self.prefix.extend_from_slice(token.text.as_bytes());
            (self.add)(&self.prefix, position);
        }
        self.prefix.truncate(prefix_len);
        self.next = end.saturating_add(POSITION_GAP);
    }

    fn add_json(&mut self, value: &JsonValue<'_>) {
        // Only the part after the path is used.
        let mut term = Term::from_field_json_path(self.field, "", false);
        let start = term.serialized_value_bytes().len();
        match value {
            JsonValue::Str(text) => {
                term.append_type_and_str("");
                let typed = term.serialized_value_bytes().get(start..);
                self.prefix.extend_from_slice(typed.unwrap_or_default());
                return self.add_text(text);
            }
            JsonValue::Bool(b) => term.append_type_and_fast_value(*b),
            JsonValue::I64(n) => term.append_type_and_fast_value(*n),
            JsonValue::U64(n) => match i64::try_from(*n) {
                Ok(n) => term.append_type_and_fast_value(n),
                Err(_) => term.append_type_and_fast_value(*n),
            },
            JsonValue::F64(n) => append_number(&mut term, *n),
            JsonValue::Date(date) => {
                let second = date.truncate(tantivy::schema::DATE_TIME_PRECISION_INDEXED);
                term.append_type_and_fast_value(second);
            }
            JsonValue::Null | JsonValue::Array(_) | JsonValue::Object(_) => return,
        }
        let typed = term.serialized_value_bytes().get(start..);
        self.prefix.extend_from_slice(typed.unwrap_or_default());
        (self.add)(&self.prefix, 0);
    }
}

/// Appends a number; an integer has one term, however it is written.
fn append_number(term: &mut Term, number: f64) {
    use tantivy::columnar::NumericalValue;
    match NumericalValue::F64(number).normalize() {
        NumericalValue::I64(n) => term.append_type_and_fast_value(n),
        NumericalValue::U64(n) => term.append_type_and_fast_value(n),
        NumericalValue::F64(n) => term.append_type_and_fast_value(n),
    }
}
