//! Filters that look at several tokens, or make several of one: synonyms, shingles, parts of words, parents of paths.

use std::collections::VecDeque;

use tantivy::tokenizer::{AsciiFoldingFilter, RawTokenizer, TextAnalyzer, Token, TokenStream};

use super::delimiter::DelimiterProgress;
use super::step::Ready;
use super::synonyms::{Progress, Synonyms};
use crate::tokenizers::definition::{Paths, Shingles, StemBut, TokenizerFilter};

/// Tokens that have been read and not been used, and tokens that are to be shown.
#[derive(Default)]
pub(super) struct Ahead {
    pub(super) tokens: VecDeque<Token>,
    pub(super) due: VecDeque<Token>,
    has_ended: bool,
}

impl Ahead {
    /// Reads until there is a number of tokens.
    pub(super) fn fill(&mut self, tokens: &mut dyn TokenStream, num: usize) {
        while self.tokens.len() < num && !self.has_ended {
            match tokens.advance() {
                true => self.tokens.push_back(Token {
                    position_length: 1,
                    ..tokens.token().clone()
                }),
                false => self.has_ended = true,
            }
        }
    }
}

/// Tokens of such a filter.
pub(super) struct Several<'a> {
    filter: &'a TokenizerFilter,
    synonyms: Option<&'a Synonyms>,
    ahead: Ahead,
    progress: Progress,
    shingles: ShingleProgress,
    delimiter: DelimiterProgress,
    pub(super) current: Token,
}

impl<'a> Several<'a> {
    pub(super) fn new(filter: &'a TokenizerFilter, ready: Option<&'a Ready>) -> Self {
        Self {
            filter,
            synonyms: match ready {
                Some(Ready::Synonyms(synonyms)) => Some(synonyms),
                _ => None,
            },
            ahead: Ahead::default(),
            progress: Progress::default(),
            shingles: ShingleProgress::default(),
            delimiter: DelimiterProgress::default(),
            current: Token::default(),
        }
    }

    /// Returns whether a filter is one of these.
    pub(super) fn is(filter: &TokenizerFilter) -> bool {
        matches!(
            filter,
            TokenizerFilter::Synonyms(_)
                | TokenizerFilter::Shingles(_)
                | TokenizerFilter::Delimiter(_)
                | TokenizerFilter::Paths(_)
                | TokenizerFilter::FoldedBeside
                | TokenizerFilter::StemBut(_)
        )
    }

    pub(super) fn advance(&mut self, tokens: &mut dyn TokenStream) -> bool {
        loop {
            if let Some(token) = self.ahead.due.pop_front() {
                self.current = token;
                return true;
            }
            if !self.advance_source(tokens) {
                return false;
            }
        }
    }

    fn advance_source(&mut self, tokens: &mut dyn TokenStream) -> bool {
        let ahead = &mut self.ahead;
        match self.filter {
            TokenizerFilter::Synonyms(_) => match self.synonyms {
                Some(synonyms) => self.progress.advance(synonyms, ahead, tokens),
                None => false,
            },
            TokenizerFilter::Shingles(shingles) => self.shingles.advance(shingles, ahead, tokens),
            other => {
                ahead.fill(tokens, 1);
                let Some(token) = ahead.tokens.pop_front() else {
                    return false;
                };
                match other {
                    TokenizerFilter::Delimiter(options) => {
                        self.delimiter.advance(options, token, ahead);
                    }
                    TokenizerFilter::Paths(paths) => parents(paths, &token, ahead),
                    TokenizerFilter::StemBut(stems) => stemmed(stems, token, ahead),
                    _ => folded_beside(token, ahead),
                }
                true
            }
        }
    }
}

/// Writes a token folded to ASCII and, if that is something else, as it is.
fn folded_beside(token: Token, ahead: &mut Ahead) {
    let text = folded(&token.text);
    if text != token.text {
        ahead.due.push_back(Token {
            text,
            ..token.clone()
        });
    }
    ahead.due.push_back(token);
}

/// Writes the stem of a token, behind the token itself if that stays and is something else.
fn stemmed(options: &StemBut, token: Token, ahead: &mut Ahead) {
    let text = options.of(&token.text);
    if options.is_beside && text != token.text {
        ahead.due.push_back(token.clone());
    }
    ahead.due.push_back(Token { text, ..token });
}

