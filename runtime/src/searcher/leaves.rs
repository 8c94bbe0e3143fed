//! The leaf sessions of a divided search: on workers of this process, or elsewhere through a
//! [`LeafRunner`].
//!
//! ```text
//!   plan ─┬─ leaf 1 ── this process ───────────────────┬─ root
//!         ├─ leaf 2 ── LeafRunner ─┬─ Searcher::leaf ──┤
//!         └─ leaf 3 ── LeafRunner ─┴─ failed: here ────┘
//! ```

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use canter_protocol::Budget;
use futures_util::future::{BoxFuture, join_all, try_join, try_join_all};
use tracing::warn;

use super::{Searcher, unexpected};
use crate::clock::timeout_at;
use crate::drive::driver::{Driver, SessionEnd};
use crate::drive::worker::Worker;
use crate::observe::{Answered, observe_query};
use crate::session::{Outcome, SessionRequest};
use crate::{Limits, Profile, SearchError};

/// Runs leaf sessions elsewhere: in a process with the same guest and the same indexes under the same
/// names, which passes its input to [`Searcher::leaf`].
pub trait LeafRunner: Send + Sync {
    /// Runs one leaf request (opaque, from a plan) within `limits`. The caller itself runs a leaf that
    /// fails here, so implementations need no retries.
    fn run<'a>(
        &'a self,
        leaf: &'a [u8],
        limits: &'a Limits,
    ) -> BoxFuture<'a, Result<LeafAnswer, SearchError>>;
}

/// Result of a leaf.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeafAnswer {
    /// The partial result, opaque.
    pub partial: Vec<u8>,
    /// The leaf's I/O; its times begin with the leaf.
    pub profile: Profile,
    /// True if reads were given up because the time was up.
    pub timed_out: bool,
    /// The limit of the budget that was reached first, by name.
    pub budget_exhausted: Option<String>,
}

impl Answered for LeafAnswer {
    fn outcome(&self) -> &'static str {
        match (self.timed_out, &self.budget_exhausted) {
            (true, _) => "timed_out",
            (false, Some(_)) => "budget_exhausted",
            (false, None) => "ok",
        }
    }

    fn profile(&self) -> &Profile {
        &self.profile
    }
}

/// A leaf request or a partial result, and its place in the plan.
type Numbered = (usize, Vec<u8>);

impl Searcher {
    /// Runs one leaf of a search that another process divided. `leaf` comes from that process's
    /// [`LeafRunner`], and only the same version of the guest can read it.
    pub async fn leaf(&self, leaf: Vec<u8>, limits: &Limits) -> Result<LeafAnswer, SearchError> {
        observe_query(&self.shared, "leaf", self.answer_leaf(leaf, limits)).await
    }

    async fn answer_leaf(&self, leaf: Vec<u8>, limits: &Limits) -> Result<LeafAnswer, SearchError> {
        let started = self.shared.clock.now();
        let driver = self.driver(started, limits, Arc::clone(&self.shared), false);
        let worker = self.first_worker(&driver).await?;
        let (end, mut profile) = driver.run(&worker, SessionRequest::Leaf(leaf), 0).await?;
        profile.num_instances += 1;
        Ok(LeafAnswer {
            partial: partial_of(end)?,
            profile,
            timed_out: driver.io.gate.is_timed_out(),
            budget_exhausted: driver.io.gate.exhausted(),
        })
    }

    /// Returns the maximum number of leaves of a search.
    pub(super) fn max_leaves(&self) -> u32 {
        match &self.settings.leaf_runner {
            Some((_, max_leaves)) => *max_leaves,
            None => self.settings.max_parallel_leaves,
        }
    }

    /// Runs all leaves; the partial results are in the order of the leaves.
    pub(super) async fn run_leaves(
        &self,
        driver: &Driver,
        first: &Worker,
        leaves: Vec<Vec<u8>>,
        waves_before: u64,
    ) -> Result<(Vec<Vec<u8>>, Profile), SearchError> {
        let leaves: Vec<Numbered> = leaves.into_iter().enumerate().collect();
        let (mut done, profile) = match &self.settings.leaf_runner {
            None => self.run_here(driver, first, leaves, waves_before).await?,
            Some((runner, _)) => {
                self.run_elsewhere(driver, first, leaves, waves_before, &**runner)
                    .await?
            }
        };
        done.sort_unstable_by_key(|(index, _)| *index);
        Ok((
            done.into_iter().map(|(_, partial)| partial).collect(),
            profile,
        ))
    }

