//! Scrolling: all hits of a search, page by page, in stored order or in another.
//!
//! A scroll id contains the request, its manifests, and the position where the last page ended. All pages show the
//! documents that existed when the first was requested: the host's cache keeps the manifests, as for a point in time.
//! Without such a cache a scroll continues until its index changes, and then fails.
//!
//! See <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-scroll>.

use canter_protocol::HttpResponse;
use serde_json::json;

use super::read::{Search, read_search};
use crate::api::elastic::body::Body;
use crate::api::elastic::errors::elastic_response;
use crate::api::elastic::names::resolve;
use crate::api::elastic::params::UrlParams;
use crate::api::settings::ApiSettings;
use crate::exchange::Exchange;
use crate::partial_cache::{look_up, store};
use crate::request::{AskedIndexes, Counting, Question, Scroll};
use crate::{ErrorKind, SearchError};

/// Parses the request for the next page from the scroll id of the last one.
///
/// # Errors
/// If the id is invalid, or the caller may not search one of its indexes.
pub(in crate::api::elastic) fn next_page(
    id: &str,
    is_pretty: bool,
    settings: &ApiSettings,
) -> Result<(AskedIndexes, Search), SearchError> {
    let invalid = || SearchError::invalid("scroll_id: this is no scroll of this server");
    let scroll = Scroll::of_id(id).ok_or_else(invalid)?;
    let names: Vec<&str> = scroll
        .pinned
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let indexes = resolve(&names.join(","), settings)?;
    if indexes.is_empty() {
        return Err(invalid());
    }
    let mut params = UrlParams::of(&scroll.query)?;
    params.common()?;
    let body = Body::parse(scroll.body.as_bytes())?;
    // Later pages use the time of the first.
    let mut settings = settings.clone();
    settings.now_ms = scroll.now_ms.or(settings.now_ms);
    let settings = &settings;
    let mut search = read_search(body, &mut params, is_pretty, settings)?;
    params.finish()?;
    // The scroll's own position takes precedence over the request in the id.
    let question = &mut search.question;
    question.pinned.clone_from(&scroll.pinned);
    if scroll.total.is_some() {
        // The first page counted, and had the aggregations.
        question.track_total_hits = Counting::UpTo(0);
        question.aggregations = None;
        search.aggregated = None;
    }
    match &mut question.elastic {
        Some(shown) if shown.scroll.is_some() => {
            question.search_after.clone_from(&scroll.keys);
            shown.scroll = Some(scroll);
        }
        _ => question.scroll = Some(scroll),
    }
    Ok((indexes, search))
}

/// Notes that scrolls have ended, in the host's cache.
pub(in crate::api::elastic) async fn end_scrolls(
    ids: &[String],
    exchange: &Exchange,
) -> HttpResponse {
    let scrolls: Option<Vec<Scroll>> = ids.iter().map(|id| Scroll::of_id(id)).collect();
    let Some(scrolls) = scrolls else {
        let body = json!({"succeeded": true, "num_freed": 0});
        return elastic_response(404, &body);
    };
    for scroll in &scrolls {
        store(exchange, &scroll.key_of_end(), &true);
    }
    exchange.yield_to_host().await;
    elastic_response(200, &json!({"succeeded": true, "num_freed": scrolls.len()}))
}

/// Returns the error of a page of a scroll that has ended.
pub(in crate::api::elastic) async fn ended(
    question: &Question,
    exchange: &Exchange,
) -> Option<SearchError> {
    let scroll = question.scroll().filter(|scroll| scroll.total.is_some())?;
    if !question.limits.partial_result_cache {
        return None;
    }
    let has_ended: Option<bool> = look_up(exchange, &scroll.key_of_end()).await;
    has_ended.map(|_| SearchError::new(ErrorKind::NotFound, "the scroll has been cleared"))
}
