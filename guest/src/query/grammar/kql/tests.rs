//! Queries in Kibana's language become trees, and errors name columns.

use super::{KqlOptions, parse_kql};
use crate::limits::Limits;
use crate::query::tree::QueryNode;

fn parse(query: &str) -> Result<QueryNode, String> {
    let parsed = parse_kql("query", query, &KqlOptions::default(), &Limits::default());
    parsed.map_err(|error| error.message)
}

#[test]
fn what_is_no_kql_is_an_error_with_its_column() {
    for (query, expected) in [
        (
            "a: ",
            "query, column 4: the query is no KQL: expected a value, found the end of the query",
        ),
        (
            "a:(b or ",
            "query, column 9: the query is no KQL: expected a value, found the end",
        ),
        (
            "(a: b",
            "query, column 1: the query is no KQL: this bracket is not closed",
        ),
        (
            "a: b)",
            "query, column 5: the query is no KQL: no bracket is open",
        ),
        (
            "a: {b: c",
            "query, column 4: the query is no KQL: this bracket is not closed",
        ),
        (
            "a: \"b",
            "query, column 4: the query is no KQL: this quote is not closed",
        ),
        (
            "and a: b",
            "query, column 1: the query is no KQL: expected a value or the name of a field, found the operator and",
        ),
        (
            "a: b and",
            "query, column 9: the query is no KQL: expected a value or the name of a field, found the end",
        ),
        (
            "a: b or or c: d",
            "query, column 9: the query is no KQL: expected a value or the name of a field, found the operator or",
        ),
        (
            "a: not b",
            "query, column 4: the query is no KQL: expected a value, found the operator not",
        ),
        (
            "response:200 extension:php",
            "query, column 23: the query is no KQL: expected and, or, or the end of the query, found",
        ),
        (
            "some field: b",
            "query, column 11: the query is no KQL: and, or, or a quote is missing before this",
        ),
        (
            "a > 5*",
            "query, column 5: the query is no KQL: an end of a range has no wildcard",
        ),
        (
            "a >> 5",
            "query, column 4: the query is no KQL: expected a value, found \">\"",
        ),
        (
            r"a: C:\Windows",
            "query, column 5: the query is no KQL: expected and, or, or the end of the query, found",
        ),
        (
            r"a: b\c",
            "query, column 6: the query is no KQL: a backslash stands before one of",
        ),
        (
            r"a: \u00g9",
            "query, column 5: the query is no KQL: behind \\u stand the four digits",
        ),
        (
            "a: {b}",
            "query, column 5: the query is no KQL: in braces, each value needs the name of a field",
        ),
        (
            "a*: {b: c}",
            "query, column 5: the query is no KQL: an object before braces is named without a wildcard",
        ),
        (
            "a: b\nor c: (d",
            "query, line 2, column 7: the query is no KQL: this bracket is not closed",
        ),
    ] {
        let error = parse(query).unwrap_err();
        assert!(error.starts_with(expected), "{query}: {error}");
    }
}

#[test]
fn two_notations_of_one_query_are_the_same() {
    for (left, right) in [
        ("a:b", "a : b"),
        ("a: b and c: d", "a: b AND c: d"),
        ("a: b and c: d or e: f", "(a: b and c: d) or e: f"),
        ("a: b or c: d and e: f", "a: b or (c: d and e: f)"),
        ("not a: b and c: d", "(not a: b) and c: d"),
        ("Not a: b", "NOT (a: b)"),
        ("a: (b or c)", "a: b or a: c"),
        ("a: (b and not c)", "a: b and not a: c"),
        ("a: (b and (c or d))", "a: b and (a: c or a: d)"),
        ("\"a\": b", "a: b"),
        (r"a: \and", "a: \\u0061nd"),
        ("*", ""),
        ("*: *", " "),
        ("a > 1 and a <= 2", "a>1 and a<=2"),
        (r"a: x\:y", r"a: x\u003Ay"),
        ("a: { b: c and d > 1 }", "a:{b:c and d>1}"),
        ("a: { b: { c: d } }", "a:{ b: {c: d}}"),
        ("android: nothing", "\"android\": nothing"),
    ] {
        assert_eq!(parse(left).unwrap(), parse(right).unwrap(), "{left}");
    }
    assert_ne!(parse("a: b c").unwrap(), parse("a: \"b c\"").unwrap());
    assert_ne!(parse("a: b*").unwrap(), parse(r"a: b\*").unwrap());
}

#[test]
fn a_query_is_no_deeper_and_no_longer_than_the_limits() {
    let limits = Limits::default();
    let nested = |depth: usize| format!("{}a: b{}", "(".repeat(depth), ")".repeat(depth));
    parse(&nested(limits.max_query_depth)).unwrap();
    let error = parse(&nested(limits.max_query_depth + 1)).unwrap_err();
    assert!(error.contains("nests deeper"), "{error}");
    parse(&"not ".repeat(10_000)).unwrap_err();
    let many = vec!["a: b"; limits.max_query_clauses + 1].join(" or ");
    let error = parse(&many).unwrap_err();
    assert!(error.contains("terms and clauses"), "{error}");
}
