//! Queries for comparing the two engines.

use serde_json::{Value, json};

use crate::Query;

/// Returns queries that take different paths through the guest; heads answer none of them.
pub fn engine_queries() -> Vec<Query> {
    let hits =
        |name: &'static str, query: &str| Query::new(name, json!({"query": query, "max_hits": 10}));
    let sorted = |name: &'static str, query: &str, by: &str| {
        Query::new(name, json!({"query": query, "max_hits": 10, "sort_by": by}))
    };
    vec![
        hits("a word", "body:exception"),
        hits("two words", "body:block AND body:exception"),
        hits("either word", "body:exception OR body:terminating"),
        hits("a word without another", "body:block -body:terminating"),
        hits("a phrase", "body:\"exception while serving\""),
        hits("a prefix", "body:ex*"),
        hits("a range over a column", "tenant_id:[20 TO 40]"),
        hits(
            "a word in a range over a column",
            "body:block AND tenant_id:[20 TO 40]",
        ),
        Query::new(
            "a word in a range of time",
            json!({
                "query": "body:block", "max_hits": 10,
                "start_timestamp": 1_460_938_637, "end_timestamp": 1_461_801_600,
            }),
        ),
        sorted("all by a column, ascending", "*", "-tenant_id"),
        sorted("all by a column, descending", "*", "tenant_id"),
        sorted("a word by score", "body:exception", "_score"),
        Query::new(
            "a page far behind",
            json!({
                "query": "body:block", "max_hits": 10, "start_offset": 5_000, "sort_by": "tenant_id",
            }),
        ),
        aggregated(
            "all by 7 minutes and level",
            "*",
            by_time(
                "7m",
                json!({"levels": {
                    "terms": {"field": "severity_text"}
                }}),
            ),
        ),
        aggregated(
            "a word by hour and tenant",
            "body:block",
            by_time(
                "1h",
                json!({"tenants": {
                    "terms": {"field": "tenant_id"}
                }}),
            ),
        ),
        aggregated(
            "distinct values",
            "body:block",
            json!({"cardinality": {"field": "tenant_id"}}),
        ),
        aggregated(
            "percentiles",
            "*",
            json!({"percentiles": {"field": "tenant_id"}}),
        ),
    ]
}

/// Creates a query with an aggregation and no hits.
fn aggregated(name: &'static str, query: &str, aggregation: Value) -> Query {
    let aggs = json!({"a": aggregation});
    Query::new(name, json!({"query": query, "max_hits": 0, "aggs": aggs}))
}

fn by_time(interval: &str, inside: Value) -> Value {
    json!({
        "date_histogram": {"field": "timestamp", "fixed_interval": interval, "min_doc_count": 1},
        "aggs": inside,
    })
}
