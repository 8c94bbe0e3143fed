//! An index that is filled in small pieces, maintained with `index merge`, `index gc` and `index verify`.

use std::path::Path;

use canter_samples::{Corpus, HDFS_LOGS_YAML, HdfsLogs};
use serde_json::Value;
use tempfile::TempDir;

use crate::support;

fn run(folder: &Path, line: &str, code: i32) -> (String, String) {
    let args: Vec<&str> = line.split(' ').collect();
    support::run(folder, &args, code)
}

/// Returns an index filled by twelve ingests.
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

    // They stay for an hour, unless the command says that no search is running.
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

#[test]
fn an_index_gets_a_field_and_what_cannot_be_is_refused() {
    let folder = fed();
    let folder = folder.path();
    let update = "index update --index live --index-config new.yaml";
    let old = std::fs::read_to_string(folder.join("logs.yaml")).unwrap();
    let list = "\n  field_mappings:\n";
    let field = format!("{list}    - name: team\n      type: text\n      fast: true\n");
    let new = old.replace(list, &field);
    std::fs::write(folder.join("new.yaml"), &new).unwrap();
    let (stdout, _) = run(folder, &format!("{update} --dry-run"), 0);
    let line = "  doc_mapping.field_mappings.team: nothing → a field of type text\n";
    assert!(
        stdout.starts_with("would change at ") && stdout.contains(line),
        "{stdout}"
    );
    let (stdout, _) = run(folder, update, 0);
    assert!(
        stdout.starts_with("changed at ") && stdout.contains("note: "),
        "{stdout}"
    );
    let (stdout, _) = run(folder, update, 0);
    assert!(stdout.starts_with("nothing to change: "), "{stdout}");
    let found = json(
        folder,
        "search --index live --query team:* --engine native",
        0,
    );
    assert_eq!(
        (&found["num_hits"], &found["errors"]),
        (&0.into(), &Value::Array(vec![]))
    );

    let other = new.replace("type: text\n      fast: true", "type: u64");
    std::fs::write(folder.join("new.yaml"), other).unwrap();
    let (_, stderr) = run(folder, update, 2);
    let refusal =
        "doc_mapping.field_mappings.team.type was \"text\", and \"u64\" is asked for: leave it";
    assert!(stderr.contains(refusal), "{stderr}");
    let (_, stderr) = run(
        folder,
        "index ingest --index live --index-config logs.yaml --input 0.ndjson",
        2,
    );
    assert!(stderr.contains("canter index update"), "{stderr}");
}

#[test]
fn an_ingest_merges_a_little_and_fails_for_no_merge() {
    let folder = fed();
    let folder = folder.path();
    let ingest = "index ingest --index live --input 0.ndjson";
    let report = json(
        folder,
        &format!("{ingest} --merge --max-merge-bytes 1000"),
        0,
    );
    assert_eq!(report["merge"]["done"]["num_splits"], 12);
    let report = json(folder, &format!("{ingest} --merge"), 0);
    assert_eq!(report["merge"]["done"]["num_splits"], 1, "{report}");
    assert_eq!(report["num_known_docs"], 50);
    let (stdout, _) = run(folder, &format!("{ingest} --merge"), 0);
    assert!(stdout.ends_with("no merge is due\n"), "{stdout}");
}

#[test]
fn a_merge_that_fails_behind_an_ingest_is_told() {
    let folder = fed();
    let folder = folder.path();
    for split in std::fs::read_dir(folder.join("live/splits")).unwrap() {
        let path = split.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(path, bytes).unwrap();
    }
    let lines = std::fs::read_to_string(folder.join("0.ndjson")).unwrap();
    std::fs::write(folder.join("new.ndjson"), lines).unwrap();
    let line = "index ingest --index live --input new.ndjson --merge";
    let (stdout, stderr) = run(folder, line, 0);
    assert!(stdout.contains("published to"), "{stdout}");
    assert!(
        stderr.contains("the documents are published, but"),
        "{stderr}"
    );
}

