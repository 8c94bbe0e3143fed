//! Term dictionaries that suit a search over the network: few blocks, and common terms apart.
//!
//! The index of a dictionary's blocks is in the head of the split, which every search reads. tantivy makes a block of
//! each 4,000 bytes of keys; of a large dictionary, most of what its index says then only tells apart blocks that one
//! read brings together. So the blocks of a large dictionary are longer.
//!
//! A term that many documents hold is one that people search for, in all splits at once. Each of the most frequent
//! stands in a block without others, which goes into the head: where its postings are is then known without a read.

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
/// Between common terms so many others are taken along: a block of their own would take more.
const MAX_BETWEEN: u64 = 2;

/// The file of a segment's dictionaries, made anew.
pub(super) struct Dictionaries {
    pub(super) file: OwnedBytes,
    /// A term of each block that belongs into the head.
    pub(super) hot: Vec<(Field, Vec<u8>)>,
}

/// How a dictionary is to be written.
struct Layout {
    block_len: usize,
    /// Places in the dictionary of the terms that stand in blocks without others, run by run.
    common: Vec<Range<u64>>,
}

/// The segment's dictionaries in blocks that suit a search; `None` if they stay as they are.
///
/// # Errors
/// If the dictionaries cannot be read.
pub(super) fn made_anew(segment: &Segment) -> tantivy::Result<Option<Dictionaries>> {
    // Not by opening the segment: one that was merged has no doc store of tantivy's.
    let before = CompositeFile::open(&segment.open_read(SegmentComponent::Terms)?)?;
    let num_docs = segment.meta().max_doc();
    let mut fields: Vec<(Field, FileSlice, Option<Layout>)> = Vec::new();
    for (field, entry) in segment.schema().fields() {
        if entry.is_indexed()
            && let Some(same) = before.open_read(field)
        {
            let layout = Layout::of(&TermDictionary::open(same.clone())?, num_docs)?;
            fields.push((field, same, layout));
        }
    }
    if fields.iter().all(|(.., layout)| layout.is_none()) {
        return Ok(None);
    }
    let directory = RamDirectory::create();
    let index = Index::create(
        directory.clone(),
        Schema::builder().build(),
        segment.index().settings().clone(),
    )?;
    let new = index.new_segment();
    let mut file = CompositeWrite::wrap(new.open_write(SegmentComponent::Terms)?);
    let mut hot = Vec::new();
    for (field, same, layout) in fields {
        let out = file.for_field(field);
        match layout {
            None => out.write_all(&same.read_bytes()?)?,
            Some(layout) => {
                let first_terms = layout.write(&TermDictionary::open(same)?, out)?;
                hot.extend(first_terms.into_iter().map(|term| (field, term)));
            }
        }
    }
    file.close()?;
    let path = new.relative_path(SegmentComponent::Terms);
    let file = directory.get_file_handle(&path)?;
    Ok(Some(Dictionaries {
        file: file.read_bytes(0..file.len())?,
        hot,
    }))
}

impl Layout {
    /// `None` if the dictionary is best as it is.
    fn of(dictionary: &TermDictionary, num_docs: u32) -> io::Result<Option<Self>> {
        let all: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Unbounded, Bound::Unbounded);
        let num_bytes = dictionary.file_slice_for_range(all, None).len();
        if num_bytes <= SMALL_DICTIONARY_NUM_BYTES {
            return Ok(None);
        }
        let max_common = MAX_COMMON_TERMS.min(num_bytes / NUM_BYTES_OF_COMMON_TERM);
        let layout = Self {
            block_len: (num_bytes / MAX_BLOCKS).max(MIN_BLOCK_LEN),
            common: common_terms(dictionary, num_docs, max_common)?,
        };
        let is_as_before = layout.block_len == MIN_BLOCK_LEN && layout.common.is_empty();
        Ok((!is_as_before).then_some(layout))
    }

    /// Writes the dictionary, and gives the first term of each run of common ones.
    fn write(&self, dictionary: &TermDictionary, out: &mut dyn Write) -> io::Result<Vec<Vec<u8>>> {
        let mut writer: Writer<&mut dyn Write, TermInfoWriter> = Writer::new(out);
        writer.set_block_len(self.block_len);
        let mut first_terms = Vec::with_capacity(self.common.len());
        let mut runs = self.common.iter().peekable();
        let mut terms = dictionary.stream()?;
        let mut ord = 0;
        while terms.advance() {
            let starts = runs.peek().is_some_and(|run| run.start == ord);
            let ends = runs.next_if(|run| run.end == ord).is_some();
            if starts || ends {
                // A block of no length ends here.
                writer.set_block_len(0);
                writer.flush_block_if_required()?;
                // A run is one block, however long.
                writer.set_block_len(match starts {
                    true => usize::MAX,
                    false => self.block_len,
                });
            }
            if starts {
                first_terms.push(terms.key().to_vec());
            }
            writer.insert(terms.key(), terms.value())?;
            ord += 1;
        }
        let mut out = writer.finish()?;
        DICTIONARY_TYPE.serialize(&mut out)?;
        Ok(first_terms)
    }
}

/// Places of the terms that most documents hold, and of the few between them; of two that equally many hold, the
/// one that is first in the dictionary is taken.
fn common_terms(
    dictionary: &TermDictionary,
    num_docs: u32,
    max: usize,
) -> io::Result<Vec<Range<u64>>> {
    let least = (num_docs / COMMON_IN).max(2);
    let mut most: BinaryHeap<Reverse<(u32, Reverse<u64>)>> = BinaryHeap::new();
    let mut terms = dictionary.stream()?;
    let mut ord = 0;
    while terms.advance() {
        let num_docs = terms.value().doc_freq;
        if num_docs >= least && !terms.key().iter().all(u8::is_ascii_digit) {
            most.push(Reverse((num_docs, Reverse(ord))));
            if most.len() > max {
                most.pop();
            }
        }
        ord += 1;
    }
    let mut ords: Vec<u64> = most
        .into_iter()
        .map(|Reverse((_, Reverse(ord)))| ord)
        .collect();
    ords.sort_unstable();
    let mut runs: Vec<Range<u64>> = Vec::new();
    for ord in ords {
        match runs.last_mut() {
            Some(run) if ord <= run.end + MAX_BETWEEN => run.end = ord + 1,
            _ => runs.push(ord..ord + 1),
        }
    }
    Ok(runs)
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
