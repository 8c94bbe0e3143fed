//! Page of the buckets of several fields.

use serde_json::{Map, Value};

use super::Writer;
use super::buckets::Row;
use super::keys::{Dates, float, milliseconds, part};
use super::outcome::{BucketList, Outcome};
use crate::Result;
use crate::calendar::{DateFormat, Zone};
use crate::collect::TupleOrder;
use crate::key::Key;
use crate::request::{Composite, CompositeBy, CompositeSource};

/// Returns the order of the buckets of a composite.
pub(crate) fn tuple_order(composite: &Composite) -> TupleOrder {
    let of_source = |source: &CompositeSource| {
        let missing_first = source.missing_first.unwrap_or(!source.is_descending);
        (source.is_descending, missing_first)
    };
    TupleOrder(composite.sources.iter().map(of_source).collect())
}

impl Writer<'_> {
    pub(super) fn composite<'r>(
        &self,
        request: &'r Composite,
        row: &Row<'r, '_>,
    ) -> Result<Outcome<'r>> {
        let order = tuple_order(request);
        let keys_of = |place: usize| match row.key(place) {
            Some(Key::Tuple(keys)) => keys.as_slice(),
            _ => &[],
        };
        let mut places: Vec<usize> = row.places().collect();
        canter_sorting::sort_by(&mut places, |left, right| {
            order.compare(keys_of(*left), keys_of(*right))
        });
        places.truncate(request.size);
        self.add_buckets(row.aggregation, places.len())?;
        let last = places.last().map(|place| {
            let after = self.key(request, keys_of(*place), after_date);
            ("after_key", Value::Object(after))
        });
        let mut buckets = Vec::with_capacity(places.len());
        for place in places {
            let key = Value::Object(self.key(request, keys_of(place), shown_date));
            let mut keys = request.sources.iter().zip(keys_of(place));
            let span = keys.find_map(|(source, key)| match (&source.by, key) {
                (CompositeBy::Dates { rounding, .. }, Some(Key::Date(start_ns))) => {
                    Some(rounding.span(*start_ns))
                }
                _ => None,
            });
            let fields = vec![("key", key)];
            buckets.push(self.bucket_of_time(row, Some(place), None, fields, span)?);
        }
        Ok(Outcome::Buckets(BucketList {
            buckets,
            is_keyed: false,
            before: last.into_iter().collect(),
        }))
    }

    /// Returns a key with its elements by the names of their sources. `date` formats the date of a
    /// `date_histogram`.
    fn key(
        &self,
        request: &Composite,
        keys: &[Option<Key>],
        date: fn(i64, Option<&DateFormat>, &Zone) -> Value,
    ) -> Map<String, Value> {
        let fields = request.sources.iter().zip(keys).map(|(source, key)| {
            let value = match (&source.by, key) {
                (CompositeBy::Histogram { interval }, Some(Key::Interval(place))) => {
                    float(*place as f64 * interval)
                }
                (CompositeBy::Dates { format, zone, .. }, Some(Key::Date(time_ns))) => {
                    date(*time_ns, format.as_ref(), zone)
                }
                (_, Some(Key::Date(time_ns))) => {
                    let is_typed = !self.untyped.contains(&source.field);
                    date_of_terms(*time_ns, is_typed)
                }
                (_, key) => {
                    let zone = &Zone::utc();
                    let format = self.dialect.dates();
                    part(key.as_ref(), Dates { format, zone })
                }
            };
            (source.name.clone(), value)
        });
        fields.collect()
    }
}

/// Formats a date as a value of a field. In an untyped field, milliseconds would be read back as a
/// plain number, and a fraction of them would lose digits: such a date is a text, which is read
/// back exactly.
fn date_of_terms(time_ns: i64, is_typed: bool) -> Value {
    const MILLISECOND_NS: i64 = 1_000_000;
    match is_typed && time_ns % MILLISECOND_NS == 0 {
        true => milliseconds(time_ns),
        false => Value::from(DateFormat::default().format(time_ns, &Zone::utc())),
    }
}

fn shown_date(time_ns: i64, format: Option<&DateFormat>, zone: &Zone) -> Value {
    match format {
        Some(format) => Value::from(format.format(time_ns, zone)),
        None => milliseconds(time_ns),
    }
}

/// Formats a date as shown in the bucket, unless that reads back as another date: a format may show
/// only the month, or an hour that occurs twice.
fn after_date(time_ns: i64, format: Option<&DateFormat>, zone: &Zone) -> Value {
    let is_read_back = |format: &&DateFormat| {
        let text = format.format(time_ns, zone);
        format.read(&text, zone, false) == Ok(time_ns)
    };
    shown_date(time_ns, format.filter(is_read_back), zone)
}
