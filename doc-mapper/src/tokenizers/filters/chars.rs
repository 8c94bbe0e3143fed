//! Filters of characters: what a text becomes before it is cut. Tokens keep their places in the original.

mod changed;
mod pairs;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use regex::{Captures, Regex, RegexBuilder};
use tantivy::tokenizer::{BoxTokenStream, TextAnalyzer, Token, TokenStream, Tokenizer};

pub(super) use self::changed::Changed;
use self::changed::{Shift, place_in_source};
use super::html;
use crate::classes::check_classes;
use crate::tokenizers::definition::CharFilter;

/// Maximum memory of a compiled pattern in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// A filter of characters, ready for texts.
#[derive(Debug)]
pub(in crate::tokenizers) enum Changer {
    Html {
        escaped: Vec<String>,
    },
    /// Parts of texts and what they become, sorted.
    Pairs(Vec<(String, String)>),
    Pattern(Replacement),
}

impl Changer {
    /// Makes a filter ready.
    ///
    /// # Errors
    /// It cannot be used; the message is a sentence.
    pub(in crate::tokenizers) fn of(filter: &CharFilter) -> Result<Self, String> {
        Ok(match filter {
            CharFilter::HtmlStrip { escaped_tags } => Self::Html {
                escaped: escaped_tags.clone(),
            },
            CharFilter::Mapping { mappings } => Self::Pairs(pairs::of_rules(mappings)?),
            CharFilter::PatternReplace {
                pattern,
                replacement,
            } => Self::Pattern(Replacement::of(pattern, replacement)?),
        })
    }

    /// Returns the maximum number of bytes that a byte of a text becomes.
    pub(in crate::tokenizers) fn growth(&self) -> usize {
        match self {
            Self::Html { .. } => 1,
            Self::Pairs(pairs) => {
                let growths = pairs
                    .iter()
                    .map(|(from, to)| to.len().div_ceil(from.len().max(1)));
                growths.max().unwrap_or(1).max(1)
            }
            Self::Pattern(replacement) => replacement.growth(),
        }
    }

    fn apply(&self, out: &mut Changed<'_>) {
        match self {
            Self::Html { escaped } => html::strip(escaped, out),
            Self::Pairs(pairs) => pairs::replace(pairs, out),
            Self::Pattern(replacement) => replacement.apply(out),
        }
    }
}

/// What replaces the matches of a pattern.
#[derive(Debug)]
pub(in crate::tokenizers) struct Replacement {
    /// The first group is what is replaced; a character before it may be asked for.
    regex: Regex,
    looks_behind: bool,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// Number of a group.
    Group(usize),
}

impl Piece {
    fn growth(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Group(_) => 1,
        }
    }
}

impl Replacement {
    /// Returns what a text becomes.
    pub(super) fn text_of(&self, text: &str) -> String {
        let mut changed = Changed::of(text);
        self.apply(&mut changed);
        changed.into_text()
    }

    /// Returns the maximum number of bytes that a byte of a text becomes.
    pub(in crate::tokenizers) fn growth(&self) -> usize {
        let literal: usize = self.pieces.iter().map(Piece::growth).sum();
        // An empty match stands before each byte.
        literal.saturating_add(1)
    }

