//! Rollups: for each coarse time bucket, the number of documents with each value of a
//! low-cardinality field. A histogram with buckets that are unions of these needs only the head.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::time_index::choose_width_ns;
use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::version::ROLLUP;

/// Maximum number of time buckets in a rollup.
const MAX_BUCKETS: i64 = 256;
/// Maximum number of time buckets in the sum of several rollups, and of values of a field there.
const MAX_SUM_BUCKETS: i64 = 1_024;
const MAX_SUM_KEYS: usize = 32;
/// Maximum number of buckets that a reader accepts.
const MAX_BUCKETS_READ: usize = 1 << 16;

/// Counts of one field's values for each time bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRollup {
    /// Name of the fast field.
    pub name: String,
    /// Distinct values in dictionary order.
    pub keys: Vec<String>,
    /// `counts[bucket * keys.len() + key]`: number of documents in that bucket with that value.
    counts: Vec<u32>,
}

impl FieldRollup {
    /// Returns the number of documents with each key, summed over a range of buckets.
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

/// Rollups of a split, over one series of time buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rollup {
    width_ns: i64,
    first_bucket: i64,
    num_docs: Vec<u32>,
    fields: Vec<FieldRollup>,
}

impl Rollup {
    /// Starts a rollup over sorted timestamps; returns `None` without documents.
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

    /// Sums rollups. The buckets are as wide as the widest, or wider if there would be too many,
    /// and only the fields that all of them roll up are kept. Returns `None` without rollups.
    pub fn sum<'a>(rollups: impl IntoIterator<Item = &'a Rollup>) -> Option<Rollup> {
        let rollups: Vec<&Rollup> = rollups.into_iter().collect();
        let ends_of = |rollup: &&Rollup| {
            let last = rollup.num_docs.len().checked_sub(1)?;
            Some((rollup.bucket_start_ns(0)?, rollup.bucket_start_ns(last)?))
        };
        let ends: Option<Vec<(i64, i64)>> = rollups.iter().map(ends_of).collect();
        let ends = ends?;
        let first = ends.iter().map(|(first, _)| *first).min()?;
        let last = ends.iter().map(|(_, last)| *last).max()?;
        let widest = rollups.iter().map(|rollup| rollup.width_ns).max()?;
        let width_ns = choose_width_ns(first, last, MAX_SUM_BUCKETS).max(widest);
        if rollups.iter().any(|rollup| width_ns % rollup.width_ns != 0) {
            return None;
        }
        let first_bucket = first.div_euclid(width_ns);
        let num_buckets = last
            .div_euclid(width_ns)
            .checked_sub(first_bucket)?
            .checked_add(1)?;
        let num_buckets = usize::try_from(num_buckets).ok()?;
        let mut sum = Rollup {
            width_ns,
            first_bucket,
            num_docs: vec![0; num_buckets],
            fields: common_fields(&rollups, num_buckets),
        };
        for rollup in rollups {
            sum.add(rollup)?;
        }
        Some(sum)
    }

    /// Returns the start of a bucket. A rollup has at least one.
    fn bucket_start_ns(&self, bucket: usize) -> Option<i64> {
        let number = self.first_bucket.checked_add(i64::try_from(bucket).ok()?)?;
        number.checked_mul(self.width_ns)
    }

    /// Adds the counts of `other` to the buckets and keys that contain its own.
    fn add(&mut self, other: &Rollup) -> Option<()> {
        for (bucket, num_docs) in other.num_docs.iter().enumerate() {
            let start_ns = other.bucket_start_ns(bucket)?;
            let slot =
                usize::try_from(start_ns.div_euclid(self.width_ns) - self.first_bucket).ok()?;
            add_to(self.num_docs.get_mut(slot)?, *num_docs)?;
            for field in &mut self.fields {
                let found = other.field(&field.name)?;
                let row = found.counts.get(bucket * found.keys.len()..)?;
                for (key, count) in found.keys.iter().zip(row) {
                    let key = field.keys.binary_search(key).ok()?;
                    add_to(field.counts.get_mut(slot * field.keys.len() + key)?, *count)?;
                }
            }
        }
        Some(())
    }

    /// Returns the number of documents with each value of each field.
    pub fn totals(&self) -> BTreeMap<String, BTreeMap<String, u64>> {
        let fields = self.fields.iter().map(|field| {
            let counts = field.counts_in(0..self.num_docs.len());
            let totals = field.keys.iter().cloned().zip(counts);
            (field.name.clone(), canter_sorting::map_of(totals))
        });
        canter_sorting::map_of(fields)
    }

    /// Returns the width of a bucket in nanoseconds. Bucket `k` covers `k * width .. (k + 1) *
    /// width`.
    pub fn width_ns(&self) -> i64 {
        self.width_ns
    }

    /// Returns the number of the first bucket.
    pub fn first_bucket(&self) -> i64 {
        self.first_bucket
    }

    /// Returns the number of documents in each bucket.
    pub fn num_docs(&self) -> &[u32] {
        &self.num_docs
    }

    /// Returns the number of documents in all buckets together.
    pub(crate) fn num_docs_of_all_buckets(&self) -> u64 {
        self.num_docs.iter().copied().map(u64::from).sum()
    }

    /// Returns the rollup of a field.
    pub fn field(&self, name: &str) -> Option<&FieldRollup> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns all rolled-up fields.
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

/// Returns the fields that all rollups have and that have few enough values together, with counts
/// of 0.
fn common_fields(rollups: &[&Rollup], num_buckets: usize) -> Vec<FieldRollup> {
    let Some((first, others)) = rollups.split_first() else {
        return Vec::new();
    };
    let mut common = Vec::new();
    for field in &first.fields {
        let mut keys: BTreeSet<&String> = canter_sorting::set_of(&field.keys);
        let everywhere = others.iter().all(|rollup| match rollup.field(&field.name) {
            Some(found) => {
                keys.extend(&found.keys);
                keys.len() <= MAX_SUM_KEYS
            }
            None => false,
        });
        if everywhere {
            common.push(FieldRollup {
                name: field.name.clone(),
                counts: vec![0; keys.len() * num_buckets],
                keys: keys.into_iter().cloned().collect(),
            });
        }
    }
    common
}

fn add_to(sum: &mut u32, count: u32) -> Option<()> {
    *sum = sum.checked_add(count)?;
    Some(())
}

fn read_counts(reader: &mut Reader<'_>, num_counts: usize) -> Result<Vec<u32>, FormatError> {
    (0..num_counts).map(|_| reader.varint_u32()).collect()
}

#[cfg(test)]
mod tests;
