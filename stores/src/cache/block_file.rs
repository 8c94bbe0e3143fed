//! File format of the cache: a block of an object, partly or completely filled, or an opaque entry.
//!
//! ```text
//!    0   8  magic "CNTRBLK1"
//!    8   4  header_len: offset of the bytes in this file
//!   12   4  key_len
//!   16   8  offset of the bytes in the object; 0 for an entry
//!   24   8  len: number of bytes
//!   32   8  XXH3 of this header without these eight bytes
//!   40      the key, in full
//!    ·      XXH3 of each 64 KiB of the bytes, eight bytes each
//!    ·      the bytes: exactly to the end of the file
//! ```
//!
//! Numbers are little-endian. A reader verifies only the 64 KiB pieces that it needs, so a small
//! read of a large block stays small.

use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::time::{Duration, SystemTime};

use bytes::{Buf, BufMut};
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_128};

use crate::{Buffer, CachedPiece};

const MAGIC: &[u8; 8] = b"CNTRBLK1";
const FIXED_LEN: usize = 40;
const CHECKSUM_AT: usize = 32;
/// Number of bytes that one checksum covers.
pub(super) const CHUNK_LEN: u64 = 64 << 10;

/// Maximum length of a key in bytes.
const MAX_KEY_LEN: usize = 4096;
/// Maximum length of a block or an entry: 64 MiB.
const MAX_LEN: u64 = 64 << 20;
/// Length of the first read: enough for the header of any block with a key of usual length.
const FIRST_READ_LEN: u64 = 1024;

/// Minimum age at which a read updates a file's modification time, so that frequent hits cost no
/// writes.
const RECENCY_GRAIN: Duration = Duration::from_secs(10);

/// Error: the file differs from what was written, or has another key.
#[derive(Debug, PartialEq, Eq)]
pub struct Damaged;

/// Key of a file, and the hash that its path derives from.
#[derive(Clone, Debug)]
pub struct Key {
    text: String,
    hash: u128,
}

impl Key {
    /// Creates the key of block `number` of `object`, in blocks of `block_len` bytes.
    pub fn block(object: &str, block_len: u64, number: u64) -> Key {
        Key::new(format!("block {block_len} {number} {object}"))
    }

    /// Creates the key of an opaque entry.
    pub fn entry(key: &str) -> Key {
        Key::new(format!("entry {key}"))
    }

    fn new(text: String) -> Key {
        let hash = xxh3_128(text.as_bytes());
        Key { text, hash }
    }

    /// Returns the number of the folder: the first six bits of the hash.
    pub(super) fn folder_ord(&self) -> usize {
        (self.hash >> 122) as usize
    }

    pub(super) fn folder_name(&self) -> String {
        format!("{:02x}", self.folder_ord())
    }

    /// Returns the file name: the hash of the key in hexadecimal.
    pub fn file_name(&self) -> String {
        format!("{:032x}", self.hash)
    }

    /// Returns whether `len` bytes may be stored under this key.
    pub fn may_hold(&self, len: usize) -> bool {
        self.text.len() <= MAX_KEY_LEN && len as u64 <= MAX_LEN
    }
}

/// Returns the length of the file that stores `len` bytes under `key`.
pub(super) fn file_len(key: &Key, len: u64) -> u64 {
    header_len(key.text.len(), len) + len
}

fn header_len(key_len: usize, len: u64) -> u64 {
    FIXED_LEN as u64 + key_len as u64 + len.div_ceil(CHUNK_LEN) * 8
}

/// Writes a complete file to `out`.
pub fn write(mut out: impl Write, key: &Key, piece: &CachedPiece) -> io::Result<()> {
    let len = piece.bytes.len() as u64;
    let header_len = header_len(key.text.len(), len);
    let mut header = Vec::with_capacity(header_len as usize);
    header.put_slice(MAGIC);
    header.put_u32_le(header_len as u32);
    header.put_u32_le(key.text.len() as u32);
    header.put_u64_le(piece.offset);
    header.put_u64_le(len);
    header.put_u64_le(0);
    header.put_slice(key.text.as_bytes());
    for chunk in piece.bytes.chunks(CHUNK_LEN as usize) {
        header.put_u64_le(xxh3_64(chunk));
    }
    let checksum = header_checksum(&header).to_le_bytes();
    header[CHECKSUM_AT..FIXED_LEN].copy_from_slice(&checksum);
    out.write_all(&header)?;
    out.write_all(&piece.bytes)
}

fn header_checksum(header: &[u8]) -> u64 {
    let mut hasher = Xxh3::new();
    hasher.update(&header[..CHECKSUM_AT]);
    hasher.update(&header[FIXED_LEN..]);
    hasher.digest()
}

/// Header that has been verified.
struct Header {
    header_len: u64,
    offset: u64,
    len: u64,
    checksums: Vec<u64>,
}

