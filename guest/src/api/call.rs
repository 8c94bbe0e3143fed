//! Requests to the search API: from a path to a call, and running it.

use canter_names::{MayBeAbsent, listed_names};
use canter_protocol::{Budget, HttpRequest, HttpResponse, Outcome};
use percent_encoding::percent_decode_str;

use super::elastic::{ElasticCall, read_elastic};
use super::http::{error_response, json_response, message_response, to_host, to_http};
use super::indexes::{About, IndexFilter, describe, list, ready};
use super::params::{index_parameters, search_parameters};
use super::settings::ApiSettings;
use crate::SearchError;
use crate::exchange::Exchange;
use crate::request::{AskedIndexes, Question};
use crate::search::run_plan;

/// The call that a request makes.
#[derive(Debug)]
pub(crate) enum Call {
    /// The answer is known already: the request is invalid, or needs no read.
    Answered(HttpResponse),
    /// Searches these indexes.
    Search {
        indexes: AskedIndexes,
        question: Box<Question>,
        budget: Budget,
    },
    /// Lists the indexes with matching names.
    Indexes(IndexFilter),
    /// Describes one index.
    Index {
        index: String,
        about: About,
        is_pretty: bool,
    },
    /// Checks that every index can be read.
    Ready,
    /// A call of Elasticsearch's API.
    Elastic(ElasticCall),
}

/// The existing paths, for the error about an unknown one.
const PATHS: &str = "there are /api/v1/<index>/search, /api/v1/indexes, /api/v1/indexes/<index>, \
                     /api/v1/indexes/<index>/describe, /health/livez and /health/readyz, and of Elasticsearch's API /<index>/_search and others";

/// Parses a request.
///
/// # Errors
/// The request is the host's own and invalid. Other invalid requests are answered.
pub(crate) fn read_call(
    request: &HttpRequest,
    settings: &ApiSettings,
) -> Result<Call, SearchError> {
    if settings.is_of_host {
        let indexes = AskedIndexes::named(settings.indexes.clone());
        return Call::search(request, indexes, settings);
    }
    Ok(Call::read(request, settings)
        .unwrap_or_else(|error| Call::Answered(error_response(&error, false))))
}

impl Call {
    fn read(request: &HttpRequest, settings: &ApiSettings) -> Result<Self, SearchError> {
        let segments = segments_of(&request.path)?;
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let segments = match segments.as_slice() {
            [""] => Vec::new(),
            _ => segments,
        };
        if let Some(call) = read_elastic(request, &segments, settings) {
            return Ok(Self::Elastic(call));
        }
        let allowed: &[&str] = match segments.as_slice() {
            ["api", "v1", "indexes"]
            | ["api", "v1", "indexes", _]
            | ["api", "v1", "indexes", _, "describe"]
            | ["health", "livez" | "readyz"] => &["GET"],
            ["api", "v1", _, "search"] | ["api", "v1", "indexes", _, "search"] => &["GET", "POST"],
            _ => {
                let message = format!("there is nothing at {}; {PATHS}", request.path);
                return Ok(Self::Answered(message_response(404, &message)));
            }
        };
        if !allowed.contains(&request.method.as_str()) {
            return Ok(Self::Answered(wrong_method(request, allowed)));
        }
        Ok(match segments.as_slice() {
            ["health", "livez"] => Self::Answered(json_response(200, "true".to_owned())),
            ["health", _] => Self::Ready,
            ["api", "v1", "indexes"] => Self::Indexes(index_parameters(request, true)?),
            ["api", "v1", "indexes", index] => Self::Index {
                index: known(index, settings)?,
                about: About::Metadata,
                is_pretty: index_parameters(request, false)?.is_pretty,
            },
            ["api", "v1", "indexes", index, "describe"] => Self::Index {
                index: known(index, settings)?,
                about: About::Totals,
                is_pretty: index_parameters(request, false)?.is_pretty,
            },
            [_, _, "indexes", names, "search"] | [_, _, names, ..] => {
                return Self::search(request, all_known(names, settings)?, settings);
            }
            _ => return Err(SearchError::internal("a path that was known is not")),
        })
    }

