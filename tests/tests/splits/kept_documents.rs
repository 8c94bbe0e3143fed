//! Stored documents: byte-identical to those of tantivy's own doc store, from splits of any length.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use canter_index_builder::{Documents, locate_documents};
use canter_runtime::engine::NativeEngine;
use canter_samples::{Corpus, CorpusReader, HDFS_LOGS_YAML, HTTP_LOGS_YAML, HdfsLogs, HttpLogs};
use canter_tests::{CATALOGUE_CONFIG, Oracle, TestIndex, catalogue, list};
use serde_json::{Value, json};

fn lines_of(corpus: impl Corpus) -> Vec<String> {
    let mut text = String::new();
    CorpusReader::new(corpus).read_to_string(&mut text).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Returns all documents of an index, in the form in which bulk reads write them.
fn documents(index: &TestIndex) -> Vec<String> {
    let searcher = index.searcher(Arc::new(NativeEngine::new()), 1, 1).unwrap();
    let stored = index.to_folder().unwrap();
    let listed = list(&searcher, &json!({"query": "*"})).unwrap();
    let parts = locate_documents(&stored.store, listed).unwrap().unwrap();
    let mut texts = Vec::new();
    for part in &parts {
        let mut documents = Documents::open(&stored.store, part).unwrap();
        let mut lines = Vec::new();
        while documents.read_lines(1 << 20, &mut lines).unwrap() {
            let text = String::from_utf8(std::mem::take(&mut lines)).unwrap();
            texts.extend(text.lines().map(str::to_owned));
        }
    }
    texts
}

fn sorted(mut documents: Vec<String>) -> Vec<String> {
    documents.sort_unstable();
    documents
}

fn check(name: &str, config: &str, lines: &[String], splits: &[u64]) {
    let oracle = Oracle::build(config, lines).unwrap();
    let expected = oracle.documents().unwrap();
    assert_eq!(expected.len(), lines.len(), "{name}");
    for split_num_docs in splits {
        let index = TestIndex::build(config, lines, *split_num_docs).unwrap();
        let found = documents(&index);
        let (found, wanted) = (sorted(found), sorted(expected.clone()));
        let differing = found
            .iter()
            .zip(&wanted)
            .find(|(left, right)| left != right);
        assert_eq!(differing, None, "{name} in splits of {split_num_docs}");
        assert_eq!(
            found.len(),
            wanted.len(),
            "{name} in splits of {split_num_docs}"
        );
        // The guest has a separate reader.
        let from = (lines.len() / 3).min(9_000);
        let request =
            json!({"query": "*", "max_hits": 1_000, "start_offset": from, "sort_by": "-_doc"});
        let answer = index.search(&request).unwrap().json;
        let hits = answer["hits"].as_array().unwrap().iter();
        let page: Vec<Value> = expected[from..(from + 1_000).min(expected.len())]
            .iter()
            .map(|text| serde_json::from_str(text).unwrap())
            .collect();
        let texts = |values: &mut dyn Iterator<Item = &Value>| -> Vec<String> {
            values.map(Value::to_string).collect()
        };
        let is_equal = texts(&mut hits.into_iter()) == texts(&mut page.iter());
        assert!(is_equal, "{name} in splits of {split_num_docs}: hits");
    }
}

#[test]
fn generated_documents_are_kept_as_they_are() {
    let hdfs = lines_of(HdfsLogs::new(20_000, 3));
    // With and without a dictionary that is specific to the split.
    check("HDFS logs", HDFS_LOGS_YAML, &hdfs, &[20_000, 900]);
    let http = lines_of(HttpLogs::new(20_000, 3));
    check("HTTP logs", HTTP_LOGS_YAML, &http, &[20_000, 900]);
    check(
        "wares",
        CATALOGUE_CONFIG,
        &catalogue(3_000, 5),
        &[3_000, 170],
    );
}

fn real(file: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(root.join("../../shared/data").join(file)).unwrap();
    let mut text = String::new();
    match file.ends_with(".gz") {
        true => drop(
            flate2::read::GzDecoder::new(&bytes[..])
                .read_to_string(&mut text)
                .unwrap(),
        ),
        false => text = String::from_utf8(bytes).unwrap(),
    }
    text.lines().map(str::to_owned).collect()
}

/// `cargo test --workspace --exclude canter-guest-component --test splits kept_documents -- --ignored`
#[test]
#[ignore = "needs files of real data beside the checkout"]
fn real_documents_are_kept_as_they_are() {
    for file in ["apache_access.ndjson", "geonames_cities.ndjson.gz"] {
        let config = format!(
            "version: 0.9\nindex_id: {}\ndoc_mapping: {{mode: dynamic}}\n",
            &file[..6]
        );
        check(file, &config, &real(file), &[1_000_000, 5_000]);
    }
}
