//! Contents of hits: parts of documents, and fields.

use serde_json::{Map, Value};

use crate::SearchError;
use crate::api::elastic::body::{Body, as_written, wrong};
use crate::api::elastic::params::UrlParams;
use crate::api::settings::ApiSettings;
use crate::query::{QueryNode, parse_named};
use crate::request::{AS_IN_COLUMN, InnerHits, NamedField, SourceFilter};

/// Parses a name or a list of names.
fn names(key: &str, value: &Value) -> Result<Vec<String>, SearchError> {
    let invalid = || wrong(key, "this must be a name or a list of names");
    match value {
        Value::String(name) => Ok(vec![name.clone()]),
        Value::Array(names) => names
            .iter()
            .map(|name| name.as_str().map(str::to_owned).ok_or_else(invalid))
            .collect(),
        _ => Err(invalid()),
    }
}

/// Parses `_source`: a flag, names, or an object with both lists of names.
fn source_of(value: &Value) -> Result<SourceFilter, SearchError> {
    let mut source = SourceFilter::default();
    match value {
        Value::Bool(is_on) => source.is_off = !is_on,
        Value::Object(parts) => {
            for (key, value) in parts {
                match key.as_str() {
                    "includes" | "include" => source.includes = names(key, value)?,
                    "excludes" | "exclude" => source.excludes = names(key, value)?,
                    // No field is a vector.
                    "exclude_vectors" if value.is_boolean() => {}
                    _ => {
                        return Err(wrong(
                            "_source",
                            format!("{key:?} is not known; there are includes and excludes"),
                        ));
                    }
                }
            }
        }
        value => source.includes = names("_source", value)?,
    }
    Ok(source)
}

/// Takes the parts of documents that hits show.
pub(in crate::api::elastic) fn shown(
    body: &mut Body,
    params: &mut UrlParams,
) -> Result<(SourceFilter, Vec<NamedField>), SearchError> {
    let of_url = params.text("_source").map(str::to_owned);
    let of_url = of_url.map(|text| match text.as_str() {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        names => names.split(',').map(str::trim).collect(),
    });
    let given = of_url.or_else(|| body.take("_source"));
    let mut source = given
        .map(|value| source_of(&value))
        .transpose()?
        .unwrap_or_default();
    if let Some(includes) = params.names("_source_includes") {
        source.includes = includes;
    }
    if let Some(excludes) = params.names("_source_excludes") {
        source.excludes = excludes;
    }
    match body.take("stored_fields") {
        None => {}
        Some(value) => match names("stored_fields", &value)?.as_slice() {
            [none] if none == "_none_" => source.is_off = true,
            [all] if all == "*" || all == "_source" => {}
            [] => source.is_off = true,
            _ => {
                return Err(wrong(
                    "stored_fields",
                    "fields are not stored one by one: use _source or fields",
                ));
            }
        },
    }
    let mut fields = Vec::new();
    fields.extend(named_fields("fields", body.take("fields"))?);
    let as_in_column = || Some(AS_IN_COLUMN.to_owned());
    let of_columns = named_fields("docvalue_fields", body.take("docvalue_fields"))?.into_iter();
    fields.extend(of_columns.map(|(name, format)| (name, format.or_else(as_in_column))));
    if let Some(names) = params.names("docvalue_fields") {
        fields.extend(names.into_iter().map(|name| (name, as_in_column())));
    }
    Ok((source, fields))
}

/// Parses `["a", {"field": "b", "format": "epoch_millis"}]`.
fn named_fields(key: &str, json: Option<Value>) -> Result<Vec<NamedField>, SearchError> {
    let fields = match json {
        None => return Ok(Vec::new()),
        Some(Value::Array(fields)) => fields,
        Some(field) => vec![field],
    };
    let invalid = || {
        wrong(
            key,
            "this must be a list of names, or of objects with the keys field and format",
        )
    };
    let fields = fields.into_iter().map(|field| match field {
        Value::String(name) => Ok((name, None)),
        Value::Object(mut field) => {
            let name = field.shift_remove("field");
            let format = field.shift_remove("format");
            // Unmapped fields are dynamic ones, which are shown as they are.
            let unmapped = field.shift_remove("include_unmapped").map(as_written);
            if !unmapped.is_none_or(|unmapped| unmapped.is_boolean()) {
                return Err(wrong(key, "include_unmapped must be true or false"));
            }
            match (name, format, field.is_empty()) {
                (Some(Value::String(name)), None, true) => Ok((name, None)),
                (Some(Value::String(name)), Some(Value::String(format)), true) => {
                    Ok((name, Some(format).filter(|format| format != AS_IN_COLUMN)))
                }
                _ => Err(invalid()),
            }
        }
        _ => Err(invalid()),
    });
    fields.collect()
}

/// Number of objects that `inner_hits` shows by default.
const DEFAULT_INNER_HITS: usize = 3;

/// Maximum of `from` and `size` together in `inner_hits`, and number of these in a search.
const MAX_INNER_HITS: usize = 100;

/// Parses `inner_hits` of nested clauses, given by their parameters.
pub(super) fn inner_hits(
    nested: &[Map<String, Value>],
    settings: &ApiSettings,
) -> Result<Vec<InnerHits>, SearchError> {
    let mut found: Vec<InnerHits> = Vec::new();
    for params in nested {
        let text = |name: &str| params.get(name).and_then(Value::as_str);
        let path = text("path").unwrap_or_default();
        let wrong = |what: &str| wrong("inner_hits", format!("of [{path}]: {what}"));
        let Some(Value::Object(options)) = params.get("inner_hits") else {
            return Err(wrong("this must be an object"));
        };
        let query = params.get("query").cloned().unwrap_or_default();
        let named = [(path.to_owned(), query)];
        let query = parse_named(&named, settings.now_ms, &settings.limits)?.pop();
        let mut inner = InnerHits {
            name: path.to_owned(),
            path: path.to_owned(),
            query: query.unwrap_or(QueryNode::Nothing),
            from: 0,
            size: DEFAULT_INNER_HITS,
            source: SourceFilter::default(),
        };
        for (key, value) in options {
            let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
            match (key.as_str(), value, count) {
                ("name", Value::String(name), _) => inner.name.clone_from(name),
                ("from", _, Some(from)) => inner.from = from,
                ("size", _, Some(size)) => inner.size = size,
                ("_source", value, _) => inner.source = source_of(value)?,
                // All objects of a hit have the same score.
                ("ignore_unmapped", Value::Bool(_), _) => {}
                _ => {
                    return Err(wrong(&format!(
                        "{key:?} is not known here or has a wrong value; there are _source, from, name, size"
                    )));
                }
            }
        }
        if inner.from.saturating_add(inner.size) > MAX_INNER_HITS {
            return Err(wrong(&format!("from + size is at most {MAX_INNER_HITS}")));
        }
        if found.iter().any(|other| other.name == inner.name) {
            return Err(wrong("another has the same name: give it a name"));
        }
        found.push(inner);
    }
    match found.len() > MAX_INNER_HITS {
        true => Err(wrong("inner_hits", "a search has at most 100 of these")),
        false => Ok(found),
    }
}
