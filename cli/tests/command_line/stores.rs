//! Commands on a bucket whose store omits optional features, or violates requirements.

use std::path::Path;

use canter_tests::{Quirk, WebServer};
use serde_json::Value;

use crate::support::{canter, indexed, splits_of, texts};

/// Serves the index in `folder/index` as a bucket.
pub(crate) fn bucket_of(folder: &Path, quirks: &[Quirk]) -> WebServer {
    let mut paths = splits_of(folder);
    paths.push(folder.join("index/manifest.canter"));
    let object = |path: &Path| {
        let name = path.strip_prefix(folder).unwrap().to_str().unwrap();
        (
            format!("bucket/{name}"),
            std::fs::read(path).unwrap().into(),
        )
    };
    let objects = paths.iter().map(|path| object(path)).collect();
    WebServer::start(objects, quirks).unwrap()
}

fn run(folder: &Path, server: &WebServer, args: &[&str], code: i32) -> (String, String) {
    let output = canter(folder, args)
        .env("AWS_ENDPOINT_URL", server.origin())
        .env("AWS_SKIP_SIGNATURE", "true")
        .env("AWS_REGION", "us-east-1")
        .output()
        .unwrap();
    texts(args, &output, code)
}

fn search(index: &str) -> [&str; 8] {
    let query = "severity_text:WARN";
    [
        "search",
        "--index",
        index,
        "--engine",
        "native",
        "--query",
        query,
        "--no-cache",
    ]
}

#[test]
fn builder_and_runtime_need_no_content_length() {
    let folder = indexed();
    let folder = folder.path();
    let server = bucket_of(folder, &[Quirk::NoContentLength]);
    let json = |args: &[&str]| -> Value {
        let (stdout, _) = run(folder, &server, args, 0);
        serde_json::from_str(&stdout).unwrap()
    };
    let there = json(&["index", "describe", "--index", "s3://bucket/index"]);
    let here = json(&["index", "describe", "--index", "index"]);
    assert_eq!(there["splits"], here["splits"]);
    assert_eq!(there["num_docs"], here["num_docs"]);
    let (there, here) = (json(&search("s3://bucket/index")), json(&search("index")));
    assert_eq!(there["hits"], here["hits"]);
    assert_eq!(there["num_hits"], here["num_hits"]);
    let requests = server.requests();
    assert!(requests.len() >= 3, "{requests:?}");
    assert!(requests.iter().all(|request| request.method == "GET"));
}

#[test]
fn a_store_that_misbehaves_is_named_on_stderr() {
    let folder = indexed();
    let folder = folder.path();
    let server = bucket_of(folder, &[Quirk::Compressed]);
    let (stdout, stderr) = run(folder, &server, &search("s3://bucket/index"), 1);
    assert!(stderr.contains("content_encoded: "), "{stderr}");
    assert!(stderr.contains("turn off compression"), "{stderr}");
    assert_eq!(stdout, "");
}
