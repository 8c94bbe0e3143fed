//! `--simulate` and `--timeline`: a search over the real index as if it were in a remote store.
//!
//! ```text
//!   Searcher ──▶ SimulatedStore ──▶ the index, wherever it really is
//!       └────────────┴──▶ VirtualClock: latencies as drawn, computing as measured
//! ```
//!
//! The answer is that of the real index; only the times are simulated. They are the same whenever
//! the search is repeated, except for the computing time.

use std::sync::Arc;

use anyhow::Result;
use canter_lab::{LatencyModel, SimulatedStore};
use canter_runtime::clock::{Clock, CpuTime, SystemClock, VirtualClock};
use canter_runtime::fetch::{OpenOptions, open_uri};
use canter_runtime::{SearchError, SearchText, SearcherBuilder};
use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::exit::note;
use crate::render::{Attempts, Chart, TimelineFile};

/// Arguments of a simulated search.
#[derive(Debug, Args)]
#[command(next_help_heading = "Laboratory")]
pub(crate) struct SimulateArgs {
    /// Search as if the index were in a simulated store, and show the simulated times. SPEC is s3, s3-express, r2,
    /// local or slow-tail, followed by settings, as in `s3,seed=7,errors=5%`.
    ///
    /// Settings: seed, latency, base, median, sigma, cap, bandwidth, connections, errors, slowdowns, resets,
    /// truncations, tail, tail-factor. The answer comes from the real index.
    #[arg(long, value_name = "SPEC")]
    simulate: Option<LatencyModel>,

    /// How computing counts in simulated time: as `measured` on this machine, or not at all (`ignored`), which makes
    /// the times reproducible [default: measured].
    #[arg(
        long,
        value_name = "TIME",
        requires = "simulate",
        hide_possible_values = true
    )]
    simulate_cpu: Option<CpuChoice>,

    /// Draw the requests over time to FILE.svg.
    #[arg(long, value_name = "FILE")]
    timeline: Option<TimelineFile>,
}

/// Treatment of the guest's computing time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum CpuChoice {
    /// It is added to the simulated time.
    #[default]
    Measured,
    /// It counts as nothing.
    Ignored,
}

impl CpuChoice {
    fn name(self) -> &'static str {
        match self {
            CpuChoice::Measured => "measured",
            CpuChoice::Ignored => "ignored",
        }
    }
}

impl SimulateArgs {
    /// Puts the index behind a simulated store, if requested.
    pub(crate) fn start(&self, uri: &str) -> Result<Option<Simulation>> {
        let cpu = self.simulate_cpu.unwrap_or_default();
        let start = |model: &LatencyModel| Simulation::over(uri, model.clone(), cpu);
        Ok(self.simulate.as_ref().map(start).transpose()?)
    }

    /// Draws the timeline, if requested.
    pub(crate) fn write_timeline(&self, title: &str, chart: &Chart) -> Result<()> {
        if let Some(file) = &self.timeline {
            file.write(title, std::slice::from_ref(chart))?;
            note(format_args!("timeline: {}", file.path().display()));
        }
        Ok(())
    }
}

/// An index in a simulated store, and the clock of its searches.
pub(crate) struct Simulation {
    name: String,
    cpu: CpuChoice,
    clock: Arc<VirtualClock>,
    store: Arc<SimulatedStore>,
}

impl Simulation {
    /// Returns the index at `uri` behind a store like `model`.
    pub(crate) fn over(
        uri: &str,
        model: LatencyModel,
        cpu: CpuChoice,
    ) -> Result<Self, SearchError> {
        let clock = VirtualClock::new(match cpu {
            CpuChoice::Measured => CpuTime::Measured,
            CpuChoice::Ignored => CpuTime::Ignored,
        });
        // A cache may contain a manifest that was read at a real date.
        let clock = Arc::new(clock.beginning_at(SystemClock::new().unix_time()));
        // The real store's requests, including retries, are not part of the simulation.
        let real = open_uri(uri, &OpenOptions::default())?;
        let name = model.to_string();
        let store = SimulatedStore::recording(real, model, Arc::<VirtualClock>::clone(&clock));
        Ok(Self {
            name,
            cpu,
            clock,
            store: Arc::new(store),
        })
    }

    /// Makes the searcher read from this store and use its clock.
    pub(crate) fn attach(&self, builder: SearcherBuilder) -> SearcherBuilder {
        builder
            .fetcher(Arc::<SimulatedStore>::clone(&self.store))
            .clock(Arc::<VirtualClock>::clone(&self.clock))
    }

    /// Runs a search in simulated time; returns its response, marked as simulated, and its attempts.
    pub(crate) async fn search(
        &self,
        search: impl Future<Output = Result<SearchText, SearchError>>,
    ) -> Result<(SearchText, Attempts), SearchError> {
        let (answer, attempts) = self.run(search).await;
        let mut answer = answer?;
        self.mark(&mut answer.response.json["profile"]);
        Ok((answer, attempts))
    }

    /// Runs a future in simulated time; returns its result and its attempts.
    pub(crate) async fn run<T>(&self, future: impl Future<Output = T>) -> (T, Attempts) {
        let started = self.clock.now();
        let output = self.clock.run(future).await;
        (output, Attempts::new(self.store.take_attempts(), started))
    }

    /// Marks the times in a profile as simulated.
    pub(crate) fn mark(&self, profile: &mut Value) {
        if let Some(profile) = profile.as_object_mut() {
            profile.insert("simulated".to_owned(), self.name.as_str().into());
            profile.insert("simulated_cpu".to_owned(), self.cpu.name().into());
        }
    }

    /// Returns a line that says so.
    pub(crate) fn line(&self) -> String {
        let cpu = match self.cpu {
            CpuChoice::Measured => "computing as measured here",
            CpuChoice::Ignored => "computing takes none",
        };
        format!("Times are simulated: {}; {cpu}.", self.name)
    }
}
