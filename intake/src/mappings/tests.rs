//! Mappings and templates as shippers and applications send them.

use canter_doc_mapper::{DocMapper, FieldKind, FieldMapping, IndexConfig, Mode};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tantivy::schema::Value as _;
use tantivy::schema::document::{ReferenceValue, ReferenceValueLeaf};

use super::*;

mod arising;
mod languages;
mod templates;

fn config_of(body: &Value) -> Result<IndexConfig, MappingError> {
    index_config("logs", &[IndexParts::read(body, "the body")?], false)
}

fn mapped(mappings: Value) -> Result<IndexConfig, MappingError> {
    config_of(&json!({"mappings": mappings}))
}

/// Returns a field by its path.
fn field<'c>(config: &'c IndexConfig, path: &str) -> &'c FieldMapping {
    let mut fields = &config.doc_mapping.field_mappings;
    let mut parts = path.split('/').peekable();
    loop {
        let part = parts.next().unwrap();
        let found = fields.iter().find(|field| field.name == part);
        let found = found.unwrap_or_else(|| panic!("{path} in {fields:?}"));
        if parts.peek().is_none() {
            return found;
        }
        let FieldKind::Object(children) = &found.kind else {
            panic!("{part} of {path} is no object");
        };
        fields = children;
    }
}

#[test]
fn each_type_becomes_one_of_ours_that_takes_lists() {
    for (definition, type_id, fast) in [
        (json!({"type": "keyword"}), "array<text>", true),
        (json!({"type": "wildcard"}), "array<text>", true),
        (json!({"type": "constant_keyword"}), "array<text>", true),
        (json!({"type": "text"}), "array<text>", false),
        (
            json!({"type": "text", "fielddata": true}),
            "array<text>",
            true,
        ),
        (json!({"type": "match_only_text"}), "array<text>", false),
        (json!({"type": "long"}), "array<i64>", true),
        (
            json!({"type": "token_count", "analyzer": "standard"}),
            "array<i64>",
            true,
        ),
        (json!({"type": "search_as_you_type"}), "array<text>", false),
        (
            json!({"type": "integer_range"}),
            "array<integer_range>",
            false,
        ),
        (
            json!({"type": "long_range", "coerce": true}),
            "array<long_range>",
            false,
        ),
        (json!({"type": "float_range"}), "array<float_range>", false),
        (
            json!({"type": "double_range"}),
            "array<double_range>",
            false,
        ),
        (
            json!({"type": "date_range", "format": "yyyy-MM-dd||epoch_millis"}),
            "array<date_range>",
            false,
        ),
        (
            json!({"type": "ip_range", "doc_values": false}),
            "array<ip_range>",
            false,
        ),
        (json!({"type": "integer"}), "array<i64>", true),
        (json!({"type": "short"}), "array<i64>", true),
        (
            json!({"type": "byte", "doc_values": false}),
            "array<i64>",
            false,
        ),
        (json!({"type": "unsigned_long"}), "array<u64>", true),
        (json!({"type": "double"}), "array<f64>", true),
        (json!({"type": "float"}), "array<f64>", true),
        (json!({"type": "half_float"}), "array<f64>", true),
        (
            json!({"type": "scaled_float", "scaling_factor": 100}),
            "array<f64>",
            true,
        ),
        (json!({"type": "boolean"}), "array<bool>", true),
        (json!({"type": "ip"}), "array<ip>", true),
        (json!({"type": "date"}), "array<datetime>", true),
        (json!({"type": "date_nanos"}), "array<datetime>", true),
        (json!({"type": "binary"}), "array<bytes>", false),
        (json!({"type": "flattened"}), "array<json>", true),
        (
            json!({"type": "knn_vector", "dimension": 3, "method": {
                "name": "hnsw", "space_type": "cosinesimil", "engine": "lucene", "parameters": {"m": 16}}}),
            "dense_vector",
            false,
        ),
        (
            json!({"type": "nested", "properties": {"a": {"type": "keyword"}, "b": {"type": "text"}}}),
            "nested",
            false,
        ),
        (
            json!({"type": "object", "enabled": false}),
            "array<json>",
            false,
        ),
    ] {
        let config = mapped(json!({"properties": {"f": definition}}));
        let config = config.unwrap_or_else(|error| panic!("{definition}: {error}"));
        let field = field(&config, "f");
        assert_eq!(
            (field.type_id().as_str(), field.fast.is_some()),
            (type_id, fast),
            "{definition}"
        );
        DocMapper::new(&config).unwrap();
    }
}

