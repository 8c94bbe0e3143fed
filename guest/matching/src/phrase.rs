//! Documents that have several words beside each other: first those that have all of them, then their positions.

use crate::bits::Bits;
use crate::list::{PositionStarts, PostingList};
use crate::matcher::rarest_first;
use crate::positions::PositionList;

/// Words that stand beside each other.
pub struct Phrase {
    /// The rarest first.
    words: Vec<Word>,
    /// Positions where the phrase may begin in a document, and those of one word.
    possible: Vec<u32>,
    here: Vec<u32>,
}

/// One word of a phrase.
pub struct PhraseWord {
    /// Its documents.
    pub docs: PostingList,
    /// Where it is in them.
    pub positions: PositionList,
    /// How many words of the phrase come behind it: what makes the positions of all words one.
    pub behind: u32,
}

struct Word {
    docs: PostingList,
    /// The same, where positions are looked up: some blocks behind the other.
    places: PostingList,
    positions: PositionList,
    behind: u32,
    starts: PositionStarts,
    /// Of each document that may match: where its positions begin, and how many it has.
    found: Vec<(u64, u32)>,
}

impl Phrase {
    /// A phrase of these words. Without words, or if one's positions are not recorded, nothing is one.
    pub fn new(words: Vec<PhraseWord>) -> Self {
        let has_positions = words.iter().all(|word| word.docs.has_positions());
        let words = words.into_iter().filter(|_| has_positions);
        let words = words.map(|word| Word {
            places: word.docs.clone(),
            docs: word.docs,
            positions: word.positions,
            behind: word.behind,
            starts: PositionStarts::default(),
            found: Vec::new(),
        });
        Self {
            words: rarest_first(words.collect(), |word: &Word| word.docs.num_docs()),
            possible: Vec::new(),
            here: Vec::new(),
        }
    }

    /// More documents than have it.
    pub(crate) fn estimate(&self) -> u32 {
        self.words.first().map_or(0, |word| word.docs.num_docs())
    }

    /// No document from `doc` on that is before the one returned has it.
    pub(crate) fn next(&mut self, doc: u32) -> u32 {
        let rarest = self.words.first_mut();
        rarest.map_or(crate::NO_DOC, |word| word.docs.next_doc(doc))
    }

    /// As [`PostingList::find`].
    #[inline(never)]
    pub(crate) fn find(&mut self, first: u32, wanted: &Bits, found: &mut Bits) {
        let mut words = self.words.iter_mut();
        let Some(rarest) = words.next() else {
            found.clear();
            return;
        };
        rarest.docs.find(first, wanted, found);
        if !found.intersect(wanted) {
            return;
        }
        let mut with_word = Bits::default();
        for word in words {
            word.docs.find(first, found, &mut with_word);
            if !found.intersect(&with_word) {
                return;
            }
        }
        for word in &mut self.words {
            let places = &mut word.places;
            places.find_positions(first, found, &mut word.starts, &mut word.found);
        }
        let mut ord = 0;
        for word in found.0.iter_mut() {
            let mut left = *word;
            while left != 0 {
                if !self.is_in(ord) {
                    *word &= !(left & left.wrapping_neg());
                }
                ord += 1;
                left &= left.wrapping_sub(1);
            }
        }
    }

    /// Whether the document that so many others are before, of those that have all words, has them beside each other.
    #[inline(never)]
    fn is_in(&mut self, ord: usize) -> bool {
        let Some((first, others)) = self.words.split_first_mut() else {
            return false;
        };
        let Some((start, num)) = first.found.get(ord).copied() else {
            return false;
        };
        if num == 1 {
            // Nearly always.
            let begin = first.positions.difference(start).wrapping_add(first.behind);
            return others.iter_mut().all(|word| word.is_at(ord, begin));
        }
        first
            .positions
            .read(start, num, first.behind, &mut self.possible);
        for word in others {
            let Some((start, num)) = word.found.get(ord).copied() else {
                return false;
            };
            word.positions.read(start, num, word.behind, &mut self.here);
            intersect(&mut self.possible, &self.here);
            if self.possible.is_empty() {
                return false;
            }
        }
        !self.possible.is_empty()
    }
}

impl Word {
    /// Whether a document has the word where the phrase wants it.
    #[inline]
    fn is_at(&mut self, ord: usize, begin: u32) -> bool {
        let Some((start, num)) = self.found.get(ord).copied() else {
            return false;
        };
        let mut position = self.behind;
        for place in start..start.saturating_add(num.into()) {
            position = position.wrapping_add(self.positions.difference(place));
            if position >= begin {
                return position == begin;
            }
        }
        false
    }
}

/// Leaves those of ascending numbers that are among others, which ascend too.
fn intersect(numbers: &mut Vec<u32>, others: &[u32]) {
    let mut others = others;
    numbers.retain(|number| {
        let before = others.iter().take_while(|other| *other < number).count();
        others = others.get(before..).unwrap_or_default();
        others.first() == Some(number)
    });
}
