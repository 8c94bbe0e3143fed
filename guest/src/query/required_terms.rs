//! Terms that a query requires, by which the plan drops splits whose filters show that they lack them.

use std::cmp::Reverse;

use tantivy::Term;
use tantivy::query::{BooleanQuery, EmptyQuery, Occur, Query, TermQuery};

use crate::query::columns::ColumnQuery;
use crate::query::matching::{LeafTerms, PhraseOf, PhrasePrefix, PositionalQuery, Source};

/// Terms that a split must have for one of its documents to match. Requiring less is always correct.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RequiredTerms {
    /// No known requirement.
    Nothing,
    /// A term.
    Term(Term),
    /// All of these.
    All(Vec<RequiredTerms>),
    /// One of these; if there are none, no split has a match.
    Any(Vec<RequiredTerms>),
}

/// Returns the terms that a query requires, at most `most_terms`. A boost hides its query.
pub(crate) fn required_terms(query: &dyn Query, most_terms: usize) -> RequiredTerms {
    let mut left = most_terms;
    of_query(query).within(&mut left)
}

fn of_query(query: &dyn Query) -> RequiredTerms {
    if let Some(query) = query.downcast_ref::<TermQuery>() {
        RequiredTerms::Term(query.term().clone())
    } else if let Some(query) = query.downcast_ref::<PhraseOf>() {
        all_of(query.terms())
    } else if let Some(query) = query.downcast_ref::<PhrasePrefix>() {
        // Without the last word, which is a prefix.
        all_of(query.words())
    } else if let Some(query) = query.downcast_ref::<BooleanQuery>() {
        of_clauses(query)
    } else if let Some(query) = query.downcast_ref::<ColumnQuery>() {
        match query.implied() {
            [] => RequiredTerms::Nothing,
            terms => all_of(terms.to_vec()),
        }
    } else if let Some(query) = query.downcast_ref::<PositionalQuery>() {
        let condition = query.condition();
        of_source(&condition.source, &condition.leaves)
    } else if query.is::<EmptyQuery>() {
        RequiredTerms::Any(Vec::new())
    } else {
        RequiredTerms::Nothing
    }
}

fn all_of(terms: Vec<Term>) -> RequiredTerms {
    RequiredTerms::All(terms.into_iter().map(RequiredTerms::Term).collect())
}

/// Returns the terms that an interval of a source requires.
fn of_source(source: &Source, leaves: &[LeafTerms]) -> RequiredTerms {
    let parts = |sources: &[Source]| -> Vec<RequiredTerms> {
        let parts = sources.iter().map(|source| of_source(source, leaves));
        parts.collect()
    };
    match source {
        Source::Leaf(ord) => match leaves.get(*ord) {
            Some(LeafTerms::Term(term)) => RequiredTerms::Term(term.clone()),
            Some(LeafTerms::Accepted(..)) | None => RequiredTerms::Nothing,
        },
        Source::Any(sources) => RequiredTerms::Any(parts(sources)),
        Source::Phrase(sources) | Source::Ordered(sources) | Source::Unordered(sources) => {
            RequiredTerms::All(parts(sources))
        }
        Source::Repeated(source, _)
        | Source::MaxGaps(source, _)
        | Source::Extended(source, ..)
        | Source::First(source, _)
        | Source::Related(source, ..) => of_source(source, leaves),
    }
}

fn of_clauses(query: &BooleanQuery) -> RequiredTerms {
    let parts = |wanted: Occur| {
        let clauses = query.clauses().iter();
        let clauses = clauses.filter(move |(occur, _)| *occur == wanted);
        clauses.map(|(_, query)| of_query(query.as_ref()))
    };
    let mut required: Vec<RequiredTerms> = parts(Occur::Must).collect();
    if query.get_minimum_number_should_match() > 0 {
        required.push(RequiredTerms::Any(parts(Occur::Should).collect()));
    }
    RequiredTerms::All(required)
}

impl RequiredTerms {
    /// Returns whether it names a term that must exist.
    pub(crate) fn requires_something(&self) -> bool {
        match self {
            Self::Nothing => false,
            Self::Term(_) => true,
            Self::All(parts) => parts.iter().any(Self::requires_something),
            Self::Any(parts) => parts.iter().all(Self::requires_something),
        }
    }

