//! Indexes that get fields later: they answer like an index that had these fields from the
//! beginning, before and after merges. Values from before count as missing if they were not kept,
//! and are found if dynamic mapping indexed them in the same way as the fields.
//!
//! `CANTER_EVOLUTIONS` is the number of random evolutions (2 by default, 4 with `CI_FULL`), and
//! `CANTER_EVOLUTION_SEED` is the first seed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use canter_doc_mapper::IndexConfig;
use canter_index_builder::{
    ErrorKind, IndexStore, IngestOptions, MergeIndexOptions, Source, create_index, ingest,
    merge_index, update_index,
};
use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::fetch::{OpenOptions, open_uri};
use canter_runtime::{SearchError, Searcher};
use canter_tests::{run, run_divided};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

type Document = Map<String, Value>;

/// Pseudo-random number generator.
struct Rng(u64);

impl Rng {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn is_one_in(&mut self, num: usize) -> bool {
        self.below(num) == 0
    }
}

/// Returns the fields that an index gets later. Dynamic mapping indexes their values in the same
/// way.
fn later_fields() -> Vec<Value> {
    vec![
        json!({"name": "level", "type": "text", "tokenizer": "raw", "fast": true}),
        json!({"name": "size", "type": "u64", "fast": true}),
        json!({"name": "shift", "type": "array<i64>", "fast": true}),
        json!({"name": "ok", "type": "bool", "fast": true}),
        json!({"name": "o", "type": "object", "field_mappings": [
            {"name": "x", "type": "text", "tokenizer": "raw", "fast": true, "needle": true},
        ]}),
        json!({"name": "attrs", "type": "json", "tokenizer": "raw", "fast": true}),
    ]
}

fn config(mode: &str, later: &[Value], default_fields: &[&str]) -> IndexConfig {
    let mut fields = vec![json!({"name": "ts", "type": "datetime", "fast": true})];
    // Inserts them between the others, which keep their numbers.
    fields.extend(later.iter().cloned());
    fields.push(json!({"name": "body", "type": "text", "record": "position"}));
    fields.push(json!({"name": "kind", "type": "text", "tokenizer": "raw", "fast": true}));
    let config = json!({
        "version": "0.9", "index_id": "evolving",
        "doc_mapping": {"mode": mode, "timestamp_field": "ts", "field_mappings": fields},
        "search_settings": {"default_search_fields": default_fields},
        "indexing_settings": {"merge_policy": {
            "type": "stable_log", "min_level_num_docs": 50, "merge_factor": 3, "max_merge_factor": 4,
        }},
    });
    IndexConfig::from_json(config.to_string().as_bytes()).unwrap()
}

fn document(rng: &mut Rng, ord: usize) -> Document {
    const WORDS: [&str; 5] = ["lost", "block", "found", "disk", "late"];
    const LEVELS: [&str; 4] = ["INFO", "WARN", "ERROR", "debug"];
    let body: Vec<&str> = (0..1 + rng.below(4)).map(|_| WORDS[rng.below(5)]).collect();
    let second = 1_700_000_000 + rng.below(100_000);
    let kind = ["a", "b"][rng.below(2)];
    let mut doc = json!({
        "ts": second, "body": body.join(" "), "kind": kind,
        "rest": ord,
    });
    let mut some = |key: &str, value: Value, one_in: usize| {
        if !rng.is_one_in(one_in) {
            doc[key] = value;
        }
    };
    some("level", json!(LEVELS[ord * 7 % 4]), 5);
    some("size", json!(ord * 31 % 90), 4);
    some("shift", json!([ord as i64 % 7 - 3, -(ord as i64 % 5)]), 3);
    some("ok", json!(ord.is_multiple_of(3)), 6);
    some("o", json!({"x": format!("id-{}", ord * 17 % 400)}), 4);
    some(
        "attrs",
        json!({"deep": {"n": ord % 11}, "host": WORDS[ord % 5]}),
        3,
    );
    doc.as_object().unwrap().clone()
}

