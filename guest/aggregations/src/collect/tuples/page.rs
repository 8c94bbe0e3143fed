//! The page of a `composite` while documents go by: what can no longer be on it is not looked at again.
//!
//! A split's codes are in the order of their values, so that tuples of codes are in the order of keys. Once
//! there are as many tuples as the page has room for, one beyond the last of them is beyond the page for
//! good: each of those before it has a document. A tuple that is left out here is on no page of the whole
//! index either, since what comes before it in this split comes before it there.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::{Page, TupleOrder};
use crate::Result;
use crate::collect::mapping::{ByValue, Mapping};
use crate::key::Key;

/// A part of a tuple in the order of its source: whether it comes before the values, is one, or comes after
/// them; and its code.
type Rank = (u8, u64);

const VALUE: u8 = 1;

/// The tuples that may be on the page, for each bucket around.
pub(super) struct Best {
    size: usize,
    order: TupleOrder,
    /// What the page comes after.
    after: Option<Vec<After>>,
    /// By bucket around.
    tuples: Vec<BTreeSet<Vec<Rank>>>,
    /// By level and ordinal: the bucket around, and the tuple so far.
    prefixes: Vec<Vec<(u32, Vec<Rank>)>>,
}

/// A part of the key that the page comes after, among the codes of a split.
enum After {
    Missing,
    /// The least code that is not below it, if there is one, and whether it is the same.
    Value(Option<(u64, bool)>),
}

impl Best {
    /// `None` where the codes of a source are those of several columns, which have no order among each other.
    pub(super) fn new(page: &Page, mappings: &[ByValue]) -> Result<Option<Self>> {
        // The last column is of documents without a value.
        if mappings.iter().any(|mapping| mapping.num_codes().len() > 2) {
            return Ok(None);
        }
        let after = match &page.after {
            None => None,
            Some(keys) => {
                let parts = keys.iter().zip(mappings).map(|(key, mapping)| match key {
                    None => Ok(After::Missing),
                    Some(key) => Ok(After::Value(mapping.first_code(key)?)),
                });
                Some(parts.collect::<Result<_>>()?)
            }
        };
        Ok(Some(Self {
            size: page.size,
            order: page.order.clone(),
            after,
            tuples: Vec::new(),
            prefixes: mappings.iter().map(|_| Vec::new()).collect(),
        }))
    }

    /// The tuple that a code of a level makes with what is before it: `parent` is an ordinal of the level
    /// before, or the bucket around.
    fn tuple(&self, level: usize, parent: u32, code: u64, is_missing: bool) -> (u32, Vec<Rank>) {
        let before = level.checked_sub(1).and_then(|level| {
            let ords = self.prefixes.get(level)?;
            ords.get(parent as usize)
        });
        let (group, mut tuple) = before.cloned().unwrap_or((parent, Vec::new()));
        let (is_descending, missing_first) = self.order.0.get(level).copied().unwrap_or_default();
        tuple.push(match (is_missing, missing_first) {
            (true, true) => (0, 0),
            (true, false) => (2, 0),
            (false, _) if is_descending => (VALUE, !code),
            (false, _) => (VALUE, code),
        });
        (group, tuple)
    }

    /// Whether a code of a level may lead to the page.
    pub(super) fn may_take(&self, level: usize, parent: u32, code: u64, is_missing: bool) -> bool {
        let (group, tuple) = self.tuple(level, parent, code, is_missing);
        if self.compare_after(&tuple).is_lt() {
            return false;
        }
        let Some(tuples) = self.tuples.get(group as usize) else {
            return true;
        };
        let is_full = tuples.len() >= self.size;
        let last = tuples.last().filter(|_| is_full);
        last.is_none_or(|last| tuple.as_slice() <= last.get(..tuple.len()).unwrap_or_default())
    }

    /// Notes an ordinal that a level gave to a code; of the last level, its tuple is one of the page then.
    pub(super) fn note(
        &mut self,
        level: usize,
        ord: u32,
        parent: u32,
        code: u64,
        is_missing: bool,
    ) {
        let num_levels = self.prefixes.len();
        let is_new = |prefixes: &Vec<(u32, Vec<Rank>)>| prefixes.len() == ord as usize;
        if !self.prefixes.get(level).is_some_and(is_new) {
            return;
        }
        let (group, tuple) = self.tuple(level, parent, code, is_missing);
        if level.saturating_add(1) == num_levels && self.compare_after(&tuple).is_gt() {
            let num_groups = (group as usize).saturating_add(1);
            if self.tuples.len() < num_groups {
                self.tuples.resize_with(num_groups, BTreeSet::new);
            }
            if let Some(tuples) = self.tuples.get_mut(group as usize) {
                tuples.insert(tuple.clone());
                if tuples.len() > self.size {
                    tuples.pop_last();
                }
            }
        }
        if let Some(prefixes) = self.prefixes.get_mut(level) {
            prefixes.push((group, tuple));
        }
    }

