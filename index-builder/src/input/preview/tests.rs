//! A suggested config accepts the documents it was suggested for, and similar ones.

use super::*;
use crate::ingest::IngestOptions;
use crate::input::source::Source;
use canter_doc_mapper::{DocMapper, IndexConfig};
use canter_formats::Format;
use canter_samples::{LAYOUTS, sample as sample_of};
use serde_json::{Map, Value, json};
use std::io::Cursor;

const ANY: &str = "{version: 0.8, index_id: any, doc_mapping: {mode: dynamic}}";

fn read(config: &str) -> IndexConfig {
    IndexConfig::from_yaml(config, |_| None).unwrap_or_else(|e| panic!("{e}\n{config}"))
}

fn options() -> IngestOptions {
    IngestOptions {
        year: Some(2024),
        ..IngestOptions::default()
    }
}

fn source(bytes: impl Into<Vec<u8>>) -> Source {
    Source::reader("sample", Cursor::new(bytes.into()))
}

fn preview_of(config: &str, bytes: Vec<u8>, num: usize) -> Preview {
    preview(&read(config), &options(), source(bytes), num).unwrap()
}

fn lines_of(docs: &[Value]) -> String {
    docs.iter().map(|doc| format!("{doc}\n")).collect()
}

/// Returns the suggestion for documents, and its config.
fn suggested(docs: &[Value]) -> (Suggestion, IndexConfig) {
    let first = preview_of(ANY, lines_of(docs).into_bytes(), 1_000);
    let suggestion = suggest(&[first], "suggested", None);
    let config = read(&suggestion.yaml);
    (suggestion, config)
}

/// Returns the type of a top-level field; `-` if it is left to the dynamic mode.
fn type_of(config: &IndexConfig, name: &str) -> String {
    let fields = &config.doc_mapping.field_mappings;
    let field = fields.iter().find(|field| field.name == name);
    field.map_or_else(|| "-".to_string(), |field| field.type_id())
}

/// Panics if the config rejects one of the documents.
fn takes_all(config: &IndexConfig, yaml: &str, docs: &[Value]) {
    let mapper = DocMapper::new(config).unwrap_or_else(|e| panic!("{e}\n{yaml}"));
    for doc in docs {
        if let Err(error) = mapper.parse_doc(doc.to_string().as_bytes()) {
            panic!("{error}\n{doc}\n{yaml}");
        }
    }
}

#[test]
fn what_is_suggested_for_a_sample_takes_every_record_of_another() {
    for format in LAYOUTS {
        let first = preview_of(ANY, sample_of(format, 500, 1).bytes, 1_000);
        let yaml = suggest(&[first], "suggested", None).yaml;
        let second = preview_of(&yaml, sample_of(format, 300, 2).bytes, 1_000);
        let docs: Vec<_> = second
            .records
            .iter()
            .flat_map(|record| &record.docs)
            .collect();
        assert_eq!(docs.len(), 300, "{format}");
        for doc in docs {
            assert_eq!(doc.refused, None, "{format}\n{yaml}\n{}", doc.json);
        }
    }
}

/// Names that are valid in documents but unusual in mappings.
const NAMES: [&str; 26] = [
    "ts",
    "time",
    "Start Time",
    "msg",
    "a.b",
    "a",
    "b",
    "größe",
    "日本",
    "x[0]",
    "{}",
    "",
    " ",
    "-a",
    "1",
    "${HOME}",
    "a:b",
    "quote\"",
    "back\\slash",
    "#",
    "tab\t",
    "new\nline",
    "_source",
    "level",
    "user id",
    "*",
];

