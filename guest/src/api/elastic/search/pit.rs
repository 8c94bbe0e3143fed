//! Points in time: searches of an index as it was when the point was opened.
//!
//! The id of a point in time contains the hash of each index's manifest. The manifests themselves are in the host's
//! cache, because the store has only the newest; objects that a newer one does not name stay for the grace period of
//! the garbage collection. If either is gone, a search reports that. The cache also has the list of open points, and the
//! end of those that were let go.
//!
//! See <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-open-point-in-time>.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::elastic::given::body::{Body, wrong};
use crate::api::elastic::given::params::read_duration;
use crate::api::settings::ApiSettings;
use crate::exchange::Exchange;
use crate::plan::pin_manifest;
use crate::query::QueryNode;
use crate::request::{AskedIndexes, PinnedManifest};
use crate::search::no_index;
use crate::split::partial_cache::{look_up, store};
use crate::{ErrorKind, SearchError};

/// Maximum length of a point in time's id, in bytes: enough for hundreds of indexes.
const MAX_LEN: usize = 128 * 1024;

/// Key of the list of open points in the host's cache.
const LIST: &str = "points-in-time";

/// Maximum number of points in the list; the oldest leave it first.
const MAX_LISTED: usize = 1_000;

/// Contents of an id.
#[derive(Serialize, Deserialize)]
struct Point {
    manifests: Vec<PinnedManifest>,
    /// Tells points with the same manifests apart.
    opened: (i64, u64),
}

/// A point in time in the list of open ones.
#[derive(Clone, Serialize, Deserialize)]
pub(in crate::api::elastic) struct Listed {
    id: String,
    opened_ms: i64,
    keep_alive_ms: u64,
}

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
        let point: Option<Point> = serde_json::from_slice(&bytes.ok_or_else(invalid)?).ok();
        let point = point.filter(|point| !point.manifests.is_empty());
        Ok(Self {
            id: id.to_owned(),
            manifests: point.ok_or_else(invalid)?.manifests,
        })
    }
}

/// Opens a point in time of these indexes.
///
/// # Errors
/// If a manifest cannot be read, or the host has no cache.
pub(in crate::api::elastic) async fn open(
    indexes: &AskedIndexes,
    keep_alive_ms: u64,
    settings: &ApiSettings,
    exchange: &Exchange,
) -> Result<String, SearchError> {
    let limits = &settings.limits;
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
    let opened_ms = settings.now_ms.unwrap_or_default();
    let point = Point {
        manifests,
        opened: (opened_ms, exchange.report().elapsed_us),
    };
    let json = serde_json::to_string(&point).unwrap_or_default();
    let id = BASE64_URL_SAFE_NO_PAD.encode(json);
    let mut list = list(settings, exchange).await;
    list.push(Listed {
        id: id.clone(),
        opened_ms,
        keep_alive_ms,
    });
    let num_old = list.len().saturating_sub(MAX_LISTED);
    list.drain(..num_old);
    store(exchange, LIST, &list);
    exchange.yield_to_host().await;
    Ok(id)
}

/// Returns the open points in time of all callers.
async fn list(settings: &ApiSettings, exchange: &Exchange) -> Vec<Listed> {
    let list: Option<Vec<Listed>> = look_up(exchange, LIST).await;
    let now_ms = settings.now_ms.unwrap_or_default();
    let is_open = |listed: &Listed| {
        let keep_alive_ms = i64::try_from(listed.keep_alive_ms).unwrap_or(i64::MAX);
        listed.opened_ms.saturating_add(keep_alive_ms) > now_ms
    };
    list.unwrap_or_default()
        .into_iter()
        .filter(is_open)
        .collect()
}

