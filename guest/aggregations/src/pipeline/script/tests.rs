//! Scripts: results, and errors.

use super::{Names, Script};

fn parse(script: &str) -> Result<Script, String> {
    let names = Names {
        inputs: vec!["a", "b"],
        constants: vec![("k", 10.0)],
        ..Names::default()
    };
    Script::parse(script, &names)
}

/// Computes a script with a = 6 and b = 4.
fn value(script: &str) -> f64 {
    parse(script).unwrap().number(&[6.0, 4.0], &[])
}

#[track_caller]
fn refused(script: &str, what: &str) {
    match parse(script) {
        Ok(_) => panic!("{script:?} is let through"),
        Err(message) => assert!(message.contains(what), "{script:?}: {message}"),
    }
}

#[test]
fn operators_bind_as_in_java() {
    for (script, expected) in [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("10 - 4 - 3", 3.0),
        ("16 / 4 / 2", 2.0),
        ("7 % 4 * 2", 6.0),
        ("-7 % 4", -3.0),
        ("-2 * -3", 6.0),
        ("- - 2", 2.0),
        ("+2 - +1", 1.0),
        ("1 / 2", 0.5),
        ("params.a - params.b", 2.0),
        ("params['a'] / params[\"b\"]", 1.5),
        ("params.a * params.k", 60.0),
        ("return params.a;", 6.0),
        ("return(params.a)", 6.0),
        ("1.5e2 + .5 + 2d + 3L", 155.5),
        ("params.a > params.b ? 1 : 2", 1.0),
        ("params.a < params.b ? 1 : params.a == 6 ? 3 : 4", 3.0),
        ("true || false && false ? 1 : 0", 1.0),
        ("(true || false) && false ? 1 : 0", 0.0),
        ("!(params.a >= 7) && params.b != 3 ? 1 : 0", 1.0),
        ("1 < 2 == true ? 1 : 0", 1.0),
        ("params.a - 1 <= 5 ? 1 : 0", 1.0),
        ("Double.isNaN(0.0 / 0) ? 1 : 0", 1.0),
    ] {
        assert_eq!(value(script), expected, "{script}");
    }
}

#[test]
fn functions_are_those_of_java() {
    for (script, expected) in [
        ("Math.abs(-2)", 2.0),
        ("Math.min(params.a, params.b)", 4.0),
        ("Math.max(params.a, Math.max(1, 7))", 7.0),
        ("Math.floor(-1.5)", -2.0),
        ("Math.ceil(-1.5)", -1.0),
        ("Math.round(-1.5)", -1.0),
        ("Math.round(2.5)", 3.0),
        ("Math.round(0.49999999999999994)", 0.0),
        ("Math.rint(2.5)", 2.0),
        ("Math.sqrt(params.b)", 2.0),
        ("Math.pow(params.b, 0.5)", 2.0),
        ("Math.log(Math.E)", 1.0),
        ("Math.log10(1000)", 3.0),
        ("Math.exp(0)", 1.0),
        ("Math.signum(-3)", -1.0),
        ("Math.hypot(3, 4)", 5.0),
        ("Math.sin(0) + Math.PI - Math.PI", 0.0),
    ] {
        assert_eq!(value(script), expected, "{script}");
    }
    assert!(value("Math.max(0.0 / 0, 1)").is_nan());
    assert!(value("Math.sqrt(-1)").is_nan());
    assert_eq!(value("1 / 0"), f64::INFINITY);
    assert!(value("Math.min(0.0, -0.0)").is_sign_negative());
    assert!(value("Math.max(-0.0, 0.0)").is_sign_positive());
}

#[test]
fn a_comparison_with_what_is_undefined_is_false() {
    for (script, expected) in [
        ("params.a < 1 || params.a >= 1", false),
        ("params.a == params.a", false),
        ("params.a != params.a", true),
        ("!(params.a > 1)", true),
    ] {
        let script = parse(script).unwrap();
        assert_eq!(script.truth(&[f64::NAN, 1.0]), expected);
    }
}

#[test]
fn what_is_refused_says_where() {
    for (script, what) in [
        ("", "too early, at byte 0"),
        ("params.a +", "too early, at byte 10"),
        (
            "  params.c",
            "\"c\" is neither in buckets_path nor in params, at byte 9",
        ),
        (
            "params.a params.b",
            "one expression, which ends here, at byte 9",
        ),
        ("params.a; params.b", "at byte 8"),
        ("def x = 1; return x", "'=' is not known here"),
        ("a + 1", "\"a\" is not known here"),
        ("(1", "\")\" is missing, at byte 2"),
        (
            "1 ? 2 : 3",
            "this is a number, and true or false is needed, at byte 0",
        ),
        (
            "true ? 2 : false",
            "true or false, and a number is needed, at byte 11",
        ),
        ("1 && true", "at byte 0"),
        ("true && 1", "at byte 8"),
        ("1 < 2 < 3", "true or false, and a number is needed"),
        ("!1", "at byte 1"),
        ("-true", "at byte 1"),
        ("1 == true", "at byte 5"),
        ("Math.abs()", "a value is missing"),
        ("Math.abs(1, 2)", "\")\" is missing"),
        ("Math.max(1)", "\",\" is missing"),
        ("Math.random()", "Math has no \"random\" here"),
        ("params.a.b", "ends here"),
        ("params['a", "has no end"),
        ("1..2", "ends here"),
        ("1x", "no number"),
        ("1e", "no number"),
        ("1e999", "no number"),
        ("params.a = 1", "'=' is not known"),
        ("params.ä", "not known"),
        ("MovingFunctions.max(values)", "is not known here"),
    ] {
        refused(script, what);
    }
}

#[test]
fn a_script_has_bounds() {
    let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(value(&nested(49)), 1.0);
    refused(&nested(50), "at most 50 deep");
    refused(&"-".repeat(1_000), "at most 50 deep");
    refused(&"!".repeat(1_000), "at most 50 deep");
    refused(&"Math.abs(".repeat(200), "at most 50 deep");
    refused(&"true?".repeat(200), "at most 50 deep");
    let long = format!("1{}", "+1".repeat(999));
    assert_eq!(value(&long), 1_000.0);
    refused(&format!("{long}+1"), "at most 2000 bytes");
}

#[test]
fn names_stand_alone_where_the_language_has_it_so() {
    let names = Names {
        inputs: vec!["a"],
        is_bare: true,
        ..Names::default()
    };
    let script = Script::parse("a > 2 && true", &names).unwrap();
    assert!(script.is_truth() && script.truth(&[3.0]));
    assert!(Script::parse("b", &names).is_err());
}

#[test]
fn no_text_makes_the_parser_fail_otherwise_than_by_saying_so() {
    use proptest::prelude::*;
    let words = [
        "1", "2.5", "params", ".", "a", "b", "(", ")", "+", "-", "*", "/", "%", "<", "==", "&&",
        "||", "!", "?", ":", "Math", "abs", "max", ",", "true", "false", " ", "'a'", "[", "]", "é",
        "Double", "isNaN",
    ];
    let word = prop::sample::select(words.to_vec());
    proptest!(ProptestConfig::with_cases(2_000), |(words in prop::collection::vec(word, 0..12))| {
        if let Ok(script) = parse(&words.concat()) {
            script.number(&[1.0, 2.0], &[]);
        }
    });
}
