//! Words and phrases: `word`, `field:word`, `field:"a phrase"`, `field:"a phra"*`, `field:wor*`.

use std::ops::Bound;

use canter_doc_mapper::config::JsonKind;
use canter_doc_mapper::{FieldKind, ResolvedField, ScannedField};
use tantivy::Term;
use tantivy::query::{BooleanQuery, ConstScoreQuery, EmptyQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;

use super::builder::{Builder, any_of, has_nothing, not_indexed};
use super::open::in_default_fields;
use super::range::{build_equal, build_second, is_timestamp, range_of};
use super::value::{json_base_term, json_value_term, prefix_end, scalar_term, text_of};
use super::whole_values::whole_value;
use super::wildcard::{BareWord, build_prefix, build_wildcard};
use super::words::{edges_of, terms_of};
use crate::SearchError;
use crate::query::matching::{PhraseOf, PhrasePrefix};
use crate::query::needs::TermRange;
use crate::query::scan::Wanted;
use crate::query::tree::{Literal, TextLeaf};

pub(super) fn build_literal(
    builder: &mut Builder<'_>,
    literal: &Literal,
) -> Result<Box<dyn Query>, SearchError> {
    if let Some(name) = &literal.field {
        return one_field(builder, name, &builder.resolve(name)?, literal);
    }
    let leaf = TextLeaf::Literal(literal.clone());
    in_default_fields(builder, &leaf, &mut |builder, name| {
        let field = builder.resolve(name)?;
        one_field(builder, name, &field, literal)
    })
}

fn one_field(
    builder: &mut Builder<'_>,
    name: &str,
    field: &ResolvedField<'_>,
    literal: &Literal,
) -> Result<Box<dyn Query>, SearchError> {
    if has_nothing(field, builder.mapper) {
        return Ok(Box::new(EmptyQuery));
    }
    let word = match literal.is_quoted {
        true => BareWord::Text(literal.phrase.clone()),
        false => BareWord::of(&literal.phrase),
    };
    let is_value = literal.slop == 0 && !literal.is_prefix;
    let period = match &word {
        BareWord::Text(text) if is_value => builder.in_period(name, field, text)?,
        _ => None,
    };
    if matches!(field.kind, FieldKind::Date(_)) && period.is_some() {
        return Ok(any_of(Vec::from_iter(period)));
    }
    if matches!(field.kind, FieldKind::Ip) && literal.phrase.contains('/') {
        return builder.in_network(name, field, &literal.phrase);
    }
    if !field.indexed && !field.scanned {
        let is_text = matches!(field.kind, FieldKind::Text(_) | FieldKind::Json(_));
        return match &word {
            BareWord::Text(value) if !(is_text && literal.is_prefix) => {
                build_equal(builder, name, field, value)
            }
            BareWord::Pattern(_) if !is_text => build_equal(builder, name, field, &literal.phrase),
            _ => Err(not_indexed(name)),
        };
    }
    if is_timestamp(builder, field) {
        return build_second(builder, name, field, &literal.phrase);
    }
    match (field.kind, &word) {
        (FieldKind::Range(_), _) => {
            let bound = Bound::Included(literal.phrase.as_str());
            range_of(builder, name, field, bound, bound)
        }
        (FieldKind::Text(_), BareWord::Pattern(pattern)) => build_wildcard(builder, field, pattern),
        (FieldKind::Text(text), BareWord::Text(phrase)) => {
            let edges = edges_of(builder.mapper, text.of_queries(), phrase, &|token| {
                Term::from_field_text(field.field, token)
            })?;
            match builder.mapper.has_alternatives(text.of_queries()) {
                true => builder.of_alternatives(name, field, edges, literal, text.record),
                false => words(builder, name, field, literal, terms_of(edges), text.record),
            }
        }
        (FieldKind::Json(_), BareWord::Pattern(pattern)) => build_wildcard(builder, field, pattern),
        (FieldKind::Json(json), BareWord::Text(phrase)) => {
            let mut queries = Vec::from_iter(period);
            queries.extend(of_json(builder, name, (field, json), literal, phrase)?);
            Ok(any_of(queries))
        }
        _ => build_scalar(builder, name, field, &literal.phrase),
    }
}

/// Builds queries for a text in a JSON field: as a value, and by its words.
fn of_json(
    builder: &mut Builder<'_>,
    name: &str,
    (field, json): (&ResolvedField<'_>, &JsonKind),
    literal: &Literal,
    phrase: &str,
) -> Result<Vec<Box<dyn Query>>, SearchError> {
    let value = json_value_term(field, json, phrase);
    let mut queries = Vec::from_iter(value.map(|term| find_term(builder, field, term)));
    let edges = edges_of(builder.mapper, &json.tokenizer, phrase, &|token| {
        let mut term = json_base_term(field, json);
        term.append_type_and_str(token);
        term
    })?;
    if edges.is_empty() {
        return Ok(queries);
    }
    queries.push(match builder.mapper.has_alternatives(&json.tokenizer) {
        true => builder.of_alternatives(name, field, edges, literal, json.record)?,
        false => words(builder, name, field, literal, terms_of(edges), json.record)?,
    });
    Ok(queries)
}

/// Joins the queries of terms at one place: any of them is enough.
pub(super) fn any_at_each(places: &[usize], queries: Vec<Box<dyn Query>>) -> Vec<Box<dyn Query>> {
    let mut joined = Vec::new();
    let mut at_place = Vec::new();
    let mut queries = places.iter().zip(queries).peekable();
    while let Some((place, query)) = queries.next() {
        at_place.push(query);
        if queries.peek().is_none_or(|(next, _)| *next != place) {
            joined.push(any_of(std::mem::take(&mut at_place)));
        }
    }
    joined
}

/// Builds a query for a value that is no text.
fn build_scalar(
    builder: &mut Builder<'_>,
    name: &str,
    field: &ResolvedField<'_>,
    text: &str,
) -> Result<Box<dyn Query>, SearchError> {
    match scalar_term(field, text) {
        Ok(term) => Ok(find_term(builder, field, term)),
        // `5.0` is 5 for an integer.
        Err(_) if is_whole_number(text) => {
            let bound = Bound::Included(text);
            range_of(builder, name, field, bound, bound)
        }
        Err(problem) => Err(SearchError::invalid(format!("field {name:?}: {problem}"))),
    }
}

fn is_whole_number(text: &str) -> bool {
    let number: Option<f64> = text.parse().ok();
    number.is_some_and(|number| number.fract() == 0.0)
}

/// Builds a query for the documents that have a term in a field, by the index or by a scan.
pub(super) fn find_term(
    builder: &mut Builder<'_>,
    field: &ResolvedField<'_>,
    term: Term,
) -> Box<dyn Query> {
    if field.view.is_some() {
        return whole_value(builder, field, text_of(field, &term));
    }
    match field.scanned {
        true => builder.scan(ScannedField::of(field), Wanted::Term(term)),
        false => term_query(builder, term),
    }
}

/// Builds a term query and records its reads.
pub(super) fn term_query(builder: &mut Builder<'_>, term: Term) -> Box<dyn Query> {
    builder.needs.term(&term, false);
    if builder.scoring {
        builder.needs.fieldnorms.insert(term.field());
    }
    Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
}

pub(super) fn words(
    builder: &mut Builder<'_>,
    name: &str,
    field: &ResolvedField<'_>,
    literal: &Literal,
    mut terms: Vec<(usize, Term)>,
    record: IndexRecordOption,
) -> Result<Box<dyn Query>, SearchError> {
    for _ in 1..terms.len() {
        builder.spend_clause()?;
    }
    if terms.len() <= 1 {
        let Some((_, term)) = terms.pop() else {
            return Ok(Box::new(EmptyQuery));
        };
        return match literal.is_prefix {
            true => build_prefix(builder, field, text_of(field, &term)),
            false => Ok(find_term(builder, field, term)),
        };
    }
    if !record.has_positions() {
        if !literal.is_quoted {
            // A bare word that the tokenizer splits: all parts, in any order.
            let parts = terms
                .into_iter()
                .map(|(_, term)| (Occur::Must, find_term(builder, field, term)))
                .collect();
            return Ok(Box::new(BooleanQuery::new(parts)));
        }
        return Err(SearchError::invalid(format!(
            "the field {name:?} keeps no positions, so it cannot be searched for the phrase {:?}: set \
             record: position in its mapping, or search for the words without quotes",
            literal.phrase
        )));
    }
    if field.scanned {
        return scanned_phrase(builder, field, literal, terms);
    }
    if builder.scoring {
        builder.needs.fieldnorms.insert(field.field);
    }
    if literal.is_prefix
        && let Some(prefix) = terms.pop()
    {
        return Ok(phrase_prefix(builder, terms, prefix));
    }
    for (_, term) in &terms {
        builder.needs.term(term, true);
    }
    refuse_repeated(literal, &terms)?;
    Ok(Box::new(PhraseOf::new(terms, literal.slop)))
}

/// Builds a query for whole words followed by a prefix. With several whole words, their phrase determines the score;
/// with a single one, all documents have the same score.
fn phrase_prefix(
    builder: &mut Builder<'_>,
    words: Vec<(usize, Term)>,
    prefix: (usize, Term),
) -> Box<dyn Query> {
    for (_, word) in &words {
        builder.needs.term(word, true);
    }
    note_prefix(builder, &prefix.1);
    let found = Box::new(PhrasePrefix::new(words.clone(), prefix));
    if !builder.scoring || words.len() < 2 {
        return found;
    }
    let found: Box<dyn Query> = Box::new(ConstScoreQuery::new(found, 0.0));
    let scored: Box<dyn Query> = Box::new(PhraseOf::new(words, 0));
    Box::new(BooleanQuery::new(vec![
        (Occur::Must, scored),
        (Occur::Must, found),
    ]))
}

/// Builds a phrase query on a field that is not indexed.
fn scanned_phrase(
    builder: &mut Builder<'_>,
    field: &ResolvedField<'_>,
    literal: &Literal,
    terms: Vec<(usize, Term)>,
) -> Result<Box<dyn Query>, SearchError> {
    let field = ScannedField::of(field);
    if literal.is_prefix {
        return Ok(builder.scan(field, Wanted::PhrasePrefix { terms }));
    }
    refuse_repeated(literal, &terms)?;
    let slop = literal.slop;
    Ok(builder.scan(field, Wanted::Phrase { terms, slop }))
}

/// Refuses repeated words: tantivy would let one word of a document match both.
fn refuse_repeated(literal: &Literal, terms: &[(usize, Term)]) -> Result<(), SearchError> {
    if literal.slop == 0 || !repeats_a_word(terms) {
        return Ok(());
    }
    Err(SearchError::invalid(format!(
        "the phrase {:?} has a word twice, so its words cannot be told apart when they may move: leave out ~{}",
        literal.phrase, literal.slop
    )))
}

fn repeats_a_word(terms: &[(usize, Term)]) -> bool {
    let words = canter_sorting::set_of(terms.iter().map(|(_, term)| term));
    words.len() < terms.len()
}

/// Records the terms that a phrase prefix expands to.
fn note_prefix(builder: &mut Builder<'_>, prefix: &Term) {
    builder.needs.term_ranges.push(TermRange {
        field: prefix.field(),
        lower: Bound::Included(prefix.clone()),
        upper: prefix_end(prefix).map_or(Bound::Unbounded, Bound::Excluded),
        positions: true,
    });
}
