//! Ids that clients gave to a split's documents: a filter that tells whether the split may have an
//! id, and a table that tells its document.
//!
//! ```text
//!   u32 version │ u32 num_keys │ u32 log2_num_buckets │ u64 checksum of the filter   PREFIX_LEN
//!   u8 version_len │ u8 seq_no_len                                                   the filter
//!   u32 end × 2^log2_num_buckets │ u24 fingerprint × num_keys                        (continued)
//!   block 0 │ block 1 │ …                                                            the table
//!
//!   block:  { u32 doc · version · seq_no + 1, or 0 · u64 rest } × 128 (the last: fewer) │ u64 checksum
//! ```
//!
//! Versions and sequence numbers have as many bytes as the largest of the split needs.
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
use crate::version::{KEYS_NAME, KEYS_VERSION, TOO_OLD, checksum64};

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
/// Length of a row without its version and its sequence number.
const BARE_ROW_LEN: u64 = 12;
/// Length of the two widths at the beginning of the filter.
const WIDTHS_LEN: u64 = 2;
/// Number of keys in a block.
const BLOCK_NUM_KEYS: u64 = 128;
const CHECKSUM_LEN: u64 = 8;

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
    /// Number of versions of the document with this id so far, itself included, or what a client
    /// gave as such.
    pub version: u64,
    /// Sequence number of the version, if it has one.
    pub seq_no: Option<u64>,
}

impl Key {
    /// Returns the sequence number as it is stored.
    fn stored_seq_no(&self) -> u64 {
        self.seq_no.map_or(0, |seq_no| seq_no.saturating_add(1))
    }
}

/// Number of bytes of the versions and of the sequence numbers of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Widths {
    version: u8,
    seq_no: u8,
}

impl Widths {
    fn of(keys: &[Key]) -> Self {
        let width = |numbers: u64| {
            let num_bits = u64::BITS - numbers.leading_zeros();
            u8::try_from(num_bits.div_ceil(8)).unwrap_or(8)
        };
        Self {
            version: width(keys.iter().fold(0, |all, key| all | key.version)),
            seq_no: width(keys.iter().fold(0, |all, key| all | key.stored_seq_no())),
        }
    }

    fn row_len(self) -> u64 {
        BARE_ROW_LEN + u64::from(self.version) + u64::from(self.seq_no)
    }

    fn block_len(self) -> u64 {
        BLOCK_NUM_KEYS * self.row_len() + CHECKSUM_LEN
    }

    fn write(self, key: &Key, out: &mut Writer) {
        let mut number = |number: u64, width: u8| {
            let bytes = number.to_le_bytes();
            out.raw(bytes.get(..usize::from(width)).unwrap_or(&bytes));
        };
        number(u64::from(key.doc), 4);
        number(key.version, self.version);
        number(key.stored_seq_no(), self.seq_no);
        number(key.hash.rest(), 8);
    }

    /// Reads a row: document, version, sequence number, and the rest of the hash.
    fn read(self, row: &mut Reader<'_>) -> Result<(u32, u64, Option<u64>, u64), FormatError> {
        let doc = row.u32()?;
        let version = number(row, self.version)?;
        let seq_no = number(row, self.seq_no)?.checked_sub(1);
        Ok((doc, version, seq_no, row.u64()?))
    }
}

/// Reads a number of `width` bytes.
fn number(reader: &mut Reader<'_>, width: u8) -> Result<u64, FormatError> {
    let mut bytes = [0; 8];
    let given = reader.raw(usize::from(width))?;
    for (byte, given) in bytes.iter_mut().zip(given) {
        *byte = *given;
    }
    Ok(u64::from_le_bytes(bytes))
}

