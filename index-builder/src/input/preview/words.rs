//! The words in values that are kept whole: paths, addresses, names with dots. A concatenation has them, so that a query
//! without a field finds them; it costs one lookup, and takes no place among the default search fields. Where there are
//! more whole values than a search may look up one by one, it has those of the last fields, too. Words of repeated values take
//! no space: they are looked for in the dictionaries of values. Only distinct values have their words indexed.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

use super::field::{Field, Kind, leaves};
use super::write::is_default_field;

/// Names of the concatenations, of repeated and of distinct values, with underscores behind them if a field has the same one.
const NAMES: [&str; 2] = ["words", "more_words"];

/// Fields that the parser of lines makes, the words of which are those of heads.
const OF_HEADS: [&str; 13] = [
    "level",
    "logger",
    "node",
    "thread",
    "process_id",
    "thread_id",
    "request_id",
    "trace_id",
    "span_id",
    "source",
    "code",
    "client",
    "stream",
];

/// Number of documents that show where the values of a field stand.
const MIN_SHOWN: usize = 20;

/// Letters of a word that distinct values have in common: shorter ones may be parts of identifiers.
const MIN_LETTERS: usize = 3;

/// Maximum number of fields that are looked up one by one for a word without a field.
const MAX_SINGLE: usize = 10;

/// Maximum number of texts in which values are looked for: all of them are default search fields.
const MAX_TEXTS: usize = 8;

/// Marks the fields whose values stand in a full text of their document, whose words are found there.
pub(super) fn mark_quoted(fields: &mut [Field], docs: &[&Map<String, Value>]) {
    let texts = leaves(fields).into_iter();
    let texts = texts.filter(|field| matches!(field.kind, Kind::Words { .. }) && !field.is_list);
    let texts: Vec<Vec<String>> = texts.map(|field| field.path.clone()).collect();
    if texts.len() <= MAX_TEXTS {
        mark(fields, &texts, docs);
    }
}

fn mark(fields: &mut [Field], texts: &[Vec<String>], docs: &[&Map<String, Value>]) {
    for field in fields {
        mark(&mut field.inside, texts, docs);
        if field.is_parted && !field.is_list && matches!(field.kind, Kind::Word { .. }) {
            field.is_quoted = texts.iter().any(|text| is_quoted(&field.path, text, docs));
        }
    }
}

/// Marks the fields of distinct values that have words in common.
pub(super) fn mark_worded(fields: &mut [Field], docs: &[&Map<String, Value>]) {
    for field in fields {
        mark_worded(&mut field.inside, docs);
        let is_needle = matches!(
            field.kind,
            Kind::Word {
                is_needle: true,
                ..
            }
        );
        field.is_worded = is_needle && field.is_parted && have_common_words(&field.path, docs);
    }
}

/// Returns whether most values of a field have a word that is in another value, too. Digits make a word a part of an
/// identifier, and so does a text of nothing but digits and the letters of hexadecimal numbers.
fn have_common_words(field: &[String], docs: &[&Map<String, Value>]) -> bool {
    let values = docs.iter().flat_map(|doc| texts_at(doc, field));
    let words_of = |value: &str| -> BTreeSet<String> {
        let words = value.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| {
            word.chars().count() >= MIN_LETTERS
                && word.chars().all(char::is_alphabetic)
                && !word.chars().all(|c| c.is_ascii_hexdigit())
        });
        words.map(str::to_lowercase).collect()
    };
    let words: Vec<BTreeSet<String>> = values.map(words_of).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in words.iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    let is_common = |word: &String| counts.get(word.as_str()).is_some_and(|count| *count > 1);
    let num_common = words.iter().filter(|words| words.iter().any(is_common));
    let num_common = num_common.count();
    num_common > 0 && num_common * 2 >= words.len()
}

