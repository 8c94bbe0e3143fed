//! Cutting a stream into lines, a batch at a time.

use super::input::Input;
use crate::error::BuildError;
use canter_split_format::{LinesHash, SourceId, SourceProgress};
use std::io::{self, BufRead};
use std::ops::Range;

/// A batch is full when it holds this many bytes.
const BATCH_NUM_BYTES: usize = 256 * 1024;
/// Of a line over the limit, this much is kept for the rejects file.
const KEPT_OF_LONG_LINE: usize = 1024;

/// So much of the first line says which source it is. No more than what is kept of a long one.
const BEGINNING_LEN: usize = KEPT_OF_LONG_LINE;

/// Consecutive lines of one source in one buffer.
#[derive(Debug)]
pub(crate) struct LineBatch {
    /// Which source, by its place in the list of sources.
    pub(crate) source_ord: usize,
    /// Which source, for ever.
    pub(crate) source_id: SourceId,
    /// The number of the first line, from 1.
    pub(crate) first_line_num: u64,
    /// So many lines of the source were ingested before.
    pub(crate) num_known_lines: u64,
    bytes: Vec<u8>,
    lines: Vec<LineSpan>,
}

#[derive(Clone, Debug)]
struct LineSpan {
    /// Where the line stands in the batch, without its ending.
    range: Range<usize>,
    /// How many bytes it took in the source, with its ending.
    raw_num_bytes: u64,
    is_too_long: bool,
    /// Whether a line feed ends it, and not the source.
    is_ended: bool,
}

/// What was read of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SourceRead {
    /// Which source, for ever.
    pub(crate) source_id: SourceId,
    /// How much of it was ingested before.
    pub(crate) known: Option<SourceProgress>,
    /// All of its lines.
    pub(crate) num_lines: u64,
    pub(crate) hash: LinesHash,
    /// The hash without the last line, if nothing ends that: more of it may come.
    pub(crate) hash_before_open_line: Option<LinesHash>,
}

/// Says how much of a source was ingested before.
pub(crate) type Lookup<'a> =
    dyn Fn(SourceId) -> Result<Option<SourceProgress>, BuildError> + Sync + 'a;

/// One line without its ending.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// From 1, by source.
    pub(crate) line_num: u64,
    /// The text; only its beginning if it is too long.
    pub(crate) bytes: &'a [u8],
    /// The length in the source, with its ending.
    pub(crate) raw_num_bytes: u64,
    /// Whether it is over the limit.
    pub(crate) is_too_long: bool,
}

impl LineBatch {
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Line<'_>> {
        self.lines.iter().enumerate().map(|(ord, span)| Line {
            line_num: self.first_line_num + ord as u64,
            bytes: &self.bytes[span.range.clone()],
            raw_num_bytes: span.raw_num_bytes,
            is_too_long: span.is_too_long,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }
}

/// Reads the lines of one source.
pub(crate) struct LineReader<'a> {
    input: Input,
    lookup: &'a Lookup<'a>,
    known: Option<SourceProgress>,
    hash: LinesHash,
    hash_before_open_line: Option<LinesHash>,
    source_ord: usize,
    origin: Vec<u8>,
    /// Known from the first line on.
    source_id: Option<SourceId>,
    max_line_num_bytes: usize,
    num_lines: u64,
    failure: Option<BuildError>,
}

