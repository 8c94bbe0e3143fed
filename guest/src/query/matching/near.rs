//! Words that are adjacent or near each other, with scores or a slop.
//!
//! A word's position in a document, minus its position in the phrase, is where the phrase would begin if that word were
//! in place. The phrase matches if the begins according to its words are within `slop` of each other (Lucene's sloppy
//! phrase). tantivy compares more than two words in pairs, ordered by frequency, and finds too many and too few.

use canter_matching::{NO_DOC, Occurrences};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::query::{Bm25Weight, EmptyScorer, EnableScoring, Explanation, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, Searcher, SegmentReader, TERMINATED, TantivyError, Term};

use super::file::PostingFiles;
use super::term_infos::TermInfos;

/// Finds documents in which several words are near each other.
pub(super) struct NearWeight {
    terms: Vec<(usize, Term)>,
    slop: u32,
    searcher: Searcher,
    scores: Option<Bm25Weight>,
}

impl NearWeight {
    /// `terms` belong to one field, each with its position in the phrase.
    pub(super) fn new(
        terms: &[(usize, Term)],
        slop: u32,
        scoring: EnableScoring<'_>,
    ) -> tantivy::Result<Self> {
        let scores = match scoring {
            EnableScoring::Enabled {
                statistics_provider,
                ..
            } => {
                let plain: Vec<Term> = terms.iter().map(|(_, term)| term.clone()).collect();
                Some(Bm25Weight::for_terms(statistics_provider, &plain)?)
            }
            EnableScoring::Disabled { .. } => None,
        };
        Ok(Self {
            terms: terms.to_vec(),
            slop,
            searcher: searcher_of(scoring)?,
            scores,
        })
    }

    fn near(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Option<Near>> {
        let places = self.terms.iter().map(|(place, _)| *place);
        let terms = TermInfos::default();
        let mut files = PostingFiles::new(&self.searcher, &terms);
        let Some(words) = Words::open(&self.terms, places.max().unwrap_or(0), &mut files)? else {
            return Ok(None);
        };
        let lengths = match (&self.scores, self.terms.first()) {
            (Some(_), Some((_, term))) => reader.fieldnorms_readers().get_field(term.field())?,
            _ => None,
        };
        let scores = self.scores.as_ref().map(|scores| scores.boost_by(boost));
        let mut near = Near {
            words,
            slop: self.slop,
            doc: 0,
            num_found: 0,
            scores,
            lengths: lengths.unwrap_or_else(|| FieldNormReader::constant(reader.max_doc(), 1)),
        };
        near.go_on();
        Ok(Some(near))
    }
}

/// Returns the searcher of the split.
pub(super) fn searcher_of(scoring: EnableScoring<'_>) -> tantivy::Result<Searcher> {
    let searcher = scoring.searcher().cloned();
    searcher.ok_or_else(|| TantivyError::InternalError("a phrase without a split".to_owned()))
}

impl Weight for NearWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(match self.near(reader, boost)? {
            Some(near) => Box::new(near),
            None => Box::new(EmptyScorer),
        })
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Err(TantivyError::InvalidArgument(
            "scores of phrases are not explained".to_owned(),
        ))
    }
}

struct Word {
    occurrences: Occurrences,
    /// Number of positions of the phrase after the word.
    behind: u32,
    /// Ends of the phrase in this document, one for each occurrence of the word.
    ends: Vec<u32>,
}

/// The words of a phrase, which advance together over the documents that have all of them.
pub(super) struct Words(Vec<Word>);

