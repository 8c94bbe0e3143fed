//! A process that ingests is killed at any moment, again and again: the index stays whole.

use canter_doc_mapper::IndexConfig;
use canter_index_builder::corpus::{CorpusReader, HDFS_LOGS_YAML, HdfsLogs};
use canter_index_builder::{IndexStore, IngestOptions, IngestReport, Source, create_index, ingest};
use canter_split_format::split_object;
use std::process::{Command, Stdio};
use std::time::Duration;

const URI_VARIABLE: &str = "CANTER_TEST_KILLED_INDEX";
const NUM_ROUNDS: u64 = 12;
const NUM_DOCS: u64 = 400;

fn ingest_some(store: &IndexStore, seed: u64) -> IngestReport {
    let options = IngestOptions {
        split_num_docs_target: Some(NUM_DOCS / 4),
        ..IngestOptions::default()
    };
    let source = Source::reader("hdfs", CorpusReader::new(HdfsLogs::new(NUM_DOCS, seed)));
    ingest(store, &options, vec![source], &()).expect("an ingest")
}

/// Run by the other test as a process of its own; alone it has nothing to do.
#[test]
fn victim() {
    let Ok(uri) = std::env::var(URI_VARIABLE) else {
        return;
    };
    let store = IndexStore::open(&uri).expect("an index");
    for seed in 0.. {
        ingest_some(&store, u64::from(std::process::id()) << 20 | seed);
    }
}

#[test]
fn an_index_whose_writer_is_killed_at_any_moment_stays_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let uri = folder.path().to_str().expect("a name in UTF-8");
    let config = IndexConfig::from_yaml(HDFS_LOGS_YAML, |_| None).expect("a config");
    let store = create_index(uri, &config).expect("a new index");
    let mut num_docs = 0;
    for round in 0..NUM_ROUNDS {
        let mut victim = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "victim", "--nocapture"])
            .env(URI_VARIABLE, uri)
            .stdout(Stdio::null())
            .spawn()
            .expect("a process");
        std::thread::sleep(Duration::from_millis(120 + round * 23));
        victim.kill().expect("a kill");
        victim.wait().expect("an end");

        let manifest = store
            .load_manifest()
            .expect("the old or the new manifest")
            .manifest;
        assert!(
            manifest.num_docs() >= num_docs,
            "published documents are lost"
        );
        assert_eq!(manifest.num_docs() % NUM_DOCS, 0, "half an ingest is live");
        num_docs = manifest.num_docs();
        for split in &manifest.splits {
            let path = folder.path().join(split_object(&split.id));
            let len = path.metadata().expect("every named object is there").len();
            assert_eq!(len, split.len);
        }
    }
    // Nobody holds the lock, and nothing that was left behind is in the way.
    assert_eq!(ingest_some(&store, 1).num_published_splits, 4);
    assert!(num_docs > 0, "no ingest ended before it was killed");
}
