//! Limits of a document's terms.

use tantivy::schema::document::Document as _;

use super::*;

fn limited(doc_mapping: Value, limits: Value) -> DocMapper {
    let config = json!({
        "version": "0.9", "index_id": "test", "doc_mapping": doc_mapping, "indexing_settings": limits,
    });
    // As in an index from before grams were limited.
    let config: IndexConfig = serde_json::from_value(config).unwrap();
    DocMapper::new(&config).unwrap()
}

#[track_caller]
fn check_refused(mapper: &DocMapper, line: &str, field: &str, expect: &str) {
    let mut out = b"before".to_vec();
    let error = mapper.encode_doc(line.as_bytes(), &mut out).unwrap_err();
    assert_eq!(error.reason(), DocErrorReason::TooManyTerms, "{error}");
    assert_eq!(error.field(), field);
    assert!(error.to_string().contains(expect), "{error}");
    assert_eq!(out, b"before");
}

#[test]
fn grams_of_a_long_text_are_refused_before_they_are_built() {
    let mapper = limited(
        json!({
            "tokenizers": [{ "name": "grams", "type": "ngram", "min_gram": 1, "max_gram": 100 }],
            "field_mappings": [{ "name": "a", "type": "text", "tokenizer": "grams" }],
        }),
        json!({}),
    );
    let line = |num_chars: usize| json!({ "a": "x".repeat(num_chars) }).to_string();
    check_refused(&mapper, &line(1 << 20), "a", "max_doc_term");
    // 1 MB of grams, each of which counts.
    assert!(mapper.parse_doc(line(10_000).as_bytes()).is_ok());
}

#[test]
fn every_term_of_a_document_counts_and_none_twice() {
    let mapping = json!({ "mode": "dynamic", "field_mappings": [
        { "name": "words", "type": "text", "fields": { "whole": { "tokenizer": "raw" } } },
        { "name": "n", "type": "array<u64>" },
        { "name": "stored", "type": "text", "indexed": false },
    ] });
    let mapper = |max: u64| limited(mapping.clone(), json!({ "max_doc_terms": max }));
    // Three words, the whole text, two numbers; and for unmapped values a word, a number and a
    // date.
    let line = json!({
        "words": "a b, c", "n": [1, 2], "stored": "x y z", "other": { "w": "x", "n": 1, "t": "2024-05-01T00:00:00Z" },
    });
    let line = line.to_string();
    assert!(mapper(9).parse_doc(line.as_bytes()).is_ok());
    let error = mapper(8).parse_doc(line.as_bytes()).unwrap_err();
    assert_eq!(error.reason(), DocErrorReason::TooManyTerms);
    check_refused(&mapper(2), &line, "words", "more than 2 terms");
}

#[test]
fn a_long_key_above_many_values_is_refused_before_paths_are_made_of_it() {
    let mapper = limited(json!({ "mode": "dynamic" }), json!({}));
    let values: Vec<String> = (0..20_000).map(|n| format!("\"{n}\":1")).collect();
    let values = values.join(",");
    let key = "k".repeat(500_000);
    // 10 GB of paths, in a document of 700 KB.
    check_refused(
        &mapper,
        &format!("{{\"{key}\":{{{values}}}}}"),
        "_dynamic",
        "max_doc_term_bytes",
    );
    // Deeper than columns support, where keys are joined before indexing.
    let (open, close) = ("{\"d\":".repeat(30), "}".repeat(30));
    let deep = format!("{{\"{key}\":{open}{{{values}}}{close}}}");
    check_refused(&mapper, &deep, "_dynamic", "max_doc_term_bytes");
    let short = format!("{{\"k\":{{{values}}}}}");
    assert!(mapper.parse_doc(short.as_bytes()).is_ok());
}

#[test]
fn a_record_that_is_kept_is_shortened_rather_than_lost() {
    let config = json!({
        "version": "0.9", "index_id": "test", "doc_mapping": {},
        "ingest_settings": { "on_error": "keep" },
        "indexing_settings": { "max_doc_terms": 1_000 },
    });
    let mapper = DocMapper::new(&serde_json::from_value(config).unwrap()).unwrap();
    let raw = "é ".repeat(5_000);
    let mut out = Vec::new();
    let kept = Kept {
        raw: &raw,
        reason: "not_json",
        message: "it is not JSON",
    };
    mapper.encode_kept_doc(&kept, &mut out);
    let all = 0..out.len();
    let docs = crate::EncodedDocs::new(out, crate::DocShape::of(mapper.schema()));
    let hit = mapper.doc_to_json(&docs.doc(all).into_tantivy_document());
    let shown = hit[RAW_FIELD].as_str().unwrap();
    assert!(!shown.is_empty() && raw.starts_with(shown), "{shown}");
    let message = hit[PARSE_MESSAGE_FIELD].as_str().unwrap();
    let tells = format!(
        "it is not JSON; of its 15000 bytes the first {} are kept",
        shown.len()
    );
    assert!(message.starts_with(&tells), "{message}");
}
