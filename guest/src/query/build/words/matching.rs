//! Texts that the field's own tokenizer splits into words: Elasticsearch's full-text queries.

use canter_doc_mapper::{FieldKind, ResolvedField};
use tantivy::Term;
use tantivy::query::{AllQuery, BooleanQuery, EmptyQuery, Occur, Query};

use super::analyzers::chosen;
use super::edges::{Edge, edges_of, has_ways, terms_of};
use super::positional::text_term;
use crate::SearchError;
use crate::query::build::builder::{Builder, all_of, any_of, has_nothing};
use crate::query::build::literal::{any_at_each, find_term, words};
use crate::query::build::value::{json_value_term, text_of};
use crate::query::build::wildcard::build_prefix;
use crate::query::tree::{Given, Literal, Match, MinShould, Words};

impl Builder<'_> {
    /// Builds a query for the documents that contain the words of a text.
    pub(in crate::query::build) fn matching(
        &mut self,
        name: &str,
        wanted: &Match,
    ) -> Result<Box<dyn Query>, SearchError> {
        let field = self.resolve(name)?;
        if has_nothing(&field, self.mapper) {
            return Ok(Box::new(EmptyQuery));
        }
        let whole = Given {
            text: wanted.text.clone(),
            is_number: false,
        };
        let is_searched = field.indexed || field.scanned;
        let (own, record) = match field.kind {
            FieldKind::Text(text) if is_searched => (text.of_queries(), text.record),
            FieldKind::Json(json) if is_searched => (json.tokenizer.as_str(), json.record),
            _ if wanted.fuzziness.is_some() => {
                return match wanted.is_lenient {
                    true => Ok(Box::new(EmptyQuery)),
                    false => Err(SearchError::invalid(format!(
                        "the field {name:?} is no text with terms, so none can be nearly what is looked for"
                    ))),
                };
            }
            // A field without words has the text as a value.
            _ => {
                let query = match self.exact(name, &whole, false) {
                    Err(_) if wanted.words == Words::Values => self.one_of_words(name, &whole),
                    query => query,
                };
                return match wanted.is_lenient && query.is_err() {
                    true => Ok(Box::new(EmptyQuery)),
                    false => query,
                };
            }
        };
        let tokenizer = chosen(self.mapper, wanted.analyzer.as_deref(), own)?;
        let has_alternatives = self.mapper.has_alternatives(&tokenizer);
        let term = |token: &str| text_term(&field, token);
        let edges = edges_of(self.mapper, &tokenizer, &wanted.text, &term)?;
        let mut queries = self.json_values(&field, wanted)?;
        if edges.is_empty() {
            let is_all = queries.is_empty() && wanted.is_all_without_words;
            return Ok(if is_all {
                Box::new(AllQuery)
            } else {
                any_of(queries)
            });
        }
        let alternatives = has_alternatives.then_some(has_ways(&edges));
        queries.push(match (&wanted.words, alternatives) {
            (Words::Phrase { .. } | Words::PhrasePrefix, Some(_)) => {
                self.of_alternatives(name, &field, edges, &phrase_of(wanted), record)?
            }
            (Words::Phrase { .. } | Words::PhrasePrefix, None) => {
                let phrase = phrase_of(wanted);
                words(self, name, &field, &phrase, terms_of(edges), record)?
            }
            (of_words, Some(true)) => {
                so_many_of_words(self.groups(name, &field, edges, record)?, of_words)
            }
            _ => self.words_of(&field, edges, wanted, has_alternatives)?,
        });
        Ok(any_of(queries))
    }

    /// Builds queries for a text as a number, date or boolean of a JSON field.
    fn json_values(
        &mut self,
        field: &ResolvedField<'_>,
        wanted: &Match,
    ) -> Result<Vec<Box<dyn Query>>, SearchError> {
        let FieldKind::Json(json) = field.kind else {
            return Ok(Vec::new());
        };
        let whole = json_value_term(field, json, &wanted.text);
        let mut terms: Vec<Term> = whole.into_iter().collect();
        if wanted.words == Words::Values {
            let words = wanted.text.split_whitespace();
            let words = words.filter(|word| word.len() < wanted.text.len());
            terms.extend(words.filter_map(|word| json_value_term(field, json, word)));
        }
        let mut queries = Vec::with_capacity(terms.len());
        for term in terms {
            self.spend_clause()?;
            queries.push(find_term(self, field, term));
        }
        Ok(queries)
    }

    /// Builds a query for the documents with one of the words of a text as a value.
    fn one_of_words(&mut self, name: &str, text: &Given) -> Result<Box<dyn Query>, SearchError> {
        let mut queries = Vec::new();
        for word in text.text.split_whitespace() {
            self.spend_clause()?;
            let word = Given {
                text: word.to_owned(),
                is_number: false,
            };
            queries.push(self.exact(name, &word, false)?);
        }
        Ok(any_of(queries))
    }

    /// Builds a query for words in any order.
    fn words_of(
        &mut self,
        field: &ResolvedField<'_>,
        edges: Vec<Edge>,
        wanted: &Match,
        has_alternatives: bool,
    ) -> Result<Box<dyn Query>, SearchError> {
        let (of_words, terms) = (&wanted.words, terms_of(edges));
        let last = terms.len().saturating_sub(1);
        let mut queries = Vec::with_capacity(terms.len());
        let places: Vec<usize> = terms.iter().map(|(place, _)| *place).collect();
        for (place, (_, term)) in terms.into_iter().enumerate() {
            self.spend_clause()?;
            let goes_on = matches!(of_words, Words::Prefix { .. }) && place == last;
            queries.push(match (goes_on, wanted.fuzziness) {
                (true, _) => build_prefix(self, field, text_of(field, &term))?,
                (false, Some(fuzziness)) => {
                    let word = text_of(field, &term).to_owned();
                    self.near_word(field, &word, fuzziness)?
                }
                (false, None) => find_term(self, field, term),
            });
        }
        if has_alternatives {
            queries = any_at_each(&places, queries);
        }
        Ok(so_many_of_words(queries, of_words))
    }
}

