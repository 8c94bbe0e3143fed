//! `settings` of an index: those that take effect, those accepted because they can change no
//! answer, and those refused.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::error::{MappingError, Result};
use super::options::flag_of;

/// Settings of Elasticsearch's nodes, memory, files and limits, which change no answer.
const TAKEN: [&str; 44] = [
    "analyze.max_token_count",
    "auto_expand_replicas",
    "codec",
    "creation_date",
    "fast_refresh",
    "format",
    "gc_deletes",
    "hidden",
    "highlight.max_analyzed_offset",
    "knn",
    "load_fixed_bitset_filters_eagerly",
    "mapping.depth.limit",
    "mapping.dimension_fields.limit",
    "mapping.field_name_length.limit",
    "mapping.nested_fields.limit",
    "mapping.nested_objects.limit",
    "mapping.source.mode",
    "mapping.total_fields.ignore_dynamic_beyond_limit",
    "mapping.total_fields.limit",
    "max_docvalue_fields_search",
    "max_inner_result_window",
    "max_ngram_diff",
    "max_refresh_listeners",
    "max_regex_length",
    "max_rescore_window",
    "max_result_window",
    "max_script_fields",
    "max_slices_per_scroll",
    "max_shingle_diff",
    "max_terms_count",
    "number_of_replicas",
    "number_of_routing_shards",
    "number_of_shards",
    "priority",
    "provided_name",
    "queries.cache.enabled",
    "refresh_interval",
    "replication.type",
    "requests.cache.enable",
    "routing_partition_size",
    "shard.check_on_startup",
    "uuid",
    "warmer.enabled",
    "write.wait_for_active_shards",
];

/// Prefixes of settings of the same kind.
const TAKEN_BELOW: [&str; 16] = [
    "allocation.",
    // Read by `fields/analysis`.
    "analysis.",
    "indexing.slowlog.",
    "knn.",
    "lifecycle.",
    "merge.",
    "opendistro.index_state_management.",
    "plugins.index_state_management.",
    "routing.",
    "search.idle.",
    "search.slowlog.",
    "soft_deletes.",
    "sort.",
    "store.",
    "translog.",
    "unassigned.",
];

/// Settings that support only the listed values.
const FIXED: [(&str, &[&str]); 7] = [
    ("blocks.metadata", &["false"]),
    ("blocks.read", &["false"]),
    ("mapping.coerce", &["true"]),
    ("mapping.ignore_malformed", &["false", "true"]),
    ("mode", &["standard", "logsdb"]),
    ("query_string.lenient", &["false"]),
    ("version.created", &[]),
];

/// Settings that servers heed, and which are no part of a config.
const OF_SERVERS: [&str; 5] = [
    "blocks.read_only",
    "blocks.read_only_allow_delete",
    "blocks.write",
    "default_pipeline",
    "final_pipeline",
];

/// Maximum length of the value of a setting that is shown again, as JSON in bytes.
const MAX_KEPT_BYTES: usize = 1 << 10;

/// Changes the settings that servers heed and show by those of a request or of a part of an index: settings that are null
/// are removed. Lists of analyzers and long values are left out.
///
/// # Errors
/// They are no object, or one that servers heed has an invalid value.
pub fn keep_settings(kept: &mut BTreeMap<String, Value>, given: &Value) -> Result<()> {
    add(kept, given.get("settings").unwrap_or(given))?;
    kept.retain(|name, value| {
        !name.starts_with("analysis.") && value.to_string().len() <= MAX_KEPT_BYTES
    });
    for name in OF_SERVERS {
        let is_right = |value: &Value| match name.starts_with("blocks.") {
            true => flag_of(value).is_some(),
            false => value.is_string(),
        };
        if let Some(value) = kept.get(name).filter(|value| !is_right(value)) {
            return Err(MappingError::illegal(format!(
                "Failed to parse value [{value}] of the setting [index.{name}]"
            )));
        }
    }
    Ok(())
}

/// Settings by full name, without `index.`.
pub(super) type Settings = BTreeMap<String, Value>;

/// Adds settings in nested or dotted form. A null setting counts as unset.
pub(super) fn add(settings: &mut Settings, more: &Value) -> Result<()> {
    match more {
        Value::Null => Ok(()),
        Value::Object(_) => {
            flatten(settings, "", more);
            Ok(())
        }
        other => Err(MappingError::parse(format!(
            "[settings] is an object, and not [{other}]"
        ))),
    }
}

/// Returns settings as Elasticsearch shows them: in objects, and all values as texts.
pub(super) fn shown(settings: Settings) -> Value {
    let mut shown = Value::Object(Map::new());
    for (name, value) in settings {
        let mut at = &mut shown;
        for key in name.split('.') {
            if !at.is_object() {
                *at = Value::Object(Map::new());
            }
            at = &mut at[key];
        }
        *at = match value {
            Value::Bool(_) | Value::Number(_) => value.to_string().into(),
            value => value,
        };
    }
    shown
}

