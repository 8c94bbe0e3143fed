//! Filters that drop tokens, change their text, or make several of one.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use tantivy::tokenizer::{Token, TokenFilter, TokenStream, Tokenizer};

use super::chars::Replacement;
use super::several::Several;
use super::stems;
use super::synonyms::Synonyms;
use crate::tokenizers::definition::{Grams, STOP_WORDS, TokenizerFilter};

/// One filter of a config. A single type keeps the component small: filters of its own would each be compiled for every
/// tokenizer.
#[derive(Clone)]
pub(in crate::tokenizers) struct Step {
    filter: TokenizerFilter,
    ready: Option<Ready>,
}

/// What a filter needs besides its definition.
#[derive(Clone)]
pub(in crate::tokenizers) enum Ready {
    Synonyms(Arc<Synonyms>),
    Replacement(Arc<Replacement>),
}

impl Step {
    pub(in crate::tokenizers) fn new(filter: TokenizerFilter) -> Self {
        Self {
            filter,
            ready: None,
        }
    }

    pub(in crate::tokenizers) fn with(filter: TokenizerFilter, ready: Ready) -> Self {
        Self {
            filter,
            ready: Some(ready),
        }
    }

    /// Creates the filter that drops frequent English words, which must be lowercase, as Elasticsearch's `stop` and
    /// `english` analyzers do.
    pub(in crate::tokenizers) fn stop_words() -> Self {
        Self::new(TokenizerFilter::Stop {
            words: STOP_WORDS.map(str::to_owned).to_vec(),
            ignores_case: false,
        })
    }
}

impl TokenFilter for Step {
    type Tokenizer<T: Tokenizer> = SteppedTokenizer<T>;

    fn transform<T: Tokenizer>(self, tokenizer: T) -> SteppedTokenizer<T> {
        SteppedTokenizer {
            inner: tokenizer,
            filter: self.filter,
            ready: self.ready,
        }
    }
}

#[derive(Clone)]
pub(in crate::tokenizers) struct SteppedTokenizer<T> {
    inner: T,
    filter: TokenizerFilter,
    ready: Option<Ready>,
}

impl<T: Tokenizer> Tokenizer for SteppedTokenizer<T> {
    type TokenStream<'a> = SteppedTokens<'a, T::TokenStream<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        SteppedTokens {
            tokens: self.inner.token_stream(text),
            filter: &self.filter,
            several: Several::is(&self.filter)
                .then(|| Several::new(&self.filter, self.ready.as_ref())),
            ready: self.ready.as_ref(),
            seen: BTreeSet::new(),
            whole: String::new(),
            origin: 0,
            grams: Vec::new(),
            num_grams: 0,
            num_tokens: 0,
        }
    }
}

pub(in crate::tokenizers) struct SteppedTokens<'a, T> {
    tokens: T,
    filter: &'a TokenizerFilter,
    /// Progress of a filter of several tokens, whose tokens are its own.
    several: Option<Several<'a>>,
    ready: Option<&'a Ready>,
    /// Tokens before this one, where each counts once.
    seen: BTreeSet<String>,
    /// Token whose grams are due.
    whole: String,
    /// Where it begins in the text.
    origin: usize,
    /// Places of the grams that are due in it, in reverse.
    grams: Vec<Range<usize>>,
    /// Grams so far, where each has a position of its own.
    num_grams: usize,
    /// Tokens so far, where their number is limited.
    num_tokens: usize,
}

impl<T: TokenStream> TokenStream for SteppedTokens<'_, T> {
    fn advance(&mut self) -> bool {
        if let Some(several) = &mut self.several {
            return several.advance(&mut self.tokens);
        }
        if let TokenizerFilter::Limit { count } = self.filter {
            self.num_tokens += 1;
            return self.num_tokens <= *count && self.tokens.advance();
        }
        loop {
            if let TokenizerFilter::Grams(grams) = self.filter
                && let Some(place) = self.grams.pop()
            {
                self.set_gram(place, grams);
                return true;
            }
            if !self.tokens.advance() {
                return false;
            }
            let token = self.tokens.token_mut();
            if let TokenizerFilter::Grams(grams) = self.filter {
                self.whole.clone_from(&token.text);
                self.origin = token.offset_from;
                self.grams = grams.places_in(&self.whole);
            } else if let (TokenizerFilter::Replace { .. }, Some(Ready::Replacement(replacement))) =
                (self.filter, self.ready)
            {
                token.text = replacement.text_of(&token.text);
                return true;
            } else if is_kept(self.filter, token, &mut self.seen) {
                return true;
            }
        }
    }

    fn token(&self) -> &Token {
        match &self.several {
            Some(several) => &several.current,
            None => self.tokens.token(),
        }
    }

    fn token_mut(&mut self) -> &mut Token {
        match &mut self.several {
            Some(several) => &mut several.current,
            None => self.tokens.token_mut(),
        }
    }
}

impl<T: TokenStream> SteppedTokens<'_, T> {
    fn set_gram(&mut self, place: Range<usize>, grams: &Grams) {
        let token = self.tokens.token_mut();
        token.text.clear();
        let gram = self.whole.get(place.clone());
        token.text.push_str(gram.unwrap_or_default());
        if grams.has_positions {
            // A tokenizer's token is a part of the text.
            token.offset_from = self.origin + place.start;
            token.offset_to = self.origin + place.end;
            token.position = self.num_grams;
            self.num_grams += 1;
        }
    }
}

/// Returns whether a text is one of these words.
fn is_among(words: &[String], text: &str, ignores_case: bool) -> bool {
    match ignores_case {
        true => {
            let lower: String = text.chars().flat_map(char::to_lowercase).collect();
            words.binary_search(&lower).is_ok()
        }
        false => words
            .binary_search_by(|word| word.as_str().cmp(text))
            .is_ok(),
    }
}

