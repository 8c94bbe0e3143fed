//! Parsing of records into documents, by their format and the doc mapper. An invalid record is a reject
//! with a reason, or in an index that keeps everything a document of a special kind.

use super::kept::encode_kept;
use super::standing::Position;
use crate::arrivals::{SEQ_NO_FIELD, VERSION_FIELD, id_in};
use crate::index::publisher::IdBatch;
use crate::ingest::Reject;
use crate::input::source::{Extent, Record, RecordBatch, is_blank};
use crate::transform::{Outcome, Runner, Transform};
use canter_doc_mapper::{DocMapper, MemberEncoder};
use canter_formats::Members;
use canter_split_format::{DocIdentity, SourceId};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;
use tantivy::DateTime;

/// A document waiting for its split.
pub(super) struct PendingDoc {
    /// Nanoseconds since 1970; 0 where the index has no timestamp field.
    pub(super) timestamp_ns: i64,
    /// Position of its record. It counts from the beginning of the batch, until the splitter knows the
    /// number of preceding positions.
    pub(super) identity: DocIdentity,
    /// Number of input bytes of its record.
    pub(super) raw_num_bytes: u64,
    /// Its range among the encoded documents of its batch.
    pub(super) range: Range<usize>,
    /// The reason why it is special, if it was kept despite an error. It has no time of its own.
    pub(super) kept_for: Option<&'static str>,
    /// True if it has no time although documents of the index have one.
    pub(super) lacks_time: bool,
    /// True if it was ingested before and is not built again.
    pub(super) is_known: bool,
}

/// Result of parsing a batch of records.
pub(super) struct ParsedBatch {
    pub(super) source_ord: usize,
    pub(super) place: Position,
    /// Source of the documents.
    doc_source: SourceId,
    pub(super) docs: Vec<PendingDoc>,
    /// The encoded documents.
    pub(super) encoded: Vec<u8>,
    /// True if the positions of documents are those of their lines, instead of counting from the beginning of the
    /// batch.
    pub(super) has_line_positions: bool,
    /// The last record that is a document, by its position in the source from 1; 0 if none is.
    pub(super) last_doc_record: u64,
    pub(super) rejects: Vec<Reject>,
    /// The transform's reasons for dropped records.
    pub(super) dropped: Vec<String>,
    /// Number of blank lines, which are skipped.
    pub(super) num_blank: u64,
    /// Number of bytes of all records of the batch, and of the gaps between them.
    pub(super) raw_num_bytes: u64,
    /// Reason why the source broke off, if it did.
    pub(super) broken_off: Option<String>,
    /// Number of documents in the ledger, if the source broke off after the records that were ingested before.
    pub(super) num_docs_at_break: Option<u64>,
}

/// Parser of records.
pub(super) struct Parser<'p> {
    pub(super) mapper: &'p DocMapper,
    pub(super) keeps_all: bool,
    pub(super) transform: Option<&'p Transform>,
    /// Versions of documents.
    pub(super) ids: Option<&'p IdBatch>,
}

/// Members of a document on their way into its encoded form.
struct EncodedMembers<'e, 'm>(&'e mut MemberEncoder<'m>);

impl Members for EncodedMembers<'_, '_> {
    fn string(&mut self, name: &str, value: &str) {
        self.0.string(name, value);
    }

    fn json(&mut self, name: &str, value: &str) {
        self.0.json(name, value);
    }
}

/// Working memory of a parser.
#[derive(Default)]
pub(super) struct Scratch {
    bytes: Vec<u8>,
    runner: Option<Runner>,
}

