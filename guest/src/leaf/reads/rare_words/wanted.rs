//! What a query's needs ask of the rare words of a field.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use canter_split_format::{ByteClasses, RareWordsIndex, may_be_rare};
use tantivy::Term;

use super::reach::Rests;
use super::verdict::{Verdict, may_accept_between};
use crate::query::{Needs, TermAutomaton};

/// Ends of a range of words, and whether their positions are asked for.
type WordRange = (Bound<Vec<u8>>, Bound<Vec<u8>>, bool);

/// Words of one field that a query may mean.
#[derive(Default)]
pub(super) struct WantedWords {
    pub(super) terms: BTreeSet<Vec<u8>>,
    ranges: Vec<WordRange>,
    automata: Vec<(TermAutomaton, bool)>,
}

/// What is needed of the word of a stub.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Nothing,
    /// Its documents, which are known.
    Documents,
    /// The word itself, with its positions.
    Word,
}

impl WantedWords {
    /// Returns whether a query may mean rare words of any field.
    pub(super) fn may_be_of(needs: &Needs) -> bool {
        let has_digit = |term: &Term| may_be_rare(term.serialized_value_bytes());
        needs.has_patterns() || needs.terms.keys().any(has_digit)
    }

    /// Returns what a query needs, by the number of the field.
    pub(super) fn of(needs: &Needs, index: &RareWordsIndex) -> BTreeMap<u32, Self> {
        let fields = index.fields().map(|field| (field, Self::default()));
        let mut wanted = canter_sorting::map_of(fields);
        let bytes = |bound: &Bound<Term>| {
            let value = |term: &Term| term.serialized_value_bytes().to_vec();
            bound.as_ref().map(value)
        };
        for term in needs.terms.keys() {
            let value = term.serialized_value_bytes();
            if let Some(wanted) = wanted.get_mut(&term.field().field_id())
                && may_be_rare(value)
            {
                wanted.terms.insert(value.to_vec());
            }
        }
        for range in &needs.term_ranges {
            if let Some(wanted) = wanted.get_mut(&range.field.field_id()) {
                let (lower, upper) = (bytes(&range.lower), bytes(&range.upper));
                wanted.ranges.push((lower, upper, range.positions));
            }
        }
        for (field, automaton, positions) in &needs.automata {
            if let Some(wanted) = wanted.get_mut(&field.field_id()) {
                wanted.automata.push((automaton.clone(), *positions));
            }
        }
        wanted.retain(|_, wanted| !wanted.is_empty());
        wanted
    }

    pub(super) fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.ranges.is_empty() && self.automata.is_empty()
    }

    /// Returns the places of the blocks of a field that may have one of the words, ascending.
    pub(super) fn blocks(&self, field: u32, index: &RareWordsIndex) -> BTreeSet<usize> {
        let blocks = index.blocks_of(field);
        let place_of = |word: &[u8]| {
            let end = blocks.partition_point(|block| block.first() <= word);
            end.checked_sub(1)
        };
        let mut places: BTreeSet<usize> = BTreeSet::new();
        places.extend(self.terms.iter().filter_map(|term| place_of(term)));
        for (lower, upper, _) in &self.ranges {
            let (lower, upper) = (slice_of(lower), slice_of(upper));
            let within = index.blocks_within(field, (lower, upper));
            let start = within.first().map_or(0, |first| {
                blocks.partition_point(|block| block.first() < first.first())
            });
            places.extend(start..start + within.len());
        }
        for (automaton, _) in &self.automata {
            if let TermAutomaton::OneOf(terms) = automaton {
                places.extend(terms.iter().filter_map(place_of));
                continue;
            }
            let mut may_have: BTreeMap<ByteClasses, bool> = BTreeMap::new();
            let mut may_have = |words: ByteClasses| {
                let known = may_have.entry(words);
                *known.or_insert_with(|| Rests::may_accept(words, automaton))
            };
            let ends = blocks.iter().skip(1).map(|block| Some(block.first()));
            let ends = ends.chain([None]);
            let meant = (0..).zip(blocks.iter().zip(ends));
            let meant = meant
                .filter(|(_, (block, end))| may_accept_between(automaton, block.first(), *end))
                .filter(|(_, (block, _))| may_have(block.words));
            places.extend(meant.map(|(place, _)| place));
        }
        places
    }

    /// Returns what patterns and ranges need of the word of a stub, of which `rests` says how it may go on.
    pub(super) fn need_of(&self, stub: &[u8], is_whole: bool, rests: &mut Rests) -> Need {
        let ranges = self.ranges.iter().map(|(lower, upper, positions)| {
            let range = (slice_of(lower), slice_of(upper));
            (Verdict::of_range(range, stub, is_whole), *positions)
        });
        let automata = self.automata.iter().enumerate();
        let automata = automata.map(|(place, (automaton, positions))| {
            (rests.verdict(place, automaton, stub, is_whole), *positions)
        });
        let mut need = Need::Nothing;
        for (verdict, positions) in ranges.chain(automata) {
            match verdict {
                Verdict::None => {}
                Verdict::All if !positions => need = Need::Documents,
                Verdict::All | Verdict::Open => return Need::Word,
            }
        }
        need
    }
}

fn slice_of(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}
