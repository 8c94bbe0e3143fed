//! Differences between searches with Elasticsearch's API and Elasticsearch itself that the
//! documents of the conformance test cannot show. The tables of docs/from-elasticsearch.md refer to
//! these tests.

use std::sync::Arc;

use canter_runtime::Searcher;
use canter_runtime::engine::NativeEngine;
use canter_runtime::fetch::{ByteRange, FetchError, FetchedRange, RangeFetcher};
use canter_tests::TestIndex;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::calls::call;

const CONFIG: &str = "
version: 0.9
index_id: differences
doc_mapping:
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: text, type: text}
    - {name: sizes, type: array<i64>, fast: true}
";

fn searcher(fetcher: Arc<dyn RangeFetcher>) -> Searcher {
    Searcher::builder()
        .engine(Arc::new(NativeEngine::new()))
        .index_from("logs", fetcher, "logs")
        .and_then(|builder| builder.build())
        .unwrap()
}

/// Returns a searcher over four documents in two splits.
fn four() -> Searcher {
    let documents = [
        json!({"n": 0, "text": "kitten", "sizes": [5, 1],
            "items": [{"colour": "red", "size": 1}, {"colour": "blue", "size": 2}]}),
        json!({"n": 1, "text": "sitten sitten", "sizes": [3], "items": [{"colour": "red", "size": 2}]}),
        json!({"n": 2, "text": "mitten and kitten", "sizes": [4, 9], "items": [{"colour": "blue", "size": 1}]}),
        json!({"n": 3, "text": "bitten", "items": []}),
    ];
    let lines: Vec<String> = documents.iter().map(Value::to_string).collect();
    let index = TestIndex::build(CONFIG, &lines, 2).unwrap();
    searcher(Arc::new(index.fetcher()))
}

/// Returns status and body of an answer.
fn ask(searcher: &Searcher, query: &str, body: &Value) -> (u16, Value) {
    ask_at(searcher, "/logs/_search", query, body)
}

fn ask_at(searcher: &Searcher, path: &str, query: &str, body: &Value) -> (u16, Value) {
    call(searcher, "POST", path, query, body)
}

/// Returns the numbers of the found documents, with one part of each hit.
fn hits(searcher: &Searcher, body: &Value, part: &str) -> Vec<(u64, Value)> {
    let (status, answer) = ask(searcher, "", body);
    assert_eq!(status, 200, "{body}: {answer}");
    let hits = answer["hits"]["hits"].as_array().unwrap().iter();
    hits.map(|hit| (hit["_source"]["n"].as_u64().unwrap(), hit[part].clone()))
        .collect()
}

#[test]
fn a_nested_query_looks_in_all_objects_of_a_path_at_once() {
    let both =
        json!({"bool": {"must": [{"term": {"items.colour": "red"}}, {"term": {"items.size": 2}}]}});
    let body = json!({"query": {"nested": {"path": "items", "query": both}}, "sort": ["n"]});
    let found = hits(&four(), &body, "_index");
    // No single object of the first document matches both.
    let logs = json!("logs");
    assert_eq!(found, [(0, logs.clone()), (1, logs)]);
}

#[test]
fn of_several_values_the_one_sorts_that_places_its_document_first_or_that_the_mode_says() {
    let searcher = four();
    for (key, wanted) in [
        (json!({"order": "asc"}), [(0, 1), (1, 3), (2, 4)]),
        (json!({"order": "desc"}), [(2, 9), (0, 5), (1, 3)]),
        (
            json!({"order": "asc", "mode": "max"}),
            [(1, 3), (0, 5), (2, 9)],
        ),
        (
            json!({"order": "desc", "mode": "min"}),
            [(2, 4), (1, 3), (0, 1)],
        ),
        (
            json!({"order": "desc", "mode": "sum"}),
            [(2, 13), (0, 6), (1, 3)],
        ),
        // Halves are rounded up: 6.5.
        (
            json!({"order": "desc", "mode": "avg"}),
            [(2, 7), (0, 3), (1, 3)],
        ),
        (
            json!({"order": "asc", "mode": "MEDIAN"}),
            [(0, 3), (1, 3), (2, 7)],
        ),
    ] {
        let found = hits(&searcher, &json!({"sort": [{"sizes": key}, "n"]}), "sort");
        let wanted = wanted.into_iter().map(|(n, value)| (n, json!([value, n])));
        let missing = (3, json!([null, 3]));
        assert_eq!(found, wanted.chain([missing]).collect::<Vec<_>>(), "{key}");
    }
    let body =
        json!({"sort": [{"sizes": {"order": "desc"}}, "n"], "search_after": [5, 0], "size": 1});
    assert_eq!(hits(&searcher, &body, "sort"), [(1, json!([3, 1]))]);
}