/// A stream of numbers from a seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % below
    }

    fn pick<'v>(&mut self, values: &[&'v str]) -> &'v str {
        values[self.roll(values.len() as u64) as usize]
    }

    /// Returns a value of one of 16 kinds.
    fn value(&mut self, kind: u64, depth: u64) -> Value {
        let number = self.roll(1 << 40);
        match kind {
            0 => json!(number),
            1 => json!(-(number as i64)),
            2 => json!(u64::MAX - number),
            3 => json!(number as f64 / 1_000.0),
            4 => json!(number.is_multiple_of(2)),
            5 => json!(format!(
                "2024-05-01T10:{:02}:{:02}Z",
                number % 60,
                number % 59
            )),
            6 => json!(1_714_557_600_000_u64 + number % 1_000_000),
            7 => json!(format!("10.0.{}.{}", number % 256, number % 251)),
            8 => json!(self.pick(&["INFO", "WARN", "ERROR", ""])),
            9 => json!(format!("the user {number} was not found")),
            10 => json!(self.pick(&[
                "",
                "-",
                "0001-01-01T00:00:00Z",
                "9999-12-31T23:59:59Z",
                "0000-00-00 00:00:00",
                "2024-05-01T10:00:00Z",
                "null",
                "NaN",
            ])),
            11 => Value::Null,
            12 if depth < 3 => {
                let values = (0..self.roll(4)).map(|_| {
                    let kind = self.roll(16);
                    self.value(kind, depth + 1)
                });
                values.collect()
            }
            13 if depth < 3 => self.object(depth + 1),
            14 => json!({}),
            _ => json!(self.pick(&[
                "ünï",
                "a b",
                "\u{2028}",
                "\u{feff}x",
                "\u{85}",
                "${PATH}",
                "'",
                "\\"
            ])),
        }
    }

    fn object(&mut self, depth: u64) -> Value {
        let entries = (0..self.roll(6)).map(|_| {
            let (name, kind) = (self.pick(&NAMES).to_string(), self.roll(16));
            (name, self.value(kind, depth))
        });
        Value::Object(entries.collect())
    }

    /// Returns documents whose fields mostly have one kind of value each.
    fn docs(&mut self, num: usize) -> Vec<Value> {
        let fields: Vec<(&str, u64)> = (0..1 + self.roll(9))
            .map(|_| (self.pick(&NAMES), self.roll(16)))
            .collect();
        let docs = (0..num).map(|_| {
            let mut doc = Map::new();
            for (name, kind) in &fields {
                let kind = match self.roll(40) {
                    0 => self.roll(16),
                    _ => *kind,
                };
                if self.roll(10) > 0 {
                    doc.insert((*name).to_string(), self.value(kind, 0));
                }
            }
            Value::Object(doc)
        });
        docs.collect()
    }
}

#[test]
fn what_is_suggested_for_random_documents_takes_them_and_others_like_them() {
    for seed in 0..100 {
        let mut dice = Dice(seed);
        let docs = dice.docs(100);
        let (suggestion, config) = suggested(&docs[..50]);
        // The second half is in no sample.
        takes_all(&config, &suggestion.yaml, &docs);
        assert_eq!(suggestion.num_docs, 50, "{seed}");
    }
}

#[test]
fn what_a_mapping_cannot_have_is_left_to_the_dynamic_mode() {
    let docs: Vec<Value> = (0..30)
        .map(|n| {
            json!({
                "list": [{"name": "x", "value": n}], "lists": [[1, 2], [n]], "empty": {}, "of_odd": {"\u{1}": 1, "\u{2}": 2},
                "big": if n % 2 == 0 { json!(u64::MAX) } else { json!(-1) },
                "exact": if n % 2 == 0 { json!(9_007_199_254_740_993_u64) } else { json!(0.5) },
                "Start Time": format!("2024-05-01T10:00:{n:02}Z"), "größe": n, "x[0]": true, "a.b": "c", "-m": 1,
            })
        })
        .collect();
    let (suggestion, config) = suggested(&docs);
    for (name, expect) in [
        ("list", "-"),
        ("lists", "-"),
        ("empty", "-"),
        ("of_odd", "-"),
        ("big", "-"),
        ("exact", "-"),
        ("Start Time", "datetime"),
        ("größe", "u64"),
        ("x[0]", "bool"),
        ("a.b", "text"),
        ("-m", "-"),
    ] {
        assert_eq!(
            type_of(&config, name),
            expect,
            "{name}\n{}",
            suggestion.yaml
        );
    }
    assert_eq!(suggestion.timestamp_field.as_deref(), Some("Start Time"));
    takes_all(&config, &suggestion.yaml, &docs);
}

