//! `intervals` and the `span` clauses, drawn and judged by their definitions: a choice of positions in the words of a
//! document, which a plain search over all choices finds.

use std::collections::BTreeSet;

use canter_runtime::Searcher;
use canter_tests::TestIndex;
use rand::seq::IndexedRandom;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::calls::{call, named};

const CONFIG: &str = "
version: 0.9
index_id: places
doc_mapping:
  field_mappings:
    - {name: n, type: u64, fast: true}
    - {name: title, type: text, record: position, fieldnorms: true}
    - {name: body, type: text, record: position, fieldnorms: true}
    - {name: plain, type: text}
    - {name: looked, type: text, record: position, strategy: none}
";

const WORDS: [&str; 7] = ["cold", "cool", "rain", "wet", "it", "is", "outside"];
const NUM_DOCS: u64 = 90;

fn documents(random: &mut ChaCha8Rng) -> Vec<Value> {
    let mut text = |most: usize| {
        let num = random.random_range(0..most);
        let words = (0..num).map(|_| *WORDS.choose(random).unwrap());
        words.collect::<Vec<_>>().join(" ")
    };
    let documents = (0..NUM_DOCS).map(|n| {
        let title = text(10);
        json!({"n": n, "title": title, "body": text(5), "plain": title, "looked": title})
    });
    documents.collect()
}

fn indexed(documents: &[Value]) -> Searcher {
    let lines: Vec<String> = documents.iter().map(Value::to_string).collect();
    named(&TestIndex::build(CONFIG, &lines, 30).unwrap(), "places")
}

/// Returns the documents that a query finds, with their scores.
fn found(searcher: &Searcher, query: &Value) -> Vec<(u64, f64)> {
    let body = json!({"query": query, "size": 200, "profile": true});
    let (status, answer) = call(searcher, "POST", "/places/_search", "", &body);
    assert_eq!(status, 200, "{query}: {answer}");
    // Everything that a query reads is known before.
    assert_eq!(
        answer["profile"]["canter"]["warmup_gaps"], 0,
        "{query}: {answer}"
    );
    let hits = answer["hits"]["hits"].as_array().unwrap().iter();
    let hits = hits.map(|hit| {
        let n = hit["_source"]["n"].as_u64().unwrap();
        (n, hit["_score"].as_f64().unwrap())
    });
    hits.collect()
}

fn refused(searcher: &Searcher, query: &Value) -> String {
    let body = json!({"query": query});
    let (status, answer) = call(searcher, "POST", "/places/_search", "", &body);
    assert_eq!(status, 400, "{query}: {answer}");
    answer.to_string()
}

type Spans = BTreeSet<(i64, i64)>;

fn positions(words: &[&str], test: impl Fn(&str) -> bool) -> Vec<i64> {
    let words = (0..).zip(words);
    words
        .filter(|(_, word)| test(word))
        .map(|(at, _)| at)
        .collect()
}

fn minimal(all: Spans) -> Spans {
    let is_minimal = |(start, end): &(i64, i64)| {
        let inside = |other: &&(i64, i64)| *start <= other.0 && other.1 <= *end;
        all.iter().filter(inside).count() == 1
    };
    all.iter().copied().filter(is_minimal).collect()
}

/// Returns each choice of one span for each part.
fn choices(parts: &[Spans]) -> Vec<Vec<(i64, i64)>> {
    parts.iter().fold(vec![Vec::new()], |chosen, part| {
        let with = chosen.iter().flat_map(|before| {
            part.iter().map(|span| {
                let mut all = before.clone();
                all.push(*span);
                all
            })
        });
        with.collect()
    })
}

fn overlaps((start, end): (i64, i64), (from, to): (i64, i64)) -> bool {
    start <= to && from <= end
}

