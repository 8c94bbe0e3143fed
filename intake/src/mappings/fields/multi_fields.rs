//! `fields`: the same text indexed in further ways, such as `message.keyword`. Only queries use
//! them; sorting and aggregating use the field itself.

use serde_json::{Map, Value, json};

use crate::mappings::error::{MappingError, Result};
use crate::mappings::fields::field::{analyzer, normalizer, record, similarity};
use crate::mappings::options::{Options, object};

/// Further ways of indexing a text.
#[derive(Default)]
pub(in crate::mappings) struct MultiFields {
    /// Value for `fields` of a field mapping.
    pub(in crate::mappings) ways: Map<String, Value>,
    /// Normalizer of the column that one of them asks for.
    pub(in crate::mappings) normalizer: Option<&'static str>,
}

/// Reads the `fields` parameter of a text field.
pub(in crate::mappings) fn multi_fields(options: &mut Options, path: &str) -> Result<MultiFields> {
    let mut found = MultiFields::default();
    let Some(fields) = options.take("fields") else {
        return Ok(found);
    };
    for (name, definition) in object(&fields, &format!("[fields] of field [{path}]"))? {
        let path = format!("{path}.{name}");
        let definition = object(definition, &format!("the mapping of field [{path}]"))?;
        let kind = definition
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let mut own = Options::of(definition, &path, kind);
        own.ignore(&["meta", "store", "eager_global_ordinals", "ignore_above"]);
        own.only("index", true, "another way of indexing is for queries")?;
        let way = match kind {
            "keyword" | "wildcard" => {
                let (tokenizer, normalizer) = normalizer(&mut own)?;
                if own.flag("doc_values", true)? {
                    found.normalizer = found.normalizer.or(Some(normalizer));
                }
                own.ignore(&["split_queries_on_whitespace"]);
                let has_norms = own.flag("norms", false)?;
                json!({"tokenizer": tokenizer, "record": record(&mut own, "basic")?, "fieldnorms": has_norms})
            }
            "text" | "match_only_text" => {
                let tokenizer = analyzer(&mut own)?;
                let has_norms = own.flag("norms", kind == "text")?;
                own.only("fielddata", false, "sort and aggregate by the field itself")?;
                own.ignore(&[
                    "index_phrases",
                    "index_prefixes",
                    "position_increment_gap",
                    "term_vector",
                ]);
                json!({"tokenizer": tokenizer, "record": record(&mut own, "position")?, "fieldnorms": has_norms})
            }
            other => {
                return Err(MappingError::mapper(format!(
                    "the multi-field [{path}] has the type [{other}]: there are keyword, wildcard, text and match_only_text"
                )));
            }
        };
        similarity(&mut own)?;
        own.finish()?;
        found.ways.insert(name.clone(), way);
    }
    Ok(found)
}
