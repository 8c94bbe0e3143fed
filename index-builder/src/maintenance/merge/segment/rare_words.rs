//! Rare words of an input, found in its documents, as a segment that has only them.
//!
//! A split knows beginnings of its rare words. In a merged split, two rare words may be one frequent word, and
//! beginnings have other neighbours, so a merge needs the words themselves, with frequencies and positions.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use canter_doc_mapper::{DocMapper, ReadOnlyDirectory, ScannedField, SegmentFiles, read_stored_as};
use canter_matching::append_lists;
use canter_split_format::{
    FormatError, RARE_WORDS_FILE, RARE_WORDS_INDEX_FILE, RareStubs, RareWordsIndex, may_be_rare,
};
use tantivy::directory::{
    CompositeFile, CompositeWrite, Directory, FileHandle, FileSlice, OwnedBytes, RamDirectory,
};
use tantivy::index::SegmentComponent;
use tantivy::postings::TermInfo;
use tantivy::schema::{Field, Schema};
use tantivy::termdict::TermDictionaryBuilder;
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{Index, SegmentReader};

use super::super::directory::SplitFiles;
use super::super::input::OpenInput;
use crate::packager::{POSITIONS, POSTINGS};

/// Segment of an input's rare words.
pub(super) struct RareSegment {
    pub(super) segment: SegmentReader,
    lists: CompositeFile,
}

impl RareSegment {
    /// Finds the rare words of an input; `None` if it has none.
    pub(super) fn of(input: &OpenInput, target: &DocMapper) -> io::Result<Option<Self>> {
        let files = input.files();
        let (Some(index), Some(blocks)) = (
            files.read(RARE_WORDS_INDEX_FILE)?,
            files.read(RARE_WORDS_FILE)?,
        ) else {
            return Ok(None);
        };
        let index = RareWordsIndex::open(&index).map_err(damaged)?;
        if index.num_docs() != input.num_docs() || index.blocks_len() != blocks.len() as u64 {
            return Err(unsound("its rare words are of other documents"));
        }
        let mut fields = index
            .fields()
            .map(|field| Found::new(field, &index, &blocks, input, target))
            .collect::<io::Result<Vec<Found>>>()?;
        drop((index, blocks));
        read_documents(&mut fields, input, target)?;
        write_files(fields, input)?.open().map(Some)
    }

    /// Returns the lists of a field, to which the dictionary refers.
    pub(super) fn lists(&self, field: Field) -> FileSlice {
        let lists = self.lists.open_read(field);
        lists.unwrap_or_else(FileSlice::empty)
    }
}