/// Returns the smallest spans around one of each part, in such an order and with such gaps. Equal parts are different
/// occurrences if `is_distinct`.
fn around(parts: &[(String, Spans)], mode: &str, max_gaps: i64, is_distinct: bool) -> Spans {
    if let ("unordered_no_overlap", [before @ .., last]) = (mode, parts)
        && before.len() > 1
    {
        // In pairs: those so far, and the next one before or behind them.
        let together = around(before, mode, max_gaps, is_distinct);
        let pair = [(String::new(), together), last.clone()];
        return around(&pair, mode, max_gaps, is_distinct);
    }
    let spans: Vec<Spans> = parts.iter().map(|(_, spans)| spans.clone()).collect();
    let fits = |choice: &Vec<(i64, i64)>| {
        let in_order = choice.windows(2).all(|pair| pair[0].1 < pair[1].0);
        let pairs = || (0..choice.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
        let apart = pairs().all(|(one, other)| !overlaps(choice[one], choice[other]));
        let distinct = pairs()
            .all(|(one, other)| parts[one].0 != parts[other].0 || choice[one] != choice[other]);
        match mode {
            "ordered" => in_order,
            "unordered_no_overlap" => apart,
            _ => distinct || !is_distinct,
        }
    };
    let whole = |choice: &Vec<(i64, i64)>| {
        let start = choice.iter().map(|span| span.0).min().unwrap();
        (start, choice.iter().map(|span| span.1).max().unwrap())
    };
    let gaps = |choice: &Vec<(i64, i64)>| {
        let (start, end) = whole(choice);
        let own: i64 = choice.iter().map(|(start, end)| end - start + 1).sum();
        end - start + 1 - own
    };
    let all = choices(&spans).into_iter();
    let all = all.filter(|choice| !choice.is_empty() && fits(choice));
    let all = all.filter(|choice| max_gaps < 0 || gaps(choice) <= max_gaps);
    minimal(all.map(|choice| whole(&choice)).collect())
}

/// Returns the intervals of a source in the words of a document.
fn intervals(source: &Value, words: &[&str]) -> Spans {
    let (name, body) = source.as_object().unwrap().iter().next().unwrap();
    let text = |key: &str| body[key].as_str().unwrap();
    let at = |test: &dyn Fn(&str) -> bool| -> Spans {
        let found = positions(words, test).into_iter();
        found.map(|at| (at, at)).collect()
    };
    let mode = body["mode"].as_str().unwrap_or("unordered");
    let max_gaps = body["max_gaps"].as_i64().unwrap_or(-1);
    let parts = || {
        let parts = body["intervals"].as_array().unwrap().iter();
        parts.map(|part| (part.to_string(), intervals(part, words)))
    };
    let own = match name.as_str() {
        "match" => {
            let parts = text("query").split(' ');
            let parts = parts.map(|word| (word.to_owned(), at(&|own| own == word)));
            around(&parts.collect::<Vec<_>>(), mode, max_gaps, true)
        }
        "prefix" => at(&|own| own.starts_with(text("prefix"))),
        "wildcard" => at(&|own| own.starts_with(text("pattern").trim_end_matches('*'))),
        "regexp" => at(&|own| matches!(own, "cold" | "cool")),
        "fuzzy" => at(&|own| matches!(own, "it" | "is")),
        "any_of" => minimal(parts().flat_map(|(_, spans)| spans).collect()),
        "all_of" => around(&parts().collect::<Vec<_>>(), mode, max_gaps, true),
        other => panic!("{other}"),
    };
    let Some(filter) = body["filter"].as_object() else {
        return own;
    };
    let (relation, other) = filter.iter().next().unwrap();
    let others = intervals(other, words);
    let holds = |span: (i64, i64)| {
        let any = |test: &dyn Fn((i64, i64)) -> bool| others.iter().any(|other| test(*other));
        let inside = |(start, end): (i64, i64), (from, to): (i64, i64)| from <= start && end <= to;
        match relation.as_str() {
            "containing" => any(&|other| inside(other, span)),
            "not_containing" => !any(&|other| inside(other, span)),
            "contained_by" => any(&|other| inside(span, other)),
            "not_contained_by" => !any(&|other| inside(span, other)),
            "overlapping" => any(&|other| overlaps(span, other)),
            "not_overlapping" => !any(&|other| overlaps(span, other)),
            "before" => any(&|other| span.1 < other.0),
            "after" => any(&|other| other.1 < span.0),
            other => panic!("{other}"),
        }
    };
    own.into_iter().filter(|span| holds(*span)).collect()
}

const MODES: [&str; 3] = ["ordered", "unordered", "unordered_no_overlap"];
const RELATIONS: [&str; 8] = [
    "containing",
    "not_containing",
    "contained_by",
    "not_contained_by",
    "overlapping",
    "not_overlapping",
    "before",
    "after",
];

fn draw_word(random: &mut ChaCha8Rng) -> &'static str {
    WORDS.choose(random).unwrap()
}

