//! Search function: one searcher for the life of the process, and an answer to each event.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use canter_runtime::cache::{DiskCache, MemoryCache, TieredCache};
use canter_runtime::engine::NativeEngine;
use canter_runtime::fetch::OpenOptions;
use canter_runtime::session::{HttpRequest, HttpResponse};
use canter_runtime::{
    Api, Caller, Engine, HttpAnswer, InvalidMediaType, Limits, MediaTypes, RangeCache, SearchError,
    Searcher,
};
use futures_util::FutureExt;
use lambda_runtime::{Context, Diagnostic, LambdaEvent};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tracing::{error, info};

use super::access::Gate;
use super::answer::{MAX_PAYLOAD_BYTES, shaped};
use super::body::decoded;
use super::config::SearchConfig;
use super::cors::{Cors, preflight_headers};
use super::event::{Event, UnknownEvent};
use super::leaves::InvokedLeaves;
use super::page;
use crate::Served;
use crate::env::{ConfigError, Environment};
use crate::invoke::Invoker;

/// Path of the liveness check, which load balancers request without a token. It reveals nothing
/// about the indexes.
const HEALTH_PATH: &str = "/health/livez";

/// Answer after a panic; the log has more details.
const BROKE_OFF: &str = "the search broke off; please report the query (the log says more)";

/// Number of checks, and the pause between them, whether an abandoned guest has ended.
const NUM_LOOKS: usize = 25;
const PAUSE_BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Answers searches. Created once when an instance of the function starts.
pub struct SearchFunction {
    searcher: Searcher,
    limits: Limits,
    deadline_margin_ms: u64,
    gate: Gate,
    cors: Cors,
    /// Names of the indexes.
    indexes: Vec<String>,
    /// Number of events in progress.
    num_underway: AtomicUsize,
}

impl Served for SearchFunction {
    /// Returns whether an abandoned guest is still running. A search at its deadline abandons its
    /// guest, which normally ends as soon as it notices. Otherwise it would take processor time
    /// from all later searches.
    async fn is_stuck(&self) -> bool {
        for _ in 0..NUM_LOOKS {
            let is_idle = self.num_underway.load(Ordering::Relaxed) == 0;
            if !is_idle || self.searcher.num_instances() == 0 {
                return false;
            }
            tokio::time::sleep(PAUSE_BETWEEN_LOOKS).await;
        }
        true
    }
}

/// Event in progress.
struct Underway<'a>(&'a AtomicUsize);

