//! A query as a tree of parts, each of which says of wanted documents whether they match.

use std::io;

use crate::NO_DOC;
use crate::bits::{Bits, WINDOW_LEN};
use crate::list::PostingList;
use crate::phrase::Phrase;

/// A part of a query that somebody else knows how to look up.
pub trait Part {
    /// How many documents match, more or less.
    fn estimate(&self) -> u32;

    /// No document from `doc` on that is before the one returned matches.
    fn next(&mut self, doc: u32) -> u32;

    /// Sets the bits of the wanted documents that match, of a window that begins with `first`. What it says of others
    /// means nothing. `first` is never less than before.
    ///
    /// # Errors
    /// Bytes that are not there, or are not what they should be.
    fn find(&mut self, first: u32, wanted: &Bits, found: &mut Bits) -> io::Result<()>;
}

/// What matches.
pub enum Matcher {
    /// No document.
    Nothing,
    /// Every one.
    Everything,
    /// Those with a term.
    Term(Box<PostingList>),
    /// Those with a phrase.
    Phrase(Box<Phrase>),
    /// Those that match all of some parts and none of others.
    All(Box<AllOf>),
    /// Those that match any part.
    Any(Vec<Matcher>),
    /// Anything else.
    Part(Box<dyn Part>),
}

/// Parts that must match, the rarest first, and others that must not.
pub struct AllOf {
    parts: Vec<Matcher>,
    excluded: Vec<Matcher>,
}

impl Matcher {
    /// What matches all of the first parts and none of the others.
    pub fn all(mut parts: Vec<Self>, mut excluded: Vec<Self>) -> Self {
        parts.retain(|part| !matches!(part, Self::Everything));
        excluded.retain(|part| !matches!(part, Self::Nothing));
        let is_nothing = parts.iter().any(|part| matches!(part, Self::Nothing))
            || excluded.iter().any(|part| matches!(part, Self::Everything));
        if is_nothing {
            return Self::Nothing;
        }
        if excluded.is_empty() && parts.len() < 2 {
            return parts.pop().unwrap_or(Self::Everything);
        }
        let parts = rarest_first(parts, Self::estimate);
        Self::All(Box::new(AllOf { parts, excluded }))
    }

    /// What matches any of these.
    pub fn any(mut parts: Vec<Self>) -> Self {
        if parts.iter().any(|part| matches!(part, Self::Everything)) {
            return Self::Everything;
        }
        parts.retain(|part| !matches!(part, Self::Nothing));
        if parts.len() < 2 {
            return parts.pop().unwrap_or(Self::Nothing);
        }
        Self::Any(parts)
    }

    fn estimate(&self) -> u32 {
        match self {
            Self::Nothing => 0,
            Self::Everything => NO_DOC,
            Self::Term(list) => list.num_docs(),
            Self::Phrase(phrase) => phrase.estimate(),
            Self::All(all) => all.parts.first().map_or(NO_DOC, Self::estimate),
            Self::Any(parts) => parts
                .iter()
                .fold(0, |sum, part| sum.saturating_add(part.estimate())),
            Self::Part(part) => part.estimate(),
        }
    }

    /// No document from `doc` on that is before the one returned matches.
    pub fn next(&mut self, doc: u32) -> u32 {
        match self {
            Self::Nothing => NO_DOC,
            Self::Everything => doc,
            Self::Term(list) => list.next_doc(doc),
            Self::Phrase(phrase) => phrase.next(doc),
            Self::All(all) => match all.parts.first_mut() {
                Some(rarest) => rarest.next(doc),
                None => doc,
            },
            Self::Any(parts) => {
                let nexts = parts.iter_mut().map(|part| part.next(doc));
                nexts.min().unwrap_or(NO_DOC)
            }
            Self::Part(part) => part.next(doc),
        }
    }

    /// Sets the bits of the wanted documents that match, of a window that begins with `first`. What it says of others
    /// means nothing. `first` is never less than before.
    ///
    /// # Errors
    /// What a [`Part`] says.
    pub fn find(&mut self, first: u32, wanted: &Bits, found: &mut Bits) -> io::Result<()> {
        match self {
            Self::Nothing => found.clear(),
            Self::Everything => *found = wanted.clone(),
            Self::Term(list) => list.find(first, wanted, found),
            Self::Phrase(phrase) => phrase.find(first, wanted, found),
            Self::All(all) => all.find(first, wanted, found)?,
            Self::Any(parts) => find_any(parts, first, wanted, found)?,
            Self::Part(part) => part.find(first, wanted, found)?,
        }
        Ok(())
    }

    /// The first window from `doc` on that may have matches: where it begins, on the border of a word. `None` if there
    /// is none that begins before `end`.
    pub fn next_window(&mut self, doc: u32, end: u32) -> Option<u32> {
        let next = self.next(doc);
        // Windows that would all but touch begin where others end, so that blocks of columns are read once.
        let first = match next.saturating_sub(doc) < WINDOW_LEN / 8 {
            true => doc,
            false => next,
        };
        (next < end).then_some(first / 64 * 64)
    }
}

impl AllOf {
    fn find(&mut self, first: u32, wanted: &Bits, found: &mut Bits) -> io::Result<()> {
        let mut parts = self.parts.iter_mut();
        match parts.next() {
            Some(rarest) => {
                rarest.find(first, wanted, found)?;
                if !found.intersect(wanted) {
                    return Ok(());
                }
            }
            None => *found = wanted.clone(),
        }
        let mut one = Bits::default();
        for part in parts {
            part.find(first, found, &mut one)?;
            if !found.intersect(&one) {
                return Ok(());
            }
        }
        for part in &mut self.excluded {
            part.find(first, found, &mut one)?;
            found.subtract(&one);
            if found.is_empty() {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Puts those first of which there are few. The library's sort would be longer than all else here.
pub(crate) fn rarest_first<T>(items: Vec<T>, estimate: impl Fn(&T) -> u32) -> Vec<T> {
    let mut sorted: Vec<(u32, T)> = Vec::with_capacity(items.len());
    for item in items {
        let num_docs = estimate(&item);
        let behind = sorted.partition_point(|(other, _)| *other <= num_docs);
        sorted.insert(behind, (num_docs, item));
    }
    sorted.into_iter().map(|(_, item)| item).collect()
}

fn find_any(parts: &mut [Matcher], first: u32, wanted: &Bits, found: &mut Bits) -> io::Result<()> {
    let mut one = Bits::default();
    let mut left = wanted.clone();
    found.clear();
    for part in parts {
        part.find(first, &left, &mut one)?;
        one.intersect(&left);
        found.unite(&one);
        left.subtract(&one);
    }
    Ok(())
}
