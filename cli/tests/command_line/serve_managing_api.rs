//! Permission to create and delete indexes, Quickwit's requests for that, and every example of `/openapi.json` that
//! does so.

use reqwest::Method;
use serde_json::{Value, json};

use crate::serve_managing::{count, delete, put, send, server, status};
use crate::serve_openapi::{operations, query};
use crate::serve_tokens::key;

#[test]
fn tokens_say_who_may_make_and_delete() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let token = |id: &str, more: &[&str]| {
        let args = [&["--id", id][..], more].concat();
        format!("Bearer {}", key(path, &args))
    };
    let all_rights = ["--right", "read", "--right", "write", "--right", "delete"];
    let admin = token("admin", &all_rights);
    let writer = token("writer", &["--right", "write"]);
    let app = token("app", &[&all_rights[..], &["--index", "app-*"]].concat());
    let bounded = token(
        "bounded",
        &[&all_rights[..], &["--filter", "level:WARN"]].concat(),
    );
    let server = server(path, &["--api-keys", "keys.toml"]);
    let ask = |method: &str, path: &str, token: &str| {
        let headers = [
            ("authorization", token),
            ("content-type", "application/json"),
        ];
        let body = match path.starts_with("/_index_template") && method == "PUT" {
            true => json!({"index_patterns": ["app-*"]}).to_string(),
            false => String::new(),
        };
        server
            .send(method.parse().unwrap(), path, &headers, body)
            .status
    };
    for (method, path, token, wanted) in [
        ("PUT", "/logs", &bounded, 403),
        ("PUT", "/logs", &app, 403),
        ("PUT", "/logs", &writer, 200),
        ("PUT", "/app-1", &app, 200),
        ("DELETE", "/logs", &writer, 403),
        ("DELETE", "/logs", &bounded, 403),
        // An existing index is deleted.
        ("POST", "/api/v1/indexes?overwrite=true", &writer, 403),
        // It does not exist for its holder.
        ("DELETE", "/logs", &app, 404),
        ("DELETE", "/api/v1/indexes/logs", &app, 404),
        ("PUT", "/_index_template/t", &app, 403),
        ("PUT", "/_index_template/t", &bounded, 403),
        ("PUT", "/_index_template/t", &writer, 200),
        ("GET", "/_index_template/t", &app, 403),
        ("HEAD", "/_index_template/t", &writer, 200),
        ("DELETE", "/_index_template/t", &writer, 200),
        ("DELETE", "/logs", &admin, 200),
        ("DELETE", "/app-1", &app, 200),
    ] {
        assert_eq!(ask(method, path, token), wanted, "{method} {path} {token}");
    }
    assert_eq!(put(&server, "/logs", &Value::Null).status, 401);
}

#[test]
fn quickwits_api_makes_clears_and_deletes() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &[]);
    let yaml = "version: 0.9\nindex_id: shop\ndoc_mapping:\n  field_mappings:\n    - {name: n, type: u64, fast: true}\n";
    let headers = [("content-type", "application/yaml")];
    let path = "/api/v1/indexes";
    let made = server.send(Method::POST, path, &headers, yaml.to_owned());
    assert_eq!(made.status, 200, "{}", made.text);
    assert_eq!(made.json()["index_config"]["index_id"], "shop");
    assert!(made.json()["create_timestamp"].is_u64(), "{}", made.text);
    let config = json!({"version": "0.9", "index_id": "shop", "doc_mapping": {"mode": "dynamic"}});
    let again = server.post_json(path, &config);
    assert!(
        again.status == 400 && again.json()["message"].is_string(),
        "{}",
        again.text
    );
    let ingest = || {
        server.send(
            Method::POST,
            "/api/v1/shop/ingest?commit=force",
            &[],
            "{\"n\": 1}\n".to_owned(),
        )
    };
    assert_eq!(ingest().status, 200);
    assert_eq!(count(&server, "shop"), 1);
    assert_eq!(status(&server, "PUT", "/api/v1/indexes/shop/clear"), 200);
    assert_eq!(count(&server, "shop"), 0);
    assert_eq!(ingest().status, 200);
    let over = server.post_json("/api/v1/indexes?overwrite=true", &config);
    assert_eq!(over.status, 200, "{}", over.text);
    assert_eq!(count(&server, "shop"), 0);
    assert_eq!(ingest().status, 200);
    for (kind, body, status) in [
        ("application/toml", "", 415),
        ("application/json", "{}", 400),
        ("application/yaml", "version: 0.9\nindex_id: ${HOME}\n", 400),
    ] {
        let refused = server.send(
            Method::POST,
            path,
            &[("content-type", kind)],
            body.to_owned(),
        );
        assert_eq!(refused.status, status, "{kind}: {}", refused.text);
        assert!(refused.json()["message"].is_string(), "{}", refused.text);
    }
    let deleted = delete(&server, "/api/v1/indexes/shop");
    assert!(
        deleted.json()[0]["file_size_bytes"].is_u64(),
        "{}",
        deleted.text
    );
    assert_eq!(delete(&server, "/api/v1/indexes/shop").status, 404);
    assert_eq!(server.get("/api/v1/indexes").json(), json!([]));
}

