//! `_mapping` and `_field_caps`: fields in the form of Elasticsearch.

use canter_names::matches_pattern;

use canter_doc_mapper::config::VectorKind;
use canter_doc_mapper::{DocMapper, FieldKind, IndexConfig, ResolvedField};
use serde_json::{Map, Value, json};
use tantivy::schema::DateTimePrecision;

use crate::SearchError;

const TEXT: &str = "text";
const KEYWORD: &str = "keyword";

/// A field in the form of Elasticsearch.
pub(in crate::api::elastic) struct Described {
    pub(in crate::api::elastic) path: String,
    pub(super) kind: &'static str,
    pub(super) is_searchable: bool,
    pub(super) is_aggregatable: bool,
    /// What the mapping says of it besides, by name.
    pub(super) meta: Vec<(String, String)>,
    /// Maximum length of a whole value.
    pub(super) ignore_above: Option<u32>,
    /// What its vectors are.
    pub(super) vector: Option<VectorKind>,
}

impl Described {
    /// Creates a field that was found in documents.
    pub(in crate::api::elastic) fn found(path: String, kind: &'static str) -> Self {
        Self {
            path,
            kind,
            is_searchable: true,
            is_aggregatable: true,
            ignore_above: None,
            vector: None,
            meta: Vec::new(),
        }
    }

    /// Returns a text of documents, and its whole values if it is indexed by words.
    pub(in crate::api::elastic) fn found_text(path: String, mapper: &DocMapper) -> Vec<Self> {
        let names = mapper.further_names(&path).into_iter();
        let mut names = names.filter(|(_, is_mapped)| *is_mapped).peekable();
        if names.peek().is_none() {
            return vec![Self::found(path, KEYWORD)];
        }
        let whole_values = names.map(|(name, _)| Self {
            ignore_above: mapper.whole_values(&name).and_then(|own| own.ignore_above),
            ..Self::found(name, KEYWORD)
        });
        let whole_values: Vec<Self> = whole_values.collect();
        let text = Self {
            is_aggregatable: false,
            ..Self::found(path, TEXT)
        };
        std::iter::once(text).chain(whole_values).collect()
    }
}

/// Adds the names that are asked for by themselves, and under which texts are answered though neither a mapping nor
/// documents have them: `host.keyword` for `host`.
pub(in crate::api::elastic) fn add_whole_values(
    fields: &mut Vec<Described>,
    names: &[String],
    mapper: &DocMapper,
) {
    for name in names.iter().filter(|name| !name.contains('*')) {
        if fields.iter().any(|field| field.path == *name) {
            continue;
        }
        let of = fields.iter().find(|field| {
            let names = mapper.further_names(&field.path);
            matches!(field.kind, TEXT | KEYWORD) && names.iter().any(|(own, _)| own == name)
        });
        if let Some(of) = of {
            let whole_values = Described {
                path: name.clone(),
                kind: KEYWORD,
                meta: Vec::new(),
                ..*of
            };
            fields.push(whole_values);
        }
    }
}

fn described(config: &Value) -> Result<Vec<Described>, SearchError> {
    Ok(described_by(&mapper_of(config)?))
}

/// Returns the compiled config of an index.
///
/// # Errors
/// If the config is invalid.
pub(in crate::api::elastic) fn mapper_of(config: &Value) -> Result<DocMapper, SearchError> {
    let invalid = |error: String| SearchError::data(format!("index config: {error}"));
    let config: IndexConfig =
        serde_json::from_value(config.clone()).map_err(|error| invalid(error.to_string()))?;
    DocMapper::new(&config).map_err(|error| invalid(error.to_string()))
}

