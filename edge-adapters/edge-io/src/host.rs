//! Host that answers requests to the search API one by one.

use std::collections::BTreeMap;

use canter_guest::{ErrorKind, SearchError, Session, http_error};
use canter_protocol::{Demand, HttpRequest, HttpResponse, Outcome, Progress};
use serde_json::json;
use url::Url;
use xxhash_rust::xxh3::xxh3_64;

use crate::portions::Portions;
use crate::search::{Behind, Counts, Search};
use crate::{Cache, Options, Platform};

/// Maximum number of demands of one session. More of them indicate an endless loop in the guest.
const MAX_DEMANDS: usize = 1000;

/// Name of the only index of a host. Its objects have no prefix.
pub(crate) const ONLY_INDEX: &str = "";

/// Location of an index.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    base: Url,
    /// Prefix of its keys in the cache.
    pub(crate) namespace: String,
}

impl Index {
    /// The namespace contains no credentials, because it is written to a cache. A hash of the whole
    /// URL distinguishes stores nevertheless.
    pub(crate) fn new(base: Url) -> Self {
        let mut shown = base.clone();
        shown.set_query(None);
        shown.set_fragment(None);
        // These calls only fail for URLs without a host, which have neither.
        let _ = shown.set_username("");
        let _ = shown.set_password(None);
        let hash = xxh3_64(base.as_str().trim_end_matches('/').as_bytes());
        let shown = shown.as_str().trim_end_matches('/');
        Self {
            namespace: format!("{shown}#{hash:016x}"),
            base,
        }
    }

    /// Returns the URL of an object. It includes the query string of the base, such as a signature.
    pub(crate) fn url_of(&self, object: &str) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(object.split('/'));
        }
        url
    }
}

/// Answer with its costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Response to send unchanged, except for additional headers.
    pub response: HttpResponse,
    /// Error in the response, if the search failed.
    pub error: Option<SearchError>,
    /// Costs of the answer.
    pub counts: Counts,
    /// Microseconds from the call to the answer.
    pub elapsed_us: u64,
    /// True if the caller may see the costs of the answer.
    pub shows_cost: bool,
}

impl Answer {
    /// Returns headers with the costs of the answer. There are none under a forced filter, because
    /// costs depend on documents that the caller must not see.
    pub fn cost_headers(&self) -> Vec<(&'static str, String)> {
        if !self.shows_cost {
            return Vec::new();
        }
        let counts = &self.counts;
        let total_ms = self.elapsed_us as f64 / 1000.0;
        vec![
            ("x-canter-requests", counts.num_requests.to_string()),
            ("x-canter-bytes", counts.num_bytes.to_string()),
            ("x-canter-waves", counts.num_waves.to_string()),
            ("x-canter-cache-hits", counts.num_cache_hits.to_string()),
            ("server-timing", format!("total;dur={total_ms:.3}")),
        ]
    }
}

/// Answers requests to the search API, and searches of its own, one by one.
pub struct Host<P, C> {
    platform: P,
    behind: Behind<C>,
    options: Options,
    indexes: BTreeMap<String, Index>,
}

impl<P: Platform, C: Cache> Host<P, C> {
    /// Creates a host of these indexes: URLs keyed by name.
    pub fn new(platform: P, cache: C, options: Options, indexes: BTreeMap<String, Url>) -> Self {
        let indexes = indexes.into_iter();
        Self {
            platform,
            behind: Behind::new(cache),
            options,
            indexes: indexes
                .map(|(name, base)| (name, Index::new(base)))
                .collect(),
        }
    }

    /// Creates a host of one index, for [`Host::search`].
    pub fn of_one(platform: P, cache: C, options: Options, index: Url) -> Self {
        let one = BTreeMap::from([(ONLY_INDEX.to_owned(), index)]);
        Self::new(platform, cache, options, one)
    }

