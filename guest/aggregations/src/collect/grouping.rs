//! Mapping from (parent bucket, code) to bucket: a dense table for few codes, else a hash table.

/// Ordinal of an absent bucket.
pub(crate) const NONE: u32 = u32::MAX;

/// Maximum number of entries of a dense table.
const MAX_DENSE: usize = 1 << 21;

/// Map that assigns ordinals to pairs of a parent bucket and a code, counted from 0 in order of
/// appearance.
#[derive(Debug)]
pub(crate) enum Grouping {
    Dense(Dense),
    Hashed(Hashed),
}

impl Grouping {
    /// Creates a map for codes below `num_codes`, if that is known.
    pub(crate) fn new(num_codes: Option<u64>) -> Self {
        let width = num_codes.and_then(|num_codes| usize::try_from(num_codes).ok());
        match width.filter(|width| *width <= MAX_DENSE / 4) {
            Some(width) => Self::Dense(Dense {
                width: width.max(1),
                table: Vec::new(),
            }),
            None => Self::Hashed(Hashed::default()),
        }
    }

    /// Returns the bucket of a code in a parent bucket, or `next` if it is new. `code` must be
    /// below `num_codes` as given to [`Self::new`].
    pub(crate) fn ord(&mut self, parent: u32, code: u64, next: u32) -> u32 {
        if let Self::Dense(dense) = self {
            match dense.ord(parent, code, next) {
                Some(ord) => return ord,
                None => *self = Self::Hashed(dense.to_hashed()),
            }
        }
        match self {
            Self::Hashed(hashed) => hashed.ord(parent, code, next),
            Self::Dense(_) => NONE,
        }
    }

    pub(crate) fn num_bytes(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.table.capacity() * size_of::<u32>(),
            Self::Hashed(hashed) => hashed.slots.capacity() * size_of::<Slot>(),
        }
    }
}

/// Table with a row of buckets for each parent bucket.
#[derive(Debug)]
pub(crate) struct Dense {
    width: usize,
    table: Vec<u32>,
}

impl Dense {
    /// Returns the bucket, or `None` if the table would be too large.
    #[inline]
    fn ord(&mut self, parent: u32, code: u64, next: u32) -> Option<u32> {
        let code = usize::try_from(code)
            .ok()
            .filter(|code| *code < self.width)?;
        let row = (parent as usize).checked_mul(self.width)?;
        let place = row.checked_add(code)?;
        if place >= self.table.len() {
            let end = row.checked_add(self.width)?;
            if end > MAX_DENSE {
                return None;
            }
            self.table.resize(end, NONE);
        }
        let slot = self.table.get_mut(place)?;
        if *slot == NONE {
            *slot = next;
        }
        Some(*slot)
    }

    fn to_hashed(&self) -> Hashed {
        let mut hashed = Hashed::default();
        for (place, ord) in self.table.iter().enumerate() {
            if *ord != NONE {
                let parent = u32::try_from(place / self.width).unwrap_or(NONE);
                hashed.ord(parent, (place % self.width) as u64, *ord);
            }
        }
        hashed
    }
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    code: u64,
    parent: u32,
    /// Bucket; [`NONE`] if the slot is free.
    ord: u32,
}

const FREE: Slot = Slot {
    code: 0,
    parent: 0,
    ord: NONE,
};

/// Hash table with open addressing and linear probing; at most half of its slots are used.
#[derive(Debug, Default)]
pub(crate) struct Hashed {
    slots: Vec<Slot>,
    len: usize,
}

impl Hashed {
    fn ord(&mut self, parent: u32, code: u64, next: u32) -> u32 {
        if self.len * 2 >= self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len().wrapping_sub(1);
        let mut place = hash(parent, code) & mask;
        while let Some(slot) = self.slots.get_mut(place) {
            if slot.ord == NONE {
                *slot = Slot {
                    code,
                    parent,
                    ord: next,
                };
                self.len += 1;
                return next;
            }
            if slot.code == code && slot.parent == parent {
                return slot.ord;
            }
            place = (place + 1) & mask;
        }
        NONE
    }

    fn grow(&mut self) {
        let num_slots = (self.slots.len() * 2).max(64);
        let old = std::mem::replace(&mut self.slots, vec![FREE; num_slots]);
        self.len = 0;
        for slot in old {
            if slot.ord != NONE {
                self.ord(slot.parent, slot.code, slot.ord);
            }
        }
    }
}

fn hash(parent: u32, code: u64) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (code ^ u64::from(parent).wrapping_mul(ODD)).wrapping_mul(ODD);
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(ODD);
    // Any bits of the hash serve.
    usize::try_from((mixed >> 29) & 0xffff_ffff).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equal_pairs_have_one_ordinal_and_others_another(
            pairs in proptest::collection::vec((0u32..50, 0u64..200_000), 0..3000),
            num_codes in prop_oneof![Just(None), Just(Some(200_000u64))],
        ) {
            let mut grouping = Grouping::new(num_codes);
            let mut expected: BTreeMap<(u32, u64), u32> = BTreeMap::new();
            for (parent, code) in pairs {
                let next = u32::try_from(expected.len()).unwrap();
                let ord = grouping.ord(parent, code, next);
                prop_assert_eq!(ord, *expected.entry((parent, code)).or_insert(next));
            }
        }
    }
}
