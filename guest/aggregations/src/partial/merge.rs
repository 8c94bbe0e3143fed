//! Merging of two partial results of one request.

use std::cmp::Ordering;

use super::{Buckets, Dropped, Metric, Node};
use crate::key::Key;

/// Buckets of both sides that make one merged bucket.
pub(super) type Pair = (Option<u32>, Option<u32>);

/// Merges the nodes of a whole request. Returns `false` if they belong to different requests.
pub(super) fn merge_all(nodes: &mut Vec<Node>, others: Vec<Node>) -> bool {
    match merge_inside(std::mem::take(nodes), others, &[(Some(0), Some(0))]) {
        Some(merged) => {
            *nodes = merged;
            true
        }
        None => false,
    }
}

fn merge_inside(left: Vec<Node>, right: Vec<Node>, pairs: &[Pair]) -> Option<Vec<Node>> {
    if left.len() != right.len() {
        return None;
    }
    let merged = left.into_iter().zip(right);
    merged
        .map(|(left, right)| merge(left, right, pairs))
        .collect()
}

fn merge(left: Node, right: Node, pairs: &[Pair]) -> Option<Node> {
    match (left, right) {
        (Node::Buckets(left), Node::Buckets(right)) => {
            merge_buckets(left, right, pairs).map(Node::Buckets)
        }
        (Node::Metric(left), Node::Metric(right)) => Some(Node::Metric(Metric {
            is_date: left.is_date || right.is_date,
            states: left.states.merge(right.states, pairs)?,
        })),
        _ => None,
    }
}

fn merge_buckets(left: Buckets, right: Buckets, pairs: &[Pair]) -> Option<Buckets> {
    let Buckets {
        keys: left_keys,
        offsets: left_offsets,
        ids: left_ids,
        counts: left_counts,
        dropped: left_dropped,
        inside: left_inside,
    } = left;
    let Buckets {
        keys: right_keys,
        offsets: right_offsets,
        ids: right_ids,
        counts: right_counts,
        dropped: right_dropped,
        inside: right_inside,
    } = right;
    let (keys, left_map, right_map) = merge_keys(left_keys, right_keys);
    let left = Side::new(&left_offsets, &left_ids, &left_map);
    let right = Side::new(&right_offsets, &right_ids, &right_map);

    let most = left_ids.len().saturating_add(right_ids.len());
    let mut offsets = Vec::with_capacity(pairs.len().saturating_add(1));
    let mut ids = Vec::with_capacity(most);
    let mut buckets: Vec<Pair> = Vec::with_capacity(most);
    offsets.push(0);
    for (a, b) in pairs {
        merge_row(left.row(*a), right.row(*b), &mut ids, &mut buckets);
        offsets.push(u32::try_from(ids.len()).ok()?);
    }
    let count = |counts: &[u64], place: Option<u32>| {
        place
            .and_then(|place| counts.get(place as usize))
            .copied()
            .unwrap_or_default()
    };
    let counts = buckets
        .iter()
        .map(|(a, b)| count(&left_counts, *a).saturating_add(count(&right_counts, *b)))
        .collect();
    Some(Buckets {
        keys,
        offsets,
        ids,
        counts,
        dropped: merge_dropped(&left_dropped, &right_dropped, pairs),
        inside: merge_inside(left_inside, right_inside, &buckets)?,
    })
}

/// Merges two lists of keys, and returns the new index of each key of both.
fn merge_keys(left: Vec<Key>, right: Vec<Key>) -> (Vec<Key>, Vec<u32>, Vec<u32>) {
    let mut keys: Vec<Key> = Vec::with_capacity(left.len().max(right.len()));
    let mut left_map = Vec::with_capacity(left.len());
    let mut right_map = Vec::with_capacity(right.len());
    let mut left = left.into_iter().peekable();
    let mut right = right.into_iter().peekable();
    loop {
        let place = u32::try_from(keys.len()).unwrap_or(u32::MAX);
        let order = match (left.peek(), right.peek()) {
            (None, None) => return (keys, left_map, right_map),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(left), Some(right)) => left.cmp(right),
        };
        if order.is_le() {
            left_map.push(place);
            keys.extend(left.next());
        }
        if order.is_ge() {
            right_map.push(place);
            match order.is_eq() {
                true => drop(right.next()),
                false => keys.extend(right.next()),
            }
        }
    }
}

/// One of the two results to merge.
struct Side<'a> {
    offsets: &'a [u32],
    ids: &'a [u32],
    /// New index of each key.
    map: &'a [u32],
}

impl<'a> Side<'a> {
    fn new(offsets: &'a [u32], ids: &'a [u32], map: &'a [u32]) -> Self {
        Self { offsets, ids, map }
    }

    /// Returns the indices and new ids of the buckets in one parent bucket.
    fn row(&self, parent: Option<u32>) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        let at = |place: usize| self.offsets.get(place).copied().unwrap_or_default();
        let range = match parent {
            Some(parent) => at(parent as usize)..at((parent as usize).saturating_add(1)),
            None => 0..0,
        };
        let (ids, map) = (self.ids, self.map);
        range.filter_map(move |place| {
            let id = *ids.get(place as usize)?;
            Some((place, *map.get(id as usize)?))
        })
    }
}

fn merge_row(
    left: impl Iterator<Item = (u32, u32)>,
    right: impl Iterator<Item = (u32, u32)>,
    ids: &mut Vec<u32>,
    buckets: &mut Vec<Pair>,
) {
    let mut left = left.peekable();
    let mut right = right.peekable();
    loop {
        let order = match (left.peek(), right.peek()) {
            (None, None) => return,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((_, left)), Some((_, right))) => left.cmp(right),
        };
        let a = if order.is_le() { left.next() } else { None };
        let b = if order.is_ge() { right.next() } else { None };
        ids.extend(a.or(b).map(|(_, id)| id));
        buckets.push((a.map(|(place, _)| place), b.map(|(place, _)| place)));
    }
}

fn merge_dropped(left: &[Dropped], right: &[Dropped], pairs: &[Pair]) -> Vec<Dropped> {
    if left.is_empty() && right.is_empty() {
        return Vec::new();
    }
    let at = |list: &[Dropped], place: Option<u32>| -> Dropped {
        place
            .and_then(|place| list.get(place as usize))
            .copied()
            .unwrap_or_default()
    };
    let merged = pairs.iter().map(|(a, b)| {
        let (a, b) = (at(left, *a), at(right, *b));
        Dropped {
            max_doc_count: a.max_doc_count.saturating_add(b.max_doc_count),
            doc_count: a.doc_count.saturating_add(b.doc_count),
        }
    });
    merged.collect()
}
