//! Documents made of records with which something is wrong, and the time that documents without one get.

use super::parser::ParsedBatch;
use canter_doc_mapper::{DocMapper, Kept};
use std::fmt::Write;

/// Appends the document of a record that is none: its text, and what is wrong with it.
pub(super) fn encode_kept(
    mapper: &DocMapper,
    record: &[u8],
    reason: &str,
    message: &str,
    out: &mut Vec<u8>,
) {
    let raw = &readable(record);
    mapper.encode_kept_doc(
        &Kept {
            raw,
            reason,
            message,
        },
        out,
    );
}

/// Text with `\xff` for each byte that is none.
fn readable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// The time of the last document of each source that had one of its own.
pub(super) struct LastTimes(Vec<Option<i64>>);

impl LastTimes {
    pub(super) fn new(num_sources: usize) -> LastTimes {
        LastTimes(vec![None; num_sources])
    }

    /// The time of the last document of a source, if one had its own.
    pub(super) fn of(&self, source_ord: usize) -> Option<i64> {
        self.0.get(source_ord).copied().flatten()
    }

    /// The same, as an interrupted run had it.
    pub(super) fn set(&mut self, source_ord: usize, time_ns: Option<i64>) {
        if let Some(last) = self.0.get_mut(source_ord) {
            *last = time_ns;
        }
    }

    /// Gives documents without a time that of the one before them in their source, where they most
    /// likely belong; the first of a source that of the next one in the batch; else 1970.
    pub(super) fn fill_in(&mut self, mapper: &DocMapper, batch: &mut ParsedBatch) {
        let Some(last) = self.0.get_mut(batch.source_ord) else {
            return;
        };
        let (docs, encoded) = (&mut batch.docs, &mut batch.encoded);
        let first = docs.iter().find(|doc| !doc.lacks_time);
        let mut time = last.or(first.map(|doc| doc.timestamp_ns)).unwrap_or(0);
        for doc in docs {
            match doc.lacks_time {
                true => {
                    // Once more, with its time behind it.
                    let start = encoded.len();
                    encoded.extend_from_within(doc.range.clone());
                    doc.timestamp_ns = mapper.add_timestamp(time, encoded);
                    doc.range = start..encoded.len();
                }
                false => {
                    time = doc.timestamp_ns;
                    *last = Some(time);
                }
            }
        }
    }
}
