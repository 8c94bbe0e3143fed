//! Division of a source into records, one batch at a time.

use super::super::identity::{Growth, Known, MARKS, Probe};
use super::super::opened::Input;
use super::super::path_fields::PathFields;
use super::super::settings::ReadSettings;
use super::batch::{Extent, RecordBatch, RecordSpan};
use super::beginning::{Beginning, ONLY_LINE_WAITS, examine};
use crate::error::BuildError;
use crate::ingest::MAX_LINE_NUM_BYTES;
use canter_formats::{Cutter, Directive, Format, Layout};
use canter_split_format::{LinesHash, SourceId, SourceProgress};
use std::collections::BTreeSet;
use std::io::BufRead;
use std::sync::Arc;

/// Size of a full batch in bytes.
const BATCH_NUM_BYTES: usize = 256 * 1024;
/// Maximum length of a document in JSON, by default.
const JSON_NUM_BYTES: usize = 16 << 20;
/// Default maximum length of a record with many documents, in bytes.
const MANY_DOCS_NUM_BYTES: usize = 64 << 20;

/// Facts about a source that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceRead {
    /// The permanent id of the source.
    pub(crate) source_id: SourceId,
    /// Its progress before the ingest.
    pub(crate) known: Option<SourceProgress>,
    /// Number of all its records; where a record may have several lines, of all lines of its records. The unit
    /// depends only on the source's own beginning, whatever a sample takes as records.
    pub(crate) num_lines: u64,
    pub(crate) hash: LinesHash,
    /// The same without the last record, if nothing ends that: it may still grow.
    pub(crate) before_open_record: Option<(u64, LinesHash)>,
    /// The place of the last record, counted in lines.
    pub(crate) last_record: u64,
    /// True if the last record may be incomplete: neither a line's end nor its own syntax ends it.
    pub(crate) is_open_at_end: bool,
    /// Hashes of the first lines, for some numbers of lines ([`MARKS`]).
    pub(crate) marks: Vec<(u64, LinesHash)>,
}

/// Whether a batch may have another record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    More,
    Last,
}

/// Reader of one source's records.
pub(crate) struct RecordReader {
    pub(super) known: Option<SourceProgress>,
    /// True if the last known line may have grown.
    is_known_open: bool,
    /// True if a known source has another end than this one.
    is_another: bool,
    /// Number of records, or of their lines.
    pub(super) num_lines: u64,
    pub(super) counts_lines: bool,
    hash: LinesHash,
    before_open_record: Option<(u64, LinesHash)>,
    last_record: u64,
    /// True if nothing ends the last counted record.
    is_open_at_end: bool,
    /// The last known record.
    last_known: Vec<u8>,
    marks: Vec<(u64, LinesHash)>,
    probe: Option<Probe>,
    known_by: Vec<u8>,
    pub(super) input: Input,
    source_ord: usize,
    source_id: SourceId,
    pub(super) layout: Arc<Layout>,
    path_fields: Arc<PathFields>,
    left_out: Arc<BTreeSet<u64>>,
    pub(super) cutter: Cutter,
    pub(super) settings: ReadSettings,
    pub(super) max_num_bytes: usize,
    /// Length of the parts in which a longer record is kept.
    pub(super) part_num_bytes: usize,
    /// True if the next bytes continue a record of which parts were returned.
    pub(super) is_in_parts: bool,
    /// The same with a rule for records of several lines, each of which is then a part.
    pub(super) is_continued: bool,
    /// With such a rule: the line that begins the next record.
    pub(super) next_line: Option<(Vec<u8>, RecordSpan)>,
    pub(super) line_num: u64,
    pub(super) byte_offset: u64,
    pub(super) end: Option<Result<(), BuildError>>,
    /// Reason why the source breaks off, if it does.
    pub(super) damage: Option<String>,
    /// Number of lines that were appended to a record after it was ingested, and belong to no document.
    num_late_lines: u64,
    is_misfit: bool,
    /// Note on the last record if it waits until it is complete.
    pub(super) waiting: Option<String>,
}

