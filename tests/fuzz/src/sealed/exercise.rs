//! Uses of a damaged index, and the outcomes that must not happen.

use std::fmt;
use std::path::Path;

use canter_guest::{ErrorKind, SearchError, Session};
use canter_index_builder::{
    BuildError, Documents, IndexStore, MergeIndexOptions, VerifyOptions, locate_documents,
    merge_index, verify_index,
};
use canter_protocol::{HttpRequest, Outcome};
use canter_split_format::ListedSplit;
use serde_json::{Value, json};

use super::super::checks::{LIMITS, no_cache};
use super::super::host::{Objects, answer_of, run, search as search_session};
use super::damage::damaged;
use super::origin::{index, read, vector};
use super::panics::{Panic, watched};

/// Unwanted outcomes of an input.
#[derive(Debug, Default)]
pub struct Findings {
    /// Panics, caught or not.
    pub panics: Vec<Panic>,
    /// Errors that report a bug of this program.
    pub defects: Vec<String>,
}

/// Crates in which tantivy panics at damage that only it can detect. The doors of splits catch
/// these panics and report the split as damaged (docs/decisions/hostile-splits.md).
const BEHIND_THE_DOORS: [&str; 7] = [
    "tantivy-",
    "ownedbytes-",
    "canter-bitpacking",
    "guest/bitpacking/",
    "/rustc/",
    "library/",
    "<none>",
];

impl Findings {
    /// Returns whether nothing needs fixing.
    pub fn is_sound(&self) -> bool {
        self.defects.is_empty() && self.panics.iter().all(Panic::is_contained)
    }
}

impl Panic {
    /// Returns whether this is a panic in tantivy that the split's door caught.
    pub fn is_contained(&self) -> bool {
        let is_known = BEHIND_THE_DOORS.iter().any(|of| self.place.starts_with(of));
        is_known && !self.has_escaped
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for panic in &self.panics {
            let how = if panic.has_escaped {
                "not caught"
            } else {
                "caught"
            };
            writeln!(formatter, "{} ({how}): {}", panic.place, panic.message)?;
        }
        self.defects
            .iter()
            .try_for_each(|defect| writeln!(formatter, "{defect}"))
    }
}

/// Returns requests that together read every part of a split.
fn searches() -> Vec<Value> {
    let dsl = |query: Value| json!({ "query": query, "max_hits": 4, "sort_by": "_score" });
    vec![
        json!({ "query": "word:alpha", "max_hits": 500 }),
        json!({ "query": "word:\"alpha beta\"", "max_hits": 5, "sort_by": "_score", "snippet_fields": ["word"] }),
        json!({ "query": "word:\"beta alpha\"~3 OR word:\"alpha be\"* OR word:w1*", "max_hits": 3, "sort_by": "-n" }),
        json!({ "query": "n:[-100 TO 300] AND (f:>=3.5 OR u:>1 OR day:<2030-01-01)", "max_hits": 20, "sort_by": "f,-u" }),
        json!({ "query": "ip:[10.0.0.1 TO 10.90.0.0] OR b:true OR hex:0000000000", "max_hits": 3, "sort_by": "ip" }),
        json!({ "query": "*", "start_timestamp": 1_714_557_700, "end_timestamp": 1_714_558_400, "max_hits": 30,
                "sort_by": "at" }),
        json!({ "query": "tag:x AND NOT low:upper AND extra.a:>3", "max_hits": 5, "sort_by": "tag,low" }),
        json!({ "query": "other.deep.s:v3 OR other.deep.n:[5 TO 9] OR extra.s:the* OR labels:l1", "max_hits": 5,
                "sort_by": "-day" }),
        json!({ "query": "kept:quick OR id:0000*", "max_hits": 3 }),
        json!({ "query": "word:fox labels:l2", "max_hits": 2, "explain": true }),
        json!({ "query": "tag:y OR counts:5", "max_hits": 0, "list_documents": true }),
        json!({ "query": "trail:t07919 OR trail:t00000 OR trail:\"t39595 t55433\"", "max_hits": 5, "sort_by": "_score" }),
        dsl(json!({ "prefix": { "trail": "t1" } })),
        dsl(json!({ "range": { "trail": { "gte": "t2", "lt": "t5" } } })),
        dsl(json!({ "fuzzy": { "trail": "t0791" } })),
        dsl(json!({ "wildcard": { "word": "*et?" } })),
        dsl(json!({ "regexp": { "tag": "x.*|y" } })),
        dsl(json!({ "fuzzy": { "word": "alhpa" } })),
        dsl(json!({ "knn": { "field": "few", "query_vector": [3, 2, 1], "k": 5 } })),
        dsl(json!({ "knn": { "field": "many", "query_vector": vector(3), "k": 5 } })),
        dsl(
            json!({ "knn": { "field": "many", "query_vector": vector(7), "k": 9, "filter": { "term": { "tag": "x" } } } }),
        ),
        dsl(
            json!({ "bool": { "must": [{ "exists": { "field": "extra" } }], "should": [{ "term": { "tag": "x" } },
                { "match_phrase_prefix": { "word": "quick br" } }], "must_not": [{ "terms": { "labels": ["l0"] } }] } }),
        ),
        aggs(
            "*",
            json!({
                "tags": { "terms": { "field": "tag" }, "aggs": { "n": { "stats": { "field": "n" } } } },
                "times": { "date_histogram": { "field": "at", "fixed_interval": "30s", "min_doc_count": 1 } },
                "kinds": { "cardinality": { "field": "low" } },
                "ips": { "terms": { "field": "ip", "size": 5 } },
                "labels": { "terms": { "field": "labels" }, "aggs": { "f": { "percentiles": { "field": "f" } } } },
            }),
        ),
        aggs(
            "word:alpha",
            json!({
                "hex": { "missing": { "field": "u" } },
                "n": { "histogram": { "field": "n", "interval": 100 }, "aggs": { "u": { "max": { "field": "u" } } } },
                "f": { "range": { "field": "f", "ranges": [{ "to": 100 }, { "from": 100 }] } },
                "b": { "terms": { "field": "b" } },
                "days": { "auto_date_histogram": { "field": "day", "buckets": 7 } },
                "counts": { "sum": { "field": "counts" } },
                "all": { "composite": { "size": 10, "sources": [{ "t": { "terms": { "field": "tag" } } },
                         { "l": { "terms": { "field": "low" } } }] } },
                "many": { "multi_terms": { "terms": [{ "field": "tag" }, { "field": "b" }] } },
                "extra": { "avg": { "field": "extra.f" } },
                "deep": { "terms": { "field": "other.deep.n" } },
                "top": { "top_hits": { "size": 1, "sort": [{ "n": "desc" }] } },
            }),
        ),
    ]
}

