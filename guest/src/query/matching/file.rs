//! The bytes of posting lists and positions, which tantivy's readers keep to themselves.

use std::io;
use std::ops::Range;
use std::path::PathBuf;

use canter_matching::{PhraseWord, PositionList, PostingList, Recorded};
use tantivy::directory::{CompositeFile, FileSlice, OwnedBytes};
use tantivy::postings::TermInfo;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{Directory as _, HasLen as _, Searcher, SegmentReader, TantivyError, Term};

use super::term_infos::TermInfos;

/// A field's posting lists begin with the number of its words.
const HEADER_LEN: usize = 8;

/// The files of a segment in which terms are looked up, opened when they are first asked for.
pub(super) struct PostingFiles<'s> {
    searcher: &'s Searcher,
    pub(super) segment: &'s SegmentReader,
    terms: &'s TermInfos,
    postings: Option<CompositeFile>,
    positions: Option<CompositeFile>,
}

impl<'s> PostingFiles<'s> {
    pub(super) fn new(searcher: &'s Searcher, terms: &'s TermInfos) -> Self {
        Self {
            searcher,
            segment: searcher.segment_reader(0),
            terms,
            postings: None,
            positions: None,
        }
    }

    /// The documents of a term, whose bytes must be there; `None` without any.
    ///
    /// # Errors
    /// A read that missed; damage.
    pub(super) fn docs(&mut self, term: &Term) -> tantivy::Result<Option<PostingList>> {
        match self.terms.get(self.segment, term)? {
            Some(info) => self.list(term.field(), &info).map(Some),
            None => Ok(None),
        }
    }

    /// The documents of a term and where it is in them; `None` without any.
    ///
    /// # Errors
    /// A read that missed; damage.
    pub(super) fn docs_and_positions(
        &mut self,
        term: &Term,
        behind: u32,
    ) -> tantivy::Result<Option<PhraseWord>> {
        let Some(info) = self.terms.get(self.segment, term)? else {
            return Ok(None);
        };
        let docs = self.list(term.field(), &info)?;
        let (segment, searcher) = (self.segment, self.searcher);
        let file = opened(&mut self.positions, searcher, segment, "pos")?;
        let bytes = read(file, term.field(), info.positions_range)?;
        Ok(Some(PhraseWord {
            docs,
            positions: PositionList::open(bytes)?,
            behind,
        }))
    }

    fn list(&mut self, field: Field, info: &TermInfo) -> tantivy::Result<PostingList> {
        let entry = self.segment.schema().get_field_entry(field);
        let recorded = match entry.field_type().get_index_record_option() {
            Some(IndexRecordOption::WithFreqsAndPositions) => Recorded::Positions,
            Some(IndexRecordOption::WithFreqs) => Recorded::Frequencies,
            Some(IndexRecordOption::Basic) | None => Recorded::Documents,
        };
        let range = &info.postings_range;
        let range = range.start.saturating_add(HEADER_LEN)..range.end.saturating_add(HEADER_LEN);
        let (segment, searcher) = (self.segment, self.searcher);
        let file = opened(&mut self.postings, searcher, segment, "idx")?;
        let bytes = read(file, field, range)?;
        Ok(PostingList::open(info.doc_freq, bytes, recorded)?)
    }
}

fn opened<'f>(
    file: &'f mut Option<CompositeFile>,
    searcher: &Searcher,
    segment: &SegmentReader,
    name: &str,
) -> tantivy::Result<&'f CompositeFile> {
    if file.is_none() {
        let path = format!("{}.{name}", segment.segment_id().uuid_string());
        let bytes = searcher
            .index()
            .directory()
            .open_read(&PathBuf::from(path))?;
        *file = Some(CompositeFile::open(&bytes)?);
    }
    file.as_ref()
        .ok_or_else(|| TantivyError::InternalError("a file was opened and is not there".to_owned()))
}

fn read(file: &CompositeFile, field: Field, range: Range<usize>) -> tantivy::Result<OwnedBytes> {
    let damaged = || {
        let message = "a posting list lies outside its field's";
        io::Error::new(io::ErrorKind::InvalidData, message)
    };
    let lists: FileSlice = file.open_read(field).ok_or_else(damaged)?;
    if range.start > range.end || range.end > lists.len() {
        return Err(damaged().into());
    }
    Ok(lists.read_bytes_slice(range)?)
}
