//! Lines into documents, by the doc mapper. What cannot become one is a reject with a reason.

use crate::ingest::Reject;
use crate::source::LineBatch;
use canter_doc_mapper::DocMapper;
use canter_split_format::DocIdentity;
use tantivy::TantivyDocument;

/// A document waiting for its split.
pub(super) struct PendingDoc {
    /// Nanoseconds since 1970; 0 where the index has no timestamp field.
    pub(super) timestamp_ns: i64,
    /// Where its line stands.
    pub(super) identity: DocIdentity,
    /// What its line took in the input.
    pub(super) raw_num_bytes: u64,
    pub(super) document: TantivyDocument,
}

/// What became of a batch of lines.
pub(super) struct ParsedBatch {
    pub(super) source_ord: usize,
    pub(super) docs: Vec<PendingDoc>,
    /// Documents of lines that were ingested before: they are not built again.
    pub(super) num_known_docs: u64,
    /// The last line that is a document, whether known or not; 0 if none is.
    pub(super) last_doc_line: u64,
    pub(super) rejects: Vec<Reject>,
    /// Bytes of all lines of the batch.
    pub(super) raw_num_bytes: u64,
}

/// Turns each line into a document or a reject.
pub(super) fn parse_batch(
    mapper: &DocMapper,
    batch: &LineBatch,
    max_line_num_bytes: usize,
) -> ParsedBatch {
    let mut parsed = ParsedBatch {
        source_ord: batch.source_ord,
        docs: Vec::with_capacity(batch.len()),
        num_known_docs: 0,
        last_doc_line: 0,
        rejects: Vec::new(),
        raw_num_bytes: 0,
    };
    for line in batch.iter() {
        parsed.raw_num_bytes += line.raw_num_bytes;
        let rejected = if line.is_too_long {
            let message = format!(
                "the line has {} bytes, more than max_line_num_bytes ({max_line_num_bytes})",
                line.raw_num_bytes
            );
            ("line_too_long", message)
        } else if line.bytes.iter().all(u8::is_ascii_whitespace) {
            ("blank_line", "the line is blank".to_string())
        } else {
            match mapper.parse_doc(line.bytes) {
                Ok(doc) => {
                    parsed.last_doc_line = line.line_num;
                    if line.line_num <= batch.num_known_lines {
                        parsed.num_known_docs += 1;
                        continue;
                    }
                    parsed.docs.push(PendingDoc {
                        timestamp_ns: doc.timestamp.map_or(0, |time| time.into_timestamp_nanos()),
                        identity: DocIdentity {
                            source: batch.source_id,
                            position: line.line_num,
                        },
                        raw_num_bytes: line.raw_num_bytes,
                        document: doc.document,
                    });
                    continue;
                }
                Err(error) => (error.reason().as_str(), error.to_string()),
            }
        };
        let (reason, message) = rejected;
        parsed.rejects.push(Reject::new(
            line.line_num,
            reason,
            message,
            line.bytes,
            line.is_too_long,
        ));
    }
    parsed
}
