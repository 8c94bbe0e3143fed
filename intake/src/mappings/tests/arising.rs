//! Fields that documents bring and that a mapping names by patterns, formats or objects.

use super::*;

/// Returns the properties that documents add to a mapping, and whether the last one has a field that it may not have.
fn added(mappings: Value, documents: &[Value]) -> (Value, bool) {
    let config = mapped(mappings).unwrap();
    let arising = Arising::of_config(&config).unwrap();
    let documents: Vec<String> = documents.iter().map(Value::to_string).collect();
    let documents = documents.iter().map(|document| Some(document.as_bytes()));
    let (added, undeclared) = arising.of_documents(documents);
    // What is added can be added, once and again.
    let more = json!({"properties": added});
    let config = with_mapping(&config, &more).unwrap();
    let config = with_mapping(&config, &more).unwrap();
    DocMapper::new(&config).unwrap();
    (added.into(), undeclared.last().unwrap().is_some())
}

fn of_templates(templates: Value) -> Value {
    json!({"dynamic_templates": templates})
}

#[test]
fn the_first_template_that_a_field_meets_maps_it() {
    let templates = of_templates(json!([
        {"prices": {"match": "price_*", "match_mapping_type": "string", "mapping": {"type": "double"}}},
        {"german": {"match": "\\w+_de\\b|\\w+_de_[A-Z]{2}\\b", "match_pattern": "regex", "match_mapping_type": "string",
                    "mapping": {"type": "text", "analyzer": "german"}}},
        {"places": {"path_match": "geo.*", "unmatch": "*_x", "mapping": {"type": "geo_point"}}},
        {"ids": {"match": ["*_id", "*_key"], "match_mapping_type": ["long", "string"], "mapping": {"type": "keyword"}}},
        {"lists": {"match": "items", "match_mapping_type": "object", "mapping": {"type": "nested"}}},
        {"rest": {"match_mapping_type": "string", "mapping": {
            "type": "{dynamic_type}", "fields": {"raw": {"type": "keyword"}}}}},
    ]));
    let (fields, _) = added(
        templates,
        &[
            json!({"price_1": "9.5", "title_de_DE": "Haus", "geo": {"at": [[1.5, 2.5]], "n_x": 7}, "user_id": 3}),
            json!({"a.b_key": "x", "items": [{"n": 1}], "other": "words", "n": 1, "none": null, "empty": []}),
        ],
    );
    let text = json!({"type": "text", "fields": {"raw": {"type": "keyword"}}});
    let expected = json!({
        "price_1": {"type": "double"},
        "title_de_DE": {"type": "text", "analyzer": "german"},
        "geo": {"properties": {"at": {"type": "geo_point"}}},
        "user_id": {"type": "keyword"},
        "a": {"properties": {"b_key": {"type": "keyword"}}},
        "items": {"type": "nested"},
        "other": text,
    });
    assert_eq!(fields, expected);
}

#[test]
fn indexes_whose_fields_are_all_indexed_alike_look_at_no_document() {
    for mappings in [
        json!({}),
        json!({"dynamic": false, "properties": {"a": {"properties": {"b": {"type": "long"}}}}}),
        of_templates(
            json!([{"strings": {"match_mapping_type": "string", "mapping": {"type": "keyword", "ignore_above": 1024}}}]),
        ),
        of_templates(
            json!([{"strings": {"match": "*", "match_mapping_type": "string", "mapping": {
            "type": "text", "norms": false, "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}}}]),
        ),
        of_templates(json!([{"tags": {"path_match": "tag.*", "mapping": {"type": "keyword"}}}])),
        json!({"dynamic_date_formats": ["strict_date_optional_time"]}),
    ] {
        let config = mapped(mappings.clone()).unwrap();
        assert!(Arising::of_config(&config).is_none(), "{mappings}");
    }
}

#[test]
fn dates_of_the_formats_of_a_mapping_are_dates() {
    let formats = json!({"dynamic_date_formats": ["MM/dd/yyyy", "strict_date_optional_time"]});
    let (fields, _) = added(
        formats,
        &[json!({"a": "09/25/2015", "b": "2015-09-25", "c": "25 September"})],
    );
    let expected = json!({
        "a": {"type": "date", "format": "MM/dd/yyyy"}, "b": {"type": "date", "format": "strict_date_optional_time"},
    });
    assert_eq!(fields, expected);
}

#[test]
fn objects_treat_fields_as_they_say() {
    let mapping = |root: Value, own: Value| json!({"dynamic": root, "properties": {"a": {"dynamic": own, "properties": {"k": {"type": "keyword"}}}}});
    let document =
        json!({"a": {"k": "x", "more": "y", "n": 1, "deep": {"f": 1.5, "at": "2026-01-02"}}});
    let (fields, _) = added(
        mapping(json!(true), json!(false)),
        std::slice::from_ref(&document),
    );
    let kept = json!({"type": "keyword", "index": false, "doc_values": false});
    let deep = json!({"type": "object", "enabled": false});
    assert_eq!(
        fields,
        json!({"a": {"properties": {"more": kept, "n": kept, "deep": deep}}})
    );
    let (fields, is_refused) = added(
        mapping(json!(true), json!("strict")),
        std::slice::from_ref(&document),
    );
    assert_eq!((fields, is_refused), (json!({}), true));
    let (fields, is_refused) = added(mapping(json!("strict"), json!(true)), &[document]);
    let text =
        json!({"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}});
    let deep = json!({"properties": {"f": {"type": "float"}, "at": {"type": "date"}}});
    let expected =
        json!({"a": {"properties": {"more": text, "n": {"type": "long"}, "deep": deep}}});
    assert_eq!((fields, is_refused), (expected, false));
}