fn ingest_lines(store: &IndexStore, id: &str, docs: &[Document], split_num_docs: u64) {
    let lines: Vec<String> = docs
        .iter()
        .map(|doc| Value::from(doc.clone()).to_string())
        .collect();
    let text = std::io::Cursor::new(lines.join("\n").into_bytes());
    let options = IngestOptions {
        split_num_docs_target: Some(split_num_docs),
        ..IngestOptions::default()
    };
    let source = Source::reader(id, text).with_id(id);
    let report = ingest(store, &options, vec![source], &()).unwrap();
    assert_eq!(report.num_ingested_docs, docs.len() as u64);
}

fn searcher(folder: &Path, engine: &Arc<dyn Engine>, max_leaves: u32) -> Searcher {
    let fetcher = open_uri(folder.to_str().unwrap(), &OpenOptions::default()).unwrap();
    let searcher = Searcher::builder()
        .engine(Arc::clone(engine))
        .fetcher(fetcher)
        .max_parallel_leaves(max_leaves);
    searcher.build().unwrap()
}

fn requests() -> Vec<Value> {
    let queries = [
        "*",
        "level:ERROR",
        "level:ERROR AND body:lost",
        "NOT level:ERROR",
        "level:E*",
        "level:/.*R/",
        "level: IN [WARN debug]",
        "level:*",
        "size:[10 TO 40}",
        "size:>=80",
        "size:17",
        "size:*",
        "NOT size:*",
        "shift:[-2 TO -1]",
        "shift:3",
        "ok:true",
        "ok:*",
        "o.x:id-17",
        "o.x:id-17 OR o.x:id-34 OR body:\"lost disk\"",
        "o.x:\"...\"",
        "o:*",
        "attrs.host:disk",
        "attrs.deep.n:>8",
        "attrs:*",
        "body:\"lost block\"",
        "lost",
        "ERROR late",
        "rest:7",
        "rest:*",
        "nowhere:*",
        "kind:a AND size:<50 AND NOT ok:false",
    ];
    let mut requests: Vec<Value> = Vec::new();
    for query in queries {
        requests.push(json!({"query": query, "max_hits": 12}));
        requests.push(json!({"query": query, "max_hits": 0}));
    }
    for sort_by in [
        "size",
        "-size",
        "level,-ts",
        "o.x",
        "ok,size",
        "shift",
        "attrs.host",
    ] {
        requests.push(json!({"query": "kind:a", "max_hits": 25, "sort_by": sort_by}));
    }
    for query in ["*", "body:lost"] {
        requests.push(json!({"query": query, "max_hits": 0, "aggs": {
            "levels": {"terms": {"field": "level", "missing": "none"}, "aggs": {"size": {"stats": {"field": "size"}}}},
            "sizes": {"histogram": {"field": "size", "interval": 20}},
            "ranges": {"range": {"field": "shift", "ranges": [{"to": -1}, {"from": -1, "to": 2}, {"from": 2}]}},
            "oks": {"terms": {"field": "ok"}},
            "ids": {"cardinality": {"field": "o.x"}},
            "no_level": {"missing": {"field": "level"}},
            "pages": {"composite": {"size": 9, "sources": [
                {"l": {"terms": {"field": "level"}}}, {"n": {"terms": {"field": "attrs.deep.n"}}}]}},
            "hours": {"date_histogram": {"field": "ts", "fixed_interval": "3h"},
                "aggs": {"levels": {"terms": {"field": "level"}}}},
            "errors": {"filter": "level:ERROR", "aggs": {"most": {"max": {"field": "size"}}}},
        }}));
        requests.push(
            json!({"query": query, "max_hits": 0, "aggs": {"l": {"terms": {"field": "level"}}}}),
        );
        requests.push(
            json!({"query": query, "max_hits": 0, "aggs": {"k": {"terms": {"field": "kind"}}}}),
        );
    }
    let window = json!({"query": "level:WARN", "start_timestamp": 1_700_020_000, "end_timestamp": 1_700_050_000});
    requests.push(window);
    requests
        .push(json!({"query": "body:lost", "max_hits": 3, "snippet_fields": ["body", "level"]}));
    requests.push(json!({"query": "body:lost body:late", "max_hits": 9, "sort_by": "_score"}));
    requests
}

