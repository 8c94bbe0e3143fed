//! Events of the search function, distinguished and converted to one kind of request.
//!
//! Events of HTTP services are recognized by their `requestContext`, which the clients of these
//! services cannot set. Other events come from callers who have permission to invoke the function.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use canter_runtime::session::HttpRequest;
use form_urlencoded::Serializer;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::leaves::LeafCall;

/// Form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Function URLs and API Gateway's HTTP APIs (payload version 2.0), and direct requests.
    V2,
    /// API Gateway's REST APIs (payload version 1.0).
    V1,
    /// Application load balancers; `is_multi` if headers have lists of values.
    Alb { is_multi: bool },
}

/// Kind of an invocation.
#[derive(Debug)]
pub(crate) enum Event {
    /// HTTP request, or a direct request of the same form.
    Http {
        request: HttpRequest,
        /// Headers with names in lower case.
        headers: BTreeMap<String, String>,
        shape: Shape,
        /// True if it came directly from a caller who may invoke the function.
        is_direct: bool,
    },
    /// Plain search request.
    Search { index: String, request: Value },
    /// Leaf of a search that another instance has divided.
    Leaf(LeafCall),
}

/// Error about an event of another kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnknownEvent(pub(crate) String);

const KNOWN: &str = "this function takes events of function URLs, API Gateway and load balancers, \
                     {\"index\": …, \"request\": {…}} and \
                     {\"method\": …, \"path\": …, \"query\": …, \"body\": …}";

/// Characters that are escaped in a path. The percent sign is not, because only some services
/// decode paths.
const NOT_IN_PATHS: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'?');

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Proxied {
    // Version 2.0.
    raw_path: String,
    raw_query_string: String,
    // Version 1.0 and load balancers.
    http_method: String,
    path: String,
    query_string_parameters: Option<BTreeMap<String, String>>,
    multi_value_query_string_parameters: Option<BTreeMap<String, Vec<String>>>,
    multi_value_headers: Option<BTreeMap<String, Vec<String>>>,
    // All versions.
    headers: Option<BTreeMap<String, String>>,
    body: Option<String>,
    is_base64_encoded: bool,
    request_context: RequestContext,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RequestContext {
    http: Option<Http>,
    stage: String,
    elb: Option<Value>,
}

#[derive(Deserialize)]
struct Http {
    method: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DirectSearch {
    index: String,
    request: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DirectHttp {
    #[serde(default = "get")]
    method: String,
    path: String,
    #[serde(default)]
    query: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// A string, or JSON that is serialized.
    #[serde(default)]
    body: Value,
    #[serde(default, rename = "isBase64Encoded")]
    is_base64_encoded: bool,
}

fn get() -> String {
    "GET".to_owned()
}

impl Event {
    /// Determines the kind of `payload` and parses it.
    pub(crate) fn read(payload: Value) -> Result<Self, UnknownEvent> {
        let wrong = |error: serde_json::Error| UnknownEvent(format!("{error}; {KNOWN}"));
        let has = |key: &str| payload.get(key).is_some();
        if has("requestContext") {
            return serde_json::from_value(payload)
                .map_err(wrong)
                .and_then(proxied);
        }
        if has("index") && has("request") {
            let search: DirectSearch = serde_json::from_value(payload).map_err(wrong)?;
            return Ok(Self::Search {
                index: search.index,
                request: search.request.into(),
            });
        }
        if has("leaf") {
            return serde_json::from_value(payload)
                .map_err(wrong)
                .map(Self::Leaf);
        }
        if has("path") {
            return serde_json::from_value(payload)
                .map_err(wrong)
                .and_then(direct);
        }
        Err(UnknownEvent(format!("what was sent is not known; {KNOWN}")))
    }
}

fn proxied(event: Proxied) -> Result<Event, UnknownEvent> {
    let context = event.request_context;
    let body = decoded(event.body.unwrap_or_default(), event.is_base64_encoded)?;
    let multi_headers = event.multi_value_headers.unwrap_or_default();
    let joined = |values: Vec<String>| values.join(", ");
    let headers = multi_headers
        .iter()
        .map(|(name, values)| (name.clone(), joined(values.clone())))
        .chain(event.headers.unwrap_or_default())
        .map(|(name, value)| (name.to_ascii_lowercase(), value))
        .collect();
    let (shape, method, path, query) = match (context.http, context.elb) {
        (Some(http), _) => {
            let path = without_stage(&event.raw_path, &context.stage);
            (
                Shape::V2,
                http.method,
                path.to_owned(),
                event.raw_query_string,
            )
        }
        (None, elb) => {
            let single = event.query_string_parameters.unwrap_or_default();
            let parameters = match event.multi_value_query_string_parameters {
                Some(multi) => multi
                    .into_iter()
                    .flat_map(|(name, values)| {
                        values.into_iter().map(move |value| (name.clone(), value))
                    })
                    .collect(),
                None => single.into_iter().collect::<Vec<_>>(),
            };
            let (shape, query) = match elb {
                Some(_) => {
                    let is_multi = !multi_headers.is_empty();
                    (Shape::Alb { is_multi }, undecoded_query(&parameters))
                }
                None => (Shape::V1, decoded_query(&parameters)),
            };
            (shape, event.http_method, event.path, query)
        }
    };
    if method.is_empty() {
        let what = "an event of an HTTP service without a method";
        return Err(UnknownEvent(format!("{what}; {KNOWN}")));
    }
    let path = match path.is_empty() {
        true => "/".to_owned(),
        false => utf8_percent_encode(&path, NOT_IN_PATHS).to_string(),
    };
    Ok(Event::Http {
        request: HttpRequest {
            method: method.to_ascii_uppercase(),
            path,
            query,
            body,
        },
        headers,
        shape,
        is_direct: false,
    })
}

/// Removes the stage that API Gateway puts before the path of an HTTP API, unless it is the default
/// one.
fn without_stage<'a>(path: &'a str, stage: &str) -> &'a str {
    let rest = path
        .strip_prefix('/')
        .and_then(|path| path.strip_prefix(stage));
    match rest {
        Some("") if !stage.is_empty() => "/",
        Some(rest) if !stage.is_empty() && rest.starts_with('/') => rest,
        _ => path,
    }
}

/// Encodes the parameters of a REST API, which API Gateway has decoded.
fn decoded_query(parameters: &[(String, String)]) -> String {
    let mut query = Serializer::new(String::new());
    query.extend_pairs(parameters);
    query.finish()
}

/// Joins parameters that a load balancer passes on unchanged.
fn undecoded_query(parameters: &[(String, String)]) -> String {
    let pairs = parameters
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    pairs.collect::<Vec<_>>().join("&")
}

fn direct(event: DirectHttp) -> Result<Event, UnknownEvent> {
    let body = match event.body {
        Value::Null => Vec::new(),
        Value::String(body) => decoded(body, event.is_base64_encoded)?,
        json => json.to_string().into_bytes(),
    };
    let headers = event.headers.into_iter();
    Ok(Event::Http {
        request: HttpRequest {
            method: event.method.to_ascii_uppercase(),
            path: event.path,
            query: event.query,
            body,
        },
        headers: headers
            .map(|(name, value)| (name.to_ascii_lowercase(), value))
            .collect(),
        shape: Shape::V2,
        is_direct: true,
    })
}

fn decoded(body: String, is_base64: bool) -> Result<Vec<u8>, UnknownEvent> {
    if !is_base64 {
        return Ok(body.into_bytes());
    }
    STANDARD
        .decode(body)
        .map_err(|error| UnknownEvent(format!("the body is said to be base64 and is not: {error}")))
}

#[cfg(test)]
mod tests;
