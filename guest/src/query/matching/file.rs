//! Posting lists of terms, opened for matching documents.

use std::io;
use std::ops::Range;

use canter_matching::{Occurrences, PositionList, PostingList, Recorded};
use tantivy::directory::OwnedBytes;
use tantivy::postings::TermInfo;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{HasLen as _, Searcher, SegmentReader, Term};

use super::list_files::{ListFiles, ListKind};
use super::term_infos::TermInfos;

/// A segment whose terms are looked up.
pub(super) struct PostingFiles<'s> {
    pub(super) segment: &'s SegmentReader,
    terms: &'s TermInfos,
    lists: ListFiles<'s>,
}

impl<'s> PostingFiles<'s> {
    pub(super) fn new(searcher: &'s Searcher, terms: &'s TermInfos) -> Self {
        Self {
            segment: searcher.segment_reader(0),
            terms,
            lists: ListFiles::new(searcher),
        }
    }

    /// Looks up a term in its dictionary; `None` if it does not exist.
    ///
    /// # Errors
    /// A read that missed; damage.
    pub(super) fn info(&self, term: &Term) -> tantivy::Result<Option<TermInfo>> {
        self.terms.get(self.segment, term)
    }

    /// Opens the documents of a term, whose bytes must be resident; `None` without any.
    ///
    /// # Errors
    /// A read that missed; damage.
    pub(super) fn docs(&mut self, term: &Term) -> tantivy::Result<Option<PostingList>> {
        match self.terms.get(self.segment, term)? {
            Some(info) => self.list(term.field(), &info).map(Some),
            None => Ok(None),
        }
    }

    /// Opens the documents of a term and its positions in them; `None` without any.
    ///
    /// # Errors
    /// A read that missed; damage.
    pub(super) fn docs_and_positions(
        &mut self,
        term: &Term,
    ) -> tantivy::Result<Option<(PostingList, PositionList)>> {
        match self.terms.get(self.segment, term)? {
            Some(info) => self.lists(term.field(), info).map(Some),
            None => Ok(None),
        }
    }

    /// Opens the occurrences of a term, one document after another.
    ///
    /// # Errors
    /// A read that missed; damage.
    pub(super) fn occurrences(&mut self, term: &Term) -> tantivy::Result<Option<Occurrences>> {
        let lists = self.docs_and_positions(term)?;
        Ok(lists.and_then(|(docs, positions)| Occurrences::new(docs, positions)))
    }

    /// Opens the occurrences of a term whose lists the dictionary has located.
    ///
    /// # Errors
    /// A read that missed; damage.
    pub(super) fn occurrences_at(
        &mut self,
        field: Field,
        info: TermInfo,
    ) -> tantivy::Result<Option<Occurrences>> {
        let (docs, positions) = self.lists(field, info)?;
        Ok(Occurrences::new(docs, positions))
    }

    fn lists(
        &mut self,
        field: Field,
        info: TermInfo,
    ) -> tantivy::Result<(PostingList, PositionList)> {
        let docs = self.list(field, &info)?;
        let bytes = self.read(ListKind::Positions, field, info.positions_range)?;
        Ok((docs, PositionList::open(bytes)?))
    }

    fn list(&mut self, field: Field, info: &TermInfo) -> tantivy::Result<PostingList> {
        let entry = self.segment.schema().get_field_entry(field);
        let recorded = match entry.field_type().get_index_record_option() {
            Some(IndexRecordOption::WithFreqsAndPositions) => Recorded::Positions,
            Some(IndexRecordOption::WithFreqs) => Recorded::Frequencies,
            Some(IndexRecordOption::Basic) | None => Recorded::Documents,
        };
        let bytes = self.read(ListKind::Postings, field, info.postings_range.clone())?;
        Ok(PostingList::open(info.doc_freq, bytes, recorded)?)
    }

    fn read(
        &mut self,
        kind: ListKind,
        field: Field,
        range: Range<usize>,
    ) -> tantivy::Result<OwnedBytes> {
        let damaged = || {
            let message = "a posting list lies outside its field's";
            io::Error::new(io::ErrorKind::InvalidData, message)
        };
        let lists = self.lists.of_field(kind, field)?.ok_or_else(damaged)?;
        if range.start > range.end || range.end > lists.len() {
            return Err(damaged().into());
        }
        Ok(lists.read_bytes_slice(range)?)
    }
}
