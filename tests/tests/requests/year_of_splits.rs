//! Index of 100,000 splits, one for every five minutes of a year. The costs of a search depend on
//! its needs, and those of a publication on the new data.
//!
//! The splits of one hour are real. The others are simulated: entries of the same form at other
//! times, whose objects are never read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use canter_index_builder::{IngestOptions, Source, ingest};
use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::{Limits, Profile, SearchError, SearchResponse};
use canter_samples::HDFS_LOGS_YAML;
use canter_split_format::{
    MANIFEST_OBJECT, ManifestFile, PageSplit, Rollup, SplitFilter, TimeRange, split_object,
    write_page,
};
use canter_tests::{TestIndex, hdfs_lines, run_with};
use serde_json::{Value, json};

const NUM_SPLITS: u64 = 100_000;
/// Number of splits in a page if every ingest creates one split.
const PAGE_LEN: usize = 528;
/// Number of documents in a split.
const NUM_DOCS: u64 = 100;
const SPLIT_SECONDS: u64 = 300;
/// Number of real splits: those of an hour.
const NUM_REAL: u64 = 12;
/// Start of the hour in seconds since 1970.
const HOUR: u64 = 1_700_000_100;
/// Index of the hour's first split in the year.
const REAL_ORD: u64 = 70_007;

const MB: u64 = 1 << 20;

fn config() -> String {
    HDFS_LOGS_YAML.replacen(
        "  timestamp_field: timestamp\n",
        "  timestamp_field: timestamp\n  tag_fields: [severity_text]\n",
        1,
    )
}

/// Returns an hour of logs in twelve splits.
fn hour() -> TestIndex {
    let lines = hdfs_lines(NUM_REAL * NUM_DOCS, 9).unwrap();
    let lines = (0..).zip(lines).map(|(ord, line): (u64, String)| {
        let mut line: Value = serde_json::from_str(&line).unwrap();
        line["timestamp"] = json!(HOUR + ord * SPLIT_SECONDS / NUM_DOCS);
        // Few splits have this level.
        if ord / NUM_DOCS == 5 && ord % 50 == 0 {
            line["severity_text"] = json!("FATAL");
        }
        line.to_string()
    });
    let lines: Vec<String> = lines.collect();
    TestIndex::build(&config(), &lines, NUM_DOCS).unwrap()
}

/// Returns a copy of a split at another place of the year.
fn moved(split: &PageSplit, ord: u64) -> PageSplit {
    let hours = (ord / NUM_REAL) as i64 - (REAL_ORD / NUM_REAL) as i64;
    let by_ns = hours * 3_600_000_000_000;
    let range = split.entry.time_range.unwrap();
    let mut moved = split.clone();
    moved.entry.id = format!("{:032x}", u128::from(ord + 1) * 0x9e37_79b9_7f4a_7c15);
    moved.entry.time_range = Some(TimeRange {
        start_ns: range.start_ns + by_ns,
        end_ns: range.end_ns + by_ns,
    });
    moved
}

/// Index of the year.
static YEAR: LazyLock<TestIndex> = LazyLock::new(|| {
    let mut index = hour();
    let mut manifest = index.manifest().unwrap();
    let taken = manifest.take_splits(|_| true);
    assert_eq!(taken.len() as u64, NUM_REAL);
    let opened = taken.into_iter().map(|(entry, head)| {
        let object = &index.objects[&split_object(&entry.id)];
        let (mut split, rollup) = PageSplit::of_head(entry, head.unwrap()).unwrap();
        let range = split.filter_range().unwrap();
        let bytes = &object[range.start as usize..range.end as usize];
        split.filter = Some(SplitFilter::open(bytes).unwrap());
        (split, rollup.unwrap())
    });
    let (real, rollups): (Vec<PageSplit>, Vec<Rollup>) = opened.unzip();
    let summary = Rollup::sum(&rollups).unwrap();
    let in_the_hour = |ord: u64| &real[(ord % NUM_REAL) as usize];
    let in_the_year = |ord: u64| match ord / NUM_REAL == REAL_ORD / NUM_REAL {
        true => in_the_hour(ord).clone(),
        false => moved(in_the_hour(ord), ord),
    };
    let newest = NUM_SPLITS - 20;
    let ords: Vec<u64> = (0..newest).collect();
    for ords in ords.chunks(PAGE_LEN) {
        let has_heads = ords.contains(&REAL_ORD);
        let splits = ords.iter().map(|ord| {
            let mut split = in_the_year(*ord);
            // Drops heads that are never read.
            split.head = split.head.filter(|_| has_heads);
            split
        });
        let written = write_page(splits.collect(), Some(&summary)).unwrap();
        let filters = written.page.filters.as_ref().unwrap().object();
        index
            .objects
            .insert(filters, written.filters.unwrap().into());
        let object = written.page.object();
        index.objects.insert(object, written.bytes.into());
        manifest.pages.push(written.page);
    }
    for ord in newest..NUM_SPLITS {
        let split = in_the_year(ord);
        let object = index.objects[&split_object(&in_the_hour(ord).entry.id)].clone();
        index.objects.insert(split_object(&split.entry.id), object);
        manifest.add_split(split.entry, split.head.unwrap());
    }
    assert_eq!(manifest.num_splits(), NUM_SPLITS);
    let bytes = manifest.to_bytes().unwrap();
    index
        .objects
        .insert(MANIFEST_OBJECT.to_owned(), bytes.into());
    index
});

