//! First documents of each bucket.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::Result;
use crate::collect::block::{Block, Docs};
use crate::collect::budget::{Budget, Taken};
use crate::collect::build::{ObjectPlaces, Origin};
use crate::collect::field::{Column, Field};
use crate::collect::metrics::{arrange, grow};
use crate::collect::{Collect, Places};
use crate::key::Key;
use crate::numbers::Number;
use crate::partial::{HitPlace, Metric, Metrics, Node, TopHit, TopList, TopOrder};
use crate::request::{TopKey, TopMode};

/// Values that are kept of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::collect) enum TopOf {
    /// All values.
    Hits,
    /// Smallest value of each field, for documents with a value to sort by.
    Metrics,
}

/// Scores of the documents that are being collected.
#[derive(Clone, Debug, Default)]
pub(in crate::collect) struct Scores(Rc<RefCell<Vec<(u32, f64)>>>);

impl Scores {
    /// Sets the scores of the next documents, which ascend.
    pub(in crate::collect) fn set(&self, docs: &[u32], scores: &[f64]) {
        let mut list = self.0.borrow_mut();
        list.clear();
        list.extend(docs.iter().copied().zip(scores.iter().copied()));
    }

    fn of(&self, doc: u32) -> Option<Key> {
        let list = self.0.borrow();
        let place = list.binary_search_by_key(&doc, |(doc, _)| *doc).ok()?;
        list.get(place)
            .map(|(_, score)| Key::Number(Number::Float(*score)))
    }
}

/// Where hits that show their documents are found.
struct Shown {
    split: String,
    first: (i64, u128, u64),
    /// Objects that take the place of documents.
    objects: Option<Arc<ObjectPlaces>>,
}

/// First documents of each bucket.
pub(in crate::collect) struct Top {
    /// Keys of the order; a key without a field is the score.
    sort: Vec<(Option<Field>, TopKey)>,
    /// Fields to show.
    fields: Vec<Field>,
    size: usize,
    of: TopOf,
    scores: Scores,
    shown: Option<Shown>,
    states: Vec<TopList>,
    taken: Taken,
    codes: Vec<u64>,
}

impl Top {
    pub(in crate::collect) fn new(
        sort: Vec<(Option<Field>, TopKey)>,
        fields: Vec<Field>,
        size: usize,
        of: TopOf,
        scores: Scores,
    ) -> Self {
        Self {
            sort,
            fields,
            size,
            of,
            scores,
            shown: None,
            states: Vec::new(),
            taken: Taken::default(),
            codes: Vec::new(),
        }
    }

    /// Notes where the documents of hits are.
    pub(in crate::collect) fn showing(
        self,
        origin: Origin<'_>,
        objects: Option<Arc<ObjectPlaces>>,
    ) -> Self {
        Self {
            shown: Some(Shown {
                split: origin.id.to_owned(),
                first: origin.first,
                objects,
            }),
            ..self
        }
    }

    /// Returns the values by which a document is sorted; `None` if it cannot be in the list.
    fn keys_of_order(&mut self, doc: u32, group: u32) -> Result<Option<Vec<Option<Key>>>> {
        let mut keys: Vec<Option<Key>> = Vec::with_capacity(self.sort.len());
        for (field, key) in &self.sort {
            let of_key = match field {
                Some(field) => sort_key(field, key, doc, &mut self.codes)?,
                None => {
                    let objects = self.shown.as_ref().and_then(|shown| shown.objects.as_ref());
                    let doc = objects.map_or(doc, |objects| objects.place(doc).0);
                    self.scores.of(doc)
                }
            };
            keys.push(of_key);
            let state = self.states.get(group as usize);
            if keys.len() == 1
                && let Some(first) = keys.first()
                && state.is_some_and(|state| state.is_beyond(first.as_ref()))
            {
                return Ok(None);
            }
        }
        Ok(Some(keys))
    }

