//! Entries of completions that a suggester asks for, out of the dictionaries of splits.

use std::sync::Arc;

use canter_doc_mapper::CompletionEntry;
use futures_util::future::try_join_all;
use tantivy::schema::Field;
use tantivy_fst::Automaton;

use super::each_split::of_each_split;
use super::lists::load_dictionary;
use super::rerun::rerun_on_gaps;
use super::warmup::Shared;
use crate::SearchError;
use crate::exchange::{Exchange, Interrupt};
use crate::query::TermAutomaton;
use crate::split::{HeadSource, OpenSplit, SearchedIndex};

/// Maximum number of entries of one suggestion; those of lower score are left out.
const MAX_ENTRIES: usize = 4_096;

/// Scores of terms, of which the best come first.
pub(crate) type ScoredTerms = Vec<(f64, String)>;

/// Function from an entry to its score.
pub(crate) type Score<'w> = Box<dyn Fn(&CompletionEntry<'_>) -> Option<f64> + Send + Sync + 'w>;

/// Entries that are looked for.
pub(crate) struct WantedEntries<'w> {
    pub(crate) field: &'w str,
    /// Accepts the terms whose keys are right.
    pub(crate) automaton: TermAutomaton,
    /// Returns the score of an entry, or `None` if it is not wanted.
    pub(crate) score: Score<'w>,
}

/// Returns the best entries of splits of one index, for each of the wanted ones.
///
/// # Errors
/// If a split cannot be read.
pub(crate) async fn find_entries(
    index: SearchedIndex,
    splits: Vec<HeadSource>,
    wanted: &[WantedEntries<'_>],
    exchange: &Exchange,
) -> Result<Vec<ScoredTerms>, SearchError> {
    let interrupt = &exchange.interrupt();
    let lists = of_each_split(index, splits, exchange, |split| async move {
        let found = wanted
            .iter()
            .map(|wanted| of_split(&split, wanted, interrupt));
        try_join_all(found).await
    });
    let mut all: Vec<ScoredTerms> = wanted.iter().map(|_| Vec::new()).collect();
    for of_split in lists.await? {
        for (all, found) in all.iter_mut().zip(of_split) {
            all.extend(found);
            keep_best(all);
        }
    }
    Ok(all)
}

/// Sorts terms by score and removes the duplicates, and those behind the maximum number.
pub(crate) fn keep_best(terms: &mut ScoredTerms) {
    let input = |term: &str| CompletionEntry::read(term).map(|entry| entry.input.to_owned());
    canter_sorting::sort_by(terms, |left, right| {
        let by_score = right.0.total_cmp(&left.0);
        by_score
            .then_with(|| input(&left.1).cmp(&input(&right.1)))
            .then_with(|| left.1.cmp(&right.1))
    });
    terms.dedup_by(|later, earlier| later.1 == earlier.1);
    terms.truncate(MAX_ENTRIES);
}

async fn of_split(
    split: &OpenSplit,
    wanted: &WantedEntries<'_>,
    interrupt: &Interrupt,
) -> Result<ScoredTerms, SearchError> {
    let Some(resolved) = split.mapper.resolve(wanted.field) else {
        return Ok(Vec::new());
    };
    // A split from before the field was mapped has no entries.
    if resolved.is_absent || resolved.is_dynamic {
        return Ok(Vec::new());
    }
    match &wanted.automaton {
        TermAutomaton::Regex(regex) => {
            let regex = Shared(Arc::clone(regex));
            of_field(split, resolved.field, &regex, wanted, interrupt).await
        }
        TermAutomaton::Near(near) => {
            let near = Shared(Arc::clone(near));
            of_field(split, resolved.field, &near, wanted, interrupt).await
        }
        TermAutomaton::OneOf(_) | TermAutomaton::AtAnyPath(_) | TermAutomaton::InValues(_) => {
            Ok(Vec::new())
        }
    }
}

async fn of_field<A>(
    split: &OpenSplit,
    field: Field,
    automaton: &A,
    wanted: &WantedEntries<'_>,
    interrupt: &Interrupt,
) -> Result<ScoredTerms, SearchError>
where
    A: Automaton + Clone,
    A::State: Clone,
{
    let loaded = load_dictionary(split, field, automaton).await;
    loaded.map_err(|error| split.error(error))?;
    rerun_on_gaps(split, interrupt, || {
        Ok(entries_of(split, field, automaton, wanted)?)
    })
    .await
}

fn entries_of<A>(
    split: &OpenSplit,
    field: Field,
    automaton: &A,
    wanted: &WantedEntries<'_>,
) -> tantivy::Result<ScoredTerms>
where
    A: Automaton + Clone,
    A::State: Clone,
{
    let inverted_index = split.segment().inverted_index(field)?;
    let terms = inverted_index.terms().search(automaton.clone());
    let mut terms = terms.into_stream()?;
    let mut found = ScoredTerms::new();
    while terms.advance() {
        let term = std::str::from_utf8(terms.key()).ok();
        let entry = term.and_then(CompletionEntry::read);
        // The automaton ran over the whole term: any character, and an edit, may be of what is behind the key.
        let takes = |entry: &CompletionEntry<'_>| wanted.automaton.takes(entry.key.as_bytes());
        let entry = entry.filter(takes);
        let score = entry.as_ref().and_then(|entry| (wanted.score)(entry));
        if let (Some(term), Some(score)) = (term, score) {
            found.push((score, term.to_owned()));
        }
        if found.len() >= 2 * MAX_ENTRIES {
            keep_best(&mut found);
        }
    }
    keep_best(&mut found);
    Ok(found)
}
