//! Requests of a wave: sent concurrently up to a limit, retried, redirected, and cancelled when the
//! time is up.

use std::collections::VecDeque;
use std::convert::Infallible;

use bytes::Bytes;
use canter_protocol::FetchErrorKind;
use canter_stores::{AskedRange, MAX_REDIRECTS, check_object_name};
use canter_waves::{Fetch, FetchError, Sent, asked_of};
use url::Url;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::search::Search;
use crate::{Cache, Call, Landed, Outcome, Platform};

/// Pause before the first retry. It doubles with each retry.
const FIRST_BACKOFF_US: u64 = 50_000;
/// Maximum pause.
const MAX_BACKOFF_US: u64 = 2_000_000;

/// Result of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fetched {
    pub(crate) bytes: Bytes,
    pub(crate) etag: Option<String>,
    pub(crate) object_len: Option<u64>,
    /// True if the known version is still current; then there are no bytes.
    pub(crate) is_unchanged: bool,
}

/// Finished fetch.
pub(crate) struct Ended {
    pub(crate) fetch: Fetch<Infallible>,
    pub(crate) result: Result<Fetched, FetchError>,
    /// The request, if one was sent.
    pub(crate) sent: Option<Sent>,
}

/// Fetch with its retries.
struct Job {
    /// Id of its last call.
    id: u64,
    fetch: Fetch<Infallible>,
    /// When its first call was sent, in microseconds since the search began.
    sent_us: Option<u64>,
    not_before_us: u64,
    num_retries: u32,
    num_redirects: usize,
    moved_to: Option<Url>,
}

impl Job {
    fn object(&self) -> &str {
        &self.fetch.request.object
    }

    fn range(&self) -> Option<AskedRange> {
        asked_of(&self.fetch.request.bytes)
    }

    fn known_etag(&self) -> Option<String> {
        let kept = self.fetch.kept.as_ref()?;
        (!kept.etag.is_empty()).then(|| kept.etag.clone())
    }

    fn failed(&self, kind: FetchErrorKind, what: &str) -> FetchError {
        FetchError::new(kind, self.object(), self.range(), what)
    }

    fn ended(self, result: Result<Fetched, FetchError>, now_us: u64) -> Ended {
        let num_bytes = result.as_ref().map_or(0, |fetched| fetched.bytes.len());
        let sent = self.sent_us.map(|start_us| Sent {
            start_us,
            end_us: now_us,
            num_bytes: num_bytes as u64,
            num_retries: self.num_retries,
            hedged_us: None,
        });
        Ended {
            fetch: self.fetch,
            result,
            sent,
        }
    }
}

/// Fetches of a round.
struct Round<F> {
    waiting: VecDeque<Job>,
    underway: Vec<Job>,
    flights: Vec<F>,
    ended: Vec<Ended>,
}

