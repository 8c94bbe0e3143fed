//! Checks of aggregations that put documents into buckets, but for `composite`.

use serde_json::{Map, Value};

use super::super::bounds::{MAX_BUCKET_PLACE, MAX_KEY_FIELDS, MAX_PATTERN_BYTES};
use super::Context;
use super::body::{Body, invalid, number_of};
use super::interval::{INTERVAL_FORM, interval_ms, whole_seconds_ms};
use super::metrics::missing_key;
use crate::SearchError;
use crate::query::parse_query;

pub(super) const TERMS: [&str; 11] = [
    "field",
    "size",
    "segment_size",
    "shard_size",
    "split_size",
    "show_term_doc_count_error",
    "min_doc_count",
    "order",
    "missing",
    "include",
    "exclude",
];
pub(super) const MULTI_TERMS: [&str; 8] = [
    "terms",
    "size",
    "segment_size",
    "shard_size",
    "split_size",
    "show_term_doc_count_error",
    "min_doc_count",
    "order",
];
pub(super) const HISTOGRAM: [&str; 7] = [
    "field",
    "interval",
    "offset",
    "min_doc_count",
    "hard_bounds",
    "extended_bounds",
    "keyed",
];
pub(super) const DATE_HISTOGRAM: [&str; 10] = [
    "field",
    "fixed_interval",
    "interval",
    "calendar_interval",
    "format",
    "offset",
    "min_doc_count",
    "hard_bounds",
    "extended_bounds",
    "keyed",
];
pub(super) const RANGE: [&str; 3] = ["field", "ranges", "keyed"];

pub(super) fn terms(body: &Body<'_>, context: &Context<'_>) -> Result<(), SearchError> {
    body.field("field")?;
    missing_key(body)?;
    for name in ["include", "exclude"] {
        match body.get(name) {
            Some(Value::String(pattern)) if pattern.len() > MAX_PATTERN_BYTES => {
                let what = format!("a pattern has at most {MAX_PATTERN_BYTES} bytes");
                return Err(body.too_large(name, &what));
            }
            None | Some(Value::String(_)) => {}
            Some(Value::Array(_)) => {
                let values = body.list(name)?.unwrap_or_default();
                if !values.iter().all(Value::is_string) {
                    return Err(body.invalid(name, "each entry must be a text"));
                }
            }
            Some(_) => return Err(body.invalid(name, "this must be a pattern or a list of texts")),
        }
    }
    sizes_and_order(body, context)
}

pub(super) fn multi_terms(body: &Body<'_>, context: &Context<'_>) -> Result<(), SearchError> {
    let terms = body.list("terms")?.unwrap_or_default();
    if terms.len() < 2 {
        return Err(body.invalid("terms", "a list of two or more fields is missing"));
    }
    if terms.len() > MAX_KEY_FIELDS {
        let what = format!("at most {MAX_KEY_FIELDS} fields are taken together");
        return Err(body.too_large("terms", &what));
    }
    for (place, entry) in terms.iter().enumerate() {
        let path = format!("{}.terms.{place}", body.path);
        let entry = Body::read(path, entry, &["field", "missing"])?;
        entry.field("field")?;
        missing_key(&entry)?;
    }
    sizes_and_order(body, context)
}

/// What `terms` and `multi_terms` have alike.
fn sizes_and_order(body: &Body<'_>, context: &Context<'_>) -> Result<(), SearchError> {
    let most = u64::from(context.limits.max_buckets);
    body.count("size", 1, most)?;
    for name in ["segment_size", "shard_size", "split_size"] {
        body.count(name, 1, most)?;
    }
    let min_doc_count = body.count("min_doc_count", 0, u64::MAX)?;
    // The terms with no document are all the others of a split's dictionary.
    if context.is_filtered && min_doc_count == Some(0) {
        return Err(body.invalid(
            "min_doc_count",
            "a min_doc_count of 0 is not allowed here: it would list terms of documents that may not be \
             searched; give 1 or more",
        ));
    }
    order(body, context)
}

