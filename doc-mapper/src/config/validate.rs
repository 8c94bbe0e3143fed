//! Validation of references between the parts of a config: named fields exist and have a suitable
//! type.

use super::read::node::Result;
use crate::config::{
    ConfigError, DocMapping, FieldKind, FieldMapping, IndexConfig, Mode, TokenizerCut,
    TokenizerFilter,
};
use crate::field_path::split_path;
use crate::mapper::{DYNAMIC_FIELD, RESERVED_NAMES};

/// Maximum number of fields. tantivy numbers them with 16 bits; this is far more than a useful
/// mapping has.
const MAX_FIELDS: usize = 10_000;

pub(in crate::config) fn index_config(config: &IndexConfig) -> Result<()> {
    let mapping = &config.doc_mapping;
    let num_fields = count_leaves(&mapping.field_mappings);
    if num_fields > MAX_FIELDS {
        let message = format!("{num_fields} fields are mapped; at most {MAX_FIELDS} may be");
        return Err(ConfigError::new("doc_mapping.field_mappings", message));
    }
    super::validate_text::text_fields(mapping)?;
    vectors(&mapping.field_mappings, false)?;
    timestamp_field(mapping)?;
    id_field(mapping)?;
    for (i, path) in mapping.tag_fields.iter().enumerate() {
        tag_field(mapping, path)
            .map_err(|message| ConfigError::new(format!("doc_mapping.tag_fields[{i}]"), message))?;
    }
    each_default_search_field(config, default_search_field)?;
    if config.retention.is_some() && mapping.timestamp_field.is_none() {
        let message = "\"retention\" needs a \"timestamp_field\" in doc_mapping";
        return Err(ConfigError::new("retention", message));
    }
    Ok(())
}

/// Validates a config written by a user further than that of an existing index: default search
/// fields must be able to contain values. An index without such fields works, and must stay
/// readable; and a server calls an index by names that are no ids, such as `logs-2024.05.01`.
pub(in crate::config) fn written_config(config: &IndexConfig) -> Result<()> {
    index_id(&config.index_id)?;
    each_default_search_field(config, can_hold_something)?;
    grams(config)
}

fn index_id(id: &str) -> Result<()> {
    let starts_well = id.bytes().next().is_some_and(|b| b.is_ascii_alphabetic());
    let all_well = id
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
    if starts_well && all_well && (3..=255).contains(&id.len()) {
        return Ok(());
    }
    Err(ConfigError::new(
        "index_id",
        format!(
            "\"index_id\" must be 3 to 255 ASCII letters, digits, \"-\" and \"_\", and start with a letter; got {id:?}"
        ),
    ))
}

/// Checks that tokenizers make no more grams of a character than allowed. Existing indexes keep
/// theirs.
fn grams(config: &IndexConfig) -> Result<()> {
    let max = config.indexing_settings.term_limits.max_ngram_diff;
    for (i, tokenizer) in config.doc_mapping.tokenizers.iter().enumerate() {
        let of_cut = match &tokenizer.cut {
            TokenizerCut::Ngram {
                min_gram,
                max_gram,
                prefix_only: false,
            } => Some((min_gram, max_gram)),
            TokenizerCut::Grams { grams, .. } if !grams.prefix_only => {
                Some((&grams.min_gram, &grams.max_gram))
            }
            _ => None,
        };
        let of_filters = tokenizer.filters.iter().filter_map(|filter| match filter {
            TokenizerFilter::Grams(grams) if !grams.prefix_only => {
                Some((&grams.min_gram, &grams.max_gram))
            }
            _ => None,
        });
        let diffs = of_cut.into_iter().chain(of_filters);
        let diff = diffs.map(|(min_gram, max_gram)| max_gram.saturating_sub(*min_gram) as u64);
        let diff = diff.max().unwrap_or_default();
        if diff > max {
            let message = format!(
                "tokenizer {:?} makes {} grams of each character: \"max_gram\" may be \"min_gram\" and {max} more; bring \
                 them nearer, or set \"max_ngram_diff\" in \"indexing_settings\" to {diff}",
                tokenizer.name,
                diff + 1,
            );
            let at = format!("doc_mapping.tokenizers[{i}].max_gram");
            return Err(ConfigError::new(at, message));
        }
    }
    Ok(())
}

