//! Records into documents, by their format and the doc mapper. What cannot become one is a reject with a
//! reason, or in an index that keeps everything a document of its own kind.

use super::kept::kept_document;
use super::standing::Place;
use crate::ingest::Reject;
use crate::source::{Extent, Record, RecordBatch};
use canter_doc_mapper::DocMapper;
use canter_split_format::DocIdentity;
use tantivy::TantivyDocument;

/// A document waiting for its split.
pub(super) struct PendingDoc {
    /// Nanoseconds since 1970; 0 where the index has no timestamp field.
    pub(super) timestamp_ns: i64,
    /// Where its record stands. The position counts from the beginning of the batch, until the splitter
    /// knows how many stood before.
    pub(super) identity: DocIdentity,
    /// What its record took in the input.
    pub(super) raw_num_bytes: u64,
    pub(super) document: TantivyDocument,
    /// Why it is no ordinary document, if it was kept although something is wrong with it. It has no time
    /// of its own.
    pub(super) kept_for: Option<&'static str>,
    /// Whether it was ingested before: it is not built again.
    pub(super) is_known: bool,
}

/// What became of a batch of records.
pub(super) struct ParsedBatch {
    pub(super) source_ord: usize,
    pub(super) place: Place,
    pub(super) docs: Vec<PendingDoc>,
    /// The last record that is a document, by its place in the source from 1; 0 if none is.
    pub(super) last_doc_record: u64,
    pub(super) rejects: Vec<Reject>,
    /// Bytes of all records of the batch, and of what stands between them.
    pub(super) raw_num_bytes: u64,
    /// What is wrong with the source, if it broke off.
    pub(super) broken_off: Option<String>,
    /// If it broke off behind the records that were ingested before: how many documents there were then.
    pub(super) num_docs_at_break: Option<u64>,
}

/// What parsing needs to know.
pub(super) struct Parser<'p> {
    pub(super) mapper: &'p DocMapper,
    pub(super) max_record_num_bytes: usize,
    pub(super) keeps_all: bool,
}

impl Parser<'_> {
    /// Turns each record into documents and rejects.
    pub(super) fn parse(&self, place: Place, batch: &RecordBatch) -> ParsedBatch {
        let mut parsed = ParsedBatch {
            source_ord: batch.source_ord,
            place,
            docs: Vec::with_capacity(batch.len()),
            rejects: Vec::new(),
            raw_num_bytes: batch.raw_num_bytes,
            broken_off: None,
            num_docs_at_break: None,
            last_doc_record: 0,
        };
        let mut scratch = Vec::new();
        for (ord, record) in (batch.first_record..).zip(batch.iter()) {
            let first_doc = parsed.docs.len();
            if record.extent == Extent::BrokenOff && ord == batch.num_known_records + 1 {
                parsed.num_docs_at_break = Some(batch.num_known_docs);
            }
            self.parse_record(batch, &record, &mut scratch, &mut parsed);
            if let Some(docs) = parsed.docs.get_mut(first_doc..) {
                share(record.raw_num_bytes, docs);
                if ord <= batch.num_known_records {
                    docs.iter_mut().for_each(|doc| doc.is_known = true);
                }
                if !docs.is_empty() {
                    parsed.last_doc_record = ord;
                }
            }
        }
        parsed
    }

    fn parse_record(
        &self,
        batch: &RecordBatch,
        record: &Record<'_>,
        scratch: &mut Vec<u8>,
        parsed: &mut ParsedBatch,
    ) {
        if let Some((reason, message)) = self.problem(batch, record) {
            if record.extent == Extent::BrokenOff {
                parsed.broken_off = Some(message.clone());
            }
            return self.refuse(batch, record, reason, message, parsed);
        }
        batch.layout.parse(record.bytes, scratch, &mut |json| {
            let (reason, message) = match json
                .map(|json| self.mapper.parse_doc(&batch.path_fields.add_to(json)))
            {
                Ok(Ok(doc)) => {
                    let identity = identity(batch, parsed);
                    parsed.docs.push(PendingDoc {
                        timestamp_ns: doc.timestamp.map_or(0, |time| time.into_timestamp_nanos()),
                        identity,
                        raw_num_bytes: 0,
                        document: doc.document,
                        kept_for: None,
                        is_known: false,
                    });
                    return;
                }
                Ok(Err(error)) => (error.reason().as_str(), error.to_string()),
                Err(failure) => (failure.reason, failure.message),
            };
            self.refuse(batch, record, reason, message, parsed);
        });
    }

    /// What is wrong with a record before anybody looks into it.
    fn problem(&self, batch: &RecordBatch, record: &Record<'_>) -> Option<(&'static str, String)> {
        let max = self.max_record_num_bytes;
        match record.extent {
            Extent::Shortened => {
                let len = record.raw_num_bytes;
                let message =
                    format!("the line has {len} bytes, more than max_line_num_bytes ({max})");
                Some(("line_too_long", message))
            }
            Extent::Part => {
                let message = format!("a part of a line of more than max_line_num_bytes ({max})");
                Some(("line_too_long", message))
            }
            Extent::BrokenOff => {
                let failure = batch.failure.clone().unwrap_or_default();
                Some(("broken_off", failure))
            }
            Extent::Whole if record.bytes.iter().all(u8::is_ascii_whitespace) => {
                Some(("blank_line", "the line is blank".to_string()))
            }
            Extent::Whole => None,
        }
    }

    fn refuse(
        &self,
        batch: &RecordBatch,
        record: &Record<'_>,
        reason: &'static str,
        message: String,
        parsed: &mut ParsedBatch,
    ) {
        // There is nothing in a blank line to be kept.
        if self.keeps_all && !record.bytes.iter().all(u8::is_ascii_whitespace) {
            let document = kept_document(self.mapper, record.bytes, reason, &message);
            let identity = identity(batch, parsed);
            parsed.docs.push(PendingDoc {
                timestamp_ns: 0,
                identity,
                raw_num_bytes: 0,
                document,
                kept_for: Some(reason),
                is_known: false,
            });
            return;
        }
        let is_shortened = record.extent == Extent::Shortened;
        parsed.rejects.push(Reject::new(
            record.line_num,
            record.byte_offset,
            reason,
            message,
            record.bytes,
            is_shortened,
        ));
    }
}

/// The identity of the next document: each document and each reject of a source has a position, so that
/// of a line of NDJSON is its number.
fn identity(batch: &RecordBatch, parsed: &ParsedBatch) -> DocIdentity {
    DocIdentity {
        source: batch.source_id,
        position: (parsed.docs.len() + parsed.rejects.len()) as u64 + 1,
    }
}

/// Gives each document of a record its share of the bytes.
fn share(num_bytes: u64, docs: &mut [PendingDoc]) {
    let Some(each) = num_bytes.checked_div(docs.len() as u64) else {
        return;
    };
    let mut rest = num_bytes;
    for doc in docs.iter_mut() {
        doc.raw_num_bytes = each;
        rest -= each;
    }
    if let Some(last) = docs.last_mut() {
        last.raw_num_bytes += rest;
    }
}
