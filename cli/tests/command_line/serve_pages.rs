//! Web pages of other origins: requests that a browser sends for them change nothing, unless the server allows their
//! origins; and every route that changes anything checks rights, and limits its body.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use reqwest::Method;
use serde_json::{Value, json};

use crate::serve::{Answer, Server};
use crate::serve_managing::{count, put, server};
use crate::serve_tokens::key;
use crate::support::run;

/// The table of routes in `server/src/routes`: a unit test there compares them.
const TABLE: &str = include_str!("../../../tests/golden/write_routes.txt");

struct Row {
    method: Method,
    path: &'static str,
    rights: Vec<&'static str>,
    is_refused_to_pages: bool,
    body: &'static str,
}

fn rows() -> impl Iterator<Item = Row> {
    TABLE.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let [method, path, rights, pages, body] = words[..] else {
            panic!("{line}");
        };
        Row {
            method: method.parse().unwrap(),
            path,
            rights: rights.split('+').collect(),
            is_refused_to_pages: pages == "refused",
            body,
        }
    })
}

const EVIL: &str = "https://evil.example";
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const PLAIN: (&str, &str) = ("content-type", "text/plain");
const HTML: (&str, &str) = ("accept", "text/html,application/xhtml+xml,*/*;q=0.8");

/// Headers that browsers send for a page of another origin.
const PAGES: [&[(&str, &str)]; 8] = [
    &[("sec-fetch-site", "cross-site"), ("origin", EVIL), PLAIN],
    &[("sec-fetch-site", "cross-site"), ("origin", "null"), FORM],
    // An image, and a form of a page on another port.
    &[("sec-fetch-site", "cross-site")],
    &[
        ("sec-fetch-site", "same-site"),
        ("origin", "http://localhost:3000"),
        FORM,
    ],
    // To an address that is not the browser's own, without TLS.
    &[("origin", EVIL), PLAIN],
    &[("origin", "null"), FORM],
    // Old browsers.
    &[("referer", "https://evil.example/page"), FORM],
    &[FORM, HTML],
];

/// Starts a server with an index of one document, and a template.
fn filled(folder: &Path, more: &[&str]) -> Server {
    let server = server(folder, more);
    assert_eq!(put(&server, "/logs", &Value::Null).status, 200);
    let added = server.post_json("/logs/_doc", &json!({"message": "some"}));
    assert_eq!(added.status, 201, "{}", added.text);
    let template = json!({"index_patterns": ["example-*"], "data_stream": {}, "template": {}});
    let made = put(&server, "/_index_template/example", &template);
    assert_eq!(made.status, 200, "{}", made.text);
    server
}

/// Checks that nothing was added, changed or deleted.
fn check_unchanged(server: &Server) {
    assert_eq!(count(server, "logs"), 1);
    let templates = server.get("/_index_template").json();
    assert_eq!(
        templates["index_templates"][0]["name"], "example",
        "{templates}"
    );
    let patterns = &templates["index_templates"][0]["index_template"]["index_patterns"];
    assert_eq!(patterns, &json!(["example-*"]));
    let indexes = server.get("/api/v1/indexes").json();
    assert_eq!(indexes.as_array().unwrap().len(), 1, "{indexes}");
}

fn send(server: &Server, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    server.send(method.parse().unwrap(), path, headers, body.to_owned())
}

#[test]
fn no_page_deletes_replaces_or_adds_anything() {
    let folder = tempfile::tempdir().unwrap();
    let server = filled(folder.path(), &["--cors-origin", "*"]);
    let config =
        "{\"version\":\"0.9\",\"index_id\":\"logs\",\"doc_mapping\":{\"mode\":\"dynamic\"}}";
    let template = "{\"index_patterns\":[\"*\"]}";
    for (method, path, body) in [
        ("POST", "/logs/_delete_by_query?q=*", ""),
        ("POST", "/api/v1/_elastic/logs/_delete_by_query?q=*", ""),
        (
            "POST",
            "/logs/_bulk",
            "{\"create\":{}}\n{\"message\":\"evil\"}\n",
        ),
        ("POST", "/logs/_doc", "{\"message\":\"evil\"}"),
        ("POST", "/api/v1/logs/ingest", "{\"message\":\"evil\"}\n"),
        ("POST", "/_index_template/example", template),
        ("POST", "/api/v1/indexes?overwrite=true", config),
        ("GET", "/_refresh", ""),
        ("DELETE", "/logs", ""),
        ("DELETE", "/lo%67s", ""),
    ] {
        for page in PAGES {
            let answer = send(&server, method, path, page, body);
            assert_eq!(
                answer.status, 403,
                "{method} {path} {page:?}: {}",
                answer.text
            );
            assert!(
                answer.text.contains("--cors-write-origin"),
                "{}",
                answer.text
            );
        }
    }
    check_unchanged(&server);
    // They may search, if allowed.
    let found = send(&server, "GET", "/logs/_count", PAGES[0], "");
    assert_eq!(found.json()["count"], 1, "{}", found.text);
    assert_eq!(found.header("access-control-allow-origin"), Some("*"));
}

