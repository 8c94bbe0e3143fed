//! `strategy: values`: words and phrases are looked for in the dictionaries of whole values. The same documents in an index of
//! words are the oracle.

use canter_runtime::Searcher;
use canter_tests::{TestIndex, usual_or_full};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::calls::{call, named};

/// Ways of indexing the same fields: by words, by terms that are values, and by columns.
const WAYS: [&str; 3] = [
    "
    - {name: agent, type: array<text>, record: position, fast: true}
    - {name: words, type: concatenate, concatenate_fields: [agent, tag, code], record: position}",
    "
    - {name: agent, type: array<text>, strategy: values}
    - {name: words, type: concatenate, concatenate_fields: [agent, tag, code], strategy: values}",
    "
    - {name: agent, type: array<text>, strategy: values, fast: true}
    - {name: words, type: concatenate, concatenate_fields: [agent, tag, code], strategy: values}",
];

fn config(fields: &str) -> String {
    format!(
        "
version: 0.9
index_id: logs
doc_mapping:
  mode: strict
  field_mappings:
    - {{name: n, type: u64, fast: true}}
    - {{name: text, type: text, record: position}}
    - {{name: tag, type: text, tokenizer: lowercase, fast: true}}
    - {{name: code, type: text, indexed: false, fast: true}}{fields}
search_settings:
  default_search_fields: [text, words]
"
    )
}

const WORDS: [&str; 12] = [
    "Mozilla", "linux", "Gecko", "firefox", "Straße", "reply", "worker", "127", "node7", "x86_64",
    "Ωmega", "curl",
];
const GAPS: [&str; 6] = [" ", "/", " (", ") ", "-", ", "];

fn value(rng: &mut ChaCha8Rng) -> String {
    let mut value = String::new();
    for _ in 0..rng.random_range(1..6) {
        value += WORDS[rng.random_range(0..WORDS.len())];
        value += GAPS[rng.random_range(0..GAPS.len())];
    }
    value
}

fn documents(seed: u64) -> Vec<String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let agents: Vec<String> = (0..20).map(|_| value(&mut rng)).collect();
    let mut documents: Vec<Value> = Vec::new();
    for n in 0..200 {
        let mut document = json!({"n": n, "text": WORDS[rng.random_range(0..WORDS.len())]});
        let mut agent = || agents[rng.random_range(0..agents.len())].clone();
        match n % 7 {
            0 => {}
            1 => document["agent"] = json!([agent(), agent()]),
            _ => document["agent"] = agent().into(),
        }
        if n % 3 > 0 {
            document["tag"] = format!("Node{}/{}", n % 4, WORDS[n % 5]).into();
        }
        if n % 5 > 0 {
            document["code"] = format!("E-{}", n % 6).into();
        }
        documents.push(document);
    }
    // Too long for a term, and for a column.
    documents.push(json!({"n": 900, "agent": format!("{}zebra", "gecko linux ".repeat(3_000))}));
    documents.push(json!({"n": 901, "agent": format!("{}zebra curl", "worker, ".repeat(9_000))}));
    documents.push(json!({"n": 902, "agent": ""}));
    documents.iter().map(Value::to_string).collect()
}

/// A query on the words of a field.
fn query(rng: &mut ChaCha8Rng, field: &str) -> Value {
    let mut word = || {
        let word = match rng.random_range(0..14) {
            12 => "zebra",
            13 => "absent",
            nth => WORDS[nth],
        };
        word.to_owned()
    };
    let (one, mut two, three) = (word(), word(), word());
    if one == two {
        // A word twice cannot move.
        two = "absent".to_owned();
    }
    let start: String = one.to_lowercase().chars().take(3).collect();
    let lower = one.to_lowercase();
    match rng.random_range(0..19) {
        0 => json!({"match": {field: one}}),
        1 => json!({"match": {field: {"query": format!("{one} {two}"), "operator": "and"}}}),
        2 => {
            json!({"match": {field: {"query": format!("{one} {two} {three}"), "minimum_should_match": 2}}})
        }
        3 => json!({"match_phrase": {field: format!("{one} {two}")}}),
        4 => json!({"match_phrase": {field: {"query": format!("{one} {two}"), "slop": 2}}}),
        5 => json!({"match_phrase_prefix": {field: format!("{two} {start}")}}),
        6 => json!({"prefix": {field: start}}),
        7 => json!({"wildcard": {field: format!("{start}*")}}),
        8 => json!({"regexp": {field: "[a-z]{4,5}"}}),
        9 => json!({"fuzzy": {field: {"value": "firefix"}}}),
        10 => json!({"term": {field: lower}}),
        11 => json!({"terms": {field: [lower, two.to_lowercase()]}}),
        12 => json!({"match": {field: {"query": "gekco", "fuzziness": "AUTO"}}}),
        13 => {
            json!({"query_string": {"query": format!("{field}:\"{one} {two}\" OR {field}:{three}")}})
        }
        14 => {
            json!({"bool": {"must_not": {"match": {field: one}}, "must": {"match": {field: two}}}})
        }
        15 => json!({"intervals": {field: {"all_of": {"intervals": [
            {"match": {"query": one}}, {"match": {"query": two}}], "ordered": true, "max_gaps": 3}}}}),
        16 => {
            json!({"multi_match": {"query": format!("{one} {two}"), "fields": [field, "text"], "type": "cross_fields",
            "operator": "and"}})
        }
        17 => json!({"query_string": {"query": one}}),
        _ => json!({"simple_query_string": {"query": format!("{one} -{two}"), "fields": [field]}}),
    }
}

