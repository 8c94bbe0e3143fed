//! A process that ingests is killed again and again, at any moment: the index stays intact.
//!
//! The test runs itself: with [`URI_VARIABLE`] set, it is a process that ingests without end. The
//! progress that this process reports, and not a clock, determines when it is killed.

use canter_doc_mapper::IndexConfig;
use canter_index_builder::{
    Counters, IndexStore, IngestOptions, IngestReport, Phase, Progress, Source, create_index,
    ingest,
};
use canter_samples::{CorpusReader, HDFS_LOGS_YAML, HdfsLogs};
use canter_split_format::split_object;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const URI_VARIABLE: &str = "CANTER_TEST_KILLED_INDEX";
const THIS_TEST: &str = "an_index_whose_writer_is_killed_at_any_moment_stays_whole";
const NUM_ROUNDS: usize = 16;
const NUM_DOCS: u64 = 400;
/// Prefix of the line that the process writes before each of its steps.
const STEP: &str = "step: ";
/// Timeout of a step, far longer than a step takes; the test fails when it expires.
const PATIENCE: Duration = Duration::from_secs(120);

fn ingest_some(store: &IndexStore, seed: u64, progress: &dyn Progress) -> IngestReport {
    let options = IngestOptions {
        split_num_docs_target: Some(NUM_DOCS / 4),
        ..IngestOptions::default()
    };
    let source = Source::reader("hdfs", CorpusReader::new(HdfsLogs::new(NUM_DOCS, seed)))
        .with_id(seed.to_string());
    ingest(store, &options, vec![source], progress).expect("an ingest")
}

/// Reports each step of an ingest to the other process.
struct Told;

impl Progress for Told {
    fn update(&self, counters: &Counters) {
        println!("{STEP}{:?}", counters.phase);
    }
}

fn ingest_without_end(uri: &str) {
    let store = IndexStore::open(uri).expect("an index");
    for seed in 0.. {
        let seed = u64::from(std::process::id()) << 20 | seed;
        ingest_some(&store, seed, &Told);
    }
}

/// Process that ingests; it is killed when this is dropped.
struct Victim {
    process: Child,
    steps: Receiver<String>,
}

impl Victim {
    fn start(uri: &str) -> Victim {
        let mut process = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", THIS_TEST, "--nocapture"])
            .env(URI_VARIABLE, uri)
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        let lines = BufReader::new(process.stdout.take().expect("its output")).lines();
        let (tell, steps) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // The first one may follow output of the test harness on the same line.
                if let Some((_, step)) = line.split_once(STEP) {
                    let _ = tell.send(step.to_owned());
                }
            }
        });
        Victim { process, steps }
    }

    fn next_step(&self) -> String {
        self.steps.recv_timeout(PATIENCE).expect("the next step")
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn an_index_whose_writer_is_killed_at_any_moment_stays_whole() {
    if let Ok(uri) = std::env::var(URI_VARIABLE) {
        return ingest_without_end(&uri);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let uri = folder.path().to_str().expect("a name in UTF-8");
    let config = IndexConfig::from_yaml(HDFS_LOGS_YAML, |_| None).expect("a config");
    let store = create_index(uri, &config).expect("a new index");
    let mut num_docs = 0;
    let mut num_killed_within = 0;
    for round in 0..NUM_ROUNDS {
        let victim = Victim::start(uri);
        let steps: Vec<String> = (0..=round).map(|_| victim.next_step()).collect();
        drop(victim);
        let is_done = |step: &&String| **step == format!("{:?}", Phase::Done);
        let num_done = steps.iter().filter(is_done).count() as u64;
        num_killed_within += usize::from(steps.last().as_ref().is_some_and(|step| !is_done(step)));

        let manifest = store
            .load_manifest()
            .expect("the old or the new manifest")
            .manifest;
        assert!(
            manifest.num_docs() >= num_docs + num_done * NUM_DOCS,
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
    assert!(num_killed_within > 0, "each was killed between two ingests");
    assert!(num_docs > 0, "no ingest ended before it was killed");
    // The lock is free, and leftovers do not get in the way.
    assert_eq!(ingest_some(&store, 1, &()).num_published_splits, 4);
}
