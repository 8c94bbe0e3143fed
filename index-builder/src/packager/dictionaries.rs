//! Term dictionaries in blocks that grow with the dictionary, so that the index of the blocks stays short.
//!
//! The index is in the head of the split, which every search reads. tantivy makes a block of each 4,000 bytes of keys;
//! of a large dictionary, most of what its index says then only tells apart blocks that one read brings together.

use std::io::{self, Write};
use std::ops::Bound;

use tantivy::directory::{CompositeFile, CompositeWrite, FileSlice, OwnedBytes, RamDirectory};
use tantivy::index::{Segment, SegmentComponent};
use tantivy::postings::TermInfo;
use tantivy::schema::{Field, Schema};
use tantivy::termdict::TermDictionary;
use tantivy::{Directory, HasLen, Index};
use tantivy_common::{BinarySerializable, VInt};
use tantivy_sstable::Writer;
use tantivy_sstable::value::ValueWriter;

/// A dictionary of more data than so many blocks of tantivy's has so many longer ones. The index of 512 blocks takes
/// about 4 KB, and to look through a block of 20 KB about 50 microseconds.
const MAX_BLOCKS: usize = 512;
/// tantivy's own length of a block.
const MIN_BLOCK_LEN: usize = 4_000;
/// What stands behind a dictionary of this kind.
const DICTIONARY_TYPE: u32 = 2;

/// The file of a segment's dictionaries with the long ones in longer blocks; `None` if none is long.
///
/// # Errors
/// If the dictionaries cannot be read.
pub(super) fn with_long_blocks(segment: &Segment) -> tantivy::Result<Option<OwnedBytes>> {
    // Not by opening the segment: one that was merged has no doc store of tantivy's.
    let before = CompositeFile::open(&segment.open_read(SegmentComponent::Terms)?)?;
    let mut fields: Vec<(Field, FileSlice, usize)> = Vec::new();
    for (field, entry) in segment.schema().fields() {
        if entry.is_indexed()
            && let Some(same) = before.open_read(field)
        {
            let block_len = block_len(&TermDictionary::open(same.clone())?);
            fields.push((field, same, block_len));
        }
    }
    if fields.iter().all(|(.., len)| *len <= MIN_BLOCK_LEN) {
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
    for (field, same, block_len) in fields {
        let out = file.for_field(field);
        match block_len {
            ..=MIN_BLOCK_LEN => out.write_all(&same.read_bytes()?)?,
            _ => write_anew(&TermDictionary::open(same)?, block_len, out)?,
        }
    }
    file.close()?;
    let path = new.relative_path(SegmentComponent::Terms);
    let file = directory.get_file_handle(&path)?;
    Ok(Some(file.read_bytes(0..file.len())?))
}

fn block_len(dictionary: &TermDictionary) -> usize {
    let all: (Bound<&[u8]>, Bound<&[u8]>) = (Bound::Unbounded, Bound::Unbounded);
    let num_bytes = dictionary.file_slice_for_range(all, None).len();
    num_bytes / MAX_BLOCKS
}

fn write_anew(
    dictionary: &TermDictionary,
    block_len: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut writer: Writer<&mut dyn Write, TermInfoWriter> = Writer::new(out);
    writer.set_block_len(block_len);
    let mut terms = dictionary.stream()?;
    while terms.advance() {
        writer.insert(terms.key(), terms.value())?;
    }
    let mut out = writer.finish()?;
    DICTIONARY_TYPE.serialize(&mut out)
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
