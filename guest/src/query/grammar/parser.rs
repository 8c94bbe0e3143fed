//! Clauses, groups and operators: a recursive descent that is no deeper than the request's limit, and reads each
//! character a fixed number of times.

use super::Dialect;
use super::clauses::{Clause, Operand, Operator, combine};
use super::cursor::Cursor;
use crate::limits::Limits;
use crate::query::tree::{Factor, QueryNode, Role};
use crate::{ErrorKind, SearchError};

/// Parses a query string. Adjacent words must all match, as in Quickwit.
///
/// # Errors
/// If it is too long, has too many terms or is nested too deeply, or is invalid, with the column of the error.
pub(crate) fn parse_query(query: &str, limits: &Limits) -> Result<QueryNode, SearchError> {
    parse_query_at("query", query, limits)
}

/// Parses a query string that is at `path` in a request.
///
/// # Errors
/// As [`parse_query`], with the path.
pub(crate) fn parse_query_at(
    path: &str,
    query: &str,
    limits: &Limits,
) -> Result<QueryNode, SearchError> {
    parse_words(path, query, Role::Must, Dialect::Quickwit, limits)
}

/// Parses a query string that is at `path` in a request, and in which adjacent words have this role.
///
/// # Errors
/// As [`parse_query_at`].
pub(in crate::query) fn parse_words(
    path: &str,
    query: &str,
    role: Role,
    dialect: Dialect,
    limits: &Limits,
) -> Result<QueryNode, SearchError> {
    parse_in_form(path, query, role, dialect, WordForm::Alone, limits)
}

/// What words side by side are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::query) enum WordForm {
    /// A clause each.
    Alone,
    /// A phrase, as far as no operator, wildcard or name of a field is among them.
    Phrase,
    /// One text of which a field has all words, as far as a phrase would reach.
    Together,
}

/// Parses a query string as [`parse_words`], with words side by side in a form.
///
/// # Errors
/// As [`parse_query_at`].
pub(in crate::query) fn parse_in_form(
    path: &str,
    query: &str,
    role: Role,
    dialect: Dialect,
    form: WordForm,
    limits: &Limits,
) -> Result<QueryNode, SearchError> {
    check_len(query.len(), limits).map_err(|error| error.at(path))?;
    if query.trim().is_empty() {
        let problem = "the query is empty: use * to match everything";
        return Err(SearchError::invalid(problem).at(path));
    }
    let parser = Parser {
        cursor: Cursor::new(query),
        path,
        role,
        dialect,
        form,
        limits,
        depth: 0,
        num_leaves: 0,
    };
    parser.query()
}

/// Parser of a query string.
#[derive(Debug)]
pub(super) struct Parser<'t> {
    pub(super) cursor: Cursor<'t>,
    /// The query's place in the request, for errors.
    path: &'t str,
    /// The role of adjacent clauses without an operator.
    role: Role,
    pub(super) dialect: Dialect,
    pub(super) form: WordForm,
    limits: &'t Limits,
    /// Number of open groups and pending negations.
    depth: usize,
    num_leaves: usize,
}

impl<'t> Parser<'t> {
    fn query(mut self) -> Result<QueryNode, SearchError> {
        let clause = self.clauses(None)?;
        match self.cursor.rest().is_empty() {
            true => Ok(clause.into_node()),
            false => Err(self.syntax("no bracket is open that this one could close")),
        }
    }

    /// Reads clauses up to a closing bracket or the end, and the whitespace around them. `field` is the field of a
    /// group.
    fn clauses(&mut self, field: Option<&str>) -> Result<Clause, SearchError> {
        let mut operands = Vec::new();
        self.cursor.skip_whitespace();
        loop {
            let operator = match operands.is_empty() {
                true => None,
                false => self.operator(),
            };
            let sign = match self.cursor.peek() {
                Some('+') => Some(Role::Must),
                Some('-') => Some(Role::MustNot),
                _ => None,
            };
            if sign.is_some() {
                self.cursor.bump();
            }
            let clause = self.clause(field)?;
            operands.push(Operand {
                operator,
                sign,
                clause,
            });
            let is_apart = self.cursor.skip_whitespace();
            match self.cursor.peek() {
                None | Some(')') => break,
                // As in Quickwit's grammar, only the first clause needs a space after it.
                Some(_)
                    if !is_apart && operands.len() == 1 && self.dialect == Dialect::Quickwit =>
                {
                    return Err(self.expected("a space, a \")\" or the end of the query"));
                }
                Some(_) => {}
            }
        }
        Ok(combine(operands, self.role))
    }

    fn operator(&mut self) -> Option<Operator> {
        let operator = if self.cursor.eat_word("AND") || self.eat_symbol("&&") {
            Operator::And
        } else if self.cursor.eat_word("OR") || self.eat_symbol("||") {
            Operator::Or
        } else {
            return None;
        };
        self.cursor.skip_whitespace();
        Some(operator)
    }

