//! Aggregations that the head of a split answers alone: date histograms on the sort field, terms of rolled-up
//! fields, and terms inside such histograms, over all of its documents.

use std::ops::Range;

use canter_split_format::Rollup;

use crate::key::Key;
use crate::partial::{Buckets, Node, Partial};
use crate::request::{Aggregation, Aggregations, DateHistogram, Kind, Terms};

impl Aggregations {
    /// What all documents of a split come to, if its head says so. `sort_field` is the one that they are rolled
    /// up by.
    pub fn from_rollup(&self, rollup: &Rollup, sort_field: &str) -> Option<Partial> {
        let rolled_up = RolledUp { rollup, sort_field };
        let nodes = self
            .list
            .iter()
            .map(|aggregation| rolled_up.one(aggregation));
        Some(Partial {
            nodes: nodes.collect::<Option<_>>()?,
        })
    }
}

struct RolledUp<'a> {
    rollup: &'a Rollup,
    sort_field: &'a str,
}

impl RolledUp<'_> {
    fn one(&self, aggregation: &Aggregation) -> Option<Node> {
        match &aggregation.kind {
            Kind::DateHistogram(histogram) if histogram.source.field == self.sort_field => {
                self.date_histogram(histogram, &aggregation.inside)
            }
            Kind::Terms(terms) if aggregation.inside.is_empty() => self.terms(
                terms,
                std::slice::from_ref(&(0..self.rollup.num_docs().len())),
            ),
            _ => None,
        }
    }

    fn date_histogram(&self, request: &DateHistogram, inside: &[Aggregation]) -> Option<Node> {
        if request.row.hard_bounds.is_some() {
            return None;
        }
        let width_ns = self.rollup.width_ns();
        let num_docs = self.rollup.num_docs();
        let mut cursor = request.rounding.cursor();
        let mut keys: Vec<Key> = Vec::new();
        let mut counts: Vec<u64> = Vec::new();
        let mut rows: Vec<Range<usize>> = Vec::new();
        for (place, count) in num_docs.iter().enumerate().filter(|(_, count)| **count > 0) {
            let bucket = self
                .rollup
                .first_bucket()
                .checked_add(i64::try_from(place).ok()?)?;
            let first_ns = bucket.checked_mul(width_ns)?;
            let start_ns = cursor.start_of(first_ns);
            // A bucket of the rollup that lies in two of the histogram cannot be divided.
            if cursor.start_of(first_ns.checked_add(width_ns - 1)?) != start_ns {
                return None;
            }
            match (keys.last(), counts.last_mut(), rows.last_mut()) {
                (Some(Key::Date(last)), Some(last_count), Some(row)) if *last == start_ns => {
                    *last_count += u64::from(*count);
                    row.end = place + 1;
                }
                _ => {
                    keys.push(Key::Date(start_ns));
                    counts.push(u64::from(*count));
                    rows.push(place..place + 1);
                }
            }
        }
        let num_buckets = u32::try_from(keys.len()).ok()?;
        let inside = inside.iter().map(|inside| match &inside.kind {
            Kind::Terms(terms) if inside.inside.is_empty() => self.terms(terms, &rows),
            _ => None,
        });
        Some(Node::Buckets(Buckets {
            keys,
            offsets: vec![0, num_buckets],
            ids: (0..num_buckets).collect(),
            counts,
            dropped: Vec::new(),
            inside: inside.collect::<Option<_>>()?,
        }))
    }

    /// The terms of each of these rows of rollup buckets.
    fn terms(&self, request: &Terms, rows: &[Range<usize>]) -> Option<Node> {
        let is_plain = request.source.missing.is_none()
            && request.include.is_none()
            && request.exclude.is_none()
            && request.min_doc_count > 0;
        let field = self
            .rollup
            .field(&request.source.field)
            .filter(|_| is_plain)?;
        let mut order: Vec<usize> = (0..field.keys.len()).collect();
        order.sort_by_key(|place| field.keys.get(*place));
        let keys = order.iter().filter_map(|place| field.keys.get(*place));
        let keys: Vec<Key> = keys.map(|key| Key::Text(key.clone())).collect();
        let mut offsets = vec![0];
        let mut ids = Vec::new();
        let mut counts = Vec::new();
        for row in rows {
            let found = field.counts_in(row.clone());
            for (id, place) in order.iter().enumerate() {
                let count = found.get(*place).copied().unwrap_or_default();
                if count > 0 {
                    ids.push(u32::try_from(id).ok()?);
                    counts.push(count);
                }
            }
            offsets.push(u32::try_from(ids.len()).ok()?);
        }
        Some(Node::Buckets(Buckets {
            keys,
            offsets,
            ids,
            counts,
            dropped: Vec::new(),
            inside: Vec::new(),
        }))
    }
}
