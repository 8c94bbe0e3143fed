//! Levels of logs as terms: one for each, however programs write it, so that `ERROR` finds `error`, `err` and 50.

use canter_names::normal_level;
use tantivy::tokenizer::{Token, TokenFilter, TokenStream, Tokenizer};

/// Filter for whole values.
#[derive(Clone, Copy)]
pub(super) struct Levels;

impl TokenFilter for Levels {
    type Tokenizer<T: Tokenizer> = LevelTokenizer<T>;

    fn transform<T: Tokenizer>(self, tokenizer: T) -> LevelTokenizer<T> {
        LevelTokenizer(tokenizer)
    }
}

#[derive(Clone)]
pub(super) struct LevelTokenizer<T>(T);

impl<T: Tokenizer> Tokenizer for LevelTokenizer<T> {
    type TokenStream<'a> = LevelTokens<T::TokenStream<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        LevelTokens(self.0.token_stream(text))
    }
}

pub(super) struct LevelTokens<T>(T);

impl<T: TokenStream> TokenStream for LevelTokens<T> {
    fn advance(&mut self) -> bool {
        let has_one = self.0.advance();
        if has_one {
            let text = &mut self.0.token_mut().text;
            *text = level_of(text).unwrap_or(text.trim_ascii()).to_lowercase();
        }
        has_one
    }

    fn token(&self) -> &Token {
        self.0.token()
    }

    fn token_mut(&mut self) -> &mut Token {
        self.0.token_mut()
    }
}

/// Returns the word for a level, in capitals; `None` for an unknown one.
pub(super) fn level_of(text: &str) -> Option<&'static str> {
    let text = text.trim_ascii();
    of_number(text).or_else(|| normal_level(text))
}

/// Returns the level of a number of pino's and bunyan's, or of syslog's.
/// `https://getpino.io/#/docs/api?id=loggerlevels-object`
fn of_number(text: &str) -> Option<&'static str> {
    Some(match text {
        "10" => "TRACE",
        "20" | "7" => "DEBUG",
        "30" | "6" => "INFO",
        "40" | "4" => "WARN",
        "50" | "3" => "ERROR",
        "60" => "FATAL",
        "5" => "NOTICE",
        "2" => "CRITICAL",
        "1" => "ALERT",
        "0" => "EMERGENCY",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use tantivy::tokenizer::{RawTokenizer, TextAnalyzer};

    use super::*;

    #[test]
    fn each_level_is_one_term() {
        let mut analyzer = TextAnalyzer::builder(RawTokenizer::default())
            .filter(Levels)
            .build();
        for (values, expect) in [
            (
                &[
                    "ERROR", "error", "Error", "err", " ERR ", "50", "3", "SEVERE",
                ][..],
                "error",
            ),
            (&["warn", "Warning", "WRN", "40", "4"], "warn"),
            (&["info", "Information", "INF", "30", "6"], "info"),
            (&["Debug", "20", "7", "FINE"], "debug"),
            (&["trace", "10", "Verbose"], "trace"),
            (&["fatal", "60"], "fatal"),
            (&["Custom level of ours"], "custom level of ours"),
            (&["35"], "35"),
        ] {
            for value in values {
                let mut tokens = Vec::new();
                let mut stream = analyzer.token_stream(value);
                stream.process(&mut |token| tokens.push(token.text.clone()));
                assert_eq!(tokens, [expect], "{value}");
            }
        }
    }
}
