//! Allowed and refused changes, and the recorded history.

use serde_json::json;

use super::*;

fn config(doc_mapping: Value) -> IndexConfig {
    let config = json!({
        "version": "0.9", "index_id": "test", "doc_mapping": doc_mapping,
        "indexing_settings": { "merge_policy": { "type": "stable_log", "merge_factor": 4 } },
    });
    IndexConfig::from_json(config.to_string().as_bytes()).unwrap()
}

fn first() -> IndexConfig {
    config(json!({
        "mode": "dynamic", "timestamp_field": "ts", "field_mappings": [
            { "name": "ts", "type": "datetime", "fast": true },
            { "name": "body", "type": "text" },
            { "name": "o", "type": "object", "field_mappings": [{ "name": "n", "type": "u64" }] },
            { "name": "a.b", "type": "ip" },
            { "name": "needle", "type": "ip" },
        ],
    }))
}

/// Changes the config's JSON at a pointer.
fn changed(config: &IndexConfig, pointer: &str, value: Value) -> IndexConfig {
    let mut json = serde_json::to_value(config).unwrap();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = match parent {
        "" => &mut json,
        parent => json.pointer_mut(parent).unwrap(),
    };
    match (parent, value) {
        (Value::Object(map), Value::Null) => drop(map.remove(key)),
        (Value::Object(map), value) => drop(map.insert(key.to_owned(), value)),
        (Value::Array(list), Value::Null) => drop(list.remove(key.parse().unwrap())),
        (Value::Array(list), value) => match key {
            "-" => list.push(value),
            _ => list[key.parse::<usize>().unwrap()] = value,
        },
        _ => panic!("{pointer}"),
    }
    IndexConfig::from_json(json.to_string().as_bytes()).unwrap()
}

#[test]
fn a_config_that_says_the_same_changes_nothing() {
    let was = first();
    let same = evolve(&was, &was).unwrap();
    assert_eq!((same.config, same.differences), (was.clone(), vec![]));
    // Neither does the order of fields.
    let mut turned = was.clone();
    turned.doc_mapping.field_mappings.reverse();
    let same = evolve(&was, &turned).unwrap();
    assert_eq!((same.config, same.differences), (was, vec![]));
}

#[test]
fn what_no_split_depends_on_may_change() {
    let was = first();
    let field = "/doc_mapping/field_mappings";
    for (pointer, value) in [
        ("/search_settings/default_search_fields", json!(["body"])),
        ("/indexing_settings/split_num_docs_target", json!(7)),
        (
            "/indexing_settings/merge_policy",
            json!({ "type": "no_merge" }),
        ),
        (
            "/retention",
            json!({ "period": "3 days", "schedule": "daily" }),
        ),
        ("/doc_mapping/tag_fields", json!(["o.n"])),
        ("/doc_mapping/field_mappings/1/description", json!("words")),
        ("/doc_mapping/field_mappings/1/needle", json!(true)),
        (
            "/doc_mapping/field_mappings/2/field_mappings/0/coerce",
            json!(false),
        ),
        ("/version", json!("0.8")),
        (
            &format!("{field}/-"),
            json!({ "name": "new", "type": "f64" }),
        ),
        (
            &format!("{field}/2/field_mappings/-"),
            json!({ "name": "new", "type": "text" }),
        ),
    ] {
        let asked = changed(&was, pointer, value);
        let evolution = evolve(&was, &asked).unwrap();
        assert!(!evolution.differences.is_empty(), "{pointer}");
        let mut config = evolution.config.clone();
        config.doc_mapping.added_fields.clear();
        assert_eq!(config, asked, "{pointer}");
        // Changing back is allowed, except after additions.
        assert_eq!(
            evolve(&evolution.config, &was).is_ok(),
            !pointer.ends_with('-')
        );
        assert_eq!(evolve(&evolution.config, &asked).unwrap().differences, []);
    }
}

#[test]
fn every_refusal_is_told_at_once_with_what_was_what_is_asked_and_what_to_do() {
    let was = first();
    let asked = [
        ("/doc_mapping/field_mappings/1/type", json!("array<text>")),
        (
            "/doc_mapping/field_mappings/2/field_mappings/0/fast",
            json!(true),
        ),
        ("/doc_mapping/field_mappings/4", Value::Null),
        ("/doc_mapping/field_mappings/3", Value::Null),
        ("/doc_mapping/store_source", json!(true)),
        ("/doc_mapping/dynamic_mapping/tokenizer", json!("default")),
        ("/index_id", json!("other")),
        ("/search_settings/default_search_fields", json!(["body"])),
    ];
    let asked = asked
        .into_iter()
        .fold(was.clone(), |config, (pointer, value)| {
            changed(&config, pointer, value)
        });
    let refusals = evolve(&was, &asked).unwrap_err();
    let said: Vec<String> = refusals.iter().map(ToString::to_string).collect();
    let begins: Vec<&str> = said
        .iter()
        .map(|text| text.split(':').next().unwrap())
        .collect();
    assert_eq!(
        begins,
        [
            "doc_mapping.dynamic_mapping.tokenizer was \"raw\", and \"default\" is asked for",
            "doc_mapping.field_mappings.a\\.b was a field of type ip, and nothing is asked for",
            "doc_mapping.field_mappings.body.type was \"text\", and \"array<text>\" is asked for",
            "doc_mapping.field_mappings.needle was a field of type ip, and nothing is asked for",
            "doc_mapping.field_mappings.o.field_mappings.n.fast was false, and true is asked for",
            "doc_mapping.store_source was false, and true is asked for",
            "index_id was \"test\", and \"other\" is asked for",
        ]
    );
    assert!(
        said.iter().all(|text| text.contains(": leave ")),
        "{said:?}"
    );
}

