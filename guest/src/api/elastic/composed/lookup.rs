//! `terms` whose values are those of a field of another document.
//!
//! See <https://www.elastic.co/docs/reference/query-languages/query-dsl/query-dsl-terms-query>.

use serde_json::{Map, Value, json};

use super::answer::Answer;
use crate::api::elastic::given::body::{Body, wrong};
use crate::api::elastic::given::names::{no_index, resolve};
use crate::api::elastic::given::params::{Common, UrlParams};
use crate::api::elastic::search::of_indexes::read_search_of;
use crate::api::elastic::search::read::{Search, read_search};
use crate::api::settings::ApiSettings;
use crate::exchange::Exchange;
use crate::request::AskedIndexes;
use crate::search::run_search;
use crate::{ErrorKind, SearchError};

/// Maximum number of documents that a search looks up.
const MAX_LOOKUPS: usize = 100;

/// A search that is complete once values of documents are known.
#[derive(Debug)]
pub(crate) struct Lookups {
    /// The names of the indexes that are searched.
    names: String,
    /// The body, with lookups in place of values.
    pub(in crate::api::elastic) body: Value,
    /// The parameters of the request.
    params: String,
    common: Common,
}

impl Lookups {
    /// Returns the search in a body, if its query has lookups.
    ///
    /// # Errors
    /// If a lookup is invalid.
    pub(in crate::api::elastic) fn find(
        names: &str,
        body: &[u8],
        params: &UrlParams,
        common: &Common,
    ) -> Result<Option<Self>, SearchError> {
        let is_possible = body.windows(7).any(|word| word == b"\"terms\"");
        let body = match is_possible {
            true => serde_json::from_slice::<Value>(body).ok(),
            false => None,
        };
        let Some(mut body) = body.filter(has_lookups) else {
            return Ok(None);
        };
        each(&mut body, &mut |lookup| Wanted::read(lookup).map(drop))?;
        Ok(Some(Self {
            names: names.to_owned(),
            body,
            params: params.written(),
            common: common.clone(),
        }))
    }

    /// Returns the body with an empty list in place of each lookup, to check everything else.
    pub(in crate::api::elastic) fn without_values(&self) -> Vec<u8> {
        without_lookups(&self.body).to_string().into_bytes()
    }

    /// Returns the search with this body.
    ///
    /// # Errors
    /// If the values that were looked up do not suit it.
    pub(in crate::api::elastic) fn search(
        &self,
        body: &Value,
        settings: &ApiSettings,
    ) -> Result<(AskedIndexes, Search), SearchError> {
        let mut params = UrlParams::of(&self.params)?;
        let body = body.to_string();
        let search = read_search_of(
            &self.names,
            body.as_bytes(),
            &mut params,
            &self.common,
            settings,
        )?;
        search.ok_or_else(|| no_index(&self.names))
    }
}

/// Returns whether a body has a query with lookups.
fn has_lookups(body: &Value) -> bool {
    let mut body = body.clone();
    let mut number = 0;
    let _ = each(&mut body, &mut |_| {
        number += 1;
        Ok(())
    });
    number > 0
}

/// Calls a function with each lookup of the clauses in `query` and `post_filter`.
fn each(
    body: &mut Value,
    on: &mut dyn FnMut(&mut Value) -> Result<(), SearchError>,
) -> Result<(), SearchError> {
    for key in ["query", "post_filter"] {
        if let Some(query) = body.get_mut(key) {
            each_in(query, on)?;
        }
    }
    Ok(())
}

