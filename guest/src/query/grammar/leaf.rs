//! Leaves: `word`, `wor*`, `word~1`, `"a phrase"~2`, `"a phra"*`, `[a TO "b c"}`, `>=a`, `IN [a b]`, `/wor.*/` and `*`;
//! and the field name in front of one.

use std::ops::Bound;

use canter_aggregations::check_name;

use super::Dialect;
use super::parser::{Parser, WordForm};
use crate::query::tree::{
    AUTO, Combine, Edits, Fuzziness, InFields, Leaf, Literal, Match, QueryNode, TextLeaf, Words,
};
use crate::{ErrorKind, SearchError};

/// The name with which a query string tests for the existence of a field.
const EXISTS: &str = "_exists_";

/// A word without quotes.
#[derive(Default)]
struct Word {
    /// The word without the backslashes that escape characters, except those before `*` and `?`.
    text: String,
    /// The position in `text` of the last `~` without a backslash.
    tilde: Option<usize>,
}

/// Returns whether a character needs a backslash in the name of a field.
fn ends_name(c: char) -> bool {
    c.is_whitespace() || "+^`:{}\"'[]()!*".contains(c)
}

/// Returns whether a character needs a backslash in a word of Quickwit's.
fn ends_word(c: char) -> bool {
    c.is_whitespace() || "^`:{}\"'[]()".contains(c)
}

/// Returns whether a character needs a backslash in a word of Lucene's.
fn ends_word_of_lucene(c: char) -> bool {
    c.is_whitespace() || "^:{}\"[]()".contains(c)
}

/// Returns whether a character needs quotes in an end of a range.
fn ends_bound(c: char) -> bool {
    c.is_whitespace() || "{}\"[]()".contains(c)
}

/// Returns whether a leaf with arbitrary characters ends before a character.
fn ends_leaf(c: char) -> bool {
    c.is_whitespace() || c == ')' || c == '^'
}

