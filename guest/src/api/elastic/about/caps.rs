//! `_field_caps`: fields of several indexes by name and type.
//!
//! See <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-field-caps>.

use std::collections::{BTreeMap, BTreeSet};

use canter_doc_mapper::DocMapper;
use canter_names::matches_pattern;
use serde_json::{Map, Value, json};

use super::fields::{Described, definition_as_put, mapping_as_put};
use crate::SearchError;
use crate::api::elastic::given::params::UrlParams;
use crate::limits::TimeFilter;
use crate::root::put;

const OBJECT: &str = "object";
const NESTED: &str = "nested";

/// Types of Elasticsearch, and the families that stand for some in `_field_caps`.
const FAMILIES: [(&str, &str); 15] = [
    ("text", "text"),
    ("match_only_text", "text"),
    ("keyword", "keyword"),
    ("wildcard", "keyword"),
    ("constant_keyword", "keyword"),
    ("long", "long"),
    ("integer", "integer"),
    ("short", "short"),
    ("byte", "byte"),
    ("double", "double"),
    ("float", "float"),
    ("half_float", "half_float"),
    ("scaled_float", "scaled_float"),
    ("date", "date"),
    ("date_nanos", "date_nanos"),
];

/// Corrects fields by the mapping that was put, where the index config says less: types of numbers, what the mapping
/// says is not searched or has no column, and `meta`.
pub(in crate::api::elastic) fn add_mapping(fields: &mut [Described], config: &Value) {
    let Some(mapping) = mapping_as_put(config) else {
        return;
    };
    for field in fields {
        let Some(mut definition) = definition_as_put(&mapping, &field.path) else {
            continue;
        };
        if definition.get("type") == Some(&"alias".into())
            && let Some(path) = definition.get("path").and_then(Value::as_str)
            && let Some(of_target) = definition_as_put(&mapping, path)
        {
            definition = of_target;
        }
        let kind = definition.get("type").and_then(Value::as_str);
        let family = kind.and_then(|kind| FAMILIES.iter().find(|(own, _)| *own == kind));
        if let Some((_, family)) = family {
            field.kind = family;
        }
        let is_off = |key: &str| definition.get(key) == Some(&Value::Bool(false));
        field.is_searchable &= !is_off("index");
        field.is_aggregatable &= !is_off("doc_values");
        let meta = definition.get("meta").and_then(Value::as_object);
        let meta = meta.into_iter().flatten();
        let meta = meta.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())));
        field.meta = meta.collect();
    }
}

/// Adds the objects above fields that match one of the names.
pub(in crate::api::elastic) fn add_objects(
    fields: &mut Vec<Described>,
    names: &[String],
    mapper: &DocMapper,
) {
    for field in fields.iter_mut().filter(|field| field.kind == OBJECT) {
        if mapper.is_nested(&field.path) {
            field.kind = NESTED;
            (field.is_searchable, field.is_aggregatable) = (false, false);
        }
    }
    let known: BTreeSet<&str> = fields.iter().map(|field| field.path.as_str()).collect();
    let mut objects: BTreeSet<String> = BTreeSet::new();
    for field in fields.iter() {
        let is_named = names.iter().any(|name| matches_pattern(name, &field.path));
        if !is_named || !mapper.fields().iter().any(|own| own.path() == field.path) {
            continue;
        }
        let mut above = field.path.as_str();
        while let Some((path, _)) = above.rsplit_once('.') {
            // What is below a text is the same text.
            if known.contains(path) {
                break;
            }
            objects.insert(path.to_owned());
            above = path;
        }
    }
    fields.extend(objects.into_iter().map(|path| Described {
        kind: if mapper.is_nested(&path) {
            NESTED
        } else {
            OBJECT
        },
        is_searchable: false,
        is_aggregatable: false,
        ..Described::found(path, OBJECT)
    }));
}

/// A field of one type in some indexes.
#[derive(Default)]
struct Caps<'a> {
    indexes: Vec<&'a str>,
    non_searchable: Vec<&'a str>,
    non_aggregatable: Vec<&'a str>,
    meta: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl Caps<'_> {
    fn write(self, kind: &str, is_one: bool) -> Value {
        let all = self.indexes.len();
        let is_searchable = self.non_searchable.is_empty() && kind != UNMAPPED;
        let is_aggregatable = self.non_aggregatable.is_empty() && kind != UNMAPPED;
        let mut cap = json!({
            "type": kind,
            "metadata_field": false,
            "searchable": is_searchable,
            "aggregatable": is_aggregatable,
        });
        if !is_one {
            put(&mut cap, "indices", self.indexes.into());
        }
        for (key, list) in [
            ("non_searchable_indices", self.non_searchable),
            ("non_aggregatable_indices", self.non_aggregatable),
        ] {
            // In all of them it is so by its type.
            if !list.is_empty() && list.len() < all {
                put(&mut cap, key, list.into());
            }
        }
        if !self.meta.is_empty() {
            let meta = self.meta.into_iter();
            let meta: Map<String, Value> = meta
                .map(|(key, values)| {
                    let values: Vec<&str> = values.into_iter().collect();
                    (key.to_owned(), values.into())
                })
                .collect();
            put(&mut cap, "meta", meta.into());
        }
        cap
    }
}

