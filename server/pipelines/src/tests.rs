//! What pipelines make of documents: each expectation follows from what Elasticsearch's documentation says.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const NOW_MS: i64 = 1_700_000_000_000;

fn document(source: &Value) -> Document {
    let meta = Metadata {
        index: "i".to_owned(),
        id: Some("1".to_owned()),
        routing: None,
    };
    let source = source.as_object().cloned().unwrap_or_default();
    Document::new(source, meta, "2023-11-14T22:13:20.000Z")
}

fn ran(processors: &Value, source: &Value) -> (Result<Outcome, Failure>, Document) {
    let pipeline = match processors.is_object() {
        true => processors.clone(),
        false => json!({ "processors": processors }),
    };
    let pipeline =
        Pipeline::read(&pipeline).unwrap_or_else(|error| panic!("{pipeline}: {error:?}"));
    let mut document = document(source);
    let pipelines = Pipelines::default();
    let (outcome, _) = pipelines.simulate(("p", &pipeline), &mut document, (NOW_MS, false));
    (outcome, document)
}

fn makes(processors: Value, source: Value, wanted: Value) {
    let (outcome, document) = ran(&processors, &source);
    assert_eq!(outcome, Ok(Outcome::Passed), "{processors}");
    assert_eq!(Value::Object(document.source), wanted, "{processors}");
}

fn fails(processors: Value, source: Value, why: &str) {
    let (outcome, _) = ran(&processors, &source);
    let failure = outcome.expect_err(&processors.to_string());
    assert!(
        failure.reason.contains(why),
        "{processors}: {}",
        failure.reason
    );
}

#[test]
fn fields_are_set_moved_and_removed() {
    for (processors, source, wanted) in [
        (
            json!([{"set": {"field": "a.b", "value": "{{x}}-{{{y.z}}}!"}}]),
            json!({"x": 1, "y": {"z": "q"}}),
            json!({"x": 1, "y": {"z": "q"}, "a": {"b": "1-q!"}}),
        ),
        (
            json!([{"set": {"field": "a", "value": {"k": ["{{x}}", 2]}}}]),
            json!({"x": "v"}),
            json!({"x": "v", "a": {"k": ["v", 2]}}),
        ),
        (
            json!([{"set": {"field": "a", "copy_from": "x"}}]),
            json!({"x": [1]}),
            json!({"x": [1], "a": [1]}),
        ),
        (
            json!([{"set": {"field": "a", "value": 2, "override": false}}]),
            json!({"a": 1}),
            json!({"a": 1}),
        ),
        (
            json!([{"set": {"field": "a", "value": "{{none}}", "ignore_empty_value": true}}]),
            json!({}),
            json!({}),
        ),
        (
            json!([{"set": {"field": "{{k}}", "value": 1}}]),
            json!({"k": "n"}),
            json!({"k": "n", "n": 1}),
        ),
        (
            json!([{"rename": {"field": "a", "target_field": "b.c"}}]),
            json!({"a": 1}),
            json!({"b": {"c": 1}}),
        ),
        (
            json!([{"rename": {"field": "a", "target_field": "b", "ignore_missing": true}}]),
            json!({}),
            json!({}),
        ),
        (
            json!([{"remove": {"field": ["a", "b.c"]}}]),
            json!({"a": 1, "b": {"c": 1, "d": 2}}),
            json!({"b": {"d": 2}}),
        ),
        (
            json!([{"remove": {"keep": ["a", "b.c"]}}]),
            json!({"a": 1, "b": {"c": 1, "d": 2}, "e": 3}),
            json!({"a": 1, "b": {"c": 1}}),
        ),
        (
            json!([{"append": {"field": "t", "value": ["x", "{{n}}"]}}]),
            json!({"t": "a", "n": "y"}),
            json!({"t": ["a", "x", "y"], "n": "y"}),
        ),
        (
            json!([{"append": {"field": "t", "value": ["a", "b"], "allow_duplicates": false}}]),
            json!({"t": ["a"]}),
            json!({"t": ["a", "b"]}),
        ),
        (
            json!([{"dot_expander": {"field": "a.b"}}]),
            json!({"a.b": 1, "a": {"c": 2}}),
            json!({"a": {"b": 1, "c": 2}}),
        ),
        (
            json!([{"dot_expander": {"field": "*"}}]),
            json!({"a.b": 1, "c.d.e": 2}),
            json!({"a": {"b": 1}, "c": {"d": {"e": 2}}}),
        ),
    ] {
        makes(processors, source, wanted);
    }
    for (processors, source, why) in [
        (
            json!([{"set": {"field": "a", "copy_from": "x"}}]),
            json!({}),
            "field [x] not present as part of path [x]",
        ),
        (
            json!([{"set": {"field": "a.b", "value": 1}}]),
            json!({"a": "t"}),
            "cannot set [b] with parent object of type [java.lang.String] as part of path [a.b]",
        ),
        (
            json!([{"rename": {"field": "a", "target_field": "b"}}]),
            json!({}),
            "field [a] doesn't exist",
        ),
        (
            json!([{"rename": {"field": "a", "target_field": "b"}}]),
            json!({"a": 1, "b": 2}),
            "field [b] already exists",
        ),
        (
            json!([{"remove": {"field": "a"}}]),
            json!({}),
            "field [a] not present as part of path [a]",
        ),
        (
            json!([{"remove": {"field": "l.7"}}]),
            json!({"l": [1]}),
            "[7] is out of bounds for array with length [1]",
        ),
    ] {
        fails(processors, source, why);
    }
}

