//! Inputs that are globs and folders, dates and fields in their paths, and parts of them.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::run;

/// Returns two days of two regions, with three documents in each file, a hidden file and an empty one.
fn logs() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (day, region) in [("04", "eu"), ("05", "eu"), ("05", "us")] {
        let path = folder
            .path()
            .join(format!("logs/date=2026-11-{day}/region={region}"));
        fs::create_dir_all(&path).unwrap();
        let own = "{\"n\":2,\"region\":\"own\"}";
        fs::write(path.join("a.ndjson"), format!("{{\"n\":1}}\n{own}\n{{}}\n")).unwrap();
    }
    fs::write(folder.path().join("logs/.hidden"), "{}").unwrap();
    fs::write(folder.path().join("logs/empty"), "").unwrap();
    folder
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn ingest(folder: &Path, line: &str) -> Value {
    let line = format!("index ingest --preset any --format json --index {line}");
    let (stdout, _) = run(folder, &words(&line), 0);
    serde_json::from_str(&stdout).unwrap()
}

fn num_hits(folder: &Path, index: &str, query: &str) -> Value {
    let line = format!("search --engine native --max-hits 0 --index {index} --query {query}");
    let (stdout, _) = run(folder, &words(&line), 0);
    serde_json::from_str::<Value>(&stdout).unwrap()["num_hits"].clone()
}

#[test]
fn a_folder_is_ingested_and_a_day_of_it() {
    let folder = logs();
    let folder = folder.path();
    let report = ingest(folder, "all --input logs");
    assert_eq!(report["num_ingested_docs"], 9);
    assert_eq!(report["left_out_inputs"]["num_hidden"], 1);
    assert_eq!(report["left_out_inputs"]["num_empty"], 1);
    // Files are read again, and recognised by their lines.
    let again = ingest(folder, "all --input logs/**/*.ndjson");
    assert_eq!(
        (&again["num_ingested_docs"], &again["num_known_docs"]),
        (&0.into(), &9.into())
    );

    let report = ingest(folder, "day --input logs/**/*.ndjson --since 2026-11-05");
    assert_eq!(report["num_ingested_docs"], 6);
    assert_eq!(report["left_out_inputs"]["num_too_old"], 1);
    let report = ingest(folder, "before --input logs --until 2026-11-05T00:00:00Z");
    assert_eq!(report["num_ingested_docs"], 3);
    let args = words("index ingest --index all --input logs --since 2026-11-05");
    let (stdout, _) = run(folder, &args, 0);
    let expected = "5 inputs found: 1 of before --since, 1 empty, 1 hidden, 2 read";
    assert!(stdout.contains(expected), "{stdout}");
}

#[test]
fn the_keys_of_paths_are_fields_only_if_that_is_asked_for_and_overwrite_nothing() {
    let folder = logs();
    let folder = folder.path();
    ingest(folder, "without --input logs");
    assert_eq!(num_hits(folder, "without", "region:eu"), 0);
    ingest(folder, "with --path-fields --input logs");
    for (query, expected) in [
        ("region:eu", 4),
        ("region:us", 2),
        ("region:own", 3),
        ("date:2026-11-05", 6),
        ("n:2", 3),
    ] {
        assert_eq!(num_hits(folder, "with", query), expected, "{query}");
    }
    // If the index accepts no others, only mapped fields; one of them is a number.
    let config = "version: 0.8\nindex_id: strict\ndoc_mapping:\n  mode: strict\n  field_mappings:\n    \
                  - {name: n, type: u64}\n    - {name: region, type: text, tokenizer: raw}\n";
    fs::write(folder.join("strict.yaml"), config).unwrap();
    let args = "index ingest --index strict --index-config strict.yaml --path-fields --input logs";
    let (stdout, _) = run(folder, &words(args), 0);
    assert!(stdout.contains("9 + 0 = 9"), "{stdout}");
    assert_eq!(num_hits(folder, "strict", "region:us"), 2);
    let args = words("index ingest --index with --path-fields --input logs --dry-run 1");
    let (stdout, _) = run(folder, &args, 0);
    assert!(
        stdout.contains("region") && stdout.contains("2026-11-04"),
        "{stdout}"
    );
    assert_eq!(
        stdout.matches("of the first 1 record").count(),
        3,
        "{stdout}"
    );
}