/// Returns the mapped fields of an index.
pub(in crate::api::elastic) fn described_by(mapper: &DocMapper) -> Vec<Described> {
    let fields = mapper.fields();
    let mut described: Vec<Described> = fields.iter().map(|field| of(field, mapper)).collect();
    described.extend(mapper.field_aliases().filter_map(|(name, target)| {
        let field = mapper.resolve(target)?;
        Some(Described {
            path: name.to_owned(),
            ..of(&field, mapper)
        })
    }));
    if mapper.id_field() == Some("_id") {
        // What a document says of itself is none of its contents.
        described.retain(|field| {
            !matches!(
                field.path.as_str(),
                "_id" | "_version" | "_routing" | "_ignored"
            )
        });
    }
    described
}

fn of(field: &ResolvedField<'_>, mapper: &DocMapper) -> Described {
    let is_timestamp = mapper
        .timestamp_field()
        .is_some_and(|(id, _)| id == field.field);
    let kind = kind_of(field, mapper);
    // The column of a text is that of its whole values, where they have a name.
    let has_whole_values = match field.kind {
        FieldKind::Text(text) => !text.whole_values.is_empty(),
        _ => false,
    };
    Described {
        path: field.path(),
        kind,
        is_searchable: field.indexed || field.scanned || field.is_fast() || is_timestamp,
        is_aggregatable: field.is_fast() && !has_whole_values,
        ignore_above: field.ignore_above.filter(|_| kind == KEYWORD),
        vector: match field.kind {
            FieldKind::Vector(vector) => Some(*vector),
            _ => None,
        },
        meta: Vec::new(),
    }
}

fn kind_of(field: &ResolvedField<'_>, mapper: &DocMapper) -> &'static str {
    match field.kind {
        FieldKind::Text(text) if text.completion.is_some() => "completion",
        FieldKind::Text(text) => {
            let mut num_words = 0;
            if let Some(mut analyzer) = mapper.tokenizers().get(&text.tokenizer) {
                let mut words = analyzer.token_stream("a b");
                words.process(&mut |_| num_words += 1);
            }
            match num_words {
                1 => KEYWORD,
                _ => TEXT,
            }
        }
        FieldKind::U64(_) => "unsigned_long",
        FieldKind::I64(_) => "long",
        FieldKind::F64(_) => "double",
        FieldKind::Bool => "boolean",
        FieldKind::Date(date) => match date.precision {
            DateTimePrecision::Seconds | DateTimePrecision::Milliseconds => "date",
            _ => "date_nanos",
        },
        FieldKind::Ip => "ip",
        FieldKind::GeoPoint(_) => "geo_point",
        FieldKind::Range(range) => range.of.type_name(),
        FieldKind::Vector(_) => "dense_vector",
        FieldKind::Bytes(_) => "binary",
        FieldKind::Json(_) | FieldKind::Object(_) => "object",
        FieldKind::Concatenate(_) => "text",
    }
}

/// Orders fields that documents brought so that of several types of one, the one that takes all its values comes first.
pub(in crate::api::elastic) fn widest_first(fields: &mut [Described]) {
    let rank = |kind: &str| {
        [TEXT, KEYWORD, "double"]
            .iter()
            .position(|own| *own == kind)
    };
    canter_sorting::sort_by_key(fields, |field| rank(field.kind).unwrap_or(usize::MAX));
}

/// Returns the value of `mappings`: fields below their objects.
/// `found` are those that documents have beside the mapping.
pub(in crate::api::elastic) fn mappings(
    config: &Value,
    found: &[Described],
) -> Result<Value, SearchError> {
    let mut properties = Map::new();
    for field in described(config)?.iter().chain(found) {
        let mut below = &mut properties;
        let mut parts = field.path.split('.').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                let mut own = Map::new();
                own.insert("type".to_owned(), field.kind.into());
                if !field.is_searchable {
                    own.insert("index".to_owned(), false.into());
                }
                if let Some(vector) = field.vector {
                    own.insert("dims".to_owned(), vector.dims.into());
                    own.insert("element_type".to_owned(), vector.element_name().into());
                    own.insert("similarity".to_owned(), vector.similarity.name().into());
                }
                if let Some(ignore_above) = field.ignore_above {
                    own.insert("ignore_above".to_owned(), ignore_above.into());
                }
                below.entry(part).or_insert_with(|| own.into());
                break;
            }
            let object = below
                .entry(part)
                .or_insert_with(|| json!({"properties": {}}));
            let properties = object.as_object_mut().map(|object| {
                // What is below a text is the same text.
                let below = match object.contains_key("type") {
                    true => "fields",
                    false => "properties",
                };
                object.entry(below).or_insert_with(|| json!({}))
            });
            match properties.and_then(Value::as_object_mut) {
                Some(properties) => below = properties,
                None => break,
            }
        }
    }
    let put = mapping_as_put(config);
    if let Some(of_put) = put
        .as_ref()
        .and_then(|put| put.get("properties")?.as_object())
    {
        overlay(&mut properties, of_put);
    }
    let is_dynamic = config.pointer("/doc_mapping/mode").and_then(Value::as_str) == Some("dynamic");
    let Some(put) = put else {
        return Ok(json!({"dynamic": is_dynamic.to_string(), "properties": properties}));
    };
    let mut shown = Map::new();
    for (key, value) in put {
        let value = match (key.as_str(), value) {
            ("properties", _) => continue,
            ("dynamic", Value::Bool(is_dynamic)) => is_dynamic.to_string().into(),
            (_, value) => value,
        };
        shown.insert(key, value);
    }
    if !properties.is_empty() {
        shown.insert("properties".to_owned(), properties.into());
    }
    Ok(shown.into())
}

