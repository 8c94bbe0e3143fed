//! Consecutive records of one source in one buffer.

use super::path_fields::PathFields;
use canter_formats::Layout;
use canter_split_format::SourceId;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Consecutive records of one source, all of one layout.
#[derive(Debug)]
pub(crate) struct RecordBatch {
    /// Which source, by its place in the list of sources.
    pub(crate) source_ord: usize,
    /// Which source, for ever.
    pub(crate) source_id: SourceId,
    /// Which record of the source the first one is, from 1; or which line, as [`Record::place`].
    pub(crate) first_record: u64,
    /// Whether places are those of lines.
    pub(crate) counts_lines: bool,
    /// So many records of the source were ingested before, or lines.
    pub(crate) num_known_records: u64,
    /// Which became so many documents, with the kept rest of a record in which the source broke off.
    pub(crate) num_known_docs: u64,
    /// How they are read.
    pub(crate) layout: Arc<Layout>,
    /// Fields of all its documents that do not have them.
    pub(crate) path_fields: Arc<PathFields>,
    /// Records that are rejected unseen, by their places in the source from 1.
    pub(crate) left_out: Arc<BTreeSet<u64>>,
    /// All bytes that were read for them, what stands between them included.
    pub(crate) raw_num_bytes: u64,
    /// What broke off the last record, if it is one of those.
    pub(crate) failure: Option<String>,
    pub(super) bytes: Vec<u8>,
    pub(super) records: Vec<RecordSpan>,
}

#[derive(Clone, Debug)]
pub(super) struct RecordSpan {
    /// Where the record stands in the batch, without a line ending.
    pub(super) range: Range<usize>,
    pub(super) line_num: u64,
    pub(super) byte_offset: u64,
    /// How many bytes it took in the source, with its ending.
    pub(super) raw_num_bytes: u64,
    pub(super) extent: Extent,
    /// Whether something ends it, and not the source.
    pub(super) is_ended: bool,
    /// The same, or its last line has its end. Otherwise it may be a part of a record that is being written.
    pub(super) has_end: bool,
    /// Lines of the source that it takes.
    pub(super) num_lines: u64,
    /// See [`Record::place`].
    pub(super) place: u64,
}

/// How much of a record there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it.
    Whole,
    /// Only the beginning, because it is over the limit.
    Shortened,
    /// A part of one that is over the limit; the others are there too.
    Part,
    /// The source broke off in it, or after the one before.
    BrokenOff,
}

/// One record without its ending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    /// The line it begins on, from 1.
    pub(crate) line_num: u64,
    /// The place of its first byte in the uncompressed source.
    pub(crate) byte_offset: u64,
    pub(crate) bytes: &'a [u8],
    /// The length in the source, with its ending.
    pub(crate) raw_num_bytes: u64,
    pub(crate) extent: Extent,
    /// Which record of the source it is, from 1; where records may have several lines, which line its first one is.
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
}

/// Whether a byte is none of a record: white space, or what a crash has left in place of bytes.
pub(crate) fn is_blank(byte: &u8) -> bool {
    byte.is_ascii_whitespace() || *byte == 0
}
