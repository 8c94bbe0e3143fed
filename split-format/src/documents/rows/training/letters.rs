//! Texts of a slot in letters, and what is learnt from them: which bytes, and which sequences of
//! bytes, are frequent. Sequences are found by joining the most frequent pairs, repeatedly.

use std::collections::BTreeMap;

use super::super::alphabet::{Alphabet, COST_OF_BIT};
use super::super::models::{BYTE, BytesModel, END, NUM_SYMBOLS_OF_LETTERS};
use super::super::writer::LetterCodes;
use super::sharing::{Budget, Observations};

/// Maximum number of bytes of texts that are learnt from.
const MAX_LEARNT_NUM_BYTES: usize = 24 << 10;

/// Maximum number of bytes of texts that models are compared with.
const MAX_COMPARED_NUM_BYTES: usize = 4 << 10;

/// Maximum number of symbols of a model.
const MAX_NUM_SYMBOLS: usize = 768;

/// Maximum length of a sequence.
const MAX_SEQUENCE_NUM_BYTES: usize = 24;

/// Number of pairs that are joined before pairs are counted again.
const NUM_JOINS_AT_ONCE: usize = 48;

/// Bits that a join is assumed to save each time.
const BITS_OF_JOIN: u64 = 3;

/// Approximate length of a symbol in a model, besides its bytes.
const NUM_BYTES_OF_SYMBOL: usize = 2;

/// Separates texts.
const SEPARATOR: u16 = u16::MAX;

/// Texts in letters, and how often each was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct LetterObservations {
    texts: BTreeMap<Vec<u8>, u64>,
}

impl LetterObservations {
    pub(super) fn add(&mut self, text: &[u8], count: u64) {
        match self.texts.get_mut(text) {
            Some(before) => *before += count,
            None => {
                self.texts.insert(text.to_vec(), count);
            }
        }
    }

    /// Returns all texts, or every n-th, so that they have about `max_num_bytes` together; and n.
    fn some(&self, max_num_bytes: usize) -> (impl Iterator<Item = (&Vec<u8>, u64)>, usize) {
        let num_bytes: usize = self.texts.keys().map(|text| text.len() + 1).sum();
        let step = num_bytes.div_ceil(max_num_bytes).max(1);
        let texts = self.texts.iter().step_by(step);
        (texts.map(|(text, count)| (text, *count)), step)
    }

    /// Returns bytes and sequences that are worth symbols.
    fn symbols(&self, budget: &Budget) -> Vec<Vec<u8>> {
        let mut strings: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| vec![byte]).collect();
        let mut text: Vec<u16> = Vec::new();
        for (bytes, _) in self.some(MAX_LEARNT_NUM_BYTES).0 {
            let bytes = bytes.get(..MAX_LEARNT_NUM_BYTES).unwrap_or(bytes);
            text.extend(bytes.iter().map(|byte| u16::from(*byte)));
            text.push(SEPARATOR);
        }
        while strings.len() < MAX_NUM_SYMBOLS {
            let joins = best_pairs(&text, &strings, budget);
            if joins.is_empty() {
                break;
            }
            // By the first symbol of each pair: the second, and what takes their place.
            let mut joined = vec![None; strings.len()];
            for (first, second) in joins {
                let both = [first, second].map(|symbol| strings.get(usize::from(symbol)));
                let both = both.into_iter().flatten().flatten().copied().collect();
                let symbol = u16::try_from(strings.len()).unwrap_or(SEPARATOR);
                strings.push(both);
                if let Some(joined) = joined.get_mut(usize::from(first)) {
                    *joined = Some((second, symbol));
                }
            }
            join(&mut text, &joined);
        }
        strings
    }

    /// Counts the symbols of the texts as they are encoded with a model.
    fn counts(&self, model: &BytesModel) -> Vec<u64> {
        let codes = LetterCodes::of(model);
        let mut counts = vec![0; model.alphabet.num_symbols()];
        for (text, count) in self.some(MAX_LEARNT_NUM_BYTES).0 {
            codes.for_each_symbol(model, text, |symbol, _| {
                if let Some(of_symbol) = counts.get_mut(symbol) {
                    *of_symbol += count;
                }
            });
        }
        counts
    }
}

