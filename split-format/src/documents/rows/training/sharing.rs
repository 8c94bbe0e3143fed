//! Models that several slots share.

use super::super::models::Model;
use super::{COST_OF_BIT, HEAD_BYTE_PRICE};

/// What models may take, and what they must save.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    /// Documents of the split, and of the sample.
    num_docs: u64,
    num_sampled: u64,
    /// Bytes that models may still take.
    left: usize,
}

impl Budget {
    pub(super) fn new(num_docs: u64, num_sampled: u64, left: usize) -> Self {
        let num_sampled = num_sampled.max(1);
        Self {
            num_docs: num_docs.max(num_sampled),
            num_sampled,
            left,
        }
    }

    /// Returns whether it is worth `num_bytes` of the head to save a cost in the sample.
    pub(super) fn is_worth(&self, saved: u64, num_bytes: usize) -> bool {
        let saved = u128::from(saved) * u128::from(self.num_docs) / u128::from(self.num_sampled);
        saved > u128::from(num_bytes as u64 * HEAD_BYTE_PRICE * u64::from(u8::BITS) * COST_OF_BIT)
    }

    /// Returns whether models may take as many bytes more.
    fn take(&mut self, num_bytes: usize) -> bool {
        match self.left.checked_sub(num_bytes) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }
}

/// What a slot was seen to have.
pub(super) trait Observations: Default {
    type Model: Model;
    /// What a writer knows of a model.
    type Codes;

    fn is_empty(&self) -> bool;
    fn merge(&mut self, other: &Self);
    /// Returns the best model of the observations.
    fn learnt(&self, budget: &Budget) -> Self::Model;
    /// Returns a model for whatever comes, which takes few bytes.
    fn fallback(all: &Self, budget: &Budget) -> Self::Model;
    fn codes(model: &Self::Model) -> Self::Codes;
    /// Returns what the observations cost with a model.
    fn cost(&self, model: &Self::Model, codes: &Self::Codes) -> u64;
}

/// Minimum length of a model.
const MIN_NUM_BYTES: usize = 8;

/// Maximum number of models that are compared with each slot.
const MAX_NUM_MODELS: usize = 96;

/// Returns models, and the model of each slot. The first is for slots that are not worth another.
pub(super) fn shared<O: Observations>(
    slots: &[&O],
    budget: &mut Budget,
) -> (Vec<O::Model>, Vec<usize>) {
    let mut all = O::default();
    slots.iter().for_each(|slot| all.merge(slot));
    let first = O::fallback(&all, budget);
    let codes = O::codes(&first);
    let mut order: Vec<(usize, u64)> = (0..)
        .zip(slots)
        .filter(|(_, slot)| !slot.is_empty())
        .map(|(at, slot)| (at, slot.cost(&first, &codes)))
        .collect();
    // What costs most comes first; the sort is stable.
    order.sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
    let mut models = vec![(first, codes)];
    let mut model_of = vec![0; slots.len()];
    for (at, _) in order {
        let (Some(slot), Some(chosen)) = (slots.get(at), model_of.get_mut(at)) else {
            continue;
        };
        let costs = models.iter().map(|(model, codes)| slot.cost(model, codes));
        let (best, cost) = (0..)
            .zip(costs)
            .min_by_key(|(_, cost)| *cost)
            .unwrap_or((0, 0));
        *chosen = best;
        if models.len() < MAX_NUM_MODELS && budget.is_worth(cost, MIN_NUM_BYTES) {
            let own = slot.learnt(budget);
            let codes = O::codes(&own);
            let saved = cost.saturating_sub(slot.cost(&own, &codes));
            let num_bytes = own.num_bytes();
            if budget.is_worth(saved, num_bytes) && budget.take(num_bytes) {
                *chosen = models.len();
                models.push((own, codes));
            }
        }
    }
    // Each learns once more from all that use it.
    let mut of_models: Vec<(usize, O)> = models.iter().map(|_| (0, O::default())).collect();
    for (slot, model) in slots.iter().zip(&model_of) {
        if let Some((num_slots, of_model)) = of_models.get_mut(*model) {
            *num_slots += 1;
            of_model.merge(slot);
        }
    }
    let mut learnt = Vec::with_capacity(models.len());
    for (nth, ((model, _), (num_slots, of_model))) in models.into_iter().zip(of_models).enumerate()
    {
        learnt.push(match (nth, num_slots) {
            (0, _) => O::fallback(&of_model, budget),
            (_, 1) => model,
            _ => of_model.learnt(budget),
        });
    }
    (learnt, model_of)
}
