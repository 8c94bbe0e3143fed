//! Mappings of clients: further names of fields, formats of dates, and documents that an index does not take.

use serde_json::{Value, json};

use crate::serve::Server;
use crate::serve_managing::{put, send, server};

fn made(mappings: &Value) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &[]);
    let made = put(&server, "/logs", &json!({ "mappings": mappings }));
    assert_eq!(made.status, 200, "{mappings}: {}", made.text);
    (folder, server)
}

fn search(server: &Server, body: &Value) -> Value {
    let answer = send(server, "POST", "/logs/_search", body);
    assert_eq!(answer.status, 200, "{body}: {}", answer.text);
    answer.json()
}

#[test]
fn an_alias_is_its_field_wherever_a_field_is_named() {
    for dynamic in [json!(true), json!(false)] {
        let (_folder, server) = made(&json!({"dynamic": dynamic, "properties": {
            "message": {"type": "text", "fields": {"keyword": {"type": "keyword"}}},
            "source": {"properties": {"ip": {"type": "ip"}, "port": {"type": "integer"}}},
            "at": {"type": "date"}, "level": {"type": "keyword"},
            "severity": {"type": "alias", "path": "level"}, "text": {"type": "alias", "path": "message"},
            "whole": {"type": "alias", "path": "message.keyword"}, "time": {"type": "alias", "path": "at"},
            "client": {"properties": {"port": {"type": "alias", "path": "source.port"}}},
        }}));
        for (id, level, port) in [(1, "INFO", 80), (2, "WARN", 443), (3, "INFO", 22)] {
            let document = json!({
                "message": format!("disk {id} full"), "level": level, "at": format!("2024-05-0{id}T00:00:00Z"),
                "source": {"ip": "10.0.0.1", "port": port},
            });
            assert_eq!(
                put(&server, &format!("/logs/_doc/{id}"), &document).status,
                201
            );
        }
        for (query, expected) in [
            (json!({"term": {"severity": "INFO"}}), 2),
            (json!({"match": {"text": "disk"}}), 3),
            (json!({"match_phrase": {"text": "disk 2"}}), 1),
            (json!({"term": {"whole": "disk 2 full"}}), 1),
            (json!({"range": {"client.port": {"gte": 80}}}), 2),
            (json!({"range": {"time": {"gte": "2024-05-02"}}}), 2),
            (json!({"exists": {"field": "client.port"}}), 3),
            (
                json!({"query_string": {"query": "severity:WARN OR client.port:22"}}),
                2,
            ),
            (json!({"prefix": {"severity": "W"}}), 1),
            (json!({"terms": {"client.port": [22, 80]}}), 2),
        ] {
            let found = search(&server, &json!({ "query": query }));
            assert_eq!(
                found["hits"]["total"]["value"], expected,
                "{query}: {found}"
            );
        }
        let found = search(
            &server,
            &json!({
                "sort": [{"client.port": "desc"}], "fields": ["severity", "time"], "docvalue_fields": ["client.port"],
                "aggs": {
                    "levels": {"terms": {"field": "severity"}}, "most": {"max": {"field": "client.port"}},
                    "days": {"date_histogram": {"field": "time", "calendar_interval": "day"}},
                    "texts": {"terms": {"field": "whole"}},
                },
            }),
        );
        let ports: Vec<&Value> = found["hits"]["hits"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hit| &hit["sort"][0])
            .collect();
        assert_eq!(ports, [443, 80, 22], "{found}");
        let first = &found["hits"]["hits"][0]["fields"];
        assert_eq!(first["severity"], json!(["WARN"]), "{found}");
        assert_eq!(first["time"], json!(["2024-05-02T00:00:00.000Z"]));
        assert_eq!(first["client.port"], json!([443]));
        let aggs = &found["aggregations"];
        assert_eq!(
            aggs["levels"]["buckets"][0],
            json!({"key": "INFO", "doc_count": 2})
        );
        assert_eq!(aggs["most"]["value"], 443.0);
        assert_eq!(aggs["days"]["buckets"].as_array().unwrap().len(), 3);
        assert_eq!(aggs["texts"]["buckets"].as_array().unwrap().len(), 3);

        let caps = server
            .get("/logs/_field_caps?fields=severity,client.*,time")
            .json();
        for (name, kind) in [
            ("severity", "keyword"),
            ("client.port", "integer"),
            ("time", "date"),
        ] {
            assert_eq!(
                caps["fields"][name][kind]["aggregatable"], true,
                "{name}: {caps}"
            );
        }
        let mapping = server.get("/logs/_mapping").json();
        let properties = &mapping["logs"]["mappings"]["properties"];
        assert_eq!(
            properties["severity"],
            json!({"type": "alias", "path": "level"}),
            "{mapping}"
        );
        // A mapping may add one later.
        let more = json!({"properties": {"address": {"type": "alias", "path": "source.ip"}}});
        assert_eq!(put(&server, "/logs/_mapping", &more).status, 200);
        let found = search(
            &server,
            &json!({"query": {"term": {"address": "10.0.0.0/8"}}}),
        );
        assert_eq!(found["hits"]["total"]["value"], 3, "{found}");
        for wrong in ["nope", "source", "severity"] {
            let more = json!({"properties": {"wrong": {"type": "alias", "path": wrong}}});
            let refused = put(&server, "/logs/_mapping", &more);
            assert_eq!(refused.status, 400, "{wrong}");
            assert!(
                refused.text.contains("for field alias [wrong]"),
                "{}",
                refused.text
            );
        }
    }
}

