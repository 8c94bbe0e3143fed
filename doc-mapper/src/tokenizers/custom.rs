//! Tokenizers defined in a config, and their effect on letters.

use std::sync::Arc;

use regex::RegexBuilder;
use tantivy::tokenizer::{
    AsciiFoldingFilter, LowerCaser, NgramTokenizer, RawTokenizer, RegexTokenizer, RemoveLongFilter,
    SimpleTokenizer, TextAnalyzer, TextAnalyzerBuilder, WhitespaceTokenizer,
};

use super::definition::{CustomTokenizer, Normalizer, SynonymRules, TokenizerCut, TokenizerFilter};
use super::filters::{Changer, ChangingTokenizer, Ready, Replacement, Step, Synonyms, folded};
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

/// Creates the tokenizer of an entry.
///
/// # Errors
/// It is invalid; the message is a sentence.
pub(super) fn analyzer(tokenizer: &CustomTokenizer) -> Result<TextAnalyzer, String> {
    let changers = changers(tokenizer)?;
    let filtered = with_filters(tokenizer, &tokenizer.filters)?;
    // Drops tokens that no dictionary can contain.
    let fitting = RemoveLongFilter::limit(MAX_WHITESPACE_TOKEN_BYTES + 1);
    let inner = filtered
        .filter_dynamic(fitting)
        .filter_dynamic(Apart)
        .build();
    Ok(match changers.is_empty() {
        true => inner,
        false => TextAnalyzer::builder(ChangingTokenizer::new(changers, inner)).build(),
    })
}

fn changers(tokenizer: &CustomTokenizer) -> Result<Vec<Changer>, String> {
    tokenizer.char_filters.iter().map(Changer::of).collect()
}

/// Returns the maximum number of bytes of tokens that its filters make of a byte of text, without grams.
pub(crate) fn growth(tokenizer: &CustomTokenizer) -> usize {
    let changers = changers(tokenizer).unwrap_or_default();
    let of_texts = changers.iter().map(Changer::growth);
    let filters = tokenizer.filters.iter().enumerate();
    let of_tokens = filters.map(|(nth, filter)| match filter {
        TokenizerFilter::Synonyms(rules) => {
            let before = before(tokenizer, nth);
            before.map_or(1, |before| before.growth_of(rules))
        }
        TokenizerFilter::Shingles(shingles) => {
            // The space between two may be shorter than what stands between them here.
            let sizes = shingles.min..=shingles.max;
            let longest = shingles.separator.len().max(shingles.filler.len()) + 1;
            sizes
                .sum::<usize>()
                .saturating_add(1)
                .saturating_mul(longest)
        }
        // The parts of a word, those of them that are joined in two ways, and the word itself.
        TokenizerFilter::Delimiter(_) => 4,
        TokenizerFilter::FoldedBeside => 2,
        TokenizerFilter::StemBut(stems) => {
            let of_own = stems.overrides.iter();
            let of_own = of_own.map(|(word, own)| own.len() / word.len().max(1) + 1);
            of_own.max().unwrap_or(1) + usize::from(stems.is_beside)
        }
        TokenizerFilter::Replace {
            pattern,
            replacement,
        } => Replacement::of(pattern, replacement).map_or(1, |replacement| replacement.growth()),
        _ => 1,
    });
    of_texts.chain(of_tokens).fold(1, usize::saturating_mul)
}

/// What cuts the texts of rules of synonyms.
struct Before(TextAnalyzer);

impl Before {
    fn growth_of(mut self, rules: &SynonymRules) -> usize {
        let synonyms = Synonyms::of(rules, &mut self.0);
        synonyms.map_or(1, |synonyms| synonyms.growth())
    }
}

/// Returns an analyzer of the parts of a tokenizer before one of its filters.
fn before(tokenizer: &CustomTokenizer, nth: usize) -> Result<Before, String> {
    let filters = tokenizer.filters.get(..nth).unwrap_or_default();
    let inner = with_filters(tokenizer, filters)?.build();
    let changers = changers(tokenizer)?;
    Ok(Before(
        TextAnalyzer::builder(ChangingTokenizer::new(changers, inner)).build(),
    ))
}

fn with_filters(
    tokenizer: &CustomTokenizer,
    filters: &[TokenizerFilter],
) -> Result<TextAnalyzerBuilder, String> {
    let mut built = cut(&tokenizer.cut).ok_or_else(|| "it cannot be used".to_owned())?;
    for (nth, filter) in filters.iter().enumerate() {
        built = match filter {
            TokenizerFilter::Synonyms(rules) => {
                let synonyms = Synonyms::of(rules, &mut before(tokenizer, nth)?.0)?;
                let ready = Ready::Synonyms(Arc::new(synonyms));
                built.filter_dynamic(Step::with(filter.clone(), ready))
            }
            TokenizerFilter::Replace {
                pattern,
                replacement,
            } => {
                let replacement = Replacement::of(pattern, replacement)?;
                let ready = Ready::Replacement(Arc::new(replacement));
                built.filter_dynamic(Step::with(filter.clone(), ready))
            }
            filter => filtered(built, std::slice::from_ref(filter)),
        };
    }
    Ok(built)
}

fn cut(cut: &TokenizerCut) -> Option<TextAnalyzerBuilder> {
    Some(match cut {
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
        TokenizerCut::Paths(paths) => TextAnalyzer::builder(RawTokenizer::default())
            .dynamic()
            .filter_dynamic(Step::new(TokenizerFilter::Paths(*paths))),
        TokenizerCut::Grams { grams, token_chars } => {
            let runs = RunTokenizer::new(token_chars.clone());
            let grams = TokenizerFilter::Grams(grams.clone());
            TextAnalyzer::builder(runs)
                .dynamic()
                .filter_dynamic(Step::new(grams))
        }
    })
}

pub(super) fn filtered(
    cut: TextAnalyzerBuilder,
    filters: &[TokenizerFilter],
) -> TextAnalyzerBuilder {
    filters.iter().fold(cut, |cut, filter| match filter {
        TokenizerFilter::RemoveLong => cut.filter_dynamic(remove_long()),
        TokenizerFilter::LowerCaser => cut.filter_dynamic(LowerCaser),
        TokenizerFilter::AsciiFolding => cut.filter_dynamic(AsciiFoldingFilter),
        other => cut.filter_dynamic(Step::new(other.clone())),
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
                TokenizerFilter::LowerCaser
                    | TokenizerFilter::AsciiFolding
                    | TokenizerFilter::FoldedBeside
                    | TokenizerFilter::Uppercase
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
                TokenizerFilter::AsciiFolding | TokenizerFilter::FoldedBeside => folded(&text),
                TokenizerFilter::Uppercase => text.chars().flat_map(char::to_uppercase).collect(),
                _ => text,
            })
    }
}

impl CustomTokenizer {
    /// Creates the tokenizer.
    ///
    /// # Errors
    /// It is invalid, which reading a config never accepts; the message is a sentence.
    pub fn analyzer(&self) -> Result<TextAnalyzer, String> {
        analyzer(self)
    }
}
