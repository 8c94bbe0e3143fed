//! BM25 statistics over all splits of a search, so that a score means the same in each of them.

use std::collections::BTreeMap;

use tantivy::Term;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::Field;

use crate::split::OpenSplit;

/// Document frequencies and token counts summed over splits.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    num_docs: u64,
    doc_freqs: BTreeMap<Term, u64>,
    num_tokens: BTreeMap<Field, u64>,
}

impl Statistics {
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
        Ok(self.num_tokens.get(&field).copied().unwrap_or(0))
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.num_docs)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        Ok(self.doc_freqs.get(term).copied().unwrap_or(0))
    }
}
