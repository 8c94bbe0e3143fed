//! Filters for rare values: they find the splits with the value, cost little, and never hide a hit.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use canter_doc_mapper::IndexConfig;
use canter_index_builder::{
    GcOptions, IngestOptions, Source, VerifyOptions, collect_garbage, create_index, ingest,
    verify_index,
};
use canter_runtime::engine::{Engine, NativeEngine, WasmEngine, WasmOptions};
use canter_runtime::{Caller, Limits};
use canter_samples::HDFS_LOGS_YAML;
use canter_split_format::{
    FILTER_FILE, Head, MANIFEST_OBJECT, ManifestFile, Needle, PageSplit, SplitFilter, split_object,
    write_page,
};
use canter_tests::{TestIndex, hdfs_lines, run};
use serde_json::{Value, json};

/// 1,000 splits of 300 documents.
static FED: LazyLock<TestIndex> = LazyLock::new(|| hdfs(300));
/// Same documents in 6 splits, without pages.
static WHOLE: LazyLock<TestIndex> = LazyLock::new(|| hdfs(50_000));

fn hdfs(split_num_docs: u64) -> TestIndex {
    let lines = hdfs_lines(300_000, 3).unwrap();
    TestIndex::build(HDFS_LOGS_YAML, &lines, split_num_docs).unwrap()
}

fn plain(mut answer: Value) -> Value {
    for varies in ["elapsed_time_micros", "profile"] {
        answer.as_object_mut().unwrap().remove(varies);
    }
    answer
}

/// Returns a word that few documents have: the number of a block.
fn rare_word(nth: usize) -> String {
    let lines = hdfs_lines(300_000, 3).unwrap();
    let mut blocks = lines[nth..]
        .iter()
        .filter_map(|line| line.split_once("blk_"));
    let (_, block) = blocks.next().unwrap();
    block.chars().take_while(char::is_ascii_digit).collect()
}

fn requests() -> Vec<Value> {
    let (one, other) = (rare_word(1_000), rare_word(150_000));
    vec![
        json!({"query": format!("body:{one}")}),
        json!({"query": one}),
        json!({"query": format!("body:\"blk_{one}\"")}),
        json!({"query": format!("{one} OR {other}"), "sort_by": "-timestamp"}),
        json!({"query": format!("{one} AND {other}")}),
        json!({"query": format!("({one})^2 AND NOT {other}")}),
        json!({"query": format!("body: IN [{one} {other} nowhere]")}),
        json!({"query": format!("body:{one} OR tenant_id:42"), "max_hits": 3}),
        json!({"query": format!("body:{one} AND body:{}*", &one[..4])}),
        json!({"query": "body:nowhere_at_all"}),
        json!({"query": "tenant_id:42 AND body:exception", "max_hits": 3}),
        json!({"query": format!("tenant_id: IN [1 2 3 4 5 6 7 8 9] AND body:{one}")}),
        json!({"query": format!("body:{other}"), "sort_by": "_score"}),
        json!({"query": format!("body:{other}"), "aggs": {"t": {"terms": {"field": "tenant_id"}}}}),
    ]
}

#[test]
fn filters_change_no_answer() {
    let wasm = WasmEngine::embedded(WasmOptions::default()).unwrap();
    let engines: [Arc<dyn Engine>; 2] = [Arc::new(NativeEngine::new()), Arc::new(wasm)];
    let mut num_hits = 0;
    for engine in engines {
        let fed = FED.searcher(Arc::clone(&engine), 7, 1).unwrap();
        let whole = WHOLE.searcher(engine, 7, 1).unwrap();
        for request in requests() {
            let expect = plain(run(&whole, &request).unwrap().json);
            let answer = plain(run(&fed, &request).unwrap().json);
            assert_eq!(answer, expect, "{request}");
            num_hits += answer["num_hits"].as_u64().unwrap();
        }
    }
    assert!(num_hits > 100);
}

