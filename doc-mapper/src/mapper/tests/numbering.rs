//! Stable field numbers: in a mapping that grew, and in segments with the earlier order.

use serde_json::{Value, json};
use tantivy::TantivyDocument;
use tantivy::schema::Schema;

use super::*;

fn config(doc_mapping: Value) -> IndexConfig {
    let config = json!({ "version": "0.9", "index_id": "test", "doc_mapping": doc_mapping });
    IndexConfig::from_json(config.to_string().as_bytes()).unwrap()
}

fn names(schema: &Schema) -> Vec<&str> {
    schema.fields().map(|(_, entry)| entry.name()).collect()
}

#[test]
fn the_index_has_its_own_fields_first_and_always_at_the_same_numbers() {
    let own = [
        DYNAMIC_FIELD,
        SOURCE_FIELD,
        FIELD_PRESENCE_FIELD,
        DOCUMENT_SIZE_FIELD,
        VERBATIM_FIELD,
    ];
    for mapping in [
        json!({ "mode": "lenient" }),
        json!({}),
        json!({ "index_field_presence": true, "store_source": true, "store_document_size": true }),
    ] {
        let mapper = mapper(mapping);
        assert_eq!(names(mapper.schema()), own);
    }
    let unused = mapper(json!({ "mode": "lenient" }));
    let is_used = |entry: &tantivy::schema::FieldEntry| {
        entry.is_indexed() || entry.is_fast() || entry.is_stored()
    };
    assert!(unused.schema().fields().all(|(_, entry)| !is_used(entry)));
    assert_eq!(unused.source_field(), None);
    assert_eq!(unused.dynamic_field(), None);
    assert_eq!(unused.document_size_field(), None);
    assert_eq!(unused.field_presence_field(), None);
}

#[test]
fn a_mapping_that_grew_at_its_end_gives_the_older_fields_their_numbers() {
    let grown = [
        json!({ "name": "a", "type": "u64" }),
        json!({ "name": "o", "type": "object", "field_mappings": [{ "name": "x", "type": "text" }] }),
        json!({ "name": "j", "type": "json" }),
        json!({ "name": "b", "type": "ip" }),
    ];
    for mode in ["lenient", "dynamic"] {
        let schemas: Vec<Schema> = (1..=grown.len())
            .map(|num| {
                let mapping = json!({ "mode": mode, "field_mappings": &grown[..num] });
                mapper(mapping).schema().clone()
            })
            .collect();
        for pair in schemas.windows(2) {
            let older = names(&pair[0]);
            assert_eq!(&names(&pair[1])[..older.len()], older);
        }
    }
}

/// Returns the schema with the earlier order: mapped leaves first, then the index's own fields in
/// use.
fn older_schema(today: &Schema) -> Schema {
    let mut builder = Schema::builder();
    let (own, mapped): (Vec<_>, Vec<_>) = today
        .fields()
        .map(|(_, entry)| entry.clone())
        .partition(|entry| entry.name().starts_with('_'));
    let used = own
        .into_iter()
        .filter(|entry| entry.is_indexed() || entry.is_fast() || entry.is_stored());
    for entry in mapped.into_iter().chain(used) {
        builder.add_field(entry);
    }
    builder.build()
}

#[test]
fn a_segment_of_before_is_read_by_the_numbers_of_its_own_schema() {
    let config = config(json!({ "store_source": true, "field_mappings": [
        { "name": "a", "type": "u64" }, { "name": "t", "type": "array<text>" },
    ] }));
    let today = DocMapper::new(&config).unwrap();
    let older = older_schema(today.schema());
    assert_eq!(
        names(&older),
        ["a", "t", "_dynamic", "_source", "_verbatim"]
    );
    let reader = DocMapper::of_segment(&config, &older).unwrap();
    assert_eq!(reader.resolve("a").unwrap().field.field_id(), 0);
    assert_eq!(reader.dynamic_field().unwrap().field_id(), 2);

    let doc = json!({ "a": 7, "t": ["x", "y"], "new": { "n": 1 } });
    let parsed = today.parse_doc(doc.to_string().as_bytes()).unwrap();
    let mut stored = TantivyDocument::new();
    for (field, value) in parsed.document.field_values() {
        let name = today.schema().get_field_name(field);
        stored.add_field_value(older.get_field(name).unwrap(), value);
    }
    assert_eq!(
        reader.doc_to_json(&stored),
        today.doc_to_json(&parsed.document)
    );
}

