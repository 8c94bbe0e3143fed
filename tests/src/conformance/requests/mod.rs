//! Reader of the list of requests in the TOML files of `requests/`.
//!
//! ```toml
//! [[request]]
//! name = "a keyword"                      # unique
//! index = "hdfs-logs"                     # GET /api/v1/hdfs-logs/search …
//! params = { query = "severity_text:ERROR" }      # … ?query=severity_text%3AERROR
//! # `{fill}` in a body is replaced by a repeated text, in which `{n}` becomes 0, 1, 2 …:
//! # fill = { text = "(", times = 60 }
//! # or: path = "/health/livez", raw_query = "a=%zz", method = "PUT", body = '{"query": "*"}' (then POST)
//!
//! # Expectations. By default: status 200, and the hits and aggregations of the oracle.
//! oracle_query = "…"                      # the query in the syntax of tantivy's own parser
//! unchecked = "why the oracle cannot say" # requires `contains`
//! status = 400                            # the oracle has no errors, so this requires `contains`, too
//! contains = ["the field \"x\""]          # parts of the body; in an error, of its message
//! faults = ["short_body"]                 # names of all store faults that the answer reports
//! ```

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Call;
use super::call::encoded;

const FILES: &[(&str, &str)] = &[
    ("queries.toml", include_str!("queries.toml")),
    (
        "values/typed_queries.toml",
        include_str!("values/typed_queries.toml"),
    ),
    ("hits/orders.toml", include_str!("hits/orders.toml")),
    ("aggregations.toml", include_str!("aggregations.toml")),
    (
        "aggregations/buckets.toml",
        include_str!("aggregations/buckets.toml"),
    ),
    (
        "aggregations/places.toml",
        include_str!("aggregations/places.toml"),
    ),
    (
        "aggregations/kinds.toml",
        include_str!("aggregations/kinds.toml"),
    ),
    (
        "aggregations/numbers.toml",
        include_str!("aggregations/numbers.toml"),
    ),
    ("values/fields.toml", include_str!("values/fields.toml")),
    ("hits/hits.toml", include_str!("hits/hits.toml")),
    ("api.toml", include_str!("api.toml")),
    ("grafana/10.toml", include_str!("grafana/10.toml")),
    ("grafana/11.toml", include_str!("grafana/11.toml")),
    (
        "grafana/11_queries.toml",
        include_str!("grafana/11_queries.toml"),
    ),
    ("grafana/12.toml", include_str!("grafana/12.toml")),
    (
        "grafana/quickwit_plugin.toml",
        include_str!("grafana/quickwit_plugin.toml"),
    ),
    ("living.toml", include_str!("living.toml")),
    ("stores.toml", include_str!("stores.toml")),
    (
        "refused/hostile_manifest.toml",
        include_str!("refused/hostile_manifest.toml"),
    ),
    (
        "values/patterns_and_dates.toml",
        include_str!("values/patterns_and_dates.toml"),
    ),
    (
        "values/edges_of_types.toml",
        include_str!("values/edges_of_types.toml"),
    ),
    ("hits/ties.toml", include_str!("hits/ties.toml")),
    (
        "refused/hostile_requests.toml",
        include_str!("refused/hostile_requests.toml"),
    ),
    ("elastic.toml", include_str!("elastic.toml")),
    (
        "refused/elastic_strict.toml",
        include_str!("refused/elastic_strict.toml"),
    ),
    ("refused/differs.toml", include_str!("refused/differs.toml")),
    ("refused/refused.toml", include_str!("refused/refused.toml")),
    (
        "refused/said_twice.toml",
        include_str!("refused/said_twice.toml"),
    ),
];

/// Request with its name and the expected answer.
#[derive(Clone, Debug)]
pub struct Request {
    /// Unique name.
    pub name: String,
    /// Call to send.
    pub call: Call,
    /// Expected answer of the native engine.
    pub expected: Expectation,
}