/// Returns a text with its letters folded to ASCII.
pub(in crate::tokenizers) fn folded(text: &str) -> String {
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

/// Writes a path and its parents, from the first on; in reverse, it and its ends.
fn parents(options: &Paths, token: &Token, ahead: &mut Ahead) {
    let path = &token.text;
    let ends = path.match_indices(options.delimiter).map(|(at, _)| at);
    let len = options.delimiter.len_utf8();
    let mut places: Vec<(usize, usize)> = Vec::new();
    if options.is_reverse {
        // The last parts that are left out.
        let mut bounds: Vec<usize> = ends.map(|at| at + len).collect();
        let is_closed = bounds.last() == Some(&path.len());
        if is_closed {
            bounds.pop();
        }
        let mut stops = bounds.clone();
        stops.push(path.len());
        let end = stops.len().checked_sub(options.skip + 1);
        let Some(end) = end.and_then(|nth| stops.get(nth)).copied() else {
            return;
        };
        let starts = [0].into_iter().chain(bounds);
        places.extend(
            starts
                .filter(|start| *start < end)
                .map(|start| (start, end)),
        );
    } else {
        let mut bounds: Vec<usize> = ends.filter(|at| *at > 0).collect();
        bounds.push(path.len());
        let skipped = options.skip.checked_sub(1);
        let start = skipped.map_or(Some(&0), |nth| bounds.get(nth)).copied();
        let Some(start) = start else {
            return;
        };
        places.extend(
            bounds
                .iter()
                .filter(|end| **end > start)
                .map(|end| (start, *end)),
        );
    }
    for (from, to) in places {
        let part = path.get(from..to).unwrap_or_default();
        ahead.due.push_back(Token {
            text: part.replace(
                options.delimiter,
                options.replacement.encode_utf8(&mut [0; 4]),
            ),
            offset_from: token.offset_from + from,
            offset_to: token.offset_from + to,
            position: token.position,
            position_length: 1,
        });
    }
}

/// Where a text with shingles has got to.
#[derive(Default)]
struct ShingleProgress {
    /// Positions behind the last word that was read and the last shingle that was written.
    next_in: usize,
    next_position: usize,
    num_written: usize,
    /// Words and what stands for those that were left out.
    window: VecDeque<(Token, bool)>,
}

impl ShingleProgress {
    /// Writes the word that is next and the shingles that begin with it.
    fn advance(
        &mut self,
        options: &Shingles,
        ahead: &mut Ahead,
        tokens: &mut dyn TokenStream,
    ) -> bool {
        while self.window.len() < options.max {
            ahead.fill(tokens, 1);
            let Some(token) = ahead.tokens.pop_front() else {
                break;
            };
            let num_left_out = token.position.saturating_sub(self.next_in);
            self.next_in = token.position + 1;
            for _ in 0..num_left_out.min(options.max - 1) {
                let filler = Token {
                    text: options.filler.clone(),
                    offset_to: token.offset_from,
                    ..token.clone()
                };
                self.window.push_back((filler, true));
            }
            self.window.push_back((token, false));
        }
        let Some((first, is_filler)) = self.window.front().cloned() else {
            return false;
        };
        let position = self.next_position;
        let before = ahead.due.len();
        let mut text = String::new();
        for (nth, (token, _)) in self.window.iter().take(options.max).enumerate() {
            if nth > 0 {
                text.push_str(&options.separator);
            }
            text.push_str(&token.text);
            let is_word = nth == 0 && options.has_words && !is_filler;
            let is_shingle = nth > 0 && nth + 1 >= options.min;
            // A shingle of what was left out only says nothing.
            let are_fillers = || {
                self.window
                    .iter()
                    .take(nth + 1)
                    .all(|(_, is_filler)| *is_filler)
            };
            if is_word || (is_shingle && !are_fillers()) {
                ahead.due.push_back(Token {
                    text: text.clone(),
                    offset_from: first.offset_from,
                    offset_to: token.offset_to,
                    position,
                    position_length: 1,
                });
                self.num_written += 1;
            }
        }
        self.window.pop_front();
        if options.has_words_alone && self.num_written == 0 && self.window.is_empty() {
            ahead.due.push_back(Token { position, ..first });
        }
        self.next_position += usize::from(ahead.due.len() > before);
        true
    }
}
