//! The distinct terms of a field, numbered as they come.
//!
//! ```text
//!   slots    hash · term + 1        8 bytes, a power of two of them, at most five in eight taken
//!   terms    offset of its key · number of its occurrences
//!   keys     one behind the other
//! ```
//!
//! A slot is found by the hash that it holds, so the table grows without looking at a key.

use xxhash_rust::xxh3::xxh3_64;

/// Number of slots of the first table.
const MIN_SLOTS: usize = 64;

#[derive(Default)]
pub(crate) struct Words {
    slots: Vec<u64>,
    terms: Vec<Term>,
    keys: Vec<u8>,
    is_full: bool,
}

#[derive(Clone, Copy)]
struct Term {
    key: u32,
    num: u32,
}

/// Returns the hash of a key. It decides no byte of a segment.
#[inline]
pub(crate) fn hash_of(key: &[u8]) -> u64 {
    let len = key.len();
    let (low, high) = match len {
        0 => (0, 0),
        1..4 => {
            let (first, middle, last) = (key[0], key[len / 2], key[len - 1]);
            let all = u32::from_le_bytes([first, middle, last, 0]);
            (u64::from(all), 0)
        }
        4..8 => (four(&key[..4]), four(&key[len - 4..])),
        8..=16 => (eight(&key[..8]), eight(&key[len - 8..])),
        _ => return xxh3_64(key),
    };
    folded(
        low ^ 0x9e37_79b9_7f4a_7c15,
        high ^ 0xd1b5_4a32_d192_ed03 ^ ((len as u64) << 56),
    )
}

fn four(bytes: &[u8]) -> u64 {
    bytes
        .try_into()
        .map_or(0, |bytes| u32::from_le_bytes(bytes).into())
}

fn eight(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

#[inline]
fn folded(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    (product >> 64) as u64 ^ product as u64
}

impl Words {
    pub(crate) fn len(&self) -> usize {
        self.terms.len()
    }

    /// Returns the number of bytes in memory.
    pub(crate) fn num_bytes(&self) -> usize {
        8 * self.slots.len() + size_of::<Term>() * self.terms.len() + self.keys.len()
    }

    /// Returns whether the keys have outgrown their offsets.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    #[inline]
    pub(crate) fn key(&self, term: u32) -> &[u8] {
        let term = term as usize;
        let end = self.terms.get(term + 1).map(|next| next.key as usize);
        &self.keys[self.terms[term].key as usize..end.unwrap_or(self.keys.len())]
    }

    /// Returns the number of occurrences that were counted.
    pub(crate) fn num(&self, term: u32) -> u32 {
        self.terms[term as usize].num
    }

    #[inline]
    pub(crate) fn count(&mut self, term: u32) {
        self.terms[term as usize].num += 1;
    }

    /// Returns the number of the term with this key, which has this hash.
    #[inline]
    pub(crate) fn term(&mut self, hash: u64, key: &[u8]) -> u32 {
        if self.terms.len() * 8 >= self.slots.len() * 5 {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut at = tag_of(hash) & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return self.add(at, hash, key);
            }
            if slot >> 32 == hash >> 32 {
                let term = slot as u32 - 1;
                if self.key(term) == key {
                    return term;
                }
            }
            at = (at + 1) & mask;
        }
    }

    fn add(&mut self, at: usize, hash: u64, key: &[u8]) -> u32 {
        let (Ok(term), Ok(offset)) = (
            u32::try_from(self.terms.len()),
            u32::try_from(self.keys.len()),
        ) else {
            self.is_full = true;
            return 0;
        };
        self.keys.extend_from_slice(key);
        self.terms.push(Term {
            key: offset,
            num: 0,
        });
        self.slots[at] = hash >> 32 << 32 | (u64::from(term) + 1);
        term
    }

    #[cold]
    fn grow(&mut self) {
        let len = (2 * self.slots.len()).max(MIN_SLOTS);
        let old = std::mem::replace(&mut self.slots, vec![0; len]);
        for slot in old.into_iter().filter(|slot| *slot != 0) {
            let mut at = tag_of(slot) & (len - 1);
            while self.slots[at] != 0 {
                at = (at + 1) & (len - 1);
            }
            self.slots[at] = slot;
        }
    }

    /// Frees what only looking up needs.
    pub(crate) fn close(&mut self) {
        self.slots = Vec::new();
    }
}

/// Returns the half of a hash that a slot keeps.
fn tag_of(hash: u64) -> usize {
    (hash >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_numbers_as_they_come() {
        let mut words = Words::default();
        let keys: Vec<String> = (0..10_000).map(|number| format!("{number:x}")).collect();
        for _ in 0..2 {
            for (nth, key) in keys.iter().enumerate() {
                let term = words.term(hash_of(key.as_bytes()), key.as_bytes());
                assert_eq!(term as usize, nth);
            }
        }
        assert_eq!(words.len(), keys.len());
        assert_eq!(words.key(9_999), b"270f");
    }

    #[test]
    fn equal_hashes_are_told_apart_by_their_keys() {
        let mut words = Words::default();
        for nth in 0..100_u32 {
            assert_eq!(words.term(7 << 32, &nth.to_le_bytes()), nth);
        }
        assert_eq!(words.term(7 << 32, &42_u32.to_le_bytes()), 42);
    }
}
