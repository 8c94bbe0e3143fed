//! Settings of indexes in answers of the guest, which knows none: as they were put.

use std::collections::BTreeMap;

use canter_access::matches_any;
use canter_index_builder::{CatalogEntry, IndexSettings};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use url::form_urlencoded;

/// Settings that the server itself makes.
const OWN: [&str; 2] = ["provided_name", "uuid"];

/// Adds the settings of indexes to the answer to `GET /<indexes>` and `GET /<indexes>/_settings/<names>`; `None` for an
/// answer to anything else.
pub(crate) fn with_settings(
    (method, path, query): (&str, &str, &str),
    answer: &[u8],
    entries: impl FnOnce() -> BTreeMap<String, CatalogEntry>,
) -> Option<Vec<u8>> {
    let path = path.strip_prefix("/api/v1/_elastic").unwrap_or(path);
    let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let names = match segments[..] {
        [index] if !index.starts_with('_') || index == "_all" => "*",
        ["_settings"] | [_, "_settings"] => "*",
        ["_settings", names] | [_, "_settings", names] => names,
        _ => return None,
    };
    let param = |wanted: &str| {
        let mut params = form_urlencoded::parse(query.as_bytes());
        params.find(|(name, _)| name == wanted)
    };
    // What is left of an answer is not added to.
    if method != "GET" || param("filter_path").is_some() {
        return None;
    }
    let is_flat = param("flat_settings").is_some_and(|(_, value)| value != "false");
    let names = percent_decode_str(names).decode_utf8_lossy();
    let patterns = names.split(',').map(|name| match name {
        "_all" => "*".to_owned(),
        name => name.to_owned(),
    });
    let patterns: Vec<String> = patterns.collect();
    let entries = entries();
    let mut answer: Map<String, Value> = serde_json::from_slice(answer).ok()?;
    for (name, index) in &mut answer {
        let Some(Value::Object(shown)) = index.get_mut("settings") else {
            continue;
        };
        let before = std::mem::take(shown);
        let mut flat = IndexSettings::new();
        flatten(&before.into(), "", &mut flat);
        let kept = entries.get(name).map(|entry| entry.settings.clone());
        for (name, value) in kept.unwrap_or_default() {
            if !OWN.contains(&name.as_str()) {
                flat.insert(format!("index.{name}"), text_of(value));
            }
        }
        flat.retain(|name, _| matches_any(&patterns, name));
        *shown = match is_flat {
            true => flat.into_iter().collect(),
            false => nested(flat),
        };
    }
    Some(Value::from(answer).to_string().into_bytes())
}

fn flatten(value: &Value, path: &str, flat: &mut IndexSettings) {
    match value {
        Value::Object(inner) => {
            for (key, value) in inner {
                let path = match path {
                    "" => key.clone(),
                    path => format!("{path}.{key}"),
                };
                flatten(value, &path, flat);
            }
        }
        value => {
            flat.insert(path.to_owned(), value.clone());
        }
    }
}

/// Returns a value as Elasticsearch shows it: a text, or a list of texts.
fn text_of(value: Value) -> Value {
    match value {
        Value::Bool(_) | Value::Number(_) => value.to_string().into(),
        Value::Array(list) => list.into_iter().map(text_of).collect(),
        value => value,
    }
}

fn nested(flat: IndexSettings) -> Map<String, Value> {
    let mut root = Value::Object(Map::new());
    for (name, value) in flat {
        let mut at = &mut root;
        for key in name.split('.') {
            if !at.is_object() {
                *at = Value::Object(Map::new());
            }
            at = &mut at[key];
        }
        *at = value;
    }
    root.as_object_mut().map(std::mem::take).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use canter_index_builder::IndexFolder;
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_shown_as_they_were_put() {
        let settings = json!({"refresh_interval": "7s", "blocks.write": true, "number_of_replicas": 2, "uuid": "x"});
        let settings = settings.as_object().cloned().unwrap_or_default();
        let entry = CatalogEntry {
            folder: IndexFolder::new("a", "0123456789abcdef0123456789abcdef").unwrap(),
            created_at_ms: 0,
            is_data_stream: false,
            settings: settings.into_iter().collect(),
        };
        let check = |path: &str, query: &str, expected: Option<Value>| {
            let answer =
                json!({"a": {"settings": {"index": {"number_of_replicas": "0", "uuid": "a"}}}});
            let entries = || BTreeMap::from([("a".to_owned(), entry.clone())]);
            let shown = with_settings(("GET", path, query), answer.to_string().as_bytes(), entries);
            let shown = shown.map(|shown| serde_json::from_slice::<Value>(&shown).unwrap());
            let shown = shown.map(|mut shown| shown["a"]["settings"].take());
            assert_eq!(shown, expected, "{path}?{query}");
        };
        let all = json!({"index": {"refresh_interval": "7s", "blocks": {"write": "true"}, "number_of_replicas": "2", "uuid": "a"}});
        check("/a", "", Some(all.clone()));
        check("/_all/_settings", "", Some(all.clone()));
        check("/api/v1/_elastic/a/_settings/_all", "", Some(all));
        let some = json!({"index.blocks.write": "true", "index.refresh_interval": "7s"});
        let path = "/a/_settings/index.blocks*,index.refresh_interval";
        check(path, "flat_settings=true", Some(some));
        check("/a/_settings", "filter_path=a", None);
        check("/a/_mapping", "", None);
    }
}
