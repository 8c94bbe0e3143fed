//! `search` and `aggregate`: requests to the search API, and its answers in a form for models.

use serde_json::Value;

use super::super::answer::{Answer, Spent};
use super::super::app::{App, Failure, Reply, listed};
use super::super::shorten::Payload;
use super::arguments::{DEFAULT_MAX_HITS, SearchArguments, SearchCall};
use super::fields::Wanted;

const FEWER_HITS: &str =
    "name the fields you need in `fields`, lower `max_hits`, or go on with `start_offset`.";
const FEWER_BUCKETS: &str =
    "ask for fewer buckets (a smaller `size`, a longer interval) or fewer aggregations at once.";

/// Figures in the engine's profile that show the cost of a search.
const SPLIT_COUNTS: [&str; 5] = [
    "num_splits",
    "num_splits_pruned",
    "num_splits_searched",
    "num_splits_answered_from_head",
    "num_splits_answered_from_cache",
];

/// Searches documents.
pub(in crate::commands::mcp) async fn search(
    app: &App,
    arguments: SearchArguments,
) -> Result<Value, Failure> {
    let asked = arguments.asked(app, DEFAULT_MAX_HITS)?;
    let start_offset = asked.start_offset;
    let (mut answer, mut json) = ask(app, &arguments.index, asked).await?;
    let mut hits = match json.get_mut("hits").map(Value::take) {
        Some(Value::Array(hits)) => hits,
        _ => Vec::new(),
    };
    if !arguments.fields.is_empty() && !hits.is_empty() {
        let mut wanted = Wanted::new(&arguments.fields);
        hits = hits.into_iter().map(|hit| wanted.part_of(hit)).collect();
        let missing = wanted.not_found();
        if !missing.is_empty() {
            answer.note(format!(
                "None of these hits has {}: `describe_fields` lists the fields.",
                listed(&missing)
            ));
        }
    }
    if start_offset > 0 {
        answer.put("start_offset", start_offset);
    }
    answer.finish(
        "hits",
        Payload::List(hits),
        app.max_answer_bytes,
        FEWER_HITS,
    )
}

/// Aggregates the documents that match.
pub(in crate::commands::mcp) async fn aggregate(
    app: &App,
    arguments: SearchArguments,
) -> Result<Value, Failure> {
    let asked = arguments.asked(app, 0)?;
    let (mut answer, mut json) = ask(app, &arguments.index, asked).await?;
    if !answer.is_complete() {
        answer.note("The aggregations count the splits that were read, and no others.");
    }
    let found = json.get_mut("aggregations").map(Value::take);
    let payload = Payload::Tree(found.unwrap_or_default());
    answer.finish("aggregations", payload, app.max_answer_bytes, FEWER_BUCKETS)
}

/// Sends a request to the search API; returns an answer with the number of hits and the missing parts, and the API's
/// JSON.
async fn ask(app: &App, index: &str, asked: SearchCall) -> Result<(Answer, Value), Failure> {
    let SearchCall {
        mut request,
        time_range,
        limits,
        start_offset: _,
    } = asked;
    // The search API refuses a profile where it would reveal hidden documents.
    if !app.is_filtered() {
        request.insert("profile".to_owned(), true.into());
    }
    let path = format!("/api/v1/{index}/search");
    let reply = app.ask("POST", path, Some(request), &limits).await;
    let spent = Spent::of(&reply);
    let Reply { json, .. } = reply;
    let json = json?;
    let mut answer = Answer::new(spent.to_json(app.is_filtered()));
    for count in SPLIT_COUNTS {
        answer.put_cost(count, json["profile"][count].clone());
    }
    answer.note_missing(&json, &limits, &app.limits)?;
    let is_lower_bound = json["num_hits_relation"] == "gte";
    if is_lower_bound {
        answer.note("`num_hits` is a lower bound: hits were counted up to `count_up_to`.");
    } else if !answer.is_complete() {
        answer.note("`num_hits` is a lower bound.");
    }
    let relation = match is_lower_bound || !answer.is_complete() {
        true => "gte",
        false => "eq",
    };
    answer.put("num_hits", json["num_hits"].clone());
    answer.put("num_hits_relation", relation);
    for (key, time) in time_range {
        answer.put(key, time);
    }
    Ok((answer, json))
}
