//! Templates of shippers, and which template an index is made of.

use super::*;

static NO_POLICIES: BTreeMap<String, Value> = BTreeMap::new();

/// Returns a template of the shape that Filebeat sends: hundreds of fields in objects, keywords for
/// unmapped texts, and a lifecycle.
fn of_filebeat() -> Value {
    let keyword = json!({"type": "keyword", "ignore_above": 1024});
    json!({
        "index_patterns": ["filebeat-8.17.0"], "priority": 150, "data_stream": {},
        "template": {
            "settings": {"index": {
                "lifecycle": {"name": "filebeat"}, "codec": "best_compression", "refresh_interval": "5s",
                "number_of_routing_shards": 30, "mapping": {"total_fields": {"limit": 12500}},
                "max_docvalue_fields_search": 200, "query": {"default_field": ["message", "tags"]},
            }},
            "mappings": {
                "_meta": {"beat": "filebeat", "version": "8.17.0"}, "date_detection": false,
                "dynamic_templates": [
                    {"labels": {"path_match": "labels.*", "match_mapping_type": "string", "mapping": {"type": "keyword"}}},
                    {"strings_as_keyword": {"match_mapping_type": "string", "mapping": keyword}},
                ],
                "properties": {
                    "@timestamp": {"type": "date"}, "message": {"type": "match_only_text"}, "tags": keyword,
                    "labels": {"type": "object"}, "error": {"properties": {"stack_trace": {
                        "type": "wildcard", "ignore_above": 1024, "fields": {"text": {"type": "match_only_text"}}}}},
                    "host": {"properties": {"ip": {"type": "ip"}, "cpu": {"properties": {
                        "usage": {"type": "scaled_float", "scaling_factor": 1000}}}}},
                    "source": {"properties": {"geo": {"properties": {
                        "location": {"type": "geo_point"}, "name": keyword}}, "bytes": {"type": "long"}}},
                    "process": {"properties": {"elf": {"properties": {"sections": {
                        "type": "nested", "properties": {"name": keyword, "size": {"type": "long"}}}}}}},
                    "cloud": {"properties": {"image": {"type": "flattened"}}},
                    "event": {"properties": {"created": {"type": "date"}, "sequence": {"type": "long"},
                        "original": {"type": "keyword", "ignore_above": 1024, "index": false, "doc_values": false}}},
                },
            },
        },
        "_meta": {"managed": true}, "version": 3,
    })
}

/// Returns a template of the shape that Logstash sends: words, with keywords as multi-fields, for
/// all unmapped texts.
fn of_logstash() -> Value {
    let words = json!({"type": "text", "norms": false, "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}});
    json!({
        "index_patterns": "logstash-*", "version": 80001, "priority": 200,
        "template": {
            "settings": {"index.refresh_interval": "5s", "number_of_shards": 1},
            "mappings": {
                "dynamic_templates": [
                    {"message_field": {"path_match": "message", "match_mapping_type": "string",
                        "mapping": {"type": "text", "norms": false}}},
                    {"string_fields": {"match": "*", "match_mapping_type": "string", "mapping": words}},
                ],
                "properties": {
                    "@timestamp": {"type": "date"}, "@version": {"type": "keyword"},
                    "geoip": {"dynamic": true, "properties": {
                        "ip": {"type": "ip"}, "location": {"type": "geo_point"},
                        "latitude": {"type": "half_float"}, "longitude": {"type": "half_float"}}},
                },
            },
        },
    })
}

/// Returns templates of the shapes common for Fluentd and Vector: a legacy one and one of
/// components.
fn of_fluentd() -> Value {
    json!({
        "index_patterns": ["fluentd-*"], "order": 1, "settings": {"number_of_shards": "2", "number_of_replicas": "0"},
        "mappings": {"_source": {"enabled": true}, "properties": {
            "@timestamp": {"type": "date", "format": "strict_date_optional_time||epoch_millis"},
            "kubernetes": {"properties": {"labels": {"type": "object", "dynamic": true}, "pod_name": {"type": "keyword"}}},
            "log": {"type": "text"}}},
    })
}

fn set_of<'t>(
    index: &'t BTreeMap<String, Value>,
    component: &'t BTreeMap<String, Value>,
    legacy: &'t BTreeMap<String, Value>,
) -> TemplateSet<'t> {
    TemplateSet {
        index,
        component,
        legacy,
        policies: &NO_POLICIES,
    }
}