/// An order is by count, by key, or by a metric in each bucket.
fn order(body: &Body<'_>, context: &Context<'_>) -> Result<(), SearchError> {
    let order = match body.get("order") {
        None => return Ok(()),
        Some(Value::Array(orders)) if orders.len() == 1 => orders.first(),
        Some(order) => Some(order),
    };
    let by = order.and_then(Value::as_object);
    let by = by
        .filter(|by| by.len() == 1)
        .and_then(|by| by.iter().next());
    let Some((target, direction)) = by else {
        return Err(body.invalid("order", "this must be such as {\"_count\": \"desc\"}"));
    };
    if !matches!(direction.as_str(), Some("asc" | "desc")) {
        return Err(body.invalid("order", "an order is \"asc\" or \"desc\""));
    }
    if target == "_count" || target == "_key" {
        return Ok(());
    }
    let (name, property) = target
        .split_once('.')
        .unwrap_or((target.as_str(), Default::default()));
    let Some(metric) = context.children.and_then(|children| children.get(name)) else {
        let what = format!("{name:?} is none of _count, _key and the aggregations inside");
        return Err(body.invalid("order", &what));
    };
    match is_ordered_by(metric, property) {
        true => Ok(()),
        false => {
            let what = format!("{target:?} is not one number of each bucket");
            Err(body.invalid("order", &what))
        }
    }
}

/// Whether an aggregation has one number under that name; no name is the only one.
fn is_ordered_by(metric: &Value, property: &str) -> bool {
    const STATS: [&str; 5] = ["count", "sum", "min", "max", "avg"];
    const EXTENDED: [&str; 7] = [
        "variance",
        "variance_sampling",
        "variance_population",
        "sum_of_squares",
        "std_deviation",
        "std_deviation_sampling",
        "std_deviation_population",
    ];
    let kinds = metric.as_object().into_iter().flat_map(Map::keys);
    match kinds
        .map(String::as_str)
        .find(|kind| *kind != "aggs")
        .unwrap_or_default()
    {
        "avg" | "sum" | "min" | "max" | "value_count" | "cardinality" => property.is_empty(),
        "stats" => STATS.contains(&property),
        "extended_stats" => STATS.contains(&property) || EXTENDED.contains(&property),
        "percentiles" => property
            .parse::<f64>()
            .is_ok_and(|percent| (0.0..=100.0).contains(&percent)),
        _ => false,
    }
}

pub(super) fn histogram(body: &Body<'_>, context: &Context<'_>) -> Result<(), SearchError> {
    body.field("field")?;
    let interval = body.number("interval")?.filter(|interval| *interval > 0.0);
    let Some(interval) = interval else {
        return Err(body.invalid("interval", "this must be a number above 0"));
    };
    if let Some(offset) = body.number("offset")?
        && (offset / interval).abs() > MAX_BUCKET_PLACE
    {
        return Err(body.too_large("offset", "the offset is too far for this interval"));
    }
    row_of_buckets(body, interval, context)
}

pub(super) fn date_histogram(body: &Body<'_>, context: &Context<'_>) -> Result<(), SearchError> {
    body.field("field")?;
    for name in ["interval", "calendar_interval", "format"] {
        if body.get(name).is_some() {
            return Err(body.invalid(name, "this is not supported; give fixed_interval"));
        }
    }
    let text = |name: &str| {
        body.get(name)
            .map(|value| value.as_str().unwrap_or_default())
    };
    let interval = text("fixed_interval").and_then(whole_seconds_ms);
    let Some(interval) = interval else {
        return Err(body.invalid("fixed_interval", INTERVAL_FORM));
    };
    if let Some(offset) = text("offset") {
        let unsigned = offset.strip_prefix(['-', '+']).unwrap_or(offset);
        if interval_ms(unsigned).is_none_or(|ms| ms % 1_000 != 0) {
            return Err(body.invalid("offset", INTERVAL_FORM));
        }
    }
    row_of_buckets(body, interval as f64, context)
}

