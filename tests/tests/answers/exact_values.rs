//! Values in documents, compared with a plain scan: existence, words with wildcards, dates in every
//! form, and hits that equal the original documents.

use std::sync::Arc;

use canter_doc_mapper::tokenizers;
use canter_runtime::engine::NativeEngine;
use canter_runtime::session::HttpRequest;
use canter_runtime::{Caller, Limits, Searcher};
use canter_tests::{TestIndex, usual_or_full};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

fn build(doc_mapping: Value, documents: &[String]) -> TestIndex {
    let config = json!({ "version": "0.9", "index_id": "values", "doc_mapping": doc_mapping });
    // JSON is also valid YAML. With several splits, some lack values that others have.
    TestIndex::build(&config.to_string(), documents, 40).unwrap()
}

/// Returns the `id` of each document that the query finds, in order.
#[track_caller]
fn ids(index: &TestIndex, query: &str) -> Vec<u64> {
    let request = json!({ "query": query, "max_hits": 1_000, "sort_by": "-id" });
    let answer = index.search(&request);
    let answer = answer
        .unwrap_or_else(|error| panic!("{query}: {error}"))
        .json;
    assert_eq!(answer["failed_splits"], json!([]), "{query}");
    let hits = answer["hits"].as_array().unwrap();
    hits.iter().map(|hit| hit["id"].as_u64().unwrap()).collect()
}

fn id_field() -> Value {
    json!({ "name": "id", "type": "u64", "fast": true })
}

/// Returns whether there is a value at the path or below it.
fn exists(value: &Value, path: &[&str]) -> bool {
    match (value, path) {
        (Value::Null, _) => false,
        (Value::Array(items), _) => items.iter().any(|item| exists(item, path)),
        (Value::Object(entries), []) => entries.values().any(|value| exists(value, &[])),
        (Value::Object(entries), [first, rest @ ..]) => {
            entries.get(*first).is_some_and(|value| exists(value, rest))
        }
        (_, path) => path.is_empty(),
    }
}

fn any_value(rng: &mut ChaCha8Rng, depth: u32) -> Value {
    match rng.random_range(0..if depth == 0 { 6 } else { 9 }) {
        0 => Value::Null,
        1 => json!(rng.random_range(-5..5)),
        2 => json!("x"),
        3 => json!(""),
        4 => json!(true),
        5 => json!("2024-01-01T12:00:00+02:00"),
        6 => (0..rng.random_range(0..3))
            .map(|_| any_value(rng, depth - 1))
            .collect(),
        _ => any_object(rng, depth - 1),
    }
}

fn any_object(rng: &mut ChaCha8Rng, depth: u32) -> Value {
    let keys = ["a", "b", "c"];
    let entries = (0..rng.random_range(0..3)).map(|_| {
        let key = (*keys.choose(rng).unwrap()).to_owned();
        (key, any_value(rng, depth))
    });
    Value::Object(entries.collect())
}

/// Generates documents whose `obj` has the mapped parts `text` and `inner.number`.
fn documents_with_objects(seed: u64) -> Vec<Value> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut documents = Vec::new();
    for id in 0..120 {
        let mut document = json!({ "id": id });
        if rng.random_bool(0.6) {
            let mut object = Map::new();
            if rng.random_bool(0.3) {
                let texts = [
                    "x".to_owned(),
                    "Y".repeat(300),
                    "...".to_owned(),
                    String::new(),
                ];
                object.insert("text".to_owned(), json!(texts.choose(&mut rng)));
            }
            if rng.random_bool(0.3) {
                object.insert(
                    "inner".to_owned(),
                    json!({ "number": rng.random_range(0..9) }),
                );
            }
            if rng.random_bool(0.3) {
                object.insert("new".to_owned(), any_value(&mut rng, 3));
            }
            document["obj"] = Value::Object(object);
        }
        if rng.random_bool(0.6) {
            document["any"] = any_object(&mut rng, 3);
        }
        documents.push(document);
    }
    documents
}