/// Draws a source all of whose intervals are one position.
fn draw_short(random: &mut ChaCha8Rng) -> Value {
    match random.random_range(0..7) {
        0 => json!({"prefix": {"prefix": "co"}}),
        1 => json!({"wildcard": {"pattern": "i*"}}),
        2 => json!({"regexp": {"pattern": "co(ld|ol)"}}),
        3 => json!({"fuzzy": {"term": "it", "fuzziness": 1}}),
        4 => json!({"any_of": {"intervals": [
            {"match": {"query": draw_word(random)}}, {"match": {"query": draw_word(random)}}]}}),
        _ => json!({"match": {"query": draw_word(random)}}),
    }
}

fn draw_source(random: &mut ChaCha8Rng) -> Value {
    let mut source = match random.random_range(0..3) {
        0 => {
            let words: Vec<&str> = (0..random.random_range(1..4))
                .map(|_| draw_word(random))
                .collect();
            json!({"match": {"query": words.join(" ")}})
        }
        1 => {
            let parts = random.random_range(1..4);
            let parts: Vec<Value> = (0..parts).map(|_| draw_short(random)).collect();
            json!({"all_of": {"intervals": parts}})
        }
        _ => return draw_short(random),
    };
    let body = source.as_object_mut().unwrap().values_mut().next().unwrap();
    let mode = MODES.choose(random).unwrap();
    body["mode"] = json!(mode);
    if random.random_bool(0.5) {
        body["max_gaps"] = json!(random.random_range(-1..4));
    }
    source
}

fn draw_intervals(random: &mut ChaCha8Rng) -> Value {
    let mut source = draw_source(random);
    if random.random_bool(0.5) {
        let body = source.as_object_mut().unwrap().values_mut().next().unwrap();
        body["filter"] = json!({*RELATIONS.choose(random).unwrap(): draw_source(random)});
    }
    source
}

fn seed() -> u64 {
    let seed = std::env::var("CANTER_RANDOM_SEED").ok();
    seed.and_then(|seed| seed.parse().ok()).unwrap_or(34)
}

/// Returns the number of queries to draw of a kind.
fn num_queries() -> usize {
    let requests = std::env::var("CANTER_RANDOM_REQUESTS").ok();
    requests.and_then(|num| num.parse().ok()).unwrap_or(400)
}

#[test]
fn drawn_intervals_find_the_documents_of_their_definition() {
    let mut random = ChaCha8Rng::seed_from_u64(seed());
    let documents = documents(&mut random);
    let searcher = indexed(&documents);
    let mut num_with_hits = 0;
    for _ in 0..num_queries() {
        let source = draw_intervals(&mut random);
        let expected: BTreeSet<u64> = documents
            .iter()
            .filter(|document| {
                let words: Vec<&str> = document["title"]
                    .as_str()
                    .unwrap()
                    .split_whitespace()
                    .collect();
                !intervals(&source, &words).is_empty()
            })
            .map(|document| document["n"].as_u64().unwrap())
            .collect();
        num_with_hits += usize::from(!expected.is_empty());
        // The field `looked` has no index: its documents are read.
        for field in ["title", "looked"] {
            let query = json!({"intervals": {field: source}});
            let hits = found(&searcher, &query);
            let hits: BTreeSet<u64> = hits.into_iter().map(|(n, _)| n).collect();
            assert_eq!(hits, expected, "{query}");
        }
    }
    assert!(num_with_hits * 3 > num_queries());
}

