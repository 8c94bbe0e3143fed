//! Selection of the byte ranges of a segment that go into the head:
//!
//! 1. Ranges that are read when the segment is opened: file footers, dictionary indexes, and the index
//!    of stored documents.
//! 2. Small dictionaries as a whole, so that looking up a keyword (or finding out that it does not
//!    occur) costs no read, and the common terms of the others.
//! 3. Short posting lists of fields with few terms, so that a rare keyword costs no read either.
//! 4. The index of rare words, and their blocks if they are short.
//! 5. Tiny columns, and the identities of documents if they are tiny, else their directory.
//! 6. The index of vectors, unless it is long.

use std::ops::{Bound, Range};
use std::path::Path;

use canter_doc_mapper::{DocMapper, ReadOnlyDirectory};
use canter_split_format::{
    DOCUMENT_INDEX_FILE, IDENTITIES_FILE, Identities, LISTS_FILE, RARE_WORDS_FILE,
    RARE_WORDS_INDEX_FILE, VECTOR_INDEX_FILE,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{HasLen, Index, ReloadPolicy, SegmentReader, TantivyError};

use super::columns::{PackableRanges, columnar_of, packable_of, touch_columns};
use super::dictionaries::SMALL_DICTIONARY_NUM_BYTES;
use super::recording_directory::Recorder;
use super::segment_files::{META, POSITIONS, POSTINGS, SegmentFiles};
use crate::BuildError;

/// Maximum length of a posting list that can be kept in the head.
const SHORT_POSTINGS_BYTES: usize = 2 * 1024;
/// Maximum total length of these lists.
const POSTINGS_BUDGET_BYTES: usize = 8 * 1024;

/// Maximum length of the documents' identities that are kept in the head.
const TINY_IDENTITIES_BYTES: usize = 256;
/// Maximum length of the directory of longer ones, with which the identity of a hit costs a small
/// read beside its document.
const MAX_DIRECTORY_BYTES: u64 = 32 * 1024;

/// Maximum length of the index of vectors in the head: a longer one costs searches for vectors one more wave, and
/// others nothing.
const MAX_VECTOR_INDEX_BYTES: usize = 256 * 1024;

/// Hot ranges with their bytes: `(file_ord, start, bytes)`.
type HotRanges = Vec<(u32, u64, Vec<u8>)>;

/// Segment that was opened like a guest opens it, with a record of all reads.
pub(crate) struct Trial {
    directory: Recorder,
    pub(crate) segment: SegmentReader,
    hot: Vec<(u32, Range<usize>)>,
    packable: PackableRanges,
    /// Number of columns whose locations are not in the head because there are too many.
    pub(crate) num_columns_outside_head: u64,
}

impl Trial {
    /// Returns the hot ranges with their bytes, `(file_ord, start, bytes)`, and the parts of columns that may be packed.
    pub(crate) fn into_parts(
        self,
        files: &SegmentFiles,
    ) -> Result<(HotRanges, PackableRanges), BuildError> {
        let named = files.named();
        let hot: Result<HotRanges, BuildError> = self
            .hot
            .into_iter()
            .map(|(file_ord, range)| {
                let bytes = usize::try_from(file_ord)
                    .ok()
                    .and_then(|ord| named.get(ord))
                    .and_then(|(_, bytes)| bytes.get(range.clone()))
                    .ok_or_else(|| BuildError::internal("a hot range lies outside its file"))?;
                Ok((file_ord, range.start as u64, bytes.to_vec()))
            })
            .collect();
        Ok((hot?, self.packable))
    }
}

/// Opens the segment over a recording directory and collects its hot ranges.
pub(crate) fn open_recording(
    files: &SegmentFiles,
    mapper: &DocMapper,
    identities: &Identities,
) -> Result<Trial, BuildError> {
    let named = files.named();
    let names = named.iter().map(|(name, _)| *name);
    // tantivy accesses the file of lists by two names.
    let paths: Vec<String> = names
        .filter(|name| *name != LISTS_FILE)
        .chain([POSTINGS, POSITIONS])
        .map(|name| match name {
            META => META.to_owned(),
            extension => format!("{:032x}.{extension}", 0),
        })
        .collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let directory = Recorder::new(files, &paths);
    let mut index = Index::open(ReadOnlyDirectory(directory.clone()))?;
    index.set_tokenizers(mapper.tokenizers());
    index.set_fast_field_tokenizers(mapper.fast_field_tokenizers());
    let reader = index
        .reader_builder()
        .reload_policy(ReloadPolicy::Manual)
        .try_into()?;
    let searcher = reader.searcher();
    let [segment] = searcher.segment_readers() else {
        return Err(BuildError::internal(
            "a packaged split must hold one segment",
        ));
    };
    let trial = Trial {
        segment: segment.clone(),
        directory,
        hot: Vec::new(),
        packable: PackableRanges::new(),
        num_columns_outside_head: 0,
    };
    let mut trial = touch_all(trial, &index, files.hot_terms())?;
    trial.hot.extend(hot_identities(files, identities));
    trial.hot.extend(document_index(files));
    trial.hot.extend(vector_index(files));
    trial.hot.extend(rare_words(files));
    let columns = columnar_of(&index)?;
    trial.packable = packable_of(&columns, &trial.directory).map_err(TantivyError::from)?;
    Ok(trial)
}

/// Returns the beginning of the identities, or all of them if they are tiny, as they are for
/// documents in the order of their source.
fn hot_identities(files: &SegmentFiles, identities: &Identities) -> Option<(u32, Range<usize>)> {
    let (file_ord, bytes) = files.find(Path::new(IDENTITIES_FILE))?;
    if bytes.len() <= TINY_IDENTITIES_BYTES {
        return Some((file_ord, 0..bytes.len()));
    }
    let len = identities.directory().beginning_len();
    let len = usize::try_from(len)
        .ok()
        .filter(|_| len <= MAX_DIRECTORY_BYTES)?;
    Some((file_ord, 0..len))
}

/// Returns the index of stored documents, with which hits cost one wave.
fn document_index(files: &SegmentFiles) -> Option<(u32, Range<usize>)> {
    let (file_ord, bytes) = files.find(Path::new(DOCUMENT_INDEX_FILE))?;
    Some((file_ord, 0..bytes.len()))
}

/// Returns the index of vectors, which says where the clusters are that a search reads.
fn vector_index(files: &SegmentFiles) -> Option<(u32, Range<usize>)> {
    let (file_ord, bytes) = files.find(Path::new(VECTOR_INDEX_FILE))?;
    (bytes.len() <= MAX_VECTOR_INDEX_BYTES).then_some((file_ord, 0..bytes.len()))
}

/// Returns the index of rare words, and their blocks if they are as short as a small dictionary.
fn rare_words(files: &SegmentFiles) -> Vec<(u32, Range<usize>)> {
    let whole = |name: &str| {
        let (file_ord, bytes) = files.find(Path::new(name))?;
        Some((file_ord, 0..bytes.len()))
    };
    let index = whole(RARE_WORDS_INDEX_FILE);
    let is_small = |(_, bytes): &(u32, Range<usize>)| bytes.len() <= SMALL_DICTIONARY_NUM_BYTES;
    let blocks = whole(RARE_WORDS_FILE).filter(is_small);
    index.into_iter().chain(blocks).collect()
}

/// Performs the reads that queries of any kind have in common.
fn touch_all(
    mut trial: Trial,
    index: &Index,
    hot_terms: &[(Field, Vec<u8>)],
) -> tantivy::Result<Trial> {
    let segment = &trial.segment;
    for (field, term) in hot_terms {
        // Looking a term up reads its block, which puts the block into the head.
        segment.inverted_index(*field)?.terms().get(term)?;
    }
    let mut short_postings: Vec<(u32, Range<usize>)> = Vec::new();
    for (field, entry) in segment.schema().fields() {
        if !entry.is_indexed() {
            continue;
        }
        let inverted_index = segment.inverted_index(field)?;
        let dictionary = inverted_index.terms();
        let whole: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Unbounded, Bound::Unbounded);
        if dictionary.file_slice_for_range(whole, None).len() > SMALL_DICTIONARY_NUM_BYTES {
            continue;
        }
        // Streaming a whole dictionary reads all its blocks, which puts them into the head.
        let mut stream = dictionary.stream()?;
        while stream.advance() {
            let info = stream.value().clone();
            if info.postings_range.len() <= SHORT_POSTINGS_BYTES {
                let (postings, reads) = trial.directory.observe(|| {
                    inverted_index.read_postings_from_terminfo(&info, IndexRecordOption::Basic)
                });
                postings?;
                short_postings.extend(reads);
            }
        }
    }
    trial.num_columns_outside_head = touch_columns(index, segment, &trial.directory)?;
    let mut hot = trial.directory.reads();
    short_postings.sort_by_key(|(_, range)| range.len());
    let mut budget = POSTINGS_BUDGET_BYTES;
    for (file_ord, range) in short_postings {
        let Some(rest) = budget.checked_sub(range.len()) else {
            break;
        };
        budget = rest;
        hot.push((file_ord, range));
    }
    trial.hot = hot;
    Ok(trial)
}
