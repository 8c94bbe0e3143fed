//! The query string: `level:error AND (timeout OR "connection reset") AND size:>4`.

mod depth;
mod negative;
mod values;

use canter_aggregations::check_name;
use tantivy_query_grammar::{Delimiter, Occur, UserInputAst, UserInputLeaf, UserInputLiteral};

use self::depth::{MARK, outline_of};
use self::negative::parse_with_exponents;
use self::values::put_back;
use super::tree::{
    AUTO, BoolNode, Combine, Edits, Factor, Fuzziness, InFields, Leaf, Match, QueryNode, Role,
    Words,
};
use crate::limits::Limits;
use crate::{ErrorKind, SearchError};

/// Parses a query string. Words side by side must all match, as in Quickwit.
///
/// # Errors
/// If it is too long, has too many terms or nests too deep to be parsed without harm, or is not in the query
/// language.
pub(crate) fn parse_query(query: &str, limits: &Limits) -> Result<QueryNode, SearchError> {
    parse_words(query, Role::Must, limits)
}

/// The same, where words side by side have this role.
///
/// # Errors
/// As [`parse_query`].
pub(super) fn parse_words(
    query: &str,
    role: Role,
    limits: &Limits,
) -> Result<QueryNode, SearchError> {
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
    node_of(ast, role)
}

pub(super) fn too_many_clauses(most: usize) -> String {
    format!("the query has more than {most} terms and clauses")
}

fn node_of(ast: UserInputAst, role: Role) -> Result<QueryNode, SearchError> {
    Ok(match ast {
        UserInputAst::Clause(clauses) => clause(clauses, role)?,
        UserInputAst::Boost(ast, boost) => {
            #[expect(clippy::cast_possible_truncation, reason = "scores are 32 bits wide")]
            let boost = boost.into_inner() as f32;
            QueryNode::Boost(Box::new(node_of(*ast, role)?), Factor(boost))
        }
        UserInputAst::Leaf(mut leaf) => {
            check_leaf(&leaf)?;
            match near_word(&leaf)? {
                Some(near) => near,
                None => {
                    remove_marks(&mut leaf);
                    QueryNode::text(with_existence(*leaf))
                }
            }
        }
    })
}

fn clause(
    clauses: Vec<(Option<Occur>, UserInputAst)>,
    role: Role,
) -> Result<QueryNode, SearchError> {
    if clauses.is_empty() {
        return Ok(QueryNode::Nothing);
    }
    // Of `x:(a OR a) b` the grammar keeps one `a`, takes it out of its brackets, and leaves it its OR; nothing else
    // gives a single alternative among words that stand side by side.
    let mut alternatives = clauses
        .iter()
        .filter(|(occur, _)| *occur == Some(Occur::Should));
    let is_lifted = alternatives.next().is_some()
        && alternatives.next().is_none()
        && clauses.iter().any(|(occur, _)| occur.is_none());
    let clauses = clauses.into_iter().map(|(occur, ast)| {
        let own = match occur {
            None => role,
            Some(Occur::Must) => Role::Must,
            Some(Occur::Should) if is_lifted => role,
            Some(Occur::Should) => Role::Should,
            Some(Occur::MustNot) => Role::MustNot,
        };
        Ok((own, node_of(ast, role)?))
    });
    let mut clauses = clauses.collect::<Result<Vec<_>, SearchError>>()?;
    if clauses.iter().all(|(role, _)| *role == Role::MustNot) {
        // `NOT x` alone means everything but x. That something is not there gives no score.
        clauses.push((Role::Filter, QueryNode::All));
    }
    Ok(QueryNode::Bool(BoolNode {
        clauses,
        min_should: None,
    }))
}

/// Checks the name of a leaf's field.
fn check_leaf(leaf: &UserInputLeaf) -> Result<(), SearchError> {
    let name = match leaf {
        UserInputLeaf::All => None,
        UserInputLeaf::Literal(literal) => literal.field_name.as_ref(),
        UserInputLeaf::Exists { field } => Some(field),
        UserInputLeaf::Range { field, .. }
        | UserInputLeaf::Set { field, .. }
        | UserInputLeaf::Regex { field, .. } => field.as_ref(),
    };
    name.map_or(Ok(()), |name| Ok(check_name("query", name)?))
}

/// Takes away what kept characters from being operators.
fn remove_marks(leaf: &mut UserInputLeaf) {
    let remove = |text: &mut String| text.retain(|c| c != MARK);
    match leaf {
        UserInputLeaf::Literal(literal) => remove(&mut literal.phrase),
        UserInputLeaf::Set { elements, .. } => elements.iter_mut().for_each(remove),
        UserInputLeaf::Range { lower, upper, .. } => {
            put_back(lower);
            put_back(upper);
        }
        _ => {}
    }
}

/// `_exists_:field` is another way to write `field:*`.
fn with_existence(leaf: UserInputLeaf) -> UserInputLeaf {
    match leaf {
        UserInputLeaf::Literal(UserInputLiteral {
            field_name: Some(name),
            phrase,
            delimiter: Delimiter::None,
            prefix: false,
            ..
        }) if name == "_exists_" => UserInputLeaf::Exists { field: phrase },
        leaf => leaf,
    }
}

/// `word~` and `word~1`: terms with at most so many edits.
///
/// # Errors
/// With more than 2.
fn near_word(leaf: &UserInputLeaf) -> Result<Option<QueryNode>, SearchError> {
    let UserInputLeaf::Literal(literal) = leaf else {
        return Ok(None);
    };
    let Some((word, edits)) = literal.phrase.rsplit_once('~') else {
        return Ok(None);
    };
    let is_number = edits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_word = literal.delimiter == Delimiter::None && !literal.prefix;
    if !is_word
        || !is_number
        || word.is_empty()
        || word.ends_with(['\\', MARK])
        || word.contains(['*', '?'])
    {
        return Ok(None);
    }
    let edits = match edits {
        "" => AUTO,
        "0" => Edits::Most(0),
        "1" => Edits::Most(1),
        "2" => Edits::Most(2),
        _ => {
            return Err(SearchError::invalid(format!(
                "{:?}: behind ~ stands how many edits a word may have, at most 2; in quotes it is text",
                literal.phrase
            )));
        }
    };
    let near = Match {
        field: literal.field_name.clone(),
        text: word.to_owned(),
        words: Words::All,
        fuzziness: Some(Fuzziness {
            edits,
            prefix_len: 0,
            has_transpositions: true,
        }),
        is_all_without_words: false,
        is_lenient: false,
    };
    Ok(Some(match near.field {
        Some(_) => QueryNode::Leaf(Leaf::Match(near)),
        None => QueryNode::Fields(InFields {
            fields: Vec::new(),
            combine: Combine::Sum,
            leaf: Leaf::Match(near),
            is_lenient: false,
        }),
    }))
}
