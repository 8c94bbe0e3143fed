//! Places of sorted documents in a few bytes each: every place as the difference from the previous one.

use std::collections::BTreeMap;

use canter_split_format::{DocIdentity, SourceId};

use super::DocPlace;

/// Sorted places.
#[derive(Debug, Default)]
pub(super) struct Places {
    sources: Vec<SourceId>,
    bytes: Vec<u8>,
}

/// Writer of sorted places.
#[derive(Default)]
pub(super) struct PlacesWriter {
    places: Places,
    source_ords: BTreeMap<SourceId, u64>,
    last: Last,
}

/// The previous place.
#[derive(Clone, Copy, Default)]
struct Last {
    timestamp_ns: i64,
    source: Option<(SourceId, u64)>,
    position: u64,
}

impl PlacesWriter {
    pub(super) fn add(&mut self, (timestamp_ns, identity): DocPlace) {
        let source_ord = match self.last.source {
            Some((source, ord)) if source == identity.source => ord,
            _ => self.ord_of(identity.source),
        };
        let time = timestamp_ns.wrapping_sub(self.last.timestamp_ns);
        let position = identity.position.wrapping_sub(self.last.position);
        put(source_ord, &mut self.places.bytes);
        put(zigzag(time), &mut self.places.bytes);
        put(zigzag(position.cast_signed()), &mut self.places.bytes);
        self.last = Last {
            timestamp_ns,
            source: Some((identity.source, source_ord)),
            position: identity.position,
        };
    }

    fn ord_of(&mut self, source: SourceId) -> u64 {
        let sources = &mut self.places.sources;
        *self.source_ords.entry(source).or_insert_with(|| {
            sources.push(source);
            sources.len() as u64 - 1
        })
    }

    pub(super) fn finish(mut self) -> Places {
        self.places.bytes.shrink_to_fit();
        self.places
    }
}

impl Places {
    pub(super) fn iter(&self) -> impl Iterator<Item = DocPlace> {
        let mut rest = self.bytes.as_slice();
        let (mut timestamp_ns, mut position) = (0_i64, 0_u64);
        std::iter::from_fn(move || {
            let source_ord = usize::try_from(take(&mut rest)?).ok()?;
            timestamp_ns = timestamp_ns.wrapping_add(from_zigzag(take(&mut rest)?));
            position = position.wrapping_add(from_zigzag(take(&mut rest)?).cast_unsigned());
            let source = *self.sources.get(source_ord)?;
            Some((timestamp_ns, DocIdentity { source, position }))
        })
    }
}

/// Appends a number, seven bits per byte.
fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(number)
}

fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

fn from_zigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -((number & 1).cast_signed())
}
