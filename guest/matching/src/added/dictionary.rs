//! Dictionaries with words added: blocks between whose terms a word stands are cut, and the index of
//! blocks is written anew.

use std::io;
use std::ops::Range;

use tantivy_common::file_slice::FileSlice;
use tantivy_common::{HasLen, OwnedBytes, VInt};
use tantivy_fst::automaton::AlwaysMatch;
use tantivy_fst::{Map, Streamer};
use tantivy_sstable::value::{ValueReader, ValueWriter};
use tantivy_sstable::{Dictionary, SSTable, SSTableIndexBuilder, Writer};

use super::files::Piece;
use super::lists::{AddedWord, Info};
use crate::layout::{u32_at, u64_at};

/// Length of what follows a dictionary's index: its place, the number of terms, a version, and the type of dictionary.
const FOOTER_LEN: usize = 24;
/// Version of dictionaries that are understood.
const VERSION: u32 = 3;
/// Type of dictionary.
const DICTIONARY_TYPE: u32 = 2;
/// End of the blocks.
const END_OF_BLOCKS: [u8; 4] = [0; 4];

/// Dictionary in the format of tantivy's.
struct Terms;

impl SSTable for Terms {
    type Value = Info;
    type ValueReader = Infos;
    type ValueWriter = Infos;
}

/// Locations of the lists of a block, which follow each other.
#[derive(Default)]
struct Infos(Vec<Info>);

impl ValueReader for Infos {
    type Value = Info;

    #[expect(
        clippy::indexing_slicing,
        reason = "the reader of blocks asks for as many values as it has loaded, or panics itself"
    )]
    fn value(&self, idx: usize) -> &Info {
        &self.0[idx]
    }

    fn load(&mut self, mut data: &[u8]) -> io::Result<usize> {
        let len = data.len();
        self.0.clear();
        let mut number = || {
            let number = VInt::deserialize_u64(&mut data)?;
            usize::try_from(number).map_err(|_| damaged())
        };
        let num = number()?;
        let (mut postings, mut positions) = (number()?, number()?);
        for _ in 0..num {
            let doc_freq = u32::try_from(number()?).map_err(|_| damaged())?;
            let of_postings = postings.checked_add(number()?).ok_or_else(damaged)?;
            let of_positions = positions.checked_add(number()?).ok_or_else(damaged)?;
            self.0.push(Info {
                doc_freq,
                postings: postings..of_postings,
                positions: positions..of_positions,
            });
            (postings, positions) = (of_postings, of_positions);
        }
        Ok(len - data.len())
    }
}

impl ValueWriter for Infos {
    type Value = Info;

    fn write(&mut self, info: &Info) {
        self.0.push(info.clone());
    }

    fn serialize_block(&self, out: &mut Vec<u8>) {
        let mut put = |number: usize| VInt(number as u64).serialize_into_vec(out);
        put(self.0.len());
        let Some(first) = self.0.first() else {
            return;
        };
        put(first.postings.start);
        put(first.positions.start);
        for info in &self.0 {
            put(info.doc_freq as usize);
            put(info.postings.len());
            put(info.positions.len());
        }
    }

    fn clear(&mut self) {
        self.0.clear();
    }
}

/// Block of a dictionary.
struct Block {
    bytes: Range<usize>,
    first_ord: u64,
    /// Its last term, or one between that and the next block's first; `None` of a dictionary without an index.
    last: Option<Vec<u8>>,
}

/// Existing dictionary, as a part of a file.
pub(super) struct Existing {
    pub(super) terms: FileSlice,
    /// Place of its first byte in the file.
    pub(super) start: usize,
}

impl Existing {
    fn num_terms(&self) -> io::Result<u64> {
        let footer = self.terms.len().checked_sub(FOOTER_LEN);
        let footer = self.terms.slice_from(footer.ok_or_else(damaged)?);
        let footer = footer.read_bytes()?;
        if u32_at(&footer, 16)? != VERSION || u32_at(&footer, 20)? != DICTIONARY_TYPE {
            return Err(damaged());
        }
        u64_at(&footer, 8)
    }

