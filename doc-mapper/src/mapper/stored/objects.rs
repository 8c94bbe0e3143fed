//! Objects in a list of a stored document, each as a document of its own: what a nested query looks at.

use tantivy::TantivyDocument;
use tantivy::schema::Value as _;
use tantivy::schema::document::Document as _;

use super::stored_terms::StoredDoc;
use super::verbatim::{elements, entries};
use crate::config::FieldKind;
use crate::documents::encoded::{DocShape, EncodedDocs};
use crate::field_path::split_path;
use crate::mapper::parse::json_value::{Entries, JsonValue};
use crate::mapper::resolve::{Found, find};
use crate::mapper::schema::doc_mapper::DocMapper;

/// An object of a list, with the keys above it.
pub struct NestedObject {
    document: TantivyDocument,
    json: String,
}

impl NestedObject {
    /// Returns the object as a document of its own.
    pub fn document(&self) -> &TantivyDocument {
        &self.document
    }

    /// Returns the object with the keys above it, as JSON.
    pub fn json(&self) -> &str {
        &self.json
    }
}

impl DocMapper {
    /// Returns whether documents have objects in a list at a path, which queries can look at one by one.
    pub fn is_nested(&self, path: &str) -> bool {
        match find(&self.root, &split_path(path)) {
            Some(Found::Object(object)) => object.is_nested,
            Some(Found::Leaf(leaf, [])) => {
                leaf.multi_valued && matches!(leaf.kind, FieldKind::Json(_))
            }
            _ => false,
        }
    }

    /// Returns the text that has the objects of a stored document: the document itself, or its parts that are kept
    /// as they were written.
    pub fn text_with_objects<'d>(&self, document: &'d TantivyDocument) -> Option<&'d str> {
        let text_of = |field| document.get_first(field)?.as_str();
        let source = self.source.and_then(text_of);
        source.or_else(|| self.verbatim.and_then(text_of))
    }

    /// Returns the objects at a path of a document's text, in order.
    pub fn objects_at<'t>(&self, text: &'t str, path: &str) -> Vec<&'t str> {
        let mut objects = Vec::new();
        collect(text, &split_path(path), self.coerces, &mut objects);
        objects
    }

    /// Prepares an object at a path for scanning; `None` if it cannot be parsed.
    pub fn nested_object(&self, path: &str, object: &str) -> Option<NestedObject> {
        let mut json = object.to_owned();
        for key in split_path(path).iter().rev() {
            json = format!("{{{}:{json}}}", serde_json::Value::from(key.as_str()));
        }
        let mut bytes = Vec::new();
        self.encode_without_timestamp(json.as_bytes(), false, &mut bytes)
            .ok()?;
        let all = 0..bytes.len();
        let docs = EncodedDocs::new(bytes, DocShape::of(self.schema()));
        Some(NestedObject {
            document: docs.doc(all).into_tantivy_document(),
            json,
        })
    }

    /// Returns an object as a document to scan.
    pub fn stored_object<'d>(&self, object: &'d NestedObject) -> StoredDoc<'d> {
        let json = match self.any_value(&object.json) {
            Some(JsonValue::Object(entries)) => entries,
            _ => Entries::new(),
        };
        StoredDoc {
            document: &object.document,
            json,
        }
    }
}

/// Collects the objects at a path. With `expands_dots`, a key with dots is the keys between them.
fn collect<'t>(json: &'t str, path: &[String], expands_dots: bool, objects: &mut Vec<&'t str>) {
    let trimmed = json.trim_start();
    if trimmed.starts_with('[') {
        for element in elements(trimmed) {
            collect(element, path, expands_dots, objects);
        }
        return;
    }
    if path.is_empty() {
        objects.extend(trimmed.starts_with('{').then_some(trimmed));
        return;
    }
    for entry in entries(trimmed) {
        let mut rest = path;
        let mut parts = entry.name.split('.');
        let is_on_path = match expands_dots {
            true => parts.all(|part| {
                let next = rest.split_first().filter(|(key, _)| *key == part);
                rest = next.map_or(rest, |(_, others)| others);
                next.is_some()
            }),
            false => rest.split_first().is_some_and(|(key, others)| {
                rest = others;
                *key == entry.name
            }),
        };
        if is_on_path {
            collect(entry.value, rest, expands_dots, objects);
        }
    }
}
