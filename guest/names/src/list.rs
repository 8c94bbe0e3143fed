//! Lists of names, such as `logs-*,-logs-old,metrics`.

use crate::pattern::matches_pattern;

/// Pattern for all names.
const ALL: &str = "_all";

/// Parts of a list that may match no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayBeAbsent {
    /// None, as in Quickwit's lists.
    Nothing,
    /// Parts with `*`.
    Patterns,
    /// All parts.
    Everything,
}

/// Name that a list matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Name.
    pub name: String,
    /// True if the list contains the name itself, rather than a pattern for it.
    pub is_named: bool,
}

/// Returns the names of `known` that a list of names and patterns matches: each once, in the order
/// of the list, and those of one pattern in the order of `known`. `-name` removes names matched
/// before it.
///
/// Names may begin with `-` too. As in Elasticsearch, `-name` is a name until a pattern has
/// occurred, whether or not that pattern matched. In Quickwit's lists, where no name begins with
/// `-`, it is a name only in the first place.
///
/// # Errors
/// Returns the part of the list that matches no name but must.
pub fn listed_names<'l>(
    list: &'l str,
    known: &[String],
    may_be_absent: MayBeAbsent,
) -> Result<Vec<Listed>, &'l str> {
    let mut found: Vec<Listed> = Vec::new();
    let mut may_exclude = false;
    for part in list.split(',').map(str::trim) {
        if part.is_empty() {
            continue;
        }
        if may_exclude && let Some(excluded) = part.strip_prefix('-') {
            found.retain(|listed| !matches_pattern(excluded, &listed.name));
            continue;
        }
        let pattern = if part == ALL { "*" } else { part };
        let is_named = !pattern.contains('*');
        may_exclude |= may_be_absent == MayBeAbsent::Nothing || !is_named;
        let mut is_absent = true;
        for name in known {
            if matches_pattern(pattern, name) {
                is_absent = false;
                match found.iter_mut().find(|listed| listed.name == *name) {
                    Some(listed) => listed.is_named |= is_named,
                    None => found.push(Listed {
                        name: name.clone(),
                        is_named,
                    }),
                }
            }
        }
        let may_be = match may_be_absent {
            MayBeAbsent::Nothing => false,
            MayBeAbsent::Patterns => !is_named,
            MayBeAbsent::Everything => true,
        };
        if is_absent && !may_be {
            return Err(part);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_of(found: Result<Vec<Listed>, &str>) -> Result<Vec<String>, &str> {
        found.map(|found| found.into_iter().map(|listed| listed.name).collect())
    }

    fn check(list: &str, may_be_absent: MayBeAbsent, expect: Result<&[&str], &str>) {
        let known = ["a", "b-1", "b-2", "c"].map(str::to_owned);
        let found = names_of(listed_names(list, &known, may_be_absent));
        let expect = expect.map(|names| names.iter().map(ToString::to_string).collect());
        assert_eq!(found, expect, "{list} {may_be_absent:?}");
    }

    #[test]
    fn a_list_stands_for_names_in_its_order() {
        for may_be_absent in [
            MayBeAbsent::Nothing,
            MayBeAbsent::Patterns,
            MayBeAbsent::Everything,
        ] {
            check("c,a,c", may_be_absent, Ok(&["c", "a"]));
            check("b-*, a", may_be_absent, Ok(&["b-1", "b-2", "a"]));
            check("_all,-b-*", may_be_absent, Ok(&["a", "c"]));
            check("*,-b-1,", may_be_absent, Ok(&["a", "b-2", "c"]));
            // Only earlier matches are removed.
            check("b-*,-*,b-2", may_be_absent, Ok(&["b-2"]));
            check("b-*,-*,-a", may_be_absent, Ok(&[]));
        }
    }

    #[test]
    fn what_a_list_names_is_told_from_what_a_pattern_stands_for() {
        let known = ["a", "b-1", "b-2"].map(str::to_owned);
        for (list, named) in [
            ("a,b-1", &["a", "b-1"][..]),
            ("_all", &[]),
            ("b-*,a", &["a"]),
            ("*,b-2", &["b-2"]),
            ("b-2,*,-a", &["b-2"]),
        ] {
            let found = listed_names(list, &known, MayBeAbsent::Patterns).unwrap();
            let found = found.iter().filter(|listed| listed.is_named);
            let found: Vec<&str> = found.map(|listed| listed.name.as_str()).collect();
            assert_eq!(found, named, "{list}");
        }
    }

    #[test]
    fn what_a_pattern_finds_or_not_is_left_out_behind_it() {
        check("x-*,-x-1", MayBeAbsent::Patterns, Ok(&[]));
        check("x-*,-b-1,b-*", MayBeAbsent::Patterns, Ok(&["b-1", "b-2"]));
        check("x-*,b-*,-b-1", MayBeAbsent::Everything, Ok(&["b-2"]));
        // Without a pattern before it, it is a name.
        check("a,-a", MayBeAbsent::Patterns, Err("-a"));
        check("-a,b-*", MayBeAbsent::Patterns, Err("-a"));
        check("a,-a", MayBeAbsent::Everything, Ok(&["a"]));
        let known = ["-a", "a"].map(str::to_owned);
        let found = names_of(listed_names("a,-a", &known, MayBeAbsent::Patterns));
        assert_eq!(found, Ok(vec!["a".to_owned(), "-a".to_owned()]));
        // But not in Quickwit's lists.
        check("a,c,-a", MayBeAbsent::Nothing, Ok(&["c"]));
        check("a,-a,-c", MayBeAbsent::Nothing, Ok(&[]));
        check("-a", MayBeAbsent::Nothing, Err("-a"));
    }

    #[test]
    fn what_stands_for_no_name_is_wrong_unless_it_may() {
        check("x*", MayBeAbsent::Nothing, Err("x*"));
        check("x*,a", MayBeAbsent::Patterns, Ok(&["a"]));
        check("a,x", MayBeAbsent::Patterns, Err("x"));
        check("-a", MayBeAbsent::Patterns, Err("-a"));
        check("x,a", MayBeAbsent::Everything, Ok(&["a"]));
    }
}
