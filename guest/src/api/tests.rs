//! Handling of requests before anything is read. Answers of real indexes are tested end to end.

use canter_protocol::{
    Budget, FetchErrorKind, HostReport, HttpRequest, HttpResponse, Outcome, Progress, Supply,
    SupplyResult,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::call::{Call, read_call};
use super::settings::ApiSettings;
use crate::{ErrorKind, SearchError, Session, http_error, http_refusal};

mod elastic_doors;

const SETTINGS: &str = r#"{"indexes": ["logs", "a b"]}"#;

fn request(line: &str, body: &str) -> HttpRequest {
    let (method, target) = line.split_once(' ').unwrap();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    HttpRequest {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        body: body.as_bytes().to_vec(),
    }
}

fn open(line: &str, body: &str) -> Session {
    Session::http(&request(line, body), SETTINGS, 1).unwrap()
}

/// Returns the response, if it needs no read; otherwise the objects that are read first.
fn first_step(line: &str, body: &str) -> Result<HttpResponse, Vec<String>> {
    let step = open(line, body).step(Vec::new(), HostReport::default());
    match step.unwrap() {
        Progress::Done(Outcome::Http(response)) => Ok(response),
        Progress::Pending(demand) => {
            Err(demand.reads.into_iter().map(|read| read.object).collect())
        }
        other => panic!("{line}: {other:?}"),
    }
}

fn message(response: &HttpResponse) -> String {
    let body: Value = serde_json::from_slice(&response.body).unwrap();
    body["message"].as_str().unwrap().to_owned()
}

#[test]
fn wrong_requests_are_answered_at_once_and_say_what_is_wrong() {
    for (line, body, status, part) in [
        ("GET /nothing/here", "", 404, "/api/v1/<index>/search"),
        ("GET /api/v1/logs", "", 404, "there is nothing at"),
        ("GET /api/v1/nope/search", "", 404, "\"nope\""),
        ("GET /api/v1/nope/search", "", 404, "logs"),
        ("PUT /api/v1/logs/search", "", 405, "GET, POST, and not PUT"),
        ("POST /api/v1/indexes", "", 405, "takes GET"),
        (
            "GET /api/v1/logs/search?max_hit=1",
            "",
            400,
            "\"max_hit\" is not known",
        ),
        (
            "GET /api/v1/logs/search?max_hits=x",
            "",
            400,
            "max_hits: this must be a whole number",
        ),
        ("GET /api/v1/logs/search?max_hits=-1", "", 400, "max_hits"),
        ("GET /api/v1/logs/search?max_hits=10001", "", 400, "10000"),
        (
            "GET /api/v1/logs/search?query=a&query=b",
            "",
            400,
            "query is given twice",
        ),
        (
            "GET /api/v1/logs/search?aggs=5",
            "",
            400,
            "aggs: this must be a JSON object",
        ),
        ("GET /api/v1/logs/search?format=xml", "", 400, "pretty_json"),
        (
            "GET /api/v1/logs/search?forced_filter=a:b",
            "",
            400,
            "\"forced_filter\" is not known",
        ),
        (
            "POST /api/v1/logs/search",
            "{\"list_documents\": true, \"max_hits\": 0}",
            400,
            "\"list_documents\" is not known",
        ),
        (
            "GET /api/v1/logs/search?explain=true",
            "",
            400,
            "\"explain\" is not known",
        ),
        (
            "GET /api/v1/logs/search?start_timestamp=9&end_timestamp=1",
            "",
            400,
            "later than",
        ),
        ("POST /api/v1/logs/search", "{", 400, "not JSON"),
        ("POST /api/v1/logs/search", "[]", 400, "not a JSON object"),
        (
            "POST /api/v1/logs/search",
            "{\"query\": 5}",
            400,
            "query: this must be text",
        ),
        (
            "POST /api/v1/logs/search",
            "{\"quer\": \"a\"}",
            400,
            "\"quer\" is not known",
        ),
        (
            "POST /api/v1/logs/search?query=a",
            "{\"query\": \"b\"}",
            400,
            "given twice",
        ),
        (
            "POST /api/v1/logs/search",
            "{\"budget\": {\"max_cost\": 1}}",
            400,
            "max_cost",
        ),
        (
            "GET /api/v1/indexes/logs?index_id_patterns=l*",
            "",
            400,
            "index_id_patterns",
        ),
        ("GET /%ff", "", 400, "UTF-8"),
    ] {
        let response = first_step(line, body).unwrap_or_else(|reads| panic!("{line}: {reads:?}"));
        assert_eq!(response.status, status, "{line} {body}");
        let message = message(&response);
        assert!(message.contains(part), "{line} {body}: {message}");
        let headers = &response.headers;
        assert_eq!(
            headers[0],
            ("content-type".into(), "application/json".into())
        );
        let allows = headers.iter().any(|(name, _)| name == "allow");
        assert_eq!(allows, status == 405, "{line}");
    }
}

#[test]
fn good_requests_read_the_manifests_they_are_about() {
    for (line, body, objects) in [
        (
            "GET /api/v1/logs/search?query=a",
            "",
            vec!["logs/manifest.canter"],
        ),
        ("GET /api/v1/a%20b/search/", "", vec!["a b/manifest.canter"]),
        (
            "POST /api/v1/logs/search",
            " ",
            vec!["logs/manifest.canter"],
        ),
        (
            "POST /api/v1/logs/search",
            "{\"query\": null}",
            vec!["logs/manifest.canter"],
        ),
        (
            "GET /api/v1/indexes/logs?pretty",
            "",
            vec!["logs/manifest.canter"],
        ),
        (
            "GET /api/v1/indexes?index_id_patterns=l*,x",
            "",
            vec!["logs/manifest.canter"],
        ),
        (
            "GET /api/v1/indexes",
            "",
            vec!["a b/manifest.canter", "logs/manifest.canter"],
        ),
        (
            "GET /health/readyz",
            "",
            vec!["a b/manifest.canter", "logs/manifest.canter"],
        ),
    ] {
        assert_eq!(first_step(line, body).unwrap_err(), objects, "{line}");
    }
    let alive = first_step("GET /health/livez", "").unwrap();
    assert_eq!(
        (alive.status, alive.body.as_slice()),
        (200, b"true".as_slice())
    );
}

#[test]
fn a_missing_index_is_404_and_an_unreadable_one_503() {
    for (kind, of_search, of_list, of_ready) in [
        (FetchErrorKind::NotFound, 404, 200, 503),
        (FetchErrorKind::Unavailable, 503, 503, 503),
    ] {
        for (line, status) in [
            ("GET /api/v1/logs/search", of_search),
            ("GET /api/v1/indexes/logs", of_search),
            ("GET /api/v1/indexes", of_list),
            ("GET /health/readyz", of_ready),
        ] {
            let response = failing(line, "", kind);
            assert_eq!(response.status, status, "{line} {kind:?}");
        }
    }
}

/// Returns the response where every read fails.
fn failing(line: &str, body: &str, kind: FetchErrorKind) -> HttpResponse {
    let mut session = open(line, body);
    let mut supplies = Vec::new();
    loop {
        match session.step(supplies, HostReport::default()).unwrap() {
            Progress::Done(Outcome::Http(response)) => return response,
            Progress::Pending(demand) => {
                let failed = |id| Supply {
                    id,
                    outcome: SupplyResult::Failed {
                        kind,
                        message: "no".to_owned(),
                    },
                };
                supplies = demand.reads.iter().map(|read| failed(read.id)).collect();
            }
            other => panic!("{line}: {other:?}"),
        }
    }
}

#[test]
fn a_query_is_not_called_wrong_where_an_index_cannot_be_read() {
    let right = r#"{"query": {"match_all": {}}}"#;
    let wrong = r#"{"query": {"match_al": {}}}"#;
    for (body, kind, status, part) in [
        (right, FetchErrorKind::Unavailable, 503, "\"status\":503"),
        (
            right,
            FetchErrorKind::NotFound,
            404,
            "index_not_found_exception",
        ),
        (wrong, FetchErrorKind::Unavailable, 200, "\"valid\":false"),
        (
            wrong,
            FetchErrorKind::NotFound,
            404,
            "index_not_found_exception",
        ),
    ] {
        let response = failing("POST /logs/_validate/query", body, kind);
        let (found, text) = elastic(&response);
        assert_eq!(found, status, "{body} {kind:?}: {text}");
        assert!(text.contains(part), "{body} {kind:?}: {text}");
    }
}

#[test]
fn a_budget_is_known_before_the_first_step() {
    let body = r#"{"query": "a", "budget": {"max_requests": 7, "deadline_ms": 50}}"#;
    let expect = Budget {
        max_requests: Some(7),
        deadline_ms: Some(50),
        ..Budget::default()
    };
    assert_eq!(open("POST /api/v1/logs/search", body).budget(), expect);
    let url =
        "GET /api/v1/logs/search?budget=%7B%22max_requests%22%3A7%2C%22deadline_ms%22%3A50%7D";
    assert_eq!(open(url, "").budget(), expect);
    assert_eq!(
        open("GET /api/v1/logs/search", "").budget(),
        Budget::default()
    );
}

#[test]
fn wrong_settings_are_the_hosts_mistake() {
    for settings in [
        "",
        "{}",
        r#"{"indexes": ["a/b"]}"#,
        r#"{"indexes": [""]}"#,
        r#"{"indexes": ["indexes"]}"#,
        r#"{"indexes": [], "forced_filter": "no field"}"#,
        r#"{"indexes": [], "limits": {"max_hit": 1}}"#,
        r#"{"indexes": [], "cors": true}"#,
    ] {
        let opened = Session::http(&request("GET /health/livez", ""), settings, 1);
        assert!(opened.is_err(), "{settings}");
    }
}

#[test]
fn the_hosts_time_is_now_unless_the_request_has_its_own() {
    let body = r#"{"query": "*", "aggs": {"a": {"date_range": {"field": "t", "ranges": [{"to": "now/d"}]}}}}"#;
    let request = request("POST /api/v1/logs/search", body);
    let call = |settings: &str, request: &HttpRequest| {
        let settings = ApiSettings::parse(settings).unwrap();
        match read_call(request, &settings).unwrap() {
            Call::Search { question, .. } => Ok(question.aggregations.unwrap().given().clone()),
            Call::Answered(response) => Err(message(&response)),
            other => panic!("{other:?}"),
        }
    };
    let to = |aggs: Value| aggs["a"]["date_range"]["ranges"][0]["to"].clone();
    let told = r#"{"indexes": ["logs"], "now_ms": 1715879899500}"#;
    assert_eq!(to(call(told, &request).unwrap()), 1_715_817_600_000_i64);
    let own = HttpRequest {
        query: "now_ms=86400001".to_owned(),
        ..request.clone()
    };
    assert_eq!(to(call(told, &own).unwrap()), 86_400_000);
    let refused = call(r#"{"indexes": ["logs"]}"#, &request).unwrap_err();
    assert!(refused.contains("now_ms"), "{refused}");
}

/// Generates parts of requests: words of the API, and anything else.
fn part() -> impl Strategy<Value = String> {
    let words = [
        "api",
        "v1",
        "logs",
        "search",
        "indexes",
        "health",
        "livez",
        "a%20b",
        "%",
        "%ff",
        "..",
        "query=",
        "max_hits=",
        "aggs=",
        "budget=",
        "-1",
        "{",
        "}",
        "\"query\":",
        "\"aggs\":",
        "[",
        "]",
        "null",
        "9e99",
        "&",
        "=",
        "+",
        ",",
        "*",
    ];
    prop_oneof![
        prop::sample::select(words.to_vec()).prop_map(str::to_owned),
        ".{0,8}",
    ]
}

proptest! {
    #[test]
    fn any_request_is_answered_or_read_for(
        method in prop_oneof![Just("GET".to_owned()), Just("POST".to_owned()), ".{0,6}"],
        path in prop::collection::vec(part(), 0..6),
        query in prop::collection::vec(part(), 0..6),
        body in prop::collection::vec(part(), 0..8),
    ) {
        let request = HttpRequest {
            method,
            path: format!("/{}", path.join("/")),
            query: query.concat(),
            body: body.concat().into_bytes(),
        };
        let mut session = Session::http(&request, SETTINGS, 1).unwrap();
        match session.step(Vec::new(), HostReport::default()).unwrap() {
            Progress::Done(Outcome::Http(response)) => {
                prop_assert!([200, 400, 404, 405].contains(&response.status));
                prop_assert!(serde_json::from_slice::<Value>(&response.body).is_ok());
            }
            Progress::Pending(demand) => prop_assert!(!demand.reads.is_empty()),
            other => prop_assert!(false, "{other:?}"),
        }
    }
}

#[test]
fn paths_of_clusters_are_refused_in_the_form_that_their_clients_know() {
    for line in [
        "GET /_aliases",
        "GET /_alias/logs",
        "GET /_xpack",
        "GET /_tasks",
        "POST /_reindex",
        "POST /_sql",
    ] {
        let response = first_step(line, "").unwrap();
        assert_eq!(response.status, 400, "{line}");
        let body: Value = serde_json::from_slice(&response.body).unwrap();
        let error = body["error"].as_str().unwrap();
        assert!(error.starts_with("no handler found for uri"), "{error}");
        let mut names = response.headers.iter().map(|(name, _)| name.as_str());
        assert!(names.any(|name| name == "x-elastic-product"), "{line}");
    }
}

#[test]
fn a_failure_from_outside_a_session_has_the_form_of_the_api_that_was_asked() {
    let error = SearchError::new(ErrorKind::Unavailable, "a leaf is away");
    let response = http_error("/api/v1/logs/search", &error);
    assert_eq!(response.status, 503);
    let body: Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(body, json!({"message": "a leaf is away"}));
    let response = http_error("/logs/_search", &error);
    assert_eq!(response.status, 503);
    let body: Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(body["status"], 503);
    assert_eq!(body["error"]["type"], "unavailable_shards_exception");
    assert_eq!(body["error"]["reason"], "a leaf is away");
    let product = ("x-elastic-product".to_owned(), "Elasticsearch".to_owned());
    assert!(response.headers.contains(&product));
}

#[test]
fn a_refusal_without_a_session_has_the_form_of_the_api_that_was_asked() {
    let refused = |path: &str| -> Value {
        let response = http_refusal(path, 413, "too long");
        assert_eq!(response.status, 413, "{path}");
        serde_json::from_slice(&response.body).unwrap()
    };
    let plain = json!({"message": "too long"});
    assert_eq!(refused("/api/v1/logs/search"), plain);
    let elastic = refused("/_msearch");
    assert_eq!(elastic["error"]["type"], "content_too_long_exception");
    assert_eq!(elastic["error"]["reason"], "too long");
}

/// Returns the status and the text of a response of Elasticsearch's API.
fn elastic(response: &HttpResponse) -> (u16, String) {
    let text = String::from_utf8(response.body.clone()).unwrap();
    (response.status, text)
}

#[test]
fn names_may_stand_in_any_query() {
    let named =
        r#"{"bool": {"_name": "a", "filter": {"term": {"f": {"value": 1, "_name": "b"}}}}}"#;
    for (line, body) in [
        ("POST /logs/_search", format!(r#"{{"query": {named}}}"#)),
        ("POST /logs/_count", format!(r#"{{"query": {named}}}"#)),
        (
            "POST /logs/_validate/query",
            format!(r#"{{"query": {named}}}"#),
        ),
        (
            "POST /logs/_search",
            format!(r#"{{"aggs": {{"x": {{"filter": {named}}}}}}}"#),
        ),
        (
            "POST /logs/_search",
            format!(r#"{{"aggs": {{"x": {{"filters": {{"filters": {{"y": {named}}}}}}}}}}}"#),
        ),
        (
            "POST /logs/_field_caps",
            format!(r#"{{"index_filter": {named}}}"#),
        ),
    ] {
        let read = first_step(line, &body);
        assert_eq!(read.unwrap_err(), ["logs/manifest.canter"], "{line} {body}");
    }
}

#[test]
fn clauses_with_names_are_bounded_together() {
    let around = |mut clause: String, depth: usize| {
        for level in 0..depth {
            clause = format!(r#"{{"bool": {{"_name": "{level}", "must": {clause}}}}}"#);
        }
        format!(r#"{{"query": {clause}}}"#)
    };
    let long = format!(r#"{{"match": {{"f": "{}"}}}}"#, "x".repeat(330_000));
    let clauses = vec![r#"{"match_all": {}}"#; 5_000].join(",");
    let many = format!(r#"{{"bool": {{"should": [{clauses}]}}}}"#);
    for clause in [long, many] {
        let read = first_step("POST /logs/_search", &around(clause.clone(), 3));
        assert!(read.is_err(), "{read:?}");
        let refused = first_step("POST /logs/_search", &around(clause, 4)).unwrap();
        let (status, text) = elastic(&refused);
        assert!(status == 400 && text.contains("_name"), "{text}");
    }
    // Too long by itself: nothing is copied.
    let whole = around(
        format!(r#"{{"match": {{"f": "{}"}}}}"#, "x".repeat(1 << 20)),
        40,
    );
    let (status, text) = elastic(&first_step("POST /logs/_search", &whole).unwrap());
    assert!(
        status == 400 && text.contains("bytes long, more than the limit"),
        "{text}"
    );
}

/// A list that matches no index, or names missing ones, is answered at once.
#[test]
fn an_index_is_left_out_behind_a_pattern() {
    for line in [
        "GET /logs-2020-*,-logs-2020-01/_search",
        "GET /logs-2020-*,-logs-2020-01/_count",
        "GET /lo*,-logs/_search",
    ] {
        let (status, text) = elastic(&first_step(line, "").unwrap());
        assert_eq!(status, 200, "{line}: {text}");
    }
    for line in [
        "GET /logs,-logs/_search",
        "GET /-logs,lo*/_search",
        "GET /lo*,-logs",
    ] {
        let (status, text) = elastic(&first_step(line, "").unwrap());
        assert_eq!(status, 404, "{line}: {text}");
    }
    for (line, objects) in [
        ("GET /x*,lo*,-a*/_search", vec!["logs/manifest.canter"]),
        ("GET /*,-logs", vec!["a b/manifest.canter"]),
        (
            "GET /_all",
            vec!["a b/manifest.canter", "logs/manifest.canter"],
        ),
        (
            "GET /api/v1/logs,a%20b,-a%20b/search",
            vec!["logs/manifest.canter"],
        ),
    ] {
        assert_eq!(first_step(line, "").unwrap_err(), objects, "{line}");
    }
}

/// Returns the answers of several searches in one request, if no read is needed.
fn many(line: &str, headers: &[&str]) -> Result<Vec<Value>, Vec<String>> {
    let lines = headers.iter().map(|header| format!("{header}\n{{}}\n"));
    let response = first_step(line, &lines.collect::<String>())?;
    let (status, text) = elastic(&response);
    assert_eq!(status, 200, "{line}: {text}");
    let body: Value = serde_json::from_str(&text).unwrap();
    Ok(body["responses"].as_array().unwrap().clone())
}

#[test]
fn options_of_the_url_are_those_of_each_search_that_has_none_of_its_own() {
    let statuses = |line: &str, headers: &[&str]| -> Vec<u64> {
        let answers = many(line, headers).unwrap_or_else(|reads| panic!("{line}: {reads:?}"));
        let statuses = answers.iter().map(|answer| answer["status"].as_u64());
        statuses.map(Option::unwrap).collect()
    };
    let missing = [
        r#"{"index": "nope"}"#,
        r#"{"index": "nope", "ignore_unavailable": true}"#,
        r#"{"index": "nope", "ignore_unavailable": "false"}"#,
    ];
    assert_eq!(statuses("POST /_msearch", &missing), [404, 200, 404]);
    let line = "POST /_msearch?ignore_unavailable=true";
    assert_eq!(statuses(line, &missing), [200, 200, 404]);
    let patterns = [
        r#"{"index": ["x*", "y*"]}"#,
        r#"{"index": "x*", "allow_no_indices": false}"#,
        r#"{"index": "x*", "allow_no_indices": true}"#,
        r#"{"index": "x*", "expand_wildcards": "none"}"#,
        r#"{"index": "x*", "expand_wildcards": ["open", "hidden"]}"#,
        r#"{"index": "x*", "expand_wildcards": "ajar"}"#,
    ];
    let expect = [200, 404, 200, 400, 200, 400];
    assert_eq!(statuses("POST /_msearch", &patterns), expect);
    let line = "POST /_msearch?allow_no_indices=false&expand_wildcards=closed";
    assert_eq!(statuses(line, &patterns), [400, 400, 400, 400, 404, 400]);
    // The path supplies the index for searches that name none, and no header repeats the URL's other parameters.
    let read = many("POST /logs/_msearch?expand_wildcards=none", &["{}"]);
    assert_eq!(read.unwrap_err(), ["logs/manifest.canter"]);
    let wrong = [
        r#"{"size": 1}"#,
        r#"{"index": {}}"#,
        r#"{"typed_keys": true}"#,
    ];
    assert_eq!(statuses("POST /_msearch", &wrong), [400, 400, 400]);
}

#[test]
fn options_that_would_be_passed_over_are_refused() {
    for (line, part) in [
        (
            "GET /_search?expand_wildcards=none",
            "expand_wildcards: all indexes are open here",
        ),
        (
            "GET /lo*/_count?expand_wildcards=closed,hidden",
            "expand_wildcards: all indexes are open here",
        ),
        (
            "GET /logs/_search?expand_wildcards=ajar",
            "expand_wildcards: \\\"ajar\\\" is not known",
        ),
    ] {
        let (status, text) = elastic(&first_step(line, "").unwrap());
        assert!(status == 400 && text.contains(part), "{line}: {text}");
    }
    for line in [
        "GET /logs/_search?expand_wildcards=none",
        "GET /lo*/_search?expand_wildcards=closed,open",
        "GET /logs/_search?include_named_queries_score=false",
        "GET /logs/_search?include_named_queries_score=true",
    ] {
        assert!(first_step(line, "").is_err(), "{line}");
    }
}
