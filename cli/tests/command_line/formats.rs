//! Formats and presets from the command line: one command from a file to a search.

use std::path::Path;

use canter_formats::Format;
use canter_formats::presets::PRESETS;
use canter_formats::samples::sample;
use canter_index_builder::IndexStore;
use serde_json::Value;

use crate::support::{run, search};

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    std::fs::write(folder.join(name), bytes).unwrap();
}

#[test]
fn one_command_makes_an_index_of_a_log_and_the_first_search_needs_no_options() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(
        folder,
        "access.log",
        sample(Format::AccessLog, 200, 1).bytes,
    );
    let args = [
        "index",
        "ingest",
        "--index",
        "index",
        "--preset",
        "access-log",
        "--input",
        "access.log",
    ];
    let (stdout, stderr) = run(folder, &args, 0);
    assert!(stderr.contains("created index `access-log`"), "{stderr}");
    assert!(stdout.contains("1 input, read as access-log"), "{stdout}");
    assert!(stdout.contains("lines read: 200 + 0 = 200"), "{stdout}");
    let answer = search(folder, &["--query", "chrome AND status:200"]);
    assert!(answer["num_hits"].as_u64().unwrap() > 0);
}

#[test]
fn the_report_says_what_times_leave_open() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let lines = "2024-05-01 10:00:00 INFO one\n\tof two lines\n2024-05-01 10:00:01 WARN two\n";
    write(folder, "app.log", lines);
    let ingest = |zone: &str, code: i32| {
        let args = [
            "index",
            "ingest",
            "--index",
            "index",
            "--preset",
            "log",
            "--input",
            "app.log",
            "--time-zone",
            zone,
        ];
        run(folder, &args, code)
    };
    let (_, stderr) = ingest("Europe/Berlin", 2);
    assert!(
        stderr.contains("write an offset such as +02:00"),
        "{stderr}"
    );
    let (stdout, _) = ingest("+02:00", 0);
    assert!(stdout.contains("lines read: 2 + 0 = 2"), "{stdout}");
    assert!(stdout.contains("1 input, read as log\n"), "{stdout}");
    assert!(
        stdout.contains("app.log: its times name no zone: +02:00\n"),
        "{stdout}"
    );
    let answer = search(
        folder,
        &[
            "--query",
            "timestamp:\"2024-05-01T08:00:00Z\" AND level:INFO AND lines",
        ],
    );
    assert_eq!(answer["num_hits"], 1);
}

#[test]
fn presets_are_listed_printed_and_made() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (stdout, _) = run(folder, &["presets"], 0);
    for preset in &PRESETS {
        assert!(
            stdout.contains(preset.name) && stdout.contains(preset.about),
            "{stdout}"
        );
        let (yaml, _) = run(folder, &["presets", preset.name], 0);
        assert_eq!(yaml, preset.yaml);
        let uri = format!("index-{}", preset.name);
        let args = ["index", "create", "--index", &uri, "--preset", preset.name];
        run(folder, &args, 0);
        let store = IndexStore::open(folder.join(&uri).to_str().unwrap()).unwrap();
        assert_eq!(store.describe().unwrap().index_id, preset.name);
    }
    let (_, stderr) = run(folder, &["presets", "nothing"], 2);
    assert!(
        stderr.contains("no preset \"nothing\"; there are access-log, alb"),
        "{stderr}"
    );
}

#[test]
fn a_dry_run_shows_fields_and_rejects_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let log =
        "10.0.0.1 - - [17/May/2015:10:05:03 +0000] \"GET /a HTTP/1.1\" 200 12\nnot a line of it\n";
    write(folder, "access.log", log);
    let args = [
        "index",
        "ingest",
        "--index",
        "index",
        "--preset",
        "access-log",
        "--input",
        "access.log",
        "--dry-run",
        "20",
    ];
    let (stdout, _) = run(folder, &args, 0);
    let expect =
        "access.log: access-log; of the first 2 records, 1 would be documents, 1 rejected\n";
    assert!(stdout.starts_with(expect), "{stdout}");
    for part in [
        "line 1, byte 0: 10.0.0.1 - - [17/May/2015",
        "timestamp  datetime  2015-05-17T10:05:03Z",
        "client_ip  ip        10.0.0.1",
        "status     u64       200",
        "line 2, byte 67: not a line of it",
        "rejected, wrong_format: ",
    ] {
        assert!(stdout.contains(part), "{part}\n{stdout}");
    }
    assert!(!folder.join("index").exists());
    assert!(!folder.join("canter.rejects.ndjson").exists());
}

#[test]
fn what_is_suggested_for_a_file_takes_it_whole() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "app.csv", sample(Format::Csv, 300, 1).bytes);
    let (yaml, stderr) = run(
        folder,
        &[
            "index",
            "suggest",
            "--input",
            "app.csv",
            "--index-id",
            "app",
        ],
        0,
    );
    assert_eq!(stderr, "");
    assert!(yaml.contains("which is csv"), "{yaml}");
    write(folder, "app.yaml", &yaml);
    let args = [
        "index",
        "ingest",
        "--index",
        "index",
        "--index-config",
        "app.yaml",
        "--input",
        "app.csv",
    ];
    let (stdout, _) = run(folder, &args, 0);
    assert!(stdout.contains("lines read: 300 + 0 = 300"), "{stdout}");
    assert_eq!(search(folder, &["--query", "id:17"])["num_hits"], 1);
}

#[test]
fn rejects_say_where_they_were_and_kept_records_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "a.csv", "n,text\n1,a\n2\n3,b\n");
    let config = |on_error: &str| {
        format!(
            "{{version: 0.8, index_id: abc, doc_mapping: {{field_mappings: [{{name: n, type: u64}}]}}, \
             ingest_settings: {{on_error: {on_error}}}}}"
        )
    };
    for (on_error, expect) in [("rejects", "2 + 1 = 3"), ("keep", "3 + 0 = 3")] {
        write(folder, "config.yaml", config(on_error));
        let args = [
            "index",
            "ingest",
            "--index",
            on_error,
            "--index-config",
            "config.yaml",
            "--input",
            "a.csv",
        ];
        let (stdout, _) = run(folder, &args, 0);
        assert!(stdout.contains(expect), "{stdout}");
        if on_error == "keep" {
            assert!(
                stdout.contains("1 of the documents are only kept"),
                "{stdout}"
            );
            assert!(stdout.contains("wrong_number_of_values: 1"), "{stdout}");
        }
    }
    let rejects = std::fs::read_to_string(folder.join("canter.rejects.ndjson")).unwrap();
    let reject: Value = serde_json::from_str(&rejects).unwrap();
    assert_eq!(
        (&reject["line"], &reject["byte_offset"]),
        (&3.into(), &11.into())
    );
    assert_eq!(
        (&reject["reason"], &reject["document"]),
        (&"wrong_number_of_values".into(), &"2".into())
    );
}

#[test]
fn a_format_that_is_named_wrongly_or_a_rule_that_is_none_is_wrong_use() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "a.json", "[{\"a\":1}]");
    let base = [
        "index", "ingest", "--index", "index", "--preset", "any", "--input", "a.json",
    ];
    for (more, expect) in [
        (
            ["--input-format", "yaml"],
            "no format \"yaml\"; there are ndjson",
        ),
        (
            ["--multiline-start", "("],
            "multiline_start is no regular expression",
        ),
        (
            ["--multiline-start", "^A"],
            "`a.json` is json-array, where a line is no record",
        ),
    ] {
        let (_, stderr) = run(folder, &[&base[..], &more[..]].concat(), 2);
        assert!(stderr.contains(expect), "{stderr}");
    }
}
