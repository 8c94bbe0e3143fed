//! The indexes that a request names.

use canter_names::{MayBeAbsent, listed_names};

use super::params::Common;
use crate::api::settings::ApiSettings;
use crate::request::AskedIndexes;
use crate::{ErrorKind, SearchError};

/// All indexes.
pub(in crate::api::elastic) const ALL: &str = "_all";

/// Returns the requested indexes, according to the request's options for missing ones.
///
/// # Errors
/// If a named index does not exist, or a required match is missing.
pub(in crate::api::elastic) fn found(
    names: &str,
    settings: &ApiSettings,
    common: &Common,
) -> Result<AskedIndexes, SearchError> {
    if !common.expands_patterns && (names == ALL || names.contains('*')) {
        return Err(SearchError::invalid(
            "expand_wildcards: all indexes are open here, so that patterns stand for none: add open, or name the indexes",
        ));
    }
    let ignores_unavailable = common.ignores_unavailable;
    let may_be_absent = match ignores_unavailable {
        true => MayBeAbsent::Everything,
        false => MayBeAbsent::Patterns,
    };
    let listed = listed_names(names, &settings.indexes, may_be_absent).map_err(no_index)?;
    match listed.is_empty() && !common.allows_none {
        true => Err(no_index(names)),
        false => Ok(AskedIndexes::of(
            listed,
            ignores_unavailable,
            common.allows_none,
        )),
    }
}

/// Returns the indexes with these names, all of which must exist.
///
/// # Errors
/// If one does not exist.
pub(in crate::api::elastic) fn resolve(
    names: &str,
    settings: &ApiSettings,
) -> Result<AskedIndexes, SearchError> {
    let listed = listed_names(names, &settings.indexes, MayBeAbsent::Patterns);
    let listed = listed.map_err(no_index)?;
    Ok(AskedIndexes::of(listed, false, false))
}

pub(in crate::api::elastic) fn no_index(name: &str) -> SearchError {
    SearchError::new(ErrorKind::NotFound, format!("no such index [{name}]"))
}
