//! The query builder: parsed query string + doc mapper → tantivy query + needs.

use canter_aggregations::check_name;
use canter_doc_mapper::DocMapper;
use tantivy::Term;
use tantivy::query::{AllQuery, BooleanQuery, BoostQuery, EmptyQuery, Occur, Query};
use tantivy_query_grammar::{Occur as AstOccur, UserInputAst, UserInputLeaf};

use super::default_fields::in_default_fields;
use super::depth::outline_of;
use super::excluded::excluded;
use super::literal::build_literal;
use super::needs::Needs;
use super::negative::parse_with_exponents;
use super::range::{build_exists, build_range, build_set};
use super::scan::Scan;
use super::wildcard::build_regex;
use crate::request::Limits;
use crate::{ErrorKind, SearchError};

/// What kind of query it is, as far as a shortcut exists for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum QueryShape {
    /// Every document matches.
    All,
    /// No document matches.
    Nothing,
    /// The documents of one posting list.
    Term(Term),
    /// Anything else.
    Other,
}

/// A query ready to run on one split.
#[derive(Debug)]
pub(crate) struct BuiltQuery {
    pub(crate) query: Box<dyn Query>,
    pub(crate) shape: QueryShape,
    pub(crate) needs: Needs,
    /// What documents must be looked at for.
    pub(crate) scan: Scan,
}

/// Where the parts of one query are put together.
pub(super) struct Builder<'a> {
    pub(super) mapper: &'a DocMapper,
    pub(super) search_fields: &'a [String],
    pub(super) scoring: bool,
    pub(super) needs: Needs,
    pub(super) scan: Scan,
    /// Whether what is built must not match in the end.
    pub(super) is_excluded: bool,
    clauses_left: usize,
    max_clauses: usize,
}

/// Parses a query string.
///
/// # Errors
/// If it is too long, has too many terms or nests too deep to be parsed without harm, or is not in the query
/// language.
pub(crate) fn parse_query(query: &str, limits: &Limits) -> Result<UserInputAst, SearchError> {
    let limit = |message: String| Err(SearchError::new(ErrorKind::Limit, message));
    if query.len() > limits.max_query_bytes {
        return limit(format!(
            "the query is {} bytes long, more than the limit of {}",
            query.len(),
            limits.max_query_bytes
        ));
    }
    let trimmed = query.trim();
    if trimmed.is_empty() {
        return Err(SearchError::invalid(
            "the query is empty: use * to match everything",
        ));
    }
    let outline = outline_of(trimmed);
    if outline.depth > limits.max_query_depth {
        return limit(format!(
            "the query nests deeper than the limit of {}",
            limits.max_query_depth
        ));
    }
    if outline.num_leaves > limits.max_query_clauses {
        return limit(too_many_clauses(limits.max_query_clauses));
    }
    let ast = parse_with_exponents(&outline.text).ok_or_else(|| {
        SearchError::invalid(format!(
            "the query {trimmed:?} cannot be parsed: check quotes, brackets and operators"
        ))
    })?;
    check_names(&ast)?;
    Ok(ast)
}

fn too_many_clauses(most: usize) -> String {
    format!("the query has more than {most} terms and clauses")
}

/// Checks the names of fields in a query.
fn check_names(ast: &UserInputAst) -> Result<(), SearchError> {
    match ast {
        UserInputAst::Clause(clauses) => clauses.iter().try_for_each(|(_, ast)| check_names(ast)),
        UserInputAst::Boost(ast, _) => check_names(ast),
        UserInputAst::Leaf(leaf) => {
            let name = match leaf.as_ref() {
                UserInputLeaf::All => None,
                UserInputLeaf::Literal(literal) => literal.field_name.as_ref(),
                UserInputLeaf::Exists { field } => Some(field),
                UserInputLeaf::Range { field, .. }
                | UserInputLeaf::Set { field, .. }
                | UserInputLeaf::Regex { field, .. } => field.as_ref(),
            };
            name.map_or(Ok(()), |name| Ok(check_name("query", name)?))
        }
    }
}

/// Builds the query for one doc mapping.
///
/// # Errors
/// If it names a field that does not exist or asks a field for what it cannot do.
pub(crate) fn build_query(
    ast: &UserInputAst,
    mapper: &DocMapper,
    search_fields: &[String],
    scoring: bool,
    limits: &Limits,
) -> Result<BuiltQuery, SearchError> {
    let mut builder = Builder {
        mapper,
        search_fields,
        scoring,
        needs: Needs::default(),
        scan: Scan::default(),
        is_excluded: false,
        clauses_left: limits.max_query_clauses,
        max_clauses: limits.max_query_clauses,
    };
    let query = builder.ast(ast)?;
    let shape = shape_of(query.as_ref());
    Ok(BuiltQuery {
        query,
        shape,
        needs: builder.needs,
        scan: builder.scan,
    })
}

