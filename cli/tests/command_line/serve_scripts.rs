//! Scripts that change documents, over HTTP: as tutorials and clients send them.

use reqwest::Method;
use serde_json::{Value, json};

use crate::serve::{Answer, Server};
use crate::serve_managing::{count, put, send, server};
use crate::serve_tokens::key;

fn update(server: &Server, id: &str, body: &Value) -> Answer {
    send(server, "POST", &format!("/i/_update/{id}"), body)
}

fn source(server: &Server, index: &str, id: &str) -> Value {
    server.get(&format!("/{index}/_doc/{id}")).json()["_source"].clone()
}

#[test]
fn a_script_changes_a_document_adds_one_and_deletes_one() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    put(
        &server,
        "/i/_doc/1",
        &json!({"counter": 1, "tags": ["red"]}),
    );
    let counted = json!({"script": {"source": "ctx._source.counter += params.count", "lang": "painless", "params": {"count": 4}}});
    let answer = update(&server, "1", &counted).json();
    assert_eq!(
        (&answer["result"], &answer["_version"]),
        (&json!("updated"), &json!(2))
    );
    assert_eq!(
        source(&server, "i", "1"),
        json!({"counter": 5, "tags": ["red"]})
    );
    let tagged = json!({"script": "ctx._source.tags.add('blue')", "_source": "tags"});
    let answer = update(&server, "1", &tagged).json();
    assert_eq!(answer["get"]["_source"], json!({"tags": ["red", "blue"]}));

    let mut upsert = counted.clone();
    upsert["upsert"] = json!({"counter": 1});
    for (result, counter) in [("created", 1), ("updated", 5)] {
        assert_eq!(update(&server, "2", &upsert).json()["result"], result);
        assert_eq!(source(&server, "i", "2")["counter"], counter);
    }
    let scripted = json!({"scripted_upsert": true, "upsert": {}, "script": {
        "source": "if (ctx.op == 'create') { ctx._source.counter = params.count } else { ctx._source.counter += params.count }",
        "params": {"count": 4},
    }});
    for counter in [4, 8] {
        update(&server, "3", &scripted);
        assert_eq!(source(&server, "i", "3"), json!({"counter": counter}));
    }
    let ending = json!({"script": {"source": "ctx.op = ctx._source.counter > params.n ? 'delete' : 'none'", "params": {"n": 4}}});
    assert_eq!(update(&server, "3", &ending).json()["result"], "deleted");
    assert_eq!(server.get("/i/_doc/3").status, 404);
    let mut kept = ending.clone();
    kept["script"]["params"]["n"] = 100.into();
    let answer = update(&server, "2", &kept).json();
    assert_eq!(
        (&answer["result"], &answer["_version"]),
        (&json!("noop"), &json!(2))
    );
    assert_eq!(update(&server, "9", &counted).status, 404);
}

#[test]
fn a_script_that_fails_changes_nothing_and_says_where() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    put(&server, "/i/_doc/1", &json!({"n": 1}));
    for (script, phase, kind) in [
        (
            "ctx._source.n = Foo.bar()",
            "compile error",
            "illegal_argument_exception",
        ),
        (
            "ctx._source.nothing.add(1)",
            "runtime error",
            "null_pointer_exception",
        ),
        (
            "while (true) { ctx._source.n++ }",
            "runtime error",
            "painless_error",
        ),
    ] {
        let answer = update(&server, "1", &json!({"script": script}));
        let error = &answer.json()["error"];
        assert_eq!(answer.status, 400, "{script}");
        assert_eq!(error["reason"], "failed to execute script");
        assert_eq!(error["caused_by"]["reason"], phase, "{error}");
        assert_eq!(error["caused_by"]["caused_by"]["type"], kind, "{error}");
        assert_eq!(error["caused_by"]["script"], script);
    }
    let answer = send(
        &server,
        "POST",
        "/i/_update_by_query",
        &json!({"script": "ctx._source.x ="}),
    );
    let error = &answer.json()["error"];
    assert_eq!(
        (answer.status, &error["type"]),
        (400, &json!("script_exception"))
    );
    assert_eq!(error["position"]["offset"], 15, "{error}");
    assert_eq!(source(&server, "i", "1"), json!({"n": 1}));
}