#[test]
fn only_lenient_and_strict_change_places() {
    let of = |mode: &str| config(json!({ "mode": mode }));
    for (was, asked, is_allowed) in [
        ("lenient", "strict", true),
        ("strict", "lenient", true),
        ("dynamic", "lenient", false),
        ("strict", "dynamic", false),
    ] {
        assert_eq!(
            evolve(&of(was), &of(asked)).is_ok(),
            is_allowed,
            "{was} {asked}"
        );
    }
}

#[test]
fn added_fields_are_remembered_in_their_order_and_can_be_left_out_again() {
    let was = first();
    let one = changed(
        &was,
        "/doc_mapping/field_mappings/2/field_mappings/-",
        json!({ "name": "x.y", "type": "text", "tokenizer": "raw" }),
    );
    let one = evolve(&was, &one).unwrap();
    assert_eq!(one.added_fields, ["o.x\\.y"]);
    assert_eq!(one.notes().len(), 1);
    let more = json!({ "name": "p", "type": "object", "field_mappings": [
        { "name": "q", "type": "u64" }, { "name": "r", "type": "u64" }] });
    let mut two = changed(&one.config, "/doc_mapping/field_mappings/-", more);
    two.doc_mapping.tag_fields = vec!["p.q".to_owned()];
    two.doc_mapping.field_mappings.rotate_right(1);
    let two = evolve(&one.config, &two).unwrap().config;
    assert_eq!(two.doc_mapping.added_fields, ["o.x\\.y", "p.q", "p.r"]);
    assert_eq!(two.doc_mapping.field_mappings[0].name, "ts");
    let numbers = |config: &IndexConfig| -> Vec<String> {
        let schema = crate::DocMapper::new(config).unwrap();
        let schema = schema.schema().clone();
        schema
            .fields()
            .map(|(_, entry)| entry.name().to_owned())
            .collect()
    };
    let all = numbers(&two);
    for (num, wanted) in [(0, &was), (1, &one.config)] {
        let older = two.with_added_fields(num);
        assert_eq!(older.doc_mapping, wanted.doc_mapping);
        assert_eq!(numbers(&older), all[..all.len() - (3 - num)]);
    }
    assert_eq!(two.with_added_fields(3), two);
    assert_eq!(two.with_added_fields(2).doc_mapping.tag_fields, ["p.q"]);
}

#[test]
fn tokenizers_may_come_and_go_and_never_change() {
    let with = |tokenizers: Value, tokenizer: &str| {
        config(json!({ "tokenizers": tokenizers, "field_mappings": [
            { "name": "a", "type": "text", "tokenizer": tokenizer },
        ] }))
    };
    let grams =
        |max: u32| json!({ "name": "grams", "type": "ngram", "min_gram": 2, "max_gram": max });
    let plain = json!({ "name": "plain", "type": "simple" });
    let was = with(json!([grams(3)]), "grams");
    assert!(evolve(&was, &with(json!([plain, grams(3)]), "grams")).is_ok());
    assert!(evolve(&with(json!([]), "raw"), &with(json!([plain]), "raw")).is_ok());
    assert!(evolve(&with(json!([plain]), "raw"), &with(json!([]), "raw")).is_ok());
    let refused = evolve(&was, &with(json!([grams(4)]), "grams")).unwrap_err();
    assert_eq!(
        refused[0].to_string(),
        "doc_mapping.tokenizers.grams.max_gram was 3, and 4 is asked for: leave it as it was and define one of \
         another name for fields to come, or build a new index: the splits have the words that it made"
    );
}

#[test]
fn a_field_comes_with_all_its_ways_of_being_indexed_and_keeps_them() {
    let with = |fields: Value| config(json!({ "field_mappings": fields }));
    let old = json!({ "name": "old", "type": "text" });
    let new = json!({ "name": "new", "type": "text", "strategy": ["fulltext", "term"] });
    let all = json!({ "name": "all", "type": "concatenate", "concatenate_fields": ["old"] });
    let was = with(json!([old]));
    let grown = evolve(&was, &with(json!([all, new, old]))).unwrap();
    assert_eq!(grown.added_fields, ["all", "new", "new.term"]);
    let mapper = crate::DocMapper::new(&grown.config).unwrap();
    let names: Vec<&str> = mapper
        .schema()
        .fields()
        .map(|(_, entry)| entry.name())
        .collect();
    assert_eq!(names[5..], ["old", "all", "new", "new.term"]);
    assert_eq!(
        grown.config.with_added_fields(0).doc_mapping,
        was.doc_mapping
    );
    let more =
        json!({ "name": "old", "type": "text", "fields": { "raw": { "tokenizer": "raw" } } });
    assert!(evolve(&was, &with(json!([more]))).is_err());
}
