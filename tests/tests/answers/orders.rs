//! Total order of hits: the same hits come in the same order, no matter how the documents are
//! divided into ingests, splits and leaves. The oracle sorts all documents in memory.

use std::cmp::Ordering;
use std::sync::Arc;

use canter_runtime::engine::NativeEngine;
use canter_split_format::{DocIdentity, SourceId};
use canter_tests::{TestIndex, run, run_divided, usual_or_full};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

const FIELDS: &str = "
version: 0.8
index_id: orders
doc_mapping:
  field_mappings:
    - {name: ts, type: datetime, input_formats: [unix_timestamp], output_format: unix_timestamp_secs, fast: true, fast_precision: seconds}
    - {name: n, type: u64, fast: true}
    - {name: k, type: text, tokenizer: raw, fast: true}
    - {name: what, type: text}
    - {name: uid, type: u64}
";
const NUM_LINES: u64 = 150;
const SOURCES: [&str; 3] = ["first", "second", "third"];

/// Document in the oracle.
#[derive(Clone)]
struct Doc {
    ts: u64,
    n: Option<u64>,
    k: &'static str,
    uid: u64,
    identity: DocIdentity,
}

/// Returns the lines of each source, and all documents. With few different times and values, nearly
/// all documents tie.
fn documents(is_sorted: bool) -> (Vec<Vec<String>>, Vec<Doc>) {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let mut sources = Vec::new();
    let mut docs = Vec::new();
    for (source_ord, id) in (0..).zip(SOURCES) {
        let mut lines = Vec::new();
        let from = docs.len();
        for position in 1..=NUM_LINES {
            let ts = match is_sorted {
                true => position / 20,
                false => rng.random_range(0..9),
            };
            let n = rng.random_bool(0.8).then(|| rng.random_range(0..3));
            let k = ["red", "green"][rng.random_range(0..2)];
            let uid = source_ord * NUM_LINES + position;
            let mut line = json!({"ts": 1_600_000_000 + ts, "k": k, "what": "beat", "uid": uid});
            if let Some(n) = n {
                line["n"] = json!(n);
            }
            lines.push(line.to_string());
            // The first line identifies the source.
            let identity = DocIdentity {
                source: SourceId::of(format!("id:{id}").as_bytes(), lines[0].as_bytes()),
                position,
            };
            docs.push(Doc {
                ts,
                n,
                k,
                uid,
                identity,
            });
        }
        assert_eq!(docs.len() - from, lines.len());
        sources.push(lines);
    }
    (sources, docs)
}

/// Compares documents by the requested keys, then by place, in the direction of the first key or of
/// `_doc`.
fn compare(left: &Doc, right: &Doc, sort_by: &str, has_time: bool) -> Ordering {
    let directed = |order: Ordering, is_ascending: bool| match is_ascending {
        true => order,
        false => order.reverse(),
    };
    let place = |doc: &Doc| (if has_time { doc.ts } else { 0 }, doc.identity);
    let is_ascending = sort_by.starts_with('-');
    for key in sort_by.split(',') {
        let is_ascending = key.starts_with('-');
        let order = match key.trim_start_matches('-') {
            "ts" => directed(left.ts.cmp(&right.ts), is_ascending),
            "k" => directed(left.k.cmp(right.k), is_ascending),
            "n" => match (left.n, right.n) {
                (Some(left), Some(right)) => directed(left.cmp(&right), is_ascending),
                // Missing values come last in either direction.
                (left, right) => left.is_none().cmp(&right.is_none()),
            },
            "_doc" => directed(place(left).cmp(&place(right)), is_ascending),
            // All documents have the same words.
            "_score" => Ordering::Equal,
            other => panic!("{other}"),
        };
        if order.is_ne() {
            return order;
        }
    }
    directed(place(left).cmp(&place(right)), is_ascending)
}

const SORTS: [&str; 14] = [
    "", "ts", "-ts", "n", "-n", "k,-n", "-k,ts", "k", "_score", "_doc", "-_doc", "n,_doc",
    "-n,_doc", "ts,-_doc",
];

