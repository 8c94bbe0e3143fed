//! One text in several fields: their scores combined, or their words treated as those of one field.

use canter_doc_mapper::FieldKind;
use canter_names::matches_pattern;
use tantivy::query::{BoostQuery, EmptyQuery, Query};

use super::builder::{Builder, all_of, any_of};
use super::matching::so_many_of;
use crate::SearchError;
use crate::query::tree::{Combine, Factor, InFields, Leaf, Match, Words};

/// Maximum number of fields that a pattern matches.
const MAX_FIELDS: usize = 64;

/// Fields of a query.
struct Named {
    names: Vec<(String, Factor)>,
    /// True if the request names these fields explicitly, so that errors in them are reported.
    is_exact: bool,
}

impl Builder<'_> {
    /// Builds a query over several fields.
    pub(super) fn in_fields(&mut self, wanted: &InFields) -> Result<Box<dyn Query>, SearchError> {
        let named = self.named(wanted)?;
        let is_lenient = wanted.is_lenient || !named.is_exact;
        if let (Combine::Cross(others), Leaf::Match(text)) = (wanted.combine, &wanted.leaf)
            && let Some(words) = self.common_words(&named, text)
        {
            return self.across(&named, text, &words, others.0, is_lenient);
        }
        let queries = match self.one_each(&named, &wanted.leaf, is_lenient) {
            Err(_) if wanted.is_lenient => Vec::new(),
            queries => queries?,
        };
        Ok(match wanted.combine {
            Combine::Best(others) | Combine::Cross(others) => self.best_of(queries, others.0),
            Combine::Sum => any_of(queries),
        })
    }

    /// Builds a query for each field that supports it.
    fn one_each(
        &mut self,
        named: &Named,
        leaf: &Leaf,
        is_lenient: bool,
    ) -> Result<Vec<Box<dyn Query>>, SearchError> {
        let mut queries: Vec<Box<dyn Query>> = Vec::new();
        let mut first_error = None;
        for (name, boost) in &named.names {
            match self.leaf(&leaf.in_field(name)) {
                Ok(query) if self.scoring && boost.0 != 1.0 => {
                    queries.push(Box::new(BoostQuery::new(query, boost.0)));
                }
                Ok(query) => queries.push(query),
                Err(error) if is_lenient => first_error = first_error.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        if self.mapper.is_of_segment() && queries.iter().any(|query| !query.is::<EmptyQuery>()) {
            // In a split that lacks some of the fields, the others suffice.
            queries.retain(|query| !query.is::<EmptyQuery>());
        }
        match first_error {
            // If none of them supports it, that is an error all the same.
            Some(error) if queries.is_empty() => Err(error),
            _ => Ok(queries),
        }
    }

    /// Builds a query for each word in any of the fields.
    fn across(
        &mut self,
        named: &Named,
        text: &Match,
        words: &[String],
        others: f32,
        is_lenient: bool,
    ) -> Result<Box<dyn Query>, SearchError> {
        let mut queries = Vec::new();
        for word in words {
            let of_word = Leaf::Match(Match {
                text: word.clone(),
                words: Words::All,
                ..text.clone()
            });
            let queries_of_word = self.one_each(named, &of_word, is_lenient)?;
            queries.push(self.best_of(queries_of_word, others));
        }
        Ok(match &text.words {
            Words::Some(min_should) => so_many_of(queries, min_should.as_ref()),
            _ => all_of(queries),
        })
    }

    /// Returns the words of a text, if all of these fields tokenize it in the same way.
    fn common_words(&self, named: &Named, text: &Match) -> Option<Vec<String>> {
        let mut common: Option<Vec<String>> = None;
        for (name, _) in &named.names {
            let words = self.words_in(name, &text.text)?;
            match &common {
                None => common = Some(words),
                Some(common) if *common == words => {}
                Some(_) => return None,
            }
        }
        common.filter(|words| !words.is_empty())
    }

    fn words_in(&self, name: &str, text: &str) -> Option<Vec<String>> {
        use canter_doc_mapper::FieldKind;
        let field = self.mapper.resolve(name)?;
        let tokenizer = match field.kind {
            FieldKind::Text(text) => &text.tokenizer,
            FieldKind::Json(json) => &json.tokenizer,
            _ => return None,
        };
        let mut analyzer = self.mapper.tokenizers().get(tokenizer)?;
        let mut words = Vec::new();
        let mut stream = analyzer.token_stream(text);
        stream.process(&mut |token| {
            // As written: the tokenizer processes it once more.
            let word = text.get(token.offset_from..token.offset_to);
            words.push(word.unwrap_or(&token.text).to_owned());
        });
        Some(words)
    }

    /// Returns the fields that match names and patterns.
    fn named(&self, wanted: &InFields) -> Result<Named, SearchError> {
        if wanted.fields.is_empty() {
            let names = match self.search_fields {
                [] => self.mapper.default_search_fields(),
                names => names,
            };
            return match names {
                [] => Err(SearchError::invalid(
                    "the query names no field, and the index has no default_search_fields: give fields, or set \
                     search_settings.default_search_fields",
                )),
                names => Ok(Named {
                    names: names
                        .iter()
                        .map(|name| (name.clone(), Factor(1.0)))
                        .collect(),
                    is_exact: false,
                }),
            };
        }
        let mut names: Vec<(String, Factor)> = Vec::new();
        for (name, boost) in &wanted.fields {
            if !name.contains('*') {
                names.push((name.clone(), *boost));
                continue;
            }
            for field in self.mapper.fields() {
                let is_text = matches!(field.kind, FieldKind::Text(_) | FieldKind::Json(_));
                // Whole values without words are found in columns.
                let is_searched = field.indexed || field.scanned || (field.is_fast() && !is_text);
                let path = field.path();
                let is_new = !names.iter().any(|(known, _)| *known == path);
                if is_searched && is_new && matches_pattern(name, &path) {
                    names.push((path, *boost));
                }
            }
        }
        if names.len() > MAX_FIELDS {
            return Err(SearchError::new(
                crate::ErrorKind::Limit,
                format!(
                    "the names of fields stand for {} fields, more than {MAX_FIELDS}",
                    names.len()
                ),
            ));
        }
        Ok(Named {
            is_exact: names.len() == wanted.fields.len()
                && wanted.fields.iter().all(|(name, _)| !name.contains('*')),
            names,
        })
    }
}
