//! The terms of one field of one document, in memory that is reused for the next.

use std::ops::Range;

use canter_doc_mapper::{DocMapper, ScannedField, StoredDoc};
use tantivy::tokenizer::{TextAnalyzer, TokenStream};

/// The terms of one field of one document.
pub(crate) struct DocTerms {
    analyzer: Option<TextAnalyzer>,
    bytes: Vec<u8>,
    terms: Vec<(Range<usize>, u32)>,
    has_value: bool,
}

impl DocTerms {
    /// Creates an empty list.
    pub(crate) fn new(mapper: &DocMapper, field: &ScannedField) -> Self {
        Self::of(mapper.analyzer_of(field))
    }

    /// Creates an empty list of what an analyzer makes of texts.
    pub(crate) fn of(analyzer: Option<TextAnalyzer>) -> Self {
        Self {
            analyzer,
            bytes: Vec::new(),
            terms: Vec::new(),
            has_value: false,
        }
    }

    /// Replaces the list by the terms of a document.
    pub(crate) fn read(&mut self, mapper: &DocMapper, field: &ScannedField, doc: &StoredDoc<'_>) {
        self.replace(|analyzer, add| mapper.for_each_term(field, doc, analyzer, add));
        self.has_value = mapper.has_value(field, doc);
    }

    /// Replaces the list by the words of a text.
    pub(super) fn read_text(&mut self, text: &str) {
        self.replace(|analyzer, add| {
            let Some(analyzer) = analyzer else {
                return;
            };
            analyzer.token_stream(text).process(&mut |token| {
                let position = u32::try_from(token.position).unwrap_or(u32::MAX);
                add(token.text.as_bytes(), position);
            });
        });
        self.has_value = true;
    }

    /// Replaces the list by the terms that `fill` passes on.
    fn replace(
        &mut self,
        fill: impl FnOnce(Option<&mut TextAnalyzer>, &mut dyn FnMut(&[u8], u32)),
    ) {
        let (bytes, terms) = (&mut self.bytes, &mut self.terms);
        bytes.clear();
        terms.clear();
        fill(self.analyzer.as_mut(), &mut |term, position| {
            let start = bytes.len();
            bytes.extend_from_slice(term);
            terms.push((start..bytes.len(), position));
        });
    }

    /// Returns the terms of a text.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.iter()
            .filter_map(|(term, _)| str::from_utf8(term).ok())
    }

    /// Returns the terms with their positions.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], u32)> {
        let terms = self.terms.iter();
        terms.map(|(range, position)| {
            let term = self.bytes.get(range.clone()).unwrap_or_default();
            (term, *position)
        })
    }

    pub(super) fn has_value(&self) -> bool {
        self.has_value
    }
}