#[test]
fn what_would_not_mean_the_same_is_refused_by_name() {
    for (mappings, part) in [
        (
            json!({"properties": {"f": {"type": "sparse_vector"}}}),
            "[sparse_vector]",
        ),
        (
            json!({"properties": {"f": {"type": "dense_vector", "dims": 4097}}}),
            "[dims] of field [f]",
        ),
        (
            json!({"properties": {"f": {"type": "dense_vector", "dims": 8, "similarity": "manhattan"}}}),
            "[similarity] of field [f] is one of",
        ),
        (
            json!({"properties": {"f": {"type": "dense_vector", "dims": 12, "element_type": "bit"}}}),
            "a multiple of 8",
        ),
        (
            json!({"properties": {"o": {"type": "nested", "properties": {"f": {"type": "dense_vector", "dims": 8}}}}}),
            "nested object",
        ),
        (
            json!({"properties": {"f": {"type": "knn_vector", "dimension": 2, "space_type": "l1"}}}),
            "[space_type] of field [f] is one of",
        ),
        (
            json!({"properties": {"f": {"type": "knn_vector", "dimension": 8, "data_type": "binary"}}}),
            "[data_type] of field [f] is one of",
        ),
        (
            json!({"properties": {"f": {"type": "alias", "path": "g"}}}),
            "[path] value [g]",
        ),
        (
            json!({"properties": {"f": {"type": "date", "copy_to": "all"}}}),
            "[copy_to]",
        ),
        (
            json!({"properties": {"f": {"type": "keyword", "copy_to": "n"}, "n": {"type": "long"}}}),
            "[copy_to]",
        ),
        (
            json!({"properties": {"f": {"type": "keyword", "copy_to": "a.b"}}}),
            "[a.b]",
        ),
        (
            json!({"properties": {"f": {"type": "long", "null_value": "many"}}}),
            "[null_value]",
        ),
        (
            json!({"properties": {"f": {"type": "keyword", "ignore_above": "long"}}}),
            "[ignore_above]",
        ),
        (
            json!({"properties": {"f": {"type": "text", "fields": {
                "keyword": {"type": "keyword"}, "short": {"type": "keyword", "ignore_above": 8}}}}}),
            "[ignore_above]",
        ),
        (
            json!({"properties": {"f": {"type": "keyword", "nonsense": 1}}}),
            "[nonsense]",
        ),
        (
            json!({"properties": {"f": {"type": "keyword", "normalizer": "mine"}}}),
            "[mine]",
        ),
        (
            json!({"properties": {"f": {"type": "text", "analyzer": "mine"}}}),
            "[mine]",
        ),
        (
            json!({"properties": {"f": {"type": "text", "search_quote_analyzer": "keyword"}}}),
            "[search_quote_analyzer]",
        ),
        (
            json!({"properties": {"@timestamp": {"type": "date", "ignore_malformed": true}}}),
            "[ignore_malformed]",
        ),
        (
            json!({"properties": {"f": {"type": "geo_point", "fields": {"k": {"type": "keyword"}}}}}),
            "[fields]",
        ),
        (
            json!({"properties": {"f": {"type": "text", "fields": {"c": {"type": "completion"}}}}}),
            "[completion]",
        ),
        (
            json!({"properties": {"f": {"type": "keyword", "fields": {"s": {"type": "search_as_you_type"}}}}}),
            "[search_as_you_type]",
        ),
        (
            json!({"properties": {"f": {"type": "keyword", "copy_to": "c"}, "c": {"type": "completion"}}}),
            "[completion]",
        ),
        (
            json!({"properties": {"f": {"type": "keyword", "copy_to": "s"}, "s": {"type": "search_as_you_type"}}}),
            "[search_as_you_type]",
        ),
        (
            json!({"properties": {"f": {"type": "keyword", "copy_to": "g"}, "g": {"type": "keyword", "fields": {"n": {"type": "long"}}}}}),
            "[fields]",
        ),
        (
            json!({"properties": {"f": {"type": "token_count", "analyzer": "standard", "copy_to": "all"}}}),
            "[token_count]",
        ),
        (
            json!({"properties": {"f": {"type": "date", "format": "hour_minute"}}}),
            "[hour_minute]",
        ),
        (
            json!({"properties": {"f": {"type": "constant_keyword", "value": ["x"]}}}),
            "[value]",
        ),
        (
            json!({"properties": {"a..b": {"type": "keyword"}}}),
            "[a..b]",
        ),
        (
            json!({"properties": {"f": {"type": "geo_shape"}}}),
            "[geo_shape]",
        ),
        (
            json!({"properties": {"f": {"type": "geo_point", "null_value": "a"}}}),
            "[null_value]",
        ),
        (json!({"dynamic": "runtime"}), "[dynamic]"),
        (json!({"_source": {"excludes": [1]}}), "[excludes]"),
        (json!({"_source": {"compress": true}}), "[compress]"),
        (
            json!({"properties": {"f": {"type": "completion", "contexts": [{"name": "c", "type": "x"}]}}}),
            "[type]",
        ),
        (
            json!({"properties": {"f": {"type": "completion", "fields": {"g": {"type": "completion", "max_input_length": 9}}}}}),
            "[f.g]",
        ),
        (json!({"_routing": {"required": true}}), "[_routing]"),
        (json!({"runtime": {"r": {"type": "long"}}}), "[runtime]"),
        (json!({"numeric_detection": 1}), "[numeric_detection]"),
        (json!({"dynamic_date_formats": ["hh oo"]}), "[hh oo]"),
        (json!({"nonsense": true}), "[nonsense]"),
        (
            json!({"dynamic_templates": [{"shapes": {"match": "*_area", "mapping": {"type": "geo_shape"}}}]}),
            "[shapes]",
        ),
        (
            json!({"dynamic_templates": [{"odd": {"match": "(", "match_pattern": "regex", "mapping": {}}}]}),
            "[odd]",
        ),
        (
            json!({"dynamic_templates": [{"late": {"match": "*", "runtime": {"type": "long"}}}]}),
            "[runtime]",
        ),
    ] {
        let error = mapped(mappings.clone()).unwrap_err();
        assert!(error.reason.contains(part), "{mappings}: {error}");
        assert_eq!(
            error.kind, "mapper_parsing_exception",
            "{mappings}: {error}"
        );
    }
    for (body, part) in [
        (
            json!({"settings": {"index": {"nonsense": 1}}}),
            "[index.nonsense]",
        ),
        (
            json!({"settings": {"index.analysis.analyzer.a.type": "custom"}}),
            "analyzer [a]",
        ),
        (
            json!({"settings": {"blocks": {"metadata": true}}}),
            "[index.blocks.metadata]",
        ),
        (json!({"settings": {"mode": "time_series"}}), "[index.mode]"),
        (
            json!({"settings": {"similarity": {"own": {"type": "BM25", "k1": 2.0}}}}),
            "[index.similarity.own.k1]",
        ),
        (
            json!({"settings": {"mapping": {"source": {"mode": "disabled"}}}}),
            "source.mode",
        ),
        (json!({"aliases": ["a"]}), "[aliases]"),
        (json!({"mapping": {}}), "[mapping]"),
    ] {
        let error = config_of(&body).unwrap_err();
        assert!(error.reason.contains(part), "{body}: {error}");
    }
}