/// Returns the mapping that was put through this API, if one was.
pub(super) fn mapping_as_put(config: &Value) -> Option<Map<String, Value>> {
    let put = config.pointer("/doc_mapping/elasticsearch_mapping")?;
    serde_json::from_str(put.as_str()?).ok()
}

/// Puts definitions in the place of those that the config says.
fn overlay(properties: &mut Map<String, Value>, put: &Map<String, Value>) {
    for (name, definition) in put {
        let inner = properties
            .get_mut(name)
            .and_then(|own| own.get_mut("properties"));
        let inner = inner.and_then(Value::as_object_mut);
        match (
            inner,
            definition.get("properties").and_then(Value::as_object),
        ) {
            (Some(inner), Some(of_put)) => {
                overlay(inner, of_put);
                let inner = std::mem::take(inner);
                let mut definition = definition.clone();
                crate::root::put(&mut definition, "properties", inner.into());
                properties.insert(name.clone(), definition);
            }
            _ => drop(properties.insert(name.clone(), definition.clone())),
        }
    }
}

/// Returns the definition of a field in the mapping that was put.
pub(super) fn definition_as_put(put: &Map<String, Value>, path: &str) -> Option<Value> {
    let mut below = put.get("properties")?;
    let mut parts = path.split('.').peekable();
    while let Some(part) = parts.next() {
        let definition = below.get(part)?;
        if parts.peek().is_none() {
            return Some(definition.clone());
        }
        below = definition
            .get("properties")
            .or_else(|| definition.get("fields"))?;
    }
    None
}

/// Returns the value of `mappings` for some fields, as `_mapping/field` has it.
pub(in crate::api::elastic) fn field_mappings(
    config: &Value,
    of_documents: &[Described],
    patterns: &str,
) -> Result<Value, SearchError> {
    let put = mapping_as_put(config);
    let mut found = Map::new();
    for field in described(config)?.iter().chain(of_documents) {
        if patterns
            .split(',')
            .any(|pattern| matches_pattern(pattern, &field.path))
        {
            let name = field.path.rsplit('.').next().unwrap_or(&field.path);
            let as_put = put
                .as_ref()
                .and_then(|put| definition_as_put(put, &field.path));
            let mapping = json!({name: as_put.unwrap_or_else(|| json!({"type": field.kind}))});
            let described = || json!({"full_name": field.path, "mapping": mapping});
            found.entry(&field.path).or_insert_with(described);
        }
    }
    Ok(found.into())
}
