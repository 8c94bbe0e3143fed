//! Synonyms in the format of Solr: `a, b => c` and `a, b, c`, where each may have several words.
//!
//! ```text
//!   "dns is down" with "dns => domain name system"
//!     flat    domain 0 | name 1, is 1 | system 2, down 2      as Lucene's SynonymFilter
//!     graph   domain 0 | name 1 | system 2 | is 3 | down 4    as its SynonymGraphFilter
//! ```

use std::collections::{BTreeMap, VecDeque};

use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream};

use super::several::Ahead;
use crate::tokenizers::definition::SynonymRules;

/// Stands between the words of a key.
const BETWEEN: char = '\0';

/// Rules, by the words that they apply to.
#[derive(Debug, Default)]
pub(in crate::tokenizers) struct Synonyms {
    entries: BTreeMap<String, Entry>,
    /// Number of words of the longest key.
    longest: usize,
    is_graph: bool,
}

#[derive(Debug, Default)]
struct Entry {
    outputs: Vec<Vec<String>>,
    /// True if the words themselves stay.
    keeps: bool,
}

impl Synonyms {
    /// Reads rules. `before` cuts their texts: the tokenizer, and the filters before this one.
    ///
    /// # Errors
    /// A rule cannot be used; the message is a sentence.
    pub(in crate::tokenizers) fn of(
        rules: &SynonymRules,
        before: &mut TextAnalyzer,
    ) -> Result<Self, String> {
        let mut all = Self {
            is_graph: rules.is_graph,
            ..Self::default()
        };
        for rule in &rules.rules {
            if rule.trim().is_empty() || rule.starts_with('#') {
                continue;
            }
            match all.add_rule(rule, rules.expands, before) {
                Err(problem) if !rules.is_lenient => {
                    return Err(format!("the rule [{rule}] cannot be used: {problem}"));
                }
                _ => {}
            }
        }
        Ok(all)
    }

    fn add_rule(
        &mut self,
        rule: &str,
        expands: bool,
        before: &mut TextAnalyzer,
    ) -> Result<(), String> {
        let sides = split(rule, "=>");
        let mut side = |text: &str| -> Result<Vec<Vec<String>>, String> {
            let phrases = split(text, ",").into_iter();
            phrases
                .map(|phrase| words(&unescaped(phrase), before))
                .collect()
        };
        let (inputs, outputs, keeps) = match sides.as_slice() {
            [all] => {
                let all = side(all)?;
                match expands {
                    true => (all.clone(), all, true),
                    false => {
                        let first = all.iter().take(1).cloned().collect();
                        (all, first, false)
                    }
                }
            }
            [from, to] => (side(from)?, side(to)?, false),
            _ => return Err("it has more than one =>".to_owned()),
        };
        for (nth, input) in inputs.iter().enumerate() {
            for (other, output) in outputs.iter().enumerate() {
                if keeps && nth == other {
                    continue;
                }
                self.longest = self.longest.max(input.len());
                let key = input.join(&BETWEEN.to_string());
                let entry = self.entries.entry(key).or_default();
                entry.keeps |= keeps;
                if !entry.outputs.contains(output) {
                    entry.outputs.push(output.clone());
                }
            }
        }
        Ok(())
    }

    /// Returns the maximum number of bytes of the tokens that a byte of a text becomes.
    pub(in crate::tokenizers) fn growth(&self) -> usize {
        let sizes = self.entries.values().map(|entry| {
            let words = entry.outputs.iter().flatten();
            words.map(String::len).sum::<usize>()
        });
        sizes.max().unwrap_or(0).saturating_add(1)
    }

