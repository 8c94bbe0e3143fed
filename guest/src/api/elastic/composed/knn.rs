//! `knn` beside a query, and `retriever`s: both are queries of the DSL, written otherwise.
//!
//! ```text
//!   {"query": Q, "knn": [A, B]}                 ──▶ {"query": {"bool": {"should": [Q, {"knn": A}, {"knn": B}]}}}
//!   {"retriever": {"standard": {"query": Q}}}   ──▶ {"query": Q}
//!   {"retriever": {"knn": A}}                   ──▶ {"query": {"knn": A}}
//!   {"retriever": {"rrf": {"retrievers": […]}}} ──▶ {"query": {"rrf": {"queries": […]}}}
//! ```
//!
//! See <https://www.elastic.co/docs/solutions/search/vector/knn> and
//! <https://www.elastic.co/docs/reference/elasticsearch/rest-apis/retrievers>.

use serde_json::{Map, Value, json};

use crate::SearchError;
use crate::api::elastic::given::body::{Body, as_written, query, wrong};
use crate::api::elastic::given::params::UrlParams;

/// Keys of a body that a retriever has itself.
const OF_RETRIEVER: [&str; 7] = [
    "knn",
    "query",
    "rank",
    "rescore",
    "search_after",
    "sort",
    "terminate_after",
];

/// Default number of hits.
const DEFAULT_SIZE: u64 = 10;

/// Puts the retriever and the conditions on vectors of a body into its query.
///
/// # Errors
/// If one is invalid, or of a kind that is not supported.
pub(in crate::api::elastic) fn with_knn(
    body: &mut Body,
    params: &mut UrlParams,
) -> Result<(), SearchError> {
    let size = match body.map.get("size").cloned().map(as_written) {
        Some(size) => size.as_u64(),
        None => params.text("size").and_then(|size| size.parse().ok()),
    };
    let size = size.unwrap_or(DEFAULT_SIZE);
    if let Some(retriever) = body.take("retriever") {
        if let Some(key) = OF_RETRIEVER.iter().find(|key| body.map.contains_key(**key)) {
            let what = format!("cannot be used beside [{key}]: it belongs into the retriever");
            return Err(wrong("retriever", what));
        }
        put_retriever(body, retriever, size)?;
    }
    body.refuse("rank", "this is not supported: use a retriever")?;
    let list = match body.take("knn") {
        None => return Ok(()),
        Some(Value::Array(list)) => list,
        Some(one) => vec![one],
    };
    if list.is_empty() {
        return Ok(());
    }
    let mut clauses = Vec::with_capacity(list.len() + 1);
    let has_query = body.map.get("query").is_some_and(|query| !query.is_null());
    if has_query || params.gives("q") {
        clauses.push(query(body, params)?);
        // It is in the body from here on.
        for name in ["q", "df", "default_operator", "analyze_wildcard", "lenient"] {
            params.take(name);
        }
    }
    for knn in list {
        let Value::Object(mut knn) = knn else {
            return Err(wrong("knn", "this must be an object, or a list of objects"));
        };
        if knn.get("k").is_none_or(Value::is_null) {
            let of_candidates = knn.get("num_candidates").and_then(Value::as_u64);
            let k = size.min(of_candidates.unwrap_or(size));
            knn.insert("k".to_owned(), k.into());
        }
        clauses.push(json!({ "knn": knn }));
    }
    let query = match clauses.len() {
        1 => clauses.pop().unwrap_or_default(),
        _ => json!({"bool": {"should": clauses}}),
    };
    body.map.insert("query".to_owned(), query);
    Ok(())
}

/// Puts what a retriever says into a body.
fn put_retriever(body: &mut Body, retriever: Value, size: u64) -> Result<(), SearchError> {
    let (kind, mut given) = kind_of(retriever)?;
    let own: &[&str] = match kind.as_str() {
        "standard" => &[
            "sort",
            "search_after",
            "terminate_after",
            "collapse",
            "min_score",
        ],
        _ => &["min_score"],
    };
    for key in own {
        if let Some(value) = given.shift_remove(*key) {
            body.map.insert((*key).to_owned(), value);
        }
    }
    let query = query_of(&kind, given, None, size)?;
    body.map.insert("query".to_owned(), query);
    Ok(())
}

/// Returns the kind of a retriever, and what it is given.
fn kind_of(retriever: Value) -> Result<(String, Map<String, Value>), SearchError> {
    let kinds = match retriever {
        Value::Object(kinds) => kinds,
        _ => Map::new(),
    };
    let mut kinds = kinds.into_iter();
    let (Some((kind, Value::Object(mut given))), None) = (kinds.next(), kinds.next()) else {
        return Err(wrong(
            "retriever",
            "this must be an object with one retriever, such as {\"knn\": {…}}",
        ));
    };
    given.retain(|key, value| key != "_name" && !value.is_null());
    Ok((kind, given))
}