#[test]
fn texts_are_indexed_in_other_ways_under_their_own_names() {
    let config = mapped(json!({"properties": {
        "message": {"type": "text", "norms": false, "fields": {
            "keyword": {"type": "keyword", "ignore_above": 256},
            "english": {"type": "text", "analyzer": "english"}}},
        "path": {"type": "keyword", "normalizer": "lowercase", "fields": {"text": {"type": "match_only_text"}}},
    }}))
    .unwrap();
    let ways = |path: &str| {
        let FieldKind::Text(text) = &field(&config, path).kind else {
            panic!("{path} is no text");
        };
        let others = text.variants.iter();
        let others = others.map(|way| format!("{}:{}", way.name, way.tokenizer));
        let in_column = text
            .whole_values
            .iter()
            .map(|name| format!("{name}:column"));
        let others = others.chain(in_column).collect::<Vec<_>>();
        (text.tokenizer.clone(), others.join(" "))
    };
    let of = |own: &str, others: &str| (own.to_owned(), others.to_owned());
    assert_eq!(
        ways("message"),
        of("standard", "english:english keyword:column")
    );
    assert_eq!(ways("path"), of("lowercase", "text:standard"));
    // The keyword is the column of the field.
    assert!(field(&config, "message").fast.is_some());
    assert_eq!(field(&config, "message").ignore_above, Some(256));
    // All of them.
    assert!(config.search_settings.default_search_fields.is_empty());
}