/// Returns the spans of a clause in the words of a document, from each beginning on.
fn spans(clause: &Value, words: &[&str]) -> Spans {
    let (name, body) = clause.as_object().unwrap().iter().next().unwrap();
    let at = |test: &dyn Fn(&str) -> bool| -> Spans {
        let found = positions(words, test).into_iter();
        found.map(|at| (at, at)).collect()
    };
    let part = |key: &str| spans(&body[key], words);
    let parts = || -> Vec<Spans> {
        let parts = body["clauses"].as_array().unwrap().iter();
        parts.map(|part| spans(part, words)).collect()
    };
    match name.as_str() {
        "span_term" => at(&|own| own == body["title"]),
        "span_multi" => at(&|own| own.starts_with("co")),
        "span_or" => parts().into_iter().flatten().collect(),
        "span_first" => {
            let end = body["end"].as_i64().unwrap();
            part("match")
                .into_iter()
                .filter(|span| span.1 < end)
                .collect()
        }
        "span_not" => {
            let (pre, post) = (
                body["pre"].as_i64().unwrap(),
                body["post"].as_i64().unwrap(),
            );
            let excluded = part("exclude");
            let is_free = |span: &(i64, i64)| {
                let around = (span.0 - pre, span.1 + post);
                !excluded.iter().any(|other| overlaps(around, *other))
            };
            part("include").into_iter().filter(is_free).collect()
        }
        "span_containing" | "span_within" => {
            let (big, little) = (part("big"), part("little"));
            let inside =
                |little: &(i64, i64), big: &(i64, i64)| big.0 <= little.0 && little.1 <= big.1;
            match name.as_str() {
                "span_within" => little
                    .into_iter()
                    .filter(|span| big.iter().any(|other| inside(span, other)))
                    .collect(),
                _ => big
                    .into_iter()
                    .filter(|span| little.iter().any(|other| inside(other, span)))
                    .collect(),
            }
        }
        "span_near" => {
            let slop = body["slop"].as_i64().unwrap();
            let in_order = body["in_order"].as_bool().unwrap();
            near(&parts(), slop, in_order)
        }
        other => panic!("{other}"),
    }
}

/// Returns the spans around one of each part; in order, each part is the first behind the one before it.
fn near(parts: &[Spans], slop: i64, in_order: bool) -> Spans {
    let mut found = Spans::new();
    if !in_order {
        for choice in choices(parts) {
            let start = choice.iter().map(|span| span.0).min().unwrap();
            let end = choice.iter().map(|span| span.1).max().unwrap();
            let own: i64 = choice.iter().map(|(start, end)| end - start + 1).sum();
            if end - start + 1 - own <= slop {
                found.insert((start, end));
            }
        }
        return found;
    }
    for begun in &parts[0] {
        let (mut end, mut own) = (begun.1, begun.1 - begun.0 + 1);
        let mut is_whole = true;
        for part in &parts[1..] {
            match part.iter().find(|span| span.0 > end) {
                Some(next) => (end, own) = (next.1, own + next.1 - next.0 + 1),
                None => is_whole = false,
            }
        }
        if is_whole && end - begun.0 + 1 - own <= slop {
            found.insert((begun.0, end));
        }
    }
    found
}