    /// Searches all indexes, or the only one. Request and answer are JSON objects.
    ///
    /// # Errors
    /// The search failed.
    pub fn search(&mut self, request: &str) -> Result<String, SearchError> {
        let started_us = self.platform.now_us();
        let request = HttpRequest {
            body: request.as_bytes().to_vec(),
            ..HttpRequest::default()
        };
        let session = Session::http(&request, &self.settings(true), 1)?;
        let response = self.drive(session, started_us, &mut Counts::default())?;
        String::from_utf8(response.body).map_err(|_| internal("the guest's answer is not UTF-8"))
    }

    /// Answers a request, also if it fails. [`Host::settle`] writes to the cache afterwards.
    pub fn answer(&mut self, request: &HttpRequest) -> Answer {
        let started_us = self.platform.now_us();
        let mut counts = Counts::default();
        let session = Session::http(request, &self.settings(false), 1);
        let result = session.and_then(|session| self.drive(session, started_us, &mut counts));
        let elapsed_us = self.platform.now_us().saturating_sub(started_us);
        let (response, error) = match result {
            Ok(response) => (response, None),
            Err(error) => (http_error(&request.path, &error), Some(error)),
        };
        Answer {
            response,
            error,
            counts,
            elapsed_us,
            shows_cost: self.options.forced_filter.is_none(),
        }
    }

    /// Writes the data that previous answers have read to the cache. Must be called after an answer
    /// was sent, so that clients do not wait for it.
    pub fn settle(&mut self) {
        self.behind.settle();
    }

    /// Returns the cache.
    pub fn cache(&self) -> &C {
        &self.behind.cache
    }

    /// Returns the platform.
    pub fn platform(&self) -> &P {
        &self.platform
    }

    /// Returns the platform as a mutable reference.
    pub fn platform_mut(&mut self) -> &mut P {
        &mut self.platform
    }

    /// Drives a session to its end.
    fn drive(
        &mut self,
        mut session: Session,
        started_us: u64,
        counts: &mut Counts,
    ) -> Result<HttpResponse, SearchError> {
        let budget = self.options.budget.lowered_to(session.budget());
        let mut search = Search::new(
            &mut self.platform,
            &mut self.behind,
            &self.options,
            &self.indexes,
            budget,
            started_us,
        );
        let mut portions = Portions::default();
        let mut asked = Demand::default();
        // An empty demand asks for the next report. A second one in a row would never end.
        let mut was_empty = false;
        for _ in 0..MAX_DEMANDS {
            loop {
                let supplies = portions.next(&mut search);
                let progress = session.step(supplies, search.report());
                *counts = search.counts;
                // Demands that the guest makes before it has received all supplies are answered
                // together.
                match progress? {
                    Progress::Done(Outcome::Http(response)) => return Ok(response),
                    Progress::Done(_) => return Err(internal("the guest's answer is no response")),
                    Progress::Pending(demand) => asked.extend(demand),
                }
                if portions.is_empty() {
                    break;
                }
            }
            let is_empty = asked.is_empty();
            if is_empty && std::mem::replace(&mut was_empty, true) {
                return Err(internal("the guest waits but asks for nothing"));
            }
            was_empty = is_empty;
            portions = Portions::of(std::mem::take(&mut asked), &mut search);
        }
        Err(SearchError::new(
            ErrorKind::Limit,
            format!("the guest still asks for bytes after {MAX_DEMANDS} demands; narrow the query"),
        ))
    }

    fn settings(&self, is_of_host: bool) -> String {
        let names = self.indexes.keys().filter(|name| *name != ONLY_INDEX);
        json!({
            "indexes": names.collect::<Vec<_>>(),
            "is_of_host": is_of_host,
            "forced_filter": self.options.forced_filter,
            "limits": self.options.guest_limits,
            "keeps_partial_results": self.behind.cache.keeps(),
            "now_ms": self.platform.unix_ms(),
        })
        .to_string()
    }
}

fn internal(message: &str) -> SearchError {
    SearchError::new(ErrorKind::Internal, message)
}