/// Returns the parts of an answer that depend on the documents, or its error.
fn answer_of(answer: Result<canter_runtime::SearchResponse, SearchError>) -> Result<Value, String> {
    let mut answer = answer.map_err(|error| error.to_string())?.json;
    if let Some(profile) = answer.get("profile") {
        assert_eq!(profile["warmup_gaps"], json!(0));
    }
    for varies in ["elapsed_time_micros", "profile"] {
        answer.as_object_mut().unwrap().remove(varies);
    }
    Ok(answer)
}

/// Compares all answers of an index with those of another.
fn compare(
    what: &str,
    folder: &Path,
    wanted: &[Result<Value, String>],
    engines: &[Arc<dyn Engine>],
) {
    for (engine_ord, engine) in engines.iter().enumerate() {
        let whole = searcher(folder, engine, 1);
        let divided = searcher(folder, engine, 3);
        for (request, wanted) in requests().iter().zip(wanted) {
            let found = answer_of(run(&whole, request));
            assert_eq!(&found, wanted, "{what}, engine {engine_ord}: {request}");
            let found = answer_of(run_divided(&divided, request));
            assert_eq!(
                &found, wanted,
                "{what}, engine {engine_ord}, divided: {request}"
            );
        }
    }
}

fn engines() -> Vec<Arc<dyn Engine>> {
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    vec![Arc::new(NativeEngine::new()), Arc::new(wasm)]
}

/// Plan of an index's evolution.
struct Plan {
    mode: &'static str,
    /// For each phase, the positions of the later fields that it adds, and its documents.
    phases: Vec<(Vec<usize>, Vec<Document>)>,
    default_fields: Vec<&'static str>,
    split_num_docs: u64,
}

impl Plan {
    fn random(seed: u64, mode: &'static str, num_docs: usize, split_num_docs: u64) -> Self {
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut left: Vec<usize> = (0..later_fields().len()).collect();
        let num_phases = 2 + rng.below(3);
        let mut phases = Vec::new();
        let mut ord = 0;
        for phase in 0..num_phases {
            let num_added = match phase {
                0 => rng.below(2),
                _ if phase + 1 == num_phases => left.len(),
                _ => 1 + rng.below(left.len().max(1)),
            };
            let added = (0..num_added.min(left.len())).map(|_| left.remove(rng.below(left.len())));
            let added = added.collect();
            let docs = (0..num_docs).map(|_| {
                ord += 1;
                document(&mut rng, ord)
            });
            phases.push((added, docs.collect()));
        }
        let default_fields =
            [vec!["body"], vec!["body", "level"], vec!["level"]][rng.below(3)].clone();
        Self {
            mode,
            phases,
            default_fields,
            split_num_docs,
        }
    }

    fn final_config(&self) -> IndexConfig {
        config(self.mode, &later_fields(), &self.default_fields)
    }

    /// Creates, fills and updates an index. There is no update after the last documents.
    fn evolve(&self) -> (TempDir, IndexStore) {
        let folder = tempfile::tempdir().unwrap();
        let all = later_fields();
        let mut known: Vec<usize> = Vec::new();
        let mut store = None;
        for (phase, (added, docs)) in self.phases.iter().enumerate() {
            known.extend(added);
            let fields: Vec<Value> = known.iter().map(|place| all[*place].clone()).collect();
            let default_fields = match phase + 1 == self.phases.len() {
                true => self.default_fields.clone(),
                false => vec!["kind"],
            };
            let config = config(self.mode, &fields, &default_fields);
            let store = store.get_or_insert_with(|| {
                create_index(folder.path().to_str().unwrap(), &config).unwrap()
            });
            let report = update_index(store, &config, false).unwrap();
            assert_eq!(report.changes.is_empty(), phase == 0);
            ingest_lines(store, &format!("phase {phase}"), docs, self.split_num_docs);
        }
        (folder, store.unwrap())
    }

