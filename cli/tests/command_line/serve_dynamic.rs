//! Fields that documents bring: what dynamic templates, formats of dates, objects and vectors make of them; analyzers of
//! languages; policies.

use serde_json::{Value, json};

use crate::serve::Server;
use crate::serve_managing::{delete, put, send, server};

fn start() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &[]);
    (folder, server)
}

fn made(server: &Server, index: &str, body: &Value) {
    let answer = put(server, &format!("/{index}"), body);
    assert_eq!(answer.status, 200, "{index}: {}", answer.text);
}

/// Adds a document; returns the status and the answer.
fn add(server: &Server, index: &str, id: u64, document: &Value) -> (u16, Value) {
    let answer = put(
        server,
        &format!("/{index}/_doc/{id}?refresh=true"),
        document,
    );
    (answer.status, answer.json())
}

/// Returns the ids of hits, in order of `sort`.
fn ids(server: &Server, index: &str, query: &Value, sort: &Value) -> Vec<String> {
    let body = json!({"query": query, "sort": sort});
    let answer = send(server, "POST", &format!("/{index}/_search"), &body);
    assert_eq!(answer.status, 200, "{index} {body}: {}", answer.text);
    let hits = answer.json()["hits"]["hits"].as_array().unwrap().clone();
    hits.iter()
        .map(|hit| hit["_id"].as_str().unwrap().to_owned())
        .collect()
}

fn mapping(server: &Server, index: &str) -> Value {
    let answer = send(server, "GET", &format!("/{index}/_mapping"), &Value::Null);
    answer.json()[index]["mappings"]["properties"].clone()
}

