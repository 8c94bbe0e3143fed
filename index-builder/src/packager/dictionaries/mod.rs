//! Term dictionaries for search over the network: few blocks, and separate blocks for common terms.
//!
//! The index of a dictionary's blocks is in the head of the split, which every search reads.
//! tantivy makes a block of each 4,000 bytes of keys. In a large dictionary, most of the index
//! would only distinguish blocks that a single read fetches together, so the blocks of a large
//! dictionary are longer here.
//!
//! People search for terms that many documents have, and they do so in all splits at once. Each of
//! the most frequent terms is in a short block that goes into the head, so that the location of its
//! postings is known without a read.
//!
//! Lists are in the order of their terms and grouped by block: first all postings of a block's
//! terms, then all positions. A phrase query therefore reads one range per word instead of two.
//! tantivy has postings and positions in two files, both of which refer to the single file that is
//! written here.

mod rare_words;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};
use std::ops::{Bound, Range};

use tantivy::directory::{CompositeFile, CompositeWrite, FileSlice, OwnedBytes, RamDirectory};
use tantivy::index::{Segment, SegmentComponent};
use tantivy::postings::TermInfo;
use tantivy::schema::{Field, Schema};
use tantivy::termdict::TermDictionary;
use tantivy::{Directory, HasLen, Index};
use tantivy_common::{BinarySerializable, VInt};
use tantivy_sstable::Writer;
use tantivy_sstable::value::ValueWriter;

use super::lists::ListsWriter;
use rare_words::FieldFiles;
pub(super) use rare_words::{FieldWords, RareWords};

/// Maximum number of blocks; a larger dictionary gets longer blocks. The index of 256 blocks takes
/// about 2.5 KB, and a scan of a block of 40 KB takes about 100 microseconds.
const MAX_BLOCKS: usize = 256;
/// Length of tantivy's blocks in bytes.
const MIN_BLOCK_LEN: usize = 4_000;
/// Type of dictionary, written after it.
const DICTIONARY_TYPE: u32 = 2;

/// Maximum size of a dictionary that is kept in the head as a whole.
pub(super) const SMALL_DICTIONARY_NUM_BYTES: usize = 8 * 1024;
/// Maximum number of common terms of a dictionary. Each takes between 25 and 45 bytes in the head.
const MAX_COMMON_TERMS: usize = 96;
/// Number of dictionary bytes per common term, so that heads of short splits stay short.
const NUM_BYTES_OF_COMMON_TERM: usize = 4 * 1024;
/// A term is common if at least one in `COMMON_IN` documents has it, unless it is a number: parts
/// of addresses and times are in many documents, but nobody searches for them.
const COMMON_IN: u32 = 1_024;
/// Returns the minimum number of documents of a common term.
pub(super) fn least_docs_of_common(num_docs: u32) -> u32 {
    (num_docs / COMMON_IN).max(2)
}

/// Maximum number of other terms between two common ones in a block. A separate block would take
/// more space.
const MAX_BETWEEN: u64 = 2;
/// Maximum total length, in tantivy's format, of the lists of common terms in one block. They lie
/// between the postings and the positions of one of these terms, which are only read as one range
/// if the distance is short.
const MAX_RUN_LISTS_NUM_BYTES: usize = 64 * 1024;

/// Files of a segment's inverted index, rewritten.
pub(super) struct InvertedIndex {
    pub(super) terms: OwnedBytes,
    /// Postings and positions.
    pub(super) lists: OwnedBytes,
    /// One term of each block that belongs in the head.
    pub(super) hot: Vec<(Field, Vec<u8>)>,
    pub(super) common: Vec<CommonTerm>,
}

/// Common term of a dictionary that is not in the head.
pub(super) struct CommonTerm {
    pub(super) field: Field,
    /// Ordinal of the term in the dictionary.
    pub(super) term_ord: u64,
    pub(super) term: Vec<u8>,
}

/// Layout of a dictionary.
#[derive(Default)]
struct Layout {
    block_len: usize,
    /// Ordinals of its common terms.
    common: Vec<u64>,
    /// Ranges of common terms, with the terms between them, that form one block.
    runs: Vec<Range<u64>>,
}

/// Ordinal of a common term in its dictionary, with the range of its lists: the bytes of postings
/// and positions before its lists and before the lists that follow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Common {
    ord: u64,
    lists_start: usize,
    lists_end: usize,
}

/// Files of a segment's inverted index.
struct SegmentLists {
    terms: CompositeFile,
    postings: CompositeFile,
    positions: CompositeFile,
}

impl SegmentLists {
    /// The segment itself cannot be opened if it was merged, because it has no doc store of
    /// tantivy's.
    fn open(segment: &Segment) -> tantivy::Result<Self> {
        let open = |component| -> tantivy::Result<CompositeFile> {
            Ok(CompositeFile::open(&segment.open_read(component)?)?)
        };
        Ok(Self {
            terms: open(SegmentComponent::Terms)?,
            postings: open(SegmentComponent::Postings)?,
            positions: open(SegmentComponent::Positions)?,
        })
    }