/// The bounds of a histogram, and how many buckets they make: those are filled in whether or not documents are
/// in them.
fn row_of_buckets(
    body: &Body<'_>,
    interval: f64,
    context: &Context<'_>,
) -> Result<(), SearchError> {
    let min_doc_count = body.count("min_doc_count", 0, u64::MAX)?.unwrap_or(0);
    let hard = bounds(body, "hard_bounds", interval)?;
    let Some((first, last)) = bounds(body, "extended_bounds", interval)? else {
        return Ok(());
    };
    if min_doc_count > 0 {
        return Err(body.invalid(
            "extended_bounds",
            "a min_doc_count above 0 leaves out the buckets that these would add",
        ));
    }
    if hard.is_some_and(|(least, most)| first < least || last > most) {
        return Err(body.invalid("extended_bounds", "these must lie within hard_bounds"));
    }
    let num_buckets = (last - first) / interval;
    let most = context.limits.max_buckets;
    if num_buckets > f64::from(most) {
        return Err(body.too_large(
            "extended_bounds",
            &format!("these make {num_buckets:.0} buckets, more than the limit of {most}"),
        ));
    }
    Ok(())
}

/// `{"min": …, "max": …}`, each a number or, for dates, a time.
fn bounds(body: &Body<'_>, name: &str, interval: f64) -> Result<Option<(f64, f64)>, SearchError> {
    let Some(value) = body.get(name) else {
        return Ok(None);
    };
    let bounds = Body::read(format!("{}.{name}", body.path), value, &["min", "max"])?;
    let end = |end: &str| match bounds.get(end) {
        Some(Value::String(text)) => canter_doc_mapper::parse_datetime_literal(text)
            .map(|time| time.into_timestamp_millis() as f64)
            .ok_or_else(|| bounds.invalid(end, "this is no time, such as 2024-05-01T00:00:00Z")),
        Some(value) => number_of(value).ok_or_else(|| bounds.invalid(end, "this must be a number")),
        None => Err(bounds.invalid(end, "this is missing")),
    };
    let (min, max) = (end("min")?, end("max")?);
    if min > max {
        return Err(body.invalid(name, "min is above max"));
    }
    match (min / interval).abs().max((max / interval).abs()) > MAX_BUCKET_PLACE {
        true => Err(body.too_large(name, "these are too far from 0 for this interval")),
        false => Ok(Some((min, max))),
    }
}

pub(super) fn range(body: &Body<'_>) -> Result<(), SearchError> {
    body.field("field")?;
    let ranges = body.list("ranges")?.unwrap_or_default();
    if ranges.is_empty() {
        return Err(body.invalid("ranges", "a list with at least one range is missing"));
    }
    for (place, range) in ranges.iter().enumerate() {
        let path = format!("{}.ranges.{place}", body.path);
        let range = Body::read(path, range, &["key", "from", "to"])?;
        if let (Some(from), Some(to)) = (range.number("from")?, range.number("to")?)
            && from >= to
        {
            return Err(range.invalid("to", "this must be above from"));
        }
        if range.get("key").is_some_and(|key| !key.is_string()) {
            return Err(range.invalid("key", "this must be a text"));
        }
    }
    Ok(())
}

/// `filter` holds a query, in the language of all queries.
pub(super) fn filter(path: &str, body: &Value, context: &Context<'_>) -> Result<(), SearchError> {
    let Value::String(query) = body else {
        let what = "this must be a query in the language of the key query, such as \"level:error\"";
        return Err(invalid(path, what));
    };
    parse_query(query, context.limits)
        .map(drop)
        .map_err(|mut error| {
            error.message = format!("{path}: {}", error.message);
            error
        })
}
