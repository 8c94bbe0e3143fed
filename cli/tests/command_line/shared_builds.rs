//! Builds shared by several machines: `canter split build` on each, and `canter split publish` once.

use std::fs;
use std::path::Path;

use canter_samples::HDFS_LOGS_YAML;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::run;

const INPUTS: usize = 5;
const LINES: usize = 40;

/// Returns inputs with different lines, one invalid line in each, a list of their names, and an empty index.
fn new_index() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("logs.yaml"), HDFS_LOGS_YAML).unwrap();
    let mut list = String::new();
    for input in 0..INPUTS {
        let line = |at: usize| {
            let second = 1_600_000_000 + at * INPUTS + input;
            json!({"timestamp": second, "tenant_id": input, "severity_text": "INFO", "body": format!("beat {at}")})
        };
        let lines: Vec<String> = (0..LINES).map(|at| line(at).to_string()).collect();
        fs::write(
            path.join(format!("{input}.ndjson")),
            lines.join("\n") + "\nbad\n",
        )
        .unwrap();
        list += &format!("{input}.ndjson\n");
    }
    fs::write(path.join("list"), list).unwrap();
    for index in ["index", "alone"] {
        let args = [
            "index",
            "create",
            "--index",
            index,
            "--index-config",
            "logs.yaml",
        ];
        run(path, &args, 0);
    }
    folder
}

/// Builds one part; returns the output.
fn build(folder: &Path, part: &str, receipt: &str) -> String {
    let args = [
        "split",
        "build",
        "--index",
        "index",
        "--input",
        "@list",
        "--part",
        part,
        "--receipt",
        receipt,
        "--split-num-docs",
        "30",
        "--rejects",
        "bad",
    ];
    run(folder, &args, 0).1
}

fn publish(folder: &Path, receipts: &[&str], code: i32) -> (String, String) {
    let args = [
        &["split", "publish", "--index", "index", "--format", "json"],
        receipts,
    ]
    .concat();
    run(folder, &args, code)
}

fn search(folder: &Path, index: &str) -> Value {
    let aggs = r#"{"t": {"terms": {"field": "tenant_id"}}}"#;
    let args = [
        "search",
        "--index",
        index,
        "--query",
        "body:beat",
        "--max-hits",
        "300",
        "--aggs",
        aggs,
        "--format",
        "json",
    ];
    let answer: Value = serde_json::from_str(&run(folder, &args, 0).0).unwrap();
    json!([answer["num_hits"], answer["hits"], answer["aggregations"]])
}

#[test]
fn parts_are_one_publication_and_count_once() {
    let folder = new_index();
    let folder = folder.path();
    let said = build(folder, "0/2", "a.json");
    assert!(
        said.contains("part 0 of 2: 3 inputs became 120 documents in 4 splits; 3 lines rejected"),
        "{said}"
    );
    build(folder, "1/2", "b.json");
    // A machine was slow, and another one built its part too.
    build(folder, "1/2", "again.json");
    assert_eq!(search(folder, "index")[0], 0, "nothing is published yet");

    let (report, _) = publish(folder, &["a.json", "b.json", "again.json"], 0);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["num_ingested_docs"], 200);
    assert_eq!(report["num_published_splits"], 7);
    assert_eq!(report["num_known_splits"], 3);
    let (again, _) = publish(folder, &["b.json", "a.json"], 0);
    let again: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(
        (&again["num_ingested_docs"], &again["num_known_docs"]),
        (&json!(0), &json!(200))
    );

    let mut ingest = vec!["index", "ingest", "--index", "alone", "--rejects", "bad"];
    let inputs: Vec<String> = (0..INPUTS).map(|input| format!("{input}.ndjson")).collect();
    inputs
        .iter()
        .for_each(|input| ingest.extend(["--input", input]));
    run(folder, &ingest, 0);
    assert_eq!(search(folder, "index"), search(folder, "alone"));
}

#[test]
fn what_is_no_receipt_of_this_index_is_refused() {
    let folder = new_index();
    let folder = folder.path();
    build(folder, "0/1", "a.json");
    for (text, part) in [
        ("{}", "no receipt"),
        (r#"{"version": 7}"#, "no receipt"),
        ("", "no receipt to publish"),
    ] {
        fs::write(folder.join("wrong.json"), text).unwrap();
        let code = if text.is_empty() { 2 } else { 1 };
        let (_, said) = publish(folder, &["wrong.json"], code);
        assert!(said.contains(part), "{text}: {said}");
    }
    let receipt = fs::read_to_string(folder.join("a.json")).unwrap();
    let later = receipt.replacen("\"version\":1", "\"version\":2", 1);
    fs::write(folder.join("later.json"), later).unwrap();
    let (_, said) = publish(folder, &["later.json"], 1);
    assert!(said.contains("build the part again"), "{said}");
    // A missing object is not published.
    for split in fs::read_dir(folder.join("index/splits")).unwrap() {
        fs::remove_file(split.unwrap().path()).unwrap();
    }
    publish(folder, &["a.json"], 1);
    assert_eq!(search(folder, "index")[0], 0);
}

#[test]
fn a_part_of_nothing_is_refused_and_a_part_without_inputs_is_none() {
    let folder = new_index();
    let folder = folder.path();
    let args = ["split", "build", "--index", "index", "--part", "1/2"];
    assert!(run(folder, &args, 2).1.contains("--input"));
    let said = build(folder, "7/9", "none.json");
    assert!(
        said.contains("part 7 of 9: 0 inputs became 0 documents"),
        "{said}"
    );
    publish(folder, &["none.json"], 0);
}
