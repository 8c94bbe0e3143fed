//! Fields that no mapping names: what queries, aggregations and orders make of them in indexes that clients made, and
//! what lists of fields say of those that documents brought.

use serde_json::{Value, json};

use crate::serve::Server;
use crate::serve_managing::{put, send, server};

/// Makes an index that keeps what it does not map, one of all that documents have, and fills both.
fn fill(server: &Server) {
    let closed = json!({"mappings": {"dynamic": false, "properties": {
        "level": {"type": "keyword"}, "message": {"type": "text"}, "off": {"type": "object", "enabled": false},
    }}});
    assert_eq!(put(server, "/closed", &closed).status, 200);
    for index in ["closed", "open"] {
        for (id, level) in [(1, "INFO"), (2, "WARN"), (3, "INFO")] {
            let document = json!({
                "level": level, "message": "disk full", "nope": id, "extra": {"host": "web one"}, "off": {"z": 1},
            });
            let answer = put(server, &format!("/{index}/_doc/{id}"), &document);
            assert_eq!(answer.status, 201, "{}", answer.text);
        }
    }
}

fn search(server: &Server, index: &str, body: &Value) -> Value {
    let answer = send(server, "POST", &format!("/{index}/_search"), body);
    assert_eq!(answer.status, 200, "{index} {body}: {}", answer.text);
    answer.json()
}

fn start() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    fill(&server);
    (folder, server)
}

#[test]
fn a_field_that_is_not_mapped_matches_nothing_in_an_index_that_a_client_made() {
    let (_folder, server) = start();
    for (query, expected) in [
        (json!({"term": {"nope": 1}}), 0),
        (json!({"term": {"nope.keyword": "1"}}), 0),
        (json!({"terms": {"nope": [1, 2]}}), 0),
        (json!({"match": {"nope": "disk"}}), 0),
        (json!({"match_phrase": {"nope": "disk full"}}), 0),
        (json!({"range": {"nope": {"gte": 0}}}), 0),
        (json!({"exists": {"field": "nope"}}), 0),
        (json!({"prefix": {"nope": "d"}}), 0),
        (json!({"wildcard": {"nope": "d*"}}), 0),
        (json!({"fuzzy": {"nope": "disk"}}), 0),
        (json!({"query_string": {"query": "nope:1"}}), 0),
        (
            json!({"query_string": {"query": "nope:1 OR level:WARN"}}),
            1,
        ),
        (json!({"query_string": {"query": "nope:[1 TO 3]"}}), 0),
        (
            json!({"multi_match": {"query": "disk", "fields": ["message", "nope"]}}),
            3,
        ),
        (
            json!({"bool": {"should": [{"term": {"nope": 1}}, {"term": {"level": "WARN"}}]}}),
            1,
        ),
        (json!({"bool": {"must_not": [{"term": {"nope": 1}}]}}), 3),
        (json!({"term": {"off.z": 1}}), 0),
        (json!({"exists": {"field": "off.z"}}), 0),
        (json!({"range": {"off.z": {"lte": 1}}}), 0),
        (json!({"term": {"extra.host": "web"}}), 0),
    ] {
        let found = search(&server, "closed", &json!({ "query": query }));
        assert_eq!(
            found["hits"]["total"]["value"], expected,
            "{query}: {found}"
        );
        // Several indexes of which one lacks the field.
        let found = search(&server, "closed,open", &json!({ "query": query }));
        assert_eq!(found["_shards"]["failed"], 0, "{query}: {found}");
    }
}