    /// Reads one of Lucene's operators if it is next and separate from a word behind it.
    fn eat_symbol(&mut self, symbol: &str) -> bool {
        let is_end = |c: char| c.is_whitespace() || "(\"[{!+-/".contains(c);
        self.dialect == Dialect::Lucene && self.cursor.eat_before(symbol, is_end)
    }

    /// Reads a negation, and the whitespace behind it.
    fn eat_not(&mut self) -> bool {
        let is_not = self.cursor.eat_word("NOT")
            || (self.dialect == Dialect::Lucene && self.cursor.eat('!'));
        if is_not {
            self.cursor.skip_whitespace();
        }
        is_not
    }

    /// Reads a clause and its boost.
    fn clause(&mut self, field: Option<&str>) -> Result<Clause, SearchError> {
        let clause = self.clause_without_boost(field)?;
        if !self.cursor.eat('^') {
            return Ok(clause);
        }
        let before = self.cursor;
        let number = self
            .cursor
            .take_while(|c| c.is_ascii_digit() || c == '.')
            .parse::<f64>();
        let Ok(boost) = number else {
            self.cursor = before;
            return Err(self.expected("a number, such as 2 or 0.5, behind \"^\""));
        };
        if (boost - 1.0).abs() <= f64::EPSILON {
            return Ok(clause);
        }
        #[expect(clippy::cast_possible_truncation, reason = "scores are 32 bits wide")]
        let boost = Factor(boost as f32);
        let node = Box::new(clause.into_node());
        Ok(Clause::Is(QueryNode::Boost(node, boost)))
    }

    fn clause_without_boost(&mut self, field: Option<&str>) -> Result<Clause, SearchError> {
        if self.eat_all() {
            self.spend_leaf()?;
            return Ok(Clause::Is(QueryNode::All));
        }
        let own = self.field_name()?;
        if own.is_none() && self.eat_not() {
            self.deepen()?;
            let negated = self.clause_without_boost(field)?;
            self.depth -= 1;
            return Ok(Clause::Not(negated.into_node()));
        }
        let field = own.as_deref().or(field);
        if self.cursor.peek() == Some('(') {
            return self.group(field);
        }
        self.spend_leaf()?;
        Ok(Clause::Is(self.leaf(field)?))
    }

    /// Counts a leaf against the limit.
    fn spend_leaf(&mut self) -> Result<(), SearchError> {
        self.num_leaves += 1;
        match self.num_leaves <= self.limits.max_query_clauses {
            true => Ok(()),
            false => Err(self.error(
                ErrorKind::Limit,
                &too_many_clauses(self.limits.max_query_clauses),
            )),
        }
    }

    fn group(&mut self, field: Option<&str>) -> Result<Clause, SearchError> {
        let start = self.cursor;
        self.deepen()?;
        self.cursor.bump();
        let clause = self.clauses(field)?;
        if !self.cursor.eat(')') {
            self.cursor = start;
            return Err(self.syntax("this bracket is not closed"));
        }
        self.depth -= 1;
        Ok(clause)
    }

    /// Counts a level of nesting against the limit.
    fn deepen(&mut self) -> Result<(), SearchError> {
        self.depth += 1;
        match self.depth <= self.limits.max_query_depth {
            true => Ok(()),
            false => Err(self.error(
                ErrorKind::Limit,
                &format!(
                    "the query nests deeper than the limit of {}",
                    self.limits.max_query_depth
                ),
            )),
        }
    }

    /// Returns the position of a cursor, as `query, column 17`.
    pub(super) fn place_of(&self, cursor: Cursor<'_>) -> String {
        format!("{}, {}", self.path, cursor.place())
    }

    /// Returns an error about the next character.
    pub(super) fn error(&self, kind: ErrorKind, message: &str) -> SearchError {
        SearchError::new(kind, message).at(&self.place_of(self.cursor))
    }

    /// Returns the error that the text from here on is invalid.
    pub(super) fn syntax(&self, problem: &str) -> SearchError {
        let message =
            format!("the query cannot be parsed: check quotes, brackets and operators; {problem}");
        self.error(ErrorKind::Invalid, &message)
    }

    /// Returns the error that something else was expected.
    pub(super) fn expected(&self, what: &str) -> SearchError {
        let hint = match self.cursor.peek() {
            Some(':') => "; a value with a colon in it needs quotes",
            _ => "",
        };
        self.syntax(&format!(
            "expected {what}, found {}{hint}",
            self.cursor.found()
        ))
    }
}

/// Returns an error for a query that is longer than the limit.
pub(in crate::query) fn check_len(num_bytes: usize, limits: &Limits) -> Result<(), SearchError> {
    match num_bytes > limits.max_query_bytes {
        true => Err(SearchError::new(
            ErrorKind::Limit,
            format!(
                "the query is {num_bytes} bytes long, more than the limit of {}",
                limits.max_query_bytes
            ),
        )),
        false => Ok(()),
    }
}

pub(in crate::query) fn too_many_clauses(most: usize) -> String {
    format!("the query has more than {most} terms and clauses")
}