fn draw_words_span(random: &mut ChaCha8Rng) -> Value {
    match random.random_range(0..5) {
        0 => json!({"span_multi": {"match": {"prefix": {"title": "co"}}}}),
        1 => json!({"span_or": {"clauses": [
            {"span_term": {"title": draw_word(random)}}, {"span_term": {"title": draw_word(random)}}]}}),
        _ => json!({"span_term": {"title": draw_word(random)}}),
    }
}

fn draw_near(random: &mut ChaCha8Rng, in_order: bool) -> Value {
    let parts: Vec<Value> = (0..random.random_range(1..4))
        .map(|_| draw_words_span(random))
        .collect();
    json!({"span_near": {"clauses": parts, "slop": random.random_range(0..4), "in_order": in_order}})
}

fn draw_span(random: &mut ChaCha8Rng) -> Value {
    match random.random_range(0..6) {
        0 => draw_near(random, true),
        1 => draw_near(random, false),
        2 => {
            json!({"span_first": {"match": draw_near(random, true), "end": random.random_range(0..6)}})
        }
        3 => json!({"span_not": {
            "include": draw_near(random, true), "exclude": draw_words_span(random),
            "pre": random.random_range(0..3), "post": random.random_range(0..3),
        }}),
        4 => {
            json!({"span_containing": {"big": draw_near(random, true), "little": draw_words_span(random)}})
        }
        _ => {
            json!({"span_within": {"big": draw_near(random, true), "little": draw_words_span(random)}})
        }
    }
}

#[test]
fn drawn_spans_find_the_documents_of_their_definition() {
    let mut random = ChaCha8Rng::seed_from_u64(seed() + 1);
    let documents = documents(&mut random);
    let searcher = indexed(&documents);
    let mut num_with_hits = 0;
    for _ in 0..num_queries() {
        let query = draw_span(&mut random);
        let expected: BTreeSet<u64> = documents
            .iter()
            .filter(|document| {
                let words: Vec<&str> = document["title"]
                    .as_str()
                    .unwrap()
                    .split_whitespace()
                    .collect();
                !spans(&query, &words).is_empty()
            })
            .map(|document| document["n"].as_u64().unwrap())
            .collect();
        num_with_hits += usize::from(!expected.is_empty());
        let hits = found(&searcher, &query);
        let hits: BTreeSet<u64> = hits.into_iter().map(|(n, _)| n).collect();
        assert_eq!(hits, expected, "{query}");
    }
    assert!(num_with_hits * 3 > num_queries());
}

#[test]
fn scores_are_those_of_the_formulas() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let documents = documents(&mut random);
    let searcher = indexed(&documents);
    // Of an interval: 1 / (1 + surplus length), saturated.
    let source = json!({"match": {"query": "cold rain", "mode": "ordered"}});
    let hits = found(&searcher, &json!({"intervals": {"title": source, }}));
    assert!(hits.len() > 5, "{hits:?}");
    for (n, score) in hits {
        let words: Vec<&str> = documents[usize::try_from(n).unwrap()]["title"]
            .as_str()
            .unwrap()
            .split_whitespace()
            .collect();
        let of_one =
            |(start, end): (i64, i64)| 1.0 / f64::from(i32::try_from(end - start).unwrap());
        let sum: f64 = intervals(&source, &words).into_iter().map(of_one).sum();
        assert!((score - sum / (1.0 + sum)).abs() < 1e-3, "{n}: {score}");
    }
    let boosted = json!({"intervals": {"title": {"match": {"query": "cold"}, "boost": 4}}});
    let plain = json!({"intervals": {"title": {"match": {"query": "cold"}}}});
    let (boosted, plain) = (found(&searcher, &boosted), found(&searcher, &plain));
    assert!((boosted[0].1 - 4.0 * plain[0].1).abs() < 1e-2);
    // Spans score as the words and phrases that they are.
    for (span, same) in [
        (
            json!({"span_term": {"title": "cold"}}),
            json!({"match": {"title": "cold"}}),
        ),
        (
            json!({"span_near": {"clauses": [
                {"span_term": {"title": "cold"}}, {"span_term": {"title": "rain"}}], "slop": 0}}),
            json!({"match_phrase": {"title": "cold rain"}}),
        ),
        (
            json!({"bool": {"should": [{"span_term": {"title": {"value": "cold", "boost": 3}}}]}}),
            json!({"match": {"title": {"query": "cold", "boost": 3}}}),
        ),
    ] {
        let (one, other) = (found(&searcher, &span), found(&searcher, &same));
        assert!(!one.is_empty());
        assert_eq!(one.len(), other.len(), "{span}");
        for ((n, score), (same_n, same_score)) in one.iter().zip(&other) {
            assert_eq!(n, same_n, "{span}");
            assert!(
                (score - same_score).abs() < 1e-3,
                "{span}: {score} {same_score}"
            );
        }
    }
}

