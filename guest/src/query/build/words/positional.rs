//! Words at positions that have a relation, from the tree to their query.

use std::ops::ControlFlow;
use std::sync::Arc;

use canter_doc_mapper::tokenizers::Extent;
use canter_doc_mapper::{FieldKind, ResolvedField, ScannedField};
use tantivy::Term;
use tantivy::query::{EmptyQuery, Query};
use tantivy::schema::IndexRecordOption;

use super::analyzers::{analyzer, chosen};
use super::edges::{edges_of, has_ways, terms_of};
use crate::SearchError;
use crate::query::build::builder::{Builder, has_nothing, not_indexed};
use crate::query::build::sets::TermAutomaton;
use crate::query::build::value::json_base_term;
use crate::query::build::wildcard::{
    ANY_TEXT, Pattern, any_character, compiled, expression_of, literal_expression, of_path,
};
use crate::query::matching::{Condition, LeafTerms, PositionalQuery, Source};
use crate::query::scan::Wanted;
use crate::query::tree::{Fuzziness, PatternKind, Places, Positional, PositionalKind, WordOrder};

/// The leaves of a condition under construction.
struct Parts<'w> {
    wanted: &'w Positional,
    leaves: Vec<LeafTerms>,
    /// The name of the field and the part that each leaf stands for, if it is a pattern or the like.
    origins: Vec<Option<(String, Places)>>,
    /// The field of each leaf.
    fields: Vec<ScannedField>,
    /// True if the field of a leaf has to be read from documents.
    is_scanned: bool,
}

/// The form of letters in terms that are no words of a text.
struct Form<'p> {
    is_normalized: bool,
    analyzer: Option<&'p str>,
}

