//! Changes of aliases, carried out on the catalog's lists.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use canter_access::matches_any;
use canter_index_builder::{Alias, Aliases};
use canter_names::{MayBeAbsent, listed_names, matches_pattern};

use crate::requests::Problem;

/// Change of aliases.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AliasChange {
    /// Gives indexes, named or by patterns, these aliases.
    Add {
        indexes: Vec<String>,
        aliases: Vec<String>,
        alias: Alias,
    },
    /// Takes them away.
    Remove {
        indexes: Vec<String>,
        aliases: Vec<String>,
        /// Whether each of the aliases must be there; if absent, one of them.
        must_exist: Option<bool>,
    },
    /// Deletes indexes.
    RemoveIndexes(Vec<String>),
}

/// Carries out changes on `aliases`, among the `indexes` that the sender may know of. Returns the indexes to delete.
///
/// # Errors
/// If an index or an alias is missing, or a name is invalid.
pub(crate) fn apply(
    changes: &[AliasChange],
    indexes: &[String],
    aliases: &mut Aliases,
) -> Result<Vec<String>, Problem> {
    let mut deleted: BTreeSet<String> = BTreeSet::new();
    for change in changes {
        if let AliasChange::RemoveIndexes(names) = change {
            deleted.extend(found(names, indexes, aliases)?);
        }
    }
    for change in changes {
        match change {
            AliasChange::RemoveIndexes(_) => {}
            AliasChange::Add {
                indexes: names,
                aliases: added,
                alias,
            } => {
                let of = found(names, indexes, aliases)?;
                for name in added {
                    check_name(name, indexes, &deleted)?;
                    let of_alias = aliases.entry(name.clone()).or_default();
                    of_alias.extend(of.iter().map(|index| (index.clone(), alias.clone())));
                }
            }
            AliasChange::Remove {
                indexes: names,
                aliases: removed,
                must_exist,
            } => {
                remove(
                    &found(names, indexes, aliases)?,
                    removed,
                    *must_exist,
                    aliases,
                )?;
            }
        }
    }
    for (name, of_alias) in aliases {
        of_alias.retain(|index, _| !deleted.contains(index));
        let writes = of_alias
            .iter()
            .filter(|(_, alias)| alias.is_write_index == Some(true));
        let writes: Vec<&str> = writes.map(|(index, _)| index.as_str()).collect();
        if writes.len() > 1 {
            let writes = writes.join(",");
            return Err(Problem::invalid(
                "illegal_state_exception",
                format!("alias [{name}] has more than one write index [{writes}]"),
            ));
        }
    }
    Ok(deleted.into_iter().collect())
}

/// Returns the indexes with these names and patterns.
fn found(names: &[String], indexes: &[String], aliases: &Aliases) -> Result<Vec<String>, Problem> {
    let list = names.join(",");
    if let Some(name) = names.iter().find(|name| aliases.contains_key(*name)) {
        return Err(Problem::illegal(format!(
            "The provided expression [{name}] matches an alias, specify the corresponding concrete indices instead."
        )));
    }
    let listed = listed_names(&list, indexes, MayBeAbsent::Patterns).map_err(Problem::no_index)?;
    match listed.is_empty() {
        true => Err(Problem::no_index(&list)),
        false => Ok(listed.into_iter().map(|listed| listed.name).collect()),
    }
}

fn remove(
    of: &[String],
    removed: &[String],
    must_exist: Option<bool>,
    aliases: &mut Aliases,
) -> Result<(), Problem> {
    let mut missing = Vec::new();
    for pattern in removed {
        let pattern = if pattern == "_all" { "*" } else { pattern };
        let mut is_there = false;
        for (_, of_alias) in aliases
            .iter_mut()
            .filter(|(name, _)| matches_pattern(pattern, name))
        {
            of_alias.retain(|index, _| {
                let is_one = of.contains(index);
                is_there |= is_one;
                !is_one
            });
        }
        if !is_there {
            missing.push(pattern.to_owned());
        }
    }
    aliases.retain(|_, of_alias| !of_alias.is_empty());
    let is_wrong = match must_exist {
        Some(true) => !missing.is_empty(),
        Some(false) => false,
        None => missing.len() == removed.len(),
    };
    match is_wrong {
        false => Ok(()),
        true => Err(Problem {
            detail: None,
            status: StatusCode::NOT_FOUND,
            kind: "aliases_not_found_exception",
            reason: format!("aliases [{}] missing", missing.join(",")),
        }),
    }
}

