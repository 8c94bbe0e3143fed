//! Compilation of queries, tantivy's and ours, into matchers for one split.

use canter_matching::{Matcher, Phrase, PhraseWord};
use tantivy::Searcher;
use tantivy::query::{AllQuery, BooleanQuery, EmptyQuery, EnableScoring, Occur, Query, TermQuery};

use super::column::ColumnPart;
use super::file::PostingFiles;
use super::phrase::PhraseOf;
use super::scorer::ScorerPart;
use super::term_infos::TermInfos;
use crate::query::columns::{ColumnQuery, FullRange};

/// Compiles a query for a split's only segment. Everything that the query reads must be resident.
///
/// # Errors
/// Errors of tantivy; a read that missed.
pub(crate) fn compile(
    query: &dyn Query,
    searcher: &Searcher,
    terms: &TermInfos,
) -> tantivy::Result<Matcher> {
    of_query(query, &mut PostingFiles::new(searcher, terms), searcher)
}

fn of_query(
    query: &dyn Query,
    files: &mut PostingFiles<'_>,
    searcher: &Searcher,
) -> tantivy::Result<Matcher> {
    if query.is::<AllQuery>() {
        return Ok(Matcher::Everything);
    }
    if query.is::<EmptyQuery>() {
        return Ok(Matcher::Nothing);
    }
    if let Some(query) = query.downcast_ref::<TermQuery>() {
        let docs = files.docs(query.term())?;
        return Ok(match docs {
            Some(docs) => Matcher::Term(Box::new(docs)),
            None => Matcher::Nothing,
        });
    }
    if let Some(query) = query.downcast_ref::<BooleanQuery>()
        && let Some(matcher) = of_clauses(query, files, searcher)?
    {
        return Ok(matcher);
    }
    if let Some(query) = query.downcast_ref::<PhraseOf>()
        && let Some(matcher) = of_phrase(query, files)?
    {
        return Ok(matcher);
    }
    if let Some(query) = query.downcast_ref::<ColumnQuery>() {
        match query.full_range(files.segment)? {
            Some(FullRange::Nothing) => return Ok(Matcher::Nothing),
            Some(FullRange::Everything) => return Ok(Matcher::Everything),
            Some(FullRange::Codes(column, range)) => {
                return Ok(Matcher::Part(Box::new(ColumnPart::new(column, range))));
            }
            None => {}
        }
    }
    let weight = query.weight(EnableScoring::disabled_from_searcher(searcher))?;
    let scorer = weight.scorer(files.segment, 1.0)?;
    Ok(Matcher::Part(Box::new(ScorerPart::new(scorer))))
}

/// Returns `None` if more than one of several alternatives must match.
fn of_clauses(
    query: &BooleanQuery,
    files: &mut PostingFiles<'_>,
    searcher: &Searcher,
) -> tantivy::Result<Option<Matcher>> {
    let least = query.get_minimum_number_should_match();
    if least > 1 {
        return Ok(None);
    }
    let mut parts = |wanted: Occur| {
        let clauses = query.clauses().iter();
        let clauses = clauses.filter(|(occur, _)| *occur == wanted);
        let parts = clauses.map(|(_, query)| of_query(query.as_ref(), files, searcher));
        parts.collect::<tantivy::Result<Vec<_>>>()
    };
    let (mut all, excluded) = (parts(Occur::Must)?, parts(Occur::MustNot)?);
    // Beside required clauses, alternatives only affect the score.
    if all.is_empty() || least > 0 {
        all.push(Matcher::any(parts(Occur::Should)?));
    }
    Ok(Some(Matcher::all(all, excluded)))
}

/// Returns `None` if its words may move.
fn of_phrase(query: &PhraseOf, files: &mut PostingFiles<'_>) -> tantivy::Result<Option<Matcher>> {
    let Some(terms) = query.exact() else {
        return Ok(None);
    };
    let mut words = Vec::new();
    for (term, behind) in terms {
        match files.docs_and_positions(term)? {
            Some((docs, positions)) => words.push(PhraseWord {
                docs,
                positions,
                behind,
            }),
            None => return Ok(Some(Matcher::Nothing)),
        }
    }
    Ok(Some(Matcher::Phrase(Box::new(Phrase::new(words)))))
}
