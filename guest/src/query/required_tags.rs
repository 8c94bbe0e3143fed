//! Which tag values a query cannot do without: what lets the plan drop a split unopened.

use std::collections::BTreeSet;

use tantivy_query_grammar::{Occur, UserInputAst, UserInputLeaf};

/// One requirement: a matching document has one of these values in this field.
pub(crate) type RequiredTag = (String, BTreeSet<String>);

/// Everything a query requires of tag fields. Each entry may prune on its own; leaving one out is
/// always right.
pub(crate) fn required_tags(ast: &UserInputAst, tag_fields: &[&str]) -> Vec<RequiredTag> {
    let mut required = Vec::new();
    collect(ast, tag_fields, &mut required);
    required
}

fn collect(ast: &UserInputAst, tag_fields: &[&str], required: &mut Vec<RequiredTag>) {
    match ast {
        UserInputAst::Boost(inner, _) => collect(inner, tag_fields, required),
        UserInputAst::Leaf(leaf) => required.extend(of_leaf(leaf, tag_fields)),
        UserInputAst::Clause(clauses) => {
            let should = |occur: &Option<Occur>| *occur == Some(Occur::Should);
            for (occur, ast) in clauses {
                if matches!(occur, None | Some(Occur::Must)) {
                    collect(ast, tag_fields, required);
                }
            }
            // A disjunction requires a field if every alternative requires the same one.
            if !clauses.is_empty() && clauses.iter().all(|(occur, _)| should(occur)) {
                required.extend(of_alternatives(clauses, tag_fields));
            }
        }
    }
}

fn of_alternatives(
    clauses: &[(Option<Occur>, UserInputAst)],
    tag_fields: &[&str],
) -> Option<RequiredTag> {
    let mut union: Option<RequiredTag> = None;
    for (_, ast) in clauses {
        let mut alternative = Vec::new();
        collect(ast, tag_fields, &mut alternative);
        let (field, values) = alternative.into_iter().next()?;
        match &mut union {
            None => union = Some((field, values)),
            Some((wanted, all)) if *wanted == field => all.extend(values),
            Some(_) => return None,
        }
    }
    union
}

fn of_leaf(leaf: &UserInputLeaf, tag_fields: &[&str]) -> Option<RequiredTag> {
    let (field, values): (&String, Vec<&String>) = match leaf {
        UserInputLeaf::Literal(literal) if !literal.prefix && !is_pattern(&literal.phrase) => {
            (literal.field_name.as_ref()?, vec![&literal.phrase])
        }
        UserInputLeaf::Set { field, elements } => (field.as_ref()?, elements.iter().collect()),
        _ => return None,
    };
    if !tag_fields.contains(&field.as_str()) {
        return None;
    }
    Some((
        field.clone(),
        values
            .into_iter()
            .flat_map(|value| spellings(value))
            .collect(),
    ))
}

fn is_pattern(phrase: &str) -> bool {
    phrase.contains(['*', '?'])
}

/// How the manifest may spell a value: text as it stands, numbers without sign or leading zeros.
fn spellings(value: &str) -> Vec<String> {
    let unsigned = value.parse::<u64>().ok().map(|number| number.to_string());
    let signed = value.parse::<i64>().ok().map(|number| number.to_string());
    [Some(value.to_owned()), unsigned, signed]
        .into_iter()
        .flatten()
        .collect()
}