impl<P: Platform, C: Cache> Search<'_, P, C> {
    /// Sends requests for `fetches`, and waits until all have finished or the time is up. Returns those that have finished,
    /// and whether others were given up.
    pub(crate) fn fly(
        &mut self,
        fetches: Vec<Fetch<Infallible>>,
        until_us: Option<u64>,
    ) -> (Vec<Ended>, bool) {
        let job = |fetch| Job {
            id: 0,
            fetch,
            sent_us: None,
            not_before_us: 0,
            num_retries: 0,
            num_redirects: 0,
            moved_to: None,
        };
        let mut round = Round {
            waiting: fetches.into_iter().map(job).collect(),
            underway: Vec::new(),
            flights: Vec::new(),
            ended: Vec::new(),
        };
        loop {
            let now = self.platform.now_us();
            if until_us.is_some_and(|until| now >= until) {
                let is_late = !(round.waiting.is_empty() && round.underway.is_empty());
                return (round.ended, is_late);
            }
            self.launch(&mut round, now);
            if round.flights.is_empty() && round.waiting.is_empty() {
                return (round.ended, false);
            }
            let has_room = round.flights.len() < self.max_flights();
            let next = round.waiting.iter().filter(|_| has_room);
            let next = next.map(|job| job.not_before_us).min();
            let wake = [until_us, next].into_iter().flatten().min();
            if let Some(landed) = self.platform.wait(&mut round.flights, wake) {
                self.land(&mut round, landed);
            }
        }
    }

    fn max_flights(&self) -> usize {
        self.options.max_concurrent_requests.max(1)
    }

    /// Sends all requests that are due, up to the limit.
    fn launch(&mut self, round: &mut Round<P::Flight>, now: u64) {
        while round.flights.len() < self.max_flights() {
            let is_due = |job: &Job| job.not_before_us <= now;
            let Some(job) = round.waiting.iter().position(is_due) else {
                return;
            };
            let Some(mut job) = round.waiting.remove(job) else {
                return;
            };
            let range = job.range();
            let elapsed_us = self.elapsed_us();
            if let Err(what) = check_object_name(self.name_in_index(job.object())) {
                let error = job.failed(FetchErrorKind::Denied, what);
                round.ended.push(job.ended(Err(error), elapsed_us));
                continue;
            }
            let url = job.moved_to.clone().or_else(|| self.url_of(job.object()));
            let Some(url) = url else {
                let error = job.failed(FetchErrorKind::NotFound, "no such index");
                round.ended.push(job.ended(Err(error), elapsed_us));
                continue;
            };
            if let Err(what) = self.gate.admit(range.and_then(|range| range.len)) {
                let error = job.failed(FetchErrorKind::Budget, &what);
                round.ended.push(job.ended(Err(error), elapsed_us));
                continue;
            }
            self.counts.num_requests = self.gate.num_requests();
            self.last_id += 1;
            job.id = self.last_id;
            job.sent_us.get_or_insert(elapsed_us);
            let call = Call {
                id: job.id,
                url,
                object: job.object().to_owned(),
                range,
                known_etag: job.known_etag(),
                max_bytes: self.options.max_whole_object_bytes,
            };
            round.underway.push(job);
            match self.platform.send(call) {
                Ok(flight) => round.flights.push(flight),
                Err(landed) => self.land(round, landed),
            }
        }
    }

    /// Processes the result of a call.
    fn land(&mut self, round: &mut Round<P::Flight>, landed: Landed) {
        let Some(ord) = round.underway.iter().position(|job| job.id == landed.id) else {
            return;
        };
        let mut job = round.underway.swap_remove(ord);
        let result = match landed.outcome {
            Outcome::Bytes {
                bytes,
                etag,
                object_len,
            } => {
                if job.range().is_none_or(|range| range.len.is_none()) {
                    self.gate.count_open_ended(bytes.len() as u64);
                }
                Ok(Fetched {
                    bytes,
                    etag,
                    object_len,
                    is_unchanged: false,
                })
            }
            Outcome::Unchanged => Ok(Fetched {
                is_unchanged: true,
                ..Fetched::default()
            }),
            Outcome::Moved { to, fault } => {
                if job.num_redirects < MAX_REDIRECTS {
                    job.num_redirects += 1;
                    job.moved_to = Some(*to);
                    round.waiting.push_front(job);
                    return;
                }
                let (object, range) = (job.object(), job.range());
                Err(FetchError::misbehaved(object, range, &fault))
            }
            Outcome::Failed(error) => {
                let may_repeat = error.is_transient
                    && job.num_retries < self.options.max_retries
                    && self.num_retries < self.options.max_retries_in_all;
                if may_repeat {
                    self.num_retries += 1;
                    job.not_before_us = self.platform.now_us() + self.backoff_us(&job);
                    job.num_retries += 1;
                    job.moved_to = None;
                    round.waiting.push_back(job);
                    return;
                }
                Err(error)
            }
        };
        round.ended.push(job.ended(result, self.elapsed_us()));
    }

    /// Returns a pause between half of the step and the whole step. The jitter is derived from the
    /// read, so that reads that failed together are not retried together.
    fn backoff_us(&self, job: &Job) -> u64 {
        if !self.platform.can_pause() {
            return 0;
        }
        let step = (FIRST_BACKOFF_US << job.num_retries.min(16)).min(MAX_BACKOFF_US);
        let first = job.range().map_or(0, |range| range.first);
        let seed = first.rotate_left(17) ^ u64::from(job.num_retries);
        let jitter = xxh3_64_with_seed(job.object().as_bytes(), seed) % 1024;
        step / 2 + step * jitter / 2048
    }
}
