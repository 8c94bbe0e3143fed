//! Buckets by range of values.

use std::ops::RangeInclusive;

use super::super::block::Block;
use super::super::field::{Column, Field, without_value};
use super::{Each, Mapping, Room, pass_on, place_keys};
use crate::Result;
use crate::key::Key;

/// Buckets by range of values.
pub(in crate::collect) struct ByRange {
    field: Field,
    /// First and last code, for each column and each range.
    codes: Vec<Vec<Option<RangeInclusive<u64>>>>,
    /// For each range: whether it contains documents without a value.
    missing: Vec<bool>,
    room: Room,
}

impl ByRange {
    /// Creates a mapping for ranges from an inclusive to an exclusive key.
    pub(in crate::collect) fn new(
        field: Field,
        ranges: &[(Option<Key>, Option<Key>)],
        missing: Option<&Key>,
    ) -> Result<Self> {
        let is_in = |(from, to): &(Option<Key>, Option<Key>), key: &Key| {
            from.as_ref().is_none_or(|from| key >= from) && to.as_ref().is_none_or(|to| key < to)
        };
        let mut codes = Vec::with_capacity(field.columns.len());
        for column in &field.columns {
            let of_range =
                |(from, to): &(Option<Key>, Option<Key>)| -> Result<Option<RangeInclusive<u64>>> {
                    let Some(first) = first_code(column, from.as_ref())? else {
                        return Ok(None);
                    };
                    let beyond = match to {
                        None => None,
                        Some(to) => first_code(column, Some(to))?,
                    };
                    Ok(match beyond {
                        None => Some(first..=column.values.max()),
                        Some(beyond) if first < beyond => Some(first..=beyond - 1),
                        Some(_) => None,
                    })
                };
            codes.push(ranges.iter().map(of_range).collect::<Result<_>>()?);
        }
        Ok(Self {
            field,
            codes,
            missing: ranges
                .iter()
                .map(|range| missing.is_some_and(|missing| is_in(range, missing)))
                .collect(),
            room: Room::default(),
        })
    }
}

/// Returns the smallest code of a column whose key is not below `bound`, or `None` if all are
/// below.
pub(super) fn first_code(column: &Column, bound: Option<&Key>) -> Result<Option<u64>> {
    let Some(bound) = bound else {
        return Ok(Some(column.values.min()));
    };
    let (mut low, mut high) = (column.values.min(), column.values.max());
    let is_below = |code: u64| -> Result<bool> {
        let keys = column.keys(&[code])?;
        Ok(keys.first().is_some_and(|key| key < bound))
    };
    if is_below(high)? {
        return Ok(None);
    }
    while low < high {
        let middle = low + (high - low) / 2;
        match is_below(middle)? {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    Ok(Some(low))
}

impl Mapping for ByRange {
    fn num_codes(&self) -> Vec<Option<u64>> {
        vec![Some(1); self.missing.len()]
    }

    fn map(&mut self, block: Block<'_>, each: Each<'_>) -> Result<()> {
        let Room {
            rows: room,
            docs,
            groups,
            codes,
        } = &mut self.room;
        let mut values: Vec<u64> = Vec::new();
        for (column, ranges) in self.field.columns.iter().zip(&self.codes) {
            let rows = column.rows(block, room);
            column.codes(rows.rows, &mut values)?;
            for (place, range) in ranges.iter().enumerate() {
                let Some(range) = range else {
                    continue;
                };
                docs.clear();
                groups.clear();
                let mut last = None;
                let pairs = rows.docs.into_iter().zip(&values).enumerate();
                for (at, (doc, value)) in pairs {
                    let group = rows.groups.at(at);
                    if range.contains(value) && last != Some((doc, group)) {
                        last = Some((doc, group));
                        docs.push(doc);
                        groups.push(group);
                    }
                }
                pass_on(place, docs, groups, codes, each)?;
            }
        }
        if self.missing.contains(&true) {
            without_value(&self.field.columns, block, docs, groups);
            for (place, is_in) in self.missing.iter().enumerate() {
                if *is_in {
                    pass_on(place, docs, groups, codes, each)?;
                }
            }
        }
        Ok(())
    }

    fn keys(&self, column: usize, codes: &[u64]) -> Result<Vec<Option<Key>>> {
        Ok(place_keys(column, codes))
    }
}
