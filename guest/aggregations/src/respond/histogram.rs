//! Buckets of histograms: a row from the first to the last, including empty ones.

use serde_json::{Value, json};

use super::Writer;
use super::buckets::Row;
use super::keys::{Dates, float, milliseconds};
use super::outcome::{Bucket, BucketList, Outcome};
use crate::Result;
use crate::calendar::Span;
use crate::key::Key;
use crate::partial::{Metric, Metrics};
use crate::request::{self, DateHistogram, Histogram, HistogramOrder, Rate, RateOf};

impl Writer<'_> {
    pub(super) fn histogram<'r>(
        &self,
        request: &Histogram,
        row: &Row<'r, '_>,
    ) -> Result<Outcome<'r>> {
        let Histogram {
            interval, offset, ..
        } = request;
        let place_of = |value: f64| {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "bounds were checked to be within the range"
            )]
            let place = ((value - offset) / interval).floor() as i64;
            place
        };
        let found = row.places().filter_map(|bucket| match row.key(bucket) {
            Some(Key::Interval(place)) => Some((*place, bucket)),
            _ => None,
        });
        let extended = request.row.extended_bounds;
        let extended = extended.map(|(first, last)| (place_of(first), place_of(last)));
        let next = |place: i64| place.checked_add(1);
        let places = self.filled(
            row,
            found.collect(),
            extended,
            next,
            request.row.min_doc_count,
        )?;
        let mut buckets = Vec::with_capacity(places.len());
        for (place, bucket) in places {
            let key = place as f64 * interval + offset;
            let text = request.format.as_ref().map(|format| format.text(key));
            let mut fields = vec![("key", float(key))];
            fields.extend(
                text.clone()
                    .map(|text| ("key_as_string", Value::from(text))),
            );
            let name = text.unwrap_or_else(|| format!("{key:?}"));
            buckets.push(self.bucket(row, bucket, Some(name), fields)?);
        }
        Ok(listed(buckets, &request.row))
    }

    pub(super) fn date_histogram<'r>(
        &self,
        request: &DateHistogram,
        row: &Row<'r, '_>,
    ) -> Result<Outcome<'r>> {
        let rounding = &request.rounding;
        let found = row.places().filter_map(|bucket| match row.key(bucket) {
            Some(Key::Date(start_ns)) => Some((*start_ns, bucket)),
            _ => None,
        });
        let extended = request.row.extended_bounds;
        let extended =
            extended.map(|(first, last)| (rounding.start_of(first), rounding.start_of(last)));
        let next = |start_ns: i64| Some(rounding.next(start_ns)).filter(|next| *next > start_ns);
        let starts = self.filled(
            row,
            found.collect(),
            extended,
            next,
            request.row.min_doc_count,
        )?;
        let dates = Dates {
            format: request.format.as_ref().unwrap_or(self.dialect.dates()),
            zone: &request.zone,
        };
        let mut buckets = Vec::with_capacity(starts.len());
        for (start_ns, bucket) in starts {
            let text = dates.text(start_ns);
            let fields = vec![
                ("key", milliseconds(start_ns)),
                ("key_as_string", Value::from(text.as_str())),
            ];
            let span = Some(rounding.span(start_ns));
            buckets.push(self.bucket_of_time(row, bucket, Some(text), fields, span)?);
        }
        Ok(listed(buckets, &request.row))
    }

    /// Returns the keys of all buckets to show, in order, with the indices of those that have
    /// documents.
    fn filled(
        &self,
        row: &Row<'_, '_>,
        found: Vec<(i64, usize)>,
        extended: Option<(i64, i64)>,
        next: impl Fn(i64) -> Option<i64>,
        min_doc_count: u64,
    ) -> Result<Vec<(i64, Option<usize>)>> {
        if min_doc_count > 0 {
            let found = found.into_iter();
            let found = found.filter(|(_, bucket)| row.count(*bucket) >= min_doc_count);
            let kept: Vec<_> = found.map(|(key, bucket)| (key, Some(bucket))).collect();
            self.add_buckets(row.aggregation, kept.len())?;
            return Ok(kept);
        }
        let first = found.first().map(|(key, _)| *key).into_iter();
        let last = found.last().map(|(key, _)| *key).into_iter();
        let first = first.chain(extended.map(|(first, _)| first)).min();
        let last = last.chain(extended.map(|(_, last)| last)).max();
        let (Some(first), Some(last)) = (first, last) else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        let mut found = found.into_iter().peekable();
        let mut key = Some(first);
        while let Some(at) = key.filter(|key| *key <= last) {
            // Counted one by one, so that a too long row is given up early.
            self.add_buckets(row.aggregation, 1)?;
            all.push((
                at,
                found
                    .next_if(|(key, _)| *key == at)
                    .map(|(_, bucket)| bucket),
            ));
            key = next(at);
        }
        Ok(all)
    }
}

fn listed<'r, T>(mut buckets: Vec<Bucket<'r>>, row: &request::Row<T>) -> Outcome<'r> {
    match row.order {
        HistogramOrder::Key {
            is_descending: false,
        } => {}
        HistogramOrder::Key {
            is_descending: true,
        } => buckets.reverse(),
        HistogramOrder::Count { is_descending } => {
            canter_sorting::sort_by(&mut buckets, |left, right| {
                let order = left.doc_count.cmp(&right.doc_count);
                if is_descending {
                    order.reverse()
                } else {
                    order
                }
            })
        }
    }
    Outcome::Buckets(BucketList {
        buckets,
        is_keyed: row.is_keyed,
        before: Vec::new(),
    })
}

/// Parent bucket of the current level.
#[derive(Clone, Copy, Default)]
pub(super) struct Around {
    pub(super) doc_count: u64,
    /// Length of the nearest date bucket.
    pub(super) span: Option<Span>,
}

impl Writer<'_> {
    /// Computes a rate; null outside of date buckets: a composite has a bucket for documents
    /// without a date.
    pub(super) fn rate(&self, rate: &Rate, found: Option<(&Metric, usize)>) -> Value {
        let Around { doc_count, span } = self.around.get();
        let states = found.map(|(metric, place)| (&metric.states, place));
        let amount = match (rate.of, states) {
            (RateOf::Documents, _) => doc_count as f64,
            (_, Some((Metrics::Stats(list), place))) => {
                list.get(place).map_or(0.0, |stats| stats.sum().to_f64())
            }
            (_, Some((Metrics::Counts(list), place))) => {
                list.get(place).copied().unwrap_or_default() as f64
            }
            _ => 0.0,
        };
        let num_units = match rate.unit {
            None => Some(1.0),
            Some(unit) => span.and_then(|span| span.num_units(unit)),
        };
        let value = num_units.map_or(Value::Null, |num_units| float(amount / num_units));
        json!({ "value": value })
    }
}