/// Returns the open points in time of indexes that the caller may search, in OpenSearch's form.
pub(in crate::api::elastic) async fn open_points(
    settings: &ApiSettings,
    exchange: &Exchange,
) -> Value {
    let list = list(settings, exchange).await.into_iter();
    let list = list.filter(|listed| is_visible(&listed.id, settings));
    let shown = list.map(|listed| {
        json!({
            "pit_id": listed.id,
            "creation_time": listed.opened_ms,
            "keep_alive": listed.keep_alive_ms,
        })
    });
    json!({"pits": shown.collect::<Vec<Value>>()})
}

/// Returns whether a caller may know of a point in time: one with a filter has none.
fn is_visible(id: &str, settings: &ApiSettings) -> bool {
    let point = Pinned::of(&json!({ "id": id }));
    settings.forced_filter.is_none()
        && point.is_ok_and(|point| {
            let mut names = point.manifests.iter().map(|(name, _)| name);
            names.all(|name| settings.indexes.contains(name))
        })
}

/// Returns the answer about points in time that were let go.
pub(in crate::api::elastic) fn ended(ids: &[String], of_opensearch: bool) -> Value {
    if !of_opensearch {
        return json!({"succeeded": true, "num_freed": ids.len()});
    }
    let ended = ids.iter();
    let points = ended.map(|id| json!({"successful": true, "pit_id": id}));
    json!({"pits": points.collect::<Vec<Value>>()})
}

/// Ends points in time, or all that the caller may search. Returns their ids.
pub(in crate::api::elastic) async fn end(
    ids: Option<&[String]>,
    settings: &ApiSettings,
    exchange: &Exchange,
) -> Vec<String> {
    let list = list(settings, exchange).await;
    let ended: Vec<String> = match ids {
        Some(ids) => ids.to_vec(),
        None => {
            let ids = list.iter().map(|listed| listed.id.clone());
            ids.filter(|id| is_visible(id, settings)).collect()
        }
    };
    let rest: Vec<&Listed> = list
        .iter()
        .filter(|listed| !ended.contains(&listed.id))
        .collect();
    store(exchange, LIST, &rest);
    for id in &ended {
        store(exchange, &key_of_end(id), &true);
    }
    exchange.yield_to_host().await;
    ended
}

fn key_of_end(id: &str) -> String {
    format!("end-of-pit/{}", blake3::hash(id.as_bytes()).to_hex())
}

/// Checks that a point in time has not ended.
///
/// # Errors
/// If it has.
pub(in crate::api::elastic) async fn check_open(
    id: Option<&str>,
    exchange: &Exchange,
) -> Result<(), SearchError> {
    let Some(id) = id else {
        return Ok(());
    };
    let has_ended: Option<bool> = look_up(exchange, &key_of_end(id)).await;
    match has_ended {
        None => Ok(()),
        Some(_) => Err(SearchError::new(
            ErrorKind::NotFound,
            "this point in time has been let go",
        )),
    }
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

/// Takes the ids of points in time from a body.
///
/// # Errors
/// If one is no text, or the body has something else.
pub(in crate::api::elastic) fn given_points(
    mut body: Body,
    key: &str,
) -> Result<Option<Vec<String>>, SearchError> {
    let ids = match body.take(key) {
        None => None,
        Some(Value::Array(ids)) => Some(ids),
        Some(id) => Some(vec![id]),
    };
    body.finish()?;
    let ids = ids.map(|ids| {
        let ids = ids.iter().map(|id| id.as_str().map(str::to_owned));
        let ids: Option<Vec<String>> = ids.collect();
        ids.ok_or_else(|| wrong(key, "this must be an id, or a list of ids"))
    });
    ids.transpose()
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
        (Some(id), Some(of)) if id < of && !has_others && is_fixed => Ok(QueryNode::slice(id, of)),
        (Some(id), Some(of)) if id < of && !has_others => Err(wrong(
            "slice",
            "this needs a scroll or a point in time: without one, documents may move between slices",
        )),
        _ => Err(wrong(
            "slice",
            "this must be an object with id and a larger max",
        )),
    }
}