/// Type of a field that an index lacks.
const UNMAPPED: &str = "unmapped";

/// The fields that `_field_caps` reports.
#[derive(Debug)]
pub(crate) struct WantedCaps {
    /// Only fields of these types; of any type if empty.
    pub(in crate::api::elastic) types: Vec<String>,
    /// True if it also names the indexes that lack a field.
    pub(in crate::api::elastic) has_unmapped: bool,
    /// Unmapped fields of documents in this time range.
    pub(in crate::api::elastic) time: TimeFilter,
}

/// Returns `_field_caps` of several indexes.
pub(in crate::api::elastic) fn field_caps(
    indexes: &[(String, Vec<Described>)],
    patterns: &[String],
    wanted: &WantedCaps,
) -> Value {
    // By name and type.
    let mut caps: BTreeMap<&str, BTreeMap<&str, Caps<'_>>> = BTreeMap::new();
    for (name, described) in indexes {
        for field in described {
            let mut types = wanted.types.iter();
            let is_object = matches!(field.kind, OBJECT | NESTED);
            let is_named = patterns
                .iter()
                .any(|pattern| matches_pattern(pattern, &field.path));
            let is_of_type = types.len() == 0 || types.any(|kind| kind == field.kind);
            if (!is_named && !is_object) || !is_of_type {
                continue;
            }
            let of_kind = caps.entry(&field.path).or_default();
            let cap = of_kind.entry(field.kind).or_default();
            cap.indexes.push(name);
            if !field.is_searchable {
                cap.non_searchable.push(name);
            }
            if !field.is_aggregatable {
                cap.non_aggregatable.push(name);
            }
            for (key, value) in &field.meta {
                cap.meta.entry(key).or_default().insert(value);
            }
        }
    }
    let mut fields = Map::new();
    for (path, mut of_kind) in caps {
        let has = |name: &str| of_kind.values().any(|cap| cap.indexes.contains(&name));
        let others = indexes.iter().map(|(name, _)| name.as_str());
        let others: Vec<&str> = others.filter(|name| !has(name)).collect();
        if wanted.has_unmapped && !others.is_empty() {
            let unmapped = Caps {
                indexes: others,
                ..Caps::default()
            };
            of_kind.insert(UNMAPPED, unmapped);
        }
        let is_one = of_kind.len() == 1;
        let kinds = of_kind.into_iter();
        let kinds: Map<String, Value> = kinds
            .map(|(kind, cap)| (kind.to_owned(), cap.write(kind, is_one)))
            .collect();
        fields.insert(path.to_owned(), kinds.into());
    }
    let names: Vec<&str> = indexes.iter().map(|(name, _)| name.as_str()).collect();
    json!({"indices": names, "fields": fields})
}

/// Returns the contents of `_field_caps`, with the time filter of Quickwit's API.
pub(in crate::api::elastic) fn wanted_caps(
    params: &mut UrlParams,
) -> Result<WantedCaps, SearchError> {
    if let Some(filters) = params.names("filters")
        && let Some(other) = filters
            .iter()
            .find(|name| !matches!(name.as_str(), "-metadata" | "-nested" | "-parent"))
    {
        return Err(SearchError::invalid(format!(
            "filters: {other:?} is not supported; there are -metadata, -nested and -parent"
        )));
    }
    let mut seconds = |name: &'static str| match params.text(name).map(str::parse::<i64>) {
        None => Ok(None),
        Some(Ok(seconds)) => Ok(Some(seconds)),
        Some(Err(_)) => Err(SearchError::invalid(format!(
            "{name}: this must be a whole number of seconds"
        ))),
    };
    let time = TimeFilter::of_seconds(seconds("start_timestamp")?, seconds("end_timestamp")?);
    Ok(WantedCaps {
        types: params.names("types").unwrap_or_default(),
        has_unmapped: params.flag("include_unmapped")?.unwrap_or(false),
        time,
    })
}
