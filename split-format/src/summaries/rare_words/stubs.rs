//! Stubs of one field in memory, by which the words of documents are recognised.

use super::block::{RareWord, check_of};
use crate::FormatError;
use crate::version::RARE_WORDS_NAME;

/// Rare words of a field as far as their stubs say, in ascending order.
#[derive(Clone, Debug, Default)]
pub struct RareStubs {
    bytes: Vec<u8>,
    docs: Vec<u32>,
    stubs: Vec<Stub>,
    check_width: u32,
}

#[derive(Clone, Debug)]
struct Stub {
    /// End of its bytes, and of its documents, among those of all stubs.
    end: usize,
    docs_end: usize,
    check: u64,
    is_whole: bool,
}

impl RareStubs {
    /// Appends a word of a block.
    ///
    /// # Errors
    /// Words of several blocks are not in order.
    pub fn push(&mut self, word: &RareWord<'_>) -> Result<(), FormatError> {
        let last = self.len().checked_sub(1).and_then(|last| self.stub(last));
        if last.is_some_and(|last| last >= word.stub) {
            let what = "its blocks are not in order";
            return Err(FormatError::new(RARE_WORDS_NAME, what));
        }
        self.bytes.extend_from_slice(word.stub);
        self.docs.extend_from_slice(word.docs);
        self.check_width = word.check_width;
        self.stubs.push(Stub {
            end: self.bytes.len(),
            docs_end: self.docs.len(),
            check: word.check,
            is_whole: word.is_whole,
        });
        Ok(())
    }

    /// Returns the number of words.
    pub fn len(&self) -> usize {
        self.stubs.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.stubs.is_empty()
    }

    /// Returns the stub of a word.
    pub fn stub(&self, ord: usize) -> Option<&[u8]> {
        let start = self.before(ord).map_or(0, |before| before.end);
        self.bytes.get(start..self.stubs.get(ord)?.end)
    }

    /// Returns whether a stub is all of its word.
    pub fn is_whole(&self, ord: usize) -> bool {
        self.stubs.get(ord).is_some_and(|stub| stub.is_whole)
    }

    /// Returns the documents that contain a word, ascending.
    pub fn docs(&self, ord: usize) -> &[u32] {
        let start = self.before(ord).map_or(0, |before| before.docs_end);
        let end = self.stubs.get(ord).map_or(start, |stub| stub.docs_end);
        self.docs.get(start..end).unwrap_or_default()
    }

    /// Returns the only word that may be `word`.
    pub fn find(&self, word: &[u8]) -> Option<usize> {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from.midpoint(to);
            match self.stub(middle).is_some_and(|stub| stub <= word) {
                true => from = middle + 1,
                false => to = middle,
            }
        }
        let ord = from.checked_sub(1)?;
        let (stub, facts) = (self.stub(ord)?, self.stubs.get(ord)?);
        let begins = match facts.is_whole {
            true => word == stub,
            false => word.starts_with(stub),
        };
        (begins && facts.check == check_of(word, self.check_width)).then_some(ord)
    }

    fn before(&self, ord: usize) -> Option<&Stub> {
        self.stubs.get(ord.checked_sub(1)?)
    }
}