#[test]
fn texts_are_changed_and_divided() {
    for (processors, source, wanted) in [
        (
            json!([{"lowercase": {"field": "a"}}]),
            json!({"a": ["A", "B"]}),
            json!({"a": ["a", "b"]}),
        ),
        (
            json!([{"uppercase": {"field": "a", "target_field": "b"}}]),
            json!({"a": "x"}),
            json!({"a": "x", "b": "X"}),
        ),
        (
            json!([{"trim": {"field": "a"}}, {"urldecode": {"field": "u"}}]),
            json!({"a": " x ", "u": "a+%41"}),
            json!({"a": "x", "u": "a A"}),
        ),
        (
            json!([{"bytes": {"field": "a"}}]),
            json!({"a": "1.5kb"}),
            json!({"a": 1536}),
        ),
        (
            json!([{"html_strip": {"field": "a"}}]),
            json!({"a": "<p>x < y</p>"}),
            json!({"a": "\nx < y\n"}),
        ),
        (
            json!([{"split": {"field": "a", "separator": "\\s*,\\s*"}}, {"join": {"field": "a", "separator": "-", "target_field": "b"}}]),
            json!({"a": "x , y,,"}),
            json!({"a": ["x", "y"], "b": "x-y"}),
        ),
        (
            json!([{"split": {"field": "a", "separator": ",", "preserve_trailing": true}}]),
            json!({"a": "x,"}),
            json!({"a": ["x", ""]}),
        ),
        (
            json!([{"gsub": {"field": "a", "pattern": "(\\d+)\\.", "replacement": "<$1>"}}]),
            json!({"a": "1.22.x"}),
            json!({"a": "<1><22>x"}),
        ),
        (
            json!([{"sort": {"field": "a", "order": "desc"}}]),
            json!({"a": [1, 10, 2]}),
            json!({"a": [10, 2, 1]}),
        ),
        (
            json!([{"json": {"field": "a", "add_to_root": true}}]),
            json!({"a": "{\"b\": 1}"}),
            json!({"a": "{\"b\": 1}", "b": 1}),
        ),
        (
            json!([{"kv": {"field": "a", "field_split": " ", "value_split": "=", "prefix": "p_", "trim_value": "\"", "exclude_keys": ["z"]}}]),
            json!({"a": "x=1 y=\"2\" x=3 z=4"}),
            json!({"a": "x=1 y=\"2\" x=3 z=4", "p_x": ["1", "3"], "p_y": "2"}),
        ),
        (
            json!([{"csv": {"field": "a", "target_fields": ["x", "y", "z", "w"], "trim": true}}]),
            json!({"a": "1, \"two, \"\"three\"\"\" ,,4"}),
            json!({"a": "1, \"two, \"\"three\"\"\" ,,4", "x": "1", "y": "two, \"three\"", "w": "4"}),
        ),
        (
            json!([{"dissect": {"field": "a", "append_separator": " ", "pattern": "%{ts} %{+ts} [%{lvl->}] %{?skip} %{*k}=%{&k}"}}]),
            json!({"a": "d t [x] q n=v"}),
            json!({"a": "d t [x] q n=v", "ts": "d t", "lvl": "x", "n": "v"}),
        ),
        (
            json!([{"grok": {"field": "a", "patterns": ["%{IP:c.ip} %{WORD:m} %{NUMBER:b:int} %{NUMBER:f:float} %{NUM:q}"], "pattern_definitions": {"NUM": "(?<inner>\\d)x"}}}]),
            json!({"a": "10.0.0.1 GET 512 1.5 7x"}),
            json!({"a": "10.0.0.1 GET 512 1.5 7x", "c": {"ip": "10.0.0.1"}, "m": "GET", "b": 512, "f": 1.5, "q": "7x", "inner": "7"}),
        ),
    ] {
        makes(processors, source, wanted);
    }
    for (processors, source, why) in [
        (
            json!([{"lowercase": {"field": "a"}}]),
            json!({"a": 1}),
            "field [a] of type [java.lang.Integer] cannot be cast to [java.lang.String]",
        ),
        (
            json!([{"trim": {"field": "a"}}]),
            json!({"a": null}),
            "field [a] is null, cannot process it.",
        ),
        (
            json!([{"grok": {"field": "a", "patterns": ["^%{INT}$"]}}]),
            json!({"a": "x"}),
            "Provided Grok expressions do not match field value: [x]",
        ),
        (
            json!([{"dissect": {"field": "a", "pattern": "%{x},%{y}"}}]),
            json!({"a": "x"}),
            "Unable to find match for dissect pattern: %{x},%{y} against source: x",
        ),
        (
            json!([{"kv": {"field": "a", "field_split": " ", "value_split": "="}}]),
            json!({"a": "x"}),
            "field [a] does not contain value_split [=]",
        ),
        (
            json!([{"csv": {"field": "a", "target_fields": "x"}}]),
            json!({"a": "\"x"}),
            "Unmatched quote",
        ),
    ] {
        fails(processors, source, why);
    }
}

