//! Deleted documents of a split, to which its entry refers until a merge removes them.
//!
//! ```text
//!   u8 0 │ count · { varint gap · varint len - 1 }     ranges: few, or in a row
//!   u8 1 │ varint num_bits · bits, lowest first         a bit for each document
//! ```
//!
//! The shorter form is used. Short ones are inlined in the entry; all are stored in an object named
//! by its hash.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::version::{DELETES_NAME, deletes_object, object_id, read_object_id};

/// Maximum length of deletes that are inlined in the entry.
const MAX_INLINED: usize = 512;

const RANGES: u8 = 0;
const BITS: u8 = 1;

/// Documents of a split, as ascending ranges that do not touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeletedDocs {
    ranges: Vec<Range<u32>>,
}

/// Reference from a split's entry to its deleted documents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeletesRef {
    /// First 128 bits of the BLAKE3 hash of the bytes, in hexadecimal. An object's name derives
    /// from it, so reading accepts nothing else.
    #[serde(deserialize_with = "read_object_id")]
    pub id: String,
    /// Number of deleted documents.
    pub num_docs: u64,
    /// Length of the bytes.
    pub len: u64,
    /// The bytes, if they are few.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inlined: Option<Vec<u8>>,
}

impl DeletesRef {
    /// Returns the name of the object, relative to the index's URI.
    pub fn object(&self) -> String {
        deletes_object(&self.id)
    }

    /// Decodes the documents of a split with `max_doc` documents.
    ///
    /// # Errors
    /// The bytes differ from the referenced ones.
    pub fn open(&self, bytes: &[u8], max_doc: u32) -> Result<DeletedDocs, FormatError> {
        let error = |problem: &str| Err(FormatError::new(DELETES_NAME, problem));
        if bytes.len() as u64 != self.len || object_id(bytes) != self.id {
            return error("other bytes than their name says");
        }
        let docs = DeletedDocs::read(bytes)?;
        if docs.ranges.last().is_some_and(|last| last.end > max_doc) {
            return error("they are of another split");
        }
        if docs.num_docs() != self.num_docs {
            return error("they are not as many as the manifest says");
        }
        Ok(docs)
    }
}

impl DeletedDocs {
    /// Creates the set of ascending documents.
    pub fn of_sorted(docs: impl IntoIterator<Item = u32>) -> Self {
        let mut deleted = Self::default();
        for doc in docs {
            deleted.push(doc..doc.saturating_add(1));
        }
        deleted
    }

    /// Adds a range that does not begin before the last one. Overlaps count once.
    pub fn push(&mut self, range: Range<u32>) {
        match self.ranges.last_mut() {
            _ if range.is_empty() => {}
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => self.ranges.push(range),
        }
    }

