//! Rollups: for each coarse time bucket, how many documents hold each value of a low-cardinality
//! field. A histogram whose buckets are unions of these needs nothing but the head.

use std::ops::Range;

use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::time_index::choose_width_ns;
use crate::version::ROLLUP;

/// The most time buckets a rollup has.
const MAX_BUCKETS: i64 = 256;
/// The most buckets that a reader accepts.
const MAX_BUCKETS_READ: usize = 1 << 16;

/// Counts of one field's values per time bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRollup {
    /// Fast field name.
    pub name: String,
    /// The distinct values in dictionary order.
    pub keys: Vec<String>,
    /// `counts[bucket * keys.len() + key]`: documents of that bucket with that value.
    counts: Vec<u32>,
}

impl FieldRollup {
    /// Documents per key, summed over a range of buckets.
    pub fn counts_in(&self, buckets: Range<usize>) -> Vec<u64> {
        let mut sums = vec![0u64; self.keys.len()];
        if self.keys.is_empty() {
            return sums;
        }
        let rows = self
            .counts
            .chunks_exact(self.keys.len())
            .take(buckets.end)
            .skip(buckets.start);
        for row in rows {
            for (sum, count) in sums.iter_mut().zip(row) {
                *sum += u64::from(*count);
            }
        }
        sums
    }
}

/// The rollups of a split, over one series of time buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rollup {
    width_ns: i64,
    first_bucket: i64,
    num_docs: Vec<u32>,
    fields: Vec<FieldRollup>,
}

impl Rollup {
    /// Starts a rollup over sorted timestamps; `None` without documents.
    pub fn over(timestamps_ns: &[i64]) -> Option<Self> {
        let (first, last) = (*timestamps_ns.first()?, *timestamps_ns.last()?);
        let width_ns = choose_width_ns(first, last, MAX_BUCKETS);
        let first_bucket = first.div_euclid(width_ns);
        let num_buckets = last
            .div_euclid(width_ns)
            .checked_sub(first_bucket)?
            .checked_add(1)?;
        let mut num_docs = vec![0u32; usize::try_from(num_buckets).ok()?];
        for timestamp in timestamps_ns {
            let slot = usize::try_from(timestamp.div_euclid(width_ns) - first_bucket).ok()?;
            *num_docs.get_mut(slot)? += 1;
        }
        Some(Self {
            width_ns,
            first_bucket,
            num_docs,
            fields: Vec::new(),
        })
    }

    /// Adds one field: the ordinal (into `keys`) of each document's value, in document order.
    pub fn add_field(
        &mut self,
        name: &str,
        keys: Vec<String>,
        values: impl IntoIterator<Item = Option<usize>>,
    ) {
        let buckets = (0..).zip(&self.num_docs).flat_map(|(bucket, num_docs)| {
            std::iter::repeat_n(bucket, usize::try_from(*num_docs).unwrap_or(0))
        });
        let mut counts = vec![0u32; keys.len() * self.num_docs.len()];
        for (bucket, value) in buckets.zip(values) {
            let bucket: usize = bucket;
            if let Some(count) =
                value.and_then(|key_ord| counts.get_mut(bucket * keys.len() + key_ord))
            {
                *count += 1;
            }
        }
        self.fields.push(FieldRollup {
            name: name.to_owned(),
            keys,
            counts,
        });
    }

    /// Width of a bucket in nanoseconds. Bucket `k` covers `k * width .. (k + 1) * width`.
    pub fn width_ns(&self) -> i64 {
        self.width_ns
    }

    /// Number of the first bucket.
    pub fn first_bucket(&self) -> i64 {
        self.first_bucket
    }

    /// Documents in each bucket.
    pub fn num_docs(&self) -> &[u32] {
        &self.num_docs
    }

    /// Documents of all buckets together.
    pub(crate) fn num_docs_of_all_buckets(&self) -> u64 {
        self.num_docs.iter().copied().map(u64::from).sum()
    }

    /// The rollup of a field.
    pub fn field(&self, name: &str) -> Option<&FieldRollup> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// All rolled-up fields.
    pub fn fields(&self) -> &[FieldRollup] {
        &self.fields
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.varint_signed(self.width_ns);
        out.varint_signed(self.first_bucket);
        out.varint(self.num_docs.len() as u64);
        for count in &self.num_docs {
            out.varint(u64::from(*count));
        }
        out.varint(self.fields.len() as u64);
        for field in &self.fields {
            out.bytes(field.name.as_bytes());
            out.varint(field.keys.len() as u64);
            for key in &field.keys {
                out.bytes(key.as_bytes());
            }
            for count in &field.counts {
                out.varint(u64::from(*count));
            }
        }
        out.into_bytes()
    }

    pub(crate) fn open(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(ROLLUP.name, bytes);
        let width_ns = reader.varint_signed()?;
        let first_bucket = reader.varint_signed()?;
        if width_ns <= 0 {
            return Err(reader.error("a bucket width must be positive"));
        }
        let num_buckets = reader.count(1)?;
        if num_buckets > MAX_BUCKETS_READ {
            return Err(reader.error(format!("{num_buckets} buckets are too many")));
        }
        let num_docs = read_counts(&mut reader, num_buckets)?;
        let num_fields = reader.count(2)?;
        let mut fields = Vec::with_capacity(num_fields);
        for _ in 0..num_fields {
            let name = reader.string()?.to_owned();
            let num_keys = reader.count(1)?;
            let keys = (0..num_keys)
                .map(|_| reader.string().map(str::to_owned))
                .collect::<Result<Vec<_>, _>>()?;
            if !keys.is_sorted_by(|left, right| left < right) {
                return Err(reader.error(format!("the keys of {name:?} are not in order")));
            }
            let num_counts = num_keys.saturating_mul(num_buckets);
            if num_counts > reader.remaining() {
                return Err(reader.error("its counts are cut short"));
            }
            fields.push(FieldRollup {
                name,
                keys,
                counts: read_counts(&mut reader, num_counts)?,
            });
        }
        reader.finish()?;
        Ok(Self {
            width_ns,
            first_bucket,
            num_docs,
            fields,
        })
    }
}

fn read_counts(reader: &mut Reader<'_>, num_counts: usize) -> Result<Vec<u32>, FormatError> {
    (0..num_counts).map(|_| reader.varint_u32()).collect()
}

#[cfg(test)]
mod tests;
