//! `PUT /<index>/_mapping`: an index config with further fields.

use canter_doc_mapper::{IndexConfig, Mode};
use serde_json::{Map, Value};

use super::config::{Mapping, default_search_fields, set_limits, set_shown};
use super::error::{MappingError, Result};
use super::fields::aliases;
use super::fields::analysis::Analysis;
use super::fields::detection::Detection;
use super::merge::merge_into;
use super::options::object;
use super::settings::{self, Settings};

/// Returns the config of an index with the fields of a mapping. Whether the index can have it, its splits decide
/// (see [`canter_doc_mapper::evolution::evolve`]).
///
/// # Errors
/// As [`index_config`](super::index_config); the mapping has other options for the whole index.
pub fn with_mapping(config: &IndexConfig, mapping: &Value) -> Result<IndexConfig> {
    let mapping = object(mapping, "the body")?;
    if mapping.contains_key("_doc") {
        return Err(MappingError::illegal(
            "Types cannot be provided in put mapping requests",
        ));
    }
    let as_put = as_put(config, mapping)?;
    let mut whole = mapping.clone();
    let mode = match config.doc_mapping.mode {
        Mode::Dynamic => "true",
        Mode::Lenient => "false",
        Mode::Strict => "strict",
    };
    whole.entry("dynamic").or_insert_with(|| mode.into());
    let timestamp = config.doc_mapping.timestamp_field.clone();
    let has_templates = whole.contains_key("dynamic_templates");
    let read = Mapping::read_with(&whole, timestamp, Analysis::of_config(config))?;
    let before = Detection::of(config);
    read.detection.check_same(before, mapping)?;
    let mut asked = serde_json::to_value(config).map_err(|error| wrong(&error.to_string()))?;
    let doc_mapping = &mut asked["doc_mapping"];
    doc_mapping["mode"] = read.dynamic.mode().into();
    if let (true, Some(dynamic)) = (has_templates, read.dynamic_mapping) {
        doc_mapping["dynamic_mapping"] = dynamic;
    }
    if let (Some(doc_mapping), true) = (
        doc_mapping.as_object_mut(),
        read.dynamic.mode() != "dynamic",
    ) {
        doc_mapping.shift_remove("dynamic_mapping");
    }
    if let Some(as_put) = &as_put {
        doc_mapping["elasticsearch_mapping"] = as_put.as_str().into();
    }
    let fields = doc_mapping["field_mappings"].as_array_mut();
    join(
        fields.ok_or_else(|| wrong("it has no fields"))?,
        read.fields,
    );
    match as_put {
        Some(as_put) => {
            let whole: Value =
                serde_json::from_str(&as_put).map_err(|error| wrong(&error.to_string()))?;
            set_shown(&mut asked, &whole)?;
        }
        // The config of the index says what it shows.
        None if mapping.contains_key("_source") => {
            return Err(MappingError::illegal(
                "Cannot update parameter [_source]: this index was created from an index config",
            ));
        }
        None => {}
    }
    let default_fields = asked["search_settings"]["default_search_fields"].as_array_mut();
    // An empty list stands for all fields, new ones included.
    if let Some(default_fields) = default_fields.filter(|fields| !fields.is_empty()) {
        let is_new = |path: &String| !default_fields.iter().any(|known| known == path);
        let words: Vec<Value> = read
            .words
            .into_iter()
            .filter(is_new)
            .map(Value::from)
            .collect();
        default_fields.extend(words);
    }
    let asked = asked.to_string();
    IndexConfig::from_json(asked.as_bytes()).map_err(|error| wrong(&error.to_string()))
}

/// Returns the config of an index with other settings.
///
/// # Errors
/// A setting is unknown or invalid, or one on which splits depend.
pub fn with_settings(config: &IndexConfig, given: &Value) -> Result<IndexConfig> {
    let mut all_settings = Settings::new();
    settings::add(&mut all_settings, given.get("settings").unwrap_or(given))?;
    for name in all_settings.keys() {
        let is_fixed = ["number_of_shards", "mapping.ignore_malformed", "codec"];
        if is_fixed.contains(&name.as_str()) || name.starts_with("analysis.") {
            return Err(MappingError::illegal(format!(
                "Can't update non dynamic settings [[index.{name}]] for open indices"
            )));
        }
    }
    let default_fields = settings::default_fields(&all_settings)?;
    let mut asked = serde_json::to_value(config).map_err(|error| wrong(&error.to_string()))?;
    if let Some(fields) = default_search_fields(default_fields) {
        asked["search_settings"]["default_search_fields"] = fields.into();
    }
    let as_put = config.doc_mapping.elasticsearch_mapping.as_deref();
    let as_put = as_put.and_then(|json| serde_json::from_str(json).ok());
    set_limits(&mut asked, &all_settings, &as_put.unwrap_or_default())?;
    let asked = asked.to_string();
    IndexConfig::from_json(asked.as_bytes()).map_err(|error| wrong(&error.to_string()))
}

