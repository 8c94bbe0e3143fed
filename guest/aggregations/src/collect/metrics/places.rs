//! Metrics of places: the box around them, and their center.

use super::{arrange, grow};
use crate::Result;
use crate::collect::block::{Block, Docs};
use crate::collect::budget::{Budget, Taken};
use crate::collect::field::Field;
use crate::collect::{Collect, Places};
use crate::partial::{Merge, Metric, Metrics, Node, PlaceBounds, PlaceSum};

/// State of one bucket, to which places are added by their codes.
pub(in crate::collect) trait PlaceState: Merge + Clone {
    fn add(&mut self, code: u64);

    fn wrap(states: Vec<Self>) -> Metrics;
}

impl PlaceState for PlaceBounds {
    fn add(&mut self, code: u64) {
        Self::add(self, code);
    }

    fn wrap(states: Vec<Self>) -> Metrics {
        Metrics::PlaceBounds(states)
    }
}

impl PlaceState for PlaceSum {
    fn add(&mut self, code: u64) {
        Self::add(self, code);
    }

    fn wrap(states: Vec<Self>) -> Metrics {
        Metrics::PlaceSums(states)
    }
}

/// Metric of a field of places.
pub(in crate::collect) struct OfPlaces<S> {
    field: Field,
    states: Vec<S>,
    taken: Taken,
}

impl<S> OfPlaces<S> {
    pub(in crate::collect) fn new(field: Field) -> Self {
        Self {
            field,
            states: Vec::new(),
            taken: Taken::default(),
        }
    }
}

impl<S: PlaceState> Collect for OfPlaces<S> {
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()> {
        grow(&mut self.states, block.groups, &mut self.taken, budget)?;
        let mut codes = Vec::new();
        for column in &self.field.columns {
            for (doc, group) in block.pairs() {
                let rows = column.index.value_row_ids(doc);
                column.codes(Docs::Range(rows.start, rows.end), &mut codes)?;
                if let Some(state) = self.states.get_mut(group as usize) {
                    codes.iter().for_each(|code| state.add(*code));
                }
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, places: Places<'_>, _: &Budget) -> Result<Node> {
        Ok(Node::Metric(Metric {
            is_date: false,
            states: S::wrap(arrange(self.states, places)),
        }))
    }
}