    /// Reads a pattern, which may begin with `(?<=…)` of one character and end with `(?=…)`, and a replacement of Java's
    /// form.
    pub(in crate::tokenizers) fn of(pattern: &str, replacement: &str) -> Result<Self, String> {
        let wrong = |why: &str| format!("the pattern [{pattern}] {why}");
        check_classes(pattern).map_err(|problem| wrong(&problem))?;
        let (flags, rest) = flags_of(pattern);
        let (behind, rest) = match rest.strip_prefix("(?<=") {
            Some(rest) => {
                let end = closing(rest).ok_or_else(|| wrong("has a group without an end"))?;
                let (behind, rest) = rest.split_at_checked(end).unwrap_or_default();
                if !is_one_character(behind) {
                    return Err(wrong("looks behind for more than one character"));
                }
                (Some(behind), rest.get(1..).unwrap_or_default())
            }
            None => (None, rest),
        };
        let (body, ahead) = ahead_of(rest);
        let mut whole = flags.to_owned();
        if let Some(behind) = behind {
            whole.push_str(&format!("(?:{behind})"));
        }
        whole.push_str(&format!("({body})"));
        if let Some(ahead) = ahead {
            whole.push_str(&format!("(?:{ahead})"));
        }
        let regex = RegexBuilder::new(&whole)
            .size_limit(MAX_COMPILED_BYTES)
            .build()
            .map_err(|error| wrong(&format!("cannot be used: {error}")))?;
        let pieces = pieces(replacement, &regex).ok_or_else(|| {
            format!("the replacement [{replacement}] has a group that is not there")
        })?;
        Ok(Self {
            regex,
            looks_behind: behind.is_some(),
            pieces,
        })
    }

    fn apply(&self, out: &mut Changed<'_>) {
        let text = out.source();
        // Behind the last match; behind the last empty one, a character further.
        let (mut kept, mut from) = (0, 0);
        while let Some(found) = self.find(text, from) {
            let Some(range) = found.get(1).map(|group| group.range()) else {
                break;
            };
            out.keep(kept..range.start);
            let mut by = String::new();
            for piece in &self.pieces {
                by.push_str(match piece {
                    Piece::Text(text) => text,
                    Piece::Group(number) => found.get(*number).map_or("", |group| group.as_str()),
                });
            }
            kept = range.end;
            from = range.end;
            if range.is_empty() {
                let next = text.get(from..).and_then(|rest| rest.chars().next());
                from += next.map_or(1, char::len_utf8);
            }
            out.replace(range, &by);
        }
        out.keep(kept..text.len());
    }

    /// Finds the first match that begins at a place or behind it.
    fn find<'t>(&self, text: &'t str, from: usize) -> Option<Captures<'t>> {
        let before = text.get(..from)?;
        let behind = before.chars().next_back().filter(|_| self.looks_behind);
        let begin = from - behind.map_or(0, char::len_utf8);
        self.regex.captures_at(text, begin)
    }
}

/// Divides a pattern into the flags that it begins with, such as `(?i)`, and the rest.
fn flags_of(pattern: &str) -> (&str, &str) {
    let inner = pattern.strip_prefix("(?").unwrap_or_default();
    let len = inner.find(|char: char| !char.is_ascii_lowercase());
    match len.filter(|len| *len > 0 && inner.get(*len..).unwrap_or_default().starts_with(')')) {
        Some(len) => pattern.split_at_checked(len + 3).unwrap_or_default(),
        None => ("", pattern),
    }
}

/// Divides a pattern into what is replaced and what must follow.
fn ahead_of(pattern: &str) -> (&str, Option<&str>) {
    for (at, _) in pattern.match_indices("(?=") {
        let inner = pattern.get(at + 3..).unwrap_or_default();
        if closing(inner).is_some_and(|end| end + 1 == inner.len()) {
            let body = pattern.get(..at).unwrap_or_default();
            return (body, inner.strip_suffix(')'));
        }
    }
    (pattern, None)
}

