//! Page: the entries of many splits in one immutable object, named by its hash.
//!
//! ```text
//!   0        8         12                12 + summary_len   + entries_len       + heads_len
//!   ├────────┼─────────┼─────────────────┼──────────────────┼───────────────────┤
//!   │ magic  │ version │ summary         │ entries          │ heads, packed     │
//!   └────────┴─────────┴─────────────────┴──────────────────┴───────────────────┘
//!                        rollup of all     what the manifest   of small splits: those
//!                        splits together   has for a split     of neighbours are one read
//! ```
//!
//! The manifest refers to a page by a [`PageRef`], which contains the lengths and checksums of its
//! parts, and data by which a search can skip the whole page. Each part is read by its range; the
//! checksum of a head is in its entry.

use std::ops::Range;

use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::manifest::{SplitEntry, Tags};
use crate::split::{Head, TimeRange};
use crate::summaries::{Rollup, SplitFilter, transpose};
use crate::version::{FILTER_FILE, PAGE_MAGIC, PAGE_NAME, PAGE_VERSION, object_id, page_object};

mod entries;
mod filters;
mod reference;

pub use entries::{PackedHead, PagedSplit, Totals};
pub use filters::PageFilters;
use reference::PREFIX_LEN;
pub(crate) use reference::{MAX_PACKED_HEAD, MIN_REF_LEN};
pub use reference::{PagePart, PageRef};

/// Maximum number of values of a tag field over all splits of a page; with more, the field may
/// contain any value.
const MAX_TAG_VALUES: usize = 16;

/// Encoded page with its reference.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenPage {
    /// Reference for the manifest.
    pub page: PageRef,
    /// Bytes of the object.
    pub bytes: Vec<u8>,
    /// Bytes of the object with its splits' filters, if there are any.
    pub filters: Option<Vec<u8>>,
}

/// Split to be written to a page.
#[derive(Clone, Debug, PartialEq)]
pub struct PageSplit {
    /// Entry of the split.
    pub entry: SplitEntry,
    /// Head, if it is available.
    pub head: Option<Vec<u8>>,
    /// Number of documents with each value of the fields that its head rolls up.
    pub totals: Totals,
    /// Filter, if it is available.
    pub filter: Option<SplitFilter>,
}

impl PageSplit {
    /// Creates a split from its head, and returns the rollup in the head as well.
    ///
    /// # Errors
    /// The head differs from the one that the entry names.
    pub fn of_head(
        entry: SplitEntry,
        head: Vec<u8>,
    ) -> Result<(Self, Option<Rollup>), FormatError> {
        if !entry.is_head(&head) {
            return Err(FormatError::new(
                PAGE_NAME,
                format!("the head of the split {} is another", entry.id),
            ));
        }
        let rollup = Head::open(&head)?.rollup;
        let totals = rollup.as_ref().map(Rollup::totals).unwrap_or_default();
        let split = Self {
            entry,
            head: Some(head),
            totals,
            filter: None,
        };
        Ok((split, rollup))
    }

    /// Returns the range of the filter in the split's object, if its head is available and has one.
    pub fn filter_range(&self) -> Option<Range<u64>> {
        let head = Head::open(self.head.as_deref()?).ok()?;
        let (_, file) = head.files.find(FILTER_FILE)?;
        let start = self.entry.head_len.checked_add(file.offset)?;
        Some(start..start.checked_add(file.len)?)
    }
}

/// Encodes a page of splits, sorted as in a manifest; `summary` is the rollup of all of them.
///
/// # Errors
/// The id of a split is invalid.
pub fn write_page(
    mut splits: Vec<PageSplit>,
    summary: Option<&Rollup>,
) -> Result<WrittenPage, FormatError> {
    canter_sorting::sort_by(&mut splits, |left, right| {
        left.entry.order().cmp(&right.entry.order())
    });
    let mut heads = Vec::new();
    let mut offsets = Vec::new();
    for split in &splits {
        let head = split.head.as_deref();
        let packed =
            head.filter(|head| head.len() as u64 <= MAX_PACKED_HEAD && split.entry.is_head(head));
        offsets.push(packed.map(|_| heads.len() as u64));
        heads.extend_from_slice(packed.unwrap_or_default());
    }
    let summary = summary.map_or_else(Vec::new, Rollup::write);
    let filters = splits.iter();
    let filters = filters.map(|split| (split.entry.id.as_str(), split.filter.as_ref()));
    let transposed = transpose(&filters.collect::<Vec<_>>())?;
    let group_ords = transposed.as_ref().map(|all| all.group_ords.as_slice());
    let entries = entries::write(&splits, &offsets, group_ords.unwrap_or_default())?;
    let (filters, filter_bytes) = transposed.map(|all| (all.filters, all.bytes)).unzip();

    let mut out = Writer::default();
    out.raw(&PAGE_MAGIC);
    out.u32(PAGE_VERSION);
    out.raw(&summary);
    out.raw(&entries);
    out.raw(&heads);
    let bytes = out.into_bytes();
    let all = || splits.iter().map(|split| &split.entry);
    let sum =
        |of: fn(&SplitEntry) -> u64| all().fold(0u64, |sum, entry| sum.saturating_add(of(entry)));
    Ok(WrittenPage {
        page: PageRef {
            id: object_id(&bytes),
            num_splits: splits.len() as u64,
            num_docs: sum(|entry| entry.num_docs),
            num_deleted: sum(|entry| entry.num_docs.saturating_sub(entry.num_live_docs())),
            raw_num_bytes: sum(|entry| entry.raw_num_bytes),
            num_split_bytes: sum(|entry| entry.len),
            time_range: entries_time_range(&mut all()),
            tags: common_tags(&mut all()),
            summary: PagePart::of(PREFIX_LEN, &summary),
            entries: PagePart::of(PREFIX_LEN + summary.len() as u64, &entries),
            heads_len: heads.len() as u64,
            filters,
        },
        bytes,
        filters: filter_bytes,
    })
}

