//! Fields: those of an index, and those that a call wants to see in hits.

use canter_doc_mapper::escape_segment;
use canter_names::matches_pattern;
use serde_json::{Map, Value, json};

use super::super::answer::{Answer, Spent};
use super::super::app::{App, Failure, Reply};
use super::super::shorten::Payload;
use super::arguments::{DEFAULT_MAX_FIELDS, DescribeArguments};

/// Returns the fields of an index.
pub(in crate::commands::mcp) async fn describe(
    app: &App,
    arguments: DescribeArguments,
) -> Result<Value, Failure> {
    app.check_index(&arguments.index)?;
    let path = format!("/api/v1/indexes/{}", arguments.index);
    let limits = arguments.budget.lower(&app.limits);
    let reply = app.ask("GET", path, None, &limits).await;
    let spent = Spent::of(&reply);
    let Reply { json, .. } = reply;
    let json = json?;
    let config = &json["index_config"];
    let mapping = &config["doc_mapping"];
    let mut answer = Answer::new(spent.to_json(app.is_filtered()));
    for (key, value) in [
        ("timestamp_field", &mapping["timestamp_field"]),
        ("mode", &mapping["mode"]),
        (
            "default_search_fields",
            &config["search_settings"]["default_search_fields"],
        ),
        ("tag_fields", &mapping["tag_fields"]),
    ] {
        answer.put(key, value.clone());
    }
    if mapping["mode"] == "dynamic" {
        answer.note(dynamic_note(&mapping["dynamic_mapping"]));
    }
    let mut fields = Vec::new();
    collect(&mapping["field_mappings"], "", &mut fields);
    fields.retain(|field| {
        let name = field["name"].as_str().unwrap_or_default();
        matches_pattern(&arguments.pattern, name)
    });
    let max_fields = arguments.max_fields.unwrap_or(DEFAULT_MAX_FIELDS);
    let max_fields = usize::try_from(max_fields).unwrap_or(usize::MAX);
    answer.put("num_fields", fields.len());
    if fields.len() > max_fields {
        answer.lacks(format!(
            "Only the first {max_fields} of {} fields are shown: give a `pattern`, or raise `max_fields`.",
            fields.len()
        ));
        fields.truncate(max_fields);
    }
    let advice = "give a `pattern`, such as `http.*`.";
    answer.finish(
        "fields",
        Payload::List(fields),
        app.max_answer_bytes,
        advice,
    )
}

/// Returns a note on unmapped fields.
fn dynamic_note(mapping: &Value) -> String {
    let tokenizer = mapping["tokenizer"].as_str().unwrap_or("raw");
    let is_fast = !matches!(mapping["fast"], Value::Null | Value::Bool(false));
    let fast = match is_fast {
        true => "and can be sorted by and aggregated",
        false => "and can be neither sorted by nor aggregated",
    };
    format!(
        "Documents may have fields that are not listed here; a hit shows them. They are searched by their path, such as \
         `a.b:value` (texts with the tokenizer {tokenizer}), {fast}."
    )
}

/// Collects every mapped field below `path`, in the order of the config.
fn collect(mappings: &Value, path: &str, fields: &mut Vec<Value>) {
    for mapping in mappings.as_array().into_iter().flatten() {
        let name = escape_segment(mapping["name"].as_str().unwrap_or_default());
        let path = match path {
            "" => name,
            path => format!("{path}.{name}"),
        };
        if mapping["type"] == "object" {
            collect(&mapping["field_mappings"], &path, fields);
            continue;
        }
        fields.push(described(mapping, &path));
        // The same text, indexed in other ways.
        for (variant, options) in mapping["fields"].as_object().into_iter().flatten() {
            let mut other = described(options, &format!("{path}.{}", escape_segment(variant)));
            other["type"] = "text".into();
            other["is_searchable"] = true.into();
            fields.push(other);
        }
    }
}

/// Describes a field for authors of queries.
fn described(mapping: &Value, path: &str) -> Value {
    let is_indexed = mapping["indexed"] == true || mapping["type"] == "concatenate";
    let is_fast = !matches!(mapping["fast"], Value::Null | Value::Bool(false));
    let is_scanned = mapping["strategy"] == "none";
    let mut field = json!({
        "name": path,
        "type": mapping["type"],
        "is_searchable": is_indexed || is_fast || is_scanned,
        "is_fast": is_fast,
    });
    if let Value::Object(field) = &mut field {
        put(field, "tokenizer", &mapping["tokenizer"]);
        if mapping["record"] == "position" {
            put(field, "has_phrases", &Value::Bool(true));
        }
        if is_scanned {
            put(field, "is_slow_to_search", &Value::Bool(true));
        }
        put(field, "description", &mapping["description"]);
    }
    field
}

/// Adds a value unless it is null.
fn put(object: &mut Map<String, Value>, key: &str, value: &Value) {
    if !value.is_null() {
        object.insert(key.to_owned(), value.clone());
    }
}

/// The fields of documents that are wanted: paths, in which `*` matches any text.
pub(in crate::commands::mcp) struct Wanted<'a> {
    patterns: Vec<Pattern<'a>>,
}

