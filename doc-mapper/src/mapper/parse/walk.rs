//! Parser of JSON lines into encoded documents, in one pass.
//!
//! The mapping tree drives serde: each mapped key passes its value directly to its field, and
//! strings are borrowed from the line. Only `json` fields and unmapped keys of dynamic mode are
//! parsed into a tree.
//!
//! Guarantees:
//! - `null` is equivalent to absent.
//! - **A duplicate key in an object refuses the document** (`duplicate_key`), because either choice
//!   would lose a value silently. Ignored keys (lenient mode) are not compared.
//! - Half of a surrogate pair becomes U+FFFD.
//! - A key at the root that the index uses itself (`_dynamic`) refuses the document
//!   (`reserved_name`): queries would not find its value.
//! - Only `array<…>`, `nested` and `json` fields accept an array.
//! - With `ignore_malformed`, a value that its field does not accept is shown as written and not searched; a number or
//!   boolean in a text field is searched as text.
//! - The first error decides; no part of a refused document is indexed.

use std::borrow::Cow;
use std::fmt;

use canter_names::mend_json;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use tantivy::schema::Field;
use tantivy::schema::document::Document;
use tantivy::{DateTime, TantivyDocument};

use super::parse_leaf::LeafSeed;
use crate::config::Mode;
use crate::documents::doc_error::{DocError, DocErrorReason, shorten};
use crate::documents::encoded::{DocEncoder, DocShape, EncodedDocs};
use crate::field_path::{escape_segment, num_path_bytes};
use crate::mapper::parse::json_value::{Entries, JsonValue, MAX_COLUMN_DEPTH, flattened};
use crate::mapper::parse::object::{Key, KeySeed, Seen, add_entries};
use crate::mapper::parse::parse_json::{JsonSeed, PathLink, SkipSeed, skip_seq};
use crate::mapper::parse::presence::{PathHasher, object_hashes};
use crate::mapper::schema::doc_mapper::DocMapper;
use crate::mapper::tree::{Child, Leaf, ObjectNode};

/// Maximum nesting of objects and arrays in a document.
pub const MAX_DEPTH: u32 = 64;

/// Maximum size of a document. tantivy addresses its parts with 32 bits, which leaves ample room.
pub(super) const MAX_DOC_BYTES: usize = 1 << 28;

/// Accepted document.
#[derive(Clone, Debug)]
pub struct ParsedDoc {
    /// Document that can be added to an index with the mapper's schema.
    pub document: TantivyDocument,
    /// Value of the timestamp field as in its fast field: truncated to `fast_precision`. Absent if the mapping has no
    /// timestamp field, or if malformed values are ignored and the document has no valid one.
    pub timestamp: Option<DateTime>,
}

/// State shared by the visitors.
pub(in crate::mapper) struct Walk<'m> {
    pub(in crate::mapper) mapper: &'m DocMapper,
    pub(in crate::mapper) document: DocEncoder,
    pub(in crate::mapper) timestamp: Option<DateTime>,
    pub(in crate::mapper) presence: Vec<u64>,
    /// Maximum depth of a value of any shape in the document.
    pub(in crate::mapper) deepest: u32,
    /// Total length of the paths of values in fields of any shape.
    num_path_bytes: u64,
    /// Paths of the fields whose values were ignored as malformed.
    pub(in crate::mapper) ignored: Vec<&'m str>,
    /// Fields of vectors that have one.
    pub(super) vectors: Vec<Field>,
    /// Values of completions, whose entries are made once the document is known.
    pub(super) completions: Vec<(&'m Leaf, serde_json::Value)>,
    /// Error to return: serde's errors only carry text.
    pub(super) error: Option<DocError>,
}

