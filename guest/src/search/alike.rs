//! Words that are typical of texts and documents (`more_like_this`), chosen before a search is planned.
//!
//! The numbers of documents with a word are those of all splits, whatever the search looks at, so that the words are the
//! same for every division of the documents and on every host.

use std::collections::BTreeMap;

use canter_doc_mapper::{DocMapper, IndexConfig};
use serde_json::{Map, Value};

use super::planning::{Planned, exchange_of, make_plan, plan_all};
use super::whole::carry_out;
use crate::exchange::Exchange;
use crate::leaf::{Frequencies, count_words};
use crate::plan::SearchPlan;
use crate::query::{Alike, Example, QueryNode, TypicalWord, no_words, words_in};
use crate::request::{AskedIndexes, Question};
use crate::{ErrorKind, SearchError};

/// Maximum number of different words of the examples.
const MAX_WORDS: usize = 1 << 16;

/// Fields with their words, each with its number of occurrences.
type Occurrences = BTreeMap<String, BTreeMap<String, u32>>;

/// Returns the question with words in place of conditions that look for typical ones; `None` if there are none.
///
/// # Errors
/// A field has no words, or a split or document cannot be read.
pub(super) async fn with_typical_words(
    question: &Question,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<Option<Question>, SearchError> {
    let filters = question.forced_filter.iter().flatten();
    let of_aggregations = question
        .aggregations
        .iter()
        .flat_map(|asked| asked.queries());
    let mut others = filters
        .chain(&question.named)
        .chain(of_aggregations.map(|(_, query)| query));
    if others.any(QueryNode::has_alike) {
        return Err(SearchError::invalid(
            "more_like_this is for the query only: not for filters of aggregations, post_filter and named clauses",
        ));
    }
    if !question.query.has_alike() {
        return Ok(None);
    }
    let plan = plan_of_all(question, indexes, exchange).await?;
    let search = Search {
        question,
        indexes,
        exchange,
        mappers: mappers_of(&plan)?,
        plan,
    };
    let mut chosen = question.clone();
    let mut conditions = Vec::new();
    chosen.query.find_alike(&mut conditions);
    for node in conditions {
        if let Some(alike) = node.alike().cloned() {
            let words = search.choose(&alike).await?;
            *node = alike.with_words(words);
        }
    }
    Ok(Some(chosen))
}

/// Plans a look at every split.
pub(super) async fn plan_of_all(
    question: &Question,
    indexes: &AskedIndexes,
    exchange: &Exchange,
) -> Result<SearchPlan, SearchError> {
    let all = Question {
        pinned: question.pinned.clone(),
        max_hits: 0,
        // Every split is planned.
        list_documents: true,
        ..Question::of_all(None, question.limits.clone(), question.form)
    };
    let (mut plan, _) = plan_all(&all, indexes, exchange).await?;
    plan.finish(&all)?;
    Ok(plan)
}

/// Returns the compiled configs of a plan's indexes.
pub(super) fn mappers_of(plan: &SearchPlan) -> Result<Vec<DocMapper>, SearchError> {
    let compiled = plan.indexes.iter().map(|index| {
        let invalid = |error: String| SearchError::data(format!("manifest: index config: {error}"));
        let config: IndexConfig = serde_json::from_value(index.config.clone())
            .map_err(|error| invalid(error.to_string()))?;
        let mapper = DocMapper::new(&config).map_err(|error| invalid(error.to_string()))?;
        Ok(mapper.named(index.name()))
    });
    compiled.collect()
}

/// A search whose words are chosen.
struct Search<'s> {
    question: &'s Question,
    indexes: &'s AskedIndexes,
    exchange: &'s Exchange,
    mappers: Vec<DocMapper>,
    /// All splits.
    plan: SearchPlan,
}

