//! Negative numbers with an exponent, which tantivy's grammar would cut in two: `x:>-1e3` would be `x:>-1`
//! and the word `e3`.
//!
//! The grammar takes a minus and digits for a number of its own wherever a value may begin. A mark before the
//! minus makes a word of it, and is taken away again from what was parsed.

use std::borrow::Cow;

use tantivy_query_grammar::{UserInputAst, UserInputBound, UserInputLeaf};

/// No character: Unicode reserves it for use inside a program.
const MARK: char = '\u{fdd0}';

/// Parses a query; `None` if it is not in the query language.
pub(super) fn parse_with_exponents(query: &str) -> Option<UserInputAst> {
    let marked = marked(query);
    let mut ast = tantivy_query_grammar::parse_query(&marked).ok()?;
    if matches!(marked, Cow::Owned(_)) {
        unmark(&mut ast);
    }
    Some(ast)
}

/// The query with a mark before each negative number with an exponent.
fn marked(query: &str) -> Cow<'_, str> {
    if query.contains(MARK) {
        return Cow::Borrowed(query);
    }
    let mut text = String::new();
    let mut copied = 0;
    let mut quote = None;
    let mut is_in_brackets = false;
    let mut before = ' ';
    let mut before_space = ' ';
    let mut characters = query.char_indices();
    while let Some((at, character)) = characters.next() {
        let begins_value = match before {
            ':' | '<' | '>' | '=' | '[' | '{' => true,
            ' ' => is_in_brackets || matches!(before_space, ':' | '<' | '>' | '='),
            _ => false,
        };
        match character {
            '\\' => drop(characters.next()),
            '"' | '\'' if quote == Some(character) => quote = None,
            '"' if quote.is_none() => quote = Some('"'),
            // In the middle of a word it is an apostrophe.
            '\'' if quote.is_none() && (begins_value || before == ' ' || before == '(') => {
                quote = Some('\'');
            }
            _ if quote.is_some() => {}
            '[' | '{' => is_in_brackets = true,
            ']' | '}' => is_in_brackets = false,
            '-' if begins_value && has_exponent(query.get(at + 1..).unwrap_or_default()) => {
                text.push_str(query.get(copied..at).unwrap_or_default());
                text.push(MARK);
                copied = at;
            }
            _ => {}
        }
        before = if character.is_whitespace() {
            ' '
        } else {
            character
        };
        if before != ' ' {
            before_space = before;
        }
    }
    if copied == 0 && text.is_empty() {
        return Cow::Borrowed(query);
    }
    text.push_str(query.get(copied..).unwrap_or_default());
    Cow::Owned(text)
}

/// Whether the text begins with digits, perhaps a fraction, and an exponent.
fn has_exponent(text: &str) -> bool {
    let digits = |text: &str| {
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len())
    };
    let num_digits = digits(text);
    let rest = text.get(num_digits..).unwrap_or_default();
    let rest = match rest.strip_prefix('.') {
        Some(fraction) => fraction.get(digits(fraction)..).unwrap_or_default(),
        None => rest,
    };
    let Some(exponent) = rest.strip_prefix(['e', 'E']) else {
        return false;
    };
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    num_digits > 0 && digits(exponent) > 0
}

fn unmark(ast: &mut UserInputAst) {
    match ast {
        UserInputAst::Clause(clauses) => clauses.iter_mut().for_each(|(_, ast)| unmark(ast)),
        UserInputAst::Boost(ast, _) => unmark(ast),
        UserInputAst::Leaf(leaf) => unmark_leaf(leaf),
    }
}

fn unmark_leaf(leaf: &mut UserInputLeaf) {
    let clean = |text: &mut String| text.retain(|character| character != MARK);
    let clean_bound = |bound: &mut UserInputBound| match bound {
        UserInputBound::Inclusive(text) | UserInputBound::Exclusive(text) => clean(text),
        UserInputBound::Unbounded => {}
    };
    match leaf {
        UserInputLeaf::All => {}
        UserInputLeaf::Exists { field } => clean(field),
        UserInputLeaf::Literal(literal) => {
            literal.field_name.iter_mut().for_each(clean);
            clean(&mut literal.phrase);
        }
        UserInputLeaf::Range {
            field,
            lower,
            upper,
        } => {
            field.iter_mut().for_each(clean);
            clean_bound(lower);
            clean_bound(upper);
        }
        UserInputLeaf::Set { field, elements } => {
            field.iter_mut().for_each(clean);
            elements.iter_mut().for_each(clean);
        }
        UserInputLeaf::Regex { field, pattern } => {
            field.iter_mut().for_each(clean);
            clean(pattern);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(query: &str) -> String {
        format!("{:?}", parse_with_exponents(query).unwrap())
    }

    #[test]
    fn a_negative_number_keeps_its_exponent() {
        for (query, expected) in [
            ("x:>-1e307", r#""x":{"-1e307" TO "*"}"#),
            ("x:>= -1.5E+3", r#""x":["-1.5E+3" TO "*"}"#),
            ("x:<-1e-3", r#""x":{"*" TO "-1e-3"}"#),
            ("x:[-2e3 TO -1e3}", r#""x":["-2e3" TO "-1e3"}"#),
            ("x:{-2e3 TO 1e3]", r#""x":{"-2e3" TO "1e3"]"#),
            ("x:-1e5", r#""x":-1e5"#),
            ("x:-1e5^2", r#"("x":-1e5)^2"#),
            ("x: IN [-1e5 2 -3e4]", r#""x": IN ["-1e5" "2" "-3e4"]"#),
            (">-1e3", r#"{"-1e3" TO "*"}"#),
        ] {
            assert_eq!(parsed(query), expected, "{query}");
        }
    }

    #[test]
    fn nothing_else_is_touched() {
        for query in [
            "a -1e5",
            "-1e5",
            "x:\"a:-1e5\"",
            "x:'[-1e5'",
            "x:-15",
            "x:>-1.5",
            "x:[-5 TO -3]",
            "it's x:[a-1e5 TO b]",
            "a\\:-1e5",
            "x:/-1e5/",
        ] {
            let shown = |ast: UserInputAst| format!("{ast:?}");
            let plain = tantivy_query_grammar::parse_query(query).ok().map(shown);
            assert_eq!(parse_with_exponents(query).map(shown), plain, "{query}");
        }
    }

    proptest! {
        /// Marks never stay, and never make a query of what was none, or the other way round, except where
        /// there is such a number.
        #[test]
        fn queries_without_exponents_are_parsed_as_ever(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "x", ":", "-1", "-", "e3", " ", "[", "]", "{", " TO ", ">", "<", "=", "\"", "'", "(", ")", "\\",
                    " IN [", "a", "^2",
                ]),
                0..16,
            ),
        ) {
            let query = parts.concat();
            let query = query.trim();
            let ours = parse_with_exponents(query).map(|ast| format!("{ast:?}"));
            if !query.contains("-1e3") {
                let plain = tantivy_query_grammar::parse_query(query).ok();
                prop_assert_eq!(ours, plain.map(|ast| format!("{ast:?}")));
            } else if let Some(ours) = ours {
                prop_assert!(!ours.contains(MARK));
            }
        }
    }
}
