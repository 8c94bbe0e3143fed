//! Scrolling: all hits of a search, page by page, in the order in which they lie in the index, or in another.
//!
//! A scroll is a text that says the request and where the last page ended. Nothing is kept for it, so that it does not
//! expire. In the order of the index it ends where the split that it stands in is merged into another, and says so; in
//! another it goes on like `search_after`.
//!
//! See <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-scroll>.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::body::{Body, Search, read_search};
use super::params::UrlParams;
use super::routes::{no_index, resolve};
use crate::SearchError;
use crate::api::settings::ApiSettings;
use crate::request::{Counting, Scroll};

/// Longest text of a scroll, in bytes: with a longest query and what is around it.
const MAX_LEN: usize = 256 * 1024;

/// What a scroll's text says.
#[derive(Serialize, Deserialize)]
struct Written {
    /// Names of indexes, with commas between them.
    index: String,
    scroll: Scroll,
}

/// The text of a scroll.
pub(crate) fn scroll_id(index: &str, scroll: Scroll) -> String {
    let written = Written {
        index: index.to_owned(),
        scroll,
    };
    let json = serde_json::to_string(&written).unwrap_or_default();
    BASE64_URL_SAFE_NO_PAD.encode(json)
}

/// Reads the request for the next page, by the text of the last one.
///
/// # Errors
/// If it is no such text, or the index is none that the caller may search.
pub(super) fn next_page(
    id: &str,
    is_pretty: bool,
    settings: &ApiSettings,
) -> Result<(Vec<String>, Search), SearchError> {
    let invalid = || SearchError::invalid("scroll_id: this is no scroll of this server");
    if id.len() > MAX_LEN {
        return Err(invalid());
    }
    let json = BASE64_URL_SAFE_NO_PAD.decode(id).map_err(|_| invalid())?;
    let written: Written = serde_json::from_slice(&json).map_err(|_| invalid())?;
    let indexes = resolve(&written.index, settings, false)?;
    if indexes.is_empty() {
        return Err(no_index(&written.index));
    }
    let mut params = UrlParams::of(&written.scroll.query)?;
    params.common()?;
    let body = Body::parse(written.scroll.body.as_bytes())?;
    // Later pages are of the same time as the first.
    let mut settings = settings.clone();
    settings.now_ms = written.scroll.now_ms.or(settings.now_ms);
    let settings = &settings;
    let mut search = read_search(&indexes, body, &mut params, is_pretty, settings)?;
    params.finish()?;
    // Whatever else the text says: it goes on where it stands.
    let request = &mut search.question.request;
    if written.scroll.total.is_some() {
        // The first page counted, and had the aggregations.
        request.track_total_hits = Counting::UpTo(0);
        request.aggs = None;
        search.aggregated = None;
    }
    match &mut request.elastic {
        Some(shown) if shown.scroll.is_some() => {
            request.search_after.clone_from(&written.scroll.keys);
            shown.scroll = Some(written.scroll);
        }
        _ => request.scroll = Some(written.scroll),
    }
    Ok((indexes, search))
}
