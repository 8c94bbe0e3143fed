//! Answers of tools: the result, what is missing or cut, and the cost. Their length is bounded.
//!
//! Notes are sentences and come first, so that a model that reads nothing else knows what the answer lacks.

use std::time::Duration;

use canter_runtime::observe::redact_urls;
use canter_runtime::{Limits, Profile};
use serde_json::{Map, Value, json};

use super::app::{Failure, Reply};
use super::shorten::{Payload, Shortened, shorten};
use crate::render::numbers;

/// Maximum number of missing splits that an answer names.
const MAX_NAMED_SPLITS: usize = 5;

/// Maximum length of a message about an unreadable split, in bytes.
const MAX_ACCOUNT_BYTES: usize = 300;

/// Number of bytes reserved for the notes that cutting adds.
const MAX_CUT_NOTE_BYTES: usize = 600;

/// An answer under construction.
pub(super) struct Answer {
    notes: Vec<String>,
    is_complete: bool,
    facts: Map<String, Value>,
    cost: Value,
}

/// Cost of a call, of one request or of several.
#[derive(Debug, Default)]
pub(super) struct Spent {
    num_requests: u64,
    num_bytes: u64,
    num_waves: u64,
    num_cache_hits: u64,
    elapsed: Duration,
}

impl Spent {
    pub(super) fn of(reply: &Reply) -> Self {
        let mut spent = Self::default();
        spent.add(&reply.profile, reply.elapsed);
        spent
    }

    pub(super) fn add(&mut self, profile: &Profile, elapsed: Duration) {
        self.num_requests += profile.num_requests;
        self.num_bytes += profile.num_bytes;
        self.num_waves += profile.num_waves;
        self.num_cache_hits += profile.num_cache_hits.total();
        self.elapsed += elapsed;
    }

    /// Returns the part of `limits` that is left.
    pub(super) fn left_of(&self, limits: &Limits) -> Limits {
        let left = |max: Option<u64>, used: u64| max.map(|max| max.saturating_sub(used));
        let elapsed_ms = u64::try_from(self.elapsed.as_millis()).unwrap_or(u64::MAX);
        let mut limits = limits.clone();
        let budget = &mut limits.budget;
        budget.max_requests = left(budget.max_requests, self.num_requests);
        budget.max_bytes = left(budget.max_bytes, self.num_bytes);
        budget.max_waves = left(budget.max_waves, self.num_waves);
        budget.deadline_ms = left(budget.deadline_ms, elapsed_ms);
        limits
    }

    /// Returns the cost as an answer shows it. Under a forced filter it contains only the time, because the reads of a
    /// search depend on hidden documents.
    pub(super) fn to_json(&self, is_filtered: bool) -> Value {
        let elapsed_ms = (self.elapsed.as_secs_f64() * 1e4).round() / 10.0;
        if is_filtered {
            return json!({
                "elapsed_ms": elapsed_ms,
                "not_shown": "requests, bytes and waves, because this server has a filter",
            });
        }
        json!({
            "elapsed_ms": elapsed_ms,
            "num_requests": self.num_requests,
            "num_bytes": self.num_bytes,
            "num_waves": self.num_waves,
            "num_cache_hits": self.num_cache_hits,
        })
    }
}

impl Answer {
    pub(super) fn new(cost: Value) -> Self {
        Self {
            notes: Vec::new(),
            is_complete: true,
            facts: Map::new(),
            cost,
        }
    }

    pub(super) fn note(&mut self, sentence: impl Into<String>) {
        self.notes.push(sentence.into());
    }

