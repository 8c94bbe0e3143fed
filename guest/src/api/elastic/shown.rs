//! What hits show: parts of documents, fields, and the passages that match.

use serde_json::{Map, Value};

use super::body::{Body, wrong};
use super::params::UrlParams;
use crate::SearchError;
use crate::request::{Highlight, NamedField, SourceFilter};

/// Longest passage of `highlight` if a request does not say, in characters.
const DEFAULT_FRAGMENT: u64 = 100;

/// Which parts of documents hits show.
pub(super) fn shown(
    body: &mut Body,
    params: &mut UrlParams,
) -> Result<(SourceFilter, Vec<NamedField>), SearchError> {
    let mut source = SourceFilter::default();
    let of_url = params.text("_source").map(str::to_owned);
    let of_url = of_url.map(|text| match text.as_str() {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        names => names.split(',').map(str::trim).collect(),
    });
    let names = |key: &str, value: &Value| -> Result<Vec<String>, SearchError> {
        let invalid = || wrong(key, "this must be a name or a list of names");
        match value {
            Value::String(name) => Ok(vec![name.clone()]),
            Value::Array(names) => names
                .iter()
                .map(|name| name.as_str().map(str::to_owned).ok_or_else(invalid))
                .collect(),
            _ => Err(invalid()),
        }
    };
    match of_url.or_else(|| body.take("_source")) {
        None | Some(Value::Bool(true)) => {}
        Some(Value::Bool(false)) => source.is_off = true,
        Some(Value::Object(parts)) => {
            for (key, value) in &parts {
                match key.as_str() {
                    "includes" | "include" => source.includes = names(key, value)?,
                    "excludes" | "exclude" => source.excludes = names(key, value)?,
                    // No field has any.
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
        Some(value) => source.includes = names("_source", &value)?,
    }
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
    for key in ["fields", "docvalue_fields"] {
        fields.extend(named_fields(key, body.take(key))?);
    }
    if let Some(names) = params.names("docvalue_fields") {
        fields.extend(names.into_iter().map(|name| (name, None)));
    }
    Ok((source, fields))
}

/// `["a", {"field": "b", "format": "epoch_millis"}]`
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
            match (name, format, field.is_empty()) {
                (Some(Value::String(name)), None, true) => Ok((name, None)),
                (Some(Value::String(name)), Some(Value::String(format)), true) => Ok((
                    name,
                    Some(format).filter(|format| format != "use_field_mapping"),
                )),
                _ => Err(invalid()),
            }
        }
        _ => Err(invalid()),
    });
    fields.collect()
}

/// See <https://www.elastic.co/docs/reference/elasticsearch/rest-apis/highlighting>.
pub(super) fn highlight(body: &mut Body) -> Result<Option<Highlight>, SearchError> {
    let Some(json) = body.take("highlight") else {
        return Ok(None);
    };
    let Value::Object(mut json) = json else {
        return Err(wrong("highlight", "this must be a JSON object"));
    };
    let fields = match json.shift_remove("fields") {
        Some(Value::Object(fields)) if fields.values().all(is_empty_object) => {
            fields.into_iter().map(|(name, _)| name).collect()
        }
        _ => {
            return Err(wrong(
                "highlight.fields",
                "this must be an object whose keys are names of fields, with {} behind each",
            ));
        }
    };
    let mut tag = |key: &str, usual: &str| match json.shift_remove(key) {
        None => Ok(usual.to_owned()),
        Some(Value::Array(tags)) if matches!(tags.as_slice(), [Value::String(_), ..]) => {
            let tag = tags.first().and_then(Value::as_str);
            Ok(tag.unwrap_or_default().to_owned())
        }
        Some(_) => Err(wrong(
            &format!("highlight.{key}"),
            "this must be a list of texts",
        )),
    };
    let tags = (tag("pre_tags", "<em>")?, tag("post_tags", "</em>")?);
    let mut count = |key: &str| match json.shift_remove(key) {
        None => Ok(None),
        Some(value) => value
            .as_u64()
            .map(Some)
            .ok_or_else(|| wrong(&format!("highlight.{key}"), "this must be a whole number")),
    };
    let fragment = count("fragment_size")?.unwrap_or(DEFAULT_FRAGMENT);
    let whole = count("number_of_fragments")? == Some(0);
    if let Some(key) = json.keys().next() {
        return Err(wrong(
            "highlight",
            format!(
                "{key:?} is not known or not supported; there are fields, fragment_size, number_of_fragments, \
                 post_tags, pre_tags"
            ),
        ));
    }
    let max_chars = match whole {
        true => u64::from(u32::MAX),
        false => fragment.min(u64::from(u32::MAX)),
    };
    Ok(Some(Highlight {
        fields,
        tags,
        max_chars: usize::try_from(max_chars).unwrap_or(usize::MAX),
    }))
}

fn is_empty_object(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}