fn engines() -> [(&'static str, Arc<dyn Engine>); 2] {
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    [
        ("native", Arc::new(NativeEngine::new())),
        ("wasm", Arc::new(wasm)),
    ]
}

/// Returns the number of documents of the year with the most common level: whole hours of the same
/// twelve splits, and a remainder.
fn info_docs() -> u64 {
    let heads = hour().manifest().unwrap().take_splits(|_| true);
    let opened = heads
        .into_iter()
        .map(|(entry, head)| PageSplit::of_head(entry, head.unwrap()).unwrap().0);
    let of_splits: Vec<u64> = opened
        .map(|split| split.totals["severity_text"]["INFO"])
        .collect();
    let ords = 0..NUM_SPLITS;
    ords.map(|ord| of_splits[(ord % NUM_REAL) as usize]).sum()
}

/// Returns an answer and its profile, from a guest with the memory of an edge platform.
fn search(engine: &Arc<dyn Engine>, request: &Value) -> (Value, Profile) {
    let answer = try_search(engine, request).unwrap();
    assert_eq!(answer.json["failed_splits"], json!([]), "{request}");
    (answer.json, answer.profile)
}

fn try_search(engine: &Arc<dyn Engine>, request: &Value) -> Result<SearchResponse, SearchError> {
    let searcher = YEAR.searcher(Arc::clone(engine), 3, 1).unwrap();
    let limits = Limits {
        max_memory_bytes: Some(128 << 20),
        ..Limits::default()
    };
    run_with(&searcher, request, &limits)
}

/// Returns the length of a manifest of `num_bytes` bytes without the heads that it carries.
fn root_len(manifest: &ManifestFile, num_bytes: u64) -> u64 {
    let splits = manifest.manifest.splits.iter();
    let heads = splits.filter(|split| split.head_offset.is_some());
    num_bytes - heads.map(|split| split.head_len).sum::<u64>()
}

#[test]
fn the_root_stays_small() {
    let manifest = YEAR.manifest().unwrap();
    let root = root_len(&manifest, YEAR.objects[MANIFEST_OBJECT].len() as u64);
    let num_pages = manifest.pages.len();
    println!("{num_pages} pages, a root of {root} bytes");
    assert!(root <= 64 << 10, "{root}");
}

#[test]
fn a_search_costs_what_it_needs() {
    let hour = |mut request: Value| {
        request["start_timestamp"] = HOUR.into();
        request["end_timestamp"] = (HOUR + 3_600).into();
        request
    };
    let by_day = json!({"days": {
        "date_histogram": {"field": "timestamp", "fixed_interval": "1d"},
        "aggs": {"levels": {"terms": {"field": "severity_text"}}},
    }});
    let by_level = json!({"levels": {"terms": {"field": "severity_text"}}});
    let year_docs = NUM_SPLITS * NUM_DOCS;
    // Request, its number of hits, and its maximum waves, requests and bytes.
    let table = [
        (
            hour(json!({"query": "*", "max_hits": 0})),
            1_200,
            (2, 2, MB),
        ),
        (
            hour(json!({"query": "*", "max_hits": 10})),
            1_200,
            (4, 4, MB),
        ),
        (
            hour(json!({"query": "tenant_id:>=0", "max_hits": 0, "aggs": by_level})),
            1_200,
            (4, 20, 2 * MB),
        ),
        (
            hour(json!({"query": "severity_text:FATAL", "max_hits": 5})),
            2,
            (4, 4, MB),
        ),
        (json!({"query": "*", "max_hits": 0}), year_docs, (1, 1, MB)),
        (json!({"query": "*", "max_hits": 10}), year_docs, (2, 2, MB)),
        (
            json!({"query": "*", "max_hits": 0, "aggs": by_day}),
            year_docs,
            (2, 200, 20 * MB),
        ),
        (
            json!({"query": "severity_text:INFO", "max_hits": 0}),
            info_docs(),
            (2, 200, 20 * MB),
        ),
        (
            json!({"query": "severity_text:NOBODY", "max_hits": 10}),
            0,
            (1, 1, MB),
        ),
        (
            json!({"query": "body:nowhere", "max_hits": 10}),
            0,
            (3, 600, 64 * MB),
        ),
    ];
    for (request, num_hits, (waves, requests, bytes)) in table {
        for (name, engine) in engines() {
            let (answer, profile) = search(&engine, &request);
            println!(
                "{name} {request}: {} waves, {} requests, {} bytes, {} us of {} steps",
                profile.num_waves,
                profile.num_requests,
                profile.num_bytes,
                profile.guest_us,
                profile.num_steps
            );
            assert_eq!(answer["num_hits"], num_hits, "{request}");
            assert!(
                profile.num_waves <= waves
                    && profile.num_requests <= requests
                    && profile.num_bytes <= bytes,
                "{request}"
            );
        }
    }
}

/// A search that neither sums nor filters can answer is refused with advice.
#[test]
fn the_limit_on_splits_is_one_on_what_must_be_read() {
    let request = json!({"query": "body:block", "max_hits": 3, "sort_by": "tenant_id"});
    for (_, engine) in engines() {
        let refused = try_search(&engine, &request).unwrap_err();
        let message = refused.to_string();
        assert!(message.contains("needs 100000 splits"), "{message}");
        assert!(
            message.contains("narrow it by start_timestamp"),
            "{message}"
        );
    }
}

/// Returns the objects in an index's folder that are not splits, with their sizes.
fn objects(folder: &Path) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    for kind in ["pages", "filters", "ledger"] {
        for file in fs::read_dir(folder.join(kind)).into_iter().flatten() {
            let file = file.unwrap();
            found.insert(file.path(), file.metadata().unwrap().len());
        }
    }
    found
}

