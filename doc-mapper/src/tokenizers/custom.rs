//! Tokenizers defined in a config, and their effect on letters.

use regex::RegexBuilder;
use tantivy::tokenizer::{
    AsciiFoldingFilter, LowerCaser, NgramTokenizer, RawTokenizer, RegexTokenizer, RemoveLongFilter,
    SimpleTokenizer, TextAnalyzer, TextAnalyzerBuilder, TokenStream as _, WhitespaceTokenizer,
};

use super::definition::{CustomTokenizer, Normalizer, TokenizerCut, TokenizerFilter};
use super::filters::Step;
use super::gap::Apart;
use super::level::level_of;
use super::runs::RunTokenizer;
use super::source_code::SourceCodeTokenizer;
use super::standard::StandardTokenizer;
use super::{MAX_WHITESPACE_TOKEN_BYTES, remove_long};
use crate::classes::check_classes;

/// Maximum memory of a compiled pattern in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// Checks a pattern.
///
/// # Errors
/// The pattern cannot be used. The message is the end of a sentence that names it.
pub(crate) fn check_pattern(pattern: &str) -> Result<(), String> {
    check_classes(pattern)?;
    let regex = RegexBuilder::new(pattern)
        .size_limit(MAX_COMPILED_BYTES)
        .build()
        .map_err(|error| format!("cannot be used: {error}"))?;
    match regex.is_match("") {
        true => Err(
            "matches the empty text, and tokens end where it does: write + in place of *"
                .to_owned(),
        ),
        false => Ok(()),
    }
}

/// Creates the tokenizer of an entry; `None` for an invalid one, which reading a config never
/// accepts.
pub(super) fn analyzer(tokenizer: &CustomTokenizer) -> Option<TextAnalyzer> {
    let cut = match &tokenizer.cut {
        TokenizerCut::Simple => TextAnalyzer::builder(SimpleTokenizer::default()).dynamic(),
        TokenizerCut::SourceCode => TextAnalyzer::builder(SourceCodeTokenizer::default()).dynamic(),
        TokenizerCut::Ngram {
            min_gram,
            max_gram,
            prefix_only,
        } => {
            let cut = NgramTokenizer::new(*min_gram, *max_gram, *prefix_only).ok()?;
            TextAnalyzer::builder(cut).dynamic()
        }
        TokenizerCut::Regex { pattern } => {
            TextAnalyzer::builder(RegexTokenizer::new(pattern).ok()?).dynamic()
        }
        TokenizerCut::Whitespace => TextAnalyzer::builder(WhitespaceTokenizer::default()).dynamic(),
        TokenizerCut::Whole => TextAnalyzer::builder(RawTokenizer::default()).dynamic(),
        TokenizerCut::Standard => TextAnalyzer::builder(StandardTokenizer::default()).dynamic(),
        TokenizerCut::Letters => TextAnalyzer::builder(RunTokenizer::letters()).dynamic(),
        TokenizerCut::Grams { grams, token_chars } => {
            let runs = RunTokenizer::new(token_chars.clone());
            let grams = TokenizerFilter::Grams(grams.clone());
            TextAnalyzer::builder(runs)
                .dynamic()
                .filter_dynamic(Step(grams))
        }
    };
    let filtered = filtered(cut, &tokenizer.filters);
    // Drops tokens that no dictionary can contain.
    let fitting = RemoveLongFilter::limit(MAX_WHITESPACE_TOKEN_BYTES + 1);
    Some(
        filtered
            .filter_dynamic(fitting)
            .filter_dynamic(Apart)
            .build(),
    )
}

pub(super) fn filtered(
    cut: TextAnalyzerBuilder,
    filters: &[TokenizerFilter],
) -> TextAnalyzerBuilder {
    filters.iter().fold(cut, |cut, filter| match filter {
        TokenizerFilter::RemoveLong => cut.filter_dynamic(remove_long()),
        TokenizerFilter::LowerCaser => cut.filter_dynamic(LowerCaser),
        TokenizerFilter::AsciiFolding => cut.filter_dynamic(AsciiFoldingFilter),
        other => cut.filter_dynamic(Step(other.clone())),
    })
}

/// Effect of a tokenizer on the letters of its tokens. It also applies to patterns, prefixes and
/// bounds of ranges, which are not split.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Letters {
    filters: Vec<TokenizerFilter>,
    /// True if values are levels of logs.
    are_levels: bool,
}

/// How much of a value a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// A prefix, or a part of a pattern.
    Part,
}

impl Normalizer {
    /// Returns its effect on letters.
    pub fn letters(self) -> Letters {
        Letters::of_filters(self.filters())
    }
}

impl Letters {
    /// Creates the effect of these filters.
    pub(super) fn of_filters(filters: &[TokenizerFilter]) -> Letters {
        let changes_letters = |filter: &&TokenizerFilter| {
            matches!(
                filter,
                TokenizerFilter::LowerCaser | TokenizerFilter::AsciiFolding
            )
        };
        Letters {
            filters: filters.iter().filter(changes_letters).cloned().collect(),
            are_levels: false,
        }
    }

    /// Creates the effect of the tokenizer of levels.
    pub(super) fn levels() -> Letters {
        Letters {
            are_levels: true,
            ..Letters::lowercase()
        }
    }

    /// Creates the effect of a lowercasing built-in tokenizer.
    pub(super) fn lowercase() -> Letters {
        Letters::of_filters(&[TokenizerFilter::LowerCaser])
    }

    /// Returns whether capitals become lowercase.
    pub fn lowercases(&self) -> bool {
        self.filters.contains(&TokenizerFilter::LowerCaser)
    }

    /// Converts a text to the letters of terms, character by character as in tantivy.
    /// `str::to_lowercase` would treat a final sigma differently.
    pub fn apply(&self, text: &str, extent: Extent) -> String {
        if self.are_levels
            && extent == Extent::Whole
            && let Some(level) = level_of(text)
        {
            return level.to_lowercase();
        }
        self.filters
            .iter()
            .fold(text.to_owned(), |text, filter| match filter {
                TokenizerFilter::LowerCaser => text.chars().flat_map(char::to_lowercase).collect(),
                TokenizerFilter::AsciiFolding => folded(&text),
                _ => text,
            })
    }
}

impl CustomTokenizer {
    /// Creates the tokenizer; `None` for an invalid one, which reading a config never accepts.
    pub fn analyzer(&self) -> Option<TextAnalyzer> {
        analyzer(self)
    }
}

fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut analyzer = TextAnalyzer::builder(RawTokenizer::default())
        .filter(AsciiFoldingFilter)
        .build();
    let mut tokens = analyzer.token_stream(text);
    match tokens.advance() {
        true => tokens.token().text.clone(),
        false => String::new(),
    }
}