fn flatten(settings: &mut Settings, path: &str, value: &Value) {
    if let Value::Object(inner) = value {
        for (key, value) in inner {
            match path {
                "" => flatten(settings, key, value),
                path => flatten(settings, &format!("{path}.{key}"), value),
            }
        }
        return;
    }
    let name = path.strip_prefix("index.").unwrap_or(path);
    match value {
        Value::Null => {
            settings.remove(name);
        }
        value => {
            settings.insert(name.to_owned(), value.clone());
        }
    }
}

/// Returns the fields that a query without field names searches, if the settings list them. Accepts
/// or refuses all other settings.
pub(super) fn default_fields(settings: &Settings) -> Result<Option<Vec<String>>> {
    let mut fields = None;
    for (name, value) in settings {
        if name == "query.default_field" {
            fields = Some(names(value)?);
        } else if let Some((_, allowed)) = FIXED.iter().find(|(own, _)| own == name) {
            let text = match value {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            if !allowed.is_empty() && !allowed.contains(&text.as_str()) {
                return Err(MappingError::illegal(format!(
                    "the setting [index.{name}] can only be [{}] here, and not [{text}]",
                    allowed.join("] or [")
                )));
            }
        } else if name == "number_of_shards" {
            number(settings, name)?;
        } else if let Some(option) = similarity_option(name) {
            check_similarity(name, option, value)?;
        } else if !is_taken(name) {
            return Err(MappingError::illegal(format!(
                "unknown setting [index.{name}]: it is not supported here"
            )));
        }
    }
    let has_unknown_mode = settings
        .get("mapping.source.mode")
        .is_some_and(|mode| mode != "stored" && mode != "synthetic");
    match has_unknown_mode {
        true => Err(MappingError::illegal(
            "the setting [index.mapping.source.mode] can only be [stored] or [synthetic] here: what is not stored cannot be shown",
        )),
        false => Ok(fields),
    }
}

/// Returns a setting that is a whole number, if it is given.
pub(in crate::mappings) fn number(settings: &Settings, name: &str) -> Result<Option<u32>> {
    let Some(value) = settings.get(name) else {
        return Ok(None);
    };
    let number = match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_u64().and_then(|number| u32::try_from(number).ok()),
    };
    match number.filter(|number| *number > 0) {
        Some(number) => Ok(Some(number)),
        None => Err(MappingError::illegal(format!(
            "Failed to parse value [{value}] for setting [index.{name}] must be >= 1"
        ))),
    }
}

/// Returns the option of a similarity that a setting such as `similarity.custom.k1` has.
fn similarity_option(name: &str) -> Option<&str> {
    let (_, option) = name.strip_prefix("similarity.")?.split_once('.')?;
    Some(option)
}

/// Returns an error for a similarity other than the one that all fields have.
fn check_similarity(name: &str, option: &str, value: &Value) -> Result<()> {
    let number = value.as_f64().or_else(|| value.as_str()?.parse().ok());
    let is_right = match option {
        "type" => value == "BM25",
        "k1" => number == Some(1.2),
        "b" => number == Some(0.75),
        "discount_overlaps" => flag_of(value) == Some(true),
        _ => false,
    };
    match is_right {
        true => Ok(()),
        false => Err(MappingError::illegal(format!(
            "the setting [index.{name}] cannot be [{value}] here: the similarity is BM25 with a k1 of 1.2 and a b of 0.75"
        ))),
    }
}

/// Returns the names of similarities that settings define, all of which are BM25.
pub(super) fn similarities(settings: &Settings) -> Vec<&str> {
    let names = settings
        .keys()
        .filter(|name| similarity_option(name) == Some("type"));
    names.filter_map(|name| name.split('.').nth(1)).collect()
}

/// Returns whether documents are taken without the values that their fields do not accept.
pub(super) fn ignores_malformed(settings: &Settings) -> bool {
    let value = settings.get("mapping.ignore_malformed");
    value.and_then(flag_of) == Some(true)
}

fn is_taken(name: &str) -> bool {
    TAKEN.contains(&name)
        || OF_SERVERS.contains(&name)
        || TAKEN_BELOW.iter().any(|prefix| name.starts_with(prefix))
}

fn names(value: &Value) -> Result<Vec<String>> {
    let wrong = || {
        MappingError::illegal(format!(
            "the setting [index.query.default_field] is a list of fields, and not [{value}]"
        ))
    };
    match value {
        Value::String(name) => Ok(vec![name.clone()]),
        Value::Array(names) => {
            let names = names.iter().map(|name| name.as_str().map(str::to_owned));
            names.collect::<Option<_>>().ok_or_else(wrong)
        }
        _ => Err(wrong()),
    }
}

/// Reads a flag of settings and templates; absent counts as false.
pub(super) fn flag(value: Option<&Value>, what: &str) -> Result<bool> {
    match value {
        None | Some(Value::Null) => Ok(false),
        Some(value) => flag_of(value).ok_or_else(|| {
            MappingError::parse(format!("[{what}] is true or false, and not [{value}]"))
        }),
    }
}
