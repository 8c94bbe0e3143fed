//! How all fields are indexed that no mapping names: `dynamic`, and objects of which templates make keywords.

use serde_json::{Map, Value, json};

use crate::mappings::error::Result;
use crate::mappings::fields::analysis::Analysis;
use crate::mappings::options::Options;

/// Value of `dynamic`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mappings) enum Dynamic {
    /// `true`: unmapped fields are indexed by the type of their values.
    Indexed,
    /// `false`: unmapped fields are only shown in hits.
    Kept,
    /// `strict`: documents with unmapped fields are refused.
    Refused,
}

impl Dynamic {
    pub(in crate::mappings) fn take(options: &mut Options) -> Result<Option<Self>> {
        let Some(value) = options.take("dynamic") else {
            return Ok(None);
        };
        match Self::of(Some(&value)) {
            Some(dynamic) => Ok(Some(dynamic)),
            None => {
                let problem = format!("is true, false or strict, and not [{value}]");
                Err(options.wrong("dynamic", &problem))
            }
        }
    }

    /// Returns what a value of `dynamic` says.
    pub(super) fn of(value: Option<&Value>) -> Option<Self> {
        Some(match value? {
            Value::Bool(true) => Self::Indexed,
            Value::Bool(false) => Self::Kept,
            Value::String(text) if text == "true" => Self::Indexed,
            Value::String(text) if text == "false" => Self::Kept,
            Value::String(text) if text == "strict" => Self::Refused,
            _ => return None,
        })
    }

    /// Returns the `mode` of an index config.
    pub(in crate::mappings) fn mode(self) -> &'static str {
        match self {
            Self::Indexed => "dynamic",
            Self::Kept => "lenient",
            Self::Refused => "strict",
        }
    }
}

/// Indexing of unmapped texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mappings) enum Strings {
    /// By words and phrases.
    Words,
    /// By the whole value.
    Whole,
}

impl Strings {
    pub(in crate::mappings) fn tokenizer(self, analysis: &Analysis) -> String {
        match self {
            Self::Words => analysis.of_texts(),
            Self::Whole => "raw".to_owned(),
        }
    }

    pub(in crate::mappings) fn record(self) -> &'static str {
        match self {
            Self::Words => "position",
            Self::Whole => "basic",
        }
    }

    /// Returns the `dynamic_mapping` of an index config.
    pub(in crate::mappings) fn dynamic_mapping(self, analysis: &Analysis) -> Value {
        let mut mapping = json!({
            "stored": false, "fast": true, "tokenizer": self.tokenizer(analysis), "record": self.record(),
            "expand_dots": true,
        });
        if self == Self::Words {
            // As Elasticsearch's `keyword` of a text that no mapping names.
            mapping["ignore_above"] = 256.into();
        }
        mapping
    }
}

/// Maps objects all of whose values dynamic templates make keywords (`"path_match": "tag.*"`) as objects of whole values,
/// where no fields of theirs are mapped. Returns the other templates.
pub(in crate::mappings) fn map_whole_objects(
    templates: Option<Value>,
    properties: &mut Map<String, Value>,
) -> Option<Value> {
    let Some(Value::Array(list)) = templates else {
        return templates;
    };
    let mut others = Vec::new();
    for template in list {
        let named = template.as_object().and_then(|named| named.iter().next());
        let body = match named {
            Some((_, Value::Object(body))) => body,
            _ => {
                others.push(template);
                continue;
            }
        };
        let is_done = match path_of_keywords(body) {
            Some(path) => map_whole(properties, path),
            None => false,
        };
        if !is_done {
            others.push(template);
        }
    }
    Some(others.into())
}

/// Returns the path of the object all of whose values, whatever their type, a template makes keywords.
fn path_of_keywords(template: &Map<String, Value>) -> Option<&str> {
    let has_conditions = template
        .keys()
        .any(|key| !["match_mapping_type", "path_match", "mapping"].contains(&key.as_str()));
    let of = template.get("match_mapping_type").and_then(Value::as_str);
    let is_keyword = template.get("mapping")?.get("type")? == "keyword";
    let path = template.get("path_match")?.as_str()?.strip_suffix(".*")?;
    let is_all = !has_conditions && matches!(of, None | Some("*" | "string"));
    (is_all && is_keyword && !path.contains('*')).then_some(path)
}

/// Maps the object at a path as one of whole values, and returns whether there was nothing else.
fn map_whole(properties: &mut Map<String, Value>, path: &str) -> bool {
    let (first, rest) = match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let own = properties
        .entry(first)
        .or_insert_with(|| json!({"type": "object"}));
    let Value::Object(own) = own else {
        return false;
    };
    if own.get("type").is_some_and(|kind| kind != "object") {
        return false;
    }
    match rest {
        Some(rest) => {
            let inner = own.entry("properties").or_insert_with(|| json!({}));
            inner
                .as_object_mut()
                .is_some_and(|inner| map_whole(inner, rest))
        }
        None if own.keys().all(|key| key == "type" || key == "dynamic") => {
            *own = Map::from_iter([("type".to_owned(), "flattened".into())]);
            true
        }
        None => false,
    }
}