fn damaged(error: FormatError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

fn unsound(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Occurrence of a word.
struct Occurrence {
    /// Place of the word among the stubs.
    stub: u32,
    doc: u32,
    position: u32,
    /// End of the word among the bytes of all occurrences.
    end: usize,
}

/// Words of a field that may be rare ones.
struct Found {
    field: Field,
    scanned: ScannedField,
    analyzer: Option<TextAnalyzer>,
    stubs: RareStubs,
    bytes: Vec<u8>,
    occurrences: Vec<Occurrence>,
}

impl Found {
    fn new(
        field: u32,
        index: &RareWordsIndex,
        blocks: &[u8],
        input: &OpenInput,
        target: &DocMapper,
    ) -> io::Result<Self> {
        let number = Field::from_field_id(field);
        let fits = input
            .segment
            .schema()
            .fields()
            .any(|(own, _)| own == number);
        let scanned = fits.then(|| input.fields.to_target(number)).flatten();
        let scanned = scanned.and_then(|field| target.stored_text(field));
        let scanned = scanned.ok_or_else(|| unsound("a field with rare words stores no texts"))?;
        let mut stubs = RareStubs::default();
        for block in index.blocks_of(field) {
            let range = usize::try_from(block.bytes.start).ok();
            let range = range.zip(usize::try_from(block.bytes.end).ok());
            let bytes = range.and_then(|(start, end)| blocks.get(start..end));
            let bytes = bytes.ok_or_else(|| unsound("a block of rare words is missing"))?;
            let mut words = index.open_block(block, bytes).map_err(damaged)?;
            while let Some(word) = words.next().map_err(damaged)? {
                stubs.push(&word).map_err(damaged)?;
            }
        }
        Ok(Self {
            field: number,
            analyzer: target.analyzer_of(&scanned),
            scanned,
            stubs,
            bytes: Vec::new(),
            occurrences: Vec::new(),
        })
    }

    fn word(&self, place: usize) -> &[u8] {
        let end = self.occurrences.get(place).map_or(0, |found| found.end);
        let before = place
            .checked_sub(1)
            .and_then(|before| self.occurrences.get(before));
        let start = before.map_or(0, |before| before.end);
        self.bytes.get(start..end).unwrap_or_default()
    }
}

/// Finds the words in the documents that the stubs name.
fn read_documents(fields: &mut [Found], input: &OpenInput, target: &DocMapper) -> io::Result<()> {
    let mut is_named = vec![false; input.num_docs() as usize];
    for found in fields.iter() {
        for ord in 0..found.stubs.len() {
            for doc in found.stubs.docs(ord) {
                if let Some(is_named) = is_named.get_mut(*doc as usize) {
                    *is_named = true;
                }
            }
        }
    }
    let mut reader = input.documents()?;
    for (doc, is_named) in (0..).zip(is_named) {
        if !is_named {
            continue;
        }
        let bytes = reader.get(doc)?;
        let document = read_stored_as(bytes, |field| input.fields.to_target(field));
        let document = document.map_err(io::Error::other)?;
        let document = target.stored_doc(&document, false);
        for found in fields.iter_mut() {
            let Found {
                scanned,
                analyzer,
                stubs,
                bytes,
                occurrences,
                ..
            } = found;
            target.for_each_term(
                scanned,
                &document,
                analyzer.as_mut(),
                &mut |word, position| {
                    let stub = may_be_rare(word).then(|| stubs.find(word)).flatten();
                    let stub = stub.filter(|stub| stubs.docs(*stub).binary_search(&doc).is_ok());
                    let Some(stub) = stub.and_then(|stub| u32::try_from(stub).ok()) else {
                        return;
                    };
                    bytes.extend_from_slice(word);
                    occurrences.push(Occurrence {
                        stub,
                        doc,
                        position,
                        end: bytes.len(),
                    });
                },
            );
        }
    }
    Ok(())
}

/// Files of a segment that has only rare words, beside those of the input.
#[derive(Clone)]
struct RareFiles {
    others: SplitFiles,
    terms: OwnedBytes,
    lists: OwnedBytes,
}

impl SegmentFiles for RareFiles {
    fn open(&self, path: &Path) -> Option<Arc<dyn FileHandle>> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("term") => Some(Arc::new(self.terms.clone())),
            Some(POSTINGS | POSITIONS) => Some(Arc::new(self.lists.clone())),
            _ => self.others.open(path),
        }
    }
}

impl RareFiles {
    fn open(self) -> io::Result<RareSegment> {
        let open = || -> tantivy::Result<RareSegment> {
            let index = Index::open(ReadOnlyDirectory(self))?;
            let segments = index.searchable_segments()?;
            let segment = segments
                .first()
                .ok_or_else(|| unsound("it holds no segment"))?;
            let lists = segment.open_read(SegmentComponent::Postings)?;
            Ok(RareSegment {
                lists: CompositeFile::open(&lists)?,
                segment: SegmentReader::open(segment)?,
            })
        };
        open().map_err(io::Error::other)
    }
}