/// Matches if as many of the words match as are wanted.
fn so_many_of_words(queries: Vec<Box<dyn Query>>, of_words: &Words) -> Box<dyn Query> {
    let (needs_all, min_should) = match of_words {
        Words::All => (true, None),
        Words::Some(min_should) => (false, min_should.as_ref()),
        Words::Values => (false, None),
        Words::Prefix {
            needs_all,
            min_should,
        } => (*needs_all, min_should.as_ref()),
        Words::Phrase { .. } | Words::PhrasePrefix => (true, None),
    };
    match needs_all {
        true => all_of(queries),
        false => so_many_of(queries, min_should),
    }
}

/// Matches if at least `min_should` of the queries do; one by default.
pub(in crate::query::build) fn so_many_of(
    queries: Vec<Box<dyn Query>>,
    min_should: Option<&MinShould>,
) -> Box<dyn Query> {
    let Some(min_should) = min_should else {
        return any_of(queries);
    };
    // A query that needs none of its words would match everything, so it needs one.
    match min_should.of(queries.len()).max(1) {
        1 => any_of(queries),
        wanted if wanted == queries.len() => all_of(queries),
        wanted if wanted > queries.len() => Box::new(EmptyQuery),
        wanted => {
            let queries = queries.into_iter().map(|query| (Occur::Should, query));
            let queries = queries.collect();
            Box::new(BooleanQuery::with_minimum_required_clauses(queries, wanted))
        }
    }
}

/// Returns a phrase with the words of a text.
fn phrase_of(wanted: &Match) -> Literal {
    Literal {
        field: None,
        phrase: wanted.text.clone(),
        is_quoted: true,
        slop: match wanted.words {
            Words::Phrase { slop } => slop,
            _ => 0,
        },
        is_prefix: wanted.words == Words::PhrasePrefix,
    }
}