#[test]
fn values_become_those_of_other_types() {
    for (to, value, wanted) in [
        ("integer", json!("0x10"), json!(16)),
        ("long", json!("-9000000000"), json!(-9_000_000_000_i64)),
        ("float", json!("1.1"), json!(1.1)),
        ("double", json!("1e3"), json!(1000.0)),
        ("boolean", json!("TRUE"), json!(true)),
        ("string", json!([1, true]), json!(["1", "true"])),
        ("ip", json!("::1"), json!("::1")),
        ("auto", json!("12"), json!(12)),
        ("auto", json!("1.5"), json!(1.5)),
        ("auto", json!("x"), json!("x")),
    ] {
        makes(
            json!([{"convert": {"field": "a", "type": to}}]),
            json!({ "a": value }),
            json!({ "a": wanted }),
        );
    }
    for (to, value, why) in [
        (
            "integer",
            json!("3000000000"),
            "unable to convert [3000000000] to integer",
        ),
        (
            "integer",
            json!("1.5"),
            "unable to convert [1.5] to integer",
        ),
        ("double", json!("NaN"), "unable to convert [NaN] to double"),
        (
            "boolean",
            json!("yes"),
            "[yes] is not a boolean value, cannot convert to boolean",
        ),
        ("ip", json!("1.2.3"), "'1.2.3' is not an IP string literal."),
    ] {
        fails(
            json!([{"convert": {"field": "a", "type": to}}]),
            json!({ "a": value }),
            why,
        );
    }
}

