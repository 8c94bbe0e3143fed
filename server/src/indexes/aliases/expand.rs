//! Replaces aliases in a list of names by their indexes.

use std::collections::{BTreeMap, BTreeSet};

use canter_index_builder::Aliases;
use canter_names::matches_pattern;
use serde_json::{Value, json};

use super::date_math::written_out;
use crate::requests::Problem;

const ALL: &str = "_all";

/// Indexes for which a list of names stands.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Expanded {
    /// The list without aliases and dates; it may still have patterns.
    pub(crate) names: String,
    /// Filters of the indexes that only aliases with filters name.
    pub(crate) filters: BTreeMap<String, Vec<Value>>,
}

/// Replaces aliases and dates in a list of names and patterns. Patterns match aliases, too. An index of `indexes`, which
/// the caller may know of, is searched as a whole if it is named itself or by an alias without a filter.
///
/// # Errors
/// If a date is invalid.
pub(crate) fn expand(
    list: &str,
    aliases: &Aliases,
    indexes: &[String],
    now_ms: u64,
) -> Result<Expanded, Problem> {
    let mut names: Vec<String> = Vec::new();
    let mut whole: BTreeSet<String> = BTreeSet::new();
    let mut filters: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let known = |name: &&String| indexes.contains(name);
    for part in list
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let dated = written_out(part, now_ms)?;
        let part = dated.as_deref().unwrap_or(part);
        if let Some(excluded) = part.strip_prefix('-')
            && let Some(of_alias) = aliases.get(excluded)
        {
            names.extend(of_alias.keys().map(|name| format!("-{name}")));
            continue;
        }
        let is_all = part == ALL || part == "*";
        let is_pattern = is_all || part.contains('*');
        let matching = aliases.iter().filter(|(alias, _)| match is_pattern {
            true => !is_all && !part.starts_with('-') && matches_pattern(part, alias),
            false => *alias == part,
        });
        let mut is_alias = false;
        for (name, alias) in matching.flat_map(|(_, of_alias)| of_alias) {
            if !known(&name) {
                continue;
            }
            is_alias = true;
            names.push(name.clone());
            match &alias.filter {
                Some(filter) => filters
                    .entry(name.clone())
                    .or_default()
                    .push(filter.clone()),
                None => drop(whole.insert(name.clone())),
            }
        }
        if is_pattern {
            let of_pattern = indexes
                .iter()
                .filter(|name| is_all || matches_pattern(part, name));
            whole.extend(of_pattern.cloned());
        }
        // Without a visible index, an alias is a name that does not exist.
        if is_pattern || !is_alias {
            whole.insert(part.to_owned());
            names.push(part.to_owned());
        }
    }
    filters.retain(|name, _| !whole.contains(name));
    Ok(Expanded {
        names: names.join(","),
        filters,
    })
}

/// Adds the filters of aliases to a query.
pub(super) fn with_filters(query: Value, filters: &BTreeMap<String, Vec<Value>>) -> Value {
    if filters.is_empty() {
        return query;
    }
    let of_index = |(name, filters): (&String, &Vec<Value>)| {
        let any = json!({"bool": {"should": filters, "minimum_should_match": 1}});
        json!({"bool": {"filter": [{"term": {"_index": name}}, any]}})
    };
    let mut ways: Vec<Value> = filters.iter().map(of_index).collect();
    let filtered: Vec<&String> = filters.keys().collect();
    ways.push(json!({"bool": {"must_not": [{"terms": {"_index": filtered}}]}}));
    let filter = json!({"bool": {"should": ways, "minimum_should_match": 1}});
    json!({"bool": {"must": [query], "filter": [filter]}})
}

