//! `_search/template`, `_msearch/template` and `_render/template` → the requests that they stand for.
//! <https://www.elastic.co/docs/solutions/search/search-templates>

use std::collections::BTreeMap;

use axum::http::StatusCode;
use canter_names::read_json;
use canter_runtime::session::HttpRequest;
use serde_json::{Map, Value, json};

use super::mustache::render;
use crate::requests::{Problem, check_values};

/// What becomes of a request with a template.
pub(crate) enum Written {
    /// A request without one.
    Request(HttpRequest),
    /// The answer itself.
    Answer(Value),
}

/// Stored templates by id, as they were put.
pub(crate) type Stored = BTreeMap<String, Value>;

/// Returns whether a request may name a stored template.
pub(crate) fn may_be_stored(request: &HttpRequest) -> bool {
    let path = request.path.trim_end_matches('/');
    let has_id = || request.body.windows(4).any(|part| part == b"\"id\"");
    path.contains("/_render/template/") || (path.ends_with("/template") && has_id())
}

/// Writes the body of a request with a template; other requests stay as they are.
///
/// # Errors
/// The template, its parameters, or what it writes are invalid, or it is not stored.
pub(crate) fn written(request: HttpRequest, stored: &Stored) -> Result<Written, Problem> {
    let path = request.path.trim_end_matches('/');
    let segments: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let before = path.strip_suffix("/template").map(str::to_owned);
    match (segments.as_slice(), before) {
        ([.., "_search", "template"], Some(before)) => {
            let body = searched(&object_of(&request.body)?, stored)?;
            Ok(Written::Request(HttpRequest {
                method: "POST".to_owned(),
                path: before,
                body: body.to_string().into(),
                ..request
            }))
        }
        ([.., "_msearch", "template"], Some(before)) => {
            let body = many(&request.body, stored)?;
            Ok(Written::Request(HttpRequest {
                method: "POST".to_owned(),
                path: before,
                body,
                ..request
            }))
        }
        ([.., "_render", "template"], _) => {
            let output = searched(&object_of(&request.body)?, stored)?;
            Ok(Written::Answer(json!({"template_output": output})))
        }
        ([.., "_render", "template", id], _) => {
            let mut body = match request.body.is_empty() {
                true => Map::new(),
                false => object_of(&request.body)?,
            };
            body.insert("id".to_owned(), (*id).into());
            Ok(Written::Answer(
                json!({"template_output": searched(&body, stored)?}),
            ))
        }
        _ => Ok(Written::Request(request)),
    }
}

fn object_of(body: &[u8]) -> Result<Map<String, Value>, Problem> {
    check_values(body).map_err(malformed)?;
    match read_json(body) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(malformed("the body must be an object".to_owned())),
        Err(error) => Err(malformed(error.of("the body"))),
    }
}

fn malformed(reason: String) -> Problem {
    Problem::invalid("parsing_exception", reason)
}

fn no_script(id: &str) -> Problem {
    Problem {
        detail: None,
        status: StatusCode::NOT_FOUND,
        kind: "resource_not_found_exception",
        reason: format!("unable to find script [{id}] in cluster state"),
    }
}

/// Returns the search that a template writes.
fn searched(body: &Map<String, Value>, stored: &Stored) -> Result<Value, Problem> {
    let mut source = None;
    let mut params = &Value::Null;
    let mut flags = Map::new();
    for (key, value) in body {
        match (key.as_str(), value) {
            ("source", Value::String(_) | Value::Object(_)) => source = Some(value),
            ("params", value @ (Value::Object(_) | Value::Null)) => params = value,
            ("explain" | "profile", Value::Bool(flag)) => {
                flags.insert(key.clone(), (*flag).into());
            }
            ("id", Value::String(id)) => {
                let script = stored.get(id);
                let script = script.filter(|script| script["script"]["lang"] == "mustache");
                let script = script.ok_or_else(|| no_script(id))?;
                source = Some(&script["script"]["source"]);
            }
            _ => {
                return Err(malformed(format!(
                    "[{key}] is unknown or has a wrong value in a search template: there are source, id, params, explain \
                     and profile"
                )));
            }
        }
    }
    let source = match source {
        Some(Value::String(text)) => text.clone(),
        Some(source) => source.to_string(),
        None => return Err(malformed("template is missing: [source]".to_owned())),
    };
    let text = render(&source, params).map_err(|what| {
        Problem::invalid("general_script_exception", format!("template: {what}"))
    })?;
    check_values(text.as_bytes()).map_err(malformed)?;
    let written = read_json(text.as_bytes());
    let mut written: Value = written
        .map_err(|error| malformed(format!("{}: {text}", error.of("what the template writes"))))?;
    if let (Value::Object(written), false) = (&mut written, flags.is_empty()) {
        written.extend(flags);
    }
    Ok(written)
}

