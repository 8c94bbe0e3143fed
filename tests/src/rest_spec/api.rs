//! Descriptions of APIs: the HTTP request that a call is.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value};

use crate::conformance::encoded;

/// Parameters that all APIs take.
const GLOBAL: [&str; 5] = ["pretty", "human", "error_trace", "filter_path", "source"];

/// The described APIs by name.
pub struct Apis(HashMap<String, Value>);

/// HTTP request.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    pub(super) method: String,
    /// Path and query, percent-encoded.
    pub(super) target: String,
    pub(super) body: Option<String>,
    /// Statuses that are no errors, by the parameter `ignore`.
    pub(super) ignored: Vec<u64>,
}

impl Apis {
    /// Reads the descriptions in a folder.
    ///
    /// # Errors
    /// A file is missing, or is not JSON.
    pub fn read(folder: &Path) -> Result<Self> {
        let mut apis = HashMap::new();
        let entries = fs::read_dir(folder);
        for entry in entries.with_context(|| format!("cannot list {}", folder.display()))? {
            let path = entry?.path();
            if path.extension().is_some_and(|ext| ext == "json") {
                let described: Value = serde_json::from_slice(&fs::read(&path)?)
                    .with_context(|| path.display().to_string())?;
                let described = described.as_object().context("an object")?.clone();
                apis.extend(described.into_iter().filter(|(_, api)| api.is_object()));
            }
        }
        Ok(Self(apis))
    }

    /// Returns the request for a call, whose values are final.
    ///
    /// # Errors
    /// The API has no such parameter, or needs others: what the tests call `param`.
    pub(super) fn request(&self, name: &str, params: &Map<String, Value>) -> Result<Request> {
        let api = self.0.get(name);
        let api = api.with_context(|| format!("there is no API {name:?}"))?;
        let (path, parts) = best_path(api, params)?;
        let mut target = String::new();
        for segment in path["path"].as_str().unwrap_or_default().split('/').skip(1) {
            target.push('/');
            let part = segment.strip_prefix('{').and_then(|s| s.strip_suffix('}'));
            match part {
                Some(part) => target.push_str(&in_url(&params[part])),
                None => target.push_str(segment),
            }
        }
        let (mut query, mut ignored) = (Vec::new(), Vec::new());
        for (name, value) in params {
            if name == "ignore" {
                ignored.extend(numbers(value));
            } else if is_part(api, name) && in_url(value).is_empty() {
                // A part that is left out.
            } else if name != "body" && !parts.contains(&&**name) {
                ensure!(
                    GLOBAL.contains(&&**name) || api["params"].get(name).is_some(),
                    "the API has no parameter {name:?}"
                );
                query.push(format!("{name}={}", in_url(value)));
            }
        }
        if !query.is_empty() {
            target.push('?');
            target.push_str(&query.join("&"));
        }
        let body = params.get("body").map(|body| as_body(api, body));
        Ok(Request {
            method: method(path, body.is_some())?,
            target,
            body,
            ignored,
        })
    }
}

/// Returns the path with the most parts that the parameters fill, and the names of its parts.
fn best_path<'a>(api: &'a Value, params: &Map<String, Value>) -> Result<(&'a Value, Vec<&'a str>)> {
    let mut best: Option<(&Value, Vec<&str>)> = None;
    let paths = api["url"]["paths"].as_array().context("paths")?;
    for path in paths {
        let text = path["path"].as_str().unwrap_or_default();
        let parts: Vec<&str> = text
            .split('/')
            .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
            .collect();
        let is_filled = parts.iter().all(|part| {
            let value = params.get(*part);
            value.is_some_and(|value| !in_url(value).is_empty())
        });
        let is_better = best.as_ref().is_none_or(|best| parts.len() > best.1.len());
        // A deprecated path is for parameters that no other way takes.
        let is_needed = |part: &&str| {
            let others = paths
                .iter()
                .filter(|other| other.get("deprecated").is_none());
            let mut others = others.map(|other| &other["parts"]);
            api["params"].get(*part).is_none() && !others.any(|parts| parts.get(*part).is_some())
        };
        let is_deprecated = path.get("deprecated").is_some();
        if is_filled && is_better && (!is_deprecated || parts.iter().any(is_needed)) {
            best = Some((path, parts));
        }
    }
    best.context("the API needs more parameters")
}

/// Returns whether a path of an API has a part of this name.
fn is_part(api: &Value, name: &str) -> bool {
    let paths = api["url"]["paths"].as_array();
    paths.is_some_and(|paths| paths.iter().any(|path| path["parts"].get(name).is_some()))
}

fn method(path: &Value, has_body: bool) -> Result<String> {
    let methods = path["methods"].as_array().context("methods")?;
    let mut names = methods.iter().filter_map(Value::as_str);
    let preferred = names.clone().find(|name| !has_body || *name != "GET");
    match preferred.or_else(|| names.next()) {
        Some(name) => Ok(name.to_owned()),
        None => bail!("a path without methods"),
    }
}

fn as_body(api: &Value, body: &Value) -> String {
    let is_lines = api["body"]["serialize"] == "bulk";
    match body {
        Value::String(text) if is_lines && !text.ends_with('\n') => format!("{text}\n"),
        Value::String(text) => text.clone(),
        Value::Array(items) if is_lines => {
            let lines = items.iter().map(|item| match item {
                Value::String(text) => format!("{}\n", text.trim_end()),
                _ => format!("{item}\n"),
            });
            lines.collect()
        }
        _ => body.to_string(),
    }
}

/// Returns a value as text of a URL; the items of a list have commas between them.
fn in_url(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Array(items) => items.iter().map(in_url).collect::<Vec<_>>().join(","),
        Value::String(text) => encoded(text).replace("%2C", ",").replace("%2A", "*"),
        _ => encoded(&value.to_string()),
    }
}

fn numbers(value: &Value) -> Vec<u64> {
    match value {
        Value::Array(items) => items.iter().filter_map(Value::as_u64).collect(),
        _ => value.as_u64().into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_the_request_with_the_most_parts() {
        let api = json!({
            "url": {"paths": [
                {"path": "/_search", "methods": ["GET", "POST"]},
                {"path": "/{index}/_search", "methods": ["GET", "POST"]},
            ]},
            "params": {"q": {}},
        });
        let apis = Apis([("search".to_owned(), api)].into());
        let request = |params: Value| apis.request("search", params.as_object().unwrap());
        let asked = request(json!({"index": ["a", "b*"], "q": "x y"})).unwrap();
        assert_eq!(
            (&*asked.method, &*asked.target),
            ("GET", "/a,b*/_search?q=x%20y")
        );
        let asked = request(json!({"body": {"size": 0}, "ignore": 404})).unwrap();
        assert_eq!((&*asked.method, &*asked.target), ("POST", "/_search"));
        assert_eq!(asked.body.as_deref(), Some("{\"size\":0}"));
        assert_eq!(asked.ignored, [404]);
        assert!(request(json!({"colour": "red"})).is_err());
    }
}