fn uids(answer: &Value) -> Vec<u64> {
    assert_eq!(answer["failed_splits"], json!([]));
    assert_eq!(answer["profile"]["warmup_gaps"], json!(0));
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["uid"].as_u64().unwrap()).collect()
}

/// Checks that all divisions of the documents return the oracle's answers.
fn check(is_sorted: bool, has_time: bool) {
    let (sources, docs) = documents(is_sorted);
    let of = |ord: usize| (SOURCES[ord], &sources[ord][..]);
    let together = [of(0), of(1), of(2)];
    let apart = [[of(0)], [of(1)], [of(2)]];
    let mixed = (&[of(2), of(0)][..], &[of(1)][..]);
    let config = match has_time {
        true => format!("{FIELDS}  timestamp_field: ts\n"),
        false => FIELDS.to_owned(),
    };
    let build = |ingests: &[&[(&str, &[String])]], split_num_docs| {
        TestIndex::build_of(&config, ingests, split_num_docs).unwrap()
    };
    let indexes = [
        build(&[&together], 1_000),
        build(&[&together], 150),
        build(&[&together], 65),
        build(&[&together], 17),
        build(&[&apart[0], &apart[1], &apart[2]], 1_000),
        build(&[&apart[2], &apart[0], &apart[1]], 40),
        build(&[mixed.0, mixed.1], 70),
    ];
    for sort_by in SORTS {
        let oracle_order = match (sort_by, has_time) {
            ("", true) => "ts",
            ("", false) => "-_doc",
            (sort_by, _) => sort_by,
        };
        let mut sorted = docs.clone();
        sorted.sort_by(|left, right| compare(left, right, oracle_order, has_time));
        let expected: Vec<u64> = sorted.iter().map(|doc| doc.uid).collect();
        for (ord, index) in indexes.iter().enumerate() {
            let pages = [(0, 1_000), (7, 5), (440, 30), (0, 10), (95, 30)];
            for (offset, max_hits) in pages.into_iter().take(usual_or_full(3, 5)) {
                let mut request = json!({
                    "query": "what:beat", "start_offset": offset, "max_hits": max_hits,
                    "profile": true,
                });
                if sort_by.is_empty() && offset == 0 {
                    request["query"] = json!("*");
                }
                if !sort_by.is_empty() {
                    request["sort_by"] = json!(sort_by);
                }
                let page = expected.iter().skip(offset).take(max_hits);
                let page: Vec<u64> = page.copied().collect();
                let engine = Arc::new(NativeEngine::new());
                let searcher = index.searcher(engine.clone(), 3, 1).unwrap();
                let whole = run(&searcher, &request).unwrap();
                let what = format!("index {ord}, {request}");
                assert_eq!(uids(&whole.json), page, "{what}");
                // Aggregations divide a search between leaves.
                request["aggs"] = json!({"k": {"terms": {"field": "k"}}});
                let searcher = index.searcher(engine, 4, 3).unwrap();
                let divided = run_divided(&searcher, &request).unwrap();
                assert_eq!(uids(&divided.json), page, "divided: {what}");
            }
        }
    }
}

#[test]
fn hits_come_in_one_order_however_documents_are_divided() {
    check(false, true);
}

#[test]
fn so_they_do_where_every_source_is_sorted_by_time() {
    check(true, true);
}

#[test]
fn so_they_do_without_a_timestamp_field() {
    check(false, false);
}

