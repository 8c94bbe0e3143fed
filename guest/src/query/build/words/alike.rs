//! The words of texts in fields, from which `more_like_this` chooses.

use canter_doc_mapper::{DocMapper, FieldKind, ResolvedField};
use tantivy::Term;
use tantivy::query::{EmptyQuery, Query};

use super::analyzers::{analyzer, tokenizer_named};
use super::positional::text_term;
use crate::SearchError;
use crate::query::build::builder::{Builder, has_nothing};
use crate::query::tree::Alike;

impl Builder<'_> {
    /// Checks the fields of a condition whose words are not chosen yet. It matches nothing.
    pub(in crate::query::build) fn alike_fields(
        &mut self,
        alike: &Alike,
    ) -> Result<Box<dyn Query>, SearchError> {
        for name in alike.fields.iter().filter(|_| alike.is_strict) {
            let field = self.resolve(name)?;
            if tokenizer_of(&field).is_none() {
                return Err(no_words(name));
            }
        }
        if let Some(named) = &alike.analyzer {
            analyzer(self.mapper, named)?;
        }
        Ok(Box::new(EmptyQuery))
    }
}

/// Returns the error about a field without words.
pub(crate) fn no_words(name: &str) -> SearchError {
    SearchError::invalid(format!(
        "more_like_this only supports text/keyword fields: [{name}]"
    ))
}

/// Returns the words of a text in a field, in order; `None` if the field is no indexed text. `named` is an analyzer, if it
/// is not the field's.
///
/// # Errors
/// There is no such analyzer.
pub(crate) fn words_in(
    mapper: &DocMapper,
    name: &str,
    text: &str,
    named: Option<&str>,
) -> Result<Option<Vec<String>>, SearchError> {
    let Some(field) = mapper.resolve(name) else {
        return Ok(None);
    };
    let Some(own) = tokenizer_of(&field) else {
        return Ok(None);
    };
    let mut analyzer = analyzer(mapper, named.map_or(own, tokenizer_named))?;
    let mut words = Vec::new();
    let mut stream = analyzer.token_stream(text);
    stream.process(&mut |token| words.push(token.text.clone()));
    Ok(Some(words))
}

/// Returns the term of a word in a field; `None` if a split has no dictionary of it.
pub(crate) fn word_term(mapper: &DocMapper, name: &str, word: &str) -> Option<Term> {
    let field = mapper.resolve(name)?;
    let has_dictionary = tokenizer_of(&field).is_some() && !has_nothing(&field, mapper);
    has_dictionary.then(|| text_term(&field, word))
}

fn tokenizer_of<'m>(field: &ResolvedField<'m>) -> Option<&'m str> {
    match field.kind {
        FieldKind::Text(text) if field.indexed && field.view.is_none() => Some(&text.tokenizer),
        FieldKind::Json(json) if field.indexed && field.view.is_none() => Some(&json.tokenizer),
        _ => None,
    }
}