fn each_in(
    value: &mut Value,
    on: &mut dyn FnMut(&mut Value) -> Result<(), SearchError>,
) -> Result<(), SearchError> {
    match value {
        Value::Array(list) => list.iter_mut().try_for_each(|value| each_in(value, on)),
        Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                match value {
                    Value::Object(fields) if key == "terms" => {
                        for (_, value) in fields.iter_mut().filter(|(_, value)| value.is_object()) {
                            on(value)?;
                        }
                    }
                    value => each_in(value, on)?,
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns a body with an empty list in place of each lookup, to check everything else.
fn without_lookups(body: &Value) -> Value {
    let mut body = body.clone();
    let _ = each(&mut body, &mut |lookup| {
        *lookup = json!([]);
        Ok(())
    });
    body
}

/// The place of values.
struct Wanted {
    index: String,
    id: String,
    path: String,
}

impl Wanted {
    fn read(lookup: &Value) -> Result<Self, SearchError> {
        let empty = Map::new();
        let lookup = lookup.as_object().unwrap_or(&empty);
        let is_known = |key: &str| matches!(key, "index" | "id" | "path" | "routing" | "store");
        if let Some(key) = lookup.keys().find(|key| !is_known(key)) {
            let what = format!("{key:?} is not known; there are id, index, path, routing");
            return Err(wrong("terms", what));
        }
        let text = |key: &str| match lookup.get(key) {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(Value::Number(number)) => Ok(number.to_string()),
            _ => Err(wrong(
                "terms",
                format!("a lookup needs index, id and path: {key} is missing"),
            )),
        };
        Ok(Self {
            index: text("index")?,
            id: text("id")?,
            path: text("path")?,
        })
    }
}

/// Returns the body with the values of documents in place of lookups. Each document is read once.
///
/// # Errors
/// If an index does not exist, or a document cannot be read.
pub(in crate::api::elastic) async fn look_up(
    body: &Value,
    settings: &ApiSettings,
    exchange: &Exchange,
) -> Result<Value, SearchError> {
    let mut wanted: Vec<Value> = Vec::new();
    let mut body = body.clone();
    each(&mut body, &mut |lookup| {
        if !wanted.contains(lookup) {
            wanted.push(lookup.clone());
        }
        Ok(())
    })?;
    if wanted.len() > MAX_LOOKUPS {
        return Err(SearchError::new(
            ErrorKind::Limit,
            format!("terms: a search looks up at most {MAX_LOOKUPS} documents"),
        ));
    }
    let found = wanted
        .iter()
        .map(|lookup| values_of(lookup, settings, exchange));
    let found = futures_util::future::join_all(found).await;
    let found = found.into_iter().collect::<Result<Vec<Value>, _>>()?;
    each(&mut body, &mut |lookup| {
        let place = wanted.iter().position(|wanted| wanted == lookup);
        let values = place.and_then(|place| found.get(place)).cloned();
        *lookup = values.unwrap_or_else(|| json!([]));
        Ok(())
    })?;
    Ok(body)
}

async fn values_of(
    lookup: &Value,
    settings: &ApiSettings,
    exchange: &Exchange,
) -> Result<Value, SearchError> {
    let wanted = Wanted::read(lookup)?;
    let indexes = resolve(&wanted.index, settings)?;
    if indexes.is_empty() {
        return Err(no_index(&wanted.index));
    }
    let body = json!({
        "query": {"ids": {"values": [&wanted.id]}},
        "size": 1,
        "_source": [&wanted.path],
        "track_total_hits": false,
    });
    let body = Body::parse(body.to_string().as_bytes())?;
    let search = read_search(body, &mut UrlParams::of("")?, false, settings)?;
    let answer = run_search(search.question, indexes, exchange.clone()).await?;
    let answer = Answer::parse(&answer)?;
    let mut values = Vec::new();
    if let Some(hit) = answer.hits.first() {
        collect(&hit.value("_source"), &wanted.path, &mut values);
    }
    Ok(Value::Array(values))
}

/// Adds the values at a path of a document, those of all objects of a list.
fn collect(value: &Value, path: &str, values: &mut Vec<Value>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| collect(value, path, values)),
        Value::Object(object) => {
            if let Some(value) = object.get(path) {
                collect(value, "", values);
            }
            for (at, _) in path.match_indices('.') {
                let (first, rest) = (path.get(..at), path.get(at + 1..));
                if let (Some(value), Some(rest)) = (first.and_then(|key| object.get(key)), rest) {
                    collect(value, rest, values);
                }
            }
        }
        Value::Null => {}
        value if path.is_empty() => values.push(value.clone()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_collected_along_paths_of_objects_and_lists() {
        let document = json!({"a": [{"b": [1, 2]}, {"b": 3, "c": 4}, 5], "d.e": "x", "f": null});
        for (path, expected) in [
            ("a.b", json!([1, 2, 3])),
            ("a.c", json!([4])),
            ("a", json!([5])),
            ("d.e", json!(["x"])),
            ("f", json!([])),
            ("g", json!([])),
        ] {
            let mut values = Vec::new();
            collect(&document, path, &mut values);
            assert_eq!(Value::Array(values), expected, "{path}");
        }
    }

    #[test]
    fn lookups_are_found_wherever_a_clause_stands() {
        let lookup = json!({"index": "i", "id": "1", "path": "p"});
        let body = json!({
            "query": {"bool": {"must_not": [{"nested": {"path": "n", "query": {"terms": {"n.a": lookup, "boost": 2}}}}]}},
            "aggs": {"terms": {"terms": {"field": "x"}}},
        });
        assert!(has_lookups(&body));
        let plain = without_lookups(&body);
        assert!(!has_lookups(&plain));
        let terms = "/query/bool/must_not/0/nested/query/terms";
        assert_eq!(plain.pointer(terms), Some(&json!({"n.a": [], "boost": 2})));
    }
}
