//! Completions, compared with a scan of the documents' inputs: over several splits, after deletions, and after a merge.

use std::collections::BTreeSet;

use canter_runtime::Searcher;
use canter_tests::TestIndex;
use serde_json::{Value, json};

use crate::calls::{call, named};

const CONFIG: &str = "
version: 0.9
index_id: inputs
doc_mapping:
  store_source: true
  index_field_presence: true
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: color, type: text, tokenizer: raw, fast: true}
    - {name: place, type: geo_point}
    - name: title
      type: array<text>
      tokenizer: raw
      stored: false
      completion: {names: [again]}
      fields: {raw: {tokenizer: raw}}
    - name: colored
      type: array<text>
      tokenizer: raw
      stored: false
      completion:
        contexts: [{name: color, path: color}, {name: place, path: place, geohash: 5}]
";

const WORDS: [&str; 8] = [
    "Disk", "disk", "Dusk", "full", "fill", "Über", "a+b", "doctor",
];

/// A document: its inputs, their weight, and whether it has been deleted.
struct Doc {
    inputs: Vec<String>,
    weight: u32,
    color: &'static str,
}

fn documents() -> Vec<Doc> {
    let mut state = 7_u64;
    let mut next = |most: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % most
    };
    let docs = (0..60).map(|_| Doc {
        inputs: (0..1 + next(3))
            .map(|_| format!("{} {}", WORDS[next(8)], WORDS[next(8)]))
            .collect(),
        weight: u32::try_from(next(20)).unwrap(),
        color: ["red", "blue"][next(2)],
    });
    docs.collect()
}

fn built(docs: &[Doc]) -> TestIndex {
    let lines = docs.iter().enumerate().map(|(n, doc)| {
        let title = json!({"input": doc.inputs, "weight": doc.weight});
        json!({
            "n": n, "title": title, "colored": title, "color": doc.color,
            "place": {"lat": 52.22, "lon": 4.53 + n as f64 / 100.0},
        })
        .to_string()
    });
    let lines: Vec<String> = lines.collect();
    TestIndex::build(CONFIG, &lines, 7).unwrap()
}

fn key(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphabetic());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join(" ")
}

/// Returns the weights and texts that a scan suggests: the best input of each document.
fn scanned(
    docs: &[Doc],
    is_left: impl Fn(usize, &Doc) -> bool,
    fits: impl Fn(&str) -> bool,
) -> Vec<(f64, String)> {
    let left = docs.iter().enumerate().filter(|(n, doc)| is_left(*n, doc));
    let mut found: Vec<(f64, String)> = left
        .filter_map(|(_, doc)| {
            let inputs = doc.inputs.iter().filter(|input| fits(&key(input)));
            Some((f64::from(doc.weight), inputs.min()?.clone()))
        })
        .collect();
    found.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    found
}

fn suggested(searcher: &Searcher, by: &Value, completion: &Value) -> Vec<(f64, String)> {
    let mut suggestion = by.clone();
    suggestion["completion"] = completion.clone();
    let body = json!({"size": 0, "suggest": {"s": suggestion}});
    let (status, answer) = call(searcher, "POST", "/inputs/_search", "", &body);
    assert_eq!(status, 200, "{body}: {answer}");
    let options = answer["suggest"]["s"][0]["options"].as_array().unwrap();
    let options = options.iter().map(|option| {
        let inputs = option["_source"]["title"]["input"].as_array().unwrap();
        assert!(inputs.contains(&option["text"]), "{option}");
        let text = option["text"].as_str().unwrap().to_owned();
        (option["_score"].as_f64().unwrap(), text)
    });
    options.collect()
}

