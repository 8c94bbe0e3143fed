//! Tag values that a query requires, by which the plan drops splits unopened.

use std::collections::BTreeSet;

use super::tree::{Leaf, QueryNode, Role, TextLeaf};

/// One requirement: a matching document has one of these values in this field.
pub(crate) type RequiredTag = (String, BTreeSet<String>);

/// Returns everything that a query requires of tag fields. Each entry may prune on its own; leaving
/// one out is always correct.
pub(crate) fn required_tags(node: &QueryNode, tag_fields: &[&str]) -> Vec<RequiredTag> {
    let mut required = Vec::new();
    collect(node, tag_fields, &mut required);
    required
}

fn collect(node: &QueryNode, tag_fields: &[&str], required: &mut Vec<RequiredTag>) {
    match node {
        QueryNode::All | QueryNode::Nothing | QueryNode::Fields(_) => {}
        QueryNode::Boost(inner, _)
        | QueryNode::Constant(inner, _)
        | QueryNode::Nested(inner, ..)
        | QueryNode::Demoted(inner, _, _) => collect(inner, tag_fields, required),
        QueryNode::Scored(scored) => collect(&scored.node, tag_fields, required),
        QueryNode::Leaf(leaf) => required.extend(of_leaf(leaf, tag_fields)),
        QueryNode::Best(nodes, _) => required.extend(of_alternatives(nodes.iter(), tag_fields)),
        QueryNode::Bool(node) => {
            let is_should = |role: &Role| *role == Role::Should;
            let mut is_required = false;
            for (role, node) in &node.clauses {
                if matches!(role, Role::Must | Role::Filter) {
                    is_required = true;
                    collect(node, tag_fields, required);
                }
            }
            let alternatives = node.clauses.iter().filter(|(role, _)| is_should(role));
            let num_alternatives = alternatives.clone().count();
            let needs_one = match &node.min_should {
                Some(rule) => rule.of(num_alternatives) > 0,
                None => !is_required,
            };
            // A disjunction requires a field if every alternative requires the same one.
            if needs_one && num_alternatives > 0 {
                let alternatives = alternatives.map(|(_, node)| node);
                required.extend(of_alternatives(alternatives, tag_fields));
            }
        }
    }
}

fn of_alternatives<'n>(
    nodes: impl Iterator<Item = &'n QueryNode>,
    tag_fields: &[&str],
) -> Option<RequiredTag> {
    let mut union: Option<RequiredTag> = None;
    for node in nodes {
        let mut alternative = Vec::new();
        collect(node, tag_fields, &mut alternative);
        let (field, values) = alternative.into_iter().next()?;
        match &mut union {
            None => union = Some((field, values)),
            Some((wanted, all)) if *wanted == field => all.extend(values),
            Some(_) => return None,
        }
    }
    union
}

fn of_leaf(leaf: &Leaf, tag_fields: &[&str]) -> Option<RequiredTag> {
    let (field, values): (&String, Vec<&String>) = match leaf {
        Leaf::Text(TextLeaf::Literal(literal))
            if !literal.is_prefix && !is_pattern(&literal.phrase) =>
        {
            (literal.field.as_ref()?, vec![&literal.phrase])
        }
        Leaf::Text(TextLeaf::Set { field, elements }) => {
            (field.as_ref()?, elements.iter().collect())
        }
        Leaf::Term {
            field,
            value,
            case_insensitive: false,
        } => (field, vec![&value.text]),
        Leaf::Terms { field, values } => (field, values.iter().map(|value| &value.text).collect()),
        _ => return None,
    };
    if !tag_fields.contains(&field.as_str()) {
        return None;
    }
    let spelled = values.into_iter().flat_map(|value| spellings(value));
    Some((field.clone(), canter_sorting::set_of(spelled)))
}

/// Returns a value as the tokenizer `lowercase` makes it.
pub(crate) fn lowercase(value: &str) -> String {
    value.chars().flat_map(char::to_lowercase).collect()
}

fn is_pattern(phrase: &str) -> bool {
    phrase.contains(['*', '?'])
}

/// Returns the spellings of a value in the manifest: text unchanged or, of fields that do not distinguish them, without
/// capitals; numbers without sign or leading zeros.
fn spellings(value: &str) -> Vec<String> {
    let unsigned = value.parse::<u64>().ok().map(|number| number.to_string());
    let signed = value.parse::<i64>().ok().map(|number| number.to_string());
    [
        Some(value.to_owned()),
        Some(lowercase(value)),
        unsigned,
        signed,
    ]
    .into_iter()
    .flatten()
    .collect()
}