#[test]
fn dates_are_read_and_name_indexes() {
    for (options, source, wanted) in [
        (
            json!({"formats": ["ISO8601"]}),
            json!("2024-05-06T07:08:09.5+02:00"),
            "2024-05-06T05:08:09.500Z",
        ),
        (
            json!({"formats": ["ISO8601"], "timezone": "Europe/Berlin"}),
            json!("2024-05-06"),
            "2024-05-06T00:00:00.000+02:00",
        ),
        (
            json!({"formats": ["dd/MM/yyyy", "UNIX"]}),
            json!(1_700_000_000.25),
            "2023-11-14T22:13:20.250Z",
        ),
        (
            json!({"formats": ["UNIX_MS"], "output_format": "yyyy/MM"}),
            json!("1700000000123"),
            "2023/11",
        ),
    ] {
        let mut options = options;
        options["field"] = json!("d");
        makes(
            json!([{ "date": options }]),
            json!({ "d": source }),
            json!({"d": source, "@timestamp": wanted}),
        );
    }
    fails(
        json!([{"date": {"field": "d", "formats": ["yyyy"]}}]),
        json!({"d": "x"}),
        "unable to parse date [x]",
    );
    let named = json!([{"date_index_name": {"field": "d", "index_name_prefix": "m-", "date_rounding": "M"}}]);
    let (_, document) = ran(&named, &json!({"d": "2016-04-25T12:02:01.789Z"}));
    assert_eq!(document.meta.index, "m-2016-04-01");
}

#[test]
fn documents_are_dropped_refused_and_looped_over() {
    let dropped =
        json!([{"drop": {"if": "ctx.level == 'debug'"}}, {"set": {"field": "a", "value": 1}}]);
    assert_eq!(
        ran(&dropped, &json!({"level": "debug"})).0,
        Ok(Outcome::Dropped)
    );
    makes(
        dropped,
        json!({"level": "info"}),
        json!({"level": "info", "a": 1}),
    );
    fails(
        json!([{"fail": {"message": "no {{a}}"}}]),
        json!({"a": "x"}),
        "no x",
    );
    makes(
        json!([{"fail": {"message": "no", "ignore_failure": true}}]),
        json!({}),
        json!({}),
    );
    makes(
        json!([{"foreach": {"field": "l", "processor": {"uppercase": {"field": "_ingest._value.n"}}}}]),
        json!({"l": [{"n": "a"}, {"n": "b"}]}),
        json!({"l": [{"n": "A"}, {"n": "B"}]}),
    );
    makes(
        json!([{"foreach": {"field": "l", "processor": {"set": {"field": "_ingest._key", "value": "x{{_ingest._key}}"}}}}]),
        json!({"l": {"a": 1}}),
        json!({"l": {"xa": 1}}),
    );
    makes(
        json!([{"script": {"source": "ctx.sum = ctx.n + params.k; ctx.remove('n'); ctx._id = 'z'", "params": {"k": 5}}}]),
        json!({"n": 37}),
        json!({"sum": 42}),
    );
    makes(
        json!([{"terminate": {"if": "ctx.n?.m == null"}}, {"set": {"field": "a", "value": 1}}]),
        json!({}),
        json!({}),
    );
    fails(
        json!([{"set": {"if": "ctx.n.m == 1", "field": "a", "value": 1}}]),
        json!({}),
        "runtime error",
    );
    fails(
        json!([{"set": {"if": "1", "field": "a", "value": 1}}]),
        json!({}),
        "runtime error",
    );
}

