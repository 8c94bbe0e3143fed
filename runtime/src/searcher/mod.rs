//! A search from request to response: an HTTP session, and the leaf sessions and the root of its plan if it ends with one.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::clock::timeout_at;
use crate::drive::driver::{Driver, OpenSession, SessionEnd};
use crate::drive::worker::Worker;
use crate::engine::InstanceLimits;
use crate::fetch::{
    Hedge, HedgeState, OpenIndex, OpenOptions, Pace, RangeFetcher, Retry, RetryState,
    cache_namespace, open_store,
};
use crate::io::{Gate, Gated, PlannedRequest, SearchIo, SharedIo};
use crate::session::{HttpResponse, Outcome, QueryPlan, SessionRequest};
use crate::{Interrupt, Profile, SearchError};

mod answer;
mod builder;
mod explain;
mod http;
mod leaves;
mod limits;
mod media;

pub use answer::{SearchResponse, SearchText};
pub use builder::SearcherBuilder;
pub use explain::{Explanation, PlannedRead};
pub use http::{Caller, HttpAnswer};
pub use leaves::{LeafAnswer, LeafRunner};
pub use limits::Limits;
pub use media::{InvalidMediaType, MediaTypes};

/// Searches one index, or several by name, through one engine. Cheap to share: all methods take `&self`.
pub struct Searcher {
    settings: builder::Settings,
    instance_permits: Arc<Semaphore>,
    shared: Arc<SharedIo>,
    retries: Arc<RetryState>,
    hedges: Arc<HedgeState>,
}

/// Search with an open session, and its driver within the budget of its request.
struct OpenSearch {
    driver: Driver,
    first: Worker,
    session: OpenSession,
    /// Milliseconds that the search may take.
    deadline_ms: u64,
}

/// End of a search, or of a dry run.
enum SearchEnd {
    /// The guest's response.
    Answered(HttpResponse),
    /// The requests that a dry run would have sent next.
    Stopped(Vec<PlannedRequest>),
}

impl Searcher {
    /// Returns a builder; it needs at least an engine and a fetcher.
    pub fn builder() -> SearcherBuilder {
        SearcherBuilder::default()
    }

    /// Waits for work in the background: revalidations of the manifest, then the cache's writes. Only
    /// needed before the process ends.
    pub async fn settle(&self) {
        self.shared.manifest.settle().await;
        if let Some(cache) = &self.shared.cache {
            cache.flush().await;
        }
    }

    /// Returns the current number of guest instances: those of running searches, and those that still
    /// compute although their search is over, since a native guest can only be abandoned.
    pub fn num_instances(&self) -> usize {
        let num_free = self.instance_permits.available_permits();
        self.settings.max_instances.saturating_sub(num_free)
    }

    /// Waits until no guest computes any more, for at most `grace`; returns whether that is so. A native guest
    /// that was abandoned at a deadline continues, and takes the processor from later searches.
    pub async fn is_idle_within(&self, grace: Duration) -> bool {
        let max_instances = self.settings.engine.max_instances();
        let max_instances = max_instances.clamp(1, Semaphore::MAX_PERMITS);
        let all = u32::try_from(max_instances).unwrap_or(u32::MAX);
        let all_back = self.instance_permits.acquire_many(all);
        let clock = &*self.shared.clock;
        let until = clock.now().checked_add(grace);
        timeout_at(clock, until, all_back).await.is_ok()
    }

    /// Returns the names of the open indexes, in order; empty if the only one has no name.
    pub fn index_names(&self) -> Vec<String> {
        let open = self.settings.indexes.as_ref();
        open.map(|open| open.names()).unwrap_or_default()
    }

    /// Opens another index, for requests from now on. Reads nothing yet.
    ///
    /// # Errors
    /// If the URI or the name is invalid, if an index of that name is open, or if the searcher has one index without a
    /// name.
    pub fn add_index(
        &self,
        name: &str,
        uri: &str,
        options: &OpenOptions,
    ) -> Result<(), SearchError> {
        let Some(indexes) = &self.settings.indexes else {
            let what = "this searcher has one index without a name";
            return Err(SearchError::invalid(what));
        };
        let index = OpenIndex {
            fetcher: open_store(uri, options)?,
            namespace: cache_namespace(uri, options),
        };
        builder::add_index(indexes, name, index)
    }

    /// Removes an index; returns false if there is none of that name. A running search keeps the data that it has read,
    /// and its next reads fail.
    pub fn remove_index(&self, name: &str) -> bool {
        let open = self.settings.indexes.as_ref();
        open.is_some_and(|open| open.remove(name))
    }

