//! Search over plain HTTP: an index in a folder, behind a web server that only supports files and
//! ranges.
//!
//! The server answers `GET` and rejects everything else, so an answer proves that no other request
//! was sent.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use canter_doc_mapper::IndexConfig;
use canter_index_builder::{IngestOptions, Source, create_index, ingest};
use canter_lab::LatencyModel;
use canter_lab::proxy::Proxy;
use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::fetch::{OpenOptions, open_uri};
use canter_runtime::{Limits, Searcher};
use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{End, TestIndex, Truth, hdfs_lines};
use serde_json::{Value, json};

const SPLIT_NUM_DOCS: u64 = 700;

#[test]
fn an_index_on_a_web_server_answers_like_the_same_index_in_memory() -> Result<()> {
    let lines = hdfs_lines(3_000, 33)?;
    let folder = tempfile::tempdir()?;
    let uri = folder.path().to_str().context("a name in UTF-8")?;
    let config = IndexConfig::from_yaml(HDFS_LOGS_YAML, |_| None)?;
    let options = IngestOptions {
        split_num_docs_target: Some(SPLIT_NUM_DOCS),
        ..IngestOptions::default()
    };
    let text = std::io::Cursor::new(lines.join("\n").into_bytes());
    let source = Source::reader("lines", text).with_id("lines");
    ingest(&create_index(uri, &config)?, &options, vec![source], &())?;

    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let files = open_uri(uri, &OpenOptions::default())?;
    let server = runtime.block_on(Proxy::start(files, LatencyModel::local()))?;
    let index = TestIndex::build(HDFS_LOGS_YAML, &lines, SPLIT_NUM_DOCS)?;
    let wasm = Arc::new(WasmEngine::embedded(WasmOptions::default())?);
    let engines: [Arc<dyn Engine>; 2] = [Arc::new(NativeEngine::new()), wasm];
    let limits = Limits::default();
    for engine in engines {
        let host = Searcher::builder().engine(engine);
        let searcher = host.uri(&server.url(), &OpenOptions::default())?.build()?;
        for request in requests() {
            let truth = Truth::of(&index, request)?;
            let search = searcher.search(&truth.request, &limits);
            let end = truth.judge(&runtime.block_on(search));
            ensure!(end == Ok(End::Right), "{}: {end:?}", truth.request);
        }
    }
    ensure!(
        server.traffic().num_requests > 16,
        "a search asks the server"
    );
    Ok(())
}

fn requests() -> [Value; 4] {
    [
        json!({"query": "severity_text:ERROR", "max_hits": 10}),
        json!({"query": "body:\"received block\"", "max_hits": 5}),
        json!({"query": "severity_text:WARN", "max_hits": 5, "sort_by": "-tenant_id"}),
        json!({"query": "*", "max_hits": 0, "aggs": {"tenants": {
            "terms": {"field": "tenant_id", "size": 100},
        }}}),
    ]
}