#[test]
fn a_text_that_says_there_is_no_time_makes_a_time_no_text() {
    let docs: Vec<Value> = (0..40)
        .map(|n| {
            let at = format!("2024-05-01T10:00:{n:02}Z");
            let or = |never: &str| if n % 4 == 0 { json!(never) } else { json!(at) };
            json!({
                "time": if n == 7 { json!("") } else { json!(at) }, "deleted_at": or("0001-01-01T00:00:00Z"),
                "expires": or("9999-12-31T23:59:59Z"), "closed": or(""), "mysql": or("0000-00-00 00:00:00"),
                "peer": if n % 4 == 0 { "-" } else { "10.0.0.1" }, "num": if n % 4 == 0 { json!("") } else { json!(n) },
                "never": "9999-12-31T23:59:59Z",
            })
        })
        .collect();
    let (suggestion, config) = suggested(&docs);
    for (name, expect) in [
        ("time", "datetime"),
        ("deleted_at", "datetime"),
        ("expires", "datetime"),
        ("closed", "datetime"),
        ("mysql", "datetime"),
        ("peer", "ip"),
        ("num", "u64"),
        ("never", "text"),
    ] {
        assert_eq!(
            type_of(&config, name),
            expect,
            "{name}\n{}",
            suggestion.yaml
        );
    }
    assert_eq!(suggestion.timestamp_field.as_deref(), Some("time"));
    takes_all(&config, &suggestion.yaml, &docs);
}

#[test]
fn messages_are_full_text_however_few_they_are() {
    for name in [
        "msg",
        "message",
        "log",
        "text",
        "MESSAGE",
        "@message",
        "event.original",
        "error.message",
    ] {
        let docs: Vec<Value> = (0..50)
            .map(|n| json!({name: "request completed", "n": n * 7}))
            .collect();
        let (suggestion, config) = suggested(&docs);
        let field = &config.doc_mapping.field_mappings[0];
        let yaml = &suggestion.yaml;
        assert!(
            yaml.contains("type: text, record: position}"),
            "{name}: {field:?}\n{yaml}"
        );
        let words = &suggestion.default_search_fields;
        assert_eq!(words, &[name.replace('.', "\\.")], "{yaml}");
    }
    let docs: Vec<Value> = (0..50)
        .map(|_| json!({"event": {"original": "request completed", "kind": "event"}}))
        .collect();
    let (suggestion, _) = suggested(&docs);
    assert_eq!(
        suggestion.default_search_fields,
        ["event.original", "event.kind"]
    );
}

#[test]
fn a_word_without_a_field_has_a_field_to_be_in() {
    for (doc, expect) in [
        (json!({"level": "INFO", "n": 1}), "level"),
        (json!({"list": [{"what": "lost"}]}), "list.what"),
        (json!({"n": 1, "f": 0.5}), "n"),
        (json!({"ok": true}), "ok"),
        (
            json!({"deep": {"er": {"msg": "lost", "k": "v"}, "k": 1}}),
            "deep.er.msg",
        ),
        (json!({"either": "a", "list": [[1]]}), "either"),
        (json!({"list": [[1]]}), "list"),
    ] {
        let (suggestion, _) = suggested(&vec![doc; 20]);
        let first = suggestion.default_search_fields.first();
        assert_eq!(
            first.map(String::as_str),
            Some(expect),
            "{}",
            suggestion.yaml
        );
    }
}

#[test]
fn numbers_that_are_no_ids_are_in_columns_alone() {
    let docs: Vec<Value> = (0..50)
        .map(|n| json!({"status": 200, "ratio": 0.5, "delta": -n, "order_id": n, "userId": n, "id": -n}))
        .collect();
    let (_, config) = suggested(&docs);
    let indexed: Vec<(&str, bool)> = config
        .doc_mapping
        .field_mappings
        .iter()
        .filter(|field| !field.name.starts_with('_'))
        .map(|field| {
            assert!(field.fast.is_some(), "{}", field.name);
            (field.name.as_str(), field.indexed)
        })
        .collect();
    assert_eq!(
        indexed,
        [
            ("status", false),
            ("ratio", false),
            ("delta", false),
            ("order_id", true),
            ("userId", true),
            ("id", true)
        ]
    );
}

#[test]
fn names_that_are_values_do_not_become_fields() {
    let docs: Vec<Value> = (0..400)
        .map(|n| {
            let users = (0..40).map(|user| (format!("user {}", n * 40 + user), json!(1)));
            let mut doc: Map<String, Value> = users.collect();
            doc.insert("msg".into(), json!("x"));
            Value::Object(doc)
        })
        .collect();
    let (suggestion, config) = suggested(&docs);
    assert_eq!(type_of(&config, "msg"), "text");
    assert_eq!(type_of(&config, "user 7"), "-");
    assert!(suggestion.yaml.lines().count() < 200);
    takes_all(&config, &suggestion.yaml, &docs);
}

