//! Leaves that run in other instances: their messages and calls.
//!
//! A leaf request and its partial result are bytes that only the same version of the guest can
//! read. Both therefore name the guest, and a function with another version refuses the leaf.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use canter_runtime::engine::NativeEngine;
use canter_runtime::{
    Budget, ErrorKind, LeafAnswer, LeafRunner, Limits, Profile, SearchError, Searcher,
};
use futures_util::future::{BoxFuture, FutureExt};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::answer::MAX_PAYLOAD_BYTES;
use crate::invoke::Invoker;

/// Leaf request as the payload of an invocation.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LeafCall {
    /// Leaf request in base64.
    leaf: String,
    guest: String,
    deadline_ms: u64,
    max_requests: Option<u64>,
    max_bytes: Option<u64>,
    max_waves: Option<u64>,
}

/// Partial result as the answer of an invocation.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct LeafReply {
    /// Partial result in base64.
    partial: String,
    guest: String,
    profile: Profile,
    timed_out: bool,
    budget_exhausted: Option<String>,
}

impl LeafCall {
    fn new(leaf: &[u8], limits: &Limits) -> Self {
        Self {
            leaf: STANDARD.encode(leaf),
            guest: NativeEngine::guest_version(),
            deadline_ms: limits.budget.deadline_ms.unwrap_or(u64::MAX),
            max_requests: limits.budget.max_requests,
            max_bytes: limits.budget.max_bytes,
            max_waves: limits.budget.max_waves,
        }
    }

    /// Runs the leaf of a search that another instance has divided. `limits` are the limits of this
    /// instance.
    pub(crate) async fn run(
        self,
        searcher: &Searcher,
        limits: &Limits,
    ) -> Result<Value, SearchError> {
        check_guest(&self.guest)?;
        let leaf = decoded(&self.leaf)?;
        let own_ms = limits.budget.deadline_ms.unwrap_or(u64::MAX);
        let limits = Limits {
            // Budget of the caller, who has divided it among the leaves.
            budget: Budget {
                max_requests: self.max_requests,
                max_bytes: self.max_bytes,
                max_waves: self.max_waves,
                deadline_ms: Some(own_ms.min(self.deadline_ms)),
            },
            ..limits.clone()
        };
        let answer = searcher.leaf(leaf, &limits).await?;
        let reply = LeafReply {
            partial: STANDARD.encode(answer.partial),
            guest: NativeEngine::guest_version(),
            profile: answer.profile,
            timed_out: answer.timed_out,
            budget_exhausted: answer.budget_exhausted,
        };
        let reply = serde_json::to_value(reply).map_err(unwritable)?;
        let len = reply.to_string().len();
        match len > MAX_PAYLOAD_BYTES {
            true => Err(too_long("partial result", len)),
            false => Ok(reply),
        }
    }
}

impl LeafReply {
    fn into_answer(self) -> Result<LeafAnswer, SearchError> {
        check_guest(&self.guest)?;
        Ok(LeafAnswer {
            partial: decoded(&self.partial)?,
            profile: self.profile,
            timed_out: self.timed_out,
            budget_exhausted: self.budget_exhausted,
        })
    }
}

/// Runs leaves by invoking a function.
pub(crate) struct InvokedLeaves {
    pub(crate) invoker: Invoker,
}

impl LeafRunner for InvokedLeaves {
    fn run<'a>(
        &'a self,
        leaf: &'a [u8],
        limits: &'a Limits,
    ) -> BoxFuture<'a, Result<LeafAnswer, SearchError>> {
        async move {
            let call = serde_json::to_vec(&LeafCall::new(leaf, limits)).map_err(unwritable)?;
            if call.len() > MAX_PAYLOAD_BYTES {
                return Err(too_long("leaf request", call.len()));
            }
            let reply = self.invoker.invoke(call).await?;
            let reply: LeafReply = serde_json::from_slice(&reply).map_err(|error| {
                SearchError::unavailable(format!("no partial result came back: {error}"))
            })?;
            reply.into_answer()
        }
        .boxed()
    }
}

fn check_guest(guest: &str) -> Result<(), SearchError> {
    let own = NativeEngine::guest_version();
    match guest == own {
        true => Ok(()),
        false => Err(SearchError::invalid(format!(
            "the leaf is of version {guest}, and this function of {own}; deploy the same build to both"
        ))),
    }
}

fn decoded(base64: &str) -> Result<Vec<u8>, SearchError> {
    let bytes = STANDARD.decode(base64);
    bytes.map_err(|error| SearchError::invalid(format!("a leaf is not in base64: {error}")))
}

fn too_long(what: &str, len: usize) -> SearchError {
    let limit = MAX_PAYLOAD_BYTES;
    let message = format!("a {what} takes {len} bytes, and an invocation carries {limit}");
    SearchError::new(ErrorKind::Limit, message)
}

fn unwritable(error: serde_json::Error) -> SearchError {
    SearchError::internal(format!("a leaf cannot be written as JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Environment;

    #[tokio::test]
    async fn a_leaf_that_no_invocation_carries_is_not_sent() {
        let env = Environment::of([
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            // There is no server at this address.
            ("AWS_ENDPOINT_URL_LAMBDA", "http://127.0.0.1:9"),
        ]);
        let invoker = Invoker::from_env(&env, "leaves").unwrap();
        let leaves = InvokedLeaves { invoker };
        for (len, kind) in [
            (MAX_PAYLOAD_BYTES, ErrorKind::Limit),
            (100, ErrorKind::Unavailable),
        ] {
            let error = leaves
                .run(&vec![0; len], &Limits::default())
                .await
                .unwrap_err();
            assert_eq!(error.kind, kind, "{error}");
        }
    }
}
