//! `top_hits` and `top_metrics`: the first documents in an order.

use serde_json::Value;

use super::super::body::{Body, check_name};
use super::super::bounds::MAX_TOP_HITS;
use super::super::types::{Metric, MetricOf, Source, TopBy, TopHits, TopKey, TopMode};
use crate::Result;

/// Default number of hits of `top_hits`.
const DEFAULT_HITS: u64 = 3;

pub(crate) const TOP_HITS: [&str; 6] = ["sort", "size", "from", "docvalue_fields", "_source", FORM];

/// Number of the form in which documents are shown. The API writes it in the place of what a request
/// says of their contents.
const FORM: &str = "_form";

pub(crate) fn top_hits(body: &Body<'_>) -> Result<Metric> {
    let form = body.count(FORM, 0, u64::from(u32::MAX))?.map(to_usize);
    if body
        .get("_source")
        .is_some_and(|shown| shown.as_bool() != Some(false))
    {
        let what = "hits in buckets do not show their documents: leave this out or set it to false, and name fields in \
                    docvalue_fields";
        return Err(body.invalid("_source", what));
    }
    let size = body.count("size", 1, MAX_TOP_HITS)?.unwrap_or(DEFAULT_HITS);
    let from = body.count("from", 0, MAX_TOP_HITS)?.unwrap_or(0);
    let sort = sort_of(body)?;
    if sort.is_empty() && form.is_none() {
        return Err(body.invalid("sort", "a list with a field to sort by is missing"));
    }
    let mut fields = Vec::new();
    for field in body.list("docvalue_fields")?.into_iter().flatten() {
        if field.get("format").is_some() {
            let what = "format is not supported here: leave it out, dates are written as in 2016-04-13T08:00:00Z";
            return Err(body.invalid("docvalue_fields", what));
        }
        // Elasticsearch also allows `{"field": "name"}`.
        let of_object = field.as_object().filter(|field| field.len() == 1);
        let name = of_object.and_then(|field| field.get("field"));
        let Some(field) = name.unwrap_or(field).as_str() else {
            return Err(body.invalid("docvalue_fields", "each must be the name of a field"));
        };
        check_name(&format!("{}.docvalue_fields", body.path), field)?;
        if field.contains('*') {
            return Err(body.invalid("docvalue_fields", "name the fields: patterns are not taken"));
        }
        fields.push(field.to_owned());
    }
    let hits = TopHits {
        size: to_usize(size),
        from: to_usize(from),
        sort,
        fields,
        form,
    };
    Ok(of_documents(MetricOf::TopHits(hits)))
}

/// Reads an order in any of Elasticsearch's notations: a field, an object, or a list of both.
fn sort_of(body: &Body<'_>) -> Result<Vec<TopKey>> {
    match body.get("sort") {
        None => Ok(Vec::new()),
        Some(Value::Array(_)) => read_sort(body, body.list("sort")?.unwrap_or_default()),
        Some(key) => read_sort(body, std::slice::from_ref(key)),
    }
}

/// Reads `top_metrics`, with one sort field in any of Elasticsearch's notations.
pub(crate) fn top_metrics(body: &Body<'_>) -> Result<Metric> {
    let size = body.count("size", 1, MAX_TOP_HITS)?.unwrap_or(1);
    let sort = sort_of(body)?;
    if sort.len() != 1 {
        return Err(body.invalid("sort", "this must name one field to sort by"));
    }
    let metrics = match body.get("metrics") {
        Some(metric @ Value::Object(_)) => std::slice::from_ref(metric),
        _ => body.list("metrics")?.unwrap_or_default(),
    };
    if metrics.is_empty() {
        return Err(body.invalid("metrics", "a list such as [{\"field\": \"…\"}] is missing"));
    }
    let mut fields: Vec<String> = Vec::with_capacity(metrics.len());
    for (place, metric) in metrics.iter().enumerate() {
        let path = format!("{}.metrics.{place}", body.path);
        let field = Body::read(path, metric, &["field"])?
            .field("field")?
            .to_owned();
        if fields.contains(&field) {
            return Err(body.invalid("metrics", &format!("{field:?} is there twice")));
        }
        fields.push(field);
    }
    let hits = TopHits {
        size: to_usize(size),
        from: 0,
        sort,
        fields,
        form: None,
    };
    Ok(of_documents(MetricOf::TopMetrics(hits)))
}

fn read_sort(body: &Body<'_>, given: &[Value]) -> Result<Vec<TopKey>> {
    let mut sort = Vec::with_capacity(given.len());
    for key in given {
        match key {
            Value::String(field) => sort.push(one_key(body, field, &Value::Null)?),
            Value::Object(keys) if !keys.is_empty() => {
                for (field, how) in keys {
                    sort.push(one_key(body, field, how)?);
                }
            }
            _ => return Err(body.invalid("sort", "each entry is such as {\"field\": \"desc\"}")),
        }
    }
    Ok(sort)
}

fn one_key(body: &Body<'_>, field: &str, how: &Value) -> Result<TopKey> {
    check_name(&format!("{}.sort", body.path), field)?;
    let by = match field {
        "_score" => TopBy::Score,
        field => TopBy::Field(field.to_owned()),
    };
    let order = match how {
        Value::Object(how) => how.get("order").unwrap_or(&Value::Null),
        order => order,
    };
    let is_descending = match order {
        Value::Null => by == TopBy::Score,
        order => match order.as_str().map(str::to_ascii_lowercase).as_deref() {
            Some("asc") => false,
            Some("desc") => true,
            _ => return Err(body.invalid("sort", "an order is \"asc\" or \"desc\"")),
        },
    };
    let mode = match how.get("mode").and_then(Value::as_str) {
        None => TopMode::Nearest,
        Some("min") => TopMode::Min,
        Some("max") => TopMode::Max,
        Some("sum") => TopMode::Sum,
        Some("avg") => TopMode::Avg,
        Some("median") => TopMode::Median,
        Some(_) => return Err(body.invalid("sort", "a mode is min, max, sum, avg or median")),
    };
    Ok(TopKey {
        by,
        is_descending,
        missing_first: how.get("missing").and_then(Value::as_str) == Some("_first"),
        mode,
    })
}

fn of_documents(what: MetricOf) -> Metric {
    Metric {
        source: Source {
            field: String::new(),
            missing: None,
        },
        what,
        format: None,
    }
}

fn to_usize(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
