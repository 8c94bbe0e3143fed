//! Settings of a host for all requests of a caller.

use serde::Deserialize;

use crate::SearchError;
use crate::limits::Limits;
use crate::query::QueryNode;
use crate::request::{parse_filters, read_filters};

/// The settings of one HTTP session as JSON. Unknown keys are refused by name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenSettings {
    indexes: Vec<String>,
    #[serde(default, deserialize_with = "read_filters")]
    forced_filter: Option<Vec<String>>,
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    keeps_partial_results: bool,
    #[serde(default)]
    now_ms: Option<i64>,
    #[serde(default)]
    is_of_host: bool,
}

/// The parsed settings of one HTTP session.
#[derive(Clone, Debug)]
pub(crate) struct ApiSettings {
    /// The names of the indexes that the caller may search, in order.
    pub(super) indexes: Vec<String>,
    /// Queries that every hit must match, which limit what the caller may see.
    pub(super) forced_filter: Option<Vec<QueryNode>>,
    pub(super) limits: Limits,
    /// The current time, in milliseconds since 1970, for requests without their own.
    pub(super) now_ms: Option<i64>,
    /// Whether the request is its host's own: a search of all indexes, or of the one that the host knows. It may have keys that
    /// the API does not have, and an error ends the session.
    pub(super) is_of_host: bool,
}

/// Words in the API's paths at the position of an index name.
const RESERVED: [&str; 2] = ["indexes", "_elastic"];

impl ApiSettings {
    /// Reads settings from JSON.
    ///
    /// # Errors
    /// If they are invalid, or a name or the filter cannot be used.
    pub(crate) fn parse(json: &str) -> Result<Self, SearchError> {
        let invalid = |what: String| SearchError::invalid(format!("settings: {what}"));
        let GivenSettings {
            mut indexes,
            forced_filter,
            mut limits,
            keeps_partial_results,
            now_ms,
            is_of_host,
        } = serde_json::from_str(json).map_err(|error| invalid(error.to_string()))?;
        for name in &indexes {
            if name.is_empty() || name.contains('/') {
                return Err(invalid(format!(
                    "an index cannot have the name {name:?}: it is a part of a path"
                )));
            }
            if RESERVED.contains(&name.as_str()) {
                return Err(invalid(format!(
                    "an index cannot have the name {name:?}: the API has a path of that name"
                )));
            }
        }
        canter_sorting::sort(&mut indexes);
        indexes.dedup();
        let forced_filter = forced_filter.map(|filters| parse_filters(&filters, &limits));
        let forced_filter = forced_filter.transpose()?;
        // The host has a cache for partial results.
        limits.partial_result_cache |= keeps_partial_results;
        Ok(Self {
            indexes,
            forced_filter,
            limits,
            now_ms,
            is_of_host,
        })
    }
}
