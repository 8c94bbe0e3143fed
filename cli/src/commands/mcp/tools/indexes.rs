//! `list_indexes`: every index of this server, readable or not.

use serde_json::{Map, Value, json};

use super::super::answer::{Answer, Spent};
use super::super::app::{App, Failure};
use super::super::shorten::Payload;
use super::arguments::ListArguments;
use crate::render::dates::date_of;

/// Lists the indexes, with their sizes.
pub(in crate::commands::mcp) async fn list(
    app: &App,
    arguments: ListArguments,
) -> Result<Value, Failure> {
    let limits = arguments.budget.lower(&app.limits);
    let all = app
        .ask("GET", "/api/v1/indexes".to_owned(), None, &limits)
        .await;
    let mut spent = Spent::of(&all);
    let mut failures = Vec::new();
    let mut found = Vec::new();
    match all.json {
        Ok(Value::Array(all)) => found = all,
        Ok(_) => return Err(Failure::new("the search engine did not list its indexes")),
        // One of them cannot be read: find out which, and list the others.
        Err(_) => {
            for index in &app.indexes {
                let left = spent.left_of(&limits);
                let path = format!("/api/v1/indexes/{index}");
                let one = app.ask("GET", path, None, &left).await;
                spent.add(&one.profile, one.elapsed);
                match one.json {
                    Ok(one) => found.push(one),
                    Err(failure) => failures.push((index.as_str(), failure.into_message())),
                }
            }
        }
    }
    let mut answer = Answer::new(spent.to_json(app.is_filtered()));
    if app.is_filtered() {
        answer.note(
            "How much is in an index is not shown, because this server has a filter: every answer is what it would be if \
             other documents were not there.",
        );
    }
    let indexes = app.indexes.iter().map(|index| {
        let failure = failures.iter().find(|(failed, _)| failed == index);
        let known = found.iter().find(|known| known["index_uid"] == *index);
        match (failure, known) {
            (Some((_, message)), _) => json!({"index": index, "error": message}),
            (None, Some(known)) => summary(index, known),
            // The search API omits indexes that do not exist yet.
            (None, None) => json!({"index": index, "error": "there is no index at its URI yet"}),
        }
    });
    let indexes: Vec<Value> = indexes.collect();
    let num_unreadable = indexes
        .iter()
        .filter(|index| !index["error"].is_null())
        .count();
    if num_unreadable > 0 {
        answer.lacks(format!(
            "{num_unreadable} of {} indexes cannot be searched: see `error`.",
            indexes.len()
        ));
    }
    answer.put("num_indexes", indexes.len());
    let advice = "give this server fewer indexes.";
    answer.finish(
        "indexes",
        Payload::List(indexes),
        app.max_answer_bytes,
        advice,
    )
}

/// Summarizes an index. Under a forced filter the search API omits totals.
fn summary(name: &str, known: &Value) -> Value {
    let mut summary = Map::new();
    summary.insert("index".to_owned(), name.into());
    let mut put = |key: &str, value: Value| {
        if !value.is_null() {
            summary.insert(key.to_owned(), value);
        }
    };
    let date = |key: &str| {
        let seconds = known[key].as_i64()?;
        Some(date_of(seconds.saturating_mul(1_000_000_000)))
    };
    put("num_docs", known["num_published_docs"].clone());
    put("num_splits", known["num_published_splits"].clone());
    put("num_bytes", known["size_published_splits"].clone());
    put(
        "num_bytes_of_documents",
        known["size_published_docs_uncompressed"].clone(),
    );
    let mapping = &known["index_config"]["doc_mapping"];
    put("timestamp_field", mapping["timestamp_field"].clone());
    put("min_timestamp", date("min_timestamp").into());
    put("max_timestamp", date("max_timestamp").into());
    summary.into()
}
