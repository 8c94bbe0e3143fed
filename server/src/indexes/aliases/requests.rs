//! Requests that search, with indexes in place of aliases; and answers that show the aliases of indexes.

use std::collections::BTreeMap;

use canter_index_builder::{Aliases, unix_time_ms};
use canter_names::matches_pattern;
use canter_runtime::session::HttpRequest;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value, json};
use url::form_urlencoded;

use super::expand::{Expanded, expand, only_index, with_filters};
use crate::requests::Problem;

/// Characters that names keep in a path.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b',')
    .remove(b'*');

/// Prefix of Elasticsearch's API besides the root.
const PREFIX: [&str; 3] = ["api", "v1", "_elastic"];

/// The parts of a path that matter here.
struct Target<'p> {
    segments: Vec<&'p str>,
    /// Where the names of indexes stand.
    names_at: Option<usize>,
    /// The first segment after the names of indexes, or before them.
    does: &'p str,
    is_own_api: bool,
}

impl<'p> Target<'p> {
    fn of(path: &'p str) -> Self {
        let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let start = if segments.starts_with(&PREFIX) {
            PREFIX.len()
        } else {
            0
        };
        let rest = &segments[start..];
        let (names_at, does, is_own_api) = match rest {
            ["api", "v1", "indexes", _, does] => (Some(3), *does, true),
            ["api", "v1", _, does] => (Some(2), *does, true),
            ["api", "v1", ..] | ["health", "livez" | "readyz"] | ["ui", ..] => (None, "", true),
            [does @ "_cat", "indices" | "count", _] | [does @ ("_resolve" | "_cluster"), _, _] => {
                (Some(2), *does, false)
            }
            [first, others @ ..] if !first.starts_with('_') || *first == "_all" => {
                (Some(0), others.first().copied().unwrap_or_default(), false)
            }
            [does, ..] => (None, *does, false),
            [] => (None, "", false),
        };
        Self {
            names_at: names_at.map(|at| at + start),
            segments,
            does,
            is_own_api,
        }
    }
}

/// Replaces aliases and dates in a request by indexes; `indexes` returns those that the caller may know of.
///
/// # Errors
/// If a name cannot stand where it does.
pub(crate) fn resolved(
    mut request: HttpRequest,
    aliases: &Aliases,
    indexes: impl FnOnce() -> Vec<String>,
) -> Result<HttpRequest, Problem> {
    // A date begins with `<`, which is `%3C` in paths.
    let has_date = request.path.contains("%3C") || request.path.contains("%3c");
    let is_list = matches!(Target::of(&request.path).does, "_msearch" | "_mget");
    if aliases.is_empty() && !has_date && !is_list {
        return Ok(request);
    }
    let indexes = &indexes();
    let now_ms = unix_time_ms();
    let target = Target::of(&request.path);
    let does = target.does.to_owned();
    let is_about_one = matches!(
        &*does,
        "_doc" | "_source" | "_mget" | "_explain" | "_termvectors"
    );
    let mut expanded = Expanded::default();
    if let Some(at) = target.names_at {
        let list = percent_decode_str(target.segments[at]).decode_utf8_lossy();
        expanded = match is_about_one {
            true => Expanded {
                names: only_index(&list, aliases, now_ms)?.unwrap_or_else(|| list.to_string()),
                ..Expanded::default()
            },
            false => expand(&list, aliases, indexes, now_ms)?,
        };
        if !expanded.filters.is_empty() && (target.is_own_api || does == "_pit") {
            return Err(Problem::illegal(format!(
                "[{list}] is an alias with a filter, which [{does}] does not take: search with _search, or name the indexes"
            )));
        }
        let mut segments: Vec<String> = target
            .segments
            .iter()
            .map(|part| (*part).to_owned())
            .collect();
        segments[at] = utf8_percent_encode(&expanded.names, ENCODED).to_string();
        request.path = format!("/{}", segments.join("/"));
    }
    if does == "_search" && !aliases.is_empty() {
        boost_indexes(&mut request, aliases)?;
    }
    match &*does {
        "_search" | "_count" | "_validate" if !expanded.filters.is_empty() => {
            filter_body(&mut request, &expanded)?
        }
        "_msearch" => request.body = searches(&request.body, aliases, indexes, &expanded)?,
        "_mget" if !aliases.is_empty() => request.body = documents(&request.body, aliases, now_ms)?,
        _ => {}
    }
    Ok(request)
}

