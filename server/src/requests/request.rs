//! A request that changes something, and the form of its answer.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use canter_access::matches_any;
use canter_runtime::{Caller, Limits, Searcher};
use serde_json::Value;

use super::params::Params;
use super::problem::Problem;
use crate::http::{Api, Refuse};
use crate::indexes::{Root, Writer, Writers};

/// A request that changes documents or indexes.
pub(crate) struct ChangeRequest<'r> {
    pub(crate) api: Api,
    pub(crate) query: &'r str,
    pub(crate) headers: &'r HeaderMap,
    /// Maximum length of its body, in bytes.
    pub(crate) max_body_bytes: usize,
    /// The sender's permissions.
    pub(crate) caller: &'r Caller,
    /// Whether the sender may delete documents.
    pub(crate) may_delete: bool,
    /// Searches for the sender.
    pub(crate) searcher: &'r Searcher,
    pub(crate) limits: &'r Limits,
    /// Patterns of the names that the sender may use; all if absent.
    pub(crate) allowed: Option<&'r [String]>,
    /// Root in which indexes are created, if permitted.
    pub(crate) root: Option<&'r Arc<Root>>,
}

impl ChangeRequest<'_> {
    /// Returns whether the sender may know of an index with that name.
    pub(crate) fn allows(&self, name: &str) -> bool {
        self.allowed
            .is_none_or(|patterns| matches_any(patterns, name))
    }

    /// Returns the writer of an index, if the sender may know of it.
    pub(crate) fn writer(&self, writers: &Writers, name: &str) -> Option<Writer> {
        writers.writer(name).filter(|_| self.allows(name))
    }
}

pub(crate) fn fail(request: &ChangeRequest<'_>, problem: &Problem) -> Response {
    request
        .api
        .refusal_of(problem.status, problem.kind, &problem.reason)
}

pub(crate) fn respond(
    request: &ChangeRequest<'_>,
    params: &Params,
    status: StatusCode,
    answer: Value,
) -> Response {
    let answer = match &params.filter_path {
        Some(filter) => filter.apply(answer),
        None => answer,
    };
    request.api.answer(status, &answer, params.is_pretty)
}
