//! What documents with ids have beside their contents: versions, numbers, routings; and what shippers that choose ids send.

use reqwest::Method;
use serde_json::json;

use crate::serve::Answer;
use crate::serve_ids::{bulk, get, post, problem, said};
use crate::serve_managing::{delete, put, server};

#[test]
fn versions_are_counted_or_given_and_numbers_ascend() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    let conflict = "version_conflict_engine_exception";
    let first = put(&server, "/shop/_doc/a", &json!({"n": 1}));
    assert_eq!(said(&first, 201, "created", 1), 0);
    let second = put(&server, "/shop/_doc/b", &json!({"n": 1}));
    assert_eq!(said(&second, 201, "created", 1), 1);
    let wrong = delete(&server, "/shop/_doc/a?if_seq_no=2&if_primary_term=1");
    problem(&wrong, 409, conflict, "current document has seqNo [0]");
    let right = delete(&server, "/shop/_doc/a?if_seq_no=0&if_primary_term=1");
    assert_eq!(said(&right, 200, "deleted", 2), 2);
    let absent = put(
        &server,
        "/shop/_doc/a?if_seq_no=0&if_primary_term=1",
        &json!({}),
    );
    problem(&absent, 409, conflict, "but no document was found");
    let items = bulk(
        &server,
        "/shop/_bulk",
        &[
            json!({"index": {}}),
            json!({"n": 2}),
            json!({"index": {"_id": "b"}}),
            json!({"n": 3}),
        ],
    );
    let numbers = [&items[0]["index"]["_seq_no"], &items[1]["index"]["_seq_no"]];
    assert_eq!(numbers, [&json!(3), &json!(4)]);
    let own = items[0]["index"]["_id"].as_str().unwrap();
    let (_, found) = get(&server, &format!("/shop/_doc/{own}"));
    assert_eq!(
        (&found["_seq_no"], &found["_source"]),
        (&json!(3), &json!({"n": 2}))
    );

    // Versions of the client's.
    let external = |kind: &str, version: u64| {
        let path = format!("/shop/_doc/v?version_type={kind}&version={version}");
        put(&server, &path, &json!({"v": version}))
    };
    said(&external("external", 0), 201, "created", 0);
    said(
        &external("external", 1_764_204_000_000),
        200,
        "updated",
        1_764_204_000_000,
    );
    let same = external("external", 1_764_204_000_000);
    problem(
        &same,
        409,
        conflict,
        "current version [1764204000000] is higher or equal than the one provided",
    );
    problem(&external("external", 5), 409, conflict, "provided [5]");
    said(
        &external("external_gte", 1_764_204_000_000),
        200,
        "updated",
        1_764_204_000_000,
    );
    problem(
        &external("external_gte", 7),
        409,
        conflict,
        "is higher than",
    );
    let (_, found) = get(&server, "/shop/_doc/v?version=1764204000000");
    assert_eq!(found["_version"], 1_764_204_000_000_u64);
    let (status, found) = get(&server, "/shop/_doc/v?version=3");
    assert_eq!((status, &found["error"]["type"]), (409, &json!(conflict)));
    said(
        &put(&server, "/shop/_doc/v", &json!({})),
        200,
        "updated",
        1_764_204_000_001,
    );
    let old = delete(&server, "/shop/_doc/v?version_type=external&version=4");
    problem(&old, 409, conflict, "provided [4]");
    let path = "/shop/_doc/v?version_type=external&version=1764204000009";
    said(&delete(&server, path), 200, "deleted", 1_764_204_000_009);

    let kind = "action_request_validation_exception";
    let create = put(
        &server,
        "/shop/_create/v?version_type=external&version=5",
        &json!({}),
    );
    problem(
        &create,
        400,
        kind,
        "create operations only support internal versioning",
    );
    let internal = put(&server, "/shop/_doc/v?version=5", &json!({}));
    problem(&internal, 400, kind, "if_seq_no");
    let without = put(&server, "/shop/_doc/v?version_type=external", &json!({}));
    problem(&without, 400, kind, "illegal version value [-3]");
    let update = post(
        &server,
        "/shop/_update/v?version_type=external&version=5",
        &json!({"doc": {}}),
    );
    problem(
        &update,
        400,
        kind,
        "update operations do not support versioning",
    );
    let items = bulk(
        &server,
        "/shop/_bulk",
        &[
            json!({"index": {"_id": "w", "version": 8, "version_type": "external"}}),
            json!({}),
            json!({"delete": {"_id": "w", "version": 8, "version_type": "external"}}),
            json!({"delete": {"_id": "w", "version": 8, "version_type": "external_gte"}}),
        ],
    );
    let statuses = [
        &items[0]["index"]["status"],
        &items[1]["delete"]["status"],
        &items[2]["delete"]["status"],
    ];
    assert_eq!(statuses, [&json!(201), &json!(409), &json!(200)]);
    // What a filter hides cannot be counted by numbers: queries do not see them.
    let (status, found) = get(&server, "/shop/_search?q=_seq_no:4");
    assert_eq!(status, 400, "{found}");
}

