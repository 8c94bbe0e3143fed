//! Who the documents of a split are: the source that each came from, and its place there.
//!
//! ```text
//!   u32 version │ source ids │ num_docs │ directory │ run 0 │ run 1 │ …
//!                              of runs: documents, bytes
//! ```
//!
//! A run says of each of its documents from which source it is, and how far its position lies from
//! where the documents of that source before it in the run let expect it. Documents that follow each
//! other in one source are a single run of a few bytes, however many they are; others stand in runs
//! of [`RUN_NUM_DOCS`] with as many bits a document as the run's most displaced one needs.
//!
//! This does not say what a source is called: an id is a hash, so that an index that everybody may
//! read tells nobody the paths of the machine that built it.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

use crate::FormatError;
use crate::codec::bits::BitWriter;
use crate::codec::{Reader, Writer};
use crate::version::{IDENTITIES_NAME, IDENTITIES_VERSION};

mod open_run;

use open_run::OpenRun;

/// Documents of a run whose positions do not simply follow each other.
const RUN_NUM_DOCS: usize = 1_024;
/// From so many documents on that follow each other they are a run of their own.
const MIN_STRAIGHT_RUN: usize = 64;

/// Names a source, wherever the same one is read: a hash of where it is and how it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceId([u8; 16]);

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

    /// What stands for the source of a split that was written before splits said theirs.
    pub fn of_split(split_id: &str) -> Self {
        Self::of(b"split", split_id.as_bytes())
    }

    fn first_half(hash: &[u8; 32]) -> Self {
        let mut id = [0; 16];
        id.iter_mut()
            .zip(hash)
            .for_each(|(into, byte)| *into = *byte);
        Self(id)
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
        let is_id = text.len() == 32
            && text
                .bytes()
                .all(|digit| b"0123456789abcdef".contains(&digit));
        match u128::from_str_radix(&text, 16) {
            Ok(id) if is_id => Ok(Self(id.to_be_bytes())),
            _ => Err(D::Error::custom(format!(
                "{text:?} is not a source id of 32 hexadecimal digits"
            ))),
        }
    }
}

/// Who a document is. No two live documents are the same, and it stays who it is wherever its split
/// goes. The order is the last that decides between hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DocIdentity {
    /// Where it came from.
    pub source: SourceId,
    /// The number of its line there, from 1.
    pub position: u64,
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

    /// What stands for the range of a split that was written before splits said theirs.
    pub fn of_split(split_id: &str) -> Self {
        let source = SourceId::of_split(split_id);
        let at = |position| DocIdentity { source, position };
        Self {
            first: at(0),
            last: at(u64::MAX),
            num_sources: 1,
        }
    }

    /// Whether an identity of one may lie between two of the other. If not, the first identities
    /// sort like any two others of theirs.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.first <= other.last && other.first <= self.last
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

/// The identities of a split's documents, in document order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identities {
    sources: Vec<SourceId>,
    runs: Vec<Run>,
    /// The runs, one after the other.
    bytes: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    docs: Range<u32>,
    bytes: Range<usize>,
}

impl Identities {
    /// Packs the identities of all documents. `None` if there are 2^32 or more.
    pub fn of_docs(docs: &[DocIdentity]) -> Option<Self> {
        u32::try_from(docs.len()).ok()?;
        let sources = sources_of(docs);
        let mut packed = Self {
            sources,
            runs: Vec::new(),
            bytes: Vec::new(),
        };
        // Documents of which too few follow each other, waiting for a run of their own.
        let mut waiting: &[DocIdentity] = &[];
        let mut rest = docs;
        let mut left = docs;
        while !left.is_empty() {
            let (straight, next) = left.split_at(straight_len(left));
            if straight.len() >= MIN_STRAIGHT_RUN || straight.len() == rest.len() {
                packed.push_waiting(waiting);
                packed.push_run(straight);
                (waiting, rest) = (&[], next);
            } else {
                (waiting, _) = rest.split_at(rest.len() - next.len());
            }
            left = next;
        }
        packed.push_waiting(waiting);
        Some(packed)
    }

    fn push_waiting(&mut self, docs: &[DocIdentity]) {
        for run in docs.chunks(RUN_NUM_DOCS) {
            self.push_run(run);
        }
    }

    fn push_run(&mut self, docs: &[DocIdentity]) {
        let first = self.num_docs();
        let from = self.bytes.len();
        self.bytes.append(&mut self.packed_run(docs));
        self.runs.push(Run {
            docs: first..first + u32::try_from(docs.len()).unwrap_or(u32::MAX),
            bytes: from..self.bytes.len(),
        });
    }