impl Parser<'_> {
    /// Parses each record into documents and rejects.
    pub(super) fn parse(
        &self,
        place: Position,
        batch: &RecordBatch,
        scratch: &mut Scratch,
    ) -> ParsedBatch {
        if scratch.runner.is_none() {
            scratch.runner = self.transform.map(Runner::new);
        }
        let doc_source = match self.transform {
            Some(transform) => transform.source_of(batch.source_id),
            None => batch.source_id,
        };
        let mut parsed = ParsedBatch {
            source_ord: batch.source_ord,
            place,
            doc_source,
            dropped: Vec::new(),
            num_blank: 0,
            docs: Vec::with_capacity(batch.len()),
            encoded: Vec::with_capacity(usize::try_from(batch.raw_num_bytes).unwrap_or_default()),
            rejects: Vec::new(),
            raw_num_bytes: batch.raw_num_bytes,
            broken_off: None,
            num_docs_at_break: None,
            last_doc_record: 0,
            // A program may make more documents of a record than it has lines.
            has_line_positions: batch.counts_lines && self.transform.is_none(),
        };
        for record in batch.iter() {
            let (ord, first_doc) = (record.place, parsed.docs.len());
            if record.extent == Extent::BrokenOff && ord == batch.num_known_records + 1 {
                parsed.num_docs_at_break = Some(batch.num_known_docs);
            }
            match batch.left_out.contains(&ord) {
                true => self.leave_out(&record, &mut parsed),
                false => self.parse_record(batch, &record, scratch, &mut parsed),
            }
            if let Some(docs) = parsed.docs.get_mut(first_doc..) {
                if parsed.has_line_positions {
                    let positions = docs.iter_mut().map(|doc| &mut doc.identity.position);
                    (ord..)
                        .zip(positions)
                        .for_each(|(line, position)| *position = line);
                }
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
        scratch: &mut Scratch,
        parsed: &mut ParsedBatch,
    ) {
        // Empty lines separate paragraphs, and end files.
        if record.extent == Extent::Whole && record.bytes.iter().all(is_blank) {
            parsed.num_blank += 1;
            return;
        }
        if let Some((reason, message)) = self.problem(batch, record) {
            if record.extent == Extent::BrokenOff {
                parsed.broken_off = Some(message.clone());
            }
            return self.refuse(record, reason, message, parsed);
        }
        if scratch.runner.is_none() && self.add_members(batch, record, parsed) {
            return;
        }
        let Scratch { bytes, runner } = scratch;
        batch.layout.parse(record.bytes, bytes, &mut |json| {
            let json = match json {
                Ok(json) => batch.path_fields.add_to(json),
                Err(failure) => {
                    return self.refuse(record, failure.reason, failure.message, parsed);
                }
            };
            let Some(runner) = runner else {
                return self.add(record, &json, parsed);
            };
            match runner.run(&json) {
                Outcome::Docs(docs) => {
                    for doc in docs {
                        self.add(record, doc, parsed);
                    }
                }
                Outcome::Dropped(why) => parsed.dropped.push(why),
                Outcome::Refused(reason, message) => {
                    self.refuse(record, reason, message, parsed);
                }
                Outcome::Unread(reason, message) => {
                    // The mapping reports the same error as without a transform.
                    let unread = self.mapper.encode_doc(&json, &mut Vec::new());
                    let (reason, message) = match unread {
                        Err(error) => (error.reason().as_str(), error.to_string()),
                        Ok(_) => (reason, message),
                    };
                    self.refuse(record, reason, message, parsed);
                }
            }
        });
    }

    /// Adds the document of a record whose format hands over its members one by one. Returns false, and has added
    /// nothing, if the record has to become JSON.
    fn add_members(
        &self,
        batch: &RecordBatch,
        record: &Record<'_>,
        parsed: &mut ParsedBatch,
    ) -> bool {
        if self.mapper.id_field().is_some() || !batch.path_fields.is_empty() {
            return false;
        }
        let start = parsed.encoded.len();
        let encoded = self.mapper.encode_members(&mut parsed.encoded, |encoder| {
            let members = &mut EncodedMembers(encoder);
            batch.layout.add_members(record.bytes, members)
        });
        if let Some(timestamp) = encoded {
            self.push(start, timestamp, parsed);
        }
        encoded.is_some()
    }

    /// Adds a document, or a reject.
    fn add(&self, record: &Record<'_>, json: &[u8], parsed: &mut ParsedBatch) {
        let json = match self.versioned(record, json, parsed) {
            Ok(json) => json,
            Err(problem) => return self.refuse(record, "invalid_id", problem, parsed),
        };
        let start = parsed.encoded.len();
        let json = &*json;
        match self.mapper.encode_doc(json, &mut parsed.encoded) {
            Ok(timestamp) => self.push(start, timestamp, parsed),
            Err(error) => {
                let reason = error.reason().as_str();
                self.refuse(record, reason, error.to_string(), parsed);
            }
        }
    }

    /// Adds the document whose encoded values begin at `start`.
    fn push(&self, start: usize, timestamp: Option<DateTime>, parsed: &mut ParsedBatch) {
        let identity = identity(parsed);
        parsed.docs.push(PendingDoc {
            timestamp_ns: timestamp.map_or(0, |time| time.into_timestamp_nanos()),
            identity,
            raw_num_bytes: 0,
            range: start..parsed.encoded.len(),
            kept_for: None,
            lacks_time: timestamp.is_none() && self.mapper.timestamp_field().is_some(),
            is_known: false,
        });
    }

    /// Returns a document with the number of its version, if that is not the first, and its sequence number.
    ///
    /// # Errors
    /// It has something else than an id where its id should be.
    fn versioned<'j>(
        &self,
        record: &Record<'_>,
        json: &'j [u8],
        parsed: &ParsedBatch,
    ) -> Result<Cow<'j, [u8]>, String> {
        let Some(name) = self.mapper.id_field() else {
            return Ok(json.into());
        };
        id_in(json, name)?;
        let ids = self.ids;
        let numbers = ids.map(|ids| ids.numbers(parsed.doc_source, record.place));
        let numbers = numbers.unwrap_or_default();
        let mut written = String::new();
        for (field, number) in [
            (VERSION_FIELD, numbers.version),
            (SEQ_NO_FIELD, numbers.seq_no),
        ] {
            // A config may have no room for it.
            if let Some(number) = number.filter(|_| self.mapper.kind_of(field).is_some()) {
                let _ = write!(written, "\"{field}\":{number},");
            }
        }
        let rest = json.trim_ascii_start().strip_prefix(b"{");
        let Some(rest) = rest.filter(|_| !written.is_empty()) else {
            return Ok(json.into());
        };
        // A comma cannot follow the last entry.
        if rest.trim_ascii_start().starts_with(b"}") {
            written.pop();
        }
        Ok([b"{", written.as_bytes(), rest].concat().into())
    }

    /// Returns the problem of a record that shows before it is parsed.
    fn problem(&self, batch: &RecordBatch, record: &Record<'_>) -> Option<(&'static str, String)> {
        match record.extent {
            Extent::Shortened => {
                let len = record.raw_num_bytes;
                let message = format!(
                    "the record has {len} bytes, more than max_line_num_bytes (--max-line-bytes) allows"
                );
                Some(("line_too_long", message))
            }
            Extent::Part => {
                let message =
                    "a part of a record of more than max_line_num_bytes (--max-line-bytes)";
                Some(("line_too_long", message.to_owned()))
            }
            Extent::BrokenOff => {
                let failure = batch.failure.clone().unwrap_or_default();
                Some(("broken_off", failure))
            }
            Extent::Whole => None,
        }
    }

    /// Rejects a record unseen, even where everything else is kept.
    fn leave_out(&self, record: &Record<'_>, parsed: &mut ParsedBatch) {
        let message = "it is left out, because building fails with it".to_owned();
        parsed.rejects.push(Reject::new(
            record.line_num,
            record.byte_offset,
            "left_out",
            message,
            record.bytes,
            false,
        ));
    }

    fn refuse(
        &self,
        record: &Record<'_>,
        reason: &'static str,
        message: String,
        parsed: &mut ParsedBatch,
    ) {
        // Blank bytes contain nothing to keep.
        if self.keeps_all && !record.bytes.iter().all(is_blank) {
            let identity = identity(parsed);
            let encoded = &mut parsed.encoded;
            let start = encoded.len();
            encode_kept(self.mapper, record.bytes, reason, &message, encoded);
            let range = start..encoded.len();
            parsed.docs.push(PendingDoc {
                timestamp_ns: 0,
                identity,
                raw_num_bytes: 0,
                range,
                kept_for: Some(reason),
                lacks_time: true,
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

/// Returns the identity of the next document: each document, reject, dropped record and blank line of a source has a
/// position, so that a line of NDJSON has its line number.
fn identity(parsed: &ParsedBatch) -> DocIdentity {
    let num_others = parsed.rejects.len() + parsed.dropped.len();
    let num_before = (parsed.docs.len() + num_others) as u64 + parsed.num_blank;
    DocIdentity {
        source: parsed.doc_source,
        position: num_before + 1,
    }
}

/// Divides the bytes of a record among its documents.
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

#[cfg(test)]
mod tests {
    use super::*;
    use canter_doc_mapper::IndexConfig;
    use canter_formats::presets::preset_of;
    use canter_formats::{BEGINNING_LEN, Format, Hints, Layout, ValueKind, recognise};
    use canter_samples::families;
    use std::sync::Arc;

    /// Encodes the records of every family by both ways; returns the number of records, and of those without JSON.
    fn encoded_by_both(mapper: &DocMapper) -> (usize, usize) {
        let (mut num_records, mut num_direct) = (0, 0);
        for family in families() {
            let records = family.records(60, 7);
            let text: String = records.iter().map(|r| format!("{}\n", r.text)).collect();
            let beginning = &text.as_bytes()[..text.len().min(BEGINNING_LEN)];
            let recognised = recognise(beginning, true);
            assert_eq!(recognised.format, Format::Log, "{}", family.name);
            let hints = Hints {
                year: Some(2024),
                fields: [(canter_formats::HEAD_WORDS.to_owned(), ValueKind::Text)].into(),
                ..Hints::default()
            };
            let layout = Layout::of(recognised, beginning, true, Arc::new(hints));
            // One that is all message, and one with colours.
            let odd = [
                "no time at all".to_owned(),
                format!("\u{1b}[31m{}\u{1b}[0m", records[0].text),
            ];
            for record in records.into_iter().map(|record| record.text).chain(odd) {
                num_records += 1;
                let mut expected = Vec::new();
                let mut timestamp = None;
                layout.parse(record.as_bytes(), &mut Vec::new(), &mut |json| {
                    timestamp = mapper.encode_doc(json.unwrap(), &mut expected).unwrap();
                });
                let mut encoded = Vec::new();
                let found = mapper.encode_members(&mut encoded, |encoder| {
                    layout.add_members(record.as_bytes(), &mut EncodedMembers(encoder))
                });
                if let Some(found) = found {
                    num_direct += 1;
                    assert_eq!((found, &encoded), (timestamp, &expected), "{record:?}");
                }
            }
        }
        (num_records, num_direct)
    }

    #[test]
    fn every_family_is_encoded_as_its_json_is() {
        let preset = preset_of(Format::Log).unwrap().yaml;
        let dynamic = preset
            .replace("mode: lenient", "mode: dynamic")
            .replace("{name: code", "{name: another");
        for (yaml, least_percent) in [(preset, 60), (dynamic.as_str(), 60)] {
            // Records without a time are refused as JSON, too, unless malformed values are ignored.
            let yaml = yaml.replace(
                "  timestamp_field",
                "  ignore_malformed: true\n  timestamp_field",
            );
            let config = IndexConfig::from_yaml(&yaml, |_| None).unwrap();
            let mapper = DocMapper::new(&config).unwrap();
            let (num_records, num_direct) = encoded_by_both(&mapper);
            assert!(num_records > 6_000, "{num_records}");
            assert!(
                num_direct * 100 >= num_records * least_percent,
                "{num_direct} of {num_records}"
            );
        }
    }
}
