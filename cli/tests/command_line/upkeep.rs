//! An index that is fed in small pieces, kept in order with `index merge`, `index gc` and `index verify`.

use std::path::Path;

use canter_index_builder::corpus::{Corpus, HDFS_LOGS_YAML, HdfsLogs};
use serde_json::Value;
use tempfile::TempDir;

use crate::support;

fn run(folder: &Path, line: &str, code: i32) -> (String, String) {
    let args: Vec<&str> = line.split(' ').collect();
    support::run(folder, &args, code)
}

/// An index fed by twelve ingests.
fn fed() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let policy =
        "\nindexing_settings:\n  merge_policy:\n    type: stable_log\n    merge_factor: 10\n";
    let config = format!("{HDFS_LOGS_YAML}{policy}");
    std::fs::write(folder.path().join("logs.yaml"), config).unwrap();
    let mut lines = Vec::new();
    HdfsLogs::new(600, 7).write_to(&mut lines).unwrap();
    let lines: Vec<&[u8]> = lines.split_inclusive(|byte| *byte == b'\n').collect();
    for (ord, piece) in lines.chunks(50).enumerate() {
        std::fs::write(folder.path().join(format!("{ord}.ndjson")), piece.concat()).unwrap();
        let line =
            format!("index ingest --index live --index-config logs.yaml --input {ord}.ndjson");
        run(folder.path(), &line, 0);
    }
    folder
}

fn json(folder: &Path, line: &str, code: i32) -> Value {
    let (stdout, _) = run(folder, &format!("{line} --format json"), code);
    serde_json::from_str(&stdout).unwrap()
}

#[test]
fn small_splits_are_merged_removed_and_checked() {
    let folder = fed();
    let folder = folder.path();
    let search = "search --index live --query severity_text:WARN --max-hits 20 --engine native";
    let before = json(folder, search, 0);

    let (stdout, _) = run(folder, "index merge --index live --dry-run", 0);
    assert!(
        stdout.starts_with("due: 12 splits of 600 documents"),
        "{stdout}"
    );
    let (stdout, stderr) = run(folder, "index merge --index live", 0);
    assert!(
        stderr.contains("merged 12 splits of 600 documents"),
        "{stderr}"
    );
    assert!(stdout.contains("1 split instead of 12"), "{stdout}");
    assert!(stdout.contains("canter index gc --index live"), "{stdout}");
    let (stdout, _) = run(folder, "index merge --index live --dry-run", 0);
    assert_eq!(stdout, "nothing is due: the index has 1 split\n");

    // They stay for an hour, unless somebody says that no search is under way.
    let report = json(folder, "index gc --index live", 0);
    assert_eq!(report["condemned"].as_array().unwrap().len(), 12);
    let (stdout, _) = run(folder, "index gc --index live --grace 0s --dry-run", 0);
    assert!(stdout.contains("would be removed: 12 objects"), "{stdout}");
    let (stdout, _) = run(folder, "index gc --index live --grace 0s", 0);
    assert!(stdout.starts_with("removed: 12 objects"), "{stdout}");
    assert_eq!(
        std::fs::read_dir(folder.join("live/splits"))
            .unwrap()
            .count(),
        1
    );

    let after = json(folder, search, 0);
    assert_eq!(
        (&after["hits"], &after["num_hits"]),
        (&before["hits"], &before["num_hits"])
    );
    let (stdout, _) = run(folder, "index verify --index live", 0);
    assert!(stdout.contains("600 documents in 1 split"), "{stdout}");
    assert!(stdout.ends_with("nothing is wrong\n"), "{stdout}");
    let report = json(folder, "index ingest --index live --input 3.ndjson", 0);
    assert_eq!(
        (&report["num_ingested_docs"], &report["num_known_docs"]),
        (&0.into(), &50.into())
    );
}

#[test]
fn a_damaged_index_is_told() {
    let folder = fed();
    let folder = folder.path();
    let split = std::fs::read_dir(folder.join("live/splits"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let mut bytes = std::fs::read(split.path()).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(split.path(), bytes).unwrap();
    let name = split.file_name().into_string().unwrap();
    let (stdout, stderr) = run(folder, "index verify --index live", 1);
    assert!(
        stdout.contains(&name) && stdout.contains("are damaged"),
        "{stdout}"
    );
    assert!(stderr.contains("1 problem"), "{stderr}");
    run(folder, "index verify --index live --quick", 0);
    let (_, stderr) = run(folder, "index merge --index live", 1);
    assert!(stderr.contains(name.trim_end_matches(".split")), "{stderr}");
    let (_, stderr) = run(folder, "index gc --index nowhere", 2);
    assert!(stderr.contains("nowhere"), "{stderr}");
}