    fn blocks(&self) -> io::Result<Vec<Block>> {
        let inner = self.terms.len().checked_sub(4).ok_or_else(damaged)?;
        let inner = self.terms.slice_to(inner);
        let dictionary = Dictionary::<Terms>::open(inner)?;
        let index = dictionary
            .sstable_index
            .get_block_for_automaton(&AlwaysMatch);
        let mut blocks: Vec<Block> = index
            .map(|(_, block)| Block {
                bytes: block.byte_range,
                first_ord: block.first_ordinal,
                last: None,
            })
            .collect();
        let index_start = dictionary.sstable_slice.len();
        let index_end = self.terms.len() - FOOTER_LEN;
        let keys_end = index_end.checked_sub(8).filter(|end| *end >= index_start);
        let keys_end = keys_end.ok_or_else(damaged)?;
        let keys_len = self.terms.slice(keys_end..index_end).read_bytes()?;
        let keys_len = usize::try_from(u64_at(&keys_len, 0)?).map_err(|_| damaged())?;
        if keys_len == 0 {
            return Ok(blocks);
        }
        let end = index_start.checked_add(keys_len);
        let end = end.filter(|end| *end <= keys_end).ok_or_else(damaged)?;
        let keys = self.terms.slice(index_start..end).read_bytes()?;
        let keys = Map::from_bytes(keys.to_vec()).map_err(|_| damaged())?;
        let (mut keys, mut num_keys) = (keys.stream(), 0);
        while let Some((key, _)) = keys.next() {
            let block = blocks.get_mut(num_keys).ok_or_else(damaged)?;
            block.last = Some(key.to_vec());
            num_keys += 1;
        }
        match num_keys == blocks.len() {
            true => Ok(blocks),
            false => Err(damaged()),
        }
    }
}

/// Dictionary that is being written, as pieces.
#[derive(Default)]
struct Patched {
    pieces: Vec<Piece>,
    len: usize,
    index: SSTableIndexBuilder,
    num_terms: u64,
    last_key: Vec<u8>,
}

impl Patched {
    fn add_block(&mut self, last: &[u8], first_ord: u64, piece: Piece) -> io::Result<()> {
        if !self.pieces.is_empty() && self.last_key.as_slice() >= last {
            return Err(damaged());
        }
        let end = self.len.checked_add(piece.len()).ok_or_else(damaged)?;
        self.index.add_block(last, self.len..end, first_ord);
        self.last_key = last.to_vec();
        self.len = end;
        self.pieces.push(piece);
        Ok(())
    }

    /// Writes terms whose lists follow each other as a block.
    fn write_run(&mut self, run: &mut Vec<(&[u8], &Info)>, end: Option<&[u8]>) -> io::Result<()> {
        let Some((last, _)) = run.last() else {
            return Ok(());
        };
        let end = end.unwrap_or(last);
        let ascend = run.is_sorted_by(|(one, _), (next, _)| one < next);
        let (Some((first, _)), true) = (run.first(), ascend) else {
            return Err(damaged());
        };
        if !self.pieces.is_empty() && self.last_key.as_slice() >= *first {
            return Err(damaged());
        }
        let mut writer: Writer<Vec<u8>, Infos> = Writer::new(Vec::new());
        writer.set_block_len(usize::MAX);
        for (word, info) in run.iter() {
            writer.insert(word, info)?;
        }
        let mut bytes = writer.finish()?;
        let len = usize::try_from(u32_at(&bytes, 0)?).map_err(|_| damaged())?;
        bytes.truncate(len.saturating_add(4));
        let (end, first_ord) = (end.to_vec(), self.num_terms);
        self.num_terms += run.len() as u64;
        run.clear();
        self.add_block(&end, first_ord, Piece::Made(OwnedBytes::new(bytes)))
    }

