//! `_name`: named clauses of a query, which hits that match them list; and nested clauses with `inner_hits`.
//!
//! The query parser skips names, so that they may occur in any query; only this module interprets them. Each named
//! clause is kept beside the query that it is a part of.

use serde_json::{Map, Value};

use crate::limits::Limits;
use crate::query::NAME;
use crate::{ErrorKind, SearchError};

/// Maximum number of names in a search: the number of bits of a hit.
const MAX_NAMES: usize = 64;

/// Named clauses.
#[derive(Default)]
pub(in crate::api::elastic) struct Named {
    /// A name may occur more than once.
    pub(in crate::api::elastic) clauses: Vec<(String, Value)>,
    /// Nested clauses whose objects hits show: the parameters of each.
    pub(in crate::api::elastic) nested: Vec<Map<String, Value>>,
    /// Total size in bytes: a clause inside another counts twice.
    num_bytes: usize,
}

impl Named {
    /// Returns the names, one for each clause.
    pub(in crate::api::elastic) fn names(&self) -> Vec<String> {
        let clauses = self.clauses.iter();
        clauses.map(|(name, _)| name.clone()).collect()
    }

    /// Finds the named clauses in a clause that was parsed without an error: first those inside it, then itself.
    ///
    /// # Errors
    /// If there are too many, or their total size exceeds that of a query.
    pub(in crate::api::elastic) fn find(
        &mut self,
        clause: &Value,
        limits: &Limits,
    ) -> Result<(), SearchError> {
        let only = clause.as_object().and_then(|clause| clause.iter().next());
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
        if kind == "nested" && params.contains_key("inner_hits") {
            self.nested.push(params.clone());
        }
        let mut name = params.get(NAME);
        if name.is_none() && inside.is_empty() {
            // Next to the parameters of the field.
            let mut of_fields = params.values().filter_map(Value::as_object);
            name = of_fields.find_map(|field| field.get(NAME));
        }
        for key in inside {
            match params.get(*key) {
                Some(Value::Array(clauses)) => {
                    for clause in clauses {
                        self.find(clause, limits)?;
                    }
                }
                Some(clause) => self.find(clause, limits)?,
                None => {}
            }
        }
        let Some(name) = name.and_then(Value::as_str) else {
            return Ok(());
        };
        self.num_bytes += clause.to_string().len();
        if self.clauses.len() >= MAX_NAMES || self.num_bytes > limits.max_query_bytes {
            return Err(SearchError::new(
                ErrorKind::Limit,
                format!(
                    "a search has at most {MAX_NAMES} clauses with a {NAME}, and they have together no more bytes than a \
                     query may have, {}: name fewer, or those inside of others only",
                    limits.max_query_bytes
                ),
            ));
        }
        self.clauses.push((name.to_owned(), clause.clone()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::query::{parse_dsl, parse_named};

    fn found(query: &Value) -> Result<Vec<(String, Value)>, SearchError> {
        let mut named = Named::default();
        named.find(query, &Limits::default())?;
        Ok(named.clauses)
    }

    fn map(query: &Value) -> &Map<String, Value> {
        query.as_object().unwrap()
    }

    #[test]
    fn names_are_found_wherever_they_stand() {
        let query = json!({"bool": {
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
        let limits = Limits::default();
        let plain = parse_dsl(map(&plain), None, &limits).unwrap();
        // Names do not affect the query.
        assert_eq!(parse_dsl(map(&query), None, &limits).unwrap(), plain);
        let named = found(&query).unwrap();
        let names: Vec<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["words", "level", "there", "numbers", "all"]);
        let words = json!({"match": {"body": {"query": "a"}}});
        let words = parse_dsl(map(&words), None, &limits).unwrap();
        let clauses = parse_named(&named, None, &limits).unwrap();
        assert_eq!(clauses.first(), Some(&words));
        assert_eq!(clauses.last(), Some(&plain));
    }

    #[test]
    fn a_name_is_text_and_there_are_no_more_than_a_hit_can_tell() {
        let wrong = json!({"match_all": {"_name": 7}});
        let error = parse_dsl(map(&wrong), None, &Limits::default()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Invalid);
        assert!(
            error.message.contains("_name: this must be text"),
            "{error}"
        );
        let clauses = |num: usize| {
            let clauses: Vec<Value> = (0..num)
                .map(|n| json!({"term": {"a": n, "_name": n.to_string()}}))
                .collect();
            json!({"bool": {"should": clauses}})
        };
        found(&clauses(MAX_NAMES)).unwrap();
        let error = found(&clauses(MAX_NAMES + 1)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Limit);
    }

    /// Wraps a clause in others, each with a name.
    fn around(mut clause: Value, depth: usize) -> Value {
        for level in 0..depth {
            clause = json!({"bool": {"_name": level.to_string(), "must": clause}});
        }
        clause
    }

    #[test]
    fn clauses_with_names_are_together_no_longer_than_a_query() {
        let long = |depth| around(json!({"match": {"a": "x".repeat(330_000)}}), depth);
        found(&long(3)).unwrap();
        let error = found(&long(4)).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Limit);
        assert!(error.message.contains("1048576"), "{error}");
    }

    #[test]
    fn clauses_with_names_have_together_no_more_clauses_than_a_query() {
        let clauses = vec![json!({"match_all": {}}); 5_000];
        let many = |depth| around(json!({"bool": {"should": clauses}}), depth);
        let limits = Limits::default();
        parse_named(&found(&many(3)).unwrap(), None, &limits).unwrap();
        parse_dsl(map(&many(4)), None, &limits).unwrap();
        let error = parse_named(&found(&many(4)).unwrap(), None, &limits).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Limit);
        assert!(error.message.contains("terms and clauses"), "{error}");
    }
}
