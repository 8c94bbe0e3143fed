//! Terms of JSON fields: a path, the type of a value, and the value.
//!
//! While documents are added, a key begins with the number of its path; in the segment, with the path itself.

use tantivy::columnar::NumericalValue;
use tantivy::fastfield::FastValue;
use tantivy::schema::document::{ReferenceValue, ReferenceValueLeaf};
use tantivy::schema::{DATE_TIME_PRECISION_INDEXED, Type, Value};
use tantivy_common::JsonPathWriter;

use crate::cut::Cutter;
use crate::field::Scratch;
use crate::log::Occurrence;
use crate::words::{Words, hash_of};

/// Byte after a path.
const END_OF_PATH: u8 = 0;
/// Length of a path's number.
pub(crate) const PATH_LEN: usize = 4;

pub(crate) struct JsonTerms {
    cutter: Cutter,
    path: JsonPathWriter,
    pub(crate) paths: Words,
    /// For each path, the last document with a text there, and the position after its last one.
    ends: Vec<(u32, u32)>,
    key: Vec<u8>,
    /// The document, counted from 1.
    doc: u32,
}

impl JsonTerms {
    pub(crate) fn new(cutter: Cutter, expands_dots: bool) -> Self {
        Self {
            cutter,
            path: JsonPathWriter::with_expand_dots(expands_dots),
            paths: Words::default(),
            ends: Vec::new(),
            key: Vec::new(),
            doc: 0,
        }
    }

    pub(crate) fn num_bytes(&self) -> usize {
        self.paths.num_bytes() + 8 * self.ends.len()
    }

    /// Begins a document.
    pub(crate) fn begin(&mut self, doc: u32) {
        self.doc = doc + 1;
        self.path.clear();
    }

    /// Adds a value below the current path.
    pub(crate) fn add<'a, V: Value<'a>>(
        &mut self,
        value: &V,
        words: &mut Words,
        scratch: &mut Scratch,
    ) {
        match value.as_value() {
            ReferenceValue::Leaf(leaf) => self.add_leaf(leaf, words, scratch),
            ReferenceValue::Array(items) => {
                for item in items {
                    self.add(&item, words, scratch);
                }
            }
            ReferenceValue::Object(entries) => {
                for (key, value) in entries {
                    if key.as_bytes().contains(&END_OF_PATH) {
                        continue;
                    }
                    self.path.push(key);
                    self.add(&value, words, scratch);
                    self.path.pop();
                }
            }
        }
    }

    fn add_leaf(&mut self, leaf: ReferenceValueLeaf<'_>, words: &mut Words, scratch: &mut Scratch) {
        match leaf {
            ReferenceValueLeaf::Str(text) => self.add_text(text, words, scratch),
            ReferenceValueLeaf::U64(number) => {
                self.add_number(NumericalValue::U64(number), words, scratch);
            }
            ReferenceValueLeaf::I64(number) => {
                self.add_number(NumericalValue::I64(number), words, scratch);
            }
            ReferenceValueLeaf::F64(number) if number.is_finite() => {
                self.add_number(NumericalValue::F64(number), words, scratch);
            }
            ReferenceValueLeaf::Bool(is) => self.add_single(is, words, scratch),
            ReferenceValueLeaf::Date(time) => {
                self.add_single(time.truncate(DATE_TIME_PRECISION_INDEXED), words, scratch);
            }
            _ => {}
        }
    }

    /// Numbers are whole where they can be, as in queries.
    fn add_number(&mut self, number: NumericalValue, words: &mut Words, scratch: &mut Scratch) {
        match number.normalize() {
            NumericalValue::I64(number) => self.add_single(number, words, scratch),
            NumericalValue::U64(number) => self.add_single(number, words, scratch),
            NumericalValue::F64(number) => self.add_single(number, words, scratch),
        }
    }

    fn add_single<T: FastValue>(&mut self, value: T, words: &mut Words, scratch: &mut Scratch) {
        self.begin_key(T::to_type());
        self.key.extend_from_slice(&value.to_u64().to_be_bytes());
        let term = words.term(hash_of(&self.key), &self.key);
        words.count(term);
        scratch.found.push(Occurrence { term, position: 0 });
    }

    fn add_text(&mut self, text: &str, words: &mut Words, scratch: &mut Scratch) {
        let path = self.begin_key(Type::Str);
        let path = path as usize;
        if self.ends.len() <= path {
            self.ends.resize(path + 1, (0, 0));
        }
        let (doc, end) = &mut self.ends[path];
        let first = if *doc == self.doc { *end } else { 0 };
        self.cutter.cut(text, &mut scratch.cut);
        (*doc, *end) = (
            self.doc,
            first.wrapping_add(scratch.cut.end).wrapping_add(1),
        );
        let key_len = self.key.len();
        for word in &scratch.cut.words {
            self.key.truncate(key_len);
            self.key.extend_from_slice(scratch.cut.bytes(word));
            let term = words.term(hash_of(&self.key), &self.key);
            words.count(term);
            scratch.found.push(Occurrence {
                term,
                position: first.wrapping_add(word.position),
            });
        }
    }

    /// Begins the key of a value at the current path; returns the path's number.
    fn begin_key(&mut self, value_type: Type) -> u32 {
        let path = self.path.as_str().as_bytes();
        let path = self.paths.term(hash_of(path), path);
        self.key.clear();
        self.key.extend_from_slice(&path.to_be_bytes());
        self.key.push(value_type.to_code());
        path
    }

    /// Returns the place of each path among all paths.
    pub(crate) fn places(&self) -> Vec<u32> {
        let num_paths = u32::try_from(self.paths.len()).unwrap_or(u32::MAX);
        let mut sorted: Vec<u32> = (0..num_paths).collect();
        sorted.sort_unstable_by_key(|path| self.paths.key(*path));
        let mut places = vec![0; sorted.len()];
        for (place, path) in (0..).zip(sorted) {
            places[path as usize] = place;
        }
        places
    }

    /// Returns the number of the path with which a key begins.
    pub(crate) fn path_of(key: &[u8]) -> u32 {
        let path = key.get(..PATH_LEN).and_then(|path| path.try_into().ok());
        path.map_or(0, u32::from_be_bytes)
    }

    /// Writes the key that the segment has.
    pub(crate) fn write_key(&self, key: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(self.paths.key(Self::path_of(key)));
        out.push(END_OF_PATH);
        out.extend_from_slice(&key[PATH_LEN..]);
    }

    /// Returns whether a key is that of a text.
    pub(crate) fn is_text(key: &[u8]) -> bool {
        key.get(PATH_LEN) == Some(&Type::Str.to_code())
    }
}
