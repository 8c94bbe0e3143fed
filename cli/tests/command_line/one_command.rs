//! A log and one command: an index without a config, and a search without an index.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use canter_formats::Format;
use canter_samples::sample;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{canter, run, search, tar, texts};

/// Returns a folder with 120 lines of an access log.
fn access_log() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let bytes = sample(Format::AccessLog, 120, 1).bytes;
    fs::write(folder.path().join("access.log"), bytes).unwrap();
    folder
}

/// Searches inputs, with the kept indexes in the folder `kept`.
fn search_inputs(folder: &Path, args: &[&str]) -> Output {
    let mut all = vec!["search", "--engine", "native", "--input-cache", "kept"];
    all.extend(args);
    canter(folder, &all).output().unwrap()
}

fn answer(output: &Output) -> (Value, String) {
    let (stdout, stderr) = texts(&[], output, 0);
    (serde_json::from_str(&stdout).unwrap(), stderr)
}

fn num_hits(folder: &Path, args: &[&str]) -> (u64, String) {
    let (answer, stderr) = answer(&search_inputs(folder, args));
    (answer["num_hits"].as_u64().unwrap(), stderr)
}

/// Returns the folders of kept indexes.
fn kept(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("kept/input")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// A document of JSON may be longer than a line of text; one that is too long is refused, and never divided.
#[test]
fn a_long_document_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let entry = |n: u64| {
        (
            format!("key{n}"),
            serde_json::json!({"say": format!("{} ", "w".repeat(99)).repeat(1_000)}),
        )
    };
    let doc: Value =
        serde_json::json!({"all": (0..30).map(entry).collect::<serde_json::Map<_, _>>()});
    let pretty = serde_json::to_string_pretty(&doc).unwrap();
    assert!(pretty.len() > 2 << 20);
    fs::write(folder.join("one.json"), pretty).unwrap();
    fs::write(
        folder.join("line.ndjson"),
        format!("{doc}\n{{\"all\": 1}}\n"),
    )
    .unwrap();
    for (name, num_docs) in [("one.json", 1), ("line.ndjson", 2)] {
        let index = format!("index{num_docs}");
        let ingest = [
            "index", "ingest", "--final", "--index", &index, "--input", name,
        ];
        let (stdout, _) = run(folder, &ingest, 0);
        assert!(
            stdout.contains(&format!("lines read: {num_docs} + 0 = {num_docs}")),
            "{stdout}"
        );
        assert!(!stdout.contains("only kept"), "{stdout}");
    }
    let ingest = [
        "index",
        "ingest",
        "--final",
        "--index",
        "short",
        "--input",
        "one.json",
        "--max-line-bytes",
        "64KB",
    ];
    let (_, stderr) = run(folder, &ingest, 2);
    assert!(
        stderr.contains("allow longer ones with --max-line-bytes"),
        "{stderr}"
    );
    assert!(!folder.join("short").exists());
}

#[test]
fn an_ingest_without_an_index_makes_one_that_suits_the_input() {
    let folder = access_log();
    let folder = folder.path();
    let ingest = [
        "index",
        "ingest",
        "--index",
        "index",
        "--input",
        "access.log",
    ];
    let (stdout, stderr) = run(folder, &ingest, 0);
    assert!(stdout.contains("lines read: 120 + 0 = 120"), "{stdout}");
    for said in [
        "new index `index` at index, as 120 documents of the input suggest",
        "format             access-log",
        "time field         timestamp",
        "words are found in request",
        "created index `index` at index",
    ] {
        assert!(stderr.contains(said), "{said}: {stderr}");
    }
    let aggs = r#"{"t": {"date_histogram": {"field": "timestamp", "fixed_interval": "1d"}}}"#;
    let answer = search(folder, &["--query", "status:200", "--aggs", aggs]);
    let hits = answer["num_hits"].as_u64().unwrap();
    let buckets = answer["aggregations"]["t"]["buckets"].as_array().unwrap();
    let counted: u64 = buckets
        .iter()
        .map(|bucket| bucket["doc_count"].as_u64().unwrap())
        .sum();
    assert!(hits > 0 && counted == hits, "{answer}");
    // An existing index keeps its config.
    let (stdout, stderr) = run(folder, &ingest, 0);
    assert!(stdout.contains("120"), "{stdout}");
    assert!(!stderr.contains("new index"), "{stderr}");
    // Standard input is sampled, and read completely.
    let mut piped = canter(folder, &["index", "ingest", "--index", "piped"]);
    let mut piped = piped
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: String = (0..500)
        .map(|n| format!("{{\"n\": {n}, \"msg\": \"a b\"}}\n"))
        .collect();
    let mut stdin = piped.stdin.take().unwrap();
    stdin.write_all(lines.as_bytes()).unwrap();
    drop(stdin);
    let (stdout, stderr) = texts(&[], &piped.wait_with_output().unwrap(), 0);
    assert!(stdout.contains("lines read: 500 + 0 = 500"), "{stdout}");
    assert!(stderr.contains("words are found in msg"), "{stderr}");
}