    fn of_field(&self, field: Field) -> Option<FieldFiles> {
        let positions = self.positions.open_read(field);
        Some(FieldFiles {
            terms: self.terms.open_read(field)?,
            postings: self.postings.open_read(field)?,
            positions: positions.unwrap_or_else(FileSlice::empty),
        })
    }
}

/// Returns whether a dictionary is kept in the head as a whole.
fn is_small(dictionary: &TermDictionary) -> bool {
    blocks_len(dictionary) <= SMALL_DICTIONARY_NUM_BYTES
}

fn blocks_len(dictionary: &TermDictionary) -> usize {
    let all: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Unbounded, Bound::Unbounded);
    dictionary.file_slice_for_range(all, None).len()
}

/// Rewrites the segment's dictionaries in blocks that suit a search, and their lists block by
/// block. Words that `rare` takes are in neither.
///
/// # Errors
/// The segment cannot be read.
pub(super) fn made_anew(
    segment: &Segment,
    mut rare: Option<&mut RareWords<'_>>,
) -> tantivy::Result<InvertedIndex> {
    let files = SegmentLists::open(segment)?;
    let num_docs = segment.meta().max_doc();
    let directory = RamDirectory::create();
    let index = Index::create(
        directory.clone(),
        Schema::builder().build(),
        segment.index().settings().clone(),
    )?;
    let new = index.new_segment();
    let mut new_terms = CompositeWrite::wrap(new.open_write(SegmentComponent::Terms)?);
    let mut new_lists = CompositeWrite::wrap(new.open_write(SegmentComponent::Postings)?);
    let mut hot = Vec::new();
    let mut common = Vec::new();
    for (field, entry) in segment.schema().fields() {
        if !entry.is_indexed() {
            continue;
        }
        let Some(files) = files.of_field(field) else {
            continue;
        };
        let FieldFiles {
            terms,
            postings,
            positions,
        } = match &mut rare {
            Some(rare) => rare.take(field, files)?,
            None => files,
        };
        let layout = Layout::of(&TermDictionary::open(terms.clone())?, num_docs)?;
        let terms_out = new_terms.for_field(field);
        let lists_out = new_lists.for_field(field);
        if layout.is_none() && positions.is_empty() {
            terms_out.write_all(&terms.read_bytes()?)?;
            lists_out.write_all(&postings.read_bytes()?)?;
            continue;
        }
        let layout = layout.unwrap_or_default();
        let lists = ListsWriter::start(postings, positions, lists_out)?;
        let written = layout.write(&TermDictionary::open(terms)?, terms_out, lists)?;
        hot.extend(written.hot.into_iter().map(|term| (field, term)));
        let terms = layout.common.into_iter().zip(written.common);
        common.extend(terms.map(|(term_ord, term)| CommonTerm {
            field,
            term_ord,
            term,
        }));
    }
    new_terms.close()?;
    new_lists.close()?;
    // An index's own directory would remove tantivy's footers.
    let read = |component| -> tantivy::Result<OwnedBytes> {
        let file = directory.get_file_handle(&new.relative_path(component))?;
        Ok(file.read_bytes(0..file.len())?)
    };
    Ok(InvertedIndex {
        terms: read(SegmentComponent::Terms)?,
        lists: read(SegmentComponent::Postings)?,
        hot,
        common,
    })
}

/// Terms of a dictionary that has been written.
#[derive(Default)]
struct Written {
    /// First term of each run of common terms.
    hot: Vec<Vec<u8>>,
    common: Vec<Vec<u8>>,
}

impl Layout {
    /// Returns `None` if the dictionary's blocks should stay as they are.
    fn of(dictionary: &TermDictionary, num_docs: u32) -> io::Result<Option<Self>> {
        let num_bytes = blocks_len(dictionary);
        if num_bytes <= SMALL_DICTIONARY_NUM_BYTES {
            return Ok(None);
        }
        let max_common = MAX_COMMON_TERMS.min(num_bytes / NUM_BYTES_OF_COMMON_TERM);
        let common = common_terms(dictionary, num_docs, max_common)?;
        let layout = Self {
            block_len: num_bytes / MAX_BLOCKS,
            runs: runs_of(&common),
            common: common.iter().map(|term| term.ord).collect(),
        };
        let is_as_before = layout.block_len <= MIN_BLOCK_LEN && layout.common.is_empty();
        Ok((!is_as_before).then_some(layout))
    }

    /// Writes the dictionary and its lists.
    fn write(
        &self,
        dictionary: &TermDictionary,
        out: &mut dyn Write,
        mut lists: ListsWriter<'_>,
    ) -> io::Result<Written> {
        let mut writer: Writer<&mut dyn Write, TermInfoWriter> = Writer::new(out);
        let block_len = self.block_len.max(MIN_BLOCK_LEN);
        let mut runs = self.runs.iter().peekable();
        let mut common = self.common.iter().peekable();
        let mut written = Written::default();
        let mut block = Block::default();
        let mut terms = dictionary.stream()?;
        let mut ord = 0;
        while terms.advance() {
            // A run can end where the next one begins.
            let ends = runs.next_if(|run| run.end == ord).is_some();
            let starts = runs.peek().is_some_and(|run| run.start == ord);
            // A run is a single block of any length.
            let is_in_run = runs.peek().is_some_and(|run| run.start < ord);
            if starts || ends || (!is_in_run && block.len > block_len) {
                block.write(&mut writer, &mut lists)?;
            }
            if starts {
                written.hot.push(terms.key().to_vec());
            }
            if common.next_if(|common| **common == ord).is_some() {
                written.common.push(terms.key().to_vec());
            }
            block.add(terms.key(), terms.value());
            ord += 1;
        }
        block.write(&mut writer, &mut lists)?;
        let mut out = writer.finish()?;
        DICTIONARY_TYPE.serialize(&mut out)?;
        Ok(written)
    }
}