impl Parser<'_> {
    /// Reads the name of a field, and the colon and whitespace after it. Reads nothing if there is no field name.
    pub(super) fn field_name(&mut self) -> Result<Option<String>, SearchError> {
        let start = self.cursor;
        let mut name = String::new();
        while let Some(c) = self.cursor.peek() {
            if ends_name(c) || (name.is_empty() && c == '-') {
                break;
            }
            self.cursor.bump();
            let is_special = |c: &char| ends_name(*c) || *c == '\\';
            match self.cursor.peek().filter(is_special) {
                Some(escaped) if c == '\\' => {
                    name.push(escaped);
                    self.cursor.bump();
                }
                // Before a dot the backslash belongs to the name: the doc mapping interprets it.
                _ if c == '\\' && name.is_empty() => break,
                _ => name.push(c),
            }
        }
        self.cursor.skip_whitespace();
        if name.is_empty() || !self.cursor.eat(':') {
            self.cursor = start;
            return Ok(None);
        }
        self.cursor.skip_whitespace();
        // Only an error needs the position, which is slow to count.
        check_name("", &name).or_else(|_| check_name(&self.place_of(start), &name))?;
        Ok(Some(name))
    }

    /// Reads `*:*`, Lucene's notation for all documents.
    pub(super) fn eat_all(&mut self) -> bool {
        self.cursor.eat_before("*:*", ends_leaf)
    }

    /// Reads a leaf. `field` is its own field, or that of the group around it.
    pub(super) fn leaf(&mut self, field: Option<&str>) -> Result<QueryNode, SearchError> {
        let field = field.map(str::to_owned);
        let leaf = match self.cursor.peek() {
            Some('[' | '{') => self.range(field)?,
            Some('<' | '>') => self.half_range(field)?,
            Some('"') => self.phrase(field)?,
            Some('\'') if self.dialect == Dialect::Quickwit => self.phrase(field)?,
            // A single star; with more characters it is a pattern.
            Some('*') if self.cursor.eat_before("*", self.ends_word()) => match field {
                Some(field) => TextLeaf::Exists { field },
                None => return Ok(QueryNode::All),
            },
            Some('I') if self.eat_in() => self.set(field)?,
            _ => match self.regex() {
                Some(pattern) => TextLeaf::Regex { field, pattern },
                None => return self.word_or_near(field),
            },
        };
        Ok(QueryNode::text(leaf))
    }

    /// Reads `[a TO b}`.
    fn range(&mut self, field: Option<String>) -> Result<TextLeaf, SearchError> {
        let is_lower_included = self.cursor.bump() == Some('[');
        self.cursor.skip_whitespace();
        let lower = self.bound()?;
        self.cursor.skip_whitespace();
        if !self.cursor.eat_word("TO") {
            return Err(self.expected("TO and another value, as in [1 TO 5]"));
        }
        self.cursor.skip_whitespace();
        let upper = self.bound()?;
        self.cursor.skip_whitespace();
        let is_upper_included = self.cursor.eat(']');
        if !is_upper_included && !self.cursor.eat('}') {
            return Err(self.expected("the \"]\" or \"}\" of a range"));
        }
        Ok(TextLeaf::Range {
            field,
            lower: bound_of(lower, is_lower_included),
            upper: bound_of(upper, is_upper_included),
        })
    }

    /// Reads `>=a`.
    fn half_range(&mut self, field: Option<String>) -> Result<TextLeaf, SearchError> {
        let is_lower = self.cursor.bump() == Some('>');
        let is_included = self.cursor.eat('=');
        self.cursor.skip_whitespace();
        let is_quoted = self.cursor.peek() == Some('"');
        let bound = bound_of(self.bound()?, is_included);
        if is_quoted && !self.cursor.peek().is_none_or(ends_leaf) {
            return Err(self.expected("a space behind a value in quotes"));
        }
        let (lower, upper) = match is_lower {
            true => (bound, Bound::Unbounded),
            false => (Bound::Unbounded, bound),
        };
        Ok(TextLeaf::Range {
            field,
            lower,
            upper,
        })
    }

    /// Reads an end of a range; `None` is `*`, an open end.
    fn bound(&mut self) -> Result<Option<String>, SearchError> {
        if self.cursor.peek() == Some('"') {
            return self.quoted().map(Some);
        }
        let start = self.cursor;
        let mut bound = String::new();
        while let Some(c) = self.cursor.peek().filter(|c| !ends_bound(*c)) {
            self.cursor.bump();
            let escaped = match (c, self.dialect) {
                ('\\', Dialect::Lucene) => self.cursor.escaped(),
                _ => None,
            };
            bound.push(escaped.unwrap_or(c));
        }
        match self.cursor.since(start.at()) {
            "" => Err(self.expected("a value or *")),
            "*" => Ok(None),
            _ => Ok(Some(bound)),
        }
    }

    fn ends_word(&self) -> fn(char) -> bool {
        match self.dialect {
            Dialect::Quickwit => ends_word,
            Dialect::Lucene => ends_word_of_lucene,
        }
    }

    /// Reads `"a phrase"`, followed by `~2` or `*` if present.
    fn phrase(&mut self, field: Option<String>) -> Result<TextLeaf, SearchError> {
        let phrase = self.quoted()?;
        let is_prefix = self.cursor.eat('*');
        let mut slop = 0;
        if !is_prefix && self.cursor.eat('~') {
            let before = self.cursor;
            let number = self.cursor.take_while(|c| c.is_ascii_digit());
            slop = number.parse().map_err(|_| {
                self.cursor = before;
                self.expected("the number of places that words may move by, behind ~")
            })?;
        }
        Ok(TextLeaf::Literal(Literal {
            field,
            phrase,
            is_quoted: true,
            slop,
            is_prefix,
        }))
    }

    /// Reads a text in quotes.
    fn quoted(&mut self) -> Result<String, SearchError> {
        let start = self.cursor;
        let quoted = self
            .cursor
            .bump()
            .and_then(|quote| self.cursor.quoted(quote));
        quoted.ok_or_else(|| {
            self.cursor = start;
            self.syntax("this quote is not closed")
        })
    }

    /// Reads the `IN` of a set if the set follows.
    fn eat_in(&mut self) -> bool {
        let start = self.cursor;
        let is_set = self.cursor.eat_word("IN")
            && self.cursor.skip_whitespace()
            && self.cursor.peek() == Some('[');
        if !is_set {
            self.cursor = start;
        }
        is_set
    }

    /// Reads `[a "b c"]`.
    fn set(&mut self, field: Option<String>) -> Result<TextLeaf, SearchError> {
        let start = self.cursor;
        self.cursor.bump();
        self.cursor.skip_whitespace();
        let mut elements = Vec::new();
        while !self.cursor.eat(']') {
            elements.push(match self.cursor.peek() {
                Some('"' | '\'') => self.quoted()?,
                Some(_) => self.word()?.text,
                None => {
                    self.cursor = start;
                    return Err(self.syntax("this bracket is not closed"));
                }
            });
            let is_apart = self.cursor.skip_whitespace();
            if !is_apart && !matches!(self.cursor.peek(), None | Some(']')) {
                return Err(self.expected("a space or \"]\""));
            }
        }
        Ok(TextLeaf::Set { field, elements })
    }

    /// Reads `/wor.*/`. Reads nothing of a text that only begins with a slash, such as a path: that is a word.
    fn regex(&mut self) -> Option<String> {
        let mut cursor = self.cursor;
        let mut pattern = String::new();
        if !cursor.eat('/') {
            return None;
        }
        loop {
            match cursor.bump()? {
                '/' if pattern.ends_with('\\') => {
                    pattern.pop();
                    pattern.push('/');
                }
                '/' => break,
                c => pattern.push(c),
            }
        }
        if pattern.is_empty() || !cursor.peek().is_none_or(ends_leaf) {
            return None;
        }
        self.cursor = cursor;
        Some(pattern)
    }

    /// Reads a word or, if `~` or `~1` follows, terms within this number of edits.
    fn word_or_near(&mut self, field: Option<String>) -> Result<QueryNode, SearchError> {
        let start = self.cursor;
        let Word { text, tilde } = self.word()?;
        if let Some((word, edits)) = tilde.and_then(|tilde| near_word(&text, tilde)) {
            let Some(edits) = edits_of(edits) else {
                self.cursor = start;
                return Err(self.error(
                    ErrorKind::Invalid,
                    &format!(
                        "{text:?}: behind ~ stands how many edits a word may have, at most 2; in quotes it is text"
                    ),
                ));
            };
            return Ok(near(field, word, edits));
        }
        if field.as_deref() == Some(EXISTS) {
            check_name("", &text).or_else(|_| check_name(&self.place_of(start), &text))?;
            return Ok(QueryNode::text(TextLeaf::Exists { field: text }));
        }
        let is_plain = |text: &str| !text.contains(['*', '?', '\\']);
        let is_phrase = self.form == WordForm::Phrase && is_plain(&text);
        let is_together = self.form == WordForm::Together && field.is_none() && is_plain(&text);
        let len = text.len();
        let mut phrase = text;
        while (is_phrase || is_together)
            && let Some(word) = self.next_of_phrase(is_plain)
        {
            phrase.push(' ');
            phrase.push_str(&word);
        }
        if is_together && phrase.len() > len {
            return Ok(in_fields(all_words(phrase)));
        }
        Ok(QueryNode::text(TextLeaf::Literal(Literal {
            field,
            phrase,
            is_quoted: is_phrase,
            slop: 0,
            is_prefix: false,
        })))
    }

    /// Reads one more word of a phrase without quotes. Reads nothing if something else follows, or an operator is next to
    /// the word, as in Lucene.
    fn next_of_phrase(&mut self, is_plain: impl Fn(&str) -> bool) -> Option<String> {
        let start = self.cursor;
        let word = self.plain_word().filter(|word| is_plain(word));
        if word.is_none() {
            self.cursor = start;
        }
        word
    }

    /// Reads a word that no operator is in front of or behind.
    fn plain_word(&mut self) -> Option<String> {
        self.cursor.skip_whitespace();
        let begins = |c: char| !"+-!(\"[{<>/&|".contains(c);
        self.cursor.peek().filter(|c| begins(*c))?;
        if self.cursor.eat_word("NOT") || matches!(self.field_name(), Ok(Some(_)) | Err(_)) {
            return None;
        }
        let Word { text, tilde } = self.word().ok()?;
        let behind = self.cursor;
        self.cursor.skip_whitespace();
        let has_operator = ["AND", "OR"].iter().any(|name| self.cursor.eat_word(name));
        let is_boosted = matches!(self.cursor.peek(), Some('^' | '&' | '|'));
        self.cursor = behind;
        (tilde.is_none() && !has_operator && !is_boosted).then_some(text)
    }

    /// Reads a word without quotes. It begins with a minus only if it is a number.
    fn word(&mut self) -> Result<Word, SearchError> {
        let start = self.cursor;
        let mut word = Word::default();
        let ends_word = self.ends_word();
        let is_lucene = self.dialect == Dialect::Lucene;
        loop {
            let before = self.cursor;
            match self.cursor.bump() {
                Some('\\') => {
                    let escaped = match is_lucene {
                        true => self.cursor.escaped(),
                        false => self.cursor.bump(),
                    };
                    let Some(escaped) = escaped else {
                        self.cursor = before;
                        return Err(self.syntax("a backslash needs a character behind it"));
                    };
                    if matches!(escaped, '*' | '?') {
                        if is_lucene {
                            double_backslashes(&mut word.text);
                        }
                        // The backslash marks that it is not a wildcard.
                        word.text.push('\\');
                    }
                    word.text.push(escaped);
                }
                Some(c) if !ends_word(c) => {
                    if is_lucene && matches!(c, '*' | '?') {
                        double_backslashes(&mut word.text);
                    }
                    if c == '~' {
                        word.tilde = Some(word.text.len());
                    }
                    word.text.push(c);
                }
                _ => {
                    self.cursor = before;
                    break;
                }
            }
        }
        let written = self.cursor.since(start.at());
        let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        let is_word = match written.strip_prefix('-') {
            Some(behind) => is_number(behind),
            None => !written.is_empty(),
        };
        if !is_word {
            self.cursor = start;
            return Err(self.expected("a term"));
        }
        if matches!(written, "AND" | "OR" | "NOT" | "IN") {
            self.cursor = start;
            let problem =
                format!("expected a term, found the operator {written}; in quotes it is a word");
            return Err(self.syntax(&problem));
        }
        Ok(word)
    }
}

