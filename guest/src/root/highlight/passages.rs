//! The passages of the values of one field.

use std::ops::Range;

use canter_doc_mapper::{DocMapper, ResolvedField};

use super::cut::passages;
use super::mark::{beginning_of, escaped, marked};
use super::score::Scores;
use super::words::{Match, Words};
use crate::query::BuiltQuery;
use crate::request::{Fragmenter, Marks};
use crate::{ErrorKind, SearchError};

/// Shows passages of one field.
pub(in crate::root) struct Highlighter<'a> {
    /// Those of the field, and of others in which the query may look for other words of the same text.
    words: Vec<Words>,
    marks: &'a Marks,
}

/// A passage: the value it is in, its place in that, and its score.
struct Found {
    value: usize,
    passage: Range<usize>,
    score: f64,
}

impl<'a> Highlighter<'a> {
    /// Returns `None` for a field without texts. `built` is the query whose words are marked.
    pub(in crate::root) fn new(
        field: &ResolvedField<'_>,
        marks: &'a Marks,
        built: &BuiltQuery,
        mapper: &DocMapper,
    ) -> Option<Self> {
        let own = Words::new(field, marks.marks_any_field, built, mapper)?;
        let others = marks.matched_fields.iter().filter_map(|name| {
            let field = mapper.whole_values(name).or_else(|| mapper.resolve(name))?;
            Words::new(&field, marks.marks_any_field, built, mapper)
        });
        Some(Self {
            words: std::iter::once(own).chain(others).collect(),
            marks,
        })
    }

    /// Checks that the texts of a document are no longer than the index allows.
    ///
    /// # Errors
    /// If one is, and the request says nothing of it.
    pub(in crate::root) fn check_lengths(
        &self,
        name: &str,
        texts: &[&str],
        mapper: &DocMapper,
    ) -> Result<(), SearchError> {
        let settings = mapper.search_settings();
        let Some(max) = settings.max_analyzed_offset else {
            return Ok(());
        };
        let has_offsets = settings.fields_with_offsets.iter().any(|own| own == name);
        let is_limited = match self.marks.fragmenter {
            Fragmenter::Plain => true,
            Fragmenter::Unified => !has_offsets,
            Fragmenter::Vectors => false,
        };
        let limit = usize::try_from(max).unwrap_or(usize::MAX);
        let is_too_long = |text: &&str| text.chars().count() > limit;
        match is_limited && self.marks.max_analyzed.is_none() && texts.iter().any(is_too_long) {
            true => Err(SearchError::new(
                ErrorKind::Limit,
                format!(
                    "The length of [{name}] field of a document has exceeded [{max}] - maximum allowed to be analyzed for \
                     highlighting. This maximum can be set by changing the [index.highlight.max_analyzed_offset] index \
                     level setting; max_analyzed_offset of the request marks the beginning only"
                ),
            )),
            false => Ok(()),
        }
    }

    /// Returns the passages of the values of a document.
    pub(in crate::root) fn passages(&self, values: &[&str]) -> Vec<String> {
        let marks = self.marks;
        let Some(own) = self.words.first() else {
            return Vec::new();
        };
        let values: Vec<&str> = values.iter().map(|value| self.shown(value)).collect();
        let matches: Vec<Vec<Match>> = values.iter().map(|value| self.find(value)).collect();
        let len = values.iter().map(|value| value.len()).sum();
        let scores = Scores::new(len, matches.iter().flatten());
        let mut found = Vec::new();
        let mut start = 0;
        for (value, (text, matches)) in values.iter().zip(&matches).enumerate() {
            if !matches.is_empty() {
                let passages = match own.are_whole() {
                    true => std::iter::once(0..text.len()).collect(),
                    false => {
                        let ends = match marks.fragmenter {
                            Fragmenter::Plain => own.ends(text, self.end(text)),
                            Fragmenter::Unified | Fragmenter::Vectors => Vec::new(),
                        };
                        passages(text, matches, &ends, marks)
                    }
                };
                found.extend(passages.into_iter().map(|passage| Found {
                    value,
                    score: scores.of(start, &passage, matches),
                    passage,
                }));
            }
            start += text.len();
        }
        if found.is_empty() {
            return self.beginning(&values);
        }
        self.choose(&mut found);
        let shown = found.into_iter().filter_map(|found| {
            let (text, matches) = (values.get(found.value)?, matches.get(found.value)?);
            Some(marked(text, found.passage, matches, marks))
        });
        shown.collect()
    }

    /// Leaves the best passages, in their order.
    fn choose(&self, found: &mut Vec<Found>) {
        let marks = self.marks;
        if marks.num_passages > 0 {
            canter_sorting::sort_by(found, |left, right| right.score.total_cmp(&left.score));
            found.truncate(marks.num_passages);
        }
        if !marks.by_score {
            canter_sorting::sort_by(found, |left, right| {
                let place = |found: &Found| (found.value, found.passage.start);
                place(left).cmp(&place(right))
            });
        }
    }

    /// Returns the beginning of the first value, if the request wants it where nothing matches.
    fn beginning(&self, values: &[&str]) -> Vec<String> {
        let (marks, first) = (self.marks, values.first());
        let wanted = first.filter(|_| marks.max_chars_without_match > 0);
        let shown = wanted.map(|text| {
            let beginning = beginning_of(text, marks.max_chars_without_match);
            escaped(beginning, marks).into_owned()
        });
        shown.into_iter().collect()
    }

    /// Returns the part of a value that passages may show.
    fn shown<'t>(&self, text: &'t str) -> &'t str {
        match self.marks.fragmenter {
            Fragmenter::Plain => text.get(..self.end(text)).unwrap_or(text),
            Fragmenter::Unified | Fragmenter::Vectors => text,
        }
    }

    /// Returns the end of the part of a text that is looked at, in bytes.
    fn end(&self, text: &str) -> usize {
        let most = self.marks.max_analyzed;
        let cut = most.and_then(|most| text.char_indices().nth(most));
        cut.map_or(text.len(), |(at, _)| at)
    }

    /// Returns the words of a text that the query looks for, in order, without those inside of others.
    fn find(&self, text: &str) -> Vec<Match> {
        let end = self.end(text);
        let mut matches: Vec<Match> = Vec::new();
        for words in &self.words {
            matches.extend(words.find(text, end));
        }
        canter_sorting::sort_by(&mut matches, |left, right| {
            let place = |found: &Match| (found.range.start, std::cmp::Reverse(found.range.end));
            place(left).cmp(&place(right))
        });
        let mut done = 0;
        matches.retain(|found| {
            let is_new = found.range.end > done;
            done = done.max(found.range.end);
            is_new
        });
        matches
    }
}
