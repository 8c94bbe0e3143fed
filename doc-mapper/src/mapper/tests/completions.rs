//! Completions: the terms of their values, and the values that are refused.

use serde_json::{Value, json};

use super::mapper;
use crate::config::IndexConfig;
use crate::mapper::DocMapper;
use crate::{CompletionEntry, DocErrorReason};

fn with(completion: &Value) -> DocMapper {
    mapper(
        json!({"mode": "lenient", "store_source": true, "field_mappings": [
            {"name": "c", "type": "array<text>", "tokenizer": "raw", "stored": false, "completion": completion},
        ]}),
    )
}

/// Returns the entries of a document, or the message that refuses it.
fn entries(mapper: &DocMapper, document: &Value) -> Result<Vec<String>, String> {
    let parsed = mapper.parse_doc(document.to_string().as_bytes());
    let document = parsed.map_err(|error| error.to_string())?.document;
    let field = mapper.schema().get_field("c").unwrap();
    let terms = document.get_all(field).map(|value| {
        let value = tantivy::schema::Value::as_str(&value).unwrap();
        let entry = CompletionEntry::read(value).unwrap();
        let context = entry
            .context
            .map(|(name, value)| format!(" {name}={value}"));
        let context = context.unwrap_or_default();
        format!("{}|{}|{}{context}", entry.key, entry.weight, entry.input)
    });
    Ok(terms.collect())
}

#[test]
fn each_form_of_a_value_makes_its_entries() {
    let plain = with(&json!({"max_input_length": 5}));
    for (value, expected) in [
        (json!("Foo"), vec!["foo|1|Foo"]),
        (json!(["b", "a", "b"]), vec!["a|1|a", "b|1|b"]),
        (json!({"input": "Ab-C", "weight": 0}), vec!["ab c|0|Ab-C"]),
        (
            json!([{"input": ["a", "b"], "weight": "7"}, "c"]),
            vec!["a|7|a", "b|7|b", "c|1|c"],
        ),
        // Two code units each: the third does not fit.
        (json!("👍👍👍"), vec!["|1|👍👍"]),
        (json!("123456"), vec!["|1|12345"]),
        (json!(null), vec![]),
    ] {
        assert_eq!(
            entries(&plain, &json!({"c": value})).unwrap(),
            expected,
            "{value}"
        );
    }
    for (value, part) in [
        (json!(7), "expected text or object"),
        (json!(""), "length > 0"),
        (json!({"weight": 1}), "input"),
        (json!({"input": [1]}), "string values"),
        (
            json!({"input": "a", "weight": -1}),
            "weight must be an integer",
        ),
        (
            json!({"input": "a", "weight": 1.5}),
            "weight must be an integer",
        ),
        (
            json!({"input": "a", "boost": 1}),
            "unknown field name [boost]",
        ),
        (
            json!({"input": "a", "contexts": {"x": "y"}}),
            "contexts are not enabled",
        ),
    ] {
        let error = entries(&plain, &json!({"c": value})).unwrap_err();
        assert!(error.contains(part), "{value}: {error}");
    }
}

#[test]
fn contexts_come_from_entries_and_from_other_fields() {
    let contexts = json!([{"name": "color", "path": "a.color"}, {"name": "at", "geohash": 4}]);
    let mapper = with(&json!({"contexts": contexts}));
    for (document, expected) in [
        (
            json!({"c": {"input": "x", "contexts": {"color": ["r", "g"]}}}),
            vec!["x|1|x color=g", "x|1|x color=r"],
        ),
        (
            json!({"a": [{"color": "r"}, {"color": 7}], "c": "x"}),
            vec!["x|1|x color=7", "x|1|x color=r"],
        ),
        (
            json!({"c": {"input": "x", "contexts": {"at": "57.64911,10.40744"}}}),
            vec!["x|1|x at=u4pr"],
        ),
    ] {
        assert_eq!(entries(&mapper, &document).unwrap(), expected, "{document}");
    }
    for (document, part) in [
        (
            json!({"c": "x"}),
            "Contexts are mandatory in context enabled completion field [c]",
        ),
        (
            json!({"c": {"input": "x", "contexts": {"y": "z"}}}),
            "unknown context [y]",
        ),
        (
            json!({"c": {"input": "x", "contexts": {"at": "nowhere"}}}),
            "field \"c\"",
        ),
    ] {
        let error = entries(&mapper, &document).unwrap_err();
        assert!(error.contains(part), "{document}: {error}");
    }
}

#[test]
fn inputs_times_contexts_are_refused_before_they_are_made() {
    let config = json!({
        "version": "0.9", "index_id": "test", "indexing_settings": {"max_doc_terms": 100_000},
        "doc_mapping": {"mode": "lenient", "store_source": true, "field_mappings": [{
            "name": "c", "type": "array<text>", "tokenizer": "raw", "stored": false,
            "completion": {"contexts": [{"name": "color", "path": "colors"}]},
        }]},
    });
    let config: IndexConfig = serde_json::from_value(config).unwrap();
    let mapper = DocMapper::new(&config).unwrap();
    let numbers = |letter: char| -> Vec<String> {
        let numbers = 0..30_000;
        numbers.map(|n| format!("{letter}{n}")).collect()
    };
    let (inputs, colors) = (numbers('i'), numbers('c'));
    // A billion terms, of a document of half a megabyte.
    for document in [
        json!({"c": {"input": inputs, "contexts": {"color": colors}}}),
        json!({"c": inputs, "colors": colors}),
    ] {
        let error = mapper
            .parse_doc(document.to_string().as_bytes())
            .unwrap_err();
        assert_eq!(error.reason(), DocErrorReason::TooManyTerms, "{error}");
        assert_eq!(error.field(), "c");
    }
    let few = json!({"c": inputs, "colors": ["a", "b"]});
    assert_eq!(entries(&mapper, &few).unwrap().len(), 60_000);
}
