//! What goes through the collectors: documents, and the bucket that each of them is in.

use std::ops::Range;

/// Documents in ascending order. In a list, one may stand several times, in several buckets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Docs<'a> {
    /// From the first to before the second.
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

/// Iterates over [`Docs`].
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

/// The bucket of each document, as the ordinal that the collector around gave it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Groups<'a> {
    /// All are in this one.
    One(u32),
    /// As many as there are documents.
    Each(&'a [u32]),
}

impl Groups<'_> {
    /// The bucket of the document at a place in the block.
    pub(crate) fn at(self, place: usize) -> u32 {
        match self {
            Self::One(group) => group,
            Self::Each(groups) => groups.get(place).copied().unwrap_or_default(),
        }
    }
}

/// Some documents and their buckets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block<'a> {
    pub(crate) docs: Docs<'a>,
    pub(crate) groups: Groups<'a>,
}

impl<'a> Block<'a> {
    /// Documents that are all in one bucket.
    pub(crate) fn of_one(docs: Docs<'a>, group: u32) -> Self {
        Self {
            docs,
            groups: Groups::One(group),
        }
    }

    /// Documents with the bucket of each.
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
