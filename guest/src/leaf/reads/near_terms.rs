//! Terms of dictionaries that are near a word, with the number of documents of each.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::try_join_all;
use tantivy::schema::Field;
use tantivy_fst::Automaton;

use super::each_split::of_each_split;
use super::lists::load_dictionary;
use super::rare_words::{RareWordSearch, add_rare_words};
use super::rerun::rerun_on_gaps;
use super::scan::ScanBudget;
use super::warmup::Shared;
use crate::SearchError;
use crate::exchange::{Exchange, Interrupt};
use crate::limits::Limits;
use crate::query::{Needs, QueryNode, TermAutomaton, start_of_texts};
use crate::split::{HeadSource, OpenSplit, SearchedIndex};

/// Maximum number of terms of one split for one word; those behind them are left out.
const MAX_TERMS: usize = 10_000;

/// Numbers of documents by term.
pub(crate) type TermCounts = BTreeMap<String, u64>;

/// A word, and the terms that are looked for.
#[derive(Clone, Debug)]
pub(crate) struct WantedTerms {
    pub(crate) field: String,
    /// A query whose automaton accepts them.
    pub(crate) query: QueryNode,
}

/// Returns the terms of splits of one index, for each of the wanted ones. Reads the blocks of dictionaries that may have
/// some, those of all splits and words at once.
///
/// # Errors
/// If a split cannot be read.
pub(crate) async fn near_terms(
    index: SearchedIndex,
    splits: Vec<HeadSource>,
    wanted: &[WantedTerms],
    limits: &Limits,
    exchange: &Exchange,
) -> Result<Vec<TermCounts>, SearchError> {
    let budget = ScanBudget::of_rare_words(limits.max_docs_scanned);
    let (interrupt, budget) = (&exchange.interrupt(), &budget);
    let lists = of_each_split(index, splits, exchange, |mut split| async move {
        let wanted = wanted
            .iter()
            .map(|wanted| OfSplit::new(&split, wanted, limits));
        let wanted = wanted.collect::<Result<Vec<_>, _>>()?;
        let mut needs = Needs::default();
        wanted
            .iter()
            .flatten()
            .for_each(|one| needs.add(one.needs.clone()));
        let search = RareWordSearch {
            budget,
            interrupt,
            warms_up: false,
        };
        add_rare_words(&mut split, &needs, &search).await?;
        let counts = wanted
            .iter()
            .map(|wanted| of_split(&split, wanted.as_ref(), interrupt));
        try_join_all(counts).await
    });
    let mut all: Vec<TermCounts> = wanted.iter().map(|_| TermCounts::new()).collect();
    for of_split in lists.await? {
        for (all, counts) in all.iter_mut().zip(of_split) {
            for (term, count) in counts {
                *all.entry(term).or_default() += count;
            }
        }
    }
    Ok(all)
}

/// What is looked for in one split.
struct OfSplit {
    /// Beginning of the terms of texts.
    start: Vec<u8>,
    needs: Needs,
}

impl OfSplit {
    /// Returns `None` if the split lacks the field.
    fn new(
        split: &OpenSplit,
        wanted: &WantedTerms,
        limits: &Limits,
    ) -> Result<Option<Self>, SearchError> {
        let Some(resolved) = split.mapper.resolve(&wanted.field) else {
            return Ok(None);
        };
        let start = start_of_texts(&resolved);
        let needs = split.build(&wanted.query, &[], false, limits)?.needs;
        Ok(Some(Self { start, needs }))
    }
}

async fn of_split(
    split: &OpenSplit,
    wanted: Option<&OfSplit>,
    interrupt: &Interrupt,
) -> Result<TermCounts, SearchError> {
    let Some(OfSplit { start, needs }) = wanted else {
        return Ok(TermCounts::new());
    };
    let mut counts = TermCounts::new();
    for (field, automaton, _) in &needs.automata {
        let found = match automaton {
            TermAutomaton::Near(near) => {
                let near = Shared(Arc::clone(near));
                let loaded = load_dictionary(split, *field, &near).await;
                loaded.map_err(|error| split.error(error))?;
                rerun_on_gaps(split, interrupt, || {
                    Ok(terms_of(split, *field, &near, start)?)
                })
                .await?
            }
            // Only words have near ones.
            _ => TermCounts::new(),
        };
        counts.extend(found);
    }
    Ok(counts)
}

fn terms_of<A>(
    split: &OpenSplit,
    field: Field,
    automaton: &A,
    start: &[u8],
) -> tantivy::Result<TermCounts>
where
    A: Automaton + Clone,
    A::State: Clone,
{
    let inverted_index = split.segment().inverted_index(field)?;
    let mut found = inverted_index
        .terms()
        .search(automaton.clone())
        .into_stream()?;
    let mut counts = TermCounts::new();
    while found.advance() && counts.len() < MAX_TERMS {
        let text = found.key().strip_prefix(start);
        let text = text.and_then(|text| std::str::from_utf8(text).ok());
        if let Some(text) = text {
            counts.insert(text.to_owned(), found.value().doc_freq.into());
        }
    }
    Ok(counts)
}