impl RecordReader {
    /// Reads `input`, whose source is not identified yet ([`RecordReader::is_source`]).
    pub(crate) fn new(
        input: Input,
        source_ord: usize,
        settings: &ReadSettings,
    ) -> Result<RecordReader, BuildError> {
        let settings = settings.for_source(&input);
        let Beginning {
            format,
            layout,
            cutter,
            known_by,
            waits,
        } = examine(&input, &settings)?;
        let max_num_bytes = match settings.max_record_num_bytes {
            max if format.holds_many() => max.max(MANY_DOCS_NUM_BYTES),
            // Nobody chose it, and a document is not worth less for its length.
            MAX_LINE_NUM_BYTES if format.is_json() => JSON_NUM_BYTES,
            max => max,
        };
        let has_rule = settings.multiline_start.is_some();
        Ok(RecordReader {
            known: None,
            is_known_open: false,
            is_another: false,
            num_lines: 0,
            counts_lines: cutter.is_of_lines() && (has_rule || layout.has_continuations()),
            hash: LinesHash::default(),
            before_open_record: None,
            last_record: 0,
            is_open_at_end: false,
            last_known: Vec::new(),
            marks: Vec::new(),
            probe: None,
            source_id: SourceId::of(&[], &known_by),
            known_by,
            byte_offset: input.first_byte_offset,
            path_fields: Arc::new(settings.path_fields(&input)),
            left_out: Arc::clone(&input.left_out),
            input,
            source_ord,
            layout: Arc::new(layout),
            cutter,
            part_num_bytes: settings.max_record_num_bytes.min(max_num_bytes),
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
            waiting: waits.then(|| ONLY_LINE_WAITS.to_owned()),
        })
    }

    /// Sets the identity of the source. Returns a note on it.
    pub(crate) fn is_source(&mut self, identity: Known) -> Option<String> {
        self.source_id = identity.id;
        self.known = identity.known;
        self.is_known_open = identity.is_open;
        self.counts_lines &= !identity.counts_records;
        identity.note
    }

    /// Returns its position in the list of sources.
    pub(crate) fn source_ord(&self) -> usize {
        self.source_ord
    }

    pub(in crate::input::source) fn counts_lines(&self) -> bool {
        self.counts_lines
    }

    pub(in crate::input::source) fn is_parquet(&self) -> bool {
        self.input.parquet.is_some()
    }

    /// Compares the lines with known sources.
    pub(in crate::input::source) fn probe_for(&mut self, probe: Probe, counts_records: bool) {
        self.probe = Some(probe);
        self.counts_lines &= !counts_records;
    }

    pub(in crate::input::source) fn is_past_probe(&self) -> bool {
        let num_lines = self.num_lines;
        self.probe
            .as_ref()
            .is_none_or(|probe| probe.is_past(num_lines))
    }

    /// Returns the result of the comparison, the number of complete lines that were read, and their marks.
    pub(in crate::input::source) fn into_probe(self) -> (Probe, u64, Vec<(u64, LinesHash)>) {
        let before = self.before_open_record.filter(|_| self.is_open_at_end);
        let num_lines = before.map_or(self.num_lines, |(num_lines, _)| num_lines);
        (self.probe.unwrap_or_default(), num_lines, self.marks)
    }

    /// Returns the beginning that identifies the source: it never changes while the source grows.
    pub(crate) fn known_by(&self) -> Vec<u8> {
        self.known_by.clone()
    }

    /// Returns the detected or given format.
    pub(crate) fn format(&self) -> Format {
        self.layout.format()
    }

    /// Returns the assumptions about incomplete times: see [`Layout::times`].
    pub(crate) fn times(&self) -> Option<String> {
        self.layout.times()
    }

    /// Returns the source's id, its known progress, and the hash of its records so far.
    pub(crate) fn so_far(&self) -> (SourceId, Option<SourceProgress>, LinesHash) {
        (self.source_id, self.known, self.hash)
    }

    /// Reads whole records until a batch is full, or to the end of the source; `None` when there are
    /// no more. Records that were read before a failure are returned first, then the failure.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, BuildError> {
        if let Some(end) = self.end.take() {
            self.end = Some(Ok(()));
            return end.map(|()| None);
        }
        let mut batch = self.empty_batch();
        let first_offset = self.byte_offset;
        while batch.bytes.len() < BATCH_NUM_BYTES {
            let start = batch.bytes.len();
            let taken = match self.next_record(&mut batch.bytes) {
                Ok(Some(span)) => self.take_record(&mut batch, span)?,
                Ok(None) => {
                    self.end.get_or_insert(Ok(()));
                    Taken::Last
                }
                Err(error) => {
                    let span = self.broken_off(error, &mut batch.bytes, start);
                    batch.records.extend(span);
                    Taken::Last
                }
            };
            if taken == Taken::Last {
                break;
            }
        }
        batch.failure.clone_from(&self.damage);
        // A line that was read ahead counts with the batch that read it.
        batch.raw_num_bytes = self.byte_offset.saturating_sub(first_offset);
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