/// Returns waves, requests, bytes, and the number of splits that filters excluded.
fn cost(index: &TestIndex, mut request: Value) -> (u64, u64, u64, u64) {
    request["profile"] = true.into();
    let searcher = index.searcher(Arc::new(NativeEngine::new()), 0, 1).unwrap();
    let response = run(&searcher, &request).unwrap();
    let profile = response.profile;
    let pruned = &response.json["profile"]["num_splits_pruned_by_filter"];
    let pruned = pruned.as_u64().unwrap();
    println!(
        "{request}: {} waves, {} requests, {} bytes, {pruned} pruned, {} hits",
        profile.num_waves, profile.num_requests, profile.num_bytes, response.json["num_hits"]
    );
    (
        profile.num_waves,
        profile.num_requests,
        profile.num_bytes,
        pruned,
    )
}

#[test]
fn a_word_that_occurs_nowhere_costs_a_read_or_two_for_each_page() {
    let manifest = FED.manifest().unwrap();
    println!("{} pages", manifest.pages.len());
    let request = json!({"query": "body:nowhere", "max_hits": 10});
    let (waves, requests, bytes, pruned) = cost(&FED, request);
    assert!(waves <= 4 && requests <= 30 && bytes < 2_000_000);
    assert!(pruned >= 950, "{pruned}");
    let request = json!({"query": format!("body:{}", rare_word(1_000)), "max_hits": 10});
    let (waves, requests, bytes, pruned) = cost(&FED, request);
    assert!(waves <= 6 && requests <= 30 && bytes < 2_000_000);
    assert!(pruned >= 950, "{pruned}");
}

#[test]
fn an_explanation_says_why() {
    let request = json!({"query": "body:nowhere", "max_hits": 10});
    let searcher = FED.searcher(Arc::new(NativeEngine::new()), 0, 1).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (caller, limits) = (Caller::default(), Limits::default());
    let explained = runtime.block_on(searcher.explain(&request, &caller, &limits));
    let plan = explained.unwrap().plan.to_string();
    assert!(
        plan.contains("its filter says that it lacks a term"),
        "{plan}"
    );
}

#[test]
fn what_few_splits_of_a_page_or_scores_need_no_filter_is_read_for() {
    let request = json!({"query": "body:nowhere", "sort_by": "_score"});
    assert_eq!(cost(&FED, request).3, 0);
    let few = WHOLE
        .search(&json!({"query": "body:nowhere", "profile": true}))
        .unwrap();
    assert_eq!(few.json["profile"]["num_splits_pruned_by_filter"], 0);
}

/// Returns the index with a changed manifest and changed objects.
fn changed(change: impl Fn(&mut ManifestFile, &mut TestIndex)) -> TestIndex {
    let mut index = FED.clone();
    let mut manifest = index.manifest().unwrap();
    change(&mut manifest, &mut index);
    let bytes = manifest.to_bytes().unwrap();
    index
        .objects
        .insert(MANIFEST_OBJECT.to_owned(), bytes.into());
    index
}

#[test]
fn filters_that_are_missing_damaged_or_of_others_hide_nothing() {
    let request = json!({"query": format!("body:{}", rare_word(150_000)), "max_hits": 10});
    let expect = plain(WHOLE.search(&request).unwrap().json);
    let filters = |manifest: &ManifestFile| -> Vec<String> {
        let pages = manifest.pages.iter();
        pages
            .map(|page| page.filters.as_ref().unwrap().object())
            .collect()
    };
    let all_clear = |index: &mut TestIndex, object: &String| {
        let zeros = vec![0; index.objects[object].len()];
        index.objects.insert(object.clone(), Bytes::from(zeros));
    };
    let without = changed(|manifest, _| {
        for page in &mut manifest.pages {
            page.filters = None;
        }
    });
    let gone = changed(|manifest, index| {
        for object in filters(manifest) {
            index.objects.remove(&object);
        }
    });
    let damaged = changed(|manifest, index| {
        for object in filters(manifest) {
            all_clear(index, &object);
        }
    });
    let exchanged = changed(|manifest, _| {
        let mut all: Vec<_> = manifest
            .pages
            .iter()
            .map(|page| page.filters.clone())
            .collect();
        all.rotate_left(1);
        for (page, filters) in manifest.pages.iter_mut().zip(all) {
            page.filters = filters;
        }
    });
    for index in [without, gone, damaged, exchanged] {
        assert_eq!(plain(index.search(&request).unwrap().json), expect);
        let (.., pruned) = cost(&index, request.clone());
        assert_eq!(pruned, 0);
    }
}