    /// Returns whether a part of it cannot be met by any split.
    pub(crate) fn has_impossible_part(&self) -> bool {
        match self {
            Self::Nothing | Self::Term(_) => false,
            Self::Any(parts) if parts.is_empty() => true,
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::has_impossible_part),
        }
    }

    /// Returns whether a split may meet the requirement, given a test for single terms.
    pub(crate) fn may_be_had(&self, may_have: &dyn Fn(&Term) -> bool) -> bool {
        match self {
            Self::Nothing => true,
            Self::Term(term) => may_have(term),
            Self::All(parts) => parts.iter().all(|part| part.may_be_had(may_have)),
            Self::Any(parts) => parts.iter().any(|part| part.may_be_had(may_have)),
        }
    }

    /// Returns whether a document may meet the requirement, where `never_meet` tells whether two terms never occur in
    /// one document.
    pub(crate) fn may_be_met(&self, never_meet: &dyn Fn(&Term, &Term) -> bool) -> bool {
        self.may_be_beside(&[], never_meet)
    }

    /// Returns whether a document that also has the terms `beside` may meet the requirement.
    fn may_be_beside(&self, beside: &[&Term], never_meet: &dyn Fn(&Term, &Term) -> bool) -> bool {
        match self {
            Self::Nothing => true,
            Self::Term(term) => !beside.iter().any(|other| never_meet(term, other)),
            Self::Any(parts) => {
                let mut parts = parts.iter();
                parts.any(|part| part.may_be_beside(beside, never_meet))
            }
            Self::All(parts) => {
                let mut beside = beside.to_vec();
                for part in parts {
                    if let Self::Term(term) = part {
                        if !part.may_be_beside(&beside, never_meet) {
                            return false;
                        }
                        beside.push(term);
                    }
                }
                let is_term = |part: &&Self| matches!(part, Self::Term(_));
                let mut others = parts.iter().filter(|part| !is_term(part));
                others.all(|part| part.may_be_beside(&beside, never_meet))
            }
        }
    }

    /// Returns all terms.
    pub(crate) fn terms(&self) -> Vec<&Term> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Term(term) => vec![term],
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::terms).collect(),
        }
    }

    fn num_terms(&self) -> usize {
        self.terms().len()
    }

    /// Returns the length of the longest term: long ones are rare.
    fn longest(&self) -> usize {
        let lens = self.terms().into_iter();
        let lens = lens.map(|term| term.serialized_value_bytes().len());
        lens.max().unwrap_or(0)
    }

    /// Returns the requirement, or a weaker one, with at most `left` terms. Alternatives are kept completely or not at
    /// all.
    fn within(self, left: &mut usize) -> Self {
        match self {
            Self::Any(parts) if parts.is_empty() => Self::Any(parts),
            other if !other.requires_something() => Self::Nothing,
            Self::All(mut parts) => {
                canter_sorting::sort_by_key(&mut parts, |part| {
                    (part.num_terms(), Reverse(part.longest()))
                });
                let parts = parts.into_iter().map(|part| part.within(left));
                let parts = parts.filter(|part| *part != Self::Nothing);
                let parts: Vec<Self> = parts.collect();
                match parts.is_empty() {
                    true => Self::Nothing,
                    false => Self::All(parts),
                }
            }
            other => match left.checked_sub(other.num_terms()) {
                Some(rest) => {
                    *left = rest;
                    other
                }
                None => Self::Nothing,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::query::{build_query, parse_query};
    use canter_doc_mapper::{DocMapper, IndexConfig};

    fn mapper() -> DocMapper {
        let config = serde_json::json!({"version": "0.9", "index_id": "needles",
            "doc_mapping": {"mode": "dynamic", "field_mappings": [
                {"name": "id", "type": "text", "tokenizer": "raw"},
                {"name": "body", "type": "text", "record": "position"},
                {"name": "size", "type": "u64", "fast": true},
            ]},
            "search_settings": {"default_search_fields": ["body", "id"]}});
        let config: IndexConfig = serde_json::from_value(config).unwrap();
        DocMapper::new(&config).unwrap()
    }

    /// Formats a requirement: `field=term`, `&` and `|`.
    fn shown(required: &RequiredTerms, mapper: &DocMapper) -> String {
        let join = |parts: &[RequiredTerms], with: &str| {
            let parts: Vec<String> = parts.iter().map(|part| shown(part, mapper)).collect();
            format!("({})", parts.join(with))
        };
        match required {
            RequiredTerms::Nothing => "-".to_owned(),
            RequiredTerms::Term(term) => {
                let name = mapper.schema().get_field_name(term.field());
                let value = String::from_utf8_lossy(term.serialized_value_bytes());
                format!("{name}={}", value.replace(['\0', '\u{1}'], ""))
            }
            RequiredTerms::All(parts) => join(parts, " & "),
            RequiredTerms::Any(parts) => join(parts, " | "),
        }
    }

    fn check(query: &str, most_terms: usize, expect: &str) {
        let limits = Limits::default();
        let mapper = mapper();
        let ast = parse_query(query, &limits).unwrap();
        let built = build_query(&ast, &mapper, &[], false, &limits).unwrap();
        let required = required_terms(built.query.as_ref(), most_terms);
        assert_eq!(shown(&required, &mapper), expect, "{query}");
    }

    #[test]
    fn a_query_requires_what_all_of_its_matches_have() {
        for (query, expect) in [
            ("id:A-b", "id=A-b"),
            ("body:Lost", "body=lost"),
            ("lost", "((body=lost | id=lost))"),
            ("body:\"lost block\"", "(block=block)"),
            ("body:\"lost blo\"*", "(body=lost)"),
            ("id:a AND body:lost", "(body=lost & id=a)"),
            ("id:a AND NOT body:lost", "(id=a)"),
            ("id:a body:lo*", "(id=a)"),
            ("id:a OR body:lost", "((id=a | body=lost))"),
            ("id:a OR body:lo*", "-"),
            ("id: IN [a b]", "((id=a | id=b))"),
            ("NOT id:a", "-"),
            ("*", "-"),
            ("size:>4", "-"),
            ("id:a AND (size:>4 OR body:lost)", "(id=a)"),
            ("body:\"...\"", "()"),
            ("other.path:x", "_dynamic=otherpathsx"),
        ] {
            let expect = match query {
                "body:\"lost block\"" => "(body=block & body=lost)",
                _ => expect,
            };
            check(query, 9, expect);
        }
    }

    #[test]
    fn terms_that_never_meet_exclude_each_other() {
        let limits = Limits::default();
        let mapper = mapper();
        let check = |query: &str, expect: bool| {
            let ast = parse_query(query, &limits).unwrap();
            let built = build_query(&ast, &mapper, &[], false, &limits).unwrap();
            let required = required_terms(built.query.as_ref(), 64);
            let value =
                |term: &Term| String::from_utf8_lossy(term.serialized_value_bytes()).into_owned();
            let never_meet = |one: &Term, other: &Term| {
                matches!(
                    (&*value(one), &*value(other)),
                    ("lost", "block") | ("block", "lost")
                )
            };
            assert_eq!(required.may_be_met(&never_meet), expect, "{query}");
        };
        check("body:lost AND body:block", false);
        check("body:\"lost block\"", false);
        check("id:lost AND body:block", false);
        check("body:lost AND (body:block OR body:block)", false);
        check("body:lost AND (body:block OR body:found)", true);
        check(
            "body:found AND body:lost AND (size:>4 AND body:block)",
            false,
        );
        check("body:\"lost and\" AND body:block", false);
        check("body:lost OR body:block", true);
        check("body:lost AND body:found", true);
        check("body:lost AND NOT body:block", true);
        check("body:lost", true);
        check("*", true);
    }

    #[test]
    fn of_too_many_terms_some_are_asked_for_but_alternatives_only_together() {
        check("id:aaa AND body:b AND body:cc", 2, "(id=aaa & body=cc)");
        check("id:aaa AND id: IN [b c d]", 3, "(id=aaa)");
        check("id: IN [b c d]", 2, "-");
    }
}