/// Returns the mapping that an index shows once it has this one, too.
fn as_put(config: &IndexConfig, mapping: &Map<String, Value>) -> Result<Option<String>> {
    let Some(before) = &config.doc_mapping.elasticsearch_mapping else {
        return match aliases::has_any(mapping) {
            true => Err(MappingError::mapper(
                "[alias] is not supported in an index that was created from an index config",
            )),
            false => Ok(None),
        };
    };
    let mut whole: Map<String, Value> =
        serde_json::from_str(before).map_err(|error| wrong(&error.to_string()))?;
    merge_into(&mut whole, mapping)?;
    aliases::check(&whole)?;
    Ok(Some(Value::Object(whole).to_string()))
}

fn wrong(problem: &str) -> MappingError {
    MappingError::mapper(format!("this makes no index: {problem}"))
}

/// Adds fields, or puts them in the place of those of the same name; objects are joined.
fn join(fields: &mut Vec<Value>, more: Vec<Value>) {
    for mut field in more {
        let before = fields.iter_mut().find(|own| own["name"] == field["name"]);
        let Some(before) = before else {
            fields.push(field);
            continue;
        };
        let children = field.get_mut("field_mappings").map(Value::take);
        match (inner(before), children) {
            (Some(own), Some(Value::Array(children))) => join(own, children),
            (None, None) => *before = kept_as_it_was(before, &field),
            (_, children) => {
                if let Some(children) = children {
                    field["field_mappings"] = children;
                }
                *before = field;
            }
        }
    }
}

fn inner(field: &mut Value) -> Option<&mut Vec<Value>> {
    field.get_mut("field_mappings")?.as_array_mut()
}

/// Keeps what an index has of a mapping that earlier versions read in another way: dates whose numbers have any unit,
/// numbers of any width, and words of `english`.
fn keep_as_first_read(before: &Value, field: &mut Value) {
    let as_before = |formats: &Value| {
        let mut read: Vec<String> = Vec::new();
        for format in formats.as_array().into_iter().flatten() {
            let format = match format.as_str().unwrap_or_default() {
                "date_optional_time" => "iso8601",
                "unix_timestamp_secs" | "unix_timestamp_millis" => "unix_timestamp",
                other => other,
            };
            if !read.iter().any(|known| known == format) {
                read.push(format.to_owned());
            }
        }
        Value::from(read)
    };
    if before["type"] != field["type"] {
        return;
    }
    if as_before(&field["input_formats"]) == before["input_formats"] {
        field["input_formats"] = before["input_formats"].clone();
    }
    if before["type"] == "array<datetime>" && before["fast"] == false {
        field["fast"] = false.into();
    }
    // Earlier versions had another stemmer.
    if before["tokenizer"] == "en_stem" && field["tokenizer"] == "english" {
        field["tokenizer"] = "en_stem".into();
    }
    for option in ["width", "scaling_factor"] {
        if let (Some(field), None) = (field.as_object_mut(), before.get(option)) {
            field.shift_remove(option);
        }
    }
}

/// Returns a field as it is asked for. Further names that are left out stay, as in Elasticsearch.
fn kept_as_it_was(before: &Value, asked: &Value) -> Value {
    let mut field = asked.clone();
    if let (Some(sub_fields), None) = (before.get("sub_fields"), asked.get("sub_fields"))
        && before["type"] == asked["type"]
    {
        field["sub_fields"] = sub_fields.clone();
    }
    keep_as_first_read(before, &mut field);
    let names = |field: &Value| field["completion"]["names"].as_array().cloned();
    if let (Some(kept), Some(mut own)) = (names(before), names(asked)) {
        let left_out = kept.into_iter().filter(|name| !own.contains(name));
        let left_out: Vec<Value> = left_out.collect();
        own.extend(left_out);
        field["completion"]["names"] = own.into();
    }
    let further = before.get("fields").and_then(Value::as_object);
    let is_same_text = before["type"] == asked["type"] && asked.get("fields").is_none();
    if let (Some(further), true) = (further, is_same_text) {
        let further: Map<String, Value> = further.clone();
        field["fields"] = further.into();
        for option in ["fast", "ignore_above"] {
            if let Some(value) = before.get(option) {
                field[option] = value.clone();
            }
        }
    }
    field
}
