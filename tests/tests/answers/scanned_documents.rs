//! Full documents of a search in any division and on any machine: each document comes exactly once,
//! equal to its hit.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use canter_index_builder::{Documents, DocumentsPart, ErrorKind, IndexStore, locate_documents};
use canter_runtime::Searcher;
use canter_runtime::engine::NativeEngine;
use canter_samples::HDFS_LOGS_YAML;
use canter_tests::{TestIndex, hdfs_lines, list, run, usual_or_full};
use serde_json::{Value, json};

const SPLIT_NUM_DOCS: u64 = 700;

static INDEX: LazyLock<TestIndex> = LazyLock::new(|| {
    let lines = hdfs_lines(3_000, 5).unwrap();
    TestIndex::build(HDFS_LOGS_YAML, &lines, SPLIT_NUM_DOCS).unwrap()
});

fn searcher(index: &TestIndex) -> Searcher {
    index.searcher(Arc::new(NativeEngine::new()), 1, 1).unwrap()
}

fn parts(index: &TestIndex, store: &IndexStore, query: &str) -> Vec<DocumentsPart> {
    let listed = list(&searcher(index), &json!({"query": query})).unwrap();
    locate_documents(store, listed).unwrap().unwrap()
}

fn read(store: &IndexStore, part: &DocumentsPart, bytes_at_once: usize) -> Vec<Value> {
    let mut documents = Documents::open(store, part).unwrap();
    let mut all = Vec::new();
    loop {
        let mut lines = Vec::new();
        let has_any = documents.read_lines(bytes_at_once, &mut lines).unwrap();
        assert_eq!(has_any, !lines.is_empty());
        if !has_any {
            return all;
        }
        let lines = lines
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        all.extend(lines.map(|line| serde_json::from_slice::<Value>(line).unwrap()));
    }
}

fn hits(index: &TestIndex, query: &str) -> Vec<Value> {
    let request = json!({"query": query, "max_hits": 10_000});
    let answer = run(&searcher(index), &request).unwrap();
    answer.json["hits"].as_array().unwrap().clone()
}

fn sorted(documents: Vec<Value>) -> Vec<String> {
    let mut texts: Vec<String> = documents.iter().map(Value::to_string).collect();
    texts.sort_unstable();
    texts
}

#[test]
fn every_division_has_each_document_once() {
    let stored = INDEX.to_folder().unwrap();
    for query in [
        "*",
        "severity_text:WARN",
        "tenant_id:7",
        "body:nowhere_at_all",
    ] {
        let expected = sorted(hits(&INDEX, query));
        for max_docs in [64, 699, 1_000_000, 1]
            .into_iter()
            .take(usual_or_full(3, 4))
        {
            let divided: Vec<DocumentsPart> = parts(&INDEX, &stored.store, query)
                .into_iter()
                .flat_map(|part| part.divide(max_docs))
                // Another machine gets the part as text.
                .map(|part| DocumentsPart::from_json(&part.to_json().unwrap()).unwrap())
                .collect();
            let mut all = Vec::new();
            for part in &divided {
                let documents = read(&stored.store, part, 1 + max_docs as usize * 3);
                assert_eq!(documents.len() as u64, part.num_docs());
                assert!(part.num_docs() <= max_docs);
                all.extend(documents);
            }
            assert_eq!(sorted(all), expected, "{query} by {max_docs}");
        }
    }
}

#[test]
fn deleted_documents_are_not_among_them() {
    let (index, _) = INDEX
        .delete(&json!({"query": "severity_text:INFO"}))
        .unwrap();
    let stored = index.to_folder().unwrap();
    let read = parts(&index, &stored.store, "*")
        .iter()
        .flat_map(|part| read(&stored.store, part, 1 << 20))
        .collect();
    assert_eq!(sorted(read), sorted(hits(&index, "*")));
}

#[test]
fn a_split_that_is_gone_is_listed_again_and_a_damaged_one_is_named() {
    let stored = INDEX.to_folder().unwrap();
    let mut listed = list(&searcher(&INDEX), &json!({"query": "*"})).unwrap();
    listed[0].split_id = "0".repeat(32);
    assert_eq!(locate_documents(&stored.store, listed).unwrap(), None);

    let all = parts(&INDEX, &stored.store, "*");
    for entry in walk(stored.folder.path()) {
        let name = entry.to_str().unwrap();
        if name.ends_with(".split") {
            let mut bytes = std::fs::read(&entry).unwrap();
            let from = bytes.len() / 3;
            bytes[from..].fill(0xa5);
            std::fs::write(&entry, bytes).unwrap();
        }
    }
    for part in &all {
        let failed = Documents::open(&stored.store, part)
            .and_then(|mut documents| documents.read_lines(usize::MAX, &mut Vec::new()))
            .unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::Data);
        assert!(failed.to_string().contains("split"), "{failed}");
    }
    let refused = DocumentsPart::from_json("{}").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid);
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(walk(&path)),
            false => files.push(path),
        }
    }
    files
}
