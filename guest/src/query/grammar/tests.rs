//! Trees of query strings, and the errors of invalid ones.

use std::ops::Bound;

use proptest::prelude::*;
use tantivy_query_grammar::{Delimiter, Occur, UserInputAst, UserInputBound, UserInputLeaf};

use super::{Dialect, parse_query, parse_words};
use crate::limits::Limits;
use crate::query::tree::{InFields, Leaf, Literal, Match, QueryNode, Role, TextLeaf};
use crate::{ErrorKind, SearchError};

/// Formats a tree: `+` must match, `-` must not, `#` is a filter, and nothing precedes an optional clause.
fn shown(node: &QueryNode) -> String {
    match node {
        QueryNode::All => "*".to_owned(),
        QueryNode::Leaf(Leaf::Text(leaf)) => shown_leaf(leaf),
        QueryNode::Leaf(Leaf::Match(near)) => shown_near(near),
        QueryNode::Fields(InFields {
            leaf: Leaf::Match(near),
            ..
        }) => shown_near(near),
        QueryNode::Boost(node, boost) => format!("{}^{}", shown(node), boost.0),
        QueryNode::Bool(node) => {
            let clauses = node.clauses.iter().map(|(role, node)| {
                let sign = match role {
                    Role::Must => "+",
                    Role::Filter => "#",
                    Role::Should => "",
                    Role::MustNot => "-",
                };
                format!("{sign}{}", shown(node))
            });
            format!("({})", clauses.collect::<Vec<_>>().join(" "))
        }
        other => format!("{other:?}"),
    }
}

fn shown_near(near: &Match) -> String {
    let field = near.field.as_ref().map(|name| format!("{name}:"));
    let edits = near.fuzziness.map(|fuzziness| fuzziness.edits);
    format!("{}{}~{edits:?}", field.unwrap_or_default(), near.text)
}

fn shown_leaf(leaf: &TextLeaf) -> String {
    let of = |field: &Option<String>| {
        let field = field.as_ref().map(|name| format!("{name}:"));
        field.unwrap_or_default()
    };
    let bound = |bound: &Bound<String>| match bound {
        Bound::Unbounded => "*".to_owned(),
        Bound::Included(text) => format!("={text:?}"),
        Bound::Excluded(text) => format!("{text:?}"),
    };
    match leaf {
        TextLeaf::Exists { field } => format!("{field}:*"),
        TextLeaf::Regex { field, pattern } => format!("{}/{pattern}/", of(field)),
        TextLeaf::Set { field, elements } => format!("{}{elements:?}", of(field)),
        TextLeaf::Range {
            field,
            lower,
            upper,
        } => format!("{}<{} {}>", of(field), bound(lower), bound(upper)),
        TextLeaf::Literal(literal) => {
            let text = match literal.is_quoted {
                true => format!("{:?}", literal.phrase),
                false => literal.phrase.clone(),
            };
            let slop = match literal.slop {
                0 => String::new(),
                slop => format!("~{slop}"),
            };
            let star = if literal.is_prefix { "*" } else { "" };
            format!("{}{text}{slop}{star}", of(&literal.field))
        }
    }
}

fn parse(query: &str) -> Result<QueryNode, SearchError> {
    parse_query(query, &Limits::default())
}

#[track_caller]
fn check(query: &str, expect: &str) {
    let found = parse(query).map(|node| shown(&node));
    assert_eq!(found.as_deref(), Ok(expect), "{query:?}");
}

