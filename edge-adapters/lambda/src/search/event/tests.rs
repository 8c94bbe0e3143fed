//! Events of the services, reduced to the relevant fields.

use serde_json::json;

use super::*;

fn http(payload: Value) -> (HttpRequest, BTreeMap<String, String>, Shape) {
    match Event::read(payload).unwrap() {
        Event::Http {
            request,
            headers,
            shape,
            ..
        } => (request, headers, shape),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_function_url_gives_path_and_query_as_they_came() {
    let (request, headers, shape) = http(json!({
        "version": "2.0",
        "rawPath": "/api/v1/logs/search",
        "rawQueryString": "query=a%20b&max_hits=3",
        "headers": {"Authorization": "Bearer x"},
        "requestContext": {"http": {"method": "GET", "path": "/"}, "stage": "$default"},
        "isBase64Encoded": false,
    }));
    assert_eq!(request.path, "/api/v1/logs/search");
    assert_eq!(request.query, "query=a%20b&max_hits=3");
    assert_eq!((request.method.as_str(), request.body.len()), ("GET", 0));
    assert_eq!(headers["authorization"], "Bearer x");
    assert_eq!(shape, Shape::V2);
}

#[test]
fn a_body_in_base64_is_decoded_and_a_wrong_one_refused() {
    let event = |body: &str| {
        json!({
            "rawPath": "/api/v1/logs/search",
            "body": body,
            "isBase64Encoded": true,
            "requestContext": {"http": {"method": "POST"}},
        })
    };
    assert_eq!(
        http(event("eyJxdWVyeSI6ICJhIn0=")).0.body,
        br#"{"query": "a"}"#
    );
    let UnknownEvent(message) = Event::read(event("%%%")).unwrap_err();
    assert!(message.contains("base64"), "{message}");
}

#[test]
fn a_stage_is_no_part_of_the_path() {
    for (path, stage, expect) in [
        ("/prod/health/livez", "prod", "/health/livez"),
        ("/prod", "prod", "/"),
        ("/production/x", "prod", "/production/x"),
        ("/x", "$default", "/x"),
        ("/x", "", "/x"),
    ] {
        assert_eq!(without_stage(path, stage), expect, "{path} {stage}");
    }
}

#[test]
fn parameters_of_a_rest_api_are_encoded_again() {
    let (request, headers, shape) = http(json!({
        "httpMethod": "get",
        "path": "/api/v1/my logs/search",
        "headers": {"Accept": "*/*"},
        "multiValueHeaders": {"Accept": ["*/*"], "X-A": ["1", "2"]},
        "queryStringParameters": {"query": "level:ERROR & a"},
        "multiValueQueryStringParameters": {"query": ["level:ERROR & a"]},
        "body": null,
        "requestContext": {"stage": "prod"},
        "isBase64Encoded": false,
    }));
    assert_eq!(request.method, "GET");
    assert_eq!(request.path, "/api/v1/my%20logs/search");
    assert_eq!(request.query, "query=level%3AERROR+%26+a");
    assert_eq!(headers["x-a"], "1, 2");
    assert_eq!(shape, Shape::V1);
}

#[test]
fn parameters_of_a_load_balancer_are_left_as_they_are() {
    let (request, _, shape) = http(json!({
        "requestContext": {"elb": {"targetGroupArn": "arn"}},
        "httpMethod": "GET",
        "path": "/api/v1/logs/search",
        "multiValueQueryStringParameters": {"query": ["a%20b"], "x": ["1", "2"]},
        "multiValueHeaders": {"host": ["h"]},
        "body": "",
        "isBase64Encoded": false,
    }));
    assert_eq!(request.query, "query=a%20b&x=1&x=2");
    assert_eq!(shape, Shape::Alb { is_multi: true });
}

#[test]
fn direct_invocations_are_requests_or_searches() {
    let (request, _, shape) = http(json!({
        "method": "POST", "path": "/api/v1/logs/search", "body": {"query": "a"},
    }));
    assert_eq!(request.body, br#"{"query":"a"}"#);
    assert_eq!(shape, Shape::V2);
    let event = Event::read(json!({"index": "logs", "request": {"query": "a"}})).unwrap();
    let Event::Search { index, request } = event else {
        panic!("{event:?}");
    };
    assert_eq!((index.as_str(), request), ("logs", json!({"query": "a"})));
}

#[test]
fn a_request_over_http_cannot_pass_for_a_direct_one() {
    let event = Event::read(json!({
        "index": "logs",
        "request": {},
        "leaf": "",
        "path": "/health/livez",
        "rawPath": "/api/v1/logs/search",
        "requestContext": {"http": {"method": "GET"}},
    }));
    let Ok(Event::Http {
        is_direct, request, ..
    }) = event
    else {
        panic!("not a request over HTTP");
    };
    assert!(!is_direct);
    assert_eq!(request.path, "/api/v1/logs/search");
}

#[test]
fn anything_else_is_refused_with_what_is_taken() {
    for payload in [
        json!({}),
        json!(null),
        json!([1]),
        json!({"index": "logs", "request": "a"}),
        json!({"index": "logs", "request": {}, "limits": {}}),
        json!({"leaf": "", "guest": "1"}),
        json!({"path": 5}),
        json!({"path": "/", "verb": "GET"}),
        json!({"requestContext": {}}),
        json!({"requestContext": 1}),
    ] {
        let shown = payload.to_string();
        let UnknownEvent(message) = Event::read(payload).unwrap_err();
        assert!(message.contains("function URLs"), "{shown}: {message}");
    }
}
