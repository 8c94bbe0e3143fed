//! Maintenance of indexes that are written to: due merges happen, and expired documents are
//! removed.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use canter_doc_mapper::IndexConfig;
use canter_index_builder::{IndexStore, create_index};
use canter_intake::{Acknowledge, Lane, LaneSettings, Room, Upkeep, UpkeepSettings};
use canter_split_format::{
    BlockChecksums, DOCUMENT_INDEX_FILE, FileTable, Head, Hotcache, MANIFEST_OBJECT, SplitEntry,
    checksum64, split_object,
};
use tempfile::TempDir;

/// Number of splits that are merged at once.
const MERGE_FACTOR: u64 = 4;

const CONFIG: &str = "
version: 0.9
index_id: logs
doc_mapping:
  timestamp_field: at
  field_mappings:
    - {name: at, type: datetime, fast: true, input_formats: [unix_timestamp]}
indexing_settings:
  merge_policy: {type: stable_log, min_level_num_docs: 100, merge_factor: 4, max_merge_factor: 4}
retention: {period: 90 days}
";

const ROOM: usize = 1 << 20;
const SOON: Duration = Duration::from_millis(20);
const PATIENCE: Duration = Duration::from_secs(60);

/// Indexes in a folder, each with a lane.
struct Bench {
    folder: TempDir,
    lanes: Vec<Arc<Lane>>,
}

impl Bench {
    fn of(names: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = IndexConfig::from_yaml(CONFIG, |_| None).unwrap();
        let lane = |name: &&str| {
            create_index(folder.path().join(name).to_str().unwrap(), &config).unwrap();
            let settings = LaneSettings {
                commit_interval: SOON,
                ..LaneSettings::default()
            };
            let lane = Lane::start(store(&folder, name), settings, Room::new(ROOM, SOON));
            Arc::new(lane.unwrap())
        };
        Self {
            lanes: names.iter().map(lane).collect(),
            folder,
        }
    }

    /// Starts the maintenance of all indexes, in the order of their names.
    fn upkeep(&self) -> Upkeep {
        let upkeep = Upkeep::start(UpkeepSettings {
            interval: SOON,
            gc_interval: SOON,
            max_pause: 5 * SOON,
            ..UpkeepSettings::default()
        });
        let upkeep = upkeep.unwrap();
        self.lanes
            .iter()
            .for_each(|lane| upkeep.add(Arc::clone(lane)));
        upkeep
    }

    /// Adds a document dated `days` ago, as a split of its own, to each index.
    async fn add(&self, days: u64) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let at = now.as_secs() - days * 86_400;
        let document = format!("{{\"at\": {at}}}").into_bytes();
        for lane in &self.lanes {
            let added = lane.add(&[&document], Acknowledge::Published).await;
            added.unwrap();
        }
    }

    fn entries(&self, name: &str) -> Vec<SplitEntry> {
        let manifest = store(&self.folder, name).load_manifest();
        manifest.unwrap().manifest.splits
    }

    /// Waits until the splits of an index have the expected numbers of documents.
    async fn has(&self, name: &str, expected: &[u64]) {
        let splits = || {
            let splits = self.entries(name).into_iter();
            splits.map(|split| split.num_docs).collect::<Vec<u64>>()
        };
        until(|| splits() == expected).await;
        assert_eq!(splits(), expected, "{name}");
    }

    /// Damages a split under valid checksums: it claims that its longest block of documents has 2
    /// TiB.
    fn make_hostile(&self, name: &str, entry: &SplitEntry) {
        let folder = self.folder.path().join(name);
        let split = std::fs::read(folder.join(split_object(&entry.id))).unwrap();
        let mut head = Head::open(&split).unwrap();
        let body = &split[entry.head_len as usize..];
        let files: Vec<(String, Vec<u8>)> = head
            .files
            .files()
            .iter()
            .map(|file| {
                let bytes = &body[file.offset as usize..(file.offset + file.len) as usize];
                let bytes = match file.name.as_str() {
                    DOCUMENT_INDEX_FILE => lying(bytes),
                    _ => bytes.to_vec(),
                };
                (file.name.clone(), bytes)
            })
            .collect();
        let body: Vec<u8> = files.iter().flat_map(|(_, bytes)| bytes).copied().collect();
        let lens = files
            .iter()
            .map(|(name, bytes)| (name.as_str(), bytes.len() as u64));
        head.files = FileTable::lay_out(lens);
        head.hotcache = Hotcache::default();
        head.block_checksums = BlockChecksums::of_body(&body);
        let head = head.write().unwrap();
        let mut manifest = store(&self.folder, name).load_manifest().unwrap();
        manifest.take_head(&entry.id);
        for known in &mut manifest.manifest.splits {
            if known.id == entry.id {
                known.head_len = head.len() as u64;
                known.head_checksum = checksum64(&head);
                known.len = (head.len() + body.len()) as u64;
            }
        }
        std::fs::write(folder.join(split_object(&entry.id)), [head, body].concat()).unwrap();
        std::fs::write(folder.join(MANIFEST_OBJECT), manifest.to_bytes().unwrap()).unwrap();
    }
}