/// Encodes the keys of a split's documents, in any order. Several documents may have one id.
pub fn write_keys(mut keys: Vec<Key>) -> Vec<u8> {
    canter_sorting::sort(&mut keys);
    let log2 = log2_num_buckets(keys.len() as u64);
    let widths = Widths::of(&keys);
    let mut filter = Writer::default();
    filter.raw(&[widths.version, widths.seq_no]);
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
            widths.write(key, &mut rows);
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
    widths: Widths,
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
        if version < KEYS_VERSION {
            return Err(reader.error(TOO_OLD));
        }
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
        let mut filter = Reader::new(KEYS_NAME, filter);
        let widths = filter.raw(2)?;
        let &[version, seq_no] = widths
            .first_chunk::<2>()
            .ok_or_else(|| reader.error("cut short"))?;
        if version.max(seq_no) > 8 {
            return Err(reader.error("its numbers have more bytes than can be"));
        }
        let left = usize::try_from(len - WIDTHS_LEN).unwrap_or(usize::MAX);
        Ok(Self {
            num_keys,
            log2_num_buckets,
            widths: Widths { version, seq_no },
            bytes: filter.raw(left)?.to_vec(),
        })
    }

    /// Encodes the filter, as it stands at the beginning of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let widths = [self.widths.version, self.widths.seq_no];
        let filter = [&widths, self.bytes.as_slice()].concat();
        let mut out = Writer::default();
        out.u32(KEYS_VERSION);
        out.u32(u32::try_from(self.num_keys).unwrap_or(u32::MAX));
        out.u32(self.log2_num_buckets);
        out.u64(checksum64(&filter));
        out.raw(&filter);
        out.into_bytes()
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
        self.table_start() + self.num_keys * self.widths.row_len() + num_blocks * CHECKSUM_LEN
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
            .saturating_add(block_ord.saturating_mul(self.widths.block_len()));
        let end = start.saturating_add(self.widths.block_len());
        start..end.min(self.file_len())
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
            let at = (key % BLOCK_NUM_KEYS) * self.widths.row_len();
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            let mut row = Reader::new(KEYS_NAME, rows.get(at..).unwrap_or_default());
            let (doc, version, seq_no, rest) = self.widths.read(&mut row)?;
            if rest == hash.rest() {
                found.push(Key {
                    hash,
                    doc,
                    version,
                    seq_no,
                });
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
                let (doc, version, seq_no, rest) = self.widths.read(&mut rows)?;
                let hash = KeyHash::of_parts(bucket, fingerprint, rest, self.log2_num_buckets);
                keys.push(Key {
                    hash,
                    doc,
                    version,
                    seq_no,
                });
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
    WIDTHS_LEN + (4_u64 << log2_num_buckets.min(MAX_LOG2_NUM_BUCKETS)) + num_keys * FINGERPRINT_LEN
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(num: u32) -> Vec<Key> {
        let key = |doc: u32| Key {
            hash: KeyHash::of(&format!("id {doc}")),
            doc,
            version: u64::from(doc % 3 + 1),
            seq_no: (!doc.is_multiple_of(5)).then_some(u64::from(doc) * 7),
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
    fn numbers_have_the_width_of_the_largest() {
        for (version, seq_no) in [
            (0, None),
            (1, Some(0)),
            (1_764_204_000_000, Some(70_000)),
            (u64::MAX, Some(u64::MAX - 1)),
        ] {
            let mut all = keys(200);
            all[150] = Key {
                version,
                seq_no,
                ..all[150]
            };
            let file = write_keys(all.clone());
            let filter = KeyFilter::open(&file).unwrap();
            assert_eq!(filter.file_len(), file.len() as u64);
            assert_eq!(found(&file, "id 150"), [all[150]]);
            assert_eq!(found(&file, "id 3"), [all[3]]);
        }
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
        let mut old = file.clone();
        old[..4].copy_from_slice(&(KEYS_VERSION - 1).to_le_bytes());
        let error = KeyFilter::open(&old).unwrap_err().to_string();
        assert!(error.contains("earlier version"), "{error}");
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
