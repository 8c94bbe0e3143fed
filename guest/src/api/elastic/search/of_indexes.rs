//! A search together with its indexes.

use super::pit::pinned_names;
use super::read::{Search, read_search};
use crate::SearchError;
use crate::api::elastic::body::Body;
use crate::api::elastic::names::{ALL, found, resolve};
use crate::api::elastic::params::{Common, UrlParams};
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
    let body = Body::parse(body)?;
    let indexes = match pinned_names(&body)? {
        None => found(names, settings, common)?,
        Some(pinned) if names == ALL => resolve(&pinned, settings)?,
        Some(_) => {
            return Err(SearchError::invalid(
                "[indices] cannot be used with point in time: leave the index out",
            ));
        }
    };
    if indexes.is_empty() {
        return Ok(None);
    }
    let search = read_search(body, params, common.is_pretty, settings)?;
    Ok(Some((indexes, search)))
}