/// Returns the numbers of the found documents, ascending.
fn found(searcher: &Searcher, query: &Value) -> Vec<u64> {
    let body = json!({"query": query, "size": 1_000, "sort": ["n"]});
    let (status, answer) = call(searcher, "POST", "/logs/_search", "", &body);
    assert_eq!(status, 200, "{query}: {answer}");
    let hits = answer["hits"]["hits"].as_array().unwrap().iter();
    let found: Vec<u64> = hits
        .map(|hit| hit["_source"]["n"].as_u64().unwrap())
        .collect();
    assert_eq!(answer["hits"]["total"]["value"], found.len(), "{query}");
    // By score, too.
    let body = json!({"query": query, "size": 0, "track_total_hits": true, "track_scores": true});
    let (_, answer) = call(searcher, "POST", "/logs/_search", "", &body);
    assert_eq!(answer["hits"]["total"]["value"], found.len(), "{query}");
    found
}

#[test]
fn words_in_values_are_those_that_an_index_of_words_finds() {
    for seed in 0..usual_or_full(1, 2) as u64 {
        let documents = documents(seed);
        let searcher = |fields: &str, per_split: u64| {
            named(
                &TestIndex::build(&config(fields), &documents, per_split).unwrap(),
                "logs",
            )
        };
        let oracle = searcher(WAYS[0], 1_000);
        let others: Vec<Searcher> = WAYS[1..]
            .iter()
            .flat_map(|fields| [searcher(fields, 1_000), searcher(fields, 60)])
            .collect();
        let mut rng = ChaCha8Rng::seed_from_u64(seed + 100);
        let mut num_found = 0;
        for nth in 0..120 {
            let query = query(&mut rng, ["agent", "words"][nth % 2]);
            let expect = found(&oracle, &query);
            num_found += expect.len();
            for other in &others {
                assert_eq!(found(other, &query), expect, "{query} of seed {seed}");
            }
        }
        assert!(num_found > 1_000, "{num_found}");
    }
}

/// What is a keyword to one is a text to another.
#[test]
fn whole_values_are_found_as_such() {
    let documents: Vec<String> = [
        json!({"n": 0, "agent": "Mozilla/5.0 (X11; Linux)", "tag": "Web/1"}),
        json!({"n": 1, "agent": "mozilla/5.0 (x11; linux)", "tag": "web/2"}),
        json!({"n": 2, "agent": "curl/8.0", "tag": "web/1"}),
    ]
    .iter()
    .map(Value::to_string)
    .collect();
    for fields in &WAYS[1..] {
        let index = TestIndex::build(&config(fields), &documents, 10).unwrap();
        let searcher = named(&index, "logs");
        let check = |query: Value, expect: &[u64]| {
            assert_eq!(found(&searcher, &query), expect, "{query}");
        };
        check(
            json!({"term": {"agent": "Mozilla/5.0 (X11; Linux)"}}),
            &[0, 1],
        );
        check(json!({"wildcard": {"agent": "mozilla*linux*"}}), &[0, 1]);
        check(json!({"term": {"agent": "curl"}}), &[2]);
        check(json!({"term": {"tag": "web/1"}}), &[0, 2]);
        check(json!({"exists": {"field": "agent"}}), &[0, 1, 2]);
        check(json!({"query_string": {"query": "5.0"}}), &[0, 1]);
        check(json!({"query_string": {"query": "agent:curl"}}), &[2]);
        if fields.contains("fast") {
            check(
                json!({"term": {"agent.keyword": "Mozilla/5.0 (X11; Linux)"}}),
                &[0],
            );
        }
        let body = json!({"query": {"match_phrase": {"agent": "x11 linux"}}, "sort": ["n"],
            "highlight": {"fields": {"agent": {}}}});
        let (_, answer) = call(&searcher, "POST", "/logs/_search", "", &body);
        assert_eq!(
            answer["hits"]["hits"][0]["highlight"]["agent"],
            json!(["Mozilla/5.0 (<em>X11</em>; <em>Linux</em>)"]),
            "{answer}"
        );
    }
}
