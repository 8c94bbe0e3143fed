//! Ledger of sources: the progress of the ingest of each source. A repeated ingest is recognized
//! whatever became of its splits and however it was divided into them, and a file that grew resumes
//! after its known lines.
//!
//! ```text
//!   manifest ──▶ recent entries │ references ──▶ sources/<hash>.lines: magic · version · entries, sorted by source
//! ```
//!
//! Objects have two levels, as those of the ledger of splits. A source may be in several objects:
//! the entry with the most lines is the latest.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::codec::{Reader, Writer};
use crate::version::{
    SOURCES_MAGIC, SOURCES_NAME, SOURCES_VERSION, checksum64, id_bytes, id_of_bytes, object_id,
    sources_object,
};
use crate::{FormatError, SourceId};

/// Number of recent entries above which they are written to an object.
const MAX_RECENT: usize = 128;
/// Number of objects of the first level that are merged into the second.
const MAX_YOUNG: usize = 8;
/// Maximum number of entries in an object of the second level.
const MAX_ENTRIES: usize = 4_096;
/// Minimum length of an entry in bytes.
const MIN_ENTRY_LEN: usize = 16 + 1 + 1 + 8 + 1;
/// Minimum length of a reference in bytes.
const MIN_REF_LEN: usize = 16 + 1 + 1 + 32;
/// Number of leading bytes of each line that [`LinesHash`] covers.
const HASHED_OF_LINE: usize = 1_024;

/// Hash of consecutive lines, which tells whether a source still has the same beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinesHash(pub u64);

impl LinesHash {
    /// Adds a line: the start of its text without the line ending, and its length.
    #[must_use]
    pub fn with(self, text: &[u8], len: u64) -> Self {
        let text = text.get(..HASHED_OF_LINE).unwrap_or(text);
        let mut bytes = Vec::with_capacity(16 + text.len());
        bytes.extend_from_slice(&self.0.to_le_bytes());
        bytes.extend_from_slice(&len.to_le_bytes());
        bytes.extend_from_slice(text);
        Self(checksum64(&bytes))
    }
}

/// Progress of the ingest of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceProgress {
    /// Number of lines from the start of the source.
    pub num_lines: u64,
    /// Number of documents among them.
    pub num_docs: u64,
    /// Hash of these lines.
    pub hash: LinesHash,
    /// Time in milliseconds since 1970; 0 if unknown.
    pub at_ms: u64,
}

/// Reference to an object of the ledger of sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcesRef {
    /// First 128 bits of the BLAKE3 hash of its bytes, in hexadecimal.
    pub id: String,
    /// True if the object is of the second level.
    pub is_settled: bool,
    /// Number of entries.
    pub num_entries: u64,
    /// Smallest source.
    pub first: u128,
    /// Largest source.
    pub last: u128,
}

/// Entries of sources.
pub type SourceEntries = BTreeMap<u128, SourceProgress>;

/// Ledger of sources in a manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Entries that are in no object yet.
    pub recent: SourceEntries,
    /// References to the objects.
    pub objects: Vec<SourcesRef>,
}

/// Encoded object of the ledger of sources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenSources {
    /// Reference for the manifest.
    pub object: SourcesRef,
    /// Bytes of the object.
    pub bytes: Vec<u8>,
}

/// Merges entries; of two for one source, the one with more lines is kept.
pub fn add_sources(
    into: &mut SourceEntries,
    more: impl IntoIterator<Item = (u128, SourceProgress)>,
) {
    for (source, progress) in more {
        let known = into.entry(source).or_insert(progress);
        if known.num_lines < progress.num_lines {
            *known = progress;
        }
    }
}

impl SourcesRef {
    /// Returns the name of the object, relative to the index's URI.
    pub fn object(&self) -> String {
        sources_object(&self.id)
    }

    /// Decodes the entries of the object.
    ///
    /// # Errors
    /// The bytes differ from the referenced ones.
    pub fn open(&self, bytes: &[u8]) -> Result<SourceEntries, FormatError> {
        let mut reader = Reader::new(SOURCES_NAME, bytes);
        if object_id(bytes) != self.id {
            let name = self.object();
            return Err(reader.error(format!("{name} has other bytes than its name says")));
        }
        if reader.raw(SOURCES_MAGIC.len())? != SOURCES_MAGIC {
            return Err(reader.error("this is no part of a ledger of sources (wrong magic number)"));
        }
        let version = reader.u32()?;
        if version != SOURCES_VERSION {
            return Err(reader.error(format!(
                "format version {version} is not known (this reader knows {SOURCES_VERSION}): use a newer Canter"
            )));
        }
        let entries = read_entries(&mut reader)?;
        reader.finish()?;
        Ok(entries)
    }
}

