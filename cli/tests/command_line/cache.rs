//! Searches with a cache.

use std::fs;
use std::path::{Path, PathBuf};

use canter_samples::{Corpus, HdfsLogs};
use serde_json::Value;

use crate::support::{NUM_DOCS, canter, indexed, run, search, texts};

const QUERY: [&str; 6] = [
    "--query",
    "body:block",
    "--max-hits",
    "5",
    "--sort-by",
    "_score",
];

fn cached(folder: &Path, args: &[&str]) -> Value {
    let cache = [&QUERY[..], &["--cache", "cache", "--profile"], args].concat();
    search(folder, &cache)
}

fn num_requests(answer: &Value) -> u64 {
    answer["profile"]["num_requests"].as_u64().unwrap()
}

/// Returns the sum of a count over all classes of a layer.
fn sum(answer: &Value, layer: &str, key: &str) -> u64 {
    let classes = answer["profile"]["cache"][layer].as_object().unwrap();
    classes
        .values()
        .map(|stats| stats[key].as_u64().unwrap())
        .sum()
}

/// Returns every file below `folder`.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(files_in(&path)),
            false => files.push(path),
        }
    }
    files
}

#[test]
fn a_second_search_asks_only_for_the_manifest() {
    let folder = indexed();
    let folder = folder.path();
    let cold = cached(folder, &[]);
    assert!(num_requests(&cold) > 2, "{cold}");
    assert!(sum(&cold, "disk", "num_put_bytes") > 0, "{cold}");
    let warm = cached(folder, &[]);
    assert_eq!(warm["hits"], cold["hits"]);
    assert_eq!(num_requests(&warm), 1, "{warm}");
    assert_eq!(
        warm["profile"]["waves"][0]["requests"][0]["object"],
        "manifest.canter"
    );
    assert!(sum(&warm, "disk", "num_hits") > 0, "{warm}");

    let trusting = cached(folder, &["--manifest-ttl", "1h"]);
    assert_eq!(trusting["hits"], cold["hits"]);
    assert_eq!(num_requests(&trusting), 0, "{trusting}");
    let without = cached(folder, &["--no-cache"]);
    assert_eq!(num_requests(&without), num_requests(&cold));
    assert_eq!(without["profile"]["cache"], Value::Null);
}

#[test]
fn the_environment_may_name_the_cache() {
    let folder = indexed();
    let folder = folder.path();
    cached(folder, &[]);
    let args = [
        &[
            "search",
            "--index",
            "index",
            "--engine",
            "native",
            "--profile",
        ],
        &QUERY[..],
    ]
    .concat();
    for (cache, expect) in [("cache", true), ("", false)] {
        let mut command = canter(folder, &args);
        let output = command.env("CANTER_CACHE", cache).output().unwrap();
        let (stdout, _) = texts(&args, &output, 0);
        let answer: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(num_requests(&answer) == 1, expect, "{cache}: {answer}");
    }
}

#[test]
fn a_damaged_cache_changes_no_answer_and_is_counted() {
    let folder = indexed();
    let folder = folder.path();
    let cold = cached(folder, &[]);
    let files = files_in(&folder.join("cache"));
    for path in &files {
        let mut bytes = fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x10;
        fs::write(path, bytes).unwrap();
    }
    let damaged = cached(folder, &[]);
    assert_eq!(damaged["hits"], cold["hits"]);
    assert_eq!(damaged["failed_splits"], cold["failed_splits"]);
    let num_corrupt = sum(&damaged, "disk", "num_corrupt");
    assert!(
        num_corrupt > 0 && num_corrupt <= files.len() as u64,
        "{damaged}"
    );
    let healed = cached(folder, &[]);
    assert_eq!(healed["hits"], cold["hits"]);
    assert_eq!(sum(&healed, "disk", "num_corrupt"), 0, "{healed}");
    assert_eq!(num_requests(&healed), 1, "{healed}");
}

