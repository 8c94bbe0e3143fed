//! Ids that clients gave to a split's documents: a filter that tells whether the split may have an
//! id, and a table that tells its document.
//!
//! ```text
//!   u32 version │ u32 num_keys │ u32 log2_num_buckets │ u64 checksum of the filter   PREFIX_LEN
//!   u32 end × 2^log2_num_buckets │ u24 fingerprint × num_keys                        the filter
//!   block 0 │ block 1 │ …                                                            the table
//!
//!   block:  { u32 doc · u32 version · u64 rest } × 128 (the last: fewer) │ u64 checksum
//! ```
//!
//! An id is hashed to 88 bits of BLAKE3, and keys are sorted by their hash. The highest bits of the
//! hash are the bucket, the next 24 the fingerprint; the rest is the lowest 64. Two ids with equal
//! hashes count as one: among a billion ids, the odds are one in a billion that any two are.
//!
//! The filter alone denies an id wrongly never, and admits one wrongly in about one of a million
//! lookups. A server keeps filters in memory (3.25 bytes for each key), and reads a block of the
//! table (2 KiB) only for ids that are there.

use std::ops::Range;

use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::version::{KEYS_NAME, KEYS_VERSION, checksum64};

/// Length of what precedes the filter.
const PREFIX_LEN: u64 = 20;
/// Number of keys that share a bucket, on average.
const KEYS_PER_BUCKET: u64 = 16;
/// Number of bits of a hash above its tail.
const HIGH_BITS: u32 = 40;
/// Number of bits of a hash below those.
const TAIL_BITS: u32 = 48;
const FINGERPRINT_BITS: u32 = 24;
/// Maximum base-2 logarithm of the number of buckets. Those of more than a million keys are longer.
const MAX_LOG2_NUM_BUCKETS: u32 = HIGH_BITS - FINGERPRINT_BITS;
const FINGERPRINT_LEN: u64 = 3;
const ROW_LEN: u64 = 16;
/// Number of keys in a block.
const BLOCK_NUM_KEYS: u64 = 128;
const CHECKSUM_LEN: u64 = 8;
const BLOCK_LEN: u64 = BLOCK_NUM_KEYS * ROW_LEN + CHECKSUM_LEN;

/// Hash of an id that a client gave to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyHash {
    /// 40 bits.
    high: u64,
    /// 48 bits.
    tail: u64,
}

impl KeyHash {
    /// Hashes an id.
    pub fn of(id: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"canter id 1\0");
        hasher.update(id.as_bytes());
        let [a, b, c, d, e, f, g, h, i, j, k, ..] = *hasher.finalize().as_bytes();
        Self {
            high: u64::from_be_bytes([0, 0, 0, a, b, c, d, e]),
            tail: u64::from_be_bytes([0, 0, f, g, h, i, j, k]),
        }
    }

    fn bucket(self, log2_num_buckets: u32) -> u64 {
        self.high >> HIGH_BITS.saturating_sub(log2_num_buckets)
    }

    fn fingerprint(self, log2_num_buckets: u32) -> u64 {
        let shift = MAX_LOG2_NUM_BUCKETS.saturating_sub(log2_num_buckets);
        (self.high >> shift) % (1 << FINGERPRINT_BITS)
    }

    /// Returns the lowest 64 bits.
    fn rest(self) -> u64 {
        (self.high << TAIL_BITS) | self.tail
    }

    fn of_parts(bucket: u64, fingerprint: u64, rest: u64, log2_num_buckets: u32) -> Self {
        let shift = MAX_LOG2_NUM_BUCKETS.saturating_sub(log2_num_buckets);
        let low = (rest >> TAIL_BITS) % (1 << shift);
        let above = (bucket << FINGERPRINT_BITS) | fingerprint;
        Self {
            high: (above << shift) | low,
            tail: rest % (1 << TAIL_BITS),
        }
    }
}

/// Key of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Hash of the document's id.
    pub hash: KeyHash,
    /// The document.
    pub doc: u32,
    /// Number of versions of the document with this id so far, itself included.
    pub version: u32,
}