/// Checks all ways of asking, of documents that are left.
fn check(index: &TestIndex, docs: &[Doc], is_left: &dyn Fn(usize, &Doc) -> bool) {
    let searcher = named(index, "inputs");
    for prefix in ["d", "Dis", "disk f", "über", "DOCTOR", "a b", "zz", ""] {
        let expected = scanned(docs, is_left, |input| input.starts_with(&key(prefix)));
        for field in ["title", "title.again"] {
            let all = json!({"field": field, "size": 100});
            let found = suggested(&searcher, &json!({"prefix": prefix}), &all);
            assert_eq!(found, expected, "{prefix}");
            let some = json!({"field": field, "size": 3});
            let found = suggested(&searcher, &json!({"text": prefix}), &some);
            assert_eq!(found, expected[..expected.len().min(3)], "{prefix}");
        }
        let distinct = json!({"field": "title", "size": 100, "skip_duplicates": true});
        let found = suggested(&searcher, &json!({"prefix": prefix}), &distinct);
        let texts: BTreeSet<&String> = found.iter().map(|(_, text)| text).collect();
        assert_eq!(texts.len(), found.len(), "{prefix}");
        let colored = json!({"field": "colored", "size": 100, "contexts": {"color": "red"}});
        let is_red = |n: usize, doc: &Doc| is_left(n, doc) && doc.color == "red";
        let expected = scanned(docs, is_red, |input| input.starts_with(&key(prefix)));
        let found = suggested(&searcher, &json!({"prefix": prefix}), &colored);
        assert_eq!(found, expected, "{prefix}");
    }
    // One letter of `disk` and `dusk` is another, the first is as given.
    let fits = |input: &str| input.starts_with("disk") || input.starts_with("dusk");
    for fuzziness in [json!(1), json!("1"), json!("AUTO:3,6")] {
        let near = json!({"field": "title", "size": 100, "fuzzy": {"fuzziness": fuzziness}});
        let found = suggested(&searcher, &json!({"prefix": "desk"}), &near);
        assert_eq!(found, scanned(docs, is_left, fits));
    }
    let all = json!({"field": "title", "size": 100});
    let found = suggested(&searcher, &json!({"regex": "d[iu]sk f(u|i)ll"}), &all);
    let fits = |input: &str| {
        ["disk full", "disk fill", "dusk full", "dusk fill"]
            .iter()
            .any(|own| input.starts_with(own))
    };
    assert_eq!(found, scanned(docs, is_left, fits));
}

#[test]
fn completions_are_those_of_a_scan_before_and_after_deletions_and_merges() {
    let docs = documents();
    let index = built(&docs);
    let entries = index.entries().unwrap();
    assert!(entries.len() > 5);
    let merged = index.merge(CONFIG, &entries).unwrap().unwrap().unwrap();
    let merged = TestIndex::of_splits(CONFIG, &[merged], &index).unwrap();
    for index in [index, merged] {
        check(&index, &docs, &|_, _| true);
        let (after, report) = index
            .delete(&json!({"query": "color:blue AND n:<40"}))
            .unwrap();
        assert!(report.num_deleted_docs > 5);
        check(&after, &docs, &|n, doc| doc.color != "blue" || n >= 40);
    }
}

#[test]
fn contexts_add_weight_and_take_neighbouring_cells() {
    let docs = documents();
    let searcher = named(&built(&docs), "inputs");
    let colored = |contexts: Value| json!({"field": "colored", "size": 100, "contexts": contexts});
    let by = json!({"prefix": "d"});
    let doubled =
        colored(json!({"color": ["blue", {"context": "re", "prefix": true, "boost": 2}]}));
    let mut expected: Vec<f64> = docs
        .iter()
        .filter(|doc| doc.inputs.iter().any(|input| key(input).starts_with('d')))
        .map(|doc| f64::from(doc.weight) * if doc.color == "red" { 2.0 } else { 1.0 })
        .collect();
    expected.sort_by(|left, right| right.total_cmp(left));
    let found = suggested(&searcher, &by, &doubled);
    let scores: Vec<f64> = found.into_iter().map(|(score, _)| score).collect();
    assert_eq!(scores, expected);
    // A cell of five letters is 0.044 degrees wide, and those beside it count.
    let near = colored(json!({"place": {"lat": 52.22, "lon": 4.53}}));
    let found = suggested(&searcher, &json!({"prefix": ""}), &near).len();
    assert!((4..=9).contains(&found), "{found}");
    let far = colored(json!({"place": {"context": {"lat": 52.22, "lon": 4.53}, "precision": 2}}));
    assert_eq!(suggested(&searcher, &json!({"prefix": ""}), &far).len(), 60);
    let refused = |suggest: Value, part: &str| {
        let body = json!({ "suggest": {"s": suggest} });
        let (status, answer) = call(&searcher, "POST", "/inputs/_search", "", &body);
        assert_eq!(status, 400, "{body}");
        assert!(answer.to_string().contains(part), "{answer}");
    };
    for (completion, part) in [
        (json!({"field": "colored"}), "Missing mandatory contexts"),
        (colored(json!({"size": "x"})), "Unknown context name [size]"),
        (json!({"field": "n"}), "is not a completion suggest field"),
        (json!({"field": "x"}), "no mapping found for field [x]"),
        (json!({"field": "title", "y": 1}), "\\\"y\\\" is not known"),
        (
            json!({"field": "title", "fuzzy": {"fuzziness": 3}}),
            "fuzziness: this must be",
        ),
    ] {
        refused(json!({"prefix": "d", "completion": completion}), part);
    }
    // The inputs are the values of another way of indexing, too.
    let input = docs[0].inputs[0].as_str();
    let body = json!({"query": {"term": {"title.raw": input}}});
    let (_, answer) = call(&searcher, "POST", "/inputs/_search", "", &body);
    let has = |doc: &&Doc| doc.inputs.iter().any(|own| own == input);
    assert_eq!(
        answer["hits"]["total"]["value"],
        docs.iter().filter(has).count()
    );
}
