//! Words with digits of few documents, which leave the dictionary and the lists
//! ([why](../../../../docs/decisions/rare-words.md)): of fields with positions whose texts are stored, since searches
//! find such words in the documents.

use std::io::{self, Write};
use std::ops::Range;

use canter_doc_mapper::DocMapper;
use canter_matching::{PostingList, Recorded};
use canter_split_format::{DocumentIndex, FormatError, RareWordsWriter, may_be_rare};
use tantivy::directory::{FileSlice, OwnedBytes};
use tantivy::postings::TermInfo;
use tantivy::schema::Field;
use tantivy::termdict::TermDictionary;
use tantivy_common::BinarySerializable;
use tantivy_sstable::Writer;

use super::super::lists::{HEADER_LEN, slice_of};
use super::{DICTIONARY_TYPE, TermInfoWriter, is_small};
use crate::BuildError;

/// Maximum number of documents of a rare word if documents are stored as rows, one of which is read alone.
const MAX_DOCS_IN_ROWS: u32 = 16;
/// Maximum number of documents of a rare word if a document is read with its neighbours.
const MAX_DOCS_IN_COLUMNS: u32 = 4;
/// Minimum number of rare words of a field. Fewer save less than reading documents costs.
const MIN_WORDS: u64 = 1_024;

/// Rare words that have left the dictionaries.
pub(in crate::packager) struct RareWords<'m> {
    mapper: &'m DocMapper,
    max_docs: u32,
    writer: RareWordsWriter,
    fields: Vec<FieldWords>,
}

/// Rare words of a field, in order.
pub(in crate::packager) struct FieldWords {
    pub(in crate::packager) field: Field,
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

/// Dictionary and lists of a field; `positions` are empty if it has none.
pub(in crate::packager) struct FieldFiles {
    pub(in crate::packager) terms: FileSlice,
    pub(in crate::packager) postings: FileSlice,
    pub(in crate::packager) positions: FileSlice,
}

/// Rare words of a segment, with their files.
pub(in crate::packager) struct TakenWords {
    pub(in crate::packager) index: Vec<u8>,
    pub(in crate::packager) blocks: Vec<u8>,
    pub(in crate::packager) fields: Vec<FieldWords>,
}

impl FieldWords {
    pub(in crate::packager) fn len(&self) -> u64 {
        self.ends.len() as u64
    }

    pub(in crate::packager) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let word = self.bytes.get(start..*end).unwrap_or_default();
            start = *end;
            word
        })
    }

    fn push(&mut self, word: &[u8]) {
        self.bytes.extend_from_slice(word);
        self.ends.push(self.bytes.len());
    }
}

impl<'m> RareWords<'m> {
    /// Starts without words. `documents` is the index of the stored documents.
    pub(in crate::packager) fn new(
        mapper: &'m DocMapper,
        num_docs: u32,
        documents: &[u8],
    ) -> Result<Self, BuildError> {
        let failed = |error: FormatError| BuildError::internal(error.to_string());
        let documents = DocumentIndex::open(documents).map_err(failed)?;
        let is_in_rows = !documents.models().map_err(failed)?.is_empty();
        Ok(Self {
            mapper,
            max_docs: match is_in_rows {
                true => MAX_DOCS_IN_ROWS,
                false => MAX_DOCS_IN_COLUMNS,
            },
            writer: RareWordsWriter::new(num_docs),
            fields: Vec::new(),
        })
    }