/// Dates as a person writes them: a day is all of it, as in `range`.
#[test]
fn a_day_in_a_query_string_is_the_whole_day() {
    const DAYS: &str = "
version: 0.9
index_id: days
doc_mapping:
  timestamp_field: at
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: at, type: datetime, fast: true}
    - {name: indexed, type: datetime}
    - {name: column, type: datetime, indexed: false, fast: true}
";
    let times = [
        "2024-05-01T23:59:59.999Z",
        "2024-05-02T00:00:00Z",
        "2024-05-02T12:30:00Z",
        "2024-05-02T23:59:59.999Z",
        "2024-05-03T00:00:00Z",
    ];
    let documents = times.iter().enumerate();
    let lines = documents.map(|(n, at)| {
        json!({"n": n, "at": at, "indexed": at, "column": at, "dynamic": at}).to_string()
    });
    let index = TestIndex::build(DAYS, &lines.collect::<Vec<_>>(), 2).unwrap();
    let searcher = searcher(Arc::new(index.fetcher()));
    for field in ["at", "indexed", "column", "dynamic"] {
        for (query, wanted) in [
            (":2024-05-02", vec![1, 2, 3]),
            (":\"2024-05-02\"", vec![1, 2, 3]),
            (":2024-05", vec![0, 1, 2, 3, 4]),
            (":[2024-05-01 TO 2024-05-02]", vec![0, 1, 2, 3]),
            (":[2024-05-01 TO 2024-05-02}", vec![0]),
            (":{2024-05-01 TO 2024-05-03}", vec![1, 2, 3]),
            (":>2024-05-02", vec![4]),
            (":>=2024-05-02", vec![1, 2, 3, 4]),
            (":<=2024-05-02", vec![0, 1, 2, 3]),
            (":<2024-05-02", vec![0]),
            (": IN [2024-05-01 2024-05-03]", vec![0, 4]),
            (":2024-06-01", vec![]),
        ] {
            let query = format!("{field}{query}");
            let body = json!({"query": {"query_string": {"query": query}}, "sort": ["n"]});
            let found: Vec<u64> = hits(&searcher, &body, "_id")
                .iter()
                .map(|(n, _)| *n)
                .collect();
            assert_eq!(found, wanted, "{query}");
            // The same language in Quickwit's API.
            let (status, answer) = ask_at(
                &searcher,
                "/api/v1/logs/search",
                "",
                &json!({"query": query, "sort_by": "-n"}),
            );
            assert_eq!(status, 200, "{query}: {answer}");
            let hits = answer["hits"].as_array().unwrap().iter();
            let found: Vec<u64> = hits.map(|hit| hit["n"].as_u64().unwrap()).collect();
            assert_eq!(found, wanted, "{query}");
        }
    }
}

/// Backslashes and operators as Lucene reads them, in Elasticsearch's API.
#[test]
fn a_query_string_has_lucene_s_escapes_and_operators() {
    const PATHS: &str = "
version: 0.9
index_id: paths
doc_mapping:
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: exe, type: text, tokenizer: raw, fast: true}
    - {name: text, type: text}
search_settings: {default_search_fields: [text]}
";
    let documents = [
        json!({"n": 0, "exe": r"C:\Windows\cmd.exe", "text": "left right"}),
        json!({"n": 1, "exe": r"C:\Windows", "text": "left"}),
        json!({"n": 2, "exe": r"D:\tools\cmd.exe", "text": "right"}),
        json!({"n": 3, "exe": "what*ever?", "text": "neither it's"}),
        json!({"n": 4, "exe": r"\\host\share\a b", "text": "R&D"}),
    ];
    let lines: Vec<String> = documents.iter().map(Value::to_string).collect();
    let searcher = searcher(Arc::new(
        TestIndex::build(PATHS, &lines, 2).unwrap().fetcher(),
    ));
    for (query, wanted) in [
        (r"exe:C\:\\Windows\\*", vec![0]),
        (r"exe:C\:\\Windows*", vec![0, 1]),
        (r"exe:*\\cmd.exe", vec![0, 2]),
        (r#"exe:"C:\\Windows""#, vec![1]),
        (r"exe:what\*ever\?", vec![3]),
        (r"exe:*\**", vec![3]),
        (r"exe:\\\\host\\*\ b", vec![4]),
        (r"exe:\\\\host\\share\\a\ b", vec![4]),
        (r"exe:\u0044\:*", vec![2]),
        ("left && right", vec![0]),
        ("left || right", vec![0, 1, 2]),
        ("left && !right", vec![1]),
        ("!(left || right)", vec![3, 4]),
        ("text:it's", vec![3]),
        ("text:R&D", vec![4]),
    ] {
        let body = json!({"query": {"query_string": {"query": query}}, "sort": ["n"]});
        let found: Vec<u64> = hits(&searcher, &body, "_id")
            .iter()
            .map(|(n, _)| *n)
            .collect();
        assert_eq!(found, wanted, "{query}");
    }
}