#[test]
fn a_sample_is_of_all_parts_of_all_inputs() {
    let folder = tempfile::tempdir().unwrap();
    // The test file that AWS writes when access logs of a load balancer are enabled.
    let test_file = "Enable AWS LoadBalancer for arn:aws:elasticloadbalancing:eu-west-1:123:loadbalancer/app/a/b";
    std::fs::write(folder.path().join("0-ELBAccessLogTestFile"), test_file).unwrap();
    let alb = sample_of(Format::Alb, 400, 1).bytes;
    std::fs::write(folder.path().join("1.log"), &alb).unwrap();
    std::fs::write(folder.path().join("2.log"), &alb[..alb.len() / 2]).unwrap();
    let sources: Vec<Source> = ["0-ELBAccessLogTestFile", "1.log", "2.log"]
        .map(|name| Source::file(folder.path().join(name)))
        .into();
    let sampled = sample(&read(ANY), &options(), sources, 1_000).unwrap();
    assert_eq!(sampled.sources.len(), 3);
    let suggestion = suggest(&sampled.samples, "suggested", None);
    assert_eq!(suggestion.formats, [Format::Plain, Format::Alb]);
    assert_eq!(suggestion.timestamp_field.as_deref(), Some("timestamp"));
    assert_eq!(type_of(&read(&suggestion.yaml), "elb_status_code"), "u64");

    // A value that only occurs at the end decides about a type.
    let docs: Vec<Value> = (0..30_000)
        .map(|n| json!({"n": if n < 20_000 { n } else { -n }, "late": if n == 29_999 { json!("x") } else { Value::Null }}))
        .collect();
    let path = folder.path().join("late.ndjson");
    std::fs::write(&path, lines_of(&docs)).unwrap();
    let sampled = sample(&read(ANY), &options(), vec![Source::file(&path)], 100).unwrap();
    let suggestion = suggest(&sampled.samples, "suggested", None);
    let config = read(&suggestion.yaml);
    assert_eq!(type_of(&config, "n"), "i64", "{}", suggestion.yaml);
    assert_eq!(type_of(&config, "late"), "text", "{}", suggestion.yaml);
    assert!(
        (100..=202).contains(&suggestion.num_docs),
        "{}",
        suggestion.num_docs
    );
}

#[test]
fn a_stream_that_can_be_read_once_is_sampled_and_still_whole() {
    let lines = lines_of(
        &(0..5_000)
            .map(|n| json!({"n": n, "msg": "x y"}))
            .collect::<Vec<_>>(),
    );
    let sources = vec![source(lines.clone())];
    let sampled = sample(&read(ANY), &options(), sources, 100).unwrap();
    let suggestion = suggest(&sampled.samples, "suggested", None);
    assert_eq!(type_of(&read(&suggestion.yaml), "n"), "u64");
    let source = sampled.sources.into_iter().next().unwrap();
    let all = preview(&read(ANY), &options(), source, 10_000).unwrap();
    assert_eq!(all.records.len(), 5_000);
}

#[test]
fn types_times_and_tags_are_found() {
    let line = |n: i64| {
        serde_json::json!({
            "when": format!("2024-05-01T10:00:{n:02}Z"), "@timestamp": 1_714_521_600 + n, "n": n - 5, "f": n,
            "ip": format!("10.0.0.{n}"), "level": if n % 2 == 0 { "INFO" } else { "WARN" },
            "id": format!("0123456789abcdef{n}"), "msg": "a text of words", "tags": ["a"],
            "mixed": if n % 2 == 0 { serde_json::json!(1) } else { serde_json::json!("x") },
            "deep": {"ok": true}, "a.b": 1,
        })
    };
    let lines: String = (0..50).map(|n| format!("{}\n", line(n))).collect();
    let suggestion = suggest(&[preview_of(ANY, lines.into_bytes(), 100)], "found", None);
    let yaml = &suggestion.yaml;
    let config = read(yaml);
    let types: Vec<(String, String)> = config
        .doc_mapping
        .field_mappings
        .iter()
        .filter(|field| !field.name.starts_with('_'))
        .map(|field| (field.name.clone(), field.type_id()))
        .collect();
    let expect = [
        ("when", "datetime"),
        ("@timestamp", "datetime"),
        ("n", "i64"),
        ("f", "u64"),
        ("ip", "ip"),
        ("level", "text"),
        ("id", "text"),
        ("msg", "text"),
        ("tags", "array<text>"),
        ("deep", "object"),
        ("a.b", "u64"),
    ];
    assert_eq!(
        types,
        expect.map(|(a, b)| (a.to_string(), b.to_string())),
        "{yaml}"
    );
    assert_eq!(
        config.doc_mapping.timestamp_field.as_deref(),
        Some("@timestamp")
    );
    assert_eq!(config.doc_mapping.tag_fields, ["level"]);
    let expect = ["msg", "level", "tags", "id", "mixed", "ip", "a\\.b"];
    assert_eq!(suggestion.default_search_fields, expect, "{yaml}");
    assert!(
        yaml.contains("# \"mixed\": in every document; values of several types"),
        "{yaml}"
    );
    assert!(config.doc_mapping.field_mappings[6].needle);
}

