//! Views of texts by their columns: the types under which `whole_values.rs` answers.

use std::borrow::Cow;

use tantivy::schema::IndexRecordOption;

use crate::config::{FieldKind, Normalizer, TextKind};
use crate::tokenizers::{self, Letters};

/// Whole values of a text that is indexed by words.
#[derive(Clone, Debug)]
pub struct View<'m> {
    /// Path of the view, such as `level.keyword`.
    pub path: String,
    /// Type of the text, or of the JSON field that it is in.
    pub of: &'m FieldKind,
    /// Whether the words of the text are indexed, each unchanged but for what its tokenizer does.
    pub has_words: bool,
}

/// Column that a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedColumn<'n> {
    /// Name of the column.
    pub name: Cow<'n, str>,
    /// Whether only its texts count, where it has values of several types.
    pub is_text: bool,
}

/// Types of views, by the normalizer of the column.
#[derive(Debug)]
pub(super) struct Views {
    raw: (FieldKind, Letters),
    lowercase: (FieldKind, Letters),
    ascii_folding: (FieldKind, Letters),
    folded: (FieldKind, Letters),
    pattern: (FieldKind, Letters),
}

impl Default for Views {
    fn default() -> Self {
        let of = |tokenizer: &str| {
            let kind = FieldKind::Text(TextKind {
                tokenizer: tokenizer.to_owned(),
                search_tokenizer: None,
                record: IndexRecordOption::Basic,
                fieldnorms: false,
                variants: Vec::new(),
                whole_values: Vec::new(),
                completion: None,
            });
            (kind, tokenizers::letters(tokenizer, &[]))
        };
        Self {
            raw: of("raw"),
            lowercase: of("lowercase"),
            ascii_folding: of("raw_ascii_folding"),
            folded: of("raw_folded"),
            // Patterns are looked up as they are.
            pattern: of("raw"),
        }
    }
}

impl Views {
    pub(super) fn of(&self, normalizer: Normalizer) -> &(FieldKind, Letters) {
        match normalizer {
            Normalizer::Raw => &self.raw,
            Normalizer::Lowercase => &self.lowercase,
            Normalizer::AsciiFolding => &self.ascii_folding,
            Normalizer::Folded => &self.folded,
            Normalizer::Pattern => &self.pattern,
        }
    }
}
