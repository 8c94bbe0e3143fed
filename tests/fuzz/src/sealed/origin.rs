//! Index whose splits are damaged: all types of fields, lists and columns with several blocks, and
//! deleted documents. The real builder writes it, always with the same bytes.

use std::path::Path;
use std::sync::OnceLock;

use canter_doc_mapper::IndexConfig;
use canter_index_builder::{IngestOptions, Source, create_index, delete_documents, ingest};
use canter_split_format::{ListedSplit, MANIFEST_OBJECT, ManifestFile};
use serde_json::{Value, json};

use super::super::checks::no_cache;
use super::super::host::{Objects, answer_of, run, search};

/// Number of documents in each split. In the first, a posting list has several blocks of 128, and a
/// column several of 512.
const NUM_DOCS: [usize; 3] = [560, 150, 40];

/// Number of dimensions of vectors that are not read as a whole.
pub(super) const MANY_DIMS: usize = 2_000;

/// Returns a vector with numbers derived from that of a document.
pub(super) fn vector(number: usize) -> Value {
    let bytes = (0..MANY_DIMS).map(|place| {
        let mixed = (number * 31 + place).wrapping_mul(0x9e37_79b9) >> 9;
        format!("{:02x}", mixed % 255)
    });
    bytes.collect::<String>().into()
}

/// Returns the index config, under which merges of all splits are due.
fn config() -> IndexConfig {
    let text = json!({
        "version": "0.8",
        "index_id": "sealed",
        "doc_mapping": {
            "mode": "dynamic",
            "timestamp_field": "at",
            "tag_fields": ["tag"],
            "index_field_presence": true,
            "field_mappings": [
                { "name": "at", "type": "datetime", "fast": true, "input_formats": ["rfc3339", "unix_timestamp"],
                  "fast_precision": "milliseconds" },
                { "name": "word", "type": "text", "record": "position", "fieldnorms": true },
                { "name": "trail", "type": "text", "record": "position" },
                { "name": "low", "type": "text", "tokenizer": "lowercase", "fast": { "normalizer": "lowercase" } },
                { "name": "tag", "type": "text", "tokenizer": "raw", "fast": true },
                { "name": "id", "type": "text", "tokenizer": "raw", "needle": true },
                { "name": "n", "type": "i64", "fast": true },
                { "name": "u", "type": "u64", "fast": true },
                { "name": "f", "type": "f64", "fast": true },
                { "name": "b", "type": "bool", "fast": true },
                { "name": "day", "type": "datetime", "fast": true, "fast_precision": "seconds",
                  "input_formats": ["unix_timestamp"] },
                { "name": "ip", "type": "ip", "fast": true },
                { "name": "hex", "type": "bytes", "fast": true, "input_format": "hex", "output_format": "hex" },
                { "name": "labels", "type": "array<text>", "tokenizer": "raw", "fast": true },
                { "name": "counts", "type": "array<i64>", "fast": true },
                { "name": "extra", "type": "json", "tokenizer": "raw", "fast": true },
                { "name": "kept", "type": "text", "strategy": "none" },
                { "name": "few", "type": "dense_vector", "dims": 3, "similarity": "l2_norm" },
                { "name": "many", "type": "dense_vector", "dims": MANY_DIMS, "element_type": "byte" },
            ],
        },
        "search_settings": { "default_search_fields": ["word"] },
        "indexing_settings": {
            "split_num_docs_target": 100_000,
            "rare_words": true,
            "merge_policy": { "type": "stable_log", "min_level_num_docs": 10_000, "merge_factor": 2,
                              "max_merge_factor": 8 },
        },
    });
    IndexConfig::from_json(text.to_string().as_bytes()).expect("a config")
}

/// Returns ids of a few documents each, of which the first split has enough for a file of rare words.
fn trail(number: usize) -> String {
    let ids = [
        number * 5,
        number / 3 * 3 + 7_000,
        number / 10 * 10 + 9_000,
        number * 5 + 1,
    ];
    let ids = ids.map(|id| format!("t{:05}", id.wrapping_mul(7_919) % 99_991));
    ids.join(" ")
}

