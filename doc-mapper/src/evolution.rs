//! Allowed changes to the config of an index with documents: new fields may be added, and settings
//! that do not affect existing splits may change. Other changes would need the splits to be
//! rebuilt, and are refused.
//!
//! ```text
//!   config of the index ─┐
//!                        ├─▶ differences, place by place ─▶ all allowed: the new config │ the refusals
//!   requested config ────┘
//! ```
//!
//! Both are compared in canonical form, so that an explicit default is no difference. Existing
//! fields keep their order and numbers, whatever the order in the new config; new fields follow.

use std::fmt;

use serde_json::{Map, Value};

use crate::config::{FieldKind, FieldMapping, IndexConfig, Mode};
use crate::field_path::escape_segment;

/// Difference between two configs at one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Place, such as `search_settings.default_search_fields` or
    /// `doc_mapping.field_mappings.user.name.type`.
    pub place: String,
    /// Value in the index.
    pub was: Option<Value>,
    /// Requested value.
    pub asked: Option<Value>,
}

/// Difference that is not allowed.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// Difference.
    pub difference: Difference,
    /// Alternative for the user.
    pub remedy: String,
}

/// Result of a change of config.
#[derive(Clone, Debug, PartialEq)]
pub struct Evolution {
    /// New config: the index's own if nothing differs.
    pub config: IndexConfig,
    /// Differences between the configs.
    pub differences: Vec<Difference>,
    /// Paths of the added fields, in order.
    pub added_fields: Vec<String>,
}

const FIELDS: &str = "doc_mapping.field_mappings";
const TOKENIZERS: &str = "doc_mapping.tokenizers";

/// Settings that no split depends on.
const FREE: [&str; 12] = [
    "version",
    "search_settings",
    "indexing_settings",
    "ingest_settings",
    "retention",
    "doc_mapping.doc_mapping_uid",
    "doc_mapping.tag_fields",
    "doc_mapping.partition_key",
    "doc_mapping.max_num_partitions",
    "doc_mapping.dynamic_mapping.description",
    "doc_mapping.elasticsearch_mapping",
    "doc_mapping.shown_source",
];

/// Options of a field that only affect future documents, or nothing.
const FREE_OF_FIELD: [&str; 4] = ["description", "needle", "coerce", "ignore_malformed"];

/// Changes an index's config `was` to `asked`.
///
/// # Errors
/// Returns all differences that are not allowed.
pub fn evolve(was: &IndexConfig, asked: &IndexConfig) -> Result<Evolution, Vec<Refusal>> {
    let mut asked = asked.clone();
    // The location of an index does not affect its splits; a config without one does not move the
    // index.
    asked.index_uri = asked.index_uri.or_else(|| was.index_uri.clone());
    asked
        .doc_mapping
        .added_fields
        .clone_from(&was.doc_mapping.added_fields);
    let mut differences = Vec::new();
    let (before, after) = (canonical(was), canonical(&asked));
    compare("", Some(&before), Some(&after), &mut differences);
    let refused = differences.iter().filter_map(refusal_of);
    let refused: Vec<Refusal> = refused.collect();
    if !refused.is_empty() {
        return Err(refused);
    }
    let fields = &mut asked.doc_mapping.field_mappings;
    let mut added_fields = Vec::new();
    *fields = joined(
        &was.doc_mapping.field_mappings,
        std::mem::take(fields),
        "",
        &mut added_fields,
    );
    let all_added = &mut asked.doc_mapping.added_fields;
    all_added.extend(added_fields.iter().cloned());
    if differences.is_empty() {
        // Except for the order of fields.
        asked = was.clone();
    }
    Ok(Evolution {
        config: asked,
        differences,
        added_fields,
    })
}

impl Evolution {
    /// Describes the effects on documents that are already in the index.
    pub fn notes(&self) -> Vec<String> {
        let is_dynamic = self.config.doc_mapping.mode == Mode::Dynamic;
        let of_field = |path: &String| match is_dynamic {
            true => format!(
                "documents that are in the index already keep {path:?} as dynamic_mapping indexed it, and are found \
                 by that: ingest them into a new index to have them indexed as the field is now"
            ),
            false => format!(
                "documents that are in the index already have no {path:?}: nothing was kept of it when they were \
                 ingested"
            ),
        };
        self.added_fields.iter().map(of_field).collect()
    }
}

