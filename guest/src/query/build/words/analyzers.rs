//! Names of analyzers, Elasticsearch's and ours.

use canter_doc_mapper::DocMapper;
use tantivy::tokenizer::TextAnalyzer;

use crate::SearchError;

/// Elasticsearch's names of analyzers and tokenizers, and ours where they differ.
const ANALYZERS: [(&str, &str); 7] = [
    ("standard", "standard"),
    ("keyword", "raw"),
    ("whitespace", "whitespace"),
    ("english", "english"),
    ("simple", "letters"),
    ("stop", "letters_stop"),
    ("lowercase", "letters"),
];

/// Prefix of analyzers of an index with the name of one that is built in.
const OWN: &str = "analyzer.";

/// Returns the name of the tokenizer that an analyzer of this name is here.
pub(crate) fn tokenizer_named(name: &str) -> &str {
    let named = ANALYZERS.iter().find(|(known, _)| *known == name);
    named.map_or(name, |(_, own)| *own)
}

/// Returns the name of the tokenizer of a text: of a named analyzer, or else the field's own.
///
/// # Errors
/// There is no such analyzer.
pub(super) fn chosen(
    mapper: &DocMapper,
    named: Option<&str>,
    own: &str,
) -> Result<String, SearchError> {
    match named {
        // Indexes of earlier versions have another stemmer.
        None | Some("english") if named.is_none() || own == "en_stem" => Ok(own.to_owned()),
        named => named_in(mapper, named.unwrap_or_default()).map(|(name, _)| name),
    }
}

/// Returns the analyzer of this name.
///
/// # Errors
/// There is none.
pub(super) fn analyzer(mapper: &DocMapper, name: &str) -> Result<TextAnalyzer, SearchError> {
    named_in(mapper, name).map(|(_, analyzer)| analyzer)
}

/// Returns the analyzer of this name, and the name of its tokenizer: the index's own goes first.
///
/// # Errors
/// There is none.
pub(crate) fn named_in(
    mapper: &DocMapper,
    name: &str,
) -> Result<(String, TextAnalyzer), SearchError> {
    let manager = mapper.tokenizers();
    let names = [format!("{OWN}{name}"), tokenizer_named(name).to_owned()];
    let found = names
        .into_iter()
        .find_map(|name| manager.get(&name).map(|found| (name, found)));
    found.ok_or_else(|| SearchError::invalid(format!("analyzer [{name}] not found")))
}

/// Returns the error about a phrase whose words have too many terms in one place.
pub(super) fn of_grams(name: &str) -> SearchError {
    SearchError::invalid(format!(
        "the field {name:?} makes too many terms of the words of this phrase, such as grams: give it a search_analyzer \
         without them, such as standard"
    ))
}
