//! `top_hits` and `top_metrics`: the first documents in an order.

use serde_json::Value;

use super::super::body::{Body, check_name};
use super::super::bounds::MAX_TOP_HITS;
use super::super::types::{Metric, MetricOf, Source, TopHits};
use crate::Result;

/// Default number of hits of `top_hits`.
const DEFAULT_HITS: u64 = 3;

/// Fields, each with whether its order descends.
type Sort = Vec<(String, bool)>;

pub(crate) const TOP_HITS: [&str; 5] = ["sort", "size", "from", "docvalue_fields", "_source"];

pub(crate) fn top_hits(body: &Body<'_>) -> Result<Metric> {
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
    let given = body.list("sort")?.unwrap_or_default();
    if given.is_empty() {
        return Err(body.invalid("sort", "a list with a field to sort by is missing"));
    }
    let sort = read_sort(body, given)?;
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
    };
    Ok(of_documents(MetricOf::TopHits(hits)))
}

/// Reads `top_metrics`, with one sort field in any of Elasticsearch's notations.
pub(crate) fn top_metrics(body: &Body<'_>) -> Result<Metric> {
    let size = body.count("size", 1, MAX_TOP_HITS)?.unwrap_or(1);
    let sort = match body.get("sort") {
        Some(Value::String(field)) => {
            check_name(&format!("{}.sort", body.path), field)?;
            vec![(field.clone(), false)]
        }
        Some(sort @ Value::Object(_)) => read_sort(body, std::slice::from_ref(sort))?,
        _ => read_sort(body, body.list("sort")?.unwrap_or_default())?,
    };
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
    };
    Ok(of_documents(MetricOf::TopMetrics(hits)))
}

fn read_sort(body: &Body<'_>, given: &[Value]) -> Result<Sort> {
    let mut sort = Vec::with_capacity(given.len());
    for key in given {
        let field = key.as_object().filter(|key| key.len() == 1);
        let Some((field, order)) = field.and_then(|key| key.iter().next()) else {
            return Err(body.invalid("sort", "each entry is such as {\"field\": \"desc\"}"));
        };
        check_name(&format!("{}.sort", body.path), field)?;
        let order = order.get("order").unwrap_or(order);
        let is_descending = match order.as_str() {
            Some("asc") => false,
            Some("desc") => true,
            _ => return Err(body.invalid("sort", "an order is \"asc\" or \"desc\"")),
        };
        sort.push((field.clone(), is_descending));
    }
    Ok(sort)
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