#[test]
fn words_of_two_fields_are_compared_by_position() {
    let documents = [
        json!({"n": 0, "title": "cold rain", "body": "is wet", "plain": "", "looked": ""}),
        json!({"n": 1, "title": "rain cold", "body": "is wet", "plain": "", "looked": ""}),
        json!({"n": 2, "title": "It is the cold", "body": "", "plain": "", "looked": "wet"}),
    ];
    let searcher = indexed(&documents);
    let ids = |query: Value| -> Vec<u64> {
        let mut ids: Vec<u64> = found(&searcher, &query)
            .into_iter()
            .map(|(n, _)| n)
            .collect();
        ids.sort_unstable();
        ids
    };
    let masked =
        json!({"field_masking_span": {"query": {"span_term": {"body": "wet"}}, "field": "title"}});
    let near =
        json!({"span_near": {"clauses": [{"span_term": {"title": "cold"}}, masked], "slop": 0}});
    assert_eq!(ids(near), [0]);
    let other = json!({"match": {"query": "wet", "use_field": "body"}});
    let both = json!({"all_of": {"intervals": [{"match": {"query": "cold"}}, other], "mode": "ordered", "max_gaps": 0}});
    assert_eq!(ids(json!({"intervals": {"title": both}})), [0]);
    // Letters of patterns change as those of words do; another analyzer may leave them.
    for (source, expected) in [
        (json!({"prefix": {"prefix": "IT"}}), vec![2]),
        (
            json!({"prefix": {"prefix": "IT", "analyzer": "whitespace"}}),
            vec![],
        ),
        (json!({"wildcard": {"pattern": "C?ld"}}), vec![0, 1, 2]),
        (
            json!({"wildcard": {"pattern": "C?ld", "analyzer": "keyword"}}),
            vec![],
        ),
        (json!({"fuzzy": {"term": "COLT"}}), vec![0, 1, 2]),
        (json!({"regexp": {"pattern": "CO.."}}), vec![]),
        (
            json!({"regexp": {"pattern": "CO..", "case_insensitive": true}}),
            vec![0, 1, 2],
        ),
        (
            json!({"match": {"query": "COLD rain", "analyzer": "whitespace"}}),
            vec![],
        ),
        (json!({"match": {"query": "..."}}), vec![]),
        (json!({"any_of": {"intervals": []}}), vec![]),
    ] {
        assert_eq!(
            ids(json!({"intervals": {"title": source}})),
            expected,
            "{source}"
        );
    }
    // Inside other clauses.
    let not = json!({"bool": {"must_not": [{"intervals": {"title": {"match": {"query": "cold rain", "mode": "ordered"}}}}]}});
    assert_eq!(ids(not), [1, 2]);
}

