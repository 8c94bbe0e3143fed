//! Buckets by the leading bits of addresses.

use std::collections::BTreeMap;

use super::super::block::{Block, Docs, Groups};
use super::super::field::{Column, Field, RowRoom};
use super::{Each, Mapped, Mapping};
use crate::Result;
use crate::key::Key;
use crate::request::IpPrefix;

/// First address of the IPv6 forms of IPv4 addresses, and their number of bits.
const IPV4: u128 = 0xffff_0000_0000;

/// Buckets by the leading bits of addresses.
pub(in crate::collect) struct ByPrefix {
    field: Field,
    mask: u128,
    is_ipv6: bool,
    /// Numbers of the prefixes found so far, by prefix.
    found: BTreeMap<u128, u64>,
    /// Number of the prefix of each code of each column; `None` for an address of the other kind.
    known: Vec<BTreeMap<u64, Option<u64>>>,
}

impl ByPrefix {
    pub(in crate::collect) fn new(field: Field, prefix: &IpPrefix) -> Self {
        Self {
            known: vec![BTreeMap::new(); field.columns.len()],
            field,
            mask: prefix.mask(),
            is_ipv6: prefix.is_ipv6,
            found: BTreeMap::new(),
        }
    }
}

/// Returns the number of the prefix of a code.
fn number_of(
    column: &Column,
    code: u64,
    (mask, is_ipv6): (u128, bool),
    found: &mut BTreeMap<u128, u64>,
) -> Result<Option<u64>> {
    let keys = column.keys(&[code])?;
    let Some(Key::Address(address)) = keys.first() else {
        return Ok(None);
    };
    if !is_ipv6 && address >> 32 != IPV4 >> 32 {
        return Ok(None);
    }
    let next = found.len() as u64;
    Ok(Some(*found.entry(address & mask).or_insert(next)))
}

impl Mapping for ByPrefix {
    fn num_codes(&self) -> Vec<Option<u64>> {
        vec![None]
    }

    fn map(&mut self, block: Block<'_>, each: Each<'_>) -> Result<()> {
        let Self {
            field,
            mask,
            is_ipv6,
            found,
            known,
        } = self;
        let mut room = RowRoom::default();
        let (mut values, mut rows_of) = (Vec::new(), Vec::new());
        for (column, known) in field.columns.iter().zip(known) {
            let rows = column.rows(block, &mut room);
            column.codes(rows.rows, &mut values)?;
            for (place, (doc, code)) in rows.docs.into_iter().zip(&values).enumerate() {
                let number = match known.get(code) {
                    Some(number) => *number,
                    None => {
                        let number = number_of(column, *code, (*mask, *is_ipv6), found)?;
                        known.insert(*code, number);
                        number
                    }
                };
                if let Some(number) = number {
                    rows_of.push((doc, rows.groups.at(place), number));
                }
            }
        }
        // A document with several addresses of a prefix counts once.
        canter_sorting::sort(&mut rows_of);
        rows_of.dedup();
        if rows_of.is_empty() {
            return Ok(());
        }
        let docs: Vec<u32> = rows_of.iter().map(|(doc, ..)| *doc).collect();
        let groups: Vec<u32> = rows_of.iter().map(|(_, group, _)| *group).collect();
        let codes: Vec<u64> = rows_of.iter().map(|(.., code)| *code).collect();
        let mapped = Mapped {
            docs: Docs::List(&docs),
            groups: Groups::Each(&groups),
            codes: &codes,
        };
        each(0, mapped)
    }

    fn keys(&self, _: usize, codes: &[u64]) -> Result<Vec<Option<Key>>> {
        let by_number: BTreeMap<u64, u128> = self
            .found
            .iter()
            .map(|(prefix, number)| (*number, *prefix))
            .collect();
        let key = |code: &u64| by_number.get(code).copied().map(Key::Address);
        Ok(codes.iter().map(key).collect())
    }
}
