//! Tokenizers by name, the same in builder and guest, so that each finds the other's terms.

use tantivy::tokenizer::{
    AsciiFoldingFilter, LowerCaser, RawTokenizer, RemoveLongFilter, SimpleTokenizer, TextAnalyzer,
    TokenizerManager, WhitespaceTokenizer,
};

mod chinese;
mod column_text;
mod custom;
mod definition;
mod filters;
mod gap;
mod level;
mod runs;
mod source_code;
mod standard;
mod value_length;

use chinese::ChineseTokenizer;
use column_text::Shorten;
pub use column_text::{MAX_COLUMN_TEXT_BYTES, column_text};
use custom::filtered;
pub use custom::{Extent, Letters};
pub(crate) use custom::{check_pattern, growth};
pub(crate) use definition::{CHAR_KINDS, FILTERS, NORMALIZERS, STEMS, STOP_WORDS};
pub use definition::{
    CharFilter, CharKind, CustomTokenizer, Delimiter, Grams, Normalizer, Paths, Shingles, Stem,
    StemBut, SynonymRules, TokenizerCut, TokenizerFilter,
};
use filters::{EnglishStemmer, Step};
use gap::Apart;
pub use gap::length_of;
use level::Levels;
use runs::RunTokenizer;
use source_code::SourceCodeTokenizer;
use standard::StandardTokenizer;
pub(crate) use value_length::is_too_long;
use value_length::{AtMost, PieceTokenizer};

/// Built-in values of a `tokenizer` key, besides the tokenizers in the config.
///
/// - `raw`: the whole value is one token.
/// - `lowercase`, `raw_lowercase`: the whole value, lowercased, is one token.
/// - `raw_ascii_folding`, `raw_folded`: the whole value is one token, with letters folded to ASCII; the latter lowercases, too.
/// - `default`: splits at white space and punctuation, and lowercases.
/// - `en_stem`: as `default`, and reduces English words to their stems.
/// - `whitespace`: splits at white space, and does not lowercase.
/// - `chinese_compatible`: as `default`, and each Han character is a token.
/// - `standard`: splits between the words of Unicode, and lowercases: `foo_bar` and `10.1.2.3` are words.
/// - `letters`, `letters_stop`: splits at everything but letters, and lowercases; the latter drops frequent
///   English words.
/// - `level`: the whole value is one token: the word for a level of logs, however it is written.
/// - `english`: as `standard`, without `'s` and frequent words, and reduces words to Porter's stems: Elasticsearch's analyzer.
/// - `source_code_default`: as `default`, splits identifiers into their words, and folds letters to ASCII.
///
/// `whitespace` drops tokens of more than 65,526 bytes, those of whole values tokens of
/// more than 32,766, the others those of more than 255. No dictionary contains such tokens, and queries
/// for them find nothing.
pub const NAMES: [&str; 15] = [
    "raw",
    "lowercase",
    "raw_lowercase",
    "default",
    "en_stem",
    "whitespace",
    "chinese_compatible",
    SOURCE_CODE,
    "standard",
    "letters",
    "letters_stop",
    LEVEL,
    "english",
    "raw_ascii_folding",
    "raw_folded",
];

/// Built-in tokenizer that folds letters in addition to lowercasing them.
const SOURCE_CODE: &str = "source_code_default";

/// Tokenizer of the terms of a text in whose values words are looked for. No config names it.
pub(crate) const PIECES: &str = "pieces";

/// The same for a text whose column has its values, unless they are too long.
pub(crate) const LONG_PIECES: &str = "long_pieces";

/// Built-in tokenizer of levels of logs.
const LEVEL: &str = "level";

/// Maximum length of a token in bytes. Users never type longer ones, which would fill the term
/// dictionary.
const MAX_TOKEN_BYTES: usize = 255;

/// Maximum length of a whole value that is a term, in bytes: that of Elasticsearch's keywords.
const MAX_VALUE_BYTES: usize = 32_766;

/// Maximum length of a token of `whitespace`. tantivy's keys have up to 65,535 bytes, of which a
/// JSON field uses 9 for itself.
const MAX_WHITESPACE_TOKEN_BYTES: usize = 65_526;

// `RemoveLongFilter::limit(n)` keeps tokens of fewer than n bytes.
fn remove_long() -> RemoveLongFilter {
    RemoveLongFilter::limit(MAX_TOKEN_BYTES + 1)
}