fn by_name<const N: usize>(templates: [(&str, Value); N]) -> BTreeMap<String, Value> {
    templates.map(|(name, body)| (name.to_owned(), body)).into()
}

#[test]
fn templates_of_shippers_make_indexes() {
    let index = by_name([
        ("filebeat-8.17.0", of_filebeat()),
        ("logstash", of_logstash()),
    ]);
    let legacy = by_name([("fluentd", of_fluentd())]);
    let none = BTreeMap::new();
    let set = set_of(&index, &none, &legacy);
    for (name, body) in &index {
        check_template(TemplateKind::Index, name, body, set).unwrap();
    }
    check_template(TemplateKind::Legacy, "fluentd", &legacy["fluentd"], set).unwrap();
    let made = |name: &str| {
        let templated = set.of_index(name).unwrap().unwrap();
        let config = templated.index_config(name, None).unwrap();
        DocMapper::new(&config).unwrap();
        (config, templated.is_data_stream)
    };
    let (beat, is_stream) = made("filebeat-8.17.0");
    assert!(is_stream);
    assert_eq!(
        beat.doc_mapping.timestamp_field.as_deref(),
        Some("@timestamp")
    );
    assert_eq!(
        beat.search_settings.default_search_fields,
        ["message", "tags"]
    );
    assert_eq!(field(&beat, "host/cpu/usage").type_id(), "array<f64>");
    assert_eq!(field(&beat, "process/elf/sections").type_id(), "nested");
    assert!(!field(&beat, "event/original").indexed);
    // A template makes keywords of `labels.*`.
    let names: Vec<&str> = beat
        .doc_mapping
        .field_mappings
        .iter()
        .map(|field| field.name.as_str())
        .collect();
    assert!(names.contains(&"labels"), "{names:?}");
    let (stash, is_stream) = made("logstash-2026.11.05");
    assert!(!is_stream);
    assert_eq!(field(&stash, "geoip/latitude").type_id(), "array<f64>");
    let (fluentd, _) = made("fluentd-app");
    assert!(fluentd.search_settings.default_search_fields.is_empty());
    assert_eq!(set.of_index("other").unwrap(), None);
}

#[test]
fn the_template_with_the_highest_priority_counts_and_what_comes_later_in_it() {
    let keyword =
        |name: &str| json!({"template": {"mappings": {"properties": {name: {"type": "keyword"}}}}});
    let component = by_name([
        ("one", keyword("a.b")),
        ("two", keyword("a.c")),
        ("unused", keyword("d")),
    ]);
    let template = |priority: u64, kind: &str| {
        json!({
            "index_patterns": ["app-*", "web"], "priority": priority, "composed_of": ["one", "missing", "two"],
            "ignore_missing_component_templates": ["missing"],
            "template": {"mappings": {"properties": {"a": {"properties": {"c": {"type": kind}}}}}},
        })
    };
    let index = by_name([("high", template(9, "long")), ("low", template(1, "ip"))]);
    let none = BTreeMap::new();
    let set = set_of(&index, &component, &none);
    let templated = set.of_index("web").unwrap().unwrap();
    let own = json!({"mappings": {"properties": {"own": {"type": "ip"}}}});
    let own = IndexParts::read(&own, "the body").unwrap();
    let config = templated.index_config("web", Some(own)).unwrap();
    assert_eq!(field(&config, "a/b").type_id(), "array<text>");
    assert_eq!(field(&config, "a/c").type_id(), "array<i64>");
    assert_eq!(field(&config, "own").type_id(), "array<ip>");
    assert_eq!(set.composed_of("one"), ["high", "low"]);
    assert!(set.composed_of("unused").is_empty());
    for (body, part) in [
        (template(9, "long"), "same priority"),
        (json!({"index_patterns": []}), "[index_patterns]"),
        (
            json!({"index_patterns": ["x"], "composed_of": ["nowhere"]}),
            "[nowhere]",
        ),
        (
            json!({"index_patterns": ["x"], "nonsense": 1}),
            "[nonsense]",
        ),
        (
            json!({"index_patterns": ["x"], "template": {"aliases": "a"}}),
            "[aliases]",
        ),
        (
            json!({"index_patterns": ["x"], "template": {"mappings": {"properties": {"f": {"type": "x"}}}}}),
            "[x]",
        ),
        (json!([]), "no object"),
    ] {
        let error = check_template(TemplateKind::Index, "new", &body, set).unwrap_err();
        assert!(error.reason.contains(part), "{body}: {error}");
    }
    for name in ["", "_a", "a b", "A", "a*", "a,b", "a/b"] {
        let body = json!({"index_patterns": ["x"]});
        assert!(
            check_template(TemplateKind::Index, name, &body, set).is_err(),
            "{name}"
        );
    }
}