/// Block of a dictionary that is not written yet.
#[derive(Default)]
struct Block {
    /// Concatenated keys.
    keys: Vec<u8>,
    /// End of each key.
    ends: Vec<usize>,
    infos: Vec<TermInfo>,
    /// Approximate length of the keys in bytes, without the prefixes that they share with the key
    /// before.
    len: usize,
}

impl Block {
    fn add(&mut self, key: &[u8], info: &TermInfo) {
        let mut before = self.ends.iter().rev();
        let (end, start) = (before.next(), before.next());
        let last = self
            .keys
            .get(start.copied().unwrap_or(0)..end.copied().unwrap_or(0));
        let both = key.iter().zip(last.unwrap_or_default());
        let num_same = both.take_while(|(one, other)| one == other).count();
        self.len += 1 + key.len() - num_same;
        self.keys.extend_from_slice(key);
        self.ends.push(self.keys.len());
        self.infos.push(info.clone());
    }

    /// Writes the lists, then the block, and starts a new block.
    fn write(
        &mut self,
        writer: &mut Writer<&mut dyn Write, TermInfoWriter>,
        lists: &mut ListsWriter<'_>,
    ) -> io::Result<()> {
        lists.write(&mut self.infos)?;
        // The block ends only after its last key.
        writer.set_block_len(usize::MAX);
        let mut start = 0;
        for (end, info) in self.ends.drain(..).zip(self.infos.drain(..)) {
            writer.insert(self.keys.get(start..end).unwrap_or_default(), &info)?;
            start = end;
        }
        self.keys.clear();
        self.len = 0;
        writer.set_block_len(0);
        writer.flush_block_if_required()
    }
}

/// Returns the terms that most documents have. Among equally frequent terms, the first one in the
/// dictionary is preferred.
fn common_terms(dictionary: &TermDictionary, num_docs: u32, max: usize) -> io::Result<Vec<Common>> {
    let least = least_docs_of_common(num_docs);
    let mut most: BinaryHeap<Reverse<(u32, Reverse<Common>)>> = BinaryHeap::new();
    let mut terms = dictionary.stream()?;
    let mut ord = 0;
    while terms.advance() {
        let info = terms.value();
        let num_docs = info.doc_freq;
        if num_docs >= least && !terms.key().iter().all(u8::is_ascii_digit) {
            let term = Common {
                ord,
                lists_start: info.postings_range.start + info.positions_range.start,
                lists_end: info.postings_range.end + info.positions_range.end,
            };
            most.push(Reverse((num_docs, Reverse(term))));
            if most.len() > max {
                most.pop();
            }
        }
        ord += 1;
    }
    let mut common: Vec<Common> = most
        .into_iter()
        .map(|Reverse((_, Reverse(term)))| term)
        .collect();
    common.sort_unstable();
    Ok(common)
}

/// Returns the ranges of common terms that form one block: few other terms between them, and short
/// lists.
fn runs_of(common: &[Common]) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    let mut lists_start = 0;
    for term in common {
        let num_bytes = term.lists_end.saturating_sub(lists_start);
        match runs.last_mut() {
            Some(run)
                if term.ord <= run.end + MAX_BETWEEN && num_bytes <= MAX_RUN_LISTS_NUM_BYTES =>
            {
                run.end = term.ord + 1;
            }
            _ => {
                runs.push(term.ord..term.ord + 1);
                lists_start = term.lists_start;
            }
        }
    }
    runs
}

/// Writes locations of postings and positions in the format of tantivy's dictionaries.
#[derive(Default)]
struct TermInfoWriter {
    infos: Vec<TermInfo>,
}

impl ValueWriter for TermInfoWriter {
    type Value = TermInfo;

    fn write(&mut self, info: &TermInfo) {
        self.infos.push(info.clone());
    }

    /// Lists are contiguous, so this writes the start of the first one and the lengths.
    fn serialize_block(&self, out: &mut Vec<u8>) {
        let mut put = |number: usize| VInt(number as u64).serialize_into_vec(out);
        put(self.infos.len());
        if let Some(first) = self.infos.first() {
            put(first.postings_range.start);
            put(first.positions_range.start);
        }
        for info in &self.infos {
            put(info.doc_freq as usize);
            put(info.postings_range.len());
            put(info.positions_range.len());
        }
    }

    fn clear(&mut self) {
        self.infos.clear();
    }
}

#[cfg(test)]
mod tests;
