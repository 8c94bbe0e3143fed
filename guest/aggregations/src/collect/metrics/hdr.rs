//! Histograms with a high dynamic range.

use super::{arrange, grow, number_of};
use crate::Result;
use crate::collect::block::Block;
use crate::collect::budget::{Budget, Taken};
use crate::collect::field::{Field, RowRoom, without_value};
use crate::collect::{Collect, Places};
use crate::key::Key;
use crate::numbers::HdrHistogram;
use crate::partial::{Metric, Metrics, Node};
use tantivy::columnar::ColumnType;

/// Histograms of one field.
pub(in crate::collect) struct Hdr {
    field: Field,
    missing: Option<f64>,
    digits: u8,
    states: Vec<HdrHistogram>,
    taken: Taken,
}

impl Hdr {
    pub(in crate::collect) fn new(field: Field, missing: Option<Key>, digits: u8) -> Self {
        let missing = missing.as_ref().and_then(number_of);
        Self {
            field,
            missing: missing.map(|number| number.to_f64()),
            digits,
            states: Vec::new(),
            taken: Taken::default(),
        }
    }
}

impl Collect for Hdr {
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()> {
        let Self {
            field,
            missing,
            digits,
            states,
            taken,
        } = self;
        grow(states, block.groups, taken, budget)?;
        let (mut room, mut codes) = (RowRoom::default(), Vec::new());
        for column in &field.columns {
            let rows = column.rows_alone(block, &mut room);
            column.codes(rows.rows, &mut codes)?;
            for (place, code) in codes.iter().enumerate() {
                if let Some(state) = states.get_mut(rows.groups.at(place) as usize) {
                    state.add(column.number(*code), 1, *digits);
                }
            }
        }
        if let Some(missing) = missing {
            let (mut docs, mut groups) = (Vec::new(), Vec::new());
            without_value(&field.columns, block, &mut docs, &mut groups);
            for group in groups {
                if let Some(state) = states.get_mut(group as usize) {
                    state.add(*missing, 1, *digits);
                }
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, places: Places<'_>, _: &Budget) -> Result<Node> {
        let mut columns = self.field.columns.iter();
        Ok(Node::Metric(Metric {
            is_date: columns.any(|column| column.column_type == ColumnType::DateTime),
            states: Metrics::Hdr(arrange(self.states, places)),
        }))
    }
}
