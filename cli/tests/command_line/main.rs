//! The real binary from end to end, with the native engine: its output and exit codes.

mod budgets;
mod cache;
#[cfg(target_os = "linux")]
mod clock;
mod deletes;
mod doctor;
mod explain;
mod forbidden;
mod formats;
mod help;
mod ingest;
mod inputs;
mod mcp;
mod mcp_limits;
mod nowhere;
mod one_command;
mod patterns;
mod serve;
mod serve_aliases;
mod serve_analyzers;
mod serve_cache;
mod serve_dynamic;
mod serve_fields;
mod serve_hosts;
mod serve_id_kills;
mod serve_id_versions;
mod serve_ids;
mod serve_limits;
mod serve_managing;
mod serve_managing_api;
mod serve_media;
mod serve_openapi;
mod serve_page;
mod serve_pages;
mod serve_pipelines;
mod serve_places;
mod serve_scripts;
mod serve_templates;
mod serve_tokens;
mod serve_tools;
mod serve_transport;
mod serve_unmapped;
mod serve_vectors;
mod serve_writing;
mod shared_builds;
mod stores;
mod support;
mod transforms;
mod upkeep;
mod writes;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use canter_samples::{Corpus, HDFS_LOGS_YAML, HdfsLogs};
use serde_json::Value;

use support::{NUM_BAD_LINES, NUM_DOCS, canter, indexed, run, search, splits_of, texts};

#[test]
fn an_index_is_built_described_and_searched() {
    let folder = indexed();
    let folder = folder.path();
    let rejects = std::fs::read_to_string(folder.join("canter.rejects.ndjson")).unwrap();
    assert_eq!(rejects.lines().count() as u64, NUM_BAD_LINES);

    let (stdout, _) = run(folder, &["index", "describe", "--index", "index"], 0);
    let description: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(description["num_docs"], NUM_DOCS);
    assert_eq!(description["splits"].as_array().unwrap().len(), 2);
    let describe = ["index", "describe", "--index", "index", "--format", "table"];
    let (stdout, _) = run(folder, &describe, 0);
    assert!(stdout.contains("hdfs-logs"), "{stdout}");

    let answer = search(
        folder,
        &["--query", "severity_text:INFO", "--max-hits", "3"],
    );
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    let expect = "hits num_hits elapsed_time_micros errors failed_splits skipped_splits timed_out \
                  budget_exhausted";
    assert_eq!(keys, expect.split(' ').collect::<Vec<_>>());
    assert_eq!(answer["hits"].as_array().unwrap().len(), 3);
    assert!(answer["num_hits"].as_u64().unwrap() > 1_800, "{answer}");
    assert_eq!(answer["failed_splits"], Value::Array(Vec::new()));
    assert!(answer["elapsed_time_micros"].as_u64().unwrap() > 0);
}

#[test]
fn the_profile_has_every_request() {
    let folder = indexed();
    let answer = search(
        folder.path(),
        &["--query", "severity_text:WARN", "--profile"],
    );
    let profile = &answer["profile"];
    let num = |key: &str| {
        profile[key]
            .as_u64()
            .unwrap_or_else(|| panic!("{key}: {profile}"))
    };
    assert_eq!(num("num_splits"), 2);
    assert_eq!(num("num_splits_pruned"), 0);
    assert_eq!(num("warmup_gaps"), 0);
    assert!(num("num_splits_searched") > 0);
    let waves = profile["waves"].as_array().unwrap();
    assert_eq!(waves.len() as u64, num("num_waves"));
    let requests: Vec<&Value> = waves
        .iter()
        .flat_map(|wave| wave["requests"].as_array().unwrap())
        .collect();
    assert_eq!(requests.len() as u64, num("num_requests"));
    let length = |request: &&Value| request["length"].as_u64().unwrap();
    assert_eq!(requests.iter().map(length).sum::<u64>(), num("num_bytes"));
    for request in requests {
        assert!(request["object"].is_string() && request["class"].is_string());
        assert!(request["offset"].is_u64());
        assert!(request["start_us"].as_u64() <= request["end_us"].as_u64());
    }
}

