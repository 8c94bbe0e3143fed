//! Every function that takes a text, on unusual texts.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use vrl::compiler::Parameter;
use vrl::compiler::value::kind;

use crate::transform::program::ALLOWED;
use crate::transform::{Runner, Transform};

/// Returns a value for an argument besides the text, by its kind.
fn argument(parameter: &Parameter) -> &'static str {
    match parameter.keyword {
        "pattern" if parameter.kind & kind::REGEX != 0 => "r'a+'",
        "patterns" => "[r'(?P<a>a+)']",
        "format" => "\"%Y-%m-%d\"",
        "unit" => "\"s\"",
        _ if parameter.kind & kind::BYTES != 0 => "\"a\"",
        _ if parameter.kind & kind::INTEGER != 0 => "3",
        _ if parameter.kind & kind::FLOAT != 0 => "1.5",
        _ if parameter.kind & kind::ARRAY != 0 => "[\"a\"]",
        _ if parameter.kind & kind::OBJECT != 0 => "{}",
        _ => "true",
    }
}

/// Returns a call of each function whose first argument may be a text, if one can be constructed.
fn calls() -> Vec<(&'static str, Transform)> {
    let functions = vrl::stdlib::all();
    let functions = functions
        .iter()
        .filter(|function| ALLOWED.contains(&function.identifier()));
    let calls = functions.filter_map(|function| {
        let (first, others) = function.parameters().split_first()?;
        if first.kind & kind::BYTES == 0 {
            return None;
        }
        let others = others.iter().filter(|parameter| parameter.required);
        let arguments: String = others
            .map(|other| format!(", {}", argument(other)))
            .collect();
        let name = function.identifier();
        let fallible = format!(".x, _error = {name}(string!(.m){arguments})");
        let infallible = format!(".x = {name}(string!(.m){arguments})");
        let program = Transform::compile(name, &fallible)
            .or_else(|_| Transform::compile(name, &infallible))
            .ok()?;
        Some((name, program))
    });
    calls.collect()
}

fn record(text: &str) -> String {
    format!("{{\"m\":{}}}", serde_json::Value::from(text))
}

fn odd() -> impl Strategy<Value = String> {
    let parts = prop_oneof![
        any::<String>(),
        "[ -~]{0,30}",
        "[0-9.,:/T+-]{1,25}",
        "[{}()\\[\\]<>\"'=:,|%\\\\&;#-]{1,20}",
        prop::sample::select(vec![
            "é",
            "\u{0}",
            "\u{1f600}",
            "2024-05-01T12:00:00Z",
            "1/Jan/0000:00:00:00 +9999",
            "99999999999999999999",
            "-9223372036854775808",
            "CEF:0|",
            "http://[::1]:99999/",
            "<134>1 ",
            "a=\"b",
            "=>",
            "1e999",
            "0x",
            "P1Y",
            "%e9",
            "%zz",
            "::ffff:1.2.3.4",
            "1.2.3.4/33",
            "GET / HTTP/1.1",
            "&amp;<a b='c'>",
            "--- &a [*a]",
            "99999d",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(parts, 0..6).prop_map(|parts| parts.concat())
}

#[test]
fn no_text_stops_the_thread_that_runs_a_function_on_it() {
    let calls = calls();
    assert!(calls.len() > 100, "only {} functions", calls.len());
    let cases = std::env::var("CANTER_TRANSFORM_TEXTS").ok();
    let cases = cases.and_then(|text| text.parse().ok()).unwrap_or(300);
    let mut runner = TestRunner::new(Config {
        failure_persistence: None,
        ..Config::with_cases(cases)
    });
    let mut runners: Vec<(&str, Runner)> = calls
        .iter()
        .map(|(name, program)| (*name, Runner::new(program)))
        .collect();
    let runners = std::cell::RefCell::new(&mut runners);
    let result = runner.run(&odd(), |text| {
        let json = record(&text);
        for (name, runner) in runners.borrow_mut().iter_mut() {
            let run = catch_unwind(AssertUnwindSafe(|| drop(runner.run(json.as_bytes()))));
            prop_assert!(run.is_ok(), "{} panics on {:?}", name, text);
        }
        Ok(())
    });
    result.unwrap();
}

/// A stack overflow ends the process, even if panics are caught. Runs on a thread like those of an ingest.
#[test]
fn no_depth_of_a_text_overflows_the_stack() {
    let thread = std::thread::spawn(|| {
        for program in [
            ".x = get!(., split!(.m, \".\"))",
            ".x = remove!(., split!(.m, \".\"))",
            ".x = parse_json!(.json)",
            ".x = parse_json!(.json, max_depth: 127)",
        ] {
            let transform = Transform::compile("test.vrl", program).unwrap();
            let path = "a.".repeat(20_000);
            let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
            let json = format!("{{\"m\":\"{path}\",\"{path}\":1,\"json\":\"{deep}\"}}");
            drop(Runner::new(&transform).run(json.as_bytes()));
        }
        for (_, program) in calls() {
            let mut runner = Runner::new(&program);
            for (open, inside, close) in [
                ("[", "1", "]"),
                ("{", "", "}"),
                ("{\"a\":", "1", "}"),
                ("{:a=>", "1", "}"),
                ("{ \"a\" => ", "1", " }"),
                ("<a>", "x", "</a>"),
                ("(", "1", ")"),
                ("- ", "1", ""),
                ("a.", "a", ""),
                ("a[", "0", "]"),
                ("a=b,", "c", ""),
                ("NOT ", "a", ""),
                ("\\", "a", ""),
            ] {
                // Some functions take time quadratic in this number.
                let num = 20_000;
                let text = [&open.repeat(num), inside, &close.repeat(num)].concat();
                drop(runner.run(record(&text).as_bytes()));
            }
        }
    });
    thread.join().unwrap();
}