    fn packed_run(&self, docs: &[DocIdentity]) -> Vec<u8> {
        // By source: its place among those of the run, how many documents it has had, and the base.
        let mut parts: BTreeMap<SourceId, (usize, i128, i128)> = BTreeMap::new();
        for doc in docs {
            let (_, num_docs, base) = parts.entry(doc.source).or_insert((0, 0, i128::MAX));
            *base = (*base).min(i128::from(doc.position) - *num_docs);
            *num_docs += 1;
        }
        let mut out = Writer::default();
        out.varint(parts.len() as u64);
        for (part_ord, (source, (ord, num_docs, base))) in parts.iter_mut().enumerate() {
            (*ord, *num_docs) = (part_ord, 0);
            let source_ord = self.sources.binary_search(source).unwrap_or_default();
            out.varint(source_ord as u64);
            // At the ends of 64 bits this wraps, and so does the sum that the reader makes.
            out.varint_signed(wrapped(*base));
        }
        let part_width = width_of((parts.len() as u64).saturating_sub(1));
        let mut part_ords = BitWriter::default();
        let mut residuals = Vec::with_capacity(docs.len());
        for doc in docs {
            if let Some((ord, num_docs, base)) = parts.get_mut(&doc.source) {
                part_ords.push(*ord as u64, part_width);
                let residual = i128::from(doc.position) - *base - *num_docs;
                residuals.push(wrapped(residual).cast_unsigned());
                *num_docs += 1;
            }
        }
        let width = width_of(residuals.iter().copied().max().unwrap_or(0));
        out.varint(u64::from(width));
        out.raw(&part_ords.into_bytes());
        let mut packed = BitWriter::default();
        for residual in residuals {
            packed.push(residual, width);
        }
        out.raw(&packed.into_bytes());
        out.into_bytes()
    }

    /// The sources, sorted.
    pub fn sources(&self) -> &[SourceId] {
        &self.sources
    }

    /// Number of documents.
    pub fn num_docs(&self) -> u32 {
        self.runs.last().map_or(0, |run| run.docs.end)
    }

    /// Who a document is.
    ///
    /// # Errors
    /// If there is no such document, or its run is damaged.
    pub fn get(&self, doc: u32) -> Result<DocIdentity, FormatError> {
        let error = |problem: &str| FormatError::new(IDENTITIES_NAME, problem);
        let run_ord = self.runs.partition_point(|run| run.docs.end <= doc);
        let run = self
            .runs
            .get(run_ord)
            .ok_or_else(|| error("there is no such document"))?;
        self.open_run(run)?.get(doc.saturating_sub(run.docs.start))
    }

    /// Who the documents are, one after the other. Each takes the same time, which [`Identities::get`] does
    /// not where sources are interleaved. After an error nothing more comes.
    pub fn iter(&self) -> impl Iterator<Item = Result<DocIdentity, FormatError>> + '_ {
        let mut has_failed = false;
        let runs = self.runs.iter().map(|run| self.open_run(run));
        runs.flat_map(|run| {
            let (run, error) = match run {
                Ok(run) => (Some(run), None),
                Err(error) => (None, Some(Err(error))),
            };
            error.into_iter().chain(run.into_iter().flatten())
        })
        .take_while(move |doc| !std::mem::replace(&mut has_failed, doc.is_err()))
    }

    fn open_run(&self, run: &Run) -> Result<OpenRun<'_>, FormatError> {
        let bytes = self.bytes.get(run.bytes.clone()).unwrap_or_default();
        OpenRun::open(bytes, run.docs.end - run.docs.start, &self.sources)
    }

    /// Encodes them.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.u32(IDENTITIES_VERSION);
        out.varint(self.sources.len() as u64);
        for source in &self.sources {
            out.raw(&source.0);
        }
        out.varint(u64::from(self.num_docs()));
        out.varint(self.runs.len() as u64);
        for run in &self.runs {
            out.varint(u64::from(run.docs.end - run.docs.start));
            out.varint(run.bytes.len() as u64);
        }
        out.raw(&self.bytes);
        out.into_bytes()
    }

    /// Decodes them. Runs are looked into by [`Identities::get`] only.
    ///
    /// # Errors
    /// If the bytes are no identities, or of a version that this reader does not know.
    pub fn open(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(IDENTITIES_NAME, bytes);
        let version = reader.u32()?;
        if version != IDENTITIES_VERSION {
            return Err(reader.error(format!(
                "version {version} is not known (this reader knows {IDENTITIES_VERSION}): use a \
                 newer Canter"
            )));
        }
        let num_sources = reader.count(16)?;
        let mut sources = Vec::with_capacity(num_sources);
        for _ in 0..num_sources {
            sources.push(SourceId(reader.array()?));
        }
        if !sources.is_sorted_by(|left, right| left < right) {
            return Err(reader.error("its sources are not sorted"));
        }
        let num_docs = reader.varint_u32()?;
        let num_runs = reader.count(2)?;
        let mut runs = Vec::with_capacity(num_runs);
        let (mut doc, mut at) = (0_u32, 0_usize);
        for _ in 0..num_runs {
            let docs = reader.varint_u32()?;
            let len = usize::try_from(reader.varint()?).unwrap_or(usize::MAX);
            let (Some(next_doc), Some(next_at)) = (doc.checked_add(docs), at.checked_add(len))
            else {
                return Err(reader.error("its runs are longer than can be"));
            };
            if docs == 0 {
                return Err(reader.error("a run has no document"));
            }
            runs.push(Run {
                docs: doc..next_doc,
                bytes: at..next_at,
            });
            (doc, at) = (next_doc, next_at);
        }
        if doc != num_docs {
            return Err(reader.error("its runs have other documents than it says"));
        }
        let bytes = reader.raw(at)?.to_vec();
        reader.finish()?;
        Ok(Self {
            sources,
            runs,
            bytes,
        })
    }
}

/// How many of the first documents follow each other in one source.
fn straight_len(docs: &[DocIdentity]) -> usize {
    let follows = |(left, right): &(&DocIdentity, &DocIdentity)| {
        left.source == right.source && left.position.checked_add(1) == Some(right.position)
    };
    let pairs = docs.iter().zip(docs.iter().skip(1));
    1 + pairs.take_while(follows).count()
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
