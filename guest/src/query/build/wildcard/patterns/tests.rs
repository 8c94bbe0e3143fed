//! Comparison of patterns with a naive matcher without automata.

use proptest::prelude::*;
use tantivy_fst::{Automaton, Regex};

use super::*;

fn automaton_matches(expression: &str, term: &str) -> bool {
    let regex = Regex::new(expression).unwrap();
    let start = regex.start();
    let end = term
        .bytes()
        .fold(start, |state, byte| regex.accept(&state, byte));
    regex.is_match(&end)
}

fn naive_matches(parts: &[Part], term: &[char]) -> bool {
    match (parts, term) {
        ([], term) => term.is_empty(),
        ([Part::AnyText, rest @ ..], term) => {
            (0..=term.len()).any(|skipped| naive_matches(rest, &term[skipped..]))
        }
        ([Part::AnyCharacter, rest @ ..], [_, term @ ..]) => naive_matches(rest, term),
        ([Part::Literal('Σ'), rest @ ..], ['σ' | 'ς', term @ ..]) => naive_matches(rest, term),
        ([Part::Literal(wanted), rest @ ..], [first, term @ ..]) => {
            wanted == first && naive_matches(rest, term)
        }
        (_, []) => false,
    }
}

/// Returns the letter transformations of a built-in tokenizer.
fn letters(tokenizer: &str) -> Letters {
    let config = serde_json::json!({ "version": "0.9", "index_id": "abc", "doc_mapping": {
        "field_mappings": [{ "name": "a", "type": "text", "tokenizer": tokenizer }]
    } });
    let config = canter_doc_mapper::IndexConfig::from_json(config.to_string().as_bytes()).unwrap();
    let mapper = canter_doc_mapper::DocMapper::new(&config).unwrap();
    mapper.resolve("a").unwrap().letters.clone()
}

/// Returns the term that a lowercasing tokenizer makes of a word.
fn lowercased(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

#[test]
fn backslashes_before_a_wildcard_escape_each_other_and_it() {
    use Part::{AnyCharacter, AnyText, Literal};
    for (word, expected) in [
        ("a*", vec![Literal('a'), AnyText]),
        ("**a", vec![AnyText, Literal('a')]),
        ("??", vec![AnyCharacter, AnyCharacter]),
        (r"a\*", vec![Literal('a'), Literal('*')]),
        (r"\?*", vec![Literal('?'), AnyText]),
        (r"\\*", vec![Literal('\\'), AnyText]),
        (r"\\\*", vec![Literal('\\'), Literal('*')]),
        (
            r"a\b\",
            vec![Literal('a'), Literal('\\'), Literal('b'), Literal('\\')],
        ),
    ] {
        assert_eq!(parts(word), expected, "{word}");
    }
    assert_eq!(BareWord::of(r"why\?"), BareWord::Text("why?".to_owned()));
    assert_eq!(BareWord::of(r"c:\x"), BareWord::Text(r"c:\x".to_owned()));
    assert!(matches!(BareWord::of("why?"), BareWord::Pattern(_)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Terms are short and of few characters, so that many match.
    #[test]
    fn an_expression_matches_as_the_naive_matcher_does(
        word in r"[aAΣσςİ.<>\\*?\n-]{1,6}",
        text in r"[aAΣσςİ.<>*\n-]{0,6}",
    ) {
        if let BareWord::Pattern(pattern) = BareWord::of(&word) {
            for (tokenizer, term) in [("raw_lowercase", lowercased(&text)), ("raw", text.clone())] {
                let lowercases = tokenizer != "raw";
                let parts: Vec<Part> = pattern.0.iter().flat_map(|part| match part {
                    // A capital sigma matches only itself if nothing is lowercased.
                    Part::Literal('Σ') if lowercases => vec![Part::Literal('Σ')],
                    Part::Literal('Σ') => vec![Part::Literal('\u{1}')],
                    Part::Literal(literal) if lowercases => {
                        literal.to_lowercase().map(Part::Literal).collect()
                    }
                    other => vec![*other],
                }).collect();
                let term_chars: Vec<char> = match lowercases {
                    true => term.chars().collect(),
                    false => term.replace('Σ', "\u{1}").chars().collect(),
                };
                let expected = naive_matches(&parts, &term_chars);
                let expression = pattern.expression(&letters(tokenizer));
                prop_assert_eq!(automaton_matches(&expression, &term), expected, "{} {:?}", word, term);
            }
        }
    }

    /// A pattern that is cut out of a text finds it, whatever the text.
    #[test]
    fn a_prefix_of_a_text_finds_it(text in "\\PC{1,8}", len in 1_usize..8) {
        let prefix: String = text.chars().take(len).collect();
        let escaped = prefix.replace('\\', r"\\").replace('*', r"\*").replace('?', r"\?");
        // Backslashes are doubled only before a wildcard.
        prop_assume!(!prefix.contains('\\'));
        let BareWord::Pattern(pattern) = BareWord::of(&format!("{escaped}*")) else {
            return Err(TestCaseError::fail("no pattern"));
        };
        for tokenizer in ["raw_lowercase", "default", "en_stem"] {
            prop_assert!(automaton_matches(&pattern.expression(&letters(tokenizer)), &lowercased(&text)));
        }
        prop_assert!(automaton_matches(&pattern.expression(&letters("raw")), &text));
    }
}
