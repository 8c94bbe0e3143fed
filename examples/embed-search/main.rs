//! Search inside your own program: lines are indexed, and the WebAssembly engine searches them.
//!
//! No server and no `canter` binary is needed. The index is a folder here; a URI such as `s3://bucket/prefix` works the
//! same. After `cargo xtask guest`, run it with `cargo run --bin embed-search`.

use std::io::Cursor;
use std::sync::Arc;

use anyhow::{Context, Result};
use canter_doc_mapper::IndexConfig;
use canter_index_builder::{IngestOptions, Source, create_index, ingest};
use canter_runtime::engine::{WasmEngine, WasmOptions};
use canter_runtime::fetch::OpenOptions;
use canter_runtime::{Limits, Searcher};
use serde_json::json;

const CONFIG: &str = "
version: 0.8
index_id: deployments
doc_mapping:
  field_mappings:
    - {name: time, type: datetime, input_formats: [rfc3339], fast: true}
    - {name: service, type: text, tokenizer: raw, fast: true}
    - {name: message, type: text, record: position}
  timestamp_field: time
search_settings:
  default_search_fields: [message]
";

const LINES: &str = r#"{"time":"2024-05-01T08:00:00Z","service":"api","message":"deployed version 41"}
{"time":"2024-05-01T08:07:00Z","service":"api","message":"health check failed, rolling back"}
{"time":"2024-05-01T08:09:00Z","service":"api","message":"deployed version 40"}
{"time":"2024-05-02T11:30:00Z","service":"mail","message":"deployed version 7"}
{"time":"2024-05-03T09:12:00Z","service":"mail","message":"health check passed"}
"#;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let uri = folder.path().to_str().context("the path is not UTF-8")?;

    // Build: a config, lines of JSON, one call.
    let config = IndexConfig::from_yaml(CONFIG, |_| None)?;
    let store = create_index(uri, &config)?;
    let lines = Source::reader("lines", Cursor::new(LINES));
    let report = ingest(&store, &IngestOptions::default(), vec![lines], &())?;
    println!(
        "{} documents in {} split",
        report.num_ingested_docs,
        report.splits.len()
    );

    // Search: an engine and a URI make a searcher, which serves any number of requests.
    let engine = WasmEngine::embedded(WasmOptions::default())?;
    let searcher = Searcher::builder()
        .engine(Arc::new(engine))
        .uri(uri, &OpenOptions::default())?
        .build()?;
    let request = json!({
        "query": "service:api AND \"deployed version\"",
        "aggs": {"services": {"terms": {"field": "service"}}},
    });
    let response = searcher.search(&request, &Limits::default()).await?;

    // The answer is JSON; its costs are in the profile.
    for hit in response.json["hits"].as_array().into_iter().flatten() {
        println!("{} {}", hit["time"], hit["message"]);
    }
    let buckets = &response.json["aggregations"]["services"]["buckets"];
    for bucket in buckets.as_array().into_iter().flatten() {
        println!("{}: {}", bucket["key"], bucket["doc_count"]);
    }
    let cost = &response.profile;
    println!(
        "{} waves, {} requests, {} bytes",
        cost.num_waves, cost.num_requests, cost.num_bytes
    );
    Ok(())
}
