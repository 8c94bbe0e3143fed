//! What a request answers when nothing fails, and the judgement of answers when something does.

use std::collections::HashMap;

use anyhow::Result;
use canter_runtime::{ErrorKind, SearchError, SearchResponse};
use serde_json::{Value, json};

use crate::TestIndex;

/// A request, its answer without faults, and every document that matches it.
pub struct Truth {
    /// The request.
    pub request: Value,
    answer: Value,
    documents: HashMap<String, usize>,
}

/// How a search ended, if it ended as it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// With the right answer.
    Right,
    /// With an answer that says that it is partial.
    Partial,
    /// With a clear error of this kind.
    Error(&'static str),
}

impl Truth {
    /// Asks the index itself, in memory.
    pub fn of(index: &TestIndex, request: Value) -> Result<Self> {
        let answer = index.search(&request)?.json;
        let all = index.search(&json!({"query": &request["query"], "max_hits": 10_000}))?;
        Ok(Self {
            documents: counted(&all.json["hits"]),
            answer,
            request,
        })
    }

    /// How the search ended, or what is wrong with its end.
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

    /// Returns a partial answer may lack what could not be read, and has nothing else.
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

/// Returns an error sends its reader somewhere: to try again with what could not be read, or to
/// raise what was too low.
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

/// Returns every bucket is one of the true ones, and counts no more.
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

/// How often each document occurs: a corpus may have the same line twice.
fn counted(hits: &Value) -> HashMap<String, usize> {
    let mut documents = HashMap::new();
    for hit in hits.as_array().into_iter().flatten() {
        *documents.entry(hit.to_string()).or_default() += 1;
    }
    documents
}