    /// Records that something is missing.
    pub(super) fn lacks(&mut self, sentence: impl Into<String>) {
        self.is_complete = false;
        self.note(sentence);
    }

    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    pub(super) fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.facts.insert(key.to_owned(), value.into());
    }

    /// Adds a number to the cost.
    pub(super) fn put_cost(&mut self, key: &str, value: Value) {
        if let (Value::Object(cost), false) = (&mut self.cost, value.is_null()) {
            cost.insert(key.to_owned(), value);
        }
    }

    /// Records what a search lacks, from the search API's answer. `asked` are the limits of the call, `most` those of
    /// the server.
    ///
    /// # Errors
    /// If splits are missing and none was read: such an answer is useless.
    pub(super) fn note_missing(
        &mut self,
        json: &Value,
        asked: &Limits,
        most: &Limits,
    ) -> Result<(), Failure> {
        let splits = |key: &str| json[key].as_array().map_or(&[][..], Vec::as_slice);
        let (failed, skipped) = (splits("failed_splits"), splits("skipped_splits"));
        // Under a forced filter, the number and ids of splits are hidden.
        let is_hidden = skipped
            .iter()
            .chain(failed)
            .any(|split| split["split_id"] == "");
        let counted = |num: usize| match is_hidden {
            true => "a part of the index".to_owned(),
            false => numbers::counted(num as u64, "split"),
        };
        let limit = match json["budget_exhausted"].as_str() {
            None if json["timed_out"] == true => Some("deadline_ms"),
            limit => limit,
        };
        if let Some(limit) = limit {
            let lacks = lacks_of_skipped(skipped.len() as u64, is_hidden);
            self.lacks(format!(
                "{limit} was used up: {lacks}. {}",
                advice(limit, asked, most)
            ));
        } else if !skipped.is_empty() {
            let num = counted(skipped.len());
            self.lacks(format!("{num} skipped, and so not in the answer."));
        }
        if !failed.is_empty() {
            let num = counted(failed.len());
            self.lacks(format!(
                "{num} could not be read, and so not in the answer; `failed_splits` says why."
            ));
        }
        if self.is_complete {
            return Ok(());
        }
        let num = |key: &str| json["profile"][key].as_u64().unwrap_or(0);
        let num_answered = num("num_splits_searched")
            + num("num_splits_answered_from_head")
            + num("num_splits_answered_from_cache");
        let is_known = json["profile"].is_object();
        if is_known && num_answered == 0 && !(failed.is_empty() && skipped.is_empty()) {
            let why = failed.first().and_then(|split| split["message"].as_str());
            let mut message = self.notes.join(" ");
            if let Some(why) = why {
                message = format!("{message} The first: {why}");
            }
            return Err(Failure::new(&format!(
                "no split could be searched. {message}"
            )));
        }
        let named = |splits: &[Value], shown: fn(&Value) -> Value| -> Value {
            let named = splits.iter().take(MAX_NAMED_SPLITS);
            named.map(shown).collect()
        };
        self.put("num_skipped_splits", skipped.len());
        self.put(
            "skipped_splits",
            named(skipped, |split| split["split_id"].clone()),
        );
        self.put("num_failed_splits", failed.len());
        self.put("failed_splits", named(failed, account_of));
        Ok(())
    }

    /// Returns the answer with its payload under `key`, with parts cut or left out if it is longer than `max_bytes`.
    /// `advice` explains how to ask for less.
    ///
    /// # Errors
    /// If it has too many parts to be cut to that length.
    pub(super) fn finish(
        mut self,
        key: &str,
        payload: Payload,
        max_bytes: usize,
        advice: &str,
    ) -> Result<Value, Failure> {
        let around = self.write(key, Value::Null, Value::Null).to_string().len();
        let room = max_bytes.saturating_sub(around + MAX_CUT_NOTE_BYTES);
        let shortened = shorten(payload, room);
        let Some(shortened) = shortened else {
            return Err(Failure::new(&format!(
                "the answer has more than {max_bytes} bytes, and cutting its texts and lists does not help: {advice}"
            )));
        };
        let Shortened {
            value,
            cuts,
            num_left_out,
        } = shortened;
        if num_left_out > 0 {
            let shown = value.as_array().map_or(0, Vec::len);
            self.is_complete = false;
            self.put("num_left_out", num_left_out);
            self.notes.insert(
                0,
                format!(
                    "The last {num_left_out} of {} {key} are left out, because an answer has at most {max_bytes} bytes: \
                     {advice}",
                    shown + num_left_out
                ),
            );
        }
        if !cuts.is_empty() {
            self.notes.insert(
                0,
                format!(
                    "Long texts or lists were cut, because an answer has at most {max_bytes} bytes; `cut` says which: {advice}"
                ),
            );
        }
        let cut = match cuts.is_empty() {
            true => Value::Null,
            false => cuts.to_json(key),
        };
        Ok(self.write(key, value, cut))
    }

    fn write(&self, key: &str, payload: Value, cut: Value) -> Value {
        let mut answer = Map::new();
        answer.insert("notes".to_owned(), self.notes.clone().into());
        answer.insert("is_complete".to_owned(), self.is_complete.into());
        answer.insert("is_cut".to_owned(), (!cut.is_null()).into());
        answer.extend(self.facts.clone());
        answer.insert(key.to_owned(), payload);
        if !cut.is_null() {
            answer.insert("cut".to_owned(), cut);
        }
        answer.insert("cost".to_owned(), self.cost.clone());
        answer.into()
    }
}