const DEFAULT_SEARCH_FIELDS: &str = "search_settings.default_search_fields";

fn each_default_search_field(
    config: &IndexConfig,
    check: fn(&DocMapping, &str) -> std::result::Result<(), String>,
) -> Result<()> {
    let fields = &config.search_settings.default_search_fields;
    for (i, path) in fields.iter().enumerate() {
        let checked = match fields.iter().take(i).any(|earlier| earlier == path) {
            true => Err(format!("default search field {path:?} is listed twice")),
            false => check(&config.doc_mapping, path),
        };
        checked.map_err(|message| {
            ConfigError::new(format!("{DEFAULT_SEARCH_FIELDS}[{i}]"), message)
        })?;
    }
    Ok(())
}

/// Checks that a document can have a value at the path, including dynamic mode.
fn can_hold_something(mapping: &DocMapping, path: &str) -> std::result::Result<(), String> {
    let segments = split_path(path);
    if segments.iter().any(String::is_empty) {
        return Err(format!(
            "default search field {path:?} names no field: it has an empty part; a dot in a name is \
             written \\."
        ));
    }
    let first = segments.first().map(String::as_str).unwrap_or_default();
    if RESERVED_NAMES.contains(&first) && (first != DYNAMIC_FIELD || segments.len() == 1) {
        return Err(format!(
            "default search field {path:?} is a field of the index itself, which queries do not search"
        ));
    }
    match find(&mapping.field_mappings, &segments) {
        // A name with dots may be written without escapes.
        _ if mapping
            .field_mappings
            .iter()
            .any(|field| field.name == path) =>
        {
            Ok(())
        }
        Some((field, 1)) if field.has_variant(segments.last()) => Ok(()),
        Some((field, rest)) if rest > 0 && !matches!(field.kind, FieldKind::Json(_)) => {
            Err(format!(
                "default search field {path:?} leads into {:?}, which has the type {} and nothing below \
                 it; give it the type json or object, or write {} if documents have a key with that dot",
                field.name,
                field.type_id(),
                path.replace('.', "\\."),
            ))
        }
        _ => Ok(()),
    }
}

fn count_leaves(fields: &[FieldMapping]) -> usize {
    fields
        .iter()
        .map(|field| match &field.kind {
            FieldKind::Object(children) => count_leaves(children),
            FieldKind::Text(text) => 1 + text.variants.len() + field.sub_fields.len(),
            _ => 1 + field.sub_fields.len(),
        })
        .sum()
}

/// Returns the mapped field on a path, and the number of remaining segments (inside a JSON field).
pub(in crate::config) fn find<'m>(
    fields: &'m [FieldMapping],
    path: &[String],
) -> Option<(&'m FieldMapping, usize)> {
    let (first, rest) = path.split_first()?;
    let field = fields.iter().find(|field| &field.name == first)?;
    match &field.kind {
        FieldKind::Object(children) if !rest.is_empty() && !field.is_nested() => {
            find(children, rest)
        }
        _ => Some((field, rest.len())),
    }
}

/// Refuses vectors of objects in a list: a document has one vector in a field.
fn vectors(fields: &[FieldMapping], is_in_list: bool) -> Result<()> {
    for field in fields {
        match &field.kind {
            FieldKind::Object(children) => vectors(children, is_in_list || field.is_nested())?,
            FieldKind::Vector(_) if is_in_list => {
                let message = format!(
                    "the field {:?} is a dense_vector in a nested object, which is not supported: a document has one \
                     vector in a field, so make a document of each object",
                    field.name
                );
                return Err(ConfigError::new("doc_mapping.field_mappings", message));
            }
            _ => {}
        }
    }
    Ok(())
}

