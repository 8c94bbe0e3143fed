//! Buckets of one aggregation in one parent bucket, and aggregations with a fixed number of
//! buckets.

use std::ops::Range as Places;

use serde_json::Value;

use super::histogram::Around;
use super::keys::{Dates, address, float, milliseconds};
use super::outcome::{Bucket, BucketList, Outcome};
use super::{Dialect, Writer};
use crate::Result;
use crate::calendar::Span;
use crate::key::Key;
use crate::partial::{Buckets, Dropped, Node, fold};
use crate::request::{Adjacency, Aggregation, Filters, Kind, OneRange, Range, RangeOf};

/// Buckets of one aggregation in one parent bucket.
pub(super) struct Row<'r, 'p> {
    pub(super) aggregation: &'r Aggregation,
    buckets: Option<&'p Buckets>,
    parent: usize,
}

impl<'r, 'p> Row<'r, 'p> {
    pub(super) fn new(
        aggregation: &'r Aggregation,
        node: Option<&'p Node>,
        bucket: Option<usize>,
    ) -> Self {
        let buckets = match (node, bucket) {
            (Some(Node::Buckets(buckets)), Some(_)) => Some(buckets),
            _ => None,
        };
        Self {
            aggregation,
            buckets,
            parent: bucket.unwrap_or_default(),
        }
    }

    /// Returns the indices of the buckets, in the order of their keys.
    pub(super) fn places(&self) -> Places<usize> {
        self.buckets.map_or(0..0, |buckets| buckets.of(self.parent))
    }

    pub(super) fn key(&self, place: usize) -> Option<&'p Key> {
        self.buckets?.key(place)
    }

    pub(super) fn count(&self, place: usize) -> u64 {
        self.buckets.map_or(0, |buckets| buckets.count(place))
    }

    pub(super) fn dropped(&self) -> Dropped {
        self.buckets
            .map_or_else(Dropped::default, |buckets| buckets.dropped(self.parent))
    }

    /// Returns the sub-aggregations of the buckets.
    pub(super) fn inside(&self) -> Option<&'p [Node]> {
        self.buckets.map(|buckets| buckets.inside.as_slice())
    }

    /// Merges buckets into new ones with these keys, ascending: `map` gives the index of each bucket's new one, if any.
    pub(super) fn folded(&self, keys: Vec<Key>, map: &[Option<u32>]) -> Node {
        let mut counts = vec![0u64; keys.len()];
        for (place, into) in map.iter().enumerate() {
            if let Some(count) = into.and_then(|into| counts.get_mut(into as usize)) {
                *count = count.saturating_add(self.count(place));
            }
        }
        let num_buckets = u32::try_from(keys.len()).unwrap_or(u32::MAX);
        let inside = self.inside().unwrap_or_default();
        Node::Buckets(Buckets {
            inside: fold(inside, map, keys.len()),
            keys,
            offsets: vec![0, num_buckets],
            ids: (0..num_buckets).collect(),
            counts,
            dropped: Vec::new(),
        })
    }

    /// Returns the bucket of a range or filter of the request, if it contains any document.
    fn of_place(&self, place: usize) -> Option<usize> {
        let is_it = |key: &Key| matches!(key, Key::Place(found) if *found as usize == place);
        self.places()
            .find(|bucket| self.key(*bucket).is_some_and(is_it))
    }
}

