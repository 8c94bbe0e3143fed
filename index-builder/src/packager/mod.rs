//! Packager: converts a tantivy segment in RAM to a split in RAM.
//!
//! It renames the segment's files (a segment's own name is random), determines by a trial opening
//! which byte ranges every search reads, and adds data to the head that saves reads of common
//! queries: small dictionaries, short posting lists, the time index, rollups, and the table of
//! frequent terms that occur together.

mod co_occurrence;
mod columns;
mod dictionaries;
mod documents;
mod filter;
mod hot_ranges;
mod lists;
mod recording_directory;
mod segment_files;
mod summaries;
mod vectors;

use canter_doc_mapper::{DocMapper, IndexConfig};
use canter_split_format::{
    DocIdentity, Identities, IdentityRange, SplitEntry, SplitMetadata, Summaries, TimeRange,
    VectorFieldParts, split_object, write_split, write_vectors,
};
use std::ops::Range;
use tantivy::SegmentReader;
use tantivy::directory::RamDirectory;

use crate::BuildError;
pub use documents::StoredDocuments;
pub(crate) use documents::{DocumentsBuilder, Sample, sampled};
pub(crate) use lists::{cut_short, slice_of};
use segment_files::SegmentFiles;
pub(crate) use segment_files::{POSITIONS, POSTINGS, SEGMENT_ID, write_meta};
pub(crate) use vectors::{VectorsBuilder, clustering};

/// Facts about a split that are not in the segment.
#[derive(Clone, Debug)]
pub struct SplitFacts {
    raw_num_bytes: u64,
    identities: Identities,
    identity_range: Option<IdentityRange>,
}

impl SplitFacts {
    /// Creates the facts. `raw_num_bytes` is the number of bytes of the documents' input lines, and
    /// `identities` are the identities in document order. Documents of the same time must be sorted
    /// by identity.
    ///
    /// # Errors
    /// There are 2^32 documents or more.
    pub fn new(raw_num_bytes: u64, identities: &[DocIdentity]) -> Result<Self, BuildError> {
        let packed = Identities::of_docs(identities).ok_or_else(|| {
            BuildError::internal("a split has more documents than can be counted")
        })?;
        Ok(Self {
            raw_num_bytes,
            identities: packed,
            identity_range: IdentityRange::of_docs(identities),
        })
    }

    /// Returns the facts of a part of the documents, with a proportional share of the input bytes.
    ///
    /// # Errors
    /// Same as for [`SplitFacts::new`].
    pub(crate) fn of_part(&self, docs: Range<usize>) -> Result<Self, BuildError> {
        let identities = self.identities.iter();
        let part = identities.skip(docs.start).take(docs.len());
        let part: Vec<DocIdentity> = part
            .collect::<Result<_, _>>()
            .map_err(|error| BuildError::internal(error.to_string()))?;
        let num_all = u64::from(self.identities.num_docs()).max(1);
        let share = |num_docs: usize| self.raw_num_bytes * num_docs as u64 / num_all;
        Self::new(share(docs.end) - share(docs.start), &part)
    }
}

/// Split that is ready to be uploaded and published.
#[derive(Clone, Debug)]
pub struct PackagedSplit {
    /// Manifest entry of the split.
    pub entry: SplitEntry,
    /// Whole object.
    pub bytes: Vec<u8>,
    /// Number of columns whose locations are not in the head because there are too many of them.
    pub num_columns_outside_head: u64,
}

impl PackagedSplit {
    /// Returns the name of the object, relative to the index's URI.
    pub fn object(&self) -> String {
        split_object(&self.entry.id)
    }

    /// Returns the split's head: the first `head_len` bytes of the object.
    pub fn head(&self) -> &[u8] {
        let head_len = usize::try_from(self.entry.head_len).unwrap_or(usize::MAX);
        self.bytes.get(..head_len).unwrap_or(&self.bytes)
    }
}