    /// Returns an index of the same documents, ingested with the final config. Values of earlier
    /// documents that were not kept are removed.
    fn fresh(&self) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        let store = create_index(folder.path().to_str().unwrap(), &self.final_config()).unwrap();
        let all = later_fields();
        let mut known: Vec<&str> = vec!["ts", "body", "kind"];
        for (phase, (added, docs)) in self.phases.iter().enumerate() {
            known.extend(
                added
                    .iter()
                    .map(|place| all[*place]["name"].as_str().unwrap()),
            );
            let mut docs = docs.clone();
            if self.mode == "lenient" {
                docs.iter_mut()
                    .for_each(|doc| doc.retain(|key, _| known.contains(&key.as_str())));
            }
            ingest_lines(
                &store,
                &format!("phase {phase}"),
                &docs,
                self.split_num_docs,
            );
        }
        folder
    }
}

fn check(what: &str, plan: &Plan, engines: &[Arc<dyn Engine>]) {
    let fresh = plan.fresh();
    let fresh_searcher = searcher(fresh.path(), &engines[0], 1);
    let wanted: Vec<_> = requests()
        .iter()
        .map(|request| answer_of(run(&fresh_searcher, request)))
        .collect();
    assert!(wanted.iter().filter(|answer| answer.is_ok()).count() > 60);
    let (evolved, store) = plan.evolve();
    compare(
        &format!("{what}, as it was fed"),
        evolved.path(),
        &wanted,
        engines,
    );
    let merged = merge_index(&store, &MergeIndexOptions::default(), &|_| {}).unwrap();
    assert!(
        !merged.merges.is_empty() && merged.num_splits < merged.num_splits_before,
        "{what}"
    );
    compare(&format!("{what}, merged"), evolved.path(), &wanted, engines);
    let again = merge_index(&store, &MergeIndexOptions::default(), &|_| {}).unwrap();
    assert!(again.merges.is_empty() && again.num_dropped == 0, "{what}");
}

fn number(name: &str, default: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.map_or(default, |text| text.parse().unwrap())
}

#[test]
fn an_index_that_got_fields_later_answers_as_one_that_had_them_from_the_beginning() {
    let engines = engines();
    let first = number("CANTER_EVOLUTION_SEED", 1);
    let num = number(
        "CANTER_EVOLUTIONS",
        if canter_tests::is_full() { 4 } else { 2 },
    );
    for seed in first..first + num {
        for mode in ["lenient", "dynamic"] {
            let plan = Plan::random(seed, mode, 130, 30);
            check(&format!("{mode}, seed {seed}"), &plan, &engines);
        }
    }
}

#[test]
fn so_does_one_whose_splits_stand_in_pages() {
    let engines = engines();
    for mode in ["lenient", "dynamic"] {
        let plan = Plan::random(77, mode, 260, 4);
        let (_folder, store) = plan.evolve();
        assert!(store.describe().unwrap().num_pages > 0);
        check(&format!("{mode}, with pages"), &plan, &engines[..1]);
    }
}