impl IndexConfig {
    /// Returns the config as it was before the fields from `num_added` on were added, under which
    /// splits of that time can be merged.
    #[must_use]
    pub fn with_added_fields(&self, num_added: usize) -> IndexConfig {
        let mut config = self.clone();
        let mapping = &mut config.doc_mapping;
        let kept = num_added.min(mapping.added_fields.len());
        let dropped = mapping.added_fields.split_off(kept);
        drop_fields(&mut mapping.field_mappings, "", &dropped);
        mapping.tag_fields.retain(|path| !dropped.contains(path));
        let is_dynamic = mapping.mode == Mode::Dynamic;
        let fields = &mut config.search_settings.default_search_fields;
        fields.retain(|path| is_dynamic || !dropped.contains(path));
        config
    }
}

fn drop_fields(fields: &mut Vec<FieldMapping>, path: &str, dropped: &[String]) {
    fields.retain_mut(|field| {
        let path = child_path(path, &field.name);
        match &mut field.kind {
            FieldKind::Object(children) => {
                let was_empty = children.is_empty();
                drop_fields(children, &path, dropped);
                was_empty || !children.is_empty()
            }
            _ => !dropped.contains(&path),
        }
    });
}

fn canonical(config: &IndexConfig) -> Value {
    serde_json::to_value(config).unwrap_or_default()
}

fn child_path(path: &str, name: &str) -> String {
    match path {
        "" => escape_segment(name),
        path => format!("{path}.{}", escape_segment(name)),
    }
}

/// Returns the existing fields with their requested options, followed by the new ones.
fn joined(
    was: &[FieldMapping],
    mut asked: Vec<FieldMapping>,
    path: &str,
    added: &mut Vec<String>,
) -> Vec<FieldMapping> {
    let mut fields = Vec::with_capacity(asked.len());
    for before in was {
        let Some(found) = asked.iter().position(|field| field.name == before.name) else {
            continue;
        };
        let mut field = asked.remove(found);
        if let (FieldKind::Object(before), FieldKind::Object(now)) = (&before.kind, &mut field.kind)
        {
            let path = child_path(path, &field.name);
            *now = joined(before, std::mem::take(now), &path, added);
        }
        fields.push(field);
    }
    for field in &asked {
        add_leaves(field, path, added);
    }
    fields.append(&mut asked);
    fields
}

fn add_leaves(field: &FieldMapping, path: &str, added: &mut Vec<String>) {
    let path = child_path(path, &field.name);
    match &field.kind {
        FieldKind::Object(children) => {
            for child in children {
                add_leaves(child, &path, added);
            }
        }
        FieldKind::Text(text) => {
            let variants = text.variants.iter();
            let variants: Vec<String> = variants
                .map(|variant| format!("{path}.{}", variant.name))
                .collect();
            added.push(path.clone());
            added.extend(variants);
        }
        _ => added.push(path.clone()),
    }
    for sub_field in &field.sub_fields {
        add_leaves(sub_field, &path, added);
    }
}

/// Finds the differences of two values: objects by key, lists of fields by name.
fn compare(place: &str, was: Option<&Value>, asked: Option<&Value>, found: &mut Vec<Difference>) {
    if was == asked {
        return;
    }
    let inner = |key: &str| match place {
        "" => key.to_owned(),
        place => format!("{place}.{key}"),
    };
    if let (Some(Value::Object(was)), Some(Value::Object(asked))) = (was, asked) {
        for key in keys_of(was, asked) {
            compare(&inner(key), was.get(key), asked.get(key), found);
        }
        return;
    }
    let is_fields = place.ends_with("field_mappings") || place == TOKENIZERS;
    if let (Some(Value::Array(was)), Some(Value::Array(asked)), true) = (was, asked, is_fields) {
        let (was, asked) = (by_name(was), by_name(asked));
        for name in keys_of(&was, &asked) {
            let place = inner(&escape_segment(name));
            compare(&place, was.get(name), asked.get(name), found);
        }
        return;
    }
    found.push(Difference {
        place: place.to_owned(),
        was: was.cloned(),
        asked: asked.cloned(),
    });
}

