//! Upkeep of indexes that are written to: what is due is merged, and what has expired is removed.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use canter_doc_mapper::IndexConfig;
use canter_index_builder::{IndexStore, create_index};
use canter_intake::{Acknowledge, Lane, LaneSettings, Room, Upkeep, UpkeepSettings};
use tempfile::TempDir;

/// As many splits as are merged at once.
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

/// An index in a folder, a lane into it, and somebody who looks after it.
struct Bench {
    folder: TempDir,
    lane: Arc<Lane>,
    _upkeep: Upkeep,
}

impl Bench {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = IndexConfig::from_yaml(CONFIG, |_| None).unwrap();
        create_index(folder.path().join("index").to_str().unwrap(), &config).unwrap();
        let settings = LaneSettings {
            commit_interval: SOON,
            ..LaneSettings::default()
        };
        let room = Room::new(ROOM, SOON);
        let lane = Lane::start(store(&folder), settings, room).unwrap();
        let lane = Arc::new(lane);
        let upkeep = Upkeep::start(UpkeepSettings {
            interval: SOON,
            gc_interval: SOON,
            ..UpkeepSettings::default()
        })
        .unwrap();
        upkeep.add(Arc::clone(&lane));
        Self {
            folder,
            lane,
            _upkeep: upkeep,
        }
    }

    /// Adds a document of so many days ago as a split of its own.
    async fn add(&self, days: u64) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let at = now.as_secs() - days * 86_400;
        let document = format!("{{\"at\": {at}}}").into_bytes();
        let added = self.lane.add(&[&document], Acknowledge::Published).await;
        added.unwrap();
    }

    /// How many documents each split has, as soon as that is what is expected.
    async fn has(&self, expected: &[u64]) {
        let splits = || {
            let manifest = store(&self.folder).load_manifest().unwrap().manifest;
            let splits = manifest.splits.iter().map(|split| split.num_docs);
            splits.collect::<Vec<u64>>()
        };
        let waiting = async {
            while splits() != expected {
                tokio::time::sleep(SOON).await;
            }
        };
        let in_time = tokio::time::timeout(PATIENCE, waiting).await;
        assert!(in_time.is_ok(), "{:?} and not {expected:?}", splits());
    }
}

fn store(folder: &TempDir) -> IndexStore {
    IndexStore::open(folder.path().join("index").to_str().unwrap()).unwrap()
}

#[tokio::test]
async fn small_splits_are_merged() {
    let bench = Bench::start();
    for _ in 0..MERGE_FACTOR {
        bench.add(0).await;
    }
    bench.has(&[MERGE_FACTOR]).await;
}

#[tokio::test]
async fn splits_that_have_expired_are_removed() {
    let bench = Bench::start();
    bench.add(100).await;
    bench.add(0).await;
    bench.has(&[1]).await;
}
