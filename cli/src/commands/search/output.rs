//! The answer as JSON and as text, and what is missing from it.

use anyhow::{Result, bail};
use canter_runtime::SearchResponse;
use serde_json::{Value, json};

use crate::exit::warn;
use crate::render::{Colour, Screen, answer, cost_line, timeline};

/// The answer in its documented shape, each key always there.
pub(super) fn json_of(response: &Value, has_profile: bool) -> Value {
    let mut object = json!({
        "hits": response["hits"],
        "num_hits": response["num_hits"],
        "elapsed_time_micros": response["elapsed_time_micros"],
        "aggregations": response["aggregations"],
        "failed_splits": response["failed_splits"],
    });
    if has_profile {
        object["profile"] = response["profile"].clone();
    }
    object
}

/// The answer, what it cost, and with a profile each request.
pub(super) fn table_of(response: &SearchResponse, has_profile: bool, screen: &Screen) -> String {
    let cost = screen.paint(Colour::Dim, &cost_line(&response.json));
    let mut text = format!("{}\n{cost}\n", answer(&response.json, screen));
    let chart = match has_profile {
        true => timeline(&response.profile, screen, ""),
        false => String::new(),
    };
    if !chart.is_empty() {
        text.push_str(&format!("\n{chart}"));
    }
    text
}

/// Names the splits that are missing from the answer.
pub(super) fn warn_of_failed_splits(response: &Value) {
    let text = |split: &Value, key: &str| split[key].as_str().unwrap_or("?").to_owned();
    for split in failed_splits(response) {
        warn(format_args!(
            "split {} is not in the answer ({}): {}",
            text(split, "split_id"),
            text(split, "kind"),
            text(split, "message")
        ));
    }
}

/// An error if splits failed and none is in the answer.
pub(super) fn check_answered(response: &Value) -> Result<()> {
    let num = |key: &str| response["profile"][key].as_u64().unwrap_or(0);
    let num_answered = num("num_splits_searched") + num("num_splits_answered_from_head");
    if !failed_splits(response).is_empty() && num_answered == 0 {
        bail!("no split could be searched; the warnings above say why");
    }
    Ok(())
}

fn failed_splits(response: &Value) -> &[Value] {
    response["failed_splits"]
        .as_array()
        .map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    #[test]
    fn an_answer_from_no_split_is_a_failure() {
        let check = |failed: Value, num_answered: u64, expect: bool| {
            let profile = json!({"num_splits_answered_from_head": num_answered});
            let response = json!({"failed_splits": failed, "profile": profile});
            assert_eq!(check_answered(&response).is_ok(), expect);
        };
        let failed = json!([{"split_id": "a", "kind": "data", "message": "damaged"}]);
        check(json!([]), 0, true);
        check(failed.clone(), 1, true);
        check(failed, 0, false);
    }

    #[test]
    fn the_answer_has_each_key() {
        let json = json_of(&json!({"num_hits": 0, "hits": [], "profile": {}}), false);
        let keys: Vec<&String> = json.as_object().into_iter().flat_map(Map::keys).collect();
        let expect = "hits num_hits elapsed_time_micros aggregations failed_splits";
        assert_eq!(keys, expect.split(' ').collect::<Vec<_>>());
    }
}
