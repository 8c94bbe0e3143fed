//! The words in values that are kept whole: paths, addresses, names with dots. A concatenation has them, so that a query
//! without a field finds them; it costs one lookup, and takes no place among the default search fields.

use serde_json::{Map, Value};

use super::field::{Field, Kind, leaves};
use super::write::is_default_field;

/// Name of the concatenation, with underscores behind it if a field has the same one.
const NAME: &str = "words";

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
    let (last, parents) = path.split_last()?;
    let mut object = doc;
    for name in parents {
        object = object.get(name)?.as_object()?;
    }
    object.get(last)?.as_str()
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
    /// Paths of the fields whose words it has.
    pub(super) fields: Vec<String>,
}

/// Returns the concatenation that fields need; `None` if all their values are single words.
pub(super) fn of(fields: &[Field]) -> Option<Concatenation> {
    let has_heads = fields.iter().any(|field| field.kind == Kind::LineHead);
    let is_of_head = |field: &Field| {
        let name = field.path.first().map_or("", String::as_str);
        has_heads && field.path.len() == 1 && OF_HEADS.contains(&name)
    };
    let is_whole = |field: &Field| {
        matches!(
            field.kind,
            Kind::Word {
                is_needle: false,
                ..
            }
        )
    };
    let parted = leaves(fields)
        .into_iter()
        .filter(|field| {
            is_whole(field) && field.is_parted && !field.is_quoted && !is_of_head(field)
        })
        .map(Field::name)
        .filter(|name| is_default_field(name));
    let sources: Vec<String> = parted.collect();
    (!sources.is_empty()).then(|| {
        let mut name = NAME.to_owned();
        while fields.iter().any(|field| field.path.first() == Some(&name)) {
            name.push('_');
        }
        Concatenation {
            name,
            fields: sources,
        }
    })
}
