//! Options of text: how it is cut into terms, by documents and by queries.

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use tantivy::schema::IndexRecordOption;

use crate::documents::completion::Completion;

/// Options of `text`.
#[derive(Clone, Debug, PartialEq)]
pub struct TextKind {
    /// Name of a tokenizer in [`crate::tokenizers`].
    pub tokenizer: String,
    /// Tokenizer of the texts of queries, if it is another.
    pub search_tokenizer: Option<String>,
    /// Contents of the postings.
    pub record: IndexRecordOption,
    /// True if field norms are stored, for BM25.
    pub fieldnorms: bool,
    /// Further ways of indexing the text, sorted by name.
    pub variants: Vec<TextVariant>,
    /// Names after the dot under which the whole values of the fast field are found, such as `keyword`,
    /// sorted. They take no space of their own.
    pub whole_values: Vec<String>,
    /// Set if the field keeps inputs with weights, which a suggester completes: its terms are entries.
    pub completion: Option<Box<Completion>>,
}

/// Further way of indexing a text, such as `message.raw` for `message`.
#[derive(Clone, Debug, PartialEq)]
pub struct TextVariant {
    /// Name after the dot.
    pub name: String,
    /// Name of a tokenizer in [`crate::tokenizers`] or in the config.
    pub tokenizer: String,
    /// Tokenizer of the texts of queries, if it is another.
    pub search_tokenizer: Option<String>,
    /// Contents of the postings.
    pub record: IndexRecordOption,
    /// True if field norms are stored, for BM25.
    pub fieldnorms: bool,
}

impl TextKind {
    /// Returns the name of the tokenizer of a query's texts.
    pub fn of_queries(&self) -> &str {
        self.search_tokenizer.as_deref().unwrap_or(&self.tokenizer)
    }

    pub(crate) fn serialize_options<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("tokenizer", &self.tokenizer)?;
        if let Some(search_tokenizer) = &self.search_tokenizer {
            map.serialize_entry("search_tokenizer", search_tokenizer)?;
        }
        map.serialize_entry("record", &self.record)?;
        map.serialize_entry("fieldnorms", &self.fieldnorms)?;
        if let Some(completion) = &self.completion {
            map.serialize_entry("completion", completion)?;
        }
        if self.variants.is_empty() && self.whole_values.is_empty() {
            return Ok(());
        }
        let variants = self.variants.iter().map(|variant| {
            let mut options = serde_json::json!({
                "tokenizer": variant.tokenizer,
                "record": variant.record,
                "fieldnorms": variant.fieldnorms,
            });
            if let Some(search_tokenizer) = &variant.search_tokenizer {
                options["search_tokenizer"] = search_tokenizer.as_str().into();
            }
            (variant.name.clone(), options)
        });
        let whole_values = self.whole_values.iter();
        let whole_values =
            whole_values.map(|name| (name.clone(), serde_json::json!({"column": true})));
        let variants: BTreeMap<String, serde_json::Value> = variants.chain(whole_values).collect();
        map.serialize_entry("fields", &variants)
    }
}
