//! Pipelines, stored scripts, and settings that servers heed: as shippers and tutorials send them.

use serde_json::{Value, json};

use crate::serve::Server;
use crate::serve_managing::{delete, put, send, server};

fn start() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    (folder, server)
}

fn pipeline(server: &Server, name: &str, processors: Value) {
    let body = json!({"description": "of a test", "processors": processors});
    let answer = put(server, &format!("/_ingest/pipeline/{name}"), &body);
    assert_eq!(answer.status, 200, "{name}: {}", answer.text);
}

fn bulk(server: &Server, path: &str, lines: &[Value]) -> Value {
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let headers = [("content-type", "application/x-ndjson")];
    let answer = server.send("POST".parse().unwrap(), path, &headers, body);
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

fn source(server: &Server, path: &str) -> Value {
    let answer = server.get(path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json()
}

#[test]
fn documents_pass_the_pipelines_that_requests_actions_and_indexes_name() {
    let (_folder, server) = start();
    pipeline(
        &server,
        "env",
        json!([{"set": {"field": "env", "value": "prod"}}, {"lowercase": {"field": "user", "ignore_missing": true}}]),
    );
    pipeline(
        &server,
        "last",
        json!([{"set": {"field": "last", "value": "{{_index}}"}}]),
    );
    let shown = server.get("/_ingest/pipeline/env").json();
    assert_eq!(shown["env"]["description"], "of a test");
    let answer = put(&server, "/one/_doc/1?pipeline=env", &json!({"user": "BOB"}));
    assert_eq!(answer.status, 201, "{}", answer.text);
    assert_eq!(
        source(&server, "/one/_source/1"),
        json!({"user": "bob", "env": "prod"})
    );

    let settings =
        json!({"settings": {"index": {"default_pipeline": "env", "final_pipeline": "last"}}});
    put(&server, "/two", &settings);
    let items = bulk(
        &server,
        "/_bulk",
        &[
            json!({"index": {"_index": "two", "_id": "1"}}),
            json!({"user": "EVE"}),
            json!({"create": {"_index": "two", "_id": "2", "pipeline": "_none"}}),
            json!({"user": "ANN"}),
            json!({"update": {"_index": "two", "_id": "3"}}),
            json!({"doc": {"user": "UP"}, "doc_as_upsert": true}),
            json!({"index": {"_index": "two", "_id": "4", "pipeline": "nosuch"}}),
            json!({}),
            json!({"delete": {"_index": "two", "_id": "9"}}),
        ],
    );
    let statuses: Vec<u64> = items["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            item.as_object().unwrap().values().next().unwrap()["status"]
                .as_u64()
                .unwrap()
        })
        .collect();
    assert_eq!(statuses, [201, 201, 201, 400, 404], "{items}");
    assert_eq!(
        source(&server, "/two/_source/1"),
        json!({"user": "eve", "env": "prod", "last": "two"})
    );
    assert_eq!(
        source(&server, "/two/_source/2"),
        json!({"user": "ANN", "last": "two"})
    );
    assert_eq!(
        source(&server, "/two/_source/3"),
        json!({"user": "up", "env": "prod", "last": "two"})
    );
    assert_eq!(
        items["items"][3]["index"]["error"]["reason"],
        "pipeline with id [nosuch] does not exist"
    );

    // A template says so of an index that the documents make.
    let template = json!({"index_patterns": ["three-*"], "template": {"settings": {"index.default_pipeline": "env"}}});
    put(&server, "/_index_template/three", &template);
    put(&server, "/three-1/_doc/1", &json!({}));
    assert_eq!(
        source(&server, "/three-1/_source/1"),
        json!({"env": "prod"})
    );
    assert_eq!(delete(&server, "/_ingest/pipeline/env").status, 200);
    assert_eq!(delete(&server, "/_ingest/pipeline/env").status, 404);
    assert_eq!(put(&server, "/three-1/_doc/2", &json!({})).status, 400);
}

#[test]
fn pipelines_drop_documents_refuse_them_and_send_them_elsewhere() {
    let (_folder, server) = start();
    pipeline(
        &server,
        "route",
        json!([
            {"drop": {"if": "ctx.level == 'debug'"}},
            {"fail": {"if": "ctx.level == null", "message": "no level in {{_id}}"}},
            {"date_index_name": {"field": "ts", "index_name_prefix": "months-", "date_rounding": "M", "index_name_format": "yyyy-MM"}},
        ]),
    );
    let ts = "2024-05-06T07:08:09.000Z";
    let answer = bulk(
        &server,
        "/_bulk?pipeline=route",
        &[
            json!({"index": {"_index": "any", "_id": "1"}}),
            json!({"level": "debug", "ts": ts}),
            json!({"index": {"_index": "any", "_id": "2"}}),
            json!({"ts": ts}),
            json!({"index": {"_index": "any", "_id": "3"}}),
            json!({"level": "info", "ts": ts}),
        ],
    );
    let items = &answer["items"];
    assert_eq!(
        (&items[0]["index"]["result"], &items[0]["index"]["status"]),
        (&json!("noop"), &json!(200))
    );
    assert_eq!(
        items[1]["index"]["error"]["type"],
        "fail_processor_exception"
    );
    assert_eq!(items[1]["index"]["error"]["reason"], "no level in 2");
    assert_eq!(items[2]["index"]["_index"], "months-2024-05");
    assert_eq!(
        source(&server, "/months-2024-05/_source/3")["level"],
        "info"
    );
    assert_eq!(server.get("/any/_doc/1").status, 404);
    let dropped = put(
        &server,
        "/any/_doc/7?pipeline=route",
        &json!({"level": "debug"}),
    );
    assert_eq!(
        (dropped.status, &dropped.json()["result"]),
        (200, &json!("noop"))
    );
}

#[test]
fn copies_and_updates_pass_pipelines() {
    let (_folder, server) = start();
    pipeline(&server, "up", json!([{"uppercase": {"field": "name"}}]));
    put(&server, "/from/_doc/1", &json!({"name": "ann"}));
    let copy = json!({"source": {"index": "from"}, "dest": {"index": "to", "pipeline": "up"}});
    let answer = send(&server, "POST", "/_reindex", &copy);
    assert_eq!(answer.json()["created"], 1, "{}", answer.text);
    assert_eq!(source(&server, "/to/_source/1"), json!({"name": "ANN"}));
    let answer = send(
        &server,
        "POST",
        "/from/_update_by_query?pipeline=up",
        &json!({}),
    );
    assert_eq!(answer.json()["updated"], 1, "{}", answer.text);
    assert_eq!(source(&server, "/from/_source/1"), json!({"name": "ANN"}));
    let missing = json!({"source": {"index": "from"}, "dest": {"index": "to", "pipeline": "none"}});
    assert_eq!(send(&server, "POST", "/_reindex", &missing).status, 400);
}

#[test]
fn what_pipelines_make_is_shown_without_adding_anything() {
    let (_folder, server) = start();
    let body = json!({
        "pipeline": {"processors": [{"set": {"tag": "t", "field": "a", "value": 1}}, {"rename": {"field": "b", "target_field": "c"}}]},
        "docs": [{"_id": "x", "_source": {"b": 2}}, {"_source": {}}],
    });
    let told = send(&server, "POST", "/_ingest/pipeline/_simulate", &body).json();
    assert_eq!(told["docs"][0]["doc"]["_source"], json!({"a": 1, "c": 2}));
    assert_eq!(told["docs"][0]["doc"]["_id"], "x");
    assert_eq!(
        told["docs"][1]["error"]["reason"],
        "field [b] doesn't exist"
    );
    let told = send(
        &server,
        "POST",
        "/_ingest/pipeline/_simulate?verbose=true",
        &body,
    )
    .json();
    let steps = &told["docs"][0]["processor_results"];
    assert_eq!(
        (&steps[0]["tag"], &steps[0]["doc"]["_source"]),
        (&json!("t"), &json!({"a": 1, "b": 2}))
    );
    pipeline(&server, "p", json!([{"drop": {}}]));
    let told = send(
        &server,
        "POST",
        "/_ingest/pipeline/p/_simulate",
        &json!({"docs": [{"_source": {}}]}),
    )
    .json();
    assert_eq!(told["docs"], json!([null]));
    let patterns = server.get("/_ingest/processor/grok").json();
    assert_eq!(patterns["patterns"]["NOTSPACE"], "\\S+");
    for (path, body, kind) in [
        (
            "/_ingest/pipeline/bad",
            json!({"processors": [{"nosuch": {}}]}),
            "parse_exception",
        ),
        (
            "/_ingest/pipeline/bad",
            json!({"processors": [{"geoip": {"field": "ip"}}]}),
            "parse_exception",
        ),
        (
            "/_ingest/pipeline/bad",
            json!({"processors": [{"set": {"if": "ctx.", "field": "a", "value": 1}}]}),
            "script_exception",
        ),
    ] {
        let answer = put(&server, path, &body);
        assert_eq!(
            (answer.status, &answer.json()["error"]["type"]),
            (400, &json!(kind)),
            "{}",
            answer.text
        );
    }
}

#[test]
fn stored_scripts_change_documents_and_are_no_templates() {
    let (_folder, server) = start();
    let script = json!({"script": {"lang": "painless", "source": "ctx._source.n += params.by"}});
    assert_eq!(put(&server, "/_scripts/add", &script).status, 200);
    put(&server, "/i/_doc/1", &json!({"n": 1}));
    let update = json!({"script": {"id": "add", "params": {"by": 10}}});
    let answer = send(&server, "POST", "/i/_update/1", &update);
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(
        send(&server, "POST", "/i/_update_by_query", &update).status,
        200
    );
    assert_eq!(source(&server, "/i/_source/1"), json!({"n": 21}));
    let unknown = json!({"script": {"id": "none"}});
    assert_eq!(send(&server, "POST", "/i/_update/1", &unknown).status, 404);
    let search = json!({"id": "add"});
    assert_eq!(
        send(&server, "POST", "/i/_search/template", &search).status,
        404
    );
    let wrong = json!({"script": {"lang": "painless", "source": "ctx._source.n = "}});
    assert_eq!(put(&server, "/_scripts/wrong", &wrong).status, 400);
}

#[test]
fn settings_are_shown_as_they_were_put_and_blocks_are_heeded() {
    let (_folder, server) = start();
    let parts = json!({"template": {"settings": {"index": {"refresh_interval": "7s"}}}});
    put(&server, "/_component_template/parts", &parts);
    put(
        &server,
        "/_index_template/t",
        &json!({"index_patterns": ["t-*"], "composed_of": ["parts"]}),
    );
    put(
        &server,
        "/t-1",
        &json!({"settings": {"number_of_replicas": 2}}),
    );
    let shown = source(&server, "/t-1/_settings");
    assert_eq!(shown["t-1"]["settings"]["index"]["refresh_interval"], "7s");
    assert_eq!(shown["t-1"]["settings"]["index"]["number_of_replicas"], "2");
    assert_eq!(
        source(&server, "/t-1")["t-1"]["settings"]["index"]["refresh_interval"],
        "7s"
    );
    assert_eq!(
        put(
            &server,
            "/t-1/_settings",
            &json!({"refresh_interval": null})
        )
        .status,
        200
    );
    let shown = source(&server, "/t-1/_settings/index.refresh_interval");
    assert_eq!(shown["t-1"]["settings"], json!({}));

    put(&server, "/t-1/_doc/1", &json!({"a": 1}));
    assert_eq!(
        put(
            &server,
            "/t-1/_settings",
            &json!({"index.blocks.write": true})
        )
        .status,
        200
    );
    let refused = put(&server, "/t-1/_doc/2", &json!({"a": 1}));
    assert_eq!(refused.status, 403);
    assert_eq!(
        refused.json()["error"]["reason"],
        "index [t-1] blocked by: [FORBIDDEN/8/index write (api)];"
    );
    let all = json!({"query": {"match_all": {}}});
    for path in ["/t-1/_delete_by_query", "/t-1/_update_by_query"] {
        assert_eq!(send(&server, "POST", path, &all).status, 403, "{path}");
    }
    assert_eq!(
        put(
            &server,
            "/t-1/_settings",
            &json!({"blocks": {"write": false}})
        )
        .status,
        200
    );
    assert_eq!(put(&server, "/t-1/_doc/2", &json!({"a": 1})).status, 201);
    assert_eq!(
        put(&server, "/t-1/_block/read_only", &Value::Null).status,
        200
    );
    assert_eq!(
        put(
            &server,
            "/t-1/_mapping",
            &json!({"properties": {"b": {"type": "long"}}})
        )
        .status,
        403
    );
    assert_eq!(delete(&server, "/t-1").status, 403);
    assert_eq!(
        put(
            &server,
            "/t-1/_settings",
            &json!({"index.blocks.read_only": null})
        )
        .status,
        200
    );
    assert_eq!(delete(&server, "/t-1").status, 200);
    assert_eq!(
        put(
            &server,
            "/none",
            &json!({"settings": {"number_of_shards": 0}})
        )
        .status,
        400
    );
}