/// Creates an index with one document from before and one from after an update that adds a field.
/// Returns its folder, store and searcher.
fn fed_twice(
    mapping: Value,
    added: Value,
    before: &Value,
    after: &Value,
) -> (TempDir, IndexStore, Searcher) {
    let of = |fields: Vec<Value>| {
        let mut doc_mapping = mapping.clone();
        doc_mapping["field_mappings"] = json!(fields);
        let config = json!({"version": "0.9", "index_id": "evolving", "doc_mapping": doc_mapping,
            "indexing_settings": {"merge_policy": {"type": "stable_log", "merge_factor": 2, "max_merge_factor": 2}}});
        IndexConfig::from_json(config.to_string().as_bytes()).unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let store = create_index(folder.path().to_str().unwrap(), &of(vec![])).unwrap();
    ingest_lines(&store, "before", &[before.as_object().unwrap().clone()], 10);
    let report = update_index(&store, &of(vec![added]), false).unwrap();
    assert_eq!(report.notes.len(), 1);
    ingest_lines(&store, "after", &[after.as_object().unwrap().clone()], 10);
    let engine: Arc<dyn Engine> = Arc::new(NativeEngine::new());
    let searcher = searcher(folder.path(), &engine, 1);
    (folder, store, searcher)
}

#[test]
fn values_of_before_a_field_was_mapped_are_found_as_dynamic_mapping_indexed_them() {
    let (before, after) = (json!({"t": "Lost Block"}), json!({"t": "Lost Block"}));
    let text = json!({"name": "t", "type": "text", "record": "position", "stored": false});
    let (_folder, store, searcher) = fed_twice(json!({"mode": "dynamic"}), text, &before, &after);
    let check_all = || {
        for (query, num_hits) in [
            // Single words only match the second document; the whole text only matches the first
            // one.
            ("t:lost", 1),
            ("t:\"lost block\"", 1),
            ("t:\"Lost Block\"", 2),
            ("t:Lost*", 2),
            ("t:los*", 1),
            ("t:\"...\"", 0),
            ("NOT t:lost", 1),
        ] {
            let answer = answer_of(run(&searcher, &json!({"query": query}))).unwrap();
            assert_eq!(answer["num_hits"], num_hits, "{query}: {answer}");
            assert_eq!(answer["errors"], json!([]), "{query}");
        }
        // Hits show the same documents as before.
        let hits = answer_of(run(&searcher, &json!({"query": "*"}))).unwrap()["hits"].clone();
        let mut shown: Vec<String> = hits
            .as_array()
            .unwrap()
            .iter()
            .map(Value::to_string)
            .collect();
        shown.sort();
        assert_eq!(shown, [before.to_string(), "{}".to_owned()]);
    };
    check_all();
    // A merge does not combine these splits, even when it runs repeatedly.
    for _ in 0..2 {
        let merged = merge_index(&store, &MergeIndexOptions::default(), &|_| {}).unwrap();
        assert_eq!((merged.merges.len(), merged.num_splits), (0, 2));
    }
    check_all();
}

#[test]
fn a_field_that_no_document_had_before_is_no_obstacle_to_a_merge() {
    let (before, after) = (json!({"other": 1}), json!({"n": 2}));
    let added = json!({"name": "n", "type": "f64", "fast": true});
    let (_folder, store, searcher) = fed_twice(json!({"mode": "dynamic"}), added, &before, &after);
    let merged = merge_index(&store, &MergeIndexOptions::default(), &|_| {}).unwrap();
    assert_eq!((merged.merges.len(), merged.num_splits), (1, 1));
    let answer = answer_of(run(&searcher, &json!({"query": "n:>1"}))).unwrap();
    assert_eq!(answer["num_hits"], 1);
}

#[test]
fn keys_of_numbers_are_those_that_the_field_has_now() {
    let (before, after) = (json!({"n": 2}), json!({"n": 2.5}));
    for kind in ["f64", "i64"] {
        let added = json!({"name": "n", "type": kind, "fast": true, "coerce": true});
        let after = match kind {
            "i64" => json!({"n": 3}),
            _ => after.clone(),
        };
        let (_folder, _, searcher) = fed_twice(json!({"mode": "dynamic"}), added, &before, &after);
        let request = json!({"query": "*", "aggs": {"n": {"terms": {"field": "n", "order": {"_key": "asc"}}}}});
        let answer = answer_of(run(&searcher, &request)).unwrap();
        let keys = answer["aggregations"]["n"]["buckets"].as_array().unwrap();
        let keys: Vec<String> = keys
            .iter()
            .map(|bucket| bucket["key"].to_string())
            .collect();
        let wanted = match kind {
            "i64" => ["2", "3"],
            _ => ["2.0", "2.5"],
        };
        assert_eq!(keys, wanted, "{kind}");
    }
}

#[test]
fn what_dynamic_mapping_did_not_index_is_not_found_and_what_it_cannot_answer_is_said() {
    let (before, after) = (json!({"t": "lost block"}), json!({"t": "lost block"}));
    let text = || json!({"name": "t", "type": "text", "record": "position", "fast": true});
    let mapping = |options: Value| json!({"mode": "dynamic", "dynamic_mapping": options});
    // (dynamic mapping, query, hits, failed splits)
    let cases: Vec<(Value, &str, u64, usize)> = vec![
        (json!({"indexed": false}), "t:lost", 1, 0),
        (json!({"indexed": false}), "t:*", 1, 0),
        (json!({"indexed": false}), "t: IN [lost]", 1, 0),
        (json!({"tokenizer": "default"}), "t:lost", 2, 0),
        (json!({"tokenizer": "default"}), "t:*", 2, 0),
        (json!({"tokenizer": "default"}), "t:\"lost block\"", 1, 1),
        (
            json!({"tokenizer": "default", "record": "position"}),
            "t:\"lost block\"",
            2,
            0,
        ),
    ];
    for (options, query, num_hits, num_failed) in cases {
        let (_folder, _, searcher) = fed_twice(mapping(options.clone()), text(), &before, &after);
        let answer = answer_of(run(&searcher, &json!({"query": query}))).unwrap();
        assert_eq!(answer["num_hits"], num_hits, "{options} {query}: {answer}");
        let failed = answer["failed_splits"].as_array().unwrap().len();
        assert_eq!(failed, num_failed, "{options} {query}: {answer}");
    }
}

#[test]
fn new_search_settings_hold_for_old_splits_and_answers_that_were_kept_do_not() {
    let of = |default_fields: &[&str]| config("lenient", &[], default_fields);
    let folder = tempfile::tempdir().unwrap();
    let store = create_index(folder.path().to_str().unwrap(), &of(&["body"])).unwrap();
    let docs: Vec<_> = [("a b", "a"), ("b", "b")]
        .map(|(body, kind)| json!({"ts": 1_700_000_000, "body": body, "kind": kind}))
        .iter()
        .map(|doc| doc.as_object().unwrap().clone())
        .collect();
    ingest_lines(&store, "docs", &docs, 1);
    let fetcher = open_uri(folder.path().to_str().unwrap(), &OpenOptions::default()).unwrap();
    let searcher = Searcher::builder()
        .engine(Arc::new(NativeEngine::new()))
        .fetcher(fetcher)
        .build()
        .unwrap();
    let count = |query: &str| {
        let answer = answer_of(run(&searcher, &json!({"query": query, "max_hits": 0}))).unwrap();
        answer["num_hits"].as_u64().unwrap()
    };
    assert_eq!((count("a"), count("b")), (1, 2));
    update_index(&store, &of(&["kind"]), false).unwrap();
    assert_eq!((count("a"), count("b")), (1, 1));
    let error = update_index(&store, &config("dynamic", &[], &["kind"]), false);
    assert_eq!(error.map(|_| ()).unwrap_err().kind(), ErrorKind::Invalid);
}

#[test]
fn fields_keep_their_numbers() {
    let plan = Plan::random(5, "lenient", 20, 10);
    let (_folder, store) = plan.evolve();
    let config = store.load_config().unwrap();
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    for num_added in 0..=config.doc_mapping.added_fields.len() {
        let mapper =
            canter_doc_mapper::DocMapper::new(&config.with_added_fields(num_added)).unwrap();
        for (ord, (_, entry)) in mapper.schema().fields().enumerate() {
            let before = numbers.insert(entry.name().to_owned(), ord);
            assert!(
                before.is_none_or(|before| before == ord),
                "{}",
                entry.name()
            );
        }
    }
}
