//! Ends of records when a record is malformed.

use crate::tests::cut_all;
use crate::{Format, Recognised};

#[track_caller]
fn check(format: Format, text: &str, expect: &[&str]) {
    let recognised = Recognised {
        format,
        dialect: b','.into(),
    };
    for piece_len in [1, 3, usize::MAX] {
        let records = cut_all(text.as_bytes(), recognised, piece_len);
        let records: Vec<_> = records
            .iter()
            .map(|record| String::from_utf8_lossy(record).into_owned())
            .collect();
        assert_eq!(records, expect, "in pieces of {piece_len}");
    }
}

#[test]
fn a_broken_value_takes_no_other_with_it() {
    let json = |text, expect: &[&str]| check(Format::Json, text, expect);
    json(r#"{"a":1}{"b":2}"#, &[r#"{"a":1}"#, r#"{"b":2}"#]);
    json("{\"a\":1}x{\"b\":2}", &["{\"a\":1}", "x", "{\"b\":2}"]);
    json("{\"a\":1}x\n{\"b\":2}", &["{\"a\":1}", "x\n", "{\"b\":2}"]);
    json("{\"a\": 1 {\"b\":2}", &["{\"a\": 1 ", "{\"b\":2}"]);
    json("{\"a\": \"1\n{\"b\":2}", &["{\"a\": \"1\n", "{\"b\":2}"]);
    json("{\"a\":1}}{\"b\":2}", &["{\"a\":1}", "}", "{\"b\":2}"]);
    json("{\"a\":[{\"b\":2}", &["{\"a\":[{\"b\":2}"]);
    json("1 2\n", &["1 2\n"]);
}

#[test]
fn elements_of_arrays_are_records_whatever_they_are() {
    let json = |text, expect: &[&str]| check(Format::JsonArray, text, expect);
    json("[]", &[]);
    json(
        "[{},[1],\"a,b\",2,null]",
        &["{}", "[1]", "\"a,b\"", "2", "null"],
    );
    json(
        "[{\"a\":1},\n {\"a\":2}\n]\n[{\"a\":3}]",
        &["{\"a\":1}", "{\"a\":2}", "{\"a\":3}"],
    );
    json("[{\"a\":1}", &["{\"a\":1}"]);
    json("[1,,2]", &["1", "2"]);
}

#[test]
fn an_object_without_the_list_is_a_record_of_its_own() {
    let json = |text, expect: &[&str]| check(Format::CloudTrail, text, expect);
    json(
        "{\"Records\":[{\"a\":1}]}{\"records\":[2]}",
        &["{\"a\":1}", "2"],
    );
    json(
        "{\"Recorded\":[{\"a\":1}]}",
        &["{\"Recorded\":[{\"a\":1}]}"],
    );
    json("{\"Records\":{\"a\":1}}", &["{\"Records\":{\"a\":1}}"]);
    json("{\"Rec\":1}{\"Records\":[2]}", &["{\"Rec\":1}", "2"]);
    json("{\"Rec\\\"ords\":[1]}", &["{\"Rec\\\"ords\":[1]}"]);
    json(
        "{\"Records\":[1],\"next\":2}\n{\"Records\":[3]}",
        &["1", ",\"next\":2}\n", "3"],
    );
    json("{}", &["{}"]);
}

#[test]
fn quotes_hold_lines_together() {
    let csv = |text, expect: &[&str]| check(Format::Csv, text, expect);
    csv("a,b\n1,2\n", &["a,b\n", "1,2\n"]);
    csv("\"a\nb\",c\nd\n", &["\"a\nb\",c\n", "d\n"]);
    csv("\"a\"\"\n\"\"b\",c\nd", &["\"a\"\"\n\"\"b\",c\n", "d"]);
    csv("a\"b\nc\n", &["a\"b\n", "c\n"]);
    csv("x,\"\"\n\"y\"z\nw", &["x,\"\"\n", "\"y\"z\n", "w"]);
}

#[test]
fn features_of_a_collection_are_records_wherever_they_stand() {
    let json = |text, expect: &[&str]| check(Format::JsonArray, text, expect);
    json(
        "{\"type\": \"FeatureCollection\", \"bbox\": [1, {\"features\": [2]}], \"name\": \"features\",\n \"features\" : [\n\
         {\"a\": [1]},\n{\"b\": {\"features\": []}}\n], \"metadata\": {\"features\": [3], \"x\": \"]}\"}}\n",
        &["{\"a\": [1]}", "{\"b\": {\"features\": []}}"],
    );
    json(
        "{\"took\":3,\"hits\":{\"total\":{\"hits\":2},\"hits\":[{\"_id\":\"1\"},{\"_id\":\"2\"}],\"x\":1},\"aggs\":{\"hits\":[3]}}\n\
         {\"data\":[{\"hits\":{\"hits\":[4]}}]}",
        &[
            "{\"_id\":\"1\"}",
            "{\"_id\":\"2\"}",
            "{\"hits\":{\"hits\":[4]}}",
        ],
    );
    // Two collections, and an object that is none.
    json(
        "{\"features\":[{\"a\":1}]}\n{\"b\":\"x\"}{\"features\":[2]}",
        &["{\"a\":1}", "{\"b\":\"x\"}", "2"],
    );
    json("{\"a\": \"1\n{\"b\":2}", &["{\"a\": \"1\n", "{\"b\":2}"]);
}

#[test]
fn a_collection_is_recognised() {
    let of = |text: &str| crate::recognise(text.as_bytes(), true).format;
    let collection = "{\"type\":\"FeatureCollection\",\"metadata\":{\"count\":1},\"features\":[{\"type\":\"Feature\",\"id\":1}]}";
    assert_eq!(of(collection), Format::JsonArray);
    assert_eq!(
        of(&collection.replace("\"features\":", "\"others\":")),
        Format::Ndjson
    );
    assert_eq!(of(&collection.replace("Collection", "")), Format::Ndjson);
}

#[test]
fn each_run_of_sarif_has_its_list() {
    let run = |name: &str, n: u32| {
        let of = |n: u32| {
            format!(
                "{{\"ruleId\":\"R{n}\",\"message\":{{\"text\":\"{name} {n} {}\"}}}}",
                "x".repeat(90)
            )
        };
        format!(
            "{{\"tool\":{{\"driver\":{{\"name\":\"{name}\"}}}},\"results\":[{},{}]}}",
            of(n),
            of(n + 1)
        )
    };
    let text = format!(
        "{{\"version\":\"2.1.0\",\"runs\":[{},{}]}}",
        run("a", 1),
        run("b", 3)
    );
    let recognised = crate::recognise(text.as_bytes(), true);
    let records = cut_all(text.as_bytes(), recognised, 7);
    let records: Vec<_> = records
        .iter()
        .map(|record| String::from_utf8_lossy(record))
        .collect();
    assert_eq!(records.len(), 4, "{records:?}");
    assert!(records[3].starts_with("{\"ruleId\":\"R4\""), "{records:?}");
}

#[test]
fn lists_in_an_answer_are_recognised_if_they_are_most_of_it() {
    let of = |text: &str| crate::recognise(text.as_bytes(), true).format;
    let element = r#"{"id":"ch_1","created":1684749512,"amount":100}"#;
    let elements = [element; 6].join(",");
    for name in [
        "data",
        "value",
        "items",
        "logEvents",
        "results",
        "documents",
        "Findings",
    ] {
        let answer = format!("{{\"object\":\"list\",\"{name}\":[{elements}],\"more\":false}}");
        assert_eq!(of(&answer), Format::JsonArray, "{name}");
        assert_eq!(
            of(&answer.replace(':', ": ").replace(',', ",\n ")),
            Format::JsonArray,
            "{name}"
        );
        // Lines of which each is a record.
        assert_eq!(
            of(&format!("{answer}\n{answer}\n")),
            Format::Ndjson,
            "{name}"
        );
        // One element, another name, and a small part.
        let one = format!("{{\"{name}\":[{element}]}}");
        assert_eq!(of(&one), Format::Ndjson, "{name}");
        assert_eq!(of(&answer.replace(name, "lines")), Format::Ndjson, "{name}");
        let long = answer.replace("false", &format!("\"{}\"", "x".repeat(200)));
        assert_eq!(of(&long), Format::Ndjson, "{name}");
    }
    for (around, list) in [("log", "entries"), ("response", "docs"), ("data", "result")] {
        let answer = format!("{{\"v\":1,\"{around}\":{{\"n\":6,\"{list}\":[{elements}]}}}}");
        assert_eq!(of(&answer), Format::JsonArray, "{around}");
        assert_eq!(
            of(&answer.replace(around, "other")),
            Format::Ndjson,
            "{around}"
        );
    }
    let hits = r#"{"took":1,"hits":{"total":1,"hits":[{"_index":"a","_id":"1","_source":{"message":"x"}}]}}"#;
    assert_eq!(of(hits), Format::JsonArray);
    assert_eq!(of(&format!("{hits}\n{hits}\n")), Format::JsonArray);
    let many = format!("{{\"data\":[{}", vec![element; 2_000].join(","));
    assert_eq!(
        crate::recognise(many.as_bytes(), false).format,
        Format::JsonArray
    );
}
