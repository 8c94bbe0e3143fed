//! English stemmer, equivalent to tantivy's filter of that name.
//!
//! tantivy's links the stemmers of 18 languages, about 50 KB of the compressed guest, while an
//! index config can name only this one.

use std::borrow::Cow;

use frostem::Algorithm;
use tantivy::tokenizer::{Token, TokenFilter, TokenStream, Tokenizer};

/// Filter for lowercase tokens.
#[derive(Clone, Copy)]
pub(in crate::tokenizers) struct EnglishStemmer;

impl TokenFilter for EnglishStemmer {
    type Tokenizer<T: Tokenizer> = StemmedTokenizer<T>;

    fn transform<T: Tokenizer>(self, tokenizer: T) -> StemmedTokenizer<T> {
        StemmedTokenizer(tokenizer)
    }
}

#[derive(Clone)]
pub(in crate::tokenizers) struct StemmedTokenizer<T>(T);

impl<T: Tokenizer> Tokenizer for StemmedTokenizer<T> {
    type TokenStream<'a> = StemmedTokens<T::TokenStream<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        StemmedTokens {
            tokens: self.0.token_stream(text),
            stemmer: frostem::Stemmer::new(Algorithm::English),
        }
    }
}

pub(in crate::tokenizers) struct StemmedTokens<T> {
    tokens: T,
    stemmer: frostem::Stemmer,
}

impl<T: TokenStream> TokenStream for StemmedTokens<T> {
    fn advance(&mut self) -> bool {
        if !self.tokens.advance() {
            return false;
        }
        let token = self.tokens.token_mut();
        // A borrowed result is the unchanged word.
        if let Cow::Owned(stem) = self.stemmer.stem(&token.text) {
            token.text = stem;
        }
        true
    }

    fn token(&self) -> &Token {
        self.tokens.token()
    }

    fn token_mut(&mut self) -> &mut Token {
        self.tokens.token_mut()
    }
}

#[cfg(test)]
mod tests {
    use tantivy::tokenizer::{Language, SimpleTokenizer, Stemmer, TextAnalyzer};

    use super::*;

    #[test]
    fn stems_are_those_of_tantivy() {
        let text = "running flies happily connections generously the a is sky skies dying news \
                    exceeding blk 123 ünlösbar electricity relational conditional y";
        let stems = |mut analyzer: TextAnalyzer| {
            let mut stems = Vec::new();
            analyzer
                .token_stream(text)
                .process(&mut |token| stems.push(token.clone()));
            stems
        };
        let ours = TextAnalyzer::builder(SimpleTokenizer::default()).filter(EnglishStemmer);
        let theirs = TextAnalyzer::builder(SimpleTokenizer::default())
            .filter(Stemmer::new(Language::English));
        let ours = stems(ours.build());
        assert_eq!(ours, stems(theirs.build()));
        assert_eq!(ours[0].text, "run");
    }
}
