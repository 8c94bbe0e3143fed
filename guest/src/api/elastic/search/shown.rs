//! Contents of hits: parts of documents, fields, and matching passages.

use serde_json::{Map, Value};

use crate::SearchError;
use crate::api::elastic::body::{Body, as_written, wrong};
use crate::api::elastic::params::UrlParams;
use crate::request::{Highlight, Marks, NamedField, SourceFilter};

/// Default maximum length of a passage of `highlight`, in characters.
const DEFAULT_FRAGMENT: usize = 100;

/// Longer than any text.
const MAX_FRAGMENT: usize = u32::MAX as usize;

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
    for key in ["fields", "docvalue_fields"] {
        fields.extend(named_fields(key, body.take(key))?);
    }
    if let Some(names) = params.names("docvalue_fields") {
        fields.extend(names.into_iter().map(|name| (name, None)));
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

/// Takes the highlighting. See <https://www.elastic.co/docs/reference/elasticsearch/rest-apis/highlighting>.
pub(in crate::api::elastic) fn highlight(
    body: &mut Body,
) -> Result<Option<Highlight>, SearchError> {
    let Some(json) = body.take("highlight") else {
        return Ok(None);
    };
    let Value::Object(mut json) = json else {
        return Err(wrong("highlight", "this must be a JSON object"));
    };
    let fields = match json.shift_remove("fields") {
        Some(Value::Object(fields)) => fields.into_iter().collect(),
        // A list defines an order.
        Some(Value::Array(list)) => {
            let objects = list.into_iter().filter_map(|field| match field {
                Value::Object(field) => Some(field),
                _ => None,
            });
            objects.flatten().collect()
        }
        _ => Vec::new(),
    };
    let usual = marks("highlight", json, None)?;
    let fields = fields.into_iter().map(|(name, own)| match own {
        Value::Object(own) => {
            let marks = marks(&format!("highlight.fields.{name}"), own, Some(&usual))?;
            Ok((name, marks))
        }
        _ => Err(wrong(
            "highlight.fields",
            "this must be an object whose keys are names of fields, with {} or settings behind each",
        )),
    });
    let fields: Vec<_> = fields.collect::<Result<_, _>>()?;
    match fields.is_empty() {
        true => Err(wrong("highlight.fields", "this must name a field")),
        false => Ok(Some(Highlight { fields })),
    }
}

/// Refuses what is left of a highlighter's settings.
fn refuse_unknown(path: &str, json: &Map<String, Value>) -> Result<(), SearchError> {
    let Some(key) = json.keys().next() else {
        return Ok(());
    };
    Err(wrong(
        path,
        format!(
            "{key:?} is not known or not supported; there are boundary_chars, boundary_max_scan, \
             boundary_scanner, boundary_scanner_locale, encoder, fields, force_source, fragment_offset, fragment_size, \
             fragmenter, max_analyzed_offset, no_match_size, number_of_fragments, order, phrase_limit, post_tags, pre_tags, \
             require_field_match, tags_schema, type"
        ),
    ))
}

/// Parses settings of passages, for all fields or for one, which inherits those of all.
fn marks(
    path: &str,
    mut json: Map<String, Value>,
    usual: Option<&Marks>,
) -> Result<Marks, SearchError> {
    let mut tag = |key: &str| match json.shift_remove(key) {
        None => Ok(None),
        Some(Value::Array(tags)) if matches!(tags.as_slice(), [Value::String(_), ..]) => {
            Ok(tags.first().and_then(Value::as_str).map(str::to_owned))
        }
        Some(_) => Err(wrong(
            &format!("{path}.{key}"),
            "this must be a list of texts",
        )),
    };
    let tags = (tag("pre_tags")?, tag("post_tags")?);
    let mut count = |key: &str| match json.shift_remove(key) {
        None => Ok(None),
        Some(value) => value
            .as_u64()
            .map(Some)
            .ok_or_else(|| wrong(&format!("{path}.{key}"), "this must be a whole number")),
    };
    let fragment = count("fragment_size")?;
    let num_fragments = count("number_of_fragments")?;
    let no_match = count("no_match_size")?;
    let mut flag = |key: &str| match json.shift_remove(key).map(as_written) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(flag)),
        Some(_) => Err(wrong(
            &format!("{path}.{key}"),
            "this must be true or false",
        )),
    };
    let needs_field = flag("require_field_match")?;
    flag("force_source")?;
    let escapes = take_ways(path, &mut json)?;
    refuse_unknown(path, &json)?;
    let (before, behind) = match usual {
        Some(usual) => (usual.tags.0.as_str(), usual.tags.1.as_str()),
        None => ("<em>", "</em>"),
    };
    let max_chars = match (num_fragments, fragment, usual) {
        (Some(0), _, _) => usize::MAX,
        (_, Some(fragment), _) => usize::try_from(fragment).unwrap_or(usize::MAX),
        (None, None, Some(usual)) => usual.max_chars,
        _ => DEFAULT_FRAGMENT,
    };
    Ok(Marks {
        tags: (
            tags.0.unwrap_or_else(|| before.to_owned()),
            tags.1.unwrap_or_else(|| behind.to_owned()),
        ),
        max_chars: max_chars.min(MAX_FRAGMENT),
        marks_any_field: needs_field.map_or_else(
            || usual.is_some_and(|usual| usual.marks_any_field),
            |needs_field| !needs_field,
        ),
        escapes: escapes.unwrap_or_else(|| usual.is_some_and(|usual| usual.escapes)),
        max_chars_without_match: no_match.map_or_else(
            || usual.map_or(0, |usual| usual.max_chars_without_match),
            |chars| usize::try_from(chars).unwrap_or(usize::MAX),
        ),
    })
}

/// Takes settings of how passages are found: there is one way, which finds the best passage of each value. Returns whether
/// passages are escaped as HTML, if that is said.
fn take_ways(path: &str, json: &mut Map<String, Value>) -> Result<Option<bool>, SearchError> {
    let encoder = json.get("encoder").and_then(Value::as_str);
    let escapes = encoder.map(|encoder| encoder == "html");
    const CHOICES: [(&str, &[&str]); 6] = [
        ("type", &["unified", "plain", "fvh"]),
        ("order", &["none", "score"]),
        ("encoder", &["default", "html"]),
        ("fragmenter", &["simple", "span"]),
        ("boundary_scanner", &["sentence", "word", "chars"]),
        ("tags_schema", &["default"]),
    ];
    for (key, words) in CHOICES {
        let value = json.shift_remove(key).filter(|value| !value.is_null());
        let is_known = |value: &Value| value.as_str().is_some_and(|text| words.contains(&text));
        if !value.is_none_or(|value| is_known(&value)) {
            let what = format!("this must be {}", words.join(" or "));
            return Err(wrong(&format!("{path}.{key}"), what));
        }
    }
    for key in ["boundary_chars", "boundary_scanner_locale"] {
        json.shift_remove(key);
    }
    for key in [
        "boundary_max_scan",
        "fragment_offset",
        "phrase_limit",
        "max_analyzed_offset",
    ] {
        let value = json.shift_remove(key);
        if !value.is_none_or(|value| as_written(value).is_i64()) {
            return Err(wrong(
                &format!("{path}.{key}"),
                "this must be a whole number",
            ));
        }
    }
    Ok(escapes)
}
