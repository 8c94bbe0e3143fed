//! Scrolling: all hits of a search, page by page, in stored order or in another.
//!
//! A scroll id contains the request, its manifests, and the position where the last page ended. All pages show the
//! documents that existed when the first was requested: the host's cache keeps the manifests, as for a point in time,
//! and the position of the last page. Without such a cache a scroll continues until its index changes, and then fails.
//!
//! See <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-scroll>.

use canter_protocol::HttpResponse;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::read::{Search, read_search};
use crate::api::elastic::errors::elastic_response;
use crate::api::elastic::given::body::Body;
use crate::api::elastic::given::names::resolve;
use crate::api::elastic::given::params::UrlParams;
use crate::api::settings::ApiSettings;
use crate::exchange::Exchange;
use crate::request::{AskedIndexes, Counting, FIRST_PAGE, Question, Scroll, ScrollState};
use crate::split::partial_cache::{look_up, store};
use crate::{ErrorKind, SearchError};

/// Takes the ids of scrolls from a path, a URL or a body, which overrides the others.
///
/// # Errors
/// If the body has something else.
pub(in crate::api::elastic) fn given_ids(
    of_path: Option<&str>,
    params: &mut UrlParams,
    mut body: Body,
) -> Result<Vec<String>, SearchError> {
    let of_url = params.text("scroll_id").map(str::to_owned);
    let of_url = of_path.map(str::to_owned).or(of_url);
    body.duration("scroll")?;
    let of_body = body.take("scroll_id");
    body.finish()?;
    Ok(match of_body {
        Some(Value::String(id)) => vec![id],
        Some(Value::Array(list)) => {
            let ids = list.iter().filter_map(Value::as_str);
            ids.map(str::to_owned).collect()
        }
        _ => {
            let ids = of_url.as_deref().map(|ids| ids.split(','));
            ids.into_iter().flatten().map(str::to_owned).collect()
        }
    })
}

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
        search.aggregated.clear();
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
    let scrolls: Vec<Scroll> = ids.iter().filter_map(|id| Scroll::of_id(id)).collect();
    let states = scrolls.iter().map(|scroll| state_of(scroll, exchange));
    let states = join_all(states).await;
    let open = states
        .iter()
        .map(|state| !matches!(state, Some(ScrollState::Ended)));
    let num_freed = open.filter(|is_open| *is_open).count();
    for scroll in &scrolls {
        store(exchange, &scroll.key_of_state(), &ScrollState::Ended);
    }
    exchange.yield_to_host().await;
    let body = json!({"succeeded": true, "num_freed": num_freed});
    let is_one_absent = num_freed == 0 && !ids.is_empty();
    elastic_response(if is_one_absent { 404 } else { 200 }, &body)
}

async fn state_of(scroll: &Scroll, exchange: &Exchange) -> Option<ScrollState> {
    look_up(exchange, &scroll.key_of_state()).await
}

/// Continues a scroll after its last page, where the host's cache has its state. The id of the first page stands for the
/// scroll: a caller may send it for all pages. That of another page continues after that page.
///
/// # Errors
/// If the scroll has ended.
pub(in crate::api::elastic) async fn resume(
    question: &mut Question,
    exchange: &Exchange,
) -> Result<(), SearchError> {
    let Some(scroll) = question.scroll().filter(|scroll| scroll.total.is_some()) else {
        return Ok(());
    };
    match state_of(scroll, exchange).await {
        Some(ScrollState::Ended) => Err(SearchError::new(
            ErrorKind::NotFound,
            "the scroll has been cleared",
        )),
        Some(ScrollState::Continues(page))
            if scroll.page == FIRST_PAGE && page.page > FIRST_PAGE =>
        {
            question.continue_scroll(page);
            Ok(())
        }
        _ => Ok(()),
    }
}
