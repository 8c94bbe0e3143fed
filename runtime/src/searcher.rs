//! A search from request to response: plan → leaf sessions → root, over one index.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use serde_json::{Map, Value};
use tokio::sync::Semaphore;

use crate::driver::Driver;
use crate::session::{Outcome, QueryPlan, SessionRequest};
use crate::wave::Store;
use crate::worker::Worker;
use crate::{ErrorKind, Interrupt, Profile, SearchError};

mod builder;

pub use builder::SearcherBuilder;

/// What one search may take.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Time from the call to the answer, in milliseconds.
    pub deadline_ms: u64,
    /// The guest's own limits, a JSON object that is passed on as it is.
    pub guest: Map<String, Value>,
}

impl Default for Limits {
    /// 30 s, and the guest's defaults.
    fn default() -> Self {
        Self {
            deadline_ms: 30_000,
            guest: Map::new(),
        }
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResponse {
    /// The guest's response with `elapsed_time_micros` added. It has a `profile` (the guest's
    /// counters and the I/O together) only if the request says `"profile": true`.
    pub json: Value,
    /// The I/O of the search, asked for or not.
    pub profile: Profile,
}

/// Searches one index through one engine. Cheap to share: all methods take `&self`.
pub struct Searcher {
    settings: builder::Settings,
    instance_permits: Arc<Semaphore>,
    fetch_permits: Arc<Semaphore>,
}

impl Searcher {
    /// A builder; it needs at least an engine and a fetcher.
    pub fn builder() -> SearcherBuilder {
        SearcherBuilder::default()
    }

    /// [`Searcher::search`] for a request that is still text.
    pub async fn search_str(
        &self,
        request: &str,
        limits: &Limits,
    ) -> Result<SearchResponse, SearchError> {
        let request = serde_json::from_str(request).map_err(|error| {
            SearchError::invalid(format!("the search request is not JSON: {error}"))
        })?;
        self.search(&request, limits).await
    }

    /// Answers one search request, a JSON object.
    ///
    /// The key `profile` (a boolean) is the host's; all others are the guest's. Runs on tokio, with
    /// the guest on threads of its own. Dropping the future cancels the search.
    pub async fn search(
        &self,
        request: &Value,
        limits: &Limits,
    ) -> Result<SearchResponse, SearchError> {
        let started = Instant::now();
        let (request, wants_profile) = split_request(request)?;
        let deadline = Duration::from_millis(limits.deadline_ms);
        let interrupt = Interrupt::after(started, deadline);
        let driver = self.driver(started, interrupt);
        let limits = Value::Object(limits.guest.clone()).to_string();
        let (json, profile) = self.run(&driver, request, limits).await?;
        respond(&json, profile, wants_profile, started)
    }

    fn driver(&self, started: Instant, interrupt: Interrupt) -> Driver {
        let settings = &self.settings;
        Driver {
            store: Arc::new(Store {
                fetcher: settings.fetcher.clone(),
                cache: settings.cache.clone(),
                namespace: settings.namespace.clone(),
                coalesce: settings.coalesce,
                fetch_permits: self.fetch_permits.clone(),
                started,
                etags: Mutex::default(),
            }),
            interrupt,
            supply_order: settings.supply_order,
        }
    }

    async fn run(
        &self,
        driver: &Driver,
        request: String,
        limits: String,
    ) -> Result<(String, Profile), SearchError> {
        let first = self.first_worker(driver).await?;
        let max_leaves = self.settings.max_parallel_leaves;
        if max_leaves <= 1 {
            let (outcome, mut profile) = driver
                .run(&first, SessionRequest::Search { request, limits })
                .await?;
            profile.num_instances += 1;
            return Ok((response_of(outcome)?, profile));
        }
        let plan = SessionRequest::Plan {
            request,
            limits,
            max_leaves,
        };
        let (outcome, mut profile) = driver.run(&first, plan).await?;
        profile.num_instances += 1;
        let QueryPlan { leaves, root } = match outcome {
            Outcome::Plan(plan) => plan,
            // There was nothing to divide.
            Outcome::Response(json) => return Ok((json, profile)),
            Outcome::Partial(_) => return Err(unexpected("plan")),
        };
        let (partials, leaf_profile) = self.run_leaves(driver, &first, leaves).await?;
        profile.append(leaf_profile);
        let (outcome, root_profile) = driver
            .run(&first, SessionRequest::Root { root, partials })
            .await?;
        profile.append(root_profile);
        Ok((response_of(outcome)?, profile))
    }

    /// The worker of the plan, the first leaf and the root: a search with one leaf needs no other.
    async fn first_worker(&self, driver: &Driver) -> Result<Worker, SearchError> {
        let permit = self.instance_permits.clone().acquire_owned();
        let permit = match driver.interrupt.deadline() {
            None => permit.await,
            Some(deadline) => tokio::time::timeout_at(deadline.into(), permit)
                .await
                .map_err(|_| {
                    SearchError::limit(
                        "no guest instance became free before the deadline; \
                         raise max_instances or send fewer searches at once",
                    )
                })?,
        };
        let permit = permit.map_err(|_| SearchError::internal("the searcher is closed"))?;
        Worker::spawn(self.settings.engine.clone(), &driver.interrupt, permit)
    }

    /// Runs the leaves on `first` and on as many workers more as there are leaves and free instances.
    /// It never waits for an instance while it holds one, so searches cannot starve each other.
    async fn run_leaves(
        &self,
        driver: &Driver,
        first: &Worker,
        leaves: Vec<Vec<u8>>,
    ) -> Result<(Vec<Vec<u8>>, Profile), SearchError> {
        let num_leaves = leaves.len();
        let mut more = Vec::new();
        while more.len() + 1 < num_leaves
            && let Ok(permit) = self.instance_permits.clone().try_acquire_owned()
        {
            more.push(Worker::spawn(
                self.settings.engine.clone(),
                &driver.interrupt,
                permit,
            )?);
        }
        let queue = Mutex::new(leaves.into_iter().enumerate().collect::<VecDeque<_>>());
        let next = || {
            queue
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pop_front()
        };
        let runs = std::iter::once(first)
            .chain(&more)
            .map(|worker| async move {
                let mut done = Vec::new();
                let mut profile = Profile::default();
                while let Some((index, leaf)) = next() {
                    let (outcome, leaf_profile) =
                        driver.run(worker, SessionRequest::Leaf(leaf)).await?;
                    let Outcome::Partial(partial) = outcome else {
                        return Err(unexpected("leaf"));
                    };
                    profile.append(leaf_profile);
                    done.push((index, partial));
                }
                Ok((done, profile))
            });
        let mut partials = vec![Vec::new(); num_leaves];
        let mut profile = Profile {
            num_instances: more.len() as u64,
            ..Profile::default()
        };
        for (done, run_profile) in try_join_all(runs).await? {
            profile.join(run_profile);
            for (index, partial) in done {
                partials[index] = partial;
            }
        }
        Ok((partials, profile))
    }
}

fn unexpected(session: &str) -> SearchError {
    SearchError::internal(format!(
        "the guest ended a {session} session with another kind of answer"
    ))
}

fn response_of(outcome: Outcome) -> Result<String, SearchError> {
    match outcome {
        Outcome::Response(json) => Ok(json),
        _ => Err(unexpected("search")),
    }
}

/// The guest's part of the request, and whether the caller wants the profile.
fn split_request(request: &Value) -> Result<(String, bool), SearchError> {
    let Value::Object(request) = request else {
        return Err(SearchError::invalid(
            "the search request is not a JSON object",
        ));
    };
    let wants_profile = match request.get("profile") {
        None => return Ok((serialize(request)?, false)),
        Some(Value::Bool(wants_profile)) => *wants_profile,
        Some(other) => {
            return Err(SearchError::invalid(format!(
                "profile is true or false, and not {other}"
            )));
        }
    };
    let mut request = request.clone();
    request.shift_remove("profile");
    Ok((serialize(&request)?, wants_profile))
}

fn serialize(request: &Map<String, Value>) -> Result<String, SearchError> {
    serde_json::to_string(request)
        .map_err(|error| SearchError::invalid(format!("the search request is not JSON: {error}")))
}

/// The guest's response with what only the host knows.
fn respond(
    json: &str,
    profile: Profile,
    wants_profile: bool,
    started: Instant,
) -> Result<SearchResponse, SearchError> {
    let not_an_object = |what: String| {
        SearchError::new(
            ErrorKind::Internal,
            format!("the guest's response is not a JSON object: {what}"),
        )
    };
    let mut response: Map<String, Value> =
        serde_json::from_str(json).map_err(|error| not_an_object(error.to_string()))?;
    let elapsed = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    response.insert("elapsed_time_micros".to_owned(), elapsed.into());
    let guest_profile = response.shift_remove("profile");
    if wants_profile {
        let mut merged = match guest_profile {
            Some(Value::Object(guest_profile)) => guest_profile,
            _ => Map::new(),
        };
        profile.merge_into(&mut merged);
        response.insert("profile".to_owned(), merged.into());
    }
    Ok(SearchResponse {
        json: response.into(),
        profile,
    })
}

#[cfg(test)]
mod tests;
