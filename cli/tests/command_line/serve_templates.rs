//! Searches that are written from a template and its parameters.

use serde_json::{Value, json};

use crate::serve::Server;
use crate::serve_managing::{put, send, server};

fn start() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    for (id, level) in [(1, "INFO"), (2, "WARN"), (3, "INFO")] {
        let document = json!({"level": level, "message": "disk \"C\" full", "n": id});
        assert_eq!(
            put(&server, &format!("/logs/_doc/{id}"), &document).status,
            201
        );
    }
    let alias = json!({"actions": [{"add": {"index": "logs", "alias": "all-logs"}}]});
    assert_eq!(send(&server, "POST", "/_aliases", &alias).status, 200);
    (folder, server)
}

fn total(answer: &Value) -> u64 {
    answer["hits"]["total"]["value"].as_u64().unwrap()
}

#[test]
fn templates_are_stored_and_searched_by_their_ids() {
    let (_folder, server) = start();
    let source = json!({"query": {"term": {"n": "{{n}}"}}});
    let script = json!({"script": {"lang": "mustache", "source": source}});
    let by_id = json!({"id": "by-n", "params": {"n": 2}});
    let answer = send(&server, "POST", "/logs/_search/template", &by_id);
    assert_eq!(answer.status, 404, "{}", answer.text);
    let answer = send(&server, "PUT", "/_scripts/by-n", &script);
    assert_eq!(
        (answer.status, answer.json()),
        (200, json!({"acknowledged": true}))
    );
    let answer = send(&server, "GET", "/_scripts/by-n", &Value::Null).json();
    assert_eq!(
        answer,
        json!({"_id": "by-n", "found": true, "script": script["script"]})
    );
    let answer = send(&server, "POST", "/logs/_search/template", &by_id);
    assert_eq!(total(&answer.json()), 1, "{}", answer.text);
    let answer = send(
        &server,
        "POST",
        "/_render/template/by-n",
        &json!({"params": {"n": 7}}),
    );
    let expect = json!({"template_output": {"query": {"term": {"n": "7"}}}});
    assert_eq!(answer.json(), expect);
    let painless = json!({"script": {"lang": "expression", "source": "1"}});
    let answer = send(&server, "PUT", "/_scripts/other", &painless);
    assert_eq!(answer.status, 400);
    assert!(answer.text.contains("[expression]"), "{}", answer.text);
    assert_eq!(
        send(&server, "DELETE", "/_scripts/by-n", &Value::Null).status,
        200
    );
    let answer = send(&server, "GET", "/_scripts/by-n", &Value::Null);
    assert_eq!(
        (answer.status, answer.json()["found"].clone()),
        (404, json!(false))
    );
    assert_eq!(
        send(&server, "POST", "/logs/_search/template", &by_id).status,
        404
    );
}

#[test]
fn templates_are_searched_rendered_and_sent_together() {
    let (_folder, server) = start();
    let source = "{\"query\": {\"bool\": {\"filter\": [{\"terms\": {\"level.keyword\": {{#toJson}}levels{{/toJson}} }} \
                  {{#least}}, {\"range\": {\"n\": {\"gte\": {{least}} }}}{{/least}} ]}}, \
                  \"size\": \"{{size}}{{^size}}10{{/size}}\"}";
    for (params, hits, size) in [
        (json!({"levels": ["INFO"]}), 2, 2),
        (json!({"levels": ["INFO"], "least": 2}), 1, 1),
        (json!({"levels": ["INFO", "WARN"], "size": 1}), 3, 1),
    ] {
        let body = json!({"source": source, "params": params});
        for path in [
            "/logs/_search/template",
            "/_search/template",
            "/all-logs/_search/template",
        ] {
            let answer = send(&server, "POST", path, &body);
            assert_eq!(answer.status, 200, "{path} {params}: {}", answer.text);
            let found = answer.json();
            assert_eq!(total(&found), hits, "{path} {params}");
            assert_eq!(
                found["hits"]["hits"].as_array().unwrap().len(),
                size,
                "{params}"
            );
        }
    }
    let body = json!({
        "source": {"query": {"match_phrase": {"message": "{{text}}"}}}, "params": {"text": "disk \"C\""},
    });
    assert_eq!(
        total(&send(&server, "GET", "/logs/_search/template", &body).json()),
        3
    );
    let answer = send(&server, "POST", "/_render/template", &body);
    let expect = json!({"template_output": {"query": {"match_phrase": {"message": "disk \"C\""}}}});
    assert_eq!(answer.json(), expect);
    let lines = "{\"index\": \"logs\"}\n{\"source\": {\"query\": {\"term\": {\"n\": \"{{n}}\"}}}, \"params\": {\"n\": 2}}\n\
                 {\"index\": \"logs\"}\n{\"source\": {\"size\": 0}}\n";
    let headers = [("content-type", "application/x-ndjson")];
    let method = "POST".parse().unwrap();
    let answer = server.send(method, "/_msearch/template", &headers, lines.to_owned());
    assert_eq!(answer.status, 200, "{}", answer.text);
    let found: Vec<u64> = answer.json()["responses"]
        .as_array()
        .unwrap()
        .iter()
        .map(total)
        .collect();
    assert_eq!(found, [1, 3]);
}

#[test]
fn templates_that_write_no_search_are_refused() {
    let (_folder, server) = start();
    for (body, named) in [
        (json!({"source": "{{#a}}"}), "[a]"),
        (
            json!({"source": "{\"query\": {{x}} }", "params": {"x": "{"}}),
            "template writes",
        ),
        (json!({"params": {}}), "source"),
        (json!({"source": {"nosuch": 1}}), "nosuch"),
    ] {
        let answer = send(&server, "POST", "/logs/_search/template", &body);
        assert_eq!(answer.status, 400, "{body}: {}", answer.text);
        assert!(answer.text.contains(named), "{body}: {}", answer.text);
    }
}