#[test]
fn parts_of_a_folder_are_the_whole_and_overlap_nowhere() {
    let folder = logs();
    let folder = folder.path();
    run(
        folder,
        &words("index ingest --preset any --index index --input logs/empty"),
        0,
    );
    let mut receipts = Vec::new();
    for part in 0..3 {
        let line = format!(
            "split build --index index --input logs/** --part {part}/3 --receipt {part}.json"
        );
        run(folder, &words(&line), 0);
        receipts.push(format!("{part}.json"));
    }
    let line = format!("split publish --index index {}", receipts.join(" "));
    run(folder, &words(&line), 0);
    assert_eq!(num_hits(folder, "index", "*"), 9);
}

#[test]
fn what_is_kept_of_a_file_that_breaks_off_is_there_once() {
    let folder = tempfile::tempdir().unwrap();
    let lines = (0..3_000).map(|n: u64| format!("{{\"n\":{}}}\n", n.wrapping_mul(0x9e37_79b9)));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(lines.collect::<String>().as_bytes())
        .unwrap();
    let whole = gzip.finish().unwrap();
    let config = "version: 0.8\nindex_id: kept\ndoc_mapping: {mode: dynamic}\n\
                  ingest_settings: {on_error: keep}\n";
    fs::write(folder.path().join("kept.yaml"), config).unwrap();
    let file = folder.path().join("a.gz");
    let args =
        words("index ingest --index index --index-config kept.yaml --input a.gz --format json");
    let ingest = || -> Value {
        let (stdout, _) = run(folder.path(), &args, 0);
        serde_json::from_str(&stdout).unwrap()
    };
    fs::write(&file, &whole[..whole.len() / 3]).unwrap();
    // A rest within a record waits, and is not stored.
    let first = ingest();
    assert_eq!(first["num_kept_docs"], 0, "{first}");
    let waiting = first["inputs"][0]["waiting"].as_str().unwrap();
    assert!(waiting.contains("ends in the middle"), "{first}");
    for _ in 0..2 {
        let again = ingest();
        assert_eq!(again["num_ingested_docs"], 0, "{again}");
        assert_eq!(again["num_known_docs"], first["num_lines"]);
    }
    assert_eq!(num_hits(folder.path(), "index", "*"), first["num_lines"]);
    // Later, another rest waits, and the records in between are stored.
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let further = ingest();
    assert!(
        further["num_ingested_docs"].as_u64().unwrap() > 100,
        "{further}"
    );
    let again = ingest();
    assert_eq!(again["num_ingested_docs"], 0, "{again}");
    // With --final, the rest of a finished file is taken.
    let mut final_args = args.clone();
    final_args.push("--final");
    let (stdout, _) = run(folder.path(), &final_args, 0);
    let last: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(last["num_kept_docs"], 1, "{last}");
}

#[test]
fn a_pattern_that_finds_nothing_and_an_id_for_several_are_told() {
    let folder = logs();
    let check = |line: &str, code: i32, expected: &str| {
        let line = format!("index ingest --preset any --index index {line}");
        let (_, stderr) = run(folder.path(), &words(&line), code);
        assert!(stderr.contains(expected), "{line}: {stderr}");
    };
    check("--input logs/*.gz", 2, "nothing matches");
    check("--input logs --ingest-id a", 2, "leave it out");
    check("--input logs --max-inputs 2", 1, "--max-inputs");
    check("--input logs --since soon", 2, "2026-11-01");
    check(
        "--input logs --input logs/date=2026-11-04/region=eu/a.ndjson",
        2,
        "named twice",
    );
    let args = words("index suggest --input logs");
    let (stdout, stderr) = run(folder.path(), &args, 0);
    assert!(stdout.contains("{name: \"n\", type: u64"), "{stdout}");
    assert!(
        stderr.contains("looking at logs/date=2026-11-04"),
        "{stderr}"
    );
}
