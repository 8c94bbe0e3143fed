//! Page of a `composite` during collection: tuples that can no longer be on it are skipped.
//!
//! The codes of a split are ordered like their values, so tuples of codes are ordered like keys.
//! Once there are enough tuples for the page, any tuple beyond the last of them can never be on the
//! page: each of the earlier ones has a document. It is on no page of the whole index either, since
//! the earlier tuples of this split precede it there too.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::{Page, TupleOrder};
use crate::Result;
use crate::collect::mapping::{ByValue, Mapping};
use crate::key::Key;

/// Element of a tuple in the order of its source: whether it comes before the values, is a value,
/// or comes after them; and its code.
type Rank = (u8, u64);

const VALUE: u8 = 1;

/// Candidates for the page, for each parent bucket.
pub(super) struct Best {
    size: usize,
    order: TupleOrder,
    /// Key that the page follows.
    after: Option<Vec<After>>,
    /// Tuples of each parent bucket.
    tuples: Vec<BTreeSet<Vec<Rank>>>,
    /// For each level and ordinal: the parent bucket, and the tuple so far.
    prefixes: Vec<Vec<(u32, Vec<Rank>)>>,
}

/// Element of the key that the page follows, located among the codes of a split.
enum After {
    Missing,
    /// Smallest code that is not below it, if any, and whether they are equal.
    Value(Option<(u64, bool)>),
}

impl Best {
    /// Creates the candidates, or returns `None` if the codes of a source belong to several
    /// columns, which have no common order.
    pub(super) fn new(page: &Page, mappings: &[ByValue]) -> Result<Option<Self>> {
        // The last column represents documents without a value.
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

    /// Returns the tuple of a code appended to its prefix. `parent` is an ordinal of the level
    /// before, or the parent bucket.
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

    /// Returns whether a code of a level may lead to the page.
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

    /// Records the ordinal that a level gave to a code. At the last level, the tuple becomes a
    /// candidate.
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

    /// Compares the start of a tuple with the key that the page follows; returns `Greater` without
    /// such a key.
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

    /// Returns the approximate memory in bytes.
    pub(super) fn num_bytes(&self) -> usize {
        let num: usize = self.prefixes.iter().map(Vec::len).sum();
        let per_tuple = size_of::<(u32, Vec<Rank>)>() + self.prefixes.len() * size_of::<Rank>();
        num.saturating_mul(per_tuple).saturating_mul(2)
    }
}

impl Page {
    /// Returns whether a tuple comes after the key that the page follows.
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
        // The tuples (5, 1) and (5, 3) in the parent bucket 0.
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
        // An earlier tuple pushes the last one off the page.
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
            // Whether 4, 5 and 6 are accepted after the key whose smallest code is 5.
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
