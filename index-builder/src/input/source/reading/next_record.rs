//! Finding the next record of a source: a line, several lines according to a rule, or a record found by a cutter.

use super::batch::{Extent, KEPT_OF_LONG_RECORD, RecordSpan, without_ending};
use super::records::RecordReader;
use crate::error::ErrorKind;
use canter_formats::Cut;
use std::io::{self, BufRead};

impl RecordReader {
    pub(super) fn next_record(&mut self, bytes: &mut Vec<u8>) -> io::Result<Option<RecordSpan>> {
        if self.end.is_some() && self.next_line.is_none() {
            return Ok(None);
        }
        let has_rule = self.settings.multiline_start.is_some();
        match self.cutter.is_of_lines() {
            true if has_rule || self.layout.has_continuations() => self.read_lines(bytes),
            true => self.read_line(bytes),
            false => self.cut_record(bytes),
        }
    }

    /// Appends one line to `bytes`: at most the limit and a part of its ending. `None` at the end.
    fn read_line(&mut self, bytes: &mut Vec<u8>) -> io::Result<Option<RecordSpan>> {
        let start = bytes.len();
        let max_num_bytes = self.max_of_line();
        let keep = max_num_bytes.saturating_add(2);
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
            has_end: is_ended,
            num_lines: 1,
            place: 0,
        };
        let is_whole = raw_num_bytes <= keep as u64;
        if is_whole {
            span.range.end = start + without_ending(&bytes[start..]).len();
        }
        if !is_whole || span.range.len() > max_num_bytes {
            match self.settings.keeps_all {
                true => {
                    self.end_part(bytes, &mut span);
                    is_ended = false;
                }
                false => shorten(&mut span, max_num_bytes),
            }
        }
        if self.is_in_parts {
            span.extent = Extent::Part;
        }
        self.is_in_parts = span.extent == Extent::Part && !is_ended;
        bytes.truncate(span.range.end);
        Ok(Some(span))
    }

    /// Returns the maximum length of the next line, or part of one.
    fn max_of_line(&self) -> usize {
        match self.is_in_parts {
            true => self.part_num_bytes,
            false => self.max_num_bytes,
        }
    }

    /// Ends a part at the limit, on a character boundary, and gives the rest back.
    fn end_part(&mut self, bytes: &mut Vec<u8>, span: &mut RecordSpan) {
        let mut end = span.range.start + self.part_num_bytes;
        // At most three bytes of a character precede its last one.
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

    /// Appends lines up to the next one that begins a record.
    fn read_lines(&mut self, bytes: &mut Vec<u8>) -> io::Result<Option<RecordSpan>> {
        let start = bytes.len();
        // Buffer for the examined line, reused.
        let mut line = Vec::new();
        let mut record = match self.next_line.take() {
            Some((next, mut span)) => {
                bytes.extend_from_slice(&next);
                span.range = start..bytes.len();
                line = next;
                span
            }
            None => match self.read_line(bytes)? {
                Some(span) => span,
                None => return Ok(None),
            },
        };
        let begins = self.begins_record(&[], &bytes[record.range.clone()]);
        if self.is_continued && !begins {
            record.extent = Extent::Part;
        }
        while record.extent == Extent::Whole {
            line.clear();
            let span = match self.read_line(&mut line) {
                Ok(Some(span)) => span,
                Ok(None) => break,
                Err(error) => {
                    // The lines so far are a record, and the next one breaks off.
                    let broken = self.broken_off(error, &mut line, 0);
                    record.has_end &= self.waiting().is_none();
                    self.next_line = broken.map(|span| (line, span));
                    return Ok(Some(self.end_record(record, bytes)));
                }
            };
            // The known part ends with a record, whatever follows.
            let num_known = self.known.map_or(0, |known| known.num_lines);
            let is_behind_known =
                self.counts_lines && num_known == self.num_lines + record.num_lines;
            let begins = is_behind_known || self.begins_record(&bytes[record.range.clone()], &line);
            let is_too_long = record.range.len() + 1 + line.len() > self.max_num_bytes;
            let is_part = span.extent == Extent::Part;
            if begins || is_part || (is_too_long && self.settings.keeps_all) {
                // Marks a divided record as such.
                if !begins {
                    record.extent = Extent::Part;
                }
                self.next_line = Some((line, span));
                return Ok(Some(self.end_record(record, bytes)));
            }
            record.raw_num_bytes += span.raw_num_bytes;
            record.num_lines += 1;
            record.has_end = span.has_end;
            if is_too_long || span.extent == Extent::Shortened {
                shorten(&mut record, self.max_num_bytes);
                self.skip_to_next(&mut record)?;
                break;
            }
            bytes.push(b'\n');
            bytes.extend_from_slice(&line);
            record.range.end = bytes.len();
        }
        Ok(Some(self.end_record(record, bytes)))
    }

    fn end_record(&mut self, mut record: RecordSpan, bytes: &mut Vec<u8>) -> RecordSpan {
        bytes.truncate(record.range.end);
        self.is_continued = record.extent == Extent::Part;
        // Only the line that begins the next one ends a record.
        record.is_ended = self.next_line.is_some();
        record.has_end |= record.is_ended;
        record
    }

    /// Returns whether a line begins a record, instead of continuing the one that `record` is the beginning of.
    fn begins_record(&self, record: &[u8], line: &[u8]) -> bool {
        match &self.settings.multiline_start {
            Some(rule) => rule.is_match(line),
            None => !self.layout.continues(record, line),
        }
    }

    /// Skips the other lines of a record that is too long.
    fn skip_to_next(&mut self, record: &mut RecordSpan) -> io::Result<()> {
        let mut line = Vec::new();
        while let Some(span) = self.read_line(&mut line)? {
            if self.begins_record(&[], &line) {
                self.next_line = Some((line, span));
                break;
            }
            record.raw_num_bytes += span.raw_num_bytes;
            record.num_lines += 1;
            record.has_end = span.has_end;
            line.clear();
        }
        Ok(())
    }

    /// Appends a record found by the cutter.
    fn cut_record(&mut self, bytes: &mut Vec<u8>) -> io::Result<Option<RecordSpan>> {
        let start = bytes.len();
        let mut span = RecordSpan {
            range: start..start,
            line_num: self.line_num,
            byte_offset: self.byte_offset,
            raw_num_bytes: 0,
            extent: Extent::Whole,
            is_ended: true,
            has_end: true,
            num_lines: 1,
            place: 0,
        };
        loop {
            let cut = self.cut_bytes(bytes, &mut span)?;
            if matches!(cut, Cut::Drop(_)) {
                bytes.truncate(start);
                (span.line_num, span.byte_offset) = (self.line_num, self.byte_offset);
                span.raw_num_bytes = 0;
                continue;
            }
            let is_over = bytes.len() - start > self.max_num_bytes.saturating_add(2);
            // A quote may still be closed by a later write.
            let is_open =
                !span.is_ended && self.input.may_be_unfinished() && !self.settings.takes_open();
            if (is_over || (!span.is_ended && !is_open))
                && self.cutter.is_in_quotes()
                && self.end_at_line(bytes, &mut span)
            {
                return Ok(Some(span));
            }
            if is_over && self.settings.keeps_all {
                self.end_part(bytes, &mut span);
                // The cutter has seen the bytes that are given back: it continues as if a record began there.
                self.cutter.begin_again();
                return Ok(Some(span));
            }
            if matches!(cut, Cut::End(_)) {
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

    /// Takes the next bytes up to a cut, or a step of them, appends what there is room for, and counts all of them.
    fn cut_bytes(&mut self, bytes: &mut Vec<u8>, span: &mut RecordSpan) -> io::Result<Cut> {
        let available = loop {
            match self.input.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        span.is_ended = !available.is_empty();
        span.has_end = span.is_ended;
        // In small steps, so that little has to be given back.
        let available = &available[..available.len().min(64 * 1024)];
        let cut = match available.is_empty() {
            true => Cut::End(0),
            false => self.cutter.cut(available),
        };
        let used = match cut {
            Cut::More => available.len(),
            Cut::End(len) | Cut::Drop(len) => len,
        };
        let used_bytes = &available[..used];
        let len = bytes.len() - span.range.start;
        let room = (self.max_num_bytes + 2).saturating_sub(len);
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
        Ok(cut)
    }

    /// Takes the first line as a record, because a quote in it is never closed. Returns false if it has no end.
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

    /// Ends the source: a damaged one with a record that says so, an unreadable one with a failure
    /// of the whole ingest.
    pub(super) fn broken_off(
        &mut self,
        error: io::Error,
        bytes: &mut Vec<u8>,
        start: usize,
    ) -> Option<RecordSpan> {
        let may_grow = self.input.may_grow && !self.settings.takes_open();
        if may_grow && self.input.is_cut_short(&error) {
            let num_lines = self.line_num.saturating_sub(1);
            self.waiting.get_or_insert_with(|| {
                format!(
                    "it is compressed and ends in the middle, behind {num_lines} lines: what follows waits for the rest; \
                     --final takes what there is"
                )
            });
            bytes.truncate(start);
            self.end = Some(Ok(()));
            return None;
        }
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
            has_end: false,
            num_lines: 0,
            place: self.num_lines + 1,
        })
    }
}

/// Keeps the beginning of a record that is over the limit.
fn shorten(span: &mut RecordSpan, max_num_bytes: usize) {
    let len = span.range.len().min(KEPT_OF_LONG_RECORD).min(max_num_bytes);
    span.range.end = span.range.start + len;
    span.extent = Extent::Shortened;
}
