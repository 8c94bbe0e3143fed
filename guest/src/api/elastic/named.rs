//! `_name`: clauses of a query of which hits say whether they match.
//!
//! The names are taken out of the query, so that what reads queries need not know them; each clause with a name is kept
//! beside it.

use serde_json::Value;

use crate::request::GivenQuery;
use crate::{ErrorKind, SearchError};

/// Most names of a search: as many as a hit has bits for.
const MAX_NAMES: usize = 64;

const NAME: &str = "_name";

/// A clause and its name.
pub(super) type NamedClause = (String, GivenQuery);

/// Takes the names out of a clause and of those inside of it. What is no clause is left as it is: reading it says so.
///
/// # Errors
/// If a name is no text, or there are too many.
pub(super) fn take_names(
    clause: &mut Value,
    named: &mut Vec<NamedClause>,
) -> Result<(), SearchError> {
    let only = clause
        .as_object_mut()
        .filter(|clause| clause.len() == 1)
        .and_then(|clause| clause.iter_mut().next());
    let Some((kind, Value::Object(params))) = only else {
        return Ok(());
    };
    let inside: &[&str] = match kind.as_str() {
        "bool" => &["must", "filter", "should", "must_not"],
        "boosting" => &["positive", "negative"],
        "constant_score" => &["filter"],
        "dis_max" => &["queries"],
        "nested" => &["query"],
        _ => &[],
    };
    let mut name = params.shift_remove(NAME);
    if name.is_none() && inside.is_empty() {
        // Beside what is asked of the field.
        let mut of_fields = params.values_mut().filter_map(Value::as_object_mut);
        name = of_fields.find_map(|field| field.shift_remove(NAME));
    }
    for key in inside {
        match params.get_mut(*key) {
            Some(Value::Array(clauses)) => {
                for clause in clauses {
                    take_names(clause, named)?;
                }
            }
            Some(clause) => take_names(clause, named)?,
            None => {}
        }
    }
    match name {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(_)) if named.len() >= MAX_NAMES => Err(SearchError::new(
            ErrorKind::Limit,
            format!("a search has at most {MAX_NAMES} clauses with a {NAME}"),
        )),
        Some(Value::String(name)) => {
            named.push((name, GivenQuery::of(clause)?));
            Ok(())
        }
        Some(_) => Err(SearchError::invalid(format!("{NAME}: this must be text"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_taken_from_wherever_they_stand() {
        let mut query = json!({"bool": {
            "_name": "all",
            "must": {"match": {"body": {"query": "a", "_name": "words"}}},
            "filter": [{"term": {"level": "b", "_name": "level"}}, {"constant_score": {"filter": {"exists": {"field": "c", "_name": "there"}}}}],
            "must_not": [{"range": {"n": {"gte": 1, "_name": "numbers"}}}, {"match_all": {}}],
        }});
        let plain = json!({"bool": {
            "must": {"match": {"body": {"query": "a"}}},
            "filter": [{"term": {"level": "b"}}, {"constant_score": {"filter": {"exists": {"field": "c"}}}}],
            "must_not": [{"range": {"n": {"gte": 1}}}, {"match_all": {}}],
        }});
        let mut named = Vec::new();
        take_names(&mut query, &mut named).unwrap();
        assert_eq!(query, plain);
        let names: Vec<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["words", "level", "there", "numbers", "all"]);
        let words = GivenQuery::of(&json!({"match": {"body": {"query": "a"}}})).unwrap();
        assert_eq!(named.first().map(|(_, clause)| clause), Some(&words));
        assert_eq!(
            named.last().map(|(_, clause)| clause),
            Some(&GivenQuery::of(&plain).unwrap())
        );
    }

    #[test]
    fn a_name_is_text_and_there_are_no_more_than_a_hit_can_tell() {
        let mut wrong = json!({"match_all": {"_name": 7}});
        let error = take_names(&mut wrong, &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid);
        let clauses = |num: usize| {
            let clauses: Vec<Value> = (0..num)
                .map(|n| json!({"term": {"a": n, "_name": n.to_string()}}))
                .collect();
            json!({"bool": {"should": clauses}})
        };
        take_names(&mut clauses(MAX_NAMES), &mut Vec::new()).unwrap();
        let error = take_names(&mut clauses(MAX_NAMES + 1), &mut Vec::new()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Limit);
    }
}
