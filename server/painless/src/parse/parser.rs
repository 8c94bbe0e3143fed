//! The state of a parser: its tokens, and the variables that can be seen.

use std::sync::Arc;

use crate::ast::{Expr, Kind};
use crate::error::ScriptError;
use crate::lexer::Token;
use crate::limits::MAX_DEPTH;
use crate::values::Type;

/// A script that was read.
pub(crate) struct Program {
    pub(crate) statements: Vec<crate::ast::Statement>,
    /// The types of its variables.
    pub(crate) variables: Vec<Type>,
}

pub(super) struct Parser {
    pub(super) tokens: Vec<(usize, Token)>,
    pub(super) next: usize,
    /// The types of all variables.
    pub(super) variables: Vec<Type>,
    /// The names of those that can be seen, and their places.
    pub(super) visible: Vec<(Arc<str>, usize)>,
    /// Number of statements or expressions that are being read.
    depth: u16,
}

impl Parser {
    pub(super) fn new(tokens: Vec<(usize, Token)>) -> Self {
        Self {
            tokens,
            next: 0,
            variables: Vec::new(),
            visible: Vec::new(),
            depth: 0,
        }
    }

    /// Returns the token that is `ahead` of the next.
    pub(super) fn peek_at(&self, ahead: usize) -> &Token {
        let token = self.tokens.get(self.next + ahead);
        token.map_or(&Token::End, |(_, token)| token)
    }

    pub(super) fn peek(&self) -> &Token {
        self.peek_at(0)
    }

    /// Returns the place of the next token.
    pub(super) fn at(&self) -> usize {
        let token = self.tokens.get(self.next).or(self.tokens.last());
        token.map_or(0, |(at, _)| *at)
    }

    pub(super) fn is(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(next) if *next == symbol)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(next) if **next == *word)
    }

    /// Takes a symbol if it is the next token.
    pub(super) fn takes(&mut self, symbol: &str) -> bool {
        let is_next = self.is(symbol);
        self.next += usize::from(is_next);
        is_next
    }

    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        let is_next = self.is_word(word);
        self.next += usize::from(is_next);
        is_next
    }

    pub(super) fn expect(&mut self, symbol: &str) -> Result<(), ScriptError> {
        match self.takes(symbol) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("[{symbol}]"))),
        }
    }

    pub(super) fn name(&mut self) -> Result<Arc<str>, ScriptError> {
        let Token::Name(name) = self.peek() else {
            return Err(self.unexpected("a name"));
        };
        let name = Arc::clone(name);
        self.next += 1;
        Ok(name)
    }

    /// Returns the error of a token that cannot stand where it does.
    pub(super) fn unexpected(&self, wanted: &str) -> ScriptError {
        let found = match self.peek() {
            Token::End => "the end of the script".to_owned(),
            Token::Name(name) => format!("[{name}]"),
            Token::Symbol(symbol) => format!("[{symbol}]"),
            Token::Number(number) => format!("[{}]", number.digits),
            Token::Text(text) => format!("['{text}']"),
        };
        self.error(format!("unexpected token {found}: {wanted} is expected"))
    }

    pub(super) fn error(&self, reason: impl Into<String>) -> ScriptError {
        ScriptError::compiling(self.at(), reason)
    }

    /// Goes one level deeper while `read` reads.
    pub(super) fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, ScriptError>,
    ) -> Result<T, ScriptError> {
        if self.depth >= MAX_DEPTH {
            return Err(self.error(format!(
                "the script is nested more than {MAX_DEPTH} levels deep"
            )));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Makes an expression around others of this depth.
    pub(super) fn made(&self, at: usize, inner: u16, kind: Kind) -> Result<Expr, ScriptError> {
        let depth = inner + 1;
        match depth > 2 * MAX_DEPTH {
            true => Err(ScriptError::compiling(
                at,
                format!(
                    "an expression has more than {} levels: split it into several statements",
                    2 * MAX_DEPTH
                ),
            )),
            false => Ok(Expr { at, depth, kind }),
        }
    }

    /// Declares a variable, which is seen from now on.
    pub(super) fn declare(&mut self, name: &Arc<str>, of: Type) -> Result<usize, ScriptError> {
        let is_reserved = matches!(
            &**name,
            "ctx" | "params" | "this" | "true" | "false" | "null"
        );
        if is_reserved || self.visible.iter().any(|(other, _)| other == name) {
            return Err(self.error(format!("variable [{name}] is already defined")));
        }
        self.variables.push(of);
        let place = self.variables.len() - 1;
        self.visible.push((Arc::clone(name), place));
        Ok(place)
    }

    pub(super) fn variable(&self, name: &str) -> Option<usize> {
        let mut visible = self.visible.iter();
        visible
            .find(|(other, _)| **other == *name)
            .map(|(_, place)| *place)
    }

    /// Returns a type if the next token names one; `Map.Entry` is three tokens.
    pub(super) fn type_at(&self, ahead: usize) -> Option<(Type, usize)> {
        let Token::Name(name) = self.peek_at(ahead) else {
            return None;
        };
        let is_entry = &**name == "Map"
            && *self.peek_at(ahead + 1) == Token::Symbol(".")
            && matches!(self.peek_at(ahead + 2), Token::Name(inner) if &**inner == "Entry");
        match is_entry {
            true => Some((Type::Entry, 3)),
            false => Type::of(name).map(|of| (of, 1)),
        }
    }
}