#[test]
fn what_a_document_is_can_be_read_from_its_split() {
    use canter_split_format::{Head, IDENTITIES_FILE, Identities, head_len_of};
    let (sources, mut docs) = documents(false);
    let of = |ord: usize| (SOURCES[ord], &sources[ord][..]);
    let config = format!("{FIELDS}  timestamp_field: ts\n");
    let index = TestIndex::build_of(&config, &[&[of(0), of(1), of(2)]], 200).unwrap();
    let mut found = Vec::new();
    for (name, bytes) in &index.objects {
        if !name.ends_with(".split") {
            continue;
        }
        let head = Head::open(bytes).unwrap();
        let (_, file) = head.files.find(IDENTITIES_FILE).unwrap();
        let from = (head_len_of(bytes).unwrap() + file.offset) as usize;
        let ids = Identities::open(&bytes[from..from + file.len as usize]).unwrap();
        let ids: Vec<DocIdentity> = (0..ids.num_docs())
            .map(|doc| ids.get(doc).unwrap())
            .collect();
        let range = head.metadata.identities.unwrap();
        assert_eq!(ids.iter().min(), Some(&range.first));
        assert_eq!(ids.iter().max(), Some(&range.last));
        found.extend(ids);
    }
    docs.sort_by_key(|doc| doc.identity);
    found.sort_unstable();
    assert!(docs.iter().map(|doc| doc.identity).eq(found));
}

/// Logs are usually in order. The file of identities is then in the head, and an order with many
/// ties takes no more waves than one without ties.
#[test]
fn identities_cost_nothing_where_documents_stand_in_the_order_of_their_source() {
    let lines = canter_tests::hdfs_lines(6_000, 9).unwrap();
    let config = canter_samples::HDFS_LOGS_YAML;
    let index = TestIndex::build(config, &lines, 1_000).unwrap();
    for (name, bytes) in &index.objects {
        if !name.ends_with(".split") {
            continue;
        }
        let head = canter_split_format::Head::open(bytes).unwrap();
        let name = canter_split_format::IDENTITIES_FILE;
        let (file_ord, file) = head.files.find(name).unwrap();
        assert!(file.len <= 64, "{} bytes of identities", file.len);
        let is_hot = |range: &canter_split_format::HotRange| range.file_ord == file_ord;
        assert!(head.hotcache.ranges().iter().any(is_hot));
    }
    let waves = |sort_by: &str| {
        let request = json!({"query": "*", "sort_by": sort_by, "profile": true});
        index.search(&request).unwrap().json["profile"]["num_waves"].clone()
    };
    assert!(waves("tenant_id").is_u64(), "{}", waves("tenant_id"));
    assert_eq!(waves("severity_text"), waves("tenant_id"));
    assert_eq!(waves("severity_text,_doc"), waves("tenant_id"));
}

/// Returns the index in the form that it had before splits stored identities.
fn of_first_version(index: &TestIndex) -> TestIndex {
    use canter_split_format::{Head, MANIFEST_OBJECT, checksum64, split_object};
    let mut old = index.clone();
    old.objects.clear();
    let mut manifest = index.manifest().unwrap();
    for entry in &mut manifest.manifest.splits {
        let bytes = &index.objects[&split_object(&entry.id)];
        let mut head = Head::open(bytes).unwrap();
        head.metadata.identities = None;
        let head = head.write().unwrap();
        let split = [&head, &bytes[entry.head_len as usize..]].concat();
        entry.id = blake3::hash(&split).to_hex()[..32].to_owned();
        entry.head_len = head.len() as u64;
        entry.head_checksum = checksum64(&head);
        entry.len = split.len() as u64;
        old.objects.insert(split_object(&entry.id), split.into());
    }
    let manifest = manifest.to_bytes().unwrap();
    old.objects
        .insert(MANIFEST_OBJECT.to_owned(), manifest.into());
    old
}

#[test]
fn splits_that_do_not_know_who_their_documents_are_are_named_as_too_old() {
    let (sources, _) = documents(false);
    let config = format!("{FIELDS}  timestamp_field: ts\n");
    let sources: [&[(&str, &[String])]; 1] = [&[("first", &sources[0])]];
    let index = TestIndex::build_of(&config, &sources, 40).unwrap();
    let answer = of_first_version(&index).search(&json!({"query": "what:beat"}));
    let answer = answer.unwrap();
    let problem = answer.json["failed_splits"].to_string();
    assert!(problem.contains("built by an earlier version"), "{problem}");
    assert_eq!(answer.json["num_hits"], 0);
}