    fn empty_batch(&self) -> RecordBatch {
        RecordBatch {
            source_ord: self.source_ord,
            source_id: self.source_id,
            first_record: self.num_lines + 1,
            counts_lines: self.counts_lines,
            num_known_records: self.known.map_or(0, |known| known.num_lines),
            num_known_docs: self.known.map_or(0, |known| known.num_docs),
            layout: Arc::clone(&self.layout),
            path_fields: Arc::clone(&self.path_fields),
            left_out: Arc::clone(&self.left_out),
            raw_num_bytes: 0,
            failure: None,
            bytes: Vec::with_capacity(BATCH_NUM_BYTES + 4096),
            records: Vec::with_capacity(1024),
        }
    }

    /// Adds the record that the batch's bytes end with, unless it waits for its end, or is a directive: the records
    /// after that have another layout, and so another batch.
    fn take_record(
        &mut self,
        batch: &mut RecordBatch,
        mut span: RecordSpan,
    ) -> Result<Taken, BuildError> {
        let start = span.range.start;
        let record = &batch.bytes[span.range.clone()];
        if self.waits(record, &span) {
            self.byte_offset -= span.raw_num_bytes;
            batch.bytes.truncate(start);
            self.end = Some(Ok(()));
            return Ok(Taken::Last);
        }
        if self.takes_directive(record) {
            batch.bytes.truncate(start);
            if !batch.records.is_empty() {
                return Ok(Taken::Last);
            }
            batch.layout = Arc::clone(&self.layout);
            return Ok(Taken::More);
        }
        let late = self
            .late_layout(record)
            .filter(|_| batch.records.is_empty());
        span.place = self.num_lines + 1;
        self.count(record, &span)?;
        let is_last = late.is_some() | self.is_last_known(record);
        if let Some(layout) = late {
            batch.layout = layout;
        }
        batch.records.push(span);
        Ok(match is_last {
            true => Taken::Last,
            false => Taken::More,
        })
    }

    /// Changes the layout if the record is a directive, such as one that names the columns from there on.
    fn takes_directive(&mut self, record: &[u8]) -> bool {
        if !self.layout.may_be_directive(record) {
            return false;
        }
        let mut layout = (*self.layout).clone();
        let is_taken = layout.take_directive(record) == Directive::Taken;
        if is_taken {
            self.layout = Arc::new(layout);
        }
        is_taken
    }

    /// Counts a record, and compares it with the known end.
    fn count(&mut self, record: &[u8], span: &RecordSpan) -> Result<(), BuildError> {
        if span.extent == Extent::BrokenOff {
            return Ok(());
        }
        let before = (self.num_lines, self.hash);
        self.last_record = self.num_lines + 1;
        match span.extent {
            // Identified by the footer.
            _ if self.input.parquet.is_some() => self.count_line(&[], 0, 1)?,
            // The rest counts by its length.
            Extent::Shortened => {
                let num_lines = match self.counts_lines {
                    true => span.num_lines,
                    false => 1,
                };
                self.count_line(record, span.raw_num_bytes, num_lines)?;
            }
            _ if self.counts_lines => {
                let mut start = 0;
                let ends = memchr::memchr_iter(b'\n', record).chain([record.len()]);
                for end in ends {
                    let line = record.get(start..end).unwrap_or_default();
                    self.count_line(line, line.len() as u64, 1)?;
                    start = end + 1;
                }
            }
            _ => self.count_line(record, record.len() as u64, 1)?,
        }
        self.before_open_record = (!span.is_ended).then_some(before);
        self.is_open_at_end = !span.has_end && !self.layout.ends_itself(record);
        Ok(())
    }