/// Appends to `out` the verified bytes of the file at `path` that cover `wanted`, extended to whole
/// checksummed pieces, or all bytes if `wanted` is `None`. Returns their offset in the object, or
/// `Ok(None)` if the file is missing, unreadable or outside of `wanted`. On an error, `out` is
/// unchanged.
pub(super) fn read(
    path: &Path,
    key: &Key,
    wanted: Option<&Range<u64>>,
    out: &mut Buffer,
) -> Result<Option<u64>, Damaged> {
    // Failing to open a file (missing, not permitted, too many open files) is no sign of damage.
    let Ok(mut file) = File::open(path) else {
        return Ok(None);
    };
    let len_before = out.len();
    let read = read_open(&mut file, key, wanted, out);
    let offset = read.map_err(|_| {
        out.truncate(len_before);
        Damaged
    })?;
    Ok((out.len() > len_before || wanted.is_none()).then_some(offset))
}

/// Reads all bytes of a complete file in memory.
pub fn read_bytes(file: &[u8], key: &Key) -> Result<CachedPiece, Damaged> {
    let mut bytes = Buffer::default();
    let (file_len, file) = (file.len() as u64, &mut Cursor::new(file));
    let offset = read_checked(file, file_len, key, None, &mut bytes).map_err(|_| Damaged)?;
    let bytes = bytes.into_bytes();
    Ok(CachedPiece { offset, bytes })
}

fn read_open(
    file: &mut File,
    key: &Key,
    wanted: Option<&Range<u64>>,
    out: &mut Buffer,
) -> io::Result<u64> {
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(damaged());
    }
    let len_before = out.len();
    let offset = read_checked(file, meta.len(), key, wanted, out)?;
    if let (true, Ok(modified)) = (out.len() > len_before, meta.modified()) {
        touch(file, modified);
    }
    Ok(offset)
}

fn read_checked(
    file: &mut (impl Read + Seek),
    file_len: u64,
    key: &Key,
    wanted: Option<&Range<u64>>,
    out: &mut Buffer,
) -> io::Result<u64> {
    let header = read_header(file, key, file_len)?;
    let end = header.offset + header.len;
    let wanted = wanted.map_or(header.offset..end, |wanted| {
        wanted.start.max(header.offset)..wanted.end.min(end)
    });
    if wanted.is_empty() {
        return Ok(header.offset);
    }
    let first_chunk = (wanted.start - header.offset) / CHUNK_LEN;
    let last_chunk = (wanted.end - 1 - header.offset) / CHUNK_LEN;
    let start = first_chunk * CHUNK_LEN;
    let len = header.len.min((last_chunk + 1) * CHUNK_LEN) - start;
    file.seek(SeekFrom::Start(header.header_len + start))?;
    let len_before = out.len();
    read_onto(file, len, out)?;
    let expected = &header.checksums[first_chunk as usize..=last_chunk as usize];
    let found = out[len_before..].chunks(CHUNK_LEN as usize).map(xxh3_64);
    if !found.eq(expected.iter().copied()) {
        return Err(damaged());
    }
    Ok(header.offset + start)
}

/// Reads and verifies the header. Every length in it is checked against `file_len` before use.
fn read_header(file: &mut impl Read, key: &Key, file_len: u64) -> io::Result<Header> {
    let mut bytes = Buffer::default();
    read_onto(file, file_len.min(FIRST_READ_LEN), &mut bytes)?;
    let mut fixed = bytes.get(..FIXED_LEN).ok_or_else(damaged)?;
    let is_ours = fixed.starts_with(MAGIC);
    fixed.advance(MAGIC.len());
    let header_len_found = u64::from(fixed.get_u32_le());
    let key_len = fixed.get_u32_le() as usize;
    let (offset, len) = (fixed.get_u64_le(), fixed.get_u64_le());
    let checksum = fixed.get_u64_le();
    let is_consistent = is_ours
        && key_len == key.text.len()
        && len <= MAX_LEN
        && header_len_found == header_len(key_len, len)
        && file_len == header_len_found + len
        && offset.checked_add(len).is_some();
    if !is_consistent {
        return Err(damaged());
    }
    let num_missing = header_len_found.saturating_sub(bytes.len() as u64);
    read_onto(file, num_missing, &mut bytes)?;
    bytes.truncate(header_len_found as usize);
    let (found_key, mut sums) = bytes[FIXED_LEN..].split_at(key_len);
    if checksum != header_checksum(&bytes) || found_key != key.text.as_bytes() {
        return Err(damaged());
    }
    let mut checksums = Vec::with_capacity(sums.len() / 8);
    while sums.has_remaining() {
        checksums.push(sums.get_u64_le());
    }
    Ok(Header {
        header_len: header_len_found,
        offset,
        len,
        checksums,
    })
}

/// Appends the next `len` bytes of `file` to `out`.
fn read_onto(file: &mut impl Read, len: u64, out: &mut Buffer) -> io::Result<()> {
    match out.read_from(file, len as usize)? as u64 == len {
        true => Ok(()),
        false => Err(damaged()),
    }
}

fn damaged() -> io::Error {
    ErrorKind::InvalidData.into()
}

/// Marks a file as recently used. If that fails, the file only counts as older.
fn touch(file: &File, modified: SystemTime) {
    let now = SystemTime::now();
    let age = now.duration_since(modified);
    if age.is_ok_and(|age| age > RECENCY_GRAIN) {
        let _ = file.set_modified(now);
    }
}
