//! Buckets by value, by range or by query: whatever a [`Mapping`] says.

use super::block::Block;
use super::budget::Budget;
use super::grouping::NONE;
use super::mapping::Mapping;
use super::table::{Found, Table, to_node};
use super::{Collect, Places};
use crate::Result;
use crate::key::Key;
use crate::partial::Node;

/// Buckets by whatever a [`Mapping`] says.
pub(super) struct Keyed<M> {
    mapping: M,
    table: Table,
    inside: Vec<Box<dyn Collect>>,
    ords: Vec<u32>,
    /// Whether buckets with few documents may be left out where there are very many.
    is_limited: bool,
    choice: TermChoice,
}

/// Says whether a key is taken.
pub(super) type KeyFilter = Box<dyn Fn(&Key) -> bool>;

/// Which terms have a bucket.
#[derive(Default)]
pub(super) struct TermChoice {
    /// Which keys are taken; all, if there is none.
    pub(super) is_taken: Option<KeyFilter>,
    /// Whether all terms of a column of texts have one, those without documents too.
    pub(super) has_empty: bool,
}

impl<M: Mapping> Keyed<M> {
    pub(super) fn new(
        mapping: M,
        inside: Vec<Box<dyn Collect>>,
        is_limited: bool,
        choice: TermChoice,
    ) -> Self {
        Self {
            table: Table::new(mapping.num_codes().into_iter()),
            mapping,
            inside,
            ords: Vec::new(),
            is_limited,
            choice,
        }
    }
}

impl<M: Mapping> Collect for Keyed<M> {
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()> {
        let Self {
            mapping,
            table,
            inside,
            ords,
            ..
        } = self;
        mapping.map(block, &mut |column, mapped| {
            table.ords(column, &mapped, ords, budget)?;
            table.count(ords);
            for inside in inside.iter_mut() {
                inside.collect(Block::of_each(mapped.docs, ords), budget)?;
            }
            Ok(())
        })
    }

    fn finish(mut self: Box<Self>, places: Places<'_>, budget: &Budget) -> Result<Node> {
        if self.choice.has_empty {
            add_terms(&self.mapping, &mut self.table, budget)?;
        }
        let num_columns = self.mapping.num_codes().len();
        let keys = all_keys(&self.table, num_columns, |column, codes| {
            self.mapping.keys(column, codes)
        })?;
        let found = found_in(&self.table, &keys, places, &self.choice, budget)?;
        let num_ords = self.table.counts.len();
        to_node(
            found,
            keys.keys,
            num_ords,
            self.inside,
            places,
            budget,
            self.is_limited,
        )
    }
}

/// The buckets of a table whose keys are taken.
pub(super) fn found_in(
    table: &Table,
    keys: &AllKeys,
    places: Places<'_>,
    choice: &TermChoice,
    budget: &Budget,
) -> Result<Vec<Found>> {
    let is_taken: Vec<bool> = match &choice.is_taken {
        Some(is_taken) => keys.keys.iter().map(is_taken).collect(),
        None => vec![true; keys.keys.len()],
    };
    let mut found = Vec::with_capacity(table.counts.len());
    for (ord, count) in table.counts.iter().enumerate() {
        let place = table.parents.get(ord).and_then(|parent| places.at(*parent));
        let column = table.columns.get(ord).copied().unwrap_or_default();
        let code = table.codes.get(ord).copied().unwrap_or_default();
        if let (Some(parent), Some(key)) = (place, keys.place(usize::from(column), code))
            && is_taken.get(key as usize) == Some(&true)
        {
            found.push(Found {
                parent,
                key,
                ord: u32::try_from(ord).unwrap_or(u32::MAX),
                count: *count,
            });
        }
    }
    if choice.has_empty {
        let taken = is_taken
            .iter()
            .enumerate()
            .filter(|(_, is_taken)| **is_taken);
        let taken: Vec<u32> = taken
            .filter_map(|(key, _)| u32::try_from(key).ok())
            .collect();
        let num_empty = taken.len().saturating_mul(places.len);
        budget.take(num_empty.saturating_mul(size_of::<Found>()))?;
        for parent in 0..u32::try_from(places.len).unwrap_or(NONE) {
            found.extend(taken.iter().map(|key| Found {
                parent,
                key: *key,
                ord: NONE,
                count: 0,
            }));
        }
    }
    Ok(found)
}

/// Gives every term of the columns of texts a key, whether or not a document was found to have it.
pub(super) fn add_terms(mapping: &impl Mapping, table: &mut Table, budget: &Budget) -> Result<()> {
    for (column, num_terms) in mapping.num_terms().into_iter().enumerate() {
        for code in 0..num_terms {
            table.ord(column, NONE, code);
        }
        table.take(budget)?;
    }
    Ok(())
}

/// All keys of a table, and where the codes of each column are among them.
pub(super) struct AllKeys {
    pub(super) keys: Vec<Key>,
    /// For each column its codes, ascending, and the place of each one's key.
    columns: Vec<(Vec<u64>, Vec<Option<u32>>)>,
}

impl AllKeys {
    pub(super) fn place(&self, column: usize, code: u64) -> Option<u32> {
        let (codes, places) = self.columns.get(column)?;
        let at = codes.binary_search(&code).ok()?;
        places.get(at).copied().flatten()
    }
}

/// Puts the keys of all columns in one order.
pub(super) fn all_keys(
    table: &Table,
    num_columns: usize,
    keys_of: impl Fn(usize, &[u64]) -> Result<Vec<Option<Key>>>,
) -> Result<AllKeys> {
    let mut of_columns = Vec::with_capacity(num_columns);
    let mut keys: Vec<Key> = Vec::new();
    for column in 0..num_columns {
        let codes = table.distinct_codes(column);
        let of_column = keys_of(column, &codes)?;
        keys.extend(of_column.iter().flatten().cloned());
        of_columns.push((codes, of_column));
    }
    if !keys.is_sorted_by(|left, right| left < right) {
        keys.sort();
        keys.dedup();
    }
    let columns = of_columns.into_iter().map(|(codes, of_column)| {
        let place = |key: &Option<Key>| {
            let place = keys.binary_search(key.as_ref()?).ok()?;
            u32::try_from(place).ok()
        };
        let places = of_column.iter().map(place).collect();
        (codes, places)
    });
    let columns = columns.collect();
    Ok(AllKeys { keys, columns })
}
