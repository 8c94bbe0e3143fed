//! The average of one field's values by the weights of another.

use super::{arrange, grow, number, number_of};
use crate::Result;
use crate::collect::block::{Block, Docs};
use crate::collect::budget::{Budget, Taken};
use crate::collect::field::Field;
use crate::collect::{Collect, Places};
use crate::key::Key;
use crate::numbers::{Number, WeightedAverage};
use crate::partial::{Metric, Metrics, Node};

/// The average of one field's values by the weights of another.
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
            // Every value has the weight of its document; one with several weights has none of them.
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

/// The numbers that a document has in a field, or what stands in for them.
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
