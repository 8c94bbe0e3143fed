//! Names of analyzers, Elasticsearch's and ours.

use canter_doc_mapper::DocMapper;
use tantivy::tokenizer::TextAnalyzer;

use crate::SearchError;

/// Elasticsearch's names of analyzers and tokenizers, and ours where they differ.
const ANALYZERS: [(&str, &str); 7] = [
    ("standard", "standard"),
    ("keyword", "raw"),
    ("whitespace", "whitespace"),
    ("english", "en_stem"),
    ("simple", "letters"),
    ("stop", "letters_stop"),
    ("lowercase", "letters"),
];

/// Returns the name of the tokenizer that an analyzer of this name is here.
pub(crate) fn tokenizer_named(name: &str) -> &str {
    let named = ANALYZERS.iter().find(|(known, _)| *known == name);
    named.map_or(name, |(_, own)| *own)
}

/// Returns the name of the tokenizer of a text: of a named analyzer, or else the field's own.
///
/// # Errors
/// There is no such analyzer.
pub(super) fn chosen<'n>(
    mapper: &DocMapper,
    named: Option<&'n str>,
    own: &'n str,
) -> Result<&'n str, SearchError> {
    match named {
        None => Ok(own),
        Some(named) => analyzer(mapper, named).map(|_| tokenizer_named(named)),
    }
}

/// Returns the analyzer of this name.
///
/// # Errors
/// There is none.
pub(super) fn analyzer(mapper: &DocMapper, name: &str) -> Result<TextAnalyzer, SearchError> {
    let found = mapper.tokenizers().get(tokenizer_named(name));
    found.ok_or_else(|| SearchError::invalid(format!("analyzer [{name}] not found")))
}
