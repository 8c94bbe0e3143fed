//! Buckets by the values of several fields together: `multi_terms` and `composite`.

use std::cmp::Ordering;

use super::block::Block;
use super::budget::Budget;
use super::grouping::NONE;
use super::keyed::{AllKeys, all_keys};
use super::mapping::{ByValue, Mapping};
use super::table::{Found, Table, to_node};
use super::{Collect, Places};
use crate::Result;
use crate::key::Key;
use crate::partial::Node;

/// The value of one field after another: the buckets of a level are what the next one is inside of.
pub(super) struct Tuples {
    levels: Vec<Level>,
    inside: Vec<Box<dyn Collect>>,
    page: Option<Page>,
}

struct Level {
    mapping: ByValue,
    table: Table,
    ords: Vec<u32>,
}

/// What of all tuples is shown: so many, in an order, after one of them.
pub(super) struct Page {
    pub(super) size: usize,
    pub(super) after: Option<Vec<Option<Key>>>,
    pub(super) order: TupleOrder,
}

/// The order of tuples: for each of their keys, whether it descends, and whether no value comes first.
#[derive(Clone, Debug)]
pub(crate) struct TupleOrder(pub(crate) Vec<(bool, bool)>);

impl TupleOrder {
    pub(crate) fn compare(&self, left: &[Option<Key>], right: &[Option<Key>]) -> Ordering {
        let keys = left.iter().zip(right).zip(&self.0);
        keys.map(|((left, right), (is_descending, missing_first))| {
            let missing = match missing_first {
                true => Ordering::Less,
                false => Ordering::Greater,
            };
            match (left, right) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => missing,
                (Some(_), None) => missing.reverse(),
                (Some(left), Some(right)) if *is_descending => right.cmp(left),
                (Some(left), Some(right)) => left.cmp(right),
            }
        })
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
    }
}

impl Tuples {
    pub(super) fn new(
        mappings: Vec<ByValue>,
        inside: Vec<Box<dyn Collect>>,
        page: Option<Page>,
    ) -> Self {
        let levels = mappings.into_iter().map(|mapping| Level {
            table: Table::new(mapping.num_codes().into_iter()),
            mapping,
            ords: Vec::new(),
        });
        Self {
            levels: levels.collect(),
            inside,
            page,
        }
    }
}

fn collect_level(
    levels: &mut [Level],
    inside: &mut [Box<dyn Collect>],
    block: Block<'_>,
    budget: &Budget,
) -> Result<()> {
    let Some((level, rest)) = levels.split_first_mut() else {
        for inside in inside.iter_mut() {
            inside.collect(block, budget)?;
        }
        return Ok(());
    };
    let Level {
        mapping,
        table,
        ords,
    } = level;
    mapping.map(block, &mut |column, mapped| {
        table.ords(column, &mapped, ords, budget)?;
        table.count(ords);
        collect_level(rest, inside, Block::of_each(mapped.docs, ords), budget)
    })
}

impl Collect for Tuples {
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()> {
        collect_level(&mut self.levels, &mut self.inside, block, budget)
    }

    fn finish(self: Box<Self>, places: Places<'_>, budget: &Budget) -> Result<Node> {
        let mut keys: Vec<AllKeys> = Vec::with_capacity(self.levels.len());
        for level in &self.levels {
            let num_columns = level.mapping.num_codes().len();
            keys.push(all_keys(&level.table, num_columns, |column, codes| {
                level.mapping.keys(column, codes)
            })?);
        }
        let num_ords = self
            .levels
            .last()
            .map_or(0, |level| level.table.counts.len());
        let mut tuples: Vec<(Key, u32, u32)> = Vec::with_capacity(num_ords);
        for ord in 0..num_ords {
            let ord = u32::try_from(ord).unwrap_or(NONE);
            let (tuple, parent) = tuple_of(&self.levels, &keys, ord);
            let Some(parent) = places.at(parent) else {
                continue;
            };
            if let Some(Page {
                after: Some(after),
                order,
                ..
            }) = &self.page
                && order.compare(&tuple, after).is_le()
            {
                continue;
            }
            let key = Key::Tuple(tuple);
            budget.take(size_of::<(Key, u32, u32)>() + key.heap_bytes())?;
            tuples.push((key, parent, ord));
        }
        if let Some(page) = &self.page {
            keep_page(&mut tuples, page);
        }
        let counts = self.levels.last().map(|level| level.table.counts.clone());
        let counts = counts.unwrap_or_default();
        tuples.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        let mut keys: Vec<Key> = Vec::new();
        let mut found = Vec::with_capacity(tuples.len());
        for (key, parent, ord) in tuples {
            if keys.last() != Some(&key) {
                keys.push(key);
            }
            found.push(Found {
                parent,
                key: u32::try_from(keys.len() - 1).unwrap_or(NONE),
                ord,
                count: counts.get(ord as usize).copied().unwrap_or_default(),
            });
        }
        let is_limited = self.page.is_none();
        to_node(
            found,
            keys,
            num_ords,
            self.inside,
            places,
            budget,
            is_limited,
        )
    }
}

/// The keys of a bucket of the last level, and the bucket around the first one.
fn tuple_of(levels: &[Level], keys: &[AllKeys], ord: u32) -> (Vec<Option<Key>>, u32) {
    let mut ord = ord;
    let mut tuple: Vec<Option<Key>> = Vec::with_capacity(levels.len());
    for (level, keys) in levels.iter().zip(keys).rev() {
        let at = ord as usize;
        let column = level.table.columns.get(at).copied().unwrap_or_default();
        let code = level.table.codes.get(at).copied().unwrap_or_default();
        let place = keys.place(usize::from(column), code);
        tuple.push(
            place
                .and_then(|place| keys.keys.get(place as usize))
                .cloned(),
        );
        ord = level.table.parents.get(at).copied().unwrap_or(NONE);
    }
    tuple.reverse();
    (tuple, ord)
}

/// Leaves the first tuples of each bucket around.
fn keep_page(tuples: &mut Vec<(Key, u32, u32)>, page: &Page) {
    let compare = |left: &Key, right: &Key| match (left, right) {
        (Key::Tuple(left), Key::Tuple(right)) => page.order.compare(left, right),
        (left, right) => left.cmp(right),
    };
    tuples.sort_by(|left, right| {
        left.1
            .cmp(&right.1)
            .then_with(|| compare(&left.0, &right.0))
    });
    let mut last: Option<(u32, usize, Key)> = None;
    tuples.retain(|(key, parent, _)| {
        let place = match &last {
            Some((of, place, before)) if of == parent && before == key => *place,
            Some((of, place, _)) if of == parent => place + 1,
            _ => 0,
        };
        last = Some((*parent, place, key.clone()));
        place < page.size
    });
}
