//! The file of posting lists and positions, which tantivy's readers keep to themselves.

use std::path::PathBuf;

use tantivy::directory::{CompositeFile, FileSlice};
use tantivy::schema::Field;
use tantivy::{Directory as _, HasLen as _, Searcher};

/// What tantivy calls a segment's posting lists, and their positions: in a split, both are one file.
pub(crate) const POSTINGS: &str = "idx";
pub(crate) const POSITIONS: &str = "pos";

/// What a list says of its term.
#[derive(Clone, Copy)]
pub(crate) enum ListKind {
    /// Which documents have it, and how often.
    Postings,
    /// Where in them it stands.
    Positions,
}

impl ListKind {
    /// How much of a field's lists stands before the place from which they are counted: before postings the number of its
    /// words.
    fn header_len(self) -> usize {
        match self {
            Self::Postings => 8,
            Self::Positions => 0,
        }
    }
}

/// The lists of a split's one segment, opened when they are first asked for.
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

    /// The lists of a field, in which the places that a dictionary says are counted from the beginning; `None` if it has
    /// none.
    ///
    /// # Errors
    /// A read that missed; a file that is none.
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
