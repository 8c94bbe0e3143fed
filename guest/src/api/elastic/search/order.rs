//! The order of hits of a search, where in it they begin and end, and how many are counted.

use serde_json::Value;

use super::sort::Sort;
use crate::SearchError;
use crate::api::elastic::given::body::{Body, as_written, wrong};
use crate::api::elastic::given::params::UrlParams;
use crate::request::{Counting, Question, Scroll, SortKeySpec, SortOrder, SortTarget};

/// Default number of hits.
const DEFAULT_SIZE: u64 = 10;

/// Default limit up to which hits are counted.
const DEFAULT_COUNTED: u64 = 10_000;

/// Maximum of `from` and of `size`: they are integers of 32 bits for Elasticsearch.
const MAX_INT: i64 = i32::MAX as i64;

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
        return Err(SearchError::invalid(match is_scroll {
            true => "cannot use `collapse` in a scroll context: use from",
            false => "cannot use `collapse` in conjunction with `search_after`: use from",
        }));
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
        ..Sort::default()
    }
}

/// Takes a number from the URL, or else from the body.
pub(in crate::api::elastic) fn count(
    body: &mut Body,
    params: &mut UrlParams,
    key: &'static str,
) -> Result<Option<u64>, SearchError> {
    match params.count(key)? {
        Some(count) => Ok(Some(count)),
        None => body.count(key),
    }
}

/// Takes the number of hits and of those before them.
///
/// # Errors
/// If one is negative or too large, or a scroll asks for none.
pub(in crate::api::elastic) fn window(
    body: &mut Body,
    params: &mut UrlParams,
    question: &mut Question,
) -> Result<(), SearchError> {
    let mut number = |key: &'static str| {
        let given = params.text(key).map(Value::from);
        let given = given.or_else(|| body.take(key)).map(as_written);
        match given.as_ref().map(Value::as_i64) {
            None => Ok(None),
            Some(Some(number)) if number < 0 => Err(SearchError::invalid(format!(
                "[{key}] parameter cannot be negative, found [{number}]"
            ))),
            Some(Some(number)) if number > MAX_INT => Err(SearchError::invalid(format!(
                "Numeric value ({number}) out of range of int (-2147483648 - 2147483647): [{key}]"
            ))),
            Some(number) => match number.and_then(|number| u64::try_from(number).ok()) {
                Some(number) => Ok(Some(number)),
                None => Err(wrong(key, "this must be a whole number, 0 or more")),
            },
        }
    };
    question.max_hits = number("size")?.unwrap_or(DEFAULT_SIZE);
    question.start_offset = number("from")?.unwrap_or(0);
    if question.scroll.is_none() {
        return Ok(());
    }
    if question.max_hits == 0 {
        return Err(SearchError::invalid(
            "[size] cannot be [0] in a scroll context",
        ));
    }
    match params.flag("request_cache")? {
        Some(true) => Err(SearchError::invalid(
            "[request_cache] cannot be used in a scroll context",
        )),
        _ => Ok(()),
    }
}

/// Returns the maximum number of hits that are counted; `None` if the number is not shown.
///
/// # Errors
/// If it is invalid, or the total is to be one number that the search may not find out.
pub(in crate::api::elastic) fn most_counted(
    body: &mut Body,
    params: &mut UrlParams,
    total_is_number: bool,
    is_scroll: bool,
) -> Result<Option<u64>, SearchError> {
    let track = match params.text("track_total_hits").map(str::to_owned) {
        Some(text) => Some(Value::from(text)),
        None => body.take("track_total_hits"),
    };
    match track.map(as_written) {
        None if total_is_number || is_scroll => Ok(Some(u64::MAX)),
        None => Ok(Some(DEFAULT_COUNTED)),
        Some(Value::Bool(true)) => Ok(Some(u64::MAX)),
        Some(Value::Bool(false)) => Ok(None),
        Some(count) => match (count.as_u64(), count.as_i64()) {
            (Some(most), _) if total_is_number => Err(SearchError::invalid(format!(
                "[rest_total_hits_as_int] cannot be used if the tracking of total hits is not accurate, got {most}"
            ))),
            (Some(most), _) => Ok(Some(most)),
            // Elasticsearch's other notation for true.
            (None, Some(-1)) => Ok(Some(u64::MAX)),
            (None, Some(other)) => Err(SearchError::invalid(format!(
                "[track_total_hits] parameter must be positive or equals to -1, got {other}"
            ))),
            (None, None) => Err(wrong(
                "track_total_hits",
                "this must be true, false or a whole number",
            )),
        },
    }
}

/// Returns how hits are counted.
pub(in crate::api::elastic) fn counting(most_counted: Option<u64>) -> Counting {
    match most_counted {
        Some(u64::MAX) => Counting::All,
        most => Counting::UpTo(most.unwrap_or(0)),
    }
}
