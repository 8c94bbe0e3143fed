//! What takes the place of documents in an aggregation: objects in them, their words, or their patterns.

use canter_doc_mapper::tokenizers::{Normalizer, is_whole};
use canter_doc_mapper::{DocMapper, FieldKind, ResolvedField};

use super::categories::column_of_patterns;

/// Objects in lists that take the place of documents in an aggregation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectList {
    /// Path of the objects in documents.
    pub path: String,
    /// Number of the list of objects around these; `None` for documents.
    pub outer: Option<usize>,
    /// What the objects are.
    pub of: ListOf,
}

/// What takes the place of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListOf {
    /// Objects at the path.
    Objects,
    /// The words of each document in the field at the path.
    Words,
    /// The same, if the field has no column.
    WordsWithoutColumn,
    /// The pattern of each document's text in the field at the path, if no column has it.
    Patterns,
}

impl ListOf {
    /// Returns whether these are the words of a field.
    pub fn are_words(self) -> bool {
        matches!(self, Self::Words | Self::WordsWithoutColumn)
    }
}

impl ObjectList {
    /// Returns whether documents must be read for the list.
    pub fn is_read(&self, mapper: &DocMapper) -> bool {
        // The column of a text has whole texts.
        let is_of_words = |field: &ResolvedField<'_>| match field.kind {
            FieldKind::Text(text) => field.view.is_none() && !is_whole(&text.tokenizer),
            _ => false,
        };
        let has_column = || {
            let field = mapper.resolve(&self.path);
            field.is_none_or(|field| field.is_fast() && !is_of_words(&field))
        };
        match self.of {
            ListOf::Objects | ListOf::Words => true,
            ListOf::WordsWithoutColumn => !has_column(),
            ListOf::Patterns => {
                let column = mapper.resolve(&column_of_patterns(&self.path));
                column.is_none_or(|field| field.fast != Some(Normalizer::Pattern))
            }
        }
    }
}

/// Name of the column with the words of documents.
pub const WORDS: &str = "_words";