#[test]
fn every_example_is_answered_and_no_other_parameter_is() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path(), &[]);
    let operations = operations(&server.get("/openapi.json").json());
    let of_root = |path: &str| !path.starts_with("/api/v1/_elastic");
    let operations: Vec<_> = operations
        .into_iter()
        .filter(|one| one.is_managing && of_root(&one.path))
        .collect();
    assert!(operations.len() > 15, "{}", operations.len());
    let example_of = |path: &str| {
        let mut found = operations
            .iter()
            .filter(|one| one.path == path && one.method == Method::PUT);
        let body = found.next().and_then(|one| one.body.clone());
        body.map_or(Value::Null, |(_, body)| {
            serde_json::from_str(&body).unwrap()
        })
    };
    let things = [
        (
            "/_component_template/{name}",
            "/_component_template/example",
        ),
        ("/_index_template/{name}", "/_index_template/example"),
        ("/_template/{name}", "/_template/example"),
        ("/_data_stream/{name}", "/_data_stream/example-1"),
        ("/{index}", "/example"),
    ];
    for operation in &operations {
        let thing = things
            .iter()
            .find(|(template, _)| *template == operation.path);
        let path = match thing {
            Some((_, path)) => (*path).to_owned(),
            None => operation
                .path
                .replace("{index}", "example")
                .replace("/_block/{name}", "/_block/write")
                .replace("{name}", "current"),
        };
        let is_put = operation.method == Method::PUT;
        let is_of_aliases = path.contains("/_alias");
        let changes_settings = path.ends_with("/_settings");
        let adds = path.contains("/_mapping") || changes_settings || is_of_aliases;
        let makes =
            (operation.body.is_some() && !adds) || (path.starts_with("/_data_stream/") && is_put);
        let body = operation.body.as_ref();
        let body = body.map_or(Value::Null, |(_, body)| serde_json::from_str(body).unwrap());
        let params: Vec<(&str, &str)> = operation
            .params
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        // Everything exists except what is to be created.
        for (template, path) in things {
            put(&server, path, &example_of(template));
        }
        let pipeline = json!({"processors": []});
        put(&server, "/_ingest/pipeline/current", &pipeline);
        if is_of_aliases {
            put(&server, "/example/_alias/current", &Value::Null);
        }
        if makes {
            delete(&server, &path);
            delete(&server, "/example");
        }
        let method = operation.method.as_str();
        let nonsense = send(&server, method, &format!("{path}?nonsense=1"), &body);
        let is_refused = nonsense.status == 400 && nonsense.text.contains("nonsense");
        assert!(
            is_refused,
            "{method} {path}: {} {}",
            nonsense.status, nonsense.text
        );
        let answer = send(
            &server,
            method,
            &format!("{path}?{}", query(&params)),
            &body,
        );
        assert_eq!(answer.status, 200, "{method} {path}: {}", answer.text);
    }
}