impl<'m> Walk<'m> {
    /// Creates a state that appends to `bytes`.
    pub(in crate::mapper) fn new(mapper: &'m DocMapper, bytes: Vec<u8>) -> Walk<'m> {
        Walk {
            mapper,
            document: DocEncoder { bytes },
            timestamp: None,
            presence: Vec::new(),
            deepest: 0,
            num_path_bytes: 0,
            ignored: Vec::new(),
            vectors: Vec::new(),
            completions: Vec::new(),
            error: None,
        }
    }

    #[cold]
    pub(in crate::mapper) fn fail<E: Error>(&mut self, error: DocError) -> E {
        self.error = Some(error);
        E::custom("")
    }
}

impl DocMapper {
    /// Parses a JSON object into a document.
    ///
    /// # Errors
    /// A [`DocError`] with its reason; the whole document is refused.
    pub fn parse_doc(&self, line: &[u8]) -> Result<ParsedDoc, DocError> {
        let mut bytes = Vec::new();
        let timestamp = self.encode_doc(line, &mut bytes)?;
        let all = 0..bytes.len();
        let docs = EncodedDocs::new(bytes, DocShape::of(&self.schema));
        Ok(ParsedDoc {
            document: docs.doc(all).into_tantivy_document(),
            timestamp,
        })
    }

    /// Parses a JSON object, and appends the encoded document to `out`. Returns the value of the
    /// timestamp field, as [`ParsedDoc::timestamp`]. A document without one, where that is
    /// allowed, needs [`add_timestamp`](DocMapper::add_timestamp).
    ///
    /// # Errors
    /// As [`DocMapper::parse_doc`]; nothing is appended then.
    pub fn encode_doc(&self, line: &[u8], out: &mut Vec<u8>) -> Result<Option<DateTime>, DocError> {
        let before = out.len();
        let timestamp = self.encode_without_timestamp(line, true, out)?;
        if let (Some((_, path)), None, false) =
            (self.timestamp_field(), timestamp, self.ignores_malformed)
        {
            out.truncate(before);
            let reason = DocErrorReason::MissingTimestamp;
            let message = "the document has no value for the timestamp field";
            return Err(DocError::new(reason, path, message));
        }
        Ok(timestamp)
    }

    /// Encodes a document like [`DocMapper::encode_doc`], but without requiring a timestamp. Terms
    /// are counted only with `counts_terms`.
    pub(in crate::mapper) fn encode_without_timestamp(
        &self,
        line: &[u8],
        counts_terms: bool,
        out: &mut Vec<u8>,
    ) -> Result<Option<DateTime>, DocError> {
        if line.len() > MAX_DOC_BYTES {
            let message = format!(
                "a document may have {MAX_DOC_BYTES} bytes, this one has {}",
                line.len()
            );
            return Err(DocError::new(DocErrorReason::TooLarge, "", message));
        }
        let text = std::str::from_utf8(line).map_err(|e| {
            let message = format!("the line is not UTF-8 from byte {} on", e.valid_up_to());
            DocError::new(DocErrorReason::InvalidUtf8, "", message)
        })?;
        let encoded = self.encode_text(text, counts_terms, out);
        match &encoded {
            // Right lines pay nothing for it.
            Err(error) if error.reason() == DocErrorReason::NotJson => {
                let mended = mend_json(line).and_then(|mended| String::from_utf8(mended).ok());
                match mended {
                    Some(mended) => self.encode_text(&mended, counts_terms, out),
                    None => encoded,
                }
            }
            _ => encoded,
        }
    }

    fn encode_text(
        &self,
        text: &str,
        counts_terms: bool,
        out: &mut Vec<u8>,
    ) -> Result<Option<DateTime>, DocError> {
        let before = out.len();
        let mut walk = Walk::new(self, std::mem::take(out));
        let mut json = serde_json::Deserializer::from_str(text);
        let seed = ObjectSeed {
            walk: &mut walk,
            node: &self.root,
            depth: 1,
        };
        let parsed = seed
            .deserialize(&mut json)
            .and_then(|extra| json.end().map(|()| extra));
        let refused = match parsed {
            Ok(extra) => {
                walk.finish(extra, text);
                match walk.error.take() {
                    None if counts_terms => self.check_terms(&walk, before).err(),
                    refused => refused,
                }
            }
            Err(error) => {
                let refused = walk.error.take();
                Some(refused.unwrap_or_else(|| syntax_error(&error, text)))
            }
        };
        *out = walk.document.bytes;
        match refused {
            None => Ok(walk.timestamp),
            Some(refused) => {
                out.truncate(before);
                Err(refused)
            }
        }
    }