/// Writes the dictionaries and lists of rare words.
fn write_files(fields: Vec<Found>, input: &OpenInput) -> io::Result<RareFiles> {
    let directory = RamDirectory::create();
    let settings = tantivy::IndexSettings::default();
    let index = Index::create(directory.clone(), Schema::builder().build(), settings)
        .map_err(io::Error::other)?;
    let segment = index.new_segment();
    let open = |component| {
        let file = segment.open_write(component).map_err(io::Error::other)?;
        io::Result::Ok(CompositeWrite::wrap(file))
    };
    let mut terms = open(SegmentComponent::Terms)?;
    let mut lists = open(SegmentComponent::Postings)?;
    for mut found in fields {
        let words = found.words(input)?;
        let (dictionary, of_field) = found.files_of(&words)?;
        terms.for_field(found.field).write_all(&dictionary)?;
        lists.for_field(found.field).write_all(&of_field)?;
    }
    terms.close()?;
    lists.close()?;
    let read = |component| -> io::Result<OwnedBytes> {
        let path = segment.relative_path(component);
        let file = directory.get_file_handle(&path).map_err(io::Error::other)?;
        file.read_bytes(0..file.len())
    };
    Ok(RareFiles {
        others: input.files().clone(),
        terms: read(SegmentComponent::Terms)?,
        lists: read(SegmentComponent::Postings)?,
    })
}

/// Occurrences of a rare word, as places among all, in the order of documents.
type Word = Vec<usize>;

impl Found {
    /// Returns the rare words in order: those that the dictionary lacks. Each must be in the documents of its stub.
    fn words(&mut self, input: &OpenInput) -> io::Result<Vec<Word>> {
        let mut by_word: BTreeMap<&[u8], Word> = BTreeMap::new();
        for place in 0..self.occurrences.len() {
            by_word.entry(self.word(place)).or_default().push(place);
        }
        let inverted_index = input.segment.inverted_index(self.field);
        let inverted_index = inverted_index.map_err(io::Error::other)?;
        let mut terms = inverted_index.terms().stream()?;
        let mut has_term = terms.advance();
        let mut words = Vec::with_capacity(self.stubs.len());
        for (word, places) in by_word {
            while has_term && terms.key() < word {
                has_term = terms.advance();
            }
            if has_term && terms.key() == word {
                continue;
            }
            let first = places
                .first()
                .and_then(|place| self.occurrences.get(*place));
            let is_next = first.is_some_and(|first| first.stub as usize == words.len());
            let mut docs: Vec<u32> = places
                .iter()
                .filter_map(|place| self.occurrences.get(*place))
                .map(|occurrence| occurrence.doc)
                .collect();
            docs.dedup();
            if !is_next || docs != self.stubs.docs(words.len()) {
                return Err(unsound("its documents have other rare words than it says"));
            }
            words.push(places);
        }
        match words.len() == self.stubs.len() {
            true => Ok(words),
            false => Err(unsound("its documents lack rare words that it has")),
        }
    }

    /// Returns the dictionary and the lists of words.
    fn files_of(&self, words: &[Word]) -> io::Result<(Vec<u8>, Vec<u8>)> {
        // The words before the first are counted with those of the dictionary.
        let header = vec![0; 8];
        let (mut postings, mut positions) = (Vec::new(), Vec::new());
        let mut infos = Vec::with_capacity(words.len());
        for places in words {
            let (start, start_of_positions) = (postings.len(), positions.len());
            let mut docs: Vec<(u32, Vec<u32>)> = Vec::new();
            for occurrence in places
                .iter()
                .filter_map(|place| self.occurrences.get(*place))
            {
                match docs.last_mut() {
                    Some((doc, of_doc)) if *doc == occurrence.doc => {
                        of_doc.push(occurrence.position);
                    }
                    _ => docs.push((occurrence.doc, vec![occurrence.position])),
                }
            }
            let docs = docs.iter().map(|(doc, of_doc)| (*doc, of_doc.as_slice()));
            let doc_freq = u32::try_from(docs.len()).map_err(io::Error::other)?;
            append_lists(docs, &mut postings, &mut positions)?;
            infos.push(TermInfo {
                doc_freq,
                postings_range: start..postings.len(),
                positions_range: start_of_positions..positions.len(),
            });
        }
        let first_position = header.len() + postings.len();
        let mut terms = TermDictionaryBuilder::create(Vec::new())?;
        for (places, mut info) in words.iter().zip(infos) {
            info.positions_range = first_position + info.positions_range.start
                ..first_position + info.positions_range.end;
            let word = places.first().map_or(&[][..], |place| self.word(*place));
            terms.insert(word, &info)?;
        }
        Ok((terms.finish()?, [header, postings, positions].concat()))
    }
}