impl<'a> Underway<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Underway<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SearchFunction {
    /// Creates the function from the environment, without access to the indexes yet.
    ///
    /// # Errors
    /// A setting is missing or invalid.
    pub fn new(env: &Environment) -> Result<Self, ConfigError> {
        Self::with_engine(env, Arc::new(NativeEngine::new()))
    }

    fn with_engine(env: &Environment, engine: Arc<dyn Engine>) -> Result<Self, ConfigError> {
        let config = SearchConfig::from_env(env)?;
        let unusable = |error: SearchError| ConfigError(error.message);
        let mut builder = Searcher::builder().engine(engine).manifest(config.manifest);
        for (name, uri) in &config.indexes {
            let options = OpenOptions::default();
            builder = builder.index(name, uri, &options).map_err(|error| {
                ConfigError(format!(
                    "the index {name:?} cannot be used: {}",
                    error.message
                ))
            })?;
        }
        if let Some(cache) = cache_of(&config).map_err(unusable)? {
            builder = builder.cache(cache);
        }
        if let Some((function, max_leaves)) = &config.leaves {
            let invoker = Invoker::from_env(env, function)?;
            builder = builder.leaves(Arc::new(InvokedLeaves { invoker }), *max_leaves);
        }
        Ok(Self {
            searcher: builder.build().map_err(unusable)?,
            limits: config.limits,
            deadline_margin_ms: config.deadline_margin_ms,
            gate: config.gate,
            cors: config.cors,
            indexes: config.indexes.into_iter().map(|(name, _)| name).collect(),
            num_underway: AtomicUsize::new(0),
        })
    }

    /// Answers one event.
    ///
    /// # Errors
    /// The event is of an unknown kind, or a direct search failed. Every HTTP request gets an
    /// answer.
    pub async fn handle(&self, event: LambdaEvent<Value>) -> Result<Value, Diagnostic> {
        let _underway = Underway::begin(&self.num_underway);
        let LambdaEvent { payload, context } = event;
        let limits = self.limits_within(&context);
        let event = Event::read(payload)
            .map_err(|UnknownEvent(message)| diagnostic("UnknownEvent", message))?;
        match event {
            Event::Leaf(leaf) => {
                let answer = unbroken(leaf.run(&self.searcher, &limits)).await;
                let answer = answer.ok_or_else(|| diagnostic("Internal", BROKE_OFF.to_owned()))?;
                answer.map_err(|error| diagnostic("Leaf", error.message))
            }
            Event::Search { index, request } => self.search(&index, &request, &limits).await,
            Event::Http {
                request,
                headers,
                shape,
                is_direct,
            } => {
                let api = Api::of(&request.path);
                let response = self.respond(request, &headers, is_direct, &limits).await;
                Ok(shaped(response, shape, api))
            }
        }
    }

    /// Returns the limits of a search that must end before Lambda ends the invocation.
    fn limits_within(&self, context: &Context) -> Limits {
        let left = context.deadline().duration_since(SystemTime::now());
        let left_ms = left.map_or(0, |left| {
            u64::try_from(left.as_millis()).unwrap_or(u64::MAX)
        });
        let left_ms = left_ms.saturating_sub(self.deadline_margin_ms).max(1);
        let mut limits = self.limits.clone();
        let max_ms = limits.budget.deadline_ms.unwrap_or(u64::MAX);
        limits.budget.deadline_ms = Some(max_ms.min(left_ms));
        limits
    }

    async fn respond(
        &self,
        request: HttpRequest,
        headers: &BTreeMap<String, String>,
        is_direct: bool,
        limits: &Limits,
    ) -> HttpResponse {
        let mut response = if self.cors.is_preflight(&request.method, headers) {
            HttpResponse {
                status: 204,
                headers: preflight_headers(),
                body: Vec::new(),
            }
        } else if let Some(page) = page::answer(&request, headers) {
            page
        } else {
            self.respond_in_form(request, headers, is_direct, limits)
                .await
        };
        response.headers.extend(self.cors.headers(headers));
        response
    }

    /// Returns the answer of the API in the media type that the headers request.
    async fn respond_in_form(
        &self,
        request: HttpRequest,
        headers: &BTreeMap<String, String>,
        is_direct: bool,
        limits: &Limits,
    ) -> HttpResponse {
        let text = |name: &str| headers.get(name).map(String::as_str);
        let media = MediaTypes::read(&request.path, text("accept"), text("content-type"));
        let media = match media {
            Ok(media) => media,
            Err(invalid) => return refused(&invalid),
        };
        let request = HttpRequest {
            query: media.query(&request.path, &request.query).into_owned(),
            ..request
        };
        let mut response = self.admit(request, headers, is_direct, limits).await;
        media.add_to(&mut response.headers);
        response
    }

    /// Returns the answer if the caller may search, or a refusal.
    async fn admit(
        &self,
        request: HttpRequest,
        headers: &BTreeMap<String, String>,
        is_direct: bool,
        limits: &Limits,
    ) -> HttpResponse {
        // Whoever may invoke the function has full access.
        let is_open = is_direct || request.path == HEALTH_PATH;
        let caller = match is_open {
            true => Ok(Caller::default()),
            false => self.gate.caller(headers, &self.indexes).await,
        };
        let caller = match caller {
            Ok(caller) => caller,
            Err(shut) => return shut.response(&request.path, headers),
        };
        let api = Api::of(&request.path);
        let encoding = headers.get("content-encoding").map(String::as_str);
        match decoded(request.body, encoding) {
            Ok(body) => {
                let request = HttpRequest { body, ..request };
                self.ask(request, &caller, limits).await
            }
            Err(unread) => HttpResponse::refusal(api, unread.status, &unread.message),
        }
    }

    /// Runs a direct search. Returns its answer, or an error that fails the invocation.
    async fn search(
        &self,
        index: &str,
        request: &Value,
        limits: &Limits,
    ) -> Result<Value, Diagnostic> {
        let index = utf8_percent_encode(index, NON_ALPHANUMERIC);
        let request = HttpRequest {
            method: "POST".to_owned(),
            path: format!("/api/v1/{index}/search"),
            query: String::new(),
            body: request.to_string().into_bytes(),
        };
        let response = self.ask(request, &Caller::default(), limits).await;
        let len = response.body.len();
        if len > MAX_PAYLOAD_BYTES {
            let what = format!("the answer takes {len} bytes, and Lambda carries");
            let what = format!("{what} {MAX_PAYLOAD_BYTES}; ask for fewer hits");
            return Err(diagnostic("Limit", what));
        }
        let answer: Value = serde_json::from_slice(&response.body)
            .map_err(|error| diagnostic("Internal", format!("the answer is not JSON: {error}")))?;
        let kind = match response.status {
            200..300 => return Ok(answer),
            404 => "NotFound",
            400..500 => "Invalid",
            503 => "Unavailable",
            504 => "Timeout",
            _ => "Failed",
        };
        let message = answer["message"].as_str().unwrap_or("the search failed");
        Err(diagnostic(kind, message.to_owned()))
    }

    /// Passes the request to the searcher, and adds the costs to the answer.
    async fn ask(&self, request: HttpRequest, caller: &Caller, limits: &Limits) -> HttpResponse {
        let method = request.method.clone();
        let api = Api::of(&request.path);
        let answer = unbroken(self.searcher.http(request, caller, limits)).await;
        let Some(answer) = answer else {
            return HttpResponse::refusal(api, 500, BROKE_OFF);
        };
        let cost = answer.cost_headers();
        let HttpAnswer {
            mut response,
            profile,
            elapsed,
            ..
        } = answer;
        // The log contains neither queries nor hits.
        info!(
            target: "canter::lambda",
            method,
            status = response.status,
            elapsed_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX),
            requests = profile.num_requests,
            bytes = profile.num_bytes,
            waves = profile.num_waves,
            "answered"
        );
        let cost = cost.into_iter();
        let cost = cost.map(|(name, value)| (name.to_owned(), value));
        response.headers.extend(cost);
        response
    }
}

