//! `highlight`: passages of hits in which matches are marked.

use serde_json::{Map, Value};

use crate::SearchError;
use crate::api::elastic::body::{Body, as_written, wrong};
use crate::request::{Highlight, Marks};

/// Default maximum length of a passage of `highlight`, in characters.
const DEFAULT_FRAGMENT: usize = 100;

/// Longer than any text.
const MAX_FRAGMENT: usize = u32::MAX as usize;

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