#[test]
fn documents_are_found_with_the_routing_that_they_were_written_with() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    said(
        &put(&server, "/shop/_doc/1?routing=5", &json!({"n": 1})),
        201,
        "created",
        1,
    );
    let (status, found) = get(&server, "/shop/_doc/1?routing=5&stored_fields=_routing");
    assert_eq!((status, &found["_routing"]), (200, &json!("5")));
    assert_eq!(found.get("_source"), None);
    for other in ["", "?routing=4", "?routing=1"] {
        assert_eq!(
            get(&server, &format!("/shop/_doc/1{other}")).0,
            404,
            "{other}"
        );
        assert_eq!(
            get(&server, &format!("/shop/_source/1{other}")).0,
            404,
            "{other}"
        );
    }
    assert_eq!(
        get(&server, "/shop/_source/1?routing=5"),
        (200, json!({"n": 1}))
    );
    // As in Elasticsearch, a document without a routing is routed by its id.
    put(&server, "/shop/_doc/2", &json!({"n": 2}));
    assert_eq!(get(&server, "/shop/_doc/2?routing=2").0, 200);
    let docs = json!({"docs": [{"_id": "1"}, {"_id": "1", "routing": 4}, {"_id": "1", "routing": "5"}, {"_id": "2"}]});
    let docs = post(&server, "/shop/_mget", &docs).json()["docs"].take();
    let found = docs.as_array().unwrap().iter().map(|doc| &doc["found"]);
    assert_eq!(
        found.collect::<Vec<_>>(),
        [&json!(false), &json!(false), &json!(true), &json!(true)]
    );
    let (_, found) = get(&server, "/shop/_search?q=n:1&routing=9");
    let hit = &found["hits"]["hits"][0];
    assert_eq!(
        (&hit["_routing"], &hit["_source"]),
        (&json!("5"), &json!({"n": 1}))
    );
    // Routings are no contents.
    let (_, found) = get(&server, "/shop/_search?q=5");
    assert_eq!(found["hits"]["total"]["value"], 0, "{found}");

    let missing = post(&server, "/shop/_update/1", &json!({"doc": {"m": 1}}));
    problem(&missing, 404, "document_missing_exception", "[1]");
    let update = post(
        &server,
        "/shop/_update/1?routing=5",
        &json!({"doc": {"m": 1}}),
    );
    said(&update, 200, "updated", 2);
    let items = bulk(
        &server,
        "/shop/_bulk",
        &[
            json!({"update": {"_id": "1", "routing": "5", "_source": {"includes": "m"}}}),
            json!({"doc": {"m": 2}}),
            json!({"delete": {"_id": "2", "routing": "5"}}),
            json!({"index": {"routing": "7"}}),
            json!({"n": 7}),
        ],
    );
    assert_eq!(items[0]["update"]["get"]["_source"], json!({"m": 2}));
    assert_eq!(items[1]["delete"]["status"], 404);
    let (_, found) = get(&server, "/shop/_search?q=n:7");
    assert_eq!(found["hits"]["hits"][0]["_routing"], "7", "{found}");
    let copied = json!({"source": {"index": "shop"}, "dest": {"index": "copy"}});
    assert_eq!(post(&server, "/_reindex", &copied).status, 200);
    assert_eq!(
        get(&server, "/copy/_source/1?routing=5"),
        (200, json!({"n": 1, "m": 2}))
    );
    let absent = delete(&server, "/shop/_doc/1?routing=4");
    said_not_found(&absent);
    said(
        &delete(&server, "/shop/_doc/1?routing=5"),
        200,
        "deleted",
        4,
    );
}

