//! `canter search --patterns`: the statements that wrote messages, and which of them are new.

use std::fs;

use serde_json::Value;

use crate::support::{canter, run, texts};

/// Writes messages of three statements, one of which begins at noon, and indexes them.
fn index() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut lines = String::new();
    for minute in 0..60 {
        let line = |hour: u32, message: &str| {
            format!("2026-05-01T{hour:02}:{minute:02}:00.000Z INFO [main] app.Job - {message}\n")
        };
        lines.push_str(&line(
            10,
            &format!("job {minute} done in {} ms", minute * 7),
        ));
        if minute < 20 {
            lines.push_str(&line(11, &format!("user u{minute} logged in")));
        }
        if minute < 5 {
            lines.push_str(&line(
                12,
                &format!("disk sd{minute} failed after 3 retries"),
            ));
        }
    }
    let mut lines: Vec<&str> = lines.lines().collect();
    lines.sort_unstable();
    fs::write(folder.path().join("app.log"), lines.join("\n") + "\n").unwrap();
    let ingest = ["index", "ingest", "--index", "ix", "--input", "app.log"];
    run(folder.path(), &ingest, 0);
    folder
}

fn patterns(args: &[&str]) -> Vec<(u64, String, Option<u64>)> {
    let folder = index();
    let mut all = vec!["search", "--engine", "native", "--index", "ix"];
    all.extend(args);
    all.extend(["--format", "json"]);
    let output = canter(folder.path(), &all).output().unwrap();
    let (stdout, _) = texts(&all, &output, 0);
    let answer: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(answer["hits"].as_array().map(Vec::len), Some(0), "{answer}");
    let buckets = answer["aggregations"]["patterns"]["buckets"].as_array();
    let buckets = buckets.unwrap().iter().map(|bucket| {
        let pattern = bucket["pattern"].as_str().unwrap().to_owned();
        let count = bucket["doc_count"].as_u64().unwrap();
        (count, pattern, bucket["before"]["doc_count"].as_u64())
    });
    buckets.collect()
}

#[test]
fn messages_are_shown_by_their_statements() {
    let is = |found: &[(u64, String, Option<u64>)], expect: &[(u64, &str, Option<u64>)]| {
        let found = found.iter();
        let found = found.map(|(count, text, before)| (*count, text.as_str(), *before));
        assert_eq!(found.collect::<Vec<_>>(), expect);
    };
    let all = [
        (60, "job <*> done in <*>", None),
        (20, "user <*> logged in", None),
        (5, "disk <*> failed after <*> retries", None),
    ];
    is(&patterns(&["*", "--patterns=message"]), &all);
    is(&patterns(&["user", "--patterns=message"]), &all[1..2]);
    is(
        &patterns(&["*", "--patterns=message", "--max-hits", "1"]),
        &all[..1],
    );
    let since = [
        "*",
        "--patterns=message",
        "--new-since",
        "2026-05-01T11:10:00Z",
    ];
    let news = [
        (60, "job <*> done in <*>", Some(60)),
        (20, "user <*> logged in", Some(10)),
        (5, "disk <*> failed after <*> retries", Some(0)),
    ];
    is(&patterns(&since), &news);
}

#[test]
fn a_table_says_how_many_and_what_is_new() {
    let folder = index();
    let search = |more: &[&str]| {
        let mut all = vec!["search", "--engine", "native", "--index", "ix", "*"];
        all.extend(more);
        all.extend(["--format", "table"]);
        run(folder.path(), &all, 0).0
    };
    // The field that queries search by default.
    let table = search(&["--patterns"]);
    assert!(table.contains("job <*> done in <*>"), "{table}");
    assert!(table.contains("85 documents"), "{table}");
    let table = search(&["--patterns=message", "--new-since", "2026-05-01T12:00:00Z"]);
    let new = table.lines().filter(|line| line.contains("  new  "));
    let new: Vec<&str> = new.collect();
    assert!(
        matches!(new[..], [line] if line.contains("disk <*> failed")),
        "{table}"
    );
}