#[test]
fn aggregations_come_as_elasticsearch_writes_them() {
    let folder = indexed();
    let folder = folder.path();
    let aggs = r#"{"levels":{"terms":{"field":"severity_text"}}}"#;
    std::fs::write(folder.join("aggs.json"), aggs).unwrap();
    for aggs in [aggs, "@aggs.json"] {
        let answer = search(folder, &["--query", "*", "--max-hits", "0", "--aggs", aggs]);
        let buckets = answer["aggregations"]["levels"]["buckets"]
            .as_array()
            .unwrap();
        let counts = buckets
            .iter()
            .map(|bucket| bucket["doc_count"].as_u64().unwrap());
        assert_eq!(counts.sum::<u64>(), NUM_DOCS);
        assert_eq!(buckets[0]["key"], "INFO");
    }
    let args = [
        "search",
        "--index",
        "index",
        "--engine",
        "native",
        "--query",
        "*",
        "--max-hits",
        "2",
        "--aggs",
        aggs,
        "--format",
        "table",
        "--profile",
    ];
    let (stdout, _) = run(folder, &args, 0);
    for expect in [
        "severity_text",
        "2,000 hits, 2 shown",
        "INFO",
        "2 waves",
        "manifest.canter",
    ] {
        assert!(stdout.contains(expect), "{expect}: {stdout}");
    }
    assert!(!stdout.contains('\x1b'), "no colours into a pipe: {stdout}");
}

#[test]
fn a_damaged_split_is_named_and_the_others_answer() {
    let folder = indexed();
    let folder = folder.path();
    let splits = splits_of(folder);
    let damage = |path: &Path| {
        let len = std::fs::metadata(path).unwrap().len();
        std::fs::write(path, vec![0u8; usize::try_from(len).unwrap()]).unwrap();
    };
    let args = [
        "search",
        "--index",
        "index",
        "--engine",
        "native",
        "--query",
        "body:the OR body:block",
        "--sort-by",
        "_score",
        "--max-hits",
        "5000",
    ];
    damage(&splits[0]);
    let (stdout, stderr) = run(folder, &args, 0);
    let answer: Value = serde_json::from_str(&stdout).unwrap();
    let id = splits[0].file_stem().unwrap().to_str().unwrap();
    assert_eq!(answer["failed_splits"][0]["split_id"], id);
    assert!(stderr.contains(&format!("warning: split {id}")), "{stderr}");
    damage(&splits[1]);
    let (_, stderr) = run(folder, &args, 1);
    assert!(stderr.contains("no split could be searched"), "{stderr}");
}

#[test]
fn a_split_can_be_inspected_and_verified() {
    let folder = indexed();
    let folder = folder.path();
    let split = splits_of(folder)[0].clone();
    let path = split.to_str().unwrap();
    let (stdout, _) = run(folder, &["split", "inspect", path, "--verify"], 0);
    let inspected: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(inspected["metadata"]["num_docs"], 1_000);
    assert_eq!(
        inspected["block_checksums"]["damaged_blocks"],
        Value::Array(Vec::new())
    );
    let (head, body) = (&inspected["head_len"], &inspected["body_len"]);
    let len = std::fs::metadata(&split).unwrap().len();
    assert_eq!(head.as_u64().unwrap() + body.as_u64().unwrap(), len);
    let (stdout, _) = run(folder, &["split", "inspect", path, "--format", "table"], 0);
    assert!(
        stdout.contains("hotcache") && stdout.contains("hdfs-logs"),
        "{stdout}"
    );

    let mut bytes = std::fs::read(&split).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&split, &bytes).unwrap();
    let (_, stderr) = run(folder, &["split", "inspect", path, "--verify"], 1);
    assert!(stderr.contains("damaged in 1 block"), "{stderr}");
    std::fs::write(&split, &bytes[..20]).unwrap();
    let (_, stderr) = run(folder, &["split", "inspect", path], 1);
    assert!(stderr.contains("too short"), "{stderr}");
}