/// Returns whether all values of a field stand in a text.
fn is_quoted(field: &[String], text: &[String], docs: &[&Map<String, Value>]) -> bool {
    let values = docs.iter().filter_map(|doc| {
        let value = text_at(doc, field).filter(|value| value.contains(char::is_alphanumeric))?;
        Some((value, text_at(doc, text).unwrap_or_default()))
    });
    let mut num_shown = 0;
    for (value, text) in values {
        if !has_words(text, value) {
            return false;
        }
        num_shown += 1;
    }
    num_shown >= MIN_SHOWN
}

fn text_at<'a>(doc: &'a Map<String, Value>, path: &[String]) -> Option<&'a str> {
    value_at(doc, path)?.as_str()
}

/// Returns the texts of a field, of which a list has several.
fn texts_at<'a>(doc: &'a Map<String, Value>, path: &[String]) -> Vec<&'a str> {
    match value_at(doc, path) {
        Some(Value::Array(values)) => values.iter().filter_map(Value::as_str).collect(),
        value => value.and_then(Value::as_str).into_iter().collect(),
    }
}

fn value_at<'a>(doc: &'a Map<String, Value>, path: &[String]) -> Option<&'a Value> {
    let (last, parents) = path.split_last()?;
    let mut object = doc;
    for name in parents {
        object = object.get(name)?.as_object()?;
    }
    object.get(last)
}

/// Returns whether a text has a value with all of its words whole.
fn has_words(text: &str, value: &str) -> bool {
    let begins_inside = value.starts_with(char::is_alphanumeric);
    let ends_inside = value.ends_with(char::is_alphanumeric);
    text.match_indices(value).any(|(at, _)| {
        let (before, after) = (text.get(..at), text.get(at + value.len()..));
        let is_cut = before.is_some_and(|before| before.ends_with(char::is_alphanumeric));
        let goes_on = after.is_some_and(|after| after.starts_with(char::is_alphanumeric));
        !(begins_inside && is_cut || ends_inside && goes_on)
    })
}

/// A concatenation of fields.
pub(super) struct Concatenation {
    pub(super) name: String,
    /// True if words are looked for in the dictionaries of the fields' values.
    pub(super) by_values: bool,
    /// Paths of the fields whose words it has.
    pub(super) fields: Vec<String>,
}

/// Returns the concatenations that fields need; none if all their values are single words, and few.
pub(super) fn of(fields: &[Field]) -> Vec<Concatenation> {
    let has_heads = fields.iter().any(|field| field.kind == Kind::LineHead);
    let leaves = leaves(fields);
    let (mut sources, mut single): (Vec<&Field>, Vec<&Field>) = (Vec::new(), Vec::new());
    for field in &leaves {
        let is_named = !field.is_blank && is_default_field(&field.name());
        if !is_named || field.is_quoted || (has_heads && is_of_head(field)) {
            continue;
        }
        match field.kind {
            Kind::Word { is_needle, .. } if field.is_parted && (!is_needle || field.is_worded) => {
                sources.push(field);
            }
            Kind::Word { .. } => single.push(field),
            _ => {}
        }
    }
    let is_text = |field: &&&Field| matches!(field.kind, Kind::Words { .. });
    let num_texts = leaves.iter().filter(is_text).count();
    let num_single = MAX_SINGLE.saturating_sub(num_texts);
    sources.extend(single.get(num_single..).unwrap_or_default());
    let (repeated, distinct): (Vec<&Field>, Vec<&Field>) =
        sources.into_iter().partition(|field| field.is_repeated);
    let all = [(repeated, true), (distinct, false)].into_iter();
    let all = all.filter(|(sources, _)| !sources.is_empty());
    all.zip(NAMES)
        .map(|((sources, by_values), name)| {
            let mut name = name.to_owned();
            while fields.iter().any(|field| field.path.first() == Some(&name)) {
                name.push('_');
            }
            Concatenation {
                name,
                by_values,
                fields: sources.into_iter().map(Field::name).collect(),
            }
        })
        .collect()
}

/// Returns whether a field has words of a line's head.
pub(super) fn is_of_head(field: &Field) -> bool {
    let name = field.path.first().map_or("", String::as_str);
    field.path.len() == 1 && OF_HEADS.contains(&name)
}
