//! Documents in a real tantivy index: they are found, and returned unchanged.

use serde_json::json;
use tantivy::collector::TopDocs;
use tantivy::query::TermQuery;
use tantivy::schema::IndexRecordOption;
use tantivy::{Index, TantivyDocument, Term};

use super::*;

#[test]
fn a_hit_comes_back_from_the_doc_store_as_it_went_in() {
    let mapper = mapper(
        json!({ "timestamp_field": "ts", "index_field_presence": true, "field_mappings": [
        { "name": "ts", "type": "datetime", "fast": true, "output_format": "unix_timestamp_secs" },
        { "name": "tenant", "type": "u64" }, { "name": "body", "type": "text", "record": "position" },
        { "name": "ip", "type": "ip", "fast": true }, { "name": "raw", "type": "bytes" },
        { "name": "attrs", "type": "json", "fast": true }, { "name": "tags", "type": "array<text>", "fast": true },
    ] }),
    );
    let doc = json!({ "ts": 1714557600, "tenant": 22, "body": "Received block blk_1", "ip": "10.0.0.1",
        "raw": "AQID", "attrs": { "a": { "b": "x" } }, "tags": ["p", "q"], "extra": { "n": 1 } });
    let builder = Index::builder()
        .schema(mapper.schema().clone())
        .settings(mapper.index_settings())
        .tokenizers(mapper.tokenizers())
        .fast_field_tokenizers(mapper.fast_field_tokenizers());
    let directory = tantivy::directory::RamDirectory::create();
    let mut writer = builder
        .single_segment_index_writer(directory, 15_000_000)
        .unwrap();
    writer
        .add_document(
            mapper
                .parse_doc(doc.to_string().as_bytes())
                .unwrap()
                .document,
        )
        .unwrap();
    let index = writer.finalize().unwrap();
    let searcher = index.reader().unwrap().searcher();
    let body = mapper.resolve("body").unwrap().field;
    let presence = Term::from_field_u64(
        mapper.field_presence_field().unwrap(),
        mapper.field_presence_hash("body").unwrap(),
    );
    for term in [Term::from_field_text(body, "received"), presence] {
        let query = TermQuery::new(term, IndexRecordOption::Basic);
        let hits = searcher
            .search(&query, &TopDocs::with_limit(1).order_by_score())
            .unwrap();
        assert_eq!(hits.len(), 1);
        let stored: TantivyDocument = searcher.doc(hits[0].1).unwrap();
        assert_eq!(Value::Object(mapper.doc_to_json(&stored)), doc);
    }
}

/// A split from before `_verbatim`, whose schema stores the JSON fields themselves.
#[test]
fn a_document_of_an_old_split_is_shown_as_it_was_stored() {
    let mapper = mapper(json!({ "field_mappings": [
        { "name": "a", "type": "u64" }, { "name": "j", "type": "json" },
        { "name": "o", "type": "object", "field_mappings": [{ "name": "x", "type": "text" }] },
    ] }));
    let doc =
        json!({ "a": 1, "j": { "k": [1.5] }, "o": { "x": "t", "y": 2 }, "new": { "z": true } });
    let parsed = mapper.parse_doc(doc.to_string().as_bytes()).unwrap();
    let verbatim = mapper.schema().get_field(VERBATIM_FIELD).unwrap();
    let mut old = TantivyDocument::new();
    for (field, value) in parsed.document.field_values() {
        if field != verbatim {
            old.add_field_value(field, value);
        }
    }
    assert_eq!(Value::Object(mapper.doc_to_json(&old)), doc);
}

#[test]
fn the_timestamp_field_has_a_column_and_no_terms() {
    let at = |name: &str| json!({ "name": name, "type": "datetime", "fast": true });
    let mapper =
        mapper(json!({ "timestamp_field": "at", "field_mappings": [at("at"), at("seen")] }));
    let entry = |name: &str| {
        let field = mapper.schema().get_field(name).unwrap();
        mapper.schema().get_field_entry(field)
    };
    assert!(entry("at").is_fast() && !entry("at").is_indexed());
    assert!(entry("seen").is_fast() && entry("seen").is_indexed());
    // Queries still find it by single values.
    assert!(mapper.resolve("at").unwrap().indexed);
}
