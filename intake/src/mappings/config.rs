//! Settings and mappings, of templates and of a request → an index config.

use std::collections::BTreeMap;

use canter_doc_mapper::IndexConfig;
use serde_json::{Map, Value, json};

use super::error::{MappingError, Result};
use super::fields::properties::Fields;
use super::merge::{expanded, merge_into};
use super::options::{Options, object};
use super::settings::{self, Settings};
use crate::mappings::fields::aliases;
use crate::mappings::fields::analysis::{Analysis, define_named};
use crate::mappings::fields::copies::{self, Copies};
use crate::mappings::fields::detection::Detection;
use crate::mappings::fields::dynamic::{Dynamic, Templates, map_whole_objects};

/// Default name of the timestamp field.
const TIMESTAMP: &str = "@timestamp";

/// Maximum number of fields that a query without field names searches.
const MAX_DEFAULT_FIELDS: usize = 64;

/// Description of an index in a request or a template.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IndexParts {
    settings: Value,
    mappings: Value,
    lifecycle: Value,
    aliases: Map<String, Value>,
}

impl IndexParts {
    /// Reads an object with `settings`, `mappings` and `aliases`; `what` names it in errors.
    ///
    /// # Errors
    /// A key is unknown.
    pub fn read(body: &Value, what: &str) -> Result<Self> {
        let body = match body {
            Value::Null => return Ok(Self::default()),
            Value::Object(body) => body,
            other => {
                return Err(MappingError::parse(format!(
                    "{what} is an object, and not [{other}]"
                )));
            }
        };
        let mut parts = Self::default();
        for (key, value) in body {
            match key.as_str() {
                "settings" => parts.settings = value.clone(),
                "mappings" => parts.mappings = value.clone(),
                "lifecycle" => parts.lifecycle = value.clone(),
                "aliases" if value.is_null() => {}
                "aliases" => {
                    let aliases = value.as_object().cloned();
                    parts.aliases = aliases.ok_or_else(|| {
                        MappingError::parse(format!("[aliases] of {what} is an object"))
                    })?;
                }
                other => {
                    return Err(MappingError::parse(format!(
                        "unknown key [{other}] in {what}: there are settings, mappings, aliases and lifecycle"
                    )));
                }
            }
        }
        Ok(parts)
    }

    /// Returns the settings, as they were given.
    #[must_use]
    pub fn settings(&self) -> &Value {
        &self.settings
    }

    /// Returns the aliases, each with its options.
    #[must_use]
    pub fn aliases(&self) -> &Map<String, Value> {
        &self.aliases
    }
}

/// Returns the config of the index that `parts` describe together; later ones override earlier ones.
///
/// # Errors
/// An option is unknown, contradicts another, or would differ from its meaning in Elasticsearch.
pub fn index_config(name: &str, parts: &[IndexParts], is_data_stream: bool) -> Result<IndexConfig> {
    config_with(name, parts, is_data_stream, &BTreeMap::new())
}

/// Returns it with the policies that delete documents of an age, one of which the settings may name.
///
/// # Errors
/// As [`index_config`].
pub fn config_with(
    name: &str,
    parts: &[IndexParts],
    is_data_stream: bool,
    ages: &BTreeMap<String, String>,
) -> Result<IndexConfig> {
    let (mut all_settings, mut mapping, lifecycle) = joined(parts)?;
    let asked = settings::default_fields(&all_settings)?;
    aliases::check(&mapping)?;
    let as_put = Value::Object(mapping.clone());
    if let Some(Value::Object(properties)) = mapping.get_mut("properties") {
        name_similarity(properties, &settings::similarities(&all_settings));
    }
    define_named(&mapping, &mut all_settings);
    let analysis = Analysis::of_settings(&all_settings)?;
    let tokenizers = analysis.tokenizers.clone();
    let mut read = Mapping::read(&mapping, is_data_stream, analysis)?;
    read.fields.extend(own_fields());
    let mut doc_mapping = json!({
        "id_field": "_id",
        "mode": read.dynamic.mode(),
        "field_mappings": read.fields,
        // `exists` also queries text fields, which have no column.
        "index_field_presence": true,
        // Hits show the document as it was sent: lists, numbers and dates in their original form.
        "store_source": true,
        // Numbers and booleans are texts where texts are wanted, and the like.
        "coerce": true,
        "elasticsearch_mapping": as_put.to_string(),
    });
    read.detection.write(&mut doc_mapping);
    if settings::ignores_malformed(&all_settings) {
        doc_mapping["ignore_malformed"] = true.into();
    }
    if let Some(shown) = shown_source(&as_put)? {
        doc_mapping["shown_source"] = shown;
    }
    if let Some(dynamic_mapping) = read.dynamic_mapping {
        doc_mapping["dynamic_mapping"] = dynamic_mapping;
    }
    if !tokenizers.is_empty() {
        doc_mapping["tokenizers"] = tokenizers.into();
    }
    if let Some(timestamp) = read.timestamp {
        doc_mapping["timestamp_field"] = timestamp.into();
    }
    let default_fields = default_search_fields(asked).unwrap_or_default();
    let mut config = json!({
        "version": "0.9",
        "index_id": index_id_of(name),
        "doc_mapping": doc_mapping,
        "search_settings": {"default_search_fields": default_fields},
    });
    if let Some(diff) = settings::number(&all_settings, "max_ngram_diff")? {
        // That of a config is greater than Elasticsearch's.
        config["indexing_settings"] = json!({"max_ngram_diff": diff.clamp(4, 99)});
    }
    set_limits(&mut config, &all_settings, &as_put)?;
    if let Some(period) = retention(lifecycle)?.or_else(|| age_of_policy(&all_settings, ages)) {
        config["retention"] = json!({"period": period});
    }
    IndexConfig::from_json(config.to_string().as_bytes())
        .map_err(|error| MappingError::mapper(format!("this makes no index: {error}")))
}

