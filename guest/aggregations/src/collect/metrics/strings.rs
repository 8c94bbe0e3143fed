//! String statistics of each bucket. Each distinct text of a split is read once, however often it
//! occurs.

use std::collections::BTreeMap;

use super::grow;
use crate::Result;
use crate::collect::block::{Block, Docs, Groups};
use crate::collect::budget::{Budget, Taken};
use crate::collect::field::{Field, RowRoom, keep_once, without_value};
use crate::collect::mapping::Mapped;
use crate::collect::table::Table;
use crate::collect::{Collect, Places};
use crate::key::Key;
use crate::numbers::StringStats;
use crate::partial::{Metric, Metrics, Node};

/// String statistics of each bucket.
pub(in crate::collect) struct Strings {
    field: Field,
    missing: Option<String>,
    /// Counts of each text in each parent bucket.
    table: Table,
    /// Number of documents without a text, for each parent bucket.
    num_missing: Vec<u64>,
    taken: Taken,
    rows: RowRoom,
    codes: Vec<u64>,
    ords: Vec<u32>,
    docs: Vec<u32>,
    groups: Vec<u32>,
}

impl Strings {
    pub(in crate::collect) fn new(field: Field, missing: Option<Key>) -> Self {
        let num_codes = field.columns.iter().map(|column| column.values.num_raw());
        Self {
            table: Table::new(num_codes),
            missing: missing.map(|key| crate::respond::choice_text(&key).into_owned()),
            field,
            num_missing: Vec::new(),
            taken: Taken::default(),
            rows: RowRoom::default(),
            codes: Vec::new(),
            ords: Vec::new(),
            docs: Vec::new(),
            groups: Vec::new(),
        }
    }
}

impl Collect for Strings {
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()> {
        for (place, column) in self.field.columns.iter().enumerate() {
            let rows = column.rows(block, &mut self.rows);
            column.codes(rows.rows, &mut self.codes)?;
            column.values.to_raw(&mut self.codes);
            let (docs, groups) = match column.repeats_in_sets() {
                false => (rows.docs, rows.groups),
                true => {
                    keep_once(
                        rows,
                        &mut self.docs,
                        &mut self.groups,
                        &mut self.codes,
                        None,
                    );
                    (Docs::List(&self.docs), Groups::Each(&self.groups))
                }
            };
            let mapped = Mapped {
                docs,
                groups,
                codes: &self.codes,
            };
            self.table.ords(place, &mapped, &mut self.ords, budget)?;
            self.table.count(&self.ords);
        }
        if self.missing.is_some() {
            let Self {
                field,
                num_missing,
                taken,
                docs,
                groups,
                ..
            } = self;
            without_value(&field.columns, block, docs, groups);
            grow(num_missing, Groups::Each(groups), taken, budget)?;
            for group in groups.iter() {
                if let Some(num) = num_missing.get_mut(*group as usize) {
                    *num += 1;
                }
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>, places: Places<'_>, budget: &Budget) -> Result<Node> {
        let mut states: Vec<StringStats> = std::iter::repeat_with(StringStats::default)
            .take(places.len)
            .collect();
        let mut add = |group: u32, text: &str, count: u64| {
            let place = places.at(group);
            if let Some(state) = place.and_then(|place| states.get_mut(place as usize)) {
                state.add(text, count);
            }
        };
        for (group, num) in (0u32..).zip(&self.num_missing) {
            if let Some(text) = self.missing.as_ref().filter(|_| *num > 0) {
                add(group, text, *num);
            }
        }
        for (place, column) in self.field.columns.iter().enumerate() {
            let (min, gcd) = (column.values.raw_min(), column.values.raw_gcd());
            let raw = self.table.distinct_codes(place);
            let codes: Vec<u64> = raw
                .iter()
                .map(|raw| min.wrapping_add(raw.wrapping_mul(gcd)))
                .collect();
            let texts = column.keys(&codes)?;
            budget.take(
                texts
                    .iter()
                    .map(|key| size_of::<Key>() + key.heap_bytes())
                    .sum(),
            )?;
            let texts: BTreeMap<u64, Key> = canter_sorting::map_of(raw.into_iter().zip(texts));
            let table = &self.table;
            let buckets = table.parents.iter().zip(&table.columns).zip(&table.codes);
            for (((group, of), code), count) in buckets.zip(&table.counts) {
                if usize::from(*of) == place
                    && let Some(Key::Text(text)) = texts.get(code)
                {
                    add(*group, text, *count);
                }
            }
        }
        Ok(Node::Metric(Metric {
            is_date: false,
            states: Metrics::Strings(states),
        }))
    }
}
