//! Requests of a wave: sent concurrently up to a limit, retried, redirected, and cancelled when the
//! time is up.

use std::collections::VecDeque;

use bytes::Bytes;
use canter_protocol::FetchErrorKind;
use canter_stores::cache::KeptManifest;
use canter_stores::ranges::planning::Request;
use canter_stores::{AskedRange, MAX_REDIRECTS, check_object_name};
use url::Url;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::gate::TIME_IS_UP;
use crate::reads::asked_of;
use crate::search::Search;
use crate::{Cache, Call, FetchError, Landed, Outcome, Platform};

/// Pause before the first retry. It doubles with each retry.
const FIRST_BACKOFF_US: u64 = 50_000;
/// Maximum pause.
const MAX_BACKOFF_US: u64 = 2_000_000;

/// Target of a request.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// Range of an immutable object.
    Range(Request),
    /// Manifest, or a check whether the known version is still current.
    Manifest {
        read_ord: usize,
        object: String,
        kept: Option<KeptManifest>,
    },
}

impl Target {
    pub(crate) fn object(&self) -> &str {
        match self {
            Target::Range(request) => &request.object,
            Target::Manifest { object, .. } => object,
        }
    }

    pub(crate) fn range(&self) -> Option<AskedRange> {
        match self {
            Target::Range(request) => asked_of(&request.bytes),
            Target::Manifest { .. } => None,
        }
    }

    fn known_etag(&self) -> Option<String> {
        match self {
            Target::Manifest {
                kept: Some(kept), ..
            } if !kept.etag.is_empty() => Some(kept.etag.clone()),
            _ => None,
        }
    }

    fn failed(&self, kind: FetchErrorKind, what: &str) -> FetchError {
        FetchError::new(kind, self.object(), self.range(), what)
    }
}

/// Result of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fetched {
    pub(crate) bytes: Bytes,
    pub(crate) etag: Option<String>,
    pub(crate) object_len: Option<u64>,
    /// Whether the known version is still current; then there are no bytes.
    pub(crate) is_unchanged: bool,
}

/// Finished request.
pub(crate) type Ended = (Target, Result<Fetched, FetchError>);

/// Request with its retries.
struct Job {
    /// Id of its last call.
    id: u64,
    target: Target,
    not_before_us: u64,
    num_retries: u32,
    num_redirects: usize,
    moved_to: Option<Url>,
}

/// Requests of a wave.
struct Wave<F> {
    waiting: VecDeque<Job>,
    underway: Vec<Job>,
    flights: Vec<F>,
    ended: Vec<Ended>,
}

impl<P: Platform, C: Cache> Search<'_, P, C> {
    /// Sends requests for the targets, and waits until all of them have finished or the time is up.
    pub(crate) fn fly(&mut self, targets: Vec<Target>, until_us: Option<u64>) -> Vec<Ended> {
        let job = |target| Job {
            id: 0,
            target,
            not_before_us: 0,
            num_retries: 0,
            num_redirects: 0,
            moved_to: None,
        };
        let mut wave = Wave {
            waiting: targets.into_iter().map(job).collect(),
            underway: Vec::new(),
            flights: Vec::new(),
            ended: Vec::new(),
        };
        loop {
            let now = self.platform.now_us();
            if until_us.is_some_and(|until| now >= until) {
                self.give_up(&mut wave);
                return wave.ended;
            }
            self.launch(&mut wave, now);
            if wave.flights.is_empty() && wave.waiting.is_empty() {
                return wave.ended;
            }
            let has_room = wave.flights.len() < self.max_flights();
            let next = wave.waiting.iter().filter(|_| has_room);
            let next = next.map(|job| job.not_before_us).min();
            let wake = [until_us, next].into_iter().flatten().min();
            if let Some(landed) = self.platform.wait(&mut wave.flights, wake) {
                self.land(&mut wave, landed);
            }
        }
    }

    fn max_flights(&self) -> usize {
        self.options.max_concurrent_requests.max(1)
    }

    /// Sends all requests that are due, up to the limit.
    fn launch(&mut self, wave: &mut Wave<P::Flight>, now: u64) {
        while wave.flights.len() < self.max_flights() {
            let is_due = |job: &Job| job.not_before_us <= now;
            let Some(job) = wave.waiting.iter().position(is_due) else {
                return;
            };
            let Some(mut job) = wave.waiting.remove(job) else {
                return;
            };
            let range = job.target.range();
            if let Err(what) = check_object_name(self.name_in_index(job.target.object())) {
                let error = job.target.failed(FetchErrorKind::Denied, what);
                wave.ended.push((job.target, Err(error)));
                continue;
            }
            let url = job
                .moved_to
                .clone()
                .or_else(|| self.url_of(job.target.object()));
            let Some(url) = url else {
                let error = job.target.failed(FetchErrorKind::NotFound, "no such index");
                wave.ended.push((job.target, Err(error)));
                continue;
            };
            if let Err(what) = self.gate.admit(range.and_then(|range| range.len)) {
                let error = job.target.failed(FetchErrorKind::Budget, &what);
                wave.ended.push((job.target, Err(error)));
                continue;
            }
            self.counts.num_requests = self.gate.num_requests();
            self.last_id += 1;
            job.id = self.last_id;
            let call = Call {
                id: job.id,
                url,
                object: job.target.object().to_owned(),
                range,
                known_etag: job.target.known_etag(),
                max_bytes: self.options.max_whole_object_bytes,
            };
            wave.underway.push(job);
            match self.platform.send(call) {
                Ok(flight) => wave.flights.push(flight),
                Err(landed) => self.land(wave, landed),
            }
        }
    }

    /// Processes the result of a call.
    fn land(&mut self, wave: &mut Wave<P::Flight>, landed: Landed) {
        let Some(ord) = wave.underway.iter().position(|job| job.id == landed.id) else {
            return;
        };
        let mut job = wave.underway.swap_remove(ord);
        let result = match landed.outcome {
            Outcome::Bytes {
                bytes,
                etag,
                object_len,
            } => {
                self.counts.num_bytes += bytes.len() as u64;
                if job.target.range().is_none_or(|range| range.len.is_none()) {
                    self.gate.count_open_ended(bytes.len());
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
                    wave.waiting.push_front(job);
                    return;
                }
                let (object, range) = (job.target.object(), job.target.range());
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
                    wave.waiting.push_back(job);
                    return;
                }
                Err(error)
            }
        };
        wave.ended.push((job.target, result));
    }

    /// Returns a pause between half of the step and the whole step. The jitter is derived from the
    /// read, so that reads that failed together are not retried together.
    fn backoff_us(&self, job: &Job) -> u64 {
        if !self.platform.can_pause() {
            return 0;
        }
        let step = (FIRST_BACKOFF_US << job.num_retries.min(16)).min(MAX_BACKOFF_US);
        let first = job.target.range().map_or(0, |range| range.first);
        let seed = first.rotate_left(17) ^ u64::from(job.num_retries);
        let jitter = xxh3_64_with_seed(job.target.object().as_bytes(), seed) % 1024;
        step / 2 + step * jitter / 2048
    }

    /// Cancels all remaining requests because the time is up.
    fn give_up(&mut self, wave: &mut Wave<P::Flight>) {
        wave.flights.clear();
        let late = wave.waiting.drain(..).chain(wave.underway.drain(..));
        for job in late {
            self.gate.is_timed_out = true;
            let error = job.target.failed(FetchErrorKind::Budget, TIME_IS_UP);
            wave.ended.push((job.target, Err(error)));
        }
    }
}