#[test]
fn dates_are_times_in_every_form_that_one_pattern_reads() {
    for (name, dates) in [
        (
            "timestamp",
            ["2024-05-01 09:00:02.123 UTC", "2024-05-02 09:00:02 UTC"],
        ),
        ("time", ["2024/05/01 09:00:02", "2024/05/02 09:00:02"]),
        (
            "time",
            ["01/May/2024:11:00:02 +0200", "02/May/2024:11:00:02 +0200"],
        ),
        (
            "time",
            ["Wed May  1 09:00:02 2024", "Thu May  2 09:00:02 2024"],
        ),
        ("time", ["5/1/2024 9:00:02 AM", "5/13/2024 9:00:02 PM"]),
        (
            "time",
            [
                "2024-05-01 09:00:02.123456789 +0000 UTC",
                "2024-05-02 09:00:02 +0000 UTC",
            ],
        ),
        ("Order Date", ["5/13/2024", "5/1/2024"]),
        ("Datum", ["21.05.2024 10:20", "01.05.2024 10:20"]),
        ("date", ["25/12/2024 13:45", "01/02/2024 08:00"]),
        ("when", ["May 22, 2024 10:21 AM", "May 1, 2024 10:21 PM"]),
    ] {
        let docs: Vec<Value> = (0..20)
            .map(|n| json!({name: dates[n % 2], "msg": "some words"}))
            .collect();
        let (suggestion, config) = suggested(&docs);
        let yaml = &suggestion.yaml;
        assert_eq!(type_of(&config, name), "datetime", "{yaml}");
        assert_eq!(suggestion.timestamp_field.as_deref(), Some(name), "{yaml}");
        let mut config = config;
        config
            .doc_mapping
            .field_mappings
            .iter_mut()
            .for_each(|field| field.ignore_malformed = false);
        takes_all(&config, yaml, &docs);
    }
}

#[test]
fn a_column_that_looks_like_a_time_is_named_if_it_cannot_be_read_for_certain() {
    for dates in [
        ["01/02/2024 10:00", "03/04/2024 11:00"],
        ["2024-05-01 11:00:02 IST", "2024-05-02 11:00:02 IST"],
    ] {
        let docs: Vec<Value> = (0..20)
            .map(|n| json!({"Created": dates[n % 2], "msg": "some words"}))
            .collect();
        let (suggestion, _) = suggested(&docs);
        assert_eq!(suggestion.timestamp_field, None);
        let said = suggestion.times.join(" ");
        assert!(
            said.contains("`Created` looks like a time") && said.contains(dates[0]),
            "{said}"
        );
    }
    let (suggestion, _) = suggested(&vec![
        json!({"address": "10.0.0.1:8080", "v": "1.2.2024-rc"});
        20
    ]);
    assert!(suggestion.times.is_empty(), "{:?}", suggestion.times);
}

#[test]
fn words_within_whole_values_have_a_field() {
    let docs: Vec<Value> = (0..50)
        .map(|n| {
            json!({
                "message": format!("request {n} done"), "words": "one", "method": "GET",
                "http": {"url": format!("https://example.com/cart/checkout{}?x=1", n % 7)},
                "agent": "curl/8.1",
            })
        })
        .collect();
    let (suggestion, config) = suggested(&docs);
    let yaml = &suggestion.yaml;
    assert_eq!(type_of(&config, "words_"), "concatenate", "{yaml}");
    assert_eq!(
        suggestion.default_search_fields,
        ["message", "words_", "words", "method"],
        "{yaml}"
    );
    assert_eq!(
        suggestion.searched_fields,
        ["message", "http.url", "agent", "words", "method"],
    );
    takes_all(&config, yaml, &docs);
}