fn check_name(name: &str, indexes: &[String], deleted: &BTreeSet<String>) -> Result<(), Problem> {
    let invalid = |problem: &str| {
        let reason = format!("Invalid alias name [{name}]: {problem}");
        Err(Problem::invalid("invalid_alias_name_exception", reason))
    };
    if name.len() > 255 {
        return invalid("it has more than 255 bytes");
    }
    if name.starts_with(['_', '-', '+']) || name == "." || name == ".." {
        return invalid("must not start with '_', '-', or '+'");
    }
    if name.contains(|char: char| {
        char.is_whitespace() || char.is_control() || "\\/*?\"<>|,#:".contains(char)
    }) {
        return invalid(
            "must not contain the following characters [ , \", *, \\, <, |, ,, >, /, ?]",
        );
    }
    if indexes.iter().any(|index| index == name) && !deleted.contains(name) {
        return invalid("an index or data stream exists with the same name as the alias");
    }
    Ok(())
}

/// Returns the names that a token allows.
pub(crate) fn allowed_names(
    names: impl Iterator<Item = String>,
    allowed: Option<&[String]>,
) -> Vec<String> {
    names
        .filter(|name| allowed.is_none_or(|patterns| matches_any(patterns, name)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(index: &str, alias: &str, is_write_index: Option<bool>) -> AliasChange {
        AliasChange::Add {
            indexes: vec![index.to_owned()],
            aliases: vec![alias.to_owned()],
            alias: Alias {
                is_write_index,
                ..Alias::default()
            },
        }
    }

    fn remove(index: &str, alias: &str, must_exist: Option<bool>) -> AliasChange {
        AliasChange::Remove {
            indexes: vec![index.to_owned()],
            aliases: vec![alias.to_owned()],
            must_exist,
        }
    }

    #[test]
    fn changes_of_aliases_are_carried_out_together_or_not_at_all() {
        let indexes = ["a".to_owned(), "b".to_owned()];
        let mut aliases = Aliases::new();
        let mut check = |changes: &[AliasChange], expected: Result<&[(&str, usize)], &str>| {
            let mut edited = aliases.clone();
            match (apply(changes, &indexes, &mut edited), expected) {
                (Ok(_), Ok(expected)) => {
                    aliases = edited;
                    let found: Vec<_> = aliases
                        .iter()
                        .map(|(name, of)| (&**name, of.len()))
                        .collect();
                    assert_eq!(found, expected);
                }
                (Err(problem), Err(part)) => {
                    assert!(problem.reason.contains(part), "{}", problem.reason)
                }
                (found, expected) => panic!("{found:?}, not {expected:?}"),
            }
        };
        check(
            &[add("a", "x", None), add("*", "y", None)],
            Ok(&[("x", 1), ("y", 2)]),
        );
        check(&[add("c", "x", None)], Err("no such index [c]"));
        check(&[add("a", "b", None)], Err("exists with the same name"));
        check(&[add("a", "x*", None)], Err("must not contain"));
        check(&[add("x", "z", None)], Err("matches an alias"));
        check(
            &[add("a", "y", Some(true)), add("b", "y", Some(true))],
            Err("more than one write index"),
        );
        check(
            &[remove("a", "nothing", None)],
            Err("aliases [nothing] missing"),
        );
        check(
            &[remove("a", "nothing", Some(false))],
            Ok(&[("x", 1), ("y", 2)]),
        );
        check(
            &[remove("*", "x", None), remove("a", "y", None)],
            Ok(&[("y", 1)]),
        );
        let replaced = [
            add("a", "b", None),
            AliasChange::RemoveIndexes(vec!["b".to_owned()]),
        ];
        check(&replaced, Ok(&[("b", 1), ("y", 0)]));
    }
}
