//! `suggest` with `term`: terms of the dictionaries that are near the words of a text. Scores are those of Lucene's spell
//! checker.

use std::collections::BTreeMap;

use canter_aggregations::check_name;
use canter_doc_mapper::tokenizers::is_whole;
use canter_doc_mapper::{DocMapper, FieldKind};
use futures_util::future::join_all;
use serde_json::{Map, Value, json};

use super::near::similarity;
use super::options::Options;
use crate::SearchError;
use crate::api::elastic::about::fields::mapper_of;
use crate::api::elastic::given::body::wrong;
use crate::exchange::Exchange;
use crate::leaf::{TermCounts, WantedTerms, near_terms};
use crate::plan::{plan_search, read_manifest_if_there};
use crate::query::QueryNode;
use crate::request::{AskedIndexes, GivenQuery, Question};

/// Maximum number of words of a text.
const MAX_WORDS: usize = 100;

/// Maximum number of options for a word.
const MAX_SIZE: u64 = 1_000;

/// Lowest score of an option, as a rule of Lucene's.
const ACCURACY: f64 = 0.5;

/// A suggestion by terms.
#[derive(Clone, Debug)]
pub(super) struct Suggestion {
    name: String,
    text: String,
    field: String,
    analyzer: Option<String>,
    size: usize,
    mode: Mode,
    by_frequency: bool,
    max_edits: u64,
    prefix_len: u64,
    min_word_len: usize,
    /// Minimum number of documents of an option, or share of all documents below 1.
    min_doc_freq: f64,
    /// Number of documents of a word above which nothing is suggested, or share of all documents below 1.
    max_term_freq: f64,
}

/// The words for which something is suggested.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    /// Those that no document has.
    Missing,
    /// Those for which there is one that more documents have.
    Popular,
    Always,
}

/// A word of a text.
struct Word {
    text: String,
    /// Its place in the text, in UTF-16 units.
    offset: usize,
    len: usize,
}

/// Reads the options of `term`.
///
/// # Errors
/// If one is unknown or invalid.
pub(super) fn read_suggestion(
    name: String,
    text: Option<String>,
    mut options: Options,
    text_of_all: Option<&str>,
) -> Result<Suggestion, SearchError> {
    let field = options.text("field")?;
    let field =
        field.ok_or_else(|| wrong(&options.path, "the required field option is missing"))?;
    check_name(&options.path, &field)?;
    let own_text = options.text("text")?;
    let text = text.or(own_text).or_else(|| text_of_all.map(str::to_owned));
    let text = text.ok_or_else(|| wrong(&options.path, "there is no text"))?;
    let modes = ["missing", "popular", "always"];
    let mode = match options.choice("suggest_mode", &modes)? {
        0 => Mode::Missing,
        1 => Mode::Popular,
        _ => Mode::Always,
    };
    let size = options.count("size", 5, MAX_SIZE)?;
    let suggestion = Suggestion {
        name,
        text,
        field,
        analyzer: options.text("analyzer")?,
        size: usize::try_from(size).unwrap_or(usize::MAX),
        mode,
        by_frequency: options.choice("sort", &["score", "frequency"])? == 1,
        max_edits: options.count("max_edits", 2, 2)?.max(1),
        prefix_len: options.count("prefix_length", 1, 1_000)?,
        min_word_len: usize::try_from(options.count("min_word_length", 4, 1_000)?).unwrap_or(4),
        min_doc_freq: options.number("min_doc_freq", 0.0)?,
        max_term_freq: options.number("max_term_freq", 0.01)?,
    };
    // All terms near a word are looked at, in all splits, and compared in one way.
    options.count("shard_size", 0, u64::MAX)?;
    options.count("max_inspections", 0, u64::MAX)?;
    options.choice(
        "string_distance",
        &["internal", "damerau_levenshtein", "levenshtein"],
    )?;
    options.finish(
        "analyzer, field, max_edits, max_inspections, max_term_freq, min_doc_freq, min_word_length, prefix_length, \
         shard_size, size, sort, string_distance, suggest_mode, text",
    )?;
    Ok(suggestion)
}

/// What one index has for the words of all suggestions.
struct OfIndex {
    /// The words of each suggestion; `None` if the index has no such field.
    words: Vec<Option<Vec<Word>>>,
    /// The terms near each word, by suggestion and word.
    counts: Vec<((usize, usize), TermCounts)>,
    num_docs: u64,
}

