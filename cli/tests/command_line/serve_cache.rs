//! Caches of servers: memory unless a folder is given, and nothing with `--no-cache`.

use std::path::Path;

use canter_tests::WebServer;
use serde_json::{Value, json};

use crate::mcp::Client;
use crate::serve::Server;
use crate::stores::bucket_of;
use crate::support::{indexed, run};

/// Serves the index in `folder` from a web server; returns it, and the argument that names it.
fn store_of(folder: &Path) -> (WebServer, String) {
    let store = bucket_of(folder, &[]);
    let index = format!("web={}/bucket/index", store.origin());
    (store, index)
}

/// Counts the requests of `ask`: those for the manifest, and others.
fn count(store: &WebServer, ask: impl FnOnce()) -> (usize, usize) {
    let num_before = store.requests().len();
    ask();
    let requests = store.requests_after(num_before);
    let is_manifest = |path: &str| path.ends_with("manifest.canter");
    let num_manifests = requests.iter().filter(|r| is_manifest(&r.path)).count();
    (num_manifests, requests.len() - num_manifests)
}

const SEARCH: &str =
    "/api/v1/web/search?query=severity_text:INFO%20AND%20body:block&max_hits=5&sort_by=-tenant_id";

#[test]
fn a_server_asks_the_store_once_for_the_same_request() {
    let folder = indexed();
    let (store, index) = store_of(folder.path());
    let server = Server::of(folder.path(), &["--index", &index]);
    let search = || {
        let answer = server.get(SEARCH);
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.json()["hits"].clone()
    };
    let mut first = Value::Null;
    let (_, num_ranges) = count(&store, || first = search());
    assert!(num_ranges > 0);
    assert_eq!(first.as_array().unwrap().len(), 5);
    // The manifest is revalidated, and has not changed.
    let num_bytes = store.num_body_bytes();
    assert_eq!(count(&store, || assert_eq!(search(), first)), (1, 0));
    assert_eq!(store.num_body_bytes(), num_bytes);
    let metrics = server.get("/metrics").text;
    let is_there = |start: &str| metrics.lines().any(|line| line.starts_with(start));
    assert!(
        is_there("canter_cache_held_bytes{layer=\"memory\""),
        "{metrics}"
    );
    assert!(
        !is_there("canter_cache_held_bytes{layer=\"disk\""),
        "{metrics}"
    );
}

#[test]
fn a_server_without_a_cache_asks_each_time_and_keeps_points_in_time_alone() {
    let folder = indexed();
    let (store, index) = store_of(folder.path());
    let server = Server::of(folder.path(), &["--index", &index, "--no-cache"]);
    let search = || assert_eq!(server.get(SEARCH).status, 200);
    let first = count(&store, search);
    assert!(first.1 > 0);
    assert_eq!(count(&store, search), first);
    let opened = server.post_json("/web/_pit?keep_alive=1m", &json!({}));
    assert_eq!(opened.status, 200, "{}", opened.text);
    let pinned = json!({"pit": {"id": opened.json()["id"]}, "size": 5});
    let found = server.post_json("/_search", &pinned);
    assert_eq!(found.status, 200, "{}", found.text);
    assert_eq!(found.json()["hits"]["hits"].as_array().unwrap().len(), 5);
    // Nothing of searches is kept beside it.
    assert_eq!(count(&store, search), first);
}

#[test]
fn a_server_with_nothing_but_memory_keeps_points_in_time_and_scrolls() {
    let folder = indexed();
    let (store, index) = store_of(folder.path());
    let server = Server::of(folder.path(), &["--index", &index]);
    let opened = server.post_json("/web/_pit?keep_alive=1m", &json!({}));
    assert_eq!(opened.status, 200, "{}", opened.text);
    let body = json!({"pit": {"id": opened.json()["id"]}, "size": 3, "track_total_hits": true});
    let search = || {
        let page = server.post_json("/_search", &body);
        assert_eq!(page.status, 200, "{}", page.text);
        assert_eq!(page.json()["hits"]["total"]["value"], 2_000);
    };
    search();
    // The point in time still works, whatever the current manifest.
    assert_eq!(count(&store, search).1, 0);
    let begun = server.post_json("/web/_search?scroll=1m", &json!({"size": 3}));
    let next = json!({"scroll": "1m", "scroll_id": begun.json()["_scroll_id"]});
    let page = server.post_json("/_search/scroll", &next);
    assert_eq!(page.status, 200, "{}", page.text);
    assert_eq!(page.json()["hits"]["hits"].as_array().unwrap().len(), 3);
}

#[test]
fn a_folder_without_memory_over_it_serves_alone() {
    let folder = indexed();
    let (store, index) = store_of(folder.path());
    let args = [
        "--index",
        &index,
        "--cache",
        "cache",
        "--memory-cache-bytes",
        "0",
    ];
    let server = Server::of(folder.path(), &args);
    assert_eq!(server.get(SEARCH).status, 200);
    let metrics = server.get("/metrics").text;
    let is_there = |start: &str| metrics.lines().any(|line| line.starts_with(start));
    assert!(
        is_there("canter_cache_put_bytes_total{layer=\"disk\""),
        "{metrics}"
    );
    assert!(
        !is_there("canter_cache_put_bytes_total{layer=\"memory\""),
        "{metrics}"
    );
    drop(store);
}

#[test]
fn a_server_of_tools_keeps_what_it_fetched_too() {
    let folder = indexed();
    let (store, index) = store_of(folder.path());
    let call = |client: &mut Client| {
        let query = json!({"index": "web", "query": "severity_text:INFO AND body:block"});
        let answer = client.call("search", query);
        assert!(
            answer["hits"]
                .as_array()
                .is_some_and(|hits| !hits.is_empty())
        );
    };
    let mut client = Client::start(folder.path(), &["--index", &index]);
    assert!(count(&store, || call(&mut client)).1 > 0);
    assert_eq!(count(&store, || call(&mut client)), (1, 0));
    let mut client = Client::start(folder.path(), &["--index", &index, "--no-cache"]);
    let first = count(&store, || call(&mut client));
    assert!(first.1 > 0);
    assert_eq!(count(&store, || call(&mut client)), first);
}

#[test]
fn flags_that_contradict_each_other_are_refused() {
    let folder = indexed();
    let check = |more: &[&str], what: &str| {
        for command in ["serve", "mcp"] {
            let args = [&[command, "--index", "index", "--engine", "native"], more].concat();
            let (_, stderr) = run(folder.path(), &args, 2);
            assert!(stderr.contains(what), "{args:?}: {stderr}");
        }
    };
    check(
        &["--no-cache", "--memory-cache-bytes", "1GiB"],
        "cannot be used with",
    );
    check(&["--memory-cache-bytes", "0"], "--no-cache");
    check(
        &["--memory-cache-bytes", "1MB"],
        "--memory-cache-bytes is too small",
    );
    check(&["--memory-cache-bytes", "much"], "4GB");
}