impl Builder<'_> {
    /// Builds a query for the documents in which words are at such positions.
    pub(in crate::query::build) fn positional(
        &mut self,
        wanted: &Positional,
    ) -> Result<Box<dyn Query>, SearchError> {
        let field = self.resolve(&wanted.field)?;
        let mut parts = Parts {
            wanted,
            leaves: Vec::new(),
            origins: Vec::new(),
            fields: Vec::new(),
            is_scanned: false,
        };
        let source = self.source(&wanted.places, &mut parts)?;
        if source == Source::nothing() {
            return Ok(Box::new(EmptyQuery));
        }
        let condition = Condition {
            source,
            leaves: parts.leaves,
            kind: wanted.kind,
            field: field.field,
        };
        if parts.is_scanned {
            return match parts.fields.as_slice() {
                [first, others @ ..] if others.iter().all(|other| other == first) => {
                    let wanted = Wanted::Positional(Arc::new(condition));
                    Ok(self.scan(first.clone(), wanted))
                }
                _ => Err(SearchError::invalid(format!(
                    "{}: words of several fields are compared only where all of them are indexed",
                    wanted.field
                ))),
            };
        }
        for leaf in &condition.leaves {
            match leaf {
                LeafTerms::Term(term) => self.needs.term(term, true),
                LeafTerms::Accepted(field, automaton) => {
                    let automata = &mut self.needs.automata;
                    automata.push((*field, automaton.clone(), true));
                }
            }
        }
        if self.scoring && wanted.kind == PositionalKind::Spans {
            self.needs.fieldnorms.insert(field.field);
        }
        Ok(Box::new(PositionalQuery::new(condition)))
    }

    fn source(&mut self, places: &Places, parts: &mut Parts<'_>) -> Result<Source, SearchError> {
        let is_distinct = parts.wanted.kind == PositionalKind::Intervals;
        match places {
            Places::Words {
                field,
                text,
                analyzer,
                order,
                max_gaps,
            } => {
                let words = self.words(field.as_deref(), text, analyzer.as_deref(), parts)?;
                combined(words, *order, *max_gaps, is_distinct)
            }
            Places::Term { .. } | Places::Pattern { .. } | Places::Fuzzy { .. } => {
                self.spend_clause()?;
                self.terms(places, parts)
            }
            Places::Any(list) => {
                let sources = list.iter().map(|places| self.source(places, parts));
                Ok(Source::any(sources.collect::<Result<_, _>>()?))
            }
            Places::All {
                parts: list,
                order,
                max_gaps,
            } => {
                let sources = list.iter().map(|places| self.source(places, parts));
                let sources = sources.collect::<Result<_, _>>()?;
                combined(sources, *order, *max_gaps, is_distinct)
            }
            Places::Related(places, relation, other) => {
                let source = self.source(places, parts)?;
                let other = self.source(other, parts)?;
                source.related(*relation, other)
            }
            Places::Extended {
                places,
                before,
                after,
            } => Ok(self.source(places, parts)?.extended(*before, *after)),
            Places::First { places, end } => self.source(places, parts)?.within_first(*end),
        }
    }

    /// Returns the leaf of a part that is no text.
    fn terms(&mut self, places: &Places, parts: &mut Parts<'_>) -> Result<Source, SearchError> {
        match places {
            Places::Term { field, value } => {
                self.in_field(field.as_deref(), places, parts, |builder, name, field| {
                    let tokenizer = builder.words_field(name, field)?.to_owned();
                    let value = builder.as_in_terms(field, &tokenizer, value, Extent::Whole);
                    Ok(LeafTerms::Term(text_term(field, &value)))
                })
            }
            Places::Pattern {
                field,
                kind,
                pattern,
                case_insensitive,
                is_normalized,
                analyzer,
            } => {
                let form = Form {
                    is_normalized: *is_normalized,
                    analyzer: analyzer.as_deref(),
                };
                self.in_field(field.as_deref(), places, parts, |builder, name, field| {
                    let pattern = builder.expression_in(name, field, *kind, pattern, &form)?;
                    let pattern = expression_of(&pattern, *case_insensitive);
                    builder.spend_pattern()?;
                    let regex = compiled(&of_path(field, &pattern))?;
                    Ok(LeafTerms::Accepted(
                        field.field,
                        TermAutomaton::Regex(regex),
                    ))
                })
            }
            Places::Fuzzy {
                field,
                value,
                fuzziness,
                is_normalized,
                analyzer,
            } => {
                let form = Form {
                    is_normalized: *is_normalized,
                    analyzer: analyzer.as_deref(),
                };
                self.in_field(field.as_deref(), places, parts, |builder, name, field| {
                    builder.near_terms(name, field, value, *fuzziness, &form)
                })
            }
            _ => Err(SearchError::internal("a part of a condition is no term")),
        }
    }

    /// Returns the words of a text, one behind the other.
    fn words(
        &mut self,
        field: Option<&str>,
        text: &str,
        named: Option<&str>,
        parts: &mut Parts<'_>,
    ) -> Result<Vec<Source>, SearchError> {
        let name = field.unwrap_or(&parts.wanted.field);
        let field = self.resolve(name)?;
        if has_nothing(&field, self.mapper) {
            return Ok(Vec::new());
        }
        let own = self.with_positions(name, &field)?;
        let tokenizer = chosen(self.mapper, named, own)?;
        let make = |token: &str| text_term(&field, token);
        let edges = edges_of(self.mapper, &tokenizer, text, &make)?;
        if has_ways(&edges) {
            return Err(SearchError::invalid(format!(
                "the words {text:?} of the field {name:?} have synonyms of several words, which have no place in \
                 conditions on positions: use match or match_phrase"
            )));
        }
        let terms = terms_of(edges);
        let mut words: Vec<Source> = Vec::with_capacity(terms.len());
        let mut last = None;
        for (position, term) in terms {
            self.spend_clause()?;
            let leaf = parts.leaf(&field, LeafTerms::Term(term), None);
            // The tokenizer may leave out words.
            let num_left_out = match last {
                Some(last) => position.saturating_sub(last + 1),
                None => 0,
            };
            let num_left_out = u32::try_from(num_left_out).unwrap_or(u32::MAX);
            match words.pop() {
                Some(same) if last == Some(position) => words.push(Source::any(vec![same, leaf])),
                before => {
                    words.extend(before);
                    words.push(leaf.extended(num_left_out, 0));
                }
            }
            last = Some(position);
        }
        Ok(words)
    }

    /// Returns a leaf in a field, which `make` makes; or nothing, if the split has nothing of the field.
    fn in_field(
        &mut self,
        field: Option<&str>,
        places: &Places,
        parts: &mut Parts<'_>,
        make: impl FnOnce(&mut Self, &str, &ResolvedField<'_>) -> Result<LeafTerms, SearchError>,
    ) -> Result<Source, SearchError> {
        let name = field.unwrap_or(&parts.wanted.field);
        let field = self.resolve(name)?;
        if has_nothing(&field, self.mapper) {
            return Ok(Source::nothing());
        }
        self.with_positions(name, &field)?;
        let origin = (name.to_owned(), places.clone());
        let leaf = make(self, name, &field)?;
        Ok(parts.leaf(&field, leaf, Some(origin)))
    }

    /// Returns the tokenizer of a field whose words have positions.
    ///
    /// # Errors
    /// They have none.
    fn with_positions<'f>(
        &self,
        name: &str,
        field: &ResolvedField<'f>,
    ) -> Result<&'f str, SearchError> {
        let (tokenizer, record) = match field.kind {
            FieldKind::Text(text) => (text.of_queries(), text.record),
            FieldKind::Json(json) => (json.tokenizer.as_str(), json.record),
            _ => {
                return Err(SearchError::invalid(format!(
                    "the field {name:?} is no text, so it has no words at positions"
                )));
            }
        };
        if field.view.is_some() || !(field.indexed || field.scanned) {
            return Err(not_indexed(name));
        }
        match record == IndexRecordOption::WithFreqsAndPositions {
            true => Ok(tokenizer),
            false => Err(SearchError::invalid(format!(
                "the field {name:?} keeps no positions, so its words cannot be compared by them: set record: position \
                 in its mapping"
            ))),
        }
    }

    /// Returns the expression of a pattern over the terms of a field.
    fn expression_in(
        &self,
        name: &str,
        field: &ResolvedField<'_>,
        kind: PatternKind,
        pattern: &str,
        form: &Form<'_>,
    ) -> Result<String, SearchError> {
        Ok(match kind {
            PatternKind::Regexp => any_character(pattern)?,
            PatternKind::Wildcard => match form.analyzer {
                None => Pattern::of_lucene(pattern).expression(field.letters),
                Some(_) => {
                    let pattern = self.in_form(name, field, pattern, form, Extent::Part)?;
                    Pattern::of_lucene(&pattern).plain()
                }
            },
            PatternKind::Prefix => {
                let start = self.in_form(name, field, pattern, form, Extent::Part)?;
                literal_expression(&start) + ANY_TEXT
            }
            PatternKind::Term => {
                literal_expression(&self.in_form(name, field, pattern, form, Extent::Whole)?)
            }
        })
    }

    fn near_terms(
        &mut self,
        name: &str,
        field: &ResolvedField<'_>,
        value: &str,
        fuzziness: Fuzziness,
        form: &Form<'_>,
    ) -> Result<LeafTerms, SearchError> {
        let word = self.in_form(name, field, value, form, Extent::Whole)?;
        if fuzziness.edits.of_word(&word) == 0 {
            return Ok(LeafTerms::Term(text_term(field, &word)));
        }
        let automaton = self.near_automaton(field, &word, fuzziness)?;
        Ok(LeafTerms::Accepted(field.field, automaton))
    }

    /// Returns a text with the letters of terms.
    fn in_form(
        &self,
        name: &str,
        field: &ResolvedField<'_>,
        text: &str,
        form: &Form<'_>,
        extent: Extent,
    ) -> Result<String, SearchError> {
        if !form.is_normalized {
            let tokenizer = self.words_field(name, field)?;
            return Ok(self.as_in_terms(field, tokenizer, text, extent));
        }
        let Some(named) = form.analyzer else {
            return Ok(field.letters.apply(text, extent));
        };
        let mut lowercases = false;
        let mut analyzer = analyzer(self.mapper, named)?;
        analyzer.token_stream("A").process(&mut |token| {
            lowercases |= token.text == "a";
        });
        Ok(match lowercases {
            true => text.to_lowercase(),
            false => text.to_owned(),
        })
    }
}