impl Words {
    /// `terms` belong to one field, each with its position in a phrase that ends at position `last`. `None` if one of
    /// them has no document.
    pub(super) fn open(
        terms: &[(usize, Term)],
        last: usize,
        files: &mut PostingFiles<'_>,
    ) -> tantivy::Result<Option<Self>> {
        let mut words = Vec::with_capacity(terms.len());
        for (place, term) in terms {
            let Some(occurrences) = files.occurrences(term)? else {
                return Ok(None);
            };
            words.push(Word {
                occurrences,
                behind: u32::try_from(last.saturating_sub(*place)).unwrap_or(u32::MAX),
                ends: Vec::new(),
            });
        }
        // The rarest word leads the others.
        words.sort_by_key(|word| word.occurrences.num_docs());
        Ok(Some(Self(words)))
    }

    /// Moves to the first document from the first word's on that has all words.
    pub(super) fn aligned(&mut self) -> DocId {
        let Some(mut doc) = self.0.first().map(|first| first.occurrences.doc()) else {
            return TERMINATED;
        };
        let (mut at, mut num_same) = (0, 0);
        while doc != NO_DOC && num_same < self.0.len() {
            let Some(word) = self.0.get_mut(at) else {
                return TERMINATED;
            };
            let here = word.occurrences.seek(doc);
            num_same = if here == doc { num_same + 1 } else { 1 };
            doc = here;
            at = (at + 1) % self.0.len();
        }
        doc.min(TERMINATED)
    }

    /// Returns the ends of the phrase in the current document, for each word.
    pub(super) fn ends(&mut self) -> Vec<&[u32]> {
        self.read_ends();
        self.0.iter().map(|word| word.ends.as_slice()).collect()
    }

    fn read_ends(&mut self) {
        for word in &mut self.0 {
            word.occurrences.positions(word.behind, &mut word.ends);
        }
    }

    /// Returns the number of occurrences of the phrase in the current document.
    fn count(&mut self, slop: u32) -> u32 {
        self.read_ends();
        match (slop, self.0.as_slice()) {
            (0, [first, others @ ..]) => {
                let has = |word: &Word, end: &u32| word.ends.binary_search(end).is_ok();
                let is_end = |end: &&u32| others.iter().all(|word| has(word, end));
                u32::try_from(first.ends.iter().filter(is_end).count()).unwrap_or(u32::MAX)
            }
            (_, [one, other]) => count_pairs(&one.ends, &other.ends, slop),
            _ => count_near(&self.ends(), slop),
        }
    }

    /// Advances the first word past the current document.
    pub(super) fn advance(&mut self) {
        if let Some(first) = self.0.first_mut() {
            first.occurrences.advance();
        }
    }

    /// Moves the first word to a document or past it.
    fn seek(&mut self, target: DocId) {
        if let Some(first) = self.0.first_mut() {
            first.occurrences.seek(target);
        }
    }
}

/// Iterator over the matching documents.
struct Near {
    words: Words,
    slop: u32,
    doc: DocId,
    /// Number of occurrences in this document.
    num_found: u32,
    scores: Option<Bm25Weight>,
    lengths: FieldNormReader,
}

impl Near {
    /// Moves to the first match from the first word's document on.
    fn go_on(&mut self) {
        loop {
            self.doc = self.words.aligned();
            if self.doc == TERMINATED {
                return;
            }
            self.num_found = self.words.count(self.slop);
            if self.num_found > 0 {
                return;
            }
            self.words.advance();
        }
    }
}

/// Counts the pairs of two words within `slop` of each other, each occurrence once: as tantivy counts them, because
/// scores depend on it. `rarer` is the word with fewer documents.
fn count_pairs(mut rarer: &[u32], mut other: &[u32], slop: u32) -> u32 {
    let mut num = 0;
    while let ([one, behind_one @ ..], [there, behind_there @ ..]) = (rarer, other) {
        if one.abs_diff(*there) > slop {
            match one < there {
                true => rarer = behind_one,
                false => other = behind_there,
            }
            continue;
        }
        num += 1;
        // Paired with the last one that is not after it.
        let num_before = behind_one.iter().take_while(|next| *next <= there).count();
        rarer = behind_one.get(num_before..).unwrap_or_default();
        other = behind_there;
    }
    num
}

