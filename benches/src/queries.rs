//! Measured queries, and budgets for some of them.

use serde_json::{Value, json};

/// Search request with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Name in tables.
    pub name: &'static str,
    /// Request, as passed to the searcher.
    pub request: Value,
    /// Budget of a cold search in 8 splits of any size up to the demo's 125,000 documents.
    pub budget: Option<Budget>,
}

/// Maximum cost of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Maximum number of dependent rounds to the store.
    pub max_waves: u64,
    /// Maximum number of requests to the store.
    pub max_requests: u64,
}

impl Query {
    pub(crate) fn new(name: &'static str, request: Value) -> Self {
        Self {
            name,
            request,
            budget: None,
        }
    }

    fn within(mut self, max_waves: u64, max_requests: u64) -> Self {
        self.budget = Some(Budget {
            max_waves,
            max_requests,
        });
        self
    }
}

/// Returns the first classic query: the ten newest errors.
fn classic_term() -> Query {
    let request = json!({"query": "severity_text:ERROR", "max_hits": 10});
    Query::new("classic 1: severity_text:ERROR", request).within(3, 14)
}

/// Returns the second classic query: documents by day and level.
fn classic_histogram() -> Query {
    let request = json!({"query": "*", "max_hits": 0, "aggs": {"events": {
        "date_histogram": {"field": "timestamp", "fixed_interval": "1d"},
        "aggs": {"log_level": {"terms": {
            "size": 10, "field": "severity_text", "order": {"_count": "desc"}
        }}},
    }}});
    Query::new("classic 2: * by day and level", request).within(2, 10)
}

/// Returns the two classic queries, known from Quickwit.
pub fn classic_queries() -> [Query; 2] {
    [classic_term(), classic_histogram()]
}

/// Returns a query for a word in the message.
fn body_term() -> Query {
    let request = json!({"query": "body:exception", "max_hits": 10});
    // The number of requests is not limited: each split needs its dictionary, postings and
    // documents.
    Query::new("body:exception", request).within(4, u64::MAX)
}

/// Returns a histogram of a word over time. Intervals that the time index decides, such as hours,
/// need no column.
fn by_interval(name: &'static str, interval: &str) -> Query {
    let request = json!({"query": "body:exception", "max_hits": 0, "aggs": {"events": {
        "date_histogram": {"field": "timestamp", "fixed_interval": interval, "min_doc_count": 1}
    }}});
    Query::new(name, request)
}

/// Returns the queries of `range_budget`.
pub fn budget_queries() -> Vec<Query> {
    let phrase = json!({"query": "body:\"exception while serving\"", "max_hits": 10});
    let prefix = json!({"query": "body:ioexc*", "max_hits": 10});
    let sorted = json!({"query": "*", "max_hits": 10, "sort_by": "tenant_id"});
    let hourly = json!({"query": "*", "max_hits": 0, "aggs": {"events": {
        "date_histogram": {"field": "timestamp", "fixed_interval": "1h"}
    }}});
    let classic = classic_histogram();
    let word = by_interval("", "1h");
    vec![
        classic_term(),
        classic_histogram(),
        body_term(),
        Query::new(
            "body:terminating",
            json!({"query": "body:terminating", "max_hits": 10}),
        ),
        Query::new("body:\"exception while serving\"", phrase),
        Query::new("body:ioexc*", prefix),
        Query::new("* sorted by tenant_id", sorted),
        Query::new("* by hour", hourly),
        by_interval("body:exception by hour", "1h"),
        by_interval("body:exception by 7 minutes", "7m"),
        Query::new("count of *", json!({"query": "*", "max_hits": 0})),
        Query::new("* by day and level, and an average", beside_an_average()),
        Query::new("* by day and level, of whole hours", within(0, &classic)),
        Query::new(
            "* by day and level, from some second on",
            within(1_037, &classic),
        ),
        Query::new(
            "body:exception by hour, from some second on",
            within(1_037, &word),
        ),
    ]
}

/// Returns a request with two aggregations: heads answer one, and columns the other.
fn beside_an_average() -> Value {
    let mut request = classic_histogram().request;
    request["aggs"]["average"] = json!({"avg": {"field": "tenant_id"}});
    request
}

/// Restricts a query to days in the middle of the documents, starting `seconds` after midnight of
/// the first one.
fn within(seconds: u64, query: &Query) -> Value {
    // 2016-04-18: the documents cover thirty days from 2016-04-13.
    const START_SECONDS: u64 = 1_460_937_600;
    const DAY_SECONDS: u64 = 86_400;
    let mut request = query.request.clone();
    request["start_timestamp"] = json!(START_SECONDS + seconds);
    request["end_timestamp"] = json!(START_SECONDS + 10 * DAY_SECONDS);
    request
}

/// Creates a query with an aggregation and no hits.
fn aggregated(name: &'static str, query: &str, aggs: Value) -> Query {
    Query::new(
        name,
        json!({"query": query, "max_hits": 0, "aggs": {"a": aggs}}),
    )
}

fn by_time(interval: &str, inside: Value) -> Value {
    json!({
        "date_histogram": {"field": "timestamp", "fixed_interval": interval, "min_doc_count": 1},
        "aggs": inside,
    })
}

/// Returns the queries of `guest_cpu`. From "terms of tenant_id" on, heads cannot answer them: they
/// read columns, and each uses another of the loops over packed values.
pub fn cpu_queries() -> Vec<Query> {
    let levels = json!({"levels": {"terms": {"field": "severity_text"}}});
    let average = json!({"average": {"avg": {"field": "tenant_id"}}});
    let percentiles = json!({"percentiles": {"field": "tenant_id"}});
    let tenants = json!({"query": "*", "max_hits": 0, "aggs": {"tenants": {
        "terms": {"field": "tenant_id", "size": 100}
    }}});
    vec![
        classic_term(),
        classic_histogram(),
        body_term(),
        Query::new("terms of tenant_id", tenants),
        aggregated("* by 7 minutes and level", "*", by_time("7m", levels)),
        aggregated("body:block by hour", "body:block", by_time("1h", json!({}))),
        aggregated("* by day with an average", "*", by_time("1d", average)),
        aggregated("percentiles of tenant_id", "*", percentiles),
    ]
}
