//! Query as a tree of parts, each of which matches wanted documents.

use std::io;

use crate::NO_DOC;
use crate::bits::{Bits, WINDOW_LEN};
use crate::list::PostingList;
use crate::phrase::Phrase;

/// Part of a query that another crate looks up.
pub trait Part {
    /// Returns the approximate number of matching documents.
    fn estimate(&self) -> u32;

    /// Returns a document that no match from `doc` on precedes.
    fn next(&mut self, doc: u32) -> u32;

    /// Sets the bits of the wanted documents that match, for a window that begins with `first`.
    /// Bits of other documents are arbitrary. `first` never decreases.
    ///
    /// # Errors
    /// Bytes are missing or damaged.
    fn find(&mut self, first: u32, wanted: &Bits, found: &mut Bits) -> io::Result<()>;
}

/// Matcher of documents.
pub enum Matcher {
    /// No document.
    Nothing,
    /// All documents.
    Everything,
    /// Documents with a term.
    Term(Box<PostingList>),
    /// Documents with a phrase.
    Phrase(Box<Phrase>),
    /// Documents that match all of some parts and none of others.
    All(Box<AllOf>),
    /// Documents that match any part.
    Any(Vec<Matcher>),
    /// Any other condition.
    Part(Box<dyn Part>),
}

/// Required parts, the rarest first, and excluded parts.
pub struct AllOf {
    parts: Vec<Matcher>,
    excluded: Vec<Matcher>,
}

impl Matcher {
    /// Creates a matcher for documents that match all `parts` and none of `excluded`.
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

    /// Creates a matcher for documents that match any of these parts.
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

    /// Returns a document that no match from `doc` on precedes.
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

    /// Sets the bits of the wanted documents that match, for a window that begins with `first`.
    /// Bits of other documents are arbitrary. `first` never decreases.
    ///
    /// # Errors
    /// An error of a [`Part`].
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

    /// Returns the start of the first window from `doc` on that may contain matches, at a word
    /// boundary; `None` if it would not begin before `end`.
    pub fn next_window(&mut self, doc: u32, end: u32) -> Option<u32> {
        let next = self.next(doc);
        // Windows that nearly touch begin where the previous one ends, so that blocks of columns
        // are read once.
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

/// Sorts rare items first. Instantiating the library's sort would outweigh the other code here.
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