impl Writer<'_> {
    /// Builds a bucket with its sub-aggregations; one without documents has no index.
    pub(super) fn bucket<'r>(
        &self,
        row: &Row<'r, '_>,
        place: Option<usize>,
        name: Option<String>,
        fields: Vec<(&'static str, Value)>,
    ) -> Result<Bucket<'r>> {
        self.bucket_of_time(row, place, name, fields, None)
    }

    /// Builds a bucket like [`Self::bucket`], which may have a length of time.
    pub(super) fn bucket_of_time<'r>(
        &self,
        row: &Row<'r, '_>,
        place: Option<usize>,
        name: Option<String>,
        fields: Vec<(&'static str, Value)>,
        span: Option<Span>,
    ) -> Result<Bucket<'r>> {
        // Other buckets are identified by numbers or names.
        let has_value = matches!(
            row.aggregation.kind,
            Kind::Terms(_) | Kind::RareTerms(_) | Kind::Significant(_)
        );
        let key = place.filter(|_| has_value).and_then(|place| row.key(place));
        let doc_count = place.map_or(0, |place| row.count(place));
        let outside = self.around.get();
        self.around.set(Around {
            doc_count,
            span: span.or(outside.span),
        });
        let inside = self.level(&row.aggregation.inside, row.inside(), place)?;
        self.around.set(outside);
        Ok(Bucket {
            key: key.cloned(),
            name,
            fields,
            doc_count,
            inside,
        })
    }

    pub(super) fn single<'r>(&self, row: &Row<'r, '_>) -> Result<Outcome<'r>> {
        self.add_buckets(row.aggregation, 1)?;
        let bucket = self.bucket(row, row.of_place(0), None, Vec::new())?;
        Ok(Outcome::Bucket(bucket))
    }

    pub(super) fn filters<'r>(&self, request: &Filters, row: &Row<'r, '_>) -> Result<Outcome<'r>> {
        let num_buckets = request.filters.len() + usize::from(request.other.is_some());
        self.add_buckets(row.aggregation, num_buckets)?;
        let mut buckets = Vec::with_capacity(num_buckets);
        for place in 0..num_buckets {
            let name = match place < request.filters.len() {
                true => request.names.as_ref().and_then(|names| names.get(place)),
                false => request.other.as_ref(),
            };
            buckets.push(self.bucket(row, row.of_place(place), name.cloned(), Vec::new())?);
        }
        Ok(Outcome::Buckets(BucketList {
            buckets,
            is_keyed: request.names.is_some(),
            before: Vec::new(),
        }))
    }

    pub(super) fn adjacency<'r>(
        &self,
        request: &Adjacency,
        row: &Row<'r, '_>,
    ) -> Result<Outcome<'r>> {
        let cells = request.cells();
        let mut buckets = Vec::new();
        self.add_buckets(row.aggregation, row.places().len())?;
        for place in row.places() {
            let Some(Key::Place(cell)) = row.key(place) else {
                continue;
            };
            let name = |filter: usize| request.names.get(filter).map_or("", String::as_str);
            let name = match cells.get(*cell as usize) {
                Some((first, Some(second))) => {
                    [name(*first), &request.separator, name(*second)].concat()
                }
                Some((only, None)) => name(*only).to_owned(),
                None => continue,
            };
            let fields = vec![("key", Value::from(name))];
            buckets.push(self.bucket(row, Some(place), None, fields)?);
        }
        Ok(Outcome::Buckets(BucketList {
            buckets,
            is_keyed: false,
            before: Vec::new(),
        }))
    }

    pub(super) fn range<'r>(&self, request: &Range, row: &Row<'r, '_>) -> Result<Outcome<'r>> {
        self.add_buckets(row.aggregation, request.ranges.len())?;
        let mut order: Vec<usize> = (0..request.ranges.len()).collect();
        // Sorted by start, then by end. An open start precedes all others, and an open end follows.
        canter_sorting::sort_by_key(&mut order, |place| {
            let range = request.ranges.get(*place);
            let from = range.and_then(|range| range.from.clone());
            let to = range.and_then(|range| range.to.clone());
            (from, to.is_none(), to)
        });
        let mut buckets = Vec::with_capacity(order.len());
        for place in order {
            let Some(range) = request.ranges.get(place) else {
                continue;
            };
            let (name, mut fields) = shown(request, range, self.dialect);
            if !request.is_keyed {
                fields.insert(0, ("key", Value::from(name.as_str())));
            }
            buckets.push(self.bucket(row, row.of_place(place), Some(name), fields)?);
        }
        Ok(Outcome::Buckets(BucketList {
            buckets,
            is_keyed: request.is_keyed,
            before: Vec::new(),
        }))
    }
}

/// Returns the name of a range, and its ends.
fn shown(
    request: &Range,
    range: &OneRange,
    dialect: Dialect,
) -> (String, Vec<(&'static str, Value)>) {
    let dates = Dates {
        format: request.format.as_ref().unwrap_or(dialect.dates()),
        zone: &request.zone,
    };
    let is_distance = matches!(request.what, RangeOf::Distances(_));
    let text = |key: &Option<Key>| match key {
        None => "*".to_owned(),
        Some(Key::Number(number)) if is_distance && number.to_f64() == 0.0 => "*".to_owned(),
        Some(Key::Number(number)) => dialect.number_text(number.to_f64()),
        Some(Key::Date(time_ns)) => dates.text(*time_ns),
        Some(Key::Address(found)) => address(*found),
        Some(_) => String::new(),
    };
    let mut fields = Vec::new();
    for (name, name_as_text, end) in [
        ("from", "from_as_string", &range.from),
        ("to", "to_as_string", &range.to),
    ] {
        match end {
            Some(Key::Number(number)) => fields.push((name, float(number.to_f64()))),
            Some(Key::Date(time_ns)) => {
                fields.push((name, milliseconds(*time_ns)));
                fields.push((name_as_text, Value::from(dates.text(*time_ns))));
            }
            Some(Key::Address(found)) => fields.push((name, Value::from(address(*found)))),
            _ => {}
        }
    }
    let name = match (&range.key, &range.mask) {
        (Some(key), _) => key.clone(),
        (None, Some(mask)) if request.what == RangeOf::Addresses => mask.clone(),
        _ => format!("{}-{}", text(&range.from), text(&range.to)),
    };
    (name, fields)
}
