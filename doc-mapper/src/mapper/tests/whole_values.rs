//! Whole values of texts: what names stand for, and values that are too long.

use serde_json::json;
use tantivy::schema::Value as _;

use super::*;

/// An index whose unmapped texts are indexed by words, as Elasticsearch's API makes it.
fn made(fields: Value) -> DocMapper {
    let dynamic = json!({"stored": false, "fast": true, "tokenizer": "standard", "record": "position",
        "ignore_above": 3});
    mapper(
        json!({"mode": "dynamic", "dynamic_mapping": dynamic, "index_field_presence": true,
        "field_mappings": fields}),
    )
}

#[test]
fn a_name_stands_for_a_field_of_that_name_before_whole_values() {
    let mapper = made(json!([
        {"name": "host", "type": "text", "tokenizer": "raw"},
        {"name": "level", "type": "text", "fast": true, "fields": {"raw": {"column": true}}},
        {"name": "words", "type": "text"},
        {"name": "url", "type": "text", "fast": true, "fields": {"keyword": {"tokenizer": "en_stem"}}},
        {"name": "agent", "type": "text", "fast": true},
        {"name": "agent.keyword", "type": "u64", "fast": true},
        {"name": "attributes", "type": "json", "fast": true, "tokenizer": "default"},
    ]));
    let shown = |path: &str| {
        let found = mapper.resolve(path).unwrap();
        let view = found.view.is_some();
        (found.fast_field_name(), view, found.kind.type_name())
    };
    let is = |column: &str, view: bool, kind: &'static str| (column.to_owned(), view, kind);
    assert_eq!(shown("host.keyword"), is("host", false, "text"));
    assert_eq!(shown("level.keyword"), is("level", true, "text"));
    assert_eq!(shown("level.raw"), is("level", true, "text"));
    assert_eq!(shown("url.keyword"), is("url.keyword", false, "text"));
    assert_eq!(shown("agent.keyword"), is("agent\\.keyword", false, "u64"));
    // Nothing has the whole values of this one.
    assert_eq!(
        shown("words.keyword"),
        is("_dynamic.words.keyword", false, "json")
    );
    let whole = |path: &str| {
        let found = mapper.whole_values(path);
        found.map(|found| {
            (
                found.fast_field_name(),
                found.view.is_some(),
                found.kind.type_name(),
            )
        })
    };
    assert_eq!(
        whole("other.keyword"),
        Some(is("_dynamic.other", true, "text"))
    );
    assert_eq!(whole("a.b.keyword"), Some(is("_dynamic.a.b", true, "text")));
    assert_eq!(
        whole("attributes.k.keyword"),
        Some(is("attributes.k", true, "text"))
    );
    for none in [
        "other",
        "keyword",
        "attributes.keyword",
        "host.keyword",
        "level.keyword",
    ] {
        assert_eq!(whole(none), None, "{none}");
    }
    let columns = |name: &str| {
        let columns = mapper.columns_of(name).into_iter();
        let columns = columns
            .map(|column| format!("{}{}", column.name, if column.is_text { "!" } else { "" }));
        columns.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(columns("host.keyword"), "host");
    assert_eq!(columns("level.keyword"), "level!");
    assert_eq!(columns("level"), "level");
    assert_eq!(columns("other.keyword"), "other.keyword _dynamic.other!");
}

#[test]
fn an_older_segment_has_whole_values_among_what_was_not_mapped() {
    let old = made(json!([]));
    let dynamic = json!({"stored": false, "fast": true, "tokenizer": "standard", "record": "position",
        "ignore_above": 3});
    let config = json!({ "version": "0.9", "index_id": "test", "doc_mapping": {
        "mode": "dynamic", "dynamic_mapping": dynamic, "index_field_presence": true,
        "field_mappings": [
            {"name": "host", "type": "text", "tokenizer": "raw"},
            {"name": "level", "type": "text", "fast": true, "fields": {"raw": {"column": true}}}],
        "added_fields": ["host", "level"]}});
    let config = IndexConfig::from_json(config.to_string().as_bytes()).unwrap();
    let now = DocMapper::of_segment(&config, old.schema()).unwrap();
    for name in ["host.keyword", "level.keyword", "level.raw"] {
        let (field, _) = name.split_once('.').unwrap();
        let whole = now.whole_values(name).unwrap();
        assert_eq!(
            whole.fast_field_name(),
            format!("_dynamic.{field}"),
            "{name}"
        );
        assert!(whole.view.is_some(), "{name}");
    }
}

#[test]
fn a_document_tells_which_values_are_too_long_for_columns() {
    let mapper = made(json!([
        {"name": "words", "type": "array<text>", "fast": true, "ignore_above": 3},
        {"name": "whole", "type": "array<text>", "tokenizer": "raw", "ignore_above": 3},
    ]));
    let presence = mapper.field_presence_field().unwrap();
    let has = |doc: Value, path: &str| {
        let parsed = mapper.parse_doc(doc.to_string().as_bytes()).unwrap();
        let hash = mapper.field_presence_hash(path).unwrap();
        parsed
            .document
            .get_all(presence)
            .any(|value| value.as_u64() == Some(hash))
    };
    assert!(!has(json!({"words": "abc"}), "words"));
    assert!(has(json!({"words": ["abc", "abcd"]}), "words"));
    // A whole value that is too long is none.
    assert!(has(json!({"whole": "abc"}), "whole"));
    assert!(!has(json!({"whole": "abcd"}), "whole"));
    assert!(!has(json!({"o": {"d": "abc"}}), "o.d"));
    assert!(has(json!({"o": {"d": "abcd"}}), "o.d"));
    assert!(has(json!({"o": {"d": "abcd"}}), "o"));
    assert!(!has(json!({"o": {"d": 12_345}}), "o.d"));
}

#[test]
fn values_of_a_list_are_a_hundred_positions_apart() {
    for tokenizer in ["default", "standard", "whitespace", "letters"] {
        let mut analyzer = crate::tokenizers::tokenizers().get(tokenizer).unwrap();
        let mut tokens = analyzer.token_stream("a b");
        while tokens.advance() {
            assert_eq!(tokens.token().position_length, 100, "{tokenizer}");
        }
    }
}