#[test]
fn distinct_values_with_words_in_common_are_searched_by_their_words() {
    let docs: Vec<Value> = (0..60_u64)
        .map(|n| {
            let id = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            json!({
                "msg": format!("handled {n} a b"), "url": format!("https://shop{n}.example.com/items/{id}"),
                "mail": format!("user{n}@mail.example.org"), "uuid": format!("{id:016x}-{n:04x}-beef"),
                "arn": [format!("arn:aws:sqs:eu-west-1:{id}:queue{n}")], "client": format!("10.1.2.{n}"), "status": n % 3,
                "took": id,
            })
        })
        .collect();
    let (suggestion, config) = suggested(&docs);
    let yaml = &suggestion.yaml;
    assert_eq!(
        suggestion.default_search_fields,
        ["msg", "words", "uuid", "client", "status"],
        "{yaml}"
    );
    let sources = r#"concatenate_fields: ["url", "mail", "arn"]"#;
    assert!(yaml.contains(sources), "{yaml}");
    takes_all(&config, yaml, &docs);
}

#[test]
fn more_fields_than_are_looked_up_one_by_one_have_their_words_in_one() {
    let docs: Vec<Value> = (0..30)
        .map(|n| {
            let field = |field: usize| {
                (
                    format!("name_{field:02}"),
                    json!(format!("v{}", n % 7 + field)),
                )
            };
            Value::from_iter((0..20).map(field))
        })
        .collect();
    let (suggestion, config) = suggested(&docs);
    let yaml = &suggestion.yaml;
    let mut searched = suggestion.searched_fields.clone();
    searched.sort();
    let all: Vec<String> = (0..20).map(|field| format!("name_{field:02}")).collect();
    assert_eq!(searched, all, "{yaml}");
    assert_eq!(suggestion.default_search_fields.len(), 11, "{yaml}");
    takes_all(&config, yaml, &docs);
}

#[test]
fn levels_are_found_in_any_spelling() {
    let check = |levels: [Value; 3], more: Value| {
        let doc = |n: usize| {
            let mut doc = json!({"level": levels[n % 3], "n": n});
            doc.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            doc
        };
        let docs: Vec<Value> = (0..60).map(doc).collect();
        let (suggestion, config) = suggested(&docs);
        let yaml = &suggestion.yaml;
        takes_all(&config, yaml, &docs);
        let is_it = yaml.contains("name: \"level\", type: text, tokenizer: level, fast: true");
        assert!(
            !is_it
                || suggestion
                    .default_search_fields
                    .contains(&"level".to_owned())
        );
        is_it
    };
    let gelf = json!({"short_message": "a b c d"});
    for (levels, more, expect) in [
        (
            [json!("info"), json!("WARN"), json!("Error")],
            json!({}),
            true,
        ),
        (
            [json!("INFO"), json!("WARNING"), json!("ERR")],
            json!({}),
            true,
        ),
        ([json!(30), json!(40), json!(50)], json!({}), true),
        ([json!("30"), json!("40"), json!("50")], json!({}), true),
        ([json!(6), json!(4), json!(3)], gelf, true),
        // Those of a game.
        ([json!(6), json!(4), json!(3)], json!({}), false),
        ([json!(30), json!(40), json!(55)], json!({}), false),
        // These are tags.
        (
            [json!("INFO"), json!("WARN"), json!("ERROR")],
            json!({}),
            false,
        ),
    ] {
        let shown = json!(levels).to_string();
        assert_eq!(check(levels, more), expect, "{shown}");
    }
}

/// The words of a path stand in the request line already.
#[test]
fn words_that_a_text_has_are_not_indexed_again() {
    let docs: Vec<Value> = (0..60)
        .map(|n| {
            let path = format!("/images/{}/logo{n}.gif", n % 7);
            let referrer = format!("site{}.example.org", n % 3);
            json!({"request": format!("GET {path} HTTP/1.1 after {n} ms"), "http": {"path": path},
                "host": referrer, "odd": format!("ages/{}/lo", n % 7)})
        })
        .collect();
    let (suggestion, config) = suggested(&docs);
    takes_all(&config, &suggestion.yaml, &docs);
    let words = config.doc_mapping.field_mappings.iter();
    let words = words.filter(|field| field.name == "words");
    let sources: Vec<_> = words.map(|field| field.type_id()).collect();
    assert_eq!(sources, ["concatenate"], "{}", suggestion.yaml);
    let all = r#"concatenate_fields: ["host", "odd"]"#;
    assert!(suggestion.yaml.contains(all), "{}", suggestion.yaml);
    let defaults = &suggestion.default_search_fields;
    assert!(defaults.contains(&"request".to_owned()), "{defaults:?}");
    assert!(!defaults.contains(&"http.path".to_owned()), "{defaults:?}");
}