#[test]
fn indexes_of_the_same_short_name_do_not_share_a_manifest() {
    let (one, other) = (indexed(), indexed());
    let cache = one.path().join("cache");
    let lines = other.path().join("more.ndjson");
    HdfsLogs::new(10, 9)
        .write_to(&mut fs::File::create(&lines).unwrap())
        .unwrap();
    let ingest = [
        "index",
        "ingest",
        "--index",
        "index",
        "--input",
        "more.ndjson",
    ];
    run(other.path(), &ingest, 0);
    for (folder, num_docs) in [(&one, NUM_DOCS), (&other, NUM_DOCS + 10)] {
        let cache = cache.to_str().unwrap();
        let args = [
            "--query",
            "*",
            "--max-hits",
            "0",
            "--manifest-ttl",
            "1h",
            "--cache",
            cache,
        ];
        assert_eq!(search(folder.path(), &args)["num_hits"], num_docs);
    }
}

#[test]
fn a_stale_manifest_is_asked_about_behind_the_answer() {
    let folder = indexed();
    let folder = folder.path();
    let args = [
        "--query",
        "*",
        "--max-hits",
        "0",
        "--cache",
        "cache",
        "--stale-while-revalidate",
        "1h",
    ];
    let num_hits = || search(folder, &args)["num_hits"].as_u64().unwrap();
    assert_eq!(num_hits(), NUM_DOCS);
    let lines = folder.join("more.ndjson");
    HdfsLogs::new(10, 9)
        .write_to(&mut fs::File::create(&lines).unwrap())
        .unwrap();
    run(
        folder,
        &[
            "index",
            "ingest",
            "--index",
            "index",
            "--input",
            "more.ndjson",
        ],
        0,
    );
    assert_eq!(num_hits(), NUM_DOCS, "from the manifest that was cached");
    assert_eq!(
        num_hits(),
        NUM_DOCS + 10,
        "from the one that was fetched behind it"
    );
}

#[test]
fn a_cache_that_cannot_be_is_refused() {
    let folder = indexed();
    let folder = folder.path();
    let check = |args: &[&str], message: &str| {
        let args = [
            &["search", "--index", "index", "--engine", "native"],
            &QUERY[..],
            args,
        ];
        let (_, stderr) = run(folder, &args.concat(), 2);
        assert!(stderr.contains(message), "{stderr}");
    };
    check(
        &["--cache", "cache", "--cache-bytes", "1MB"],
        "--cache-bytes",
    );
    check(&["--cache", "cache", "--cache-bytes", "lots"], "4GB");
    check(&["--cache", "logs.yaml"], "logs.yaml");
}

#[test]
fn the_table_says_what_the_cache_answered() {
    let folder = indexed();
    let args = [
        &[
            "search", "--index", "index", "--engine", "native", "--format", "table",
        ],
        &QUERY[..],
        &["--cache", "cache"],
    ]
    .concat();
    let (cold, _) = run(folder.path(), &args, 0);
    assert!(cold.contains("cache: 0 of "), "{cold}");
    let (warm, _) = run(folder.path(), &args, 0);
    assert!(
        warm.contains("cache: ") && !warm.contains("cache: 0 of "),
        "{warm}"
    );
}

#[test]
fn a_cache_folder_can_be_looked_into_and_emptied() {
    let folder = indexed();
    let folder = folder.path();
    cached(folder, &[]);
    let stats = || -> Value {
        let (stdout, _) = run(folder, &["cache", "stats", "cache"], 0);
        serde_json::from_str(&stdout).unwrap()
    };
    let held = stats();
    let num_files = files_in(&folder.join("cache")).len();
    assert_eq!(held["num_files"], num_files);
    assert_eq!(held["classes"]["manifest"]["num_files"], 1);
    let table = ["cache", "stats", "cache", "--format", "table"];
    let (stdout, _) = run(folder, &table, 0);
    assert!(
        stdout.contains("manifest") && stdout.contains("together"),
        "{stdout}"
    );

    let (stdout, _) = run(folder, &["cache", "clear", "cache"], 0);
    assert!(
        stdout.starts_with(&format!("removed {num_files} files")),
        "{stdout}"
    );
    assert_eq!(stats()["num_bytes"], 0);
    assert!(num_requests(&cached(folder, &[])) > 2);
    for args in [["cache", "stats", "index"], ["cache", "clear", "nowhere"]] {
        let (_, stderr) = run(folder, &args, 2);
        assert!(stderr.contains("no cache is in"), "{stderr}");
        assert!(!folder.join("index/canter-cache-v1").exists());
    }
}
