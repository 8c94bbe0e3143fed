//! Refused configs, with the exact messages.

use super::*;

#[track_caller]
fn check(yaml: &str, expect: &str) {
    assert_eq!(load(yaml).unwrap_err().to_string(), expect, "{yaml}");
}

/// Checks fields that start at line 4, one on each line.
#[track_caller]
fn check_fields(fields: &str, rest: &str, expect: &str) {
    let list: String = fields.lines().map(|f| format!("    - {{{f}}}\n")).collect();
    check(
        &format!("version: 0.8\nindex_id: abc\ndoc_mapping: \n  field_mappings:\n{list}{rest}"),
        expect,
    );
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_what_is_allowed() {
    check_fields(
        "name: body, type: text, tokeniser: raw",
        "",
        r#"line 5: unknown key "tokeniser" in field mapping "body"; allowed: name, type, description, stored, indexed, strategy, tokenizer, search_tokenizer, record, fieldnorms, fields, completion, fast, ignore_above, null_value, constant, needle, sub_fields, aliases"#,
    );
    check_fields(
        "name: n, type: u64, tokenizer: raw",
        "",
        r#"line 5: unknown key "tokenizer" in field mapping "n"; allowed: name, type, description, stored, indexed, strategy, fast, needle, null_value, ignore_malformed, coerce, output_format, counted_by, width, scaling_factor, sub_fields, aliases"#,
    );
    check(
        "version: 0.8\nindex_id: abc\nsearch_setings: {}\n",
        r#"line 3: unknown key "search_setings" in the index config; allowed: version, index_id, index_uri, doc_mapping, search_settings, indexing_settings, ingest_settings, retention"#,
    );
    check(
        "version: 0.8\nindex_id: abc\nindexing_settings:\n  merge_policy:\n    type: no_merge\n    merge_factor: 3\n",
        r#"line 6: unknown key "merge_factor" in indexing_settings.merge_policy; allowed: type"#,
    );
    check(
        "version: 0.8\nindex_id: abc\nretention:\n  period: 1 day\n  period: 2 days\n",
        r#"line 5: key "period" appears twice in retention"#,
    );
}

/// Quickwit has two kinds of config files, only one of which describes an index.
#[test]
fn a_config_of_quickwits_node_is_refused() {
    check(
        "version: 0.8\nnode_id: n1\nmetastore_uri: s3://logs/indexes\n",
        r#"line 2: unknown key "node_id" in the index config; allowed: version, index_id, index_uri, doc_mapping, search_settings, indexing_settings, ingest_settings, retention"#,
    );
}

#[test]
fn a_wrong_value_is_named_with_its_line_and_what_is_allowed() {
    check_fields(
        "name: a, type: txt",
        "",
        r#"line 5: "type" in field mapping "a" must be one of text, i64, u64, f64, bool, datetime, ip, bytes, geo_point, integer_range, long_range, float_range, double_range, date_range, ip_range, json, array<…> of these, dense_vector, object, nested, concatenate; got "txt""#,
    );
    check_fields(
        "name: a, type: text, tokenizer: klingon",
        "",
        r#"line 5: "tokenizer" in field mapping "a" must be one of raw, lowercase, raw_lowercase, default, en_stem, whitespace, chinese_compatible, source_code_default, standard, letters, letters_stop, level, english, raw_ascii_folding, raw_folded; got "klingon""#,
    );
    check_fields(
        "name: a, type: text, stored: yes",
        "",
        r#"line 5: "stored" must be true or false, got the string "yes""#,
    );
    check_fields(
        "name: a, type: text, record: all",
        "",
        r#"line 5: "record" must be one of basic, freq, position, got the string "all""#,
    );
    check_fields(
        "name: 3, type: text",
        "",
        r#"line 5: "name" must be a string, got the number 3"#,
    );
    check_fields(
        "name: a, type: u64, fast: {normalizer: raw}",
        "",
        r#"line 5: "fast" must be true or false, got a map"#,
    );
    check_fields(
        "name: a, type: text, fast: maybe",
        "",
        r#"line 5: "fast" must be true, false or {normalizer: raw | lowercase}, got the string "maybe""#,
    );
    check_fields(
        "name: a",
        "",
        r#"line 5: field mapping "a" needs the key "type""#,
    );
    check_fields(
        "type: text",
        "",
        r#"line 5: a field mapping needs the key "name""#,
    );
    check(
        "version: 0.8\nindex_id: abc\ndoc_mapping:\n  mode: loose\n",
        r#"line 4: "mode" must be one of dynamic, lenient, strict, got the string "loose""#,
    );
    check(
        "version: 0.8\nindex_id: abc\ndoc_mapping:\n  max_num_partitions: 0\n",
        r#"line 4: "max_num_partitions" must be an integer from 1 to 4294967295, got the number 0"#,
    );
    check(
        "version: 0.8\nindex_id: abc\ndoc_mapping:\n  tag_fields: a\n",
        r#"line 4: "tag_fields" must be a list, got the string "a""#,
    );
    check(
        "version: 0.3\nindex_id: abc\n",
        r#"line 1: "version" must be one of 0.4, 0.5, 0.6, 0.7, 0.8, 0.9; got 0.3"#,
    );
    check(
        "index_id: abc\n",
        r#"line 1: "version" must be one of 0.4, 0.5, 0.6, 0.7, 0.8, 0.9"#,
    );
    check(
        "version: 0.8\n",
        r#"line 1: the index config needs the key "index_id""#,
    );
    check(
        "version: 0.8\nindex_id: 1abc\n",
        r#"line 2: "index_id" must be 3 to 255 ASCII letters, digits, "-" and "_", and start with a letter; got "1abc""#,
    );
    check(
        "version: 0.8\nindex_id: abc\nretention: {period: soon}\n",
        r#"line 3: "period": "soon" is not a duration; write an integer and a unit, such as "90 days" or "48h""#,
    );
    check(
        "version: 0.8\nindex_id: abc\nretention: {schedule: daily}\n",
        r#"line 3: retention needs the key "period""#,
    );
    check(
        "version: 0.8\nindex_id: abc\nindexing_settings:\n  merge_policy: {merge_factor: 10, max_merge_factor: 9}\n",
        r#"line 4: "max_merge_factor" must be at least "merge_factor" (10), got 9"#,
    );
    check(
        "version: 0.8\nindex_id: abc\nindexing_settings:\n  resources: {heap_size: big}\n",
        r#"line 4: "heap_size": "big" is not a size in bytes; write a number and a unit, such as "2GB""#,
    );
}

#[test]
fn names_follow_the_rules() {
    check_fields(
        "name: _source, type: text",
        "",
        r#"line 5: field name "_source" is reserved, as are _doc_length, _dynamic, _field_presence, _source, _verbatim"#,
    );
    check_fields(
        "name: -a, type: text",
        "",
        r#"line 5: field name "-a" is not allowed: 1 to 255 bytes without control characters, of which the first is no `-`"#,
    );
    check_fields(
        r#"name: "a\tb", type: text"#,
        "",
        r#"line 5: field name "a\tb" is not allowed: 1 to 255 bytes without control characters, of which the first is no `-`"#,
    );
    check_fields(
        "name: a, type: text\nname: b, type: u64\nname: a, type: u64",
        "",
        r#"line 7: field "a" is mapped twice"#,
    );
    let odd = [
        "Start Time",
        ".a",
        "1",
        "größe",
        "日本",
        "x[0]",
        "a:b",
        "*",
        " ",
    ];
    for allowed in ["@timestamp", "$a", "_a", "a/b.c-d"].into_iter().chain(odd) {
        let config = load(&format!("version: 0.8\nindex_id: abc\ndoc_mapping: {{field_mappings: [{{name: '{allowed}', type: text}}]}}\n")).unwrap();
        crate::DocMapper::new(&config).unwrap();
    }
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    check_fields(
        "name: a, type: text, indexed: false, tokenizer: raw",
        "",
        r#"line 5: "tokenizer" in field mapping "a" is allowed only if "indexed" is true"#,
    );
    check_fields(
        "name: a, type: json, indexed: false, record: freq",
        "",
        r#"line 5: "record" in field mapping "a" is allowed only if "indexed" is true"#,
    );
    check_fields(
        "name: a, type: text, indexed: false, fieldnorms: true",
        "",
        r#"line 5: "fieldnorms" in field mapping "a" is allowed only if "indexed" is true"#,
    );
    check_fields(
        "name: a, type: u64, fast: true, indexed: false, needle: true",
        "",
        r#"line 5: "needle" in field mapping "a" is allowed only if "indexed" is true"#,
    );
    check_fields(
        "name: a, type: array<bytes>, fast: true",
        "",
        r#"line 5: field mapping "a": "fast" is not allowed for array<bytes>"#,
    );
    check_fields(
        "name: a, type: object",
        "",
        r#"line 5: field mapping "a": an object needs at least one entry in "field_mappings""#,
    );
    check_fields(
        "name: a, type: array<object>",
        "",
        r#"line 5: "type" in field mapping "a" must be one of text, i64, u64, f64, bool, datetime, ip, bytes, geo_point, integer_range, long_range, float_range, double_range, date_range, ip_range, json, array<…> of these, dense_vector, object, nested, concatenate; got "array<object>""#,
    );
    check(
        "version: 0.8\nindex_id: abc\ndoc_mapping:\n  mode: strict\n  dynamic_mapping: {fast: true}\n",
        r#"line 5: "dynamic_mapping" is allowed only with "mode: dynamic""#,
    );
    check(
        "version: 0.8\nindex_id: abc\nretention: {period: 1 day}\n",
        r#"line 3: "retention" needs a "timestamp_field" in doc_mapping"#,
    );
}

#[test]
fn dates_that_cannot_work_are_refused() {
    check_fields(
        "name: a, type: datetime, input_formats: [rfc3339, '%b %d %H:%M']",
        "",
        r#"line 5: "input_formats" in field mapping "a": strptime pattern "%b %d %H:%M" does not give a full date; it needs a year, a month and a day"#,
    );
    check_fields(
        "name: a, type: datetime, output_format: human",
        "",
        r#"line 5: "output_format" in field mapping "a": unknown format "human"; allowed: rfc3339, rfc2822, iso8601, unix_timestamp_secs, unix_timestamp_millis, unix_timestamp_micros, unix_timestamp_nanos, or a strftime pattern with %"#,
    );
    check_fields(
        "name: a, type: datetime, fast_precision: days",
        "",
        r#"line 5: "fast_precision" must be one of seconds, milliseconds, microseconds, nanoseconds, got the string "days""#,
    );
}

#[test]
fn fields_that_are_named_elsewhere_must_fit() {
    let timestamp =
        |fields: &str, expect: &str| check_fields(fields, "  timestamp_field: ts\n", expect);
    timestamp(
        "name: a, type: text",
        r#"line 6: timestamp field "ts" is not in "field_mappings""#,
    );
    timestamp(
        "name: ts, type: u64",
        r#"line 6: timestamp field "ts" must have the type datetime, not u64"#,
    );
    timestamp(
        "name: ts, type: datetime",
        r#"line 6: timestamp field "ts" must be fast: add "fast: true""#,
    );
    timestamp(
        "name: ts, type: array<datetime>, fast: true",
        r#"line 6: timestamp field "ts" must have one value: datetime, not array<datetime>"#,
    );
    let tag = |fields: &str, expect: &str| check_fields(fields, "  tag_fields: [t]\n", expect);
    tag(
        "name: a, type: u64",
        r#"line 6: tag field "t" is not in "field_mappings""#,
    );
    tag(
        "name: t, type: text",
        r#"line 6: tag field "t" must have the tokenizer raw or lowercase, not default"#,
    );
    tag(
        "name: t, type: bool",
        r#"line 6: tag field "t" must have the type text (tokenizer raw or lowercase), i64 or u64, not bool"#,
    );
    tag(
        "name: t, type: u64, indexed: false",
        r#"line 6: tag field "t" must be indexed: remove "indexed: false""#,
    );
    let list = "  tag_fields:\n    - z\n    - a\n";
    check_fields(
        "name: z, type: u64",
        list,
        r#"line 8: tag field "a" is not in "field_mappings""#,
    );
    let search = |fields: &str, mode: &str, search: &str, expect: &str| {
        check_fields(
            fields,
            &format!("  mode: {mode}\nsearch_settings:\n  default_search_fields: [{search}]\n"),
            expect,
        );
    };
    search(
        "name: a, type: text",
        "lenient",
        "a, b",
        r#"line 8: default search field "b" is not in "field_mappings", and the mode is not dynamic"#,
    );
    search(
        "name: a, type: text, indexed: false",
        "dynamic",
        "a",
        r#"line 8: default search field "a" is not indexed"#,
    );
    search(
        "name: a, type: text",
        "dynamic",
        "a, a",
        r#"line 8: default search field "a" is listed twice"#,
    );
    search(
        "name: a, type: object, field_mappings: [{name: b, type: text}]",
        "strict",
        "a",
        r#"line 8: default search field "a" is an object; name one of its fields"#,
    );
    search(
        "name: a, type: text",
        "dynamic",
        "new, a.b",
        r#"line 8: default search field "a.b" leads into "a", which has the type text and nothing below it; give it the type json or object, or write a\.b if documents have a key with that dot"#,
    );
    search(
        "name: o, type: object, field_mappings: [{name: n, type: array<u64>}]",
        "dynamic",
        "o.n.x",
        r#"line 8: default search field "o.n.x" leads into "n", which has the type array<u64> and nothing below it; give it the type json or object, or write o\.n\.x if documents have a key with that dot"#,
    );
    for own in ["_source", "_field_presence", "_dynamic"] {
        search(
            "name: a, type: text",
            "dynamic",
            own,
            &format!(
                "line 8: default search field {own:?} is a field of the index itself, which queries do not search"
            ),
        );
    }
    search(
        "name: a, type: text",
        "dynamic",
        "new..b",
        r#"line 8: default search field "new..b" names no field: it has an empty part; a dot in a name is written \."#,
    );
}

/// Fields that documents can fill, and those of an index from before the check.
#[test]
fn default_search_fields_that_can_hold_something_are_accepted() {
    let config = |fields: &str| {
        format!(
            r#"{{"version":"0.9","index_id":"abc","doc_mapping":{{"field_mappings":[
                {{"name":"a","type":"text"}},{{"name":"j","type":"json"}},{{"name":"k8s.node","type":"text"}},
                {{"name":"o","type":"object","field_mappings":[{{"name":"n","type":"u64"}}]}}]}},
                "search_settings":{{"default_search_fields":[{fields}]}}}}"#
        )
    };
    let fine = r#""new.field","j","j.any.path","o.n","o.new","a\\.b","k8s.node","_dynamic.new""#;
    IndexConfig::from_json(config(fine).as_bytes()).unwrap();
    let old = config(r#""a.b""#);
    assert!(IndexConfig::from_json(old.as_bytes()).is_err());
    serde_json::from_str::<IndexConfig>(&old).unwrap();
}

