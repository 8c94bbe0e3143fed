//! Documents of many lists at once: a bit for each of a split's.

use crate::NO_DOC;
use crate::bits::Bits;
use crate::kernels;
use crate::list::PostingList;

/// The documents of any of many lists. With each of so many, a window would have to be asked again and again.
pub struct Union {
    words: Vec<u64>,
    estimate: u32,
}

impl Union {
    /// None of so many documents.
    pub fn new(num_docs: u32) -> Self {
        Self {
            words: vec![0; (num_docs as usize).div_ceil(64)],
            estimate: 0,
        }
    }

    /// Adds all of a list, from where it stands on.
    pub fn add(&mut self, list: &mut PostingList) {
        self.estimate = self.estimate.saturating_add(list.num_docs());
        while !list.is_at_end() {
            kernels::mark_more(list.docs(), &mut self.words);
            list.next_block();
        }
    }

    pub(crate) fn estimate(&self) -> u32 {
        self.estimate
    }

    /// No document from `doc` on that is before the one returned is in it.
    pub(crate) fn next(&self, doc: u32) -> u32 {
        let words = self.words.get((doc / 64) as usize..).unwrap_or_default();
        let mut words = (doc / 64 * 64..).step_by(64).zip(words);
        let next = words.find(|(_, word)| **word != 0);
        next.map_or(NO_DOC, |(first, _)| first.max(doc))
    }

    /// As [`PostingList::find`].
    pub(crate) fn find(&self, first: u32, found: &mut Bits) {
        let words = self.words.get((first / 64) as usize..);
        found.set_words(words.unwrap_or_default());
    }
}
