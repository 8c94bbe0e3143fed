//! `indices_boost`: factors for the scores of hits, by their index.

use canter_names::matches_pattern;
use serde_json::{Value, json};

use crate::SearchError;
use crate::api::elastic::given::body::{Body, wrong};
use crate::api::elastic::given::names::no_index;

/// Takes the factors, and multiplies the scores of the body's query with them. The first name that fits an index counts.
///
/// # Errors
/// If a factor is invalid, or an index does not exist and may not be absent.
pub(in crate::api::elastic) fn boosted(
    body: &mut Body,
    query: Value,
    indexes: &[String],
    ignores_unavailable: bool,
) -> Result<Value, SearchError> {
    let entries: Vec<(String, Value)> = match body.take("indices_boost") {
        None => return Ok(query),
        Some(Value::Object(boosts)) => boosts.into_iter().collect(),
        Some(Value::Array(list)) => {
            let objects = list.into_iter().map(|boost| match boost {
                Value::Object(boost) if boost.len() == 1 => Ok(boost),
                _ => Err(wrong(
                    "indices_boost",
                    "an element must be an object with one index",
                )),
            });
            let objects = objects.collect::<Result<Vec<_>, _>>()?;
            objects.into_iter().flatten().collect()
        }
        Some(_) => {
            let what = "this must be a list of objects, such as [{\"logs\": 2.0}]";
            return Err(wrong("indices_boost", what));
        }
    };
    let mut functions = Vec::new();
    let mut done: Vec<&String> = Vec::new();
    for (name, boost) in &entries {
        let weight = boost
            .as_f64()
            .filter(|boost| boost.is_finite() && *boost >= 0.0);
        let weight = weight.ok_or_else(|| {
            wrong(
                "indices_boost",
                format!("{name}: this must be a number, 0 or more"),
            )
        })?;
        let fitting: Vec<&String> = indexes
            .iter()
            .filter(|index| matches_pattern(name, index))
            .collect();
        if fitting.is_empty() && !name.contains('*') && !ignores_unavailable {
            return Err(no_index(name));
        }
        for index in fitting {
            if !done.contains(&index) {
                done.push(index);
                functions.push(json!({"filter": {"term": {"_index": index}}, "weight": weight}));
            }
        }
    }
    if functions.is_empty() {
        return Ok(query);
    }
    let function_score = json!({
        "query": query, "functions": functions, "score_mode": "first", "boost_mode": "multiply",
    });
    Ok(json!({ "function_score": function_score }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_that_fits_an_index_counts() {
        let indexes = ["a_1".to_owned(), "a_2".to_owned(), "b".to_owned()];
        let check = |boosts: Value, ignores: bool| {
            let mut body = Body::parse(json!({"indices_boost": boosts}).to_string().as_bytes());
            let body = body.as_mut().unwrap();
            let query = boosted(body, json!({"match_all": {}}), &indexes, ignores)?;
            let functions = query.pointer("/function_score/functions").cloned();
            let functions = functions.unwrap_or_default();
            let functions = functions.as_array().cloned().unwrap_or_default();
            let functions = functions.iter().map(|function| {
                let index = function
                    .pointer("/filter/term/_index")
                    .and_then(Value::as_str);
                (
                    index.unwrap().to_owned(),
                    function["weight"].as_f64().unwrap(),
                )
            });
            Ok::<Vec<(String, f64)>, SearchError>(functions.collect())
        };
        let of = |list: &[(&str, f64)]| -> Vec<(String, f64)> {
            list.iter()
                .map(|(name, boost)| ((*name).to_owned(), *boost))
                .collect()
        };
        let boosts = json!([{"*_1": 3.0}, {"a_*": 2}]);
        assert_eq!(
            check(boosts, false).unwrap(),
            of(&[("a_1", 3.0), ("a_2", 2.0)])
        );
        assert_eq!(check(json!({"b": 2.0}), false).unwrap(), of(&[("b", 2.0)]));
        assert_eq!(check(json!([{"x*": 2.0}]), false).unwrap(), of(&[]));
        let absent = json!([{"c": 2.0}, {"b": 1.5}]);
        let error = check(absent.clone(), false).unwrap_err();
        assert_eq!(error.message, "no such index [c]");
        assert_eq!(check(absent, true).unwrap(), of(&[("b", 1.5)]));
        for wrong in [
            json!([{"b": -1}]),
            json!([{"b": "2"}]),
            json!([{"a_1": 1, "b": 2}]),
            json!(2),
        ] {
            check(wrong, false).unwrap_err();
        }
    }
}
