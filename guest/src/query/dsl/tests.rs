//! Trees parsed from the DSL, and its errors.

use serde_json::{Map, Value, json};

use super::parse_dsl;
use crate::limits::Limits;
use crate::query::tree::{Leaf, Match, QueryNode, Role, Words};
use crate::{ErrorKind, SearchError};

const NOW_MS: i64 = 1_714_557_600_123;

fn parse(query: &Value) -> Result<QueryNode, SearchError> {
    parse_dsl(query.as_object().unwrap(), Some(NOW_MS), &Limits::default())
}

/// Formats a tree: words, `+` must, `-` must not, nothing for optional.
fn shown(node: &QueryNode) -> String {
    let of = |matched: &Match| {
        let text = &matched.text;
        let near = match matched.fuzziness {
            Some(fuzziness) => format!("~{:?}", fuzziness.edits),
            None => String::new(),
        };
        match &matched.words {
            Words::Phrase { slop } => format!("\"{text}\"{slop}"),
            Words::Prefix { .. } => format!("{text}*"),
            _ => format!("{text}{near}"),
        }
    };
    match node {
        QueryNode::All => "all".to_owned(),
        QueryNode::Nothing => "none".to_owned(),
        QueryNode::Leaf(Leaf::Match(matched)) => of(matched),
        QueryNode::Fields(fields) => match &fields.leaf {
            Leaf::Match(matched) => of(matched),
            leaf => format!("{leaf:?}"),
        },
        QueryNode::Bool(node) => {
            let clauses = node.clauses.iter().map(|(role, node)| {
                let sign = match role {
                    Role::Must => "+",
                    Role::MustNot => "-",
                    Role::Filter => "#",
                    Role::Should => "",
                };
                format!("{sign}{}", shown(node))
            });
            format!("({})", clauses.collect::<Vec<_>>().join(" "))
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (query, place, what) in [
        (json!({}), "query", "empty"),
        (json!({"mach": {"a": 1}}), "query", "\"mach\" is not known"),
        (json!({"match_all": 5}), "query.match_all", "object"),
        (
            json!({"match_all": {"x": 1}}),
            "query.match_all",
            "\"x\" is not known",
        ),
        (
            json!({"match_all": {}, "match_none": {}}),
            "query",
            "one clause",
        ),
        (
            json!({"bool": {"must": [{"match_all": {}}, {"nope": {}}]}}),
            "query.bool.must.1",
            "nope",
        ),
        (json!({"bool": {"mus": []}}), "query.bool", "\"mus\""),
        (
            json!({"bool": {"should": [], "minimum_should_match": "x"}}),
            "minimum_should_match",
            "2<75%",
        ),
        (
            json!({"match": {"a": {"query": "x", "fuzzy": 1}}}),
            "query.match.a",
            "\"fuzzy\"",
        ),
        // With 32-bit pointers these would be none, and with 64-bit ones they would be large.
        (
            json!({"bool": {"should": [], "minimum_should_match": "4294967297<1"}}),
            "minimum_should_match",
            "2<75%",
        ),
        (
            json!({"match": {"a": {"query": "x", "fuzziness": "AUTO:3,4294967297"}}}),
            "query.match.a.fuzziness",
            "AUTO:3,6",
        ),
        (
            json!({"match": {"a": "x", "b": "y"}}),
            "query.match",
            "one field",
        ),
        (
            json!({"match": {"a": {"query": "x", "operator": "xor"}}}),
            "query.match.a.operator",
            "or, and",
        ),
        (
            json!({"match": {"a": {"query": "x", "fuzziness": 3}}}),
            "query.match.a.fuzziness",
            "AUTO",
        ),
        (
            json!({"term": {"a": [1]}}),
            "query.term.a",
            "text, a number",
        ),
        (json!({"terms": {"a": "x"}}), "query.terms.a", "list"),
        (
            json!({"terms": {"a": {"index": "x"}}}),
            "query.terms.a",
            "another document",
        ),
        (
            json!({"range": {"a": {"gt": 1, "gte": 2}}}),
            "query.range.a",
            "one end too many",
        ),
        (
            json!({"range": {"a": {"gte": "now-1x"}}}),
            "query.range.a.gte",
            "date arithmetic",
        ),
        (
            json!({"range": {"a": {"gte": "now", "time_zone": "Mars"}}}),
            "query.range.a",
            "unknown time zone \"Mars\"",
        ),
        (
            json!({"range": {"a": {"gte": "2024-05-01", "time_zone": "+25:00"}}}),
            "query.range.a",
            "unknown time zone \"+25:00\"",
        ),
        (
            json!({"regexp": {"a": {"value": "b", "flags": "BOGUS"}}}),
            "query.regexp.a",
            "\"BOGUS\" is not known",
        ),
        (
            json!({"prefix": {"a": {"value": "b", "rewrite": "top_terms_5"}}}),
            "query.prefix.a.rewrite",
            "\"top_terms_5\" is not known; there are constant_score",
        ),
        (
            json!({"fuzzy": {"a": {"value": "b", "rewrite": "top_terms_blended_freqs_50"}}}),
            "query.fuzzy.a.rewrite",
            "is not known",
        ),
        (
            json!({"regexp": {"a": "~b"}}),
            "query.regexp.a",
            "not supported",
        ),
        (
            json!({"regexp": {"a": "^b"}}),
            "query.regexp.a",
            "whole terms",
        ),
        (
            json!({"exists": {"field": 5}}),
            "query.exists.field",
            "text",
        ),
        (
            json!({"boosting": {"positive": {"match_all": {}}}}),
            "query.boosting",
            "negative is missing",
        ),
        (
            json!({"constant_score": {}}),
            "query.constant_score",
            "filter is missing",
        ),
        (
            json!({"multi_match": {"query": "a", "fields": ["b^x"]}}),
            "query.multi_match.fields",
            "b^x",
        ),
        (
            json!({"multi_match": {"query": "a", "type": "best"}}),
            "query.multi_match.type",
            "cross_fields",
        ),
        (
            json!({"query_string": {"query": "a && )"}}),
            "query.query_string.query, column 6: ",
            "expected a term",
        ),
        (
            json!({"query_string": {"query": "a:("}}),
            "query.query_string.query, column 4: ",
            "cannot be parsed",
        ),
        (
            json!({"query_string": {"query": "a~3"}}),
            "query.query_string.query",
            "at most 2",
        ),
        (
            json!({"query_string": {"query": "*a", "allow_leading_wildcard": false}}),
            "query.query_string.query",
            "wildcard",
        ),
        (
            json!({"simple_query_string": {"query": "a", "flags": "AND|XOR"}}),
            "flags",
            "XOR",
        ),
    ] {
        let error = parse(&query).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid, "{query}");
        assert!(error.message.contains(place), "{query}: {}", error.message);
        assert!(error.message.contains(what), "{query}: {}", error.message);
    }
}

#[test]
fn queries_have_a_depth_a_number_of_clauses_and_a_length() {
    let mut deep = json!({"match_all": {}});
    for _ in 0..60 {
        deep = json!({"bool": {"must": deep}});
    }
    let wide = json!({"bool": {"should": vec![json!({"match_all": {}}); 70_000]}});
    let many = json!({"terms": {"a": (0..65_537).collect::<Vec<_>>()}});
    let long = json!({"match": {"a": "x".repeat(1 << 20)}});
    for (query, what) in [
        (deep, "nests deeper"),
        (wide, "bytes long"),
        (many, "65537 values, more than 65536"),
        (long, "bytes long"),
    ] {
        let error = parse(&query).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Limit);
        assert!(error.message.contains(what), "{}", error.message);
    }
}

