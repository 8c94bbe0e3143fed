//! Documents made of records that are none: their text and what is wrong with them, in an index with
//! `on_error: keep`.

use serde_json::json;
use tantivy::{DateTime, TantivyDocument};

use super::schema::DocMapper;
use super::{PARSE_ERROR_FIELD, PARSE_MESSAGE_FIELD, RAW_FIELD};
use crate::config::FieldKind;

/// A record that is no document.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'k> {
    /// Its text.
    pub raw: &'k str,
    /// What is wrong, in a word.
    pub reason: &'k str,
    /// What is wrong, in a sentence.
    pub message: &'k str,
}

impl DocMapper {
    /// The document of a record that is none. It has no timestamp until
    /// [`set_timestamp`](DocMapper::set_timestamp) gives it one. Empty in an index without `on_error: keep`.
    pub fn kept_doc(&self, kept: &Kept<'_>) -> TantivyDocument {
        let json = json!({
            RAW_FIELD: kept.raw,
            PARSE_ERROR_FIELD: kept.reason,
            PARSE_MESSAGE_FIELD: kept.message,
        });
        let parsed = self.parse_without_timestamp(json.to_string().as_bytes());
        parsed.map(|doc| doc.document).unwrap_or_default()
    }

    /// Gives a document that has none a timestamp, in nanoseconds; returns it as the index has it, which
    /// is 0 in one without a timestamp field.
    pub fn set_timestamp(&self, document: &mut TantivyDocument, timestamp_ns: i64) -> i64 {
        let leaves = self.root.leaves();
        let Some(leaf) = leaves.into_iter().find(|leaf| leaf.is_timestamp) else {
            return 0;
        };
        let mut timestamp = DateTime::from_timestamp_nanos(timestamp_ns);
        if let FieldKind::Date(date) = &leaf.kind {
            timestamp = timestamp.truncate(date.precision);
        }
        document.add_date(leaf.field, timestamp);
        timestamp.into_timestamp_nanos()
    }
}
