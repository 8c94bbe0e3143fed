//! Numbers of a slot, and what is learnt from them.

use std::collections::BTreeMap;

use super::super::alphabet::{Alphabet, COST_OF_BIT, logarithm};
use super::super::models::{
    CLASS_BITS, NumberModel, NumberSlot, NumberSymbol, OTHER_CLASS, Relation,
};
use super::super::writer::{NumberCodes, Told, class_of, told};
use super::sharing::{Budget, Observations};

/// Number of a slot, in a run of neighbours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Observed {
    pub(super) run: u32,
    /// `None` for what is no number.
    pub(super) number: Option<u64>,
}

/// How often each number was seen, as it is above base or predecessor.
#[derive(Clone, Debug, Default)]
pub(super) struct NumberObservations {
    counts: BTreeMap<u64, u64>,
    /// How often the number before was seen again.
    num_same: u64,
    num_others: u64,
}

/// Returns the base, the relation in which numbers are shortest, and the observations in this form.
pub(super) fn best(values: &[Observed], budget: &Budget) -> (u64, Relation, NumberObservations) {
    let numbers = values.iter().filter_map(|value| value.number);
    // A base takes bytes of the head for each slot, so that one that hardly shortens numbers is none.
    let (least, most) = numbers.fold((u64::MAX, 0), |(least, most), number| {
        (number.min(least), number.max(most))
    });
    let base = match class_of(most.saturating_sub(least)) < class_of(most) {
        true => least,
        false => 0,
    };
    let relations = [Relation::ToBase, Relation::ToLast, Relation::Repeating];
    let forms = relations.map(|relation| {
        let slot = NumberSlot {
            model: 0,
            base,
            relation,
            last: 0,
        };
        let mut seen = NumberObservations::default();
        let mut last: Option<(u32, u64)> = None;
        for value in values {
            let before = last.filter(|(run, _)| *run == value.run);
            let before = before.map(|(_, number)| number);
            match told(&slot, before, value.number) {
                Told::NoNumber => seen.num_others += 1,
                Told::Same => seen.num_same += 1,
                Told::Number(number) => *seen.counts.entry(number).or_default() += 1,
            }
            last = value.number.map(|number| (value.run, number)).or(last);
        }
        let model = seen.learnt(budget);
        let cost = seen.cost(&model, &NumberObservations::codes(&model));
        (cost, relation, seen)
    });
    // Of equal ones, the first.
    let best = forms.into_iter().min_by_key(|(cost, ..)| *cost);
    best.map_or_else(
        || (base, Relation::ToBase, NumberObservations::default()),
        |(_, relation, seen)| (base, relation, seen),
    )
}

impl NumberObservations {
    /// Returns how often numbers of each class were seen.
    fn classes(&self) -> BTreeMap<u32, u64> {
        let mut classes = BTreeMap::new();
        for (number, count) in &self.counts {
            *classes.entry(class_of(*number)).or_default() += count;
        }
        classes
    }

    /// Returns a model with symbols for these numbers and for all classes that are worth one.
    fn with_exact(&self, exact: &BTreeMap<u64, u64>, budget: &Budget) -> NumberModel {
        let mut classes = self.classes();
        for (number, count) in exact {
            if let Some(of_class) = classes.get_mut(&class_of(*number)) {
                *of_class -= count;
            }
        }
        let mut symbols: Vec<(u64, NumberSymbol)> = Vec::new();
        let mut num_other_classes = 0;
        for (class, count) in classes {
            let saved = count * u64::from(CLASS_BITS * 3) * COST_OF_BIT;
            match budget.is_worth(saved, NUM_BYTES_OF_CLASS) {
                true if count > 0 => symbols.push((count, NumberSymbol::Class(class))),
                _ => num_other_classes += count,
            }
        }
        let exact = exact.iter();
        symbols.extend(exact.map(|(number, count)| (*count, NumberSymbol::Exactly(*number))));
        symbols.sort_by_key(|(count, _)| *count);
        let mut counts = vec![self.num_others, num_other_classes, self.num_same];
        counts.extend(symbols.iter().map(|(count, _)| *count));
        NumberModel {
            alphabet: Alphabet::of_counts(&counts),
            symbols: symbols.into_iter().map(|(_, symbol)| symbol).collect(),
        }
    }
}

/// Approximate length of a class in a model.
const NUM_BYTES_OF_CLASS: usize = 3;

/// Approximate length of a number in a model, besides itself.
const NUM_BYTES_OF_EXACT: usize = 3;

/// Maximum number of symbols for numbers.
const MAX_NUM_EXACT: usize = 512;

impl Observations for NumberObservations {
    type Model = NumberModel;
    type Codes = NumberCodes;

    fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.num_others + self.num_same == 0
    }

    fn merge(&mut self, other: &Self) {
        self.num_others += other.num_others;
        self.num_same += other.num_same;
        for (number, count) in &other.counts {
            *self.counts.entry(*number).or_default() += count;
        }
    }

    fn learnt(&self, budget: &Budget) -> NumberModel {
        let classes = self.classes();
        let mut savings: Vec<(u64, u64, u64)> = Vec::new();
        for (number, count) in &self.counts {
            let class = class_of(*number);
            let of_class = classes.get(&class).copied().unwrap_or(0);
            // Within its class, the number costs all but the highest bit now.
            let bits = u64::from(class.saturating_sub(1)) * COST_OF_BIT;
            let share = logarithm(of_class).saturating_sub(logarithm(*count));
            let saved = count * bits.saturating_sub(share);
            let num_bytes = NUM_BYTES_OF_EXACT + class.div_ceil(7) as usize;
            if *count > 1 && budget.is_worth(saved, num_bytes) {
                savings.push((saved, *number, *count));
            }
        }
        savings.sort_by_key(|(saved, ..)| std::cmp::Reverse(*saved));
        savings.truncate(MAX_NUM_EXACT);
        let exact = savings
            .into_iter()
            .map(|(_, number, count)| (number, count));
        self.with_exact(&exact.collect(), budget)
    }

    fn fallback(all: &Self, budget: &Budget) -> NumberModel {
        all.with_exact(&BTreeMap::new(), budget)
    }

    fn codes(model: &NumberModel) -> NumberCodes {
        NumberCodes::of(model)
    }

    fn cost(&self, model: &NumberModel, codes: &NumberCodes) -> u64 {
        let cost = |told: Told| {
            let code = codes.code(told);
            let mut num_bits = code.num_bits();
            if code.symbol == OTHER_CLASS {
                num_bits += CLASS_BITS;
            }
            model.alphabet.cost(code.symbol) + u64::from(num_bits) * COST_OF_BIT
        };
        let numbers = self.counts.iter();
        let numbers = numbers.map(|(number, count)| count * cost(Told::Number(*number)));
        numbers.sum::<u64>()
            + self.num_others * cost(Told::NoNumber)
            + self.num_same * cost(Told::Same)
    }
}
