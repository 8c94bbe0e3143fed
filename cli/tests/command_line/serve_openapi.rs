//! `/openapi.json` describes exactly what the server answers.

use std::collections::BTreeSet;

use canter_tests::conformance::read_requests;
use reqwest::Method;
use serde_json::Value;

use crate::serve::Server;
use crate::support::indexed;

/// Parameters that modify another one.
const ABOUT_A_QUERY: [&str; 5] = [
    "df",
    "default_operator",
    "analyze_wildcard",
    "language",
    "lenient",
];

pub(crate) struct Operation {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) params: Vec<(String, String)>,
    pub(crate) body: Option<(String, String)>,
    /// True if it creates, shows or deletes indexes and templates: `serve_managing.rs` sends those.
    pub(crate) is_managing: bool,
}

fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

pub(crate) fn operations(document: &Value) -> Vec<Operation> {
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let params = operation["parameters"].as_array().unwrap().iter();
            let of_url = params.filter(|param| param["in"] == "query");
            let params = of_url.map(|param| (text_of(&param["name"]), text_of(&param["example"])));
            let content = operation["requestBody"]["content"].as_object();
            let body = content.and_then(|content| content.iter().next());
            operations.push(Operation {
                method: method.to_uppercase().parse().unwrap(),
                path: path.clone(),
                params: params.collect(),
                body: body.map(|(kind, body)| (kind.clone(), text_of(&body["example"]))),
                is_managing: text_of(&operation["summary"]).starts_with("With --indexes-in"),
            });
        }
    }
    operations
}

pub(crate) fn query(params: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(params);
    query.finish()
}

/// Paths that need a body with every parameter.
const WRITES: [&str; 11] = [
    "/_analyze",
    "/_terms_enum",
    "/_search/point_in_time",
    "/_update_by_query",
    "/_reindex",
    "/_mget",
    "/_bulk",
    "/_doc",
    "/ingest",
    "/v1/logs",
    "/_delete_by_query",
];

