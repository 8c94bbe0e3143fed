//! Documents for records that cannot be parsed, with their text and the problem, in an index with
//! `on_error: keep`.

use serde_json::json;
use tantivy::DateTime;

use crate::config::FieldKind;
use crate::documents::doc_error::DocErrorReason;
use crate::documents::encoded::DocEncoder;
use crate::mapper::schema::doc_mapper::DocMapper;
use crate::mapper::{PARSE_ERROR_FIELD, PARSE_MESSAGE_FIELD, RAW_FIELD};

/// Record that cannot be parsed.
#[derive(Clone, Copy, Debug)]
pub struct Kept<'k> {
    /// Text of the record.
    pub raw: &'k str,
    /// Problem as a word.
    pub reason: &'k str,
    /// Problem as a sentence.
    pub message: &'k str,
}

impl DocMapper {
    /// Appends the encoded document for a record that cannot be parsed. It has no timestamp until
    /// [`add_timestamp`](DocMapper::add_timestamp) adds one. Appends nothing in an index without
    /// `on_error: keep`.
    pub fn encode_kept_doc(&self, kept: &Kept<'_>, out: &mut Vec<u8>) {
        let mut encode = |raw: &str, message: &str, counts_terms: bool| {
            let json = json!({
                RAW_FIELD: raw,
                PARSE_ERROR_FIELD: kept.reason,
                PARSE_MESSAGE_FIELD: message,
            });
            self.encode_without_timestamp(json.to_string().as_bytes(), counts_terms, out)
        };
        match encode(kept.raw, kept.message, true) {
            Err(error) if error.reason() == DocErrorReason::TooManyTerms => {
                let max = self.term_bounds.always_fitting_num_bytes();
                let raw = beginning(kept.raw, max);
                let message = format!(
                    "{}; of its {} bytes the first {} are kept, since {error}",
                    beginning(kept.message, max),
                    kept.raw.len(),
                    raw.len()
                );
                let _ = encode(raw, &message, false);
            }
            // An index without these fields cannot store the record.
            _ => {}
        }
    }

    /// Appends a timestamp in nanoseconds to an encoded document without one. Returns it as stored
    /// in the index; 0 without a timestamp field.
    pub fn add_timestamp(&self, timestamp_ns: i64, out: &mut Vec<u8>) -> i64 {
        let leaves = self.root.leaves();
        let Some(leaf) = leaves.into_iter().find(|leaf| leaf.is_timestamp) else {
            return 0;
        };
        let mut timestamp = DateTime::from_timestamp_nanos(timestamp_ns);
        if let FieldKind::Date(date) = &leaf.kind {
            timestamp = timestamp.truncate(date.precision);
        }
        let mut document = DocEncoder {
            bytes: std::mem::take(out),
        };
        document.add_date(leaf.field, timestamp);
        *out = document.bytes;
        timestamp.into_timestamp_nanos()
    }
}

fn beginning(text: &str, max_num_bytes: usize) -> &str {
    let end = text.floor_char_boundary(max_num_bytes);
    text.get(..end).unwrap_or(text)
}
