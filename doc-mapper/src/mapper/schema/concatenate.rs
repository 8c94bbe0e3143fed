//! Resolution of `concatenate`, once for a mapping: the fields that receive the values of others.

use crate::config::{ConcatenateKind, FieldKind, FieldMapping};
use crate::field_path::{escape_segment, join_path, split_path};
use crate::mapper::tree::{Leaf, ObjectNode};

/// Adds to every field the concatenations that include it.
pub(in crate::mapper) fn concatenate(
    root: &mut ObjectNode,
    mut dynamic: Option<&mut Leaf>,
    fields: &[FieldMapping],
) {
    let mut all = Vec::new();
    concatenations(String::new(), fields, &mut all);
    for (path, kind) in all {
        let leaves = root.leaves();
        let found = leaves
            .iter()
            .find(|leaf| leaf.path == path && !leaf.is_absent);
        let Some((target, by_values)) =
            found.map(|leaf| (leaf.as_copy(), leaf.values_of.is_some()))
        else {
            continue;
        };
        let sources: Vec<String> = kind
            .fields
            .iter()
            .map(|path| join_path(&split_path(path)))
            .collect();
        let mut values_of = Vec::new();
        root.for_each_leaf(&mut |leaf| {
            let is_in = |source: &String| {
                let rest = leaf.path.strip_prefix(source.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            if leaf.is_computed || !sources.iter().any(is_in) {
                return;
            }
            match by_values {
                true if leaf.is_absent => {}
                true => values_of.extend(leaf.whole_values()),
                false => leaf.copies.push(target),
            }
        });
        if by_values {
            root.for_each_leaf(&mut |leaf| {
                if leaf.path == path {
                    leaf.values_of = Some(values_of.clone());
                }
            });
            continue;
        }
        if let (Some(dynamic), true) = (dynamic.as_deref_mut(), kind.include_dynamic) {
            dynamic.copies.push(target);
        }
    }
}

/// Collects the concatenations, with their paths.
fn concatenations<'c>(
    path: String,
    fields: &'c [FieldMapping],
    all: &mut Vec<(String, &'c ConcatenateKind)>,
) {
    for field in fields {
        let name = escape_segment(&field.name);
        let path = match path.as_str() {
            "" => name,
            path => format!("{path}.{name}"),
        };
        match &field.kind {
            FieldKind::Concatenate(kind) => all.push((path, kind)),
            FieldKind::Object(children) => concatenations(path, children, all),
            _ => {}
        }
    }
}
