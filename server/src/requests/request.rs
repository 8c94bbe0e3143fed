//! A request that changes something, and the form of its answer.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use canter_access::matches_any;
use canter_index_builder::{Aliases, unix_time_ms};
use canter_runtime::{Caller, Limits, Searcher};
use serde_json::Value;

use super::params::Params;
use super::problem::Problem;
use crate::http::{Api, Refuse};
use crate::indexes::{Expanded, Root, Writer, Writers, expand, write_index};

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

    fn aliases(&self) -> Arc<Aliases> {
        self.root.map(|root| root.aliases()).unwrap_or_default()
    }

    /// Returns the index into which documents for a name go, which may be an alias or have a date.
    ///
    /// # Errors
    /// If no index is meant for documents of an alias, or the name is no alias although it has to be one.
    pub(crate) fn target<'n>(
        &self,
        name: &'n str,
        requires_alias: bool,
    ) -> Result<Cow<'n, str>, Problem> {
        let aliases = self.aliases();
        if requires_alias && !aliases.contains_key(name) {
            return Err(Problem {
                reason: format!(
                    "no such index [{name}] and [require_alias] request flag is [true] and [{name}] is not an alias"
                ),
                ..Problem::no_index(name)
            });
        }
        let index = write_index(name, &aliases, unix_time_ms())?;
        Ok(index.map_or(Cow::Borrowed(name), Cow::Owned))
    }

    /// Replaces aliases and dates in a list of names and patterns by indexes, of those that are `known`.
    ///
    /// # Errors
    /// If a date is invalid.
    pub(crate) fn expanded(&self, names: &str, known: &[String]) -> Result<Expanded, Problem> {
        let known = known.iter().filter(|name| self.allows(name));
        let known: Vec<String> = known.cloned().collect();
        expand(names, &self.aliases(), &known, unix_time_ms())
    }

    /// Returns the writer of an index, if the sender may know of it.
    pub(crate) fn writer(&self, writers: &Writers, name: &str) -> Option<Writer> {
        writers.writer(name).filter(|_| self.allows(name))
    }
}

pub(crate) fn fail(request: &ChangeRequest<'_>, problem: &Problem) -> Response {
    let (api, status) = (request.api, problem.status);
    if problem.detail.is_none() {
        return api.refusal_of(status, problem.kind, &problem.reason);
    }
    let mut body = api.error(status.as_u16(), problem.kind, &problem.reason);
    problem.extend(&mut body["error"]);
    api.answer(status, &body, false)
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
