//! Permissions of programs, and preservation of everything that they leave alone.

mod odd_texts;

use super::{Outcome, Runner, Transform};
use proptest::prelude::*;
use serde_json::Value;

fn compile(text: &str) -> Transform {
    Transform::compile("test.vrl", text).unwrap()
}

fn error_of(text: &str) -> String {
    let error = Transform::compile("test.vrl", text).unwrap_err();
    error.to_string()
}

/// Returns the documents of a record, or the other outcome.
fn made(program: &str, json: &str) -> Result<Vec<String>, String> {
    let mut runner = Runner::new(&compile(program));
    match runner.run(json.as_bytes()) {
        Outcome::Docs(docs) => Ok(docs
            .into_iter()
            .map(|doc| String::from_utf8(doc.to_vec()).unwrap())
            .collect()),
        Outcome::Dropped(why) => Err(format!("dropped: {why}")),
        Outcome::Refused(reason, message) | Outcome::Unread(reason, message) => {
            Err(format!("{reason}: {message}"))
        }
    }
}

#[track_caller]
fn check(program: &str, json: &str, expect: &str) {
    let made = made(program, json).map(|docs| docs.join("\n"));
    assert_eq!(made.as_deref(), Ok(expect), "{program}");
}

#[track_caller]
fn check_none(program: &str, json: &str, expect: &str) {
    let why = made(program, json).unwrap_err();
    assert!(why.contains(expect), "{program}: {why}");
}

#[test]
fn keys_keep_their_order_and_new_ones_come_behind() {
    check(
        ".",
        r#" {"z": 1, "a": [ 2 ], "m": {}} "#,
        r#"{"z":1,"a":[2],"m":{}}"#,
    );
    check(
        ".n = 1\n.b = true\ndel(.a)\n.m.x = null",
        r#"{"z":1,"a":2,"m":{"y":0}}"#,
        r#"{"z":1,"m":{"y":0,"x":null},"b":true,"n":1}"#,
    );
}