/// Returns a document with values derived from its number, some of them missing.
fn document(number: usize) -> Value {
    let mixed = number.wrapping_mul(0x9e37_79b9) >> 7;
    let words = [
        "alpha beta gamma",
        "beta alpha",
        "the quick brown fox jumps",
        "alpha beta alpha beta alpha",
        "Gamma delta",
    ];
    let mut document = json!({
        "at": 1_714_557_600 + (number * 7 % 997) as i64,
        "word": format!("{} w{} w{}", words[mixed % words.len()], mixed % 211, number),
        "trail": trail(number),
        "low": (["Upper", "lower", "MiXed"][mixed % 3]),
        "tag": (["x", "y", "xz", "other"][mixed % 4]),
        "id": format!("{:032x}", (number as u128).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835)),
        "n": mixed as i64 % 1000 - 500,
        "f": mixed as f64 / 8.0,
        "day": 1_700_000_000 + (number as i64) * 86_400,
        "other": { "deep": { "s": format!("v{}", mixed % 9), "n": number % 77 } },
    });
    let more = [
        ("u", json!(u64::MAX - (mixed as u64 % 5000))),
        ("b", json!(number.is_multiple_of(3))),
        (
            "ip",
            json!(format!("10.{}.0.{}", mixed % 200, number % 250)),
        ),
        ("hex", json!(format!("{mixed:010x}"))),
        (
            "labels",
            json!([format!("l{}", mixed % 5), format!("l{}", number % 7)]),
        ),
        ("counts", json!([number % 11, mixed % 300, number])),
        (
            "extra",
            json!({ "a": number % 30, "s": words[number % 5], "f": mixed as f64 / 3.0, "t": true }),
        ),
        ("kept", json!(format!("kept {}", words[number % 5]))),
        ("few", json!([number % 11, mixed % 13, 1])),
        ("many", vector(number)),
    ];
    for (place, (name, value)) in more.into_iter().enumerate() {
        if !(number + place).is_multiple_of(4) {
            document[name] = value;
        }
    }
    document
}

/// Returns the objects of the index.
pub(super) fn index() -> &'static Objects {
    static INDEX: OnceLock<Objects> = OnceLock::new();
    INDEX.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let uri = folder.path().to_str().expect("a UTF-8 name");
        let store = create_index(uri, &config()).expect("an index");
        let mut first = 0;
        for (ord, num_docs) in NUM_DOCS.into_iter().enumerate() {
            let lines: Vec<String> = (first..first + num_docs)
                .map(|number| document(number).to_string())
                .collect();
            let name = format!("source {ord}");
            let text = std::io::Cursor::new(lines.join("\n").into_bytes());
            let source = Source::reader(name.clone(), text).with_id(name);
            let report = ingest(&store, &IngestOptions::default(), vec![source], &());
            let report = report.expect("an ingest");
            assert_eq!(report.num_ingested_docs, num_docs as u64, "{report:?}");
            first += num_docs;
        }
        let deleted = delete_documents(&store, || {
            Ok::<_, canter_index_builder::BuildError>(listed(&read(folder.path())))
        });
        deleted.expect("documents are deleted");
        read(folder.path())
    })
}

/// Returns some documents of each split, as a deletion lists them.
fn listed(objects: &Objects) -> Vec<ListedSplit> {
    let request = json!({ "query": "word:w7 OR tag:xz", "max_hits": 0, "list_documents": true });
    let session = search(&request, "{}", 1).expect("a request");
    let answer = answer_of(&run(session, objects, &no_cache)).expect("the index can be searched");
    serde_json::from_value(answer["listed_splits"].clone()).expect("lists of documents")
}

/// Returns all objects below a folder except locks.
pub(super) fn read(folder: &Path) -> Objects {
    let mut objects = Objects::new();
    let mut folders = vec![(folder.to_owned(), String::new())];
    while let Some((folder, prefix)) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            match entry.path() {
                path if path.is_dir() => folders.push((path, format!("{name}/"))),
                path if name.ends_with(".lock") => drop(path),
                path => drop(objects.insert(name, std::fs::read(path).expect("an object"))),
            }
        }
    }
    objects
}

/// Returns the manifest of the index.
pub(super) fn manifest(objects: &Objects) -> ManifestFile {
    let bytes = objects.get(MANIFEST_OBJECT).expect("a manifest");
    ManifestFile::from_bytes(bytes).expect("the manifest is one")
}
