//! The parts of a search that need further searches.

use super::suggest::Suggestions;
use crate::query::QueryNode;
use crate::request::Question;

/// The parts of a search that need further searches. By default, there are none.
#[derive(Debug, Default)]
pub(in crate::api::elastic) struct Composed {
    /// Field by which hits are collapsed, and the hits of each group to show.
    pub(in crate::api::elastic) groups: Vec<GroupHits>,
    /// Second queries for the best hits, one after another.
    pub(in crate::api::elastic) rescores: Vec<Rescore>,
    /// The part of the hits that is shown once their order is known: how many are skipped, and how many are shown.
    pub(in crate::api::elastic) window: (usize, usize),
    /// Named clauses whose scores hits show.
    pub(in crate::api::elastic) named: Vec<(String, QueryNode)>,
    /// Texts for which something is suggested.
    pub(in crate::api::elastic) suggestions: Suggestions,
}

impl Composed {
    /// Returns whether there are none.
    pub(in crate::api::elastic) fn is_empty(&self) -> bool {
        let has_none = self.groups.is_empty() && self.rescores.is_empty();
        has_none && self.named.is_empty() && self.suggestions.is_empty()
    }
}

/// Hits of the group of a hit.
#[derive(Debug)]
pub(in crate::api::elastic) struct GroupHits {
    /// The key under `inner_hits`.
    pub(in crate::api::elastic) name: String,
    /// Field whose value tells groups apart.
    pub(in crate::api::elastic) field: String,
    /// The search for all groups; that for one group has a filter more.
    pub(in crate::api::elastic) question: Question,
}

/// A second query for the best hits.
#[derive(Debug)]
pub(in crate::api::elastic) struct Rescore {
    /// The number of hits whose scores it changes.
    pub(in crate::api::elastic) window_size: usize,
    pub(in crate::api::elastic) query: QueryNode,
    /// Factor of the score before.
    pub(in crate::api::elastic) query_weight: f32,
    /// Factor of the score of this query.
    pub(in crate::api::elastic) rescore_query_weight: f32,
    pub(in crate::api::elastic) mode: ScoreMode,
}

/// The way in which two scores become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::api::elastic) enum ScoreMode {
    Total,
    Multiply,
    Average,
    Max,
    Min,
}

impl Rescore {
    /// Returns the score of a hit; `second` is that of this query, if the hit matches it.
    pub(super) fn combined(&self, first: f32, second: Option<f32>) -> f32 {
        let first = first * self.query_weight;
        let Some(second) = second.map(|second| second * self.rescore_query_weight) else {
            return first;
        };
        match self.mode {
            ScoreMode::Total => first + second,
            ScoreMode::Multiply => first * second,
            ScoreMode::Average => f32::midpoint(first, second),
            ScoreMode::Max => first.max(second),
            ScoreMode::Min => first.min(second),
        }
    }
}