#[test]
fn objects_of_keywords_by_path_are_whole_values() {
    // As Jaeger's template has them.
    let keyword = json!({"type": "keyword", "ignore_above": 256});
    let mappings = json!({
        "dynamic_templates": [
            {"span_tags_map": {"mapping": keyword, "path_match": "tag.*"}},
            {"process_tags_map": {"mapping": keyword, "path_match": "process.tag.*"}},
            {"other": {"mapping": keyword, "path_match": "labels.*", "match_mapping_type": "string"}},
        ],
        "properties": {
            "tag": {"type": "object"},
            "process": {"properties": {"serviceName": keyword, "tag": {"type": "object"}}},
        },
    });
    let settings = json!({
        "index.mapping.nested_fields.limit": 50, "index.requests.cache.enable": true, "number_of_shards": 5,
    });
    let body = json!({"index_patterns": ["*jaeger-span-*"], "template": {"settings": settings, "mappings": mappings}});
    let set = TemplateSet {
        index: &BTreeMap::new(),
        component: &BTreeMap::new(),
        legacy: &BTreeMap::new(),
        policies: &NO_POLICIES,
    };
    check_template(TemplateKind::Index, "jaeger-span", &body, set).unwrap();
    let config = mapped(mappings).unwrap();
    for path in ["tag", "process/tag", "labels"] {
        let FieldKind::Json(json) = &field(&config, path).kind else {
            panic!("{path} has no values of any shape");
        };
        assert_eq!(json.tokenizer, "raw", "{path}");
    }
    // Other texts are words.
    let others = config.doc_mapping.dynamic_mapping.unwrap();
    assert!(matches!(others.kind, FieldKind::Json(json) if json.tokenizer == "standard"));
}

#[test]
fn a_policy_says_how_long_documents_of_its_indexes_are_kept() {
    let policy = json!({"policy": {"phases": {
        "hot": {"actions": {"rollover": {"max_age": "1d"}}}, "delete": {"min_age": "7d", "actions": {"delete": {}}}}}});
    let forever =
        json!({"policy": {"phases": {"hot": {"actions": {"rollover": {"max_age": "1d"}}}}}});
    let policies = by_name([("week", policy), ("forever", forever)]);
    let named = |name: &str| {
        by_name([(
            "logs",
            json!({"index_patterns": ["logs"], "data_stream": {}, "template": {"settings": {"index.lifecycle.name": name}}}),
        )])
    };
    for (name, period) in [("week", Some("7d")), ("forever", None), ("other", None)] {
        let index = named(name);
        let set = TemplateSet {
            index: &index,
            component: &BTreeMap::new(),
            legacy: &BTreeMap::new(),
            policies: &policies,
        };
        let templated = set.of_index("logs").unwrap().unwrap();
        let config = templated.index_config("logs", None).unwrap();
        let retention = config.retention.map(|retention| retention.period);
        assert_eq!(retention.as_deref(), period, "{name}");
    }
}
