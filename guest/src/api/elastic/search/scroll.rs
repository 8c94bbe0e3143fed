//! Scrolling: all hits of a search, page by page, in stored order or in another.
//!
//! A scroll id contains the request, its manifests, and the position where the last page ended. All pages show the
//! documents that existed when the first was requested: the host's cache keeps the manifests, as for a point in time.
//! Without such a cache a scroll continues until its index changes, and then fails.
//!
//! See <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-scroll>.

use super::read::{Search, read_search};
use crate::SearchError;
use crate::api::elastic::body::Body;
use crate::api::elastic::names::resolve;
use crate::api::elastic::params::UrlParams;
use crate::api::settings::ApiSettings;
use crate::request::{AskedIndexes, Counting, Scroll};

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
