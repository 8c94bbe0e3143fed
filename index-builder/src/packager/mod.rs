//! The packager: one tantivy segment in RAM → one split in RAM.
//!
//! It renames the segment's files (a segment's own name is random), lets a trial opening say which
//! byte ranges every opening touches, and adds to the head what lets common queries read less:
//! small dictionaries, short posting lists, the time index, rollups, and which frequent terms never meet.

mod co_occurrence;
mod dictionaries;
mod documents;
mod filter;
mod hot_columns;
mod hot_ranges;
mod lists;
mod recording_directory;
mod segment_files;
mod summaries;

use canter_doc_mapper::{DocMapper, IndexConfig};
use canter_split_format::{
    DocIdentity, Identities, IdentityRange, SplitEntry, SplitMetadata, Summaries, split_object,
    write_split,
};
use std::ops::Range;
use tantivy::directory::RamDirectory;

use crate::BuildError;
pub use documents::StoredDocuments;
pub(crate) use documents::{DocumentsBuilder, Sample, sampled};
pub(crate) use lists::{cut_short, slice_of};
use segment_files::SegmentFiles;
pub(crate) use segment_files::{META, POSITIONS, POSTINGS, SEGMENT_ID};

/// What the packager cannot read off the segment.
#[derive(Clone, Debug)]
pub struct SplitFacts {
    raw_num_bytes: u64,
    identities: Identities,
    identity_range: Option<IdentityRange>,
}

impl SplitFacts {
    /// `raw_num_bytes` is how many bytes of input lines the documents came from, `identities` who they are, in document
    /// order. Those of the same time stand in the order of this.
    ///
    /// # Errors
    /// For 2^32 documents or more.
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

    /// The same of some of the documents, which share the bytes of input.
    ///
    /// # Errors
    /// As [`SplitFacts::new`].
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

/// A split that is ready to be uploaded and published.
#[derive(Clone, Debug)]
pub struct PackagedSplit {
    /// What the manifest will say of it.
    pub entry: SplitEntry,
    /// The whole object.
    pub bytes: Vec<u8>,
    /// Columns of which its head does not say where they are, because there are too many of them.
    pub num_columns_outside_head: u64,
}

impl PackagedSplit {
    /// Name of the object, relative to the index's URI.
    pub fn object(&self) -> String {
        split_object(&self.entry.id)
    }

    /// The split's head: the first `head_len` bytes of the object.
    pub fn head(&self) -> &[u8] {
        let head_len = usize::try_from(self.entry.head_len).unwrap_or(usize::MAX);
        self.bytes.get(..head_len).unwrap_or(&self.bytes)
    }
}

/// Packages the one segment of the index in `directory`, whose documents must stand in timestamp order, and
/// `documents`, the same as they are stored.
///
/// # Errors
/// If the index has not exactly one segment, or if the segment cannot be read.
pub fn package_split(
    directory: RamDirectory,
    documents: StoredDocuments,
    mapper: &DocMapper,
    config: &IndexConfig,
    facts: SplitFacts,
) -> Result<PackagedSplit, BuildError> {
    let identities = facts.identities;
    let files = SegmentFiles::of_directory(&directory, mapper)?
        .with_identities(&identities)
        .with_documents(documents);
    // From here on `files` alone keep the bytes, and give them up one by one as the split gets them.
    drop(directory);
    files.check_lengths()?;
    if u64::from(identities.num_docs()) != files.num_docs() {
        return Err(BuildError::internal(
            "a split has other documents than identities",
        ));
    }
    let trial = hot_ranges::open_recording(&files, mapper, &identities)?;
    let timestamps = match mapper.timestamp_field() {
        Some((_, name)) => Some((
            name.to_owned(),
            summaries::read_timestamps(&trial.segment, name)?,
        )),
        None => None,
    };
    let time_range = timestamps
        .as_ref()
        .and_then(|(_, values)| summaries::time_range_of(values));
    let (time_index, rollup) = match &timestamps {
        Some((_, values)) => (
            Some(summaries::time_index_of(values)?),
            summaries::rollup_of(values, &trial.segment)?,
        ),
        None => (None, None),
    };
    let co_occurrence = co_occurrence::co_occurrence_of(&trial.segment, files.common_terms())?;
    let tags = summaries::tags_of(&trial.segment, mapper)?;
    let filter = filter::filter_of(&trial.segment, mapper, files.num_bytes())?;
    let metadata = SplitMetadata {
        num_docs: trial.segment.max_doc(),
        raw_num_bytes: facts.raw_num_bytes,
        time_range,
        sort_field: timestamps.map(|(name, _)| name),
        identities: facts.identity_range,
        index_config: serde_json::to_value(config)
            .map_err(|error| BuildError::internal(format!("index config: {error}")))?,
    };
    let num_columns_outside_head = trial.num_columns_outside_head;
    let num_docs = files.num_docs();
    let hot_ranges = trial.into_hot_ranges(&files)?;
    let files = files.with_filter(filter.as_ref()).into_named();
    let summaries = Summaries {
        time_index,
        rollup,
        co_occurrence,
    };
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
