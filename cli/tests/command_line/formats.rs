//! Formats and presets from the command line: one command from a file to a search.

use std::path::Path;

use canter_formats::Format;
use canter_formats::presets::PRESETS;
use canter_index_builder::IndexStore;
use canter_samples::sample;
use serde_json::Value;

use crate::support::{run, search, tar};

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
    let (_, stderr) = ingest("Europe/Olympus", 2);
    assert!(stderr.contains("Europe/Berlin"), "{stderr}");
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

/// Ingests standard input or a file; returns the output before the report, and the report.
fn ingest_into(
    folder: &Path,
    index: &str,
    input: &str,
    more: &[&str],
    code: i32,
) -> (String, String) {
    let args = ["index", "ingest", "--index", index, "--input", input];
    run(folder, &[&args[..], more].concat(), code)
}

#[test]
fn a_preset_on_a_foreign_layout_is_refused_with_the_one_that_fits() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line = "2015-05-13T23:39:43.945958Z my-elb 192.168.131.39:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 \
                \"GET http://www.example.com:80/ HTTP/1.1\" \"curl/7.38.0\" - -\n";
    write(folder, "elb.log", line.repeat(8));
    let (stdout, stderr) = ingest_into(folder, "index", "elb.log", &["--preset", "alb"], 2);
    assert_eq!(stdout, "");
    assert!(stderr.contains("`--preset log` fits it"), "{stderr}");
    let (stdout, _) = ingest_into(folder, "other", "elb.log", &["--preset", "log"], 0);
    assert!(stdout.contains("lines read: 8 + 0 = 8"), "{stdout}");
}

#[test]
fn tables_are_read_with_the_delimiter_that_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "a.txt", "id:name\n1:a,b\n2:c\n");
    let more = ["--preset", "any", "--delimiter", ":"];
    let (stdout, _) = ingest_into(folder, "index", "a.txt", &more, 0);
    assert!(stdout.contains("1 input, read as csv"), "{stdout}");
    assert_eq!(search(folder, &["--query", "id:2"])["num_hits"], 1);
    let more = ["--preset", "any", "--delimiter", "::"];
    let (_, stderr) = ingest_into(folder, "index", "a.txt", &more, 2);
    assert!(stderr.contains("one character of ASCII"), "{stderr}");
}

#[test]
fn what_is_no_log_is_named_and_leaves_no_documents() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(
        folder,
        "a.log",
        [&b"\x89PNG\r\n\x1a\n"[..], &[0; 200]].concat(),
    );
    write(
        folder,
        "b.log",
        [&b"\x04\x22\x4d\x18"[..], &[7; 200]].concat(),
    );
    for (input, name) in [("a.log", "PNG"), ("b.log", "lz4")] {
        for command in ["ingest", "suggest"] {
            let (_, stderr) = match command {
                "ingest" => ingest_into(folder, "index", input, &["--preset", "any"], 2),
                _ => run(folder, &["index", "suggest", "--input", input], 2),
            };
            assert!(stderr.contains(name), "{command}: {stderr}");
            assert!(!stderr.contains("invalid_utf8"), "{stderr}");
        }
    }
}

#[test]
fn text_of_windows_is_read_from_a_file_and_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let text = "\u{feff}2024-05-01 10:00:00 INFO größer\r\n2024-05-01 10:00:01 WARN kleiner\r\n";
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    write(folder, "a.log", &bytes);
    let (stdout, _) = ingest_into(folder, "index", "a.log", &["--preset", "log"], 0);
    assert!(stdout.contains("lines read: 2 + 0 = 2"), "{stdout}");
    assert_eq!(
        search(folder, &["--query", "größer AND level:INFO"])["num_hits"],
        1
    );
    let mut suggest = crate::support::canter(folder, &["index", "suggest", "--input", "-"]);
    let suggest = suggest.stdin(std::fs::File::open(folder.join("a.log")).unwrap());
    let output = suggest.output().unwrap();
    let yaml = String::from_utf8(output.stdout).unwrap();
    assert!(yaml.contains("which is log"), "{yaml}");
}

#[test]
fn a_folder_is_read_with_its_archives_and_without_what_is_no_log() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::create_dir(folder.join("logs")).unwrap();
    write(folder, "logs/a.log", "2024-05-01 10:00:00 INFO outside\n");
    write(
        folder,
        "logs/b.log",
        [&b"\x89PNG\r\n\x1a\n"[..], &[0; 200]].concat(),
    );
    write(
        folder,
        "logs/c.tar",
        tar("app/old.log", "2024-05-01 10:00:01 WARN archived\n"),
    );
    let (stdout, stderr) = ingest_into(folder, "index", "logs", &["--preset", "log"], 0);
    assert!(stdout.contains("lines read: 2 + 0 = 2"), "{stdout}");
    assert!(
        format!("{stdout}{stderr}").contains("PNG"),
        "{stdout}{stderr}"
    );
    assert_eq!(
        search(folder, &["--query", "archived AND level:WARN"])["num_hits"],
        1
    );
    // Repeating it adds nothing.
    let (stdout, _) = ingest_into(folder, "index", "logs", &[], 0);
    assert!(!stdout.contains("2 + 0 = 2 new"), "{stdout}");
    assert_eq!(search(folder, &["--query", "*"])["num_hits"], 2);
    // There is nothing else.
    std::fs::remove_file(folder.join("logs/a.log")).unwrap();
    std::fs::remove_file(folder.join("logs/c.tar")).unwrap();
    let (_, stderr) = ingest_into(folder, "other", "logs", &["--preset", "log"], 2);
    assert!(stderr.contains("PNG"), "{stderr}");
}
