//! Numbers of documents with certain words, over all splits: they decide which words are typical of a document.

use futures_util::future::{join_all, try_join_all};
use tantivy::Term;

use crate::SearchError;
use crate::exchange::Exchange;
use crate::leaf::reads::{RareWordSearch, ScanBudget, add_rare_words};
use crate::query::{Needs, word_term};
use crate::split::{HeadSource, Indexes, SearchedIndex, guarded};

/// Numbers of documents.
#[derive(Debug, Default)]
pub(crate) struct Frequencies {
    /// In all splits.
    pub(crate) num_docs: u64,
    /// With each of the words.
    pub(crate) with_word: Vec<u64>,
}

/// Counts the documents that have these words, each with its field.
///
/// # Errors
/// A split cannot be read: without it, other words would be chosen.
pub(crate) async fn count_words(
    splits: &[&HeadSource],
    indexes: &[SearchedIndex],
    words: &[(String, String)],
    exchange: &Exchange,
) -> Result<Frequencies, SearchError> {
    let indexes = Indexes::new(indexes, exchange);
    // Each word has few documents.
    let budget = ScanBudget::of_rare_words(u64::MAX);
    let interrupt = exchange.interrupt();
    let counts = splits.iter().map(|source| {
        let counting = async {
            let mut split = indexes.open((*source).clone()).await?;
            let terms = words.iter();
            let terms = terms.map(|(name, word)| word_term(&split.mapper, name, word));
            let terms: Vec<Option<Term>> = terms.collect();
            let mut needs = Needs::default();
            terms
                .iter()
                .flatten()
                .for_each(|term| needs.term(term, false));
            let search = RareWordSearch {
                budget: &budget,
                interrupt: &interrupt,
                warms_up: false,
            };
            add_rare_words(&mut split, &needs, &search).await?;
            let lookups = terms.iter().map(async |term| {
                let Some(term) = term else {
                    return Ok(0);
                };
                let info = split.terms.load(split.segment(), term).await;
                let info = info.map_err(|error| split.error(error))?;
                Ok::<_, SearchError>(info.map_or(0, |info| u64::from(info.doc_freq)))
            });
            let with_word = try_join_all(lookups).await?;
            Ok((u64::from(split.segment().max_doc()), with_word))
        };
        guarded(&source.entry.id, counting)
    });
    let mut all = Frequencies {
        num_docs: 0,
        with_word: vec![0; words.len()],
    };
    for counted in join_all(counts).await {
        let (num_docs, with_word) = counted?;
        all.num_docs += num_docs;
        for (sum, num) in all.with_word.iter_mut().zip(with_word) {
            *sum += num;
        }
    }
    Ok(all)
}