#[test]
fn failures_are_dealt_with_where_something_is_said_of_them() {
    makes(
        json!([{"rename": {"tag": "t", "field": "a", "target_field": "b", "on_failure": [
            {"set": {"field": "e", "value": "{{_ingest.on_failure_processor_type}}/{{_ingest.on_failure_processor_tag}}: {{_ingest.on_failure_message}}"}}]}},
            {"set": {"field": "next", "value": true}}]),
        json!({}),
        json!({"e": "rename/t: field [a] doesn't exist", "next": true}),
    );
    makes(
        json!({"processors": [{"fail": {"message": "x"}}, {"set": {"field": "next", "value": true}}],
            "on_failure": [{"set": {"field": "e", "value": "{{_ingest.on_failure_message}} in {{_ingest.on_failure_pipeline}}"}}]}),
        json!({}),
        json!({"e": "x in p"}),
    );
}

#[test]
fn pipelines_call_each_other_and_end() {
    let mut pipelines = Pipelines::default();
    for (name, body) in [
        (
            "outer",
            json!({"processors": [{"pipeline": {"name": "inner"}}, {"pipeline": {"name": "none", "ignore_missing_pipeline": true}}]}),
        ),
        (
            "inner",
            json!({"processors": [{"set": {"field": "p", "value": "{{_ingest.pipeline}}"}}]}),
        ),
        (
            "cycle",
            json!({"processors": [{"pipeline": {"name": "back"}}]}),
        ),
        (
            "back",
            json!({"processors": [{"pipeline": {"name": "cycle"}}]}),
        ),
        (
            "grows",
            json!({"processors": [{"foreach": {"field": "l", "processor": {"foreach": {"field": "l", "processor":
            {"foreach": {"field": "l", "processor": {"append": {"field": "x", "value": "{{x}}"}}}}}}}}]}),
        ),
    ] {
        pipelines.insert(name, Pipeline::read(&body).unwrap());
    }
    let run = |name: &str| {
        let mut document = document(&json!({"l": vec![1; 100]}));
        (pipelines.run(name, &mut document, NOW_MS), document)
    };
    let (outcome, document) = run("outer");
    assert_eq!(
        (outcome, &document.source["p"]),
        (Ok(Outcome::Passed), &json!("inner"))
    );
    assert!(!document.ingest.contains_key("pipeline"));
    assert!(
        run("cycle")
            .0
            .unwrap_err()
            .reason
            .contains("Cycle detected")
    );
    assert!(run("none").0.unwrap_err().reason.contains("does not exist"));
    assert!(run("grows").0.unwrap_err().reason.contains("limit"));
}

