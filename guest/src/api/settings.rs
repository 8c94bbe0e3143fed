//! What a host decides for all requests of a caller.

use serde::Deserialize;

use crate::SearchError;
use crate::limits::Limits;
use crate::request::{parse_filter, read_filters};

/// The settings of one HTTP session. Unknown keys are refused by name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ApiSettings {
    /// The names of the indexes that the caller may search.
    pub(super) indexes: Vec<String>,
    /// Queries that every hit must match.
    #[serde(default, deserialize_with = "read_filters")]
    pub(super) forced_filter: Option<Vec<String>>,
    #[serde(default)]
    pub(super) limits: Limits,
    /// Whether the host has a cache for what the guest computes.
    #[serde(default)]
    keeps_partial_results: bool,
    /// What time it is, in milliseconds since 1970, for requests that do not say.
    #[serde(default)]
    pub(super) now_ms: Option<i64>,
}

/// Names that stand in paths of the API where an index may stand.
const RESERVED: [&str; 2] = ["indexes", "_elastic"];

impl ApiSettings {
    /// Reads settings from JSON.
    ///
    /// # Errors
    /// If they are no settings, or if a name or the filter cannot be used.
    pub(crate) fn parse(json: &str) -> Result<Self, SearchError> {
        let invalid = |what: String| SearchError::invalid(format!("settings: {what}"));
        let mut settings: Self =
            serde_json::from_str(json).map_err(|error| invalid(error.to_string()))?;
        for name in &settings.indexes {
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
        canter_sorting::sort(&mut settings.indexes);
        settings.indexes.dedup();
        for filter in settings.forced_filter.iter().flatten() {
            parse_filter(filter, &settings.limits)?;
        }
        settings.limits.partial_result_cache |= settings.keeps_partial_results;
        Ok(settings)
    }
}
