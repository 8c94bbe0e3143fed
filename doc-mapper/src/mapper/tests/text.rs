//! Words of a document in each field.

use serde_json::json;
use tantivy::Index;

use super::*;
use crate::tokenizers::Extent;

/// Returns the terms of a text field in an index of these documents.
fn terms(mapper: &DocMapper, docs: &[Value], path: &str) -> Vec<String> {
    let builder = Index::builder()
        .schema(mapper.schema().clone())
        .settings(mapper.index_settings())
        .tokenizers(mapper.tokenizers())
        .fast_field_tokenizers(mapper.fast_field_tokenizers());
    let directory = tantivy::directory::RamDirectory::create();
    let mut writer = builder
        .single_segment_index_writer(directory, 15_000_000)
        .unwrap();
    for doc in docs {
        let parsed = mapper.parse_doc(doc.to_string().as_bytes()).unwrap();
        writer.add_document(parsed.document).unwrap();
    }
    let searcher = writer.finalize().unwrap().reader().unwrap().searcher();
    let field = mapper.resolve(path).unwrap().field;
    let inverted_index = searcher.segment_reader(0).inverted_index(field).unwrap();
    let mut stream = inverted_index.terms().stream().unwrap();
    let mut terms = Vec::new();
    while let Some((term, _)) = stream.next() {
        terms.push(String::from_utf8(term.to_vec()).unwrap());
    }
    terms
}

#[test]
fn a_custom_tokenizer_cuts_and_filters_as_the_config_says() {
    let check = |mut tokenizer: Value, text: &str, expect: &[&str]| {
        tokenizer["name"] = json!("mine");
        let mapper = mapper(json!({
            "tokenizers": [tokenizer],
            "field_mappings": [{ "name": "a", "type": "text", "tokenizer": "mine" }],
        }));
        assert_eq!(
            terms(&mapper, &[json!({ "a": text })], "a"),
            expect,
            "{tokenizer}"
        );
    };
    let all = json!(["remove_long", "lower_caser", "ascii_folding"]);
    check(
        json!({ "type": "ngram", "min_gram": 2, "max_gram": 3, "filters": all }),
        "ÉaB",
        &["ab", "ea", "eab"],
    );
    check(
        json!({ "type": "ngram", "min_gram": 1, "max_gram": 3, "prefix_only": true }),
        "Abcd",
        &["A", "Ab", "Abc"],
    );
    check(
        json!({ "type": "regex", "pattern": r"\d+|[a-z]+", "filters": [] }),
        "ab12 Xé-3",
        &["12", "3", "ab"],
    );
    check(
        json!({ "type": "source_code", "filters": ["lower_caser"] }),
        "parseHTTPRequest2",
        &["2", "http", "parse", "request"],
    );
    let long = "x".repeat(256);
    check(
        json!({ "type": "simple" }),
        &format!("A-{long}"),
        &["A", &long],
    );
    check(
        json!({ "type": "simple", "filters": all }),
        &format!("A-{long}"),
        &["a"],
    );
}

#[test]
fn letters_of_patterns_go_through_the_filters() {
    let mapper = mapper(json!({
        "tokenizers": [
            { "name": "folding", "type": "simple", "filters": ["ascii_folding", "lower_caser"] },
            { "name": "plain", "type": "simple" },
        ],
        "field_mappings": [
            { "name": "a", "type": "text", "tokenizer": "folding" },
            { "name": "b", "type": "text", "tokenizer": "plain" },
            { "name": "c", "type": "text" },
            { "name": "d", "type": "text", "tokenizer": "raw" },
        ],
    }));
    let letters = |path: &str| {
        mapper
            .resolve(path)
            .unwrap()
            .letters
            .apply("Éß", Extent::Whole)
    };
    assert_eq!(["a", "b", "c", "d"].map(letters), ["ess", "Éß", "éß", "Éß"]);
}

