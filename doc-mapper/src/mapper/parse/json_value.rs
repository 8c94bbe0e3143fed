//! JSON value that borrows its strings from the line, on its way into a tantivy document for
//! searching. `verbatim.rs` handles the form that hits show.

use std::borrow::Cow;

use tantivy::DateTime;
use tantivy::schema::Value;
use tantivy::schema::document::{ReferenceValue, ReferenceValueLeaf};

use crate::datetime;

/// Entries of a JSON object, in the order of the line.
pub(crate) type Entries<'a> = Vec<(Cow<'a, str>, JsonValue<'a>)>;

#[derive(Debug)]
pub(crate) enum JsonValue<'a> {
    Null,
    Bool(bool),
    I64(i64),
    /// Used only above `i64::MAX`.
    U64(u64),
    F64(f64),
    /// String with an RFC 3339 date.
    Date(DateTime),
    Str(Cow<'a, str>),
    Array(Vec<JsonValue<'a>>),
    Object(Entries<'a>),
}

/// Maximum depth in a JSON field at which tantivy writes columns.
pub(crate) const MAX_COLUMN_DEPTH: u32 = 20;

/// Flattens an object to one level with the same paths. tantivy joins the keys of a path in the
/// same way, so it only notices the smaller depth.
pub(crate) fn flattened<'a>(entries: &'a Entries<'_>) -> Entries<'a> {
    let mut flat = Vec::new();
    for (key, value) in entries {
        flatten(key, value, &mut flat);
    }
    flat
}

fn flatten<'a>(path: &str, value: &'a JsonValue<'_>, flat: &mut Entries<'a>) {
    let value = match value {
        JsonValue::Null => return,
        JsonValue::Array(items) => {
            items.iter().for_each(|item| flatten(path, item, flat));
            return;
        }
        JsonValue::Object(entries) => {
            for (key, value) in entries {
                flatten(&format!("{path}\u{1}{key}"), value, flat);
            }
            return;
        }
        JsonValue::Bool(b) => JsonValue::Bool(*b),
        JsonValue::I64(n) => JsonValue::I64(*n),
        JsonValue::U64(n) => JsonValue::U64(*n),
        JsonValue::F64(n) => JsonValue::F64(*n),
        JsonValue::Date(date) => JsonValue::Date(*date),
        JsonValue::Str(text) => JsonValue::Str(Cow::Borrowed(text)),
    };
    flat.push((Cow::Owned(path.to_owned()), value));
}

impl JsonValue<'_> {
    /// Passes every value as text to `add`.
    pub(crate) fn for_each_text(&self, add: &mut dyn FnMut(&str)) {
        match self {
            JsonValue::Null => {}
            JsonValue::Bool(b) => add(if *b { "true" } else { "false" }),
            JsonValue::I64(n) => add(&n.to_string()),
            JsonValue::U64(n) => add(&n.to_string()),
            JsonValue::F64(n) => add(&n.to_string()),
            JsonValue::Date(date) => add(&datetime::rfc3339_string(*date)),
            JsonValue::Str(text) => add(text),
            JsonValue::Array(items) => items.iter().for_each(|item| item.for_each_text(add)),
            JsonValue::Object(entries) => {
                entries.iter().for_each(|(_, item)| item.for_each_text(add))
            }
        }
    }
}

impl<'a> Value<'a> for &'a JsonValue<'a> {
    type ArrayIter = std::slice::Iter<'a, JsonValue<'a>>;
    type ObjectIter = EntriesIter<'a>;

    fn as_value(&self) -> ReferenceValue<'a, Self> {
        ReferenceValue::Leaf(match self {
            JsonValue::Array(items) => return ReferenceValue::Array(items.iter()),
            JsonValue::Object(entries) => {
                return ReferenceValue::Object(EntriesIter(entries.iter()));
            }
            JsonValue::Null => ReferenceValueLeaf::Null,
            JsonValue::Bool(b) => ReferenceValueLeaf::Bool(*b),
            JsonValue::I64(n) => ReferenceValueLeaf::I64(*n),
            JsonValue::U64(n) => ReferenceValueLeaf::U64(*n),
            JsonValue::F64(n) => ReferenceValueLeaf::F64(*n),
            JsonValue::Date(date) => ReferenceValueLeaf::Date(*date),
            JsonValue::Str(text) => ReferenceValueLeaf::Str(text),
        })
    }
}

/// Entries of an object for tantivy.
pub(crate) struct EntriesIter<'a>(std::slice::Iter<'a, (Cow<'a, str>, JsonValue<'a>)>);

impl<'a> Iterator for EntriesIter<'a> {
    type Item = (&'a str, &'a JsonValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.as_ref(), value))
    }
}
