//! The order of hits, and how it is found.

use crate::request::{Question, SortKeySpec, SortOrder, SortTarget, SortValue};

/// The order of hits, distinguished by how it is found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HitOrder {
    /// By place in an index without a timestamp field: by document id within a split.
    Place(SortOrder),
    /// By place in an index with a timestamp field, so by time first: by document id within a split.
    Time(SortOrder),
    /// In stored order, one split after another: the order of a scroll.
    Stored,
    /// By values, and by place where they are equal.
    Keys {
        /// At least one.
        keys: Vec<SortKeySpec>,
        /// Direction of places.
        ties: SortOrder,
        /// Only hits with values after these are returned, if there are any. All are counted.
        after: Vec<SortValue>,
        /// Only the first hit of each value of this field is returned. All are counted.
        collapse: Option<String>,
    },
}

impl HitOrder {
    /// Returns the order that a question asks for; `mixes_times` is true for several indexes whose timestamp fields
    /// differ or are missing. Without sort keys: newest first if there is a timestamp field, otherwise by place in the
    /// index. Places are never equal, so an order ends with `_doc` wherever it stands; without it, places run like the
    /// first key.
    pub(crate) fn of(
        question: &Question,
        mixes_times: bool,
        timestamp_field: Option<&str>,
    ) -> Self {
        if question.scroll.is_some() {
            return Self::Stored;
        }
        let after = &question.search_after;
        let keys = question.sort.as_slice();
        let by_place = |order| match timestamp_field {
            Some(_) => Self::Time(order),
            None => Self::Place(order),
        };
        let Some(first) = keys.first() else {
            return by_place(match timestamp_field {
                None if !mixes_times => SortOrder::Ascending,
                _ => SortOrder::Descending,
            });
        };
        let is_doc = |key: &&SortKeySpec| key.target == SortTarget::Doc;
        let tells_apart =
            |key: &&SortKeySpec| matches!(key.target, SortTarget::Doc | SortTarget::SplitDoc);
        let ties = keys.iter().find(tells_apart).unwrap_or(first).order;
        let keys: Vec<SortKeySpec> = keys
            .iter()
            .take_while(|key| !is_doc(key))
            .cloned()
            .collect();
        let is_time = |target: &SortTarget| match target {
            SortTarget::Field(name) => !mixes_times && Some(name.as_str()) == timestamp_field,
            SortTarget::Score
            | SortTarget::Doc
            | SortTarget::SplitDoc
            | SortTarget::Distance(_) => false,
        };
        // Among hits with the same time, the position in the split then decides as well as the place in the index.
        let values = match keys.as_slice() {
            [values @ .., last] if last.target == SortTarget::SplitDoc && !values.is_empty() => {
                values
            }
            keys => keys,
        };
        let scrolls = question
            .elastic
            .as_ref()
            .is_some_and(|shown| shown.scroll.is_some());
        match values {
            [] => by_place(ties),
            [only]
                if is_time(&only.target)
                    && only.order == ties
                    && after.is_empty()
                    && question.collapse.is_none()
                    && !scrolls =>
            {
                Self::Time(ties)
            }
            _ => Self::Keys {
                keys,
                ties,
                after: after.clone(),
                collapse: question.collapse.clone(),
            },
        }
    }

    /// Returns the direction of places.
    pub(crate) fn ties(&self) -> SortOrder {
        match self {
            Self::Place(order) | Self::Time(order) | Self::Keys { ties: order, .. } => *order,
            Self::Stored => SortOrder::Ascending,
        }
    }

    /// Returns the sort keys of a partial hit.
    pub(crate) fn keys(&self) -> &[SortKeySpec] {
        match self {
            Self::Keys { keys, .. } => keys,
            Self::Place(_) | Self::Time(_) | Self::Stored => &[],
        }
    }

    /// Returns whether scores must be computed, for this order or for hits in buckets.
    pub(crate) fn is_scored(&self, question: &Question) -> bool {
        let aggregations = question.aggregations.as_ref();
        self.needs_scores() || aggregations.is_some_and(|asked| asked.parsed().needs_scores())
    }

    /// Returns whether scores must be computed for this order.
    pub(crate) fn needs_scores(&self) -> bool {
        self.keys()
            .iter()
            .any(|key| key.target == SortTarget::Score)
    }

    /// Returns the field by which hits are collapsed, if any.
    pub(crate) fn collapse(&self) -> Option<&str> {
        match self {
            Self::Keys { collapse, .. } => collapse.as_deref(),
            Self::Place(_) | Self::Time(_) | Self::Stored => None,
        }
    }

    /// Returns the fast fields that the keys read.
    pub(crate) fn fast_fields(&self) -> impl Iterator<Item = &str> {
        let of_keys = self.keys().iter().filter_map(|key| match &key.target {
            SortTarget::Field(name) => Some(name.as_str()),
            SortTarget::Distance(distance) => Some(distance.field.as_str()),
            SortTarget::Score | SortTarget::Doc | SortTarget::SplitDoc => None,
        });
        of_keys.chain(self.collapse())
    }
}