fn aggs(query: &str, aggs: Value) -> Value {
    json!({ "query": query, "max_hits": 0, "aggs": aggs })
}

/// Returns requests to Elasticsearch's API.
fn bodies() -> [Value; 2] {
    [
        json!({ "query": { "match_phrase": { "word": "alpha beta" } }, "size": 4, "highlight": { "fields": { "word": {} } },
                "fields": ["n", "day", "labels"], "docvalue_fields": ["ip"], "sort": [{ "n": "asc" }] }),
        json!({ "query": { "range": { "n": { "gte": 0 } } }, "size": 4, "collapse": { "field": "tag" },
                "sort": [{ "f": "desc" }, "_doc"], "track_total_hits": true }),
    ]
}

/// Damages the index as determined by `bytes`, and runs all operations on it.
pub fn examine(bytes: &[u8]) -> Findings {
    let mut findings = Findings::default();
    if let Some(objects) = damaged(index(), bytes) {
        search(&objects, &mut findings);
        keep_in_order(&objects, &mut findings);
    }
    findings
}

/// Runs `work`, and records its unwanted outcomes.
fn note(findings: &mut Findings, what: &str, work: impl FnOnce() -> Option<String>) {
    let mut defect = None;
    let panics = watched(|| defect = work());
    findings.panics.extend(panics);
    findings
        .defects
        .extend(defect.map(|defect| format!("{what}: {defect}")));
}

fn search(objects: &Objects, findings: &mut Findings) {
    for request in searches() {
        note(findings, &request.to_string(), || {
            defect_of(&ask(objects, &request))
        });
    }
    let named = objects
        .iter()
        .map(|(name, bytes)| (format!("logs/{name}"), bytes.clone()));
    let named: Objects = named.collect();
    for body in bodies() {
        note(findings, &body.to_string(), || {
            defect_of(&ask_http(&named, &body))
        });
    }
    note(findings, "divided", || divided(objects));
}

fn ask(objects: &Objects, request: &Value) -> Result<Outcome, SearchError> {
    run(search_session(request, LIMITS, 1)?, objects, &no_cache)
}

