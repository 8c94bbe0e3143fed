//! Analyzers and normalizers that fields name.

use super::analyzers::Analysis;
use crate::mappings::error::Result;
use crate::mappings::options::Options;

/// Tokenizers of a text.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::mappings) struct Cut {
    /// That of documents.
    pub(in crate::mappings) tokenizer: String,
    /// That of queries, if it is another.
    pub(in crate::mappings) of_queries: Option<String>,
}

/// Takes the analyzers of a text.
pub(in crate::mappings) fn analyzer(options: &mut Options, analysis: &Analysis) -> Result<Cut> {
    let mut named = |key: &str| -> Result<Option<String>> {
        let Some(name) = options.text(key)? else {
            return Ok(None);
        };
        match analysis.analyzer(&name) {
            Some(tokenizer) => Ok(Some(tokenizer)),
            None => {
                let problem = format!(
                    "is [{name}], which is not configured here: there are {}; others are put together in [analysis] of the \
                     settings",
                    analysis.names()
                );
                Err(options.wrong(key, &problem))
            }
        }
    };
    let own = named("analyzer")?;
    // An analyzer with this name is that of the queries of texts without an analyzer.
    let usual = match own {
        None => analysis.of_queries(),
        Some(_) => None,
    };
    let tokenizer = own.unwrap_or_else(|| analysis.of_texts());
    let of_queries = named("search_analyzer")?.or(usual);
    let of_queries = of_queries.unwrap_or_else(|| tokenizer.clone());
    let of_phrases = named("search_quote_analyzer")?;
    if of_phrases.is_some_and(|of_phrases| of_phrases != of_queries) {
        let problem = "can only be that of [search_analyzer]: phrases are cut as other texts are";
        return Err(options.wrong("search_quote_analyzer", problem));
    }
    Ok(Cut {
        of_queries: Some(of_queries).filter(|of_queries| *of_queries != tokenizer),
        tokenizer,
    })
}

/// Returns the tokenizer and the normalizer of the column for a keyword's `normalizer`.
pub(in crate::mappings) fn normalizer(
    options: &mut Options,
    analysis: &Analysis,
) -> Result<(&'static str, &'static str)> {
    let Some(name) = options.text("normalizer")? else {
        return Ok(("raw", "raw"));
    };
    analysis.normalizer(&name).ok_or_else(|| {
        let problem = format!(
            "is [{name}], which is not configured here: there is lowercase; others are put together in [analysis] of the \
             settings, of lowercase and asciifolding"
        );
        options.wrong("normalizer", &problem)
    })
}
