//! Buckets by the values of several fields together: `multi_terms` and `composite`.

mod page;

use std::cmp::Ordering;

use self::page::Best;
use crate::Result;
use crate::collect::block::{Block, Docs, Groups};
use crate::collect::budget::{Budget, Taken};
use crate::collect::grouping::NONE;
use crate::collect::keyed::{AllKeys, all_keys};
use crate::collect::mapping::{ByValue, Mapped, Mapping};
use crate::collect::table::{Found, Table, to_node};
use crate::collect::{Collect, Places};
use crate::key::Key;
use crate::partial::Node;

/// One field after another: the buckets of a level are the parents of the next one.
pub(in crate::collect) struct Tuples {
    levels: Vec<Level>,
    inside: Vec<Box<dyn Collect>>,
    page: Option<Page>,
    /// Number of documents whose tuples all have a bucket, even without documents.
    all_docs: Option<u32>,
    /// Candidates for the page.
    best: Option<Best>,
    taken: Taken,
}

struct Level {
    mapping: ByValue,
    table: Table,
    ords: Vec<u32>,
}

/// Selection of the tuples to show: their number, their order, and the tuple that they follow.
pub(in crate::collect) struct Page {
    pub(in crate::collect) size: usize,
    pub(in crate::collect) after: Option<Vec<Option<Key>>>,
    pub(in crate::collect) order: TupleOrder,
}

/// Order of tuples: for each key, whether it descends, and whether a missing value comes first.
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
    pub(in crate::collect) fn new(
        mappings: Vec<ByValue>,
        inside: Vec<Box<dyn Collect>>,
        page: Option<Page>,
    ) -> Result<Self> {
        let best = match &page {
            Some(page) => Best::new(page, &mappings)?,
            None => None,
        };
        let levels = mappings.into_iter().map(|mapping| Level {
            table: Table::new(mapping.num_codes().into_iter()),
            mapping,
            ords: Vec::new(),
        });
        Ok(Self {
            levels: levels.collect(),
            inside,
            page,
            all_docs: None,
            best,
            taken: Taken::default(),
        })
    }

    /// Gives a bucket to the tuples of all documents, of which there are `num_docs`.
    pub(in crate::collect) fn with_all_of(self, num_docs: u32) -> Self {
        Self {
            all_docs: Some(num_docs),
            ..self
        }
    }

    /// Adds the tuples of all documents to each parent bucket.
    fn add_all(&mut self, places: Places<'_>, budget: &Budget) -> Result<()> {
        const AT_ONCE: u32 = 4_096;
        let Some(num_docs) = self.all_docs else {
            return Ok(());
        };
        for parent in 0..u32::try_from(places.of.len()).unwrap_or(NONE) {
            if places.at(parent).is_none() {
                continue;
            }
            let mut first = 0;
            while first < num_docs {
                let end = first.saturating_add(AT_ONCE).min(num_docs);
                let block = Block::of_one(Docs::Range(first, end), parent);
                add_level(&mut self.levels, block, budget)?;
                first = end;
            }
        }
        Ok(())
    }
}

/// Adds buckets for the tuples of documents, without counting these.
fn add_level(levels: &mut [Level], block: Block<'_>, budget: &Budget) -> Result<()> {
    let Some((level, rest)) = levels.split_first_mut() else {
        return Ok(());
    };
    let Level {
        mapping,
        table,
        ords,
    } = level;
    mapping.map(block, &mut |column, mapped| {
        table.ords(column, &mapped, ords, budget)?;
        add_level(rest, Block::of_each(mapped.docs, ords), budget)
    })
}

/// Documents of one level, after filtering.
#[derive(Default)]
struct Kept {
    docs: Vec<u32>,
    groups: Vec<u32>,
    codes: Vec<u64>,
}

impl Kept {
    /// Selects the documents whose codes may lead to the page.
    fn of(best: &Best, depth: usize, mapped: &Mapped<'_>, is_missing: bool) -> Self {
        let mut kept = Self::default();
        let mut last: Option<(u32, u64, bool)> = None;
        let docs = mapped.docs.into_iter().zip(mapped.codes).enumerate();
        for (place, (doc, code)) in docs {
            let group = mapped.groups.at(place);
            let may_take = match last {
                Some((of, same, may_take)) if (of, same) == (group, *code) => may_take,
                _ => best.may_take(depth, group, *code, is_missing),
            };
            last = Some((group, *code, may_take));
            if may_take {
                kept.docs.push(doc);
                kept.groups.push(group);
                kept.codes.push(*code);
            }
        }
        kept
    }

    fn as_mapped(&self) -> Mapped<'_> {
        Mapped {
            docs: Docs::List(&self.docs),
            groups: Groups::Each(&self.groups),
            codes: &self.codes,
        }
    }
}

fn collect_level(
    levels: &mut [Level],
    depth: usize,
    inside: &mut [Box<dyn Collect>],
    best: &mut Option<Best>,
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
    let missing_column = mapping.num_codes().len().saturating_sub(1);
    mapping.map(block, &mut |column, mapped| {
        let is_missing = column == missing_column;
        let kept = best
            .as_ref()
            .map(|best| Kept::of(best, depth, &mapped, is_missing));
        let mapped = kept.as_ref().map_or(mapped, Kept::as_mapped);
        table.ords(column, &mapped, ords, budget)?;
        table.count(ords);
        if let Some(best) = best {
            for (place, (ord, code)) in ords.iter().zip(mapped.codes).enumerate() {
                best.note(depth, *ord, mapped.groups.at(place), *code, is_missing);
            }
        }
        let block = Block::of_each(mapped.docs, ords);
        collect_level(rest, depth + 1, inside, best, block, budget)
    })
}

impl Collect for Tuples {
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()> {
        let Self {
            levels,
            inside,
            best,
            taken,
            ..
        } = self;
        collect_level(levels, 0, inside, best, block, budget)?;
        match best {
            Some(best) => taken.grow_to(best.num_bytes(), budget),
            None => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>, places: Places<'_>, budget: &Budget) -> Result<Node> {
        self.add_all(places, budget)?;
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
            if self
                .page
                .as_ref()
                .is_some_and(|page| !page.is_behind(&tuple))
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

/// Returns the keys of a bucket of the last level, and the parent of the first level.
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

/// Keeps the first tuples of each parent bucket.
fn keep_page(tuples: &mut Vec<(Key, u32, u32)>, page: &Page) {
    let compare = |left: &Key, right: &Key| match (left, right) {
        (Key::Tuple(left), Key::Tuple(right)) => page.order.compare(left, right),
        (left, right) => left.cmp(right),
    };
    canter_sorting::sort_by(tuples, |left, right| {
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
