//! The search API: carries requests over HTTP to the guest, which implements the API, and responses back.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{SearchEnd, Searcher};
use crate::observe::{Answered, observe_query};
use crate::session::{HttpRequest, HttpResponse, SessionRequest};
use crate::{Api, ErrorKind, Limits, Profile, SearchError};

/// Permissions of a caller. The host identifies the caller; the default may search everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// The names of the indexes that may be searched; all open ones if absent.
    pub indexes: Option<Vec<String>>,
    /// A query that every hit must match; each of its terms names its field.
    pub forced_filter: Option<String>,
}

/// An answer over HTTP.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpAnswer {
    /// The response, whether the request succeeded or not.
    pub response: HttpResponse,
    /// The I/O of the search; empty if it failed.
    pub profile: Profile,
    /// Time from the call to the answer.
    pub elapsed: Duration,
    /// True if the caller may know the cost of the search.
    shows_cost: bool,
    outcome: &'static str,
}

impl HttpAnswer {
    /// Returns headers with the cost of the answer; none for a caller with a forced filter, because the amount of
    /// reading depends on documents that the caller may not see.
    pub fn cost_headers(&self) -> Vec<(&'static str, String)> {
        if !self.shows_cost {
            return Vec::new();
        }
        let profile = &self.profile;
        vec![
            (
                "server-timing",
                profile.server_timing(self.elapsed).to_string(),
            ),
            ("x-canter-requests", profile.num_requests.to_string()),
            ("x-canter-bytes", profile.num_bytes.to_string()),
            ("x-canter-waves", profile.num_waves.to_string()),
            (
                "x-canter-cache-hits",
                profile.num_cache_hits.total().to_string(),
            ),
        ]
    }
}

impl Answered for HttpAnswer {
    fn outcome(&self) -> &'static str {
        self.outcome
    }

    fn profile(&self) -> &Profile {
        &self.profile
    }
}

impl Searcher {
    /// Answers one request to the search API. Every failure is an answer too.
    ///
    /// The searcher opens its indexes by name ([`crate::SearcherBuilder::index`]). The request may
    /// lower `limits`. Otherwise as [`Searcher::search`].
    pub async fn http(&self, request: HttpRequest, caller: &Caller, limits: &Limits) -> HttpAnswer {
        let started = self.shared.clock.now();
        let api = Api::of(&request.path);
        // The host's deadline, until the request is parsed, which may set an earlier one.
        let deadline_ms = AtomicU64::new(limits.budget.deadline_ms.unwrap_or(u64::MAX));
        let answer = observe_query(
            &self.shared,
            "http",
            self.answer_http(request, caller, limits, &deadline_ms),
        );
        let result = answer.await;
        let elapsed = self.shared.clock.now().saturating_sub(started);
        result.unwrap_or_else(|error| {
            let deadline_ms = deadline_ms.load(Ordering::Relaxed);
            let is_late = elapsed.as_millis() >= u128::from(deadline_ms);
            HttpAnswer {
                response: HttpResponse::refusal(api, status_of(&error, is_late), &error.message),
                profile: Profile::default(),
                elapsed,
                shows_cost: caller.forced_filter.is_none(),
                outcome: error.kind.as_str(),
            }
        })
    }

    async fn answer_http(
        &self,
        request: HttpRequest,
        caller: &Caller,
        limits: &Limits,
        deadline_ms: &AtomicU64,
    ) -> Result<HttpAnswer, SearchError> {
        let started = self.shared.clock.now();
        let session = SessionRequest::Http {
            request,
            settings: Value::Object(self.settings_of(caller, limits)).to_string(),
            max_leaves: self.max_leaves(),
        };
        let search = self.open(session, limits, &self.shared, false).await?;
        deadline_ms.store(search.deadline_ms, Ordering::Relaxed);
        let (end, profile, driver) = self.run(search).await?;
        let SearchEnd::Answered(response) = end else {
            return Err(super::unexpected("HTTP"));
        };
        let gate = &driver.io.gate;
        let outcome = match response.status {
            200..300 if gate.is_timed_out() => "timed_out",
            200..300 if gate.exhausted().is_some() => "budget_exhausted",
            200..300 => "ok",
            400..500 => ErrorKind::Invalid.as_str(),
            504 => ErrorKind::Limit.as_str(),
            503 => ErrorKind::Unavailable.as_str(),
            _ => ErrorKind::Data.as_str(),
        };
        Ok(HttpAnswer {
            response,
            profile,
            elapsed: self.shared.clock.now().saturating_sub(started),
            shows_cost: caller.forced_filter.is_none(),
            outcome,
        })
    }

    /// Returns the session of a search that this host itself makes. Its request may have keys that the
    /// API does not have.
    pub(super) fn own_session(
        &self,
        request: &Value,
        caller: &Caller,
        limits: &Limits,
        max_leaves: u32,
    ) -> SessionRequest {
        let mut settings = self.settings_of(caller, limits);
        settings.insert("is_of_host".to_owned(), true.into());
        SessionRequest::Http {
            request: HttpRequest {
                body: request.to_string().into_bytes(),
                ..HttpRequest::default()
            },
            settings: Value::Object(settings).to_string(),
            max_leaves,
        }
    }

    /// Returns the guest's settings.
    fn settings_of(&self, caller: &Caller, limits: &Limits) -> Map<String, Value> {
        let mut indexes = self.index_names();
        if let Some(allowed) = &caller.indexes {
            indexes.retain(|name| allowed.contains(name));
        }
        let mut settings = Map::new();
        settings.insert("indexes".to_owned(), json!(indexes));
        if let Some(filter) = &caller.forced_filter {
            settings.insert("forced_filter".to_owned(), json!(filter));
        }
        settings.insert("limits".to_owned(), limits.guest.clone().into());
        let keeps = self.settings.keeps_partial_results;
        settings.insert("keeps_partial_results".to_owned(), keeps.into());
        settings.insert("now_ms".to_owned(), self.shared.unix_ms().into());
        settings
    }
}

/// Returns the status of a failure that ended a search from outside the guest. `is_late` is true if the search's time
/// was up.
fn status_of(error: &SearchError, is_late: bool) -> u16 {
    match error.kind {
        ErrorKind::Limit if is_late => 504,
        ErrorKind::Invalid | ErrorKind::Limit => 400,
        ErrorKind::NotFound => 404,
        ErrorKind::Unavailable => 503,
        ErrorKind::Data | ErrorKind::Internal => 500,
    }
}
