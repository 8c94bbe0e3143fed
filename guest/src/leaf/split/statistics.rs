//! BM25 statistics over all splits of a search, so that scores are comparable between splits.

use std::collections::BTreeMap;

use tantivy::Term;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::{Field, Schema};

use crate::split::OpenSplit;

/// Statistics of every term where the real ones must stay hidden: one of `HIDDEN_NUM_DOCS` documents has it, with
/// `HIDDEN_TOKENS_PER_DOC` tokens each.
const HIDDEN_NUM_DOCS: u64 = 1 << 20;
const HIDDEN_DOC_FREQ: u64 = 1;
const HIDDEN_TOKENS_PER_DOC: u64 = 16;

/// Document frequencies and token counts summed over splits.
///
/// Fields are identified by name: their numbers belong to a split's own schema, and splits of several indexes, or
/// from before a field was added, number them differently.
///
/// The frequency of a word and the length of texts depend on all documents. A caller with a forced filter could infer
/// hidden documents from the scores, so all words weigh the same for such a caller.
#[derive(Debug, Default)]
pub(in crate::leaf) struct Statistics {
    is_hidden: bool,
    num_docs: u64,
    fields: BTreeMap<String, OfField>,
}

/// Statistics of one field.
#[derive(Debug, Default)]
struct OfField {
    num_tokens: u64,
    /// Document frequencies by term, without the field's number.
    doc_freqs: BTreeMap<Vec<u8>, u64>,
}

impl Statistics {
    /// Creates empty statistics. With `is_hidden` they reveal nothing about any split.
    pub(in crate::leaf) fn new(is_hidden: bool) -> Self {
        Self {
            is_hidden,
            ..Self::default()
        }
    }

    /// Adds a split. Its dictionaries must be warmed up for these terms.
    pub(in crate::leaf) fn add<'a>(
        &mut self,
        split: &OpenSplit,
        terms: impl Iterator<Item = &'a Term>,
    ) -> tantivy::Result<()> {
        let segment = split.segment();
        self.num_docs += u64::from(segment.max_doc());
        let mut fields_seen = Vec::new();
        for term in terms {
            let inverted_index = segment.inverted_index(term.field())?;
            let name = segment.schema().get_field_name(term.field());
            let of_field = self.fields.entry(name.to_owned()).or_default();
            let doc_freqs = &mut of_field.doc_freqs;
            *doc_freqs
                .entry(term.serialized_value_bytes().to_vec())
                .or_default() += split
                .terms
                .get(segment, term)?
                .map_or(0, |info| u64::from(info.doc_freq));
            if !fields_seen.contains(&term.field()) {
                fields_seen.push(term.field());
                of_field.num_tokens += inverted_index.total_num_tokens();
            }
        }
        Ok(())
    }

    /// Returns the statistics in the form that a split's scorers use.
    pub(in crate::leaf) fn of_split<'a>(&'a self, split: &'a OpenSplit) -> SplitStatistics<'a> {
        SplitStatistics {
            all: self,
            schema: split.segment().schema(),
        }
    }
}

/// The statistics of all splits, by the field numbers of one.
pub(in crate::leaf) struct SplitStatistics<'a> {
    all: &'a Statistics,
    schema: &'a Schema,
}

impl SplitStatistics<'_> {
    fn of_field(&self, field: Field) -> Option<&OfField> {
        self.all.fields.get(self.schema.get_field_name(field))
    }
}

impl Bm25StatisticsProvider for SplitStatistics<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        Ok(match self.all.is_hidden {
            true => HIDDEN_NUM_DOCS * HIDDEN_TOKENS_PER_DOC,
            false => self.of_field(field).map_or(0, |field| field.num_tokens),
        })
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(match self.all.is_hidden {
            true => HIDDEN_NUM_DOCS,
            false => self.all.num_docs,
        })
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        if self.all.is_hidden {
            return Ok(HIDDEN_DOC_FREQ);
        }
        let field = self.of_field(term.field());
        let doc_freq = field.and_then(|field| field.doc_freqs.get(term.serialized_value_bytes()));
        Ok(doc_freq.copied().unwrap_or(0))
    }
}
