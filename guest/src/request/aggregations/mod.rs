//! Checks aggregations as they stand in a request, before tantivy reads them.
//!
//! Every number and every list has a bound. What is not known is refused by name, and so is what tantivy takes
//! and answers wrongly. Checks that need the doc mapping are the plan's; those that need a split's columns are
//! the leaf's.

mod body;
mod buckets;
mod composite;
mod interval;
mod metrics;

pub(crate) use body::check_name;

use serde_json::{Map, Value};

use self::body::{Body, invalid};
use super::Limits;
use super::bounds::{MAX_AGGREGATION_DEPTH, MAX_AGGREGATIONS};
use crate::{ErrorKind, SearchError};

/// Checks the aggregations of a request. With `is_filtered`, nothing may be told of documents that a forced
/// filter hides.
///
/// # Errors
/// What is wrong, with its place in the request in front.
pub(crate) fn check_aggregations(
    aggregations: &Value,
    is_filtered: bool,
    limits: &Limits,
) -> Result<(), SearchError> {
    let mut check = Check {
        limits,
        is_filtered,
        num_aggregations: 0,
    };
    check.all("aggs", aggregations, &[])
}

/// Checking the aggregations of one request.
struct Check<'a> {
    limits: &'a Limits,
    is_filtered: bool,
    num_aggregations: usize,
}

/// What there is to check of one aggregation.
struct Context<'a> {
    limits: &'a Limits,
    is_filtered: bool,
    /// The kinds of the aggregations that this one is inside of, the outermost first.
    parents: &'a [&'a str],
    /// The aggregations inside of it.
    children: Option<&'a Map<String, Value>>,
}

impl Check<'_> {
    fn all(
        &mut self,
        path: &str,
        aggregations: &Value,
        parents: &[&str],
    ) -> Result<(), SearchError> {
        let Value::Object(aggregations) = aggregations else {
            return Err(invalid(path, "this must be a JSON object"));
        };
        if parents.len() >= MAX_AGGREGATION_DEPTH && !aggregations.is_empty() {
            let what = format!("{path}: aggregations nest deeper than {MAX_AGGREGATION_DEPTH}");
            return Err(SearchError::new(ErrorKind::Limit, what));
        }
        self.num_aggregations += aggregations.len();
        if self.num_aggregations > MAX_AGGREGATIONS {
            let what = format!("{path}: a request has at most {MAX_AGGREGATIONS} aggregations");
            return Err(SearchError::new(ErrorKind::Limit, what));
        }
        for (name, aggregation) in aggregations {
            check_name(path, name)?;
            self.one(&format!("{path}.{name}"), aggregation, parents)?;
        }
        Ok(())
    }

    fn one(
        &mut self,
        path: &str,
        aggregation: &Value,
        parents: &[&str],
    ) -> Result<(), SearchError> {
        let Value::Object(aggregation) = aggregation else {
            return Err(invalid(path, "an aggregation is a JSON object"));
        };
        let mut kinds = aggregation.keys().filter(|key| *key != "aggs");
        let (Some(kind), None) = (kinds.next(), kinds.next()) else {
            return Err(invalid(
                path,
                "an aggregation has one key that says of which kind it is, and perhaps aggs",
            ));
        };
        let children = match aggregation.get("aggs") {
            None | Some(Value::Null) => None,
            Some(Value::Object(children)) if children.is_empty() => None,
            Some(Value::Object(children)) => Some(children),
            Some(_) => {
                return Err(invalid(
                    &format!("{path}.aggs"),
                    "this must be a JSON object",
                ));
            }
        };
        let context = Context {
            limits: self.limits,
            is_filtered: self.is_filtered,
            parents,
            children,
        };
        let body = aggregation.get(kind).unwrap_or(&Value::Null);
        let is_bucket = check_kind(&format!("{path}.{kind}"), kind, body, &context)?;
        match aggregation.get("aggs") {
            Some(children @ Value::Object(fields)) if !fields.is_empty() => {
                if !is_bucket {
                    let what = format!("{kind} has no buckets, so there is nothing inside of it");
                    return Err(invalid(&format!("{path}.aggs"), &what));
                }
                let inside: Vec<&str> = parents.iter().copied().chain([kind.as_str()]).collect();
                self.all(&format!("{path}.aggs"), children, &inside)
            }
            _ => Ok(()),
        }
    }
}

/// Checks one aggregation's own parameters, and says whether it has buckets.
fn check_kind(
    path: &str,
    kind: &str,
    body: &Value,
    context: &Context<'_>,
) -> Result<bool, SearchError> {
    let read = |known: &[&str]| Body::read(path.to_owned(), body, known);
    match kind {
        "terms" => buckets::terms(&read(&buckets::TERMS)?, context)?,
        "multi_terms" => buckets::multi_terms(&read(&buckets::MULTI_TERMS)?, context)?,
        "histogram" => buckets::histogram(&read(&buckets::HISTOGRAM)?, context)?,
        "date_histogram" => buckets::date_histogram(&read(&buckets::DATE_HISTOGRAM)?, context)?,
        "range" => buckets::range(&read(&buckets::RANGE)?)?,
        "filter" => buckets::filter(path, body, context)?,
        "composite" => composite::composite(&read(&composite::COMPOSITE)?, context)?,
        _ => {
            metrics::metric(path, kind, body, context)?;
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests;
