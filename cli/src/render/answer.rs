//! A search's answer for people: hits, aggregations, and their cost in one line.

use serde_json::Value;

use super::{Colour, Screen, aggregations, hits, numbers};

/// Formats hits and aggregations; `asked` is the `aggs` of the request, or null.
pub(crate) fn answer(response: &Value, asked: &Value, screen: &Screen) -> String {
    let found = response["hits"].as_array().map_or(&[][..], Vec::as_slice);
    let num_hits = response["num_hits"].as_u64().unwrap_or(0);
    let mut text = hits(found, screen, "");
    if !text.is_empty() {
        text.push('\n');
    }
    let shown = match found.len() as u64 {
        0 => String::new(),
        num if num == num_hits => String::new(),
        num => format!(", {} shown", numbers::count(num)),
    };
    let at_least = match response["num_hits_relation"].as_str() {
        Some("gte") => "at least ",
        _ => "",
    };
    let total = format!("{at_least}{}{shown}", numbers::counted(num_hits, "hit"));
    text.push_str(&screen.paint(Colour::Bold, &total));
    text.push('\n');
    let aggregations = aggregations(&response["aggregations"], asked, screen, "");
    if !aggregations.is_empty() {
        text.push('\n');
        text.push_str(&aggregations);
    }
    text
}

/// Returns time, waves, requests, bytes and splits of a response with a profile.
pub(crate) fn cost_line(response: &Value) -> String {
    let profile = &response["profile"];
    let num = |key: &str| profile[key].as_u64().unwrap_or(0);
    let splits = num("num_splits");
    let pruned = match num("num_splits_pruned") {
        0 => String::new(),
        pruned => format!(", {} pruned", numbers::count(pruned)),
    };
    let from_heads = match num("num_splits_answered_from_head") {
        0 => String::new(),
        num => format!(", {} answered from heads", numbers::count(num)),
    };
    let from_cache = match num("num_splits_answered_from_cache") {
        0 => String::new(),
        num => format!(", {} answered from the cache", numbers::count(num)),
    };
    let not_needed = match num("num_splits_not_needed") {
        0 => String::new(),
        num => format!(", {} not needed", numbers::count(num)),
    };
    let gaps = match num("warmup_gaps") {
        0 => String::new(),
        gaps => format!(", {}", numbers::counted(gaps, "warmup gap")),
    };
    format!(
        "{}: {}, {}, {}; {} of {} searched{from_heads}{from_cache}{not_needed}{pruned}{gaps}",
        numbers::micros(response["elapsed_time_micros"].as_u64().unwrap_or(0)),
        numbers::counted(num("num_waves"), "wave"),
        numbers::counted(num("num_requests"), "request"),
        numbers::bytes(num("num_bytes")),
        numbers::count(num("num_splits_searched")),
        numbers::counted(splits, "split"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_cost_is_one_line() {
        let response = json!({"elapsed_time_micros": 34_200, "profile": {
            "num_waves": 3, "num_requests": 1, "num_bytes": 1_234_567, "num_splits": 8,
            "num_splits_searched": 5, "num_splits_pruned": 3, "warmup_gaps": 0,
        }});
        assert_eq!(
            cost_line(&response),
            "34.2 ms: 3 waves, 1 request, 1.23 MB; 5 of 8 splits searched, 3 pruned"
        );
    }

    #[test]
    fn an_answer_says_how_many_hits_there_are() {
        let check = |response: Value, expect: &str| {
            let text = answer(&response, &Value::Null, &Screen::plain(80, true));
            assert_eq!(text, expect);
        };
        check(json!({"hits": [], "num_hits": 0}), "0 hits\n");
        check(
            json!({"hits": [{"a": 1}], "num_hits": 2000, "aggregations": {"m": {"value": 7.0}}}),
            "a\n1\n\n2,000 hits, 1 shown\n\nm  7\n",
        );
        check(
            json!({"hits": [{"a": 1}], "num_hits": 30, "num_hits_relation": "gte"}),
            "a\n1\n\nat least 30 hits, 1 shown\n",
        );
    }
}