#[test]
fn an_ingest_that_fails_leaves_no_index_behind() {
    let folder = access_log();
    let folder = folder.path();
    fs::write(folder.join("empty.log"), "").unwrap();
    fs::write(folder.join("bad.ndjson"), "{\"a\": 1}\n{\n").unwrap();
    fs::write(
        folder.join("strict.yaml"),
        "{version: 0.8, index_id: strict}",
    )
    .unwrap();
    let config = ["--index-config", "strict.yaml"];
    let failing: [(&[&str], i32); 5] = [
        (&["--input", "no-such-file"], 2),
        (&["--input", "no-such-file", "--preset", "plain"], 2),
        (&["--input", "empty.log"], 2),
        (&["--input", "access.log", "--input", "access.log"], 2),
        (
            &[
                "--input",
                "bad.ndjson",
                "--max-rejects",
                "0",
                config[0],
                config[1],
            ],
            1,
        ),
    ];
    for (args, code) in failing {
        let mut all = vec!["index", "ingest", "--index", "made/index"];
        all.extend(args);
        let output = canter(folder, &all).output().unwrap();
        assert!(!output.status.success(), "{args:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
        assert!(!folder.join("made/index").exists(), "{args:?}: {stderr}");
    }
    // The same command works once the input is fixed.
    fs::write(folder.join("bad.ndjson"), "{\"a\": 1}\n").unwrap();
    let again = [
        "index",
        "ingest",
        "--index",
        "made/index",
        "--input",
        "bad.ndjson",
        "--max-rejects",
        "0",
    ];
    run(folder, &again, 0);
}

#[test]
fn a_suggestion_looks_at_several_inputs() {
    let folder = access_log();
    let folder = folder.path();
    fs::write(folder.join("a.ndjson"), "{\"n\": 1, \"msg\": \"x\"}\n").unwrap();
    fs::write(folder.join("b.ndjson"), "{\"n\": -1, \"late\": true}\n").unwrap();
    let args = [
        "index", "suggest", "--input", "a.ndjson", "--input", "b.ndjson",
    ];
    let (stdout, _) = run(folder, &args, 0);
    assert!(stdout.contains("{name: \"n\", type: i64"), "{stdout}");
    assert!(stdout.contains("{name: \"late\", type: bool"), "{stdout}");
}

#[test]
fn a_search_of_inputs_indexes_them_once() {
    let folder = access_log();
    let folder = folder.path();
    let log = ["--input", "access.log", "status:200"];
    let (first, stderr) = num_hits(folder, &log);
    assert!(first > 0);
    assert!(
        stderr.contains("indexed 120 documents (access-log)"),
        "{stderr}"
    );
    assert!(stderr.contains("times are in `timestamp`"), "{stderr}");
    let (again, stderr) = num_hits(folder, &log);
    assert_eq!(again, first);
    assert!(!stderr.contains("indexed"), "{stderr}");
    assert_eq!(kept(folder).len(), 1);
    // Other options make another index; so does a grown input.
    let (plain, stderr) = num_hits(
        folder,
        &["--input", "access.log", "--input-format", "plain", "GET"],
    );
    assert!(stderr.contains("(plain)") && plain > 0, "{stderr}");
    let mut file = fs::OpenOptions::new()
        .append(true)
        .open(folder.join("access.log"))
        .unwrap();
    file.write_all(&sample(Format::AccessLog, 30, 9).bytes)
        .unwrap();
    let (_, stderr) = num_hits(folder, &log);
    assert!(stderr.contains("indexed 150 documents"), "{stderr}");
    assert_eq!(kept(folder).len(), 3);
}

#[test]
fn a_search_of_an_input_finds_its_last_line_without_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.log");
    fs::write(
        &path,
        "2024-05-01 10:00:00 INFO one\n2024-05-01 10:00:01 INFO two",
    )
    .unwrap();
    let hits = |word: &str| num_hits(folder.path(), &["--input", "app.log", word]).0;
    assert_eq!(hits("two"), 1);
    // Another version of the file is another input.
    let mut file = fs::File::options().append(true).open(&path).unwrap();
    file.write_all(b"fold\n").unwrap();
    assert_eq!((hits("two"), hits("twofold")), (0, 1));
}

