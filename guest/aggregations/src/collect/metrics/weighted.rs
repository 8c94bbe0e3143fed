//! Average of one field's values, weighted by another field.

use super::{arrange, grow, number, number_of};
use crate::Result;
use crate::collect::block::{Block, Docs};
use crate::collect::budget::{Budget, Taken};
use crate::collect::field::Field;
use crate::collect::{Collect, Places};
use crate::key::Key;
use crate::numbers::{Number, WeightedAverage};
use crate::partial::{Metric, Metrics, Node};

/// Average of one field's values, weighted by another field.
pub(in crate::collect) struct Weighted {
    pub(in crate::collect) value: (Field, Option<Key>),
    pub(in crate::collect) weight: (Field, Option<Key>),
    pub(in crate::collect) states: Vec<WeightedAverage>,
    pub(in crate::collect) taken: Taken,
}

impl Collect for Weighted {
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()> {
        grow(&mut self.states, block.groups, &mut self.taken, budget)?;
        let mut codes = Vec::new();
        for (doc, group) in block.pairs() {
            // All values of a document get its weight; a document with several weights is ignored.
            let values = numbers_of(&self.value, doc, &mut codes)?;
            let weights = numbers_of(&self.weight, doc, &mut codes)?;
            if let (Some(state), [weight]) =
                (self.states.get_mut(group as usize), weights.as_slice())
            {
                for value in values {
                    state.add_number(value, *weight);
                }
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, places: Places<'_>, _: &Budget) -> Result<Node> {
        Ok(Node::Metric(Metric {
            is_date: false,
            states: Metrics::WeightedAverages(arrange(self.states, places)),
        }))
    }
}

/// Returns the numbers of a document in a field, or the substitute for missing ones.
fn numbers_of(
    (field, missing): &(Field, Option<Key>),
    doc: u32,
    codes: &mut Vec<u64>,
) -> Result<Vec<Number>> {
    let mut numbers = Vec::new();
    for column in &field.columns {
        let rows = column.index.value_row_ids(doc);
        column.codes(Docs::Range(rows.start, rows.end), codes)?;
        numbers.extend(codes.iter().map(|code| number(column, *code)));
    }
    if numbers.is_empty() {
        numbers.extend(missing.as_ref().and_then(number_of));
    }
    Ok(numbers)
}