/// Returns the suggestions by their names. Reads all indexes at once.
///
/// # Errors
/// If an index cannot be read, or a field has no words.
pub(super) async fn suggest_terms(
    suggestions: &[Suggestion],
    of: &Question,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<Map<String, Value>, SearchError> {
    let found = indexes.names.iter();
    let found = found.map(|name| of_index(name, suggestions, of, exchange));
    let found = join_all(found).await;
    let mut words: Vec<Option<Vec<Word>>> = suggestions.iter().map(|_| None).collect();
    let mut counts: BTreeMap<(usize, usize), TermCounts> = BTreeMap::new();
    let mut num_docs = 0;
    for found in found {
        let Some(found) = found? else {
            continue;
        };
        num_docs += found.num_docs;
        for (words, own) in words.iter_mut().zip(found.words) {
            // Another index may divide the text in another way; the first one counts.
            *words = words.take().or(own);
        }
        for (place, terms) in found.counts {
            let all = counts.entry(place).or_default();
            for (term, count) in terms {
                *all.entry(term).or_default() += count;
            }
        }
    }
    let shown = of.elastic.as_ref();
    let has_typed_keys = shown.is_some_and(|shown| shown.has_typed_keys);
    let nothing = TermCounts::new();
    let mut answer = Map::new();
    for (place, (suggestion, words)) in suggestions.iter().zip(words).enumerate() {
        let words = words.unwrap_or_default();
        let entries = words.iter().enumerate().map(|(nth, word)| {
            let counts = counts.get(&(place, nth)).unwrap_or(&nothing);
            suggestion.entry(word, counts, num_docs)
        });
        let name = match has_typed_keys {
            true => format!("term#{}", suggestion.name),
            false => suggestion.name.clone(),
        };
        answer.insert(name, entries.collect());
    }
    Ok(answer)
}

/// Returns what an index has; `None` if there is no such index.
async fn of_index(
    name: &str,
    suggestions: &[Suggestion],
    of: &Question,
    exchange: &Exchange,
) -> Result<Option<OfIndex>, SearchError> {
    let exchange = exchange.of_index(name);
    // The search reports an index that is not there, unless it may be absent.
    let Some(file) = read_manifest_if_there(&exchange, &of.limits).await? else {
        return Ok(None);
    };
    let mapper = mapper_of(&file.manifest.index_config)?;
    let words = suggestions
        .iter()
        .map(|suggestion| suggestion.words(&mapper));
    let words = words.collect::<Result<Vec<_>, _>>()?;
    let (mut wanted, mut places) = (Vec::new(), Vec::new());
    for (place, (suggestion, words)) in suggestions.iter().zip(&words).enumerate() {
        for (nth, word) in words.iter().flatten().enumerate() {
            places.push((place, nth));
            wanted.push(WantedTerms {
                field: suggestion.field.clone(),
                query: suggestion.near(&word.text, of)?,
            });
        }
    }
    let mut found = OfIndex {
        words,
        counts: Vec::new(),
        num_docs: 0,
    };
    let Some(first) = wanted.first() else {
        return Ok(Some(found));
    };
    // Nothing tells before a split is opened whether it has a term near a word, so these are all splits.
    let question = Question {
        query: first.query.clone(),
        max_hits: 1,
        aggregations: None,
        ..of.clone()
    };
    let plan = plan_search(file, &question, &exchange).await?;
    let splits = plan.splits.iter();
    found.num_docs = splits.map(|split| split.source.entry.num_docs).sum();
    if let Some(index) = plan.indexes.into_iter().next() {
        let sources = plan.splits.into_iter().map(|split| split.source).collect();
        let terms = near_terms(index, sources, &wanted, &of.limits, &exchange).await?;
        found.counts = places.into_iter().zip(terms).collect();
    }
    Ok(Some(found))
}

impl Suggestion {
    /// Returns the words of the text; `None` if the index has no such field.
    fn words(&self, mapper: &DocMapper) -> Result<Option<Vec<Word>>, SearchError> {
        let Some(field) = mapper.resolve(&self.field) else {
            return Ok(None);
        };
        let tokenizer = match field.kind {
            FieldKind::Text(text) => &text.tokenizer,
            FieldKind::Json(json) => &json.tokenizer,
            _ => {
                let what = format!("the field {:?} has no words", self.field);
                return Err(wrong("suggest", what));
            }
        };
        // The words of a field of whole values are those that people write.
        let default = if is_whole(tokenizer) {
            "default"
        } else {
            tokenizer
        };
        let name = self.analyzer.as_deref().unwrap_or(default);
        let analyzer = mapper.tokenizers().get(name);
        let mut analyzer = analyzer
            .ok_or_else(|| wrong("suggest", format!("failed to find analyzer [{name}]")))?;
        let mut words = Vec::new();
        let mut tokens = analyzer.token_stream(&self.text);
        let utf16 = |end: usize| {
            let before = self.text.get(..end).unwrap_or_default();
            before.encode_utf16().count()
        };
        while tokens.advance() {
            let token = tokens.token();
            let offset = utf16(token.offset_from);
            words.push(Word {
                text: token.text.clone(),
                offset,
                len: utf16(token.offset_to) - offset,
            });
            if words.len() > MAX_WORDS {
                return Err(wrong(
                    "suggest",
                    format!("a text has at most {MAX_WORDS} words"),
                ));
            }
        }
        Ok(Some(words))
    }

    /// Returns the query for the terms near a word, itself included.
    fn near(&self, word: &str, of: &Question) -> Result<QueryNode, SearchError> {
        let query = json!({"fuzzy": {&self.field: {
            "value": word, "fuzziness": self.max_edits, "prefix_length": self.prefix_len,
            "transpositions": true,
        }}});
        GivenQuery::of(&query)?.parse(None, &of.limits)
    }

    /// Returns what is suggested for a word.
    fn entry(&self, word: &Word, counts: &TermCounts, num_docs: u64) -> Value {
        let own = counts.get(&word.text).copied().unwrap_or(0);
        let mut options: Vec<(f64, u64, &str)> = Vec::new();
        if self.is_for(word, own, num_docs) {
            let least = threshold(self.min_doc_freq, num_docs);
            let near = counts.iter().filter(|(term, count)| {
                let is_better = self.mode != Mode::Popular || **count > own;
                **term != word.text && is_better && float(**count) >= least
            });
            options.extend(near.filter_map(|(term, count)| {
                let score = similarity(&word.text, term);
                (score >= ACCURACY).then_some((score, *count, term.as_str()))
            }));
        }
        canter_sorting::sort_by(&mut options, |left, right| {
            let by_score = right.0.total_cmp(&left.0);
            let by_count = right.1.cmp(&left.1);
            let first = match self.by_frequency {
                true => by_count.then(by_score),
                false => by_score.then(by_count),
            };
            first.then_with(|| left.2.cmp(right.2))
        });
        let options = options.into_iter().take(self.size);
        let options = options
            .map(|(score, count, term)| json!({"text": term, "score": score, "freq": count}));
        json!({
            "text": word.text,
            "offset": word.offset,
            "length": word.len,
            "options": options.collect::<Vec<Value>>(),
        })
    }

    /// Returns whether something is suggested for a word that this number of documents has.
    fn is_for(&self, word: &Word, own: u64, num_docs: u64) -> bool {
        let is_long = word.text.chars().count() >= self.min_word_len;
        let is_common = float(own) > threshold(self.max_term_freq, num_docs);
        match self.mode {
            Mode::Missing => is_long && own == 0,
            Mode::Popular => is_long && !is_common,
            Mode::Always => is_long,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "it is compared with a share")]
fn float(number: u64) -> f64 {
    number as f64
}

/// Returns a number of documents that may be given as a share of all.
fn threshold(given: f64, num_docs: u64) -> f64 {
    match given < 1.0 {
        true => given * float(num_docs),
        false => given,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_say_for_which_words_something_is_suggested() {
        let given = |mode: &str, by: &str| {
            let given = json!({"field": "f", "suggest_mode": mode, "sort": by, "size": 2});
            let options = Options {
                path: "suggest.s.term".to_owned(),
                given: given.as_object().unwrap().clone(),
            };
            read_suggestion("s".to_owned(), Some("word".to_owned()), options, None).unwrap()
        };
        let word = Word {
            text: "word".to_owned(),
            offset: 0,
            len: 4,
        };
        let counts = |own: u64| -> TermCounts {
            let mut counts: TermCounts = [("ward", 5), ("words", 9), ("wxyd", 1), ("sword", 2)]
                .map(|(term, count)| (term.to_owned(), count))
                .into();
            counts.insert("word".to_owned(), own);
            counts
        };
        let check = |mode: &str, by: &str, own: u64, expected: &[&str]| {
            let entry = given(mode, by).entry(&word, &counts(own), 10_000);
            let options = entry["options"].as_array().unwrap();
            let texts: Vec<&str> = options
                .iter()
                .map(|option| option["text"].as_str().unwrap())
                .collect();
            assert_eq!(texts, expected, "{mode} {by} {own}");
        };
        check("missing", "score", 7, &[]);
        check("missing", "score", 0, &["words", "ward"]);
        check("always", "frequency", 7, &["words", "ward"]);
        check("popular", "score", 7, &["words"]);
        check("popular", "score", 2, &["words", "ward"]);
    }
}
