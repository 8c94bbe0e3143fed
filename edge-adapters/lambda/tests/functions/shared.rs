//! Index in a folder, and a function that searches it.

use std::path::Path;

use anyhow::{Context, Result};
use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{LambdaFunction, TestIndex, hdfs_lines};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const SEARCH: &str = env!("CARGO_BIN_EXE_canter-lambda-search");

/// Number of documents of the index, in four splits.
pub(crate) const NUM_DOCS: u64 = 2000;

/// Returns an index in the folder `hdfs-logs` of a temporary folder.
pub(crate) fn index() -> Result<(TestIndex, TempDir)> {
    let lines = hdfs_lines(NUM_DOCS, 11)?;
    let index = TestIndex::build(HDFS_LOGS_YAML, &lines, NUM_DOCS / 4)?;
    let folder = tempfile::tempdir()?;
    write_index(&index, &folder.path().join("hdfs-logs"))?;
    Ok((index, folder))
}

pub(crate) fn write_index(index: &TestIndex, folder: &Path) -> Result<()> {
    for (name, bytes) in &index.objects {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().context("an object is in a folder")?)?;
        std::fs::write(path, bytes)?;
    }
    Ok(())
}

/// Returns the search function over the index in `folder`, with a cache beside it.
pub(crate) fn search_function(folder: &Path, variables: &[(&str, &str)]) -> Result<LambdaFunction> {
    let indexes = format!("hdfs-logs={}", folder.join("hdfs-logs").display());
    let cache = folder.join("cache").display().to_string();
    let usual = [
        ("CANTER_INDEXES", indexes.as_str()),
        ("CANTER_CACHE", cache.as_str()),
    ];
    LambdaFunction::start("search", Path::new(SEARCH), &[&usual, variables].concat())
}

/// Returns the event of a function URL.
pub(crate) fn url_event(method: &str, path: &str, query: &str, body: Option<&Value>) -> Value {
    json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"content-type": "application/json", "host": "id.lambda-url.us-east-1.on.aws"},
        "requestContext": {
            "accountId": "anonymous",
            "domainName": "id.lambda-url.us-east-1.on.aws",
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"},
            "requestId": "id",
            "routeKey": "$default",
            "stage": "$default",
        },
        "body": body.map(Value::to_string),
        "isBase64Encoded": false,
    })
}

/// Returns the body of an answer, after a check of its status.
pub(crate) fn body_of(answer: &Value, status: u64) -> Value {
    assert_eq!(answer["statusCode"], status, "{answer}");
    serde_json::from_str(answer["body"].as_str().unwrap()).unwrap()
}

/// Removes the fields that differ between runs.
pub(crate) fn without_time(mut answer: Value) -> Value {
    answer["elapsed_time_micros"] = 0.into();
    answer
}