/// Writes the searches of `_msearch/template`: lines of headers and templates in turn.
fn many(body: &[u8], stored: &Stored) -> Result<Vec<u8>, Problem> {
    let mut out = Vec::with_capacity(body.len());
    let lines = body.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !line.trim_ascii().is_empty());
    for (nth, line) in lines.enumerate() {
        match nth % 2 {
            0 => out.extend_from_slice(line),
            _ => out.extend_from_slice(searched(&object_of(line)?, stored)?.to_string().as_bytes()),
        }
        out.push(b'\n');
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str, body: &str) -> Result<Written, Problem> {
        let query = json!({"term": {"a": "{{x}}"}});
        let script = json!({"script": {"lang": "mustache", "source": {"query": query}}});
        let stored = Stored::from([("mine".to_owned(), script)]);
        let request = HttpRequest {
            method: "GET".to_owned(),
            path: path.to_owned(),
            query: "typed_keys".to_owned(),
            body: body.as_bytes().to_vec(),
        };
        let stored = match may_be_stored(&request) {
            true => stored,
            false => Stored::new(),
        };
        written(request, &stored)
    }

    fn request(path: &str, body: &str) -> HttpRequest {
        match of(path, body) {
            Ok(Written::Request(request)) => request,
            Ok(Written::Answer(answer)) => panic!("{answer}"),
            Err(problem) => panic!("{problem:?}"),
        }
    }

    #[test]
    fn a_template_becomes_the_search_that_it_writes() {
        let body = r#"{"source": {"query": {"term": {"a": "{{x}}"}}, "size": "{{n}}"}, "params": {"x": "y\"", "n": 3},
                       "profile": true}"#;
        let search = request("/logs/_search/template", body);
        assert_eq!((&*search.method, &*search.path), ("POST", "/logs/_search"));
        assert_eq!(search.query, "typed_keys");
        let body: Value = serde_json::from_slice(&search.body).unwrap();
        let expect = json!({"query": {"term": {"a": "y\""}}, "size": "3", "profile": true});
        assert_eq!(body, expect);
        let text =
            r#"{"source": "{\"terms\": {{#toJson}}list{{/toJson}} }", "params": {"list": [1, 2]}}"#;
        let Ok(Written::Answer(answer)) = of("/_render/template", text) else {
            panic!("it is answered");
        };
        assert_eq!(answer, json!({"template_output": {"terms": [1, 2]}}));
        let lines = "{\"index\": \"i\"}\n{\"source\": {\"size\": 1}}\n";
        let many = request("/_msearch/template", lines);
        assert_eq!(many.path, "/_msearch");
        assert_eq!(many.body, b"{\"index\": \"i\"}\n{\"size\":1}\n");
        let by_id = request("/_search/template", r#"{"id": "mine", "params": {"x": 5}}"#);
        let body: Value = serde_json::from_slice(&by_id.body).unwrap();
        assert_eq!(body, json!({"query": {"term": {"a": "5"}}}));
        let Ok(Written::Answer(answer)) = of("/_render/template/mine", "") else {
            panic!("it is answered");
        };
        let expect = json!({"query": {"term": {"a": ""}}});
        assert_eq!(answer, json!({ "template_output": expect }));
        let other = request("/logs/_search", "{}");
        assert_eq!((&*other.method, &*other.path), ("GET", "/logs/_search"));
    }

    #[test]
    fn what_is_no_template_is_refused() {
        for body in [
            "",
            "[]",
            "{}",
            r#"{"id": "stored"}"#,
            r#"{"source": "{{#a}}"}"#,
            r#"{"source": "{"}"#,
            r#"{"source": {}, "other": 1}"#,
            r#"{"source": "{{{x}}}", "params": {"x": "no json"}}"#,
        ] {
            assert!(of("/_search/template", body).is_err(), "{body}");
        }
        assert!(of("/_render/template/yours", "{}").is_err());
    }
}