#[test]
fn a_search_of_inputs_answers_as_one_of_an_index() {
    let folder = access_log();
    let folder = folder.path();
    run(
        folder,
        &[
            "index",
            "ingest",
            "--index",
            "index",
            "--input",
            "access.log",
        ],
        0,
    );
    fs::create_dir(folder.join("logs")).unwrap();
    fs::rename(folder.join("access.log"), folder.join("logs/access.log")).unwrap();
    let aggs = r#"{"by": {"terms": {"field": "status"}}, "t": {"date_histogram": {"field": "timestamp", "fixed_interval": "1d"}}}"#;
    let asked = [
        "--query",
        "GET",
        "--aggs",
        aggs,
        "--max-hits",
        "3",
        "--sort-by",
        "size",
    ];
    let mut expect = search(folder, &asked);
    for input in ["logs", "logs/*.log"] {
        let mut args = vec!["--input", input, "--chart", "chart.svg", "--format", "json"];
        args.extend(asked);
        let (mut found, _) = answer(&search_inputs(folder, &args));
        for answer in [&mut found, &mut expect] {
            answer["elapsed_time_micros"] = Value::Null;
        }
        assert_eq!(found, expect);
        assert!(
            fs::read_to_string(folder.join("chart.svg"))
                .unwrap()
                .contains("<svg")
        );
    }
}

#[test]
fn what_comes_through_a_pipe_is_known_by_its_content() {
    let folder = access_log();
    let folder = folder.path();
    let piped = |text: &[u8]| search_piped(folder, "lost", text);
    let (found, stderr) = piped(b"{\"msg\": \"lost\"}\n{\"msg\": \"found\"}\n");
    assert_eq!(found["num_hits"], 1);
    assert!(stderr.contains("indexed 2 documents"), "{stderr}");
    let (found, stderr) = piped(b"{\"msg\": \"lost\"}\n{\"msg\": \"found\"}\n");
    assert_eq!(found["num_hits"], 1);
    assert!(!stderr.contains("indexed"), "{stderr}");
    let (found, _) = piped(b"{\"msg\": \"lost\"}\n{\"msg\": \"lost\"}\n");
    assert_eq!(found["num_hits"], 2);
    assert_eq!(fs::read_dir(folder.join("kept/spool")).unwrap().count(), 0);
}

#[test]
fn large_inputs_are_told_to_become_an_index_and_wrong_ones_leave_nothing() {
    let folder = access_log();
    let folder = folder.path();
    // A sparse file.
    let file = fs::File::create(folder.join("large.log")).unwrap();
    file.set_len((2 << 30) + 1).unwrap();
    let (_, stderr) = texts(
        &[],
        &search_inputs(folder, &["--input", "large.log", "x"]),
        2,
    );
    assert!(
        stderr.contains("canter index ingest --index DIR --input large.log"),
        "{stderr}"
    );
    for args in [["--input", "none.log", "x"], ["--input", "empty.log", "x"]] {
        fs::write(folder.join("empty.log"), "").unwrap();
        let output = search_inputs(folder, &args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
    assert!(!folder.join("kept/input").exists() || kept(folder).is_empty());
}

/// Runs a command with bytes on its standard input.
fn piped(folder: &Path, args: &[&str], bytes: &[u8]) -> Output {
    let mut command = canter(folder, args);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(bytes).unwrap();
    child.wait_with_output().unwrap()
}

/// Searches standard input for a word.
fn search_piped(folder: &Path, word: &str, bytes: &[u8]) -> (Value, String) {
    let args = [
        "search",
        "--engine",
        "native",
        "--input-cache",
        "kept",
        "--input",
        "-",
        word,
    ];
    answer(&piped(folder, &args, bytes))
}

#[test]
fn an_archive_is_read_from_a_file_and_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let line = "2024-05-01 10:00:01 WARN archived\n2024-05-01 10:00:02 INFO other\n";
    let archive = tar("app/old.log", line);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&archive).unwrap();
    let compressed = encoder.finish().unwrap();
    fs::write(folder.join("a.tar"), &archive).unwrap();
    let (num, _) = num_hits(folder, &["--input", "a.tar", "archived AND level:WARN"]);
    assert_eq!(num, 1);
    for (name, bytes) in [("plain", &archive), ("compressed", &compressed)] {
        let (found, _) = search_piped(folder, "archived", bytes);
        assert_eq!(found["num_hits"], 1, "{name}");
        let ingest = ["index", "ingest", "--index", name, "--input", "-"];
        let (stdout, _) = texts(&ingest, &piped(folder, &ingest, bytes), 0);
        assert!(stdout.contains("lines read: 2 + 0 = 2"), "{stdout}");
        let query = ["--index", name, "--query", "archived AND level:WARN"];
        let asked = [&["search", "--engine", "native"][..], &query].concat();
        let (found, _) = answer(&canter(folder, &asked).output().unwrap());
        assert_eq!(found["num_hits"], 1, "{name}");
        // As any standard input, it is known by an --ingest-id alone.
        let (stdout, _) = texts(&ingest, &piped(folder, &ingest, bytes), 0);
        assert!(stdout.contains("lines read: 2 + 0 = 2"), "{stdout}");
    }
    // What is no archive goes through as it comes.
    let ingest = ["index", "ingest", "--index", "lines", "--input", "-"];
    let (stdout, _) = texts(&ingest, &piped(folder, &ingest, line.as_bytes()), 0);
    assert!(stdout.contains("lines read: 2 + 0 = 2"), "{stdout}");
}