/// Changes a token; returns false if it is dropped.
fn is_kept(filter: &TokenizerFilter, token: &mut Token, seen: &mut BTreeSet<String>) -> bool {
    let text = &mut token.text;
    match filter {
        TokenizerFilter::Trim => {
            let trimmed = text.trim();
            if trimmed.len() < text.len() {
                *text = trimmed.to_owned();
            }
        }
        TokenizerFilter::Stem(stem) => stems::stem(*stem, text),
        TokenizerFilter::Stop {
            words,
            ignores_case,
        } => {
            return !is_among(words, text, *ignores_case);
        }
        TokenizerFilter::Length { min, max } => {
            let len = text.encode_utf16().count();
            return (*min..=*max).contains(&len);
        }
        TokenizerFilter::Pattern => *text = canter_patterns::pattern_of(text),
        TokenizerFilter::Unique => return seen.insert(text.clone()),
        TokenizerFilter::Uppercase => *text = text.chars().flat_map(char::to_uppercase).collect(),
        TokenizerFilter::Apostrophe => {
            if let Some(len) = text.find(['\'', '\u{2019}']) {
                text.truncate(len);
            }
        }
        TokenizerFilter::Distinct => return seen.insert(format!("{} {text}", token.position)),
        TokenizerFilter::Elision { articles } => {
            if let Some((article, rest)) = text.split_once(['\'', '\u{2019}'])
                && articles.binary_search(&article.to_lowercase()).is_ok()
            {
                *text = rest.to_owned();
            }
        }
        TokenizerFilter::Keep {
            words,
            ignores_case,
        } => return is_among(words, text, *ignores_case),
        TokenizerFilter::Reverse => *text = text.chars().rev().collect(),
        TokenizerFilter::Truncate { length } => {
            if let Some((end, _)) = text.char_indices().nth(*length) {
                text.truncate(end);
            }
        }
        // `custom.rs` has filters of their own for some of these, and `advance` makes the tokens of the others.
        _ => {}
    }
    true
}

#[cfg(test)]
mod tests {
    use tantivy::tokenizer::{TextAnalyzer, WhitespaceTokenizer};

    use super::*;
    use crate::tokenizers::definition::Stem;
    use crate::tokenizers::runs::RunTokenizer;

    #[test]
    fn frequent_words_are_sorted_and_leave_their_places() {
        assert!(STOP_WORDS.is_sorted());
        let mut tokenizer = Step::stop_words().transform(RunTokenizer::letters());
        let mut tokens = Vec::new();
        tokenizer
            .token_stream("the disk_is2full of logs")
            .process(&mut |token| tokens.push((token.position, token.text.clone())));
        let expect = [(1, "disk"), (3, "full"), (5, "logs")];
        assert_eq!(tokens, expect.map(|(at, word)| (at, word.to_owned())));
    }

    fn check(filter: TokenizerFilter, text: &str, expect: &[(usize, &str)]) {
        let mut analyzer = TextAnalyzer::builder(WhitespaceTokenizer::default())
            .filter(Step::new(filter))
            .build();
        let mut tokens = Vec::new();
        analyzer
            .token_stream(text)
            .process(&mut |token| tokens.push((token.position, token.text.clone())));
        let expect: Vec<_> = expect
            .iter()
            .map(|(at, word)| (*at, (*word).to_owned()))
            .collect();
        assert_eq!(tokens, expect, "{text}");
    }

    fn grams(
        min_gram: usize,
        max_gram: usize,
        prefix_only: bool,
        preserve_original: bool,
    ) -> Grams {
        Grams {
            min_gram,
            max_gram,
            prefix_only,
            preserve_original,
            has_positions: false,
        }
    }

    #[test]
    fn filters_are_lucenes() {
        let stop = |ignores_case| TokenizerFilter::Stop {
            words: vec!["of".to_owned(), "the".to_owned()],
            ignores_case,
        };
        check(
            stop(false),
            "end of The day",
            &[(0, "end"), (2, "The"), (3, "day")],
        );
        check(stop(true), "end of The day", &[(0, "end"), (3, "day")]);
        check(
            TokenizerFilter::Unique,
            "a b a c b",
            &[(0, "a"), (1, "b"), (3, "c")],
        );
        let length = TokenizerFilter::Length { min: 2, max: 3 };
        check(
            length,
            "a ab abc abcd äö",
            &[(1, "ab"), (2, "abc"), (4, "äö")],
        );
        let stem = |stem| TokenizerFilter::Stem(stem);
        check(
            stem(Stem::Porter),
            "generously importantly",
            &[(0, "gener"), (1, "importantli")],
        );
        check(
            stem(Stem::English),
            "generously importantly",
            &[(0, "generous"), (1, "import")],
        );
        check(
            stem(Stem::Possessive),
            "Bob's Bob\u{2019}S bobs s 's",
            &[(0, "Bob"), (1, "Bob"), (2, "bobs"), (3, "s"), (4, "")],
        );
    }

    #[test]
    fn grams_are_lucenes() {
        let of = |grams: Grams| TokenizerFilter::Grams(grams);
        check(
            of(grams(1, 3, true, false)),
            "quick fo",
            &[(0, "q"), (0, "qu"), (0, "qui"), (1, "f"), (1, "fo")],
        );
        check(
            of(grams(2, 3, false, false)),
            "äbcd x",
            &[(0, "äb"), (0, "äbc"), (0, "bc"), (0, "bcd"), (0, "cd")],
        );
        check(
            of(grams(2, 3, true, true)),
            "quick x ab",
            &[(0, "qu"), (0, "qui"), (0, "quick"), (1, "x"), (2, "ab")],
        );
    }
}