/// Merging pages copies their filters, and garbage collection keeps the filters that are
/// referenced.
#[test]
fn filters_live_and_die_with_their_pages() {
    let folder = tempfile::tempdir().unwrap();
    let uri = folder.path().to_str().unwrap();
    let config = IndexConfig::from_yaml(HDFS_LOGS_YAML, |_| None).unwrap();
    let store = create_index(uri, &config).unwrap();
    let options = IngestOptions {
        split_num_docs_target: Some(40),
        ..IngestOptions::default()
    };
    let lines = hdfs_lines(8 * 2_000, 3).unwrap();
    for (ord, lines) in lines.chunks(2_000).enumerate() {
        let text = lines.join("\n").into_bytes();
        let source = Source::reader("lines", std::io::Cursor::new(text)).with_id(ord.to_string());
        ingest(&store, &options, vec![source], &()).unwrap();
    }
    let files = || -> BTreeSet<String> {
        let files = std::fs::read_dir(folder.path().join("filters")).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        names.map(|name| format!("filters/{name}")).collect()
    };
    let manifest = store.load_manifest().unwrap();
    assert!(
        manifest.pages.iter().any(|page| page.num_splits > 128),
        "pages were merged"
    );
    let mut referenced = BTreeSet::new();
    for page in &manifest.pages {
        let filters = page.filters.as_ref().unwrap();
        let num_splits: u64 = filters.groups.iter().map(|group| group.num_splits).sum();
        assert_eq!(num_splits, page.num_splits, "each split has its filter");
        referenced.insert(filters.object());
    }
    assert!(files().len() > referenced.len() && files().is_superset(&referenced));
    let options = GcOptions {
        now_ms: 1_000,
        grace_ms: 0,
        dry_run: false,
        applies_retention: false,
    };
    collect_garbage(&store, &options).unwrap();
    assert_eq!(files(), referenced);
    let report = verify_index(&store, &VerifyOptions::default()).unwrap();
    assert_eq!(report.problems, []);
    let name = referenced.first().unwrap();
    std::fs::write(folder.path().join(name), "damaged").unwrap();
    let report = verify_index(&store, &VerifyOptions::default()).unwrap();
    assert_eq!(&report.problems[0].object, name);
}

/// Number of documents in a split. Two documents share each trace id.
const NUM_DOCS: u64 = 100_000;

fn trace_id(number: u64) -> String {
    let hash = |seed: u64| Needle::of(&seed.to_string(), &number.to_be_bytes());
    let digits = format!("{:?}{:?}", hash(1), hash(2));
    let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
    digits[..32].to_owned()
}

fn traces() -> TestIndex {
    let yaml = HDFS_LOGS_YAML.replacen(
        "field_mappings:\n",
        "field_mappings:\n    - {name: trace_id, type: text, tokenizer: raw, needle: true}\n",
        1,
    );
    let lines: Vec<String> = (0..)
        .zip(hdfs_lines(2 * NUM_DOCS, 5).unwrap())
        .map(|(ord, line): (u64, String)| {
            let rest = line.strip_prefix('{').unwrap();
            format!("{{\"trace_id\":\"{}\",{rest}", trace_id(ord / 2))
        })
        .collect();
    TestIndex::build(&yaml, &lines, NUM_DOCS).unwrap()
}

