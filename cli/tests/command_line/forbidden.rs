//! Attempts to see, or to infer, documents that a token's filter forbids.
//!
//! Two indexes are served: one with the documents of two tenants, and one with those of the first alone. Both must
//! give the first tenant the same answers: a difference would reveal the second tenant's documents.

mod attempts;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use canter_tests::usual_or_full;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

use self::attempts::{Attempt, Attempts};
use crate::serve::{Answer, Server};
use crate::serve_tokens::key;
use crate::support::run;

const CONFIG: &str = r#"
version: 0.8
index_id: logs
doc_mapping:
  mode: dynamic
  timestamp_field: ts
  field_mappings:
    - {name: ts, type: datetime, input_formats: [unix_timestamp], fast: true, fast_precision: seconds}
    - {name: tenant_id, type: u64, fast: true}
    - {name: level, type: text, tokenizer: raw, fast: true}
    - {name: user, type: text, tokenizer: raw, fast: true}
    - {name: latency, type: f64, fast: true}
    - {name: client, type: ip, fast: true}
    - {name: body, type: text, record: position}
search_settings:
  default_search_fields: [body]
"#;

/// Texts that occur only in documents of the second tenant.
const MARKS: [&str; 9] = [
    "zebra",
    "mallory",
    "FATAL",
    "secret_key",
    "66.6.6.6",
    "987654.5",
    "madness",
    "gold",
    "q003x",
];

/// Returns documents of the first tenant, and among them, before and after, those of the second if `with_forbidden`.
fn documents(with_forbidden: bool) -> String {
    let mut lines = String::new();
    for nth in 0..400_u32 {
        let is_forbidden = nth % 4 == 3 || !(20..380).contains(&nth);
        let document = match is_forbidden {
            false => json!({
                "ts": 1_700_000_000 + nth * 60, "tenant_id": 7, "level": (["INFO", "WARN"][nth as usize % 2]),
                "user": format!("user{}", nth % 9), "latency": f64::from(nth % 50) / 4.0,
                "client": format!("10.0.0.{}", nth % 20),
                "body": format!("request {nth} took a while in room {}", nth % 11),
                "shape": {"colour": (["red", "green"][nth as usize / 2 % 2])},
                "mixed": nth % 7, "times": "2023-11-15T00:00:00Z",
            }),
            true if !with_forbidden => continue,
            true => json!({
                "ts": 1_700_000_000 + nth * 60, "tenant_id": 8, "level": "FATAL", "user": "mallory",
                "latency": 987_654.5, "client": "66.6.6.6",
                "body": format!("zebra crossing request {} in room {}", many_words(nth), nth % 11),
                "shape": {"colour": "red", "secret_key": nth},
                "mixed": ([json!("madness"), json!(1.5), json!(true), json!(1e300), json!("2023-11-15T00:00:00Z")]
                    [nth as usize % 5]),
                "plan": (if nth % 2 == 0 { json!("gold") } else { json!(nth) }),
                "times": ["2023-11-15T00:00:00Z", "2023-11-16T00:00:00Z"],
            }),
        };
        writeln!(lines, "{document}").unwrap();
    }
    lines
}

/// Returns words with the same prefix, distinct for each document: a split has far more than a thousand.
fn many_words(nth: u32) -> String {
    let words = (0..60).map(|word| format!("q{nth:03}x{word:02}"));
    words.collect::<Vec<_>>().join(" ")
}

fn build(folder: &Path, name: &str, lines: &str) {
    std::fs::write(folder.join("logs.yaml"), CONFIG).unwrap();
    std::fs::write(folder.join(format!("{name}.ndjson")), lines).unwrap();
    run(
        folder,
        &[
            "index",
            "create",
            "--index",
            name,
            "--index-config",
            "logs.yaml",
        ],
        0,
    );
    run(
        folder,
        &[
            "index",
            "ingest",
            "--index",
            name,
            "--input",
            &format!("{name}.ndjson"),
            "--split-num-docs",
            "100",
        ],
        0,
    );
}

/// Removes the parts of an answer that depend on the request instead of the documents.
fn without_the_moment(answer: &mut Value) {
    match answer {
        Value::Object(object) => {
            for moment in [
                "took",
                "elapsed_time_micros",
                "_scroll_id",
                "_id",
                "pit_id",
                "create_timestamp",
                "transport_address",
                "publish_address",
                "bound_address",
            ] {
                object.remove(moment);
            }
            object.values_mut().for_each(without_the_moment);
        }
        Value::Array(array) => array.iter_mut().for_each(without_the_moment),
        _ => {}
    }
}

/// The indexes, and tokens for them.
struct Indexes {
    folder: TempDir,
    /// Token for the first tenant's documents.
    narrow: String,
    /// Token for all documents.
    wide: String,
}

