//! What an index would have of a stored document: the terms of a field that is not indexed, with their positions. So a
//! query on it can be answered by looking, and finds what it would have found.
//!
//! It does to values what tantivy does to them when it indexes, and reads `json` fields from `_verbatim`.

use std::borrow::Cow;

use tantivy::schema::document::{CompactDocValue, ReferenceValue, ReferenceValueLeaf};
use tantivy::schema::{Field, Value as _};
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{TantivyDocument, Term};

use serde::de::DeserializeSeed as _;

use super::json_value::{Entries, JsonValue};
use super::parse::Walk;
use super::parse_json::{JsonSeed, PathLink};
use super::resolve::ResolvedField;
use super::schema::DocMapper;
use super::tree::{Child, ObjectNode};
use crate::config::FieldKind;
use crate::field_path::split_path;

/// Between two values of an array lies one place where no word is, so that no phrase reaches over it.
const POSITION_GAP: u32 = 1;

/// Between the keys of a path in a term of a JSON field.
const BETWEEN_KEYS: char = '\u{1}';

/// A field that is searched by looking through stored documents.
#[derive(Clone, Debug, PartialEq)]
pub struct ScannedField {
    field: Field,
    /// The field's name in the schema.
    name: String,
    is_dynamic: bool,
    tokenizer: Option<String>,
    json: Option<JsonPlace>,
}

/// A path inside a JSON field.
#[derive(Clone, Debug, PartialEq)]
struct JsonPlace {
    /// As terms have it.
    path: String,
    expand_dots: bool,
}

/// A stored document that is looked at.
pub struct StoredDoc<'d> {
    document: &'d TantivyDocument,
    json: Entries<'d>,
}

impl ScannedField {
    /// A field, to be looked for in documents of the split whose mapper resolved it.
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
            tokenizer: tokenizer.cloned(),
            json,
        }
    }

    /// Whether it is in a JSON field.
    pub fn is_json(&self) -> bool {
        self.json.is_some()
    }
}

impl DocMapper {
    /// A document of the doc store, ready to be looked at; `with_json` if JSON fields will be.
    pub fn stored_doc<'d>(&self, document: &'d TantivyDocument, with_json: bool) -> StoredDoc<'d> {
        let verbatim = self.verbatim.filter(|_| with_json);
        let verbatim = verbatim.and_then(|field| document.get_first(field)?.as_str());
        let json = match verbatim.and_then(|text| self.any_value(text)) {
            Some(JsonValue::Object(entries)) => entries,
            _ => Entries::new(),
        };
        StoredDoc { document, json }
    }

    /// The tokenizer of a field.
    pub fn analyzer_of(&self, field: &ScannedField) -> Option<TextAnalyzer> {
        self.analyzers.0.get(field.tokenizer.as_ref()?)
    }

    /// Hands over the terms that a document would have in a field, as a dictionary has them, each with its position.
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

    /// Whether a document has a value in a field, or in something below its path.
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

    /// Hands over every value in a JSON field, with its path.
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
    /// A value of any shape, read as those are that are not mapped.
    fn any_value<'t>(&self, text: &'t str) -> Option<JsonValue<'t>> {
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

/// The values of an object that are not mapped.
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

/// Lengthens a path; returns how long it was.
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

/// The words of one field of one document, on their way.
struct Words<'w> {
    field: Field,
    analyzer: Option<&'w mut TextAnalyzer>,
    /// What stands before a value in a term.
    prefix: Vec<u8>,
    /// The position of the next value's first word.
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
        // Only the part behind the path is of interest.
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

/// A whole number has one term, however it was written.
fn append_number(term: &mut Term, number: f64) {
    use tantivy::columnar::NumericalValue;
    match NumericalValue::F64(number).normalize() {
        NumericalValue::I64(n) => term.append_type_and_fast_value(n),
        NumericalValue::U64(n) => term.append_type_and_fast_value(n),
        NumericalValue::F64(n) => term.append_type_and_fast_value(n),
    }
}