/// Changes the length of the longest block in the index of a split's documents. It follows the
/// compression.
fn lying(index: &[u8]) -> Vec<u8> {
    let varint = |at: usize| {
        let len = index[at..]
            .iter()
            .position(|byte| byte & 0x80 == 0)
            .unwrap()
            + 1;
        let sevens = index[at..at + len].iter().rev();
        (
            sevens.fold(0, |number, byte| number << 7 | usize::from(byte & 0x7f)),
            len,
        )
    };
    let mut at = 4;
    for _ in 0..2 {
        let (len, num_bytes) = varint(at);
        at += num_bytes + len;
    }
    let two_tebibytes = [0x80, 0x80, 0x80, 0x80, 0x80, 0x40];
    [&index[..at], &two_tebibytes, &index[at + varint(at).1..]].concat()
}

async fn until(mut is_so: impl FnMut() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(SOON).await;
        }
    };
    // On a timeout, the caller reports what is missing.
    let _ = tokio::time::timeout(PATIENCE, waiting).await;
}

fn store(folder: &TempDir, name: &str) -> IndexStore {
    IndexStore::open(folder.path().join(name).to_str().unwrap()).unwrap()
}

#[tokio::test]
async fn small_splits_are_merged() {
    let bench = Bench::of(&["logs"]);
    let _upkeep = bench.upkeep();
    for _ in 0..MERGE_FACTOR {
        bench.add(0).await;
    }
    bench.has("logs", &[MERGE_FACTOR]).await;
}

#[tokio::test]
async fn splits_that_have_expired_are_removed() {
    let bench = Bench::of(&["logs"]);
    let _upkeep = bench.upkeep();
    bench.add(100).await;
    bench.add(0).await;
    bench.has("logs", &[1]).await;
}

/// The hostile index is checked first, and repeatedly.
#[tokio::test]
async fn an_index_that_cannot_be_merged_costs_the_others_nothing() {
    let bench = Bench::of(&["hostile", "metrics", "traces"]);
    for _ in 0..MERGE_FACTOR {
        bench.add(0).await;
    }
    for entry in &bench.entries("hostile")[..2] {
        bench.make_hostile("hostile", entry);
    }
    let upkeep = bench.upkeep();
    let failing = || upkeep.failing().into_iter().map(|index| index.uri);
    until(|| upkeep.num_failures() > 2).await;
    assert!(upkeep.num_failures() > 2);
    for name in ["metrics", "traces"] {
        bench.has(name, &[MERGE_FACTOR]).await;
    }
    // Retention applies to all indexes, even those that cannot be merged.
    bench.add(100).await;
    for name in ["metrics", "traces"] {
        bench.has(name, &[MERGE_FACTOR]).await;
    }
    bench.has("hostile", &[1; MERGE_FACTOR as usize]).await;
    let hostile = store(&bench.folder, "hostile").uri().to_owned();
    assert_eq!(failing().collect::<Vec<_>>(), [hostile]);
    let [index] = &upkeep.failing()[..] else {
        panic!("one index fails");
    };
    assert!(
        index.num_failed_merges > 2 && index.num_failed_collections == 0,
        "{index:?}"
    );
}