/// Returns advice on raising an exhausted limit.
fn advice(limit: &str, asked: &Limits, most: &Limits) -> String {
    let of = |limits: &Limits| match limit {
        "max_requests" => limits.budget.max_requests,
        "max_bytes" => limits.budget.max_bytes,
        "max_waves" => limits.budget.max_waves,
        _ => limits.budget.deadline_ms,
    };
    let narrow = "narrow the time range or the query";
    match (of(asked), of(most)) {
        (Some(asked), Some(most)) if asked < most => {
            format!("Raise `budget.{limit}` ({asked}; this server allows {most}), or {narrow}.")
        }
        (Some(asked), None) => format!("Raise `budget.{limit}` ({asked}), or {narrow}."),
        _ => format!("This server allows no more: {narrow}."),
    }
}

/// Returns what an answer lacks that used up a limit. `is_hidden`: the number of splits must not be shown.
fn lacks_of_skipped(num_skipped: u64, is_hidden: bool) -> String {
    match num_skipped {
        0 => "the answer may lack something".to_owned(),
        _ if is_hidden => "a part of the index is not in the answer".to_owned(),
        1 => "1 split was skipped and is not in the answer".to_owned(),
        num => format!(
            "{} splits were skipped and are not in the answer",
            numbers::count(num)
        ),
    }
}

/// Returns an unreadable split, with the reason.
fn account_of(split: &Value) -> Value {
    let message = split["message"].as_str().unwrap_or_default();
    let end = message.floor_char_boundary(MAX_ACCOUNT_BYTES);
    let message = redact_urls(message.get(..end).unwrap_or_default());
    json!({"split_id": split["split_id"], "kind": split["kind"], "message": message})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(max_requests: u64) -> Limits {
        let mut limits = Limits::default();
        limits.budget.max_requests = Some(max_requests);
        limits
    }

    fn note_of(json: Value, asked: u64) -> Result<(Vec<String>, bool), Failure> {
        let mut answer = Answer::new(Value::Null);
        answer.note_missing(&json, &limits(asked), &limits(500))?;
        Ok((answer.notes, answer.is_complete))
    }

    #[test]
    fn what_was_used_up_is_named_with_what_a_call_may_ask_for() {
        let split = json!({"split_id": "a", "kind": "limit", "message": "m"});
        let complete = json!({"failed_splits": [], "skipped_splits": [], "timed_out": false, "budget_exhausted": null});
        assert_eq!(note_of(complete, 3), Ok((Vec::new(), true)));
        let profile = json!({"num_splits_searched": 1});
        let answer = json!({"budget_exhausted": "max_requests", "skipped_splits": [split], "profile": profile});
        let (notes, is_complete) = note_of(answer.clone(), 3).unwrap();
        assert!(!is_complete);
        assert!(notes[0].contains("1 split was skipped"), "{notes:?}");
        assert!(
            notes[0].contains("`budget.max_requests` (3; this server allows 500)"),
            "{notes:?}"
        );
        let (notes, _) = note_of(answer, 500).unwrap();
        assert!(notes[0].contains("allows no more"), "{notes:?}");
        let (notes, _) = note_of(json!({"timed_out": true}), 500).unwrap();
        assert!(notes[0].contains("deadline_ms"), "{notes:?}");
    }

    #[test]
    fn an_answer_from_no_split_is_a_failure() {
        let split = json!({"split_id": "a", "kind": "data", "message": "damaged"});
        let none = json!({"failed_splits": [split], "profile": {"num_splits_searched": 0}});
        let message = note_of(none, 500).unwrap_err().into_message();
        assert!(message.contains("no split could be searched"), "{message}");
        assert!(message.contains("damaged"), "{message}");
    }

    #[test]
    fn an_answer_keeps_to_its_length_and_says_so() {
        let hits: Vec<Value> = (0..50)
            .map(|hit| json!({"body": "x".repeat(hit * 100)}))
            .collect();
        let mut answer = Answer::new(json!({"elapsed_ms": 1}));
        answer.put("num_hits", 50);
        let answer = answer
            .finish("hits", Payload::List(hits), 16_000, "ask for fewer")
            .unwrap();
        assert!(answer.to_string().len() <= 16_000);
        assert_eq!(
            (&answer["is_cut"], &answer["is_complete"]),
            (&json!(true), &json!(true))
        );
        assert_eq!(answer["hits"].as_array().unwrap().len(), 50);
        assert_eq!(answer["cut"][0]["path"], "body");
        assert!(
            answer["notes"][0]
                .as_str()
                .unwrap()
                .contains("ask for fewer")
        );
    }
}