/// Doubles the backslashes at the end of a word, which are literal: before a wildcard or a star that is none, half of
/// them count.
fn double_backslashes(word: &mut String) {
    let num_backslashes = word.len() - word.trim_end_matches('\\').len();
    word.extend(std::iter::repeat_n('\\', num_backslashes));
}

fn bound_of(text: Option<String>, is_included: bool) -> Bound<String> {
    match (text, is_included) {
        (None, _) => Bound::Unbounded,
        (Some(text), true) => Bound::Included(text),
        (Some(text), false) => Bound::Excluded(text),
    }
}

/// Divides `word~1` at its tilde; `None` where the tilde is an ordinary character.
fn near_word(text: &str, tilde: usize) -> Option<(&str, &str)> {
    let (word, edits) = text.split_at_checked(tilde)?;
    let edits = edits.strip_prefix('~')?;
    let is_number = edits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    (is_number && !word.is_empty() && !word.contains(['*', '?'])).then_some((word, edits))
}

fn edits_of(text: &str) -> Option<Edits> {
    match text {
        "" => Some(AUTO),
        "0" => Some(Edits::Most(0)),
        "1" => Some(Edits::Most(1)),
        "2" => Some(Edits::Most(2)),
        _ => None,
    }
}

fn near(field: Option<String>, word: &str, edits: Edits) -> QueryNode {
    let near = Match {
        field,
        fuzziness: Some(Fuzziness {
            edits,
            prefix_len: 0,
            has_transpositions: true,
        }),
        ..all_words(word.to_owned())
    };
    match near.field {
        Some(_) => QueryNode::Leaf(Leaf::Match(near)),
        None => in_fields(near),
    }
}

/// Returns a text of which all words are looked for.
fn all_words(text: String) -> Match {
    Match {
        field: None,
        text,
        analyzer: None,
        words: Words::All,
        fuzziness: None,
        is_all_without_words: false,
        is_lenient: false,
    }
}

fn in_fields(text: Match) -> QueryNode {
    QueryNode::Fields(InFields {
        fields: Vec::new(),
        combine: Combine::Sum,
        leaf: Leaf::Match(text),
        is_lenient: false,
    })
}