#[track_caller]
fn said_not_found(answer: &Answer) {
    assert_eq!(
        (answer.status, &answer.json()["result"]),
        (404, &json!("not_found")),
        "{}",
        answer.text
    );
}

#[test]
fn fields_have_constants_and_leave_out_malformed_values() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &[]);
    let mapping = json!({"mappings": {"properties": {
        "genre": {"type": "constant_keyword", "value": "1"},
        "price": {"type": "long", "ignore_malformed": true},
        "day": {"type": "date", "ignore_malformed": true},
        "counter": {"type": "unsigned_long"},
    }}});
    assert_eq!(put(&server, "/shop", &mapping).status, 200);
    let documents = [
        json!({"genre": "1", "price": 5}),
        json!({"genre": 1, "price": "cheap", "day": "never"}),
        json!({"counter": "10223372036854775807", "price": [7, {"a": 1}]}),
    ];
    for (ord, document) in documents.iter().enumerate() {
        let answer = put(&server, &format!("/shop/_doc/{ord}"), document);
        assert_eq!(answer.status, 201, "{}", answer.text);
    }
    problem(
        &put(&server, "/shop/_doc/9", &json!({"genre": "2"})),
        400,
        "document_parsing_exception",
        "only accepts values that are equal",
    );
    problem(
        &put(&server, "/shop/_doc/9", &json!({"a": {"..": 1}})),
        400,
        "illegal_argument_exception",
        "cannot contain only the character [.]",
    );
    for (query, wanted) in [
        ("genre:1", 3),
        ("genre:2", 0),
        ("_exists_:genre", 3),
        ("price:[5 TO 7]", 2),
        ("_exists_:day", 0),
        ("_ignored:price", 2),
        ("_ignored:day", 1),
        ("counter:10223372036854775807", 1),
        ("cheap", 0),
    ] {
        let query = query.replace(' ', "%20");
        let (_, found) = get(&server, &format!("/shop/_count?q={query}"));
        assert_eq!(found["count"], wanted, "{query}: {found}");
    }
    let (_, found) = get(&server, "/shop/_search?q=_ignored:day");
    let hit = &found["hits"]["hits"][0];
    assert_eq!(hit["_ignored"], json!(["day", "price"]));
    assert_eq!(hit["_source"], documents[1]);
    let (_, mappings) = get(&server, "/shop/_mapping");
    assert_eq!(
        mappings["shop"]["mappings"]["properties"]["genre"],
        json!({"type": "constant_keyword", "value": "1"})
    );
}