/// Encodes the keys of a split's documents, in any order. Several documents may have one id.
pub fn write_keys(mut keys: Vec<Key>) -> Vec<u8> {
    canter_sorting::sort(&mut keys);
    let log2 = log2_num_buckets(keys.len() as u64);
    let mut filter = Writer::default();
    let mut end = 0;
    for bucket in 0..1_u64 << log2 {
        let of_bucket = keys.get(end..).unwrap_or_default().iter();
        end += of_bucket
            .take_while(|key| key.hash.bucket(log2) == bucket)
            .count();
        filter.u32(u32::try_from(end).unwrap_or(u32::MAX));
    }
    for key in &keys {
        let [.., a, b, c] = key.hash.fingerprint(log2).to_be_bytes();
        filter.raw(&[a, b, c]);
    }
    let filter = filter.into_bytes();
    let mut out = Writer::default();
    out.u32(KEYS_VERSION);
    out.u32(u32::try_from(keys.len()).unwrap_or(u32::MAX));
    out.u32(log2);
    out.u64(checksum64(&filter));
    out.raw(&filter);
    let block_len = usize::try_from(BLOCK_NUM_KEYS).unwrap_or(usize::MAX);
    for (block_ord, block) in (0_u64..).zip(keys.chunks(block_len)) {
        let mut rows = Writer::default();
        for key in block {
            rows.u32(key.doc);
            rows.u32(key.version);
            rows.u64(key.hash.rest());
        }
        let rows = rows.into_bytes();
        out.raw(&rows);
        out.u64(block_checksum(block_ord, &rows));
    }
    out.into_bytes()
}

/// A block may not stand for another one of its file.
fn block_checksum(block_ord: u64, rows: &[u8]) -> u64 {
    checksum64(rows) ^ block_ord.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn log2_num_buckets(num_keys: u64) -> u32 {
    let wanted = num_keys.div_ceil(KEYS_PER_BUCKET).max(1);
    wanted
        .next_power_of_two()
        .trailing_zeros()
        .min(MAX_LOG2_NUM_BUCKETS)
}

/// Filter of the ids of one split, which is the beginning of their file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFilter {
    num_keys: u64,
    log2_num_buckets: u32,
    /// End of each bucket, then the fingerprints.
    bytes: Vec<u8>,
}

impl KeyFilter {
    /// Returns the number of bytes at the beginning of a file of at most `num_keys` keys that
    /// contain the filter.
    pub fn max_len(num_keys: u64) -> u64 {
        PREFIX_LEN + filter_len(num_keys, log2_num_buckets(num_keys))
    }

    /// Decodes the filter. `bytes` may continue with the table.
    ///
    /// # Errors
    /// The bytes are no filter, are damaged or truncated, or have an unknown version.
    pub fn open(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(KEYS_NAME, bytes);
        let version = reader.u32()?;
        if version != KEYS_VERSION {
            return Err(reader.error(format!(
                "version {version} is not known (this reader knows {KEYS_VERSION}): use a newer Canter"
            )));
        }
        let num_keys = u64::from(reader.u32()?);
        let log2_num_buckets = reader.u32()?;
        if log2_num_buckets > MAX_LOG2_NUM_BUCKETS {
            return Err(reader.error("it has more buckets than can be"));
        }
        let wanted = reader.u64()?;
        let len = filter_len(num_keys, log2_num_buckets);
        let filter = reader.raw(usize::try_from(len).unwrap_or(usize::MAX))?;
        if checksum64(filter) != wanted {
            return Err(reader.error("its checksum does not match: the bytes are damaged"));
        }
        Ok(Self {
            num_keys,
            log2_num_buckets,
            bytes: filter.to_vec(),
        })
    }

    /// Returns the number of keys.
    pub fn num_keys(&self) -> u64 {
        self.num_keys
    }

    /// Returns the number of bytes in memory.
    pub fn num_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the length of the whole file.
    pub fn file_len(&self) -> u64 {
        let num_blocks = self.num_keys.div_ceil(BLOCK_NUM_KEYS);
        self.table_start() + self.num_keys * ROW_LEN + num_blocks * CHECKSUM_LEN
    }