/// Built-in tokenizers that keep a value whole, and what they do to its letters.
const WHOLE: [(&str, Normalizer); 5] = [
    ("raw", Normalizer::Raw),
    ("lowercase", Normalizer::Lowercase),
    ("raw_lowercase", Normalizer::Lowercase),
    ("raw_ascii_folding", Normalizer::AsciiFolding),
    ("raw_folded", Normalizer::Folded),
];

/// Returns whether a tokenizer makes one term of a value.
pub fn is_whole(tokenizer: &str) -> bool {
    WHOLE.iter().any(|(name, _)| *name == tokenizer)
}

/// Returns a tokenizer that keeps values of at most `limit` UTF-16 code units whole, and drops longer
/// ones.
fn whole(normalizer: Normalizer, limit: u32) -> TextAnalyzer {
    let terms = TextAnalyzer::builder(RawTokenizer::default())
        .filter(AtMost(limit))
        .filter(RemoveLongFilter::limit(MAX_VALUE_BYTES + 1))
        .dynamic();
    filtered(terms, normalizer.filters()).build()
}

/// Returns the name under which a split has a tokenizer whose values have a maximum length.
pub(crate) fn limited(tokenizer: &str, limit: Option<u32>) -> String {
    match limit {
        Some(limit) if is_whole(tokenizer) => format!("{tokenizer}:{limit}"),
        _ => tokenizer.to_owned(),
    }
}

/// Returns the built-in tokenizers.
pub fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::new();
    for (name, normalizer) in WHOLE {
        manager.register(name, whole(normalizer, u32::MAX));
    }
    let pieces = TextAnalyzer::builder(PieceTokenizer::default());
    manager.register(PIECES, pieces.build());
    let long = TextAnalyzer::builder(PieceTokenizer::of_long());
    manager.register(LONG_PIECES, long.build());
    let default = || {
        TextAnalyzer::builder(SimpleTokenizer::default())
            .filter(remove_long())
            .filter(LowerCaser)
            .filter(Apart)
    };
    manager.register("default", default().build());
    manager.register("en_stem", default().filter(EnglishStemmer).build());
    let whitespace = TextAnalyzer::builder(WhitespaceTokenizer::default())
        .filter(RemoveLongFilter::limit(MAX_WHITESPACE_TOKEN_BYTES + 1))
        .filter(Apart);
    manager.register("whitespace", whitespace.build());
    let chinese = TextAnalyzer::builder(ChineseTokenizer::default())
        .filter(remove_long())
        .filter(LowerCaser)
        .filter(Apart);
    manager.register("chinese_compatible", chinese.build());
    let source_code = TextAnalyzer::builder(SourceCodeTokenizer::default())
        .filter(remove_long())
        .filter(LowerCaser)
        .filter(AsciiFoldingFilter)
        .filter(Apart);
    manager.register(SOURCE_CODE, source_code.build());
    let standard = TextAnalyzer::builder(StandardTokenizer::default())
        .filter(LowerCaser)
        .filter(Apart);
    manager.register("standard", standard.build());
    let english = TextAnalyzer::builder(StandardTokenizer::default()).dynamic();
    let possessives = [
        TokenizerFilter::Stem(Stem::Possessive),
        TokenizerFilter::LowerCaser,
    ];
    let english = filtered(english, &possessives)
        .filter_dynamic(Step::stop_words())
        .filter_dynamic(Step::new(TokenizerFilter::Stem(Stem::Porter)))
        .filter_dynamic(Apart);
    manager.register("english", english.build());
    let letters = || {
        TextAnalyzer::builder(RunTokenizer::letters())
            .filter(remove_long())
            .filter(LowerCaser)
            .filter(Apart)
    };
    manager.register("letters", letters().build());
    manager.register("letters_stop", letters().filter(Step::stop_words()).build());
    let level = TextAnalyzer::builder(RawTokenizer::default()).filter(remove_long());
    manager.register(LEVEL, level.filter(Levels).build());
    manager
}

/// Returns the built-in tokenizers, those that a config defines, and those of whole values with one of
/// these maximum lengths.
pub fn tokenizers_with(custom: &[CustomTokenizer], limits: &[u32]) -> TokenizerManager {
    let manager = tokenizers();
    for limit in limits {
        for (name, normalizer) in WHOLE {
            let limited = limited(name, Some(*limit));
            manager.register(&limited, whole(normalizer, *limit));
        }
    }
    for tokenizer in custom {
        if let Ok(analyzer) = custom::analyzer(tokenizer) {
            manager.register(&tokenizer.name, analyzer);
        }
    }
    manager
}