#[test]
fn fields_of_any_type_get_the_values_of_another() {
    let config = mapped(json!({"properties": {
        "when": {"type": "date", "fields": {"keyword": {"type": "keyword"}, "text": {"type": "text"}}},
        "code": {"type": "keyword", "fields": {
            "number": {"type": "long", "ignore_malformed": true},
            "short": {"type": "keyword", "ignore_above": 3},
            "words": {"type": "token_count", "analyzer": "standard"}}},
        "message": {"type": "text", "fields": {"length": {"type": "token_count", "analyzer": "whitespace"}}},
    }}))
    .unwrap();
    let subs = |path: &str| {
        let subs = field(&config, path).sub_fields.iter();
        let subs = subs.map(|own| format!("{} {} {:?}", own.name, own.type_id(), own.counted_by));
        subs.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(
        subs("when"),
        "keyword array<text> None, text array<text> None"
    );
    assert_eq!(
        subs("code"),
        "number array<i64> None, short array<text> None, words array<i64> Some(\"standard\")"
    );
    assert_eq!(subs("message"), "length array<i64> Some(\"whitespace\")");
    // As it was written into the index.
    let written = serde_json::to_string(&config).unwrap();
    let read = IndexConfig::from_json(written.as_bytes());
    assert_eq!(read.unwrap(), config);
    // Left out, they stay.
    let again = json!({"properties": {"when": {"type": "date"}}});
    let again = with_mapping(&config, &again).unwrap();
    assert_eq!(field(&again, "when"), field(&config, "when"));
    for wrong in [
        json!({"type": "long", "fields": {"at": {"type": "geo_point"}}}),
        json!({"type": "long", "fields": {"all": {"type": "keyword", "copy_to": "other"}}}),
        json!({"type": "long", "fields": {"a": {"type": "long", "fields": {"b": {"type": "long"}}}}}),
        json!({"type": "geo_point", "fields": {"a": {"type": "keyword"}}}),
    ] {
        let error = mapped(json!({"properties": {"x": wrong}})).unwrap_err();
        assert!(error.reason.contains("[x"), "{error}");
    }
}

#[test]
fn what_is_not_mapped_is_found_kept_or_refused() {
    for (dynamic, mode, tokenizer) in [
        (json!(true), Mode::Dynamic, Some("standard")),
        (json!("false"), Mode::Lenient, None),
        (json!("strict"), Mode::Strict, None),
    ] {
        let config = mapped(json!({"dynamic": dynamic})).unwrap();
        assert_eq!(config.doc_mapping.mode, mode);
        let of_dynamic = config.doc_mapping.dynamic_mapping.as_ref();
        let own = of_dynamic.map(|field| match &field.kind {
            FieldKind::Json(json) => json.tokenizer.as_str(),
            other => panic!("{other:?}"),
        });
        assert_eq!(own, tokenizer);
        // Hits show the whole document, whether its fields are indexed or not.
        assert!(config.doc_mapping.store_source);
    }
    let keywords = json!({"dynamic_templates": [{"strings": {
        "match_mapping_type": "string", "mapping": {"type": "keyword", "ignore_above": 1024}}}]});
    let config = mapped(keywords).unwrap();
    let dynamic = config.doc_mapping.dynamic_mapping.unwrap();
    assert!(matches!(dynamic.kind, FieldKind::Json(json) if json.tokenizer == "raw"));
}

#[test]
fn the_time_of_a_document_is_its_timestamp_or_what_the_mapping_names() {
    let timestamp = |mappings: Value, is_stream: bool| {
        let parts = IndexParts::read(&json!({"mappings": mappings}), "the body").unwrap();
        let config = index_config("logs", &[parts], is_stream).unwrap();
        config.doc_mapping.timestamp_field
    };
    let date = json!({"type": "date", "format": "epoch_millis"});
    assert_eq!(timestamp(json!({}), false), None);
    assert_eq!(timestamp(json!({}), true).as_deref(), Some("@timestamp"));
    let mapped = json!({"properties": {"@timestamp": date}});
    assert_eq!(timestamp(mapped, false).as_deref(), Some("@timestamp"));
    let named = json!({"_meta": {"canter": {"timestamp_field": "at"}}, "properties": {"at": date}});
    assert_eq!(timestamp(named, false).as_deref(), Some("at"));
    let body = json!({"mappings": {"properties": {"@timestamp": date}}, "lifecycle": {"data_retention": "7d"}});
    assert_eq!(config_of(&body).unwrap().retention.unwrap().period, "7d");
    let without = json!({"lifecycle": {"data_retention": "7d"}});
    assert!(
        config_of(&without)
            .unwrap_err()
            .reason
            .contains("retention")
    );
}

#[test]
fn a_name_that_a_config_may_not_have_becomes_one_that_it_may() {
    for (name, id) in [
        ("logs", "logs"),
        ("filebeat-8.17.0", "filebeat-8-17-0"),
        ("2026.11.05", "i-2026-11-05"),
        ("a", "a--"),
    ] {
        assert_eq!(index_id_of(name), id);
        assert!(index_config(name, &[], false).is_ok(), "{name}");
    }
}

#[test]
fn documents_with_lists_and_scalars_are_taken_as_elasticsearch_takes_them() {
    let config = mapped(json!({"properties": {
        "@timestamp": {"type": "date"}, "tags": {"type": "keyword"}, "n": {"type": "long"},
        "hosts": {"type": "nested", "properties": {"ip": {"type": "ip"}}}, "day": {"type": "date", "format": "yyyy/MM/dd"},
    }}))
    .unwrap();
    let mapper = DocMapper::new(&config).unwrap();
    for (document, is_taken) in [
        (
            json!({"@timestamp": "2026-11-05T10:00:00.000Z", "tags": ["a", "b"], "n": "7"}),
            true,
        ),
        (
            json!({"@timestamp": 1_762_336_800_000_u64, "tags": "a", "n": [1, 2]}),
            true,
        ),
        (
            json!({"@timestamp": "2026-11-05", "hosts": [{"ip": "::1"}, {"ip": "10.0.0.1"}]}),
            true,
        ),
        (
            json!({"@timestamp": "2026-11-05T10:00:00+01:00", "day": "2026/11/05", "other": {"x": 1}}),
            true,
        ),
        (json!({"tags": "a"}), false),
        (json!({"@timestamp": "2026-11-05", "n": "many"}), false),
    ] {
        let parsed = mapper.parse_doc(document.to_string().as_bytes());
        assert_eq!(parsed.is_ok(), is_taken, "{document}: {:?}", parsed.err());
    }
}

#[test]
fn analyzers_of_elasticsearch_are_tokenizers_of_the_same_words() {
    for (analyzer, tokenizer) in [
        (json!(null), "standard"),
        (json!("standard"), "standard"),
        (json!("simple"), "letters"),
        (json!("stop"), "letters_stop"),
        (json!("whitespace"), "whitespace"),
        (json!("keyword"), "raw"),
        (json!("english"), "english"),
    ] {
        let config = mapped(json!({"properties": {"f": {"type": "text", "analyzer": analyzer}}}));
        let config = config.unwrap();
        let FieldKind::Text(text) = &field(&config, "f").kind else {
            panic!("{analyzer}");
        };
        assert_eq!(text.tokenizer, tokenizer, "{analyzer}");
    }
}

#[test]
fn values_are_converted_copied_and_put_in_place_of_null() {
    let config = mapped(json!({"dynamic": "strict", "properties": {
        "title": {"type": "text", "copy_to": ["all", "tag"]},
        "size": {"type": "integer", "copy_to": "all", "null_value": 7},
        "level": {"type": "keyword", "null_value": "none"},
        "flag": {"type": "boolean", "null_value": "true"},
        "tag": {"type": "keyword"},
        "seen": {"type": "date", "null_value": "2024-05-01"},
    }}))
    .unwrap();
    assert_eq!(field(&config, "all").type_id(), "concatenate");
    assert!(config.search_settings.default_search_fields.is_empty());
    let mapper = DocMapper::new(&config).unwrap();
    let values = |document: &Value, name: &str| -> Vec<String> {
        let parsed = mapper.parse_doc(document.to_string().as_bytes()).unwrap();
        let field = mapper.resolve(name).unwrap().field;
        let values = parsed.document.get_all(field);
        values
            .map(|value| match value.as_value() {
                ReferenceValue::Leaf(leaf) => match leaf {
                    ReferenceValueLeaf::Str(text) => text.to_owned(),
                    ReferenceValueLeaf::I64(number) => number.to_string(),
                    ReferenceValueLeaf::Bool(flag) => flag.to_string(),
                    ReferenceValueLeaf::Date(date) => date.into_timestamp_secs().to_string(),
                    other => panic!("{other:?}"),
                },
                _ => panic!("{name}"),
            })
            .collect()
    };
    let document = json!({"title": [3, 5.0, 1.5, true], "size": [42.7, "42.7", "-1.9", "8"],
        "level": false, "flag": ["false", "true", ""]});
    assert_eq!(values(&document, "title"), ["3", "5.0", "1.5", "true"]);
    assert_eq!(values(&document, "size"), ["42", "42", "-1", "8"]);
    assert_eq!(values(&document, "level"), ["false"]);
    assert_eq!(values(&document, "flag"), ["false", "true", "false"]);
    assert_eq!(values(&document, "tag"), ["3", "5.0", "1.5", "true"]);
    let nulls =
        json!({"title": null, "size": [null, 1], "level": null, "flag": null, "seen": null});
    assert_eq!(values(&nulls, "title"), [""; 0]);
    assert_eq!(values(&nulls, "size"), ["7", "1"]);
    assert_eq!(values(&nulls, "all"), ["7", "1"]);
    assert_eq!(values(&nulls, "level"), ["none"]);
    assert_eq!(values(&nulls, "flag"), ["true"]);
    assert_eq!(values(&nulls, "seen"), ["1714521600"]);
    for wrong in [
        json!({"flag": "yes"}),
        json!({"size": "many"}),
        json!({"flag": 1}),
    ] {
        assert!(
            mapper.parse_doc(wrong.to_string().as_bytes()).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn fields_are_added_to_an_index_and_others_stay_as_they_are() {
    let keyword = json!({"type": "keyword", "ignore_above": 256});
    let was = mapped(json!({"dynamic": "strict", "properties": {
        "level": {"type": "text", "fields": {"keyword": keyword}},
        "host": {"properties": {"name": {"type": "keyword"}}}}}))
    .unwrap();
    let added = |mapping: Value| {
        let asked = with_mapping(&was, &mapping).unwrap();
        canter_doc_mapper::evolution::evolve(&was, &asked)
    };
    let more = added(json!({"properties": {
        "level": {"type": "text"},
        "host": {"properties": {"ip": {"type": "ip"}}},
        "message": {"type": "text"}}}))
    .unwrap();
    assert_eq!(more.added_fields, ["host.ip", "message"]);
    assert_eq!(field(&more.config, "level"), field(&was, "level"));
    assert_eq!(field(&more.config, "host/name"), field(&was, "host/name"));
    assert!(more.config.search_settings.default_search_fields.is_empty());
    let named = added(json!({"properties": {"level": {"type": "text", "fields": {
        "keyword": keyword, "raw": keyword}}}}));
    assert!(field(&named.unwrap().config, "level").kind.type_name() == "text");
    for changed in [
        json!({"properties": {"level": {"type": "keyword"}}}),
        json!({"properties": {"level": {"type": "long"}}}),
        json!({"properties": {"level": {"type": "text", "analyzer": "simple"}}}),
    ] {
        assert!(added(changed.clone()).is_err(), "{changed}");
    }
    assert!(with_mapping(&was, &json!({"properties": {"f": {"type": "none"}}})).is_err());
    assert!(with_mapping(&was, &json!([])).is_err());
}

/// As LangChain's store makes its index.
#[test]
fn a_similarity_may_have_a_name_if_it_is_that_of_all_fields() {
    let body = json!({
        "settings": {"similarity": {"custom_bm25": {"type": "BM25", "b": 0.75}}},
        "mappings": {"properties": {"text": {"type": "text", "similarity": "custom_bm25"}}},
    });
    let config = config_of(&body).unwrap();
    let shown = config.doc_mapping.elasticsearch_mapping.unwrap();
    assert!(
        shown.contains("custom_bm25"),
        "it is shown as it was put: {shown}"
    );
    let other = json!({"mappings": body["mappings"]});
    assert!(
        config_of(&other)
            .unwrap_err()
            .reason
            .contains("custom_bm25")
    );
}

#[test]
fn a_completion_has_contexts_and_further_names() {
    let config = mapped(json!({"properties": {"f": {
        "type": "completion", "analyzer": "standard", "max_input_length": 20,
        "contexts": [
            {"name": "kind", "type": "category", "path": "k"},
            {"name": "place", "type": "geo", "precision": "5km"},
            {"name": "near", "type": "geo"},
        ],
        "fields": {"raw": {"type": "keyword"}},
    }}}))
    .unwrap();
    let FieldKind::Text(text) = &field(&config, "f").kind else {
        panic!("it is a text");
    };
    let completion = text.completion.as_ref().unwrap();
    assert_eq!(completion.analyzer, "standard");
    assert_eq!(completion.max_input_length, 20);
    let contexts = completion.contexts.iter();
    let contexts: Vec<_> = contexts
        .map(|context| {
            (
                context.name.as_str(),
                context.path.as_deref(),
                context.geohash,
            )
        })
        .collect();
    let expected = [
        ("kind", Some("k"), None),
        ("place", None, Some(6)),
        ("near", None, Some(6)),
    ];
    assert_eq!(contexts, expected);
    assert_eq!(text.variants[0].name, "raw");
    let same = mapped(json!({"properties": {"f": {
        "type": "completion", "fields": {"g": {"type": "completion"}, "h": {"type": "completion"}},
    }}}));
    let FieldKind::Text(text) = &field(same.as_ref().unwrap(), "f").kind else {
        panic!("it is a text");
    };
    let completion = text.completion.as_ref().unwrap();
    assert_eq!(
        (completion.analyzer.as_str(), &*completion.names),
        ("letters", ["g", "h"].map(str::to_owned).as_slice())
    );
    // Left out, they stay.
    let was = same.as_ref().unwrap();
    let again = with_mapping(was, &json!({"properties": {"f": {"type": "completion"}}})).unwrap();
    assert_eq!(field(&again, "f"), field(was, "f"));
    canter_doc_mapper::evolution::evolve(was, &again).unwrap();
}

#[test]
fn settings_and_source_say_what_searches_show() {
    let body = json!({
        "settings": {"index.highlight.max_analyzed_offset": 10, "max_slices_per_scroll": "7"},
        "mappings": {
            "_source": {"excludes": ["a.secret"]},
            "properties": {"a": {"properties": {
                "secret": {"type": "text", "store": true},
                "text": {"type": "text", "index_options": "offsets", "fields": {"v": {"type": "text", "term_vector": "with_positions_offsets"}}},
            }}},
        },
    });
    let config = config_of(&body).unwrap();
    let shown = config.doc_mapping.shown_source.clone().unwrap();
    assert_eq!(shown.excludes, ["a.secret"]);
    assert_eq!(shown.stored_fields, ["a.secret"]);
    let search = &config.search_settings;
    assert_eq!(search.max_analyzed_offset, Some(10));
    assert_eq!(search.fields_with_offsets, ["a.text", "a.text.v"]);
    assert_eq!(search.max_slices_per_scroll, Some(7));
    let changed = with_settings(
        &config,
        &json!({"index": {"max_slices_per_scroll": 9, "refresh_interval": "1s"}}),
    )
    .unwrap();
    assert_eq!(changed.search_settings.max_slices_per_scroll, Some(9));
    assert_eq!(changed.search_settings.max_analyzed_offset, Some(10));
    assert_eq!(changed.doc_mapping, config.doc_mapping);
    for (settings, part) in [
        (json!({"number_of_shards": 2}), "non dynamic"),
        (json!({"index": {"x": 2}}), "[index.x]"),
        (json!({"max_slices_per_scroll": 0}), "must be >= 1"),
        (json!([]), "is an object"),
    ] {
        let error = with_settings(&config, &settings).unwrap_err();
        assert!(error.to_string().contains(part), "{settings}: {error}");
    }
    let off = mapped(json!({"_source": {"enabled": false}})).unwrap();
    assert_eq!(off.doc_mapping.shown_source.unwrap().excludes, ["*"]);
}
