//! Cutting a source into records, a batch at a time.

use super::batch::{Extent, RecordBatch, RecordSpan};
use super::beginning::known_by;
use super::opened::Input;
use super::path_fields::PathFields;
use super::settings::ReadSettings;
use crate::error::{BuildError, ErrorKind};
use canter_formats::{Cutter, Directive, Format, Layout, Recognised, recognise};
use canter_split_format::{LinesHash, SourceId, SourceProgress};
use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

/// A batch is full when it holds this many bytes.
const BATCH_NUM_BYTES: usize = 256 * 1024;
/// A record that is known to have so many lines at the most may have got others since.
const MAX_LATE_LINES: usize = 1_000;
/// A record that holds many documents may have so many bytes, if no more are allowed for each.
const MANY_DOCS_NUM_BYTES: usize = 64 << 20;

/// What was read of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SourceRead {
    /// Which source, for ever.
    pub(crate) source_id: SourceId,
    /// How much of it was ingested before.
    pub(crate) known: Option<SourceProgress>,
    /// All of its records.
    pub(crate) num_records: u64,
    pub(crate) hash: LinesHash,
    /// The hash without the last record, if nothing ends that: more of it may come.
    pub(crate) hash_before_open_record: Option<LinesHash>,
}

/// Says how much of a source was ingested before.
pub(crate) type Lookup<'a> =
    dyn Fn(SourceId) -> Result<Option<SourceProgress>, BuildError> + Sync + 'a;

/// Reads the records of one source.
pub(crate) struct RecordReader {
    known: Option<SourceProgress>,
    num_records: u64,
    hash: LinesHash,
    hash_before_open_record: Option<LinesHash>,
    pub(super) input: Input,
    source_ord: usize,
    source_id: SourceId,
    pub(super) layout: Arc<Layout>,
    path_fields: Arc<PathFields>,
    left_out: Arc<BTreeSet<u64>>,
    pub(super) cutter: Cutter,
    pub(super) settings: ReadSettings,
    pub(super) max_num_bytes: usize,
    /// Whether the bytes that come next belong to a record of which parts were given.
    pub(super) is_in_parts: bool,
    /// The same with a rule for records of several lines, of which each is a part then.
    pub(super) is_continued: bool,
    /// With such a rule: the line that begins the next one.
    pub(super) next_line: Option<(Vec<u8>, RecordSpan)>,
    pub(super) line_num: u64,
    pub(super) byte_offset: u64,
    pub(super) end: Option<Result<(), BuildError>>,
    /// What is wrong with the source, if it breaks off.
    damage: Option<String>,
    /// Lines that came to a record after it was ingested.
    num_late_lines: u64,
    is_misfit: bool,
}

impl RecordReader {
    /// Reads `input`, which comes from `origin`. `lookup` says how much of that is known.
    pub(crate) fn new(
        input: Input,
        source_ord: usize,
        origin: &[u8],
        settings: &ReadSettings,
        lookup: &Lookup<'_>,
    ) -> Result<RecordReader, BuildError> {
        let settings = settings.for_source(&input);
        let (beginning, is_whole) = input.reader.beginning();
        let recognised = match settings.format {
            _ if input.parquet.is_some() => {
                Recognised::forced(Format::Parquet, beginning, is_whole)
            }
            None if settings.delimiter.is_some() && !input.has_document_lines => {
                Recognised::table(settings.delimiter.unwrap_or(b','), beginning, is_whole)
            }
            Some(format @ (Format::Csv | Format::Tsv)) if settings.delimiter.is_some() => {
                let delimiter = settings.delimiter.unwrap_or(b',');
                Recognised {
                    format,
                    ..Recognised::table(delimiter, beginning, is_whole)
                }
            }
            Some(format) => Recognised::forced(format, beginning, is_whole),
            None => recognise(beginning, is_whole),
        };
        let format = recognised.format;
        if settings.multiline_start.is_some() && !format.is_of_lines() {
            return Err(BuildError::invalid(format!(
                "`{}` is {format}, where a line is no record, so that a rule for records of several \
                 lines means nothing: leave it out",
                input.name
            )));
        }
        let hints = Arc::new(settings.hints(&input));
        let layout = Layout::of(recognised, beginning, is_whole, hints);
        let cutter = Cutter::new(format, recognised.dialect);
        let max_num_bytes = match format.holds_many() {
            true => settings.max_record_num_bytes.max(MANY_DOCS_NUM_BYTES),
            false => settings.max_record_num_bytes,
        };
        let source_id = match input.parquet {
            // How its rows are written depends on the index.
            Some(footer) => SourceId::of(origin, &footer.to_le_bytes()),
            None => SourceId::of(
                origin,
                known_by(beginning, &layout, &cutter, settings.max_record_num_bytes),
            ),
        };
        Ok(RecordReader {
            known: lookup(source_id)?,
            num_records: 0,
            hash: LinesHash::default(),
            hash_before_open_record: None,
            byte_offset: input.first_byte_offset,
            path_fields: Arc::new(settings.path_fields(&input)),
            left_out: Arc::clone(&input.left_out),
            input,
            source_ord,
            source_id,
            layout: Arc::new(layout),
            cutter,
            settings,
            max_num_bytes,
            is_in_parts: false,
            is_continued: false,
            next_line: None,
            line_num: 1,
            end: None,
            damage: None,
            num_late_lines: 0,
            is_misfit: false,
        })
    }

