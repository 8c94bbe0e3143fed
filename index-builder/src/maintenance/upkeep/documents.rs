//! Bulk reads of documents that a search has listed, for scans of an index by other engines. Only
//! the doc store of each split is read, by range and without the manifest, so that any machine can
//! read any part.

use std::io;
use std::iter::Peekable;
use std::ops::Range;
use std::vec;

use canter_doc_mapper::{DocMapper, IndexConfig, ReadOnlyDirectory, read_stored};
use canter_split_format::{FormatError, ListedSplit, SplitEntry};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tantivy::Index;

use crate::blocking;
use crate::error::{BuildError, ErrorKind};
use crate::index::publisher::find_entries;
use crate::index::storage::IndexStore;
use crate::maintenance::merge::{StoredReader, open_split};

/// Maximum mean distance of documents for which the doc store is read in long ranges.
const DENSE: u64 = 200;

const LONG_READ_NUM_BYTES: usize = 4 << 20;
const SHORT_READ_NUM_BYTES: usize = 128 << 10;

/// Documents of one split, with everything that is needed to read them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocumentsPart {
    /// Config of the index from its manifest.
    index_config: Value,
    entry: SplitEntry,
    listed: ListedSplit,
    /// Range of the listed documents that are read, as indexes into the list.
    places: Range<u64>,
}

impl DocumentsPart {
    /// Returns the number of documents.
    pub fn num_docs(&self) -> u64 {
        self.places.end.saturating_sub(self.places.start)
    }

    /// Divides the documents into parts of similar size with at most `max_docs` each.
    pub fn divide(self, max_docs: u64) -> Vec<DocumentsPart> {
        let num = self.num_docs().div_ceil(max_docs.max(1)).max(1);
        let len = self.num_docs().div_ceil(num);
        let part = |nth: u64| {
            let start = self.places.start + nth * len;
            DocumentsPart {
                places: start..(start + len).min(self.places.end),
                ..self.clone()
            }
        };
        (0..num).map(part).collect()
    }

    /// # Errors
    /// Serialization fails.
    pub fn to_json(&self) -> Result<String, BuildError> {
        serde_json::to_string(self)
            .map_err(|error| BuildError::internal(format!("a part of documents: {error}")))
    }

    /// # Errors
    /// `Invalid` if this is not a part of documents.
    pub fn from_json(json: &str) -> Result<Self, BuildError> {
        serde_json::from_str(json)
            .map_err(|error| BuildError::invalid(format!("a part of documents: {error}")))
    }
}

/// Returns the parts for documents that a search has listed, or `None` if others have merged one of
/// their splits since: then they must be listed again.
///
/// # Errors
/// `Data` if a page cannot be read, `Unavailable` if storage does not answer.
pub fn locate_documents(
    store: &IndexStore,
    listed: Vec<ListedSplit>,
) -> Result<Option<Vec<DocumentsPart>>, BuildError> {
    let found = blocking::run(find_entries(store, &listed))?;
    let Some((index_config, entries)) = found else {
        return Ok(None);
    };
    let parts = entries.into_iter().zip(listed);
    let parts = parts.map(|(entry, listed)| DocumentsPart {
        index_config: index_config.clone(),
        entry,
        places: 0..listed.num_listed,
        listed,
    });
    Ok(Some(parts.collect()))
}

/// Documents that are being read, in the order of their split.
pub struct Documents {
    split_id: String,
    stored: StoredReader,
    mapper: DocMapper,
    docs: Peekable<vec::IntoIter<Range<u32>>>,
}

impl Documents {
    /// Opens the split of a part.
    ///
    /// # Errors
    /// `Data` if the split is damaged, or gone because it was merged long ago; `Unavailable` if
    /// storage does not answer.
    pub fn open(store: &IndexStore, part: &DocumentsPart) -> Result<Self, BuildError> {
        let DocumentsPart { entry, listed, .. } = part;
        let named = |error: &dyn std::fmt::Display| {
            BuildError::data(format!(
                "split {}: {error}: list the documents again, or restore the object",
                entry.id
            ))
        };
        let listed_docs = listed.docs().map_err(|error: FormatError| named(&error))?;
        let docs = cut(listed_docs.ranges(), &part.places);
        let window = match part.num_docs().saturating_mul(DENSE) < entry.num_docs {
            true => SHORT_READ_NUM_BYTES,
            false => LONG_READ_NUM_BYTES,
        };
        let directory = open_split(store, entry, window)?;
        let index =
            Index::open(ReadOnlyDirectory(directory.clone())).map_err(|error| named(&error))?;
        let config: IndexConfig = serde_json::from_value(part.index_config.clone())
            .map_err(|error| BuildError::data(format!("index config: {error}")))?;
        let mapper = DocMapper::of_segment(&config, &index.schema())
            .map_err(|error| BuildError::data(format!("index config: {error}")))?;
        let stored = StoredReader::open(&directory)
            .map_err(|error| failed(&format!("split {}", entry.id), &error))?;
        Ok(Self {
            split_id: entry.id.clone(),
            stored,
            mapper,
            docs: docs.into_iter().peekable(),
        })
    }

    /// Appends lines of JSON, one document each, until `out` has `max_bytes` or all documents are
    /// read. Returns whether any line was appended.
    ///
    /// # Errors
    /// `Data` if the doc store is damaged or cannot be read.
    pub fn read_lines(&mut self, max_bytes: usize, out: &mut Vec<u8>) -> Result<bool, BuildError> {
        let mut has_any = false;
        while out.len() < max_bytes {
            let Some(range) = self.docs.peek_mut() else {
                break;
            };
            let Some(doc) = range.next() else {
                self.docs.next();
                continue;
            };
            let split_id = &self.split_id;
            let named =
                |error: io::Error| failed(&format!("split {split_id}: document {doc}"), &error);
            let bytes = self.stored.get(doc).map_err(named)?;
            let document = read_stored(bytes).map_err(|error| named(io::Error::other(error)))?;
            out.extend_from_slice(self.mapper.doc_to_json_text(&document).as_bytes());
            out.push(b'\n');
            has_any = true;
        }
        Ok(has_any)
    }
}

/// Returns the reason why documents cannot be read: storage, if it does not answer, or else the
/// split.
fn failed(what: &str, error: &io::Error) -> BuildError {
    let cause = error.get_ref();
    let kind = cause.and_then(|cause| Some(cause.downcast_ref::<BuildError>()?.kind()));
    BuildError::new(kind.unwrap_or(ErrorKind::Data), format!("{what}: {error}"))
}

/// Returns the documents at `places` in a list of ranges.
fn cut(ranges: &[Range<u32>], places: &Range<u64>) -> Vec<Range<u32>> {
    let mut cut = Vec::new();
    let mut place = 0;
    for range in ranges {
        let len = u64::from(range.end - range.start);
        // Both lie within the range, whose ends have 32 bits.
        let offset = |at: u64| u32::try_from(at.clamp(place, place + len) - place).unwrap_or(0);
        let (start, end) = (offset(places.start), offset(places.end));
        if start < end {
            cut.push(range.start + start..range.start + end);
        }
        place += len;
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn a_list_is_cut_where_the_places_say() {
        let ranges = [2..5, 9..10, 20..26];
        let docs = |places| -> Vec<u32> { cut(&ranges, &places).into_iter().flatten().collect() };
        let all: Vec<u32> = ranges.iter().cloned().flatten().collect();
        for start in 0..=all.len() {
            for end in start..=all.len() {
                assert_eq!(docs(start as u64..end as u64), all[start..end]);
            }
        }
        assert_eq!(docs(8..100), [24, 25]);
    }
}