#[test]
fn fields_are_mapped_by_the_templates_that_they_meet() {
    let (_folder, server) = start();
    let templates = json!([
        {"prices": {"match": "price_*", "match_mapping_type": "string", "mapping": {"type": "double"}}},
        {"words": {"path_match": "*.text", "mapping": {"type": "text", "analyzer": "english"}}},
        {"rest": {"match_mapping_type": "string", "mapping": {"type": "keyword"}}}]);
    made(
        &server,
        "shop",
        &json!({"mappings": {"dynamic_templates": templates}}),
    );
    let first = json!({"price_0": "29.5", "name": "Red Shirt", "about": {"text": "running shoes"}});
    assert_eq!(add(&server, "shop", 1, &first).0, 201);
    let lines = [
        json!({"index": {"_index": "shop", "_id": "2"}}),
        json!({"price_0": "100", "price_1": "7", "name": "Hat"}),
        json!({"update": {"_index": "shop", "_id": "1"}}),
        json!({"doc": {"price_2": "5"}}),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let headers = [("content-type", "application/x-ndjson")];
    let answer = server.send(
        "POST".parse().unwrap(),
        "/_bulk?refresh=true",
        &headers,
        lines,
    );
    assert_eq!(answer.json()["errors"], false, "{}", answer.text);
    let properties = mapping(&server, "shop");
    for name in ["price_0", "price_1", "price_2"] {
        assert_eq!(properties[name]["type"], "double", "{properties}");
    }
    let dear = json!({"range": {"price_0": {"gte": 20}}});
    assert_eq!(
        ids(&server, "shop", &dear, &json!([{"price_0": "desc"}])),
        ["2", "1"]
    );
    let all = json!([{"price_0": "asc"}]);
    assert_eq!(
        ids(
            &server,
            "shop",
            &json!({"term": {"name": "Red Shirt"}}),
            &all
        ),
        ["1"]
    );
    assert!(ids(&server, "shop", &json!({"match": {"name": "shirt"}}), &all).is_empty());
    assert_eq!(
        ids(
            &server,
            "shop",
            &json!({"match": {"about.text": "run"}}),
            &all
        ),
        ["1"]
    );
    // Copies are mapped as documents are.
    made(
        &server,
        "copy",
        &json!({"mappings": {"dynamic_templates": templates}}),
    );
    let body = json!({"source": {"index": "shop"}, "dest": {"index": "copy"}});
    let copied = send(&server, "POST", "/_reindex?refresh=true", &body);
    assert_eq!(copied.json()["total"], 2, "{}", copied.text);
    assert_eq!(
        ids(&server, "copy", &dear, &json!([{"price_0": "desc"}])),
        ["2", "1"]
    );
}

#[test]
fn texts_of_a_format_are_dates_and_the_first_vector_says_its_dimensions() {
    let (_folder, server) = start();
    let mappings = json!({"dynamic_date_formats": ["MM/dd/yyyy"], "properties": {
        "v": {"type": "dense_vector", "similarity": "cosine"}}});
    made(&server, "notes", &json!({ "mappings": mappings }));
    for (id, at, v) in [(1, "09/25/2015", [1.0, 0.0]), (2, "01/02/2016", [0.0, 1.0])] {
        assert_eq!(add(&server, "notes", id, &json!({"at": at, "v": v})).0, 201);
    }
    let properties = mapping(&server, "notes");
    assert_eq!(
        properties["at"],
        json!({"type": "date", "format": "MM/dd/yyyy"})
    );
    assert_eq!(properties["v"]["dims"], 2);
    let late = json!({"range": {"at": {"gte": "01/01/2016"}}});
    assert_eq!(ids(&server, "notes", &late, &json!([{"at": "asc"}])), ["2"]);
    let near =
        json!({"knn": {"field": "v", "query_vector": [0.9, 0.1], "k": 1, "num_candidates": 10}});
    let answer = send(&server, "POST", "/notes/_search", &near).json();
    assert_eq!(answer["hits"]["hits"][0]["_id"], "1", "{answer}");
    let (status, answer) = add(&server, "notes", 3, &json!({"v": [1.0, 2.0, 3.0]}));
    assert_eq!(status, 400, "{answer}");
}

#[test]
fn an_object_says_what_becomes_of_its_fields() {
    let (_folder, server) = start();
    let object = |dynamic: Value| {
        let properties =
            json!({"a": {"dynamic": dynamic, "properties": {"k": {"type": "keyword"}}}});
        json!({"mappings": {"properties": properties}})
    };
    made(&server, "strict", &object(json!("strict")));
    made(&server, "kept", &object(json!(false)));
    let document = json!({"a": {"k": "x", "more": "y"}, "other": "z"});
    let (status, answer) = add(&server, "strict", 1, &document);
    assert_eq!(
        (status, &answer["error"]["type"]),
        (400, &json!("strict_dynamic_mapping_exception"))
    );
    assert_eq!(add(&server, "kept", 1, &document).0, 201);
    let all = json!([{"a.k": "asc"}]);
    // The field is shown, and not indexed.
    let query = json!({"query": {"match": {"a.more": "y"}}});
    let answer = send(&server, "POST", "/kept/_search", &query);
    assert!(
        answer.status == 400 && answer.text.contains("a.more"),
        "{}",
        answer.text
    );
    assert_eq!(
        ids(&server, "kept", &json!({"match": {"other": "z"}}), &all),
        ["1"]
    );
    assert_eq!(
        ids(&server, "kept", &json!({"term": {"a.k": "x"}}), &all),
        ["1"]
    );
}

#[test]
fn words_of_a_language_are_found_by_their_stems() {
    let (_folder, server) = start();
    let properties = json!({"t": {"type": "text", "analyzer": "german"}, "n": {"type": "long"}});
    made(
        &server,
        "texte",
        &json!({"mappings": {"properties": properties}}),
    );
    assert_eq!(
        add(
            &server,
            "texte",
            1,
            &json!({"t": "Die Häuser der Städte", "n": 1})
        )
        .0,
        201
    );
    let all = json!([{"n": "asc"}]);
    for (text, found) in [("haus stadt", 1), ("der", 0), ("Haeuser", 1), ("Maus", 0)] {
        let query = json!({"match": {"t": {"query": text, "operator": "and"}}});
        assert_eq!(ids(&server, "texte", &query, &all).len(), found, "{text}");
    }
    let asked = json!({"tokenizer": {"type": "char_group", "tokenize_on_chars": ["-"]}, "text": "brown-fox"});
    let answer = send(&server, "POST", "/_analyze", &asked).json();
    assert_eq!(answer["tokens"][1]["token"], "fox", "{answer}");
    let asked = json!({"analyzer": "german", "text": "Häuser"});
    let answer = send(&server, "POST", "/_analyze", &asked).json();
    assert_eq!(answer["tokens"][0]["token"], "haus", "{answer}");
}

#[test]
fn policies_are_put_shown_and_say_how_long_documents_are_kept() {
    let (_folder, server) = start();
    let policy = json!({"policy": {"phases": {
        "hot": {"actions": {"rollover": {"max_age": "1d"}}}, "delete": {"min_age": "7d", "actions": {"delete": {}}}}}});
    assert_eq!(put(&server, "/_ilm/policy/week", &policy).status, 200);
    let shown = send(&server, "GET", "/_ilm/policy/week", &Value::Null).json();
    assert_eq!(shown["week"]["policy"], policy["policy"]);
    let template = json!({"index_patterns": ["logs-*"], "data_stream": {}, "template": {
        "settings": {"index.lifecycle.name": "week"}}});
    assert_eq!(put(&server, "/_index_template/logs", &template).status, 200);
    let name = "%3Clogs-%7Bnow%2Fd%7D-000001%3E";
    let answer = put(
        &server,
        &format!("/{name}"),
        &json!({"aliases": {"logs": {"is_write_index": true}}}),
    );
    assert_eq!(answer.status, 200, "{}", answer.text);
    let index = answer.json()["index"].as_str().unwrap().to_owned();
    assert!(
        index.starts_with("logs-20") && index.ends_with("-000001"),
        "{index}"
    );
    let config = send(
        &server,
        "GET",
        &format!("/api/v1/indexes/{index}"),
        &Value::Null,
    );
    assert_eq!(
        config.json()["index_config"]["retention"]["period"],
        "7d",
        "{}",
        config.text
    );
    let odd = json!({"policy": {"phases": {"warm": {"actions": {"downsample": {}}}}}});
    let answer = put(&server, "/_ilm/policy/odd", &odd);
    assert!(
        answer.status == 400 && answer.text.contains("[downsample]"),
        "{}",
        answer.text
    );
    assert_eq!(delete(&server, "/_ilm/policy/week").status, 200);
    assert_eq!(delete(&server, "/_ilm/policy/week").status, 404);
    assert_eq!(
        send(&server, "GET", "/_ilm/policy", &Value::Null).json(),
        json!({})
    );
}