/// Puts indexes in the place of aliases in the factors for the scores of their hits.
fn boost_indexes(request: &mut HttpRequest, aliases: &Aliases) -> Result<(), Problem> {
    const KEY: &str = "indices_boost";
    let mut words = request.body.windows(KEY.len());
    if !words.any(|word| word == KEY.as_bytes()) {
        return Ok(());
    }
    let mut search = object(&request.body)?;
    let boosts: Vec<(String, Value)> = match search.get(KEY) {
        Some(Value::Object(boosts)) => boosts.clone().into_iter().collect(),
        Some(Value::Array(list)) if list.iter().all(Value::is_object) => {
            let boosts = list.iter().filter_map(Value::as_object);
            boosts.flat_map(Map::clone).collect()
        }
        // The guest says what is wrong with it.
        _ => return Ok(()),
    };
    let resolved = boosts.into_iter().flat_map(|(name, boost)| {
        let matching = aliases
            .iter()
            .filter(|(alias, _)| matches_pattern(&name, alias));
        let mut names: Vec<String> = matching.flat_map(|(_, of)| of.keys().cloned()).collect();
        if names.is_empty() || name.contains('*') {
            names.insert(0, name);
        }
        names.into_iter().map(move |name| json!({ name: boost }))
    });
    let resolved: Vec<Value> = resolved.collect();
    search.insert(KEY.to_owned(), resolved.into());
    request.body = Value::from(search).to_string().into_bytes();
    Ok(())
}

/// Adds the filters of aliases to the query of a search in its body or its URL.
fn filter_body(request: &mut HttpRequest, expanded: &Expanded) -> Result<(), Problem> {
    let mut body = Vec::new();
    let mut query = form_urlencoded::Serializer::new(String::new());
    let mut of_url = Map::new();
    for (name, value) in form_urlencoded::parse(request.query.as_bytes()) {
        match &*name {
            "q" => drop(of_url.insert("query".to_owned(), value.into())),
            "df" => drop(of_url.insert("default_field".to_owned(), value.into())),
            "default_operator" => drop(of_url.insert(name.into(), value.into())),
            "analyze_wildcard" | "lenient" => {
                let is_set = value != "false";
                of_url.insert(name.into(), is_set.into());
            }
            "source" => body = value.into_owned().into_bytes(),
            "source_content_type" => {}
            _ => drop(query.append_pair(&name, &value)),
        }
    }
    let body = if body.is_empty() {
        request.body.as_slice()
    } else {
        body.as_slice()
    };
    let mut search = object(body)?;
    let own = match of_url.contains_key("query") {
        true => json!({"query_string": of_url}),
        false => search
            .remove("query")
            .unwrap_or_else(|| json!({"match_all": {}})),
    };
    search.insert("query".to_owned(), with_filters(own, &expanded.filters));
    filter_global(&mut search, &expanded.filters);
    request.query = query.finish();
    request.body = Value::from(search).to_string().into_bytes();
    if request.method == "GET" {
        "POST".clone_into(&mut request.method);
    }
    Ok(())
}

/// Adds the filters of aliases to the documents that `global` aggregations cover, which are not those of the query.
fn filter_global(search: &mut Map<String, Value>, filters: &BTreeMap<String, Vec<Value>>) {
    let mut aggs = ["aggs", "aggregations"]
        .into_iter()
        .filter_map(|key| search.get(key)?.as_object())
        .flatten();
    if aggs.any(|(_, agg)| agg.get("global").is_some()) {
        let everything = with_filters(json!({"match_all": {}}), filters);
        search.insert("_global_query".to_owned(), everything);
    }
}

/// Returns the lines of `_msearch` with indexes in place of aliases; `of_path` are the indexes of headers that name none.
fn searches(
    body: &[u8],
    aliases: &Aliases,
    indexes: &[String],
    of_path: &Expanded,
) -> Result<Vec<u8>, Problem> {
    let has_date = body.windows(2).any(|pair| pair == b"\"<");
    if aliases.is_empty() && !has_date {
        return Ok(body.to_vec());
    }
    let now_ms = unix_time_ms();
    let mut out = Vec::with_capacity(body.len());
    let mut lines = body.split(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        // The end, or an empty header.
        if line.iter().all(u8::is_ascii_whitespace) && lines.peek().is_none() {
            break;
        }
        let mut header = object(line)?;
        let list = match header.get("index").or_else(|| header.get("indices")) {
            Some(Value::String(list)) => Some(list.clone()),
            Some(Value::Array(names)) => Some(
                names
                    .iter()
                    .filter_map(Value::as_str)
                    .collect::<Vec<_>>()
                    .join(","),
            ),
            _ => None,
        };
        let own = list
            .map(|list| expand(&list, aliases, indexes, now_ms))
            .transpose()?;
        if let Some(own) = &own {
            header.remove("indices");
            header.insert("index".to_owned(), own.names.as_str().into());
        }
        let filters = &own.as_ref().unwrap_or(of_path).filters;
        out.extend_from_slice(Value::from(header).to_string().as_bytes());
        out.push(b'\n');
        let Some(search) = lines.next() else {
            break;
        };
        if filters.is_empty() {
            out.extend_from_slice(search);
        } else {
            let mut search = object(search)?;
            let own = search
                .remove("query")
                .unwrap_or_else(|| json!({"match_all": {}}));
            search.insert("query".to_owned(), with_filters(own, filters));
            filter_global(&mut search, filters);
            out.extend_from_slice(Value::from(search).to_string().as_bytes());
        }
        out.push(b'\n');
    }
    Ok(out)
}