    /// Returns the union of both sets.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut all: Vec<Range<u32>> = self.ranges.iter().chain(&other.ranges).cloned().collect();
        canter_sorting::sort_by_key(&mut all, |range| range.start);
        let mut union = Self::default();
        all.into_iter().for_each(|range| union.push(range));
        union
    }

    /// Returns whether a document is deleted.
    pub fn contains(&self, doc: u32) -> bool {
        let after = self.ranges.partition_point(|range| range.start <= doc);
        let last = after.checked_sub(1).and_then(|at| self.ranges.get(at));
        last.is_some_and(|range| doc < range.end)
    }

    /// Returns the parts of a range that are not deleted, in ascending order.
    pub fn left_of(&self, docs: Range<u32>) -> impl Iterator<Item = Range<u32>> + '_ {
        let first = self.ranges.partition_point(|range| range.end <= docs.start);
        let ranges = self.ranges.get(first..).unwrap_or_default().iter();
        let deleted = ranges
            .cloned()
            .take_while(move |range| range.start < docs.end);
        let mut from = docs.start;
        deleted
            .chain(std::iter::once(docs.end..docs.end))
            .filter_map(move |deleted| {
                let left = from..deleted.start;
                from = from.max(deleted.end);
                (!left.is_empty()).then_some(left)
            })
    }

    /// Returns the deleted documents as ascending ranges that do not touch.
    pub fn ranges(&self) -> &[Range<u32>] {
        &self.ranges
    }

    /// Returns the number of deleted documents.
    pub fn num_docs(&self) -> u64 {
        let lens = self
            .ranges
            .iter()
            .map(|range| u64::from(range.end - range.start));
        lens.sum()
    }

    /// Encodes the set, and returns a reference with the bytes.
    pub fn write(&self) -> (DeletesRef, Vec<u8>) {
        let ranges = self.write_ranges();
        let bits = self.write_bits(ranges.len());
        let bytes = bits.unwrap_or(ranges);
        let reference = DeletesRef {
            id: object_id(&bytes),
            num_docs: self.num_docs(),
            len: bytes.len() as u64,
            inlined: (bytes.len() <= MAX_INLINED).then(|| bytes.clone()),
        };
        (reference, bytes)
    }

    fn write_ranges(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.raw(&[RANGES]);
        out.varint(self.ranges.len() as u64);
        let mut end = 0;
        for range in &self.ranges {
            out.varint(u64::from(range.start - end));
            out.varint(u64::from(range.end - range.start - 1));
            end = range.end;
        }
        out.into_bytes()
    }

    /// Encodes the set as bits; returns `None` if that is not shorter.
    fn write_bits(&self, shorter_than: usize) -> Option<Vec<u8>> {
        let num_bits = usize::try_from(self.ranges.last()?.end).ok()?;
        if num_bits.div_ceil(8) + 6 >= shorter_than {
            return None;
        }
        let mut bits = vec![0u8; num_bits.div_ceil(8)];
        for doc in self.ranges.iter().cloned().flatten() {
            *bits.get_mut(usize::try_from(doc / 8).ok()?)? |= 1 << (doc % 8);
        }
        let mut out = Writer::default();
        out.raw(&[BITS]);
        out.varint(num_bits as u64);
        out.raw(&bits);
        Some(out.into_bytes())
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(DELETES_NAME, bytes);
        let mut deleted = Self::default();
        let [form] = reader.array::<1>()?;
        match form {
            RANGES => {
                let num_ranges = reader.count(2)?;
                deleted.ranges.reserve_exact(num_ranges);
                let mut end = 0u32;
                for nth in 0..num_ranges {
                    let gap = reader.varint_u32()?;
                    if nth > 0 && gap == 0 {
                        return Err(reader.error("two ranges touch"));
                    }
                    let too_large = || FormatError::new(DELETES_NAME, "a document id does not fit");
                    let start = end.checked_add(gap).ok_or_else(too_large)?;
                    let len = reader.varint_u32()?.checked_add(1).ok_or_else(too_large)?;
                    end = start.checked_add(len).ok_or_else(too_large)?;
                    deleted.ranges.push(start..end);
                }
            }
            BITS => {
                let num_bits = reader.varint_u32()?;
                let bits =
                    reader.raw(usize::try_from(num_bits.div_ceil(8)).unwrap_or(usize::MAX))?;
                for (doc, byte) in (0..num_bits).zip(bits.iter().flat_map(|byte| [*byte; 8])) {
                    if byte >> (doc % 8) & 1 == 1 {
                        deleted.push(doc..doc + 1);
                    }
                }
            }
            _ => {
                return Err(
                    reader.error("they are in a form that is not known: use a newer Canter")
                );
            }
        }
        reader.finish()?;
        Ok(deleted)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn damage_and_other_splits_are_told() {
        let (reference, bytes) = DeletedDocs::of_sorted([3, 4, 9]).write();
        assert_eq!(reference.inlined.as_deref(), Some(bytes.as_slice()));
        assert_eq!(reference.object(), format!("deletes/{}.docs", reference.id));
        assert!(reference.open(&bytes, 10).is_ok());
        assert!(
            reference.open(&bytes, 9).is_err(),
            "a split of fewer documents"
        );
        assert!(reference.open(&bytes[1..], 10).is_err());
        let other = DeletesRef {
            num_docs: 2,
            ..reference
        };
        assert!(other.open(&bytes, 10).is_err());
    }

    #[test]
    fn an_id_from_which_a_name_is_made_is_checked() {
        let (reference, _) = DeletedDocs::of_sorted([3]).write();
        let text = serde_json::to_string(&reference).unwrap();
        assert_eq!(
            serde_json::from_str::<DeletesRef>(&text).unwrap(),
            reference
        );
        for bad in [
            "",
            "..",
            "/etc",
            "../../x",
            "0123456789ABCDEF0123456789abcdef",
        ] {
            let text = text.replace(&reference.id, bad);
            let error = serde_json::from_str::<DeletesRef>(&text).unwrap_err();
            assert!(
                error.to_string().contains("hexadecimal digits"),
                "{bad}: {error}"
            );
        }
    }

    #[test]
    fn any_bytes_are_answered() {
        for bytes in [
            &[][..],
            &[7],
            &[0, 9],
            &[0, 1, 0xff],
            &[1, 9, 0],
            &[0, 2, 1, 1, 0, 1],
        ] {
            assert!(DeletedDocs::read(bytes).is_err(), "{bytes:?}");
        }
        let end = [0, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0];
        assert!(DeletedDocs::read(&end).is_err(), "beyond 32 bits");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            starts in prop::collection::btree_set(0_u32..3_000, 0..800),
            other in prop::collection::btree_set(0_u32..3_000, 0..50),
        ) {
            let docs = DeletedDocs::of_sorted(starts.iter().copied());
            let (reference, bytes) = docs.write();
            prop_assert!(bytes.len() < 400, "at most a bit each");
            prop_assert_eq!(reference.num_docs, starts.len() as u64);
            let found = reference.open(&bytes, 3_000).unwrap();
            prop_assert_eq!(&found, &docs);
            for doc in 0..3_000 {
                prop_assert_eq!(found.contains(doc), starts.contains(&doc));
            }
            let from = other.first().copied().unwrap_or(0);
            let left: Vec<u32> = docs.left_of(from..2_500).flatten().collect();
            let wanted: Vec<u32> = (from..2_500).filter(|doc| !starts.contains(doc)).collect();
            prop_assert_eq!(left, wanted);
            let union = docs.union(&DeletedDocs::of_sorted(other.iter().copied()));
            let all = starts.union(&other).copied();
            prop_assert_eq!(union, DeletedDocs::of_sorted(all));
        }
    }
}