#[test]
fn scripts_of_many_documents_are_run_on_each() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    let mut body = String::new();
    for n in 0..30 {
        body += &format!("{{\"index\":{{\"_id\":\"{n}\"}}}}\n{{\"n\":{n},\"old\":\"x{n}\"}}\n");
    }
    body += "{\"update\":{\"_id\":\"100\"}}\n{\"script\":{\"source\":\"ctx._source.n = 0\"},\"upsert\":{\"n\":100}}\n";
    let bulk = |body: String| {
        let headers = [("content-type", "application/x-ndjson")];
        server.send(Method::POST, "/i/_bulk?refresh=true", &headers, body)
    };
    let filled = bulk(body);
    assert_eq!(filled.json()["errors"], false, "{}", filled.text);
    let body = "{\"update\":{\"_id\":\"1\"}}\n{\"script\":\"ctx._source.n *= 10\"}\n{\"update\":{\"_id\":\"2\"}}\n{\"script\":\"ctx._source.n /= 0\"}\n";
    let answer = bulk(body.to_owned()).json();
    let items = &answer["items"];
    assert_eq!(items[0]["update"]["status"], 200);
    assert_eq!(
        items[1]["update"]["error"]["caused_by"]["caused_by"]["type"], "arithmetic_exception",
        "{items}"
    );
    assert_eq!(source(&server, "i", "1")["n"], 10);

    let script = "if (ctx._source.n % 3 == 0) { ctx.op = 'delete' } else if (ctx._source.n % 3 == 1) { ctx.op = 'noop' } else { \
                  ctx._source.new = ctx._source.remove('old') }";
    let by_query =
        json!({"query": {"range": {"n": {"gte": 11, "lt": 30}}}, "script": {"source": script}});
    let answer = send(&server, "POST", "/i/_update_by_query?refresh", &by_query).json();
    let numbers = ["total", "updated", "deleted", "noops"].map(|name| answer[name].clone());
    assert_eq!(
        numbers,
        [json!(19), json!(7), json!(6), json!(6)],
        "{answer}"
    );
    assert_eq!(source(&server, "i", "14"), json!({"n": 14, "new": "x14"}));
    assert_eq!(server.get("/i/_doc/12").status, 404);
    assert_eq!(server.get("/i/_doc/13").json()["_version"], 1);

    let copied = json!({"source": {"index": "i", "query": {"range": {"n": {"lt": 4}}}}, "dest": {"index": "j"}, "script": {
        "source": "ctx._id = 'c' + ctx._id; ctx._source.n = ctx._source.n + 0.5; if (ctx._source.n > 3) { ctx._index = 'k-' + ctx._index }",
    }});
    let answer = send(&server, "POST", "/_reindex?refresh", &copied).json();
    assert_eq!(answer["created"], 3, "{answer}");
    assert_eq!(source(&server, "j", "c0"), json!({"n": 0.5, "old": "x0"}));
    assert_eq!((count(&server, "j"), count(&server, "k-i")), (2, 1));
}

#[test]
fn a_script_deletes_nothing_without_the_right() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--id", "w", "--right", "write", "--right", "read"];
    let token = format!("Bearer {}", key(folder.path(), &args));
    let more = ["--auto-create-index", "*", "--api-keys", "keys.toml"];
    let server = server(folder.path(), &more);
    let ask = |method: &str, path: &str, body: &Value| {
        let headers = [
            ("authorization", &*token),
            ("content-type", "application/json"),
        ];
        server.send(method.parse().unwrap(), path, &headers, body.to_string())
    };
    assert_eq!(
        ask("PUT", "/i/_doc/1?refresh=true", &json!({"n": 1})).status,
        201
    );
    let deleting = json!({"script": "ctx.op = 'delete'"});
    for path in ["/i/_update/1", "/i/_update_by_query"] {
        assert_eq!(ask("POST", path, &deleting).status, 403, "{path}");
    }
    let kept = ask("GET", "/i/_doc/1", &Value::Null);
    assert_eq!(kept.json()["_source"], json!({"n": 1}));
}

#[test]
fn actions_on_one_document_are_performed_in_their_order_also_behind_an_update() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &["--auto-create-index", "*"]);
    let body = [
        r#"{"index":{"_id":"1"}}"#,
        r#"{"a":1}"#,
        r#"{"update":{"_id":"1"}}"#,
        r#"{"doc":{"b":2}}"#,
        r#"{"create":{"_id":"1"}}"#,
        r#"{"a":9}"#,
        r#"{"update":{"_id":"1"}}"#,
        r#"{"script":"ctx._source.a += ctx._source.b"}"#,
        r#"{"update":{"_id":"2"}}"#,
        r#"{"doc":{"n":1},"doc_as_upsert":true}"#,
        r#"{"delete":{"_id":"2"}}"#,
        "",
    ]
    .join("\n");
    let headers = [("content-type", "application/x-ndjson")];
    let answer = server
        .send(Method::POST, "/i/_bulk?refresh=true", &headers, body)
        .json();
    let items = answer["items"].as_array().unwrap();
    let statuses: Vec<u64> = items
        .iter()
        .map(|item| {
            let outcome = item.as_object().unwrap().values().next().unwrap();
            outcome["status"].as_u64().unwrap()
        })
        .collect();
    assert_eq!(statuses, [201, 200, 409, 200, 201, 200], "{answer}");
    assert_eq!(source(&server, "i", "1"), json!({"a": 3, "b": 2}));
    assert_eq!(server.get("/i/_doc/1").json()["_version"], 3);
    assert_eq!(server.get("/i/_doc/2").status, 404);
}