#[test]
fn a_text_is_indexed_in_each_of_its_ways() {
    let mapper = mapper(json!({ "field_mappings": [
        { "name": "a", "type": "array<text>", "strategy": ["fulltext", "term"],
          "fields": { "stems": { "tokenizer": "en_stem" } } },
    ] }));
    let docs = [json!({ "a": ["Running dogs", "x"] })];
    assert_eq!(terms(&mapper, &docs, "a"), ["dogs", "running", "x"]);
    assert_eq!(terms(&mapper, &docs, "a.term"), ["Running dogs", "x"]);
    assert_eq!(terms(&mapper, &docs, "a.stems"), ["dog", "run", "x"]);
    let parsed = mapper.parse_doc(docs[0].to_string().as_bytes()).unwrap();
    assert_eq!(Value::Object(mapper.doc_to_json(&parsed.document)), docs[0]);
    // A path of an object stands for its fields, each once.
    assert_eq!(mapper.fields().len(), 3);
}

#[test]
fn a_concatenation_has_the_values_of_its_fields() {
    let mapper = mapper(json!({ "field_mappings": [
        { "name": "all", "type": "concatenate", "concatenate_fields": ["t", "n", "o", "j", "b", "f"],
          "include_dynamic_fields": true, "tokenizer": "whitespace" },
        { "name": "t", "type": "array<text>", "tokenizer": "raw" },
        { "name": "n", "type": "i64" }, { "name": "b", "type": "bool" }, { "name": "f", "type": "f64" },
        { "name": "j", "type": "json" },
        { "name": "o", "type": "object", "field_mappings": [
            { "name": "in", "type": "text" }, { "name": "unmapped.not", "type": "text" }] },
        { "name": "other", "type": "text" },
    ] }));
    let doc = json!({
        "t": ["A b", "c"], "n": -5, "b": true, "f": 1.5, "other": "absent",
        "o": { "in": "inside", "more": "dynamic" },
        "j": { "k": [1, "deep", { "l": false }], "key": null },
        "new": 12, "all": "own",
    });
    let expect = [
        "-5", "1", "1.5", "12", "A", "b", "c", "deep", "dynamic", "false", "inside", "own", "true",
    ];
    assert_eq!(terms(&mapper, std::slice::from_ref(&doc), "all"), expect);
    // A document's own value under this name is unmapped; all values are returned.
    let parsed = mapper.parse_doc(doc.to_string().as_bytes()).unwrap();
    let shown = mapper.doc_to_json(&parsed.document);
    assert_eq!(shown["all"], "own");
    assert_eq!(Value::Object(shown), doc);
    assert_eq!(mapper.resolve("all").unwrap().json_path, "");
}

#[test]
fn a_key_that_is_a_concatenation_is_unmapped_in_strict_mode() {
    let mapper = mapper(json!({ "mode": "strict", "field_mappings": [
        { "name": "t", "type": "text" },
        { "name": "all", "type": "concatenate", "concatenate_fields": ["t"] },
    ] }));
    let refused = mapper.parse_doc(br#"{"t": "a", "all": "b"}"#).unwrap_err();
    assert_eq!(refused.reason(), DocErrorReason::UnknownField);
}

#[test]
fn presence_is_known_of_variants_and_concatenations() {
    let mapper = mapper(json!({ "index_field_presence": true, "field_mappings": [
        { "name": "t", "type": "text", "fields": { "raw": { "tokenizer": "raw" } } },
        { "name": "all", "type": "concatenate", "concatenate_fields": ["t"] },
    ] }));
    let presence = |doc: &str| -> Vec<u64> {
        let parsed = mapper.parse_doc(doc.as_bytes()).unwrap();
        let field = mapper.field_presence_field().unwrap();
        use tantivy::schema::Value as _;
        parsed
            .document
            .get_all(field)
            .filter_map(|value| value.as_u64())
            .collect()
    };
    let hashes = ["t", "t.raw", "all"].map(|path| mapper.field_presence_hash(path).unwrap());
    let found = presence(r#"{"t": "x"}"#);
    assert!(
        hashes.iter().all(|hash| found.contains(hash)),
        "{found:?} {hashes:?}"
    );
    assert_eq!(presence("{}").len(), 0);
}