/// Returns the most frequent pairs of which none has a symbol of another.
fn best_pairs(text: &[u16], strings: &[Vec<u8>], budget: &Budget) -> Vec<(u16, u16)> {
    let pairs = text.windows(2).filter_map(|pair| match pair {
        [first, second] if *first != SEPARATOR && *second != SEPARATOR => Some((*first, *second)),
        _ => None,
    });
    let mut pairs: Vec<(u16, u16)> = pairs.collect();
    pairs.sort_unstable();
    let runs = pairs.chunk_by(|pair, next| pair == next);
    let counts = runs.filter_map(|run| Some((*run.first()?, run.len() as u64)));
    let len = |symbol: u16| strings.get(usize::from(symbol)).map_or(0, Vec::len);
    let frequent = counts.filter(|((first, second), count)| {
        let num_bytes = len(*first) + len(*second);
        let saved = count * BITS_OF_JOIN * COST_OF_BIT;
        *count > 2
            && num_bytes <= MAX_SEQUENCE_NUM_BYTES
            && budget.is_worth(saved, num_bytes + NUM_BYTES_OF_SYMBOL)
    });
    let mut frequent: Vec<((u16, u16), u64)> = frequent.collect();
    frequent.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut used = vec![false; strings.len()];
    let mut chosen = Vec::new();
    for ((first, second), _) in frequent {
        let is_used = |symbol: u16| used.get(usize::from(symbol)).copied().unwrap_or(true);
        if is_used(first) || is_used(second) || chosen.len() == NUM_JOINS_AT_ONCE {
            continue;
        }
        for symbol in [first, second] {
            if let Some(used) = used.get_mut(usize::from(symbol)) {
                *used = true;
            }
        }
        chosen.push((first, second));
    }
    chosen
}

/// Puts symbols in the place of pairs, given by their first symbol.
fn join(text: &mut Vec<u16>, joined: &[Option<(u16, u16)>]) {
    let (mut kept, mut at) = (0, 0);
    while let Some(next) = text.get(at).copied() {
        let pair = joined.get(usize::from(next)).copied().flatten();
        let pair = pair.filter(|(second, _)| text.get(at + 1) == Some(second));
        if let Some(place) = text.get_mut(kept) {
            *place = pair.map_or(next, |(_, symbol)| symbol);
        }
        at += 1 + usize::from(pair.is_some());
        kept += 1;
    }
    text.truncate(kept);
}

/// Returns a model of the symbols that are used, each with its count.
fn model_of(mut symbols: Vec<(u64, Vec<u8>)>, num_ends: u64, num_bytes: u64) -> BytesModel {
    symbols.sort();
    let mut counts = vec![0; NUM_SYMBOLS_OF_LETTERS];
    for (symbol, count) in [(END, num_ends), (BYTE, num_bytes)] {
        if let Some(of_symbol) = counts.get_mut(symbol) {
            *of_symbol = count;
        }
    }
    counts.extend(symbols.iter().map(|(count, _)| *count));
    let strings: Vec<Vec<u8>> = symbols.into_iter().map(|(_, string)| string).collect();
    BytesModel::new(Alphabet::of_counts(&counts), &strings)
}

impl Observations for LetterObservations {
    type Model = BytesModel;
    type Codes = LetterCodes;

    fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    fn merge(&mut self, other: &Self) {
        other
            .texts
            .iter()
            .for_each(|(text, count)| self.add(text, *count));
    }

    fn learnt(&self, budget: &Budget) -> BytesModel {
        let all = model_of(
            self.symbols(budget)
                .into_iter()
                .map(|string| (1, string))
                .collect(),
            1,
            1,
        );
        let counts = self.counts(&all);
        let mut num_rare_bytes = counts.get(BYTE).copied().unwrap_or(0);
        let mut symbols = Vec::new();
        for nth in 0..all.num_strings() {
            let count = counts
                .get(nth + NUM_SYMBOLS_OF_LETTERS)
                .copied()
                .unwrap_or(0);
            let string = all.string(nth).unwrap_or_default();
            // Another byte costs its bits and the symbol that says so.
            let saved = count * u64::from(u8::BITS) * COST_OF_BIT;
            match string.len() == 1 && !budget.is_worth(saved, NUM_BYTES_OF_SYMBOL) {
                true => num_rare_bytes += count,
                false if count > 0 => symbols.push((count, string.to_vec())),
                false => {}
            }
        }
        let num_ends = counts.get(END).copied().unwrap_or(0);
        model_of(symbols, num_ends, num_rare_bytes)
    }

    fn fallback(all: &Self, budget: &Budget) -> BytesModel {
        all.learnt(budget)
    }

    fn codes(model: &BytesModel) -> LetterCodes {
        LetterCodes::of(model)
    }

    fn cost(&self, model: &BytesModel, codes: &LetterCodes) -> u64 {
        let mut cost = 0;
        let (texts, step) = self.some(MAX_COMPARED_NUM_BYTES);
        for (text, count) in texts {
            codes.for_each_symbol(model, text, |symbol, _| {
                cost += count * model.alphabet.cost(symbol);
                if symbol == BYTE {
                    cost += count * u64::from(u8::BITS) * COST_OF_BIT;
                }
            });
        }
        cost * step as u64
    }
}
