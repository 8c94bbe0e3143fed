//! Identities of a split's documents: the source of each, and its position there.
//!
//! ```text
//!   u32 version │ num_docs │ directory │ source ids │ run 0 │ run 1 │ …
//!                            of runs: documents, bytes
//! ```
//!
//! With the small directory, looking up one document reads the source ids and its run.
//!
//! A run stores, for each of its documents, its source and the distance of its position from the
//! expected one, which follows from earlier documents of that source in the run. Consecutive
//! documents of one source make a single run of a few bytes, however many they are. Others are in
//! runs of at least a thousand documents, with as many bits for each as the largest distance in the
//! run needs.
//!
//! The name of a source is not stored: an id is a hash, so that a public index does not reveal the
//! paths of the machine that built it.

use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

mod directory;
mod open_run;
mod pack;
mod read;

pub use directory::IdentityDirectory;
pub use read::Identities;

/// Length of a source id in bytes.
const SOURCE_ID_LEN: usize = 16;

/// Returns the first bytes of a hash.
fn first_bytes(bytes: &[u8], len: usize) -> impl Iterator<Item = u8> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"canter file 1\0");
    hasher.update(bytes);
    let hash: [u8; 32] = hasher.finalize().into();
    hash.into_iter().take(len)
}

/// Id of a source, the same wherever the source is read: a hash of its location and its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId([u8; SOURCE_ID_LEN]);

impl SourceId {
    /// Returns the id of the source at `origin` that begins with `beginning`.
    ///
    /// The beginning distinguishes a file from its successor under the same name (after log
    /// rotation), while a file that grows keeps its id.
    pub fn of(origin: &[u8], beginning: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"canter source 1\0");
        hasher.update(&(origin.len() as u64).to_le_bytes());
        hasher.update(origin);
        hasher.update(beginning);
        Self::first_half(hasher.finalize().as_bytes())
    }

    /// Returns the id of a file without an id of its own. The hash of its beginning comes first, so that the ids of
    /// all files with the same beginning, wherever they are, lie in one range ([`SourceId::range_of_beginning`]),
    /// by which a renamed or compressed file is found.
    ///
    /// ```text
    ///   8 bytes                 4 bytes             4 bytes
    ///   hash of the beginning │ hash of the log │ hash of path, beginning and number
    /// ```
    ///
    /// `log` is the common part of the names of a log and of its rotated files. `number` distinguishes consecutive
    /// files with the same path and beginning.
    pub fn of_file(path: &[u8], log: &[u8], beginning: &[u8], number: u32) -> Self {
        let mut id = [0; SOURCE_ID_LEN];
        let last = [path, b"\0", &number.to_le_bytes()].concat();
        let last = Self::of(&last, beginning).0;
        let parts = first_bytes(beginning, 8).chain(first_bytes(log, 4));
        let parts = parts.chain(last.into_iter().take(4));
        id.iter_mut()
            .zip(parts)
            .for_each(|(into, byte)| *into = byte);
        Self(id)
    }

    /// Returns the numbers of all ids of files with this beginning ([`SourceId::of_file`]).
    pub fn range_of_beginning(beginning: &[u8]) -> RangeInclusive<u128> {
        let bytes = first_bytes(beginning, 8);
        let first = bytes.fold(0_u128, |number, byte| (number << 8) | u128::from(byte)) << 64;
        first..=first | u128::from(u64::MAX)
    }

    /// Returns whether it may be the id of a file of this log ([`SourceId::of_file`]).
    pub fn may_be_of_log(self, log: &[u8]) -> bool {
        first_bytes(log, 4).eq(self.0.into_iter().skip(8).take(4))
    }

    /// Returns the id with this number ([`SourceId::to_u128`]).
    pub fn from_u128(number: u128) -> Self {
        Self(number.to_be_bytes())
    }

    fn first_half(hash: &[u8; 32]) -> Self {
        let mut id = [0; SOURCE_ID_LEN];
        id.iter_mut()
            .zip(hash)
            .for_each(|(into, byte)| *into = *byte);
        Self(id)
    }

    /// Parses an id; returns `None` if the text is no id.
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
        let is_id = text.len() == 32 && text.bytes().all(is_digit);
        let id = u128::from_str_radix(text, 16).ok().filter(|_| is_id)?;
        Some(Self(id.to_be_bytes()))
    }

    /// Returns the id as a number with the same order.
    pub fn to_u128(self) -> u128 {
        u128::from_be_bytes(self.0)
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.to_u128())
    }
}

impl Serialize for SourceId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SourceId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            D::Error::custom(format!(
                "{text:?} is not a source id of 32 hexadecimal digits"
            ))
        })
    }
}

/// Identity of a document. It is unique among live documents, and stays the same in whichever split
/// the document is. Its order is the final tie-breaker between hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocIdentity {
    /// Source of the document.
    pub source: SourceId,
    /// Line number in the source, from 1.
    pub position: u64,
}

/// Displays the form that [`DocIdentity::parse`] reads.
impl fmt::Display for DocIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.source, self.position)
    }
}

impl DocIdentity {
    /// Returns a number of 52 bits that tells a document from others, and a version of a document from its earlier ones.
    pub fn seq_no(&self) -> u64 {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"canter seq_no 1\0");
        hasher.update(&self.source.0);
        hasher.update(&self.position.to_le_bytes());
        let [a, b, c, d, e, f, g, h, ..] = *hasher.finalize().as_bytes();
        u64::from_le_bytes([a, b, c, d, e, f, g, h]) >> 12
    }

    /// Parses an identity in its only valid form; returns `None` for other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (source, position) = text.split_once('-')?;
        let is_number = position.bytes().all(|digit| digit.is_ascii_digit());
        let is_short = position == "0" || !position.starts_with('0');
        Some(Self {
            source: SourceId::parse(source)?,
            position: position.parse().ok().filter(|_| is_number && is_short)?,
        })
    }
}

/// First and last identity of a split's documents, both included, and the number of their sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdentityRange {
    /// Smallest identity.
    pub first: DocIdentity,
    /// Largest identity.
    pub last: DocIdentity,
    /// Number of sources that the documents came from.
    pub num_sources: u32,
}

impl IdentityRange {
    /// Returns the range of documents in any order; `None` without documents.
    pub fn of_docs(docs: &[DocIdentity]) -> Option<Self> {
        let sources = sources_of(docs);
        Some(Self {
            first: *docs.iter().min()?,
            last: *docs.iter().max()?,
            num_sources: u32::try_from(sources.len()).unwrap_or(u32::MAX),
        })
    }

    /// Returns whether an identity of one range may lie between two of the other. If not, the first
    /// identities sort like any others of the ranges.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// Returns whether a document with this identity may be in the range.
    pub fn may_hold(&self, identity: &DocIdentity) -> bool {
        (self.first..=self.last).contains(identity)
    }
}

/// Returns the distinct sources of documents, sorted.
fn sources_of(docs: &[DocIdentity]) -> Vec<SourceId> {
    // Most documents have the same source as the one before.
    let mut sources: Vec<SourceId> = Vec::new();
    for doc in docs {
        if sources.last() != Some(&doc.source) {
            sources.push(doc.source);
        }
    }
    canter_sorting::sort(&mut sources);
    sources.dedup();
    sources
}

/// Returns the number of bits of a number.
fn width_of(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Returns a number modulo 2^64.
fn wrapped(number: i128) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = number.to_le_bytes();
    i64::from_le_bytes([a, b, c, d, e, f, g, h])
}

#[cfg(test)]
mod tests;
