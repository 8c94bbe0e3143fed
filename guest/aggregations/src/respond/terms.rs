//! Buckets of terms: their selection and order.

use std::cmp::Ordering;

use serde_json::Value;

use super::Writer;
use super::buckets::Row;
use super::keys::{Dates, key_fields, part, part_text};
use super::metrics::Shown;
use super::outcome::{BucketList, Outcome, write_fields, write_text, write_whole};
use crate::Result;
use crate::calendar::{DateFormat, Zone};
use crate::key::Key;
use crate::partial::Node;
use crate::request::{Aggregation, Kind, MultiTerms, OrderBy, RareTerms, Terms, TermsOrder};

/// Bucket that may be shown.
struct Candidate {
    place: usize,
    count: u64,
    /// Metrics of the sort order.
    metrics: Vec<Option<f64>>,
}

/// Returns the terms of a row that have enough documents.
fn candidates(row: &Row<'_, '_>, order: &[TermsOrder], min_doc_count: u64) -> Vec<Candidate> {
    let metric_at = |place, order: &TermsOrder| match &order.by {
        OrderBy::Metric { path, property } => {
            let inside = &row.aggregation.inside;
            Some(metric_of(inside, row.inside(), Some(place), path, property))
        }
        _ => None,
    };
    let counted = row.places().map(|place| (place, row.count(place)));
    let counted = counted.filter(|(_, count)| *count >= min_doc_count);
    let candidates = counted.map(|(place, count)| Candidate {
        place,
        count,
        metrics: order
            .iter()
            .filter_map(|order| metric_at(place, order))
            .collect(),
    });
    candidates.collect()
}

impl Writer<'_> {
    pub(super) fn terms<'r>(&self, request: &Terms, row: &Row<'r, '_>) -> Result<Outcome<'r>> {
        let dates = request.format.as_ref().unwrap_or(self.dialect.dates());
        let sizes = (request.size, request.min_doc_count);
        self.ordered(row, &request.order, sizes, dates)
    }

    pub(super) fn multi_terms<'r>(
        &self,
        request: &MultiTerms,
        row: &Row<'r, '_>,
    ) -> Result<Outcome<'r>> {
        let sizes = (request.size, request.min_doc_count);
        self.ordered(row, &request.order, sizes, self.dialect.dates())
    }

    fn ordered<'r>(
        &self,
        row: &Row<'r, '_>,
        order: &[TermsOrder],
        (size, min_doc_count): (usize, u64),
        dates: &DateFormat,
    ) -> Result<Outcome<'r>> {
        let mut candidates = candidates(row, order, min_doc_count);
        let mut num_other = row.dropped().doc_count;
        // More are asked for than were kept.
        if size > candidates.len() && num_other > 0 {
            self.add_buckets(row.aggregation, usize::MAX)?;
        }
        let compare = |left: &Candidate, right: &Candidate| {
            // Indices are in the order of keys.
            compare(left, right, order).then(left.place.cmp(&right.place))
        };
        if size < candidates.len() {
            candidates.select_nth_unstable_by(size, compare);
            let others = candidates.split_off(size);
            num_other = others
                .iter()
                .fold(num_other, |sum, other| sum.saturating_add(other.count));
        }
        canter_sorting::sort_by(&mut candidates, compare);
        self.add_buckets(row.aggregation, candidates.len())?;
        if !self.has_pipelines && row.aggregation.inside.is_empty() {
            let mut text = String::new();
            PlainTerms {
                row,
                places: candidates.iter().map(|found| found.place).collect(),
                num_other,
                dates,
            }
            .write(&mut text);
            return Ok(Outcome::Written(text));
        }
        let shown = |key: &Key| shown_key(key, dates);
        let mut buckets = Vec::with_capacity(candidates.len());
        for candidate in &candidates {
            let fields = row.key(candidate.place).map(shown).unwrap_or_default();
            buckets.push(self.bucket(row, Some(candidate.place), None, fields)?);
        }
        Ok(Outcome::Buckets(BucketList {
            buckets,
            is_keyed: false,
            before: vec![
                (
                    "doc_count_error_upper_bound",
                    Value::from(row.dropped().max_doc_count),
                ),
                ("sum_other_doc_count", Value::from(num_other)),
            ],
        }))
    }

    /// Selects terms with few documents, sorted by count and then by key.
    pub(super) fn rare_terms<'r>(
        &self,
        request: &RareTerms,
        row: &Row<'r, '_>,
    ) -> Result<Outcome<'r>> {
        let places = row
            .places()
            .filter(|place| row.count(*place) <= request.max_doc_count);
        let mut places: Vec<usize> = places.collect();
        canter_sorting::sort_by_key(&mut places, |place| (row.count(*place), *place));
        self.add_buckets(row.aggregation, places.len())?;
        let shown = |key: &Key| shown_key(key, self.dialect.dates());
        let mut buckets = Vec::with_capacity(places.len());
        for place in places {
            let fields = row.key(place).map(shown).unwrap_or_default();
            buckets.push(self.bucket(row, Some(place), None, fields)?);
        }
        Ok(Outcome::Buckets(BucketList {
            buckets,
            is_keyed: false,
            before: Vec::new(),
        }))
    }
}

