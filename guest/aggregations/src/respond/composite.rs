//! A page of the buckets of several fields.

use serde_json::{Map, Value};

use super::Writer;
use super::buckets::Row;
use super::keys::{Dates, float, part};
use super::outcome::{BucketList, Outcome};
use crate::Result;
use crate::calendar::Zone;
use crate::collect::TupleOrder;
use crate::key::Key;
use crate::request::{Composite, CompositeBy, CompositeSource};

/// The order of the buckets of a composite.
pub(crate) fn tuple_order(composite: &Composite) -> TupleOrder {
    let of_source = |source: &CompositeSource| {
        let missing_first = source.missing_first.unwrap_or(!source.is_descending);
        (source.is_descending, missing_first)
    };
    TupleOrder(composite.sources.iter().map(of_source).collect())
}

impl Writer {
    pub(super) fn composite<'r>(
        &self,
        request: &'r Composite,
        row: &Row<'r>,
    ) -> Result<Outcome<'r>> {
        let order = tuple_order(request);
        let keys_of = |place: usize| match row.key(place) {
            Some(Key::Tuple(keys)) => keys.as_slice(),
            _ => &[],
        };
        let mut places: Vec<usize> = row.places().collect();
        places.sort_by(|left, right| order.compare(keys_of(*left), keys_of(*right)));
        places.truncate(request.size);
        self.add_buckets(row.aggregation, places.len())?;
        let mut buckets = Vec::with_capacity(places.len());
        let mut last = None;
        for place in places {
            let key = Value::Object(shown(request, keys_of(place)));
            last = Some(key.clone());
            buckets.push(self.bucket(row, Some(place), None, vec![("key", key)])?);
        }
        Ok(Outcome::Buckets(BucketList {
            buckets,
            is_keyed: false,
            before: last.map(|last| ("after_key", last)).into_iter().collect(),
        }))
    }
}

fn shown(request: &Composite, keys: &[Option<Key>]) -> Map<String, Value> {
    let utc = Zone::utc();
    let fields = request.sources.iter().zip(keys).map(|(source, key)| {
        let value = match (&source.by, key) {
            (CompositeBy::Histogram { interval }, Some(Key::Interval(place))) => {
                float(*place as f64 * interval)
            }
            (CompositeBy::Dates { format, zone, .. }, key) => {
                let dates = Dates {
                    format: format.as_ref(),
                    zone,
                };
                part(key.as_ref(), dates)
            }
            (_, key) => {
                let dates = Dates {
                    format: None,
                    zone: &utc,
                };
                part(key.as_ref(), dates)
            }
        };
        (source.name.clone(), value)
    });
    fields.collect()
}
