//! The file of posting lists and positions, which tantivy's readers do not expose.

use std::path::PathBuf;

use tantivy::directory::{CompositeFile, FileSlice};
use tantivy::schema::Field;
use tantivy::{Directory as _, HasLen as _, Searcher};

/// tantivy's names for a segment's posting lists and positions: in a split, both are one file.
pub(crate) const POSTINGS: &str = "idx";
pub(crate) const POSITIONS: &str = "pos";

/// Contents of a list.
#[derive(Clone, Copy)]
pub(crate) enum ListKind {
    /// The documents with the term, and its frequencies.
    Postings,
    /// The positions in these documents.
    Positions,
}

impl ListKind {
    /// Returns the length of the header of a field's lists, in bytes: before postings, the number of words of the
    /// field.
    fn header_len(self) -> usize {
        match self {
            Self::Postings => 8,
            Self::Positions => 0,
        }
    }
}

/// The lists of a split's only segment, opened on first use.
pub(crate) struct ListFiles<'s> {
    searcher: &'s Searcher,
    file: Option<CompositeFile>,
}

impl<'s> ListFiles<'s> {
    pub(crate) fn new(searcher: &'s Searcher) -> Self {
        Self {
            searcher,
            file: None,
        }
    }

    /// Returns the lists of a field, to which the positions in its dictionary are relative; `None` if it has none.
    ///
    /// # Errors
    /// A read that missed; a malformed file.
    pub(crate) fn of_field(
        &mut self,
        kind: ListKind,
        field: Field,
    ) -> tantivy::Result<Option<FileSlice>> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(opened(self.searcher)?),
        };
        let lists = file.open_read(field);
        let lists = lists.filter(|lists| lists.len() >= kind.header_len());
        Ok(lists.map(|lists| lists.slice_from(kind.header_len())))
    }
}

fn opened(searcher: &Searcher) -> tantivy::Result<CompositeFile> {
    let segment = searcher.segment_reader(0).segment_id();
    let path = format!("{}.{POSTINGS}", segment.uuid_string());
    let directory = searcher.index().directory();
    Ok(CompositeFile::open(
        &directory.open_read(&PathBuf::from(path))?,
    )?)
}