/// Returns the body of `_mget` with indexes in place of aliases.
fn documents(body: &[u8], aliases: &Aliases, now_ms: u64) -> Result<Vec<u8>, Problem> {
    let mut body = object(body)?;
    if let Some(Value::Array(docs)) = body.get_mut("docs") {
        for doc in docs {
            if let Some(Value::String(name)) = doc.get_mut("_index")
                && let Some(index) = only_index(name, aliases, now_ms)?
            {
                *name = index;
            }
        }
    }
    Ok(Value::from(body).to_string().into_bytes())
}

fn object(body: &[u8]) -> Result<Map<String, Value>, Problem> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    match canter_names::read_json(body) {
        Ok(Value::Object(body)) => Ok(body),
        Ok(_) => Err(Problem::invalid("parse_exception", "the body is no object")),
        Err(error) => Err(Problem::invalid("parse_exception", error.of("the body"))),
    }
}

/// Shows the aliases of indexes in the answer to `GET /<indexes>`; `None` for an answer to anything else.
pub(crate) fn with_aliases(
    method: &str,
    path: &str,
    answer: &[u8],
    aliases: &Aliases,
) -> Option<Vec<u8>> {
    let target = Target::of(path);
    let is_about_indexes = method == "GET"
        && !target.is_own_api
        && target.does.is_empty()
        && target.names_at.is_some();
    if aliases.is_empty() || !is_about_indexes {
        return None;
    }
    let mut answer: Map<String, Value> = serde_json::from_slice(answer).ok()?;
    for (name, index) in &mut answer {
        let of_index = aliases.iter().filter_map(|(alias, indexes)| {
            let shown = serde_json::to_value(indexes.get(name)?).ok()?;
            Some((alias.clone(), shown))
        });
        let of_index: Map<String, Value> = of_index.collect();
        index
            .as_object_mut()?
            .insert("aliases".to_owned(), of_index.into());
    }
    Some(Value::from(answer).to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use canter_index_builder::Alias;

    use super::*;

    fn request(method: &str, path: &str, query: &str, body: &str) -> HttpRequest {
        HttpRequest {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            body: body.as_bytes().to_vec(),
        }
    }

    fn check(asked: HttpRequest) -> Result<HttpRequest, Problem> {
        let filtered = Alias {
            filter: Some(json!({"term": {"t": 7}})),
            ..Alias::default()
        };
        let mine: BTreeMap<_, _> = [("a".to_owned(), filtered)].into();
        let all = ["a", "b"]
            .map(|name| (name.to_owned(), Alias::default()))
            .into();
        let aliases: Aliases = [("all".to_owned(), all), ("mine".to_owned(), mine)].into();
        resolved(asked, &aliases, || vec!["a".to_owned(), "b".to_owned()])
    }

    #[test]
    fn aliases_are_resolved_wherever_an_index_may_stand() {
        for (path, expected) in [
            ("/all/_search", "/a,b/_search"),
            (
                "/api/v1/_elastic/all/_search",
                "/api/v1/_elastic/a,b/_search",
            ),
            ("/api/v1/all/search", "/api/v1/a,b/search"),
            ("/_cat/indices/all", "/_cat/indices/a,b"),
            ("/mine/_doc/7%2F8", "/a/_doc/7%2F8"),
            ("/_search", "/_search"),
            ("/_mapping", "/_mapping"),
        ] {
            let asked = check(request("GET", path, "", "")).unwrap();
            assert_eq!(asked.path, expected);
        }
        assert!(check(request("GET", "/all/_doc/7", "", "")).is_err());
        assert!(check(request("GET", "/api/v1/mine/search", "", "")).is_err());
    }

    #[test]
    fn filters_of_aliases_apply_to_queries_in_bodies_and_urls() {
        for (query, body) in [
            ("q=x&size=3", ""),
            ("size=3", "{\"query\":{\"match\":{\"m\":\"x\"}}}"),
        ] {
            let asked = check(request("GET", "/mine/_search", query, body)).unwrap();
            assert_eq!((&*asked.path, &*asked.query), ("/a/_search", "size=3"));
            let body: Value = serde_json::from_slice(&asked.body).unwrap();
            let shown = body["query"]["bool"].to_string();
            assert!(
                shown.contains("{\"term\":{\"t\":7}}") && shown.contains("\"x\""),
                "{shown}"
            );
        }
        let body = "{\"index\":\"mine\"}\n{}\n{\"index\":[\"all\"]}\n{\"size\":1}\n";
        let asked = check(request("POST", "/_msearch", "", body)).unwrap();
        let lines: Vec<Value> = String::from_utf8(asked.body)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines[0], json!({"index": "a"}));
        assert!(lines[1]["query"]["bool"]["filter"].is_array());
        assert_eq!(lines[2..], [json!({"index": "a,b"}), json!({"size": 1})]);
    }
}
