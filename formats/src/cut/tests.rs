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
