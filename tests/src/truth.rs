//! Expected answer of a request, and the check of answers to searches with faults.

use std::collections::HashMap;

use anyhow::Result;
use canter_runtime::{ErrorKind, SearchError, SearchResponse};
use serde_json::{Value, json};

use crate::TestIndex;

/// Request with its answer without faults and all documents that match it.
pub struct Truth {
    /// Request.
    pub request: Value,
    answer: Value,
    documents: HashMap<String, usize>,
}

/// Permitted outcome of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// Correct answer.
    Right,
    /// Answer that says that it is partial.
    Partial,
    /// Clear error of this kind.
    Error(&'static str),
}

impl Truth {
    /// Runs the request against the index in memory.
    pub fn of(index: &TestIndex, request: Value) -> Result<Self> {
        let answer = index.search(&request)?.json;
        let all = index.search(&json!({"query": &request["query"], "max_hits": 10_000}))?;
        Ok(Self {
            documents: counted(&all.json["hits"]),
            answer,
            request,
        })
    }

    /// Returns the outcome of a search, or a description of the error in it.
    pub fn judge(&self, answer: &Result<SearchResponse, SearchError>) -> Result<End, String> {
        let answer = match answer {
            Ok(answer) => &answer.json,
            Err(error) => return judge_error(error),
        };
        let is_partial = answer["failed_splits"] != json!([])
            || answer["timed_out"] == json!(true)
            || !answer["budget_exhausted"].is_null();
        let differs = ["num_hits", "hits", "aggregations"]
            .into_iter()
            .find(|key| answer[key] != self.answer[key]);
        match (differs, is_partial) {
            (None, false) => Ok(End::Right),
            (Some(key), false) => Err(format!(
                "is not right and does not say so: {key} is {}, and not {}",
                answer[key], self.answer[key]
            )),
            (_, true) => self.judge_partial(answer).map(|()| End::Partial),
        }
    }

    /// Checks that a partial answer has nothing beyond the complete answer. It may lack the parts
    /// that could not be read.
    fn judge_partial(&self, answer: &Value) -> Result<(), String> {
        let (num_hits, all) = (&answer["num_hits"], &self.answer["num_hits"]);
        if num_hits.as_u64() > all.as_u64() {
            return Err(format!("counts {num_hits} of {all} hits"));
        }
        for (document, num) in counted(&answer["hits"]) {
            if self.documents.get(&document).is_none_or(|all| num > *all) {
                return Err(format!("has a hit that does not match: {document}"));
            }
        }
        within(&answer["aggregations"], &self.answer["aggregations"])
    }
}

/// Checks that an error suggests an action: to try again after a failed read, or to raise a limit.
fn judge_error(error: &SearchError) -> Result<End, String> {
    let names_it = |names: &[&str]| names.iter().any(|name| error.message.contains(name));
    let is_clear = match error.kind {
        ErrorKind::Unavailable => names_it(&["manifest"]),
        ErrorKind::Limit => names_it(&["deadline", "max_requests", "max_bytes", "max_waves"]),
        _ => false,
    };
    match is_clear {
        true => Ok(End::Error(error.kind.as_str())),
        false => Err(format!("error of kind {}: {error}", error.kind.as_str())),
    }
}

/// Checks that every bucket exists in the complete answer, with at least the same count.
fn within(partial: &Value, truth: &Value) -> Result<(), String> {
    let Value::Object(fields) = partial else {
        return Ok(());
    };
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("doc_count", count) if count.as_u64() > truth["doc_count"].as_u64() => {
                return Err(format!("counts {partial}, and there are {truth}"));
            }
            ("buckets", Value::Array(buckets)) => {
                let all = truth["buckets"].as_array();
                let all = all.ok_or_else(|| format!("has untrue buckets {value}"))?;
                for bucket in buckets {
                    let same = all.iter().find(|other| other["key"] == bucket["key"]);
                    within(
                        bucket,
                        same.ok_or_else(|| format!("has an untrue {bucket}"))?,
                    )?;
                }
            }
            (_, Value::Object(_)) => within(value, &truth[name])?,
            _ => {}
        }
    }
    Ok(())
}

/// Counts the occurrences of each document. A corpus may have the same line twice.
fn counted(hits: &Value) -> HashMap<String, usize> {
    let mut documents = HashMap::new();
    for hit in hits.as_array().into_iter().flatten() {
        *documents.entry(hit.to_string()).or_default() += 1;
    }
    documents
}
