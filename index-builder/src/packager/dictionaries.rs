//! Term dictionaries that suit a search over the network: few blocks, and common terms apart.
//!
//! The index of a dictionary's blocks is in the head of the split, which every search reads. tantivy makes a block of
//! each 4,000 bytes of keys; of a large dictionary, most of what its index says then only tells apart blocks that one
//! read brings together. So the blocks of a large dictionary are longer.
//!
//! A term that many documents hold is one that people search for, in all splits at once. Each of the most frequent
//! stands in a block without others, which goes into the head: where its postings are is then known without a read.
//!
//! Lists stand as their terms do: those of a block's terms together, first all postings, then all positions. What a
//! phrase reads of a word is then one range and not two. tantivy has postings and positions in two files, and both are
//! the one that is written here.

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

/// A dictionary of more data than so many blocks of tantivy's has so many longer ones. The index of 256 blocks takes
/// about 2.5 KB, and to look through a block of 40 KB about 100 microseconds.
const MAX_BLOCKS: usize = 256;
/// tantivy's own length of a block.
const MIN_BLOCK_LEN: usize = 4_000;
/// What stands behind a dictionary of this kind.
const DICTIONARY_TYPE: u32 = 2;

/// A dictionary up to this size is kept in the head, whole.
pub(super) const SMALL_DICTIONARY_NUM_BYTES: usize = 8 * 1024;
/// A dictionary has at most so many common terms: each takes some 25 to 45 bytes of the head.
const MAX_COMMON_TERMS: usize = 96;
/// … and one for each so many bytes of it, so that heads of short splits stay short.
const NUM_BYTES_OF_COMMON_TERM: usize = 4 * 1024;
/// A term is common if one document of so many holds it, and if it is no number: parts of addresses and times are in
/// many documents, and nobody looks for them.
const COMMON_IN: u32 = 1_024;
/// How many documents a common term has at least.
pub(super) fn least_docs_of_common(num_docs: u32) -> u32 {
    (num_docs / COMMON_IN).max(2)
}

/// Between common terms so many others are taken along: a block of their own would take more.
const MAX_BETWEEN: u64 = 2;
/// Lists of terms that stand in one block are no longer than this together, as tantivy writes them: it is what lies between the postings and the
/// positions of one of them, which are one range only if that is little.
const MAX_RUN_LISTS_NUM_BYTES: usize = 64 * 1024;

/// The files of a segment's inverted index, made anew.
pub(super) struct InvertedIndex {
    pub(super) terms: OwnedBytes,
    /// Postings and positions.
    pub(super) lists: OwnedBytes,
    /// A term of each block that belongs into the head.
    pub(super) hot: Vec<(Field, Vec<u8>)>,
    pub(super) common: Vec<CommonTerm>,
}

/// A term that many documents hold, of a dictionary that is not in the head.
pub(super) struct CommonTerm {
    pub(super) field: Field,
    /// Its place in the dictionary.
    pub(super) term_ord: u64,
    pub(super) term: Vec<u8>,
}

/// How a dictionary is to be written.
#[derive(Default)]
struct Layout {
    block_len: usize,
    /// Places in the dictionary of its common terms.
    common: Vec<u64>,
    /// Those that stand in one block, with what is between them.
    runs: Vec<Range<u64>>,
}

/// A common term's place in the dictionary, and where its lists are: bytes of postings and positions before them, and
/// before what is behind them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Common {
    ord: u64,
    lists_start: usize,
    lists_end: usize,
}

/// The segment's dictionaries in blocks that suit a search, and their lists block by block.
///
/// # Errors
/// If the segment cannot be read.
pub(super) fn made_anew(segment: &Segment) -> tantivy::Result<InvertedIndex> {
    // Not by opening the segment: one that was merged has no doc store of tantivy's.
    let open = |component| -> tantivy::Result<CompositeFile> {
        Ok(CompositeFile::open(&segment.open_read(component)?)?)
    };
    let terms = open(SegmentComponent::Terms)?;
    let postings = open(SegmentComponent::Postings)?;
    let positions = open(SegmentComponent::Positions)?;
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
        let (Some(terms), Some(postings)) = (terms.open_read(field), postings.open_read(field))
        else {
            continue;
        };
        let positions = positions.open_read(field).unwrap_or_else(FileSlice::empty);
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
    // An index's own directory would strip tantivy's footers.
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
    /// The first of each run of common ones.
    hot: Vec<Vec<u8>>,
    common: Vec<Vec<u8>>,
}

impl Layout {
    /// `None` if the dictionary's blocks are best as they are.
    fn of(dictionary: &TermDictionary, num_docs: u32) -> io::Result<Option<Self>> {
        let all: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Unbounded, Bound::Unbounded);
        let num_bytes = dictionary.file_slice_for_range(all, None).len();
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
            // One may end where the next begins.
            let ends = runs.next_if(|run| run.end == ord).is_some();
            let starts = runs.peek().is_some_and(|run| run.start == ord);
            // A run is one block, however long.
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

/// A block of a dictionary, until it is written.
#[derive(Default)]
struct Block {
    /// All keys, one behind the other.
    keys: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<usize>,
    infos: Vec<TermInfo>,
    /// About how many bytes its keys take: each is written without what it begins with as the one before it.
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

    /// Writes its lists and then the block, and begins another.
    fn write(
        &mut self,
        writer: &mut Writer<&mut dyn Write, TermInfoWriter>,
        lists: &mut ListsWriter<'_>,
    ) -> io::Result<()> {
        lists.write(&mut self.infos)?;
        // Nothing ends it before its last key.
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

/// Places of the terms that most documents hold; of two that equally many hold, the one that is first in the dictionary
/// is taken.
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

/// Common terms that stand in one block: those with few others between them, and with short lists.
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

/// Where postings and positions of terms stand, as tantivy's dictionaries say it.
#[derive(Default)]
struct TermInfoWriter {
    infos: Vec<TermInfo>,
}

impl ValueWriter for TermInfoWriter {
    type Value = TermInfo;

    fn write(&mut self, info: &TermInfo) {
        self.infos.push(info.clone());
    }

    /// All in a row: where the first list starts, then how long each is.
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
