//! Co-occurrence of a split's frequent terms: whether any document contains two of them.
//!
//! Logs are written from templates, and most words of one template never occur with those of
//! another. The head then answers a query for two such words, both of which have long posting
//! lists.

use std::ops::Range;

use crate::FormatError;
use crate::codec::{Reader, Writer};
use crate::version::CO_OCCURRENCE;

/// Maximum number of terms that a reader accepts: their table has 256 KiB.
const MAX_TERMS: usize = 2_048;

/// Term, identified by its location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TermPlace {
    /// Number of the field in the split's schema.
    pub field: u32,
    /// Ordinal of the term in the field's dictionary, from 0.
    pub term_ord: u64,
}

/// For each pair of some terms: whether any document contains both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoOccurrence {
    /// Distinct terms, ascending.
    terms: Vec<TermPlace>,
    /// One bit for each pair, set if a document contains both: the pair of the second term with the
    /// first, then those of the third with the first and the second, and so on, the lowest bit of a
    /// byte first.
    bits: Vec<u8>,
}

impl CoOccurrence {
    /// Builds the table of distinct ascending terms. `meet` returns whether two terms, given by
    /// their indices with the higher one first, occur in one document.
    pub fn of_terms(terms: Vec<TermPlace>, meet: impl Fn(usize, usize) -> bool) -> Self {
        let mut bits = vec![0u8; num_bytes(terms.len())];
        for high in 1..terms.len() {
            for low in 0..high {
                let place = place_of(high, low);
                if meet(high, low)
                    && let Some(byte) = bits.get_mut(place / 8)
                {
                    *byte |= 1 << (place % 8);
                }
            }
        }
        Self { terms, bits }
    }

    /// Returns the ordinals of a field's terms.
    pub fn terms_of(&self, field: u32) -> impl Iterator<Item = u64> {
        let range = self.range_of(field);
        let terms = self.terms.get(range).unwrap_or_default();
        terms.iter().map(|term| term.term_ord)
    }

    /// Returns whether it is known that no document contains both terms.
    pub fn never_meet(&self, one: TermPlace, other: TermPlace) -> bool {
        let find = |term| self.terms.binary_search(&term).ok();
        let (Some(one), Some(other)) = (find(one), find(other)) else {
            return false;
        };
        let (high, low) = (one.max(other), one.min(other));
        if high == low {
            return false;
        }
        let place = place_of(high, low);
        let byte = self.bits.get(place / 8);
        byte.is_some_and(|byte| byte & (1 << (place % 8)) == 0)
    }

    fn range_of(&self, field: u32) -> Range<usize> {
        let start = self.terms.partition_point(|term| term.field < field);
        let end = self.terms.partition_point(|term| term.field <= field);
        start..end
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = Writer::default();
        let fields = self.terms.chunk_by(|one, next| one.field == next.field);
        out.varint(fields.clone().count() as u64);
        for terms in fields {
            out.varint(terms.first().map_or(0, |term| u64::from(term.field)));
            out.varint(terms.len() as u64);
            let mut next = 0;
            for term in terms {
                out.varint(term.term_ord.wrapping_sub(next));
                next = term.term_ord.wrapping_add(1);
            }
        }
        out.raw(&self.bits);
        out.into_bytes()
    }

    pub(crate) fn open(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(CO_OCCURRENCE.name, bytes);
        let num_fields = reader.count(2)?;
        let mut terms: Vec<TermPlace> = Vec::new();
        for _ in 0..num_fields {
            let field = reader.varint_u32()?;
            if terms.last().is_some_and(|last| last.field >= field) {
                return Err(reader.error("its fields are not in order"));
            }
            let num_terms = reader.count(1)?;
            if num_terms == 0 || num_terms > MAX_TERMS - terms.len().min(MAX_TERMS) {
                return Err(reader.error(format!("{num_terms} terms of a field")));
            }
            let mut next = Some(0u64);
            for _ in 0..num_terms {
                let skipped = reader.varint()?;
                let term_ord = next.and_then(|next| next.checked_add(skipped));
                let term_ord = term_ord
                    .ok_or_else(|| reader.error("a term's place is more than 64 bits can say"))?;
                terms.push(TermPlace { field, term_ord });
                next = term_ord.checked_add(1);
            }
        }
        let bits = reader.raw(num_bytes(terms.len()))?.to_vec();
        reader.finish()?;
        Ok(Self { terms, bits })
    }
}

/// Returns the index of a pair among all pairs.
fn place_of(high: usize, low: usize) -> usize {
    high * high.saturating_sub(1) / 2 + low
}

fn num_bytes(num_terms: usize) -> usize {
    place_of(num_terms, 0).div_ceil(8)
}

#[cfg(test)]
mod tests;
