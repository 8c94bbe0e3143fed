//! Documents with adjacent words: first those that contain all words, then by their positions.

use crate::bits::Bits;
use crate::list::{PositionStarts, PostingList};
use crate::matcher::rarest_first;
use crate::positions::PositionList;

/// Adjacent words.
pub struct Phrase {
    /// Words, the rarest first.
    words: Vec<Word>,
    /// Candidate start positions in a document, and the positions of one word.
    possible: Vec<u32>,
    here: Vec<u32>,
}

/// Word of a phrase.
pub struct PhraseWord {
    /// Documents of the word.
    pub docs: PostingList,
    /// Positions of the word in these documents.
    pub positions: PositionList,
    /// Number of words that follow in the phrase, which aligns the positions of all words.
    pub behind: u32,
}

struct Word {
    docs: PostingList,
    /// Second cursor for look-ups of positions, some blocks behind.
    places: PostingList,
    positions: PositionList,
    behind: u32,
    starts: PositionStarts,
    /// Start and number of positions in each candidate document.
    found: Vec<(u64, u32)>,
}

impl Phrase {
    /// Creates a phrase of these words. Nothing matches without words, or if positions of a word
    /// are not recorded.
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

    /// Returns an upper bound for the number of documents.
    pub(crate) fn estimate(&self) -> u32 {
        self.words.first().map_or(0, |word| word.docs.num_docs())
    }

    /// Returns a document that no match from `doc` on precedes.
    pub(crate) fn next(&mut self, doc: u32) -> u32 {
        let rarest = self.words.first_mut();
        rarest.map_or(crate::NO_DOC, |word| word.docs.next_doc(doc))
    }

    /// Finds documents, as [`PostingList::find`].
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

    /// Returns whether the candidate document with this ordinal contains the words next to each
    /// other.
    #[inline(never)]
    fn is_in(&mut self, ord: usize) -> bool {
        let Some((first, others)) = self.words.split_first_mut() else {
            return false;
        };
        let Some((start, num)) = first.found.get(ord).copied() else {
            return false;
        };
        if num == 1 {
            // The usual case.
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
    /// Returns whether a document has the word at the position that the phrase requires.
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

/// Keeps the numbers that are also in `others`; both ascend.
fn intersect(numbers: &mut Vec<u32>, others: &[u32]) {
    let mut others = others;
    numbers.retain(|number| {
        let before = others.iter().take_while(|other| *other < number).count();
        others = others.get(before..).unwrap_or_default();
        others.first() == Some(number)
    });
}