impl Search<'_> {
    async fn choose(&self, alike: &Alike) -> Result<Vec<TypicalWord>, SearchError> {
        let found = self.occurrences(alike, &alike.like).await?;
        let avoided = self.occurrences(alike, &alike.unlike).await?;
        let is_wanted = |field: &str, word: &str, num: u32| {
            let len = u32::try_from(word.chars().count()).unwrap_or(u32::MAX);
            let avoided = avoided.get(field);
            num >= alike.min_term_freq
                && (alike.min_word_len..=alike.max_word_len).contains(&len)
                && !alike.stop_words.iter().any(|stop| stop == word)
                && !avoided.is_some_and(|words| words.contains_key(word))
        };
        let mut words = Vec::new();
        let mut nums = Vec::new();
        for (field, of_field) in found {
            for (word, num) in of_field {
                if is_wanted(&field, &word, num) {
                    words.push((field.clone(), word));
                    nums.push(num);
                }
            }
        }
        if words.len() > MAX_WORDS {
            return Err(SearchError::new(
                ErrorKind::Limit,
                format!("more_like_this: the examples have more than {MAX_WORDS} different words"),
            ));
        }
        let frequencies = match self.question.is_filtered() {
            // They depend on documents that the caller may not see.
            true => None,
            false => {
                let splits = self.plan.splits.iter();
                let splits: Vec<_> = splits.map(|split| &split.source).collect();
                let indexes = &self.plan.indexes;
                Some(count_words(&splits, indexes, &words, self.exchange).await?)
            }
        };
        Ok(heaviest(alike, words, &nums, frequencies.as_ref()))
    }

    /// Counts the words of examples, by field.
    async fn occurrences(
        &self,
        alike: &Alike,
        examples: &[Example],
    ) -> Result<Occurrences, SearchError> {
        let mut counted = Occurrences::new();
        let mut documents = self.looked_up(examples).await?;
        for example in examples {
            if let Example::Document(text) = example {
                let document = serde_json::from_str(text);
                documents.push(document.unwrap_or_default());
            }
        }
        for document in &documents {
            self.count_document(alike, document, &mut counted)?;
        }
        let named: Vec<String> = match alike.fields.is_empty() {
            false => alike.fields.clone(),
            true => self.text_fields(),
        };
        for example in examples {
            if let Example::Text(text) = example {
                for field in &named {
                    let analyzer = alike.analyzer.as_deref();
                    self.count(alike, field, text, analyzer, &mut counted)?;
                }
            }
        }
        Ok(counted)
    }

    fn count_document(
        &self,
        alike: &Alike,
        document: &Map<String, Value>,
        counted: &mut Occurrences,
    ) -> Result<(), SearchError> {
        let mut texts = Vec::new();
        if alike.fields.is_empty() {
            all_texts(document, "", &mut texts);
            // An id is typical of its document only.
            let is_id = |field: &str| {
                let mut mappers = self.mappers.iter();
                mappers.any(|mapper| mapper.id_field() == Some(field))
            };
            texts.retain(|(field, _)| !is_id(field));
        }
        for field in &alike.fields {
            let mut of_field = Vec::new();
            texts_at(document, field, &mut of_field);
            texts.extend(of_field.into_iter().map(|text| (field.clone(), text)));
            // An error, even if this document has no value.
            self.count(alike, field, "", None, counted)?;
        }
        for (field, text) in texts {
            self.count(alike, &field, text, None, counted)?;
        }
        Ok(())
    }

    /// Counts the words of a text in a field.
    fn count(
        &self,
        alike: &Alike,
        field: &str,
        text: &str,
        analyzer: Option<&str>,
        counted: &mut Occurrences,
    ) -> Result<(), SearchError> {
        for mapper in &self.mappers {
            if let Some(words) = words_in(mapper, field, text, analyzer)? {
                let of_field = counted.entry(field.to_owned()).or_default();
                for word in words {
                    *of_field.entry(word).or_default() += 1;
                }
                return Ok(());
            }
        }
        match alike.is_strict && alike.fields.iter().any(|named| named == field) {
            true => Err(no_words(field)),
            false => Ok(()),
        }
    }

    /// Returns the fields of a text that names none: the default ones, or all texts.
    fn text_fields(&self) -> Vec<String> {
        let defaults = self.mappers.iter();
        let defaults: Vec<String> = defaults
            .flat_map(|mapper| mapper.default_search_fields().iter().cloned())
            .collect();
        let fields = match defaults.is_empty() {
            false => defaults,
            true => {
                let mappers = self.mappers.iter();
                let fields = mappers.flat_map(|mapper| mapper.fields());
                fields.map(|field| field.path().to_owned()).collect()
            }
        };
        canter_sorting::set_of(fields).into_iter().collect()
    }

    /// Returns the documents among examples that are named by id, as far as they exist.
    async fn looked_up(
        &self,
        examples: &[Example],
    ) -> Result<Vec<Map<String, Value>>, SearchError> {
        let mut by_index: BTreeMap<Option<&String>, Vec<&str>> = BTreeMap::new();
        for example in examples {
            if let Example::Id { index, id } = example {
                by_index.entry(index.as_ref()).or_default().push(id);
            }
        }
        let mut documents = Vec::new();
        for (index, ids) in by_index {
            let names = &self.indexes.names;
            let mut indexes = match index {
                Some(index) if !names.is_empty() && !names.contains(index) => {
                    return Err(SearchError::invalid(format!(
                        "more_like_this: _index {index:?} is not among the indexes that are searched"
                    )));
                }
                Some(index) if names.len() > 1 => AskedIndexes::named(vec![index.clone()]),
                _ => self.indexes.clone(),
            };
            let exchange = match indexes.names.len() == 1 && names.len() > 1 {
                true => exchange_of(&mut indexes, self.exchange.clone()),
                false => self.exchange.clone(),
            };
            let question = Question {
                query: QueryNode::by_ids(&ids),
                pinned: self.question.pinned.clone(),
                max_hits: ids.len() as u64 * self.indexes.names.len().max(1) as u64,
                ..Question::of_all(
                    self.question.forced_filter.clone(),
                    self.question.limits.clone(),
                    self.question.form,
                )
            };
            let answer = match make_plan(&question, &indexes, &exchange).await? {
                Planned::Answered(answer) => answer,
                Planned::Open(plan) => carry_out(*plan, &question, &indexes, &exchange).await?,
            };
            let answer: Value = serde_json::from_str(&answer)
                .map_err(|error| SearchError::internal(format!("an answer: {error}")))?;
            if let Some(Value::Array(hits)) = answer.get("hits") {
                // An index that keeps documents as they were sent shows them under this key.
                let sent = |hit: &Value| hit.get("_source").and_then(Value::as_object).cloned();
                let whole = |hit: &Value| hit.as_object().cloned();
                documents.extend(
                    hits.iter()
                        .filter_map(|hit| sent(hit).or_else(|| whole(hit))),
                );
            }
        }
        Ok(documents)
    }
}

