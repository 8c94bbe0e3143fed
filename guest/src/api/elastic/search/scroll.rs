//! Scrolling: all hits of a search, page by page, in the order in which they lie in the index, or in another.
//!
//! A scroll is a text that says the request, of which manifests it is, and where the last page ended. All pages are of the
//! documents that there were when the first was taken: the host's cache keeps the manifests, as for a point in time. Where it
//! does not, a scroll goes on until its index changes, and then says that it cannot.
//!
//! See <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-scroll>.

use super::read::{Search, read_search};
use crate::SearchError;
use crate::api::elastic::body::Body;
use crate::api::elastic::names::resolve;
use crate::api::elastic::params::UrlParams;
use crate::api::settings::ApiSettings;
use crate::request::{AskedIndexes, Counting, Scroll};

/// Reads the request for the next page, by the text of the last one.
///
/// # Errors
/// If it is no such text, or one of its indexes is none that the caller may search.
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
    // Later pages are of the same time as the first.
    let mut settings = settings.clone();
    settings.now_ms = scroll.now_ms.or(settings.now_ms);
    let settings = &settings;
    let mut search = read_search(body, &mut params, is_pretty, settings)?;
    params.finish()?;
    // Whatever else the text says: it goes on where it stands.
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