/// Terms without sub-aggregations: an answer may contain thousands of such lists, one in each
/// bucket of a histogram.
struct PlainTerms<'a> {
    row: &'a Row<'a, 'a>,
    /// Indices of the shown buckets, in order.
    places: Vec<usize>,
    /// Sum of the document counts of all others.
    num_other: u64,
    /// Format of date keys.
    dates: &'a DateFormat,
}

impl PlainTerms<'_> {
    fn write(&self, out: &mut String) {
        let Self {
            row,
            places,
            num_other,
            dates,
        } = self;
        out.push_str("{\"doc_count_error_upper_bound\":");
        write_whole(row.dropped().max_doc_count, out);
        out.push_str(",\"sum_other_doc_count\":");
        write_whole(*num_other, out);
        out.push_str(",\"buckets\":[");
        let mut comma = "";
        for place in places {
            out.push_str(comma);
            out.push('{');
            match row.key(*place) {
                Some(Key::Text(text)) => {
                    out.push_str("\"key\":");
                    write_text(text, out);
                    out.push(',');
                }
                Some(key) => write_fields(&shown_key(key, dates), out),
                None => {}
            }
            out.push_str("\"doc_count\":");
            write_whole(row.count(*place), out);
            out.push('}');
            comma = ",";
        }
        out.push_str("]}");
    }
}

pub(super) fn shown_key(key: &Key, format: &DateFormat) -> Vec<(&'static str, Value)> {
    let utc = Zone::utc();
    let dates = Dates { format, zone: &utc };
    let (value, text) = match key {
        Key::Tuple(keys) => {
            let parts = keys.iter().map(|key| match key {
                Some(Key::Date(time_ns)) => Value::from(dates.text(*time_ns)),
                key => part(key.as_ref(), dates),
            });
            let parts: Vec<Value> = parts.collect();
            let texts: Vec<String> = keys
                .iter()
                .map(|key| part_text(key.as_ref(), dates))
                .collect();
            (Value::from(parts), Some(texts.join("|")))
        }
        key => key_fields(key, dates),
    };
    let mut fields = vec![("key", value)];
    fields.extend(text.map(|text| ("key_as_string", Value::from(text))));
    fields
}

fn compare(left: &Candidate, right: &Candidate, order: &[TermsOrder]) -> Ordering {
    if order.is_empty() {
        return right.count.cmp(&left.count);
    }
    let mut metrics = left.metrics.iter().zip(&right.metrics);
    for order in order {
        let found = match &order.by {
            OrderBy::Count => left.count.cmp(&right.count),
            OrderBy::Key => left.place.cmp(&right.place),
            OrderBy::Metric { .. } => match metrics.next() {
                // A missing number comes last in either direction.
                Some((None, Some(_))) => return Ordering::Greater,
                Some((Some(_), None)) => return Ordering::Less,
                Some((Some(left), Some(right))) => left.total_cmp(right),
                _ => Ordering::Equal,
            },
        };
        let found = if order.is_descending {
            found.reverse()
        } else {
            found
        };
        if found.is_ne() {
            return found;
        }
    }
    Ordering::Equal
}

/// Returns the number of a metric in a bucket; `None` is a bucket without documents, whose sums and
/// counts are 0.
fn metric_of(
    inside: &[Aggregation],
    nodes: Option<&[Node]>,
    bucket: Option<usize>,
    path: &[usize],
    property: &str,
) -> Option<f64> {
    let (first, rest) = path.split_first()?;
    let aggregation = inside.get(*first)?;
    let node = nodes?.get(*first)?;
    match (&aggregation.kind, node) {
        (Kind::Metric(metric), Node::Metric(found)) => {
            Shown::new(metric, bucket.map(|bucket| (found, bucket))).property(property)
        }
        (_, Node::Buckets(buckets)) => {
            // At most one bucket, if it contains any document.
            let only = bucket.and_then(|bucket| buckets.of(bucket).next());
            match (rest.is_empty(), only) {
                (true, only) => only.map_or(Some(0.0), |only| Some(buckets.count(only) as f64)),
                (false, only) => metric_of(
                    &aggregation.inside,
                    Some(&buckets.inside),
                    only,
                    rest,
                    property,
                ),
            }
        }
        _ => None,
    }
}