/// Counts the values, in any of several ascending lists, for which each list has a value that is equal or at most
/// `slop` larger.
pub(in crate::query) fn count_near(lists: &[&[u32]], slop: u32) -> u32 {
    let mut rest: Vec<&[u32]> = lists.to_vec();
    let mut num = 0;
    loop {
        let (mut least, mut most) = (u32::MAX, 0);
        for list in &rest {
            let Some(first) = list.first() else {
                return num;
            };
            least = least.min(*first);
            most = most.max(*first);
        }
        if rest.is_empty() {
            return num;
        }
        num += u32::from(most - least <= slop);
        for list in &mut rest {
            while let [first, behind @ ..] = *list
                && *first == least
            {
                *list = behind;
            }
        }
    }
}

impl DocSet for Near {
    fn advance(&mut self) -> DocId {
        if self.doc != TERMINATED {
            self.words.advance();
            self.go_on();
        }
        self.doc
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.doc < target {
            self.words.seek(target);
            self.go_on();
        }
        self.doc
    }

    fn doc(&self) -> DocId {
        self.doc
    }

    fn size_hint(&self) -> u32 {
        let sizes = self.words.0.iter().map(|word| word.occurrences.num_docs());
        sizes.min().unwrap_or(0)
    }
}

impl Scorer for Near {
    fn score(&mut self) -> Score {
        match &self.scores {
            Some(scores) => scores.score(self.lengths.fieldnorm_id(self.doc), self.num_found),
            None => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{count_near, count_pairs};

    /// Counts that determine scores, by hand.
    #[test]
    fn each_of_two_words_is_counted_once() {
        let count = |rarer: &[u32], other: &[u32], slop| count_pairs(rarer, other, slop);
        assert_eq!(count(&[], &[1], 9), 0);
        assert_eq!(count(&[5], &[5], 0), 1);
        assert_eq!(count(&[5], &[3, 7], 1), 0);
        assert_eq!(count(&[5], &[3, 7], 2), 1, "only one has it");
        assert_eq!(count(&[3, 7], &[4, 8], 1), 2);
        assert_eq!(
            count(&[1, 2], &[2, 3], 1),
            1,
            "the nearest before it, and the others are passed"
        );
        assert_eq!(count(&[1, 9], &[2, 30, 31], 20), 1);
    }

    proptest! {
        #[test]
        fn two_words_are_near_if_any_of_each_are(
            lists in prop::array::uniform2(prop::collection::btree_set(0u32..40, 0..8)),
            slop in 0u32..8,
        ) {
            let [one, other] = lists.map(|set| set.into_iter().collect::<Vec<u32>>());
            let is_near = one.iter().any(|at| other.iter().any(|there| at.abs_diff(*there) <= slop));
            let num = count_pairs(&one, &other, slop);
            prop_assert_eq!(num > 0, is_near);
            prop_assert!(num as usize <= one.len().min(other.len()));
            prop_assert_eq!(count_near(&[&one, &other], slop) > 0, is_near);
        }

        #[test]
        fn words_are_near_if_some_of_each_lie_within_the_slop(
            lists in prop::collection::vec(prop::collection::btree_set(0u32..20, 0..5), 1..5),
            slop in 0u32..8,
        ) {
            let lists: Vec<Vec<u32>> = lists.into_iter().map(|set| set.into_iter().collect()).collect();
            // Every choice of one value per list.
            let mut ranges: Vec<(u32, u32)> = vec![(u32::MAX, 0)];
            for list in &lists {
                ranges = ranges
                    .iter()
                    .flat_map(|(least, most)| list.iter().map(|at| (*least.min(at), *most.max(at))))
                    .collect();
            }
            let is_near = ranges.iter().any(|(least, most)| most - least <= slop);
            let slices: Vec<&[u32]> = lists.iter().map(Vec::as_slice).collect();
            prop_assert_eq!(count_near(&slices, slop) > 0, is_near);
        }
    }
}
