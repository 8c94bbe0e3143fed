//! Terms without sub-aggregations in a column of small raw values: counted in packed form.

use crate::Result;
use crate::collect::block::{Block, Docs, Groups};
use crate::collect::budget::{Budget, Taken};
use crate::collect::field::{Column, RowRoom};
use crate::collect::grouping::NONE;
use crate::collect::keyed::{TermChoice, add_terms, all_keys, found_in};
use crate::collect::mapping::{ByValue, Mapping};
use crate::collect::table::{Found, Table, to_node};
use crate::collect::{Collect, Places};
use crate::partial::Node;

/// Maximum number of counts in one table of all raw values. Further parent buckets use a hash
/// table.
const MAX_COUNTS: usize = 1 << 22;

/// Terms without sub-aggregations in a column with at most one value for each document.
pub(in crate::collect) struct Counted {
    mapping: ByValue,
    /// Number of raw values.
    width: usize,
    /// Counts, `width` of them for each parent bucket.
    counts: Vec<u64>,
    taken: Taken,
    /// Buckets of the parent buckets for which `counts` has no room.
    table: Table,
    choice: TermChoice,
    room: Room,
}

#[derive(Default)]
struct Room {
    rows: RowRoom,
    raw: Vec<u32>,
    ords: Vec<u32>,
}

/// Returns the column and the number of its raw values, if it can be counted in this way.
fn countable(mapping: &ByValue) -> Option<(&Column, usize)> {
    let column = mapping.only_raw()?;
    Some((column, column.values.num_counted()?))
}

impl Counted {
    /// Returns whether the terms of a mapping can be counted in this way.
    pub(in crate::collect) fn fits(mapping: &ByValue) -> bool {
        countable(mapping).is_some()
    }

    pub(in crate::collect) fn new(mapping: ByValue, choice: TermChoice) -> Self {
        Self {
            width: countable(&mapping).map_or(1, |(_, width)| width),
            table: Table::new(mapping.num_codes().into_iter()),
            mapping,
            counts: Vec::new(),
            taken: Taken::default(),
            choice,
            room: Room::default(),
        }
    }

    /// Makes room for the counts of all parent buckets up to `group`; returns `false` if there is
    /// none.
    fn make_room(&mut self, group: u32, budget: &Budget) -> Result<bool> {
        let end = (group as usize)
            .saturating_add(1)
            .saturating_mul(self.width);
        if end > MAX_COUNTS.max(self.width) {
            return Ok(false);
        }
        if end > self.counts.len() {
            self.taken
                .grow_to(end.saturating_mul(size_of::<u64>()), budget)?;
            self.counts.resize(end, 0);
        }
        Ok(true)
    }

    fn count(&mut self, block: Block<'_>) -> Result<()> {
        let Some((column, width)) = countable(&self.mapping) else {
            return Ok(());
        };
        let rows = column.rows_alone(block, &mut self.room.rows);
        let groups = match rows.groups {
            Groups::One(group) => {
                let first = (group as usize) * width;
                let row = self
                    .counts
                    .get_mut(first..first + width)
                    .unwrap_or_default();
                match rows.rows {
                    Docs::Range(first, end) => column.values.count_raw(first..end, row)?,
                    Docs::List(list) => column.values.count_raw_at(list, row)?,
                }
                return Ok(());
            }
            Groups::Each(groups) => groups,
        };
        let raw = &mut self.room.raw;
        match rows.rows {
            Docs::Range(first, end) => column.values.decode_raw(first..end, raw)?,
            Docs::List(list) => column.values.gather_raw(list, raw)?,
        }
        for (group, raw) in groups.iter().zip(raw) {
            let place = (*group as usize)
                .saturating_mul(width)
                .saturating_add(*raw as usize);
            if let Some(count) = self.counts.get_mut(place) {
                *count += 1;
            }
        }
        Ok(())
    }
}

impl Collect for Counted {
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()> {
        let last_group = match block.groups {
            Groups::One(group) => group,
            Groups::Each(groups) => groups.iter().max().copied().unwrap_or_default(),
        };
        if self.make_room(last_group, budget)? {
            return self.count(block);
        }
        let Self {
            mapping,
            table,
            room,
            ..
        } = self;
        let ords = &mut room.ords;
        mapping.map(block, &mut |column, mapped| {
            table.ords(column, &mapped, ords, budget)?;
            table.count(ords);
            Ok(())
        })
    }

    fn finish(mut self: Box<Self>, places: Places<'_>, budget: &Budget) -> Result<Node> {
        if self.choice.has_empty {
            add_terms(&self.mapping, &mut self.table, budget)?;
        }
        // Every value that occurs gets an entry in the table, and thereby a key.
        let mut of_raw = vec![false; self.width];
        for row in self.counts.chunks_exact(self.width) {
            for (is_used, count) in of_raw.iter_mut().zip(row) {
                *is_used |= *count > 0;
            }
        }
        for (raw, is_used) in of_raw.iter().enumerate() {
            if *is_used {
                self.table.ord(0, NONE, raw as u64);
            }
        }
        let num_columns = self.mapping.num_codes().len();
        let keys = all_keys(&self.table, num_columns, |column, codes| {
            self.mapping.keys(column, codes)
        })?;
        let mut found = found_in(&self.table, &keys, places, &self.choice, budget)?;
        let key_of: Vec<Option<u32>> = (0..self.width)
            .map(|raw| {
                let key = keys.place(0, raw as u64)?;
                let is_taken = self.choice.is_taken.as_ref();
                let is_taken = is_taken
                    .is_none_or(|is_taken| keys.keys.get(key as usize).is_some_and(is_taken));
                is_taken.then_some(key)
            })
            .collect();
        for (group, row) in self.counts.chunks_exact(self.width).enumerate() {
            let Some(parent) = places.at(u32::try_from(group).unwrap_or(NONE)) else {
                continue;
            };
            for (key, count) in key_of.iter().zip(row) {
                if let Some(key) = key
                    && *count > 0
                {
                    found.push(Found {
                        parent,
                        key: *key,
                        ord: NONE,
                        count: *count,
                    });
                }
            }
        }
        to_node(found, keys.keys, 0, Vec::new(), places, budget, true)
    }
}