#[test]
fn what_the_program_leaves_alone_stays_as_it_was_written() {
    let written = r#"{"big":18446744073709551615,"long":0.100000000000000000000000000001,"e":1e3,"zero":-0,"z":1.50,"t":"\u00e9\/","far":1e-400}"#;
    check(".", written, written);
    check(
        ".added = 1",
        written,
        &written.replace("1e-400}", r#"1e-400,"added":1}"#),
    );
    check(".a = [.a[0], 3]", r#"{"a":[1e3,2]}"#, r#"{"a":[1e3,3]}"#);
}

#[test]
fn a_number_that_a_program_cannot_hold_is_moved_unchanged_and_never_computed_with() {
    for number in [
        "9223372036854775808",
        "18446744073709551615",
        "-9223372036854775809",
        "123456789012345678901234567890",
        "0.100000000000000000000000000001",
        "0.1000000000000000055511151231257827",
        "1e-400",
    ] {
        let json = format!(r#"{{"a":{number}}}"#);
        check(".b = del(.a)", &json, &format!(r#"{{"b":{number}}}"#));
        check(
            ".a = [.a, {\"x\": .a}]",
            &json,
            &format!(r#"{{"a":[{number},{{"x":{number}}}]}}"#),
        );
        check(
            ". = [., {\"c\": .a}]",
            &json,
            &format!("{json}\n{{\"c\":{number}}}"),
        );
        check_none(".a = .a + 1 ?? to_int!(.a) + 1", &json, "transform_failed");
        check(
            ".is_number = is_integer(.a) || is_float(.a)",
            &json,
            &format!(r#"{{"a":{number},"is_number":false}}"#),
        );
        let quoted = serde_json::to_string(&json).unwrap();
        check_none(
            ". = parse_json!(.m)",
            &format!(r#"{{"m":{quoted}}}"#),
            "more digits than a program can hold",
        );
    }
    // Half of a surrogate pair, as the doc mapping parses it.
    check(".", r#"{"a":"\ud800"}"#, r#"{"a":"\ufffd"}"#);
    // A text that looks like it stays text.
    check(
        ".c = .b",
        r#"{"a":9223372036854775808,"b":"9223372036854775808"}"#,
        r#"{"a":9223372036854775808,"b":"9223372036854775808","c":"9223372036854775808"}"#,
    );
    check(
        ".a = 1 + int!(.a)",
        r#"{"a":9007199254740993}"#,
        r#"{"a":9007199254740994}"#,
    );
}

#[test]
fn a_record_that_no_program_could_hold_is_refused_with_the_reason() {
    check_none(
        ".",
        r#"{"a":1,"a":2}"#,
        "duplicate_key: the key `a` appears twice",
    );
    check_none(".", r#"{"b":[{"a":1,"\u0061":2}]}"#, "duplicate_key");
    check_none(".", r#"{"a":1e400}"#, "not_json");
    check_none(".", r#"{"a":1} x"#, "not_json");
    check_none(".", r#"{"a":01}"#, "not_json");
    check_none(".", r#"{"a":1,}"#, "not_json");
    check_none(".", "{\"a\":\"\n\"}", "not_json");
    check_none(".", r#"{"a":"\q"}"#, "not_json");
    check_none(".", r#"{"a":"#, "not_json");
    check_none(".", "[1]", "not_an_object");
    check_none(
        ".",
        &format!("{{\"a\":{}{}}}", "[".repeat(64), "]".repeat(64)),
        "too_deep",
    );
    let mut runner = Runner::new(&compile("."));
    let outcome = runner.run(b"{\"a\":\"\xff\"}");
    assert!(matches!(outcome, Outcome::Unread("invalid_utf8", _)));
}

#[test]
fn records_are_dropped_refused_and_multiplied() {
    let json = r#"{"a":1}"#;
    check_none("abort", json, "dropped: no reason given");
    check_none(r#"abort "a health check""#, json, "dropped: a health check");
    check_none(
        r#"%route = "drop"; %reason = "debug""#,
        json,
        "dropped: debug",
    );
    check_none(
        r#"%route = "reject"; %reason = "no user""#,
        json,
        "rejected_by_transform: no user",
    );
    check_none(
        r#"%route = "elsewhere""#,
        json,
        "\"keep\", \"drop\" or \"reject\"",
    );
    check(r#"%route = "keep""#, json, json);
    check(
        r#". = [{"b": 1}, ., {"b": 3}]"#,
        json,
        "{\"b\":1}\n{\"a\":1}\n{\"b\":3}",
    );
    check(
        ". = unnest!(.a)",
        r#"{"a":[1,2],"z":0}"#,
        "{\"a\":1,\"z\":0}\n{\"a\":2,\"z\":0}",
    );
    check_none(". = []", json, "dropped: an empty array");
    check_none(". = [1]", json, "an array with integer in it");
    check_none(". = 1", json, "integer of this record");
    check_none(". = array!(.a)", json, "transform_failed");
    check_none(
        "l = range!(0, 10001)\n. = map_values(l) -> |v| { {\"a\": v} }",
        json,
        "more than 10000",
    );
    check_none(
        "for_each(range!(0, 100000)) -> |_i, v| { for_each(range!(0, 100)) -> |_j, w| { .a = v + w } }",
        json,
        "more than 1000000 expressions",
    );
}

#[test]
fn what_json_cannot_say_is_refused() {
    check_none(
        r#".a = decode_base64!("/w==")"#,
        "{}",
        "no UTF-8: `encode_base64`",
    );
    check_none(
        ".a = float!(.b) * float!(.b)",
        r#"{"b":1e300}"#,
        "inf, which is no number of JSON",
    );
    check(
        ".a = t'2024-05-01T01:02:03.5Z'",
        "{}",
        r#"{"a":"2024-05-01T01:02:03.500Z"}"#,
    );
    let deep = "x = {}\nfor_each(range!(0, 70)) -> |_i, _v| { x = {\"a\": x} }\n.a = x";
    check_none(deep, "{}", "deeper than 64");
}

#[test]
fn times_without_a_zone_are_of_utc() {
    check(
        r#".t = to_unix_timestamp(parse_timestamp!(.t, "%Y-%m-%d %H:%M"))"#,
        r#"{"t":"2024-05-01 12:00"}"#,
        r#"{"t":1714564800}"#,
    );
    check(
        r#".t = to_unix_timestamp(parse_timestamp!(.t, "%Y-%m-%d %H:%M", timezone: "Europe/Berlin"))"#,
        r#"{"t":"2024-05-01 12:00"}"#,
        r#"{"t":1714557600}"#,
    );
    for program in [
        r#".t = parse_timestamp!(.t, "%Y", timezone: "local")"#,
        r#".t = parse_timestamp!(.t, "%Y", timezone: "")"#,
        r#".t = parse_timestamp!(.t, "%Y", timezone: string!(.zone))"#,
        r#".t = format_timestamp!(t'2024-05-01T01:02:03Z', "%H", timezone: "local")"#,
    ] {
        let error = error_of(program);
        assert!(error.contains("`timezone`"), "{error}");
    }
}

#[test]
fn an_error_shows_the_place_in_the_program() {
    let error = error_of(".a = 1\n.b = parse_json(.c)\n");
    assert!(error.contains("`test.vrl` does not compile"), "{error}");
    assert!(error.contains("2:6") && error.contains('^'), "{error}");
    assert!(error_of(&"# \n".repeat(100_000)).contains("a transform may have 262144"));
}

#[test]
fn functions_that_would_make_other_documents_another_time_are_refused_by_name() {
    for call in [
        "now()",
        "uuid_v4()",
        "uuid_v7()",
        "random_bool()",
        "random_bytes!(4)",
        "random_float!(0.0, 1.0)",
        "random_int!(0, 9)",
        "get_env_var!(\"HOME\")",
        "get_hostname!()",
        "get_timezone_name!()",
        "dns_lookup!(\"localhost\")",
        "reverse_dns!(\"127.0.0.1\")",
        "http_request!(\"http://localhost\", method: \"get\")",
        "log(\"x\")",
        "log(\"x\", level: \"info\")",
        "parse_syslog!(.m)",
        "parse_klog!(.m)",
        "parse_linux_authorization!(.m)",
        "parse_groks!(.m, [\"%{data}\"])",
        "shannon_entropy!(.m)",
        "haversine!(1.0, 1.0, 1.0, 1.0)",
        "decode_gzip!(.m)",
        "encrypt!(.m, \"AES-256-CFB\", \"k\", iv: \"i\")",
        "sha2(\"x\", variant: \"SHA-256\")",
    ] {
        let name = call.split(['!', '(']).next().unwrap();
        let error = error_of(&format!(".x = {call}"));
        let says = format!("the function `{name}` cannot be used in a transform");
        assert!(error.contains(&says), "{call}: {error}");
    }
    assert!(error_of(".a = now()").contains("1:6"));
}

#[test]
fn what_a_program_reads_is_what_was_in_the_record() {
    check(
        ".n = length(keys(.))",
        r#"{"":1,"é":2,"a.b":3}"#,
        r#"{"":1,"é":2,"a.b":3,"n":3}"#,
    );
    check(
        r#".s = .t == "é/""#,
        r#"{"t":"\u00e9\/"}"#,
        r#"{"t":"\u00e9\/","s":true}"#,
    );
    check(".f = .a == 1000.0", r#"{"a":1e3}"#, r#"{"a":1e3,"f":true}"#);
    check(".x = %", "{}", r#"{"x":{}}"#);
}

fn json() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| n.to_string()),
        any::<f64>()
            .prop_filter("JSON", |n| n.is_finite())
            .prop_map(|n| format!("{n:e}")),
        "-?(0|[1-9][0-9]{0,40})(\\.[0-9]{1,40})?([eE][+-]?[0-9]{1,2})?",
    ];
    let text = || {
        prop_oneof![
            "[a-z]{0,3}".prop_map(|text| format!("\"{text}\"")),
            any::<String>().prop_map(|text| Value::String(text).to_string()),
            "(\\\\u00e9|\\\\n|\\\\\"|\\\\\\\\|\\\\/|a|ü){0,5}"
                .prop_map(|text| format!("\"{text}\"")),
        ]
    };
    let leaf = prop_oneof![
        number,
        text(),
        Just("null".to_string()),
        Just("true".to_string()),
        Just("false".to_string()),
    ];
    let value = leaf.prop_recursive(4, 40, 6, move |inner| {
        let entry = (text(), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec(entry, 0..5).prop_map(object),
        ]
    });
    prop::collection::vec((text(), value), 0..6).prop_map(object)
}

/// Returns an object without duplicate keys.
fn object(entries: Vec<(String, String)>) -> String {
    let mut keys = std::collections::BTreeSet::new();
    let entries: Vec<String> = entries
        .into_iter()
        .filter(|(key, _)| keys.insert(serde_json::from_str::<String>(key).unwrap()))
        .map(|(key, value)| format!("{key}:{value}"))
        .collect();
    format!("{{{}}}", entries.join(","))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_program_that_does_nothing_changes_not_a_byte(json in json()) {
        prop_assert_eq!(made(".", &json), Ok(vec![json.clone()]));
    }

    /// Every value moves, and numbers keep their exact values.
    #[test]
    fn values_that_are_moved_stay_what_they_are(json in json()) {
        let moved = made(r#". = {"m": ., "n": [.]}"#, &json).unwrap();
        let moved: Value = serde_json::from_str(&moved[0]).unwrap();
        let expect: Value = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&moved["m"], &expect);
        prop_assert_eq!(&moved["n"][0], &expect);
    }

    #[test]
    fn reading_takes_what_serde_json_takes(bytes in "[\\[\\]{}:,\"\\\\a0-9.eE+ \n-]{0,20}") {
        let json = format!("{{\"a\":{bytes}}}");
        let is_read = !matches!(
            Runner::new(&compile(".")).run(json.as_bytes()),
            Outcome::Unread("not_json", _)
        );
        prop_assert_eq!(is_read, serde_json::from_str::<Value>(&json).is_ok());
    }
}

#[test]
fn a_program_that_its_compiler_could_not_take_is_refused_and_never_ends_the_process() {
    let nested = |open: &str, inner: &str, close: &str, num: usize| {
        format!(".a = {}{inner}{}", open.repeat(num), close.repeat(num))
    };
    let depth = "expressions, more than the 256 that a transform may have";
    let brackets = "brackets, more than the 256 that a transform may have";
    for (program, expect) in [
        // 4 GB for the types of the preceding items.
        (
            ".a[100000000] = 1".to_owned(),
            "place 100000000 of an array",
        ),
        (
            ".a = .b[-100000000]".to_owned(),
            "place 100000000 of an array",
        ),
        ("x[5000] = 1\n.a = x".to_owned(), "place 5000 of an array"),
        (
            ".a, err = to_int(.b[2000])".to_owned(),
            "place 2000 of an array",
        ),
        (".a[999] = 1\n".repeat(30), "29970 places of arrays"),
        (format!(".a{} = 1", ".b".repeat(100)), "101 segments"),
        (".a = 1\n".repeat(20_001), "40002 expressions"),
        (nested("(", "1", ")", 100_000), brackets),
        (nested("[", "1", "]", 100_000), brackets),
        (nested("{\"a\":", "1", "}", 40_000), brackets),
        (nested("!", "true", "", 20_000), depth),
        (nested("1 + ", "1", "", 10_000), depth),
        (nested("if true {", "1", "}", 25_000), brackets),
        (nested("if .b == 1 { 1 } else ", "{ 2 }", "", 2_000), depth),
        (nested("x = ", "1", "", 10_000), depth),
        (nested("to_string(", "1", ")", 20_000), brackets),
    ] {
        let error = error_of(&program);
        let beginning = program.get(..20).unwrap_or(&program);
        assert!(error.contains(expect), "{beginning}: {error:.300}");
    }
    // These cannot be parsed.
    for (open, expect) in [
        ("(", brackets),
        ("[", brackets),
        ("if true {", brackets),
        ("!", "does not compile"),
    ] {
        let error = error_of(&open.repeat(20_000));
        assert!(error.contains(expect), "{open}: {error:.300}");
    }
    // Brackets in texts do not count.
    let text = "[".repeat(1_000);
    for program in [
        format!(".a = \"{text}\\\"{text}\""),
        format!(".a = s'{text}'"),
        format!("# {text}\n.a = 1"),
        format!(".a = [{}1]", "[1], ".repeat(1_000)),
    ] {
        assert!(
            Transform::compile("test.vrl", &program).is_ok(),
            "{program:.40}"
        );
    }
    assert!(error_of(&format!(".a = \"]\" + {}", "[\"]\", ".repeat(300))).contains(brackets));
}

#[test]
fn programs_within_the_limits_are_compiled_and_run() {
    let check_large = |program: String| {
        let mut made = None;
        super::on_large_stack(|| {
            made = Some(self::made(&program, r#"{"b":1}"#).map_err(|why| why.to_string()));
            Ok(())
        })
        .unwrap();
        made.unwrap().unwrap()
    };
    let sum = format!(".a = 1{}", " + 1".repeat(200));
    assert_eq!(check_large(sum), [r#"{"b":1,"a":201}"#]);
    let cases: String = (2..80)
        .map(|n| format!("if .b == {n} {{ .a = {n} }} else "))
        .collect();
    assert_eq!(
        check_large(format!("{cases}{{ .a = 0 }}")),
        [r#"{"b":1,"a":0}"#]
    );
    let places = check_large(".a[1000] = 1\n.n = length!(.a)\ndel(.a)".to_owned());
    assert_eq!(places, [r#"{"b":1,"n":1001}"#]);
}

#[test]
fn a_value_that_nests_as_deeply_as_a_program_can_make_it_is_refused_and_dropped() {
    let levels = format!("{}x{}", "{\"a\":".repeat(200), "}".repeat(200));
    let program = format!("x = 1\nfor_each(range!(0, 60)) -> |_i, _v| {{ x = {levels} }}\n.a = x");
    let refused = super::on_large_stack(|| Ok(made(&program, "{}"))).unwrap();
    assert!(refused.unwrap_err().contains("deeper than 64"));
}

#[test]
fn a_text_that_is_multiplied_too_often_fails_with_its_record_only() {
    let mut runner = Runner::new(&compile(".c = .a * .b ?? 0"));
    let large = r#"{"a":"text","b":9223372036854775807}"#;
    assert!(matches!(
        runner.run(large.as_bytes()),
        Outcome::Refused("transform_failed", _)
    ));
    let small = br#"{"a":2,"b":3}"#;
    assert_eq!(
        runner.run(small),
        Outcome::Docs(vec![br#"{"a":2,"b":3,"c":6}"#.as_slice()])
    );
}