    /// Returns the numbers of the keys that may be of this id: in most cases none, or one.
    pub fn may_be(&self, hash: KeyHash) -> impl Iterator<Item = u64> + use<'_> {
        let bucket = hash.bucket(self.log2_num_buckets);
        let start = match bucket.checked_sub(1) {
            None => Some(0),
            Some(before) => self.end_of(before),
        };
        let keys = start.zip(self.end_of(bucket));
        let keys = keys.map_or(0..0, |(start, end)| start..end.min(self.num_keys));
        let wanted = hash.fingerprint(self.log2_num_buckets);
        keys.filter(move |key| self.fingerprint(*key) == Some(wanted))
    }

    fn end_of(&self, bucket: u64) -> Option<u64> {
        let at = usize::try_from(bucket.checked_mul(4)?).ok()?;
        let end = self.bytes.get(at..)?.first_chunk::<4>()?;
        Some(u64::from(u32::from_le_bytes(*end)))
    }

    fn fingerprint(&self, key: u64) -> Option<u64> {
        let start = (4_u64 << self.log2_num_buckets).checked_add(key * FINGERPRINT_LEN)?;
        let start = usize::try_from(start).ok()?;
        let [a, b, c] = *self.bytes.get(start..)?.first_chunk::<3>()?;
        Some(u64::from_be_bytes([0, 0, 0, 0, 0, a, b, c]))
    }

    fn table_start(&self) -> u64 {
        PREFIX_LEN + filter_len(self.num_keys, self.log2_num_buckets)
    }

    /// Returns the block of a key, counted from 0.
    pub fn block_of(&self, key: u64) -> u64 {
        key / BLOCK_NUM_KEYS
    }

    /// Returns the range of a block in the file.
    pub fn range_of(&self, block_ord: u64) -> Range<u64> {
        let start = self
            .table_start()
            .saturating_add(block_ord.saturating_mul(BLOCK_LEN));
        start..start.saturating_add(BLOCK_LEN).min(self.file_len())
    }

    /// Decodes the keys of this id among those of a block: their documents and versions.
    ///
    /// # Errors
    /// The bytes differ from the block.
    pub fn find(
        &self,
        hash: KeyHash,
        block_ord: u64,
        block: &[u8],
    ) -> Result<Vec<Key>, FormatError> {
        let rows = open_block(block_ord, block)?;
        let mut found = Vec::new();
        let here = self.may_be(hash);
        for key in here.filter(|key| self.block_of(*key) == block_ord) {
            let at = usize::try_from((key % BLOCK_NUM_KEYS) * ROW_LEN).unwrap_or(usize::MAX);
            let mut row = Reader::new(KEYS_NAME, rows.get(at..).unwrap_or_default());
            let (doc, version, rest) = (row.u32()?, row.u32()?, row.u64()?);
            if rest == hash.rest() {
                found.push(Key { hash, doc, version });
            }
        }
        Ok(found)
    }

    /// Decodes all keys from the bytes of the whole file, in the order of their hashes.
    ///
    /// # Errors
    /// The bytes are damaged or truncated.
    pub fn open_all(&self, file: &[u8]) -> Result<Vec<Key>, FormatError> {
        let mut keys = Vec::new();
        let mut bucket = 0;
        for block_ord in 0..self.num_keys.div_ceil(BLOCK_NUM_KEYS) {
            let Range { start, end } = self.range_of(block_ord);
            let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
            let block = range.and_then(|(start, end)| file.get(start..end));
            let block = block.ok_or_else(|| FormatError::new(KEYS_NAME, "cut short"))?;
            let mut rows = Reader::new(KEYS_NAME, open_block(block_ord, block)?);
            while !rows.is_empty() {
                let key = keys.len() as u64;
                while self.end_of(bucket).is_some_and(|end| end <= key) {
                    bucket += 1;
                }
                let fingerprint = self.fingerprint(key);
                let fingerprint = fingerprint.ok_or_else(|| rows.error("cut short"))?;
                let (doc, version, rest) = (rows.u32()?, rows.u32()?, rows.u64()?);
                let hash = KeyHash::of_parts(bucket, fingerprint, rest, self.log2_num_buckets);
                keys.push(Key { hash, doc, version });
            }
        }
        Ok(keys)
    }
}

/// Returns the rows of a block.
fn open_block(block_ord: u64, block: &[u8]) -> Result<&[u8], FormatError> {
    let error = |problem: &str| FormatError::new(KEYS_NAME, problem);
    let (rows, checksum) = block
        .split_last_chunk::<8>()
        .ok_or_else(|| error("a block is cut short"))?;
    match u64::from_le_bytes(*checksum) == block_checksum(block_ord, rows) {
        true => Ok(rows),
        false => Err(error(
            "the checksum of a block does not match: the bytes are damaged",
        )),
    }
}