/// Returns the range from the earliest to the latest time of these splits; `None` if one has no
/// times.
fn entries_time_range(entries: &mut dyn Iterator<Item = &SplitEntry>) -> Option<TimeRange> {
    let ranges: Option<Vec<TimeRange>> = entries.map(|entry| entry.time_range).collect();
    ranges?.into_iter().reduce(TimeRange::union)
}

/// Returns the tag fields that all of these splits list, with the values of all.
fn common_tags(entries: &mut dyn Iterator<Item = &SplitEntry>) -> Tags {
    let mut common: Option<Tags> = None;
    for entry in entries {
        common = Some(match common {
            None => entry.tags.clone(),
            Some(mut tags) => {
                tags.retain(|field, values| {
                    let here = entry.tags.get(field);
                    values.extend(here.into_iter().flatten().cloned());
                    here.is_some() && values.len() <= MAX_TAG_VALUES
                });
                tags
            }
        });
    }
    let mut tags = common.unwrap_or_default();
    tags.retain(|_, values| values.len() <= MAX_TAG_VALUES);
    tags
}

impl PageRef {
    /// Returns the name of the page's object, relative to the index's URI.
    pub fn object(&self) -> String {
        page_object(&self.id)
    }

    /// Returns the length of the object in bytes.
    pub fn object_len(&self) -> u64 {
        self.entries.end().saturating_add(self.heads_len)
    }

    /// Decodes the rollup of all splits in this page from the bytes of its summary; `None` if they
    /// have none in common.
    ///
    /// # Errors
    /// The bytes differ from the referenced ones.
    pub fn open_summary(&self, bytes: &[u8]) -> Result<Option<Rollup>, FormatError> {
        self.summary.check(bytes)?;
        match bytes.is_empty() {
            true => Ok(None),
            false => Rollup::open(bytes).map(Some),
        }
    }

    /// Decodes the splits of this page, oldest first, from the bytes of its entries.
    ///
    /// # Errors
    /// The bytes differ from the referenced ones.
    pub fn open_entries(&self, bytes: &[u8]) -> Result<Vec<PagedSplit>, FormatError> {
        self.entries.check(bytes)?;
        let splits = entries::open(bytes, self)?;
        if splits.len() as u64 != self.num_splits {
            return Err(FormatError::new(
                PAGE_NAME,
                "it holds other splits than the manifest says",
            ));
        }
        Ok(splits)
    }

    /// Decodes the splits of a whole page, each with its packed head and its filter in `filters`,
    /// and the rollup of all.
    ///
    /// # Errors
    /// The bytes of the page differ from the referenced ones. Damaged filters are omitted.
    pub fn open(
        &self,
        bytes: &[u8],
        filters: Option<&[u8]>,
    ) -> Result<(Vec<PageSplit>, Option<Rollup>), FormatError> {
        let mut reader = Reader::new(PAGE_NAME, bytes);
        if reader.raw(PAGE_MAGIC.len())? != PAGE_MAGIC {
            return Err(
                reader.error("this is not a page of a Canter manifest (wrong magic number)")
            );
        }
        let version = reader.u32()?;
        if version != PAGE_VERSION {
            return Err(reader.error(format!(
                "page format version {version} is not known (this reader knows {PAGE_VERSION}): use a newer Canter"
            )));
        }
        let part = |part: PagePart| {
            let start = usize::try_from(part.start).ok();
            let end = usize::try_from(part.end()).ok();
            let range = start
                .zip(end)
                .and_then(|(start, end)| bytes.get(start..end));
            range.ok_or_else(|| FormatError::new(PAGE_NAME, "cut short"))
        };
        let splits = self.open_entries(part(self.entries)?)?;
        let head_of = |split: &PagedSplit| {
            let packed = split.head.as_ref()?;
            let start = usize::try_from(packed.offset).ok()?;
            let len = usize::try_from(split.entry.head_len).ok()?;
            let head = bytes.get(start..start.checked_add(len)?)?;
            split.entry.is_head(head).then(|| head.to_vec())
        };
        let summary = self.open_summary(part(self.summary)?)?;
        let all = self.filters.as_ref();
        let all = all.and_then(|filters| PageFilters::of(filters, &splits));
        let filters = all.zip(filters);
        let filters = filters.map(|(all, bytes)| all.open_all(&splits, bytes));
        let filters = filters.into_iter().flatten();
        let filters = filters.chain(std::iter::repeat(None));
        let splits = splits.into_iter().zip(filters);
        let splits = splits.map(|(split, filter)| PageSplit {
            head: head_of(&split),
            entry: split.entry,
            totals: split.totals,
            filter,
        });
        Ok((splits.collect(), summary))
    }
}

#[cfg(test)]
mod tests;
