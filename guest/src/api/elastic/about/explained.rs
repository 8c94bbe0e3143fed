//! `_explain/<id>`: whether a document matches a query, and with which score; and `_terms_enum`: terms that begin with a
//! text. Both are searches whose answers are written in another form.
//!
//! See <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-explain> and
//! <https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-terms-enum>.

use canter_aggregations::check_name;
use canter_protocol::HttpResponse;
use serde_json::{Map, Value, json};

use crate::SearchError;
use crate::api::elastic::errors::elastic_response;
use crate::api::elastic::given::body::{Body, wrong};
use crate::api::elastic::given::params::UrlParams;

/// Name of the clause that tells whether the query matches.
const QUERY: &str = "_explained";

/// Name of the aggregation of terms.
const TERMS: &str = "terms";

/// Default and maximum number of terms.
const DEFAULT_TERMS: u64 = 10;
const MAX_TERMS: u64 = 1_000;

/// The form in which the answer of a search is written.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// Whether the document with this id matches.
    Explained {
        index: String,
        id: String,
        /// True if the answer has the document, too.
        shows_source: bool,
    },
    /// A list of terms, at most `size`.
    Terms { size: usize },
}

/// Takes the parameters that say which part of the document is shown.
pub(in crate::api::elastic) fn shown_source(params: &mut UrlParams) -> Map<String, Value> {
    let mut source = Map::new();
    for name in ["_source", "_source_includes", "_source_excludes"] {
        if let Some(value) = params.text(name) {
            source.insert(name.to_owned(), value.into());
        }
    }
    source
}

/// Returns the body of the search that tells whether a document matches a query.
///
/// `source` has the parameters that say which part of the document is shown.
pub(in crate::api::elastic) fn explaining(
    query: &Value,
    id: &str,
    source: &Map<String, Value>,
) -> Value {
    let matches = json!({"bool": {"must": [query], "_name": QUERY}});
    let mut search = json!({
        "query": {"bool": {"filter": {"ids": {"values": [id]}}, "should": [matches]}},
        "size": 1,
        "sort": ["_score"],
    });
    let names = |key: &str| {
        let text = source.get(key)?.as_str()?;
        Some(text.split(',').map(str::trim).collect::<Value>())
    };
    let shown = match source.get("_source").and_then(Value::as_str) {
        Some("false") => Value::Bool(false),
        Some("true") => Value::Bool(true),
        Some(_) => names("_source").unwrap_or_default(),
        None if source.is_empty() => Value::Bool(false),
        None => {
            let none = || json!([]);
            let includes = names("_source_includes").unwrap_or_else(none);
            let excludes = names("_source_excludes").unwrap_or_else(none);
            json!({"includes": includes, "excludes": excludes})
        }
    };
    put(&mut search, "_source", shown);
    search
}

/// Returns the body of the search for terms, and their maximum number.
///
/// # Errors
/// If the body names no field, or something else is wrong.
pub(in crate::api::elastic) fn enumerating(mut body: Body) -> Result<(Value, usize), SearchError> {
    let field = body.take("field");
    let Some(Value::String(field)) = field else {
        return Err(wrong("field", "this must be the name of a field"));
    };
    check_name("field", &field)?;
    let mut text = |key: &str| match body.take(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(wrong(key, "this must be text")),
    };
    let start = text("string")?.unwrap_or_default();
    let after = text("search_after")?;
    let size = body.count("size")?.unwrap_or(DEFAULT_TERMS).min(MAX_TERMS);
    let is_insensitive = body.take("case_insensitive") == Some(Value::Bool(true));
    body.duration("timeout")?;
    let filter = body
        .take("index_filter")
        .unwrap_or_else(|| json!({"match_all": {}}));
    body.finish()?;
    let mut pattern = String::new();
    for c in start.chars() {
        let letters: Vec<char> = match is_insensitive {
            true => c.to_lowercase().chain(c.to_uppercase()).collect(),
            false => vec![c],
        };
        match letters.as_slice() {
            [one] => push_escaped(&mut pattern, *one),
            several => {
                pattern.push('(');
                for (place, letter) in several.iter().enumerate() {
                    if place > 0 {
                        pattern.push('|');
                    }
                    push_escaped(&mut pattern, *letter);
                }
                pattern.push(')');
            }
        }
    }
    pattern.push_str(".*");
    let mut terms = json!({"field": field, "size": size, "order": {"_key": "asc"}});
    if !start.is_empty() {
        put(&mut terms, "include", pattern.into());
    }
    if after.is_some() {
        return Err(wrong(
            "search_after",
            "this is not supported: ask for a longer beginning of the terms",
        ));
    }
    let search = json!({"query": {"bool": {"filter": filter}}, "size": 0, "aggs": {TERMS: {"terms": terms}}});
    Ok((search, usize::try_from(size).unwrap_or(usize::MAX)))
}

fn put(object: &mut Value, key: &str, value: Value) {
    crate::root::put(object, key, value);
}

fn push_escaped(pattern: &mut String, c: char) {
    if c.is_ascii_punctuation() {
        pattern.push('\\');
    }
    pattern.push(c);
}

impl Form {
    /// Writes the answer of a search in this form.
    pub(in crate::api::elastic) fn write(&self, answer: &str) -> HttpResponse {
        let answer: Value = serde_json::from_str(answer).unwrap_or_default();
        match self {
            Self::Explained {
                index,
                id,
                shows_source,
            } => explained(index, id, *shows_source, &answer),
            Self::Terms { size } => {
                let buckets = at(&answer, "/aggregations/terms/buckets").as_array();
                let keys =
                    buckets
                        .into_iter()
                        .flatten()
                        .map(|bucket| match bucket.get("key_as_string") {
                            Some(text) => text.clone(),
                            None => match at(bucket, "/key") {
                                Value::String(text) => text.clone().into(),
                                key => key.to_string().into(),
                            },
                        });
                let terms: Vec<Value> = keys.take(*size).collect();
                let is_complete =
                    *at(&answer, "/_shards/failed") == 0 && *at(&answer, "/timed_out") == false;
                let body = json!({"_shards": at(&answer, "/_shards"), "terms": terms, "complete": is_complete});
                elastic_response(200, &body)
            }
        }
    }
}

/// Returns a part of an answer; null if it is absent.
fn at<'a>(answer: &'a Value, pointer: &str) -> &'a Value {
    answer.pointer(pointer).unwrap_or(&Value::Null)
}

fn explained(index: &str, id: &str, shows_source: bool, answer: &Value) -> HttpResponse {
    let hit = at(answer, "/hits/hits/0");
    let index = hit.get("_index").cloned().unwrap_or_else(|| index.into());
    if hit.is_null() {
        return elastic_response(404, &json!({"_index": index, "_id": id, "matched": false}));
    }
    let names = at(hit, "/matched_queries").as_array();
    let is_matched = names.is_some_and(|names| names.iter().any(|name| name == QUERY));
    let explanation = match is_matched {
        true => explanation(at(hit, "/_score")),
        false => json!({"value": 0.0, "description": "no match", "details": []}),
    };
    let mut body =
        json!({"_index": index, "_id": id, "matched": is_matched, "explanation": explanation});
    if shows_source {
        let mut document = json!({"found": true});
        if let Some(source) = hit.get("_source") {
            put(&mut document, "_source", source.clone());
        }
        put(&mut body, "get", document);
    }
    elastic_response(200, &body)
}

/// Returns the explanation of a score: its parts are not told.
fn explanation(score: &Value) -> Value {
    json!({"value": score, "description": "score of the whole query", "details": []})
}