/// Returns the effect of a tokenizer on letters.
pub(crate) fn letters(name: &str, custom: &[CustomTokenizer]) -> Letters {
    match custom.iter().find(|tokenizer| tokenizer.name == name) {
        Some(tokenizer) => Letters::of_filters(&tokenizer.filters),
        None if name == SOURCE_CODE => {
            Letters::of_filters(&[TokenizerFilter::LowerCaser, TokenizerFilter::AsciiFolding])
        }
        None if name == LEVEL => Letters::levels(),
        None => match WHOLE.iter().find(|(whole, _)| *whole == name) {
            Some((_, normalizer)) => normalizer.letters(),
            None if lowercases(name) => Letters::lowercase(),
            None => Letters::default(),
        },
    }
}

/// Returns the names of the tokenizers that make several terms of a word, at its place.
pub(crate) fn with_alternatives(custom: &[CustomTokenizer]) -> Vec<String> {
    let has_several = |tokenizer: &&CustomTokenizer| {
        let mut filters = tokenizer.filters.iter();
        matches!(tokenizer.cut, TokenizerCut::Paths(_))
            || filters.any(TokenizerFilter::has_alternatives)
    };
    let found = custom.iter().filter(has_several);
    found.map(|tokenizer| tokenizer.name.clone()).collect()
}

/// Returns the normalizers of text in fast fields, without a maximum length and
/// with each of `limits`. Those without one drop nothing; a value longer than
/// [`MAX_COLUMN_TEXT_BYTES`] is truncated.
pub fn fast_field_tokenizers(limits: &[u32]) -> TokenizerManager {
    let manager = TokenizerManager::new();
    for limit in limits.iter().copied().map(Some).chain([None]) {
        let values = || {
            TextAnalyzer::builder(RawTokenizer::default()).filter(AtMost(limit.unwrap_or(u32::MAX)))
        };
        for (_, normalizer) in NORMALIZERS {
            let values = filtered(values().dynamic(), normalizer.filters());
            let column = values.filter_dynamic(Shorten).build();
            manager.register(&of_column(normalizer, limit), column);
        }
    }
    manager
}

/// Returns the name of a normalizer in a split. tantivy skips one named `raw`, so long values would
/// not be truncated.
pub(crate) fn of_column(normalizer: Normalizer, limit: Option<u32>) -> String {
    let name = match normalizer {
        Normalizer::Raw => "whole",
        other => other.name(),
    };
    match limit {
        Some(limit) => format!("{name}:{limit}"),
        None => name.to_owned(),
    }
}

