//! Strings of a slot, and what is learnt from them.

use std::collections::BTreeMap;

use super::super::alphabet::{Alphabet, COST_OF_BIT, logarithm};
use super::super::models::{BytesModel, IN_LETTERS, SAME_STRING};
use super::super::writer::StringCodes;
use super::letters::LetterObservations;
use super::sharing::{Budget, Observations};

/// Assumed bits of a letter before there are models of letters.
const BITS_OF_LETTER: u64 = 5;

/// Approximate length of a string in a model, besides itself.
const NUM_BYTES_OF_STRING: usize = 3;

/// Maximum number of strings of a model.
const MAX_NUM_STRINGS: usize = 1_024;

/// How often each string was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct StringObservations {
    counts: BTreeMap<Vec<u8>, u64>,
    /// How often the string before was seen again, and is not counted otherwise.
    num_same: u64,
}

/// Returns what a string is assumed to cost in letters.
fn cost_in_letters(string: &[u8]) -> u64 {
    (string.len() as u64 + 1) * BITS_OF_LETTER * COST_OF_BIT
}

impl StringObservations {
    /// Notes the string before again.
    pub(super) fn add_same(&mut self) {
        self.num_same += 1;
    }

    pub(super) fn add(&mut self, string: &[u8]) {
        match self.counts.get_mut(string) {
            Some(count) => *count += 1,
            None => {
                self.counts.insert(string.to_vec(), 1);
            }
        }
    }

    /// Returns the strings that a model does not have.
    pub(super) fn letters_beside(&self, model: &BytesModel) -> LetterObservations {
        let codes = StringCodes::of(model);
        let mut letters = LetterObservations::default();
        for (string, count) in &self.counts {
            if codes.symbol_of(string) == IN_LETTERS {
                letters.add(string, *count);
            }
        }
        letters
    }
}

impl Observations for StringObservations {
    type Model = BytesModel;
    type Codes = StringCodes;

    fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.num_same == 0
    }

    fn merge(&mut self, other: &Self) {
        self.num_same += other.num_same;
        for (string, count) in &other.counts {
            *self.counts.entry(string.clone()).or_default() += count;
        }
    }

    fn learnt(&self, budget: &Budget) -> BytesModel {
        let num_seen: u64 = self.counts.values().sum();
        let sum = num_seen + self.num_same;
        let mut chosen: Vec<(u64, &Vec<u8>, u64)> = Vec::new();
        for (string, count) in &self.counts {
            let share = logarithm(sum).saturating_sub(logarithm(*count));
            let saved = count * cost_in_letters(string).saturating_sub(share);
            let num_bytes = NUM_BYTES_OF_STRING + string.len();
            if *count > 1 && budget.is_worth(saved, num_bytes) {
                chosen.push((saved, string, *count));
            }
        }
        chosen.sort_by_key(|(saved, ..)| std::cmp::Reverse(*saved));
        chosen.truncate(MAX_NUM_STRINGS);
        chosen.sort_by_key(|(_, _, count)| *count);
        let num_chosen: u64 = chosen.iter().map(|(_, _, count)| count).sum();
        let mut counts = vec![num_seen - num_chosen, self.num_same];
        counts.extend(chosen.iter().map(|(_, _, count)| *count));
        let strings: Vec<Vec<u8>> = chosen
            .into_iter()
            .map(|(_, string, _)| string.clone())
            .collect();
        BytesModel::new(Alphabet::of_counts(&counts), &strings)
    }

    /// All strings are in letters, which costs nothing to say.
    fn fallback(_: &Self, _: &Budget) -> BytesModel {
        BytesModel::new(Alphabet::of_counts(&[1, 0]), &[])
    }

    fn codes(model: &BytesModel) -> StringCodes {
        StringCodes::of(model)
    }

    fn cost(&self, model: &BytesModel, codes: &StringCodes) -> u64 {
        let cost = |string: &[u8]| match codes.symbol_of(string) {
            IN_LETTERS => model.alphabet.cost(IN_LETTERS) + cost_in_letters(string),
            symbol => model.alphabet.cost(symbol),
        };
        let strings = self.counts.iter();
        let strings = strings.map(|(string, count)| count * cost(string));
        strings.sum::<u64>() + self.num_same * model.alphabet.cost(SAME_STRING)
    }
}