#[test]
fn dates_of_named_formats_and_patterns_are_found_by_their_days() {
    let formats = [
        ("a", "basic_date", "20240502"),
        ("b", "strict_basic_date_time_no_millis", "20240502T103015Z"),
        ("c", "MM/dd/yyyy hh:mm a", "05/02/2024 03:04 PM"),
        (
            "d",
            "EEE MMM dd HH:mm:ss Z yyyy",
            "Thu May 02 10:30:15 +0200 2024",
        ),
        ("e", "dd.MM.yyyy[ HH:mm]", "02.05.2024"),
        (
            "f",
            "date_hour_minute_second_millis",
            "2024-05-02T10:30:15.123",
        ),
        ("g", "M/d/yy", "5/2/24"),
        ("h", "week_date", "2024-W18-4"),
    ];
    let fields = formats
        .map(|(name, format, _)| (name.to_owned(), json!({"type": "date", "format": format})));
    let fields: Value = serde_json::Map::from_iter(fields).into();
    let (_folder, server) = made(&json!({ "properties": fields }));
    let values = formats.map(|(name, _, text)| (name.to_owned(), text.into()));
    let document: Value = serde_json::Map::from_iter(values).into();
    let added = put(&server, "/logs/_doc/1", &document);
    assert_eq!(added.status, 201, "{}", added.text);
    for (name, _, text) in formats {
        for (query, expected) in [
            (
                json!({"range": {name: {"gte": "2024-05-02", "lt": "2024-05-03", "format": "yyyy-MM-dd"}}}),
                1,
            ),
            (
                json!({"range": {name: {"gte": "2024-05-03", "format": "yyyy-MM-dd"}}}),
                0,
            ),
            (json!({"range": {name: {"gte": text, "lte": text}}}), 1),
        ] {
            let found = search(&server, &json!({ "query": query }));
            assert_eq!(
                found["hits"]["total"]["value"], expected,
                "{query}: {found}"
            );
        }
    }
}

#[test]
fn a_date_out_of_range_is_refused_with_the_range_and_a_remedy() {
    let (_folder, server) = made(&json!({"properties": {
        "until": {"type": "date"}, "lenient": {"type": "date", "ignore_malformed": true},
    }}));
    for text in ["9999-12-31", "1500-01-01T00:00:00Z"] {
        let refused = put(&server, "/logs/_doc/1", &json!({"until": text}));
        assert_eq!(refused.status, 400, "{text}");
        for part in ["1677-09-21", "2262-04-11", "ignore_malformed", text] {
            assert!(refused.text.contains(part), "{part}: {}", refused.text);
        }
        let kept = put(&server, "/logs/_doc/1", &json!({"lenient": text}));
        assert!(matches!(kept.status, 200 | 201), "{}", kept.text);
    }
}

#[test]
fn a_strict_index_names_its_refusal_as_elasticsearch_does() {
    let (_folder, server) =
        made(&json!({"dynamic": "strict", "properties": {"a": {"type": "long"}}}));
    let refused = put(&server, "/logs/_doc/1", &json!({"a": 1, "b": 2}));
    assert_eq!(refused.status, 400);
    assert_eq!(
        refused.json()["error"]["type"],
        "strict_dynamic_mapping_exception",
        "{}",
        refused.text
    );
    let refused = put(&server, "/logs/_doc/1", &json!({"a": "x"}));
    assert_eq!(
        refused.json()["error"]["type"],
        "document_parsing_exception"
    );
}