#[test]
fn a_value_exists_on_every_kind_of_mapping_as_a_scan_says() {
    let text_kinds = [
        json!({ "tokenizer": "raw", "fast": true }),
        json!({ "fast": { "normalizer": "lowercase" } }),
        json!({ "tokenizer": "default" }),
    ];
    let paths = [
        "obj",
        "obj.text",
        "obj.inner",
        "obj.inner.number",
        "any",
        "any.a",
        "any.b.a",
        "any.c.b.a",
        "obj.new",
        "obj.new.a",
    ];
    for (seed, text) in (0..).zip(&text_kinds) {
        for (mode, is_fast) in [
            ("dynamic", true),
            ("dynamic", false),
            ("lenient", true),
            ("lenient", false),
        ] {
            let mut text = text.clone();
            text["name"] = json!("text");
            text["type"] = json!("text");
            let mut mapping = json!({
                "mode": mode, "index_field_presence": true,
                "field_mappings": [
                    id_field(),
                    { "name": "obj", "type": "object", "field_mappings": [
                        text,
                        { "name": "inner", "type": "object", "field_mappings": [
                            { "name": "number", "type": "i64", "fast": is_fast }] },
                    ] },
                ],
            });
            match mode {
                "dynamic" => mapping["dynamic_mapping"] = json!({ "fast": is_fast }),
                _ => mapping["field_mappings"]
                    .as_array_mut()
                    .unwrap()
                    .push(json!({ "name": "any", "type": "json", "fast": is_fast })),
            }
            let mut documents = documents_with_objects(seed);
            if mode == "lenient" {
                // Removes the unmapped field.
                let objects = documents
                    .iter_mut()
                    .filter_map(|document| document.get_mut("obj"));
                objects.for_each(|object| drop(object.as_object_mut().unwrap().remove("new")));
            }
            let lines: Vec<String> = documents.iter().map(Value::to_string).collect();
            let index = build(mapping, &lines);
            for path in paths
                .iter()
                .filter(|path| mode == "dynamic" || !path.contains("new"))
            {
                let segments: Vec<&str> = path.split('.').collect();
                let expected: Vec<u64> = (0..)
                    .zip(&documents)
                    .filter(|(_, document)| exists(document, &segments))
                    .map(|(id, _)| id)
                    .collect();
                let found = ids(&index, &format!("{path}:*"));
                assert_eq!(found, expected, "{mode}, fast {is_fast}, {text}: {path}");
            }
        }
    }
}

