//! The driver's loop: step → demand → wave → supplies → step, until the session is over.
//!
//! It is independent of the search and of the engine. The deadline, a failing guest, or the caller
//! dropping the future stops it; the latter cancels requests in flight and interrupts the guest.

use std::sync::Arc;
use std::time::Duration;

use tracing::{Instrument, Span};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::clock::timeout_at;
use crate::drive::worker::Worker;
use crate::io::{Answer, PlannedRequest, SearchIo, SessionIo};
use crate::observe::spans;
use crate::session::{Budget, HostReport, Outcome, Progress, SessionRequest, Supply};
use crate::{Interrupt, Profile, SearchError};

/// Maximum number of waves of one session: a guest that needs more is in a loop.
const MAX_STEPS: u64 = 1000;

/// Driver of the sessions of one search.
pub(crate) struct Driver {
    pub(crate) io: Arc<SearchIo>,
    pub(crate) interrupt: Interrupt,
    /// Deadline of the search, on the searcher's clock.
    pub(crate) deadline: Option<Duration>,
    pub(crate) max_memory_bytes: Option<usize>,
    /// Seed of the order in which supplies reach the guest; `None` keeps the demand's order.
    pub(crate) supply_order: Option<u64>,
}

/// A session that is open on a worker.
pub(crate) struct OpenSession {
    span: Span,
    /// Budget that its request sets for the host.
    pub(crate) asked: Budget,
    profile: Profile,
}

/// End of a session.
pub(crate) enum SessionEnd {
    Done(Outcome),
    /// A dry run has reached requests that it does not send.
    Stopped(Vec<PlannedRequest>),
}

impl Driver {
    /// Runs one session on `worker` to its end. `waves_before` is the number of earlier waves of the search.
    pub(crate) async fn run(
        &self,
        worker: &Worker,
        request: SessionRequest,
        waves_before: u64,
    ) -> Result<(SessionEnd, Profile), SearchError> {
        let session = self.open(worker, request).await?;
        self.run_open(worker, session, waves_before).await
    }

    /// Opens a session on `worker`.
    pub(crate) async fn open(
        &self,
        worker: &Worker,
        request: SessionRequest,
    ) -> Result<OpenSession, SearchError> {
        let mut session = OpenSession {
            span: spans::session(&request),
            asked: Budget::default(),
            profile: Profile::default(),
        };
        let open = worker.open(request).instrument(session.span.clone());
        session.asked = self.in_time(open, &mut session.profile).await?;
        Ok(session)
    }

    /// Runs the session that was last opened on `worker` to its end.
    pub(crate) async fn run_open(
        &self,
        worker: &Worker,
        session: OpenSession,
        waves_before: u64,
    ) -> Result<(SessionEnd, Profile), SearchError> {
        self.run_to_end(worker, session.profile, waves_before)
            .instrument(session.span)
            .await
    }

    async fn run_to_end(
        &self,
        worker: &Worker,
        profile: Profile,
        waves_before: u64,
    ) -> Result<(SessionEnd, Profile), SearchError> {
        let mut io = SessionIo::new(Arc::clone(&self.io), waves_before);
        io.profile.append(profile);
        let mut supplies = Vec::new();
        let mut is_idle = false;
        loop {
            let step = worker.step(supplies, self.report());
            let step = step.instrument(spans::guest(io.profile.num_steps));
            let progress = self.in_time(step, &mut io.profile).await?;
            io.profile.num_steps += 1;
            let demand = match progress {
                Progress::Done(outcome) => return Ok((SessionEnd::Done(outcome), io.profile)),
                Progress::Pending(demand) => demand,
            };
            if io.profile.num_steps > MAX_STEPS {
                return Err(SearchError::limit(format!(
                    "the guest still asks for bytes after {MAX_STEPS} steps; narrow the query"
                )));
            }
            let was_idle = is_idle;
            is_idle = demand.is_empty();
            if is_idle && was_idle {
                return Err(SearchError::internal(
                    "the guest waits but asks for nothing",
                ));
            }
            if is_idle {
                supplies = Vec::new();
                continue;
            }
            let num_waves = io.profile.num_waves;
            let span = spans::wave(waves_before + num_waves, &demand);
            let answer = io.answer(demand).instrument(span.clone());
            let answer = timeout_at(self.clock(), self.deadline, answer)
                .await
                .map_err(|_| self.interrupt.error())?;
            let was_sent = io.profile.num_waves > num_waves;
            spans::end_wave(span, io.profile.waves.last().filter(|_| was_sent));
            supplies = match answer {
                Answer::Supplies(supplies) => supplies,
                Answer::Stopped(planned) => {
                    return Ok((SessionEnd::Stopped(planned), io.profile));
                }
            };
            if let Some(seed) = self.supply_order {
                shuffle(&mut supplies, seed ^ io.profile.num_steps);
            }
        }
    }

    /// Returns the host's report on the search so far.
    fn report(&self) -> HostReport {
        HostReport {
            elapsed_us: self.io.micros(self.clock().now()),
            timed_out: self.io.gate.is_timed_out(),
            budget_exhausted: self.io.gate.exhausted(),
        }
    }

    /// Waits for the guest, at most until the deadline. The wasm engine watches the deadline
    /// itself; a native guest can only be abandoned.
    async fn in_time<T>(
        &self,
        call: impl Future<Output = Result<T, SearchError>>,
        profile: &mut Profile,
    ) -> Result<T, SearchError> {
        let started = self.clock().now();
        let result = timeout_at(self.clock(), self.deadline, call).await;
        let took = self.clock().now().saturating_sub(started);
        profile.guest_us += u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.io.shared.metrics.count_guest_time(took);
        result.unwrap_or_else(|_| Err(self.interrupt.error()))
    }

    fn clock(&self) -> &dyn crate::clock::Clock {
        &*self.io.shared.clock
    }
}

/// Shuffles supplies: a different order for each seed, and always the same one for the same seed.
fn shuffle(supplies: &mut [Supply], seed: u64) {
    supplies.sort_by_cached_key(|supply| xxh3_64_with_seed(&supply.id.to_le_bytes(), seed));
}
