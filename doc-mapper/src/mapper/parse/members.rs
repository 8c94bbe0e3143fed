//! Encoder of documents whose members are handed over one by one, as readers of log lines find them, without JSON between.
//!
//! Values pass through the same seeds as those of a JSON line, so the encoded document is the same to the byte. A
//! document whose JSON the index needs is left to [`DocMapper::encode_doc`]: one with an unmapped value that dynamic mode
//! indexes, a value that its field does not accept, or a name that stands there twice. That includes all refused
//! documents, so errors are made in one place.

use serde::de::value::{BorrowedStrDeserializer, Error};
use serde::de::{DeserializeSeed, Deserializer};
use tantivy::DateTime;

use super::object::Seen;
use super::parse_leaf::LeafSeed;
use super::walk::{MAX_DOC_BYTES, Walk};
use crate::config::Mode;
use crate::mapper::schema::doc_mapper::DocMapper;
use crate::mapper::tree::Child;

/// Maximum number of bytes for one in the JSON of a text, where it is escaped.
const MAX_GROWTH: usize = 6;

/// Encoder of one document.
pub struct MemberEncoder<'m> {
    walk: Walk<'m>,
    seen: Seen,
    /// The likely position of the next member.
    guess: usize,
    num_bytes: usize,
    /// True once the document needs to be JSON.
    needs_json: bool,
}

impl MemberEncoder<'_> {
    /// Adds a text.
    pub fn string(&mut self, name: &str, value: &str) {
        self.add(name, value, BorrowedStrDeserializer::<Error>::new(value));
    }

    /// Adds a value that is valid JSON.
    pub fn json(&mut self, name: &str, value: &str) {
        let json = &mut serde_json::Deserializer::from_str(value);
        self.add(name, value, json);
    }

    fn add<'de, D: Deserializer<'de>>(&mut self, name: &str, text: &str, value: D) {
        if self.needs_json {
            return;
        }
        self.num_bytes = self.num_bytes.saturating_add(name.len() + text.len());
        let mapper = self.walk.mapper;
        let Some(position) = mapper.root.find_key(name, self.guess) else {
            self.needs_json = mapper.mode != Mode::Lenient;
            return;
        };
        self.guess = position + 1;
        let walk = &mut self.walk;
        let is_added = match mapper.root.child(position) {
            Some(Child::Leaf(leaf)) if self.seen.insert(position) => {
                let depth = 1;
                LeafSeed { walk, leaf, depth }.deserialize(value).is_ok()
            }
            _ => false,
        };
        self.needs_json = !is_added;
    }
}

impl DocMapper {
    /// Returns whether documents may be encoded by their members: hits show nothing of a document's JSON.
    #[must_use]
    pub fn takes_members(&self) -> bool {
        self.source.is_none() && self.document_size.is_none() && !self.has_verbatim_fields
    }

    /// Encodes a document whose members `add` hands over, like [`DocMapper::encode_doc`] its JSON, and returns the value
    /// of the timestamp field. `None` if `add` returns false, or if the document needs to be JSON; nothing is appended to
    /// `out` then.
    pub fn encode_members(
        &self,
        out: &mut Vec<u8>,
        add: impl FnOnce(&mut MemberEncoder<'_>) -> bool,
    ) -> Option<Option<DateTime>> {
        let before = out.len();
        let mut encoder = MemberEncoder {
            walk: Walk::new(self, std::mem::take(out)),
            seen: Seen::default(),
            guess: 0,
            num_bytes: 0,
            needs_json: !self.takes_members(),
        };
        let is_added = add(&mut encoder);
        let mut walk = encoder.walk;
        let is_complete = is_added
            && !encoder.needs_json
            && encoder.num_bytes < MAX_DOC_BYTES / MAX_GROWTH
            && walk.ignored.is_empty()
            && (walk.timestamp.is_some()
                || self.timestamp_field().is_none()
                || self.ignores_malformed);
        if is_complete {
            walk.finish(Vec::new(), "");
        }
        let is_taken =
            is_complete && walk.error.is_none() && self.check_terms(&walk, before).is_ok();
        *out = walk.document.bytes;
        if !is_taken {
            out.truncate(before);
            return None;
        }
        Some(walk.timestamp)
    }
}
