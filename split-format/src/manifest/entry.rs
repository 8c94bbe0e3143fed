//! Description of one split: in the manifest, in a page, and by a search that lists documents.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::deletes::{DeletedDocs, DeletesRef};
use crate::FormatError;
use crate::split::TimeRange;
use crate::version::{DELETES_NAME, checksum64, read_object_id};

/// All values of each tag field.
pub type Tags = BTreeMap<String, BTreeSet<String>>;

/// Live split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SplitEntry {
    /// Hash of the split's bytes, from which its object's name derives. Reading accepts only 32
    /// lower-case hexadecimal digits: hosts send credentials of the index along with the object's
    /// name.
    #[serde(deserialize_with = "read_object_id")]
    pub id: String,
    /// Length of the object in bytes.
    pub len: u64,
    /// Length of its head in bytes.
    pub head_len: u64,
    /// XXH3-64 of the head's bytes, in hexadecimal.
    #[serde(with = "hex_u64")]
    pub head_checksum: u64,
    /// Offset of the head after this manifest's JSON, if it is inlined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_offset: Option<u64>,
    /// Number of documents.
    pub num_docs: u64,
    /// Number of bytes of the input that the documents came from.
    pub raw_num_bytes: u64,
    /// Earliest and latest timestamp, if the index has a timestamp field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_range: Option<TimeRange>,
    /// All values of each tag field with few enough of them in this split. A missing field may
    /// contain any value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: Tags,
    /// Maximum number of merges that its documents have been through.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub num_merge_ops: u64,
    /// Deleted documents, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletes: Option<DeletesRef>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl SplitEntry {
    /// Returns the number of documents that are not deleted.
    pub fn num_live_docs(&self) -> u64 {
        let num_deleted = self.deletes.as_ref().map_or(0, |deletes| deletes.num_docs);
        self.num_docs.saturating_sub(num_deleted)
    }

    /// Returns whether readers of the first manifest version understand this entry completely.
    pub(super) fn is_of_first_version(&self) -> bool {
        self.num_merge_ops == 0 && self.deletes.is_none()
    }

    /// Returns the sort key of splits: latest timestamp, then earliest, then id.
    pub fn order(&self) -> (Option<(i64, i64)>, &str) {
        let times = self.time_range.map(|range| (range.end_ns, range.start_ns));
        (times, &self.id)
    }

    /// Returns whether these bytes are the head of this split.
    pub fn is_head(&self, bytes: &[u8]) -> bool {
        bytes.len() as u64 == self.head_len && checksum64(bytes) == self.head_checksum
    }
}

/// Documents of one split that match a query: the answer of a listing search, and the input of a
/// deletion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedSplit {
    /// Id of the split.
    pub split_id: String,
    /// Number of its documents, including deleted ones.
    pub num_docs: u64,
    /// Earliest and latest timestamp of the split, if the index has a timestamp field. Always
    /// serialized: leaves use a format without field names.
    pub time_range: Option<TimeRange>,
    /// Number of matching documents that are not deleted yet.
    pub num_listed: u64,
    /// Matching documents: the bytes of [`DeletedDocs`] in hexadecimal.
    pub docs: String,
}

impl ListedSplit {
    /// Creates the list of a split's matching documents.
    pub fn new(entry: &SplitEntry, docs: &DeletedDocs) -> Self {
        let mut listed = Self {
            split_id: entry.id.clone(),
            num_docs: entry.num_docs,
            time_range: entry.time_range,
            num_listed: 0,
            docs: String::new(),
        };
        listed.set(docs);
        listed
    }

    fn set(&mut self, docs: &DeletedDocs) {
        let (reference, bytes) = docs.write();
        self.num_listed = reference.num_docs;
        self.docs = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    }

    /// Keeps the first documents of the list, and drops the others.
    ///
    /// # Errors
    /// As [`ListedSplit::docs`].
    pub fn truncate(&mut self, max_docs: u64) -> Result<(), FormatError> {
        if self.num_listed > max_docs {
            let docs = self.docs()?;
            let max_docs = usize::try_from(max_docs).unwrap_or(usize::MAX);
            let first = docs.ranges().iter().cloned().flatten().take(max_docs);
            self.set(&DeletedDocs::of_sorted(first));
        }
        Ok(())
    }

    /// Decodes the documents.
    ///
    /// # Errors
    /// The list is invalid for a split of this size.
    pub fn docs(&self) -> Result<DeletedDocs, FormatError> {
        let error = |problem: &str| FormatError::new(DELETES_NAME, problem);
        let digits = self.docs.as_bytes().chunks(2).map(|digits| {
            let digits = std::str::from_utf8(digits)
                .ok()
                .filter(|text| text.len() == 2)?;
            u8::from_str_radix(digits, 16).ok()
        });
        let bytes: Option<Vec<u8>> = digits.collect();
        let docs = DeletedDocs::read(&bytes.ok_or_else(|| error("no hexadecimal digits"))?)?;
        let end = docs.ranges().last().map_or(0, |last| u64::from(last.end));
        match docs.num_docs() == self.num_listed && end <= self.num_docs {
            true => Ok(docs),
            false => Err(error("they are not those that are said to be listed")),
        }
    }
}

mod hex_u64 {
    //! A `u64` as 16 hexadecimal digits: many JSON readers lose the bits of numbers past 2^53.

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{value:016x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16)
            .map_err(|_| D::Error::custom(format!("{text:?} is not a hexadecimal checksum")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_documents_are_read_as_they_were_written() {
        let docs = DeletedDocs::of_sorted([3, 4, 9]);
        let listed = |docs: &str, num_listed, num_docs| ListedSplit {
            split_id: "a".to_owned(),
            num_docs,
            time_range: None,
            num_listed,
            docs: docs.to_owned(),
        };
        let hex: String = docs
            .write()
            .1
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(listed(&hex, 3, 10).docs().unwrap(), docs);
        for wrong in [
            listed(&hex, 2, 10),
            listed(&hex, 3, 9),
            listed(&hex[1..], 3, 10),
            listed("+1", 0, 10),
            listed("äß", 0, 10),
        ] {
            assert!(wrong.docs().is_err(), "{wrong:?}");
        }
    }
}
