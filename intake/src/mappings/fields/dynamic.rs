//! Handling of unmapped fields: `dynamic` and `dynamic_templates`.

use serde_json::{Map, Value, json};

use crate::mappings::error::{MappingError, Result};
use crate::mappings::fields::analysis::Analysis;
use crate::mappings::options::{Options, object};

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
        Ok(Some(match &value {
            Value::Bool(true) => Self::Indexed,
            Value::Bool(false) => Self::Kept,
            Value::String(text) if text == "true" => Self::Indexed,
            Value::String(text) if text == "false" => Self::Kept,
            Value::String(text) if text == "strict" => Self::Refused,
            other => {
                let problem = format!("is true, false or strict, and not [{other}]");
                return Err(options.wrong("dynamic", &problem));
            }
        }))
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

/// Numeric types of Elasticsearch. Numbers are indexed as numbers, whichever one a template names.
const NUMBERS: [&str; 9] = [
    "long",
    "integer",
    "short",
    "byte",
    "unsigned_long",
    "double",
    "float",
    "half_float",
    "scaled_float",
];

/// Returns how `dynamic_templates` index texts. All unmapped fields are indexed alike, so templates
/// that ask for anything else are refused by name.
pub(in crate::mappings) fn strings_of(templates: Option<&Value>) -> Result<Strings> {
    let templates = match templates {
        None | Some(Value::Null) => return Ok(Strings::Words),
        Some(Value::Array(templates)) => templates,
        Some(other) => {
            return Err(MappingError::mapper(format!(
                "[dynamic_templates] is a list, and not [{other}]"
            )));
        }
    };
    let mut found: Option<Strings> = None;
    for template in templates {
        let template = object(template, "an entry of [dynamic_templates]")?;
        for (name, template) in template {
            let template = object(template, &format!("[dynamic_templates] [{name}]"))?;
            let Some(own) = strings_of_one(name, template)? else {
                continue;
            };
            match found {
                Some(before) if before != own => {
                    return Err(refused(
                        name,
                        "makes other texts of what is not mapped than the templates before it",
                    ));
                }
                _ => found = Some(own),
            }
        }
    }
    Ok(found.unwrap_or(Strings::Words))
}

/// Maps objects all of whose values dynamic templates make keywords (`"path_match": "tag.*"`) as objects of whole values,
/// where no fields of theirs are mapped. Returns the other templates.
pub(in crate::mappings) fn map_whole_objects(
    templates: Option<Value>,
    properties: &mut Map<String, Value>,
) -> Result<Option<Value>> {
    let Some(Value::Array(list)) = templates else {
        return Ok(templates);
    };
    let mut others = Vec::new();
    for template in list {
        let named = template.as_object().and_then(|named| named.iter().next());
        let (name, body) = match named {
            Some((name, Value::Object(body))) => (name, body),
            _ => {
                others.push(template);
                continue;
            }
        };
        let is_done = match path_of_keywords(body) {
            Some(path) => strings_of_one(name, body)?.is_some() && map_whole(properties, path),
            None => false,
        };
        if !is_done {
            others.push(template);
        }
    }
    Ok(Some(others.into()))
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

fn refused(name: &str, problem: &str) -> MappingError {
    MappingError::mapper(format!(
        "[dynamic_templates] [{name}] {problem}, and all of that is indexed in one way here: map those fields under \
         [properties], or leave this template out"
    ))
}

fn strings_of_one(name: &str, template: &Map<String, Value>) -> Result<Option<Strings>> {
    let mut options = Options::of(template, name, "dynamic_templates");
    options.ignore(&[
        "match",
        "unmatch",
        "path_match",
        "path_unmatch",
        "match_pattern",
        "unmatch_mapping_type",
    ]);
    let of = options.take("match_mapping_type");
    let mapping = options.take("mapping").unwrap_or_else(|| json!({}));
    options.finish()?;
    let what = format!("[mapping] of [dynamic_templates] [{name}]");
    let mapping = object(&mapping, &what)?;
    let mut own = Options::of(mapping, name, "dynamic_templates");
    own.ignore(&["ignore_above", "norms", "meta", "eager_global_ordinals"]);
    // An unmapped field is indexed in one way only, under its own name.
    own.ignore(&["fields", "scaling_factor", "format"]);
    own.only(
        "index",
        true,
        "what is not mapped is indexed, or with [dynamic: false] not",
    )?;
    own.flag("doc_values", true)?;
    own.finish()?;
    let of = of.as_ref().and_then(Value::as_str).unwrap_or("*");
    let kind = mapping.get("type").and_then(Value::as_str);
    match (of, kind.unwrap_or("{dynamic_type}")) {
        (_, "{dynamic_type}") => Ok(None),
        // Numbers and flags are found by their texts, too.
        ("string" | "*", "keyword" | "wildcard") => Ok(Some(Strings::Whole)),
        ("string" | "*", "text" | "match_only_text") => Ok(Some(Strings::Words)),
        ("long" | "double", kind) if NUMBERS.contains(&kind) => Ok(None),
        ("boolean", "boolean")
        | ("date", "date")
        | ("object", "object" | "nested" | "flattened") => Ok(None),
        (of, kind) => {
            let problem = format!("makes [{kind}] of [{of}]");
            Err(refused(name, &problem))
        }
    }
}
