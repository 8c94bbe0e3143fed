//! Values that the `_source` of a mapping hides.

use std::sync::Arc;

use canter_runtime::engine::NativeEngine;
use serde_json::{Value, json};

use super::index::Index;

#[test]
fn fields_show_nothing_that_the_source_hides() {
    let keyword = json!({"type": "keyword"});
    let stored = json!({"type": "keyword", "store": true});
    let properties = json!({"a": keyword, "secret": keyword, "kept": stored, "o": {"properties": {"x": keyword}}});
    let mapping = json!({
        "_source": {"excludes": ["secret", "kept", "o.*"]}, "properties": properties,
    });
    let document =
        json!({"a": "1", "secret": ["3", "2", "3"], "kept": "4", "o": {"x": "5"}, "other": "6"});
    let engine = Arc::new(NativeEngine::new());
    let index = Index::of(engine, &mapping, &[document], 1).unwrap();
    let shown = |body: Value| {
        let (status, answer) = index.search(&body);
        assert_eq!(status, 200, "{answer}");
        let hit = &answer["hits"]["hits"][0];
        assert_eq!(hit["_source"].get("secret"), None);
        hit["fields"].clone()
    };
    let all = shown(json!({"fields": ["*"]}));
    let expect = json!({"a": ["1"], "other": ["6"], "other.keyword": ["6"]});
    assert_eq!(all, expect);
    assert_eq!(shown(json!({"fields": ["secret", "o.x"]})), Value::Null);
    // Columns are no part of the source, and neither are stored fields.
    let columns = shown(json!({"docvalue_fields": ["secret", "o.x"]}));
    assert_eq!(columns, json!({"secret": ["2", "3"], "o.x": ["5"]}));
    let stored = shown(json!({"stored_fields": ["kept", "secret"], "_source": true}));
    assert_eq!(stored, json!({"kept": ["4"]}));
}
