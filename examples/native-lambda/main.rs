//! The search function of AWS Lambda on this machine: a Runtime API with the real program, an index in a
//! folder, and a query in the form that a function URL sends.
//!
//! `cargo xtask example native-lambda [QUERY [INDEX]]` builds and runs it. The processor time that it shows is
//! that of the function alone.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use canter_doc_mapper::IndexConfig;
use canter_index_builder::{IngestOptions, Source, create_index, ingest};
use canter_samples::{CorpusReader, HDFS_LOGS_YAML, HdfsLogs};
use canter_tests::LambdaFunction;
use serde_json::{Value, json};

const NUM_DOCS: u64 = 20_000;
const NUM_SPLITS: u64 = 4;
const NUM_STARTS: u32 = 5;
const NUM_WARM: u32 = 200;
const QUERY: &str = "severity_text:ERROR AND body:DataXceiver";

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let query = args.next().unwrap_or_else(|| QUERY.to_owned());
    let folder = tempfile::tempdir()?;
    let index = match args.next() {
        Some(uri) => uri,
        None => build_index(&folder.path().join("index"))?,
    };
    let program = program()?;

    let starts = (0..NUM_STARTS).map(|_| {
        let function = start(&program, &index, &folder.path().join("unused"))?;
        function
            .start_cost()
            .context("it has not asked for an event")
    });
    let starts = starts.collect::<Result<Vec<_>>>()?;
    let mean = |times: Vec<Duration>| times.iter().sum::<Duration>() / NUM_STARTS;
    let cpu = mean(starts.iter().map(|start| start.cpu).collect());
    let wall = mean(starts.iter().map(|start| start.wall).collect());
    println!(
        "start: {} of processors, {} in all",
        millis(cpu),
        millis(wall)
    );

    let function = start(&program, &index, &folder.path().join("cache"))?;
    let answer = function.invoke_json(&event(&query))?;
    show(&answer)?;
    println!("cold: {}", cost_of(&answer));
    let answer = function.invoke_json(&event(&query))?;
    println!("warm: {}", cost_of(&answer));

    let before = function.cpu_time().context("/proc is needed")?;
    for _ in 0..NUM_WARM {
        function.invoke_json(&event(&query))?;
    }
    let took = function.cpu_time().context("/proc is needed")? - before;
    println!(
        "warm: {} of processors a query, over {NUM_WARM}",
        millis(took / NUM_WARM)
    );
    Ok(())
}

fn start(program: &Path, index: &str, cache: &Path) -> Result<LambdaFunction> {
    let indexes = format!("logs={index}");
    let cache = cache.display().to_string();
    let variables = [
        ("CANTER_INDEXES", indexes.as_str()),
        ("CANTER_CACHE", cache.as_str()),
    ];
    LambdaFunction::start("canter-search", program, &variables)
}

/// Creates an index of generated logs, and returns its URI.
fn build_index(folder: &Path) -> Result<String> {
    let uri = folder.to_str().context("the path is not UTF-8")?;
    let config = IndexConfig::from_yaml(HDFS_LOGS_YAML, |_| None)?;
    let store = create_index(uri, &config)?;
    let options = IngestOptions {
        split_num_docs_target: Some(NUM_DOCS / NUM_SPLITS),
        ..IngestOptions::default()
    };
    let logs = Source::reader("logs", CorpusReader::new(HdfsLogs::new(NUM_DOCS, 1)));
    let report = ingest(&store, &options, vec![logs], &())?;
    let (docs, splits) = (report.num_ingested_docs, report.splits.len());
    println!("{docs} documents in {splits} splits");
    Ok(uri.to_owned())
}

/// Returns the function's program: the one that the environment names, or the one in the folder of this program.
fn program() -> Result<PathBuf> {
    if let Some(program) = std::env::var_os("CANTER_LAMBDA_SEARCH") {
        return Ok(program.into());
    }
    let own = std::env::current_exe()?;
    let program = own.with_file_name("canter-lambda-search");
    let how = "is not there: run `cargo xtask example native-lambda`";
    anyhow::ensure!(program.is_file(), "{} {how}", program.display());
    Ok(program)
}

/// Returns a search in the form that a function URL passes on.
fn event(query: &str) -> Value {
    let body = json!({"query": query, "max_hits": 3});
    json!({
        "version": "2.0",
        "rawPath": "/api/v1/logs/search",
        "rawQueryString": "",
        "headers": {"content-type": "application/json"},
        "requestContext": {"http": {"method": "POST"}, "stage": "$default"},
        "body": body.to_string(),
        "isBase64Encoded": false,
    })
}

fn show(answer: &Value) -> Result<()> {
    let body: Value = serde_json::from_str(answer["body"].as_str().unwrap_or_default())?;
    println!(
        "status {}, {} hits:",
        answer["statusCode"], body["num_hits"]
    );
    for hit in body["hits"].as_array().into_iter().flatten() {
        println!("  {} {}", hit["severity_text"], hit["body"]);
    }
    if let Some(message) = body["message"].as_str() {
        println!("  {message}");
    }
    Ok(())
}

fn cost_of(answer: &Value) -> String {
    let header = |name: &str| answer["headers"][name].as_str().unwrap_or("no").to_owned();
    let (requests, bytes) = (header("x-canter-requests"), header("x-canter-bytes"));
    format!(
        "{requests} requests, {bytes} bytes; {}",
        header("server-timing")
    )
}

fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}
