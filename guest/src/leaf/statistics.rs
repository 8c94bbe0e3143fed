//! BM25 statistics over all splits of a search, so that a score means the same in each of them.

use std::collections::BTreeMap;

use tantivy::Term;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::Field;

use crate::split::OpenSplit;

/// What every term has where statistics may not be told: it is in one document of so many, which have so many tokens each.
const HIDDEN_NUM_DOCS: u64 = 1 << 20;
const HIDDEN_DOC_FREQ: u64 = 1;
const HIDDEN_TOKENS_PER_DOC: u64 = 16;

/// Document frequencies and token counts summed over splits.
///
/// How rare a word is and how long texts are depends on all documents. Who may see a part of them only could read it off
/// the scores, so that under a forced filter all words count alike.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    is_hidden: bool,
    num_docs: u64,
    doc_freqs: BTreeMap<Term, u64>,
    num_tokens: BTreeMap<Field, u64>,
}

impl Statistics {
    /// Of no split yet. With `is_hidden` they tell nothing of any.
    pub(super) fn new(is_hidden: bool) -> Self {
        Self {
            is_hidden,
            ..Self::default()
        }
    }

    /// Adds a split. Its dictionaries must have been warmed up for these terms.
    pub(super) fn add<'a>(
        &mut self,
        split: &OpenSplit,
        terms: impl Iterator<Item = &'a Term>,
    ) -> tantivy::Result<()> {
        let segment = split.segment();
        self.num_docs += u64::from(segment.max_doc());
        let mut fields_seen = Vec::new();
        for term in terms {
            let inverted_index = segment.inverted_index(term.field())?;
            *self.doc_freqs.entry(term.clone()).or_default() +=
                u64::from(inverted_index.doc_freq(term)?);
            if !fields_seen.contains(&term.field()) {
                fields_seen.push(term.field());
                *self.num_tokens.entry(term.field()).or_default() +=
                    inverted_index.total_num_tokens();
            }
        }
        Ok(())
    }
}

impl Bm25StatisticsProvider for Statistics {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        Ok(match self.is_hidden {
            true => HIDDEN_NUM_DOCS * HIDDEN_TOKENS_PER_DOC,
            false => self.num_tokens.get(&field).copied().unwrap_or(0),
        })
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(match self.is_hidden {
            true => HIDDEN_NUM_DOCS,
            false => self.num_docs,
        })
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        Ok(match self.is_hidden {
            true => HIDDEN_DOC_FREQ,
            false => self.doc_freqs.get(term).copied().unwrap_or(0),
        })
    }
}