#[test]
fn a_leaf_is_a_word_a_phrase_a_range_a_set_an_expression_or_a_star() {
    for (query, expect) in [
        ("*", "*"),
        ("*:*", "*"),
        ("f:*", "f:*"),
        ("_exists_:f", "f:*"),
        ("_exists_:(f g.h)", "(+f:* +g.h:*)"),
        ("word", "word"),
        ("f:word", "f:word"),
        ("f : word", "f:word"),
        ("f.g:wo*d?", "f.g:wo*d?"),
        ("https", "https"),
        ("/var/log", "/var/log"),
        ("f:C/d/", "f:C/d/"),
        ("it-is+so!", "it-is+so!"),
        ("INFO", "INFO"),
        ("f:\"a phrase\"", "f:\"a phrase\""),
        ("'a phrase'", "\"a phrase\""),
        ("f:\"a phrase\"~2", "f:\"a phrase\"~2"),
        ("f:\"a phra\"*", "f:\"a phra\"*"),
        ("f:\"a \\\"b\\\\\"", "f:\"a \\\"b\\\\\""),
        ("f:[1 TO 5]", "f:<=\"1\" =\"5\">"),
        ("f:{1 TO 5}", "f:<\"1\" \"5\">"),
        ("f:[ * TO 5 ]", "f:<* =\"5\">"),
        ("f:[TO TO TO]", "f:<=\"TO\" =\"TO\">"),
        ("f:>=5", "f:<=\"5\" *>"),
        ("f:> 5", "f:<\"5\" *>"),
        ("f:<5", "f:<* \"5\">"),
        ("f:<=10:30", "f:<* =\"10:30\">"),
        (">=5", "<=\"5\" *>"),
        ("f: IN [a \"b c\" 'd']", "f:[\"a\", \"b c\", \"d\"]"),
        ("f:IN []", "f:[]"),
        ("IN [ a b ]", "[\"a\", \"b\"]"),
        ("f:/wor.*/", "f:/wor.*/"),
        ("f:/a b\\/c/", "f:/a b/c/"),
        ("f:/a/^2", "f:/a/^2"),
        ("(f:/a/)", "f:/a/"),
        ("word~", "word~Some(Auto(3, 6))"),
        ("f:word~1", "f:word~Some(Most(1))"),
        ("word~1a", "word~1a"),
        ("~1", "~1"),
        ("wo*d~1", "wo*d~1"),
    ] {
        check(query, expect);
    }
}

#[test]
fn operators_and_brackets_form_the_tree() {
    for (query, expect) in [
        ("a b", "(+a +b)"),
        ("a AND b", "(+a +b)"),
        ("a OR b", "(a b)"),
        ("a AND b OR c", "((+a +b) c)"),
        ("a OR b AND c", "(a (+b +c))"),
        ("NOT a", "(-a #*)"),
        ("-a", "(-a #*)"),
        ("NOT NOT a", "(-(-a #*) #*)"),
        ("a NOT b", "(+a -b)"),
        ("(NOT a) b", "(-a +b)"),
        ("a AND NOT b", "(+a +(-b #*))"),
        ("a AND -b", "(+a -b)"),
        ("a OR NOT b", "(a (-b #*))"),
        ("a OR -b", "(a (-b #*))"),
        ("-a -b", "(-a -b #*)"),
        ("+a", "a"),
        ("+a b -c", "(+a +b -c)"),
        ("(a OR b) AND c", "(+(a b) +c)"),
        ("((a))", "a"),
        ("f:(a OR g:b)", "(f:a g:b)"),
        ("f:(* NOT >4)", "(+f:* -f:<\"4\" *>)"),
        ("a^2 OR b", "(a^2 b)"),
        ("(a b)^0.5", "(+a +b)^0.5"),
        ("NOT a^2", "(-a #*)^2"),
        ("a^1", "a"),
        ("a:b AND:c NOT:d", "(+a:b +AND:c +NOT:d)"),
        (" a\tAND\u{3000}b\r\n", "(+a +b)"),
    ] {
        check(query, expect);
    }
}

/// Quickwit's documentation gives `a b` for both, and asks for brackets where `OR` is mixed with other operators. Its
/// grammar makes alternatives of adjacent groups, and moves a repeated value out of its brackets.
#[test]
fn clauses_side_by_side_all_match_whatever_is_within_them() {
    for (query, expect) in [
        ("a AND b c", "(+(+a +b) +c)"),
        ("a AND b c AND d", "(+(+a +b) +(+c +d))"),
        ("a AND b c OR d", "(+(+a +b) c d)"),
        ("a b OR c", "(+a b c)"),
        ("+c (a OR a)", "(+c +(a a))"),
        ("f:(a OR a) b", "(+(f:a f:a) +b)"),
        ("a a", "(+a +a)"),
    ] {
        check(query, expect);
    }
    let node = parse_words(
        "query",
        "a AND b c -d e OR f",
        Role::Should,
        Dialect::Quickwit,
        &Limits::default(),
    );
    assert_eq!(shown(&node.unwrap()), "((+a +b) c -d e f)");
}