/// Joins parts, later ones over earlier ones: their settings, mapping and lifecycle.
fn joined(parts: &[IndexParts]) -> Result<(Settings, Map<String, Value>, &Value)> {
    let mut all_settings = Settings::new();
    let mut mapping = Map::new();
    let mut lifecycle = &Value::Null;
    for part in parts {
        settings::add(&mut all_settings, &part.settings)?;
        if !part.mappings.is_null() {
            let later = object(&part.mappings, "[mappings]")?;
            merge_into(&mut mapping, untyped(later))?;
        }
        if !part.lifecycle.is_null() {
            lifecycle = &part.lifecycle;
        }
    }
    Ok((all_settings, mapping, lifecycle))
}

/// Returns the fields of every index. Clients may choose ids and routings; versions of an id are counted, and those of all ids
/// numbered.
fn own_fields() -> [Value; 5] {
    [
        json!({"name": "_id", "type": "text", "tokenizer": "raw", "stored": false}),
        json!({"name": "_version", "type": "u64", "indexed": false, "stored": false, "fast": true}),
        json!({"name": "_seq_no", "type": "u64", "indexed": false, "stored": false, "fast": true}),
        json!({"name": "_ignored", "type": "array<text>", "tokenizer": "raw", "fast": true}),
        json!({"name": "_routing", "type": "text", "indexed": false, "stored": false, "fast": true}),
    ]
}

/// Adds the limits of searches that settings give.
pub(super) fn set_limits(
    config: &mut Value,
    all_settings: &Settings,
    as_put: &Value,
) -> Result<()> {
    let search = &mut config["search_settings"];
    if let Some(max) = settings::number(all_settings, "highlight.max_analyzed_offset")? {
        search["max_analyzed_offset"] = max.into();
        search["fields_with_offsets"] = with_offsets(as_put).into();
    }
    if let Some(max) = settings::number(all_settings, "max_slices_per_scroll")? {
        search["max_slices_per_scroll"] = max.into();
    }
    Ok(())
}

/// Sets what a config has of the fields of a mapping that are shown in spite of `_source`, and of those with offsets.
///
/// # Errors
/// The mapping has another `_source` than the index.
pub(super) fn set_shown(config: &mut Value, whole: &Value) -> Result<()> {
    let parts = |shown: &Value| {
        let names = |key: &str| shown[key].as_array().cloned().unwrap_or_default();
        (names("includes"), names("excludes"))
    };
    let shown = shown_source(whole)?.unwrap_or_default();
    let before = &config["doc_mapping"]["shown_source"];
    if parts(&shown) != parts(before) {
        return Err(MappingError::illegal(
            "Cannot update parameter [_source]: it can only be set when the index is created",
        ));
    }
    if !shown.is_null() {
        config["doc_mapping"]["shown_source"] = shown;
    }
    if !config["search_settings"]["max_analyzed_offset"].is_null() {
        config["search_settings"]["fields_with_offsets"] = with_offsets(whole).into();
    }
    Ok(())
}

/// Returns the paths of the fields of a mapping whose terms have offsets.
fn with_offsets(mapping: &Value) -> Vec<String> {
    paths_with(mapping, &|definition| {
        let vectors = definition["term_vector"].as_str().unwrap_or_default();
        definition["index_options"] == "offsets" || vectors.ends_with("offsets")
    })
}

