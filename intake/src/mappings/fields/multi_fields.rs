//! `fields`: further names of a field's values, such as `message.keyword`. The whole values of a text are in its column,
//! which the first keyword among them has; other texts are indexed beside it, for queries only. All other types are
//! fields of their own, which get the same values.

use serde_json::{Map, Value, json};

use crate::mappings::error::{MappingError, Result};
use crate::mappings::fields::analysis::{Analysis, analyzer, normalizer};
use crate::mappings::fields::field::{leaf, record, similarity};
use crate::mappings::fields::properties::Fields;
use crate::mappings::options::{Options, object};

/// Further ways of indexing a text.
#[derive(Default)]
pub(in crate::mappings) struct MultiFields {
    /// Value for `fields` of a field mapping.
    pub(in crate::mappings) ways: Map<String, Value>,
    /// Column that one of them asks for.
    pub(in crate::mappings) column: Option<Column>,
    /// Fields of other types that get the same values.
    pub(in crate::mappings) typed: Vec<Value>,
}

/// Column of whole values.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::mappings) struct Column {
    pub(in crate::mappings) normalizer: &'static str,
    pub(in crate::mappings) ignore_above: Option<u64>,
}

/// Reads the `fields` parameter of a field that is no text: all are fields of their own that get its values.
pub(in crate::mappings) fn sub_fields(
    options: &mut Options,
    path: &str,
    fields_so_far: &mut Fields,
) -> Result<Vec<Value>> {
    let Some(fields) = options.take("fields").filter(|fields| !fields.is_null()) else {
        return Ok(Vec::new());
    };
    let fields = object(&fields, &format!("[fields] of field [{path}]"))?.iter();
    let fields = fields.map(|(name, definition)| {
        let path = format!("{path}.{name}");
        let definition = object(definition, &format!("the mapping of field [{path}]"))?;
        sub_field(fields_so_far, name, &path, definition)
    });
    fields.collect()
}

/// Reads a field that gets the values of another one.
fn sub_field(
    fields_so_far: &mut Fields,
    name: &str,
    path: &str,
    definition: &Map<String, Value>,
) -> Result<Value> {
    let kind = definition.get("type").and_then(Value::as_str);
    let kind = kind.unwrap_or_default();
    if kind == "completion" {
        return Err(MappingError::mapper(format!(
            "the multi-field [{path}] of type [completion] is not supported: map it as a field of its own, and send \
             the inputs there, too"
        )));
    }
    let is_scalar =
        !matches!(kind, "geo_point" | "binary" | "search_as_you_type") && !kind.ends_with("_range");
    if !is_scalar || definition.contains_key("fields") || definition.contains_key("copy_to") {
        return Err(MappingError::mapper(format!(
            "the multi-field [{path}] of type [{kind}] is not supported: its type is that of single values, and it has \
             neither [fields] nor [copy_to]"
        )));
    }
    // A query without a field looks into the field itself.
    let num_words = fields_so_far.words.len();
    let own = Options::of(definition, path, kind);
    let mut field = leaf(fields_so_far, name, path, kind, own)?;
    fields_so_far.words.truncate(num_words);
    field["stored"] = false.into();
    Ok(field)
}

/// Reads the `fields` parameter of a text field.
///
/// `cuts` says that the field itself is indexed by words, so that a keyword is its whole values.
pub(in crate::mappings) fn multi_fields(
    options: &mut Options,
    path: &str,
    cuts: bool,
    fields_so_far: &mut Fields,
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
            "keyword" | "wildcard"
                if !definition.contains_key("null_value")
                    && (cuts || !definition.contains_key("ignore_above")) =>
            {
                found.keyword(&mut own, cuts, &fields_so_far.analysis)?
            }
            "text" | "match_only_text" => {
                own.only("index", true, "another way of indexing is for queries")?;
                let cut = analyzer(&mut own, &fields_so_far.analysis)?;
                let has_norms = own.flag("norms", kind == "text")?;
                own.only("fielddata", false, "sort and aggregate by the field itself")?;
                own.ignore(&[
                    "index_phrases",
                    "index_prefixes",
                    "position_increment_gap",
                    "term_vector",
                ]);
                let record = record(&mut own, "position")?;
                let mut way =
                    json!({"tokenizer": cut.tokenizer, "record": record, "fieldnorms": has_norms});
                if let Some(of_queries) = cut.of_queries {
                    way["search_tokenizer"] = of_queries.into();
                }
                way
            }
            _ => {
                found
                    .typed
                    .push(sub_field(fields_so_far, name, &path, definition)?);
                continue;
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
    fn keyword(&mut self, own: &mut Options, cuts: bool, analysis: &Analysis) -> Result<Value> {
        let (tokenizer, normalizer) = normalizer(own, analysis)?;
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
