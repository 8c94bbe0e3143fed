//! Time index: the first document of each time bucket, for documents sorted by time.
//!
//! ```text
//!   bucket      k          k+1        k+2        k+3
//!           ├──────────┼──────────┼──────────┤
//!   starts  0          17         17         40 (= num_docs)
//! ```
//!
//! A time range whose ends are bucket boundaries is a range of document ids, found without a read;
//! any other end is known up to one bucket.

use std::ops::Range;

use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::version::TIME_INDEX;

const SECOND_NS: i64 = 1_000_000_000;

/// Bucket widths in nanoseconds, each a divisor of the wider ones as far as calendars allow.
const WIDTHS_NS: [i64; 12] = [
    1_000_000,
    10_000_000,
    100_000_000,
    SECOND_NS,
    10 * SECOND_NS,
    60 * SECOND_NS,
    600 * SECOND_NS,
    3_600 * SECOND_NS,
    6 * 3_600 * SECOND_NS,
    86_400 * SECOND_NS,
    10 * 86_400 * SECOND_NS,
    100 * 86_400 * SECOND_NS,
];

/// Maximum number of buckets in a time index: about 2 KiB in the head.
const MAX_BUCKETS: i64 = 1024;

/// Start of each time bucket among documents sorted by time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeIndex {
    width_ns: i64,
    first_bucket: i64,
    /// `starts[i]` is the first document at or after bucket `first_bucket + i`. The list has one
    /// more element than there are buckets; the last one is the number of documents.
    starts: Vec<u32>,
}

/// Returns the smallest width that covers `first_ns..=last_ns` in at most `max_buckets` buckets.
pub(crate) fn choose_width_ns(first_ns: i64, last_ns: i64, max_buckets: i64) -> i64 {
    WIDTHS_NS
        .into_iter()
        .find(|width| last_ns.div_euclid(*width) - first_ns.div_euclid(*width) < max_buckets)
        .unwrap_or_else(|| {
            // Only for times more than `max_buckets` times 100 days apart: 280 years for the time
            // index, 70 for a rollup. All 64-bit times then make `max_buckets + 2` buckets.
            i64::MAX / (max_buckets / 2).max(1)
        })
}

impl TimeIndex {
    /// Indexes the sorted timestamps of all documents, in document order. Returns `None` without
    /// documents, if they are not sorted, or for 2^32 - 1 or more.
    pub fn of_sorted(timestamps_ns: &[i64]) -> Option<Self> {
        let (first, last) = (*timestamps_ns.first()?, *timestamps_ns.last()?);
        if !timestamps_ns.is_sorted() {
            return None;
        }
        let width_ns = choose_width_ns(first, last, MAX_BUCKETS);
        let first_bucket = first.div_euclid(width_ns);
        let last_bucket = last.div_euclid(width_ns);
        let starts = (first_bucket..=last_bucket + 1)
            .map(|bucket| {
                let start_doc =
                    timestamps_ns.partition_point(|ts| ts.div_euclid(width_ns) < bucket);
                u32::try_from(start_doc)
                    .ok()
                    .filter(|start| *start < u32::MAX)
            })
            .collect::<Option<Vec<u32>>>()?;
        Some(Self {
            width_ns,
            first_bucket,
            starts,
        })
    }

    /// Returns the width of a bucket in nanoseconds.
    pub fn width_ns(&self) -> i64 {
        self.width_ns
    }

    /// Returns the number of documents.
    pub fn num_docs(&self) -> u32 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Returns the first document at or after `time_ns`: its exact id if the range has length one,
    /// or else inclusive bounds for it.
    pub fn first_doc_at_or_after(&self, time_ns: i64) -> Range<u32> {
        let num_docs = self.num_docs();
        let slot = time_ns
            .div_euclid(self.width_ns)
            .saturating_sub(self.first_bucket);
        let Ok(slot) = usize::try_from(slot) else {
            return 0..1;
        };
        let Some(&low) = self.starts.get(slot) else {
            return num_docs..num_docs + 1;
        };
        if time_ns.rem_euclid(self.width_ns) == 0 {
            return low..low + 1;
        }
        let high = self.starts.get(slot + 1).copied().unwrap_or(num_docs);
        low..high + 1
    }

    /// Returns the time bucket of a document, from its inclusive start to its exclusive end in
    /// nanoseconds.
    pub fn bucket_of(&self, doc: u32) -> Range<i64> {
        let slot = self.starts.partition_point(|start| *start <= doc);
        let bucket = i64::try_from(slot)
            .unwrap_or(i64::MAX)
            .saturating_sub(1)
            .saturating_add(self.first_bucket);
        // Each end saturates separately: the first and the last bucket may exceed 64 bits.
        bucket.saturating_mul(self.width_ns)..bucket.saturating_add(1).saturating_mul(self.width_ns)
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.varint_signed(self.width_ns);
        out.varint_signed(self.first_bucket);
        out.varint(self.starts.len() as u64);
        let mut last = 0;
        for start in &self.starts {
            out.varint(u64::from(start - last));
            last = *start;
        }
        out.into_bytes()
    }

    pub(crate) fn open(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(TIME_INDEX.name, bytes);
        let width_ns = reader.varint_signed()?;
        let first_bucket = reader.varint_signed()?;
        if width_ns <= 0 {
            return Err(reader.error("a bucket width must be positive"));
        }
        let num_starts = reader.count(1)?;
        if num_starts < 2 {
            return Err(reader.error("it has no bucket"));
        }
        let mut starts = Vec::with_capacity(num_starts);
        let mut last = 0u32;
        for _ in 0..num_starts {
            last = last
                .checked_add(reader.varint_u32()?)
                .filter(|start| *start < u32::MAX)
                .ok_or_else(|| reader.error("a document id does not fit 32 bits"))?;
            starts.push(last);
        }
        if starts.first() != Some(&0) {
            return Err(reader.error("its first bucket does not start at document 0"));
        }
        reader.finish()?;
        Ok(Self {
            width_ns,
            first_bucket,
            starts,
        })
    }
}

#[cfg(test)]
mod tests;
