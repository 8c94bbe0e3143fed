//! Tokenizers by name, the same in builder and guest, so that each finds the other's terms.

use std::ops::Range;

use tantivy::tokenizer::{
    AsciiFoldingFilter, LowerCaser, RawTokenizer, RemoveLongFilter, SimpleTokenizer, TextAnalyzer,
    Token, TokenizerManager, WhitespaceTokenizer,
};

mod chinese;
mod column_text;
mod custom;
mod definition;
mod english;
mod source_code;

use chinese::ChineseTokenizer;
use column_text::Shorten;
pub use column_text::{MAX_COLUMN_TEXT_BYTES, column_text};
pub use custom::Letters;
pub(crate) use custom::check_pattern;
pub(crate) use definition::FILTERS;
pub use definition::{CustomTokenizer, Normalizer, TokenizerCut, TokenizerFilter};
use english::EnglishStemmer;
use source_code::SourceCodeTokenizer;

/// Built-in values of a `tokenizer` key, besides the tokenizers in the config.
///
/// - `raw`: the whole value is one token.
/// - `lowercase`, `raw_lowercase`: the whole value, lowercased, is one token.
/// - `default`: splits at white space and punctuation, and lowercases.
/// - `en_stem`: as `default`, and reduces English words to their stems.
/// - `whitespace`: splits at white space, and does not lowercase.
/// - `chinese_compatible`: as `default`, and each Han character is a token.
/// - `source_code_default`: as `default`, splits identifiers into their words, and folds letters to ASCII.
///
/// `whitespace` drops tokens of more than 65,526 bytes, the others those of more than 255. No
/// dictionary contains such tokens, and queries for them find nothing.
pub const NAMES: [&str; 8] = [
    "raw",
    "lowercase",
    "raw_lowercase",
    "default",
    "en_stem",
    "whitespace",
    "chinese_compatible",
    SOURCE_CODE,
];

/// Built-in tokenizer that folds letters in addition to lowercasing them.
const SOURCE_CODE: &str = "source_code_default";

/// Maximum length of a token in bytes. Users never type longer ones, which would fill the term
/// dictionary.
const MAX_TOKEN_BYTES: usize = 255;

/// Maximum length of a token of `whitespace`. tantivy's keys have up to 65,535 bytes, of which a
/// JSON field uses 9 for itself.
const MAX_WHITESPACE_TOKEN_BYTES: usize = 65_526;

// `RemoveLongFilter::limit(n)` keeps tokens of fewer than n bytes.
fn remove_long() -> RemoveLongFilter {
    RemoveLongFilter::limit(MAX_TOKEN_BYTES + 1)
}

fn raw() -> TextAnalyzer {
    TextAnalyzer::builder(RawTokenizer::default())
        .filter(remove_long())
        .build()
}

fn lowercase() -> TextAnalyzer {
    TextAnalyzer::builder(RawTokenizer::default())
        .filter(LowerCaser)
        .filter(remove_long())
        .build()
}

/// Returns the built-in tokenizers.
pub fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::new();
    manager.register("raw", raw());
    manager.register("lowercase", lowercase());
    manager.register("raw_lowercase", lowercase());
    let default = || {
        TextAnalyzer::builder(SimpleTokenizer::default())
            .filter(remove_long())
            .filter(LowerCaser)
    };
    manager.register("default", default().build());
    manager.register("en_stem", default().filter(EnglishStemmer).build());
    let whitespace = TextAnalyzer::builder(WhitespaceTokenizer::default())
        .filter(RemoveLongFilter::limit(MAX_WHITESPACE_TOKEN_BYTES + 1));
    manager.register("whitespace", whitespace.build());
    let chinese = TextAnalyzer::builder(ChineseTokenizer::default())
        .filter(remove_long())
        .filter(LowerCaser);
    manager.register("chinese_compatible", chinese.build());
    let source_code = TextAnalyzer::builder(SourceCodeTokenizer::default())
        .filter(remove_long())
        .filter(LowerCaser)
        .filter(AsciiFoldingFilter);
    manager.register(SOURCE_CODE, source_code.build());
    manager
}

/// Returns the built-in tokenizers, and those that a config defines.
pub fn tokenizers_with(custom: &[CustomTokenizer]) -> TokenizerManager {
    let manager = tokenizers();
    for tokenizer in custom {
        if let Some(analyzer) = custom::analyzer(tokenizer) {
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
        None if lowercases(name) => Letters::lowercase(),
        None => Letters::default(),
    }
}

/// Returns the normalizers of text in fast fields: `raw` and `lowercase`. They drop nothing; a
/// value longer than [`MAX_COLUMN_TEXT_BYTES`] is truncated.
pub fn fast_field_tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::new();
    let raw = TextAnalyzer::builder(RawTokenizer::default()).filter(Shorten);
    manager.register(of_column(Normalizer::Raw), raw.build());
    let lowercase = TextAnalyzer::builder(RawTokenizer::default())
        .filter(LowerCaser)
        .filter(Shorten);
    manager.register(of_column(Normalizer::Lowercase), lowercase.build());
    manager
}

/// Returns the name of a normalizer in a split. tantivy skips one named `raw`, so long values would
/// not be truncated.
pub(crate) fn of_column(normalizer: Normalizer) -> &'static str {
    match normalizer {
        Normalizer::Raw => "whole",
        Normalizer::Lowercase => "lowercase",
    }
}

/// Returns whether terms of this built-in tokenizer are lowercase, so that wildcards and prefixes
/// must be too.
pub fn lowercases(tokenizer: &str) -> bool {
    !matches!(tokenizer, "raw" | "whitespace")
}

/// Replaces a token by the next one: the bytes of this range of `text`.
fn set_next(token: &mut Token, text: &str, range: Range<usize>) {
    token.position = token.position.wrapping_add(1);
    (token.offset_from, token.offset_to) = (range.start, range.end);
    token.text.clear();
    token.text.push_str(text.get(range).unwrap_or_default());
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
        assert_eq!(letters("source_code_default", &[]).apply("CAFÉ*"), "cafe*");
        assert_eq!(letters("chinese_compatible", &[]).apply("CAFÉ*"), "café*");
    }

    #[test]
    fn tokens_of_more_than_255_bytes_are_dropped() {
        let long = "x".repeat(256);
        for name in NAMES {
            let expect = usize::from(name == "whitespace");
            assert_eq!(tokens(name, &long).len(), expect, "{name}");
            assert_eq!(tokens(name, long.get(1..).unwrap()).len(), 1, "{name}");
        }
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
            let mut normalizer = fast_field_tokenizers().get(name).unwrap();
            let long = "x".repeat(70_000);
            let mut tokens = normalizer.token_stream(&long);
            assert!(tokens.advance(), "{name}");
            assert_eq!(tokens.token().text.len(), MAX_COLUMN_TEXT_BYTES, "{name}");
        }
    }

    #[test]
    fn every_normalizer_is_registered() {
        for name in [Normalizer::Raw, Normalizer::Lowercase].map(of_column) {
            assert!(fast_field_tokenizers().get(name).is_some());
        }
    }
}