/// Returns the distinct keys of both, sorted.
fn keys_of<'v>(was: &'v Map<String, Value>, asked: &'v Map<String, Value>) -> Vec<&'v String> {
    let mut keys: Vec<&String> = was.keys().chain(asked.keys()).collect();
    canter_sorting::sort(&mut keys);
    keys.dedup();
    keys
}

fn by_name(fields: &[Value]) -> Map<String, Value> {
    let named = fields.iter().filter_map(|field| {
        let name = field.get("name")?.as_str()?;
        Some((name.to_owned(), field.clone()))
    });
    named.collect()
}

/// Returns the reason for refusing a difference; `None` if it is allowed.
fn refusal_of(difference: &Difference) -> Option<Refusal> {
    let Difference { place, was, asked } = difference;
    let is_in = |within: &str| {
        let rest = place.strip_prefix(within);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if FREE.iter().any(|free| is_in(free)) {
        return None;
    }
    let remedy = if is_in(FIELDS) {
        let option = place.rsplit('.').next().unwrap_or_default();
        match (was, asked) {
            (None, Some(field)) if is_field(field) => return None,
            (Some(field), None) if is_field(field) => {
                "leave the field in: the splits have it, and documents may lack it".to_owned()
            }
            _ if FREE_OF_FIELD.contains(&option) => return None,
            // The column of the field has them.
            (None, Some(asked)) if is_whole_values(place, asked) => return None,
            _ => "leave it as it was and add a field of another name, or build a new index: the splits have it as it \
                  was"
                .to_owned(),
        }
    } else if is_in(TOKENIZERS) {
        // No field of the index uses a tokenizer that is new or unreferenced.
        let is_list = |value: &Option<Value>| value.as_ref().is_none_or(Value::is_array);
        let is_whole = |value: &Option<Value>| {
            value
                .as_ref()
                .is_none_or(|value| value.get("name").is_some())
        };
        if (place == TOKENIZERS && is_list(was) && is_list(asked))
            || ((was.is_none() || asked.is_none()) && is_whole(was) && is_whole(asked))
        {
            return None;
        }
        "leave it as it was and define one of another name for fields to come, or build a new index: the splits have \
         the words that it made"
            .to_owned()
    } else if is_in("doc_mapping.mode") {
        let is_dynamic = |mode: &Option<Value>| mode.as_ref().is_some_and(|mode| mode == "dynamic");
        if !is_dynamic(was) && !is_dynamic(asked) {
            return None;
        }
        "leave it as it was (lenient and strict may be changed for each other), or build a new index".to_owned()
    } else if is_in("index_id") || is_in("index_uri") {
        "leave it as it was: it says which index this is".to_owned()
    } else {
        "leave it as it was, or build a new index: the splits depend on it".to_owned()
    };
    Some(Refusal {
        difference: difference.clone(),
        remedy,
    })
}

/// Returns whether what is added to a text are names of the whole values in its column.
fn is_whole_values(place: &str, added: &Value) -> bool {
    let is_column = |way: &Value| way.get("column").is_some();
    let is_added_way = place
        .rsplit_once('.')
        .is_some_and(|(above, _)| above.ends_with(".fields"));
    match added.as_object() {
        Some(ways) if place.ends_with(".fields") => ways.values().all(is_column),
        Some(_) => is_added_way && is_column(added),
        None => false,
    }
}

/// Returns whether a value is a whole field rather than an option of one.
fn is_field(value: &Value) -> bool {
    value.get("name").is_some()
}

/// Formats a value on one line, such as `"u64"`, `["body"]` or `nothing`.
fn shown(value: &Option<Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(Value::Object(field)) if field.contains_key("name") => {
            let kind = field.get("type").and_then(Value::as_str);
            format!("a field of type {}", kind.unwrap_or_default())
        }
        Some(value) => value.to_string(),
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (was, asked) = (shown(&self.was), shown(&self.asked));
        write!(f, "{}: {was} → {asked}", self.place)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { place, was, asked } = &self.difference;
        let (was, asked) = (shown(was), shown(asked));
        write!(
            f,
            "{place} was {was}, and {asked} is asked for: {}",
            self.remedy
        )
    }
}

#[cfg(test)]
mod tests;