    /// Checks that the document appended after `before` does not exceed the limits of terms.
    pub(super) fn check_terms(&self, walk: &Walk<'_>, before: usize) -> Result<(), DocError> {
        let bytes = walk.document.bytes.get(before..).unwrap_or_default();
        self.term_bounds
            .check(bytes, &self.schema, &self.analyzers.0)
    }
}

fn syntax_error(error: &serde_json::Error, text: &str) -> DocError {
    let message = error.to_string();
    let reason = match message.starts_with("number out of range") {
        true => DocErrorReason::OutOfRange,
        false => DocErrorReason::NotJson,
    };
    DocError::new(
        reason,
        "",
        format!(
            "not JSON: {message}; the line starts {:?}",
            shorten(text.trim_start())
        ),
    )
}

impl Walk<'_> {
    pub(super) fn finish(&mut self, extra: Entries<'_>, text: &str) {
        self.add_completions(text);
        let mapper = self.mapper;
        let has_extra = !extra.is_empty();
        if let (Some(dynamic), true) = (&mapper.dynamic, has_extra) {
            self.add_json(dynamic, &JsonValue::Object(extra));
        }
        if let Some(field) = mapper.verbatim
            && let Some(parts) = mapper.verbatim_parts(text, has_extra, &self.ignored)
        {
            self.document.add_text(field, parts);
        }
        if let Some(source) = mapper.source {
            self.document.add_text(source, text.trim_ascii());
        }
        if let Some(size) = &mapper.document_size {
            self.document.add_u64(size.field, text.len() as u64);
        }
        self.add_own_texts();
        if let Some(field) = mapper.presence {
            self.presence.sort_unstable();
            self.presence.dedup();
            for hash in &self.presence {
                self.document.add_u64(field, *hash);
            }
        }
    }

    pub(in crate::mapper) fn add_json(&mut self, leaf: &Leaf, value: &JsonValue<'_>) {
        // Checked before anything is built: a long key above many values is repeated for each of
        // them.
        self.num_path_bytes = self.num_path_bytes.saturating_add(num_path_bytes(value));
        if let Err(error) = self
            .mapper
            .term_bounds
            .check_paths(self.num_path_bytes, &leaf.path)
        {
            self.error.get_or_insert(error);
            return;
        }
        if !leaf.copies.is_empty() {
            value.for_each_text(&mut |text| self.add_copies(leaf, text));
        }
        if let (Some(_), JsonValue::Object(entries)) = (leaf.presence, value) {
            object_hashes(
                PathHasher::new(&leaf.path),
                entries,
                leaf.expands_dots(),
                &|value| leaf.needs_presence(value),
                &mut self.presence,
            );
        }
        match value {
            JsonValue::Object(entries) if self.deepest > MAX_COLUMN_DEPTH => {
                let flat = JsonValue::Object(flattened(entries));
                self.document.add_json(leaf.field, &flat);
            }
            _ => self.document.add_json(leaf.field, value),
        }
    }
}

/// Seed for a mapped object. Returns its unmapped values in dynamic mode.
struct ObjectSeed<'w, 'm> {
    walk: &'w mut Walk<'m>,
    node: &'m ObjectNode,
    depth: u32,
}