    /// Writes the terms of a block and the words that belong among them.
    fn write_merged(
        &mut self,
        existing: &[(Vec<u8>, Info)],
        words: &[(&[u8], &Info)],
        last: Option<&[u8]>,
    ) -> io::Result<()> {
        let mut run: Vec<(&[u8], &Info)> = Vec::new();
        let mut is_added = false;
        let (mut existing, mut words) = (existing.iter().peekable(), words.iter().peekable());
        loop {
            let is_next_added = match (existing.peek(), words.peek()) {
                (Some((term, _)), Some((word, _))) => *word < term.as_slice(),
                (None, Some(_)) => true,
                (Some(_), None) => false,
                (None, None) => break,
            };
            if is_next_added != is_added {
                self.write_run(&mut run, None)?;
                is_added = is_next_added;
            }
            match is_added {
                true => run.extend(words.next()),
                false => run.extend(existing.next().map(|(term, info)| (term.as_slice(), info))),
            }
        }
        self.write_run(&mut run, last)
    }

    fn finish(mut self) -> io::Result<Vec<Piece>> {
        let mut end = END_OF_BLOCKS.to_vec();
        let index_start = self.len + END_OF_BLOCKS.len();
        let keys_len = self.index.serialize(&mut end)?;
        end.extend(keys_len.to_le_bytes());
        end.extend((index_start as u64).to_le_bytes());
        end.extend(self.num_terms.to_le_bytes());
        end.extend(VERSION.to_le_bytes());
        end.extend(DICTIONARY_TYPE.to_le_bytes());
        self.pieces.push(Piece::Made(OwnedBytes::new(end)));
        Ok(self.pieces)
    }
}

/// Returns the pieces of a dictionary with words added, which ascend. Reads the blocks among whose terms they belong.
pub(super) fn with_words(
    existing: Option<&Existing>,
    words: &[AddedWord],
    infos: &[Info],
) -> io::Result<Vec<Piece>> {
    let mut patched = Patched::default();
    let words: Vec<(&[u8], &Info)> = words
        .iter()
        .zip(infos)
        .map(|(word, info)| (word.word.as_slice(), info))
        .collect();
    let mut rest = words.as_slice();
    if let Some(existing) = existing {
        let blocks = existing.blocks()?;
        let ends = blocks.iter().skip(1).map(|block| block.first_ord);
        let ends: Vec<u64> = ends.chain([existing.num_terms()?]).collect();
        for (block, end) in blocks.iter().zip(ends) {
            let is_within = |(word, _): &(&[u8], &Info)| {
                let last = block.last.as_deref();
                last.is_none_or(|last| *word <= last)
            };
            let (within, behind) = rest.split_at(rest.partition_point(is_within));
            rest = behind;
            let bytes = block.bytes.clone();
            if bytes.start > bytes.end || bytes.end > existing.terms.len() {
                return Err(damaged());
            }
            match &block.last {
                Some(last) if within.is_empty() => {
                    let first_ord = patched.num_terms;
                    let num_terms = end.checked_sub(block.first_ord).ok_or_else(damaged)?;
                    patched.num_terms = first_ord.checked_add(num_terms).ok_or_else(damaged)?;
                    let start = existing.start;
                    let kept = Piece::Kept(start + bytes.start..start + bytes.end);
                    patched.add_block(last, first_ord, kept)?;
                }
                last => {
                    let terms = terms_of(existing.terms.slice(bytes).read_bytes()?)?;
                    patched.write_merged(&terms, within, last.as_deref())?;
                }
            }
        }
    }
    patched.write_merged(&[], rest, None)?;
    patched.finish()
}

fn terms_of(block: OwnedBytes) -> io::Result<Vec<(Vec<u8>, Info)>> {
    let mut reader = Terms::reader(block);
    let mut terms = Vec::new();
    while reader.advance()? {
        terms.push((reader.key().to_vec(), reader.value().clone()));
    }
    Ok(terms)
}

fn damaged() -> io::Error {
    let what = "a dictionary to which words are added is not one, or has these words";
    io::Error::new(io::ErrorKind::InvalidData, what)
}
