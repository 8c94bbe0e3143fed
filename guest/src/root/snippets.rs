//! Snippets: the passages of a hit's fields that match the query, with the matches marked.

use canter_names::matches_pattern;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use canter_doc_mapper::tokenizers::{Letters, is_whole};
use canter_doc_mapper::{FieldKind, ResolvedField};
use tantivy::TantivyDocument;
use tantivy::schema::{Field, Value as _};
use tantivy::snippet::{Snippet, SnippetGenerator};

use super::elastic::{SOURCE_FIELD, fields_of, own};
use crate::SearchError;
use crate::query::{BuiltQuery, QueryNode, any_text, text_in};
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
    generators: BTreeMap<u32, OfSplit<'a>>,
}

/// Generators of passages in the documents of one split.
struct OfSplit<'a> {
    built: BuiltQuery,
    /// Texts that are stored as such.
    stored: Vec<(String, Option<FieldSnippets<'a>>)>,
    /// Other texts, by name: they are in the document as it was sent.
    sent: BTreeMap<String, Option<FieldSnippets<'a>>>,
}

/// Generator of passages in one field of one split.
struct FieldSnippets<'a> {
    field: Field,
    passages: Passages,
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
            let generators = self.of_split(split)?;
            self.generators.insert(split_ord, generators);
        }
        let highlight = self.highlight;
        let Some(generators) = self.generators.get_mut(&split_ord) else {
            return Ok(Snippets::new());
        };
        let stored = generators.stored.iter();
        let mut snippets = canter_sorting::map_of(stored.map(|(name, snippets)| {
            let passages = snippets.as_ref();
            let passages = passages.map(|snippets| snippets.of(document));
            (name.clone(), passages.unwrap_or_default())
        }));
        if let Some(highlight) = highlight {
            generators.add_sent(highlight, split, document, &mut snippets)?;
        }
        Ok(snippets)
    }

    fn of_split(&self, split: &OpenSplit) -> Result<OfSplit<'a>, SearchError> {
        let (fields, limits) = (&self.question.search_field, &self.question.limits);
        let built = split.build(self.query, fields, true, limits)?;
        let names = self.names(split).into_iter();
        let stored = names.map(|(name, marks)| {
            let resolved = split.mapper.resolve(&name);
            // Unmapped fields are not stored as texts, and absent ones are not stored at all.
            let resolved = resolved.filter(|field| !field.is_dynamic && !field.is_absent);
            let snippets =
                resolved.and_then(|field| FieldSnippets::new(&field, marks, &built, split));
            (name, snippets)
        });
        Ok(OfSplit {
            stored: stored.collect(),
            sent: BTreeMap::new(),
            built,
        })
    }

    /// Returns the fields whose passages are wanted.
    fn names(&self, split: &OpenSplit) -> Vec<(String, Option<&'a Marks>)> {
        let Some(highlight) = self.highlight else {
            let names = self.question.snippet_fields.iter();
            return names.map(|name| (name.clone(), None)).collect();
        };
        let fields = split.mapper.fields().into_iter();
        let texts = fields.filter(|field| {
            let is_text = matches!(field.kind, FieldKind::Text(_)) && field.view.is_none();
            is_text && field.indexed && field.stored
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

/// Generator of passages in a text.
enum Passages {
    /// Those with words of the query.
    Words(SnippetGenerator),
    /// The whole text, if it is one of these terms once its letters are as in terms.
    Whole(BTreeSet<String>, Letters),
}

impl<'a> OfSplit<'a> {
    /// Adds the passages of texts that are only in the document as it was sent: of fields that are not mapped, of whole
    /// values, and of others that are not stored by themselves.
    fn add_sent(
        &mut self,
        highlight: &'a Highlight,
        split: &OpenSplit,
        document: &TantivyDocument,
        snippets: &mut Snippets,
    ) -> Result<(), SearchError> {
        let mapper = &split.mapper;
        let names = highlight.fields.iter();
        let wanted: Vec<_> = names.map(|(name, _)| (name.clone(), None)).collect();
        let json = mapper.doc_to_json_text(document);
        let json = own(&json, SOURCE_FIELD).unwrap_or(&json);
        for (name, values) in fields_of(json, &wanted, mapper)? {
            if snippets.contains_key(&name) {
                continue;
            }
            let built = &self.built;
            let found = self.sent.entry(name.clone()).or_insert_with(|| {
                let mut fields = highlight.fields.iter();
                let (_, marks) = fields.find(|(pattern, _)| matches_pattern(pattern, &name))?;
                let field = mapper
                    .whole_values(&name)
                    .or_else(|| mapper.resolve(&name))?;
                FieldSnippets::new(&field, Some(marks), built, split)
            });
            if let Some(found) = found {
                let texts = values.as_array().into_iter().flatten();
                let passages = found.passages(texts.filter_map(|value| value.as_str()));
                snippets.insert(name, passages);
            }
        }
        Ok(())
    }
}

impl<'a> FieldSnippets<'a> {
    /// Returns `None` for a field without texts.
    fn new(
        field: &ResolvedField<'_>,
        marks: Option<&'a Marks>,
        built: &BuiltQuery,
        split: &OpenSplit,
    ) -> Option<Self> {
        let tokenizer = match field.kind {
            FieldKind::Text(text) => &text.tokenizer,
            FieldKind::Json(json) => &json.tokenizer,
            _ => return None,
        };
        let mut terms = BTreeSet::new();
        built.query.query_terms(&mut |term, _| {
            let of_field = text_in(term, field);
            let marks_any_field = marks.is_some_and(|marks| marks.marks_any_field);
            let of_any = || marks_any_field.then(|| any_text(term)).flatten();
            terms.extend(of_field.or_else(of_any).map(str::to_owned));
        });
        let passages = match is_whole(tokenizer) && marks.is_some() {
            true => Passages::Whole(terms, field.letters.clone()),
            false => {
                let tokenizer = split.mapper.tokenizers().get(tokenizer)?;
                let max_chars = marks.map_or(MAX_CHARS, |own| own.max_chars);
                // All terms weigh the same: the frequency of a term would cost a read.
                let terms = canter_sorting::map_of(terms.into_iter().map(|term| (term, 1.0)));
                let words = SnippetGenerator::new(terms, tokenizer, field.field, max_chars);
                Passages::Words(words)
            }
        };
        Some(Self {
            field: field.field,
            passages,
            marks,
        })
    }

    fn of(&self, document: &TantivyDocument) -> Vec<String> {
        let texts = document.get_all(self.field);
        self.passages(texts.filter_map(|value| value.as_str()))
    }

    fn passages<'t>(&self, texts: impl Iterator<Item = &'t str>) -> Vec<String> {
        let mut first = None;
        let mut passages = Vec::new();
        for text in texts {
            first = first.or(Some(text));
            passages.extend(self.passage(text));
        }
        if let (true, Some(text), Some(marks)) = (passages.is_empty(), first, self.marks)
            && marks.max_chars_without_match > 0
        {
            let beginning = beginning_of(text, marks.max_chars_without_match);
            passages.push(escaped(beginning, marks).into_owned());
        }
        passages
    }

    fn passage(&self, text: &str) -> Option<String> {
        match (&self.passages, self.marks) {
            (Passages::Words(words), marks) => {
                let snippet = words.snippet(text);
                let shown = || match marks {
                    Some(marks) => marked(&snippet, marks),
                    None => snippet.to_html(),
                };
                (!snippet.is_empty()).then(shown)
            }
            (Passages::Whole(terms, letters), Some(marks)) => {
                let (before, behind) = &marks.tags;
                let is_found = terms.contains(&letters.apply(text));
                is_found.then(|| format!("{before}{}{behind}", escaped(text, marks)))
            }
            (Passages::Whole(..), None) => None,
        }
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
