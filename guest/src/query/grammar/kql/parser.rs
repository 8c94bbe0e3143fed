//! Parts of a query and their operators: a recursive descent that is no deeper than the request's limit.

use canter_aggregations::check_name;

use super::literal::Literal;
use crate::limits::Limits;
use crate::query::grammar::cursor::Cursor;
use crate::query::grammar::parser::{check_len, too_many_clauses};
use crate::query::tree::{
    BoolNode, Combine, Ends, Factor, Given, InFields, Leaf, Match, PatternKind, QueryNode, Range,
    Role, SpanRelation, TextLeaf, Words,
};
use crate::{ErrorKind, SearchError};

/// Settings for a query.
#[derive(Clone, Debug, Default)]
pub(crate) struct KqlOptions {
    /// The fields of values without a name; the default fields if empty.
    pub(crate) fields: Vec<(String, Factor)>,
    /// True if patterns match capital and small letters alike.
    pub(crate) case_insensitive: bool,
    /// The zone of dates that have none.
    pub(crate) time_zone: Option<String>,
    /// The time that `now` stands for, in milliseconds since 1970.
    pub(crate) now_ms: Option<i64>,
}

/// Parses a query that is at `path` in a request. An empty query matches everything.
///
/// # Errors
/// If it is too long, has too many values or is nested too deeply, or is invalid, with the column of the error.
pub(crate) fn parse_kql(
    path: &str,
    query: &str,
    options: &KqlOptions,
    limits: &Limits,
) -> Result<QueryNode, SearchError> {
    check_len(query.len(), limits).map_err(|error| error.at(path))?;
    let mut parser = Parser {
        cursor: Cursor::new(query),
        path,
        options,
        limits,
        depth: 0,
        num_values: 0,
        objects: Vec::new(),
    };
    parser.cursor.skip_whitespace();
    if parser.cursor.rest().is_empty() {
        return Ok(QueryNode::All);
    }
    let node = parser.query(&mut Parser::part)?;
    match parser.cursor.peek() {
        None => Ok(node),
        Some(')' | '}') => Err(parser.wrong("no bracket is open that this one could close")),
        Some(_) => Err(parser.expected("and, or, or the end of the query")),
    }
}

/// Parser of a query.
#[derive(Debug)]
pub(super) struct Parser<'t> {
    pub(super) cursor: Cursor<'t>,
    path: &'t str,
    options: &'t KqlOptions,
    limits: &'t Limits,
    depth: usize,
    num_values: usize,
    /// The paths of the objects around the current part, each in full.
    objects: Vec<String>,
}

