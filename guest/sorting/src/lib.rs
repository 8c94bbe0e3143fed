//! Sorting with little code, for lists that are not sorted often.
//!
//! The standard library's sort is compiled anew for every type and comparison, at some 8 KB each; fifty of these were a
//! tenth of the component. Here only places are sorted, by one function for all types, which asks for comparisons;
//! then the values move. That takes about twice as long, so loops over documents do not use it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Sorts; what is equal stays as it was.
pub fn sort_by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    let order = order_of(
        items.len(),
        &mut |left, right| match (items.get(left), items.get(right)) {
            (Some(left), Some(right)) => compare(left, right),
            _ => Ordering::Equal,
        },
    );
    arrange(order, &mut |left, right| items.swap(left, right));
}

/// Sorts by a key; what is equal stays as it was.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_by(items, |left, right| key(left).cmp(&key(right)));
}

/// Sorts what has an order.
pub fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

/// A map of these entries; of those with the same key the last. The standard library sorts what it collects.
pub fn map_of<K: Ord, V>(entries: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    for (key, value) in entries {
        map.insert(key, value);
    }
    map
}

/// A set of these.
pub fn set_of<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    for item in items {
        set.insert(item);
    }
    set
}

/// The places of a list in the order of what stands there.
fn order_of(len: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|left, right| compare(*left, *right));
    order
}

/// Brings what stands at `order[place]` to each place, by exchanging two at a time.
fn arrange(mut order: Vec<usize>, swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..order.len() {
        let mut at = start;
        while let Some(from) = order.get_mut(at) {
            let next = std::mem::replace(from, at);
            if next == start || next == at {
                break;
            }
            swap(at, next);
            at = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_sorts_as_the_standard_library(items in prop::collection::vec((0u8..20, any::<u16>()), 0..200)) {
            let mut expected = items.clone();
            expected.sort_by_key(|(key, _)| *key);
            let mut sorted = items.clone();
            sort_by_key(&mut sorted, |(key, _)| *key);
            prop_assert_eq!(&sorted, &expected, "what is equal stays as it was");
            expected.sort();
            sort(&mut sorted);
            prop_assert_eq!(&sorted, &expected);
            expected.sort_by(|left, right| right.cmp(left));
            sort_by(&mut sorted, |left, right| right.cmp(left));
            prop_assert_eq!(sorted, expected);
        }
    }
}