    /// Takes the rare words of a field, unless they are too few or must stay, and returns what is left.
    pub(in crate::packager) fn take(
        &mut self,
        field: Field,
        files: FieldFiles,
    ) -> io::Result<FieldFiles> {
        let dictionary = TermDictionary::open(files.terms.clone())?;
        // A dictionary in the head costs no read.
        let may_leave = self.mapper.docstore_settings().has_rare_words
            && self.mapper.stored_text(field).is_some();
        if !may_leave || is_small(&dictionary) {
            return Ok(files);
        }
        let max_docs = self.max_docs;
        let is_rare = |word: &[u8], info: &TermInfo| info.doc_freq <= max_docs && may_be_rare(word);
        let mut num_words = 0;
        let mut stream = dictionary.stream()?;
        while stream.advance() {
            num_words += u64::from(is_rare(stream.key(), stream.value()));
        }
        if num_words < MIN_WORDS {
            return Ok(files);
        }
        let started = self.writer.start_field(field.field_id(), num_words);
        started.map_err(io::Error::other)?;
        let mut words = FieldWords {
            field,
            bytes: Vec::new(),
            ends: Vec::new(),
        };
        let mut others = Others::new(&files.postings, &files.positions)?;
        let mut docs = Vec::new();
        let mut stream = dictionary.stream()?;
        while stream.advance() {
            let (word, info) = (stream.key(), stream.value());
            if !is_rare(word, info) {
                others.push(word, info)?;
                continue;
            }
            let bytes = slice_of(&others.postings.source, &info.postings_range)?;
            let mut list = PostingList::open(info.doc_freq, bytes, Recorded::Positions)?;
            list.docs_by_rank(0..info.doc_freq, &mut docs);
            self.writer.push(word, &docs).map_err(io::Error::other)?;
            words.push(word);
        }
        self.fields.push(words);
        others.finish()
    }

    /// Returns all words that were taken, if any were.
    pub(in crate::packager) fn finish(self) -> Option<TakenWords> {
        let written = self.writer.finish();
        (!self.fields.is_empty()).then_some(TakenWords {
            index: written.index,
            blocks: written.blocks,
            fields: self.fields,
        })
    }
}

/// Lists of the terms that stay, copied in runs.
struct Copied {
    source: FileSlice,
    out: Vec<u8>,
    /// Range that is not copied yet.
    run: Range<usize>,
    /// Length of what was copied and of the run.
    len: usize,
}

impl Copied {
    fn new(source: FileSlice) -> Self {
        Self {
            source,
            out: Vec::new(),
            run: 0..0,
            len: 0,
        }
    }

    /// Appends a list, and returns its new range.
    fn push(&mut self, range: &Range<usize>) -> io::Result<Range<usize>> {
        if range.start != self.run.end {
            self.flush()?;
            self.run = range.start..range.start;
        }
        self.run.end = range.end;
        let start = self.len;
        self.len += range.len();
        Ok(start..self.len)
    }

    fn flush(&mut self) -> io::Result<()> {
        let bytes = slice_of(&self.source, &self.run)?;
        self.out.extend_from_slice(&bytes);
        Ok(())
    }
}

/// Terms that stay in a dictionary.
struct Others {
    header: OwnedBytes,
    postings: Copied,
    positions: Copied,
    terms: Writer<Vec<u8>, TermInfoWriter>,
}

impl Others {
    fn new(postings: &FileSlice, positions: &FileSlice) -> io::Result<Self> {
        let header = slice_of(postings, &(0..HEADER_LEN))?;
        Ok(Self {
            header,
            postings: Copied::new(postings.slice_from(HEADER_LEN)),
            positions: Copied::new(positions.clone()),
            terms: Writer::new(Vec::new()),
        })
    }

    fn push(&mut self, word: &[u8], info: &TermInfo) -> io::Result<()> {
        let info = TermInfo {
            doc_freq: info.doc_freq,
            postings_range: self.postings.push(&info.postings_range)?,
            positions_range: self.positions.push(&info.positions_range)?,
        };
        self.terms.insert(word, &info)
    }

    fn finish(mut self) -> io::Result<FieldFiles> {
        self.postings.flush()?;
        self.positions.flush()?;
        let mut terms = self.terms.finish()?;
        DICTIONARY_TYPE.serialize(&mut terms)?;
        let mut postings = Vec::with_capacity(HEADER_LEN + self.postings.out.len());
        postings.write_all(&self.header)?;
        postings.write_all(&self.postings.out)?;
        Ok(FieldFiles {
            terms: FileSlice::from(terms),
            postings: FileSlice::from(postings),
            positions: FileSlice::from(self.positions.out),
        })
    }
}
