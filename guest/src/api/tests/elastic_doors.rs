//! Behaviour shared by all entry points: a missing index, a duplicate key, and the time limit of several searches.

use canter_protocol::FetchErrorKind;
use serde_json::Value;

use super::{elastic, failing, first_step, message, open};

/// An index that a host allows and whose manifest is missing: it was deleted, or is not created yet.
#[test]
fn an_index_that_is_named_and_is_not_there_is_an_error_of_every_reader() {
    let query = r#"{"query": {"match_all": {}}}"#;
    let many = |header: &str| format!("{header}\n{query}\n");
    for (method, path, body) in [
        ("POST", "/{index}/_search", query),
        ("POST", "/{index}/_search?scroll=1m", query),
        ("POST", "/{index}/_count", query),
        ("POST", "/{index}/_validate/query", query),
        ("GET", "/{index}/_field_caps?fields=*", ""),
        ("GET", "/{index}/_mapping", ""),
        ("GET", "/{index}/_mapping/field/a", ""),
        ("GET", "/{index}/_stats", ""),
        ("GET", "/{index}/_settings", ""),
        ("GET", "/_cat/count/{index}", ""),
        ("GET", "/{index}", ""),
        ("HEAD", "/{index}", ""),
        ("GET", "/_cat/indices/{index}", ""),
        ("GET", "/_resolve/index/{index}", ""),
        ("POST", "/{index}/_pit?keep_alive=1m", ""),
        ("POST", "/{index}/_msearch", &many("{}")),
    ] {
        let sent = |index: &str, params: &str, kind: FetchErrorKind| {
            let path = path.replace("{index}", index);
            let sign = if path.contains('?') { '&' } else { '?' };
            let line = format!("{method} {path}{sign}{params}");
            let (status, text) = elastic(&failing(&line, body, kind));
            // Each of several searches has its own status.
            let own: Value = serde_json::from_str(&text).unwrap_or_default();
            let own = own.pointer("/responses/0/status").and_then(Value::as_u64);
            let status = own.map_or(u64::from(status), |own| own);
            (line, status, text)
        };
        for names in ["logs", "logs,a%20b", "lo*,logs"] {
            let (line, status, text) = sent(names, "", FetchErrorKind::NotFound);
            assert_eq!(status, 404, "{line}: {text}");
            for part in ["index_not_found_exception", "no such index ["] {
                assert!(text.contains(part), "{line}: {text}");
            }
            // An index that cannot be read for another reason exists, and a list of names shows it.
            let (line, status, text) = sent(names, "", FetchErrorKind::Unavailable);
            let expect = if path.starts_with("/_resolve") {
                200
            } else {
                503
            };
            assert_eq!(status, expect, "{line}: {text}");
        }
        // Indexes that a client permits to be missing, or that no pattern matches, are left out; but a point in time
        // needs an index.
        let of_none = if path.contains("_pit") { 404 } else { 200 };
        for (names, params) in [
            ("logs", "ignore_unavailable=true"),
            ("logs,a%20b", "ignore_unavailable=true"),
            ("lo*", ""),
            ("_all", ""),
        ] {
            let (line, status, text) = sent(names, params, FetchErrorKind::NotFound);
            assert_eq!(status, of_none, "{line}: {text}");
            let (line, status, text) = sent(
                names,
                &format!("{params}&allow_no_indices=false"),
                FetchErrorKind::NotFound,
            );
            assert_eq!(status, 404, "{line}: {text}");
        }
    }
    for (line, status) in [
        ("GET /api/v1/logs,a%20b/search", 404),
        ("GET /api/v1/l*/search", 404),
    ] {
        let response = failing(line, "", FetchErrorKind::NotFound);
        assert_eq!(response.status, status, "{line}");
    }
}