#[test]
fn a_publication_writes_what_is_new() {
    let stored = YEAR.to_folder().unwrap();
    let folder = stored.folder.path();
    let num_pages = || stored.store.load_manifest().unwrap().pages.len();
    // Bytes by the effect on pages: none, a new page, several pages merged into one.
    let mut most = [0_u64; 3];
    let mut longest = Duration::ZERO;
    for ord in 0..140 {
        let (before, num_before) = (objects(folder), num_pages());
        let text = hdfs_lines(500, 100 + ord).unwrap().join("\n");
        let text = std::io::Cursor::new(text.into_bytes());
        let source = Source::reader("lines", text).with_id(ord.to_string());
        let began = Instant::now();
        let report = ingest(&stored.store, &IngestOptions::default(), vec![source], &()).unwrap();
        longest = longest.max(began.elapsed());
        assert_eq!(report.num_published_splits, 1);
        let manifest = fs::metadata(folder.join(MANIFEST_OBJECT)).unwrap();
        let new = objects(folder).into_iter();
        let new = new.filter(|(path, _)| !before.contains_key(path));
        let num_bytes = new.map(|(_, len)| len).sum::<u64>() + manifest.len();
        let kind = match num_pages() as i64 - num_before as i64 {
            0 => 0,
            1 => 1,
            _ => 2,
        };
        most[kind] = most[kind].max(num_bytes);
        assert!(root_len(&stored.store.load_manifest().unwrap(), manifest.len()) <= 64 << 10);
    }
    let [plain, with_page, with_merge] = most;
    println!(
        "{plain} bytes, {with_page} with a new page, {with_merge} when pages are merged; an ingest of 500 \
         documents took {longest:?} at most"
    );
    assert!(plain > 0 && with_merge > 0);
    assert!(
        plain <= 1_000_000 && (1..=1_000_000).contains(&with_page),
        "{most:?}"
    );
}