/// 1,000 splits: a real one, and 999 copies of another real one under other names, whose filters
/// hold the same number of trace ids that do not exist.
#[test]
fn one_trace_of_a_thousand_splits_costs_a_read_for_each_page() {
    let mut index = traces();
    let mut manifest = index.manifest().unwrap();
    let splits = manifest.take_splits(|_| true);
    let [(rich, rich_head), (other, other_head)] = splits.try_into().unwrap();
    let file_of = |entry: &canter_split_format::SplitEntry, head: &Option<Vec<u8>>| {
        let object = &index.objects[&split_object(&entry.id)];
        let head = head
            .clone()
            .unwrap_or_else(|| object[..entry.head_len as usize].to_vec());
        let (mut split, _) = PageSplit::of_head(entry.clone(), head).unwrap();
        let range = split.filter_range().unwrap();
        let bytes = &object[range.start as usize..range.end as usize];
        split.filter = Some(SplitFilter::open(bytes).unwrap());
        (split, range.end - range.start)
    };
    let (rich, filter_len) = file_of(&rich, &rich_head);
    let (other, _) = file_of(&other, &other_head);
    let object = index.objects[&split_object(&other.entry.id)].clone();
    let head = Head::open(other.head.as_ref().unwrap()).unwrap();
    assert!(head.files.find(FILTER_FILE).is_some());

    let scope = other.filter.as_ref().unwrap().scope().clone();
    let log2_num_blocks = other.filter.as_ref().unwrap().log2_num_blocks();
    println!(
        "filters of {:?} have 2^{log2_num_blocks} blocks",
        scope.fields
    );
    assert!(scope.fields.contains("trace_id"));
    let (mut num_filter_bytes, mut num_split_bytes) = (0, 0);
    for page_ord in 0..4 {
        let mut splits = Vec::new();
        for ord in 0..250_u64 {
            if (page_ord, ord) == (1, 77) {
                splits.push(rich.clone());
                continue;
            }
            let mut split = other.clone();
            split.entry.id = format!("{:032x}", page_ord * 1_000 + ord + 1);
            let mut filter = SplitFilter::new(scope.clone(), log2_num_blocks);
            for number in 0..NUM_DOCS / 2 {
                let made_up = [page_ord, ord, number].map(u64::to_be_bytes).concat();
                filter.insert(Needle::of("trace_id", &made_up));
            }
            split.filter = Some(filter);
            index
                .objects
                .insert(split_object(&split.entry.id), object.clone());
            splits.push(split);
        }
        let written = write_page(splits, None).unwrap();
        let filters = written.filters.unwrap();
        num_filter_bytes += filters.len() as u64 + 250 * filter_len;
        num_split_bytes += written.page.num_split_bytes;
        let name = written.page.filters.as_ref().unwrap().object();
        index.objects.insert(name, filters.into());
        index
            .objects
            .insert(written.page.object(), written.bytes.into());
        manifest.pages.push(written.page);
    }
    let percent = num_filter_bytes as f64 * 100.0 / num_split_bytes as f64;
    println!("filters, in splits and in pages, are {percent:.2} % of {num_split_bytes} bytes");
    assert!(percent <= 4.0, "{percent}");
    let bytes = manifest.to_bytes().unwrap();
    index
        .objects
        .insert(MANIFEST_OBJECT.to_owned(), bytes.into());

    let first = rich.entry.time_range.unwrap().start_ns < other.entry.time_range.unwrap().start_ns;
    let number = if first { 20_000 } else { 70_000 };
    for (query, num_hits) in [
        (format!("trace_id:{}", trace_id(number)), 2),
        (
            format!("trace_id:{} AND severity_text:INFO", trace_id(number + 1)),
            2,
        ),
        ("trace_id:none".to_owned(), 0),
    ] {
        let request = json!({"query": query, "max_hits": 10});
        let answer = index.search(&request).unwrap().json;
        assert!(answer["num_hits"].as_u64().unwrap() <= num_hits);
        assert_eq!(answer["failed_splits"], json!([]));
        let (waves, requests, _, pruned) = cost(&index, request);
        assert!(
            waves <= 6 && requests <= 24,
            "{waves} waves, {requests} requests"
        );
        assert!(pruned >= 990);
    }
}