/// With two values, clients and readers of logs could not know which one applies.
#[test]
fn a_key_that_stands_twice_is_refused_by_name_at_every_door() {
    let double = r#"{"query": {"match_all": {}}, "query": {"match_none": {}}}"#;
    let deep = r#"{"query": {"bool": {"filter": [{"term": {"level": "a", "level": "b"}}]}}}"#;
    let aggs = r#"{"aggs": {"x": {"max": {"field": "a"}}, "x": {"min": {"field": "a"}}}}"#;
    let both = format!("{{}}\n{double}\n");
    for (line, body, key) in [
        ("POST /logs/_search", double, "query"),
        ("POST /logs/_search", deep, "level"),
        ("POST /logs/_search", aggs, "x"),
        ("POST /_search", r#"{"pit": {"id": "a", "id": "b"}}"#, "id"),
        ("POST /logs/_count", double, "query"),
        ("POST /logs/_validate/query", deep, "level"),
        (
            "POST /logs/_field_caps",
            r#"{"index_filter": {"match_all": {}}, "index_filter": {"match_none": {}}}"#,
            "index_filter",
        ),
        (
            "POST /_search/scroll",
            r#"{"scroll_id": "a", "scroll_id": "b"}"#,
            "scroll_id",
        ),
        (
            "DELETE /_search/scroll",
            r#"{"scroll_id": "a", "scroll_id": "b"}"#,
            "scroll_id",
        ),
        ("DELETE /_pit", r#"{"id": "a", "id": "b"}"#, "id"),
        (
            "POST /logs/_pit?keep_alive=1m",
            r#"{"index_filter": null, "index_filter": null}"#,
            "index_filter",
        ),
        ("POST /_msearch", both.as_str(), "query"),
        (
            "POST /_msearch",
            "{\"index\": \"logs\", \"index\": \"a b\"}\n{}\n",
            "index",
        ),
    ] {
        let (_, text) = elastic(&first_step(line, body).unwrap());
        for part in [
            "parsing_exception",
            "\"status\":400",
            &format!("duplicate key \\\"{key}\\\""),
        ] {
            assert!(text.contains(part), "{line} {body}: {text}");
        }
    }
    let of_url = "GET /api/v1/logs/search?aggs=%7B%22x%22%3A%7B%7D%2C%22x%22%3A%7B%7D%7D";
    for (line, body, key) in [
        (
            "POST /api/v1/logs/search",
            r#"{"query": "a", "query": "b"}"#,
            "query",
        ),
        ("POST /api/v1/logs/search", deep, "level"),
        ("POST /api/v1/logs/search", aggs, "x"),
        (
            "POST /api/v1/logs/search",
            r#"{"budget": {"max_bytes": 1, "max_bytes": 2}}"#,
            "max_bytes",
        ),
        (of_url, "", "x"),
    ] {
        let response = first_step(line, body).unwrap();
        assert_eq!(response.status, 400, "{line} {body}");
        let message = message(&response);
        assert!(
            message.contains(&format!("duplicate key {key:?}")),
            "{message}"
        );
    }
}

/// Several searches in one request: each may set a time limit, and all together take at most the sum.
#[test]
fn searches_of_many_keep_to_the_time_that_each_asks_for() {
    let deadline = |timeouts: &[&str]| {
        let lines = timeouts.iter().map(|timeout| match *timeout {
            "" => "{}\n{}\n".to_owned(),
            "wrong" => "{}\n{\"nonsense\": 1}\n".to_owned(),
            timeout => format!("{{}}\n{{\"timeout\": \"{timeout}\"}}\n"),
        });
        let body: String = lines.collect();
        open("POST /logs/_msearch?filter_path=responses", &body)
            .budget()
            .deadline_ms
    };
    assert_eq!(deadline(&["2s"]), Some(2_000));
    assert_eq!(deadline(&["2s", "", "1s"]), None);
    // Four run at once.
    assert_eq!(deadline(&["2s", "1s", "30ms", "1s", "500ms"]), Some(2_500));
    assert_eq!(deadline(&["wrong", "70ms"]), Some(70));
    assert_eq!(deadline(&["wrong"]), None);
    assert_eq!(deadline(&["0ms"]), Some(0));
}
