//! `/openapi.json`: description of the server's API, for generators of clients.
//!
//! The guest implements the paths; this module documents each. A test sends every example to a server, and looks up
//! every request of the conformance test here, so that both have the same paths and parameters.

use canter_access::Right;
use serde_json::{Map, Value, json};

use super::matching::rows;
use super::param::{ELASTIC_PREFIX, Example, JSON, Param};
use super::params::PATH_PARAMS;
use super::reads::{ELASTICSEARCH, OWN, Route};
use super::table::{ApiOf, ChangeRoute, CrossSite};
use super::tools::{TOOLS, VERSION};

/// Returns the description, in version 3.1 of OpenAPI.
pub(crate) fn document() -> Value {
    let mut paths = Map::new();
    let changes_of = |api| {
        let of_api = rows().filter(move |row| row.api == api);
        of_api.filter_map(|row| Some((route_of(row)?, Some(conditions(row)))))
    };
    let reads = |routes: &'static [Route]| routes.iter().map(|route| (route.clone(), None));
    let own = reads(OWN).chain(reads(VERSION));
    for (route, conditions) in own.chain(changes_of(ApiOf::Own)) {
        describe(&mut paths, &route, conditions.as_deref(), "", "Error");
    }
    for prefix in ["", ELASTIC_PREFIX] {
        let of_api = reads(ELASTICSEARCH).chain(reads(TOOLS));
        for (route, conditions) in of_api.chain(changes_of(ApiOf::Elasticsearch)) {
            describe(
                &mut paths,
                &route,
                conditions.as_deref(),
                prefix,
                "ElasticsearchError",
            );
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Canter",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Search over indexes in object storage",
            "description": "Quickwit's search API under `/api/v1`, and Elasticsearch's at the root and under \
                `/api/v1/_elastic`. Answers tell their cost in `Server-Timing` and `x-canter-` headers.",
            "license": {"name": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        // Without required tokens, anything is accepted.
        "security": [{}, {"key": []}, {"bearer": []}, {"basic": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "key": {
                    "type": "apiKey", "in": "header", "name": "Authorization",
                    "description": "`ApiKey` and base64 of `id:secret`, as Elasticsearch has them.",
                },
                "bearer": {
                    "type": "http", "scheme": "bearer",
                    "description": "`id.secret` of an API key, or a JSON Web Token.",
                },
                "basic": {"type": "http", "scheme": "basic", "description": "Id and secret of an API key."},
            },
            "schemas": {
                "Error": {
                    "type": "object", "required": ["message"], "properties": {"message": {"type": "string"}},
                },
                "ElasticsearchError": {
                    "type": "object",
                    "required": ["error"],
                    "properties": {"error": {}, "status": {"type": "integer"}},
                },
            },
        },
    })
}

/// Returns the documentation of a row in the table of changes, if it is useful for clients.
fn route_of(row: &ChangeRoute) -> Option<Route> {
    let doc = row.doc.as_ref()?;
    Some(Route {
        paths: row.paths,
        methods: row.verbs,
        about: doc.about,
        params: doc.params,
        body: doc.body,
        answers: JSON,
    })
}

fn name_of(right: Right) -> &'static str {
    match right {
        Right::Read => "read",
        Right::Write => "write",
        Right::Delete => "delete",
    }
}

/// Returns the conditions under which a row's requests are accepted.
fn conditions(row: &ChangeRoute) -> String {
    let (rights, of_flags) = row.all_rights();
    let rights: Vec<String> = rights
        .iter()
        .map(|right| format!("`{}`", name_of(*right)))
        .collect();
    let mut words = format!("A token needs the right {}", rights.join(" and "));
    for (flag, right) in of_flags {
        let right = name_of(*right);
        words.push_str(&format!(", and with `{flag}` the right `{right}`, too"));
    }
    words.push_str(match row.cross_site {
        CrossSite::Refused => ". Pages of other origins need `--cors-write-origin`. ",
        CrossSite::Answered => ". ",
    });
    words + &row.body.words()
}

/// Adds the paths of a route.
fn describe(
    paths: &mut Map<String, Value>,
    route: &Route,
    conditions: Option<&str>,
    prefix: &str,
    error: &str,
) {
    for path in route.paths {
        let names = path
            .split('/')
            .filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
        let of_path = names.map(|name| {
            json!({
                "name": name, "in": "path", "required": true, "schema": {"type": "string"},
                "description": PATH_PARAMS.iter().find(|(own, _)| *own == name).map(|(_, about)| about),
            })
        });
        let params = route.params.iter().copied().flatten().map(parameter);
        let parameters: Vec<Value> = of_path.chain(params).collect();
        let mut item = Map::new();
        // A `HEAD` is answered like its `GET`, without a body.
        let methods = route.methods.iter().filter(|method| **method != "HEAD");
        for method in methods.map(|method| method.to_ascii_lowercase()) {
            let mut operation = json!({
                "summary": route.about,
                "parameters": parameters,
                "responses": {
                    "200": {
                        "description": "The answer.",
                        "content": {route.answers: {"schema": {}}},
                    },
                    "default": {
                        "description": "What is wrong, and what to do.",
                        "content": {"application/json": {
                            "schema": {"$ref": format!("#/components/schemas/{error}")},
                        }},
                    },
                },
            });
            if let (Some((kind, example)), "post" | "put" | "delete") =
                (route.body, method.as_str())
            {
                let schema = if kind == JSON {
                    json!({"type": "object"})
                } else {
                    json!({"type": "string"})
                };
                let body = json!({"content": {kind: {"schema": schema, "example": example_of(kind, example)}}});
                operation["requestBody"] = body;
            }
            if let Some(conditions) = conditions {
                operation["description"] = conditions.into();
            }
            item.insert(method, operation);
        }
        let path = match (prefix, *path) {
            ("", path) => path.to_owned(),
            (prefix, "/") => prefix.to_owned(),
            (prefix, path) => format!("{prefix}{path}"),
        };
        // Another route may have other methods of the same path.
        match paths.get_mut(&path).and_then(Value::as_object_mut) {
            Some(known) => known.extend(item),
            None => drop(paths.insert(path, item.into())),
        }
    }
}

fn example_of(kind: &str, text: &str) -> Value {
    match kind {
        JSON => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        _ => text.into(),
    }
}

fn parameter(param: &Param) -> Value {
    let (kind, example): (&str, Value) = match param.example {
        Example::Text(text) => ("string", text.into()),
        Example::Number(number) => ("integer", number.into()),
        Example::Flag(flag) => ("boolean", flag.into()),
    };
    json!({
        "name": param.name, "in": "query", "description": param.about,
        "schema": {"type": kind}, "example": example,
    })
}