#[test]
fn sources_are_known_until_they_are_forgotten() {
    let folder = fed();
    let folder = folder.path();
    let ingest = "index ingest --index live --input 3.ndjson --split-num-docs 7";
    assert_eq!(json(folder, ingest, 0)["num_ingested_docs"], 0);
    let forget = "index gc --index live --forget-sources-before";
    assert_eq!(
        json(folder, &format!("{forget} 2020-01-01"), 0)["num_forgotten_sources"],
        0
    );
    let (stdout, _) = run(folder, &format!("{forget} 2099-01-01 --dry-run"), 0);
    assert!(
        stdout.starts_with("would be forgotten: 12 sources\n"),
        "{stdout}"
    );
    assert_eq!(json(folder, ingest, 0)["num_ingested_docs"], 0);
    let (stdout, _) = run(folder, &format!("{forget} 2099-01-01"), 0);
    assert!(stdout.starts_with("forgotten: 12 sources\n"), "{stdout}");
    assert_eq!(json(folder, ingest, 0)["num_ingested_docs"], 50);
    run(folder, &format!("{forget} soon"), 2);
}

#[test]
fn a_description_shows_times_and_what_is_to_be_done() {
    let folder = fed();
    let folder = folder.path();
    let report = json(folder, "index describe --index live --garbage", 0);
    assert_eq!(report["due_merges"]["num_splits"], 12);
    assert_eq!(report["garbage"]["num_condemned"], 0);
    assert_eq!(report["cold_query"]["now"]["num_splits"], 12);
    assert_eq!(report["cold_query"]["after_due_merges"]["num_requests"], 2);
    let (stdout, _) = run(folder, "index describe --index live --format table", 0);
    for part in [
        "documents  ",
        "splits     ",
        "1 due, of 12 splits",
        "after the merges that are due",
    ] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
    run(folder, "index merge --index live", 0);
    let report = json(folder, "index describe --index live --garbage", 0);
    assert_eq!(report["due_merges"]["num_merges"], 0);
    assert_eq!(report["garbage"]["num_condemned"], 12);
}

#[test]
fn documents_expire_with_their_splits_or_to_the_second() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let config = "
version: 0.8
index_id: kept
doc_mapping:
  timestamp_field: at
  field_mappings:
    - {name: at, type: datetime, fast: true, input_formats: [unix_timestamp]}
    - {name: days, type: u64, fast: true}
retention: {period: 90 days}
";
    std::fs::write(folder.join("kept.yaml"), config).unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now_s = now.unwrap().as_secs();
    // Two splits: one is older than 90 days as a whole, and one in part, with a day and a half of margin for this test.
    for (name, days) in [("old", 92..=100), ("mixed", 80..=99)] {
        let days = days.filter(|days| *days != 90);
        let line = |days: u64| {
            format!(
                "{{\"at\": {}, \"days\": {days}}}\n",
                now_s - days * 86_400 - 43_200
            )
        };
        let lines: String = days.map(line).collect();
        std::fs::write(folder.join(format!("{name}.ndjson")), lines).unwrap();
        let line =
            format!("index ingest --index kept --index-config kept.yaml --input {name}.ndjson");
        run(folder, &line, 0);
    }
    let num_docs = || json(folder, "index describe --index kept", 0)["num_docs"].clone();
    assert_eq!(num_docs(), 9 + 19);
    let dry = json(
        folder,
        "index gc --index kept --engine native --exact --dry-run",
        0,
    );
    assert_eq!(dry["num_expired_docs"], 9);
    assert_eq!(dry["num_exactly_expired_docs"], 9);
    assert_eq!(num_docs(), 9 + 19);
    run(folder, "index gc --index kept", 0);
    assert_eq!(num_docs(), 19);
    let (stdout, _) = run(folder, "index gc --index kept --engine native --exact", 0);
    assert!(
        stdout.ends_with("deleted from splits with younger ones: 9 documents\n"),
        "{stdout}"
    );
    let (stdout, _) = run(
        folder,
        "search --index kept --engine native --query * --max-hits 0 --aggs {\"d\":{\"max\":{\"field\":\"days\"}}} --format json",
        0,
    );
    let answer: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (&answer["num_hits"], &answer["aggregations"]["d"]["value"]),
        (&10.into(), &89.0.into())
    );
    // Expired sources stay known.
    let again = json(folder, "index ingest --index kept --input mixed.ndjson", 0);
    assert_eq!(again["num_ingested_docs"], 0);
    let again = json(folder, "index gc --index kept --engine native --exact", 0);
    assert_eq!(again["num_exactly_expired_docs"], 0);
    run(folder, "index gc --index kept --exact --no-retention", 2);
}