impl<'a> LineReader<'a> {
    /// Reads `input`, which comes from `origin`.
    pub(crate) fn new(
        input: Input,
        source_ord: usize,
        origin: Vec<u8>,
        max_line_num_bytes: usize,
        lookup: &'a Lookup<'a>,
    ) -> LineReader<'a> {
        LineReader {
            input,
            lookup,
            known: None,
            hash: LinesHash::default(),
            hash_before_open_line: None,
            source_ord,
            origin,
            source_id: None,
            max_line_num_bytes,
            num_lines: 0,
            failure: None,
        }
    }

    /// Reads whole lines until a batch is full, or the source at its end; `None` when there are no
    /// more. Lines that were read before a failure are given first, then the failure.
    pub(crate) fn next_batch(&mut self) -> Result<Option<LineBatch>, BuildError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let mut batch = LineBatch {
            source_ord: self.source_ord,
            source_id: self.source_id(&[]),
            first_line_num: self.num_lines + 1,
            num_known_lines: 0,
            bytes: Vec::with_capacity(BATCH_NUM_BYTES + 4096),
            lines: Vec::with_capacity(1024),
        };
        while batch.bytes.len() < BATCH_NUM_BYTES {
            match read_line(
                &mut *self.input.reader,
                &mut batch.bytes,
                self.max_line_num_bytes,
            ) {
                Ok(Some(span)) => {
                    if self.num_lines == 0 {
                        self.begin(&batch.bytes[span.range.clone()])?;
                    }
                    self.num_lines += 1;
                    self.hash_line(&batch.bytes[span.range.clone()], &span)?;
                    batch.lines.push(span);
                }
                Ok(None) => break,
                Err(error) => {
                    self.failure = Some(self.input.failure(error, self.num_lines));
                    break;
                }
            }
        }
        batch.source_id = self.source_id(&[]);
        batch.num_known_lines = self.known.map_or(0, |known| known.num_lines);
        match self.failure.take() {
            Some(failure) if batch.lines.is_empty() => Err(failure),
            failure => {
                self.failure = failure;
                Ok((!batch.lines.is_empty()).then_some(batch))
            }
        }
    }

    /// Finds out which source it is, and how much of it is known.
    fn begin(&mut self, first_line: &[u8]) -> Result<(), BuildError> {
        let source_id = self.source_id(&first_line[..first_line.len().min(BEGINNING_LEN)]);
        self.source_id = Some(source_id);
        self.known = (self.lookup)(source_id)?;
        Ok(())
    }

    /// Takes a line into account, and compares with what is known where that ends.
    fn hash_line(&mut self, text: &[u8], span: &LineSpan) -> Result<(), BuildError> {
        let before = self.hash;
        self.hash = before.with(text, span.raw_num_bytes - u64::from(span.is_ended));
        self.hash_before_open_line = (!span.is_ended).then_some(before);
        match self.known {
            Some(known) if known.num_lines == self.num_lines && known.hash != self.hash => {
                Err(self.is_another(&format!(
                    "its first {} lines are not those that were ingested before",
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

    /// What was read, at the end; nothing of a source without a line.
    ///
    /// # Errors
    /// `Invalid` if there is less than was ingested before.
    pub(crate) fn finish(self) -> Result<Option<SourceRead>, BuildError> {
        let Some(source_id) = self.source_id else {
            return Ok(None);
        };
        if let Some(known) = self.known
            && known.num_lines > self.num_lines
        {
            return Err(self.is_another(&format!(
                "it has {} lines, and {} of that one were ingested",
                self.num_lines, known.num_lines
            )));
        }
        Ok(Some(SourceRead {
            source_id,
            known: self.known,
            num_lines: self.num_lines,
            hash: self.hash,
            hash_before_open_line: self.hash_before_open_line,
        }))
    }

    /// The id of the source, if it begins like this.
    fn source_id(&self, beginning: &[u8]) -> SourceId {
        self.source_id
            .unwrap_or_else(|| SourceId::of(&self.origin, beginning))
    }
}

/// Appends one line to `bytes`: at most the limit and an ending of it. `None` at the end.
fn read_line(
    reader: &mut dyn BufRead,
    bytes: &mut Vec<u8>,
    max_num_bytes: usize,
) -> io::Result<Option<LineSpan>> {
    let start = bytes.len();
    let mut is_ended = false;
    let keep = max_num_bytes.saturating_add(2);
    let mut raw_num_bytes = 0_u64;
    loop {
        let available = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if available.is_empty() {
            break;
        }
        let newline = memchr::memchr(b'\n', available);
        let used = newline.map_or(available.len(), |at| at + 1);
        let room = keep - (bytes.len() - start);
        bytes.extend_from_slice(&available[..used.min(room)]);
        raw_num_bytes += used as u64;
        reader.consume(used);
        if newline.is_some() {
            is_ended = true;
            break;
        }
    }
    if raw_num_bytes == 0 {
        return Ok(None);
    }
    let is_whole = raw_num_bytes <= keep as u64;
    let mut len = bytes.len() - start;
    if is_whole {
        let line = &bytes[start..];
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        len = line.strip_suffix(b"\r").unwrap_or(line).len();
    }
    let is_too_long = !is_whole || len > max_num_bytes;
    if is_too_long {
        len = len.min(KEPT_OF_LONG_LINE).min(max_num_bytes);
    }
    bytes.truncate(start + len);
    Ok(Some(LineSpan {
        range: start..start + len,
        raw_num_bytes,
        is_too_long,
        is_ended,
    }))
}