#[test]
fn what_is_not_yaml_is_refused_with_its_line() {
    check("", "the index config is empty");
    check(
        "- a\n- b\n",
        "line 1: the index config must be a map, got a list",
    );
    check(
        "version: 0.8\nindex_id: abc\n---\nversion: 0.8\n",
        "line 3: a file holds one index config; a second document starts here",
    );
    check(
        "index_uri: x\nindex_id: ${NOPE}\n",
        r#"line 2: environment variable "NOPE" is not set; set it, or write ${NOPE:-default}"#,
    );
    let error = load("version: 0.8\nindex_id: [abc\n").unwrap_err();
    assert!(error.message().starts_with("this is not YAML: "), "{error}");
    assert!(error.line().is_some());
    let deep = format!("version: {}{}\n", "[".repeat(5_000), "]".repeat(5_000));
    assert!(load(&deep).unwrap_err().line().is_some());
    let laughs = "a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]\ne: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]\n";
    assert!(
        load(laughs)
            .unwrap_err()
            .message()
            .contains("more than 100000 values")
    );
    // Few values, each of them long: 3 bytes stand for 100,000.
    let long = format!(
        "a: &a {}\nb: [{}]\n",
        "x".repeat(100_000),
        ["*a"; 30_000].join(", ")
    );
    let error = load(&long).unwrap_err();
    assert!(
        error.message().contains("repeat more than 16777216 bytes"),
        "{error}"
    );
}

#[test]
fn json_names_the_key_path_instead_of_a_line() {
    let json = br#"{"version":"0.9","index_id":"abc","doc_mapping":{"field_mappings":[{"name":"a","type":"text","x":1}]}}"#;
    let error = IndexConfig::from_json(json).unwrap_err();
    assert_eq!(error.line(), None);
    assert_eq!(error.key_path(), "doc_mapping.field_mappings[0].x");
    assert!(
        error.to_string().starts_with(
            r#"doc_mapping.field_mappings[0].x: unknown key "x" in field mapping "a""#
        )
    );
}