/// Expected trees after the grammar of Lucene's classic query parser, `QueryParser.jj`. A literal backslash before a
/// wildcard is shown as two, because one would escape it.
#[test]
fn in_lucene_s_dialect_a_backslash_is_one_and_symbols_are_operators() {
    for (query, expect) in [
        (r"exe:C\:\\Windows\\*", r"exe:C:\Windows\\*"),
        (r"exe:*\\cmd.exe", r"exe:*\cmd.exe"),
        (r"exe:a\*b", r"exe:a\*b"),
        (r"exe:a\\\*b", r"exe:a\\\*b"),
        (r"exe:\\\\host\\*\\c$", r"exe:\\host\\*\c$"),
        (r"f:caf\u00e9", "f:café"),
        (r"f:\ux", "f:ux"),
        (r"f:[a\ b TO c]", r#"f:<="a b" ="c">"#),
        (r"f:[a\-b TO c\:d}", r#"f:<="a-b" "c:d">"#),
        ("a && b", "(+a +b)"),
        ("a || b", "(a b)"),
        ("!a", "(-a #*)"),
        ("a AND !b", "(+a +(-b #*))"),
        ("a !b", "(a -b)"),
        ("a &&(b || c)", "(+a +(b c))"),
        ("! a", "(-a #*)"),
        ("!(a b)", "(-(a b) #*)"),
        ("a&&b", "a&&b"),
        ("R&D", "R&D"),
        ("it's", "it's"),
        ("f:'a'", "f:'a'"),
        ("(a)(b)", "(a b)"),
    ] {
        let node = parse_words(
            "query",
            query,
            Role::Should,
            Dialect::Lucene,
            &Limits::default(),
        );
        let found = node.map(|node| shown(&node));
        assert_eq!(found.as_deref(), Ok(expect), "{query:?}");
    }
}

#[test]
fn a_backslash_makes_any_character_itself() {
    for (query, expect) in [
        ("a\\/b wor\\d", "(+a/b +word)"),
        ("f:\\/a/ \\<3", "(+f:/a/ +<3)"),
        ("\\AND \\+a A\\ND", "(+AND ++a +AND)"),
        ("a\\~1 a\\b~1", "(+a~1 +ab~Some(Most(1)))"),
        ("\\a~1 a\\\\~1", "(+a~Some(Most(1)) +a\\~Some(Most(1)))"),
        (
            "f:IN [x\\/1 \"y\\/2\" \\/z\\w]",
            "f:[\"x/1\", \"y/2\", \"/zw\"]",
        ),
        ("a\\:b\\-c\\\\", "a:b-c\\"),
        ("C\\:\\\\d", "C:\\d"),
        ("\\-a", "-a"),
        ("a\\ b \\ ", "(+a b + )"),
        ("a\\\tb", "a\tb"),
        ("\\(a\\)", "(a)"),
        ("\"a\\/b\" 'c\\/d'", "(+\"a/b\" +\"c/d\")"),
        // The backslashes mark that these are not wildcards.
        ("a\\*b\\?", "a\\*b\\?"),
        // A name keeps the backslash before a dot, which is then not a step into an object.
        ("a\\.b:c a\\:b:c", "(+a\\.b:c +a:b:c)"),
        ("\\*:a", "*:a"),
    ] {
        check(query, expect);
    }
}

#[test]
fn a_value_in_quotes_may_be_an_end_of_a_range() {
    for (query, expect) in [
        ("f:[\"a b\" TO *}", "f:<=\"a b\" *>"),
        ("f:[\"*\" TO \"b c\"}", "f:<=\"*\" \"b c\">"),
        ("f:>=\"*\"", "f:<=\"*\" *>"),
        ("f:>=*", "f:<* *>"),
        ("f:[\"\" TO b]", "f:<=\"\" =\"b\">"),
        ("f:[\"-1 a\" TO \"(\\\"]\"]", "f:<=\"-1 a\" =\"(\\\"]\">"),
        ("f:>\t\"x\ty\nz\"\tb", "(+f:<\"x\\ty\\nz\" *> +b)"),
        ("f:>\"a\"^2 (f:<\"b\")", "(+f:<\"a\" *>^2 +f:<* \"b\">)"),
        // Without quotes, a backslash is a character.
        ("f:[a'b TO c\\]", "f:<=\"a'b\" =\"c\\\\\">"),
    ] {
        check(query, expect);
    }
}

#[test]
fn a_negative_number_is_a_value_with_its_exponent() {
    for (query, expect) in [
        ("f:-5", "f:-5"),
        ("f:-1e5^2", "f:-1e5^2"),
        ("f:>= -1.5E+3", "f:<=\"-1.5E+3\" *>"),
        ("f:[-2e3 TO -1e3}", "f:<=\"-2e3\" \"-1e3\">"),
        ("f: IN [-1e5 2 -3]", "f:[\"-1e5\", \"2\", \"-3\"]"),
        ("f:>-1e3 \\~a", "(+f:<\"-1e3\" *> +~a)"),
        ("f:>-2016-01-01 b", "(+f:<\"-2016-01-01\" *> +b)"),
        ("a -5", "(+a -5)"),
        ("a --5", "(+a --5)"),
        ("NOT -5", "(--5 #*)"),
    ] {
        check(query, expect);
    }
}

#[test]
fn an_error_names_its_column_and_what_was_expected() {
    for (query, column, what) in [
        ("a AND (b", 7, "this bracket is not closed"),
        ("a)", 2, "no bracket is open"),
        ("()", 2, "expected a term, found \")\""),
        ("a b:\"c d", 5, "this quote is not closed"),
        (
            "it's",
            3,
            "expected a space, a \")\" or the end of the query, found \"'s\"",
        ),
        ("f:", 3, "expected a term, found the end of the query"),
        ("a AND", 6, "expected a term, found the end of the query"),
        (
            "a OR OR b",
            6,
            "found the operator OR; in quotes it is a word",
        ),
        ("AND a", 1, "found the operator AND"),
        ("f:NOT a", 3, "found the operator NOT"),
        ("a IN b", 3, "found the operator IN"),
        (
            "url:http://a.b/c",
            9,
            "found \"://a.b/c\"; a value with a colon in it needs quotes",
        ),
        ("äöü:a:b", 6, "a value with a colon in it needs quotes"),
        ("a - b", 4, "expected a term, found a space"),
        ("f:-a", 3, "expected a term, found \"-a\""),
        ("f:[1 2]", 6, "expected TO and another value"),
        ("f:[1 TO]", 6, "expected TO and another value"),
        (
            "f:[1 TO 2",
            10,
            "the \"]\" or \"}\" of a range, found the end",
        ),
        ("f:[ TO 2]", 8, "expected TO"),
        ("f:[1 TO \"2]", 9, "this quote is not closed"),
        ("f:>=", 5, "expected a value or *"),
        ("f:>\"a\"b", 7, "expected a space"),
        ("f: IN [a b", 7, "this bracket is not closed"),
        ("f: IN [a\"b\"]", 9, "expected a space or \"]\""),
        ("f: IN [a OR b]", 10, "found the operator OR"),
        ("a^b", 3, "expected a number"),
        ("\"a b\"~c", 7, "behind ~"),
        ("\"a b\"~99999999999", 7, "behind ~"),
        ("a~3", 1, "at most 2; in quotes it is text"),
        ("a f:b~0.5", 5, "at most 2"),
        ("a\\", 2, "a backslash needs a character behind it"),
        ("a `b", 3, "expected a term"),
        ("  a ]", 5, "expected a term"),
        ("a b\0:c", 3, "NUL"),
    ] {
        let error = parse(query).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid, "{query}");
        let place = format!("query, column {column}: ");
        assert!(error.message.starts_with(&place), "{query}: {error}");
        assert!(error.message.contains(what), "{query}: {error}");
    }
    let many_lines = parse("a AND\n  b OR )").unwrap_err();
    assert!(
        many_lines
            .message
            .starts_with("query, line 2, column 8: the query cannot be parsed: ")
    );
    let elsewhere = parse_words(
        "aggs.a.filter",
        "(",
        Role::Must,
        Dialect::Quickwit,
        &Limits::default(),
    );
    let message = elsewhere.unwrap_err().message;
    assert!(
        message.starts_with("aggs.a.filter, column 2: "),
        "{message}"
    );
    for empty in ["", " \t\u{3000}"] {
        assert!(
            parse(empty)
                .unwrap_err()
                .message
                .contains("the query is empty")
        );
    }
}

#[test]
fn groups_and_negations_count_while_they_are_open() {
    for (query, depth) in [
        ("a AND b", 0),
        ("(a) (b) (c)", 1),
        ("((a) OR (b AND (c)))", 3),
        ("NOT NOT a NOT b", 2),
        ("NOT (NOT a) NOT b", 3),
        ("(NOT (a b) c) (d)", 3),
        ("-(a) +(b)^2 \"c\"~3 d*", 1),
        ("a:(b c:(d))", 2),
        ("a:IN [\"(\" b '('] (c)", 1),
        ("a:/(b|c)/ (d)", 1),
        ("a:[\"(\" TO \"((\"] (b) a:>\"((\"", 1),
        ("a\\( \\(b", 0),
    ] {
        let with = |max_query_depth| Limits {
            max_query_depth,
            ..Limits::default()
        };
        parse_query(query, &with(depth)).unwrap();
        if depth > 0 {
            let error = parse_query(query, &with(depth - 1)).unwrap_err();
            assert_eq!(error.kind, ErrorKind::Limit, "{query}");
            assert!(error.message.contains("nests deeper"), "{error}");
        }
    }
}

#[test]
fn operators_are_no_leaves() {
    for (query, num_leaves) in [
        ("a AND b OR NOT c", 3),
        ("a:(b c) \"d e\" [1 TO 2]", 4),
        ("a:IN [x y z]", 1),
        ("a:>=5 *", 2),
        ("b [1 TO 2]b \"\"", 4),
        ("[\"a b\" TO \"c d\"] >\"e f\"", 2),
    ] {
        let with = |max_query_clauses| Limits {
            max_query_clauses,
            ..Limits::default()
        };
        parse_query(query, &with(num_leaves)).unwrap();
        let error = parse_query(query, &with(num_leaves - 1)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Limit, "{query}");
        assert!(error.message.contains("terms and clauses"), "{error}");
    }
}

/// The longest queries with parts that are read repeatedly, or that open more and more groups.
#[test]
fn a_long_query_uses_neither_the_stack_nor_quadratic_time() {
    let limits = Limits {
        max_query_clauses: usize::MAX,
        ..Limits::default()
    };
    for part in [
        "a ",
        "a\t",
        "a\u{3000}",
        "a: ",
        "/a ",
        "/a\\/ ",
        "\\/",
        "IN ",
        "IN [a ",
        "NOT ",
        "NOT\t",
        "(",
        "((a) ",
        "f:(",
        "-(",
        "\"",
        "\"a\"",
        "'a ",
        "f:[\"a\" TO ",
        "f:>",
        "a^",
        "*:*",
        "a~",
        "\\",
        "(\")\" ",
        "(/)/ ",
        "(a:/)\\/)/ ",
        "(\\) ",
        "(a:IN [\")\"] ",
        "(a/ \"/ ) \" ",
        "(a:>'x ",
        "(\"\\\")\" ",
        "+",
        "a AND ",
        "a OR NOT ",
    ] {
        let query = part.repeat(limits.max_query_bytes / part.len());
        let _ = parse_query(&query, &limits);
        let _ = parse_query(&format!("{query}a"), &limits);
    }
}

/// Converts a leaf of Quickwit's grammar; `None` for `*`.
fn leaf_of(leaf: &UserInputLeaf) -> Option<TextLeaf> {
    let bound_of = |bound: UserInputBound| match bound {
        UserInputBound::Unbounded => Bound::Unbounded,
        UserInputBound::Inclusive(text) => Bound::Included(text),
        UserInputBound::Exclusive(text) => Bound::Excluded(text),
    };
    Some(match leaf.clone() {
        UserInputLeaf::All => return None,
        UserInputLeaf::Exists { field } => TextLeaf::Exists { field },
        UserInputLeaf::Regex { field, pattern } => TextLeaf::Regex { field, pattern },
        UserInputLeaf::Set { field, elements } => TextLeaf::Set { field, elements },
        UserInputLeaf::Range {
            field,
            lower,
            upper,
        } => TextLeaf::Range {
            field,
            lower: bound_of(lower),
            upper: bound_of(upper),
        },
        UserInputLeaf::Literal(literal) => TextLeaf::Literal(Literal {
            field: literal.field_name,
            phrase: literal.phrase,
            is_quoted: literal.delimiter != Delimiter::None,
            slop: literal.slop,
            is_prefix: literal.prefix,
        }),
    })
}

/// Formats the result of Quickwit's grammar for a query in the shared part of the language.
fn shown_ast(ast: &UserInputAst) -> String {
    match ast {
        UserInputAst::Leaf(leaf) => match leaf_of(leaf) {
            Some(leaf) => shown_leaf(&leaf),
            None => "*".to_owned(),
        },
        UserInputAst::Boost(ast, boost) => format!("{}^{boost}", shown_ast(ast)),
        UserInputAst::Clause(clauses) => {
            let mut shown: Vec<String> = clauses
                .iter()
                .map(|(occur, ast)| {
                    let sign = match occur {
                        None | Some(Occur::Must) => "+",
                        Some(Occur::Should) => "",
                        Some(Occur::MustNot) => "-",
                    };
                    format!("{sign}{}", shown_ast(ast))
                })
                .collect();
            if clauses
                .iter()
                .all(|(occur, _)| *occur == Some(Occur::MustNot))
            {
                shown.push("#*".to_owned());
            }
            format!("({})", shown.join(" "))
        }
    }
}

/// Generates queries that neither repeat a value nor mix `AND` or `OR` with clauses without an operator. `@` stands for
/// a unique word, and `#` for a unique number.
fn common_query() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "@",
        "f:@",
        "f.g : @",
        "\"@ @\"",
        "'@ \\' @'",
        "f:\"@ @\"~2",
        "\"@ @\"*",
        "[@ TO @]",
        "f:{@ TO *}",
        "f:>=@",
        "f:<@ ",
        "f: IN [@ '@ @']",
        "f:/@.*/",
        "/@\\/@/ ",
        "f#:*",
        "-@*@",
        "@\\:@",
        "\\-@\\ @",
        "f:-#.5",
        "@/@?",
        "@^2.5",
        "f:[@ TO @]^0.5",
    ]);
    let leaf = leaf.prop_map(str::to_owned);
    leaf.prop_recursive(3, 24, 4, |inner| {
        let inner = (inner, 0..5_usize).prop_map(|(query, how)| match how {
            0 => format!("NOT {query}"),
            1 => format!("({query})"),
            2 => format!("f:({query})"),
            _ => query,
        });
        let by = prop::sample::select(vec![" ", "  AND ", " OR ", " AND +", " -", "\t+"]);
        (prop::collection::vec(inner, 1..4), by)
            .prop_map(|(parts, by)| format!("({})", parts.join(by)))
    })
}

