//! `composite`: buckets by the values of several fields, page by page.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::body::{Body, check_name, invalid};
use super::bounds::{Bounds, MAX_BUCKET_PLACE, MAX_KEY_FIELDS};
use super::histograms::{format, rounding, time, zone};
use super::terms::exact_number;
use super::types::{Composite, CompositeBy, CompositeSource};
use crate::Result;
use crate::key::Key;

pub(super) const COMPOSITE: [&str; 3] = ["sources", "size", "after"];

/// Parameters of all kinds of sources.
const SOURCE: [&str; 4] = ["field", "order", "missing_bucket", "missing_order"];

/// Default number of buckets on a page.
const DEFAULT_SIZE: u64 = 10;

pub(super) fn composite(body: &Body<'_>, bounds: &Bounds) -> Result<Composite> {
    let size = body.count("size", 1, u64::from(bounds.max_buckets))?;
    let given = body.list("sources")?.unwrap_or_default();
    if given.is_empty() {
        return Err(body.invalid("sources", "a list with at least one source is missing"));
    }
    if given.len() > MAX_KEY_FIELDS {
        let what = format!("at most {MAX_KEY_FIELDS} sources are taken together");
        return Err(body.too_large("sources", &what));
    }
    let mut names = BTreeSet::new();
    let mut sources = Vec::with_capacity(given.len());
    for (place, entry) in given.iter().enumerate() {
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
        sources.push(one_source(&path, name, source)?);
    }
    let after = match body.get("after") {
        None => None,
        Some(Value::Object(after)) if after.len() == sources.len() => {
            Some(read_after(body, after, &sources)?)
        }
        Some(_) => {
            return Err(body.invalid("after", "this must be the after_key of an answer, whole"));
        }
    };
    Ok(Composite {
        sources,
        size: usize::try_from(size.unwrap_or(DEFAULT_SIZE)).unwrap_or(usize::MAX),
        after,
    })
}

fn read_after(
    body: &Body<'_>,
    after: &Map<String, Value>,
    sources: &[CompositeSource],
) -> Result<Vec<Option<Key>>> {
    let keys = sources.iter().map(|source| {
        let value = after.get(&source.name).ok_or_else(|| {
            body.invalid("after", "this must be the after_key of an answer, whole")
        })?;
        after_key(body, source, value)
    });
    keys.collect()
}

fn after_key(body: &Body<'_>, source: &CompositeSource, value: &Value) -> Result<Option<Key>> {
    let refused = || {
        let what = format!(
            "the value of {:?} is none that such a source has",
            source.name
        );
        body.invalid("after", &what)
    };
    Ok(match (value, &source.by) {
        (Value::Null, _) => None,
        (_, CompositeBy::Dates { format, zone, .. }) => Some(Key::Date(time(
            body,
            "after",
            value,
            format.as_ref(),
            zone,
        )?)),
        (_, CompositeBy::Histogram { interval }) => {
            let place = value.as_f64().map(|value| (value / interval).round());
            let place = place.filter(|place| place.abs() <= MAX_BUCKET_PLACE);
            #[expect(
                clippy::cast_possible_truncation,
                reason = "it was checked to be within the range"
            )]
            let place = place.map(|place| place as i64).ok_or_else(refused)?;
            Some(Key::Interval(place))
        }
        (Value::Bool(flag), CompositeBy::Terms) => Some(Key::Bool(*flag)),
        (Value::String(text), CompositeBy::Terms) => Some(Key::Text(text.clone())),
        (_, CompositeBy::Terms) => Some(Key::Number(exact_number(value).ok_or_else(refused)?)),
    })
}

fn one_source(path: &str, name: &str, source: &Value) -> Result<CompositeSource> {
    let kind = source.as_object().filter(|source| source.len() == 1);
    let Some((kind, source)) = kind.and_then(|source| source.iter().next()) else {
        return Err(invalid(
            path,
            "a source has one key that says of which kind it is",
        ));
    };
    let path = format!("{path}.{kind}");
    let known = |more: &[&'static str]| -> Vec<&'static str> { [&SOURCE[..], more].concat() };
    let (body, by) = match kind.as_str() {
        "terms" => (Body::read(path, source, &SOURCE)?, CompositeBy::Terms),
        "histogram" => {
            let body = Body::read(path, source, &known(&["interval"]))?;
            let interval = body.number("interval")?.filter(|interval| *interval > 0.0);
            let Some(interval) = interval else {
                return Err(body.invalid("interval", "this must be a number above 0"));
            };
            (body, CompositeBy::Histogram { interval })
        }
        "date_histogram" => {
            let more = [
                "fixed_interval",
                "calendar_interval",
                "offset",
                "time_zone",
                "format",
            ];
            let body = Body::read(path, source, &known(&more))?;
            let zone = zone(&body)?;
            let by = CompositeBy::Dates {
                rounding: rounding(&body, &zone)?,
                format: format(&body)?,
                zone,
            };
            (body, by)
        }
        _ => {
            let what = "the kinds of sources are terms, histogram and date_histogram";
            return Err(invalid(&path, what));
        }
    };
    let is_descending = match body.text("order")? {
        None | Some("asc") => false,
        Some("desc") => true,
        Some(_) => return Err(body.invalid("order", "an order is \"asc\" or \"desc\"")),
    };
    let missing_first = match body.text("missing_order")? {
        None | Some("default") => None,
        Some("first") => Some(true),
        Some("last") => Some(false),
        Some(_) => return Err(body.invalid("missing_order", "this must be first, last or default")),
    };
    Ok(CompositeSource {
        name: name.to_owned(),
        field: body.field("field")?.to_owned(),
        by,
        is_descending,
        missing_bucket: body.flag("missing_bucket")?,
        missing_first,
    })
}