#[test]
fn terms_that_are_near_enough_count_the_same() {
    let searcher = four();
    for query in [
        json!({"fuzzy": {"text": {"value": "kitten", "fuzziness": 2, "max_expansions": 1}}}),
        json!({"match": {"text": {"query": "kitten", "fuzziness": 1}}}),
        json!({"query_string": {"query": "text:kitten~1"}}),
    ] {
        let mut found = hits(&searcher, &json!({"query": query}), "_score");
        found.sort_by_key(|(n, _)| *n);
        let wanted: Vec<(u64, Value)> = (0..4).map(|n| (n, json!(1.0))).collect();
        assert_eq!(found, wanted, "{query}");
    }
    // A word by itself gets a score.
    let exact = json!({"query": {"match": {"text": "sitten"}}});
    assert_ne!(hits(&searcher, &exact, "_score"), [(1, json!(1.0))]);
}

#[test]
fn dates_have_their_fields_form_unless_the_source_is_kept() {
    let shown = |store_source: bool| {
        let config = format!(
            "
version: 0.9
index_id: dates
doc_mapping:
  store_source: {store_source}
  field_mappings:
    - {{name: at, type: datetime, input_formats: [rfc3339]}}
    - {{name: day, type: datetime, input_formats: [rfc3339], output_format: '%d.%m.%Y'}}
"
        );
        let noon = "2024-05-01T12:00:00+02:00";
        let lines = [json!({"at": noon, "day": noon}).to_string()];
        let index = TestIndex::build(&config, &lines, 1).unwrap();
        let (_, answer) = ask(&searcher(Arc::new(index.fetcher())), "", &json!({}));
        let source = &answer["hits"]["hits"][0]["_source"];
        ["at", "day"].map(|field| source[field].as_str().unwrap().to_owned())
    };
    assert_eq!(shown(false), ["2024-05-01T10:00:00Z", "01.05.2024"]);
    assert_eq!(shown(true), ["2024-05-01T12:00:00+02:00"; 2]);
}

/// Store that never answers.
struct Silent;

impl RangeFetcher for Silent {
    fn fetch<'a>(
        &'a self,
        _: &'a str,
        _: ByteRange,
    ) -> BoxFuture<'a, Result<FetchedRange, FetchError>> {
        Box::pin(std::future::pending())
    }
}

#[test]
fn a_search_ends_when_its_time_is_up() {
    let searcher = searcher(Arc::new(Silent));
    for (query, body) in [
        ("timeout=200ms", json!({})),
        ("", json!({"timeout": "200ms"})),
        // The host stops the search before the guest returns anything.
        ("timeout=0ms", json!({})),
    ] {
        let (status, answer) = ask(&searcher, query, &body);
        assert_eq!(status, 504, "{answer}");
        assert_eq!(answer["error"]["type"], "timeout_exception", "{answer}");
    }
}

#[test]
fn more_fields_than_an_answer_may_hold_are_to_be_named() {
    // No mapping declares these fields.
    let fields = (0..4_000).map(|n| (format!("{n:0>250}"), json!(n)));
    let document = Value::Object(fields.collect()).to_string();
    let index = TestIndex::build(CONFIG, &[document], 1).unwrap();
    let searcher = searcher(Arc::new(index.fetcher()));
    let (status, answer) = ask_at(&searcher, "/logs/_field_caps", "fields=*", &json!({}));
    assert_eq!(status, 400, "{answer}");
    let reason = answer["error"]["reason"].as_str().unwrap();
    assert!(reason.contains("name some of them"), "{reason}");
    let (status, answer) = ask_at(&searcher, "/logs/_field_caps", "fields=*0042", &json!({}));
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["fields"].as_object().unwrap().len(), 1, "{answer}");
}
