//! First documents of each bucket.

use crate::Result;
use crate::collect::block::{Block, Docs};
use crate::collect::budget::{Budget, Taken};
use crate::collect::field::{Column, Field};
use crate::collect::metrics::{arrange, grow};
use crate::collect::{Collect, Places};
use crate::key::Key;
use crate::partial::{Metric, Metrics, Node, TopHit, TopList};

/// Values that are kept of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collect) enum TopOf {
    /// All values.
    Hits,
    /// Smallest value of each field, for documents with a value to sort by.
    Metrics,
}

/// First documents of each bucket.
pub(in crate::collect) struct Top {
    /// Sort fields, each with whether its order descends.
    sort: Vec<(Field, bool)>,
    /// Fields to show.
    fields: Vec<Field>,
    size: usize,
    of: TopOf,
    states: Vec<TopList>,
    taken: Taken,
    codes: Vec<u64>,
}

impl Top {
    pub(in crate::collect) fn new(
        sort: Vec<(Field, bool)>,
        fields: Vec<Field>,
        size: usize,
        of: TopOf,
    ) -> Self {
        Self {
            sort,
            fields,
            size,
            of,
            states: Vec::new(),
            taken: Taken::default(),
            codes: Vec::new(),
        }
    }
}

/// Returns all values of a document in a field.
fn keys_of(field: &Field, doc: u32, codes: &mut Vec<u64>) -> Result<Vec<Key>> {
    let mut keys = Vec::new();
    for column in &field.columns {
        keys.extend(keys_in(column, doc, codes)?);
    }
    Ok(keys)
}

fn keys_in(column: &Column, doc: u32, codes: &mut Vec<u64>) -> Result<Vec<Key>> {
    let rows = column.index.value_row_ids(doc);
    column.codes(Docs::Range(rows.start, rows.end), codes)?;
    codes.sort_unstable();
    column.keys(codes)
}

/// Returns the value that a document is sorted by: the smallest one in ascending order, else the
/// largest.
fn sort_key(
    field: &Field,
    is_descending: bool,
    doc: u32,
    codes: &mut Vec<u64>,
) -> Result<Option<Key>> {
    let keys = keys_of(field, doc, codes)?.into_iter();
    Ok(if is_descending {
        keys.max()
    } else {
        keys.min()
    })
}

impl Collect for Top {
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()> {
        let Self {
            sort,
            fields,
            size,
            of,
            states,
            taken,
            codes,
        } = self;
        let num_before = states.len();
        grow(states, block.groups, taken, budget)?;
        let descending: Vec<bool> = sort
            .iter()
            .map(|(_, is_descending)| *is_descending)
            .collect();
        for state in states.iter_mut().skip(num_before) {
            *state = TopList::new(descending.clone(), *size);
        }
        for (doc, group) in block.pairs() {
            let Some(state) = states.get_mut(group as usize) else {
                continue;
            };
            state.num_docs = state.num_docs.saturating_add(1);
            let mut sort_keys = Vec::with_capacity(sort.len());
            for (field, is_descending) in sort.iter() {
                sort_keys.push(sort_key(field, *is_descending, doc, codes)?);
                if sort_keys.len() == 1
                    && state.is_beyond(sort_keys.first().and_then(Option::as_ref))
                {
                    break;
                }
            }
            if *of == TopOf::Metrics && sort_keys.first().is_none_or(Option::is_none) {
                continue;
            }
            if sort_keys.len() < sort.len()
                || state.is_beyond(sort_keys.first().and_then(Option::as_ref))
            {
                continue;
            }
            let shown = fields.iter().map(|field| {
                let mut keys = keys_of(field, doc, codes)?;
                if *of == TopOf::Metrics {
                    canter_sorting::sort(&mut keys);
                    keys.truncate(1);
                }
                Ok(keys)
            });
            let hit = TopHit {
                sort: sort_keys,
                fields: shown.collect::<Result<_>>()?,
            };
            state.add(hit);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, places: Places<'_>, _: &Budget) -> Result<Node> {
        Ok(Node::Metric(Metric {
            is_date: false,
            states: Metrics::TopLists(arrange(self.states, places)),
        }))
    }
}
