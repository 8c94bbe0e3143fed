//! A JSON value that borrows its strings from the line, on its way into a tantivy document.

use std::borrow::Cow;

use tantivy::DateTime;
use tantivy::schema::Value;
use tantivy::schema::document::{ReferenceValue, ReferenceValueLeaf};

/// The entries of a JSON object, in the order of the line.
pub(crate) type Entries<'a> = Vec<(Cow<'a, str>, JsonValue<'a>)>;

#[derive(Debug)]
pub(crate) enum JsonValue<'a> {
    Null,
    Bool(bool),
    I64(i64),
    /// Only above `i64::MAX`.
    U64(u64),
    F64(f64),
    /// A string that is an RFC 3339 date.
    Date(DateTime),
    Str(Cow<'a, str>),
    Array(Vec<JsonValue<'a>>),
    Object(Entries<'a>),
}

impl JsonValue<'_> {
    pub(crate) fn is_null(&self) -> bool {
        matches!(self, JsonValue::Null)
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

/// The entries of an object as tantivy wants to see them.
pub(crate) struct EntriesIter<'a>(std::slice::Iter<'a, (Cow<'a, str>, JsonValue<'a>)>);

impl<'a> Iterator for EntriesIter<'a> {
    type Item = (&'a str, &'a JsonValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(key, value)| (key.as_ref(), value))
    }
}
