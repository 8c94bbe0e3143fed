//! Writing to stores that ignore conditions on writes, as a program: refusals with their exit codes,
//! and the doctor's report on such a store.

use std::path::Path;
use std::process::{Command, Stdio};

use canter_samples::{Corpus, HDFS_LOGS_YAML, HdfsLogs};
use canter_tests::{Flaw, S3Lookalike};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::texts;

const URI: &str = "s3://bucket/logs";
const IGNORES_BOTH: [Flaw; 2] = [Flaw::IgnoresIfNoneMatch, Flaw::IgnoresIfMatch];

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("logs.yaml"), HDFS_LOGS_YAML).unwrap();
    let mut lines = Vec::new();
    HdfsLogs::new(200, 7).write_to(&mut lines).unwrap();
    std::fs::write(folder.path().join("logs.ndjson"), lines).unwrap();
    folder
}

fn run(folder: &Path, server: &S3Lookalike, line: &str, code: i32) -> (String, String) {
    let args: Vec<&str> = line.split(' ').collect();
    let output = Command::new(env!("CARGO_BIN_EXE_canter"))
        .args(&args)
        .current_dir(folder)
        .envs(server.settings())
        .env("LANG", "C.UTF-8")
        .env("COLUMNS", "100")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    texts(&args, &output, code)
}

#[test]
fn a_store_that_ignores_conditions_is_written_to_only_by_who_says_so() {
    let folder = folder();
    let folder = folder.path();
    let server = S3Lookalike::start(&IGNORES_BOTH).unwrap();
    let create = format!("index create --index {URI} --index-config logs.yaml");
    let ingest = format!("index ingest --index {URI} --input logs.ndjson --format");
    let (_, stderr) = run(folder, &server, &create, 2);
    for part in [URI, "If-None-Match and If-Match", "--unsafe-single-writer"] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    run(
        folder,
        &server,
        &format!("{create} --unsafe-single-writer"),
        0,
    );
    let (_, stderr) = run(folder, &server, &format!("{ingest} json"), 2);
    assert!(stderr.contains("--unsafe-single-writer"), "{stderr}");

    let line = format!("{ingest} json --unsafe-single-writer");
    let (stdout, _) = run(folder, &server, &line, 0);
    let report: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(report["num_live_splits"], 1);
    assert_eq!(report["warnings"][0]["name"], "unsafe_single_writer");
    let line = format!("{ingest} table --unsafe-single-writer");
    let (stdout, _) = run(folder, &server, &line, 0);
    assert!(
        stdout.contains("warning: the store ignores If-None"),
        "{stdout}"
    );

    let line = format!("{create} --unsafe-single-writer");
    let (_, stderr) = run(folder, &server, &line, 2);
    assert!(stderr.contains("there is an index at"), "{stderr}");
    let describe = format!("index describe --index {URI} --format json");
    let (stdout, _) = run(folder, &server, &describe, 0);
    let description: Value = serde_json::from_str(&stdout).unwrap();
    assert!(description["num_docs"].as_u64() >= Some(200), "{stdout}");
}

/// Returns the names of checks with their status.
fn rows(report: &Value) -> Vec<(&str, &str)> {
    let checks = report["checks"].as_array().unwrap().iter();
    checks
        .map(|check| {
            (
                check["name"].as_str().unwrap(),
                check["status"].as_str().unwrap(),
            )
        })
        .filter(|(name, _)| name.starts_with("writ"))
        .collect()
}

#[test]
fn the_doctor_examines_writing_only_when_told_and_says_so() {
    let folder = folder();
    let folder = folder.path();
    let check = |flaws: &[Flaw], write: &str, code: i32, is_fit: Value, expect: &[(&str, &str)]| {
        let server = S3Lookalike::start(&[]).unwrap();
        let create = format!("index create --index {URI} --index-config logs.yaml");
        run(folder, &server, &create, 0);
        server.set_flaws(flaws);
        server.take_lines();
        let (stdout, stderr) = run(
            folder,
            &server,
            &format!("doctor {URI}{write} --format json"),
            code,
        );
        let report: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(report["is_fit"], true, "{stdout}");
        assert_eq!(report["is_fit_for_writing"], is_fit, "{stdout}");
        assert_eq!(rows(&report), expect, "{flaws:?}");
        if write.is_empty() {
            let lines = server.take_lines();
            assert!(
                lines.iter().all(|line| line.starts_with("GET ")),
                "{lines:?}"
            );
        }
        if code == 1 {
            assert!(
                stderr.contains("error: not fit to write to: write_"),
                "{stderr}"
            );
        }
        let (stdout, _) = run(
            folder,
            &server,
            &format!("doctor {URI}{write} --format table"),
            code,
        );
        stdout
    };
    let text = check(&[], "", 0, Value::Null, &[("writing", "skipped")]);
    assert!(text.contains("Writing was not examined."), "{text}");
    let rows = |none_match, if_match| {
        [
            ("writing", "ok"),
            ("write_if_none_match", none_match),
            ("write_if_match", if_match),
            ("write_cleanup", "ok"),
        ]
    };
    let text = check(&[], " --write", 0, true.into(), &rows("ok", "ok"));
    assert!(text.contains("Fit to write to."), "{text}");
    let text = check(&IGNORES_BOTH, "", 0, Value::Null, &[("writing", "skipped")]);
    assert!(!text.contains("it to write to"), "{text}");
    let failed = rows("failed", "failed");
    let text = check(&IGNORES_BOTH, " --write", 1, false.into(), &failed);
    assert!(text.contains("Not fit to write to."), "{text}");
    let refuses = [Flaw::RefusesConditions];
    check(&refuses, " --write", 1, false.into(), &failed);
    let ignores = [Flaw::IgnoresIfMatch];
    check(&ignores, " --write", 1, false.into(), &rows("ok", "failed"));

    let server = S3Lookalike::start(&[]).unwrap();
    let (_, stderr) = run(folder, &server, "doctor https://127.0.0.1:1/x --write", 2);
    assert!(stderr.contains("s3://"), "{stderr}");
}
