//! Checks of `composite`: buckets of several fields' values, page by page.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::bounds::{MAX_BUCKET_PLACE, MAX_KEY_FIELDS};
use super::Context;
use super::body::{Body, check_name};
use super::interval::interval_ms;
use crate::SearchError;

pub(super) const COMPOSITE: [&str; 3] = ["sources", "size", "after"];

/// What every kind of source may say.
const SOURCE: [&str; 4] = ["field", "order", "missing_bucket", "missing_order"];

pub(super) fn composite(body: &Body<'_>, context: &Context<'_>) -> Result<(), SearchError> {
    if let Some(parent) = context.parents.last() {
        return Err(SearchError::invalid(format!(
            "{}: a composite cannot stand inside of {parent}: its pages would lose buckets",
            body.path
        )));
    }
    let most = u64::from(context.limits.max_buckets);
    if body.count("size", 1, most)?.is_none() {
        return Err(body.invalid("size", "how many buckets a page has is missing"));
    }
    let sources = body.list("sources")?.unwrap_or_default();
    if sources.is_empty() {
        return Err(body.invalid("sources", "a list with at least one source is missing"));
    }
    if sources.len() > MAX_KEY_FIELDS {
        let what = format!("at most {MAX_KEY_FIELDS} sources are taken together");
        return Err(body.too_large("sources", &what));
    }
    let mut names = BTreeSet::new();
    for (place, entry) in sources.iter().enumerate() {
        let entry = entry.as_object().filter(|entry| entry.len() == 1);
        let Some((name, source)) = entry.and_then(|entry| entry.iter().next()) else {
            let what = "each source is such as {\"name\": {\"terms\": {\"field\": \"…\"}}}";
            return Err(body.invalid("sources", what));
        };
        let path = format!("{}.sources.{place}.{name}", body.path);
        check_name(&path, name)?;
        if !names.insert(name.as_str()) {
            return Err(body.invalid("sources", &format!("{name:?} is there twice")));
        }
        check_source(&path, source)?;
    }
    match body.get("after") {
        None => Ok(()),
        Some(Value::Object(after)) => {
            let is_whole = after.len() == names.len()
                && after.keys().all(|name| names.contains(name.as_str()));
            match is_whole {
                true => Ok(()),
                false => {
                    Err(body.invalid("after", "this must be the after_key of an answer, whole"))
                }
            }
        }
        Some(_) => Err(body.invalid("after", "this must be a JSON object")),
    }
}

fn check_source(path: &str, source: &Value) -> Result<(), SearchError> {
    let kind = source.as_object().filter(|source| source.len() == 1);
    let Some((kind, source)) = kind.and_then(|source| source.iter().next()) else {
        let what = "a source has one key that says of which kind it is";
        return Err(SearchError::invalid(format!("{path}: {what}")));
    };
    let path = format!("{path}.{kind}");
    let known = |more: &[&'static str]| -> Vec<&'static str> { [&SOURCE[..], more].concat() };
    let body = match kind.as_str() {
        "terms" => Body::read(path, source, &SOURCE)?,
        "histogram" => {
            let body = Body::read(path, source, &known(&["interval"]))?;
            let interval = body.number("interval")?.unwrap_or_default();
            // A page begins after a key, which is divided by the interval again: a fraction comes out a
            // little off, and the same bucket begins each page.
            if interval < 1.0 || interval.fract() != 0.0 || interval > MAX_BUCKET_PLACE {
                return Err(body.invalid("interval", "this must be a whole number, 1 or more"));
            }
            body
        }
        "date_histogram" => {
            let intervals = ["fixed_interval", "calendar_interval"];
            let body = Body::read(path, source, &known(&intervals))?;
            check_date_interval(&body)?;
            body
        }
        _ => {
            let what = "the kinds of sources are terms, histogram and date_histogram";
            return Err(SearchError::invalid(format!("{path}: {what}")));
        }
    };
    body.field("field").map(drop)
}

fn check_date_interval(body: &Body<'_>) -> Result<(), SearchError> {
    let fixed = body.get("fixed_interval");
    match (fixed, body.get("calendar_interval")) {
        (Some(fixed), None) => {
            let interval = fixed.as_str().and_then(interval_ms);
            match interval.is_some_and(|ms| ms > 0) {
                true => Ok(()),
                false => Err(body.invalid(
                    "fixed_interval",
                    "an interval is a whole number above 0 and one of ms, s, m, h and d, such as 1d",
                )),
            }
        }
        (None, Some(Value::String(unit))) if ["year", "month", "week"].contains(&unit.as_str()) => {
            Ok(())
        }
        (None, Some(_)) => {
            Err(body.invalid("calendar_interval", "this must be year, month or week"))
        }
        _ => Err(body.invalid(
            "fixed_interval",
            "there must be one of fixed_interval and calendar_interval",
        )),
    }
}