#[test]
fn a_segment_of_another_config_is_refused_by_the_name_of_the_field() {
    let mapping = |kind: &str| {
        config(json!({ "mode": "lenient", "field_mappings": [{ "name": "a", "type": kind }] }))
    };
    let other = DocMapper::new(&mapping("text")).unwrap();
    assert!(DocMapper::of_segment(&mapping("text"), other.schema()).is_ok());
    let error = DocMapper::of_segment(&mapping("u64"), other.schema()).unwrap_err();
    assert!(error.to_string().contains("\"a\""), "{error}");
}

#[test]
fn fields_that_a_segment_is_too_old_for_are_absent_or_stand_where_they_were_unmapped() {
    let of = |mode: &str, fields: Value| config(json!({ "mode": mode, "field_mappings": fields }));
    let now = json!([
        { "name": "a", "type": "u64" },
        { "name": "o", "type": "object", "field_mappings": [{ "name": "x", "type": "text" }] },
        { "name": "j", "type": "json", "stored": false },
    ]);
    for mode in ["lenient", "dynamic"] {
        let older = DocMapper::new(&of(mode, json!([]))).unwrap();
        let now = of(mode, now.clone());
        let reader = DocMapper::of_segment(&now, older.schema()).unwrap();
        for path in ["a", "o.x", "j", "j.k"] {
            let field = reader.resolve(path).unwrap();
            assert_eq!(field.is_dynamic, mode == "dynamic", "{path}");
            assert_eq!(field.is_absent, mode == "lenient", "{path}");
            let wanted = DocMapper::new(&now).unwrap();
            assert_eq!(reader.kind_of(path), wanted.kind_of(path), "{path}");
        }
        let of_object = reader.resolve_all("o");
        let is_dynamic: Vec<bool> = of_object.iter().map(|field| field.is_dynamic).collect();
        assert_eq!(is_dynamic, [mode == "dynamic"]);
        // A hit shows the same as before.
        let line = json!({ "a": 7, "o": 5, "j": { "k": [1] }, "rest": null }).to_string();
        let parsed = older.parse_doc(line.as_bytes()).unwrap().document;
        assert_eq!(reader.doc_to_json(&parsed), older.doc_to_json(&parsed));
    }
}

#[test]
fn fields_that_an_index_got_later_have_the_last_numbers_wherever_they_stand() {
    let fields = json!([
        { "name": "new", "type": "text" },
        { "name": "o", "type": "object", "field_mappings": [
            { "name": "newer", "type": "u64" }, { "name": "old", "type": "u64" },
        ] },
        { "name": "a", "type": "ip" },
    ]);
    let mut now = config(json!({ "field_mappings": fields }));
    now.doc_mapping.added_fields = vec!["o.newer".to_owned(), "new".to_owned()];
    let mapper = DocMapper::new(&now).unwrap();
    assert_eq!(
        names(mapper.schema())[5..],
        ["o.old", "a", "o.newer", "new"]
    );
    let parsed = mapper
        .parse_doc(br#"{"new": "x", "o": {"newer": 1, "old": 2}}"#)
        .unwrap();
    let shown = serde_json::Value::from(mapper.doc_to_json(&parsed.document));
    assert_eq!(shown, json!({"new": "x", "o": {"newer": 1, "old": 2}}));
    let written = now.to_canonical_json().unwrap();
    let read: IndexConfig = serde_json::from_slice(&written).unwrap();
    assert_eq!(read, now);
}
