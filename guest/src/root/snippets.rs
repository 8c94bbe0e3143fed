//! Snippets: the passages of a hit's fields that match the query, with the matches marked.

use std::collections::BTreeMap;

use tantivy::TantivyDocument;
use tantivy::schema::Value as _;
use tantivy::snippet::SnippetGenerator;
use tantivy_query_grammar::UserInputAst;

use crate::SearchError;
use crate::query::build_query;
use crate::request::{Limits, SearchRequest};
use crate::split::OpenSplit;

/// Longest passage, in characters.
const MAX_CHARS: usize = 150;

/// The passages of one hit by field, one for each value that matches: HTML, with the matches in `<b>` and
/// the rest escaped.
pub(super) type Snippets = BTreeMap<String, Vec<String>>;

/// Finds the passages of hits, split by split.
pub(super) struct Snippeter<'a> {
    request: &'a SearchRequest,
    limits: &'a Limits,
    ast: UserInputAst,
    /// By split: what finds passages in the fields of its documents.
    generators: BTreeMap<u32, Vec<(&'a str, Option<FieldSnippets>)>>,
}

/// What finds passages in one field of one split.
struct FieldSnippets {
    field: tantivy::schema::Field,
    generator: SnippetGenerator,
}

impl<'a> Snippeter<'a> {
    /// `None` if the request wants none.
    ///
    /// # Errors
    /// If the query cannot be parsed.
    pub(super) fn of_request(
        request: &'a SearchRequest,
        limits: &'a Limits,
    ) -> Result<Option<Self>, SearchError> {
        if request.snippet_fields.is_empty() {
            return Ok(None);
        }
        Ok(Some(Self {
            request,
            limits,
            ast: request.parsed_query(limits)?,
            generators: BTreeMap::new(),
        }))
    }

    /// The passages of one document of the split `split_ord`.
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
            let generators = self.generators_of(split)?;
            self.generators.insert(split_ord, generators);
        }
        let generators = self.generators.get(&split_ord).into_iter().flatten();
        Ok(generators
            .map(|(name, snippets)| {
                let passages = snippets.as_ref().map(|snippets| snippets.of(document));
                ((*name).to_owned(), passages.unwrap_or_default())
            })
            .collect())
    }

    fn generators_of(
        &self,
        split: &OpenSplit,
    ) -> Result<Vec<(&'a str, Option<FieldSnippets>)>, SearchError> {
        let search_fields = &self.request.search_field;
        let built = build_query(&self.ast, &split.mapper, search_fields, true, self.limits)?;
        let names = self.request.snippet_fields.iter();
        Ok(names
            .map(|name| {
                let resolved = split.mapper.resolve(name);
                // Unmapped fields are not stored as texts, and absent ones not at all.
                let resolved = resolved.filter(|field| !field.is_dynamic && !field.is_absent);
                let field = resolved.map(|resolved| resolved.field);
                let snippets = field.and_then(|field| {
                    let mut terms = BTreeMap::new();
                    built.query.query_terms(&mut |term, _| {
                        if term.field() == field
                            && let Some(text) = term.value().as_str()
                        {
                            // All weigh the same: how rare a term is would have to be read.
                            terms.insert(text.to_owned(), 1.0);
                        }
                    });
                    let tokenizer = split.searcher.index().tokenizer_for_field(field).ok()?;
                    let generator = SnippetGenerator::new(terms, tokenizer, field, MAX_CHARS);
                    Some(FieldSnippets { field, generator })
                });
                (name.as_str(), snippets)
            })
            .collect())
    }
}

impl FieldSnippets {
    fn of(&self, document: &TantivyDocument) -> Vec<String> {
        let texts = document.get_all(self.field);
        let texts = texts.filter_map(|value| value.as_str());
        let snippets = texts.map(|text| self.generator.snippet(text));
        snippets
            .filter(|snippet| !snippet.is_empty())
            .map(|snippet| snippet.to_html())
            .collect()
    }
}