/// Returns the index into which documents for a name go.
///
/// # Errors
/// If it is an alias without an index for documents, or a date in it is invalid.
pub(crate) fn write_index(
    name: &str,
    aliases: &Aliases,
    now_ms: u64,
) -> Result<Option<String>, Problem> {
    let dated = written_out(name, now_ms)?;
    let name = dated.as_deref().unwrap_or(name);
    let Some(of_alias) = aliases.get(name) else {
        return Ok(dated);
    };
    let is_chosen = |is_write_index: Option<bool>| is_write_index == Some(true);
    let chosen = of_alias
        .iter()
        .find(|(_, alias)| is_chosen(alias.is_write_index));
    let only = of_alias
        .iter()
        .next()
        .filter(|(_, alias)| of_alias.len() == 1 && alias.is_write_index.is_none());
    match chosen.or(only) {
        Some((index, _)) => Ok(Some(index.clone())),
        None => Err(Problem::illegal(format!(
            "no write index is defined for alias [{name}]. The write index may be explicitly disabled using \
             is_write_index=false or the alias points to multiple indices without one being designated as a write index"
        ))),
    }
}

/// Returns the only index of a name, for requests about one document.
///
/// # Errors
/// If it is an alias of several indexes, or a date in it is invalid.
pub(super) fn only_index(
    name: &str,
    aliases: &Aliases,
    now_ms: u64,
) -> Result<Option<String>, Problem> {
    let dated = written_out(name, now_ms)?;
    let name = dated.as_deref().unwrap_or(name);
    let Some(of_alias) = aliases.get(name) else {
        return Ok(dated);
    };
    let indexes: Vec<&str> = of_alias.keys().map(String::as_str).collect();
    match indexes[..] {
        [index] => Ok(Some(index.to_owned())),
        _ => Err(Problem::illegal(format!(
            "alias [{name}] has more than one index associated with it [{}], can't execute a single index op",
            indexes.join(", ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use canter_index_builder::Alias;

    use super::*;

    fn aliases() -> Aliases {
        let filtered = Alias {
            filter: Some(json!({"term": {"tenant": 7}})),
            ..Alias::default()
        };
        let writes = Alias {
            is_write_index: Some(true),
            ..Alias::default()
        };
        let of = |name: &str, alias: &Alias| (name.to_owned(), alias.clone());
        let plain = Alias::default();
        [
            ("all", [of("a", &plain), of("b", &plain)].into()),
            ("mine", [of("a", &filtered)].into()),
            ("written", [of("a", &plain), of("b", &writes)].into()),
        ]
        .map(|(name, indexes): (&str, BTreeMap<_, _>)| (name.to_owned(), indexes))
        .into()
    }

    #[test]
    fn aliases_stand_for_their_indexes_and_bring_their_filters() {
        let indexes = ["a".to_owned(), "b".to_owned()];
        let filter = vec![json!({"term": {"tenant": 7}})];
        let of_a: BTreeMap<_, _> = [("a".to_owned(), filter)].into();
        for (list, names, filters) in [
            ("a", "a", BTreeMap::new()),
            ("all", "a,b", BTreeMap::new()),
            ("mine", "a", of_a.clone()),
            ("mine,b", "a,b", of_a.clone()),
            ("mine,a", "a,a", BTreeMap::new()),
            ("mi*", "a,mi*", of_a),
            ("*", "*", BTreeMap::new()),
            ("_all,-mine", "_all,-a", BTreeMap::new()),
            ("nothing", "nothing", BTreeMap::new()),
        ] {
            let expanded = expand(list, &aliases(), &indexes, 0).unwrap();
            let expected = Expanded {
                names: names.to_owned(),
                filters,
            };
            assert_eq!(expanded, expected, "{list}");
        }
        // An alias shows nothing of an index that the caller may not know of.
        let expanded = expand("mine", &aliases(), &indexes[1..], 0).unwrap();
        assert_eq!((&*expanded.names, expanded.filters.len()), ("mine", 0));
    }

    #[test]
    fn documents_for_an_alias_go_into_its_write_index() {
        let target = |name: &str| write_index(name, &aliases(), 0);
        assert_eq!(target("written").unwrap().as_deref(), Some("b"));
        assert_eq!(target("mine").unwrap().as_deref(), Some("a"));
        assert_eq!(target("a").unwrap(), None);
        assert!(target("all").unwrap_err().reason.contains("no write index"));
        assert!(only_index("all", &aliases(), 0).is_err());
    }
}
