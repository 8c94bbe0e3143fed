//! Scrolls of an index that is written to, merged, deleted from and cleaned up meanwhile: each
//! document that existed at the start of the scroll comes exactly once, or the scroll reports that
//! it cannot continue.
//!
//! ```text
//!   history   state 0 ──▶ state 1 ──▶ … ──▶ state n      by ingests, merges, deletions and garbage collections
//!   scroll            page 1 ─────▶ page 2 ▶ page 3 ─────▶ …      each from a later state, chosen by a seed
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use canter_doc_mapper::IndexConfig;
use canter_index_builder::{
    GcOptions, IndexStore, IngestOptions, MergeIndexOptions, Source, collect_garbage, create_index,
    delete_documents, ingest, merge_index,
};
use canter_runtime::cache::{EntryCache, MemoryCache};
use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::fetch::MemoryFetcher;
use canter_runtime::session::HttpRequest;
use canter_runtime::{Caller, Limits, RangeCache, Searcher};
use canter_tests::{list, usual_or_full};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// Config that merges three splits of similar size.
const CONFIG: &str = "
version: 0.9
index_id: hits
doc_mapping:
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: level, type: u64, fast: true}
    - {name: ts, type: datetime, fast: true, input_formats: [unix_timestamp]}
  timestamp_field: ts
indexing_settings:
  split_num_docs_target: 1000
  merge_policy: {type: stable_log, min_level_num_docs: 20, merge_factor: 3, max_merge_factor: 4}
";
const NUM_HISTORIES: u64 = 4;
const NUM_STATES: usize = 18;
/// Grace period of unreferenced objects, as a number of states. Each state takes a second.
const GRACE: usize = 8;
const STATE_MS: u64 = 1_000;
const NUM_LEVELS: u64 = 6;

/// Index at one moment.
struct State {
    objects: BTreeMap<String, Bytes>,
    /// Levels of the documents, keyed by number.
    documents: BTreeMap<u64, u64>,
}

/// States of an index over time.
type History = Vec<State>;

/// Index that is written to.
struct Written {
    folder: tempfile::TempDir,
    store: IndexStore,
    documents: BTreeMap<u64, u64>,
    num_ingested: u64,
    rng: ChaCha8Rng,
}

impl Written {
    fn new(seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let config = IndexConfig::from_yaml(CONFIG, |_| None).unwrap();
        let store = create_index(folder.path().to_str().unwrap(), &config).unwrap();
        Self {
            folder,
            store,
            documents: BTreeMap::new(),
            num_ingested: 0,
            rng: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    fn ingest(&mut self) {
        let first = self.num_ingested;
        let num = self.rng.random_range(1..30);
        let mut lines = Vec::new();
        for n in first..first + num {
            let level = self.rng.random_range(0..NUM_LEVELS);
            let ts = 1_460_000_000 + self.rng.random_range(0..20);
            lines.push(json!({"n": n, "level": level, "ts": ts}).to_string());
            self.documents.insert(n, level);
        }
        self.num_ingested += num;
        let options = IngestOptions {
            split_num_docs_target: Some(self.rng.random_range(5..20)),
            ..IngestOptions::default()
        };
        let text = std::io::Cursor::new(lines.join("\n").into_bytes());
        let id = format!("from {first}");
        let source = Source::reader(id.clone(), text).with_id(id);
        ingest(&self.store, &options, vec![source], &()).unwrap();
    }

    fn merge(&mut self) {
        let options = MergeIndexOptions {
            max_merges: self.rng.random_bool(0.5).then_some(1),
            rewrite_deleted: self.rng.random_bool(0.3),
            ..MergeIndexOptions::default()
        };
        merge_index(&self.store, &options, &|_| {}).unwrap();
    }

    fn delete(&mut self) {
        let level = self.rng.random_range(0..NUM_LEVELS);
        let until = self.rng.random_range(0..self.num_ingested);
        let fetcher: MemoryFetcher = objects_in(self.folder.path()).into_iter().collect();
        let searcher = Searcher::builder()
            .engine(Arc::new(NativeEngine::new()))
            .fetcher(Arc::new(fetcher))
            .build()
            .unwrap();
        let request = json!({"query": format!("level:{level} AND n:<{until}")});
        delete_documents(&self.store, || list(&searcher, &request)).unwrap();
        self.documents
            .retain(|n, of_document| *of_document != level || *n >= until);
    }

    fn collect(&self, state: usize) {
        let options = GcOptions {
            now_ms: (state as u64 + 1) * STATE_MS,
            grace_ms: GRACE as u64 * STATE_MS,
            dry_run: false,
            applies_retention: true,
        };
        collect_garbage(&self.store, &options).unwrap();
    }

    fn history(mut self) -> History {
        for _ in 0..3 {
            self.ingest();
        }
        let mut history = Vec::new();
        for state in 0..NUM_STATES {
            for _ in 0..self.rng.random_range(1..3) {
                match self.rng.random_range(0..10) {
                    0..4 => self.ingest(),
                    4..8 => self.merge(),
                    _ => self.delete(),
                }
            }
            self.collect(state);
            history.push(State {
                objects: objects_in(self.folder.path()),
                documents: self.documents.clone(),
            });
        }
        history
    }
}

fn objects_in(folder: &Path) -> BTreeMap<String, Bytes> {
    let mut objects = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap();
            objects.insert(name.to_owned(), std::fs::read(&path).unwrap().into());
        }
    }
    objects
}