#[test]
fn ingest_reads_standard_input_and_makes_the_index() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("logs.yaml"), HDFS_LOGS_YAML).unwrap();
    let args = [
        "index",
        "ingest",
        "--index",
        "index",
        "--index-config",
        "logs.yaml",
    ];
    let mut lines = Vec::new();
    HdfsLogs::new(50, 7).write_to(&mut lines).unwrap();
    // Without an id, repetitions are not recognised.
    for num_splits in [1, 2] {
        let mut child = canter(folder.path(), &args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&lines).unwrap();
        let (stdout, _) = texts(&args, &child.wait_with_output().unwrap(), 0);
        assert!(stdout.contains("50 + 0 = 50"), "{stdout}");
        assert_eq!(splits_of(folder.path()).len(), num_splits);
    }
}

#[test]
fn exit_codes_tell_wrong_use_from_failure() {
    let folder = indexed();
    let folder = folder.path();
    let check = |line: &str, code: i32, message: &str| {
        let args: Vec<&str> = line.split(' ').collect();
        let (_, stderr) = run(folder, &args, code);
        assert!(stderr.contains(message), "{line}: {stderr}");
    };
    check("--version", 0, "");
    check("--help", 0, "");
    check("serach", 2, "unrecognized subcommand");
    check("search --index index", 2, "--query");
    check(
        "search --index nowhere --query a --engine native",
        2,
        "nowhere",
    );
    check(
        "search --index . --query a --engine native",
        2,
        "no index at `.`",
    );
    check(
        "search --index index --query no_field:1 --engine native",
        2,
        "no_field",
    );
    check(
        "search --index index --query a --engine native --deadline-ms 0",
        1,
        "deadline",
    );
    check(
        "search --index index --query * --aggs {\"a\":{}} --engine native",
        2,
        "aggs",
    );
    check(
        "search --index ftp://a/b --query a --engine native",
        2,
        "ftp",
    );
    check("index describe --index nowhere", 2, "index create");
    check(
        "index create --index index --index-config logs.yaml",
        2,
        "already",
    );
    check(
        "index create --index other --index-config nothing.yaml",
        2,
        "nothing.yaml",
    );
    check(
        "index ingest --index index --input nothing.ndjson",
        2,
        "nothing.ndjson",
    );
    check("split inspect nothing.split", 2, "nothing.split");
    check("split inspect logs.yaml", 1, "logs.yaml");
    check("demo --dir index --engine native", 2, "--keep");
    check("demo --dir empty --keep --engine native", 2, "no index");
}

#[test]
fn a_demo_runs_into_a_pipe_and_again_on_its_index() {
    let folder = tempfile::tempdir().unwrap();
    let demo = [
        "demo", "--docs", "3000", "--splits", "3", "--dir", "d", "--engine", "native",
    ];
    let (stdout, stderr) = run(folder.path(), &demo, 0);
    for expect in [
        "3,000 documents indexed",
        "in 3 splits",
        "cold",
        "warm",
        "2016-04-13",
        "rm -r d",
    ] {
        assert!(stdout.contains(expect), "{expect}: {stdout}\n{stderr}");
    }
    let again = ["demo", "--dir", "d", "--keep", "--engine", "native"];
    let (stdout, _) = run(folder.path(), &again, 0);
    assert!(stdout.contains("Keeping the index"), "{stdout}");
    let plain = canter(folder.path(), &again)
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    assert!(plain.status.success());
    assert!(
        plain.stdout.is_ascii(),
        "{}",
        String::from_utf8_lossy(&plain.stdout)
    );
}

#[test]
fn a_closed_pipe_is_no_error() {
    let folder = indexed();
    let args = [
        "search",
        "--index",
        "index",
        "--engine",
        "native",
        "--query",
        "*",
        "--max-hits",
        "2000",
        "--format",
        "table",
    ];
    let mut child = canter(folder.path(), &args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first_line = String::new();
    let mut stdout = BufReader::with_capacity(64, child.stdout.take().unwrap());
    stdout.read_line(&mut first_line).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