#[test]
fn a_simple_query_string_is_read_from_left_to_right_and_never_wrong() {
    for (text, expect) in [
        ("a b", "(a b)"),
        ("a + b", "(+a +b)"),
        ("a + b | c", "((+a +b) c)"),
        ("a b + c", "(+(a b) +c)"),
        ("-a", "(-a all)"),
        ("a -b", "(a (-b all))"),
        ("a + -b", "(+a +(-b all))"),
        ("(a | b) + c*", "(+(a b) +c*)"),
        ("\"a b\"~2 c~1", "(\"a b\"2 c~Most(1))"),
        ("\"a b\"", "\"a b\"0"),
        ("a\\+b", "a+b"),
        ("c\\*", "c*"),
        ("\"a b", "(a b)"),
        (")) a (", "a"),
        ("", "none"),
        ("|", "none"),
        ("a~b", "a~b"),
    ] {
        let query = json!({"simple_query_string": {"query": text}});
        assert_eq!(shown(&parse(&query).unwrap()), expect, "{text}");
    }
    let off = json!({"simple_query_string": {"query": "a + -b", "flags": "OR|WHITESPACE"}});
    assert_eq!(shown(&parse(&off).unwrap()), "(a + -b)");
    let small = json!({"simple_query_string": {"query": "a + -b", "flags": "or|whitespace"}});
    assert_eq!(shown(&parse(&small).unwrap()), "(a + -b)");
    let and = json!({"simple_query_string": {"query": "a b", "default_operator": "AND"}});
    assert_eq!(shown(&parse(&and).unwrap()), "(+a +b)");
}

