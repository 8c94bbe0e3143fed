//! Figures of indexes, as the guest has them.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use canter_runtime::session::HttpRequest;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::answers::Asking;
use crate::requests::Problem;

/// Figures of an index, or of several. A caller with a filter learns none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figures {
    pub(super) num_docs: Option<u64>,
    pub(super) num_deleted: Option<u64>,
    pub(super) num_bytes: Option<u64>,
    pub(super) num_segments: Option<u64>,
}

impl Figures {
    fn of(stats: &Value) -> Self {
        let figure = |path: &str| stats.pointer(path).and_then(Value::as_u64);
        Self {
            num_docs: figure("/docs/count"),
            num_deleted: figure("/docs/deleted"),
            num_bytes: figure("/store/size_in_bytes"),
            num_segments: figure("/segments/count"),
        }
    }
}

/// Returns the sum of a figure, unless one is unknown.
pub(super) fn sum(
    of: &BTreeMap<String, Figures>,
    figure: impl Fn(&Figures) -> Option<u64>,
) -> Option<u64> {
    of.values()
        .try_fold(0_u64, |sum, own| Some(sum.saturating_add(figure(own)?)))
}

/// Asks the guest for the figures of these indexes. One that is gone by then is left out.
///
/// # Errors
/// If they cannot be read.
pub(super) async fn figures(
    asking: &Asking<'_>,
    names: &[String],
) -> Result<BTreeMap<String, Figures>, Problem> {
    if names.is_empty() {
        return Ok(BTreeMap::new());
    }
    let encoded = names
        .iter()
        .map(|name| utf8_percent_encode(name, NON_ALPHANUMERIC).to_string());
    let path = format!("/{}/_stats", encoded.collect::<Vec<_>>().join(","));
    let body = asked_of_guest(asking, path, "ignore_unavailable=true").await?;
    let indices = body.get("indices").and_then(Value::as_object);
    let figures = indices.into_iter().flatten();
    Ok(figures
        .map(|(name, index)| (name.clone(), Figures::of(&index["total"])))
        .collect())
}

/// Returns the guest's answer to a request. What is read of it stands apart from how it is asked for.
///
/// # Errors
/// If it is an error.
async fn asked_of_guest(asking: &Asking<'_>, path: String, query: &str) -> Result<Value, Problem> {
    let request = HttpRequest {
        method: "GET".to_owned(),
        path,
        query: query.to_owned(),
        body: Vec::new(),
    };
    let answer = asking
        .searcher
        .http(request, asking.caller, asking.limits)
        .await
        .response;
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if answer.status != 200 {
        return Err(Problem {
            detail: None,
            status: StatusCode::from_u16(answer.status).unwrap_or(StatusCode::SERVICE_UNAVAILABLE),
            kind: "unavailable_shards_exception",
            reason: body
                .pointer("/error/reason")
                .and_then(Value::as_str)
                .unwrap_or("the indexes cannot be read")
                .to_owned(),
        });
    }
    Ok(body)
}
