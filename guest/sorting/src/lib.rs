//! Sorting with little code, for lists that are rarely sorted.
//!
//! The standard library's sort is compiled for every type and comparison, at about 8 KB each; fifty
//! of them were a tenth of the component. Here, one function for all types sorts indices by a
//! callback, and then the values are moved. This takes about twice as long, so loops over documents
//! do not use it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Sorts a slice; equal items keep their order.
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

/// Sorts a slice by a key; equal items keep their order.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_by(items, |left, right| key(left).cmp(&key(right)));
}

/// Sorts a slice.
pub fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

/// Creates a map of these entries; the last of several with the same key counts. Collecting would
/// use the standard library's sort.
pub fn map_of<K: Ord, V>(entries: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    for (key, value) in entries {
        map.insert(key, value);
    }
    map
}

/// Creates a set of these items.
pub fn set_of<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    for item in items {
        set.insert(item);
    }
    set
}

/// Returns the indices of a list, sorted by its items.
fn order_of(len: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|left, right| compare(*left, *right));
    order
}

/// Moves the item at `order[place]` to each place, by swapping pairs.
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
