//! Buckets by ranges of the distance of places from a point.

use super::super::block::Block;
use super::super::field::Field;
use super::{Each, Mapping, Room, pass_on, place_keys};
use crate::Result;
use crate::key::Key;
use crate::request::Origin;

/// Buckets by ranges of distances.
pub(in crate::collect) struct ByDistance {
    field: Field,
    origin: Origin,
    /// First distance of each range, and the one behind it.
    ranges: Vec<(f64, f64)>,
    room: Room,
}

impl ByDistance {
    /// Creates a mapping for ranges from an inclusive to an exclusive number of units.
    pub(in crate::collect) fn new(
        field: Field,
        origin: &Origin,
        ranges: impl Iterator<Item = (Option<Key>, Option<Key>)>,
    ) -> Self {
        let number = |end: Option<Key>, open: f64| match end {
            Some(Key::Number(number)) => number.to_f64(),
            _ => open,
        };
        let ends = ranges.map(|(from, to)| (number(from, 0.0), number(to, f64::INFINITY)));
        Self {
            field,
            origin: origin.clone(),
            ranges: ends.collect(),
            room: Room::default(),
        }
    }
}

impl Mapping for ByDistance {
    fn num_codes(&self) -> Vec<Option<u64>> {
        vec![Some(1); self.ranges.len()]
    }

    fn map(&mut self, block: Block<'_>, each: Each<'_>) -> Result<()> {
        let Room {
            rows: room,
            docs,
            groups,
            codes,
        } = &mut self.room;
        let mut values: Vec<u64> = Vec::new();
        for column in &self.field.columns {
            let rows = column.rows(block, room);
            column.codes(rows.rows, &mut values)?;
            let distances: Vec<f64> = values.iter().map(|code| self.origin.to(*code)).collect();
            for (place, (from, to)) in self.ranges.iter().enumerate() {
                docs.clear();
                groups.clear();
                let mut last = None;
                let pairs = rows.docs.into_iter().zip(&distances).enumerate();
                for (at, (doc, distance)) in pairs {
                    let group = rows.groups.at(at);
                    if from <= distance && distance < to && last != Some((doc, group)) {
                        last = Some((doc, group));
                        docs.push(doc);
                        groups.push(group);
                    }
                }
                pass_on(place, docs, groups, codes, each)?;
            }
        }
        Ok(())
    }

    fn keys(&self, column: usize, codes: &[u64]) -> Result<Vec<Option<Key>>> {
        Ok(place_keys(column, codes))
    }
}