/// Returns where a group ends of which this is the inside.
fn closing(pattern: &str) -> Option<usize> {
    let (mut depth, mut is_class) = (0_usize, false);
    let mut characters = pattern.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => {
                characters.next();
            }
            '[' => is_class = true,
            ']' => is_class = false,
            '(' if !is_class => depth += 1,
            ')' if !is_class && depth == 0 => return Some(at),
            ')' if !is_class => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns whether a pattern stands for one character.
fn is_one_character(pattern: &str) -> bool {
    let mut characters = pattern.chars();
    match characters.next() {
        Some('[') => pattern.find(']') == Some(pattern.len() - 1),
        Some('\\') => match characters.next() {
            Some('p' | 'P') => pattern.find('}').is_none_or(|end| end + 1 == pattern.len()),
            Some('b' | 'B' | 'A' | 'z') | None => false,
            Some(_) => characters.next().is_none(),
        },
        Some(other) => !"(^$*+?|{.".contains(other) && characters.next().is_none(),
        None => false,
    }
}

/// Reads a replacement with `$1`, `${name}` and escapes.
fn pieces(replacement: &str, regex: &Regex) -> Option<Vec<Piece>> {
    let mut pieces = vec![Piece::Text(String::new())];
    let mut rest = replacement;
    while let Some(character) = rest.chars().next() {
        rest = rest.get(character.len_utf8()..)?;
        let literal = match character {
            '$' => {
                let (group, behind) = group_of(rest, regex)?;
                pieces.extend([Piece::Group(group), Piece::Text(String::new())]);
                rest = behind;
                continue;
            }
            '\\' => {
                let escaped = rest.chars().next()?;
                rest = rest.get(escaped.len_utf8()..)?;
                escaped
            }
            other => other,
        };
        if let Some(Piece::Text(text)) = pieces.last_mut() {
            text.push(literal);
        }
    }
    Some(pieces)
}

/// Reads a group's number or name, of as many digits as there are groups.
fn group_of<'r>(text: &'r str, regex: &Regex) -> Option<(usize, &'r str)> {
    if let Some(named) = text.strip_prefix('{') {
        let (name, behind) = named.split_once('}')?;
        let found = regex.capture_names().position(|own| own == Some(name));
        return Some((found?, behind));
    }
    let num_digits = text.bytes().take_while(u8::is_ascii_digit).count();
    // The first group is ours.
    (1..=num_digits).rev().find_map(|len| {
        let number: usize = text.get(..len)?.parse().ok()?;
        (number + 1 < regex.captures_len()).then_some((number + 1, text.get(len..)?))
    })
}

/// Tokenizer of changed texts. Its tokens have their places in the original.
#[derive(Clone)]
pub(in crate::tokenizers) struct ChangingTokenizer {
    changers: Arc<Vec<Changer>>,
    inner: TextAnalyzer,
    text: String,
    shifts: Vec<Vec<Shift>>,
}

impl ChangingTokenizer {
    pub(in crate::tokenizers) fn new(changers: Vec<Changer>, inner: TextAnalyzer) -> Self {
        Self {
            changers: Arc::new(changers),
            inner,
            text: String::new(),
            shifts: Vec::new(),
        }
    }
}

impl Tokenizer for ChangingTokenizer {
    type TokenStream<'a> = ChangedTokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> ChangedTokens<'a> {
        let mut changed = Cow::Borrowed(text);
        self.shifts.clear();
        for changer in self.changers.iter() {
            let mut next = Changed::of(&changed);
            changer.apply(&mut next);
            let (text, shifts) = next.into_parts();
            self.shifts.push(shifts);
            changed = Cow::Owned(text);
        }
        self.text = changed.into_owned();
        ChangedTokens {
            tokens: self.inner.token_stream(&self.text),
            source: text,
            shifts: &self.shifts,
            token: Token::default(),
        }
    }
}

pub(in crate::tokenizers) struct ChangedTokens<'a> {
    tokens: BoxTokenStream<'a>,
    source: &'a str,
    shifts: &'a [Vec<Shift>],
    token: Token,
}

impl ChangedTokens<'_> {
    fn place(&self, at: usize) -> usize {
        let places = self.shifts.iter().rev();
        let at = places.fold(at, |at, shifts| place_in_source(shifts, at));
        self.source.floor_char_boundary(at)
    }
}

impl TokenStream for ChangedTokens<'_> {
    fn advance(&mut self) -> bool {
        if !self.tokens.advance() {
            return false;
        }
        let token = self.tokens.token();
        let (from, to) = (token.offset_from, token.offset_to);
        self.token.text.clone_from(&token.text);
        self.token.position = token.position;
        self.token.position_length = token.position_length;
        self.token.offset_from = self.place(from);
        self.token.offset_to = self.place(to).max(self.token.offset_from);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}
