//! Hotcache: ranges of the body's files that every opening, and many a query, reads. They are
//! stored in the head, so that they need no request.

use std::ops::Range;

use crate::codec::{Reader, Writer};
use crate::version::HOTCACHE;
use crate::{FileEntry, FileTable, FormatError};

/// Hot range of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotRange {
    /// Index of the file in the file table.
    pub file_ord: u32,
    /// First byte, counted from the start of the file.
    pub start: u64,
    /// Location of the bytes in [`Hotcache::bytes`].
    pub bytes: Range<usize>,
}

/// Hot ranges, sorted by file and start, disjoint within a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hotcache {
    ranges: Vec<HotRange>,
    bytes: Vec<u8>,
}

impl Hotcache {
    /// Collects `(file_ord, start, bytes)`. Ranges of one file that overlap or touch are merged.
    pub fn from_ranges(mut ranges: Vec<(u32, u64, Vec<u8>)>) -> Self {
        ranges.retain(|(_, _, bytes)| !bytes.is_empty());
        canter_sorting::sort_by_key(&mut ranges, |(file_ord, start, _)| (*file_ord, *start));
        let mut merged: Vec<(u32, u64, Vec<u8>)> = Vec::new();
        for (file_ord, start, bytes) in ranges {
            if let Some((last_ord, last_start, last_bytes)) = merged.last_mut() {
                let last_end = *last_start + last_bytes.len() as u64;
                if *last_ord == file_ord && start <= last_end {
                    let known = usize::try_from(last_end - start).unwrap_or(usize::MAX);
                    last_bytes.extend_from_slice(bytes.get(known..).unwrap_or_default());
                    continue;
                }
            }
            merged.push((file_ord, start, bytes));
        }
        let mut cache = Self::default();
        for (file_ord, start, bytes) in merged {
            let from = cache.bytes.len();
            cache.bytes.extend_from_slice(&bytes);
            cache.ranges.push(HotRange {
                file_ord,
                start,
                bytes: from..cache.bytes.len(),
            });
        }
        cache
    }

    /// Returns the hot ranges in order.
    pub fn ranges(&self) -> &[HotRange] {
        &self.ranges
    }

    /// Returns the hot bytes of all ranges in order.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Consumes the hotcache, and returns its bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.varint(self.ranges.len() as u64);
        for range in &self.ranges {
            out.varint(u64::from(range.file_ord));
            out.varint(range.start);
            out.varint(range.bytes.len() as u64);
        }
        out.raw(&self.bytes);
        out.into_bytes()
    }

    pub(crate) fn open(bytes: &[u8], files: &FileTable) -> Result<Self, FormatError> {
        let mut reader = Reader::new(HOTCACHE.name, bytes);
        let num_ranges = reader.count(3)?;
        let mut ranges: Vec<HotRange> = Vec::with_capacity(num_ranges);
        let mut next_byte = 0usize;
        let mut last: Option<(u32, u64)> = None;
        for _ in 0..num_ranges {
            let file_ord = reader.varint_u32()?;
            let start = reader.varint()?;
            let len = reader.varint()?;
            let end = start
                .checked_add(len)
                .ok_or_else(|| reader.error("a range ends past 64 bits"))?;
            let file_len = usize::try_from(file_ord)
                .ok()
                .and_then(|ord| files.files().get(ord))
                .map(FileEntry::plain_len);
            if file_len.is_none_or(|file_len| end > file_len) {
                return Err(reader.error(format!("a range lies outside file {file_ord}")));
            }
            if last.is_some_and(|(ord, last_end)| {
                ord > file_ord || (ord == file_ord && start < last_end)
            }) {
                return Err(reader.error("its ranges are not in order"));
            }
            last = Some((file_ord, end));
            let byte_end = usize::try_from(len)
                .ok()
                .and_then(|len| next_byte.checked_add(len))
                .ok_or_else(|| reader.error("a range is longer than memory"))?;
            ranges.push(HotRange {
                file_ord,
                start,
                bytes: next_byte..byte_end,
            });
            next_byte = byte_end;
        }
        let bytes = reader.raw(next_byte)?.to_vec();
        reader.finish()?;
        Ok(Self { ranges, bytes })
    }
}

#[cfg(test)]
mod tests;
