//! Messages of an ingest about lines that are in the index already, and about inputs that are named twice.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use canter_samples::{Corpus, HDFS_LOGS_YAML, HdfsLogs};
use canter_tests::S3Lookalike;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{canter, run, texts};

const LINE: &str =
    "{\"timestamp\":1600000001,\"tenant_id\":1,\"severity_text\":\"INFO\",\"body\":\"beat\"}\n";

fn new_index() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("logs.yaml"), HDFS_LOGS_YAML).unwrap();
    for name in ["day", "copy"] {
        std::fs::write(folder.path().join(name), LINE.repeat(10) + "bad\n").unwrap();
    }
    let create = [
        "index",
        "create",
        "--index",
        "index",
        "--index-config",
        "logs.yaml",
    ];
    run(folder.path(), &create, 0);
    folder
}

fn ingest(folder: &Path, args: &[&str]) -> String {
    let args = [&["index", "ingest", "--index", "index"], args].concat();
    run(folder, &args, 0).0
}

/// Ingests lines from standard input; returns the numbers of added and known documents.
fn ingest_stdin(folder: &Path, args: &[&str]) -> (u64, u64) {
    let args = [
        &["index", "ingest", "--index", "index", "--format", "json"],
        args,
    ]
    .concat();
    let mut command = canter(folder, &args);
    let pipes = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = pipes.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(LINE.repeat(4).as_bytes()).unwrap();
    drop(stdin);
    let (stdout, _) = texts(&args, &child.wait_with_output().unwrap(), 0);
    let report: Value = serde_json::from_str(&stdout).unwrap();
    let count = |key: &str| report[key].as_u64().unwrap();
    assert_eq!(
        count("num_ingested_docs") + count("num_known_docs"),
        count("num_lines")
    );
    (count("num_ingested_docs"), count("num_known_docs"))
}

fn num_docs(folder: &Path) -> u64 {
    let (stdout, _) = run(folder, &["index", "describe", "--index", "index"], 0);
    let description: Value = serde_json::from_str(&stdout).unwrap();
    description["num_docs"].as_u64().unwrap()
}

#[test]
fn equal_lines_are_all_kept_and_a_repetition_is_told() {
    let folder = new_index();
    let folder = folder.path();
    let day = ["--input", "day", "--split-num-docs", "5"];
    let stdout = ingest(folder, &day);
    assert!(
        stdout.starts_with("ingested + rejected = lines read: 10 + 1 = 11\n"),
        "{stdout}"
    );
    assert_eq!(num_docs(folder), 10);

    let stdout = ingest(folder, &day);
    let sum = "ingested + published before + rejected = lines read: 0 + 10 + 1 = 11\n";
    assert!(stdout.starts_with(sum), "{stdout}");
    assert!(stdout.contains("of input became no split"), "{stdout}");
    assert!(stdout.ends_with("index is as it was\n"), "{stdout}");
    assert_eq!(num_docs(folder), 10);

    let stdout = ingest(folder, &["--input", "copy", "--split-num-docs", "5"]);
    assert!(
        stdout.starts_with("ingested + rejected = lines read: 10 + 1 = 11\n"),
        "{stdout}"
    );
    assert_eq!(num_docs(folder), 20);
}

#[test]
fn an_input_that_is_named_twice_is_refused() {
    let folder = new_index();
    let folder = folder.path();
    for second in ["day", "./day"] {
        let args = [
            "index", "ingest", "--index", "index", "--input", "day", "--input", second,
        ];
        let (_, stderr) = run(folder, &args, 2);
        assert!(stderr.contains("is named twice"), "{stderr}");
    }
    assert_eq!(num_docs(folder), 0);
}

#[test]
fn standard_input_is_known_by_its_id_alone() {
    let folder = new_index();
    let folder = folder.path();
    assert_eq!(ingest_stdin(folder, &["--ingest-id", "monday"]), (4, 0));
    assert_eq!(ingest_stdin(folder, &["--ingest-id", "monday"]), (0, 4));
    assert_eq!(ingest_stdin(folder, &["--ingest-id", "tuesday"]), (4, 0));
    assert_eq!(ingest_stdin(folder, &[]), (4, 0));
    assert_eq!(ingest_stdin(folder, &[]), (4, 0));
    assert_eq!(num_docs(folder), 16);
    // A file keeps its id at another path.
    let with_id = |input: &str| ingest(folder, &["--input", input, "--ingest-id", "day"]);
    assert!(with_id("day").contains(": 10 + 1 = 11"));
    assert!(with_id("copy").contains(": 0 + 10 + 1 = 11"));
}

#[test]
fn an_ingest_of_a_small_file_into_a_bucket_is_at_most_eight_requests() {
    let server = S3Lookalike::start(&[]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("logs.yaml"), HDFS_LOGS_YAML).unwrap();
    let run = |args: &[&str]| {
        let output = canter(folder.path(), args).envs(server.settings()).output();
        texts(args, &output.unwrap(), 0);
        server.take_lines()
    };
    let bucket = ["--index", "s3://bucket/logs"];
    let create = ["index", "create", "--index-config", "logs.yaml"];
    run(&[&create[..], &bucket].concat());
    // The first one creates the object that stays; one with a config reads the index's first.
    let config = ["--index-config", "logs.yaml"];
    for (input, more, num_requests) in [("a", &[][..], 8), ("b", &[], 7), ("c", &config[..], 8)] {
        let mut lines = Vec::new();
        HdfsLogs::new(50, 7).write_to(&mut lines).unwrap();
        std::fs::write(folder.path().join(input), lines).unwrap();
        let before = server.num_connections();
        let ingest = ["index", "ingest", "--input", input];
        let asked = run(&[&ingest[..], &bucket, more].concat());
        assert_eq!(asked.len(), num_requests, "{asked:?}");
        let num_connections = server.num_connections() - before;
        assert!(num_connections <= 2, "{num_connections} connections");
    }
}
