//! `--transform` on the command line: the output of a program, its errors, and the counts in the report.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{canter, run, search, texts};

const LOG: &str = concat!(
    "{\"at\":\"2024-05-01 12:00\",\"level\":\"info\",\"n\":18446744073709551615}\n",
    "{\"at\":\"2024-05-01 12:01\",\"level\":\"debug\"}\n",
    "{\"at\":\"yesterday\",\"level\":\"info\"}\n",
);
const PROGRAM: &str = "# Levels that nobody looks for.
if .level == \"debug\" { abort \"debug\" }
.at = parse_timestamp!(.at, \"%Y-%m-%d %H:%M\")
.copy = .n
";

fn folder_with(program: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("app.ndjson", LOG);
    write("app.vrl", program);
    folder
}

const INGEST: [&str; 10] = [
    "index",
    "ingest",
    "--index",
    "index",
    "--preset",
    "any",
    "--input",
    "app.ndjson",
    "--transform",
    "app.vrl",
];

#[test]
fn what_a_program_makes_is_shown_and_ingested_and_what_it_drops_is_counted() {
    let folder = folder_with(PROGRAM);
    let folder = folder.path();
    let dry = [&INGEST[..], &["--dry-run", "9"]].concat();
    let (stdout, _) = run(folder, &dry, 0);
    assert!(
        stdout.contains("of the first 3 records, 1 would be documents, 1 rejected, 1 dropped"),
        "{stdout}"
    );
    assert!(stdout.contains("2024-05-01T12:00:00Z"), "{stdout}");
    assert!(stdout.contains("  dropped: debug"), "{stdout}");
    assert!(stdout.contains("rejected, transform_failed: "), "{stdout}");

    let (stdout, _) = run(folder, &INGEST, 0);
    let sum = "ingested + dropped + rejected = lines read: 1 + 1 + 1 = 3";
    assert!(stdout.starts_with(sum), "{stdout}");
    assert!(
        stdout.contains("dropped by the transform: debug: 1"),
        "{stdout}"
    );
    let answer = search(folder, &["--query", "*"]);
    assert_eq!(answer["hits"][0]["copy"], 18_446_744_073_709_551_615_u64);
    assert_eq!(answer["hits"][0]["at"], "2024-05-01T12:00:00Z");
}

#[test]
fn the_zone_of_the_machine_changes_nothing() {
    let splits_in = |zone: &str| {
        let folder = folder_with(PROGRAM);
        let args = [&INGEST[..], &["--format", "json"]].concat();
        let mut command = canter(folder.path(), &args);
        let output = command
            .env("TZ", zone)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let (stdout, _) = texts(&args, &output, 0);
        let report: Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(report["dropped_by_reason"]["debug"], 1);
        let hits = search(folder.path(), &["--query", "*"]);
        hits["hits"].clone()
    };
    let hits = splits_in("UTC");
    assert_eq!(hits[0]["at"], "2024-05-01T12:00:00Z");
    assert_eq!(splits_in("Asia/Tokyo"), hits);
}

#[track_caller]
fn check_refused(program: &str, expect: &[&str]) {
    let folder = folder_with(program);
    let (_, stderr) = run(folder.path(), &INGEST, 2);
    for expect in expect {
        assert!(stderr.contains(expect), "{expect}: {stderr}");
    }
    assert!(!Path::new(folder.path()).join("index").exists());
}

#[test]
fn a_program_that_is_wrong_is_shown_where_and_no_index_is_made() {
    check_refused(
        ".a = 1\n.b = parse_json(.c)\n",
        &["the transform `app.vrl` does not compile", ":2:6", "^^^"],
    );
    check_refused(
        ".a = now()\n",
        &["the function `now` cannot be used in a transform", ":1:6"],
    );
    let folder = folder_with("");
    std::fs::remove_file(folder.path().join("app.vrl")).unwrap();
    let (_, stderr) = run(folder.path(), &INGEST, 2);
    assert!(
        stderr.contains("cannot read the transform `app.vrl`"),
        "{stderr}"
    );
}

#[test]
fn what_the_compiler_warns_of_is_passed_on() {
    let folder = folder_with("upcase(\"a\")\n.b = 1\n");
    let (_, stderr) = run(folder.path(), &INGEST, 0);
    assert!(
        stderr.contains("warning: the transform `app.vrl`"),
        "{stderr}"
    );
    assert!(stderr.contains("unused"), "{stderr}");
}

#[test]
fn a_config_is_suggested_for_what_a_program_makes() {
    let folder = folder_with(". = {\"answer\": 42}");
    let args = [
        "index",
        "suggest",
        "--input",
        "app.ndjson",
        "--transform",
        "app.vrl",
    ];
    let (stdout, _) = run(folder.path(), &args, 0);
    assert!(
        stdout.contains("name: \"answer\"") && !stdout.contains("\"level\""),
        "{stdout}"
    );
}
