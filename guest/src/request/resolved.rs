//! The result of planning a question.

use serde::{Deserialize, Serialize};

use super::PinnedManifest;
use super::question::Question;
use crate::limits::TimeFilter;
use crate::query::{Factor, QueryNode, without_time};

/// A time filter that was extracted from clauses of a query over a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimeBounds {
    /// The timestamp field.
    pub(crate) field: String,
    pub(crate) filter: TimeFilter,
}

/// A question resolved for certain manifests, as leaf and root use it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Resolved {
    /// The query to run: with the forced filters, and without the clauses that are a time filter.
    pub(crate) query: QueryNode,
    /// The time range of hits.
    pub(crate) time: TimeFilter,
    /// True if hits come from several indexes whose timestamp fields differ or are missing: they are compared by their
    /// values alone.
    pub(crate) mixes_times: bool,
    /// The manifests of all pages of a new scroll.
    pub(crate) pinned: Vec<PinnedManifest>,
}

impl Resolved {
    /// Resolves a question, some of whose clauses may be a time filter.
    pub(crate) fn of(question: &Question, bounds: Option<&TimeBounds>) -> Self {
        let query = question.query.clone();
        let query = match bounds {
            Some(bounds) => without_time(query, &bounds.field),
            None => query,
        };
        let query = match &question.forced_filter {
            None => query,
            Some(filters) => {
                // A forced filter decides what may be found, not what is relevant.
                let filters = filters
                    .iter()
                    .map(|filter| QueryNode::Constant(Box::new(filter.clone()), Factor(0.0)));
                QueryNode::all_of(filters.chain(std::iter::once(query)))
            }
        };
        Self {
            query,
            time: question
                .time
                .and(bounds.map(|bounds| bounds.filter).unwrap_or_default()),
            mixes_times: false,
            pinned: Vec::new(),
        }
    }
}