    /// Finds the rule for the most of the next words, and their number.
    fn find(&self, ahead: &VecDeque<Token>) -> Option<(usize, &Entry)> {
        let first = ahead.front()?.text.as_str();
        let mut begun = self.entries.range(first.to_owned()..);
        begun.next().filter(|(key, _)| key.starts_with(first))?;
        let mut key = String::new();
        let mut found = None;
        for (nth, token) in ahead.iter().take(self.longest).enumerate() {
            if nth > 0 {
                key.push(BETWEEN);
            }
            key.push_str(&token.text);
            found = self
                .entries
                .get(&key)
                .map(|entry| (nth + 1, entry))
                .or(found);
        }
        found
    }
}

/// Divides a text where a part stands that is not escaped.
fn split<'t>(text: &'t str, at: &str) -> Vec<&'t str> {
    let mut parts = Vec::new();
    let (mut begin, mut next) = (0, 0);
    while let Some(rest) = text.get(next..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with(at) {
            parts.push(text.get(begin..next).unwrap_or_default());
            next += at.len();
            begin = next;
            continue;
        }
        let mut characters = rest.chars();
        let is_escape = characters.next() == Some('\\');
        let escaped = characters.next().filter(|_| is_escape);
        let len = rest.chars().next().map_or(1, char::len_utf8);
        next += len + escaped.map_or(0, char::len_utf8);
    }
    parts.push(text.get(begin..).unwrap_or_default());
    parts
}

fn unescaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut characters = text.trim().chars();
    while let Some(character) = characters.next() {
        let literal = match character {
            '\\' => characters.next().unwrap_or('\\'),
            other => other,
        };
        written.push(literal);
    }
    written
}

/// Returns the words of one side of a rule.
fn words(phrase: &str, before: &mut TextAnalyzer) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut is_even = true;
    before.token_stream(phrase).process(&mut |token| {
        is_even &= token.position == words.len();
        words.push(token.text.clone());
    });
    match words.is_empty() {
        true => Err(format!(
            "term: {phrase} was completely eliminated by analyzer"
        )),
        false if !is_even => Err(format!(
            "term: {phrase} analyzed to a token with position increment != 1"
        )),
        false => Ok(words),
    }
}

/// A word that a rule puts beside those of the text.
#[derive(Debug)]
struct Beside {
    text: String,
    /// End in the text, if it stands for all of the words that the rule found.
    end: Option<usize>,
    len: usize,
}

/// Where a text with synonyms has got to.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Position behind that of the last word.
    next_position: usize,
    /// The same of the words that came in.
    next_in: usize,
    /// Words of the present match that are still to come.
    num_matched: usize,
    keeps: bool,
    /// Words beside those to come, by place.
    beside: VecDeque<Vec<Beside>>,
    /// Offsets of the last word.
    last: (usize, usize),
    /// Node behind the last one of a graph.
    next_node: usize,
}

impl Progress {
    /// Moves on to the next words; false at the end.
    pub(super) fn advance(
        &mut self,
        synonyms: &Synonyms,
        ahead: &mut Ahead,
        tokens: &mut dyn TokenStream,
    ) -> bool {
        match synonyms.is_graph {
            true => self.advance_graph(synonyms, ahead, tokens),
            false => self.advance_flat(synonyms, ahead, tokens),
        }
    }

    /// Returns by how much the next word's position is greater than that of the one before.
    fn increment(&mut self, token: &Token) -> usize {
        let increment = (token.position + 1).saturating_sub(self.next_in);
        self.next_in = token.position + 1;
        increment
    }

    fn advance_flat(
        &mut self,
        synonyms: &Synonyms,
        ahead: &mut Ahead,
        tokens: &mut dyn TokenStream,
    ) -> bool {
        if self.num_matched == 0 {
            ahead.fill(tokens, synonyms.longest.max(1));
            self.num_matched = 1;
            self.keeps = true;
            if let Some((num, entry)) = synonyms.find(&ahead.tokens) {
                self.num_matched = num;
                self.keeps = entry.keeps;
                let end = ahead.tokens.get(num - 1).map(|last| last.offset_to);
                self.put_beside(entry, num, end);
            }
        }
        let Some(mut token) = ahead.tokens.pop_front() else {
            // Words of the last match that reach behind the end.
            let Some(words) = self.beside.pop_front() else {
                return false;
            };
            self.push_beside(words, 1, ahead);
            return true;
        };
        self.num_matched -= 1;
        self.last = (token.offset_from, token.offset_to);
        let increment = self.increment(&token);
        let words = self.beside.pop_front().unwrap_or_default();
        let mut step = 1;
        if self.keeps {
            self.next_position += increment;
            token.position = self.next_position.saturating_sub(1);
            ahead.due.push_back(token);
            step = 0;
        }
        self.push_beside(words, step, ahead);
        true
    }

