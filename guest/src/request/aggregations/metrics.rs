//! Checks of aggregations that have no buckets: a number, several, or some hits.

use serde_json::Value;

use super::super::bounds::{MAX_PRECISION_THRESHOLD, MAX_TOP_HITS};
use super::Context;
use super::body::{Body, check_name, number_of};
use crate::SearchError;

const KINDS: &str = "terms, histogram, date_histogram, range, filter, composite, multi_terms, avg, sum, min, max, \
     value_count, stats, extended_stats, percentiles, cardinality and top_hits";

const TOP_HITS: [&str; 4] = ["sort", "size", "from", "docvalue_fields"];

pub(super) fn metric(
    path: &str,
    kind: &str,
    body: &Value,
    context: &Context<'_>,
) -> Result<(), SearchError> {
    let read = |known: &[&str]| Body::read(path.to_owned(), body, known);
    match kind {
        "avg" | "sum" | "min" | "max" | "stats" | "value_count" => {
            let body = read(&["field", "missing"])?;
            body.number("missing")?;
            body.field("field")?;
        }
        "extended_stats" => {
            let body = read(&["field", "missing", "sigma"])?;
            body.number("missing")?;
            if body.number("sigma")?.is_some_and(|sigma| sigma < 0.0) {
                return Err(body.invalid("sigma", "this must be 0 or more"));
            }
            body.field("field")?;
        }
        "percentiles" => percentiles(&read(&["field", "missing", "percents", "keyed"])?)?,
        "cardinality" => {
            let body = read(&["field", "missing", "precision_threshold"])?;
            // Counts are as exact as they can be whatever this says.
            body.count("precision_threshold", 0, MAX_PRECISION_THRESHOLD)?;
            missing_key(&body)?;
            body.field("field")?;
        }
        "top_hits" => top_hits(&read(&TOP_HITS)?, context)?,
        _ => {
            return Err(SearchError::invalid(format!(
                "{path}: {kind:?} is no kind of aggregation; there are {KINDS}"
            )));
        }
    }
    Ok(())
}

fn percentiles(body: &Body<'_>) -> Result<(), SearchError> {
    body.number("missing")?;
    for percent in body.list("percents")?.into_iter().flatten() {
        let is_percent = percent
            .as_f64()
            .is_some_and(|percent| (0.0..=100.0).contains(&percent));
        if !is_percent {
            return Err(body.invalid("percents", "each must be a number from 0 to 100"));
        }
    }
    body.field("field").map(drop)
}

fn top_hits(body: &Body<'_>, context: &Context<'_>) -> Result<(), SearchError> {
    // tantivy forgets hits it has when more buckets are made after them: only where all buckets are known from
    // the start does it keep them.
    if let Some(parent) = context.parents.iter().find(|parent| **parent != "filter") {
        return Err(SearchError::invalid(format!(
            "{}: top_hits inside of {parent} would lose hits; it can stand by itself or inside of filter",
            body.path
        )));
    }
    if body.count("size", 1, MAX_TOP_HITS)?.is_none() {
        return Err(body.invalid("size", "how many hits to show is missing"));
    }
    if body
        .count("from", 0, MAX_TOP_HITS)?
        .is_some_and(|from| from > 0)
    {
        return Err(body.invalid(
            "from",
            "hits cannot be skipped here: leave it out, and pass over the first hits of the answer",
        ));
    }
    let keys = body.list("sort")?.unwrap_or_default();
    if keys.is_empty() {
        return Err(body.invalid("sort", "a list with a field to sort by is missing"));
    }
    for key in keys {
        let field = key.as_object().filter(|key| key.len() == 1);
        let Some((field, order)) = field.and_then(|key| key.iter().next()) else {
            return Err(body.invalid("sort", "each entry is such as {\"field\": \"desc\"}"));
        };
        check_name(&format!("{}.sort", body.path), field)?;
        if !matches!(order.as_str(), Some("asc" | "desc")) {
            return Err(body.invalid("sort", "an order is \"asc\" or \"desc\""));
        }
    }
    for field in body.list("docvalue_fields")?.into_iter().flatten() {
        let Some(field) = field.as_str() else {
            return Err(body.invalid("docvalue_fields", "each must be the name of a field"));
        };
        check_name(&format!("{}.docvalue_fields", body.path), field)?;
        if field.contains('*') {
            return Err(body.invalid("docvalue_fields", "name the fields: patterns are not taken"));
        }
    }
    Ok(())
}

/// What stands in for a value that a document does not have: a text or a number.
pub(super) fn missing_key(body: &Body<'_>) -> Result<(), SearchError> {
    match body.get("missing") {
        None | Some(Value::String(_)) => Ok(()),
        Some(value) if number_of(value).is_some() => Ok(()),
        Some(_) => Err(body.invalid("missing", "this must be a text or a number")),
    }
}