fn timestamp_field(mapping: &DocMapping) -> Result<()> {
    let Some(path) = &mapping.timestamp_field else {
        return Ok(());
    };
    let check = || -> std::result::Result<(), String> {
        let Some((field, 0)) = find(&mapping.field_mappings, &split_path(path)) else {
            return Err(format!(
                "timestamp field {path:?} is not in \"field_mappings\""
            ));
        };
        if !matches!(field.kind, FieldKind::Date(_)) {
            return Err(format!(
                "timestamp field {path:?} must have the type datetime, not {}",
                field.type_id()
            ));
        }
        if field.multi_valued {
            return Err(format!(
                "timestamp field {path:?} must have one value: datetime, not array<datetime>"
            ));
        }
        if field.fast.is_none() {
            return Err(format!(
                "timestamp field {path:?} must be fast: add \"fast: true\""
            ));
        }
        Ok(())
    };
    check().map_err(|message| ConfigError::new("doc_mapping.timestamp_field", message))
}

fn id_field(mapping: &DocMapping) -> Result<()> {
    let Some(name) = &mapping.id_field else {
        return Ok(());
    };
    let mut fields = mapping.field_mappings.iter();
    let message = match fields.find(|field| field.name == *name) {
        _ if name.contains(['.', '\\']) => "must have no dot in its name",
        None => "is not in \"field_mappings\", at the root",
        Some(FieldMapping {
            kind: FieldKind::Text(text),
            indexed: true,
            multi_valued: false,
            stored,
            ..
        }) if text.tokenizer == "raw" => match *stored || mapping.store_source {
            true => return Ok(()),
            false => "must be stored: remove \"stored: false\"",
        },
        Some(_) => "must have the type text and the tokenizer raw, and be indexed",
    };
    let message = format!("id field {name:?} {message}");
    Err(ConfigError::new("doc_mapping.id_field", message))
}

fn tag_field(mapping: &DocMapping, path: &str) -> std::result::Result<(), String> {
    let Some((field, 0)) = find(&mapping.field_mappings, &split_path(path)) else {
        return Err(format!("tag field {path:?} is not in \"field_mappings\""));
    };
    if !field.indexed {
        return Err(format!(
            "tag field {path:?} must be indexed: remove \"indexed: false\""
        ));
    }
    match &field.kind {
        FieldKind::Text(text) if matches!(text.tokenizer.as_str(), "raw" | "lowercase") => Ok(()),
        FieldKind::Text(text) => Err(format!(
            "tag field {path:?} must have the tokenizer raw or lowercase, not {}",
            text.tokenizer
        )),
        FieldKind::I64(_) | FieldKind::U64(_) => Ok(()),
        _ => Err(format!(
            "tag field {path:?} must have the type text (tokenizer raw or lowercase), i64 or u64, not {}",
            field.type_id()
        )),
    }
}

fn default_search_field(mapping: &DocMapping, path: &str) -> std::result::Result<(), String> {
    let segments = split_path(path);
    let not_indexed = || Err(format!("default search field {path:?} is not indexed"));
    match find(&mapping.field_mappings, &segments) {
        Some((
            FieldMapping {
                kind: FieldKind::Object(_),
                ..
            },
            _,
        )) => Err(format!(
            "default search field {path:?} is an object; name one of its fields"
        )),
        Some((field, 1)) if field.has_variant(segments.last()) => Ok(()),
        Some((field, rest)) if rest == 0 || matches!(field.kind, FieldKind::Json(_)) => {
            // A whole value of no words is found in a column as well.
            let is_text = matches!(field.kind, FieldKind::Text(_) | FieldKind::Json(_));
            if field.is_searched() || (field.fast.is_some() && !is_text) {
                Ok(())
            } else {
                not_indexed()
            }
        }
        _ => match (&mapping.mode, &mapping.dynamic_mapping) {
            (Mode::Dynamic, Some(dynamic)) if dynamic.is_searched() => Ok(()),
            (Mode::Dynamic, _) => not_indexed(),
            _ => Err(format!(
                "default search field {path:?} is not in \"field_mappings\", and the mode is not dynamic"
            )),
        },
    }
}