    fn count_line(&mut self, line: &[u8], len: u64, num_lines: u64) -> Result<(), BuildError> {
        let before = self.hash;
        self.num_lines += num_lines;
        self.hash = before.with(line, len);
        if MARKS.contains(&self.num_lines) {
            self.marks.push((self.num_lines, self.hash));
        }
        if let Some(probe) = &mut self.probe {
            probe.see(self.num_lines, (before, self.hash), line);
        }
        let Some(known) = self.known.filter(|known| known.num_lines == self.num_lines) else {
            return Ok(());
        };
        match Growth::of(before, self.hash, line, known.hash) {
            Some(Growth::Same) => Ok(()),
            Some(Growth::Longer) if self.is_known_open => {
                self.num_late_lines = 1;
                Ok(())
            }
            _ => {
                self.is_another = true;
                Err(self.another(&format!(
                    "its first {} records are not those that were ingested before",
                    known.num_lines
                )))
            }
        }
    }

    /// Returns whether the last record is incomplete, because its end may still be written. It then waits.
    fn waits(&mut self, record: &[u8], span: &RecordSpan) -> bool {
        let may_go_on = self.input.may_be_unfinished() && !self.settings.takes_open();
        if !may_go_on || span.has_end || span.extent == Extent::BrokenOff || !self.is_at_end() {
            return false;
        }
        if self.layout.ends_itself(record) {
            return false;
        }
        let len = span.raw_num_bytes;
        self.waiting.get_or_insert_with(|| {
            format!(
                "its last record ({len} bytes so far) has no end, and waits for it, or until the file was not changed for an \
                 hour; --final takes it as it is"
            )
        });
        true
    }

    /// Records the last known record: lines that are appended to it later are a separate record.
    fn is_last_known(&mut self, record: &[u8]) -> bool {
        let num_known = self.known.map_or(0, |known| known.num_lines);
        let is_it = self.counts_lines && num_known == self.num_lines;
        if is_it {
            self.last_known = record.to_vec();
        }
        is_it
    }

    /// Returns the layout of a record that continues the last known one: with the time of that.
    fn late_layout(&self, record: &[u8]) -> Option<Arc<Layout>> {
        let known = self.known?;
        let line = record.split(|byte| *byte == b'\n').next()?;
        let is_late = self.counts_lines
            && known.num_lines == self.num_lines
            && self.layout.continues(&self.last_known, line);
        is_late.then(|| Arc::new(self.layout.with_time_of(&self.last_known)))
    }

    fn is_at_end(&mut self) -> bool {
        // An error is reported by the next read.
        self.next_line.is_none() && self.input.reader.fill_buf().is_ok_and(<[u8]>::is_empty)
    }

    /// Returns why the last record, or the rest of the source, is not taken.
    pub(crate) fn waiting(&self) -> Option<&str> {
        self.waiting.as_deref()
    }

    /// Returns whether another source with the same id was ingested before, according to a failure.
    pub(crate) fn is_another(&self) -> bool {
        self.is_another
    }

    /// Returns whether reading ended because the index would store only the time of its records.
    pub(crate) fn is_misfit(&self) -> bool {
        self.is_misfit
    }

    /// Returns the number of lines that were appended to a record after it was ingested, and belong to no document.
    pub(crate) fn num_late_lines(&self) -> u64 {
        self.num_late_lines
    }

    fn another(&self, problem: &str) -> BuildError {
        BuildError::invalid(format!(
            "`{}` begins as a source that was ingested before, but {problem}: nothing was published; if it is another \
             one, give it another name, leave it out, or ingest it by itself with --ingest-id",
            self.input.name
        ))
    }

    /// Returns the facts at the end; `None` for a source without a record.
    ///
    /// # Errors
    /// `Invalid` if there is less than was ingested before.
    pub(crate) fn finish(&mut self) -> Result<Option<SourceRead>, BuildError> {
        // A file was compared before, and a record that waits now may have been taken once.
        if let Some(known) = self.known.filter(|_| !self.input.may_grow)
            && known.num_lines > self.num_lines
        {
            self.is_another = true;
            return Err(self.another(&format!(
                "it has {} records, and {} of that one were ingested",
                self.num_lines, known.num_lines
            )));
        }
        Ok((self.num_lines > 0).then_some(SourceRead {
            source_id: self.source_id,
            known: self.known,
            num_lines: self.num_lines,
            hash: self.hash,
            before_open_record: self.before_open_record,
            is_open_at_end: self.is_open_at_end,
            last_record: self.last_record,
            marks: std::mem::take(&mut self.marks),
        }))
    }
}
