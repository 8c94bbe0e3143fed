//! Time bounds from a query's own clauses.
//!
//! Dashboards select a time range by a clause on the timestamp field instead of `start_timestamp` and `end_timestamp`.
//! Where every hit must lie within such a range, it is taken out of the query and becomes a time filter: splits outside
//! of it are not opened, and the time index tells which documents of the others pass. That holds where every document
//! has exactly one time, and where nothing is scored: the weight of a word depends on all splits.

use canter_doc_mapper::DocMapper;

use super::build::build_query;
use super::columns::ColumnQuery;
use super::tree::{BoolNode, Leaf, QueryNode, Role, TextLeaf};
use crate::limits::{Limits, TimeFilter};

/// Returns the time range of all hits according to the clauses of `node` over `field`, the timestamp field; `None`
/// without such a clause, or if one is not a range of times.
pub(crate) fn time_bounds(
    node: &QueryNode,
    field: &str,
    mapper: &DocMapper,
    limits: &Limits,
) -> Option<TimeFilter> {
    let mut ranges = Vec::new();
    collect(node, field, &mut ranges);
    let mut bounds = TimeFilter::default();
    for leaf in &ranges {
        let leaf = QueryNode::Leaf(Leaf::clone(leaf));
        let built = build_query(&leaf, mapper, &[], false, limits).ok()?;
        let range = built.query.downcast_ref::<ColumnQuery>()?.times()?;
        bounds = bounds.and(range);
    }
    (!ranges.is_empty()).then_some(bounds)
}

/// Returns the query without those clauses. Within the bounds it matches the same documents, but with other scores.
pub(crate) fn without_time(node: QueryNode, field: &str) -> QueryNode {
    match node {
        QueryNode::Leaf(leaf) if is_range_of(&leaf, field) => QueryNode::All,
        QueryNode::Boost(inner, _) | QueryNode::Constant(inner, _) => without_time(*inner, field),
        QueryNode::Bool(node) => simplified(node, field),
        node => node,
    }
}

fn simplified(node: BoolNode, field: &str) -> QueryNode {
    let mut roles = node.clauses.iter().map(|(role, _)| *role);
    let has_should = node.min_should.is_some() || roles.any(|role| role == Role::Should);
    let mut clauses: Vec<(Role, QueryNode)> = Vec::new();
    for (role, clause) in node.clauses {
        let clause = match role {
            Role::Must | Role::Filter => without_time(clause, field),
            Role::Should | Role::MustNot => clause,
        };
        // The number of required optional clauses depends on the presence of a required one.
        let is_needed = has_should || role == Role::MustNot || clause != QueryNode::All;
        if is_needed {
            clauses.push((role, clause));
        }
    }
    match clauses.as_mut_slice() {
        [] => QueryNode::All,
        [(Role::Must | Role::Filter, only)] if !has_should => {
            std::mem::replace(only, QueryNode::Nothing)
        }
        _ => {
            if clauses.iter().all(|(role, _)| *role == Role::MustNot) {
                clauses.push((Role::Filter, QueryNode::All));
            }
            QueryNode::Bool(BoolNode {
                clauses,
                min_should: node.min_should,
            })
        }
    }
}

/// Collects the ranges over `field` that every hit must lie within.
fn collect<'n>(node: &'n QueryNode, field: &str, ranges: &mut Vec<&'n Leaf>) {
    match node {
        QueryNode::Leaf(leaf) if is_range_of(leaf, field) => ranges.push(leaf),
        QueryNode::Boost(inner, _) | QueryNode::Constant(inner, _) => {
            collect(inner, field, ranges);
        }
        QueryNode::Bool(node) => {
            let required = node.clauses.iter();
            let required = required.filter(|(role, _)| matches!(role, Role::Must | Role::Filter));
            required.for_each(|(_, clause)| collect(clause, field, ranges));
        }
        _ => {}
    }
}

fn is_range_of(leaf: &Leaf, field: &str) -> bool {
    match leaf {
        Leaf::Range(range) => range.field == field,
        Leaf::Term { field: of, .. } => of == field,
        Leaf::Text(TextLeaf::Range { field: of, .. }) => of.as_deref() == Some(field),
        Leaf::Text(TextLeaf::Literal(literal)) => literal.field.as_deref() == Some(field),
        _ => false,
    }
}
