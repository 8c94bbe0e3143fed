//! Answers that a limit cut short.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{NUM_DOCS, indexed, run, splits_of};

const SEARCH: [&str; 9] = [
    "search",
    "--index",
    "index",
    "--engine",
    "native",
    "--query",
    "*",
    "--max-hits",
    "0",
];
/// An aggregation that no head answers: the column of each split is read.
const TENANTS: [&str; 2] = ["--aggs", r#"{"t":{"terms":{"field":"tenant_id"}}}"#];

fn search(folder: &Path, args: &[&str], code: i32) -> (Value, String) {
    let args = [&SEARCH[..], &TENANTS[..], args].concat();
    let (stdout, stderr) = run(folder, &args, code);
    (serde_json::from_str(&stdout).unwrap(), stderr)
}

fn skipped(answer: &Value) -> Vec<&str> {
    let splits = answer["skipped_splits"].as_array().unwrap();
    splits
        .iter()
        .map(|split| split["split_id"].as_str().unwrap())
        .collect()
}

#[test]
fn a_budget_gives_a_part_of_the_answer_and_names_the_rest() {
    let folder = indexed();
    let folder = folder.path();
    let (whole, stderr) = search(folder, &[], 0);
    assert_eq!(whole["skipped_splits"], json!([]));
    assert_eq!(whole["budget_exhausted"], Value::Null);
    assert_eq!(whole["timed_out"], false);
    assert_eq!(stderr, "");

    // The manifest, and the column of one of the two splits.
    let (part, stderr) = search(folder, &["--max-requests", "2"], 0);
    assert_eq!(part["budget_exhausted"], "max_requests");
    assert_eq!(part["num_hits"], NUM_DOCS / 2);
    assert_eq!(part["failed_splits"], json!([]));
    assert_eq!(skipped(&part).len(), 1);
    assert_eq!(part["skipped_splits"][0]["kind"], "limit");
    for expect in [
        "max_requests was reached",
        "--max-requests",
        skipped(&part)[0],
    ] {
        assert!(stderr.contains(expect), "{expect}: {stderr}");
    }
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
}

#[test]
fn an_answer_from_no_split_is_a_failure() {
    let folder = indexed();
    let folder = folder.path();
    let ids: BTreeSet<String> = splits_of(folder)
        .iter()
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    for (flag, value) in [("--max-requests", "1"), ("--max-waves", "1")] {
        let (answer, stderr) = search(folder, &[flag, value], 1);
        assert_eq!(answer["num_hits"], 0);
        let found: BTreeSet<String> = skipped(&answer).into_iter().map(str::to_owned).collect();
        assert_eq!(found, ids, "{flag}");
        assert!(stderr.contains(flag), "{stderr}");
        assert!(stderr.contains("no split could be searched"), "{stderr}");
    }
    // Not even the manifest.
    let args = [&SEARCH[..], &["--max-requests", "0"]].concat();
    let (stdout, stderr) = run(folder, &args, 1);
    assert_eq!(stdout, "");
    assert!(stderr.contains("max_requests of 0"), "{stderr}");
}
