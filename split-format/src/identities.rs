//! Who the documents of a split are: the source that each came from, and its place there.
//!
//! ```text
//!   u32 version │ num_docs │ directory │ source ids │ run 0 │ run 1 │ …
//!                            of runs: documents, bytes
//! ```
//!
//! With the directory, which is small, one document costs a read of the source ids and of its run.
//!
//! A run says of each of its documents from which source it is, and how far its position lies from
//! where the documents of that source before it in the run let expect it. Documents that follow each
//! other in one source are a single run of a few bytes, however many they are; others stand in runs
//! of a thousand or more with as many bits a document as the run's most displaced one needs.
//!
//! This does not say what a source is called: an id is a hash, so that an index that everybody may
//! read tells nobody the paths of the machine that built it.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

mod directory;
mod open_run;
mod pack;
mod read;

pub use directory::IdentityDirectory;
pub use read::Identities;

/// Length of a source id.
const SOURCE_ID_LEN: usize = 16;

/// Names a source, wherever the same one is read: a hash of where it is and how it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId([u8; SOURCE_ID_LEN]);

impl SourceId {
    /// The id of what comes from `origin` and begins with `beginning`.
    ///
    /// The beginning tells a file from the next one under its name (logs are rotated), and leaves a
    /// file that grew the source that it was.
    pub fn of(origin: &[u8], beginning: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"canter source 1\0");
        hasher.update(&(origin.len() as u64).to_le_bytes());
        hasher.update(origin);
        hasher.update(beginning);
        Self::first_half(hasher.finalize().as_bytes())
    }

    fn first_half(hash: &[u8; 32]) -> Self {
        let mut id = [0; SOURCE_ID_LEN];
        id.iter_mut()
            .zip(hash)
            .for_each(|(into, byte)| *into = *byte);
        Self(id)
    }

    /// The id that is written so; `None` if none is.
    pub fn parse(text: &str) -> Option<Self> {
        let is_digit = |digit: u8| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit);
        let is_id = text.len() == 32 && text.bytes().all(is_digit);
        let id = u128::from_str_radix(text, 16).ok().filter(|_| is_id)?;
        Some(Self(id.to_be_bytes()))
    }

    /// The id as a number that sorts like it.
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

/// Who a document is. No two live documents are the same, and it stays who it is wherever its split
/// goes. The order is the last that decides between hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocIdentity {
    /// Where it came from.
    pub source: SourceId,
    /// The number of its line there, from 1.
    pub position: u64,
}

/// As it is shown, and read again by [`DocIdentity::parse`].
impl fmt::Display for DocIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.source, self.position)
    }
}

impl DocIdentity {
    /// The identity that is written so, and in no other way; `None` if none is.
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

/// The first and the last identity of a split's documents, both included, and of how many sources
/// they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdentityRange {
    /// The least identity.
    pub first: DocIdentity,
    /// The greatest identity.
    pub last: DocIdentity,
    /// How many sources the documents came from.
    pub num_sources: u32,
}

impl IdentityRange {
    /// The range of documents in any order; `None` without documents.
    pub fn of_docs(docs: &[DocIdentity]) -> Option<Self> {
        let sources = sources_of(docs);
        Some(Self {
            first: *docs.iter().min()?,
            last: *docs.iter().max()?,
            num_sources: u32::try_from(sources.len()).unwrap_or(u32::MAX),
        })
    }

    /// Whether an identity of one may lie between two of the other. If not, the first identities
    /// sort like any two others of theirs.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// Whether a document with this identity may be among them.
    pub fn may_hold(&self, identity: &DocIdentity) -> bool {
        (self.first..=self.last).contains(identity)
    }
}

/// The sources of documents, sorted.
fn sources_of(docs: &[DocIdentity]) -> Vec<SourceId> {
    // Most documents are of the source of the one before.
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

/// How many bits a number has.
fn width_of(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// A number modulo 2^64.
fn wrapped(number: i128) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = number.to_le_bytes();
    i64::from_le_bytes([a, b, c, d, e, f, g, h])
}

#[cfg(test)]
mod tests;
