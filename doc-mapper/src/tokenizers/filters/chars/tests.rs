//! Texts that filters of characters change, and the places of their words.

use proptest::prelude::*;
use tantivy::tokenizer::WhitespaceTokenizer;

use super::*;

fn tokens(filters: &[CharFilter], text: &str) -> Vec<(String, usize, usize)> {
    let changers = filters.iter().map(|filter| Changer::of(filter).unwrap());
    let inner = TextAnalyzer::builder(WhitespaceTokenizer::default()).build();
    let mut tokenizer = ChangingTokenizer::new(changers.collect(), inner);
    let mut tokens = Vec::new();
    tokenizer.token_stream(text).process(&mut |token| {
        tokens.push((token.text.clone(), token.offset_from, token.offset_to));
    });
    tokens
}

fn check(filters: &[CharFilter], text: &str, expect: &[(&str, usize, usize)]) {
    let expect: Vec<_> = expect
        .iter()
        .map(|(text, from, to)| ((*text).to_owned(), *from, *to))
        .collect();
    assert_eq!(tokens(filters, text), expect, "{text}");
}

fn mapping(rules: &[&str]) -> CharFilter {
    CharFilter::Mapping {
        mappings: rules.iter().map(|rule| (*rule).to_owned()).collect(),
    }
}

fn pattern(pattern: &str, replacement: &str) -> CharFilter {
    CharFilter::PatternReplace {
        pattern: pattern.to_owned(),
        replacement: replacement.to_owned(),
    }
}

#[test]
fn the_longest_part_is_mapped_and_words_keep_their_places() {
    let smileys = mapping(&[":) => _happy_", ":( => _sad_"]);
    check(
        &[smileys],
        "I'm delighted about it :(",
        &[
            ("I'm", 0, 3),
            ("delighted", 4, 13),
            ("about", 14, 19),
            ("it", 20, 22),
            ("_sad_", 23, 25),
        ],
    );
    let digits = mapping(&["c++ => cpp", "c => C", "٠ => 0", "\\u0041 => \\\\", "x =>"]);
    check(
        &[digits],
        "c++ cd ٠1 A xyx",
        &[
            ("cpp", 0, 3),
            ("Cd", 4, 6),
            ("01", 7, 10),
            ("\\", 11, 12),
            ("y", 14, 16),
        ],
    );
    assert!(Changer::of(&mapping(&["a -> b"])).is_err());
    assert!(Changer::of(&mapping(&["=> b"])).is_err());
    assert!(Changer::of(&mapping(&["a => b", "a => c"])).is_err());
}

#[test]
fn patterns_are_replaced_as_in_java() {
    check(
        &[pattern("(\\d+)-(?=\\d)", "$1_")],
        "n: 123-456-789 4-x",
        &[("n:", 0, 2), ("123_456_789", 3, 14), ("4-x", 15, 18)],
    );
    check(
        &[pattern("(?<=[a-z])(?=[A-Z])", " ")],
        "fooBarBaz x",
        &[("foo", 0, 3), ("Bar", 3, 6), ("Baz", 6, 9), ("x", 10, 11)],
    );
    check(&[pattern("a*", "-")], "aab", &[("--b-", 0, 3)]);
    check(
        &[pattern("(?i)FOO(?<n>o?)", "<${n}\\$$0>")],
        "Fooo bar",
        &[("<o$Fooo>", 0, 4), ("bar", 5, 8)],
    );
    check(&[pattern("é+", "e")], "éé é", &[("e", 0, 4), ("e", 5, 7)]);
    for (wrong, replacement) in [
        ("(?<=ab)c", ""),
        ("(?!a)b", ""),
        ("(a", ""),
        ("a", "$1"),
        ("\\p{Age=3.0}", ""),
    ] {
        assert!(
            Changer::of(&pattern(wrong, replacement)).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn several_filters_apply_in_order() {
    let strip = CharFilter::HtmlStrip {
        escaped_tags: Vec::new(),
    };
    check(
        &[strip, mapping(&["& => and"])],
        "<p>Tom &amp; <b>Jerry</b>s</p> x",
        &[
            ("Tom", 3, 6),
            ("and", 7, 12),
            ("Jerrys", 16, 26),
            ("x", 31, 32),
        ],
    );
}

proptest! {
    #[test]
    fn places_are_within_the_original(text in "[a<>/&;bé \\-!\\[\"'=]{0,40}") {
        let filters = [
            CharFilter::HtmlStrip { escaped_tags: Vec::new() },
            mapping(&["b => éé", "é =>"]),
            pattern("(?<=a)a*(?=-)", "$0é"),
        ];
        let mut last = 0;
        for (_, from, to) in tokens(&filters, &text) {
            prop_assert!(from >= last && to <= text.len());
            prop_assert!(text.is_char_boundary(from) && text.is_char_boundary(to));
            last = from;
        }
    }
}
