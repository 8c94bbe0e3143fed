//! The files of posting lists and positions, which tantivy's readers keep to themselves.

use std::path::PathBuf;

use tantivy::directory::{CompositeFile, FileSlice};
use tantivy::schema::Field;
use tantivy::{Directory as _, HasLen as _, Searcher};

/// What tantivy calls a segment's posting lists.
pub(crate) const POSTINGS: &str = "idx";
/// What it calls their positions, which stand in the same file of a split.
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
    /// The name of the file behind that of its segment.
    fn file_name(self) -> &'static str {
        match self {
            Self::Postings => POSTINGS,
            Self::Positions => POSITIONS,
        }
    }

    /// What stands before the lists of a field: before postings the number of its words.
    fn header_len(self) -> usize {
        match self {
            Self::Postings => 8,
            Self::Positions => 0,
        }
    }
}

/// The files of a split's one segment, opened when they are first asked for.
pub(crate) struct ListFiles<'s> {
    searcher: &'s Searcher,
    postings: Option<CompositeFile>,
    positions: Option<CompositeFile>,
}

impl<'s> ListFiles<'s> {
    pub(crate) fn new(searcher: &'s Searcher) -> Self {
        Self {
            searcher,
            postings: None,
            positions: None,
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
        let kept = match kind {
            ListKind::Postings => &mut self.postings,
            ListKind::Positions => &mut self.positions,
        };
        let file = match kept {
            Some(file) => file,
            None => kept.insert(opened(self.searcher, kind)?),
        };
        let lists = file.open_read(field);
        let lists = lists.filter(|lists| lists.len() >= kind.header_len());
        Ok(lists.map(|lists| lists.slice_from(kind.header_len())))
    }
}

fn opened(searcher: &Searcher, kind: ListKind) -> tantivy::Result<CompositeFile> {
    let segment = searcher.segment_reader(0).segment_id();
    let path = format!("{}.{}", segment.uuid_string(), kind.file_name());
    let directory = searcher.index().directory();
    Ok(CompositeFile::open(
        &directory.open_read(&PathBuf::from(path))?,
    )?)
}