/// Returns the answer to a request for an unsupported media type.
fn refused(invalid: &InvalidMediaType) -> HttpResponse {
    let api = Api::Elasticsearch;
    let error = api.error(400, InvalidMediaType::KIND, &invalid.to_string());
    HttpResponse {
        body: error.to_string().into_bytes(),
        ..HttpResponse::refusal(api, 400, "")
    }
}

/// Returns the result of `work`, or `None` if it panicked. The panic hook of the process has logged
/// the message, which callers do not see.
async fn unbroken<T>(work: impl Future<Output = T>) -> Option<T> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    if done.is_err() {
        error!(target: "canter::lambda", "a search panicked in the host");
    }
    done.ok()
}

/// Creates the cache: memory over `/tmp`, one of them, or none.
fn cache_of(config: &SearchConfig) -> Result<Option<Arc<dyn RangeCache>>, SearchError> {
    let memory = match &config.memory_cache {
        Some(options) => Some(Arc::new(MemoryCache::with_options(options)?)),
        None => None,
    };
    let disk = match &config.disk_cache {
        Some((folder, options)) => Some(Arc::new(DiskCache::open(folder, options)?)),
        None => None,
    };
    Ok(match (memory, disk) {
        (Some(memory), Some(disk)) => Some(Arc::new(TieredCache::new(memory, disk))),
        (Some(memory), None) => Some(memory),
        (None, Some(disk)) => Some(disk),
        (None, None) => None,
    })
}

fn diagnostic(kind: &str, message: String) -> Diagnostic {
    Diagnostic {
        error_type: format!("Canter.{kind}"),
        error_message: message,
    }
}

#[cfg(test)]
mod tests;
