//! Snippets: the passages of a hit's fields that match the query, with the matches marked. Those of Quickwit's API are cut
//! by tantivy, and those of Elasticsearch's as [`highlight`](super::highlight) says.

use std::collections::{BTreeMap, BTreeSet};

use canter_doc_mapper::{FieldKind, ResolvedField};
use tantivy::TantivyDocument;
use tantivy::schema::{Field, Value as _};
use tantivy::snippet::SnippetGenerator;

use super::elastic::{SOURCE_FIELD, own};
use super::highlight::Highlighters;
use crate::SearchError;
use crate::query::{BuiltQuery, QueryNode, text_in};
use crate::request::{Highlight, Question};
use crate::split::OpenSplit;

/// Maximum length of a passage, in characters.
const MAX_CHARS: usize = 150;

/// The passages of one hit by field, one for each value that matches: HTML, with the matches in `<b>` and
/// the rest escaped.
pub(super) type Snippets = BTreeMap<String, Vec<String>>;

/// Finds the passages of hits, split by split.
pub(super) struct Snippeter<'a> {
    question: &'a Question,
    /// The query, with the forced filters.
    query: &'a QueryNode,
    highlight: Option<&'a Highlight>,
    /// Generators of passages for the fields of documents, by split.
    generators: BTreeMap<u32, OfSplit<'a>>,
}

/// Generators of passages in the documents of one split.
struct OfSplit<'a> {
    /// Texts that are stored as such.
    stored: Vec<(String, Option<FieldSnippets>)>,
    /// Texts of documents as they were sent.
    sent: Option<Highlighters<'a>>,
}

/// Generator of passages in one field of one split.
struct FieldSnippets {
    field: Field,
    words: SnippetGenerator,
}

impl<'a> Snippeter<'a> {
    /// Returns `None` if the question asks for none.
    pub(super) fn of_question(question: &'a Question, query: &'a QueryNode) -> Option<Self> {
        let elastic = question.elastic.as_ref();
        let highlight = elastic.and_then(|elastic| elastic.highlight.as_ref());
        if question.snippet_fields.is_empty() && highlight.is_none() {
            return None;
        }
        Some(Self {
            question,
            query,
            highlight,
            generators: BTreeMap::new(),
        })
    }

    /// Returns the passages of one document of the split `split_ord`.
    ///
    /// # Errors
    /// If the query cannot be built for this split.
    pub(super) fn snippets(
        &mut self,
        split_ord: u32,
        split: &OpenSplit,
        document: &TantivyDocument,
    ) -> Result<Snippets, SearchError> {
        if !self.generators.contains_key(&split_ord) {
            let generators = self.of_split(split)?;
            self.generators.insert(split_ord, generators);
        }
        let Some(generators) = self.generators.get_mut(&split_ord) else {
            return Ok(Snippets::new());
        };
        let stored = generators.stored.iter();
        let mut snippets = canter_sorting::map_of(stored.map(|(name, snippets)| {
            let passages = snippets.as_ref();
            let passages = passages.map(|snippets| snippets.of(document));
            (name.clone(), passages.unwrap_or_default())
        }));
        if let Some(sent) = &mut generators.sent {
            let json = split.mapper.doc_to_json_text(document);
            let json = own(&json, SOURCE_FIELD).unwrap_or(&json);
            snippets.extend(sent.passages(split, json, self.question)?);
        }
        Ok(snippets)
    }

    fn of_split(&self, split: &OpenSplit) -> Result<OfSplit<'a>, SearchError> {
        let (fields, limits) = (&self.question.search_field, &self.question.limits);
        let built = split.build(self.query, fields, true, limits)?;
        let names = self.question.snippet_fields.iter();
        // Elasticsearch's passages are those of texts as they were sent.
        let names = names.filter(|_| self.highlight.is_none());
        let stored = names.map(|name| {
            let resolved = split.mapper.resolve(name);
            // Unmapped fields are not stored as texts, and absent ones are not stored at all.
            let resolved = resolved.filter(|field| !field.is_dynamic && !field.is_absent);
            let snippets = resolved.and_then(|field| FieldSnippets::new(&field, &built, split));
            (name.clone(), snippets)
        });
        let stored = stored.collect();
        let sent = self
            .highlight
            .map(|highlight| Highlighters::new(highlight, built));
        Ok(OfSplit { stored, sent })
    }
}

impl FieldSnippets {
    /// Returns `None` for a field without texts.
    fn new(field: &ResolvedField<'_>, built: &BuiltQuery, split: &OpenSplit) -> Option<Self> {
        let tokenizer = match field.kind {
            FieldKind::Text(text) => &text.tokenizer,
            FieldKind::Json(json) => &json.tokenizer,
            _ => return None,
        };
        let mut terms = BTreeSet::new();
        built.query.query_terms(&mut |term, _| {
            terms.extend(text_in(term, field).map(str::to_owned));
        });
        let tokenizer = split.mapper.tokenizers().get(tokenizer)?;
        // All terms weigh the same: the frequency of a term would cost a read.
        let terms = canter_sorting::map_of(terms.into_iter().map(|term| (term, 1.0)));
        Some(Self {
            field: field.field,
            words: SnippetGenerator::new(terms, tokenizer, field.field, MAX_CHARS),
        })
    }

    fn of(&self, document: &TantivyDocument) -> Vec<String> {
        let texts = document.get_all(self.field);
        let texts = texts.filter_map(|value| value.as_str());
        let snippets = texts.map(|text| self.words.snippet(text));
        let snippets = snippets.filter(|snippet| !snippet.is_empty());
        snippets.map(|snippet| snippet.to_html()).collect()
    }
}