/// Returns the paths of the fields of a mapping with these definitions.
fn paths_with(mapping: &Value, fits: &dyn Fn(&Value) -> bool) -> Vec<String> {
    let mut paths = Vec::new();
    for inner in ["properties", "fields"] {
        for (name, definition) in mapping[inner].as_object().into_iter().flatten() {
            if fits(definition) {
                paths.push(name.clone());
            }
            let below = paths_with(definition, fits).into_iter();
            paths.extend(below.map(|path| format!("{name}.{path}")));
        }
    }
    paths
}

/// Returns the parts of documents that a mapping shows, if not all.
fn shown_source(mapping: &Value) -> Result<Option<Value>> {
    let Some(source) = mapping["_source"].as_object() else {
        return Ok(None);
    };
    let mut options = Options::of(source, "_source", "mapping");
    let is_enabled = options.flag("enabled", true)?;
    let mut names = |key: &str| match options.take(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::String(name)) => Ok(vec![Value::from(name)]),
        Some(Value::Array(names)) if names.iter().all(Value::is_string) => Ok(names),
        Some(other) => Err(MappingError::mapper(format!(
            "[{key}] of [_source] is a list of names, and not [{other}]"
        ))),
    };
    let (includes, mut excludes) = (names("includes")?, names("excludes")?);
    if !is_enabled {
        excludes.push("*".into());
    }
    if includes.is_empty() && excludes.is_empty() {
        return Ok(None);
    }
    let is_stored = |definition: &Value| definition["store"] == true;
    Ok(Some(json!({
        "includes": includes, "excludes": excludes, "stored_fields": paths_with(mapping, &is_stored),
    })))
}

/// Puts BM25 in the place of names that settings give it.
fn name_similarity(properties: &mut Map<String, Value>, names: &[&str]) {
    for definition in properties.values_mut() {
        for inner in ["properties", "fields"] {
            if let Some(Value::Object(inner)) = definition.get_mut(inner) {
                name_similarity(inner, names);
            }
        }
        if let Some(similarity) = definition.get_mut("similarity")
            && similarity
                .as_str()
                .is_some_and(|name| names.contains(&name))
        {
            *similarity = "BM25".into();
        }
    }
}

/// Converts an index name into a valid id of a config. Names may contain dots and start with
/// digits.
#[must_use]
pub fn index_id_of(name: &str) -> String {
    let mut id: String = name
        .chars()
        .map(|char| match char {
            char if char.is_ascii_alphanumeric() || char == '_' => char,
            _ => '-',
        })
        .collect();
    if !id.starts_with(|char: char| char.is_ascii_alphabetic()) {
        id.insert_str(0, "i-");
    }
    while id.len() < 3 {
        id.push('-');
    }
    id.truncate(255);
    id
}

/// Returns the mapping without its type, which mappings of old versions state first.
pub(super) fn untyped(mappings: &Map<String, Value>) -> &Map<String, Value> {
    match mappings.get("_doc").and_then(Value::as_object) {
        Some(inner) if mappings.len() == 1 => inner,
        _ => mappings,
    }
}

/// Parsed mapping.
pub(super) struct Mapping {
    pub(super) dynamic: Dynamic,
    pub(super) dynamic_mapping: Option<Value>,
    pub(super) fields: Vec<Value>,
    timestamp: Option<String>,
    pub(super) words: Vec<String>,
    pub(super) detection: Detection,
}

impl Mapping {
    fn read(
        mapping: &Map<String, Value>,
        is_data_stream: bool,
        analysis: Analysis,
    ) -> Result<Self> {
        let properties = match mapping.get("properties") {
            None | Some(Value::Null) => Map::new(),
            Some(properties) => object(properties, "[properties]")?.clone(),
        };
        let mut properties = expanded(&properties)?;
        if is_data_stream {
            let date = || json!({"type": "date"});
            properties.entry(TIMESTAMP).or_insert_with(date);
        }
        let timestamp = timestamp_field(&properties, mapping.get("_meta"))?;
        let mut mapping = mapping.clone();
        mapping.insert("properties".to_owned(), properties.into());
        Self::read_with(&mapping, timestamp, analysis)
    }