#[test]
fn words_that_mean_something_are_taken_in_capitals_or_not() {
    for query in [
        json!({"regexp": {"a": {"value": "b", "flags": "all"}}}),
        json!({"regexp": {"a": {"value": "b", "flags": "Interval|EMPTY"}}}),
        json!({"wildcard": {"a": {"value": "b", "rewrite": "CONSTANT_SCORE"}}}),
        json!({"match": {"a": {"query": "b", "fuzzy_rewrite": "scoring_boolean"}}}),
    ] {
        parse(&query).unwrap();
    }
}

#[test]
fn now_is_resolved_and_rounded_by_the_end_it_is() {
    let day = 86_400_000_000_000_i64;
    let now = NOW_MS * 1_000_000;
    let start = now - now.rem_euclid(day);
    for (end, text, expect) in [
        ("gte", "now", now),
        ("gte", "now/d", start),
        ("gt", "now/d", start + day - 1),
        ("lte", "now/d", start + day - 1),
        ("lt", "now/d", start),
        ("lt", "now-1d/d", start - day),
    ] {
        let query = json!({"range": {"a": {end: text}}});
        let QueryNode::Leaf(Leaf::Range(range)) = parse(&query).unwrap() else {
            panic!("{query}");
        };
        let found = range.lower.or(range.upper).unwrap();
        assert_eq!(found.from_now_ns, Some(expect), "{query}");
    }
    let without_clock = json!({"range": {"a": {"gte": "now"}}});
    let map: Map<String, Value> = without_clock.as_object().unwrap().clone();
    let error = parse_dsl(&map, None, &Limits::default()).unwrap_err();
    assert!(error.message.contains("what time it is"), "{error}");
    // A word that merely begins with `now` is a word.
    let word = json!({"range": {"a": {"gte": "nowhere"}}});
    let QueryNode::Leaf(Leaf::Range(range)) = parse(&word).unwrap() else {
        panic!("{word}");
    };
    assert_eq!(range.lower.unwrap().from_now_ns, None);
}

#[test]
fn a_wrapped_query_is_the_one_within() {
    use base64::prelude::{BASE64_STANDARD, Engine as _};
    let wrapped = |json: &str| json!({"wrapper": {"query": BASE64_STANDARD.encode(json)}});
    let inner = json!({"bool": {"must": [{"match": {"a": "x"}}], "filter": {"match": {"b": "y"}}}});
    let tree = |query: &Value| shown(&parse(query).unwrap());
    assert_eq!(tree(&wrapped(&inner.to_string())), tree(&inner));
    for (query, what) in [
        (wrapped("{"), "the query"),
        (wrapped("[]"), "object"),
        (wrapped("{\"nosuch\": {}}"), "nosuch"),
        (json!({"wrapper": {"query": "{}"}}), "Base64"),
        (json!({"wrapper": {}}), "query is missing"),
    ] {
        let error = parse(&query).unwrap_err();
        assert!(error.message.contains(what), "{query}: {}", error.message);
        assert!(
            error.message.contains("query.wrapper"),
            "{query}: {}",
            error.message
        );
    }
    let mut deep = json!({"match_all": {}});
    for _ in 0..5 {
        deep = wrapped(&deep.to_string());
    }
    let limits = Limits {
        max_query_depth: 5,
        ..Limits::default()
    };
    let error = parse_dsl(deep.as_object().unwrap(), Some(NOW_MS), &limits).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Limit);
}

#[test]
fn words_side_by_side_stay_together_where_all_must_match_in_several_fields() {
    let query = |text: &str, fields: Value, operator: &str| {
        let query = json!({"query_string": {"query": text, "fields": fields, "default_operator": operator}});
        shown(&parse(&query).unwrap())
    };
    let both = || json!(["a", "b"]);
    assert_eq!(query("x y z", both(), "and"), "x y z");
    assert_eq!(query("x y AND z", both(), "and").matches('+').count(), 4);
    assert_eq!(query("x y a:z", both(), "and").matches('+').count(), 2);
    assert_eq!(query("x y", json!(["a"]), "and").matches('+').count(), 2);
    assert!(!query("x y", both(), "or").contains("x y"));
}
