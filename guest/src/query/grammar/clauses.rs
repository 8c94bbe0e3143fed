//! Combination of adjacent clauses into a query: `AND` binds before `OR`, and both before clauses without an
//! operator.
//!
//! | query | is |
//! |---|---|
//! | `a AND b OR c` | `(+a +b)` and `c` as alternatives |
//! | `a AND b c AND d` | `(+a +b)` and `(+c +d)` side by side |
//! | `a b OR c` | `a` as if without an operator beside others, and `b` and `c` as alternatives |

use crate::query::tree::{BoolNode, QueryNode, Role};

/// The operator between a clause and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    And,
    Or,
}

/// A parsed clause. A negation stays one until its place in the query is known: `NOT a` among words without operators
/// excludes documents, as `-a` does.
#[derive(Debug)]
pub(super) enum Clause {
    Is(QueryNode),
    Not(QueryNode),
}

impl Clause {
    pub(super) fn into_node(self) -> QueryNode {
        match self {
            Self::Is(node) => node,
            Self::Not(node) => bool_of(vec![(Role::MustNot, node)]),
        }
    }
}

/// A clause with its preceding operator and sign.
#[derive(Debug)]
pub(super) struct Operand {
    /// `None` if no operator precedes the clause, or it is the first.
    pub(super) operator: Option<Operator>,
    /// The role set by `+` or `-`.
    pub(super) sign: Option<Role>,
    pub(super) clause: Clause,
}

/// Clauses joined by `AND`; at least one.
struct Chain {
    first: Operand,
    others: Vec<Operand>,
}

/// Combines the clauses of a query or a group. `default` is the role of clauses without an operator.
pub(super) fn combine(operands: Vec<Operand>, default: Role) -> Clause {
    let mut chains: Vec<Chain> = Vec::new();
    for operand in operands {
        match chains.last_mut() {
            Some(chain) if operand.operator == Some(Operator::And) => chain.others.push(operand),
            _ => chains.push(Chain {
                first: operand,
                others: Vec::new(),
            }),
        }
    }
    let is_alone = chains.len() == 1;
    let mut clauses = Vec::with_capacity(chains.len());
    let mut chains = chains.into_iter().peekable();
    while let Some(chain) = chains.next() {
        if is_alone {
            return chain.alone();
        }
        let is_alternative = chain.is_behind_or() || chains.peek().is_some_and(Chain::is_behind_or);
        clauses.push(chain.among_others(is_alternative, default));
    }
    Clause::Is(bool_of(clauses))
}

impl Chain {
    fn is_behind_or(&self) -> bool {
        self.first.operator == Some(Operator::Or)
    }

    fn alone(self) -> Clause {
        match self.first.sign {
            _ if !self.others.is_empty() => Clause::Is(self.all()),
            Some(Role::MustNot) => Clause::Not(self.first.clause.into_node()),
            _ => self.first.clause,
        }
    }

    fn among_others(self, is_alternative: bool, default: Role) -> (Role, QueryNode) {
        let role = match is_alternative {
            true => Role::Should,
            false => default,
        };
        if !self.others.is_empty() {
            return (role, self.all());
        }
        match (self.first.sign, self.first.clause) {
            (None, Clause::Not(node)) if !is_alternative => (Role::MustNot, node),
            // Among alternatives, a negation is one.
            (Some(Role::MustNot), clause) if is_alternative => {
                (role, Clause::Not(clause.into_node()).into_node())
            }
            (sign, clause) => (sign.unwrap_or(role), clause.into_node()),
        }
    }

    fn all(self) -> QueryNode {
        let operands = std::iter::once(self.first).chain(self.others);
        let clauses = operands.map(|operand| {
            let role = operand.sign.unwrap_or(Role::Must);
            (role, operand.clause.into_node())
        });
        bool_of(clauses.collect())
    }
}

fn bool_of(mut clauses: Vec<(Role, QueryNode)>) -> QueryNode {
    if clauses.iter().all(|(role, _)| *role == Role::MustNot) {
        // `NOT x` alone matches everything except x. The absence of something gives no score.
        clauses.push((Role::Filter, QueryNode::All));
    }
    QueryNode::Bool(BoolNode {
        clauses,
        min_should: None,
    })
}
