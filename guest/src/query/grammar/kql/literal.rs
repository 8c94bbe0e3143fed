//! Values and names: `error`, `web*`, `"a phrase"`, `C\:\\Windows`.

use super::parser::Parser;
use crate::SearchError;

/// The operators that are words.
const OPERATORS: [&str; 3] = ["and", "or", "not"];

/// A value or a name as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Literal {
    /// The text, without backslashes. Of a text without quotes, stars are included.
    pub(super) text: String,
    pub(super) is_quoted: bool,
    /// The text as a pattern in Lucene's syntax, if it has a wildcard.
    pub(super) pattern: Option<String>,
}

impl Literal {
    /// Returns whether it is a star alone.
    pub(super) fn is_star(&self) -> bool {
        self.pattern.as_deref() == Some("*")
    }
}

/// Returns whether a character needs a backslash in a text without quotes.
pub(super) fn is_special(c: char) -> bool {
    "():<>\"{}".contains(c)
}

/// Returns whether a word ends before a character.
fn ends_word(c: char) -> bool {
    c.is_whitespace() || is_special(c)
}

impl Parser<'_> {
    /// Returns the operator that begins here, if one does.
    pub(super) fn operator_here(&self) -> Option<&'static str> {
        let rest = self.cursor.rest();
        let is_here = |operator: &&str| {
            let word = rest.get(..operator.len());
            let behind = rest
                .get(operator.len()..)
                .and_then(|rest| rest.chars().next());
            word.is_some_and(|word| word.eq_ignore_ascii_case(operator))
                && behind.is_none_or(ends_word)
        };
        OPERATORS.into_iter().find(is_here)
    }

    /// Reads this operator, and the whitespace behind it, if it is next.
    pub(super) fn eat_operator(&mut self, operator: &str) -> bool {
        let is_next = self.operator_here() == Some(operator);
        if is_next {
            (0..operator.len()).for_each(|_| {
                self.cursor.bump();
            });
            self.cursor.skip_whitespace();
        }
        is_next
    }

    /// Reads a value or a name, and the whitespace behind it. `what` was expected, for the error if there is none.
    pub(super) fn literal(&mut self, what: &str) -> Result<Literal, SearchError> {
        let literal = match self.cursor.peek() {
            Some('"') => self.quoted()?,
            _ => self.unquoted()?,
        };
        if literal.text.is_empty() && !literal.is_quoted {
            return Err(self.expected(what));
        }
        self.cursor.skip_whitespace();
        Ok(literal)
    }

    fn quoted(&mut self) -> Result<Literal, SearchError> {
        let start = self.cursor;
        self.cursor.bump();
        let mut text = String::new();
        loop {
            match self.cursor.bump() {
                Some('"') => break,
                Some('\\') => match self.cursor.peek() {
                    Some('"' | '\\' | 't' | 'r' | 'n' | 'u') => text.push(self.escaped()?),
                    // A backslash before another character is one, as in a path of Windows.
                    _ => text.push('\\'),
                },
                Some(c) => text.push(c),
                None => {
                    self.cursor = start;
                    return Err(self.wrong("this quote is not closed"));
                }
            }
        }
        Ok(Literal {
            text,
            is_quoted: true,
            pattern: None,
        })
    }

    /// Reads words up to an operator or a special character.
    fn unquoted(&mut self) -> Result<Literal, SearchError> {
        let mut text = String::new();
        let mut stars = Vec::new();
        while let Some(c) = self.cursor.peek() {
            let before = self.cursor;
            if c.is_whitespace() {
                self.cursor.skip_whitespace();
                let goes_on = self.cursor.peek().is_some_and(|c| !is_special(c));
                if !goes_on || self.operator_here().is_some() {
                    self.cursor = before;
                    break;
                }
                text.push_str(self.cursor.since(before.at()));
                continue;
            }
            if is_special(c) || (text.is_empty() && self.operator_here().is_some()) {
                break;
            }
            self.cursor.bump();
            match c {
                '*' => {
                    stars.push(text.len());
                    text.push('*');
                }
                '\\' => match self.operator_here() {
                    Some(operator) => {
                        text.extend((0..operator.len()).filter_map(|_| self.cursor.bump()));
                    }
                    None => text.push(self.escaped()?),
                },
                c => text.push(c),
            }
        }
        let pattern = (!stars.is_empty()).then(|| lucene_pattern(&text, &stars));
        Ok(Literal {
            text,
            is_quoted: false,
            pattern,
        })
    }

    /// Reads the character that a backslash makes literal, behind the backslash.
    fn escaped(&mut self) -> Result<char, SearchError> {
        let before = self.cursor;
        Ok(match self.cursor.peek() {
            Some('t') => self.then('\t'),
            Some('r') => self.then('\r'),
            Some('n') => self.then('\n'),
            Some(c) if is_special(c) || matches!(c, '\\' | '*') => self.then(c),
            Some('u') => match self.cursor.escaped() {
                Some(c) if c != 'u' => c,
                _ => {
                    self.cursor = before;
                    return Err(self.wrong("behind \\u stand the four digits of a character"));
                }
            },
            _ => {
                return Err(self.wrong(
                    "a backslash stands before one of \\ ( ) : < > \" * { }, before and, or, not, or before t, r, n, u: \
                     write \\\\ for the character, or put the value into quotes",
                ));
            }
        })
    }

    /// Reads one character that stands for another.
    fn then(&mut self, c: char) -> char {
        self.cursor.bump();
        c
    }
}

/// Returns a text as a pattern in Lucene's syntax; `stars` are the places of its wildcards.
fn lucene_pattern(text: &str, stars: &[usize]) -> String {
    let mut pattern = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let is_wildcard = stars.binary_search(&at).is_ok();
        if matches!(c, '\\' | '*' | '?') && !is_wildcard {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}