    /// Reads a mapping of an index whose timestamp field is known.
    pub(super) fn read_with(
        mapping: &Map<String, Value>,
        timestamp: Option<String>,
        analysis: Analysis,
    ) -> Result<Self> {
        let mut options = Options::of(mapping, "_doc", "mapping");
        // A root mapping has no type, so `type` is unknown as well.
        if mapping.contains_key("type") {
            return Err(MappingError::mapper(
                "[type] is unknown at the root of a mapping: fields stand under [properties]",
            ));
        }
        let dynamic = Dynamic::take(&mut options)?.unwrap_or(Dynamic::Indexed);
        let templates = options.take("dynamic_templates");
        let mut properties = match options.take("properties") {
            None | Some(Value::Null) => Map::new(),
            Some(properties) => object(&properties, "[properties]")?.clone(),
        };
        let templates = map_whole_objects(templates, &mut properties);
        let templates = Templates::read(templates.as_ref())?;
        options.take("_meta");
        let detection = Detection::take(&mut options)?;
        root_options(&mut options)?;
        options.finish()?;
        let dynamic_mapping = match dynamic {
            Dynamic::Indexed => Some(templates.strings().dynamic_mapping(&analysis)),
            // These options concern unmapped fields, which are not indexed then.
            Dynamic::Kept | Dynamic::Refused => None,
        };
        let mut fields = Fields {
            dynamic,
            timestamp,
            words: Vec::new(),
            copies: Copies::new(),
            analysis,
        };
        fields.check_templates(&templates)?;
        let mut mapped = fields.read(&properties, "")?;
        for path in copies::apply(&mut mapped, &fields.copies, &fields.analysis)? {
            if !fields.words.contains(&path) {
                fields.words.push(path);
            }
        }
        Ok(Self {
            dynamic,
            dynamic_mapping,
            fields: mapped,
            timestamp: fields.timestamp,
            words: fields.words,
            detection,
        })
    }
}

/// Reads the other options at the root of a mapping.
fn root_options(options: &mut Options) -> Result<()> {
    options.ignore(&["_data_stream_timestamp", "_field_names"]);
    options.only("subobjects", true, "names with dots are objects in objects")?;
    for (name, wanted, why) in [
        ("_source", "enabled", ""),
        ("_routing", "required", "documents are not routed"),
        (
            "_size",
            "enabled",
            "create the index from an index config, with store_document_size",
        ),
    ] {
        let Some(value) = options.take(name) else {
            continue;
        };
        let mut own = Options::of(object(&value, &format!("[{name}]"))?, name, "mapping");
        match name {
            "_source" => own.ignore(&["enabled", "includes", "excludes"]),
            _ => own.only(wanted, false, why)?,
        }
        if let Some(mode) = own.text("mode")?
            && mode != "stored"
            && mode != "synthetic"
        {
            return Err(own.wrong("mode", "can only be stored or synthetic"));
        }
        own.finish()?;
    }
    match options.take("runtime") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Object(fields)) if fields.is_empty() => Ok(()),
        Some(_) => Err(options.wrong("runtime", "is not supported: there are no scripts here")),
    }
}

/// Returns the timestamp field: `@timestamp` if it is a date, or the field that `_meta` names.
fn timestamp_field(
    properties: &Map<String, Value>,
    meta: Option<&Value>,
) -> Result<Option<String>> {
    let named = meta.and_then(|meta| meta.pointer("/canter/timestamp_field"));
    if let Some(named) = named {
        let named = named.as_str().ok_or_else(|| {
            MappingError::mapper("[_meta] [canter] [timestamp_field] is the name of a field")
        })?;
        return Ok(Some(named.to_owned()));
    }
    let kind = properties
        .get(TIMESTAMP)
        .and_then(|field| field.get("type"));
    let is_date = kind.is_some_and(|kind| kind == "date" || kind == "date_nanos");
    Ok(is_date.then(|| TIMESTAMP.to_owned()))
}

/// Returns the fields asked for by name, unless there are too many; `None` if nothing is said of them. An empty list stands for all fields, as `*` does in
/// Elasticsearch.
pub(super) fn default_search_fields(asked: Option<Vec<String>>) -> Option<Vec<String>> {
    let asked = asked?;
    let is_wanted = |names: &Vec<String>| {
        let is_pattern = |name: &String| name.contains('*');
        names.len() <= MAX_DEFAULT_FIELDS && !names.iter().any(is_pattern)
    };
    Some(Some(asked).filter(is_wanted).unwrap_or_default())
}

/// Returns the age at which the policy that settings name deletes documents.
fn age_of_policy(all_settings: &Settings, ages: &BTreeMap<String, String>) -> Option<String> {
    let policy = all_settings.get("lifecycle.name")?.as_str()?;
    ages.get(policy).cloned()
}

/// Returns the retention period of a lifecycle, if it has one.
fn retention(lifecycle: &Value) -> Result<Option<String>> {
    if lifecycle.is_null() {
        return Ok(None);
    }
    let mut options = Options::of(object(lifecycle, "[lifecycle]")?, "lifecycle", "lifecycle");
    let is_on = options.flag("enabled", true)?;
    let period = options.text("data_retention")?;
    options.finish()?;
    Ok(period.filter(|_| is_on))
}
