//! Points in time: searches of an index as it was when the point was opened.
//!
//! The id of a point in time contains the hash of each index's manifest. The manifests themselves are in the host's
//! cache, because the store has only the newest; objects that a newer one does not name stay for the grace period of
//! the garbage collection. If either is gone, a search reports that.
//!
//! See <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-open-point-in-time>.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::Value;

use crate::api::elastic::body::{Body, wrong};
use crate::api::elastic::params::read_duration;
use crate::exchange::Exchange;
use crate::limits::Limits;
use crate::plan::pin_manifest;
use crate::query::QueryNode;
use crate::request::{AskedIndexes, PinnedManifest};
use crate::search::no_index;
use crate::{ErrorKind, SearchError};

/// Maximum length of a point in time's id, in bytes: enough for hundreds of indexes.
const MAX_LEN: usize = 128 * 1024;

/// Maximum number of slices, as in Elasticsearch.
const MAX_SLICES: u32 = 1_024;

/// A point in time.
pub(in crate::api::elastic) struct Pinned {
    pub(in crate::api::elastic) id: String,
    pub(in crate::api::elastic) manifests: Vec<PinnedManifest>,
}

impl Pinned {
    /// Parses the value of `pit`. The host's cache decides how long it is kept.
    ///
    /// # Errors
    /// If it is invalid.
    pub(in crate::api::elastic) fn of(pit: &Value) -> Result<Self, SearchError> {
        let unknown = pit.as_object().into_iter().flatten();
        let mut unknown = unknown.filter(|(key, _)| !matches!(key.as_str(), "id" | "keep_alive"));
        let id = pit.get("id").and_then(Value::as_str);
        let (Some(id), None) = (id, unknown.next()) else {
            return Err(wrong(
                "pit",
                "this must be an object with id and keep_alive",
            ));
        };
        if let Some(keep_alive) = pit.get("keep_alive").filter(|value| !value.is_null()) {
            read_duration("pit.keep_alive", keep_alive.as_str().unwrap_or_default())?;
        }
        let invalid = || wrong("pit.id", "this is no point in time of this server");
        let bytes = match id.len() <= MAX_LEN {
            true => BASE64_URL_SAFE_NO_PAD.decode(id).ok(),
            false => None,
        };
        let manifests: Option<Vec<PinnedManifest>> =
            serde_json::from_slice(&bytes.ok_or_else(invalid)?).ok();
        let manifests = manifests.filter(|manifests| !manifests.is_empty());
        Ok(Self {
            id: id.to_owned(),
            manifests: manifests.ok_or_else(invalid)?,
        })
    }
}

/// Opens a point in time of these indexes.
///
/// # Errors
/// If a manifest cannot be read, or the host has no cache.
pub(in crate::api::elastic) async fn open(
    indexes: &AskedIndexes,
    limits: &Limits,
    exchange: &Exchange,
) -> Result<String, SearchError> {
    let mut manifests: Vec<PinnedManifest> = Vec::new();
    for name in &indexes.names {
        match pin_manifest(&exchange.of_index(name), limits).await {
            Ok(hash) => manifests.push((name.clone(), hash)),
            Err(error) if error.kind != ErrorKind::NotFound => return Err(error),
            Err(_) if indexes.requires(name) => return Err(no_index(name)),
            // A pattern does not match an index that has not been created yet.
            Err(_) => {}
        }
    }
    if manifests.is_empty() {
        return Err(no_index(&indexes.names.join(",")));
    }
    let json = serde_json::to_string(&manifests).unwrap_or_default();
    Ok(BASE64_URL_SAFE_NO_PAD.encode(json))
}

/// Returns the names of the indexes of the point in time in a body, separated by commas, if there is one.
///
/// # Errors
/// If it is invalid.
pub(in crate::api::elastic) fn pinned_names(body: &Body) -> Result<Option<String>, SearchError> {
    let Some(pit) = body.map.get("pit").filter(|pit| !pit.is_null()) else {
        return Ok(None);
    };
    let manifests = Pinned::of(pit)?.manifests.into_iter();
    let names: Vec<String> = manifests.map(|(name, _)| name).collect();
    Ok(Some(names.join(",")))
}

/// Parses `slice`: a part of the hits of a scroll or a point in time.
pub(in crate::api::elastic) fn read_slice(
    slice: &Value,
    is_fixed: bool,
) -> Result<QueryNode, SearchError> {
    let count = |key: &str| {
        let count = slice.get(key).and_then(Value::as_u64);
        count.and_then(|count| u32::try_from(count).ok())
    };
    let is_known = |key: &String| matches!(key.as_str(), "id" | "max" | "field");
    let has_others = slice
        .as_object()
        .is_none_or(|slice| !slice.keys().all(is_known));
    match (count("id"), count("max")) {
        (Some(id), Some(of)) if id < of && of <= MAX_SLICES && !has_others && is_fixed => {
            Ok(QueryNode::slice(id, of))
        }
        (Some(id), Some(of)) if id < of && of <= MAX_SLICES && !has_others => Err(wrong(
            "slice",
            "this needs a scroll or a point in time: without one, documents may move between slices",
        )),
        _ => Err(wrong(
            "slice",
            format!("this must be an object with id and a larger max, at most {MAX_SLICES}"),
        )),
    }
}
