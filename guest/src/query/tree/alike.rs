//! Documents with the words that are typical of others: `more_like_this`.

use serde::{Deserialize, Serialize};

use super::leaf::{Given, Leaf};
use super::min_should::{MinShould, Share};
use super::node::{BoolNode, Factor, QueryNode, Role};

/// A condition whose words are chosen from texts and documents, before the search is planned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Alike {
    /// The fields of the words; all texts if empty.
    pub(crate) fields: Vec<String>,
    pub(crate) like: Vec<Example>,
    /// Words of these are not chosen.
    pub(crate) unlike: Vec<Example>,
    /// Maximum number of words of a field.
    pub(crate) max_words: u32,
    /// Minimum number of occurrences in the examples.
    pub(crate) min_term_freq: u32,
    /// Range of the number of documents that have a word.
    pub(crate) min_doc_freq: u32,
    pub(crate) max_doc_freq: u32,
    /// Range of the length of a word, in characters.
    pub(crate) min_word_len: u32,
    pub(crate) max_word_len: u32,
    /// Words that are not chosen.
    pub(crate) stop_words: Vec<String>,
    /// Name of the analyzer of texts, if not the field's.
    pub(crate) analyzer: Option<String>,
    pub(crate) min_should: MinShould,
    /// Factor for scores by the weight of a word; 0 if all weigh the same.
    pub(crate) boost_terms: Factor,
    /// True if the examples themselves may match.
    pub(crate) includes_like: bool,
    /// True if a field that is no text is an error.
    pub(crate) is_strict: bool,
}

/// An example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Example {
    /// A text, in each of the fields.
    Text(String),
    /// A document of an index, or of any that is searched.
    Id { index: Option<String>, id: String },
    /// A document in JSON.
    Document(String),
}

/// A word of a field that is typical of the examples.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TypicalWord {
    pub(crate) field: String,
    pub(crate) word: String,
    /// Share of the weight of the field's heaviest word.
    pub(crate) weight: f64,
}

impl Alike {
    /// Returns the query for the documents that have enough of the chosen words.
    #[expect(clippy::cast_possible_truncation, reason = "scores are 32 bits wide")]
    pub(crate) fn with_words(&self, words: Vec<TypicalWord>) -> QueryNode {
        if words.is_empty() {
            return QueryNode::Nothing;
        }
        let clauses = words.into_iter().map(|chosen| {
            let word = QueryNode::Leaf(Leaf::Term {
                field: chosen.field,
                value: Given {
                    text: chosen.word,
                    is_number: false,
                },
                case_insensitive: false,
            });
            let boost = match self.boost_terms.0 {
                0.0 => 1.0,
                factor => factor * chosen.weight as f32,
            };
            (Role::Should, word.boosted(boost))
        });
        let clauses: Vec<(Role, QueryNode)> = clauses.collect();
        // A document without any of the words is not alike.
        let least = self.min_should.of(clauses.len()).max(1);
        let least = i64::try_from(least).unwrap_or(i64::MAX);
        let alike = QueryNode::Bool(BoolNode {
            clauses,
            min_should: Some(MinShould {
                rules: vec![(0, Share::Count(least))],
            }),
        });
        let ids = self.like.iter().filter_map(|example| match example {
            Example::Id { id, .. } => Some(id.as_str()),
            Example::Text(_) | Example::Document(_) => None,
        });
        let ids: Vec<&str> = ids.collect();
        match self.includes_like || ids.is_empty() {
            true => alike,
            false => QueryNode::Bool(BoolNode {
                clauses: vec![
                    (Role::Must, alike),
                    (Role::MustNot, QueryNode::by_ids(&ids)),
                ],
                min_should: None,
            }),
        }
    }

    /// Returns whether documents are looked up.
    pub(super) fn looks_up(&self) -> bool {
        let mut examples = self.like.iter().chain(&self.unlike);
        examples.any(|example| matches!(example, Example::Id { .. }))
    }
}

impl QueryNode {
    /// Creates a query for the documents with these ids.
    pub(crate) fn by_ids(ids: &[&str]) -> Self {
        let values = ids.iter().map(|id| Given {
            text: (*id).to_owned(),
            is_number: false,
        });
        Self::Leaf(Leaf::by_id(values.collect()))
    }

    /// Returns the condition, if the node is one.
    pub(crate) fn alike(&self) -> Option<&Alike> {
        match self {
            Self::Leaf(Leaf::Alike(alike)) => Some(alike),
            _ => None,
        }
    }

    /// Returns whether a part is such a condition.
    pub(crate) fn has_alike(&self) -> bool {
        self.has_leaf(|leaf| matches!(leaf, Leaf::Alike(_)))
    }

    /// Adds the parts that are such conditions to `found`.
    pub(crate) fn find_alike<'n>(&'n mut self, found: &mut Vec<&'n mut Self>) {
        self.find_leaves(|leaf| matches!(leaf, Leaf::Alike(_)), found);
    }
}
