//! Cutting a source into records, a batch at a time.

use super::batch::{Extent, RecordBatch, RecordSpan};
use super::beginning::known_by;
use super::input::Input;
use super::path_fields::PathFields;
use super::settings::ReadSettings;
use crate::error::{BuildError, ErrorKind};
use canter_formats::{Cut, Cutter, Directive, Format, Layout, Recognised, recognise};
use canter_split_format::{LinesHash, SourceId, SourceProgress};
use std::io::{self, BufRead};
use std::sync::Arc;

/// A batch is full when it holds this many bytes.
const BATCH_NUM_BYTES: usize = 256 * 1024;
/// Of a record over the limit, this much is kept for the rejects file.
pub(super) const KEPT_OF_LONG_RECORD: usize = 1024;
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
    input: Input,
    source_ord: usize,
    source_id: SourceId,
    layout: Arc<Layout>,
    path_fields: Arc<PathFields>,
    cutter: Cutter,
    settings: ReadSettings,
    max_num_bytes: usize,
    /// Whether the bytes that come next belong to a record of which parts were given.
    is_in_parts: bool,
    /// The same with a rule for records of several lines, of which each is a part then.
    is_continued: bool,
    /// With such a rule: the line that begins the next one.
    next_line: Option<(Vec<u8>, RecordSpan)>,
    line_num: u64,
    byte_offset: u64,
    end: Option<Result<(), BuildError>>,
    /// What is wrong with the source, if it breaks off.
    damage: Option<String>,
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
        let (beginning, is_whole) = input.reader.beginning();
        let recognised = match settings.format {
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
        let layout = Layout::new(format, recognised.delimiter, hints);
        let cutter = Cutter::new(format, recognised.delimiter);
        let max_num_bytes = match format.holds_many() {
            true => settings.max_record_num_bytes.max(MANY_DOCS_NUM_BYTES),
            false => settings.max_record_num_bytes,
        };
        let source_id = SourceId::of(
            origin,
            known_by(beginning, &layout, &cutter, settings.max_record_num_bytes),
        );
        Ok(RecordReader {
            known: lookup(source_id)?,
            num_records: 0,
            hash: LinesHash::default(),
            hash_before_open_record: None,
            byte_offset: input.first_byte_offset,
            path_fields: Arc::new(settings.path_fields(&input)),
            input,
            source_ord,
            source_id,
            layout: Arc::new(layout),
            cutter,
            settings: settings.clone(),
            max_num_bytes,
            is_in_parts: false,
            is_continued: false,
            next_line: None,
            line_num: 1,
            end: None,
            damage: None,
        })
    }

    /// What the source was recognised as, or said to be.
    pub(crate) fn format(&self) -> Format {
        self.layout.format()
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
        Ok(Some(batch))
    }

    /// Takes a record into account, and compares with what is known where that ends.
    fn count(&mut self, record: &[u8], span: &RecordSpan) -> Result<(), BuildError> {
        if span.extent == Extent::BrokenOff {
            return Ok(());
        }
        // Of one that is shortened the rest counts by its length.
        let len = match span.extent {
            Extent::Shortened => span.raw_num_bytes,
            _ => record.len() as u64,
        };
        let before = self.hash;
        self.num_records += 1;
        self.hash = before.with(record, len);
        self.hash_before_open_record = (!span.is_ended).then_some(before);
        match self.known {
            Some(known) if known.num_lines == self.num_records && known.hash != self.hash => {
                Err(self.is_another(&format!(
                    "its first {} records are not those that were ingested before",
                    known.num_lines
                )))
            }
            _ => Ok(()),
        }
    }

    fn is_another(&self, problem: &str) -> BuildError {
        BuildError::invalid(format!(
            "`{}` begins as a source that was ingested before, but {problem}: nothing was published; if it is another \
             one, give it another name (or --ingest-id)",
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
    fn broken_off(
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

    fn next_record(&mut self, bytes: &mut Vec<u8>) -> io::Result<Option<RecordSpan>> {
        if self.end.is_some() && self.next_line.is_none() {
            return Ok(None);
        }
        match (self.cutter.is_of_lines(), &self.settings.multiline_start) {
            (true, None) => self.read_line(bytes),
            (true, Some(_)) => self.read_lines(bytes),
            (false, _) => self.cut_record(bytes),
        }
    }

    /// Appends one line to `bytes`: at most the limit and an ending of it. `None` at the end.
    fn read_line(&mut self, bytes: &mut Vec<u8>) -> io::Result<Option<RecordSpan>> {
        let start = bytes.len();
        let keep = self.max_num_bytes.saturating_add(2);
        let mut raw_num_bytes = 0_u64;
        let mut is_ended = false;
        loop {
            let available = match self.input.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.byte_offset += raw_num_bytes;
                    return Err(error);
                }
                Ok(available) => available,
            };
            if available.is_empty() {
                break;
            }
            let newline = memchr::memchr(b'\n', available);
            let mut used = newline.map_or(available.len(), |at| at + 1);
            let room = keep - (bytes.len() - start);
            if self.settings.keeps_all && used > room {
                // The rest is the next part.
                used = room;
            }
            is_ended = newline.is_some_and(|at| at < used);
            bytes.extend_from_slice(&available[..used.min(room)]);
            raw_num_bytes += used as u64;
            self.input.reader.consume(used);
            if is_ended || (self.settings.keeps_all && bytes.len() - start == keep) {
                break;
            }
        }
        if raw_num_bytes == 0 {
            return Ok(None);
        }
        let (line_num, byte_offset) = (self.line_num, self.byte_offset);
        self.byte_offset += raw_num_bytes;
        self.line_num += u64::from(is_ended);
        let mut span = RecordSpan {
            range: start..bytes.len(),
            line_num,
            byte_offset,
            raw_num_bytes,
            extent: Extent::Whole,
            is_ended,
        };
        let is_whole = raw_num_bytes <= keep as u64;
        if is_whole {
            span.range.end = start + without_ending(&bytes[start..]).len();
        }
        if !is_whole || span.range.len() > self.max_num_bytes {
            match self.settings.keeps_all {
                true => {
                    self.end_part(bytes, &mut span);
                    is_ended = false;
                }
                false => shorten(&mut span, self.max_num_bytes),
            }
        }
        if self.is_in_parts {
            span.extent = Extent::Part;
        }
        self.is_in_parts = span.extent == Extent::Part && !is_ended;
        bytes.truncate(span.range.end);
        Ok(Some(span))
    }

    /// Ends a part at the limit, where a character ends, and gives back what is beyond.
    fn end_part(&mut self, bytes: &mut Vec<u8>, span: &mut RecordSpan) {
        let mut end = span.range.start + self.max_num_bytes;
        // At most three bytes of a character stand before its last one.
        for _ in 0..3 {
            let is_inside = bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80);
            if is_inside && end > span.range.start + 1 {
                end -= 1;
            }
        }
        let beyond = bytes.split_off(end.min(bytes.len()));
        self.give_back(beyond, span);
        span.range.end = bytes.len();
        span.extent = Extent::Part;
    }

    fn give_back(&mut self, beyond: Vec<u8>, span: &mut RecordSpan) {
        let num_lines = memchr::memchr_iter(b'\n', &beyond).count() as u64;
        self.line_num -= num_lines;
        self.byte_offset -= beyond.len() as u64;
        span.raw_num_bytes -= beyond.len() as u64;
        self.input.reader.unread(beyond);
    }

    /// Appends lines up to the next one with which a record begins.
    fn read_lines(&mut self, bytes: &mut Vec<u8>) -> io::Result<Option<RecordSpan>> {
        let start = bytes.len();
        let mut record = match self.next_line.take() {
            Some((line, mut span)) => {
                bytes.extend_from_slice(&line);
                span.range = start..bytes.len();
                span
            }
            None => match self.read_line(bytes)? {
                Some(span) => span,
                None => return Ok(None),
            },
        };
        let begins = self.begins_record(&bytes[record.range.clone()]);
        if self.is_continued && !begins {
            record.extent = Extent::Part;
        }
        while record.extent == Extent::Whole {
            let mut line = Vec::new();
            let span = match self.read_line(&mut line) {
                Ok(Some(span)) => span,
                Ok(None) => break,
                Err(error) => {
                    // The lines so far are a record, and what came of the next one breaks off.
                    let broken = self.broken_off(error, &mut line, 0);
                    self.next_line = broken.map(|span| (line, span));
                    break;
                }
            };
            let begins = self.begins_record(&line);
            let is_too_long = record.range.len() + 1 + line.len() > self.max_num_bytes;
            let is_part = span.extent == Extent::Part;
            if begins || is_part || (is_too_long && self.settings.keeps_all) {
                // What was cut apart is told to be.
                if !begins {
                    record.extent = Extent::Part;
                }
                self.next_line = Some((line, span));
                break;
            }
            record.raw_num_bytes += span.raw_num_bytes;
            if is_too_long || span.extent == Extent::Shortened {
                shorten(&mut record, self.max_num_bytes);
                self.skip_to_next(&mut record)?;
                break;
            }
            bytes.push(b'\n');
            bytes.extend_from_slice(&line);
            record.range.end = bytes.len();
        }
        bytes.truncate(record.range.end);
        self.is_continued = record.extent == Extent::Part;
        // Only the line that begins the next one ends a record.
        record.is_ended = self.next_line.is_some();
        Ok(Some(record))
    }

    fn begins_record(&self, line: &[u8]) -> bool {
        let rule = self.settings.multiline_start.as_ref();
        rule.is_some_and(|rule| rule.is_match(line))
    }

    /// Goes past the other lines of a record that is too long.
    fn skip_to_next(&mut self, record: &mut RecordSpan) -> io::Result<()> {
        let mut line = Vec::new();
        while let Some(span) = self.read_line(&mut line)? {
            if self.begins_record(&line) {
                self.next_line = Some((line, span));
                break;
            }
            record.raw_num_bytes += span.raw_num_bytes;
            line.clear();
        }
        Ok(())
    }

    /// Appends what the cutter takes for a record.
    fn cut_record(&mut self, bytes: &mut Vec<u8>) -> io::Result<Option<RecordSpan>> {
        let start = bytes.len();
        let mut span = RecordSpan {
            range: start..start,
            line_num: self.line_num,
            byte_offset: self.byte_offset,
            raw_num_bytes: 0,
            extent: Extent::Whole,
            is_ended: true,
        };
        loop {
            let available = match self.input.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            let is_at_end = available.is_empty();
            span.is_ended = !is_at_end;
            // In small steps, so that little has to be given back.
            let available = &available[..available.len().min(64 * 1024)];
            let cut = match is_at_end {
                true => Cut::End(0),
                false => self.cutter.cut(available),
            };
            let (used, is_ended) = match cut {
                Cut::More => (available.len(), false),
                Cut::End(len) => (len, true),
                Cut::Drop(len) => (len, false),
            };
            let used_bytes = &available[..used];
            let room = (self.max_num_bytes + 2).saturating_sub(bytes.len() - start);
            let may_be_given_back = self.cutter.is_in_quotes() && room > 0;
            let room = match self.settings.keeps_all || may_be_given_back {
                true => used,
                false => room,
            };
            bytes.extend_from_slice(&used_bytes[..used.min(room)]);
            self.line_num += memchr::memchr_iter(b'\n', used_bytes).count() as u64;
            self.byte_offset += used as u64;
            span.raw_num_bytes += used as u64;
            self.input.reader.consume(used);
            if matches!(cut, Cut::Drop(_)) {
                bytes.truncate(start);
                (span.line_num, span.byte_offset) = (self.line_num, self.byte_offset);
                span.raw_num_bytes = 0;
                continue;
            }
            let is_over = bytes.len() - start > self.max_num_bytes.saturating_add(2);
            if (is_over || is_at_end)
                && self.cutter.is_in_quotes()
                && self.end_at_line(bytes, &mut span)
            {
                return Ok(Some(span));
            }
            if is_over && self.settings.keeps_all {
                self.end_part(bytes, &mut span);
                // The cutter has seen what is given back: it goes on as if a record began there.
                self.cutter.begin_again();
                return Ok(Some(span));
            }
            if is_ended {
                break;
            }
        }
        if span.raw_num_bytes == 0 {
            return Ok(None);
        }
        let is_whole = span.raw_num_bytes == (bytes.len() - start) as u64;
        span.range.end = start + without_ending(&bytes[start..]).len();
        if !is_whole || span.range.len() > self.max_num_bytes {
            match self.settings.keeps_all {
                true => {
                    self.end_part(bytes, &mut span);
                    self.cutter.begin_again();
                }
                false => shorten(&mut span, self.max_num_bytes),
            }
        }
        bytes.truncate(span.range.end);
        Ok(Some(span))
    }

    /// Takes the first line for a record, because a quote in it is never closed. False if it has no end.
    fn end_at_line(&mut self, bytes: &mut Vec<u8>, span: &mut RecordSpan) -> bool {
        let start = span.range.start;
        let Some(at) = memchr::memchr(b'\n', &bytes[start..]) else {
            return false;
        };
        let beyond = bytes.split_off(start + at + 1);
        self.give_back(beyond, span);
        self.cutter.begin_again();
        span.range.end = start + without_ending(&bytes[start..]).len();
        if span.range.len() > self.max_num_bytes {
            shorten(span, self.max_num_bytes);
        }
        bytes.truncate(span.range.end);
        true
    }
}

pub(super) fn without_ending(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Keeps the beginning of a record that is over the limit.
fn shorten(span: &mut RecordSpan, max_num_bytes: usize) {
    let len = span.range.len().min(KEPT_OF_LONG_RECORD).min(max_num_bytes);
    span.range.end = span.range.start + len;
    span.extent = Extent::Shortened;
}