struct Pattern<'a> {
    given: &'a str,
    /// Documents contain unescaped names, while queries escape dots.
    unescaped: String,
    is_found: bool,
}

impl<'a> Wanted<'a> {
    pub(in crate::commands::mcp) fn new(patterns: &'a [String]) -> Self {
        let patterns = patterns.iter().map(|given| Pattern {
            given,
            unescaped: given.replace('\\', ""),
            is_found: false,
        });
        Self {
            patterns: patterns.collect(),
        }
    }

    /// Removes all other fields from a document.
    pub(in crate::commands::mcp) fn part_of(&mut self, document: Value) -> Value {
        let part = self.keep(document, "");
        part.unwrap_or_else(|| Value::Object(Map::new()))
    }

    /// Returns the wanted fields that no document has.
    pub(in crate::commands::mcp) fn not_found(&self) -> Vec<String> {
        let missing = self.patterns.iter().filter(|pattern| !pattern.is_found);
        missing
            .map(|pattern| format!("`{}`", pattern.given))
            .collect()
    }

    fn keep(&mut self, value: Value, path: &str) -> Option<Value> {
        match value {
            Value::Object(object) => {
                let mut kept = Map::new();
                for (name, value) in object {
                    let path = match path {
                        "" => name.clone(),
                        path => format!("{path}.{name}"),
                    };
                    let part = match self.is_wanted(&path) {
                        true => Some(value),
                        false => self.keep(value, &path),
                    };
                    if let Some(part) = part {
                        kept.insert(name, part);
                    }
                }
                (!kept.is_empty()).then_some(Value::Object(kept))
            }
            Value::Array(values) => {
                let kept = values
                    .into_iter()
                    .filter_map(|value| self.keep(value, path));
                let kept: Vec<Value> = kept.collect();
                (!kept.is_empty()).then_some(Value::Array(kept))
            }
            _ => None,
        }
    }

    fn is_wanted(&mut self, path: &str) -> bool {
        let mut is_wanted = false;
        for pattern in &mut self.patterns {
            if matches_pattern(&pattern.unescaped, path) {
                pattern.is_found = true;
                is_wanted = true;
            }
        }
        is_wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_keep_the_fields_that_are_wanted() {
        let document = json!({
            "level": "ERROR",
            "http": {"status": 500, "path": "/a"},
            "tags": [{"k": 1, "v": 2}, {"v": 3}],
            "a.b": {"c": 4},
        });
        for (patterns, expect, missing) in [
            (vec!["level"], json!({"level": "ERROR"}), vec![]),
            (
                vec!["http.status"],
                json!({"http": {"status": 500}}),
                vec![],
            ),
            (
                vec!["http"],
                json!({"http": {"status": 500, "path": "/a"}}),
                vec![],
            ),
            (
                vec!["http.*", "le*"],
                json!({"level": "ERROR", "http": {"status": 500, "path": "/a"}}),
                vec![],
            ),
            (vec!["tags.k"], json!({"tags": [{"k": 1}]}), vec![]),
            (vec!["a\\.b.c"], json!({"a.b": {"c": 4}}), vec![]),
            (vec!["level", "no"], json!({"level": "ERROR"}), vec!["`no`"]),
            (vec!["no"], json!({}), vec!["`no`"]),
        ] {
            let patterns: Vec<String> = patterns.into_iter().map(str::to_owned).collect();
            let mut wanted = Wanted::new(&patterns);
            assert_eq!(wanted.part_of(document.clone()), expect, "{patterns:?}");
            assert_eq!(wanted.not_found(), missing, "{patterns:?}");
        }
    }

    #[test]
    fn fields_are_described_below_their_objects() {
        let mappings = json!([
            {"name": "at", "type": "datetime", "indexed": true, "fast": true},
            {"name": "k8s", "type": "object", "field_mappings": [
                {"name": "node.id", "type": "text", "indexed": true, "fast": {"normalizer": "raw"}, "tokenizer": "raw"},
            ]},
            {"name": "body", "type": "text", "indexed": true, "fast": false, "tokenizer": "default",
             "record": "position", "description": "what happened", "fields": {"raw": {"tokenizer": "raw"}}},
            {"name": "blob", "type": "bytes", "strategy": "none", "fast": false},
        ]);
        let mut fields = Vec::new();
        collect(&mappings, "", &mut fields);
        assert_eq!(
            fields,
            [
                json!({"name": "at", "type": "datetime", "is_searchable": true, "is_fast": true}),
                json!({"name": "k8s.node\\.id", "type": "text", "is_searchable": true, "is_fast": true, "tokenizer": "raw"}),
                json!({"name": "body", "type": "text", "is_searchable": true, "is_fast": false, "tokenizer": "default",
                       "has_phrases": true, "description": "what happened"}),
                json!({"name": "body.raw", "type": "text", "is_searchable": true, "is_fast": false, "tokenizer": "raw"}),
                json!({"name": "blob", "type": "bytes", "is_searchable": true, "is_fast": false, "is_slow_to_search": true}),
            ]
        );
    }
}
