//! Documents made of invalid records, and the times of documents without one.

use super::parser::ParsedBatch;
use canter_doc_mapper::{DocMapper, Kept};
use std::fmt::Write;

/// Appends the document of an invalid record: its text, and the problem.
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

/// Returns a text with `\xff` for each invalid byte.
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

/// The time of each source's last document that had one.
pub(super) struct LastTimes(Vec<Option<i64>>);

impl LastTimes {
    pub(super) fn new(num_sources: usize) -> LastTimes {
        LastTimes(vec![None; num_sources])
    }

    /// Returns the time of a source's last document with a time, if any.
    pub(super) fn of(&self, source_ord: usize) -> Option<i64> {
        self.0.get(source_ord).copied().flatten()
    }

    /// Sets the time from an interrupted run.
    pub(super) fn set(&mut self, source_ord: usize, time_ns: Option<i64>) {
        if let Some(last) = self.0.get_mut(source_ord) {
            *last = time_ns;
        }
    }

    /// Gives documents without a time that of the previous document in their source, which is the
    /// most likely one; the first of a source gets that of the next one in the batch; else 1970.
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
                    // Once more, followed by its time.
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