    /// Returns a driver for a search that began at `started`. A dry run reads only what a plan needs.
    fn driver(
        &self,
        started: Duration,
        limits: &Limits,
        shared: Arc<SharedIo>,
        is_dry: bool,
    ) -> Driver {
        let clock = Arc::clone(&shared.clock);
        let time = Duration::from_millis(limits.budget.deadline_ms.unwrap_or(u64::MAX));
        let after = |percent: u32| started.checked_add(time / 100 * percent);
        let gate = Arc::new(Gate::new(limits.budget));
        let pace = Arc::new(Pace::default());
        let gated = Gated {
            inner: Arc::clone(&self.settings.fetcher),
            gate: Arc::clone(&gate),
        };
        let hedge = Hedge {
            inner: Arc::new(gated),
            clock: Arc::clone(&clock),
            state: Arc::clone(&self.hedges),
            pace: Arc::clone(&pace),
        };
        let retried = |fetcher: Arc<dyn RangeFetcher>| {
            Arc::new(Retry::sharing(
                fetcher,
                Arc::clone(&clock),
                Arc::clone(&self.retries),
            ))
        };
        Driver {
            io: Arc::new(SearchIo {
                shared,
                fetcher: retried(Arc::new(hedge)),
                ungated: retried(Arc::clone(&self.settings.fetcher)),
                gate,
                pace,
                started,
                // The guest needs a moment to answer with the available data, and the documents of
                // the hits, which are read last, are worth the most.
                reads_until: after(85),
                documents_until: after(95),
                is_dry,
                etags: Mutex::default(),
            }),
            interrupt: Interrupt::after(Instant::now(), time),
            deadline: started.checked_add(time),
            max_memory_bytes: limits.max_memory_bytes,
            supply_order: self.settings.supply_order,
        }
    }

    /// Opens an HTTP session, whose request may lower `limits`.
    async fn open(
        &self,
        session: SessionRequest,
        limits: &Limits,
        shared: &Arc<SharedIo>,
        is_dry: bool,
    ) -> Result<OpenSearch, SearchError> {
        let started = shared.clock.now();
        let driver = self.driver(started, limits, Arc::clone(shared), is_dry);
        let first = self.first_worker(&driver).await?;
        let session = driver.open(&first, session).await?;
        let limits = limits.lowered_to(session.asked);
        Ok(OpenSearch {
            driver: self.driver(started, &limits, Arc::clone(shared), is_dry),
            first,
            session,
            deadline_ms: limits.budget.deadline_ms.unwrap_or(u64::MAX),
        })
    }

    /// Runs a search to its end, in one session or in one for each leaf of its plan.
    async fn run(&self, search: OpenSearch) -> Result<(SearchEnd, Profile, Driver), SearchError> {
        let OpenSearch {
            driver,
            first,
            session,
            ..
        } = search;
        let (end, profile) = driver.run_open(&first, session, 0).await?;
        let (end, profile) = self.finish(&driver, &first, end, profile).await?;
        Ok((end, profile, driver))
    }

    /// Carries out the plan that a session ended with, if it did not end with the answer.
    async fn finish(
        &self,
        driver: &Driver,
        first: &Worker,
        end: SessionEnd,
        mut profile: Profile,
    ) -> Result<(SearchEnd, Profile), SearchError> {
        profile.num_instances += 1;
        let QueryPlan { leaves, root } = match end {
            SessionEnd::Done(Outcome::Plan(plan)) => plan,
            // There was nothing to divide.
            end => return Ok((response_of(end)?, profile)),
        };
        let waves = profile.num_waves;
        let (partials, leaf_profile) = self.run_leaves(driver, first, leaves, waves).await?;
        profile.append(leaf_profile);
        let root = SessionRequest::Root { root, partials };
        let (end, root_profile) = driver.run(first, root, profile.num_waves).await?;
        profile.append(root_profile);
        Ok((response_of(end)?, profile))
    }

    /// Returns the worker of the plan, the first leaf and the root: a search with one leaf needs no other.
    async fn first_worker(&self, driver: &Driver) -> Result<Worker, SearchError> {
        let permit = self.instance_permits.clone().acquire_owned();
        let permit = timeout_at(&*self.shared.clock, driver.deadline, permit)
            .await
            .map_err(|_| {
                SearchError::limit(
                    "no guest instance became free before the deadline; \
                     raise max_instances or send fewer searches at once",
                )
            })?;
        let permit = permit.map_err(|_| SearchError::internal("the searcher is closed"))?;
        self.spawn_worker(driver, permit)
    }

    fn spawn_worker(
        &self,
        driver: &Driver,
        permit: OwnedSemaphorePermit,
    ) -> Result<Worker, SearchError> {
        let limits = InstanceLimits {
            interrupt: driver.interrupt.clone(),
            max_memory_bytes: driver.max_memory_bytes,
        };
        let clock = Arc::clone(&self.shared.clock);
        Worker::spawn(self.settings.engine.clone(), &limits, clock, permit)
    }
}

fn unexpected(session: &str) -> SearchError {
    SearchError::internal(format!(
        "the guest ended a {session} session with another kind of answer"
    ))
}

fn response_of(end: SessionEnd) -> Result<SearchEnd, SearchError> {
    match end {
        SessionEnd::Done(Outcome::Http(response)) => Ok(SearchEnd::Answered(response)),
        SessionEnd::Stopped(planned) => Ok(SearchEnd::Stopped(planned)),
        SessionEnd::Done(_) => Err(unexpected("HTTP")),
    }
}

#[cfg(test)]
mod tests;