    fn place_of(&self, doc: u32) -> Option<HitPlace> {
        let shown = self.shown.as_ref()?;
        let (doc, object) = match &shown.objects {
            None => (doc, None),
            Some(objects) => {
                let (doc, nth) = objects.place(doc);
                (doc, Some((objects.path.clone(), nth)))
            }
        };
        Some(HitPlace {
            first: shown.first,
            split: shown.split.clone(),
            doc,
            object,
        })
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

/// Returns the value that a document is sorted by.
fn sort_key(field: &Field, key: &TopKey, doc: u32, codes: &mut Vec<u64>) -> Result<Option<Key>> {
    let mut keys = keys_of(field, doc, codes)?;
    let is_greatest = match key.mode {
        TopMode::Nearest => key.is_descending,
        TopMode::Min => false,
        TopMode::Max => true,
        TopMode::Sum | TopMode::Avg | TopMode::Median => {
            canter_sorting::sort(&mut keys);
            return Ok(computed(&keys, key.mode));
        }
    };
    Ok(match is_greatest {
        true => keys.into_iter().max(),
        false => keys.into_iter().min(),
    })
}

/// Computes with ascending numbers or dates; texts have no such value.
fn computed(keys: &[Key], mode: TopMode) -> Option<Key> {
    let is_date = keys.iter().any(|key| matches!(key, Key::Date(_)));
    let numbers = keys.iter().filter_map(|key| match key {
        Key::Number(number) => Some(number.to_f64()),
        Key::Date(time_ns) => Some(*time_ns as f64),
        _ => None,
    });
    let numbers: Vec<f64> = numbers.collect();
    let count = numbers.len();
    let at = |place: usize| numbers.get(place).copied();
    let sum: f64 = numbers.iter().sum();
    let value = match mode {
        _ if count == 0 => return None,
        TopMode::Sum => sum,
        TopMode::Avg => sum / count as f64,
        _ => (at((count - 1) / 2)? + at(count / 2)?) / 2.0,
    };
    let is_whole = keys
        .iter()
        .all(|key| matches!(key, Key::Number(Number::Integer(_)) | Key::Date(_)));
    let value = match is_whole {
        true => libm::floor(value + 0.5),
        false => value,
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "saturates far outside of the times that there are"
    )]
    let key = match (is_date, is_whole) {
        (true, _) => Key::Date(value as i64),
        (false, true) => Key::Number(Number::Integer(value as i128)),
        (false, false) => Key::Number(Number::from(value)),
    };
    Some(key)
}

impl Collect for Top {
    fn collect(&mut self, block: Block<'_>, budget: &Budget) -> Result<()> {
        let num_before = self.states.len();
        grow(&mut self.states, block.groups, &mut self.taken, budget)?;
        let order: Vec<TopOrder> = self
            .sort
            .iter()
            .map(|(_, key)| TopOrder {
                is_descending: key.is_descending,
                missing_first: key.missing_first,
            })
            .collect();
        for state in self.states.iter_mut().skip(num_before) {
            *state = TopList::new(order.clone(), self.size);
        }
        for (doc, group) in block.pairs() {
            let Some(state) = self.states.get_mut(group as usize) else {
                continue;
            };
            state.num_docs = state.num_docs.saturating_add(1);
            // Of documents with equal keys the first of a split are shown.
            if self.shown.is_some() && self.sort.is_empty() && state.is_full() {
                continue;
            }
            let Some(sort) = self.keys_of_order(doc, group)? else {
                continue;
            };
            if self.of == TopOf::Metrics && sort.first().is_none_or(Option::is_none) {
                continue;
            }
            let state = self.states.get(group as usize);
            if self.shown.is_some() && state.is_some_and(|state| !state.would_take(&sort)) {
                continue;
            }
            let mut fields = Vec::with_capacity(self.fields.len());
            for field in &self.fields {
                let mut keys = keys_of(field, doc, &mut self.codes)?;
                if self.of == TopOf::Metrics {
                    canter_sorting::sort(&mut keys);
                    keys.truncate(1);
                }
                fields.push(keys);
            }
            let place = self.place_of(doc);
            if let Some(state) = self.states.get_mut(group as usize) {
                state.add(TopHit {
                    sort,
                    fields,
                    place,
                });
            }
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