fn write_entries(entries: &[(u128, SourceProgress)], out: &mut Writer) {
    out.varint(entries.len() as u64);
    for (source, progress) in entries {
        out.raw(&source.to_be_bytes());
        out.varint(progress.num_lines);
        out.varint(progress.num_docs);
        out.u64(progress.hash.0);
        out.varint(progress.at_ms);
    }
}

fn read_entries(reader: &mut Reader<'_>) -> Result<SourceEntries, FormatError> {
    let mut entries = SourceEntries::new();
    for _ in 0..reader.count(MIN_ENTRY_LEN)? {
        let source = u128::from_be_bytes(reader.array()?);
        let progress = SourceProgress {
            num_lines: reader.varint()?,
            num_docs: reader.varint()?,
            hash: LinesHash(reader.u64()?),
            at_ms: reader.varint()?,
        };
        entries.insert(source, progress);
    }
    Ok(entries)
}

impl Sources {
    /// Returns whether the ledger is empty.
    pub fn is_empty(&self) -> bool {
        self.recent.is_empty() && self.objects.is_empty()
    }

    /// Returns the objects that may contain an entry of a source.
    pub fn objects_for(&self, source: SourceId) -> impl Iterator<Item = &SourcesRef> {
        let source = source.to_u128();
        let objects = self.objects.iter();
        objects.filter(move |object| object.first <= source && source <= object.last)
    }

    /// Returns whether the recent entries should be written ([`Sources::settle`]).
    pub fn is_due(&self) -> bool {
        self.recent.len() > MAX_RECENT
    }

    /// Returns the objects to read and merge when the recent entries are written: none, or all.
    pub fn objects_to_merge(&self) -> &[SourcesRef] {
        let young = self.objects.iter().filter(|object| !object.is_settled);
        match young.count() + 1 >= MAX_YOUNG {
            true => &self.objects,
            false => &[],
        }
    }

    /// Moves the recent entries to objects, together with `merged`, the entries of
    /// [`Sources::objects_to_merge`]. Returns the objects to write.
    pub fn settle(&mut self, merged: SourceEntries) -> Vec<WrittenSources> {
        let is_settled = !self.objects_to_merge().is_empty();
        if is_settled {
            self.objects.clear();
        }
        let mut entries = std::mem::take(&mut self.recent);
        add_sources(&mut entries, merged);
        self.write_objects(is_settled, entries)
    }

    /// Writes all entries of the ledger, given in `all`, to new objects. Returns the objects to
    /// write.
    pub fn rewrite(&mut self, all: SourceEntries) -> Vec<WrittenSources> {
        self.recent.clear();
        self.objects.clear();
        self.write_objects(true, all)
    }

    fn write_objects(&mut self, is_settled: bool, entries: SourceEntries) -> Vec<WrittenSources> {
        let entries: Vec<(u128, SourceProgress)> = entries.into_iter().collect();
        let written = entries.chunks(MAX_ENTRIES);
        let written: Vec<WrittenSources> = written
            .filter_map(|entries| write_object(is_settled, entries))
            .collect();
        let objects = written.iter().map(|written| written.object.clone());
        self.objects.extend(objects);
        written
    }

    pub(crate) fn write(&self, out: &mut Writer) -> Result<(), FormatError> {
        let recent: Vec<(u128, SourceProgress)> = self
            .recent
            .iter()
            .map(|(source, progress)| (*source, *progress))
            .collect();
        write_entries(&recent, out);
        out.varint(self.objects.len() as u64);
        for object in &self.objects {
            out.raw(&id_bytes(&object.id)?);
            out.varint(u64::from(object.is_settled));
            out.varint(object.num_entries);
            out.raw(&object.first.to_be_bytes());
            out.raw(&object.last.to_be_bytes());
        }
        Ok(())
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
        let recent = read_entries(reader)?;
        let mut objects = Vec::new();
        let mut ids = BTreeSet::new();
        for _ in 0..reader.count(MIN_REF_LEN)? {
            let object = SourcesRef {
                id: id_of_bytes(reader.array()?),
                is_settled: reader.varint()? != 0,
                num_entries: reader.varint()?,
                first: u128::from_be_bytes(reader.array()?),
                last: u128::from_be_bytes(reader.array()?),
            };
            if !ids.insert(object.id.clone()) {
                return Err(reader.error(format!("{} is named twice", object.object())));
            }
            objects.push(object);
        }
        Ok(Self { recent, objects })
    }
}

fn write_object(is_settled: bool, entries: &[(u128, SourceProgress)]) -> Option<WrittenSources> {
    let mut out = Writer::default();
    out.raw(&SOURCES_MAGIC);
    out.u32(SOURCES_VERSION);
    write_entries(entries, &mut out);
    let bytes = out.into_bytes();
    Some(WrittenSources {
        object: SourcesRef {
            id: object_id(&bytes),
            is_settled,
            num_entries: entries.len() as u64,
            first: entries.first()?.0,
            last: entries.last()?.0,
        },
        bytes,
    })
}

#[cfg(test)]
mod tests;
