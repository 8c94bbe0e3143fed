//! An index as `PUT /i` makes it, filled as `_bulk` fills it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use canter_index_builder::{IndexStore, create_index};
use canter_intake::{Acknowledge, IndexParts, Lane, LaneSettings, Room, index_config};
use canter_runtime::Searcher;
use canter_runtime::engine::Engine;
use canter_runtime::fetch::MemoryFetcher;
use serde_json::{Value, json};

/// An index with the documents that it accepted.
pub(super) struct Index {
    pub(super) searcher: Searcher,
    /// Whether each document was accepted, or why not.
    pub(super) refusals: Vec<Option<String>>,
}

impl Index {
    /// Makes an index, and sends it the documents in `num_parts` requests.
    ///
    /// # Errors
    /// The mapping is refused.
    pub(super) fn of(
        engine: Arc<dyn Engine>,
        mapping: &Value,
        documents: &[Value],
        num_parts: usize,
    ) -> Result<Self, String> {
        let body = json!({"mappings": mapping});
        let parts = IndexParts::read(&body, "the body").map_err(|error| error.to_string())?;
        let config = index_config("i", &[parts], false).map_err(|error| error.to_string())?;
        let folder = tempfile::tempdir().unwrap();
        let uri = folder.path().join("index");
        let uri = uri.to_str().unwrap();
        create_index(uri, &config).map_err(|error| error.to_string())?;
        let runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = { runtime }.enable_all().build().unwrap();
        let room = Room::new(64 << 20, Duration::from_secs(60));
        let store = IndexStore::open(uri).unwrap();
        let lane = Lane::start(store, LaneSettings::default(), room).unwrap();
        let mut refusals = Vec::new();
        for part in documents.chunks(documents.len().div_ceil(num_parts)) {
            let lines: Vec<Vec<u8>> = part.iter().map(|own| own.to_string().into()).collect();
            let lines: Vec<&[u8]> = lines.iter().map(Vec::as_slice).collect();
            let before = refusals.len();
            let mut told = |problem: Option<canter_index_builder::DocumentProblem>| {
                refusals.push(problem.map(|problem| problem.message));
            };
            lane.check_each(lines.iter().copied(), &mut told).unwrap();
            let right = lines.iter().zip(&refusals[before..]);
            let right = right.filter(|(_, refusal)| refusal.is_none());
            let right: Vec<&[u8]> = right.map(|(line, _)| *line).collect();
            let added = lane.add(&right, Acknowledge::PublishedNow);
            runtime.block_on(added).unwrap();
        }
        drop(lane);
        let mut objects = BTreeMap::new();
        read_folder(Path::new(uri), "", &mut objects);
        let fetcher = MemoryFetcher::from_iter(objects);
        let builder = Searcher::builder().engine(engine);
        let builder = builder.index_from("i", Arc::new(fetcher), "i").unwrap();
        Ok(Self {
            searcher: builder.build().unwrap(),
            refusals,
        })
    }

    /// Searches; returns the status and the answer.
    pub(super) fn search(&self, body: &Value) -> (u16, Value) {
        crate::calls::call(&self.searcher, "POST", "/i/_search", "", body)
    }
}

fn read_folder(folder: &Path, prefix: &str, objects: &mut BTreeMap<String, Bytes>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.file_type().unwrap().is_dir() {
            true => read_folder(&entry.path(), &format!("{name}/"), objects),
            false => {
                let bytes = std::fs::read(entry.path()).unwrap();
                objects.insert(name, bytes.into());
            }
        }
    }
}