/// Returns the query that a retriever is, of which all documents pass a filter.
fn query_of(
    kind: &str,
    mut given: Map<String, Value>,
    filter: Option<&Value>,
    size: u64,
) -> Result<Value, SearchError> {
    let mut filters = filters_of(filter.cloned());
    filters.extend(filters_of(given.shift_remove("filter")));
    match kind {
        "knn" => {
            if !filters.is_empty() {
                given.insert("filter".to_owned(), filters.into());
            }
            Ok(json!({ "knn": given }))
        }
        "standard" => {
            let query = given.shift_remove("query");
            if let Some(key) = given.keys().next() {
                let what = format!("standard: {key:?} is not known or not supported here");
                return Err(wrong("retriever", what));
            }
            let query = query.unwrap_or_else(|| json!({"match_all": {}}));
            Ok(match filters.is_empty() {
                true => query,
                false => json!({"bool": {"must": [query], "filter": filters}}),
            })
        }
        "rrf" => {
            let window = given
                .entry("rank_window_size")
                .or_insert_with(|| size.max(1).into());
            let num = window.as_u64().unwrap_or(size);
            if num < size {
                let what = "rrf: [rank_window_size] must be greater than or equal to [size]";
                return Err(wrong("retriever", what));
            }
            let list = match given.shift_remove("retrievers") {
                Some(Value::Array(list)) => list,
                _ => return Err(wrong("retriever", "rrf: retrievers must be a list")),
            };
            let filter = (!filters.is_empty()).then(|| Value::from(filters));
            let queries = list.into_iter().map(|retriever| {
                let (kind, given) = kind_of(retriever)?;
                query_of(&kind, given, filter.as_ref(), num)
            });
            let queries = queries.collect::<Result<Vec<Value>, _>>()?;
            given.insert("queries".to_owned(), queries.into());
            Ok(json!({ "rrf": given }))
        }
        other => Err(wrong(
            "retriever",
            format!("{other:?} is not known or not supported; there are standard, knn and rrf"),
        )),
    }
}

fn filters_of(filter: Option<Value>) -> Vec<Value> {
    match filter {
        None => Vec::new(),
        Some(Value::Array(list)) => list,
        Some(one) => vec![one],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: Value, url: &str, expected: Result<Value, &str>) {
        let mut given = Body::parse(body.to_string().as_bytes()).unwrap();
        let mut params = UrlParams::of(url).unwrap();
        let put = with_knn(&mut given, &mut params);
        match expected {
            Ok(expected) => {
                put.unwrap();
                assert_eq!(Value::from(given.map), expected, "{body}");
            }
            Err(problem) => {
                let error = put.unwrap_err();
                assert!(error.message.contains(problem), "{body}: {error}");
            }
        }
    }

    #[test]
    fn vectors_stand_beside_the_query() {
        let knn = json!({"field": "v", "query_vector": [1], "k": 3});
        let clause = json!({ "knn": knn });
        let all = json!({"match_all": {}});
        check(json!({"knn": knn}), "", Ok(json!({"query": clause})));
        check(
            json!({"query": all, "knn": [knn, knn]}),
            "",
            Ok(json!({"query": {"bool": {"should": [all, clause, clause]}}})),
        );
        check(
            json!({"size": 7, "knn": {"field": "v"}}),
            "",
            Ok(json!({"size": 7, "query": {"knn": {"field": "v", "k": 7}}})),
        );
        check(
            json!({"knn": {"field": "v", "num_candidates": 4}}),
            "size=5",
            Ok(json!({"query": {"knn": {"field": "v", "num_candidates": 4, "k": 4}}})),
        );
        check(
            json!({"knn": knn}),
            "q=a",
            Ok(json!({"query": {"bool": {"should": [{"query_string": {"query": "a"}}, clause]}}})),
        );
        check(json!({"knn": []}), "", Ok(json!({})));
        check(json!({"knn": 5}), "", Err("an object, or a list"));
        check(
            json!({"rank": {"rrf": {}}, "knn": knn}),
            "",
            Err("use a retriever"),
        );
    }

    #[test]
    fn retrievers_are_other_words_for_queries() {
        let knn = json!({"field": "v", "query_vector": [1], "k": 3});
        let all = json!({"match_all": {}});
        check(
            json!({"retriever": {"knn": knn}}),
            "",
            Ok(json!({"query": {"knn": knn}})),
        );
        check(
            json!({"retriever": {"standard": {"query": all, "filter": {"term": {"a": 1}}, "min_score": 2}}}),
            "",
            Ok(json!({
                "min_score": 2, "query": {"bool": {"must": [all], "filter": [{"term": {"a": 1}}]}},
            })),
        );
        let filter = json!({"term": {"a": 1}});
        let mut filtered = knn.clone();
        filtered["filter"] = json!([filter]);
        check(
            json!({"size": 7, "retriever": {"rrf": {
                "retrievers": [{"knn": knn}, {"standard": {"query": all}}], "filter": filter, "rank_constant": 20,
            }}}),
            "",
            Ok(json!({"size": 7, "query": {"rrf": {
                "rank_constant": 20, "rank_window_size": 7, "queries": [
                    {"knn": filtered}, {"bool": {"must": [all], "filter": [filter]}},
                ],
            }}})),
        );
        check(
            json!({"retriever": {"rrf": {"retrievers": [], "rank_window_size": 5}}}),
            "",
            Err("must be greater than or equal to [size]"),
        );
        check(
            json!({"query": all, "retriever": {"knn": knn}}),
            "",
            Err("cannot be used beside [query]"),
        );
        check(
            json!({"retriever": {"text_similarity_reranker": {}}}),
            "",
            Err("\"text_similarity_reranker\" is not known"),
        );
        check(
            json!({"retriever": {"standard": {"queries": all}}}),
            "",
            Err("\"queries\" is not known"),
        );
    }
}
