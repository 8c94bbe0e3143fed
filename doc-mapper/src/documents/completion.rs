//! Entries of completions, as terms.
//!
//! ```text
//!   {"input": "Foo Bar", "weight": 3, "contexts": {"color": ["red", "blue"]}}
//!
//!   foo bar␟color␞red␟3␟Foo Bar      foo bar␟color␞blue␟3␟Foo Bar
//!   └ key ┘ └ context ┘ └ weight, input as it was sent
//! ```
//!
//! A dictionary answers a suggester by itself: it is sorted by keys, and a term has all that decides on an entry. Merges
//! and deletions treat the terms as any others.

use serde::Serialize;
use tantivy::tokenizer::TextAnalyzer;

/// Separator of the parts of a term (␟).
const BETWEEN_PARTS: char = '\u{1f}';
/// Separator of the name and the value of a context (␞).
const BETWEEN_NAME_AND_VALUE: char = '\u{1e}';

/// Options of a completion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Completion {
    /// Name of the tokenizer by whose words inputs and prefixes are compared.
    pub analyzer: String,
    /// True if words that are divided in an input must be divided in a prefix.
    pub preserve_separators: bool,
    /// Maximum length of an input, in UTF-16 code units; the rest of a longer one is cut off.
    pub max_input_length: u32,
    /// What a suggester may ask of an entry besides its input. With contexts, every entry has at least one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contexts: Vec<CompletionContext>,
    /// Names after the dot under which the same entries are found, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// Context of the entries of a completion: a category, or the cell of a place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CompletionContext {
    /// Name in entries and in requests.
    pub name: String,
    /// Path of the field whose values are contexts, besides those that an entry names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Number of letters of the geohash of a place, 1 to 12; `None` for a category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub geohash: Option<u32>,
}

/// Entry of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletionEntry<'t> {
    /// The words of the input, by which it is found.
    pub key: &'t str,
    /// Name and value of its context, if the field has contexts.
    pub context: Option<(&'t str, &'t str)>,
    /// Its rank: entries of greater weight are suggested first.
    pub weight: u32,
    /// The text that is suggested.
    pub input: &'t str,
}

impl<'t> CompletionEntry<'t> {
    /// Reads a term; `None` if it is no entry.
    #[must_use]
    pub fn read(term: &'t str) -> Option<Self> {
        let mut parts = term.splitn(4, BETWEEN_PARTS);
        let (key, context) = (parts.next()?, parts.next()?);
        Some(Self {
            key,
            context: context.split_once(BETWEEN_NAME_AND_VALUE),
            weight: parts.next()?.parse().ok()?,
            input: parts.next()?,
        })
    }

    /// Returns the term of the entry.
    pub(crate) fn write(&self) -> String {
        let context = match self.context {
            None => String::new(),
            Some((name, value)) => format!("{name}{BETWEEN_NAME_AND_VALUE}{}", printable(value)),
        };
        let CompletionEntry {
            key, weight, input, ..
        } = self;
        format!("{key}{BETWEEN_PARTS}{context}{BETWEEN_PARTS}{weight}{BETWEEN_PARTS}{input}")
    }
}

impl Completion {
    /// Returns the context of a name.
    pub fn context(&self, name: &str) -> Option<&CompletionContext> {
        self.contexts.iter().find(|context| context.name == name)
    }

    /// Returns the words of an input or a prefix, as keys have them.
    pub fn key(&self, analyzer: &mut TextAnalyzer, text: &str) -> String {
        let mut key = String::new();
        let mut words = analyzer.token_stream(text);
        while words.advance() {
            if !key.is_empty() && self.preserve_separators {
                key.push(' ');
            }
            key.push_str(&words.token().text);
        }
        printable(&key)
    }
}

impl CompletionContext {
    /// Returns a value of the context as terms have it: the geohash of a code of a place.
    #[must_use]
    pub fn geohash_of(code: u64, num_letters: u32) -> String {
        let grid = canter_geo::Grid::Geohash(num_letters);
        grid.key(grid.number(grid.cell(code)))
    }
}

/// Replaces control characters, which separate the parts of a term.
fn printable(text: &str) -> String {
    text.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        for entry in [
            CompletionEntry {
                key: "foo bar",
                context: Some(("color", "red")),
                weight: 3,
                input: "Foo \u{1f}Bar",
            },
            CompletionEntry {
                key: "",
                context: None,
                weight: u32::MAX,
                input: "",
            },
        ] {
            assert_eq!(CompletionEntry::read(&entry.write()), Some(entry));
        }
        assert_eq!(CompletionEntry::read("foo"), None);
        assert_eq!(CompletionEntry::read("foo\u{1f}\u{1f}many\u{1f}Foo"), None);
    }
}
