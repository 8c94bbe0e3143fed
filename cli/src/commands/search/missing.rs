//! Missing parts of an answer, and the reasons.

use anyhow::{Result, bail};
use serde_json::Value;

use crate::exit::warn;
use crate::render::numbers;

/// Maximum number of skipped splits that a warning names.
const MAX_NAMED: usize = 5;

/// Names the splits that are missing from the answer, on stderr.
pub(super) fn warn_of(response: &Value) {
    for split in splits(response, "failed_splits") {
        let text = |key: &str| split[key].as_str().unwrap_or("?");
        warn(format_args!(
            "split {} is not in the answer ({}): {}",
            text("split_id"),
            text("kind"),
            text("message")
        ));
    }
    if let Some(message) = limit_message(response) {
        warn(message);
    }
}

/// Returns an error if splits are missing and the answer contains none.
pub(super) fn check_answered(response: &Value) -> Result<()> {
    let num = |key: &str| response["profile"][key].as_u64().unwrap_or(0);
    let num_answered = num("num_splits_searched")
        + num("num_splits_answered_from_head")
        + num("num_splits_answered_from_cache");
    let num_missing =
        splits(response, "failed_splits").len() + splits(response, "skipped_splits").len();
    if num_missing > 0 && num_answered == 0 {
        bail!("no split could be searched; the warnings above say why");
    }
    Ok(())
}

/// Returns which limit cut the answer short, how to raise it, and the skipped splits.
fn limit_message(response: &Value) -> Option<String> {
    let (what, flag) = match response["budget_exhausted"].as_str() {
        Some(limit) => (limit.to_owned(), format!("--{}", limit.replace('_', "-"))),
        None if response["timed_out"] == true => {
            ("the deadline".to_owned(), "--deadline-ms".to_owned())
        }
        None if splits(response, "skipped_splits").is_empty() => return None,
        None => ("a limit".to_owned(), "the limit".to_owned()),
    };
    let advice = format!("raise {flag} or narrow the query");
    let skipped = splits(response, "skipped_splits");
    if skipped.is_empty() {
        return Some(format!(
            "{what} was reached, and the answer may be incomplete; {advice}"
        ));
    }
    let ids = skipped
        .iter()
        .map(|split| split["split_id"].as_str().unwrap_or("?"));
    let mut named: Vec<String> = ids.take(MAX_NAMED).map(str::to_owned).collect();
    if skipped.len() > MAX_NAMED {
        let num_more = (skipped.len() - MAX_NAMED) as u64;
        named.push(format!("and {} more", numbers::count(num_more)));
    }
    let are = if skipped.len() == 1 { "is" } else { "are" };
    Some(format!(
        "{what} was reached, and {} {are} not in the answer; {advice}; skipped: {}",
        numbers::counted(skipped.len() as u64, "split"),
        named.join(", ")
    ))
}

fn splits<'a>(response: &'a Value, key: &str) -> &'a [Value] {
    response[key].as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_from_no_split_is_a_failure() {
        let check = |failed: Value, skipped: Value, num_answered: u64, expect: bool| {
            let profile = json!({"num_splits_answered_from_head": num_answered});
            let response =
                json!({"failed_splits": failed, "skipped_splits": skipped, "profile": profile});
            assert_eq!(check_answered(&response).is_ok(), expect);
        };
        let split = json!([{"split_id": "a", "kind": "data", "message": "damaged"}]);
        check(json!([]), Value::Null, 0, true);
        check(split.clone(), json!([]), 1, true);
        check(split.clone(), json!([]), 0, false);
        check(json!([]), split.clone(), 1, true);
        check(json!([]), split, 0, false);
    }

    #[test]
    fn the_limit_that_was_reached_is_named_with_its_flag() {
        let check = |response: Value, expect: Option<&str>| {
            assert_eq!(limit_message(&response).as_deref(), expect);
        };
        let split = |id: u64| json!({"split_id": format!("{id}"), "kind": "limit"});
        check(json!({"timed_out": false, "budget_exhausted": null}), None);
        check(
            json!({"budget_exhausted": "max_requests", "skipped_splits": [split(7)]}),
            Some(
                "max_requests was reached, and 1 split is not in the answer; raise --max-requests \
                 or narrow the query; skipped: 7",
            ),
        );
        let seven: Vec<Value> = (0..7).map(split).collect();
        check(
            json!({"timed_out": true, "skipped_splits": seven}),
            Some(
                "the deadline was reached, and 7 splits are not in the answer; raise \
                 --deadline-ms or narrow the query; skipped: 0, 1, 2, 3, 4, and 2 more",
            ),
        );
        check(
            json!({"budget_exhausted": "max_waves"}),
            Some(
                "max_waves was reached, and the answer may be incomplete; raise --max-waves or \
                 narrow the query",
            ),
        );
    }
}