/// Reads one operand of a combination.
type Operand<'f, 't> = dyn FnMut(&mut Parser<'t>) -> Result<QueryNode, SearchError> + 'f;

impl<'t> Parser<'t> {
    /// Reads operands combined by `or`, `and` and `not`.
    fn query(&mut self, operand: &mut Operand<'_, 't>) -> Result<QueryNode, SearchError> {
        self.deepen()?;
        let mut alternatives = vec![self.all_of(operand)?];
        while self.eat_operator("or") {
            alternatives.push(self.all_of(operand)?);
        }
        self.depth -= 1;
        Ok(combined(Role::Should, alternatives))
    }

    fn all_of(&mut self, operand: &mut Operand<'_, 't>) -> Result<QueryNode, SearchError> {
        let mut nodes = vec![self.negated(operand)?];
        while self.eat_operator("and") {
            nodes.push(self.negated(operand)?);
        }
        Ok(combined(Role::Must, nodes))
    }

    fn negated(&mut self, operand: &mut Operand<'_, 't>) -> Result<QueryNode, SearchError> {
        if !self.eat_operator("not") {
            return operand(self);
        }
        self.deepen()?;
        let node = self.negated(operand)?;
        self.depth -= 1;
        // The absence of something gives no score.
        let clauses = vec![(Role::MustNot, node), (Role::Filter, QueryNode::All)];
        Ok(QueryNode::Bool(BoolNode {
            clauses,
            min_should: None,
        }))
    }

    /// Reads what is in brackets, which is next.
    fn in_brackets(&mut self, operand: &mut Operand<'_, 't>) -> Result<QueryNode, SearchError> {
        let start = self.cursor;
        let end = match self.cursor.bump() {
            Some('{') => '}',
            _ => ')',
        };
        self.cursor.skip_whitespace();
        let node = self.query(operand)?;
        match self.cursor.peek() {
            Some(c) if c == end => {
                self.cursor.bump();
                self.cursor.skip_whitespace();
                Ok(node)
            }
            None => {
                self.cursor = start;
                Err(self.wrong("this bracket is not closed"))
            }
            Some(_) => Err(self.expected(&format!("and, or, or \"{end}\""))),
        }
    }

    fn part(&mut self) -> Result<QueryNode, SearchError> {
        if self.cursor.peek() == Some('(') {
            return self.in_brackets(&mut Self::part);
        }
        let start = self.cursor;
        let literal = self.literal("a value or the name of a field")?;
        match self.cursor.peek() {
            Some(':') => {
                let name = self.name(start, literal)?;
                self.cursor.bump();
                self.cursor.skip_whitespace();
                match self.cursor.peek() {
                    Some('{') => self.in_object(name),
                    _ => self.values(&name),
                }
            }
            Some('<' | '>') => {
                let name = self.name(start, literal)?;
                self.range(name)
            }
            _ if !self.objects.is_empty() => {
                self.cursor = start;
                Err(self.wrong("in braces, each value needs the name of a field in front"))
            }
            _ => {
                self.spend_value()?;
                Ok(self.value(None, literal))
            }
        }
    }

    /// Returns the name of a field in full.
    fn name(&mut self, start: Cursor<'t>, literal: Literal) -> Result<String, SearchError> {
        let is_wrong = !literal.is_quoted && literal.text.contains(char::is_whitespace);
        if is_wrong {
            // It is the last word that stands before the operator.
            return Err(self.wrong(
                "and, or, or a quote is missing before this: values beside each other belong to one field, and the name of \
                 a field with a space in it needs quotes",
            ));
        }
        let name = match self.objects.last() {
            Some(object) => format!("{object}.{}", literal.text),
            None => literal.text,
        };
        let checked = name.replace('*', "x");
        check_name("", &checked).or_else(|_| check_name(&self.place_of(start), &checked))?;
        Ok(name)
    }

    /// Reads `{ name: value and … }`, conditions on one object.
    fn in_object(&mut self, path: String) -> Result<QueryNode, SearchError> {
        if path.contains('*') {
            return Err(self.wrong("an object before braces is named without a wildcard"));
        }
        self.objects.push(path.clone());
        let node = self.in_brackets(&mut Self::part)?;
        self.objects.pop();
        Ok(QueryNode::Nested(Box::new(node), path, false))
    }

    /// Reads the values of a field: one, or several in brackets.
    fn values(&mut self, name: &str) -> Result<QueryNode, SearchError> {
        if self.cursor.peek() == Some('(') {
            return self.in_brackets(&mut |parser| parser.values(name));
        }
        let literal = self.literal("a value")?;
        self.spend_value()?;
        Ok(self.value(Some(name), literal))
    }

    fn range(&mut self, name: String) -> Result<QueryNode, SearchError> {
        let is_lower = self.cursor.bump() == Some('>');
        let is_included = self.cursor.eat('=');
        self.cursor.skip_whitespace();
        let before = self.cursor;
        let literal = self.literal("a value")?;
        if literal.pattern.is_some() {
            self.cursor = before;
            return Err(self.wrong("an end of a range has no wildcard"));
        }
        self.spend_value()?;
        let ends = Ends {
            now_ms: self.options.now_ms,
            format: None,
            time_zone: self.options.time_zone.as_deref(),
        };
        let given = Given {
            text: literal.text,
            is_number: false,
        };
        let end = ends.end(self.path, &name, given, is_included, is_lower)?;
        let (lower, upper) = match is_lower {
            true => (Some(end), None),
            false => (None, Some(end)),
        };
        let range = Leaf::Range(Range {
            field: String::new(),
            lower,
            upper,
            format: None,
            time_zone: self.options.time_zone.clone(),
            relation: SpanRelation::default(),
        });
        Ok(self.in_field(Some(&name), range))
    }

    fn value(&self, name: Option<&str>, literal: Literal) -> QueryNode {
        if literal.is_star() {
            let field = String::new();
            return match name {
                None | Some("*") => QueryNode::All,
                name => self.in_field(name, Leaf::Text(TextLeaf::Exists { field })),
            };
        }
        if let Some(pattern) = literal.pattern {
            let pattern = Leaf::Pattern {
                field: String::new(),
                kind: PatternKind::Wildcard,
                pattern,
                case_insensitive: self.options.case_insensitive,
            };
            return self.in_field(name, pattern);
        }
        let words = match literal.is_quoted {
            true => Words::Phrase { slop: 0 },
            false => Words::Values,
        };
        let matched = Match {
            field: None,
            text: literal.text,
            analyzer: None,
            words,
            fuzziness: None,
            is_all_without_words: false,
            is_lenient: true,
        };
        self.in_field(name, Leaf::Match(matched))
    }

    /// Returns a condition on a field, on those of a pattern, or on the default fields.
    fn in_field(&self, name: Option<&str>, leaf: Leaf) -> QueryNode {
        let fields = match name {
            Some(name) if !name.contains('*') => return QueryNode::Leaf(leaf.in_field(name)),
            Some(name) => vec![(name.to_owned(), Factor(1.0))],
            None => self.options.fields.clone(),
        };
        QueryNode::Fields(InFields {
            fields,
            combine: Combine::Best(Factor(0.0)),
            leaf,
            is_lenient: true,
        })
    }

    /// Counts a value against the limit.
    fn spend_value(&mut self) -> Result<(), SearchError> {
        self.num_values += 1;
        match self.num_values <= self.limits.max_query_clauses {
            true => Ok(()),
            false => Err(self.error(
                ErrorKind::Limit,
                &too_many_clauses(self.limits.max_query_clauses),
            )),
        }
    }

    /// Counts a level of nesting against the limit.
    fn deepen(&mut self) -> Result<(), SearchError> {
        self.depth += 1;
        // The query itself is a level.
        match self.depth <= self.limits.max_query_depth.saturating_add(1) {
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

    fn place_of(&self, cursor: Cursor<'_>) -> String {
        format!("{}, {}", self.path, cursor.place())
    }

    fn error(&self, kind: ErrorKind, message: &str) -> SearchError {
        SearchError::new(kind, message).at(&self.place_of(self.cursor))
    }

    /// Returns the error that the text from here on is invalid.
    pub(super) fn wrong(&self, problem: &str) -> SearchError {
        let message = format!("the query is no KQL: {problem}");
        self.error(ErrorKind::Invalid, &message)
    }

    /// Returns the error that something else was expected.
    pub(super) fn expected(&self, what: &str) -> SearchError {
        let found = match self.operator_here() {
            Some(operator) => format!("the operator {operator}; in quotes it is a word"),
            None => self.cursor.found(),
        };
        self.wrong(&format!("expected {what}, found {found}"))
    }
}

/// Returns the combination of nodes, or the only one.
fn combined(role: Role, mut nodes: Vec<QueryNode>) -> QueryNode {
    match (nodes.len(), nodes.pop()) {
        (1, Some(only)) => only,
        (_, last) => QueryNode::Bool(BoolNode {
            clauses: nodes
                .into_iter()
                .chain(last)
                .map(|node| (role, node))
                .collect(),
            min_should: None,
        }),
    }
}
