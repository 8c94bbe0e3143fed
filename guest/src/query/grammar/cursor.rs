//! Cursor over a text, and the positions that errors name. It is independent of the query language: the parsers
//! of query strings and of `simple_query_string` share it.

/// A position in a text.
#[derive(Clone, Copy, Debug)]
pub(in crate::query) struct Cursor<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Cursor<'t> {
    pub(in crate::query) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the number of bytes that have been read.
    pub(in crate::query) fn at(&self) -> usize {
        self.at
    }

    /// Returns the text that has not been read.
    pub(in crate::query) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the text that has been read since `start`.
    pub(in crate::query) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Returns the next character without reading it.
    pub(in crate::query) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Reads a character.
    pub(in crate::query) fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Reads this character if it is the next.
    pub(in crate::query) fn eat(&mut self, c: char) -> bool {
        let is_next = self.peek() == Some(c);
        if is_next {
            self.at += c.len_utf8();
        }
        is_next
    }

    /// Reads this text if it is next, and followed by the end or a character of a kind.
    pub(in crate::query) fn eat_before(&mut self, text: &str, is_end: fn(char) -> bool) -> bool {
        let behind = self.rest().strip_prefix(text);
        let is_next = behind.is_some_and(|rest| rest.chars().next().is_none_or(is_end));
        if is_next {
            self.at += text.len();
        }
        is_next
    }

    /// Reads this word if it is next and separate from what follows.
    pub(in crate::query) fn eat_word(&mut self, word: &str) -> bool {
        self.eat_before(word, char::is_whitespace)
    }

    /// Reads characters while they are of a kind.
    pub(in crate::query) fn take_while(&mut self, is_one: fn(char) -> bool) -> &'t str {
        let start = self.at;
        let rest = self.rest();
        self.at += rest.find(|c| !is_one(c)).unwrap_or(rest.len());
        self.since(start)
    }

    /// Reads whitespace; returns whether there was any.
    pub(in crate::query) fn skip_whitespace(&mut self) -> bool {
        !self.take_while(char::is_whitespace).is_empty()
    }

    /// Reads a text up to `quote`, after the quote that opens it. A backslash makes the next character part of the
    /// text. Returns `None` at the end of the text if no quote closes it.
    pub(in crate::query) fn quoted(&mut self, quote: char) -> Option<String> {
        let mut quoted = String::new();
        loop {
            match self.bump()? {
                '\\' => quoted.push(self.bump()?),
                c if c == quote => return Some(quoted),
                c => quoted.push(c),
            }
        }
    }

    /// Reads the character that a backslash of Lucene's makes literal, behind the backslash: the next, or the one with the
    /// number in `u00e9`. Returns `None` at the end of the text.
    pub(in crate::query) fn escaped(&mut self) -> Option<char> {
        const NUM_DIGITS: usize = 4;
        let escaped = self.bump()?;
        let digits = self.rest().get(..NUM_DIGITS);
        let is_number = |digits: &&str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let digits = digits.filter(|_| escaped == 'u').filter(is_number);
        let numbered = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        Some(match numbered.and_then(char::from_u32) {
            Some(numbered) => {
                self.at += NUM_DIGITS;
                numbered
            }
            None => escaped,
        })
    }

    /// Returns the position of the next character, as `column 17` or `line 2, column 5`; characters are counted from 1.
    pub(in crate::query) fn place(&self) -> String {
        let before = self.since(0);
        let column = |line: &str| line.chars().count() + 1;
        match before.rsplit_once('\n') {
            Some((lines, line)) => {
                let num_lines = lines.matches('\n').count() + 2;
                format!("line {num_lines}, column {}", column(line))
            }
            None => format!("column {}", column(before)),
        }
    }

    /// Returns the beginning of the text that has not been read, for an error message.
    pub(in crate::query) fn found(&self) -> String {
        const MAX_CHARS: usize = 20;
        let rest = self.rest();
        let word = rest.split(char::is_whitespace).next().unwrap_or_default();
        match rest.is_empty() {
            true => "the end of the query".to_owned(),
            false if word.is_empty() => "a space".to_owned(),
            false => format!("{:?}", word.chars().take(MAX_CHARS).collect::<String>()),
        }
    }
}