    /// Where the beginning of a tuple is, seen from that of the key that the page comes after. After all of
    /// it, and `Greater`, without one.
    fn compare_after(&self, tuple: &[Rank]) -> Ordering {
        let Some(after) = &self.after else {
            return Ordering::Greater;
        };
        let parts = tuple.iter().zip(after).zip(&self.order.0);
        let mut orders = parts.map(|(((class, rank), after), (is_descending, missing_first))| {
            let class_after = match (after, missing_first) {
                (After::Value(_), _) => VALUE,
                (After::Missing, true) => 0,
                (After::Missing, false) => 2,
            };
            let of_values = || {
                let code = if *is_descending { !rank } else { *rank };
                let order = match after {
                    After::Value(Some((least, is_same))) => match code.cmp(least) {
                        Ordering::Equal if !is_same => Ordering::Greater,
                        order => order,
                    },
                    // All codes are below it.
                    After::Value(None) => Ordering::Less,
                    After::Missing => Ordering::Equal,
                };
                if *is_descending {
                    order.reverse()
                } else {
                    order
                }
            };
            class.cmp(&class_after).then_with(of_values)
        });
        orders
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }

    /// The memory that it takes, about.
    pub(super) fn num_bytes(&self) -> usize {
        let num: usize = self.prefixes.iter().map(Vec::len).sum();
        let per_tuple = size_of::<(u32, Vec<Rank>)>() + self.prefixes.len() * size_of::<Rank>();
        num.saturating_mul(per_tuple).saturating_mul(2)
    }
}

impl Page {
    /// Whether a tuple comes after the key that the page does.
    pub(super) fn is_behind(&self, tuple: &[Option<Key>]) -> bool {
        let after = self.after.as_ref();
        after.is_none_or(|after| self.order.compare(tuple, after).is_gt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(size: usize, order: &[(bool, bool)], after: Option<Vec<After>>) -> Best {
        Best {
            size,
            order: TupleOrder(order.to_vec()),
            after,
            tuples: Vec::new(),
            prefixes: order.iter().map(|_| Vec::new()).collect(),
        }
    }

    #[test]
    fn what_is_beyond_a_full_page_is_left_out_at_every_level() {
        let mut page = best(2, &[(false, true), (false, true)], None);
        // The tuples (5, 1) and (5, 3) of the bucket around 0.
        page.note(0, 0, 0, 5, false);
        assert!(page.may_take(0, 0, 9, false), "there is room");
        page.note(1, 0, 0, 1, false);
        page.note(1, 1, 0, 3, false);
        assert!(!page.may_take(0, 0, 6, false));
        assert!(page.may_take(0, 0, 5, false));
        assert!(page.may_take(0, 0, 4, false));
        assert!(page.may_take(0, 0, 6, true), "no value comes first");
        assert!(
            page.may_take(0, 1, 6, false),
            "another bucket around has a page of its own"
        );
        assert!(page.may_take(1, 0, 2, false));
        assert!(page.may_take(1, 0, 3, false));
        assert!(!page.may_take(1, 0, 4, false));
        // One that comes before them puts the last off the page.
        page.note(1, 2, 0, 2, false);
        assert!(!page.may_take(1, 0, 3, false));
    }

    #[test]
    fn what_descends_or_lacks_a_value_keeps_to_its_order() {
        let mut page = best(1, &[(true, false)], None);
        page.note(0, 0, 0, 5, false);
        assert!(!page.may_take(0, 0, 4, false));
        assert!(page.may_take(0, 0, 6, false));
        assert!(!page.may_take(0, 0, 0, true));
    }

    #[test]
    fn what_comes_before_the_page_takes_no_room_on_it() {
        for (is_descending, is_same, taken) in [
            // Whether 4, 5 and 6 are taken after the key whose least code is 5.
            (false, true, [false, true, true]),
            (false, false, [false, true, true]),
            (true, true, [true, true, false]),
            (true, false, [true, false, false]),
        ] {
            let after = vec![After::Value(Some((5, is_same)))];
            let page = best(1, &[(is_descending, true)], Some(after));
            let found = [4, 5, 6].map(|code| page.may_take(0, 0, code, false));
            assert_eq!(found, taken, "{is_descending} {is_same}");
        }
        let mut page = best(
            1,
            &[(false, true)],
            Some(vec![After::Value(Some((5, true)))]),
        );
        page.note(0, 0, 0, 5, false);
        assert!(
            page.may_take(0, 0, 9, false),
            "the key itself is not on the page"
        );
        page.note(0, 1, 0, 7, false);
        assert!(!page.may_take(0, 0, 9, false));
        // All codes of the split are below the key.
        let page = best(1, &[(false, true)], Some(vec![After::Value(None)]));
        assert!(!page.may_take(0, 0, u64::MAX, false));
    }
}
