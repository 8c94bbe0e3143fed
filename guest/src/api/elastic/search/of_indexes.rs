//! A search together with its indexes, and with what it needs besides.

use serde_json::json;

use super::pit::pinned_names;
use super::read::{Search, read_search};
use crate::SearchError;
use crate::api::elastic::composed::boosts::boosted;
use crate::api::elastic::composed::groups::read_groups;
use crate::api::elastic::composed::knn::with_knn;
use crate::api::elastic::composed::rescore::read_rescores;
use crate::api::elastic::composed::suggest::read_suggestions;
use crate::api::elastic::composed::wanted::Composed;
use crate::api::elastic::given::body::{Body, query, wrong};
use crate::api::elastic::given::names::{ALL, found, resolve};
use crate::api::elastic::given::params::{Common, UrlParams};
use crate::api::settings::ApiSettings;
use crate::request::AskedIndexes;

/// Parses a search of the indexes in `names`, unless its body names a point in time; `None` if it has no index. Used
/// for single searches and for each of many.
///
/// # Errors
/// If an index does not exist, or the search is invalid.
pub(in crate::api::elastic) fn read_search_of(
    names: &str,
    body: &[u8],
    params: &mut UrlParams,
    common: &Common,
    settings: &ApiSettings,
) -> Result<Option<(AskedIndexes, Search)>, SearchError> {
    let mut body = Body::parse(body)?;
    let indexes = match pinned_names(&body)? {
        None => found(names, settings, common)?,
        Some(pinned) if names == ALL => resolve(&pinned, settings)?,
        Some(_) => {
            return Err(SearchError::invalid(
                "[indices] cannot be used with point in time: leave the index out",
            ));
        }
    };
    with_knn(&mut body, params)?;
    // A wrong search is wrong without an index, too.
    let composed = read_composed(&mut body, params, common, settings)?;
    let shows_scores = params.flag("include_named_queries_score")? == Some(true);
    let mut search = read_search(body, params, common.is_pretty, settings)?;
    if !composed.is_empty() || shows_scores {
        compose(&mut search, composed, shows_scores)?;
    }
    Ok((!indexes.is_empty()).then_some((indexes, search)))
}

/// Takes what needs further searches out of a body.
fn read_composed(
    body: &mut Body,
    params: &mut UrlParams,
    common: &Common,
    settings: &ApiSettings,
) -> Result<Composed, SearchError> {
    let mut composed = Composed::default();
    let is_scroll = params.text("scroll").is_some();
    composed.rescores = read_rescores(body, is_scroll, settings)?;
    composed.suggestions = read_suggestions(body, settings)?;
    if is_scroll && !composed.suggestions.is_empty() {
        return Err(wrong("suggest", "this is not for a scroll"));
    }
    let collapse = body.map.get("collapse");
    let has_groups = collapse.is_some_and(|collapse| collapse.get("inner_hits").is_some());
    if !has_groups && !body.map.contains_key("indices_boost") {
        return Ok(composed);
    }
    let query = query(body, params)?;
    // It is in the body from here on.
    for name in [
        "q",
        "df",
        "default_operator",
        "analyze_wildcard",
        "lenient",
        "extra_filters",
    ] {
        params.take(name);
    }
    let query = boosted(body, query, &settings.indexes, common.ignores_unavailable)?;
    let of_group = match body
        .map
        .get("post_filter")
        .filter(|filter| !filter.is_null())
    {
        Some(filter) => json!({"bool": {"must": [&query], "filter": [filter]}}),
        None => query.clone(),
    };
    body.map.insert("query".to_owned(), query);
    let total_is_number = params.flag("rest_total_hits_as_int")?.unwrap_or(false);
    composed.groups = read_groups(body, &of_group, total_is_number, settings)?;
    Ok(composed)
}

/// Adds what needs further searches to a search.
fn compose(
    search: &mut Search,
    mut composed: Composed,
    shows_scores: bool,
) -> Result<(), SearchError> {
    let question = &mut search.question;
    for group in &mut composed.groups {
        group.question.pinned.clone_from(&question.pinned);
    }
    let is_filtered = question.is_filtered();
    if is_filtered && (shows_scores || !composed.rescores.is_empty()) {
        let key = match shows_scores {
            true => "include_named_queries_score",
            false => "rescore",
        };
        return Err(wrong(
            key,
            "a token with a filter may not have this: it looks documents up by their ids",
        ));
    }
    if shows_scores {
        let shown = question.elastic.iter().flat_map(|shown| &shown.named);
        let named = shown.cloned().zip(question.named.iter().cloned());
        composed.named = named.collect();
    }
    let largest = composed.rescores.iter().map(|rescore| rescore.window_size);
    if let Some(largest) = largest.max() {
        let shows_sort = question
            .elastic
            .as_ref()
            .is_some_and(|shown| shown.shows_sort);
        if shows_sort {
            return Err(SearchError::invalid(
                "Cannot use [sort] option in conjunction with [rescore].",
            ));
        }
        let whole = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        composed.window = (whole(question.start_offset), whole(question.max_hits));
        if question.max_hits == 0 {
            composed.rescores.clear();
        } else {
            question.max_hits = (question.window() as u64).max(largest as u64);
            question.start_offset = 0;
        }
    }
    search.composed = composed;
    Ok(())
}