fn filter_len(num_keys: u64, log2_num_buckets: u32) -> u64 {
    (4_u64 << log2_num_buckets.min(MAX_LOG2_NUM_BUCKETS)) + num_keys * FINGERPRINT_LEN
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(num: u32) -> Vec<Key> {
        let key = |doc: u32| Key {
            hash: KeyHash::of(&format!("id {doc}")),
            doc,
            version: doc % 3 + 1,
        };
        (0..num).map(key).collect()
    }

    fn found(file: &[u8], id: &str) -> Vec<Key> {
        let filter = KeyFilter::open(file).unwrap();
        let hash = KeyHash::of(id);
        let mut found = Vec::new();
        let blocks: std::collections::BTreeSet<u64> = filter
            .may_be(hash)
            .map(|key| filter.block_of(key))
            .collect();
        for block_ord in blocks {
            let range = filter.range_of(block_ord);
            let block = &file[range.start as usize..range.end as usize];
            found.extend(filter.find(hash, block_ord, block).unwrap());
        }
        found
    }

    #[test]
    fn each_key_is_found_and_hardly_another_is_admitted() {
        for num in [0, 1, 2, 127, 128, 129, 5_000] {
            let wanted = keys(num);
            let file = write_keys(wanted.clone());
            let filter = KeyFilter::open(&file).unwrap();
            assert_eq!(filter.file_len(), file.len() as u64, "{num}");
            assert!(KeyFilter::max_len(u64::from(num)) <= file.len() as u64);
            assert!(KeyFilter::open(&file[..KeyFilter::max_len(u64::from(num)) as usize]).is_ok());
            for key in wanted.iter().step_by(7) {
                assert_eq!(found(&file, &format!("id {}", key.doc)), [*key]);
            }
            let mut all = filter.open_all(&file).unwrap();
            all.sort_by_key(|key| key.doc);
            assert_eq!(all, wanted);
            let others = (0..100_000).map(|other| KeyHash::of(&format!("other {other}")));
            let num_admitted: usize = others.map(|hash| filter.may_be(hash).count()).sum();
            assert!(num_admitted <= 3, "{num_admitted}");
        }
        assert!(write_keys(keys(5_000)).len() < 20 * 5_000);
    }

    #[test]
    fn an_id_may_have_several_documents() {
        let mut all = keys(300);
        let again = Key { doc: 300, ..all[7] };
        all.push(again);
        let mut docs: Vec<u32> = found(&write_keys(all), "id 7")
            .iter()
            .map(|key| key.doc)
            .collect();
        docs.sort_unstable();
        assert_eq!(docs, [7, 300]);
    }

    #[test]
    fn damage_is_told() {
        let file = write_keys(keys(1_000));
        let filter = KeyFilter::open(&file).unwrap();
        let len = KeyFilter::max_len(1_000) as usize;
        for at in 0..len {
            let mut damaged = file.clone();
            damaged[at] ^= 0x10;
            // A byte of the prefix may say a shorter filter, whose checksum is another.
            assert!(KeyFilter::open(&damaged).is_err(), "byte {at}");
        }
        for at in (len..file.len()).step_by(61) {
            let mut damaged = file.clone();
            damaged[at] ^= 0x10;
            assert!(filter.open_all(&damaged).is_err(), "byte {at}");
        }
        assert!(KeyFilter::open(&file[..len - 1]).is_err());
        assert!(filter.open_all(&file[..file.len() - 1]).is_err());
        // A block does not stand for another one.
        let (first, second) = (filter.range_of(0), filter.range_of(1));
        let mut moved = file.clone();
        moved.copy_within(
            second.start as usize..second.end as usize,
            first.start as usize,
        );
        assert!(filter.open_all(&moved).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200), version in any::<bool>()) {
            let mut bytes = bytes;
            if version && bytes.len() >= 4 {
                bytes[..4].copy_from_slice(&KEYS_VERSION.to_le_bytes());
            }
            if let Ok(filter) = KeyFilter::open(&bytes) {
                let _ = filter.open_all(&bytes);
                let _ = filter.may_be(KeyHash::of("a")).count();
            }
        }
    }
}