#[test]
fn every_example_is_answered_and_no_other_parameter_is() {
    let folder = indexed();
    let writable = [
        "--writable",
        "--commit-interval",
        "10ms",
        "--otel-index",
        "logs",
    ];
    let server = Server::start(folder.path(), &writable);
    let document = server.get("/openapi.json").json();
    assert_eq!(document["openapi"], "3.1.0");
    let begun = server.get("/logs/_search?scroll=1m&size=2").json();
    let scroll_id = begun["_scroll_id"].as_str().unwrap();
    let mut operations = operations(&document);
    assert!(operations.len() > 80, "{}", operations.len());
    // A cleared scroll has no further pages.
    operations.sort_by_key(|one| one.method == Method::DELETE);
    let mut wrong = Vec::new();
    // `serve_ids.rs` sends requests for documents by their ids, which this index does not take.
    let sent = operations
        .iter()
        .filter(|one| !one.is_managing && !one.path.contains("{id}"));
    for operation in sent {
        let path = operation.path.replace("{index}", "logs");
        let path = path
            .replace("{field}", "severity_text")
            .replace("{name}", "*")
            .replace("{scroll_id}", scroll_id);
        let send = |params: &[(&str, &str)], with_body: bool| {
            let body = operation
                .body
                .as_ref()
                .filter(|_| with_body && operation.method != Method::GET);
            let (kind, body) = body
                .cloned()
                .unwrap_or(("application/json".to_owned(), String::new()));
            let body = body.replace('…', scroll_id);
            let path = format!("{path}?{}", query(params));
            let answer = server.send(
                operation.method.clone(),
                &path,
                &[("content-type", &kind)],
                body,
            );
            (answer.status, answer.text)
        };
        let is_scroll = path.contains("/_search/scroll");
        let is_point = path.ends_with("/_pit") || path.ends_with("/point_in_time");
        let is_many = path.ends_with("/_msearch");
        // The first request that ends a scroll or a point in time leaves nothing for the others.
        let ends = operation.method == Method::DELETE && (is_scroll || is_point);
        let is_answered = |status: u16| (200..=201).contains(&status) || (ends && status == 404);
        let needed: Vec<(&str, &str)> = match (path.as_str(), &operation.method) {
            (path, &Method::GET) if path.ends_with("/scroll") => vec![("scroll_id", scroll_id)],
            (path, &Method::POST)
                if path.ends_with("logs/_pit") || path.ends_with("logs/_search/point_in_time") =>
            {
                vec![("keep_alive", "1m")]
            }
            _ => Vec::new(),
        };
        let shown = format!("{} {path}", operation.method);
        let mut check = |is_right: bool, what: String| {
            if !is_right {
                wrong.push(what);
            }
        };
        // A `GET` of several searches also has a body, which few clients can send.
        let has_body = operation.method != Method::GET;
        if is_many && !has_body {
            continue;
        }
        let (status, text) = send(&needed, has_body);
        check(is_answered(status), format!("{shown}: {status} {text}"));
        for (name, value) in &operation.params {
            let mut params = needed.clone();
            let is_elastic = !path.starts_with("/api/v1/") || path.contains("/_elastic/");
            if is_elastic && ABOUT_A_QUERY.contains(&name.as_str()) {
                params.push(("q", "error"));
            }
            params.retain(|(needed, _)| needed != name);
            let value = if name == "scroll_id" {
                scroll_id
            } else {
                value
            };
            params.push((name, value));
            let is_query = name == "q" || params.iter().any(|(name, _)| *name == "q");
            // A query in the URL conflicts with one in the body, and so do two ids.
            let is_write = WRITES.iter().any(|end| path.ends_with(end));
            let with_body = (is_many || is_scroll || is_write || (ends && is_point))
                && has_body
                && name != "scroll_id"
                && !is_query;
            let (status, text) = send(&params, with_body);
            check(
                is_answered(status),
                format!("{shown} {name}: {status} {text}"),
            );
        }
        let own = [
            "/health/livez",
            "/health/readyz",
            "/metrics",
            "/openapi.json",
            // Exporters add no parameters, and others are ignored.
            "/v1/logs",
            "/api/v1/otlp/v1/logs",
        ];
        if !own.contains(&path.as_str()) {
            let mut params = needed.clone();
            params.push(("nonsense", "1"));
            let (status, text) = send(&params, has_body);
            let is_refused = status == 400 && text.contains("nonsense");
            check(is_refused, format!("{shown} nonsense: {status} {text}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns whether a path matches a template.
fn is_of(template: &str, path: &str) -> bool {
    let (template, path): (Vec<&str>, Vec<&str>) =
        (template.split('/').collect(), path.split('/').collect());
    let is_same = |(own, given): (&&str, &&str)| {
        own == given || (own.starts_with('{') && !given.starts_with('_'))
    };
    template.len() == path.len() && template.iter().zip(&path).all(is_same)
}

#[test]
fn what_is_answered_elsewhere_is_described() {
    let folder = indexed();
    let server = Server::start(folder.path(), &[]);
    let operations = operations(&server.get("/openapi.json").json());
    let mut seen = BTreeSet::new();
    for request in read_requests().unwrap() {
        if request.expected.status != 200 {
            continue;
        }
        let call = &request.call;
        let path = if call.path.len() > 1 {
            call.path.trim_end_matches('/')
        } else {
            &call.path
        };
        let method = if call.method == "HEAD" {
            "GET"
        } else {
            &call.method
        };
        let mut fitting = operations
            .iter()
            .filter(|operation| operation.method == method && is_of(&operation.path, path));
        let Some(operation) = fitting.next() else {
            panic!("{}: {method} {path} is described nowhere", request.name);
        };
        for (name, _) in url::form_urlencoded::parse(call.query.as_bytes()) {
            let is_described = operation.params.iter().any(|(own, _)| *own == name);
            assert!(
                is_described,
                "{}: {name} of {path} is described nowhere",
                request.name
            );
        }
        seen.insert(&operation.path);
    }
    assert!(seen.len() > 15, "{seen:?}");
}