fn ask_http(objects: &Objects, body: &Value) -> Result<Outcome, SearchError> {
    let request = HttpRequest {
        method: "POST".to_owned(),
        path: "/logs/_search".to_owned(),
        query: String::new(),
        body: body.to_string().into_bytes(),
    };
    let settings =
        format!(r#"{{"indexes": ["logs"], "now_ms": 1714557600000, "limits": {LIMITS}}}"#);
    run(Session::http(&request, &settings, 1)?, objects, &no_cache)
}

/// Runs a search in leaves, with serialized partial results.
fn divided(objects: &Objects) -> Option<String> {
    let request = json!({ "query": "word:alpha", "max_hits": 3, "sort_by": "n", "aggs": {
        "a": { "terms": { "field": "tag" } } } });
    let session = search_session(&request, LIMITS, 3).expect("a request");
    let plan = match run(session, objects, &no_cache) {
        Ok(Outcome::Plan(plan)) => plan,
        other => return defect_of(&other),
    };
    let mut partials = Vec::new();
    for leaf in &plan.leaves {
        let session = Session::leaf(leaf).expect("a leaf request of the same guest");
        match run(session, objects, &no_cache) {
            Ok(Outcome::Partial(bytes)) => partials.push(bytes),
            other => return defect_of(&other),
        }
    }
    match Session::root(&plan.root, &partials) {
        Ok(session) => defect_of(&run(session, objects, &no_cache)),
        Err(error) => defect_of(&Err(error)),
    }
}

fn defect_of(end: &Result<Outcome, SearchError>) -> Option<String> {
    match end {
        Err(error) => (error.kind == ErrorKind::Internal).then(|| error.to_string()),
        Ok(Outcome::Http(response)) if response.status == 500 => {
            Some(String::from_utf8_lossy(&response.body).into_owned())
        }
        end => {
            let answer = answer_of(end)?;
            let mut failed = answer["failed_splits"].as_array()?.iter();
            failed
                .find(|failed| failed["kind"] == "internal")
                .map(Value::to_string)
        }
    }
}

/// Verifies, reads, merges and searches the index; returns whether it was merged.
fn keep_in_order(objects: &Objects, findings: &mut Findings) -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(folder.path(), objects);
    let uri = folder.path().to_str().expect("a UTF-8 name");
    let store = IndexStore::open(uri).expect("a store");
    note(findings, "verify", || {
        defect_of_build(&verify_index(&store, &VerifyOptions::default()))
    });
    note(findings, "documents", || {
        defect_of_build(&read_documents(&store, objects))
    });
    let mut is_merged = false;
    note(findings, "merge", || {
        let options = MergeIndexOptions {
            rewrite_deleted: true,
            ..MergeIndexOptions::default()
        };
        let end = merge_index(&store, &options, &|_| {});
        is_merged = end.as_ref().is_ok_and(|report| !report.merges.is_empty());
        defect_of_build(&end)
    });
    if is_merged {
        let merged = read(folder.path());
        for request in searches().iter().step_by(3) {
            note(findings, "after a merge", || {
                defect_of(&ask(&merged, request))
            });
        }
    }
    is_merged
}

fn write(folder: &Path, objects: &Objects) {
    for (name, bytes) in objects {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, bytes).expect("an object");
    }
}

/// Reads documents that a search has listed.
fn read_documents(store: &IndexStore, objects: &Objects) -> Result<(), BuildError> {
    let request = json!({ "query": "*", "max_hits": 0, "list_documents": true });
    let Some(answer) = answer_of(&ask(objects, &request)) else {
        return Ok(());
    };
    let listed = answer["listed_splits"].clone();
    let listed: Vec<ListedSplit> = serde_json::from_value(listed).expect("lists of documents");
    let mut first = Ok(());
    for part in locate_documents(store, listed)?.into_iter().flatten() {
        let mut lines = Vec::new();
        let read = Documents::open(store, &part);
        let read = read.and_then(|mut documents| documents.read_lines(1 << 20, &mut lines));
        first = first.and(read.map(drop));
    }
    first
}

fn defect_of_build<T>(end: &Result<T, BuildError>) -> Option<String> {
    let error = end.as_ref().err()?;
    let is_defect = error.kind() == canter_index_builder::ErrorKind::Internal;
    is_defect.then(|| error.to_string())
}

/// Runs the operations for damaged indexes on the intact one.
///
/// # Panics
/// A request fails or finds nothing: then it would not detect damage.
pub fn answer_sound_index() {
    let mut num_hits = 0;
    let mut problems = Vec::new();
    for request in searches() {
        let end = ask(index(), &request);
        let Some(answer) = answer_of(&end) else {
            problems.push(format!("{request}: {end:?}"));
            continue;
        };
        let is_explained = request.get("explain").is_some();
        let is_whole = answer["failed_splits"] == json!([]) && answer["num_hits"] != 0;
        if !is_explained && !is_whole {
            problems.push(format!("{request}: {answer}"));
        }
        num_hits += answer["hits"].as_array().map_or(0, Vec::len);
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(num_hits > 400, "{num_hits}");
    let mut findings = Findings::default();
    search(index(), &mut findings);
    let is_merged = keep_in_order(index(), &mut findings);
    assert!(is_merged, "a merge is due");
    assert!(
        findings.panics.is_empty() && findings.defects.is_empty(),
        "{findings}"
    );
}