#[test]
fn aggregations_and_orders_by_a_field_that_is_not_mapped_see_no_values() {
    let (_folder, server) = start();
    let aggs = json!({
        "terms": {"terms": {"field": "nope"}}, "max": {"max": {"field": "nope"}},
        "count": {"value_count": {"field": "nope"}}, "lacking": {"missing": {"field": "nope"}},
        "filled": {"terms": {"field": "nope", "missing": "none"}},
        "ranges": {"range": {"field": "off.z", "ranges": [{"to": 5}]}},
        "days": {"date_histogram": {"field": "nope", "calendar_interval": "day"}},
        "tens": {"histogram": {"field": "nope", "interval": 10}},
        "kinds": {"cardinality": {"field": "nope"}},
    });
    let found = search(&server, "closed", &json!({"size": 0, "aggs": aggs}));
    let found = &found["aggregations"];
    assert_eq!(found["terms"]["buckets"], json!([]), "{found}");
    assert_eq!(found["max"]["value"], Value::Null);
    assert_eq!(found["count"]["value"], 0);
    assert_eq!(found["lacking"]["doc_count"], 3);
    assert_eq!(
        found["filled"]["buckets"],
        json!([{"key": "none", "doc_count": 3}])
    );
    assert_eq!(found["ranges"]["buckets"][0]["doc_count"], 0);
    assert_eq!(found["days"]["buckets"], json!([]));
    assert_eq!(found["tens"]["buckets"], json!([]));
    assert_eq!(found["kinds"]["value"], 0);

    let sorted = json!({"sort": [{"nope": {"order": "desc", "unmapped_type": "long"}}]});
    let found = search(&server, "closed", &sorted);
    assert_eq!(found["hits"]["total"]["value"], 3);
    assert_eq!(found["hits"]["hits"][0]["sort"], json!([null]), "{found}");
    let refused = send(
        &server,
        "POST",
        "/closed/_search",
        &json!({"sort": ["nope"]}),
    );
    assert_eq!(refused.status, 400);
    assert!(
        refused.text.contains("No mapping found for [nope]"),
        "{}",
        refused.text
    );
    // Quickwit's API says that there is no such field.
    let refused = server.get("/api/v1/closed/search?query=nope:1");
    assert_eq!(refused.status, 400, "{}", refused.text);
    assert!(refused.text.contains("does not exist"), "{}", refused.text);
}

#[test]
fn mappings_list_the_fields_that_documents_brought() {
    let (_folder, server) = start();
    let mapping = server.get("/open/_mapping").json();
    let properties = &mapping["open"]["mappings"]["properties"];
    let text =
        json!({"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}});
    assert_eq!(properties["level"], text, "{mapping}");
    assert_eq!(properties["nope"], json!({"type": "long"}));
    assert_eq!(properties["extra"]["properties"]["host"], text);
    assert_eq!(
        server.get("/open").json()["open"]["mappings"],
        mapping["open"]["mappings"]
    );
    let one = server.get("/open/_mapping/field/no*").json();
    let expected = json!({"nope": {"full_name": "nope", "mapping": {"nope": {"type": "long"}}}});
    assert_eq!(one["open"]["mappings"], expected);
    // What an index does not map is no field of it.
    let closed = server.get("/closed/_mapping").json();
    let closed = closed["closed"]["mappings"]["properties"]
        .as_object()
        .unwrap()
        .clone();
    let names: Vec<&String> = closed.keys().collect();
    assert_eq!(names, ["level", "message", "off"]);
}

#[test]
fn dates_and_fractions_that_documents_brought_are_those_of_elasticsearch() {
    let (_folder, server) = start();
    for (id, at, day, ratio) in [
        (1, "2021-06-15T08:30:00Z", "2021-06-15", 0.5),
        (2, "2020-03-01T10:00:00.25Z", "2020-03-01", 2.0),
    ] {
        let document = json!({"at": at, "day": day, "ratio": ratio, "word": "x"});
        let answer = put(
            &server,
            &format!("/dated/_doc/{id}?refresh=true"),
            &document,
        );
        assert_eq!(answer.status, 201, "{}", answer.text);
    }
    let answer = search(
        &server,
        "dated",
        &json!({"sort": "at", "size": 1, "_source": false, "fields": ["at", "day"],
            "docvalue_fields": [{"field": "day", "format": "dd/MM/yyyy"}, {"field": "ratio", "format": "0.00"}],
            "aggs": {"last": {"max": {"field": "at"}}, "days": {"stats": {"field": "day"}}}}),
    );
    let last = json!({"value": 1_623_745_800_000.0, "value_as_string": "2021-06-15T08:30:00.000Z"});
    assert_eq!(answer["aggregations"]["last"], last, "{answer}");
    let days = &answer["aggregations"]["days"];
    assert_eq!(days["min_as_string"], "2020-03-01T00:00:00.000Z", "{days}");
    assert_eq!(days["count"], 2);
    let fields = &answer["hits"]["hits"][0]["fields"];
    assert_eq!(
        fields["at"],
        json!(["2020-03-01T10:00:00.250Z"]),
        "{fields}"
    );
    assert_eq!(fields["ratio"], json!(["2.00"]));
    let mapping = server.get("/dated/_mapping").json();
    assert_eq!(
        mapping["dated"]["mappings"]["properties"]["ratio"],
        json!({"type": "float"})
    );
    let average = json!({"size": 0, "aggs": {"a": {"avg": {"field": "word.keyword"}}}});
    let answer = send(&server, "POST", "/dated/_search", &average);
    assert_eq!(answer.status, 400, "{}", answer.text);
    assert!(
        answer.text.contains("of type [keyword] is not supported"),
        "{}",
        answer.text
    );
}