#[test]
fn wrong_positional_clauses_are_refused_with_their_place() {
    let searcher =
        indexed(&[json!({"n": 0, "title": "cold", "body": "", "plain": "", "looked": ""})]);
    let term = |field: &str| json!({"span_term": {field: "cold"}});
    let long = |n: usize| {
        let phrase =
            json!({"match": {"query": format!("a{n} b{n}"), "mode": "ordered", "max_gaps": 0}});
        json!({"any_of": {"intervals": [phrase, {"match": {"query": format!("c{n}")}}]}})
    };
    let many: Vec<Value> = (0..11).map(long).collect();
    for (query, expected) in [
        (
            json!({"intervals": {"title": {}}}),
            "query.intervals.title: this takes one source",
        ),
        (
            json!({"intervals": {"title": {"phrase": {}}}}),
            "\"phrase\" is no source of intervals",
        ),
        (
            json!({"intervals": {"title": {"match": {"query": "a", "slop": 1}}}}),
            "\"slop\" is not known",
        ),
        (
            json!({"intervals": {"title": {"match": {"query": "a", "max_gaps": -2}}}}),
            "match.max_gaps",
        ),
        (
            json!({"intervals": {"title": {"match": {"query": "a", "mode": "x"}}}}),
            "unordered_no_overlap",
        ),
        (
            json!({"intervals": {"title": {"match": {"query": "a", "filter": {"script": {"source": "true"}}}}}}),
            "filter.script: scripts are not supported",
        ),
        (
            json!({"intervals": {"title": {"match": {"query": "a", "filter": {"near": {"match": {"query": "b"}}}}}}}),
            "\"near\" is not known",
        ),
        (
            json!({"intervals": {"title": {"match": {"query": "a", "analyzer": "latin"}}}}),
            "analyzer [latin] not found",
        ),
        (
            json!({"intervals": {"plain": {"match": {"query": "a"}}}}),
            "keeps no positions",
        ),
        (
            json!({"intervals": {"n": {"match": {"query": "a"}}}}),
            "is no text",
        ),
        (
            json!({"intervals": {"other": {"match": {"query": "a"}}}}),
            "keeps no positions",
        ),
        (
            json!({"intervals": {"title": {"all_of": {"intervals": many, "max_gaps": 3}}}}),
            "combinations",
        ),
        (
            json!({"span_near": {"clauses": []}}),
            "list of span clauses",
        ),
        (
            json!({"span_near": {"clauses": [term("title"), term("body")]}}),
            "same field",
        ),
        (
            json!({"span_near": {"clauses": [term("title"), {"span_gap": {"title": 2}}]}}),
            "span_gap",
        ),
        (
            json!({"span_near": {"clauses": [{"match": {"title": "a"}}]}}),
            "\"match\" is not known",
        ),
        (
            json!({"span_or": {"clauses": [{"span_term": {"title": {"value": "a", "boost": 2}}}]}}),
            "no boost of its own",
        ),
        (
            json!({"span_multi": {"match": {"term": {"title": "a"}}}}),
            "prefix, wildcard",
        ),
        (
            json!({"span_not": {"include": term("title"), "exclude": term("title"), "dist": 1, "pre": 1}}),
            "either use [dist]",
        ),
        (
            json!({"span_first": {"match": term("title")}}),
            "end is missing",
        ),
        (json!({"span_mask": {}}), "\"span_mask\" is not known"),
    ] {
        let reason = refused(&searcher, &query).replace("\\\"", "\"");
        assert!(reason.contains(expected), "{query}: {reason}");
    }
}

#[test]
fn a_pattern_that_takes_too_many_terms_is_refused_with_their_number() {
    let words: Vec<String> = (0..17_000).map(|n| format!("w{n}")).collect();
    let document = json!({"n": 0, "title": words.join(" ")});
    let searcher = indexed(&[document]);
    let with = |prefix: &str| json!({"intervals": {"title": {"prefix": {"prefix": prefix}}}});
    assert_eq!(found(&searcher, &with("w1")).len(), 1);
    let answer = refused(&searcher, &with("w"));
    assert!(
        answer.contains("expanded to too many terms of one split (limit 16384 but got 17000)"),
        "{answer}"
    );
}