/// Bodies as shippers write them that choose ids.
///
/// Logstash's output `elasticsearch` (`event_action_tuple` and `common_event_params` of
/// `lib/logstash/outputs/elasticsearch.rb`, 11.x) writes `_id`, `_index` and `routing` in this order, the last one as null unless
/// it is configured, for updates `retry_on_conflict`, and a version as a text. Fluent Bit's output `es`
/// (`plugins/out_es/es_bulk.h`, 3.x) writes `_index` and `_id`, with `Suppress_Type_Name Off` a `_type` between them, and wraps
/// documents of `Write_Operation update` and `upsert`.
#[test]
fn shippers_that_choose_ids_replace_what_they_send_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    let send = |path: &str, body: &str| {
        let headers = [("content-type", "application/json")];
        let answer = server.send(Method::POST, path, &headers, body.to_owned());
        assert_eq!(answer.status, 200, "{}", answer.text);
        let items = answer.json()["items"].as_array().unwrap().clone();
        let told = items.iter().map(|item| {
            let (_, item) = item.as_object().unwrap().iter().next().unwrap();
            item["status"].as_u64().unwrap()
        });
        told.collect::<Vec<u64>>()
    };
    let count = |query: &str| {
        let (_, found) = get(&server, &format!("/shipped-2026.11.27/_count?q={query}"));
        found["count"].as_u64().unwrap()
    };

    let logstash = concat!(
        r#"{"index":{"_id":"a1f3","_index":"shipped-2026.11.27","routing":null}}"#,
        "\n",
        r#"{"message":"one","@timestamp":"2026-11-27T03:00:00.000Z","@version":"1","host":{"name":"web-1"}}"#,
        "\n",
        r#"{"update":{"_id":"b2c4","_index":"shipped-2026.11.27","routing":null,"retry_on_conflict":1}}"#,
        "\n",
        r#"{"doc":{"message":"two","@timestamp":"2026-11-27T03:00:01.000Z","@version":"1"},"doc_as_upsert":true}"#,
        "\n",
        r#"{"index":{"_id":"c3d5","_index":"shipped-2026.11.27","routing":"eu","version":"7","version_type":"external"}}"#,
        "\n",
        r#"{"message":"three","@timestamp":"2026-11-27T03:00:02.000Z","@version":"1"}"#,
        "\n",
        r#"{"create":{"_id":null,"_index":"shipped-2026.11.27","routing":null}}"#,
        "\n",
        r#"{"message":"four","@timestamp":"2026-11-27T03:00:03.000Z","@version":"1"}"#,
        "\n",
    );
    assert_eq!(
        send(
            "/_bulk?filter_path=errors,items.*.error,items.*.status",
            logstash
        ),
        [201; 4]
    );
    // Sent again after a lost answer. Logstash takes the conflict of an external version as a success.
    assert_eq!(
        send(
            "/_bulk?filter_path=errors,items.*.error,items.*.status",
            logstash
        ),
        [200, 200, 409, 201]
    );
    let counted = ["one", "two", "three", "four"].map(|word| count(&format!("message:{word}")));
    assert_eq!(counted, [1, 1, 1, 2]);

    let fluent_bit = concat!(
        r#"{"create":{"_index":"shipped-2026.11.27","_id":"6f1ed002-ab5f-4b5c-8d4c-1b6ad1b6f0aa"}}"#,
        "\n",
        r#"{"@timestamp":"2026-11-27T03:00:04.000Z","message":"five"}"#,
        "\n",
        r#"{"index":{"_index":"shipped-2026.11.27","_type":"_doc","_id":"six"}}"#,
        "\n",
        r#"{"@timestamp":"2026-11-27T03:00:05.000Z","message":"six"}"#,
        "\n",
        r#"{"update":{"_index":"shipped-2026.11.27","_id":"seven"}}"#,
        "\n",
        r#"{"doc_as_upsert":true,"doc":{"@timestamp":"2026-11-27T03:00:06.000Z","message":"seven"}}"#,
        "\n",
        r#"{"update":{"_index":"shipped-2026.11.27","_id":"none"}}"#,
        "\n",
        r#"{"doc":{"@timestamp":"2026-11-27T03:00:07.000Z","message":"none"}}"#,
        "\n",
    );
    assert_eq!(send("/_bulk", fluent_bit), [201, 201, 201, 404]);
    // Fluent Bit takes the conflict of a document that it has sent before as a success.
    assert_eq!(send("/_bulk", fluent_bit), [409, 200, 200, 404]);
    let counted = ["five", "six", "seven", "none"].map(|word| count(&format!("message:{word}")));
    assert_eq!(counted, [1, 1, 1, 0]);
}

#[test]
fn documents_with_hidden_values_are_not_written_again_without_them() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    for (index, source) in [
        ("some", json!({"excludes": ["secret"]})),
        ("none", json!({"enabled": false})),
    ] {
        let mapping = json!({"mappings": {
            "_source": source,
            "properties": {"n": {"type": "long"}, "secret": {"type": "keyword"}},
        }});
        assert_eq!(put(&server, &format!("/{index}"), &mapping).status, 200);
        let document = json!({"n": 1, "secret": "s"});
        let added = put(&server, &format!("/{index}/_doc/1"), &document);
        assert_eq!(added.status, 201, "{}", added.text);
        let all = json!({"query": {"match_all": {}}});
        let copied = json!({"source": {"index": index}, "dest": {"index": "copy"}});
        let update = json!({"doc": {"n": 2}});
        for (path, body) in [
            (format!("/{index}/_update/1"), &update),
            (format!("/{index}/_update_by_query"), &all),
            ("/_reindex".to_owned(), &copied),
        ] {
            let refused = post(&server, &path, body);
            let names = format!("the mapping of [{index}] hides values");
            problem(&refused, 400, "illegal_argument_exception", &names);
        }
        let (_, found) = get(&server, &format!("/{index}/_search?q=n:1%20AND%20secret:s"));
        assert_eq!(found["hits"]["total"]["value"], 1, "{found}");
        // Whole documents lose nothing, and deletions need no values.
        let replaced = put(&server, &format!("/{index}/_doc/1"), &document);
        said(&replaced, 200, "updated", 2);
        let deleted = delete(&server, &format!("/{index}/_doc/1?routing=1"));
        said(&deleted, 200, "deleted", 3);
    }
}