impl Parts<'_> {
    /// Returns a leaf with these terms, the same for equal terms and for equal patterns.
    fn leaf(
        &mut self,
        field: &ResolvedField<'_>,
        terms: LeafTerms,
        origin: Option<(String, Places)>,
    ) -> Source {
        self.is_scanned |= field.scanned;
        let mut known = self.leaves.iter().zip(&self.origins);
        let is_same = |(known, of): (&LeafTerms, &Option<_>)| match (known, &terms) {
            (LeafTerms::Term(known), LeafTerms::Term(term)) => known == term,
            _ => of.is_some() && *of == origin,
        };
        let known = known.position(is_same);
        let ord = known.unwrap_or_else(|| {
            self.leaves.push(terms);
            self.origins.push(origin);
            self.fields.push(ScannedField::of(field));
            self.leaves.len() - 1
        });
        Source::Leaf(ord)
    }
}

/// Returns the term of a word.
pub(in crate::query::build) fn text_term(field: &ResolvedField<'_>, word: &str) -> Term {
    match field.kind {
        FieldKind::Json(json) => {
            let mut term = json_base_term(field, json);
            term.append_type_and_str(word);
            term
        }
        _ => Term::from_field_text(field.field, word),
    }
}

/// Combines sources as Elasticsearch does.
fn combined(
    sources: Vec<Source>,
    order: WordOrder,
    max_gaps: Option<u32>,
    is_distinct: bool,
) -> Result<Source, SearchError> {
    if sources.contains(&Source::nothing()) || sources.is_empty() {
        return Ok(Source::nothing());
    }
    if let [only] = sources.as_slice() {
        return Ok(only.clone());
    }
    let with_gaps = |source: Source| match max_gaps {
        Some(max) => source.with_max_gaps(max),
        None => Ok(source),
    };
    match (order, max_gaps) {
        (WordOrder::Ordered, Some(0)) => Source::phrase(sources),
        (WordOrder::Ordered, _) => with_gaps(Source::ordered(sources)),
        (WordOrder::Any, _) => with_gaps(Source::unordered(sources, is_distinct)),
        (WordOrder::Apart, _) => {
            // In pairs: those so far, and the next one before or behind them.
            let together = sources.into_iter().try_fold(None, |before, next| {
                let together = match before {
                    None => Ok(next),
                    Some(before) => with_gaps(Source::any(vec![
                        Source::ordered(vec![Source::clone(&before), next.clone()]),
                        Source::ordered(vec![next, before]),
                    ])),
                };
                match together {
                    Ok(together) => ControlFlow::Continue(Some(together)),
                    Err(error) => ControlFlow::Break(error),
                }
            });
            match together {
                ControlFlow::Continue(together) => Ok(together.unwrap_or_else(Source::nothing)),
                ControlFlow::Break(error) => Err(error),
            }
        }
    }
}