    /// Runs leaves on `first` and on further workers, as many as there are leaves and free instances. It never waits
    /// for an instance while it holds one, so searches cannot starve each other.
    async fn run_here(
        &self,
        driver: &Driver,
        first: &Worker,
        leaves: Vec<Numbered>,
        waves_before: u64,
    ) -> Result<(Vec<Numbered>, Profile), SearchError> {
        let num_leaves = leaves.len();
        let mut more = Vec::new();
        while more.len() + 1 < num_leaves
            && let Ok(permit) = self.instance_permits.clone().try_acquire_owned()
        {
            more.push(self.spawn_worker(driver, permit)?);
        }
        let queue = Mutex::new(leaves.into_iter().collect::<VecDeque<_>>());
        let next = || {
            queue
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pop_front()
        };
        let runs = std::iter::once(first)
            .chain(&more)
            .map(|worker| {
                // Each worker gets a leaf before the first worker can take them all.
                (worker, next())
            })
            .map(|(worker, mut first_leaf)| async move {
                let mut done = Vec::new();
                let mut profile = Profile::default();
                while let Some((index, leaf)) = first_leaf.take().or_else(next) {
                    let waves = waves_before + profile.num_waves;
                    let leaf = SessionRequest::Leaf(leaf);
                    let (end, leaf_profile) = driver.run(worker, leaf, waves).await?;
                    profile.append(leaf_profile);
                    done.push((index, partial_of(end)?));
                }
                Ok::<_, SearchError>((done, profile))
            });
        let mut all_done = Vec::with_capacity(num_leaves);
        let mut profile = Profile {
            num_instances: more.len() as u64,
            ..Profile::default()
        };
        for (done, run_profile) in try_join_all(runs).await? {
            profile.join(run_profile);
            all_done.extend(done);
        }
        Ok((all_done, profile))
    }

    /// Lets `runner` run all leaves except the first, which runs here meanwhile; then runs the
    /// failed ones here.
    async fn run_elsewhere(
        &self,
        driver: &Driver,
        first: &Worker,
        leaves: Vec<Numbered>,
        waves_before: u64,
        runner: &dyn LeafRunner,
    ) -> Result<(Vec<Numbered>, Profile), SearchError> {
        let num_leaves = leaves.len() as u64;
        let mut leaves = leaves.into_iter();
        let here: Vec<Numbered> = leaves.by_ref().take(1).collect();
        let share = driver.io.gate.lock().share_of(num_leaves, waves_before);
        let limits = Limits {
            budget: Budget {
                deadline_ms: Some(driver.left_for_reads_ms()),
                ..share
            },
            max_memory_bytes: driver.max_memory_bytes,
            // The leaf contains the guest's limits.
            ..Limits::default()
        };
        let elsewhere: Vec<_> = leaves
            .map(|leaf| driver.run_leaf_on(runner, leaf, &limits))
            .collect();
        let elsewhere = async { Ok(join_all(elsewhere).await) };
        let here = self.run_here(driver, first, here, waves_before);
        let ((mut done, mut profile), elsewhere) = try_join(here, elsewhere).await?;
        let mut failed = Vec::new();
        for end in elsewhere {
            match end {
                Ok((partial, leaf_profile)) => {
                    done.push(partial);
                    profile.join(leaf_profile);
                }
                Err(leaf) => failed.push(leaf),
            }
        }
        if !failed.is_empty() {
            let waves = waves_before + profile.num_waves;
            let (again, again_profile) = self.run_here(driver, first, failed, waves).await?;
            done.extend(again);
            profile.append(again_profile);
        }
        Ok((done, profile))
    }
}

impl Driver {
    /// Returns the milliseconds until reads are given up.
    fn left_for_reads_ms(&self) -> u64 {
        let now = self.io.shared.clock.now();
        let left = self.io.reads_until.map(|until| until.saturating_sub(now));
        let left = left.unwrap_or(Duration::MAX).as_millis();
        u64::try_from(left).unwrap_or(u64::MAX).max(1)
    }

    /// Runs one leaf elsewhere: returns its partial result and I/O, or the leaf itself if it failed there.
    async fn run_leaf_on(
        &self,
        runner: &dyn LeafRunner,
        (index, leaf): Numbered,
        limits: &Limits,
    ) -> Result<(Numbered, Profile), Numbered> {
        let clock = &*self.io.shared.clock;
        let sent_us = self.io.micros(clock.now());
        self.io.gate.lock().lend(limits.budget);
        let answer = timeout_at(clock, self.io.reads_until, runner.run(&leaf, limits)).await;
        let answer = answer.unwrap_or_else(|_| {
            Err(SearchError::limit(
                "there was no answer before the deadline",
            ))
        });
        match answer {
            Ok(answer) => {
                let profile = answer.profile.shifted(sent_us);
                let used = (profile.num_requests, profile.num_bytes);
                self.io.gate.lock().take_back(limits.budget, used);
                if answer.timed_out {
                    self.io.gate.lock().note_timed_out();
                }
                if let Some(limit) = answer.budget_exhausted {
                    self.io.gate.lock().note_exhausted_elsewhere(limit);
                }
                Ok(((index, answer.partial), profile))
            }
            Err(error) => {
                self.io.gate.lock().take_back(limits.budget, (0, 0));
                // The message is the runner's, about a call and not about a search.
                warn!(target: "canter::leaf", leaf = index, error = %error, "a leaf is run again, here");
                Err((index, leaf))
            }
        }
    }
}

fn partial_of(end: SessionEnd) -> Result<Vec<u8>, SearchError> {
    match end {
        SessionEnd::Done(Outcome::Partial(partial)) => Ok(partial),
        _ => Err(unexpected("leaf")),
    }
}