    fn put_beside(&mut self, entry: &Entry, num_matched: usize, end: Option<usize>) {
        for output in &entry.outputs {
            for (nth, word) in output.iter().enumerate() {
                if self.beside.len() <= nth {
                    self.beside.push_back(Vec::new());
                }
                let is_whole = output.len() == 1;
                let word = Beside {
                    text: word.clone(),
                    end: end.filter(|_| is_whole),
                    len: if is_whole && entry.keeps {
                        num_matched
                    } else {
                        1
                    },
                };
                if let Some(place) = self.beside.get_mut(nth) {
                    place.push(word);
                }
            }
        }
    }

    fn push_beside(&mut self, words: Vec<Beside>, mut step: usize, ahead: &mut Ahead) {
        for word in words {
            self.next_position += step;
            step = 0;
            ahead.due.push_back(Token {
                offset_from: self.last.0,
                offset_to: word.end.unwrap_or(self.last.1),
                position: self.next_position.saturating_sub(1),
                text: word.text,
                position_length: word.len,
            });
        }
    }

    fn advance_graph(
        &mut self,
        synonyms: &Synonyms,
        ahead: &mut Ahead,
        tokens: &mut dyn TokenStream,
    ) -> bool {
        ahead.fill(tokens, synonyms.longest.max(1));
        let Some((num, entry)) = synonyms.find(&ahead.tokens) else {
            let Some(mut token) = ahead.tokens.pop_front() else {
                return false;
            };
            self.next_position += self.increment(&token);
            token.position = self.next_position.saturating_sub(1);
            self.next_node = self.next_position;
            ahead.due.push_back(token);
            return true;
        };
        let matched: Vec<Token> = ahead.tokens.drain(..num.min(ahead.tokens.len())).collect();
        for token in &matched {
            self.increment(token);
        }
        let from = matched.first().map_or(0, |token| token.offset_from);
        let to = matched.last().map_or(0, |token| token.offset_to);
        let of_rule = |word: &String| Token {
            text: word.clone(),
            offset_from: from,
            offset_to: to,
            ..Token::default()
        };
        let outputs = entry.outputs.iter();
        let mut paths: Vec<Vec<Token>> = outputs
            .map(|words| words.iter().map(of_rule).collect())
            .collect();
        paths.extend(entry.keeps.then_some(matched));
        self.push_paths(paths, ahead);
        true
    }

    /// Writes ways from one node to another, whose inner nodes are each its own: first the first words of all.
    fn push_paths(&mut self, paths: Vec<Vec<Token>>, ahead: &mut Ahead) {
        let start = self.next_node;
        let num_inner: usize = paths.iter().map(|path| path.len().saturating_sub(1)).sum();
        let end = start + num_inner + 1;
        let mut next = start + 1;
        let mut rest = Vec::with_capacity(num_inner);
        for path in paths {
            let last = path.len().saturating_sub(1);
            for (nth, mut token) in path.into_iter().enumerate() {
                let node = if nth == 0 { start } else { next + nth - 1 };
                let to = if nth == last { end } else { next + nth };
                token.position = node;
                token.position_length = to - node;
                match nth {
                    0 => ahead.due.push_back(token),
                    _ => rest.push(token),
                }
            }
            next += last;
        }
        ahead.due.extend(rest);
        self.next_node = end;
        self.next_position = end;
    }
}
