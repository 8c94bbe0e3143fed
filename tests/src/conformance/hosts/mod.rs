//! The hosts, one small module each behind the same traits.

mod canter_serve;
mod chromium;
mod client;
mod javascript;
mod lambda;
mod listening;
mod viceroy;
mod wasmtime;
mod wasmtime_run;
mod wasmtime_serve;

use std::path::PathBuf;

use anyhow::Result;

use super::{Answer, Call, Machine, Site};

/// A way to run the search API.
pub trait Host {
    /// Its stable name, as in `--host` and in the table.
    fn name(&self) -> &'static str;

    /// What it is, for a person.
    fn title(&self) -> &'static str;

    /// What of ours it runs: the files whose size the table tells.
    ///
    /// # Errors
    /// What this machine lacks to run it, and how to get it.
    fn artifacts(&self, machine: &Machine) -> Result<Vec<PathBuf>, String>;

    /// Starts it over a site's indexes, so that it can be sent requests.
    ///
    /// # Errors
    /// If it does not start, with what it said.
    fn start(&self, machine: &Machine, site: &Site, caching: Caching) -> Result<Box<dyn Running>>;
}

/// Whether a host keeps what it has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    /// It keeps nothing.
    Off,
    /// It has the caches of its platform, which are empty at the start.
    On,
}

/// A host that runs; dropping it stops it.
pub trait Running {
    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    /// If no HTTP answer comes.
    fn send(&mut self, call: &Call) -> Result<Answer>;

    /// Whether it can be sent a request at all. A command line has no paths and methods.
    fn carries(&self, call: &Call) -> bool {
        let _ = call;
        true
    }
}

/// All hosts. The first is the one whose answers all others must give.
pub fn all() -> Vec<Box<dyn Host>> {
    vec![
        Box::new(canter_serve::NATIVE),
        Box::new(canter_serve::RUNTIME),
        Box::new(wasmtime_run::WasmtimeRun),
        Box::new(wasmtime_serve::WasmtimeServe),
        Box::new(javascript::WORKERD),
        Box::new(viceroy::Viceroy),
        Box::new(lambda::Lambda),
        Box::new(javascript::DENO),
        Box::new(javascript::NODE),
        Box::new(chromium::Chromium),
    ]
}