impl<'de> DeserializeSeed<'de> for ObjectSeed<'_, '_> {
    type Value = Entries<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl ObjectSeed<'_, '_> {
    /// Nothing, where a value that is no object is ignored.
    fn no_object<'de, E: Error>(self, got: &str) -> Result<Entries<'de>, E> {
        let path = self.node.path.as_str();
        let reason = match path {
            "" => DocErrorReason::NotAnObject,
            _ if self.walk.mapper.ignores_malformed => {
                self.walk.ignored.push(path);
                return Ok(Vec::new());
            }
            _ => DocErrorReason::WrongType,
        };
        Err(self.walk.fail(DocError::new(
            reason,
            path,
            format!("expected an object, got {got}"),
        )))
    }
}

impl<'de> Visitor<'de> for ObjectSeed<'_, '_> {
    type Value = Entries<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
        let ObjectSeed { walk, node, depth } = self;
        let mode = walk.mapper.mode;
        let mut extra: Entries<'de> = Vec::new();
        let mut seen = Seen::default();
        let mut guess = 0;
        while let Some(key) = map.next_key_seed(KeySeed { node, guess })? {
            match key {
                Key::Mapped(position) => {
                    let Some((name, child)) = node.children.get(position) else {
                        continue;
                    };
                    if !seen.insert(position) {
                        return Err(walk.fail(duplicate_key(&node.path, name)));
                    }
                    guess = position + 1;
                    match child {
                        Child::Leaf(leaf) => map.next_value_seed(LeafSeed { walk, leaf, depth })?,
                        Child::Object(child) => {
                            let seed = ObjectSeed {
                                walk,
                                node: child,
                                depth: depth + 1,
                            };
                            let inner = map.next_value_seed(seed)?;
                            if !inner.is_empty() {
                                extra.push((Cow::Owned(name.clone()), JsonValue::Object(inner)));
                            }
                        }
                    }
                }
                Key::Other(key) => match mode {
                    _ if let Some(child) = walk.mapper.below_dots(node, &key) => {
                        let inner = read_child(walk, child, depth, &mut map)?;
                        extra.extend(inner.map(|inner| (key, inner)));
                    }
                    Mode::Lenient => map.next_value_seed(SkipSeed {
                        walk,
                        key: &key,
                        depth,
                    })?,
                    Mode::Strict => return Err(walk.fail(unknown_field(&node.path, &key))),
                    Mode::Dynamic => {
                        if node.path.is_empty() && walk.mapper.is_own_key(&key) {
                            return Err(walk.fail(DocError::reserved_name(&key)));
                        }
                        let link = PathLink {
                            parent: None,
                            root: &node.path,
                            key: &key,
                        };
                        let value = map.next_value_seed(JsonSeed {
                            walk,
                            path: &link,
                            depth,
                        })?;
                        extra.push((key, value));
                    }
                },
            }
        }
        if let Some(twice) = super::parse_json::duplicate(&extra) {
            return Err(walk.fail(duplicate_key(&node.path, twice)));
        }
        Ok(extra)
    }

    fn visit_unit<E: Error>(self) -> Result<Entries<'de>, E> {
        if self.node.path.is_empty() {
            self.no_object("null")
        } else {
            Ok(Vec::new())
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Entries<'de>, A::Error> {
        let ObjectSeed { walk, node, depth } = self;
        if !(node.is_nested || walk.mapper.coerces && node.takes_lists()) {
            if walk.mapper.ignores_malformed {
                skip_seq(walk, &node.path, depth, seq)?;
            }
            return ObjectSeed { walk, node, depth }.no_object("an array");
        }
        let depth = depth + 1;
        let mut all = Entries::new();
        while let Some(extra) = seq.next_element_seed(ObjectSeed { walk, node, depth })? {
            add_entries(&mut all, extra);
        }
        Ok(all)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Entries<'de>, E> {
        self.no_object(&format!("the boolean {value}"))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Entries<'de>, E> {
        self.no_object(&format!("the number {value}"))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Entries<'de>, E> {
        self.no_object(&format!("the number {value}"))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Entries<'de>, E> {
        self.no_object(&format!("the number {value}"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Entries<'de>, E> {
        self.no_object(&format!("the string {:?}", shorten(value)))
    }
}

/// Reads the value of a key with dots, whose objects are in one key; returns its unmapped values.
#[cold]
fn read_child<'de, 'm, A: MapAccess<'de>>(
    walk: &mut Walk<'m>,
    child: &'m Child,
    depth: u32,
    map: &mut A,
) -> Result<Option<JsonValue<'de>>, A::Error> {
    match child {
        Child::Leaf(leaf) => map.next_value_seed(LeafSeed { walk, leaf, depth })?,
        Child::Object(node) => {
            let inner = map.next_value_seed(ObjectSeed { walk, node, depth })?;
            return Ok((!inner.is_empty()).then_some(JsonValue::Object(inner)));
        }
    }
    Ok(None)
}

fn unknown_field(parent: &str, key: &str) -> DocError {
    let message = "the field is not mapped, and the mode is strict";
    DocError::new(
        DocErrorReason::UnknownField,
        child_path(parent, key),
        message,
    )
}

fn child_path(parent: &str, key: &str) -> String {
    let key = escape_segment(key);
    if parent.is_empty() {
        key
    } else {
        format!("{parent}.{key}")
    }
}

fn duplicate_key(parent: &str, key: &str) -> DocError {
    DocError::duplicate_key(child_path(parent, key))
}