/// Generates pieces of queries, most of which do not fit together.
fn any_query() -> impl Strategy<Value = String> {
    let pieces = vec![
        "a",
        "b ",
        " ",
        "\t",
        "\u{3000}",
        " AND ",
        " OR ",
        "NOT ",
        "(",
        ")",
        "f:",
        "-",
        "+",
        "\"",
        "'",
        "/",
        "\\",
        "[1 TO 2]",
        "{\"x y\" TO *}",
        "IN [a 'b']",
        ">=3",
        "<",
        "*",
        "^2",
        "~1",
        "\"c d\"~2",
        "-1e5",
        ":",
        "`",
        "]",
        "é",
        "\u{fdd0}",
    ];
    prop::collection::vec(prop::sample::select(pieces), 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_query_means_what_it_means_to_quickwit(query in common_query()) {
        let mut num_values = 0;
        let query: String = query
            .chars()
            .map(|c| match c {
                '@' | '#' => {
                    num_values += 1;
                    let letter = if c == '@' { "w" } else { "" };
                    format!("{letter}{num_values}")
                }
                c => c.to_string(),
            })
            .collect();
        let theirs = tantivy_query_grammar::parse_query(&query.replace('\t', " "));
        let theirs = theirs.map(|ast| shown_ast(&ast));
        prop_assert_eq!(parse(&query).map(|node| shown(&node)).ok(), theirs.ok());
    }

    /// An error names a position, and a parsed query is no deeper than its text.
    #[test]
    fn any_text_is_a_query_or_an_error_with_a_column(query in any_query()) {
        fn depth(node: &QueryNode) -> usize {
            match node {
                QueryNode::Bool(node) => 1 + node.clauses.iter().map(|(_, node)| depth(node)).max().unwrap_or(0),
                QueryNode::Boost(node, _) => depth(node),
                _ => 0,
            }
        }
        match parse(&query) {
            // A level of text is at most three of the tree: alternatives, the requirements of each, and a negation.
            Ok(node) => prop_assert!(depth(&node) <= 3 * (query.matches('(').count() + query.matches("NOT").count()) + 3),
            Err(error) if query.trim().is_empty() => prop_assert!(error.message.contains("empty")),
            Err(error) => {
                let column = error.message.strip_prefix("query, column ").unwrap();
                let column: usize = column.split(':').next().unwrap().parse().unwrap();
                prop_assert!((1..=query.chars().count() + 1).contains(&column), "{}", error);
            }
        }
    }
}
