//! `fields`: further names of a text, such as `message.keyword`. Its whole values are in the column of the
//! field, which the first keyword among them has; the others are indexed beside it, for queries only.

use serde_json::{Map, Value, json};

use crate::mappings::error::{MappingError, Result};
use crate::mappings::fields::field::{analyzer, normalizer, record, similarity};
use crate::mappings::options::{Options, object};

/// Further ways of indexing a text.
#[derive(Default)]
pub(in crate::mappings) struct MultiFields {
    /// Value for `fields` of a field mapping.
    pub(in crate::mappings) ways: Map<String, Value>,
    /// Column that one of them asks for.
    pub(in crate::mappings) column: Option<Column>,
}

/// Column of whole values.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::mappings) struct Column {
    pub(in crate::mappings) normalizer: &'static str,
    pub(in crate::mappings) ignore_above: Option<u64>,
}

/// Reads the `fields` parameter of a text field.
///
/// `cuts` says that the field itself is indexed by words, so that a keyword is its whole values.
pub(in crate::mappings) fn multi_fields(
    options: &mut Options,
    path: &str,
    cuts: bool,
) -> Result<MultiFields> {
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
        own.ignore(&["meta", "store", "eager_global_ordinals"]);
        let way = match kind {
            "keyword" | "wildcard" => found.keyword(&mut own, cuts)?,
            "text" | "match_only_text" => {
                own.only("index", true, "another way of indexing is for queries")?;
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

impl MultiFields {
    /// Reads a keyword. Queries find whole values in the column, so that they need no terms.
    fn keyword(&mut self, own: &mut Options, cuts: bool) -> Result<Value> {
        let (tokenizer, normalizer) = normalizer(own)?;
        let ignore_above = own.number("ignore_above")?;
        let has_column = own.flag("doc_values", true)?;
        let is_indexed = own.flag("index", true)?;
        own.only(
            "split_queries_on_whitespace",
            false,
            "a query's text is one value",
        )?;
        let has_norms = own.flag("norms", false)?;
        let record = record(own, "basic")?;
        let column = Column {
            normalizer,
            ignore_above,
        };
        match self.column {
            None if cuts && has_column => {
                self.column = Some(column);
                Ok(json!({"column": true}))
            }
            Some(other) if cuts && has_column && other == column => Ok(json!({"column": true})),
            _ if !is_indexed => Err(own.wrong(
                "index",
                "can only be [false] of the first keyword among [fields]: there is one column",
            )),
            _ if ignore_above.is_some() => Err(own.wrong(
                "ignore_above",
                "can only be that of the first keyword among [fields], which has the column: leave it out, or map \
                 another field and have it copied to with [copy_to]",
            )),
            _ => Ok(json!({"tokenizer": tokenizer, "record": record, "fieldnorms": has_norms})),
        }
    }
}