#[test]
fn whoever_is_no_page_of_another_origin_writes_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let server = filled(folder.path(), &[]);
    let own = format!("http://{}", server.address());
    for headers in [
        &[][..],
        // `curl -d`, and requests of log shippers.
        &[FORM, ("accept", "*/*")],
        &[PLAIN],
        &[
            ("content-type", "application/json"),
            ("user-agent", "Mozilla/5.0"),
        ],
        &[("sec-fetch-mode", "cors")],
        // A page of the server's own.
        &[("sec-fetch-site", "same-origin"), ("origin", own.as_str())],
        &[("origin", own.as_str())],
    ] {
        let added = send(
            &server,
            "POST",
            "/logs/_doc",
            headers,
            "{\"message\":\"some\"}",
        );
        assert_eq!(added.status, 201, "{headers:?}: {}", added.text);
    }
    // A typed address.
    let typed = [("sec-fetch-site", "none"), HTML];
    assert_eq!(send(&server, "GET", "/_refresh", &typed, "").status, 200);
    assert_eq!(count(&server, "logs"), 8);
}

#[test]
fn a_page_that_may_write_does_and_one_that_may_search_does_not() {
    const WRITER: &str = "https://writes.example";
    const READER: &str = "https://looks.example";
    let folder = tempfile::tempdir().unwrap();
    let more = ["--cors-write-origin", WRITER, "--cors-origin", READER];
    let server = filled(folder.path(), &more);
    let ask = |origin: &str, method: &str| {
        let headers = [
            ("origin", origin),
            ("sec-fetch-site", "cross-site"),
            ("access-control-request-method", method),
            ("access-control-request-headers", "content-type"),
        ];
        let answer = send(&server, "OPTIONS", "/logs", &headers, "");
        let methods = answer
            .header("access-control-allow-methods")
            .unwrap_or_default();
        (
            answer
                .header("access-control-allow-origin")
                .map(str::to_owned),
            methods.split(',').any(|allowed| allowed == method),
        )
    };
    for method in ["GET", "POST", "PUT", "DELETE"] {
        let is_search = matches!(method, "GET" | "POST");
        assert_eq!(
            ask(WRITER, method),
            (Some(WRITER.to_owned()), true),
            "{method}"
        );
        assert_eq!(
            ask(READER, method),
            (Some(READER.to_owned()), is_search),
            "{method}"
        );
        assert_eq!(ask(EVIL, method).0, None, "{method}");
    }
    let of = |origin: &'static str| [("origin", origin), ("sec-fetch-site", "cross-site")];
    for origin in [READER, EVIL] {
        let refused = send(&server, "DELETE", "/logs", &of(origin), "");
        assert_eq!(refused.status, 403, "{}", refused.text);
        let does = refused
            .text
            .contains(&format!("--cors-write-origin {origin}"));
        assert!(does, "{}", refused.text);
    }
    check_unchanged(&server);
    let found = send(&server, "GET", "/logs/_count", &of(WRITER), "");
    assert_eq!(found.header("access-control-allow-origin"), Some(WRITER));
    let deleted = send(&server, "DELETE", "/logs", &of(WRITER), "");
    assert_eq!(deleted.status, 200, "{}", deleted.text);
    assert_eq!(deleted.header("access-control-allow-origin"), Some(WRITER));
    let wrong = [
        (
            vec!["--writable", "--cors-write-origin", "*"],
            "names each origin",
        ),
        (
            vec!["--writable", "--cors-write-origin", "writes.example"],
            "is no origin",
        ),
        (vec!["--cors-write-origin", WRITER], "--writable"),
    ];
    for (args, part) in wrong {
        let args = [
            &["serve", "--indexes-in", "all", "--listen", "127.0.0.1:0"],
            &args[..],
        ]
        .concat();
        let (_, stderr) = run(folder.path(), &args, 2);
        assert!(stderr.contains(part), "{stderr}");
    }
}

