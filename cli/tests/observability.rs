//! Logs and metrics of the real binary, with a web server on the loopback interface whose URL is
//! signed: neither the signature nor any word of the query may appear.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use canter_lab::LatencyModel;
use canter_lab::proxy::Proxy;
use canter_runtime::fetch::{OpenOptions, open_uri};
use canter_samples::{Corpus, HDFS_LOGS_YAML, HdfsLogs};
use serde_json::Value;
use tempfile::TempDir;

/// A word of the query.
const WORD: &str = "confidentialword";
/// The secret parts of the URL.
const USER: &str = "confidentialuser";
const SIGNATURE: &str = "confidentialsignature";

fn canter(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_canter"));
    command
        .args(args)
        .current_dir(folder)
        .env_remove("CANTER_LOG")
        .stdin(Stdio::null());
    command
}

/// Returns a folder with an index in `index`.
fn indexed() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("logs.yaml"), HDFS_LOGS_YAML).unwrap();
    let mut lines = Vec::new();
    HdfsLogs::new(500, 7).write_to(&mut lines).unwrap();
    std::fs::write(folder.path().join("logs.ndjson"), lines).unwrap();
    let ingest = [
        "index",
        "ingest",
        "--index",
        "index",
        "--input",
        "logs.ndjson",
    ];
    let ingest = [&ingest[..], &["--index-config", "logs.yaml"]].concat();
    let output = canter(folder.path(), &ingest).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    folder
}

/// Searches the index over HTTP, with a signed URL.
fn search_signed(args: &[&str]) -> (Output, TempDir) {
    let folder = indexed();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let index = folder.path().join("index");
    let store = open_uri(index.to_str().unwrap(), &OpenOptions::default()).unwrap();
    let model: LatencyModel = "latency=1ms,bandwidth=1GB".parse().unwrap();
    let proxy = runtime.block_on(Proxy::start(store, model)).unwrap();
    let host = proxy.url().replace("http://", "");
    let uri =
        format!("http://{USER}:pw@{host}?X-Amz-Signature={SIGNATURE}&X-Amz-Credential={USER}");
    let query = format!("severity_text:INFO OR body:{WORD}");
    let search = [
        "search", "--index", &uri, "--query", &query, "--engine", "native",
    ];
    let search = [&search[..], &["--format", "json", "--profile"], args].concat();
    let output = canter(folder.path(), &search).output().unwrap();
    (output, folder)
}

fn stderr(output: &Output) -> &str {
    let text = std::str::from_utf8(&output.stderr).unwrap();
    for secret in [USER, SIGNATURE, WORD] {
        assert!(!text.contains(secret), "{secret} in\n{text}");
    }
    text
}

fn profile(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice::<Value>(&output.stdout).unwrap()["profile"].clone()
}

#[test]
fn a_debug_log_has_a_line_for_each_request_and_no_secret() {
    let (output, _folder) = search_signed(&["--log", "debug", "--log-format", "json"]);
    let profile = profile(&output);
    let lines: Vec<Value> = stderr(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}")))
        .collect();
    let spans = |name: &str| -> Vec<&Value> {
        let spans = lines
            .iter()
            .filter(|line| line["fields"]["message"] == "close");
        spans
            .map(|line| &line["span"])
            .filter(|span| span["name"] == name)
            .collect()
    };
    let [query] = spans("query")[..] else {
        panic!("one query in {lines:?}");
    };
    assert_eq!(query["outcome"], "ok");
    assert_eq!(query["num_requests"], profile["num_requests"]);
    assert_eq!(query["num_bytes"], profile["num_bytes"]);
    let index = query["index"].as_str().unwrap();
    assert!(index.starts_with("http://127.0.0.1:"), "{index}");
    let requests = spans("request");
    assert_eq!(
        requests.len() as u64,
        profile["num_requests"].as_u64().unwrap()
    );
    let sum: u64 = requests
        .iter()
        .map(|it| it["num_bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(sum, profile["num_bytes"].as_u64().unwrap());
    assert!(!spans("wave").is_empty() && !spans("guest").is_empty());
}

#[test]
fn libraries_that_are_let_through_log_no_secret_either() {
    let filter = "canter=trace,reqwest=trace,hyper=trace,hyper_util=trace,object_store=trace";
    let (output, _folder) = search_signed(&["--log", filter]);
    assert!(
        stderr(&output).contains("hyper_util"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn an_info_log_has_one_line_for_people() {
    let (output, _folder) = search_signed(&["--log", "info"]);
    let lines: Vec<&str> = stderr(&output).lines().collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    for part in [
        " INFO ",
        "query{index=http://127.0.0.1:",
        "kind=\"search\" outcome=\"ok\"",
    ] {
        assert!(lines[0].contains(part), "{part} in {}", lines[0]);
    }
}

#[test]
fn the_log_can_be_set_by_the_environment_and_is_off_without() {
    let folder = indexed();
    let search = [
        "search", "--index", "index", "--query", "*", "--engine", "native",
    ];
    let output = canter(folder.path(), &search).output().unwrap();
    assert_eq!(stderr(&output), "");
    let output = canter(folder.path(), &search)
        .env("CANTER_LOG", "info")
        .output()
        .unwrap();
    assert_eq!(stderr(&output).lines().count(), 1);
    let output = canter(folder.path(), &search)
        .env("CANTER_LOG", "lout")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("neither a level"), "{output:?}");
}

/// Returns the value of a sample in a file of metrics.
fn sample(text: &str, name: &str) -> f64 {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name} in\n{text}"))
        .parse()
        .unwrap()
}

#[test]
fn metrics_are_written_when_a_search_ends_well_or_not() {
    let (output, folder) = search_signed(&["--metrics", "canter.prom"]);
    let profile = profile(&output);
    let file = folder.path().join("canter.prom");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.ends_with("# EOF\n"));
    let sent = sample(&text, "canter_requests_total{outcome=\"ok\"}");
    assert_eq!(sent, profile["num_requests"].as_f64().unwrap());
    let ended = "canter_queries_total{kind=\"search\",outcome=";
    assert_eq!(sample(&text, &format!("{ended}\"ok\"}}")), 1.0);
    for secret in [USER, SIGNATURE, WORD] {
        assert!(!text.contains(secret));
    }

    std::fs::write(folder.path().join("index/manifest.canter"), "damaged").unwrap();
    let search = [
        "search", "--index", "index", "--query", "*", "--engine", "native",
    ];
    let search = [&search[..], &["--metrics", "canter.prom"]].concat();
    let output = canter(folder.path(), &search).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert_eq!(sample(&text, &format!("{ended}\"data\"}}")), 1.0);
    assert_eq!(
        std::fs::read_dir(folder.path())
            .unwrap()
            .flatten()
            .filter(|file| file.file_name().to_string_lossy().contains("prom"))
            .count(),
        1
    );
}

#[test]
fn metrics_that_cannot_be_written_cost_a_warning_and_not_the_answer() {
    let (output, _folder) = search_signed(&["--metrics", "no/such/folder/canter.prom"]);
    assert!(output.status.success());
    let text = stderr(&output);
    assert!(
        text.starts_with("warning: cannot write metrics to"),
        "{text}"
    );
}