#[cfg(unix)]
#[test]
fn pipes_are_named_and_links_are_followed_once() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("logs")).unwrap();
    fs::write(
        folder.join("logs/a.log"),
        "2024-05-01 10:00:00 INFO inside\n",
    )
    .unwrap();
    fs::write(folder.join("out.log"), "2024-05-01 10:00:01 INFO outside\n").unwrap();
    symlink("a.log", folder.join("logs/b.log")).unwrap();
    symlink(".", folder.join("logs/loop")).unwrap();
    symlink("../out.log", folder.join("logs/c.log")).unwrap();
    let pipe = folder.join("logs/pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let ingest = ["index", "ingest", "--index", "inside", "--input", "logs"];
    let (stdout, stderr) = run(folder, &ingest, 0);
    assert!(stdout.contains("lines read: 1 + 0 = 1"), "{stdout}");
    for said in [
        "1 links to other inputs",
        "1 behind links out of the folder",
    ] {
        assert!(stdout.contains(said), "{said}: {stdout}");
    }
    assert!(
        stderr.contains("pipes, sockets or devices: logs/pipe"),
        "{stderr}"
    );
    let ingest = [
        "index",
        "ingest",
        "--index",
        "followed",
        "--input",
        "logs",
        "--follow-links",
    ];
    let (stdout, _) = run(folder, &ingest, 0);
    assert!(stdout.contains("lines read: 2 + 0 = 2"), "{stdout}");
    // A device is nothing to make an index of, and none is left.
    let ingest = [
        "index",
        "ingest",
        "--index",
        "nothing",
        "--input",
        "/dev/null",
    ];
    run(folder, &ingest, 2);
    assert!(!folder.join("nothing").exists());
}

#[test]
fn a_new_index_shows_its_documents_over_time() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let lines: String = (0..60)
        .filter(|n| !(20..40).contains(n))
        .map(|n| format!("2024-05-01 {:02}:30:00 INFO line {n}\n", n / 10))
        .collect();
    fs::write(folder.join("a.log"), lines).unwrap();
    let ingest = ["index", "ingest", "--index", "index", "--input", "a.log"];
    let (stdout, _) = run(folder, &ingest, 0);
    let rows: Vec<&str> = stdout
        .lines()
        .filter(|row| row.starts_with("2024-05-01T"))
        .collect();
    assert_eq!(rows.len(), 6, "{stdout}");
    for (hour, row) in rows.iter().enumerate() {
        assert!(
            row.starts_with(&format!("2024-05-01T{hour:02}:00:00Z")),
            "{stdout}"
        );
        let num = if (2..4).contains(&hour) { " 0" } else { " 10" };
        assert!(row.contains(num), "{stdout}");
    }
    // It is there, and is not drawn again.
    fs::write(folder.join("b.log"), "2024-05-02 10:00:00 INFO more\n").unwrap();
    let ingest = ["index", "ingest", "--index", "index", "--input", "b.log"];
    let (stdout, _) = run(folder, &ingest, 0);
    assert!(!stdout.contains("over time"), "{stdout}");
}