#[test]
fn every_route_of_the_table_is_closed_to_pages() {
    let folder = tempfile::tempdir().unwrap();
    let server = filled(folder.path(), &[]);
    let mut num_refused = 0;
    for row in rows() {
        let Row { method, path, .. } = &row;
        for prefix in ["", "/api/v1/_elastic"] {
            let is_own = path.starts_with("/api/") || path.starts_with("/v1/");
            if is_own && !prefix.is_empty() {
                continue;
            }
            for page in PAGES {
                let path = format!("{prefix}{path}");
                let answer = server.send(method.clone(), &path, page, "{}".to_owned());
                let is_refused = answer.status == 403;
                assert_eq!(
                    is_refused, row.is_refused_to_pages,
                    "{method} {path} {page:?}"
                );
                num_refused += usize::from(is_refused);
            }
        }
    }
    assert!(num_refused > 300, "{num_refused}");
    check_unchanged(&server);
}

#[test]
fn every_route_of_the_table_asks_for_its_rights() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    drop(filled(path, &[]));
    let rights = ["read", "write", "delete"];
    let token = |without: &str| {
        let id = format!("not-{without}");
        let given = rights.iter().filter(|right| **right != without);
        let given = given.flat_map(|right| ["--right", right]);
        let args: Vec<&str> = ["--id", id.as_str()].into_iter().chain(given).collect();
        format!("Bearer {}", key(path, &args))
    };
    let tokens = rights.map(|right| (right, token(right)));
    let all = token("nothing");
    let server = server(path, &["--api-keys", "keys.toml"]);
    for Row {
        method,
        path,
        rights,
        ..
    } in rows()
    {
        let ask = |headers: &[(&str, &str)]| {
            let answer = server.send(method.clone(), path, headers, "{}".to_owned());
            answer.status
        };
        assert_eq!(ask(&[]), 401, "{method} {path}");
        // A browser attaches its stored token to a page's requests.
        if method != Method::GET && method != Method::HEAD {
            let forged = [
                ("authorization", all.as_str()),
                ("sec-fetch-site", "cross-site"),
            ];
            assert_eq!(ask(&forged), 403, "{method} {path}");
        }
        for (right, without_it) in &tokens {
            if rights.contains(right) {
                let status = ask(&[("authorization", without_it)]);
                assert_eq!(status, 403, "{method} {path} without {right}");
            }
        }
    }
    let counted = send(
        &server,
        "GET",
        "/logs/_count",
        &[("authorization", &all)],
        "",
    );
    assert_eq!(counted.json()["count"], 1, "{}", counted.text);
}

#[test]
fn every_route_of_the_table_bounds_its_body() {
    let folder = tempfile::tempdir().unwrap();
    let server = filled(folder.path(), &["--max-write-bytes", "5MiB"]);
    let spaces = |num_bytes: usize| {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&vec![b' '; num_bytes]).unwrap();
        gzip.finish().unwrap()
    };
    let bounds = [
        ("documents", 5 << 20),
        ("mapping", 4 << 20),
        ("unused", 64 << 10),
    ];
    let bodies = bounds.map(|(name, num_bytes)| (name, spaces(num_bytes + 1)));
    let headers = [
        ("content-type", "application/json"),
        ("content-encoding", "gzip"),
    ];
    for Row {
        method, path, body, ..
    } in rows()
    {
        let (_, long) = bodies.iter().find(|(name, _)| *name == body).unwrap();
        let answer = server.send_bytes(method.clone(), path, &headers, long.clone());
        assert_eq!(answer.status, 413, "{method} {path}: {}", answer.text);
    }
    check_unchanged(&server);
    let fits = server.send_bytes(Method::PUT, "/other", &headers, spaces(4 << 20));
    assert_eq!(fits.status, 200, "{}", fits.text);
}

#[test]
fn every_route_of_the_table_is_refused_by_a_server_that_only_searches() {
    let folder = tempfile::tempdir().unwrap();
    drop(filled(folder.path(), &[]));
    let server = Server::of(folder.path(), &["--indexes-in", "all"]);
    for Row { method, path, .. } in rows() {
        let answer = server.send(method.clone(), path, &[], "{}".to_owned());
        assert_eq!(answer.status, 403, "{method} {path}");
    }
    assert_eq!(count(&server, "logs"), 1);
}