static HISTORIES: LazyLock<Vec<History>> = LazyLock::new(|| {
    let histories: Vec<History> = (0..NUM_HISTORIES)
        .map(|seed| Written::new(seed).history())
        .collect();
    // Checks that garbage collections removed objects and merges replaced splits.
    for history in &histories {
        let names = |state: &State| -> BTreeSet<String> {
            let names = state
                .objects
                .keys()
                .filter(|name| name.starts_with("splits/"));
            names.cloned().collect()
        };
        let last = names(history.last().unwrap());
        assert!(history.iter().any(|state| !names(state).is_subset(&last)));
    }
    histories
});

/// Client that scrolls, with its server.
struct Client<'h> {
    history: &'h History,
    engine: Arc<dyn Engine>,
    cache: Option<Arc<dyn RangeCache>>,
    runtime: Runtime,
    caller: Caller,
}

/// Result of a scroll.
#[derive(Debug, PartialEq)]
enum End {
    /// All documents, in this order.
    All(Vec<u64>),
    /// Error that says that the scroll cannot continue.
    Refused,
    /// Page that says that a part of the index could not be searched.
    Partial,
}

impl Client<'_> {
    fn ask(&self, state: usize, path: &str, body: &Value) -> (u16, Value) {
        let objects = self.history[state].objects.clone();
        let fetcher: MemoryFetcher = objects.into_iter().collect();
        let builder = Searcher::builder().engine(Arc::clone(&self.engine));
        let builder = builder.index_from("hits", Arc::new(fetcher), "hits");
        let mut builder = builder.unwrap();
        if let Some(cache) = &self.cache {
            builder = builder.cache(Arc::clone(cache));
        }
        let searcher = builder.build().unwrap();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let request = HttpRequest {
            method: "POST".to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            body: body.to_string().into_bytes(),
        };
        let limits = Limits::default();
        let answer = searcher.http(request, &self.caller, &limits);
        let response = self.runtime.block_on(answer).response;
        (
            response.status,
            serde_json::from_slice(&response.body).unwrap(),
        )
    }

    /// Scrolls like `helpers.scan`; `next` returns the state for a page from the state of the page
    /// before.
    fn scroll(&self, body: &Value, first: usize, mut next: impl FnMut(usize) -> usize) -> End {
        let total = self.expected(body, first).len();
        let mut state = first;
        let mut found = Vec::new();
        let (mut status, mut page) = self.ask(state, "/hits/_search?scroll=5m", body);
        loop {
            if status == 404 {
                let kind = &page["error"]["type"];
                assert_eq!(kind, "search_context_missing_exception", "{page}");
                return End::Refused;
            }
            assert_eq!(status, 200, "{page}");
            if page["_shards"]["failed"] != 0 {
                return End::Partial;
            }
            assert_eq!(page["hits"]["total"]["value"], total, "{body}: {page}");
            let hits = page["hits"]["hits"].as_array().unwrap();
            if hits.is_empty() {
                return End::All(found);
            }
            found.extend(hits.iter().map(|hit| hit["_source"]["n"].as_u64().unwrap()));
            state = next(state);
            let more = json!({"scroll": "5m", "scroll_id": page["_scroll_id"]});
            (status, page) = self.ask(state, "/_search/scroll", &more);
        }
    }

    /// Returns the numbers of the documents that a request should find, by a plain scan.
    fn expected(&self, body: &Value, state: usize) -> Vec<u64> {
        let least = body.pointer("/query/range/level/gte");
        let least = least.and_then(Value::as_u64).unwrap_or(0);
        let least = match self.caller.forced_filter {
            Some(_) => least.max(2),
            None => least,
        };
        let documents = self.history[state].documents.iter();
        let found = documents.filter(|(_, level)| **level >= least);
        found.map(|(n, _)| *n).collect()
    }
}