#[test]
fn what_cannot_be_run_is_refused_when_it_is_put() {
    for (body, kind, why) in [
        (
            json!({}),
            "parse_exception",
            "[processors] required property is missing",
        ),
        (
            json!({"processors": [{"nosuch": {}}]}),
            "parse_exception",
            "No processor type exists with name [nosuch]",
        ),
        (
            json!({"processors": [{"geoip": {"field": "ip"}}]}),
            "parse_exception",
            "[geoip] is not supported here: there is no database of places",
        ),
        (
            json!({"processors": [{"set": {"value": 1}}]}),
            "parse_exception",
            "[field] required property is missing",
        ),
        (
            json!({"processors": [{"set": {"field": "a", "value": 1, "x": 2}}]}),
            "parse_exception",
            "doesn't support one or more provided configuration parameters [x]",
        ),
        (
            json!({"processors": [{"set": {"field": "a", "value": "{{#b}}"}}]}),
            "parse_exception",
            "only names of fields",
        ),
        (
            json!({"processors": [{"set": {"field": "a", "value": 1, "if": "ctx.x =~ /a/"}}]}),
            "script_exception",
            "compile error",
        ),
        (
            json!({"processors": [{"gsub": {"field": "a", "pattern": "(", "replacement": ""}}]}),
            "parse_exception",
            "Invalid regex pattern",
        ),
        (
            json!({"processors": [{"date": {"field": "a", "formats": ["YYYY"]}}]}),
            "parse_exception",
            "letter [Y]",
        ),
        (
            json!({"processors": [{"grok": {"field": "a", "patterns": ["%{NOPE}"]}}]}),
            "parse_exception",
            "Unable to find pattern [NOPE]",
        ),
        (
            json!({"processors": [], "foo": 1}),
            "parse_exception",
            "[foo]",
        ),
        (
            json!({"processors": [], "on_failure": []}),
            "parse_exception",
            "empty on_failure",
        ),
        (
            json!({"processors": [{"a": {}, "b": {}}]}),
            "parse_exception",
            "one processor",
        ),
    ] {
        let error = Pipeline::read(&body).unwrap_err();
        assert!(
            error.kind == kind && error.reason.contains(why),
            "{body}: {error:?}"
        );
    }
    let error = Pipeline::read(&json!({"processors": [{"set": {"value": 1}}]})).unwrap_err();
    assert_eq!(
        Value::Object(error.detail()),
        json!({"processor_type": "set", "property_name": "field"})
    );
    let mut deep = json!({"set": {"field": "_ingest._value", "value": 1}});
    for _ in 0..12 {
        deep = json!({"foreach": {"field": "l", "processor": deep}});
    }
    assert!(Pipeline::read(&json!({ "processors": [deep] })).is_err());
    let many = vec![json!({"drop": {}}); 1001];
    assert!(Pipeline::read(&json!({ "processors": many })).is_err());
}

#[test]
fn steps_are_told_one_by_one() {
    let body = json!({"processors": [{"set": {"tag": "one", "field": "a", "value": 1}}, {"fail": {"message": "no", "ignore_failure": true}},
        {"drop": {"if": "false"}}, {"drop": {}}]});
    let pipeline = Pipeline::read(&body).unwrap();
    let mut document = document(&json!({}));
    let (outcome, steps) =
        Pipelines::default().simulate(("p", &pipeline), &mut document, (NOW_MS, true));
    assert_eq!(outcome, Ok(Outcome::Dropped));
    let kinds: Vec<&str> = steps.iter().map(|step| step.kind.as_str()).collect();
    assert_eq!(kinds, ["set", "fail", "drop", "drop"]);
    assert_eq!(steps[0].tag.as_deref(), Some("one"));
    assert!(matches!(steps[1].status, StepStatus::Ignored(_)));
    assert_eq!(
        (&steps[2].status, &steps[3].status),
        (&StepStatus::Skipped, &StepStatus::Dropped)
    );
}

proptest! {
    /// Texts from outside end in a value or in a failure, whatever the processor.
    #[test]
    fn no_text_stops_a_processor(text in ".{0,60}", option in ".{0,12}", kind in 0..10_usize) {
        let processor = match kind {
            0 => json!({"dissect": {"field": "a", "pattern": option}}),
            1 => json!({"grok": {"field": "a", "patterns": [option]}}),
            2 => json!({"csv": {"field": "a", "target_fields": ["x", "y"], "separator": option, "trim": true}}),
            3 => json!({"kv": {"field": "a", "field_split": option, "value_split": "="}}),
            4 => json!({"gsub": {"field": "a", "pattern": "(.)", "replacement": option}}),
            5 => json!({"date": {"field": "a", "formats": [option]}}),
            6 => json!({"split": {"field": "a", "separator": option}}),
            7 => json!({"urldecode": {"field": "a"}}),
            8 => json!({"set": {"field": option, "value": "{{a}}"}}),
            _ => json!({"html_strip": {"field": "a"}}),
        };
        if let Ok(pipeline) = Pipeline::read(&json!({ "processors": [processor] })) {
            let mut document = document(&json!({ "a": text }));
            let _ = Pipelines::default().simulate(("p", &pipeline), &mut document, (NOW_MS, false));
        }
    }
}