/// Returns the range of the documents' times, and what the head says of them.
fn summarized(
    segment: &SegmentReader,
    mapper: &DocMapper,
) -> Result<(Option<TimeRange>, Summaries), BuildError> {
    let Some((_, name)) = mapper.timestamp_field() else {
        return Ok((None, Summaries::default()));
    };
    let values = summaries::read_timestamps(segment, name)?;
    let summaries = Summaries {
        time_index: Some(summaries::time_index_of(&values)?),
        rollup: summaries::rollup_of(&values, segment)?,
        ..Summaries::default()
    };
    Ok((summaries::time_range_of(&values), summaries))
}

/// Adds the vectors of a split to its files, if it has any.
fn with_vectors(
    files: SegmentFiles,
    num_docs: u32,
    vectors: &[VectorFieldParts],
) -> Result<SegmentFiles, BuildError> {
    if vectors.is_empty() {
        return Ok(files);
    }
    let written = write_vectors(num_docs, vectors);
    let written = written.map_err(|error| BuildError::internal(error.to_string()))?;
    Ok(files.with_vectors(written))
}

/// Packages the single segment of the index in `directory`, whose documents must be in timestamp
/// order, and `documents`, which are the same documents in stored form, with the vectors of their fields.
///
/// # Errors
/// The index does not have exactly one segment, or the segment cannot be read.
pub fn package_split(
    directory: RamDirectory,
    documents: StoredDocuments,
    vectors: &[VectorFieldParts],
    mapper: &DocMapper,
    config: &IndexConfig,
    facts: SplitFacts,
) -> Result<PackagedSplit, BuildError> {
    let identities = facts.identities;
    let files = SegmentFiles::of_directory(&directory, &documents, mapper)?
        .with_identities(&identities)
        .with_documents(documents);
    let files = with_vectors(files, identities.num_docs(), vectors)?;
    // From here on, only `files` keeps the bytes. It releases each file when the split has it.
    drop(directory);
    files.check_lengths()?;
    if u64::from(identities.num_docs()) != files.num_docs() {
        return Err(BuildError::internal(
            "a split has other documents than identities",
        ));
    }
    let trial = hot_ranges::open_recording(&files, mapper, &identities)?;
    let (time_range, mut summaries) = summarized(&trial.segment, mapper)?;
    summaries.co_occurrence =
        co_occurrence::co_occurrence_of(&trial.segment, files.common_terms())?;
    let tags = summaries::tags_of(&trial.segment, mapper)?;
    let (filter, keys) = filter::lookups_of(
        &trial.segment,
        files.rare_words(),
        mapper,
        files.num_bytes(),
    )?;
    let metadata = SplitMetadata {
        num_docs: trial.segment.max_doc(),
        raw_num_bytes: facts.raw_num_bytes,
        time_range,
        sort_field: mapper.timestamp_field().map(|(_, name)| name.to_owned()),
        identities: facts.identity_range,
        index_config: serde_json::to_value(config)
            .map_err(|error| BuildError::internal(format!("index config: {error}")))?,
    };
    let (num_columns_outside_head, num_docs) = (trial.num_columns_outside_head, files.num_docs());
    let (hot_ranges, packable) = trial.into_parts(&files)?;
    let files = files.with_lookups(filter.as_ref(), keys).into_named();
    let files = columns::packed(files, &packable);
    let written = write_split(metadata, files, hot_ranges, summaries)
        .map_err(|error| BuildError::internal(error.to_string()))?;
    let entry = SplitEntry {
        id: written.id,
        len: written.bytes.len() as u64,
        head_len: written.head_len,
        head_checksum: written.head_checksum,
        head_offset: None,
        num_docs,
        raw_num_bytes: facts.raw_num_bytes,
        time_range,
        tags,
        num_merge_ops: 0,
        deletes: None,
    };
    Ok(PackagedSplit {
        entry,
        bytes: written.bytes,
        num_columns_outside_head,
    })
}