/// Derives a client, its request, the first state and a random number generator from a seed.
fn drawn(seed: u64, engine: &Arc<dyn Engine>) -> (Client<'static>, Value, usize, ChaCha8Rng) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let history = &HISTORIES[rng.random_range(0..HISTORIES.len())];
    let is_filtered = rng.random_bool(0.2);
    // A caller with a filter gets hits in the order of the index.
    let sorts = [
        Value::Null,
        json!(["_doc"]),
        json!([{"n": "desc"}]),
        json!([{"level": "asc"}]),
        json!([{"ts": "desc"}]),
        json!([{"level": "desc"}, {"_doc": "asc"}]),
        json!(["_score"]),
    ];
    let num_sorts = if is_filtered { 2 } else { sorts.len() };
    let query = match rng.random_range(0..3) {
        0 => json!({"range": {"level": {"gte": rng.random_range(0..NUM_LEVELS)}}}),
        _ => json!({"match_all": {}}),
    };
    let mut body = json!({"query": query, "size": rng.random_range(1..25)});
    let sort = &sorts[rng.random_range(0..num_sorts)];
    if !sort.is_null() {
        body["sort"] = sort.clone();
    }
    let client = Client {
        history,
        engine: Arc::clone(engine),
        cache: Some(Arc::new(MemoryCache::new(64 << 20))),
        runtime: tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap(),
        caller: Caller {
            forced_filter: is_filtered.then(|| "level:>=2".to_owned()),
            ..Caller::default()
        },
    };
    let first = rng.random_range(0..NUM_STATES - GRACE);
    (client, body, first, rng)
}

fn native() -> Arc<dyn Engine> {
    Arc::new(NativeEngine::new())
}

fn wasm() -> Arc<dyn Engine> {
    Arc::new(WasmEngine::embedded(WasmOptions::default()).unwrap())
}

/// Checks a scroll that ended with all documents.
fn check_all(found: &[u64], client: &Client<'_>, body: &Value, first: usize, seed: u64) {
    let mut sorted = found.to_vec();
    sorted.sort_unstable();
    let expected = client.expected(body, first);
    assert_eq!(sorted, expected, "seed {seed}: {body}");
    if body["sort"] == json!([{"n": "desc"}]) {
        assert!(found.is_sorted_by(|one, other| one > other), "seed {seed}");
    }
    if body["sort"] == json!([{"level": "asc"}]) {
        let level = |n: &u64| client.history[first].documents[n];
        assert!(found.is_sorted_by_key(level), "seed {seed}");
    }
}

#[test]
fn each_document_comes_exactly_once_while_an_index_lives() {
    let num_native = usual_or_full(60, 200) as u64;
    for (engine, seeds) in [(native(), 0..num_native), (wasm(), 200..212)] {
        let mut num_moved = 0;
        for seed in seeds.clone() {
            let (client, body, first, mut rng) = drawn(seed, &engine);
            let last = first + GRACE - 1;
            let mut moved = false;
            let end = client.scroll(&body, first, |state| {
                let next = (state + rng.random_range(0..3)).min(last);
                moved |= next > state;
                next
            });
            let End::All(found) = end else {
                panic!("seed {seed}: {end:?}: {body}");
            };
            check_all(&found, &client, &body, first, seed);
            num_moved += u64::from(moved);
        }
        assert!(num_moved * 3 > (seeds.end - seeds.start) * 2);
    }
}

/// A host without a cache only has the newest manifest.
#[test]
fn without_a_cache_a_scroll_ends_with_an_error_once_its_index_has_changed() {
    for (engine, seeds) in [(native(), 0..60), (wasm(), 60..66)] {
        let (mut num_whole, mut num_refused) = (0, 0);
        for seed in seeds {
            let (mut client, body, first, mut rng) = drawn(seed, &engine);
            client.cache = None;
            let end = client.scroll(&body, first, |state| {
                (state + usize::from(rng.random_bool(0.1))).min(NUM_STATES - 1)
            });
            match end {
                End::All(found) => {
                    check_all(&found, &client, &body, first, seed);
                    num_whole += 1;
                }
                End::Refused => num_refused += 1,
                End::Partial => panic!("seed {seed}: {body}"),
            }
        }
        assert!(
            num_whole > 0 && num_refused > 0,
            "{num_whole}, {num_refused}"
        );
    }
}

/// Objects that were removed after the grace period cause an error and are not skipped.
#[test]
fn a_scroll_that_outlives_its_objects_says_so() {
    let engine = native();
    let mut num_said = 0;
    for seed in 0..40 {
        let (mut client, body, first, _) = drawn(seed, &engine);
        // This cache keeps manifests, but no data of splits.
        client.cache = Some(Arc::new(EntryCache::new(64 << 20)));
        match client.scroll(&body, first, |_| NUM_STATES - 1) {
            End::All(found) => check_all(&found, &client, &body, first, seed),
            End::Partial => num_said += 1,
            End::Refused => panic!("seed {seed}: the manifest is kept"),
        }
    }
    assert!(num_said > 10, "{num_said}");
}

/// Elasticsearch also refuses this combination.
#[test]
fn a_point_in_time_is_not_scrolled() {
    let (client, ..) = drawn(0, &native());
    let (_, opened) = client.ask(0, "/hits/_pit?keep_alive=1m", &json!({}));
    let body = json!({"pit": {"id": opened["id"]}});
    let (status, refused) = client.ask(0, "/_search?scroll=1m", &body);
    assert_eq!(status, 400);
    let reason = refused["error"]["reason"].as_str().unwrap();
    assert!(
        reason.contains("[point in time] is not allowed in a scroll"),
        "{reason}"
    );
}