    /// Parses a search of these indexes.
    fn search(
        request: &HttpRequest,
        indexes: AskedIndexes,
        settings: &ApiSettings,
    ) -> Result<Self, SearchError> {
        let (question, budget) = search_parameters(request, settings)?;
        Ok(Self::Search {
            indexes,
            question: Box::new(question),
            budget,
        })
    }

    /// Returns the budget that the request sets for its host.
    pub(crate) fn budget(&self) -> Budget {
        match self {
            Self::Search { budget, .. } => *budget,
            Self::Elastic(call) => call.budget(),
            _ => Budget::default(),
        }
    }

    /// Runs the call. Ends with a response, or with a plan that is still to be carried out.
    pub(crate) async fn run(
        self,
        settings: ApiSettings,
        max_leaves: u32,
        exchange: Exchange,
    ) -> Result<Outcome, SearchError> {
        Ok(match self {
            Self::Answered(response) => Outcome::Http(response),
            Self::Elastic(call) => call.run(&settings, max_leaves, &exchange).await,
            Self::Ready => to_http(ready(&settings, &exchange).await, &exchange),
            Self::Indexes(filter) => to_http(list(&filter, &settings, &exchange).await, &exchange),
            Self::Index {
                index,
                about,
                is_pretty,
            } => to_http(
                describe(&index, about, is_pretty, &settings, &exchange).await,
                &exchange,
            ),
            Self::Search {
                indexes, question, ..
            } => {
                let end = run_plan(*question, indexes, max_leaves, exchange.clone()).await;
                match settings.is_of_host {
                    true => to_host(end, &exchange)?,
                    false => to_http(end, &exchange),
                }
            }
        })
    }
}

/// Returns the decoded segments of a path. An empty last one (a slash at the end) is dropped.
fn segments_of(path: &str) -> Result<Vec<String>, SearchError> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    path.split('/')
        .map(|segment| {
            let decoded = percent_decode_str(segment).decode_utf8();
            decoded.map(String::from).map_err(|_| {
                SearchError::invalid(format!("the path {path:?} is not UTF-8 when decoded"))
            })
        })
        .collect()
}

fn wrong_method(request: &HttpRequest, allowed: &[&str]) -> HttpResponse {
    let allowed = allowed.join(", ");
    let message = format!(
        "{} takes {allowed}, and not {}",
        request.path, request.method
    );
    let mut response = message_response(405, &message);
    response.headers.push(("allow".to_owned(), allowed));
    response
}

/// Maximum number of names that a message lists.
const MAX_LISTED: usize = 10;

/// Returns the indexes that match a list of names and patterns, in order.
///
/// # Errors
/// If the list names an index that the caller may not search, or matches none.
fn all_known(names: &str, settings: &ApiSettings) -> Result<AskedIndexes, SearchError> {
    match listed_names(names, &settings.indexes, MayBeAbsent::Nothing) {
        Ok(found) if found.is_empty() => Err(no_index(names, settings)),
        Ok(found) => Ok(AskedIndexes::of(found, false, false)),
        Err(part) => Err(no_index(part, settings)),
    }
}

/// Returns the name of the index, if the caller may search it.
fn known(index: &str, settings: &ApiSettings) -> Result<String, SearchError> {
    let names = &settings.indexes;
    if names.iter().any(|name| name == index) {
        return Ok(index.to_owned());
    }
    Err(no_index(index, settings))
}

fn no_index(index: &str, settings: &ApiSettings) -> SearchError {
    let names = &settings.indexes;
    let listed: Vec<&str> = names.iter().take(MAX_LISTED).map(String::as_str).collect();
    let more = match names.len() > MAX_LISTED {
        true => " and more",
        false => "",
    };
    SearchError::new(
        crate::ErrorKind::NotFound,
        match listed.is_empty() {
            true => format!("there is no index {index:?} here"),
            false => format!(
                "there is no index {index:?} here; there are {}{more}",
                listed.join(", ")
            ),
        },
    )
}