impl Indexes {
    /// Returns the indexes of another running test, or new ones.
    fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<Indexes>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let indexes = Arc::new(Self::build());
            *shared = Arc::downgrade(&indexes);
            indexes
        })
    }

    fn build() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        build(path, "mixed", &documents(true));
        build(path, "alone", &documents(false));
        build(path, "other", &documents(true));
        let of_first = [
            "--id",
            "seven",
            "--index",
            "logs",
            "--filter",
            "tenant_id:7",
        ];
        let narrow = key(path, &of_first);
        let wide = key(path, &["--id", "wide", "--index", "logs"]);
        Self {
            folder,
            narrow,
            wide,
        }
    }

    /// Returns a server with this index as `logs`, and another one that neither token allows.
    fn serve(&self, index: &str, more: &[&str]) -> Server {
        let index = format!("logs={index}");
        let args = [
            "--index",
            &index,
            "--index",
            "other",
            "--api-keys",
            "keys.toml",
        ];
        Server::of(self.folder.path(), &[&args, more].concat())
    }
}

const UNCACHED: [&str; 1] = ["--no-cache"];

fn ask(server: &Server, token: &str, attempt: &Attempt) -> Answer {
    let bearer = format!("Bearer {token}");
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
    ];
    let Attempt { method, path, body } = attempt;
    server.send(method.clone(), path, &headers, body.clone())
}

/// Sends all requests with and without the forbidden documents; with `wide`, first with the token for all documents.
fn check(attempts: &Attempts, engine: &str, cache: &[&str], wide: bool) {
    let indexes = Indexes::shared();
    let engine = ["--engine", engine];
    let mixed = indexes.serve("mixed", &[&engine, cache].concat());
    let alone = indexes.serve("alone", &[&engine[..], &UNCACHED].concat());
    let mut leaks = Vec::new();
    for attempt in &attempts.0 {
        if wide {
            ask(&mixed, &indexes.wide, attempt);
        }
        let (found, expected) = (
            ask(&mixed, &indexes.narrow, attempt),
            ask(&alone, &indexes.narrow, attempt),
        );
        leaks.extend(leak(attempt, &found, &expected));
    }
    assert!(
        leaks.is_empty(),
        "{} of {}:\n{}",
        leaks.len(),
        attempts.0.len(),
        leaks.concat()
    );
}

/// Returns the parts of an answer that reveal forbidden documents; `expected` is the answer without them.
fn leak(attempt: &Attempt, found: &Answer, expected: &Answer) -> Option<String> {
    let Attempt { method, path, body } = attempt;
    let costs = [
        "server-timing",
        "x-canter-requests",
        "x-canter-bytes",
        "x-canter-waves",
    ];
    let costs = costs.iter().filter(|cost| found.header(cost).is_some());
    let costs: Vec<_> = costs.collect();
    // An error may repeat parts of the request.
    let request = format!("{}{body}", decoded(path));
    let shown = MARKS
        .iter()
        .filter(|mark| found.text.contains(**mark) && !request.contains(**mark));
    let shown: Vec<_> = shown.collect();
    let (mut value, mut without) = (value_of(&found.text), value_of(&expected.text));
    let places = ids(&value)
        .into_iter()
        .filter(|id| id.len() != 32 || id.contains('-'));
    let places: Vec<String> = places.collect();
    without_the_moment(&mut value);
    without_the_moment(&mut without);
    let is_same = (found.status, &value) == (expected.status, &without);
    let is_sound = is_same && shown.is_empty() && costs.is_empty() && places.is_empty();
    (!is_sound).then(|| {
        format!(
            "{method} {path} {body}: {} and {}, tells {shown:?} {costs:?} {places:?}\n  with:    {value}\n  \
             without: {without}\n",
            found.status, expected.status
        )
    })
}

#[test]
fn queries_find_nothing_forbidden() {
    check(&attempts::queries(), "native", &UNCACHED, false);
}

#[test]
fn aggregations_count_nothing_forbidden() {
    check(&attempts::aggregations(), "native", &UNCACHED, false);
}

#[test]
fn what_types_forbidden_values_have_makes_no_difference() {
    check(&attempts::fields(), "native", &UNCACHED, false);
}

#[test]
fn order_scores_and_pages_do_not_depend_on_forbidden_documents() {
    check(&attempts::searches(), "native", &UNCACHED, false);
}

#[test]
fn what_is_said_of_an_index_tells_nothing_of_forbidden_documents() {
    check(&attempts::other_paths(), "native", &UNCACHED, false);
}

#[test]
fn webassembly_tells_nothing_of_forbidden_documents() {
    check(&attempts::all(), "wasm", &UNCACHED, false);
}