/// Returns whether terms of this built-in tokenizer are lowercase, so that wildcards and prefixes
/// must be too.
pub fn lowercases(tokenizer: &str) -> bool {
    !matches!(tokenizer, "raw" | "whitespace" | "raw_ascii_folding")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(name: &str, text: &str) -> Vec<String> {
        let mut analyzer = tokenizers().get(name).unwrap();
        let mut stream = analyzer.token_stream(text);
        let mut tokens = Vec::new();
        while let Some(token) = stream.next() {
            tokens.push(token.text.clone());
        }
        tokens
    }

    #[test]
    fn every_name_cuts_as_documented() {
        let check = |name: &str, text: &str, expect: &[&str]| {
            assert_eq!(tokens(name, text), expect, "{name}")
        };
        check("raw", "Foo Bar", &["Foo Bar"]);
        check("lowercase", "Foo BAR", &["foo bar"]);
        check("raw_lowercase", "Foo BAR", &["foo bar"]);
        check(
            "default",
            "Foo-Bar: blk_123, runs",
            &["foo", "bar", "blk", "123", "runs"],
        );
        check("en_stem", "Running dogs", &["run", "dog"]);
        check(
            "en_stem",
            "the FLIES: blk_123, flying!",
            &["the", "fli", "blk", "123", "fli"],
        );
        check("whitespace", "Foo-Bar baz", &["Foo-Bar", "baz"]);
        check("standard", "Foo_Bar: 10.1.2.3", &["foo_bar", "10.1.2.3"]);
        check("letters", "The Foo2Bar", &["the", "foo", "bar"]);
        check("letters_stop", "The Foo2Bar", &["foo", "bar"]);
        check("level", "Warning", &["warn"]);
        check("raw_ascii_folding", "Café Bar", &["Cafe Bar"]);
        check("raw_folded", "Café Bar", &["cafe bar"]);
        check(
            "english",
            "The Running's importantly generously of Dogs’ O'Neil's",
            &["run", "importantli", "gener", "dog", "o'neil"],
        );
        check(
            "chinese_compatible",
            "Hello world, 你好世界, x1你bonjour",
            &[
                "hello", "world", "你", "好", "世", "界", "x1", "你", "bonjour",
            ],
        );
        check(
            "source_code_default",
            "PigCaféFactory2 parse_HTTPRequest",
            &["pig", "cafe", "factory", "2", "parse", "http", "request"],
        );
    }

    #[test]
    fn ascii_is_cut_alike_by_the_tokenizer_for_chinese_and_the_default() {
        for text in ["", "a", "Foo-Bar: blk_123, runs", "  x  ", "a1_b2.C3"] {
            assert_eq!(tokens("chinese_compatible", text), tokens("default", text));
        }
    }

    #[test]
    fn letters_of_source_code_are_folded_in_patterns_too() {
        assert_eq!(
            letters("source_code_default", &[]).apply("CAFÉ*", Extent::Part),
            "cafe*"
        );
        assert_eq!(
            letters("chinese_compatible", &[]).apply("CAFÉ*", Extent::Part),
            "café*"
        );
        assert_eq!(
            letters("level", &[]).apply("Warning", Extent::Whole),
            "warn"
        );
        assert_eq!(letters("level", &[]).apply("Ü", Extent::Whole), "ü");
        assert_eq!(letters("level", &[]).apply("3", Extent::Whole), "error");
        assert_eq!(letters("level", &[]).apply("3", Extent::Part), "3");
    }

    #[test]
    fn words_of_more_than_255_bytes_are_dropped_and_values_of_more_than_32766() {
        let long = "x".repeat(256);
        for name in NAMES {
            let expect = match name {
                // In two pieces.
                "standard" | "english" => 2,
                name => usize::from(name == "whitespace" || is_whole(name)),
            };
            assert_eq!(tokens(name, &long).len(), expect, "{name}");
            assert_eq!(tokens(name, long.get(1..).unwrap()).len(), 1, "{name}");
        }
        let value = "x".repeat(32_766);
        assert_eq!(tokens("raw", &value), [value.as_str()]);
        assert!(tokens("raw", &(value + "x")).is_empty());
        let longest = "x".repeat(65_526);
        assert_eq!(
            tokens("whitespace", &format!("{longest} y")),
            [&longest, "y"]
        );
        assert_eq!(tokens("whitespace", &format!("{longest}x y")), ["y"]);
    }

    #[test]
    fn a_column_keeps_the_beginning_of_long_values() {
        for name in ["whole", "lowercase"] {
            let mut normalizer = fast_field_tokenizers(&[]).get(name).unwrap();
            let long = "x".repeat(70_000);
            let mut tokens = normalizer.token_stream(&long);
            assert!(tokens.advance(), "{name}");
            assert_eq!(tokens.token().text.len(), MAX_COLUMN_TEXT_BYTES, "{name}");
        }
    }

    #[test]
    fn every_normalizer_is_registered() {
        for (_, normalizer) in NORMALIZERS {
            for limit in [None, Some(256)] {
                let name = of_column(normalizer, limit);
                assert!(fast_field_tokenizers(&[256]).get(&name).is_some());
            }
        }
    }

    #[test]
    fn values_that_are_too_long_are_dropped_and_not_truncated() {
        let terms = tokenizers_with(&[], &[3]);
        let columns = fast_field_tokenizers(&[3]);
        for (manager, name) in [
            (&terms, limited("raw", Some(3))),
            (&terms, limited("lowercase", Some(3))),
            (&columns, of_column(Normalizer::Raw, Some(3))),
            (&columns, of_column(Normalizer::Lowercase, Some(3))),
        ] {
            let mut analyzer = manager.get(&name).unwrap();
            assert!(analyzer.token_stream("abc").advance(), "{name}");
            assert!(!analyzer.token_stream("abcd").advance(), "{name}");
        }
    }
}
