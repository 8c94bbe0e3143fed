//! Resources that answer calls: the search API over all indexes.

use std::time::Duration;

use anyhow::Result;
use canter_runtime::fetch::OpenOptions;
use canter_runtime::observe::redact_urls;
use canter_runtime::session::HttpRequest;
use canter_runtime::{Caller, Explanation, HttpAnswer, Limits, Profile, Searcher};
use serde_json::{Map, Value};

use super::args::McpArgs;
use crate::args::InstanceCaps;
use crate::exit::WrongUse;
use crate::open::about_index;

/// Maximum length of an error message in bytes; it may quote a query.
const MAX_MESSAGE_BYTES: usize = 4 << 10;

/// Maximum number of names that a message lists.
const MAX_LISTED: usize = 20;

/// Resources that answer every call.
pub(super) struct App {
    searcher: Searcher,
    caller: Caller,
    /// Names of the indexes, in the order of the command line.
    pub(super) indexes: Vec<String>,
    /// Maximum limits of a call.
    pub(super) limits: Limits,
    pub(super) max_hits: u64,
    pub(super) max_answer_bytes: usize,
}

/// Reason for a failed call, with advice for the model.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failure(String);

impl Failure {
    pub(super) fn new(message: &str) -> Self {
        let mut message = redact_urls(message);
        if message.len() > MAX_MESSAGE_BYTES {
            message.truncate(message.floor_char_boundary(MAX_MESSAGE_BYTES));
            message.push('…');
        }
        Self(message)
    }

    pub(super) fn into_message(self) -> String {
        self.0
    }
}

/// Result of a request, and its cost.
pub(super) struct Reply {
    pub(super) json: Result<Value, Failure>,
    pub(super) profile: Profile,
    pub(super) elapsed: Duration,
}

impl App {
    /// Starts the engine and opens the indexes and the cache. Reads nothing yet.
    pub(super) fn open(args: &McpArgs) -> Result<Self> {
        let engine = args.searcher.start_engine(InstanceCaps::default())?;
        let cache = args.searcher.cache.open()?;
        let builder = Searcher::builder().engine(engine);
        let manifest = args.searcher.cache.manifest();
        let mut builder = args.searcher.apply(builder, manifest, cache.as_ref());
        for (name, uri) in &args.indexes {
            builder = builder
                .index(name, uri, &OpenOptions::default())
                .map_err(about_index(uri))?;
        }
        Ok(Self {
            searcher: builder.build()?,
            caller: Caller {
                indexes: None,
                forced_filter: args.forced_filter.clone(),
            },
            indexes: args.indexes.iter().map(|(name, _)| name.clone()).collect(),
            limits: args.searcher.limits.of_search(),
            max_hits: args.calls.max_hits,
            max_answer_bytes: args.calls.max_answer_bytes,
        })
    }

    /// Returns an error if the forced filter is invalid, to report it before the first call.
    pub(super) async fn check_filter(&self) -> Result<(), WrongUse> {
        if !self.is_filtered() {
            return Ok(());
        }
        let limits = Limits::default();
        let reply = self.ask("GET", "/health/livez".to_owned(), None, &limits);
        match reply.await.json {
            Ok(_) => Ok(()),
            Err(failure) => Err(WrongUse(format!(
                "--forced-filter: {}",
                failure.into_message()
            ))),
        }
    }

    /// Returns whether callers may see only some documents.
    pub(super) fn is_filtered(&self) -> bool {
        self.caller.forced_filter.is_some()
    }

    /// Returns an error that lists the indexes if `name` is not one of them.
    pub(super) fn check_index(&self, name: &str) -> Result<(), Failure> {
        if self.indexes.iter().any(|index| index == name) {
            return Ok(());
        }
        Err(Failure::new(&format!(
            "there is no index {name:?} here; there are {}",
            listed(&self.indexes)
        )))
    }

    /// Sends a request to the search API.
    pub(super) async fn ask(
        &self,
        method: &str,
        path: String,
        body: Option<Map<String, Value>>,
        limits: &Limits,
    ) -> Reply {
        let request = HttpRequest {
            method: method.to_owned(),
            path,
            query: String::new(),
            body: body.map_or_else(Vec::new, |body| {
                Value::Object(body).to_string().into_bytes()
            }),
        };
        let answer = self.searcher.http(request, &self.caller, limits).await;
        let HttpAnswer {
            response,
            profile,
            elapsed,
            ..
        } = answer;
        let json = serde_json::from_slice::<Value>(&response.body);
        let json = match (response.status, json) {
            (200, Ok(json)) => Ok(json),
            (status, json) => {
                let json = json.unwrap_or_default();
                let message = json["message"].as_str();
                Err(match message {
                    Some(message) => Failure::new(message),
                    None => {
                        Failure::new(&format!("the search engine answered with status {status}"))
                    }
                })
            }
        };
        Reply {
            json,
            profile,
            elapsed,
        }
    }

    /// Plans a search of an index.
    pub(super) async fn explain(
        &self,
        index: &str,
        request: Map<String, Value>,
        limits: &Limits,
    ) -> Result<Explanation, Failure> {
        let caller = Caller {
            indexes: Some(vec![index.to_owned()]),
            ..self.caller.clone()
        };
        let request = Value::Object(request);
        let explained = self.searcher.explain(&request, &caller, limits).await;
        explained.map_err(|error| Failure::new(&error.message))
    }

    /// Waits for background work.
    pub(super) async fn settle(&self) {
        self.searcher.settle().await;
    }
}

/// Formats names as `a, b, c and 4 more`.
pub(super) fn listed(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_LISTED).map(String::as_str).collect();
    let shown = shown.join(", ");
    match names.len().saturating_sub(MAX_LISTED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