/// Returns the heaviest words of each field. A word weighs more the oftener the examples and the fewer documents have it.
fn heaviest(
    alike: &Alike,
    words: Vec<(String, String)>,
    nums: &[u32],
    frequencies: Option<&Frequencies>,
) -> Vec<TypicalWord> {
    let mut weighed: Vec<TypicalWord> = Vec::with_capacity(words.len());
    let doc_freqs = (0..).zip(words).zip(nums);
    for ((place, (field, word)), num) in doc_freqs {
        let mut weight = f64::from(*num);
        if let Some(frequencies) = frequencies {
            let doc_freq: u64 = frequencies
                .with_word
                .get::<usize>(place)
                .copied()
                .unwrap_or(0);
            let range = u64::from(alike.min_doc_freq).max(1)..=u64::from(alike.max_doc_freq);
            if !range.contains(&doc_freq) {
                continue;
            }
            weight *= rarity(doc_freq, frequencies.num_docs);
        }
        weighed.push(TypicalWord {
            field,
            word,
            weight,
        });
    }
    canter_sorting::sort_by(&mut weighed, |left, right| {
        let by_weight = right.weight.total_cmp(&left.weight);
        let by_word = || left.word.cmp(&right.word);
        let by_field = left.field.cmp(&right.field);
        by_field.then(by_weight).then_with(by_word)
    });
    let mut kept: Vec<TypicalWord> = Vec::new();
    let (mut num_of_field, mut best) = (0, 1.0);
    for word in weighed {
        if kept.last().is_none_or(|last| last.field != word.field) {
            (num_of_field, best) = (0, word.weight);
        }
        num_of_field += 1;
        if num_of_field <= alike.max_words {
            let weight = word.weight / best;
            kept.push(TypicalWord { weight, ..word });
        }
    }
    kept
}

/// Returns Lucene's inverse document frequency.
#[expect(clippy::cast_precision_loss, reason = "a weight")]
fn rarity(doc_freq: u64, num_docs: u64) -> f64 {
    ((num_docs as f64 + 1.0) / (doc_freq as f64 + 1.0)).ln() + 1.0
}

/// Adds all texts of a document, with the paths of their fields.
fn all_texts<'d>(document: &'d Map<String, Value>, path: &str, texts: &mut Vec<(String, &'d str)>) {
    for (key, value) in document {
        let path = match path {
            "" => key.clone(),
            path => format!("{path}.{key}"),
        };
        let mut of_value = |value: &'d Value| match value {
            Value::String(text) => texts.push((path.clone(), text)),
            Value::Object(object) => all_texts(object, &path, texts),
            _ => {}
        };
        match value {
            Value::Array(values) => values.iter().for_each(of_value),
            value => of_value(value),
        }
    }
}

/// Adds the texts of a document at a path, whose keys may have dots.
fn texts_at<'d>(document: &'d Map<String, Value>, path: &str, texts: &mut Vec<&'d str>) {
    for (key, value) in document {
        let Some(rest) = path.strip_prefix(key.as_str()) else {
            continue;
        };
        let values = match value {
            Value::Array(values) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        for value in values {
            match (value, rest.strip_prefix('.')) {
                (Value::String(text), None) if rest.is_empty() => texts.push(text),
                (Value::Object(object), Some(rest)) => texts_at(object, rest, texts),
                _ => {}
            }
        }
    }
}
