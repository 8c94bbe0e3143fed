//! Consecutive records of one source in one buffer.

use super::super::path_fields::PathFields;
use canter_formats::Layout;
use canter_split_format::SourceId;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Number of bytes of a record over the limit that are kept for the rejects file.
pub(in crate::input::source) const KEPT_OF_LONG_RECORD: usize = 1024;

/// Consecutive records of one source, all with the same layout.
#[derive(Debug)]
pub(crate) struct RecordBatch {
    /// The source, by its position in the list of sources.
    pub(crate) source_ord: usize,
    /// The permanent id of the source.
    pub(crate) source_id: SourceId,
    /// Number of the first record in the source, from 1; or of its line, as [`Record::place`].
    pub(crate) first_record: u64,
    /// True if places count lines.
    pub(crate) counts_lines: bool,
    /// Number of records, or lines, of the source that were ingested before.
    pub(crate) num_known_records: u64,
    /// Number of documents that these became, including the kept rest of a record in which the source broke off.
    pub(crate) num_known_docs: u64,
    /// The layout by which they are parsed.
    pub(crate) layout: Arc<Layout>,
    /// Fields for all its documents that do not have them.
    pub(crate) path_fields: Arc<PathFields>,
    /// Records that are rejected unseen, by their places in the source from 1.
    pub(crate) left_out: Arc<BTreeSet<u64>>,
    /// Number of bytes that were read for them, including the gaps between them.
    pub(crate) raw_num_bytes: u64,
    /// The failure that broke off the last record, if one did.
    pub(crate) failure: Option<String>,
    pub(super) bytes: Vec<u8>,
    pub(super) records: Vec<RecordSpan>,
}

#[derive(Clone, Debug)]
pub(super) struct RecordSpan {
    /// Range of the record in the batch, without a line ending.
    pub(super) range: Range<usize>,
    pub(super) line_num: u64,
    pub(super) byte_offset: u64,
    /// Number of its bytes in the source, with its ending.
    pub(super) raw_num_bytes: u64,
    pub(super) extent: Extent,
    /// True if something ends it before the end of the source.
    pub(super) is_ended: bool,
    /// True if it is ended, or its last line is. Otherwise it may be part of a record that is being written.
    pub(super) has_end: bool,
    /// Number of lines of the source that it takes.
    pub(super) num_lines: u64,
    /// See [`Record::place`].
    pub(super) place: u64,
}

/// Completeness of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The whole record.
    Whole,
    /// Only the beginning, because the record is over the limit.
    Shortened,
    /// A part of a record over the limit; the other parts are present too.
    Part,
    /// The source broke off in it, or after the previous one.
    BrokenOff,
}

/// One record without its ending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    /// The number of its first line, from 1.
    pub(crate) line_num: u64,
    /// The offset of its first byte in the uncompressed source.
    pub(crate) byte_offset: u64,
    pub(crate) bytes: &'a [u8],
    /// Its length in the source, with its ending.
    pub(crate) raw_num_bytes: u64,
    pub(crate) extent: Extent,
    /// Number of the record in the source, from 1; where records may have several lines, number of its first line.
    pub(crate) place: u64,
}

impl RecordBatch {
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Record<'_>> {
        self.records.iter().map(|span| Record {
            line_num: span.line_num,
            byte_offset: span.byte_offset,
            bytes: &self.bytes[span.range.clone()],
            raw_num_bytes: span.raw_num_bytes,
            extent: span.extent,
            place: span.place,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.records.len()
    }

    /// Returns whether a record was not ingested before.
    pub(crate) fn has_new(&self) -> bool {
        let last = self.records.last();
        last.is_some_and(|last| last.place > self.num_known_records)
    }
}

/// Returns whether a byte is not part of a record: white space, or what a crash has left in place of bytes.
pub(crate) fn is_blank(byte: &u8) -> bool {
    byte.is_ascii_whitespace() || *byte == 0
}

pub(in crate::input::source) fn without_ending(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