/// Expectation of an answer.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// HTTP status.
    pub status: u16,
    /// Parts of the body, or of the message of an error.
    pub contains: Vec<String>,
    /// Names of the store faults in the answer; `None` skips the check.
    pub faults: Option<Vec<String>>,
    /// Index, and request in the form for the oracle.
    pub oracle: Option<(String, Value)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestFile {
    request: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    index: Option<String>,
    path: Option<String>,
    #[serde(default)]
    params: toml::Table,
    raw_query: Option<String>,
    method: Option<String>,
    body: Option<String>,
    fill: Option<Fill>,
    oracle_query: Option<String>,
    unchecked: Option<String>,
    #[serde(default = "ok")]
    status: u16,
    #[serde(default)]
    contains: Vec<String>,
    faults: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fill {
    text: String,
    times: usize,
}

fn ok() -> u16 {
    200
}

/// Reads all requests, in the order of the files.
///
/// # Errors
/// A file is malformed, a name is used twice, or a request has no expectation for its answer.
pub fn read_requests() -> Result<Vec<Request>> {
    let mut requests = Vec::new();
    for (name, text) in FILES {
        let file: RequestFile = toml::from_str(text).with_context(|| name)?;
        for entry in file.request {
            let shown = format!("{name}: {:?}", entry.name);
            requests.push(entry.into_request().context(shown)?);
        }
    }
    let mut names: Vec<&str> = requests.iter().map(|request| &*request.name).collect();
    names.sort_unstable();
    for pair in names.windows(2) {
        ensure!(pair[0] != pair[1], "two requests are named {:?}", pair[0]);
    }
    Ok(requests)
}

impl Entry {
    fn into_request(self) -> Result<Request> {
        let path = match (&self.path, &self.index) {
            (Some(path), None) => path.clone(),
            (None, Some(index)) => format!("/api/v1/{index}/search"),
            _ => anyhow::bail!("give either index or path"),
        };
        let query = match &self.raw_query {
            Some(query) => query.clone(),
            None => query_of(&self.params)?,
        };
        let default_method = if self.body.is_some() { "POST" } else { "GET" };
        let call = Call {
            method: self.method.as_deref().unwrap_or(default_method).to_owned(),
            path,
            query,
            body: self.whole_body().into_bytes(),
        };
        let asks_oracle = self.status == 200
            && self.index.is_some()
            && self.unchecked.is_none()
            && self.faults.is_none();
        let oracle = match (&self.index, asks_oracle) {
            (Some(index), true) => Some((index.clone(), self.oracle_request(&call)?)),
            _ => None,
        };
        ensure!(
            oracle.is_some() || self.faults.is_some() || !self.contains.is_empty(),
            "nothing checks the answer: say what it contains"
        );
        Ok(Request {
            name: self.name,
            call,
            expected: Expectation {
                status: self.status,
                contains: self.contains,
                faults: self.faults,
                oracle,
            },
        })
    }

    fn whole_body(&self) -> String {
        let body = self.body.clone().unwrap_or_default();
        match &self.fill {
            Some(fill) => {
                let parts = (0..fill.times).map(|n| fill.text.replace("{n}", &n.to_string()));
                body.replace("{fill}", &parts.collect::<String>())
            }
            None => body,
        }
    }

    /// Returns the request as one JSON object, from the body or from the parameters.
    fn oracle_request(&self, call: &Call) -> Result<Value> {
        let mut request = match &self.body {
            Some(body) => serde_json::from_str(body).context("body")?,
            None => Value::Object(from_parameters(call)?),
        };
        let fields = request.as_object_mut().context("the body is no object")?;
        fields.entry("query").or_insert_with(|| json!("*"));
        if let Some(aggregations) = fields.remove("aggregations") {
            fields.insert("aggs".to_owned(), aggregations);
        }
        if let Some(query) = &self.oracle_query {
            // The oracle does not support the DSL.
            if fields.get("query").is_some_and(Value::is_object) {
                fields.insert("query".to_owned(), json!(query));
            }
            fields.insert("oracle_query".to_owned(), json!(query));
        }
        Ok(request)
    }
}

fn query_of(params: &toml::Table) -> Result<String> {
    let mut parts = Vec::new();
    for (name, value) in params {
        let value = match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Integer(number) => number.to_string(),
            toml::Value::Boolean(flag) => flag.to_string(),
            other => anyhow::bail!("parameter {name}: {other:?} is no text or number"),
        };
        parts.push(format!("{}={}", encoded(name), encoded(&value)));
    }
    Ok(parts.join("&"))
}

fn from_parameters(call: &Call) -> Result<Map<String, Value>> {
    let mut fields = Map::new();
    for (name, value) in call.parameters() {
        let value = match name.as_str() {
            "aggs" => serde_json::from_str(&value).context("aggs")?,
            "max_hits" | "start_offset" | "start_timestamp" | "end_timestamp" => {
                json!(value.parse::<i64>().with_context(|| name.clone())?)
            }
            _ => json!(value),
        };
        fields.insert(name, value);
    }
    Ok(fields)
}
