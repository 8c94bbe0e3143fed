//! The order of hits of a search, and where in it they begin.

use super::sort::Sort;
use crate::SearchError;
use crate::api::elastic::body::{Body, wrong};
use crate::api::elastic::params::UrlParams;
use crate::request::{Question, Scroll, SortKeySpec, SortOrder, SortTarget};

/// The requested order of hits.
pub(in crate::api::elastic) struct Order {
    pub(in crate::api::elastic) sort: Option<Sort>,
    /// A scroll through all hits in that order, page by page.
    pub(in crate::api::elastic) scroll: Option<Scroll>,
}

/// Parses the order of hits, and where in it they begin. Moves a scroll in another order than the stored one out of the
/// question.
pub(in crate::api::elastic) fn order(
    body: &mut Body,
    params: &mut UrlParams,
    question: &mut Question,
    is_pinned: bool,
    is_hidden: bool,
) -> Result<Order, SearchError> {
    let sort = match params.text("sort").map(str::to_owned) {
        Some(text) => Some(Sort::of_url(&text)?),
        None => body.take("sort").map(|json| Sort::of(&json)).transpose()?,
    };
    let sort = sort.filter(|sort| !sort.keys.is_empty());
    // `_doc` alone is the order in which hits are found.
    let is_stored = |sort: &Sort| {
        let is_doc = |key: &SortKeySpec| key.target == SortTarget::Doc;
        let mut keys = sort.keys.iter();
        keys.all(|key| is_doc(key) && key.order == SortOrder::Ascending)
    };
    let mut scroll = None;
    if !is_hidden && sort.as_ref().is_some_and(|sort| !is_stored(sort)) {
        scroll = question.scroll.take();
    }
    let sort = match sort {
        // The position of a document would reveal how many precede it.
        sort if is_hidden => sort,
        Some(sort) => Some(sort.told_apart(is_pinned || scroll.is_some())),
        None if is_pinned => Some(Sort::default().told_apart(true)),
        None => None,
    };
    if let Some(after) = body.take("search_after") {
        let sort = sort.as_ref();
        let sort = sort.ok_or_else(|| wrong("search_after", "there must be a sort, too"))?;
        if question.start_offset > 0 {
            return Err(wrong("search_after", "from must be 0 or absent"));
        }
        question.search_after = sort.after(&after)?;
    }
    let is_scroll = question.scroll.is_some() || scroll.is_some();
    if is_scroll && (question.start_offset > 0 || !question.search_after.is_empty()) {
        return Err(wrong(
            "scroll",
            "this goes through all hits from the first: leave out from and search_after",
        ));
    }
    if question.scroll.is_some() && sort.as_ref().is_some_and(|sort| !is_stored(sort)) {
        return Err(wrong(
            "scroll",
            "for a token with a filter, this goes through hits as they lie in the index: sort by _doc",
        ));
    }
    if question.collapse.is_some() && (is_scroll || !question.search_after.is_empty()) {
        return Err(wrong(
            "collapse",
            "this goes with neither scroll nor search_after: use from",
        ));
    }
    Ok(Order { sort, scroll })
}

/// Returns the default order of hits: the best first, unless all have the same `score`; then the index's own order.
pub(in crate::api::elastic) fn order_by_itself(question: &Question, score: Option<f32>) -> Sort {
    let keys = match score {
        // In stored order, in which a scroll continues from split to split.
        _ if question.scroll.is_some() => {
            vec![SortKeySpec::new(SortTarget::Doc, SortOrder::Ascending)]
        }
        // Places are not values to choose by.
        Some(_) if question.collapse.is_none() => Vec::new(),
        _ => vec![SortKeySpec::new(SortTarget::Score, SortOrder::Descending)],
    };
    Sort {
        keys,
        formats: Vec::new(),
    }
}