fn shape_of(query: &dyn Query) -> QueryShape {
    if query.is::<AllQuery>() {
        QueryShape::All
    } else if query.is::<EmptyQuery>() {
        QueryShape::Nothing
    } else if let Some(term) = query.downcast_ref::<tantivy::query::TermQuery>() {
        QueryShape::Term(term.term().clone())
    } else {
        QueryShape::Other
    }
}

impl Builder<'_> {
    /// Counts one more clause against the limit.
    pub(super) fn spend_clause(&mut self) -> Result<(), SearchError> {
        match self.clauses_left.checked_sub(1) {
            Some(left) => {
                self.clauses_left = left;
                Ok(())
            }
            None => Err(SearchError::new(
                ErrorKind::Limit,
                too_many_clauses(self.max_clauses),
            )),
        }
    }

    fn ast(&mut self, ast: &UserInputAst) -> Result<Box<dyn Query>, SearchError> {
        match ast {
            UserInputAst::Clause(clauses) => self.clause(clauses),
            UserInputAst::Boost(inner, boost) => {
                let inner = self.ast(inner)?;
                #[expect(clippy::cast_possible_truncation, reason = "scores are 32 bits wide")]
                let boost = boost.into_inner() as f32;
                Ok(Box::new(BoostQuery::new(inner, boost)))
            }
            UserInputAst::Leaf(leaf) => self.leaf(leaf),
        }
    }

    fn clause(
        &mut self,
        clauses: &[(Option<AstOccur>, UserInputAst)],
    ) -> Result<Box<dyn Query>, SearchError> {
        let mut queries: Vec<(Occur, Box<dyn Query>)> = Vec::with_capacity(clauses.len() + 1);
        // Of `x:(a OR a) b` the grammar keeps one `a`, takes it out of its brackets, and leaves it its OR; nothing else
        // gives a single alternative among words that stand side by side.
        let mut alternatives = clauses
            .iter()
            .filter(|(occur, _)| *occur == Some(AstOccur::Should));
        let is_lifted = alternatives.next().is_some()
            && alternatives.next().is_none()
            && clauses.iter().any(|(occur, _)| occur.is_none());
        for (occur, ast) in clauses {
            // Words side by side must all match, as in Quickwit.
            let occur = match occur {
                None | Some(AstOccur::Must) => Occur::Must,
                Some(AstOccur::Should) if is_lifted => Occur::Must,
                Some(AstOccur::Should) => Occur::Should,
                Some(AstOccur::MustNot) => Occur::MustNot,
            };
            self.is_excluded ^= occur == Occur::MustNot;
            let query = self.ast(ast)?;
            self.is_excluded ^= occur == Occur::MustNot;
            let query = match occur {
                Occur::MustNot => excluded(query),
                Occur::Must | Occur::Should => query,
            };
            queries.push((occur, query));
        }
        if queries.is_empty() {
            return Ok(Box::new(EmptyQuery));
        }
        if queries.iter().all(|(occur, _)| *occur == Occur::MustNot) {
            // `NOT x` alone means everything but x.
            queries.push((Occur::Must, Box::new(AllQuery)));
        }
        if let [(Occur::Must | Occur::Should, _)] = queries.as_slice()
            && let Some((_, only)) = queries.pop()
        {
            return Ok(only);
        }
        Ok(Box::new(BooleanQuery::new(queries)))
    }

    fn leaf(&mut self, leaf: &UserInputLeaf) -> Result<Box<dyn Query>, SearchError> {
        self.spend_clause()?;
        match leaf {
            UserInputLeaf::All => Ok(Box::new(AllQuery)),
            UserInputLeaf::Literal(literal) => build_literal(self, literal),
            UserInputLeaf::Range {
                field,
                lower,
                upper,
            } => match field {
                Some(name) => build_range(self, name, lower, upper),
                None => in_default_fields(
                    self,
                    "a range",
                    "write field:[a TO b]",
                    &mut |builder, name| build_range(builder, name, lower, upper),
                ),
            },
            UserInputLeaf::Set { field, elements } => match field {
                Some(name) => build_set(self, name, elements),
                None => in_default_fields(
                    self,
                    "IN [...]",
                    "write field: IN [a b]",
                    &mut |builder, name| build_set(builder, name, elements),
                ),
            },
            UserInputLeaf::Exists { field } => build_exists(self, field),
            UserInputLeaf::Regex { field, pattern } => {
                build_regex(self, named(field, "a regular expression")?, pattern)
            }
        }
    }
}

fn named<'a>(field: &'a Option<String>, what: &str) -> Result<&'a str, SearchError> {
    field
        .as_deref()
        .ok_or_else(|| SearchError::invalid(format!("{what} must name a field: field:...")))
}

/// Matches if any of the queries does.
pub(super) fn any_of(mut queries: Vec<Box<dyn Query>>) -> Box<dyn Query> {
    if queries.len() > 1 {
        return Box::new(BooleanQuery::new(
            queries
                .into_iter()
                .map(|query| (Occur::Should, query))
                .collect(),
        ));
    }
    queries.pop().unwrap_or_else(|| Box::new(EmptyQuery))
}
