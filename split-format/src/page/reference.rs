//! Reference from a manifest to a page: enough to skip it, or to read the needed part.

use std::collections::{BTreeMap, BTreeSet};

use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::manifest::Tags;
use crate::split::TimeRange;
use crate::summaries::FiltersRef;
use crate::version::{PAGE_NAME, checksum64};

/// Length of magic number and version.
pub(super) const PREFIX_LEN: u64 = 12;

/// Maximum length of a packed head. A longer one is read from its split, where it is worth a
/// request of its own.
pub(crate) const MAX_PACKED_HEAD: u64 = 64 << 10;

/// All values of a tag field.
pub(super) type TagValues = BTreeSet<String>;

/// Range of a page, with its checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagePart {
    /// First byte, from the start of the object.
    pub start: u64,
    /// Number of bytes.
    pub len: u64,
    /// XXH3-64 of the bytes.
    pub checksum: u64,
}

/// Reference from a manifest to a page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageRef {
    /// First 128 bits of the BLAKE3 hash of its bytes, in hexadecimal.
    pub id: String,
    /// Number of splits.
    pub num_splits: u64,
    /// Number of documents in its splits, including deleted ones.
    pub num_docs: u64,
    /// Number of deleted documents; if there are any, the summary does not describe the remaining
    /// ones.
    pub num_deleted: u64,
    /// Number of bytes of the input that the documents came from.
    pub raw_num_bytes: u64,
    /// Total length of its splits' objects in bytes.
    pub num_split_bytes: u64,
    /// Range from the earliest to the latest timestamp, if all of its splits have one.
    pub time_range: Option<TimeRange>,
    /// All values of tag fields with few of them over all of its splits. A missing field may
    /// contain any value.
    pub tags: Tags,
    /// Rollup of all of its splits.
    pub summary: PagePart,
    /// Entries of its splits.
    pub entries: PagePart,
    /// Length of the heads after the entries in bytes.
    pub heads_len: u64,
    /// Filters of its splits, if there are any.
    pub filters: Option<FiltersRef>,
}

impl PagePart {
    pub(super) fn of(start: u64, bytes: &[u8]) -> Self {
        Self {
            start,
            len: bytes.len() as u64,
            checksum: checksum64(bytes),
        }
    }

    /// Checks that these bytes are this part.
    ///
    /// # Errors
    /// Their length or their checksum differs.
    pub fn check(self, bytes: &[u8]) -> Result<(), FormatError> {
        match bytes.len() as u64 == self.len && checksum64(bytes) == self.checksum {
            true => Ok(()),
            false => Err(FormatError::new(
                PAGE_NAME,
                "its checksum does not match: the bytes are damaged",
            )),
        }
    }

    /// Returns the offset after its last byte.
    pub fn end(self) -> u64 {
        self.start.saturating_add(self.len)
    }
}

/// Minimum length of a reference in bytes.
pub(crate) const MIN_REF_LEN: usize = 43;

impl PageRef {
    /// Returns the sort key of pages, as for splits.
    pub(crate) fn order(&self) -> (Option<(i64, i64)>, &str) {
        let times = self.time_range.map(|range| (range.end_ns, range.start_ns));
        (times, &self.id)
    }

    pub(crate) fn write(&self, out: &mut Writer) -> Result<(), FormatError> {
        out.raw(&crate::version::id_bytes(&self.id)?);
        out.varint(self.num_splits);
        out.varint(self.num_docs);
        out.varint(self.num_deleted);
        out.varint(self.raw_num_bytes);
        out.varint(self.num_split_bytes);
        write_time_range(self.time_range, out);
        write_tags(&self.tags, out);
        for part in [self.summary, self.entries] {
            out.varint(part.len);
            out.u64(part.checksum);
        }
        out.varint(self.heads_len);
        FiltersRef::write(self.filters.as_ref(), out)
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        let id = crate::version::id_of_bytes(reader.array()?);
        let [
            num_splits,
            num_docs,
            num_deleted,
            raw_num_bytes,
            num_split_bytes,
        ] = [
            reader.varint()?,
            reader.varint()?,
            reader.varint()?,
            reader.varint()?,
            reader.varint()?,
        ];
        let time_range = read_time_range(reader)?;
        let tags = read_tags(reader)?;
        let mut start = PREFIX_LEN;
        let mut part = || -> Result<PagePart, FormatError> {
            let part = PagePart {
                start,
                len: reader.varint()?,
                checksum: reader.u64()?,
            };
            start = part.end();
            Ok(part)
        };
        let (summary, entries) = (part()?, part()?);
        Ok(Self {
            id,
            num_splits,
            num_docs,
            num_deleted,
            raw_num_bytes,
            num_split_bytes,
            time_range,
            tags,
            summary,
            entries,
            heads_len: reader.varint()?,
            filters: FiltersRef::read(reader)?,
        })
    }
}

/// Writes 0 for none; else 1, the start, and the length.
pub(super) fn write_time_range(range: Option<TimeRange>, out: &mut Writer) {
    match range {
        None => out.varint(0),
        Some(range) => {
            out.varint(1);
            out.varint_signed(range.start_ns);
            out.varint(range.end_ns.wrapping_sub(range.start_ns).cast_unsigned());
        }
    }
}

pub(super) fn read_time_range(reader: &mut Reader<'_>) -> Result<Option<TimeRange>, FormatError> {
    match reader.varint()? {
        0 => Ok(None),
        1 => {
            let start_ns = reader.varint_signed()?;
            let end_ns = start_ns.wrapping_add(reader.varint()?.cast_signed());
            match start_ns <= end_ns {
                true => Ok(Some(TimeRange { start_ns, end_ns })),
                false => Err(reader.error("a time range runs backwards")),
            }
        }
        _ => Err(reader.error("a time range is neither there nor absent")),
    }
}

pub(super) fn write_tags(tags: &Tags, out: &mut Writer) {
    out.varint(tags.len() as u64);
    for (field, values) in tags {
        out.bytes(field.as_bytes());
        out.varint(values.len() as u64);
        for value in values {
            out.bytes(value.as_bytes());
        }
    }
}

pub(super) fn read_tags(reader: &mut Reader<'_>) -> Result<Tags, FormatError> {
    let num_fields = reader.count(2)?;
    let mut tags = BTreeMap::new();
    for _ in 0..num_fields {
        let field = reader.string()?.to_owned();
        let num_values = reader.count(1)?;
        // They are already in order, so they need no sorting.
        let mut values = TagValues::new();
        for _ in 0..num_values {
            values.insert(reader.string()?.to_owned());
        }
        tags.insert(field, values);
    }
    Ok(tags)
}