#[test]
fn what_others_were_answered_before_makes_no_difference() {
    let cache = tempfile::tempdir().unwrap();
    let cache = cache.path().to_str().unwrap();
    // Without a cache, few answers could depend on others.
    let caches = [&["--cache", cache][..], &UNCACHED];
    for cache in caches.into_iter().take(usual_or_full(1, 2)) {
        check(&attempts::all(), "native", cache, true);
    }
}

/// Returns the objects of the splits of an index.
fn splits(folder: &Path, index: &str) -> Vec<PathBuf> {
    let objects = std::fs::read_dir(folder.join(index).join("splits")).unwrap();
    let mut objects: Vec<PathBuf> = objects.map(|object| object.unwrap().path()).collect();
    objects.sort();
    objects
}

/// Returns the parts of an answer that reveal a location.
fn places_in(answer: &Answer, splits: &[PathBuf]) -> Vec<String> {
    let ids = splits
        .iter()
        .map(|split| split.file_stem().unwrap().to_str().unwrap().to_owned());
    let words = ["splits/", ".split", "bytes "].map(str::to_owned);
    ids.chain(words)
        .filter(|place| answer.text.contains(place))
        .collect()
}

fn attempt(method: Method, path: &str, body: &Value) -> Attempt {
    Attempt {
        method,
        path: path.to_owned(),
        body: body.to_string(),
    }
}

#[test]
fn what_went_wrong_is_told_without_saying_where() {
    let indexes = Indexes::build();
    let folder = indexes.folder.path();
    let splits = splits(folder, "mixed");
    // All but one: with two of them, the manifest contains a head that counts a word without a read.
    let [gone, damaged @ .., _] = &splits[..] else {
        panic!("{splits:?}");
    };
    assert_eq!(damaged.len(), 2);
    std::fs::remove_file(gone).unwrap();
    for split in damaged {
        let len = std::fs::metadata(split).unwrap().len();
        std::fs::write(split, vec![7; usize::try_from(len).unwrap()]).unwrap();
    }
    // What a head counts is no read.
    let room = json!({"query": {"match_phrase": {"body": "in room"}}});
    let attempts = [
        attempt(Method::POST, "/logs/_search", &room),
        attempt(Method::POST, "/logs/_count", &room),
        attempt(
            Method::POST,
            "/api/v1/logs/search",
            &json!({"query": "body:room", "aggs": {"n": {"percentiles": {"field": "latency"}}}}),
        ),
    ];
    for engine in ["native", "wasm"] {
        let server = indexes.serve("mixed", &["--no-cache", "--engine", engine]);
        for attempt in &attempts {
            let path = &attempt.path;
            let wide = ask(&server, &indexes.wide, attempt);
            assert!(
                !places_in(&wide, &splits).is_empty(),
                "{path}: {}",
                wide.text
            );
            let narrow = ask(&server, &indexes.narrow, attempt);
            let places = places_in(&narrow, &splits);
            assert!(places.is_empty(), "{path}: {places:?} in {}", narrow.text);
            let is_said = narrow.text.contains("a part of the index was not searched");
            assert!(is_said, "{path}: {}", narrow.text);
        }
    }
}

#[test]
fn what_time_did_not_reach_for_is_told_without_saying_where() {
    let indexes = Indexes::shared();
    let splits = splits(indexes.folder.path(), "mixed");
    for engine in ["native", "wasm"] {
        let server = indexes.serve("mixed", &["--no-cache", "--engine", engine]);
        for deadline_ms in 1..10 {
            let body = json!({"query": "body:room", "budget": {"deadline_ms": deadline_ms}});
            let timeout = json!({"timeout": format!("{deadline_ms}ms"), "sort": [{"user": "asc"}]});
            for attempt in [
                attempt(Method::POST, "/api/v1/logs/search", &body),
                attempt(Method::POST, "/logs/_search", &timeout),
            ] {
                let answer = ask(&server, &indexes.narrow, &attempt);
                let places = places_in(&answer, &splits);
                assert!(places.is_empty(), "{places:?} in {}", answer.text);
            }
        }
    }
}

fn value_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

/// Returns the ids of all hits.
fn ids(answer: &Value) -> Vec<String> {
    let hits = answer.pointer("/hits/hits").and_then(Value::as_array);
    let ids = hits
        .into_iter()
        .flatten()
        .filter_map(|hit| hit["_id"].as_str());
    ids.map(str::to_owned).collect()
}

fn decoded(path: &str) -> String {
    let parts = path
        .split(['?', '&'])
        .flat_map(|part| url::form_urlencoded::parse(part.as_bytes()));
    parts
        .map(|(name, value)| format!("{name}={value};"))
        .collect()
}
