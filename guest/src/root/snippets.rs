//! Snippets: the passages of a hit's fields that match the query, with the matches marked.

use canter_names::matches_pattern;
use std::borrow::Cow;
use std::collections::BTreeMap;

use canter_doc_mapper::FieldKind;
use tantivy::TantivyDocument;
use tantivy::schema::Value as _;
use tantivy::snippet::{Snippet, SnippetGenerator};

use crate::SearchError;
use crate::query::{QueryNode, build_query};
use crate::request::{Highlight, Marks, Question};
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
    generators: BTreeMap<u32, Vec<(String, Option<FieldSnippets<'a>>)>>,
}

/// Generator of passages in one field of one split.
struct FieldSnippets<'a> {
    field: tantivy::schema::Field,
    generator: SnippetGenerator,
    /// Markers of matches, if not HTML.
    marks: Option<&'a Marks>,
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
            let generators = self.generators_of(split)?;
            self.generators.insert(split_ord, generators);
        }
        let generators = self.generators.get(&split_ord).into_iter().flatten();
        Ok(canter_sorting::map_of(generators.map(
            |(name, snippets)| {
                let passages = snippets.as_ref();
                let passages = passages.map(|snippets| snippets.of(document));
                (name.clone(), passages.unwrap_or_default())
            },
        )))
    }

    fn generators_of(
        &self,
        split: &OpenSplit,
    ) -> Result<Vec<(String, Option<FieldSnippets<'a>>)>, SearchError> {
        let (fields, limits) = (&self.question.search_field, &self.question.limits);
        let built = build_query(self.query, &split.mapper, fields, true, limits)?;
        Ok(self
            .names(split)
            .into_iter()
            .map(|(name, marks)| {
                let max_chars = marks.map_or(MAX_CHARS, |own| own.max_chars);
                let resolved = split.mapper.resolve(&name);
                // Unmapped fields are not stored as texts, and absent ones are not stored at all.
                let resolved = resolved.filter(|field| !field.is_dynamic && !field.is_absent);
                let field = resolved.map(|resolved| resolved.field);
                let snippets = field.and_then(|field| {
                    let mut terms = BTreeMap::new();
                    built.query.query_terms(&mut |term, _| {
                        let is_marked = term.field() == field
                            || marks.is_some_and(|marks| marks.marks_any_field);
                        if is_marked && let Some(text) = term.value().as_str() {
                            // All terms weigh the same: the frequency of a term would cost a read.
                            terms.insert(text.to_owned(), 1.0);
                        }
                    });
                    let tokenizer = split.searcher.index().tokenizer_for_field(field).ok()?;
                    let generator = SnippetGenerator::new(terms, tokenizer, field, max_chars);
                    Some(FieldSnippets {
                        field,
                        generator,
                        marks,
                    })
                });
                (name, snippets)
            })
            .collect())
    }

    /// Returns the fields whose passages are wanted.
    fn names(&self, split: &OpenSplit) -> Vec<(String, Option<&'a Marks>)> {
        let Some(highlight) = self.highlight else {
            let names = self.question.snippet_fields.iter();
            return names.map(|name| (name.clone(), None)).collect();
        };
        let fields = split.mapper.fields().into_iter();
        let texts = fields.filter(|field| {
            matches!(field.kind, FieldKind::Text(_)) && field.indexed && field.stored
        });
        let paths = texts.map(|field| field.fast_field_name());
        paths
            .filter_map(|path| {
                let mut fields = highlight.fields.iter();
                let (_, marks) = fields.find(|(pattern, _)| matches_pattern(pattern, &path))?;
                Some((path, Some(marks)))
            })
            .collect()
    }
}

impl FieldSnippets<'_> {
    fn of(&self, document: &TantivyDocument) -> Vec<String> {
        let texts = document.get_all(self.field);
        let texts = texts.filter_map(|value| value.as_str());
        let mut first = None;
        let mut passages = Vec::new();
        for text in texts {
            first = first.or(Some(text));
            let snippet = self.generator.snippet(text);
            if !snippet.is_empty() {
                passages.push(match self.marks {
                    Some(marks) => marked(&snippet, marks),
                    None => snippet.to_html(),
                });
            }
        }
        if let (true, Some(text), Some(marks)) = (passages.is_empty(), first, self.marks)
            && marks.max_chars_without_match > 0
        {
            let beginning = beginning_of(text, marks.max_chars_without_match);
            passages.push(escaped(beginning, marks).into_owned());
        }
        passages
    }
}

/// Returns at most this number of characters, up to the end of a word if there is one.
fn beginning_of(text: &str, max_chars: usize) -> &str {
    let Some((end, next)) = text.char_indices().nth(max_chars) else {
        return text;
    };
    let cut = text.get(..end).unwrap_or(text);
    let word = match next.is_whitespace() {
        true => None,
        false => cut.rsplit_once(char::is_whitespace),
    };
    word.map_or(cut, |(before, _)| before).trim_end()
}

/// Returns a part of a passage, escaped if the request says so: as Lucene's `SimpleHTMLEncoder` does.
fn escaped<'t>(text: &'t str, marks: &Marks) -> Cow<'t, str> {
    let is_special = |c: char| "\"&<>'/".contains(c);
    if !marks.escapes || !text.contains(is_special) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => escaped.push_str("&quot;"),
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\'' => escaped.push_str("&#x27;"),
            '/' => escaped.push_str("&#x2F;"),
            c => escaped.push(c),
        }
    }
    Cow::Owned(escaped)
}

/// Returns a passage with the request's tags around matches. As in Elasticsearch, only the encoder `html` escapes.
fn marked(snippet: &Snippet, marks: &Marks) -> String {
    let (text, (before, behind)) = (snippet.fragment(), &marks.tags);
    let mut marked = String::new();
    let mut done = 0;
    for range in snippet.highlighted() {
        let parts = (text.get(done..range.start), text.get(range.clone()));
        if let (Some(plain), Some(found)) = parts {
            let (plain, found) = (escaped(plain, marks), escaped(found, marks));
            marked.extend([&*plain, before, &*found, behind]);
            done = range.end;
        }
    }
    marked.push_str(&escaped(text.get(done..).unwrap_or_default(), marks));
    marked
}