#[test]
fn values_exist_however_deep_they_lie() {
    let deep = |depth: usize| format!("{}7{}", "{\"k\":".repeat(depth), "}".repeat(depth));
    for mapping in [
        json!({ "field_mappings": [id_field()] }),
        json!({ "mode": "lenient", "field_mappings": [
            id_field(), { "name": "any", "type": "json", "fast": true }] }),
        json!({ "dynamic_mapping": { "fast": true, "expand_dots": false }, "field_mappings": [id_field()] }),
    ] {
        let documents: Vec<String> = [3, 19, 20, 21, 22, 40, 60]
            .iter()
            .zip(0..)
            .map(|(depth, id)| format!(r#"{{"id":{id},"any":{}}}"#, deep(*depth)))
            .collect();
        let index = build(mapping, &documents);
        assert_eq!(ids(&index, "any:*"), (0..7).collect::<Vec<u64>>());
        let path = |depth| format!("any{}", ".k".repeat(depth));
        assert_eq!(ids(&index, &format!("{}:*", path(22))), [4, 5, 6]);
        assert_eq!(ids(&index, &format!("{}:*", path(60))), [6]);
        // Checks the term of a deep value, its column, and the hit.
        assert_eq!(ids(&index, &format!("{}:7", path(40))), [5]);
        assert_eq!(ids(&index, &format!("{}:>6", path(40))), [5]);
        let answer = http(&index, "query=id:6");
        assert!(answer.contains(documents.last().unwrap()), "{answer}");
    }
}

#[test]
fn whether_a_stored_part_exists_is_refused_by_its_name() {
    let index = build(
        json!({ "mode": "lenient", "index_field_presence": true, "field_mappings": [
            id_field(),
            { "name": "obj", "type": "object", "field_mappings": [
                { "name": "shown", "type": "text", "indexed": false }] },
        ] }),
        &[r#"{"id":1,"obj":{"shown":"x"}}"#.to_owned()],
    );
    let error = index
        .search(&json!({ "query": "obj:*" }))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("\"obj.shown\" (it is part of \"obj\")"),
        "{error}"
    );
    assert!(error.contains("fast: true"), "{error}");
}

/// Returns whether a term matches a pattern: `Ok(c)` is a character, `Err` a wildcard (`*` for
/// `true`).
fn matches(pattern: &[Result<char, bool>], term: &[char]) -> bool {
    match (pattern, term) {
        ([], term) => term.is_empty(),
        ([Err(true), rest @ ..], term) => {
            (0..=term.len()).any(|skipped| matches(rest, &term[skipped..]))
        }
        ([Err(false), rest @ ..], [_, term @ ..]) => matches(rest, term),
        ([Ok('Σ'), rest @ ..], ['σ' | 'ς', term @ ..]) => matches(rest, term),
        ([Ok(wanted), rest @ ..], [first, term @ ..]) => wanted == first && matches(rest, term),
        (_, []) => false,
    }
}

#[test]
fn wildcards_find_what_a_scan_of_the_terms_finds() {
    let num_patterns = usual_or_full(30, 150);
    let alphabet = [
        'a', 'A', 'b', 'Σ', 'σ', 'ς', 'İ', 'É', '1', '*', '?', '\\', '.', '-',
    ];
    for (seed, tokenizer) in (0..).zip(tokenizers::NAMES) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let word = |rng: &mut ChaCha8Rng| -> String {
            (0..rng.random_range(1..5))
                .map(|_| *alphabet.choose(rng).unwrap())
                .collect()
        };
        let texts: Vec<String> = (0..100).map(|_| word(&mut rng)).collect();
        let lines: Vec<String> = (0..)
            .zip(&texts)
            .map(|(id, text): (u64, _)| {
                json!({ "id": id, "w": text, "j": { "w": text } }).to_string()
            })
            .collect();
        let index = build(
            json!({ "mode": "lenient", "field_mappings": [
                id_field(),
                { "name": "w", "type": "text", "tokenizer": tokenizer },
                { "name": "j", "type": "json", "tokenizer": tokenizer },
            ] }),
            &lines,
        );
        let mut analyzer = tokenizers::tokenizers().get(tokenizer).unwrap();
        let mut num_found = 0;
        for _ in 0..num_patterns {
            // Replaces some characters of a text by wildcards and builds the expected pattern.
            let text: Vec<char> = texts.choose(&mut rng).unwrap().chars().collect();
            let (mut query, mut pattern) = (String::new(), Vec::new());
            for character in &text {
                match rng.random_range(0..8) {
                    0 => (query.push('*'), pattern.push(Err(true))),
                    1 => (query.push('?'), pattern.push(Err(false))),
                    _ => {
                        match character {
                            '*' | '?' => query.extend(['\\', *character]),
                            '\\' => query.push_str("\\\\\\\\"),
                            '-' => query.push_str("\\-"),
                            other => query.push(*other),
                        }
                        ((), pattern.push(Ok(*character)))
                    }
                };
            }
            if rng.random_bool(0.5) || pattern.iter().all(Result::is_ok) {
                query.push('*');
                pattern.push(Err(true));
            }
            // A lone wildcard is an existence query; backslashes are in the next test.
            if query.chars().all(|c| c == '*') || text.contains(&'\\') {
                continue;
            }
            if tokenizers::lowercases(tokenizer) {
                pattern = pattern
                    .into_iter()
                    .flat_map(|part| match part {
                        Ok('Σ') => vec![Ok('Σ')],
                        Ok('É') if ["source_code_default", "raw_folded"].contains(&tokenizer) => {
                            vec![Ok('e')]
                        }
                        Ok(literal) => literal.to_lowercase().map(Ok).collect(),
                        wildcard => vec![wildcard],
                    })
                    .collect();
            }
            if tokenizer == "raw_ascii_folding" {
                for part in &mut pattern {
                    *part = match *part {
                        Ok('É') => Ok('E'),
                        Ok('İ') => Ok('I'),
                        other => other,
                    };
                }
            }
            let mut expected = Vec::new();
            for (id, text) in (0..).zip(&texts) {
                let mut is_found = false;
                analyzer.token_stream(text).process(&mut |token| {
                    let term: Vec<char> = token.text.chars().collect();
                    is_found |= match tokenizers::lowercases(tokenizer) {
                        true => matches(&pattern, &term),
                        false => exactly(&pattern, &term),
                    };
                });
                if is_found {
                    expected.push(id);
                }
            }
            num_found += expected.len();
            for field in ["w", "j.w"] {
                let query = format!("{field}:{query}");
                assert_eq!(
                    ids(&index, &query),
                    expected,
                    "{tokenizer}: {query} ({pattern:?})"
                );
            }
        }
        assert!(
            num_found >= num_patterns,
            "{tokenizer}: {num_found} hits say little"
        );
    }
}

/// Matches like `matches`, except that a capital sigma only matches itself.
fn exactly(pattern: &[Result<char, bool>], term: &[char]) -> bool {
    const OTHER: char = '\u{1}';
    let swap = |c: &char| if *c == 'Σ' { OTHER } else { *c };
    let pattern: Vec<_> = pattern.iter().map(|part| part.map(|c| swap(&c))).collect();
    let term: Vec<char> = term.iter().map(swap).collect();
    matches(&pattern, &term)
}

#[test]
fn escaped_wildcards_are_literal_and_prefixes_are_lowercased() {
    let words = [
        "why?",
        "whys",
        "a*b",
        "axb",
        "Hello",
        "ΟΔΟΣ",
        "οδος",
        "ΟΔΟΣΗΜΑ",
        "dir\\x",
    ];
    let lines: Vec<String> = (0..)
        .zip(words)
        .map(|(id, word): (u64, _)| {
            json!({ "id": id, "p": word, "w": word, "t": word }).to_string()
        })
        .collect();
    let index = build(
        json!({ "mode": "lenient", "field_mappings": [
            id_field(),
            { "name": "p", "type": "text", "tokenizer": "raw" },
            { "name": "w", "type": "text", "tokenizer": "raw_lowercase" },
            { "name": "t", "type": "text", "tokenizer": "default" },
        ] }),
        &lines,
    );
    for (query, expected) in [
        (r"p:why\?", &[0][..]),
        (r"p:why?", &[0, 1]),
        (r"p:a\*b", &[2]),
        (r"p:a*b", &[2, 3]),
        (r"p:a\**", &[2]),
        (r"p:wh*\?", &[0]),
        (r"w:WHY\?", &[0]),
        (r"t:why\?", &[0]),
        ("w:Hel*", &[4]),
        ("w:HEL?O", &[4]),
        ("p:Hel*", &[4]),
        ("p:hel*", &[]),
        ("w:ΟΔΟΣ*", &[5, 6, 7]),
        ("t:ΟΔΟΣ*", &[5, 6, 7]),
        ("w:οδος*", &[6]),
        ("p:ΟΔΟΣ*", &[5, 7]),
        (r"p:dir\\x", &[8]),
        (r"p:dir\\\\*", &[8]),
        (r"p:dir*", &[8]),
    ] {
        assert_eq!(ids(&index, query), expected, "{query}");
    }
}

#[test]
fn words_of_white_space_are_found_up_to_their_documented_length() {
    let word = |len: usize| "x".repeat(len);
    let lines: Vec<String> = [65_525, 65_526, 65_527, 70_000]
        .iter()
        .zip(0..)
        .map(|(len, id): (_, u64)| {
            let text = format!("{} end{id}", word(*len));
            json!({ "id": id, "w": text, "j": { "w": text } }).to_string()
        })
        .collect();
    let index = build(
        json!({ "mode": "lenient", "field_mappings": [
            id_field(),
            { "name": "w", "type": "text", "tokenizer": "whitespace" },
            { "name": "j", "type": "json", "tokenizer": "whitespace" },
        ] }),
        &lines,
    );
    assert_eq!(ids(&index, &format!("w:{}", word(65_526))), [1]);
    assert_eq!(ids(&index, &format!("j.w:{}", word(65_526))), [1]);
    assert!(ids(&index, &format!("w:{}", word(65_527))).is_empty());
    assert_eq!(ids(&index, "w:xxxx*"), [0, 1]);
    assert_eq!(ids(&index, "w:end2 OR j.w:end3"), [2, 3]);
}

#[test]
fn dates_are_found_in_every_form_that_documents_and_quickwit_have() {
    let index = build(
        json!({ "mode": "lenient", "field_mappings": [
            id_field(),
            { "name": "d", "type": "datetime", "fast": true },
            { "name": "own", "type": "datetime", "fast": true,
              "input_formats": ["%d.%m.%Y %H:%M", "%Y%m%d", "%d/%b/%Y:%H:%M:%S %z"] },
            { "name": "slow", "type": "datetime" },
        ] }),
        &[
            json!({ "id": 0, "d": "2023-05-24T23:59:59Z", "own": "24.05.2023 23:59", "slow": "2023-05-24T23:59:59Z" }),
            json!({ "id": 1, "d": "2023-05-25T00:00:00Z", "own": "20230525", "slow": "2023-05-25T00:00:00Z" }),
            json!({ "id": 2, "d": "2023-05-26T07:26:53Z", "own": "26/May/2023:09:26:53 +0200", "slow": "2023-05-26T07:26:53Z" }),
        ]
        .map(|document| document.to_string()),
    );
    let own = [
        "own:20230525",
        "own:\"25.05.2023 00:00\"",
        "own:\"25/May/2023:02:00:00 +0200\"",
    ];
    let any = [
        "2023/05/25",
        "2023-05-25",
        "1684972800",
        "1684972800000",
        "\"2023-05-25T00:00:00Z\"",
        "\"2023-05-25T00:00:00\"",
        "\"2023-05-25 00:00:00\"",
        "\"2023-05-25 00:00:00.000\"",
        "\"2023-05-25T02:00:00+02:00\"",
        "\"Thu, 25 May 2023 00:00:00 +0000\"",
        "\"Thu, 25 May 2023 02:00:00 +0200\"",
    ];
    let fields = ["d", "own", "slow"];
    let any = any
        .iter()
        .flat_map(|date| fields.map(|field| format!("{field}:{date}")));
    for query in own.map(str::to_owned).into_iter().chain(any) {
        assert_eq!(ids(&index, &query), [1], "{query}");
    }
    for field in fields {
        for day in [
            "2023/05/25",
            "2023-05-25",
            "1684972800",
            "2023-05-25T00:00:00Z",
            "2023-05-25T02:00:00+02:00",
        ] {
            for (range, expected) in [
                (format!("[{day} TO *]"), &[1, 2][..]),
                (format!("{{{day} TO *]"), &[2]),
                (format!("[* TO {day}}}"), &[0]),
                (format!("[{day} TO {day}]"), &[1]),
                (format!(">={day}"), &[1, 2]),
                (format!("<{day}"), &[0]),
            ] {
                let query = format!("{field}:{range}");
                assert_eq!(ids(&index, &query), expected, "{query}");
            }
        }
    }
    assert_eq!(ids(&index, "own:[20230525 TO 20230526}"), [1]);
    let error = index
        .search(&json!({ "query": "d:yesterday" }))
        .unwrap_err()
        .to_string();
    assert!(error.contains("\"yesterday\" is not a date"), "{error}");
}

/// Returns the answer of the API as text.
fn http(index: &TestIndex, query: &str) -> String {
    let searcher = Searcher::builder()
        .engine(Arc::new(NativeEngine::new()))
        .index_from("values", Arc::new(index.fetcher()), "ns")
        .unwrap()
        .build()
        .unwrap();
    let request = HttpRequest {
        method: "GET".to_owned(),
        path: "/api/v1/values/search".to_owned(),
        query: query.to_owned(),
        body: Vec::new(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (caller, limits) = (Caller::default(), Limits::default());
    let answer = runtime.block_on(searcher.http(request, &caller, &limits));
    String::from_utf8(answer.response.body.to_vec()).unwrap()
}

#[test]
fn hits_are_the_documents_as_they_were_written() {
    let lines = [
        r#"{"id":0,"when":"2024-01-01T12:00:00+02:00","at":"2024-01-01T10:00:00.500Z","z":"2024-01-01t10:00:00z"}"#,
        r#"{"id":1,"n":[1,1.0,1e3,1E+3,-0,-0.0,0.1000000000000000055,1.10]}"#,
        r#"{"id":2,"n":[9223372036854775807,18446744073709551615,18446744073709551616,123456789012345678901234567890]}"#,
        r#"{"id":3,"s":["\u00e9","é","\/","\ud83d\ude00"," a  b "],"empty":{"o":{},"a":[],"n":null}}"#,
        r#"{"id":4,"any":{"when":"2024-01-01T12:00:00+02:00","n":1e3,"k.d":[{"x":2.50}]}}"#,
        r#"{"id":5,"obj":{"text":"x","new":{"n":1e-7,"when":"2024-01-01T12:00:00+02:00"}},"obj.text":1.0}"#,
    ];
    let mapping = |store_source: bool| {
        json!({ "store_source": store_source, "field_mappings": [
            id_field(),
            { "name": "any", "type": "json", "fast": true },
            { "name": "obj", "type": "object", "field_mappings": [{ "name": "text", "type": "text" }] },
        ] })
    };
    let index = build(mapping(false), &lines.map(str::to_owned));
    for (id, line) in lines.iter().enumerate() {
        let answer = http(&index, &format!("query=id:{id}"));
        assert!(
            answer.starts_with(&format!("{{\"hits\":[{line}],\"num_hits\":1,")),
            "{line}: {answer}"
        );
        let pretty = http(&index, &format!("query=id:{id}&format=pretty_json"));
        let white = |c: char| c.is_ascii_whitespace();
        let bare = |text: &str| text.replace(white, "");
        assert!(
            bare(&pretty).starts_with(&bare(&format!("{{\"hits\":[{line}],"))),
            "{line}: {pretty}"
        );
    }
    // Hits omit white space between tokens, but `_source` keeps it.
    let spaced = lines.map(|line| line.replace("\":", "\" :\t"));
    let index = build(mapping(true), &spaced);
    for (id, (line, spaced)) in lines.iter().zip(&spaced).enumerate() {
        let hit = line.strip_suffix('}').unwrap();
        let answer = http(&index, &format!("query=id:{id}"));
        let expected = format!("{{\"hits\":[{hit},\"_source\":{spaced}}}],");
        assert!(answer.starts_with(&expected), "{line}: {answer}");
    }
    // Dates in these forms are still found by their meaning.
    for query in [
        "when:\"2024-01-01T10:00:00Z\"",
        "when:\"2024-01-01T12:00:00+02:00\"",
        "when:[2024-01-01T10:00:00Z TO 2024-01-01T10:00:01Z]",
    ] {
        assert_eq!(ids(&index, query), [0], "{query}");
    }
    assert_eq!(ids(&index, "any.when:\"2024-01-01T10:00:00Z\""), [4]);
    assert_eq!(ids(&index, "n:1000 OR any.n:1000"), [1, 4]);
}

/// Returns a JSON scalar in one of several notations.
fn any_scalar(rng: &mut ChaCha8Rng) -> String {
    match rng.random_range(0..8) {
        0 => "null".to_owned(),
        1 => rng.random::<i64>().to_string(),
        2 => format!(
            "{}.{}e{}",
            rng.random_range(0..10),
            rng.random::<u32>(),
            rng.random_range(-40..40)
        ),
        3 => format!("{}E+{}", rng.random_range(1..10), rng.random_range(0..9)),
        4 => format!(
            "-{}.{}0",
            rng.random_range(0..100),
            rng.random_range(0..100)
        ),
        5 => format!(
            "\"20{}-0{}-11T1{}:00:00+0{}:30\"",
            rng.random_range(10..99),
            rng.random_range(1..9),
            rng.random_range(0..9),
            rng.random_range(0..9)
        ),
        6 => format!(
            "{}{}",
            rng.random_range(1..u64::MAX),
            rng.random_range(100..999)
        ),
        _ => {
            let parts = [
                "\\n", "\\u0041", "é", "{", "]", ":", ",", " ", "\\\"", "\\\\", "x",
            ];
            let text: String = (0..rng.random_range(0..6))
                .map(|_| *parts.choose(rng).unwrap())
                .collect();
            format!("\"{text}\"")
        }
    }
}

fn any_json(rng: &mut ChaCha8Rng, depth: u32) -> String {
    match rng.random_range(0..if depth == 0 { 3 } else { 6 }) {
        0..3 => any_scalar(rng),
        3 => {
            let items: Vec<String> = (0..rng.random_range(0..4))
                .map(|_| any_json(rng, depth - 1))
                .collect();
            format!("[{}]", items.join(","))
        }
        _ => any_json_object(rng, depth - 1),
    }
}

fn any_json_object(rng: &mut ChaCha8Rng, depth: u32) -> String {
    let keys = ["k", "k.d", "", "\\u00e9 ", "{\\\"", "a\\\\"];
    let num_entries = rng.random_range(0..keys.len());
    let entries: Vec<String> = keys
        .iter()
        .take(num_entries)
        .map(|key| format!("\"{key}\":{}", any_json(rng, depth)))
        .collect();
    format!("{{{}}}", entries.join(","))
}

#[test]
fn random_documents_come_back_as_they_were_written() {
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    let lines: Vec<String> = (0..400)
        .map(|id| {
            let [any, new, inner] = [
                any_json_object(&mut rng, 4),
                any_json(&mut rng, 4),
                any_json(&mut rng, 2),
            ];
            format!(r#"{{"id":{id},"any":{any},"obj":{{"n":{id},"inner":{inner}}},"new":{new}}}"#)
        })
        .collect();
    let index = build(
        json!({ "field_mappings": [
            id_field(),
            { "name": "any", "type": "json" },
            { "name": "obj", "type": "object", "field_mappings": [{ "name": "n", "type": "i64" }] },
        ] }),
        &lines,
    );
    let answer = http(&index, "query=*&max_hits=1000&sort_by=-id");
    let expected = format!("{{\"hits\":[{}],\"num_hits\":400,", lines.join(","));
    if !answer.starts_with(&expected) {
        let same = answer
            .bytes()
            .zip(expected.bytes())
            .take_while(|(left, right)| left == right)
            .count();
        let from = same.saturating_sub(80);
        let around = |text: &str| {
            String::from_utf8_lossy(&text.as_bytes()[from..(same + 80).min(text.len())])
                .into_owned()
        };
        panic!("got  {}\nwant {}", around(&answer), around(&expected));
    }
}
