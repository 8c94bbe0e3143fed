//! Input of collectors: documents and their buckets.

use std::ops::Range;

/// Documents in ascending order. A list may repeat a document that is in several buckets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Docs<'a> {
    /// Range from the first to before the second.
    Range(u32, u32),
    List(&'a [u32]),
}

impl Docs<'_> {
    pub(crate) fn len(self) -> usize {
        match self {
            Self::Range(first, end) => end.saturating_sub(first) as usize,
            Self::List(docs) => docs.len(),
        }
    }
}

impl Iterator for DocsIter<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        match self {
            Self::Range(range) => range.next(),
            Self::List(docs) => docs.next().copied(),
        }
    }
}

/// Iterator over [`Docs`].
pub(crate) enum DocsIter<'a> {
    Range(Range<u32>),
    List(std::slice::Iter<'a, u32>),
}

impl<'a> IntoIterator for Docs<'a> {
    type Item = u32;
    type IntoIter = DocsIter<'a>;

    fn into_iter(self) -> DocsIter<'a> {
        match self {
            Self::Range(first, end) => DocsIter::Range(first..end),
            Self::List(docs) => DocsIter::List(docs.iter()),
        }
    }
}

/// Bucket of each document, as the ordinal assigned by the parent collector.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Groups<'a> {
    /// All documents are in this bucket.
    One(u32),
    /// One bucket for each document.
    Each(&'a [u32]),
}

impl Groups<'_> {
    /// Returns the bucket of the document at a position in the block.
    pub(crate) fn at(self, place: usize) -> u32 {
        match self {
            Self::One(group) => group,
            Self::Each(groups) => groups.get(place).copied().unwrap_or_default(),
        }
    }
}

/// Documents and their buckets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    pub(crate) docs: Docs<'a>,
    pub(crate) groups: Groups<'a>,
}

impl<'a> Block<'a> {
    /// Creates a block of documents in one bucket.
    pub(crate) fn of_one(docs: Docs<'a>, group: u32) -> Self {
        Self {
            docs,
            groups: Groups::One(group),
        }
    }

    /// Creates a block of documents with a bucket for each.
    pub(crate) fn of_each(docs: Docs<'a>, groups: &'a [u32]) -> Self {
        Self {
            docs,
            groups: Groups::Each(groups),
        }
    }

    pub(crate) fn pairs(self) -> impl Iterator<Item = (u32, u32)> + 'a {
        self.docs
            .into_iter()
            .enumerate()
            .map(move |(place, doc)| (doc, self.groups.at(place)))
    }
}