    /// What the source was recognised as, or said to be.
    pub(crate) fn format(&self) -> Format {
        self.layout.format()
    }

    /// What its times do not say themselves: see [`Layout::times`].
    pub(crate) fn times(&self) -> Option<String> {
        self.layout.times()
    }

    /// Which source it is, how much of it was known, and what its records come to so far.
    pub(crate) fn so_far(&self) -> (SourceId, Option<SourceProgress>, LinesHash) {
        (self.source_id, self.known, self.hash)
    }

    /// Reads whole records until a batch is full, or the source at its end; `None` when there are no
    /// more. Records that were read before a failure are given first, then the failure.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, BuildError> {
        if let Some(end) = self.end.take() {
            self.end = Some(Ok(()));
            return end.map(|()| None);
        }
        let mut batch = RecordBatch {
            source_ord: self.source_ord,
            source_id: self.source_id,
            first_record: self.num_records + 1,
            num_known_records: self.known.map_or(0, |known| known.num_lines),
            num_known_docs: self.known.map_or(0, |known| known.num_docs),
            layout: Arc::clone(&self.layout),
            path_fields: Arc::clone(&self.path_fields),
            left_out: Arc::clone(&self.left_out),
            raw_num_bytes: 0,
            failure: None,
            bytes: Vec::with_capacity(BATCH_NUM_BYTES + 4096),
            records: Vec::with_capacity(1024),
        };
        let first_offset = self.byte_offset;
        while batch.bytes.len() < BATCH_NUM_BYTES {
            let start = batch.bytes.len();
            match self.next_record(&mut batch.bytes) {
                Ok(Some(span)) => {
                    let record = &batch.bytes[span.range.clone()];
                    if self.layout.may_be_directive(record) {
                        let mut layout = (*self.layout).clone();
                        if layout.take_directive(record) == Directive::Taken {
                            self.layout = Arc::new(layout);
                            batch.bytes.truncate(start);
                            if batch.records.is_empty() {
                                batch.layout = Arc::clone(&self.layout);
                                continue;
                            }
                            break;
                        }
                    }
                    self.count(&batch.bytes[span.range.clone()], &span)?;
                    batch.records.push(span);
                }
                Ok(None) => {
                    self.end.get_or_insert(Ok(()));
                    break;
                }
                Err(error) => {
                    let span = self.broken_off(error, &mut batch.bytes, start);
                    batch.records.extend(span);
                    break;
                }
            }
        }
        batch.failure.clone_from(&self.damage);
        // A line that was looked at ahead counts with the batch that looked.
        batch.raw_num_bytes = self.byte_offset - first_offset;
        if batch.records.is_empty() && batch.raw_num_bytes == 0 {
            return match self.end.take() {
                Some(Err(failure)) => Err(failure),
                end => {
                    self.end = end;
                    Ok(None)
                }
            };
        }
        if batch.first_record == 1 && !self.input.has_document_lines {
            let fits = self.settings.fit.check(&self.input.name, &batch);
            self.is_misfit = fits.is_err();
            fits?;
        }
        Ok(Some(batch))
    }

    /// Takes a record into account, and compares with what is known where that ends.
    fn count(&mut self, record: &[u8], span: &RecordSpan) -> Result<(), BuildError> {
        if span.extent == Extent::BrokenOff {
            return Ok(());
        }
        // Of one that is shortened the rest counts by its length; rows of Parquet are what its footer says.
        let (record, len) = match span.extent {
            _ if self.input.parquet.is_some() => (&[][..], 0),
            Extent::Shortened => (record, span.raw_num_bytes),
            _ => (record, record.len() as u64),
        };
        let before = self.hash;
        self.num_records += 1;
        self.hash = before.with(record, len);
        self.hash_before_open_record = (!span.is_ended).then_some(before);
        match self.known {
            Some(known) if known.num_lines == self.num_records && known.hash != self.hash => {
                if let Some(num) = self.late_lines(record, before, known.hash) {
                    self.num_late_lines = num;
                    return Ok(());
                }
                Err(self.is_another(&format!(
                    "its first {} records are not those that were ingested before",
                    known.num_lines
                )))
            }
            _ => Ok(()),
        }
    }

    /// How many lines the last record that is known has got since then: a stack trace that was being written. Nothing
    /// if it is another record.
    fn late_lines(&self, record: &[u8], before: LinesHash, known: LinesHash) -> Option<u64> {
        if !self.layout.has_continuations() {
            return None;
        }
        // Each is hashed from the beginning: more are not tried.
        let mut ends = memchr::memchr_iter(b'\n', record).take(MAX_LATE_LINES);
        let end = ends.find(|end| before.with(&record[..*end], *end as u64) == known)?;
        Some(memchr::memchr_iter(b'\n', &record[end..]).count() as u64)
    }

    /// Returns whether reading ended because the index would keep nothing but the time of its records.
    pub(crate) fn is_misfit(&self) -> bool {
        self.is_misfit
    }

    /// Lines that came to a record after it was ingested, and are of no document.
    pub(crate) fn num_late_lines(&self) -> u64 {
        self.num_late_lines
    }

    fn is_another(&self, problem: &str) -> BuildError {
        BuildError::invalid(format!(
            "`{}` begins as a source that was ingested before, but {problem}: nothing was published; if it is another \
             one, give it another name, leave it out, or ingest it by itself with --ingest-id",
            self.input.name
        ))
    }

    /// What was read, at the end; nothing of a source without a record.
    ///
    /// # Errors
    /// `Invalid` if there is less than was ingested before.
    pub(crate) fn finish(self) -> Result<Option<SourceRead>, BuildError> {
        if let Some(known) = self.known
            && known.num_lines > self.num_records
        {
            return Err(self.is_another(&format!(
                "it has {} records, and {} of that one were ingested",
                self.num_records, known.num_lines
            )));
        }
        Ok((self.num_records > 0).then_some(SourceRead {
            source_id: self.source_id,
            known: self.known,
            num_records: self.num_records,
            hash: self.hash,
            hash_before_open_record: self.hash_before_open_record,
        }))
    }

    /// Ends the source: a damaged one with a record that says so, one that cannot be read with a
    /// failure of the whole.
    pub(super) fn broken_off(
        &mut self,
        error: io::Error,
        bytes: &mut Vec<u8>,
        start: usize,
    ) -> Option<RecordSpan> {
        let failure = self.input.failure(error, self.line_num.saturating_sub(1));
        if failure.kind() != ErrorKind::Data {
            bytes.truncate(start);
            self.end = Some(Err(failure));
            return None;
        }
        self.end = Some(Ok(()));
        self.damage = Some(failure.to_string());
        let len = bytes.len() - start;
        bytes.truncate(start + len.min(self.max_num_bytes));
        Some(RecordSpan {
            range: start..bytes.len(),
            line_num: self.line_num,
            byte_offset: self.byte_offset.saturating_sub(len as u64),
            raw_num_bytes: (bytes.len() - start) as u64,
            extent: Extent::BrokenOff,
            is_ended: false,
        })
    }
}
