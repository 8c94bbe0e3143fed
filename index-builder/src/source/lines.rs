//! Cutting a stream into lines, a batch at a time.

use super::input::Input;
use crate::error::BuildError;
use canter_split_format::SourceId;
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
}

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
pub(crate) struct LineReader {
    input: Input,
    source_ord: usize,
    origin: Vec<u8>,
    /// Known from the first line on.
    source_id: Option<SourceId>,
    max_line_num_bytes: usize,
    num_lines: u64,
    failure: Option<BuildError>,
}

impl LineReader {
    /// Reads `input`, which comes from `origin`.
    pub(crate) fn new(
        input: Input,
        source_ord: usize,
        origin: Vec<u8>,
        max_line_num_bytes: usize,
    ) -> LineReader {
        LineReader {
            input,
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
                    batch.lines.push(span);
                    self.num_lines += 1;
                }
                Ok(None) => break,
                Err(error) => {
                    self.failure = Some(self.input.failure(error, self.num_lines));
                    break;
                }
            }
        }
        let first_line = batch.iter().next().map(|line| line.bytes);
        let source_id =
            first_line.map(|line| self.source_id(&line[..line.len().min(BEGINNING_LEN)]));
        if let Some(source_id) = source_id {
            batch.source_id = source_id;
            self.source_id = Some(source_id);
        }
        match self.failure.take() {
            Some(failure) if batch.lines.is_empty() => Err(failure),
            failure => {
                self.failure = failure;
                Ok((!batch.lines.is_empty()).then_some(batch))
            }
        }
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
    }))
}
