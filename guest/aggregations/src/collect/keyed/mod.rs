//! Buckets by value, by range or by query, as defined by a [`Mapping`].

mod counted;
mod through;

pub(in crate::collect) use counted::Counted;
pub(in crate::collect) use through::{Through, Way};

use crate::Result;
use crate::collect::block::{Block, Docs};
use crate::collect::budget::Budget;
use crate::collect::grouping::NONE;
use crate::collect::mapping::Mapping;
use crate::collect::table::{Found, Table, to_node};
use crate::collect::{Collect, Places};
use crate::key::Key;
use crate::partial::Node;

/// Buckets defined by a [`Mapping`].
pub(in crate::collect) struct Keyed<M> {
    mapping: M,
    table: Table,
    inside: Vec<Box<dyn Collect>>,
    ords: Vec<u32>,
    /// True if buckets with few documents may be dropped if there are very many.
    is_limited: bool,
    /// Document count above which the sub-aggregations of a bucket are never shown.
    max_inside: Option<u64>,
    choice: TermChoice,
}

/// Predicate on keys.
pub(in crate::collect) type KeyFilter = Box<dyn Fn(&Key) -> bool>;

/// Selection of the terms that get a bucket.
#[derive(Default)]
pub(in crate::collect) struct TermChoice {
    /// Predicate on keys; `None` accepts all.
    pub(in crate::collect) is_taken: Option<KeyFilter>,
    /// True if all terms of a text column get a bucket, even those without documents.
    pub(in crate::collect) has_empty: bool,
}

impl<M: Mapping> Keyed<M> {
    pub(in crate::collect) fn new(
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
            max_inside: None,
            choice,
        }
    }

    /// Skips the sub-aggregations of buckets with more documents than this.
    pub(in crate::collect) fn looking_into_rare(self, max_doc_count: u64) -> Self {
        Self {
            max_inside: Some(max_doc_count),
            ..self
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
            max_inside,
            ..
        } = self;
        if let (Some(most), false) = (*max_inside, inside.is_empty()) {
            let mut docs = Vec::new();
            return mapping.map(block, &mut |column, mapped| {
                table.ords(column, &mapped, ords, budget)?;
                table.count(ords);
                docs.clear();
                docs.extend(mapped.docs);
                let is_rare = |ord: &u32| {
                    let count = table.counts.get(*ord as usize);
                    count.is_some_and(|count| *count <= most)
                };
                let mut of_docs = ords.iter();
                docs.retain(|_| of_docs.next().is_some_and(is_rare));
                ords.retain(is_rare);
                for inside in inside.iter_mut() {
                    inside.collect(Block::of_each(Docs::List(&docs), ords), budget)?;
                }
                Ok(())
            });
        }
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

/// Returns the buckets of a table whose keys are accepted.
pub(in crate::collect) fn found_in(
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

/// Adds a bucket for every term of the text columns, even those without documents.
pub(in crate::collect) fn add_terms(
    mapping: &impl Mapping,
    table: &mut Table,
    budget: &Budget,
) -> Result<()> {
    for (column, num_terms) in mapping.num_terms().into_iter().enumerate() {
        for code in 0..num_terms {
            table.ord(column, NONE, code);
        }
        table.take(budget)?;
    }
    Ok(())
}

/// All keys of a table, and the positions of each column's codes among them.
pub(in crate::collect) struct AllKeys {
    pub(in crate::collect) keys: Vec<Key>,
    /// For each column: its codes, ascending, and the position of each code's key.
    columns: Vec<(Vec<u64>, Vec<Option<u32>>)>,
}

impl AllKeys {
    pub(in crate::collect) fn place(&self, column: usize, code: u64) -> Option<u32> {
        let (codes, places) = self.columns.get(column)?;
        let at = codes.binary_search(&code).ok()?;
        places.get(at).copied().flatten()
    }
}

/// Merges the keys of all columns into one order.
pub(in crate::collect) fn all_keys(
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
        canter_sorting::sort(&mut keys);
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
